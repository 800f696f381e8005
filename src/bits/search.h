/* search.h - finding a value among bit fields that lie side by side
 *
 * As many fields as fit in 64 bits are compared at once.  A multiplication repeats the wanted value; a
 * field of x = stored ^ repeated is zero where they agree.  With H the highest bits and L the other
 * bits of all fields, ((x & L) + L) | x has the highest bit clear exactly where the field is zero: no
 * carry goes from field to field.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_SEARCH_H
#define TAMIS_BITS_SEARCH_H

#include "bits/field.h"

/* Ones at multiples of the width, as many as there are whole fields in a word; by width, 1 to 64. */
extern const uint64_t tamis_i_repeat[65];

/* Bits of all these fields: a table, because a division would take longer than the search. */
extern const uint8_t tamis_i_whole[65];

/* The fields of one width. */
typedef struct tamis_i_fields {
    uint64_t ones; /* the lowest bit of each */
    uint64_t high; /* the highest bit of each */
    uint64_t low;  /* the other bits of each */
    uint64_t step; /* bits of all of them */
} tamis_i_fields;

static inline tamis_i_fields tamis_i_fields_of(unsigned width) {
    const uint64_t ones = tamis_i_repeat[width], high = ones << (width - 1);
    return (tamis_i_fields){
        .ones = ones, .high = high, .low = high - ones, .step = tamis_i_whole[width]};
}

/* The highest bit of each field equal to 'value' among the 'width' bits from 'at' on.  'width' is a
 * multiple of the width of the fields, and at most their step. */
static inline uint64_t tamis_i_fields_match(const tamis_i_fields *fields, const uint64_t *words,
                                            unsigned at, unsigned width, uint64_t value) {
    /* Reads the second word only if it is needed, without a branch; otherwise reads the first one again. */
    const unsigned shift = at % 64;
    const uint64_t *const first = words + at / 64, *const next = first + (shift + width > 64);
    const uint64_t window = *first >> shift | *next << 1 << (63 - shift);
    const uint64_t x = window ^ value * fields->ones;
    return ~(((x & fields->low) + fields->low) | x) & fields->high & tamis_i_low_mask(width);
}

/* Does one of the fields in the 'bits' bits from 'at' on equal 'value'? */
static inline bool tamis_i_fields_find(const tamis_i_fields *fields, const uint64_t *words,
                                       unsigned at, unsigned bits, uint64_t value) {
    const unsigned step = (unsigned)fields->step;
    uint64_t hits = 0;
    for (; bits > step; bits -= step, at += step)
        hits |= tamis_i_fields_match(fields, words, at, step, value);
    return bits != 0 && (hits | tamis_i_fields_match(fields, words, at, bits, value)) != 0;
}

/* The number of the first field that equals 'value', from number 'from' on, among the 'n' fields of
 * 'width' bits that begin at 'at'; n if there is none. */
unsigned tamis_i_fields_next(const uint64_t *words, unsigned at, unsigned width, unsigned from,
                             unsigned n, uint64_t value);

/* How many of the n fields of 'width' bits that begin at 'at' agree with 'value' in their first
 * 'kept' bits; 1 <= kept <= width. */
unsigned tamis_i_fields_count_top(const uint64_t *words, unsigned at, unsigned width, unsigned n,
                                  unsigned kept, uint64_t value);

#endif
