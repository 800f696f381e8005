/* test_balanced.c - the balanced Bloom filter at its edges: budget, full list, extreme parameters
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"
#include "tamis/model.h"

enum { SINGLE = 1, SEQUENTIAL = 2, MHT = 3 };

static const uint64_t one = (uint64_t)1 << 32;

static tamis_params params_of(uint64_t scheme, uint64_t capacity, uint64_t bits, uint64_t blocks) {
    tamis_params params = test_bare_params(TAMIS_KIND_BALANCED_BLOOM, capacity, test_seed());
    params.value[TAMIS_BALANCED_BLOOM_SCHEME] = scheme;
    params.value[TAMIS_BALANCED_BLOOM_BLOCK_BITS] = bits;
    params.value[TAMIS_BALANCED_BLOOM_BLOCKS] = blocks;
    return params;
}

/* A filter with as many keys as it was made for. */
static tamis_filter *filled(const tamis_params *params) {
    tamis_filter *filter;
    assert_ok(tamis_filter_create(params, NULL, &filter));
    for (uint64_t key = 0; key < params->capacity; key++)
        assert_ok(tamis_filter_insert_u64(filter, key, NULL));
    return filter;
}

static uint64_t keys_in_blocks(const tamis_info *info) {
    uint64_t keys = 0;
    for (size_t i = 0; i < info->n_loads; i++)
        keys += i * info->load_histogram[i];
    return keys;
}

