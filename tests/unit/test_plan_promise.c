/* test_plan_promise.c - no plan promises less than was asked for, nor odds far from what they cost
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

/* From 'least' to 'most', evenly in the logarithm. */
static double any_between(uint64_t *random, double least, double most) {
    const double at = ldexp((double)(test_random(random) >> 11), -53);
    return least * pow(most / least, at);
}

static bool one_in(uint64_t *random, uint64_t n) {
    return test_random_below(random, n) == 0;
}

/* What could be asked of a kind, with or without each option. */
static tamis_need any_need(tamis_kind kind, uint64_t *random) {
    tamis_need need =
        test_need(kind, (uint64_t)any_between(random, 1, 1e7), any_between(random, 1e-7, 0.5));
    const unsigned can = tamis_kind_abilities(kind);
    need.deletes = (can & TAMIS_CAN_REMOVE) != 0 && one_in(random, 2);
    need.replacements =
        need.deletes && one_in(random, 3) ? 1 + (unsigned)test_random_below(random, 99) : 0;
    need.copies = one_in(random, 4) ? (unsigned)test_random_below(random, 15) : 0;
    need.value_bits = one_in(random, 4) ? (unsigned)test_random_below(random, 9) : 0;
    need.ticks = (can & TAMIS_CAN_FORGET) != 0 ? 1 + (unsigned)test_random_below(random, 126) : 0;
    need.order = (tamis_order)test_random_below(random, 3);
    need.merges = one_in(random, 5);
    need.grows = one_in(random, 5);
    need.offline = one_in(random, 8);
    need.overshoot = one_in(random, 6) ? any_between(random, 0.01, 3) : 0;
    need.lines_max = one_in(random, 6) ? any_between(random, 1, 4) : 0;
    need.failure_max = one_in(random, 3) ? any_between(random, 1e-12, 1) : 0;
    return need;
}

/* Returns whether there is a plan. */
static bool assert_kept(const tamis_need *need) {
    const double failure = need->failure_max == 0 ? 1e-6 : need->failure_max;
    tamis_plan plan;
    tamis_plan_init(&plan);
    if (tamis_plan_make(need, &plan) != TAMIS_OK)
        return false;
    if (plan.fpr > (need->grows ? need->fpr / 2 : need->fpr))
        fail_msg("%s, n = %llu, p = %.9g, ticks %u: planned for %.9g",
                 tamis_kind_name(plan.params.kind), (unsigned long long)need->n, need->fpr,
                 need->ticks, plan.fpr);
    assert_true(plan.fpr > 0 && plan.fpr_half <= plan.fpr);
    assert_true(plan.overflow_probability <= failure);
    assert_true(need->lines_max == 0 || plan.lines_per_query <= 1.001 * need->lines_max);
    return true;
}

static void test_plan_rate_is_at_most_the_one_asked_for(void **state) {
    enum { NEEDS = 150 };
    uint64_t random = test_seed();
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        unsigned plans = 0;
        for (unsigned i = 0; i < NEEDS; i++) {
            const tamis_need need = any_need(kind, &random);
            plans += assert_kept(&need);
        }
        printf("# %s: %u plans for %u needs\n", tamis_kind_name(kind), plans, (unsigned)NEEDS);
        assert_true(plans > NEEDS / 8);
    }
}

/* Small tables of which all cells are needed: n keys err more often in them than in one without end. */
static void test_plan_rate_of_few_cells_is_kept(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 3000; n = n < 10 ? n + 1 : n * 5 / 4) {
        for (double p = 0.5; p > 1e-3; p *= 0.77) {
            tamis_need need = test_need(TAMIS_KIND_STEADY, n, p);
            for (need.order = 0; need.order <= 1; need.order++) {
                need.kind = TAMIS_KIND_STEADY;
                need.ticks = 0;
                (void)assert_kept(&need);
                need.kind = TAMIS_KIND_WINDOW;
                need.ticks = 3;
                (void)assert_kept(&need);
            }
        }
    }
    tamis_need need = test_need(TAMIS_KIND_ANY, 1000, 0.3);
    need.ticks = 3;
    assert_true(assert_kept(&need));
    need.kind = TAMIS_KIND_WINDOW;
    assert_true(assert_kept(&need));
}

static tamis_plan plan_with(tamis_kind kind, uint64_t n, double p, double failure) {
    tamis_need need = test_need(kind, n, p);
    need.failure_max = failure;
    need.deletes = true;
    return test_planned(&need);
}

/* Odds that are allowed save bytes, and those that are told are of the keys that were asked for: steady has
 * room for more, with the odds allowed. */
static void test_plan_odds_are_used_or_not_told(void **state) {
    (void)state;
    const tamis_plan usual = plan_with(TAMIS_KIND_RANK, 10000, 0.001, 0);
    const tamis_plan safer = plan_with(TAMIS_KIND_RANK, 10000, 0.001, 1e-10);
    assert_true(usual.overflow_probability > 1e-8 && usual.overflow_probability <= 1e-6);
    assert_true(safer.overflow_probability <= 1e-10);
    assert_true((double)usual.bytes < 0.98 * (double)safer.bytes);
    assert_true(plan_with(TAMIS_KIND_STEADY, 1000, 0.001, 0.5).overflow_probability < 1e-4);
    assert_true(plan_with(TAMIS_KIND_STEADY, 10000, 0.001, 0.5).overflow_probability < 1e-4);
    assert_true(plan_with(TAMIS_KIND_ANY, 10000, 0.001, 0.5).overflow_probability <= 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_rate_is_at_most_the_one_asked_for),
        cmocka_unit_test(test_plan_rate_of_few_cells_is_kept),
        cmocka_unit_test(test_plan_odds_are_used_or_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
