/* bloom.c - plans for the Bloom family
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define LN2   0.69314718055994531
#define LANES 8u

/* The mean error rate of a Bloom filter.  It is exact for a small table, whose fill scatters so much
 * that the mean of its k-th power is well above the k-th power of its mean; that takes time, and where there
 * is none it is the upper bound of Goel and Gupta (2010),
 *
 *     (1 - exp(-k (n + 1/2) / (m - 1)))^k.
 *
 * For a large table it is the formula times exp(k (k-1) v / 2), where v is the relative variance of the
 * fill. */
static tamis_status plan_bloom_mean_rate(bool exact, double m, double n, unsigned k, double *fpr) {
    const bool small = m <= 4096 && n * k <= 0x1p20;
    if (small && exact)
        return tamis_model_bloom_exact((unsigned)m, (uint64_t)n, k, fpr);
    if (small) {
        *fpr = pow(-expm1(-(double)k * (n + 0.5) / (m - 1)), k);
        return TAMIS_OK;
    }
    const tamis_status status = tamis_model_bloom(m, n, k, fpr);
    if (status != TAMIS_OK)
        return status;
    const double a = n * k / m, empty = exp(-a), filled = -expm1(-a);
    const double v = empty * (1 - (1 + a) * empty) / (m * filled * filled);
    *fpr = fmin(*fpr * exp(0.5 * k * (k - 1) * v), 1);
    return TAMIS_OK;
}

/* Cells that a Bloom filter with k hashes needs for n keys and error rate p: from the fill q = p^(1/k),
 * m = -k n / ln(1 - q).  The true number is a little larger; the model decides then. */
static double plan_bloom_cells_for(double n, double p, unsigned k) {
    return -(double)k * n / log1p(-pow(p, 1.0 / k));
}

/* The fewest multiples of 'step', from '*m' on, with which the rate is at most 'wanted'.  They are a
 * few steps away, except for rates so near to 1 that the start is rounded.  So the steps double, and
 * the last one is searched by halving. */
static tamis_status bloom_enough_cells(const tamis_need *need, unsigned k, double step, double *m,
                                       double *fpr) {
    const double n = (double)need->n, wanted = need->fpr;
    double low = *m, stride = step;
    tamis_status status = plan_bloom_mean_rate(need->search, low, n, k, fpr);
    if (status != TAMIS_OK || *fpr <= wanted)
        return status;
    for (*m = low + stride;; stride *= 2, *m += stride) {
        status = plan_bloom_mean_rate(need->search, *m, n, k, fpr);
        if (status != TAMIS_OK || *fpr <= wanted)
            break;
        low = *m;
    }
    while (status == TAMIS_OK && *m - low > step) {
        const double middle = low + floor((*m - low) / 2 / step) * step;
        double rate;
        status = plan_bloom_mean_rate(need->search, middle, n, k, &rate);
        if (rate <= wanted) {
            *m = middle;
            *fpr = rate;
        } else {
            low = middle;
        }
    }
    return status;
}

typedef struct cells {
    double m;
    unsigned k;
    double fpr;
} cells;

/* Bits that a query for an absent key reads until it meets a clear one, each in its own line. */
static double plan_bloom_lines_until_clear(double fpr, unsigned k) {
    const double fill = pow(fpr, 1.0 / k);
    return (1 - fpr) / (1 - fill);
}

/* The fewest cells, in steps of 'step', that reach the error rate with at most 64 hashes.  With fewer
 * hashes than the optimum the table is sparser and a query ends sooner: this saves lines. */
