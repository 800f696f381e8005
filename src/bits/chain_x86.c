/* chain_x86.c - the work on one bucket of chain.h, for x86-64 with POPCNT and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/chain.h"
#include "bits/x86/draw.h"
#include "base/cpu.h"
#include "bits/group.h"

#if defined(__x86_64__) && defined(__GNUC__)

/* Bytes are in the order of bits. */
static inline uint64_t byte_window(const uint64_t *table, uint64_t at) {
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)table + at / 8, sizeof bits);
    return bits >> at % 8;
}

/* The 8 bytes that end with or after the last of 'width' bits: a line behind them is not touched. */
static inline uint64_t byte_window_before(const uint64_t *table, uint64_t at, uint64_t width) {
    const uint64_t end = at + width + 7;
    uint64_t bits;
    memcpy(&bits, (const unsigned char *)table + end / 8 - 8, sizeof bits);
    return bits >> (at - (end & ~(uint64_t)7)) % 64;
}

#define CHAIN_TARGET                  __attribute__((target("popcnt,bmi,bmi2")))
#define CHAIN_ONES(word)              ((unsigned)__builtin_popcountll(word))
#define CHAIN_INDEX(table, at, tight) ((tight) ? byte_window(table, at) : window(table, at))
#define CHAIN_SLOT                    byte_window_before
#define CHAIN_OPS                     static const tamis_i_chain_ops ops
#include "bits/chain_template.h"

const tamis_i_chain_ops *tamis_i_chain_x86(unsigned features) {
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2;
    return (features & needed) == needed ? &ops : NULL;
}

__attribute__((target("avx2"))) void tamis_i_chain_locate_avx2(const tamis_i_chain *chain,
                                                               const tamis_digest *digests,
                                                               size_t n, tamis_i_chain_keys *keys) {
    const uint64_t buckets = chain->n[0], stride = chain->stride[0];
    if (TAMIS_UNLIKELY(n != TAMIS_I_GROUP || (buckets | stride) >> 32 != 0)) {
        tamis_i_chain_locate(chain, digests, n, keys);
        return;
    }
    const __m256i all_buckets = _mm256_set1_epi64x((long long)buckets),
                  all_homes = _mm256_set1_epi64x((long long)chain->homes),
                  all_stride = _mm256_set1_epi64x((long long)stride),
                  all_mask = _mm256_set1_epi64x((long long)chain->print_mask);
    for (size_t i = 0; i < TAMIS_I_GROUP; i += 4) {
        const tamis_i_drawn d = tamis_i_draw_four(digests + i, all_buckets, all_homes);
        tamis_i_put_four(keys->at + i, _mm256_mul_epu32(d.first, all_stride));
        tamis_i_put_four(keys->home + i, d.second);
        tamis_i_put_four(keys->print + i, _mm256_and_si256(d.other, all_mask));
    }
}

#else

const tamis_i_chain_ops *tamis_i_chain_x86(unsigned features) {
    (void)features;
    return NULL;
}

void tamis_i_chain_locate_avx2(const tamis_i_chain *chain, const tamis_digest *digests, size_t n,
                               tamis_i_chain_keys *keys) {
    tamis_i_chain_locate(chain, digests, n, keys);
}

#endif
