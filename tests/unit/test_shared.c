/* test_shared.c - sets that threads share, as one thread sees them
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "tamis/shared.h"
#include "tamis/window.h"

#include "shared/lines.h"

enum { KEYS = 3000 };

static tamis_shared *made(tamis_kind kind, unsigned shards, uint64_t n, double fpr) {
    const tamis_params params = test_params(kind, n, fpr, test_seed());
    tamis_shared *s = NULL;
    assert_ok(tamis_shared_create(&params, shards, NULL, &s));
    return s;
}

/* Do threads share sets of this kind line by line? */
static bool by_lines(tamis_kind kind) {
    return tamis_i_kind_of(kind)->line_alone != NULL;
}

/* Another set with the same keys, by way of what tamis_shared_snapshot gives. */
static tamis_filter *snapshot(const tamis_shared *s) {
    tamis_filter *f = NULL;
    assert_ok(tamis_shared_snapshot(s, NULL, &f));
    return f;
}

static uint64_t key_of(uint64_t i) {
    uint64_t state = i;
    return test_random(&state);
}

/* Keys 0 to KEYS - 1 are in, as the set and its copies in all forms say. */
static void assert_keys(const tamis_shared *s, uint64_t n) {
    uint64_t keys[KEYS];
    bool present[KEYS];
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = key_of(i);
        assert_true(tamis_shared_contains_u64(s, keys[i]));
    }
    assert_int_equal(tamis_shared_contains_many_u64(s, keys, (size_t)n, present), n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(present[i]);
}

static void test_shared_all_kinds_keep_their_keys(void **state) {
    (void)state;
    static const unsigned shards[] = {1, 7};
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        for (unsigned j = 0; j < 2; j++) {
            tamis_shared *const s = made(kind, shards[j], KEYS, 0.01);
            uint64_t keys[KEYS], fresh = 0;
            bool added[KEYS], refused[KEYS];
            size_t done = 0;
            for (uint64_t i = 0; i < KEYS / 3; i++) {
                bool one;
                assert_ok(tamis_shared_insert_u64(s, key_of(i), &one));
                fresh += one;
            }
            for (uint64_t i = KEYS / 3; i < KEYS; i++)
                keys[i] = key_of(i);
            assert_ok(tamis_shared_insert_many_u64(s, keys + KEYS / 3, KEYS - KEYS / 3, added,
                                                   refused, &done));
            assert_int_equal(done, KEYS - KEYS / 3);
            for (unsigned i = 0; i < KEYS - KEYS / 3; i++) {
                fresh += added[i];
                assert_false(refused[i]);
            }
            assert_keys(s, KEYS);
            const bool counts = (tamis_kind_abilities(kind) & TAMIS_CAN_COUNT) != 0;
            assert_int_equal(tamis_shared_count(s), counts ? KEYS : fresh);
            tamis_info info;
            tamis_info_init(&info);
            assert_ok(tamis_shared_info(s, &info));
            assert_int_equal(info.count, tamis_shared_count(s));
            assert_int_equal(info.n_shards, shards[j]);
            assert_true(info.fpr <= 0.011 && info.fpr > 0);
            tamis_shared_free(s);
        }
    }
}

