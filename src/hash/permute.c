/* permute.c - how a permutation is drawn
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/permute.h"

/* floor(a 2^64 / size); a < size. */
static uint64_t shoup_of(uint64_t a, uint64_t size) {
    return (uint64_t)(((tamis_i_u128)a << 64) / size);
}

/* 1/a mod size by the extended Euclidean algorithm, or 0 if there is none.  The coefficients stay
 * below size in magnitude, so that signed 64-bit numbers hold them. */
static uint64_t inverse_of(uint64_t a, uint64_t size) {
    int64_t s0 = 0, s1 = 1;
    uint64_t r0 = size, r1 = a;
    while (r1 != 0) {
        const uint64_t q = r0 / r1;
        const uint64_t r2 = r0 - q * r1;
        const int64_t s2 = s0 - (int64_t)q * s1;
        r0 = r1, r1 = r2;
        s0 = s1, s1 = s2;
    }
    if (r0 != 1)
        return 0;
    return s0 < 0 ? size - (uint64_t)-s0 : (uint64_t)s0;
}

tamis_status tamis_i_permute_init(tamis_i_permutation *p, uint64_t size, uint64_t seed,
                                  unsigned which) {
    if (size < 1 || size > TAMIS_I_PERMUTE_MAX)
        return TAMIS_E_ARGUMENT;
    memset(p, 0, sizeof *p);
    p->size = size;
    if (size == 1) /* the only permutation: 0 -> 0; its factor and inverse are 0 mod 1 */
        return TAMIS_OK;
    uint64_t stream = tamis_i_mix(seed + 0x9e3779b97f4a7c15u * (which + 1));
    p->offset = tamis_i_range(tamis_i_mix(stream ^ 0x5851f42d4c957f2du), size);
    /* A random number is coprime to size with probability above 1/(5 log log size): a few draws.  1 is
     * always coprime, so that the search ends also in the worst case. */
    for (unsigned tries = 0; tries < 4096; tries++) {
        stream = tamis_i_mix(stream + 0x9e3779b97f4a7c15u);
        p->factor = 1 + tamis_i_range(stream, size - 1);
        p->inverse = inverse_of(p->factor, size);
        if (p->inverse != 0)
            break;
        p->factor = p->inverse = 1;
    }
    p->factor_shoup = shoup_of(p->factor, size);
    p->inverse_shoup = shoup_of(p->inverse, size);
    return TAMIS_OK;
}
