/* test_line_hostile.c - lines, backs and stashes that no calls have made
 *
 * Bodies of sets of the kind 'line' are damaged on purpose: noise, single bits, lines that are sound by
 * themselves but not where they are, entries of the back that no front line has given away, stashes with
 * entries of lines and homes that there are not.  With right checksums they are refused, or else they are
 * sets like any other: each entry is found, as often as it is there, and when all have been removed nothing
 * is left.  Under a view that has been verified, and whose bytes change while it is read, answers mean
 * nothing, but no call reads or writes outside, and all end; what was made of such a view is sound.
 *
 * TAMIS_TEST_LONG=1 makes a million of them.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "robust.h"

#include "kinds/line/line.h"
#include "model/line_digest.h"

#include <stdatomic.h>

/* Lines, homes, fingerprint bits, lines of the back, their homes, value bits, set, stash. */
static const uint64_t shapes[][8] = {
    {6, 90, 6, 2, 6, 0, 0, 24},  {6, 90, 6, 2, 6, 0, 1, 24},    {5, 60, 9, 3, 4, 3, 0, 16},
    {4, 126, 4, 1, 4, 0, 0, 40}, {2, 30, 12, 0, 0, 0, 0, 60},   {3, 7, 12, 7, 2, 8, 0, 9},
    {1, 90, 6, 1, 1, 0, 1, 8},   {9, 17, 12, 2, 10, 0, 0, 300}, {13, 3, 14, 4, 8, 1, 0, 20},
    {7, 64, 3, 2, 8, 0, 0, 31},  {2, 126, 19, 2, 2, 0, 0, 5},   {1, 1, 39, 1, 1, 0, 0, 4},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static uint64_t cases_of_all(void) {
    return getenv("TAMIS_TEST_LONG") != NULL ? 1200000 : 12000;
}

/* A sound set, a copy of it to be damaged, and memory for its bytes. */
typedef struct victim {
    tamis_filter *sound, *forged;
    const tamis_i_line_table *t; /* of 'forged' */
    unsigned char *bytes;
    size_t size;
    uint64_t random;
} victim;

static uint64_t below(victim *v, uint64_t n) {
    return test_random_below(&v->random, n);
}

/* Filled until the stash has something, some keys several times, and some removed again. */
static tamis_filter *filled(const uint64_t *shape, uint64_t *random) {
    tamis_params params = test_bare_params(TAMIS_KIND_LINE, 300, SEED);
    memcpy(params.value, shape, 3 * sizeof *shape);
    params.value[TAMIS_LINE_BACK_LINES] = shape[3], params.value[TAMIS_LINE_BACK_HOMES] = shape[4];
    params.value[TAMIS_LINE_VALUE_BITS] = shape[5], params.value[TAMIS_LINE_SET] = shape[6];
    params.stash = shape[7];
    tamis_filter *f;
    assert_ok(tamis_filter_create(&params, NULL, &f));
    for (uint64_t key = 0; key < 3000 && f->state[TAMIS_I_STASH_USED] < 3; key++)
        for (uint64_t i = 0; i <= (key % 9 == 0 ? 5 : 0); i++)
            (void)!tamis_filter_insert_u64(f, key, NULL);
    for (uint64_t key = 0; key < 3000; key += 1 + test_random_below(random, 40))
        (void)!tamis_filter_remove_u64(f, key);
    return f;
}

static void victim_make(victim *v, const uint64_t *shape, uint64_t seed) {
    v->random = seed;
    v->sound = filled(shape, &v->random);
    assert_ok(tamis_filter_clone(v->sound, NULL, &v->forged));
    v->t = (const void *)v->forged->geometry;
    v->bytes = test_encoded(v->sound, &v->size);
}

static void victim_free(victim *v) {
    tamis_filter_free(v->sound);
    tamis_filter_free(v->forged);
    free(v->bytes);
}

/* ---- damage ---- */

static uint64_t *some_line(victim *v, const tamis_i_line_row *row) {
    return row->lines + below(v, row->n) * TAMIS_LINE_WORDS;
}

static const tamis_i_line_row *some_row(victim *v) {
    return v->t->back.n != 0 && below(v, 2) == 0 ? &v->t->back : &v->t->front;
}

static void flip_bits(victim *v, uint64_t *words, uint64_t n) {
    for (uint64_t i = 0; i <= below(v, 4); i++)
        words[below(v, n)] ^= UINT64_C(1) << below(v, 64);
}

static void forge_noise(victim *v) {
    uint64_t *const line = some_line(v, some_row(v));
    const bool dense = below(v, 2) == 0;
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++)
        line[i] = dense ? test_random(&v->random) : test_some_word(&v->random);
}

