/* dleft.c - plans for the d-left filter
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/dleft_bucket.h"
#include "plan/dleft_tables.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>
#include <stdbool.h>

#define SUBTABLES 3u
#define LOADS     14u /* loads of the model: more than any bucket holds */

/* A bucket size, and -log2 of its error rate at mean loads of 0.25, 0.5, 0.75, ...: where the search
 * begins.  The model takes milliseconds, so it is asked as seldom as possible.  But the promise is what
 * the model says, never a number from here.  At the last load buckets overflow once in 10^9 keys or
 * less, so the stash stays empty. */
typedef struct bucket {
    uint64_t bits;
    unsigned n;
    float rate[34];
} bucket;

#define STEP 0.25

static const bucket buckets[2] = {
    {64,
     18,
     {40.90f, 34.62f, 31.69f, 29.90f, 26.61f, 23.08f, 20.79f, 19.34f, 18.29f, 17.12f, 15.80f,
      14.68f, 13.81f, 12.97f, 12.02f, 11.13f, 10.38f, 9.61f}},
    {128, 34, {62.41f, 61.38f, 60.59f, 54.26f, 47.91f, 44.11f, 41.80f, 40.14f, 36.89f,
               33.53f, 31.33f, 29.89f, 28.60f, 26.68f, 24.84f, 23.52f, 22.56f, 21.69f,
               20.73f, 19.85f, 19.11f, 18.35f, 17.46f, 16.61f, 15.88f, 15.13f, 14.25f,
               13.40f, 12.70f, 12.08f, 11.46f, 10.85f, 10.32f, 9.88f}}};

/* The mean load at which the table has this rate, and how much -log2 falls per load there; 0 if it has
 * no such rate. */
static double plan_dleft_table_load(const bucket *b, double rate, double *slope) {
    unsigned i = b->n - 1;
    if (rate <= (double)b->rate[i]) {
        *slope = (double)(b->rate[i - 1] - b->rate[i]) / STEP;
        return STEP * (i + 1);
    }
    while (i > 0 && (double)b->rate[i - 1] < rate)
        i--;
    if (i == 0)
        return 0;
    *slope = (double)(b->rate[i - 1] - b->rate[i]) / STEP;
    return STEP * i + ((double)b->rate[i - 1] - rate) / *slope;
}

