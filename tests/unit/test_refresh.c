/* test_refresh.c - filters made anew from their keys, of every kind
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#define for_each_kind(kind) for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)

enum { N = 2000 };

/* Keys by number, as digests, in the order of 'number'. */
typedef struct keys {
    uint64_t seed;
    uint64_t number[N + 1];
    size_t n, next;
} keys;

static bool keys_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    keys *const k = context;
    for (*n = 0; *n < room && k->next < k->n; ++*n)
        digests[*n] = test_hash_u64(k->seed, k->number[k->next++]);
    return true;
}

static bool keys_rewind(void *context) {
    ((keys *)context)->next = 0;
    return true;
}

static void keys_shuffle(keys *k, uint64_t *random) {
    for (size_t i = k->n; i > 1; i--) {
        const size_t other = (size_t)test_random_below(random, i);
        const uint64_t last = k->number[i - 1];
        k->number[i - 1] = k->number[other];
        k->number[other] = last;
    }
}

/* A filter that errs often, with N keys in. */
static tamis_filter *filled(tamis_kind kind, uint64_t seed, keys *k) {
    tamis_filter *const f = test_filter(kind, N, 0.05, seed);
    k->seed = seed;
    k->n = N;
    for (uint64_t key = 0; key < N; key++) {
        k->number[key] = key;
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    }
    return f;
}

static bool is_multiset(tamis_kind kind) {
    return (tamis_kind_abilities(kind) & TAMIS_CAN_COUNT) != 0;
}

/* Among a set's keys are false positives, which it does not count, others in each order. */
static void test_refresh_keys_in_any_order_are_accepted(void **state) {
    (void)state;
    static keys k;
    const tamis_source source = {.read = keys_read, .rewind = keys_rewind, .context = &k};
    uint64_t random = test_seed();
    for_each_kind(kind) {
        for (unsigned trial = 0; trial < 4; trial++) {
            tamis_filter *const f = filled(kind, test_seed() + trial, &k);
            const uint64_t count = tamis_filter_count(f);
            size_t size;
            unsigned char *const before = test_encoded(f, &size);
            keys_shuffle(&k, &random);
            assert_ok(tamis_filter_refresh(f, &source));
            assert_int_equal(tamis_filter_count(f), count);
            for (uint64_t key = 0; key < N; key++)
                assert_true(tamis_filter_contains_u64(f, key));
            if (!is_multiset(kind)) /* does not age */
                assert_encoded(f, before, size);
            free(before);
            tamis_filter_free(f);
        }
    }
}

/* A multiset would lose what is left out.  A set is not changed, so that it keeps it. */
static void test_refresh_left_out_keys_are_not_lost(void **state) {
    (void)state;
    static keys k;
    const tamis_source source = {.read = keys_read, .rewind = keys_rewind, .context = &k};
    uint64_t random = test_seed() + 1;
    for_each_kind(kind) {
        tamis_filter *const f = filled(kind, test_seed() + 17, &k);
        const tamis_status expected = is_multiset(kind) ? TAMIS_E_MISMATCH : TAMIS_OK;
        size_t size;
        unsigned char *const before = test_encoded(f, &size);
        keys_shuffle(&k, &random);
        k.n = N - 1;
        assert_status(tamis_filter_refresh(f, &source), expected);
        k.n = N + 1;
        k.number[N] = k.number[0]; /* once too often */
        assert_status(tamis_filter_refresh(f, &source), expected);
        k.n = N;
        for (k.number[7] = N; tamis_filter_contains_u64(f, k.number[7]);)
            k.number[7]++; /* not in */
        assert_status(tamis_filter_refresh(f, &source), TAMIS_E_MISMATCH);
        assert_encoded(f, before, size);
        free(before);
        tamis_filter_free(f);
    }
}

/* Only the keys are told. */
static void test_refresh_values_are_refused(void **state) {
    (void)state;
    static keys k = {.n = 1, .number = {1}};
    const tamis_source source = {.read = keys_read, .rewind = keys_rewind, .context = &k};
    tamis_params params;
    tamis_params_init(&params);
    params.kind = TAMIS_KIND_RANK;
    params.capacity = 10;
    params.seed = k.seed = test_seed();
    params.value[TAMIS_RANK_VALUE_BITS] = 3;
    tamis_filter *f;
    unsigned value = 0;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    assert_ok(tamis_filter_insert_value_digest(f, test_hash_u64(params.seed, 1), 5, NULL));
    assert_status(tamis_filter_refresh(f, &source), TAMIS_E_UNSUPPORTED);
    assert_ok(tamis_filter_lookup_value_digest(f, test_hash_u64(params.seed, 1), &value));
    assert_int_equal(value, 5);
    tamis_filter_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refresh_keys_in_any_order_are_accepted),
        cmocka_unit_test(test_refresh_left_out_keys_are_not_lost),
        cmocka_unit_test(test_refresh_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
