/* shards.h - sharded sets as bytes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILE_SHARDS_H
#define TAMIS_FILE_SHARDS_H

#include "file/series.h"
#include "filter/shards.h"

/* The kind that the header of a sharded set names; no filter has it. */
#define TAMIS_I_KIND_SHARDS 129u

/* Do the 256 bytes of a header say that it is that of a sharded set?  They have not been checked. */
bool tamis_i_shards_is(const unsigned char *head);

/* Is it the header of a set that consists of others: a series, or a sharded set? */
static inline bool tamis_i_is_composed(const unsigned char *head) {
    return tamis_i_series_is(head) || tamis_i_shards_is(head);
}

/* Write the header of a sharded set; 'sums' are the checksums of the headers of its shards. */
void tamis_i_shards_encode(const tamis_filter *filter, const uint64_t *sums, unsigned char *head);

/* Like tamis_i_series_open. */
tamis_status tamis_i_shards_open(const unsigned char *bytes, size_t size,
                                 const tamis_allocator *allocator, tamis_i_opening opening,
                                 tamis_filter **filter, const char **reason);

#endif
