/* table.c - plans for multilevel tables: sub-tables, then the summary
 *
 * Sub-tables.  The paper's shape: with s slots per item the first has 2/3 of them, the second a quarter
 * of that, each further one half of the one before, and the last is as large as the one before it:
 *
 *      4n, n, n/2, n/4, n/4      for s = 6 and d = 5
 *
 * which adds up to s n for any number d.  The large first one makes most items type 0; the small size
 * of the Bloom filter summaries depends on this. d is the smallest number that keeps the odds of a
 * crisis at half of what is allowed.  No sub-table has fewer than 64 slots.
 *
 * Crisis.  The exact calculation (model/multilevel.c) takes n^1.5 steps.  While more than EXACT_MAX
 * items go on, the number after a sub-table is taken as the mean plus ten standard deviations of
 * independent buckets.  The true number is larger with a chance below e^-40, and what comes after is
 * monotone in it.  The rest is exact.  A bucket of c slots never turns away more items than c buckets
 * of one slot, and the exact part counts it as these.  That is safe but wasteful, so with more than one
 * slot the mean is used for longer, down to MEAN_MAX items.
 *
 * Failure.  Let S_i be the number of items of type above i.  The expected number of mistaken items of
 * type i is (their number) E[q(S_i)], the paper's equations (4) and (5).  Here S_i is taken as Poisson
 * of its mean.  That has a larger variance than S_i and, since q is convex, gives more.  The allowed
 * failures are divided among the filters in proportion to the mean of S_i.  That takes the fewest bits,
 * since the bits of a filter are (items) log(1/odds).  The exact model judges the plan for up to
 * EXACT_MAX items, and widens it if necessary.
 *
 * Churn.  If items come and go and slots are reused, the table does not stay as if it were built from
 * its present items.  Later sub-tables fill up, since an item stays where it was put when a slot before
 * it becomes free.  A bucket of c slots is then a telephone exchange of c lines: with an offered load
 * of a items it turns away a part B(c, a), Erlang's formula, which does not depend on how long items
 * stay.  With ten thousand items in the paper's table, 333 instead of 64 have type 2.  The means of all
 * levels follow, and the odds are replaced by expected numbers at a moment.
 *
 * Counters.  A counter of w bits is saturated at 2^w - 1.  The width is the smallest, at least 2, that
 * keeps the expected number of saturated counters below the odds, with a Poisson number of items in a
 * counter.  A smaller width is enough if the filter itself has fewer than 2^w - 1 items, which decides
 * for the last filters.
 *
 * Confirmed by tests/model/test_table_plan.c: against the exact models, and by simulation.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions
 * on Networking 16(1), 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/table.h"

#include <math.h>

#include "tamis/model.h"

#define N_MAX        ((uint64_t)1 << 40)
#define EXACT_MAX    20000u
#define MEAN_MAX     1000u
#define LEVELS       TAMIS_I_SUMMARY_TYPES_MAX
#define SLOTS_LEAST  64.0
#define CELLS_LEAST  128.0
#define LOAD         0.9 /* of the array of strings */
#define STRING_BITS  96u
#define CELLS_MAX    ((double)TAMIS_I_SUMMARY_CELLS_MAX)
#define HASHES_MAX   TAMIS_I_SUMMARY_HASHES_MAX
#define COUNTERS_MAX TAMIS_I_SUMMARY_COUNTER_BITS_MAX

/* -------------------------------------------------------------------------------------------------
 * Sub-tables
 */

/* The need, complete, and what is known about the levels. */
typedef struct draft {
    const tamis_i_table_need *need;
    double n;            /* items, deleted ones included */
    unsigned d;          /* sub-tables */
    double rest[LEVELS]; /* mean number of items of type above i */
} draft;

static double plan_table_items_of_type(const draft *t, unsigned i) {
    return (i == 0 ? t->n : t->rest[i - 1]) - t->rest[i];
}

