/* line.c - rank-indexed cache lines: error rate, keys that find no room, what churn costs
 *
 * A key belongs to one of L homes of one of M lines of 512 bits.  A line that holds n keys spends H bits on
 * itself, L on the homes, n on the ends of the runs (the keys of one home), and the rest on fingerprints:
 *
 *     B = min(n r_max, 512 - H - L - n)      r = floor(B / n)      E = B mod n
 *
 * Runs lie in the order of their homes.  A run that ends at or before entry E has fingerprints of r + 1
 * bits, the others have r; the run across E is short as a whole.
 *
 * Symbols: c = keys of the home of a query, Binomial(n, 1/L); s = keys in the homes before it.  The
 * other n - c keys are uniform over the other L - 1 homes.  So s is Binomial(n - c, h/(L - 1)) for home
 * number h, and the run is long if s <= E - c.  Averaged over h this is
 *
 *     share(m, k) = 1/L sum over h = 0 .. L-1 of P(Binomial(m, h/(L-1)) <= k),   m = n - c, k = E - c.
 *
 * The terms of the sum fall from 1 to 0 as a polynomial in h of degree m, whose integral is (k+1)/(m+1).
 * The Euler-Maclaurin formula gives the sum from the integral and from the derivatives at both ends.  It
 * converges fast while there are not many more keys than homes; otherwise the terms are summed.
 *
 * The error rate of a line with n keys is the mean of 1 - (1 - 2^-bits)^c.  That of the table is its
 * mean over the loads, Binomial(keys, 1/M).  A set does not store a key that it mistakes for one
 * already there, so its loads are a little lower.
 *
 * If lines pass on, a key goes from full line to full line until one takes it.  Seen from a line, keys
 * come at random and are taken until it is full.  Its load is Poisson with some mean m, cut off at the
 * limit T, and m is such that all keys have a place,
 *
 *     sum over i of min(i, T) Poisson(m, i) = keys / M.
 *
 * With f the share of full lines, a key that finds nothing in its lines looks at 1 / (1 - f) of them.
 * The insert at mean m looks at 1 / (1 - f(m)) lines: m M in all.
 *
 * The lines on the path of a key hold other keys of that path, with the same home.  An entry that came i
 * lines far is met by queries that begin in any of these full lines, and by those that the first of them
 * gets from others: i + 1 / (1 - f) times as many as without passing on.  The mean of i is m M / keys - 1.
 *
 * Confirmed by tests/model/test_model_line.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/model.h"

#include <math.h>

#include "base/base.h"

#define LINE_BITS    512u
#define HOMES_MAX    256u
#define FP_BITS_MAX  64u
#define LINES_MAX    ((uint64_t)1 << 46)
#define N_MAX        ((uint64_t)1 << 40)
#define TERMS        10u /* of the Euler-Maclaurin formula */
#define NEGLIGIBLE   1e-15
#define ARRIVALS_MAX 1023u /* keys of a line: more than fit in any */
#define ROUNDS_MAX   10000.0
#define LIMIT_MAX    64u /* of lines that pass on */
#define WAY          16  /* lines on the path of a key then */

/* Copy the caller's shape in, complete and check it. */
static tamis_status model_line_take_shape(const tamis_line_shape *theirs, tamis_line_shape *shape) {
    if (!tamis_i_struct_in(shape, sizeof *shape, theirs))
        return TAMIS_E_ARGUMENT;
    if (shape->lines < 1 || shape->lines > LINES_MAX || shape->homes < 1 ||
        shape->homes > HOMES_MAX || shape->fp_bits_max < 1 || shape->fp_bits_max > FP_BITS_MAX ||
        shape->header_bits > LINE_BITS / 4)
        return TAMIS_E_DOMAIN;
    const unsigned most = (LINE_BITS - shape->header_bits - shape->homes) / 2;
    if (shape->load_max == 0)
        shape->load_max = most;
    if (shape->passes_on && (!shape->set || shape->load_max > LIMIT_MAX))
        return TAMIS_E_DOMAIN;
    return shape->load_max <= most ? TAMIS_OK : TAMIS_E_DOMAIN;
}

