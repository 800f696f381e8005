/* block.h - a small Bloom filter in one block of memory, beside a counter
 *
 *      block    [ counter ][ bits of the filter ]          'words' words of 64 bits, 1 to 8
 *                first      bits                           first + bits = 64 x words
 *
 * The counter is the load of the block.  Whether a block takes a key depends on its load and on a coin of
 * the key, a fraction of 2^32: both are compared as one number with a limit.  Loads below that of the
 * limit have room, at that load the coin decides, and above it nothing helps.
 *
 * block.c defines the results; block_x86.c must equal it bit for bit.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_BLOCK_H
#define TAMIS_BITS_BLOCK_H

#include "bits/kernels.h"

#define TAMIS_I_BLOCK_WORDS_MAX  8u
#define TAMIS_I_BLOCK_PLACES_MAX 32u

/* What a block is made of. */
typedef struct tamis_i_block {
    unsigned words, first, bits;
    unsigned hashes; /* bits that a key sets, 1 to TAMIS_I_BLOCK_PLACES_MAX */
    uint64_t limit;  /* load << 32 | coin of a key that a block takes is below this */
} tamis_i_block;

/* Words of a probe, whose at[0] is a block, for the kernels that take probes. */
enum { TAMIS_I_BLOCK_HASH, TAMIS_I_BLOCK_COIN, TAMIS_I_BLOCK_OWN };

/* Room for what a kernel finds out about the places of a group of keys. */
typedef struct tamis_i_places {
    uint16_t at[TAMIS_I_GROUP / 2][TAMIS_I_BLOCK_PLACES_MAX][2];
} tamis_i_places;

/* Odd multipliers, one for each bit that a key sets in its block. */
extern const uint32_t tamis_i_place_factors[TAMIS_I_BLOCK_PLACES_MAX];

/* The place in its block of bit number i of a hash: 16 bits of low x factor + high, scaled to the bits
 * that there are.  The places are equally likely within 0.8 %, which changes an error rate by less
 * than a thousandth of itself. */
static inline unsigned tamis_i_block_place(const tamis_i_block *layout, uint64_t hash, unsigned i) {
    const uint32_t where = (uint32_t)hash * tamis_i_place_factors[i] + (uint32_t)(hash >> 32);
    return layout->first + ((where >> 16) * layout->bits >> 16);
}

/* Halves of a block of 512 bits of which one bit is set, on a little-endian machine:
 *
 *      low    row r: bit r of byte 31 is set, 8 rows   |  8 rows of zeros
 *      high   8 rows of zeros   |  row 8 + r: the same, 8 rows
 *
 * 32 bytes from byte 31 - b of a row on have a bit of byte b set, and lie within one cache line. */
extern const unsigned char tamis_i_one_bit_low[16][64], tamis_i_one_bit_high[16][64];

/* The value of the counter. */
static inline uint64_t tamis_i_block_counter(const tamis_i_block *layout, const uint64_t *block) {
    return block[0] & (((uint64_t)1 << layout->first) - 1);
}

static inline bool tamis_i_block_takes(const tamis_i_block *layout, const uint64_t *block,
                                       uint64_t coin) {
    return (tamis_i_block_counter(layout, block) << 32 | coin) < layout->limit;
}

/* The implementations, for select.c and the tests. */
void tamis_i_block_portable(tamis_i_kernels *kernels);
void tamis_i_block_x86(tamis_i_kernels *kernels, unsigned features);

#endif
