/* test_loader.c - damage of every sort is refused, with a reason, at no cost
 *
 * First the accidents: every single bit, random changes, every length.  Then the attacks, in which the
 * checksums are right: fields and words set to extremes must be refused or give a filter that is safe
 * to use, and a header that promises much must not make the loader allocate.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "robust.h"

#include "filter/filter.h"

#include <signal.h>

#define SMALL 300u   /* keys: some hundred bytes of table */
#define LARGE 40000u /* keys: 50 KiB and more */

/* Numbers that tend to break arithmetic. */
static const uint64_t extremes[] = {0,
                                    1,
                                    2,
                                    7,
                                    8,
                                    16,
                                    17,
                                    63,
                                    64,
                                    65,
                                    255,
                                    256,
                                    257,
                                    511,
                                    512,
                                    513,
                                    UINT64_C(1) << 16,
                                    (UINT64_C(1) << 31) - 1,
                                    UINT64_C(1) << 31,
                                    (UINT64_C(1) << 32) - 1,
                                    UINT64_C(1) << 32,
                                    (UINT64_C(1) << 32) + 1,
                                    (UINT64_C(1) << 40) - 1,
                                    UINT64_C(1) << 40,
                                    (UINT64_C(1) << 40) + 1,
                                    UINT64_C(1) << 42,
                                    UINT64_C(1) << 46,
                                    UINT64_C(1) << 48,
                                    (UINT64_C(1) << 48) + 1,
                                    UINT64_C(1) << 53,
                                    UINT64_C(1) << 58,
                                    UINT64_C(1) << 60,
                                    (UINT64_C(1) << 61) - 1,
                                    UINT64_C(1) << 61,
                                    UINT64_C(1) << 62,
                                    (UINT64_C(1) << 63) - 1,
                                    UINT64_C(1) << 63,
                                    (UINT64_C(1) << 63) + 1,
                                    UINT64_MAX - 511,
                                    UINT64_MAX - 63,
                                    UINT64_MAX - 7,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};
#define N_EXTREMES (sizeof extremes / sizeof *extremes)

/* ---- accidents ---- */

static void test_loader_sound_bytes_load(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        for (unsigned large = 0; large < 2; large++) {
            sample_file s;
            sample_file_open(&s, "sound", kind, large ? LARGE : SMALL);
            for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w)) {
                test_allocator memory;
                test_allocator_init(&memory, -1);
                tamis_filter *filter;
                assert_ok(load_by(&s.loader, w, s.bytes, s.size, &memory.allocator, &filter, NULL));
                assert_true(memory.largest <= justified(w, s.size));
                assert_int_equal(memory.live, filter->guard == NULL ? 1 : 2);
                for (uint64_t key = 0; key < SMALL; key++)
                    assert_true(tamis_filter_contains_u64(filter, key));
                size_t again_size;
                unsigned char *const again = encode(filter, &again_size);
                assert_int_equal(s.size, again_size);
                assert_memory_equal(s.bytes, again, s.size);
                free(again);
                tamis_filter_free(filter);
                assert_int_equal(memory.live, 0);
            }
            sample_file_close(&s);
        }
    }
}

/* Each bit of the first 4 KiB by memory and view, each 13th also by the other ways. */
static void test_loader_single_bit_refused(void **state) {
    (void)state;
    uint64_t flips = 0;
    FOR_EACH_KIND(kind) {
        for (unsigned large = 0; large < 2; large++) {
            sample_file s;
            sample_file_open(&s, "flip", kind, large ? LARGE : SMALL);
            const size_t bits = 8 * (s.size < 4096 ? s.size : 4096);
            for (size_t i = 0; i < bits; i += large ? 7 : 1) {
                s.bytes[i / 8] ^= (unsigned char)(1u << i % 8);
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
                    if (w <= AS_VIEW || i % 13 == 0) {
                        const char *const reason =
                            must_refuse(&s.loader, w, s.bytes, s.size, TAMIS_OK);
                        if (i < 64)
                            assert_string_equal(reason, "this is not a tamis file");
                        else if (i >= 8 * HEADER)
                            assert_string_equal(reason,
                                                "the body is damaged: its checksum does not match");
                        flips++;
                    }
                s.bytes[i / 8] ^= (unsigned char)(1u << i % 8);
            }
            sample_file_close(&s);
        }
    }
    print_message("# %llu flips\n", (unsigned long long)flips);
}

