/* rank.c - rank-indexed filter, plain and counting
 *
 * A key has one bucket, one home in it and one fingerprint, three numbers drawn from its digest; together
 * they are its fingerprint f.  The bucket keeps the fingerprints of each home as a chain without links
 * (bits/rank_bucket.h).  A bucket that runs out of slots takes an extension from a pool, and a second, larger
 * one from another pool when that is full; it gives them back as soon as they are not needed.  A key for
 * which there is no slot goes to the stash.
 *
 * Both kinds are multisets.  'rank' keeps a slot for every copy: equal fingerprints are stored again, since
 * two keys may share one, and a removal takes one of them away.  'rank-counting' keeps a counter in
 * each slot, of copies beyond the first, and uses a new slot when it is full.
 *
 * What may stand where.  m(x) is the number of copies of key x that are in the filter, S(x) how many of
 * them are in the stash, which keeps whole digests, and T(f) the number of copies in the slots of f, that
 * is in the chain of its home, with its fingerprint.  After every call
 *
 *   K1  S(x) <= m(x) for every key x;
 *   K2  T(f) is the sum of m(x) - S(x) over the keys x of f, unless T(f) is COPIES (see below).
 *
 *   query   T(f) + S(x) > 0.  If m(x) > 0, then S(x) > 0, or T(f) >= m(x) > 0 by K2 and K1.
 *   insert  raises T(f), or else S(x), by one.
 *   remove  lowers S(x) if it is not 0, else T(f).  If m(x) > 0 and S(x) = 0 then T(f) > 0 by K2, so there
 *           is something to lower.  Not the other way round: lowering T(f) while x is in the stash takes
 *           away the copy of another key of f, and leaves one of x behind (S(x) > m(x)).  Which slot of
 *           f is lowered makes no difference to any answer, since answers depend on T(f) alone.
 *
 * One key inserted again and again must not use up its bucket, the extensions and the stash.  T(f) = COPIES
 * is saturated: f is neither raised nor lowered any more.  Its keys may stay for ever, which costs false
 * positives, but none is lost.  'info' tells how many there are.  Short of COPIES all numbers are exact.
 *
 * Free extensions are a list through the extensions themselves; those that were never used lie behind
 * them, so that a table of zeros is an empty one:
 *
 *      [ used | free | used | free ... ][ never used ... ]
 *                 ^                      ^
 *                 HEAD + 1, 0: none      FRESH
 *
 * After Hua, Zhao, Lin and Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom Filters and
 * Variants", ICNP 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/rank.h"

#include "bits/stream.h"
#include "filter/guard.h"
#include "filter/native.h"
#include "hash/hash.h"

#include <math.h>

#define BUCKETS_MAX ((uint64_t)1 << 38)
#define COPIES      16u /* or the largest number that one counter can hold, if that is more */
#define ALL_SLOTS   (TAMIS_I_RANK_PIECES * TAMIS_I_RANK_SLOTS)

/* No chain is longer, which bounds the time of every call, also on a file that somebody made on purpose.  The
 * planner's buckets have fewer slots than that, and so have the defaults; in larger ones a key for which
 * its chain has no slot goes to the stash. */
#define CHAIN_MAX 256u

/* Words of the state, for extensions p = 1 and 2. */
#define HEAD(p)  (TAMIS_I_STATE_OWN + 2 * ((p)-1))
#define FRESH(p) (TAMIS_I_STATE_OWN + 2 * ((p)-1) + 1)
#define N_STATE  4u

typedef tamis_i_rank_layout layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");
_Static_assert(sizeof(tamis_i_rank_keys) <= TAMIS_I_SCRATCH_MAX, "the scratch is too small");
_Static_assert(TAMIS_RANK_VALUE_BITS == TAMIS_RANK_COUNTER_BITS, "one parameter, two meanings");

static const layout *rank_layout_of(const tamis_filter *filter) {
    return tamis_i_rank_layout_of(filter);
}

/* ---- shape ---- */

static uint64_t rank_root(uint64_t x) {
    return (uint64_t)ceil(sqrt((double)x));
}

static uint64_t rank_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void rank_set_default(uint64_t *value, uint64_t is) {
    *value = *value == 0 ? is : *value;
}

/* 0.64 keys per home, 41 per bucket, as Table II has it for an error rate of 1 %.  12 % of the buckets hold
 * more than 48 keys and 0.2 % more than 60; the roots are six standard deviations and more. */
