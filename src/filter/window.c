/* window.c - a set that forgets: fingerprints with the tick in which they were last inserted
 *
 * The table is that of 'steady' (bits/spill.h).  Beside each fingerprint stands a stamp, the number of a tick
 * modulo S, a power of two and at least T + 2.  With t the present tick:
 *
 *      tick      t    t - 1   ...   t - T   | t - T - 1
 *      stamp     t mod S      ...           |
 *                live: they are answered    | forgotten: on their way out
 *
 * A fingerprint is there once.  A key that is inserted finds it, and makes it young, or adds it.  So
 *
 *   W1  the stamp of a fingerprint is that of the last insert of any key that has it, and a key that was
 *       inserted at most T ticks ago is found live.
 *
 * Nothing is ever removed for another reason than its stamp, so sharing a fingerprint costs a key
 * nothing: another key can only make it younger.
 *
 * When a tick begins, the stamp t - T - 1 is forgotten at once, by comparing.  Until the next tick begins,
 * all slots with it are dropped, since its number is needed again: one bucket per insert, or when the
 * caller likes (LEFT counts down), and the rest at the latest then.  So at any time
 *
 *   W2  the age t - stamp (modulo S) of every slot is at most T + 1, and T + 1 only in buckets that are left.
 *
 * A key without room in the table is in the stash, with its stamp plus one where others have the number of
 * copies.  The stash counts as the last bucket to be cleared.
 *
 * The idea to keep an age beside the fingerprints of a filter is from Bonomi, Mitzenmacher, Panigrahy,
 * Singh and Varghese, "Beyond Bloom Filters: From Approximate Membership Checks to Approximate State
 * Machines", SIGCOMM 2006.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/window.h"

#include "filter/spilling.h"
#include "hash/hash.h"

#define TICKS 8u /* by default */

/* Words of the state. */
#define NOW     TAMIS_I_STATE_OWN       /* t */
#define LEFT    (TAMIS_I_STATE_OWN + 1) /* buckets that are to be cleared, the stash included */
#define N_STATE 2u

/* What geometry[] holds. */
typedef struct layout {
    tamis_i_spill spill;
    uint64_t ticks;  /* T */
    uint64_t stamps; /* S - 1 */
    uint64_t clear;  /* buckets that an insert clears */
} layout;

_Static_assert(sizeof(layout) <= TAMIS_I_GEOMETRY * sizeof(uint64_t), "geometry[] is too small");

static inline const layout *window_layout_of(const tamis_filter *filter) {
    return (const layout *)(const void *)filter->geometry;
}

unsigned tamis_i_window_stamp_bits(uint64_t ticks) {
    unsigned bits = 2;
    while ((uint64_t)1 << bits < ticks + 2)
        bits++;
    return bits;
}

static tamis_status window_shape(tamis_params *params, uint64_t *n_table) {
    uint64_t *const ticks = &params->value[TAMIS_WINDOW_TICKS];
    *ticks = *ticks == 0 ? TICKS : *ticks;
    if (*ticks > TAMIS_WINDOW_TICKS_MAX)
        return TAMIS_E_ARGUMENT;
    return tamis_i_spilling_shape(params, tamis_i_window_stamp_bits(*ticks), n_table);
}

static void window_attach(tamis_filter *filter) {
    layout l = {.ticks = filter->params.value[TAMIS_WINDOW_TICKS]};
    const unsigned bits = tamis_i_window_stamp_bits(l.ticks);
    l.stamps = tamis_i_low_mask(bits);
    l.clear = 1 + l.ticks / 16;
    const bool valid = tamis_i_spilling_layout(&filter->params, bits, filter->features, &l.spill);
    TAMIS_ASSERT(valid);
    (void)valid;
    memcpy(filter->geometry, &l, sizeof l);
}

/* ---- stamps ---- */

static inline uint64_t window_stamp(const tamis_filter *filter, const layout *l) {
    return filter->state[NOW] & l->stamps;
}

static inline uint64_t window_age(const tamis_filter *filter, const layout *l, uint64_t stamp) {
    return (filter->state[NOW] - stamp) & l->stamps;
}

