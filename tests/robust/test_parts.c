/* test_parts.c - files that are verified in parts, as they are touched
 *
 * A mapped set must answer like the one that was saved; every damaged bit must be found by 'verify', and by
 * queries that touch it; and no query may answer "absent" because of damage.
 *
 * With TAMIS_TEST_LONG=1 sets of 1 GiB are opened, and the times are judged.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "parts.h"

#include "bits/spill.h"
#include "tamis/shared.h"
#include "tamis/window.h"

#include <signal.h>
#include <time.h>

/* ---- the parts ---- */

static void test_parts_fill_the_body(void **state) {
    (void)state;
    const uint64_t bodies[] = {8193,
                               8200,
                               8201,
                               2 * 8192 + 8,
                               2 * 8192 + 9,
                               UINT64_C(65535) * 8192 + 8,
                               UINT64_C(65535) * 8192 + 9,
                               (UINT64_C(1) << 42) + 12345};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        const uint64_t n_body = bodies[b], n = tamis_i_sums_words(n_body);
        const unsigned shift = tamis_i_part_shift(n_body);
        assert_true(n >= 2 && n <= TAMIS_I_BODY_PARTS_MAX && shift >= 13);
        assert_true(shift == 13 || n > TAMIS_I_BODY_PARTS_MAX / 2);
        uint64_t end = 0;
        for (uint64_t i = 0; i < n; i++) {
            const tamis_i_part_span part = tamis_i_part_at(n_body, shift, i);
            assert_true(part.from == end && part.n > 0);
            assert_true(i == 0 ? part.n == 8 : part.n <= UINT64_C(1) << shift);
            assert_true(i == 0 || i + 1 == n || part.n == UINT64_C(1) << shift);
            end += part.n;
        }
        assert_true(end == n_body);
    }
    assert_int_equal(tamis_i_sums_words(8192), 0);
}

/* Up to 64 KiB nothing is new. */
static void test_parts_begin_above_64_kib(void **state) {
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        tamis_filter *const set = blocks_set(1023 + more);
        size_t size;
        unsigned char *const bytes = encode(set, &size);
        assert_int_equal(tamis_i_get_u32(bytes + TAMIS_I_AT_VERSION), more ? 3 : 1);
        assert_int_equal(size, more ? 256 + 65536 + 64 + 8 * 2 : 256 + 65536);
        free(bytes);
        tamis_filter_free(set);
    }
}

/* A file of version 1 as the library has written it before. */
static void make_old(parts_sample *s) {
    s->size = HEADER + 8 * (size_t)s->n_body;
    tamis_i_put_u32(s->bytes + TAMIS_I_AT_VERSION, 1);
    tamis_i_put_u64(s->bytes + TAMIS_I_AT_BODY_CHECKSUM,
                    tamis_i_checksum(s->bytes + HEADER, 8 * (size_t)s->n_body));
    fix_header(s->bytes);
}

static void test_parts_old_files_are_read(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        parts_sample s;
        sample_open(&s, kind);
        make_old(&s);
        loader l;
        loader_open(&l, "old", s.size);
        for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w)) {
            tamis_filter *old;
            assert_ok(load_by(&l, w, s.bytes, s.size, NULL, &old, NULL));
            assert_null(old->guard);
            assert_same(old, s.set);
            tamis_filter_free(old);
        }
        flip(&s, 8 * (HEADER + 8 * (size_t)s.n_body - 100));
        for (way w = FROM_MEMORY; w < N_WAYS; w = next_way(w))
            (void)must_refuse(&l, w, s.bytes, s.size, TAMIS_E_FORMAT);
        loader_close(&l);
        sample_close(&s);
    }
}