/* A file has the keys, is read as an ordinary set, and gives back a shared one. */
static void test_shared_snapshots_are_ordinary_sets(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        for (unsigned shards = 1; shards <= 5; shards += 4) {
            tamis_shared *const s = made(kind, shards, KEYS, 0.01);
            for (uint64_t i = 0; i < KEYS / 2; i++)
                assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
            assert_ok(tamis_shared_set_key_form(s, TAMIS_KEYS_U64));
            tamis_filter *const f = snapshot(s);
            for (uint64_t i = 0; i < KEYS; i++)
                assert_int_equal(tamis_filter_contains_u64(f, key_of(i)),
                                 tamis_shared_contains_u64(s, key_of(i)));
            assert_int_equal(tamis_filter_count(f), tamis_shared_count(s));
            assert_int_equal(tamis_filter_key_form(f), TAMIS_KEYS_U64);
            const char *const path = test_path("shared");
            assert_ok(tamis_shared_save(s, path, NULL));
            tamis_filter *loaded = NULL;
            assert_ok(tamis_filter_load(path, NULL, &loaded, NULL));
            assert_same(f, loaded);
            tamis_shared *again = NULL;
            assert_ok(tamis_shared_load(path, NULL, &again, NULL));
            tamis_filter *const twice = snapshot(again);
            assert_same(f, twice);
            unsigned n_shards = 0;
            tamis_params params;
            tamis_params_init(&params);
            assert_ok(tamis_shared_params(again, &params, &n_shards));
            assert_int_equal(n_shards, shards);
            /* more keys go in, as they would have before */
            for (uint64_t i = KEYS / 2; i < KEYS; i++) {
                assert_ok(tamis_shared_insert_u64(again, key_of(i), NULL));
                assert_ok(tamis_filter_insert_u64(loaded, key_of(i), NULL));
            }
            tamis_filter *const more = snapshot(again);
            assert_int_equal(tamis_filter_count(more), tamis_filter_count(loaded));
            for (uint64_t i = 0; i < 2 * KEYS; i++)
                assert_int_equal(tamis_filter_contains_u64(more, key_of(i)),
                                 tamis_filter_contains_u64(loaded, key_of(i)));
            (void)remove(path);
            tamis_filter_free(more);
            tamis_filter_free(twice);
            tamis_filter_free(loaded);
            tamis_filter_free(f);
            tamis_shared_free(again);
            tamis_shared_free(s);
        }
    }
}

static void test_shared_copies_are_exact(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        if ((tamis_kind_abilities(kind) & TAMIS_CAN_COUNT) == 0 ||
            kind == TAMIS_KIND_COUNTING_BLOOM)
            continue;
        for (unsigned shards = 1; shards <= 3; shards += 2) {
            tamis_params params = test_params(kind, KEYS, 1e-4, test_seed());
            tamis_shared *s = NULL;
            if (kind == TAMIS_KIND_LINE) /* the fifth copy and all further ones are counted there */
                params.stash += 2 * 20;
            assert_ok(tamis_shared_create(&params, shards, NULL, &s));
            for (unsigned copy = 0; copy < 7; copy++)
                for (uint64_t i = 0; i < 20; i++)
                    assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
            for (uint64_t i = 0; i < 20; i++)
                assert_int_equal(tamis_shared_copies_u64(s, key_of(i)), 7);
            tamis_filter *const f = snapshot(s);
            assert_int_equal(tamis_filter_copies_u64(f, key_of(3)), 7);
            tamis_shared *again = NULL;
            assert_ok(tamis_shared_of(f, &again));
            assert_int_equal(tamis_shared_count(again), 140);
            for (unsigned copy = 7; copy > 0; copy--) {
                uint64_t keys[20];
                bool removed[20];
                size_t count;
                for (uint64_t i = 0; i < 20; i++)
                    keys[i] = key_of(i);
                assert_int_equal(tamis_shared_contains_many_u64(again, keys, 20, NULL), 20);
                assert_ok(tamis_shared_remove_many_u64(again, keys, 20, removed, &count));
                assert_int_equal(count, 20);
                assert_int_equal(tamis_shared_copies_u64(again, keys[7]), copy - 1);
            }
            assert_int_equal(tamis_shared_count(again), 0);
            assert_status(tamis_shared_remove_u64(again, key_of(1)), TAMIS_E_NOT_FOUND);
            assert_ok(tamis_shared_remove_u64(s, key_of(1)));
            tamis_shared_free(again);
            tamis_shared_free(s);
        }
    }
}

