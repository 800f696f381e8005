/* test_model_dleft_rate.c - error and overflow of d-left filters, also of the dynamic counting one
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

enum { LOADS = 14 };

/* -------------------------------------------------------------------------------------------------
 * Rules and error rates
 */

static double rate_of(tamis_model_rule rule, double mean, unsigned group) {
    double fraction[3 * LOADS];
    unsigned bits[LOADS];
    double fpr;
    const unsigned bucket = rule <= TAMIS_MODEL_RULE_64 ? 60 : 120;
    assert_ok(tamis_model_dleft_inserted(3, mean, LOADS, fraction));
    assert_ok(tamis_model_dleft_rule(rule, LOADS, bits));
    if (group == 0)
        assert_ok(tamis_model_dleft_fpr(3, LOADS, fraction, bits, &fpr));
    else
        assert_ok(tamis_model_dleft_fpr_grouped(3, LOADS, fraction, bits, bucket, group, &fpr));
    return fpr;
}

/* The digits that the paper fingerprints are cut off, not rounded. */
static void test_rate_published_values(void **state) {
    (void)state;
    assert_true(floor(1e7 * rate_of(TAMIS_MODEL_RULE_64_PLAIN, 4, 0)) == 8937);
    assert_true(floor(1e7 * rate_of(TAMIS_MODEL_RULE_64, 4, 0)) == 4477);
    assert_true(floor(1e7 * rate_of(TAMIS_MODEL_RULE_64, 4, 4)) == 3520);
    assert_true(floor(1e8 * rate_of(TAMIS_MODEL_RULE_128_FIT, 6.4, 0)) == 2245);
    assert_close(rate_of(TAMIS_MODEL_RULE_128_ONE, 6.4, 0), 0.00004259, 5e-4);
    assert_close(rate_of(TAMIS_MODEL_RULE_128, 6.4, 0), 0.00002245, 1e-3);
    assert_close(rate_of(TAMIS_MODEL_RULE_128, 6.4, 4), 0.00002042, 1e-3);
}

static void test_rate_group_of_one_is_single(void **state) {
    (void)state;
    for (int rule = TAMIS_MODEL_RULE_64_PLAIN; rule <= TAMIS_MODEL_RULE_128_FIT; rule++)
        assert_close(rate_of((tamis_model_rule)rule, 4, 1), rate_of((tamis_model_rule)rule, 4, 0),
                     1e-12);
}

/* Each rule must fit the bits of state that it claims: one state per load, or as many as there are
 * ways to count the fingerprints by their first bit, or by their first two. */
static unsigned states(tamis_model_rule rule, unsigned bits, unsigned capacity) {
    unsigned fp_bits[LOADS];
    unsigned sum = 1; /* the empty bucket */
    assert_ok(tamis_model_dleft_rule(rule, LOADS, fp_bits));
    assert_int_equal((int)fp_bits[0], 0);
    for (unsigned a = 1; a <= capacity; a++) {
        const unsigned gain = fp_bits[a] - bits / a;
        sum += gain == 0 ? 1 : gain == 1 ? a + 1 : (a + 1) * (a + 2) * (a + 3) / 6;
    }
    for (unsigned a = capacity + 1; a < LOADS; a++)
        assert_int_equal((int)fp_bits[a], 0);
    return sum;
}

static void test_rule_states_fit_the_counter(void **state) {
    (void)state;
    assert_int_equal((int)states(TAMIS_MODEL_RULE_64_PLAIN, 60, 6), 7);
    assert_int_equal((int)states(TAMIS_MODEL_RULE_64, 60, 6), 16);
    assert_int_equal((int)states(TAMIS_MODEL_RULE_128_ONE, 120, 11), 78);
    assert_int_equal((int)states(TAMIS_MODEL_RULE_128, 120, 11), 267); /* the paper's, over 256 */
    assert_int_equal((int)states(TAMIS_MODEL_RULE_128_FIT, 120, 11), 252);
}

