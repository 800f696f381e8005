/* line.c - a set of fingerprints in one line per key: a multiset with removal, or a set
 *
 * An entry (kinds/line/line.h) is all that is stored of a key, wherever it is: in the front, in the back or
 * in the stash.  m(f) is the number of keys of entry f that are in, T(f) how many entries equal to f the
 * table holds, S(f) how many the stash.  After every call
 *
 *   K1  T(f) + S(f) = m(f) for every f;
 *   K2  if the home of f is in the front, S(f) > 0 only where T(f) >= COPIES.
 *
 * So a query for a home in the front looks at its line alone, and one for a home that is away at its places
 * in the back and, if that is not empty, at the stash.  No key is ever lost, nothing that was stored changes,
 * and errors depend on which keys are in, not on what has happened before: nothing ages.
 *
 * One key inserted again and again must not fill its line.  From COPIES equal entries on, further ones go to
 * the stash, which counts 255 in one slot; when three quarters of it are in use, TAMIS_E_FULL.
 *
 * As a set (parameter 'set'), a key whose entry is there is not stored again, and nothing can be removed.
 *
 * Not split: keys one by one, in batches and from another set take the same inlined steps, and all of them
 * keep K1 and K2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kinds/line/line.h"

#include "filter/filter.h"
#include "filter/guard.h"
#include "hash/hash.h"

#include <math.h>

#define COPIES 4u         /* equal entries of a multiset in a line */
#define ANY    UINT32_MAX /* any number of them */
#define LOADS  2u         /* that one entry of the histogram stands for */

_Static_assert(sizeof(tamis_i_line_table) <= TAMIS_I_GEOMETRY * sizeof(uint64_t),
               "geometry[] is too small");
_Static_assert(TAMIS_I_LINE_ENTRIES_MAX / LOADS < TAMIS_LOADS_MAX, "the histogram is too small");

static inline const tamis_i_line_table *line_table_of(const tamis_filter *filter) {
    return (const tamis_i_line_table *)(const void *)filter->geometry;
}

/* ---- shape ---- */

static bool line_layout(const tamis_params *params, tamis_i_line_table *table) {
    const uint64_t *const v = params->value;
    const tamis_i_line_need need = {.lines = v[TAMIS_LINE_LINES],
                                    .homes = v[TAMIS_LINE_HOMES],
                                    .prints = v[TAMIS_LINE_FINGERPRINT_BITS],
                                    .back_lines = v[TAMIS_LINE_BACK_LINES],
                                    .back_homes = v[TAMIS_LINE_BACK_HOMES],
                                    .values = v[TAMIS_LINE_VALUE_BITS]};
    return v[TAMIS_LINE_SET] <= 1 && (v[TAMIS_LINE_SET] == 0 || need.values == 0) &&
           tamis_i_line_table_init(&need, table);
}

/* As for an error rate of 1 %: 55 keys in a line of 60 entries, and a back line for every 13. */
static void line_defaults(tamis_params *params) {
    uint64_t *const v = params->value;
    if (v[TAMIS_LINE_FINGERPRINT_BITS] == 0)
        v[TAMIS_LINE_FINGERPRINT_BITS] = 6;
    if (v[TAMIS_LINE_HOMES] == 0)
        v[TAMIS_LINE_HOMES] = 90;
    if (params->stash == 0)
        params->stash = 16 + params->capacity / 16384;
    tamis_i_line_shape shape;
    if (v[TAMIS_LINE_LINES] != 0 || v[TAMIS_LINE_BACK_LINES] != 0 ||
        v[TAMIS_LINE_BACK_HOMES] != 0 || v[TAMIS_LINE_FINGERPRINT_BITS] > 32 ||
        v[TAMIS_LINE_HOMES] > TAMIS_I_LINE_HOMES_MAX || v[TAMIS_LINE_VALUE_BITS] > 8 ||
        !tamis_i_line_bits_shape((unsigned)v[TAMIS_LINE_HOMES],
                                 (unsigned)v[TAMIS_LINE_FINGERPRINT_BITS],
                                 (unsigned)v[TAMIS_LINE_VALUE_BITS], &shape))
        return;
    const uint64_t load = shape.capacity * 11 / 12, lines = params->capacity / load + 1;
    v[TAMIS_LINE_LINES] = lines;
    v[TAMIS_LINE_BACK_LINES] = lines / 13 + 2;
    v[TAMIS_LINE_BACK_HOMES] = 28;
}

