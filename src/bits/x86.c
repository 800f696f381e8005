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

#include "bits/halves_x86.h"

#include <immintrin.h>
#include <string.h>

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
__attribute__((target("avx2"))) static inline __m256i all_lanes(const unsigned char *p) {
    int32_t value;
    memcpy(&value, p, sizeof value);
    return _mm256_set1_epi32(value);
}

__attribute__((target("avx2"))) static inline __m256i places(const uint64_t *hash,
                                                             __m256i factors) {
    const unsigned char *const bytes = (const unsigned char *)hash;
    return _mm256_add_epi32(_mm256_mullo_epi32(all_lanes(bytes), factors), all_lanes(bytes + 4));
}

/* The bits that belong to 'where' and are clear in the block.  'ones' is 1 in the lanes in use. */
__attribute__((target("avx2"))) static inline __m256i missing(__m256i low, __m256i high,
                                                              __m256i where, __m256i ones) {
    const __m256i lane = _mm256_srli_epi32(where, 28);
    const __m256i word = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, lane)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, lane)), _mm256_castsi256_ps(where)));
    const __m256i bit = _mm256_sllv_epi32(ones, _mm256_srli_epi32(_mm256_slli_epi32(where, 4), 27));
    return _mm256_andnot_si256(word, bit);
}

__attribute__((target("avx2"))) static inline __m256i load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

/* 1 in the first n of eight lanes, n <= 8. */
__attribute__((target("avx2"))) static inline __m256i first_lanes(unsigned n) {
    static const int32_t lanes[16] = {1, 1, 1, 1, 1, 1, 1, 1};
    return load(lanes + (8 - n));
}

__attribute__((target("avx2"))) static bool block_test(const uint64_t *block, uint64_t hash,
                                                       unsigned k) {
    const __m256i low = load(block), high = load(block + 4);
    __m256i lacks =
        missing(low, high, places(&hash, load(tamis_i_block_factors)), first_lanes(k < 8 ? k : 8));
    if (k > 8)
        lacks = _mm256_or_si256(
            lacks,
            missing(low, high, places(&hash, load(tamis_i_block_factors + 8)), first_lanes(k - 8)));
    return _mm256_testz_si256(lacks, lacks) != 0;
}

__attribute__((target("avx2"))) static void blocks_test(const tamis_i_probe *probes, size_t n,
                                                        unsigned k, const tamis_i_probe *next,
                                                        bool *present) {
    const __m256i factors0 = load(tamis_i_block_factors);
    if (k <= 8) {
        const __m256i ones = first_lanes(k);
        for (size_t j = 0; j < n; j++) {
            const uint64_t *const block = probes[j].at[0];
            TAMIS_PREFETCH(next[j].at[0]);
            const __m256i low = load(block), high = load(block + 4);
            const __m256i lacks = missing(low, high, places(&probes[j].word[0], factors0), ones);
            present[j] = _mm256_testz_si256(lacks, lacks) != 0;
        }
        return;
    }
    const __m256i factors1 = load(tamis_i_block_factors + 8);
    const __m256i ones0 = first_lanes(8), ones1 = first_lanes(k - 8);
    for (size_t j = 0; j < n; j++) {
        const uint64_t *const block = probes[j].at[0], *const hash = &probes[j].word[0];
        TAMIS_PREFETCH(next[j].at[0]);
        const __m256i low = load(block), high = load(block + 4);
        const __m256i lacks = _mm256_or_si256(missing(low, high, places(hash, factors0), ones0),
                                              missing(low, high, places(hash, factors1), ones1));
        present[j] = _mm256_testz_si256(lacks, lacks) != 0;
    }
}

/* The bits of four hashes come into both halves of a block. */
__attribute__((target("avx2"))) TAMIS_INLINE void add_four(__m256 *low, __m256 *high,
                                                           __m128i four) {
    const uint64_t two[2] = {(uint64_t)_mm_cvtsi128_si64(four),
                             (uint64_t)_mm_extract_epi64(four, 1)};
    for (unsigned i = 0; i < 2; i++) {
        tamis_i_halves_add_bit(low, high, (uint32_t)two[i], 8);
        tamis_i_halves_add_bit(low, high, two[i] >> 32, 8);
    }
}

/* Those of eight, or of the first four. */
__attribute__((target("avx2"))) TAMIS_INLINE void add_eight(__m256 *low, __m256 *high,
                                                            __m256i where, bool upper) {
    const __m256i eight =
        tamis_i_halves_entries(_mm256_srli_epi32(where, 23), _mm256_set1_epi32(31));
    add_four(low, high, _mm256_castsi256_si128(eight));
    if (upper)
        add_four(low, high, _mm256_extracti128_si256(eight, 1));
}

__attribute__((target("avx2"))) TAMIS_INLINE size_t set_blocks(const tamis_i_probe *probes,
                                                               size_t n, unsigned k, bool *changed,
                                                               bool more) {
    const __m256i factors0 = tamis_i_halves_factors(tamis_i_block_factors, 0, k),
                  factors1 = tamis_i_halves_factors(tamis_i_block_factors, 8, k);
    size_t sum = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t *const block = probes[j].at[0];
        const uint64_t *const hash = &probes[j].word[0];
        const tamis_i_halves old = {load(block), load(block + 4)};
        __m256 low = _mm256_castsi256_ps(old.low), high = _mm256_castsi256_ps(old.high);
        add_eight(&low, &high, places(hash, factors0), k > 4);
        if (more)
            add_eight(&low, &high, places(hash, factors1), k > 12);
        const tamis_i_halves all = {_mm256_castps_si256(low), _mm256_castps_si256(high)};
        _mm256_storeu_si256((__m256i *)(void *)block, all.low);
        _mm256_storeu_si256((__m256i *)(void *)(block + 4), all.high);
        changed[j] = tamis_i_halves_lack(old, all, 8);
        sum += changed[j];
    }
    return sum;
}

__attribute__((target("avx2"))) static size_t blocks_set(const tamis_i_probe *probes, size_t n,
                                                         unsigned k, bool *changed) {
    return k <= 8 ? set_blocks(probes, n, k, changed, false)
                  : set_blocks(probes, n, k, changed, true);
}

void tamis_i_kernels_x86(tamis_i_kernels *kernels, unsigned features) {
    if (features & TAMIS_I_CPU_POPCNT) {
        kernels->ones = ones;
        kernels->rank = rank;
    }
    if (features & TAMIS_I_CPU_BMI2)
        kernels->select = select_one;
    if (features & TAMIS_I_CPU_AVX2) {
        kernels->block_test = block_test;
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
