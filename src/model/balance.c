/* balance.c - balanced Bloom filters: loads of blocks, overflow, accesses, error rate
 *
 * n keys go to m blocks ("buckets" in the paper), r = n/m per block.  A key looks at up to d blocks,
 * one after the other.  It stays in the first one with less than h keys, or with exactly h keys if a
 * coin of probability p allows it.  A key that finds no place goes to an overflow list, a fraction
 * gamma of all keys. a is the number of blocks that an insert looks at, on average.
 *
 *   SINGLE       one choice: d = 1
 *   SEQUENTIAL   every choice among all blocks
 *   MHT          choice i among the alpha_i m blocks of sub-table i
 *
 * A block that x looks have reached on average ("arrivals", Poisson distributed) has
 *
 *     below = P(load < h)      = P(X < h),                X ~ Poisson(x)
 *     at    = P(load = h)      = sum over i >= h of P(X = i) (1-p)^(i-h)
 *     above = P(load = h + 1)  = sum over i >  h of P(X = i) (1 - (1-p)^(i-h))
 *
 * because after the h-th arrival each one is let in with probability p until one has been.  The printed
 * forms divide by (1-p)^h; these sums hold for every p.  In a SEQUENTIAL or MHT filter of many blocks
 * the arrivals are Poisson too, so everything follows from these three numbers at the right x.  All of
 * it is the limit of many blocks; balance_finite.c treats a finite number.
 *
 * After Kanizo, Hay and Keslassy, "Access-Efficient Balanced Bloom Filters", 2011.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"
#include "model/balance.h"

#define CHOICES_MAX   TAMIS_BALANCE_CHOICES_MAX
#define LOAD_MAX      1024.0
#define THRESHOLD_MAX 4096u
#define BLOCKS_MAX    ((uint64_t)1 << 40)

/* -------------------------------------------------------------------------------------------------
 * One block
 */

/* P(X = i) and P(X <= i) for X ~ Poisson(x); x is in the domain by construction. */
static double model_balance_point(double x, uint64_t i) {
    double p;
    return tamis_model_poisson(x, i, &p) == TAMIS_OK ? p : 0;
}

static double model_balance_head(double x, uint64_t i) {
    double p;
    return tamis_model_poisson_head(x, i, &p) == TAMIS_OK ? p : 0;
}

typedef struct block {
    double below, at, above;
    double fail; /* that one more arrival is sent away: above + (1-p) at */
    double lost; /* arrivals sent away so far, on average */
} block;

/* Few arrivals, x < h: the terms fall from i = h on, and each result is a sum of positive terms,
 * accurate however small it is.  'late' is 1 - (1-p)^(i-h), the chance that the coin has let one in
 * after i arrivals. */
static block model_balance_block_early(double x, unsigned h, double p) {
    block b = {.below = model_balance_head(x, h - 1)};
    double term = model_balance_point(x, h);
    double late = 0;
    for (unsigned i = h; term > 0; i++) {
        b.at += term * (1 - late);
        b.above += term * late;
        b.fail += term * (late + (1 - p) * (1 - late));
        b.lost += term * ((double)(i - h) - late);
        if (term * (i - h + 1) < 1e-18 * b.lost)
            break;
        term *= x / (i + 1);
        late += p * (1 - late);
    }
    return b;
}

/* Many arrivals, x >= h: no result except 'below' can be small, unless p is.  The sum for 'at' starts
 * at its largest term, in case the first one is zero in a double. */
static block model_balance_block_late(double x, unsigned h, double p) {
    block b = {.below = h > 0 ? model_balance_head(x, h - 1) : 0};
    const double centre = floor(x * (1 - p));
    const double start = centre > h ? centre : h;
    const double largest =
        model_balance_point(x, (uint64_t)start) * (start > h ? exp((start - h) * log1p(-p)) : 1);
    double sum = 1;
    double term = 1;
    for (double i = start; i > h && term > 1e-18 * sum; i--) {
        term *= i / (x * (1 - p));
        sum += term;
    }
    term = 1;
    for (double i = start; term > 1e-18 * sum; i++) {
        term *= x * (1 - p) / (i + 1);
        sum += term;
    }
    b.at = largest * sum;
    b.above = fmax(0, 1 - b.below - b.at);
    b.fail = fmax(0, 1 - b.below - p * b.at);
    const double up_to_h =
        (h >= 2 ? x * model_balance_head(x, h - 2) : 0) + h * (1 - b.below); /* E[min(X, h)] */
    b.lost = fmax(0, x - up_to_h - b.above);
    return b;
}