static void test_shared_clear_and_merge(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        if ((tamis_kind_abilities(kind) & TAMIS_CAN_MERGE) == 0)
            continue;
        for (unsigned shards = 1; shards <= 4; shards += 3) {
            tamis_shared *const s = made(kind, shards, KEYS, 0.001);
            for (uint64_t i = 0; i < KEYS / 2; i++)
                assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
            tamis_filter *const first = snapshot(s);
            assert_ok(tamis_shared_clear(s));
            assert_int_equal(tamis_shared_count(s), 0);
            uint64_t found = 0;
            for (uint64_t i = 0; i < KEYS / 2; i++)
                found += tamis_shared_contains_u64(s, key_of(i));
            assert_int_equal(found, 0);
            for (uint64_t i = KEYS / 2; i < KEYS; i++)
                assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
            const uint64_t count = tamis_shared_count(s);
            assert_ok(tamis_shared_merge(s, first, TAMIS_MERGE_BEYOND));
            assert_keys(s, KEYS);
            /* A window counts fingerprints: one that both sets have is one.  Of 1500 keys 1.5 are expected
             * to meet such a one, and 16 or more have odds of 1e-11. */
            const uint64_t sum = count + tamis_filter_count(first);
            assert_in_range(tamis_shared_count(s), kind == TAMIS_KIND_WINDOW ? sum - 15 : sum, sum);
            /* an ordinary set with other shards is refused, and changes nothing */
            tamis_shared *const other = made(kind, shards + 1, KEYS, 0.001);
            tamis_filter *const strange = snapshot(other);
            assert_status(tamis_shared_merge(s, strange, TAMIS_MERGE_BEYOND), TAMIS_E_MISMATCH);
            assert_keys(s, KEYS);
            /* the same for ordinary sets */
            tamis_filter *const second = snapshot(s);
            assert_status(tamis_filter_merge(second, strange, TAMIS_MERGE_BEYOND),
                          TAMIS_E_MISMATCH);
            assert_ok(tamis_filter_clear(second));
            assert_ok(tamis_filter_merge(second, first, TAMIS_MERGE_BEYOND));
            for (uint64_t i = 0; i < KEYS / 2; i++)
                assert_true(tamis_filter_contains_u64(second, key_of(i)));
            tamis_filter_free(second);
            tamis_filter_free(strange);
            tamis_filter_free(first);
            tamis_shared_free(other);
            tamis_shared_free(s);
        }
    }
}

/* Shards grow by themselves, and the file of such a set is read again. */
static void test_shared_growth_keeps_the_promise(void **state) {
    (void)state;
    static const tamis_kind kinds[] = {TAMIS_KIND_DLEFT, TAMIS_KIND_RANK, TAMIS_KIND_BLOOM};
    for (unsigned k = 0; k < 3; k++) {
        const tamis_params params = test_params(kinds[k], 100, 0.005, test_seed());
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.fpr = 0.01;
        growth.automatic = true;
        tamis_shared *s = NULL;
        assert_ok(tamis_shared_create(&params, 5, NULL, &s));
        assert_ok(tamis_shared_allow_growth(s, &growth));
        for (uint64_t i = 0; i < KEYS; i++)
            assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
        assert_keys(s, KEYS);
        tamis_info info;
        tamis_info_init(&info);
        assert_ok(tamis_shared_info(s, &info));
        assert_true(info.n_links > 1 && info.fpr <= 0.01 && info.fpr_promised > 0.0099);
        tamis_filter *const f = snapshot(s), *loaded = NULL;
        size_t size;
        unsigned char *const bytes = test_encoded(f, &size);
        assert_ok(tamis_filter_decode(bytes, size, NULL, &loaded, NULL));
        assert_same(f, loaded);
        for (uint64_t i = 0; i < KEYS; i++)
            assert_true(tamis_filter_contains_u64(loaded, key_of(i)));
        for (size_t at = 0, part; at < size; at += part) { /* the same bytes in pieces */
            unsigned char piece[777];
            part = size - at < sizeof piece ? size - at : sizeof piece;
            assert_ok(tamis_filter_encode_part(f, at, piece, part));
            assert_memory_equal(piece, bytes + at, part);
        }
        assert_true(tamis_filter_promise(loaded) > 0.0099);
        tamis_info link;
        tamis_info_init(&link);
        assert_ok(tamis_filter_link_info(loaded, 0, &link));
        assert_int_equal(link.n_shards, 5);
        assert_status(tamis_filter_link_info(loaded, info.n_links, &link), TAMIS_E_ARGUMENT);
        /* ordinary calls of growth, for all shards or for none */
        growth.fpr = 1e-9;
        assert_status(tamis_filter_grow(loaded, &growth), TAMIS_E_PROMISE);
        assert_same(f, loaded);
        growth.fpr = 0.02;
        assert_ok(tamis_filter_grow(loaded, &growth));
        free(bytes);
        tamis_filter_free(loaded);
        tamis_filter_free(f);
        tamis_shared_free(s);
    }
    tamis_shared *const lines = made(TAMIS_KIND_BLOCKED_BLOOM, 1, KEYS, 0.01);
    assert_status(tamis_shared_allow_growth(lines, NULL), TAMIS_E_UNSUPPORTED);
    tamis_shared_free(lines);
}

