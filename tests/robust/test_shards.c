/* test_shards.c - damaged sharded sets: each rule of the format, every cut, every flipped byte
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/base.h"
#include "file/header.h"
#include "filter/guard.h"
#include "hash/hash.h"
#include "tamis/shared.h"

#define HEAD   TAMIS_I_HEADER_BYTES
#define SHARDS 3u

/* A sound set of three shards, of which the keys have made series if it grows, in a buffer with room. */
static unsigned char *sound(tamis_kind kind, bool grows, size_t *size) {
    tamis_shared *s = NULL;
    tamis_filter *f = NULL;
    tamis_growth growth;
    tamis_growth_init(&growth);
    tamis_params params = test_bare_params(kind, 10, 1);
    params.hash = TAMIS_HASH_XXH3;
    growth.fpr = 0.1;
    growth.automatic = true;
    assert_ok(tamis_shared_create(&params, SHARDS, NULL, &s));
    if (grows)
        assert_ok(tamis_shared_allow_growth(s, &growth));
    for (uint64_t key = 0; key < (grows ? 60 : 20); key++)
        assert_ok(tamis_shared_insert_u64(s, key, NULL));
    assert_ok(tamis_shared_snapshot(s, NULL, &f));
    *size = (size_t)tamis_filter_encoded_size(f);
    unsigned char *const bytes = calloc(1, *size + 4096);
    assert_non_null(bytes);
    assert_ok(tamis_filter_encode(f, bytes, *size));
    tamis_filter_free(f);
    tamis_shared_free(s);
    return bytes;
}

static void seal(unsigned char *head) {
    tamis_i_put_u64(head + TAMIS_I_AT_HEADER_CHECKSUM,
                    tamis_i_checksum(head, TAMIS_I_AT_HEADER_CHECKSUM));
}

/* Where shard i begins; none of them has grown. */
static size_t shard_at(const unsigned char *bytes, unsigned i) {
    size_t at = HEAD;
    for (; i > 0; i--)
        at += HEAD + 8 * (size_t)tamis_i_get_u64(bytes + at + TAMIS_I_AT_BODY_WORDS);
    return at;
}

/* Make all checksums right. */
static void seal_all(unsigned char *bytes) {
    unsigned char sums[SHARDS * 8];
    for (unsigned i = 0; i < SHARDS; i++) {
        unsigned char *const shard = bytes + shard_at(bytes, i);
        const size_t size = 8 * (size_t)tamis_i_get_u64(shard + TAMIS_I_AT_BODY_WORDS);
        tamis_i_put_u64(shard + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(shard + HEAD, size));
        seal(shard);
        memcpy(sums + (size_t)8 * i, shard + TAMIS_I_AT_HEADER_CHECKSUM, 8);
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(sums, sizeof sums));
    seal(bytes);
}

/* Refused by every way in; nothing stays allocated.  'expected': for this reason, or NULL. */
static void assert_refused(const unsigned char *bytes, size_t size, const char *expected) {
    for (unsigned way = 0; way < 2; way++) {
        test_allocator t;
        tamis_filter *f = NULL;
        const char *reason = NULL;
        if (way == 1 && !tamis_i_little_endian())
            continue;
        test_allocator_init(&t, -1);
        /* The copy ends where the bytes end, so that a sanitizer sees what reads on. */
        unsigned char *const exact = malloc(size + (size == 0));
        assert_non_null(exact);
        memcpy(exact, bytes, size);
        const tamis_status status =
            way == 0 ? tamis_filter_decode(exact, size, &t.allocator, &f, &reason)
                     : tamis_filter_view(exact, size, &t.allocator, &f, &reason);
        assert_true(status == TAMIS_E_FORMAT || (expected == NULL && status == TAMIS_E_VERSION));
        assert_null(f);
        assert_non_null(reason);
        if (expected != NULL)
            assert_string_equal(reason, expected);
        assert_int_equal(t.live, 0);
        free(exact);
    }
}

static void test_shards_cut_anywhere_are_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound(TAMIS_KIND_BLOOM, true, &size);
    for (size_t cut = 0; cut < size; cut += cut % 64 == 1 ? 62 : 1)
        assert_refused(bytes, cut, NULL);
    assert_refused(bytes, size + 8, "the file goes on after its end");
    free(bytes);
}

