/* steady.c - fingerprints of fixed length in buckets that spill over: a set that may change for ever
 *
 * A key has one bucket, one home in it and one fingerprint, drawn from its digest; together they are its
 * fingerprint f.  The table keeps them in runs, and homes of full buckets elsewhere (bits/spill.h), each with
 * a value or a counter beside it if that is asked for.  No fingerprint is ever shortened, no slot is left
 * behind, and what has spilled comes back: the error rate depends on the number of keys and on nothing that
 * has happened before.  A key for which there is no room goes to the stash.
 *
 * It is a multiset.  m(x) is the number of copies of key x that are in, S(x) how many of them are in the
 * stash, which keeps whole digests, and T(f) the number of copies in the slots of f.  After every call
 *
 *   K1  S(x) <= m(x) for every key x;
 *   K2  T(f) is the sum of m(x) - S(x) over the keys x of f.
 *
 *   query   T(f) + S(x) > 0.  If m(x) > 0, then S(x) > 0, or T(f) >= m(x) > 0 by K2 and K1.
 *   insert  raises T(f), or else S(x), by one.
 *   remove  lowers S(x) if it is not 0, else T(f), which is then not 0 by K2.  Not the other way round: T(f)
 *           might lose the copy of another key of f, and leave one of x behind.
 *
 * One key inserted again and again must not fill its bucket.  With counters, equal fingerprints share a slot
 * until its counter is full, and then take another.  From 'copies' such slots on, copies go to the stash,
 * which counts 255 in one slot, and to the table again when three quarters of the stash are in use.  All
 * numbers stay exact.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/spilling.h"
#include "hash/hash.h"

#define DISTINCT_MAX 64u /* of a run, slots that are compared with each other for the error rate */

/* What geometry[] holds. */
typedef struct layout {
    tamis_i_spill spill;
    uint64_t copies; /* slots of one fingerprint */
    uint64_t counter_most;
    unsigned value_bits;
} layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");

static inline const layout *steady_layout_of(const tamis_filter *filter) {
    return (const layout *)(const void *)filter->geometry;
}

/* ---- shape ---- */

/* Bits beside each fingerprint; more than a slot has if they are out of range. */
static unsigned steady_extra(const tamis_params *params) {
    const uint64_t *const v = params->value;
    if (v[TAMIS_STEADY_VALUE_BITS] > 8 || v[TAMIS_STEADY_COUNTER_BITS] > 8)
        return TAMIS_I_RUN_SLOT + 1;
    return (unsigned)(v[TAMIS_STEADY_VALUE_BITS] + v[TAMIS_STEADY_COUNTER_BITS]);
}

static tamis_status steady_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const copies = &params->value[TAMIS_STEADY_COPIES];
    *copies = *copies == 0 ? 4 : *copies;
    if (*copies > TAMIS_I_RUN_COPIES)
        return TAMIS_E_ARGUMENT;
    return tamis_i_spilling_shape(params, steady_extra(params), n_table);
}

static void steady_attach(tamis_filter *filter) {
    const uint64_t *const v = filter->params.value;
    layout l = {.copies = v[TAMIS_STEADY_COPIES],
                .counter_most = tamis_i_low_mask((unsigned)v[TAMIS_STEADY_COUNTER_BITS]),
                .value_bits = (unsigned)v[TAMIS_STEADY_VALUE_BITS]};
    const bool valid = tamis_i_spilling_layout(&filter->params, steady_extra(&filter->params),
                                               filter->features, &l.spill);
    TAMIS_ASSERT(valid);
    (void)valid;
    memcpy(filter->geometry, &l, sizeof l);
}

/* ---- one key ---- */

/* A slot of a key. */
typedef struct found {
    tamis_i_spill_place place;
    uint64_t number;
    uint64_t extra;
} found;

/* What the table holds of a key: T(f), its slots, the first and the last of them, and one whose counter is
 * not full. */
