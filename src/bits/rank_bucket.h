/* rank_bucket.h - an engine: one bucket of a rank-indexed table: chains of fingerprints without links
 *
 * A bucket has up to 64 homes.  The fingerprints of a home form a chain, but no link is stored:
 * counting bits gives the next one.  The first fingerprints of all chains, in the order of their homes,
 * take slots 0, 1, 2 ..; then come the second ones of the chains that have one, then the third ones:
 *
 *      base      0 1 0 0 1 1 ..   bit j: home j has a chain
 *      higher    1 0 1 | 0 1 | 0  bit s: the chain of the fingerprint in slot s goes on
 *      slots     a c e | b f | g  those of the chains' first, second, third fingerprints
 *
 * Home 1 holds a and b, home 4 holds c, home 5 holds e, f and g.  Each one bit in 'higher' stands for
 * one slot behind the first ones, in the same order.  So the slot after slot s is
 *
 *      (ones in base) + (ones in higher before bit s)
 *
 * at every level: from a, slot 0, to b, slot 3 + 0; from e, slot 2, to f, slot 3 + 1; from f, slot 4, to
 * g, slot 3 + 2.  A slot lies behind the one that leads to it.
 *
 * A bucket that has more fingerprints than slots continues in up to two extensions.  The three are its
 * pieces, and slots are numbered across them.  All are bit fields of one array of words (the table), packed
 * without gaps.  A link of 0 means that there is no further piece, a link of i means piece number i - 1:
 *
 *      bucket        [ base: homes ][ link ][ higher: Z1 ][ slots: Z1 x slot_bits ]
 *      extension 2   [ in use: 1   ][ link ][ higher: Z2 ][ slots: Z2 x slot_bits ]
 *      extension 3   [ in use: 1   ]        [ higher: Z3 ][ slots: Z3 x slot_bits ]
 *      a free one    [ 0 ][ number + 1 of the next free one ][ 0 ... ]
 *
 * A slot holds the fingerprint, in its low bits, and extra bits for the caller.
 *
 * Invariants, tested by tamis_i_rank_check():
 *   R1  every slot in use is reached from the first slots, level by level;
 *   R2  the number of slots in use, the load, is the number of ones in base and higher; it needs exactly
 *       the pieces that the bucket has;
 *   R3  bits past the last slot in use are zero, so one history of calls gives one byte image.
 *
 * The functions never leave the table, whatever its bits are.  A link that is too large counts as none.
 * A slot past the last piece, or not behind the one before it, ends a chain.
 *
 * After Hua, Zhao, Lin and Xu, "Rank-Indexed Hashing: A Compact Construction of Bloom Filters and
 * Variants", ICNP 2008, section III.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_RANK_BUCKET_H
#define TAMIS_BITS_RANK_BUCKET_H

#include "bits/field.h"
#include "bits/group.h"

#define TAMIS_I_RANK_PIECES 3u
#define TAMIS_I_RANK_SLOTS  512u /* of one piece, at most */

/* The layout of a table: what is asked for, and what follows from it. n[0] is the number of buckets,
 * n[1] and n[2] are the numbers of extensions. */
typedef struct tamis_i_rank_bucket {
    uint64_t homes;
    uint64_t fingerprint_bits;
    uint64_t count_bits; /* of the extra bits, the highest: more copies of the fingerprint */
    uint64_t slot_bits;  /* fingerprint and extra bits, up to 64 */
    uint64_t n[TAMIS_I_RANK_PIECES];
    uint64_t slots[TAMIS_I_RANK_PIECES];
    uint64_t first[TAMIS_I_RANK_PIECES + 1]; /* number of the first slot of each piece; all slots */
    uint64_t start[TAMIS_I_RANK_PIECES];     /* first bit of the first piece of each kind */
    uint64_t stride[TAMIS_I_RANK_PIECES];    /* bits of a piece */
    uint64_t link_bits[TAMIS_I_RANK_PIECES];
    uint64_t link_at[TAMIS_I_RANK_PIECES]; /* offsets within a piece, in bits */
    uint64_t higher_at[TAMIS_I_RANK_PIECES];
    uint64_t slots_at[TAMIS_I_RANK_PIECES];
    uint64_t bits;   /* of all */
    uint64_t middle; /* first bit that may be in neither the first nor the last line of a bucket */
    uint64_t head;   /* last bit of a bucket that is fetched before its indexes are known */
    uint64_t home_mask, fingerprint_mask;
} tamis_i_rank_bucket;

