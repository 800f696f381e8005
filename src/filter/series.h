/* series.h - calls on filters of several links
 *
 * As the public functions of similar names, whose arguments have been checked.  All of them need
 * filter->links, but for those about one link by itself, and for a merge, which needs them of one of both.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_SERIES_H
#define TAMIS_FILTER_SERIES_H

#include "api/api.h"
#include "filter/links.h"

bool tamis_i_series_contains(const tamis_filter *filter, tamis_digest digest);
uint64_t tamis_i_series_copies(const tamis_filter *filter, tamis_digest digest);

/* With a value, or (value < 0) without.  'added' may be NULL. */
tamis_status tamis_i_series_insert(tamis_filter *filter, tamis_digest digest, int value,
                                   bool *added);
tamis_status tamis_i_series_remove(tamis_filter *filter, tamis_digest digest);
tamis_status tamis_i_series_lookup_value(const tamis_filter *filter, tamis_digest digest,
                                         unsigned *value);
tamis_status tamis_i_series_update_value(tamis_filter *filter, tamis_digest digest, unsigned value);
uint64_t tamis_i_series_count(const tamis_filter *filter);
void tamis_i_series_info(const tamis_filter *filter, tamis_info *info);
tamis_status tamis_i_series_merge(tamis_filter *filter, const tamis_filter *source);

/* What one link is like (filter.c). */
void tamis_i_link_info(const tamis_filter *link, tamis_info *info);

/* Copy one link, as one that is made for 'capacity' keys (filter.c). */
tamis_status tamis_i_link_clone(const tamis_filter *source, uint64_t capacity,
                                const tamis_allocator *allocator, tamis_filter **copy);

#endif
