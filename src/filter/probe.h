/* probe.h - what the filters of the Bloom family share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_PROBE_H
#define TAMIS_FILTER_PROBE_H

#include "filter/filter.h"
#include "hash/hash.h"

#define TAMIS_I_PROBES_MAX 64u

/* The next position, below 'span', of the sequence that a digest stands for; the digest advances. */
static inline uint64_t tamis_i_probe_next(tamis_digest *digest, uint64_t span) {
    const uint64_t at = tamis_i_range(digest->lo, span);
    digest->lo = digest->lo * 0xd1342543de82ef95u + digest->hi;
    return at;
}

/* Cells (bits, counters) for an error rate of 1 %: 9.6 per key. */
static inline uint64_t tamis_i_probe_default_cells(uint64_t capacity) {
    return capacity * 48 / 5 + 1;
}

/* The number of hashes that fills half of the cells: cells / capacity * ln 2. */
static inline uint64_t tamis_i_probe_default_hashes(uint64_t cells, uint64_t capacity) {
    const double best = (double)cells / (double)capacity * 0.69314718055994531;
    return best < 1.5 ? 1 : best > TAMIS_I_PROBES_MAX ? TAMIS_I_PROBES_MAX : (uint64_t)(best + 0.5);
}

/* Every key counted by a set has set between 1 and 'hashes' bits (value[1] of these kinds).  A product
 * past 64 bits is no limit: merging filters that have keys in common can count as many. */
static inline bool tamis_i_probe_check_count(const tamis_filter *filter, uint64_t ones,
                                             const char **reason) {
    const uint64_t count = filter->state[TAMIS_I_COUNT], hashes = filter->params.value[1];
    uint64_t most;
    if ((ones == 0) != (count == 0) || (tamis_i_mul(count, hashes, &most) && ones > most)) {
        *reason = "the table does not fit the number of keys";
        return false;
    }
    return true;
}

#endif
