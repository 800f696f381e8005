/* test_model_bloom.c - Bloom filter models against enumeration, another method and simulation
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "tamis/model.h"

static void assert_close(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%.17g, expected %.17g, relative difference %.1e", value, expected,
                 fabs(value / expected - 1));
}

/* All m^(nk) ways to throw. */
static double enumerate(unsigned m, unsigned n, unsigned k) {
    const unsigned throws = n * k;
    double ways = 1;
    for (unsigned t = 0; t < throws; t++)
        ways *= m;
    double sum = 0;
    for (double way = 0; way < ways; way++) {
        uint64_t digits = (uint64_t)way;
        unsigned set = 0;
        for (unsigned t = 0; t < throws; t++, digits /= m)
            set |= 1u << digits % m;
        unsigned x = 0;
        for (; set != 0; set &= set - 1)
            x++;
        sum += pow((double)x / m, k);
    }
    return sum / ways;
}

static void test_bloom_exact_matches_enumeration(void **state) {
    (void)state;
    for (unsigned m = 1; m <= 6; m++)
        for (unsigned k = 1; k <= 6; k++)
            for (unsigned n = 0; n * k <= 6; n++) {
                double fpr;
                assert_ok(tamis_model_bloom_exact(m, n, k, &fpr));
                assert_close(fpr, enumerate(m, n, k), 1e-12);
            }
}

/* Another method: the whole distribution of the number of bits set, one throw after the other. */
static double by_occupancy(unsigned m, unsigned n, unsigned k) {
    static long double p[4097];
    memset(p, 0, sizeof p);
    p[0] = 1;
    for (unsigned t = 0; t < n * k; t++)
        for (unsigned x = (t < m ? t + 1 : m) + 1; x-- > 0;) {
            p[x] *= (long double)x / m;
            if (x > 0)
                p[x] += p[x - 1] * (m - x + 1) / m;
        }
    long double sum = 0;
    for (unsigned x = 0; x <= m; x++)
        sum += p[x] * powl((long double)x / m, k);
    return (double)sum;
}

static void test_bloom_exact_matches_occupancy(void **state) {
    static const unsigned cases[][3] = {{512, 48, 8},  {512, 1, 16},   {512, 10, 64}, {64, 500, 3},
                                        {256, 16, 11}, {4096, 100, 7}, {4096, 2, 64}, {1, 5, 3},
                                        {2, 1, 64},    {30, 2, 64}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double fpr;
        assert_ok(tamis_model_bloom_exact(cases[i][0], cases[i][1], cases[i][2], &fpr));
        assert_close(fpr, by_occupancy(cases[i][0], cases[i][1], cases[i][2]), 1e-12);
    }
}

