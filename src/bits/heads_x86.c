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

/* Inlined for each number of buckets. */
AVX2 __attribute__((always_inline)) static inline uint64_t equal_in(const tamis_i_probe *probe,
                                                                    unsigned d, uint64_t all) {
    const __m128i wanted = _mm_set1_epi8((char)probe->word[TAMIS_I_HEAD]);
    uint64_t hits = 0;
    for (unsigned j = 0; j < d; j++)
        hits |= (uint64_t)equal_heads(probe, j, wanted) << 16 * j;
    return hits & all;
}

/* The places that a bucket has, in all buckets. */
static inline uint64_t places(const tamis_i_heads *heads) {
    return (((uint64_t)1 << heads->n) - 1) * 0x0001000100010001u;
}

AVX2 uint64_t tamis_i_heads_find_avx2(const tamis_i_heads *heads, const tamis_i_probe *probe,
                                      unsigned d) {
    if (!heads->vectors)
        return tamis_i_heads_find(heads, probe, d);
    return d == 3 ? equal_in(probe, 3, places(heads)) : equal_in(probe, d, places(heads));
}

AVX2 __attribute__((always_inline)) static inline void
test_with(const tamis_i_heads *heads, const tamis_i_probe *probes, size_t n, unsigned d,
          const tamis_i_probe *next, uint64_t *hits) {
    const uint64_t all = places(heads);
    for (size_t i = 0; i < n; i++) {
        for (unsigned j = 0; j < d; j++)
            TAMIS_PREFETCH(next[i].at[j]);
        hits[i] = equal_in(&probes[i], d, all);
    }
}

AVX2 void tamis_i_heads_test_avx2(const tamis_i_heads *heads, const tamis_i_probe *probes, size_t n,
                                  unsigned d, const tamis_i_probe *next, uint64_t *hits) {
    if (!heads->vectors)
        tamis_i_heads_test(heads, probes, n, d, next, hits);
    else if (d == 2)
        test_with(heads, probes, n, 2, next, hits);
    else if (d == 3)
        test_with(heads, probes, n, 3, next, hits);
    else
        test_with(heads, probes, n, d, next, hits);
}

#else

uint64_t tamis_i_heads_find_avx2(const tamis_i_heads *heads, const tamis_i_probe *probe,
                                 unsigned d) {
    return tamis_i_heads_find(heads, probe, d);
}

void tamis_i_heads_test_avx2(const tamis_i_heads *heads, const tamis_i_probe *probes, size_t n,
                             unsigned d, const tamis_i_probe *next, uint64_t *hits) {
    tamis_i_heads_test(heads, probes, n, d, next, hits);
}

#endif
