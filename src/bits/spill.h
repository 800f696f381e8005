/* spill.h - an engine: a table of buckets whose last homes spill over, and come back
 *
 * A key has a bucket, a home in it, and a fingerprint: together, what is stored of it.  The buckets are those
 * of bits/run.h.  A bucket that is full gives its last homes away, with all that they hold, to a
 * second, smaller row of buckets, the back, and takes them back when slots become free.  At any time a home
 * is in one of the two places as a whole, and which one is seen in its bucket.
 *
 *      table   [ bucket 0 ][ bucket 1 ] ...            the front
 *              [ bucket 0 ] ...                        the back, of fewer and mostly larger buckets
 *
 * In the back a home has two places of its own, so that no two homes are ever confused there, nothing is
 * answered that the front would not have answered, and what comes back is exactly what had left.  Each slot
 * goes to the one whose bucket is less full, which makes all buckets of the back nearly equally full.  Let b
 * be the bucket, h the home, L the homes of a bucket, M the buckets of the back, and k the origin bits:
 *
 *      j = (b / 2^k) L + h,    q = j / M,    m = j mod M
 *
 *      first place     home q of bucket m
 *      second place    home q of bucket (m + 1 + s(q)) mod M, s(q) a number below M - 1; none if M = 1
 *
 *      slot in the front   [ fingerprint ]                      [ extra ]     low bits first
 *      slot in the back    [ fingerprint ][ b mod 2^k ][ place ][ extra ]
 *
 * Neighbouring homes of a bucket go to different buckets of the back: what one full bucket gives away is
 * spread over many.
 *
 * Invariants, tested by tamis_i_spill_check():
 *   P1  every bucket is one of bits/run.h, and those of the back hold all their homes;
 *   P2  a slot of the back belongs to a home that its bucket has given away.
 *
 * Nothing here knows how keys become fingerprints, what the extra bits mean, or where a key goes for which
 * there is no room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_SPILL_H
#define TAMIS_BITS_SPILL_H

#include "bits/run.h"
#include "hash/hash.h"

#define TAMIS_I_SPILL_ORIGIN  8u /* bits of an origin, at most */
#define TAMIS_I_SPILL_RETURNS 8u /* homes that a removal asks for in the back, at most */

/* The layout of a table: what is asked for, and what follows from it. */
typedef struct tamis_i_spill {
    tamis_i_run front; /* words, homes, print_bits, slot_bits are asked for */
    tamis_i_run back;  /* words are asked for; print_bits include origin and place */
    uint64_t n_front;  /* buckets; at least 1 */
    uint64_t n_back;   /* 0: a full bucket gives nothing away */
    uint64_t origin_bits;
    uint64_t n_homes; /* of all buckets that can have one: numbers j are below this */
    uint64_t words;   /* of the table */
    const tamis_i_run_ops *front_ops, *back_ops;
} tamis_i_spill;

/* Fill in what follows from what is asked for.  False if that makes no table. */
bool tamis_i_spill_init(tamis_i_spill *spill, unsigned features);

/* A key in the table. */
typedef struct tamis_i_spill_key {
    uint64_t bucket, home, print;
} tamis_i_spill_key;

static inline tamis_i_spill_key tamis_i_spill_locate(const tamis_i_spill *spill,
                                                     tamis_digest digest) {
    uint64_t word = digest.lo;
    tamis_i_spill_key key;
    key.bucket = tamis_i_take(&word, spill->n_front);
    key.home = tamis_i_take(&word, spill->front.homes);
    key.print = digest.hi & spill->front.print_mask;
    return key;
}

static inline uint64_t *tamis_i_spill_front(const tamis_i_spill *spill, uint64_t *table,
                                            uint64_t bucket) {
    return table + bucket * spill->front.words;
}

/* Begin to fetch what a query or a change of one key will read first. */
TAMIS_INLINE void tamis_i_spill_fetch(const tamis_i_spill *spill, const uint64_t *table,
                                      tamis_digest digest) {
    const tamis_i_spill_key key = tamis_i_spill_locate(spill, digest);
    tamis_i_run_fetch(&spill->front, table + key.bucket * spill->front.words, key.home);
}