/* Balls in bins as the paper did it: a query matches each fingerprint in its three buckets with probability
 * 2^-f.  Few queries would match, so that their probabilities are averaged instead. */
static void test_rate_matches_simulation(void **state) {
    enum { SIZE = 100000, KEYS = 12 * SIZE, GROUP = 4 };
    uint64_t seed = test_seed() + 4;
    unsigned bits[LOADS];
    unsigned char *const load = calloc(3 * SIZE, 1);
    (void)state;
    assert_non_null(load);
    assert_ok(tamis_model_dleft_rule(TAMIS_MODEL_RULE_64, LOADS, bits));
    for (int k = 0; k < KEYS; k++) {
        unsigned best = 0;
        for (unsigned i = 0; i < 3; i++) {
            const unsigned b = i * SIZE + (unsigned)test_random_below(&seed, SIZE);
            if (i == 0 || load[b] < load[best])
                best = b;
        }
        load[best]++;
    }
    double single = 0;
    double grouped = 0;
    for (unsigned b = 0; b < 3 * SIZE; b++) {
        const unsigned a = load[b];
        unsigned sum = 0;
        for (unsigned g = 0; g < GROUP; g++)
            sum += load[b / GROUP * GROUP + g];
        assert_true(a <= 6);
        if (a == 0)
            continue;
        single += a * ldexp(1, -(int)bits[a]);
        grouped += a * ldexp(1, -(int)(240 / sum + bits[a] - 60 / a));
    }
    free(load);
    /* With 300,000 buckets the means are good to about 0.3 %. */
    assert_close(single / SIZE, rate_of(TAMIS_MODEL_RULE_64, 4, 0), 0.01);
    assert_close(grouped / SIZE, rate_of(TAMIS_MODEL_RULE_64, 4, GROUP), 0.01);
}

static void test_rate_load_without_room_is_an_error(void **state) {
    static const double fraction[2 * 3] = {0.5, 0.25, 0.25, 1, 0, 0};
    static const unsigned bits[3] = {0, 3, 0};
    double fpr;
    (void)state;
    assert_ok(tamis_model_dleft_fpr(2, 3, fraction, bits, &fpr));
    assert_close(fpr, 0.25 / 8 + 0.25, 1e-15);
}

/* -------------------------------------------------------------------------------------------------
 * Overflow
 */

static void test_overflow_of_given_loads(void **state) {
    static const double fraction[2 * 4] = {0.5, 0.25, 0.125, 0.125, 0.25, 0.25, 0.25, 0.25};
    double odds;
    (void)state;
    assert_ok(tamis_model_dleft_full(2, 4, fraction, 2, &odds));
    assert_close(odds, 0.25 * 0.5, 1e-15);
    assert_ok(tamis_model_dleft_full(2, 4, fraction, 0, &odds));
    assert_close(odds, 1, 1e-15);
    assert_ok(tamis_model_dleft_overflow(2, 4, fraction, 2, 0.5, &odds));
    assert_close(odds, 0.5 * 0.375, 1e-15);
    assert_ok(tamis_model_dleft_overflow(2, 4, fraction, 2, 1e9, &odds));
    assert_true(odds == 1);
}

/* Section 5.2 of the counting paper: 254 of 10,000 runs of 2^20 rounds met a key whose buckets were all
 * full at load 6.5, and 40 to 100 keys per run did at 6.75.  Keys that share a cell count once. */
static void test_overflow_published_values(void **state) {
    static const double keys[2] = {53248, 55296};
    static const double low[2] = {0.0254 - 3 * 0.0016, 40};
    static const double high[2] = {0.0254 + 3 * 0.0016, 100};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double cells, odds, fraction[4 * LOADS];
        assert_ok(tamis_model_dlcbf_cells(keys[k], 2048 * 16384.0, &cells));
        assert_ok(tamis_model_dleft_steady(4, cells / 8192, LOADS, fraction));
        assert_ok(tamis_model_dleft_full(4, LOADS, fraction, 8, &odds));
        assert_true(odds * 1048576 > low[k] && odds * 1048576 < high[k]);
    }
    double fraction[4 * LOADS], odds;
    assert_ok(tamis_model_dleft_steady(4, 6.5, LOADS, fraction));
    assert_ok(tamis_model_dleft_overflow(4, LOADS, fraction, 8, 0.25, &odds));
    assert_close(odds, 2.205e-8, 3e-4);
}