static block model_balance_block_after(double x, unsigned h, double p) {
    return x < h ? model_balance_block_early(x, h, p) : model_balance_block_late(x, h, p);
}

/* The variance of the arrivals sent away by one block, when the arrivals at all blocks together are a
 * fixed number: E[l^2] - E[l]^2 - x f^2.  The last term is what the fixed sum takes away, Cov(l, X)^2 /
 * Var(X) with Cov(l, X) = x dE[l]/dx = x f.  After i = h + j arrivals, l is j, or j - 1 if the coin has
 * let one in.  Terms more than 12 deviations below x do not count. */
static double model_balance_lost_variance(double x, unsigned h, double p, const block *b) {
    const double from = floor(x - 12 * sqrt(x) - 12);
    const double start = from > h ? from : h;
    double term = model_balance_point(x, (uint64_t)start);
    double late = p < 1 ? -expm1((start - h) * log1p(-p)) : start > h ? 1 : 0;
    double square = 0;
    for (double i = start; term > 0; i++) {
        const double j = i - h;
        square += term * (j * j - 2 * j * late + late);
        if (i > x && term * j * j < 1e-18 * square)
            break;
        term *= x / (i + 1);
        late += p * (1 - late);
    }
    return fmax(0, square - b->lost * b->lost - x * b->fail * b->fail);
}

/* -------------------------------------------------------------------------------------------------
 * The lower bound of Theorem 1
 *
 * Throw a r keys per block at random, X ~ Poisson(a r) in each, and take the surplus r (a - 1 + gamma)
 * away again, always from the fullest block.  No online scheme with a looks per key and an overflow
 * list of gamma n keys can be better.  All blocks end up with at most k0 + 1 keys: k0 is the largest k
 * for which cutting at k would take away too much,
 *
 *     E[(X - k)+] > r (a - 1 + gamma),
 *
 * which is the paper's condition E[min(X, k)] < r (1 - gamma) from the other side, where nothing cancels.
 */

/* E[(X - k)+], X ~ Poisson(t). */
static double model_balance_excess(double t, unsigned k) {
    if (k >= t) {
        double term = model_balance_point(t, (uint64_t)k + 1), sum = 0;
        for (double j = 1; term > 0; j++) {
            const double next = sum + j * term;
            if (next == sum)
                break;
            sum = next;
            term *= t / (k + j + 1);
        }
        return sum;
    }
    double term = k > 0 ? model_balance_point(t, k - 1) : 0, sum = 0; /* E[(k - X)+] */
    for (double j = 1; j <= k && term > 0; j++) {
        const double next = sum + j * term;
        if (next == sum)
            break;
        sum = next;
        term *= (k - j) / t;
    }
    return t - k + sum;
}

typedef struct bound {
    double t; /* a r */
    unsigned k0;
    double top; /* P_LB(k0 + 1) */
} bound;

/* TAMIS_E_DOMAIN also if there is no finite k0: nothing is taken away when a = 1, gamma = 0. */
static tamis_status model_balance_lower_bound(double a, double r, double gamma, bound *result) {
    if (!(a > 0 && a <= CHOICES_MAX) || !(r > 0 && r <= LOAD_MAX) || !(gamma >= 0 && gamma < 1))
        return TAMIS_E_DOMAIN;
    const double t = a * r;
    const double surplus = r * (a - 1 + gamma);
    if (!(surplus > 0) || !(model_balance_excess(t, THRESHOLD_MAX) <= surplus))
        return TAMIS_E_DOMAIN;
    unsigned low = 0, high = THRESHOLD_MAX; /* k0 is in [low, high[ */
    while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;
        if (model_balance_excess(t, middle) > surplus)
            low = middle;
        else
            high = middle;
    }
    result->t = t;
    result->k0 = low;
    result->top = fmax(0, model_balance_excess(t, low) - surplus);
    return TAMIS_OK;
}

