/* test_plan_order.c - which plan is taken, what is asked of it, and how long that takes
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>
#include <time.h>

enum { ROOM = 32 };

static tamis_status make(const tamis_need *need, tamis_plan *plan) {
    tamis_plan_init(plan);
    return tamis_plan_make(need, plan);
}

static size_t make_all(const tamis_need *need, tamis_plan *plans) {
    size_t n = 0;
    for (unsigned i = 0; i < ROOM; i++)
        tamis_plan_init(&plans[i]);
    return tamis_plan_all(need, plans, ROOM, &n) == TAMIS_OK ? n : 0;
}

static unsigned n_abilities(const tamis_plan *plan) {
    const unsigned can = tamis_params_abilities(&plan->params);
    return (can & 1) + (can >> 1 & 1) + (can >> 2 & 1);
}

static bool is_set(const tamis_plan *plan) {
    return (tamis_params_abilities(&plan->params) & TAMIS_CAN_COUNT) == 0;
}

/* The rule, said once more and in another way: nobody who could have been taken is within 2 % of the
 * fewest bytes and reads fewer lines, or as many and can do more. */
static void assert_rule(const tamis_plan *plans, size_t n, bool sets) {
    uint64_t fewest = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (!sets || is_set(&plans[i]))
            fewest = plans[i].bytes < fewest ? plans[i].bytes : fewest;
    assert_true((double)plans[0].bytes <= 1.02 * (double)fewest);
    assert_true(!sets || is_set(&plans[0]));
    for (size_t i = 1; i < n; i++) {
        if ((double)plans[i].bytes > 1.02 * (double)fewest || (sets && !is_set(&plans[i])))
            continue;
        assert_true(plans[0].lines_per_query <= plans[i].lines_per_query);
        if (plans[0].lines_per_query == plans[i].lines_per_query)
            assert_true(n_abilities(&plans[0]) >= n_abilities(&plans[i]));
    }
}

/* What is varied, as bits. */
enum { DELETES = 1, MERGES = 2, GROWS = 4, OFFLINE = 8, LINES = 16, COPIES = 32 };

static void test_plan_all_begins_with_what_is_taken(void **state) {
    (void)state;
    static const uint64_t n[] = {10, 3000, 10000000};
    static const double rates[] = {0.2, 0.01, 1e-4, 1e-6};
    static const unsigned asked[] = {0, DELETES, MERGES, GROWS | DELETES, LINES, COPIES, OFFLINE};
    unsigned needs = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
                tamis_need need = test_need(TAMIS_KIND_ANY, n[i], rates[j]);
                tamis_plan plans[ROOM], taken;
                if ((i + j + k) % 3 != 0) /* a third of them is enough */
                    continue;
                need.deletes = (asked[k] & DELETES) != 0;
                need.merges = (asked[k] & MERGES) != 0;
                need.grows = (asked[k] & GROWS) != 0;
                need.offline = (asked[k] & OFFLINE) != 0;
                need.copies = (asked[k] & COPIES) != 0 ? 3 : 0;
                need.order = (asked[k] & LINES) != 0 ? TAMIS_ORDER_LINES : TAMIS_ORDER_BYTES;
                need.search = true;
                const size_t found = make_all(&need, plans);
                assert_int_equal(found > 0, make(&need, &taken) == TAMIS_OK);
                if (found == 0)
                    continue;
                needs++;
                assert_memory_equal(&taken, &plans[0], sizeof taken);
                if (need.order == TAMIS_ORDER_BYTES)
                    assert_rule(plans, found, !need.deletes && need.copies == 0);
            }
        }
    }
    printf("# %u needs\n", needs);
    assert_true(needs >= 25);
}

/* Sets of the same keys must not change their kind from one rate to the next for 0.3 % of the bytes. */
static void test_plan_near_in_bytes_takes_fewer_lines(void **state) {
    (void)state;
    static const double rates[] = {1e-5, 1e-6, 1e-7};
    tamis_kind kind = TAMIS_KIND_ANY;
    for (unsigned i = 0; i < 3; i++) {
        const tamis_need need = test_need(TAMIS_KIND_ANY, 10000000, rates[i]);
        tamis_plan plan;
        assert_ok(make(&need, &plan));
        if (i == 0)
            kind = plan.params.kind;
        assert_int_equal(plan.params.kind, kind);
    }
}

