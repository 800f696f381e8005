/* fill.c - does a table have more keys than it is made for?
 *
 * A union counts keys that both sets have twice, and a counter counts copies: where that happens only the
 * table knows how many different keys there are.  Its error rate is a poor witness.  At low rates a few
 * blocks, or the last hundredths of the fill, make up all of it, and of just as many keys as were planned it
 * is three times the mean in one small set and a third in the next.  How many cells are set is a good one: it
 * has almost all that the table knows about the number of keys, and scatters by 2/3 / sqrt(n k) of the keys,
 * with n keys of k hashes each.
 *
 * So the cells that are set are compared with those that n keys set.  Let a table be B blocks of s cells, and
 * q the odds that a key sets a given cell of its block.  A cell is clear after n keys with odds of
 *
 *      c = (1 - q / B)^n,                            and N = B s cells have a mean of N (1 - c) set ones.
 *
 * Two cells are both clear with c^2 (1 + d)^n, where (1 - q / B)^2 d is the difference of the odds that one
 * key spares both to the square of the odds that it spares one:
 *
 *      in different blocks       - q^2 / B^2
 *      in one block              r / B + q^2 / B (1 - 1 / B),  r the covariance of two cells of a block
 *
 * k draws of one among s cells have r = (1 - q)^2 ((1 - 1 / (s - 1)^2)^k - 1); one draw in each of k lanes
 * has r = -q^2 within a lane, and 0 between them.  The variance of the number of set cells, which is that
 * of the clear ones, is the sum over all pairs.  All of it is exact as far as hashes are random.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"

#include <errno.h>
#include <math.h>

/* By how much, in parts of c^2, two cells are clear together more often than if they were independent. */
static double fill_excess(double keys, double odds, double d) {
    return expm1(keys * log1p(d / ((1 - odds) * (1 - odds))));
}

void tamis_i_fill_of(const tamis_i_fill_shape *shape, double keys, tamis_i_fill *fill) {
    const int saved = errno; /* the mathematics may set it where odds underflow to 0 */
    const double b = shape->blocks, s = shape->cells, k = shape->hashes, n = b * s;
    const double span = shape->lanes ? s / k : s;
    const double q = shape->lanes ? 1 / span : -expm1(k * log1p(-1 / s));
    const double r =
        shape->lanes ? -q * q : (1 - q) * (1 - q) * expm1(k * log1p(-1 / ((s - 1) * (s - 1))));
    const double odds = q / b, clear = exp(keys * log1p(-odds));
    const double apart = q * q / b * (1 - 1 / b);
    const double near = (span - 1) * fill_excess(keys, odds, r / b + apart);
    const double lanes = (s - span) * fill_excess(keys, odds, apart);
    const double far = (n - s) * fill_excess(keys, odds, -odds * odds);
    fill->mean = n * (1 - clear);
    fill->variance = n * clear * (1 - clear) + n * clear * clear * (near + lanes + far);
    errno = saved;
}

/* Of kinds that keep fingerprints, and err as often as there are different ones: each is a cell, and of n
 * keys that meet one of them at the rate f there are n / -ln(1 - f) as far as the plan can tell. */
static bool fill_of_fingerprints(const tamis_filter *filter, tamis_i_fill *fill) {
    const double n = (double)filter->params.capacity, cells = n / -log1p(-filter->params.fpr);
    const tamis_i_fill_shape shape = {1, cells, 1, false};
    tamis_info info;
    tamis_i_filter_info(filter, 0, &info);
    tamis_i_fill_of(&shape, n, fill);
    fill->set = info.fpr * cells;
    return filter->params.fpr > 0;
}

void tamis_i_fill_add(const tamis_filter *filter, tamis_i_fill *sum) {
    tamis_i_fill one;
    if (!(filter->kind->fill == NULL ? fill_of_fingerprints : filter->kind->fill)(filter, &one))
        one = (tamis_i_fill){.set = INFINITY};
    sum->set += one.set;
    sum->mean += one.mean;
    sum->variance += one.variance;
}

bool tamis_i_fill_within(const tamis_i_fill *fill) {
    return fill->set <= fill->mean + 5 * sqrt(fill->variance); /* not a number: no */
}

bool tamis_i_filter_fits(const tamis_filter *filter, bool look) {
    const bool even = filter->kind->uneven == NULL || !filter->kind->uneven(filter);
    if (even && filter->state[TAMIS_I_COUNT] <= filter->params.capacity)
        return true;
    tamis_i_fill fill = {0, 0, 0};
    if (look)
        tamis_i_fill_add(filter, &fill);
    return look && tamis_i_fill_within(&fill);
}