tamis_status tamis_model_balance_bound(double accesses, double load, double overflow, double *p,
                                       size_t room, unsigned *k0) {
    bound b;
    const tamis_status status = model_balance_lower_bound(accesses, load, overflow, &b);
    if (status != TAMIS_OK)
        return status;
    if (p != NULL) {
        if (room < (size_t)b.k0 + 2)
            return TAMIS_E_DOMAIN;
        for (size_t i = 0; i < room; i++)
            p[i] = i < b.k0 ? model_balance_point(b.t, i) : 0;
        p[b.k0] = 1 - (b.k0 > 0 ? model_balance_head(b.t, b.k0 - 1) : 0) - b.top;
        p[b.k0 + 1] = b.top;
    }
    *k0 = b.k0;
    return TAMIS_OK;
}

/* Theorems 3, 4 and 5, conditions (i) and (iii): h = k0, and p makes the scheme's blocks equal to those
 * of the bound.  The chance of load h + 1 grows with p, from 0 to P(X > h), so the solution is unique. */
static void model_balance_parameters(const bound *b, unsigned *h, double *p) {
    double low = 0, high = 1;
    for (unsigned i = 0; i < 200 && high - low > 1e-16 * high; i++) {
        const double middle = low + (high - low) / 2;
        if (model_balance_block_after(b->t, b->k0, middle).above < b->top)
            low = middle;
        else
            high = middle;
    }
    *h = b->k0;
    *p = high;
}

tamis_status tamis_model_balance_parameters(double accesses, double load, double overflow,
                                            unsigned *threshold, double *coin) {
    bound b;
    const tamis_status status = model_balance_lower_bound(accesses, load, overflow, &b);
    if (status != TAMIS_OK)
        return status;
    model_balance_parameters(&b, threshold, coin);
    return TAMIS_OK;
}

tamis_status tamis_model_balance_loads(double arrivals, unsigned threshold, double coin, double *p,
                                       size_t room) {
    if (!(arrivals >= 0 && arrivals <= CHOICES_MAX * LOAD_MAX) || threshold > THRESHOLD_MAX ||
        !(coin >= 0 && coin <= 1) || room < (size_t)threshold + 2)
        return TAMIS_E_DOMAIN;
    const block b = model_balance_block_after(arrivals, threshold, coin);
    for (size_t i = 0; i < room; i++)
        p[i] = i < threshold ? model_balance_point(arrivals, i) : 0;
    p[threshold] = b.at;
    p[threshold + 1] = b.above;
    return TAMIS_OK;
}

/* Section IX: ceil(log2(k0 + 2)), the loads 0 to h + 1. */
unsigned tamis_model_balance_counter_bits(unsigned threshold) {
    unsigned bits = 1;
    while (bits < 32 && ((uint64_t)threshold + 1) >> bits != 0)
        bits++;
    return bits;
}

/* -------------------------------------------------------------------------------------------------
 * SEQUENTIAL
 *
 * When x looks per block have been made, each choice of the next key sends it away with probability f(x),
 * and it takes 1 + f + ... + f^(d-1) looks.  So between x and x + dx, dx / (1 + f + ... + f^(d-1)) keys
 * per block arrive, and f^d of them go to the list.  Gauss-Legendre quadrature computes the integrals up
 * to x; f rises from 0 to 1 around x = h within a few sqrt(h), and a panel is one sqrt(x) wide.
 */

/* Positive nodes and weights of degree 16 on [-1, 1]. */
static const double gauss_node[8] = {0.09501250983763744, 0.28160355077925891, 0.45801677765722739,
                                     0.61787624440264375, 0.75540440835500303, 0.86563120238783174,
                                     0.94457502307323258, 0.98940093499164993};
static const double gauss_weight[8] = {
    0.18945061045506850, 0.18260341504492359, 0.16915651939500254, 0.14959598881657673,
    0.12462897125553387, 0.09515851168249278, 0.06225352393864789, 0.02715245941175410};

/* Looks that a key takes, 1 + f + ... + f^(d-1). */
static double model_balance_looks(double f, unsigned d) {
    double sum = 1;
    for (unsigned i = 1; i < d; i++)
        sum = 1 + f * sum;
    return sum;
}

