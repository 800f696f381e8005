/* choices.h - what the filters share whose keys have several buckets and can be removed
 *
 * The buckets are an engine's (bits/choices.h).  Here are stash and count: the same for all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_CHOICES_H
#define TAMIS_FILTER_CHOICES_H

#include "bits/choices.h"
#include "filter/filter.h"

/* What geometry[] begins with. */
typedef struct tamis_i_choices_way {
    const tamis_i_choices_ops *ops;
    size_t layout; /* of the engine: bytes from here */
    /* Insert any key, in any state of the table: those that ops->add_new does not take. */
    tamis_status (*insert_any)(tamis_filter *filter, tamis_digest digest, bool *added);
} tamis_i_choices_way;

/* The calls of a structure, for its tamis_i_kind. */
bool tamis_i_choices_contains(const tamis_filter *filter, tamis_digest digest);
tamis_status tamis_i_choices_insert(tamis_filter *filter, tamis_digest digest, bool *added);
tamis_status tamis_i_choices_remove(tamis_filter *filter, tamis_digest digest);
void tamis_i_choices_prefetch(const tamis_filter *filter, tamis_digest digest, bool write);
bool tamis_i_choices_touch(const tamis_filter *filter, tamis_digest digest);
void tamis_i_choices_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                   const tamis_i_group *next, bool *present);
tamis_status tamis_i_choices_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                         const tamis_i_group *next, bool *added, size_t *done);
void tamis_i_choices_remove_many(tamis_filter *filter, const tamis_i_group *now,
                                 const tamis_i_group *next, bool *removed);

/* The first bucket that lies in the line of this word of the table, or behind it; their number if there is
 * none. */
static inline uint64_t tamis_i_choices_first(const tamis_i_choices *choices, uint64_t word) {
    const uint64_t first = word / TAMIS_LINE_WORDS * choices->per_line;
    const uint64_t all = choices->subtables * choices->buckets;
    return first < all ? first : all;
}

/* The end of a structure's check: bits of no bucket are zero, and the 'keys' that the buckets hold, with
 * those in the stash, are as many as the filter claims.  False, and why. */
bool tamis_i_choices_check(const tamis_i_choices *choices, const tamis_filter *filter,
                           uint64_t keys, const char **reason);

#endif