static tamis_status line_shape(tamis_params *params, uint64_t *n_table) {
    tamis_i_line_table table;
    line_defaults(params);
    if (!line_layout(params, &table))
        return TAMIS_E_ARGUMENT;
    *n_table = (table.front.n + table.back.n) * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static bool line_ask_back(const tamis_i_line_row *front, uint64_t word);
static tamis_status line_not_added(const tamis_i_line_row *front, uint64_t word, unsigned result,
                                   bool *added);
static tamis_status line_not_added_to_set(const tamis_i_line_row *front, uint64_t word,
                                          unsigned result, bool *added);
static tamis_status line_dropped(const tamis_i_line_row *front, uint64_t word, unsigned result);

/* Tables of the shapes are taken once, however often this is called. */
static void line_attach(tamis_filter *filter) {
    tamis_i_line_table table;
    const tamis_i_line_table *const before = line_table_of(filter);
    const bool again = before->front.lines != NULL;
    const bool valid = line_layout(&filter->params, &table);
    TAMIS_ASSERT(valid);
    (void)valid;
    table.front.lines = filter->table;
    table.front.count = &filter->state[TAMIS_I_COUNT];
    table.front.elsewhere = line_ask_back;
    table.front.not_added = filter->kind->remove == NULL ? line_not_added_to_set : line_not_added;
    table.front.dropped = line_dropped;
    table.back.lines = filter->table + table.front.n * TAMIS_LINE_WORDS;
    table.front.tables = again
                             ? before->front.tables
                             : tamis_i_line_bits_tables_take(&table.front.shape, filter->features);
    if (table.places != 0)
        table.back.tables =
            again ? before->back.tables
                  : tamis_i_line_bits_tables_take(&table.back.shape, filter->features);
    table.front_ops = tamis_i_line_bits_ops_for(&table.front, filter->features);
    table.back_ops = tamis_i_line_bits_ops_for(&table.back, filter->features);
    memcpy(filter->geometry, &table, sizeof table);
    filter->calls.insert = filter->kind->insert; /* which takes no 'added', too */
}

static void line_detach(tamis_filter *filter) {
    tamis_i_line_bits_tables_give(line_table_of(filter)->front.tables);
    tamis_i_line_bits_tables_give(line_table_of(filter)->back.tables);
}

/* ---- entries in the stash ---- */

static tamis_digest line_stash_key(const tamis_i_line_table *t, const tamis_i_line_entry *e) {
    return tamis_i_stash_key(e->line, tamis_i_line_back_print(t, e->home, e->print));
}

static uint64_t line_in_stash(const tamis_filter *filter, const tamis_i_line_entry *e) {
    return filter->state[TAMIS_I_STASH_USED] == 0
               ? 0
               : tamis_i_stash_copies(&filter->stash, line_stash_key(line_table_of(filter), e));
}

/* What is not in the table has no value. */
static bool line_to_stash(tamis_filter *filter, const tamis_i_line_entry *e) {
    return e->value == 0 &&
           tamis_i_stash_insert(&filter->stash, line_stash_key(line_table_of(filter), e)) ==
               TAMIS_OK;
}

static bool line_copy_to_stash(tamis_filter *filter, const tamis_i_line_entry *e) {
    return tamis_i_stash_insert_spare(&filter->stash, line_stash_key(line_table_of(filter), e)) ==
           TAMIS_OK;
}

static bool line_from_stash(tamis_filter *filter, const tamis_i_line_entry *e) {
    return filter->state[TAMIS_I_STASH_USED] != 0 &&
           tamis_i_stash_remove(&filter->stash, line_stash_key(line_table_of(filter), e));
}

/* The next entry of a front line in the stash; '*at' begins at 0. */
static bool line_next_in_stash(const tamis_filter *filter, uint64_t line, uint64_t *at,
                               tamis_i_line_entry *e, uint64_t *copies) {
    const unsigned prints = line_table_of(filter)->front.shape.prints;
    uint64_t what;
    if (!tamis_i_stash_along(&filter->stash, line, at, &what, copies))
        return false;
    *e = (tamis_i_line_entry){.line = line,
                              .home = (unsigned)(what >> prints),
                              .print = what & (((uint64_t)1 << prints) - 1)};
    return true;
}

/* ---- one key ---- */

static inline tamis_i_line_entry line_entry_of(const tamis_i_line_table *t, tamis_digest digest,
                                               uint64_t **words) {
    const tamis_i_line_place place = tamis_i_line_bits_locate(&t->front, digest.lo);
    *words = place.line;
    return (tamis_i_line_entry){.line = place.number, .home = place.home, .print = place.print};
}

/* Is an entry there whose home is away? */
static bool line_is_elsewhere(const tamis_filter *filter, const tamis_i_line_entry *e) {
    const tamis_i_line_table *const t = line_table_of(filter);
    tamis_i_line_places places;
    tamis_i_line_back_find(t, e->line, &places);
    return tamis_i_line_back_has(t, &places, tamis_i_line_back_print(t, e->home, e->print)) ||
           line_in_stash(filter, e) != 0;
}

/* The filter of a row of the front, which is the first thing in its geometry. */
static const tamis_filter *line_filter_of(const tamis_i_line_row *front) {
    return (const tamis_filter *)(const void *)((const unsigned char *)front -
                                                offsetof(tamis_filter, geometry));
}

/* The same, where it is being changed. */
static tamis_filter *line_written(const tamis_i_line_row *front) {
    return (tamis_filter *)(uintptr_t)line_filter_of(front);
}

static bool line_ask_back(const tamis_i_line_row *front, uint64_t word) {
    const tamis_i_line_place place = tamis_i_line_bits_locate(front, word);
    const tamis_i_line_entry e = {.line = place.number, .home = place.home, .print = place.print};
    return line_is_elsewhere(line_filter_of(front), &e);
}

static bool line_contains(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_line_table *const t = line_table_of(filter);
    return t->front_ops->has_word(&t->front, digest.lo);
}

static uint64_t line_copies(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_line_table *const t = line_table_of(filter);
    uint64_t *words, n = 0;
    const tamis_i_line_entry e = line_entry_of(t, digest, &words);
    if (t->front_ops->has(&t->front, words, e.home, e.print) == TAMIS_I_LINE_AWAY) {
        tamis_i_line_places places;
        tamis_i_line_back_find(t, e.line, &places);
        n = tamis_i_line_back_copies(t, &places, tamis_i_line_back_print(t, e.home, e.print));
    } else {
        uint64_t left = tamis_i_line_bits_look(&t->front.shape, words, e.home, e.print,
                                               ((uint64_t)1 << t->front.shape.prints) - 1);
        for (; left != 0; left &= left - 1)
            n++;
    }
    return n + line_in_stash(filter, &e);
}

/* ---- inserts ---- */

/* Store an entry whose home is away: in the back, or else in the stash.  False if there is no room. */
static bool line_store_away(tamis_filter *filter, tamis_i_line_places *places,
                            const tamis_i_line_entry *e) {
    const tamis_i_line_table *const t = line_table_of(filter);
    if (tamis_i_line_back_room(t, places) == 0 && !tamis_i_line_back_shift(t, places))
        return line_to_stash(filter, e);
    tamis_i_line_back_put(t, places, e);
    return true;
}

/* A key whose home is away.  '*found': its entry was there. */
static bool line_insert_away(tamis_filter *filter, const tamis_i_line_entry *e, unsigned most,
                             bool *found) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const uint64_t print = tamis_i_line_back_print(t, e->home, e->print);
    tamis_i_line_places places;
    tamis_i_line_back_find(t, e->line, &places);
    *found = tamis_i_line_back_has(t, &places, print) || line_in_stash(filter, e) != 0;
    if (TAMIS_UNLIKELY(*found)) {
        if (most == 1)
            return true;
        if (e->value == 0 && tamis_i_line_back_copies(t, &places, print) >= most)
            return line_copy_to_stash(filter, e);
    }
    tamis_i_line_back_weigh(t, &places);
    return line_store_away(filter, &places, e);
}

