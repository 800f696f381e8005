/* counting_key.h - the work on one key of counting_bucket.h whose buckets are known: a template for
 * choices_template.h
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counting_bucket.h"

#define CHOICES_LAYOUT tamis_i_counting_layout

TAMIS_INLINE const tamis_i_heads *choices_heads(const tamis_i_counting_layout *l) {
    return &l->cells.heads;
}

static inline unsigned counting_bit_of(const tamis_i_probe *probe, unsigned i) {
    return (unsigned)probe->word[1 + i];
}

static inline uint64_t counting_used_at(const tamis_i_counting_layout *l, const uint64_t *line,
                                        unsigned at) {
    return tamis_i_counting_used(&l->cells, tamis_i_counting_counters(&l->cells, line, at));
}

TAMIS_INLINE void choices_locate(const tamis_i_counting_layout *l, unsigned d, uint64_t *table,
                                 tamis_digest digest, tamis_i_probe *probe) {
    tamis_i_choices_locate(&l->choices, d, table, digest, probe);
    probe->word[TAMIS_I_HEAD] = tamis_i_counting_head(&l->cells, probe->word[0]);
}

/* 'hits' are the cells with matching heads, 16 bits for each bucket. */
TAMIS_INLINE tamis_i_counting_found counting_find(const tamis_i_counting_layout *l,
                                                  const tamis_i_probe *probe, uint64_t hits) {
    tamis_i_counting_found found = {0};
    const uint64_t most = tamis_i_counting_counter_max(&l->cells);
    for (; hits != 0; hits &= hits - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(hits), i = bit / 16, cell = bit % 16;
        const uint64_t count = tamis_i_counting_confirm(
            &l->cells, probe->at[i], counting_bit_of(probe, i), cell, probe->word[0]);
        if (count == 0)
            continue;
        if (found.n == 0 || count < most) {
            found.choice = i;
            found.cell = cell;
            found.count = count;
        }
        found.copies += count;
        found.n++;
    }
    return found;
}

/* Looks at the first hit even if there is none, since a branch on that could not be predicted. */
TAMIS_INLINE bool choices_holds(const tamis_i_counting_layout *l, const tamis_i_probe *probe,
                                uint64_t hits) {
    unsigned bit = (unsigned)__builtin_ctzll(hits + (hits == 0));
    bool found = (hits != 0) & tamis_i_counting_holds(&l->cells, probe->at[bit / 16],
                                                      counting_bit_of(probe, bit / 16), bit % 16,
                                                      probe->word[0]);
    for (hits &= hits - 1; TAMIS_UNLIKELY(hits != 0); hits &= hits - 1) {
        bit = (unsigned)__builtin_ctzll(hits);
        found |= tamis_i_counting_holds(&l->cells, probe->at[bit / 16],
                                        counting_bit_of(probe, bit / 16), bit % 16, probe->word[0]);
    }
    return found;
}

/* Use a new cell, if the key's buckets have one. */
TAMIS_INLINE bool counting_use(const tamis_i_counting_layout *l, unsigned d,
                               const tamis_i_probe *probe) {
    unsigned best = 0;
    uint64_t least = counting_used_at(l, probe->at[0], counting_bit_of(probe, 0));
    for (unsigned i = 1; i < d; i++) {
        const uint64_t used = counting_used_at(l, probe->at[i], counting_bit_of(probe, i));
        best = used < least ? i : best;
        least = used < least ? used : least;
    }
    if (least == l->cells.counter_tops)
        return false;
    tamis_i_counting_add(&l->cells, probe->at[best], counting_bit_of(probe, best),
                         tamis_i_counting_load(&l->cells, least), probe->word[0], 1);
    return true;
}

/* Most keys are new, and there is room for them. */
TAMIS_INLINE bool choices_add(const tamis_i_counting_layout *l, unsigned d,
                              const tamis_i_probe *probe, uint64_t hits) {
    for (; hits != 0; hits &= hits - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(hits), i = bit / 16;
        if (tamis_i_counting_confirm(&l->cells, probe->at[i], counting_bit_of(probe, i), bit % 16,
                                     probe->word[0]) != 0)
            return false;
    }
    return counting_use(l, d, probe);
}

TAMIS_INLINE bool choices_drop(const tamis_i_counting_layout *l, const tamis_i_probe *probe,
                               uint64_t hits) {
    const tamis_i_counting_found cells = counting_find(l, probe, hits);
    if (cells.n == 0)
        return false;
    uint64_t *const words = probe->at[cells.choice];
    const unsigned at = counting_bit_of(probe, cells.choice);
    if (cells.count > 1)
        tamis_i_counting_count(&l->cells, words, at, cells.cell, cells.count, cells.count - 1);
    else
        tamis_i_counting_drop(&l->cells, words, at, cells.cell, probe->word[0]);
    return true;
}
