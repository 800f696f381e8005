/* line.c - one cache line of fingerprints: the portable operations, for lines of any load
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/line.h"

#include "bits/native.h"
#include "bits/search.h"
#include "bits/words.h"

#define INVERSE(n)       ((((uint32_t)1 << 20) + (n)-1) / (n))
#define FOUR_INVERSES(n) INVERSE(n), INVERSE((n) + 1), INVERSE((n) + 2), INVERSE((n) + 3)
#define SIXTEEN(n)                                                                                 \
    FOUR_INVERSES(n), FOUR_INVERSES((n) + 4), FOUR_INVERSES((n) + 8), FOUR_INVERSES((n) + 12)

const uint32_t tamis_i_line_inverse[TAMIS_I_LINE_ENTRIES + 1] = {
    0,
    INVERSE(1),
    INVERSE(2),
    INVERSE(3),
    FOUR_INVERSES(4),
    FOUR_INVERSES(8),
    FOUR_INVERSES(12),
    SIXTEEN(16),
    SIXTEEN(32),
    SIXTEEN(48),
    SIXTEEN(64),
    SIXTEEN(80),
    SIXTEEN(96),
    SIXTEEN(112),
    SIXTEEN(128),
    SIXTEEN(144),
    SIXTEEN(160),
    SIXTEEN(176),
    SIXTEEN(192),
    SIXTEEN(208),
    SIXTEEN(224),
    SIXTEEN(240),
};

void tamis_i_line_init(tamis_i_line *line, uint64_t homes, uint64_t bits_max, bool set,
                       uint64_t copies) {
    const uint64_t top = set ? TAMIS_I_LINE_BITS : TAMIS_I_LINE_BITS - TAMIS_I_LINE_B;
    *line = (tamis_i_line){.homes = homes,
                           .bits_max = bits_max,
                           .top = top,
                           .most = (top - homes) / 2,
                           .copies = copies};
}

/* ---- reading ---- */

/* Ones among the first 'width' bits; width <= 128. */
static unsigned line_ones_below(const uint64_t *words, unsigned width) {
    if (width < 64)
        return tamis_i_ones_of(words[0] & tamis_i_low_mask(width));
    return tamis_i_ones_of(words[0]) +
           (width == 64 ? 0 : tamis_i_ones_of(words[1] & tamis_i_low_mask(width - 64)));
}

/* The place after one number k - 1 among the bits from 'from' on, counted from there; 0 for k = 0.  If
 * there are fewer ones, the rest of the line. */
static unsigned line_after_ones(const uint64_t *words, unsigned from, unsigned k) {
    if (k == 0)
        return 0;
    for (unsigned at = from; at < TAMIS_I_LINE_BITS; at = (at / 64 + 1) * 64) {
        uint64_t word = words[at / 64] >> at % 64;
        const unsigned here = tamis_i_ones_of(word);
        if (here < k) {
            k -= here;
            continue;
        }
        while (--k > 0)
            word &= word - 1;
        return at - from + tamis_i_ones_of(word ^ (word - 1));
    }
    return TAMIS_I_LINE_BITS - from;
}

bool tamis_i_line_full(const tamis_i_line *line, const uint64_t *words) {
    const unsigned before_last = (unsigned)line->most - 1, homes = (unsigned)line->homes;
    return before_last == 0 ? line_ones_below(words, homes) != 0
                            : tamis_i_ones_of(tamis_i_field_get(words, homes, before_last)) <
                                  line_ones_below(words, homes);
}

/* The bits of all fingerprints that n entries have or may have.  The lengths follow from these. */
static unsigned line_bits_for(const tamis_i_line *line, unsigned n) {
    const unsigned room = TAMIS_I_LINE_BITS - (unsigned)line->homes - n;
    const unsigned most = (unsigned)line->bits_max * n;
    return most < room ? most : room;
}

/* Where the run begins that entry 'at' would belong to: the last one that begins at or before it.
 * 'ends' is an array of bits. */
static unsigned line_start_before(const uint64_t *ends, unsigned from, unsigned at) {
    while (at > 0 && !tamis_i_bit_get(ends, from + at - 1))
        at--;
    return at;
}

