/* test_dleft_counting.c - the d-left counting filter in tables so small that everything collides
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

enum { KEYS = 24 };

static tamis_params shape(uint64_t capacity, uint64_t seed) {
    tamis_params params;
    tamis_params_init(&params);
    params.kind = TAMIS_KIND_DLEFT_COUNTING;
    params.capacity = capacity;
    params.seed = seed;
    return params;
}

static tamis_filter *make(const tamis_params *params) {
    tamis_filter *f;
    assert_ok(tamis_filter_create(params, NULL, &f));
    return f;
}

static uint64_t stash_used(const tamis_filter *f) {
    tamis_info info;
    tamis_info_init(&info);
    assert_ok(tamis_filter_info(f, &info));
    return info.stash_used;
}

/* Search for a counter-example to "removal is never ambiguous": tables with so few fingerprints that
 * most keys share theirs, full buckets, moves and a stash; any key that is in must be found, and all must
 * be gone in the end. */
static void test_dleft_counting_no_removal_is_ambiguous(void **state) {
    (void)state;
    uint64_t random = test_seed(), calls = 0, stashed = 0, full = 0;
    for (unsigned round = 0; round < 3000; round++) {
        tamis_params params = shape(KEYS, round + 1);
        params.stash = 1 + random % 5;
        params.value[TAMIS_DLCBF_SUBTABLES] = 2 + test_random_below(&random, 3);
        params.value[TAMIS_DLCBF_BUCKETS] = 1 + test_random_below(&random, 3);
        params.value[TAMIS_DLCBF_CELLS] = 2 + test_random_below(&random, 3);
        params.value[TAMIS_DLCBF_REMAINDER_BITS] = 1 + test_random_below(&random, 5);
        params.value[TAMIS_DLCBF_COUNTER_BITS] = 1 + test_random_below(&random, 2);
        params.value[TAMIS_DLCBF_MOVES] = random % 4 == 0 ? TAMIS_NONE : 1 + random % 3;
        tamis_filter *const f = make(&params);
        unsigned copies[KEYS] = {0};
        uint64_t count = 0;
        for (unsigned step = 0; step < 200; step++) {
            const uint64_t key = test_random_below(&random, KEYS);
            if (test_random(&random) % 2 == 0) {
                const tamis_status status = tamis_filter_insert_u64(f, key, NULL);
                if (status != TAMIS_E_FULL) {
                    assert_ok(status);
                    copies[key]++;
                    count++;
                }
                full += status == TAMIS_E_FULL;
            } else if (copies[key] > 0) {
                assert_ok(tamis_filter_remove_u64(f, key));
                copies[key]--;
                count--;
            }
            assert_int_equal(tamis_filter_count(f), count);
            for (unsigned i = 0; i < KEYS; i++)
                assert_true(tamis_filter_copies_u64(f, i) >= copies[i]);
            calls++;
        }
        stashed += stash_used(f);
        for (unsigned i = 0; i < KEYS; i++)
            for (; copies[i] > 0; copies[i]--)
                assert_ok(tamis_filter_remove_u64(f, i));
        for (unsigned i = 0; i < KEYS; i++)
            assert_false(tamis_filter_contains_u64(f, i));
        size_t size;
        unsigned char *const bytes = test_encoded(f, &size);
        tamis_filter_free(f);
        for (size_t i = 256; i < size; i++) /* the body is that of an empty filter */
            assert_int_equal(bytes[i], 0);
        free(bytes);
    }
    print_message("# %llu calls, %llu refused, %llu keys in stashes at the end\n",
                  (unsigned long long)calls, (unsigned long long)full, (unsigned long long)stashed);
    assert_true(full > 1000 && stashed > 1000);
}

