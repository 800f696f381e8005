/* line_model.c - lines that give homes away: error rate, what is away, odds of running out of room
 *
 * N lines of L homes hold n entries, m = n/N per line and lambda = m/L per home, Poisson numbers:
 * Po(x) has the mean x.  A line has room for C entries.
 *
 * What is away.  A line keeps the homes below some t, as many as fit as a whole: S_t, the entries
 * of the homes below t, is at most C, and with the next home it would be more.  The entries of home
 * h are away if S_(h+1) is above C.  So for a, the number of entries away,
 *
 *     P(a > 0) = P(Po(m) > C)
 *     E(a)     = lambda sum over t = 1 .. L of T_t,             T_t = P(Po(t lambda) >= C)
 *     E(a^2)   = sum over t = 0 .. L-1 of lambda T_(t+1) + lambda^2 P(Po((t+1) lambda) >= C - 1)
 *                                         + 2 lambda^2 (L - 1 - t) T_(t+1)
 *     dE(a)/dm = 1/L sum of T_t + t lambda p_t,                 p_t = P(Po(t lambda) = C - 1)
 *
 * The moments follow from what is left after the first home that does not fit: with u = e^s - 1
 *
 *     M(m, s) = E(e^(s a)) = P(Po(m) <= C) + sum over t = 0 .. L-1 of e^((L-t) lambda u) D_t,
 *     D_t = P(Po(t lambda) <= C) - P(Po(t lambda + lambda e^s) <= C)
 *
 * All differences of this kind are integrals, d P(Po(y) <= C)/dy = -P(Po(y) = C), and computed as
 * such: by Simpson's rule, positive terms only.
 *
 * Scatter.  Most of what a scatters by is how many entries come to the line; but all n are
 * somewhere.  Given n, the variance of the sum B over all lines is N (V(a) - m (dE(a)/dm)^2), a
 * third to an eighth of N V(a) where plans are.  The same for the tail: for every s > 0 and every
 * load m',
 *
 *     P(B >= b and n entries in all) <= e^(N g - s b),   g = m' - m - m log(m'/m) + log M(m', s)
 *
 * which is Chernoff's bound for Poisson numbers of mean m.  The odds given n are the left side
 * divided by P(n in all).  The right side is not, since it is too high by about the same factor: at
 * its best s and m' it is the saddle point of the odds given n without its factor 1/(s sd(B) sqrt(2
 * pi)), which is below 1/10 for odds of 1e-6.  m' = m e^(-s dE/dm) is near the best.
 *
 * Lag.  As keys come and go a home returns only when a removal leaves two places free, so more is
 * away than has to be.  Measured for 22 shapes with loads of 0.3 to 12.5 per home, entries more per
 * line that has homes away: 0.41 at lambda = 0.3, 0.35 at 0.5, 0.29 at 0.65, 0.19 at 1.3, 0.07 at
 * 2.5, 0.29 at 12.5.  LAG bounds them.  While a set is only filled, homes go away that were empty
 * when a higher one went: at most 0.014.
 *
 * Room.  An entry takes the emptier of its two back lines, and others move for it.  But all entries
 * of a front line have the same two, so that a back line serves some d = 2 N / M front lines (M
 * back lines), whose entries may be too few to fill it: of a sum of d times a, with the mean 2 (C'
 * - 2) where the back is nearly filled, what it lacks to C' is 0.4 to 0.8 where plans are.
 * STILL_FREE more places of each are left free. What finds no place then is in the stash, measured
 * with all keys replaced four times, for 20 to 35 entries per back line and d from 8 to 32: at most
 * 0.03 per back line.  (With one move in place of two, 1.9 places would have to be left free in
 * place of 0.6.)  Of two back lines each entry can use both.  What cannot be filled scatters by
 * itself, with a variance of at most 6 per back line.
 *
 * Confirmed by tests/model/test_line_model.c; measured against simulated in docs/models.md.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kinds/line/line_model.h"

#include <math.h>

#include "base/base.h"

#define N_MAX       ((uint64_t)1 << 40)
#define HOMES_MAX   126u
#define FP_MAX      40u
#define ENTRIES_MAX 63u
#define LOADS       4.0  /* loads that are looked at, in capacities */
#define FEW_SERVED  4.5  /* front lines per back line: with fewer, sums are no longer normal */
#define FEW_FREE    0.6  /* places of a back line that each of them costs */
#define STEPS       0.25 /* of an integral, in standard deviations */
#define FAR         5.5  /* standard deviations below C: homes there are not away */
#define S_MOST      1.5  /* of the bound's exponents that are tried */
#define S_NEAR      0.25 /* up to which nothing far below C matters */
#define S_FIRST     1.5  /* times the best of a normal distribution */
#define S_FALL      0.94
#define TRIES       80u
/* The lag: LAG e^(-LAG_FALL lambda) + LAG_RISE lambda for each line with homes away. */
#define LAG      0.52
#define LAG_FALL 0.85
#define LAG_RISE 0.024
#define LAG_SET  0.015
#define CUT_LAG  0.15 /* lines more with homes away, per entry of the lag */
#define GIVEN    0.5  /* of the inserts into lines with homes away: they find it full */

