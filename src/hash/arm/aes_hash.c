/* aes_hash.c - the hash for strangers' keys, for 64-bit ARM with AES instructions
 *
 * AESE adds a key, then replaces the bytes and turns the rows; AESMC multiplies the columns.  Key 0 was added
 * before (aes_block.h), so that the first AESE adds nothing and the last key is added by itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/aes_hash.h"
#include "hash/arm/target.h"

#ifdef TAMIS_I_AES_ARM

#include "hash/aes_block.h"

#include <arm_neon.h>

TAMIS_I_TARGET_AES TAMIS_INLINE uint8x16_t aes_load(const uint64_t key[2]) {
    return vreinterpretq_u8_u64(vld1q_u64(key));
}

TAMIS_I_TARGET_AES TAMIS_INLINE tamis_digest aes_finish(const tamis_i_hash_keys *keys,
                                                        tamis_digest block) {
    const uint64_t(*const round)[2] = keys->schedule.round;
    uint8x16_t state =
        vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(block.lo), vcreate_u64(block.hi)));
    state = vaesmcq_u8(vaeseq_u8(state, vdupq_n_u8(0)));
    for (unsigned i = 1; i < TAMIS_I_AES_ROUNDS - 1; i++)
        state = vaesmcq_u8(vaeseq_u8(state, aes_load(round[i])));
    state = veorq_u8(vaeseq_u8(state, aes_load(round[TAMIS_I_AES_ROUNDS - 1])),
                     aes_load(round[TAMIS_I_AES_ROUNDS]));
    const uint64x2_t words = vreinterpretq_u64_u8(state);
    return (tamis_digest){.lo = vgetq_lane_u64(words, 0), .hi = vgetq_lane_u64(words, 1)};
}

TAMIS_I_TARGET_AES static tamis_digest aes_word(const tamis_i_hash_keys *keys, uint64_t key) {
    return aes_finish(keys, tamis_i_aes_begin(keys, key, 0, 8));
}

TAMIS_I_TARGET_AES static tamis_digest aes_hash(const tamis_i_hash_keys *keys, const void *key,
                                                size_t size) {
    return aes_finish(keys, size <= 16 ? tamis_i_aes_short(keys, key, size)
                                       : tamis_i_aes_beyond(keys, key, size));
}

TAMIS_I_TARGET_AES static void aes_many_words(const tamis_i_hash_keys *keys, const uint64_t *from,
                                              size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = aes_word(keys, from[i]);
}

TAMIS_I_TARGET_AES static void aes_many(const tamis_i_hash_keys *keys, const tamis_bytes *from,
                                        size_t n, tamis_digest *digests) {
    for (size_t i = 0; i < n; i++)
        digests[i] = aes_hash(keys, from[i].data, from[i].size);
}

/* ---- the keys of a seed ---- */

TAMIS_I_TARGET_AES static tamis_digest aes_encrypt(const tamis_i_aes_schedule *schedule,
                                                   tamis_digest block) {
    const uint64_t(*const round)[2] = schedule->round;
    uint8x16_t state =
        vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(block.lo), vcreate_u64(block.hi)));
    for (unsigned i = 0; i < TAMIS_I_AES_ROUNDS - 1; i++)
        state = vaesmcq_u8(vaeseq_u8(state, aes_load(round[i])));
    state = veorq_u8(vaeseq_u8(state, aes_load(round[TAMIS_I_AES_ROUNDS - 1])),
                     aes_load(round[TAMIS_I_AES_ROUNDS]));
    const uint64x2_t words = vreinterpretq_u64_u8(state);
    return (tamis_digest){.lo = vgetq_lane_u64(words, 0), .hi = vgetq_lane_u64(words, 1)};
}

/* Four equal columns: turning the rows changes nothing. */
TAMIS_I_TARGET_AES static uint32_t aes_substitute(uint32_t column) {
    const uint8x16_t state = vreinterpretq_u8_u32(vdupq_n_u32(column));
    return vgetq_lane_u32(vreinterpretq_u32_u8(vaeseq_u8(state, vdupq_n_u8(0))), 0);
}

const tamis_i_hash_ops *tamis_i_aes_ops_arm(unsigned features) {
    static const tamis_i_hash_ops ops = {aes_word, aes_hash,    aes_many_words,
                                         aes_many, aes_encrypt, aes_substitute};
    return (features & TAMIS_I_CPU_AES) != 0 ? &ops : NULL;
}

#endif
