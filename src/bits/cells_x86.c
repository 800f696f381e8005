/* cells_x86.c - looking for a remainder in a bucket of cells, with AVX2
 *
 * All remainders of a bucket are brought into lanes of 32 bits and compared at once (tamis_i_vectors).
 * The counters are looked at only if one is equal.  select.c makes sure that the processor can do it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/cells.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

/* Eight remainders, number 8 * half to 8 * half + 7: bit i of the result tells that one is equal. */
__attribute__((target("avx2"))) static inline unsigned equal_lanes(const tamis_i_vectors *v,
                                                                   const unsigned char *bucket,
                                                                   unsigned half, __m256i mask,
                                                                   __m256i wanted) {
    const __m128i low = _mm_loadu_si128((const __m128i *)(bucket + v->from[2 * half]));
    const __m128i high = _mm_loadu_si128((const __m128i *)(bucket + v->from[2 * half + 1]));
    const __m256i take = _mm256_loadu_si256((const __m256i *)(v->take + 4 * half));
    const __m256i shift = _mm256_loadu_si256((const __m256i *)(v->shift + 4 * half));
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    const __m256i lanes =
        _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(both, take), shift), mask);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(lanes, wanted)));
}

__attribute__((target("avx2"))) bool tamis_i_cells_match_avx2(const tamis_i_cells *cells,
                                                              const tamis_i_spot *spots, size_t n,
                                                              uint16_t *hits) {
    const tamis_i_vectors *const v = &cells->vectors;
    const __m256i mask = _mm256_set1_epi32((int)(((uint64_t)1 << cells->remainder_bits) - 1));
    const bool two = v->n > 2;
    unsigned any = 0;
    if (v->n == 0)
        return tamis_i_cells_match(cells, spots, n, hits);
    for (size_t i = 0; i < n; i++) {
        const tamis_i_spot *const s = &spots[i];
        const unsigned char *const bucket = (const unsigned char *)s->words + s->at / 8;
        const __m256i wanted = _mm256_set1_epi32((int)s->remainder);
        unsigned equal = equal_lanes(v, bucket, 0, mask, wanted);
        if (two)
            equal |= equal_lanes(v, bucket, 1, mask, wanted) << 8;
        if (equal != 0) {
            const uint64_t counters = tamis_i_cells_counters(cells, s->words, s->at);
            equal &= (1u << tamis_i_cells_load(cells, counters)) - 1;
        }
        hits[i] = (uint16_t)equal;
        any |= equal;
    }
    return any != 0;
}

#else

bool tamis_i_cells_match_avx2(const tamis_i_cells *cells, const tamis_i_spot *spots, size_t n,
                              uint16_t *hits) {
    return tamis_i_cells_match(cells, spots, n, hits);
}

#endif
