/* word.h - the digest of an integer, written out
 *
 * XXH3-128 of the eight bytes of an integer: one long product and two short ones, with shifts between them.
 *
 *      [ high | low ] = (key ^ flip) x PRIME1         flip: from the secret and the seed
 *      high = high + 2 low,   low = low ^ high / 8
 *      low = mixed by PRIME2,   high = mixed by PRIME3
 *
 * 'flip' is kept with the seed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_WORD_H
#define TAMIS_HASH_WORD_H

#include "hash/hasher.h"

#define TAMIS_I_PRIME1 0x9e3779b185ebcaa7u /* XXH_PRIME64_1 + 4 x 8 bytes */
#define TAMIS_I_PRIME2 0x9fb21c651e98df25u
#define TAMIS_I_PRIME3 0x165667919e3779f9u

static inline uint64_t tamis_i_hash_flip(uint64_t seed) {
    const uint32_t low = (uint32_t)seed;
    const uint32_t turned = low << 24 | (low << 8 & 0xff0000) | (low >> 8 & 0xff00) | low >> 24;
    /* Words 2 and 3 of the secret, one ^ the other. */
    return 0xc4f023344dc994acu + (seed ^ (uint64_t)turned << 32);
}

/* The digests of n integers; the second with AVX2. */
void tamis_i_hash_many_words(const tamis_i_hash_keys *under, const uint64_t *keys, size_t n,
                             tamis_digest *digests);
void tamis_i_hash_many_words_x86(const tamis_i_hash_keys *under, const uint64_t *keys, size_t n,
                                 tamis_digest *digests);

/* The digest of one, with the flip of the seed. */
static inline tamis_digest tamis_i_hash_word(uint64_t flip, uint64_t key) {
    const tamis_i_product product = tamis_i_multiply(key ^ flip, TAMIS_I_PRIME1);
    uint64_t low = product.low, high = product.high + 2 * low;
    low ^= high >> 3;
    low = (low ^ low >> 35) * TAMIS_I_PRIME2;
    high = (high ^ high >> 37) * TAMIS_I_PRIME3;
    return (tamis_digest){.lo = low ^ low >> 28, .hi = high ^ high >> 32};
}

#endif
