/* run_move.h - slots that come and go in one bucket of bits/run.h: for AVX2 and BMI2
 *
 * A slot that comes or goes moves all slots behind it, and in the index all bits behind its own.  Both are
 * shifts of words by some bits, from one bit on:
 *
 *      bits    | 0 | .. | end | .. | last of the index | .. | place | .. | last |
 *      moved            [ by one bit                   ]    [ by a slot          ]
 *
 * Words are moved four at a time, and masks, a bit for each, say which bits of them move.  In a bucket of 16
 * words, an aligned pair of lines, these are four vectors, which are all rewritten: less work than to find
 * out where to begin.  Longer ones begin where slots move; the index is rewritten as a whole.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_RUN_MOVE_H
#define TAMIS_BITS_X86_RUN_MOVE_H

#include "bits/run.h"
#include "hash/x86/target.h"

#include <immintrin.h>

#define FAST TAMIS_I_TARGET_ALL
#define PAIR 16u /* words of two lines */

/* All ones if 'yes'.  Written so, compilers do not make a branch of it, which could not be foreseen. */
FAST TAMIS_INLINE uint64_t run_mask(bool yes) {
    return -(uint64_t)yes;
}

/* ---- moving words ---- */

FAST TAMIS_INLINE __m256i run_load(const uint64_t *words) {
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

FAST TAMIS_INLINE void run_store(uint64_t *words, __m256i v) {
    _mm256_storeu_si256((__m256i *)(void *)words, v);
}

FAST TAMIS_INLINE __m256i run_all(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

/* Of four words from i on, the bits at and behind bit 'from' of a bucket, which has at most 2^15.  Counts of
 * 64 and more shift all bits out. */
FAST TAMIS_INLINE __m256i run_behind(uint64_t from, uint64_t i) {
    const __m256i first = _mm256_add_epi64(run_all(64 * i), _mm256_setr_epi64x(0, 64, 128, 192));
    return _mm256_sllv_epi64(run_all(~(uint64_t)0), _mm256_subs_epu16(run_all(from), first));
}

/* Of four words from i on, bit 'at' of a bucket. */
FAST TAMIS_INLINE __m256i run_bit(uint64_t at, uint64_t i) {
    const __m256i first = _mm256_add_epi64(run_all(64 * i), _mm256_setr_epi64x(0, 64, 128, 192));
    return _mm256_sllv_epi64(run_all(1), _mm256_sub_epi64(run_all(at), first));
}

/* The bits of 'b' that are set in a mask, and others of 'a'. */
FAST TAMIS_INLINE __m256i run_choose(__m256i a, __m256i b, __m256i mask) {
    return _mm256_xor_si256(a, _mm256_and_si256(_mm256_xor_si256(a, b), mask));
}

/* Four words, moved by 'bits' bits up or down; bits come in from 'beside'. */
FAST TAMIS_INLINE __m256i run_moved(__m256i here, __m256i beside, unsigned bits, bool up) {
    const __m128i by = _mm_cvtsi32_si128((int)bits), rest = _mm_cvtsi32_si128((int)(64 - bits));
    return up ? _mm256_or_si256(_mm256_sll_epi64(here, by), _mm256_srl_epi64(beside, rest))
              : _mm256_or_si256(_mm256_srl_epi64(here, by), _mm256_sll_epi64(beside, rest));
}

/* The words beside those from i on: below, with something in the place of the one below the first; or
 * above, and 0 in the place of the one above the last. */
FAST TAMIS_INLINE __m256i run_beside(const uint64_t *bucket, uint64_t i, uint64_t words, bool up) {
    if (up)
        return i == 0 ? _mm256_permute4x64_epi64(run_load(bucket), 0x90) : run_load(bucket + i - 1);
    return i + 4 == words ? _mm256_blend_epi32(_mm256_permute4x64_epi64(run_load(bucket + i), 0x39),
                                               _mm256_setzero_si256(), 0xc0)
                          : run_load(bucket + i + 1);
}

/* What is to be moved, in the index and of the slots: all bits from these on. */
typedef struct run_move {
    uint64_t end;   /* bit of the index */
    uint64_t limit; /* bits of the index: those behind do not move with it */
    uint64_t place; /* bit of the slots */
    unsigned bits;  /* of a slot */
    bool cut;       /* what comes in behind the index */
} run_move;

/* Four words from i on, that have slots, or the last ones of the index. */
FAST TAMIS_INLINE __m256i run_move_slots(__m256i here, __m256i beside, uint64_t i,
                                         const run_move *m, bool up) {
    return run_choose(here, run_moved(here, beside, m->bits, up), run_behind(m->place, i));
}

/* Four words that are of the index alone. */
FAST TAMIS_INLINE void run_move_index(uint64_t *bucket, uint64_t i, uint64_t words,
                                      const run_move *m, bool up) {
    const __m256i here = run_load(bucket + i), beside = run_beside(bucket, i, words, up);
    const __m256i out = run_choose(here, run_moved(here, beside, 1, up), run_behind(m->end, i));
    run_store(bucket + i, up ? _mm256_or_si256(out, run_bit(m->end, i)) : out);
}

/* Four words that the index ends in. */
FAST TAMIS_INLINE void run_move_both(uint64_t *bucket, uint64_t i, uint64_t words,
                                     const run_move *m, bool up) {
    const __m256i here = run_load(bucket + i), beside = run_beside(bucket, i, words, up);
    const __m256i slots = run_move_slots(here, beside, i, m, up);
    const __m256i other = run_behind(m->limit, i), mask = run_behind(m->end, i);
    const __m256i moving = _mm256_andnot_si256(other, mask);
    if (up) {
        const __m256i out = run_choose(slots, run_moved(here, beside, 1, true), moving);
        run_store(bucket + i, _mm256_or_si256(out, run_bit(m->end, i)));
    } else {
        const __m256i fill = run_all(run_mask(m->cut)), index = run_choose(here, fill, other);
        const __m256i next = _mm256_blend_epi32(_mm256_permute4x64_epi64(index, 0x39), fill, 0xc0);
        run_store(bucket + i, run_choose(slots, run_moved(index, next, 1, false), moving));
    }
}

FAST TAMIS_INLINE void run_move_four(uint64_t *bucket, uint64_t i, uint64_t words,
                                     const run_move *m, bool up) {
    const __m256i here = run_load(bucket + i), beside = run_beside(bucket, i, words, up);
    run_store(bucket + i, run_move_slots(here, beside, i, m, up));
}

/* Words move up from the last one on, and down from the first one on: what is read was not written yet.
 * 'top' is the first of the four words that the index ends in. */
FAST TAMIS_INLINE void run_move_up(uint64_t *bucket, uint64_t words, uint64_t used, uint64_t top,
                                   const run_move *m) {
    const uint64_t first = m->place / 64 & ~(uint64_t)3, least = first > top ? first : top + 4;
    if (words == PAIR)
        for (uint64_t i = PAIR - 4; i > top; i -= 4)
            run_move_four(bucket, i, PAIR, m, true);
    else
        for (uint64_t i = used & ~(uint64_t)3; i >= least; i -= 4)
            run_move_four(bucket, i, words, m, true);
    run_move_both(bucket, top, words, m, true);
    for (uint64_t i = top; i > 0; i -= 4)
        run_move_index(bucket, i - 4, words, m, true);
}

FAST TAMIS_INLINE void run_move_down(uint64_t *bucket, uint64_t words, uint64_t used, uint64_t top,
                                     const run_move *m) {
    const uint64_t first = m->place / 64 & ~(uint64_t)3, least = first > top ? first : top + 4;
    for (uint64_t i = 0; i < top; i += 4)
        run_move_index(bucket, i, words, m, false);
    run_move_both(bucket, top, words, m, false);
    if (words == PAIR)
        for (uint64_t i = top + 4; i < PAIR; i += 4)
            run_move_four(bucket, i, PAIR, m, false);
    else
        for (uint64_t i = least; i <= used; i += 4)
            run_move_four(bucket, i, words, m, false);
}

/* ---- slots that come and go ---- */

/* What is constant where a function is made for buckets of one size: their words, those of the index before
 * the last, and the first of the four words that the index ends in. */
typedef struct run_size {
    uint64_t words, index, top;
} run_size;

/* A statement with a 'size' that is constant for the indexes that pairs of lines have in plans. */
#define RUN_SIZED(run, statement)                                                                  \
    do {                                                                                           \
        const bool pair = (run)->words == PAIR;                                                    \
        if (pair && (run)->index_words == 2) {                                                     \
            const run_size size = {PAIR, 2, 0};                                                    \
            statement;                                                                             \
        } else if (pair && (run)->index_words == 3) {                                              \
            const run_size size = {PAIR, 3, 0};                                                    \
            statement;                                                                             \
        } else if (pair && (run)->index_words == 4 && (run)->index_mask != 0) {                    \
            const run_size size = {PAIR, 4, 4};                                                    \
            statement;                                                                             \
        } else {                                                                                   \
            const run_size size = {(run)->words, (run)->index_words,                               \
                                   ((run)->index_bits - 1) / 64 & ~(uint64_t)3};                   \
            statement;                                                                             \
        }                                                                                          \
    } while (0)

/* A slot before slot 'number' of 'load', and a one before bit 'end' of the index. */
FAST TAMIS_INLINE void run_open(const tamis_i_run *run, uint64_t *bucket, run_size size,
                                uint64_t end, uint64_t number, uint64_t load, uint64_t slot) {
    const run_move m = {.end = end,
                        .limit = run->index_bits,
                        .place = tamis_i_run_at(run, number),
                        .bits = (unsigned)run->slot_bits};
    run_move_up(bucket, size.words, (tamis_i_run_at(run, load + 1) - 1) / 64, size.top, &m);
    const uint64_t at = m.place / 64, next = at + (at + 1 < size.words), shift = m.place % 64;
    const uint64_t over = shift + m.bits > 64 ? shift + m.bits - 64 : 0;
    bucket[next] = (bucket[next] & ~(uint64_t)0 << over) | slot >> 1 >> (63 - shift);
    bucket[at] = (bucket[at] & ~(run->slot_mask << shift)) | slot << shift;
}

/* The slot at bit 'place' goes, of 'load', and the one before bit 'end' of the index. */
FAST TAMIS_INLINE void run_close(const tamis_i_run *run, uint64_t *bucket, run_size size,
                                 uint64_t end, uint64_t place, uint64_t load, bool cut) {
    const run_move m = {.end = end - 1,
                        .limit = run->index_bits,
                        .place = place,
                        .bits = (unsigned)run->slot_bits,
                        .cut = cut};
    run_move_down(bucket, size.words, (tamis_i_run_at(run, load) - 1) / 64, size.top, &m);
}

#endif