/* -------------------------------------------------------------------------------------------------
 * The counting filter
 */

static void test_dlcbf_values(void **state) {
    const double range = 2048 * 16384.0;
    double value;
    (void)state;
    assert_ok(tamis_model_dlcbf_bound(49152, range, &value));
    assert_close(value, 24.0 / 16384, 1e-15);
    assert_ok(tamis_model_dlcbf(49152, range, &value));
    assert_close(value, 0.001463, 1e-3);
    assert_ok(tamis_model_dlcbf_cells(49152, range, &value));
    assert_close(value / 8192, 5.996, 1e-4);
    assert_ok(tamis_model_dlcbf_counter(49152, range, 5, &value));
    assert_close(value / range, 5.62e-17, 1e-3); /* the paper's, one power of the range less */
    assert_ok(tamis_model_dlcbf(1, 1e15, &value));
    assert_close(value, 1e-15, 1e-12);
}

static void test_dlcbf_small_cases(void **state) {
    double value;
    (void)state;
    assert_ok(tamis_model_dlcbf(0, 10, &value));
    assert_true(value == 0);
    assert_ok(tamis_model_dlcbf(3, 1, &value));
    assert_true(value == 1);
    assert_ok(tamis_model_dlcbf(2, 10, &value));
    assert_close(value, 0.19, 1e-14);
    assert_ok(tamis_model_dlcbf_bound(11, 10, &value));
    assert_true(value == 1);
    assert_ok(tamis_model_dlcbf_cells(2, 10, &value));
    assert_close(value, 1.9, 1e-14);
    assert_ok(tamis_model_dlcbf_counter(3, 10, 2, &value));
    assert_close(value, 0.3, 1e-14);
    assert_ok(tamis_model_dlcbf_counter(1, 10, 2, &value));
    assert_true(value == 0);
    assert_ok(tamis_model_dlcbf_counter(1e6, 10, 2, &value));
    assert_true(value == 1);
}

/* -------------------------------------------------------------------------------------------------
 * The dynamic counting filter
 */

static void test_ddlcbf_seen_is_a_distribution(void **state) {
    static const unsigned min_bits[] = {8, 11, 14, 60};
    (void)state;
    for (size_t k = 0; k < sizeof min_bits / sizeof min_bits[0]; k++) {
        double seen[20 * 20];
        double sum = 0, mean = 0;
        assert_ok(tamis_model_ddlcbf_seen(4, 6, 10, min_bits[k], 20, seen));
        for (int m = 0; m < 20; m++)
            for (int a = 0; a < 20; a++) {
                assert_true(seen[m * 20 + a] >= 0);
                assert_true(a <= m || seen[m * 20 + a] == 0);
                sum += seen[m * 20 + a];
                mean += a * seen[m * 20 + a];
            }
        assert_close(sum, 1, 1e-6);
        assert_close(mean, 6, 1e-5);
    }
}

/* Without rounds the largest load is the present one; after many, the loads are those of the steady
 * state. */
static void test_ddlcbf_seen_meets_the_fluid_limits(void **state) {
    double seen[LOADS * LOADS], fraction[4 * LOADS];
    (void)state;
    for (int k = 0; k < 2; k++) {
        assert_ok(tamis_model_ddlcbf_seen(4, 6, k == 0 ? 0 : 150, 60, LOADS, seen));
        assert_ok((k == 0 ? tamis_model_dleft_inserted : tamis_model_dleft_steady)(4, 6, LOADS,
                                                                                   fraction));
        for (int a = 0; a < LOADS; a++) {
            double now = 0, expected = 0;
            for (int m = 0; m < LOADS; m++)
                now += seen[m * LOADS + a];
            for (int i = 0; i < 4; i++)
                expected += fraction[i * LOADS + a] / 4;
            if (expected > 1e-6)
                assert_close(now, expected, 1e-4);
            if (k == 0 && expected > 1e-6)
                assert_close(seen[a * LOADS + a], expected, 1e-4);
        }
    }
}