/* A line that is sound by itself, in place of another: the count is right, what it had given may be without
 * one. */
static void forge_line(victim *v) {
    const tamis_i_line_row *const row = some_row(v);
    const tamis_i_line_shape *const shape = &row->shape;
    uint64_t *const line = some_line(v, row);
    v->forged->state[TAMIS_I_COUNT] -= tamis_i_line_bits_count(shape, line);
    memset(line, 0, TAMIS_LINE_WORDS * sizeof *line);
    const uint64_t n = below(v, shape->capacity + 1);
    for (uint64_t i = 0; i < n; i++)
        tamis_i_line_bits_add(shape, line, (unsigned)below(v, shape->homes),
                              test_random(&v->random) >> (64 - shape->planes));
    tamis_i_line_bits_set_away(shape, line, row == &v->t->front && below(v, 2) == 0);
    v->forged->state[TAMIS_I_COUNT] += n;
}

/* One more entry of the back, of whatever line: mostly of one that has given away nothing, or not this
 * home. */
static void forge_stray(victim *v) {
    const tamis_i_line_shape *const shape = &v->t->back.shape;
    if (v->t->back.n == 0) {
        forge_line(v);
        return;
    }
    uint64_t *const line = some_line(v, &v->t->back);
    if (tamis_i_line_bits_count(shape, line) == shape->capacity)
        return;
    tamis_i_line_bits_add(shape, line, (unsigned)below(v, shape->homes),
                          test_random(&v->random) >> (64 - shape->planes));
    v->forged->state[TAMIS_I_COUNT]++;
}

/* Homes that were given away are here after all, or nowhere. */
static void forge_away(victim *v) {
    uint64_t *const line = some_line(v, some_row(v));
    tamis_i_line_bits_set_away(&v->t->front.shape, line,
                               !tamis_i_line_bits_away(&v->t->front.shape, line));
}

/* Entries of the stash that it may have had, or could not: of lines and homes that there are not. */
static void forge_stash(victim *v) {
    tamis_filter *const f = v->forged;
    const tamis_i_line_shape *const shape = &v->t->front.shape;
    for (uint64_t i = 0; i <= below(v, 5); i++) {
        uint64_t line = below(v, v->t->front.n), home = below(v, shape->homes);
        uint64_t print = test_random(&v->random) >> (64 - shape->prints);
        switch (below(v, 8)) {
        case 0:
            line = below(v, 2) ? test_some_word(&v->random) : v->t->front.n;
            break;
        case 1:
            home = shape->homes + below(v, 200);
            break;
        case 2:
            home = UINT64_MAX >> shape->prints;
            break;
        case 3:
        case 4: { /* of one that is there */
            uint64_t *const words = v->t->front.lines + line * TAMIS_LINE_WORDS;
            const unsigned n = tamis_i_line_bits_count(shape, words);
            tamis_i_line_entry e;
            if (n != 0 && tamis_i_line_front_entry(v->t, line, (unsigned)below(v, n), &e))
                home = e.home, print = e.print;
            break;
        }
        default:
            break;
        }
        const unsigned copies = below(v, 4) != 0 ? 1 : 1 + (unsigned)below(v, 255);
        const tamis_digest key = tamis_i_stash_key(line, print | home << shape->prints);
        if (tamis_i_stash_add(&f->stash, key, copies) == TAMIS_OK)
            f->state[TAMIS_I_COUNT] += copies;
    }
}

static void forge_state(victim *v) {
    const uint64_t old = v->forged->state[TAMIS_I_COUNT];
    v->forged->state[below(v, 2) ? TAMIS_I_COUNT : TAMIS_I_STASH_USED] =
        below(v, 2) ? test_some_word(&v->random) : old + below(v, 3) - 1;
}

static void forge_swap(victim *v) {
    uint64_t *const a = some_line(v, some_row(v)), *const b = some_line(v, some_row(v));
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++) {
        const uint64_t word = a[i];
        a[i] = b[i], b[i] = word;
    }
}

