/* test_filter_rate.c - measured error rates of Bloom's family against the formulas, large tables
 *
 * One filter is filled with n distinct keys and asked for other keys.  The number of hits out of T
 * queries must lie in the 99.9 % interval around T p, where p is the formula of tamis/model.h.  Two
 * things scatter: the queries (binomial), and the fill of this one table around its mean, by which
 * its own error rate differs from p.  The second is derived below for each kind and given to
 * assert_rate as relative uncertainty of p.
 *
 * The error rate that info tells is computed from the table as it is.  There the fill is known, and the
 * hits must lie in the binomial interval alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "occupancy.h"
#include "support.h"
#include "tamis/model.h"

#include <math.h>

enum { KEYS = 200000, CHUNK = 4096 };

/* Queries by bits per key: the rarer the hits, the more. */
static const struct {
    unsigned bits_per_key;
    uint64_t queries;
} grid[] = {{8, 4000000}, {12, 4000000}, {16, 8000000}, {20, 16000000}};
#define N_GRID (sizeof grid / sizeof grid[0])

/* Keys that are inserted lie at even distances from a random start, those asked for at odd ones. */
static void fill(tamis_filter *f, uint64_t seed) {
    uint64_t keys[CHUNK];
    for (uint64_t done = 0; done < KEYS;) {
        size_t n = 0;
        for (; n < CHUNK && done < KEYS; n++, done++)
            keys[n] = seed + 2 * done;
        assert_ok(tamis_filter_insert_many_u64(f, keys, n, NULL, NULL));
    }
}

static uint64_t measure(const tamis_filter *f, uint64_t seed, uint64_t queries) {
    uint64_t keys[CHUNK], hits = 0;
    for (uint64_t done = 0; done < queries;) {
        size_t n = 0;
        for (; n < CHUNK && done < queries; n++, done++)
            keys[n] = seed + 2 * done + 1;
        hits += tamis_filter_contains_many_u64(f, keys, n, NULL);
    }
    return hits;
}

/* Fill, measure and compare; p and 'scatter' from theory. */
static void check(const char *name, unsigned bits_per_key, const tamis_params *params,
                  uint64_t queries, double p, double scatter) {
    tamis_filter *f;
    char what[80];
    uint64_t random = params->seed;
    const uint64_t keys = test_random(&random);
    assert_ok(tamis_filter_create(params, NULL, &f));
    fill(f, keys);
    const uint64_t hits = measure(f, keys, queries);
    const tamis_info info = test_info(f);
    printf(
        "# %s, %u per key, %llu hashes: formula %.4e, measured %.4e, info %.4e, scatter %.2f %%\n",
        name, bits_per_key, (unsigned long long)params->value[1], p, (double)hits / (double)queries,
        info.fpr, 100 * scatter);
    snprintf(what, sizeof what, "%s at %u against the formula", name, bits_per_key);
    assert_rate(what, hits, queries, p, scatter);
    snprintf(what, sizeof what, "%s at %u against info", name, bits_per_key);
    assert_rate(what, hits, queries, info.fpr, 0);
    /* info and formula differ by the scatter alone. */
    assert_true(fabs(info.fpr / p - 1) < 3.2905 * scatter);
    tamis_filter_free(f);
}

static tamis_params params_of(tamis_kind kind, uint64_t cells, unsigned hashes, unsigned bits) {
    /* measurements of their own */
    tamis_params params = test_bare_params(kind, KEYS, test_seed() + 100 * (uint64_t)kind + bits);
    params.value[0] = cells;
    params.value[1] = hashes;
    return params;
}

static unsigned best_hashes(unsigned bits_per_key) {
    return (unsigned)(bits_per_key * 0.69314718 + 0.5);
}

static void check_grid(tamis_kind kind) {
    for (unsigned i = 0; i < N_GRID; i++) {
        const unsigned cells = grid[i].bits_per_key, k = best_hashes(cells);
        const double m = (double)cells * KEYS;
        const tamis_params params = params_of(kind, (uint64_t)m, k, cells);
        double p;
        assert_ok(tamis_model_bloom(m, KEYS, k, &p));
        check(tamis_kind_name(kind), cells, &params, grid[i].queries, p,
              occupancy_scatter(m, (double)KEYS * k, k));
    }
}

static void test_rate_bloom_matches_formula(void **state) {
    (void)state;
    check_grid(TAMIS_KIND_BLOOM);
}

static void test_rate_counting_bloom_matches_formula(void **state) {
    (void)state;
    check_grid(TAMIS_KIND_COUNTING_BLOOM);
}

/* The rate is a product of k independent fills, each of a part of m/k bits with one throw per key: the
 * relative variances of the factors add up. */
