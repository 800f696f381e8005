/* counting_bucket.h - an engine: buckets of cells, each a remainder and a counter
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_COUNTING_BUCKET_H
#define TAMIS_BITS_COUNTING_BUCKET_H

#include "bits/choices.h"
#include "bits/heads.h"

#define TAMIS_I_COUNTING_MAX TAMIS_I_HEADS_MAX

/* The layout of a bucket, and constants that follow from it. */
typedef struct tamis_i_counting_bucket {
    uint64_t n;              /* cells of a bucket */
    uint64_t counter_bits;   /* of a cell */
    uint64_t remainder_bits; /* of a cell */
    uint64_t tail_bits;      /* of a remainder */
    uint64_t counters_at;    /* first bit of the counters, and of the tails, within the bucket */
    uint64_t tails_at;
    uint64_t counter_part; /* 2^16 / counter_bits, rounded up */
    uint64_t head_mask, tail_mask, counter_mask, counters_mask; /* of one, and of all counters */
    uint64_t counter_tops; /* the highest bit of each counter */
    tamis_i_heads heads;
} tamis_i_counting_bucket;

/* Is this layout possible? 1 to TAMIS_I_COUNTING_MAX cells, counters of 1 to 8 bits, 64 in all,
 * remainders of 1 to 32 bits. */
bool tamis_i_counting_ok(uint64_t n, uint64_t counter_bits, uint64_t remainder_bits);

/* Prepare a possible layout. */
void tamis_i_counting_init(tamis_i_counting_bucket *cells, uint64_t n, uint64_t counter_bits,
                           uint64_t remainder_bits);

/* Bits of a bucket: whole bytes. */
static inline uint64_t tamis_i_counting_bits(uint64_t n, uint64_t counter_bits,
                                             uint64_t remainder_bits) {
    return (n * (counter_bits + remainder_bits) + 7) / 8 * 8;
}

static inline uint64_t tamis_i_counting_counter_max(const tamis_i_counting_bucket *cells) {
    return cells->counter_mask;
}

/* Below, 'line' and 'at' give the first bit of the bucket, which is in that line of 8 words.  The
 * functions touch no other words.  The work done for every key is here, to be inlined. */

/* All counters of the bucket, the first in the lowest bits. */
static inline uint64_t tamis_i_counting_counters(const tamis_i_counting_bucket *cells,
                                                 const uint64_t *line, uint64_t at) {
    return tamis_i_lined_get(line, at + cells->counters_at, cells->counters_mask);
}

/* The highest bits of the counters that are not 0.  These counters belong to the first cells.  So of
 * two buckets, the one with the greater number has the greater load. */
static inline uint64_t tamis_i_counting_used(const tamis_i_counting_bucket *cells,
                                             uint64_t counters) {
    const uint64_t tops = cells->counter_tops, rest = cells->counters_mask ^ tops;
    return (((counters & rest) + rest) | counters) & tops;
}

/* The number of cells in use.  These are the first cells. */
static inline uint64_t tamis_i_counting_load(const tamis_i_counting_bucket *cells, uint64_t used) {
    const uint64_t free = used ^ cells->counter_tops;
    if (free == 0)
        return cells->n;
    return ((uint64_t)__builtin_ctzll(free) + 1 - cells->counter_bits) * cells->counter_part >> 16;
}

static inline uint64_t tamis_i_counting_counter(const tamis_i_counting_bucket *cells,
                                                uint64_t counters, uint64_t cell) {
    return counters >> cell * cells->counter_bits & cells->counter_mask;
}

/* The head of a remainder. */
static inline uint64_t tamis_i_counting_head(const tamis_i_counting_bucket *cells,
                                             uint64_t remainder) {
    return remainder & cells->head_mask;
}

static inline uint64_t tamis_i_counting_tail(const tamis_i_counting_bucket *cells,
                                             const uint64_t *line, uint64_t at, uint64_t cell) {
    const uint64_t bits = cells->tail_bits;
    if (bits == 0)
        return 0;
    return tamis_i_lined_get(line, at + cells->tails_at + cell * bits, cells->tail_mask);
}

/* The counter of a cell whose head is that of the remainder, or 0 if it does not hold the remainder. */
static inline uint64_t tamis_i_counting_confirm(const tamis_i_counting_bucket *cells,
                                                const uint64_t *line, uint64_t at, uint64_t cell,
                                                uint64_t remainder) {
    const uint64_t count = tamis_i_lined_get(
        line, at + cells->counters_at + cell * cells->counter_bits, cells->counter_mask);
    return tamis_i_counting_tail(cells, line, at, cell) == remainder >> cells->heads.bits ? count
                                                                                          : 0;
}

/* Does the cell, whose head matches, hold the remainder?  The cell can be empty only if the remainder
 * is 0 (C2 in counting_bucket.c). */