static void rank_set_defaults(tamis_params *params) {
    uint64_t *const v = params->value;
    rank_set_default(&v[TAMIS_RANK_HOMES], 64);
    const uint64_t homes = v[TAMIS_RANK_HOMES], keys = (homes * 16 + 24) / 25;
    const uint64_t buckets = params->capacity / keys + (params->capacity % keys != 0);
    v[TAMIS_RANK_BUCKETS] = buckets;
    v[TAMIS_RANK_SLOTS] = keys + rank_root(keys);
    v[TAMIS_RANK_SLOTS_2] = 2 * rank_root(keys);
    v[TAMIS_RANK_SLOTS_3] = 48 + 4 * rank_root(keys);
    v[TAMIS_RANK_EXTENSIONS_2] = rank_least(buckets, buckets / 4 + 3 * rank_root(buckets));
    v[TAMIS_RANK_EXTENSIONS_3] = rank_least(buckets, buckets / 64 + rank_root(buckets));
}

/* The layout of complete parameters; false if they are out of range. */
static bool rank_of(const tamis_params *params, tamis_i_rank_bucket *rank) {
    const uint64_t *const v = params->value;
    const uint64_t extra = v[TAMIS_RANK_VALUE_BITS];
    /* Of large tables a compact form, which has a bit for each home, must not promise too much. */
    for (unsigned i = TAMIS_RANK_SLOTS; i <= TAMIS_RANK_SLOTS_3; i++)
        if (v[TAMIS_RANK_BUCKETS] > 1024 && v[i] > 8 * v[TAMIS_RANK_HOMES])
            return false;
    if (extra > 8 || v[TAMIS_RANK_FINGERPRINT_BITS] > 56 || v[TAMIS_RANK_BUCKETS] > BUCKETS_MAX)
        return false;
    *rank = (tamis_i_rank_bucket){
        .homes = v[TAMIS_RANK_HOMES],
        .fingerprint_bits = v[TAMIS_RANK_FINGERPRINT_BITS],
        .count_bits = params->kind == TAMIS_KIND_RANK_COUNTING ? extra : 0,
        .slot_bits = v[TAMIS_RANK_FINGERPRINT_BITS] + extra,
        .n = {v[TAMIS_RANK_BUCKETS], v[TAMIS_RANK_EXTENSIONS_2], v[TAMIS_RANK_EXTENSIONS_3]},
        .slots = {v[TAMIS_RANK_SLOTS], v[TAMIS_RANK_SLOTS_2], v[TAMIS_RANK_SLOTS_3]}};
    return tamis_i_rank_init(rank);
}

static tamis_status rank_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const v = params->value;
    if (v[TAMIS_RANK_BUCKETS] == 0) {
        for (unsigned i = TAMIS_RANK_SLOTS; i <= TAMIS_RANK_EXTENSIONS_3; i++)
            if (v[i] != 0)
                return TAMIS_E_ARGUMENT;
        if (v[TAMIS_RANK_HOMES] > 64)
            return TAMIS_E_ARGUMENT;
        rank_set_defaults(params);
    }
    rank_set_default(&v[TAMIS_RANK_FINGERPRINT_BITS], 6);
    rank_set_default(&params->stash, 16 + params->capacity / 16384);
    if (params->kind == TAMIS_KIND_RANK_COUNTING)
        rank_set_default(&v[TAMIS_RANK_COUNTER_BITS], 2);
    tamis_i_rank_bucket rank;
    if (!rank_of(params, &rank))
        return TAMIS_E_ARGUMENT;
    /* One bit more than a word, which readers may touch. */
    const uint64_t lines = rank.bits / (64 * TAMIS_LINE_WORDS) + 1;
    const uint64_t rest = rank.bits % (64 * TAMIS_LINE_WORDS);
    *n_table = (lines + (rest > 64 * (TAMIS_LINE_WORDS - 1))) * TAMIS_LINE_WORDS;
    return TAMIS_OK;
}

static void rank_attach(tamis_filter *filter) {
    layout l = {.ops = tamis_i_rank_bucket_ops_for(filter->features)};
    const bool valid = rank_of(&filter->params, &l.rank);
    TAMIS_ASSERT(valid);
    (void)valid;
    const uint64_t counter = (uint64_t)1 << l.rank.count_bits;
    l.copies_max = counter > COPIES ? counter : COPIES;
    l.near = l.rank.slots[0] < 64 ? l.rank.slots[0] : 64;
    memcpy(filter->geometry, &l, sizeof l);
    if (filter->params.kind == TAMIS_KIND_RANK)
        TAMIS_I_NATIVE_RANK(filter);
}

/* ---- fingerprints ---- */

typedef struct fingerprint {
    uint64_t bucket;
    unsigned home;
    uint64_t fingerprint;
} fingerprint;

static inline fingerprint rank_fingerprint_of(const layout *l, tamis_digest digest) {
    uint64_t word = digest.lo;
    fingerprint p;
    p.bucket = tamis_i_take(&word, l->rank.n[0]);
    p.home = (unsigned)tamis_i_take(&word, l->rank.homes);
    p.fingerprint = digest.hi & l->rank.fingerprint_mask;
    return p;
}

