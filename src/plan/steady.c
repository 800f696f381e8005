/* steady.c - plans for buckets that spill over
 *
 * The error rate is that of fixed fingerprints, lambda/2^r with lambda keys per home, so that a number of
 * bits r gives the number of homes in all.  What is left to choose is how many homes share a bucket.  Few
 * make buckets that are seldom full, many use all bits; the best is where 2 to 8 % of the keys spill
 * over.  The back is then as large as its room must be to hold what spills, with the odds asked for.
 *
 * Large buckets need fewer bits, small ones less time.  A plan for the fewest bytes has buckets of half a
 * kilobyte, or of one where these need more than SMALL_ABOVE bits per key above the bound, which is below
 * 1e-5; any other an aligned pair of lines.  The latter may have ABOVE bits per key more than the bound:
 * where the smallest plan leaves some of them, they go to the one with the fewest keys away from home.  A set
 * that fits in one bucket has no other, and nothing spills.
 *
 * Nothing ages: what is promised holds at any time.  The odds are those of a moment; a set that changes all
 * the time sees new ones with each replacement of its keys, and is planned for STEADY_MOMENTS of them.  The
 * plan has room for STEADY_MORE keys with the odds that were asked for, and tells those of the keys that
 * were.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/steady.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define FAST_BITS 1024u
#define ABOVE                                                                                      \
    3.07 /* bits per key above log2(1/p) that the table of a plan for few lines may have */
#define NARROWER    4u /* times that it is looked for within fewer bits, which were estimated */
#define PRINT_MAX   48u
#define SURE        0.85 /* of the buckets that a back may have: the number is an estimate at first */
#define FEW         8u   /* buckets, of which one more or less is a large part */
#define LAMBDA_LOW  0.35
#define BUCKETS_MAX ((uint64_t)1 << 38)

typedef struct trial {
    tamis_steady_shape shape;
    tamis_i_steady_sums sums; /* of the keys that find room */
    double bits;
    double away; /* share of the keys that spill */
} trial;

/* What is looked for: with these bits beside each fingerprint, the fewest bits; or, if there is a limit to
 * them, the fewest keys that spill. */
typedef struct goal {
    const tamis_need *need;
    unsigned extra;
    double limit; /* INFINITY: none */
} goal;

static bool plan_steady_better(const goal *g, const trial *t, const trial *than) {
    return isinf(g->limit) ? t->bits < than->bits : t->bits <= g->limit && t->away < than->away;
}

static const trial nothing = {.bits = INFINITY, .away = INFINITY};

static unsigned plan_steady_slot_bits(const tamis_steady_shape *s) {
    return s->fp_bits + s->extra_bits;
}

static double plan_steady_slots(const tamis_steady_shape *s) {
    return floor((double)(s->bucket_bits - s->homes) / (1 + plan_steady_slot_bits(s)));
}

static double plan_steady_bits(const tamis_steady_shape *s) {
    return (double)s->buckets * s->bucket_bits + (double)s->spill_buckets * s->spill_bits;
}

/* The odds of a moment that a plan may have. */
static double plan_steady_odds(const tamis_need *need) {
    return need->failure_max / (need->deletes ? STEADY_MOMENTS : 1);
}

/* Keys that find room: a few more than asked for, since some come twice, and small sets are often larger than
 * planned. */
static uint64_t plan_steady_keys(const tamis_need *need) {
    return need->n + (need->n < 4 * STEADY_MORE ? need->n / 4 : STEADY_MORE);
}

static bool plan_steady_holds(const tamis_need *need, const tamis_steady_shape *s) {
    double odds;
    return tamis_model_steady_overflow(s, plan_steady_keys(need), &odds) == TAMIS_OK &&
           odds <= plan_steady_odds(need);
}

/* The odds of the keys that were asked for.  Where the model has no better answer than 1 for these, as their
 * few homes away are not spread, it is that for more of them. */