/* Bits of the fingerprints of a line with n keys. */
static unsigned model_line_fp_bits(const tamis_line_shape *s, unsigned n) {
    const unsigned room = LINE_BITS - s->header_bits - s->homes - n;
    const unsigned most = s->fp_bits_max * n;
    return most < room ? most : room;
}

/* P(Binomial(m, x) <= k), k < m, 0 < x < 1. */
static double model_line_binomial_head(unsigned m, double x, unsigned k) {
    double sum = 0;
    if (k < m / 2) {
        double term = exp(m * log1p(-x));
        for (unsigned i = 0; i <= k; i++) {
            sum += term;
            term *= (m - i) / (i + 1.0) * (x / (1 - x));
        }
        return sum;
    }
    double term = exp(m * log(x));
    for (unsigned i = m; i > k; i--) {
        sum += term;
        term *= i / (m - i + 1.0) * ((1 - x) / x);
    }
    return 1 - sum;
}

/* share(m, k), k < m. */
static double model_line_share(unsigned homes, unsigned m, unsigned k) {
    /* B_2j / (2j)! */
    static const double factor[TERMS] = {8.3333333333333333e-02, -1.3888888888888889e-03,
                                         3.3068783068783069e-05, -8.2671957671957672e-07,
                                         2.0876756987868099e-08, -5.2841901386874932e-10,
                                         1.3382536530684679e-11, -3.3896802963225828e-13,
                                         8.5860620562778446e-15, -2.1748686985580619e-16};
    if (homes < 2)
        return 1;
    const double last = homes - 1;
    if (m > 3 * last) {
        double sum = 1; /* h = 0; h = L - 1 adds nothing */
        for (unsigned h = 1; h + 1 < homes; h++)
            sum += model_line_binomial_head(m, h / last, k);
        return sum / homes;
    }
    /* The derivative of odd order p at h = 0 is -(-1)^k m (m-1) .. (m-p+1) C(p-1, k) / (L-1)^p, none for
     * p <= k, and at the other end the same with m - 1 - k for k. */
    double sum = last * (k + 1) / (m + 1) + 0.5;
    const unsigned ends[2] = {k, m - 1 - k};
    for (unsigned end = 0; end < 2; end++) {
        double falling = 1;
        for (unsigned p = 1, from = 0; p < 2 * TERMS && p <= m; p += 2) {
            for (; from < p; from++)
                falling *= (m - from) / last;
            if (p - 1 < ends[end])
                continue;
            double choose = 1;
            for (unsigned i = 0; i < ends[end]; i++)
                choose *= (p - 1 - i) / (i + 1.0);
            const double derivative = (ends[end] % 2 == 0 ? -1 : 1) * falling * choose;
            sum += (end == 0 ? -1 : 1) * factor[p / 2] * derivative;
        }
    }
    return fmin(fmax(sum / homes, 0), 1);
}

/* The chance that at least one of c fingerprints of this many bits is that of the absent key. */
static double model_line_match(unsigned c, unsigned bits) {
    return bits == 0 ? 1 : -expm1(c * log1p(-ldexp(1, -(int)bits)));
}

/* The error rate of a query that falls in a line with n keys. */
static double model_line_rate(const tamis_line_shape *s, unsigned n) {
    if (n == 0)
        return 0;
    const unsigned bits = model_line_fp_bits(s, n), r = bits / n, longer = bits % n;
    if (s->homes == 1)
        return model_line_match(n, r);
    const double odds = 1 / (s->homes - 1.0);
    double p = exp(n * log1p(-1.0 / s->homes)), sum = 0;
    for (unsigned c = 1; c <= n; c++) {
        p *= (n - c + 1.0) / c * odds;
        if (c > n * odds && p < NEGLIGIBLE)
            break;
        const double is_long = c <= longer ? model_line_share(s->homes, n - c, longer - c) : 0;
        sum += p * (is_long * model_line_match(c, r + 1) + (1 - is_long) * model_line_match(c, r));
    }
    return sum;
}