static tamis_status plan_bloom_fewest_cells(const tamis_need *need, double step, double max,
                                            cells *best) {
    const double n = (double)need->n;
    const double ideal = -log2(need->fpr);
    if (ideal > 80) /* far more hashes than the limit */
        return TAMIS_E_UNSUPPORTED;
    int from = (int)floor(ideal) - 1, to = (int)ceil(ideal) + 1;
    while (to > 1 && to <= 64 &&
           !tamis_i_plan_lines_ok(need, plan_bloom_lines_until_clear(need->fpr, (unsigned)to)))
        to--;
    from = from < to ? from : to;
    best->m = INFINITY;
    for (int k = from; k <= to; k++) {
        if (k < 1 || k > 64)
            continue;
        double m = ceil(plan_bloom_cells_for(n, need->fpr, (unsigned)k) / step) * step, fpr;
        while (m < k)
            m += step;
        const tamis_status status = bloom_enough_cells(need, (unsigned)k, step, &m, &fpr);
        if (status != TAMIS_OK)
            return status;
        if (m < best->m || (m == best->m && fpr < best->fpr))
            *best = (cells){.m = m, .k = (unsigned)k, .fpr = fpr};
    }
    if (isinf(best->m)) /* the error rate needs more hashes than the limit */
        return TAMIS_E_UNSUPPORTED;
    return best->m <= max ? TAMIS_OK : TAMIS_E_TOO_LARGE;
}

/* What both kinds promise; 'per_line' cells share a cache line. */
static tamis_status plan_bloom_promise(const tamis_need *need, const cells *best, double per_line,
                                       tamis_plan *plan) {
    const double lines = best->m / per_line;
    plan->fpr = best->fpr;
    plan->overflow_probability = 0; /* full counters saturate: nothing is refused */
    plan->lines_per_query = fmin(plan_bloom_lines_until_clear(best->fpr, best->k), fmax(lines, 1));
    plan->lines_per_insert = fmin(best->k, fmax(lines, 1));
    return plan_bloom_mean_rate(need->search, best->m, ceil((double)need->n / 2), best->k,
                                &plan->fpr_half);
}

tamis_status tamis_i_plan_bloom(const tamis_need *need, tamis_plan *plan) {
    cells best = {0};
    const tamis_status status = plan_bloom_fewest_cells(need, 512, 0x1p48, &best);
    if (status != TAMIS_OK)
        return status;
    plan->params.kind = TAMIS_KIND_BLOOM;
    plan->params.value[TAMIS_BLOOM_BITS] = (uint64_t)best.m;
    plan->params.value[TAMIS_BLOOM_HASHES] = best.k;
    return plan_bloom_promise(need, &best, 512, plan);
}

/* A counter saturates at 15.  More than 14 copies could be reported as fewer once others have
 * saturated it. */
#define SATURATED  15u
#define COPIES_MAX 14u
#define WEAR       1e-6 /* share of the counters; less changes no error rate */

/* An upper bound on the share of counters that were ever saturated, with a visits per counter on average
 * and some copies of each key.  A counter saturates if enough keys visit it at one time.  A share of the
 * counters is saturated when the filter has been filled.  Later, a new key finds a counter with one visit
 * less, with the odds of a Poisson number, and saturates it.  A counter that was spared for a while is
 * more likely to be spared for another: the odds of all whiles are at least their product. */
static double plan_bloom_counting_saturated(const tamis_need *need, double a) {
    const unsigned copies = need->copies;
    const unsigned visits = (SATURATED + copies - 1) / copies;
    double p = exp(-a), more = 0;
    for (unsigned i = 1; i < visits; i++)
        p *= a / i;
    const double met = p; /* exactly one visit less */
    for (unsigned i = visits; i < visits + 64; i++)
        more += p *= a / i;
    return -expm1(-more - need->replacements * a * met);
}

/* The error rate with n keys, after a filter for need->n has had its replacements: saturated counters
 * stay as they are.  What they add to the mean and to the scatter of the fill is assumed to be
 * independent of it. */
static tamis_status plan_bloom_counting_worn_rate(const tamis_need *need, double m, double n,
                                                  unsigned k, double *fpr) {
    const tamis_status status = plan_bloom_mean_rate(need->search, m, n, k, fpr);
    if (status != TAMIS_OK || !need->deletes)
        return status;
    const double lost = plan_bloom_counting_saturated(need, (double)need->n * k / m);
    const double fresh = -expm1(-n * k / m), fill = fresh + (1 - fresh) * lost;
    const double scatter = (1 - fresh) * lost / (m * fill * fill);
    *fpr = fmin(*fpr * pow(fill / fresh, k) * exp(0.5 * k * (k - 1) * scatter), 1);
    return TAMIS_OK;
}

