/* glance.c - a look into a cache line that another thread may be writing to, for x86-64 with AVX2
 *
 * Queries are those of tamis/inline.h, whose functions they use for all that does not read the line.
 *
 * SPDX-License-Identifier: MIT
 */
#define TAMIS_LENS_KERNELS
#include "bits/glance.h"

#include "bits/native.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include "hash/x86/target.h"

#include <immintrin.h>

#define FAST     TAMIS_I_TARGET_ALL
#define FAST_AES TAMIS_I_TARGET_ALL_AES

/* ---- a copy ---- */

TAMIS_I_TARGET_AVX2 TAMIS_INLINE __m256i glance_four(const uint64_t *from) {
    const uint64_t a = tamis_i_word_read(from), b = tamis_i_word_read(from + 1),
                   c = tamis_i_word_read(from + 2), d = tamis_i_word_read(from + 3);
    return _mm256_set_epi64x((int64_t)d, (int64_t)c, (int64_t)b, (int64_t)a);
}

TAMIS_I_TARGET_AVX2 static void glance_vectors(const uint64_t *from, uint64_t *to) {
    const __m256i low = glance_four(from), high = glance_four(from + 4);
    _mm256_store_si256((__m256i *)(void *)to, low);
    _mm256_store_si256((__m256i *)(void *)(to + 4), high);
}

/* ---- a query ---- */

/* The sequence number of a line, and what it was. */
typedef struct glance_first {
    const atomic_uint *sequence;
    unsigned seen;
} glance_first;

TAMIS_INLINE glance_first glance_begin(const tamis_i_glance_table *t, const uint64_t *words) {
    const uint64_t line = (uint64_t)(words - t->lens->table) / TAMIS_LINE_WORDS;
    glance_first first;
    first.sequence = (const atomic_uint *)(const void *)(t->sequences + TAMIS_I_GLANCE_STRIDE *
                                                                            (line >> t->shift));
    first.seen = atomic_load_explicit(first.sequence, memory_order_acquire);
    return first;
}

/* The second look. */
TAMIS_INLINE tamis_i_glanced glance_end(glance_first first, bool has) {
    const unsigned again = atomic_load_explicit(first.sequence, memory_order_relaxed);
    const bool whole = ((first.seen & (TAMIS_I_GLANCE_WRITING | TAMIS_I_GLANCE_ELSEWHERE)) |
                        (again ^ first.seen)) == 0;
    return TAMIS_LIKELY(whole) ? (tamis_i_glanced)has : TAMIS_I_GLANCED_NOTHING;
}

/* The eight bytes before bit 'top', which may be anything: from two words of the line. */
TAMIS_INLINE uint64_t glance_window(const uint64_t *words, unsigned top) {
    const unsigned byte = (top + 7) / 8 - 8, shift = byte % 8 * 8;
    const uint64_t low = tamis_i_word_read(words + byte / 8 % TAMIS_LINE_WORDS),
                   high = tamis_i_word_read(words + (byte / 8 + 1) % TAMIS_LINE_WORDS);
    return low >> shift | high << 1 << (63 - shift);
}

/* tamis_lens_line_has.  The words may be anything, so the length is checked before it is an index. */
FAST TAMIS_INLINE tamis_i_glanced glance_line(const tamis_i_glance_table *t, tamis_digest digest,
                                              bool set) {
    const tamis_lens *const lens = t->lens;
    const tamis_lens_place place = tamis_lens_line_of(lens, digest.lo);
    const glance_first first = glance_begin(t, place.words);
    uint64_t words[TAMIS_LINE_WORDS];
    words[0] = tamis_i_word_read(place.words);
    if ((words[0] >> place.home & 1) == 0)
        return glance_end(first, false);
    words[1] = tamis_i_word_read(place.words + 1);
    if (!set)
        words[7] = tamis_i_word_read(place.words + 7);
    const tamis_lens_run run = tamis_lens_line_see(lens, words, place.home, 1, set);
    const uint64_t bits = run.entries * run.length;
    if (TAMIS_UNLIKELY(run.length - 2 > TAMIS_LENS_WINDOW - 2 || bits > TAMIS_LENS_WINDOW))
        return TAMIS_I_GLANCED_NOTHING;
    const uint64_t window = glance_window(place.words, 512 - (unsigned)run.down) << run.down % 8;
    const uint64_t ones = lens->repeat[run.length];
    const uint64_t x =
        (window ^ (digest.hi >> ((0 - run.length) & 63)) * ones) | ~(uint64_t)0 >> bits;
    const uint64_t hits = (x - ones) & ~x & lens->repeat[64 + run.length];
    return glance_end(first, hits != 0);
}

