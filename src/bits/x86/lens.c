/* lens.c - one key in one function, for x86-64 with POPCNT, LZCNT, BMI2, AVX2 and AES
 *
 * The code is in tamis/inline.h.  The digest of an integer takes twelve instructions, the place of a key
 * some eight, and half of the keys that are not in a line end at their home.  The branch there is not
 * foreseen, but the way ahead to the next query gets shorter by it.
 *
 * SPDX-License-Identifier: MIT
 */
#define TAMIS_LENS_KERNELS
#include "bits/lens.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/block.h"
#include "bits/native.h"
#include "bits/search.h"
#include "bits/x86/line_view.h"

/* The handle of a series has other functions. */
#define GROWN false

void tamis_i_lens_attach_x86(tamis_lens *lens) {
    /* Ones in the first k of sixteen lanes, from place 16 - k on. */
    static const uint32_t used[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    lens->inverse = tamis_i_line_inverse;
    lens->splits = tamis_i_line_splits_64;
    lens->repeat = tamis_i_repeat;
    lens->below = tamis_i_line_below[0];
    lens->factors = tamis_i_block_factors;
    if (lens->form == TAMIS_LENS_BLOCK)
        lens->used = used + TAMIS_I_BLOCK_HASHES_MAX - lens->value[TAMIS_LENS_BLOCK_HASHES];
}

/* ---- line, line-set ---- */

#define LINE(name, set)                                                                            \
    FAST static bool lens_##name##_has_digest(const tamis_lens *lens, tamis_digest digest) {       \
        return tamis_lens_line_has(lens, digest, set, GROWN);                                      \
    }                                                                                              \
    TAMIS_I_TARGET_ALL_AES static bool lens_##name##_has_word(const tamis_lens *lens,              \
                                                              uint64_t key) {                      \
        return tamis_lens_line_has(lens, tamis_lens_aes_digest(lens, key), set, GROWN);            \
    }                                                                                              \
    TAMIS_I_TARGET_ALL_AES static tamis_status lens_##name##_add_word(tamis_lens *lens,            \
                                                                      uint64_t key, bool *added) { \
        const tamis_digest digest = tamis_lens_aes_digest(lens, key);                              \
        if (TAMIS_UNLIKELY(!tamis_lens_line_insert(lens, digest, set, GROWN)))                     \
            return lens->insert(lens->written, digest, added);                                     \
        if (added != NULL)                                                                         \
            *added = true;                                                                         \
        return TAMIS_OK;                                                                           \
    }
LINE(line, false)
LINE(line_set, true)

TAMIS_I_TARGET_ALL_AES static tamis_status lens_line_drop_word(tamis_lens *lens, uint64_t key) {
    const tamis_digest digest = tamis_lens_aes_digest(lens, key);
    return TAMIS_LIKELY(tamis_lens_line_remove(lens, digest, GROWN))
               ? TAMIS_OK
               : lens->remove(lens->written, digest);
}

/* ---- blocked-bloom, rank ---- */

/* The hash stays in its register. */
TAMIS_I_TARGET_ALL_AES static bool lens_block_has_word(const tamis_lens *lens, uint64_t key) {
    const __m128i hash = tamis_lens_aes(lens, key);
    return tamis_lens_block_has(lens, tamis_lens_block_of(lens, (uint64_t)_mm_cvtsi128_si64(hash)),
                                hash);
}

FAST static bool lens_rank_has_digest(const tamis_lens *lens, tamis_digest digest) {
    return tamis_lens_rank_has(lens, digest, GROWN);
}

TAMIS_I_TARGET_ALL_AES static bool lens_rank_has_word(const tamis_lens *lens, uint64_t key) {
    return tamis_lens_rank_has(lens, tamis_lens_aes_digest(lens, key), GROWN);
}

const tamis_i_lens_ops *tamis_i_lens_ops_x86(uint32_t form, unsigned features) {
    static const tamis_i_lens_ops ops[2][5] = {
        {[TAMIS_LENS_LINE] = {.has_digest = lens_line_has_digest},
         [TAMIS_LENS_LINE_SET] = {.has_digest = lens_line_set_has_digest},
         [TAMIS_LENS_RANK] = {.has_digest = lens_rank_has_digest}},
        {[TAMIS_LENS_LINE] = {lens_line_has_digest, lens_line_has_word, lens_line_add_word,
                              lens_line_drop_word},
         [TAMIS_LENS_LINE_SET] = {lens_line_set_has_digest, lens_line_set_has_word,
                                  lens_line_set_add_word, NULL},
         [TAMIS_LENS_BLOCK] = {.has_word = lens_block_has_word},
         [TAMIS_LENS_RANK] = {.has_digest = lens_rank_has_digest, .has_word = lens_rank_has_word}}};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((features & needed) != needed || form >= sizeof ops[0] / sizeof ops[0][0])
        return NULL;
    return &ops[(features & TAMIS_I_CPU_AES) != 0][form];
}

#endif
