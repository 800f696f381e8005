/* test_filter_rate_small.c - measured error rates of Bloom's family against exact formulas, small tables
 *
 * With 50 or 200 keys the fill of a table scatters so much that the usual formula is off.  Many filters
 * of different seeds are measured, and their mean is compared with the exact mean over all tables.
 * The variance between filters is exact too (occupancy.h), so that the interval is: queries
 * (binomial) and the scatter of one filter's rate divided by the root of the number of filters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "occupancy.h"
#include "support.h"
#include "tamis/model.h"

#include <math.h>

enum { FILTERS = 1500, QUERIES = 2000, CHUNK = 500 };

static const struct {
    unsigned n, per_key, hashes;
} grid[] = {{50, 8, 6}, {50, 12, 3}, {50, 4, 9}, {200, 8, 6}, {200, 12, 8}, {200, 5, 1}};
#define N_GRID (sizeof grid / sizeof grid[0])

/* Hits of FILTERS filters with n keys each; also what info tells, on average. */
static uint64_t measure(tamis_params *params, unsigned n, double *info_mean) {
    uint64_t hits = 0, keys[CHUNK];
    uint64_t random = params->seed;
    *info_mean = 0;
    for (unsigned filter = 0; filter < FILTERS; filter++) {
        params->seed = test_random(&random);
        tamis_filter *f;
        assert_ok(tamis_filter_create(params, NULL, &f));
        for (uint64_t key = 0; key < n; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        for (uint64_t done = 0; done < QUERIES; done += CHUNK) {
            for (uint64_t i = 0; i < CHUNK; i++)
                keys[i] = 1000000 + done + i;
            hits += tamis_filter_contains_many_u64(f, keys, CHUNK, NULL);
        }
        const tamis_info info = test_info(f);
        *info_mean += info.fpr / FILTERS;
        tamis_filter_free(f);
    }
    return hits;
}

/* 'scatter' is the relative standard deviation of one filter's rate around the mean p. */
static void check(const char *name, tamis_params *params, unsigned n, double p, double scatter) {
    double info;
    char what[100];
    const double of_mean = scatter / sqrt(FILTERS);
    const uint64_t hits = measure(params, n, &info);
    snprintf(what, sizeof what, "%s, %u keys, %llu cells, %llu hashes", name, n,
             (unsigned long long)params->value[0], (unsigned long long)params->value[1]);
    assert_rate(what, hits, (uint64_t)FILTERS * QUERIES, p, of_mean);
    printf("# %s: exact %.5e, info on average %.5e, scatter of one %.1f %%\n", name, p, info,
           100 * scatter);
    assert_true(fabs(info / p - 1) <= 3.2905 * of_mean);
}

static tamis_params params_of(tamis_kind kind, uint64_t cells, unsigned hashes, unsigned n) {
    tamis_params params =
        test_bare_params(kind, n, test_seed() + 1000 * (uint64_t)kind + cells + hashes);
    params.value[0] = cells;
    params.value[1] = hashes;
    return params;
}

/* Mean and relative scatter of (X/m)^k after so many throws. */
static void table_theory(unsigned m, unsigned long throws, unsigned k, double *mean,
                         double *scatter) {
    occupancy o;
    occupancy_init(&o, m);
    occupancy_throw(&o, throws);
    *mean = occupancy_moment(&o, k);
    *scatter = sqrt(occupancy_moment(&o, 2 * k) - *mean * *mean) / *mean;
    occupancy_free(&o);
}

static void check_plain(const char *name, tamis_kind kind) {
    for (unsigned i = 0; i < N_GRID; i++) {
        const unsigned n = grid[i].n, k = grid[i].hashes, m = n * grid[i].per_key + 1;
        double p, mean, scatter;
        table_theory(m, (unsigned long)n * k, k, &mean, &scatter);
        assert_ok(tamis_model_bloom_exact(m, n, k, &p));
        assert_true(fabs(p / mean - 1) < 1e-9); /* the model against the chain */
        tamis_params params = params_of(kind, m, k, n);
        check(name, &params, n, p, scatter);
    }
}

static void test_rate_small_bloom_is_exact(void **state) {
    (void)state;
    check_plain("bloom", TAMIS_KIND_BLOOM);
}

static void test_rate_small_counting_bloom_is_exact(void **state) {
    (void)state;
    check_plain("counting-bloom", TAMIS_KIND_COUNTING_BLOOM);
}

/* The fills of the parts are independent: the mean of their product is the product of their means, which
 * is the formula, and the second moments multiply likewise. */
static void test_rate_small_partitioned_bloom_is_exact(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_GRID; i++) {
        const unsigned n = grid[i].n, k = grid[i].hashes, part = n * grid[i].per_key / k;
        double p, mean, scatter;
        table_theory(part, n, 1, &mean, &scatter);
        assert_ok(tamis_model_bloom_partitioned((double)part * k, n, k, &p));
        assert_true(fabs(p / pow(mean, k) - 1) < 1e-9);
        /* A few bits more than the parts use, which must not matter. */
        tamis_params params = params_of(TAMIS_KIND_BLOOM, (uint64_t)part * k + k / 2, k, n);
        params.value[TAMIS_BLOOM_PARTITIONED] = 1;
        check("partitioned bloom", &params, n, p, sqrt(pow(1 + scatter * scatter, k) - 1));
    }
}

/* With B blocks, the load x of one is Binomial(n, 1/B), and given the loads the blocks are independent.
 * The rate is the mean of the blocks' f.  For B = 1 the load does not scatter; for more, the loads
 * repel each other, and the variance of independent blocks is an upper bound. */
static void test_rate_small_blocked_bloom_is_exact(void **state) {
    (void)state;
    const struct {
        unsigned n, blocks, hashes;
    } rows[] = {{50, 1, 7}, {50, 2, 4}, {200, 2, 3}, {200, 3, 5}, {200, 7, 10}, {200, 5, 16}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const unsigned n = rows[i].n, k = rows[i].hashes;
        const double b = rows[i].blocks;
        double p = 0, squares = 0;
        occupancy o;
        occupancy_init(&o, 512);
        for (unsigned x = 0; x <= n; x++) {
            double weight, exact;
            assert_ok(tamis_model_binomial(n, 1 / b, x, &weight));
            assert_ok(tamis_model_bloom_exact(512, x, k, &exact));
            p += weight * exact;
            squares += weight * occupancy_moment(&o, 2 * k);
            occupancy_throw(&o, k);
        }
        occupancy_free(&o);
        tamis_params params = params_of(TAMIS_KIND_BLOCKED_BLOOM, rows[i].blocks, k, n);
        check("blocked-bloom", &params, n, p, sqrt((squares - p * p) / b) / p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_small_bloom_is_exact),
        cmocka_unit_test(test_rate_small_counting_bloom_is_exact),
        cmocka_unit_test(test_rate_small_partitioned_bloom_is_exact),
        cmocka_unit_test(test_rate_small_blocked_bloom_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
