/* occupancy.h - how many cells of a table are hit, exactly: the scatter of error rates
 *
 * A table of m cells gets throws at random cells.  The number X of cells that were hit is a Markov chain,
 * whose distribution is followed throw by throw.  The error rate of a filter with this table is
 * f = (X/m)^k, so that the mean and the variance of f over all tables follow without approximation.
 *
 * Written from the definition and without a look at src/model/, which it checks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_MODEL_OCCUPANCY_H
#define TAMIS_TESTS_MODEL_OCCUPANCY_H

#include <math.h>
#include <stdlib.h>

typedef struct occupancy {
    unsigned m;
    double *p; /* p[x]: probability that x cells are hit */
} occupancy;

static inline void occupancy_init(occupancy *o, unsigned m) {
    o->m = m;
    o->p = calloc((size_t)m + 1, sizeof *o->p);
    if (o->p == NULL)
        abort();
    o->p[0] = 1;
}

static inline void occupancy_free(occupancy *o) {
    free(o->p);
}

static inline void occupancy_throw(occupancy *o, unsigned long throws) {
    for (; throws > 0; throws--) {
        for (unsigned x = o->m; x > 0; x--)
            o->p[x] = o->p[x] * x / o->m + o->p[x - 1] * (o->m - x + 1) / o->m;
        o->p[0] = 0;
    }
}

/* The mean of (X/m)^power. */
static inline double occupancy_moment(const occupancy *o, unsigned power) {
    double sum = 0;
    for (unsigned x = 0; x <= o->m; x++)
        sum += o->p[x] * pow((double)x / o->m, power);
    return sum;
}

/* The same for a large table, in the limit of many cells: X is nearly normal with
 *
 *     mean  m (1 - e^-a),   variance  m e^-a (1 - (1 + a) e^-a),   a = throws / m
 *
 * (Kolchin, Sevastyanov and Chistyakov, "Random Allocations", 1978), and f = (X/m)^k scatters relative
 * to its mean by k times what X does. */
static inline double occupancy_scatter(double m, double throws, unsigned k) {
    const double a = throws / m, empty = exp(-a);
    return k * sqrt(m * empty * (1 - (1 + a) * empty)) / (m * (1 - empty));
}

#endif
