/* steady_quick.c - plans for buckets that spill over, in some microseconds
 *
 * The search (steady.c) tries some hundred shapes, and for each the sum over all loads.  Here the few shapes
 * that can be the best are tried: one or two lengths of fingerprints, of which the load per home is neither
 * so low that homes cost more than they save, nor so high that runs do; and for each six loads of a
 * bucket, around which the size is flat.  The back is not searched for at all.  With
 *
 *     K(t) = B log(1 + E(e^(t O) - 1))        P(sum of O > s) <= e^(K(t) - t s)      (model/steady.c)
 *
 * the least room that keeps the odds below q is the minimum of (K(t) + log(1/q)) / t over the t of the model.
 * It has one minimum, near t = sqrt(2 log(1/q) / (B E(O^2))), the one of a normal distribution.
 *
 * What is promised is what the model says of these very parameters; of the odds, an upper bound.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"
#include "plan/steady.h"

#include <math.h>

#define SLOTS_PRINT 44u /* bits of a fingerprint and its value: more are left to the search */
#define FPR_LEAST   1e-12
#define FPR_MOST    0.9
#define LAMBDA_LOW  0.42 /* keys per home */
#define LAMBDA_HIGH 1.0
#define MANY        100.0 /* buckets, of which one more is no matter */
#define SOME        300u  /* of which one more is, to some degree */
#define T_FIRST     0.3
#define HOMES_SEEN  48u /* for the lines that are read */
#define BUCKETS_MAX 0x1p38

/* What does not change. */
typedef struct wanted {
    const tamis_need *need;
    double n, keys; /* asked for, and that find room */
    double odds;    /* log(1/q) */
    double cell;    /* keys per cell, at which the rate is the one asked for */
    unsigned extra;
    unsigned bits; /* of a bucket */
} wanted;

typedef struct fitted {
    tamis_steady_shape shape;
    double bits;
    tamis_i_steady_sums sums;
    int best; /* number of the best t, if it is not 0 */
} fitted;

static double quick_steady_slot(const tamis_steady_shape *s) {
    return 1.0 + s->fp_bits + s->extra_bits;
}

/* The best back of so many slots: bits, and how they are divided.  Its homes are spread well enough. */
static double quick_steady_back(const wanted *w, fitted *f, double room) {
    tamis_steady_shape *const s = &f->shape;
    tamis_steady_shape best = *s;
    double fewest = INFINITY;
    for (unsigned bits = STEADY_LINE; bits <= BACK_BITS; bits *= 2) {
        for (unsigned origin = 1; origin <= ORIGIN_MAX; origin++) {
            /* m ((bits - homes/m) / slot - margin) = room */
            const double homes = ceil(ldexp((double)s->buckets, -(int)origin)) * s->homes;
            const double slot = quick_steady_slot(s) + origin + 1;
            const double each = bits / slot - MARGIN - 1;
            const double m = each <= 1 ? INFINITY : ceil(fmax((room + homes / slot) / each, 1));
            s->origin_bits = origin;
            if (m * bits < fewest && m <= BUCKETS_MAX &&
                m <= tamis_i_model_steady_backs(s, (uint64_t)w->keys, &f->sums)) {
                fewest = m * bits;
                best.spill_bits = bits;
                best.origin_bits = origin;
                best.spill_buckets = (uint64_t)m;
            }
        }
    }
    *s = best;
    return fewest;
}

/* Complete so many buckets of these fingerprints: the homes that the rate asks for, and what spills. */
static bool quick_steady_sum(const wanted *w, fitted *f) {
    tamis_steady_shape *const s = &f->shape;
    const double lambda = fmin(ldexp(w->cell, (int)s->fp_bits), LAMBDA_MOST);
    const double homes = ceil(w->n / (lambda * (double)s->buckets));
    if (homes > w->bits - quick_steady_slot(s))
        return false;
    s->homes = (unsigned)homes;
    return tamis_i_model_steady_sums(s, (uint64_t)w->keys, 0, &f->sums) == TAMIS_OK;
}

/* Buckets with about this load: of their keys to their slots. */
static void quick_steady_try(const wanted *w, unsigned r, double load, fitted *best) {
    const double lambda = fmin(ldexp(w->cell, (int)r), LAMBDA_MOST);
    fitted f = {.bits = INFINITY};
    tamis_steady_shape *const s = &f.shape;
    tamis_steady_shape_init(s);
    s->bucket_bits = w->bits;
    s->fp_bits = r;
    s->extra_bits = w->extra;
    /* lambda homes = load slots, homes + slots slot = bits */
    const double slot = quick_steady_slot(s), slots = round(w->bits / (slot + load / lambda));
    double homes = w->bits - slots * slot;
    if (homes < 1)
        return;
    double buckets = ceil(w->n / (lambda * homes));
    if (buckets < MANY) { /* all of them full, rather than all bits of them used */
        buckets = fmax(round(w->n / (lambda * homes)), 1);
        homes = ceil(w->n / (lambda * buckets));
    }
    if (buckets > BUCKETS_MAX || homes > w->bits - slot)
        return;
    s->homes = (unsigned)homes;
    s->buckets = (uint64_t)buckets;
    if (tamis_i_model_steady_sums(s, (uint64_t)w->keys, 0, &f.sums) != TAMIS_OK)
        return;
    const double z = sqrt(2 * w->odds), away = buckets * f.sums.away;
    const double scatter = sqrt(buckets * f.sums.squares);
    f.bits = buckets * w->bits + quick_steady_back(w, &f, away + z * scatter);
    if (f.bits < best->bits)
        *best = f;
}