static void test_shared_values(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_RANK, KEYS, 1e-5);
    need.value_bits = 3;
    tamis_plan plan = test_planned(&need);
    plan.params.seed = test_seed(); /* with others, one in a hundred, two keys share a value */
    tamis_shared *s = NULL;
    assert_ok(tamis_shared_create(&plan.params, 3, NULL, &s));
    assert_int_equal(tamis_shared_value_bits(s), 3);
    const tamis_hasher *const hasher = tamis_shared_hasher(s);
    for (uint64_t i = 0; i < KEYS / 2; i++)
        assert_ok(tamis_shared_insert_value_digest(s, tamis_hash_u64(hasher, i), (unsigned)(i % 8),
                                                   NULL));
    assert_ok(tamis_shared_update_value_digest(s, tamis_hash_u64(hasher, 9), 7));
    for (uint64_t i = 0; i < KEYS / 2; i++) {
        unsigned value = 99;
        assert_ok(tamis_shared_lookup_value_digest(s, tamis_hash_u64(hasher, i), &value));
        assert_int_equal(value, i == 9 ? 7 : i % 8);
    }
    tamis_filter *const f = snapshot(s);
    unsigned value = 99;
    assert_ok(tamis_filter_lookup_value_digest(f, tamis_hash_u64(hasher, 9), &value));
    assert_int_equal(value, 7);
    tamis_filter_free(f);
    tamis_shared_free(s);
}

/* A batch goes on where one shard is full; what was refused is told, key by key. */
static void test_shared_full_shards_refuse_and_tell(void **state) {
    (void)state;
    tamis_params params = test_params(TAMIS_KIND_DLEFT_COUNTING, 40, 0.01, test_seed());
    tamis_shared *s = NULL;
    uint64_t keys[KEYS];
    bool refused[KEYS], added[KEYS];
    size_t done = 0, out = 0;
    assert_ok(tamis_shared_create(&params, 3, NULL, &s));
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = key_of(i);
    assert_status(tamis_shared_insert_many_u64(s, keys, KEYS, added, refused, &done), TAMIS_E_FULL);
    for (uint64_t i = 0; i < KEYS; i++) {
        out += refused[i];
        assert_true(refused[i] ? !added[i] : tamis_shared_contains_u64(s, keys[i]));
    }
    assert_int_equal(done + out, KEYS);
    assert_int_equal(tamis_shared_count(s), done);
    assert_true(done >= 100 && out > 0);
    tamis_shared_free(s);
}

