/* test_filter.c - whole filters: parameters, copies, views, clearing, merging, what info tells
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"
#include "support.h"

#include <math.h>

#define for_each_kind(kind) for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)

/* Keys 'from' to 'to', each inserted once. */
static void insert_keys(tamis_filter *f, uint64_t from, uint64_t to) {
    for (uint64_t key = from; key < to; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
}

static void assert_contains(const tamis_filter *f, uint64_t from, uint64_t to) {
    for (uint64_t key = from; key < to; key++)
        assert_true(tamis_filter_contains_u64(f, key));
}

static void test_params_make_the_same_filter_again(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_filter *const f = test_filter(kind, 1000, 0.01, 0); /* a random seed */
        tamis_params params;
        tamis_params_init(&params);
        assert_ok(tamis_filter_params(f, &params));
        assert_int_equal(params.kind, kind);
        assert_int_equal(params.capacity, 1000);
        assert_true(params.seed != 0);
        tamis_filter *g;
        assert_ok(tamis_filter_create(&params, NULL, &g));
        assert_same(f, g);
        insert_keys(f, 0, 500);
        insert_keys(g, 0, 500);
        assert_same(f, g);
        tamis_filter_free(g);
        tamis_filter_free(f);
    }
}

static void test_params_all_default_are_complete(void **state) {
    (void)state;
    for_each_kind(kind) {
        const uint64_t capacities[] = {1, 2, 3, 1000, 100000};
        for (unsigned i = 0; i < 5; i++) {
            tamis_params params, complete;
            tamis_params_init(&params);
            tamis_params_init(&complete);
            params.kind = kind;
            params.capacity = capacities[i];
            tamis_filter *f;
            assert_ok(tamis_filter_create(&params, NULL, &f));
            assert_ok(tamis_filter_params(f, &complete));
            assert_true(complete.value[0] != 0);
            insert_keys(f, 0, capacities[i]);
            assert_contains(f, 0, capacities[i]);
            const tamis_info info = test_info(f);
            if (capacities[i] >= 1000)
                assert_true(info.fpr < 0.02); /* defaults aim at 1 % */
            tamis_filter_free(f);
        }
    }
}

static void test_seed_random_filters_differ(void **state) {
    (void)state;
    tamis_filter *a, *b;
    assert_ok(tamis_filter_new(100, 0.01, &a));
    assert_ok(tamis_filter_new(100, 0.01, &b));
    tamis_params pa, pb;
    tamis_params_init(&pa);
    tamis_params_init(&pb);
    assert_ok(tamis_filter_params(a, &pa));
    assert_ok(tamis_filter_params(b, &pb));
    assert_true(pa.seed != pb.seed);
    assert_status(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND), TAMIS_E_MISMATCH);
    tamis_filter_free(a);
    tamis_filter_free(b);
}

/* The lines of a series's links, too, and of a view that nobody may write to. */
static void test_prefetch_has_no_effect(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_filter *const f = test_filter(kind, 500, 0.01, 3);
        tamis_filter *view;
        insert_keys(f, 0, 500);
        for (unsigned grown = 0; grown < 2; grown++) {
            size_t size;
            unsigned char *const before = test_encoded(f, &size);
            if (tamis_i_little_endian())
                assert_ok(tamis_filter_view(before, size, NULL, &view, NULL));
            else /* there are no views */
                assert_ok(tamis_filter_decode(before, size, NULL, &view, NULL));
            for (uint64_t key = 0; key < 1000; key++) {
                const tamis_digest digest = test_hash_u64(3, key);
                tamis_filter_prefetch_digest(f, digest);
                tamis_filter_prefetch_digest(view, digest);
                assert_int_equal(tamis_filter_contains_digest(f, digest),
                                 tamis_filter_contains_digest(view, digest));
            }
            assert_contains(f, 0, 500);
            assert_encoded(f, before, size);
            tamis_filter_free(view);
            free(before);
            if (grown == 0)
                assert_ok(tamis_filter_grow(f, NULL));
        }
        tamis_filter_free(f);
    }
}

static void test_clone_is_equal_and_independent(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_filter *const f = test_filter(kind, 500, 0.01, 3);
        insert_keys(f, 0, 300);
        size_t size;
        unsigned char *const before = test_encoded(f, &size);
        tamis_filter *copy;
        assert_ok(tamis_filter_clone(f, NULL, &copy));
        assert_same(f, copy);
        insert_keys(copy, 300, 500);
        assert_contains(copy, 0, 500);
        assert_encoded(f, before, size);
        tamis_filter_free(f); /* the copy stands alone */
        assert_contains(copy, 0, 500);
        tamis_filter_free(copy);
        free(before);
    }
}

