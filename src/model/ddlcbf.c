/* ddlcbf.c - the dynamic d-left counting filter: loads seen, and the error rate they leave
 *
 * In this filter remainders shrink when their bucket fills, and cannot grow again when it empties: the
 * dropped bits are gone.  So the error rate depends not only on the present load of a bucket but also
 * on the largest one that it has seen (Bonomi et al., "Bloom Filters via d-Left Hashing and Dynamic Bit
 * Reassignment", 2006, section III).
 *
 * Symbols as in dleft.c: c = mean load, t = time in insertions per bucket, y_ij; a = present load, m =
 * largest load seen; R = values of the minimal remainder; e = probability that a key in the table has the
 * same bucket and minimal remainder as the one to be inserted: d x / R, if x keys per bucket are in.
 *
 * A key that shares its minimal remainder with another must join it in its bucket, where each key is
 * met with the same probability.  Any other key is placed by d-left hashing.  So a bucket of subtable i
 * is a birth-death process in which load a becomes a+1 at the rate
 *
 *     (1 - e) * d * prod_{l<i} y_l,a+1 * prod_{l>i} y_la  +  e * a/x
 *
 * (compare dleft.c), and a-1 at the rate a/c once each insertion comes with a deletion.  Buckets influence
 * each other only through y, which follows from the same equations.  Whether a bucket has stayed at m or
 * below is the same process with the path from m to m+1 cut: what would go there is lost.  So
 *
 *     u_m(a) = P(load a now, never more than m)
 *
 * is integrated together with the loads themselves, once for each m, from the empty table on; and P(a now,
 * m the largest) = u_m(a) - u_m-1(a).  The steps are classic Runge-Kutta, short against the fastest rate.
 *
 * Neglected: the table is finite; three keys may share a minimal remainder.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

enum { CHOICES_MAX = 8, LOADS_MAX = 32 };

typedef struct process {
    unsigned d;
    unsigned n;    /* loads */
    unsigned m;    /* the path up from m is cut in 'within' */
    double mean;   /* c */
    double forced; /* d / R */
    bool deletes;  /* the filling is over */
} process;

/* Fractions of the buckets of each subtable by load: all, and those that never had more than m. */
typedef struct population {
    double all[CHOICES_MAX][LOADS_MAX];
    double within[CHOICES_MAX][LOADS_MAX];
} population;

/* How fast the population changes when x keys per bucket are in. */
static void model_ddlcbf_change(const process *p, double x, const population *now,
                                population *rate) {
    const double shared = p->forced * x < 1 ? p->forced * x : 1;
    const double joined = p->forced * x < 1 ? p->forced : 1 / x; /* e/x, also at x = 0 */
    double y[CHOICES_MAX][LOADS_MAX + 1];
    for (unsigned i = 0; i < p->d; i++) {
        y[i][p->n] = 0;
        for (unsigned a = p->n; a-- > 0;)
            y[i][a] = y[i][a + 1] + now->all[i][a];
    }
    for (unsigned i = 0; i < p->d; i++) {
        for (unsigned a = 0; a < p->n; a++)
            rate->all[i][a] = rate->within[i][a] = 0;
        for (unsigned a = 0; a + 1 < p->n; a++) {
            double up = p->d;
            for (unsigned l = 0; l < p->d; l++)
                if (l != i)
                    up *= y[l][l < i ? a + 1 : a];
            up = (1 - shared) * up + joined * a;
            const double down = p->deletes ? (a + 1) / p->mean : 0;
            const double flow = up * now->all[i][a] - down * now->all[i][a + 1];
            rate->all[i][a] -= flow;
            rate->all[i][a + 1] += flow;
            if (a < p->m) {
                const double kept = up * now->within[i][a] - down * now->within[i][a + 1];
                rate->within[i][a] -= kept;
                rate->within[i][a + 1] += kept;
            } else if (a == p->m) {
                rate->within[i][a] -= up * now->within[i][a];
            }
        }
    }
}

/* to = from + h * rate */
static void model_ddlcbf_move(const process *p, const population *from, double h,
                              const population *rate, population *to) {
    for (unsigned i = 0; i < p->d; i++)
        for (unsigned a = 0; a < p->n; a++) {
            to->all[i][a] = from->all[i][a] + h * rate->all[i][a];
            to->within[i][a] = from->within[i][a] + h * rate->within[i][a];
        }
}