/* Buckets of sub-table i of d. */
static uint64_t plan_table_buckets_of(const draft *t, unsigned d, unsigned i) {
    const double first = t->need->space * t->n / (d == 1 ? 1 : 1.5);
    const unsigned halvings = i == 0 ? 0 : (i + 1 < d ? i + 1 : d == 2 ? 1 : d - 1);
    const double slots = ldexp(first, -(int)halvings);
    return (uint64_t)ceil(fmax(slots, SLOTS_LEAST) / t->need->bucket * (1 - 1e-13));
}

/* The part of the items that m buckets of c slots turn away in the long run, if 'items' are offered:
 * Erlang B. */
static double plan_table_turned_away(double items, double m, unsigned c) {
    const double a = items / m;
    double b = 1;
    for (unsigned j = 1; j <= c; j++)
        b = a * b / (j + a * b);
    return b;
}

/* Items that go on from m buckets of c slots if 'items' are thrown: m E[(load - c)+] for a Poisson
 * load; and a bound on the variance.  All terms are positive: nothing cancels. */
static double plan_table_thrown_on(double items, double m, unsigned c, double *variance) {
    const double a = items / m;
    double term = exp(-a); /* P(load = j) */
    for (unsigned j = 1; j <= c; j++)
        term *= a / j;
    double sum = 0, squares = 0;
    for (unsigned j = c + 1; j < c + 200; j++) {
        term *= a / j;
        sum += term * (j - c);
        squares += term * (j - c) * (j - c);
        if (j > a && term < 1e-18 * sum)
            break;
    }
    *variance = m * squares;
    return m * sum;
}

/* The mean numbers of items that go on from each of d sub-tables. */
static void plan_table_fill_rest(draft *t, unsigned d) {
    double left = t->n, variance;
    t->d = d;
    for (unsigned i = 0; i < d; i++) {
        const double m = (double)plan_table_buckets_of(t, d, i);
        left = t->need->churn ? left * plan_table_turned_away(left, m, t->need->bucket)
                              : plan_table_thrown_on(left, m, t->need->bucket, &variance);
        t->rest[i] = left;
    }
}

/* A bound on the odds of a crisis with d sub-tables. */
static tamis_status plan_table_crisis_odds(const draft *t, unsigned d, double *work, double *odds) {
    const double few = t->need->bucket == 1 ? EXACT_MAX : MEAN_MAX;
    double left = t->n, variance;
    uint64_t slots[LEVELS];
    unsigned i = 0;
    for (; i < d && left > few; i++) {
        left = plan_table_thrown_on(left, (double)plan_table_buckets_of(t, d, i), t->need->bucket,
                                    &variance);
        left += 10 * sqrt(variance) + 10;
    }
    const unsigned first = i;
    for (; i < d; i++)
        slots[i - first] = plan_table_buckets_of(t, d, i) * t->need->bucket;
    if (first == d) {
        *odds = 1;
        return TAMIS_OK;
    }
    double neglected;
    const tamis_status status =
        tamis_model_multilevel_exact((uint64_t)ceil(left), slots, d - first, work,
                                     TAMIS_MULTILEVEL_WORK(EXACT_MAX), NULL, odds, &neglected);
    if (status == TAMIS_OK)
        *odds += neglected + (first > 0 ? first * exp(-40) : 0);
    return status;
}

/* Choose the number of sub-tables. */
static tamis_status plan_table_plan_levels(draft *t, double *work, tamis_i_table_plan *plan) {
    for (unsigned d = 1; d <= LEVELS; d++) {
        plan_table_fill_rest(t, d);
        double odds = t->rest[d - 1];
        /* A cheap first test.  The exact tail of the last sub-tables is heavier than that of a mean
         * used instead of a random number. */
        if (odds > t->need->odds)
            continue;
        if (!t->need->churn) {
            const tamis_status status = plan_table_crisis_odds(t, d, work, &odds);
            if (status != TAMIS_OK)
                return status;
        }
        if (odds > t->need->odds / 2)
            continue;
        plan->n_types = d;
        plan->crisis = odds;
        for (unsigned i = 0; i < d; i++) {
            plan->buckets[i] = plan_table_buckets_of(t, d, i);
            plan->items[i] = plan_table_items_of_type(t, i);
        }
        return TAMIS_OK;
    }
    return TAMIS_E_UNSUPPORTED;
}

