/* draw.h - independent positions for the hashes of a summary
 *
 * A summary must not be wrong about one item in 10^11, so its hashes must be as good as independent.
 * With double hashing (two hashes that make all others) items share whole sequences of positions far
 * too often.  Here each position has fresh random bits.  They come in words of the digest's stream,
 * mix(lo + i hi).  A word serves as many positions as leave 16 of its 64 bits unused, so no cell is
 * favoured by more than 2^-16 of its share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_DRAW_H
#define TAMIS_TABLE_DRAW_H

#include "hash/hash.h"
#include "table/summary.h"

typedef struct tamis_i_draw {
    uint64_t state;
    uint64_t step;
    uint64_t word;
    unsigned left; /* positions that are still in the word */
} tamis_i_draw;

/* Positions that one word yields, for positions below 'span'. */
static inline unsigned tamis_i_draw_per_word(uint64_t span) {
    unsigned bits = 1;
    while (bits < 48 && span >> bits != 0)
        bits++;
    return 48 / bits;
}

/* Begin the sequence number 'number' of a digest. */
static inline tamis_i_draw tamis_i_draw_begin(tamis_digest digest, unsigned number) {
    const uint64_t step = digest.hi | 1;
    const uint64_t first = TAMIS_I_SUMMARY_WORD * ((uint64_t)number + 1);
    return (tamis_i_draw){.state = digest.lo + first * step, .step = step};
}

/* The next position below 'span'. */
static inline uint64_t tamis_i_draw_next(tamis_i_draw *draw, uint64_t span, unsigned per_word) {
    if (draw->left == 0) {
        draw->word = tamis_i_mix(draw->state);
        draw->state += draw->step;
        draw->left = per_word;
    }
    draw->left--;
    return tamis_i_take(&draw->word, span);
}

#endif