static void damage(unsigned char *bytes, size_t *size, uint64_t *random) {
    const size_t n = *size;
    switch (test_random_below(random, 6)) {
    case 0: /* a few bytes */
        for (uint64_t i = 1 + test_random_below(random, 8); i > 0; i--)
            bytes[test_random_below(random, n)] = (unsigned char)test_random(random);
        break;
    case 1: { /* two blocks change places */
        const size_t length = 1 + (size_t)test_random_below(random, n / 4);
        const size_t a = (size_t)test_random_below(random, n / 2 - length);
        const size_t b = n / 2 + (size_t)test_random_below(random, n / 2 - length);
        for (size_t i = 0; i < length; i++) {
            const unsigned char byte = bytes[a + i];
            bytes[a + i] = bytes[b + i];
            bytes[b + i] = byte;
        }
        break;
    }
    case 2: { /* a hole */
        const size_t length = 1 + (size_t)test_random_below(random, n / 4);
        memset(bytes + test_random_below(random, n - length), (int)test_random_below(random, 256),
               length);
        break;
    }
    case 3: { /* a piece is lost */
        const size_t length = 1 + (size_t)test_random_below(random, n / 4);
        const size_t at = (size_t)test_random_below(random, n - length);
        memmove(bytes + at, bytes + at + length, n - at - length);
        *size = n - length;
        break;
    }
    case 4: { /* a piece stands twice */
        const size_t length = 1 + (size_t)test_random_below(random, n / 4);
        const size_t at = (size_t)test_random_below(random, n - length);
        memmove(bytes + at + length, bytes + at, n - at);
        *size = n + length;
        break;
    }
    default: { /* a run of one bit in each byte */
        const size_t at = (size_t)test_random_below(random, n - 64);
        for (size_t i = 0; i < 64; i++)
            bytes[at + i] ^= 0x20;
        break;
    }
    }
}

static void test_loader_random_damage_refused(void **state) {
    (void)state;
    uint64_t random = test_seed();
    FOR_EACH_KIND(kind) {
        for (unsigned large = 0; large < 2; large++) {
            sample_file s;
            sample_file_open(&s, "damage", kind, large ? LARGE : SMALL);
            for (unsigned done = 0; done < (large ? 1000 : 10000);) {
                memcpy(s.copy, s.bytes, s.size);
                size_t damaged_size = s.size;
                damage(s.copy, &damaged_size, &random);
                if (damaged_size == s.size && memcmp(s.bytes, s.copy, s.size) == 0)
                    continue;
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
                    if (w <= AS_VIEW || done % 16 == 0)
                        (void)must_refuse(&s.loader, w, s.copy, damaged_size, TAMIS_OK);
                done++;
            }
            sample_file_close(&s);
        }
    }
}

static void test_loader_every_truncation_refused(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "truncate", kind, SMALL);
        for (size_t length = 0; length < s.size; length++)
            for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
                if (w <= AS_VIEW || length % 9 == 0 || length + 9 > s.size) {
                    const char *const reason =
                        must_refuse(&s.loader, w, s.bytes, length, TAMIS_E_FORMAT);
                    assert_string_equal(reason, length == 0 ? "the file is empty"
                                                : length < HEADER
                                                    ? "the file is cut off within the header"
                                                    : "the file is cut off within the body");
                }
        sample_file_close(&s);
    }
}

static void test_loader_extension_refused(void **state) {
    (void)state;
    uint64_t random = test_seed();
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "extend", kind, SMALL);
        for (unsigned content = 0; content < 3; content++) { /* zeros, chance, the file again */
            for (size_t i = 0; i < s.size; i++)
                s.copy[s.size + i] = content == 0   ? 0
                                     : content == 1 ? (unsigned char)test_random(&random)
                                                    : s.bytes[i];
            memcpy(s.copy, s.bytes, s.size);
            for (size_t more = 1; more <= s.size; more += more < 70 ? 1 : 61)
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
                    if (w <= AS_VIEW || more % 5 == 1)
                        assert_string_equal(
                            must_refuse(&s.loader, w, s.copy, s.size + more, TAMIS_E_FORMAT),
                            "the file goes on after its end");
        }
        sample_file_close(&s);
    }
}

static void test_loader_empty_file_says_so(void **state) {
    (void)state;
    loader l;
    loader_open(&l, "empty", 1);
    for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
        assert_string_equal(must_refuse(&l, w, (const unsigned char *)"", 0, TAMIS_E_FORMAT),
                            "the file is empty");
    loader_close(&l);
}

