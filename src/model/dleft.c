/* dleft.c - load distributions of d-left hashing in the fluid limit
 *
 * A table has d subtables with equally many buckets.  A key has one bucket in each, chosen
 * independently and uniformly.  It goes to the least loaded of the d, or to the leftmost of these on a
 * tie.  With many buckets the loads follow differential equations: the fluid limit (Broder and
 * Mitzenmacher, INFOCOM 2001; used in both papers of Bonomi et al., 2006).
 *
 * Symbols: i = subtable, from 0; j = load; c = keys per bucket, the mean load; t = time, in keys
 * inserted per bucket; y_ij = fraction of the buckets of subtable i with load j or more, y_i0 = 1;
 * q_ij = y_ij - y_i,j+1, those with load j exactly.
 *
 * A key raises a bucket of subtable i from j-1 to j if it finds load j-1 there, more than that to the
 * left of it and no less to the right:
 *
 *     dy_ij/dt = a_ij (y_i,j-1 - y_ij),     a_ij = d * prod_{l<i} y_lj * prod_{l>i} y_l,j-1.       (1)
 *
 * The tails fall doubly exponentially, y_j is about the d-th power of y_j-1, and must be right in
 * relative terms.  The order of the equations helps: with components sorted by load and then by
 * subtable, a_ij and y_i,j-1 depend on earlier components only.  Each equation in turn is linear in its
 * own component and has the solution
 *
 *     y(t) = exp(-A(t)) (y(0) + integral of a(s) exp(A(s)) y_i,j-1(s) ds),    A' = a,              (2)
 *
 * a sum of positive terms, so a relative error does not grow.  And no error in a small component ever
 * reaches a larger one.  Time is cut into panels, and the integrals of a panel are those of the
 * polynomial through NODES Gauss points.  The fractions at the lower end are as small as those at the
 * upper, so z = 1 - y, which obeys the same equation, is carried beside y.
 *
 * With one deletion of a random key per insertion, (1) loses (j/c) q_ij on the right.  In the steady state
 * the flow over each edge from j-1 to j vanishes, so each subtable has the form of a birth-death chain:
 *
 *     q_ij = q_i,j-1 (mu/j) prod_{l<i} y_lj * prod_{l>i} y_l,j-1,       mu = c d.                  (3)
 *
 * (3) is iterated on log y, where no tail can underflow.  The slowest mode would shift all loads at once.
 * It is held by choosing mu in each round such that the mean load is c.  A solution with the right mean
 * automatically has mu = c d, since the probabilities that a key goes to subtable 0, 1, ... add up to 1.
 *
 * Neglected: the table is finite.  Fractions fluctuate like 1/sqrt(buckets); a tail under 1/buckets is
 * the probability that a bucket gets there.  Confirmed by tests/model/test_model_dleft.c against other
 * panel widths, against simulations of 10^7 keys and against the papers' tables.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

enum {
    CHOICES_MAX = 8,
    MEAN_MAX = 128,
    NODES = 16,
    /* Loads that matter in the steady state with d >= 2: at 40 above the mean, log y is past -10^6. */
    STEADY_LOADS = MEAN_MAX + 40
};

/* ---- insertions only -------------------------------------------------------------------------- */

/* Gauss points on (0, 1), and the weights that turn values at them into integrals from 0 to each
 * point, and to 1. */
typedef struct quadrature {
    double to_node[NODES][NODES];
    double to_end[NODES];
} quadrature;

/* P_0(x) ... P_NODES(x), Legendre's polynomials. */
static void model_dleft_legendre(double x, double p[NODES + 1]) {
    p[0] = 1;
    p[1] = x;
    for (int n = 1; n < NODES; n++)
        p[n + 1] = ((2 * n + 1) * x * p[n] - n * p[n - 1]) / (n + 1);
}

/* The points are the zeros of P_NODES, by Newton's method.  The polynomial through values f_k is
 * sum_n c_n P_n with c_n = (n + 1/2) sum_k w_k P_n(x_k) f_k, and the integral of (2n+1) P_n is
 * P_n+1 - P_n-1. */
