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
#include <stdbool.h>

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

/* Buckets of whole bytes of which 4, 3 or 2 are in a line, and -log2 of their error rate at mean loads of
 * 1, 1.25, 1.5, ... 11: where the search begins, so that the model is asked as seldom as possible.  What is
 * promised is what the model says, never a number from here. */
#define STEP    0.25
#define ENTRIES 41u

typedef struct bucket {
    unsigned bits;
    float rate[ENTRIES];
} bucket;

static const bucket buckets[] = {
    {128, {40.05f, 36.94f, 34.95f, 31.93f, 28.76f, 26.63f, 25.17f, 23.76f, 22.12f, 20.66f, 19.49f,
           18.37f, 17.13f, 15.96f, 14.99f, 14.09f, 13.16f, 12.27f, 11.48f, 10.78f, 10.10f, 9.46f,
           8.88f,  8.36f,  7.90f,  7.48f,  7.10f,  6.76f,  6.43f,  6.11f,  5.80f,  5.51f,  5.21f,
           4.92f,  4.63f,  4.34f,  4.06f,  3.77f,  3.48f,  3.20f,  2.92f}},
    {168, {53.95f, 50.92f, 48.23f, 43.30f, 39.83f, 37.65f, 35.90f, 33.21f, 30.68f, 28.89f, 27.56f,
           26.14f, 24.55f, 23.19f, 22.08f, 20.96f, 19.74f, 18.62f, 17.69f, 16.90f, 16.17f, 15.50f,
           14.88f, 14.22f, 13.46f, 12.69f, 11.99f, 11.38f, 10.85f, 10.39f, 9.98f,  9.58f,  9.14f,
           8.67f,  8.20f,  7.76f,  7.35f,  6.97f,  6.62f,  6.29f,  5.97f}},
    {256, {59.78f, 59.46f, 59.20f, 58.94f, 58.49f, 57.64f, 54.81f, 50.59f, 47.77f, 45.91f, 44.06f,
           41.34f, 39.03f, 37.40f, 36.12f, 34.67f, 33.13f, 31.82f, 30.66f, 29.27f, 27.78f, 26.53f,
           25.52f, 24.59f, 23.65f, 22.78f, 22.00f, 21.20f, 20.36f, 19.54f, 18.81f, 18.14f, 17.50f,
           16.88f, 16.32f, 15.77f, 15.21f, 14.66f, 14.14f, 13.67f, 13.24f}}};
#define N_BUCKETS (sizeof buckets / sizeof buckets[0])

/* The mean load at which the table has this rate, and by how much -log2 falls per load there; 0 if it has
 * no such rate. */
static double table_load(const bucket *b, double rate, double *slope) {
    unsigned i = ENTRIES - 1;
    while (i > 1 && (double)b->rate[i - 1] < rate)
        i--;
    *slope = (double)(b->rate[i - 1] - b->rate[i]) / STEP;
    if (rate <= (double)b->rate[ENTRIES - 1])
        return LOAD_MAX;
    return rate > (double)b->rate[0]
               ? 0
               : LOAD_MIN + STEP * (i - 1) + ((double)b->rate[i - 1] - rate) / *slope;
}

/* Buckets that keep the error rate and are within a percent of the fullest that do: those of the table,
 * corrected by what the model says.  TAMIS_E_UNSUPPORTED if none do. */
static tamis_status fullest(const bucket *b, double fpr, shape *best) {
    const double rate = -log2(fpr);
    double slope, at = table_load(b, rate, &slope);
    bool found = false;
    for (unsigned i = 0; i < 8 && at >= LOAD_MIN; i++) {
        shape s = {.bucket_bits = b->bits, .load = fmin(at, LOAD_MAX)};
        const tamis_status status = predict(&s);
        if (status != TAMIS_OK)
            return status;
        const double room = -log2(s.fpr) - rate; /* bits better than wanted */
        if (room >= 0 && (!found || s.load > best->load)) {
            *best = s;
            found = true;
        }
        if (found && (room < 0 || room < 0.05 || s.load >= LOAD_MAX || i >= 3))
            break;
        at = s.load + (room - 0.01 * (i + 1)) / slope;
    }
    return found ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

tamis_status tamis_i_plan_dleft_dynamic(const tamis_need *need, tamis_plan *plan) {
    const double n = (double)need->n, rate = -log2(need->fpr);
    double best_bits = INFINITY, guess[N_BUCKETS], least_guess = INFINITY, slope;
    shape best = {.load = 1};
    for (unsigned i = 0; i < N_BUCKETS; i++) {
        guess[i] = buckets[i].bits / table_load(&buckets[i], rate, &slope);
        least_guess = fmin(guess[i], least_guess);
    }
    for (unsigned i = 0; i < N_BUCKETS; i++) {
        shape s = {.load = 1};
        if (!(guess[i] <= 1.02 * least_guess)) /* not worth asking */
            continue;
        const tamis_status status = fullest(&buckets[i], need->fpr, &s);
        if (status != TAMIS_OK && status != TAMIS_E_UNSUPPORTED)
            return status;
        if (status == TAMIS_OK && s.bucket_bits / s.load < best_bits) {
            best_bits = s.bucket_bits / s.load;
            best = s;
        }
    }
    if (isinf(best_bits))
        return TAMIS_E_UNSUPPORTED;
    const double n_buckets = ceil(n / (best.load * SUBTABLES));
    if (n_buckets > 0x1p38 || ldexp(n_buckets, (int)best.least) > 0x1p62)
        return TAMIS_E_TOO_LARGE;
    uint64_t *const value = plan->params.value;
    plan->params.kind = TAMIS_KIND_DLEFT_DYNAMIC;
    value[TAMIS_DDLCBF_SUBTABLES] = SUBTABLES;
    value[TAMIS_DDLCBF_BUCKETS] = (uint64_t)n_buckets;
    value[TAMIS_DDLCBF_BUCKET_BITS] = best.bucket_bits;
    value[TAMIS_DDLCBF_REMAINDER_BITS] = best.least;
    value[TAMIS_DDLCBF_COUNTER_BITS] = TAMIS_NONE;
    value[TAMIS_DDLCBF_SIZES] = 2;
    value[TAMIS_DDLCBF_MOVES] = 3;
    plan->fpr = best.fpr;
    plan->lines_per_query = plan->lines_per_insert = SUBTABLES;
    /* On the way back, when half of the elements have gone and none has become longer.  On the way there
     * they are longer, and the rate is lower. */
    plan->fpr_half = best.fpr / 2;
    return tamis_i_plan_stash(need, n * best.full, plan);
}