static void test_loader_no_reason_wanted_no_crash(void **state) {
    (void)state;
    tamis_filter *filter = NULL;
    assert_status(tamis_filter_decode("", 0, NULL, &filter, NULL), TAMIS_E_FORMAT);
    assert_status(tamis_filter_decode(NULL, 0, NULL, &filter, NULL), TAMIS_E_FORMAT);
    assert_status(tamis_filter_decode(NULL, 5, NULL, &filter, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_load("/", NULL, &filter, NULL), TAMIS_E_IO);
    assert_status(tamis_filter_load_fd(-1, NULL, &filter, NULL), TAMIS_E_IO);
    assert_null(filter);
}

static void test_loader_unaligned_view_refused(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    size_t size;
    unsigned char *const bytes = make_bytes(TAMIS_KIND_BLOOM, SMALL, &size);
    unsigned char *const room = malloc(size + 16);
    assert_non_null(room);
    unsigned char *const aligned = room + (8 - (uintptr_t)room % 8) % 8;
    tamis_filter *filter;
    for (unsigned shift = 0; shift < 8; shift++) {
        memcpy(aligned + shift, bytes, size);
        const tamis_status status = tamis_filter_view(aligned + shift, size, NULL, &filter, NULL);
        assert_status(status, shift == 0 ? TAMIS_OK : TAMIS_E_ARGUMENT);
        if (status == TAMIS_OK)
            tamis_filter_free(filter);
    }
    free(room);
    free(bytes);
}

/* ---- attacks on the header ---- */

static void test_loader_newer_version_refused(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "version", kind, SMALL);
        for (unsigned i = 0; i < N_EXTREMES; i++) {
            const uint32_t version = (uint32_t)extremes[i];
            if (version == 1)
                continue;
            tamis_i_put_u32(s.bytes + TAMIS_I_AT_VERSION, version);
            for (unsigned fixed = 0; fixed < 2;
                 fixed++) { /* a newer one may be checked otherwise */
                if (fixed)
                    fix_header(s.bytes);
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
                    (void)must_refuse(&s.loader, w, s.bytes, s.size,
                                      version > 4 ? TAMIS_E_VERSION : TAMIS_E_FORMAT);
            }
        }
        sample_file_close(&s);
    }
}

/* Numbers that are not used again: who has such a file is told so. */
static void test_loader_old_kinds_say_what_they_are(void **state) {
    static const struct {
        uint32_t number;
        const char *name;
    } gone[] = {{10, "line"}, {11, "line-set"}};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        sample_file s;
        char expected[100];
        tamis_kind kind;
        sample_file_open(&s, "gone", TAMIS_KIND_BLOOM, SMALL);
        tamis_i_put_u32(s.bytes + TAMIS_I_AT_KIND, gone[i].number);
        fix_header(s.bytes);
        snprintf(expected, sizeof expected,
                 "a set of the old kind %s, which is no longer read; build it again", gone[i].name);
        for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
            assert_string_equal(must_refuse(&s.loader, w, s.bytes, s.size, TAMIS_E_FORMAT),
                                expected);
        sample_file_close(&s);
        assert_null(tamis_kind_name((tamis_kind)gone[i].number));
        assert_int_equal(tamis_kind_abilities((tamis_kind)gone[i].number), 0);
        assert_status(tamis_kind_parse("line-set", &kind), TAMIS_E_ARGUMENT);
    }
}

typedef struct field {
    const char *name;
    unsigned at, width;
    bool free; /* some other values than the true one are sound */
} field;