typedef struct tally {
    uint64_t copies, slots;
    found first, last, room;
    bool has_room;
} tally;

static void steady_tally(const tamis_filter *filter, tamis_i_spill_key key, tally *t) {
    const layout *const l = steady_layout_of(filter);
    found at;
    bool more = true;
    t->copies = t->slots = 0;
    t->has_room = false;
    for (tamis_i_spill_find(&l->spill, filter->table, key, &at.place); more;
         more = tamis_i_spill_other(&l->spill, filter->table, key, &at.place)) {
        at.number = at.place.view.first;
        for (; tamis_i_spill_next(&at.place, &at.number, &at.extra); at.number++) {
            const uint64_t counter = at.extra >> l->value_bits;
            if (t->slots++ == 0)
                t->first = at;
            t->last = at;
            if (counter < l->counter_most && !t->has_room) {
                t->room = at;
                t->has_room = true;
            }
            t->copies += 1 + counter;
        }
    }
}

static bool steady_contains(const tamis_filter *filter, tamis_digest digest) {
    const tamis_i_spill *const s = &steady_layout_of(filter)->spill;
    const tamis_i_spill_key key = tamis_i_spill_locate(s, digest);
    const unsigned result = s->front_ops->find(
        &s->front, tamis_i_spill_front(s, filter->table, key.bucket), key.home, key.print);
    if (TAMIS_LIKELY((result & TAMIS_I_RUN_AWAY) == 0 && filter->state[TAMIS_I_STASH_USED] == 0))
        return result != 0;
    return tamis_i_spill_has(s, filter->table, key) ||
           tamis_i_stash_copies(&filter->stash, digest) != 0;
}

static uint64_t steady_copies(const tamis_filter *filter, tamis_digest digest) {
    tally t;
    steady_tally(filter, tamis_i_spill_locate(&steady_layout_of(filter)->spill, digest), &t);
    return t.copies + tamis_i_stash_copies(&filter->stash, digest);
}

/* Raise T(f) by one, in a slot that has this value if it is a new one. */
static bool steady_raise(tamis_filter *filter, tamis_digest digest, tamis_i_spill_key key,
                         const tally *t, uint64_t value) {
    const layout *const l = steady_layout_of(filter);
    if (t->has_room) {
        tamis_i_spill_set(&t->room.place, t->room.number,
                          t->room.extra + ((uint64_t)1 << l->value_bits));
        return true;
    }
    return (t->slots >= l->copies && value == 0 &&
            tamis_i_stash_insert_spare(&filter->stash, digest) == TAMIS_OK) ||
           tamis_i_spill_add(&l->spill, filter->table, key, value);
}

/* Any key, in any state of the table. */
TAMIS_APART tamis_status steady_insert_any(tamis_filter *filter, tamis_digest digest,
                                           tamis_i_spill_key key, unsigned value, bool *added) {
    tally t;
    steady_tally(filter, key, &t);
    const bool fresh = t.copies == 0 && tamis_i_stash_copies(&filter->stash, digest) == 0;
    if (!steady_raise(filter, digest, key, &t, value)) {
        /* What is in the stash has the value 0. */
        if (value != 0 || tamis_i_stash_insert(&filter->stash, digest) != TAMIS_OK)
            return TAMIS_E_FULL;
    }
    filter->state[TAMIS_I_COUNT]++;
    *added = fresh;
    return TAMIS_OK;
}