static void test_rate_partitioned_bloom_matches_formula(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_GRID; i++) {
        const unsigned bits = grid[i].bits_per_key, k = best_hashes(bits);
        const double part = floor((double)bits * KEYS / k);
        tamis_params params = params_of(TAMIS_KIND_BLOOM, (uint64_t)bits * KEYS, k, bits);
        params.value[TAMIS_BLOOM_PARTITIONED] = 1;
        double p;
        assert_ok(tamis_model_bloom_partitioned(part * k, KEYS, k, &p));
        check("partitioned bloom", bits, &params, grid[i].queries, p,
              sqrt((double)k) * occupancy_scatter(part, KEYS, 1));
    }
}

/* Mean and scatter of the rate of a blocked filter with n keys in B blocks of 512 bits.
 *
 * A block with x keys has rate f, the load x is Poisson with mean L = n/B.  The mean over B blocks of
 * independent loads has variance Var(f) / B.  But the loads add up to n exactly, and what f gains by
 * following x is thereby taken away: the variance is (Var(f) - Cov(f, x)^2 / L) / B. */
static void blocked_theory(double n, double blocks, unsigned k, double *mean, double *scatter) {
    const double load = n / blocks;
    const unsigned most = (unsigned)(load + 15 * sqrt(load) + 30);
    occupancy o;
    occupancy_init(&o, 512);
    double weight = exp(-load), f1 = 0, f2 = 0, fx = 0;
    for (unsigned x = 1; x <= most; x++) {
        weight *= load / x;
        occupancy_throw(&o, k);
        const double rate = occupancy_moment(&o, k);
        f1 += weight * rate;
        f2 += weight * occupancy_moment(&o, 2 * k);
        fx += weight * rate * x;
    }
    occupancy_free(&o);
    const double covariance = fx - f1 * load;
    *mean = f1;
    *scatter = sqrt((f2 - f1 * f1 - covariance * covariance / load) / blocks) / f1;
}

static void test_rate_blocked_bloom_matches_formula(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_GRID; i++) {
        const unsigned bits = grid[i].bits_per_key;
        /* Blocks want fewer hashes than the classical optimum; both are tried. */
        const unsigned hashes[] = {best_hashes(bits), best_hashes(bits) * 3 / 4};
        for (unsigned j = 0; j < 2; j++) {
            const unsigned k = hashes[j];
            const uint64_t blocks = (uint64_t)KEYS * bits / 512;
            const tamis_params params = params_of(TAMIS_KIND_BLOCKED_BLOOM, blocks, k, bits);
            double p, mean, scatter;
            assert_ok(tamis_model_blocked(512, (double)KEYS / (double)blocks, k, &p));
            blocked_theory(KEYS, (double)blocks, k, &mean, &scatter);
            assert_true(fabs(p / mean - 1) < 1e-9); /* the model against the chain */
            check("blocked-bloom", bits, &params, grid[i].queries, p, scatter);
        }
    }
}

/* The same with lanes.  Of a block with x keys the rate is the product of the fills of its lanes, which are
 * independent: its second moment is a power too, that of E[fill^2]. */
static void lanes_theory(double n, double blocks, double *mean, double *scatter) {
    const double load = n / blocks;
    const unsigned most = (unsigned)(load + 15 * sqrt(load) + 30);
    occupancy o;
    occupancy_init(&o, 64);
    double weight = exp(-load), f1 = 0, f2 = 0, fx = 0;
    for (unsigned x = 1; x <= most; x++) {
        weight *= load / x;
        occupancy_throw(&o, 1);
        const double rate = pow(occupancy_moment(&o, 1), 8);
        f1 += weight * rate;
        f2 += weight * pow(occupancy_moment(&o, 2), 8);
        fx += weight * rate * x;
    }
    occupancy_free(&o);
    const double covariance = fx - f1 * load;
    *mean = f1;
    *scatter = sqrt((f2 - f1 * f1 - covariance * covariance / load) / blocks) / f1;
}

static void test_rate_blocked_bloom_in_lanes_matches_formula(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_GRID; i++) {
        const unsigned bits = grid[i].bits_per_key;
        const uint64_t blocks = (uint64_t)KEYS * bits / 512;
        tamis_params params = params_of(TAMIS_KIND_BLOCKED_BLOOM, blocks, 8, bits);
        params.value[TAMIS_BLOCKED_BLOOM_LANES] = 8;
        double p, mean, scatter;
        assert_ok(tamis_model_blocked_lanes(8, 64, (double)KEYS / (double)blocks, &p));
        lanes_theory(KEYS, (double)blocks, &mean, &scatter);
        assert_true(fabs(p / mean - 1) < 1e-9);
        check("blocked-bloom in lanes", bits, &params, grid[i].queries, p, scatter);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_bloom_matches_formula),
        cmocka_unit_test(test_rate_partitioned_bloom_matches_formula),
        cmocka_unit_test(test_rate_counting_bloom_matches_formula),
        cmocka_unit_test(test_rate_blocked_bloom_matches_formula),
        cmocka_unit_test(test_rate_blocked_bloom_in_lanes_matches_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