static void test_loader_header_extremes_refused_or_safe(void **state) {
    (void)state;
    static const field fields[] = {{"version", TAMIS_I_AT_VERSION, 4, false},
                                   {"header size", TAMIS_I_AT_HEADER_SIZE, 4, false},
                                   {"kind", TAMIS_I_AT_KIND, 4, true},
                                   {"hash", TAMIS_I_AT_HASH, 4, false},
                                   {"capacity", TAMIS_I_AT_CAPACITY, 8, true},
                                   {"seed", TAMIS_I_AT_SEED, 8, true},
                                   {"stash", TAMIS_I_AT_STASH, 8, true},
                                   {"body words", TAMIS_I_AT_BODY_WORDS, 8, false},
                                   {"reserved", TAMIS_I_AT_KEY_FORM, 8, false},
                                   {"last reserved", TAMIS_I_AT_BODY_CHECKSUM - 8, 8, false}};
    enum { N_FIELDS = sizeof fields / sizeof *fields };
    unsigned let_in = 0, refused = 0;
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "header", kind, SMALL);
        for (unsigned f = 0; f < N_FIELDS + TAMIS_PARAMS_MAX; f++) {
            const field own = f < N_FIELDS
                                  ? fields[f]
                                  : (field){"value", TAMIS_I_AT_VALUES + 8 * (f - N_FIELDS), 8,
                                            tamis_param_name(kind, f - N_FIELDS) != NULL};
            unsigned char saved[8];
            memcpy(saved, s.bytes + own.at, own.width);
            for (unsigned e = 0; e < N_EXTREMES; e++) {
                const uint64_t value = own.width == 4 ? (uint32_t)extremes[e] : extremes[e];
                if (own.width == 4)
                    tamis_i_put_u32(s.bytes + own.at, (uint32_t)value);
                else
                    tamis_i_put_u64(s.bytes + own.at, value);
                if (memcmp(saved, s.bytes + own.at, own.width) == 0)
                    continue;
                fix_header(s.bytes);
                const bool certain =
                    (own.at == TAMIS_I_AT_CAPACITY && (value == 0 || value > TAMIS_CAPACITY_MAX)) ||
                    (own.at == TAMIS_I_AT_SEED && value == 0);
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w)) {
                    if (!own.free || certain) {
                        (void)must_refuse(&s.loader, w, s.bytes, s.size, TAMIS_OK);
                        refused++;
                    } else {
                        const bool in = refused_or_safe(&s.loader, w, s.bytes, s.size);
                        if (own.at == TAMIS_I_AT_SEED)
                            assert_true(in);
                        let_in += in;
                        refused += !in;
                    }
                }
            }
            memcpy(s.bytes + own.at, saved, own.width);
            fix_header(s.bytes);
        }
        sample_file_close(&s);
    }
    print_message("# %u refused, %u let in and safe\n", refused, let_in);
}

/* Random values in all fields at once, near to what is sound. */
static void test_loader_header_random_refused_or_safe(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned let_in = 0;
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "random-header", kind, SMALL);
        for (unsigned i = 0; i < 4000; i++) {
            memcpy(s.copy, s.bytes, s.size);
            for (uint64_t changes = 1 + test_random_below(&random, 3); changes > 0; changes--) {
                const unsigned at =
                    TAMIS_I_AT_CAPACITY + 8 * (unsigned)test_random_below(&random, 8);
                const uint64_t old = tamis_i_get_u64(s.copy + at);
                const uint64_t by = test_random(&random) >> test_random_below(&random, 64);
                tamis_i_put_u64(s.copy + at, test_random_below(&random, 2) ? old + by : old - by);
            }
            if (test_random_below(&random, 8) == 0)
                tamis_i_put_u32(s.copy + TAMIS_I_AT_KIND,
                                1 + (uint32_t)test_random_below(&random, 4));
            fix_header(s.copy);
            let_in += refused_or_safe(&s.loader, way_in_turn(i), s.copy, s.size);
        }
        sample_file_close(&s);
    }
    print_message("# %u let in and safe\n", let_in);
}

/* A header that is sound in itself and promises as much as its kind may hold: nothing follows, or less
 * than it says. */
