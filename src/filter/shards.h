/* shards.h - a set in several filters, of which each key has one
 *
 * A sharded set is a handle and a number of shards: filters of equal parameters, hash and seed.  A key is in
 * shard tamis_digest_shard(digest, n) and in no other.  Each shard may have grown and be a series by itself.
 *
 *      handle ── links ── shard 0: [ handle ] ── body ─┐
 *                       ├ shard 1: [ handle ] ── body ─┤ one block for the bodies of all shards
 *                       └ ...                          ┘ (or a file in memory, of a view)
 *
 * Sets that many threads use are of this form (src/shared/), and so are their files.  Here nothing is locked:
 * a sharded set is to its caller a set like others.
 *
 * The handle has links that name the shards, so that calls for a filter without links do not ask.  Its own
 * body is that of shard 0, of which nobody reads more than the parameters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_SHARDS_H
#define TAMIS_FILTER_SHARDS_H

#include "filter/series.h"

/* Shards of a set, at most. */
#define TAMIS_I_SHARDS_MAX 1024u

static inline bool tamis_i_is_sharded(const tamis_filter *filter) {
    return filter->links != NULL && filter->links->n_shards != 0;
}

/* How many filters, or series, there are: the shards of a sharded set, else 1. */
static inline unsigned tamis_i_n_parts(const tamis_filter *filter) {
    return tamis_i_is_sharded(filter) ? filter->links->n_shards : 1;
}

/* Part number i, which is no sharded set. */
static inline tamis_filter *tamis_i_part(const tamis_filter *filter, unsigned i) {
    /* A set that is not sharded is its own part, as const as its caller has it. */
    return tamis_i_is_sharded(filter) ? filter->links->shard[i] : (tamis_filter *)(uintptr_t)filter;
}

/* Make an empty sharded set; 'params' are the complete ones of a shard, 'n' is 1 to TAMIS_I_SHARDS_MAX.  If
 * 'zeroed' is false the content of the bodies does not matter.  TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM, and
 * what shape returns. */
tamis_status tamis_i_shards_make(const tamis_i_kind *kind, const tamis_params *params, unsigned n,
                                 const tamis_allocator *allocator, bool zeroed,
                                 tamis_filter **filter);

/* Make a sharded set of n filters, or series, that are there; they belong to it from then on.  TAMIS_E_NOMEM:
 * they do not. */
tamis_status tamis_i_shards_join(tamis_filter *const *shards, unsigned n,
                                 const tamis_allocator *allocator, tamis_filter **filter);

/* A copy with memory of its own.  TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM. */
tamis_status tamis_i_shards_clone(const tamis_filter *source, const tamis_allocator *allocator,
                                  tamis_filter **copy);

/* Copy the keys of one shard to one of equal parameters that has no further links.  TAMIS_E_NOMEM. */
tamis_status tamis_i_shard_copy(tamis_filter *shard, const tamis_filter *source);

/* Exchange the shards of two sets with equally many. */
void tamis_i_shards_swap(tamis_filter *a, tamis_filter *b);

/* Like tamis_i_series_info; with link >= 0 of the links of that number, as far as shards have one. */
void tamis_i_shards_info(const tamis_filter *filter, int link, bool glance, tamis_info *info);

/* Add to 'info' what one of so many shards is like. */
void tamis_i_shards_info_add(tamis_info *info, const tamis_info *one, double shards);

/* Verify what was not yet verified of a view (filter/guard.h), its links and shards; other sets were
 * verified when they were read.  Whoever reads all of a set calls this first.  TAMIS_E_FORMAT, and why in
 * '*reason', if that is not NULL. */
tamis_status tamis_i_filter_verify(const tamis_filter *filter, const char **reason);

/* Parts of the file that were found to be damaged, in all links and shards. */
uint64_t tamis_i_filter_damage(const tamis_filter *filter);

/* Let every shard grow by its part of growth->n; with 'now' by a link at once, else later.  If one of them
 * cannot, all are as before. */
tamis_status tamis_i_shards_grow(tamis_filter *filter, const tamis_growth *growth,
                                 tamis_i_link_planner *make, bool now);

#endif
