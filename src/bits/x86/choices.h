/* choices.h - the buckets of keys, four keys at a time, for x86-64 with AVX2
 *
 * Like tamis_i_choices_locate, for 3 subtables of fewer than 2^29 buckets each, in whole bytes.
 * Vectors have no products of 64 bits, but four of 32 bits at a time.  Numbers of buckets and lines
 * have no more bits, so most products need one or two of these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_CHOICES_H
#define TAMIS_BITS_X86_CHOICES_H

#include "bits/choices.h"
#include "hash/x86/target.h"

#include <immintrin.h>

#define TAMIS_I_CHOICES_FOUR TAMIS_I_TARGET_BOTH TAMIS_INLINE

static inline bool tamis_i_choices_can_four(const tamis_i_choices *choices) {
    return choices->subtables == 3 && choices->buckets < (uint64_t)1 << 29 &&
           choices->bucket_bits % 8 == 0;
}

TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_of(uint64_t word) {
    return _mm256_set1_epi64x((long long)word);
}

/* The lower halves of a times a word of 64 bits: the upper 64 bits of the 96-bit products. */
TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_part(__m256i a, __m256i low, __m256i high) {
    const __m256i carry = _mm256_srli_epi64(_mm256_mul_epu32(a, low), 32);
    return _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epu32(a, high), carry), 32);
}

/* The lower 64 bits of products. */
TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_times(__m256i a, uint64_t b) {
    const __m256i low = tamis_i_four_of(b), high = tamis_i_four_of(b >> 32);
    const __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), low),
                                            _mm256_mul_epu32(a, high));
    return _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64(middle, 32));
}

/* The upper 64 bits of products. */
TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_mulhi(__m256i a, uint64_t b) {
    const __m256i low = tamis_i_four_of(b), high = tamis_i_four_of(b >> 32);
    const __m256i a_high = _mm256_srli_epi64(a, 32);
    const __m256i first = _mm256_add_epi64(_mm256_mul_epu32(a_high, low),
                                           _mm256_srli_epi64(_mm256_mul_epu32(a, low), 32));
    const __m256i second = _mm256_add_epi64(
        _mm256_mul_epu32(a, high), _mm256_blend_epi32(first, _mm256_setzero_si256(), 0xaa));
    return _mm256_add_epi64(
        _mm256_add_epi64(_mm256_mul_epu32(a_high, high), _mm256_srli_epi64(first, 32)),
        _mm256_srli_epi64(second, 32));
}

/* Like tamis_i_mix. */
TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_mix(__m256i x) {
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
    x = tamis_i_four_times(x, TAMIS_I_MIX_1);
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 29));
    x = tamis_i_four_times(x, TAMIS_I_MIX_2);
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
}

/* The first byte of bucket number 'number'.  Lines have 64 bytes; buckets use all of them or fewer. */
TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_bucket(const tamis_i_choices *choices,
                                                 const uint64_t *table, __m256i number) {
    const __m256i line =
        tamis_i_four_part(_mm256_add_epi64(number, number), tamis_i_four_of(choices->line_part),
                          tamis_i_four_of(choices->line_part >> 32));
    const __m256i rest = tamis_i_four_of(TAMIS_LINE_BYTES - choices->line_used / 8);
    const __m256i bytes =
        _mm256_add_epi64(_mm256_mul_epu32(line, rest),
                         _mm256_mul_epu32(number, tamis_i_four_of(choices->bucket_bits / 8)));
    return _mm256_add_epi64(bytes, tamis_i_four_of((uint64_t)(uintptr_t)table));
}

/* The bucket in subtable i, from the one in subtable 0 and a distance below B = buckets. */
TAMIS_I_CHOICES_FOUR __m256i tamis_i_four_turn(__m256i first, __m256i turned, __m256i buckets) {
    const __m256i carry = _mm256_srli_epi64(_mm256_mul_epu32(turned, buckets), 32);
    const __m256i product = _mm256_mul_epu32(_mm256_srli_epi64(turned, 32), buckets);
    const __m256i distance = _mm256_srli_epi64(_mm256_add_epi64(product, carry), 32);
    const __m256i to = _mm256_add_epi64(first, distance);
    /* If 'to' is below B, the difference wraps to a large number, in the lower half. */
    return _mm256_min_epu32(to, _mm256_sub_epi32(to, buckets));
}

/* Locate four keys. at[1] to at[3] become the first bytes of their buckets, and word[0] the
 * fingerprint: the remainder, then the first bits of the second word of the digest. */
TAMIS_I_CHOICES_FOUR void tamis_i_choices_locate_four(const tamis_i_choices *choices,
                                                      const uint64_t *table,
                                                      const tamis_digest *digests,
                                                      tamis_i_probe *probes) {
    const __m256i two[2] = {_mm256_loadu_si256((const __m256i *)(const void *)digests),
                            _mm256_loadu_si256((const __m256i *)(const void *)(digests + 2))};
    /* Keys 0, 2, 1, 3. */
    const __m256i lo = _mm256_unpacklo_epi64(two[0], two[1]);
    const __m256i hi = _mm256_unpackhi_epi64(two[0], two[1]);
    const __m128i r = _mm_cvtsi64_si128((long long)choices->remainder_bits);
    const __m128i other = _mm_cvtsi64_si128((long long)(64 - choices->remainder_bits));
    const __m256i buckets = tamis_i_four_of(choices->buckets);
    const __m256i fingerprint = tamis_i_four_mulhi(lo, choices->fingerprints);
    const __m256i remainder =
        _mm256_and_si256(fingerprint, tamis_i_four_of(choices->remainder_mask));
    const __m256i first = _mm256_srl_epi64(fingerprint, r);
    const __m256i mixed =
        tamis_i_four_mix(_mm256_add_epi64(remainder, tamis_i_four_of(choices->permutations.salt)));
    const __m256i turned =
        _mm256_or_si256(_mm256_slli_epi64(mixed, 21), _mm256_srli_epi64(mixed, 43));
    const __m256i second = _mm256_add_epi64(tamis_i_four_turn(first, mixed, buckets), buckets);
    const __m256i third = _mm256_add_epi64(tamis_i_four_turn(first, turned, buckets),
                                           tamis_i_four_of(2 * choices->buckets));
    const __m256i at0 = tamis_i_four_bucket(choices, table, first);
    const __m256i at1 = tamis_i_four_bucket(choices, table, second);
    const __m256i at2 = tamis_i_four_bucket(choices, table, third);
    const __m256i stored =
        _mm256_or_si256(_mm256_sll_epi64(remainder, other), _mm256_srl_epi64(hi, r));
    const __m256i a01 = _mm256_unpacklo_epi64(at0, at1), a23 = _mm256_unpackhi_epi64(at0, at1);
    const __m256i b01 = _mm256_unpacklo_epi64(at2, stored),
                  b23 = _mm256_unpackhi_epi64(at2, stored);
    _mm256_storeu_si256((__m256i *)(void *)&probes[0].at[1],
                        _mm256_permute2x128_si256(a01, b01, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)&probes[1].at[1],
                        _mm256_permute2x128_si256(a01, b01, 0x31));
    _mm256_storeu_si256((__m256i *)(void *)&probes[2].at[1],
                        _mm256_permute2x128_si256(a23, b23, 0x20));
    _mm256_storeu_si256((__m256i *)(void *)&probes[3].at[1],
                        _mm256_permute2x128_si256(a23, b23, 0x31));
}

_Static_assert(offsetof(tamis_i_probe, word) == TAMIS_I_PROBE_CHOICES * sizeof(uint64_t),
               "word[0] comes after at[3]");

#endif
