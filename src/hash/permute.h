/* permute.h - permutations of fingerprints that are easily inverted
 *
 * A fingerprint is a bucket b below B and a remainder r.  A permutation turns the buckets by a distance
 * that depends on the remainder, which stays:
 *
 *      P_i(b, r)  =  (b + s_i(r) mod B, r)
 *      s_0(r) = 0,   s_i(r) = range(m turned left by 21 (i - 1) bits, B),   m = mix(r + salt)
 *
 * For each r this is a bijection of the buckets, hence P_i is one of the fingerprints, for any B; back
 * it goes by the same distance.  All distances come from one mixed word: its turns have disjoint bits on
 * top for B up to 2^21, and beyond that overlap only in what decides among near buckets.
 *
 * Two keys that meet in one subtable and have different remainders part in the others; those with the
 * same remainder are the same fingerprint, as with any permutation.  There are as many sets of distances
 * as remainders: loads are those of independent choices as long as these are many more than the keys of
 * a bucket, which holds for every useful error rate (tests/model compare loads with the models).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_PERMUTE_H
#define TAMIS_HASH_PERMUTE_H

#include "hash/hash.h"

#define TAMIS_I_PERMUTATIONS_MAX    4u
#define TAMIS_I_PERMUTE_BUCKETS_MAX ((uint64_t)1 << 62)

typedef struct tamis_i_permutations {
    uint64_t buckets; /* B */
    uint64_t salt;
} tamis_i_permutations;

/* Prepare the permutations for 'seed'.  1 <= buckets <= 2^62, else TAMIS_E_ARGUMENT. */
tamis_status tamis_i_permute_init(tamis_i_permutations *p, uint64_t buckets, uint64_t seed);

/* What all distances of a remainder come from. */
static inline uint64_t tamis_i_permute_mix(const tamis_i_permutations *p, uint64_t remainder) {
    return tamis_i_mix(remainder + p->salt);
}

static inline uint64_t tamis_i_permute_distance(const tamis_i_permutations *p, uint64_t mixed,
                                                unsigned i) {
    if (i == 0)
        return 0;
    const unsigned turn = 21 * (i - 1);
    return tamis_i_range(turn == 0 ? mixed : mixed << turn | mixed >> (64 - turn), p->buckets);
}

/* The bucket of P_i(bucket, r), where 'mixed' is of r; i < TAMIS_I_PERMUTATIONS_MAX. */
static inline uint64_t tamis_i_permute(const tamis_i_permutations *p, uint64_t mixed, unsigned i,
                                       uint64_t bucket) {
    const uint64_t to = bucket + tamis_i_permute_distance(p, mixed, i);
    return to >= p->buckets ? to - p->buckets : to;
}

/* The bucket that P_i takes there. */
static inline uint64_t tamis_i_permute_back(const tamis_i_permutations *p, uint64_t mixed,
                                            unsigned i, uint64_t bucket) {
    const uint64_t distance = tamis_i_permute_distance(p, mixed, i);
    return bucket >= distance ? bucket - distance : bucket + p->buckets - distance;
}

#endif