static void test_blocked_is_mean_of_exact(void **state) {
    static const struct {
        unsigned bits;
        double load;
        unsigned k;
    } cases[] = {{512, 48, 8}, {512, 0.01, 5}, {256, 21.33, 8},
                 {64, 4, 3},   {512, 200, 2},  {1, 2, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double sum = 0;
        for (uint64_t n = 0; n < 500; n++) {
            double p, exact;
            assert_ok(tamis_model_poisson(cases[i].load, n, &p));
            assert_ok(tamis_model_bloom_exact(cases[i].bits, n, cases[i].k, &exact));
            sum += p * exact;
        }
        double fpr;
        assert_ok(tamis_model_blocked(cases[i].bits, cases[i].load, cases[i].k, &fpr));
        assert_close(fpr, sum, 1e-12);
    }
}

/* The mean over x of the mean fill of a lane after x throws, found by all ways to fill it, to the power of
 * the lanes. */
static void test_blocked_lanes_is_mean_of_exact(void **state) {
    static const struct {
        unsigned lanes, bits;
        double load;
    } cases[] = {{8, 64, 48}, {8, 64, 0.01}, {8, 32, 24}, {1, 512, 100}, {3, 1, 2}, {16, 32, 11}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double sum = 0;
        for (uint64_t n = 0; n < 500; n++) {
            double p, fill;
            assert_ok(tamis_model_poisson(cases[i].load, n, &p));
            assert_ok(tamis_model_bloom_exact(cases[i].bits, n, 1, &fill));
            sum += p * pow(fill, cases[i].lanes);
        }
        double fpr;
        assert_ok(tamis_model_blocked_lanes(cases[i].lanes, cases[i].bits, cases[i].load, &fpr));
        assert_close(fpr, sum, 1e-12);
    }
}

/* 2 million keys in blocks of 512 bits, 12 bits per key; the mean of (X/m)^k over the blocks within
 * four of its standard errors. */
static void test_blocked_matches_simulation(void **state) {
    enum { BLOCKS = 46875, KEYS = 2000000, HASHES = 8 };
    uint64_t seed = test_seed();
    unsigned char(*table)[64] = calloc(BLOCKS, sizeof *table);
    (void)state;
    assert_non_null(table);
    for (int i = 0; i < KEYS; i++) {
        unsigned char *const block = table[test_random_below(&seed, BLOCKS)];
        for (int h = 0; h < HASHES; h++) {
            const unsigned bit = (unsigned)(test_random(&seed) % 512);
            block[bit / 8] = (unsigned char)(block[bit / 8] | 1u << bit % 8);
        }
    }
    double sum = 0;
    double squares = 0;
    for (int b = 0; b < BLOCKS; b++) {
        unsigned x = 0;
        for (int bit = 0; bit < 512; bit++)
            x += (unsigned)(table[b][bit / 8] >> bit % 8) & 1u;
        const double rate = pow(x / 512.0, HASHES);
        sum += rate;
        squares += rate * rate;
    }
    free(table);
    const double mean = sum / BLOCKS;
    const double error = sqrt((squares / BLOCKS - mean * mean) / BLOCKS);
    double fpr, flat;
    assert_ok(tamis_model_blocked(512, (double)KEYS / BLOCKS, HASHES, &fpr));
    assert_ok(tamis_model_bloom(512.0 * BLOCKS, KEYS, HASHES, &flat));
    printf("# blocked: simulated %.6g +- %.2g, model %.6g, not blocked %.6g\n", mean, error, fpr,
           flat);
    assert_true(fabs(mean - fpr) <= 4 * error);
    assert_true(fabs(mean - flat) > 20 * error); /* what the exact model is for */
}

static void test_bloom_published_values(void **state) {
    double fpr;
    (void)state;
    assert_ok(tamis_model_bloom(16e9, 1e9, 11, &fpr));
    assert_close(fpr, 0.0004587, 1e-4);
    assert_ok(tamis_model_bloom(20e9, 1e9, 14, &fpr));
    assert_close(fpr, 0.00006713, 2e-4);
    assert_ok(tamis_model_bloom(9e9, 1e9, 6, &fpr));
    assert_close(fpr, 0.01327, 4e-4);
    assert_ok(tamis_model_bloom(663552, 49152, 9, &fpr));
    assert_close(fpr, 0.001529, 1e-4);
    assert_ok(tamis_model_bloom(10e9, 1e9, 7, &fpr));
    assert_close(fpr, 0.0082, 1e-2);
}

static void test_bloom_forms_agree(void **state) {
    double whole, parts, exact;
    (void)state;
    /* Large tables: all three come together. */
    assert_ok(tamis_model_bloom(1e9, 1e8, 7, &whole));
    assert_ok(tamis_model_bloom_partitioned(1e9, 1e8, 7, &parts));
    assert_close(parts, whole, 1e-6);
    /* Small ones: parts collide less within a key but fill faster. */
    assert_ok(tamis_model_bloom(700, 70, 7, &whole));
    assert_ok(tamis_model_bloom_partitioned(700, 70, 7, &parts));
    assert_true(parts > whole);
    assert_ok(tamis_model_bloom_exact(700, 70, 7, &exact));
    assert_true(exact > whole && exact < 1.05 * whole);
    /* One key, one bit. */
    assert_ok(tamis_model_bloom(1e15, 1, 1, &whole));
    assert_close(whole, 1e-15, 1e-12);
}

/* Tables of 1000 counters: how often does one of them reach the limit? */
static void test_counter_overflow_matches_simulation(void **state) {
    enum { COUNTERS = 1000, THROWS = 693, LIMIT = 6, TRIALS = 20000 };
    uint64_t seed = test_seed() + 1;
    uint64_t reached = 0;
    (void)state;
    for (int t = 0; t < TRIALS; t++) {
        unsigned char counter[COUNTERS] = {0};
        bool over = false;
        for (int i = 0; i < THROWS; i++)
            over = ++counter[test_random_below(&seed, COUNTERS)] >= LIMIT || over;
        reached += over;
    }
    double odds;
    assert_ok(tamis_model_counter_overflow(COUNTERS, THROWS / 7.0, 7, LIMIT, &odds));
    /* A union bound of odds p counts p^2/2 twice. */
    assert_rate("counter overflow", reached, TRIALS, odds, odds / 2);
}

static void test_counter_overflow_edges(void **state) {
    double odds;
    (void)state;
    assert_ok(tamis_model_counter_overflow(100, 0, 3, 1, &odds));
    assert_true(odds == 0);
    assert_ok(tamis_model_counter_overflow(100, 10, 3, 1, &odds));
    assert_true(odds == 1);
    assert_ok(tamis_model_counter_overflow(1, 5, 3, 15, &odds));
    assert_true(odds == 1);
    assert_ok(tamis_model_counter_overflow(1, 5, 3, 16, &odds));
    assert_true(odds == 0);
    assert_ok(tamis_model_counter_overflow(1.44e13, 1e12, 10, 16, &odds));
    assert_true(odds > 0 && odds < 1);
}

static void test_bloom_empty_is_zero(void **state) {
    double fpr;
    (void)state;
    assert_ok(tamis_model_bloom(1, 0, 3, &fpr));
    assert_true(fpr == 0);
    assert_ok(tamis_model_bloom(1, 1, 3, &fpr));
    assert_true(fpr == 1);
    assert_ok(tamis_model_bloom_partitioned(64, 0, 8, &fpr));
    assert_true(fpr == 0);
    assert_ok(tamis_model_bloom_exact(8, (uint64_t)1 << 19, 2, &fpr)); /* 2^20 throws, the most */
    assert_close(fpr, 1, 1e-9);
    assert_ok(tamis_model_bloom_exact(4096, 0, 64, &fpr));
    assert_true(fpr == 0);
    assert_ok(tamis_model_blocked(512, 0, 8, &fpr));
    assert_true(fpr == 0);
    assert_ok(tamis_model_blocked_lanes(8, 64, 0, &fpr));
    assert_true(fpr == 0);
    assert_ok(tamis_model_blocked_lanes(64, 4096, 4096, &fpr));
    assert_true(fpr > 0 && fpr < 1);
    assert_ok(tamis_model_blocked(4096, 4096, 64, &fpr));
    assert_close(fpr, 1, 1e-9);
    assert_ok(tamis_model_blocked(4096, 1e-3, 64, &fpr));
    assert_true(fpr > 0 && fpr < 1e-50);
}

static void test_bloom_outside_domain_refuses(void **state) {
    static const double bad[] = {-1, INFINITY, -INFINITY, NAN};
    double fpr = 42;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(tamis_model_bloom(bad[i], 1, 1, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_bloom(10, bad[i], 1, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_bloom_partitioned(bad[i], 1, 1, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_bloom_partitioned(10, bad[i], 1, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_blocked(512, bad[i], 8, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_blocked_lanes(8, 64, bad[i], &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_counter_overflow(bad[i], 1, 1, 16, &fpr), TAMIS_E_DOMAIN);
        assert_status(tamis_model_counter_overflow(10, bad[i], 1, 16, &fpr), TAMIS_E_DOMAIN);
    }
    assert_status(tamis_model_bloom(0.5, 1, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom(10, 1, 0, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_partitioned(7, 1, 7, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_partitioned(7, 1, 0, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(0, 1, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(4097, 1, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(8, 1, 0, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(8, ((uint64_t)1 << 19) + 1, 2, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(8, 1, 65, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(8, ((uint64_t)1 << 20) + 1, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_bloom_exact(8, UINT64_MAX, 64, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked(0, 1, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked(4097, 1, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked(512, 1, 0, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked(512, 4097, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked_lanes(0, 64, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked_lanes(65, 64, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked_lanes(8, 0, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked_lanes(8, 4097, 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_blocked_lanes(8, 64, 4097, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_counter_overflow(10, 1, 0, 16, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_counter_overflow(10, 1, 1, 0, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_counter_overflow(10, 1, 1, (1u << 20) + 1, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_counter_overflow(10, 1e16, 1, 16, &fpr), TAMIS_E_DOMAIN);
    assert_true(fpr == 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bloom_exact_matches_enumeration),
        cmocka_unit_test(test_bloom_exact_matches_occupancy),
        cmocka_unit_test(test_blocked_is_mean_of_exact),
        cmocka_unit_test(test_blocked_lanes_is_mean_of_exact),
        cmocka_unit_test(test_blocked_matches_simulation),
        cmocka_unit_test(test_bloom_published_values),
        cmocka_unit_test(test_bloom_forms_agree),
        cmocka_unit_test(test_counter_overflow_matches_simulation),
        cmocka_unit_test(test_counter_overflow_edges),
        cmocka_unit_test(test_bloom_empty_is_zero),
        cmocka_unit_test(test_bloom_outside_domain_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
