/* draw.h - numbers drawn from the digests of four keys at once: for AVX2
 *
 * Like tamis_i_take() of hash/hash.h, for numbers below 2^32.  With w and v the halves of half a digest,
 *
 *      (w 2^32 + v) x n = first 2^64 + rest,    rest x m = second 2^64 + ...
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_DRAW_H
#define TAMIS_BITS_X86_DRAW_H

#include "hash/hash.h"
#include "hash/x86/target.h"

#include <immintrin.h>

typedef struct tamis_i_drawn {
    __m256i first, second; /* numbers below n and m, from digest.lo */
    __m256i other;         /* digest.hi */
} tamis_i_drawn;

TAMIS_I_TARGET_AVX2 TAMIS_INLINE tamis_i_drawn tamis_i_draw_four(const tamis_digest *digests,
                                                                 __m256i n, __m256i m) {
    const __m128i *const d = (const __m128i *)(const void *)digests;
    const __m256i even = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(d)),
                                                 _mm_loadu_si128(d + 2), 1),
                  odd = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(d + 1)),
                                                _mm_loadu_si128(d + 3), 1);
    const __m256i word = _mm256_unpacklo_epi64(even, odd);
    const __m256i low = _mm256_mul_epu32(word, n),
                  high = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(word, 32), n),
                                          _mm256_srli_epi64(low, 32));
    const __m256i second = _mm256_add_epi64(_mm256_mul_epu32(high, m),
                                            _mm256_srli_epi64(_mm256_mul_epu32(low, m), 32));
    return (tamis_i_drawn){.first = _mm256_srli_epi64(high, 32),
                           .second = _mm256_srli_epi64(second, 32),
                           .other = _mm256_unpackhi_epi64(even, odd)};
}

TAMIS_I_TARGET_AVX2 TAMIS_INLINE void tamis_i_put_four(void *column, __m256i v) {
    _mm256_storeu_si256((__m256i *)column, v);
}

#endif
