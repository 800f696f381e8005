/* cells.h - buckets of cells, each a remainder and a counter
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_CELLS_H
#define TAMIS_BITS_CELLS_H

#include "bits/heads.h"

#define TAMIS_I_CELLS_MAX TAMIS_I_HEADS_MAX

/* A way to divide the bits of a bucket, and constants that follow from it. */
typedef struct tamis_i_cells {
    uint64_t n;              /* cells of a bucket */
    uint64_t counter_bits;   /* of a cell */
    uint64_t remainder_bits; /* of a cell */
    uint64_t counters_at;    /* first bit of the counters, and of the tails, within the bucket */
    uint64_t tails_at;
    uint64_t counter_part; /* 2^16 / counter_bits, rounded up */
    tamis_i_heads heads;
} tamis_i_cells;

/* Can a bucket be divided so?  1 to TAMIS_I_CELLS_MAX cells, counters of 1 to 8 bits, 64 in all,
 * remainders of 1 to 32 bits. */
bool tamis_i_cells_ok(uint64_t n, uint64_t counter_bits, uint64_t remainder_bits);

/* Prepare a way that is possible. */
void tamis_i_cells_init(tamis_i_cells *cells, uint64_t n, uint64_t counter_bits,
                        uint64_t remainder_bits);

/* Bits of a bucket: whole bytes. */
static inline uint64_t tamis_i_cells_bits(uint64_t n, uint64_t counter_bits,
                                          uint64_t remainder_bits) {
    return (n * (counter_bits + remainder_bits) + 7) / 8 * 8;
}

static inline uint64_t tamis_i_cells_counter_max(const tamis_i_cells *cells) {
    return ((uint64_t)1 << cells->counter_bits) - 1;
}

/* In the following 'words' and 'at' tell the first bit of the bucket.  The functions touch only words
 * that the bucket has bits in.  */

/* All counters of the bucket, the first in the lowest bits. */
static inline uint64_t tamis_i_cells_counters(const tamis_i_cells *cells, const uint64_t *words,
                                              unsigned at) {
    return tamis_i_field_get(words, at + cells->counters_at,
                             (unsigned)(cells->n * cells->counter_bits));
}

/* Cells in use: the first ones, and the last of them has a nonzero counter. */
static inline unsigned tamis_i_cells_load(const tamis_i_cells *cells, uint64_t counters) {
    const unsigned length = counters == 0 ? 0 : 64 - (unsigned)__builtin_clzll(counters);
    return (unsigned)((length + cells->counter_bits - 1) * cells->counter_part >> 16);
}

static inline uint64_t tamis_i_cells_counter(const tamis_i_cells *cells, uint64_t counters,
                                             unsigned cell) {
    return counters >> cell * cells->counter_bits & tamis_i_cells_counter_max(cells);
}

/* The head of a remainder. */
static inline uint64_t tamis_i_cells_head(const tamis_i_cells *cells, uint64_t remainder) {
    return remainder & tamis_i_low_mask((unsigned)cells->heads.bits);
}

/* The counter of a cell whose head is that of the remainder, or 0 if it does not hold the remainder. */
uint64_t tamis_i_cells_confirm(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                               unsigned cell, uint64_t remainder);

/* The cells in use that hold the remainder, bit i for cell i. */
unsigned tamis_i_cells_match(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                             uint64_t remainder);

uint64_t tamis_i_cells_remainder(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                                 unsigned cell);

/* Set the counter of a cell; at most the largest value. */
void tamis_i_cells_count(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned cell,
                         uint64_t count);

/* Use the next cell; load < n and 1 <= count <= the largest value. */
void tamis_i_cells_add(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned load,
                       uint64_t remainder, uint64_t count);

/* Empty a cell in use; the last one in use takes its place. */
void tamis_i_cells_drop(const tamis_i_cells *cells, uint64_t *words, unsigned at, unsigned load,
                        unsigned cell);

/* Could the bucket have come from these calls?  False, and why. */
bool tamis_i_cells_check(const tamis_i_cells *cells, const uint64_t *words, unsigned at,
                         const char **reason);

#endif