/* Entries at places 'from' to 'end' - 1 of a front line, and then one more unless it is NULL, go to the
 * stash, all or none. */
static bool line_rest_to_stash(tamis_filter *filter, uint64_t line, unsigned from, unsigned end,
                               const tamis_i_line_entry *more) {
    const tamis_i_line_table *const t = line_table_of(filter);
    tamis_i_line_entry e;
    unsigned at = from;
    for (; at < end; at++) {
        (void)tamis_i_line_front_entry(t, line, at, &e);
        if (!line_to_stash(filter, &e))
            break;
    }
    if (at == end && (more == NULL || line_to_stash(filter, more)))
        return true;
    while (at-- > from) {
        (void)tamis_i_line_front_entry(t, line, at, &e);
        (void)line_from_stash(filter, &e);
    }
    return false;
}

/* Give away the highest home of a full line, and 'key' with it, unless that is NULL.  What the back cannot
 * take goes to the stash, and is reserved first.  False, and nothing is changed but which place in the back
 * an entry has, if there is no room. */
static bool line_give_away(tamis_filter *filter, uint64_t line, uint64_t *words, unsigned home,
                           const tamis_i_line_entry *key) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const tamis_i_line_run run = t->front_ops->run(&t->front, words, home);
    const unsigned n = run.end - run.from, all = n + (key != NULL);
    tamis_i_line_places places;
    tamis_i_line_back_find(t, line, &places);
    tamis_i_line_back_weigh(t, &places);
    unsigned room = tamis_i_line_back_room(t, &places);
    while (room < all && tamis_i_line_back_shift(t, &places))
        room++;
    const unsigned left =
        room < all ? all - room : 0; /* for the stash: 'key' is the last that is */
    const unsigned own = left < n ? left : n;
    if (!line_rest_to_stash(filter, line, run.end - own, run.end, left > own ? key : NULL))
        return false;
    for (unsigned at = run.from; at < run.end - own; at++) {
        const uint64_t bits = t->front_ops->get(&t->front, words, at);
        const unsigned prints = t->front.shape.prints;
        const tamis_i_line_entry e = {.line = line,
                                      .home = home,
                                      .print = bits & (((uint64_t)1 << prints) - 1),
                                      .value = (unsigned)(bits >> prints)};
        tamis_i_line_back_put(t, &places, &e);
    }
    if (key != NULL && left == own)
        tamis_i_line_back_put(t, &places, key);
    t->front_ops->cut(&t->front, words, home);
    tamis_i_line_bits_set_away(&t->front.shape, words, true);
    return true;
}

/* A key whose line is full, and its home not away.  The highest home goes; if that is the key's, or below it,
 * the key goes with it. */
static bool line_insert_full(tamis_filter *filter, const tamis_i_line_entry *e, uint64_t *words) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const int highest = tamis_i_line_bits_highest(&t->front.shape, words);
    tamis_i_line_places places;
    if (highest < (int)e->home) {
        tamis_i_line_back_find(t, e->line, &places);
        tamis_i_line_back_weigh(t, &places);
        if (!line_store_away(filter, &places, e))
            return false;
        tamis_i_line_bits_set_away(&t->front.shape, words, true);
        return true;
    }
    const bool own = highest == (int)e->home;
    if (!line_give_away(filter, e->line, words, (unsigned)highest, own ? e : NULL))
        return false;
    if (!own) { /* below what has gone, though perhaps above all that is left */
        tamis_i_line_bits_set_away(&t->front.shape, words, false);
        (void)t->front_ops->add(&t->front, words, e->home, tamis_i_line_front_bits(t, e), ANY);
        tamis_i_line_bits_set_away(&t->front.shape, words, true);
    }
    return true;
}