static void test_shared_plans_keep_the_failure_odds(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_need need = test_need(kind, 1000000, 0.001);
        tamis_shared_plan plan, one;
        tamis_shared_plan_init(&plan);
        tamis_shared_plan_init(&one);
        assert_ok(tamis_shared_plan_make(&need, 4, &plan));
        assert_ok(tamis_shared_plan_make(&need, 1, &one));
        const bool lines = by_lines(kind);
        assert_int_equal(one.shards, 1);
        assert_int_equal(plan.shards, lines ? 1 : 32);
        assert_true(plan.fpr <= 0.001 && plan.overflow_probability <= 1e-6);
        assert_true(plan.bits_per_key >= one.bits_per_key * 0.999 &&
                    plan.bits_per_key < 1.1 * one.bits_per_key + 0.1);
        assert_int_equal(plan.n, 1000000);
        need.grows = true;
        assert_ok(tamis_shared_plan_make(&need, 4, &plan));
        assert_int_equal(plan.shards, 32);
        need.grows = false;
        need.bytes = plan.bytes;
        need.n = 0;
        assert_ok(tamis_shared_plan_make(&need, 4, &plan));
        assert_true(plan.bytes <= need.bytes && plan.n > 700000);
    }
    const tamis_need need = test_need(TAMIS_KIND_ANY, 100, 0.01);
    tamis_shared_plan plan;
    tamis_shared_plan_init(&plan);
    assert_status(tamis_shared_plan_make(&need, 0, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_plan_make(NULL, 1, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_plan_make(&need, 1, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_shared_plan_make(&need, 64, &plan));
    assert_int_equal(plan.shards, 1);
}

static void test_shared_refuses_bad_arguments(void **state) {
    (void)state;
    const tamis_params params = test_params(TAMIS_KIND_BLOCKED_BLOOM, 100, 0.01, 1);
    tamis_shared *s = NULL;
    tamis_filter *f = NULL;
    assert_status(tamis_shared_create(&params, 0, NULL, &s), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_create(&params, TAMIS_SHARDS_MAX + 1, NULL, &s), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_create(NULL, 1, NULL, &s), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_create(&params, 1, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_new(100, 0, 1, &s), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_of(NULL, &s), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_load(NULL, NULL, &s, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_snapshot(NULL, NULL, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_save(NULL, "x", NULL), TAMIS_E_ARGUMENT);
    assert_null(s);
    assert_ok(tamis_shared_new(100, 0.01, 2, &s));
    const tamis_bytes bad[2] = {{"a", 1}, {NULL, 3}};
    bool present[2] = {false, true};
    size_t done = 77;
    assert_status(tamis_shared_insert_many(s, bad, 2, NULL, NULL, &done), TAMIS_E_ARGUMENT);
    assert_int_equal(done, 77);
    assert_int_equal(tamis_shared_count(s), 0);
    assert_ok(tamis_shared_insert(s, "a", 1, NULL));
    assert_int_equal(tamis_shared_contains_many(s, bad, 2, present), 1);
    assert_true(present[0] && !present[1]);
    assert_false(tamis_shared_contains(s, NULL, 1));
    assert_status(tamis_shared_insert(s, NULL, 1, NULL), TAMIS_E_ARGUMENT);
    /* A key without bytes is one of none, and no other. */
    assert_status(tamis_shared_insert(s, NULL, 5, NULL), TAMIS_E_ARGUMENT);
    assert_false(tamis_shared_contains(s, NULL, 5));
    assert_status(tamis_shared_remove(s, NULL, 5), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_remove(s, NULL, 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_remove(s, NULL, 0), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_shared_remove(s, "a", 0), TAMIS_E_UNSUPPORTED);
    assert_int_equal(tamis_shared_copies(s, NULL, 5), 0);
    assert_int_equal(tamis_shared_copies(s, NULL, 1), 0);
    assert_ok(tamis_shared_insert(s, NULL, 0, NULL));
    assert_true(tamis_shared_contains(s, NULL, 0) && tamis_shared_contains(s, "b", 0));
    assert_int_equal(tamis_shared_copies(s, NULL, 0), 1);
    assert_int_equal(tamis_shared_copies(s, "a", 1), 1);
    assert_status(tamis_shared_merge(s, NULL, TAMIS_MERGE_BEYOND), TAMIS_E_ARGUMENT);
    assert_status(tamis_shared_remove_u64(s, 1), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_shared_remove_many_u64(s, NULL, 0, NULL, NULL), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_shared_insert_value_digest(s, (tamis_digest){1, 2}, 0, NULL),
                  TAMIS_E_UNSUPPORTED);
    tamis_filter *view = NULL;
    f = snapshot(s);
    size_t size;
    unsigned char *const bytes = test_encoded(f, &size);
    if (tamis_filter_view(bytes, size, NULL, &view, NULL) == TAMIS_OK) /* not if big-endian */
        assert_status(tamis_shared_of(view, &s), TAMIS_E_READONLY);
    tamis_filter_free(view);
    free(bytes);
    tamis_filter_free(f);
    tamis_shared_free(s);
    tamis_shared_free(NULL);
}

/* A window in shards: all of them are in the same tick, also as an ordinary set. */
static void test_shared_windows_forget(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_WINDOW, 1000, 1e-9);
    need.ticks = 3;
    tamis_params params = test_planned(&need).params;
    params.seed = test_seed();
    tamis_shared *s;
    assert_ok(tamis_shared_create(&params, 4, NULL, &s));
    for (uint64_t i = 0; i < 500; i++)
        assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
    for (unsigned tick = 0; tick < 3; tick++) {
        assert_ok(tamis_shared_tick(s));
        assert_keys(s, 500);
    }
    assert_ok(tamis_shared_insert_u64(s, key_of(0), NULL)); /* young again */
    assert_ok(tamis_shared_tick(s));
    for (uint64_t i = 0; i < 500; i++)
        assert_true(tamis_shared_contains_u64(s, key_of(i)) == (i == 0));
    tamis_filter *f;
    tamis_window_state told;
    assert_ok(tamis_shared_snapshot(s, NULL, &f));
    tamis_window_state_init(&told);
    assert_ok(tamis_window_info(f, &told));
    assert_true(told.now == 4 && told.live == 1 && told.ages[1] == 1);
    assert_ok(tamis_window_step(f, UINT64_MAX, NULL));
    assert_int_equal(tamis_filter_count(f), 1);
    for (unsigned tick = 0; tick < 3; tick++)
        assert_ok(tamis_window_tick(f));
    assert_false(tamis_filter_contains_u64(f, key_of(0)));
    tamis_filter_free(f);
    tamis_shared_free(s);
    assert_status(tamis_shared_tick(NULL), TAMIS_E_ARGUMENT);
}

/* Each allocation fails in turn: nothing leaks, and what was there stays. */
static void test_shared_failed_allocations(void **state) {
    (void)state;
    static const tamis_kind kinds[] = {TAMIS_KIND_BLOCKED_BLOOM, TAMIS_KIND_RANK};
    for (unsigned k = 0; k < 4; k++) {
        const tamis_params params = test_params(kinds[k % 2], 500, 0.01, test_seed());
        const unsigned shards = k < 2 ? 1 : 3;
        bool worked = false;
        for (long fail = 0; !worked && fail < 60; fail++) {
            test_allocator t;
            tamis_shared *s = NULL;
            test_allocator_init(&t, fail);
            tamis_status status = tamis_shared_create(&params, shards, &t.allocator, &s);
            if (status == TAMIS_OK) {
                for (uint64_t i = 0; i < 100; i++)
                    assert_ok(tamis_shared_insert_u64(s, key_of(i), NULL));
                tamis_filter *f = NULL;
                status = tamis_shared_snapshot(s, &t.allocator, &f);
                if (status == TAMIS_OK && (tamis_kind_abilities(params.kind) & TAMIS_CAN_MERGE)) {
                    status = tamis_shared_merge(s, f, TAMIS_MERGE_BEYOND);
                }
                assert_true(status == TAMIS_OK || status == TAMIS_E_NOMEM);
                assert_keys(s, 100);
                worked = status == TAMIS_OK;
                tamis_filter_free(f);
            } else {
                assert_status(status, TAMIS_E_NOMEM);
                assert_null(s);
            }
            tamis_shared_free(s);
            assert_int_equal(t.live, 0);
        }
        assert_true(worked);
    }
}

/* ---- line by line: as an ordinary set, to the last bit ---- */

enum { MANY = 300000, PART = 5000 }; /* some 8 regions, and several pieces of a batch */

/* The same keys in the same batches: the tables are equal, and so are all answers, false ones included. */
static void test_shared_lines_equal_an_ordinary_set(void **state) {
    (void)state;
    static uint64_t keys[PART];
    static bool one[PART], other[PART], refused[PART];
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        if (!by_lines(kind))
            continue;
        const tamis_params params = test_params(kind, MANY, 0.01, test_seed());
        tamis_shared *s = NULL;
        tamis_filter *f = NULL;
        assert_ok(tamis_shared_create(&params, 1, NULL, &s));
        assert_ok(tamis_filter_create(&params, NULL, &f));
        assert_true(s->alone != NULL && s->n > 4);
        for (uint64_t at = 0; at < MANY; at += PART) {
            for (uint64_t i = 0; i < PART; i++)
                keys[i] = key_of(i % 10 == 9 ? (at + i) / 2 : at + i); /* some come again */
            assert_ok(tamis_filter_insert_many_u64(f, keys, PART, one, NULL));
            assert_ok(tamis_shared_insert_many_u64(s, keys, PART, other, refused, NULL));
            assert_memory_equal(one, other, sizeof one);
            for (uint64_t i = 0; i < PART; i++)
                keys[i] = key_of((at + 7 * i) % (2 * (uint64_t)MANY));
            assert_int_equal(tamis_filter_contains_many_u64(f, keys, PART, one),
                             tamis_shared_contains_many_u64(s, keys, PART, other));
            assert_memory_equal(one, other, sizeof one);
            for (uint64_t i = 0; i < PART; i++) {
                const tamis_digest digest = tamis_hash_u64(tamis_shared_hasher(s), keys[i]);
                assert_int_equal(tamis_shared_contains_u64(s, keys[i]), one[i]);
                assert_int_equal(tamis_shared_contains_digest(s, digest), one[i]);
            }
        }
        assert_int_equal(tamis_shared_count(s), tamis_filter_count(f));
        tamis_filter *const copy = snapshot(s);
        assert_memory_equal(copy->table, f->table, f->n_table * sizeof(uint64_t));
        tamis_filter_free(copy);
        tamis_filter_free(f);
        tamis_shared_free(s);
    }
}

/* Parts that are filled one after the other, the last first, give the set that has the keys in order: those
 * of one line are of one part.  Then it is an ordinary set again. */
static void test_shared_parts_are_filled_side_by_side(void **state) {
    (void)state;
    enum { PARTS = 3 };
    static tamis_digest part[MANY];
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        const tamis_params params = test_params(kind, MANY, 0.01, test_seed());
        tamis_filter *plain = NULL, *filled = NULL, *ended = NULL;
        tamis_shared *s = NULL;
        assert_ok(tamis_filter_create(&params, NULL, &plain));
        assert_ok(tamis_filter_create(&params, NULL, &filled));
        assert_ok(tamis_shared_of(filled, &s));
        const tamis_hasher *const hasher = tamis_shared_hasher(s);
        const unsigned parts = tamis_shared_parts(s);
        const bool lines = by_lines(kind);
        assert_int_equal(parts > 1, lines);
        uint64_t seen = 0;
        for (unsigned p = PARTS; p-- > 0;) {
            size_t n = 0;
            for (uint64_t i = 0; i < MANY; i++) {
                const tamis_digest d = tamis_hash_u64(hasher, key_of(i));
                assert_true(tamis_shared_part(s, d, PARTS) < PARTS);
                if (tamis_shared_part(s, d, PARTS) == p)
                    part[n++] = d;
            }
            assert_true(!lines || (n > MANY / PARTS / 2 && n < MANY / PARTS * 2));
            assert_ok(tamis_shared_fill_digest(s, p, PARTS, part, n));
            seen += n;
        }
        assert_int_equal(seen, MANY);
        for (uint64_t i = 0; i < MANY; i++)
            assert_ok(tamis_filter_insert_u64(plain, key_of(i), NULL));
        assert_int_equal(tamis_shared_fill_digest(s, PARTS, PARTS, part, 0), TAMIS_E_ARGUMENT);
        assert_int_equal(tamis_shared_fill_digest(s, 0, 0, part, 0), TAMIS_E_ARGUMENT);
        assert_int_equal(tamis_shared_fill_digest(NULL, 0, 1, part, 0), TAMIS_E_ARGUMENT);
        assert_int_equal(tamis_shared_fill_digest(s, 0, 1, NULL, 1), TAMIS_E_ARGUMENT);
        assert_int_equal(tamis_shared_end(s, NULL), TAMIS_E_ARGUMENT);
        tamis_filter *const copy = snapshot(s);
        assert_ok(tamis_shared_end(s, &ended));
        assert_ptr_equal(ended, filled);
        assert_same(plain, copy);
        assert_same(plain, ended);
        tamis_filter_free(copy);
        tamis_filter_free(ended);
        tamis_filter_free(plain);
    }
}

/* While nobody writes, batches soon read lines where they are; a writer ends that. */
static void test_shared_becomes_calm(void **state) {
    (void)state;
    static uint64_t keys[PART];
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        if (!by_lines(kind))
            continue;
        tamis_shared *const s = made(kind, 1, MANY, 0.001);
        for (uint64_t i = 0; i < PART; i++)
            keys[i] = key_of(i);
        assert_ok(tamis_shared_insert_many_u64(s, keys, PART, NULL, NULL, NULL));
        for (unsigned turn = 0; turn < 3; turn++) {
            unsigned batches = 0;
            for (; atomic_load(&s->calm[0].is.word) != TAMIS_I_CALM_ON; batches++) {
                assert_true(batches < 100);
                assert_int_equal(tamis_shared_contains_many_u64(s, keys, PART, NULL), PART);
            }
            assert_true(batches > 0);
            assert_int_equal(tamis_shared_contains_many_u64(s, keys, PART, NULL), PART);
            assert_int_equal(atomic_load(&s->calm[0].is.word), TAMIS_I_CALM_ON);
            if (turn == 0)
                assert_ok(tamis_shared_insert_u64(s, key_of(PART), NULL));
            else if (turn == 1)
                assert_ok(tamis_shared_insert_many_u64(s, keys, PART, NULL, NULL, NULL));
            else
                assert_ok(tamis_shared_clear(s));
            assert_int_equal(atomic_load(&s->calm[0].is.word), TAMIS_I_CALM_OFF);
            assert_int_equal(tamis_shared_contains_many_u64(s, keys, PART, NULL),
                             turn == 2 ? 0 : PART);
        }
        for (unsigned i = 0; i < TAMIS_I_CALM_SLOTS; i++)
            assert_int_equal(atomic_load(&s->calm[2 + i].is.word), 0);
        tamis_shared_free(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_all_kinds_keep_their_keys),
        cmocka_unit_test(test_shared_parts_are_filled_side_by_side),
        cmocka_unit_test(test_shared_snapshots_are_ordinary_sets),
        cmocka_unit_test(test_shared_copies_are_exact),
        cmocka_unit_test(test_shared_clear_and_merge),
        cmocka_unit_test(test_shared_growth_keeps_the_promise),
        cmocka_unit_test(test_shared_values),
        cmocka_unit_test(test_shared_full_shards_refuse_and_tell),
        cmocka_unit_test(test_shared_plans_keep_the_failure_odds),
        cmocka_unit_test(test_shared_refuses_bad_arguments),
        cmocka_unit_test(test_shared_windows_forget),
        cmocka_unit_test(test_shared_failed_allocations),
        cmocka_unit_test(test_shared_lines_equal_an_ordinary_set),
        cmocka_unit_test(test_shared_becomes_calm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