static tamis_status line_take_shape(const tamis_line_shape *theirs, uint64_t n,
                                    tamis_line_shape *s) {
    if (!tamis_i_struct_in(s, sizeof *s, theirs))
        return TAMIS_E_ARGUMENT;
    const bool back = s->back_lines != 0;
    if (s->lines < 1 || s->lines > N_MAX || s->back_lines > N_MAX || s->stash > N_MAX ||
        s->homes < 1 || s->homes > HOMES_MAX || s->fp_bits < 1 || s->fp_bits > FP_MAX ||
        s->entries < 2 || s->entries > ENTRIES_MAX || (back && s->back_entries < 2) ||
        s->back_entries > ENTRIES_MAX || n == 0 || n > N_MAX)
        return TAMIS_E_DOMAIN;
    return TAMIS_OK;
}

/* All keys are in one of N L 2^R cells, wherever they are: 1 - (1 - 1/(N L 2^R))^n. */
static double line_rate(const tamis_line_shape *s, uint64_t n) {
    const double cells = ldexp((double)s->lines * s->homes, (int)s->fp_bits);
    return -expm1((double)n * log1p(-1 / cells));
}

tamis_status tamis_model_line_fpr(const tamis_line_shape *shape, uint64_t n, double *fpr) {
    tamis_line_shape s;
    const tamis_status status = line_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        *fpr = line_rate(&s, n);
    return status;
}

/* What is stored of n keys: of a set, as many entries as there are cells with keys. */
static tamis_status line_take_front(const tamis_line_shape *theirs, uint64_t n, tamis_line_shape *s,
                                    tamis_i_line_front *front) {
    const tamis_status status = line_take_shape(theirs, n, s);
    if (status != TAMIS_OK)
        return status;
    const double cells = ldexp((double)s->homes, (int)s->fp_bits);
    *front = (tamis_i_line_front){.homes = s->homes,
                                  .entries = s->entries,
                                  .load = s->set ? line_rate(s, n) * cells
                                                 : (double)n / (double)s->lines,
                                  .deletes = !s->set};
    return front->load <= LOADS * s->entries ? TAMIS_OK : TAMIS_E_DOMAIN;
}

/* ---- Poisson numbers ---- */

/* log(c!), by Stirling's series: c is at least 1. */
static double line_log_factorial(double c) {
    const double r = 1 / c, rr = r * r;
    return (c + 0.5) * log(c) - c + 0.91893853320467274178 +
           r * (1.0 / 12 - rr * (1.0 / 360 - rr * (1.0 / 1260 - rr / 1680)));
}

/* P(Po(y) = c) for changing y. */
typedef struct curve {
    double c, log_factorial;
} curve;

static curve line_curve(double c) {
    return (curve){c, line_log_factorial(c)};
}

static double line_at(const curve *p, double y) {
    return y > 0 ? exp(p->c * log(y) - y - p->log_factorial) : 0;
}

/* Steps for Simpson's rule over so much. */
static unsigned line_steps(const curve *p, double width) {
    return (unsigned)ceil(width / (STEPS * sqrt(p->c + 1)));
}

/* The integral from y on over 'width', in so many steps; 'first' and 'last' are the values
 * there. */
static double line_integral(const curve *p, double y, double width, unsigned steps, double first,
                            double last) {
    const double step = width / steps;
    double sum = first + last;
    for (unsigned i = 0; i < steps; i++)
        sum += 4 * line_at(p, y + (i + 0.5) * step) + (i > 0 ? 2 * line_at(p, y + i * step) : 0);
    return sum * step / 6;
}

