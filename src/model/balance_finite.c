/* balance_finite.c - balanced Bloom filters of a finite number of blocks
 *
 * The limit of many blocks uses the mean for everything that the sub-tables of MHT hand on.  With 64
 * blocks the last sub-table has one or two, and the number of arrivals there scatters by as much as its
 * mean.  Here the number of arrivals N_i at sub-table i, of m_i blocks, is a random number:
 *
 *   - N_1 = n.  Given N_i, a block gets X ~ Binomial(N_i, 1/m_i) of them.  Its load, the keys l that it
 *     sends away and whether a query goes on from it ("on") follow from X and the coins, as in balance.c.
 *   - N_i+1 is the sum of l over the blocks.  Its mean is m_i E[l]; its variance is
 *     m_i (Var l - b^2 Var X), b = Cov(l, X) / Var X: the blocks share N_i arrivals, and what follows
 *     linearly from X adds up to a constant.  Its distribution is taken from the Katz family (binomial,
 *     Poisson or negative binomial, whichever has this mean and variance).
 *   - A query for an absent key takes a random block of sub-table i.  If it goes on from there, it has
 *     met a fuller block than usual, and the mean of N_i+1 is then higher by E[l - bX | on] - E[l - bX].
 *
 * The error rate is F_1 + c_1 (F_2 + c_2 (F_3 + ...)) as in the limit, where F_i and c_i are means over
 * N_i given that the query has come that far.  It is exact for SINGLE.  For MHT, the shape of the
 * distribution of N_i beyond its variance is neglected.
 *
 * SEQUENTIAL.  Each look is at a random block, independent of earlier ones.  So after K looks in all,
 * the blocks have X ~ Binomial(K, 1/m) arrivals, like one table of MHT.  K is where n keys are in: if
 * blocks have sent away more than the mean, it is larger.  To first order a mean over the blocks, A =
 * E[a(X)], then deviates by the mean of
 *
 *     u(X) = a(X) - A' / (1 - f) g(X),    g = X - l keys taken,   1 - f = E[g]',   A' = Cov(a, X) / Var X,
 *
 * which is uncorrelated with X.  With F the mean error of a block, and s the mean of "on, and no
 * error", a query errs with probability E[F (1 + s + ... + s^(d-1))], expanded to second order.  A
 * choice that repeats an earlier block adds no error.
 *
 * Confirmed by tests/model/test_filter_balanced_few.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/balance.h"

#include <math.h>

#include "base/base.h"

#define NODES      256u  /* of a distribution of arrivals: more than ever needed */
#define SPACING    0.125 /* between them, in standard deviations */
#define SMOOTH     64.0  /* from this standard deviation on, they are as good as normal */
#define LITTLE     0.3   /* below this variance two neighbouring numbers are enough */
#define CROWD      1e5   /* arrivals at a block that takes thousands: any number is as good */
#define NEGLIGIBLE 1e-12

/* ---- one block ---- */

/* Means over a block. x, l, e, s: arrivals, keys sent away, error, on and no error; xx: of x^2, etc. */
typedef struct finite_block {
    double x, l, e, s;
    double xx, xl, xe, xs, ll, le, ls, ee, es, ss;
    double on;
} finite_block;

/* A load of this weight. */
static void model_balance_finite_add(finite_block *b, double weight, double x, double l, double e,
                                     double on) {
    const double s = on * (1 - e);
    b->x += weight * x;
    b->l += weight * l;
    b->e += weight * e;
    b->s += weight * s;
    b->on += weight * on;
    b->xx += weight * x * x;
    b->xl += weight * x * l;
    b->xe += weight * x * e;
    b->xs += weight * x * s;
    b->ll += weight * l * l;
    b->le += weight * l * e;
    b->ls += weight * l * s;
    b->ee += weight * e * e;
    b->es += weight * e * s;
    b->ss += weight * s * s;
}

/* A block with i arrivals.  'late' is the chance that the coin has let one in after the h-th. */
static void model_balance_finite_arrivals(finite_block *b, const tamis_balance_shape *shape,
                                          bool keyed_coin, const double *rates, double weight,
                                          uint64_t i, double late) {
    const uint64_t h = shape->threshold;
    const double x = (double)i;
    if (i < h) {
        model_balance_finite_add(b, weight, x, 0, rates != NULL ? rates[i] : 0, 0);
        return;
    }
    const double lost = x - (double)h;
    const double on = keyed_coin ? 1 - shape->coin : 1;
    if (late < 1)
        model_balance_finite_add(b, weight * (1 - late), x, lost, rates != NULL ? rates[h] : 0, on);
    if (late > 0)
        model_balance_finite_add(b, weight * late, x, lost - 1, rates != NULL ? rates[h + 1] : 0,
                                 1);
}