/* A key that its line has answered with 'result'; 'most' is 1 for a set. */
static tamis_status line_insert_on(tamis_filter *filter, const tamis_i_line_entry *e,
                                   uint64_t *words, unsigned result, unsigned most, bool *added) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const uint64_t bits = tamis_i_line_front_bits(t, e);
    bool found = (result & TAMIS_I_LINE_FOUND) != 0, done = (result & TAMIS_I_LINE_DONE) != 0;
    if ((result & TAMIS_I_LINE_CROWD) != 0) {
        if (most > 1 && e->value != 0) /* which the stash cannot keep */
            result = t->front_ops->add(&t->front, words, e->home, bits, ANY);
        else
            done = most == 1 || line_copy_to_stash(filter, e);
        done = done || (result & TAMIS_I_LINE_DONE) != 0;
    }
    if ((result & TAMIS_I_LINE_AWAY) != 0)
        done = line_insert_away(filter, e, most, &found);
    else if ((result & TAMIS_I_LINE_FULL) != 0)
        done = line_insert_full(filter, e, words);
    if (!done)
        return TAMIS_E_FULL;
    filter->state[TAMIS_I_COUNT] += most > 1 || !found;
    if (added != NULL)
        *added = !found;
    return TAMIS_OK;
}

/* Any key, in any state of the table. */
static tamis_status line_insert_entry(tamis_filter *filter, const tamis_i_line_entry *e,
                                      uint64_t *words, unsigned most, bool *added) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const unsigned result =
        t->front_ops->add(&t->front, words, e->home, tamis_i_line_front_bits(t, e), most);
    return line_insert_on(filter, e, words, result, most, added);
}

static tamis_status line_insert_word(const tamis_i_line_row *front, uint64_t word, unsigned result,
                                     unsigned most, bool *added) {
    const tamis_i_line_place place = tamis_i_line_bits_locate(front, word);
    const tamis_i_line_entry e = {.line = place.number, .home = place.home, .print = place.print};
    return line_insert_on(line_written(front), &e, place.line, result, most, added);
}

static tamis_status line_not_added(const tamis_i_line_row *front, uint64_t word, unsigned result,
                                   bool *added) {
    return line_insert_word(front, word, result, COPIES, added);
}

static tamis_status line_not_added_to_set(const tamis_i_line_row *front, uint64_t word,
                                          unsigned result, bool *added) {
    return line_insert_word(front, word, result, 1, added);
}

static tamis_status line_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const tamis_i_line_table *const t = line_table_of(filter);
    return t->front_ops->add_word(&t->front, digest.lo, COPIES, added);
}

static tamis_status line_set_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const tamis_i_line_table *const t = line_table_of(filter);
    return t->front_ops->add_word(&t->front, digest.lo, 1, added);
}

/* ---- removals ---- */

/* The lowest home of a front line that has entries in back or stash, and how many may return: of those in the
 * stash, only COPIES of each entry.  0 if there is none. */
static unsigned line_least_away(const tamis_filter *filter, uint64_t line,
                                tamis_i_line_places *places, unsigned *home) {
    const tamis_i_line_table *const t = line_table_of(filter);
    unsigned n = tamis_i_line_back_least(t, places, home);
    tamis_i_line_entry e;
    uint64_t at, copies;
    if (filter->state[TAMIS_I_STASH_USED] == 0)
        return n;
    const int highest =
        tamis_i_line_bits_highest(&t->front.shape, t->front.lines + line * TAMIS_LINE_WORDS);
    for (at = 0; line_next_in_stash(filter, line, &at, &e, &copies);) {
        if ((int)e.home <= highest || (n != 0 && e.home > *home)) /* here, or later */
            continue;
        if (n == 0 || e.home < *home) /* nothing of it is in the back */
            n = 0, places->least[0] = places->least[1] = 0;
        *home = e.home;
        n += copies < COPIES ? (unsigned)copies : COPIES;
    }
    return n;
}

/* Bring a home back from the stash, as far as it is there. */
static void line_return_from_stash(tamis_filter *filter, uint64_t line, uint64_t *words,
                                   unsigned home) {
    const tamis_i_line_table *const t = line_table_of(filter);
    tamis_i_line_entry e;
    uint64_t at = 0, copies;
    while (filter->state[TAMIS_I_STASH_USED] != 0 &&
           line_next_in_stash(filter, line, &at, &e, &copies)) {
        if (e.home != home)
            continue;
        unsigned moved = 0;
        for (; moved < copies && moved < COPIES; moved++) {
            const unsigned result = t->front_ops->add(&t->front, words, home, e.print, COPIES);
            if ((result & TAMIS_I_LINE_DONE) == 0)
                break;
            (void)line_from_stash(filter, &e);
        }
        if (moved != 0 && moved == copies) /* a slot was emptied, and others may have moved */
            at = 0;
    }
}

/* Homes that are away return to a line as long as two places are free and there is room for the lowest of
 * them.  When none is left, the line is as if none had ever left.  With fewer places free that is not looked
 * for: it will be when they are, at the latest when the line is empty. */
TAMIS_APART void line_recall(tamis_filter *filter, uint64_t line, uint64_t *words) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const tamis_i_line_shape *const shape = &t->front.shape;
    tamis_i_line_places places;
    tamis_i_line_back_find(t, line, &places);
    for (;;) {
        unsigned home;
        const unsigned room = shape->capacity - t->front_ops->count(&t->front, words);
        if (room < 2 && shape->capacity > room)
            return;
        const unsigned n = line_least_away(filter, line, &places, &home);
        if (n > room)
            return;
        tamis_i_line_bits_set_away(shape, words, false);
        if (n == 0)
            return;
        tamis_i_line_entry e;
        while (tamis_i_line_back_take(t, &places, &e))
            (void)t->front_ops->add(&t->front, words, home, tamis_i_line_front_bits(t, &e), ANY);
        line_return_from_stash(filter, line, words, home);
        tamis_i_line_bits_set_away(shape, words, true);
    }
}

