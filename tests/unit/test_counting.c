/* test_counting.c - counters that saturate, and removals that must be refused
 *
 * Small tables, in which a key visits some counter twice and any two keys share counters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

enum { SATURATED = 15 };

static tamis_filter *small_filter(uint64_t counters, uint64_t hashes, uint64_t seed) {
    tamis_params params = test_bare_params(TAMIS_KIND_COUNTING_BLOOM, 10, seed);
    params.value[TAMIS_COUNTING_BLOOM_COUNTERS] = counters;
    params.value[TAMIS_COUNTING_BLOOM_HASHES] = hashes;
    tamis_filter *f;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    return f;
}

/* Counter values, as the documented layout of the file gives them: header of 256 bytes, state of 64,
 * then two counters per byte, the lower half first. */
static void counters_of(const tamis_filter *f, unsigned *values, size_t n) {
    size_t size;
    unsigned char *const bytes = test_encoded(f, &size);
    assert_true(256 + 64 + (n + 1) / 2 <= size);
    for (size_t i = 0; i < n; i++)
        values[i] = bytes[256 + 64 + i / 2] >> 4 * (i % 2) & 15;
    free(bytes);
}

static void test_counter_saturates_and_stays(void **state) {
    (void)state;
    tamis_filter *const f = small_filter(1000, 5, 1);
    for (unsigned copies = 1; copies <= 100; copies++) {
        bool added;
        assert_ok(tamis_filter_insert_u64(f, 42, &added));
        assert_int_equal(added, copies == 1);
        assert_int_equal(tamis_filter_copies_u64(f, 42), copies < SATURATED ? copies : SATURATED);
        assert_int_equal(tamis_filter_count(f), copies);
        assert_int_equal(test_info(f).saturated, copies < SATURATED ? 0 : 5);
    }
    /* A saturated counter is not lowered: the key never goes away again, and nothing wraps. */
    for (unsigned left = 100; left > 0; left--) {
        assert_int_equal(tamis_filter_count(f), left);
        assert_ok(tamis_filter_remove_u64(f, 42));
        assert_true(tamis_filter_contains_u64(f, 42));
        assert_int_equal(test_info(f).saturated, 5);
    }
    assert_int_equal(tamis_filter_count(f), 0);
    assert_ok(tamis_filter_remove_u64(f, 42)); /* cannot be seen to be wrong */
    assert_int_equal(tamis_filter_count(f), 0);
    assert_true(tamis_filter_contains_u64(f, 42));
    assert_int_equal(test_info(f).load_histogram[SATURATED], 5);

    size_t size; /* what has saturated can be stored and read again */
    unsigned char *const bytes = test_encoded(f, &size);
    tamis_filter *loaded;
    assert_ok(tamis_filter_decode(bytes, size, NULL, &loaded, NULL));
    assert_int_equal(test_info(loaded).saturated, 5);
    tamis_filter_free(loaded);
    free(bytes);
    assert_ok(tamis_filter_clear(f));
    assert_int_equal(test_info(f).saturated, 0);
    tamis_filter_free(f);
}

/* The counters follow the sequence of the key in a model with counters that do not saturate. */
static void test_counter_values_match_unbounded_ones(void **state) {
    (void)state;
    uint64_t random = test_seed();
    enum { COUNTERS = 23, KEYS = 12 };
    for (unsigned round = 0; round < 200; round++) {
        const uint64_t hashes = 1 + test_random_below(&random, 12);
        tamis_filter *const f = small_filter(COUNTERS, hashes, 1 + round);
        /* Which counters a key visits, and how often, is learnt from a filter with that key alone. */
        unsigned visits[KEYS][COUNTERS], truth[COUNTERS] = {0}, copies[KEYS] = {0};
        bool stuck[COUNTERS] = {false};
        for (unsigned key = 0; key < KEYS; key++) {
            tamis_filter *const alone = small_filter(COUNTERS, hashes, 1 + round);
            assert_ok(tamis_filter_insert_u64(alone, key, NULL));
            counters_of(alone, visits[key], COUNTERS);
            tamis_filter_free(alone);
        }
        for (unsigned call = 0; call < 300; call++) {
            const unsigned key = (unsigned)test_random_below(&random, KEYS);
            const bool insert = test_random_below(&random, 100) < (call < 150 ? 60 : 40);
            if (!insert && copies[key] == 0)
                continue;
            for (unsigned i = 0; i < COUNTERS; i++)
                truth[i] = insert ? truth[i] + visits[key][i] : truth[i] - visits[key][i];
            if (insert)
                assert_ok(tamis_filter_insert_u64(f, key, NULL));
            else
                assert_ok(tamis_filter_remove_u64(f, key));
            copies[key] += insert ? 1 : -1u;
            unsigned now[COUNTERS];
            counters_of(f, now, COUNTERS);
            uint64_t saturated = 0;
            for (unsigned i = 0; i < COUNTERS; i++) {
                stuck[i] = stuck[i] || truth[i] >= SATURATED;
                saturated += stuck[i];
                assert_int_equal(now[i], stuck[i] ? SATURATED : truth[i]);
            }
            assert_int_equal(test_info(f).saturated, saturated);
            for (unsigned k = 0; k < KEYS; k++) {
                assert_true(copies[k] == 0 || tamis_filter_contains_u64(f, k));
                if (saturated == 0)
                    assert_true(tamis_filter_copies_u64(f, k) >= copies[k]);
            }
        }
        tamis_filter_free(f);
    }
}