static void test_balanced_parameters_out_of_range_are_refused(void **state) {
    (void)state;
    static const struct {
        uint64_t scheme;
        unsigned index;
        uint64_t value;
    } bad[] = {
        {4, TAMIS_BALANCED_BLOOM_CHOICES, 3},
        {MHT, TAMIS_BALANCED_BLOOM_CHOICES, 9},
        {SINGLE, TAMIS_BALANCED_BLOOM_CHOICES, 2},
        {MHT, TAMIS_BALANCED_BLOOM_BLOCK_BITS, 32},
        {MHT, TAMIS_BALANCED_BLOOM_BLOCK_BITS, 96},
        {MHT, TAMIS_BALANCED_BLOOM_BLOCK_BITS, 576},
        {MHT, TAMIS_BALANCED_BLOOM_BLOCKS, 2}, /* three sub-tables */
        {SEQUENTIAL, TAMIS_BALANCED_BLOOM_BLOCKS, ((uint64_t)1 << 38) + 1},
        {MHT, TAMIS_BALANCED_BLOOM_BLOCKS, UINT64_MAX},
        {MHT, TAMIS_BALANCED_BLOOM_HASHES, 33},
        {MHT, TAMIS_BALANCED_BLOOM_LOAD_MAX, 4096},
        {MHT, TAMIS_BALANCED_BLOOM_COIN, ((uint64_t)1 << 32) + 1},
        {MHT, TAMIS_BALANCED_BLOOM_RATIO, ((uint64_t)1 << 32) + 1},
        {SEQUENTIAL, TAMIS_BALANCED_BLOOM_RATIO, 1},
        {SINGLE, TAMIS_BALANCED_BLOOM_RATIO, 1},
        {MHT, TAMIS_BALANCED_BLOOM_BUDGET, 999},
        {MHT, TAMIS_BALANCED_BLOOM_BUDGET, 8001},
        {MHT, 9, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tamis_params params = params_of(bad[i].scheme, 1000, 0, 0);
        tamis_filter *filter = NULL;
        params.value[bad[i].index] = bad[i].value;
        if (tamis_filter_create(&params, NULL, &filter) != TAMIS_E_ARGUMENT)
            fail_msg("row %zu is not refused", i);
        assert_null(filter);
    }
}

/* Fill to three times the capacity; every key is there at every quarter of the way, for single and for
 * batched queries, and after a file. */
static void fill_and_find(const tamis_params *params) {
    tamis_filter *filter, *loaded;
    const uint64_t all = 3 * params->capacity;
    uint64_t added = 0;
    uint64_t *const keys = malloc((size_t)all * sizeof *keys);
    bool *const present = malloc((size_t)all);
    assert_non_null(keys);
    assert_non_null(present);
    assert_ok(tamis_filter_create(params, NULL, &filter));
    for (uint64_t key = 0; key < all; key++) {
        bool fresh;
        keys[key] = key * 0x9e3779b97f4a7c15u;
        const bool was = tamis_filter_contains_u64(filter, keys[key]);
        assert_ok(tamis_filter_insert_u64(filter, keys[key], &fresh));
        assert_int_equal(fresh, !was);
        added += fresh;
        if ((key + 1) % (all / 4) != 0)
            continue;
        for (uint64_t k = 0; k <= key; k++)
            assert_true(tamis_filter_contains_u64(filter, keys[k]));
        assert_int_equal(tamis_filter_contains_many_u64(filter, keys, (size_t)key + 1, present),
                         key + 1);
    }
    assert_int_equal(tamis_filter_count(filter), added);
    size_t size;
    unsigned char *const bytes = test_encoded(filter, &size);
    const char *reason = "";
    if (tamis_filter_decode(bytes, size, NULL, &loaded, &reason) != TAMIS_OK)
        fail_msg("refused: %s", reason);
    for (uint64_t k = 0; k < all; k++)
        assert_true(tamis_filter_contains_u64(loaded, keys[k]));
    /* Absent keys get the same answer either way. */
    for (uint64_t k = 0; k < all; k++)
        keys[k] = (all + k) * 0x9e3779b97f4a7c15u;
    (void)tamis_filter_contains_many_u64(filter, keys, (size_t)all, present);
    for (uint64_t k = 0; k < all; k++)
        assert_int_equal(present[k], tamis_filter_contains_u64(filter, keys[k]));
    tamis_filter_free(loaded);
    tamis_filter_free(filter);
    free(bytes);
    free(present);
    free(keys);
}

static void test_balanced_no_key_is_lost_at_the_edges(void **state) {
    (void)state;
    const uint64_t coins[] = {1, one / 3, one}, loads[] = {1, 2, 9, 4095};
    const uint64_t sizes[] = {64, 256, 320, 512}, stashes[] = {1, 40};
    for (unsigned i = 0; i < 3 * 3 * 4 * 4 * 2 * 2; i++) {
        tamis_params params = params_of(1 + i % 3, 200, sizes[i / 9 % 4], 23);
        params.value[TAMIS_BALANCED_BLOOM_COIN] = coins[i / 3 % 3];
        params.value[TAMIS_BALANCED_BLOOM_LOAD_MAX] = loads[i / 36 % 4];
        params.value[TAMIS_BALANCED_BLOOM_HASHES] = 1 + i % 32;
        params.value[TAMIS_BALANCED_BLOOM_BUDGET] = i / 288 % 2 == 0 ? 0 : 1000 + i % 200;
        params.value[TAMIS_BALANCED_BLOOM_CHOICES] = i % 3 == 0 ? 1 : 1 + i % 8;
        params.stash = stashes[i / 144 % 2];
        fill_and_find(&params);
    }
}

/* As many looks as the budget has, and not one more; what came later is in the stash, or forced. */
static void test_balanced_budget_is_respected(void **state) {
    (void)state;
    for (uint64_t scheme = SEQUENTIAL; scheme <= MHT; scheme++) {
        tamis_params params = params_of(scheme, 10000, 256, 1250);
        params.value[TAMIS_BALANCED_BLOOM_BUDGET] = 1010;
        params.stash = 3000;
        tamis_filter *const filter = filled(&params);
        const tamis_info at = test_info(filter);
        double looks = at.reads_per_insert * (double)at.count;
        printf("# scheme %llu: %.0f looks, %llu keys in the stash\n", (unsigned long long)scheme,
               looks, (unsigned long long)at.stash_used);
        assert_true(looks > 10099.5 && looks < 10100.5);
        assert_true(at.stash_used > 10);
        assert_int_equal(keys_in_blocks(&at) + at.stash_used, at.count);
        for (uint64_t key = 10000; key < 20000; key++)
            assert_ok(tamis_filter_insert_u64(filter, key, NULL));
        const tamis_info after = test_info(filter);
        assert_int_equal(after.stash_used, after.stash_size);
        assert_int_equal(keys_in_blocks(&after), keys_in_blocks(&at));
        looks = after.reads_per_insert * (double)after.count;
        assert_true(looks > 10099.5 && looks < 10100.5);
        for (uint64_t key = 0; key < 20000; key++)
            assert_true(tamis_filter_contains_u64(filter, key));
        tamis_filter_free(filter);
    }
}

/* No block takes more than load_max; what is past that goes to the stash while it has room. */
static void test_balanced_loads_keep_their_limit(void **state) {
    (void)state;
    tamis_params params = params_of(SINGLE, 1000, 512, 100);
    params.value[TAMIS_BALANCED_BLOOM_LOAD_MAX] = 7;
    params.stash = 400;
    for (uint64_t scheme = SINGLE; scheme <= MHT; scheme++) {
        params.value[TAMIS_BALANCED_BLOOM_SCHEME] = scheme;
        tamis_filter *const filter = filled(&params);
        const tamis_info info = test_info(filter);
        assert_int_equal(info.n_loads, 8);
        assert_int_equal(keys_in_blocks(&info) + info.stash_used, info.count);
        tamis_filter_free(filter);
    }
}

static void test_balanced_merge_loses_nothing(void **state) {
    (void)state;
    for (uint64_t scheme = SINGLE; scheme <= MHT; scheme++) {
        tamis_params params = params_of(scheme, 4000, 256, 500);
        tamis_filter *a, *b, *both;
        params.stash = 2000;
        assert_ok(tamis_filter_create(&params, NULL, &a));
        assert_ok(tamis_filter_create(&params, NULL, &b));
        assert_ok(tamis_filter_create(&params, NULL, &both));
        for (uint64_t key = 0; key < 4000; key++) {
            assert_ok(tamis_filter_insert_u64(key % 2 == 0 ? a : b, key, NULL));
            assert_ok(tamis_filter_insert_u64(both, key, NULL));
        }
        assert_ok(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND));
        for (uint64_t key = 0; key < 4000; key++)
            assert_true(tamis_filter_contains_u64(a, key));
        const tamis_info merged = test_info(a), inserted = test_info(both);
        printf("# scheme %llu: error rate %.2e merged, %.2e inserted\n", (unsigned long long)scheme,
               merged.fpr, inserted.fpr);
        assert_true(merged.fpr >= 0.5 * inserted.fpr);
        tamis_filter_free(a);
        tamis_filter_free(b);
        tamis_filter_free(both);
    }
}

