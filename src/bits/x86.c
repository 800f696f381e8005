/* x86.c - kernels for x86-64 with POPCNT, BMI2 and AVX2
 *
 * Each function is compiled for its own features (target attributes), so that the library runs on any
 * x86-64; select.c makes sure that it is called only where they are present.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "bits/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

__attribute__((target("popcnt"))) static uint64_t ones(const uint64_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)__builtin_popcountll(words[i]);
    return sum;
}

__attribute__((target("popcnt"))) static uint64_t rank(const uint64_t *words, uint64_t at) {
    const uint64_t sum = ones(words, (size_t)(at / 64));
    const unsigned rest = (unsigned)(at % 64);
    if (rest == 0)
        return sum;
    return sum + (uint64_t)__builtin_popcountll(words[at / 64] & tamis_i_low_mask(rest));
}

/* Deposit a single bit at the r-th one, and find it. */
__attribute__((target("bmi,bmi2"))) static unsigned select_one(uint64_t word, unsigned r) {
    return r > 63 ? 64 : (unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << r, word));
}

/* Eight bits of a block at once, in lanes of 32 bits.  A block is two vectors of eight lanes; the top
 * bit of a position says which vector, the next three which lane, the last five which bit:
 *
 *      position   [ v | lane | bit ]        top 9 bits of a 32-bit lane of 'where'
 *
 * Both vectors are permuted by lane, and the top bit, which is the sign of 'where', blends them. */
__attribute__((target("avx2"))) static inline __m256i places(uint64_t hash, __m256i factors) {
    return _mm256_add_epi32(_mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)hash), factors),
                            _mm256_set1_epi32((int)(uint32_t)(hash >> 32)));
}

__attribute__((target("avx2"))) static inline __m256i missing(__m256i low, __m256i high,
                                                              __m256i where) {
    const __m256i lane = _mm256_srli_epi32(where, 28);
    const __m256i word = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, lane)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, lane)), _mm256_castsi256_ps(where)));
    const __m256i bit =
        _mm256_sllv_epi32(_mm256_set1_epi32(1),
                          _mm256_and_si256(_mm256_srli_epi32(where, 23), _mm256_set1_epi32(31)));
    return _mm256_andnot_si256(word, bit);
}

/* All ones in the first n of eight lanes. */
__attribute__((target("avx2"))) static inline __m256i first_lanes(unsigned n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

__attribute__((target("avx2"))) static inline __m256i load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

__attribute__((target("avx2"))) static void blocks_test(const uint64_t *const *blocks,
                                                        const uint64_t *hashes, size_t n,
                                                        unsigned k, bool *present) {
    const __m256i factors0 = load(tamis_i_block_factors),
                  factors1 = load(tamis_i_block_factors + 8);
    const __m256i use0 = first_lanes(k), use1 = first_lanes(k > 8 ? k - 8 : 0);
    for (size_t j = 0; j < n; j++) {
        const __m256i low = load(blocks[j]), high = load(blocks[j] + 4);
        __m256i lacks = _mm256_and_si256(missing(low, high, places(hashes[j], factors0)), use0);
        if (k > 8)
            lacks = _mm256_or_si256(
                lacks, _mm256_and_si256(missing(low, high, places(hashes[j], factors1)), use1));
        present[j] = _mm256_testz_si256(lacks, lacks) != 0;
    }
}

__attribute__((target("avx2"))) static void
blocks_set(uint64_t *const *blocks, const uint64_t *hashes, size_t n, unsigned k, bool *changed) {
    const __m256i factors0 = load(tamis_i_block_factors),
                  factors1 = load(tamis_i_block_factors + 8);
    for (size_t j = 0; j < n; j++) {
        uint32_t at[TAMIS_I_BLOCK_HASHES_MAX];
        _mm256_storeu_si256((__m256i *)at, _mm256_srli_epi32(places(hashes[j], factors0), 23));
        if (k > 8)
            _mm256_storeu_si256((__m256i *)(at + 8),
                                _mm256_srli_epi32(places(hashes[j], factors1), 23));
        uint64_t fresh = 0;
        for (unsigned i = 0; i < k; i++) {
            uint64_t *const word = blocks[j] + at[i] / 64;
            const uint64_t bit = (uint64_t)1 << at[i] % 64;
            fresh |= bit & ~*word;
            *word |= bit;
        }
        changed[j] = fresh != 0;
    }
}

void tamis_i_kernels_x86(tamis_i_kernels *kernels, unsigned features) {
    if (features & TAMIS_I_CPU_POPCNT) {
        kernels->ones = ones;
        kernels->rank = rank;
    }
    if (features & TAMIS_I_CPU_BMI2)
        kernels->select = select_one;
    if (features & TAMIS_I_CPU_AVX2) {
        kernels->blocks_test = blocks_test;
        kernels->blocks_set = blocks_set;
    }
}

#else

void tamis_i_kernels_x86(tamis_i_kernels *kernels, unsigned features) {
    (void)kernels;
    (void)features;
}

#endif
