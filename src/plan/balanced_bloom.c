/* balanced_bloom.c - plans for the balanced Bloom filter
 *
 * For a mean number of looks a and an overflow fraction gamma, the theory gives the load h at which
 * blocks begin to refuse keys and the coin p (tamis_model_balance_parameters).  Predictions are for the
 * whole numbers that come out of it: sub-tables of whole blocks, a coin in 2^32nds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/base.h"
#include "hash/hash.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define ONE        4294967296.0 /* coin and ratio are fractions of 2^32 */
#define BLOCKS_MAX 0x1p38
#define LOAD_MAX   1000.0 /* mean load: the models end at 1024 */
#define LN2        0.69314718055994531

/* A filter, as the models and as the parameters have it. */
typedef struct design {
    tamis_balance_shape shape;
    unsigned block_bits, hashes;
    uint64_t n, blocks, ratio;
    double odds; /* that the stash is too small */
    bool list;   /* false: SINGLE with blocks so large that no key is refused */
} design;

static double plan_balanced_load_of(const design *d) {
    return (double)d->n / (double)d->blocks;
}

static unsigned plan_balanced_filter_bits(const design *d) {
    return d->block_bits - tamis_model_balance_counter_bits(d->shape.threshold);
}

/* The sub-tables of the filter, in whole blocks: at least one each, the rest in proportion to the
 * weights. */
static void plan_balanced_set_shares(design *d) {
    const unsigned choices = d->shape.choices;
    const uint64_t spare = d->blocks - choices;
    uint64_t weight[TAMIS_BALANCE_CHOICES_MAX] = {(uint64_t)ONE}, sum = weight[0], before = 0;
    for (unsigned i = 1; i < choices; i++) {
        weight[i] = weight[i - 1] * d->ratio >> 32;
        sum += weight[i];
    }
    uint64_t at = 0;
    for (unsigned i = 0; i < choices; i++) {
        before += weight[i];
        const uint64_t end = i + 1 + tamis_i_share(spare, before, sum);
        d->shape.shares[i] = (double)(end - at) / (double)d->blocks;
        at = end;
    }
}

/* Set threshold and coin.  A coin of 0 at one threshold is a coin of 1 at the threshold below. */
static tamis_status plan_balanced_set_threshold(design *d, double accesses, double overflow) {
    double coin;
    const tamis_status status = tamis_model_balance_parameters(
        accesses, plan_balanced_load_of(d), overflow, &d->shape.threshold, &coin);
    if (status != TAMIS_OK)
        return status;
    coin = round(coin * ONE);
    if (coin < 1 && d->shape.threshold > 0) {
        d->shape.threshold--;
        coin = ONE;
    }
    d->shape.coin = fmin(fmax(coin, 1), ONE) / ONE;
    return TAMIS_OK;
}

/* Blocks that are almost never full. */
static tamis_status plan_balanced_set_roomy(design *d) {
    const double load = plan_balanced_load_of(d);
    uint64_t most = (uint64_t)load;
    double tail = 1;
    while (most < d->n && tail * (double)d->blocks > d->odds) {
        most += 1 + most / 64;
        const tamis_status status = tamis_model_poisson_tail(load, most, &tail);
        if (status != TAMIS_OK)
            return status;
    }
    most = most < d->n ? most : d->n;
    if (most < 1 || most > 4095)
        return TAMIS_E_DOMAIN;
    d->shape.threshold = (unsigned)most - 1;
    d->shape.coin = 1;
    return TAMIS_OK;
}

/* Complete a design whose scheme, choices and size are set. */
static tamis_status plan_balanced_balance(design *d, double accesses, double overflow) {
    d->shape.blocks = d->blocks;
    if (!d->list)
        return plan_balanced_set_roomy(d);
    double least = overflow, shares[TAMIS_BALANCE_CHOICES_MAX] = {1};
    tamis_status status = TAMIS_OK;
    if (d->shape.scheme == TAMIS_BALANCE_MHT || overflow == 0)
        status = tamis_model_balance_region(d->shape.scheme, d->shape.choices, accesses,
                                            plan_balanced_load_of(d), &least, shares);
    if (status != TAMIS_OK)
        return status;
    if (d->shape.scheme == TAMIS_BALANCE_MHT) {
        d->ratio = (uint64_t)fmax(1, round(shares[1] / shares[0] * ONE));
        plan_balanced_set_shares(d);
    }
    return plan_balanced_set_threshold(d, accesses, overflow == 0 ? least : overflow);
}

