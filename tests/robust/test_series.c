/* test_series.c - damaged series: each rule of the format, every cut, every flipped byte
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/base.h"
#include "file/header.h"
#include "filter/guard.h"
#include "hash/hash.h"

#define HEAD TAMIS_I_HEADER_BYTES

/* A sound series of three links in a buffer with room behind it. */
static unsigned char *sound_series(tamis_kind kind, size_t *size) {
    tamis_filter *f;
    tamis_growth growth;
    tamis_growth_init(&growth);
    tamis_params params = test_bare_params(kind, 10, 1);
    params.hash = TAMIS_HASH_XXH3; /* the first version of the format */
    growth.fpr = 0.1;
    growth.automatic = true;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    assert_ok(tamis_filter_allow_growth(f, &growth));
    for (uint64_t key = 0; key < 50; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    const tamis_info info = test_info(f);
    assert_int_equal(info.n_links, 3);
    *size = (size_t)tamis_filter_encoded_size(f);
    unsigned char *const bytes = calloc(1, *size + 4096);
    assert_non_null(bytes);
    assert_ok(tamis_filter_encode(f, bytes, *size));
    tamis_filter_free(f);
    return bytes;
}

/* Where link i begins. */
static size_t link_at(const unsigned char *bytes, unsigned i) {
    size_t at = HEAD;
    for (; i > 0; i--)
        at += HEAD + 8 * (size_t)tamis_i_get_u64(bytes + at + TAMIS_I_AT_BODY_WORDS);
    return at;
}

static void seal(unsigned char *head) {
    tamis_i_put_u64(head + TAMIS_I_AT_HEADER_CHECKSUM,
                    tamis_i_checksum(head, TAMIS_I_AT_HEADER_CHECKSUM));
}

/* Make all checksums of a series of three links right. */
static void seal_all(unsigned char *bytes) {
    unsigned char heads[3 * HEAD];
    for (unsigned i = 0; i < 3; i++) {
        unsigned char *const link = bytes + link_at(bytes, i);
        const size_t size = 8 * (size_t)tamis_i_get_u64(link + TAMIS_I_AT_BODY_WORDS);
        tamis_i_put_u64(link + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(link + HEAD, size));
        seal(link);
        memcpy(heads + (size_t)i * HEAD, link, HEAD);
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_BODY_CHECKSUM, tamis_i_checksum(heads, sizeof heads));
    seal(bytes);
}

/* Refused by every way in, for this reason; nothing stays allocated. */
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
        assert_status(status, TAMIS_E_FORMAT);
        assert_null(f);
        assert_non_null(reason);
        if (expected != NULL)
            assert_string_equal(reason, expected);
        assert_int_equal(t.live, 0);
        free(exact);
    }
}

/* A series to be damaged: a sound one, and a copy of it with room behind. */
typedef struct victim {
    unsigned char *good, *bad, *second; /* the second link of the bad one */
    size_t size;
} victim;

static victim victim_make(void) {
    victim v;
    v.good = sound_series(TAMIS_KIND_BLOOM, &v.size);
    v.bad = malloc(v.size + 4096);
    assert_non_null(v.bad);
    v.second = v.bad + link_at(v.good, 1);
    return v;
}

static void victim_heal(victim *v) {
    memcpy(v->bad, v->good, v->size + 4096);
}

static void victim_free(victim *v) {
    free(v->bad);
    free(v->good);
}

static const char differ[] = "the links of the series differ in kind or seed";
static const char sizes[] = "the size of the series is not that of its links";

