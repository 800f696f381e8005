/* test_compact.c - the compact form of filters: round trips, and nothing damaged is believed
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include "filter/filter.h"
#include "hash/hash.h"

#include <unistd.h>

typedef struct blob {
    unsigned char *bytes;
    size_t size;
} blob;

static blob encode_compact(const tamis_filter *f) {
    blob b = {.size = (size_t)tamis_filter_compact_size(f)};
    b.bytes = malloc(b.size);
    assert_non_null(b.bytes);
    assert_ok(tamis_filter_compact_encode(f, b.bytes, b.size));
    return b;
}

/* A filter with extensions of both kinds, keys in the stash and keys several times. */
static tamis_filter *sample(tamis_kind kind, uint64_t keys) {
    tamis_filter *f;
    tamis_params params = test_bare_params(kind, 100, 7);
    params.stash = 20;
    static const uint64_t value[9] = {4, 61, 9, 20, 5, 6, 3, 2, 3};
    memcpy(params.value, value, sizeof value);
    assert_ok(tamis_filter_create(&params, NULL, &f));
    for (uint64_t i = 0; i < keys; i++)
        assert_ok(tamis_filter_insert_u64(f, i % 110, NULL));
    return f;
}

/* As the end of the data, the checksum of what is before. */
static void sign(blob *b) {
    tamis_i_put_u64(b->bytes + b->size - 8, tamis_i_checksum(b->bytes, b->size - 8));
}

static const char *decode_compact(const unsigned char *bytes, size_t size, tamis_status *status) {
    const char *reason = NULL;
    tamis_filter *f = NULL;
    /* A copy of its own size, so that a read past its end is seen. */
    unsigned char *const copy = malloc(size + (size == 0));
    memcpy(copy, bytes, size);
    *status = tamis_filter_compact_decode(copy, size, NULL, &f, &reason);
    free(copy);
    if (*status != TAMIS_OK) {
        assert_non_null(reason);
        assert_null(f);
        assert_true(*status != TAMIS_E_ARGUMENT); /* whatever the data is */
        return reason;
    }
    if (!tamis_i_filter_check(f, &reason))
        fail_msg("accepted, but: %s", reason);
    /* What was accepted can be used. */
    for (uint64_t i = 0; i < 50; i++) {
        (void)tamis_filter_contains_u64(f, i);
        const tamis_status removed = tamis_filter_remove_u64(f, i);
        assert_true(removed == TAMIS_OK || removed == TAMIS_E_NOT_FOUND);
        const tamis_status added = tamis_filter_insert_u64(f, i + 1000, NULL);
        assert_true(added == TAMIS_OK || added == TAMIS_E_FULL);
    }
    tamis_filter_free(f);
    return NULL;
}

static void test_compact_round_trips_give_the_same_answers(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 10, 60, 100, 120, 300};
    for (tamis_kind kind = TAMIS_KIND_RANK; kind <= TAMIS_KIND_RANK_COUNTING; kind++) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            if (kind == TAMIS_KIND_RANK && sizes[i] > 120)
                continue;
            tamis_filter *const f = sample(kind, sizes[i]);
            const blob b = encode_compact(f);
            const char *const path = test_path("compact.tamis");
            tamis_filter *back[2] = {NULL, NULL};
            assert_ok(tamis_filter_compact_decode(b.bytes, b.size, NULL, &back[0], NULL));
            assert_ok(tamis_filter_compact_save(f, path, NULL));
            assert_ok(tamis_filter_load(path, NULL, &back[1], NULL));
            const char *reason = NULL;
            tamis_filter *map = NULL;
            assert_status(tamis_filter_map(path, NULL, &map, &reason), TAMIS_E_UNSUPPORTED);
            assert_int_equal(unlink(path), 0);
            for (unsigned k = 0; k < 2; k++) {
                for (uint64_t key = 0; key < 3000; key++)
                    assert_int_equal(tamis_filter_copies_u64(f, key),
                                     tamis_filter_copies_u64(back[k], key));
                assert_int_equal(tamis_filter_count(back[k]), sizes[i]);
                const blob again = encode_compact(back[k]);
                assert_int_equal(again.size, b.size);
                assert_memory_equal(again.bytes, b.bytes, b.size);
                free(again.bytes);
                tamis_filter_free(back[k]);
            }
            free(b.bytes);
            tamis_filter_free(f);
        }
    }
}