static void forge(victim *v) {
    tamis_filter *const f = v->forged;
    memcpy(f->state, v->sound->state, (size_t)f->n_body * sizeof *f->state);
    for (uint64_t i = 0; i <= below(v, 6) / 4; i++)
        switch (below(v, 10)) {
        case 0:
            forge_noise(v);
            break;
        case 1:
            flip_bits(v, f->table, f->n_table);
            break;
        case 2:
            flip_bits(v, f->state, f->n_body);
            break;
        case 3:
            forge_line(v);
            break;
        case 4:
        case 5:
            forge_stray(v);
            break;
        case 6:
            forge_away(v);
            break;
        case 7:
            forge_stash(v);
            break;
        case 8:
            forge_swap(v);
            break;
        default:
            forge_state(v);
        }
}

/* ---- what was let in ---- */

static int compare_entries(const void *a, const void *b) {
    const tamis_i_line_entry *const x = a, *const y = b;
    return x->line != y->line     ? (x->line < y->line ? -1 : 1)
           : x->home != y->home   ? (x->home < y->home ? -1 : 1)
           : x->print != y->print ? (x->print < y->print ? -1 : 1)
                                  : 0;
}

/* All entries in order, as often as they are there. */
static size_t entries_of(const tamis_filter *f, tamis_i_line_entry *entries, size_t room) {
    const tamis_i_line_table *const t = (const void *)f->geometry;
    const unsigned prints = t->front.shape.prints;
    size_t n = 0;
    for (uint64_t i = 0; i < t->front.n + t->back.n; i++) {
        const tamis_i_line_row *const row = i < t->front.n ? &t->front : &t->back;
        const uint64_t line = i < t->front.n ? i : i - t->front.n;
        const unsigned here =
            tamis_i_line_bits_count(&row->shape, row->lines + line * TAMIS_LINE_WORDS);
        for (unsigned at = 0; at < here && n < room; at++, n++)
            assert_true(row == &t->front ? tamis_i_line_front_entry(t, line, at, &entries[n])
                                         : tamis_i_line_back_entry(t, line, at, &entries[n]));
    }
    uint64_t at = 0, copies;
    tamis_digest key;
    while (tamis_i_stash_next(&f->stash, &at, &key, &copies))
        for (; copies > 0 && n < room; copies--, n++)
            entries[n] = (tamis_i_line_entry){.line = tamis_i_stash_place(key),
                                              .home = (unsigned)(key.hi >> prints),
                                              .print = key.hi & ((UINT64_C(1) << prints) - 1)};
    qsort(entries, n, sizeof *entries, compare_entries);
    return n;
}

static tamis_digest digest_of(victim *v, const tamis_i_line_entry *e) {
    return line_digest_of(&v->sound->params, e->line, e->home, e->print, test_random(&v->random));
}

enum { ROOM = 1 << 14 };
static tamis_i_line_entry entries[ROOM];

/* Each entry is found, as often as it is there, and nothing else is counted. */
static void assert_answers(victim *v, const tamis_filter *f, size_t n) {
    const bool set = f->kind->remove == NULL;
    assert_true(set ? n <= tamis_filter_count(f) : n == tamis_filter_count(f));
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && compare_entries(&entries[i], &entries[next]) == 0;)
            next++;
        const tamis_digest digest = digest_of(v, &entries[i]);
        assert_true(tamis_filter_contains_digest(f, digest));
        assert_int_equal(tamis_filter_copies_digest(f, digest), set ? 1 : next - i);
    }
}

/* It takes keys and loses none by it; merged with itself it is checked anew. */
static void assert_usable(victim *v, tamis_filter *f) {
    tamis_filter *copy;
    const char *reason = "";
    if (tamis_filter_count(f) > TAMIS_I_COUNT_MAX / 2)
        return; /* of a set: more than calls can reach */
    assert_ok(tamis_filter_clone(f, NULL, &copy));
    (void)!tamis_filter_merge(copy, f, TAMIS_MERGE_BEYOND);
    if (!tamis_i_filter_check(copy, &reason))
        fail_msg("merged with itself: %s", reason);
    for (unsigned i = 0; i < 40; i++) {
        const tamis_digest digest = {test_random(&v->random), test_random(&v->random)};
        if (tamis_filter_insert_digest(copy, digest, NULL) == TAMIS_OK)
            assert_true(tamis_filter_contains_digest(copy, digest));
    }
    if (!tamis_i_filter_check(copy, &reason))
        fail_msg("after inserts: %s", reason);
    (void)test_info(copy);
    tamis_filter_free(copy);
}