static void test_view_answers_and_refuses_writes(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    for_each_kind(kind) {
        tamis_filter *const f = test_filter(kind, 500, 0.01, 3), *other;
        insert_keys(f, 0, 500);
        assert_ok(tamis_filter_clone(f, NULL, &other));
        size_t size;
        unsigned char *const bytes = test_encoded(f, &size);
        unsigned char *const original = test_encoded(f, &size);
        tamis_filter *view;
        assert_ok(tamis_filter_view(bytes, size, NULL, &view, NULL));
        assert_same(f, view);
        assert_contains(view, 0, 500);
        for (uint64_t key = 0; key < 5000; key++)
            assert_int_equal(tamis_filter_copies_u64(view, key), tamis_filter_copies_u64(f, key));

        const bool removes = (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
        const tamis_status no_remove = removes ? TAMIS_E_READONLY : TAMIS_E_UNSUPPORTED;
        const uint64_t key = 7;
        bool flag = true;
        size_t n = 77;
        assert_status(tamis_filter_insert(view, "a", 1, &flag), TAMIS_E_READONLY);
        assert_status(tamis_filter_insert_u64(view, 1, &flag), TAMIS_E_READONLY);
        assert_status(tamis_filter_insert_many_u64(view, &key, 1, &flag, &n), TAMIS_E_READONLY);
        assert_status(tamis_filter_remove_u64(view, 1), no_remove);
        assert_status(tamis_filter_remove_many_u64(view, &key, 1, &flag, &n), no_remove);
        assert_status(tamis_filter_clear(view), TAMIS_E_READONLY);
        assert_status(tamis_filter_merge(view, other, TAMIS_MERGE_BEYOND), TAMIS_E_READONLY);
        assert_true(flag);
        assert_int_equal(n, 77);
        assert_memory_equal(bytes, original, size);

        tamis_filter *copy; /* of a view: writable */
        assert_ok(tamis_filter_clone(view, NULL, &copy));
        assert_same(f, copy);
        tamis_filter_free(view);
        insert_keys(copy, 400, 500); /* again: a set stays, a multiset has two of them */
        assert_contains(copy, 0, 500);
        assert_ok(tamis_filter_clear(copy));
        assert_memory_equal(bytes, original, size);
        tamis_filter_free(copy);
        tamis_filter_free(other);
        tamis_filter_free(f);
        free(original);
        free(bytes);
    }
}

static void test_view_of_unaligned_data_is_refused(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    tamis_filter *const f = test_filter(TAMIS_KIND_BLOCKED_BLOOM, 100, 0.01, 3), *view = NULL;
    insert_keys(f, 0, 100);
    size_t size;
    unsigned char *const bytes = test_encoded(f, &size);
    unsigned char *const room = aligned_alloc(64, (size + 127) / 64 * 64);
    assert_non_null(room);
    for (size_t shift = 1; shift < 64; shift++) {
        memcpy(room + shift, bytes, size);
        const tamis_status status = tamis_filter_view(room + shift, size, NULL, &view, NULL);
        assert_status(status, shift % 8 == 0 ? TAMIS_OK : TAMIS_E_ARGUMENT);
        if (status == TAMIS_OK) {
            assert_contains(view, 0, 100);
            tamis_filter_free(view);
        }
    }
    free(room);
    free(bytes);
    tamis_filter_free(f);
}

static void test_clear_leaves_an_empty_filter(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_filter *const f = test_filter(kind, 200, 0.01, 3);
        tamis_filter *const fresh = test_filter(kind, 200, 0.01, 3);
        insert_keys(f, 0, 200);
        assert_true(tamis_filter_count(f) > 0);
        assert_ok(tamis_filter_clear(f));
        assert_same(f, fresh);
        assert_int_equal(tamis_filter_count(f), 0);
        for (uint64_t key = 0; key < 200; key++)
            assert_false(tamis_filter_contains_u64(f, key));
        insert_keys(f, 0, 200);
        assert_contains(f, 0, 200);
        tamis_filter_free(fresh);
        tamis_filter_free(f);
    }
}

