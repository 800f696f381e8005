/* words.c - ones in arrays of words, for x86-64 with POPCNT and BMI2
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/words.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/field.h"
#include "bits/native.h"
#include "hash/x86/target.h"

#include <immintrin.h>

TAMIS_I_TARGET_POPCNT static uint64_t words_ones(const uint64_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)__builtin_popcountll(words[i]);
    return sum;
}

TAMIS_I_TARGET_POPCNT static uint64_t words_rank(const uint64_t *words, uint64_t at) {
    const uint64_t sum = words_ones(words, (size_t)(at / 64));
    const unsigned rest = (unsigned)(at % 64);
    if (rest == 0)
        return sum;
    return sum + (uint64_t)__builtin_popcountll(words[at / 64] & tamis_i_low_mask(rest));
}

/* Deposit a single bit at the r-th one, and find it. */
TAMIS_I_TARGET_BMI2 static unsigned words_select(uint64_t word, unsigned r) {
    return r > 63 ? 64 : (unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << r, word));
}

/* A processor with BMI2 has POPCNT too, but tests may switch off either. */
const tamis_i_words_ops *tamis_i_words_ops_x86(unsigned features) {
    static const tamis_i_words_ops both = {words_ones, words_rank, words_select};
    static const tamis_i_words_ops count = {words_ones, words_rank, tamis_i_words_select};
    static const tamis_i_words_ops select = {tamis_i_words_ones, tamis_i_words_rank, words_select};
    const bool popcnt = (features & TAMIS_I_CPU_POPCNT) != 0,
               bmi2 = (features & TAMIS_I_CPU_BMI2) != 0;
    return popcnt ? bmi2 ? &both : &count : bmi2 ? &select : NULL;
}

#endif