/* All entries go one by one, in any order, and leave nothing but 'away' of lines that had none. */
static void assert_empties(victim *v, tamis_filter *f, size_t n) {
    const char *reason = "";
    for (size_t i = n; i > 0; i--) {
        const size_t at = (size_t)below(v, i);
        assert_ok(tamis_filter_remove_digest(f, digest_of(v, &entries[at])));
        entries[at] = entries[i - 1];
        if (i % 64 == 0)
            assert_true(tamis_i_filter_check(f, &reason));
    }
    const tamis_i_line_table *const t = (const void *)f->geometry;
    for (uint64_t i = 0; i < t->front.n; i++)
        tamis_i_line_bits_set_away(&t->front.shape, t->front.lines + i * TAMIS_LINE_WORDS, false);
    for (uint64_t i = 0; i < f->n_body; i++)
        assert_true(f->state[i] == 0);
}

/* True if it was let in. */
static bool refused_or_sound(victim *v, uint64_t number) {
    tamis_filter *f = NULL;
    const char *reason = NULL;
    assert_ok(tamis_filter_encode(v->forged, v->bytes, v->size));
    const tamis_status status = tamis_filter_decode(v->bytes, v->size, NULL, &f, &reason);
    if (status != TAMIS_OK) {
        assert_status(status, TAMIS_E_FORMAT);
        assert_true(f == NULL && reason != NULL);
        return false;
    }
    const size_t n = entries_of(f, entries, ROOM);
    assert_true(n < ROOM);
    assert_answers(v, f, n);
    if (number % 4 == 0)
        assert_usable(v, f);
    else if (f->kind->remove != NULL)
        assert_empties(v, f, n);
    tamis_filter_free(f);
    return true;
}

static void test_line_hostile_files_are_refused_or_sound(void **state) {
    (void)state;
    const uint64_t each = cases_of_all() / SHAPES;
    uint64_t let_in = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        victim v;
        victim_make(&v, shapes[i], test_seed() + i);
        const char *reason = "";
        assert_true(tamis_i_filter_check(v.sound, &reason));
        uint64_t here = 0;
        for (uint64_t n = 0; n < each; n++) {
            forge(&v);
            here += refused_or_sound(&v, n);
        }
        assert_true(here < each);
        let_in += here;
        victim_free(&v);
    }
    print_message("# %llu of %llu were let in\n", (unsigned long long)let_in,
                  (unsigned long long)(each * SHAPES));
    assert_true(let_in > each * SHAPES / 100);
}

/* ---- views ---- */

/* The bytes of a file that end where no byte may be read: sanitizers see to that, or a guard page. */
static unsigned char *guarded_bytes(guarded *memory, const victim *v) {
#ifdef __SANITIZE_ADDRESS__
    memory->map = malloc(v->size);
    assert_non_null(memory->map);
    return memcpy(memory->map, v->bytes, v->size);
#else
    guarded_open(memory, v->size);
    return guarded_put(memory, v->bytes, v->size, 8);
#endif
}

static void guarded_bytes_free(guarded *memory) {
#ifdef __SANITIZE_ADDRESS__
    free(memory->map);
#else
    guarded_close(memory);
#endif
}

/* Digests of which half are of entries of the sound set. */
enum { ASK = 48 };

static void some_digests(victim *v, size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < ASK; i++) {
        digests[i] = (tamis_digest){test_random(&v->random), test_random(&v->random)};
        if (i % 2 == 0 && n != 0)
            digests[i] = digest_of(v, &entries[below(v, n)]);
    }
    digests[0].lo = UINT64_MAX, digests[1].lo = 0;
}

static void ask(victim *v, const tamis_filter *view, size_t n) {
    tamis_digest digests[ASK];
    bool present[ASK];
    unsigned value;
    some_digests(v, n, digests);
    (void)tamis_filter_contains_many_digest(view, digests, ASK, present);
    for (size_t i = 0; i < ASK; i++) {
        tamis_filter_prefetch_digest(view, digests[i]);
        (void)tamis_filter_contains_digest(view, digests[i]);
        (void)tamis_filter_copies_digest(view, digests[i]);
        (void)!tamis_filter_lookup_value_digest(view, digests[i], &value);
    }
}

