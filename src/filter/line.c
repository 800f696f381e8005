/* line.c - one cache line per key: rank-indexed, with fingerprints that shrink as the line fills
 *
 * A key has one line, one home in it, and a fingerprint of 64 bits, all drawn from its digest.  The line
 * keeps as much of the fingerprint as it has room for (bits/line.h): a query reads one line and compares
 * about one fingerprint, an insert moves nothing to other lines.  A key whose line can hold no more goes to
 * the stash.
 *
 * 'line' is a multiset.  Fingerprints of one run are equally long at any time; let f be a line, a home and
 * a fingerprint of that length, T(f) the number of such entries, m(x) the copies of key x that are in, and
 * S(x) those of them in the stash.  After every call
 *
 *   K1  S(x) <= m(x) for every key x;
 *   K2  T(f) is the sum of m(x) - S(x) over the keys x of f.
 *
 * When a run loses a bit, two f become one, with the sum of their T: K2 holds again.  A query asks for
 * T(f) + S(x) > 0.  A removal lowers S(x) if it is not 0, else T(f), which is then not 0 by K2.  (Not
 * the other way round: T(f) might then lose the copy of another key.)
 *
 * One key inserted again and again must not fill its line.  From 'copies' equal entries on, copies go to the
 * stash, which counts 255 in one slot; to the line again when three quarters of the stash are in use.
 * All numbers stay exact.
 *
 * 'line-set' is a set: a key that is found is not stored again, and nothing is removed.  It has no
 * number of bits in the line, which makes fingerprints longer, and errors a seventh fewer.
 *
 * A set may have a limit on the entries of a line.  A full line passes keys on, to the line that lies a
 * number of lines further, a number that depends on the home: the overflow of a line is spread over as
 * many lines as it has homes.  The way of a key are WAY lines, A, A + s, A + 2s ..., and
 *
 *   W1  a key is in the first line of its way that was not full when it came, or, if all were, in the stash;
 *   W2  a full line stays full.
 *
 * So a query may stop at the first line that is not full.  The state counts how far keys were passed on,
 * which tells what inserts and queries cost.  Home and fingerprint are the same in all lines
 * of the way: what has been passed on is not marked, and a merge may pass on any entry of a line that
 * is full afterwards.  (Not so in a multiset.  If two keys match an entry of the first line and only one of
 * them a longer one further on, which of the two entries does a removal drop?  Keys of the second line
 * might have claims on the longer, so neither answer is always right.)
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/line.h"
#include "filter/guard.h"
#include "hash/hash.h"

#include <math.h>

#define LINES_MAX   ((uint64_t)1 << 38)
#define DEFAULT_BPK 12u /* bits per key */
#define LOADS       4u  /* that one entry of the histogram stands for */

/* Of lines that pass on: the lines of a key, and a factor that makes a word of a home. */
#define WAY     16u
#define PASSES  TAMIS_I_STATE_OWN        /* lines that the keys in the table have gone past */
#define SPLITS  (TAMIS_I_STATE_OWN + 1u) /* entries that merges have made two of */
#define MISSING 4u                       /* bits that an entry of a merge may be short of */
#define STEPS   0x9e3779b97f4a7c15u

/* What geometry[] holds. */
typedef struct layout {
    const tamis_i_line_ops *ops;
    bool (*has_word)(const tamis_i_line_table *table,
                     uint64_t key); /* of ops: a step less per query */
    tamis_i_line_table in;
} layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");
_Static_assert(TAMIS_I_LINE_ENTRIES / LOADS < TAMIS_LOADS_MAX, "the histogram is too small");
_Static_assert(sizeof(tamis_i_line_keys) <= TAMIS_I_SCRATCH_MAX, "the scratch is too small");

static inline const layout *line_layout_of(const tamis_filter *filter) {
    return (const layout *)(const void *)filter->geometry;
}

/* ---- shape ---- */

static bool line_is_set(const tamis_params *params) {
    return params->kind == TAMIS_KIND_LINE_SET;
}

static void line_set_default(uint64_t *value, uint64_t is) {
    *value = *value == 0 ? is : *value;
}

/* Keys of a mean line at the capacity, at least 1. */
static uint64_t line_mean_load(const tamis_params *params) {
    const uint64_t lines = params->value[TAMIS_LINE_LINES];
    return params->capacity / lines + (params->capacity % lines != 0);
}

/* Longer fingerprints than those of a mean line and two bits are soon cut.  A bit more would make errors one
 * percent fewer, which is a thousandth of the space, and inserts a tenth slower. */