void tamis_i_line_look(const tamis_i_line *line, const uint64_t *words, unsigned home,
                       tamis_i_line_view *view) {
    const unsigned homes = (unsigned)line->homes;
    const unsigned before = line_ones_below(words, home);
    const unsigned n = line_after_ones(words, homes, line_ones_below(words, homes));
    const unsigned start = line_after_ones(words, homes, before);
    const unsigned end =
        tamis_i_bit_get(words, home) ? line_after_ones(words, homes, before + 1) : start;
    *view = (tamis_i_line_view){.n = n, .start = start, .end = end};
    if (n == 0)
        return;
    if (tamis_i_line_is_set(line)) {
        const unsigned bits = line_bits_for(line, n);
        view->r = bits / n;
        view->longs = line_start_before(words, homes, bits % n);
        view->bits = view->r * n + view->longs;
    } else {
        view->bits = (unsigned)(words[7] >> (64 - TAMIS_I_LINE_B));
        view->r = view->bits / n;
        view->longs = view->bits % n;
    }
}

unsigned tamis_i_line_longest(const tamis_i_line *line, const uint64_t *words) {
    tamis_i_line_view v;
    tamis_i_line_look(line, words, 0, &v);
    return v.n == 0 ? line_bits_for(line, 1) : v.r + (v.longs != 0);
}

/* The home's run: where its fingerprints begin, as bits, and how long each is. */
static unsigned line_run_at(const tamis_i_line *line, const tamis_i_line_view *view,
                            unsigned *length) {
    *length = view->r + (view->start < view->longs);
    return (unsigned)line->top - tamis_i_line_before(view, view->end);
}

unsigned tamis_i_line_copies(const tamis_i_line *line, const uint64_t *words, unsigned home,
                             uint64_t fingerprint) {
    tamis_i_line_view view;
    tamis_i_line_look(line, words, home, &view);
    if (view.start == view.end)
        return 0;
    unsigned length;
    const unsigned at = line_run_at(line, &view, &length);
    return tamis_i_fields_count_top(words, at, length, view.end - view.start, length,
                                    fingerprint >> (64 - length));
}

bool tamis_i_line_find(const tamis_i_line *line, const uint64_t *words, unsigned home,
                       uint64_t fingerprint) {
    tamis_i_line_view view;
    tamis_i_line_look(line, words, home, &view);
    if (view.start == view.end)
        return false;
    unsigned length;
    const unsigned at = line_run_at(line, &view, &length);
    const tamis_i_fields fields = tamis_i_fields_of(length);
    return tamis_i_fields_find(&fields, words, at, (view.end - view.start) * length,
                               fingerprint >> (64 - length));
}

/* ---- adding ---- */

/* Remove the last bit of entries 'from' up to 'to'.  They have view->r + 1 bits, like all before them. */
static void line_cut(const tamis_i_line *line, uint64_t *words, tamis_i_line_view *view,
                     unsigned from, unsigned to) {
    const unsigned length = view->r + 1;
    unsigned bottom = (unsigned)line->top - view->bits;
    unsigned read = (unsigned)line->top - from * length, write = read;
    for (unsigned i = from; i < to; i++) {
        read -= length;
        write -= length - 1;
        tamis_i_field_put(words, write, length - 1, tamis_i_field_get(words, read, length) >> 1);
    }
    for (unsigned moved; write > read; read += moved, bottom += moved) {
        moved = write - read < 64 ? write - read : 64;
        tamis_i_field_open(words, bottom, write, moved);
    }
    view->longs = from;
    view->bits -= to - from;
}

/* Lengths of the entries after a new one is added as entry view->start. */
static tamis_i_line_lengths line_settle(const tamis_i_line *line, const tamis_i_line_view *view,
                                        bool is_new_run, const uint64_t *ends) {
    const unsigned n = view->n + 1;
    if (tamis_i_line_is_set(line)) {
        const unsigned bits = line_bits_for(line, n);
        return (tamis_i_line_lengths){.r = bits / n, .longs = line_start_before(ends, 0, bits % n)};
    }
    const tamis_i_line_lengths before = {.r = view->r, .longs = view->longs, .bits = view->bits};
    tamis_i_line_lengths now = tamis_i_line_with_one(line, view->n, view->start, is_new_run,
                                                     (unsigned)line->homes, before);
    while (now.over != 0)
        tamis_i_line_cut_to(&now, line_start_before(ends, 0, tamis_i_line_cut_from(&now, n)));
    return now;
}

