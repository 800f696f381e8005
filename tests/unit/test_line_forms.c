/* test_line_forms.c - the quick form of a line's operations equals the portable one, and stays in the line
 *
 * Lines lie at one end or the other of a page between two that nobody may touch, and the rest of the page is
 * looked at.  On a processor without a quick form the portable one is compared with itself.
 *
 * SPDX-License-Identifier: MIT
 */
#if !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#endif

#include "support.h"

#include "kinds/line/line_bits.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a page between two that are closed ---- */

typedef struct fence {
    unsigned char *map, *page;
    size_t size; /* of a page */
} fence;

#define REST 0xa5

static fence fence_open(void) {
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    fence f = {.size = size};
    f.map = mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.map != MAP_FAILED);
    f.page = f.map + size;
    assert_int_equal(mprotect(f.page, size, PROT_READ | PROT_WRITE), 0);
    memset(f.page, REST, size);
    return f;
}

static void fence_close(fence *f) {
    (void)munmap(f->map, 3 * f->size);
}

static uint64_t *fence_line(const fence *f, bool end) {
    return (uint64_t *)(void *)(end ? f->page + f->size - TAMIS_LINE_BYTES : f->page);
}

/* Nothing beside the line was written. */
static void assert_fence(const fence *f, bool end) {
    const unsigned char *const rest = end ? f->page : f->page + TAMIS_LINE_BYTES;
    for (size_t i = 0; i < f->size - TAMIS_LINE_BYTES; i++)
        assert_int_equal(rest[i], REST);
}

/* ---- both forms side by side ---- */

typedef struct forms {
    tamis_i_line_row quick_row, plain_row;
    const tamis_i_line_bits_ops *quick, *plain;
    uint64_t words[TAMIS_LINE_WORDS]; /* of the plain one */
} forms;

/* Away is told from absent by asking elsewhere, where it counts. */
static unsigned asked_elsewhere;

static bool ask_elsewhere(const tamis_i_line_row *row, uint64_t word) {
    (void)row;
    asked_elsewhere++;
    return (word & 1) != 0;
}

/* What the forms for a word hand on: 0 if nothing. */
static unsigned handed_on;

static tamis_status hand_on_add(const tamis_i_line_row *row, uint64_t word, unsigned result,
                                bool *added) {
    (void)row, (void)word, (void)added;
    handed_on = result;
    return TAMIS_E_FULL;
}

static tamis_status hand_on_drop(const tamis_i_line_row *row, uint64_t word, unsigned result) {
    (void)row, (void)word;
    handed_on = result | 1024; /* as nothing may have been found */
    return TAMIS_E_NOT_FOUND;
}

/* The results of the forms for a home, from those for a word. */
static unsigned word_added(const tamis_i_line_bits_ops *ops, const tamis_i_line_row *row,
                           uint64_t word, unsigned most) {
    const uint64_t before = *row->count;
    bool added = false;
    handed_on = 0;
    const tamis_status status = ops->add_word(row, word, most, &added);
    assert_true(*row->count == before + (status == TAMIS_OK));
    assert_int_equal(status, handed_on == 0 ? TAMIS_OK : TAMIS_E_FULL);
    return status != TAMIS_OK ? handed_on : TAMIS_I_LINE_DONE | (added ? 0 : TAMIS_I_LINE_FOUND);
}

static unsigned word_dropped(const tamis_i_line_bits_ops *ops, const tamis_i_line_row *row,
                             uint64_t word, unsigned most) {
    const uint64_t before = *row->count;
    handed_on = 0;
    const tamis_status status = ops->drop_word(row, word, most);
    const unsigned result =
        status != TAMIS_OK ? handed_on & 1023 : TAMIS_I_LINE_DONE | TAMIS_I_LINE_FOUND;
    assert_true(*row->count == before - ((result & TAMIS_I_LINE_DONE) != 0));
    assert_int_equal(status, handed_on == 0 ? TAMIS_OK : TAMIS_E_NOT_FOUND);
    return result;
}

