/* word.c - digests of integers, four at a time, for x86-64 with AVX2
 *
 * As in word.h.  A vector has no products of 64 bits, but four of 32 at a time: al, ah being the halves of
 * a word, a x b = (ah bh << 64) + ((ah bl + al bh) << 32) + al bl.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/word.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/x86/target.h"

#include <immintrin.h>

#define AVX2 TAMIS_I_TARGET_AVX2

AVX2 TAMIS_INLINE __m256i word(uint64_t value) {
    return _mm256_set1_epi64x((long long)value);
}

/* x ^ (x >> by) */
#define FOLD(x, by) _mm256_xor_si256(x, _mm256_srli_epi64(x, by))

/* The low word of a product. */
AVX2 TAMIS_INLINE __m256i word_times(__m256i a, uint64_t b) {
    const __m256i turned = word(b << 32 | b >> 32), crossed = _mm256_mullo_epi32(a, turned);
    const __m256i sum = _mm256_add_epi32(_mm256_slli_epi64(crossed, 32), crossed);
    return _mm256_add_epi64(_mm256_mul_epu32(a, word(b)),
                            _mm256_and_si256(sum, word(~(uint64_t)0 << 32)));
}

AVX2 TAMIS_INLINE void word_hash_four(const uint64_t *keys, __m256i flip, tamis_digest *digests) {
    const __m256i low_half = word(UINT32_MAX);
    const __m256i a = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)keys),
                                       flip),
                  a_high = _mm256_srli_epi64(a, 32);
    const __m256i low_low = _mm256_mul_epu32(a, word(TAMIS_I_PRIME1)),
                  low_high = _mm256_mul_epu32(a, word(TAMIS_I_PRIME1 >> 32)),
                  high_low = _mm256_mul_epu32(a_high, word(TAMIS_I_PRIME1)),
                  high_high = _mm256_mul_epu32(a_high, word(TAMIS_I_PRIME1 >> 32));
    /* No sum here exceeds 64 bits: that of the halves is below 2^34. */
    const __m256i first = _mm256_add_epi64(high_low, _mm256_srli_epi64(low_low, 32));
    const __m256i second = _mm256_add_epi64(low_high, _mm256_and_si256(first, low_half));
    __m256i low = _mm256_blend_epi32(low_low, _mm256_slli_epi64(second, 32), 0xaa);
    __m256i high = _mm256_add_epi64(_mm256_add_epi64(high_high, _mm256_srli_epi64(first, 32)),
                                    _mm256_srli_epi64(second, 32));
    high = _mm256_add_epi64(high, _mm256_add_epi64(low, low));
    low = _mm256_xor_si256(low, _mm256_srli_epi64(high, 3));
    low = FOLD(low, 35);
    low = word_times(low, TAMIS_I_PRIME2);
    low = FOLD(low, 28);
    high = FOLD(high, 37);
    high = word_times(high, TAMIS_I_PRIME3);
    high = FOLD(high, 32);
    const __m256i even = _mm256_unpacklo_epi64(low, high), odd = _mm256_unpackhi_epi64(low, high);
    _mm256_storeu_si256((__m256i *)(void *)digests, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)(digests + 2),
                        _mm256_permute2x128_si256(even, odd, 0x31));
}

AVX2 void tamis_i_hash_many_words_x86(const tamis_i_hash_keys *under, const uint64_t *keys,
                                      size_t n, tamis_digest *digests) {
    const __m256i flip = word(under->flip);
    const size_t whole = n - n % 4;
    for (size_t i = 0; i < whole; i += 4)
        word_hash_four(keys + i, flip, digests + i);
    tamis_i_hash_many_words(under, keys + whole, n - whole, digests + whole);
}

#endif
