/* steady.c - buckets that spill over: error rate, what spills, odds of running out of room, lines
 *
 * B buckets of L homes hold n keys, lambda = n/(B L) per home.  A bucket has C slots of r bits and x extra
 * bits, with an index of one bit per home and per slot.  Let X be the keys of a bucket, a binomial number
 * with mean n/B.  A bucket with X > C gives homes away from the last one on, as a whole, until the rest
 * fits.  So it gives away
 *
 *     O = X - C + W + V if X > C,    V if X = C,    else 0
 *
 * W is what the home at the border leaves free.  It is the home of the first key that does not fit, and has
 * each of the X - 1 others with odds 1/L, half of which would have fit.  With l = (X - 1)/L and Poisson
 * numbers K of mean l,
 *
 *     P(W = j) = P(K > j) / l,    E(W) = l/2,    E(e^(t W)) = e^g(l) = (e^(l u) - 1) / (l u),    u = e^t - 1
 *
 * g is convex, so that its tangent's slope at a load that is never met bounds it from a first load on.
 *
 * V is what homes leave free that are late.  A removal makes one slot free and asks for up to R homes, which
 * are empty with the odds q = e^-lambda; each that is not takes a slot at least, or does not fit, and then
 * none is late.  So V grows by at most 1 - N, N binomial of R and 1 - q, and stays at or above 0: a walk
 * whose steps up are single, of which the tail is geometric,
 *
 *     P(V >= j) <= s^j,    s = (q + (1 - q) s)^R
 *
 * Inserts only take from V, and are left out.  (Homes that were asked for before and came to nothing are
 * not empty, and a key that comes to a home that is late stays with it: both are small.)
 *
 * The back has M buckets of C' slots, and each slot is stored in the less full one of two.  So they are all
 * nearly equally full, and the first key finds no room when all the O together come near M C'.  If every slot
 * chose among two buckets of its own, the stationary state of
 *
 *     ds_i/dt = c (s_(i-1)^2 - s_i^2) - i (s_i - s_(i+1)),    s_i the share of buckets with i slots or more,
 *
 * would have s_i^2 M < 1e-16 from 6 or 7 slots above the mean c on, for c = 5 to 260 and M up to 10^8.  But
 * slots of one home, of all buckets of an origin, choose among the same two, and the fullest of 9,000 buckets
 * was measured to be up to 7.7 above the mean: MARGIN is 10.  Of those homes
 *
 *     D >= B/2^k E(O)/(lambda P(X > C)) / M
 *
 * are away per bucket of the back, as P(X > C) is the most that one of them can have.  Where D was below 5
 * the fullest bucket was measured to be up to 10 slots above the mean.  So MARGIN is for D >= SPREAD; with
 * less, the odds are 1 here.  And M must not be one at which the last homes of all buckets meet in a part of
 * the back, as multiples of L do: planners take M from tamis_i_model_steady_even.
 *
 * Odds.  The numbers of keys in the buckets are negatively associated (balls in bins), so for any t > 0
 *
 *     P(sum of O > s) <= E(e^(t O))^B e^(-t s)
 *
 * with the best of some t: Chernoff's bound, of every size of table.
 *
 * Confirmed by tests/model/test_filter_steady.c: the share that spills within 3 % and its scatter, no key in
 * the stash where the odds are below 1e-4, the error rate within its confidence interval.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/steady.h"

#include <math.h>

#include "base/base.h"

#define N_MAX       ((uint64_t)1 << 40)
#define BUCKETS_MAX ((uint64_t)1 << 40)
#define BITS_MAX    (1u << 15)
#define LINE        512.0
#define MARGIN      TAMIS_I_STEADY_MARGIN
#define SPREAD      TAMIS_I_STEADY_SPREAD
#define RETURNS     TAMIS_I_STEADY_RETURNS
#define BANDS       8u /* with more, each is narrower than what is away */
#define NEAR        4u /* buckets of the back, and a 128th, that an even number of them may cost */
#define SIGMAS      12.0 /* of the binomial distribution that are summed up */

static unsigned steady_slots(unsigned bits, double homes, unsigned slot) {
    return homes >= bits ? 0 : (unsigned)((bits - homes) / (1 + slot));
}

static unsigned steady_slot_bits(const tamis_steady_shape *s) {
    return s->fp_bits + s->extra_bits;
}

