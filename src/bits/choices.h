/* choices.h - the buckets that a key may go to, when its place must be found again for removal
 *
 * A key stands for one fingerprint f, a number below B 2^r, where B is the number of buckets of a
 * subtable.  Each of the d subtables has a permutation P_i of these numbers (hash/permute.h):
 *
 *      P_i(f)  =  [ bucket of subtable i: 0 .. B-1 ][ remainder: r bits ]
 *
 * Only the remainder is stored; it is the same in all subtables.  Together with its bucket it gives
 * P_i(f), hence f, hence all other choices of the key.  So elements can be moved, and two keys share a
 * cell only if they have the same f.
 *
 * Buckets lie in cache lines of 512 bits, as many as fit, so a choice costs one line.
 *
 * After Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An Improved Construction for Counting
 * Bloom Filters", ESA 2006, section 3.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_CHOICES_H
#define TAMIS_BITS_CHOICES_H

#include "bits/group.h"
#include "hash/permute.h"

#define TAMIS_I_SUBTABLES_MAX   4u
#define TAMIS_I_BUCKETS_MAX     ((uint64_t)1 << 38)
#define TAMIS_I_REMAINDER_MAX   32u
#define TAMIS_I_BUCKET_KEYS_MAX 16u /* different fingerprints in a bucket, at most */
#define TAMIS_I_MOVES_MAX       8u  /* longest chain of moves */
#define TAMIS_I_LINE_BITS       512u

/* How a table is divided: everything that follows from the parameters.  Kept in geometry[]. */
typedef struct tamis_i_choices {
    uint64_t subtables;      /* d */
    uint64_t buckets;        /* B, of each */
    uint64_t remainder_bits; /* r */
    uint64_t remainder_mask; /* 2^r - 1 */
    uint64_t bucket_bits;
    uint64_t per_line;     /* buckets in a line */
    uint64_t line_part;    /* 2^63 / per_line, rounded up */
    uint64_t line_used;    /* bits of a line that its buckets take */
    uint64_t fingerprints; /* B 2^r */
    tamis_i_permutations permutations;
} tamis_i_choices;

/* One bucket: its line, and its first bit in that line. */
typedef struct tamis_i_bucket {
    uint64_t *line;
    unsigned at;
} tamis_i_bucket;

/* Check subtables, buckets, remainder bits and bucket bits; '*n_table' becomes the size of the table in
 * words.  TAMIS_E_ARGUMENT if there is no such table. */
tamis_status tamis_i_choices_shape(uint64_t subtables, uint64_t buckets, uint64_t remainder_bits,
                                   uint64_t bucket_bits, uint64_t *n_table);

/* Prepare the choices of a shape that was accepted. */
void tamis_i_choices_init(tamis_i_choices *choices, uint64_t seed, uint64_t subtables,
                          uint64_t buckets, uint64_t remainder_bits, uint64_t bucket_bits);

/* The fingerprint of a digest.  With B 2^r near 2^62 some values are hit more often than others, by a
 * few percent at most.  This changes error rates by the square of that. */
static inline uint64_t tamis_i_choices_fingerprint(const tamis_i_choices *choices,
                                                   tamis_digest digest) {
    return tamis_i_range(digest.lo, choices->fingerprints);
}

/* Bucket number 'number' of all: those of subtable i are numbers i B to (i+1) B - 1. */
static inline tamis_i_bucket tamis_i_choices_bucket(const tamis_i_choices *choices, uint64_t *table,
                                                    uint64_t number) {
    const uint64_t line = tamis_i_mulhi(2 * number, choices->line_part);
    const uint64_t slot = number - line * choices->per_line;
    return (tamis_i_bucket){.line = table + TAMIS_LINE_WORDS * line,
                            .at = (unsigned)(slot * choices->bucket_bits)};
}

static inline uint64_t tamis_i_choices_remainder(const tamis_i_choices *choices,
                                                 uint64_t fingerprint) {
    return fingerprint & choices->remainder_mask;
}

/* Choice i of fingerprint 'fingerprint': the number of its bucket. */
static inline uint64_t tamis_i_choices_of(const tamis_i_choices *choices, uint64_t fingerprint,
                                          unsigned i) {
    const uint64_t mixed = tamis_i_permute_mix(&choices->permutations,
                                               tamis_i_choices_remainder(choices, fingerprint));
    return i * choices->buckets + tamis_i_permute(&choices->permutations, mixed, i,
                                                  fingerprint >> choices->remainder_bits);
}

/* The fingerprint that has this remainder in bucket number 'number'. */
uint64_t tamis_i_choices_back(const tamis_i_choices *choices, uint64_t number, uint64_t remainder);

/* What determines the buckets of a key. */
typedef struct tamis_i_chosen {
    uint64_t remainder, mixed;
    uint64_t first; /* the bucket in subtable 0 */
} tamis_i_chosen;

TAMIS_INLINE tamis_i_chosen tamis_i_choices_draw(const tamis_i_choices *choices,
                                                 tamis_digest digest) {
    const uint64_t fingerprint = tamis_i_choices_fingerprint(choices, digest);
    const uint64_t remainder = tamis_i_choices_remainder(choices, fingerprint);
    return (tamis_i_chosen){.remainder = remainder,
                            .mixed = tamis_i_permute_mix(&choices->permutations, remainder),
                            .first = fingerprint >> choices->remainder_bits};
}

/* The number of the key's bucket in subtable i. */
TAMIS_INLINE uint64_t tamis_i_choices_number(const tamis_i_choices *choices,
                                             const tamis_i_chosen *chosen, unsigned i) {
    return i == 0 ? chosen->first
                  : i * choices->buckets +
                        tamis_i_permute(&choices->permutations, chosen->mixed, i, chosen->first);
}