/* Pieces of a file are those of the whole, its checksums included. */
static void test_parts_encoded_in_pieces(void **state) {
    (void)state;
    parts_sample s;
    uint64_t random = test_seed();
    sample_open(&s, TAMIS_KIND_RANK);
    unsigned char piece[3000];
    for (unsigned i = 0; i < 400; i++) {
        const size_t size = (size_t)test_random_below(&random, sizeof piece + 1);
        size_t at = (size_t)test_random_below(&random, s.size - size + 1);
        if (i % 2) /* the end, where the checksums are */
            at = s.size - size - (size_t)test_random_below(&random, 8);
        assert_ok(tamis_filter_encode_part(s.set, at, piece, size));
        assert_memory_equal(piece, s.bytes + at, size);
    }
    sample_close(&s);
}

/* ---- sound files ---- */

static void same_answers(const tamis_filter *view, const tamis_filter *set) {
    enum { N = 1000 };
    uint64_t keys[N];
    bool present[N], expected[N];
    for (uint64_t i = 0; i < N; i++)
        keys[i] = i % 2 ? i * 149 : ABSENT + i;
    const size_t found = tamis_filter_contains_many_u64(set, keys, N, expected);
    assert_int_equal(tamis_filter_contains_many_u64(view, keys, N, present), found);
    assert_memory_equal(present, expected, sizeof present);
    assert_int_equal(tamis_filter_contains_many_u64(view, keys, N, NULL), found);
    for (size_t i = 0; i < N; i++) {
        const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(set), keys[i]);
        assert_int_equal(tamis_filter_contains_u64(view, keys[i]), expected[i]);
        assert_int_equal(tamis_filter_contains_digest(view, digest), expected[i]);
        assert_int_equal(tamis_filter_copies_digest(view, digest),
                         tamis_filter_copies_digest(set, digest));
    }
}

/* Like the set itself, from the first query to the last; and nothing is verified that was not touched. */
static void test_parts_views_answer_like_the_set(void **state) {
    SKIP_WITHOUT_VIEWS();
    FOR_EACH_KIND(kind) {
        parts_sample s;
        sample_open(&s, kind);
        for (unsigned trusted = 0; trusted < 2; trusted++) {
            tamis_filter *const view =
                view_of(&s, trusted ? TAMIS_I_OPEN_TRUSTED : TAMIS_I_OPEN_PARTS);
            assert_non_null(view->guard);
            assert_true(trusted || !tamis_i_guard_is_open(view->guard));
            assert_int_equal(tamis_filter_count(view), tamis_filter_count(s.set));
            assert_true(tamis_filter_contains_u64(view, 1));
            /* The hashes of one key may be in all parts. */
            assert_true(trusted || kind == TAMIS_KIND_BLOOM || !tamis_i_guard_is_open(view->guard));
            for (unsigned i = 0; i < 3; i++)
                same_answers(view, s.set);
            assert_ok(tamis_filter_verify(view, NULL));
            assert_true(tamis_i_guard_is_open(view->guard));
            same_answers(view, s.set);
            assert_int_equal(tamis_filter_damage(view), 0);
            assert_encoded(view, s.bytes, s.size);
            assert_status(tamis_filter_insert_u64(view, 1, NULL), TAMIS_E_READONLY);
            tamis_filter_free(view);
        }
        sample_close(&s);
    }
}

