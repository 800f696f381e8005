/* test_model_tail.c - Poisson and binomial distributions against exact and independent arithmetic
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

/* Values by sums of 60 digits (mpmath). */
static void test_tail_poisson_reference_values_match(void **state) {
    static const struct {
        double mean;
        uint64_t x;
        double p;
    } tails[] = {{0.5, 3, 0.00175162255629082365},       {0.5, 120, 2.83026798704824142e-238},
                 {56, 64, 0.129114700034841056},         {56, 74, 0.00881788714304796483},
                 {56, 128, 5.51935531900687296e-17},     {56, 300, 1.02031298933141707e-115},
                 {1000, 1500, 2.09722455284247597e-49},  {1000, 2200, 4.71323853927314536e-235},
                 {1e6, 1005000, 2.91889246700302688e-7}, {1e6, 1000000, 0.499734038513716347}},
      heads[] = {{1000, 300, 2.3678395836782972e-149},
                 {1e6, 990000, 6.47775701528988624e-24},
                 {40, 2, 3.57286592870022635e-15},
                 {5000, 3000, 1.64906447746681027e-205}};
    double p;
    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        assert_ok(tamis_model_poisson_tail(tails[i].mean, tails[i].x, &p));
        assert_close(p, tails[i].p, 1e-12);
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        assert_ok(tamis_model_poisson_head(heads[i].mean, heads[i].x, &p));
        assert_close(p, heads[i].p, 1e-12);
    }
}

static void test_tail_binomial_reference_values_match(void **state) {
    static const struct {
        uint64_t n;
        double q;
        uint64_t x;
        double p;
    } tails[] = {{1000000, 5.6e-05, 128, 5.50472124938885632e-17},
                 {1000000, 0.5, 510000, 2.66320361991985679e-89},
                 {4096, 0.25, 2000, 2.31054031580918493e-236},
                 {100, 0.01, 90, 1.7394401749893084e-170},
                 {(uint64_t)1 << 50, 1e-12, 1500, 1.1726962774294735e-26},
                 {(uint64_t)1 << 53, 1e-14, 400, 2.36184876821035144e-127},
                 {50, 0.75, 49, 5.66321656426937625e-7}},
      heads[] = {{1000000, 0.5, 485000, 4.72620312628579193e-198},
                 {4096, 0.25, 500, 1.65018534983800115e-92},
                 {(uint64_t)1 << 50, 1e-12, 700, 1.30043868063226791e-42}};
    double p;
    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        assert_ok(tamis_model_binomial_tail(tails[i].n, tails[i].q, tails[i].x, &p));
        assert_close(p, tails[i].p, 1e-12);
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        assert_ok(tamis_model_binomial_head(heads[i].n, heads[i].q, heads[i].x, &p));
        assert_close(p, heads[i].p, 1e-12);
    }
}

/* With q = a/4 and n <= 30 every probability is a whole number over 4^30 or less: exact in 64 bits. */
static void test_tail_binomial_small_matches_integers(void **state) {
    (void)state;
    for (unsigned n = 0; n <= 30; n++)
        for (unsigned a = 0; a <= 4; a++) {
            uint64_t ways[32] = {1}; /* C(n, x) a^x (4-a)^(n-x), one trial after the other */
            for (unsigned t = 0; t < n; t++)
                for (unsigned x = t + 2; x-- > 0;)
                    ways[x] = ways[x] * (4 - a) + (x > 0 ? ways[x - 1] * a : 0);
            uint64_t above = 0;
            for (unsigned x = n + 1; x-- > 0;) {
                const double all = ldexp(1, (int)(2 * n));
                double p, tail, head;
                assert_ok(tamis_model_binomial(n, a / 4.0, x, &p));
                assert_ok(tamis_model_binomial_tail(n, a / 4.0, x, &tail));
                assert_close(p, (double)ways[x] / all, 1e-13);
                assert_close(tail, (double)above / all, 1e-13);
                above += ways[x];
                assert_ok(tamis_model_binomial_head(n, a / 4.0, x, &head));
                const uint64_t up_to = ((uint64_t)1 << 2 * n) - (above - ways[x]);
                assert_close(head, (double)up_to / all, 1e-13);
            }
        }
}

/* Terms by recurrence from exp(-mean), in long double, added from the small end. */
static void test_tail_poisson_matches_long_double(void **state) {
    static const double means[] = {1e-9, 0.1, 1, 6, 30, 200};
    static long double term[1200];
    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        term[0] = expl(-(long double)means[i]);
        for (int x = 1; x < 1200; x++)
            term[x] = term[x - 1] * (long double)means[i] / x;
        long double above = 0;
        for (int x = 1198; x >= 0; x--) {
            above += term[x + 1];
            if (above < 1e-300L)
                continue;
            double p, tail;
            assert_ok(tamis_model_poisson(means[i], (uint64_t)x, &p));
            assert_ok(tamis_model_poisson_tail(means[i], (uint64_t)x, &tail));
            assert_close(p, (double)term[x], 1e-12);
            assert_close(tail, (double)above, 1e-12);
        }
    }
}