/* The distribution of the keys of a line, computed from the most likely number outwards: p[0 .. most],
 * and what is above. */
static tamis_status model_line_arrivals(const tamis_line_shape *s, uint64_t n, unsigned most,
                                        double *p, double *above) {
    const double q = 1 / (double)s->lines, mean = (double)n * q;
    const unsigned last = n < most ? (unsigned)n : most;
    const unsigned mode = mean < last ? (unsigned)mean : last;
    for (unsigned i = 0; i <= most; i++)
        p[i] = 0;
    tamis_status status = tamis_model_binomial(n, q, mode, &p[mode]);
    if (status == TAMIS_OK)
        status = tamis_model_binomial_tail(n, q, last, above);
    if (status != TAMIS_OK || s->lines == 1)
        return status;
    const double odds = q / (1 - q);
    for (unsigned i = mode; i > 0 && p[i] > 0; i--)
        p[i - 1] = p[i] * i / (((double)n - i + 1) * odds);
    for (unsigned i = mode; i < last && p[i] > 0; i++)
        p[i + 1] = p[i] * ((double)n - i) * odds / (i + 1);
    return TAMIS_OK;
}

/* A bound for a line of a set.  Its fingerprints differed from all others of their run when they were
 * stored, and a full home turns keys away, so they are spread more evenly than keys.  Both make short
 * fingerprints match more often than line_rate says, by 1 % at 6 bits per key and by 8 % at 3.  But a
 * query matches no more often than the mean number of matches, which depends on neither.  Of the
 * 'longer' entries that might have one more bit, those of one run of mean length may not. */
static double model_line_bound(const tamis_line_shape *s, unsigned n) {
    const unsigned bits = model_line_fp_bits(s, n), r = bits / n;
    const double run = 1 + (n - 1.0) / s->homes;
    const double longs = fmax(bits % n - run, 0);
    return fmin(ldexp(n - longs / 2, -(int)r) / s->homes, 1);
}

/* The mean over the loads.  A set does not store a key that it finds: load i takes the next key with
 * probability 1 - rates[i], and the loads after k keys follow from those after k - 1.  Keys above
 * ARRIVALS_MAX count as ARRIVALS_MAX: lines are then full. */
static double model_line_mean_rate(const tamis_line_shape *s, const double *p, double above,
                                   const double *rates) {
    double load[LINE_BITS] = {1}, sum = 0;
    const unsigned full = s->load_max;
    if (!s->set) {
        for (unsigned i = 1; i <= ARRIVALS_MAX; i++)
            sum += p[i] * rates[i < full ? i : full];
        return fmin(sum + above * rates[full], 1);
    }
    double left = above;
    for (unsigned k = 0; k <= ARRIVALS_MAX; k++)
        left += p[k];
    for (unsigned k = 0; left > NEGLIGIBLE && k <= ARRIVALS_MAX; k++) {
        const unsigned most = k < full ? k : full;
        double rate = 0;
        if (k > 0) {
            double before = 0;
            for (unsigned i = 0; i <= most; i++) {
                const double stays = i == full ? load[i] : load[i] * rates[i];
                const double moves = load[i] - stays;
                load[i] = stays + before;
                before = moves;
            }
        }
        for (unsigned i = 0; i <= most; i++)
            rate +=
                load[i] * (s->bound && i > 0 ? fmax(rates[i], model_line_bound(s, i)) : rates[i]);
        sum += (k == ARRIVALS_MAX ? p[k] + above : p[k]) * rate;
        left -= p[k];
    }
    return fmin(sum, 1);
}

/* ---- lines that pass on ---- */

/* Loads of lines at which keys arrive with this mean: p[0 .. T], everything above in p[T].  Returns the
 * mean load. */