static void test_compact_every_cut_and_every_flipped_bit_is_refused(void **state) {
    (void)state;
    tamis_filter *const f = sample(TAMIS_KIND_RANK, 120);
    const blob b = encode_compact(f);
    tamis_status status;
    for (size_t size = 0; size < b.size; size++) {
        assert_non_null(decode_compact(b.bytes, size, &status));
        assert_status(status, TAMIS_E_FORMAT);
    }
    for (size_t bit = 0; bit < 8 * b.size; bit++) {
        b.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_non_null(decode_compact(b.bytes, b.size, &status));
        assert_true(status == TAMIS_E_FORMAT || status == TAMIS_E_VERSION);
        b.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(b.bytes);
    tamis_filter_free(f);
}

/* With a checksum that is right: refused with a reason, or a filter that is in order. */
static void test_compact_signed_damage_is_refused_or_sound(void **state) {
    (void)state;
    uint64_t random = test_seed(), accepted = 0, refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        tamis_filter *const f = sample(round % 2 ? TAMIS_KIND_RANK : TAMIS_KIND_RANK_COUNTING,
                                       round % 4 < 2 ? 120 : 40);
        blob b = encode_compact(f);
        const unsigned changes = 1 + (unsigned)test_random_below(&random, 3);
        for (unsigned i = 0; i < changes; i++) {
            /* Half of the changes in the header, where more can go wrong. */
            const size_t from = round % 8 < 4 ? 16 : 0, span = round % 8 < 4 ? 24 : b.size - 8;
            b.bytes[from + test_random_below(&random, span)] = (unsigned char)test_random(&random);
        }
        if (round % 16 == 0)
            b.size -= (size_t)test_random_below(&random, b.size - 16);
        sign(&b);
        tamis_status status;
        const char *const reason = decode_compact(b.bytes, b.size, &status);
        accepted += reason == NULL;
        refused += reason != NULL;
        free(b.bytes);
        tamis_filter_free(f);
    }
    printf("# %llu refused, %llu sound\n", (unsigned long long)refused,
           (unsigned long long)accepted);
    assert_true(refused > 1000);
}

/* A parameter that is left out stands for its default when a filter is made, but not in a header;
 * nor is one that no filter can have believed. */
static void test_compact_parameters_out_of_range_are_refused(void **state) {
    enum { PARAMETERS = 23 };
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        tamis_filter *const f = sample(k == 0 ? TAMIS_KIND_RANK : TAMIS_KIND_RANK_COUNTING, 0);
        blob b = encode_compact(f);
        for (size_t i = 1; i <= b.bytes[PARAMETERS]; i++) {
            static const unsigned char bad[] = {0, 127};
            for (unsigned j = 0; j < 2; j++) {
                const unsigned char good = b.bytes[PARAMETERS + i];
                tamis_status status;
                b.bytes[PARAMETERS + i] = bad[j];
                sign(&b);
                const char *const reason = decode_compact(b.bytes, b.size, &status);
                if (bad[j] == 0)
                    assert_string_equal(reason, "a parameter in the header is out of range");
                b.bytes[PARAMETERS + i] = good;
            }
        }
        free(b.bytes);
        tamis_filter_free(f);
    }
}

/* A small header that promises a large table costs nothing. */
static void test_compact_allocates_no_more_than_the_data_justifies(void **state) {
    (void)state;
    tamis_filter *const f = sample(TAMIS_KIND_RANK, 0);
    blob b = encode_compact(f);
    test_allocator t;
    tamis_filter *made = NULL;
    const char *reason = NULL;
    test_allocator_init(&t, -1);
    unsigned char head[128];
    memcpy(head, b.bytes, 16);
    size_t at = 16;
    /* version, kind, hash, capacity, stash, count, used, parameters; 2^35 buckets */
    static const unsigned char numbers[] = {1,    7,    1, 100, 20, 0,  0, 8, 0x80, 0x80, 0x80,
                                            0x80, 0x80, 1, 61,  9,  20, 5, 6, 3,    2};
    memcpy(head + at, numbers, sizeof numbers);
    at += sizeof numbers;
    blob large = {.bytes = head, .size = at + 40};
    memset(head + at, 0, 32);
    sign(&large);
    const bool fits = sizeof(size_t) > 4; /* 2^35 buckets in memory */
    assert_status(
        tamis_filter_compact_decode(large.bytes, large.size, &t.allocator, &made, &reason),
        fits ? TAMIS_E_FORMAT : TAMIS_E_TOO_LARGE);
    assert_string_equal(reason, fits ? "the data ends within the table"
                                     : "the filter is too large for this machine");
    assert_int_equal(t.calls, 0);
    free(b.bytes);
    tamis_filter_free(f);
}