static double steady_back_homes(const tamis_steady_shape *s) {
    const uint64_t groups = ((s->buckets - 1) >> s->origin_bits) + 1;
    return ceil((double)groups * s->homes / (double)s->spill_buckets);
}

static unsigned steady_back_slots(const tamis_steady_shape *s) {
    return s->spill_buckets == 0 ? 0
                                 : steady_slots(s->spill_bits, steady_back_homes(s),
                                                steady_slot_bits(s) + s->origin_bits + 1);
}

static tamis_status steady_take_shape(const tamis_steady_shape *theirs, uint64_t n,
                                      tamis_steady_shape *s) {
    if (!tamis_i_struct_in(s, sizeof *s, theirs))
        return TAMIS_E_ARGUMENT;
    if (s->buckets < 1 || s->buckets > BUCKETS_MAX || s->spill_buckets > BUCKETS_MAX ||
        s->bucket_bits > BITS_MAX || s->spill_bits > BITS_MAX || s->homes < 1 || s->fp_bits < 1 ||
        s->fp_bits > 48 || s->extra_bits > 8 || s->origin_bits > 8 || n == 0 || n > N_MAX ||
        steady_slots(s->bucket_bits, s->homes, steady_slot_bits(s)) == 0)
        return TAMIS_E_DOMAIN;
    if (s->spill_buckets != 0 && steady_back_slots(s) == 0)
        return TAMIS_E_DOMAIN;
    return TAMIS_OK;
}

static double steady_lambda(const tamis_steady_shape *s, uint64_t n) {
    return (double)n / ((double)s->buckets * s->homes);
}

/* Every key is in one of B L 2^r cells, wherever its home is: 1 - (1 - 1/(B L 2^r))^n. */
tamis_status tamis_model_steady_fpr(const tamis_steady_shape *shape, uint64_t n, double *fpr) {
    tamis_steady_shape s;
    const tamis_status status = steady_take_shape(shape, n, &s);
    if (status != TAMIS_OK)
        return status;
    const double cells = ldexp((double)s.buckets * s.homes, (int)s.fp_bits);
    *fpr = -expm1((double)n * log1p(-1 / cells));
    return TAMIS_OK;
}

/* The s of the tail, from below, by iterations that gain a digit each where plans are.  Where hardly a home
 * has keys it is near 1. */
static double steady_late(double lambda) {
    const double q = exp(-lambda);
    double s = 0;
    for (unsigned i = 0; i < 40; i++) {
        double power = 1;
        for (unsigned k = 0; k < RETURNS; k++)
            power *= q + (1 - q) * s;
        if (power - s < 1e-12)
            break;
        s = power;
    }
    return s;
}

/* Of V: mean, variance, and mean of e^(t V). */
typedef struct late {
    double mean, variance, power;
} late;

static late steady_late_of(double lambda, double t) {
    const double s = steady_late(lambda), all = s * exp(t);
    return (late){.mean = s / (1 - s),
                  .variance = s / ((1 - s) * (1 - s)),
                  .power = all < 1 ? (1 - s) / (1 - all) : INFINITY};
}

/* g(l) as a power of e, and its slope. */
static double steady_border(double l, double u) {
    return l * u > 0 ? expm1(l * u) / (l * u) : 1;
}

static double steady_border_slope(double l, double u) {
    return l * u > 0 ? (l * u / -expm1(-l * u) - 1) / l : 0;
}

/* All that depends on the load goes from one to the next by a factor.  The terms fall once the ratio of the
 * probabilities is below e^-t, and then fast. */