/* The public call: nothing but state and checksums is read before a question is asked. */
static void test_parts_of_memory(void **state) {
    SKIP_WITHOUT_VIEWS();
    parts_sample s;
    sample_open(&s, TAMIS_KIND_RANK);
    const char *reason = NULL;
    for (unsigned damaged = 0; damaged < 2; damaged++) {
        tamis_filter *view = NULL;
        if (damaged)
            flip(&s, 8 * (HEADER + 64 + 65536 + 100));
        const void *const bytes = guarded_put(&s.memory, s.bytes, s.size, 8);
        assert_status(tamis_filter_view(bytes, s.size, NULL, &view, &reason),
                      damaged ? TAMIS_E_FORMAT : TAMIS_OK);
        tamis_filter_free(view);
        assert_ok(tamis_filter_view_parts(bytes, s.size, NULL, &view, &reason));
        assert_true(tamis_filter_contains_u64(view, 1));
        assert_int_equal(tamis_filter_damage(view), 0);
        for (uint64_t key = 0; key < KEYS; key++)
            assert_true(tamis_filter_contains_u64(view, key));
        assert_int_equal(tamis_filter_damage(view), damaged);
        tamis_filter_free(view);
    }
    s.bytes[HEADER] ^= 1; /* the state */
    tamis_filter *view = NULL;
    assert_status(tamis_filter_view_parts(guarded_put(&s.memory, s.bytes, s.size, 8), s.size, NULL,
                                          &view, &reason),
                  TAMIS_E_FORMAT);
    assert_null(view);
    sample_close(&s);
}

/* ---- damage ---- */

/* One key at a time: before damage is met all answers are right, then "present" may be wrong. */
static bool met_singly(const tamis_filter *view, const asked *a) {
    for (size_t i = 0; i < ASKED; i++) {
        const bool present = tamis_filter_contains_u64(view, a->keys[i]);
        assert_true(present || !a->expected[i]);
        if (present != a->expected[i])
            assert_int_equal(tamis_filter_damage(view), 1);
        if (i % 8 == 0)
            assert_int_equal(tamis_filter_copies_u64(view, a->keys[i]) != 0, present);
    }
    return tamis_filter_damage(view) != 0;
}

/* The part that a bit of the file is in; n_parts: in none. */
static uint64_t part_of_bit(const parts_sample *s, size_t bit) {
    const size_t byte = bit / 8;
    if (byte < HEADER || byte >= HEADER + 8 * s->n_body)
        return s->n_parts;
    const uint64_t word = (byte - HEADER) / 8;
    return word < 8 ? 0 : 1 + ((word - 8) >> s->shift);
}

static void damage_is_met(parts_sample *s, asked *a, size_t bit, bool all_are_touched) {
    tamis_filter *view = NULL;
    const uint64_t part = part_of_bit(s, bit);
    flip(s, bit);
    const tamis_status status = view_bytes(s, TAMIS_I_OPEN_PARTS, &view);
    if (part == 0 || part == s->n_parts) { /* refused at once */
        assert_true(is_refusal(status) && view == NULL);
        flip(s, bit);
        return;
    }
    assert_ok(status);
    answers_hold(view, a);
    assert_true(tamis_filter_damage(view) <= 1);
    if (all_are_touched)
        assert_int_equal(tamis_filter_damage(view), 1);
    tamis_filter_free(view);
    view = view_of(s, TAMIS_I_OPEN_PARTS);
    assert_true(met_singly(view, a) || !all_are_touched);
    tamis_filter_free(view);

    view = view_of(s, TAMIS_I_OPEN_PARTS);
    const char *reason = NULL;
    assert_status(tamis_filter_verify(view, &reason), TAMIS_E_FORMAT);
    assert_string_equal(reason, "the body is damaged: its checksum does not match");
    assert_int_equal(tamis_filter_damage(view), 1);
    assert_status(tamis_filter_verify(view, NULL), TAMIS_E_FORMAT);
    answers_hold(view, a);
    tamis_filter_free(view);
    flip(s, bit);
}