static void rank_look(const tamis_filter *filter, tamis_digest digest, tamis_i_rank_view *view) {
    const layout *const l = rank_layout_of(filter);
    const fingerprint p = rank_fingerprint_of(l, digest);
    l->ops->look(&l->rank, filter->table, p.bucket, p.home, p.fingerprint, view);
}

/* ---- pools of extensions ---- */

static bool rank_pool_take(tamis_filter *filter, unsigned kind, uint64_t *number) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    uint64_t *const head = &filter->state[HEAD(kind)], *const fresh = &filter->state[FRESH(kind)];
    const unsigned bits = (unsigned)c->link_bits[kind - 1];
    if (*head != 0) {
        *number = *head - 1;
        const uint64_t at = tamis_i_rank_piece(c, kind, *number);
        *head = tamis_i_field_get(filter->table, at + 1, bits);
        tamis_i_field_put(filter->table, at + 1, bits, 0);
        if (*head > *fresh) /* no calls have made this: the list ends here */
            *head = 0;
    } else if (*fresh < c->n[kind]) {
        *number = (*fresh)++;
    } else {
        return false;
    }
    tamis_i_bit_set(filter->table, tamis_i_rank_piece(c, kind, *number));
    return true;
}

/* Give back an extension whose slots are empty. */
static void rank_pool_give(tamis_filter *filter, unsigned kind, uint64_t number) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    const uint64_t at = tamis_i_rank_piece(c, kind, number);
    filter->table[at / 64] &= ~((uint64_t)1 << at % 64);
    tamis_i_field_put(filter->table, at + 1, (unsigned)c->link_bits[kind - 1],
                      filter->state[HEAD(kind)]);
    filter->state[HEAD(kind)] = number + 1;
}

/* Make room for one slot more in a bucket that has been looked at; false if there is none. */
static bool rank_extend(tamis_filter *filter, tamis_i_rank_view *view) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    const unsigned kind = view->pieces;
    if (view->load < c->first[kind])
        return true;
    if (kind == TAMIS_I_RANK_PIECES || c->n[kind] == 0 ||
        !rank_pool_take(filter, kind, &view->number[kind]))
        return false;
    tamis_i_rank_set_link(c, filter->table, kind - 1, view->number[kind - 1],
                          view->number[kind] + 1);
    view->at[kind] = tamis_i_rank_piece(c, kind, view->number[kind]);
    view->pieces++;
    return true;
}

/* Give back what a bucket does not need, after its load has gone down to 'load'. */
static void rank_shrink(tamis_filter *filter, const tamis_i_rank_view *view, unsigned load) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    for (unsigned kind = view->pieces - 1; kind > 0 && load <= c->first[kind]; kind--) {
        tamis_i_rank_set_link(c, filter->table, kind - 1, view->number[kind - 1], 0);
        rank_pool_give(filter, kind, view->number[kind]);
    }
}

/* ---- one key ---- */

static bool rank_contains(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = rank_layout_of(filter);
    const fingerprint p = rank_fingerprint_of(l, digest);
    return l->ops->find(&l->rank, filter->table, p.bucket, p.home, p.fingerprint) ||
           tamis_i_stash_copies(&filter->stash, digest) != 0;
}

static uint64_t rank_copies(const tamis_filter *filter, tamis_digest digest) {
    tamis_i_rank_view view;
    rank_look(filter, digest, &view);
    return view.copies + tamis_i_stash_copies(&filter->stash, digest);
}

static uint64_t rank_counter_one(const tamis_i_rank_bucket *c) {
    return (uint64_t)1 << (c->slot_bits - c->count_bits);
}

/* Raise T(f) by one, in a slot with this value.  False if there is no room. */
static bool rank_raise(tamis_filter *filter, tamis_digest digest, uint64_t value,
                       tamis_i_rank_view *view) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    const fingerprint p = rank_fingerprint_of(l, digest);
    const uint64_t most = tamis_i_low_mask((unsigned)c->count_bits);
    if (view->copies >= l->copies_max) /* saturated */
        return true;
    if (view->copies > 0 && most != 0 && view->slot >> (c->slot_bits - c->count_bits) < most) {
        tamis_i_rank_set_slot(c, filter->table, view, view->match,
                              view->slot + rank_counter_one(c));
        return true;
    }
    if (view->length >= CHAIN_MAX || !rank_extend(filter, view))
        return false;
    l->ops->add(c, filter->table, view, p.fingerprint | value << c->fingerprint_bits);
    return true;
}

