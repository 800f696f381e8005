/* lens.c - one key in one function, for x86-64 with POPCNT, LZCNT, BMI2, AVX2 and AES
 *
 * The code is in tamis/inline.h.  Lookups have one branch that depends on what memory brings, whether the
 * home of the key holds anything, and others for rare cases only: each wrong guess is found out only when the
 * line has come.
 *
 * SPDX-License-Identifier: MIT
 */
#define TAMIS_LENS_KERNELS
#include "bits/lens.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "bits/block.h"
#include "bits/native.h"
#include "bits/x86/line_view.h"

/* The handle of a series has other functions. */
#define AWAY(lens) ((lens)->state[1] != 0)

/* floor((2^64 - 1) / (2^w - 1)) has ones w bits apart down from bit 64 - w. */
#define ONES(w) (~(uint64_t)0 / (~(uint64_t)0 >> (64 - (w))))
#define TOPS(w) (ONES(w) << ((w)-1))
#define EIGHT(of, w)                                                                               \
    of(w), of((w) + 1), of((w) + 2), of((w) + 3), of((w) + 4), of((w) + 5), of((w) + 6), of((w) + 7)
#define SEVEN(of, w)                                                                               \
    of(w), of((w) + 1), of((w) + 2), of((w) + 3), of((w) + 4), of((w) + 5), of((w) + 6)
#define FROM_2(of)                                                                                 \
    SEVEN(of, 2), EIGHT(of, 9), EIGHT(of, 17), EIGHT(of, 25), EIGHT(of, 33), EIGHT(of, 41),        \
        EIGHT(of, 49), SEVEN(of, 57)

/* The bits of a run at most.  Less than none for lengths 0 and 1: lines that a lens does not look into. */
#define MOST(w) ((w) > 1 ? TAMIS_LENS_WINDOW : ~(uint64_t)0)
static const uint64_t lens_repeat[192] = {0,       0,       FROM_2(ONES), 0, 0, FROM_2(TOPS),
                                          MOST(0), MOST(1), FROM_2(MOST)};

#define INVERSE(n) ((((uint32_t)1 << 20) + (n)-1) / (n))
/* As tamis_i_line_inverse, but 0 for lines that the lookups are not for. */
static const uint32_t inverse[65] = {0,
                                     SEVEN(INVERSE, 1),
                                     EIGHT(INVERSE, 8),
                                     EIGHT(INVERSE, 16),
                                     EIGHT(INVERSE, 24),
                                     EIGHT(INVERSE, 32),
                                     EIGHT(INVERSE, 40),
                                     EIGHT(INVERSE, 48),
                                     SEVEN(INVERSE, 56)};

/* How many bits the entries of a set have, and where the long ones stop. */
static void lens_splits(const tamis_lens *lens, uint16_t splits[TAMIS_I_LENS_SPLITS]) {
    const uint64_t cap = lens->value[TAMIS_LENS_LINE_CAP];
    for (unsigned n = 1; n <= 62; n++)
        splits[n] = (uint16_t)(tamis_i_line_splits_64[n] < cap ? tamis_i_line_splits_64[n] : cap);
}

void tamis_i_lens_attach_x86(tamis_lens *lens, uint16_t splits[TAMIS_I_LENS_SPLITS]) {
    /* Ones in the first k of sixteen lanes, from place 16 - k on. */
    static const uint32_t used[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    lens->inverse = inverse;
    lens->repeat = lens_repeat;
    if (lens->form == TAMIS_LENS_LINE_SET)
        lens_splits(lens, splits);
    lens->splits = splits;
    lens->below = tamis_i_line_below[0];
    lens->factors = tamis_i_block_factors;
    if (lens->form == TAMIS_LENS_BLOCK)
        lens->used = used + TAMIS_I_BLOCK_HASHES_MAX - lens->value[TAMIS_LENS_BLOCK_HASHES];
}

/* ---- line, line-set, rank ---- */

/* What the lookups leave to the kind. */
static bool lens_ask(const tamis_lens *lens, uint64_t lo, uint64_t hi) {
    return lens->contains(lens->filter, (tamis_digest){.lo = lo, .hi = hi});
}

TAMIS_I_TARGET_ALL_AES TAMIS_APART bool lens_ask_word(const tamis_lens *lens, uint64_t key) {
    return lens->contains(lens->filter, tamis_lens_aes_digest(lens, key));
}

#define LOOKUP(name, has)                                                                          \
    FAST static bool lens_##name##_has_digest(const tamis_lens *lens, tamis_digest digest) {       \
        const uint64_t lo = digest.lo, hi = digest.hi;                                             \
        const unsigned answer = has;                                                               \
        return TAMIS_LIKELY(answer != TAMIS_LENS_ASK) ? answer != 0 : lens_ask(lens, lo, hi);      \
    }                                                                                              \
    TAMIS_I_TARGET_ALL_AES static bool lens_##name##_has_word(const tamis_lens *lens,              \
                                                              uint64_t key) {                      \
        const __m128i hash = tamis_lens_aes(lens, key);                                            \
        const uint64_t lo = (uint64_t)_mm_cvtsi128_si64(hash),                                     \
                       hi = (uint64_t)_mm_extract_epi64(hash, 1);                                  \
        const unsigned answer = has;                                                               \
        return TAMIS_LIKELY(answer != TAMIS_LENS_ASK) ? answer != 0 : lens_ask_word(lens, key);    \
    }
