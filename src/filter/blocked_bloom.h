/* blocked_bloom.h - what the geometry of a blocked-bloom holds, for its calls in one piece
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_BLOCKED_BLOOM_H
#define TAMIS_FILTER_BLOCKED_BLOOM_H

#include "bits/block.h"
#include "filter/filter.h"

typedef struct tamis_i_blocked_layout {
    uint64_t blocks;
    const uint32_t
        *used; /* of the calls in one piece: 1 in as many lanes of 16 as a key sets bits */
    tamis_i_block_ops ops; /* themselves, so that a query has one step less to them */
} tamis_i_blocked_layout;

TAMIS_INLINE const tamis_i_blocked_layout *tamis_i_blocked_layout_of(const tamis_filter *filter) {
    return (const tamis_i_blocked_layout *)(const void *)filter->geometry;
}

TAMIS_INLINE uint64_t *tamis_i_blocked_block(const tamis_filter *filter, uint64_t lo) {
    return filter->table +
           TAMIS_LINE_WORDS * tamis_i_range(lo, tamis_i_blocked_layout_of(filter)->blocks);
}

#endif
