/* counted_block.h - an engine: a small Bloom filter in one block of memory, beside a counter
 *
 *      block    [ counter ][ bits of the filter ]          'words' words of 64 bits, 1 to 8
 *                first      bits                           first + bits = 64 x words
 *
 * The counter is the load of the block.  Whether a block takes a key depends on its load and on a coin
 * of the key, a fraction of 2^32.  Both together are compared with a limit, as one number.  A block
 * below the limit's load takes every key, at that load the coin decides, above it the block takes none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_COUNTED_BLOCK_H
#define TAMIS_BITS_COUNTED_BLOCK_H

#include "bits/group.h"

#define TAMIS_I_COUNTED_BLOCK_WORDS  8u
#define TAMIS_I_COUNTED_BLOCK_PLACES 32u

/* What a block is made of. */
typedef struct tamis_i_counted_block {
    unsigned words, first, bits;
    unsigned hashes; /* bits that a key sets, 1 to TAMIS_I_COUNTED_BLOCK_PLACES */
    uint64_t limit;  /* a block takes a key if load << 32 | coin is below this */
} tamis_i_counted_block;

/* Words of a probe, whose at[0] is a block, for the operations that take probes. */
enum { TAMIS_I_COUNTED_BLOCK_HASH, TAMIS_I_COUNTED_BLOCK_COIN, TAMIS_I_COUNTED_BLOCK_OWN };

/* Room for what a kernel computes about the places of a group of keys. */
typedef struct tamis_i_counted_block_places {
    uint16_t at[TAMIS_I_GROUP / 2][TAMIS_I_COUNTED_BLOCK_PLACES][2];
} tamis_i_counted_block_places;

/* Odd multipliers, one for each bit that a key sets in its block. */
extern const uint32_t tamis_i_counted_block_factors[TAMIS_I_COUNTED_BLOCK_PLACES];

/* The place in its block of bit number i of a hash: 16 bits of low x factor + high, scaled to the
 * number of bits.  The places are equally likely within 0.8 %.  This changes an error rate by less than
 * a thousandth of itself. */
static inline unsigned tamis_i_counted_block_place(const tamis_i_counted_block *layout,
                                                   uint64_t hash, unsigned i) {
    const uint32_t where =
        (uint32_t)hash * tamis_i_counted_block_factors[i] + (uint32_t)(hash >> 32);
    return layout->first + ((where >> 16) * layout->bits >> 16);
}

/* The value of the counter. */
static inline uint64_t tamis_i_counted_block_counter(const tamis_i_counted_block *layout,
                                                     const uint64_t *block) {
    return block[0] & (((uint64_t)1 << layout->first) - 1);
}

static inline bool tamis_i_counted_block_takes(const tamis_i_counted_block *layout,
                                               const uint64_t *block, uint64_t coin) {
    return (tamis_i_counted_block_counter(layout, block) << 32 | coin) < layout->limit;
}

typedef struct tamis_i_counted_block_ops {
    /* test: does the filter of the block hold the hash? set: set the bits of the hash; was one of them
     * clear? */
    bool (*test)(const tamis_i_counted_block *layout, const uint64_t *block, uint64_t hash);
    bool (*set)(const tamis_i_counted_block *layout, uint64_t *block, uint64_t hash);
    /* For each of n <= 32 probes: bit i of the result tells whether the block holds the hash, bit 32 +
     * i whether it refuses the key.  Meanwhile fetches the blocks of next[0 .. n-1]. */
    uint64_t (*look)(const tamis_i_counted_block *layout, const tamis_i_probe *probes, size_t n,
                     const tamis_i_probe *next);
    /* Prepare probes for 'fill': compute what it needs to know about n <= TAMIS_I_GROUP digests. */
    void (*prepare)(const tamis_i_counted_block *layout, const tamis_digest *digests, size_t n,
                    tamis_i_probe *probes, tamis_i_counted_block_places *places);
    /* For each of n <= 32 of these, in order: if the block takes the key, set the bits of the hash, and
     * count the key if one of them was clear (bit i of the result).  Bit 32 + i: the block refuses the
     * key and does not hold it.  With 'stop', bit 32 + i means that the block refuses the key, and the
     * call ends there. */
    uint64_t (*fill)(const tamis_i_counted_block *layout, const tamis_i_probe *probes, size_t n,
                     bool stop);
} tamis_i_counted_block_ops;

/* The best operations for these features (base/cpu.h); 0 gives the portable ones. */
const tamis_i_counted_block_ops *tamis_i_counted_block_ops_for(unsigned features);

/* The native ones, for bits/native.h; NULL if the features are missing. */
const tamis_i_counted_block_ops *tamis_i_counted_block_ops_x86(unsigned features);

#endif