/* -------------------------------------------------------------------------------------------------
 * Filters
 */

/* E[(1 - (1 - k/m)^l)^k] for l Poisson of this mean.  Terms far from the mean add nothing. */
static double plan_table_mistake(double mean, double m, unsigned k) {
    const double log_spared = m > k ? log1p(-(double)k / m) : -INFINITY;
    if (mean > 1000) {
        /* Gauss-Hermite with three points, exact for polynomials of degree 5: 1 % off at worst. */
        const double wide = sqrt(3 * mean);
        return (4 * pow(-expm1(mean * log_spared), k) + pow(-expm1((mean - wide) * log_spared), k) +
                pow(-expm1((mean + wide) * log_spared), k)) /
               6;
    }
    const double reach = 12 * sqrt(mean) + 30;
    const double from = fmax(1, floor(mean - reach)), to = mean + reach;
    double term = exp(from * log(mean) - mean - lgamma(from + 1));
    double sum = 0;
    for (double l = from; l <= to; l++) {
        sum += term * pow(-expm1(l * log_spared), k);
        term *= mean / (l + 1);
    }
    return sum;
}

/* What a filter must do. */
typedef struct question {
    const draft *t;
    unsigned type; /* first type whose items can be mistaken */
    unsigned end;  /* and the one after the last */
    unsigned hashes;
    double allowed;
    double fpr; /* of all n items; 1: irrelevant */
    bool partitioned;
} question;

static double plan_table_mistaken_items(const question *q, double cells) {
    double sum = 0;
    for (unsigned i = q->type; i < q->end; i++)
        if (q->t->rest[i] > 0)
            sum += plan_table_items_of_type(q->t, i) *
                   plan_table_mistake(q->t->rest[i], cells, q->hashes);
    return sum;
}

static double plan_table_rate_of(const question *q, double cells) {
    double rate = 1;
    if ((q->partitioned ? tamis_model_bloom_partitioned
                        : tamis_model_bloom)(cells, q->t->n, q->hashes, &rate) != TAMIS_OK)
        return 1;
    return rate;
}

static bool plan_table_good(const question *q, double cells) {
    return (q->fpr >= 1 || plan_table_rate_of(q, cells) <= q->fpr) &&
           plan_table_mistaken_items(q, cells) <= q->allowed;
}

