/* test_calls.c - calls for one key equal the functions of the kind, by digest, integer and bytes
 *
 * Calls may be in one piece, compiled for the processor at hand, and have common cases of their own.
 * Whatever they are, tables, counts and answers are those of the kind's own functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"
#include "support.h"

static bool can_remove(tamis_kind kind) {
    return (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
}

/* Parameters, also odd ones: of the kinds that have calls in one piece, all forms. */
static tamis_params any_params(tamis_kind kind, uint64_t *random) {
    const uint64_t n = 1 + test_random_below(random, 1500);
    tamis_params p = test_bare_params(kind, n, 1 + test_random_below(random, 1000));
    p.hash = test_random_below(random, 3) == 0 ? TAMIS_HASH_XXH3 : TAMIS_HASH_AES;
    uint64_t *const v = p.value;
    if (kind == TAMIS_KIND_BLOCKED_BLOOM) {
        v[TAMIS_BLOCKED_BLOOM_BLOCKS] = 1 + test_random_below(random, 60);
        v[TAMIS_BLOCKED_BLOOM_LANES] = 8 * test_random_below(random, 2);
        v[TAMIS_BLOCKED_BLOOM_HASHES] =
            v[TAMIS_BLOCKED_BLOOM_LANES] != 0 ? 8 : 1 + test_random_below(random, 16);
    } else if (kind == TAMIS_KIND_RANK) {
        v[TAMIS_RANK_FINGERPRINT_BITS] = 1 + test_random_below(random, 56);
        v[TAMIS_RANK_VALUE_BITS] = test_random_below(random, 9);
        p.stash = 1 + test_random_below(random, 50);
        if (test_random_below(random, 2) != 0) {
            v[TAMIS_RANK_BUCKETS] = 1 + test_random_below(random, 30);
            v[TAMIS_RANK_HOMES] = 1 + test_random_below(random, 64);
            v[TAMIS_RANK_SLOTS] = 1 + test_random_below(random, 90);
            v[TAMIS_RANK_SLOTS_2] = test_random_below(random, 20);
            v[TAMIS_RANK_EXTENSIONS_2] = v[TAMIS_RANK_SLOTS_2] != 0
                                             ? 1 + test_random_below(random, v[TAMIS_RANK_BUCKETS])
                                             : 0;
        }
    }
    return p;
}

/* By the kind itself, and by all ways to call. */
enum { BY_KIND, BY_DIGEST, BY_WORD, BY_BYTES, WAYS };

typedef struct quartet {
    tamis_filter *f[WAYS];
    unsigned char key[8];
} quartet;

static tamis_digest digest_of(quartet *q, uint64_t key) {
    for (unsigned i = 0; i < 8; i++)
        q->key[i] = (unsigned char)(key >> 8 * i);
    return tamis_hash_u64(tamis_filter_hasher(q->f[0]), key);
}

static bool all_contain(quartet *q, uint64_t key) {
    const tamis_digest d = digest_of(q, key);
    const bool present = q->f[0]->kind->contains(q->f[0], d);
    assert_int_equal(tamis_filter_contains_digest(q->f[BY_DIGEST], d), present);
    assert_int_equal(tamis_filter_contains_u64(q->f[BY_WORD], key), present);
    assert_int_equal(tamis_filter_contains(q->f[BY_BYTES], q->key, 8), present);
    return present;
}

/* 'ask': for the answer "added". */
static tamis_status all_insert(quartet *q, uint64_t key, bool ask) {
    const tamis_digest d = digest_of(q, key);
    bool added[WAYS] = {false};
    const tamis_status status = q->f[0]->kind->insert(q->f[0], d, &added[0]);
    assert_status(tamis_filter_insert_digest(q->f[BY_DIGEST], d, ask ? &added[BY_DIGEST] : NULL),
                  status);
    assert_status(tamis_filter_insert_u64(q->f[BY_WORD], key, ask ? &added[BY_WORD] : NULL),
                  status);
    assert_status(tamis_filter_insert(q->f[BY_BYTES], q->key, 8, ask ? &added[BY_BYTES] : NULL),
                  status);
    for (unsigned i = 1; ask && i < WAYS; i++)
        assert_int_equal(added[i], added[0]);
    return status;
}

static tamis_status all_remove(quartet *q, uint64_t key) {
    const tamis_digest d = digest_of(q, key);
    const tamis_status status = q->f[0]->kind->remove(q->f[0], d);
    assert_status(tamis_filter_remove_digest(q->f[BY_DIGEST], d), status);
    assert_status(tamis_filter_remove_u64(q->f[BY_WORD], key), status);
    assert_status(tamis_filter_remove(q->f[BY_BYTES], q->key, 8), status);
    return status;
}

static bool quartet_make(quartet *q, const tamis_params *params) {
    if (tamis_filter_create(params, NULL, &q->f[0]) != TAMIS_OK)
        return false;
    for (unsigned i = 1; i < WAYS; i++)
        assert_ok(tamis_filter_clone(q->f[0], NULL, &q->f[i]));
    return true;
}

