/* quick.c - plans of blocked-bloom by a table, in less than a microsecond
 *
 * A row of the curve is for the rate 2^-bits and for all above it up to the next row.  Within it, keys per
 * block grow with a power of the rate, which is rounded so that the promise is kept throughout.  With few
 * blocks their number is rounded up, and what is promised is less than asked for.
 *
 * The curve is computed from the models by tests/model/make_plan_curves.c, and tested against them and
 * against the search by tests/model/test_plan_quick.c: docs/planner.md.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/quick.h"
#include "plan/planners.h"
#include "plan/quick_tables.h"

#include <math.h>

#define BLOCKS_MAX 0x1p38

tamis_status tamis_i_quick_blocked_bloom(const tamis_need *need, tamis_plan *plan) {
    const double n = (double)need->n;
    const double at = ceil((-log2(need->fpr) - TAMIS_I_CURVE_BLOCKED_FIRST) / TAMIS_I_CURVE_STEP);
    if (!(at >= 0 && at < TAMIS_I_CURVE_BLOCKED_ROWS))
        return TAMIS_E_UNSUPPORTED;
    const tamis_i_curve row = tamis_i_curve_of(&tamis_i_curve_blocked[(unsigned)at]);
    const double least = exp2(-TAMIS_I_CURVE_BLOCKED_FIRST - at * TAMIS_I_CURVE_STEP);
    const double blocks = ceil(n / (row.load * pow(fmax(need->fpr / least, 1), row.gain)));
    if (!(blocks <= BLOCKS_MAX))
        return TAMIS_E_UNSUPPORTED;
    /* as if it were on the curve, at its rate; below its end that is not known */
    const double above = pow(fmax(n / blocks / row.load, 1), 1 / row.gain);
    plan->params.kind = TAMIS_KIND_BLOCKED_BLOOM;
    plan->params.value[TAMIS_BLOCKED_BLOOM_BLOCKS] = (uint64_t)blocks;
    plan->params.value[TAMIS_BLOCKED_BLOOM_HASHES] = row.hashes;
    plan->params.value[TAMIS_BLOCKED_BLOOM_LANES] = row.lanes;
    plan->overflow_probability = 0;
    plan->fpr = fmin(least * above, need->fpr);
    plan->fpr_half = fmin(row.half * pow(above, row.half_gain), plan->fpr);
    plan->lines_per_query = plan->lines_per_insert = 1;
    return TAMIS_OK;
}
