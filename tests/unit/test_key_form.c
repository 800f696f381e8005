/* test_key_form.c - the form of keys: where it is kept, what it refuses; files without it are as before
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include "file/header.h"
#include "support.h"

#include "base/base.h"
#include "hash/hash.h"

#include <unistd.h>

static tamis_filter *sample(tamis_kind kind, tamis_key_form form) {
    tamis_filter *f;
    tamis_params params = test_bare_params(kind, 100, 7);
    params.hash = TAMIS_HASH_XXH3; /* a version of the format without a form of keys */
    assert_ok(tamis_filter_create(&params, NULL, &f));
    assert_int_equal(tamis_filter_key_form(f), TAMIS_KEYS_UNKNOWN);
    for (uint64_t key = 0; key < 50; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    assert_ok(tamis_filter_set_key_form(f, form));
    return f;
}

static unsigned char *encode(const tamis_filter *f, size_t *size) {
    *size = (size_t)tamis_filter_encoded_size(f);
    unsigned char *const bytes = malloc(*size);
    assert_non_null(bytes);
    assert_ok(tamis_filter_encode(f, bytes, *size));
    return bytes;
}

/* It has this form, finds its keys, and is written as 'bytes' again. */
static void assert_back(tamis_filter *f, tamis_key_form form, const unsigned char *bytes,
                        size_t size) {
    size_t n;
    unsigned char *const again = encode(f, &n);
    assert_int_equal(tamis_filter_key_form(f), form);
    for (uint64_t key = 0; key < 50; key++)
        assert_true(tamis_filter_contains_u64(f, key));
    assert_int_equal(n, size);
    assert_memory_equal(again, bytes, size);
    free(again);
    tamis_filter_free(f);
}

static void assert_kept(const tamis_filter *f, tamis_key_form form) {
    char path[] = "/tmp/tamis-form-XXXXXX";
    size_t size;
    unsigned char *const bytes = encode(f, &size);
    const int fd = mkstemp(path);
    tamis_filter *back;
    assert_true(fd >= 0);
    assert_int_equal(tamis_i_get_u32(bytes + TAMIS_I_AT_VERSION),
                     form == TAMIS_KEYS_UNKNOWN ? 1 : 2);
    assert_int_equal(tamis_i_get_u32(bytes + TAMIS_I_AT_KEY_FORM), form);
    assert_ok(tamis_filter_clone(f, NULL, &back));
    assert_back(back, form, bytes, size);
    assert_ok(tamis_filter_decode(bytes, size, NULL, &back, NULL));
    assert_back(back, form, bytes, size);
    assert_ok(tamis_filter_save(f, path, NULL));
    assert_ok(tamis_filter_load(path, NULL, &back, NULL));
    assert_back(back, form, bytes, size);
    if (tamis_i_little_endian()) {
        assert_ok(tamis_filter_map(path, NULL, &back, NULL));
        assert_status(tamis_filter_set_key_form(back, form), TAMIS_E_READONLY);
        assert_back(back, form, bytes, size);
        assert_ok(tamis_filter_view(bytes, size, NULL, &back, NULL));
        assert_back(back, form, bytes, size);
    }
    close(fd);
    unlink(path);
    free(bytes);
}

static void test_key_form_kept_by_files_and_copies(void **state) {
    (void)state;
    unsigned turn = 0; /* the forms in turns: each has several kinds */
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0; turn++) {
        const tamis_key_form form = (tamis_key_form)(turn % 3);
        tamis_filter *const f = sample(kind, form);
        assert_kept(f, form);
        tamis_filter_free(f);
    }
}

static void test_key_form_unset_file_is_of_version_1(void **state) {
    (void)state;
    tamis_filter *const plain = sample(TAMIS_KIND_BLOOM, TAMIS_KEYS_UNKNOWN);
    tamis_filter *const told = sample(TAMIS_KIND_BLOOM, TAMIS_KEYS_BYTES);
    size_t n, m;
    unsigned char *const a = encode(plain, &n), *const b = encode(told, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n;
         i++) /* version, form and the checksum of the header differ, no more */
        assert_true(a[i] == b[i] || i == TAMIS_I_AT_VERSION || i == TAMIS_I_AT_KEY_FORM ||
                    (i >= 248 && i < 256));
    tamis_filter_free(plain);
    tamis_filter_free(told);
    free(a);
    free(b);
}

