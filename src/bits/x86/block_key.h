/* block_key.h - one key in a block of 512 bits, for x86-64 with AVX2 and BMI2
 *
 * 'hash' is a digest in a register, of which the upper half tells the places; or that half.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_BLOCK_KEY_H
#define TAMIS_BITS_X86_BLOCK_KEY_H

#include "bits/block.h"
#include "hash/x86/target.h"

#include <immintrin.h>

#define TAMIS_I_FAST TAMIS_I_TARGET_ALL TAMIS_INLINE

TAMIS_I_FAST __m256i tamis_i_block_load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

/* ---- lanes: one bit in each of the eight words of a block ---- */

#define TAMIS_I_BLOCK_PLACES 0x3f3f3f3f3f3f3f3f

/* Of each byte of a hash six bits, the place in the word with that number: all of them, in each word. */
TAMIS_I_FAST __m256i tamis_i_lanes_places(uint64_t hash) {
    return _mm256_set1_epi64x((long long)(hash & TAMIS_I_BLOCK_PLACES));
}

/* The same, of the upper half of a register. */
TAMIS_I_FAST __m256i tamis_i_lanes_upper(__m128i hash) {
    const __m128i places = _mm_and_si128(hash, _mm_set_epi64x(TAMIS_I_BLOCK_PLACES, -1));
    return _mm256_permute4x64_epi64(_mm256_castsi128_si256(places), 0x55);
}

/* Each in its own word: those of the first four words, and of the others. */
TAMIS_I_FAST __m256i tamis_i_lanes_low(__m256i places) {
    return _mm256_shuffle_epi8(places, _mm256_setr_epi8(0, -1, -1, -1, -1, -1, -1, -1, 1, -1, -1,
                                                        -1, -1, -1, -1, -1, 2, -1, -1, -1, -1, -1,
                                                        -1, -1, 3, -1, -1, -1, -1, -1, -1, -1));
}

TAMIS_I_FAST __m256i tamis_i_lanes_high(__m256i places) {
    return _mm256_shuffle_epi8(places, _mm256_setr_epi8(4, -1, -1, -1, -1, -1, -1, -1, 5, -1, -1,
                                                        -1, -1, -1, -1, -1, 6, -1, -1, -1, -1, -1,
                                                        -1, -1, 7, -1, -1, -1, -1, -1, -1, -1));
}

/* Are all bits set?  Shifted by its place, each is the last of its word. */
TAMIS_I_FAST bool tamis_i_lanes_in(__m256i low, __m256i high, __m256i places) {
    return _mm256_testc_si256(_mm256_and_si256(_mm256_srlv_epi64(low, tamis_i_lanes_low(places)),
                                               _mm256_srlv_epi64(high, tamis_i_lanes_high(places))),
                              _mm256_set1_epi64x(1)) != 0;
}

TAMIS_I_FAST bool tamis_i_lanes_have(const uint64_t *block, __m256i places) {
    return tamis_i_lanes_in(tamis_i_block_load(block), tamis_i_block_load(block + 4), places);
}

/* Set them.  Was one of them clear? */
TAMIS_I_FAST bool tamis_i_lanes_add(uint64_t *block, __m256i places) {
    const __m256i one = _mm256_set1_epi64x(1),
                  bits_low = _mm256_sllv_epi64(one, tamis_i_lanes_low(places)),
                  bits_high = _mm256_sllv_epi64(one, tamis_i_lanes_high(places)),
                  low = tamis_i_block_load(block), high = tamis_i_block_load(block + 4),
                  lacks = _mm256_or_si256(_mm256_andnot_si256(low, bits_low),
                                          _mm256_andnot_si256(high, bits_high));
    _mm256_storeu_si256((__m256i *)(void *)block, _mm256_or_si256(low, bits_low));
    _mm256_storeu_si256((__m256i *)(void *)(block + 4), _mm256_or_si256(high, bits_high));
    return _mm256_testz_si256(lacks, lacks) == 0;
}

