/* spill.c - buckets whose last homes spill over, and come back
 *
 * A slot that is stored in a full bucket pushes out the last home that has slots, if the back has room for
 * all of them; if it is the slot's own home, the slot goes with them.  Room is made sure of before
 * anything moves.  A slot that is dropped may let a home come back.  Of homes that are away only the first
 * can come, and whether it is empty is not known here: it has to be asked for in the back.  So a removal
 * asks for some homes at most, and leaves the rest to the next one.  All that is empty or fits comes, until
 * the bucket is full or a home does not fit; so homes are late only behind as many empty ones as are asked
 * for, and src/model/steady.c says how many slots that leaves free.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/spill.h"
#include "bits/words.h"

#define PLACES 2u
#define STEPS  0x9e3779b97f4a7c15u

bool tamis_i_spill_init(tamis_i_spill *spill, unsigned features) {
    tamis_i_run *const front = &spill->front, *const back = &spill->back;
    uint64_t front_words, back_words = 0;
    if (!tamis_i_run_init(front) || spill->n_front == 0 ||
        spill->origin_bits > TAMIS_I_SPILL_ORIGIN ||
        !tamis_i_mul(spill->n_front, front->words, &front_words))
        return false;
    spill->front_ops = tamis_i_run_ops_for(front, features);
    spill->back_ops = spill->front_ops;
    if (spill->n_back == 0) {
        *back = *front;
    } else {
        const uint64_t groups = ((spill->n_front - 1) >> spill->origin_bits) + 1;
        if (!tamis_i_mul(groups, front->homes, &spill->n_homes) || spill->n_back > spill->n_homes)
            return false;
        back->homes = (spill->n_homes - 1) / spill->n_back + 1;
        back->print_bits = front->print_bits + spill->origin_bits + 1;
        back->slot_bits = front->slot_bits + spill->origin_bits + 1;
        if (!tamis_i_run_init(back) || !tamis_i_mul(spill->n_back, back->words, &back_words))
            return false;
        spill->back_ops = tamis_i_run_ops_for(back, features);
    }
    return tamis_i_add(front_words, back_words, &spill->words);
}

/* ---- places ---- */

/* What is to be added to the number of the first bucket, to get that of the second; M > 1. */
static uint64_t spill_step(const tamis_i_spill *s, uint64_t home) {
    return 1 + tamis_i_range((home + 1) * STEPS, s->n_back - 1);
}

/* Where a home goes that is given away: home q of bucket m of the back, and which bucket it is of. */
typedef struct spill_away_home {
    uint64_t q, m;
    uint64_t origin; /* where a slot of the back tells it */
} spill_away_home;

static spill_away_home spill_away_of(const tamis_i_spill *s, uint64_t bucket, uint64_t home) {
    const uint64_t j = (bucket >> s->origin_bits) * s->front.homes + home;
    const uint64_t origin = bucket & tamis_i_low_mask((unsigned)s->origin_bits);
    const uint64_t q = j / s->n_back;
    return (spill_away_home){
        .q = q, .m = j - q * s->n_back, .origin = origin << s->front.print_bits};
}

/* The same for the next home of the bucket. */
static void spill_away_next(const tamis_i_spill *s, spill_away_home *home) {
    if (++home->m == s->n_back) {
        home->m = 0;
        home->q++;
    }
}

/* The buckets that it has places in; returns how many. */
TAMIS_INLINE unsigned spill_buckets(const tamis_i_spill *s, uint64_t *table,
                                    const spill_away_home *home, uint64_t *bucket[PLACES]) {
    uint64_t *const back = table + s->n_front * s->front.words;
    bucket[0] = back + home->m * s->back.words;
    if (s->n_back == 1)
        return 1;
    const uint64_t m = home->m + spill_step(s, home->q);
    bucket[1] = back + (m < s->n_back ? m : m - s->n_back) * s->back.words;
    return 2;
}