/* ---- what is away ---- */

/* The first t that matters: with so many homes a line is hardly ever full. */
static unsigned line_first(const tamis_i_line_front *f, double lambda) {
    const double c = f->entries, low = (c - FAR * sqrt(c)) / lambda;
    return low < 1 ? 0 : low > f->homes - 1 ? f->homes - 1 : (unsigned)low;
}

void tamis_i_line_model_sums(const tamis_i_line_front *f, tamis_i_line_sums *sums) {
    const double lambda = f->load / f->homes;
    const curve p = line_curve(f->entries - 1);
    const unsigned steps = line_steps(&p, lambda);
    unsigned t = line_first(f, lambda);
    double tail = 0, before = line_at(&p, t * lambda); /* T_t, p_t */
    double tails = 0, squares = 0, slopes = 0;
    while (t < f->homes) {
        const double y = t * lambda, here = line_at(&p, y + lambda);
        tail += line_integral(&p, y, lambda, steps, before, here);
        before = here;
        t++;
        tails += tail;
        slopes += t * here;
        squares += tail + lambda * (tail + here) + 2 * lambda * (f->homes - t) * tail;
    }
    const curve q = line_curve(f->entries);
    const double away = lambda * tails, growth = (tails + lambda * slopes) / f->homes;
    const double scatter = fmax(lambda * squares - away * away, 0);
    *sums = (tamis_i_line_sums){.cut = fmax(tail - line_at(&q, f->load), 0),
                                .away = away,
                                .growth = growth,
                                .scatter = scatter,
                                .variance = fmax(scatter - f->load * growth * growth, 0)};
}

/* M(m, s) - 1, as a sum of positive terms: each D_t is in two parts, of which the first ones add up
 * to P(Po(m) > C). */
static double line_moment(const tamis_i_line_front *f, double load, double s) {
    const double lambda = load / f->homes, u = expm1(s), more = lambda * u;
    const curve p = line_curve(f->entries);
    const unsigned steps = line_steps(&p, lambda), more_steps = line_steps(&p, more);
    /* What is far below C is multiplied by much if s is large. */
    unsigned t = s > S_NEAR ? 0 : line_first(f, lambda);
    double sum = 0, before = line_at(&p, t * lambda);
    for (; t < f->homes; t++) {
        const double y = t * lambda, here = line_at(&p, y + lambda);
        const double left = expm1((f->homes - t) * more);
        sum += left * line_integral(&p, y, lambda, steps, before, here);
        sum += (left + 1) * line_integral(&p, y + lambda, more, more_steps, here,
                                          line_at(&p, y + lambda + more));
        before = here;
    }
    return sum;
}

/* g, with the m' that goes with s. */
static double line_exponent(const tamis_i_line_front *f, double growth, double s) {
    const double less = s * growth; /* log(m / m') */
    return f->load * (expm1(-less) + less) + log1p(line_moment(f, f->load * exp(-less), s));
}

/* ---- the back ---- */

double tamis_i_line_model_lag(const tamis_i_line_front *f, double cut) {
    const double lambda = f->load / f->homes;
    return cut * (f->deletes ? LAG * exp(-LAG_FALL * lambda) + LAG_RISE * lambda : LAG_SET);
}

/* Entries of all lines that are away. */
static double line_mean(const tamis_i_line_front *f, const tamis_i_line_sums *sums, double lines) {
    return lines * (sums->away + tamis_i_line_model_lag(f, sums->cut));
}

/* The entries that may go to a back line are those of about 2 N / M front lines.  If they were
 * normal, with a mean that the back as a whole is nearly filled by, this is what they lack of
 * filling the line, on average. */
double tamis_i_line_model_slack(const tamis_i_line_front *f, double scatter, double lines,
                                double back_lines, double back_entries) {
    if (back_lines <= 2)
        return 0;
    const double served = lines / back_lines;
    const double deviation = sqrt(fmax(2 * served * scatter, 1e-9));
    const double k =
        (back_entries - 2) / deviation; /* the mean is 2 entries below twice those of a line */
    const double lacks =
        deviation * (0.39894228 * exp(-k * k / 2) - k * 0.5 * erfc(k * 0.70710678));
    return fmax(lacks, 0) + FEW_FREE * fmax(FEW_SERVED - served, 0) +
           (f->deletes ? TAMIS_I_LINE_STILL_FREE : TAMIS_I_LINE_STILL_FREE_SET);
}