static inline bool window_live(const tamis_filter *filter, const layout *l, uint64_t stamp) {
    return window_age(filter, l, stamp) <= l->ticks;
}

/* The stamp that is on its way out. */
static uint64_t window_old(const tamis_filter *filter, const layout *l) {
    return (filter->state[NOW] - l->ticks - 1) & l->stamps;
}

/* The slot of a key; false if there is none. */
typedef struct found {
    tamis_i_spill_place place;
    uint64_t number, stamp;
} found;

static bool window_find(const tamis_filter *filter, const layout *l, tamis_i_spill_key key,
                        found *at) {
    tamis_i_spill_find(&l->spill, filter->table, key, &at->place);
    do {
        at->number = at->place.view.first;
        if (tamis_i_spill_next(&at->place, &at->number, &at->stamp))
            return true;
    } while (tamis_i_spill_other(&l->spill, filter->table, key, &at->place));
    return false;
}

/* ---- clearing ---- */

static void window_clear_stash(tamis_filter *filter, const layout *l) {
    const uint64_t old = window_old(filter, l);
    tamis_digest digest;
    uint64_t at = 0, stamp;
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &stamp))
        if (stamp - 1 == old) {
            tamis_i_stash_drop(&filter->stash, digest);
            filter->state[TAMIS_I_COUNT]--;
            at--; /* another may have moved there, and none before */
        }
}

static uint64_t window_clear_bucket(tamis_filter *filter, const layout *l, uint64_t bucket) {
    const uint64_t dropped =
        tamis_i_spill_sweep(&l->spill, filter->table, bucket, l->stamps, window_old(filter, l));
    filter->state[TAMIS_I_COUNT] -= dropped;
    return dropped;
}

uint64_t tamis_i_window_clear(tamis_filter *filter, uint64_t most) {
    const layout *const l = window_layout_of(filter);
    uint64_t *const left = &filter->state[LEFT];
    for (; most > 0 && *left > 0; most--) {
        if (*left == 1)
            window_clear_stash(filter, l);
        else
            (void)window_clear_bucket(filter, l, *left - 2);
        --*left;
    }
    return *left;
}

void tamis_i_window_tick(tamis_filter *filter) {
    (void)tamis_i_window_clear(filter, UINT64_MAX);
    filter->state[NOW]++;
    filter->state[LEFT] =
        filter->state[TAMIS_I_COUNT] == 0 ? 0 : window_layout_of(filter)->spill.n_front + 1;
}

/* ---- one key ---- */

/* A key that may be in any place. */
TAMIS_APART bool window_contains_any(const tamis_filter *filter, tamis_digest digest,
                                     tamis_i_spill_key key) {
    const layout *const l = window_layout_of(filter);
    found at;
    if (window_find(filter, l, key, &at) && window_live(filter, l, at.stamp))
        return true;
    const uint64_t stamp = tamis_i_stash_copies(&filter->stash, digest);
    return stamp != 0 && window_live(filter, l, stamp - 1);
}

static bool window_contains(const tamis_filter *filter, tamis_digest digest) {
    const layout *const l = window_layout_of(filter);
    const tamis_i_spill *const s = &l->spill;
    const tamis_i_spill_key key = tamis_i_spill_locate(s, digest);
    const uint64_t *const bucket = filter->table + key.bucket * s->front.words;
    if (s->front_ops->find(&s->front, bucket, key.home, key.print) == 0 &&
        filter->state[TAMIS_I_STASH_USED] == 0)
        return false;
    return window_contains_any(filter, digest, key);
}

/* Add what is not there.  Where there is no room, the bucket is cleared first, if that is not yet done. */
static tamis_status window_add(tamis_filter *filter, const layout *l, tamis_digest digest,
                               tamis_i_spill_key key) {
    const uint64_t stamp = window_stamp(filter, l);
    const bool stored =
        tamis_i_spill_add(&l->spill, filter->table, key, stamp) ||
        (filter->state[LEFT] > key.bucket + 1 && window_clear_bucket(filter, l, key.bucket) > 0 &&
         tamis_i_spill_add(&l->spill, filter->table, key, stamp));
    if (!stored && tamis_i_stash_add(&filter->stash, digest, (unsigned)stamp + 1) != TAMIS_OK)
        return TAMIS_E_FULL;
    filter->state[TAMIS_I_COUNT]++;
    return TAMIS_OK;
}

