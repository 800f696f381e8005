/* words.c - ones in arrays of words: the portable definition
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/words.h"

#include "bits/field.h"
#include "bits/native.h"

uint64_t tamis_i_words_ones(const uint64_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tamis_i_ones_of(words[i]);
    return sum;
}

uint64_t tamis_i_words_rank(const uint64_t *words, uint64_t at) {
    const uint64_t sum = tamis_i_words_ones(words, (size_t)(at / 64));
    const unsigned rest = (unsigned)(at % 64);
    return rest == 0 ? sum : sum + tamis_i_ones_of(words[at / 64] & tamis_i_low_mask(rest));
}

/* Byte sums as in tamis_i_ones_of, then all their prefix sums by one multiplication.  The first byte
 * whose prefix sum exceeds r holds the bit. */
unsigned tamis_i_words_select(uint64_t word, unsigned r) {
    uint64_t w = word - (word >> 1 & 0x5555555555555555u);
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    const uint64_t prefix = w * 0x0101010101010101u; /* byte i: ones in bytes 0..i */
    if (r >= (unsigned)(prefix >> 56))
        return 64;
    unsigned byte = 0;
    while ((unsigned)(prefix >> 8 * byte & 0xff) <= r)
        byte++;
    unsigned left = byte == 0 ? r : r - (unsigned)(prefix >> 8 * (byte - 1) & 0xff);
    unsigned bits = (unsigned)(word >> 8 * byte & 0xff);
    while (left-- > 0)
        bits &= bits - 1;
    unsigned at = 8 * byte;
    while ((bits & 1) == 0) {
        bits >>= 1;
        at++;
    }
    return at;
}

const tamis_i_words_ops *tamis_i_words_ops_for(unsigned features) {
    static const tamis_i_words_ops portable = {tamis_i_words_ones, tamis_i_words_rank,
                                               tamis_i_words_select};
    const tamis_i_words_ops *const native = TAMIS_I_WORDS_NATIVE(features);
    return native != NULL ? native : &portable;
}