static void test_parts_damage_is_met_and_told(void **state) {
    SKIP_WITHOUT_VIEWS();
    uint64_t random = test_seed();
    FOR_EACH_KIND(kind) {
        parts_sample s;
        sample_open(&s, kind);
        asked *const a = asked_of(s.set);
        tamis_filter *const view = view_of(&s, TAMIS_I_OPEN_PARTS);
        answers_hold(view, a);
        const bool all = tamis_i_guard_is_open(view->guard);
        tamis_filter_free(view);
        for (unsigned i = 0; i < 12; i++)
            damage_is_met(&s, a, (size_t)test_random_below(&random, 8 * s.size), all);
        const size_t ends[] = {
            0, HEADER, HEADER + 64, HEADER + 64 + 65536, HEADER + 8 * (size_t)s.n_body, s.size};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            if (ends[i] < s.size)
                damage_is_met(&s, a, 8 * ends[i], all);
            if (ends[i] > 0)
                damage_is_met(&s, a, 8 * ends[i] - 1, all);
        }
        print_message("# %s: %llu parts%s\n", tamis_kind_name(kind), (unsigned long long)s.n_parts,
                      all ? "" : ", of which keys touch some");
        free(a);
        sample_close(&s);
    }
}

/* Every single bit of a file of two parts and a little, by all that verifies. */
static void test_parts_every_bit_is_found(void **state) {
    SKIP_WITHOUT_VIEWS();
    parts_sample s;
    tamis_filter *const set = blocks_set(1040);
    for (uint64_t key = 0; key < 1000; key++)
        assert_ok(tamis_filter_insert_u64(set, key, NULL));
    sample_of(&s, set);
    unsigned char *const data = guarded_put(&s.memory, s.bytes, s.size, 8);
    const bool every = getenv("TAMIS_TEST_LONG") != NULL;
    size_t flips = 0;
    for (size_t bit = 0; bit < 8 * s.size; bit += every ? 1 : 1 + bit % 61, flips++) {
        tamis_filter *view = NULL;
        const char *reason = NULL;
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        tamis_status status =
            tamis_i_file_view(data, s.size, NULL, TAMIS_I_OPEN_PARTS, &view, &reason);
        if (status == TAMIS_OK)
            status = tamis_filter_verify(view, &reason);
        assert_true(is_refusal(status));
        tamis_filter_free(view);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    print_message("# %zu bits\n", flips);
    sample_close(&s);
}

/* Calls with a status say so, and leave their results alone. */
static void test_parts_calls_for_all_refuse_damage(void **state) {
    SKIP_WITHOUT_VIEWS();
    const tamis_kind kinds[] = {TAMIS_KIND_RANK, TAMIS_KIND_BLOCKED_BLOOM, TAMIS_KIND_WINDOW};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        parts_sample s;
        sample_open(&s, kinds[k]);
        flip(&s, 8 * (HEADER + 8 * (size_t)s.n_body - 4000));
        tamis_filter *const untouched = (tamis_filter *)(void *)&s;
        for (unsigned call = 0; call < 11; call++) {
            tamis_filter *const view = view_of(&s, TAMIS_I_OPEN_PARTS);
            tamis_filter *copy = untouched;
            tamis_info info;
            tamis_window_state window;
            const char *reason = NULL;
            unsigned char *const room = malloc(s.size);
            assert_non_null(room);
            memset(room, 0x5a, s.size);
            tamis_info_init(&info);
            tamis_window_state_init(&window);
            tamis_status status = TAMIS_E_FORMAT;
            switch (call) {
            case 0:
                status = tamis_filter_clone(view, NULL, &copy);
                break;
            case 1:
                status = tamis_filter_info(view, &info);
                break;
            case 2:
                status = tamis_filter_glance(view, &info);
                break;
            case 3:
                status = tamis_filter_link_info(view, 0, &info);
                break;
            case 4:
                status = tamis_filter_encode(view, room, s.size);
                break;
            case 5:
                status = tamis_filter_encode_part(view, 300, room, 8);
                break;
            case 6:
                status = tamis_filter_save(view, test_path("damaged"), &reason);
                assert_int_equal(access(test_path("damaged"), F_OK), -1);
                break;
            case 7:
                status = tamis_filter_merge(s.set, view, TAMIS_MERGE_BEYOND);
                break;
            case 8:
                if (kinds[k] == TAMIS_KIND_RANK) {
                    assert_int_equal(tamis_filter_compact_size(view), 0);
                    status = tamis_filter_compact_encode(view, room, 1000);
                }
                break;
            case 9:
                if (kinds[k] == TAMIS_KIND_RANK)
                    status = tamis_filter_compact_save(view, test_path("damaged"), &reason);
                break;
            default:
                if (kinds[k] == TAMIS_KIND_WINDOW)
                    status = tamis_window_info(view, &window);
            }
            assert_status(status, TAMIS_E_FORMAT);
            assert_ptr_equal(copy, untouched);
            for (size_t i = 0; i < s.size; i += 97)
                assert_int_equal(room[i], 0x5a);
            free(room);
            tamis_filter_free(view);
        }
        sample_close(&s);
    }
}