static void quartet_end(quartet *q) {
    for (unsigned i = 1; i < WAYS; i++)
        assert_same(q->f[0], q->f[i]);
    for (unsigned i = 0; i < WAYS; i++)
        tamis_filter_free(q->f[i]);
}

static void test_calls_equal_the_kind(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        const bool forms = kind == TAMIS_KIND_BLOCKED_BLOOM || kind == TAMIS_KIND_RANK;
        unsigned made = 0, refused = 0, removed = 0;
        for (unsigned round = 0; round < (forms ? 60u : 4u); round++) {
            const tamis_params params = any_params(kind, &random);
            quartet q;
            if (!quartet_make(&q, &params))
                continue;
            made++;
            /* also too many */
            const uint64_t keys = params.capacity + test_random_below(&random, 2 * params.capacity);
            for (uint64_t i = 0; i < 2 * keys; i++) {
                const uint64_t key = test_random_below(&random, keys);
                if (can_remove(kind) && i % 3 == 0) /* what is not there must not be removed */
                    removed += all_contain(&q, key) && all_remove(&q, key) == TAMIS_OK;
                else
                    refused += all_insert(&q, key, i % 2 == 0) == TAMIS_E_FULL;
            }
            for (uint64_t key = 0; key < 2 * keys; key++)
                (void)all_contain(&q, key);
            quartet_end(&q);
        }
        printf("# %s: %u filters, %u inserts refused, %u removals\n", tamis_kind_name(kind), made,
               refused, removed);
        assert_true(made >= (forms ? 30 : 2) && (removed > 0 || !can_remove(kind)));
    }
}

/* Filters as they are planned, full: the common case. */
static void test_calls_equal_the_kind_on_plans(void **state) {
    (void)state;
    static const double rates[] = {0.1, 0.01, 1e-4};
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        for (unsigned i = 0; i < 3; i++) {
            const tamis_params params = test_params(kind, 5000, rates[i], 7);
            quartet q;
            assert_true(quartet_make(&q, &params));
            for (uint64_t key = 0; key < 5000; key++)
                assert_ok(all_insert(&q, key, key % 3 == 0));
            for (uint64_t key = 0; key < 10000; key++)
                assert_true(all_contain(&q, key) || key >= 5000);
            for (uint64_t key = 0; can_remove(kind) && key < 5000; key++)
                assert_ok(all_remove(&q, key));
            quartet_end(&q);
        }
    }
}

/* What may not be changed says so, by every call, and a set that has grown is asked link by link. */
static void test_calls_of_views_and_series(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_filter *const f = test_filter(kind, 500, 0.001, 3), *view;
        const tamis_digest d = tamis_hash_u64(tamis_filter_hasher(f), 7);
        const tamis_status removed = can_remove(kind) ? TAMIS_E_READONLY : TAMIS_E_UNSUPPORTED;
        size_t size;
        assert_ok(tamis_filter_insert_u64(f, 7, NULL));
        unsigned char *const bytes = test_encoded(f, &size);
        const tamis_status status = tamis_filter_view(bytes, size, NULL, &view, NULL);
        if (status == TAMIS_OK) { /* not on a big-endian machine */
            assert_true(tamis_filter_contains_u64(view, 7));
            assert_true(tamis_filter_contains_digest(view, d));
            assert_status(tamis_filter_insert_u64(view, 7, NULL), TAMIS_E_READONLY);
            assert_status(tamis_filter_insert_digest(view, d, NULL), TAMIS_E_READONLY);
            assert_status(tamis_filter_insert(view, "a", 1, NULL), TAMIS_E_READONLY);
            assert_status(tamis_filter_remove_u64(view, 7), removed);
            assert_status(tamis_filter_remove_digest(view, d), removed);
            assert_status(tamis_filter_remove(view, "a", 1), removed);
            tamis_filter_free(view);
        }
        free(bytes);
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.fpr = 0.01;
        assert_ok(tamis_filter_grow(f, &growth));
        for (uint64_t key = 0; key < 1000; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        assert_true(test_info(f).n_links > 1);
        for (uint64_t key = 0; key < 1000; key++) {
            assert_true(tamis_filter_contains_u64(f, key));
            assert_true(
                tamis_filter_contains_digest(f, tamis_hash_u64(tamis_filter_hasher(f), key)));
        }
        if (can_remove(kind)) {
            const tamis_status gone = tamis_filter_remove_u64(f, 999);
            assert_true(gone == TAMIS_OK || gone == TAMIS_E_AMBIGUOUS);
        } else {
            assert_status(tamis_filter_remove_u64(f, 999), TAMIS_E_UNSUPPORTED);
        }
        tamis_filter_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_equal_the_kind),
        cmocka_unit_test(test_calls_equal_the_kind_on_plans),
        cmocka_unit_test(test_calls_of_views_and_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