static uint64_t line_default_bits(const tamis_params *params) {
    const uint64_t load = line_mean_load(params), homes = params->value[TAMIS_LINE_HOMES];
    const uint64_t own = TAMIS_I_LINE_BITS - homes - (line_is_set(params) ? 0 : TAMIS_I_LINE_B);
    const uint64_t bits = (own > load ? (own - load) / load : 0) + 2;
    return bits < TAMIS_I_LINE_PRINT ? bits : TAMIS_I_LINE_PRINT;
}

static tamis_status line_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const v = params->value;
    if (v[TAMIS_LINE_LINES] == 0)
        v[TAMIS_LINE_LINES] = params->capacity * DEFAULT_BPK / TAMIS_I_LINE_BITS + 1;
    line_set_default(&v[TAMIS_LINE_HOMES], 64);
    if (v[TAMIS_LINE_LINES] > LINES_MAX || v[TAMIS_LINE_HOMES] > TAMIS_I_LINE_HOMES)
        return TAMIS_E_ARGUMENT;
    line_set_default(&v[TAMIS_LINE_BITS_MAX], line_default_bits(params));
    if (!line_is_set(params))
        line_set_default(&v[TAMIS_LINE_COPIES], 4);
    if (v[TAMIS_LINE_BITS_MAX] > TAMIS_I_LINE_PRINT ||
        (line_is_set(params) ? v[TAMIS_LINE_LIMIT] > TAMIS_I_LINE_LIMIT
                             : v[TAMIS_LINE_COPIES] > TAMIS_I_LINE_ENTRIES))
        return TAMIS_E_ARGUMENT;
    line_set_default(&params->stash, 16 + params->capacity / 16384);
    *n_table = v[TAMIS_LINE_LINES] * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static bool line_contains_digest(const tamis_filter *filter, tamis_digest digest);
static bool line_contains_word(const tamis_lens *lens, uint64_t key);

static void line_attach_lens(tamis_filter *filter, const tamis_i_line_table *in) {
    tamis_lens *const lens = &filter->lens;
    if (in->line.homes != 64 || in->line.load > TAMIS_I_LINE_NARROW)
        return;
    TAMIS_ASSERT(in->line.most > 62); /* a lens puts one more into lines of up to 62 entries */
    lens->form = line_is_set(&filter->params) ? TAMIS_LENS_LINE_SET : TAMIS_LENS_LINE;
    lens->n = in->lines;
    lens->value[TAMIS_LENS_LINE_CAP] = in->line.bits_max << 8 | 1;
}

static void line_attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    layout l = {
        .in = {.words = filter->table, .lines = v[TAMIS_LINE_LINES], .keys = &filter->hasher.keys}};
    const bool set = line_is_set(&filter->params);
    tamis_i_line_init(&l.in.line, v[TAMIS_LINE_HOMES], v[TAMIS_LINE_BITS_MAX], set,
                      set ? 0 : v[TAMIS_LINE_COPIES]);
    if (set && v[TAMIS_LINE_LIMIT] != 0)
        tamis_i_line_limit(&l.in.line, v[TAMIS_LINE_LIMIT]);
    l.in.line.load = line_mean_load(&filter->params);
    l.ops = tamis_i_line_ops_for(&l.in.line, filter->features);
    l.has_word = l.ops->has_word;
    memcpy(filter->geometry, &l, sizeof l);
    if (l.in.line.passes_on)
        return;
    line_attach_lens(filter, &l.in);
    if (l.ops->has_digest != NULL)
        filter->contains_digest = line_contains_digest;
    if (l.ops->has_word != NULL && filter->params.hash == TAMIS_HASH_AES)
        filter->contains_word = line_contains_word;
}

/* ---- one key ---- */

/* A key in the table. */
typedef struct place {
    uint64_t *at;
    uint64_t home, fingerprint;
} place;

static inline place line_locate(const layout *l, const tamis_filter *filter, tamis_digest digest) {
    place p;
    tamis_i_line_locate(&l->in.line, filter->table, l->in.lines, digest, &p.at, &p.home,
                        &p.fingerprint);
    return p;
}

/* The next line on the way of the keys of this home. */
static inline uint64_t *line_after(const layout *l, const tamis_filter *filter, uint64_t *at,
                                   unsigned home) {
    const uint64_t step = 1 + tamis_i_range((home + 1) * STEPS, l->in.lines - 1);
    const uint64_t next = (uint64_t)(at - filter->table) + TAMIS_LINE_WORDS * step;
    return filter->table + (next < filter->n_table ? next : next - filter->n_table);
}