static uint64_t counted[2];

static void forms_open(forms *f, const tamis_i_line_shape *shape, uint64_t *line) {
    const unsigned features = tamis_i_cpu_features();
    memset(f, 0, sizeof *f);
    memset(line, 0, TAMIS_LINE_BYTES);
    f->plain_row = (tamis_i_line_row){.lines = f->words,
                                      .n = 1,
                                      .shape = *shape,
                                      .count = &counted[0],
                                      .elsewhere = ask_elsewhere,
                                      .not_added = hand_on_add,
                                      .dropped = hand_on_drop};
    f->quick_row = f->plain_row;
    f->quick_row.count = &counted[1];
    f->quick_row.lines = line;
    f->quick_row.tables = tamis_i_line_bits_tables_take(shape, features);
    f->quick = tamis_i_line_bits_ops_for(&f->quick_row, features);
    f->plain = tamis_i_line_bits_ops_for(&f->plain_row, features);
    assert_int_equal(f->quick != f->plain, f->quick_row.tables != NULL);
}

static void forms_close(forms *f) {
    tamis_i_line_bits_tables_give(f->quick_row.tables);
}

static void assert_forms(const forms *f, unsigned quick, unsigned plain) {
    assert_int_equal(quick, plain);
    assert_memory_equal(f->quick_row.lines, f->words, TAMIS_LINE_BYTES);
}

/* What homes that go and come need of the line as it is; a cut, in copies of it. */
static void assert_forms_see_the_same(const forms *f, unsigned home) {
    const tamis_i_line_row *const row = &f->quick_row;
    const tamis_i_line_bits_ops *const quick = f->quick, *const plain = f->plain;
    const unsigned n = plain->count(row, f->words);
    assert_int_equal(quick->count(row, row->lines), n);
    const tamis_i_line_run a = quick->run(row, row->lines, home),
                           b = plain->run(row, f->words, home);
    assert_true(a.from == b.from && a.end == b.end);
    for (unsigned at = 0; at < n; at++)
        assert_true(quick->get(row, row->lines, at) == plain->get(row, f->words, at));
    for (unsigned skip = 0; skip < row->shape.prints; skip += 1 + row->shape.prints / 3) {
        unsigned left[2];
        assert_true(quick->lowest(row, row->lines, home, skip, &left[0]) ==
                    plain->lowest(row, f->words, home, skip, &left[1]));
        assert_int_equal(left[0], left[1]);
    }
    const int highest = tamis_i_line_bits_highest(&row->shape, f->words);
    uint64_t one[TAMIS_LINE_WORDS], other[TAMIS_LINE_WORDS];
    if (highest < 0)
        return;
    memcpy(one, f->words, sizeof one);
    memcpy(other, f->words, sizeof other);
    quick->cut(row, one, (unsigned)highest);
    plain->cut(row, other, (unsigned)highest);
    assert_memory_equal(one, other, sizeof one);
}

static void forms_set_away(forms *f, bool away) {
    tamis_i_line_bits_set_away(&f->quick_row.shape, f->quick_row.lines, away);
    tamis_i_line_bits_set_away(&f->plain_row.shape, f->words, away);
}

/* A word that has this home and fingerprint. */
static uint64_t word_of(const tamis_i_line_row *row, unsigned home, uint64_t print) {
    const unsigned r = row->shape.prints, l = row->shape.homes;
    const uint64_t rest = print << (64 - r), unit = UINT64_MAX / l;
    uint64_t word = unit * home + rest / l;
    for (tamis_i_line_place p = tamis_i_line_bits_locate(row, word);
         p.home < home || (p.home == home && p.print < print);
         p = tamis_i_line_bits_locate(row, word))
        word++;
    return word;
}

typedef struct call {
    unsigned what, home, most;
    uint64_t entry;
} call;