static double model_line_cut_loads(unsigned limit, double mean, double *p) {
    double below = 0, load = 0, term = exp(-mean);
    for (unsigned i = 0; i < limit; i++) {
        p[i] = term;
        below += term;
        load += i * term;
        term *= mean / (i + 1);
    }
    p[limit] = fmax(1 - below, 0);
    return load + limit * p[limit];
}

/* The loads with n keys, and the mean that gives them. */
static tamis_status model_line_way_loads(const tamis_line_shape *s, uint64_t n, double *p,
                                         double *mean) {
    const double load = (double)n / (double)s->lines;
    double low = load, high = load + 1;
    if (load > 0.99 * s->load_max)
        return TAMIS_E_DOMAIN;
    while (model_line_cut_loads(s->load_max, high, p) < load)
        high += high - load;
    for (unsigned i = 0; i < 50; i++) {
        *mean = (low + high) / 2;
        if (model_line_cut_loads(s->load_max, *mean, p) < load)
            low = *mean;
        else
            high = *mean;
    }
    return TAMIS_OK;
}

static tamis_status model_line_way_rate(const tamis_line_shape *s, uint64_t n, const double *rates,
                                        double *fpr) {
    double p[LIMIT_MAX + 1], mean, sum = 0, rate = 0;
    *fpr = 0;
    const tamis_status status = n == 0 ? TAMIS_OK : model_line_way_loads(s, n, p, &mean);
    if (status != TAMIS_OK || n == 0)
        return status;
    for (unsigned i = 1; i <= s->load_max; i++) {
        rate = s->bound ? fmax(rates[i], model_line_bound(s, i)) : rates[i];
        sum += p[i] * rate;
    }
    const double passes = mean * (double)s->lines / (double)n - 1, full = p[s->load_max];
    *fpr = fmin(sum * (1 / (1 - full * (1 - rate)) + passes), 1);
    return TAMIS_OK;
}

/* A key finds all its lines full with probability f^WAY.  An insert looks at 1 / (1 - f) lines, and so
 * adds that much to the mean times the lines. */
static tamis_status model_line_way_overflow(const tamis_line_shape *s, uint64_t n, double *keys) {
    enum { STEPS = 256 };
    double p[LIMIT_MAX + 1], mean, sum = 0;
    const tamis_status status = model_line_way_loads(s, n, p, &mean);
    for (unsigned i = 0; i < STEPS && status == TAMIS_OK; i++) {
        (void)model_line_cut_loads(s->load_max, mean * (i + 0.5) / STEPS, p);
        sum += pow(p[s->load_max], WAY) * (1 - p[s->load_max]);
    }
    *keys = sum * mean / STEPS * (double)s->lines;
    return status;
}

tamis_status tamis_model_line_reads(const tamis_line_shape *shape, uint64_t n, double *query,
                                    double *insert) {
    tamis_line_shape s;
    double p[LIMIT_MAX + 1], mean;
    tamis_status status = model_line_take_shape(shape, &s);
    if (status == TAMIS_OK && (n < 1 || n > N_MAX))
        status = TAMIS_E_DOMAIN;
    if (status == TAMIS_OK && s.passes_on)
        status = model_line_way_loads(&s, n, p, &mean);
    if (status != TAMIS_OK)
        return status;
    *query = s.passes_on ? 1 / (1 - p[s.load_max]) : 1;
    *insert = s.passes_on ? mean * (double)s.lines / (double)n : 1;
    return TAMIS_OK;
}

/* ---- error rates ---- */

tamis_status tamis_model_line_load(const tamis_line_shape *shape, unsigned load, double *fpr) {
    tamis_line_shape s;
    const tamis_status status = model_line_take_shape(shape, &s);
    if (status != TAMIS_OK)
        return status;
    if (load > s.load_max)
        return TAMIS_E_DOMAIN;
    *fpr = model_line_rate(&s, load);
    return TAMIS_OK;
}