static inline bool tamis_i_counting_holds(const tamis_i_counting_bucket *cells,
                                          const uint64_t *line, uint64_t at, uint64_t cell,
                                          uint64_t remainder) {
    if (TAMIS_UNLIKELY(remainder == 0))
        return tamis_i_counting_confirm(cells, line, at, cell, remainder) != 0;
    return tamis_i_counting_tail(cells, line, at, cell) == remainder >> cells->heads.bits;
}

static inline uint64_t tamis_i_counting_remainder(const tamis_i_counting_bucket *cells,
                                                  const uint64_t *line, uint64_t at,
                                                  uint64_t cell) {
    const uint64_t bits = cells->heads.bits;
    return tamis_i_counting_tail(cells, line, at, cell) << bits |
           tamis_i_lined_get(line, at + cell * bits, cells->head_mask);
}

/* Flip the bits of a remainder that are set in 'change'. */
static inline void tamis_i_counting_flip(const tamis_i_counting_bucket *cells, uint64_t *line,
                                         uint64_t at, uint64_t cell, uint64_t change) {
    const uint64_t head = cells->heads.bits, tail = cells->tail_bits;
    tamis_i_lined_flip(line, at + cell * head, tamis_i_counting_head(cells, change));
    if (tail != 0)
        tamis_i_lined_flip(line, at + cells->tails_at + cell * tail, change >> head);
}

/* Change a counter from one value to another; at most the largest value. */
static inline void tamis_i_counting_count(const tamis_i_counting_bucket *cells, uint64_t *line,
                                          uint64_t at, uint64_t cell, uint64_t from, uint64_t to) {
    tamis_i_lined_flip(line, at + cells->counters_at + cell * cells->counter_bits, from ^ to);
}

/* Use the next cell; load < n and 1 <= count <= the largest value. */
static inline void tamis_i_counting_add(const tamis_i_counting_bucket *cells, uint64_t *line,
                                        uint64_t at, uint64_t load, uint64_t remainder,
                                        uint64_t count) {
    TAMIS_ASSERT(load < cells->n && count >= 1 && count <= cells->counter_mask);
    tamis_i_counting_flip(cells, line, at, load, remainder);
    tamis_i_counting_count(cells, line, at, load, 0, count);
}

/* Empty a cell in use, which holds 'remainder'; the last one in use takes its place. */
static inline void tamis_i_counting_drop(const tamis_i_counting_bucket *cells, uint64_t *line,
                                         uint64_t at, uint64_t cell, uint64_t remainder) {
    const uint64_t counters = tamis_i_counting_counters(cells, line, at);
    const uint64_t last = tamis_i_counting_load(cells, tamis_i_counting_used(cells, counters)) - 1;
    const uint64_t bits = cells->counter_bits;
    const uint64_t count = tamis_i_counting_counter(cells, counters, last);
    const uint64_t moved = tamis_i_counting_remainder(cells, line, at, last);
    TAMIS_ASSERT(cell <= last && tamis_i_counting_remainder(cells, line, at, cell) == remainder);
    tamis_i_counting_flip(cells, line, at, cell, moved ^ remainder);
    tamis_i_counting_flip(cells, line, at, last, moved);
    tamis_i_lined_flip(line, at + cells->counters_at,
                       (count ^ tamis_i_counting_counter(cells, counters, cell)) << cell * bits ^
                           count << last * bits);
}

/* The cells in use that hold the remainder, bit i for cell i. */
unsigned tamis_i_counting_match(const tamis_i_counting_bucket *cells, const uint64_t *line,
                                unsigned at, uint64_t remainder);

/* Could these calls have made the bucket?  False, and why. */
bool tamis_i_counting_check(const tamis_i_counting_bucket *cells, const uint64_t *line, unsigned at,
                            const char **reason);

/* ---- the cells of a key ---- */

/* Buckets, and which of them a key may go to. */
typedef struct tamis_i_counting_layout {
    tamis_i_choices choices;
    tamis_i_counting_bucket cells;
} tamis_i_counting_layout;

/* The best operations for these features (base/cpu.h); 0 gives the portable ones. */
const tamis_i_choices_ops *tamis_i_counting_bucket_ops_for(const tamis_i_counting_layout *layout,
                                                           unsigned features);

/* The native ones, for bits/native.h; NULL if there are none for this layout or these features. */
const tamis_i_choices_ops *tamis_i_counting_bucket_ops_x86(const tamis_i_counting_layout *layout,
                                                           unsigned features);

/* The cells of a fingerprint, in all its buckets. */
typedef struct tamis_i_counting_found {
    uint64_t copies; /* sum of the counters */
    unsigned n;
    /* The cell to be raised or lowered: the last one whose counter is not at its largest, else any. */
    unsigned choice, cell;
    uint64_t count;
} tamis_i_counting_found;

/* Find the buckets of a key, and in them the cells of its fingerprint. */
tamis_i_counting_found tamis_i_counting_look(const tamis_i_counting_layout *layout, uint64_t *table,
                                             tamis_digest digest, tamis_i_probe *probe);

/* Use a new cell for a key that was looked at.  False if its buckets are full. */
bool tamis_i_counting_use(const tamis_i_counting_layout *layout, const tamis_i_probe *probe);

#endif
