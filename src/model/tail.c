/* tail.c - Poisson and binomial distributions, and their tails
 *
 * Symbols: lambda = mean of the Poisson distribution, n = trials and q = chance of each in the
 * binomial one, x = the value that the variable X is compared with.
 *
 * A point probability is the product of a power, an exponential and a factorial that are each far
 * outside the range of a double.  Their logarithms are large and nearly cancel.  So the difference is
 * written down directly (Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000):
 *
 *     P(X = x) = exp(-delta(x) - D(x, lambda)) / sqrt(2 pi x)
 *
 *     D(x, y)  = x log(x/y) + y - x          the cost of being at x and not at y
 *     delta(x) = log(x! / (sqrt(2 pi x) (x/e)^x))    the error of Stirling's formula
 *
 * D is summed as a series near x = y, where its three terms cancel.
 *
 * A tail is its largest point probability times a sum of ratios, all positive, if the terms fall away from
 * the mean.  A tail that contains the mean is one minus the other.  No subtraction touches a small result.
 *
 * Confirmed by tests/model/test_model_tail.c: relative error below 1e-12 against sums in extended
 * precision, for results down to 1e-300.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

static const double two_pi = 6.283185307179586476925286766559;

/* Means above this would take too many terms. */
static const double mean_max = 1099511627776.0; /* 2^40 */

/* delta(x) for whole x >= 1: from a table, and from 16 on by Stirling's series, whose first omitted
 * term is below 2e-16. */
static double model_tail_stirling_error(double x) {
    static const double small[] = {0,
                                   0.0810614667953272582,
                                   0.0413406959554092941,
                                   0.0276779256849983391,
                                   0.0207906721037650931,
                                   0.0166446911898211922,
                                   0.013876128823070748,
                                   0.0118967099458917701,
                                   0.0104112652619720965,
                                   0.00925546218271273292,
                                   0.00833056343336287126,
                                   0.00757367548795184079,
                                   0.00694284010720952987,
                                   0.00640899418800420707,
                                   0.00595137011275884774,
                                   0.00555473355196280137};
    if (x < 16)
        return small[(int)x];
    const double xx = x * x;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / xx) / xx) / xx) / xx) /
           x;
}

/* D(x, y) for x, y > 0.  Near x = y with v = (x - y) / (x + y):
 * D = (x - y) v + 2 x (v^3/3 + v^5/5 + ...). */
static double model_tail_deviance(double x, double y) {
    if (fabs(x - y) >= 0.1 * (x + y))
        return x * log(x / y) + y - x;
    const double v = (x - y) / (x + y);
    double sum = (x - y) * v;
    double power = 2 * x * v;
    for (double odd = 3;; odd += 2) {
        power *= v * v;
        const double next = sum + power / odd;
        if (next == sum)
            return sum;
        sum = next;
    }
}

static double model_tail_poisson(double mean, double x) {
    if (x == 0)
        return exp(-mean);
    if (mean == 0)
        return 0;
    return exp(-model_tail_stirling_error(x) - model_tail_deviance(x, mean)) / sqrt(two_pi * x);
}

static double model_tail_binomial(double n, double q, double x) {
    if (x > n)
        return 0;
    if (q == 0 || q == 1)
        return x == n * q ? 1 : 0;
    if (x == 0)
        return exp(n * log1p(-q));
    if (x == n)
        return exp(n * log(q));
    const double rest = n - x;
    const double exponent = model_tail_stirling_error(n) - model_tail_stirling_error(x) -
                            model_tail_stirling_error(rest) - model_tail_deviance(x, n * q) -
                            model_tail_deviance(rest, n * (1 - q));
    return exp(exponent) * sqrt(n / (two_pi * x * rest));
}

/* Sums of point probabilities, relative to the first, away from the mean: the terms fall, at first
 * slowly.  About 9 standard deviations of terms count. */
static double model_tail_poisson_sum_up(double mean, double x) {
    double sum = 1;
    for (double term = 1; term > sum * 1e-17;) {
        x++;
        term *= mean / x;
        sum += term;
    }
    return sum;
}

static double model_tail_poisson_sum_down(double mean, double x) {
    double sum = 1;
    for (double term = 1; term > sum * 1e-17; x--) {
        term *= x / mean;
        sum += term;
    }
    return sum;
}

