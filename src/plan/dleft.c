/* dleft.c - plans for the d-left filter
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/shrink.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define SUBTABLES 3u
#define LOADS     14u /* told apart by the model: more than any bucket holds */

/* A bucket size, and how full it may be on average: loads at which buckets overflow once in 10^9 keys or
 * less, so that the stash stays empty. */
typedef struct bucket {
    uint64_t bits;
    double load_min, load_max;
} bucket;

static const bucket buckets[2] = {{64, 0.25, 4.5}, {128, 0.25, 8.5}};

/* Error rate, and the odds that a key finds all its buckets full, at a mean load. */
static tamis_status predict(const bucket *b, double load, double *fpr, double *full) {
    const tamis_i_shrink *const layout = tamis_i_shrink_layout(b->bits, 1);
    const unsigned most = tamis_i_shrink_load_max(layout);
    unsigned bits[LOADS] = {0};
    double fraction[SUBTABLES * LOADS];
    for (unsigned i = 0; i < LOADS; i++) /* a full bucket takes no more: its keys go to the stash */
        bits[i] = tamis_i_shrink_bits_alone(layout, i < most ? i : most);
    tamis_status status = tamis_model_dleft_inserted(SUBTABLES, load, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_fpr(SUBTABLES, LOADS, fraction, bits, fpr);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_full(SUBTABLES, LOADS, fraction, most, full);
    return status;
}

/* The largest mean load that keeps the error rate: the logarithm of the rate is nearly straight in the
 * load, so that the secant between a load that keeps it and one that does not closes in fast. */
static tamis_status fullest(const bucket *b, double wanted, double *load, double *fpr,
                            double *full) {
    double low = b->load_min, high = b->load_max, low_fpr, low_full, high_fpr, high_full;
    tamis_status status = predict(b, high, &high_fpr, &high_full);
    if (status != TAMIS_OK)
        return status;
    if (high_fpr <= wanted) {
        *load = high, *fpr = high_fpr, *full = high_full;
        return TAMIS_OK;
    }
    status = predict(b, low, &low_fpr, &low_full);
    if (status != TAMIS_OK)
        return status;
    if (low_fpr > wanted)
        return TAMIS_E_UNSUPPORTED;
    for (unsigned i = 0; i < 24 && high - low > 0.002 * low; i++) {
        const double part = log(wanted / low_fpr) / log(high_fpr / low_fpr);
        /* Every other step halves, so that both ends move. */
        const double at = low + (high - low) * (i % 2 == 1 ? 0.5 : fmin(fmax(part, 0.05), 0.95));
        double at_fpr, at_full;
        status = predict(b, at, &at_fpr, &at_full);
        if (status != TAMIS_OK)
            return status;
        if (at_fpr <= wanted)
            low = at, low_fpr = at_fpr, low_full = at_full;
        else
            high = at, high_fpr = at_fpr;
    }
    *load = low, *fpr = low_fpr, *full = low_full;
    return TAMIS_OK;
}

tamis_status tamis_i_plan_dleft(const tamis_need *need, tamis_plan *plan) {
    double best_bits = INFINITY;
    for (unsigned i = 0; i < sizeof buckets / sizeof buckets[0]; i++) {
        const bucket *const b = &buckets[i];
        double load, fpr, full;
        tamis_status status = fullest(b, need->fpr, &load, &fpr, &full);
        if (status == TAMIS_E_UNSUPPORTED ||
            (status == TAMIS_OK && (double)b->bits / load >= best_bits))
            continue;
        if (status != TAMIS_OK)
            return status;
        best_bits = (double)b->bits / load;
        plan->params.kind = TAMIS_KIND_DLEFT;
        plan->params.stash = 16 + need->n / 16384;
        plan->params.value[TAMIS_DLEFT_BUCKET_BITS] = b->bits;
        /* Built from all keys at once, two choices are better than three online: the prediction is an
         * upper bound then (tests/unit/test_build.c). */
        const unsigned subtables = need->offline ? 2 : SUBTABLES;
        plan->params.value[TAMIS_DLEFT_SUBTABLES] = subtables;
        plan->params.value[TAMIS_DLEFT_BUCKETS] =
            (uint64_t)ceil((double)need->n / (load * subtables));
        plan->params.value[TAMIS_DLEFT_GROUP] = 1;
        plan->fpr = fpr;
        plan->lines_per_query = subtables;
        status = tamis_model_poisson_tail((double)need->n * full, plan->params.stash,
                                          &plan->overflow_probability);
        if (status != TAMIS_OK)
            return status;
    }
    return isinf(best_bits) ? TAMIS_E_UNSUPPORTED : TAMIS_OK;
}