static void model_dleft_quadrature_init(quadrature *rule) {
    double p[NODES][NODES + 1];
    double x[NODES];
    double weight[NODES];
    for (int k = 0; k < NODES; k++) {
        x[k] = -cos(3.14159265358979323846 * (k + 0.75) / (NODES + 0.5));
        double slope = 1;
        for (int step = 0; step < 8; step++) {
            model_dleft_legendre(x[k], p[k]);
            slope = NODES * (x[k] * p[k][NODES] - p[k][NODES - 1]) / (x[k] * x[k] - 1);
            x[k] -= p[k][NODES] / slope;
        }
        model_dleft_legendre(x[k], p[k]);
        weight[k] = 2 / ((1 - x[k] * x[k]) * slope * slope);
    }
    for (int k = 0; k < NODES; k++) {
        rule->to_end[k] = weight[k] / 2;
        for (int node = 0; node < NODES; node++) {
            double sum = x[node] + 1;
            for (int n = 1; n < NODES; n++)
                sum += p[k][n] * (p[node][n + 1] - p[node][n - 1]);
            rule->to_node[k][node] = weight[k] * sum / 4;
        }
    }
}

/* Integrals over a panel of width h: result[node] up to each point, result[NODES] over the whole. */
static void model_dleft_integrate(const quadrature *rule, double h, const double f[NODES],
                                  double result[NODES + 1]) {
    for (int node = 0; node <= NODES; node++)
        result[node] = 0;
    for (int k = 0; k < NODES; k++) {
        const double value = h * f[k];
        for (int node = 0; node < NODES; node++)
            result[node] += rule->to_node[k][node] * value;
        result[NODES] += rule->to_end[k] * value;
    }
}

/* One component at the points of the present panel, and at its end. */
typedef struct course {
    double y[NODES + 1];
    double z[NODES + 1];
} course;

/* Values that are too small to matter are 0.  So is what the polynomials make of a component that is
 * just coming up from 0: it is many orders below its value a panel later. */
static double model_dleft_settled(double value) {
    return value > 1e-300 ? value : 0;
}

/* Equation (2) over one panel, for y and z.  'before' is the course of load j-1, 'rate' is a_ij; the
 * components are y0 and z0 when the panel begins. */
static void model_dleft_advance(const quadrature *rule, double h, const double rate[NODES],
                                const course *before, double y0, double z0, course *now) {
    double a[NODES + 1];
    double growth[NODES + 1];
    double fy[NODES];
    double fz[NODES];
    model_dleft_integrate(rule, h, rate, a);
    for (int node = 0; node <= NODES; node++)
        growth[node] = exp(a[node]);
    for (int node = 0; node < NODES; node++) {
        fy[node] = rate[node] * growth[node] * before->y[node];
        fz[node] = rate[node] * growth[node] * before->z[node];
    }
    model_dleft_integrate(rule, h, fy, now->y);
    model_dleft_integrate(rule, h, fz, now->z);
    for (int node = 0; node <= NODES; node++) {
        now->y[node] = model_dleft_settled((y0 + now->y[node]) / growth[node]);
        now->z[node] = model_dleft_settled((z0 + now->z[node]) / growth[node]);
    }
}

/* y and z of all components up to load 'top', at the end of a panel. */
typedef struct loads {
    double y[CHOICES_MAX][TAMIS_MODEL_LOADS_MAX];
    double z[CHOICES_MAX][TAMIS_MODEL_LOADS_MAX];
} loads;

static void model_dleft_panel(const quadrature *rule, unsigned d, unsigned top, double h,
                              loads *state) {
    course courses[2][CHOICES_MAX];
    course *before = courses[0];
    course *now = courses[1];
    for (unsigned i = 0; i < d; i++)
        for (int node = 0; node <= NODES; node++) {
            before[i].y[node] = 1;
            before[i].z[node] = 0;
        }
    for (unsigned j = 1; j <= top; j++) {
        bool reached = false;
        for (unsigned i = 0; i < d; i++) {
            double rate[NODES];
            for (int node = 0; node < NODES; node++) {
                rate[node] = d;
                for (unsigned l = 0; l < d; l++)
                    if (l != i)
                        rate[node] *= l < i ? now[l].y[node] : before[l].y[node];
            }
            model_dleft_advance(rule, h, rate, &before[i], state->y[i][j], state->z[i][j], &now[i]);
            state->y[i][j] = now[i].y[NODES];
            state->z[i][j] = now[i].z[NODES];
            reached = reached || now[i].y[NODES] > 0;
        }
        if (!reached)
            break; /* higher loads are 0 too */
        course *const swap = before;
        before = now;
        now = swap;
    }
}

