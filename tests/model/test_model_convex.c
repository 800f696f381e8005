/* test_model_convex.c - the lower bound on the cost of balanced blocks: mixtures of hashes, convex costs
 *
 * SPDX-License-Identifier: MIT
 */
#include "balance.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "tamis/model.h"

enum { ROOM = 200, CHOICES = 3 };

static tamis_balance_mixture mixture_of(unsigned n_hashes, unsigned n_parts, const double *weights,
                                        const double *shares, const double *aims) {
    return (tamis_balance_mixture){.struct_size = sizeof(tamis_balance_mixture),
                                   .n_hashes = n_hashes,
                                   .n_parts = n_parts,
                                   .weights = weights,
                                   .shares = shares,
                                   .aims = aims};
}

/* The bound of the mixture must be that of Theorem 1. */
static void assert_same_bound(const tamis_balance_mixture *mixture, double a, double r,
                              double gamma) {
    double p[ROOM], q[ROOM];
    unsigned k0, k1;
    assert_ok(tamis_model_balance_bound(a, r, gamma, p, ROOM, &k0));
    assert_ok(tamis_model_balance_mixed(mixture, a, r, gamma, q, ROOM, &k1));
    assert_int_equal(k0, k1);
    for (unsigned i = 0; i < ROOM; i++)
        assert_true(fabs(p[i] - q[i]) < 1e-10);
}

/* Theorem 2, where each hash function has a sub-table of its own: MHT. */
static void test_mixed_mht_is_theorem_1(void **state) {
    (void)state;
    static const double loads[] = {1, 8, 24};
    for (double a = 1.05; a < 1.45; a += 0.05)
        for (unsigned i = 0; i < 3; i++) {
            double gamma, shares[CHOICES], weights[CHOICES], aims[CHOICES * CHOICES] = {0};
            assert_ok(tamis_model_balance_region(TAMIS_BALANCE_MHT, CHOICES, a, loads[i], &gamma,
                                                 shares));
            for (unsigned c = 0; c < CHOICES; c++) {
                weights[c] = pow(gamma, c / 3.0) / a;
                aims[c * CHOICES + c] = 1;
            }
            const tamis_balance_mixture m = mixture_of(CHOICES, CHOICES, weights, shares, aims);
            assert_same_bound(&m, a, loads[i], gamma);
            assert_same_bound(&m, a, loads[i], 0);
            assert_same_bound(&m, a, loads[i], 0.1);
        }
}

/* Theorem 2, where two functions favour opposite halves, and a third takes no side. */
static void test_mixed_opposite_favours_are_theorem_1(void **state) {
    (void)state;
    static const double weights[3] = {0.3, 0.2, 0.5}, shares[2] = {0.4, 0.6};
    static const double aims[6] = {0.6, 0.4, 0.1, 0.9, 0.4, 0.6};
    const tamis_balance_mixture m = mixture_of(3, 2, weights, shares, aims);
    assert_same_bound(&m, 1.3, 8, 0.02);
    assert_same_bound(&m, 1, 5, 0.1);
}

static double mean_square(const double *p) {
    double sum = 0;
    for (unsigned i = 0; i < ROOM; i++)
        sum += p[i] * i * i;
    return sum;
}

/* What some blocks get too often costs more, and the more the further it is from even. */
static void test_mixed_uneven_costs_more(void **state) {
    (void)state;
    static const double one[1] = {1}, halves[2] = {0.5, 0.5};
    double last = 0;
    for (double to = 0.5; to <= 1.0; to += 0.125) {
        const double aims[2] = {to, 1 - to};
        const tamis_balance_mixture m = mixture_of(1, 2, one, halves, aims);
        double p[ROOM], sum = 0, mean = 0;
        unsigned k0;
        assert_ok(tamis_model_balance_mixed(&m, 1.2, 8, 0.01, p, ROOM, &k0));
        for (unsigned i = 0; i < ROOM; i++) {
            assert_true(p[i] >= 0);
            sum += p[i];
            mean += p[i] * i;
        }
        assert_true(fabs(sum - 1) < 1e-10 && fabs(mean - 8 * 0.99) < 1e-9);
        assert_true(mean_square(p) > last + 1e-9);
        last = mean_square(p);
    }
}