/* (K(t) + log(1/q)) / t for the i-th t, or INFINITY. */
static double quick_steady_need(const wanted *w, const tamis_steady_shape *s, int i, double *t) {
    tamis_i_steady_sums sums;
    *t = TAMIS_I_STEADY_T * pow(TAMIS_I_STEADY_FALL, i);
    if (i < 0 || i >= TAMIS_I_STEADY_TS ||
        tamis_i_model_steady_sums(s, (uint64_t)w->keys, *t, &sums) != TAMIS_OK)
        return INFINITY;
    return ((double)s->buckets * log1p(sums.moment) + w->odds) / *t;
}

/* The fewest buckets of the back that have this room: a few more or less than were estimated. */
static bool quick_steady_fewest(tamis_steady_shape *s, double room) {
    uint64_t low = s->spill_buckets - s->spill_buckets / 4 - 1, high = s->spill_buckets;
    while (s->spill_buckets = high, tamis_i_model_steady_room(s) < room) {
        low = high;
        high += high / 8 + 1;
        if (high > s->buckets + 64)
            return false;
    }
    while (high - low > 1) {
        s->spill_buckets = low + (high - low) / 2;
        if (tamis_i_model_steady_room(s) < room)
            low = s->spill_buckets;
        else
            high = s->spill_buckets;
    }
    s->spill_buckets = high;
    s->spill_buckets = tamis_i_model_steady_even(s);
    return true;
}

/* The odds of n keys, by this t; 1 where the homes that are away are not spread. */
static double quick_steady_odds(const tamis_steady_shape *s, uint64_t n, double t) {
    tamis_i_steady_sums sums;
    if (tamis_i_model_steady_sums(s, n, t, &sums) != TAMIS_OK ||
        (double)s->spill_buckets > tamis_i_model_steady_backs(s, n, &sums))
        return 1;
    return fmin(exp((double)s->buckets * log1p(sums.moment) - t * tamis_i_model_steady_room(s)), 1);
}

/* The back that keeps the odds with all keys that find room; it tells those of the keys asked for. */
static tamis_status quick_steady_settle(const wanted *w, fitted *f, double *odds) {
    tamis_steady_shape *const s = &f->shape;
    /* A large t makes long sums, and is hardly ever the best. */
    const double guess = fmin(sqrt(2 * w->odds / ((double)s->buckets * f->sums.squares)), T_FIRST);
    int i = (int)fmin(round(log(guess / TAMIS_I_STEADY_T) / log(TAMIS_I_STEADY_FALL)),
                      TAMIS_I_STEADY_TS - 1);
    i = f->best != 0 ? f->best : i;
    double t = 0, next_t = 0;
    double room = quick_steady_need(w, s, i, &t);
    while (!isfinite(room) &&
           ++i < TAMIS_I_STEADY_TS) /* the scatter was too small to be that of the tail */
        room = quick_steady_need(w, s, i, &t);
    for (int step = -1; step <= 1; step += 2) {
        for (;;) {
            const double next = quick_steady_need(w, s, i + step, &next_t);
            if (!(next < room))
                break;
            room = next;
            t = next_t;
            i += step;
        }
    }
    f->best = i;
    if (!isfinite(room) || !isfinite(quick_steady_back(w, f, room)))
        return TAMIS_E_UNSUPPORTED;
    if (!quick_steady_fewest(s, room) ||
        (double)s->spill_buckets > tamis_i_model_steady_backs(s, (uint64_t)w->keys, &f->sums))
        return TAMIS_E_UNSUPPORTED;
    *odds = fmin(quick_steady_odds(s, w->need->n, t), quick_steady_odds(s, (uint64_t)w->keys, t));
    f->bits = (double)s->buckets * w->bits + (double)s->spill_buckets * s->spill_bits;
    return TAMIS_OK;
}

/* The same, and of few buckets also with one more or less: one is a percent of them, and what it saves in the
 * back was estimated. */
static bool quick_steady_settle_near(const wanted *w, fitted *f, double *odds) {
    const uint64_t n = f->shape.buckets;
    if (quick_steady_settle(w, f, odds) != TAMIS_OK)
        return false;
    for (int i = -1; i <= 1 && n < SOME && n > 1; i += 2) {
        fitted near = *f;
        double its;
        near.shape.buckets = i < 0 ? n - 1 : n + 1;
        if (quick_steady_sum(w, &near) && quick_steady_settle(w, &near, &its) == TAMIS_OK &&
            near.bits < f->bits) {
            *f = near;
            *odds = its;
        }
    }
    return true;
}

