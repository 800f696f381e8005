/* block_x86.c - small Bloom filters in blocks of memory, with AVX2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

AVX2 static inline __m256i all_lanes(uint32_t value) {
    return _mm256_set1_epi32((int)value);
}

/* 1 in those of eight lanes that hold one of the first n places, lane 0 being number 'from'. */
AVX2 static inline __m256i lanes_in_use(unsigned from, unsigned n) {
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i rest = all_lanes(n > from ? n - from : 0);
    return _mm256_srli_epi32(_mm256_cmpgt_epi32(rest, number), 31);
}

/* Eight places, from number 'from' on: tamis_i_block_place in each lane. */
AVX2 static inline __m256i places(const tamis_i_block *layout, uint64_t hash, unsigned from) {
    const __m256i where = _mm256_add_epi32(
        _mm256_mullo_epi32(all_lanes((uint32_t)hash), load(tamis_i_place_factors + from)),
        all_lanes((uint32_t)(hash >> 32)));
    /* Both factors are below 2^16 in lanes of 32 bits: the high half of the product is the place. */
    const __m256i scaled =
        _mm256_mulhi_epu16(_mm256_srli_epi32(where, 16), all_lanes(layout->bits));
    return _mm256_add_epi32(scaled, all_lanes(layout->first));
}

/* A block as two vectors of eight lanes.  Words past its end are not touched: they may be in another line,
 * or in nobody's memory. */
typedef struct vectors {
    __m256i low, high;
} vectors;

AVX2 static inline vectors load_block(const uint64_t *block, unsigned words) {
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    vectors v = {.high = _mm256_setzero_si256()};
    if (words >= 4)
        v.low = load(block);
    else
        v.low = _mm256_maskload_epi64((const long long *)(const void *)block,
                                      _mm256_cmpgt_epi64(_mm256_set1_epi64x(words), number));
    if (words == 8)
        v.high = load(block + 4);
    else if (words > 4)
        v.high = _mm256_maskload_epi64((const long long *)(const void *)(block + 4),
                                       _mm256_cmpgt_epi64(_mm256_set1_epi64x(words - 4), number));
    return v;
}

/* The bits that belong to the places and are clear in the block; 'ones' is 1 in the lanes in use.
 *
 *      place   [ v | lane | bit ]      1 + 3 + 5 bits: which vector, which of its lanes, which bit
 *
 * Both vectors are permuted by lane, and v blends them. */
AVX2 static inline __m256i missing(vectors block, __m256i place, __m256i ones) {
    const __m256i lane = _mm256_srli_epi32(place, 5);
    const __m256i which = _mm256_slli_epi32(place, 23); /* v as the sign */
    const __m256i word = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(block.low, lane)),
                         _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(block.high, lane)),
                         _mm256_castsi256_ps(which)));
    const __m256i bit = _mm256_sllv_epi32(ones, _mm256_and_si256(place, all_lanes(31)));
    return _mm256_andnot_si256(word, bit);
}

AVX2 static inline bool covers(const tamis_i_block *layout, const uint64_t *block, uint64_t hash) {
    const vectors v = load_block(block, layout->words);
    __m256i lacks = _mm256_setzero_si256();
    for (unsigned from = 0; from < layout->hashes; from += 8)
        lacks = _mm256_or_si256(
            lacks, missing(v, places(layout, hash, from), lanes_in_use(from, layout->hashes)));
    return _mm256_testz_si256(lacks, lacks) != 0;
}

AVX2 static void local_test(const tamis_i_block *layout, const uint64_t *const *blocks,
                            const uint64_t *hashes, size_t n, bool *present) {
    const tamis_i_block own = *layout; /* which the answers cannot alias */
    for (size_t j = 0; j < n; j++)
        present[j] = covers(&own, blocks[j], hashes[j]);
}

/* The bits are collected in an array of their own, in which those of one word wait for each other in the
 * nearest cache only, and come into the block word by word. */
AVX2 static bool local_set(const tamis_i_block *layout, uint64_t *block, uint64_t hash) {
    uint32_t at[TAMIS_I_BLOCK_PLACES_MAX];
    uint64_t bits[TAMIS_I_BLOCK_WORDS_MAX] = {0}, fresh = 0;
    for (unsigned from = 0; from < layout->hashes; from += 8)
        _mm256_storeu_si256((__m256i *)(void *)(at + from), places(layout, hash, from));
    for (unsigned i = 0; i < layout->hashes; i++)
        bits[at[i] / 64] |= (uint64_t)1 << at[i] % 64;
    for (unsigned i = 0; i < layout->words; i++) {
        fresh |= bits[i] & ~block[i];
        block[i] |= bits[i];
    }
    return fresh != 0;
}

void tamis_i_block_x86(tamis_i_kernels *kernels, unsigned features) {
    if (features & TAMIS_I_CPU_AVX2) {
        kernels->local_test = local_test;
        kernels->local_set = local_set;
    }
}

#else

void tamis_i_block_x86(tamis_i_kernels *kernels, unsigned features) {
    (void)kernels;
    (void)features;
}

#endif