/* What most keys need: a bucket with room, or one that gets room, and no counter to raise. */
static inline tamis_status steady_insert_at(tamis_filter *filter, tamis_digest digest,
                                            tamis_i_spill_key key, bool *added) {
    const layout *const l = steady_layout_of(filter);
    const tamis_i_spill *const s = &l->spill;
    tamis_i_run_spot spot;
    if (l->counter_most == 0 && filter->state[TAMIS_I_STASH_USED] == 0) {
        const unsigned result =
            s->front_ops->add(&s->front, tamis_i_spill_front(s, filter->table, key.bucket),
                              key.home, key.print, l->copies, &spot);
        if (TAMIS_LIKELY((result & TAMIS_I_RUN_DONE) != 0)) {
            filter->state[TAMIS_I_COUNT]++;
            *added = (result & TAMIS_I_RUN_FOUND) == 0;
            return TAMIS_OK;
        }
        if (result == 0 && tamis_i_spill_push(s, filter->table, key, &spot, 0)) {
            filter->state[TAMIS_I_COUNT]++;
            *added = true;
            return TAMIS_OK;
        }
    }
    return steady_insert_any(filter, digest, key, 0, added);
}

static tamis_status steady_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const layout *const l = steady_layout_of(filter);
    return steady_insert_at(filter, digest, tamis_i_spill_locate(&l->spill, digest), added);
}

/* The first slot of a key; false if it has none. */
static bool steady_first(const tamis_filter *filter, tamis_i_spill_key key, found *first) {
    const tamis_i_spill *const s = &steady_layout_of(filter)->spill;
    tamis_i_spill_find(s, filter->table, key, &first->place);
    do {
        first->number = first->place.view.first;
        if (tamis_i_spill_next(&first->place, &first->number, &first->extra))
            return true;
    } while (tamis_i_spill_other(s, filter->table, key, &first->place));
    return false;
}

/* Lower T(f); false if it is 0. */
static bool steady_lower(tamis_filter *filter, tamis_i_spill_key key) {
    const layout *const l = steady_layout_of(filter);
    found at;
    if (!steady_first(filter, key, &at))
        return false;
    if (at.extra >> l->value_bits != 0)
        tamis_i_spill_set(&at.place, at.number, at.extra - ((uint64_t)1 << l->value_bits));
    else
        tamis_i_spill_drop(&l->spill, filter->table, key, &at.place, at.number);
    return true;
}

/* Like inserts: what most keys need first. */
static inline tamis_status steady_remove_at(tamis_filter *filter, tamis_digest digest,
                                            tamis_i_spill_key key) {
    const layout *const l = steady_layout_of(filter);
    const tamis_i_spill *const s = &l->spill;
    if (l->counter_most == 0 && filter->state[TAMIS_I_STASH_USED] == 0) {
        const unsigned result = s->front_ops->drop(
            &s->front, tamis_i_spill_front(s, filter->table, key.bucket), key.home, key.print);
        if (TAMIS_LIKELY((result & TAMIS_I_RUN_DONE) != 0)) {
            filter->state[TAMIS_I_COUNT]--;
            if ((result & TAMIS_I_RUN_CUT) != 0)
                tamis_i_spill_return(s, filter->table, key.bucket);
            return TAMIS_OK;
        }
        if (result != TAMIS_I_RUN_AWAY)
            return TAMIS_E_NOT_FOUND;
    }
    if (!tamis_i_stash_remove(&filter->stash, digest) && !steady_lower(filter, key))
        return TAMIS_E_NOT_FOUND;
    filter->state[TAMIS_I_COUNT]--;
    return TAMIS_OK;
}

static tamis_status steady_remove(tamis_filter *filter, tamis_digest digest) {
    const layout *const l = steady_layout_of(filter);
    return steady_remove_at(filter, digest, tamis_i_spill_locate(&l->spill, digest));
}

static void steady_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    (void)write; /* a line that no other processor holds can be written once it is there */
    tamis_i_spill_fetch(&steady_layout_of(filter)->spill, filter->table, digest);
}

static bool steady_touch(const tamis_filter *filter, tamis_digest digest) {
    return tamis_i_spilling_touch(&steady_layout_of(filter)->spill, filter, digest);
}

/* ---- batches ---- */