/* The bit of a slot of the back that tells the second place. */
static uint64_t spill_second(const tamis_i_spill *s) {
    return (uint64_t)1 << (s->back.print_bits - 1);
}

/* Its places; their views are not yet known. */
static unsigned spill_places(const tamis_i_spill *s, uint64_t *table, const spill_away_home *home,
                             uint64_t print, tamis_i_spill_place place[PLACES]) {
    uint64_t *bucket[PLACES];
    const unsigned n = spill_buckets(s, table, home, bucket);
    for (unsigned i = 0; i < n; i++)
        place[i] =
            (tamis_i_spill_place){.run = &s->back,
                                  .ops = s->back_ops,
                                  .bucket = bucket[i],
                                  .print = print | home->origin | (i == 0 ? 0 : spill_second(s)),
                                  .extra = (unsigned)s->back.print_bits,
                                  .spilled = true,
                                  .second = i == 1};
    return n;
}

static unsigned spill_away(const tamis_i_spill *s, uint64_t *table, uint64_t bucket, uint64_t home,
                           uint64_t print, tamis_i_spill_place place[PLACES], uint64_t *back_home) {
    const spill_away_home away = spill_away_of(s, bucket, home);
    *back_home = away.q;
    return spill_places(s, table, &away, print, place);
}

/* Look at a home that is away.  In no table that was checked is it away in the back too. */
static void spill_look(tamis_i_spill_place *place, uint64_t back_home) {
    if (!place->ops->look(place->run, place->bucket, back_home, &place->view))
        place->view = (tamis_i_run_view){0, 0, 0};
}

static unsigned spill_find_away(const tamis_i_spill *s, uint64_t *table,
                                const spill_away_home *home, tamis_i_spill_place place[PLACES]) {
    const unsigned n = spill_places(s, table, home, 0, place);
    for (unsigned i = 0; i < n; i++)
        spill_look(&place[i], home->q);
    return n;
}

/* A place is used to read and to write; who got a table to read does not write. */
static uint64_t *spill_words(const uint64_t *table) {
    union {
        const uint64_t *given;
        uint64_t *own;
    } either = {.given = table};
    return either.own;
}

unsigned tamis_i_spill_back(const tamis_i_spill *s, const uint64_t *table, tamis_i_spill_key key,
                            const uint64_t *buckets[2]) {
    tamis_i_spill_place place[PLACES];
    uint64_t back_home;
    if (s->n_back == 0)
        return 0;
    const unsigned n =
        spill_away(s, spill_words(table), key.bucket, key.home, key.print, place, &back_home);
    for (unsigned i = 0; i < n; i++)
        buckets[i] = place[i].bucket;
    return n;
}

void tamis_i_spill_find(const tamis_i_spill *s, const uint64_t *table, tamis_i_spill_key key,
                        tamis_i_spill_place *place) {
    uint64_t *const words = spill_words(table);
    *place = (tamis_i_spill_place){.run = &s->front,
                                   .ops = s->front_ops,
                                   .bucket = tamis_i_spill_front(s, words, key.bucket),
                                   .print = key.print,
                                   .extra = (unsigned)s->front.print_bits};
    if (place->ops->look(place->run, place->bucket, key.home, &place->view))
        return;
    place->view = (tamis_i_run_view){0, 0, 0};
    if (s->n_back != 0) {
        tamis_i_spill_place both[PLACES];
        uint64_t back_home;
        (void)spill_away(s, words, key.bucket, key.home, key.print, both, &back_home);
        *place = both[0];
        spill_look(place, back_home);
    }
}

bool tamis_i_spill_other(const tamis_i_spill *s, const uint64_t *table, tamis_i_spill_key key,
                         tamis_i_spill_place *place) {
    if (!place->spilled || place->second || s->n_back == 1)
        return false;
    tamis_i_spill_place both[PLACES];
    uint64_t back_home;
    (void)spill_away(s, spill_words(table), key.bucket, key.home, key.print, both, &back_home);
    *place = both[1];
    spill_look(place, back_home);
    return true;
}