static void test_merge_equals_inserting_both(void **state) {
    (void)state;
    for_each_kind(kind) {
        if ((tamis_kind_abilities(kind) & TAMIS_CAN_MERGE) == 0)
            continue;
        tamis_filter *const a = test_filter(kind, 1000, 0.01, 3);
        tamis_filter *const b = test_filter(kind, 1000, 0.01, 3);
        insert_keys(a, 0, 500);
        insert_keys(b, 400, 1000);
        size_t size;
        unsigned char *const before = test_encoded(b, &size);
        uint64_t count = tamis_filter_count(a) + tamis_filter_count(b);
        if (tamis_kind_abilities(kind) & TAMIS_CAN_FORGET) { /* a key in both is counted once */
            tamis_filter *const both = test_filter(kind, 1000, 0.01, 3);
            insert_keys(both, 0, 1000);
            count = tamis_filter_count(both);
            tamis_filter_free(both);
        }
        assert_ok(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND));
        assert_encoded(b, before, size);
        assert_contains(a, 0, 1000);
        assert_int_equal(tamis_filter_count(a), count);
        if (tamis_kind_abilities(kind) & TAMIS_CAN_COUNT)
            for (uint64_t key = 400; key < 500; key++)
                assert_true(tamis_filter_copies_u64(a, key) >= 2);
        /* What was merged passes the loader's check. */
        size_t merged_size;
        unsigned char *const merged = test_encoded(a, &merged_size);
        tamis_filter *loaded;
        assert_ok(tamis_filter_decode(merged, merged_size, NULL, &loaded, NULL));
        assert_same(a, loaded);
        tamis_filter_free(loaded);
        free(merged);
        free(before);
        tamis_filter_free(b);
        tamis_filter_free(a);
    }
}

/* The tables of Bloom's family do not remember an order: merged, they are those of all keys in one. */
static void test_merge_of_bloom_tables_is_exact(void **state) {
    (void)state;
    const tamis_kind kinds[] = {TAMIS_KIND_BLOOM, TAMIS_KIND_BLOCKED_BLOOM,
                                TAMIS_KIND_COUNTING_BLOOM};
    for (unsigned i = 0; i < 3; i++) {
        tamis_filter *const a = test_filter(kinds[i], 1000, 0.01, 3);
        tamis_filter *const b = test_filter(kinds[i], 1000, 0.01, 3);
        tamis_filter *const both = test_filter(kinds[i], 1000, 0.01, 3);
        for (uint64_t key = 0; key < 1000; key++) {
            assert_ok(tamis_filter_insert_u64(key % 3 == 0 ? a : b, key, NULL));
            assert_ok(tamis_filter_insert_u64(both, key, NULL));
        }
        assert_ok(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND));
        size_t size;
        unsigned char *const merged = test_encoded(a, &size), *const one =
                                                                  test_encoded(both, &size);
        assert_memory_equal(merged + 256 + 64, one + 256 + 64, size - 256 - 64); /* the tables */
        free(one);
        free(merged);
        tamis_filter_free(both);
        tamis_filter_free(b);
        tamis_filter_free(a);
    }
}

static void test_merge_of_unlike_filters_is_refused(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_params like = test_params(kind, 1000, 0.01, 3);
        tamis_filter *a;
        assert_ok(tamis_filter_create(&like, NULL, &a));
        insert_keys(a, 0, 100);
        size_t size;
        unsigned char *const before = test_encoded(a, &size);
        for (unsigned change = 0; change < 5; change++) {
            tamis_params unlike = like;
            if (change == 0)
                unlike.seed++;
            else if (change == 3)
                unlike.hash = TAMIS_HASH_XXH3;
            else if (change == 1)
                unlike.capacity++;
            else if (change == 2)
                unlike.value[0]++;
            else
                unlike = test_params(kind == TAMIS_KIND_BLOOM ? TAMIS_KIND_BLOCKED_BLOOM
                                                              : TAMIS_KIND_BLOOM,
                                     1000, 0.01, 3);
            tamis_filter *b;
            const tamis_status made = tamis_filter_create(&unlike, NULL, &b);
            assert_true(made == TAMIS_OK || change == 2);
            if (made != TAMIS_OK)
                continue; /* not every kind can have one more of its first parameter */
            insert_keys(b, 0, 100);
            assert_status(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND), TAMIS_E_MISMATCH);
            tamis_filter_free(b);
            assert_encoded(a, before, size);
        }
        free(before);
        tamis_filter_free(a);
    }
}