/* The fewest counters with k hashes that keep the promise, within 1/1024, searched from 'm' on, which
 * does not keep it. */
static tamis_status plan_bloom_counting_fewest(const tamis_need *need, double m, unsigned k,
                                               cells *found) {
    const double n = (double)need->n;
    double low = m, high = m, fpr = 1;
    while (fpr > need->fpr) {
        low = high;
        high += ceil(high / 512) * 128;
        if (high > 0x1p46)
            return TAMIS_E_TOO_LARGE;
        const tamis_status status = plan_bloom_counting_worn_rate(need, high, n, k, &fpr);
        if (status != TAMIS_OK)
            return status;
    }
    *found = (cells){.m = high, .k = k, .fpr = fpr};
    while (high - low > fmax(128, low / 1024)) {
        const double middle = low + ceil((high - low) / 256) * 128;
        const tamis_status status = plan_bloom_counting_worn_rate(need, middle, n, k, &fpr);
        if (status != TAMIS_OK)
            return status;
        if (fpr <= need->fpr)
            *found = (cells){.m = high = middle, .k = k, .fpr = fpr};
        else
            low = middle;
    }
    return TAMIS_OK;
}

/* Where saturated counters break the promise, a sparser table keeps it.  The more of them there are,
 * the fewer hashes are best: the search goes down from the hashes of a filter that does not wear. */
static tamis_status plan_bloom_counting_wear(const tamis_need *need, cells *best) {
    const unsigned most = best->k;
    tamis_status status =
        plan_bloom_counting_worn_rate(need, best->m, (double)need->n, most, &best->fpr);
    if (status != TAMIS_OK || best->fpr <= need->fpr)
        return status;
    best->m = INFINITY;
    for (unsigned k = most; k >= 1; k--) {
        cells found = {0};
        const double m =
            fmax(ceil(plan_bloom_cells_for((double)need->n, need->fpr, k) / 128), ceil(k / 128.0)) *
            128;
        status = plan_bloom_counting_fewest(need, m, k, &found);
        if (status != TAMIS_OK && isinf(best->m))
            return status;
        if (status != TAMIS_OK || found.m > best->m)
            break;
        *best = found;
    }
    return TAMIS_OK;
}

tamis_status tamis_i_plan_counting_bloom(const tamis_need *need, tamis_plan *plan) {
    cells best = {0};
    if (need->copies > COPIES_MAX)
        return TAMIS_E_UNSUPPORTED;
    tamis_status status = plan_bloom_fewest_cells(need, 128, 0x1p46, &best);
    if (status == TAMIS_OK)
        status = plan_bloom_counting_wear(need, &best);
    if (status == TAMIS_OK)
        status = plan_bloom_promise(need, &best, 128, plan);
    if (status != TAMIS_OK)
        return status;
    plan->params.kind = TAMIS_KIND_COUNTING_BLOOM;
    /* It does not age if next to no counter stops. */
    if (need->deletes &&
        plan_bloom_counting_saturated(need, (double)need->n * best.k / best.m) > WEAR)
        plan->replacements = need->replacements;
    plan->params.value[TAMIS_COUNTING_BLOOM_COUNTERS] = (uint64_t)best.m;
    plan->params.value[TAMIS_COUNTING_BLOOM_HASHES] = best.k;
    return plan_bloom_counting_worn_rate(need, best.m, ceil((double)need->n / 2), best.k,
                                         &plan->fpr_half);
}

/* Where keys are removed, a few of them; for more there are kinds of a third of the size. */
#define FEW_KEYS 1024u
#define FEW_FPR  1e-12

