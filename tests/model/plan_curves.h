/* plan_curves.h - the rows of src/plan/quick_tables.h, from the models
 *
 * For a rate 2^-bits and each number of hashes: the most keys per block that err no more often, by
 * bisection. The best number is the one with the most, half a step further.  Then the same shape is solved
 * for rates above it, up to the next row, and the power of the rate that is below all of them taken.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_PLAN_CURVES_H
#define TAMIS_TESTS_PLAN_CURVES_H

#include "plan/quick.h"
#include "tamis/model.h"

#include <math.h>
#include <stdbool.h>

#define CURVE_SHAVE 0.9995 /* for what is between the rates that are looked at */
#define CURVE_FIRST 1
#define CURVE_ROWS  121u

typedef struct curve_shape {
    unsigned hashes, lanes;
} curve_shape;

/* The error rate with so many keys per block; 1 where there is none. */
static inline double curve_rate(curve_shape s, double load) {
    double fpr = 1;
    if (s.lanes != 0)
        return tamis_model_blocked_lanes(s.lanes, 512 / s.lanes, load, &fpr) == TAMIS_OK ? fpr : 1;
    return tamis_model_blocked(512, load, s.hashes, &fpr) == TAMIS_OK ? fpr : 1;
}

/* The most keys per block at this rate. */
static inline double curve_load(curve_shape s, double fpr) {
    double low = 0.01, high = 1000;
    while (high - low > 1e-9 * low) {
        const double middle = (low + high) / 2;
        if (curve_rate(s, middle) <= fpr)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The best shape for 2^-bits: in the middle of its step. */
static inline curve_shape curve_best(double bits) {
    curve_shape best = {8, 8};
    double most = 0;
    if (bits > 6.5 && bits <= 10.5) /* as in plan/planners.h */
        return best;
    for (unsigned i = 1; i <= 16; i++) {
        const curve_shape s = {i, 0};
        const double load = curve_load(s, exp2(TAMIS_I_CURVE_STEP / 2 - bits));
        if (load > most) {
            most = load;
            best = s;
        }
    }
    return best;
}

/* Row i of the curve. */
static inline tamis_i_curve curve_row(unsigned i) {
    enum { PARTS = 8 };
    const double bits = CURVE_FIRST + i * TAMIS_I_CURVE_STEP, least = exp2(-bits);
    const curve_shape s = curve_best(bits);
    const double load = curve_load(s, least);
    double gain = INFINITY, end = load;
    for (unsigned j = 0; j <= PARTS; j++) { /* near the row, and then in equal steps */
        const double ratio = exp2((j == 0 ? 0.1 : j) * TAMIS_I_CURVE_STEP / PARTS);
        end = curve_load(s, least * ratio);
        gain = fmin(gain, log(end / load) / log(ratio));
    }
    const double half = curve_rate(s, load / 2), half_end = curve_rate(s, end / 2);
    return (tamis_i_curve){
        .load = floor(load * (1 - 1e-6) * 1e6) / 1e6,
        .gain = floor(gain * CURVE_SHAVE * 1e6) / 1e6,
        .half = half,
        .half_gain = log(half_end / half) / (TAMIS_I_CURVE_STEP * log(2)),
        .hashes = (uint8_t)s.hashes,
        .lanes = (uint8_t)s.lanes,
    };
}

#endif