/* The fewest cells for these hashes, or 0 if even 'most' are too few. */
static double plan_table_fewest_cells(const question *q, double most) {
    double low = q->hashes, high = most; /* low is too few: a filter has more cells than hashes */
    if (most <= low || !plan_table_good(q, most))
        return 0;
    /* Bisect in the logarithm first: the number of cells can be anywhere. */
    while (high - low > 1 && high - low > 1e-4 * high) {
        const double middle = high > 4 * low ? floor(sqrt(low * high)) : floor((low + high) / 2);
        if (plan_table_good(q, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The hashes that need the fewest cells, and these cells.  As a function of the hashes, the cells fall
 * and then rise once. */
static bool plan_table_best_filter(question *q, double *cells) {
    double best = CELLS_MAX;
    unsigned best_hashes = 0;
    for (unsigned k = 1; k <= HASHES_MAX; k++) {
        q->hashes = k;
        const double fewest = plan_table_fewest_cells(q, best);
        if (fewest > 0 && (best_hashes == 0 || fewest < best)) {
            best = fewest;
            best_hashes = k;
        }
    }
    q->hashes = best_hashes;
    *cells = best;
    return best_hashes != 0;
}

double tamis_i_plan_poisson_tail(double mean, double x) {
    if (x <= mean)
        return 1;
    const double term = exp(x * log(mean) - mean - lgamma(x + 1));
    return fmin(1, term / (1 - mean / (x + 1)));
}

/* Bits of counters, when on average 'items' raise 'hashes' of 'cells' counters each. */
static unsigned plan_table_counter_width(const draft *t, double items, double cells,
                                         unsigned hashes) {
    /* The number of items itself is random. */
    const double many = items + 6 * sqrt(items) + 6;
    for (unsigned width = 2; width < COUNTERS_MAX; width++) {
        const double top = ldexp(1, (int)width) - 1;
        if (cells * tamis_i_plan_poisson_tail(many * hashes / cells, top) <= t->need->odds ||
            tamis_i_plan_poisson_tail(items, top) <= t->need->odds)
            return width;
    }
    return COUNTERS_MAX;
}

static tamis_status plan_table_plan_multiple(const draft *t, tamis_i_table_plan *plan) {
    tamis_i_summary_params *const p = &plan->summary;
    double all_rest = 0;
    for (unsigned i = 0; i + 1 < t->d; i++)
        all_rest += t->rest[i];
    for (unsigned f = 0; f < t->d; f++) {
        question q = {.t = t, .fpr = 1};
        if (f == 0) { /* error rate only: it causes no mistaken items */
            q.fpr = t->need->fpr;
        } else {
            q.type = f - 1;
            q.end = f;
            q.allowed = t->need->odds / 2 * t->rest[f - 1] / all_rest;
        }
        double cells;
        if (!plan_table_best_filter(&q, &cells))
            return TAMIS_E_TOO_LARGE;
        cells = fmax(cells, CELLS_LEAST);
        p->cells[f] = (uint64_t)cells;
        p->hashes[f] = q.hashes;
        if (t->need->kind == TAMIS_I_SUMMARY_MULTIPLE_COUNTING)
            p->counter_bits[f] =
                plan_table_counter_width(t, f == 0 ? t->n : t->rest[f - 1], cells, q.hashes);
    }
    return TAMIS_OK;
}

static tamis_status plan_table_plan_single(const draft *t, tamis_i_table_plan *plan) {
    tamis_i_summary_params *const p = &plan->summary;
    question q = {.t = t,
                  .type = 0,
                  .end = t->d - 1,
                  .fpr = t->need->fpr,
                  .allowed = t->need->odds / 2,
                  .partitioned = true};
    double cells;
    if (!plan_table_best_filter(&q, &cells))
        return TAMIS_E_TOO_LARGE;
    p->cells[0] = (uint64_t)cells / q.hashes * q.hashes; /* no cells outside of the groups */
    if ((double)p->cells[0] < cells)
        p->cells[0] += q.hashes;
    p->hashes[0] = q.hashes;
    if (t->need->kind == TAMIS_I_SUMMARY_SINGLE_COUNTING)
        for (unsigned i = 0; i < t->d; i++)
            p->counter_bits[i] =
                plan_table_counter_width(t, plan_table_items_of_type(t, i), cells, q.hashes);
    return TAMIS_OK;
}

static tamis_status plan_table_plan_interpolation(const draft *t, tamis_i_table_plan *plan) {
    tamis_i_summary_params *const p = &plan->summary;
    p->cells[0] = (uint64_t)ceil(t->n / LOAD);
    for (unsigned b = 1; b <= STRING_BITS; b++) {
        double failure, fpr;
        const tamis_status status =
            tamis_model_summary_interpolation((uint64_t)t->n, b, &failure, &fpr);
        if (status != TAMIS_OK)
            return status;
        if (failure <= t->need->odds / 2 && fpr <= t->need->fpr) {
            p->string_bits = b;
            return TAMIS_OK;
        }
    }
    return TAMIS_E_UNSUPPORTED;
}

/* -------------------------------------------------------------------------------------------------
 * The plan
 */

/* Failure odds and error rate of the summary in the plan; exact if that is affordable. */
static tamis_status plan_table_judge(const draft *t, double *work, tamis_i_table_plan *plan) {
    const tamis_i_summary_params *const p = &plan->summary;
    const bool multiple = t->need->kind == TAMIS_I_SUMMARY_MULTIPLE ||
                          t->need->kind == TAMIS_I_SUMMARY_MULTIPLE_COUNTING;
    if (t->need->kind == TAMIS_I_SUMMARY_INTERPOLATION)
        return tamis_model_summary_interpolation((uint64_t)t->n, (unsigned)p->string_bits,
                                                 &plan->failure, &plan->fpr);
    tamis_status status = (multiple ? tamis_model_bloom : tamis_model_bloom_partitioned)(
        (double)p->cells[0], t->n, (unsigned)p->hashes[0], &plan->fpr);
    if (status != TAMIS_OK)
        return status;
    if (!t->need->churn && t->need->bucket == 1 && t->n <= EXACT_MAX) {
        unsigned hashes[LEVELS];
        for (unsigned i = 0; i < LEVELS; i++)
            hashes[i] = (unsigned)p->hashes[i];
        return multiple
                   ? tamis_model_summary_multiple((uint64_t)t->n, plan->buckets, t->d, p->cells,
                                                  hashes, work, TAMIS_MULTILEVEL_WORK(EXACT_MAX),
                                                  &plan->failure, NULL, NULL)
                   : tamis_model_summary_single((uint64_t)t->n, plan->buckets, t->d, p->cells[0],
                                                hashes[0], work, TAMIS_MULTILEVEL_WORK(EXACT_MAX),
                                                &plan->failure, NULL, NULL);
    }
    plan->failure = 0;
    for (unsigned i = 0; i + 1 < t->d; i++) {
        const question q = {
            .t = t, .type = i, .end = i + 1, .hashes = (unsigned)p->hashes[multiple ? i + 1 : 0]};
        plan->failure += plan_table_mistaken_items(&q, (double)p->cells[multiple ? i + 1 : 0]);
    }
    plan->failure = fmin(plan->failure, t->need->churn ? t->n : 1);
    return TAMIS_OK;
}

/* The exact model may give a little more than the Poisson one; then add a hundredth of the cells. */
static tamis_status plan_table_widen(const draft *t, double *work, tamis_i_table_plan *plan) {
    tamis_status status = plan_table_judge(t, work, plan);
    for (unsigned round = 0; round < 100 && status == TAMIS_OK; round++) {
        if (plan->failure <= t->need->odds / 2)
            return TAMIS_OK;
        for (unsigned f = 0; f < t->d; f++) {
            uint64_t *const cells = &plan->summary.cells[f];
            const uint64_t hashes = plan->summary.hashes[f];
            if (*cells == 0 || (f == 0 && plan->summary.cells[1] != 0))
                continue; /* the first of several filters does not matter here */
            *cells += *cells / 100 + 1;
            if (plan->summary.cells[1] == 0)
                *cells += (hashes - *cells % hashes) % hashes;
        }
        status = plan_table_judge(t, work, plan);
    }
    return status != TAMIS_OK ? status : TAMIS_E_UNSUPPORTED;
}

tamis_status tamis_i_plan_table_finish(tamis_i_summary_id id, tamis_i_table_plan *plan) {
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)id);
    plan->summary.n_types = plan->n_types;
    uint64_t n_words;
    const tamis_status status = kind->shape(&plan->summary, &n_words);
    if (status != TAMIS_OK)
        return status == TAMIS_E_TOO_LARGE ? status : TAMIS_E_UNSUPPORTED;
    plan->summary_bits = kind->bits(&plan->summary);
    return TAMIS_OK;
}

static tamis_status plan_table_plan_with(const tamis_i_table_need *need, double *work,
                                         tamis_i_table_plan *plan) {
    draft t = {.need = need, .n = (double)(need->n + need->deleted)};
    if (t.n * need->space > CELLS_MAX)
        return TAMIS_E_TOO_LARGE;
    tamis_status status = plan_table_plan_levels(&t, work, plan);
    if (status != TAMIS_OK)
        return status;
    switch (need->kind) {
    case TAMIS_I_SUMMARY_INTERPOLATION:
        status = plan_table_plan_interpolation(&t, plan);
        break;
    case TAMIS_I_SUMMARY_SINGLE:
    case TAMIS_I_SUMMARY_SINGLE_COUNTING:
        status = plan_table_plan_single(&t, plan);
        break;
    default:
        status = plan_table_plan_multiple(&t, plan);
        break;
    }
    if (status == TAMIS_OK)
        status = plan_table_widen(&t, work, plan);
    return status == TAMIS_OK ? tamis_i_plan_table_finish(need->kind, plan) : status;
}

static bool plan_table_complete(tamis_i_table_need *need) {
    static const double spaces[] = {0, 6, 4, 3, 2.5};
    if (need->bucket == 0)
        need->bucket = 1;
    if (need->odds == 0)
        need->odds = 1e-9;
    if (need->fpr == 0)
        need->fpr = 0.006;
    if (need->bucket > 4)
        return false;
    if (need->space == 0)
        need->space = spaces[need->bucket];
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)need->kind);
    return kind != NULL && need->n >= 1 && need->n <= N_MAX && need->deleted <= N_MAX &&
           need->odds >= 1e-16 && need->odds <= 0.5 && need->fpr >= 1e-15 && need->fpr <= 0.5 &&
           need->space >= 1 && need->space <= 100 &&
           (!need->churn || (kind->abilities & TAMIS_I_SUMMARY_CAN_REMOVE) != 0);
}