static void test_shards_with_any_byte_flipped_are_refused(void **state) {
    (void)state;
    for (unsigned grows = 0; grows < 2; grows++) {
        size_t size;
        unsigned char *const bytes = sound(TAMIS_KIND_BLOOM, grows != 0, &size);
        for (size_t at = 0; at < size; at++) {
            bytes[at] ^= (unsigned char)(1u << at % 8);
            assert_refused(bytes, size, NULL);
            bytes[at] ^= (unsigned char)(1u << at % 8);
        }
        free(bytes);
    }
}

static void test_shards_exchanged_are_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound(TAMIS_KIND_BLOOM, false, &size);
    const size_t one = shard_at(bytes, 1) - shard_at(bytes, 0);
    unsigned char *const aside = malloc(one);
    assert_non_null(aside);
    memcpy(aside, bytes + HEAD, one);
    memcpy(bytes + HEAD, bytes + HEAD + one, one);
    memcpy(bytes + HEAD + one, aside, one);
    assert_refused(bytes, size, "the body is damaged: its checksum does not match");
    free(aside);
    free(bytes);
}

typedef struct rule {
    size_t at; /* in the header of the set, or from 'shard' on */
    int shard; /* -1: the set's own header */
    uint64_t value;
    const char *reason;
} rule;

static void test_shards_each_rule_is_checked(void **state) {
    (void)state;
    static const char range[] = "a parameter in the header is out of range";
    static const char alike[] = "the shards of the set differ in kind, size or seed";
    static const rule rules[] = {
        {TAMIS_I_AT_VALUES, -1, 0, range},
        {TAMIS_I_AT_VALUES, -1, 1025, range},
        {TAMIS_I_AT_VALUES, -1, UINT64_MAX, range},
        {TAMIS_I_AT_VALUES, -1, 2, "the size of the set is not that of its shards"},
        {TAMIS_I_AT_VALUES, -1, 4, "the size of the set is not that of its shards"},
        {TAMIS_I_AT_VALUES + 8, -1, 1, range},
        {TAMIS_I_AT_STASH, -1, 1, range},
        {TAMIS_I_AT_BODY_WORDS, -1, UINT64_MAX / 8, "the file is cut off within the body"},
        {TAMIS_I_AT_BODY_WORDS, -1, 1, "the file goes on after its end"},
        {TAMIS_I_AT_CAPACITY, -1, 29, "the capacity of the set is not that of its shards"},
        {TAMIS_I_AT_SEED, -1, 2, alike},
        {TAMIS_I_AT_SEED, 1, 2, alike},
        {TAMIS_I_AT_CAPACITY, 2, 11, alike},
        {TAMIS_I_AT_KIND, 1, (uint64_t)TAMIS_HASH_XXH3 << 32 | 129,
         "the header names an unknown kind of filter"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t size;
        unsigned char *const bytes = sound(TAMIS_KIND_BLOOM, false, &size);
        const size_t from = rules[i].shard < 0 ? 0 : shard_at(bytes, (unsigned)rules[i].shard);
        tamis_i_put_u64(bytes + from + rules[i].at, rules[i].value);
        seal_all(bytes);
        assert_refused(bytes, size, rules[i].reason);
        free(bytes);
    }
    /* what was not touched is taken */
    size_t size;
    unsigned char *const bytes = sound(TAMIS_KIND_BLOOM, false, &size);
    seal_all(bytes);
    tamis_filter *f = NULL;
    assert_ok(tamis_filter_decode(bytes, size, NULL, &f, NULL));
    tamis_filter_free(f);
    free(bytes);
}

/* Loading, with each allocation failing in turn. */
static void test_shards_failed_allocations_leave_nothing(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound(TAMIS_KIND_RANK, true, &size);
    tamis_filter *f = NULL;
    for (long fail = 0; f == NULL && fail < 200; fail++) {
        test_allocator t;
        test_allocator_init(&t, fail);
        const tamis_status status = tamis_filter_decode(bytes, size, &t.allocator, &f, NULL);
        assert_true(status == TAMIS_OK || status == TAMIS_E_NOMEM);
        if (status == TAMIS_OK)
            tamis_filter_free(f);
        assert_int_equal(t.live, 0);
    }
    assert_non_null(f);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards_cut_anywhere_are_refused),
        cmocka_unit_test(test_shards_with_any_byte_flipped_are_refused),
        cmocka_unit_test(test_shards_exchanged_are_refused),
        cmocka_unit_test(test_shards_each_rule_is_checked),
        cmocka_unit_test(test_shards_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
