/* steady.c - buckets that spill over: error rate, what spills, odds of running out of room, lines
 *
 * B buckets of L homes hold n keys, lambda = n/(B L) per home.  A bucket has C slots of r bits and x extra
 * bits, with an index of one bit per home and per slot.  Let X be the keys of a bucket, a binomial number
 * with mean n/B.  A bucket with X > C gives homes away from the last one on, as a whole, until the rest
 * fits. The home at the border has lambda others, of which half would have fit:
 *
 *     O = X - C + lambda/2 if X > C, else 0        slots that a bucket gives away
 *
 * The back has M buckets of C' slots, and each slot is stored in the less full one of two.  So they are all
 * nearly equally full, and the first key finds no room when all the O together come near M C'.  Measured
 * with keys that come and go, the fullest of 1000 buckets has 6 slots in use more than the mean one; MARGIN
 * is left to that.  Homes come back a little late, which keeps up to 2 % more of them away: LAG.
 *
 * Odds.  The numbers of keys in the buckets are negatively associated (balls in bins), so for any t > 0
 *
 *     P(sum of O > s) <= E(e^(t O))^B e^(-t s)
 *
 * with the best of some t: Chernoff's bound, of every size of table.
 *
 * Confirmed by tests/model/test_filter_steady.c: the share that spills within 3 %, no key in the stash
 * where the odds are below 1e-4, the error rate within its confidence interval.
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
#define LAG         TAMIS_I_STEADY_LAG
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

/* Sums over the loads X above C: of P(X), of P(X) O, and of P(X) (e^(t O) - 1). */
typedef struct loads {
    double cut, away, moment;
} loads;

/* The probabilities fall by a ratio from one load to the next, once the first one is known. */
static tamis_status steady_sum(const tamis_steady_shape *s, uint64_t n, double t, loads *sums) {
    const double q = 1 / (double)s->buckets, mean = (double)n * q;
    const double c = steady_slots(s->bucket_bits, s->homes, steady_slot_bits(s));
    const double border = steady_lambda(s, n) / 2, most = mean + SIGMAS * sqrt(mean) + 40;
    const double first = fmax(floor(c) + 1, floor(mean - SIGMAS * sqrt(mean)));
    double p;
    *sums = (loads){0, 0, 0};
    if (first > (double)n)
        return TAMIS_OK;
    if (s->buckets == 1) { /* all keys are in it */
        *sums = (loads){1, (double)n - c + border, expm1(t * ((double)n - c + border))};
        return TAMIS_OK;
    }
    const tamis_status status = tamis_model_binomial(n, q, (uint64_t)first, &p);
    if (status != TAMIS_OK)
        return status;
    for (double x = first; x <= (double)n && x <= fmax(most, first + 40); x++) {
        const double o = x - c + border;
        sums->cut += p;
        sums->away += p * o;
        sums->moment += p * expm1(t * o);
        p *= ((double)n - x) / (x + 1) * q / (1 - q);
    }
    return TAMIS_OK;
}

tamis_status tamis_model_steady_spilled(const tamis_steady_shape *shape, uint64_t n,
                                        double *spilled, double *cut) {
    tamis_steady_shape s;
    loads sums;
    tamis_status status = steady_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        status = steady_sum(&s, n, 0, &sums);
    if (status != TAMIS_OK)
        return status;
    *cut = fmin(sums.cut, 1);
    *spilled = fmin(LAG * sums.away * (double)s.buckets / (double)n, 1);
    return TAMIS_OK;
}

/* Slots of the back that are sure to be found. */
static double steady_room(const tamis_steady_shape *s) {
    const double m = (double)s->spill_buckets, slots = steady_back_slots(s);
    return s->spill_buckets <= 1 ? m * slots : m * fmax(slots - MARGIN, 0);
}

tamis_status tamis_model_steady_overflow(const tamis_steady_shape *shape, uint64_t n,
                                         double *odds) {
    tamis_steady_shape s;
    loads sums;
    tamis_status status = steady_take_shape(shape, n, &s);
    if (status == TAMIS_OK)
        status = steady_sum(&s, n, 0, &sums);
    if (status != TAMIS_OK)
        return status;
    const double room = steady_room(&s) / LAG, b = (double)s.buckets;
    if (sums.cut == 0) {
        *odds = 0;
        return TAMIS_OK;
    }
    double best = 0; /* of the logarithm */
    if (room > b * sums.away || room == 0)
        for (double t = 4; t > 1e-5; t *= 0.85) {
            status = steady_sum(&s, n, t, &sums);
            if (status != TAMIS_OK)
                return status;
            /* Without a back the first key that leaves its bucket is one too many: O is above 0 by more
             * than lambda/2 then. */
            best = fmin(best, b * log1p(sums.moment) - t * room);
        }
    *odds = room == 0 ? fmin(b * sums.cut, 1) : exp(best);
    return TAMIS_OK;
}

/* Both exponentials go from one load to the next by a factor.  The terms fall once the ratio of the
 * probabilities is below e^-t, and then fast. */
tamis_status tamis_i_model_steady_sums(const tamis_steady_shape *shape, uint64_t n, double t,
                                       tamis_i_steady_sums *sums) {
    tamis_steady_shape s;
    double p;
    tamis_status status = steady_take_shape(shape, n, &s);
    if (status != TAMIS_OK)
        return status;
    const double q = 1 / (double)s.buckets, odds = q / (1 - q), growth = exp(t);
    const double c = steady_slots(s.bucket_bits, s.homes, steady_slot_bits(&s));
    const double border = steady_lambda(&s, n) / 2, mean = (double)n * q;
    const double first = fmax(c + 1, floor(mean - SIGMAS * sqrt(mean)));
    *sums = (tamis_i_steady_sums){0, 0, 0, 0};
    if (first > (double)n)
        return TAMIS_OK;
    if (s.buckets == 1) {
        const double o = (double)n - c + border;
        *sums = (tamis_i_steady_sums){1, o, o * o, expm1(t * o)};
        return TAMIS_OK;
    }
    status = tamis_model_binomial(n, q, (uint64_t)first, &p);
    if (status != TAMIS_OK)
        return status;
    double weighted = p * exp(t * (first - c + border));
    for (double x = first; x <= (double)n; x++) {
        const double o = x - c + border;
        sums->cut += p;
        sums->away += p * o;
        sums->squares += p * o * o;
        sums->moment += weighted - p;
        const double ratio = ((double)n - x) / (x + 1) * odds;
        if (ratio * growth < 0.9 && weighted * o * o <= 1e-14 * (sums->moment + sums->squares))
            break;
        p *= ratio;
        weighted *= ratio * growth;
    }
    return TAMIS_OK;
}

double tamis_i_model_steady_room(const tamis_steady_shape *shape) {
    return steady_room(shape) / LAG;
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
        status = tamis_i_model_steady_sums(&s, n, 0, &sums);
    if (status != TAMIS_OK)
        return status;
    const double cut = fmin(sums.cut, 1);
    const double spilled = fmin(LAG * sums.away * (double)s.buckets / (double)n, 1);
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