enum { D = 4, SIZE = 2048, RANGE = SIZE * 2048, KEYS = 6 * D * SIZE };

/* One trial: the buckets by the largest load that they have had, and the keys that are in
 * them.  Keys with the same hash are kept in one bucket by counting how many of each hash are where. */
static void ddlcbf_trial(uint64_t *seed, double *counts, double *keys) {
    static unsigned char copies[RANGE];
    static unsigned char subtable[RANGE];
    static unsigned hash[KEYS];
    unsigned char load[D * SIZE] = {0};
    unsigned char largest[D * SIZE] = {0};
    const uint64_t salt = test_random(seed);
    memset(copies, 0, sizeof copies);
    for (uint64_t k = 0; k < KEYS + (1 << 20); k++) {
        const bool filling = k < KEYS;
        unsigned *const slot = &hash[filling ? k : test_random_below(seed, KEYS)];
        unsigned bucket[D];
        for (int removing = filling ? 0 : 1; removing >= 0; removing--) {
            if (!removing)
                *slot = (unsigned)test_random_below(seed, RANGE);
            for (unsigned i = 0; i < D; i++) {
                uint64_t mix = salt + *slot * (uint64_t)D + i;
                bucket[i] = i * SIZE + (unsigned)(test_random(&mix) >> 53);
            }
            if (removing) {
                copies[*slot]--;
                load[bucket[subtable[*slot]]]--;
            }
        }
        if (copies[*slot]++ == 0) {
            subtable[*slot] = 0;
            for (unsigned char i = 1; i < D; i++)
                if (load[bucket[i]] < load[bucket[subtable[*slot]]])
                    subtable[*slot] = i;
        }
        const unsigned b = bucket[subtable[*slot]];
        if (++load[b] > largest[b])
            largest[b] = load[b];
    }
    for (unsigned b = 0; b < D * SIZE; b++) {
        assert_true(largest[b] < LOADS);
        counts[largest[b]]++;
        keys[largest[b]] += load[b];
    }
}

/* The paper's table with minimal remainders of 11 bits: 4 subtables of 2048 buckets, 49152 keys, 2^20
 * rounds, three times. */
static void test_ddlcbf_seen_matches_simulation(void **state) {
    enum { TRIALS = 3 };
    uint64_t seed = test_seed() + 5;
    double expected[LOADS * LOADS];
    double counts[LOADS] = {0};
    double keys[LOADS] = {0};
    (void)state;
    for (int t = 0; t < TRIALS; t++)
        ddlcbf_trial(&seed, counts, keys);
    assert_ok(tamis_model_ddlcbf_seen(D, 6, 128, 11, LOADS, expected));
    for (int m = 0; m < LOADS; m++) {
        double buckets = 0, held = 0;
        for (int a = 0; a < LOADS; a++) {
            buckets += expected[m * LOADS + a];
            held += a * expected[m * LOADS + a];
        }
        const double n = TRIALS * D * SIZE;
        printf("# largest load %d: %.5f of the buckets, model %.5f\n", m, counts[m] / n, buckets);
        /* Five standard deviations, and 2 % for the finite table. */
        assert_true(fabs(counts[m] - n * buckets) <=
                    5 * sqrt(n * buckets + 0.1) + 0.02 * n * buckets);
        assert_true(fabs(keys[m] - n * held) <= 35 * sqrt(n * buckets + 0.1) + 0.02 * n * held);
    }
}

