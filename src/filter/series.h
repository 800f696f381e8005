/* series.h - a filter that has outgrown its plan: a series of filters, its links
 *
 * The handle that the caller has is the first link, also of a series that has only one.  The further
 * links are filters of their own, of the same kind and seed, each larger and with a lower error rate
 * than the one before; their handles have no links.  series.c says how keys are spread over them, grow.c how
 * links are added.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_SERIES_H
#define TAMIS_FILTER_SERIES_H

#include "filter/filter.h"
#include "hash/hash.h"
#include "tamis/plan.h"

/* Makes the plan of a further link: tamis_plan_make.  Planning is done above this room, so that who lets a
 * series grow says how. */
typedef tamis_status tamis_i_link_planner(const tamis_need *need, tamis_plan *plan);

/* Links of a series, the first included: from one key to 2^40, doubled each time. */
#define TAMIS_I_LINKS_MAX 41u

struct tamis_i_links {
    uint64_t promise;           /* error rate of all links together, in units of 2^-64; not 0 */
    bool automatic;             /* inserts may add links */
    tamis_i_link_planner *plan; /* how further links are planned, if they may be added */
    unsigned n;                 /* further links */
    tamis_filter *link[TAMIS_I_LINKS_MAX - 1];
    /* Of a sharded set (filter/shards.h), whose handle has no links of its own; all the rest is 0 then. */
    unsigned n_shards;
    tamis_filter **shard;
    uint64_t *bodies; /* of the shards, if they are one block */
    size_t bodies_size;
};

/* Where a key is: its shard, or the filter itself. */
static inline tamis_filter *tamis_i_shard_of(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_links *const links = filter->links;
    return links == NULL || links->n_shards == 0
               ? (tamis_filter *)(uintptr_t)filter
               : links->shard[tamis_i_digest_shard(digest, links->n_shards)];
}

/* How many links, the first included. */
static inline unsigned tamis_i_n_links(const tamis_filter *filter) {
    return filter->links == NULL ? 1 : 1 + filter->links->n;
}

/* Link number i, from 0, the oldest. */
static inline tamis_filter *tamis_i_link(const tamis_filter *filter, unsigned i) {
    /* The first link is as const as its caller has it; every other one belongs to the series. */
    return i == 0 ? (tamis_filter *)(uintptr_t)filter : filter->links->link[i - 1];
}

static inline tamis_filter *tamis_i_newest(const tamis_filter *filter) {
    return tamis_i_link(filter, tamis_i_n_links(filter) - 1);
}

/* Make 'filter' a series of one link, unless it is one.  TAMIS_E_NOMEM. */
tamis_status tamis_i_links_begin(tamis_filter *filter, uint64_t promise);

/* The calls of a series or a sharded set, again after read_only was changed. */
void tamis_i_links_call(tamis_filter *filter);

/* Make a series of one link a filter without links again. */
void tamis_i_links_drop(tamis_filter *filter);

/* Give 'copy', of the first link of a series, copies of the others.  TAMIS_E_NOMEM. */
tamis_status tamis_i_links_clone(const tamis_filter *source, tamis_filter *copy);

/* Free all but the first link, and what tells of them. */
void tamis_i_links_end(tamis_filter *filter);

/* ---- keys: as the public functions of similar names, whose arguments have been checked ---- */

/* All of them need filter->links, or are slower than they need be.  A key of a sharded set is looked for in
 * its shard. */
bool tamis_i_series_contains(const tamis_filter *filter, tamis_digest digest);
uint64_t tamis_i_series_copies(const tamis_filter *filter, tamis_digest digest);

/* With a value, or (value < 0) without.  'added' may be NULL. */
tamis_status tamis_i_series_insert(tamis_filter *filter, tamis_digest digest, int value,
                                   bool *added);
tamis_status tamis_i_series_remove(tamis_filter *filter, tamis_digest digest);
tamis_status tamis_i_series_lookup_value(const tamis_filter *filter, tamis_digest digest,
                                         unsigned *value);
tamis_status tamis_i_series_update_value(tamis_filter *filter, tamis_digest digest, unsigned value);

/* ---- whole series, and filters that are none yet ---- */

uint64_t tamis_i_series_count(const tamis_filter *filter);

/* Note the form of keys in all handles of which a set consists, a sharded one too. */
void tamis_i_series_note_form(tamis_filter *filter, tamis_key_form form);

/* How many links have large tables, and share the time of reading a sample; 1 if none has. */
unsigned tamis_i_n_large(const tamis_filter *filter);

/* Like tamis_i_filter_info, for all links.  At a glance: of large tables a sample is read. */
void tamis_i_series_info(const tamis_filter *filter, bool glance, tamis_info *info);

/* One of both has links.  'promise' is to be kept; 0: whatever was promised. */
tamis_status tamis_i_series_merge(tamis_filter *filter, const tamis_filter *source, double promise);

/* Does a series keep this promise, as far as what it was planned for can tell (grow.c)? */
bool tamis_i_series_keeps(const tamis_filter *filter, double promise);

/* Add a link; 'growth' may be NULL.  Links that inserts add later are planned in the same way. */
tamis_status tamis_i_series_grow(tamis_filter *filter, const tamis_growth *growth,
                                 tamis_i_link_planner *make);
tamis_status tamis_i_series_allow(tamis_filter *filter, const tamis_growth *growth,
                                  tamis_i_link_planner *plan);

#endif
