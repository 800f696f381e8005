/* test_model_multilevel_summary.c - models of the summaries of a multilevel hash table
 *
 * Filters are simulated beside a table; the birthday problem is multiplied out; everything is
 * compared with the numbers that the paper prints.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plain_multilevel.h"

#include "tamis/model.h"

enum { SMALL_ITEMS = 300, SMALL_TABLES = 3, CELLS_MAX = 2000 };

typedef struct small_filters {
    bool single;
    uint64_t cells[SMALL_TABLES];
    unsigned hashes[SMALL_TABLES];
} small_filters;

/* How many items of the table the filters mistake.  An item of type i asks filter i + 1, which holds
 * the later types.  A single filter is as good as one per type with the same hashes. */
static unsigned count_mistaken(const plain_table *t, const small_filters *filters,
                               uint64_t hash_seed) {
    unsigned mistaken = 0;
    for (unsigned i = 0; i + 1 < SMALL_TABLES; i++) {
        const uint64_t cells = filters->cells[i + 1];
        const unsigned hashes = filters->hashes[i + 1];
        bool set[CELLS_MAX] = {false};
        for (int pass = 0; pass < 2; pass++)
            for (unsigned x = 0; x < SMALL_ITEMS; x++) {
                const int type = t->type[x] == NOWHERE ? SMALL_TABLES : t->type[x];
                if (pass == 0 ? type <= (int)i : type != (int)i)
                    continue;
                uint64_t hash = hash_seed + x * 0x632be59bd9b4e019u;
                if (!filters->single)
                    hash += i * 0x9e3779b97f4a7c15u * 1000;
                bool all_set = true;
                for (unsigned h = 0; h < hashes; h++) {
                    const uint64_t part = cells / hashes;
                    const uint64_t cell = h * part + test_random_below(&hash, part);
                    all_set &= set[cell];
                    set[cell] |= pass == 0;
                }
                mistaken += pass == 1 && all_set;
            }
    }
    return mistaken;
}

/* The number of items that the filters mistake has exactly the mean that the union bound adds up;
 * the probability that there is one is below it. */
static void test_summary_small_filters_agree_with_simulation(void **unused) {
    (void)unused;
    enum { TRIALS = 6000 };
    static const uint64_t buckets[SMALL_TABLES] = {600, 300, 100};
    static const small_filters cases[] = {
        {true, {1000, 1000, 1000}, {10, 10, 10}},
        {false, {2000, 1200, 100}, {7, 12, 5}},
    };
    uint64_t state = test_seed() + 1;
    const workspace work = new_workspace(SMALL_ITEMS);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double failure, crisis;
        if (cases[c].single)
            assert_ok(tamis_model_summary_single(SMALL_ITEMS, buckets, SMALL_TABLES,
                                                 cases[c].cells[0], cases[c].hashes[0], work.at,
                                                 work.len, &failure, &crisis, NULL));
        else
            assert_ok(tamis_model_summary_multiple(SMALL_ITEMS, buckets, SMALL_TABLES,
                                                   cases[c].cells, cases[c].hashes, work.at,
                                                   work.len, &failure, &crisis, NULL));
        plain_table t;
        plain_init(&t, SMALL_ITEMS, buckets, SMALL_TABLES);
        double sum = 0;
        double squares = 0;
        uint64_t failures = 0;
        for (unsigned trial = 0; trial < TRIALS; trial++) {
            plain_random_places(&t, &state);
            (void)plain_fill(&t);
            const unsigned mistaken = count_mistaken(&t, &cases[c], test_random(&state));
            sum += mistaken;
            squares += (double)mistaken * mistaken;
            failures += mistaken > 0;
        }
        assert_mean(cases[c].single ? "mistaken, single filter" : "mistaken, multiple filters", sum,
                    squares, TRIALS, failure, 0);
        assert_true((double)failures / TRIALS < failure * 1.1);
        assert_true(failure < 0.5);
        plain_free(&t);
    }
    free(work.at);
}

