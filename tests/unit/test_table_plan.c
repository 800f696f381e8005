/* test_table_plan.c - plans of tables through the public interface: what they promise, and refusals
 *
 * The plans themselves are judged in tests/model/test_table_plan.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"
#include "tamis/table.h"

#include <math.h>

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
    assert_status(tamis_table_plan_paper(10000, (tamis_summary)7, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_plan_paper(100000, TAMIS_SUMMARY_SONG, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_plan_paper(10000, TAMIS_SUMMARY_MULTIPLE, NULL), TAMIS_E_ARGUMENT);
}

/* What is planned for 10,000 items is the paper's; odds and rates that are asked for are kept. */
static void test_table_plan_song_is_the_paper_s(void **state) {
    (void)state;
    tamis_table_need need;
    tamis_table_plan plan, paper;
    tamis_table_need_init(&need);
    tamis_table_plan_init(&plan);
    tamis_table_plan_init(&paper);
    need.n = 10000;
    need.summary = TAMIS_SUMMARY_SONG;
    assert_ok(tamis_table_plan_make(&need, &plan));
    assert_ok(tamis_table_plan_paper(10000, TAMIS_SUMMARY_SONG, &paper));
    assert_int_equal(plan.params.n_levels, 10);
    assert_int_equal(plan.params.counter_bits[0], 3);
    assert_memory_equal(plan.params.buckets, paper.params.buckets, sizeof plan.params.buckets);
    assert_memory_equal(plan.params.buckets, plan.params.cells, sizeof plan.params.buckets);
    assert_int_equal(plan.summary_bits, 8 * 49152);
    assert_true(plan.fpr > 0.00187 && plan.fpr < 0.0019 && plan.crisis == 1 && plan.failure == 0);
    double items = 0;
    for (unsigned i = 0; i < 10; i++)
        items += plan.level_items[i];
    assert_true(items > 9999.9 && items < 10000.1);

    for (unsigned i = 0; i < 4; i++) {
        static const uint64_t numbers[] = {1, 50, 3000, 1000000};
        tamis_table_need_init(&need);
        need.n = numbers[i];
        need.summary = TAMIS_SUMMARY_SONG;
        need.fpr = 0.01;
        assert_ok(tamis_table_plan_make(&need, &plan));
        assert_true(plan.fpr <= 0.01 && plan.crisis <= 1);
        need.odds = 1e-4;
        assert_ok(tamis_table_plan_make(&need, &plan));
        assert_true(plan.crisis <= 1e-4 * (1 + 1e-9) && plan.fpr <= 0.01);
        need.slots_per_item = 2;
        const tamis_status status = tamis_table_plan_make(&need, &plan);
        assert_status(status, i == 0 ? TAMIS_OK : TAMIS_E_UNSUPPORTED);
        need.odds = need.fpr = 0;
        assert_ok(tamis_table_plan_make(&need, &plan));
        plan.params.key_max = 8;
        assert_ok(tamis_table_complete(&plan.params));
    }
    need.bucket = 2;
    assert_status(tamis_table_plan_make(&need, &plan), TAMIS_E_UNSUPPORTED);
    need.bucket = 1;
    need.fpr = 0.6;
    assert_status(tamis_table_plan_make(&need, &plan), TAMIS_E_ARGUMENT);
    need.fpr = NAN;
    assert_status(tamis_table_plan_make(&need, &plan), TAMIS_E_ARGUMENT);
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
    REFUSED(need.summary = (tamis_summary)7);
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
        cmocka_unit_test(test_table_plan_song_is_the_paper_s),
        cmocka_unit_test(test_table_plan_bad_needs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
