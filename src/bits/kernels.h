/* kernels.h - the bit-level work that has more than one implementation
 *
 * portable.c defines the results; the functions of x86.c must equal them bit for bit.  A filter holds
 * the table chosen by tamis_i_kernels_choose() when it is made; nothing else asks for CPU features.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_KERNELS_H
#define TAMIS_BITS_KERNELS_H

#include "base/base.h"

/* Keys worked on together by the batched operations: the next group is fetched while this one is
 * finished. */
#define TAMIS_I_GROUP 16u

/* Where one key of a group is looked for: found out when its memory is fetched, and used when it has
 * arrived.  What the words mean is up to the structure. */
#define TAMIS_I_PROBE_CHOICES 4u
typedef struct tamis_i_probe {
    uint64_t *at[TAMIS_I_PROBE_CHOICES];
    uint64_t word[8];
} tamis_i_probe;

#define TAMIS_I_BLOCK_HASHES_MAX 16u

struct tamis_i_block;
struct tamis_i_places;

typedef struct tamis_i_kernels {
    /* Digests of n integers: hash/hash.h. */
    void (*hash_u64)(uint64_t seed, const uint64_t *keys, size_t n, tamis_digest *digests);
    /* Number of ones in n words. */
    uint64_t (*ones)(const uint64_t *words, size_t n);
    /* Number of ones among the first 'at' bits of an array; 'at' may be its length. */
    uint64_t (*rank)(const uint64_t *words, uint64_t at);
    /* The position of one number r, counted from 0, of a word; 64 if it has no more than r ones. */
    unsigned (*select)(uint64_t word, unsigned r);
    /* For each of n probes: are the k bits set that belong to the hash, word[0], in the block of 512
     * bits, at[0]?  They are its bits tamis_i_block_bit(hash, 0 .. k-1).  1 <= k <=
     * TAMIS_I_BLOCK_HASHES_MAX.  Meanwhile the blocks of next[0 .. n-1] are fetched. */
    void (*blocks_test)(const tamis_i_probe *probes, size_t n, unsigned k,
                        const tamis_i_probe *next, bool *present);
    /* The same for one block.  An answer in a register lets the processor run ahead to the next call
     * while this one waits for memory; through a pointer it did not. */
    bool (*block_test)(const uint64_t *block, uint64_t hash, unsigned k);
    /* Set those bits, block after block; changed[i] tells whether one of them was clear.  How often. */
    size_t (*blocks_set)(const tamis_i_probe *probes, size_t n, unsigned k, bool *changed);
    /* Code compiled for AVX2 and BMI2 may be called: bits/heads.h. */
    bool avx2;
    /* A block with a counter, bits/block.h: does its filter hold the hash?  Set the bits of the hash; was one
     * of them clear? */
    bool (*local_test)(const struct tamis_i_block *layout, const uint64_t *block, uint64_t hash);
    bool (*local_set)(const struct tamis_i_block *layout, uint64_t *block, uint64_t hash);
    /* For each of n <= 32 probes: bit i of the result tells whether the block holds the hash, bit 32 + i
     * whether it refuses the key.  Meanwhile the blocks of next[0 .. n-1] are fetched. */
    uint64_t (*local_look)(const struct tamis_i_block *layout, const tamis_i_probe *probes,
                           size_t n, const tamis_i_probe *next);
    /* Prepare probes for local_fill: find out what it needs to know about n <= TAMIS_I_GROUP digests. */
    void (*local_places)(const struct tamis_i_block *layout, const tamis_digest *digests, size_t n,
                         tamis_i_probe *probes, struct tamis_i_places *places);
    /* For each of n <= 32 of these, one after the other: set the bits of the hash if the block takes the key,
     * and count it there if one of them was clear: bit i of the result.  Bit 32 + i: the block refuses the
     * key, and does not hold it.  If 'stop' is true: the block refuses the key, which ends the call. */
    uint64_t (*local_fill)(const struct tamis_i_block *layout, const tamis_i_probe *probes,
                           size_t n, bool stop);
} tamis_i_kernels;

/* Odd multipliers, one for each bit that a key sets in its block. */
extern const uint32_t tamis_i_block_factors[TAMIS_I_BLOCK_HASHES_MAX];

/* The position in a block of 512 bits of bit number i of a hash: 32-bit arithmetic, the top 9 bits
 * of low x factor + high.  A vector unit computes eight of them at once. */
static inline unsigned tamis_i_block_bit(uint64_t hash, unsigned i) {
    return ((uint32_t)hash * tamis_i_block_factors[i] + (uint32_t)(hash >> 32)) >> 23;
}

/* CPU features, as a sum. */
#define TAMIS_I_CPU_POPCNT 1u
#define TAMIS_I_CPU_BMI2   2u /* with BMI1 and LZCNT, as everywhere */
#define TAMIS_I_CPU_AVX2   4u

/* The features of this machine that we have kernels for.  A library built with TAMIS_TESTING leaves out
 * those listed, separated by commas, in the environment variable TAMIS_CPU_OFF. */
unsigned tamis_i_cpu_features(void);

/* The best kernels for these features; 0 gives the portable ones. */
void tamis_i_kernels_choose(tamis_i_kernels *kernels, unsigned features);

/* The implementations, for select.c and the tests. */
void tamis_i_kernels_portable(tamis_i_kernels *kernels);
void tamis_i_kernels_x86(tamis_i_kernels *kernels, unsigned features);

#endif
