/* small_multiset.h - random calls on tables so small that nearly all keys collide
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_SMALL_MULTISET_H
#define TAMIS_TESTS_SMALL_MULTISET_H

#include "support.h"

enum { SMALL_KEYS = 24, SMALL_STEPS = 200 };

/* What happened in all runs so far. */
typedef struct small_tally {
    uint64_t calls, full, stashed;
} small_tally;

static inline uint64_t small_stash_used(const tamis_filter *f) {
    const tamis_info info = test_info(f);
    return info.stash_used;
}

static inline tamis_filter *small_make(const tamis_params *params) {
    tamis_filter *f;
    assert_ok(tamis_filter_create(params, NULL, &f));
    return f;
}

/* A search for a counter-example to "removal is never ambiguous": after every call every key that is in
 * must be found, with all its copies; and when all were removed, the table must be empty to the bit. */
static inline void small_multiset_run(const tamis_params *params, uint64_t *random,
                                      small_tally *tally) {
    tamis_filter *const f = small_make(params);
    unsigned copies[SMALL_KEYS] = {0};
    uint64_t count = 0;
    for (unsigned step = 0; step < SMALL_STEPS; step++) {
        const uint64_t key = test_random_below(random, SMALL_KEYS);
        if (test_random(random) % 2 == 0) {
            const tamis_status status = tamis_filter_insert_u64(f, key, NULL);
            if (status != TAMIS_E_FULL) {
                assert_ok(status);
                copies[key]++;
                count++;
            }
            tally->full += status == TAMIS_E_FULL;
        } else if (copies[key] > 0) {
            assert_ok(tamis_filter_remove_u64(f, key));
            copies[key]--;
            count--;
        }
        assert_int_equal(tamis_filter_count(f), count);
        for (unsigned i = 0; i < SMALL_KEYS; i++) {
            assert_true(tamis_filter_copies_u64(f, i) >= copies[i]);
            assert_int_equal(tamis_filter_contains_u64(f, i), tamis_filter_copies_u64(f, i) > 0);
        }
        tally->calls++;
    }
    tally->stashed += small_stash_used(f);
    for (unsigned i = 0; i < SMALL_KEYS; i++)
        for (; copies[i] > 0; copies[i]--)
            assert_ok(tamis_filter_remove_u64(f, i));
    size_t size;
    unsigned char *const bytes = test_encoded(f, &size);
    tamis_filter_free(f);
    for (size_t i = 256; i < size; i++) /* the body is that of an empty filter */
        assert_int_equal(bytes[i], 0);
    free(bytes);
}

/* Insert one key very often, then others: they must not be pushed out by it. */
static inline void small_heavy_key(const tamis_params *params) {
    tamis_filter *const f = small_make(params);
    for (unsigned i = 1; i <= 250; i++) {
        bool added;
        assert_ok(tamis_filter_insert_u64(f, 7, &added));
        assert_int_equal(added, i == 1);
        assert_int_equal(tamis_filter_copies_u64(f, 7), i);
    }
    assert_int_equal(small_stash_used(f), 1); /* which stands for up to 255 copies */
    for (uint64_t key = 1000; key < 1750; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    assert_int_equal(small_stash_used(f), 1);
    for (unsigned i = 250; i > 0; i--) {
        assert_int_equal(tamis_filter_copies_u64(f, 7), i);
        assert_ok(tamis_filter_remove_u64(f, 7));
    }
    assert_status(tamis_filter_remove_u64(f, 7), TAMIS_E_NOT_FOUND);
    tamis_filter_free(f);
}

/* Parameters out of range, one at a time, are refused. */
typedef struct small_bad {
    unsigned index;
    uint64_t value;
} small_bad;

static inline void small_refused(const tamis_params *good, const small_bad *bad, size_t n) {
    tamis_filter *f;
    for (size_t i = 0; i < n; i++) {
        tamis_params params = *good;
        params.value[bad[i].index] = bad[i].value;
        assert_status(tamis_filter_create(&params, NULL, &f), TAMIS_E_ARGUMENT);
    }
}

#endif