/* Keys per block that have arrived, and that went to the list, after x looks per block. */
static void model_balance_sequential_after(double x, unsigned h, double p, unsigned d, double *keys,
                                           double *listed) {
    const unsigned panels = (unsigned)sqrt(x) + 2;
    const double half = x / panels / 2;
    *keys = *listed = 0;
    for (unsigned panel = 0; panel < panels; panel++) {
        for (unsigned i = 0; i < 16; i++) {
            const double node = i < 8 ? gauss_node[i] : -gauss_node[i - 8];
            const double f = model_balance_block_after(half * (2 * panel + 1 + node), h, p).fail;
            const double rate = half * gauss_weight[i % 8] / model_balance_looks(f, d);
            *keys += rate;
            *listed += rate * pow(f, d);
        }
    }
}

/* The x at which r keys per block have arrived; x is between r and d r.  The keys grow with x, at a
 * rate that falls: Newton's step from the left stays to the left. */
static double model_balance_sequential_looks(double r, unsigned h, double p, unsigned d,
                                             double *listed) {
    double x = r;
    for (unsigned i = 0; i < 100; i++) {
        double keys;
        model_balance_sequential_after(x, h, p, d, &keys, listed);
        const double step =
            (r - keys) * model_balance_looks(model_balance_block_after(x, h, p).fail, d);
        if (!(step > 1e-14 * x))
            break;
        x = fmin(x + step, r * d);
    }
    return x;
}

/* -------------------------------------------------------------------------------------------------
 * The optimality region: the least gamma for which a scheme reaches the bound of Theorem 1 with a
 * looks per key.  Then its looks are used up when the last key arrives.
 */

/* Theorem 4.  With the parameters for gamma, a r looks per block place r (1 - gamma) keys.  If the list
 * is too small, the scheme needs more than its n keys to get there.  So the search is for the gamma at
 * which exactly r keys per block have arrived. */
static tamis_status model_balance_sequential_region(double a, double r, unsigned d, double *gamma) {
    double low = 0, high = 1;
    for (unsigned i = 0; i < 100 && high - low > 1e-13 * high; i++) {
        const double middle = low + (high - low) / 2;
        bound b;
        const tamis_status status = model_balance_lower_bound(a, r, middle, &b);
        if (status != TAMIS_OK)
            return status;
        unsigned h;
        double p, keys, listed;
        model_balance_parameters(&b, &h, &p);
        model_balance_sequential_after(b.t, h, p, d, &keys, &listed);
        if (keys > r)
            low = middle;
        else
            high = middle;
    }
    *gamma = low + (high - low) / 2;
    return TAMIS_OK;
}

/* Theorem 5.  Each sub-table sends the same fraction q of its arrivals on to the next.  So a = 1 + q +
 * ... + q^(d-1), the sub-tables shrink by q, and q^d is left.  The load does not matter. */
static void model_balance_mht_region(double a, unsigned d, double *gamma, double *shares) {
    double low = 0, high = 1;
    for (unsigned i = 0; i < 200 && high - low > 1e-16 * high; i++) {
        const double middle = low + (high - low) / 2;
        if (model_balance_looks(middle, d) < a)
            low = middle;
        else
            high = middle;
    }
    *gamma = pow(high, d);
    if (shares == NULL)
        return;
    double share = 1 / model_balance_looks(high, d);
    for (unsigned i = 0; i < d; i++) {
        shares[i] = share;
        share *= high;
    }
}

