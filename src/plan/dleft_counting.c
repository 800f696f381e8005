/* dleft_counting.c - plans for the d-left counting filter
 *
 * With d subtables, c cells per bucket, remainders of r bits and mean load x, the error rate is d x /
 * 2^r.  A line takes as many buckets of c (r + 2) bits, in whole bytes, as fit (with counters of 2
 * bits, or more if many copies of a key must be counted).  All shapes are tried.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define CELLS_MIN    4u
#define CELLS_MAX    16u
#define SUBTABLES    4u
#define BITS_MAX     32u
#define LINE_BITS    512u
#define LOADS        40u
#define COUNTERS_MAX 64u /* bits of the counters of a bucket */
/* A plan that is larger by less than this factor and reads fewer lines is the better one. */
#define WORTH 1.04

/* The mean load, in steady change, at which one key in a hundred finds all its buckets full and an
 * element must be moved for it: tamis_model_dleft_steady and tamis_model_dleft_full, by d and c.
 * Beyond that inserts get slow, though the table could be filled further. */
static const double load_max[SUBTABLES + 1][CELLS_MAX - CELLS_MIN + 1] = {
    {0},
    {0},
    {2.325, 3.220, 4.142, 5.081, 6.032, 6.991, 7.957, 8.928, 9.903, 10.881, 11.862, 12.845, 13.829},
    {2.888, 3.851, 4.824, 5.804, 6.789, 7.777, 8.767, 9.759, 10.752, 11.746, 12.740, 13.736,
     14.732},
    {3.161, 4.142, 5.129, 6.120, 7.113, 8.107, 9.102, 10.099, 11.095, 12.093, 13.090, 14.088,
     15.086},
};

typedef struct shape {
    unsigned subtables, cells, remainder_bits;
    double load;
    double bits; /* per key */
} shape;

/* The best of a number of subtables for this error rate. */
static shape plan_counting_best_shape(unsigned subtables, double fpr, unsigned counter_bits) {
    shape best = {.bits = INFINITY};
    for (unsigned cells = CELLS_MIN; cells <= CELLS_MAX && cells * counter_bits <= COUNTERS_MAX;
         cells++) {
        for (unsigned r = 1; r <= BITS_MAX; r++) {
            const unsigned bytes = (cells * (r + counter_bits) + 7) / 8;
            const unsigned per_line = LINE_BITS / 8 / bytes;
            const double most = load_max[subtables][cells - CELLS_MIN];
            const double load = fmin(most, fpr * ldexp(1, (int)r) / subtables);
            const double bits = LINE_BITS / (load * per_line);
            if (per_line > 0 && load > most / 2 && bits < best.bits)
                best = (shape){subtables, cells, r, load, bits};
        }
    }
    return best;
}

/* The odds that one key of the n finds no room within the first move.  If a share q of the buckets is
 * full, the d (d - 1) c other buckets are all full with odds q^(d (d - 1) c).  That takes buckets to be
 * independent, which falls short for one move in a table fuller than planned; the plan has three moves
 * (tests/model/test_filter_failure.c). */
static tamis_status plan_counting_overflow(const shape *s, const tamis_need *need,
                                           tamis_plan *plan) {
    double fraction[SUBTABLES * LOADS], all_full, full = 0;
    tamis_status status = tamis_model_dleft_steady(s->subtables, s->load, LOADS, fraction);
    if (status == TAMIS_OK)
        status = tamis_model_dleft_full(s->subtables, LOADS, fraction, s->cells, &all_full);
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; i < s->subtables; i++)
        for (unsigned j = s->cells; j < LOADS; j++)
            full += fraction[i * LOADS + j] / s->subtables;
    const double others = (double)s->subtables * (s->subtables - 1) * s->cells;
    return tamis_i_plan_stash(need, (double)need->n * all_full * pow(full, others), plan);
}

tamis_status tamis_i_plan_dleft_counting(const tamis_need *need, tamis_plan *plan) {
    const double n = (double)need->n;
    const unsigned counter_bits = tamis_i_plan_counter_bits(need);
    shape best = {.bits = INFINITY};
    for (unsigned d = SUBTABLES; d >= 2; d--) {
        const shape s = plan_counting_best_shape(d, need->fpr, counter_bits);
        if (d <= need->lines_max && s.bits < best.bits * WORTH)
            best = s;
    }
    if (isinf(best.bits))
        return TAMIS_E_UNSUPPORTED;
    const double buckets = ceil(n / (best.load * best.subtables));
    if (buckets > 0x1p38 || ldexp(buckets, (int)best.remainder_bits) > 0x1p62)
        return TAMIS_E_TOO_LARGE;
    uint64_t *const value = plan->params.value;
    plan->params.kind = TAMIS_KIND_DLEFT_COUNTING;
    value[TAMIS_DLEFT_COUNTING_SUBTABLES] = best.subtables;
    value[TAMIS_DLEFT_COUNTING_BUCKETS] = (uint64_t)buckets;
    value[TAMIS_DLEFT_COUNTING_CELLS] = best.cells;
    value[TAMIS_DLEFT_COUNTING_REMAINDER_BITS] = best.remainder_bits;
    value[TAMIS_DLEFT_COUNTING_COUNTER_BITS] = counter_bits;
    value[TAMIS_DLEFT_COUNTING_MOVES] = 3;
    plan->lines_per_query = plan->lines_per_insert = best.subtables;
    const double cells = ldexp(buckets, (int)best.remainder_bits);
    tamis_status status = tamis_model_dlcbf(n, cells, &plan->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_dlcbf(ceil(n / 2), cells, &plan->fpr_half);
    return status == TAMIS_OK ? plan_counting_overflow(&best, need, plan) : status;
}