/* What look and raise do, at once if it is that simple. */
static tamis_status rank_insert_at(tamis_filter *filter, tamis_digest digest, uint64_t at,
                                   fingerprint p, bool *added) {
    const layout *const l = rank_layout_of(filter);
    if (TAMIS_LIKELY(l->rank.slots[0] <= CHAIN_MAX &&
                     l->ops->add_new(&l->rank, filter->table, at, p.home, p.fingerprint))) {
        *added = tamis_i_stash_copies(&filter->stash, digest) == 0;
    } else {
        tamis_i_rank_view view;
        rank_look(filter, digest, &view);
        const bool fresh = view.copies == 0 && tamis_i_stash_copies(&filter->stash, digest) == 0;
        if (!rank_raise(filter, digest, 0, &view)) {
            const tamis_status status = tamis_i_stash_insert(&filter->stash, digest);
            if (status != TAMIS_OK)
                return status;
        }
        *added = fresh;
    }
    filter->state[TAMIS_I_COUNT]++;
    return TAMIS_OK;
}

static tamis_status rank_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const layout *const l = rank_layout_of(filter);
    const fingerprint p = rank_fingerprint_of(l, digest);
    return rank_insert_at(filter, digest, tamis_i_rank_piece(&l->rank, 0, p.bucket), p, added);
}

/* Lower T(f); false if it is 0. */
static bool rank_lower(tamis_filter *filter, tamis_digest digest, uint64_t at, fingerprint p) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    if (TAMIS_LIKELY(l->ops->drop_only(c, filter->table, at, p.home, p.fingerprint)))
        return true;
    tamis_i_rank_view view;
    rank_look(filter, digest, &view);
    if (view.copies == 0)
        return false;
    if (view.copies >= l->copies_max) {
        /* saturated: it stays */
    } else if (c->count_bits != 0 && view.slot >> (c->slot_bits - c->count_bits) != 0) {
        tamis_i_rank_set_slot(c, filter->table, &view, view.match, view.slot - rank_counter_one(c));
    } else {
        l->ops->drop(c, filter->table, &view);
        rank_shrink(filter, &view, view.load - 1);
    }
    return true;
}

static inline tamis_status rank_remove_at(tamis_filter *filter, tamis_digest digest, uint64_t at,
                                          fingerprint p) {
    if (!tamis_i_stash_remove(&filter->stash, digest) && !rank_lower(filter, digest, at, p))
        return TAMIS_E_NOT_FOUND;
    /* Keys of a saturated fingerprint seem to be there after all have left. */
    filter->state[TAMIS_I_COUNT] -= filter->state[TAMIS_I_COUNT] != 0;
    return TAMIS_OK;
}

static tamis_status rank_remove_one(tamis_filter *filter, tamis_digest digest) {
    const layout *const l = rank_layout_of(filter);
    const fingerprint p = rank_fingerprint_of(l, digest);
    return rank_remove_at(filter, digest, tamis_i_rank_piece(&l->rank, 0, p.bucket), p);
}

/* ---- values ---- */

static unsigned rank_value_bits(const tamis_filter *filter) {
    return (unsigned)filter->params.value[TAMIS_RANK_VALUE_BITS];
}

static tamis_status rank_insert_value(tamis_filter *filter, tamis_digest digest, unsigned value,
                                      bool *added) {
    if (value == 0) /* which is also what a key in the stash has */
        return rank_insert(filter, digest, added);
    tamis_i_rank_view view;
    rank_look(filter, digest, &view);
    const bool fresh = view.copies == 0 && tamis_i_stash_copies(&filter->stash, digest) == 0;
    if (!rank_raise(filter, digest, value, &view))
        return TAMIS_E_FULL;
    filter->state[TAMIS_I_COUNT]++;
    *added = fresh;
    return TAMIS_OK;
}

/* A key in the stash is known exactly, and has the value 0. */
static tamis_status rank_lookup_value(const tamis_filter *filter, tamis_digest digest,
                                      unsigned *value) {
    const layout *const l = rank_layout_of(filter);
    tamis_i_rank_view view;
    if (tamis_i_stash_copies(&filter->stash, digest) != 0) {
        *value = 0;
        return TAMIS_OK;
    }
    rank_look(filter, digest, &view);
    if (view.copies == 0)
        return TAMIS_E_NOT_FOUND;
    *value = (unsigned)(view.slot >> l->rank.fingerprint_bits);
    return TAMIS_OK;
}

/* Could T(f) be raised n times, exactly? */
static bool rank_has_room(const tamis_filter *filter, const tamis_i_rank_view *view, uint64_t n) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    unsigned pieces = view->pieces;
    while (view->load + n > c->first[pieces] && pieces < TAMIS_I_RANK_PIECES &&
           (filter->state[HEAD(pieces)] != 0 || filter->state[FRESH(pieces)] < c->n[pieces]))
        pieces++;
    return view->load + n <= c->first[pieces] && view->length + n <= CHAIN_MAX &&
           view->copies + n <= l->copies_max;
}

