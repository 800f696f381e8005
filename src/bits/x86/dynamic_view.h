/* dynamic_view.h - the work on one bucket of dynamic_bucket.h, for x86-64 with AVX2 and BMI2
 *
 * For buckets as the planner chooses them, bucket->quick: whole bytes, heads of 8 bits, no counters and
 * two lengths.  Those of fewer than 24 bytes can also be changed here, bucket->narrow, if their tails
 * always fit in 128 bits.  Everything equals dynamic_bucket.c bit for bit.
 *
 * A narrow bucket is n bytes of heads, the tails, and the state in the last bits:
 *
 *      [ heads ][ tails: 2 words, from byte n on ] .. [ state ]
 *
 * When an element is added, nearly always all others lose bits.  The first bits of each tail are the
 * upper ones, so a mask of the bits to keep turns this into one PEXT per word.  With S the first bits
 * of all tails, and T those shifted up by what each loses, T - S has all bits that go.
 *
 * Memory outside of the bucket is not touched: what would extend behind it is read from its last 8 bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_X86_DYNAMIC_VIEW_H
#define TAMIS_BITS_X86_DYNAMIC_VIEW_H

#include "bits/dynamic_bucket.h"
#include "hash/x86/target.h"

#include <immintrin.h>

/* Two words, the lower one first. */
typedef struct tamis_i_two {
    uint64_t w[2];
} tamis_i_two;

#define TAMIS_I_DYNAMIC_AVX2 TAMIS_I_TARGET_BOTH static inline

/* The part of tamis_i_dynamic_bucket to be kept in registers. */
typedef struct tamis_i_dynamic_quick {
    uint64_t last;       /* byte of a bucket that its last 8 begin with */
    uint64_t least_tail; /* bits of the shortest tail */
    uint64_t most;
} tamis_i_dynamic_quick;

TAMIS_INLINE tamis_i_dynamic_quick tamis_i_dynamic_quick_of(const tamis_i_dynamic_bucket *layout) {
    return (tamis_i_dynamic_quick){
        .last = layout->bits / 8 - 8, .least_tail = layout->least - 8, .most = layout->most};
}

