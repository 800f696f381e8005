/* test_arguments.c - what the public functions do with bad arguments, and with callers of another age
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <errno.h>
#include <math.h>

#define UNTOUCHED ((tamis_filter *)(uintptr_t)0x5a5a5a40u)

static const char kept[] = "kept";

static int set_errno(void **state) {
    (void)state;
    errno = 12345;
    return 0;
}

/* No call of the library sets errno. */
static int check_errno(void **state) {
    (void)state;
    return errno == 12345 ? 0 : -1;
}

static void test_create_bad_arguments_are_refused(void **state) {
    (void)state;
    const tamis_params good = test_params(TAMIS_KIND_BLOOM, 100, 0.01, 1);
    tamis_filter *f = UNTOUCHED;
    assert_status(tamis_filter_create(NULL, NULL, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_create(&good, NULL, NULL), TAMIS_E_ARGUMENT);
    test_allocator t;
    test_allocator_init(&t, -1);
    tamis_allocator half = t.allocator;
    half.free = NULL;
    assert_status(tamis_filter_create(&good, &half, &f), TAMIS_E_ARGUMENT);
    half = t.allocator;
    half.alloc = NULL;
    assert_status(tamis_filter_create(&good, &half, &f), TAMIS_E_ARGUMENT);
    assert_int_equal(t.calls, 0);
    assert_ptr_equal(f, UNTOUCHED);
}

typedef struct bad_params {
    tamis_kind kind;
    uint64_t capacity, stash;
    unsigned index;
    uint64_t value;
} bad_params;

static void test_create_parameters_out_of_range_are_refused(void **state) {
    (void)state;
    const bad_params bad[] = {
        {TAMIS_KIND_ANY, 1, 0, 0, 0},
        {(tamis_kind)63, 1, 0, 0, 0},
        {TAMIS_KIND_BLOOM, 0, 0, 0, 0},
        {TAMIS_KIND_BLOOM, TAMIS_CAPACITY_MAX + 1, 0, 0, 0},
        {TAMIS_KIND_BLOOM, UINT64_MAX, 0, 0, 0},
        {TAMIS_KIND_BLOOM, 1, 1, 0, 0}, /* none of these has a stash */
        {TAMIS_KIND_BLOOM, 1, 0, TAMIS_BLOOM_BITS, ((uint64_t)1 << 48) + 1},
        {TAMIS_KIND_BLOOM, 1, 0, TAMIS_BLOOM_HASHES, 65},
        {TAMIS_KIND_BLOOM, 1, 0, TAMIS_BLOOM_HASHES, 11}, /* more than the 10 bits by default */
        {TAMIS_KIND_BLOOM, 1, 0, TAMIS_BLOOM_PARTITIONED, 2},
        {TAMIS_KIND_BLOOM, 1, 0, 3, 1}, /* no such parameter */
        {TAMIS_KIND_BLOOM, 1, 0, TAMIS_PARAMS_MAX - 1, 1},
        {TAMIS_KIND_COUNTING_BLOOM, 1, 1, 0, 0},
        {TAMIS_KIND_COUNTING_BLOOM, 1, 0, TAMIS_COUNTING_BLOOM_COUNTERS, ((uint64_t)1 << 46) + 1},
        {TAMIS_KIND_COUNTING_BLOOM, 1, 0, TAMIS_COUNTING_BLOOM_HASHES, 65},
        {TAMIS_KIND_COUNTING_BLOOM, 1, 0, 2, 1},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 1, 0, 0},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 0, TAMIS_BLOCKED_BLOOM_BLOCKS, ((uint64_t)1 << 39) + 1},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 0, TAMIS_BLOCKED_BLOOM_HASHES, 17},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 0, TAMIS_BLOCKED_BLOOM_HASHES, UINT64_MAX},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 0, TAMIS_BLOCKED_BLOOM_LANES, 1},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 0, TAMIS_BLOCKED_BLOOM_LANES, 16},
        {TAMIS_KIND_BLOCKED_BLOOM, 1, 0, TAMIS_BLOCKED_BLOOM_LANES, UINT64_MAX},
    };
    test_allocator t;
    test_allocator_init(&t, -1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tamis_params params;
        tamis_params_init(&params);
        params.kind = bad[i].kind;
        params.capacity = bad[i].capacity;
        params.stash = bad[i].stash;
        params.value[bad[i].index] = bad[i].value;
        tamis_filter *f = UNTOUCHED;
        if (tamis_filter_create(&params, &t.allocator, &f) != TAMIS_E_ARGUMENT)
            fail_msg("row %zu was not refused", i);
        assert_ptr_equal(f, UNTOUCHED);
    }
    assert_int_equal(t.calls, 0);
}

