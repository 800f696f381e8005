/* heads.h - finding a fingerprint in a bucket by the first bits of all its elements
 *
 * A bucket begins with the heads of its elements side by side: 8 bits of each, or fewer if elements are
 * shorter.  All heads are compared at once.  A bucket that does not hold the wanted element is seldom
 * examined any further.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_HEADS_H
#define TAMIS_BITS_HEADS_H

#include "bits/group.h"
#include "bits/search.h"

#define TAMIS_I_HEADS_MAX 16u

typedef struct tamis_i_heads {
    uint64_t n;    /* of a bucket, at most */
    uint64_t bits; /* of a head: 1 to 8 */
    /* Heads are bytes, buckets begin at bytes and have at least 16 of them: heads can be compared as
     * vectors. */
    uint64_t vectors;
    uint64_t places; /* the places that a bucket has, 16 bits for each of four buckets */
    tamis_i_fields fields;
} tamis_i_heads;

/* Heads of elements that have at least 'least' bits, n at most, in buckets of 'bucket_bits'. */
tamis_i_heads tamis_i_heads_of(uint64_t n, uint64_t least, uint64_t bucket_bits);

/* The places where a bucket at bit 'at' has the head, bit i for place i.  Unused places behind the last
 * element may be among them. */
unsigned tamis_i_heads_match(const tamis_i_heads *heads, const uint64_t *words, unsigned at,
                             uint64_t head);

/* Probes have the line of bucket j in at[j], its first bit in word[1 + j], and the head in word[5].
 *
 * The matches in the d buckets of a key, 16 bits for each bucket, those of the first lowest. */
#define TAMIS_I_HEAD 5u
typedef uint64_t tamis_i_heads_finder(const tamis_i_heads *heads, const tamis_i_probe *probe,
                                      unsigned d);
uint64_t tamis_i_heads_find(const tamis_i_heads *heads, const tamis_i_probe *probe, unsigned d);

#endif
