/* convex.c - the lower bound on the cost of balanced blocks: any convex cost, any mixture of hashes
 *
 * n keys go to m blocks, r = n/m per block, with a looks per key on average.  The fraction gamma of the
 * keys may go to an overflow list.  A block with i keys costs phi(i), where phi does not fall and is
 * convex.
 *
 * No scheme is better than one that sees all of its a n looks before it decides.  Count each look as a
 * separate key; X of them fall in a block.  Take the surplus from the fullest blocks, until (1 - gamma)
 * n are left.  Since phi is convex, each of these saves at least as much as any other would.  So loads
 * are cut at k0, or at k0 + 1 for some of the blocks:
 *
 *     P(i)      = P(X = i)  for i < k0,      P(k0 + 1) = r (1 - gamma) - E[min(X, k0)],
 *     P(k0)     = P(X >= k0) - P(k0 + 1),
 *
 * where k0 is the largest k with E[min(X, k)] < r (1 - gamma).  The cut does not depend on phi: the
 * bound on the cost is the mean of phi by P (Theorem 1).
 *
 * If the looks come from hash functions of different distributions, distribution p for the part k_p of
 * them, all of them together hit a block.  If the sum of k_p f_p is the same for every block, X is
 * Poisson with mean a r, and the bound is the same (Theorem 2).  If not, the argument still holds,
 * block by block: X is then a mixture of Poisson variables, one for each part of the table.  This is
 * computed here; blocks that are hit alike are one part.
 *
 * After Kanizo, Hay and Keslassy, "Access-Efficient Balanced Bloom Filters", 2011, section IV.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

#define ACCESSES_MAX 8.0
#define LOAD_MAX     1024.0
#define K0_MAX       4096u
#define PARTS_MAX    TAMIS_BALANCE_CHOICES_MAX

/* The hits of a block: with probability share[c] Poisson with mean mean[c]. */
typedef struct convex_hits {
    unsigned n_parts;
    double share[PARTS_MAX], mean[PARTS_MAX];
} convex_hits;

/* P(X = i) and P(X > i). */
static double model_convex_point(const convex_hits *hits, uint64_t i) {
    double sum = 0;
    for (unsigned c = 0; c < hits->n_parts; c++) {
        double p;
        if (tamis_model_poisson(hits->mean[c], i, &p) == TAMIS_OK)
            sum += hits->share[c] * p;
    }
    return sum;
}

static double model_convex_tail(const convex_hits *hits, uint64_t i) {
    double sum = 0;
    for (unsigned c = 0; c < hits->n_parts; c++) {
        double p;
        if (tamis_model_poisson_tail(hits->mean[c], i, &p) == TAMIS_OK)
            sum += hits->share[c] * p;
    }
    return sum;
}

/* P as above: k0, and where P differs from the distribution of X. */
typedef struct convex_cut {
    unsigned k0;
    double at, above; /* P(k0), P(k0 + 1) */
} convex_cut;

/* E[min(X, k + 1)] is E[min(X, k)] + P(X > k). */
static tamis_status model_convex_cut_to(const convex_hits *hits, double keys, convex_cut *cut) {
    double kept = 0, at_least = 1; /* E[min(X, k)] and P(X >= k) */
    for (unsigned k = 0; k < K0_MAX; k++) {
        const double more = model_convex_tail(hits, k);
        if (kept + more >= keys) {
            cut->k0 = k;
            cut->above = fmax(0, keys - kept);
            cut->at = fmax(0, at_least - cut->above);
            return TAMIS_OK;
        }
        kept += more;
        at_least = more;
    }
    return TAMIS_E_DOMAIN;
}

static double model_convex_part(const convex_hits *hits, const convex_cut *cut, unsigned i) {
    return i < cut->k0        ? model_convex_point(hits, i)
           : i == cut->k0     ? cut->at
           : i == cut->k0 + 1 ? cut->above
                              : 0;
}

static bool model_convex_domain(double accesses, double load, double overflow) {
    return accesses > 0 && accesses <= ACCESSES_MAX && load > 0 && load <= LOAD_MAX &&
           overflow >= 0 && overflow < 1 && accesses > 1 - overflow;
}