/* All keys in one bucket: nothing spills. */
static void quick_steady_alone(const wanted *w, unsigned r, fitted *best) {
    const double lambda = fmin(ldexp(w->cell, (int)r), LAMBDA_MOST);
    fitted f = {.bits = INFINITY};
    tamis_steady_shape_init(&f.shape);
    f.shape.buckets = 1;
    f.shape.fp_bits = r;
    f.shape.extra_bits = w->extra;
    const double homes = ceil(w->n / lambda);
    f.bits = ceil((homes + w->keys * quick_steady_slot(&f.shape)) / STEADY_LINE) * STEADY_LINE;
    if (f.bits > ALONE_BITS || f.bits >= best->bits)
        return;
    f.shape.homes = (unsigned)homes;
    f.shape.bucket_bits = (unsigned)f.bits;
    *best = f;
}

/* The best shape, before its back is settled. */
static fitted quick_steady_best(const wanted *w) {
    static const double loads[] = {0.92, 0.98, 1.04, 1.10};
    fitted best = {.bits = INFINITY};
    const unsigned least = (unsigned)fmax(ceil(log2(LAMBDA_LOW / w->cell)), 1);
    for (unsigned r = least; r + w->extra <= SLOTS_PRINT; r++) {
        if (r > least && ldexp(w->cell, (int)r) > LAMBDA_HIGH)
            break;
        quick_steady_alone(w, r, &best);
        if (isfinite(best.bits) && best.shape.spill_bits == 0)
            continue;
        fitted here = {.bits = INFINITY};
        double load = 0;
        for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++) {
            const double before = here.bits;
            quick_steady_try(w, r, loads[i], &here);
            if (here.bits < before)
                load = loads[i];
        }
        if (load == 0)
            continue;
        if (here.shape.buckets >= SOME) {
            quick_steady_try(w, r, load - 0.03, &here);
            quick_steady_try(w, r, load + 0.03, &here);
        }
        if (here.bits < best.bits)
            best = here;
    }
    return best;
}

/* What the parameters promise. */
static tamis_status quick_steady_promise(const wanted *w, const tamis_steady_shape *s,
                                         tamis_plan *plan) {
    const uint64_t n = w->need->n;
    const unsigned every = s->homes / HOMES_SEEN + 1;
    tamis_status status = tamis_model_steady_fpr(s, n, &plan->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_steady_fpr(s, n / 2 + n % 2, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = tamis_i_model_steady_lines(s, n, every, &plan->lines_per_query,
                                            &plan->lines_per_insert);
    if (status != TAMIS_OK)
        return status;
    plan->params.kind = TAMIS_KIND_STEADY;
    plan->params.stash = 16 + n / 16384;
    uint64_t *const value = plan->params.value;
    value[TAMIS_STEADY_BUCKETS] = s->buckets;
    value[TAMIS_STEADY_BUCKET_BITS] = s->bucket_bits;
    value[TAMIS_STEADY_HOMES] = s->homes;
    value[TAMIS_STEADY_FINGERPRINT_BITS] = s->fp_bits;
    value[TAMIS_STEADY_SPILL_BUCKETS] = s->spill_buckets;
    value[TAMIS_STEADY_SPILL_BITS] = s->spill_bits;
    value[TAMIS_STEADY_ORIGIN_BITS] = s->origin_bits;
    value[TAMIS_STEADY_VALUE_BITS] = w->need->value_bits;
    return plan->fpr <= w->need->fpr ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

tamis_status tamis_i_quick_steady(const tamis_need *need, tamis_plan *plan) {
    if (need->fpr < FPR_LEAST || need->fpr > FPR_MOST)
        return TAMIS_E_UNSUPPORTED;
    const double moments = need->deletes ? STEADY_MOMENTS : 1;
    const uint64_t more = need->n < 4 * STEADY_MORE ? need->n / 4 : STEADY_MORE;
    wanted w = {.need = need,
                .bits = SMALL_BITS,
                .n = (double)need->n,
                .keys = (double)(need->n + more),
                .odds = log(moments / need->failure_max),
                .cell = tamis_i_plan_steady_cell(need),
                .extra = need->value_bits};
    fitted f = quick_steady_best(&w);
    double odds = 0;
    if (!isfinite(f.bits))
        return TAMIS_E_UNSUPPORTED;
    if (f.shape.spill_bits != 0 && !quick_steady_settle_near(&w, &f, &odds))
        return TAMIS_E_UNSUPPORTED;
    if (w.extra == 0 && f.shape.buckets >= LARGE_FROM &&
        f.bits > w.n * (SMALL_ABOVE - log2(need->fpr))) {
        double its = 0;
        w.bits = LARGE_BITS;
        fitted large = quick_steady_best(&w);
        if (isfinite(large.bits) && large.shape.spill_bits != 0 &&
            quick_steady_settle_near(&w, &large, &its) && large.bits < f.bits) {
            f = large;
            odds = its;
        }
    }
    plan->overflow_probability = fmin(moments * odds, 1);
    return quick_steady_promise(&w, &f.shape, plan);
}
