/* halves.h - bits set in a block of 512 bits, which is two vectors
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_HALVES_H
#define TAMIS_BITS_X86_HALVES_H

#include "base/base.h"
#include "hash/x86/target.h"

#include <immintrin.h>

/* Halves of a block of 512 bits with one bit set, on a little-endian machine:
 *
 *      low    row r: bit r of byte 31 is set, 8 rows   |  8 rows of zeros
 *      high   8 rows of zeros   |  row 8 + r: the same, 8 rows
 *
 * The 32 bytes from byte 31 - b of a row on have a bit of byte b set, and lie within one cache line. */
extern const unsigned char tamis_i_one_bit_low[16][64], tamis_i_one_bit_high[16][64];

/* A block as two vectors. */
typedef struct tamis_i_halves {
    __m256i low, high;
} tamis_i_halves;

/* The factors of eight places from number 'from' on.  Past the last of n places the first one is
 * repeated: setting or testing its bit again does no harm. */
TAMIS_I_TARGET_AVX2 TAMIS_INLINE __m256i tamis_i_halves_factors(const uint32_t *factors,
                                                                unsigned from, unsigned n) {
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i used = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n - (int)from), number);
    return _mm256_blendv_epi8(_mm256_set1_epi32((int)factors[0]),
                              _mm256_loadu_si256((const __m256i *)(const void *)(factors + from)),
                              used);
}

/* The high halves of eight lanes each: those of 'even' become the even ones of sixteen, those of 'odd'
 * the odd ones. */
TAMIS_I_TARGET_AVX2 TAMIS_INLINE __m256i tamis_i_halves_pair(__m256i even, __m256i odd) {
    return _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
}

/* Where the halves of blocks with a bit at these places begin in the tables.  Lanes of 16 or of 32
 * bits: 'last' is 31 in each.
 *
 *      place   [ h | b | r ]       1 + 5 + 3 bits: half, byte, bit
 *      entry   [ h | r | . | 31 - b ]
 */
TAMIS_I_TARGET_AVX2 TAMIS_INLINE __m256i tamis_i_halves_entries(__m256i place, __m256i last) {
    const __m256i half =
        _mm256_and_si256(_mm256_add_epi16(place, place), _mm256_set1_epi16(1 << 9));
    const __m256i row = _mm256_and_si256(_mm256_slli_epi16(place, 6), _mm256_set1_epi16(7 << 6));
    const __m256i byte = _mm256_andnot_si256(_mm256_srli_epi16(place, 3), last);
    return _mm256_or_si256(_mm256_or_si256(half, row), byte);
}

/* Floats, because compilers leave their order alone: as a chain each half is one instruction. */
TAMIS_I_TARGET_AVX2 TAMIS_INLINE void tamis_i_halves_add_bit(__m256 *low, __m256 *high, size_t at,
                                                             unsigned words) {
    const unsigned char *const in_low = &tamis_i_one_bit_low[0][0] + at;
    const unsigned char *const in_high = &tamis_i_one_bit_high[0][0] + at;
    *low = _mm256_or_ps(*low, _mm256_loadu_ps((const float *)(const void *)in_low));
    if (words > 4)
        *high = _mm256_or_ps(*high, _mm256_loadu_ps((const float *)(const void *)in_high));
}

#define BIT(i)                                                                                     \
    case (i) + 1:                                                                                  \
        tamis_i_halves_add_bit(&low, &high, entries[2 * (i)], words);                              \
        __attribute__((fallthrough))
#define FOUR_BITS(i)                                                                               \
    BIT((i) + 3);                                                                                  \
    BIT((i) + 2);                                                                                  \
    BIT((i) + 1);                                                                                  \
    BIT(i)

/* A block with the bits of a key and no others; its n entries, up to 32, are entries[0], entries[2], ...
 *
 * Setting the bits one by one in memory would make each wait for the one before, since most keys have
 * two in one word.  So a block with one bit set is read from tables, as two halves.  The number of bits
 * is the same for all keys, so the jump is predicted. */
TAMIS_I_TARGET_AVX2 TAMIS_INLINE tamis_i_halves tamis_i_halves_of(const uint16_t *entries,
                                                                  unsigned n, unsigned words) {
    __m256 low = _mm256_setzero_ps(), high = low;
    switch (n) {
        FOUR_BITS(28);
        FOUR_BITS(24);
        FOUR_BITS(20);
        FOUR_BITS(16);
        FOUR_BITS(12);
        FOUR_BITS(8);
        FOUR_BITS(4);
        FOUR_BITS(0);
    default:
        break;
    }
    return (tamis_i_halves){_mm256_castps_si256(low), _mm256_castps_si256(high)};
}

#undef BIT
#undef FOUR_BITS

/* Does the block lack one of these bits? */
TAMIS_I_TARGET_AVX2 TAMIS_INLINE bool tamis_i_halves_lack(tamis_i_halves block, tamis_i_halves bits,
                                                          unsigned words) {
    const __m256i low = _mm256_andnot_si256(block.low, bits.low);
    const __m256i all =
        words > 4 ? _mm256_or_si256(low, _mm256_andnot_si256(block.high, bits.high)) : low;
    return _mm256_testz_si256(all, all) == 0;
}

#endif
