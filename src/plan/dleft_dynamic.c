/* dleft_dynamic.c - plans for the dynamic d-left counting filter
 *
 * Two lengths per bucket, no counters: keys with equal elements are so rare that a bit for each is
 * better spent on its remainder.  Lengths only shrink, so the error rate depends on the history of a
 * bucket: tamis_model_ddlcbf_two.  That model takes up to half a second, hence a table of it: loads in
 * steps of 1/16, for filters that are only filled and for those whose keys have all been replaced many
 * times.  Elements of one bucket get shorter while keys come and go, and the rate becomes 2 to 100
 * times that of the filled table.  It is steady after ten replacements.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/dleft_tables.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define SUBTABLES  3u
#define STATE_BITS 18u
#define MORE       31u /* bits of an element beyond the shortest */
#define LONGEST    56u
#define LOADS      32u

typedef struct shape {
    unsigned bucket_bits;
    double load, fpr;
} shape;

/* The fullest buckets of a size that keep the error rate; load 0 if none do. */
static shape plan_dynamic_fullest(const tamis_i_dynamic_table *t, const tamis_need *need) {
    const uint16_t *const rate = need->deletes ? t->replaced : t->filled;
    shape best = {.bucket_bits = t->bits};
    for (unsigned i = 0; i < TAMIS_I_DYNAMIC_LOADS; i++) {
        const double fpr = exp2(-rate[i] / TAMIS_I_TABLE_UNIT);
        if (fpr <= need->fpr) {
            best.load = tamis_i_dynamic_table_load(i);
            best.fpr = fpr;
        }
    }
    return best;
}

/* The rate with half the keys, if none was ever removed: the room is shared evenly. */
static tamis_status plan_dynamic_half(const shape *s, unsigned least, double *fpr) {
    double fraction[SUBTABLES * LOADS], sum = 0;
    const unsigned room = s->bucket_bits - STATE_BITS;
    const unsigned longest = least + MORE < LONGEST ? least + MORE : LONGEST;
    const tamis_status status = tamis_model_dleft_inserted(SUBTABLES, s->load / 2, LOADS, fraction);
    if (status != TAMIS_OK)
        return status;
    for (unsigned a = 1; a < LOADS; a++) {
        const unsigned even = room / a < longest ? room / a : longest;
        for (unsigned i = 0; i < SUBTABLES; i++)
            sum += fraction[i * LOADS + a] * a * ldexp(1, -(int)even);
    }
    *fpr = fmin(sum, s->fpr);
    return TAMIS_OK;
}

tamis_status tamis_i_plan_dleft_dynamic(const tamis_need *need, tamis_plan *plan) {
    const double n = (double)need->n;
    double best_bits = INFINITY, full, fraction[SUBTABLES * LOADS];
    shape best = {.load = 0};
    for (unsigned i = 0; i < TAMIS_I_DYNAMIC_TABLES; i++) {
        const shape s = plan_dynamic_fullest(&tamis_i_dynamic_tables[i], need);
        if (s.load > 0 && s.bucket_bits / s.load < best_bits) {
            best_bits = s.bucket_bits / s.load;
            best = s;
        }
    }
    if (isinf(best_bits))
        return TAMIS_E_UNSUPPORTED;
    const unsigned most = tamis_i_dynamic_most(best.load);
    const unsigned least = tamis_i_dynamic_least(best.bucket_bits - STATE_BITS, most);
    const double n_buckets = ceil(n / (best.load * SUBTABLES));
    if (n_buckets > 0x1p38 || ldexp(n_buckets, (int)least) > 0x1p62)
        return TAMIS_E_TOO_LARGE;
    uint64_t *const value = plan->params.value;
    plan->params.kind = TAMIS_KIND_DLEFT_DYNAMIC;
    value[TAMIS_DLEFT_DYNAMIC_SUBTABLES] = SUBTABLES;
    value[TAMIS_DLEFT_DYNAMIC_BUCKETS] = (uint64_t)n_buckets;
    value[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS] = best.bucket_bits;
    value[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS] = least;
    value[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] = TAMIS_NONE;
    value[TAMIS_DLEFT_DYNAMIC_SIZES] = 2;
    value[TAMIS_DLEFT_DYNAMIC_MOVES] = 3;
    plan->fpr = best.fpr;
    plan->lines_per_query = plan->lines_per_insert = SUBTABLES;
    /* If keys are removed: after half of the elements have gone again, since none has become longer.
     * While the filter fills they are longer, and the rate is lower. */
    plan->fpr_half = best.fpr / 2;
    tamis_status status =
        need->deletes ? TAMIS_OK : plan_dynamic_half(&best, least, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_steady(SUBTABLES, best.load, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_full(SUBTABLES, LOADS, fraction, most, &full);
    if (status != TAMIS_OK)
        return status;
    return tamis_i_plan_stash(need, n * full, plan);
}