/* A value that cannot be told is not guessed. */
static void test_parts_values_refuse_damage(void **state) {
    SKIP_WITHOUT_VIEWS();
    tamis_need need = test_need(TAMIS_KIND_RANK, KEYS, 0.01);
    need.value_bits = 4;
    tamis_plan plan = test_planned(&need);
    plan.params.seed = SEED;
    tamis_filter *set;
    parts_sample s;
    assert_ok(tamis_filter_create(&plan.params, NULL, &set));
    uint64_t words[1] = {0};
    for (; words[0] < KEYS; words[0]++)
        assert_ok(tamis_filter_insert_value(set, words, 8, (unsigned)words[0] % 16, NULL));
    sample_of(&s, set);
    flip(&s, 8 * (HEADER + 64 + 70000));
    tamis_filter *const view = view_of(&s, TAMIS_I_OPEN_PARTS);
    unsigned refused = 0;
    for (words[0] = 0; words[0] < 5000; words[0]++) {
        unsigned value = 77, own = 0;
        const tamis_status status = tamis_filter_lookup_value(view, words, 8, &value);
        assert_ok(tamis_filter_lookup_value(set, words, 8, &own));
        assert_true(status == TAMIS_OK ? value == own : value == 77 && status == TAMIS_E_FORMAT);
        refused += status != TAMIS_OK;
    }
    assert_true(refused > 0 && refused < 5000 && tamis_filter_damage(view) == 1);
    tamis_filter_free(view);
    sample_close(&s);
}

/* Who trusts a file is not told, unless he asks. */
static void test_parts_trusted_views_learn_when_asked(void **state) {
    SKIP_WITHOUT_VIEWS();
    FOR_EACH_KIND(kind) {
        parts_sample s;
        sample_open(&s, kind);
        asked *const a = asked_of(s.set);
        for (unsigned old = 0; old < 2; old++) {
            const size_t bit = 8 * (HEADER + 8 * (size_t)s.n_body / 2) + 3;
            if (old)
                make_old(&s);
            flip(&s, bit);
            tamis_filter *const view = view_of(&s, TAMIS_I_OPEN_TRUSTED);
            (void)tamis_filter_contains_many_u64(view, a->keys, ASKED, a->present);
            /* A line that was damaged may be one that no calls can make. */
            assert_true(tamis_filter_damage(view) <= 1);
            assert_status(tamis_filter_verify(view, NULL), TAMIS_E_FORMAT);
            assert_int_equal(tamis_filter_damage(view), 1);
            tamis_filter *copy = NULL;
            assert_status(tamis_filter_clone(view, NULL, &copy), TAMIS_E_FORMAT);
            answers_hold(view, a);
            tamis_filter_free(view);
            flip(&s, bit);
        }
        free(a);
        sample_close(&s);
    }
}

/* ---- series and shards ---- */