LOOKUP(line, tamis_lens_line_has(lens, lo, hi, false, AWAY(lens)))
LOOKUP(line_set, tamis_lens_line_has(lens, lo, hi, true, AWAY(lens)))
LOOKUP(rank, tamis_lens_rank_has(lens, lo, hi, AWAY(lens)))

#define INSERT(name, set)                                                                          \
    TAMIS_I_TARGET_ALL_AES static tamis_status lens_##name##_add_word(tamis_lens *lens,            \
                                                                      uint64_t key, bool *added) { \
        return tamis_lens_line_insert(lens, tamis_lens_aes(lens, key), added, set, AWAY(lens));    \
    }
INSERT(line, false)
INSERT(line_set, true)

TAMIS_I_TARGET_ALL_AES static tamis_status lens_rank_add_word(tamis_lens *lens, uint64_t key,
                                                              bool *added) {
    const tamis_digest digest = tamis_lens_aes_digest(lens, key);
    if (TAMIS_UNLIKELY(!tamis_lens_rank_insert(lens, digest.lo, digest.hi, AWAY(lens))))
        return lens->insert(lens->written, digest, added);
    if (added != NULL)
        *added = true;
    return TAMIS_OK;
}

TAMIS_I_TARGET_ALL_AES static tamis_status lens_line_drop_word(tamis_lens *lens, uint64_t key) {
    const tamis_digest digest = tamis_lens_aes_digest(lens, key);
    return TAMIS_LIKELY(tamis_lens_line_remove(lens, digest, AWAY(lens)))
               ? TAMIS_OK
               : lens->remove(lens->written, digest);
}

/* ---- blocked-bloom: up to eight places, or more ---- */

#define BLOCK(name, more)                                                                          \
    TAMIS_I_TARGET_ALL_AES static bool lens_##name##_has_word(const tamis_lens *lens,              \
                                                              uint64_t key) {                      \
        return tamis_lens_block_has_u64(lens, key, more);                                          \
    }                                                                                              \
    TAMIS_I_TARGET_ALL_AES static tamis_status lens_##name##_add_word(tamis_lens *lens,            \
                                                                      uint64_t key, bool *added) { \
        const __m128i hash = tamis_lens_aes(lens, key);                                            \
        const bool fresh =                                                                         \
            tamis_lens_block_insert(lens, (uint64_t)_mm_cvtsi128_si64(hash), hash, more);          \
        if (added != NULL)                                                                         \
            *added = fresh;                                                                        \
        return TAMIS_OK;                                                                           \
    }
BLOCK(block, false)
BLOCK(long_block, true)

/* Eight lanes. */
FAST static bool lens_lanes_has_digest(const tamis_lens *lens, tamis_digest digest) {
    return tamis_lens_lanes_have(tamis_lens_block_of(lens, digest.lo),
                                 tamis_lens_lanes_places(digest.hi));
}

TAMIS_I_TARGET_ALL_AES static bool lens_lanes_has_word(const tamis_lens *lens, uint64_t key) {
    return tamis_lens_lanes_have_u64(lens, key);
}

TAMIS_I_TARGET_ALL_AES static tamis_status lens_lanes_add_word(tamis_lens *lens, uint64_t key,
                                                               bool *added) {
    const __m128i hash = tamis_lens_aes(lens, key);
    const bool fresh = tamis_lens_lanes_insert(lens, (uint64_t)_mm_cvtsi128_si64(hash),
                                               tamis_lens_lanes_upper(hash));
    if (added != NULL)
        *added = fresh;
    return TAMIS_OK;
}

const tamis_i_lens_ops *tamis_i_lens_ops_x86(const tamis_lens *lens, unsigned features) {
    static const tamis_i_lens_ops by_digest[] = {
        [TAMIS_LENS_LINE] = {.has_digest = lens_line_has_digest},
        [TAMIS_LENS_LINE_SET] = {.has_digest = lens_line_set_has_digest},
        [TAMIS_LENS_RANK] = {.has_digest = lens_rank_has_digest},
        [TAMIS_LENS_LANES] = {.has_digest = lens_lanes_has_digest}};
    static const tamis_i_lens_ops with_aes[] = {
        [TAMIS_LENS_LINE] = {lens_line_has_digest, lens_line_has_word, lens_line_add_word,
                             lens_line_drop_word},
        [TAMIS_LENS_LINE_SET] = {lens_line_set_has_digest, lens_line_set_has_word,
                                 lens_line_set_add_word, NULL},
        [TAMIS_LENS_BLOCK] = {.has_word = lens_block_has_word, .add_word = lens_block_add_word},
        [TAMIS_LENS_RANK] = {lens_rank_has_digest, lens_rank_has_word, lens_rank_add_word, NULL},
        [TAMIS_LENS_LANES] = {lens_lanes_has_digest, lens_lanes_has_word, lens_lanes_add_word,
                              NULL}};
    static const tamis_i_lens_ops long_block = {.has_word = lens_long_block_has_word,
                                                .add_word = lens_long_block_add_word},
                                  long_rank = {.has_digest = lens_rank_has_digest,
                                               .has_word = lens_rank_has_word};
    const unsigned needed = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((features & needed) != needed || lens->form >= sizeof with_aes / sizeof with_aes[0])
        return NULL;
    if ((features & TAMIS_I_CPU_AES) == 0)
        return &by_digest[lens->form];
    if (lens->form == TAMIS_LENS_BLOCK && lens->value[TAMIS_LENS_BLOCK_HASHES] > 8)
        return &long_block;
    if (lens->form == TAMIS_LENS_RANK && lens->value[TAMIS_LENS_RANK_ALL] == 0)
        return &long_rank;
    return &with_aes[lens->form];
}

#endif
