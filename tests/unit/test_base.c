/* test_base.c - status texts, version, checked arithmetic, codecs, memory, structs that cross over
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */

#include "base/base.h"
#include "base/system.h"
#include "support.h"

#include <errno.h>

static void test_status_text_every_code_is_covered(void **state) {
    (void)state;
    for (int code = TAMIS_OK; code <= TAMIS_E_PROMISE; code++) {
        const char *const text = tamis_status_text((tamis_status)code);
        assert_null(strstr(text, "filter")); /* a table has the same statuses */
        assert_non_null(text);
        assert_string_not_equal(text, "unknown status");
        assert_true(strlen(text) > 3);
        for (int other = TAMIS_OK; other < code; other++)
            assert_string_not_equal(text, tamis_status_text((tamis_status)other));
    }
    assert_string_equal(tamis_status_text((tamis_status)(TAMIS_E_PROMISE + 1)), "unknown status");
    assert_string_equal(tamis_status_text((tamis_status)1000), "unknown status");
}

static void test_version_text_matches_numbers(void **state) {
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", TAMIS_VERSION_MAJOR, TAMIS_VERSION_MINOR,
             TAMIS_VERSION_PATCH);
    assert_string_equal(tamis_version(), text);
}

static void test_arithmetic_overflow_is_seen(void **state) {
    (void)state;
    uint64_t r = 77;
    assert_false(tamis_i_add(UINT64_MAX, 1, &r));
    assert_false(tamis_i_add(1, UINT64_MAX, &r));
    assert_false(tamis_i_mul((uint64_t)1 << 32, (uint64_t)1 << 32, &r));
    assert_false(tamis_i_mul(UINT64_MAX, 2, &r));
    assert_false(tamis_i_round_up(UINT64_MAX, 64, &r));
    assert_int_equal(r, 77);
    assert_true(tamis_i_add(UINT64_MAX - 1, 1, &r));
    assert_true(r == UINT64_MAX);
    assert_true(tamis_i_mul(UINT64_MAX, 1, &r) && r == UINT64_MAX);
    assert_true(tamis_i_mul(UINT64_MAX, 0, &r) && r == 0);
    assert_true(tamis_i_mul(0, UINT64_MAX, &r) && r == 0);
    assert_true(tamis_i_mul(0xffffffffu, 0x100000001u, &r) && r == UINT64_MAX);
    assert_true(tamis_i_round_up(0, 64, &r) && r == 0);
    assert_true(tamis_i_round_up(1, 64, &r) && r == 64);
    assert_true(tamis_i_round_up(64, 64, &r) && r == 64);
    assert_true(tamis_i_round_up(UINT64_MAX, 5, &r) && r == UINT64_MAX); /* 2^64 - 1 = 5 * ... */
}

static void test_codecs_are_little_endian(void **state) {
    (void)state;
    unsigned char bytes[12];
    memset(bytes, 0xee, sizeof bytes);
    tamis_i_put_u64(bytes + 1, 0x0807060504030201u);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(bytes[1 + i], i + 1);
    assert_int_equal(bytes[0], 0xee);
    assert_int_equal(bytes[9], 0xee);
    assert_true(tamis_i_get_u64(bytes + 1) == 0x0807060504030201u);
    assert_int_equal(tamis_i_get_u32(bytes + 2), 0x05040302u);
    tamis_i_put_u32(bytes + 3, 0xfedcba98u);
    assert_int_equal(bytes[3], 0x98);
    assert_int_equal(bytes[6], 0xfe);
    assert_int_equal(bytes[7], 0x07);
    assert_int_equal(tamis_i_get_u32(bytes + 3), 0xfedcba98u);
}

static bool all_zero(const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

static void test_memory_of_the_system_is_aligned_and_zero(void **state) {
    (void)state;
    const size_t sizes[] = {
        1, 63, 64, 65, 4096, TAMIS_I_HUGE - 1, TAMIS_I_HUGE, TAMIS_I_HUGE + 1, 3 * TAMIS_I_HUGE};
    errno = 12345;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        /* Twice, so that the second gets memory that was used before. */
        for (unsigned round = 0; round < 2; round++) {
            unsigned char *const block = tamis_i_alloc_zeroed(NULL, sizes[i]);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % TAMIS_LINE_BYTES, 0);
#ifdef TAMIS_I_HAS_MAPPED_MEMORY
            if (sizes[i] >= TAMIS_I_HUGE)
                assert_int_equal((uintptr_t)block % TAMIS_I_HUGE, 0);
#endif
            assert_true(all_zero(block, sizes[i]));
            memset(block, 0xff, sizes[i]);
            tamis_i_free(NULL, block, sizes[i]);
        }
        unsigned char *const block = tamis_i_alloc(NULL, sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % TAMIS_LINE_BYTES, 0);
        memset(block, 0xff, sizes[i]);
        tamis_i_free(NULL, block, sizes[i]);
    }
    tamis_i_free(NULL, NULL, 100);
    assert_int_equal(errno, 12345);
}

