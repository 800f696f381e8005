/* heads.c - finding a fingerprint in a bucket by the first bits of all its elements
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/heads.h"

tamis_i_heads tamis_i_heads_of(uint64_t n, uint64_t least, uint64_t bucket_bits) {
    const uint64_t bits = least < 8 ? least : 8;
    return (tamis_i_heads){.n = n,
                           .bits = bits,
                           .vectors = bits == 8 && bucket_bits >= 128 && bucket_bits % 8 == 0,
                           .places = (((uint64_t)1 << n) - 1) * 0x0001000100010001u,
                           .fields = tamis_i_fields_of((unsigned)bits)};
}

unsigned tamis_i_heads_match(const tamis_i_heads *heads, const uint64_t *words, unsigned at,
                             uint64_t head) {
    const unsigned bits = (unsigned)heads->bits, step = (unsigned)heads->fields.step;
    unsigned left = (unsigned)heads->n * bits, first = 0, hits = 0;
    for (unsigned now; left != 0; left -= now, at += now, first += step) {
        now = left < step ? left : step;
        uint64_t high = tamis_i_fields_match(&heads->fields, words, at, now, head);
        for (; high != 0; high &= high - 1)
            hits |= 1u << (first + (unsigned)__builtin_ctzll(high)) / bits;
    }
    return hits;
}

uint64_t tamis_i_heads_find(const tamis_i_heads *heads, const tamis_i_probe *probe, unsigned d) {
    uint64_t hits = 0;
    for (unsigned j = 0; j < d; j++)
        hits |= (uint64_t)tamis_i_heads_match(heads, probe->at[j], (unsigned)probe->word[1 + j],
                                              probe->word[TAMIS_I_HEAD])
                << 16 * j;
    return hits;
}
