/* dynamic_bucket.h - an engine: buckets whose elements shrink as they fill, and can be removed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_DYNAMIC_BUCKET_H
#define TAMIS_BITS_DYNAMIC_BUCKET_H

#include "bits/choices.h"
#include "bits/heads.h"

#define TAMIS_I_DYNAMIC_MAX  15u /* elements of a bucket */
#define TAMIS_I_DYNAMIC_MORE 31u /* bits of an element beyond the shortest, at most */

/* Bits of a line.  Where the tail of an element begins follows from the state, which may say anything in a
 * file that is mapped and that somebody writes to: it is read within the line. */
#define TAMIS_I_DYNAMIC_LINE (64u * TAMIS_LINE_WORDS)

#define TAMIS_I_DYNAMIC_NUMBER  4u /* bits for the number of elements of a group */
#define TAMIS_I_DYNAMIC_LENGTH  5u /* bits for a length */
#define TAMIS_I_DYNAMIC_STATE_2 (2 * TAMIS_I_DYNAMIC_NUMBER + 2 * TAMIS_I_DYNAMIC_LENGTH)

/* What one more element does to a bucket from which none was ever removed: all that a native operation
 * needs.  Such buckets have the same state if they have the same number of elements. */
typedef struct tamis_i_dynamic_step {
    uint64_t keep[2]; /* bits of the tails that stay */
    /* The state before; the first bit of the new element's tail, behind those before it; the bits of
     * that tail. */
    unsigned from : TAMIS_I_DYNAMIC_STATE_2, at : 8, tail : 6;
    /* The state after, and the place of the new element. */
    unsigned to : TAMIS_I_DYNAMIC_STATE_2, place : 4;
} tamis_i_dynamic_step;

_Static_assert(sizeof(tamis_i_dynamic_step) == 24, "a handle has one for each number of elements");

/* The layout of a bucket, and constants that follow from it. */
typedef struct tamis_i_dynamic_bucket {
    uint64_t bits;  /* of the bucket */
    uint64_t least; /* bits of the shortest element: the minimal remainder */
    uint64_t counter_bits;
    uint64_t sizes;    /* 1: all elements of a bucket are equally long; 2: there are two lengths */
    uint64_t state_at; /* first bit of the state, within the bucket */
    uint64_t state_mask;
    uint64_t last_mask; /* of the bits in the last word, if the bucket began with a word */
    uint64_t most;      /* elements that fit when all are as short as possible */
    uint64_t longest;   /* bits of the longest element */
    uint64_t quick;     /* the native operations can look into these buckets */
    uint64_t narrow;    /* and change them */
    tamis_i_heads heads;
    tamis_i_dynamic_step steps[TAMIS_I_DYNAMIC_MAX]; /* by the number of elements, if narrow */
} tamis_i_dynamic_bucket;

/* An element: the first 'length' bits of a fingerprint of 64 bits, followed by zeros, and the number of
 * keys it stands for. */
typedef struct tamis_i_element {
    uint64_t fingerprint;
    unsigned length;
    unsigned count;
} tamis_i_element;

/* Prepare a layout.  False if it is impossible: at least two of the shortest elements must fit. */
bool tamis_i_dynamic_init(tamis_i_dynamic_bucket *layout, uint64_t bits, uint64_t least,
                          uint64_t counter_bits, uint64_t sizes);

/* The head of a fingerprint. */
static inline uint64_t tamis_i_dynamic_head(const tamis_i_dynamic_bucket *layout,
                                            uint64_t fingerprint) {
    return fingerprint << (layout->sizes == 1) >> (64 - layout->heads.bits);
}

/* Below, 'line' and 'at' give the first bit of the bucket, which is in that line of 8 words.  No other
 * words are touched.  'candidates' are elements whose head is that of 'fingerprint', bit i for number
 * i.  Other such elements may be left out only if they are of no interest.  Some bits past the last
 * element may be set. */

