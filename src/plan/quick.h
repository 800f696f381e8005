/* quick.h - a curve: how many keys a block of a blocked-bloom may hold
 *
 * The error rate depends on the parameters of a block and on the keys per block, and not on the number of
 * blocks.  The curve has a row for each 2^-bits, in steps of an eighth of a bit: the best parameters there,
 * and how many keys per block they allow.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_QUICK_H
#define TAMIS_PLAN_QUICK_H

#include <stdint.h>

#define TAMIS_I_CURVE_STEP 0.125 /* of bits, from row to row */

/* At p from 2^-bits of the row up to a step more, 'load' (p 2^bits)^gain keys per block err no more
 * often than p.  Half as many err half (p 2^bits)^half_gain times. */
typedef struct tamis_i_curve {
    double load, gain, half, half_gain;
    uint8_t hashes, lanes;
} tamis_i_curve;

/* A row as it is stored, in decimals that a double has exactly: a third of the bytes, which count in a
 * browser. */
typedef struct tamis_i_curve_row {
    uint32_t load, gain; /* millionths */
    float half;
    uint16_t half_gain; /* ten-thousandths */
    uint8_t hashes, lanes;
} tamis_i_curve_row;

static inline tamis_i_curve tamis_i_curve_of(const tamis_i_curve_row *row) {
    return (tamis_i_curve){row->load / 1e6,      row->gain / 1e6, (double)row->half,
                           row->half_gain / 1e4, row->hashes,     row->lanes};
}

#endif