tamis_status tamis_model_line_mixed(const tamis_line_shape *shape, uint64_t n, const double *rates,
                                    double *fpr) {
    tamis_line_shape s;
    double p[ARRIVALS_MAX + 1], above;
    tamis_status status = model_line_take_shape(shape, &s);
    if (status == TAMIS_OK && n > N_MAX)
        status = TAMIS_E_DOMAIN;
    if (status == TAMIS_OK && s.passes_on)
        return model_line_way_rate(&s, n, rates, fpr);
    if (status == TAMIS_OK)
        status = model_line_arrivals(&s, n, ARRIVALS_MAX, p, &above);
    if (status == TAMIS_OK)
        *fpr = model_line_mean_rate(&s, p, above, rates);
    return status;
}

tamis_status tamis_model_line_fpr(const tamis_line_shape *shape, uint64_t n, double *fpr) {
    tamis_line_shape s;
    double p[ARRIVALS_MAX + 1], rates[LINE_BITS] = {0}, above, more;
    tamis_status status = model_line_take_shape(shape, &s);
    if (status == TAMIS_OK && n > N_MAX)
        status = TAMIS_E_DOMAIN;
    if (status == TAMIS_OK && s.passes_on) {
        for (unsigned i = 1; i <= s.load_max; i++)
            rates[i] = model_line_rate(&s, i);
        return model_line_way_rate(&s, n, rates, fpr);
    }
    if (status == TAMIS_OK)
        status = model_line_arrivals(&s, n, ARRIVALS_MAX, p, &above);
    if (status != TAMIS_OK)
        return status;
    more = above;
    for (unsigned i = 0; i <= ARRIVALS_MAX; i++)
        more += p[i];
    for (unsigned i = 0; i <= s.load_max && more > NEGLIGIBLE; i++) {
        if (s.set || p[i] > NEGLIGIBLE || i == s.load_max)
            rates[i] = model_line_rate(&s, i);
        more -= p[i];
    }
    *fpr = model_line_mean_rate(&s, p, above, rates);
    return TAMIS_OK;
}

/* Sum over i > load_max of P(load = i) (exp(theta j) - 1), j = i - load_max; for theta = 0, of P(load =
 * i) j.  The terms fall once i is above the mean times exp(theta), and then fast. */
static tamis_status model_line_beyond(const tamis_line_shape *s, uint64_t n, double theta,
                                      double *sum) {
    const double q = 1 / (double)s->lines, odds = q / (1 - q), growth = exp(theta);
    double p;
    *sum = 0;
    if (n <= s->load_max)
        return TAMIS_OK;
    if (s->lines == 1) {
        const double j = (double)(n - s->load_max);
        *sum = theta == 0 ? j : expm1(theta * j);
        return TAMIS_OK;
    }
    const tamis_status status = tamis_model_binomial(n, q, (uint64_t)s->load_max + 1, &p);
    if (status != TAMIS_OK)
        return status;
    double weighted = p * growth; /* P(load = i) exp(theta j) */
    for (double i = s->load_max + 1.0; i <= (double)n; i++) {
        const double term = theta == 0 ? p * (i - s->load_max) : weighted - p;
        *sum += term;
        if (i > 2 * growth * (double)n * q && term <= NEGLIGIBLE * *sum)
            break;
        const double ratio = ((double)n - i) * odds / (i + 1);
        p *= ratio;
        weighted *= ratio * growth;
    }
    return TAMIS_OK;
}

/* Is the load sensible?  Beyond a few times what fits in a line the sums are long and useless. */
static bool model_line_sensible(const tamis_line_shape *s, uint64_t n) {
    return n <= N_MAX && (double)n / (double)s->lines <= 4.0 * LINE_BITS;
}