/* Of a key in the stash, all copies move to slots: as long as one is left there, the value is 0. */
static tamis_status rank_update_value(tamis_filter *filter, tamis_digest digest, unsigned value) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    const uint64_t mask = tamis_i_low_mask((unsigned)c->fingerprint_bits);
    const uint64_t in_stash = tamis_i_stash_copies(&filter->stash, digest);
    tamis_i_rank_view view;
    rank_look(filter, digest, &view);
    if (in_stash != 0) {
        if (value == 0)
            return TAMIS_OK;
        if (!rank_has_room(filter, &view, in_stash))
            return TAMIS_E_FULL;
        for (uint64_t i = 0; i < in_stash; i++) {
            const bool raised = rank_raise(filter, digest, value, &view);
            TAMIS_ASSERT(raised);
            (void)raised;
            (void)tamis_i_stash_remove(&filter->stash, digest);
            rank_look(filter, digest, &view);
        }
    }
    if (view.copies == 0)
        return TAMIS_E_NOT_FOUND;
    tamis_i_rank_set_slot(c, filter->table, &view, view.match,
                          (view.slot & mask) | (uint64_t)value << c->fingerprint_bits);
    return TAMIS_OK;
}

/* The bucket, and the extensions that it has. */
static bool rank_touch(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    uint64_t link = rank_fingerprint_of(rank_layout_of(filter), digest).bucket + 1;
    for (unsigned kind = 0; kind < TAMIS_I_RANK_PIECES && link != 0 && link <= c->n[kind]; kind++) {
        const uint64_t at = tamis_i_rank_piece(c, kind, link - 1);
        const uint64_t last = (at + c->stride[kind] - 1) / 64;
        if (!tamis_i_guard_words(filter, filter->table + at / 64, last - at / 64 + 1))
            return false;
        link = tamis_i_rank_link(c, filter->table, kind, link - 1);
    }
    return true;
}

/* ---- batches ---- */

/* All lines of the bucket.  How many these are depends on where it begins; a line fetched twice costs less
 * than to find out. */
TAMIS_INLINE void rank_fetch_all(const layout *l, const uint64_t *table, uint64_t at) {
    const uint64_t line = (uint64_t)64 * TAMIS_LINE_WORDS, bits = l->rank.stride[0];
    for (uint64_t bit = 0; bit < bits; bit += line)
        TAMIS_PREFETCH(table + (at + bit) / 64);
    TAMIS_PREFETCH(table + (at + bits - 1) / 64);
}

/* A line that no other processor holds can be written once it is there. */
static void rank_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    const layout *const l = rank_layout_of(filter);
    uint64_t word = digest.lo;
    (void)write;
    rank_fetch_all(l, filter->table, tamis_i_take(&word, l->rank.n[0]) * l->rank.stride[0]);
}

static inline tamis_i_rank_keys *rank_keys_of(const tamis_i_group *group) {
    return group->scratch;
}

/* What the keys of the next group ask for; the three groups of this turn. */
static tamis_i_rank_turns rank_turns_of(const layout *l, const tamis_i_group *now,
                                        const tamis_i_group *next) {
    l->ops->locate(&l->rank, next->digests, next->n, rank_keys_of(next));
    const tamis_i_group *const before = next->before;
    return (tamis_i_rank_turns){.now = rank_keys_of(now),
                                .before = before == NULL ? NULL : rank_keys_of(before),
                                .next = rank_keys_of(next),
                                .n_now = now->n,
                                .n_before = before == NULL ? 0 : before->n,
                                .n_next = next->n};
}

static void rank_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                               const tamis_i_group *next, bool *present) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_turns turns = rank_turns_of(l, now, next);
    l->ops->find_many(&l->rank, filter->table, &turns, present);
    if (filter->state[TAMIS_I_STASH_USED] != 0)
        for (size_t i = 0; i < now->n; i++)
            present[i] = present[i] || tamis_i_stash_copies(&filter->stash, now->digests[i]) != 0;
}

/* Groups that change buckets: the lines of one are fetched, and the extensions of the next.  A third of the
 * buckets have one, so that this must do without a branch. */