static void test_summary_table_three_as_printed(void **unused) {
    (void)unused;
    static const uint64_t bits_10k[5] = {106000, 87500, 5500, 500, 100};
    static const uint64_t bits_100k[6] = {1060000, 875000, 550000, 1000, 1000, 1000};
    static const unsigned hashes[6] = {7, 49, 49, 49, 49, 49};
    const workspace work = new_workspace(100000);
    double failure, crisis, fpr;

    assert_ok(tamis_model_summary_single(10000, table_10k, 5, 120000, 15, work.at, work.len,
                                         &failure, &crisis, NULL));
    assert_printed(failure + crisis, 7.64e-10, 0.005e-10);
    assert_ok(tamis_model_summary_single(10000, table_10k, 5, 100000, 10, work.at, work.len,
                                         &failure, NULL, NULL));
    assert_printed(failure, 2.1e-6, 0.05e-6);
    assert_ok(tamis_model_summary_single(100000, table_100k, 6, 1200000, 15, work.at, work.len,
                                         &failure, &crisis, NULL));
    assert_printed(failure + crisis, 7.27e-9, 0.005e-9);
    assert_ok(tamis_model_summary_multiple(10000, table_10k, 5, bits_10k, hashes, work.at, work.len,
                                           &failure, &crisis, NULL));
    assert_printed(failure + crisis, 4.97e-12, 0.005e-12);
    assert_ok(tamis_model_summary_multiple(100000, table_100k, 6, bits_100k, hashes, work.at,
                                           work.len, &failure, &crisis, NULL));
    assert_printed(failure + crisis, 1.38e-11, 0.005e-11);
    free(work.at);

    assert_ok(tamis_model_summary_interpolation(10000, 55, &failure, &fpr));
    assert_printed(failure, 1.39e-9, 0.005e-9);
    assert_printed(fpr, 2.78e-13, 0.005e-13);
    assert_ok(tamis_model_summary_interpolation(100000, 61, &failure, &fpr));
    assert_printed(failure, 2.17e-9, 0.005e-9);
    assert_printed(fpr, 4.34e-14, 0.005e-14);

    uint64_t bytes;
    assert_ok(tamis_model_song(10000, 131072, 10, 3, &fpr, &crisis, &bytes));
    assert_printed(fpr, 0.002, 0.0005);
    assert_int_equal(bytes, 49152);
    assert_true(crisis == 1); /* "not particularly effective" without the heuristics */
}

/* Moves of each insertion, one after the other, with the sums written out. */
static double song_moves_one_by_one(unsigned n, double buckets, unsigned hashes) {
    double all = 0;
    for (unsigned k = 1; k < n; k++) {
        const double mean = (k - 1) * hashes / buckets;
        double tails[64] = {0}, terms[64], stays = 0;
        for (int j = 61; j >= 0; j--) {
            terms[j] = mean > 0 ? exp(j * log(mean) - mean - lgamma(j + 1.0)) : j == 0;
            tails[j] = tails[j + 1] + terms[j];
        }
        for (unsigned j = 0; j < 60; j++)
            for (unsigned t = 0; t < hashes; t++)
                stays += terms[j] * pow(tails[j + 2], t) * pow(tails[j + 1], hashes - 1 - t);
        all += k * hashes / buckets * (1 - stays);
    }
    return all / n;
}

static void test_song_moves_are_the_sum_over_insertions(void **unused) {
    (void)unused;
    double moves;
    assert_ok(tamis_model_song_moves(2000, 26214, 10, &moves));
    assert_printed(moves, song_moves_one_by_one(2000, 26214, 10), 0.0005);
    assert_ok(tamis_model_song_moves(2000, 8000, 3, &moves));
    assert_printed(moves, song_moves_one_by_one(2000, 8000, 3), 0.0005);
    assert_ok(tamis_model_song_moves(2000, 300, 2, &moves));
    assert_printed(moves, song_moves_one_by_one(2000, 300, 2), 0.0005 * moves);
    assert_ok(tamis_model_song_moves(1000, 500, 1, &moves)); /* nowhere to go */
    assert_true(fabs(moves) < 1e-12);
    double large;
    assert_ok(tamis_model_song_moves(10000, 131072, 10, &moves));
    assert_ok(tamis_model_song_moves((uint64_t)10000 << 20, (uint64_t)131072 << 20, 10, &large));
    assert_true(moves == large);
}

static void test_summary_bytes_as_printed(void **unused) {
    (void)unused;
    static const uint64_t bits_10k[5] = {106000, 87500, 5500, 500, 100};
    static const unsigned wide[5] = {4, 4, 4, 4, 2};
    static const unsigned narrow[5] = {4, 4, 4, 3, 1};
    uint64_t bytes;
    assert_ok(tamis_model_summary_interpolation_bytes(10000, 55, table_10k, 5, &bytes));
    assert_int_equal(bytes, 80000);
    assert_ok(tamis_model_summary_interpolation_bytes(100000, 61, table_100k, 6, &bytes));
    assert_int_equal(bytes, 875000);
    assert_ok(tamis_model_summary_single_bytes(120000, NULL, table_10k, 5, &bytes));
    assert_int_equal(bytes, 47500);
    assert_ok(tamis_model_summary_single_bytes(1200000, NULL, table_100k, 6, &bytes));
    assert_int_equal(bytes, 525000);
    assert_ok(tamis_model_summary_single_bytes(120000, wide, table_10k, 5, &bytes));
    assert_int_equal(bytes, 120000 * 18 / 8 + 7500);
    assert_ok(tamis_model_summary_multiple_bytes(bits_10k, NULL, table_10k, 5, &bytes));
    assert_int_equal(bytes, 32450);
    assert_ok(tamis_model_summary_multiple_bytes(bits_10k, wide, table_10k, 5, &bytes));
    assert_int_equal(bytes, 99775 + 7500);
    assert_ok(tamis_model_summary_multiple_bytes(bits_10k, narrow, table_10k, 5, &bytes));
    assert_int_equal(bytes, 99700 + 7500);
}