/* A removal that its line has answered with 'result': it is not done yet, or homes may return. */
static tamis_status line_remove_on(tamis_filter *filter, const tamis_i_line_entry *e,
                                   uint64_t *words, unsigned result) {
    const tamis_i_line_table *const t = line_table_of(filter);
    bool back = (result & (TAMIS_I_LINE_AWAY | TAMIS_I_LINE_ROOM)) != 0;
    if ((result & TAMIS_I_LINE_DONE) == 0) {
        bool done = result != 0 && line_from_stash(filter, e);
        if (!done && (result & TAMIS_I_LINE_CROWD) != 0) {
            result = t->front_ops->drop(&t->front, words, e->home, e->print, ANY);
            back = (result & TAMIS_I_LINE_ROOM) != 0;
            done = (result & TAMIS_I_LINE_DONE) != 0;
        } else if (!done && (result & TAMIS_I_LINE_AWAY) != 0) {
            tamis_i_line_places places;
            tamis_i_line_back_find(t, e->line, &places);
            done =
                tamis_i_line_back_drop(t, &places, tamis_i_line_back_print(t, e->home, e->print));
        }
        if (!done)
            return TAMIS_E_NOT_FOUND;
        filter->state[TAMIS_I_COUNT]--;
    }
    if (back)
        line_recall(filter, e->line, words);
    return TAMIS_OK;
}

static tamis_status line_dropped(const tamis_i_line_row *front, uint64_t word, unsigned result) {
    const tamis_i_line_place place = tamis_i_line_bits_locate(front, word);
    const tamis_i_line_entry e = {.line = place.number, .home = place.home, .print = place.print};
    return line_remove_on(line_written(front), &e, place.line, result);
}

static tamis_status line_remove(tamis_filter *filter, tamis_digest digest) {
    const tamis_i_line_table *const t = line_table_of(filter);
    return t->front_ops->drop_word(&t->front, digest.lo, COPIES);
}

/* ---- memory ---- */

static void line_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const uint64_t *const line =
        t->front.lines + tamis_i_range(digest.lo, t->front.n) * TAMIS_LINE_WORDS;
    (void)write; /* a line that no other processor holds can be written once it is there */
    TAMIS_PREFETCH(line);
}

static bool line_touch(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_line_table *const t = line_table_of(filter);
    tamis_i_line_places places;
    uint64_t *words;
    const tamis_i_line_entry e = line_entry_of(t, digest, &words);
    if (!tamis_i_guard_words(filter, words, TAMIS_LINE_WORDS))
        return false;
    if (t->front_ops->has(&t->front, words, e.home, e.print) != TAMIS_I_LINE_AWAY)
        return true;
    tamis_i_line_back_find(t, e.line, &places);
    for (unsigned i = 0; i < places.n; i++)
        if (!tamis_i_guard_words(filter, places.line[i], TAMIS_LINE_WORDS))
            return false;
    return true;
}

static tamis_digest line_key_in_stash(const tamis_filter *filter, tamis_digest digest) {
    uint64_t *words;
    const tamis_i_line_entry e = line_entry_of(line_table_of(filter), digest, &words);
    return line_stash_key(line_table_of(filter), &e);
}

/* ---- batches ---- */

/* What is kept of the keys of a group, from fetching to work. */
typedef struct line_keys {
    uint64_t *words[TAMIS_I_GROUP]; /* of their lines */
    uint64_t line[TAMIS_I_GROUP];
    uint64_t print[TAMIS_I_GROUP];
    unsigned home[TAMIS_I_GROUP];
    uint32_t found, away; /* bits: whose entry is in its line, whose home is away */
} line_keys;

_Static_assert(sizeof(line_keys) <= TAMIS_I_SCRATCH_MAX, "the scratch is too small");

static inline line_keys *line_keys_of(const tamis_i_group *group) {
    return group->scratch;
}

/* Begin to fetch the line of key i. */
TAMIS_INLINE void line_fetch(const tamis_i_line_table *t, const tamis_i_group *group, size_t i) {
    line_keys *const k = line_keys_of(group);
    const tamis_i_line_place place = tamis_i_line_bits_locate(&t->front, group->digests[i].lo);
    k->words[i] = place.line;
    k->line[i] = place.number;
    k->home[i] = place.home;
    k->print[i] = place.print;
    TAMIS_PREFETCH(place.line);
}

static inline tamis_i_line_entry line_entry_at(const line_keys *k, size_t i) {
    return (tamis_i_line_entry){.line = k->line[i], .home = k->home[i], .print = k->print[i]};
}

/* Begin to fetch the places of a front line in the back. */
static void line_fetch_back(const tamis_i_line_table *t, uint64_t line) {
    tamis_i_line_places places;
    tamis_i_line_back_find(t, line, &places);
}