double tamis_i_line_model_stash(double back_lines) {
    return TAMIS_I_LINE_STASH_LEAST + floor(TAMIS_I_LINE_STASHED * back_lines);
}

double tamis_i_line_model_room(const tamis_line_shape *s, const tamis_i_line_front *f,
                               const tamis_i_line_sums *sums) {
    const double back = (double)s->back_lines, stash = (double)s->stash;
    if (s->back_lines <= 2)
        return back * s->back_entries + stash;
    const double slack =
        tamis_i_line_model_slack(f, sums->scatter, (double)s->lines, back, s->back_entries);
    return fmax(back * (s->back_entries - slack) + fmin(stash - tamis_i_line_model_stash(back), 0),
                0);
}

double tamis_i_line_model_log(const tamis_i_line_front *f, const tamis_i_line_sums *sums,
                              double lines, double back_lines, double s) {
    const double scatter = back_lines > 2 ? TAMIS_I_LINE_UNFILLED * back_lines : 0;
    return lines * (line_exponent(f, sums->growth, s) + s * tamis_i_line_model_lag(f, sums->cut)) +
           s * s * scatter / 2;
}

double tamis_i_line_model_best(const tamis_i_line_sums *sums, double lines, double back_lines,
                               double odds) {
    const double variance = fmax(lines * sums->variance + TAMIS_I_LINE_UNFILLED * back_lines, 1e-9);
    const double normal = sqrt(2 * odds * variance); /* entries above the mean */
    return fmin(normal / variance / (1 + 2 * TAMIS_I_LINE_SKEW * odds / normal), S_MOST);
}

/* The bound is a convex function of s: walk to its least value from a guess, which is above the
 * best one if the tail is longer than that of a normal distribution. */
tamis_status tamis_model_line_overflow(const tamis_line_shape *shape, uint64_t n, double *odds) {
    tamis_line_shape s;
    tamis_i_line_front f;
    const tamis_status status = line_take_front(shape, n, &s, &f);
    if (status != TAMIS_OK)
        return status;
    const double lines = (double)s.lines, back = (double)s.back_lines;
    tamis_i_line_sums sums;
    tamis_i_line_model_sums(&f, &sums);
    const double room = tamis_i_line_model_room(&s, &f, &sums);
    const double over = room - line_mean(&f, &sums, lines);
    if (n <= s.entries) { /* all of them fit in one line */
        *odds = 0;
        return TAMIS_OK;
    }
    double best = 0; /* of the logarithm */
    const double spread = lines * sums.variance + (back > 2 ? TAMIS_I_LINE_UNFILLED * back : 0);
    double t = fmin(S_FIRST * over / fmax(spread, 1e-9), S_MOST);
    for (unsigned i = 0; over > 0 && i < TRIES; i++, t *= S_FALL) {
        const double next = tamis_i_line_model_log(&f, &sums, lines, back, t) - t * room;
        if (next > best && best < 0)
            break;
        best = fmin(best, next);
    }
    *odds = exp(best);
    return TAMIS_OK;
}

tamis_status tamis_model_line_away(const tamis_line_shape *shape, uint64_t n, double *away,
                                   double *cut) {
    tamis_line_shape s;
    tamis_i_line_front f;
    const tamis_status status = line_take_front(shape, n, &s, &f);
    if (status != TAMIS_OK)
        return status;
    tamis_i_line_sums sums;
    tamis_i_line_model_sums(&f, &sums);
    *away = fmin((sums.away + tamis_i_line_model_lag(&f, sums.cut)) / f.load, 1);
    *cut = fmin(sums.cut + CUT_LAG * tamis_i_line_model_lag(&f, sums.cut), 1);
    return TAMIS_OK;
}

/* A query whose home is away reads both places that it may be in.  So does an insert, and one that
 * finds its line full reads them for a home that goes. */
tamis_status tamis_model_line_lines(const tamis_line_shape *shape, uint64_t n, double *query,
                                    double *insert) {
    tamis_line_shape s;
    double away, cut;
    tamis_status status = line_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        status = tamis_model_line_away(&s, n, &away, &cut);
    if (status != TAMIS_OK)
        return status;
    const double places = s.back_lines < 2 ? (double)s.back_lines : 2;
    *query = 1 + places * away;
    *insert = 1 + places * (away + GIVEN * cut);
    return TAMIS_OK;
}
