/* glance.c - a copy of a cache line that another thread may be writing to, for x86-64 with AVX2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/glance.h"

#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/x86/target.h"

#include <immintrin.h>

TAMIS_I_TARGET_AVX2 static inline __m256i glance_four(const uint64_t *from) {
    const uint64_t a = tamis_i_word_read(from), b = tamis_i_word_read(from + 1),
                   c = tamis_i_word_read(from + 2), d = tamis_i_word_read(from + 3);
    return _mm256_set_epi64x((int64_t)d, (int64_t)c, (int64_t)b, (int64_t)a);
}

TAMIS_I_TARGET_AVX2 static void glance_vectors(const uint64_t *from, uint64_t *to) {
    const __m256i low = glance_four(from), high = glance_four(from + 4);
    _mm256_store_si256((__m256i *)(void *)to, low);
    _mm256_store_si256((__m256i *)(void *)(to + 4), high);
}

tamis_i_glance *tamis_i_glance_x86(unsigned features) {
    return (features & TAMIS_I_CPU_AVX2) != 0 ? glance_vectors : NULL;
}

#endif