/* One call, of the form for a word or of that for a home.  What came of it. */
static unsigned forms_call(forms *f, const call *c, bool by_word) {
    tamis_i_line_row *const row = &f->quick_row;
    unsigned quick, plain;
    if (by_word) {
        const tamis_i_line_shape *const shape = &row->shape;
        const uint64_t print = c->entry & ((UINT64_C(1) << shape->prints) - 1),
                       word = word_of(row, c->home, print);
        const tamis_i_line_place place = tamis_i_line_bits_locate(row, word);
        assert_int_equal(place.home, c->home);
        assert_true(place.print == print && place.line == row->lines);
        const unsigned asked = asked_elsewhere;
        quick = c->what == 0   ? f->quick->has_word(row, word)
                : c->what == 1 ? word_added(f->quick, row, word, c->most)
                               : word_dropped(f->quick, row, word, c->most);
        plain = c->what == 0   ? f->plain->has_word(&f->plain_row, word)
                : c->what == 1 ? word_added(f->plain, &f->plain_row, word, c->most)
                               : word_dropped(f->plain, &f->plain_row, word, c->most);
        assert_true(asked_elsewhere == asked || asked_elsewhere == asked + 2);
        if (asked_elsewhere != asked) { /* as the form for a home says it */
            assert_int_equal(quick, plain);
            quick = plain = TAMIS_I_LINE_AWAY;
        }
    } else {
        uint64_t *const line = row->lines;
        quick = c->what == 0   ? f->quick->has(row, line, c->home, c->entry)
                : c->what == 1 ? f->quick->add(row, line, c->home, c->entry, c->most)
                               : f->quick->drop(row, line, c->home, c->entry, c->most);
        plain = c->what == 0 ? f->plain->has(&f->plain_row, f->words, c->home, c->entry)
                : c->what == 1
                    ? f->plain->add(&f->plain_row, f->words, c->home, c->entry, c->most)
                    : f->plain->drop(&f->plain_row, f->words, c->home, c->entry, c->most);
    }
    assert_forms(f, quick, plain);
    return quick;
}

/* Calls at random, in spells: many homes or few, fingerprints far apart or much the same, more adds or more
 * drops, of entries that may be there or are not likely to; a limit or none.  The answers seen, as a sum for
 * each kind of call. */
static void forms_run(forms *f, uint64_t seed, unsigned calls, unsigned seen[3]) {
    const tamis_i_line_shape *const shape = &f->quick_row.shape;
    uint64_t random = seed;
    call earlier[16] = {{.what = 0}};
    for (unsigned i = 0; i < calls; i++) {
        const uint64_t draw = test_random(&random), entry = test_random(&random);
        const unsigned spell = i / 83 + (unsigned)(seed % 60),
                       homes = spell % 3 == 1 && shape->homes > 3 ? 3 : shape->homes,
                       grows = spell % 2 == 0 ? 6 : 2;
        call c = {
            .what = (unsigned)(draw % 10) < 2 ? 0
                    : draw % 8 < grows        ? 1
                                              : 2,
            .home = (shape->homes - homes) * (spell % 2) + (unsigned)((draw >> 8) % homes),
            .most = spell % 4 == 2 ? 1 + (unsigned)(draw >> 24) % 5 : 1000,
            .entry = spell % 5 < 2 ? entry & (7 | UINT64_C(3) << shape->prints) : entry,
        };
        call *const other = &earlier[(draw >> 16) % 16];
        if ((draw >> 20) % 4 < (c.what == 1 ? 1 : 2)) {
            c.home = other->home;
            c.entry = other->entry;
        } else if (c.what == 1) {
            *other = c;
        }
        seen[c.what] |= forms_call(f, &c, (draw >> 32) % 2 == 0);
        if (i % 4 == 0)
            assert_forms_see_the_same(f, c.home);
        if ((draw >> 40) % 16 == 0)
            forms_set_away(f, (draw >> 44) % 2 == 0);
    }
}