/* Even half as many panels keep every tail over 1e-100 right to 1e-9. */
static unsigned model_dleft_panels(double mean) {
    return 32 + (unsigned)ceil(20 * mean);
}

static void model_dleft_solve_inserted(unsigned d, double mean, unsigned n_loads,
                                       double *fraction) {
    quadrature rule;
    model_dleft_quadrature_init(&rule);
    loads state;
    for (unsigned i = 0; i < d; i++)
        for (unsigned j = 0; j < n_loads; j++) {
            state.y[i][j] = j == 0 ? 1 : 0;
            state.z[i][j] = j == 0 ? 0 : 1;
        }
    const unsigned n_panels = model_dleft_panels(mean);
    for (unsigned k = 0; k < n_panels; k++)
        model_dleft_panel(&rule, d, n_loads - 1, mean / n_panels, &state);
    for (unsigned i = 0; i < d; i++) {
        const double *const y = state.y[i];
        const double *const z = state.z[i];
        for (unsigned j = 0; j + 1 < n_loads; j++)
            fraction[i * n_loads + j] = y[j] < 0.5 ? y[j] - y[j + 1] : z[j + 1] - z[j];
        fraction[i * n_loads + n_loads - 1] = y[n_loads - 1];
    }
}

/* ---- steady state ----------------------------------------------------------------------------- */

/* Logarithms of q and y for one subtable. */
typedef struct chain {
    double weight[STEADY_LOADS]; /* log of q by (3), up to mu^j and a constant */
    double q[STEADY_LOADS];
    double y[STEADY_LOADS];
} chain;

static double model_dleft_log_add(double a, double b) {
    const double high = a > b ? a : b;
    const double low = a > b ? b : a;
    return isinf(low) ? high : high + log1p(exp(low - high));
}

/* The factors of (3) from the tails of the round before. */
static void model_dleft_weigh(chain *chains, unsigned d, unsigned n, unsigned i) {
    chains[i].weight[0] = 0;
    for (unsigned j = 1; j < n; j++) {
        double product = -log((double)j);
        for (unsigned l = 0; l < d; l++)
            if (l != i)
                product += chains[l].y[l < i ? j : j - 1];
        chains[i].weight[j] = chains[i].weight[j - 1] + product;
    }
}

/* Normalise q for the given log mu; adds the mean and the variance of the load. */
static void model_dleft_normalise(chain *one, unsigned n, double log_mu, double *mean,
                                  double *variance) {
    double top = -INFINITY;
    for (unsigned j = 0; j < n; j++) {
        one->q[j] = one->weight[j] + j * log_mu;
        top = one->q[j] > top ? one->q[j] : top;
    }
    double sum = 0;
    double first = 0;
    double second = 0;
    for (unsigned j = 0; j < n; j++) {
        const double w = exp(one->q[j] - top);
        sum += w;
        first += w * j;
        second += w * j * j;
    }
    for (unsigned j = 0; j < n; j++)
        one->q[j] -= top + log(sum);
    *mean += first / sum;
    *variance += second / sum - first / sum * (first / sum);
}

