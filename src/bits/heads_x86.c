/* heads_x86.c - heads.c with vectors: a bucket at once
 *
 * select.c makes sure that the processor can do it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/heads.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline unsigned equal_heads(const tamis_i_probe *probe, unsigned j, __m128i wanted) {
    const unsigned char *const bucket =
        (const unsigned char *)probe->at[j] + probe->word[1 + j] / 8;
    const __m128i heads = _mm_loadu_si128((const __m128i *)(const void *)bucket);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(heads, wanted));
}

AVX2 bool tamis_i_heads_find_avx2(const tamis_i_heads *heads, const tamis_i_probe *probe,
                                  unsigned d, uint16_t *hits) {
    if (!heads->vectors)
        return tamis_i_heads_find(heads, probe, d, hits);
    const __m128i wanted = _mm_set1_epi8((char)probe->word[TAMIS_I_HEAD]);
    const unsigned all = (1u << heads->n) - 1;
    unsigned any = 0;
    for (unsigned j = 0; j < d; j++) {
        const unsigned equal = equal_heads(probe, j, wanted) & all;
        hits[j] = (uint16_t)equal;
        any |= equal;
    }
    return any != 0;
}

/* Compiled for each number of buckets. */
AVX2 __attribute__((always_inline)) static inline void
test_with(const tamis_i_heads *heads, const tamis_i_probe *probes, size_t n, unsigned d,
          const tamis_i_probe *next, bool *any) {
    const unsigned all = (1u << heads->n) - 1;
    for (size_t i = 0; i < n; i++) {
        const __m128i wanted = _mm_set1_epi8((char)probes[i].word[TAMIS_I_HEAD]);
        unsigned equal = 0;
        for (unsigned j = 0; j < d; j++)
            TAMIS_PREFETCH(next[i].at[j]);
        for (unsigned j = 0; j < d; j++)
            equal |= equal_heads(&probes[i], j, wanted);
        any[i] = (equal & all) != 0;
    }
}

AVX2 void tamis_i_heads_test_avx2(const tamis_i_heads *heads, const tamis_i_probe *probes, size_t n,
                                  unsigned d, const tamis_i_probe *next, bool *any) {
    if (!heads->vectors)
        tamis_i_heads_test(heads, probes, n, d, next, any);
    else if (d == 2)
        test_with(heads, probes, n, 2, next, any);
    else if (d == 3)
        test_with(heads, probes, n, 3, next, any);
    else
        test_with(heads, probes, n, d, next, any);
}

#else

bool tamis_i_heads_find_avx2(const tamis_i_heads *heads, const tamis_i_probe *probe, unsigned d,
                             uint16_t *hits) {
    return tamis_i_heads_find(heads, probe, d, hits);
}

void tamis_i_heads_test_avx2(const tamis_i_heads *heads, const tamis_i_probe *probes, size_t n,
                             unsigned d, const tamis_i_probe *next, bool *any) {
    tamis_i_heads_test(heads, probes, n, d, next, any);
}

#endif