static void test_balanced_need_out_of_range_is_refused(void **state) {
    (void)state;
    tamis_balanced_need good, need;
    tamis_plan plan;
    tamis_plan_init(&plan);
    tamis_balanced_need_init(&good);
    good.n = 1000;
    assert_ok(tamis_plan_balanced(&good, &plan));
    assert_int_equal(plan.params.capacity, 1000);
    assert_status(tamis_plan_balanced(NULL, &plan), TAMIS_E_ARGUMENT);
    assert_status(tamis_plan_balanced(&good, NULL), TAMIS_E_ARGUMENT);
#define BAD(member, bad)                                                                           \
    need = good;                                                                                   \
    need.member = bad;                                                                             \
    assert_status(tamis_plan_balanced(&need, &plan), TAMIS_E_ARGUMENT)
    BAD(struct_size, 1);
    BAD(n, 0);
    BAD(n, TAMIS_CAPACITY_MAX + 1);
    BAD(scheme, 4);
    BAD(choices, 1);
    BAD(choices, 9);
    BAD(block_bits, 100);
    BAD(block_bits, 1024);
    BAD(hashes, 33);
    BAD(bits_per_key, -1);
    BAD(bits_per_key, 513);
    BAD(accesses, 0.9);
    BAD(overflow, 1);
    BAD(overflow, -0.1);
    BAD(odds, 1);
#undef BAD
    need = good;
    need.accesses = 3.5; /* of three choices */
    assert_status(tamis_plan_balanced(&need, &plan), TAMIS_E_DOMAIN);
}

/* One look, and 0.5 % in the stash unless told otherwise. */
static void test_balanced_need_of_one_choice_has_its_own_overflow(void **state) {
    (void)state;
    static const double overflow[3] = {0, 0.005, 0.05};
    tamis_plan plan[3];
    for (unsigned i = 0; i < 3; i++) {
        tamis_balanced_need need;
        tamis_balanced_need_init(&need);
        need.n = 100000;
        need.scheme = TAMIS_BALANCE_SINGLE;
        need.overflow = overflow[i];
        tamis_plan_init(&plan[i]);
        assert_ok(tamis_plan_balanced(&need, &plan[i]));
    }
    assert_memory_equal(&plan[0].params, &plan[1].params, sizeof plan[0].params);
    assert_true(plan[0].params.stash >= 500 && plan[0].params.stash < 1000);
    assert_true(plan[2].params.stash >= 5000 && plan[2].params.stash < 7500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_balanced_no_key_is_lost_at_the_edges),
        cmocka_unit_test(test_balanced_budget_is_respected),
        cmocka_unit_test(test_balanced_loads_keep_their_limit),
        cmocka_unit_test(test_balanced_merge_loses_nothing),
        cmocka_unit_test(test_balanced_need_out_of_range_is_refused),
        cmocka_unit_test(test_balanced_need_of_one_choice_has_its_own_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