/* Where a key is: the lines of its d buckets in at[], their first bits there in word[1 + i], and the
 * remainder in word[0].  'd' is subtables, best as a constant.  The result is that of
 * tamis_i_choices_bucket, but the first bit comes from the fraction of the quotient: slot / per_line
 * times per_line bucket_bits, with a rounding error below 2^-10, since numbers are below 2^40. */
TAMIS_INLINE void tamis_i_choices_locate(const tamis_i_choices *choices, unsigned d,
                                         uint64_t *table, tamis_digest digest,
                                         tamis_i_probe *probe) {
    const tamis_i_chosen chosen = tamis_i_choices_draw(choices, digest);
    probe->word[0] = chosen.remainder;
    for (unsigned i = 0; i < d; i++) {
        const tamis_i_product line =
            tamis_i_multiply(2 * tamis_i_choices_number(choices, &chosen, i), choices->line_part);
        probe->at[i] = table + TAMIS_LINE_WORDS * line.high;
        probe->word[1 + i] = tamis_i_mulhi(line.low, choices->line_used);
    }
}

/* The same for buckets of whole bytes: their first bytes in the last d of at[]. */
TAMIS_INLINE void tamis_i_choices_locate_bytes(const tamis_i_choices *choices, unsigned d,
                                               unsigned char *table, tamis_digest digest,
                                               tamis_i_probe *probe) {
    const tamis_i_chosen chosen = tamis_i_choices_draw(choices, digest);
    probe->word[0] = chosen.remainder;
    for (unsigned i = 0; i < d; i++) {
        const uint64_t number = 2 * tamis_i_choices_number(choices, &chosen, i),
                       part = choices->line_part;
        unsigned char *const at = table + TAMIS_LINE_BYTES * tamis_i_mulhi(number, part) +
                                  tamis_i_mulhi(number * part, choices->line_used / 8);
        probe->at[TAMIS_I_PROBE_CHOICES - d + i] = (uint64_t *)(void *)at;
    }
}

TAMIS_INLINE void tamis_i_choices_fetch(unsigned d, const tamis_i_probe *probe, bool write) {
    for (unsigned i = 0; i < d; i++) {
        if (write)
            TAMIS_PREFETCH_RW(probe->at[i]);
        else
            TAMIS_PREFETCH(probe->at[i]);
    }
}

/* One step that makes room: the element with this remainder goes from bucket 'from' to bucket 'to'. */
typedef struct tamis_i_move {
    uint64_t from, to;
    uint64_t remainder;
} tamis_i_move;

/* What the search must know about a table. */
typedef struct tamis_i_search {
    const void *context; /* for the functions below */
    const tamis_i_choices *choices;
    uint64_t stays; /* a fingerprint that must not move: that of the key to insert */
    /* The remainders in a full bucket, at most TAMIS_I_BUCKET_KEYS_MAX; each stands for an element that
     * can move.  Returns how many. */
    unsigned (*list)(const void *context, uint64_t number, uint64_t *remainders);
    /* Would the element with this remainder in bucket 'from' fit into bucket 'to'? */
    bool (*fits)(const void *context, uint64_t from, uint64_t remainder, uint64_t to);
} tamis_i_search;

/* The n_roots buckets 'roots' are full: find the shortest chain of at most 'depth' moves that makes
 * room in one of them.  Returns the number of moves, 0 if there is no such chain.  Carry them out in
 * order: the first goes into a bucket that has room, each later one into the bucket that the move
 * before it left, and the last leaves a root.  No bucket is left twice.
 *
 * Looks at a bounded number of buckets, nearest first: at all that one move can reach, and at most 192
 * in all. */
unsigned tamis_i_choices_search(const tamis_i_search *search, const uint64_t *roots,
                                unsigned n_roots, unsigned depth,
                                tamis_i_move moves[TAMIS_I_MOVES_MAX]);

/* Are all bits that belong to no bucket zero, in a table of 'n_table' words? */
bool tamis_i_choices_rest_is_zero(const tamis_i_choices *choices, const uint64_t *table,
                                  uint64_t n_table);

/* The two groups of keys of one turn: one to work on, one to fetch.  Each has its own probes. */
typedef struct tamis_i_choices_turn {
    uint64_t *table;
    const tamis_digest *now, *next;
    tamis_i_probe *now_probes, *next_probes;
    size_t n_now, n_next;
} tamis_i_choices_turn;

/* The work on the buckets of keys.  'layout' is the engine's layout, whose first member is the choices. */
typedef struct tamis_i_choices_ops {
    /* Does one of the key's buckets hold it? */
    bool (*contains)(const tamis_i_choices *layout, uint64_t *table, tamis_digest digest);
    /* Put a key into the least loaded of its buckets, if none of them holds it or another key of its
     * fingerprint.  Returns false and changes nothing for any other key, and if there is no room. */
    bool (*add_new)(const tamis_i_choices *layout, uint64_t *table, tamis_digest digest);
    /* Remove one copy of a key.  False if no bucket holds it. */
    bool (*drop)(const tamis_i_choices *layout, uint64_t *table, tamis_digest digest);
    /* The same for groups. add_many begins with key 'from' and stops at the first key that it does not
     * add.  Returns the number of that key, or n_now. */
    void (*contains_many)(const tamis_i_choices *layout, const tamis_i_choices_turn *turn,
                          bool *found);
    size_t (*add_many)(const tamis_i_choices *layout, const tamis_i_choices_turn *turn,
                       size_t from);
    void (*drop_many)(const tamis_i_choices *layout, const tamis_i_choices_turn *turn,
                      bool *dropped);
} tamis_i_choices_ops;

#endif
