/* test_filter_plan.c - filters keep what their plan has promised
 *
 * For every kind, a grid of n keys and error rates p: filters are made from the plan with several seeds,
 * filled with n keys and asked for absent ones.
 *
 * The plan predicts the mean error rate over seeds.  The measured mean of R filters may lie above it by
 * at most 4.5 standard errors (99.9 % for all points), where the standard error has two parts:
 *
 *   - the queries, binomial: sqrt(p / (R T)) for T queries each;
 *   - filters differ: the sample variance of the R rates that info tells, divided by R.
 *
 * With n keys in, no insert may have failed: overflow_probability is that of the whole filter.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

enum { CHUNK = 1000 };

typedef struct grid_point {
    uint64_t n;
    double p;
    unsigned filters;
    uint64_t queries; /* per filter, a multiple of CHUNK */
} grid_point;

/* For each p between 50 and 10000 hits are expected in all. */
static const grid_point grid[] = {
    {10, 0.3, 400, 1000},       {10, 0.01, 400, 2000},     {10, 0.001, 300, 2000},
    {100, 0.1, 200, 2000},      {100, 0.001, 200, 4000},   {1000, 0.3, 100, 2000},
    {1000, 0.01, 100, 4000},    {1000, 1e-4, 60, 40000},   {10000, 0.1, 40, 4000},
    {10000, 0.001, 40, 20000},  {10000, 1e-5, 40, 250000}, {100000, 0.01, 24, 20000},
    {100000, 1e-4, 24, 100000}, {1000000, 0.3, 2, 100000}, {1000000, 0.001, 2, 1000000},
};
#define N_GRID (sizeof grid / sizeof grid[0])

typedef struct outcome {
    uint64_t hits, queries, full;
    double info_sum, info_squares; /* of the rates that info tells */
} outcome;

static void fill_and_ask(const tamis_params *params, const grid_point *g, outcome *o) {
    uint64_t keys[CHUNK];
    tamis_filter *f;
    assert_ok(tamis_filter_create(params, NULL, &f));
    for (uint64_t done = 0; done < g->n;) {
        size_t n = 0, in;
        for (; n < CHUNK && done < g->n; n++, done++)
            keys[n] = done;
        if (tamis_filter_insert_many_u64(f, keys, n, NULL, &in) != TAMIS_OK) {
            o->full++;
            tamis_filter_free(f);
            return;
        }
    }
    for (uint64_t done = 0; done < g->queries; done += CHUNK) {
        for (uint64_t i = 0; i < CHUNK; i++)
            keys[i] = ((uint64_t)1 << 40) + done + i;
        o->hits += tamis_filter_contains_many_u64(f, keys, CHUNK, NULL);
    }
    o->queries += g->queries;
    const tamis_info info = test_info(f);
    o->info_sum += info.fpr;
    o->info_squares += info.fpr * info.fpr;
    tamis_filter_free(f);
}

static void check_point(tamis_kind kind, const grid_point *g) {
    tamis_plan plan;
    const tamis_need need = test_need(kind, g->n, g->p);
    tamis_plan_init(&plan);
    const tamis_status status = tamis_plan_make(&need, &plan);
    if (status == TAMIS_E_UNSUPPORTED)
        return; /* a kind may have a limit; the plan's own tests count them */
    assert_ok(status);
    assert_true(plan.fpr <= g->p);
    outcome o = {0};
    uint64_t random = test_seed() + (uint64_t)kind;
    for (unsigned i = 0; i < g->filters; i++) {
        plan.params.seed = test_random(&random);
        fill_and_ask(&plan.params, g, &o);
    }
    const double filters = g->filters - (double)o.full, trials = (double)o.queries;
    assert_true(filters >= 2);
    const double measured = (double)o.hits / trials, told = o.info_sum / filters;
    const double between =
        fmax(0, o.info_squares / filters - told * told) / (filters - 1); /* of the mean */
    const double error = sqrt(plan.fpr / trials + between);
    printf("# %s, n = %llu, p = %g: planned %.3e at %.2f bits per key, measured %.3e +- %.1e, "
           "info %.3e\n",
           tamis_kind_name(kind), (unsigned long long)g->n, g->p, plan.fpr, plan.bits_per_key,
           measured, error, told);
    /* Over a hundred points are looked at: 4.5 standard errors each make 99.9 % for all of them. */
    if (measured > plan.fpr + 4.5 * error + 0.5 / trials)
        fail_msg("%s for %llu keys: planned %.3e, measured %.3e", tamis_kind_name(kind),
                 (unsigned long long)g->n, plan.fpr, measured);
    /* Filters that overflow are as rare as promised: a Poisson number of them, at 99.9 %. */
    const double expected = g->filters * plan.overflow_probability;
    assert_true((double)o.full <= expected + 3.0902 * sqrt(expected) + 1);
    if (expected < 0.001)
        assert_int_equal(o.full, 0);
}

static void test_plan_every_kind_keeps_its_promise(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)
        for (size_t i = 0; i < N_GRID; i++)
            check_point(kind, &grid[i]);
}

/* The short way: tamis_filter_new. */
static void test_plan_new_filter_keeps_its_promise(void **state) {
    (void)state;
    uint64_t hits = 0, queries = 0;
    for (unsigned round = 0; round < 50; round++) {
        tamis_filter *f;
        assert_ok(tamis_filter_new(2000, 0.02, &f));
        for (uint64_t key = 0; key < 2000; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        for (uint64_t key = 0; key < 2000; key++)
            assert_true(tamis_filter_contains_u64(f, key));
        for (uint64_t key = 1000000; key < 1004000; key++, queries++)
            hits += tamis_filter_contains_u64(f, key);
        tamis_filter_free(f);
    }
    /* The seeds are random here: a limit of six standard deviations, and 10 % for the filters. */
    const double expected = 0.02 * (double)queries;
    assert_true((double)hits < expected + 6 * sqrt(expected) + 0.1 * expected);
    assert_true((double)hits > 0.5 * expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_every_kind_keeps_its_promise),
        cmocka_unit_test(test_plan_new_filter_keeps_its_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
