/* run.h - an engine: one bucket of fingerprints of fixed length, in the order of their homes
 *
 * A bucket has a number of homes.  The fingerprints of a home, its run, lie side by side, and the runs follow
 * each other in the order of the homes.  The index says how long each run is, in unary: a one for each
 * fingerprint, then a zero that ends the run.
 *
 *      index   0 | 1 1 0 | 0 | 1 0 | 0 ..    homes 0, 1, 2, 3, 4 ..
 *      slots       a b         c             home 1 holds a and b, home 3 holds c
 *
 *      [ index: homes + slots bits ][ slots, of slot_bits each ][ unused: 0 ]    a multiple of a line
 *
 * The zero of home h is at bit h + (slots of the homes up to h), so that finding it tells where the run ends;
 * the ones before it tell where it begins.  A slot holds the fingerprint, in its low bits, and extra bits
 * for the caller.
 *
 * A bucket may have given away its last homes: it then holds the homes below a number 'held', and what
 * belongs to the others is somewhere else.  The index ends with the zero of the last home that is held, and
 * all bits behind are ones.  So it has 'held' zeros; that home h is away is seen from its zero, which is
 * not there, and no bit is spent on that.  A bucket that holds all homes has zeros behind them: a bucket of
 * zeros is an empty one.
 *
 * Invariants, tested by tamis_i_run_check():
 *   R1  the zero of the last home that is held comes before more than 'slots' ones, and after it all bits
 *       of the index are 0 if all homes are held, else 1;
 *   R2  slots past the last one in use are zero, and so is what is not used.
 *
 * The functions never leave the bucket, whatever its bits are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_RUN_H
#define TAMIS_BITS_RUN_H

#include "bits/field.h"
#include "bits/group.h"
#include "hash/hash.h"

#define TAMIS_I_RUN_WORDS  512u /* of a bucket, at most: a page of 4 KiB */
#define TAMIS_I_RUN_PRINT  48u  /* bits of a fingerprint, at most */
#define TAMIS_I_RUN_SLOT   64u  /* bits of a slot, at most */
#define TAMIS_I_RUN_COPIES 255u /* that can be a limit */

/* The layout of buckets: what is asked for, and what follows from it. */
typedef struct tamis_i_run {
    uint64_t words; /* of a bucket */
    uint64_t homes;
    uint64_t print_bits; /* of a fingerprint */
    uint64_t slot_bits;
    uint64_t slots;
    uint64_t index_bits;  /* homes + slots */
    uint64_t index_words; /* whole words of it */
    uint64_t index_mask;  /* of its bits in the word behind those */
    uint64_t print_mask;
    uint64_t slot_mask;
    /* Slots side by side in a word: so many fit wherever the first one begins in a byte; the lowest and the
     * highest bit of each, and the bits of their fingerprints. */
    uint64_t fit, lowest, highest, prints;
    uint64_t pace; /* bits of slots per home of a full bucket, times 2^16 */
} tamis_i_run;

/* Fill in what follows from words, homes, print_bits and slot_bits.  False if they make no bucket: words are
 * a multiple of a line up to TAMIS_I_RUN_WORDS, there are 1 to 48 bits of a fingerprint, slots of at most 64
 * bits, and room for one slot. */
bool tamis_i_run_init(tamis_i_run *run);

/* What is known of a home that is held. */
typedef struct tamis_i_run_view {
    uint64_t end;    /* bit of its zero */
    uint64_t first;  /* number of its first slot */
    uint64_t length; /* slots of its run */
} tamis_i_run_view;

/* How full a bucket is. */
typedef struct tamis_i_run_load {
    uint64_t load; /* slots in use */
    uint64_t held; /* homes that are held */
} tamis_i_run_load;

/* A run that was looked at, in a bucket that is so full. */
typedef struct tamis_i_run_spot {
    tamis_i_run_view view;
    tamis_i_run_load load;
} tamis_i_run_spot;

/* A home of a bucket that is asked for slots with this value, and what is known of both then. */
typedef struct tamis_i_run_asked {
    uint64_t *bucket;
    uint64_t value;
    tamis_i_run_view view;
    uint64_t load;   /* slots in use, of the bucket */
    uint64_t n;      /* slots with the value */
    uint64_t number; /* of the first of them, if there is one */
} tamis_i_run_asked;

/* What an operation has met; several at once where they do not exclude each other. */
#define TAMIS_I_RUN_FOUND                                                                          \
    1u /* a slot with this fingerprint is there, or was before a new one came */