/* The lines after 'at', which is number 'i' >= 1 of the key's way, if it is full. */
static bool line_is_further_on(const layout *l, const tamis_filter *filter, uint64_t *at,
                               unsigned i, unsigned home, uint64_t fingerprint) {
    for (; i < WAY && l->ops->full(&l->in.line, at); i++) {
        at = line_after(l, filter, at, home);
        if (l->ops->has(&l->in.line, at, home, fingerprint))
            return true;
    }
    return false;
}

/* Where keys are not in their first line alone. */
TAMIS_APART bool line_is_anywhere(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    const unsigned home = (unsigned)p.home;
    return l->ops->has(&l->in.line, p.at, home, p.fingerprint) ||
           (l->in.line.passes_on && line_is_further_on(l, filter, p.at, 1, home, p.fingerprint)) ||
           tamis_i_stash_copies(&filter->stash, digest) != 0;
}

/* As few instructions as can be: the processor runs ahead to the next query over some 250 of them. */
static bool line_contains(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = line_layout_of(filter);
    if (TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0 || l->in.line.passes_on))
        return line_is_anywhere(filter, digest);
    const place p = line_locate(l, filter, digest);
    return l->ops->has(&l->in.line, p.at, (unsigned)p.home, p.fingerprint);
}

/* The same in one function of the engine, where it has one, and lines do not pass on. */
static bool line_contains_digest(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = line_layout_of(filter);
    if (TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0))
        return line_is_anywhere(filter, digest);
    return l->ops->has_digest(&l->in, digest);
}

TAMIS_APART bool line_is_anywhere_word(const tamis_filter *filter, uint64_t key) {
    return line_is_anywhere(filter, tamis_i_hasher_word(&filter->hasher, key));
}

static bool line_contains_word(const tamis_lens *lens, uint64_t key) {
    const tamis_filter *const filter = lens->filter;
    const layout *const l = line_layout_of(filter);
    if (TAMIS_UNLIKELY(filter->state[TAMIS_I_STASH_USED] != 0))
        return line_is_anywhere_word(filter, key);
    return l->has_word(&l->in, key);
}

static uint64_t line_copies(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    return tamis_i_line_copies(&l->in.line, p.at, (unsigned)p.home, p.fingerprint) +
           tamis_i_stash_copies(&filter->stash, digest);
}

/* A place for a key that its line has refused.  If it is found there, it is one of a crowd with one
 * fingerprint, and the line may have room for it, or not: it must leave a quarter of the stash to keys of
 * full lines. */
static bool line_rescue(tamis_filter *filter, tamis_digest digest, uint64_t *at, bool found) {
    const layout *const l = line_layout_of(filter);
    if (found) {
        const place p = line_locate(l, filter, digest);
        tamis_i_line any = l->in.line;
        any.copies = UINT64_MAX;
        if (tamis_i_stash_insert_spare(&filter->stash, digest) == TAMIS_OK ||
            tamis_i_line_add(&any, at, (unsigned)p.home, p.fingerprint) & TAMIS_I_LINE_STORED)
            return true;
    }
    return tamis_i_stash_insert(&filter->stash, digest) == TAMIS_OK;
}

/* No key is passed on past its way, so no file may say that keys were, on average.  What merges pass on a
 * second time, and what is not counted again when it moves from the stash to a line, might add up to that. */
static uint64_t line_passes_within(uint64_t passes, uint64_t keys) {
    return passes / (WAY - 1) > keys ? (WAY - 1) * keys : passes;
}

/* A key of a set that a line has just taken though it is in the stash, because of a merge that left room in a
 * full line, or in a file that somebody wrote.  One copy leaves the stash, so that the count still fits. */
static void line_move_from_stash(tamis_filter *filter, tamis_digest digest) {
    uint64_t *const state = filter->state;
    (void)tamis_i_stash_remove(&filter->stash, digest);
    state[PASSES] = line_passes_within(state[PASSES], state[TAMIS_I_COUNT] + state[SPLITS]);
}

/* A key that its line, at 'at', has answered with 'result': into the stash, if it has no place yet. */
static tamis_status line_finish(tamis_filter *filter, tamis_digest digest, uint64_t *at,
                                unsigned result, bool *added) {
    const layout *const l = line_layout_of(filter);
    const bool found = result & TAMIS_I_LINE_FOUND;
    const bool fresh = !found && tamis_i_stash_copies(&filter->stash, digest) == 0;
    const bool stays = fresh || !line_is_set(&filter->params);
    if (!stays && (result & TAMIS_I_LINE_STORED) != 0)
        line_move_from_stash(filter, digest);
    if (stays && tamis_i_line_refused(&l->in.line, result) &&
        !line_rescue(filter, digest, at, found))
        return TAMIS_E_FULL;
    filter->state[TAMIS_I_COUNT] += stays;
    *added = fresh;
    return TAMIS_OK;
}

