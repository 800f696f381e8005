/* test_model_dleft_balanced.c - loads of tables that were filled from all keys at once
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#include "tamis/model.h"

enum { LOADS = 16 };

static void balanced(double mean, unsigned passes, tamis_ties ties, double *fraction) {
    assert_ok(tamis_model_dleft_balanced(mean, passes, ties, LOADS, fraction));
}

static double rate_of(tamis_model_rule rule, const double *fraction) {
    unsigned bits[LOADS];
    double fpr;
    assert_ok(tamis_model_dleft_rule(rule, LOADS, bits));
    assert_ok(tamis_model_dleft_fpr(2, LOADS, fraction, bits, &fpr));
    return fpr;
}

static void test_balanced_is_a_distribution_with_its_mean(void **state) {
    static const double means[] = {0, 0.01, 1.3, 10};
    (void)state;
    for (size_t k = 0; k < sizeof means / sizeof means[0]; k++)
        for (tamis_ties ties = TAMIS_TIES_RANDOM;
             ties <= (k < 3 ? TAMIS_TIES_STAY : TAMIS_TIES_RANDOM); ties++) {
            double fraction[2 * LOADS], mean = 0;
            balanced(means[k], 1, ties, fraction);
            for (unsigned s = 0; s < 2; s++) {
                double sum = 0;
                for (unsigned j = 0; j < LOADS; j++) {
                    assert_true(fraction[s * LOADS + j] >= 0);
                    sum += fraction[s * LOADS + j];
                    mean += fraction[s * LOADS + j] * j / 2;
                }
                assert_true(fabs(sum - 1) <= 1e-12);
            }
            /* Degrees that are too large to be told apart are cut off. */
            assert_true(fabs(mean - means[k]) <= 3e-4 * means[k]);
        }
}

/* Before the first pass they are the loads of d-left hashing. */
static void test_balanced_without_passes_is_the_fluid_limit(void **state) {
    double fraction[2 * LOADS], expected[2 * LOADS];
    (void)state;
    balanced(4, 0, TAMIS_TIES_LEFT, fraction);
    assert_ok(tamis_model_dleft_inserted(2, 4, LOADS, expected));
    for (unsigned i = 0; i < 2 * LOADS; i++)
        assert_true(fabs(fraction[i] - expected[i]) <= 2e-4);
}

/* The same done with keys: two subtables of SIZE buckets. */
enum { SIZE = 25000 };

static void simulate(uint64_t *seed, unsigned mean, unsigned passes, tamis_ties ties,
                     double *fraction) {
    const unsigned n = mean * 2 * SIZE;
    unsigned(*const choice)[2] = malloc(n * sizeof *choice);
    unsigned char *const where = malloc(n), *const load = calloc(2 * SIZE, 1);
    assert_true(choice != NULL && where != NULL && load != NULL);
    for (unsigned pass = 0; pass <= passes; pass++)
        for (unsigned k = 0; k < n; k++) {
            for (unsigned i = 0; i < 2 && pass == 0; i++)
                choice[k][i] = i * SIZE + (unsigned)test_random_below(seed, SIZE);
            if (pass > 0)
                load[choice[k][where[k]]]--;
            const unsigned a = load[choice[k][0]], b = load[choice[k][1]];
            if (a != b)
                where[k] = b < a;
            else if (ties == TAMIS_TIES_RANDOM)
                where[k] = (unsigned char)test_random_below(seed, 2);
            else if (ties == TAMIS_TIES_LEFT || pass == 0)
                where[k] = 0;
            load[choice[k][where[k]]]++;
        }
    for (unsigned i = 0; i < 2 * LOADS; i++)
        fraction[i] = 0;
    for (unsigned b = 0; b < 2 * SIZE; b++)
        fraction[b / SIZE * LOADS + load[b]] += 1.0 / SIZE;
    free(choice);
    free(where);
    free(load);
}

/* The error rates that follow from the loads: four standard errors of TRIALS runs, and what the
 * approximation may cost: 1.5 % after ten passes, 3 % at small loads, and 5 % after a few passes, where
 * it matters that the order of the keys is the same in each. */
