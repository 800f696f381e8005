/* test_table_rebuild.c - how many items a rebuild of a real table moves
 *
 * The paper's experiment: 9999 items, 909 of them deleted, chosen from all or from the first sub-table. It
 * prints 96.98 and 114.25 moves, the means of 100,000 trials.  TAMIS_TABLE_REBUILDS sets the number here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plain_table.h"

#include "tamis/table.h"

enum { STAY = 9090, GO = 909, N = STAY + GO };

static tamis_table *build(const tamis_table_plan *plan, uint64_t seed) {
    tamis_table_params params = plan->params;
    params.key_max = 8;
    params.seed = seed;
    tamis_table *table;
    assert_ok(tamis_table_create(&params, NULL, &table));
    for (uint64_t i = 0; i < N; i++)
        assert_ok(tamis_table_put(table, &i, sizeof i, NULL, 0, NULL));
    return table;
}

/* Delete GO of the first 'among' items of a walk. */
static void delete_some(tamis_table *table, uint64_t among, uint64_t *random) {
    static uint64_t keys[N];
    uint64_t at = 0;
    for (uint64_t i = 0; i < among; i++) {
        size_t key_size, value_size;
        assert_ok(tamis_table_next(table, &at, &keys[i], &key_size, NULL, &value_size));
    }
    for (uint64_t i = 0; i < GO; i++) {
        const uint64_t j = i + test_random_below(random, among - i);
        const uint64_t chosen = keys[j];
        keys[j] = keys[i];
        assert_ok(tamis_table_delete(table, &chosen, sizeof chosen));
    }
}

static tamis_table_state info_of(const tamis_table *table) {
    tamis_table_state info;
    tamis_table_state_init(&info);
    assert_ok(tamis_table_info(table, &info));
    return info;
}

static uint64_t moves_of_rebuild(tamis_table *table) {
    bool done = false;
    while (!done)
        assert_ok(tamis_table_rebuild(table, 500, &done));
    tamis_table_counts stats;
    tamis_table_counts_init(&stats);
    assert_ok(tamis_table_stats(table, &stats));
    return stats.moves;
}

static void count_moves(const char *what, bool first_only, double printed) {
    const unsigned trials = from_environment("TAMIS_TABLE_REBUILDS", 120);
    uint64_t random = test_seed();
    double sum = 0, squares = 0;
    tamis_table_plan plan;
    tamis_table_plan_init(&plan);
    assert_ok(tamis_table_plan_paper(10000, TAMIS_SUMMARY_MULTIPLE, &plan));
    for (unsigned t = 0; t < trials; t++) {
        tamis_table *const table = build(&plan, test_random(&random) | 1);
        const uint64_t first = info_of(table).level_count[0];
        delete_some(table, first_only ? first : N, &random);
        if (first_only) /* the walk begins with the first sub-table */
            assert_int_equal(info_of(table).level_count[0], first - GO);
        const double moves = (double)moves_of_rebuild(table);
        sum += moves;
        squares += moves * moves;
        if (t < 3) {
            uint64_t failures;
            const char *reason = NULL;
            assert_ok(tamis_table_verify(table, &failures, &reason));
            assert_int_equal(failures, 0);
            assert_int_equal(tamis_table_count(table), STAY);
            assert_int_equal(info_of(table).deleted, 0);
        }
        assert_ok(tamis_table_close(table));
    }
    const double mean = sum / trials;
    const double error = sqrt((squares / trials - mean * mean) / (trials - 1));
    printf("# %s: %.2f moves, standard error %.2f; printed %.2f\n", what, mean, error, printed);
    assert_true(fabs(mean - printed) <= 4.5 * error + 0.005);
    assert_true(error * sqrt(trials) > 7 && error * sqrt(trials) < 14);
}

static void test_rebuild_moves_few_of_random_deletions(void **state) {
    (void)state;
    count_moves("deleted from all", false, 96.98);
}

static void test_rebuild_moves_few_of_first_deletions(void **state) {
    (void)state;
    count_moves("deleted from the first sub-table", true, 114.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rebuild_moves_few_of_random_deletions),
        cmocka_unit_test(test_rebuild_moves_few_of_first_deletions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