static void test_tail_sides_add_up_to_one(void **state) {
    (void)state;
    for (uint64_t x = 0; x < 400; x += 7) {
        double tail, head;
        assert_ok(tamis_model_poisson_tail(123.4, x, &tail));
        assert_ok(tamis_model_poisson_head(123.4, x, &head));
        assert_close(tail + head, 1, 1e-15);
        assert_ok(tamis_model_binomial_tail(350, 0.37, x, &tail));
        assert_ok(tamis_model_binomial_head(350, 0.37, x, &head));
        assert_close(tail + head, 1, 1e-15);
    }
}

/* X successes are n - X failures. */
static void test_tail_binomial_is_symmetric(void **state) {
    (void)state;
    for (uint64_t x = 0; x < 1000; x += 37) {
        double tail, head;
        assert_ok(tamis_model_binomial_tail(1000, 0.875, x, &tail));
        assert_ok(tamis_model_binomial_head(1000, 0.125, 1000 - x - 1, &head));
        assert_close(tail, head, 1e-12);
    }
}

/* With n large and nq fixed the binomial distribution becomes Poisson; the difference is about
 * (x - nq)^2 / 2n, relative. */
static void test_tail_binomial_huge_n_is_poisson(void **state) {
    (void)state;
    for (uint64_t x = 0; x < 150; x += 10) {
        double b, p;
        assert_ok(tamis_model_binomial_tail((uint64_t)1 << 53, ldexp(20, -53), x, &b));
        assert_ok(tamis_model_poisson_tail(20, x, &p));
        assert_close(b, p, 1e-11);
    }
}

static void test_tail_edges(void **state) {
    double p;
    (void)state;
    assert_ok(tamis_model_poisson(0, 0, &p));
    assert_true(p == 1);
    assert_ok(tamis_model_poisson(0, 1, &p));
    assert_true(p == 0);
    assert_ok(tamis_model_poisson_tail(0, 0, &p));
    assert_true(p == 0);
    assert_ok(tamis_model_poisson_tail(1e12, 0, &p));
    assert_true(p == 1);
    assert_ok(tamis_model_poisson_tail(5, UINT64_MAX, &p));
    assert_true(p == 0);
    assert_ok(tamis_model_poisson_head(5, UINT64_MAX, &p));
    assert_true(p == 1);
    assert_ok(tamis_model_poisson_tail(1099511627776.0, 1099511627776u, &p));
    assert_close(p, 0.5, 1e-6);
    /* Small on the side of the mean. */
    assert_ok(tamis_model_poisson_tail(1e-20, 0, &p));
    assert_close(p, 1e-20, 1e-15);
    assert_ok(tamis_model_binomial_head(1, 1 - 0x1p-50, 0, &p));
    assert_close(p, 0x1p-50, 1e-15);
    assert_ok(tamis_model_binomial_tail(1, 0x1p-50, 0, &p));
    assert_close(p, 0x1p-50, 1e-15);
    assert_ok(tamis_model_binomial(0, 0.3, 0, &p));
    assert_true(p == 1);
    assert_ok(tamis_model_binomial_tail(10, 0, 0, &p));
    assert_true(p == 0);
    assert_ok(tamis_model_binomial_tail(10, 1, 9, &p));
    assert_true(p == 1);
    assert_ok(tamis_model_binomial_tail(10, 1, 10, &p));
    assert_true(p == 0);
    assert_ok(tamis_model_binomial_head(10, 0.5, 10, &p));
    assert_true(p == 1);
    assert_ok(tamis_model_binomial(10, 0.5, 11, &p));
    assert_true(p == 0);
}

static void test_tail_outside_domain_refuses(void **state) {
    static const double bad_means[] = {-1e-300, -1, 1.2e12, INFINITY, -INFINITY, NAN};
    static const double bad_chances[] = {-0.1, 1.0000001, INFINITY, NAN};
    double p = 42;
    (void)state;
    for (size_t i = 0; i < sizeof bad_means / sizeof bad_means[0]; i++) {
        assert_status(tamis_model_poisson(bad_means[i], 1, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_poisson_tail(bad_means[i], 1, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_poisson_head(bad_means[i], 1, &p), TAMIS_E_DOMAIN);
    }
    for (size_t i = 0; i < sizeof bad_chances / sizeof bad_chances[0]; i++) {
        assert_status(tamis_model_binomial(10, bad_chances[i], 1, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_binomial_tail(10, bad_chances[i], 1, &p), TAMIS_E_DOMAIN);
        assert_status(tamis_model_binomial_head(10, bad_chances[i], 1, &p), TAMIS_E_DOMAIN);
    }
    assert_status(tamis_model_binomial_tail(((uint64_t)1 << 53) + 1, 1e-9, 1, &p), TAMIS_E_DOMAIN);
    assert_status(tamis_model_binomial_tail((uint64_t)1 << 50, 0.5, 1, &p), TAMIS_E_DOMAIN);
    assert_true(p == 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tail_poisson_reference_values_match),
        cmocka_unit_test(test_tail_binomial_reference_values_match),
        cmocka_unit_test(test_tail_binomial_small_matches_integers),
        cmocka_unit_test(test_tail_poisson_matches_long_double),
        cmocka_unit_test(test_tail_sides_add_up_to_one),
        cmocka_unit_test(test_tail_binomial_is_symmetric),
        cmocka_unit_test(test_tail_binomial_huge_n_is_poisson),
        cmocka_unit_test(test_tail_edges),
        cmocka_unit_test(test_tail_outside_domain_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