TAMIS_INLINE void rank_fetch_turn(const layout *l, const uint64_t *table,
                                  const tamis_i_rank_turns *turns, size_t i) {
    const tamis_i_rank_bucket *const c = &l->rank;
    if (i < turns->n_next)
        rank_fetch_all(l, table, turns->next->at[i]);
    if (i < turns->n_before && c->link_bits[0] != 0) {
        const uint64_t at = turns->before->at[i], where = at + c->link_at[0];
        const uint64_t bits = table[where / 64] >> where % 64 | table[where / 64 + 1]
                                                                    << 1 << (63 - where % 64);
        const uint64_t number = (bits & tamis_i_low_mask((unsigned)c->link_bits[0])) - 1;
        const uint64_t away = tamis_i_rank_piece(c, 1, number) - at;
        const uint64_t to = at + (away & -(uint64_t)(number < c->n[1]));
        TAMIS_PREFETCH(table + to / 64);
        TAMIS_PREFETCH(table + (to + c->stride[1] - 1) / 64);
    }
}

static inline fingerprint rank_print_number(const tamis_i_rank_keys *keys, size_t i) {
    return (fingerprint){.home = (unsigned)keys->home[i], .fingerprint = keys->fingerprint[i]};
}

static tamis_status rank_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                     const tamis_i_group *next, bool *added, size_t *done) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_turns turns = rank_turns_of(l, now, next);
    *done = 0;
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        rank_fetch_turn(l, filter->table, &turns, i);
        if (i < now->n) {
            const tamis_status status =
                rank_insert_at(filter, now->digests[i], rank_keys_of(now)->at[i],
                               rank_print_number(rank_keys_of(now), i), &added[i]);
            if (status != TAMIS_OK)
                return status;
            *done = i + 1;
        }
    }
    return TAMIS_OK;
}

static void rank_remove_many(tamis_filter *filter, const tamis_i_group *now,
                             const tamis_i_group *next, bool *removed) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_turns turns = rank_turns_of(l, now, next);
    for (size_t i = 0; i < TAMIS_I_GROUP; i++) {
        rank_fetch_turn(l, filter->table, &turns, i);
        if (i < now->n)
            removed[i] = rank_remove_at(filter, now->digests[i], rank_keys_of(now)->at[i],
                                        rank_print_number(rank_keys_of(now), i)) == TAMIS_OK;
    }
}

/* ---- whole filters ---- */

/* What the chains of a bucket hold. */
typedef struct census {
    tamis_i_rank_view view;
    uint64_t copies;
    uint64_t distinct;  /* fingerprints */
    uint64_t saturated; /* of them */
    unsigned longest;   /* of the chains, in slots */
} census;

/* Slots are compared with those before them in their chain; most have none.  Nothing is counted where a chain
 * is too long. */
static void rank_count_bucket(const tamis_filter *filter, uint64_t bucket, census *sums) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    const uint64_t mask = tamis_i_low_mask((unsigned)c->fingerprint_bits);
    uint16_t parents[ALL_SLOTS];
    uint64_t slots[ALL_SLOTS], copies[ALL_SLOTS]; /* of the fingerprint, up to here */
    l->ops->look(c, filter->table, bucket, 0, 0, &sums->view);
    tamis_i_rank_parents(c, filter->table, &sums->view, parents);
    sums->copies = sums->distinct = sums->saturated = 0;
    sums->longest = tamis_i_rank_longest(parents, sums->view.load);
    for (unsigned s = 0; s < sums->view.load && sums->longest <= CHAIN_MAX; s++) {
        slots[s] = tamis_i_rank_slot(c, filter->table, &sums->view, s);
        const uint64_t own =
            1 + (c->count_bits == 0 ? 0 : slots[s] >> (c->slot_bits - c->count_bits));
        unsigned p = parents[s];
        while (p != UINT16_MAX && ((slots[p] ^ slots[s]) & mask) != 0)
            p = parents[p];
        const uint64_t before = p == UINT16_MAX ? 0 : copies[p];
        copies[s] = before + own;
        sums->copies += own;
        sums->distinct += before == 0;
        sums->saturated += before < l->copies_max && copies[s] >= l->copies_max;
    }
}

/* A query for an absent key meets one of the B L 2^r fingerprints at random. */
static void rank_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    const uint64_t loads = c->first[TAMIS_I_RANK_PIECES] + 1;
    uint64_t distinct = 0;
    info->n_loads = (size_t)rank_least(loads, TAMIS_LOADS_MAX);
    const uint64_t end = tamis_i_slice_end(slice, c->n[0]);
    for (uint64_t i = tamis_i_slice_from(slice, c->n[0]); i < end; i++) {
        census sums;
        rank_count_bucket(filter, i, &sums);
        distinct += sums.distinct;
        info->saturated += sums.saturated;
        info->load_histogram[rank_least(sums.view.load, info->n_loads - 1)]++;
    }
    const double homes = tamis_i_slice_size(slice, c->n[0]) * (double)c->homes;
    info->fpr = (double)distinct / ldexp(homes, (int)c->fingerprint_bits);
}

