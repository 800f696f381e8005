/* simulate.h - what the simulations on real structures share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_SIMULATE_H
#define TAMIS_EXPERIMENTS_SIMULATE_H

#include "experiments.h"

/* -------------------------------------------------------------------------------------------------
 * Means
 */

typedef struct series {
    double n, sum, squares;
} series;

void series_add(series *s, double value);

/* Mean and standard error of the values, one per trial.  'all' is the number of things examined, if the
 * values are parts of things that happen or do not, or counts of them for each of n things.  However
 * alike the trials are, the error is at least that of counting what has happened, or of one thing if
 * nothing happened or everything did. 0: the values are not such parts. */
measured series_result(const series *s, double all);

/* A value without chance. */
measured exactly(double value, double expected);

/* -------------------------------------------------------------------------------------------------
 * Simulations that several figures come from
 */

enum { RUN_VALUES = 40 };

/* The values kept under this name, RUN_VALUES of them; NULL if there are none yet. */
const measured *run_recall(const run *r, const char *name);

/* Keep values under a name; those that are not given are NaN.  TAMIS_E_NOMEM. */
tamis_status run_keep(run *r, const char *name, const measured *values, unsigned n);

void run_end(run *r);

/* -------------------------------------------------------------------------------------------------
 * Filters
 */

/* One experiment, repeated with seeds 1, 2, ...: a filter is made and filled with 'keys' fresh keys. */
typedef struct experiment {
    tamis_params params; /* the seed is set for each trial */
    uint64_t keys;
    const tamis_build_options *offline; /* built from all keys at once; NULL: inserted one by one */
    unsigned trials;
} experiment;

/* What is measured on a filter: 'n' values, at most RUN_VALUES. */
typedef void look(const tamis_info *info, double rate, double *values);

/* Look at each filter, after 'queries' queries for absent keys, of which the part 'rate' was answered
 * "present".  'all' is the number of things for series_result, for each trial and value. */
tamis_status simulate_looks(const experiment *e, uint64_t queries, look *look_at, const double *all,
                            unsigned n, measured *values);

/* The error rate over all trials, 'queries' absent keys each. */
tamis_status simulate_rate(const experiment *e, uint64_t queries, measured *value);

/* The fractions of all buckets, 'buckets' of them in a filter, that hold 0, 1, ..., n - 1 keys. */
tamis_status simulate_loads(const experiment *e, uint64_t buckets, unsigned n, measured *values);

#endif
