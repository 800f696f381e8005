/* test_stash.c - the stash in files that somebody wrote on purpose
 *
 * The loader is given a kind of its own whose keys all go to the stash.  So whatever a file can say about
 * a stash is tested here, once for all kinds that have one.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "robust.h"

#include "file/file.h"

#define STASH 20u /* keys; 26 slots, 52 words of digests, 4 of counts */
#define SLOTS 26u
enum { AT_PAIRS = HEADER + 64, AT_COUNTS = AT_PAIRS + 16 * SLOTS, AT_END = AT_PAIRS + 8 * 56 };

/* ---- a filter that is a stash ---- */

static tamis_status shape(tamis_params *params, uint64_t *n_table) {
    if (params->stash == 0)
        params->stash = STASH;
    *n_table = TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static tamis_status insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    *added = tamis_i_stash_copies(&filter->stash, digest) == 0;
    const tamis_status status = tamis_i_stash_insert(&filter->stash, digest);
    filter->state[TAMIS_I_COUNT] += status == TAMIS_OK;
    return status;
}

static bool check(const tamis_filter *filter, const char **reason) {
    (void)filter;
    (void)reason;
    return true;
}

static const tamis_i_kind stash_kind = {
    .id = (tamis_kind)77, .name = "stash", .shape = shape, .insert = insert, .check = check};

static tamis_filter *make_stash(unsigned n) {
    tamis_params params = test_bare_params(stash_kind.id, 1, SEED);
    params.hash = TAMIS_HASH_AES;
    tamis_filter *filter;
    assert_ok(tamis_i_filter_make(&stash_kind, &params, NULL, NULL, true, &filter));
    bool added;
    for (uint64_t key = 0; key < n; key++)
        assert_ok(insert(filter, test_hash_u64(SEED, key), &added));
    return filter;
}

static unsigned char *stash_bytes(unsigned n, size_t *size) {
    tamis_filter *const filter = make_stash(n);
    *size = (size_t)tamis_filter_encoded_size(filter);
    assert_true(filter->stash.slots == SLOTS);
    assert_int_equal(*size, AT_END + 64);
    unsigned char *const bytes = malloc(*size);
    assert_non_null(bytes);
    tamis_i_file_encode(filter, bytes);
    tamis_filter_free(filter);
    return bytes;
}

/* Files end at a page that may not be read. */
static guarded memory;

static int open_memory(void **state) {
    (void)state;
    guarded_open(&memory, 4096);
    return 0;
}

static int close_memory(void **state) {
    (void)state;
    guarded_close(&memory);
    return 0;
}

/* Load bytes from before a guard page; the filter, or NULL and the reason. */
static tamis_filter *load(const unsigned char *bytes, size_t size, const char **reason) {
    tamis_filter *filter;
    const char *why = NULL;
    tamis_i_kind_tested = &stash_kind;
    const tamis_status status =
        tamis_i_file_decode(guarded_put(&memory, bytes, size, 1), size, NULL, &filter, &why);
    if (tamis_i_little_endian()) { /* the view must be of the same opinion */
        tamis_filter *view;
        assert_status(tamis_i_file_view(guarded_put(&memory, bytes, size, 8), size, NULL,
                                        TAMIS_I_OPEN_VIEW, &view, &why),
                      status);
        if (status == TAMIS_OK)
            tamis_filter_free(view);
    }
    tamis_i_kind_tested = NULL;
    if (status == TAMIS_OK)
        return filter;
    assert_status(status, TAMIS_E_FORMAT);
    assert_non_null(why);
    *reason = why;
    return NULL;
}

/* The file, with checksums that are right, is refused for this reason. */
static void must_be_refused(unsigned char *bytes, size_t size, const char *expected) {
    const char *reason = "";
    fix_checksums(bytes, size);
    assert_null(load(bytes, size, &reason));
    assert_string_equal(reason, expected);
}

/* Insert, find, walk and remove until nothing is left.  Every loop must end, and the invariants hold at
 * every step. */