bool tamis_i_spill_next(const tamis_i_spill_place *place, uint64_t *number, uint64_t *extra) {
    *number = tamis_i_run_match(place->run, place->bucket, &place->view, *number,
                                place->run->print_mask, place->print);
    if (*number >= place->view.first + place->view.length)
        return false;
    const uint64_t slot = tamis_i_run_get(place->run, place->bucket, *number);
    *extra = place->extra == TAMIS_I_RUN_SLOT ? 0 : slot >> place->extra;
    return true;
}

void tamis_i_spill_set(const tamis_i_spill_place *place, uint64_t number, uint64_t extra) {
    const uint64_t more = place->extra == TAMIS_I_RUN_SLOT ? 0 : extra << place->extra;
    tamis_i_run_set(place->run, place->bucket, number, place->print | more);
}

/* Is there such a slot of a home that is away? */
TAMIS_APART bool spill_has_away(const tamis_i_spill *s, const uint64_t *table,
                                tamis_i_spill_key key) {
    tamis_i_spill_place place[PLACES];
    uint64_t home;
    const unsigned n =
        spill_away(s, spill_words(table), key.bucket, key.home, key.print, place, &home);
    for (unsigned i = 0; i < n; i++)
        if (s->back_ops->find(&s->back, place[i].bucket, home, place[i].print) == TAMIS_I_RUN_FOUND)
            return true;
    return false;
}

bool tamis_i_spill_has(const tamis_i_spill *s, const uint64_t *table, tamis_i_spill_key key) {
    const uint64_t *const bucket = table + key.bucket * s->front.words;
    const unsigned result = s->front_ops->find(&s->front, bucket, key.home, key.print);
    if (TAMIS_LIKELY(result != TAMIS_I_RUN_AWAY) || s->n_back == 0)
        return result == TAMIS_I_RUN_FOUND;
    return spill_has_away(s, table, key);
}

/* ---- groups of keys ---- */

/* The lowest of some bits. */
static unsigned spill_lowest(uint32_t bits) {
    return tamis_i_ones_of((bits & -bits) - 1);
}

/* Begin to fetch the two runs of a home that is away. */
TAMIS_INLINE void spill_fetch_places(const tamis_i_spill *s, const uint64_t *table,
                                     const spill_away_home *home) {
    const uint64_t *const back = table + s->n_front * s->front.words;
    tamis_i_run_fetch(&s->back, back + home->m * s->back.words, home->q);
    if (s->n_back > 1) {
        const uint64_t m = home->m + spill_step(s, home->q);
        tamis_i_run_fetch(&s->back, back + (m < s->n_back ? m : m - s->n_back) * s->back.words,
                          home->q);
    }
}

TAMIS_INLINE void spill_fetch_away(const tamis_i_spill *s, const uint64_t *table, uint64_t bucket,
                                   uint64_t home) {
    const spill_away_home away = spill_away_of(s, bucket, home);
    spill_fetch_places(s, table, &away);
}

void tamis_i_spill_look_many(const tamis_i_spill *s, const uint64_t *table, size_t n,
                             tamis_i_spill_keys *keys, const tamis_i_spill_keys *later) {
    if (tamis_i_spill_is_pair(s))
        keys->found =
            s->front_ops->find_many(&s->front, &keys->front, n, &later->front, &keys->away);
    else
        keys->away = s->front_ops->look_many(&s->front, &keys->front, n, &later->front);
    if (s->n_back == 0)
        keys->away = 0;
    for (uint32_t away = keys->away; away != 0; away &= away - 1) {
        const unsigned i = spill_lowest(away);
        spill_fetch_away(s, table, keys->front.number[i], keys->front.home[i]);
    }
}

uint32_t tamis_i_spill_has_many(const tamis_i_spill *s, const uint64_t *table, size_t n,
                                const tamis_i_spill_keys *keys) {
    uint32_t found = tamis_i_spill_is_pair(s)
                         ? keys->found
                         : s->front_ops->match_many(&s->front, &keys->front, n);
    for (uint32_t away = keys->away; away != 0; away &= away - 1) {
        const unsigned i = spill_lowest(away);
        found |= (uint32_t)spill_has_away(s, table, tamis_i_spill_key_of(keys, i)) << i;
    }
    return found;
}

