/* hash.h - digests of keys, and how they are split
 *
 * A digest is a supply of random bits.  Numbers below any n are drawn from a word by multiplication:
 *
 *      word x n  =  [ high word: the number, 0 .. n-1 ][ low word: bits that are still fresh ]
 *
 * No n is favoured, there is no division and no power of two.  A result differs from uniform by less
 * than n / 2^64, relatively, which for n <= 2^40 no test can see.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_HASH_H
#define TAMIS_HASH_HASH_H

#include "base/base.h"

/* XXH3-64 of some bytes, and of words as their little-endian bytes: the checksum of files. */
uint64_t tamis_i_checksum(const void *data, size_t size);
uint64_t tamis_i_checksum_words(const uint64_t *words, size_t n);

/* The same of bytes that come one after the other. */
typedef struct tamis_i_checksum_flow {
    _Alignas(TAMIS_LINE_BYTES) unsigned char state[640];
} tamis_i_checksum_flow;

void tamis_i_checksum_begin(tamis_i_checksum_flow *flow);
void tamis_i_checksum_add(tamis_i_checksum_flow *flow, const void *data, size_t size);
uint64_t tamis_i_checksum_end(const tamis_i_checksum_flow *flow);

/* A product of two words. */
typedef struct tamis_i_product {
    uint64_t high, low;
} tamis_i_product;

/* In four parts of 32 bits by 32, for machines that have no others. */
TAMIS_INLINE tamis_i_product tamis_i_multiply_parts(uint64_t a, uint64_t b) {
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, first = a1 * b0 + (low >> 32),
                   second = a0 * b1 + (uint32_t)first; /* neither can overflow */
    return (tamis_i_product){.high = a1 * b1 + (first >> 32) + (second >> 32),
                             .low = second << 32 | (uint32_t)low};
}

TAMIS_INLINE tamis_i_product tamis_i_multiply(uint64_t a, uint64_t b) {
#ifdef TAMIS_I_HAS_U128
    const tamis_i_u128 product = (tamis_i_u128)a * b;
    return (tamis_i_product){.high = (uint64_t)(product >> 64), .low = (uint64_t)product};
#else
    return tamis_i_multiply_parts(a, b);
#endif
}

TAMIS_INLINE uint64_t tamis_i_mulhi(uint64_t a, uint64_t b) {
    return tamis_i_multiply(a, b).high;
}

/* a b / c, of a product of any size; b <= c, c > 0 and below 2^63.  Bit by bit, hence not quick. */
static inline uint64_t tamis_i_share(uint64_t a, uint64_t b, uint64_t c) {
    TAMIS_ASSERT(b <= c && c > 0 && c >> 63 == 0);
    const tamis_i_product product = tamis_i_multiply(a, b);
    uint64_t rest = product.high % c, quotient = product.high / c; /* 0, or 1 for b = c */
    for (unsigned i = 64; i-- > 0;) {
        rest = rest << 1 | (product.low >> i & 1);
        quotient = quotient << 1 | (rest >= c);
        rest -= rest >= c ? c : 0;
    }
    return quotient;
}

/* A number in [0, n) from the high bits of 'word'. */
TAMIS_INLINE uint64_t tamis_i_range(uint64_t word, uint64_t n) {
    return tamis_i_mulhi(word, n);
}

/* Like tamis_i_range, and '*word' becomes what is left: drawing numbers below n1, n2, ... one after
 * the other from one word is fair as long as their product stays far below 2^64. */
TAMIS_INLINE uint64_t tamis_i_take(uint64_t *word, uint64_t n) {
    const tamis_i_product product = tamis_i_multiply(*word, n);
    *word = product.low;
    return product.high;
}

/* A bijection of 64-bit words in which every input bit moves every output bit. */
#define TAMIS_I_MIX_1 0xe9846af9b1a615d5u
#define TAMIS_I_MIX_2 0x9e6c63d0876a68d9u
static inline uint64_t tamis_i_mix(uint64_t x) {
    x ^= x >> 32;
    x *= TAMIS_I_MIX_1;
    x ^= x >> 29;
    x *= TAMIS_I_MIX_2;
    x ^= x >> 32;
    return x;
}

/* Word number i of the stream that belongs to a digest: its own two, then as many more as a structure
 * with several choices needs. */
static inline uint64_t tamis_i_word(tamis_digest digest, unsigned i) {
    if (i == 0)
        return digest.lo;
    if (i == 1)
        return digest.hi;
    return tamis_i_mix(digest.lo + i * (digest.hi | 1));
}

/* Which of n shards a digest belongs to (tamis_digest_shard): a mix that no structure draws from, so that
 * what is left of the digest, once its shard is known, is as random as before.  docs/format.md has it, so
 * that programs in other languages find the same shards. */
#define TAMIS_I_SHARD 0x73686172642d6f66u /* "shard-of" */
static inline uint64_t tamis_i_digest_shard(tamis_digest digest, uint64_t n) {
    return tamis_i_range(tamis_i_mix(tamis_i_mix(digest.lo ^ TAMIS_I_SHARD) ^ digest.hi), n);
}

#endif
