/* plan_run.c - how long a plan takes, with a search and without
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/tasks.h"

#include <tamis/plan.h>

#include <math.h>
#include <stdlib.h>

enum { PLANS = 200, SEARCHES = 1, ROUNDS_MAX = 101 };

/* Microseconds per plan; NaN if there is none. */
static double one_round(const tamis_need *need, unsigned plans, uint64_t *bytes) {
    const double from = bench_seconds();
    for (unsigned i = 0; i < plans; i++) {
        tamis_plan plan;
        tamis_plan_init(&plan);
        if (tamis_plan_make(need, &plan) != TAMIS_OK)
            return NAN;
        *bytes = plan.bytes;
    }
    return 1e6 * (bench_seconds() - from) / plans;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const tamis_need *need, unsigned plans, unsigned rounds, uint64_t *bytes) {
    double times[ROUNDS_MAX];
    rounds = rounds < 1 ? 1 : rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    for (unsigned i = 0; i < rounds; i++)
        times[i] = one_round(need, plans, bytes);
    qsort(times, rounds, sizeof *times, by_size);
    return times[rounds / 2];
}

const char *bench_plan_run(unsigned rounds, bench_plan_row rows[BENCH_PLAN_ROWS], size_t *n_rows) {
    static const uint64_t n[] = {1, 100, 10000, 1000000, 100000000, 10000000000};
    static const double rates[] = {0.01, 1e-6};
    *n_rows = 0;
    for (size_t i = 0; i < BENCH_PLAN_ROWS; i++) {
        tamis_need need;
        tamis_need_init(&need);
        need.n = n[i / 4];
        need.fpr = rates[i / 2 % 2];
        need.deletes = i % 2 == 1;
        bench_plan_row row = {.n = need.n, .fpr = need.fpr, .deletes = need.deletes};
        row.quick_us = median_of(&need, PLANS, rounds, &row.quick_bytes);
        need.search = true;
        row.search_us = median_of(&need, SEARCHES, rounds < 3 ? rounds : 3, &row.search_bytes);
        if (isnan(row.quick_us) || isnan(row.search_us))
            return "no plan can be made";
        rows[(*n_rows)++] = row;
    }
    return NULL;
}
