/* rank.c - plans for the rank-indexed filters
 *
 * tamis_model_rank_optimise does the search.  Here are the limits that it does not know: the time that
 * a bucket may cost, and the limits of a table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/rank.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define HOMES    64u
#define OVERFLOW 1e-6 /* P_o, also where the need allows more; less if it asks for less */

/* An insert moves half of a bucket on average, a query fetches all of it.  So the limit is four cache
 * lines; without it the best buckets for rare errors have twice that, for 1 % less space.  Buckets of
 * one line are preferred if they cost no more than a factor WORTH: their chains are also shorter, and a
 * query takes three quarters of the time.  A limit of lines per query makes buckets smaller still, or
 * exactly one line.  Those begin at a line, so a query reads just one.  But their shape is fixed, and
 * they need more bits. */
#define BUCKET_BITS 2048u
#define LINE_BITS   512u
#define WORTH       1.03

/* The bits of a shape; if there is none, more than any other needs. */
static double plan_rank_bits_of(tamis_status status, const tamis_rank_shape *s) {
    uint64_t bits;
    return status == TAMIS_OK && tamis_model_rank_bits(s, &bits) == TAMIS_OK ? (double)bits
                                                                             : INFINITY;
}

static tamis_status plan_rank_best_shape(const tamis_need *need, unsigned extra_bits,
                                         double overflow, tamis_rank_shape *s) {
    tamis_rank_shape small;
    tamis_rank_shape_init(s);
    tamis_rank_shape_init(&small);
    /* An error rate above 1/2 saves nothing more: a fingerprint has at least one bit. */
    const double fpr = fmin(need->fpr, 0.5);
    /* the inverse of lines_per_query */
    const double most = fmin((need->lines_max - 1) * LINE_BITS + 1, BUCKET_BITS);
    tamis_status status = TAMIS_E_UNSUPPORTED;
    if (most >= 2)
        status =
            tamis_model_rank_optimise(need->n, fpr, overflow, extra_bits, HOMES, (unsigned)most, s);
    const double bits = plan_rank_bits_of(status, s);
    tamis_status other = TAMIS_E_UNSUPPORTED;
    if (most < LINE_BITS)
        other = tamis_i_model_rank_exact(need->n, fpr, overflow, extra_bits, LINE_BITS, &small);
    else if (most > LINE_BITS)
        other =
            tamis_model_rank_optimise(need->n, fpr, overflow, extra_bits, HOMES, LINE_BITS, &small);
    if (other == TAMIS_OK &&
        plan_rank_bits_of(other, &small) <= (most > LINE_BITS ? WORTH : 1) * bits) {
        *s = small;
        status = TAMIS_OK;
    }
    return status == TAMIS_E_DOMAIN ? TAMIS_E_UNSUPPORTED : status;
}

/* The lines that a bucket spans and a query fetches.  A bucket begins anywhere in a line, unless
 * buckets are exactly lines.  Its link is hardly ever needed. */
static double plan_rank_lines_of(const tamis_rank_shape *s) {
    const unsigned bits = s->homes + s->slots[0] * (1 + s->fp_bits + s->extra_bits);
    unsigned link = 0;
    for (uint64_t j = s->extensions[0]; j != 0; j >>= 1)
        link++;
    return bits + link == LINE_BITS ? 1 : 1 + (bits - 1.0) / LINE_BITS;
}

/* ---- fingerprints that have stopped counting ---- */

#define COPIES_LEAST 16u        /* as in filter/rank.c */
#define LOST_ODDS    (1.0 / 16) /* share of the odds of overflow: more is lost than planned */
#define SLOT_BITS    3.5        /* of a slot, beyond log2(1/fpr) and its counter, roughly */

/* The number that a Poisson number with this mean exceeds with at most these odds; 0 if it is 0 except
 * with these odds.  Only numbers at growing distances from the mean are looked at, the k-th at k (k + 1) / 2.
 * A tail takes longer the larger the mean and the nearer to it, so the search begins where the normal
 * distribution has these odds. */
static tamis_status rank_quantile(double mean, double odds, uint64_t *number) {
    *number = 0;
    if (mean <= odds)
        return TAMIS_OK;
    if (!(mean <= 0x1p40)) /* beyond what the model takes */
        return TAMIS_E_DOMAIN;
    const double z = sqrt(-2 * log(odds));
    uint64_t low = 0, high = 1 + (uint64_t)sqrt(2 * (z * sqrt(mean) + z * z)), step = 1;
    bool below = false,
         above = false; /* the number sought is known to be from low on; up to high */
    for (uint64_t k = high; !(below && above) || low < high;) {
        const uint64_t x = (uint64_t)mean + k * (k + 1) / 2;
        double tail;
        const tamis_status status = tamis_model_poisson_tail(mean, x, &tail);
        if (status != TAMIS_OK)
            return status;
        if (tail <= odds) {
            high = k;
            above = true;
        } else {
            low = k + 1;
            below = true;
        }
        if (!above)
            k = low + step;
        else if (!below)
            k = high > step ? high - step : 0;
        else
            k = low + (high - low) / 2;
        step *= 2;
        below = below || high == 0;
    }
    *number = (uint64_t)mean + high * (high + 1) / 2;
    return TAMIS_OK;
}

/* A fingerprint with 'all' copies or more no longer counts up or down, and keeps its slots for ever.
 * The keys of a fingerprint are a Poisson number.  Some fingerprints have too many keys when the filter
 * has been filled, and later each new key may be one too many.  The slots of a fingerprint are in one
 * bucket, so m of them add m^2 to the scatter of the loads.  A filter with 'room' more slots has more
 * fingerprints, and fewer keys collide in one. */
