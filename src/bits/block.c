/* block.c - a Bloom filter in one block: the portable definition
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"

#include "bits/field.h"
#include "bits/native.h"

/* Random odd numbers (the fractional bits of square roots of primes, made odd). */
const uint32_t tamis_i_block_factors[TAMIS_I_BLOCK_HASHES_MAX] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef373u, 0xa54ff53bu, 0x510e527fu, 0x9b05688du,
    0x1f83d9abu, 0x5be0cd19u, 0xcbbb9d5du, 0x629a292bu, 0x9159015bu, 0x152fecd9u,
    0x67332667u, 0x8eb44a87u, 0xdb0c2e0du, 0x47b5481du};

static bool block_test(const uint64_t *block, uint64_t hash, unsigned k) {
    bool all = true;
    for (unsigned i = 0; i < k && all; i++)
        all = tamis_i_bit_get(block, tamis_i_block_bit(hash, i));
    return all;
}

static void block_test_many(const tamis_i_probe *probes, size_t n, unsigned k,
                            const tamis_i_probe *next, bool *present) {
    for (size_t j = 0; j < n; j++) {
        TAMIS_PREFETCH(next[j].at[0]);
        present[j] = block_test(probes[j].at[0], probes[j].word[0], k);
    }
}

static size_t block_set_many(const tamis_i_probe *probes, size_t n, unsigned k, bool *changed) {
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

const tamis_i_block_ops *tamis_i_block_ops_for(unsigned features) {
    static const tamis_i_block_ops portable = {block_test, block_test_many, block_set_many};
    const tamis_i_block_ops *const native = TAMIS_I_BLOCK_NATIVE(features);
    return native != NULL ? native : &portable;
}