/* Fill in what follows from homes, fingerprint_bits, count_bits, slot_bits, n and slots.  False if they
 * make no table.  There must be 1 to 64 homes, 1 to 56 bits of a fingerprint, and slots of at most 64
 * bits.  A kind of extension has both numbers or none; the third needs the second; and there are no
 * more of them than pieces that they extend. */
bool tamis_i_rank_init(tamis_i_rank_bucket *rank);

/* A bucket, and the chain of one home as one fingerprint sees it. */
typedef struct tamis_i_rank_view {
    uint64_t at[TAMIS_I_RANK_PIECES];     /* first bit of each piece */
    uint64_t number[TAMIS_I_RANK_PIECES]; /* of each piece among its kind */
    unsigned pieces;                      /* that the bucket has */
    unsigned chains;                      /* ones in base */
    unsigned load;                        /* slots in use */
    unsigned home;
    unsigned length; /* of the chain; if it is 0 the rest is undefined */
    unsigned last;   /* its last slot */
    unsigned before; /* the last but one */
    uint64_t copies; /* of the fingerprint: matching slots plus their counters */
    unsigned match;  /* if copies > 0: a matching slot, if possible one whose counter is not full */
    uint64_t slot;   /* what it holds */
} tamis_i_rank_view;

/* What the queries of a group ask for, and what was computed when it was prepared: in columns, which
 * are written as vectors. */
typedef struct tamis_i_rank_keys {
    uint64_t at[TAMIS_I_GROUP]; /* first bit of the bucket */
    uint64_t home[TAMIS_I_GROUP];
    uint64_t fingerprint[TAMIS_I_GROUP];
    uint64_t last[TAMIS_I_GROUP];   /* number of the slot where the chain leaves the bucket */
    uint64_t first[TAMIS_I_GROUP];  /* long buckets: first bit of the chain's first slot */
    uint64_t second[TAMIS_I_GROUP]; /* of the second, or the same if there is none */
    uint64_t state[TAMIS_I_GROUP];  /* bits: there is a chain; there is more to look at */
    uint8_t yes[TAMIS_I_GROUP];     /* short buckets: what is known by then */
    uint8_t left[TAMIS_I_GROUP];    /* queries whose chain leaves the bucket */
    unsigned n_left;
} tamis_i_rank_keys;

/* Where n keys are: the bucket and the home from half of the digest, the fingerprint from the other. */
void tamis_i_rank_locate(const tamis_i_rank_bucket *rank, const tamis_digest *digests, size_t n,
                         tamis_i_rank_keys *keys);

/* Three groups of n <= TAMIS_I_GROUP: to be answered, to be prepared, to be fetched. */
typedef struct tamis_i_rank_turns {
    tamis_i_rank_keys *now, *before, *next;
    size_t n_now, n_before, n_next;
} tamis_i_rank_turns;

/* The work on one bucket. */
typedef struct tamis_i_rank_ops {
    /* tamis_i_rank_locate. */
    void (*locate)(const tamis_i_rank_bucket *rank, const tamis_digest *digests, size_t n,
                   tamis_i_rank_keys *keys);
    /* Is 'fingerprint' in the chain of 'home' of this bucket? */
    bool (*find)(const tamis_i_rank_bucket *rank, const uint64_t *table, uint64_t bucket,
                 unsigned home, uint64_t fingerprint);
    /* The same for groups of queries, in turns.  A call fetches the indexes of one group.  A later call
     * prepares that group and fetches its slots.  A call after that answers it. */
    void (*find_many)(const tamis_i_rank_bucket *rank, const uint64_t *table,
                      const tamis_i_rank_turns *turns, bool *found);
    /* Look at the whole chain of 'home', and at the whole bucket. */
    void (*look)(const tamis_i_rank_bucket *rank, const uint64_t *table, uint64_t bucket,
                 unsigned home, uint64_t fingerprint, tamis_i_rank_view *view);
    /* Add a slot at the end of the chain that was looked at.  There must be room in the pieces. */
    void (*add)(const tamis_i_rank_bucket *rank, uint64_t *table, const tamis_i_rank_view *view,
                uint64_t slot);
    /* Take view->match away: the chain's last slot takes its place. */
    void (*drop)(const tamis_i_rank_bucket *rank, uint64_t *table, const tamis_i_rank_view *view);
    /* look and add, or look and drop, for the most common case.  The bucket whose first bit is 'at' has
     * no extension.  It has room and no slot with the fingerprint of 'slot', or it has exactly one with
     * 'fingerprint', whose counter is 0.  In any other case returns false and changes nothing. */
    bool (*add_new)(const tamis_i_rank_bucket *rank, uint64_t *table, uint64_t at, unsigned home,
                    uint64_t slot);
    bool (*drop_only)(const tamis_i_rank_bucket *rank, uint64_t *table, uint64_t at, unsigned home,
                      uint64_t fingerprint);
} tamis_i_rank_ops;

