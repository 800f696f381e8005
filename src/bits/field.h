/* field.h - bit fields and packed arrays in words of 64 bits
 *
 * Bit i of an array of words is bit (i mod 64) of word (i / 64).  So the arrays are the same in memory
 * on every machine that reads words.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_FIELD_H
#define TAMIS_BITS_FIELD_H

#include "base/base.h"

/* The lowest 'width' bits set; 0 <= width <= 64. */
static inline uint64_t tamis_i_low_mask(unsigned width) {
    return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}

static inline bool tamis_i_bit_get(const uint64_t *words, uint64_t i) {
    return (words[i / 64] >> (i % 64) & 1) != 0;
}

static inline void tamis_i_bit_set(uint64_t *words, uint64_t i) {
    words[i / 64] |= (uint64_t)1 << (i % 64);
}

/* The field of 'width' bits that begins at bit 'at'; 1 <= width <= 64.  Reads the next word only if the
 * field extends into it. */
static inline uint64_t tamis_i_field_get(const uint64_t *words, uint64_t at, unsigned width) {
    TAMIS_ASSERT(width >= 1 && width <= 64);
    const uint64_t *w = words + at / 64;
    const unsigned shift = (unsigned)(at % 64);
    uint64_t value = w[0] >> shift;
    if (shift + width > 64)
        value |= w[1] << (64 - shift);
    return value & tamis_i_low_mask(width);
}

/* Store the low 'width' bits of 'value' in the field; all other bits stay. */
static inline void tamis_i_field_put(uint64_t *words, uint64_t at, unsigned width, uint64_t value) {
    TAMIS_ASSERT(width >= 1 && width <= 64);
    uint64_t *w = words + at / 64;
    const unsigned shift = (unsigned)(at % 64);
    const uint64_t mask = tamis_i_low_mask(width);
    value &= mask;
    w[0] = (w[0] & ~(mask << shift)) | value << shift;
    if (shift + width > 64)
        w[1] = (w[1] & ~(mask >> (64 - shift))) | value >> (64 - shift);
}

/* The same for a field in a line of 8 words, at + width <= 512, given the mask of its width.  It always
 * reads two words.  A branch on whether the field extends into the next word cannot be predicted, and
 * costs more.  Reads only words of the line. */
static inline uint64_t tamis_i_lined_get(const uint64_t *line, uint64_t at, uint64_t mask) {
    const uint64_t i = at / 64, shift = at % 64;
    TAMIS_ASSERT(at < 512);
    return (line[i] >> shift | line[(i + 1) % 8] << 1 << (63 - shift)) & mask;
}

/* Flip the bits of such a field that are set in 'value'.  'value' has no other bits. */
static inline void tamis_i_lined_flip(uint64_t *line, uint64_t at, uint64_t value) {
    const uint64_t i = at / 64, shift = at % 64;
    TAMIS_ASSERT(at < 512);
    line[i] ^= value << shift;
    line[(i + 1) % 8] ^= value >> 1 >> (63 - shift);
}

/* A packed array: element i is the field at i * width. */
static inline uint64_t tamis_i_packed_get(const uint64_t *words, unsigned width, uint64_t i) {
    return tamis_i_field_get(words, i * width, width);
}

static inline void tamis_i_packed_put(uint64_t *words, unsigned width, uint64_t i, uint64_t value) {
    tamis_i_field_put(words, i * width, width, value);
}

/* Open a gap of 'width' bits at 'at': the bits from 'at' up to 'end' - width move up by 'width', the
 * gap becomes zero, and bits from 'end' on stay.  The last 'width' bits before 'end' are lost. at +
 * width <= end, width <= 64. */
void tamis_i_field_open(uint64_t *words, uint64_t at, uint64_t end, unsigned width);

/* Close such a gap: the bits from at + width up to 'end' move down by 'width', and the last 'width'
 * bits before 'end' become zero. */
void tamis_i_field_close(uint64_t *words, uint64_t at, uint64_t end, unsigned width);

#endif
