/* aes_block.h - from the bytes of a key to the block that is enciphered
 *
 * What comes before the cipher (aes_hash.h).  Keys of more than 16 bytes are read as words w[i] of 32 bits;
 * each has a key k[i] of four parts below 2^26, part j of which counts 2^(32 j):
 *
 *      s[j] = sum of w[i] k[i][j]         at most 32 products below 2^58: a sum below 2^63
 *      v    = s[0] + 2^32 s[1] + 2^64 s[2] + 2^96 s[3]
 *
 * A further chunk of 128 bytes adds the accumulator a = a0 + 2^64 a1 times r = r0 + 2^64 r1, where 2^128 is 2
 * modulo the prime p = 2^127 - 1; r0 and r1 are below 2^58, a1 <= 2^63:
 *
 *      v = v + (a0 r0 + 2 a1 r1) + 2^64 (a0 r1 + a1 r0)
 *
 * so that no sum overflows, v is below 2^190, and folding it brings a1 <= 2^63 again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_AES_BLOCK_H
#define TAMIS_HASH_AES_BLOCK_H

#include "hash/aes_hash.h"
#include "hash/hash.h"

typedef struct tamis_i_aes_sums {
    uint64_t s[4];
} tamis_i_aes_sums;

/* A number of three words, the lowest first. */
typedef struct tamis_i_aes_number {
    uint64_t v[3];
} tamis_i_aes_number;

/* v of these sums, and n. */
TAMIS_INLINE tamis_i_aes_number tamis_i_aes_value(tamis_i_aes_sums sums, uint64_t n) {
    const uint64_t *const s = sums.s;
    const uint64_t v0 = s[0] + n + (s[1] << 32), v1 = (s[1] >> 32) + (v0 < s[0] + n) + s[2],
                   v1_all = v1 + (s[3] << 32);
    return (tamis_i_aes_number){{v0, v1_all, (s[3] >> 32) + (v1_all < v1)}};
}

/* v mod 2^127 + v / 2^127 */
TAMIS_INLINE tamis_digest tamis_i_aes_fold(tamis_i_aes_number number) {
    const uint64_t *const v = number.v;
    const uint64_t over = v[2] << 1 | v[1] >> 63, lo = v[0] + over;
    return (tamis_digest){.lo = lo, .hi = (v[1] & (UINT64_MAX >> 1)) + (lo < over)};
}

/* v + a r */
TAMIS_INLINE tamis_i_aes_number tamis_i_aes_advance(tamis_i_aes_number number, tamis_digest a,
                                                    const uint64_t point[2]) {
    const uint64_t *const v = number.v;
    const tamis_i_product p = tamis_i_multiply(a.lo, point[0]),
                          q = tamis_i_multiply(a.hi, 2 * point[1]),
                          s = tamis_i_multiply(a.lo, point[1]),
                          t = tamis_i_multiply(a.hi, point[0]);
    /* p + q and s + t, of two words each; then word by word.  High words are below 2^60. */
    const uint64_t low = p.low + q.low, high = p.high + q.high + (low < p.low);
    const uint64_t middle = s.low + t.low, top = s.high + t.high + (middle < s.low);
    const uint64_t v0 = v[0] + low, first = v[1] + middle;
    const uint64_t carried = high + (v0 < low), v1 = first + carried;
    return (tamis_i_aes_number){{v0, v1, v[2] + top + (first < middle) + (v1 < carried)}};
}

TAMIS_INLINE tamis_digest tamis_i_aes_begin(const tamis_i_hash_keys *keys, uint64_t lo, uint64_t hi,
                                            unsigned which) {
    return (tamis_digest){.lo = lo ^ keys->start[which][0], .hi = hi ^ keys->start[which][1]};
}

/* More than 16 bytes, in plain C. */
tamis_digest tamis_i_aes_beyond(const tamis_i_hash_keys *keys, const unsigned char *p, size_t n);

/* 0 to 16 bytes, without a byte outside: halves that overlap. */
TAMIS_INLINE tamis_digest tamis_i_aes_short(const tamis_i_hash_keys *keys, const unsigned char *p,
                                            size_t n) {
    uint64_t lo = 0, hi = 0;
    if (n >= 8) {
        lo = tamis_i_get_u64(p);
        hi = tamis_i_get_u64(p + n - 8);
        hi = n == 16 ? hi : hi >> 8 >> 8 * (15 - n);
    } else if (n >= 4) {
        lo = tamis_i_get_u32(p) | (uint64_t)tamis_i_get_u32(p + n - 4) << 8 * (n - 4);
    } else if (n > 0) {
        lo = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return tamis_i_aes_begin(keys, lo, hi, (unsigned)n);
}

#endif