static void model_ddlcbf_step(const process *p, double x, double h, population *now) {
    static const double ahead[4] = {0, 0.5, 0.5, 1};
    static const double share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    population at = *now;
    population rate = *now;
    population next = *now;
    for (int k = 0; k < 4; k++) {
        if (k > 0)
            model_ddlcbf_move(p, now, ahead[k] * h, &rate, &at);
        model_ddlcbf_change(p, p->deletes ? p->mean : x + ahead[k] * h, &at, &rate);
        model_ddlcbf_move(p, &next, share[k] * h, &rate, &next);
    }
    *now = next;
}

/* Fill the table to its mean load, then run the rounds. */
static void model_ddlcbf_live(process *p, double rounds, double fill_steps, double round_steps,
                              population *now) {
    *now = (population){0};
    for (unsigned i = 0; i < p->d; i++)
        now->all[i][0] = now->within[i][0] = 1;
    p->deletes = false;
    for (double k = 0; k < fill_steps; k++)
        model_ddlcbf_step(p, k * p->mean / fill_steps, p->mean / fill_steps, now);
    p->deletes = true;
    for (double k = 0; k < round_steps; k++)
        model_ddlcbf_step(p, p->mean, rounds / round_steps, now);
}

tamis_status tamis_model_ddlcbf_seen(unsigned d, double mean, double rounds, unsigned min_bits,
                                     unsigned n_loads, double *seen) {
    if (d < 1 || d > CHOICES_MAX || !(mean > 0) || n_loads < 2 || n_loads > LOADS_MAX ||
        !(rounds >= 0) || min_bits < 1)
        return TAMIS_E_DOMAIN;
    process p = {.d = d, .n = n_loads, .mean = mean, .forced = d * exp2(-(double)min_bits)};
    const double fill_steps = 64 + ceil(4 * mean * d);
    const double round_steps = ceil(4 * rounds * (d + n_loads / mean));
    if (!(p.forced * mean <= 1 && fill_steps + round_steps <= 1e6))
        return TAMIS_E_DOMAIN;
    for (unsigned m = 0; m < n_loads; m++) {
        population now;
        p.m = m;
        model_ddlcbf_live(&p, rounds, fill_steps, round_steps, &now);
        for (unsigned a = 0; a < n_loads; a++) {
            double sum = 0;
            for (unsigned i = 0; i < d; i++)
                sum += now.within[i][a];
            seen[m * n_loads + a] = sum / d;
        }
    }
    /* From "never more than m" to "m at most, and m at some time". */
    for (unsigned m = n_loads; m-- > 1;)
        for (unsigned a = 0; a < n_loads; a++) {
            const double exactly = seen[m * n_loads + a] - seen[(m - 1) * n_loads + a];
            seen[m * n_loads + a] = exactly > 0 ? exactly : 0;
        }
    return TAMIS_OK;
}

tamis_status tamis_model_ddlcbf(unsigned d, unsigned n_loads, const double *seen,
                                const unsigned *fp_bits, double *fpr) {
    if (d < 1 || d > CHOICES_MAX || n_loads < 2 || n_loads > LOADS_MAX)
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (unsigned m = 0; m < n_loads; m++)
        for (unsigned a = 1; a < n_loads; a++) {
            const double weight = seen[m * n_loads + a];
            if (!(weight >= 0 && weight <= 1 + 1e-6))
                return TAMIS_E_DOMAIN;
            sum += weight * (fp_bits[m] == 0 ? 1 : a * exp2(-(double)fp_bits[m]));
        }
    *fpr = d * sum < 1 ? d * sum : 1;
    return TAMIS_OK;
}

tamis_status tamis_model_ddlcbf_lengths(unsigned d, unsigned n_lengths, const double *remainders,
                                        double *fpr) {
    if (d < 1 || d > CHOICES_MAX || n_lengths < 1 || n_lengths > TAMIS_MODEL_LOADS_MAX)
        return TAMIS_E_DOMAIN;
    double sum = 0;
    for (unsigned b = 0; b < n_lengths; b++) {
        if (!(remainders[b] >= 0 && isfinite(remainders[b])))
            return TAMIS_E_DOMAIN;
        sum += remainders[b] * exp2(-(double)b);
    }
    *fpr = d * sum < 1 ? d * sum : 1;
    return TAMIS_OK;
}