static void test_loader_large_claims_cost_nothing(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        const tamis_i_kind *const structure = tamis_i_kind_of(kind);
        sample_file s;
        sample_file_open(&s, "claim", kind, SMALL);
        for (unsigned at = 0; at < 2; at++) {
            const uint64_t claims[] = {UINT64_C(1) << 20, UINT64_C(1) << 30, UINT64_C(1) << 36,
                                       UINT64_C(1) << 39, UINT64_C(1) << 40, UINT64_C(1) << 48,
                                       UINT64_C(1) << 60};
            for (unsigned c = 0; c < sizeof claims / sizeof *claims; c++) {
                tamis_params params = test_bare_params(kind, at == 0 ? claims[c] : SMALL, SEED);
                params.value[0] = at == 0 ? 0 : claims[c];
                uint64_t n_body = claims[c], n_table;
                /* Too large only where a size_t has 32 bits. */
                const tamis_status shape =
                    tamis_i_filter_shape(structure, &params, &n_body, &n_table);
                const bool fits = shape != TAMIS_E_TOO_LARGE;
                assert_true(fits || sizeof(size_t) == 4);
                tamis_i_put_u64(s.bytes + TAMIS_I_AT_CAPACITY, params.capacity);
                tamis_i_put_u64(s.bytes + TAMIS_I_AT_STASH, params.stash);
                tamis_i_put_u64(s.bytes + TAMIS_I_AT_BODY_WORDS, n_body);
                for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
                    tamis_i_put_u64(s.bytes + TAMIS_I_AT_VALUES + 8 * i, params.value[i]);
                fix_header(s.bytes);
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w)) {
                    const size_t lengths[] = {HEADER, HEADER + 8, s.size};
                    for (unsigned i = 0; i < 3; i++)
                        assert_string_equal(must_refuse(&s.loader, w, s.bytes, lengths[i],
                                                        fits ? TAMIS_E_FORMAT : TAMIS_E_TOO_LARGE),
                                            shape == TAMIS_OK
                                                ? "the file is cut off within the body"
                                            : fits ? "a parameter in the header is out of range"
                                                   : "the filter is too large for this machine");
                }
            }
        }
        sample_file_close(&s);
    }
}

/* ---- attacks on the body ---- */

static void test_loader_state_extremes_refused_or_safe(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        const tamis_i_kind *const structure = tamis_i_kind_of(kind);
        sample_file s;
        sample_file_open(&s, "state", kind, SMALL);
        for (unsigned word = 0; word < TAMIS_I_STATE_WORDS; word++) {
            unsigned char *const at = s.bytes + AT_STATE + 8 * word;
            const uint64_t saved = tamis_i_get_u64(at);
            for (unsigned e = 0; e < N_EXTREMES; e++) {
                const uint64_t value = extremes[e];
                if (value == saved)
                    continue;
                tamis_i_put_u64(at, value);
                fix_checksums(s.bytes, s.size);
                /* No count that long use could turn into 0; none without keys; nothing reserved. */
                const bool certain =
                    word >= TAMIS_I_STATE_OWN + structure->n_state || word == TAMIS_I_STASH_USED ||
                    (word == TAMIS_I_COUNT && (value == 0 || value > TAMIS_I_COUNT_MAX));
                for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w)) {
                    if (certain)
                        (void)must_refuse(&s.loader, w, s.bytes, s.size, TAMIS_E_FORMAT);
                    else
                        (void)refused_or_safe(&s.loader, w, s.bytes, s.size);
                }
            }
            tamis_i_put_u64(at, saved);
        }
        sample_file_close(&s);
    }
}

/* An empty filter that claims keys; a full one that claims none. */
static void test_loader_count_without_keys_refused(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        tamis_filter *const filter = make_sample(kind, SMALL);
        assert_ok(tamis_filter_clear(filter));
        size_t size;
        unsigned char *const bytes = encode(filter, &size);
        tamis_filter_free(filter);
        loader l;
        loader_open(&l, "count", size);
        for (unsigned e = 0; e < N_EXTREMES; e++) {
            if (extremes[e] == 0)
                continue;
            tamis_i_put_u64(bytes + AT_STATE, extremes[e]);
            fix_checksums(bytes, size);
            for (way w = FROM_MEMORY; w <= AS_VIEW; w++)
                if (way_exists(w))
                    (void)must_refuse(&l, w, bytes, size, TAMIS_E_FORMAT);
        }
        loader_close(&l);
        free(bytes);
    }
}

/* Any bit of the table, and random words: refused, or safe.  A counter that is changed by one bit makes
 * the sum wrong, so a counting filter sees every single one. */
static void test_loader_table_bits_refused_or_safe(void **state) {
    (void)state;
    uint64_t random = test_seed();
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "table", kind, SMALL);
        unsigned let_in = 0, refused = 0;
        for (size_t bit = 8 * AT_TABLE; bit < 8 * s.size; bit++) {
            s.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            fix_checksums(s.bytes, s.size);
            const bool in = refused_or_safe(&s.loader, way_in_turn(bit), s.bytes, s.size);
            let_in += in;
            refused += !in;
            s.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        if (kind == TAMIS_KIND_COUNTING_BLOOM)
            assert_true(refused > let_in);
        for (unsigned i = 0; i < 3000; i++) {
            memcpy(s.copy, s.bytes, s.size);
            const uint64_t pattern = test_random_below(&random, 4);
            for (uint64_t changes = 1 + test_random_below(&random, 64); changes > 0; changes--) {
                const size_t at =
                    AT_STATE + 8 * (size_t)test_random_below(&random, (s.size - AT_STATE) / 8);
                tamis_i_put_u64(s.copy + at, pattern == 0   ? 0
                                             : pattern == 1 ? UINT64_MAX
                                             : pattern == 2
                                                 ? extremes[test_random_below(&random, N_EXTREMES)]
                                                 : test_random(&random));
            }
            fix_checksums(s.copy, s.size);
            const bool in = refused_or_safe(&s.loader, way_in_turn(i), s.copy, s.size);
            let_in += in;
            refused += !in;
        }
        print_message("# %s: %u refused, %u let in and safe\n", tamis_kind_name(kind), refused,
                      let_in);
        sample_file_close(&s);
    }
}

