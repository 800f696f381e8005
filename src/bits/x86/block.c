/* block.c - a Bloom filter in one block, for x86-64 with AVX2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "base/atomic_words.h"
#include "bits/native.h"
#include "bits/x86/block_key.h"
#include "bits/x86/halves.h"

#define AVX2 TAMIS_I_TARGET_AVX2
#define FAST TAMIS_I_TARGET_ALL

/* Eight bits of a block at once, in lanes of 32 bits.  A block is two vectors of eight lanes.  The top
 * bit of a position selects the vector, the next three the lane, the last five the bit:
 *
 *      position   [ v | lane | bit ]        top 9 bits of a 32-bit lane of 'where'
 *
 * Both vectors are permuted by lane.  The top bit, which is the sign of 'where', blends them. */
AVX2 TAMIS_INLINE __m256i block_broadcast(const unsigned char *p) {
    int32_t value;
    memcpy(&value, p, sizeof value);
    return _mm256_set1_epi32(value);
}

AVX2 static inline __m256i block_places(const uint64_t *hash, __m256i factors) {
    const unsigned char *const bytes = (const unsigned char *)hash;
    return _mm256_add_epi32(_mm256_mullo_epi32(block_broadcast(bytes), factors),
                            block_broadcast(bytes + 4));
}

/* The bits that belong to 'where' and are clear in the block.  'ones' is 1 in the lanes in use. */
AVX2 TAMIS_INLINE __m256i block_missing(__m256i low, __m256i high, __m256i where, __m256i ones) {
    const __m256i lane = _mm256_srli_epi32(where, 28);
    const __m256i word = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, lane)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, lane)), _mm256_castsi256_ps(where)));
    const __m256i bit = _mm256_sllv_epi32(ones, _mm256_srli_epi32(_mm256_slli_epi32(where, 4), 27));
    return _mm256_andnot_si256(word, bit);
}

AVX2 TAMIS_INLINE __m256i block_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

/* 1 in the first n of eight lanes, n <= 8. */
AVX2 TAMIS_INLINE __m256i block_lanes(unsigned n) {
    static const int32_t lanes[16] = {1, 1, 1, 1, 1, 1, 1, 1};
    return block_load(lanes + (8 - n));
}

AVX2 TAMIS_INLINE bool block_test_in(__m256i low, __m256i high, uint64_t hash, unsigned k) {
    __m256i lacks = block_missing(low, high, block_places(&hash, block_load(tamis_i_block_factors)),
                                  block_lanes(k < 8 ? k : 8));
    if (k > 8)
        lacks = _mm256_or_si256(
            lacks,
            block_missing(low, high, block_places(&hash, block_load(tamis_i_block_factors + 8)),
                          block_lanes(k - 8)));
    return _mm256_testz_si256(lacks, lacks) != 0;
}

AVX2 static bool block_test(const uint64_t *block, uint64_t hash, unsigned k) {
    return block_test_in(block_load(block), block_load(block + 4), hash, k);
}

AVX2 static void block_test_many(const tamis_i_probe *probes, size_t n, unsigned k,
                                 const tamis_i_probe *next, bool *present) {
    const __m256i factors0 = block_load(tamis_i_block_factors);
    if (k <= 8) {
        const __m256i ones = block_lanes(k);
        for (size_t j = 0; j < n; j++) {
            const uint64_t *const block = probes[j].at[0];
            TAMIS_PREFETCH(next[j].at[0]);
            const __m256i low = block_load(block), high = block_load(block + 4);
            const __m256i lacks =
                block_missing(low, high, block_places(&probes[j].word[0], factors0), ones);
            present[j] = _mm256_testz_si256(lacks, lacks) != 0;
        }
        return;
    }
    const __m256i factors1 = block_load(tamis_i_block_factors + 8);
    const __m256i ones0 = block_lanes(8), ones1 = block_lanes(k - 8);
    for (size_t j = 0; j < n; j++) {
        const uint64_t *const block = probes[j].at[0], *const hash = &probes[j].word[0];
        TAMIS_PREFETCH(next[j].at[0]);
        const __m256i low = block_load(block), high = block_load(block + 4);
        const __m256i lacks =
            _mm256_or_si256(block_missing(low, high, block_places(hash, factors0), ones0),
                            block_missing(low, high, block_places(hash, factors1), ones1));
        present[j] = _mm256_testz_si256(lacks, lacks) != 0;
    }
}

/* Add the bits of four hashes to both halves of a block. */
AVX2 TAMIS_INLINE void block_add_four(__m256 *low, __m256 *high, __m128i four) {
    const uint64_t two[2] = {(uint64_t)_mm_cvtsi128_si64(four),
                             (uint64_t)_mm_extract_epi64(four, 1)};
    for (unsigned i = 0; i < 2; i++) {
        tamis_i_halves_add_bit(low, high, (uint32_t)two[i], 8);
        tamis_i_halves_add_bit(low, high, two[i] >> 32, 8);
    }
}

