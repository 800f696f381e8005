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

/* 1 in the lanes, from number 'from' on, of the first n places. */
AVX2 TAMIS_INLINE __m256i lanes_in_use(unsigned from, unsigned n) {
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i rest = all_lanes(n > from ? n - from : 0);
    return _mm256_srli_epi32(_mm256_cmpgt_epi32(rest, number), 31);
}

/* Eight places, from number 'from' on: tamis_i_block_place in each lane.  Both factors of the second
 * product are below 2^16 in lanes of 32 bits: its high half is the place. */
AVX2 TAMIS_INLINE __m256i places(const tamis_i_block *layout, uint64_t hash, unsigned from) {
    const __m256i where = _mm256_add_epi32(
        _mm256_mullo_epi32(all_lanes((uint32_t)hash), load(tamis_i_place_factors + from)),
        all_lanes((uint32_t)(hash >> 32)));
    return _mm256_add_epi32(
        _mm256_mulhi_epu16(_mm256_srli_epi32(where, 16), all_lanes(layout->bits)),
        all_lanes(layout->first));
}

/* A block as two vectors of eight lanes.  Words past its end are not touched: they may be in another line,
 * or in nobody's memory. */
typedef struct pair {
    __m256i low, high;
} pair;

AVX2 TAMIS_INLINE __m256i load_words(const uint64_t *from, unsigned words) {
    if (words >= 4)
        return load(from);
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_epi64((const long long *)(const void *)from,
                                 _mm256_cmpgt_epi64(_mm256_set1_epi64x(words), number));
}

AVX2 TAMIS_INLINE pair load_block(const uint64_t *block, unsigned words) {
    return (pair){.low = load_words(block, words),
                  .high = words > 4 ? load_words(block + 4, words - 4) : _mm256_setzero_si256()};
}

/* The bits that belong to the places and are clear in the block; 'ones' is 1 in the lanes in use.
 *
 *      place   [ v | lane | bit ]      1 + 3 + 5 bits: which vector, which of its lanes, which bit
 *
 * Both vectors are permuted by lane, and v blends them. */
AVX2 TAMIS_INLINE __m256i missing(pair block, __m256i place, __m256i ones, unsigned words) {
    const __m256i lane = _mm256_srli_epi32(place, 5);
    const __m256i bit = _mm256_sllv_epi32(ones, _mm256_and_si256(place, all_lanes(31)));
    __m256i word = _mm256_permutevar8x32_epi32(block.low, lane);
    if (words > 4) {
        const __m256i high = _mm256_permutevar8x32_epi32(block.high, lane);
        word = _mm256_castps_si256(_mm256_blendv_ps(
            _mm256_castsi256_ps(word), _mm256_castsi256_ps(high),
            _mm256_castsi256_ps(_mm256_slli_epi32(place, 23)))); /* v as the sign */
    }
    return _mm256_andnot_si256(word, bit);
}

/* Most absent keys lack one of their first eight bits: the others are looked at only if they do not.
 * 'words' is layout->words, as a constant for the common sizes. */
AVX2 TAMIS_INLINE void test_blocks(const tamis_i_block *layout, const uint64_t *const *blocks,
                                   const uint64_t *hashes, size_t n, bool *present,
                                   unsigned words) {
    const tamis_i_block own = *layout; /* which the answers cannot alias */
    const __m256i ones = lanes_in_use(0, own.hashes);
    for (size_t j = 0; j < n; j++) {
        const pair block = load_block(blocks[j], words);
        __m256i lacks = missing(block, places(&own, hashes[j], 0), ones, words);
        bool all = _mm256_testz_si256(lacks, lacks) != 0;
        if (all && own.hashes > 8) {
            for (unsigned from = 8; from < own.hashes; from += 8)
                lacks = _mm256_or_si256(lacks, missing(block, places(&own, hashes[j], from),
                                                       lanes_in_use(from, own.hashes), words));
            all = _mm256_testz_si256(lacks, lacks) != 0;
        }
        present[j] = all;
    }
}

AVX2 static void local_test(const tamis_i_block *layout, const uint64_t *const *blocks,
                            const uint64_t *hashes, size_t n, bool *present) {
    if (layout->words == 8)
        test_blocks(layout, blocks, hashes, n, present, 8);
    else if (layout->words == 4)
        test_blocks(layout, blocks, hashes, n, present, 4);
    else
        test_blocks(layout, blocks, hashes, n, present, layout->words);
}

/* The bits of a key are gathered in registers and come into the block at once: setting them one by one
 * in memory makes each wait for the one before, since most keys have two in one word.
 *
 * A place is broadcast to all lanes; the lane that begins at bit f gets 1 << (place - f).  Vector shifts
 * give 0 for counts over 31, negative ones included, so that only the lane that holds the place gets
 * a bit. */
AVX2 TAMIS_INLINE void add_bit(pair *bits, __m256i place, unsigned words) {
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i low = _mm256_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224);
    bits->low = _mm256_or_si256(bits->low, _mm256_sllv_epi32(one, _mm256_sub_epi32(place, low)));
    if (words > 4) {
        const __m256i high = _mm256_add_epi32(low, all_lanes(256));
        bits->high =
            _mm256_or_si256(bits->high, _mm256_sllv_epi32(one, _mm256_sub_epi32(place, high)));
    }
}

/* Places that stand four and four in both halves of a vector. */
AVX2 TAMIS_INLINE void add_four(pair *bits, __m256i places, unsigned words) {
    add_bit(bits, _mm256_shuffle_epi32(places, 0x00), words);
    add_bit(bits, _mm256_shuffle_epi32(places, 0x55), words);
    add_bit(bits, _mm256_shuffle_epi32(places, 0xaa), words);
    add_bit(bits, _mm256_shuffle_epi32(places, 0xff), words);
}

AVX2 TAMIS_INLINE void store_words(uint64_t *to, __m256i value, unsigned words) {
    if (words >= 4) {
        _mm256_storeu_si256((__m256i *)(void *)to, value);
        return;
    }
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    _mm256_maskstore_epi64((long long *)(void *)to,
                           _mm256_cmpgt_epi64(_mm256_set1_epi64x(words), number), value);
}

/* Places of lanes that are not in use are moved out of the block. */
AVX2 TAMIS_INLINE bool set_bits(const tamis_i_block *layout, uint64_t *block, uint64_t hash,
                                unsigned words) {
    pair bits = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (unsigned from = 0; from < layout->hashes; from += 8) {
        const __m256i ones = lanes_in_use(from, layout->hashes);
        const __m256i beyond = _mm256_slli_epi32(_mm256_xor_si256(ones, all_lanes(1)), 16);
        const __m256i eight = _mm256_or_si256(places(layout, hash, from), beyond);
        add_four(&bits, _mm256_permute2x128_si256(eight, eight, 0x00), words);
        if (layout->hashes > from + 4)
            add_four(&bits, _mm256_permute2x128_si256(eight, eight, 0x11), words);
    }
    const pair old = load_block(block, words);
    store_words(block, _mm256_or_si256(old.low, bits.low), words);
    if (words > 4)
        store_words(block + 4, _mm256_or_si256(old.high, bits.high), words - 4);
    return (_mm256_testc_si256(old.low, bits.low) & _mm256_testc_si256(old.high, bits.high)) == 0;
}

AVX2 static bool local_set(const tamis_i_block *layout, uint64_t *block, uint64_t hash) {
    return layout->words == 8   ? set_bits(layout, block, hash, 8)
           : layout->words == 4 ? set_bits(layout, block, hash, 4)
                                : set_bits(layout, block, hash, layout->words);
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