/* One round of (3); returns the largest change of a log y that is over log 1e-300. */
static double model_dleft_iterate(chain *chains, unsigned d, unsigned n, double mean,
                                  double *log_mu) {
    for (unsigned i = 0; i < d; i++)
        model_dleft_weigh(chains, d, n, i);
    /* Newton's method for mu, on logarithms: a few steps, and the next round continues from there. */
    for (int step = 0; step < 4; step++) {
        double sum = 0;
        double variance = 0;
        for (unsigned i = 0; i < d; i++)
            model_dleft_normalise(&chains[i], n, *log_mu, &sum, &variance);
        const double move = log(mean * d / sum) * sum / variance;
        *log_mu += move > 1 ? 1 : move < -1 ? -1 : move;
    }
    double change = 0;
    for (unsigned i = 0; i < d; i++) {
        double tail = -INFINITY;
        for (unsigned j = n; j-- > 0;) {
            tail = model_dleft_log_add(tail, chains[i].q[j]);
            /* Seven tenths of a step: with two choices a full step nearly swings back. */
            const double move = 0.7 * (tail - chains[i].y[j]);
            chains[i].y[j] += move;
            if (chains[i].y[j] > -690 && !(fabs(move) <= change))
                change = fabs(move);
        }
    }
    return change;
}

static tamis_status model_dleft_solve_steady(unsigned d, double mean, unsigned n_loads,
                                             double *fraction) {
    chain chains[CHOICES_MAX];
    const unsigned n = (unsigned)ceil(mean) + 40;
    for (unsigned i = 0; i < d; i++)
        for (unsigned j = 0; j < n; j++)
            chains[i].y[j] = j <= mean ? 0 : -(j - mean) * (j - mean);
    double log_mu = log(mean * d);
    for (int round = 0; !(model_dleft_iterate(chains, d, n, mean, &log_mu) < 1e-12); round++)
        if (round == 1000)
            return TAMIS_E_DOMAIN;
    for (unsigned i = 0; i < d; i++) {
        for (unsigned j = 0; j < n_loads; j++)
            fraction[i * n_loads + j] = j < n ? exp(chains[i].q[j]) : 0;
        if (n_loads <= n)
            fraction[i * n_loads + n_loads - 1] = exp(chains[i].y[n_loads - 1]);
    }
    return TAMIS_OK;
}

/* ---- both ------------------------------------------------------------------------------------- */

static bool model_dleft_domain(unsigned d, double mean, unsigned n_loads) {
    return d >= 1 && d <= CHOICES_MAX && mean >= 0 && mean <= MEAN_MAX && n_loads >= 2 &&
           n_loads <= TAMIS_MODEL_LOADS_MAX;
}

/* One choice, with or without deletions: Poisson. */
static tamis_status model_dleft_solve_poisson(double mean, unsigned n_loads, double *fraction) {
    tamis_status status = TAMIS_OK;
    for (unsigned j = 0; j + 1 < n_loads && status == TAMIS_OK; j++)
        status = tamis_model_poisson(mean, j, &fraction[j]);
    if (status == TAMIS_OK)
        status = tamis_model_poisson_tail(mean, n_loads - 2, &fraction[n_loads - 1]);
    return status;
}

static void model_dleft_solve_empty(unsigned d, unsigned n_loads, double *fraction) {
    for (unsigned k = 0; k < d * n_loads; k++)
        fraction[k] = k % n_loads == 0 ? 1 : 0;
}

tamis_status tamis_model_dleft_inserted(unsigned d, double mean, unsigned n_loads,
                                        double *fraction) {
    if (!model_dleft_domain(d, mean, n_loads))
        return TAMIS_E_DOMAIN;
    if (d == 1)
        return model_dleft_solve_poisson(mean, n_loads, fraction);
    if (mean == 0)
        model_dleft_solve_empty(d, n_loads, fraction);
    else
        model_dleft_solve_inserted(d, mean, n_loads, fraction);
    return TAMIS_OK;
}

tamis_status tamis_model_dleft_steady(unsigned d, double mean, unsigned n_loads, double *fraction) {
    if (!model_dleft_domain(d, mean, n_loads))
        return TAMIS_E_DOMAIN;
    if (d == 1)
        return model_dleft_solve_poisson(mean, n_loads, fraction);
    if (mean < 1e-300) {
        model_dleft_solve_empty(d, n_loads, fraction);
        return TAMIS_OK;
    }
    return model_dleft_solve_steady(d, mean, n_loads, fraction);
}
