/* test_dleft_counting.c - the d-left counting filter in tables so small that everything collides
 *
 * SPDX-License-Identifier: MIT
 */
#include "small_multiset.h"

#include <math.h>

static tamis_params shape(uint64_t capacity, uint64_t seed) {
    const tamis_params params = test_bare_params(TAMIS_KIND_DLEFT_COUNTING, capacity, seed);
    return params;
}

/* Few fingerprints, full buckets, moves and a stash. */
static void test_dleft_counting_no_removal_is_ambiguous(void **state) {
    (void)state;
    uint64_t random = test_seed();
    small_tally tally = {0};
    for (unsigned round = 0; round < 3000; round++) {
        tamis_params params = shape(SMALL_KEYS, round + 1);
        params.stash = 1 + random % 5;
        params.value[TAMIS_DLEFT_COUNTING_SUBTABLES] = 2 + test_random_below(&random, 3);
        params.value[TAMIS_DLEFT_COUNTING_BUCKETS] = 1 + test_random_below(&random, 3);
        params.value[TAMIS_DLEFT_COUNTING_CELLS] = 2 + test_random_below(&random, 3);
        params.value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] = 1 + test_random_below(&random, 5);
        params.value[TAMIS_DLEFT_COUNTING_COUNTER_BITS] = 1 + test_random_below(&random, 2);
        params.value[TAMIS_DLEFT_COUNTING_MOVES] = random % 4 == 0 ? TAMIS_NONE : 1 + random % 3;
        small_multiset_run(&params, &random, &tally);
    }
    print_message("# %llu calls, %llu refused, %llu keys in stashes at the end\n",
                  (unsigned long long)tally.calls, (unsigned long long)tally.full,
                  (unsigned long long)tally.stashed);
    assert_true(tally.full > 1000 && tally.stashed > 1000);
}

/* Two keys of one fingerprint, found by trying; one goes to the table, one to the stash. */
static void test_dleft_counting_twin_in_the_stash_is_told_apart(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        tamis_params params = shape(10, seed);
        params.value[TAMIS_DLEFT_COUNTING_SUBTABLES] = 2;
        params.value[TAMIS_DLEFT_COUNTING_BUCKETS] = 1;
        params.value[TAMIS_DLEFT_COUNTING_CELLS] = 2;
        params.value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] = 3;
        params.value[TAMIS_DLEFT_COUNTING_COUNTER_BITS] = 1;
        tamis_filter *const f = small_make(&params);
        uint64_t twin = 1;
        assert_ok(tamis_filter_insert_u64(f, 0, NULL));
        while (!tamis_filter_contains_u64(f, twin))
            twin++;
        /* Fill all four cells with others, then the twin finds no room. */
        for (uint64_t other = 1000; tamis_filter_count(f) < 4; other++)
            if (!tamis_filter_contains_u64(f, other))
                assert_ok(tamis_filter_insert_u64(f, other, NULL));
        assert_ok(tamis_filter_insert_u64(f, twin, NULL));
        assert_int_equal(small_stash_used(f), 1);
        assert_int_equal(tamis_filter_copies_u64(f, 0), 1);
        assert_int_equal(tamis_filter_copies_u64(f, twin), 2);
        if (seed % 2 == 0) {
            assert_ok(tamis_filter_remove_u64(f, twin));
            assert_int_equal(small_stash_used(f), 0);
            assert_true(tamis_filter_contains_u64(f, 0));
        } else {
            assert_ok(tamis_filter_remove_u64(f, 0));
            assert_true(tamis_filter_contains_u64(f, twin));
            assert_false(tamis_filter_contains_u64(f, 0)); /* the stash knows whole digests */
            assert_ok(tamis_filter_remove_u64(f, twin));
        }
        tamis_filter_free(f);
    }
}

static void test_dleft_counting_heavy_key_leaves_room_for_others(void **state) {
    (void)state;
    const tamis_params params = shape(1000, 3);
    small_heavy_key(&params);
}

/* Copies take further cells; an absent key is taken for one that is in no more often for it.  Then half of
 * the keys go and some copies of the others.  Two-sided intervals of 99.9 % each. */
static void test_dleft_counting_error_rate_counts_keys_not_cells(void **state) {
    (void)state;
    enum { KEYS = 1500, QUERIES = 50000 };
    static const unsigned copies[] = {1, 4, 12, 40}, counter_bits[] = {1, 2, 4};
    for (unsigned i = 0; i < 4 * 3; i++) {
        const unsigned n_copies = copies[i % 4];
        tamis_params params = shape(4 * KEYS, test_seed() + i);
        params.value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] = 5;
        params.value[TAMIS_DLEFT_COUNTING_COUNTER_BITS] = counter_bits[i / 4];
        params.stash = KEYS;
        tamis_filter *const f = small_make(&params);
        for (unsigned c = 0; c < n_copies; c++)
            for (uint64_t key = 0; key < KEYS; key++)
                assert_ok(tamis_filter_insert_u64(f, key, NULL));
        for (unsigned part = 0; part < 2; part++) {
            tamis_info info;
            tamis_info_init(&info);
            assert_ok(tamis_filter_info(f, &info));
            uint64_t hits = 0;
            char what[100];
            for (uint64_t key = KEYS; key < KEYS + QUERIES; key++)
                hits += tamis_filter_contains_u64(f, key);
            snprintf(what, sizeof what, "%u copies%s, counters of %u bits", n_copies,
                     part == 0 ? "" : " of half the keys", counter_bits[i / 4]);
            assert_rate(what, hits, QUERIES, info.fpr, 0);
            for (uint64_t key = 0; part == 0 && key < KEYS; key++)
                for (unsigned c = 0; c < (key % 2 == 0 ? n_copies : n_copies / 3); c++)
                    assert_ok(tamis_filter_remove_u64(f, key));
        }
        tamis_filter_free(f);
    }
}

