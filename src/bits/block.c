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

const unsigned char tamis_i_one_bit[9][128] = {
    [0] = {[63] = 1 << 0}, [1] = {[63] = 1 << 1}, [2] = {[63] = 1 << 2}, [3] = {[63] = 1 << 3},
    [4] = {[63] = 1 << 4}, [5] = {[63] = 1 << 5}, [6] = {[63] = 1 << 6}, [7] = {[63] = 1 << 7}};

static bool local_test(const tamis_i_block *layout, const uint64_t *block, uint64_t hash) {
    bool all = true;
    for (unsigned i = 0; i < layout->hashes && all; i++)
        all = tamis_i_bit_get(block, tamis_i_block_place(layout, hash, i));
    return all;
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

static uint64_t local_look(const tamis_i_block *layout, const tamis_i_probe *probes, size_t n,
                           const tamis_i_probe *next) {
    uint64_t found = 0;
    for (size_t j = 0; j < n; j++) {
        const uint64_t *const block = probes[j].at[0], *const word = probes[j].word;
        TAMIS_PREFETCH(next[j].at[0]);
        found |= (uint64_t)local_test(layout, block, word[TAMIS_I_BLOCK_HASH]) << j;
        found |= (uint64_t)!tamis_i_block_takes(layout, block, word[TAMIS_I_BLOCK_COIN])
                 << (32 + j);
    }
    return found;
}

static uint64_t local_fill(const tamis_i_block *layout, const tamis_i_probe *probes, size_t n,
                           const tamis_i_probe *next) {
    uint64_t added = 0;
    size_t j = 0;
    for (; j < n; j++) {
        uint64_t *const block = probes[j].at[0];
        TAMIS_PREFETCH(next[j].at[0]);
        if (!tamis_i_block_takes(layout, block, probes[j].word[TAMIS_I_BLOCK_COIN]))
            break;
        const bool fresh = local_set(layout, block, probes[j].word[TAMIS_I_BLOCK_HASH]);
        block[0] += fresh; /* the load: its field has room for one more */
        added |= (uint64_t)fresh << j;
    }
    return (uint64_t)j << 32 | added;
}

void tamis_i_block_portable(tamis_i_kernels *kernels) {
    kernels->local_test = local_test;
    kernels->local_set = local_set;
    kernels->local_look = local_look;
    kernels->local_fill = local_fill;
}
