/* line.c - plans for rank-indexed cache lines
 *
 * The error rate of a line depends only on its load and on the number of homes, not on the number of
 * lines.  For each number of homes it is computed once per load.  Bisection over the mixture of loads
 * then finds the fewest lines that keep the promise.
 *
 * A set may limit the load of a line and keep later keys in other lines.  This pays more the longer
 * fingerprints are.  It is tried for tables with many lines, and taken if it saves more than it costs
 * in reads.
 *
 * Removals.  A line's fingerprints stay as short as its largest load has made them, and its largest
 * load grows with time, ever more slowly.  If keys are to be removed, the promise is for a set in which
 * every key has been replaced need->replacements times.  The model is an upper bound: it ignores that
 * lines win back bits.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/stash.h"
#include "plan/planners.h"
#include "tamis/model.h"

#include <math.h>

#define LINE_BITS   512.0
#define HEADER      9u
#define FP_BITS_MAX 56u
#define LINES_MAX   0x1p38
#define LOADS       256u    /* 512 bits, and 2 per key at least */
#define CAP         2u      /* bits beyond those of a mean line: more are soon cut */
#define CHURN_LEAST 10u     /* replacements: where the model begins */
#define CHURN_MOST  10000.0 /* where it ends */
#define CHURN_MORE  1.2     /* with this factor the approximation is not below the model */
#define LEFT_OVER   0x1p-14 /* share of the keys that may go to the stash */
#define LIMIT_MAX   64u     /* of lines that pass on */
#define LIMITS      6u      /* limits to try */
#define MANY        256u    /* from this many lines on the model of passing on is good */
#define READS       1.2     /* lines that an absent key may look at */
#define WORTH       0.98    /* share of the lines needed without a limit */

/* Homes that are tried for an error rate of 2^-bits.  Many are good for full lines, few for long
 * fingerprints.  Within a fifth of the best number the size differs by less than a percent. */
static const struct {
    double bits;
    unsigned homes[2];
} homes_tried[] = {{5, {96, 128}}, {8.5, {80, 96}}, {12, {64, 80}},
                   {16, {48, 64}}, {25, {40, 48}},  {INFINITY, {32, 40}}};

typedef struct trial {
    tamis_line_shape shape;
    double rates[LOADS]; /* of the first loads; 1 for those not computed yet */
    unsigned n_rates;
    double fpr;
} trial;

static void plan_line_start(trial *t, unsigned homes, bool set, bool passes_on) {
    tamis_line_shape_init(&t->shape);
    t->shape.lines = 1;
    t->shape.homes = homes;
    t->shape.fp_bits_max = FP_BITS_MAX;
    t->shape.header_bits = set ? 0 : HEADER;
    t->shape.set = t->shape.bound = set;
    t->shape.passes_on = passes_on;
    t->shape.load_max = (unsigned)(LINE_BITS - t->shape.header_bits - homes) / 2;
    t->n_rates = 0;
    for (unsigned i = 0; i < LOADS; i++)
        t->rates[i] = 1;
}

/* Compute the rates of all loads that matter for 'fpr'; the others may count as certain errors. */
static tamis_status plan_line_extend(trial *t, uint64_t n, double fpr) {
    const double mean = (double)n / (double)t->shape.lines;
    double above = 1;
    for (unsigned i = t->n_rates; t->shape.passes_on && i <= t->shape.load_max; i++) {
        const tamis_status status = tamis_model_line_load(&t->shape, i, &t->rates[i]);
        if (status != TAMIS_OK)
            return status;
        t->n_rates = i + 1;
    }
    if (t->shape.passes_on)
        return TAMIS_OK;
    for (unsigned i = 0; i <= t->shape.load_max; i++) {
        tamis_status status = TAMIS_OK;
        if (i >= mean)
            status = tamis_model_poisson_tail(mean, i, &above);
        if (status == TAMIS_OK && i >= t->n_rates) {
            status = tamis_model_line_load(&t->shape, i, &t->rates[i]);
            t->n_rates = i + 1;
        }
        if (status != TAMIS_OK)
            return status;
        if (above < 1e-6 * fpr)
            break;
    }
    return TAMIS_OK;
}

/* The number of replacements to plan for. */
static unsigned line_replacements(const tamis_need *need) {
    return need->replacements > CHURN_LEAST ? need->replacements : CHURN_LEAST;
}