/* Damage in one of several filters: keys that are elsewhere are answered as before. */
static void composed_is_met(tamis_filter *set, const char *name) {
    const size_t size = (size_t)tamis_filter_encoded_size(set);
    const char *const path = test_path(name);
    asked *const a = asked_of(set);
    assert_ok(tamis_filter_save(set, path, NULL));
    tamis_filter *view;
    assert_ok(tamis_filter_map(path, NULL, &view, NULL));
    answers_hold(view, a);
    assert_int_equal(tamis_filter_damage(view), 0);
    assert_same(view, set);
    tamis_filter_free(view);

    const int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    unsigned char byte;
    const off_t at = (off_t)(size - size / 4);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_ok(tamis_filter_map(path, NULL, &view, NULL));
    for (size_t i = 0; i < ASKED; i++) {
        const bool present = tamis_filter_contains_u64(view, a->keys[i]);
        assert_true(present || !a->expected[i]);
        (void)tamis_filter_copies_u64(view, a->keys[i]);
    }
    answers_hold(view, a);
    assert_int_equal(tamis_filter_damage(view), 1);
    tamis_filter *copy = NULL;
    assert_status(tamis_filter_clone(view, NULL, &copy), TAMIS_E_FORMAT);
    tamis_filter_free(view);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    free(a);
}

static void test_parts_of_series_and_shards(void **state) {
    SKIP_WITHOUT_VIEWS();
    const tamis_kind kinds[] = {TAMIS_KIND_BLOOM, TAMIS_KIND_RANK, TAMIS_KIND_STEADY};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tamis_filter *const series = make_sample(kinds[k], KEYS);
        assert_ok(tamis_filter_grow(series, NULL));
        for (uint64_t key = KEYS; key < 2 * KEYS; key++)
            assert_ok(tamis_filter_insert_u64(series, key, NULL));
        composed_is_met(series, "series");
        tamis_filter_free(series);

        tamis_params params = test_params(kinds[k], KEYS, 0.01, SEED);
        tamis_shared *shared;
        assert_ok(tamis_shared_create(&params, 3, NULL, &shared));
        for (uint64_t key = 0; key < 2 * KEYS; key++)
            assert_ok(tamis_shared_insert_u64(shared, key, NULL));
        tamis_filter *shards;
        assert_ok(tamis_shared_snapshot(shared, NULL, &shards));
        composed_is_met(shards, "shards");
        tamis_filter_free(shards);
        tamis_shared_free(shared);
    }
}

/* ---- threads ---- */

enum { THREADS = 4 };

typedef struct asker {
    const tamis_filter *view;
    const asked *a;
    unsigned number;
    bool verifies, wrong;
} asker;

static void *ask_along(void *context) {
    asker *const w = context;
    bool present[200];
    for (size_t i = 0; i < ASKED; i += 200) {
        const size_t at = w->number % 2 ? i : ASKED - 200 - i;
        (void)tamis_filter_contains_many_u64(w->view, w->a->keys + at, 200, present);
        for (size_t j = 0; j < 200; j++)
            w->wrong =
                w->wrong || (w->a->expected[at + j] && !present[j]) ||
                (w->a->expected[at + j] && !tamis_filter_contains_u64(w->view, w->a->keys[at + j]));
        if (w->verifies && i == ASKED / 2)
            (void)!tamis_filter_verify(w->view, NULL);
        w->wrong = w->wrong || tamis_filter_damage(w->view) > 1;
    }
    return NULL;
}

/* Two rows of buckets, each of several parts, of which the first is too small for its keys. */
static tamis_filter *spilled_set(tamis_kind kind) {
    tamis_params params = test_bare_params(kind, 160000, SEED);
    params.value[TAMIS_STEADY_BUCKETS] = 2000;
    params.value[TAMIS_STEADY_BUCKET_BITS] = 1024;
    params.value[TAMIS_STEADY_HOMES] = 170;
    params.value[TAMIS_STEADY_FINGERPRINT_BITS] = 9;
    params.value[TAMIS_STEADY_SPILL_BUCKETS] = 1500;
    params.value[TAMIS_STEADY_SPILL_BITS] = 1024;
    params.value[TAMIS_STEADY_ORIGIN_BITS] = 4;
    tamis_filter *set;
    assert_ok(tamis_filter_create(&params, NULL, &set));
    for (uint64_t key = 0; key < 150000; key++)
        assert_ok(tamis_filter_insert_u64(set, key, NULL));
    return set;
}