TAMIS_APART tamis_status window_insert_any(tamis_filter *filter, tamis_digest digest,
                                           tamis_i_spill_key key, bool *added) {
    const layout *const l = window_layout_of(filter);
    const uint64_t in_stash = tamis_i_stash_copies(&filter->stash, digest);
    const bool stashed = in_stash != 0 && window_live(filter, l, in_stash - 1);
    found at;
    if (window_find(filter, l, key, &at)) {
        *added = !stashed && !window_live(filter, l, at.stamp);
        tamis_i_spill_set(&at.place, at.number, window_stamp(filter, l));
        return TAMIS_OK;
    }
    if (in_stash != 0) {
        *added = !stashed;
        tamis_i_stash_set(&filter->stash, digest, (unsigned)window_stamp(filter, l) + 1);
        return TAMIS_OK;
    }
    const tamis_status status = window_add(filter, l, digest, key);
    if (status == TAMIS_OK)
        *added = true;
    return status;
}

static inline tamis_status window_insert_at(tamis_filter *filter, tamis_digest digest,
                                            tamis_i_spill_key key, bool *added) {
    const layout *const l = window_layout_of(filter);
    const tamis_i_spill *const s = &l->spill;
    if (filter->state[LEFT] != 0)
        (void)tamis_i_window_clear(filter, l->clear);
    if (TAMIS_LIKELY(filter->state[TAMIS_I_STASH_USED] == 0)) {
        const uint64_t slot = key.print | window_stamp(filter, l) << s->front.print_bits;
        tamis_i_run_spot spot;
        const unsigned result = s->front_ops->add(
            &s->front, tamis_i_spill_front(s, filter->table, key.bucket), key.home, slot, 1, &spot);
        if (result == TAMIS_I_RUN_DONE) {
            filter->state[TAMIS_I_COUNT]++;
            *added = true;
            return TAMIS_OK;
        }
    }
    return window_insert_any(filter, digest, key, added);
}

static tamis_status window_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    const tamis_i_spill *const s = &window_layout_of(filter)->spill;
    return window_insert_at(filter, digest, tamis_i_spill_locate(s, digest), added);
}

static void window_prefetch(const tamis_filter *filter, tamis_digest digest, bool write) {
    (void)write;
    tamis_i_spill_fetch(&window_layout_of(filter)->spill, filter->table, digest);
}

static bool window_touch(const tamis_filter *filter, tamis_digest digest) {
    return tamis_i_spilling_touch(&window_layout_of(filter)->spill, filter, digest);
}

/* ---- batches ---- */

/* What is there may be too old. */
static void window_contains_many(const tamis_filter *filter, const tamis_i_group *now,
                                 const tamis_i_group *next, bool *present) {
    const tamis_i_spill_keys *const keys = tamis_i_spilling_keys(now);
    const bool stashed = filter->state[TAMIS_I_STASH_USED] != 0;
    const uint32_t there =
        tamis_i_spilling_ask(&window_layout_of(filter)->spill, filter, now, next);
    for (size_t i = 0; i < now->n; i++)
        present[i] = ((there >> i & 1) != 0 || stashed) &&
                     window_contains_any(filter, now->digests[i], tamis_i_spill_key_of(keys, i));
}

static tamis_status window_insert_many(tamis_filter *filter, const tamis_i_group *now,
                                       const tamis_i_group *next, bool *added, size_t *done) {
    const tamis_i_spill_keys *const keys = tamis_i_spilling_keys(now);
    const tamis_i_spill *const s = &window_layout_of(filter)->spill;
    tamis_status status = TAMIS_OK;
    tamis_i_spilling_expect(s, filter, next, false);
    size_t i = 0;
    for (; i < now->n; i++) {
        tamis_i_spilling_fetch(s, next, i);
        status =
            window_insert_at(filter, now->digests[i], tamis_i_spill_key_of(keys, i), &added[i]);
        if (status != TAMIS_OK)
            break;
    }
    *done = i;
    tamis_i_spilling_fetch_rest(s, next, i);
    return status;
}

