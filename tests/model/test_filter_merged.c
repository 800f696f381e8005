/* test_filter_merged.c - the union of two sets errs no more often than the plan for both says
 *
 * For every kind that is offered to who merges: two disjoint halves of the keys are merged, and what the
 * union tells of its error rate, which it knows from its bits (test_filter_rate.c compares that with
 * queries), is on average no more than planned.  The interval is four standard errors of the mean over
 * seeds; rates of planned tables scatter upwards, and the same keys in one set do so as well.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

/* The rate of the union of two halves of n keys. */
static double merged(const tamis_plan *plan, uint64_t n, uint64_t seed) {
    tamis_filter *half[2];
    tamis_params params = plan->params;
    params.seed = seed | 1;
    for (unsigned i = 0; i < 2; i++)
        assert_ok(tamis_filter_create(&params, NULL, &half[i]));
    for (uint64_t key = 0; key < n; key++)
        assert_ok(tamis_filter_insert_u64(half[key % 2], key, NULL));
    assert_ok(tamis_filter_merge(half[0], half[1], 0));
    for (uint64_t key = 0; key < n; key++)
        assert_true(tamis_filter_contains_u64(half[0], key));
    const double rate = test_info(half[0]).fpr;
    tamis_filter_free(half[0]);
    tamis_filter_free(half[1]);
    return rate;
}

static void assert_merged(const tamis_plan *plan, double p, unsigned sets, uint64_t *random) {
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < sets; i++) {
        const double rate = merged(plan, plan->n, test_random(random));
        sum += rate;
        squares += rate * rate;
    }
    const double mean = sum / sets;
    const double error = sqrt(fmax(squares / sets - mean * mean, 0) / (sets - 1));
    printf("# %s, %u keys at %g: planned %.4g, merged %.4g +- %.2g\n",
           tamis_kind_name(plan->params.kind), (unsigned)plan->n, p, plan->fpr, mean, error);
    /* 1 + p: of cells that keys share there are too few to be seen in all sets. */
    assert_true(mean <= plan->fpr * (1 + p) + 4 * error);
}

/* All that are offered, of a need with merges: sets, and windows. */
static void assert_offered(uint64_t n, double p, unsigned ticks, unsigned sets, uint64_t *random) {
    enum { ROOM = 32 };
    tamis_plan plans[ROOM];
    size_t offered;
    tamis_need need = test_need(TAMIS_KIND_ANY, n, p);
    need.merges = true;
    need.ticks = ticks;
    for (unsigned i = 0; i < ROOM; i++)
        tamis_plan_init(&plans[i]);
    assert_ok(tamis_plan_all(&need, plans, ROOM, &offered));
    assert_true(offered >= (ticks == 0 ? 4 : 1));
    for (size_t i = 0; i < offered; i++) {
        assert_true(tamis_kind_abilities(plans[i].params.kind) & TAMIS_CAN_MERGE);
        assert_merged(&plans[i], p, sets, random);
    }
}

static void test_merged_halves_keep_the_promise(void **state) {
    static const double rates[] = {1e-2, 1e-4, 1e-6};
    static const struct {
        uint64_t n;
        unsigned sets;
    } rows[] = {{1000, 100}, {20000, 12}};
    uint64_t random = test_seed();
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < 2; j++) {
            assert_offered(rows[j].n, rates[i], 0, rows[j].sets, &random);
            assert_offered(rows[j].n, rates[i], 4, rows[j].sets / 3, &random);
        }
}

/* Asked for by its kind and with a list that would pay off: blocks that refuse no key all the same. */
static void test_merged_balanced_bloom_is_single(void **state) {
    (void)state;
    for (double p = 1e-2; p > 1e-8; p /= 10) {
        tamis_need need = test_need(TAMIS_KIND_BALANCED_BLOOM, 100000, p);
        const tamis_plan other = test_planned(&need);
        need.merges = true;
        const tamis_plan plan = test_planned(&need);
        assert_int_equal(plan.params.value[TAMIS_BALANCED_BLOOM_SCHEME], 1);
        assert_int_equal(plan.params.stash, 1);
        assert_true(other.bytes <= plan.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merged_halves_keep_the_promise),
        cmocka_unit_test(test_merged_balanced_bloom_is_single),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