static void test_key_form_kept_by_series(void **state) {
    (void)state;
    tamis_filter *const f = sample(TAMIS_KIND_BLOOM, TAMIS_KEYS_U64);
    tamis_growth growth;
    tamis_info info;
    tamis_growth_init(&growth);
    tamis_info_init(&info);
    growth.fpr = 0.5;
    growth.automatic = true;
    assert_ok(tamis_filter_allow_growth(f, &growth));
    for (uint64_t key = 50; key < 1000; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    assert_ok(tamis_filter_info(f, &info));
    assert_true(info.n_links >= 3);
    assert_kept(f, TAMIS_KEYS_U64);
    /* All links change together. */
    assert_ok(tamis_filter_clear(f));
    assert_int_equal(tamis_filter_key_form(f), TAMIS_KEYS_U64);
    assert_ok(tamis_filter_set_key_form(f, TAMIS_KEYS_BYTES));
    for (uint64_t key = 0; key < 50; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    assert_kept(f, TAMIS_KEYS_BYTES);
    tamis_filter_free(f);
}

/* Make the checksum of a compact form right, and see what the reader says. */
static const char *import_reason(unsigned char *bytes, size_t size) {
    const char *reason = NULL;
    tamis_filter *f = NULL;
    tamis_i_put_u64(bytes + size - 8, tamis_i_checksum(bytes, size - 8));
    if (tamis_filter_compact_decode(bytes, size, NULL, &f, &reason) == TAMIS_OK)
        tamis_filter_free(f);
    return reason;
}

static void test_key_form_kept_by_the_compact_form(void **state) {
    (void)state;
    size_t plain = 0;
    for (unsigned form = 0; form <= TAMIS_KEYS_U64; form++) {
        tamis_filter *const f = sample(TAMIS_KIND_RANK, (tamis_key_form)form), *back;
        size_t size, whole;
        unsigned char *const file = encode(f, &whole);
        size = (size_t)tamis_filter_compact_size(f);
        plain = form == 0 ? size : plain;
        assert_int_equal(size, plain + (form != 0));
        unsigned char *const bytes = malloc(size);
        assert_non_null(bytes);
        assert_ok(tamis_filter_compact_encode(f, bytes, size));
        assert_int_equal(bytes[16], form == 0 ? 1 : 2);
        assert_ok(tamis_filter_compact_decode(bytes, size, NULL, &back, NULL));
        assert_back(back, (tamis_key_form)form, file, whole);
        if (form != 0) { /* version, kind, hash, form */
            assert_int_equal(bytes[19], form);
            bytes[19] = 3;
            assert_string_equal(import_reason(bytes, size),
                                "the header names an unknown form of keys");
            bytes[19] = 0;
            assert_string_equal(import_reason(bytes, size),
                                "the header has a higher version than it needs");
            bytes[19] = (unsigned char)form;
            assert_null(import_reason(bytes, size));
            bytes[16] = 4;
            assert_string_equal(import_reason(bytes, size),
                                "the data has a newer format than this version of tamis can read");
        }
        free(bytes);
        free(file);
        tamis_filter_free(f);
    }
}

static void test_key_form_merge_of_different_forms_refused(void **state) {
    (void)state;
    for (unsigned a = 0; a <= TAMIS_KEYS_U64; a++)
        for (unsigned b = 0; b <= TAMIS_KEYS_U64; b++) {
            tamis_filter *const f = sample(TAMIS_KIND_BLOOM, (tamis_key_form)a);
            tamis_filter *const g = sample(TAMIS_KIND_BLOOM, (tamis_key_form)b);
            const bool differ = a != 0 && b != 0 && a != b;
            assert_status(tamis_filter_merge(f, g, TAMIS_MERGE_BEYOND),
                          differ ? TAMIS_E_MISMATCH : TAMIS_OK);
            assert_int_equal(tamis_filter_count(f), differ ? 50 : 100);
            assert_int_equal(tamis_filter_key_form(f), differ || a == b ? a : 0);
            assert_int_equal(tamis_filter_key_form(g), b);
            tamis_filter_free(f);
            tamis_filter_free(g);
        }
}

static void test_key_form_changes_of_a_known_form_refused(void **state) {
    (void)state;
    tamis_filter *const f = sample(TAMIS_KIND_BLOOM, TAMIS_KEYS_BYTES);
    assert_status(tamis_filter_set_key_form(NULL, TAMIS_KEYS_BYTES), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_set_key_form(f, (tamis_key_form)3), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_set_key_form(f, (tamis_key_form)-1), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_set_key_form(f, TAMIS_KEYS_U64), TAMIS_E_MISMATCH);
    assert_status(tamis_filter_set_key_form(f, TAMIS_KEYS_UNKNOWN), TAMIS_E_MISMATCH);
    assert_ok(tamis_filter_set_key_form(f, TAMIS_KEYS_BYTES));
    assert_int_equal(tamis_filter_key_form(f), TAMIS_KEYS_BYTES);
    assert_ok(tamis_filter_clear(f));
    assert_ok(tamis_filter_set_key_form(f, TAMIS_KEYS_U64));
    assert_int_equal(tamis_filter_key_form(f), TAMIS_KEYS_U64);
    tamis_filter_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_form_kept_by_files_and_copies),
        cmocka_unit_test(test_key_form_unset_file_is_of_version_1),
        cmocka_unit_test(test_key_form_kept_by_series),
        cmocka_unit_test(test_key_form_kept_by_the_compact_form),
        cmocka_unit_test(test_key_form_merge_of_different_forms_refused),
        cmocka_unit_test(test_key_form_changes_of_a_known_form_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
