/* test_parts.c - files in parts: any part is what the whole has there, and readers may fail anywhere
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>

#define KEYS 2000u

/* A filter of this kind with keys in it, of one link or of several. */
static tamis_filter *some_filter(tamis_kind kind, bool series) {
    tamis_filter *const filter = test_filter(kind, series ? KEYS / 4 : KEYS, 0.01, test_seed());
    if (series) {
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.fpr = 0.05;
        growth.automatic = true;
        assert_ok(tamis_filter_allow_growth(filter, &growth));
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ok(tamis_filter_insert_u64(filter, key, NULL));
    return filter;
}

/* ---- writing ---- */

static void check_part(const tamis_filter *filter, const unsigned char *whole, uint64_t offset,
                       size_t size, unsigned char *buffer) {
    memset(buffer, 0xa5, size + 8);
    assert_ok(tamis_filter_encode_part(filter, offset, buffer, size));
    assert_memory_equal(buffer, whole + offset, size);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(buffer[size + i], 0xa5); /* nothing is written past the part */
}

static void test_parts_of_any_size_make_the_whole(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (tamis_kind kind = test_next_kind(TAMIS_KIND_ANY); kind != TAMIS_KIND_ANY;
         kind = test_next_kind(kind)) {
        for (unsigned series = 0; series < 2; series++) {
            tamis_filter *const filter = some_filter(kind, series != 0);
            size_t size;
            unsigned char *const whole = test_encoded(filter, &size);
            unsigned char *const buffer = malloc(size + 8);
            assert_non_null(buffer);
            static const size_t steps[] = {7, 256, 1000, 4096};
            for (unsigned s = 0; s < sizeof steps / sizeof *steps; s++) {
                if (s == 0 && kind != TAMIS_KIND_STEADY)
                    continue; /* the small one is slow, and all kinds share the code */
                for (size_t at = 0; at < size; at += steps[s])
                    check_part(filter, whole, at, size - at < steps[s] ? size - at : steps[s],
                               buffer);
            }
            for (unsigned i = 0; i < 200; i++) {
                const size_t at = (size_t)test_random_below(&random, size + 1);
                check_part(filter, whole, at, (size_t)test_random_below(&random, size - at + 1),
                           buffer);
            }
            check_part(filter, whole, 0, size, buffer);
            check_part(filter, whole, size, 0, buffer);
            free(buffer);
            free(whole);
            tamis_filter_free(filter);
        }
    }
}

static void test_parts_outside_are_refused(void **state) {
    (void)state;
    tamis_filter *const filter = some_filter(TAMIS_KIND_BLOOM, false);
    const uint64_t size = tamis_filter_encoded_size(filter);
    unsigned char byte = 1;
    assert_status(tamis_filter_encode_part(filter, size, &byte, 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode_part(filter, UINT64_MAX, &byte, 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode_part(filter, 1, &byte, SIZE_MAX), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode_part(filter, size + 1, &byte, 0), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode_part(filter, 0, NULL, 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode_part(NULL, 0, &byte, 1), TAMIS_E_ARGUMENT);
    assert_int_equal(byte, 1);
    assert_ok(tamis_filter_encode_part(filter, size, NULL, 0));
    tamis_filter_free(filter);
}

/* ---- reading ---- */

/* A reader that fails at the chosen call. */
typedef struct source {
    const unsigned char *bytes;
    size_t left;
    long fail_at; /* -1 for none */
    long calls;
} source;

static bool source_read(void *context, void *buffer, size_t size) {
    source *const s = context;
    assert_true(size <= s->left);
    if (s->calls++ == s->fail_at)
        return false;
    memcpy(buffer, s->bytes, size);
    s->bytes += size;
    s->left -= size;
    return true;
}

static tamis_status read_from(const unsigned char *bytes, size_t size, long fail_at, long *calls,
                              const tamis_allocator *allocator, tamis_filter **filter,
                              const char **reason) {
    source s = {bytes, size, fail_at, 0};
    const tamis_reader reader = {source_read, &s};
    const tamis_status status = tamis_filter_decode_from(&reader, size, allocator, filter, reason);
    *calls = s.calls;
    assert_true(status != TAMIS_OK || s.left == 0);
    return status;
}

static void check_reader(const unsigned char *bytes, size_t size, const tamis_filter *original) {
    test_allocator memory;
    test_allocator_init(&memory, -1);
    tamis_filter *filter;
    long n_reads, calls;
    assert_ok(read_from(bytes, size, -1, &n_reads, &memory.allocator, &filter, NULL));
    assert_same(filter, original);
    tamis_filter_free(filter);
    const long n_allocs = memory.calls;
    for (long at = 0; at < n_reads; at++) {
        filter = NULL;
        const char *reason = NULL;
        assert_status(read_from(bytes, size, at, &calls, &memory.allocator, &filter, &reason),
                      TAMIS_E_IO);
        assert_string_equal(reason, "the bytes could not be read");
        assert_null(filter);
        assert_int_equal(memory.live, 0);
    }
    for (long at = 0; at < n_allocs; at++) {
        test_allocator_init(&memory, at);
        filter = NULL;
        assert_status(read_from(bytes, size, -1, &calls, &memory.allocator, &filter, NULL),
                      TAMIS_E_NOMEM);
        assert_null(filter);
        assert_int_equal(memory.live, 0);
    }
}

static void test_parts_reader_or_memory_fails_nothing_is_left(void **state) {
    (void)state;
    for (unsigned series = 0; series < 2; series++) {
        tamis_filter *const filter = some_filter(TAMIS_KIND_RANK, series != 0);
        size_t size;
        unsigned char *const bytes = test_encoded(filter, &size);
        check_reader(bytes, size, filter);
        free(bytes);
        tamis_filter_free(filter);
    }
}

static void test_parts_compact_form_is_read(void **state) {
    (void)state;
    tamis_filter *const filter = some_filter(TAMIS_KIND_RANK, false);
    const size_t size = (size_t)tamis_filter_compact_size(filter);
    unsigned char *const bytes = malloc(size);
    assert_non_null(bytes);
    assert_ok(tamis_filter_compact_encode(filter, bytes, size));
    tamis_filter *copy;
    long calls;
    assert_ok(read_from(bytes, size, -1, &calls, NULL, &copy, NULL));
    for (uint64_t key = 0; key < KEYS; key++)
        assert_true(tamis_filter_contains_u64(copy, key));
    check_reader(bytes, size, copy);
    tamis_filter_free(copy);
    free(bytes);
    tamis_filter_free(filter);
}

static void test_parts_bad_arguments_are_refused(void **state) {
    (void)state;
    source s = {NULL, 0, -1, 0};
    const tamis_reader none = {NULL, &s}, reader = {source_read, &s};
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    assert_status(tamis_filter_decode_from(NULL, 1, NULL, &filter, &reason), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_decode_from(&none, 1, NULL, &filter, &reason), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_decode_from(&reader, 0, NULL, NULL, &reason), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_decode_from(&reader, 0, NULL, &filter, &reason), TAMIS_E_FORMAT);
    assert_string_equal(reason, "the file is empty");
    assert_int_equal(s.calls, 0);
}

/* ---- zeroed memory ---- */

typedef struct zeroing {
    test_allocator memory;
    long zeroed;
} zeroing;

static void *zeroing_alloc(void *context, size_t size, size_t align) {
    zeroing *const z = context;
    return z->memory.allocator.alloc(z->memory.allocator.context, size, align);
}

static void zeroing_free(void *context, void *block, size_t size) {
    zeroing *const z = context;
    z->memory.allocator.free(z->memory.allocator.context, block, size);
}

static void *zeroing_alloc_zeroed(void *context, size_t size, size_t align) {
    zeroing *const z = context;
    void *const block = zeroing_alloc(context, size, align);
    if (block != NULL)
        memset(block, 0, size);
    z->zeroed++;
    return block;
}

static void test_parts_zeroed_memory_is_asked_for(void **state) {
    (void)state;
    zeroing z = {.zeroed = 0};
    test_allocator_init(&z.memory, -1);
    const tamis_allocator allocator = {zeroing_alloc, zeroing_free, &z, zeroing_alloc_zeroed};
    const tamis_params params = test_params(TAMIS_KIND_BLOCKED_BLOOM, KEYS / 4, 0.01, test_seed());
    tamis_filter *with, *without;
    assert_ok(tamis_filter_create(&params, &allocator, &with));
    assert_ok(tamis_filter_create(&params, NULL, &without));
    assert_true(z.zeroed == 1 && z.memory.live == 1);
    assert_same(with, without);
    tamis_growth growth;
    tamis_growth_init(&growth);
    growth.fpr = 0.02;
    assert_ok(tamis_filter_grow(with, &growth));
    assert_true(z.zeroed > 1);
    assert_true(fabs(tamis_filter_promise(with) - 0.02) < 1e-12);
    assert_true(tamis_filter_promise(without) == 0.01);
    tamis_filter_free(with);
    tamis_filter_free(without);
    assert_int_equal(z.memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_any_size_make_the_whole),
        cmocka_unit_test(test_parts_outside_are_refused),
        cmocka_unit_test(test_parts_reader_or_memory_fails_nothing_is_left),
        cmocka_unit_test(test_parts_compact_form_is_read),
        cmocka_unit_test(test_parts_bad_arguments_are_refused),
        cmocka_unit_test(test_parts_zeroed_memory_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
