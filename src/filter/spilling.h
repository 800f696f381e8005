/* spilling.h - what kinds with buckets that spill over (bits/spill.h) have in common: parameters and loads
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_SPILLING_H
#define TAMIS_FILTER_SPILLING_H

#include "bits/spill.h"
#include "filter/filter.h"

/* The layout of complete parameters with 'extra' bits beside each fingerprint; false if they are out of
 * range. */
bool tamis_i_spilling_layout(const tamis_params *params, unsigned extra, unsigned features,
                             tamis_i_spill *spill);

/* As the member 'shape' of a kind. */
tamis_status tamis_i_spilling_shape(tamis_params *params, unsigned extra, uint64_t *n_table);

/* Slots in use in a slice of the buckets: as many fingerprints, or fewer. */
uint64_t tamis_i_spilling_load(const tamis_i_spill *spill, const uint64_t *table,
                               tamis_i_slice slice);

/* Fill in the loads of the buckets of a slice, and the error rate where 'distinct' fingerprints of it are
 * answered. */
void tamis_i_spilling_info(const tamis_i_spill *spill, const uint64_t *table, tamis_i_slice slice,
                           uint64_t distinct, tamis_info *info);

/* As the member 'touch' of a kind: the bucket of the front, and those of the back if the home is away. */
bool tamis_i_spilling_touch(const tamis_i_spill *spill, const tamis_filter *filter,
                            tamis_digest digest);

/* ---- batches ---- */

_Static_assert(sizeof(tamis_i_spill_keys) <= TAMIS_I_SCRATCH_MAX, "the scratch is too small");

/* Groups from fetching to work. */
#define TAMIS_I_SPILLING_AHEAD 3u

/* What is kept of the keys of a group. */
static inline tamis_i_spill_keys *tamis_i_spilling_keys(const tamis_i_group *group) {
    return group->scratch;
}

/* The next group is located and begins to be fetched, while the one before it is looked at; returns which
 * keys of this group are there. */
static inline uint32_t tamis_i_spilling_ask(const tamis_i_spill *spill, const tamis_filter *filter,
                                            const tamis_i_group *now, const tamis_i_group *next) {
    const tamis_i_group *const before = next->before;
    tamis_i_spill_keys *const keys = tamis_i_spilling_keys(next);
    tamis_i_spill_locate_many(spill, filter->table, next->digests, next->n, keys);
    const bool turns = before != NULL && next->n >= before->n;
    if (!turns)
        tamis_i_spill_fetch_many(spill, keys, next->n);
    if (before != NULL)
        tamis_i_spill_look_many(spill, filter->table, before->n, tamis_i_spilling_keys(before),
                                turns ? keys : tamis_i_spilling_keys(before));
    return now->n == 0
               ? 0
               : tamis_i_spill_has_many(spill, filter->table, now->n, tamis_i_spilling_keys(now));
}

/* The same before changes: the next group is located, and of one two groups before it, which was fetched
 * since, what it will need of the back begins to be fetched. */
static inline void tamis_i_spilling_expect(const tamis_i_spill *spill, const tamis_filter *filter,
                                           const tamis_i_group *next, bool removal) {
    tamis_i_spill_locate_many(spill, filter->table, next->digests, next->n,
                              tamis_i_spilling_keys(next));
    const tamis_i_group *const soon = next->before == NULL ? NULL : next->before->before;
    if (soon != NULL)
        tamis_i_spill_expect_many(spill, filter->table, soon->n, tamis_i_spilling_keys(soon),
                                  removal);
}

/* Begin to fetch key i of the next group, in turns with the changes; and, after the last one, the rest. */
TAMIS_INLINE void tamis_i_spilling_fetch(const tamis_i_spill *spill, const tamis_i_group *next,
                                         size_t i) {
    if (i < next->n)
        tamis_i_spill_fetch_change(spill, tamis_i_spilling_keys(next), i);
}

TAMIS_INLINE void tamis_i_spilling_fetch_rest(const tamis_i_spill *spill, const tamis_i_group *next,
                                              size_t i) {
    for (; i < next->n; i++)
        tamis_i_spill_fetch_change(spill, tamis_i_spilling_keys(next), i);
}

#endif