/* X ~ Binomial(keys, 1/blocks). */
static finite_block model_balance_finite_block_of(const tamis_balance_shape *shape, uint64_t keys,
                                                  uint64_t blocks, bool keyed_coin,
                                                  const double *rates) {
    finite_block b = {.x = 0};
    const double q = 1 / (double)blocks, mean = (double)keys * q, coin = shape->coin;
    const uint64_t h = shape->threshold;
    const double from = floor(mean - 12 * sqrt(mean) - 12);
    const bool fixed = blocks == 1 || mean > CROWD;
    uint64_t i = fixed ? (uint64_t)mean : from > 0 ? (uint64_t)from : 0;
    double weight = 1, all = 0, late = 0;
    if (i > h)
        late = coin < 1 ? -expm1((double)(i - h) * log1p(-coin)) : 1;
    if (fixed || tamis_model_binomial(keys, q, i, &weight) != TAMIS_OK) {
        model_balance_finite_arrivals(&b, shape, keyed_coin, rates, 1, i, late);
        return b;
    }
    for (; i <= keys; i++) {
        model_balance_finite_arrivals(&b, shape, keyed_coin, rates, weight, i, late);
        all += weight;
        if ((double)i > mean && weight < 1e-17 * all * (i > h ? fmin(b.l, 1) : 1))
            break;
        weight *= (double)(keys - i) / (double)(i + 1) * (q / (1 - q));
        late = i >= h ? late + coin * (1 - late) : 0;
    }
    return b;
}

/* b of the header comment; a single block has a fixed number of arrivals. */
static double model_balance_finite_slope(const finite_block *b, uint64_t blocks, double with_x,
                                         double mean) {
    return blocks > 1 && b->xx > b->x * b->x ? (with_x - mean * b->x) / (b->xx - b->x * b->x) : 0;
}

/* ---- the arrivals at a sub-table ---- */

typedef struct finite_node {
    uint64_t keys;
    double weight;
} finite_node;

/* Nodes from 'from' on, upwards (step > 0) or downwards.  The first has weight 1, and the weights
 * follow from the ratio of the Katz family, P(j + 1) / P(j) = (alpha + beta j) / (j + 1).  Far from the
 * limits of that family, it is the normal distribution. */
static unsigned model_balance_finite_nodes_along(double mean, double deviation, double from,
                                                 double step, finite_node *nodes, unsigned n) {
    const double beta = 1 - mean / (deviation * deviation), alpha = mean * (1 - beta);
    double weight = 1;
    for (double j = from; n < NODES && weight > NEGLIGIBLE; n++) {
        nodes[n] = (finite_node){(uint64_t)j, weight};
        const double next = j + step;
        if (next < 0)
            return n + 1;
        if (deviation > SMOOTH) {
            const double z = (next - mean) / deviation;
            weight = exp(-z * z / 2);
        } else {
            for (; j < next; j++)
                weight *= fmax(alpha + beta * j, 0) / (j + 1);
            for (; j > next; j--)
                weight *= j / (alpha + beta * (j - 1));
        }
        j = next;
    }
    return n;
}

/* Numbers of arrivals with this mean and variance, and their odds, which add up to 1. */
static unsigned model_balance_finite_nodes(double mean, double variance, finite_node *nodes) {
    const double centre = floor(mean);
    if (!(variance > LITTLE)) {
        nodes[0] = (finite_node){(uint64_t)centre, 1 - (mean - centre)};
        nodes[1] = (finite_node){(uint64_t)centre + 1, mean - centre};
        return 2;
    }
    const double deviation = sqrt(variance), step = fmax(1, floor(SPACING * deviation));
    unsigned n = model_balance_finite_nodes_along(mean, deviation, centre, step, nodes, 0);
    const unsigned upwards = n;
    if (centre >= step)
        n = model_balance_finite_nodes_along(mean, deviation, centre, -step, nodes, n);
    if (n > upwards) /* the centre is there twice */
        nodes[upwards].weight = 0;
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += nodes[i].weight;
    for (unsigned i = 0; i < n; i++)
        nodes[i].weight /= sum;
    return n;
}

/* ---- all sub-tables ---- */

/* Arrivals at a sub-table, by mean and variance. */
typedef struct finite_flow {
    double mean, variance;
} finite_flow;

/* What a sub-table does with them, as means over the number of arrivals: e, on and s as for a block;
 * and what it sends on, for all, or for those queries that meet no error and go on. */
typedef struct finite_passage {
    double e, on, s;
    finite_flow next;
} finite_passage;