/* A key that its first line has refused: what the others of its way say. */
static unsigned line_pass_on(const layout *l, tamis_filter *filter, uint64_t *at, unsigned home,
                             uint64_t fingerprint) {
    unsigned result = 0;
    for (unsigned i = 1; i < WAY && result == 0; i++) {
        at = line_after(l, filter, at, home);
        result = l->ops->add_one(&l->in.line, at, home, fingerprint);
        filter->state[PASSES] += result / TAMIS_I_LINE_STORED * i;
    }
    return result;
}

/* A key that its line has not simply taken. */
TAMIS_APART tamis_status line_insert_anywhere(tamis_filter *filter, tamis_digest digest,
                                              unsigned result, bool *added) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    if (result == 0 && l->in.line.passes_on)
        result = line_pass_on(l, filter, p.at, (unsigned)p.home, p.fingerprint);
    return line_finish(filter, digest, p.at, result, added);
}

static tamis_status line_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    const unsigned result = l->ops->add_one(&l->in.line, p.at, (unsigned)p.home, p.fingerprint);
    if (TAMIS_UNLIKELY(result != TAMIS_I_LINE_STORED || filter->state[TAMIS_I_STASH_USED] != 0))
        return line_insert_anywhere(filter, digest, result, added);
    filter->state[TAMIS_I_COUNT]++;
    *added = true;
    return TAMIS_OK;
}

/* Is there room for an entry as long as those of its run, so that none is cut? */
static bool line_copy_is_free(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    tamis_i_line_view view;
    tamis_i_line_look(&l->in.line, p.at, (unsigned)p.home, &view);
    const unsigned length = view.r + (view.start < view.longs);
    return l->in.line.homes + view.n + 1 + view.bits + length <= l->in.line.top;
}

/* The key's line is at 'at'. */
static tamis_status line_remove_at(tamis_filter *filter, tamis_digest digest, uint64_t *at) {
    if (!tamis_i_stash_remove(&filter->stash, digest)) {
        const layout *const l = line_layout_of(filter);
        const place p = line_locate(l, filter, digest);
        if (!l->ops->drop_one(&l->in.line, at, (unsigned)p.home, p.fingerprint))
            return TAMIS_E_NOT_FOUND;
    }
    filter->state[TAMIS_I_COUNT]--;
    return TAMIS_OK;
}

static tamis_status line_remove_one(tamis_filter *filter, tamis_digest digest) {
    return line_remove_at(filter, digest, line_locate(line_layout_of(filter), filter, digest).at);
}

static void line_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const place p = line_locate(line_layout_of(filter), filter, digest);
    if (write)
        TAMIS_PREFETCH_RW(p.at);
    else
        TAMIS_PREFETCH(p.at);
}

/* One line, or those of the way up to the first that is not full. */
static bool line_touch(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    uint64_t *at = p.at;
    bool good = tamis_i_guard_words(filter, at, TAMIS_LINE_WORDS);
    for (unsigned i = 1; good && l->in.line.passes_on && i < WAY && l->ops->full(&l->in.line, at);
         i++) {
        at = line_after(l, filter, at, (unsigned)p.home);
        good = tamis_i_guard_words(filter, at, TAMIS_LINE_WORDS);
    }
    return good;
}

/* ---- groups ---- */

static inline tamis_i_line_keys *line_keys_of(const tamis_i_group *group) {
    return group->scratch;
}

/* Find out where the keys of 'next' are; returns those whose lines are to be fetched during the work on
 * 'now', as many as there are keys in it: those of 'now' itself if 'next' has not so many. */
static const tamis_i_line_keys *line_locate_next(const layout *l, const tamis_filter *filter,
                                                 const tamis_i_group *now,
                                                 const tamis_i_group *next) {
    l->ops->locate(&l->in.line, filter->table, l->in.lines, next->digests, next->n,
                   line_keys_of(next));
    if (next->n >= now->n && now->n != 0)
        return line_keys_of(next);
    for (size_t i = 0; i < next->n; i++)
        TAMIS_PREFETCH(line_keys_of(next)->at[i]);
    return line_keys_of(now);
}

/* The numbers of the keys of a group that are not found and whose first line is full.  No branches: one key
 * in six is one of them. */