void tamis_i_spill_expect_many(const tamis_i_spill *s, const uint64_t *table, size_t n,
                               const tamis_i_spill_keys *keys, bool removal) {
    if (s->n_back == 0)
        return;
    uint32_t full = s->front_ops->full_many(&s->front, &keys->front, n);
    for (; full != 0; full &= full - 1) {
        const unsigned i = spill_lowest(full);
        const uint64_t *const bucket = keys->front.bucket[i];
        const uint64_t home = keys->front.home[i];
        const tamis_i_run_load load = s->front_ops->count(&s->front, bucket);
        if (load.held <= home)
            spill_fetch_away(s, table, keys->front.number[i], home);
        else if (removal && load.held < s->front.homes)
            spill_fetch_away(s, table, keys->front.number[i], load.held);
        else if (!removal && load.load >= s->front.slots)
            spill_fetch_away(s, table, keys->front.number[i],
                             tamis_i_run_last(&s->front, bucket, load));
    }
}

/* ---- giving away ---- */

/* A slot of the front as one of the back, and the other way round. */
static uint64_t spill_slot_away(const tamis_i_spill *s, uint64_t slot, uint64_t print) {
    const unsigned bits = (unsigned)s->front.print_bits, back = (unsigned)s->back.print_bits;
    const uint64_t extra = back == TAMIS_I_RUN_SLOT ? 0 : slot >> bits << back;
    return (slot & s->front.print_mask) | print | extra;
}

static uint64_t spill_slot_back(const tamis_i_spill *s, uint64_t slot) {
    const unsigned bits = (unsigned)s->front.print_bits, back = (unsigned)s->back.print_bits;
    const uint64_t extra = back == TAMIS_I_RUN_SLOT ? 0 : slot >> back << bits;
    return (slot & s->front.print_mask) | extra;
}

/* The bits of a slot of the back that tell the bucket of the front and the place. */
static uint64_t spill_own_mask(const tamis_i_spill *s) {
    return s->back.print_mask ^ s->front.print_mask;
}

/* A home that is away, in both of its places, to be looked at; returns how many there are.  A second one that
 * is not there has no slots, and no room. */
TAMIS_INLINE unsigned spill_twins(const tamis_i_spill *s, uint64_t *table,
                                  const spill_away_home *away, tamis_i_run_asked twins[PLACES]) {
    uint64_t *bucket[PLACES] = {NULL, NULL};
    const unsigned places = spill_buckets(s, table, away, bucket);
    twins[0].bucket = bucket[0];
    twins[0].value = away->origin;
    twins[1].bucket = bucket[1];
    twins[1].value = away->origin | spill_second(s);
    twins[1].load = s->back.slots;
    twins[1].n = 0;
    return places;
}

static void spill_weigh(const tamis_i_spill *s, uint64_t *table, uint64_t bucket, uint64_t home,
                        tamis_i_run_asked twins[PLACES]) {
    const spill_away_home away = spill_away_of(s, bucket, home);
    const unsigned places = spill_twins(s, table, &away, twins);
    s->back_ops->weigh(&s->back, away.q, twins, places);
}

/* Slots that are free in both buckets. */
static uint64_t spill_room(const tamis_i_spill *s, const tamis_i_run_asked twins[PLACES]) {
    return 2 * s->back.slots - twins[0].load - twins[1].load;
}

/* Store a slot of the front in the one of the buckets that has more room; one of them has. */
TAMIS_INLINE void spill_store_away(const tamis_i_spill *s, tamis_i_run_asked twins[PLACES],
                                   uint64_t slot) {
    tamis_i_run_asked *const to = &twins[twins[1].load < twins[0].load];
    s->back_ops->put(&s->back, to->bucket, &to->view, spill_slot_away(s, slot, to->value),
                     to->load);
    to->view.length++;
    to->view.end++;
    to->load++;
}

