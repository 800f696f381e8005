/* aes_word.h - the digest of an integer by AES instructions, without a call
 *
 * As 'word' of aes_hash.h: twelve instructions and two that take the words out of the register.  A function
 * for the target AES, or for one that has it too, may have it inlined.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_X86_AES_WORD_H
#define TAMIS_HASH_X86_AES_WORD_H

#include "hash/aes_hash.h"
#include "hash/x86/target.h"

#include <immintrin.h>

TAMIS_I_TARGET_AES TAMIS_INLINE __m128i tamis_i_aes_load(const uint64_t key[2]) {
    return _mm_load_si128((const __m128i *)(const void *)key);
}

/* All rounds of a state that key 0 was added to. */
TAMIS_I_TARGET_AES TAMIS_INLINE __m128i tamis_i_aes_rounds(const tamis_i_hash_keys *keys,
                                                           __m128i state) {
    const uint64_t(*const round)[2] = keys->schedule.round;
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[1]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[2]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[3]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[4]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[5]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[6]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[7]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[8]));
    state = _mm_aesenc_si128(state, tamis_i_aes_load(round[9]));
    return _mm_aesenclast_si128(state, tamis_i_aes_load(round[10]));
}

TAMIS_I_TARGET_AES TAMIS_INLINE __m128i tamis_i_aes_state(const tamis_i_hash_keys *keys,
                                                          uint64_t key) {
    return _mm_xor_si128(_mm_cvtsi64_si128((long long)key), tamis_i_aes_load(keys->start[8]));
}

TAMIS_I_TARGET_AES TAMIS_INLINE tamis_digest tamis_i_aes_words_of(__m128i state) {
    return (tamis_digest){.lo = (uint64_t)_mm_cvtsi128_si64(state),
                          .hi = (uint64_t)_mm_extract_epi64(state, 1)};
}

TAMIS_I_TARGET_AES TAMIS_INLINE tamis_digest tamis_i_aes_word(const tamis_i_hash_keys *keys,
                                                              uint64_t key) {
    return tamis_i_aes_words_of(tamis_i_aes_rounds(keys, tamis_i_aes_state(keys, key)));
}

#endif