/* The same for eight hashes, or for the first four. */
AVX2 TAMIS_INLINE void block_add_eight(__m256 *low, __m256 *high, __m256i where, bool upper) {
    const __m256i eight =
        tamis_i_halves_entries(_mm256_srli_epi32(where, 23), _mm256_set1_epi32(31));
    block_add_four(low, high, _mm256_castsi256_si128(eight));
    if (upper)
        block_add_four(low, high, _mm256_extracti128_si256(eight, 1));
}

AVX2 TAMIS_INLINE size_t block_set_all(const tamis_i_probe *probes, size_t n, unsigned k,
                                       bool *changed, bool more) {
    const __m256i factors0 = tamis_i_halves_factors(tamis_i_block_factors, 0, k),
                  factors1 = tamis_i_halves_factors(tamis_i_block_factors, 8, k);
    size_t sum = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t *const block = probes[j].at[0];
        const uint64_t *const hash = &probes[j].word[0];
        const tamis_i_halves old = {block_load(block), block_load(block + 4)};
        __m256 low = _mm256_castsi256_ps(old.low), high = _mm256_castsi256_ps(old.high);
        block_add_eight(&low, &high, block_places(hash, factors0), k > 4);
        if (more)
            block_add_eight(&low, &high, block_places(hash, factors1), k > 12);
        const tamis_i_halves all = {_mm256_castps_si256(low), _mm256_castps_si256(high)};
        _mm256_storeu_si256((__m256i *)(void *)block, all.low);
        _mm256_storeu_si256((__m256i *)(void *)(block + 4), all.high);
        changed[j] = tamis_i_halves_lack(old, all, 8);
        sum += changed[j];
    }
    return sum;
}

AVX2 static size_t block_set_many(const tamis_i_probe *probes, size_t n, unsigned k,
                                  bool *changed) {
    return k <= 8 ? block_set_all(probes, n, k, changed, false)
                  : block_set_all(probes, n, k, changed, true);
}

/* ---- lanes ---- */

FAST static bool block_lanes_test(const uint64_t *block, uint64_t hash, unsigned k) {
    (void)k;
    return tamis_i_lanes_have(block, tamis_i_lanes_places(hash));
}

FAST static void block_lanes_test_many(const tamis_i_probe *probes, size_t n, unsigned k,
                                       const tamis_i_probe *next, bool *present) {
    (void)k;
    for (size_t j = 0; j < n; j++) {
        TAMIS_PREFETCH(next[j].at[0]);
        present[j] = tamis_i_lanes_have(probes[j].at[0], tamis_i_lanes_places(probes[j].word[0]));
    }
}

FAST static size_t block_lanes_set_many(const tamis_i_probe *probes, size_t n, unsigned k,
                                        bool *changed) {
    size_t sum = 0;
    (void)k;
    for (size_t j = 0; j < n; j++) {
        changed[j] = tamis_i_lanes_add(probes[j].at[0], tamis_i_lanes_places(probes[j].word[0]));
        sum += changed[j];
    }
    return sum;
}

/* ---- blocks that another thread may be writing to ---- */

AVX2 TAMIS_INLINE __m256i block_read_four(const uint64_t *from) {
    const uint64_t a = tamis_i_word_read(from), b = tamis_i_word_read(from + 1),
                   c = tamis_i_word_read(from + 2), d = tamis_i_word_read(from + 3);
    return _mm256_set_epi64x((int64_t)d, (int64_t)c, (int64_t)b, (int64_t)a);
}

AVX2 static void block_read(const uint64_t *block, uint64_t *copy) {
    const __m256i low = block_read_four(block), high = block_read_four(block + 4);
    _mm256_storeu_si256((__m256i *)(void *)copy, low);
    _mm256_storeu_si256((__m256i *)(void *)(copy + 4), high);
}

AVX2 static bool block_test_read(const uint64_t *block, uint64_t hash, unsigned k) {
    return block_test_in(block_read_four(block), block_read_four(block + 4), hash, k);
}

FAST static bool block_lanes_test_read(const uint64_t *block, uint64_t hash, unsigned k) {
    (void)k;
    return tamis_i_lanes_in(block_read_four(block), block_read_four(block + 4),
                            tamis_i_lanes_places(hash));
}

const tamis_i_block_ops *tamis_i_block_ops_x86(unsigned lanes, unsigned features) {
    static const tamis_i_block_ops places = {block_test, block_test_many, block_set_many,
                                             block_read, block_test_read},
                                   in_lanes = {block_lanes_test, block_lanes_test_many,
                                               block_lanes_set_many, block_read,
                                               block_lanes_test_read};
    const unsigned all = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if (lanes != 0)
        return (features & all) == all ? &in_lanes : NULL;
    return (features & TAMIS_I_CPU_AVX2) != 0 ? &places : NULL;
}

#undef FAST
#undef AVX2

#endif