static tamis_status rank_lost(const tamis_need *need, unsigned bits, uint64_t room, double odds,
                              uint64_t *slots) {
    const unsigned one = 1u << bits, all = one > COPIES_LEAST ? one : COPIES_LEAST;
    const unsigned keys = (all + need->copies - 1) / need->copies;
    const double n = (double)need->n, met = -log1p(-fmin(need->fpr, 0.5)) * n / (n + (double)room);
    double mean = n * (need->replacements + 1.0 / keys);
    for (unsigned i = 1; i < keys; i++)
        mean *= met / i;
    const tamis_status status = rank_quantile(mean, odds, slots);
    *slots *= (uint64_t)(all / one) * (all / one);
    return status;
}

/* The least room that holds what is lost. */
static tamis_status rank_room(const tamis_need *need, unsigned bits, double odds, uint64_t *room) {
    uint64_t low = 0, lost;
    tamis_status status = rank_lost(need, bits, 0, odds, room);
    while (status == TAMIS_OK && *room - low > 1 + *room / 256) {
        const uint64_t middle = low + (*room - low) / 2;
        status = rank_lost(need, bits, middle, odds, &lost);
        if (lost <= middle)
            *room = middle;
        else
            low = middle;
    }
    return status;
}

/* Bits of a counter: enough for the copies of a key, and more if that loses fewer slots. */
static tamis_status rank_counters(const tamis_need *need, double odds, unsigned *bits) {
    double best = INFINITY;
    for (unsigned i = tamis_i_plan_counter_bits(need); i <= 8; i++) {
        uint64_t room;
        const tamis_status status = rank_room(need, i, odds, &room);
        if (status != TAMIS_OK)
            return status;
        const double size = ((double)need->n + (double)room) * (SLOT_BITS - log2(need->fpr) + i);
        if (size < best) {
            best = size;
            *bits = i;
        }
    }
    return TAMIS_OK;
}

/* ---- plans ---- */

static double rank_overflow_wanted(const tamis_need *need) {
    return fmax(fmin(need->failure_max, OVERFLOW), 1e-30);
}

static tamis_status plan_rank_plan_rank(const tamis_need *need, unsigned extra_bits, uint64_t room,
                                        double overflow, tamis_plan *plan) {
    tamis_rank_shape s;
    tamis_need all = *need;
    all.n += room;
    tamis_status status = plan_rank_best_shape(&all, extra_bits, overflow, &s);
    if (status == TAMIS_OK)
        status = tamis_model_rank_fpr(&s, all.n, &plan->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_rank_fpr(&s, need->n / 2 + need->n % 2 + room, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = tamis_model_rank_overflow(&s, all.n, &plan->overflow_probability);
    if (status != TAMIS_OK)
        return status;
    uint64_t *const value = plan->params.value;
    plan->params.stash = 16 + need->n / 16384;
    value[TAMIS_RANK_BUCKETS] = s.buckets;
    value[TAMIS_RANK_HOMES] = s.homes;
    value[TAMIS_RANK_FINGERPRINT_BITS] = s.fp_bits;
    value[TAMIS_RANK_SLOTS] = s.slots[0];
    value[TAMIS_RANK_SLOTS_2] = s.slots[1];
    value[TAMIS_RANK_SLOTS_3] = s.slots[2];
    value[TAMIS_RANK_EXTENSIONS_2] = s.extensions[0];
    value[TAMIS_RANK_EXTENSIONS_3] = s.extensions[1];
    plan->lines_per_query = plan->lines_per_insert = plan_rank_lines_of(&s);
    return TAMIS_OK;
}

/* Add room for what is lost while keys come and go, if they do. */
static tamis_status plan_rank_plan_worn(const tamis_need *need, unsigned counter_bits,
                                        unsigned extra_bits, tamis_plan *plan) {
    const double wanted = rank_overflow_wanted(need), odds = LOST_ODDS * wanted;
    uint64_t room = 0;
    tamis_status status = TAMIS_OK;
    if (need->deletes)
        status = rank_room(need, counter_bits, odds, &room);
    if (status == TAMIS_OK && need->n + room > TAMIS_CAPACITY_MAX)
        status = TAMIS_E_TOO_LARGE;
    if (status == TAMIS_OK)
        status =
            plan_rank_plan_rank(need, extra_bits, room, room == 0 ? wanted : wanted - odds, plan);
    if (status == TAMIS_OK && room != 0) {
        plan->replacements = need->replacements;
        plan->overflow_probability += odds;
    }
    return status;
}

tamis_status tamis_i_plan_rank(const tamis_need *need, tamis_plan *plan) {
    plan->params.kind = TAMIS_KIND_RANK;
    plan->params.value[TAMIS_RANK_VALUE_BITS] = need->value_bits;
    return plan_rank_plan_worn(need, 0, need->value_bits, plan);
}

tamis_status tamis_i_plan_rank_counting(const tamis_need *need, tamis_plan *plan) {
    unsigned bits = tamis_i_plan_counter_bits(need);
    if (need->deletes) {
        const tamis_status status =
            rank_counters(need, LOST_ODDS * rank_overflow_wanted(need), &bits);
        if (status != TAMIS_OK)
            return status;
    }
    plan->params.kind = TAMIS_KIND_RANK_COUNTING;
    plan->params.value[TAMIS_RANK_COUNTER_BITS] = bits;
    return plan_rank_plan_worn(need, bits, bits, plan);
}
