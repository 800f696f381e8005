/* permute.h - invertible permutations of [0, size)
 *
 * x -> a x + c  mod size, with a and size coprime.  For a power of two any odd a will do and the
 * reduction is a mask; for any other size the remainder is found without division by Shoup's method:
 * with a' = floor(a 2^64 / size), prepared once,
 *
 *      q = high word of (a' x),   r = a x - q size,   and 0 <= r < 2 size,
 *
 * so that one subtraction finishes.  This needs size < 2^63.  The inverse has the same form, with the
 * inverse of a.
 *
 * Where a permuted number is split into a bucket and a remainder, take the bucket from the HIGH part:
 * the low bits of a x depend on the low bits of x alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_PERMUTE_H
#define TAMIS_HASH_PERMUTE_H

#include "hash/hash.h"

#define TAMIS_I_PERMUTE_MAX ((uint64_t)1 << 62)

typedef struct tamis_i_permutation {
    uint64_t size;
    uint64_t factor, factor_shoup;   /* a, and floor(a 2^64 / size) */
    uint64_t inverse, inverse_shoup; /* the same for 1/a */
    uint64_t offset;                 /* c */
} tamis_i_permutation;

/* Prepare permutation number 'which' of [0, size) for 'seed'; the same three numbers always give the
 * same permutation.  1 <= size <= 2^62, else TAMIS_E_ARGUMENT. */
tamis_status tamis_i_permute_init(tamis_i_permutation *p, uint64_t size, uint64_t seed,
                                  unsigned which);

static inline uint64_t tamis_i_permute_mul(uint64_t x, uint64_t factor, uint64_t shoup,
                                           uint64_t size) {
    const uint64_t q = tamis_i_mulhi(x, shoup);
    const uint64_t r = x * factor - q * size;
    return r >= size ? r - size : r;
}

/* The image of x; x < size. */
static inline uint64_t tamis_i_permute(const tamis_i_permutation *p, uint64_t x) {
    const uint64_t y = tamis_i_permute_mul(x, p->factor, p->factor_shoup, p->size) + p->offset;
    return y >= p->size ? y - p->size : y;
}

/* The x whose image is y; y < size. */
static inline uint64_t tamis_i_permute_back(const tamis_i_permutation *p, uint64_t y) {
    const uint64_t z = y >= p->offset ? y - p->offset : y + p->size - p->offset;
    return tamis_i_permute_mul(z, p->inverse, p->inverse_shoup, p->size);
}

#endif