static size_t line_not_answered(const tamis_i_group *group, uint8_t numbers[TAMIS_I_GROUP]) {
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++) {
        numbers[n] = (uint8_t)i;
        n += line_keys_of(group)->answer[i] / TAMIS_I_LINE_FULL;
    }
    return n;
}

/* The first lines of a group are looked at one group early, and where that does not answer, the second
 * lines are fetched. */
static void line_contains_ways(const tamis_filter *filter, const tamis_i_group *now,
                               const tamis_i_group *next, bool *present) {
    static const tamis_i_group none = {.n = 0};
    const layout *const l = line_layout_of(filter);
    const tamis_i_group *const before = next->before == NULL ? &none : next->before;
    const tamis_i_line_keys *const fetch = line_locate_next(l, filter, before, next);
    uint8_t numbers[TAMIS_I_GROUP] = {0};
    if (before->n != 0)
        l->ops->look(&l->in.line, line_keys_of(before), before->n, fetch,
                     line_keys_of(before)->answer);
    const size_t n_before = line_not_answered(before, numbers);
    for (size_t i = 0; i < n_before; i++) {
        tamis_i_line_keys *const k = line_keys_of(before);
        const size_t number = numbers[i];
        k->further[number] = line_after(l, filter, k->at[number], (unsigned)k->home[number]);
        TAMIS_PREFETCH(k->further[number]);
    }
    for (size_t i = 0; i < now->n; i++)
        present[i] = line_keys_of(now)->answer[i] & TAMIS_I_LINE_FOUND;
    const size_t n_now = line_not_answered(now, numbers);
    for (size_t i = 0; i < n_now; i++) {
        const tamis_i_line_keys *const k = line_keys_of(now);
        const size_t number = numbers[i];
        const unsigned home = (unsigned)k->home[number];
        present[number] =
            l->ops->has(&l->in.line, k->further[number], home, k->fingerprint[number]) ||
            line_is_further_on(l, filter, k->further[number], 2, home, k->fingerprint[number]);
    }
}

static void line_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                               const tamis_i_group *next, bool *present) {
    const layout *const l = line_layout_of(filter);
    if (l->in.line.passes_on)
        line_contains_ways(filter, now, next, present);
    else
        l->ops->find(&l->in.line, line_keys_of(now), now->n, line_locate_next(l, filter, now, next),
                     present);
    if (filter->state[TAMIS_I_STASH_USED] != 0)
        for (size_t i = 0; i < now->n; i++)
            present[i] = present[i] || tamis_i_stash_copies(&filter->stash, now->digests[i]) != 0;
}

/* Answers of the table for keys that it has taken, all of them, while the stash is empty: which are new.
 * Returns how many were stored. */
static uint64_t line_which_are_new(const uint8_t *results, size_t n, bool *added) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t stored = 0;
    size_t i = 0;
    for (uint64_t eight; i + sizeof eight <= n; i += sizeof eight) {
        memcpy(&eight, results + i, sizeof eight);
        stored += (eight / TAMIS_I_LINE_STORED & ones) * ones >> 56;
        eight = ~eight / TAMIS_I_LINE_FOUND & ones;
        memcpy(added + i, &eight, sizeof eight);
    }
    for (; i < n; i++) {
        added[i] = !(results[i] & TAMIS_I_LINE_FOUND);
        stored += results[i] / TAMIS_I_LINE_STORED;
    }
    return stored;
}

/* The table answers for keys up to one that it has no place for; the stash finishes these, and, while it has
 * keys, tells which of the others are new. */
static tamis_status line_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                     const tamis_i_group *next, bool *added, size_t *done) {
    const layout *const l = line_layout_of(filter);
    const tamis_i_line_keys *const fetch = line_locate_next(l, filter, now, next);
    uint8_t results[TAMIS_I_GROUP];
    *done = 0;
    for (size_t to = 0; to < now->n;) {
        to = l->ops->add(&l->in.line, line_keys_of(now), to, now->n, fetch, results);
        const size_t last = to - 1;
        if (results[last] == 0 && l->in.line.passes_on)
            results[last] = (uint8_t)line_pass_on(l, filter, line_keys_of(now)->at[last],
                                                  (unsigned)line_keys_of(now)->home[last],
                                                  line_keys_of(now)->fingerprint[last]);
        if (filter->state[TAMIS_I_STASH_USED] == 0 &&
            !tamis_i_line_refused(&l->in.line, results[last])) {
            filter->state[TAMIS_I_COUNT] +=
                line_which_are_new(results + *done, to - *done, added + *done);
            *done = to;
        }
        for (; *done < to; ++*done) {
            const tamis_status status =
                line_finish(filter, now->digests[*done], line_keys_of(now)->at[*done],
                            results[*done], &added[*done]);
            if (status != TAMIS_OK)
                return status;
        }
    }
    return TAMIS_OK;
}