/* The buckets of the back that the home of a key has places in; returns how many, up to two. */
unsigned tamis_i_spill_back(const tamis_i_spill *spill, const uint64_t *table,
                            tamis_i_spill_key key, const uint64_t *buckets[2]);

/* The keys of a group, on their way: first located, then looked at when that memory has come, then answered
 * or changed. */
typedef struct tamis_i_spill_keys {
    tamis_i_run_keys front;
    uint32_t found; /* bits: who is there, in a bucket of two lines */
    uint32_t away;  /* bits: whose home is away */
} tamis_i_spill_keys;

static inline tamis_i_spill_key tamis_i_spill_key_of(const tamis_i_spill_keys *keys, size_t i) {
    return (tamis_i_spill_key){.bucket = keys->front.number[i],
                               .home = keys->front.home[i],
                               .print = keys->front.print[i]};
}

/* Where n keys are.  Nothing is read or fetched. */
static inline void tamis_i_spill_locate_many(const tamis_i_spill *spill, uint64_t *table,
                                             const tamis_digest *digests, size_t n,
                                             tamis_i_spill_keys *keys) {
    spill->front_ops->locate_many(&spill->front, table, spill->n_front, digests, n, &keys->front);
}

/* Buckets of an aligned pair of lines are fetched as a whole.  To wait for the index, and only then fetch the
 * slots that are needed, would save a third of the lines, and take longer. */
static inline bool tamis_i_spill_is_pair(const tamis_i_spill *spill) {
    return spill->front.words == 2 * TAMIS_LINE_WORDS;
}

/* Begin to fetch what a change of key i will read and write in the front: all slots behind its own move. */
TAMIS_INLINE void tamis_i_spill_fetch_change(const tamis_i_spill *spill,
                                             const tamis_i_spill_keys *keys, size_t i) {
    const tamis_i_run *const front = &spill->front;
    const uint64_t *const bucket = keys->front.bucket[i];
    if (tamis_i_spill_is_pair(spill)) {
        tamis_i_run_fetch_pair(bucket);
        return;
    }
    tamis_i_run_fetch_index(front, bucket);
    for (uint64_t at = (front->index_bits + (keys->front.home[i] * front->pace >> 16)) / 64 /
                       TAMIS_LINE_WORDS * TAMIS_LINE_WORDS;
         at < front->words; at += TAMIS_LINE_WORDS)
        TAMIS_PREFETCH(bucket + at);
}

/* Begin to fetch the first that queries for n keys will read, all at once. */
TAMIS_INLINE void tamis_i_spill_fetch_many(const tamis_i_spill *spill,
                                           const tamis_i_spill_keys *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (tamis_i_spill_is_pair(spill))
            tamis_i_run_fetch_pair(keys->front.bucket[i]);
        else
            tamis_i_run_fetch_index(&spill->front, keys->front.bucket[i]);
}

/* Begin to fetch what queries for n keys will read besides, in a table that does not change before they are
 * answered.  In buckets of two lines the answer is known by now, unless it is in the back.  In turns with
 * them, the first that queries for n other keys will read begins to be fetched: of a later group, or again of
 * the same. */
void tamis_i_spill_look_many(const tamis_i_spill *spill, const uint64_t *table, size_t n,
                             tamis_i_spill_keys *keys, const tamis_i_spill_keys *later);

/* Which of them are there: bits. */
uint32_t tamis_i_spill_has_many(const tamis_i_spill *spill, const uint64_t *table, size_t n,
                                const tamis_i_spill_keys *keys);

/* Begin to fetch what changes will read and write in the back, as far as that is known by now. */
void tamis_i_spill_expect_many(const tamis_i_spill *spill, const uint64_t *table, size_t n,
                               const tamis_i_spill_keys *keys, bool removal);

