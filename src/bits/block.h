/* block.h - an engine: a Bloom filter in one block of 512 bits
 *
 * A key sets k bits of its block, which is one cache line.  There are two layouts:
 *
 *      places     k bits anywhere in the block, 1 <= k <= 16
 *      lanes      one bit in each of the eight words, which are lanes of a vector: k is 8
 *
 * Lanes are set and tested all at once, without a multiplication.  A hash has six bits for each of them, in a
 * byte of its own, so that one shuffle brings all to their lanes:
 *
 *      hash       [ .. place 7 | .. place 6 | ... | .. place 0 ]      8 times 2 + 6 bits
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_BLOCK_H
#define TAMIS_BITS_BLOCK_H

#include "bits/group.h"

#define TAMIS_I_BLOCK_BITS       512u
#define TAMIS_I_BLOCK_HASHES_MAX 16u

#define TAMIS_I_BLOCK_LANES 8u /* of 64 bits; the number of lanes of the other layout is 0 */

/* Odd multipliers, one for each bit that a key sets in its block. */
extern const uint32_t tamis_i_block_factors[TAMIS_I_BLOCK_HASHES_MAX];

/* The position of bit number i of a hash: 32-bit arithmetic, the top 9 bits of low x factor + high.  A
 * vector unit computes several at once. */
static inline unsigned tamis_i_block_bit(uint64_t hash, unsigned i) {
    return ((uint32_t)hash * tamis_i_block_factors[i] + (uint32_t)(hash >> 32)) >> 23;
}

/* The same where there are lanes, i < 8. */
static inline unsigned tamis_i_block_lane_bit(uint64_t hash, unsigned i) {
    return 64 * i + (unsigned)(hash >> 8 * i & 63);
}

typedef struct tamis_i_block_ops {
    /* Does the block hold a hash: are its bits tamis_i_block_bit(hash, 0 .. k-1) set? 1 <= k <=
     * TAMIS_I_BLOCK_HASHES_MAX.  With lanes, its eight bits tamis_i_block_lane_bit.  The answer is
     * returned in a register, so the processor can run ahead to the next call while this one waits for
     * memory.  With an answer through a pointer it did not. */
    bool (*test)(const uint64_t *block, uint64_t hash, unsigned k);
    /* The same for each of n probes: block at[0], hash word[0].  Meanwhile fetches the blocks of next[0
     * .. n-1]. */
    void (*test_many)(const tamis_i_probe *probes, size_t n, unsigned k, const tamis_i_probe *next,
                      bool *present);
    /* Set those bits, block after block; changed[i] tells whether one of them was clear.  Returns how
     * many changed. */
    size_t (*set_many)(const tamis_i_probe *probes, size_t n, unsigned k, bool *changed);
    /* Copy a block that another thread may be writing to, word by word (base/atomic_words.h).  Written as
     * vectors where it is read as vectors: a vector that is read while its words are on their way to memory
     * has to wait until they are there, and all that came before them. */
    void (*read)(const uint64_t *block, uint64_t *copy);
    /* test, of such a block. */
    bool (*test_read)(const uint64_t *block, uint64_t hash, unsigned k);
} tamis_i_block_ops;

/* The best operations for these features (base/cpu.h); 0 gives the portable ones.  'lanes' is
 * TAMIS_I_BLOCK_LANES or 0. */
const tamis_i_block_ops *tamis_i_block_ops_for(unsigned lanes, unsigned features);

/* The native ones, for bits/native.h; NULL if the features are missing. */
const tamis_i_block_ops *tamis_i_block_ops_x86(unsigned lanes, unsigned features);
const tamis_i_block_ops *tamis_i_block_ops_arm(unsigned lanes, unsigned features);

#endif