/* A sum that two multisets of numbers share only if they are equal, as far as chance can tell. */
static void rank_fold(uint64_t *sums, uint64_t number) {
    sums[0] += tamis_i_mix(number);
    sums[1] += tamis_i_mix(~number);
}

/* Every extension of a kind is used once or free once or was never used.  'named' is how often buckets name
 * extensions of this kind, and names the sum of these. */
static bool rank_check_pool(const tamis_filter *filter, unsigned kind, uint64_t named,
                            const uint64_t *names, const char **reason) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    const uint64_t fresh = filter->state[FRESH(kind)];
    const unsigned bits = (unsigned)c->link_bits[kind - 1];
    uint64_t used = 0, sums[2] = {0, 0};
    *reason = "the list of free extensions is broken";
    if (fresh > c->n[kind])
        return false;
    for (uint64_t i = 0; i < fresh; i++) {
        if (tamis_i_bit_get(filter->table, tamis_i_rank_piece(c, kind, i))) {
            used++;
            rank_fold(sums, i);
        }
    }
    uint64_t free_ones = 0;
    for (uint64_t link = filter->state[HEAD(kind)]; link != 0; free_ones++) {
        const uint64_t at = link > fresh ? 0 : tamis_i_rank_piece(c, kind, link - 1);
        /* A list that comes back to itself is longer than what is not in use. */
        if (link > fresh || free_ones >= fresh - used || tamis_i_bit_get(filter->table, at) ||
            !tamis_i_rank_is_zero(filter->table, at + 1 + bits, at + c->stride[kind]))
            return false;
        link = tamis_i_field_get(filter->table, at + 1, bits);
    }
    if (used + free_ones != fresh)
        return false;
    if (named != used || names[0] != sums[0] || names[1] != sums[1]) {
        *reason = "an extension is not used by just one bucket";
        return false;
    }
    const uint64_t behind = tamis_i_rank_piece(c, kind, fresh);
    if (!tamis_i_rank_is_zero(filter->table, behind, tamis_i_rank_piece(c, kind, c->n[kind]))) {
        *reason = "an extension that was never used is not empty";
        return false;
    }
    return true;
}

static bool rank_check(const tamis_filter *filter, const char **reason) {
    const tamis_i_rank_bucket *const c = &rank_layout_of(filter)->rank;
    uint64_t keys = 0, saturated = 0, at = 0, in_stash;
    uint64_t named[TAMIS_I_RANK_PIECES] = {0}, names[TAMIS_I_RANK_PIECES][2] = {{0}};
    for (uint64_t i = 0; i < c->n[0]; i++) {
        census sums;
        rank_count_bucket(filter, i, &sums);
        const tamis_i_rank_view *const v = &sums.view;
        if (sums.longest > CHAIN_MAX) {
            *reason = "a chain has more fingerprints than any may have";
            return false;
        }
        for (unsigned p = 1; p < v->pieces; p++) {
            named[p]++;
            rank_fold(names[p], v->number[p]);
        }
        for (unsigned p = 0; p < v->pieces; p++) {
            if ((p > 0 && !tamis_i_bit_get(filter->table, v->at[p])) ||
                (p + 1 == v->pieces && tamis_i_rank_link(c, filter->table, p, v->number[p]) != 0)) {
                *reason = "a bucket names an extension that is none";
                return false;
            }
        }
        if (!tamis_i_rank_check(c, filter->table, v, reason))
            return false;
        keys += sums.copies;
        saturated += sums.saturated;
    }
    for (unsigned kind = 1; kind < TAMIS_I_RANK_PIECES; kind++)
        if (!rank_check_pool(filter, kind, named[kind], names[kind], reason))
            return false;
    if (!tamis_i_rank_is_zero(filter->table, c->bits, 64 * filter->n_table)) {
        *reason = "the table has data past its end";
        return false;
    }
    tamis_digest digest;
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &in_stash))
        keys += in_stash;
    if (saturated == 0 && keys != filter->state[TAMIS_I_COUNT]) {
        *reason = "the buckets do not hold as many keys as the filter claims";
        return false;
    }
    return true;
}

/* ---- the compact form ---- */

/* Section V: of each bucket the base index, the higher index and the slots in use.  Nothing else is needed,
 * for the base index has as many ones as there are bits in the first level of the higher one, and each
 * level tells the length of the next. */
static uint64_t rank_compact_least(const tamis_params *params) {
    return params->value[TAMIS_RANK_BUCKETS] * params->value[TAMIS_RANK_HOMES];
}