/* Where slots of a key are, or would be: the run of its home in the front, or one of two in the back. */
typedef struct tamis_i_spill_place {
    const tamis_i_run *run;
    const tamis_i_run_ops *ops;
    uint64_t *bucket;
    tamis_i_run_view view;
    uint64_t print; /* of the key, in slots of this bucket */
    unsigned extra; /* bit of a slot at which its extra bits begin */
    bool spilled;   /* in the back */
    bool second;    /* the second place */
} tamis_i_spill_place;

/* The first place of a key, and the next one, if there is one: a home in the back may have slots in both. */
void tamis_i_spill_find(const tamis_i_spill *spill, const uint64_t *table, tamis_i_spill_key key,
                        tamis_i_spill_place *place);
bool tamis_i_spill_other(const tamis_i_spill *spill, const uint64_t *table, tamis_i_spill_key key,
                         tamis_i_spill_place *place);

/* The next slot of the key at a place, from number '*number' on, which begins at place->view.first: its extra
 * bits in '*extra' and its number in '*number'.  False if there is none. */
bool tamis_i_spill_next(const tamis_i_spill_place *place, uint64_t *number, uint64_t *extra);

/* Is there such a slot? */
bool tamis_i_spill_has(const tamis_i_spill *spill, const uint64_t *table, tamis_i_spill_key key);

/* Store one slot more for a key.  False, and nothing is changed, if there is no room. */
bool tamis_i_spill_add(const tamis_i_spill *spill, uint64_t *table, tamis_i_spill_key key,
                       uint64_t extra);

/* The same for a key whose home is at this spot, in a bucket that is full. */
bool tamis_i_spill_push(const tamis_i_spill *spill, uint64_t *table, tamis_i_spill_key key,
                        const tamis_i_run_spot *spot, uint64_t extra);

/* Change the extra bits of a slot that was found. */
void tamis_i_spill_set(const tamis_i_spill_place *place, uint64_t number, uint64_t extra);

/* Drop slot 'number' of a place, and take back homes of the bucket for which there is room now. */
void tamis_i_spill_drop(const tamis_i_spill *spill, uint64_t *table, tamis_i_spill_key key,
                        const tamis_i_spill_place *place, uint64_t number);

/* Take back homes of a bucket from which the operations of its run have dropped a slot, as far as there is
 * room: what tamis_i_spill_drop does by itself. */
void tamis_i_spill_return(const tamis_i_spill *spill, uint64_t *table, uint64_t bucket);

/* Drop all slots of one bucket of the front, wherever they are, whose extra bits in 'mask' are 'value', and
 * take back what then finds room.  The number of slots that were dropped.  Bounded work: the slots of one
 * bucket, and two runs of the back for each home that is away. */
uint64_t tamis_i_spill_sweep(const tamis_i_spill *spill, uint64_t *table, uint64_t bucket,
                             uint64_t mask, uint64_t value);

/* Walk over all slots of one bucket of the front, wherever they are, in the order of their homes. */
typedef struct tamis_i_spill_walk {
    tamis_i_spill_place place; /* of the slot */
    uint64_t home;             /* of the slot */
    uint64_t number;           /* of the slot, at the place */
    uint64_t print;            /* its fingerprint */
    uint64_t extra;            /* its extra bits */
    uint64_t bucket, next;
} tamis_i_spill_walk;

/* Begin before the first slot. */
void tamis_i_spill_start(const tamis_i_spill *spill, const uint64_t *table, uint64_t bucket,
                         tamis_i_spill_walk *walk);

/* The next one; false at the end.  The table must not change during the walk, but by tamis_i_spill_set. */
bool tamis_i_spill_step(const tamis_i_spill *spill, const uint64_t *table,
                        tamis_i_spill_walk *walk);

/* Check the invariants.  The number of slots in use goes to '*slots'.  False, and why. */
bool tamis_i_spill_check(const tamis_i_spill *spill, const uint64_t *table, uint64_t *slots,
                         const char **reason);

#endif