static void test_dleft_counting_bad_parameters_are_refused(void **state) {
    (void)state;
    static const small_bad bad[] = {{TAMIS_DLEFT_COUNTING_SUBTABLES, 1},
                                    {TAMIS_DLEFT_COUNTING_SUBTABLES, 5},
                                    {TAMIS_DLEFT_COUNTING_SUBTABLES, UINT64_MAX},
                                    {TAMIS_DLEFT_COUNTING_BUCKETS, ((uint64_t)1 << 38) + 1},
                                    {TAMIS_DLEFT_COUNTING_CELLS, 1},
                                    {TAMIS_DLEFT_COUNTING_CELLS, 17},
                                    {TAMIS_DLEFT_COUNTING_CELLS, UINT64_MAX},
                                    {TAMIS_DLEFT_COUNTING_REMAINDER_BITS, 33},
                                    {TAMIS_DLEFT_COUNTING_COUNTER_BITS, 9},
                                    {TAMIS_DLEFT_COUNTING_MOVES, 9},
                                    {TAMIS_DLEFT_COUNTING_MOVES, 256}};
    static const small_bad wide[] = {
        {TAMIS_DLEFT_COUNTING_CELLS, 16}}; /* 16 * (32 + 2) bits: over a line */
    tamis_params params = shape(100, 1);
    small_refused(&params, bad, sizeof bad / sizeof bad[0]);
    params.value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] = 32;
    small_refused(&params, wide, 1);
    tamis_filter_free(small_make(&params)); /* eight of them fit */
}

static unsigned more(unsigned keys, unsigned cells) {
    return keys > cells ? keys - cells : 0;
}

static unsigned larger(unsigned a, unsigned b) {
    return a > b ? a : b;
}

/* Moves reach every arrangement of so small a table: a key goes to the stash only if there is none
 * with room for it.  With two buckets of two cells in each subtable, n[a][b] keys that have bucket
 * a of the first and b of the second: how many are left over (Hall's theorem), and the mean over
 * all 4^KEYS ways to draw them. */
static void test_dleft_counting_moves_find_room_if_there_is_any(void **state) {
    (void)state;
    enum { KEYS = 8, FILTERS = 5000 };
    double mean = 0, square = 0;
    for (unsigned draw = 0; draw < 1u << 2 * KEYS; draw++) {
        unsigned n[2][2] = {{0}};
        for (unsigned i = 0; i < KEYS; i++)
            n[draw >> 2 * i & 1][draw >> (2 * i + 1) & 1]++;
        unsigned left = more(KEYS, 8);
        for (unsigned a = 0; a < 2; a++) {
            left = larger(left, more(n[a][0] + n[a][1], 6));
            left = larger(left, more(n[0][a] + n[1][a], 6));
            for (unsigned b = 0; b < 2; b++)
                left = larger(left, more(n[a][b], 4));
        }
        mean += ldexp(left, -2 * KEYS);
        square += ldexp(left * left, -2 * KEYS);
    }
    double stashed = 0;
    for (uint64_t seed = 1; seed <= FILTERS; seed++) {
        tamis_params params = shape(10, seed);
        params.stash = 10;
        params.value[TAMIS_DLEFT_COUNTING_SUBTABLES] = params.value[TAMIS_DLEFT_COUNTING_BUCKETS] =
            2;
        params.value[TAMIS_DLEFT_COUNTING_CELLS] = 2;
        params.value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] =
            30; /* no two keys have one fingerprint */
        params.value[TAMIS_DLEFT_COUNTING_MOVES] = 3;
        tamis_filter *const f = small_make(&params);
        for (uint64_t i = 0; i < KEYS; i++)
            assert_ok(tamis_filter_insert_u64(f, i, NULL));
        stashed += (double)small_stash_used(f);
        tamis_filter_free(f);
    }
    const double wide = 3.29 * sqrt((square - mean * mean) / FILTERS);
    print_message("# keys in the stash: %.4f, expected %.4f +- %.4f (99.9 %%)\n", stashed / FILTERS,
                  mean, wide);
    assert_true(fabs(stashed / FILTERS - mean) < wide);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dleft_counting_no_removal_is_ambiguous),
        cmocka_unit_test(test_dleft_counting_twin_in_the_stash_is_told_apart),
        cmocka_unit_test(test_dleft_counting_heavy_key_leaves_room_for_others),
        cmocka_unit_test(test_dleft_counting_error_rate_counts_keys_not_cells),
        cmocka_unit_test(test_dleft_counting_moves_find_room_if_there_is_any),
        cmocka_unit_test(test_dleft_counting_bad_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