#define TAMIS_I_RUN_DONE 2u /* a slot was stored, or dropped */
#define TAMIS_I_RUN_AWAY 4u /* the home is not held; nothing was done */
#define TAMIS_I_RUN_CUT  8u /* the last homes of the bucket are away */

/* The queries of a group, in columns, and what was learned about them. */
typedef struct tamis_i_run_keys {
    uint64_t *bucket[TAMIS_I_GROUP];
    uint64_t number[TAMIS_I_GROUP]; /* of the bucket */
    uint64_t home[TAMIS_I_GROUP];
    uint64_t print[TAMIS_I_GROUP];
    uint64_t at[TAMIS_I_GROUP];    /* of a run that is held: the bit at which its slots begin */
    uint64_t width[TAMIS_I_GROUP]; /* and how many bits they are */
} tamis_i_run_keys;

typedef struct tamis_i_run_ops {
    /* Is there such a slot?  FOUND, AWAY or 0. */
    unsigned (*find)(const tamis_i_run *run, const uint64_t *bucket, uint64_t home, uint64_t print);

    /* Where is the run of a home?  False if it is away. */
    bool (*look)(const tamis_i_run *run, const uint64_t *bucket, uint64_t home,
                 tamis_i_run_view *view);

    tamis_i_run_load (*count)(const tamis_i_run *run, const uint64_t *bucket);

    /* Store a slot at the end of a run, if the bucket has room and less than 'copies' slots of the run have
     * this fingerprint.  Any of FOUND and DONE, or AWAY.  If it is 0 the bucket is full, and '*spot' tells
     * the run and how full. */
    unsigned (*add)(const tamis_i_run *run, uint64_t *bucket, uint64_t home, uint64_t slot,
                    uint64_t copies, tamis_i_run_spot *spot);

    /* Drop the first slot with this fingerprint.  0, AWAY, or DONE, then also CUT. */
    unsigned (*drop)(const tamis_i_run *run, uint64_t *bucket, uint64_t home, uint64_t print);

    /* Look at a home of n buckets, which hold all theirs, and at these: what is its run, and how full are
     * they?  A home that is away after all is empty. */
    void (*weigh)(const tamis_i_run *run, uint64_t home, tamis_i_run_asked *asked, unsigned n);

    /* The same, and how many slots of the run have the value in their bits 'mask'? */
    void (*ask)(const tamis_i_run *run, uint64_t home, uint64_t mask, tamis_i_run_asked *asked,
                unsigned n);

    /* The home that a full bucket gives away for a slot of home 'own', which it holds: the last one that has
     * slots, or 'own' if that one is behind it; and its run. */
    uint64_t (*spare)(const tamis_i_run *run, const uint64_t *bucket, tamis_i_run_load load,
                      uint64_t own, tamis_i_run_view *view);

    /* Store a slot at the end of a run that was looked at, in a bucket that has room; of its slots so many
     * are in use, or fewer. */
    void (*put)(const tamis_i_run *run, uint64_t *bucket, const tamis_i_run_view *view,
                uint64_t slot, uint64_t load);

    /* Drop slot 'number' of a run that was looked at, of so many slots in use, or fewer. */
    void (*take)(const tamis_i_run *run, uint64_t *bucket, const tamis_i_run_view *view,
                 uint64_t number, uint64_t load, bool cut);

    /* Where n keys of a group are, in a table of so many buckets: bucket and home from half of the digest,
     * the fingerprint from the other. */
    void (*locate_many)(const tamis_i_run *run, uint64_t *table, uint64_t buckets,
                        const tamis_digest *digests, size_t n, tamis_i_run_keys *keys);

    /* 'look' for n keys of a group, whose slots begin to be fetched.  Bits of the result: keys whose homes
     * are away, which have no slots.  In turns with them, the indexes of the buckets of n other keys begin to
     * be fetched: those of a later group, or again the same. */
    uint32_t (*look_many)(const tamis_i_run *run, tamis_i_run_keys *keys, size_t n,
                          const tamis_i_run_keys *later);

    /* 'find' for keys that were looked at, in buckets that did not change since.  Bits of the result: those
     * with such a slot. */
    uint32_t (*match_many)(const tamis_i_run *run, const tamis_i_run_keys *keys, size_t n);

    /* 'find' for n keys of a group, all at once.  Bits of the result: those with such a slot; of '*away':
     * those whose homes are away.  In turns with them, two lines of the buckets of n later keys begin to be
     * fetched, or again of the same. */
    uint32_t (*find_many)(const tamis_i_run *run, const tamis_i_run_keys *keys, size_t n,
                          const tamis_i_run_keys *later, uint32_t *away);

    /* Drop all slots whose bits in 'mask' are 'value', in one pass; returns how many. */
    uint64_t (*sweep)(const tamis_i_run *run, uint64_t *bucket, uint64_t mask, uint64_t value);

    /* Bits of the result: keys of a group whose buckets have no slot left, or have given homes away. */
    uint32_t (*full_many)(const tamis_i_run *run, const tamis_i_run_keys *keys, size_t n);
} tamis_i_run_ops;