/* Every home and every place: an entry for each home as long as there is room, then all of them away again,
 * once from below and once from above. */
static void forms_sweep(forms *f, bool down) {
    const tamis_i_line_shape *const shape = &f->quick_row.shape;
    for (unsigned what = 1; what <= 2; what++)
        for (unsigned i = 0; i < shape->homes; i++) {
            const unsigned home = down == (what == 1) ? shape->homes - 1 - i : i;
            const call c = {.what = what, .home = home, .most = 2, .entry = home * 0x9e3779b9u};
            const call again = {.what = 0, .home = home, .entry = c.entry};
            (void)forms_call(f, &c, home % 2 == 0);
            (void)forms_call(f, &again, home % 2 == 1);
            assert_forms_see_the_same(f, home);
        }
}

static void assert_shape(unsigned homes, unsigned prints, unsigned values, const fence *page,
                         unsigned calls, unsigned seen[3]) {
    tamis_i_line_shape shape;
    forms f;
    const bool end = homes % 2 == 0;
    assert_true(tamis_i_line_bits_shape(homes, prints, values, &shape));
    forms_open(&f, &shape, fence_line(page, end));
    forms_sweep(&f, prints % 2 == 0);
    memset(f.words, 0, sizeof f.words);
    memset(f.quick_row.lines, 0, TAMIS_LINE_BYTES);
    forms_run(&f, test_seed() + homes + 1000 * prints + 100000 * values, calls, seen);
    forms_close(&f);
    memset(fence_line(page, end), REST, TAMIS_LINE_BYTES);
}

#define ANSWERS(more) (TAMIS_I_LINE_FOUND | TAMIS_I_LINE_AWAY | (more))

static void assert_seen(const unsigned seen[3]) {
    assert_int_equal(seen[0], ANSWERS(0));
    assert_int_equal(seen[1], ANSWERS(TAMIS_I_LINE_FULL | TAMIS_I_LINE_CROWD | TAMIS_I_LINE_DONE));
    assert_int_equal(seen[2], ANSWERS(TAMIS_I_LINE_CROWD | TAMIS_I_LINE_DONE | TAMIS_I_LINE_ROOM));
}

static void test_line_forms_all_shapes_equal(void **state) {
    (void)state;
    fence page = fence_open();
    unsigned shapes = 0, seen[3] = {0, 0, 0};
    for (unsigned homes = 1; homes <= TAMIS_I_LINE_HOMES_MAX; homes++)
        for (unsigned prints = 1; prints <= TAMIS_I_LINE_PLANES_MAX; prints++) {
            assert_shape(homes, prints, 0, &page, 60, seen);
            const unsigned values = 1 + shapes % 8;
            if (prints + values <= TAMIS_I_LINE_PLANES_MAX)
                assert_shape(homes, prints, values, &page, 60, seen);
            shapes++;
        }
    assert_fence(&page, true);
    assert_fence(&page, false);
    fence_close(&page);
    assert_seen(seen);
}

static void test_line_forms_planned_shapes_equal(void **state) {
    (void)state;
    static const unsigned planned[][3] = {{90, 6, 0},  {86, 7, 0},  {80, 9, 0},  {90, 9, 0},
                                          {48, 13, 0}, {51, 16, 0}, {32, 13, 0}, {30, 16, 0},
                                          {16, 19, 0}, {90, 6, 4},  {64, 8, 8},  {65, 8, 0}};
    fence page = fence_open();
    unsigned seen[3] = {0, 0, 0};
    for (unsigned i = 0; i < sizeof planned / sizeof *planned; i++)
        assert_shape(planned[i][0], planned[i][1], planned[i][2], &page, 20000, seen);
    assert_seen(seen);
    fence_close(&page);
}

/* ---- bytes that anyone may have written ---- */