static void test_interpolation_birthday_equals_the_product(void **unused) {
    (void)unused;
    static const struct {
        uint64_t n;
        unsigned bits;
    } cases[] = {{2, 1},     {3, 2},     {4, 2},       {23, 9},      {4096, 40},   {4097, 40},
                 {5000, 14}, {6000, 15}, {100000, 24}, {100000, 33}, {300000, 128}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        long double log_distinct = 0;
        const long double strings = ldexpl(1, (int)cases[c].bits);
        for (uint64_t i = 1; i < cases[c].n; i++)
            log_distinct += log1pl(-(long double)i / strings);
        double failure, fpr;
        assert_ok(tamis_model_summary_interpolation(cases[c].n, cases[c].bits, &failure, &fpr));
        assert_close(failure, (double)-expm1l(log_distinct), 1e-12);
        assert_close(fpr, (double)-expm1l((long double)cases[c].n * log1pl(-1 / strings)), 1e-12);
    }
    double failure, fpr;
    assert_ok(tamis_model_summary_interpolation(0, 10, &failure, &fpr));
    assert_true(failure == 0 && fpr == 0);
    assert_ok(tamis_model_summary_interpolation(1, 10, &failure, &fpr));
    assert_true(failure == 0);
    assert_ok(tamis_model_summary_interpolation(5, 2, &failure, &fpr));
    assert_true(failure == 1);
    assert_ok(tamis_model_summary_interpolation(UINT64_MAX, 64, &failure, &fpr));
    assert_true(failure == 1);
    failure = fpr = 42;
    assert_status(tamis_model_summary_interpolation(5, 0, &failure, &fpr), TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_interpolation(5, 129, &failure, &fpr), TAMIS_E_DOMAIN);
    assert_true(failure == 42 && fpr == 42);
}

/* One walk through the sub-tables judges filters as the summaries do. */
static void test_failure_of_one_level_adds_up(void **unused) {
    (void)unused;
    enum { ITEMS = 2000, TABLES = 4 };
    static const uint64_t buckets[TABLES] = {4000, 1000, 300, 100};
    static const uint64_t bits[TABLES] = {20000, 9000, 2000, 500};
    static const unsigned hashes[TABLES] = {7, 20, 20, 20};
    const workspace work = new_workspace(ITEMS);
    double *const waiting = new_doubles(ITEMS + 1);
    double *const placed = new_doubles(ITEMS + 1);
    double sum = 0;
    double neglected = 0;
    waiting[ITEMS] = 1;
    for (unsigned i = 0; i + 1 < TABLES; i++) {
        assert_ok(tamis_model_multilevel_level(ITEMS, buckets[i], waiting, placed, work.at,
                                               work.len, &neglected));
        double odds;
        assert_ok(tamis_model_summary_failure(ITEMS, placed, bits[i + 1], hashes[i + 1], &odds));
        sum += odds;
    }
    double failure, crisis, all_neglected;
    assert_ok(tamis_model_summary_multiple(ITEMS, buckets, TABLES, bits, hashes, work.at, work.len,
                                           &failure, &crisis, &all_neglected));
    assert_close(failure, sum, 1e-14);
    assert_true(failure > 0 && failure < 1);
    assert_ok(tamis_model_multilevel_level(ITEMS, buckets[TABLES - 1], waiting, NULL, work.at,
                                           work.len, &neglected));
    assert_close(all_neglected, neglected, 1e-14);
    double left = 0;
    for (unsigned x = ITEMS; x > 0; x--)
        left += waiting[x];
    assert_close(crisis, left, 1e-14);
    free(work.at);
    free(waiting);
    free(placed);
}