/* The error rate with n keys, or fewer. */
static tamis_status plan_balanced_error_rate_of(const design *d, uint64_t n, double *fpr) {
    const double load = (double)n / (double)d->blocks;
    if (!d->list && d->blocks == 1)
        return tamis_model_bloom_exact(plan_balanced_filter_bits(d), n, d->hashes, fpr);
    if (!d->list)
        return tamis_model_blocked(plan_balanced_filter_bits(d), load, d->hashes, fpr);
    return tamis_model_balance_fpr(&d->shape, load, true, plan_balanced_filter_bits(d), d->hashes,
                                   fpr);
}

static tamis_status plan_balanced_error_rate(const design *d, double *fpr) {
    return plan_balanced_error_rate_of(d, d->n, fpr);
}

/* ---- the stash ---- */

/* The keys in the list come in clumps: with c the variance divided by the mean, their number is c times a
 * Poisson number of mean / c.  Finds the smallest stash that is too small with at most the given odds. */
static tamis_status plan_balanced_stash_for(double mean, double variance, double odds,
                                            uint64_t *stash, double *too_small) {
    const double clump = fmax(1, variance / fmax(mean, 1e-9)), clumps = mean / clump;
    uint64_t low = (uint64_t)clumps, high = low + 8;
    tamis_status status;
    while ((status = tamis_model_poisson_tail(clumps, high, too_small)) == TAMIS_OK &&
           *too_small > odds)
        high += high - low;
    while (status == TAMIS_OK && high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        double tail;
        status = tamis_model_poisson_tail(clumps, middle, &tail);
        if (tail > odds)
            low = middle;
        else
            high = middle, *too_small = tail;
    }
    *stash = (uint64_t)ceil(clump * ((double)high + 1));
    return status;
}

/* Keys that go to the list because the budget is used up before the last of them: as many as the
 * looks of all n keys scatter.  A key that takes up to d looks, a on average, has a variance below
 * (d - 1) (a - 1). */
static double plan_balanced_budget_scatter(const design *d) {
    return sqrt((double)d->n * (d->shape.choices - 1) * fmax(0, d->shape.budget - 1));
}

static tamis_status plan_balanced_set_stash(const design *d, const tamis_balance_state *state,
                                            tamis_plan *plan) {
    double mean = state->overflow * (double)d->n;
    double variance = state->overflow_variance * (double)d->blocks;
    if (!d->list) {
        double full = 0; /* the odds of one block; all keys may be in one */
        tamis_status status = TAMIS_OK;
        if (d->shape.threshold + 1 < d->n)
            status =
                tamis_model_poisson_tail(plan_balanced_load_of(d), d->shape.threshold + 1, &full);
        plan->params.stash = 1;
        plan->overflow_probability = fmin(full * (double)d->blocks, 1);
        return status;
    }
    if (d->shape.budget != 0) {
        const double scatter = plan_balanced_budget_scatter(d);
        mean += 0.4 * scatter; /* the mean of the positive half of a normal deviation */
        variance += scatter * scatter;
    }
    return plan_balanced_stash_for(mean, variance, d->odds, &plan->params.stash,
                                   &plan->overflow_probability);
}

/* ---- the plan ---- */

/* Lines that a query for an absent key reads: blocks of at most one line each, and the stash after the
 * last of them. */