static void tell(const tamis_filter *view) {
    tamis_info info;
    tamis_info_init(&info);
    (void)!tamis_filter_info(view, &info);
    (void)!tamis_filter_glance(view, &info);
    (void)!tamis_filter_keeps(view, 0.01);
    (void)tamis_filter_count(view);
}

/* Copies of a view, and sets that it is merged into, are sound. */
static void make_sets(const victim *v, const tamis_filter *view) {
    tamis_filter *copy = NULL;
    const char *reason = "";
    if (tamis_filter_clone(view, NULL, &copy) == TAMIS_OK) {
        assert_true(tamis_i_filter_check(copy, &reason));
        tamis_filter_free(copy);
    }
    for (unsigned empty = 0; empty < 2; empty++) {
        assert_ok(tamis_filter_clone(v->sound, NULL, &copy));
        if (empty)
            assert_ok(tamis_filter_clear(copy));
        (void)!tamis_filter_merge(copy, view, TAMIS_MERGE_BEYOND);
        if (!tamis_i_filter_check(copy, &reason))
            fail_msg("merging a view that has changed: %s", reason);
        tamis_filter_free(copy);
    }
}

static void all_calls(victim *v, const tamis_filter *view, size_t n, uint64_t number) {
    ask(v, view, n);
    if (number % 4 == 0)
        tell(view);
    if (number % 4 == 1)
        make_sets(v, view);
}

static void test_line_hostile_views_stay_inside(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    const uint64_t each = cases_of_all() / 2 / SHAPES;
    for (size_t i = 0; i < SHAPES; i++) {
        victim v;
        guarded memory;
        victim_make(&v, shapes[i], test_seed() + 100 + i);
        unsigned char *const bytes = guarded_bytes(&memory, &v);
        const size_t n = entries_of(v.sound, entries, ROOM);
        tamis_filter *view = NULL;
        assert_ok(tamis_filter_view(bytes, v.size, NULL, &view, NULL));
        for (uint64_t number = 0; number < each; number++) {
            forge(&v);
            memcpy(bytes + HEADER, v.forged->state, v.size - HEADER);
            all_calls(&v, view, n, number);
        }
        tamis_filter_free(view);
        guarded_bytes_free(&memory);
        victim_free(&v);
    }
}

#ifndef __SANITIZE_THREAD__ /* it is a race */

typedef struct scribbler {
    victim v;
    unsigned char *bytes;
    atomic_bool stop;
} scribbler;

/* Words come and go, each as a whole: sound ones, forged ones, noise. */
static void *scribble(void *argument) {
    scribbler *const s = argument;
    victim *const v = &s->v;
    volatile uint64_t *const words = (volatile uint64_t *)(void *)(s->bytes + HEADER);
    while (!atomic_load(&s->stop)) {
        forge(v);
        const uint64_t *const from = below(v, 4) ? v->forged->state : v->sound->state;
        for (uint64_t i = 0; i < v->forged->n_body; i++)
            words[i] = from[i];
        for (unsigned i = 0; i < 20; i++)
            words[below(v, v->forged->n_body)] = test_random(&v->random);
    }
    return NULL;
}

static void test_line_hostile_views_change_while_they_are_read(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    const uint64_t each = cases_of_all() / 8 / SHAPES;
    for (size_t i = 0; i < SHAPES; i++) {
        victim v;
        scribbler s;
        guarded memory;
        pthread_t thread;
        victim_make(&v, shapes[i], test_seed() + 200 + i);
        victim_make(&s.v, shapes[i], test_seed() + 200 + i);
        s.bytes = guarded_bytes(&memory, &v);
        const size_t n = entries_of(v.sound, entries, ROOM);
        tamis_filter *view = NULL;
        assert_ok(tamis_filter_view(s.bytes, v.size, NULL, &view, NULL));
        atomic_init(&s.stop, false);
        assert_int_equal(pthread_create(&thread, NULL, scribble, &s), 0);
        for (uint64_t number = 0; number < each; number++)
            all_calls(&v, view, n, number);
        atomic_store(&s.stop, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        tamis_filter_free(view);
        guarded_bytes_free(&memory);
        victim_free(&s.v);
        victim_free(&v);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_hostile_files_are_refused_or_sound),
        cmocka_unit_test(test_line_hostile_views_stay_inside),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(test_line_hostile_views_change_while_they_are_read),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
