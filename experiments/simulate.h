/* simulate.h - what the simulations on real structures share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_SIMULATE_H
#define TAMIS_EXPERIMENTS_SIMULATE_H

#include "experiments.h"

/* One experiment, repeated with seeds 1, 2, ...: a filter is made and filled with 'keys' fresh keys. */
typedef struct experiment {
    tamis_params params; /* the seed is set for each trial */
    uint64_t keys;
    const tamis_build_options *offline; /* built from all keys at once; NULL: inserted one by one */
    unsigned trials;
} experiment;

/* The error rate over all trials, 'queries' absent keys each. */
tamis_status simulate_rate(const experiment *e, uint64_t queries, measured *value);

/* The fraction of the buckets that hold 'load' keys. */
tamis_status simulate_load(const experiment *e, unsigned load, measured *value);

#endif
