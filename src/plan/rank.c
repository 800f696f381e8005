/* rank.c - plans for the rank-indexed filters
 *
 * tamis_model_rank_optimise does the search.  Here are the limits that it does not know: what a bucket may
 * cost in time, and what a table can have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/rank.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define HOMES    64u
#define OVERFLOW 1e-10 /* the paper's P_o, or less if less is asked for */

/* An insert moves half of a bucket on average, a query fetches all of it.  Four cache lines are the most;
 * without the limit the best buckets for rare errors have twice that, for 1 % less space.  Buckets of one
 * line are preferred if they cost no more than a factor WORTH: their chains are shorter, too, and a query
 * takes three quarters of the time.  A limit of lines per query makes buckets smaller still, or exactly
 * one line: those begin with a line, so that a query reads just one, but nothing is free to choose about
 * them, and they need more bits. */
#define BUCKET_BITS 2048u
#define LINE_BITS   512u
#define WORTH       1.03

/* The bits of a shape; all others need fewer if there is none. */
static double bits_of(tamis_status status, const tamis_rank_shape *s) {
    uint64_t bits;
    return status == TAMIS_OK && tamis_model_rank_bits(s, &bits) == TAMIS_OK ? (double)bits
                                                                             : INFINITY;
}

static tamis_status best_shape(const tamis_need *need, unsigned extra_bits, tamis_rank_shape *s) {
    tamis_rank_shape small;
    tamis_rank_shape_init(s);
    tamis_rank_shape_init(&small);
    /* An error rate above 1/2 saves nothing more: one bit of a fingerprint is the least. */
    const double fpr = fmin(need->fpr, 0.5);
    const double overflow = fmax(fmin(need->failure_max, OVERFLOW), 1e-30);
    /* lines_per_query turned around */
    const double most = fmin((need->lines_max - 1) * LINE_BITS + 1, BUCKET_BITS);
    tamis_status status = TAMIS_E_UNSUPPORTED;
    if (most >= 2)
        status =
            tamis_model_rank_optimise(need->n, fpr, overflow, extra_bits, HOMES, (unsigned)most, s);
    const double bits = bits_of(status, s);
    tamis_status other = TAMIS_E_UNSUPPORTED;
    if (most < LINE_BITS)
        other = tamis_i_model_rank_exact(need->n, fpr, overflow, extra_bits, LINE_BITS, &small);
    else if (most > LINE_BITS)
        other =
            tamis_model_rank_optimise(need->n, fpr, overflow, extra_bits, HOMES, LINE_BITS, &small);
    if (other == TAMIS_OK && bits_of(other, &small) <= (most > LINE_BITS ? WORTH : 1) * bits) {
        *s = small;
        status = TAMIS_OK;
    }
    return status == TAMIS_E_DOMAIN ? TAMIS_E_UNSUPPORTED : status;
}

/* The lines that a bucket spans, and that a query fetches; it begins anywhere in a line, unless all of them
 * do with one.  Its link is hardly ever needed. */
static double lines_of(const tamis_rank_shape *s) {
    const unsigned bits = s->homes + s->slots[0] * (1 + s->fp_bits + s->extra_bits);
    unsigned link = 0;
    for (uint64_t j = s->extensions[0]; j != 0; j >>= 1)
        link++;
    return bits + link == LINE_BITS ? 1 : 1 + (bits - 1.0) / LINE_BITS;
}

static tamis_status plan_rank(const tamis_need *need, unsigned extra_bits, tamis_plan *plan) {
    tamis_rank_shape s;
    tamis_status status = best_shape(need, extra_bits, &s);
    if (status == TAMIS_OK)
        status = tamis_model_rank_fpr(&s, need->n, &plan->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_rank_fpr(&s, need->n / 2 + need->n % 2, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = tamis_model_rank_overflow(&s, need->n, &plan->overflow_probability);
    if (status != TAMIS_OK)
        return status;
    uint64_t *const value = plan->params.value;
    plan->params.stash = 16 + need->n / 16384;
    value[TAMIS_RANK_BUCKETS] = s.buckets;
    value[TAMIS_RANK_HOMES] = s.homes;
    value[TAMIS_RANK_PRINT_BITS] = s.fp_bits;
    value[TAMIS_RANK_SLOTS] = s.slots[0];
    value[TAMIS_RANK_SLOTS_2] = s.slots[1];
    value[TAMIS_RANK_SLOTS_3] = s.slots[2];
    value[TAMIS_RANK_EXTENSIONS_2] = s.extensions[0];
    value[TAMIS_RANK_EXTENSIONS_3] = s.extensions[1];
    plan->lines_per_query = plan->lines_per_insert = lines_of(&s);
    return TAMIS_OK;
}

tamis_status tamis_i_plan_rank(const tamis_need *need, tamis_plan *plan) {
    plan->params.kind = TAMIS_KIND_RANK;
    plan->params.value[TAMIS_RANK_VALUE_BITS] = need->value_bits;
    return plan_rank(need, need->value_bits, plan);
}

tamis_status tamis_i_plan_rank_counting(const tamis_need *need, tamis_plan *plan) {
    plan->params.kind = TAMIS_KIND_RANK_COUNTING;
    plan->params.value[TAMIS_RANK_COUNTER_BITS] = tamis_i_plan_counter_bits(need);
    return plan_rank(need, tamis_i_plan_counter_bits(need), plan);
}