/* The promised rate. */
static tamis_status plan_line_predict(const tamis_need *need, trial *t, uint64_t n, double *fpr) {
    double now;
    tamis_status status = plan_line_extend(t, n, need->fpr);
    if (status == TAMIS_OK)
        status = tamis_model_line_mixed(&t->shape, n, t->rates, fpr);
    if (status != TAMIS_OK || !need->deletes)
        return status;
    status = tamis_model_line_churned_long(
        &t->shape, n, fmin(CHURN_MORE * line_replacements(need), CHURN_MOST), &now);
    if (status == TAMIS_OK)
        *fpr = fmax(*fpr, now);
    return status;
}

/* The least error rate for limits from the lowest allowed one on.  False if there is none. */
static bool plan_line_choose_limit(const tamis_need *need, trial *t) {
    const double mean = (double)need->n / (double)t->shape.lines;
    const double allowed = fmin(need->lines_max, READS);
    const unsigned most = (unsigned)(LINE_BITS - t->shape.homes) / 2;
    unsigned tried = 0, best = 0;
    double least = 1, query, insert, fpr;
    for (unsigned i = (unsigned)mean + 1; i <= LIMIT_MAX && i <= most && tried < LIMITS; i++) {
        t->shape.load_max = i;
        if (tamis_model_line_reads(&t->shape, need->n, &query, &insert) != TAMIS_OK ||
            query > allowed)
            continue;
        tried++;
        if (plan_line_predict(need, t, need->n, &fpr) == TAMIS_OK && fpr < least) {
            least = fpr;
            best = i;
        }
    }
    t->shape.load_max = best;
    return best != 0;
}

/* Is this enough?  No if lines are too full for the model. */
static bool plan_line_enough(const tamis_need *need, trial *t, uint64_t lines) {
    double left;
    t->shape.lines = lines;
    if (t->shape.passes_on && (lines < MANY || !plan_line_choose_limit(need, t)))
        return false;
    if ((double)need->n / (double)lines > t->shape.load_max)
        return false;
    return plan_line_predict(need, t, need->n, &t->fpr) == TAMIS_OK && t->fpr <= need->fpr &&
           tamis_model_line_overflow(&t->shape, need->n, &left) == TAMIS_OK &&
           left <= 1 + LEFT_OVER * (double)need->n;
}

/* The fewest lines, within 1/2048. */
static tamis_status plan_line_fewest(const tamis_need *need, trial *t) {
    const double n = (double)need->n, bits = -log2(need->fpr);
    uint64_t low = 0, high = 1 + (uint64_t)(n * (bits + 3) / LINE_BITS);
    for (; !plan_line_enough(need, t, high); high += high / 4 + 1) {
        low = high;
        if ((double)high > LINES_MAX)
            return TAMIS_E_TOO_LARGE;
        if ((double)high > 4 * n + 4)
            return TAMIS_E_UNSUPPORTED;
    }
    while (high - low > 1 + high / 2048) {
        const uint64_t middle = low + (high - low) / 2;
        if (plan_line_enough(need, t, middle))
            high = middle;
        else
            low = middle;
    }
    t->shape.lines = high;
    return TAMIS_OK;
}

/* A cap on the fingerprints of light lines costs almost no errors and saves time.  Lines are added
 * until the promise holds with it. */
static tamis_status plan_line_cap(const tamis_need *need, trial *t) {
    const double load = fmax((double)need->n / (double)t->shape.lines, 1);
    const double room = LINE_BITS - t->shape.header_bits - t->shape.homes;
    const unsigned bits = (unsigned)fmax(room / load - 1, 1) + CAP;
    t->shape.fp_bits_max = bits < FP_BITS_MAX ? bits : FP_BITS_MAX;
    for (unsigned i = 1; i < t->n_rates && t->shape.fp_bits_max * i < room - i; i++) {
        const tamis_status status = tamis_model_line_load(&t->shape, i, &t->rates[i]);
        if (status != TAMIS_OK)
            return status;
    }
    for (uint64_t lines = t->shape.lines;; lines += lines / 2048 + 1) {
        if (plan_line_enough(need, t, lines))
            return TAMIS_OK;
        if ((double)lines > LINES_MAX)
            return TAMIS_E_TOO_LARGE;
        if ((double)lines > 8 * (double)need->n + 8)
            return TAMIS_E_UNSUPPORTED;
    }
}

/* The number of lines; half a percent less if all homes are in one word, since queries are then faster. */
static double plan_line_price(const trial *t) {
    return (t->shape.homes == 64 ? 0.995 : 1) * (double)t->shape.lines;
}

/* ---- the stash ---- */

#define TOGETHER 4u  /* equal entries in a line; more of a multiset go to the stash */
#define MARGIN   1.5 /* lines with larger loads err more, and so keep more keys together */

/* How many of the keys that share their entry with TOGETHER others are in the stash, exceeded with at
 * most these odds.  If keys come and go, a new key finds this many with Erlang's probability.  If keys
 * only come, those beyond the first TOGETHER of an entry are a fifth of that. */