static void test_ddlcbf_rates(void **state) {
    static const double seen[3 * 3] = {0.25, 0, 0, 0.25, 0.25, 0, 0, 0, 0.25};
    static const unsigned bits[3] = {0, 4, 3};
    static const double remainders[5] = {0, 0, 0, 0.5, 0.25};
    double one, any;
    (void)state;
    assert_ok(tamis_model_ddlcbf(2, 3, seen, bits, &one));
    assert_close(one, 2 * (0.25 / 16 + 0.5 / 8), 1e-15);
    assert_ok(tamis_model_ddlcbf_lengths(2, 5, remainders, &any));
    assert_close(any, one, 1e-15);
}

/* -------------------------------------------------------------------------------------------------
 * Edges
 */

static void test_rate_outside_domain_refuses(void **state) {
    static const double bad[] = {-1, INFINITY, NAN};
    static const double good[2 * 3] = {0.5, 0.25, 0.25, 1, 0, 0};
    static const unsigned bits[3] = {0, 9, 8};
    double p = 42;
    unsigned none = 42;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double wrong[2 * 3] = {0.5, 0.25, 0.25, 1, 0, 0};
        wrong[4] = bad[i];
        assert_status(tamis_model_dleft_fpr(2, 3, wrong, bits, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dleft_fpr_grouped(2, 3, wrong, bits, 8, 4, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dleft_full(2, 3, wrong, 1, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dleft_overflow(2, 3, wrong, 1, 9, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dleft_overflow(2, 3, good, 1, bad[i], &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dlcbf(bad[i], 9, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dlcbf(9, bad[i], &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dlcbf_bound(9, bad[i], &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dlcbf_cells(bad[i], 9, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_dlcbf_counter(bad[i], 9, 2, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_ddlcbf_seen(2, bad[i], 1, 20, 3, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_ddlcbf_seen(2, 1, bad[i], 20, 3, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_ddlcbf_lengths(2, 6, wrong, &p), TAMIS_E_DOMAIN);
    }
    assert_status(tamis_model_dleft_fpr(0, 3, good, bits, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_fpr(9, 3, good, bits, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_fpr(3, 2, good, bits, &p), TAMIS_E_DOMAIN); /* no sum is 1 */
    assert_status(tamis_model_dleft_fpr_grouped(2, 3, good, bits, 8, 0, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_fpr_grouped(2, 3, good, bits, 8, 9, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_fpr_grouped(2, 3, good, bits, 10, 2, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_full(2, 3, good, 3, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_overflow(2, 3, good, 2, 9, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_rule((tamis_model_rule)99, 1, &none), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_rule(TAMIS_MODEL_RULE_64, 0, &none), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dlcbf_counter(9, 9, 0, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dlcbf_counter(9, 9, 65, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_ddlcbf_seen(0, 1, 1, 20, 3, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_ddlcbf_seen(2, 0, 1, 20, 3, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_ddlcbf_seen(2, 1, 1e9, 20, 3, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_ddlcbf_seen(2, 1, 1, 0, 3, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_ddlcbf_seen(4, 6, 1, 4, 3, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_ddlcbf_seen(2, 1, 1, 20, 33, &p), TAMIS_E_DOMAIN);
    assert_true(p == 42 && none == 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_published_values),
        cmocka_unit_test(test_rate_group_of_one_is_single),
        cmocka_unit_test(test_rule_states_fit_the_counter),
        cmocka_unit_test(test_rate_matches_simulation),
        cmocka_unit_test(test_rate_load_without_room_is_an_error),
        cmocka_unit_test(test_overflow_of_given_loads),
        cmocka_unit_test(test_overflow_published_values),
        cmocka_unit_test(test_dlcbf_values),
        cmocka_unit_test(test_dlcbf_small_cases),
        cmocka_unit_test(test_ddlcbf_seen_is_a_distribution),
        cmocka_unit_test(test_ddlcbf_seen_meets_the_fluid_limits),
        cmocka_unit_test(test_ddlcbf_seen_matches_simulation),
        cmocka_unit_test(test_ddlcbf_rates),
        cmocka_unit_test(test_rate_outside_domain_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
