/* search.c - finding a value among bit fields that lie side by side
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/search.h"

/* floor((2^64 - 1) / (2^w - 1)) has ones w bits apart down from bit 64 - w; shifted, down to bit 0. */
#define ONES(w) (~(uint64_t)0 / (~(uint64_t)0 >> (64 - (w))) >> 64 % (w))
#define EIGHT(w)                                                                                   \
    ONES(w), ONES((w) + 1), ONES((w) + 2), ONES((w) + 3), ONES((w) + 4), ONES((w) + 5),            \
        ONES((w) + 6), ONES((w) + 7)

const uint64_t tamis_i_repeat[65] = {0,         EIGHT(1),  EIGHT(9),  EIGHT(17), EIGHT(25),
                                     EIGHT(33), EIGHT(41), EIGHT(49), EIGHT(57)};

#define WHOLE(w) (64 / (w) * (w))
#define WHOLE_EIGHT(w)                                                                             \
    WHOLE(w), WHOLE((w) + 1), WHOLE((w) + 2), WHOLE((w) + 3), WHOLE((w) + 4), WHOLE((w) + 5),      \
        WHOLE((w) + 6), WHOLE((w) + 7)

const uint8_t tamis_i_whole[65] = {0,
                                   WHOLE_EIGHT(1),
                                   WHOLE_EIGHT(9),
                                   WHOLE_EIGHT(17),
                                   WHOLE_EIGHT(25),
                                   WHOLE_EIGHT(33),
                                   WHOLE_EIGHT(41),
                                   WHOLE_EIGHT(49),
                                   WHOLE_EIGHT(57)};

unsigned tamis_i_fields_next(const uint64_t *words, unsigned at, unsigned width, unsigned from,
                             unsigned n, uint64_t value) {
    const tamis_i_fields fields = tamis_i_fields_of(width);
    const unsigned per_step = (unsigned)fields.step / width;
    for (unsigned i = from; i < n; i += per_step) {
        const unsigned now = n - i < per_step ? n - i : per_step;
        const uint64_t hits =
            tamis_i_fields_match(&fields, words, at + i * width, now * width, value);
        if (hits != 0)
            return i + (unsigned)__builtin_ctzll(hits) / width;
    }
    return n;
}

/* Like a match of whole fields, with the other bits of x cleared. */
unsigned tamis_i_fields_count_top(const uint64_t *words, unsigned at, unsigned width, unsigned n,
                                  unsigned kept, uint64_t value) {
    const tamis_i_fields fields = tamis_i_fields_of(width);
    const uint64_t top = (tamis_i_low_mask(kept) << (width - kept)) * fields.ones;
    unsigned count = 0;
    for (unsigned bits = n * width, now; bits != 0; bits -= now, at += now) {
        now = bits < fields.step ? bits : (unsigned)fields.step;
        const uint64_t x = (tamis_i_field_get(words, at, now) ^ value * fields.ones) & top;
        uint64_t hits =
            ~(((x & fields.low) + fields.low) | x) & fields.high & tamis_i_low_mask(now);
        for (; hits != 0; hits &= hits - 1)
            count++;
    }
    return count;
}