static tamis_status line_crowd(const tamis_need *need, double odds, uint64_t *crowd) {
    const double met = -log1p(-fmin(need->fpr, 0.5));
    double term = 1, sum = 1, tail = 1;
    for (unsigned i = 1; i <= TOGETHER; i++)
        sum += term *= met / i;
    const double mean = MARGIN * (double)need->n * term / sum / (need->deletes ? 1 : TOGETHER + 1);
    for (*crowd = (uint64_t)mean;; *crowd += 1 + (*crowd - (uint64_t)mean) / 8) {
        const tamis_status status = tamis_model_poisson_tail(mean, *crowd, &tail);
        if (status != TAMIS_OK)
            return status;
        if (need->deletes) /* every new key may be one too many */
            tail *= 1 + (double)line_replacements(need) * ((double)*crowd + 1);
        if (tail <= odds)
            return TAMIS_OK;
    }
}

/* The odds that such a stash is too small for the keys of full lines.  In a multiset it also holds
 * crowds.  They leave a part of it, or, if they are few, all that they do not need. */
static tamis_status line_failure(const tamis_need *need, const tamis_line_shape *shape,
                                 uint64_t stash, double *odds) {
    const uint64_t kept = shape->set ? stash : tamis_i_stash_kept(stash);
    const double share = need->failure_max / 16;
    double alone = 1;
    uint64_t crowd;
    tamis_status status = tamis_model_line_stash(shape, need->n, kept, odds);
    if (status != TAMIS_OK || shape->set || *odds <= share)
        return status;
    status = line_crowd(need, share, &crowd);
    if (status == TAMIS_OK && crowd < stash - kept)
        status = tamis_model_line_stash(shape, need->n, stash - crowd, &alone);
    *odds = fmin(*odds, share + alone);
    return status;
}

static tamis_status plan_line_plan_line(const tamis_need *need, bool set, tamis_plan *plan) {
    trial best = {.fpr = 1};
    bool found = false;
    tamis_status status = TAMIS_E_UNSUPPORTED;
    size_t row = 0;
    while (-log2(need->fpr) > homes_tried[row].bits)
        row++;
    for (size_t i = 0; i < (set ? 4 : 2); i++) {
        trial t = {.fpr = 1};
        plan_line_start(&t, homes_tried[row].homes[i % 2], set, i >= 2);
        const tamis_status here = plan_line_fewest(need, &t);
        if (here != TAMIS_OK && !found)
            status = here;
        const double worth = t.shape.passes_on && !best.shape.passes_on ? WORTH : 1;
        if (here == TAMIS_OK && (!found || plan_line_price(&t) < worth * plan_line_price(&best))) {
            best = t;
            found = true;
        }
    }
    if (!found)
        return status;
    status = plan_line_cap(need, &best);
    if (status != TAMIS_OK)
        return status;
    double mean;
    plan->fpr = best.fpr;
    status = tamis_model_line_reads(&best.shape, need->n, &plan->lines_per_query,
                                    &plan->lines_per_insert);
    if (status == TAMIS_OK)
        status = plan_line_predict(need, &best, need->n / 2 + need->n % 2, &plan->fpr_half);
    if (status == TAMIS_OK)
        status = tamis_model_line_overflow(&best.shape, need->n, &mean);
    if (status != TAMIS_OK)
        return status;
    plan->replacements = need->deletes ? line_replacements(need) : 0;
    plan->params.kind = set ? TAMIS_KIND_LINE_SET : TAMIS_KIND_LINE;
    plan->params.value[TAMIS_LINE_LINES] = best.shape.lines;
    plan->params.value[TAMIS_LINE_HOMES] = best.shape.homes;
    plan->params.value[TAMIS_LINE_BITS_MAX] = best.shape.fp_bits_max;
    if (best.shape.passes_on)
        plan->params.value[TAMIS_LINE_LIMIT] = best.shape.load_max;
    for (uint64_t stash = 16 + need->n / 16384;; stash += stash / 4) {
        plan->params.stash = stash;
        status = line_failure(need, &best.shape, stash, &plan->overflow_probability);
        if (status != TAMIS_OK || plan->overflow_probability <= need->failure_max ||
            stash > need->n / 2 + 64)
            return status;
    }
}

tamis_status tamis_i_plan_line(const tamis_need *need, tamis_plan *plan) {
    return plan_line_plan_line(need, false, plan);
}

tamis_status tamis_i_plan_line_set(const tamis_need *need, tamis_plan *plan) {
    return plan_line_plan_line(need, true, plan);
}