/* One field of the series or of its second link has another value. */
static void test_series_each_field_refuses(void **state) {
    (void)state;
    static const char range[] = "a parameter in the header is out of range";
    static const struct {
        unsigned at, bytes;
        bool second;
        uint64_t value;
        const char *reason;
    } cases[] = {
        {TAMIS_I_AT_VALUES, 8, false, 0, range},
        {TAMIS_I_AT_VALUES, 8, false, 42, range},
        {TAMIS_I_AT_VALUES, 8, false, UINT64_MAX, range},
        {TAMIS_I_AT_VALUES + 8, 8, false, 0, range},
        {TAMIS_I_AT_VALUES + 16, 8, false, 1, range},
        {TAMIS_I_AT_STASH, 8, false, 1, range},
        {TAMIS_I_AT_SEED, 8, false, 0, "the header has no seed"},
        {TAMIS_I_AT_SEED, 8, false, 2, differ},
        {TAMIS_I_AT_SEED, 8, true, 2, differ},
        {TAMIS_I_AT_KEY_FORM, 4, false, 1, "a reserved field of the header is not zero"},
        {TAMIS_I_AT_CAPACITY, 8, false, 71, "the capacity of the series is not that of its links"},
        {TAMIS_I_AT_VALUES, 8, false, 4, sizes},
        {TAMIS_I_AT_VALUES, 8, false, 2, sizes},
        /* a series within a series */
        {TAMIS_I_AT_KIND, 4, true, 128, "the header names an unknown kind of filter"},
        {TAMIS_I_AT_KIND, 4, true, TAMIS_KIND_COUNTING_BLOOM, NULL}, /* its size is wrong, too */
    };
    victim v = victim_make();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        victim_heal(&v);
        unsigned char *const field = (cases[i].second ? v.second : v.bad) + cases[i].at;
        if (cases[i].bytes == 8)
            tamis_i_put_u64(field, cases[i].value);
        else
            tamis_i_put_u32(field, (uint32_t)cases[i].value);
        seal_all(v.bad);
        assert_refused(v.bad, v.size, cases[i].reason);
    }
    victim_free(&v);
}

/* The bytes are more or fewer than the header says, or than the links have. */
static void test_series_other_length_refuses(void **state) {
    (void)state;
    static const char cut[] = "the file is cut off within the body";
    victim v = victim_make();
    const uint64_t words = tamis_i_get_u64(v.good + TAMIS_I_AT_BODY_WORDS);
    const struct {
        uint64_t words;
        size_t size;
        bool all; /* make all checksums right, or that of the first header only */
        const char *reason;
    } cases[] = {
        {words, v.size + 8, true, "the file goes on after its end"},
        {words + 1, v.size + 8, true, sizes},
        {words, v.size - 8, false, cut},
        {words - 1, v.size - 8, false, sizes},
        {UINT64_MAX, v.size, false, cut},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        victim_heal(&v);
        tamis_i_put_u64(v.bad + TAMIS_I_AT_BODY_WORDS, cases[i].words);
        (cases[i].all ? seal_all : seal)(v.bad);
        assert_refused(v.bad, cases[i].size, cases[i].reason);
    }
    victim_free(&v);
}

static void test_series_damaged_body_refuses(void **state) {
    (void)state;
    static const char sum[] = "the body is damaged: its checksum does not match";
    victim v = victim_make();
    victim_heal(&v); /* the headers of the links are not those of the checksum */
    tamis_i_put_u64(v.bad + TAMIS_I_AT_BODY_CHECKSUM, 1);
    seal(v.bad);
    assert_refused(v.bad, v.size, sum);
    victim_heal(&v);
    v.second[HEAD + 100] ^= 1;
    seal(v.bad);
    assert_refused(v.bad, v.size, sum);
    victim_heal(&v); /* more keys than one can count */
    for (unsigned link = 0; link < 3; link++)
        tamis_i_put_u64(v.bad + link_at(v.bad, link) + HEAD, UINT64_C(1) << 61);
    seal_all(v.bad);
    assert_refused(v.bad, v.size, "the number of keys is out of range");
    victim_free(&v);
}

static void test_series_other_form_of_keys_refuses(void **state) {
    (void)state;
    static const char forms[] = "the links of the series differ in the form of keys";
    static const struct {
        bool second; /* the link knows the form of its keys, or the series does */
        unsigned char form;
        const char *reason;
    } cases[] = {
        {true, 1, forms},
        {false, 2, forms},
        {false, 3, "the header names an unknown form of keys"},
    };
    victim v = victim_make();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        victim_heal(&v);
        unsigned char *const header = cases[i].second ? v.second : v.bad;
        if (!cases[i].second) /* further links have a promise, and so version 4 */
            tamis_i_put_u32(header + TAMIS_I_AT_VERSION, 2);
        header[TAMIS_I_AT_KEY_FORM] = cases[i].form;
        seal_all(v.bad);
        assert_refused(v.bad, v.size, cases[i].reason);
    }
    victim_free(&v);
}

static void test_series_every_cut_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound_series(TAMIS_KIND_RANK, &size);
    for (size_t length = 0; length < size; length += length < 600 ? 1 : 37)
        assert_refused(bytes, length, NULL);
    free(bytes);
}