static void line_remove_many(tamis_filter *filter, const tamis_i_group *now,
                             const tamis_i_group *next, bool *removed) {
    const layout *const l = line_layout_of(filter);
    const tamis_i_line_keys *const fetch = line_locate_next(l, filter, now, next);
    if (filter->state[TAMIS_I_STASH_USED] == 0) {
        l->ops->drop(&l->in.line, line_keys_of(now), now->n, fetch, removed);
        filter->state[TAMIS_I_COUNT] -= tamis_i_group_sum(removed, now->n);
        return;
    }
    for (size_t i = 0; i < now->n; i++) {
        TAMIS_PREFETCH_RW(fetch->at[i]);
        removed[i] = line_remove_one(filter, now->digests[i]) == TAMIS_OK;
    }
}

/* ---- whole filters ---- */

/* A union in the making, and how its state changes. */
typedef struct joined {
    const tamis_filter *filter;
    uint64_t *table;
    uint64_t passes, splits;
} joined;

typedef enum placed { PLACED, TOO_SHORT, NO_ROOM } placed;

/* Put an entry of line 'at' into the first line further on its way that takes one: TOO_SHORT if the
 * fingerprints there are longer. */
static placed line_place_further_on(joined *j, uint64_t at, const tamis_i_line_entry *e) {
    const layout *const l = line_layout_of(j->filter);
    uint64_t *words = j->filter->table + at;
    for (unsigned i = 1; i < WAY; i++) {
        words = line_after(l, j->filter, words, e->home);
        uint64_t *const further = j->table + (words - j->filter->table);
        if (tamis_i_line_covers(&l->in.line, further, e))
            return PLACED;
        if (tamis_i_line_full(&l->in.line, further))
            continue;
        if (tamis_i_line_longest(&l->in.line, further) > e->bits)
            return TOO_SHORT;
        const unsigned result = tamis_i_line_add(&l->in.line, further, e->home, e->fingerprint);
        j->passes += result / TAMIS_I_LINE_STORED * i;
        return result != 0 ? PLACED : NO_ROOM;
    }
    return NO_ROOM;
}

/* Put an entry of line 'at' further on.  For one that is too short two take its place, with a 0 and with a 1
 * for the next bit: together they match the same keys.  Of each length one entry waits at most, and
 * of the longest one more.  False if there is no room, or if MISSING bits are not enough. */
static bool line_entry_further_on(joined *j, uint64_t at, const tamis_i_line_entry *e) {
    tamis_i_line_entry waiting[MISSING + 1] = {*e};
    for (unsigned n = 1; n > 0;) {
        tamis_i_line_entry *const top = &waiting[n - 1];
        const placed result = line_place_further_on(j, at, top);
        if (result == NO_ROOM || (result == TOO_SHORT && top->bits == e->bits + MISSING))
            return false;
        if (result == PLACED) {
            n--;
            continue;
        }
        top->bits++;
        waiting[n] = *top; /* the one with the 0 is next */
        top->fingerprint |= (uint64_t)1 << (64 - top->bits);
        n++;
        j->splits++;
    }
    return true;
}

/* What a full line of the union has left out of one of its parts goes on. */
static bool line_rest_further_on(joined *j, const tamis_filter *part, uint64_t at) {
    const layout *const l = line_layout_of(j->filter);
    tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES];
    const unsigned n = tamis_i_line_list(&l->in.line, part->table + at, entries);
    for (unsigned i = 0; i < n; i++)
        if (!tamis_i_line_covers(&l->in.line, j->table + at, &entries[i]) &&
            !line_entry_further_on(j, at, &entries[i]))
            return false;
    return true;
}