/* Do n numbers, none of them negative, add up to 1? */
static bool model_convex_whole(const double *numbers, unsigned n) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!(numbers[i] >= 0))
            return false;
        sum += numbers[i];
    }
    return fabs(sum - 1) < 1e-6;
}

/* What falls in each part, from all hash functions together. */
static tamis_status model_convex_mix(const tamis_balance_mixture *m, double looks,
                                     convex_hits *hits) {
    if (m->n_hashes < 1 || m->n_hashes > PARTS_MAX || m->n_parts < 1 || m->n_parts > PARTS_MAX)
        return TAMIS_E_DOMAIN;
    if (m->weights == NULL || m->shares == NULL || m->aims == NULL)
        return TAMIS_E_ARGUMENT;
    if (!model_convex_whole(m->weights, m->n_hashes) || !model_convex_whole(m->shares, m->n_parts))
        return TAMIS_E_DOMAIN;
    *hits = (convex_hits){.n_parts = m->n_parts};
    for (unsigned p = 0; p < m->n_hashes; p++) {
        const double *const aim = m->aims + (size_t)p * m->n_parts;
        if (!model_convex_whole(aim, m->n_parts))
            return TAMIS_E_DOMAIN;
        for (unsigned c = 0; c < m->n_parts; c++)
            hits->mean[c] += looks * m->weights[p] * aim[c];
    }
    for (unsigned c = 0; c < m->n_parts; c++) {
        if (!(m->shares[c] > 0))
            return TAMIS_E_DOMAIN;
        hits->share[c] = m->shares[c];
        hits->mean[c] /= m->shares[c];
    }
    return TAMIS_OK;
}

tamis_status tamis_model_balance_mixed(const tamis_balance_mixture *mixture, double accesses,
                                       double load, double overflow, double *p, size_t room,
                                       unsigned *k0) {
    tamis_balance_mixture own;
    convex_hits hits;
    convex_cut cut;
    if (mixture == NULL || !tamis_i_struct_in(&own, sizeof own, mixture))
        return TAMIS_E_ARGUMENT;
    if (!model_convex_domain(accesses, load, overflow))
        return TAMIS_E_DOMAIN;
    tamis_status status = model_convex_mix(&own, accesses * load, &hits);
    if (status == TAMIS_OK)
        status = model_convex_cut_to(&hits, load * (1 - overflow), &cut);
    if (status != TAMIS_OK)
        return status;
    if (p != NULL && room < (size_t)cut.k0 + 2)
        return TAMIS_E_DOMAIN;
    for (size_t i = 0; p != NULL && i < room; i++)
        p[i] = i <= (size_t)cut.k0 + 1 ? model_convex_part(&hits, &cut, (unsigned)i) : 0;
    *k0 = cut.k0;
    return TAMIS_OK;
}

tamis_status tamis_model_balance_cost(double accesses, double load, double overflow,
                                      const double *cost, size_t n, double *value) {
    const convex_hits hits = {.n_parts = 1, .share = {1}, .mean = {accesses * load}};
    convex_cut cut;
    if (cost == NULL)
        return TAMIS_E_ARGUMENT;
    if (!model_convex_domain(accesses, load, overflow))
        return TAMIS_E_DOMAIN;
    const tamis_status status = model_convex_cut_to(&hits, load * (1 - overflow), &cut);
    if (status != TAMIS_OK)
        return status;
    if (n < (size_t)cut.k0 + 2)
        return TAMIS_E_DOMAIN;
    /* The steps must never fall, and the first must not be negative, within the last bit of the costs. */
    double step = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        const double next = cost[i + 1] - cost[i];
        if (!isfinite(next) || next < step - 1e-12 * (fabs(cost[i]) + fabs(cost[i + 1])))
            return TAMIS_E_DOMAIN;
        step = next;
    }
    double sum = 0;
    for (unsigned i = 0; i <= cut.k0 + 1; i++)
        sum += model_convex_part(&hits, &cut, i) * cost[i];
    *value = sum;
    return TAMIS_OK;
}