tamis_status tamis_model_balance_region(tamis_balance_scheme scheme, unsigned choices,
                                        double accesses, double load, double *overflow,
                                        double *shares) {
    if (choices < 2 || choices > CHOICES_MAX || !(accesses > 1 && accesses < choices) ||
        !(load > 0 && load <= LOAD_MAX))
        return TAMIS_E_DOMAIN;
    if (scheme == TAMIS_BALANCE_SEQUENTIAL)
        return model_balance_sequential_region(accesses, load, choices, overflow);
    if (scheme != TAMIS_BALANCE_MHT)
        return TAMIS_E_DOMAIN;
    model_balance_mht_region(accesses, choices, overflow, shares);
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * A filter of given parameters
 */

/* Copy the caller's shape in and check it. */
static tamis_status model_balance_take_shape(const tamis_balance_shape *theirs, double load,
                                             tamis_balance_shape *shape) {
    if (!tamis_i_struct_in(shape, sizeof *shape, theirs))
        return TAMIS_E_ARGUMENT;
    const unsigned d = shape->choices;
    if (!(load >= 0 && load <= LOAD_MAX) || d < 1 || d > CHOICES_MAX ||
        shape->threshold > THRESHOLD_MAX || !(shape->coin >= 0 && shape->coin <= 1) ||
        !(shape->budget >= 0) || shape->blocks > BLOCKS_MAX)
        return TAMIS_E_DOMAIN;
    if (shape->scheme == TAMIS_BALANCE_SINGLE)
        return d == 1 ? TAMIS_OK : TAMIS_E_DOMAIN;
    if (shape->scheme == TAMIS_BALANCE_SEQUENTIAL)
        return TAMIS_OK;
    if (shape->scheme != TAMIS_BALANCE_MHT)
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (unsigned i = 0; i < d; i++) {
        if (!(shape->shares[i] > 0))
            return TAMIS_E_DOMAIN;
        sum += shape->shares[i];
    }
    return fabs(sum - 1) < 1e-6 ? TAMIS_OK : TAMIS_E_DOMAIN;
}

/* The state when r keys per block have arrived: the arrivals at a block of each choice, the looks per
 * block of the whole filter, and the keys per block in the list with their variance. */
typedef struct filling {
    double arrivals[CHOICES_MAX];
    double looks;
    double listed;
    double variance;
} filling;

/* What a sub-table sends on varies by itself, and also f times as much as what it got from the one before.
 * The last sub-tables are small, and several times the variance of independent keys comes out of them. */
static filling model_balance_fill_mht(const tamis_balance_shape *s, double r) {
    filling f = {.listed = r};
    for (unsigned i = 0; i < s->choices; i++) {
        const double share = s->scheme == TAMIS_BALANCE_MHT ? s->shares[i] : 1;
        f.looks += f.listed;
        f.arrivals[i] = f.listed / share;
        const block b = model_balance_block_after(f.arrivals[i], s->threshold, s->coin);
        f.listed = share * b.lost;
        f.variance = b.fail * b.fail * f.variance +
                     share * model_balance_lost_variance(f.arrivals[i], s->threshold, s->coin, &b);
    }
    return f;
}

static filling model_balance_fill_sequential(const tamis_balance_shape *s, double r) {
    filling f = {.looks = 0};
    f.looks = model_balance_sequential_looks(r, s->threshold, s->coin, s->choices, &f.listed);
    for (unsigned i = 0; i < s->choices; i++)
        f.arrivals[i] = f.looks;
    f.variance = r > 0 ? f.listed * (1 - f.listed / r) : 0;
    return f;
}

static filling model_balance_fill(const tamis_balance_shape *s, double r) {
    return s->scheme == TAMIS_BALANCE_SEQUENTIAL ? model_balance_fill_sequential(s, r)
                                                 : model_balance_fill_mht(s, r);
}

/* Fill with r keys per block, but stop when the budget of looks is used up; later keys go to the list.
 * 'inserted' is what came before. */
static filling model_balance_fill_within_budget(const tamis_balance_shape *s, double r,
                                                double *inserted) {
    filling f = model_balance_fill(s, r);
    const double budget = s->budget * r;
    *inserted = r;
    if (s->budget == 0 || f.looks <= budget * (1 + 1e-12))
        return f;
    double low = 0, high = r;
    for (unsigned i = 0; i < 60; i++) {
        const double middle = low + (high - low) / 2;
        if (model_balance_fill(s, middle).looks < budget)
            low = middle;
        else
            high = middle;
    }
    f = model_balance_fill(s, high);
    *inserted = high;
    f.listed += r - high;
    return f;
}

/* A query for an absent key goes on from a block if its load is h or more: the block might have sent
 * the key away.  If the coin is a function of key and choice, a block with load h whose coin says "in"
 * would have kept the key, and also ends the query.  Then a query goes on exactly if an insert would. */
static double model_balance_goes_on(const block *b, bool keyed_coin) {
    return keyed_coin ? b->fail : b->at + b->above;
}

/* Does balance_finite.c fill it? */
static bool model_balance_is_finite(const tamis_balance_shape *s) {
    return s->blocks > 0 && s->scheme != TAMIS_BALANCE_SEQUENTIAL;
}

static uint64_t model_balance_keys(const tamis_balance_shape *s, double load) {
    return (uint64_t)round(load * (double)s->blocks);
}

/* The state of a finite number of blocks; the budget is used up when 'inserted' keys per block are in. */
static void model_balance_state_finite(const tamis_balance_shape *s, double load, double inserted,
                                       tamis_balance_state *found) {
    const double m = (double)s->blocks;
    tamis_i_balance_finite f;
    tamis_i_balance_fill(s, model_balance_keys(s, inserted), false, NULL, &f);
    found->reads_absent = f.reads;
    tamis_i_balance_fill(s, model_balance_keys(s, inserted), true, NULL, &f);
    found->reads_absent_keyed = f.reads;
    for (unsigned i = 0; i < s->choices; i++)
        found->arrivals[i] = f.arrivals[i];
    found->accesses = f.looks / m / load;
    found->overflow = (f.listed / m + load - inserted) / load;
    found->overflow_variance = f.variance / m;
    found->reads_present = found->accesses + (load - inserted) * found->reads_absent / load;
}

tamis_status tamis_model_balance_state(const tamis_balance_shape *shape, double load,
                                       tamis_balance_state *state) {
    tamis_balance_shape s;
    const tamis_status status = model_balance_take_shape(shape, load, &s);
    if (status != TAMIS_OK)
        return status;
    double inserted;
    const filling f = model_balance_fill_within_budget(&s, load, &inserted);
    tamis_balance_state found = {.struct_size = sizeof found};
    if (model_balance_is_finite(&s) && load > 0) {
        model_balance_state_finite(&s, load, inserted, &found);
        return tamis_i_struct_out(state, &found, sizeof found) ? TAMIS_OK : TAMIS_E_ARGUMENT;
    }
    double reach = 1, reach_keyed = 1;
    for (unsigned i = 0; i < s.choices; i++) {
        const block b = model_balance_block_after(f.arrivals[i], s.threshold, s.coin);
        found.arrivals[i] = f.arrivals[i];
        found.reads_absent += reach;
        found.reads_absent_keyed += reach_keyed;
        reach *= model_balance_goes_on(&b, false);
        reach_keyed *= model_balance_goes_on(&b, true);
    }
    if (load > 0) {
        found.accesses = f.looks / load;
        found.overflow = f.listed / load;
        found.overflow_variance = f.variance;
        found.reads_present = (f.looks + (load - inserted) * found.reads_absent) / load;
    } else {
        found.accesses = found.reads_present = found.reads_absent_keyed;
    }
    return tamis_i_struct_out(state, &found, sizeof found) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

/* Local filters: phi(i), the error rate of a block of 'bits' bits with i keys and k hashes. */
typedef tamis_status (*local_rate)(unsigned bits, unsigned keys, unsigned k, double *rate);

static tamis_status model_balance_local_exact(unsigned bits, unsigned keys, unsigned k,
                                              double *rate) {
    return tamis_model_bloom_exact(bits, keys, k, rate);
}

/* Section IX: phi(i) = (1 - e^(-ki/(B-b)))^k.  (The first form there has B as the outer exponent, which
 * is a mistake.) */
static tamis_status model_balance_local_printed(unsigned bits, unsigned keys, unsigned k,
                                                double *rate) {
    *rate = pow(-expm1(-(double)k * keys / bits), k);
    return TAMIS_OK;
}

/* What a query meets at its i-th block: an error; an error where it would otherwise have gone on; that
 * it goes on. */
typedef struct meeting {
    double error, error_and_on, on;
} meeting;

static tamis_status model_balance_meet(const tamis_balance_shape *s, const filling *f,
                                       bool keyed_coin, unsigned bits, unsigned k, local_rate rate,
                                       meeting *met) {
    block b[CHOICES_MAX];
    for (unsigned i = 0; i < s->choices; i++) {
        b[i] = model_balance_block_after(f->arrivals[i], s->threshold, s->coin);
        met[i] = (meeting){.on = model_balance_goes_on(&b[i], keyed_coin)};
    }
    for (unsigned load = 0; load <= s->threshold + 1; load++) {
        double error;
        const tamis_status status = rate(bits, load, k, &error);
        if (status != TAMIS_OK)
            return status;
        for (unsigned i = 0; i < s->choices; i++) {
            const double weight = load < s->threshold    ? model_balance_point(f->arrivals[i], load)
                                  : load == s->threshold ? b[i].at
                                                         : b[i].above;
            met[i].error += weight * error;
            if (load > s->threshold || (load == s->threshold && !keyed_coin))
                met[i].error_and_on += weight * error;
            else if (load == s->threshold)
                met[i].error_and_on += (1 - s->coin) * weight * error;
        }
    }
    return TAMIS_OK;
}

static tamis_status model_balance_meet_all(const tamis_balance_shape *shape, double load,
                                           bool keyed_coin, unsigned bits, unsigned k,
                                           local_rate rate, unsigned *choices, meeting *met) {
    tamis_balance_shape s;
    const tamis_status status = model_balance_take_shape(shape, load, &s);
    if (status != TAMIS_OK)
        return status;
    if (bits < 1 || bits > 4096 || k < 1 || k > 64)
        return TAMIS_E_DOMAIN;
    double inserted;
    const filling f = model_balance_fill_within_budget(&s, load, &inserted);
    *choices = s.choices;
    return model_balance_meet(&s, &f, keyed_coin, bits, k, rate, met);
}

/* The same for a finite number of blocks. */
static tamis_status model_balance_fpr_finite(const tamis_balance_shape *s, double load,
                                             bool keyed_coin, unsigned bits, unsigned hashes,
                                             double *fpr) {
    double rates[THRESHOLD_MAX + 2], inserted;
    for (unsigned i = 0; i <= s->threshold + 1; i++) {
        const tamis_status status = model_balance_local_exact(bits, i, hashes, &rates[i]);
        if (status != TAMIS_OK)
            return status;
    }
    const filling f = model_balance_fill_within_budget(s, load, &inserted);
    if (s->scheme == TAMIS_BALANCE_SEQUENTIAL) {
        *fpr = tamis_i_balance_sequential(s, f.looks * (double)s->blocks, keyed_coin, rates);
        return TAMIS_OK;
    }
    tamis_i_balance_finite filled;
    tamis_i_balance_fill(s, model_balance_keys(s, inserted), keyed_coin, rates, &filled);
    *fpr = filled.fpr;
    return TAMIS_OK;
}

/* A query that meets no error goes on with the chance that it does so and met none. */
tamis_status tamis_model_balance_fpr(const tamis_balance_shape *shape, double load, bool keyed_coin,
                                     unsigned bits, unsigned hashes, double *fpr) {
    meeting met[CHOICES_MAX];
    unsigned d;
    tamis_balance_shape own;
    if (model_balance_take_shape(shape, load, &own) == TAMIS_OK && own.blocks > 0 && load > 0 &&
        bits >= 1 && bits <= 4096 && hashes >= 1 && hashes <= 64)
        return model_balance_fpr_finite(&own, load, keyed_coin, bits, hashes, fpr);
    const tamis_status status = model_balance_meet_all(shape, load, keyed_coin, bits, hashes,
                                                       model_balance_local_exact, &d, met);
    if (status != TAMIS_OK)
        return status;
    double sum = 0, reach = 1;
    for (unsigned i = 0; i < d; i++) {
        sum += reach * met[i].error;
        reach *= fmax(0, met[i].on - met[i].error_and_on);
    }
    *fpr = fmin(sum, 1);
    return TAMIS_OK;
}

/* Section IX: sum over j of P_j FPR_j, where P_j is the chance that a query reads j blocks or more. */
tamis_status tamis_model_balance_fpr_printed(const tamis_balance_shape *shape, double load,
                                             unsigned bits, unsigned hashes, double *fpr) {
    meeting met[CHOICES_MAX];
    unsigned d;
    const tamis_status status = model_balance_meet_all(shape, load, false, bits, hashes,
                                                       model_balance_local_printed, &d, met);
    if (status != TAMIS_OK)
        return status;
    double sum = 0, reach = 1;
    for (unsigned i = 0; i < d; i++) {
        sum += reach * met[i].error;
        reach *= met[i].on;
    }
    *fpr = fmin(sum, 1);
    return TAMIS_OK;
}