/* Does the table hold at least what one copy of the key raises?  Only then may a removal succeed. */
static bool holds(const unsigned *now, const unsigned *visits, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (now[i] != SATURATED && now[i] < visits[i])
            return false;
    return true;
}

static void test_remove_absent_key_is_refused_and_changes_nothing(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned refused = 0, partly = 0, twice = 0, unseen = 0;
    for (unsigned round = 0; round < 3000; round++) {
        enum { COUNTERS = 29 };
        const uint64_t hashes = 1 + test_random_below(&random, 10);
        tamis_filter *const f = small_filter(COUNTERS, hashes, 1 + round);
        const unsigned n = (unsigned)test_random_below(&random, 20);
        for (unsigned key = 0; key < n; key++)
            assert_ok(tamis_filter_insert_u64(f, key % 7, NULL));
        for (uint64_t absent = 1000; absent < 1010; absent++) {
            unsigned now[COUNTERS], visits[COUNTERS];
            tamis_filter *const alone = small_filter(COUNTERS, hashes, 1 + round);
            assert_ok(tamis_filter_insert_u64(alone, absent, NULL));
            counters_of(alone, visits, COUNTERS);
            tamis_filter_free(alone);
            counters_of(f, now, COUNTERS);
            size_t size;
            unsigned char *const before = test_encoded(f, &size);
            if (holds(now, visits, COUNTERS)) {
                unseen++;
                assert_true(tamis_filter_contains_u64(f, absent));
            } else {
                const bool present = tamis_filter_contains_u64(f, absent);
                assert_status(tamis_filter_remove_u64(f, absent), TAMIS_E_NOT_FOUND);
                assert_encoded(f, before, size);
                refused++;
                for (unsigned i = 0; i < COUNTERS; i++) {
                    if (visits[i] > 0 && now[i] > 0) {
                        partly++; /* some of its counters were lowered and raised again */
                        break;
                    }
                }
                twice += present; /* all counters are there, but one does not count twice */
            }
            free(before);
        }
        tamis_filter_free(f);
    }
    printf("# %u refused, %u after some steps, %u for a counter visited twice; %u not to be seen\n",
           refused, partly, twice, unseen);
    assert_true(partly > 1000 && twice > 50 && unseen > 1000);
}

static void test_remove_all_leaves_an_empty_table(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 500; round++) {
        const uint64_t counters = 40 + test_random_below(&random, 100);
        const uint64_t hashes = 1 + test_random_below(&random, 6);
        tamis_filter *const f = small_filter(counters, hashes, 1 + round);
        tamis_filter *const empty = small_filter(counters, hashes, 1 + round);
        uint64_t keys[10];
        for (unsigned i = 0; i < 10; i++)
            keys[i] = test_random_below(&random, 8);
        assert_ok(tamis_filter_insert_many_u64(f, keys, 10, NULL, NULL));
        if (test_info(f).saturated == 0) {
            size_t removed;
            assert_ok(tamis_filter_remove_many_u64(f, keys, 10, NULL, &removed));
            assert_int_equal(removed, 10);
            assert_same(f, empty);
        }
        tamis_filter_free(empty);
        tamis_filter_free(f);
    }
}

/* Sums of counters in a merge: all pairs of values, in even and in odd places. */
static void test_merge_counters_add_up_to_the_limit(void **state) {
    (void)state;
    for (unsigned a = 0; a <= 20; a++) {
        for (unsigned b = 0; b <= 20; b++) {
            tamis_filter *const one = small_filter(33, 1, 5), *const two = small_filter(33, 1, 5);
            for (uint64_t key = 0; key < 40; key++) {
                for (unsigned i = 0; i < a; i++)
                    assert_ok(tamis_filter_insert_u64(one, key, NULL));
                for (unsigned i = 0; i < b; i++)
                    assert_ok(tamis_filter_insert_u64(two, key, NULL));
            }
            unsigned x[33], y[33], sum[33];
            counters_of(one, x, 33);
            counters_of(two, y, 33);
            assert_ok(tamis_filter_merge(one, two, TAMIS_MERGE_BEYOND));
            counters_of(one, sum, 33);
            for (unsigned i = 0; i < 33; i++)
                assert_int_equal(sum[i], x[i] + y[i] < SATURATED ? x[i] + y[i] : SATURATED);
            assert_int_equal(tamis_filter_count(one), 40 * (a + b));
            tamis_filter_free(two);
            tamis_filter_free(one);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_saturates_and_stays),
        cmocka_unit_test(test_counter_values_match_unbounded_ones),
        cmocka_unit_test(test_remove_absent_key_is_refused_and_changes_nothing),
        cmocka_unit_test(test_remove_all_leaves_an_empty_table),
        cmocka_unit_test(test_merge_counters_add_up_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
