/* line_word.h - ones of a word, counted and found, where the processor has no instruction for it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_WORD_H
#define TAMIS_KINDS_LINE_WORD_H

#include "base/base.h"

#define TAMIS_I_LINE_EACH UINT64_C(0x0101010101010101) /* a one in each byte */

/* The number of ones up to and with each byte, as bytes. */
static inline uint64_t tamis_i_line_byte_sums(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return x * TAMIS_I_LINE_EACH;
}

/* How many of these bytes, each below 128 and none smaller than the one before it, are at most k < 128. */
static inline unsigned tamis_i_line_up_to(uint64_t bytes, unsigned k) {
    const uint64_t high = TAMIS_I_LINE_EACH << 7;
    return (unsigned)(((((k * TAMIS_I_LINE_EACH) | high) - bytes) >> 7 & TAMIS_I_LINE_EACH) *
                          TAMIS_I_LINE_EACH >>
                      56);
}

/* The place of the k-th one of a word, from 0, with its sums; 64 if there are not so many.  k < 128. */
static inline unsigned tamis_i_line_select(uint64_t x, uint64_t sums, unsigned k) {
    if (k >= sums >> 56)
        return 64;
    const unsigned at = 8 * tamis_i_line_up_to(sums, k);
    k -= (unsigned)((sums << 8) >> at & 0xff);
    /* The bits of that byte, each in a byte of its own: then the same once more. */
    const uint64_t spread = (x >> at & 0xff) * TAMIS_I_LINE_EACH & UINT64_C(0x8040201008040201),
                   ones = (spread + (TAMIS_I_LINE_EACH << 7) - TAMIS_I_LINE_EACH) >> 7 &
                          TAMIS_I_LINE_EACH;
    return at + tamis_i_line_up_to(ones * TAMIS_I_LINE_EACH, k);
}

#endif
