/* test_filter_worn.c - what is promised with deletes holds when every key was replaced ten times
 *
 * Every kind that removes is planned for deletes and for so many copies of each key, filled, and its keys are
 * replaced one by one, with all their copies, each time one drawn at random.  Then the error rate must
 * not be above the plan, and no insert may have been refused.  The rate is the mean over filters, measured
 * by queries; 4.5 standard errors for each of the cells, from the queries and from the scatter between
 * filters, make 99.9 % for all of them.
 *
 * TAMIS_TEST_LONG=1 takes more filters, error rates and copies.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

enum { N = 400, REPLACED = 10, QUERIES = 4000 };

/* Ten replacements of all keys of one filter; its error rate by queries. */
static double wear(const tamis_plan *plan, unsigned copies, uint64_t *random, uint64_t *refused) {
    tamis_params params = plan->params;
    tamis_filter *f;
    uint64_t keys[N], next = 0, hits = 0;
    params.seed = test_random(random);
    assert_ok(tamis_filter_create(&params, NULL, &f));
    for (uint64_t step = 0; step < N * (REPLACED + 1); step++) {
        const uint64_t at = step < N ? step : test_random_below(random, N);
        for (unsigned c = 0; c < copies && step >= N; c++)
            *refused += tamis_filter_remove_u64(f, keys[at]) != TAMIS_OK;
        keys[at] = next++;
        for (unsigned c = 0; c < copies; c++)
            *refused += tamis_filter_insert_u64(f, keys[at], NULL) != TAMIS_OK;
    }
    for (unsigned i = 0; i < N; i++)
        assert_true(tamis_filter_copies_u64(f, keys[i]) >= copies);
    assert_int_equal(tamis_filter_count(f), (uint64_t)N * copies);
    for (uint64_t i = 0; i < QUERIES; i++)
        hits += tamis_filter_contains_u64(f, next + i);
    tamis_filter_free(f);
    return (double)hits / QUERIES;
}

/* True if the kind is offered for so many copies. */
static bool check_copies(tamis_kind kind, unsigned copies, double p, unsigned filters) {
    tamis_plan plan;
    tamis_need need = test_need(kind, N, p);
    need.deletes = true;
    need.copies = copies;
    tamis_plan_init(&plan);
    const tamis_status status = tamis_plan_make(&need, &plan);
    if (status == TAMIS_E_UNSUPPORTED)
        return false;
    assert_ok(status);
    assert_true(plan.fpr <= p && plan.overflow_probability <= 1e-6);
    uint64_t random = test_seed() + copies + 1000 * (uint64_t)kind, refused = 0;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < filters; i++) {
        const double rate = wear(&plan, copies, &random, &refused);
        sum += rate;
        squares += rate * rate;
    }
    const double mean = sum / filters, trials = (double)filters * QUERIES;
    const double between = fmax(0, squares / filters - mean * mean) / (filters - 1);
    const double error = sqrt(plan.fpr / trials + between);
    printf("# %s, %u copies, p = %g: planned %.4f at %.2f bits per key, measured %.4f +- %.4f\n",
           tamis_kind_name(kind), copies, p, plan.fpr, plan.bits_per_key, mean, error);
    if (mean > plan.fpr + 4.5 * error)
        fail_msg("%s, %u copies: planned %.4f, measured %.4f", tamis_kind_name(kind), copies,
                 plan.fpr, mean);
    assert_int_equal(refused, 0);
    return true;
}

static void test_worn_what_is_offered_is_kept(void **state) {
    (void)state;
    static const unsigned copies[] = {1, 2, 3, 5, 8, 14, 15, 31, 85, 255, 4, 6, 7, 10, 60, 128};
    static const double rates[] = {0.05, 0.01, 0.2};
    const bool all = getenv("TAMIS_TEST_LONG") != NULL;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        if ((tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) == 0)
            continue;
        for (unsigned r = 0; r < (all ? 3 : 1); r++)
            for (unsigned i = 0; i < (all ? 16 : 10); i++) {
                const bool offered = check_copies(kind, copies[i], rates[r],
                                                  all              ? 40
                                                  : copies[i] > 20 ? 4
                                                                   : 8);
                /* Those whose counters stop are offered where the model says that they last. */
                const bool lasts = kind == TAMIS_KIND_DLEFT_COUNTING || kind == TAMIS_KIND_STEADY;
                const bool may = kind == TAMIS_KIND_RANK_COUNTING ||
                                 (kind == TAMIS_KIND_COUNTING_BLOOM && copies[i] <= 14);
                assert_true(copies[i] == 1 || lasts ? offered : may || !offered);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worn_what_is_offered_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