static tamis_status plan_steady_failure(const tamis_need *need, const tamis_steady_shape *s,
                                        double *odds) {
    double more;
    tamis_status status = tamis_model_steady_overflow(s, need->n, odds);
    if (status == TAMIS_OK)
        status = tamis_model_steady_overflow(s, plan_steady_keys(need), &more);
    if (status == TAMIS_OK)
        *odds = fmin(*odds, more);
    return status;
}

/* The fewest buckets of the back that hold 'room' slots; INFINITY if there is no such number. */
static double plan_steady_back(const tamis_steady_shape *s, unsigned origin, double room) {
    const double groups = ceil(ldexp((double)s->buckets, -(int)origin));
    const double homes = groups * s->homes, slot = plan_steady_slot_bits(s) + origin + 2;
    /* m ((bits - homes/m) / slot - margin) = room */
    const double each = s->spill_bits / slot - MARGIN - 1;
    return each <= 1 ? INFINITY : ceil(fmax((room + homes / slot) / each, 1));
}

/* Complete a trial with the best back for 'room' slots, whose homes are spread well enough. */
static void plan_steady_fit(const tamis_need *need, trial *t, double room) {
    const uint64_t keys = plan_steady_keys(need);
    double fewest = INFINITY;
    unsigned best = 0;
    for (unsigned origin = 0; origin <= ORIGIN_MAX; origin++) {
        const double m = plan_steady_back(&t->shape, origin, room);
        t->shape.origin_bits = origin;
        if (m < fewest &&
            (m <= 2 || m <= SURE * tamis_i_model_steady_backs(&t->shape, keys, &t->sums))) {
            fewest = m;
            best = origin;
        }
    }
    t->shape.origin_bits = best;
    t->shape.spill_buckets =
        isfinite(fewest) && fewest <= (double)BUCKETS_MAX ? (uint64_t)fewest : 0;
    t->bits = t->shape.spill_buckets == 0 ? INFINITY : plan_steady_bits(&t->shape);
}

/* What spills, roughly at its largest. */
static double plan_steady_room(const tamis_need *need, trial *t) {
    const tamis_steady_shape *const s = &t->shape;
    const double n = (double)plan_steady_keys(need);
    if (tamis_i_model_steady_sums(s, (uint64_t)n, 0, &t->sums) != TAMIS_OK)
        return INFINITY;
    const double away = t->sums.away * (double)s->buckets, mean = n / (double)s->buckets;
    t->away = away / n;
    const double z = sqrt(-2 * log(plan_steady_odds(need)));
    /* A bucket that spills at all gives away a number of about this scatter. */
    return away + z * sqrt(away * sqrt(mean)) + z * z / 3 * sqrt(mean) / 2;
}

/* Buckets of these bits with so many homes and bits of a fingerprint. */
static void plan_steady_try(const goal *g, tamis_steady_shape *shape, double lambda, trial *best) {
    const tamis_need *const need = g->need;
    trial t = {.shape = *shape};
    t.shape.buckets =
        (uint64_t)fmin(ceil((double)need->n / (lambda * t.shape.homes)), 2.0 * (double)BUCKETS_MAX);
    const double mean = (double)need->n / (double)t.shape.buckets, slots = plan_steady_slots(shape);
    if (t.shape.buckets > BUCKETS_MAX || slots < 1)
        return;
    if ((double)plan_steady_keys(need) <= slots && t.shape.buckets == 1) {
        t.shape.spill_bits = 0;
        t.bits = plan_steady_bits(&t.shape);
    } else if ((mean > 0.75 * slots || t.shape.buckets < FEW) && mean < 1.25 * slots) {
        plan_steady_fit(need, &t, plan_steady_room(need, &t));
    } else {
        return;
    }
    if (plan_steady_better(g, &t, best))
        *best = t;
}

/* The best number of homes for these bits of a fingerprint: all bits of a bucket are used at loads around 1.
 * Loads from 0.85 to 1.2 are tried, in steps that the size hardly depends on. */