static void exercise_stash(tamis_filter *filter) {
    tamis_i_stash *const stash = &filter->stash;
    const char *reason = "";
    bool added;
    for (uint64_t key = 0; key < 60; key++) {
        const tamis_digest digest = test_hash_u64(SEED, key);
        const uint64_t before = tamis_i_stash_copies(stash, digest);
        const tamis_status status = insert(filter, digest, &added);
        assert_true(status == TAMIS_OK || status == TAMIS_E_FULL);
        assert_int_equal(tamis_i_stash_copies(stash, digest), before + (status == TAMIS_OK));
    }
    assert_true(tamis_i_stash_check(stash, &reason));
    for (;;) {
        uint64_t at = 0, copies;
        tamis_digest digest;
        if (!tamis_i_stash_next(stash, &at, &digest, &copies))
            break;
        const uint64_t before = tamis_i_stash_copies(stash, digest);
        assert_true(before >= copies);
        assert_true(tamis_i_stash_remove(stash, digest));
        assert_int_equal(tamis_i_stash_copies(stash, digest), before - 1);
        assert_true(tamis_i_stash_check(stash, &reason));
    }
    assert_int_equal(*stash->used, 0);
}

/* ---- tests ---- */

static void test_stash_sound_bytes_load(void **state) {
    (void)state;
    for (unsigned n = 0; n <= STASH; n++) {
        size_t size;
        unsigned char *const bytes = stash_bytes(n, &size);
        const char *reason = "";
        tamis_filter *const filter = load(bytes, size, &reason);
        assert_non_null(filter);
        for (uint64_t key = 0; key < n; key++)
            assert_int_equal(tamis_i_stash_copies(&filter->stash, test_hash_u64(SEED, key)), 1);
        exercise_stash(filter);
        tamis_filter_free(filter);
        free(bytes);
    }
}

static void test_stash_wrong_number_of_entries_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = stash_bytes(10, &size);
    const uint64_t claims[] = {0, 1, 9, 11, STASH, STASH + 1, SLOTS, UINT64_MAX};
    for (unsigned i = 0; i < sizeof claims / sizeof *claims; i++) {
        tamis_i_put_u64(bytes + AT_STATE + 8 * TAMIS_I_STASH_USED, claims[i]);
        must_be_refused(bytes, size, "the stash does not hold as many keys as it claims");
    }
    free(bytes);
}

/* Without an empty slot a search would not end. */
static void test_stash_without_empty_slot_refused(void **state) {
    (void)state;
    for (unsigned extra = 1; extra <= SLOTS - STASH; extra++) {
        size_t size;
        unsigned char *const bytes = stash_bytes(STASH, &size);
        unsigned left = extra;
        for (unsigned slot = 0; slot < SLOTS && left > 0; slot++)
            if (bytes[AT_COUNTS + slot] == 0) {
                bytes[AT_COUNTS + slot] = 1;
                left--;
            }
        tamis_i_put_u64(bytes + AT_STATE + 8 * TAMIS_I_STASH_USED, STASH + extra);
        must_be_refused(bytes, size, "the stash does not hold as many keys as it claims");
        free(bytes);
    }
}

static void test_stash_data_in_empty_slot_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = stash_bytes(10, &size);
    unsigned refused = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (bytes[AT_COUNTS + slot] != 0)
            continue;
        for (unsigned at = 0; at < 16; at++) {
            bytes[AT_PAIRS + 16 * slot + at] = 0x80;
            must_be_refused(bytes, size, "the stash has data in an empty slot");
            bytes[AT_PAIRS + 16 * slot + at] = 0;
            refused++;
        }
    }
    assert_int_equal(refused, 16 * (SLOTS - 10));
    free(bytes);
}

static void test_stash_data_past_its_end_refused(void **state) {
    (void)state;
    for (unsigned n = 0; n <= STASH; n += STASH) {
        size_t size;
        unsigned char *const bytes = stash_bytes(n, &size);
        for (unsigned at = AT_COUNTS + SLOTS; at < AT_END; at++) {
            bytes[at] = 1;
            must_be_refused(bytes, size, "the stash has data past its end");
            bytes[at] = 0;
        }
        free(bytes);
    }
}

/* An entry moved to where a search for it does not come: it would be answered with "absent". */
static void test_stash_unreachable_entry_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = stash_bytes(1, &size);
    unsigned home = 0;
    while (bytes[AT_COUNTS + home] == 0)
        home++;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (slot == home)
            continue;
        memcpy(bytes + AT_PAIRS + 16 * slot, bytes + AT_PAIRS + 16 * home, 16);
        memset(bytes + AT_PAIRS + 16 * home, 0, 16);
        bytes[AT_COUNTS + home] = 0;
        bytes[AT_COUNTS + slot] = 1;
        must_be_refused(bytes, size, "the stash has a key that cannot be found");
        memcpy(bytes + AT_PAIRS + 16 * home, bytes + AT_PAIRS + 16 * slot, 16);
        memset(bytes + AT_PAIRS + 16 * slot, 0, 16);
        bytes[AT_COUNTS + home] = 1;
        bytes[AT_COUNTS + slot] = 0;
    }
    free(bytes);
}