static uint64_t rank_compact_bits(const tamis_filter *filter) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    uint64_t load = 0;
    for (uint64_t i = 0; i < c->n[0]; i++) {
        tamis_i_rank_view view;
        l->ops->look(c, filter->table, i, 0, 0, &view);
        load += view.load;
    }
    return c->n[0] * c->homes + load * (1 + c->slot_bits);
}

static void rank_compact_write(const tamis_filter *filter, tamis_i_writer *out) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    for (uint64_t i = 0; i < c->n[0]; i++) {
        tamis_i_rank_view v;
        l->ops->look(c, filter->table, i, 0, 0, &v);
        tamis_i_write_bits(out, filter->table, v.at[0], c->homes);
        for (unsigned p = 0; p < v.pieces; p++)
            tamis_i_write_bits(out, filter->table, v.at[p] + c->higher_at[p],
                               rank_least(v.load - c->first[p], c->slots[p]));
        for (unsigned p = 0; p < v.pieces; p++)
            tamis_i_write_bits(out, filter->table, v.at[p] + c->slots_at[p],
                               rank_least(v.load - c->first[p], c->slots[p]) * c->slot_bits);
    }
}

/* Read one bucket into an empty table: level by level, then the slots. */
static bool rank_fill_bucket(tamis_filter *filter, uint64_t bucket, tamis_i_reader *in,
                             const char **reason) {
    const layout *const l = rank_layout_of(filter);
    const tamis_i_rank_bucket *const c = &l->rank;
    tamis_i_rank_view v;
    uint64_t level;
    if (!tamis_i_read(in, (unsigned)c->homes, &level))
        return false;
    tamis_i_field_put(filter->table, tamis_i_rank_piece(c, 0, bucket), (unsigned)c->homes, level);
    l->ops->look(c, filter->table, bucket, 0, 0, &v);
    uint64_t n = v.chains; /* slots of this level */
    for (v.load = 0; n > 0;) {
        if (!tamis_i_read(in, (unsigned)n, &level))
            return false;
        for (uint64_t i = 0; i < n; i++) {
            if (!rank_extend(filter, &v)) {
                *reason = "a bucket holds more than its slots and extensions can take";
                return false;
            }
            if (level >> i & 1)
                tamis_i_bit_set(filter->table, tamis_i_rank_higher_at(c, &v, v.load));
            v.load++;
        }
        n = filter->words->ones(&level, 1);
    }
    for (unsigned p = 0; p < v.pieces; p++)
        if (!tamis_i_read_bits(in, filter->table, v.at[p] + c->slots_at[p],
                               rank_least(v.load - c->first[p], c->slots[p]) * c->slot_bits))
            return false;
    return true;
}

static bool rank_compact_read(tamis_filter *filter, tamis_i_reader *in, const char **reason) {
    *reason = "the data ends within the table";
    for (uint64_t i = 0; i < rank_layout_of(filter)->rank.n[0]; i++)
        if (!rank_fill_bucket(filter, i, in, reason))
            return false;
    return true;
}

/* ---- both kinds ---- */

#define RANK_PARAMS                                                                                \
    "buckets", "homes", "fingerprint_bits", "slots", "slots_2", "slots_3", "extensions_2",         \
        "extensions_3"

#define RANK_FUNCTIONS                                                                             \
    .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT, .n_state = N_STATE,                           \
    .scratch = sizeof(tamis_i_rank_keys), .shape = rank_shape, .attach = rank_attach,              \
    .insert = rank_insert, .contains = rank_contains, .remove = rank_remove_one,                   \
    .copies = rank_copies, .prefetch = rank_prefetch, .touch = rank_touch,                         \
    .contains_many = rank_contains_many, .insert_many = rank_insert_many,                          \
    .remove_many = rank_remove_many, .info = rank_info, .check = rank_check,                       \
    .compact_least = rank_compact_least, .compact_bits = rank_compact_bits,                        \
    .compact_write = rank_compact_write, .compact_read = rank_compact_read

static unsigned rank_copies_max(const tamis_params *params) {
    return tamis_i_counter_copies(params->value[TAMIS_RANK_COUNTER_BITS]);
}

const tamis_i_kind tamis_i_rank = {.id = TAMIS_KIND_RANK,
                                   .name = "rank",
                                   .params = {RANK_PARAMS, "value_bits"},
                                   RANK_FUNCTIONS,
                                   .value_bits = rank_value_bits,
                                   .insert_value = rank_insert_value,
                                   .lookup_value = rank_lookup_value,
                                   .update_value = rank_update_value};

const tamis_i_kind tamis_i_rank_counting = {.id = TAMIS_KIND_RANK_COUNTING,
                                            .name = "rank-counting",
                                            .params = {RANK_PARAMS, "counter_bits"},
                                            RANK_FUNCTIONS,
                                            .counters = true,
                                            .copies_max = rank_copies_max};
