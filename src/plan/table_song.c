/* table_song.c - plans for tables with the scheme of Song and others
 *
 * A baseline.  The published shape is the default: for 10,000 items 131,072 buckets, 10 hashes and counters
 * of 3 bits, which is 13.1 buckets per item at any size.  Its error rate is that of a Bloom filter with a bit
 * per bucket.
 *
 * Odds.  A crisis needs an item each of whose buckets is also hit by others: at most n times the
 * error rate.  That is a bound for the scheme without the heuristic that moves items apart (settle.c), for
 * which there is no analysis, and it is 1 for the published shape.  If odds are asked for, the bound must
 * keep them, which takes m = O(n log n) buckets and O(log n) hashes (section IV of the paper).
 *
 * Counters.  An item whose counters all have their largest value does not know which one is smallest.  The
 * width is at least that of the paper, and keeps the expected number of such items below the odds.
 *
 * The d sub-tables have equal size, or differ by one bucket.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/table.h"

#include <math.h>

#include "tamis/model.h"

#define PAPER_ITEMS   10000u
#define PAPER_BUCKETS 131072u
#define PAPER_HASHES  10u
#define PAPER_BITS    3u
#define BUCKETS_LEAST 64.0
#define ODDS          1e-9
#define FPR           0.006
#define SPACE_MAX     100.0
#define N_MAX         ((uint64_t)1 << 40)

/* m buckets in d sub-tables with counters of this width. */
static void plan_song_shape(uint64_t m, unsigned d, unsigned width, tamis_i_table_plan *plan) {
    plan->n_types = d;
    for (unsigned i = 0; i < d; i++)
        plan->buckets[i] = plan->summary.cells[i] = m / d + (i < m % d ? 1 : 0);
    plan->summary.counter_bits[0] = width;
}

tamis_status tamis_i_plan_table_song_paper(tamis_i_table_plan *plan) {
    uint64_t bytes;
    plan_song_shape(PAPER_BUCKETS, PAPER_HASHES, PAPER_BITS, plan);
    const tamis_status status = tamis_model_song(PAPER_ITEMS, PAPER_BUCKETS, PAPER_HASHES,
                                                 PAPER_BITS, &plan->fpr, &plan->crisis, &bytes);
    return status == TAMIS_OK ? tamis_i_plan_table_finish(TAMIS_I_SUMMARY_SONG, plan) : status;
}

/* The error rate: each hash has its own buckets. */
static double plan_song_fpr(double n, double m, unsigned d) {
    double fpr;
    return tamis_model_bloom_partitioned(m, n, d, &fpr) == TAMIS_OK ? fpr : 1;
}

/* Buckets for an error rate, a multiple of d: the formula of the model, solved for them. */
static double plan_song_buckets(double n, unsigned d, double fpr) {
    const double part = -expm1(log1p(-pow(fpr, 1.0 / d)) / n);
    return ceil(fmax(1 / part, BUCKETS_LEAST / d)) * d;
}

static unsigned plan_song_width(double n, double m, unsigned d, double odds) {
    for (unsigned width = PAPER_BITS; width < TAMIS_I_SUMMARY_COUNTER_BITS_MAX; width++)
        if (n * pow(tamis_i_plan_poisson_tail(n * d / m, ldexp(1, (int)width) - 1), d) <= odds)
            return width;
    return TAMIS_I_SUMMARY_COUNTER_BITS_MAX;
}

/* Expected items of each type, before any are moved apart.  An item is of type t if the others have hit its
 * bucket there j times, its earlier ones more often, and its later ones at least as often. */
static void plan_song_items(double n, double m, unsigned d, double *items) {
    const double mean = (n - 1) * d / m;
    double term = exp(-mean), tail = 1; /* of j, and of j or more */
    for (unsigned t = 0; t < d; t++)
        items[t] = 0;
    for (unsigned j = 0; j < 1000 && tail > 1e-16; j++) {
        const double more = fmax(tail - term, 0);
        for (unsigned t = 0; t < d; t++)
            items[t] += n * term * pow(more, t) * pow(tail, d - 1 - t);
        tail = more;
        term *= mean / (j + 1);
    }
}

/* Choose buckets and hashes.  TAMIS_E_UNSUPPORTED. */
static tamis_status plan_song_choose(const tamis_i_table_need *need, double *m, unsigned *d) {
    const double n = (double)need->n;
    const bool paper = need->odds == 0 && need->fpr == 0;
    double goal = need->fpr == 0 ? FPR : need->fpr;
    if (need->odds != 0)
        goal = fmin(goal, need->odds / n);
    *m = need->space != 0 ? need->space * n : n * PAPER_BUCKETS / PAPER_ITEMS;
    *m = fmax(ceil(*m * (1 - 1e-13)), BUCKETS_LEAST);
    *d = PAPER_HASHES;
    if (need->space == 0 && paper)
        return TAMIS_OK;
    double best = INFINITY;
    for (unsigned k = 1; k <= TAMIS_I_SUMMARY_TYPES_MAX; k++) {
        const double score =
            need->space != 0 ? plan_song_fpr(n, *m, k) : plan_song_buckets(n, k, goal);
        if (score < best) {
            best = score;
            *d = k;
        }
    }
    if (need->space != 0)
        return paper || best <= goal ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
    *m = best;
    return best <= fmax(SPACE_MAX * n, BUCKETS_LEAST) ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

static bool plan_song_in_range(const tamis_i_table_need *need) {
    return need->n >= 1 && need->n <= N_MAX && need->bucket <= 4 && !need->churn &&
           (need->odds == 0 || (need->odds >= 1e-16 && need->odds <= 0.5)) &&
           (need->fpr == 0 || (need->fpr >= 1e-15 && need->fpr <= 0.5)) &&
           (need->space == 0 || (need->space >= 1 && need->space <= SPACE_MAX));
}

tamis_status tamis_i_plan_table_song(const tamis_i_table_need *need, tamis_i_table_plan *plan) {
    tamis_i_table_plan result = {0};
    const double n = (double)need->n;
    double m;
    unsigned d;
    if (!plan_song_in_range(need))
        return TAMIS_E_ARGUMENT;
    if (need->bucket > 1) /* the model is that of one slot */
        return TAMIS_E_UNSUPPORTED;
    tamis_status status = plan_song_choose(need, &m, &d);
    if (status != TAMIS_OK)
        return status;
    if (m > (double)TAMIS_I_SUMMARY_CELLS_MAX)
        return TAMIS_E_TOO_LARGE;
    plan_song_shape((uint64_t)m, d, plan_song_width(n, m, d, need->odds == 0 ? ODDS : need->odds),
                    &result);
    plan_song_items(n, m, d, result.items);
    result.fpr = plan_song_fpr(n, m, d);
    result.crisis = fmin(1, n * result.fpr);
    status = tamis_i_plan_table_finish(TAMIS_I_SUMMARY_SONG, &result);
    if (status == TAMIS_OK)
        *plan = result;
    return status;
}