/* Ask the lines of a group, which have come; those of the back that are needed begin to be fetched. */
static void line_look(const tamis_i_line_table *t, const tamis_i_group *group,
                      const tamis_i_group *next) {
    line_keys *const k = line_keys_of(group);
    k->found = k->away = 0;
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        if (i < next->n)
            line_fetch(t, next, i);
        if (i >= group->n)
            continue;
        const unsigned result = t->front_ops->has(&t->front, k->words[i], k->home[i], k->print[i]);
        k->found |= (uint32_t)(result & TAMIS_I_LINE_FOUND) << i;
        if (TAMIS_UNLIKELY((result & TAMIS_I_LINE_AWAY) != 0)) {
            k->away |= (uint32_t)1 << i;
            line_fetch_back(t, k->line[i]);
        }
    }
}

static void line_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                               const tamis_i_group *next, bool *present) {
    const tamis_i_line_table *const t = line_table_of(filter);
    if (next->before != NULL)
        line_look(t, next->before, next);
    else
        for (size_t i = 0; i < next->n; i++)
            line_fetch(t, next, i);
    if (now->n == 0)
        return;
    const line_keys *const k = line_keys_of(now);
    uint32_t found = k->found;
    for (size_t i = 0; i < now->n; i++)
        if (TAMIS_UNLIKELY((k->away >> i & 1) != 0)) {
            const tamis_i_line_entry e = line_entry_at(k, i);
            found |= (uint32_t)line_is_elsewhere(filter, &e) << i;
        }
    tamis_i_group_answer(present, now->n, found);
}

/* Before changes: of a group that was fetched a group ago, what it will need of the back. */
static void line_expect(const tamis_i_line_table *t, const tamis_i_group *group, bool removal) {
    const line_keys *const k = line_keys_of(group);
    for (size_t i = 0; i < group->n; i++) {
        const bool away = tamis_i_line_bits_away(&t->front.shape, k->words[i]);
        if (away || (!removal && tamis_i_line_bits_count(&t->front.shape, k->words[i]) >=
                                     t->front.shape.capacity))
            line_fetch_back(t, k->line[i]);
    }
}

static tamis_status line_add_many(tamis_filter *filter, const tamis_i_group *now,
                                  const tamis_i_group *next, unsigned most, bool *added,
                                  size_t *done) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const line_keys *const k = line_keys_of(now);
    tamis_status status = TAMIS_OK;
    size_t i = 0;
    if (next->before != NULL)
        line_expect(t, next->before, false);
    for (; i < now->n; i++) {
        if (i < next->n)
            line_fetch(t, next, i);
        const unsigned result =
            t->front_ops->add(&t->front, k->words[i], k->home[i], k->print[i], most);
        if (TAMIS_LIKELY((result & TAMIS_I_LINE_DONE) != 0)) {
            filter->state[TAMIS_I_COUNT]++;
            added[i] = (result & TAMIS_I_LINE_FOUND) == 0;
            continue;
        }
        const tamis_i_line_entry e = line_entry_at(k, i);
        status = line_insert_on(filter, &e, k->words[i], result, most, &added[i]);
        if (status != TAMIS_OK)
            break;
    }
    *done = i;
    for (; i < next->n; i++)
        line_fetch(t, next, i);
    return status;
}

static tamis_status line_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                     const tamis_i_group *next, bool *added, size_t *done) {
    return line_add_many(filter, now, next, COPIES, added, done);
}

static tamis_status line_set_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                         const tamis_i_group *next, bool *added, size_t *done) {
    return line_add_many(filter, now, next, 1, added, done);
}

static void line_remove_many(tamis_filter *filter, const tamis_i_group *now,
                             const tamis_i_group *next, bool *removed) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const line_keys *const k = line_keys_of(now);
    size_t i = 0;
    if (next->before != NULL)
        line_expect(t, next->before, true);
    for (; i < now->n; i++) {
        if (i < next->n)
            line_fetch(t, next, i);
        const unsigned result =
            t->front_ops->drop(&t->front, k->words[i], k->home[i], k->print[i], COPIES);
        removed[i] = true;
        filter->state[TAMIS_I_COUNT] -= (result & TAMIS_I_LINE_DONE) != 0;
        if (TAMIS_LIKELY((result & ~TAMIS_I_LINE_FOUND) == TAMIS_I_LINE_DONE))
            continue;
        const tamis_i_line_entry e = line_entry_at(k, i);
        removed[i] = line_remove_on(filter, &e, k->words[i], result) == TAMIS_OK;
    }
    for (; i < next->n; i++)
        line_fetch(t, next, i);
}

/* ---- values ---- */

static unsigned line_value_bits(const tamis_filter *filter) {
    return line_table_of(filter)->front.shape.values;
}

static tamis_status line_insert_value(tamis_filter *filter, tamis_digest digest, unsigned value,
                                      bool *added) {
    uint64_t *words;
    tamis_i_line_entry e = line_entry_of(line_table_of(filter), digest, &words);
    e.value = value;
    return line_insert_entry(filter, &e, words, COPIES, added);
}

/* The place of the first entry in the front; false if there is none. */
static bool line_first_here(const tamis_i_line_table *t, const tamis_i_line_entry *e,
                            const uint64_t *words, unsigned *at) {
    uint64_t found = tamis_i_line_bits_look(&t->front.shape, words, e->home, e->print,
                                            ((uint64_t)1 << t->front.shape.prints) - 1);
    for (*at = 0; found != 0 && (found & 1) == 0; found >>= 1)
        ++*at;
    return found != 0;
}