tamis_status tamis_i_plan_table(const tamis_i_table_need *need, tamis_i_table_plan *plan) {
    tamis_i_table_need own = *need;
    if (need->kind == TAMIS_I_SUMMARY_SONG)
        return tamis_i_plan_table_song(need, plan);
    if (!plan_table_complete(&own))
        return TAMIS_E_ARGUMENT;
    const size_t size = TAMIS_MULTILEVEL_WORK(EXACT_MAX) * sizeof(double);
    double *const work = tamis_i_alloc(NULL, size);
    if (work == NULL)
        return TAMIS_E_NOMEM;
    tamis_i_table_plan result = {0};
    const tamis_status status = plan_table_plan_with(&own, work, &result);
    tamis_i_free(NULL, work, size);
    if (status == TAMIS_OK)
        *plan = result;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * The configurations of the paper
 */

typedef struct setting {
    uint64_t n;
    unsigned n_types;
    uint64_t buckets[LEVELS];
    uint64_t string_bits;
    uint64_t cells; /* of the single filter */
    uint64_t bits[LEVELS];
    uint64_t counter_bits[LEVELS]; /* section XI-B; the paper has none for 100,000 items */
} setting;

/* Five filters are listed for the six sub-tables of the second: the sixth is assumed to equal the fifth. */
static const setting settings[] = {
    {.n = 10000,
     .n_types = 5,
     .buckets = {40000, 10000, 5000, 2500, 2500},
     .string_bits = 55,
     .cells = 120000,
     .bits = {106000, 87500, 5500, 500, 100},
     .counter_bits = {4, 4, 4, 4, 2}},
    {.n = 100000,
     .n_types = 6,
     .buckets = {400000, 100000, 50000, 25000, 12500, 12500},
     .string_bits = 61,
     .cells = 1200000,
     .bits = {1060000, 875000, 550000, 1000, 1000, 1000},
     .counter_bits = {4, 4, 4, 4, 4, 2}},
};

enum { SINGLE_HASHES = 15, FIRST_HASHES = 7, OTHER_HASHES = 49 };

static tamis_status plan_table_paper_summary(const setting *s, tamis_i_summary_id kind,
                                             double *work, size_t work_len,
                                             tamis_i_table_plan *plan) {
    unsigned hashes[LEVELS];
    plan->n_types = s->n_types;
    memcpy(plan->buckets, s->buckets, sizeof plan->buckets);
    tamis_i_summary_params *const p = &plan->summary;
    /* The exact walk takes a third of a second for 100,000 items: once is enough. */
    tamis_status status =
        tamis_model_multilevel_approx((double)s->n, s->buckets, s->n_types, plan->items);
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; i < s->n_types; i++)
        plan->items[i] = fmax(plan->items[i], 0);
    switch (kind) {
    case TAMIS_I_SUMMARY_INTERPOLATION:
        p->string_bits = s->string_bits;
        p->cells[0] = (uint64_t)ceil((double)s->n / LOAD);
        status = tamis_model_summary_interpolation(s->n, (unsigned)s->string_bits, &plan->failure,
                                                   &plan->fpr);
        if (status == TAMIS_OK)
            status = tamis_model_multilevel_exact(s->n, s->buckets, s->n_types, work, work_len,
                                                  NULL, &plan->crisis, NULL);
        break;
    case TAMIS_I_SUMMARY_SINGLE:
    case TAMIS_I_SUMMARY_SINGLE_COUNTING:
        p->cells[0] = s->cells;
        p->hashes[0] = SINGLE_HASHES;
        for (unsigned i = 0; i < s->n_types && kind == TAMIS_I_SUMMARY_SINGLE_COUNTING; i++)
            p->counter_bits[i] = s->counter_bits[i];
        status = tamis_model_bloom_partitioned((double)s->cells, (double)s->n, SINGLE_HASHES,
                                               &plan->fpr);
        if (status == TAMIS_OK)
            status =
                tamis_model_summary_single(s->n, s->buckets, s->n_types, s->cells, SINGLE_HASHES,
                                           work, work_len, &plan->failure, &plan->crisis, NULL);
        break;
    default:
        for (unsigned i = 0; i < s->n_types; i++) {
            hashes[i] = i == 0 ? FIRST_HASHES : OTHER_HASHES;
            p->cells[i] = s->bits[i];
            p->hashes[i] = hashes[i];
            if (kind == TAMIS_I_SUMMARY_MULTIPLE_COUNTING)
                p->counter_bits[i] = s->counter_bits[i];
        }
        status = tamis_model_bloom((double)s->bits[0], (double)s->n, FIRST_HASHES, &plan->fpr);
        if (status == TAMIS_OK)
            status =
                tamis_model_summary_multiple(s->n, s->buckets, s->n_types, s->bits, hashes, work,
                                             work_len, &plan->failure, &plan->crisis, NULL);
        break;
    }
    return status == TAMIS_OK ? tamis_i_plan_table_finish(kind, plan) : status;
}

tamis_status tamis_i_plan_table_paper(uint64_t n, tamis_i_summary_id kind,
                                      tamis_i_table_plan *plan) {
    const setting *const s = n == settings[0].n ? &settings[0] : &settings[1];
    if (n != s->n || tamis_i_summary_by_id((uint64_t)kind) == NULL ||
        (kind == TAMIS_I_SUMMARY_SONG && s != &settings[0]))
        return TAMIS_E_ARGUMENT;
    tamis_i_table_plan result = {0};
    tamis_status status;
    if (kind == TAMIS_I_SUMMARY_SONG) {
        status = tamis_i_plan_table_song_paper(&result);
    } else {
        const size_t work_len = tamis_model_multilevel_work(n);
        double *const work = tamis_i_alloc(NULL, work_len * sizeof(double));
        if (work == NULL)
            return TAMIS_E_NOMEM;
        status = plan_table_paper_summary(s, kind, work, work_len, &result);
        tamis_i_free(NULL, work, work_len * sizeof(double));
    }
    if (status == TAMIS_OK)
        *plan = result;
    return status;
}