/* An uneven table, played: looks are thrown, then taken from the fullest blocks. */
static void test_mixed_uneven_as_simulated(void **state) {
    (void)state;
    enum { BLOCKS = 20000, KEYS = 8 * BLOCKS, LOOKS = KEYS * 6 / 5, KEPT = KEYS * 99 / 100 };
    static const double one[1] = {1}, shares[2] = {0.25, 0.75}, aims[2] = {0.35, 0.65};
    static unsigned load[BLOCKS], count[ROOM];
    const tamis_balance_mixture m = mixture_of(1, 2, one, shares, aims);
    uint64_t random = test_seed();
    double p[ROOM];
    unsigned k0;
    assert_ok(tamis_model_balance_mixed(&m, 1.2, 8, 0.01, p, ROOM, &k0));
    for (unsigned i = 0; i < LOOKS; i++) {
        const bool first = test_random_below(&random, 100) < 35;
        load[first ? test_random_below(&random, BLOCKS / 4)
                   : BLOCKS / 4 + test_random_below(&random, BLOCKS * 3 / 4)]++;
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        count[load[i]]++;
    unsigned left = LOOKS;
    for (unsigned i = ROOM - 1; left > KEPT; i--)
        for (; count[i] > 0 && left > KEPT; left--) {
            count[i]--;
            count[i - 1]++;
        }
    /* What is cut makes up for what all blocks together vary by: min(X, k0) each. */
    double mean = 0, squares = 0;
    for (unsigned i = 0; i <= k0 + 1; i++) {
        const double least = i < k0 ? i : k0;
        mean += p[i] * least;
        squares += p[i] * least * least;
    }
    for (unsigned i = 0; i <= k0 + 1; i++) {
        const double seen = count[i] / (double)BLOCKS;
        const double variance = i < k0 ? p[i] * (1 - p[i]) : squares - mean * mean;
        const double error = sqrt(variance / BLOCKS);
        printf("# load %u: %.5f, computed %.5f +- %.5f\n", i, seen, p[i], error);
        assert_true(fabs(seen - p[i]) <= 4.5 * error); /* 1e-5 for each of twelve */
    }
}

/* -------------------------------------------------------------------------------------------------
 * Costs
 */

static double linear(unsigned i) {
    return i;
}

static double square(unsigned i) {
    return (double)i * i;
}

static double exponential(unsigned i) {
    return exp(0.5 * i);
}

static double hinge(unsigned i) {
    return i > 8 ? i - 8.0 : 0;
}

static double (*const costs[])(unsigned) = {linear, square, exponential, hinge};
enum { N_COSTS = sizeof costs / sizeof costs[0] };

static double cost_bound(unsigned which, double a, double r, double gamma) {
    double cost[ROOM], value;
    for (unsigned i = 0; i < ROOM; i++)
        cost[i] = costs[which](i);
    assert_ok(tamis_model_balance_cost(a, r, gamma, cost, ROOM, &value));
    return value;
}

/* Section III: with the identity it is the number of keys per block, whatever is done. */
static void test_cost_identity_is_the_load(void **state) {
    (void)state;
    assert_true(fabs(cost_bound(0, 1.2, 8, 0.01) - 8 * 0.99) < 1e-9);
    assert_true(fabs(cost_bound(0, 1.05, 30, 0) - 30) < 1e-9);
    assert_true(fabs(cost_bound(0, 2, 0.5, 0.2) - 0.5 * 0.8) < 1e-9);
}

/* More accesses and a larger list cost less, for every cost. */
static void test_cost_falls_with_what_is_given(void **state) {
    (void)state;
    for (unsigned c = 1; c < N_COSTS; c++)
        for (double a = 1.05; a < 1.5; a += 0.05) {
            assert_true(cost_bound(c, a + 0.05, 8, 0.01) <= cost_bound(c, a, 8, 0.01) + 1e-12);
            assert_true(cost_bound(c, a, 8, 0.02) < cost_bound(c, a, 8, 0.01));
        }
}

/* The mean cost of a filter of this shape. */
static double shape_cost(unsigned which, const tamis_balance_shape *shape, double load) {
    const tamis_balance_state found = balance_state(shape, load);
    double sum = 0, p[ROOM];
    for (unsigned c = 0; c < shape->choices; c++) {
        assert_ok(
            tamis_model_balance_loads(found.arrivals[c], shape->threshold, shape->coin, p, ROOM));
        const double share =
            shape->scheme == TAMIS_BALANCE_MHT ? shape->shares[c] : 1.0 / shape->choices;
        for (unsigned i = 0; i < ROOM; i++)
            sum += share * p[i] * costs[which](i);
    }
    return sum;
}

/* Theorems 4 and 5: with the right threshold and coin the schemes cost what the bound says, whatever the
 * cost; with others more, for the accesses and the list that they then have. */
static void test_cost_schemes_reach_the_bound(void **state) {
    (void)state;
    for (unsigned s = TAMIS_BALANCE_SEQUENTIAL; s <= TAMIS_BALANCE_MHT; s++)
        for (double a = 1.1; a < 1.35; a += 0.1)
            for (unsigned c = 0; c < N_COSTS; c++) {
                tamis_balance_shape shape = balance_shape((tamis_balance_scheme)s, CHOICES);
                double gamma;
                assert_ok(
                    tamis_model_balance_region(shape.scheme, CHOICES, a, 8, &gamma, shape.shares));
                assert_ok(
                    tamis_model_balance_parameters(a, 8, gamma, &shape.threshold, &shape.coin));
                const double best = cost_bound(c, a, 8, gamma);
                assert_true(fabs(shape_cost(c, &shape, 8) - best) < 1e-6 * (best + 1));
            }
}

/* SINGLE with a threshold that is too low for its coin, MHT with equal sub-tables. */
static void test_cost_other_schemes_stay_above(void **state) {
    (void)state;
    for (unsigned threshold = 7; threshold <= 12; threshold++)
        for (unsigned c = 1; c < N_COSTS; c++) {
            tamis_balance_shape shape = balance_shape(TAMIS_BALANCE_MHT, CHOICES);
            shape.threshold = threshold;
            shape.coin = 0.3;
            shape.shares[0] = shape.shares[1] = shape.shares[2] = 1.0 / 3;
            const tamis_balance_state found = balance_state(&shape, 8);
            assert_true(shape_cost(c, &shape, 8) >
                        cost_bound(c, found.accesses, 8, found.overflow) - 1e-9);
        }
}

/* -------------------------------------------------------------------------------------------------
 * Refusals
 */

static void test_cost_not_convex_is_refused(void **state) {
    (void)state;
    double cost[ROOM], value = -1;
    for (unsigned i = 0; i < ROOM; i++)
        cost[i] = square(i);
    assert_status(tamis_model_balance_cost(1.2, 8, 0, NULL, ROOM, &value), TAMIS_E_ARGUMENT);
    assert_status(tamis_model_balance_cost(1.2, 8, 0, cost, 9, &value), TAMIS_E_DOMAIN);
    assert_ok(tamis_model_balance_cost(1.2, 8, 0, cost, 10, &value));
    value = -1;
    cost[5] += 2.5; /* the step to it is larger than that after it */
    assert_status(tamis_model_balance_cost(1.2, 8, 0, cost, ROOM, &value), TAMIS_E_DOMAIN);
    cost[5] = 25;
    cost[0] = 2; /* falls */
    assert_status(tamis_model_balance_cost(1.2, 8, 0, cost, ROOM, &value), TAMIS_E_DOMAIN);
    cost[0] = NAN;
    assert_status(tamis_model_balance_cost(1.2, 8, 0, cost, ROOM, &value), TAMIS_E_DOMAIN);
    cost[0] = 0;
    static const double bad[][3] = {{1, 8, 0},   {0.9, 8, 0.05}, {9, 8, 0},    {1.2, 0, 0},
                                    {NAN, 8, 0}, {1.2, 1025, 0}, {1.2, 8, -1}, {1.2, 8, 1}};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(tamis_model_balance_cost(bad[i][0], bad[i][1], bad[i][2], cost, ROOM, &value),
                      TAMIS_E_DOMAIN);
    assert_true(value == -1);
}

static void test_mixed_that_is_none_is_refused(void **state) {
    (void)state;
    const double half[2] = {0.5, 0.5}, less[2] = {0.5, 0.4}, below[2] = {1.5, -0.5};
    const double none[2] = {1, 0}, aims[4] = {0.5, 0.5, 0.5, 0.5}, off[4] = {0.5, 0.5, 0.5, 0.6};
    double p[ROOM] = {7};
    unsigned k0 = 7;
    const tamis_balance_mixture bad[] = {
        mixture_of(2, 2, less, half, aims),  mixture_of(2, 2, half, less, aims),
        mixture_of(2, 2, below, half, aims), mixture_of(2, 2, half, none, aims),
        mixture_of(2, 2, half, half, off),   mixture_of(0, 2, half, half, aims),
        mixture_of(2, 0, half, half, aims),  mixture_of(9, 2, half, half, aims),
        mixture_of(2, 9, half, half, aims)};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(tamis_model_balance_mixed(&bad[i], 1.2, 8, 0, p, ROOM, &k0), TAMIS_E_DOMAIN);
    tamis_balance_mixture m = mixture_of(2, 2, half, half, NULL);
    assert_status(tamis_model_balance_mixed(&m, 1.2, 8, 0, p, ROOM, &k0), TAMIS_E_ARGUMENT);
    assert_status(tamis_model_balance_mixed(NULL, 1.2, 8, 0, p, ROOM, &k0), TAMIS_E_ARGUMENT);
    m = mixture_of(2, 2, half, half, aims);
    assert_status(tamis_model_balance_mixed(&m, 1.2, 8, 0, p, 9, &k0), TAMIS_E_DOMAIN);
    assert_status(tamis_model_balance_mixed(&m, 1, 8, 0, p, ROOM, &k0), TAMIS_E_DOMAIN);
    assert_true(p[0] == 7 && k0 == 7);
    assert_ok(tamis_model_balance_mixed(&m, 1.2, 8, 0, NULL, 0, &k0));
    assert_int_equal(k0, 8);
    assert_ok(tamis_model_balance_mixed(&m, 1.2, 8, 0, p, 10, &k0)); /* k0 + 2 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed_mht_is_theorem_1),
        cmocka_unit_test(test_mixed_opposite_favours_are_theorem_1),
        cmocka_unit_test(test_mixed_uneven_costs_more),
        cmocka_unit_test(test_mixed_uneven_as_simulated),
        cmocka_unit_test(test_cost_identity_is_the_load),
        cmocka_unit_test(test_cost_falls_with_what_is_given),
        cmocka_unit_test(test_cost_schemes_reach_the_bound),
        cmocka_unit_test(test_cost_other_schemes_stay_above),
        cmocka_unit_test(test_cost_not_convex_is_refused),
        cmocka_unit_test(test_mixed_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