static tamis_status line_lookup_value(const tamis_filter *filter, tamis_digest digest,
                                      unsigned *value) {
    const tamis_i_line_table *const t = line_table_of(filter);
    uint64_t *words;
    unsigned at, own = 0;
    const tamis_i_line_entry e = line_entry_of(t, digest, &words);
    tamis_i_line_places places;
    bool found;
    if (t->front_ops->has(&t->front, words, e.home, e.print) == TAMIS_I_LINE_AWAY) {
        tamis_i_line_back_find(t, e.line, &places);
        found =
            tamis_i_line_back_value(t, &places, tamis_i_line_back_print(t, e.home, e.print), &own);
    } else {
        found = line_first_here(t, &e, words, &at);
        if (found)
            own = (unsigned)(tamis_i_line_bits_get(&t->front.shape, words, at) >>
                             t->front.shape.prints);
    }
    if (!found && line_in_stash(filter, &e) == 0)
        return TAMIS_E_NOT_FOUND;
    *value = own;
    return TAMIS_OK;
}

/* An entry that is in the stash alone has the value 0 for as long as it is there. */
static tamis_status line_update_value(tamis_filter *filter, tamis_digest digest, unsigned value) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const tamis_i_line_shape *const shape = &t->front.shape;
    uint64_t *words;
    unsigned at;
    const tamis_i_line_entry e = line_entry_of(t, digest, &words);
    tamis_i_line_places places;
    bool found;
    if (t->front_ops->has(&t->front, words, e.home, e.print) == TAMIS_I_LINE_AWAY) {
        tamis_i_line_back_find(t, e.line, &places);
        found = tamis_i_line_back_set_value(t, &places, tamis_i_line_back_print(t, e.home, e.print),
                                            value);
    } else {
        found = line_first_here(t, &e, words, &at);
        if (found)
            tamis_i_line_bits_put(shape, words, at, (uint64_t)value << shape->prints,
                                  (((uint64_t)1 << shape->values) - 1) << shape->prints);
    }
    if (found)
        return TAMIS_OK;
    return line_in_stash(filter, &e) == 0 ? TAMIS_E_NOT_FOUND
           : value == 0                   ? TAMIS_OK
                                          : TAMIS_E_FULL;
}

/* ---- whole filters ---- */

/* Insert an entry of another set, as one more. */
static bool line_join(tamis_filter *filter, const tamis_i_line_entry *e, unsigned most) {
    const tamis_i_line_table *const t = line_table_of(filter);
    bool added;
    return line_insert_entry(filter, e, t->front.lines + e->line * TAMIS_LINE_WORDS, most,
                             &added) == TAMIS_OK;
}

/* Insert all entries of a table of the same parameters. */
static bool line_join_table(tamis_filter *filter, const tamis_filter *source, unsigned most) {
    const tamis_i_line_table *const t = line_table_of(source);
    tamis_i_line_entry e;
    for (uint64_t i = 0; i < t->front.n; i++) {
        const unsigned n =
            tamis_i_line_bits_count(&t->front.shape, t->front.lines + i * TAMIS_LINE_WORDS);
        for (unsigned at = 0; at < n; at++)
            if (tamis_i_line_front_entry(t, i, at, &e) && !line_join(filter, &e, most))
                return false;
    }
    for (uint64_t i = 0; i < t->back.n; i++) {
        const unsigned n =
            tamis_i_line_bits_count(&t->back.shape, t->back.lines + i * TAMIS_LINE_WORDS);
        for (unsigned at = 0; at < n; at++)
            if (tamis_i_line_back_entry(t, i, at, &e) && !line_join(filter, &e, most))
                return false;
    }
    return true;
}

static bool line_join_stash(tamis_filter *filter, const tamis_filter *source, unsigned most) {
    const tamis_i_line_table *const t = line_table_of(source);
    const unsigned prints = t->front.shape.prints;
    uint64_t at = 0, copies;
    tamis_digest key;
    while (tamis_i_stash_next(&source->stash, &at, &key, &copies)) {
        const tamis_i_line_entry e = {.line = tamis_i_stash_place(key),
                                      .home = (unsigned)(key.hi >> prints),
                                      .print = key.hi & (((uint64_t)1 << prints) - 1)};
        if (e.line >= t->front.n || key.hi >> prints >= t->front.shape.homes)
            continue; /* a view that has changed */
        for (uint64_t i = 0; i < copies; i++)
            if (!line_join(filter, &e, most))
                return false;
    }
    return true;
}

/* In a copy, since no line alone tells whether all fits. */
static tamis_status line_merge(tamis_filter *filter, const tamis_filter *source) {
    const unsigned most = filter->kind->remove == NULL ? 1 : COPIES;
    tamis_filter *merged;
    uint64_t count;
    if (!tamis_i_add(filter->state[TAMIS_I_COUNT], source->state[TAMIS_I_COUNT], &count) ||
        count > TAMIS_I_COUNT_MAX / 2) /* a file may say that there are so many */
        return TAMIS_E_FULL;
    tamis_status status =
        tamis_i_filter_clone(filter, filter->params.capacity, &filter->allocator, &merged);
    if (status != TAMIS_OK)
        return status;
    if (!line_join_table(merged, source, most) || !line_join_stash(merged, source, most))
        status = TAMIS_E_FULL;
    if (status == TAMIS_OK) {
        memcpy(filter->state, merged->state, (size_t)filter->n_body * sizeof(uint64_t));
        filter->state[TAMIS_I_COUNT] = count;
    }
    tamis_filter_free(merged);
    return status;
}