static tamis_status steady_sums(const tamis_steady_shape *s, uint64_t n, double t,
                                tamis_i_steady_sums *sums) {
    const double q = 1 / (double)s->buckets, odds = q / (1 - q), homes = s->homes;
    const double c = steady_slots(s->bucket_bits, s->homes, steady_slot_bits(s));
    const double mean = (double)n * q, most = mean + SIGMAS * sqrt(mean), u = expm1(t);
    const double first = fmax(c, floor(mean - SIGMAS * sqrt(mean)));
    const double growth = exp(t + steady_border_slope(fmax(most, c + 1) / homes, u) / homes);
    const late v = steady_late_of(steady_lambda(s, n), t);
    double p;
    *sums = (tamis_i_steady_sums){0, 0, 0, 0};
    if (first > (double)n)
        return TAMIS_OK;
    if (isinf(v.power)) { /* and so of no use */
        sums->moment = INFINITY;
        return TAMIS_OK;
    }
    if (s->buckets == 1) { /* all keys are in it */
        const double o = (double)n - c + (double)(n - 1) / homes / 2 + v.mean;
        if ((double)n > c)
            *sums = (tamis_i_steady_sums){1, o, o * o, expm1(t * o)};
        return TAMIS_OK;
    }
    const tamis_status status = tamis_model_binomial(n, q, (uint64_t)first, &p);
    if (status != TAMIS_OK)
        return status;
    double weighted = p * exp(t * (first - c)) * steady_border((first - 1) / homes, u) * v.power;
    for (double x = first; x <= (double)n; x++) {
        const double ratio = ((double)n - x) / (x + 1) * odds;
        if (x > c) {
            const double l = (x - 1) / homes, o = x - c + l / 2 + v.mean;
            sums->cut += p;
            sums->away += p * o;
            sums->squares += p * (o * o + l / 2 + l * l / 12 + v.variance);
            sums->moment += weighted - p;
            if (ratio * growth < 0.9 && weighted * o * o <= 1e-14 * (sums->moment + sums->squares))
                break;
        } else { /* x = c */
            sums->away += p * v.mean;
            sums->squares += p * (v.mean * v.mean + v.variance);
            sums->moment += p * (v.power - 1);
        }
        p *= ratio;
        weighted *= ratio * growth;
    }
    return TAMIS_OK;
}

tamis_status tamis_i_model_steady_sums(const tamis_steady_shape *shape, uint64_t n, double t,
                                       tamis_i_steady_sums *sums) {
    tamis_steady_shape s;
    const tamis_status status = steady_take_shape(shape, n, &s);
    return status == TAMIS_OK ? steady_sums(&s, n, t, sums) : status;
}

/* The share of the keys that is away. */
static double steady_away(const tamis_steady_shape *s, uint64_t n,
                          const tamis_i_steady_sums *sums) {
    return fmin(sums->away * (double)s->buckets / (double)n, 1);
}

tamis_status tamis_model_steady_spilled(const tamis_steady_shape *shape, uint64_t n,
                                        double *spilled, double *cut) {
    tamis_steady_shape s;
    tamis_i_steady_sums sums;
    tamis_status status = steady_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        status = steady_sums(&s, n, 0, &sums);
    if (status != TAMIS_OK)
        return status;
    *cut = fmin(sums.cut, 1);
    *spilled = steady_away(&s, n, &sums);
    return TAMIS_OK;
}

/* Slots of the back that are sure to be found. */
static double steady_room(const tamis_steady_shape *s) {
    const double m = (double)s->spill_buckets, slots = steady_back_slots(s);
    return s->spill_buckets <= 1 ? m * slots : m * fmax(slots - MARGIN, 0);
}

double tamis_i_model_steady_room(const tamis_steady_shape *shape) {
    return steady_room(shape);
}

/* With two buckets every home has the same two. */
double tamis_i_model_steady_backs(const tamis_steady_shape *shape, uint64_t n,
                                  const tamis_i_steady_sums *sums) {
    const double groups = (double)(((shape->buckets - 1) >> shape->origin_bits) + 1);
    const double homes = sums->cut > 0 ? sums->away / sums->cut / steady_lambda(shape, n) : 0;
    return fmax(groups * homes / SPREAD, 2);
}

/* Bucket m of the back has the homes h = (q M + m) mod L, of q = 0, 1 .. Q - 1, as its first places, and what
 * is away are the last of the L homes.  If d M is near a multiple of L for a small d, these h are in d bands,
 * which move by the difference with each d steps; they are even if the bands meet, at least twice.  The least
 * of all d, as a share of that. */
static double steady_evenness(const tamis_steady_shape *s, uint64_t m) {
    const uint64_t groups = ((s->buckets - 1) >> s->origin_bits) + 1;
    const double homes = s->homes, q = ceil((double)groups * homes / (double)m);
    double least = 1;
    for (uint64_t d = 1; d <= BANDS; d++) {
        const uint64_t over = d * (m % s->homes) % s->homes;
        const double apart = (double)(over < s->homes - over ? over : s->homes - over);
        least = fmin(least, apart * q / (2 * homes));
    }
    return least;
}