static void test_info_agrees_with_the_filter(void **state) {
    (void)state;
    for_each_kind(kind) {
        const tamis_need need = test_need(kind, 1000, 0.01);
        tamis_plan plan = test_planned(&need);
        tamis_filter *f;
        plan.params.seed = 3;
        assert_ok(tamis_filter_create(&plan.params, NULL, &f));
        tamis_info info = test_info(f);
        assert_int_equal(info.count, 0);
        assert_true(isinf(info.bits_per_key) && info.bits_per_key > 0);
        assert_true(info.fpr == 0);
        assert_int_equal(info.saturated, 0);
        assert_int_equal(info.stash_used, 0);
        assert_in_range(info.n_loads, 2, TAMIS_LOADS_MAX);
        uint64_t cells = 0;
        for (size_t i = 0; i < info.n_loads; i++)
            cells += info.load_histogram[i];
        assert_true(info.load_histogram[0] == cells && cells > 0);
        assert_int_equal(info.bytes + 256, tamis_filter_encoded_size(f));
        double last = 0;
        for (uint64_t key = 0; key < 1000; key += 100) {
            insert_keys(f, key, key + 100);
            assert_ok(tamis_filter_info(f, &info));
            assert_int_equal(info.count, tamis_filter_count(f));
            assert_true(fabs(info.bits_per_key -
                             8 * (double)info.bytes / (double)tamis_filter_count(f)) < 1e-9);
            assert_true(info.fpr >= last);
            last = info.fpr;
            uint64_t sum = 0;
            for (size_t i = 0; i < TAMIS_LOADS_MAX; i++) {
                sum += info.load_histogram[i];
                if (i >= info.n_loads)
                    assert_int_equal(info.load_histogram[i], 0);
            }
            assert_int_equal(sum, cells);
        }
        printf("# %s: %g, planned %g\n", tamis_kind_name(kind), info.fpr, plan.fpr);
        assert_true(info.fpr > 0.75 * plan.fpr && info.fpr < 1.25 * plan.fpr);
        tamis_params params;
        tamis_params_init(&params);
        assert_ok(tamis_filter_params(f, &params));
        assert_memory_equal(&params, &info.params, sizeof params);
        tamis_filter_free(f);
    }
}

/* For Bloom's family the error rate that info tells follows from the histogram alone. */
static void test_info_rate_follows_from_the_histogram(void **state) {
    (void)state;
    const struct {
        tamis_kind kind;
        uint64_t partitioned;
    } rows[] = {{TAMIS_KIND_BLOOM, 0}, {TAMIS_KIND_BLOOM, 1}, {TAMIS_KIND_COUNTING_BLOOM, 0}};
    for (unsigned i = 0; i < 3; i++) {
        tamis_params params = test_bare_params(rows[i].kind, 1000, 5);
        params.value[0] = 9603; /* not a multiple of anything */
        params.value[1] = 7;
        params.value[2] = rows[i].partitioned;
        tamis_filter *f;
        assert_ok(tamis_filter_create(&params, NULL, &f));
        insert_keys(f, 0, 1000);
        const tamis_info info = test_info(f);
        uint64_t all = 0;
        for (size_t j = 0; j < info.n_loads; j++)
            all += info.load_histogram[j];
        assert_int_equal(all, 9603);
        const double filled = 1 - (double)info.load_histogram[0] / (double)all;
        /* Partitioned, the product of the fills is a little below the power of their mean. */
        const double rate = pow(filled, 7);
        assert_true(info.fpr <= rate * 1.01 && info.fpr >= rate * 0.98);
        if (!rows[i].partitioned)
            assert_true(fabs(info.fpr - rate) < 1e-12);
        tamis_filter_free(f);
    }
}

/* The next whole number to bits per key * ln 2, from 1 to 64. */
static void test_filter_default_hashes_fill_half_of_the_bits(void **state) {
    (void)state;
    static const struct {
        uint64_t bits, hashes;
    } rows[] = {{1, 1},   {100, 1}, {216, 1},  {217, 2},   {288, 2},    {360, 2},
                {361, 3}, {433, 3}, {1000, 7}, {9304, 64}, {20000, 64}, {1000000, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned counting = 0; counting < 2; counting++) {
            tamis_params params;
            tamis_filter *f;
            tamis_params_init(&params);
            params.kind = counting ? TAMIS_KIND_COUNTING_BLOOM : TAMIS_KIND_BLOOM;
            params.capacity = 100;
            params.value[0] = rows[i].bits;
            assert_ok(tamis_filter_create(&params, NULL, &f));
            assert_ok(tamis_filter_params(f, &params));
            assert_int_equal(params.value[1], rows[i].hashes);
            tamis_filter_free(f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params_make_the_same_filter_again),
        cmocka_unit_test(test_params_all_default_are_complete),
        cmocka_unit_test(test_seed_random_filters_differ),
        cmocka_unit_test(test_prefetch_has_no_effect),
        cmocka_unit_test(test_clone_is_equal_and_independent),
        cmocka_unit_test(test_view_answers_and_refuses_writes),
        cmocka_unit_test(test_view_of_unaligned_data_is_refused),
        cmocka_unit_test(test_clear_leaves_an_empty_filter),
        cmocka_unit_test(test_merge_equals_inserting_both),
        cmocka_unit_test(test_merge_of_bloom_tables_is_exact),
        cmocka_unit_test(test_merge_of_unlike_filters_is_refused),
        cmocka_unit_test(test_info_agrees_with_the_filter),
        cmocka_unit_test(test_info_rate_follows_from_the_histogram),
        cmocka_unit_test(test_filter_default_hashes_fill_half_of_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