/* The other half of the digest is in the upper half of 'hash'. */
FAST TAMIS_INLINE tamis_i_glanced glance_block(const tamis_i_glance_table *t, uint64_t lo,
                                               __m128i hash) {
    const uint64_t *const block = tamis_lens_block_of(t->lens, lo);
    const glance_first first = glance_begin(t, block);
    const __m256i halves[2] = {glance_four(block), glance_four(block + 4)};
    return glance_end(
        first, tamis_lens_block_has(t->lens, (const uint64_t *)(const void *)halves, hash, true));
}

FAST TAMIS_INLINE tamis_i_glanced glance_lanes(const tamis_i_glance_table *t, uint64_t lo,
                                               __m256i places) {
    const uint64_t *const block = tamis_lens_block_of(t->lens, lo);
    const glance_first first = glance_begin(t, block);
    const __m256i halves[2] = {glance_four(block), glance_four(block + 4)};
    return glance_end(first, tamis_lens_lanes_have((const uint64_t *)(const void *)halves, places));
}

#define LINE(name, set)                                                                            \
    FAST static tamis_i_glanced glance_##name##_digest(const tamis_i_glance_table *t,              \
                                                       tamis_digest digest) {                      \
        return glance_line(t, digest, set);                                                        \
    }                                                                                              \
    FAST_AES static tamis_i_glanced glance_##name##_word(const tamis_i_glance_table *t,            \
                                                         uint64_t key) {                           \
        return glance_line(t, tamis_lens_aes_digest(t->lens, key), set);                           \
    }
LINE(multiset, false)
LINE(set, true)

FAST static tamis_i_glanced glance_block_digest(const tamis_i_glance_table *t,
                                                tamis_digest digest) {
    return glance_block(t, digest.lo, _mm_set_epi64x((long long)digest.hi, 0));
}

FAST_AES static tamis_i_glanced glance_block_word(const tamis_i_glance_table *t, uint64_t key) {
    const __m128i hash = tamis_lens_aes(t->lens, key);
    return glance_block(t, (uint64_t)_mm_cvtsi128_si64(hash), hash);
}

FAST static tamis_i_glanced glance_lanes_digest(const tamis_i_glance_table *t,
                                                tamis_digest digest) {
    return glance_lanes(t, digest.lo, tamis_lens_lanes_places(digest.hi));
}

FAST_AES static tamis_i_glanced glance_lanes_word(const tamis_i_glance_table *t, uint64_t key) {
    const __m128i hash = tamis_lens_aes(t->lens, key);
    return glance_lanes(t, (uint64_t)_mm_cvtsi128_si64(hash), tamis_lens_lanes_upper(hash));
}

void tamis_i_glance_ops_x86(uint32_t form, unsigned features, tamis_i_glance_ops *ops) {
    const unsigned all = TAMIS_I_CPU_POPCNT | TAMIS_I_CPU_BMI2 | TAMIS_I_CPU_AVX2;
    if ((features & TAMIS_I_CPU_AVX2) != 0)
        ops->copy = glance_vectors;
    if ((features & all) != all)
        return;
    ops->has_digest = form == TAMIS_LENS_LINE       ? glance_multiset_digest
                      : form == TAMIS_LENS_LINE_SET ? glance_set_digest
                      : form == TAMIS_LENS_BLOCK    ? glance_block_digest
                      : form == TAMIS_LENS_LANES    ? glance_lanes_digest
                                                    : NULL;
    if ((features & TAMIS_I_CPU_AES) != 0)
        ops->has_word = form == TAMIS_LENS_LINE       ? glance_multiset_word
                        : form == TAMIS_LENS_LINE_SET ? glance_set_word
                        : form == TAMIS_LENS_BLOCK    ? glance_block_word
                        : form == TAMIS_LENS_LANES    ? glance_lanes_word
                                                      : NULL;
}

#endif