/* Two keys of one fingerprint, found by trying; one goes to the table, one to the stash. */
static void test_dleft_counting_twin_in_the_stash_is_told_apart(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        tamis_params params = shape(10, seed);
        params.value[TAMIS_DLCBF_SUBTABLES] = 2;
        params.value[TAMIS_DLCBF_BUCKETS] = 1;
        params.value[TAMIS_DLCBF_CELLS] = 2;
        params.value[TAMIS_DLCBF_REMAINDER_BITS] = 3;
        params.value[TAMIS_DLCBF_COUNTER_BITS] = 1;
        tamis_filter *const f = make(&params);
        uint64_t twin = 1;
        assert_ok(tamis_filter_insert_u64(f, 0, NULL));
        while (!tamis_filter_contains_u64(f, twin))
            twin++;
        /* Fill all four cells with others, then the twin finds no room. */
        for (uint64_t other = 1000; tamis_filter_count(f) < 4; other++)
            if (!tamis_filter_contains_u64(f, other))
                assert_ok(tamis_filter_insert_u64(f, other, NULL));
        assert_ok(tamis_filter_insert_u64(f, twin, NULL));
        assert_int_equal(stash_used(f), 1);
        assert_int_equal(tamis_filter_copies_u64(f, 0), 1);
        assert_int_equal(tamis_filter_copies_u64(f, twin), 2);
        if (seed % 2 == 0) {
            assert_ok(tamis_filter_remove_u64(f, twin));
            assert_int_equal(stash_used(f), 0);
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

/* Copies without end: cells first, then one entry of the stash, which stands for 255 copies. */
static void test_dleft_counting_heavy_key_leaves_room_for_others(void **state) {
    (void)state;
    const tamis_params params = shape(1000, 3);
    tamis_filter *const f = make(&params);
    for (unsigned i = 1; i <= 250; i++) {
        bool added;
        assert_ok(tamis_filter_insert_u64(f, 7, &added));
        assert_int_equal(added, i == 1);
        assert_int_equal(tamis_filter_copies_u64(f, 7), i);
    }
    assert_int_equal(stash_used(f), 1);
    for (uint64_t key = 1000; key < 1750; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    assert_int_equal(stash_used(f), 1);
    for (unsigned i = 250; i > 0; i--) {
        assert_int_equal(tamis_filter_copies_u64(f, 7), i);
        assert_ok(tamis_filter_remove_u64(f, 7));
    }
    assert_status(tamis_filter_remove_u64(f, 7), TAMIS_E_NOT_FOUND);
    tamis_filter_free(f);
}

static void test_dleft_counting_bad_parameters_are_refused(void **state) {
    (void)state;
    static const struct {
        unsigned index;
        uint64_t value;
    } bad[] = {{TAMIS_DLCBF_SUBTABLES, 1},
               {TAMIS_DLCBF_SUBTABLES, 5},
               {TAMIS_DLCBF_SUBTABLES, UINT64_MAX},
               {TAMIS_DLCBF_BUCKETS, ((uint64_t)1 << 38) + 1},
               {TAMIS_DLCBF_CELLS, 1},
               {TAMIS_DLCBF_CELLS, 17},
               {TAMIS_DLCBF_CELLS, UINT64_MAX},
               {TAMIS_DLCBF_REMAINDER_BITS, 33},
               {TAMIS_DLCBF_COUNTER_BITS, 9},
               {TAMIS_DLCBF_MOVES, 9},
               {TAMIS_DLCBF_MOVES, 256}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tamis_params params = shape(100, 1);
        tamis_filter *f;
        params.value[bad[i].index] = bad[i].value;
        assert_status(tamis_filter_create(&params, NULL, &f), TAMIS_E_ARGUMENT);
    }
    tamis_params wide = shape(100, 1); /* 16 * (32 + 2) bits are more than a line */
    tamis_filter *f;
    wide.value[TAMIS_DLCBF_CELLS] = 16;
    wide.value[TAMIS_DLCBF_REMAINDER_BITS] = 32;
    assert_status(tamis_filter_create(&wide, NULL, &f), TAMIS_E_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dleft_counting_no_removal_is_ambiguous),
        cmocka_unit_test(test_dleft_counting_twin_in_the_stash_is_told_apart),
        cmocka_unit_test(test_dleft_counting_heavy_key_leaves_room_for_others),
        cmocka_unit_test(test_dleft_counting_bad_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