unsigned tamis_i_line_add(const tamis_i_line *line, uint64_t *words, unsigned home,
                          uint64_t fingerprint) {
    tamis_i_line_view v;
    const unsigned homes = (unsigned)line->homes;
    const unsigned there = tamis_i_line_copies(line, words, home, fingerprint);
    const unsigned found = there != 0 ? TAMIS_I_LINE_FOUND : 0;
    tamis_i_line_look(line, words, home, &v);
    if ((found && (tamis_i_line_is_set(line) || there >= line->copies)) || v.n >= line->most)
        return found;
    /* The new ends, and what follows from them. */
    const unsigned start = v.start, n = v.n;
    const bool is_new_run = v.start == v.end;
    uint64_t ends[TAMIS_I_LINE_ENTRIES / 64 + 1] = {0};
    for (unsigned at = 0; at < n; at += 64)
        ends[at / 64] = tamis_i_field_get(words, homes + at, n - at < 64 ? n - at : 64);
    tamis_i_field_open(ends, start, n + 1, 1);
    if (is_new_run)
        tamis_i_bit_set(ends, start);
    const tamis_i_line_lengths now = line_settle(line, &v, is_new_run, ends);
    /* Cut what becomes shorter; the new entry is not there yet. */
    const unsigned longs = now.longs - (start < now.longs);
    for (; n != 0 && v.r > now.r; v.r--, v.longs = n)
        if (v.longs != 0)
            line_cut(line, words, &v, 0, v.longs);
    if (n == 0)
        v.r = now.r;
    if (v.longs > longs)
        line_cut(line, words, &v, longs, v.longs);
    /* Put it in. */
    const unsigned length = now.r + (start < now.longs);
    const unsigned at = (unsigned)line->top - tamis_i_line_before(&v, start);
    tamis_i_field_close(words, line->top - v.bits - length, at, length);
    tamis_i_field_put(words, at - length, length, fingerprint >> (64 - length));
    for (unsigned i = 0; i <= n; i += 64)
        tamis_i_field_put(words, homes + i, n + 1 - i < 64 ? n + 1 - i : 64, ends[i / 64]);
    tamis_i_bit_set(words, home);
    if (!tamis_i_line_is_set(line))
        tamis_i_field_put(words, line->top, TAMIS_I_LINE_B, v.bits + length);
    return found | TAMIS_I_LINE_STORED;
}

/* ---- dropping ---- */

/* Of several equal entries the last one goes; it lies lowest. */
bool tamis_i_line_drop(const tamis_i_line *line, uint64_t *words, unsigned home,
                       uint64_t fingerprint) {
    tamis_i_line_view v;
    const unsigned homes = (unsigned)line->homes;
    tamis_i_line_look(line, words, home, &v);
    const unsigned in_run = v.end - v.start;
    if (in_run == 0)
        return false;
    unsigned length;
    const unsigned at = line_run_at(line, &v, &length);
    const unsigned i =
        tamis_i_fields_next(words, at, length, 0, in_run, fingerprint >> (64 - length));
    if (i == in_run)
        return false;
    const unsigned bottom = (unsigned)line->top - v.bits;
    tamis_i_field_open(words, bottom, at + (i + 1) * length, length);
    tamis_i_field_close(words, homes + v.start, homes + v.n, 1);
    if (in_run == 1)
        words[home / 64] &= ~((uint64_t)1 << home % 64);
    tamis_i_field_put(words, line->top, TAMIS_I_LINE_B, v.bits - length);
    return true;
}

/* ---- whole lines ---- */

unsigned tamis_i_line_list(const tamis_i_line *line, const uint64_t *words,
                           tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES]) {
    tamis_i_line_view v;
    tamis_i_line_look(line, words, 0, &v);
    unsigned home = 0, at = (unsigned)line->top;
    for (unsigned i = 0; i < v.n; i++) {
        while (!tamis_i_bit_get(words, home))
            home++;
        const unsigned bits = v.r + (i < v.longs);
        at -= bits;
        entries[i] =
            (tamis_i_line_entry){.fingerprint = tamis_i_field_get(words, at, bits) << (64 - bits),
                                 .home = (uint8_t)home,
                                 .bits = (uint8_t)bits};
        home += tamis_i_bit_get(words, line->homes + i);
    }
    return v.n;
}

/* Write a line of n entries, in order of their homes, each with at least as many bits as it gets. */
static void line_write_line(const tamis_i_line *line, uint64_t *words,
                            const tamis_i_line_entry *entries, unsigned n,
                            tamis_i_line_lengths now) {
    unsigned at = (unsigned)line->top;
    memset(words, 0, TAMIS_LINE_BYTES);
    for (unsigned i = 0; i < n; i++) {
        const unsigned bits = now.r + (i < now.longs);
        at -= bits;
        tamis_i_field_put(words, at, bits, entries[i].fingerprint >> (64 - bits));
        tamis_i_bit_set(words, entries[i].home);
        if (i + 1 == n || entries[i + 1].home != entries[i].home)
            tamis_i_bit_set(words, line->homes + i);
    }
    if (n != 0 && !tamis_i_line_is_set(line))
        tamis_i_field_put(words, line->top, TAMIS_I_LINE_B, line->top - at);
}