static void make_unsound(uint64_t *line, uint64_t *random) {
    const uint64_t draw = test_random(random);
    const unsigned flips = (unsigned)(draw >> 8) % 6;
    for (unsigned w = 0; draw % 4 == 0 && w < TAMIS_LINE_WORDS; w++)
        line[w] = test_some_word(random);
    for (unsigned i = 0; i < flips; i++) {
        const unsigned bit = (unsigned)(test_random(random) % (i % 2 == 0 ? 512 : 192));
        line[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
}

static void test_line_forms_of_any_words_stay_inside(void **state) {
    (void)state;
    fence page = fence_open();
    uint64_t random = test_seed();
    for (unsigned i = 0; i < 3000; i++) {
        const unsigned homes = 1 + (unsigned)(test_random(&random) % TAMIS_I_LINE_HOMES_MAX),
                       prints = 1 + (unsigned)(test_random(&random) % TAMIS_I_LINE_PLANES_MAX);
        const bool end = i % 2 == 0;
        tamis_i_line_shape shape;
        forms f;
        assert_true(tamis_i_line_bits_shape(homes, prints, 0, &shape));
        uint64_t *const line = fence_line(&page, end);
        forms_open(&f, &shape, line);
        for (unsigned calls = 0; calls < 60; calls++) {
            const uint64_t word = test_random(&random);
            const unsigned home = (unsigned)(word >> 20) % homes, most = 1 + (unsigned)(word >> 50);
            if (calls % 4 == 0)
                make_unsound(line, &random);
            (void)f.quick->has_word(&f.quick_row, word);
            (void)!f.quick->add_word(&f.quick_row, word, most, NULL);
            (void)!f.quick->drop_word(&f.quick_row, word, most);
            (void)f.quick->has(&f.quick_row, line, home, word);
            (void)f.quick->add(&f.quick_row, line, home, word, most);
            (void)f.quick->drop(&f.quick_row, line, home, word & 1, most);
            unsigned left;
            assert_true(f.quick->lowest(&f.quick_row, line, home, 0, &left) >> shape.capacity == 0);
            const tamis_i_line_run run = f.quick->run(&f.quick_row, line, home);
            assert_true(f.quick->count(&f.quick_row, line) <= shape.capacity);
            assert_true(run.from <= shape.capacity && run.end <= shape.capacity);
            (void)f.quick->get(&f.quick_row, line, (unsigned)word % shape.capacity);
            if (calls % 16 == 15)
                f.quick->cut(&f.quick_row, line, home);
        }
        forms_close(&f);
        assert_fence(&page, end);
        memset(line, REST, TAMIS_LINE_BYTES);
    }
    fence_close(&page);
}

/* ---- many lines ---- */

static void test_line_forms_words_find_their_lines(void **state) {
    (void)state;
    enum { LINES = 37 };
    static uint64_t quick_lines[LINES * TAMIS_LINE_WORDS], plain_lines[LINES * TAMIS_LINE_WORDS];
    uint64_t random = test_seed();
    tamis_i_line_shape shape;
    forms f;
    assert_true(tamis_i_line_bits_shape(90, 6, 0, &shape));
    forms_open(&f, &shape, quick_lines);
    f.plain_row.lines = plain_lines;
    f.quick_row.n = f.plain_row.n = LINES;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t word = test_random(&random);
        assert_int_equal(word_added(f.quick, &f.quick_row, word, 3),
                         word_added(f.plain, &f.plain_row, word, 3));
        word = test_random(&random);
        assert_int_equal(f.quick->has_word(&f.quick_row, word),
                         f.plain->has_word(&f.plain_row, word));
        assert_int_equal(word_dropped(f.quick, &f.quick_row, word, 3),
                         word_dropped(f.plain, &f.plain_row, word, 3));
    }
    assert_memory_equal(quick_lines, plain_lines, sizeof quick_lines);
    forms_close(&f);
}

/* ---- tables ---- */

static void test_line_tables_of_a_shape_are_shared(void **state) {
    (void)state;
    const unsigned features = tamis_i_cpu_features();
    const void *taken[80];
    tamis_i_line_shape shape, other;
    assert_true(tamis_i_line_bits_shape(90, 6, 0, &shape));
    assert_true(tamis_i_line_bits_shape(90, 6, 1, &other));
    assert_null(tamis_i_line_bits_tables_take(&shape, 0));
    tamis_i_line_bits_tables_give(NULL);
    const void *const first = tamis_i_line_bits_tables_take(&shape, features);
    if (first == NULL) {
        print_message("# no quick form here\n");
        return;
    }
    assert_ptr_equal(tamis_i_line_bits_tables_take(&shape, features), first);
    const void *const different = tamis_i_line_bits_tables_take(&other, features);
    assert_true(tamis_i_line_bits_shape(90, 7, 0, &other)); /* as many planes */
    const void *const third = tamis_i_line_bits_tables_take(&other, features);
    assert_ptr_not_equal(different, first);
    assert_ptr_not_equal(third, different);
    assert_ptr_not_equal(third, first);
    tamis_i_line_bits_tables_give(first);
    assert_ptr_equal(tamis_i_line_bits_tables_take(&shape, features), first); /* still there */
    /* More shapes than are kept at a time, and more users than are counted. */
    for (unsigned i = 0; i < 80; i++) {
        assert_true(tamis_i_line_bits_shape(1 + i, 9, 0, &other));
        assert_non_null(taken[i] = tamis_i_line_bits_tables_take(&other, features));
        for (unsigned before = 0; before < i; before++)
            assert_ptr_not_equal(taken[i], taken[before]);
    }
    for (unsigned i = 0; i < 80; i++)
        tamis_i_line_bits_tables_give(taken[i]);
    const void *last = first;
    unsigned users = 2;
    for (; last == first; users++)
        assert_non_null(last = tamis_i_line_bits_tables_take(&shape, features));
    assert_int_equal(users - 1, 0x1fff);
    tamis_i_line_bits_tables_give(last);
    for (users--; users > 0; users--)
        tamis_i_line_bits_tables_give(first);
    tamis_i_line_bits_tables_give(different);
    tamis_i_line_bits_tables_give(third);
}

/* Take tables, use them, give them back; others do the same. */
static void *take_and_give(void *context) {
    const unsigned features = tamis_i_cpu_features();
    uint64_t random = test_seed() + *(const unsigned *)context, wrong = 0;
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t line[TAMIS_LINE_WORDS] = {0}, count = 0;
        tamis_i_line_row row = {.lines = line,
                                .n = 1,
                                .count = &count,
                                .elsewhere = ask_elsewhere,
                                .not_added = hand_on_add,
                                .dropped = hand_on_drop};
        const uint64_t word = test_random(&random);
        (void)tamis_i_line_bits_shape(90 + (unsigned)(word % 3), 6, 0, &row.shape);
        row.tables = tamis_i_line_bits_tables_take(&row.shape, features);
        const tamis_i_line_bits_ops *const ops = tamis_i_line_bits_ops_for(&row, features);
        wrong += ops->add_word(&row, word, 2, NULL) != TAMIS_OK;
        wrong += ops->has_word(&row, word) != TAMIS_I_LINE_FOUND;
        tamis_i_line_bits_tables_give(row.tables);
    }
    return wrong == 0 ? NULL : context;
}

static void test_line_tables_of_threads_are_sound(void **state) {
    (void)state;
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_forms_all_shapes_equal),
        cmocka_unit_test(test_line_forms_planned_shapes_equal),
        cmocka_unit_test(test_line_forms_of_any_words_stay_inside),
        cmocka_unit_test(test_line_forms_words_find_their_lines),
        cmocka_unit_test(test_line_tables_of_a_shape_are_shared),
        cmocka_unit_test(test_line_tables_of_threads_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