static void test_need_merges_is_kept(void **state) {
    (void)state;
    tamis_plan plans[ROOM], plan;
    tamis_need need = test_need(TAMIS_KIND_ANY, 100000, 1e-3);
    need.merges = true;
    const size_t sets = make_all(&need, plans);
    assert_true(sets >= 4);
    for (size_t i = 0; i < sets; i++)
        assert_true((tamis_kind_abilities(plans[i].params.kind) & TAMIS_CAN_MERGE) != 0);
    need.kind = TAMIS_KIND_RANK;
    assert_status(make(&need, &plan), TAMIS_E_UNSUPPORTED);
    need.kind = TAMIS_KIND_BLOCKED_BLOOM;
    assert_ok(make(&need, &plan));
}

static void test_need_replacements_cost_bytes(void **state) {
    (void)state;
    static const unsigned replacements[] = {1, 10, 20, 100, 1000, 10000};
    tamis_need need = test_need(TAMIS_KIND_RANK_COUNTING, 100000, 0.1);
    tamis_plan plan;
    need.copies = 3;
    assert_ok(make(&need, &plan));
    assert_int_equal(plan.replacements, 0);
    need.deletes = true;
    assert_ok(make(&need, &plan)); /* for ever, as far as the model goes */
    assert_int_equal(plan.replacements, 10000);
    const uint64_t most = plan.bytes;
    need.kind = TAMIS_KIND_ANY; /* none that ages is offered */
    tamis_plan plans[ROOM];
    const size_t n = make_all(&need, plans);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(plans[i].replacements, 0);
    need.kind = TAMIS_KIND_RANK_COUNTING;
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) {
        need.deletes = false; /* implied */
        need.replacements = replacements[i];
        assert_ok(make(&need, &plan));
        assert_int_equal(plan.replacements, replacements[i]);
        assert_true(plan.bytes >= bytes);
        bytes = plan.bytes;
    }
    assert_int_equal(bytes, most);
    need.replacements = 1;
    assert_ok(make(&need, &plan));
    assert_true(plan.bytes < most);
    need.replacements = 10001;
    assert_status(make(&need, &plan), TAMIS_E_ARGUMENT);
    need.replacements = 1;
    need.copies = 0;
    need.kind = TAMIS_KIND_BLOOM; /* removes nothing */
    assert_status(make(&need, &plan), TAMIS_E_UNSUPPORTED);
    need.kind = TAMIS_KIND_STEADY; /* does not age */
    assert_ok(make(&need, &plan));
    assert_int_equal(plan.replacements, 0);
}

static double seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* No need takes long: 2 s of processor time, ten times what is seen with assertions. */
static void test_plan_time_is_bounded(void **state) {
    (void)state;
    static const uint64_t n[] = {1, 1000000, 1000000000000};
    static const double rates[] = {0.9999999999999999, 0.999999, 1e-15, 1e-300};
    double worst = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            tamis_need need = test_need(TAMIS_KIND_ANY, n[i], rates[j]);
            tamis_plan plans[ROOM];
            const double from = seconds();
            (void)make_all(&need, plans);
            worst = fmax(worst, seconds() - from);
        }
    }
    printf("# at most %.3f s\n", worst);
    assert_true(worst < 2);
}

/* Half of the least number there is, is 0. */
static void test_plan_least_rate_that_grows_is_unsupported(void **state) {
    (void)state;
    for (tamis_kind kind = test_next_kind(TAMIS_KIND_ANY); kind != TAMIS_KIND_ANY;
         kind = test_next_kind(kind)) {
        tamis_need need = test_need(TAMIS_KIND_ANY, 10, 5e-324);
        tamis_plan plan;
        need.grows = true;
        need.kind = kind;
        assert_status(make(&need, &plan), TAMIS_E_UNSUPPORTED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_all_begins_with_what_is_taken),
        cmocka_unit_test(test_plan_near_in_bytes_takes_fewer_lines),
        cmocka_unit_test(test_need_merges_is_kept),
        cmocka_unit_test(test_need_replacements_cost_bytes),
        cmocka_unit_test(test_plan_time_is_bounded),
        cmocka_unit_test(test_plan_least_rate_that_grows_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