static bool line_starts_run(const tamis_i_line_entry *entries, unsigned i) {
    return i == 0 || entries[i - 1].home != entries[i].home;
}

static unsigned line_run_start_of(const tamis_i_line_entry *entries, unsigned n, unsigned i) {
    while (i < n && !line_starts_run(entries, i))
        i--;
    return i;
}

/* The longest lengths that the entries have and that fit in the line. */
static tamis_i_line_lengths line_fit(const tamis_i_line *line, const tamis_i_line_entry *entries,
                                     unsigned n) {
    tamis_i_line_lengths now = {.r = TAMIS_I_LINE_PRINT, .longs = 0};
    if (tamis_i_line_is_set(line)) {
        const unsigned bits = line_bits_for(line, n);
        return (tamis_i_line_lengths){.r = bits / n,
                                      .longs = line_run_start_of(entries, n, bits % n)};
    }
    for (unsigned i = 0; i < n; i++)
        now.r = entries[i].bits < now.r ? entries[i].bits : now.r;
    while (now.longs < n && entries[now.longs].bits > now.r)
        now.longs++;
    now.longs = line_run_start_of(entries, n, now.longs);
    const unsigned room = (unsigned)(line->top - line->homes) - n;
    while (now.r * n + now.longs > room) {
        if (now.longs == 0) {
            now.r--;
            now.longs = n;
        }
        const unsigned bits = now.r * n + now.longs;
        const unsigned over = bits > room ? bits - room : 0;
        if (over != 0)
            now.longs = now.longs > over ? line_run_start_of(entries, n, now.longs - over) : 0;
    }
    return now;
}

/* Does one of these match every key that 'e' matches?  A longer one need not. */
static bool line_is_there(const tamis_i_line_entry *entries, unsigned n,
                          const tamis_i_line_entry *e) {
    for (unsigned i = 0; i < n; i++)
        if (entries[i].home == e->home && entries[i].bits <= e->bits &&
            (entries[i].fingerprint ^ e->fingerprint) >> (64 - entries[i].bits) == 0)
            return true;
    return false;
}

bool tamis_i_line_covers(const tamis_i_line *line, const uint64_t *words,
                         const tamis_i_line_entry *entry) {
    tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES];
    return line_is_there(entries, tamis_i_line_list(line, words, entries), entry);
}

static bool line_are_long_enough(const tamis_i_line_entry *entries, unsigned n,
                                 tamis_i_line_lengths now) {
    for (unsigned i = 0; i < n; i++)
        if (entries[i].bits < now.r + (i < now.longs))
            return false;
    return true;
}

/* In a set the fuller line has the shorter fingerprints.  Entries of the other line that match one of
 * them are left out, and at least as many remain as either line had.  So each has enough bits for its
 * new length, unless one entry matched two that lay before it. */
bool tamis_i_line_merge(const tamis_i_line *line, uint64_t *words, const uint64_t *source,
                        bool write) {
    tamis_i_line_entry a[TAMIS_I_LINE_ENTRIES], b[TAMIS_I_LINE_ENTRIES];
    tamis_i_line_entry both[2 * TAMIS_I_LINE_ENTRIES];
    unsigned n_a = tamis_i_line_list(line, words, a);
    unsigned n_b = tamis_i_line_list(line, source, b);
    if (tamis_i_line_is_set(line)) {
        const bool b_is_fuller = n_b > n_a;
        const tamis_i_line_entry *const full = b_is_fuller ? b : a;
        tamis_i_line_entry *const other = b_is_fuller ? a : b;
        const unsigned n_full = b_is_fuller ? n_b : n_a;
        unsigned *const n_other = b_is_fuller ? &n_a : &n_b;
        unsigned kept = 0;
        for (unsigned i = 0; i < *n_other; i++)
            if (!line_is_there(full, n_full, &other[i]))
                other[kept++] = other[i];
        *n_other = kept;
    }
    const unsigned most = (unsigned)line->most;
    if (n_a + n_b > most && line->passes_on)
        *(n_b > n_a ? &n_a : &n_b) = most - (n_b > n_a ? n_b : n_a);
    const unsigned n = n_a + n_b;
    if (n > most)
        return false;
    if (n_b == 0 || n == 0)
        return true;
    unsigned i = 0, j = 0;
    for (unsigned k = 0; k < n; k++)
        both[k] = j == n_b || (i < n_a && a[i].home <= b[j].home) ? a[i++] : b[j++];
    const tamis_i_line_lengths now = line_fit(line, both, n);
    if (!line_are_long_enough(both, n, now))
        return false;
    if (write)
        line_write_line(line, words, both, n, now);
    return true;
}

