/* rank.h - what the geometry of a rank-indexed filter holds, for its calls in one piece
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_RANK_H
#define TAMIS_FILTER_RANK_H

#include "bits/rank_bucket.h"
#include "filter/filter.h"

typedef struct tamis_i_rank_layout {
    const tamis_i_rank_ops *ops;
    uint64_t copies_max;
    uint64_t near; /* slots of a bucket itself, at most 64 */
    tamis_i_rank_bucket rank;
} tamis_i_rank_layout;

TAMIS_INLINE const tamis_i_rank_layout *tamis_i_rank_layout_of(const tamis_filter *filter) {
    return (const tamis_i_rank_layout *)(const void *)filter->geometry;
}

#endif
