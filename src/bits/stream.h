/* stream.h - bits one after the other, in bytes
 *
 * Bit i of a stream is bit (i mod 8) of byte (i / 8): the same on every machine.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_STREAM_H
#define TAMIS_BITS_STREAM_H

#include "bits/field.h"

/* A writer of bits.  'next' holds the last 'pending' bits, fewer than 8. */
typedef struct tamis_i_writer {
    unsigned char *bytes;
    uint64_t next;
    unsigned pending;
} tamis_i_writer;

/* Write at most 56 bits: they and 7 pending ones fit in a word. */
static inline void tamis_i_write_some(tamis_i_writer *w, uint64_t value, unsigned width) {
    w->next |= value << w->pending;
    for (w->pending += width; w->pending >= 8; w->pending -= 8, w->next >>= 8)
        *w->bytes++ = (unsigned char)w->next;
}

/* Write the low 'width' bits of 'value', which has no other bits; 0 <= width <= 64. */
static inline void tamis_i_write(tamis_i_writer *w, uint64_t value, unsigned width) {
    const unsigned low = width > 56 ? 32 : 0;
    if (low != 0)
        tamis_i_write_some(w, value & tamis_i_low_mask(low), low);
    tamis_i_write_some(w, value >> low, width - low);
}

/* Fill the last byte with zeros. */
static inline void tamis_i_write_end(tamis_i_writer *w) {
    if (w->pending > 0)
        tamis_i_write(w, 0, 8 - w->pending);
}

/* A reader of bits: 'left' more bytes at 'bytes', and before them 'pending' bits in 'next'. */
typedef struct tamis_i_reader {
    const unsigned char *bytes;
    size_t left;
    uint64_t next;
    unsigned pending;
} tamis_i_reader;

/* Read at most 56 bits. */
static inline bool tamis_i_read_some(tamis_i_reader *r, unsigned width, uint64_t *value) {
    for (; r->pending < width; r->pending += 8, r->left--) {
        if (r->left == 0)
            return false;
        r->next |= (uint64_t)*r->bytes++ << r->pending;
    }
    *value = r->next & tamis_i_low_mask(width);
    r->next >>= width;
    r->pending -= width;
    return true;
}

/* Read 'width' bits, up to 64.  False if there are fewer. */
static inline bool tamis_i_read(tamis_i_reader *r, unsigned width, uint64_t *value) {
    const unsigned n_low = width > 56 ? 32 : 0;
    uint64_t low = 0, high = 0;
    if (n_low != 0 && !tamis_i_read_some(r, n_low, &low))
        return false;
    if (!tamis_i_read_some(r, width - n_low, &high))
        return false;
    *value = low | high << n_low;
    return true;
}

/* Write n bits of an array of words, from bit 'at' on. */
static inline void tamis_i_write_bits(tamis_i_writer *w, const uint64_t *words, uint64_t at,
                                      uint64_t n) {
    for (unsigned width; n > 0; n -= width, at += width) {
        width = n < 64 ? (unsigned)n : 64;
        tamis_i_write(w, tamis_i_field_get(words, at, width), width);
    }
}

/* Read n bits into words, from bit 'at' on, which must be zero. */
static inline bool tamis_i_read_bits(tamis_i_reader *r, uint64_t *words, uint64_t at, uint64_t n) {
    for (unsigned width; n > 0; n -= width, at += width) {
        uint64_t bits;
        width = n < 64 ? (unsigned)n : 64;
        if (!tamis_i_read(r, width, &bits))
            return false;
        tamis_i_field_put(words, at, width, bits);
    }
    return true;
}

/* The rest of the last byte must be zero, and no byte may follow. */
static inline bool tamis_i_read_end(const tamis_i_reader *r) {
    return r->left == 0 && r->next == 0 && r->pending < 8;
}

#endif
