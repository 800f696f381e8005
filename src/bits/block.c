/* block.c - a Bloom filter in one block: the portable definition
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"

#include "base/atomic_words.h"
#include "bits/field.h"
#include "bits/native.h"

/* Random odd numbers (the fractional bits of square roots of primes, made odd). */
const uint32_t tamis_i_block_factors[TAMIS_I_BLOCK_HASHES_MAX] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef373u, 0xa54ff53bu, 0x510e527fu, 0x9b05688du,
    0x1f83d9abu, 0x5be0cd19u, 0xcbbb9d5du, 0x629a292bu, 0x9159015bu, 0x152fecd9u,
    0x67332667u, 0x8eb44a87u, 0xdb0c2e0du, 0x47b5481du};

static void block_read(const uint64_t *block, uint64_t *copy) {
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++)
        copy[i] = tamis_i_word_read(block + i);
}

/* Both layouts, which differ in where bit number i of a hash is. */
typedef unsigned block_place(uint64_t hash, unsigned i);

TAMIS_INLINE bool block_has(const uint64_t *block, uint64_t hash, unsigned k, block_place *place) {
    bool all = true;
    for (unsigned i = 0; i < k && all; i++)
        all = tamis_i_bit_get(block, place(hash, i));
    return all;
}

TAMIS_INLINE bool block_add(uint64_t *block, uint64_t hash, unsigned k, block_place *place) {
    uint64_t fresh = 0;
    for (unsigned i = 0; i < k; i++) {
        const unsigned at = place(hash, i);
        const uint64_t bit = (uint64_t)1 << at % 64;
        fresh |= bit & ~block[at / 64];
        block[at / 64] |= bit;
    }
    return fresh != 0;
}

#define LAYOUT(name, k_of, place)                                                                  \
    static bool name##_test(const uint64_t *block, uint64_t hash, unsigned k) {                    \
        (void)k;                                                                                   \
        return block_has(block, hash, k_of, place);                                                \
    }                                                                                              \
    static bool name##_test_read(const uint64_t *block, uint64_t hash, unsigned k) {               \
        uint64_t copy[TAMIS_LINE_WORDS];                                                           \
        block_read(block, copy);                                                                   \
        return name##_test(copy, hash, k);                                                         \
    }                                                                                              \
    static void name##_test_many(const tamis_i_probe *probes, size_t n, unsigned k,                \
                                 const tamis_i_probe *next, bool *present) {                       \
        (void)k;                                                                                   \
        for (size_t j = 0; j < n; j++) {                                                           \
            TAMIS_PREFETCH(next[j].at[0]);                                                         \
            present[j] = block_has(probes[j].at[0], probes[j].word[0], k_of, place);               \
        }                                                                                          \
    }                                                                                              \
    static size_t name##_set_many(const tamis_i_probe *probes, size_t n, unsigned k,               \
                                  bool *changed) {                                                 \
        size_t sum = 0;                                                                            \
        (void)k;                                                                                   \
        for (size_t j = 0; j < n; j++) {                                                           \
            changed[j] = block_add(probes[j].at[0], probes[j].word[0], k_of, place);               \
            sum += changed[j];                                                                     \
        }                                                                                          \
        return sum;                                                                                \
    }
LAYOUT(block, k, tamis_i_block_bit)
LAYOUT(block_lanes, TAMIS_I_BLOCK_LANES, tamis_i_block_lane_bit)

const tamis_i_block_ops *tamis_i_block_ops_for(unsigned lanes, unsigned features) {
    static const tamis_i_block_ops places = {block_test, block_test_many, block_set_many,
                                             block_read, block_test_read},
                                   in_lanes = {block_lanes_test, block_lanes_test_many,
                                               block_lanes_set_many, block_read,
                                               block_lanes_test_read};
    const tamis_i_block_ops *const native = TAMIS_I_BLOCK_NATIVE(lanes, features);
    return native != NULL ? native : lanes != 0 ? &in_lanes : &places;
}