/* The entries of a line that differ from all before them in their home: those are answered. */
static unsigned line_distinct(const tamis_i_line_shape *shape, const uint64_t *words) {
    const unsigned n = tamis_i_line_bits_count(shape, words);
    unsigned distinct = 0;
    uint64_t prints[TAMIS_I_LINE_ENTRIES_MAX];
    unsigned homes[TAMIS_I_LINE_ENTRIES_MAX];
    for (unsigned at = 0; at < n; at++) {
        homes[at] = tamis_i_line_bits_home(shape, words, at);
        prints[at] = tamis_i_line_bits_get(shape, words, at) & (((uint64_t)1 << shape->prints) - 1);
        unsigned before = at;
        while (before > 0 && homes[before - 1] == homes[at] && prints[before - 1] != prints[at])
            before--;
        distinct += before == 0 || homes[before - 1] != homes[at];
    }
    return distinct;
}

static double line_row_distinct(const tamis_i_line_row *row, tamis_i_slice slice) {
    double distinct = 0;
    for (uint64_t i = tamis_i_slice_from(slice, row->n); i < tamis_i_slice_end(slice, row->n); i++)
        distinct += line_distinct(&row->shape, row->lines + i * TAMIS_LINE_WORDS);
    return distinct;
}

/* A query for an absent key meets one of the n L 2^R entries at random. */
static void line_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const double lines = tamis_i_slice_size(slice, t->front.n);
    info->n_loads = t->front.shape.capacity / LOADS + 1;
    const uint64_t end = tamis_i_slice_end(slice, t->front.n);
    for (uint64_t i = tamis_i_slice_from(slice, t->front.n); i < end; i++)
        info->load_histogram[tamis_i_line_bits_count(&t->front.shape,
                                                     t->front.lines + i * TAMIS_LINE_WORDS) /
                             LOADS]++;
    double distinct = line_row_distinct(&t->front, slice);
    if (t->places != 0)
        distinct += line_row_distinct(&t->back, slice);
    distinct += (double)filter->state[TAMIS_I_STASH_USED] * lines / (double)t->front.n;
    info->fpr = fmin(distinct / ldexp(lines * t->front.shape.homes, (int)t->front.shape.prints), 1);
}

/* Could calls have brought this entry to the stash? */
static bool line_stash_may_have(const tamis_filter *filter, uint64_t line, uint64_t what) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const unsigned prints = t->front.shape.prints;
    const uint64_t home = what >> prints;
    if (line >= t->front.n || home >= t->front.shape.homes)
        return false;
    const uint64_t *const words = t->front.lines + line * TAMIS_LINE_WORDS;
    const uint64_t print = what & (((uint64_t)1 << prints) - 1);
    if (tamis_i_line_bits_away(&t->front.shape, words) &&
        tamis_i_line_bits_above(&t->front.shape, words, (unsigned)home))
        return true;
    const uint64_t equal = tamis_i_line_bits_look(&t->front.shape, words, (unsigned)home, print,
                                                  ((uint64_t)1 << prints) - 1);
    unsigned n = 0;
    for (uint64_t left = equal; left != 0; left &= left - 1)
        n++;
    return filter->kind->remove != NULL && n >= COPIES;
}

static bool line_check(const tamis_filter *filter, const char **reason) {
    const tamis_i_line_table *const t = line_table_of(filter);
    const uint64_t count = filter->state[TAMIS_I_COUNT];
    uint64_t keys, at = 0, copies;
    tamis_digest key;
    if (!tamis_i_line_table_check(t, &keys, reason))
        return false;
    *reason = "the stash has an entry that belongs into a line";
    while (tamis_i_stash_next(&filter->stash, &at, &key, &copies)) {
        if (!line_stash_may_have(filter, tamis_i_stash_place(key), key.hi))
            return false;
        keys += copies;
    }
    *reason = "the lines do not hold as many keys as the filter claims";
    /* A set may count keys that two sets had in common twice. */
    return filter->kind->remove == NULL ? keys <= count && (keys == 0) == (count == 0)
                                        : keys == count;
}

/* ---- the kinds ---- */

static const tamis_i_kind line_as_set;

static const tamis_i_kind *line_form(const tamis_params *params) {
    return params->value[TAMIS_LINE_SET] == 0 ? &tamis_i_line_kind : &line_as_set;
}

#define LINE_COMMON                                                                                \
    .id = TAMIS_KIND_LINE, .name = "line", .scratch = sizeof(line_keys), .form = line_form,        \
    .params = {"lines",      "homes", "fingerprint_bits", "back_lines", "back_homes",              \
               "value_bits", "set"},                                                               \
    .merges_all = true, .shape = line_shape, .attach = line_attach, .detach = line_detach,         \
    .contains = line_contains, .prefetch = line_prefetch, .touch = line_touch,                     \
    .key_in_stash = line_key_in_stash, .contains_many = line_contains_many, .merge = line_merge,   \
    .info = line_info, .check = line_check

const tamis_i_kind tamis_i_line_kind = {
    LINE_COMMON,
    .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE,
    .insert = line_insert,
    .remove = line_remove,
    .copies = line_copies,
    .insert_many = line_insert_many,
    .remove_many = line_remove_many,
    .value_bits = line_value_bits,
    .insert_value = line_insert_value,
    .lookup_value = line_lookup_value,
    .update_value = line_update_value,
};

static const tamis_i_kind line_as_set = {
    LINE_COMMON,
    .abilities = TAMIS_CAN_MERGE,
    .insert = line_set_insert,
    .insert_many = line_set_insert_many,
};