/* ---- whole filters ---- */

/* Make every slot of the source young enough here: each is found, or added. */
static bool window_merge_tables(tamis_filter *filter, const tamis_filter *source) {
    const layout *const l = window_layout_of(filter);
    tamis_i_spill_walk walk;
    found at;
    for (uint64_t bucket = 0; bucket < l->spill.n_front; bucket++) {
        tamis_i_spill_start(&l->spill, source->table, bucket, &walk);
        while (tamis_i_spill_step(&l->spill, source->table, &walk)) {
            const tamis_i_spill_key key = {
                .bucket = bucket, .home = walk.home, .print = walk.print};
            if (!window_live(source, l, walk.extra))
                continue;
            if (!window_find(filter, l, key, &at)) {
                if (!tamis_i_spill_add(&l->spill, filter->table, key, walk.extra))
                    return false;
                filter->state[TAMIS_I_COUNT]++;
            } else if (window_age(source, l, walk.extra) < window_age(filter, l, at.stamp)) {
                tamis_i_spill_set(&at.place, at.number, walk.extra);
            }
        }
    }
    return true;
}

static bool window_merge_stashes(tamis_filter *filter, const tamis_filter *source) {
    const layout *const l = window_layout_of(filter);
    tamis_digest digest;
    uint64_t at = 0, stamp;
    while (tamis_i_stash_next(&source->stash, &at, &digest, &stamp)) {
        const uint64_t own = tamis_i_stash_copies(&filter->stash, digest);
        if (!window_live(source, l, stamp - 1))
            continue;
        if (own == 0) {
            if (tamis_i_stash_add(&filter->stash, digest, (unsigned)stamp) != TAMIS_OK)
                return false;
            filter->state[TAMIS_I_COUNT]++;
        } else if (window_age(source, l, stamp - 1) < window_age(filter, l, own - 1)) {
            tamis_i_stash_set(&filter->stash, digest, (unsigned)stamp);
        }
    }
    return true;
}

/* The two must be in the same tick, since stamps are compared.  What is on its way out is cleared first,
 * which no answer shows.  A merge that does not fit is noticed when much has changed, so the body is kept
 * aside. */
static tamis_status window_merge(tamis_filter *filter, const tamis_filter *source) {
    if (filter->state[NOW] != source->state[NOW])
        return TAMIS_E_MISMATCH;
    const size_t size = (size_t)filter->n_body * sizeof(uint64_t);
    uint64_t *const before = tamis_i_alloc(&filter->allocator, size);
    if (before == NULL)
        return TAMIS_E_NOMEM;
    memcpy(before, filter->state, size);
    (void)tamis_i_window_clear(filter, UINT64_MAX);
    const bool fits = window_merge_tables(filter, source) && window_merge_stashes(filter, source);
    if (!fits)
        memcpy(filter->state, before, size);
    tamis_i_free(&filter->allocator, before, size);
    return fits ? TAMIS_OK : TAMIS_E_FULL;
}

/* Add the ages of the keys that are in the table. */
static void window_table_census(const tamis_filter *filter, uint64_t *ages) {
    const layout *const l = window_layout_of(filter);
    for (uint64_t i = 0; i < l->spill.n_front; i++) {
        tamis_i_spill_walk walk;
        tamis_i_spill_start(&l->spill, filter->table, i, &walk);
        while (tamis_i_spill_step(&l->spill, filter->table, &walk))
            if (window_live(filter, l, walk.extra))
                ages[window_age(filter, l, walk.extra)]++;
    }
}

