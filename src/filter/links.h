/* links.h - a filter that has outgrown its plan: a series of filters
 *
 * The handle that the caller has is the first link, also of a series that has only one.  The further
 * links are filters of their own, of the same kind and seed, each larger and with a lower error rate
 * than the one before; their handles have no links.  src/filter/series.c says how keys are spread over them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_LINKS_H
#define TAMIS_FILTER_LINKS_H

#include "filter/filter.h"

/* Links of a series, the first included: from one key to 2^40, doubled each time. */
#define TAMIS_I_LINKS_MAX 41u

struct tamis_i_links {
    uint64_t promise; /* error rate of all links together, in units of 2^-64; not 0 */
    bool automatic;   /* inserts may add links */
    unsigned n;       /* further links */
    tamis_filter *link[TAMIS_I_LINKS_MAX - 1];
};

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

/* Free all but the first link, and what tells of them. */
void tamis_i_links_end(tamis_filter *filter);

#endif
