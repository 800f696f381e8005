/* block.c - small Bloom filters in blocks of memory, as they are defined
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"

#include "bits/field.h"

/* Random odd numbers (the fractional bits of cube roots of primes, made odd). */
const uint32_t tamis_i_place_factors[TAMIS_I_BLOCK_PLACES_MAX] = {
    0x428a2f99u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a5u,
    0xab1c5ed5u, 0xd807aa99u, 0x12835b01u, 0x243185bfu, 0x550c7dc3u, 0x72be5d75u, 0x80deb1ffu,
    0x9bdc06a7u, 0xc19bf175u, 0xe49b69c1u, 0xefbe4787u, 0x0fc19dc7u, 0x240ca1cdu, 0x2de92c6fu,
    0x4a7484abu, 0x5cb0a9ddu, 0x76f988dbu, 0x983e5153u, 0xa831c66du, 0xb00327c9u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u};

static void local_test(const tamis_i_block *layout, const uint64_t *const *blocks,
                       const uint64_t *hashes, size_t n, bool *present) {
    for (size_t j = 0; j < n; j++) {
        bool all = true;
        for (unsigned i = 0; i < layout->hashes && all; i++)
            all = tamis_i_bit_get(blocks[j], tamis_i_block_place(layout, hashes[j], i));
        present[j] = all;
    }
}

static bool local_set(const tamis_i_block *layout, uint64_t *block, uint64_t hash) {
    uint64_t fresh = 0;
    for (unsigned i = 0; i < layout->hashes; i++) {
        const unsigned at = tamis_i_block_place(layout, hash, i);
        const uint64_t bit = (uint64_t)1 << at % 64;
        fresh |= bit & ~block[at / 64];
        block[at / 64] |= bit;
    }
    return fresh != 0;
}

void tamis_i_block_portable(tamis_i_kernels *kernels) {
    kernels->local_test = local_test;
    kernels->local_set = local_set;
}