/* What the front stores of a key; there may be no extra bits, which are 0 then. */
static uint64_t spill_slot(const tamis_i_spill *s, tamis_i_spill_key key, uint64_t extra) {
    return key.print | (extra == 0 ? 0 : extra << s->front.print_bits);
}

/* Give away the last home with slots of a bucket that is full, and all behind it, if there is room for
 * them in the back.  If the home of the new slot is that one or behind it, it alone goes, the slot with it.
 * Else its run is where it was. */
bool tamis_i_spill_push(const tamis_i_spill *s, uint64_t *table, tamis_i_spill_key key,
                        const tamis_i_run_spot *spot, uint64_t extra) {
    uint64_t *const bucket = tamis_i_spill_front(s, table, key.bucket);
    const uint64_t slot = spill_slot(s, key, extra);
    tamis_i_run_view last;
    tamis_i_run_asked to[PLACES];
    if (s->n_back == 0)
        return false;
    const uint64_t home = s->front_ops->spare(&s->front, bucket, spot->load, key.home, &last);
    spill_weigh(s, table, key.bucket, home, to);
    if (TAMIS_UNLIKELY(spill_room(s, to) < last.length + (home == key.home)))
        return false;
    for (uint64_t i = 0; i < last.length; i++)
        spill_store_away(s, to, tamis_i_run_get(&s->front, bucket, last.first + i));
    tamis_i_run_cut(&s->front, bucket, spot->load, &last);
    if (home == key.home)
        spill_store_away(s, to, slot);
    else
        s->front_ops->put(&s->front, bucket, &spot->view, slot, spot->load.load - last.length);
    return true;
}

bool tamis_i_spill_add(const tamis_i_spill *s, uint64_t *table, tamis_i_spill_key key,
                       uint64_t extra) {
    uint64_t *const bucket = tamis_i_spill_front(s, table, key.bucket);
    const uint64_t slot = spill_slot(s, key, extra);
    tamis_i_run_spot spot;
    tamis_i_run_asked to[PLACES];
    if (s->front_ops->look(&s->front, bucket, key.home, &spot.view)) {
        spot.load = s->front_ops->count(&s->front, bucket);
        if (spot.load.load >= s->front.slots)
            return tamis_i_spill_push(s, table, key, &spot, extra);
        s->front_ops->put(&s->front, bucket, &spot.view, slot, spot.load.load);
        return true;
    }
    if (s->n_back == 0)
        return false;
    spill_weigh(s, table, key.bucket, key.home, to);
    if (spill_room(s, to) == 0)
        return false;
    spill_store_away(s, to, slot);
    return true;
}

/* ---- taking back ---- */

/* Move what is of this bucket to the front, where it gets the slots from 'to' on: first what is in the first
 * place. */
TAMIS_INLINE void spill_take_back(const tamis_i_spill *s, uint64_t *bucket, uint64_t to,
                                  tamis_i_run_asked twins[PLACES]) {
    for (uint64_t left = twins[0].n + twins[1].n; left > 0; left--) {
        tamis_i_run_asked *const from = &twins[twins[0].n == 0];
        const uint64_t slot = tamis_i_run_get(&s->back, from->bucket, from->number);
        tamis_i_run_set(&s->front, bucket, to++, spill_slot_back(s, slot));
        s->back_ops->take(&s->back, from->bucket, &from->view, from->number, from->load, false);
        from->view.length--;
        from->view.end--;
        from->load--;
        if (--from->n > 0)
            from->number = tamis_i_run_match(&s->back, from->bucket, &from->view, from->number,
                                             spill_own_mask(s), from->value);
    }
}