static void test_balanced_matches_simulation(void **state) {
    enum { TRIALS = 4 };
    static const struct {
        unsigned mean, passes;
        tamis_ties ties;
        tamis_model_rule rule;
        double within;
    } cases[] = {{4, 10, TAMIS_TIES_RANDOM, TAMIS_MODEL_RULE_64, 0.015},
                 {4, 2, TAMIS_TIES_RANDOM, TAMIS_MODEL_RULE_64, 0.05},
                 {3, 10, TAMIS_TIES_RANDOM, TAMIS_MODEL_RULE_64, 0.03},
                 {6, 10, TAMIS_TIES_RANDOM, TAMIS_MODEL_RULE_128, 0.015},
                 {4, 10, TAMIS_TIES_LEFT, TAMIS_MODEL_RULE_64, 0.015}};
    uint64_t seed = test_seed() + 15;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double fraction[2 * LOADS], sum = 0, squares = 0;
        balanced(cases[k].mean, cases[k].passes, cases[k].ties, fraction);
        const double model = rate_of(cases[k].rule, fraction);
        for (unsigned t = 0; t < TRIALS; t++) {
            simulate(&seed, cases[k].mean, cases[k].passes, cases[k].ties, fraction);
            const double rate = rate_of(cases[k].rule, fraction);
            sum += rate;
            squares += rate * rate;
        }
        const double mean = sum / TRIALS;
        const double error = sqrt(fmax(squares / TRIALS - mean * mean, 0) / (TRIALS - 1)) / mean;
        printf("# load %u, %u passes, ties %d: %.4g +- %.1f %%, model %.4g (%+.1f %%)\n",
               cases[k].mean, cases[k].passes, (int)cases[k].ties, mean, 100 * error, model,
               100 * (model / mean - 1));
        assert_true(fabs(model / mean - 1) <= cases[k].within + 4 * error);
    }
}

/* Section II.D of the paper, which takes ties to the left: 0.00023894, the mean of an unknown number of
 * tables of 8192 buckets. */
static void test_balanced_published_value(void **state) {
    double fraction[2 * LOADS];
    (void)state;
    balanced(4, 10, TAMIS_TIES_LEFT, fraction);
    assert_true(fabs(rate_of(TAMIS_MODEL_RULE_64, fraction) / 0.00023894 - 1) <= 0.02);
}

static void test_balanced_short_array_collects_the_rest(void **state) {
    double all[2 * LOADS], some[2 * 3];
    (void)state;
    balanced(2, 1, TAMIS_TIES_LEFT, all);
    assert_ok(tamis_model_dleft_balanced(2, 1, TAMIS_TIES_LEFT, 3, some));
    for (unsigned s = 0; s < 2; s++) {
        double rest = 0;
        for (unsigned j = 2; j < LOADS; j++)
            rest += all[s * LOADS + j];
        assert_true(some[s * 3 + 1] == all[s * LOADS + 1]);
        assert_true(fabs(some[s * 3 + 2] - rest) <= 1e-14);
    }
}

static void test_balanced_outside_domain_refuses(void **state) {
    double fraction[2 * LOADS] = {42};
    (void)state;
    assert_status(tamis_model_dleft_balanced(-1, 1, 0, 2, fraction), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_balanced(NAN, 1, 0, 2, fraction), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_balanced(10.1, 1, 0, 2, fraction), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_balanced(1, 101, 0, 2, fraction), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_balanced(1, 1, (tamis_ties)3, 2, fraction), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_balanced(1, 1, 0, 1, fraction), TAMIS_E_DOMAIN);
    assert_status(tamis_model_dleft_balanced(1, 1, 0, 17, fraction), TAMIS_E_DOMAIN);
    assert_true(fraction[0] == 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced_is_a_distribution_with_its_mean),
        cmocka_unit_test(test_balanced_without_passes_is_the_fluid_limit),
        cmocka_unit_test(test_balanced_matches_simulation),
        cmocka_unit_test(test_balanced_published_value),
        cmocka_unit_test(test_balanced_short_array_collects_the_rest),
        cmocka_unit_test(test_balanced_outside_domain_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
