/* heads.h - the heads of buckets as vectors, for x86-64 with AVX2 and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_HEADS_H
#define TAMIS_BITS_X86_HEADS_H

#include "bits/heads.h"
#include "hash/x86/target.h"

#include <immintrin.h>

/* tamis_i_heads_find, a whole bucket at once, if heads->vectors allows it. */
TAMIS_I_TARGET_BOTH static inline uint64_t
tamis_i_heads_find_x86(const tamis_i_heads *heads, const tamis_i_probe *probe, unsigned d) {
    const __m128i wanted = _mm_set1_epi8((char)probe->word[TAMIS_I_HEAD]);
    uint64_t hits = 0;
    for (unsigned j = 0; j < d; j++) {
        const unsigned char *const bucket =
            (const unsigned char *)probe->at[j] + probe->word[1 + j] / 8;
        const __m128i all = _mm_loadu_si128((const __m128i *)(const void *)bucket);
        hits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(all, wanted)) << 16 * j;
    }
    return hits & heads->places;
}

#endif
