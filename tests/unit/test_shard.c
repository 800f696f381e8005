/* test_shard.c - keys split over several sets
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

enum { SHARDS = 64, KEYS = 2000 };

/* The same numbers for ever: also those of a reader in another language. */
static void test_shard_vectors(void **state) {
    (void)state;
    const struct {
        tamis_digest digest;
        uint64_t n, shard;
    } rows[] = {
        {{0, 0}, 1, 0},
        {{0, 0}, 64, 13},
        {{1, 0}, 64, 28},
        {{0, 1}, 64, 34},
        {{0x0123456789abcdef, 0xfedcba9876543210}, 1000003, 40172},
        {{UINT64_MAX, UINT64_MAX}, UINT64_MAX, UINT64_C(11774676866636677861)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(tamis_digest_shard(rows[i].digest, rows[i].n) == rows[i].shard);
}

/* Of successive integers, and of digests that agree in one half. */
static void test_shards_are_fair(void **state) {
    (void)state;
    const uint64_t sizes[] = {2, 3, 64, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t hashed[1000] = {0}, low[1000] = {0}, high[1000] = {0};
        for (uint64_t key = 0; key < 200000; key++) {
            const tamis_digest low_only = {.lo = key, .hi = 5}, high_only = {.lo = 5, .hi = key};
            hashed[tamis_digest_shard(test_hash_u64(test_seed(), key), sizes[i])]++;
            low[tamis_digest_shard(low_only, sizes[i])]++;
            high[tamis_digest_shard(high_only, sizes[i])]++;
        }
        assert_fair("shards of digests", hashed, (size_t)sizes[i]);
        assert_fair("shards of low halves", low, (size_t)sizes[i]);
        assert_fair("shards of high halves", high, (size_t)sizes[i]);
    }
}

typedef enum way { BY_SHARD, BY_LOW_BITS_OF_HI, BY_HIGH_BITS_OF_LO } way;

static uint64_t shard_of(way w, tamis_digest digest) {
    return w == BY_SHARD            ? tamis_digest_shard(digest, SHARDS)
           : w == BY_LOW_BITS_OF_HI ? digest.hi % SHARDS
                                    : digest.lo >> 58;
}

/* A set of this kind with KEYS keys of shard 5; its error rate as a multiple of the promise, or INFINITY if
 * it was full before. */
static double rate_of(tamis_kind kind, way w) {
    const tamis_need need = test_need(kind, KEYS, 0.01);
    tamis_plan plan = test_planned(&need);
    tamis_filter *filter;
    plan.params.seed = 7;
    assert_ok(tamis_filter_create(&plan.params, NULL, &filter));
    tamis_status status = TAMIS_OK;
    for (uint64_t key = 0, in = 0; in < KEYS && status == TAMIS_OK; key++) {
        const tamis_digest digest = test_hash_u64(7, key);
        if (shard_of(w, digest) != 5)
            continue;
        status = tamis_filter_insert_digest(filter, digest, NULL);
        in++;
    }
    size_t asked = 0, found = 0;
    for (uint64_t key = UINT64_C(1) << 40; asked < 20000 && status == TAMIS_OK; key++) {
        const tamis_digest digest = test_hash_u64(7, key);
        if (shard_of(w, digest) != 5)
            continue;
        found += tamis_filter_contains_digest(filter, digest);
        asked++;
    }
    tamis_filter_free(filter);
    return status == TAMIS_OK ? (double)found / (double)asked / 0.01 : INFINITY;
}

/* 200 errors are expected of 20,000; five standard deviations are 71, and small sets scatter themselves. */
static void test_shard_leaves_every_kind_as_it_is(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        const double rate = rate_of(kind, BY_SHARD);
        printf("# %s: %.2f of the promise\n", tamis_kind_name(kind), rate);
        assert_true(rate < 1.4);
    }
}

/* The trap: bits that the structures draw from themselves.  It shows that the test above can fail. */
static void test_bits_of_the_digest_break_sets(void **state) {
    (void)state;
    assert_true(rate_of(TAMIS_KIND_RANK, BY_LOW_BITS_OF_HI) > 10);
    assert_true(isinf(rate_of(TAMIS_KIND_RANK, BY_HIGH_BITS_OF_LO)));
    assert_true(isinf(rate_of(TAMIS_KIND_STEADY, BY_HIGH_BITS_OF_LO)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shard_vectors),
        cmocka_unit_test(test_shards_are_fair),
        cmocka_unit_test(test_shard_leaves_every_kind_as_it_is),
        cmocka_unit_test(test_bits_of_the_digest_break_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