static void test_series_every_flipped_byte_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound_series(TAMIS_KIND_DLEFT, &size);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x40;
        tamis_filter *f = NULL;
        const tamis_status status = tamis_filter_decode(bytes, size, NULL, &f, NULL);
        assert_true(status == TAMIS_E_FORMAT || status == TAMIS_E_VERSION);
        assert_null(f);
        bytes[at] ^= 0x40;
    }
    free(bytes);
}

/* Values of different width would be written past their field. */
static void test_series_of_different_values_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound_series(TAMIS_KIND_RANK, &size);
    unsigned char *const link = bytes + link_at(bytes, 2);
    tamis_filter *f;
    tamis_params params =
        test_bare_params(TAMIS_KIND_RANK, tamis_i_get_u64(link + TAMIS_I_AT_CAPACITY), 1);
    params.hash = TAMIS_HASH_XXH3;
    params.value[TAMIS_RANK_VALUE_BITS] = 3;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    const size_t other = (size_t)tamis_filter_encoded_size(f), before = link_at(bytes, 2);
    unsigned char *const mixed = calloc(1, before + other);
    assert_non_null(mixed);
    memcpy(mixed, bytes, before);
    assert_ok(tamis_filter_encode(f, mixed + before, other));
    tamis_i_put_u64(mixed + TAMIS_I_AT_BODY_WORDS, (before + other - HEAD) / 8);
    seal_all(mixed);
    assert_refused(mixed, before + other, "the links of the series differ in the bits of values");
    tamis_filter_free(f);
    free(mixed);
    free(bytes);
}

/* A set among multisets: removals would go to it, which it cannot do, and so would questions about copies. */
static void test_series_of_different_line_forms_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound_series(TAMIS_KIND_LINE, &size);
    for (unsigned i = 0; i < 3; i++) {
        unsigned char *const link = bytes + link_at(bytes, i);
        tamis_i_put_u64(link + TAMIS_I_AT_VALUES + 8 * TAMIS_LINE_SET, 1);
        seal_all(bytes);
        tamis_filter *f;
        if (i < 2) {
            assert_refused(bytes, size, differ);
            continue;
        }
        /* now all are sets, of the same bytes */
        assert_ok(tamis_filter_decode(bytes, size, NULL, &f, NULL));
        assert_status(tamis_filter_remove_u64(f, 1), TAMIS_E_UNSUPPORTED);
        assert_int_equal(tamis_filter_copies_u64(f, 1), 1);
        tamis_filter_free(f);
    }
    free(bytes);
}

/* What the rules let in may be used: a series whose capacities are far too large does not ask for memory. */
static void test_series_with_absurd_capacity_does_not_allocate(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = sound_series(TAMIS_KIND_BLOOM, &size);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        tamis_i_put_u64(bytes + link_at(bytes, i) + TAMIS_I_AT_CAPACITY, UINT64_C(1) << 36);
        tamis_i_put_u64(bytes + link_at(bytes, i) + HEAD, UINT64_C(1) << 36); /* keys */
        sum += UINT64_C(1) << 36;
    }
    tamis_i_put_u64(bytes + TAMIS_I_AT_CAPACITY, sum);
    seal_all(bytes);
    test_allocator t;
    tamis_filter *f;
    tamis_growth growth;
    test_allocator_init(&t, -1);
    tamis_growth_init(&growth);
    growth.automatic = true;
    assert_ok(tamis_filter_decode(bytes, size, &t.allocator, &f, NULL));
    assert_ok(tamis_filter_allow_growth(f, &growth));
    tamis_status status = TAMIS_OK;
    for (uint64_t key = 1000; key < 1200 && status == TAMIS_OK; key++)
        status = tamis_filter_insert_u64(f, key, NULL);
    assert_status(status, TAMIS_E_TOO_LARGE);
    assert_true(t.largest < 1 << 20);
    tamis_filter_free(f);
    assert_int_equal(t.live, 0);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series_each_field_refuses),
        cmocka_unit_test(test_series_other_length_refuses),
        cmocka_unit_test(test_series_damaged_body_refuses),
        cmocka_unit_test(test_series_other_form_of_keys_refuses),
        cmocka_unit_test(test_series_every_cut_is_refused),
        cmocka_unit_test(test_series_every_flipped_byte_is_refused),
        cmocka_unit_test(test_series_of_different_values_is_refused),
        cmocka_unit_test(test_series_of_different_line_forms_is_refused),
        cmocka_unit_test(test_series_with_absurd_capacity_does_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