/* The largest tables are in range; whether there is memory for them is another question. */
static void test_create_largest_sizes_ask_the_allocator(void **state) {
    (void)state;
    if (sizeof(size_t) < 8)
        skip();
    const struct {
        tamis_kind kind;
        uint64_t cells, bytes;
    } largest[] = {{TAMIS_KIND_BLOOM, (uint64_t)1 << 48, (uint64_t)1 << 45},
                   {TAMIS_KIND_COUNTING_BLOOM, (uint64_t)1 << 46, (uint64_t)1 << 45},
                   {TAMIS_KIND_BLOCKED_BLOOM, (uint64_t)1 << 39, (uint64_t)1 << 45}};
    for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++) {
        tamis_params params;
        tamis_params_init(&params);
        params.kind = largest[i].kind;
        params.capacity = TAMIS_CAPACITY_MAX;
        params.value[0] = largest[i].cells;
        test_allocator t;
        test_allocator_init(&t, 0);
        tamis_filter *f = UNTOUCHED;
        assert_status(tamis_filter_create(&params, &t.allocator, &f), TAMIS_E_NOMEM);
        assert_ptr_equal(f, UNTOUCHED);
        assert_int_equal(t.calls, 1);
        assert_in_range(t.largest, largest[i].bytes, largest[i].bytes + 4096);
    }
}