/* The part of the body that a word is in. */
static uint64_t part_of(const parts_sample *s, const uint64_t *word) {
    return 1 + (((uint64_t)(word - s->set->state) - TAMIS_I_STATE_WORDS) >> s->shift);
}

/* A key of which a bucket of the back holds the slot, and which is damaged, is not said to be absent; neither
 * its other place nor the front is in the same part. */
static bool damage_place(parts_sample *s, uint64_t key, unsigned wanted) {
    const tamis_i_spill *const spill = (const tamis_i_spill *)(const void *)s->set->geometry;
    const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(s->set), key);
    const tamis_i_spill_key at = tamis_i_spill_locate(spill, digest);
    const uint64_t *back[2];
    tamis_i_spill_place place;
    uint64_t extra;
    tamis_i_spill_find(spill, s->set->table, at, &place);
    uint64_t number = place.view.first;
    if (!place.spilled || (digest.lo ^ digest.hi) % 256 == 0 || /* it would verify parts by turns */
        tamis_i_spill_next(&place, &number, &extra) != (wanted == 0) ||
        tamis_i_spill_back(spill, s->set->table, at, back) != 2)
        return false;
    const uint64_t *const front = s->set->table + at.bucket * spill->front.words;
    const uint64_t part = part_of(s, back[wanted]);
    const size_t size = 8 * (size_t)spill->back.words;
    if (part != part_of(s, back[wanted] + spill->back.words - 1) ||
        part_of(s, back[!wanted]) == part ||
        part_of(s, back[!wanted] + spill->back.words - 1) == part || part_of(s, front) == part)
        return false;
    unsigned char *const bytes = s->bytes + HEADER + 8 * (size_t)(back[wanted] - s->set->state);
    unsigned char whole[1024];
    assert_true(size <= sizeof whole);
    memcpy(whole, bytes, size);
    memset(bytes, 0, size); /* a bucket without keys */
    bool present = false;
    for (unsigned call = 0; call < 3; call++) {
        tamis_filter *const view = view_of(s, TAMIS_I_OPEN_PARTS);
        if (call == 0)
            present = tamis_filter_contains_u64(view, key);
        else if (call == 1)
            present = tamis_filter_copies_u64(view, key) != 0;
        else
            assert_int_equal(tamis_filter_contains_many_u64(view, &key, 1, &present), present);
        assert_true(present);
        assert_int_equal(tamis_filter_damage(view), 1);
        tamis_filter_free(view);
    }
    memcpy(bytes, whole, size);
    return true;
}

static void test_parts_of_both_places_are_touched(void **state) {
    SKIP_WITHOUT_VIEWS();
    static const tamis_kind kinds[] = {TAMIS_KIND_STEADY, TAMIS_KIND_WINDOW};
    for (size_t k = 0; k < 2; k++) {
        parts_sample s;
        sample_of(&s, spilled_set(kinds[k]));
        for (unsigned wanted = 0; wanted < 2; wanted++) {
            unsigned n = 0;
            for (uint64_t key = 0; key < 150000 && n < 20; key++)
                n += damage_place(&s, key, wanted);
            assert_int_equal(n, 20);
        }
        sample_close(&s);
    }
}