tamis_status tamis_i_quick_counting_bloom(const tamis_need *need, tamis_plan *plan) {
    return need->n < FEW_KEYS && need->fpr >= FEW_FPR ? tamis_i_plan_counting_bloom(need, plan)
                                                      : TAMIS_E_UNSUPPORTED;
}

/* Bits of a key anywhere in its block, or one in each of eight lanes. */
static tamis_status plan_bloom_block_rate(bool lanes, double load, unsigned k, double *fpr) {
    return lanes ? tamis_model_blocked_lanes(LANES, 512 / LANES, load, fpr)
                 : tamis_model_blocked(512, load, k, fpr);
}

/* The error rate of b blocks with the best number of hashes. */
static tamis_status plan_bloom_blocked_fpr(bool lanes, double n, uint64_t blocks, unsigned *k,
                                           double *fpr) {
    const double load = n / (double)blocks;
    if (lanes) {
        *k = LANES;
        return plan_bloom_block_rate(true, load, LANES, fpr);
    }
    /* Overfull blocks dominate, and they want fewer hashes than the mean block.  So look at and below
     * the classical optimum; the best number lies there. */
    const double ideal = 512 / load * LN2;
    unsigned from = ideal > 26 ? 13 : ideal < 2 ? 1 : (unsigned)(ideal / 2);
    unsigned to = ideal > 15 ? 16 : (unsigned)ideal + 1;
    *fpr = INFINITY;
    for (unsigned i = from; i <= to; i++) {
        double f;
        const tamis_status status = plan_bloom_block_rate(false, load, i, &f);
        if (status != TAMIS_OK)
            return status;
        if (f < *fpr) {
            *fpr = f;
            *k = i;
        }
    }
    return TAMIS_OK;
}

/* The error rate falls with the number of blocks: bisection, between the size of a standard Bloom
 * filter and some multiple of it.  With few blocks the loads are not Poisson and the rate of one filter
 * scatters around the mean; the promise is the model's mean. */
tamis_status tamis_i_plan_blocked_bloom(const tamis_need *need, tamis_plan *plan) {
    const double n = (double)need->n;
    const bool lanes = tamis_i_plan_in_lanes(need->fpr);
    unsigned k = 1;
    double fpr = 1;
    uint64_t low = (uint64_t)(n * -log2(need->fpr) / LN2 / 512 * 0.9), high = low + 1;
    for (;; high += high / 2 + 1) {
        if (high > (uint64_t)1 << 39)
            return TAMIS_E_TOO_LARGE;
        if ((double)high > 64 * (n + 8)) /* with 16 hashes more blocks do not help */
            return TAMIS_E_UNSUPPORTED;
        if (n / (double)high > 4096)
            continue;
        const tamis_status status = plan_bloom_blocked_fpr(lanes, n, high, &k, &fpr);
        if (status != TAMIS_OK)
            return status;
        if (fpr <= need->fpr)
            break;
        low = high;
    }
    /* Finer than 1/4096 is not worth the time: the size is within 0.03 % of the least. */
    while (high - low > 1 + high / 4096) {
        const uint64_t middle = low + (high - low) / 2;
        const tamis_status status = plan_bloom_blocked_fpr(lanes, n, middle, &k, &fpr);
        if (status != TAMIS_OK)
            return status;
        if (fpr <= need->fpr)
            high = middle;
        else
            low = middle;
    }
    const tamis_status status = plan_bloom_blocked_fpr(lanes, n, high, &k, &fpr);
    if (status != TAMIS_OK)
        return status;
    plan->params.kind = TAMIS_KIND_BLOCKED_BLOOM;
    plan->params.value[TAMIS_BLOCKED_BLOOM_BLOCKS] = high;
    plan->params.value[TAMIS_BLOCKED_BLOOM_HASHES] = k;
    plan->params.value[TAMIS_BLOCKED_BLOOM_LANES] = lanes ? LANES : 0;
    plan->fpr = fpr;
    plan->overflow_probability = 0;
    plan->lines_per_query = plan->lines_per_insert = 1;
    return plan_bloom_block_rate(lanes, n / 2 / (double)high, k, &plan->fpr_half);
}