/* Nor does one that promises a large stash.  A filter with such a stash has no compact form. */
static void test_compact_a_huge_stash_is_not_believed(void **state) {
    (void)state;
    static const uint64_t value[9] = {4, 61, 9, 20, 5, 6, 3, 2, 3};
    for (unsigned huge = 0; huge < 2; huge++) {
        tamis_filter *f, *back = NULL;
        tamis_params params = test_bare_params(TAMIS_KIND_RANK, 100, 7);
        params.hash = TAMIS_HASH_XXH3; /* the first version of the form */
        params.stash = huge ? 120000 : 65536;
        memcpy(params.value, value, sizeof value);
        assert_ok(tamis_filter_create(&params, NULL, &f));
        if (huge) {
            assert_int_equal(tamis_filter_compact_size(f), 0);
            assert_status(tamis_filter_compact_save(f, "x", NULL), TAMIS_E_UNSUPPORTED);
        } else {
            blob b = encode_compact(f);
            assert_ok(tamis_filter_compact_decode(b.bytes, b.size, NULL, &back, NULL));
            tamis_filter_free(back);
            back = NULL;
            test_allocator t;
            const char *reason = NULL;
            test_allocator_init(&t, -1);
            /* version, kind, hash, capacity, then the stash in three bytes: 65536 becomes 131072 */
            assert_int_equal(b.bytes[22], 4);
            b.bytes[22] = 8;
            sign(&b);
            assert_status(
                tamis_filter_compact_decode(b.bytes, b.size, &t.allocator, &back, &reason),
                TAMIS_E_FORMAT);
            assert_string_equal(reason, "the filter is out of all proportion to the data");
            assert_int_equal(t.calls, 0);
            free(b.bytes);
        }
        tamis_filter_free(f);
    }
}

static void test_compact_failures_leave_all_as_it_was(void **state) {
    (void)state;
    tamis_filter *const f = sample(TAMIS_KIND_RANK, 100), *back = NULL;
    const blob b = encode_compact(f);
    test_allocator t;
    test_allocator_init(&t, 0);
    assert_status(tamis_filter_compact_decode(b.bytes, b.size, &t.allocator, &back, NULL),
                  TAMIS_E_NOMEM);
    assert_null(back);
    assert_int_equal(t.live, 0);
    assert_status(tamis_filter_compact_encode(f, b.bytes, b.size - 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_compact_encode(NULL, b.bytes, b.size), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_compact_decode(NULL, 5, NULL, &back, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_compact_decode(b.bytes, b.size, NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_compact_decode(NULL, 0, NULL, &back, NULL), TAMIS_E_FORMAT);
    assert_status(tamis_filter_compact_save(f, "/nowhere/at/all", NULL), TAMIS_E_IO);
    assert_status(tamis_filter_compact_save(f, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_compact_save_fd(f, -1, NULL), TAMIS_E_IO);
    tamis_filter *const plain = test_filter(TAMIS_KIND_BLOOM, 10, 0.01, 1);
    assert_int_equal(tamis_filter_compact_size(plain), 0);
    assert_status(tamis_filter_compact_encode(plain, b.bytes, b.size), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_filter_compact_save(plain, "x", NULL), TAMIS_E_UNSUPPORTED);
    tamis_filter_free(plain);
    free(b.bytes);
    tamis_filter_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact_round_trips_give_the_same_answers),
        cmocka_unit_test(test_compact_every_cut_and_every_flipped_bit_is_refused),
        cmocka_unit_test(test_compact_signed_damage_is_refused_or_sound),
        cmocka_unit_test(test_compact_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_compact_allocates_no_more_than_the_data_justifies),
        cmocka_unit_test(test_compact_a_huge_stash_is_not_believed),
        cmocka_unit_test(test_compact_failures_leave_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
