/* test_model_multilevel.c - models of the multilevel hash table
 *
 * Tiny tables are enumerated completely, larger ones simulated; the exact calculation is compared
 * with the same recurrence without cuts in extended precision, and everything with the numbers that
 * the paper prints.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plain_multilevel.h"

#include <time.h>

#include "tamis/model.h"

/* -------------------------------------------------------------------------------------------------
 * Distributions
 */

static void test_level_any_table_keeps_mass_and_mean(void **unused) {
    (void)unused;
    static const plain_case cases[] = {
        {1, 1, {1}},
        {7, 2, {1, 1}},
        {50, 3, {10, 10, 10}},
        {300, 4, {1000, 100, 10, 1}},
        {1000, 5, {1, 2000, 5, 700, 3}},
        {3000, 3, {(uint64_t)1 << 48, 5, 5}},
        {10000, 5, {40000, 10000, 5000, 2500, 2500}},
        {20000, 2, {1000, 1000}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const unsigned n = cases[c].n;
        const workspace work = new_workspace(n);
        double *const waiting = new_doubles(n + 1);
        double *const placed = new_doubles(n + 1);
        double neglected = 0;
        double placed_before = 0;
        waiting[n] = 1;
        for (unsigned i = 0; i < cases[c].n_tables; i++) {
            assert_ok(tamis_model_multilevel_level(n, cases[c].buckets[i], waiting, placed, work.at,
                                                   work.len, &neglected));
            double mass = 0;
            double mean = 0;
            double items = 0;
            for (unsigned x = 0; x <= n; x++) {
                assert_true(waiting[x] >= 0 && placed[x] >= 0);
                mass += waiting[x];
                mean += x * waiting[x];
                items += placed[x];
            }
            placed_before += items;
            assert_close(mass, 1, 1e-12);
            assert_close(mean + placed_before, n, 1e-12);
            assert_true(items <= (double)cases[c].buckets[i] * (1 + 1e-12));
        }
        assert_true(neglected >= 0 && neglected < 1e-90);
        free(work.at);
        free(waiting);
        free(placed);
    }
}

/* The recurrence with all of its terms, in long double. */
static long double crisis_without_cuts(unsigned n, const uint64_t *buckets, unsigned n_tables) {
    enum { MAX = 400 };
    static long double waiting[MAX + 2], next[MAX + 2], p[MAX + 2];
    assert_true(n <= MAX);
    memset(waiting, 0, sizeof waiting);
    waiting[n] = 1;
    for (unsigned i = 0; i < n_tables; i++) {
        const long double m = buckets[i];
        memset(p, 0, sizeof p);
        memset(next, 0, sizeof next);
        p[0] = 1;
        next[0] = waiting[0];
        for (unsigned j = 1; j <= n; j++) {
            for (unsigned l = j; l > 0; l--)
                p[l] = p[l] * (1 - (long double)((int)j - 1 - (int)l) / m) + p[l - 1] * (j - l) / m;
            p[0] *= 1 - (j - 1) / m;
            for (unsigned l = 0; l <= j; l++)
                next[l] += waiting[j] * p[l];
        }
        memcpy(waiting, next, sizeof waiting);
    }
    long double crisis = 0;
    for (unsigned x = n; x > 0; x--)
        crisis += waiting[x];
    return crisis;
}

static void test_exact_small_crisis_keeps_relative_accuracy(void **unused) {
    (void)unused;
    static const uint64_t tables[][TABLES_MAX] = {
        {400, 400, 400, 400, 400, 400},
        {1600, 400, 200, 100, 100, 100},
        {40000, 40000, 40000, 40000, 40000, 40000},
        {1000000000, 1000000000, 1000000000, 1000000000, 1000000000, 1000000000},
    };
    const unsigned n = 400;
    const workspace work = new_workspace(n);
    for (size_t c = 0; c < sizeof tables / sizeof tables[0]; c++) {
        double crisis, neglected;
        assert_ok(tamis_model_multilevel_exact(n, tables[c], 6, work.at, work.len, NULL, &crisis,
                                               &neglected));
        const double full = (double)crisis_without_cuts(n, tables[c], 6);
        printf("# crisis %.9e, without cuts %.9e, neglected %.1e\n", crisis, full, neglected);
        if (full > 1e-80)
            assert_close(crisis, full, 1e-11);
        assert_true(crisis <= full * (1 + 1e-11) && full <= (crisis + neglected) * (1 + 1e-11));
        assert_true(neglected < 1e-90);
    }
    free(work.at);
}

/* -------------------------------------------------------------------------------------------------
 * Enumeration
 */

/* Next assignment of buckets to items, as an odometer; false after the last. */
static bool plain_next_places(plain_table *t) {
    for (unsigned h = 0; h < t->n * t->n_tables; h++) {
        if (++t->place[h] < t->buckets[h % t->n_tables])
            return true;
        t->place[h] = 0;
    }
    return false;
}

static void test_exact_tiny_tables_equal_enumeration(void **unused) {
    (void)unused;
    static const plain_case cases[] = {
        {1, 1, {1}},       {2, 1, {1}},    {3, 1, {5}},          {2, 2, {1, 1}},
        {3, 2, {1, 1}},    {4, 2, {3, 2}}, {3, 3, {3, 2, 1}},    {5, 2, {4, 3}},
        {4, 3, {4, 2, 2}}, {6, 2, {4, 2}}, {4, 4, {2, 2, 2, 1}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const unsigned n = cases[c].n;
        const unsigned d = cases[c].n_tables;
        plain_table t;
        plain_init(&t, n, cases[c].buckets, d);
        uint64_t all = 0;
        uint64_t crises = 0;
        uint64_t placed[TABLES_MAX] = {0};
        do {
            all++;
            crises += plain_fill(&t) > 0;
            for (unsigned x = 0; x < n; x++)
                if (t.type[x] != NOWHERE)
                    placed[t.type[x]]++;
        } while (plain_next_places(&t));

        const workspace work = new_workspace(n);
        double items[TABLES_MAX];
        double crisis, neglected;
        assert_ok(tamis_model_multilevel_exact(n, cases[c].buckets, d, work.at, work.len, items,
                                               &crisis, &neglected));
        assert_close(crisis, (double)crises / (double)all, 1e-13);
        for (unsigned i = 0; i < d; i++)
            assert_close(items[i], (double)placed[i] / (double)all, 1e-13);
        assert_true(neglected == 0);
        free(work.at);
        plain_free(&t);
    }
}

/* As many sub-tables as items: each keeps one at least, and there is no crisis to muddle the
 * count. */
static void test_rebuild_tiny_tables_equal_enumeration(void **unused) {
    (void)unused;
    static const uint64_t buckets[4] = {3, 2, 2, 1};
    enum { ITEMS = 4 };
    const workspace work = new_workspace(ITEMS);
    for (unsigned deleted = 0; deleted <= ITEMS; deleted++) {
        plain_table t;
        plain_init(&t, ITEMS, buckets, 4);
        double random_sum = 0;
        double first_sum = 0;
        double all = 0;
        do {
            assert_int_equal(plain_fill(&t), 0);
            unsigned sets = 0, disturbed = 0, sets_first = 0, disturbed_first = 0;
            for (unsigned set = 0; set < 1u << ITEMS; set++) {
                unsigned size = 0;
                bool in_first = true;
                for (unsigned x = 0; x < ITEMS; x++) {
                    t.deleted[x] = set >> x & 1;
                    size += t.deleted[x];
                    in_first &= !t.deleted[x] || t.type[x] == 0;
                }
                if (size != deleted)
                    continue;
                const unsigned count = plain_disturbed(&t);
                sets++;
                disturbed += count;
                sets_first += in_first;
                disturbed_first += in_first ? count : 0;
            }
            all++;
            random_sum += (double)disturbed / sets;
            /* The paper's convention where the first sub-table has too few items. */
            first_sum += sets_first > 0 ? (double)disturbed_first / sets_first : ITEMS - deleted;
        } while (plain_next_places(&t));

        double moves;
        assert_ok(tamis_model_rebuild_random(ITEMS - deleted, deleted, buckets, 4, work.at,
                                             work.len, &moves));
        assert_close(moves, random_sum / all, 1e-11);
        assert_ok(tamis_model_rebuild_first(ITEMS - deleted, deleted, buckets, 4, work.at, work.len,
                                            &moves));
        assert_close(moves, first_sum / all, 1e-11);
        plain_free(&t);
    }
    free(work.at);
}

/* -------------------------------------------------------------------------------------------------
 * Simulation
 */

static void test_exact_moderate_tables_agree_with_simulation(void **unused) {
    (void)unused;
    static const struct {
        unsigned n;
        unsigned trials;
        unsigned n_tables;
        uint64_t buckets[TABLES_MAX];
    } cases[] = {
        {200, 20000, 3, {400, 80, 16}},
        {1000, 4000, 4, {1500, 500, 120, 12}},
        {10000, 400, 5, {10000, 5000, 2000, 500, 10}},
    };
    uint64_t state = test_seed();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const unsigned n = cases[c].n;
        const unsigned d = cases[c].n_tables;
        const workspace work = new_workspace(n);
        double items[TABLES_MAX];
        double crisis;
        assert_ok(tamis_model_multilevel_exact(n, cases[c].buckets, d, work.at, work.len, items,
                                               &crisis, NULL));
        plain_table t;
        plain_init(&t, n, cases[c].buckets, d);
        double sum[TABLES_MAX] = {0};
        double squares[TABLES_MAX] = {0};
        uint64_t crises = 0;
        for (unsigned trial = 0; trial < cases[c].trials; trial++) {
            plain_random_places(&t, &state);
            crises += plain_fill(&t) > 0;
            unsigned placed[TABLES_MAX] = {0};
            for (unsigned x = 0; x < n; x++)
                if (t.type[x] != NOWHERE)
                    placed[t.type[x]]++;
            for (unsigned i = 0; i < d; i++) {
                sum[i] += placed[i];
                squares[i] += (double)placed[i] * placed[i];
            }
        }
        for (unsigned i = 0; i < d; i++)
            assert_mean("items in a sub-table", sum[i], squares[i], cases[c].trials, items[i], 0);
        assert_rate("crises", crises, cases[c].trials, crisis, 0);
        plain_free(&t);
        free(work.at);
    }
}

/* The experiment of section XI-A: 9090 items stay, 909 go. */
static void test_rebuild_paper_table_agrees_with_simulation(void **unused) {
    (void)unused;
    enum { STAY = 9090, GO = 909, TRIALS = 1500 };
    const workspace work = new_workspace(STAY + GO);
    plain_table t;
    plain_init(&t, STAY + GO, table_10k, 5);
    uint64_t state = test_seed() + 2;
    for (int first = 0; first <= 1; first++) {
        double model;
        if (first)
            assert_ok(tamis_model_rebuild_first(STAY, GO, table_10k, 5, work.at, work.len, &model));
        else
            assert_ok(
                tamis_model_rebuild_random(STAY, GO, table_10k, 5, work.at, work.len, &model));
        double disturbed = 0, disturbed_squares = 0, moved = 0, moved_squares = 0;
        for (unsigned trial = 0; trial < TRIALS; trial++) {
            plain_random_places(&t, &state);
            assert_int_equal(plain_fill(&t), 0);
            for (unsigned left = GO; left > 0;) {
                const uint64_t x = test_random_below(&state, t.n);
                if (t.deleted[x] || (first && t.type[x] != 0))
                    continue;
                t.deleted[x] = true;
                left--;
            }
            const double count = plain_disturbed(&t);
            disturbed += count;
            disturbed_squares += count * count;
            const double moves = plain_rebuild(&t);
            moved += moves;
            moved_squares += moves * moves;
        }
        assert_mean(first ? "M', first" : "M', random", disturbed, disturbed_squares, TRIALS, model,
                    0);
        /* The printed means come from 100,000 trials with a spread of about 10. */
        assert_mean(first ? "M, first" : "M, random", moved, moved_squares, TRIALS,
                    first ? 114.25 : 96.98, 0.11);
        assert_true(moved < disturbed);
    }
    plain_free(&t);
    free(work.at);
}

/* -------------------------------------------------------------------------------------------------
 * Printed values
 */

static void test_items_tables_one_and_two_as_printed(void **unused) {
    (void)unused;
    static const double approx_printed[2][5] = {{8504.18, 1423.70, 71.78, 0.34, -3.00e-5},
                                                {8848.07, 1088.11, 63.42, 0.40, -4.80e-5}};
    static const double exact_printed[2][5] = {{8504.18, 1423.67, 71.80, 0.35, 1.62e-5},
                                               {8848.07, 1088.08, 63.45, 0.41, 3.37e-5}};
    uint64_t geometric[5];
    assert_ok(tamis_model_multilevel_sizes(10000, 3, 0.5, 5, geometric));
    static const uint64_t expected[5] = {30000, 15000, 7500, 3750, 1875};
    assert_memory_equal(geometric, expected, sizeof expected);

    const workspace work = new_workspace(10000);
    for (int table = 0; table < 2; table++) {
        const uint64_t *const buckets = table == 0 ? geometric : table_10k;
        double approx[5], exact[5], crisis;
        assert_ok(tamis_model_multilevel_approx(10000, buckets, 5, approx));
        assert_ok(tamis_model_multilevel_exact(10000, buckets, 5, work.at, work.len, exact, &crisis,
                                               NULL));
        for (int i = 0; i < 5; i++) {
            const double half = i < 4 ? 0.005 : 0.005e-5;
            assert_printed(approx[i], approx_printed[table][i], half);
            assert_printed(exact[i], exact_printed[table][i], half);
        }
        if (table == 1)
            assert_printed(crisis, 1.01e-12, 0.005e-12);
    }
    free(work.at);
}

static void test_exact_hundred_thousand_items_is_fast(void **unused) {
    (void)unused;
    const workspace work = new_workspace(100000);
    double items[6], crisis, neglected;
    const clock_t begin = clock();
    assert_ok(tamis_model_multilevel_exact(100000, table_100k, 6, work.at, work.len, items, &crisis,
                                           &neglected));
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("# crisis %.6e, neglected %.1e, %.2f s\n", crisis, neglected, seconds);
    /* The printed bound holds, far from tight. */
    assert_true(crisis < 7.78e-16 && crisis > 6e-24 && crisis < 7e-24);
    assert_true(neglected > 0 && neglected < 1e-90);
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += items[i];
    assert_close(sum, 100000, 1e-12);
    assert_true(seconds < 20); /* also unoptimised, with sanitizers, on a busy machine */
    free(work.at);
}

static void test_rebuild_expectations_as_printed(void **unused) {
    (void)unused;
    const workspace work = new_workspace(9999);
    double moves;
    assert_ok(tamis_model_rebuild_random(9090, 909, table_10k, 5, work.at, work.len, &moves));
    assert_printed(moves, 100.02, 0.005);
    assert_ok(tamis_model_rebuild_first(9090, 909, table_10k, 5, work.at, work.len, &moves));
    assert_printed(moves, 118.34, 0.005);
    free(work.at);
}

/* -------------------------------------------------------------------------------------------------
 * Edges
 */

static void test_items_extremes_have_known_answers(void **unused) {
    (void)unused;
    const workspace work = new_workspace(1000);
    double items[2], crisis, neglected;
    const uint64_t one[2] = {1, 1};
    const uint64_t huge[2] = {TAMIS_MULTILEVEL_BUCKETS_MAX, 1};

    assert_ok(
        tamis_model_multilevel_exact(0, one, 2, work.at, work.len, items, &crisis, &neglected));
    assert_true(items[0] == 0 && items[1] == 0 && crisis == 0 && neglected == 0);
    assert_ok(tamis_model_multilevel_approx(0, one, 2, items));
    assert_true(items[0] == 0 && items[1] == 0);

    /* One bucket takes one item and no more. */
    assert_ok(
        tamis_model_multilevel_exact(2, one, 2, work.at, work.len, items, &crisis, &neglected));
    assert_true(items[0] == 1 && items[1] == 1 && crisis == 0);
    assert_ok(
        tamis_model_multilevel_exact(1000, one, 2, work.at, work.len, items, &crisis, &neglected));
    assert_true(items[0] == 1 && items[1] == 1 && crisis == 1);
    assert_ok(tamis_model_multilevel_approx(1000, one, 2, items));
    assert_true(items[0] == 1 && items[1] == 1);

    /* In a huge table, a crisis is two collisions, each with the first of its pair. */
    assert_ok(tamis_model_multilevel_exact(1000, huge, 1, work.at, work.len, items, &crisis, NULL));
    assert_close(crisis, 1000.0 * 999 / 2 / (double)huge[0], 1e-6);

    /* Large n, approximate: the exponential form. */
    const uint64_t large[1] = {(uint64_t)1 << 40};
    assert_ok(tamis_model_multilevel_approx((double)large[0], large, 1, items));
    assert_close(items[0], (double)large[0] * -expm1(-1), 1e-11);

    assert_ok(tamis_model_rebuild_random(0, 10, one, 2, work.at, work.len, &crisis));
    assert_true(crisis == 0);
    assert_ok(tamis_model_rebuild_random(10, 0, one, 2, work.at, work.len, &crisis));
    assert_true(crisis == 0);
    assert_ok(tamis_model_rebuild_first(0, 0, one, 2, work.at, work.len, &crisis));
    assert_true(crisis == 0);
    free(work.at);
}

static void test_sizes_round_up_but_not_by_noise(void **unused) {
    (void)unused;
    uint64_t buckets[3];
    assert_ok(tamis_model_multilevel_sizes(30, 0.1, 0.1, 3, buckets));
    assert_true(buckets[0] == 3 && buckets[1] == 1 && buckets[2] == 1);
    assert_ok(tamis_model_multilevel_sizes(10, 1.01, 0.5, 2, buckets));
    assert_true(buckets[0] == 11 && buckets[1] == 6);
}

static void test_level_outside_domain_leaves_results(void **unused) {
    (void)unused;
    const workspace work = new_workspace(10);
    double waiting[11] = {0};
    double neglected = 0;
    waiting[10] = NAN;
    assert_status(tamis_model_multilevel_level(10, 5, waiting, NULL, work.at, work.len, &neglected),
                  TAMIS_E_DOMAIN);
    waiting[10] = -0.5;
    assert_status(tamis_model_multilevel_level(10, 5, waiting, NULL, work.at, work.len, &neglected),
                  TAMIS_E_DOMAIN);
    waiting[10] = 2;
    assert_status(tamis_model_multilevel_level(10, 5, waiting, NULL, work.at, work.len, &neglected),
                  TAMIS_E_DOMAIN);
    waiting[10] = 1;
    assert_status(tamis_model_multilevel_level(10, 0, waiting, NULL, work.at, work.len, &neglected),
                  TAMIS_E_DOMAIN);
    assert_status(
        tamis_model_multilevel_level(10, 5, waiting, NULL, work.at, work.len - 1, &neglected),
        TAMIS_E_ARGUMENT);
    assert_true(waiting[10] == 1 && neglected == 0);
    free(work.at);
}

static void test_arguments_outside_domain_leave_results(void **unused) {
    (void)unused;
    const workspace work = new_workspace(10);
    const uint64_t good[2] = {10, 5};
    const uint64_t empty[2] = {10, 0};
    const uint64_t large[2] = {TAMIS_MULTILEVEL_BUCKETS_MAX + 1, 5};
    const uint64_t beyond = TAMIS_MULTILEVEL_ITEMS_MAX + 1;
    double items[2] = {42, 42};
    double a = 42, b = 42;
    uint64_t bytes = 42;

    assert_int_equal(tamis_model_multilevel_work(beyond), 0);
    const bad_call bad[] = {
        {10, empty, 2, work.len, TAMIS_E_DOMAIN},
        {10, large, 2, work.len, TAMIS_E_DOMAIN},
        {10, good, 0, work.len, TAMIS_E_DOMAIN},
        {10, good, TAMIS_MULTILEVEL_TABLES_MAX + 1, work.len, TAMIS_E_DOMAIN},
        {beyond, good, 2, SIZE_MAX, TAMIS_E_DOMAIN},
        {UINT64_MAX, good, 2, SIZE_MAX, TAMIS_E_DOMAIN},
        {10, good, 2, work.len - 1, TAMIS_E_ARGUMENT},
        {11, good, 2, work.len, TAMIS_E_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(tamis_model_multilevel_exact(bad[i].n, bad[i].buckets, bad[i].n_tables,
                                                   work.at, bad[i].work_len, items, &a, &b),
                      bad[i].status);
        assert_status(tamis_model_rebuild_random(bad[i].n, 0, bad[i].buckets, bad[i].n_tables,
                                                 work.at, bad[i].work_len, &a),
                      bad[i].status);
        assert_status(tamis_model_rebuild_first(0, bad[i].n, bad[i].buckets, bad[i].n_tables,
                                                work.at, bad[i].work_len, &a),
                      bad[i].status);
    }
    assert_status(tamis_model_rebuild_random(UINT64_MAX, 1, good, 2, work.at, work.len, &a),
                  TAMIS_E_DOMAIN);

    assert_status(tamis_model_multilevel_approx(NAN, good, 2, items), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_approx(-1, good, 2, items), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_approx(INFINITY, good, 2, items), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_approx(5, empty, 2, items), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_sizes(10, NAN, 0.5, 1, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_sizes(10, 3, NAN, 1, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_sizes(10, 3, 1.5, 1, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_sizes(10, 3, 0, 1, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_sizes(10, 1e300, 1, 1, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_multilevel_sizes(0, 3, 0.5, 1, &bytes), TAMIS_E_DOMAIN);

    assert_true(items[0] == 42 && items[1] == 42 && a == 42 && b == 42 && bytes == 42);
    free(work.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_any_table_keeps_mass_and_mean),
        cmocka_unit_test(test_exact_small_crisis_keeps_relative_accuracy),
        cmocka_unit_test(test_exact_tiny_tables_equal_enumeration),
        cmocka_unit_test(test_rebuild_tiny_tables_equal_enumeration),
        cmocka_unit_test(test_exact_moderate_tables_agree_with_simulation),
        cmocka_unit_test(test_rebuild_paper_table_agrees_with_simulation),
        cmocka_unit_test(test_items_tables_one_and_two_as_printed),
        cmocka_unit_test(test_exact_hundred_thousand_items_is_fast),
        cmocka_unit_test(test_rebuild_expectations_as_printed),
        cmocka_unit_test(test_items_extremes_have_known_answers),
        cmocka_unit_test(test_sizes_round_up_but_not_by_noise),
        cmocka_unit_test(test_level_outside_domain_leaves_results),
        cmocka_unit_test(test_arguments_outside_domain_leave_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
