/* quick.c - plans by tables: kinds made of lines and blocks, in less than a microsecond
 *
 * A row of a curve is for the rate 2^-bits and for all above it up to the next row.  Within it, keys per line
 * grow with a power of the rate, which is rounded so that the promise is kept throughout.  With few lines
 * their number is rounded up, and what is promised is less than asked for.
 *
 * The curves are computed from the models by tests/model/make_plan_curves.c, and tested against them and
 * against the search by tests/model/test_plan_quick.c: docs/planner.md.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/quick.h"
#include "plan/planners.h"
#include "plan/quick_tables.h"

#include <math.h>

#define LINES_MAX 0x1p38

/* A place on a curve. */
typedef struct place {
    tamis_i_curve row;
    double lines, fpr, half;
} place;

static bool quick_find(const tamis_i_curve_row *curve, unsigned rows, double first, double n,
                       double fpr, place *p) {
    const double at = ceil((-log2(fpr) - first) / TAMIS_I_CURVE_STEP);
    if (!(at >= 0 && at < rows))
        return false;
    const tamis_i_curve row = tamis_i_curve_of(&curve[(unsigned)at]);
    const double least = exp2(-first - at * TAMIS_I_CURVE_STEP);
    p->row = row;
    p->lines = ceil(n / (row.load * pow(fmax(fpr / least, 1), row.gain)));
    /* as if it were on the curve, at its rate; below its end that is not known */
    const double above = pow(fmax(n / p->lines / row.load, 1), 1 / row.gain);
    p->fpr = fmin(least * above, fpr);
    p->half = row.half * pow(above, row.half_gain);
    return p->lines <= LINES_MAX;
}

static void quick_promise(const place *p, tamis_plan *plan) {
    plan->fpr = p->fpr;
    plan->fpr_half = fmin(p->half, p->fpr);
    plan->lines_per_query = p->row.query;
    plan->lines_per_insert = p->row.insert;
}

tamis_status tamis_i_quick_blocked_bloom(const tamis_need *need, tamis_plan *plan) {
    place p;
    if (!quick_find(tamis_i_curve_blocked, TAMIS_I_CURVE_BLOCKED_ROWS, TAMIS_I_CURVE_BLOCKED_FIRST,
                    (double)need->n, need->fpr, &p))
        return TAMIS_E_UNSUPPORTED;
    plan->params.kind = TAMIS_KIND_BLOCKED_BLOOM;
    plan->params.value[TAMIS_BLOCKED_BLOOM_BLOCKS] = (uint64_t)p.lines;
    plan->params.value[TAMIS_BLOCKED_BLOOM_HASHES] = p.row.of;
    plan->params.value[TAMIS_BLOCKED_BLOOM_LANES] = p.row.cap;
    plan->overflow_probability = 0;
    quick_promise(&p, plan);
    return TAMIS_OK;
}