void tamis_i_window_census(const tamis_filter *filter, uint64_t *ages) {
    const layout *const l = window_layout_of(filter);
    tamis_digest digest;
    uint64_t at = 0, stamp;
    window_table_census(filter, ages);
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &stamp))
        if (window_live(filter, l, stamp - 1))
            ages[window_age(filter, l, stamp - 1)]++;
}

/* A query for an absent key meets one of the fingerprints that are not forgotten. */
static void window_info(const tamis_filter *filter, tamis_i_slice slice, tamis_info *info) {
    const tamis_i_spill *const s = &window_layout_of(filter)->spill;
    uint64_t ages[TAMIS_WINDOW_TICKS_MAX + 1] = {0}, live = 0;
    if (slice.parts > 1) /* with what is not cleared yet */
        live = tamis_i_spilling_load(s, filter->table, slice);
    else
        window_table_census(filter, ages); /* the stash is exact */
    for (unsigned i = 0; i <= TAMIS_WINDOW_TICKS_MAX; i++)
        live += ages[i];
    tamis_i_spilling_info(s, filter->table, slice, live, info);
}

/* W2, for the slots of a bucket that is still to be cleared or is not. */
static bool window_check_bucket(const tamis_filter *filter, const layout *l, uint64_t bucket) {
    const uint64_t most = l->ticks + (filter->state[LEFT] > bucket + 1);
    tamis_i_spill_walk walk;
    tamis_i_spill_start(&l->spill, filter->table, bucket, &walk);
    while (tamis_i_spill_step(&l->spill, filter->table, &walk))
        if (window_age(filter, l, walk.extra) > most)
            return false;
    return true;
}

static bool window_check_stash(const tamis_filter *filter, const layout *l) {
    const uint64_t most = l->ticks + (filter->state[LEFT] > 0);
    tamis_digest digest;
    uint64_t at = 0, stamp;
    while (tamis_i_stash_next(&filter->stash, &at, &digest, &stamp))
        if (stamp - 1 > l->stamps || window_age(filter, l, stamp - 1) > most ||
            tamis_i_stash_copies(&filter->stash, digest) != stamp) /* a key is there once */
            return false;
    return true;
}

static bool window_check(const tamis_filter *filter, const char **reason) {
    const layout *const l = window_layout_of(filter);
    uint64_t slots;
    if (!tamis_i_spill_check(&l->spill, filter->table, &slots, reason))
        return false;
    *reason = "the window has more buckets to clear than buckets, or too many ticks";
    if (filter->state[LEFT] > l->spill.n_front + 1 || filter->state[NOW] > TAMIS_I_COUNT_MAX)
        return false;
    *reason = "the window holds keys that are too old";
    for (uint64_t i = 0; i < l->spill.n_front; i++)
        if (!window_check_bucket(filter, l, i))
            return false;
    if (!window_check_stash(filter, l))
        return false;
    *reason = "the buckets do not hold as many keys as the filter claims";
    return slots + *filter->stash.used == filter->state[TAMIS_I_COUNT];
}

const tamis_i_kind tamis_i_window = {
    .id = TAMIS_KIND_WINDOW,
    .name = "window",
    .abilities = TAMIS_CAN_MERGE | TAMIS_CAN_FORGET,
    .n_state = N_STATE,
    .scratch = sizeof(tamis_i_spill_keys),
    .ahead = TAMIS_I_SPILLING_AHEAD,
    .merges_all = true,
    .params = {"buckets", "bucket_bits", "homes", "fingerprint_bits", "spill_buckets", "spill_bits",
               "origin_bits", "ticks"},
    .shape = window_shape,
    .attach = window_attach,
    .insert = window_insert,
    .contains = window_contains,
    .prefetch = window_prefetch,
    .touch = window_touch,
    .contains_many = window_contains_many,
    .insert_many = window_insert_many,
    .merge = window_merge,
    .info = window_info,
    .check = window_check,
};

/* ---- what only windows have ---- */

uint64_t tamis_i_window_now(const tamis_filter *filter) {
    return filter->state[NOW];
}

uint64_t tamis_i_window_left(const tamis_filter *filter) {
    return filter->state[LEFT];
}