/* ---- places: up to sixteen bits anywhere in the block, eight at a time ----
 *
 * The top 9 bits of a lane of 32 are a place: the top bit selects the half of the block, the next
 * three the lane in it, the last five the bit. */

TAMIS_I_FAST __m256i tamis_i_places_of(__m128i hash, const uint32_t *factors) {
    const __m256i both = _mm256_permute4x64_epi64(_mm256_castsi128_si256(hash), 0x55);
    return _mm256_add_epi32(
        _mm256_mullo_epi32(_mm256_shuffle_epi32(both, 0xa0), tamis_i_block_load(factors)),
        _mm256_shuffle_epi32(both, 0xf5));
}

/* Their bits, in lanes; 'used' is 1 in those in use. */
TAMIS_I_FAST __m256i tamis_i_places_bits(__m256i where, __m256i used) {
    return _mm256_sllv_epi32(used, _mm256_srli_epi32(_mm256_slli_epi32(where, 4), 27));
}

/* Those that are clear in the block. */
TAMIS_I_FAST __m256i tamis_i_places_lacking(__m256i low, __m256i high, __m256i where,
                                            __m256i bits) {
    const __m256i lane = _mm256_srli_epi32(where, 28);
    const __m256i word = _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, lane)),
        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, lane)), _mm256_castsi256_ps(where)));
    return _mm256_andnot_si256(word, bits);
}

/* 'used' has sixteen lanes; 'more': so have the places. */
TAMIS_I_FAST bool tamis_i_places_have(const uint64_t *block, __m128i hash, const uint32_t *used,
                                      bool more) {
    const __m256i low = tamis_i_block_load(block), high = tamis_i_block_load(block + 4),
                  where = tamis_i_places_of(hash, tamis_i_block_factors);
    __m256i lacks = tamis_i_places_lacking(low, high, where,
                                           tamis_i_places_bits(where, tamis_i_block_load(used)));
    if (more) {
        const __m256i others = tamis_i_places_of(hash, tamis_i_block_factors + 8);
        lacks = _mm256_or_si256(
            lacks,
            tamis_i_places_lacking(low, high, others,
                                   tamis_i_places_bits(others, tamis_i_block_load(used + 8))));
    }
    return _mm256_testz_si256(lacks, lacks) != 0;
}

/* Set up to eight bits, one by one; lanes not in use set none.  Which of them were clear? */
TAMIS_I_FAST __m256i tamis_i_places_add_eight(uint64_t *block, __m256i where, __m256i used) {
    const __m256i all = tamis_i_places_bits(where, used),
                  lacks = tamis_i_places_lacking(tamis_i_block_load(block),
                                                 tamis_i_block_load(block + 4), where, all);
    uint32_t lanes[8], bits[8];
    _mm256_storeu_si256((__m256i *)(void *)lanes, _mm256_srli_epi32(where, 28));
    _mm256_storeu_si256((__m256i *)(void *)bits, all);
    for (unsigned i = 0; i < 8; i++) {
        unsigned char *const at = (unsigned char *)block + 4 * (uint64_t)lanes[i];
        uint32_t word;
        memcpy(&word, at, sizeof word);
        word |= bits[i];
        memcpy(at, &word, sizeof word);
    }
    return lacks;
}

/* Was any of them clear? */
TAMIS_I_FAST bool tamis_i_places_add(uint64_t *block, __m128i hash, const uint32_t *used,
                                     bool more) {
    __m256i lacks = tamis_i_places_add_eight(block, tamis_i_places_of(hash, tamis_i_block_factors),
                                             tamis_i_block_load(used));
    if (more)
        lacks = _mm256_or_si256(
            lacks,
            tamis_i_places_add_eight(block, tamis_i_places_of(hash, tamis_i_block_factors + 8),
                                     tamis_i_block_load(used + 8)));
    return _mm256_testz_si256(lacks, lacks) == 0;
}

#undef TAMIS_I_FAST

#endif