/* Error rate, and the odds that a key finds all its buckets full, at a mean load. */
static tamis_status plan_dleft_predict(const bucket *b, double load, double *fpr, double *full) {
    const tamis_i_dleft_bucket *const layout = tamis_i_dleft_bucket_layout(b->bits, 1, false);
    const unsigned most = tamis_i_dleft_bucket_load_max(layout);
    unsigned bits[LOADS] = {0};
    double fraction[SUBTABLES * LOADS];
    for (unsigned i = 0; i < LOADS; i++) /* keys of a full bucket go to the stash */
        bits[i] = tamis_i_dleft_bucket_bits_alone(layout, i < most ? i : most);
    tamis_status status = tamis_model_dleft_inserted(SUBTABLES, load, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_fpr(SUBTABLES, LOADS, fraction, bits, fpr);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_full(SUBTABLES, LOADS, fraction, most, full);
    return status;
}

/* A mean load that keeps the error rate, within a percent or so of the largest: from the table,
 * corrected by the model.  TAMIS_E_UNSUPPORTED if the bucket cannot keep it. */
static tamis_status plan_dleft_fullest(const bucket *b, double wanted, double *load, double *fpr,
                                       double *full) {
    const double rate = -log2(wanted), most = STEP * b->n;
    double slope = 1, at = plan_dleft_table_load(b, rate, &slope);
    bool found = false;
    for (unsigned i = 0; i < 12 && at >= STEP; i++) {
        double at_fpr, at_full;
        const tamis_status status = plan_dleft_predict(b, at, &at_fpr, &at_full);
        if (status != TAMIS_OK)
            return status;
        const double room = -log2(at_fpr) - rate; /* bits better than wanted */
        if (room >= 0 && (!found || at > *load)) {
            *load = at, *fpr = at_fpr, *full = at_full;
            found = true;
        }
        if (room >= 0 && (room < 0.03 || at >= most || i >= 3))
            break;
        if (room < 0 && found)
            break;
        at = fmin(at + (room - 0.01 * (i + 1)) / slope, most);
    }
    return found ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

/* The same for filters that are built from all keys at once, with two subtables: from a table of
 * tamis_model_dleft_balanced for ten passes with random ties, and MARGIN for what the model
 * neglects.  Buckets that are emptier than its first load are planned as for online filling, which
 * is an upper bound. */
#define MARGIN 1.01
#define FEW    64u /* a table of few buckets balances less well: it gets one more per subtable */
/* Loads up to here leave room for a tenth more keys, added one by one after the set was built. */
#define OFFLINE_MOST_64  4.75
#define OFFLINE_MOST_128 9.0
#define SELDOM           1e-9 /* or less: the odds that a key finds its bucket full, up to the last loads */

static tamis_status plan_dleft_fullest_offline(const bucket *b, double wanted, double *load,
                                               double *fpr, double *full) {
    const tamis_i_balanced_table *const t = &tamis_i_balanced_tables[b->bits == 128];
    const double most = b->bits == 128 ? OFFLINE_MOST_128 : OFFLINE_MOST_64;
    bool found = false;
    for (unsigned i = 0; i < t->n && tamis_i_balanced_load(i) <= most; i++) {
        const double rate = MARGIN * exp2(-t->rate[i] / TAMIS_I_TABLE_UNIT);
        if (rate <= wanted) {
            *load = tamis_i_balanced_load(i), *fpr = rate, *full = SELDOM;
            found = true;
        }
    }
    return found ? TAMIS_OK : plan_dleft_fullest(b, wanted, load, fpr, full);
}

/* One bucket size, if it takes fewer bits than the best so far. */
static tamis_status plan_dleft_plan_with(const bucket *b, const tamis_need *need, double *best_bits,
                                         tamis_plan *plan) {
    double load = 0, fpr = 0, full = 0, full_half;
    tamis_status status = need->offline
                              ? plan_dleft_fullest_offline(b, need->fpr, &load, &fpr, &full)
                              : plan_dleft_fullest(b, need->fpr, &load, &fpr, &full);
    if (status == TAMIS_E_UNSUPPORTED ||
        (status == TAMIS_OK && (double)b->bits / load >= *best_bits))
        return TAMIS_OK;
    if (status != TAMIS_OK)
        return status;
    *best_bits = (double)b->bits / load;
    plan->params.kind = TAMIS_KIND_DLEFT;
    plan->params.value[TAMIS_DLEFT_BUCKET_BITS] = b->bits;
    /* If keys can be moved, two choices are better than three online. */
    const unsigned subtables = need->offline ? 2 : SUBTABLES;
    plan->params.value[TAMIS_DLEFT_SUBTABLES] = subtables;
    const uint64_t n_buckets = (uint64_t)ceil((double)need->n / (load * subtables));
    plan->params.value[TAMIS_DLEFT_BUCKETS] = n_buckets + (need->offline && n_buckets < FEW);
    plan->params.value[TAMIS_DLEFT_GROUP] = 1;
    plan->fpr = fpr;
    plan->lines_per_query = plan->lines_per_insert = subtables;
    status = plan_dleft_predict(b, load / 2, &plan->fpr_half, &full_half);
    if (status == TAMIS_OK)
        status = tamis_i_plan_stash(need, (double)need->n * full, plan);
    return status;
}

tamis_status tamis_i_plan_dleft(const tamis_need *need, tamis_plan *plan) {
    double best_bits = INFINITY, slope;
    double guess[2]; /* bits per key, from the table */
    for (unsigned i = 0; i < 2; i++)
        guess[i] =
            (double)buckets[i].bits / plan_dleft_table_load(&buckets[i], -log2(need->fpr), &slope);
    for (unsigned i = 0; i < 2; i++) {
        if (!need->offline && guess[i] > 1.03 * guess[1 - i]) /* not worth asking */
            continue;
        const tamis_status status = plan_dleft_plan_with(&buckets[i], need, &best_bits, plan);
        if (status != TAMIS_OK)
            return status;
    }
    return isinf(best_bits) ? TAMIS_E_UNSUPPORTED : TAMIS_OK;
}