/* Take back homes of a bucket as long as there is room, but look at no more than 'most'. */
static void spill_return(const tamis_i_spill *s, uint64_t *table, uint64_t number, uint64_t most) {
    uint64_t *const bucket = tamis_i_spill_front(s, table, number);
    tamis_i_run_load load = s->front_ops->count(&s->front, bucket);
    spill_away_home away = spill_away_of(s, number, load.held);
    for (; most > 0 && load.held < s->front.homes && load.load < s->front.slots; most--) {
        tamis_i_run_asked from[PLACES];
        const unsigned places = spill_twins(s, table, &away, from);
        s->back_ops->ask(&s->back, away.q, spill_own_mask(s), from, places);
        const uint64_t n = from[0].n + from[1].n;
        if (load.load + n > s->front.slots)
            return;
        tamis_i_run_join(&s->front, bucket, load, n);
        spill_take_back(s, bucket, load.load, from);
        load.held++;
        load.load += n;
        spill_away_next(s, &away);
    }
}

void tamis_i_spill_return(const tamis_i_spill *s, uint64_t *table, uint64_t bucket) {
    if (s->n_back != 0)
        spill_return(s, table, bucket, TAMIS_I_SPILL_RETURNS);
}

void tamis_i_spill_drop(const tamis_i_spill *s, uint64_t *table, tamis_i_spill_key key,
                        const tamis_i_spill_place *place, uint64_t number) {
    const uint64_t held =
        s->front_ops->count(&s->front, tamis_i_spill_front(s, table, key.bucket)).held;
    const bool cut = held < s->front.homes && s->n_back != 0;
    place->ops->take(place->run, place->bucket, &place->view, number, place->run->slots,
                     cut && !place->spilled);
    /* In the back only the first home that is away is waited for. */
    if (cut && (!place->spilled || key.home == held))
        spill_return(s, table, key.bucket, TAMIS_I_SPILL_RETURNS);
}

/* ---- whole buckets ---- */

/* Drop the slots of one run of the back whose bits in 'mask' are 'value'. */
static uint64_t spill_sweep_run(tamis_i_spill_place *place, uint64_t mask, uint64_t value) {
    uint64_t dropped = 0;
    for (uint64_t i = place->view.first;; dropped++) {
        i = tamis_i_run_match(place->run, place->bucket, &place->view, i, mask, value);
        if (i >= place->view.first + place->view.length)
            return dropped;
        place->ops->take(place->run, place->bucket, &place->view, i, place->run->slots, false);
        place->view.length--;
        place->view.end--;
    }
}

uint64_t tamis_i_spill_sweep(const tamis_i_spill *s, uint64_t *table, uint64_t bucket,
                             uint64_t mask, uint64_t value) {
    uint64_t *const front = tamis_i_spill_front(s, table, bucket);
    const unsigned bits = (unsigned)s->front.print_bits;
    const tamis_i_run_load load = s->front_ops->count(&s->front, front);
    uint64_t dropped = s->front_ops->sweep(&s->front, front, mask << bits, value << bits);
    if (load.held == s->front.homes || s->n_back == 0)
        return dropped;
    const spill_away_home first = spill_away_of(s, bucket, load.held);
    spill_away_home away = first;
    for (uint64_t home = load.held; home < s->front.homes; home++) {
        spill_fetch_places(s, table, &away);
        spill_away_next(s, &away);
    }
    away = first;
    for (uint64_t home = load.held; home < s->front.homes; home++, spill_away_next(s, &away)) {
        tamis_i_spill_place place[PLACES];
        const unsigned places = spill_find_away(s, table, &away, place);
        for (unsigned i = 0; i < places; i++)
            dropped +=
                spill_sweep_run(&place[i], spill_own_mask(s) | mask << place[i].extra,
                                (spill_own_mask(s) & place[i].print) | value << place[i].extra);
    }
    spill_return(s, table, bucket, s->front.homes);
    return dropped;
}

void tamis_i_spill_start(const tamis_i_spill *s, const uint64_t *table, uint64_t bucket,
                         tamis_i_spill_walk *walk) {
    *walk = (tamis_i_spill_walk){.bucket = bucket};
    const tamis_i_spill_key key = {.bucket = bucket, .home = 0};
    tamis_i_spill_find(s, table, key, &walk->place);
    walk->next = walk->place.view.first;
}

