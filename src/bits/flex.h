/* flex.h - buckets whose elements shrink as they fill, and can be removed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BITS_FLEX_H
#define TAMIS_BITS_FLEX_H

#include "bits/search.h"

#define TAMIS_I_FLEX_MAX  15u /* elements of a bucket */
#define TAMIS_I_FLEX_MORE 31u /* bits of an element beyond the shortest, at most */

/* A way to divide the bits of a bucket. */
typedef struct tamis_i_flex {
    uint64_t bits;  /* of the bucket */
    uint64_t least; /* bits of the shortest element: the minimal remainder */
    uint64_t counter_bits;
    uint64_t sizes; /* 1: all elements of a bucket are equally long; 2: there are two lengths */
} tamis_i_flex;

/* An element: the first 'length' bits of a print of 64 bits, the others being zero, and how many keys it
 * stands for. */
typedef struct tamis_i_element {
    uint64_t print;
    unsigned length;
    unsigned count;
} tamis_i_element;

/* Can a bucket be divided so?  At least two of the shortest elements must fit. */
bool tamis_i_flex_ok(const tamis_i_flex *flex);

/* Elements that fit when all are as short as possible. */
unsigned tamis_i_flex_most(const tamis_i_flex *flex);

/* In the following 'words' and 'at' tell the first bit of the bucket. */

/* Elements in the bucket. */
static inline unsigned tamis_i_flex_load(const uint64_t *words, unsigned at) {
    const uint64_t numbers = tamis_i_field_get(words, at, 8);
    return (unsigned)(numbers % 16 + numbers / 16);
}

/* Is an element a prefix of 'print'? */
bool tamis_i_flex_find(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                       uint64_t print);

/* Elements that agree with 'print' in its first 'least' bits. */
unsigned tamis_i_flex_akin(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                           uint64_t print);

/* Keys, and elements, that are a prefix of 'print'. */
unsigned tamis_i_flex_copies(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                             uint64_t print, unsigned *elements);

/* Add an element for 'count' keys, of which at most the first 'length' bits of 'print' are known.
 * It and others may lose bits.  A single key joins an element that has the same bits, if its
 * counter allows it.  False, and nothing changed, if there is no room.  1 <= count <=
 * 2^counter_bits; length >= least. */
bool tamis_i_flex_add(const tamis_i_flex *flex, uint64_t *words, unsigned at, uint64_t print,
                      unsigned length, unsigned count);

/* Take one key away from the longest element that is a prefix of 'print'.  False if there is none. */
bool tamis_i_flex_remove(const tamis_i_flex *flex, uint64_t *words, unsigned at, uint64_t print);

/* The elements, in the order of the bucket; returns how many. */
unsigned tamis_i_flex_list(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                           tamis_i_element elements[TAMIS_I_FLEX_MAX]);

/* Drop element number i. */
void tamis_i_flex_drop(const tamis_i_flex *flex, uint64_t *words, unsigned at, unsigned i);

/* Could the bucket have come from these calls?  False, and why. */
bool tamis_i_flex_check(const tamis_i_flex *flex, const uint64_t *words, unsigned at,
                        const char **reason);

#endif