static void steady_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                 const tamis_i_group *next, bool *present) {
    const layout *const l = steady_layout_of(filter);
    tamis_i_group_answer(present, now->n, tamis_i_spilling_ask(&l->spill, filter, now, next));
    if (filter->state[TAMIS_I_STASH_USED] != 0)
        for (size_t i = 0; i < now->n; i++)
            present[i] = present[i] || tamis_i_stash_copies(&filter->stash, now->digests[i]) != 0;
}

static tamis_status steady_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                       const tamis_i_group *next, bool *added, size_t *done) {
    const tamis_i_spill_keys *const keys = tamis_i_spilling_keys(now);
    const tamis_i_spill *const s = &steady_layout_of(filter)->spill;
    tamis_status status = TAMIS_OK;
    tamis_i_spilling_expect(s, filter, next, false);
    size_t i = 0;
    for (; i < now->n; i++) {
        tamis_i_spilling_fetch(s, next, i);
        status =
            steady_insert_at(filter, now->digests[i], tamis_i_spill_key_of(keys, i), &added[i]);
        if (status != TAMIS_OK)
            break;
    }
    *done = i;
    tamis_i_spilling_fetch_rest(s, next, i);
    return status;
}

static void steady_remove_many(tamis_filter *filter, const tamis_i_group *now,
                               const tamis_i_group *next, bool *removed) {
    const tamis_i_spill_keys *const keys = tamis_i_spilling_keys(now);
    const tamis_i_spill *const s = &steady_layout_of(filter)->spill;
    tamis_i_spilling_expect(s, filter, next, true);
    for (size_t i = 0; i < now->n; i++) {
        tamis_i_spilling_fetch(s, next, i);
        removed[i] =
            steady_remove_at(filter, now->digests[i], tamis_i_spill_key_of(keys, i)) == TAMIS_OK;
    }
    tamis_i_spilling_fetch_rest(s, next, now->n);
}

/* ---- values ---- */

static unsigned steady_value_bits(const tamis_filter *filter) {
    return steady_layout_of(filter)->value_bits;
}

static tamis_status steady_insert_value(tamis_filter *filter, tamis_digest digest, unsigned value,
                                        bool *added) {
    const tamis_i_spill *const s = &steady_layout_of(filter)->spill;
    return steady_insert_any(filter, digest, tamis_i_spill_locate(s, digest), value, added);
}

/* A key in the stash is known exactly, and has the value 0. */
static tamis_status steady_lookup_value(const tamis_filter *filter, tamis_digest digest,
                                        unsigned *value) {
    const layout *const l = steady_layout_of(filter);
    found first = {.extra = 0};
    if (tamis_i_stash_copies(&filter->stash, digest) == 0 &&
        !steady_first(filter, tamis_i_spill_locate(&l->spill, digest), &first))
        return TAMIS_E_NOT_FOUND;
    *value = (unsigned)(first.extra & tamis_i_low_mask(l->value_bits));
    return TAMIS_OK;
}

/* Of a key in the stash, all copies move to slots: as long as one is left there, the value is 0. */
static tamis_status steady_update_value(tamis_filter *filter, tamis_digest digest, unsigned value) {
    const layout *const l = steady_layout_of(filter);
    const tamis_i_spill_key key = tamis_i_spill_locate(&l->spill, digest);
    const uint64_t in_stash = tamis_i_stash_copies(&filter->stash, digest);
    tally t;
    found first;
    if (in_stash != 0 && value == 0)
        return TAMIS_OK;
    for (uint64_t i = 0; i < in_stash; i++) {
        if (!tamis_i_spill_add(&l->spill, filter->table, key, value)) {
            for (; i > 0; i--) { /* which of several equal keys has which value is not told apart */
                steady_tally(filter, key, &t);
                if (t.slots == 0) /* not so: it was stored */
                    break;
                tamis_i_spill_drop(&l->spill, filter->table, key, &t.last.place, t.last.number);
            }
            return TAMIS_E_FULL;
        }
    }
    for (uint64_t i = 0; i < in_stash; i++)
        (void)tamis_i_stash_remove(&filter->stash, digest);
    if (!steady_first(filter, key, &first))
        return TAMIS_E_NOT_FOUND;
    tamis_i_spill_set(&first.place, first.number,
                      (first.extra & ~tamis_i_low_mask(l->value_bits)) | value);
    return TAMIS_OK;
}