bool tamis_i_line_check(const tamis_i_line *line, const uint64_t *words, const char **reason) {
    const unsigned homes = (unsigned)line->homes;
    const unsigned n = line_after_ones(words, homes, line_ones_below(words, homes));
    unsigned used = 0;
    if (n > line->most) {
        *reason = "a line has more entries than fit";
        return false;
    }
    if (n != 0) {
        tamis_i_line_view v;
        tamis_i_line_look(line, words, 0, &v);
        used = v.bits;
        if (v.r < 1 || v.r + (v.longs != 0) > line->bits_max || homes + n + used > line->top ||
            line_start_before(words, homes, v.longs) != v.longs) {
            *reason = "a line has fingerprints of impossible lengths";
            return false;
        }
    }
    /* Between the ends and the fingerprints, and all of an empty line. */
    const unsigned end = n == 0 ? TAMIS_I_LINE_BITS : (unsigned)line->top - used;
    for (unsigned at = homes + n, width; at < end; at += width) {
        width = end - at < 64 ? end - at : 64;
        if (tamis_i_field_get(words, at, width) != 0) {
            *reason = "a line has data where it is free";
            return false;
        }
    }
    return true;
}

/* ---- the operations ---- */

void tamis_i_line_locate_all(const tamis_i_line *line, uint64_t *table, uint64_t lines,
                             const tamis_digest *digests, size_t n, tamis_i_line_keys *keys) {
    for (size_t i = 0; i < n; i++)
        tamis_i_line_locate(line, table, lines, digests[i], &keys->at[i], &keys->home[i],
                            &keys->fingerprint[i]);
}

static void line_find_all(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t n,
                          const tamis_i_line_keys *next, bool *found) {
    for (size_t i = 0; i < n; i++) {
        TAMIS_PREFETCH(next->at[i]);
        found[i] =
            tamis_i_line_find(line, keys->at[i], (unsigned)keys->home[i], keys->fingerprint[i]);
    }
}

static void line_drop_all(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t n,
                          const tamis_i_line_keys *next, bool *dropped) {
    for (size_t i = 0; i < n; i++) {
        TAMIS_PREFETCH_RW(next->at[i]);
        dropped[i] =
            tamis_i_line_drop(line, keys->at[i], (unsigned)keys->home[i], keys->fingerprint[i]);
    }
}

static void line_look_all(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t n,
                          const tamis_i_line_keys *next, uint8_t *results) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t *const words = keys->at[i];
        TAMIS_PREFETCH(next->at[i]);
        results[i] = tamis_i_line_find(line, words, (unsigned)keys->home[i], keys->fingerprint[i])
                         ? TAMIS_I_LINE_FOUND
                     : tamis_i_line_full(line, words) ? TAMIS_I_LINE_FULL
                                                      : 0;
    }
}

static size_t line_add_all(const tamis_i_line *line, const tamis_i_line_keys *keys, size_t from,
                           size_t n, const tamis_i_line_keys *next, uint8_t *results) {
    for (size_t i = from; i < n; i++) {
        TAMIS_PREFETCH_RW(next->at[i]);
        const unsigned result =
            tamis_i_line_add(line, keys->at[i], (unsigned)keys->home[i], keys->fingerprint[i]);
        results[i] = (uint8_t)result;
        if (tamis_i_line_refused(line, result))
            return i + 1;
    }
    return n;
}

const tamis_i_line_ops *tamis_i_line_ops_for(const tamis_i_line *line, unsigned features) {
    static const tamis_i_line_ops portable = {.has = tamis_i_line_find,
                                              .add_one = tamis_i_line_add,
                                              .drop_one = tamis_i_line_drop,
                                              .full = tamis_i_line_full,
                                              .locate = tamis_i_line_locate_all,
                                              .find = line_find_all,
                                              .drop = line_drop_all,
                                              .look = line_look_all,
                                              .add = line_add_all};
    const tamis_i_line_ops *const native = TAMIS_I_LINE_NATIVE(line, features);
    return native != NULL ? native : &portable;
}