static void test_new_bad_arguments_are_refused(void **state) {
    (void)state;
    tamis_filter *f = UNTOUCHED;
    assert_status(tamis_filter_new(100, 0.01, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(0, 0.01, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(TAMIS_CAPACITY_MAX + 1, 0.01, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(100, 0, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(100, -0.0, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(100, 1, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(100, -1, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(100, (double)NAN, &f), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_new(100, (double)INFINITY, &f), TAMIS_E_ARGUMENT);
    assert_ptr_equal(f, UNTOUCHED);
}

static void test_key_calls_null_is_refused(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != TAMIS_KIND_ANY;) {
        tamis_filter *const f = test_filter(kind, 100, 0.01, 1);
        const tamis_digest d = {1, 2};
        bool flag = true;
        size_t n = 77;
        assert_status(tamis_filter_insert(NULL, "a", 1, &flag), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert(f, NULL, 1, &flag), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_u64(NULL, 1, &flag), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_digest(NULL, d, &flag), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove(NULL, "a", 1), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove(f, NULL, 1), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove_u64(NULL, 1), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove_digest(NULL, d), TAMIS_E_ARGUMENT);
        const tamis_bytes key = {"a", 1};
        const uint64_t number = 1;
        assert_status(tamis_filter_insert_many(NULL, &key, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_many(f, NULL, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_many_u64(NULL, &number, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_many_u64(f, NULL, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_many_digest(NULL, &d, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_insert_many_digest(f, NULL, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove_many(NULL, &key, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove_many(f, NULL, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove_many_u64(f, NULL, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_status(tamis_filter_remove_many_digest(f, NULL, 1, &flag, &n), TAMIS_E_ARGUMENT);
        assert_true(flag);
        assert_int_equal(n, 77);
        assert_int_equal(tamis_filter_count(f), 0);

        /* The empty key is a key, and its pointer does not matter. */
        assert_ok(tamis_filter_insert(f, NULL, 0, NULL));
        assert_true(tamis_filter_contains(f, NULL, 0));
        assert_true(tamis_filter_contains(f, "", 0));
        assert_int_equal(tamis_filter_copies(f, "x", 0), 1);
        tamis_filter_free(f);
    }
    tamis_filter_free(NULL);
}

/* A batch with a key that is none changes nothing; a query answers that it is in no set. */
static void test_batch_with_a_key_that_is_none_is_refused(void **state) {
    (void)state;
    enum { N = 70 };
    static const char text[] =
        "a text of some seventy bytes, of which each key is the beginning: the end";
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != TAMIS_KIND_ANY;) {
        tamis_filter *const f = test_filter(kind, 100, 1e-6, 7);
        tamis_bytes keys[N];
        for (size_t i = 0; i < N; i++)
            keys[i] = (tamis_bytes){i == 0 ? NULL : text, i};
        assert_ok(tamis_filter_insert_many(f, keys, N, NULL, NULL));
        size_t size;
        unsigned char *const bytes = test_encoded(f, &size);
        for (size_t bad = 1; bad < N; bad += 17) {
            bool flags[N], present[N];
            size_t done = 4711;
            keys[bad].data = keys[N - 1].data = NULL;
            assert_status(tamis_filter_insert_many(f, keys, N, flags, &done), TAMIS_E_ARGUMENT);
            assert_status(tamis_filter_remove_many(f, keys, N, flags, &done), TAMIS_E_ARGUMENT);
            assert_encoded(f, bytes, size);
            assert_int_equal(done, 4711);
            const size_t found = N - 1 - (bad != N - 1);
            assert_int_equal(tamis_filter_contains_many(f, keys, N, present), found);
            assert_int_equal(tamis_filter_contains_many(f, keys, N, NULL), found);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(present[i], i != bad && i != N - 1);
            assert_false(tamis_filter_contains(f, NULL, bad));
            assert_int_equal(tamis_filter_copies(f, NULL, bad), 0);
            keys[bad].data = keys[N - 1].data = text;
        }
        free(bytes);
        tamis_filter_free(f);
    }
}

static void test_whole_calls_null_is_refused(void **state) {
    (void)state;
    tamis_filter *const f = test_filter(TAMIS_KIND_BLOOM, 100, 0.01, 1);
    tamis_filter *g = UNTOUCHED;
    assert_status(tamis_filter_clone(NULL, NULL, &g), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_clone(f, NULL, NULL), TAMIS_E_ARGUMENT);
    test_allocator t;
    test_allocator_init(&t, -1);
    t.allocator.free = NULL;
    assert_status(tamis_filter_clone(f, &t.allocator, &g), TAMIS_E_ARGUMENT);
    assert_ptr_equal(g, UNTOUCHED);
    assert_status(tamis_filter_clear(NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_merge(NULL, f, TAMIS_MERGE_BEYOND), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_merge(f, NULL, TAMIS_MERGE_BEYOND), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_merge(f, f, TAMIS_MERGE_BEYOND), TAMIS_E_ARGUMENT);
    tamis_params params;
    tamis_params_init(&params);
    tamis_info info;
    tamis_info_init(&info);
    assert_status(tamis_filter_params(NULL, &params), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_params(f, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_info(NULL, &info), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_info(f, NULL), TAMIS_E_ARGUMENT);
    assert_int_equal(params.capacity, 0);
    assert_int_equal(info.bytes, 0);
    tamis_filter_free(f);
}

static void test_file_calls_null_is_refused(void **state) {
    (void)state;
    tamis_filter *const f = test_filter(TAMIS_KIND_BLOOM, 100, 0.01, 1);
    tamis_filter *g = UNTOUCHED;
    size_t size;
    unsigned char *const bytes = test_encoded(f, &size);
    const char *reason = kept;
    assert_status(tamis_filter_encode(NULL, bytes, size), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode(f, NULL, size), TAMIS_E_ARGUMENT);
    unsigned char *const room = malloc(size + 1);
    assert_non_null(room);
    memset(room, 0xee, size + 1);
    assert_status(tamis_filter_encode(f, room, size - 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_encode(f, room, size + 1), TAMIS_E_ARGUMENT);
    for (size_t i = 0; i <= size; i++)
        assert_int_equal(room[i], 0xee);
    free(room);

    test_allocator t;
    test_allocator_init(&t, -1);
    t.allocator.alloc = NULL;
    assert_status(tamis_filter_decode(NULL, size, NULL, &g, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_decode(bytes, size, NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_decode(bytes, size, &t.allocator, &g, &reason), TAMIS_E_ARGUMENT);
    assert_ptr_not_equal(reason, kept);
    assert_status(tamis_filter_decode(NULL, 0, NULL, &g, NULL), TAMIS_E_FORMAT);
    assert_status(tamis_filter_view(NULL, size, NULL, &g, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_view(bytes, size, NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_view_parts(NULL, size, NULL, &g, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_view_parts(bytes, size, NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_save(NULL, "x", NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_save(f, NULL, &reason), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_save_fd(NULL, 1, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_save_fd(f, -1, &reason), TAMIS_E_IO);
    assert_status(tamis_filter_load(NULL, NULL, &g, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_load("x", NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_load_fd(-1, NULL, &g, NULL), TAMIS_E_IO);
    assert_status(tamis_filter_load_fd(0, NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_map(NULL, NULL, &g, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_map("x", NULL, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_ptr_equal(g, UNTOUCHED);

    reason = kept; /* a call that succeeds says nothing */
    assert_ok(tamis_filter_decode(bytes, size, NULL, &g, &reason));
    assert_ptr_equal(reason, kept);
    tamis_filter_free(g);
    free(bytes);
    tamis_filter_free(f);
}

static void test_kind_names_parse_back(void **state) {
    (void)state;
    unsigned n = 0;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != TAMIS_KIND_ANY; n++) {
        const char *const name = tamis_kind_name(kind);
        tamis_kind parsed = TAMIS_KIND_ANY;
        assert_ok(tamis_kind_parse(name, &parsed));
        assert_int_equal(parsed, kind);
        for (const char *c = name; *c != '\0'; c++)
            assert_true((*c >= 'a' && *c <= 'z') || *c == '-');
        unsigned params = 0;
        while (tamis_param_name(kind, params) != NULL)
            params++;
        assert_in_range(params, 1, TAMIS_PARAMS_MAX);
        for (; params < TAMIS_PARAMS_MAX + 2; params++) /* dense: nothing after the first NULL */
            assert_null(tamis_param_name(kind, params));
        if (tamis_kind_abilities(kind) & TAMIS_CAN_COUNT)
            assert_true(tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE);
    }
    assert_true(n >= 3);
    assert_string_equal(tamis_kind_name(TAMIS_KIND_BLOOM), "bloom");
    assert_string_equal(tamis_kind_name(TAMIS_KIND_COUNTING_BLOOM), "counting-bloom");
    assert_string_equal(tamis_kind_name(TAMIS_KIND_BLOCKED_BLOOM), "blocked-bloom");
    tamis_kind kind = (tamis_kind)5;
    assert_status(tamis_kind_parse("", &kind), TAMIS_E_ARGUMENT);
    assert_status(tamis_kind_parse("Bloom", &kind), TAMIS_E_ARGUMENT);
    assert_status(tamis_kind_parse("bloom ", &kind), TAMIS_E_ARGUMENT);
    assert_status(tamis_kind_parse(NULL, &kind), TAMIS_E_ARGUMENT);
    assert_status(tamis_kind_parse("bloom", NULL), TAMIS_E_ARGUMENT);
    assert_int_equal(kind, 5);
    const tamis_kind none[] = {TAMIS_KIND_ANY, (tamis_kind)63, (tamis_kind)INT32_MAX};
    for (unsigned i = 0; i < 3; i++) {
        assert_null(tamis_kind_name(none[i]));
        assert_int_equal(tamis_kind_abilities(none[i]), 0);
        assert_null(tamis_param_name(none[i], 0));
    }
}

static void test_seeds_are_numbers_or_hexadecimal(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t low, high;
    } good[] = {
        {"1", 1, 0},
        {"007", 7, 0},
        {"18446744073709551615", UINT64_MAX, 0},
        {"0x1", 1, 0},
        {"0XaBcdef", 0xabcdef, 0},
        {"0x10000000000000000", 0, 1},
        {"0xffffffffffffffffffffffffffffffff", UINT64_MAX, UINT64_MAX},
        {"0x00000000000000020000000000000003", 3, 2},
    };
    tamis_params params;
    tamis_params_init(&params);
    params.capacity = 77;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ok(tamis_seed_parse(good[i].text, &params));
        assert_true(params.seed == good[i].low && params.seed_high == good[i].high);
    }
    assert_int_equal(params.capacity, 77);
    static const char *const bad[] = {"",
                                      "0",
                                      "0x",
                                      "0x0",
                                      "x1",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "12a",
                                      "0xg",
                                      "0x 1",
                                      "18446744073709551616",
                                      "0x1ffffffffffffffffffffffffffffffff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_status(tamis_seed_parse(bad[i], &params), TAMIS_E_ARGUMENT);
    assert_status(tamis_seed_parse(NULL, &params), TAMIS_E_ARGUMENT);
    assert_status(tamis_seed_parse("1", NULL), TAMIS_E_ARGUMENT);
    assert_true(params.seed == 3 && params.seed_high == 2); /* as before */
    params.struct_size = 0;
    assert_status(tamis_seed_parse("1", &params), TAMIS_E_ARGUMENT);
}

/* ---- callers of another age ---- */

static void test_params_of_an_older_caller_default_the_rest(void **state) {
    (void)state;
    tamis_params params;
    memset(&params, 0xff, sizeof params); /* what he does not know must not be read */
    params.struct_size = offsetof(tamis_params, value) + 2 * sizeof(uint64_t);
    params.kind = TAMIS_KIND_BLOOM;
    params.hash = TAMIS_HASH_DEFAULT;
    params.seed_high = 0;
    params.capacity = 1000;
    params.seed = 7;
    params.stash = 0;
    params.value[TAMIS_BLOOM_BITS] = 12345;
    params.value[TAMIS_BLOOM_HASHES] = 3;
    tamis_filter *f;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    tamis_params full;
    tamis_params_init(&full);
    assert_ok(tamis_filter_params(f, &full));
    assert_int_equal(full.value[TAMIS_BLOOM_BITS], 12345);
    assert_int_equal(full.value[TAMIS_BLOOM_HASHES], 3);
    assert_int_equal(full.value[TAMIS_BLOOM_PARTITIONED], 0);
    tamis_filter_free(f);
}

typedef struct newer_params {
    tamis_params known;
    uint64_t tail[3];
} newer_params;

static void test_params_of_a_newer_caller_need_a_zero_tail(void **state) {
    (void)state;
    newer_params params;
    memset(&params, 0, sizeof params);
    params.known = test_params(TAMIS_KIND_BLOCKED_BLOOM, 100, 0.01, 1);
    params.known.struct_size = sizeof params;
    tamis_filter *f = UNTOUCHED;
    assert_ok(tamis_filter_create(&params.known, NULL, &f));
    tamis_filter_free(f);
    f = UNTOUCHED;
    params.tail[2] = (uint64_t)1 << 63;
    assert_status(tamis_filter_create(&params.known, NULL, &f), TAMIS_E_ARGUMENT);
    assert_ptr_equal(f, UNTOUCHED);
    const size_t nonsense[] = {0, 1, sizeof(size_t) - 1, 1u << 17, SIZE_MAX};
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        params.known.struct_size = nonsense[i];
        assert_status(tamis_filter_create(&params.known, NULL, &f), TAMIS_E_ARGUMENT);
        tamis_filter *const g = test_filter(TAMIS_KIND_BLOOM, 10, 0.1, 1);
        assert_status(tamis_filter_params(g, &params.known), TAMIS_E_ARGUMENT);
        tamis_filter_free(g);
    }
    assert_ptr_equal(f, UNTOUCHED);
}

static void test_info_of_every_age_is_filled_as_far_as_known(void **state) {
    (void)state;
    tamis_filter *const f = test_filter(TAMIS_KIND_COUNTING_BLOOM, 100, 0.01, 9);
    assert_ok(tamis_filter_insert_u64(f, 1, NULL));
    struct {
        tamis_info known;
        unsigned char tail[64];
    } newer, older;
    memset(&older, 0xdd, sizeof older);
    older.known.struct_size = offsetof(tamis_info, fpr);
    assert_ok(tamis_filter_info(f, &older.known));
    assert_int_equal(older.known.struct_size, offsetof(tamis_info, fpr));
    assert_int_equal(older.known.count, 1);
    assert_int_equal(older.known.params.capacity, 100);
    const unsigned char *const bytes = (const unsigned char *)&older;
    for (size_t i = offsetof(tamis_info, fpr); i < sizeof older; i++)
        assert_int_equal(bytes[i], 0xdd);

    memset(&newer, 0xdd, sizeof newer);
    newer.known.struct_size = sizeof newer;
    assert_ok(tamis_filter_info(f, &newer.known));
    assert_int_equal(newer.known.struct_size, sizeof newer);
    assert_int_equal(newer.known.count, 1);
    assert_int_equal(newer.known.n_loads, 16);
    for (size_t i = 0; i < sizeof newer.tail; i++)
        assert_int_equal(newer.tail[i], 0xdd);

    memset(&newer, 0xdd, sizeof newer);
    newer.known.struct_size = sizeof(size_t) - 1;
    assert_status(tamis_filter_info(f, &newer.known), TAMIS_E_ARGUMENT);
    assert_int_equal(newer.tail[0], 0xdd);
    assert_true(newer.known.count == 0xddddddddddddddddu);
    tamis_filter_free(f);
}

#define guarded(test) cmocka_unit_test_setup_teardown(test, set_errno, check_errno)

int main(void) {
    const struct CMUnitTest tests[] = {
        guarded(test_create_bad_arguments_are_refused),
        guarded(test_create_parameters_out_of_range_are_refused),
        guarded(test_create_largest_sizes_ask_the_allocator),
        guarded(test_new_bad_arguments_are_refused),
        guarded(test_key_calls_null_is_refused),
        guarded(test_batch_with_a_key_that_is_none_is_refused),
        guarded(test_whole_calls_null_is_refused),
        guarded(test_file_calls_null_is_refused),
        guarded(test_kind_names_parse_back),
        guarded(test_seeds_are_numbers_or_hexadecimal),
        guarded(test_params_of_an_older_caller_default_the_rest),
        guarded(test_params_of_a_newer_caller_need_a_zero_tail),
        guarded(test_info_of_every_age_is_filled_as_far_as_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