static finite_passage model_balance_finite_pass(const tamis_balance_shape *shape, finite_flow in,
                                                uint64_t blocks, bool keyed_coin,
                                                const double *rates, bool of_query) {
    finite_node nodes[NODES];
    const unsigned n = model_balance_finite_nodes(in.mean, in.variance, nodes);
    const double m = (double)blocks;
    finite_passage out = {.e = 0};
    double weights = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        if (nodes[i].weight == 0)
            continue;
        const finite_block b =
            model_balance_finite_block_of(shape, nodes[i].keys, blocks, keyed_coin, rates);
        const double along = model_balance_finite_slope(&b, blocks, b.xl, b.l);
        const double vx = b.xx - b.x * b.x, vl = b.ll - b.l * b.l;
        double mean = m * b.l;
        const double variance = m * fmax(vl - along * along * vx, 0);
        if (of_query && b.s > 0)
            mean += (b.ls - along * b.xs) / b.s - (b.l - along * b.x);
        const double weight = nodes[i].weight * (of_query ? b.s : 1);
        out.e += nodes[i].weight * b.e;
        out.on += nodes[i].weight * b.on;
        out.s += nodes[i].weight * b.s;
        weights += weight;
        out.next.mean += weight * mean;
        squares += weight * (mean * mean + variance);
    }
    if (weights > 0) {
        out.next.mean = fmax(out.next.mean / weights, 0);
        out.next.variance = fmax(squares / weights - out.next.mean * out.next.mean, 0);
    }
    return out;
}

static uint64_t model_balance_finite_blocks(const tamis_balance_shape *shape, unsigned i) {
    if (shape->scheme != TAMIS_BALANCE_MHT)
        return shape->blocks;
    return (uint64_t)fmax(1, round(shape->shares[i] * (double)shape->blocks));
}

void tamis_i_balance_fill(const tamis_balance_shape *shape, uint64_t n, bool keyed_coin,
                          const double *rates, tamis_i_balance_finite *filled) {
    finite_flow all = {.mean = (double)n, .variance = 0}, met = all;
    double reach = 1, reach_clean = 1;
    *filled = (tamis_i_balance_finite){.looks = 0};
    for (unsigned i = 0; i < shape->choices; i++) {
        const uint64_t blocks = model_balance_finite_blocks(shape, i);
        filled->looks += all.mean;
        filled->arrivals[i] = all.mean / (double)blocks;
        filled->reads += reach;
        const finite_passage of_keys =
            model_balance_finite_pass(shape, all, blocks, keyed_coin, rates, false);
        const finite_passage of_query =
            model_balance_finite_pass(shape, met, blocks, keyed_coin, rates, true);
        filled->fpr += reach_clean * of_query.e;
        reach *= of_query.on;
        reach_clean *= of_query.s;
        all = of_keys.next;
        met = of_query.next;
    }
    filled->listed = all.mean;
    filled->variance = all.variance;
    filled->fpr = fmin(filled->fpr, 1);
}

/* ---- SEQUENTIAL ---- */

double tamis_i_balance_sequential(const tamis_balance_shape *shape, double looks, bool keyed_coin,
                                  const double *rates) {
    const finite_block b = model_balance_finite_block_of(shape, (uint64_t)round(looks),
                                                         shape->blocks, keyed_coin, rates);
    const double m = (double)shape->blocks,
                 taken = 1 - model_balance_finite_slope(&b, shape->blocks, b.xl, b.l);
    /* g = x - l: its mean products with e, s and itself, as covariances */
    const double eg = b.xe - b.le - b.e * (b.x - b.l), sg = b.xs - b.ls - b.s * (b.x - b.l);
    const double gg = b.xx - 2 * b.xl + b.ll - (b.x - b.l) * (b.x - b.l);
    const double per_e =
        taken > 0 ? model_balance_finite_slope(&b, shape->blocks, b.xe, b.e) / taken : 0;
    const double per_s =
        taken > 0 ? model_balance_finite_slope(&b, shape->blocks, b.xs, b.s) / taken : 0;
    const double vs = (b.ss - b.s * b.s - 2 * per_s * sg + per_s * per_s * gg) / m;
    const double es = (b.es - b.e * b.s - per_e * sg - per_s * eg + per_e * per_s * gg) / m;
    double sum = 0, power = 1; /* s^k */
    for (unsigned k = 0; k < shape->choices; k++, power *= b.s) {
        sum += b.e * power;
        if (k >= 1) /* the mean of e s^k, minus what a repeated block would add */
            sum += k * power / b.s * (es - b.es / m);
        if (k >= 2)
            sum += 0.5 * k * (k - 1) * power / (b.s * b.s) * b.e * vs;
    }
    return fmin(fmax(sum, 0), 1);
}