/* Elements in the bucket. */
static inline unsigned tamis_i_dynamic_load(const tamis_i_dynamic_bucket *layout,
                                            const uint64_t *line, unsigned at) {
    const uint64_t numbers = tamis_i_lined_get(line, at + layout->state_at, 255);
    return (unsigned)(numbers % 16 + numbers / 16);
}

/* Is element i, whose head matches, a prefix of 'fingerprint'?  False if there is no element i.  To be
 * inlined; dynamic_bucket.c describes the layout. */
static inline bool tamis_i_dynamic_holds(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                                         uint64_t at, uint64_t i, uint64_t fingerprint) {
    const uint64_t state = tamis_i_lined_get(line, at + layout->state_at, layout->state_mask);
    const uint64_t n_a = state & 15, n = n_a + (state >> 4 & 15), one = layout->sizes == 1;
    const uint64_t skip = layout->heads.bits + one; /* bits of the fingerprint before the tail */
    const uint64_t tail_a = layout->least + (state >> 8 & 31) - skip;
    const uint64_t tail_b = layout->least + (state >> (one ? 8 : 13) & 31) - skip;
    const uint64_t in_b = i >= n_a, before = in_b ? n_a : i, tail = in_b ? tail_b : tail_a;
    const uint64_t first =
        n * (layout->heads.bits + layout->counter_bits) + before * tail_a + (i - before) * tail_b;
    if (i >= n || (one && fingerprint >> 63 != in_b))
        return false;
    const uint64_t found =
        tamis_i_lined_get(line, (at + first) % TAMIS_I_DYNAMIC_LINE, ((uint64_t)1 << tail) - 1);
    return found == fingerprint << skip >> 1 >> (63 - tail);
}

/* The candidates that are a prefix of 'fingerprint'. */
unsigned tamis_i_dynamic_match(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                               unsigned at, uint64_t fingerprint, unsigned candidates);

/* The candidates that agree with 'fingerprint' in its first 'least' bits. */
unsigned tamis_i_dynamic_akin(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                              unsigned at, uint64_t fingerprint, unsigned candidates);

/* The number of keys that these elements stand for. */
unsigned tamis_i_dynamic_copies(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                                unsigned at, unsigned elements);

/* Let one of these elements stand for one more key.  False if no counter allows it. */
bool tamis_i_dynamic_join(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                          unsigned elements);

/* Add an element for 'count' keys, given the first 'length' bits of 'fingerprint'.  It and others may
 * lose bits.  Returns false and changes nothing if there is no room. 1 <= count <= 2^counter_bits;
 * length >= least. */
bool tamis_i_dynamic_add(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                         uint64_t fingerprint, unsigned length, unsigned count);

/* Remove one key from the longest of these elements.  There must be at least one. */
void tamis_i_dynamic_remove(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                            unsigned elements);

/* List the elements, in the order of the bucket; returns how many, at most 'most', whatever it says. */
unsigned tamis_i_dynamic_list(const tamis_i_dynamic_bucket *layout, const uint64_t *line,
                              unsigned at, tamis_i_element elements[TAMIS_I_DYNAMIC_MAX]);

/* Drop element number i. */
void tamis_i_dynamic_drop(const tamis_i_dynamic_bucket *layout, uint64_t *line, unsigned at,
                          unsigned i);

/* Could these calls have made the bucket?  False, and why. */
bool tamis_i_dynamic_check(const tamis_i_dynamic_bucket *layout, const uint64_t *line, unsigned at,
                           const char **reason);

/* ---- lengths: what all implementations share ---- */

/* How the elements of a bucket are divided: the first n_a have length longer, the others shorter. */
typedef struct tamis_i_dynamic_split {
    unsigned n_a, longer, shorter;
} tamis_i_dynamic_split;