/* All tables of ones: the extreme of every counter. */
static void test_loader_full_table_refused_or_safe(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "full", kind, SMALL);
        memset(s.bytes + AT_TABLE, 0xff, s.size - AT_TABLE);
        for (unsigned e = 0; e < N_EXTREMES; e++) {
            tamis_i_put_u64(s.bytes + AT_STATE, extremes[e]);
            fix_checksums(s.bytes, s.size);
            for (way w = FROM_MEMORY; w <= AS_VIEW; w++)
                if (way_exists(w))
                    (void)refused_or_safe(&s.loader, w, s.bytes, s.size);
        }
        sample_file_close(&s);
    }
}

/* A file of one kind with the number of another: the parameters or the body give it away, or the result
 * is at least safe. */
static void test_loader_kind_exchanged_refused_or_safe(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        sample_file s;
        sample_file_open(&s, "exchange", kind, SMALL);
        FOR_EACH_KIND(other) {
            tamis_i_put_u32(s.bytes + TAMIS_I_AT_KIND, (uint32_t)other);
            fix_header(s.bytes);
            (void)refused_or_safe(&s.loader, FROM_MEMORY, s.bytes, s.size);
        }
        sample_file_close(&s);
    }
}

/* Three buckets of 136 bits in each line leave 104 bits, which must be clear in every line. */
static void test_loader_bits_outside_of_buckets_are_refused(void **state) {
    (void)state;
    tamis_filter *f, *back = NULL;
    tamis_params params = test_bare_params(TAMIS_KIND_DLEFT_COUNTING, SMALL, 3);
    params.value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] = 15;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    for (uint64_t i = 0; i < SMALL; i++)
        assert_ok(tamis_filter_insert_u64(f, i, NULL));
    size_t size;
    unsigned char *const bytes = encode(f, &size);
    for (size_t line = 0; line < 4; line++) {
        unsigned char *const last = bytes + size - 1 - 64 * line;
        const char *reason = "";
        *last ^= 0x80;
        fix_checksums(bytes, size);
        assert_status(tamis_filter_decode(bytes, size, NULL, &back, &reason), TAMIS_E_FORMAT);
        assert_string_equal(reason, "the table has data outside of its buckets");
        *last ^= 0x80;
    }
    free(bytes);
    tamis_filter_free(f);
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN); /* writers into pipes that the loader leaves early */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loader_sound_bytes_load),
        cmocka_unit_test(test_loader_single_bit_refused),
        cmocka_unit_test(test_loader_random_damage_refused),
        cmocka_unit_test(test_loader_every_truncation_refused),
        cmocka_unit_test(test_loader_extension_refused),
        cmocka_unit_test(test_loader_empty_file_says_so),
        cmocka_unit_test(test_loader_no_reason_wanted_no_crash),
        cmocka_unit_test(test_loader_unaligned_view_refused),
        cmocka_unit_test(test_loader_newer_version_refused),
        cmocka_unit_test(test_loader_old_kinds_say_what_they_are),
        cmocka_unit_test(test_loader_header_extremes_refused_or_safe),
        cmocka_unit_test(test_loader_header_random_refused_or_safe),
        cmocka_unit_test(test_loader_large_claims_cost_nothing),
        cmocka_unit_test(test_loader_state_extremes_refused_or_safe),
        cmocka_unit_test(test_loader_count_without_keys_refused),
        cmocka_unit_test(test_loader_table_bits_refused_or_safe),
        cmocka_unit_test(test_loader_full_table_refused_or_safe),
        cmocka_unit_test(test_loader_kind_exchanged_refused_or_safe),
        cmocka_unit_test(test_loader_bits_outside_of_buckets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