const tamis_i_run_ops *tamis_i_run_ops_for(const tamis_i_run *run, unsigned features);
const tamis_i_run_ops *tamis_i_run_ops_x86(const tamis_i_run *run, unsigned features);

/* The bit at which slot 'number' begins. */
TAMIS_INLINE uint64_t tamis_i_run_at(const tamis_i_run *run, uint64_t number) {
    return run->index_bits + number * run->slot_bits;
}

TAMIS_INLINE uint64_t tamis_i_run_get(const tamis_i_run *run, const uint64_t *bucket,
                                      uint64_t number) {
    return tamis_i_field_get(bucket, tamis_i_run_at(run, number), (unsigned)run->slot_bits);
}

static inline void tamis_i_run_set(const tamis_i_run *run, uint64_t *bucket, uint64_t number,
                                   uint64_t slot) {
    tamis_i_field_put(bucket, tamis_i_run_at(run, number), (unsigned)run->slot_bits, slot);
}

/* Begin to fetch the index of a bucket. */
TAMIS_INLINE void tamis_i_run_fetch_index(const tamis_i_run *run, const uint64_t *bucket) {
    for (uint64_t i = 0; i <= run->index_words; i += TAMIS_LINE_WORDS)
        TAMIS_PREFETCH(bucket + i);
}

/* Begin to fetch two lines. */
TAMIS_INLINE void tamis_i_run_fetch_pair(const uint64_t *bucket) {
    TAMIS_PREFETCH(bucket);
    TAMIS_PREFETCH(bucket + TAMIS_LINE_WORDS);
}

/* Begin to fetch the index of a bucket, and the line where the slots of a home are expected. */
TAMIS_INLINE void tamis_i_run_fetch(const tamis_i_run *run, const uint64_t *bucket, uint64_t home) {
    tamis_i_run_fetch_index(run, bucket);
    TAMIS_PREFETCH(bucket + (run->index_bits + (home * run->pace >> 16)) / 64);
}

/* The first slot of a run, from 'number' on, whose bits in 'mask' are 'value'; view->first + view->length
 * if there is none. */
static inline uint64_t tamis_i_run_match(const tamis_i_run *run, const uint64_t *bucket,
                                         const tamis_i_run_view *view, uint64_t number,
                                         uint64_t mask, uint64_t value) {
    const uint64_t end = view->first + view->length;
    while (number < end && (tamis_i_run_get(run, bucket, number) & mask) != value)
        number++;
    return number;
}

/* The last home that is held and has slots; load > 0. */
uint64_t tamis_i_run_last(const tamis_i_run *run, const uint64_t *bucket, tamis_i_run_load load);

/* The member 'sweep' of operations without one of their own. */
uint64_t tamis_i_run_sweep(const tamis_i_run *run, uint64_t *bucket, uint64_t mask, uint64_t value);

/* Bits from 'from' up to 'to' become 'value'. */
void tamis_i_run_fill(uint64_t *bucket, uint64_t from, uint64_t to, bool value);

/* Give away the homes from 'home' on, which is held.  Their slots are lost. */
void tamis_i_run_cut(const tamis_i_run *run, uint64_t *bucket, tamis_i_run_load load,
                     const tamis_i_run_view *home);

/* Hold one home more, with n slots, which begin with number load.load and are zero: the caller sets them.
 * There is such a home, and room for them. */
static inline void tamis_i_run_join(const tamis_i_run *run, uint64_t *bucket, tamis_i_run_load load,
                                    uint64_t n) {
    const uint64_t end = load.held + load.load + n;
    if (TAMIS_LIKELY(load.held + 1 < run->homes))
        bucket[end / 64] &= ~((uint64_t)1 << end % 64);
    else
        tamis_i_run_fill(bucket, end, run->index_bits, false);
}

/* Check the invariants.  False, and why. */
bool tamis_i_run_check(const tamis_i_run *run, const uint64_t *bucket, const char **reason);

/* Are all bits from 'from' up to 'to' zero? */
bool tamis_i_run_is_zero(const uint64_t *words, uint64_t from, uint64_t to);

#endif
