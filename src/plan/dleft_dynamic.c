/* dleft_dynamic.c - plans for the dynamic d-left counting filter
 *
 * Two lengths per bucket, no counters: keys with equal elements are so rare that a bit for each is
 * better spent on its remainder.  With P bits for the elements, a bucket with a of them gives each
 * floor(P/a) bits, if it has never held more.  The error rate of these lengths follows from the
 * loads in steady change.  That some elements are shorter, because they date from when the bucket
 * was fuller, raises it by a factor that we can only measure: 1.5 to 3.05 for the shapes here,
 * after 10 and after 60 replacements of every key alike.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define SUBTABLES  3u
#define STATE_BITS 18u
#define MOST       15u /* elements of a bucket */
#define MORE       31u /* bits of an element beyond the shortest */
#define LEAST_MAX  32u
#define LOADS      32u
#define PAST       3.1
#define LOAD_MIN   1.0
#define LOAD_MAX   11.0

typedef struct shape {
    unsigned bucket_bits;
    double load;
    /* What follows from these. */
    unsigned most, least;
    double fpr, full;
} shape;

/* Room for as many elements as the mean and a few more, and the longest remainder that leaves it. */
static tamis_status predict(shape *s) {
    double fraction[SUBTABLES * LOADS], sum = 0;
    const unsigned room = s->bucket_bits - STATE_BITS;
    s->most = (unsigned)ceil(s->load + 3.25);
    s->most = s->most < MOST ? s->most : MOST;
    s->least = room / s->most < LEAST_MAX ? room / s->most : LEAST_MAX;
    tamis_status status = tamis_model_dleft_steady(SUBTABLES, s->load, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_full(SUBTABLES, LOADS, fraction, s->most, &s->full);
    if (status != TAMIS_OK)
        return status;
    for (unsigned a = 1; a < LOADS; a++) {
        const unsigned bits = a < s->most ? room / a : s->least;
        const unsigned length = bits < s->least + MORE ? bits : s->least + MORE;
        for (unsigned i = 0; i < SUBTABLES; i++)
            sum += fraction[i * LOADS + a] * a * ldexp(1, -(int)length);
    }
    s->fpr = PAST * sum;
    return TAMIS_OK;
}

/* The fullest buckets that keep the error rate.  TAMIS_E_UNSUPPORTED if none do. */
static tamis_status fullest(shape *s, double fpr) {
    double low = LOAD_MIN, high = LOAD_MAX;
    s->load = high;
    tamis_status status = predict(s);
    if (status != TAMIS_OK || s->fpr <= fpr)
        return status;
    s->load = low;
    status = predict(s);
    if (status == TAMIS_OK && s->fpr > fpr)
        return TAMIS_E_UNSUPPORTED;
    while (status == TAMIS_OK && high - low > 0.01) {
        s->load = (low + high) / 2;
        status = predict(s);
        if (s->fpr <= fpr)
            low = s->load;
        else
            high = s->load;
    }
    s->load = low;
    return status == TAMIS_OK ? predict(s) : status;
}

tamis_status tamis_i_plan_dleft_dynamic(const tamis_need *need, tamis_plan *plan) {
    static const unsigned bucket_bits[] = {128, 170, 256}; /* 4, 3 or 2 in a line */
    const double n = (double)need->n;
    double best_bits = INFINITY;
    shape best = {.load = 1};
    for (unsigned i = 0; i < sizeof bucket_bits / sizeof bucket_bits[0]; i++) {
        shape s = {.bucket_bits = bucket_bits[i]};
        const tamis_status status = fullest(&s, need->fpr);
        if (status != TAMIS_OK && status != TAMIS_E_UNSUPPORTED)
            return status;
        if (status == TAMIS_OK && s.bucket_bits / s.load < best_bits) {
            best_bits = s.bucket_bits / s.load;
            best = s;
        }
    }
    if (isinf(best_bits))
        return TAMIS_E_UNSUPPORTED;
    const double buckets = ceil(n / (best.load * SUBTABLES));
    if (buckets > 0x1p38 || ldexp(buckets, (int)best.least) > 0x1p62)
        return TAMIS_E_TOO_LARGE;
    uint64_t *const value = plan->params.value;
    plan->params.kind = TAMIS_KIND_DLEFT_DYNAMIC;
    plan->params.stash = 16 + need->n / 16384;
    value[TAMIS_DDLCBF_SUBTABLES] = SUBTABLES;
    value[TAMIS_DDLCBF_BUCKETS] = (uint64_t)buckets;
    value[TAMIS_DDLCBF_BUCKET_BITS] = best.bucket_bits;
    value[TAMIS_DDLCBF_REMAINDER_BITS] = best.least;
    value[TAMIS_DDLCBF_COUNTER_BITS] = TAMIS_NONE;
    value[TAMIS_DDLCBF_SIZES] = 2;
    value[TAMIS_DDLCBF_MOVES] = 3;
    plan->fpr = best.fpr;
    plan->lines_per_query = SUBTABLES;
    return tamis_model_poisson_tail(n * best.full, plan->params.stash, &plan->overflow_probability);
}