tamis_status tamis_model_line_overflow(const tamis_line_shape *shape, uint64_t n, double *keys) {
    tamis_line_shape s;
    double sum;
    tamis_status status = model_line_take_shape(shape, &s);
    if (status == TAMIS_OK && !model_line_sensible(&s, n))
        status = TAMIS_E_DOMAIN;
    if (status == TAMIS_OK && s.passes_on)
        return model_line_way_overflow(&s, n, keys);
    if (status == TAMIS_OK)
        status = model_line_beyond(&s, n, 0, &sum);
    if (status == TAMIS_OK)
        *keys = fmin((double)s.lines * sum, (double)n);
    return status;
}

/* The loads of the lines are negatively associated, and what is above load_max grows with the load.  So
 * the mean of exp(theta x sum) is at most the product of the means.  By Markov's inequality
 *
 *     P(sum > stash) <= exp(-theta (stash + 1)) (1 + beyond(theta))^M   for every theta > 0.
 *
 * The logarithm is convex in theta: ternary search finds the minimum. */
tamis_status tamis_model_line_stash(const tamis_line_shape *shape, uint64_t n, uint64_t stash,
                                    double *odds) {
    tamis_line_shape s;
    double mean = 0;
    tamis_status status = model_line_take_shape(shape, &s);
    if (status == TAMIS_OK && !model_line_sensible(&s, n))
        status = TAMIS_E_DOMAIN;
    if (status == TAMIS_OK && s.passes_on) {
        status = model_line_way_overflow(&s, n, &mean);
        return status == TAMIS_OK ? tamis_model_poisson_tail(mean, stash, odds) : status;
    }
    if (status == TAMIS_OK)
        status = model_line_beyond(&s, n, 0, &mean);
    if (status != TAMIS_OK)
        return status;
    mean *= (double)s.lines;
    double best = fmin(log(mean / ((double)stash + 1)), 0); /* Markov's without exp */
    double low = 0, high = 2;
    for (unsigned i = 0; i < 30 && mean > 0; i++) {
        double value[2], theta[2] = {low + (high - low) / 3, high - (high - low) / 3};
        for (unsigned k = 0; k < 2; k++) {
            status = model_line_beyond(&s, n, theta[k], &value[k]);
            if (status != TAMIS_OK)
                return status;
            value[k] = (double)s.lines * log1p(value[k]) - theta[k] * ((double)stash + 1);
            best = fmin(best, value[k]);
        }
        if (value[0] < value[1] || isinf(value[1]))
            high = theta[1];
        else
            low = theta[0];
    }
    if (s.lines == 1)
        *odds = mean > (double)stash ? 1 : 0;
    else
        *odds = mean > 0 ? exp(best) : 0;
    return TAMIS_OK;
}

/* ---- churn ---- */

/* A line that keys leave, each at rate 1, and enter, at rate 'mean': g[a] is the probability that its
 * load is a and was never above m until time t.  It begins as Poisson distributed up to m.  The
 * equations are tridiagonal and are solved with the trapezoidal rule, in steps that grow with time,
 * because fast changes die out early. */
static void model_line_never_above(double mean, unsigned m, double t_end, double *g) {
    double up[LINE_BITS], right[LINE_BITS];
    double p = exp(-mean);
    for (unsigned a = 0; a <= m; a++) {
        g[a] = p;
        p *= mean / (a + 1);
    }
    for (double t = 0; t < t_end;) {
        const double dt = fmin(fmax(0.02 * t, 0.004), t_end - t), w = dt / 2;
        /* (1 - wA) g' = (1 + wA) g with (A g)[a] = mean g[a-1] + (a+1) g[a+1] - (mean + a) g[a] */
        for (unsigned a = 0; a <= m; a++)
            right[a] = g[a] - w * (mean + a) * g[a] + (a > 0 ? w * mean * g[a - 1] : 0) +
                       (a < m ? w * (a + 1) * g[a + 1] : 0);
        for (unsigned a = 0; a <= m; a++) {
            const double low = a > 0 ? w * mean : 0;
            const double pivot = 1 + w * (mean + a) - (a > 0 ? low * up[a - 1] : 0);
            up[a] = w * (a + 1) / pivot;
            right[a] = (right[a] + (a > 0 ? low * right[a - 1] : 0)) / pivot;
        }
        g[m] = right[m];
        for (unsigned a = m; a-- > 0;)
            g[a] = right[a] + up[a] * g[a + 1];
        t += dt;
    }
}