static void test_parts_are_touched_by_many_threads(void **state) {
    SKIP_WITHOUT_VIEWS();
    const tamis_kind kinds[] = {TAMIS_KIND_RANK, TAMIS_KIND_STEADY, TAMIS_KIND_BLOCKED_BLOOM};
    for (unsigned k = 0; k < 6; k++) {
        parts_sample s;
        sample_open(&s, kinds[k % 3]);
        asked *const a = asked_of(s.set);
        const bool damaged = k >= 3;
        if (damaged)
            flip(&s, 8 * (HEADER + 64 + 8192));
        tamis_filter *const view = view_of(&s, TAMIS_I_OPEN_PARTS);
        asker askers[THREADS];
        pthread_t threads[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            askers[i] = (asker){.view = view, .a = a, .number = i, .verifies = i == 1};
            assert_int_equal(pthread_create(&threads[i], NULL, ask_along, &askers[i]), 0);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_false(askers[i].wrong);
        }
        assert_int_equal(tamis_filter_damage(view), damaged);
        assert_int_equal(tamis_i_guard_is_open(view->guard), !damaged);
        tamis_filter_free(view);
        free(a);
        sample_close(&s);
    }
}

/* ---- time ---- */

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The best of several openings of a file that is in the system's memory. */
static void time_opening(const char *path, const char *what) {
    double open_ms = 1e9, both_ms = 1e9;
    for (unsigned i = 0; i < 9; i++) {
        tamis_filter *view;
        const double from = now_ms();
        assert_ok(tamis_filter_map(path, NULL, &view, NULL));
        const double opened = now_ms();
        const bool present = tamis_filter_contains_u64(view, i * 1000);
        const double asked_at = now_ms();
        assert_true(present);
        tamis_filter_free(view);
        open_ms = opened - from < open_ms ? opened - from : open_ms;
        both_ms = asked_at - from < both_ms ? asked_at - from : both_ms;
    }
    print_message("# %s: opened in %.3f ms, and asked in %.3f ms\n", what, open_ms, both_ms);
    assert_true(open_ms <= 1 && both_ms <= 2);
}

static void test_parts_open_at_once(void **state) {
    SKIP_WITHOUT_VIEWS();
    const bool whole = getenv("TAMIS_TEST_LONG") != NULL;
    const uint64_t n = (uint64_t)1 << (whole ? 26 : 17);
    FOR_EACH_KIND(kind) {
        if (whole && kind != TAMIS_KIND_LINE && kind != TAMIS_KIND_BLOCKED_BLOOM &&
            kind != TAMIS_KIND_RANK && kind != TAMIS_KIND_STEADY)
            continue;
        tamis_need need = test_need(kind, whole ? 700000000 : n, 0.001);
        tamis_plan plan = test_planned(&need);
        tamis_filter *set;
        assert_ok(tamis_filter_create(&plan.params, NULL, &set));
        for (uint64_t key = 0; key < n / 64; key++)
            assert_ok(tamis_filter_insert_u64(set, key, NULL));
        const char *const path = test_path("open");
        char what[100];
        snprintf(what, sizeof what, "%s, %llu MiB", tamis_kind_name(kind),
                 (unsigned long long)(plan.bytes >> 20));
        assert_ok(tamis_filter_save(set, path, NULL));
        tamis_filter_free(set);
        if (whole)
            time_opening(path, what);
        assert_int_equal(unlink(path), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_fill_the_body),
        cmocka_unit_test(test_parts_begin_above_64_kib),
        cmocka_unit_test(test_parts_old_files_are_read),
        cmocka_unit_test(test_parts_encoded_in_pieces),
        cmocka_unit_test(test_parts_views_answer_like_the_set),
        cmocka_unit_test(test_parts_of_memory),
        cmocka_unit_test(test_parts_damage_is_met_and_told),
        cmocka_unit_test(test_parts_every_bit_is_found),
        cmocka_unit_test(test_parts_calls_for_all_refuse_damage),
        cmocka_unit_test(test_parts_values_refuse_damage),
        cmocka_unit_test(test_parts_trusted_views_learn_when_asked),
        cmocka_unit_test(test_parts_of_series_and_shards),
        cmocka_unit_test(test_parts_of_both_places_are_touched),
        cmocka_unit_test(test_parts_are_touched_by_many_threads),
        cmocka_unit_test(test_parts_open_at_once),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* a loader that has seen enough closes its pipe */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