/* The state of a bucket of n elements. */
static inline uint64_t tamis_i_dynamic_state(const tamis_i_dynamic_bucket *layout, unsigned n,
                                             tamis_i_dynamic_split l) {
    const uint64_t least = layout->least;
    const unsigned first = 2 * TAMIS_I_DYNAMIC_NUMBER;
    uint64_t state = l.n_a | (uint64_t)(n - l.n_a) << TAMIS_I_DYNAMIC_NUMBER;
    if (layout->sizes == 1)
        return state | (n == 0 ? 0 : l.longer - least) << first;
    state |= (l.n_a == 0 ? 0 : l.longer - least) << first;
    return state | (n == l.n_a ? 0 : l.shorter - least) << (first + TAMIS_I_DYNAMIC_LENGTH);
}

/* 2^16 / n, rounded up. */
extern const uint32_t tamis_i_dynamic_parts[16];

/* x / n for x < 512 and n < 16. */
static inline unsigned tamis_i_dynamic_part(unsigned x, unsigned n) {
    return x * tamis_i_dynamic_parts[n] >> 16;
}

/* Two lengths, if the room cannot be shared evenly: see tamis_i_dynamic_lengths. */
tamis_i_dynamic_split tamis_i_dynamic_uneven(const tamis_i_dynamic_bucket *layout, unsigned room,
                                             unsigned n_a, unsigned a, unsigned own, unsigned n_b,
                                             unsigned b);

/* Two lengths for n_a elements of length a, one of length 'own', and n_b of length b < a, in this
 * order, that share 'room' bits; n_b > 0, or b = own.  None becomes longer. */
static inline tamis_i_dynamic_split tamis_i_dynamic_lengths(const tamis_i_dynamic_bucket *layout,
                                                            unsigned room, unsigned n_a, unsigned a,
                                                            unsigned own, unsigned n_b,
                                                            unsigned b) {
    const unsigned n = n_a + 1 + n_b, even = tamis_i_dynamic_part(room, n);
    if (even < b && even < own)
        return (tamis_i_dynamic_split){.n_a = room - n * even, .longer = even + 1, .shorter = even};
    return tamis_i_dynamic_uneven(layout, room, n_a, a, own, n_b, b);
}

/* ---- the elements of a key ---- */

/* Buckets, and which of them a key may go to. */
typedef struct tamis_i_dynamic_layout {
    tamis_i_choices choices;
    tamis_i_dynamic_bucket bucket;
} tamis_i_dynamic_layout;

/* The best operations for these features (base/cpu.h); 0 gives the portable ones. */
const tamis_i_choices_ops *tamis_i_dynamic_bucket_ops_for(const tamis_i_dynamic_layout *layout,
                                                          unsigned features);

/* The native ones, for bits/native.h; NULL if there are none for this layout or these features. */
const tamis_i_choices_ops *tamis_i_dynamic_bucket_ops_x86(const tamis_i_dynamic_layout *layout,
                                                          unsigned features);

/* What the table holds of a key: the bucket that has elements of its fingerprint, or
 * TAMIS_I_SUBTABLES_MAX, and those of the elements that are a prefix of its fingerprint. */
typedef struct tamis_i_dynamic_found {
    unsigned home, same;
} tamis_i_dynamic_found;

/* Find the buckets of a key, with its fingerprint in word[0], and what they hold of it. */
tamis_i_dynamic_found tamis_i_dynamic_look(const tamis_i_dynamic_layout *layout, uint64_t *table,
                                           tamis_digest digest, tamis_i_probe *probe);

/* Copies of a key in all of its buckets.  They are in one bucket, but a handmade file may have them in
 * several; even then "present" and the number of copies must agree. */
uint64_t tamis_i_dynamic_count(const tamis_i_dynamic_layout *layout, uint64_t *table,
                               tamis_digest digest);

/* Put a key that was looked at into its bucket number i, or (_least) into the least loaded.  False if there
 * is no room. */
bool tamis_i_dynamic_put(const tamis_i_dynamic_layout *layout, const tamis_i_probe *probe,
                         unsigned i);
bool tamis_i_dynamic_put_least(const tamis_i_dynamic_layout *layout, const tamis_i_probe *probe);

#endif
