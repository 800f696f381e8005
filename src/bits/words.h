/* words.h - an engine: ones in arrays of words
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_WORDS_H
#define TAMIS_BITS_WORDS_H

#include "base/base.h"

typedef struct tamis_i_words_ops {
    /* Number of ones in n words. */
    uint64_t (*ones)(const uint64_t *words, size_t n);
    /* Number of ones among the first 'at' bits of an array; 'at' may be its length. */
    uint64_t (*rank)(const uint64_t *words, uint64_t at);
    /* The position of one number r, counted from 0, of a word; 64 if it has no more than r ones. */
    unsigned (*select)(uint64_t word, unsigned r);
} tamis_i_words_ops;

/* The best operations for these features (base/cpu.h); 0 gives the portable ones. */
const tamis_i_words_ops *tamis_i_words_ops_for(unsigned features);
const tamis_i_words_ops *tamis_i_words_ops_x86(unsigned features);

/* The portable operations, for engines that have only some of their own. */
uint64_t tamis_i_words_ones(const uint64_t *words, size_t n);
uint64_t tamis_i_words_rank(const uint64_t *words, uint64_t at);
unsigned tamis_i_words_select(uint64_t word, unsigned r);

/* Ones of a word.  Sums of neighbours: pairs, nibbles, bytes, then all bytes by one multiplication. */
static inline unsigned tamis_i_ones_of(uint64_t w) {
    w -= w >> 1 & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (unsigned)(w * 0x0101010101010101u >> 56);
}

#endif