static void plan_steady_homes(const goal *g, tamis_steady_shape *shape, double lambda,
                              trial *best) {
    const double slot = 1.0 + plan_steady_slot_bits(shape), bits = shape->bucket_bits;
    unsigned tried = 0;
    for (double load = 0.85; load < 1.2; load += 0.01) {
        /* lambda homes = load slots, homes + slots slot = bits */
        const double homes = floor(bits / (1 + lambda / load * slot));
        if (homes < 1 || (unsigned)homes == tried || homes > bits - slot)
            continue;
        shape->homes = tried = (unsigned)homes;
        plan_steady_try(g, shape, lambda, best);
    }
    /* A set of one bucket has the homes that its keys need. */
    const double alone = ceil((double)g->need->n / lambda);
    if (alone + (double)plan_steady_keys(g->need) * slot <= bits) {
        shape->homes = (unsigned)fmax(alone, 1);
        plan_steady_try(g, shape, lambda, best);
    }
}

/* The best plan with buckets of these bits. */
static void plan_steady_sizes(const goal *g, unsigned bucket_bits, unsigned spill_bits,
                              trial *best) {
    const double wanted = tamis_i_plan_steady_cell(g->need);
    tamis_steady_shape shape;
    tamis_steady_shape_init(&shape);
    shape.extra_bits = g->extra;
    shape.bucket_bits = bucket_bits;
    shape.spill_bits = spill_bits;
    bool any = false;
    for (unsigned r = 1; r <= PRINT_MAX; r++) {
        const double lambda = fmin(ldexp(wanted, (int)r), LAMBDA_MOST);
        if (lambda < LAMBDA_LOW)
            continue;
        if (any && ldexp(wanted, (int)r) > LAMBDA_MOST)
            return;
        any = true;
        shape.fp_bits = r;
        plan_steady_homes(g, &shape, lambda, best);
    }
}

/* Make sure of the odds: the room was an estimate.  Then give back what is too much. */
static tamis_status plan_steady_settle(const tamis_need *need, trial *t) {
    tamis_steady_shape *const s = &t->shape;
    if (s->spill_buckets == 0)
        return TAMIS_OK;
    uint64_t low = 0, high = s->spill_buckets;
    for (; !plan_steady_holds(need, s); s->spill_buckets = high += high / 8 + 1) {
        low = high;
        if (high > s->buckets + 64)
            return TAMIS_E_UNSUPPORTED;
    }
    high = s->spill_buckets;
    while (high - low > 1 + high / 256) {
        s->spill_buckets = low + (high - low) / 2;
        if (s->spill_buckets > 0 && plan_steady_holds(need, s))
            high = s->spill_buckets;
        else
            low = s->spill_buckets;
    }
    s->spill_buckets = high;
    s->spill_buckets = tamis_i_model_steady_even(s);
    t->bits = plan_steady_bits(s);
    return TAMIS_OK;
}

/* Buckets of 'usual' bits, or one that holds all keys; few buckets share a smaller back. */
static trial plan_steady_best(const goal *g, unsigned usual) {
    const tamis_need *const need = g->need;
    trial best = nothing;
    for (unsigned bits = STEADY_LINE; bits <= ALONE_BITS; bits += STEADY_LINE) {
        trial t = nothing;
        const bool alone = (double)need->n * (g->extra - log2(need->fpr)) < bits;
        if (!alone && bits != usual)
            continue;
        plan_steady_sizes(g, bits, 0, &t);
        for (unsigned back = STEADY_LINE; back <= BACK_BITS; back *= 2)
            if (bits == usual && (t.bits == INFINITY || t.shape.spill_buckets != 0))
                plan_steady_sizes(g, bits, back, &t);
        if (isfinite(t.bits) && plan_steady_settle(need, &t) == TAMIS_OK && t.bits < best.bits)
            best = t;
    }
    return best;
}

/* Like the smallest plan, but with fewer keys away from home, as far as there are bits to spend. */
static trial plan_steady_roomy(const goal *g, const trial *smallest) {
    const tamis_need *const need = g->need;
    const double most = (double)need->n * (g->extra - log2(need->fpr) + ABOVE);
    goal roomy = *g;
    roomy.limit = most;
    if (!isfinite(smallest->bits) || smallest->shape.spill_buckets == 0)
        return *smallest;
    for (unsigned i = 0; i < NARROWER && smallest->bits < roomy.limit; i++) {
        trial t = nothing;
        for (unsigned back = STEADY_LINE; back <= BACK_BITS; back *= 2)
            plan_steady_sizes(&roomy, smallest->shape.bucket_bits, back, &t);
        if (!isfinite(t.bits) || plan_steady_settle(need, &t) != TAMIS_OK)
            break;
        if (t.bits <= most)
            return t;
        roomy.limit -= t.bits - most;
    }
    return *smallest;
}

