/* churn.h - the experiment of both papers on counting filters
 *
 * A filter is filled.  Then, in each round, a random key is removed and a new one inserted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_CHURN_H
#define TAMIS_EXPERIMENTS_CHURN_H

#include "experiments.h"

typedef struct churn {
    tamis_params params; /* the seed is that of the first trial; the others follow */
    uint64_t keys;       /* in the filter at a time */
    uint64_t rounds;
    uint64_t settle;  /* rounds before the stash is watched: loads need some rounds per key */
    uint64_t queries; /* for absent keys, after the rounds */
    uint64_t trials;
} churn;

#define CHURN_LOADS TAMIS_LOADS_MAX

typedef struct churn_result {
    measured rate;                  /* of "present" among the queries */
    measured at_least[CHURN_LOADS]; /* fraction of the buckets with this load or more, at the end */
    measured arrivals;              /* keys that went to the stash, per trial; see below */
    double overflowed;              /* fraction of trials with an arrival */
    uint64_t stash_most;            /* keys in the stash at one time */
} churn_result;

/* Run it.  With 'watch' the stash is checked every 512 rounds, as cheaply as the interface allows.
 * 'arrivals' counts how often it has grown, which misses the keys that come and go in between, one
 * percent or so.  TAMIS_E_NOT_FOUND if a present key could not be removed or found. */
tamis_status churn_run(const churn *c, bool watch, churn_result *result);

#endif