static double model_tail_binomial_sum_up(double n, double q, double x) {
    const double odds = q / (1 - q);
    double sum = 1;
    for (double term = 1; term > sum * 1e-17; x++) {
        term *= (n - x) / (x + 1) * odds;
        sum += term;
    }
    return sum;
}

static double model_tail_binomial_sum_down(double n, double q, double x) {
    const double odds = (1 - q) / q;
    double sum = 1;
    for (double term = 1; term > sum * 1e-17; x--) {
        term *= x / (n - x + 1) * odds;
        sum += term;
    }
    return sum;
}

/* P(X > x) and P(X <= x) at once.  A side is summed if its terms fall from the first on; otherwise it
 * is the complement of the other, and not small.  Near the mean both are summed, since one of them may
 * still be small there, if the mean or n - nq is. */
static void model_tail_poisson_sides(double mean, double x, double *above, double *up_to) {
    if (mean == 0) {
        *above = 0;
        *up_to = 1;
        return;
    }
    if (x + 1 >= mean)
        *above = model_tail_poisson(mean, x + 1) * model_tail_poisson_sum_up(mean, x + 1);
    if (x <= mean)
        *up_to = model_tail_poisson(mean, x) * model_tail_poisson_sum_down(mean, x);
    if (x + 1 < mean)
        *above = 1 - *up_to;
    if (x > mean)
        *up_to = 1 - *above;
}

static void model_tail_binomial_sides(double n, double q, double x, double *above, double *up_to) {
    if (x >= n || q == 0) {
        *above = 0;
        *up_to = 1;
        return;
    }
    if (q == 1) {
        *above = 1;
        *up_to = 0;
        return;
    }
    const double mean = n * q;
    if (x + 1 >= mean)
        *above = model_tail_binomial(n, q, x + 1) * model_tail_binomial_sum_up(n, q, x + 1);
    if (x <= mean)
        *up_to = model_tail_binomial(n, q, x) * model_tail_binomial_sum_down(n, q, x);
    if (x + 1 < mean)
        *above = 1 - *up_to;
    if (x > mean)
        *up_to = 1 - *above;
}

static bool model_tail_poisson_domain(double mean) {
    return mean >= 0 && mean <= mean_max;
}

static bool model_tail_binomial_domain(uint64_t n, double q) {
    if (n > (uint64_t)1 << 53 || !(q >= 0 && q <= 1))
        return false;
    const double mean = (double)n * (q < 0.5 ? q : 1 - q);
    return mean <= mean_max;
}

tamis_status tamis_model_poisson(double mean, uint64_t x, double *p) {
    if (!model_tail_poisson_domain(mean))
        return TAMIS_E_DOMAIN;
    *p = model_tail_poisson(mean, (double)x);
    return TAMIS_OK;
}

tamis_status tamis_model_poisson_tail(double mean, uint64_t x, double *p) {
    if (!model_tail_poisson_domain(mean))
        return TAMIS_E_DOMAIN;
    double up_to;
    model_tail_poisson_sides(mean, (double)x, p, &up_to);
    return TAMIS_OK;
}

tamis_status tamis_model_poisson_head(double mean, uint64_t x, double *p) {
    if (!model_tail_poisson_domain(mean))
        return TAMIS_E_DOMAIN;
    double above;
    model_tail_poisson_sides(mean, (double)x, &above, p);
    return TAMIS_OK;
}

tamis_status tamis_model_binomial(uint64_t n, double q, uint64_t x, double *p) {
    if (!model_tail_binomial_domain(n, q))
        return TAMIS_E_DOMAIN;
    *p = model_tail_binomial((double)n, q, (double)x);
    return TAMIS_OK;
}

tamis_status tamis_model_binomial_tail(uint64_t n, double q, uint64_t x, double *p) {
    if (!model_tail_binomial_domain(n, q))
        return TAMIS_E_DOMAIN;
    double up_to;
    model_tail_binomial_sides((double)n, q, (double)x, p, &up_to);
    return TAMIS_OK;
}

tamis_status tamis_model_binomial_head(uint64_t n, double q, uint64_t x, double *p) {
    if (!model_tail_binomial_domain(n, q))
        return TAMIS_E_DOMAIN;
    double above;
    model_tail_binomial_sides((double)n, q, (double)x, &above, p);
    return TAMIS_OK;
}