uint64_t tamis_i_model_steady_even(const tamis_steady_shape *shape) {
    const uint64_t first = shape->spill_buckets;
    uint64_t best = first;
    double most = -1;
    if (first <= 2 ||
        first <=
            shape->homes / BANDS) /* neighbouring homes are in different buckets: all have some */
        return first;
    for (uint64_t m = first; m <= first + NEAR + first / 128 && most < 1; m++) {
        const double even = steady_evenness(shape, m);
        if (even > most) {
            most = even;
            best = m;
        }
    }
    return best;
}

tamis_status tamis_model_steady_overflow(const tamis_steady_shape *shape, uint64_t n,
                                         double *odds) {
    tamis_steady_shape s;
    tamis_i_steady_sums sums;
    tamis_status status = steady_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        status = steady_sums(&s, n, 0, &sums);
    if (status != TAMIS_OK)
        return status;
    const double room = steady_room(&s), b = (double)s.buckets;
    if (sums.cut == 0) {
        *odds = 0;
        return TAMIS_OK;
    }
    const bool spread = (double)s.spill_buckets <= tamis_i_model_steady_backs(&s, n, &sums);
    double best = 0; /* of the logarithm */
    if (spread && (room > b * sums.away || room == 0))
        for (double t = TAMIS_I_STEADY_T; t > 1e-5; t *= TAMIS_I_STEADY_FALL) {
            status = steady_sums(&s, n, t, &sums);
            if (status != TAMIS_OK)
                return status;
            /* Without a back the first key that leaves its bucket is one too many: O is above 0 by more
             * than lambda/2 then. */
            best = fmin(best, b * log1p(sums.moment) - t * room);
        }
    *odds = room == 0 ? fmin(b * sums.cut, 1) : exp(best);
    return TAMIS_OK;
}

/* Lines up to the one with bit 'at'. */
static double steady_line(double at) {
    return floor(at / LINE);
}

/* A query for home h reads the index up to the zero of h, and the run if it is not empty.  An insert
 * reads the whole index, and moves the index and the slots behind its place. */
static void steady_read(double homes, unsigned every, double slots, double slot_bits, double bits,
                        double lambda, double *query, double *insert) {
    const double index = homes + slots, used = fmin(lambda * homes, slots);
    const double last = steady_line(fmin(index + used * slot_bits, bits - 1));
    double seen = 0;
    *query = *insert = 0;
    for (double h = floor(fmin(every, homes) / 2); h < homes; h += every, seen++) {
        const double zero = steady_line(fmin(h + 1 + used * (h + 1) / homes, index - 1));
        const double begin = index + used * h / homes * slot_bits, slot = steady_line(begin);
        const double straddle = fmin(fmax(lambda, 1) * slot_bits / LINE, 1);
        *query += zero + 1 - expm1(-lambda) * ((slot > zero) + straddle);
        *insert += steady_line(index - 1) + 1 + (last - fmax(slot, steady_line(index - 1) + 1) + 1);
    }
    *query = fmin(*query / seen, bits / LINE);
    *insert = fmin(*insert / seen, bits / LINE);
}

tamis_status tamis_i_model_steady_lines(const tamis_steady_shape *shape, uint64_t n, unsigned every,
                                        double *query, double *insert) {
    tamis_steady_shape s;
    tamis_i_steady_sums sums = {0, 0, 0, 0};
    double back_query = 0, back_insert = 0;
    tamis_status status = steady_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        status = steady_sums(&s, n, 0, &sums);
    if (status != TAMIS_OK)
        return status;
    const double cut = fmin(sums.cut, 1), spilled = steady_away(&s, n, &sums);
    const unsigned slot = steady_slot_bits(&s);
    steady_read(s.homes, every, steady_slots(s.bucket_bits, s.homes, slot), slot, s.bucket_bits,
                steady_lambda(&s, n), query, insert);
    if (s.spill_buckets != 0) {
        const double homes = steady_back_homes(&s);
        const double load = spilled * (double)n / (double)s.spill_buckets / homes;
        steady_read(homes, every, steady_back_slots(&s), slot + s.origin_bits + 1.0, s.spill_bits,
                    load, &back_query, &back_insert);
    }
    const double places = s.spill_buckets > 1 ? 2 : 1;
    *query += places * spilled * back_query;
    /* What does not spill itself pushes a home out, if its bucket is full. */
    *insert += cut * (back_insert + (places - 1) * back_query);
    return TAMIS_OK;
}

tamis_status tamis_model_steady_lines(const tamis_steady_shape *shape, uint64_t n, double *query,
                                      double *insert) {
    return tamis_i_model_steady_lines(shape, n, 1, query, insert);
}