/* As merge, of lines that pass on: in a copy, since no line alone tells whether all fits. */
static tamis_status line_merge_ways(tamis_filter *filter, const tamis_filter *source) {
    const tamis_i_line *const line = &line_layout_of(filter)->in.line;
    const size_t size = (size_t)filter->n_table * sizeof(uint64_t);
    joined j = {.filter = filter,
                .table = tamis_i_alloc(&filter->allocator, size),
                .passes = filter->state[PASSES] + source->state[PASSES],
                .splits = filter->state[SPLITS] + source->state[SPLITS]};
    bool fits = true;
    if (j.table == NULL)
        return TAMIS_E_NOMEM;
    memcpy(j.table, filter->table, size);
    for (uint64_t at = 0; fits && at < filter->n_table; at += TAMIS_LINE_WORDS)
        fits = tamis_i_line_merge(line, j.table + at, source->table + at, true);
    for (uint64_t at = 0; fits && at < filter->n_table; at += TAMIS_LINE_WORDS)
        if (tamis_i_line_full(line, j.table + at))
            fits = line_rest_further_on(&j, filter, at) && line_rest_further_on(&j, source, at);
    if (fits) {
        memcpy(filter->table, j.table, size);
        /* A file may claim as many as a check lets in: the sum of two claims must be let in, too. */
        const uint64_t splits = j.splits < TAMIS_I_COUNT_MAX ? j.splits : TAMIS_I_COUNT_MAX;
        filter->state[PASSES] = line_passes_within(
            j.passes, filter->state[TAMIS_I_COUNT] + source->state[TAMIS_I_COUNT] + splits);
        filter->state[SPLITS] = splits;
    }
    tamis_i_free(&filter->allocator, j.table, size);
    return fits ? TAMIS_OK : TAMIS_E_FULL;
}

/* Lines of equal number, home by home.  Two passes: whether all fits, then the change. */
static tamis_status line_merge(tamis_filter *filter, const tamis_filter *source) {
    const layout *const l = line_layout_of(filter);
    if (l->in.line.passes_on)
        return line_merge_ways(filter, source);
    for (unsigned write = 0; write < 2; write++)
        for (uint64_t at = 0; at < filter->n_table; at += TAMIS_LINE_WORDS)
            if (!tamis_i_line_merge(&l->in.line, filter->table + at, source->table + at,
                                    write != 0))
                return TAMIS_E_FULL;
    return TAMIS_OK;
}

/* The probability that a home of the line, drawn at random, has the fingerprint of an absent key: that of
 * each of its fingerprints, equal ones once. */
static double line_rate(const layout *l, const tamis_i_line_entry *entries, unsigned n) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        bool again = false;
        for (unsigned j = i; j-- > 0 && entries[j].home == entries[i].home;)
            again = again || entries[j].fingerprint == entries[i].fingerprint;
        if (!again)
            sum += 1 / (double)((uint64_t)1 << entries[i].bits);
    }
    return sum / (double)l->in.line.homes;
}

/* With f the share of full lines, queries look at 1 / (1 - f) lines, and an entry that was passed on is met
 * by those, too, that begin in the lines that it has gone past. */
static void line_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const layout *const l = line_layout_of(filter);
    const double passes = (double)filter->state[PASSES];
    const double lines = tamis_i_slice_size(slice, l->in.lines);
    double sum = 0, full = 0;
    info->n_loads = (size_t)(l->in.line.most / LOADS + 1);
    const uint64_t end = tamis_i_slice_end(slice, l->in.lines);
    for (uint64_t i = tamis_i_slice_from(slice, l->in.lines); i < end; i++) {
        tamis_i_line_entry entries[TAMIS_I_LINE_ENTRIES];
        const uint64_t *const words = filter->table + i * TAMIS_LINE_WORDS;
        const unsigned n = tamis_i_line_list(&l->in.line, words, entries);
        const double rate = line_rate(l, entries, n);
        info->load_histogram[n / LOADS]++;
        sum += rate;
        full += l->in.line.passes_on && n == l->in.line.most ? 1 - rate : 0;
    }
    info->fpr = sum / lines;
    if (l->in.line.passes_on && filter->state[TAMIS_I_COUNT] != 0) {
        const double passed = passes / (double)filter->state[TAMIS_I_COUNT];
        info->reads_per_query = 1 / fmax(1 - full / lines, 1.0 / WAY);
        info->reads_per_insert = 1 + passed;
        info->fpr = fmin(sum / lines * (info->reads_per_query + passed), 1);
    }
}

static bool line_check_lines(const tamis_filter *filter, uint64_t from, uint64_t end,
                             const char **reason) {
    const tamis_i_line *const line = &line_layout_of(filter)->in.line;
    for (; from < end; from += TAMIS_LINE_WORDS)
        if (!tamis_i_line_check(line, filter->table + from, reason))
            return false;
    return true;
}

