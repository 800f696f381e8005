/* test_table_plan.c - plans of tables through the public interface: what they promise, and refusals
 *
 * The plans themselves are judged in tests/model/test_table_plan.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"
#include "tamis/table.h"

static void test_table_plan_promises_are_kept(void **state) {
    (void)state;
    for (int s = 1; s <= 6; s++) {
        const tamis_summary summary = (tamis_summary)s;
        if (tamis_summary_name(summary) == NULL)
            continue;
        for (uint64_t n = 1; n <= 10000000; n *= 100) {
            const tamis_table_need need = {
                .struct_size = sizeof need, .n = n, .summary = summary, .fpr = 0.01, .odds = 1e-6};
            tamis_table_plan plan;
            tamis_table_plan_init(&plan);
            assert_ok(tamis_table_plan_make(&need, &plan));
            assert_true(plan.fpr <= 0.01 && plan.crisis + plan.failure <= 1e-6);
            assert_true(plan.summary_bits > 0);
            /* the parameters lack nothing but the sizes of the items */
            assert_status(tamis_table_complete(&plan.params), TAMIS_E_ARGUMENT);
            plan.params.key_max = 8;
            const uint64_t first = plan.params.buckets[0];
            assert_ok(tamis_table_complete(&plan.params));
            assert_int_equal(plan.params.buckets[0], first);
            assert_int_equal(plan.params.capacity, n);
        }
    }
}

static void test_table_plan_paper_tables_can_be_made(void **state) {
    (void)state;
    tamis_table_plan plan;
    tamis_table_plan_init(&plan);
    assert_ok(tamis_table_plan_paper(10000, TAMIS_SUMMARY_MULTIPLE, &plan));
    assert_int_equal(plan.params.n_levels, 5);
    assert_int_equal(plan.params.buckets[0], 40000);
    assert_int_equal(plan.summary_bits / 8 + 60000 / 8, 32450);
    plan.params.key_max = 8;
    plan.params.seed = test_seed();
    tamis_table *table;
    assert_ok(tamis_table_create(&plan.params, NULL, &table));
    for (uint64_t i = 0; i < 10000; i++)
        assert_ok(tamis_table_put(table, &i, sizeof i, NULL, 0, NULL));
    uint64_t failures = 1;
    assert_ok(tamis_table_verify(table, &failures, NULL));
    assert_int_equal(failures, 0);
    assert_ok(tamis_table_close(table));
    assert_status(tamis_table_plan_paper(20000, TAMIS_SUMMARY_MULTIPLE, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_plan_paper(10000, (tamis_summary)4, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_plan_paper(10000, TAMIS_SUMMARY_MULTIPLE, NULL), TAMIS_E_ARGUMENT);
}

static void test_table_plan_bad_needs_are_refused(void **state) {
    (void)state;
    tamis_table_need need;
    tamis_table_plan plan;
    tamis_table_plan_init(&plan);
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        tamis_table_need_init(&need);                                                              \
        need.n = 1000;                                                                             \
        change;                                                                                    \
        assert_status(tamis_table_plan_make(&need, &plan), TAMIS_E_ARGUMENT);                      \
    } while (0)
    REFUSED(need.n = 0);
    REFUSED(need.n = TAMIS_CAPACITY_MAX + 1);
    REFUSED(need.n = UINT64_MAX);
    REFUSED(need.bucket = 5);
    REFUSED(need.bucket = UINT64_MAX);
    REFUSED(need.summary = (tamis_summary)4);
    REFUSED(need.summary = (tamis_summary)77);
    REFUSED(need.odds = -1);
    REFUSED(need.odds = 0.6);
    REFUSED(need.fpr = 0.6);
    REFUSED(need.fpr = -0.1);
    REFUSED(need.slots_per_item = 0.5);
    REFUSED(need.rebuild_permille = 1001);
    REFUSED(need.struct_size = 1);
    assert_status(tamis_table_plan_make(NULL, &plan), TAMIS_E_ARGUMENT);
    tamis_table_need_init(&need);
    need.n = 1000;
    assert_status(tamis_table_plan_make(&need, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_table_plan_make(&need, &plan));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_plan_promises_are_kept),
        cmocka_unit_test(test_table_plan_paper_tables_can_be_made),
        cmocka_unit_test(test_table_plan_bad_needs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