static void test_stash_random_words_refused_or_safe(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned let_in = 0;
    for (unsigned i = 0; i < 40000; i++) {
        size_t size;
        unsigned char *const bytes =
            stash_bytes((unsigned)test_random_below(&random, STASH + 1), &size);
        for (uint64_t changes = 1 + test_random_below(&random, 4); changes > 0; changes--) {
            const uint64_t what = test_random_below(&random, 4);
            const unsigned a = (unsigned)test_random_below(&random, SLOTS);
            const unsigned b = (unsigned)test_random_below(&random, SLOTS);
            if (what == 0) { /* a count that is not zero */
                if (bytes[AT_COUNTS + a] != 0)
                    bytes[AT_COUNTS + a] = (unsigned char)(1 + test_random_below(&random, 255));
            } else if (what == 1) { /* another digest, or that of another slot */
                memcpy(bytes + AT_PAIRS + 16 * a, bytes + AT_PAIRS + 16 * b, 16);
            } else if (what == 2) { /* two entries change places */
                unsigned char pair[16];
                memcpy(pair, bytes + AT_PAIRS + 16 * a, 16);
                memcpy(bytes + AT_PAIRS + 16 * a, bytes + AT_PAIRS + 16 * b, 16);
                memcpy(bytes + AT_PAIRS + 16 * b, pair, 16);
            } else { /* any bit */
                const size_t at = AT_STATE + (size_t)test_random_below(&random, AT_END - AT_STATE);
                bytes[at] ^= (unsigned char)(1u << test_random_below(&random, 8));
            }
        }
        fix_checksums(bytes, size);
        const char *reason = "";
        tamis_filter *const filter = load(bytes, size, &reason);
        if (filter != NULL) {
            exercise_stash(filter);
            tamis_filter_free(filter);
            let_in++;
        }
        free(bytes);
    }
    print_message("# %u of 40000 let in and safe\n", let_in);
    assert_true(let_in > 1000);
}

/* One key in several slots that are not full, which calls do not make but which can be read.  The merge
 * must see beforehand whether there is room: here each of the two slots of the source alone would fit
 * into what the key has left, but both together do not. */
static void test_stash_spread_copies_merge_or_refuse(void **state) {
    (void)state;
    const tamis_digest digest = test_hash_u64(SEED, 0);
    for (unsigned entries = 1; entries <= STASH; entries++) {
        tamis_filter *const target = make_stash(entries); /* 'digest' once, and other keys */
        tamis_filter *const source = make_stash(0);
        for (unsigned i = 0; i < 100; i++)
            assert_ok(tamis_i_stash_insert(&target->stash, digest));
        for (unsigned i = 0; i < 300; i++)
            assert_ok(tamis_i_stash_insert(&source->stash, digest));
        /* 255 + 45 copies of the source become 150 + 150. */
        uint64_t *const counts = source->stash.words + 2 * SLOTS;
        for (unsigned slot = 0; slot < SLOTS; slot++)
            if (counts[slot / 8] >> 8 * (slot % 8) & 0xff) {
                counts[slot / 8] &= ~((uint64_t)0xff << 8 * (slot % 8));
                counts[slot / 8] |= (uint64_t)150 << 8 * (slot % 8);
            }
        const char *reason = "";
        assert_true(tamis_i_stash_check(&source->stash, &reason));
        assert_int_equal(tamis_i_stash_copies(&source->stash, digest), 300);
        const bool merged = tamis_i_stash_merge(&target->stash, &source->stash);
        assert_int_equal(merged, entries < STASH);
        if (merged) {
            assert_int_equal(tamis_i_stash_copies(&target->stash, digest), 401);
            assert_true(tamis_i_stash_check(&target->stash, &reason));
        }
        tamis_filter_free(target);
        tamis_filter_free(source);
    }
}