/* A set may count keys that two sets had in common twice. */
static bool line_check(const tamis_filter *filter, const char **reason) {
    const layout *const l = line_layout_of(filter);
    const uint64_t count = filter->state[TAMIS_I_COUNT];
    const uint64_t passes = filter->state[PASSES], splits = filter->state[SPLITS];
    uint64_t keys = 0, at = 0, line_copies;
    tamis_digest digest;
    for (uint64_t i = 0; i < filter->n_table; i += TAMIS_LINE_WORDS) {
        tamis_i_line_view view;
        if (!tamis_i_line_check(&l->in.line, filter->table + i, reason))
            return false;
        tamis_i_line_look(&l->in.line, filter->table + i, 0, &view);
        keys += view.n;
    }
    if (splits > TAMIS_I_COUNT_MAX || passes / (WAY - 1) > count + splits ||
        (!l->in.line.passes_on && (passes | splits) != 0)) {
        *reason = "keys were passed on farther than possible";
        return false;
    }
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &line_copies))
        keys += line_copies;
    const bool right = line_is_set(&filter->params)
                           ? keys <= count + splits && (keys == 0) == (count == 0)
                           : keys == count;
    if (!right)
        *reason = "the lines do not hold as many keys as the filter claims";
    return right;
}

/* ---- a line by itself, for threads that share the set ---- */

static bool line_alone_can(const tamis_params *params) {
    return !line_is_set(params) || params->value[TAMIS_LINE_LIMIT] == 0;
}

static bool line_alone_has(const tamis_filter *filter, tamis_digest digest, const uint64_t *line) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    return l->ops->has(&l->in.line, line, (unsigned)p.home, p.fingerprint);
}

static uint64_t line_alone_copies(const tamis_filter *filter, tamis_digest digest,
                                  const uint64_t *line) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    return line_is_set(&filter->params)
               ? l->ops->has(&l->in.line, line, (unsigned)p.home, p.fingerprint)
               : tamis_i_line_copies(&l->in.line, line, (unsigned)p.home, p.fingerprint);
}

static tamis_status line_alone_insert(tamis_filter *filter, tamis_digest digest, uint64_t *line,
                                      bool *added) {
    const layout *const l = line_layout_of(filter);
    const place p = line_locate(l, filter, digest);
    const unsigned result = l->ops->add_one(&l->in.line, line, (unsigned)p.home, p.fingerprint);
    if (TAMIS_UNLIKELY(result != TAMIS_I_LINE_STORED || filter->state[TAMIS_I_STASH_USED] != 0))
        return line_finish(filter, digest, line, result, added);
    filter->state[TAMIS_I_COUNT]++;
    *added = true;
    return TAMIS_OK;
}

static void line_alone_places(const tamis_i_group *group, uint64_t **lines, bool put) {
    if (put)
        memcpy(line_keys_of(group)->at, lines, group->n * sizeof *lines);
    else
        memcpy(lines, line_keys_of(group)->at, group->n * sizeof *lines);
}

static const tamis_i_line_alone line_alone = {.can = line_alone_can,
                                              .has = line_alone_has,
                                              .copies = line_alone_copies,
                                              .insert = line_alone_insert,
                                              .remove = line_remove_at,
                                              .places = line_alone_places};

const tamis_i_kind tamis_i_line_kind = {.id = TAMIS_KIND_LINE,
                                        .name = "line",
                                        .lens = true,
                                        .scratch = sizeof(tamis_i_line_keys),
                                        .abilities =
                                            TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT | TAMIS_CAN_MERGE,
                                        .params = {"lines", "homes", "bits_max", "copies"},
                                        .shape = line_shape,
                                        .attach = line_attach,
                                        .insert = line_insert,
                                        .contains = line_contains,
                                        .remove = line_remove_one,
                                        .copies = line_copies,
                                        .prefetch = line_prefetch,
                                        .touch = line_touch,
                                        .check_lines = line_check_lines,
                                        .contains_many = line_contains_many,
                                        .insert_many = line_insert_many,
                                        .remove_many = line_remove_many,
                                        .merge = line_merge,
                                        .info = line_info,
                                        .check = line_check,
                                        .copy_is_free = line_copy_is_free,
                                        .line_alone = &line_alone};

const tamis_i_kind tamis_i_line_set_kind = {.id = TAMIS_KIND_LINE_SET,
                                            .name = "line-set",
                                            .lens = true,
                                            .abilities = TAMIS_CAN_MERGE,
                                            .scratch = sizeof(tamis_i_line_keys),
                                            .params = {"lines", "homes", "bits_max", "limit"},
                                            .shape = line_shape,
                                            .attach = line_attach,
                                            .insert = line_insert,
                                            .contains = line_contains,
                                            .prefetch = line_prefetch,
                                            .touch = line_touch,
                                            .check_lines = line_check_lines,
                                            .contains_many = line_contains_many,
                                            .insert_many = line_insert_many,
                                            .merge = line_merge,
                                            .info = line_info,
                                            .check = line_check,
                                            .n_state = 2,
                                            .line_alone = &line_alone};
