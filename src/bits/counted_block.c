/* counted_block.c - small Bloom filters in blocks of memory: the portable definition
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counted_block.h"

#include "bits/field.h"
#include "bits/native.h"

/* Random odd numbers (the fractional bits of cube roots of primes, made odd). */
const uint32_t tamis_i_counted_block_factors[TAMIS_I_COUNTED_BLOCK_PLACES] = {
    0x428a2f99u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a5u,
    0xab1c5ed5u, 0xd807aa99u, 0x12835b01u, 0x243185bfu, 0x550c7dc3u, 0x72be5d75u, 0x80deb1ffu,
    0x9bdc06a7u, 0xc19bf175u, 0xe49b69c1u, 0xefbe4787u, 0x0fc19dc7u, 0x240ca1cdu, 0x2de92c6fu,
    0x4a7484abu, 0x5cb0a9ddu, 0x76f988dbu, 0x983e5153u, 0xa831c66du, 0xb00327c9u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u};

static bool counted_block_test(const tamis_i_counted_block *layout, const uint64_t *block,
                               uint64_t hash) {
    bool all = true;
    for (unsigned i = 0; i < layout->hashes && all; i++)
        all = tamis_i_bit_get(block, tamis_i_counted_block_place(layout, hash, i));
    return all;
}

static bool counted_block_set(const tamis_i_counted_block *layout, uint64_t *block, uint64_t hash) {
    uint64_t fresh = 0;
    for (unsigned i = 0; i < layout->hashes; i++) {
        const unsigned at = tamis_i_counted_block_place(layout, hash, i);
        const uint64_t bit = (uint64_t)1 << at % 64;
        fresh |= bit & ~block[at / 64];
        block[at / 64] |= bit;
    }
    return fresh != 0;
}

static uint64_t counted_block_look(const tamis_i_counted_block *layout, const tamis_i_probe *probes,
                                   size_t n, const tamis_i_probe *next) {
    uint64_t found = 0;
    for (size_t j = 0; j < n; j++) {
        const uint64_t *const block = probes[j].at[0], *const word = probes[j].word;
        TAMIS_PREFETCH(next[j].at[0]);
        found |= (uint64_t)counted_block_test(layout, block, word[TAMIS_I_COUNTED_BLOCK_HASH]) << j;
        found |=
            (uint64_t)!tamis_i_counted_block_takes(layout, block, word[TAMIS_I_COUNTED_BLOCK_COIN])
            << (32 + j);
    }
    return found;
}

static void counted_block_prepare(const tamis_i_counted_block *layout, const tamis_digest *digests,
                                  size_t n, tamis_i_probe *probes,
                                  tamis_i_counted_block_places *places) {
    (void)layout, (void)places;
    for (size_t j = 0; j < n; j++)
        probes[j].word[TAMIS_I_COUNTED_BLOCK_HASH] = digests[j].hi;
}

static uint64_t counted_block_fill(const tamis_i_counted_block *layout, const tamis_i_probe *probes,
                                   size_t n, bool stop) {
    uint64_t done = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t *const block = probes[j].at[0];
        const uint64_t *const word = probes[j].word, hash = word[TAMIS_I_COUNTED_BLOCK_HASH];
        if (tamis_i_counted_block_takes(layout, block, word[TAMIS_I_COUNTED_BLOCK_COIN])) {
            const bool fresh = counted_block_set(layout, block, hash);
            block[0] += fresh; /* the load: its field has room for one more */
            done |= (uint64_t)fresh << j;
        } else if (stop) {
            return done | (uint64_t)1 << (32 + j);
        } else {
            done |= (uint64_t)!counted_block_test(layout, block, hash) << (32 + j);
        }
    }
    return done;
}

const tamis_i_counted_block_ops *tamis_i_counted_block_ops_for(unsigned features) {
    static const tamis_i_counted_block_ops portable = {counted_block_test, counted_block_set,
                                                       counted_block_look, counted_block_prepare,
                                                       counted_block_fill};
    const tamis_i_counted_block_ops *const native = TAMIS_I_COUNTED_BLOCK_NATIVE(features);
    return native != NULL ? native : &portable;
}
