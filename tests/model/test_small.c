/* test_small.c - small sets: measured error rates against the prediction
 *
 * Many sets of the same size are built from random digests and asked for others.  A set errs with probability
 * (distinct numbers) / cells.  The interval, 99.9 % and two-sided for each row, comes from the queries
 * (binomial) and from the scatter of the distinct numbers among n draws, whose variance is exact; from 500
 * keys on it is below 0.1 %.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "tamis/small.h"

#include <math.h>

enum { ASKS = 1500000, KEYS_MAX = 5000, ROOM = 30000 };

/* Relative standard deviation of the distinct numbers among n draws from m, where that is more than 1. */
static double scatter(double n, double fpr) {
    const double m = 1 / -expm1(log1p(-fpr) / n), mean = m * fpr;
    const double one = pow(1 - 1 / m, n), two = pow(fmax(0, 1 - 2 / m), n);
    return sqrt(fmax(0, m * (m - 1) * two + m * one - m * m * one * one)) / mean;
}

static void test_small_rates(void **state) {
    (void)state;
    const size_t counts[] = {1, 2, 5, 10, 36, 80, 500, KEYS_MAX};
    const double bits[] = {4, 6.5, 10, 12};
    static tamis_digest digests[KEYS_MAX];
    static unsigned char bytes[ROOM];
    uint64_t random = test_seed();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
            const size_t n = counts[i], size = tamis_small_size(n, bits[k]);
            const uint64_t sets = n < 500 ? 1500 : 15, asks = ASKS / sets;
            uint64_t hits = 0;
            double told = 0;
            for (uint64_t set = 0; set < sets; set++) {
                double fpr;
                for (size_t key = 0; key < n; key++) {
                    digests[key].lo = test_random(&random);
                    digests[key].hi = test_random(&random);
                }
                assert_ok(tamis_small_build(digests, n, bytes, size));
                assert_ok(tamis_small_check(bytes, size, NULL, &fpr));
                told += fpr / (double)sets;
                for (uint64_t ask = 0; ask < asks; ask++) {
                    const tamis_digest absent = {.lo = 0, .hi = test_random(&random)};
                    hits += tamis_small_contains(bytes, size, absent);
                }
            }
            char what[80];
            snprintf(what, sizeof what, "%zu keys in %zu bytes", n, size);
            const double fpr = tamis_small_fpr(n, size),
                         of_mean = n < 500 ? scatter((double)n, fpr) / sqrt((double)sets) : 0.001;
            assert_rate(what, hits, sets * asks, fpr, of_mean);
            assert_true(fabs(told / fpr - 1) < 4 * of_mean + 1e-6);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