bool tamis_i_spill_step(const tamis_i_spill *s, const uint64_t *table, tamis_i_spill_walk *walk) {
    tamis_i_spill_place *const place = &walk->place;
    for (;;) {
        const uint64_t own = place->spilled ? spill_own_mask(s) : 0;
        walk->number = tamis_i_run_match(place->run, place->bucket, &place->view, walk->next, own,
                                         own & place->print);
        if (walk->number < place->view.first + place->view.length)
            break;
        const tamis_i_spill_key here = {.bucket = walk->bucket, .home = walk->home};
        if (!tamis_i_spill_other(s, table, here, place)) {
            if (++walk->home >= s->front.homes)
                return false;
            const tamis_i_spill_key next = {.bucket = walk->bucket, .home = walk->home};
            tamis_i_spill_find(s, table, next, place);
        }
        walk->next = place->view.first;
    }
    const uint64_t slot = tamis_i_run_get(place->run, place->bucket, walk->number);
    walk->next = walk->number + 1;
    walk->print = slot & s->front.print_mask;
    walk->extra = place->extra == TAMIS_I_RUN_SLOT ? 0 : slot >> place->extra;
    place->print = (place->print & ~s->front.print_mask) | walk->print;
    return true;
}

/* Does slot 'number', of home q of bucket m of the back, belong there? */
static bool spill_belongs(const tamis_i_spill *s, const uint64_t *table, uint64_t q, uint64_t m,
                          uint64_t slot) {
    const uint64_t told = (slot & s->back.print_mask) >> s->front.print_bits;
    if (told >> s->origin_bits != 0) {
        if (s->n_back == 1)
            return false;
        const uint64_t step = spill_step(s, q);
        m = m < step ? m + s->n_back - step : m - step;
    }
    const uint64_t j = q * s->n_back + m;
    const uint64_t from = (j / s->front.homes << s->origin_bits) +
                          (told & tamis_i_low_mask((unsigned)s->origin_bits));
    return j < s->n_homes && from < s->n_front &&
           s->front_ops->count(&s->front, table + from * s->front.words).held <= j % s->front.homes;
}

/* Do the slots of one bucket of the back belong where they are? */
static bool spill_check_back(const tamis_i_spill *s, const uint64_t *table, uint64_t number,
                             const uint64_t *bucket, const char **reason) {
    const tamis_i_run_load load = s->back_ops->count(&s->back, bucket);
    *reason = "a bucket of the back has given homes away";
    if (load.held < s->back.homes)
        return false;
    *reason = "a slot of the back belongs to no home that was given away";
    for (uint64_t bit = 0, slot = 0; slot < load.load; bit++)
        if (tamis_i_bit_get(bucket, bit)) {
            if (!spill_belongs(s, table, bit - slot, number,
                               tamis_i_run_get(&s->back, bucket, slot)))
                return false;
            slot++;
        }
    return true;
}

bool tamis_i_spill_check(const tamis_i_spill *s, const uint64_t *table, uint64_t *slots,
                         const char **reason) {
    const uint64_t *bucket = table;
    *slots = 0;
    for (uint64_t i = 0; i < s->n_front; i++, bucket += s->front.words) {
        if (!tamis_i_run_check(&s->front, bucket, reason))
            return false;
        const tamis_i_run_load load = s->front_ops->count(&s->front, bucket);
        if (load.held < s->front.homes && s->n_back == 0) {
            *reason = "a bucket has given homes away, but there is no back";
            return false;
        }
        *slots += load.load;
    }
    for (uint64_t i = 0; i < s->n_back; i++, bucket += s->back.words) {
        if (!tamis_i_run_check(&s->back, bucket, reason) ||
            !spill_check_back(s, table, i, bucket, reason))
            return false;
        *slots += s->back_ops->count(&s->back, bucket).load;
    }
    return true;
}