/* The error rate of a line with a keys that has held m: as many homes have long fingerprints as then.
 * Each key has the home and the fingerprint of the query with probability 2^-bits / L. */
static double model_line_past_rate(const tamis_line_shape *s, double a, unsigned m) {
    const unsigned bits = model_line_fp_bits(s, m), r = bits / m;
    const double is_long = (double)(bits % m) / m, one = ldexp(1, -(int)r) / s->homes;
    return -is_long * expm1(a * log1p(-one / 2)) - (1 - is_long) * expm1(a * log1p(-one));
}

static tamis_status model_line_take_churned(const tamis_line_shape *shape, uint64_t n,
                                            double rounds, tamis_line_shape *s, double *mean) {
    const tamis_status status = model_line_take_shape(shape, s);
    if (status != TAMIS_OK)
        return status;
    *mean = (double)n / (double)s->lines;
    if (s->passes_on || n < 1 || n > N_MAX || *mean > s->load_max ||
        !(rounds >= 0 && rounds <= ROUNDS_MAX))
        return TAMIS_E_DOMAIN;
    return TAMIS_OK;
}

tamis_status tamis_model_line_churned(const tamis_line_shape *shape, uint64_t n, double rounds,
                                      double *fpr) {
    tamis_line_shape s;
    double mean, before[LINE_BITS] = {0}, sum = 0, all = 0;
    const tamis_status status = model_line_take_churned(shape, n, rounds, &s, &mean);
    if (status != TAMIS_OK)
        return status;
    for (unsigned m = 1; m <= s.load_max && all < 1 - 1e-9; m++) {
        double g[LINE_BITS];
        if (m < mean - 12 * sqrt(mean)) /* hardly any line never held so many */
            continue;
        model_line_never_above(mean, m, rounds, g);
        all = 0;
        for (unsigned a = 0; a <= m; a++) {
            if (a > 0 && g[a] > before[a])
                sum += (g[a] - before[a]) * model_line_past_rate(&s, a, m);
            before[a] = g[a];
            all += g[a];
        }
    }
    sum += fmax(1 - all, 0) * model_line_past_rate(&s, mean, s.load_max);
    *fpr = fmin(sum, 1);
    return TAMIS_OK;
}

/* A line in equilibrium gets from load i to i + 1 in time H(i) / (mean p(i)) on average, with p Poisson
 * and H its sum up to i; it gets from the mean to beyond m in the sum of these.  That time is nearly
 * exponentially distributed when m is rare, and the load until then is Poisson distributed up to m. */
tamis_status tamis_model_line_churned_long(const tamis_line_shape *shape, uint64_t n, double rounds,
                                           double *fpr) {
    tamis_line_shape s;
    double mean, p = 0, sum = 0, head = 0, wait = 0, seen = 0;
    tamis_status status = model_line_take_churned(shape, n, rounds, &s, &mean);
    if (status == TAMIS_OK && rounds < 10)
        status = TAMIS_E_DOMAIN;
    if (status == TAMIS_OK)
        status = tamis_model_poisson(mean, 0, &p);
    if (status != TAMIS_OK)
        return status;
    for (unsigned m = 0; m <= s.load_max; m++, p *= mean / m) {
        const double below = head;
        head += p;
        if (m + 1 < mean || m == 0)
            continue;
        wait += p > 0 ? head / (mean * p) : INFINITY;
        const double never = m == s.load_max ? 1 : head * exp(-rounds / wait);
        if (never > seen) {
            sum += (never - seen) * model_line_past_rate(&s, mean * below / head, m);
            seen = never;
        }
    }
    *fpr = fmin(sum, 1);
    return TAMIS_OK;
}