static void test_failure_extremes_have_known_answers(void **unused) {
    (void)unused;
    const uint64_t buckets[2] = {1, 1};
    const workspace work = new_workspace(2);
    double failure;
    /* No items, one sub-table: nothing to be mistaken. */
    assert_ok(
        tamis_model_summary_single(0, buckets, 2, 100, 5, work.at, work.len, &failure, NULL, NULL));
    assert_true(failure == 0);
    assert_ok(
        tamis_model_summary_single(2, buckets, 1, 100, 5, work.at, work.len, &failure, NULL, NULL));
    assert_true(failure == 0);
    /* One item in each: the first is mistaken if the second hits its cells, one in 10 for each. */
    assert_ok(
        tamis_model_summary_single(2, buckets, 2, 30, 3, work.at, work.len, &failure, NULL, NULL));
    assert_close(failure, 1e-3, 1e-13);
    /* A union bound past 1 says nothing. */
    const double placed[3] = {0, 500, 500};
    assert_ok(tamis_model_summary_failure(2, placed, 3, 2, &failure));
    assert_true(failure == 1);
    free(work.at);
}

static void test_summary_outside_domain_leaves_results(void **unused) {
    (void)unused;
    const workspace work = new_workspace(10);
    const uint64_t good[2] = {10, 5};
    const uint64_t empty[2] = {10, 0};
    const unsigned two[2] = {2, 2};
    const uint64_t bits[2] = {100, 100};
    const unsigned too_many[2] = {2, 100};
    double a = 42, b = 42, c = 42;
    uint64_t bytes = 42;
    const bad_call bad[] = {
        {10, empty, 2, work.len, TAMIS_E_DOMAIN},
        {10, good, 0, work.len, TAMIS_E_DOMAIN},
        {10, good, TAMIS_MULTILEVEL_TABLES_MAX + 1, work.len, TAMIS_E_DOMAIN},
        {TAMIS_MULTILEVEL_ITEMS_MAX + 1, good, 2, SIZE_MAX, TAMIS_E_DOMAIN},
        {10, good, 2, work.len - 1, TAMIS_E_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(tamis_model_summary_single(bad[i].n, bad[i].buckets, bad[i].n_tables, 100, 2,
                                                 work.at, bad[i].work_len, &a, &b, &c),
                      bad[i].status);
        assert_status(tamis_model_summary_multiple(bad[i].n, bad[i].buckets, bad[i].n_tables, bits,
                                                   two, work.at, bad[i].work_len, &a, &b, &c),
                      bad[i].status);
    }
    assert_status(tamis_model_summary_single(10, good, 2, 100, 0, work.at, work.len, &a, &b, &c),
                  TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_single(10, good, 2, 5, 5, work.at, work.len, &a, &b, &c),
                  TAMIS_E_DOMAIN);
    assert_status(
        tamis_model_summary_multiple(10, good, 2, bits, too_many, work.at, work.len, &a, &b, &c),
        TAMIS_E_DOMAIN);

    double placed[11] = {0};
    assert_status(tamis_model_summary_failure(10, placed, 5, 5, &a), TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_failure(10, placed, 5, 0, &a), TAMIS_E_DOMAIN);
    placed[3] = NAN;
    assert_status(tamis_model_summary_failure(10, placed, 50, 5, &a), TAMIS_E_DOMAIN);

    const unsigned no_width[2] = {4, 0};
    assert_status(tamis_model_summary_interpolation_bytes(UINT64_MAX, 55, good, 2, &bytes),
                  TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_interpolation_bytes(10, 55, good, 0, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_single_bytes(0, NULL, good, 2, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_single_bytes(10, no_width, good, 2, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_multiple_bytes(good, no_width, good, 2, &bytes),
                  TAMIS_E_DOMAIN);
    assert_status(tamis_model_summary_multiple_bytes(good, NULL, empty, 2, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song(10, 0, 10, 3, &a, &c, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song(10, 100, 0, 3, &a, &c, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song(10, UINT64_MAX, 1, 3, &a, &c, &bytes), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song_moves(0, 100, 10, &a), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song_moves(10, 0, 10, &a), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song_moves(10, 100, 0, &a), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song_moves(10, 100, 65, &a), TAMIS_E_DOMAIN);
    assert_status(tamis_model_song_moves(1001, 100, 10, &a), TAMIS_E_DOMAIN);

    assert_true(a == 42 && b == 42 && c == 42 && bytes == 42);
    free(work.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_small_filters_agree_with_simulation),
        cmocka_unit_test(test_summary_table_three_as_printed),
        cmocka_unit_test(test_song_moves_are_the_sum_over_insertions),
        cmocka_unit_test(test_summary_bytes_as_printed),
        cmocka_unit_test(test_interpolation_birthday_equals_the_product),
        cmocka_unit_test(test_failure_of_one_level_adds_up),
        cmocka_unit_test(test_failure_extremes_have_known_answers),
        cmocka_unit_test(test_summary_outside_domain_leaves_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