/* ---- whole filters ---- */

/* Fingerprints that are in a bucket, and the copies of all. */
static void steady_census(const tamis_filter *filter, uint64_t bucket, uint64_t *distinct,
                          uint64_t *copies) {
    const layout *const l = steady_layout_of(filter);
    uint64_t prints[DISTINCT_MAX], home = UINT64_MAX;
    unsigned n = 0;
    tamis_i_spill_walk walk;
    tamis_i_spill_start(&l->spill, filter->table, bucket, &walk);
    while (tamis_i_spill_step(&l->spill, filter->table, &walk)) {
        unsigned i = 0;
        n = walk.home == home ? n : 0;
        home = walk.home;
        while (i < n && prints[i] != walk.print)
            i++;
        if (i == n) {
            ++*distinct;
            if (n < DISTINCT_MAX)
                prints[n++] = walk.print;
        }
        *copies += 1 + (walk.extra >> l->value_bits);
    }
}

static void steady_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const tamis_i_spill *const s = &steady_layout_of(filter)->spill;
    uint64_t distinct = 0, copies = 0;
    if (slice.parts > 1) /* few fingerprints are there twice, and the walk takes its time */
        distinct = tamis_i_spilling_load(s, filter->table, slice);
    for (uint64_t i = 0; slice.parts == 1 && i < s->n_front; i++)
        steady_census(filter, i, &distinct, &copies);
    tamis_i_spilling_info(s, filter->table, slice, distinct, info);
}

static bool steady_check(const tamis_filter *filter, const char **reason) {
    const layout *const l = steady_layout_of(filter);
    uint64_t slots, keys = 0, distinct = 0, at = 0, in_stash;
    tamis_digest digest;
    if (!tamis_i_spill_check(&l->spill, filter->table, &slots, reason))
        return false;
    if (l->counter_most == 0)
        keys = slots;
    else
        for (uint64_t i = 0; i < l->spill.n_front; i++)
            steady_census(filter, i, &distinct, &keys);
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &in_stash))
        keys += in_stash;
    if (keys != filter->state[TAMIS_I_COUNT]) {
        *reason = "the buckets do not hold as many keys as the filter claims";
        return false;
    }
    return true;
}

static unsigned steady_copies_max(const tamis_params *params) {
    return tamis_i_counter_copies(params->value[TAMIS_STEADY_COUNTER_BITS]);
}

const tamis_i_kind tamis_i_steady = {
    .id = TAMIS_KIND_STEADY,
    .name = "steady",
    .abilities = TAMIS_CAN_REMOVE | TAMIS_CAN_COUNT,
    .counters = true,
    .scratch = sizeof(tamis_i_spill_keys),
    .ahead = TAMIS_I_SPILLING_AHEAD,
    .params = {"buckets", "bucket_bits", "homes", "fingerprint_bits", "spill_buckets", "spill_bits",
               "origin_bits", "value_bits", "counter_bits", "copies"},
    .shape = steady_shape,
    .attach = steady_attach,
    .insert = steady_insert,
    .contains = steady_contains,
    .remove = steady_remove,
    .copies = steady_copies,
    .prefetch = steady_prefetch,
    .touch = steady_touch,
    .contains_many = steady_contains_many,
    .insert_many = steady_insert_many,
    .remove_many = steady_remove_many,
    .info = steady_info,
    .check = steady_check,
    .value_bits = steady_value_bits,
    .insert_value = steady_insert_value,
    .lookup_value = steady_lookup_value,
    .update_value = steady_update_value,
    .copies_max = steady_copies_max};