/* The best operations for these features (base/cpu.h); 0 gives the portable ones.  They are the same
 * for all layouts. */
const tamis_i_rank_ops *tamis_i_rank_bucket_ops_for(unsigned features);

/* The native ones, for bits/native.h; NULL if the features are missing. */
const tamis_i_rank_ops *tamis_i_rank_bucket_ops_x86(unsigned features);

/* The first bit of a piece. */
static inline uint64_t tamis_i_rank_piece(const tamis_i_rank_bucket *rank, unsigned kind,
                                          uint64_t number) {
    return rank->start[kind] + number * rank->stride[kind];
}

/* The piece that slot number 's' is in. */
static inline unsigned tamis_i_rank_piece_of(const tamis_i_rank_bucket *rank, unsigned s) {
    return (unsigned)(s >= rank->first[1]) + (unsigned)(s >= rank->first[2]);
}

/* The first bit of slot number 's', which one of the pieces of the bucket has. */
static inline uint64_t tamis_i_rank_slot_at(const tamis_i_rank_bucket *rank,
                                            const tamis_i_rank_view *view, unsigned s) {
    const unsigned p = tamis_i_rank_piece_of(rank, s);
    return view->at[p] + rank->slots_at[p] + (s - rank->first[p]) * rank->slot_bits;
}

/* The bit of slot number 's' in the higher index. */
static inline uint64_t tamis_i_rank_higher_at(const tamis_i_rank_bucket *rank,
                                              const tamis_i_rank_view *view, unsigned s) {
    const unsigned p = tamis_i_rank_piece_of(rank, s);
    return view->at[p] + rank->higher_at[p] + (s - rank->first[p]);
}

static inline uint64_t tamis_i_rank_slot(const tamis_i_rank_bucket *rank, const uint64_t *table,
                                         const tamis_i_rank_view *view, unsigned s) {
    return tamis_i_field_get(table, tamis_i_rank_slot_at(rank, view, s), (unsigned)rank->slot_bits);
}

static inline void tamis_i_rank_set_slot(const tamis_i_rank_bucket *rank, uint64_t *table,
                                         const tamis_i_rank_view *view, unsigned s, uint64_t slot) {
    tamis_i_field_put(table, tamis_i_rank_slot_at(rank, view, s), (unsigned)rank->slot_bits, slot);
}

/* Number of the piece that follows piece number 'number' of its kind, plus 1; 0 if there is none. */
static inline uint64_t tamis_i_rank_link(const tamis_i_rank_bucket *rank, const uint64_t *table,
                                         unsigned kind, uint64_t number) {
    if (rank->link_bits[kind] == 0)
        return 0;
    return tamis_i_field_get(table, tamis_i_rank_piece(rank, kind, number) + rank->link_at[kind],
                             (unsigned)rank->link_bits[kind]);
}

static inline void tamis_i_rank_set_link(const tamis_i_rank_bucket *rank, uint64_t *table,
                                         unsigned kind, uint64_t number, uint64_t link) {
    tamis_i_field_put(table, tamis_i_rank_piece(rank, kind, number) + rank->link_at[kind],
                      (unsigned)rank->link_bits[kind], link);
}

/* For each slot in use of a bucket that was looked at, the slot that leads to it: parents[s] < s, or
 * UINT16_MAX for the first slots of chains.  'parents' has room for all slots. */
void tamis_i_rank_parents(const tamis_i_rank_bucket *rank, const uint64_t *table,
                          const tamis_i_rank_view *view, uint16_t *parents);

/* The slots of the longest of these chains. */
unsigned tamis_i_rank_longest(const uint16_t *parents, unsigned load);

/* Check the bucket and its pieces; the caller has checked their links.  False, and why. */
bool tamis_i_rank_check(const tamis_i_rank_bucket *rank, const uint64_t *table,
                        const tamis_i_rank_view *view, const char **reason);

/* Are all bits from 'from' up to 'to' zero? */
bool tamis_i_rank_is_zero(const uint64_t *table, uint64_t from, uint64_t to);

#endif
