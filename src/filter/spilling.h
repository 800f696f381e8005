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

/* Fill in the loads of the buckets, and the error rate where 'distinct' fingerprints are answered. */
void tamis_i_spilling_info(const tamis_i_spill *spill, const uint64_t *table, uint64_t distinct,
                           tamis_info *info);

static inline void tamis_i_spilling_prefetch(const tamis_i_spill *spill, const uint64_t *table,
                                             tamis_digest digest) {
    const uint64_t *const bucket =
        table + tamis_i_spill_locate(spill, digest).bucket * spill->front.words;
    TAMIS_PREFETCH(bucket);
    TAMIS_PREFETCH(bucket + TAMIS_LINE_WORDS % spill->front.words);
}

#endif