/* The smallest plan. */
static trial plan_steady_small(const goal *g) {
    const tamis_need *const need = g->need;
    const trial small = plan_steady_best(g, SMALL_BITS);
    if (g->extra != 0 || small.shape.buckets < LARGE_FROM ||
        small.bits <= (double)need->n * (SMALL_ABOVE - log2(need->fpr)))
        return small;
    const trial large = plan_steady_best(g, LARGE_BITS);
    return large.bits < small.bits ? large : small;
}

/* Lines that a query reads. */
static double plan_steady_lines(const tamis_need *need, const trial *t) {
    double query, insert;
    return isfinite(t->bits) &&
                   tamis_model_steady_lines(&t->shape, need->n, &query, &insert) == TAMIS_OK
               ? query
               : INFINITY;
}

tamis_status tamis_i_plan_steady(const tamis_need *need, tamis_plan *plan) {
    unsigned counter = 0;
    while (need->copies >> counter > 1)
        counter++;
    counter += need->copies > 1u << counter;
    if (need->fpr < ldexp(1, -(int)PRINT_MAX))
        return TAMIS_E_UNSUPPORTED;
    const goal g = {.need = need, .extra = need->value_bits + counter, .limit = INFINITY};
    trial best = nothing;
    const bool small = need->order <= TAMIS_ORDER_BYTES;
    if (small)
        best = plan_steady_small(&g);
    /* Smaller buckets, if these are asked for or the others are too large to read. */
    for (unsigned bits = FAST_BITS;
         bits >= STEADY_LINE &&
         (isinf(best.bits) || !tamis_i_plan_lines_ok(need, plan_steady_lines(need, &best)));
         bits /= 2) {
        trial t = plan_steady_best(&g, bits);
        if (!small)
            t = plan_steady_roomy(&g, &t);
        best = isfinite(t.bits) ? t : best;
    }
    if (!isfinite(best.bits))
        return TAMIS_E_UNSUPPORTED;
    const tamis_steady_shape *const s = &best.shape;
    tamis_status status = tamis_model_steady_fpr(s, need->n, &plan->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_steady_fpr(s, need->n / 2 + need->n % 2, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = plan_steady_failure(need, s, &plan->overflow_probability);
    if (status == TAMIS_OK)
        status =
            tamis_model_steady_lines(s, need->n, &plan->lines_per_query, &plan->lines_per_insert);
    if (status != TAMIS_OK)
        return status;
    if (need->deletes)
        plan->overflow_probability = fmin(STEADY_MOMENTS * plan->overflow_probability, 1);
    plan->params.kind = TAMIS_KIND_STEADY;
    plan->params.stash = 16 + need->n / 16384;
    uint64_t *const value = plan->params.value;
    value[TAMIS_STEADY_BUCKETS] = s->buckets;
    value[TAMIS_STEADY_BUCKET_BITS] = s->bucket_bits;
    value[TAMIS_STEADY_HOMES] = s->homes;
    value[TAMIS_STEADY_FINGERPRINT_BITS] = s->fp_bits;
    value[TAMIS_STEADY_SPILL_BUCKETS] = s->spill_buckets;
    value[TAMIS_STEADY_SPILL_BITS] = s->spill_buckets == 0 ? 0 : s->spill_bits;
    value[TAMIS_STEADY_ORIGIN_BITS] = s->spill_buckets == 0 ? 0 : s->origin_bits;
    value[TAMIS_STEADY_VALUE_BITS] = need->value_bits;
    value[TAMIS_STEADY_COUNTER_BITS] = counter;
    return TAMIS_OK;
}