/* Section 4 of docs/format.md, word for word: copies of a digest in the bytes of a file. */
static uint64_t copies_by_the_specification(const unsigned char *bytes, tamis_digest d) {
    const uint64_t c = tamis_i_get_u64(bytes + 40);
    const uint64_t s = c + c / 4 + 1;
    uint64_t x = d.lo ^ (d.hi << 32 | d.hi >> 32);
    x ^= x >> 32;
    x *= 0xe9846af9b1a615d5u;
    x ^= x >> 29;
    x *= 0x9e6c63d0876a68d9u;
    x ^= x >> 32;
    uint64_t slot = 0, sum = 0; /* slot = x * s >> 64, by adding: s is small */
    for (uint64_t i = 0, low = 0; i < s; i++) {
        slot += low + x < low;
        low += x;
    }
    const unsigned char *const stash = bytes + 256 + 8 * 8;
    for (;; slot = slot + 1 == s ? 0 : slot + 1) {
        const unsigned count = stash[16 * s + slot];
        if (count == 0)
            return sum;
        if (tamis_i_get_u64(stash + 16 * slot) == d.lo &&
            tamis_i_get_u64(stash + 16 * slot + 8) == d.hi)
            sum += count;
    }
}

static void test_stash_is_as_specified(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned i = 0; i < 300; i++) {
        tamis_filter *const filter = make_stash((unsigned)test_random_below(&random, STASH + 1));
        bool added;
        for (unsigned more = (unsigned)test_random_below(&random, 2000); more > 0; more--)
            (void)!insert(filter, test_hash_u64(SEED, test_random_below(&random, 24)), &added);
        unsigned char bytes[AT_END + 64];
        tamis_i_file_encode(filter, bytes);
        for (uint64_t key = 0; key < 30; key++) {
            const tamis_digest digest = test_hash_u64(SEED, key);
            assert_int_equal(copies_by_the_specification(bytes, digest),
                             tamis_i_stash_copies(&filter->stash, digest));
        }
        tamis_filter_free(filter);
    }
}

/* Keys in the stash that the table has or would have taken, and copies of them where there can be none: a
 * filter of any kind that was let in can be written and read again after they have been inserted. */
static void test_stash_keys_that_have_room_elsewhere_are_safe(void **state) {
    (void)state;
    unsigned let_in = 0;
    FOR_EACH_KIND(kind) {
        for (unsigned round = 0; round < 32; round++) {
            tamis_filter *const made = make_sample(kind, 50);
            if (made->params.stash == 0) {
                tamis_filter_free(made);
                break;
            }
            for (uint64_t key = 48; key < 49 + round % 8; key++)
                for (unsigned copies = 0; copies <= round / 8; copies++)
                    if (tamis_i_stash_insert(&made->stash, test_hash_u64(SEED, key)) == TAMIS_OK)
                        made->state[TAMIS_I_COUNT]++;
            size_t size;
            unsigned char *bytes = encode(made, &size);
            tamis_filter_free(made);
            tamis_filter *filter, *again;
            const char *reason = "";
            if (tamis_filter_decode(bytes, size, NULL, &filter, &reason) == TAMIS_OK) {
                for (uint64_t key = 36; key < 60; key++) {
                    (void)!tamis_filter_insert_u64(filter, key, NULL);
                    free(bytes);
                    bytes = encode(filter, &size);
                    if (tamis_filter_decode(bytes, size, NULL, &again, &reason) != TAMIS_OK)
                        fail_msg("%s: written, but: %s", tamis_kind_name(kind), reason);
                    tamis_filter_free(again);
                }
                tamis_filter_free(filter);
                let_in++;
            }
            free(bytes);
        }
    }
    print_message("# %u let in\n", let_in);
    assert_true(let_in > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stash_sound_bytes_load),
        cmocka_unit_test(test_stash_wrong_number_of_entries_refused),
        cmocka_unit_test(test_stash_without_empty_slot_refused),
        cmocka_unit_test(test_stash_data_in_empty_slot_refused),
        cmocka_unit_test(test_stash_data_past_its_end_refused),
        cmocka_unit_test(test_stash_unreachable_entry_refused),
        cmocka_unit_test(test_stash_random_words_refused_or_safe),
        cmocka_unit_test(test_stash_spread_copies_merge_or_refuse),
        cmocka_unit_test(test_stash_is_as_specified),
        cmocka_unit_test(test_stash_keys_that_have_room_elsewhere_are_safe),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