TAMIS_INLINE uint64_t tamis_i_dynamic_load64(const unsigned char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* The state of the bucket that begins there. */
TAMIS_INLINE uint64_t tamis_i_dynamic_quick_state(const tamis_i_dynamic_quick *q,
                                                  const unsigned char *bucket) {
    return tamis_i_dynamic_load64(bucket + q->last) >> (64 - TAMIS_I_DYNAMIC_STATE_2);
}

TAMIS_INLINE uint64_t tamis_i_dynamic_quick_load(const tamis_i_dynamic_quick *q,
                                                 const unsigned char *bucket) {
    const uint64_t state = tamis_i_dynamic_quick_state(q, bucket);
    return (state & 15) + (state >> 4 & 15);
}

/* What the state tells. */
typedef struct tamis_i_dynamic_told {
    uint64_t n, n_a, n_b;
    uint64_t tail_a, tail_b; /* bits of tails */
} tamis_i_dynamic_told;

TAMIS_INLINE tamis_i_dynamic_told tamis_i_dynamic_quick_told(const tamis_i_dynamic_quick *q,
                                                             const unsigned char *bucket) {
    const uint64_t state = tamis_i_dynamic_quick_state(q, bucket);
    tamis_i_dynamic_told t = {.n_a = state & 15, .n_b = state >> 4 & 15};
    t.n = t.n_a + t.n_b;
    t.tail_a = q->least_tail + (state >> 8 & 31);
    t.tail_b = q->least_tail + (state >> 13);
    return t;
}

/* 64 bits from bit 'at' on; those past the bucket mean nothing. */
TAMIS_INLINE uint64_t tamis_i_dynamic_window(const tamis_i_dynamic_quick *q,
                                             const unsigned char *bucket, uint64_t at) {
    const uint64_t byte = at / 8 < q->last ? at / 8 : q->last;
    return tamis_i_dynamic_load64(bucket + byte) >> ((at - 8 * byte) & 63);
}

/* Is element i, whose head matches, a prefix of the fingerprint, or (least) alike in the minimal
 * remainder?  False if there is no element i. */
TAMIS_I_DYNAMIC_AVX2 bool tamis_i_dynamic_holds_x86(const tamis_i_dynamic_quick *q,
                                                    const unsigned char *bucket, uint64_t i,
                                                    uint64_t fingerprint, bool least) {
    const tamis_i_dynamic_told t = tamis_i_dynamic_quick_told(q, bucket);
    const uint64_t before = i < t.n_a ? i : t.n_a, tail = i < t.n_a ? t.tail_a : t.tail_b;
    const uint64_t at = 8 * t.n + before * t.tail_a + (i - before) * t.tail_b;
    const uint64_t found = _bzhi_u64(tamis_i_dynamic_window(q, bucket, at), (unsigned)tail);
    uint64_t differ = found ^ fingerprint << 8 >> (64 - tail);
    if (least)
        differ >>= tail - q->least_tail;
    return ((differ == 0) & (i < t.n)) != 0;
}

/* The bits below 'at' < 192. */
TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_below(tamis_i_two x, uint64_t at) {
    const uint64_t high = at < 64 ? 0 : at - 64;
    return (tamis_i_two){{_bzhi_u64(x.w[0], (unsigned)at), _bzhi_u64(x.w[1], (unsigned)high)}};
}

/* Shifted by 'n' < 64. */
TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_up(tamis_i_two x, uint64_t n) {
    n &= 63;
    return (tamis_i_two){{x.w[0] << n, x.w[1] << n | x.w[0] >> 1 >> (63 - n)}};
}

TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_down(tamis_i_two x, uint64_t n) {
    n &= 63;
    return (tamis_i_two){{x.w[0] >> n | x.w[1] << 1 << (63 - n), x.w[1] >> n}};
}

/* Shifted by 'n' < 128. */
TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_far_up(tamis_i_two x, uint64_t n) {
    const tamis_i_two near = tamis_i_two_up(x, n);
    const bool far = n >= 64;
    return (tamis_i_two){{far ? 0 : near.w[0], far ? near.w[0] : near.w[1]}};
}

TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_or(tamis_i_two x, tamis_i_two y) {
    return (tamis_i_two){{x.w[0] | y.w[0], x.w[1] | y.w[1]}};
}

TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_xor(tamis_i_two x, tamis_i_two y) {
    return (tamis_i_two){{x.w[0] ^ y.w[0], x.w[1] ^ y.w[1]}};
}

TAMIS_I_DYNAMIC_AVX2 tamis_i_two tamis_i_two_minus(tamis_i_two x, tamis_i_two y) {
    const tamis_i_u128 a = (tamis_i_u128)x.w[1] << 64 | x.w[0];
    const tamis_i_u128 b = (tamis_i_u128)y.w[1] << 64 | y.w[0];
    return (tamis_i_two){{(uint64_t)(a - b), (uint64_t)((a - b) >> 64)}};
}

/* Write a bucket: heads, n elements' tails and state. */
TAMIS_I_DYNAMIC_AVX2 void tamis_i_dynamic_write_x86(const tamis_i_dynamic_quick *q,
                                                    unsigned char *bucket, __m128i heads,
                                                    uint64_t n, tamis_i_two tails, uint64_t state) {
    /* Byte j of the result is byte j - n of the tails, or 0. */
    static const unsigned char from[48] = {
        128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
        0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,
        128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128};
    const __m128i all = _mm_set_epi64x((long long)tails.w[1], (long long)tails.w[0]);
    const unsigned char *const low_from = from + 16 - n;
    const __m128i low = _mm_or_si128(
        heads, _mm_shuffle_epi8(all, _mm_loadu_si128((const __m128i *)(const void *)low_from)));
    const __m128i high =
        _mm_shuffle_epi8(all, _mm_loadu_si128((const __m128i *)(const void *)(low_from + 16)));
    const uint64_t w1 = (uint64_t)_mm_extract_epi64(low, 1);
    const uint64_t w2 = (uint64_t)_mm_cvtsi128_si64(high);
    const uint64_t end = w2 << ((64 - 8 * q->last) & 63) | w1 >> (8 * q->last & 63) |
                         state << (64 - TAMIS_I_DYNAMIC_STATE_2);
    _mm_storeu_si128((__m128i *)(void *)bucket, low);
    memcpy(bucket + q->last, &end, sizeof end);
}

/* Rewrite a bucket of n elements.  Cut its elements, where 'keep' gives the bits of their tails that
 * stay.  Put the new one at 'place', where its tail of 'tail' bits begins at bit 'at' of the tails. */
TAMIS_I_DYNAMIC_AVX2 void tamis_i_dynamic_put_x86(const tamis_i_dynamic_quick *q,
                                                  unsigned char *bucket, uint64_t fingerprint,
                                                  uint64_t n, tamis_i_two keep, uint64_t place,
                                                  uint64_t at, uint64_t tail, uint64_t state) {
    const uint64_t x0 = _pext_u64(tamis_i_dynamic_window(q, bucket, 8 * n), keep.w[0]);
    const uint64_t x1 = _pext_u64(tamis_i_dynamic_window(q, bucket, 8 * n + 64), keep.w[1]);
    const uint64_t ones = (uint64_t)__builtin_popcountll(keep.w[0]);
    /* If the first word gives no bits, the second gives none either. */
    const tamis_i_two cut = {{x0 | x1 << 1 << ((ones - 1) & 63), x1 >> (-ones & 63)}};
    const tamis_i_two low = tamis_i_two_below(cut, at);
    const tamis_i_two high = tamis_i_two_up(tamis_i_two_xor(cut, low), tail);
    const tamis_i_two new =
        tamis_i_two_far_up((tamis_i_two){{fingerprint << 8 >> (64 - tail), 0}}, at);
    const tamis_i_two tails = tamis_i_two_or(tamis_i_two_or(low, high), new);

    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i here = _mm_set1_epi8((char)place);
    const __m128i from = _mm_or_si128(_mm_add_epi8(places, _mm_cmpgt_epi8(places, here)),
                                      _mm_cmpgt_epi8(places, _mm_set1_epi8((char)n)));
    const __m128i old = _mm_loadu_si128((const __m128i *)(const void *)bucket);
    const __m128i heads =
        _mm_blendv_epi8(_mm_shuffle_epi8(old, from), _mm_set1_epi8((char)(fingerprint >> 56)),
                        _mm_cmpeq_epi8(places, here));
    tamis_i_dynamic_write_x86(q, bucket, heads, n + 1, tails, state);
}

/* Like tamis_i_dynamic_add with the whole fingerprint, for one key; there is room. */
void tamis_i_dynamic_add_any_x86(const tamis_i_dynamic_bucket *layout, unsigned char *bucket,
                                 uint64_t fingerprint);

/* The same for a bucket of n elements. */
TAMIS_I_DYNAMIC_AVX2 void tamis_i_dynamic_add_x86(const tamis_i_dynamic_bucket *layout,
                                                  const tamis_i_dynamic_quick *q,
                                                  unsigned char *bucket, uint64_t n,
                                                  uint64_t fingerprint) {
    const tamis_i_dynamic_step *const step = &layout->steps[n];
    if (tamis_i_dynamic_quick_state(q, bucket) == step->from)
        tamis_i_dynamic_put_x86(q, bucket, fingerprint, n,
                                (tamis_i_two){{step->keep[0], step->keep[1]}}, step->place,
                                step->at, step->tail, step->to);
    else
        tamis_i_dynamic_add_any_x86(layout, bucket, fingerprint);
}

/* Like tamis_i_dynamic_drop. */
TAMIS_I_DYNAMIC_AVX2 void tamis_i_dynamic_drop_x86(const tamis_i_dynamic_quick *q,
                                                   unsigned char *bucket, uint64_t i) {
    const tamis_i_dynamic_told t = tamis_i_dynamic_quick_told(q, bucket);
    const uint64_t in_b = i >= t.n_a, before = in_b ? t.n_a : i, tail = in_b ? t.tail_b : t.tail_a;
    const uint64_t at = before * t.tail_a + (i - before) * t.tail_b;
    const uint64_t end = 8 * (q->last + 8 - t.n) - TAMIS_I_DYNAMIC_STATE_2; /* zeros come before */
    const tamis_i_two all =
        tamis_i_two_below((tamis_i_two){{tamis_i_dynamic_window(q, bucket, 8 * t.n),
                                         tamis_i_dynamic_window(q, bucket, 8 * t.n + 64)}},
                          end);
    const tamis_i_two low = tamis_i_two_below(all, at), moved = tamis_i_two_down(all, tail);
    const tamis_i_two tails =
        tamis_i_two_or(low, tamis_i_two_xor(moved, tamis_i_two_below(moved, at)));

    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i here = _mm_set1_epi8((char)((int)i - 1));
    const __m128i from = _mm_or_si128(_mm_sub_epi8(places, _mm_cmpgt_epi8(places, here)),
                                      _mm_cmpgt_epi8(places, _mm_set1_epi8((char)((int)t.n - 2))));
    const __m128i heads =
        _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)bucket), from);
    /* One less in the group, and no length if it is now empty.  Without branches on the group. */
    const uint64_t state = tamis_i_dynamic_quick_state(q, bucket), number = 4 * in_b;
    const uint64_t alone = (state >> number & 15) == 1;
    const uint64_t less = (state - ((uint64_t)1 << number)) & ~(31 * alone << (8 + number + in_b));
    tamis_i_dynamic_write_x86(q, bucket, heads, t.n - 1, tails, less);
}

#endif