static tamis_status plan_balanced_lines(const design *d, const tamis_balance_state *state,
                                        double *mean) {
    const unsigned h = d->shape.threshold;
    enum { ROOM = 4098 }; /* all thresholds of the models, and one more load */
    double loads[ROOM], reach = 1;
    for (unsigned i = 0; i < d->shape.choices; i++) {
        const tamis_status status =
            tamis_model_balance_loads(state->arrivals[i], h, d->shape.coin, loads, ROOM);
        if (status != TAMIS_OK)
            return status;
        reach *= loads[h + 1] + (1 - d->shape.coin) * loads[h];
    }
    *mean = state->reads_absent_keyed + reach;
    return TAMIS_OK;
}

static tamis_status plan_balanced_plan_of(const design *d, tamis_plan *plan) {
    tamis_balance_state state;
    tamis_balance_state_init(&state);
    tamis_status status = tamis_model_balance_state(&d->shape, plan_balanced_load_of(d), &state);
    if (status == TAMIS_OK)
        status = plan_balanced_error_rate(d, &plan->fpr);
    if (status == TAMIS_OK)
        status = plan_balanced_error_rate_of(d, d->n / 2 + d->n % 2, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = plan_balanced_set_stash(d, &state, plan);
    if (status == TAMIS_OK)
        status = plan_balanced_lines(d, &state, &plan->lines_per_query);
    if (status != TAMIS_OK)
        return status;
    plan->lines_per_insert = state.accesses + state.overflow;
    uint64_t *const v = plan->params.value;
    plan->params.kind = TAMIS_KIND_BALANCED_BLOOM;
    v[TAMIS_BALANCED_BLOOM_SCHEME] = d->shape.scheme;
    v[TAMIS_BALANCED_BLOOM_CHOICES] = d->shape.choices;
    v[TAMIS_BALANCED_BLOOM_BLOCK_BITS] = d->block_bits;
    v[TAMIS_BALANCED_BLOOM_BLOCKS] = d->blocks;
    v[TAMIS_BALANCED_BLOOM_HASHES] = d->hashes;
    v[TAMIS_BALANCED_BLOOM_LOAD_MAX] = d->shape.threshold + 1;
    v[TAMIS_BALANCED_BLOOM_COIN] = (uint64_t)(d->shape.coin * ONE);
    v[TAMIS_BALANCED_BLOOM_RATIO] = d->shape.scheme == TAMIS_BALANCE_MHT ? d->ratio : 0;
    v[TAMIS_BALANCED_BLOOM_BUDGET] = (uint64_t)ceil(d->shape.budget * 1000 - 1e-9);
    return TAMIS_OK;
}

/* ---- by the theory, for given accesses and overflow ---- */

tamis_status tamis_i_plan_balanced(const tamis_balanced_need *need, tamis_plan *plan) {
    design d = {.n = need->n,
                .block_bits = need->block_bits == 0 ? 512 : need->block_bits,
                .odds = need->odds == 0 ? 1e-6 : need->odds,
                .list = true};
    tamis_balance_shape_init(&d.shape);
    d.shape.scheme = need->scheme == 0 ? TAMIS_BALANCE_MHT : (tamis_balance_scheme)need->scheme;
    const bool single = d.shape.scheme == TAMIS_BALANCE_SINGLE;
    d.shape.choices = single ? 1 : need->choices == 0 ? 3 : need->choices;
    const double accesses = single ? 1 : need->accesses == 0 ? 1.2 : need->accesses;
    const double overflow = single && need->overflow == 0 ? 0.005 : need->overflow;
    const double bits = need->bits_per_key == 0 ? 12 : need->bits_per_key;
    if (need->scheme > TAMIS_BALANCE_MHT || need->n < 1 || need->n > TAMIS_CAPACITY_MAX ||
        (single && (need->choices > 1 || !(need->accesses == 0 || need->accesses == 1))) ||
        d.shape.choices < (single ? 1u : 2u) || d.shape.choices > TAMIS_BALANCE_CHOICES_MAX ||
        !(accesses >= 1 && accesses < 8) || !(overflow >= 0 && overflow < 1) || d.block_bits < 64 ||
        d.block_bits > 512 || d.block_bits % 64 != 0 || !(bits > 0 && bits <= 512) ||
        !(d.odds > 0 && d.odds < 1) || need->hashes > 32)
        return TAMIS_E_ARGUMENT;
    const double blocks = fmax(d.shape.choices, round((double)d.n * bits / d.block_bits));
    if (blocks > BLOCKS_MAX)
        return TAMIS_E_TOO_LARGE;
    d.blocks = (uint64_t)blocks;
    d.hashes = need->hashes != 0 ? need->hashes : (unsigned)fmin(32, fmax(1, round(bits * LN2)));
    d.shape.budget = need->budget ? ceil(accesses * 1000 - 1e-9) / 1000 : 0;
    plan->params.capacity = need->n;
    const tamis_status status = plan_balanced_balance(&d, accesses, overflow);
    return status == TAMIS_OK ? plan_balanced_plan_of(&d, plan) : status;
}

/* ---- for an error rate ---- */

/* The candidates: 512 bits, a line, per block.  A stash entry takes 165 bits, so the paper's overflow
 * of 0.5 % costs more than it saves; with less than 1.2 looks MHT has a tenth of it. */
typedef struct candidate {
    tamis_balance_scheme scheme;
    unsigned choices;
    double accesses, overflow;
} candidate;

static const candidate candidates[] = {{TAMIS_BALANCE_SINGLE, 1, 1, 0},
                                       {TAMIS_BALANCE_SINGLE, 1, 1, 0.001},
                                       {TAMIS_BALANCE_MHT, 3, 1.05, 0},
                                       {TAMIS_BALANCE_MHT, 3, 1.1, 0},
                                       {TAMIS_BALANCE_MHT, 3, 1.15, 0}};

/* Sets that will be merged have blocks that refuse no key.  A union has the bits of both and the sums of the
 * loads, and what a full block has passed on in one of them is where the other's keys are as well: the
 * blocks of a union are as unequal as those of SINGLE, while the plan has room for equal ones.  Two halves
 * of a set with three choices err 2 to 100 times as often as planned at 1e-4 to 1e-7.  Where no key is
 * refused the union of two halves has the very bits of the whole. */
static bool plan_balanced_may_merge(size_t i) {
    return i == 0;
}

/* A list pays off from this many blocks on.  The models are confirmed from there on. */
#define BLOCKS_FEW 64u

/* The number of hashes with the least error rate, searched from 'd->hashes' on in both directions. */
static tamis_status plan_balanced_best_hashes(design *d, double *fpr) {
    tamis_status status = plan_balanced_error_rate(d, fpr);
    for (int step = -1; step <= 1 && status == TAMIS_OK; step += 2) {
        for (;;) {
            design next = *d;
            double rate;
            next.hashes = (unsigned)((int)d->hashes + step);
            if (next.hashes < 1 || next.hashes > 32)
                break;
            status = plan_balanced_error_rate(&next, &rate);
            if (status != TAMIS_OK || rate >= *fpr)
                break;
            *d = next;
            *fpr = rate;
        }
    }
    return status;
}

/* The error rate with this many blocks, and the design.  TAMIS_E_DOMAIN: too few for the models. */
static tamis_status plan_balanced_try_blocks(design *d, const candidate *c, uint64_t blocks,
                                             double *fpr) {
    d->blocks = blocks;
    if (plan_balanced_load_of(d) > LOAD_MAX)
        return TAMIS_E_DOMAIN;
    const tamis_status status = plan_balanced_balance(d, c->accesses, c->overflow);
    if (status != TAMIS_OK)
        return status;
    return plan_balanced_best_hashes(d, fpr);
}

/* The fewest blocks that keep the rate, within 1/2048, if they are at most 'most'; TAMIS_E_UNSUPPORTED
 * if they are more.  The logarithm of the rate is nearly linear in the number of blocks.  So the search
 * tries the point given by the straight line through the two ends of the interval, moved a little
 * towards the larger part of the interval. */
static tamis_status plan_balanced_fewest_blocks(design *d, const candidate *c, double wanted,
                                                uint64_t most) {
    const double ideal = (double)d->n * -log2(wanted) / LN2 / d->block_bits;
    const uint64_t least = d->list ? BLOCKS_FEW : 1;
    uint64_t low = (uint64_t)(0.9 * ideal), high = 0;
    double above = 0,
           below = 0; /* log2 of the rates at low and high over the one wanted; 0: unknown */
    low = low < least - 1 ? least - 1 : low;
    if (low >= most)
        return TAMIS_E_UNSUPPORTED;
    /* If there is a limit it is tried first: most candidates end there. */
    for (uint64_t blocks = most < UINT64_MAX ? most : low + 1; high == 0;
         blocks += blocks / 4 + 1) {
        double fpr = 1;
        if ((double)blocks > BLOCKS_MAX)
            return TAMIS_E_TOO_LARGE;
        if ((double)blocks > 64 * ((double)d->n + 8)) /* with 32 hashes more blocks do not help */
            return TAMIS_E_UNSUPPORTED;
        const tamis_status status = plan_balanced_try_blocks(d, c, blocks, &fpr);
        if (status != TAMIS_OK && status != TAMIS_E_DOMAIN)
            return status;
        if (status == TAMIS_OK && fpr <= wanted) {
            high = blocks;
            below = log2(fpr / wanted);
        } else if (blocks >= most) {
            return TAMIS_E_UNSUPPORTED;
        } else {
            low = blocks;
            above = status == TAMIS_OK ? log2(fpr / wanted) : 0;
        }
    }
    for (bool straight = true; high - low > 1 + high / 2048; straight = !straight) {
        const uint64_t width = high - low;
        uint64_t step = width / 2;
        if (above > 0 && straight) {
            const double fraction = above / (above - below);
            step = (uint64_t)((double)width * fraction) + high / 4096;
            step = step < 1 ? 1 : step >= width ? width - 1 : step;
        }
        double fpr = 1;
        const tamis_status status = plan_balanced_try_blocks(d, c, low + step, &fpr);
        if (status != TAMIS_OK && status != TAMIS_E_DOMAIN)
            return status;
        if (status == TAMIS_OK && fpr <= wanted) {
            high = low + step;
            below = log2(fpr / wanted);
        } else {
            low += step;
            above = status == TAMIS_OK ? log2(fpr / wanted) : 0;
        }
    }
    double fpr;
    return plan_balanced_try_blocks(d, c, high, &fpr);
}

tamis_status tamis_i_plan_balanced_bloom(const tamis_need *need, tamis_plan *plan) {
    tamis_status worst = TAMIS_E_UNSUPPORTED;
    double best_bits = INFINITY;
    uint64_t most = UINT64_MAX; /* blocks: a candidate that needs more is not smaller */
    if (need->fpr < 0x1p-60)    /* the bits of a key in its block come from 64 bits of its digest */
        return TAMIS_E_UNSUPPORTED;
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        const candidate *const c = &candidates[i];
        if (need->merges && !plan_balanced_may_merge(i))
            continue;
        design d = {.n = need->n, .block_bits = 512, .odds = need->failure_max, .list = i > 0};
        tamis_balance_shape_init(&d.shape);
        d.shape.scheme = c->scheme;
        d.shape.choices = c->choices;
        d.hashes = (unsigned)fmin(32, fmax(1, round(0.9 * -log2(need->fpr))));
        tamis_plan own = *plan;
        tamis_status status = plan_balanced_fewest_blocks(&d, c, need->fpr, most);
        if (status == TAMIS_OK)
            status = plan_balanced_plan_of(&d, &own);
        if (status != TAMIS_OK) {
            if (i == 0) /* the only one that every size has */
                worst = status;
            continue;
        }
        const double bits =
            (double)d.block_bits * (double)d.blocks + 165 * (double)own.params.stash;
        if (bits < best_bits && tamis_i_plan_lines_ok(need, own.lines_per_query)) {
            best_bits = bits;
            most = d.blocks;
            *plan = own;
        }
    }
    return isinf(best_bits) ? worst : TAMIS_OK;
}
