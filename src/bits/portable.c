/* portable.c - the kernels as they are defined
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "bits/kernels.h"

/* Random odd numbers (the fractional bits of square roots of primes, made odd). */
const uint32_t tamis_i_block_factors[TAMIS_I_BLOCK_HASHES_MAX] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef373u, 0xa54ff53bu, 0x510e527fu, 0x9b05688du,
    0x1f83d9abu, 0x5be0cd19u, 0xcbbb9d5du, 0x629a292bu, 0x9159015bu, 0x152fecd9u,
    0x67332667u, 0x8eb44a87u, 0xdb0c2e0du, 0x47b5481du};

/* Sums of neighbours: pairs, nibbles, bytes, then all bytes by one multiplication. */
static unsigned ones_of(uint64_t w) {
    w -= w >> 1 & 0x5555555555555555u;
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (unsigned)(w * 0x0101010101010101u >> 56);
}

static uint64_t ones(const uint64_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ones_of(words[i]);
    return sum;
}

static uint64_t rank(const uint64_t *words, uint64_t at) {
    const uint64_t sum = ones(words, (size_t)(at / 64));
    const unsigned rest = (unsigned)(at % 64);
    return rest == 0 ? sum : sum + ones_of(words[at / 64] & tamis_i_low_mask(rest));
}

/* Byte sums as in ones_of, then all their prefix sums by one multiplication; the first byte whose
 * prefix sum exceeds r holds the bit. */
static unsigned select_one(uint64_t word, unsigned r) {
    uint64_t w = word - (word >> 1 & 0x5555555555555555u);
    w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    const uint64_t prefix = w * 0x0101010101010101u; /* byte i: ones in bytes 0..i */
    if (r >= (unsigned)(prefix >> 56))
        return 64;
    unsigned byte = 0;
    while ((unsigned)(prefix >> 8 * byte & 0xff) <= r)
        byte++;
    unsigned left = byte == 0 ? r : r - (unsigned)(prefix >> 8 * (byte - 1) & 0xff);
    unsigned bits = (unsigned)(word >> 8 * byte & 0xff);
    while (left-- > 0)
        bits &= bits - 1;
    unsigned at = 8 * byte;
    while ((bits & 1) == 0) {
        bits >>= 1;
        at++;
    }
    return at;
}

static bool block_test(const uint64_t *block, uint64_t hash, unsigned k) {
    bool all = true;
    for (unsigned i = 0; i < k && all; i++)
        all = tamis_i_bit_get(block, tamis_i_block_bit(hash, i));
    return all;
}

static void blocks_test(const tamis_i_probe *probes, size_t n, unsigned k,
                        const tamis_i_probe *next, bool *present) {
    for (size_t j = 0; j < n; j++) {
        TAMIS_PREFETCH(next[j].at[0]);
        present[j] = block_test(probes[j].at[0], probes[j].word[0], k);
    }
}

static size_t blocks_set(const tamis_i_probe *probes, size_t n, unsigned k, bool *changed) {
    size_t sum = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t fresh = 0;
        for (unsigned i = 0; i < k; i++) {
            const unsigned at = tamis_i_block_bit(probes[j].word[0], i);
            uint64_t *const word = probes[j].at[0] + at / 64;
            const uint64_t bit = (uint64_t)1 << at % 64;
            fresh |= bit & ~*word;
            *word |= bit;
        }
        changed[j] = fresh != 0;
        sum += changed[j];
    }
    return sum;
}

void tamis_i_kernels_portable(tamis_i_kernels *kernels) {
    *kernels = (tamis_i_kernels){.ones = ones,
                                 .rank = rank,
                                 .select = select_one,
                                 .block_test = block_test,
                                 .blocks_test = blocks_test,
                                 .blocks_set = blocks_set};
}
