/* halves_x86.h - bits set in a block of 512 bits, which is two vectors
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_HALVES_X86_H
#define TAMIS_BITS_HALVES_X86_H

#include "bits/block.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* The bits of a key come into its block at once: setting them one by one in memory makes each wait for
 * the one before, since most keys have two in one word.  A block with one bit set is read from tables, as
 * two halves.  Floats, because compilers leave their order alone: as a chain each half is one
 * instruction. */
typedef struct tamis_i_halves {
    __m256 low, high;
} tamis_i_halves;

AVX2 TAMIS_INLINE void tamis_i_halves_add_bit(tamis_i_halves *block, uint32_t at, unsigned words) {
    const unsigned char *const low = &tamis_i_one_bit_low[0][0] + at;
    const unsigned char *const high = &tamis_i_one_bit_high[0][0] + at;
    block->low = _mm256_or_ps(block->low, _mm256_loadu_ps((const float *)(const void *)low));
    if (words > 4)
        block->high = _mm256_or_ps(block->high, _mm256_loadu_ps((const float *)(const void *)high));
}

AVX2 TAMIS_INLINE void tamis_i_halves_add_two(tamis_i_halves *block, uint64_t two, unsigned words) {
    tamis_i_halves_add_bit(block, (uint32_t)two, words);
    tamis_i_halves_add_bit(block, (uint32_t)(two >> 32), words);
}

AVX2 TAMIS_INLINE void tamis_i_halves_add_four(tamis_i_halves *block, __m128i four,
                                               unsigned words) {
    tamis_i_halves_add_two(block, (uint64_t)_mm_cvtsi128_si64(four), words);
    tamis_i_halves_add_two(block, (uint64_t)_mm_extract_epi64(four, 1), words);
}

/* Where in the tables the halves for eight places begin; at zeros for lanes that are not in use.
 *
 *      place   [ h | b | r ]       1 + 5 + 3 bits: half, byte, bit
 *      entry   [ h | r | . | 31 - b ]
 */
AVX2 TAMIS_INLINE __m256i tamis_i_halves_entries(__m256i place, __m256i unused) {
    const __m256i turned = _mm256_xor_si256(place, _mm256_set1_epi32(31 << 3));
    const __m256i half = _mm256_and_si256(_mm256_slli_epi32(place, 1), _mm256_set1_epi32(1 << 9));
    const __m256i row = _mm256_and_si256(_mm256_slli_epi32(place, 6), _mm256_set1_epi32(7 << 6));
    const __m256i byte = _mm256_and_si256(_mm256_srli_epi32(turned, 3), _mm256_set1_epi32(31));
    return _mm256_max_epi32(_mm256_or_si256(_mm256_or_si256(half, row), byte), unused);
}

#endif