static void test_memory_too_much_is_refused(void **state) {
    (void)state;
    errno = 12345;
    assert_null(tamis_i_alloc(NULL, SIZE_MAX));
    assert_null(tamis_i_alloc_zeroed(NULL, SIZE_MAX - TAMIS_I_HUGE));
    if (sizeof(size_t) > 4) /* a 32-bit program may have so much */
        assert_null(tamis_i_alloc_zeroed(NULL, SIZE_MAX / 2));
    assert_int_equal(errno, 12345);
}

static void test_memory_of_an_allocator_is_zeroed_and_returned(void **state) {
    (void)state;
    test_allocator t;
    test_allocator_init(&t, -1);
    unsigned char *const block = tamis_i_alloc_zeroed(&t.allocator, 1000);
    assert_non_null(block);
    assert_true(all_zero(block, 1000));
    assert_int_equal(t.live, 1);
    assert_int_equal(t.bytes, 1000);
    tamis_i_free(&t.allocator, block, 1000);
    assert_int_equal(t.live, 0);
    assert_int_equal(t.bytes, 0);
    test_allocator_init(&t, 0);
    assert_null(tamis_i_alloc_zeroed(&t.allocator, 1000));
    test_allocator_init(&t, 0);
    assert_null(tamis_i_alloc(&t.allocator, 1000));
}

static void test_random_seed_is_never_zero_and_changes(void **state) {
    (void)state;
    uint64_t first = 0, next;
    assert_ok(tamis_i_random_seed(&first));
    assert_true(first != 0);
    for (unsigned i = 0; i < 100; i++) {
        assert_ok(tamis_i_random_seed(&next));
        assert_true(next != 0 && next != first);
    }
}

typedef struct small {
    size_t struct_size;
    uint64_t a, b;
} small;

typedef struct large {
    size_t struct_size;
    uint64_t a, b, c, d;
} large;

static void test_struct_in_of_every_age_is_read(void **state) {
    (void)state;
    const small theirs = {.struct_size = sizeof theirs, .a = 1, .b = 2};
    large own;
    memset(&own, 0xff, sizeof own);
    assert_true(tamis_i_struct_in(&own, sizeof own, &theirs)); /* older caller: the rest is 0 */
    assert_true(own.struct_size == sizeof own && own.a == 1 && own.b == 2);
    assert_true(own.c == 0 && own.d == 0);

    large newer = {.struct_size = sizeof newer, .a = 3, .b = 4};
    small short_own;
    assert_true(tamis_i_struct_in(&short_own, sizeof short_own, &newer));
    assert_true(short_own.struct_size == sizeof short_own && short_own.a == 3 && short_own.b == 4);
    newer.d = 1; /* uses what we do not know */
    assert_false(tamis_i_struct_in(&short_own, sizeof short_own, &newer));

    small bad = {.struct_size = 0};
    assert_false(tamis_i_struct_in(&own, sizeof own, &bad));
    bad.struct_size = sizeof bad.struct_size - 1;
    assert_false(tamis_i_struct_in(&own, sizeof own, &bad));
    bad.struct_size = SIZE_MAX;
    assert_false(tamis_i_struct_in(&own, sizeof own, &bad));
    bad.struct_size = sizeof bad.struct_size; /* knows nothing else: all defaults */
    assert_true(tamis_i_struct_in(&own, sizeof own, &bad));
    assert_true(own.a == 0 && own.b == 0 && own.c == 0 && own.d == 0);
}

static void test_struct_out_of_every_age_is_filled(void **state) {
    (void)state;
    const large own = {.struct_size = sizeof own, .a = 1, .b = 2, .c = 3, .d = 4};
    large theirs = {.struct_size = sizeof(small), .c = 77, .d = 88};
    assert_true(tamis_i_struct_out(&theirs, &own, sizeof own)); /* older caller: only his part */
    assert_true(theirs.struct_size == sizeof(small) && theirs.a == 1 && theirs.b == 2);
    assert_true(theirs.c == 77 && theirs.d == 88);

    const small short_own = {.struct_size = sizeof short_own, .a = 5, .b = 6};
    theirs.struct_size = sizeof theirs; /* newer caller: the rest stays */
    assert_true(tamis_i_struct_out(&theirs, &short_own, sizeof short_own));
    assert_true(theirs.struct_size == sizeof theirs && theirs.a == 5 && theirs.b == 6);
    assert_true(theirs.c == 77 && theirs.d == 88);

    theirs.struct_size = 3;
    assert_false(tamis_i_struct_out(&theirs, &own, sizeof own));
    theirs.struct_size = SIZE_MAX;
    assert_false(tamis_i_struct_out(&theirs, &own, sizeof own));
    assert_true(theirs.a == 5 && theirs.b == 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_text_every_code_is_covered),
        cmocka_unit_test(test_version_text_matches_numbers),
        cmocka_unit_test(test_arithmetic_overflow_is_seen),
        cmocka_unit_test(test_codecs_are_little_endian),
        cmocka_unit_test(test_memory_of_the_system_is_aligned_and_zero),
        cmocka_unit_test(test_memory_too_much_is_refused),
        cmocka_unit_test(test_memory_of_an_allocator_is_zeroed_and_returned),
        cmocka_unit_test(test_random_seed_is_never_zero_and_changes),
        cmocka_unit_test(test_struct_in_of_every_age_is_read),
        cmocka_unit_test(test_struct_out_of_every_age_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
