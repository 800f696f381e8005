/* plan_check.c - tamis plan --check: are promises kept?
 *
 * Needs are drawn at random, planned, built, filled to their capacity and queried with absent keys.  A
 * plan promises the mean error rate over seeds, so small filters are built many times.  The measured
 * mean of R filters may be above the promise by 4.5 standard errors, which gives one false alarm in a
 * thousand runs of 200 needs.  The standard error has two parts: the queries, binomial, and the
 * differences between filters: the sample variance of the rates that info gives, divided by R.
 *
 * With changes, all needs are for sets whose keys come and go, in copies or not.  A filter that was filled
 * then has its keys replaced, one drawn at random each time, with all its copies: as often as the plan
 * promises, or FOREVER times per key.  Afterwards the same is asked, and every copy counted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <tamis/shared.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK         4096u
#define FILTERS_MAX   100u
#define QUERIES_MAX   4000000u
#define SIGMAS        4.5
#define ABSENT        ((uint64_t)1 << 48) /* keys from here on are absent */
#define COPIED_MAX    100000u             /* keys that come in copies */
#define DRAWS_PER_ROW 50u
#define SHARED_LEAST  40000u /* keys of sets for threads: smaller ones have no shards */
#define FOREVER       100u   /* replacements */
#define COPIES_MOST   20u
#define CHANGES_MAX   10000000u /* keys that are replaced for one need */
#define LEAST_FILTERS 2u        /* of which the rates are compared */

/* ---- chance, the same on every machine ---- */

static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double draw_unit(uint64_t *state) {
    return (double)(draw(state) >> 11) * 0x1p-53;
}

/* Log-uniform between two positive numbers. */
static double draw_log(uint64_t *state, double least, double most) {
    return exp(log(least) + draw_unit(state) * (log(most) - log(least)));
}

static bool draw_odds(uint64_t *state, double odds) {
    return draw_unit(state) < odds;
}

/* The kinds that there are. */
static tamis_kind draw_kind(uint64_t *state) {
    for (;;) {
        const tamis_kind kind = (tamis_kind)(1 + draw(state) % 64);
        if (tamis_kind_name(kind) != NULL)
            return kind;
    }
}

static void draw_need(uint64_t *state, uint64_t least, uint64_t most, tamis_need *need) {
    tamis_need_init(need);
    need->n = (uint64_t)draw_log(state, least < most ? (double)least : 10, (double)most);
    need->fpr = draw_log(state, 1e-6, 0.3);
    if (draw_odds(state, 0.5))
        need->kind = draw_kind(state);
    need->deletes = draw_odds(state, 0.25);
    need->grows = draw_odds(state, 0.1);
    need->offline = draw_odds(state, 0.15);
    need->order = (tamis_order)(draw(state) % 3);
    if (draw_odds(state, 0.2))
        need->overshoot = draw_unit(state);
    if (draw_odds(state, 0.15))
        need->lines_max = 1 + 3 * draw_unit(state);
    if (draw_odds(state, 0.15))
        need->failure_max = draw_log(state, 1e-12, 1e-6);
    if (draw_odds(state, 0.1) && need->n <= COPIED_MAX && !need->offline)
        need->copies = 2 + (unsigned)(draw(state) % 5);
    else if (draw_odds(state, 0.1) && !need->offline)
        need->value_bits = 1 + (unsigned)(draw(state) % 8);
    const double bits = draw_log(state, 6, 48); /* per key */
    if (draw_odds(state, 0.15)) {
        need->bytes = 256 + (uint64_t)((double)need->n * bits / 8);
        need->fpr = 0;
    } else if (draw_odds(state, 0.15)) {
        need->bytes = 256 + (uint64_t)((double)need->n * bits / 8);
        need->n = 0;
    }
}

/* A need for a set that changes: for ever, or so many times, and in copies or not. */
static void draw_changing_need(uint64_t *state, uint64_t most, tamis_need *need) {
    draw_need(state, 10, most, need);
    need->deletes = true;
    need->offline = false;
    need->copies = 0;
    need->replacements =
        draw_odds(state, 0.5) ? 0 : (unsigned)draw_log(state, 1, (double)FOREVER + 1);
    if (draw_odds(state, 0.5) && need->value_bits == 0)
        need->copies = 2 + (unsigned)(draw(state) % (COPIES_MOST - 1));
}

/* ---- one need: planned, built, measured ---- */

typedef struct outcome {
    tamis_plan plan;
    unsigned shards;   /* 0: an ordinary set */
    uint64_t keys;     /* to be put in */
    unsigned replaced; /* times that each of them then is, on average */
    unsigned filters;
    uint64_t queries, hits;
    uint64_t refused, lost; /* inserts; keys that were not found, or not in all copies */
    bool bytes_kept;
    double rate_sum, rate_squares; /* of the rates that info gives */
} outcome;

/* The keys 0 to n - 1 as a source of digests. */
typedef struct numbers {
    tamis_hasher hasher;
    uint64_t n, at;
} numbers;

static bool numbers_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    numbers *const all = context;
    *n = 0;
    while (*n < room && all->at < all->n)
        digests[(*n)++] = tamis_hash_u64(&all->hasher, all->at++);
    return true;
}

static bool numbers_rewind(void *context) {
    ((numbers *)context)->at = 0;
    return true;
}

static unsigned copies_of(const tamis_need *need) {
    return need->copies > 1 ? need->copies : 1;
}

static tamis_status fill(const tamis_need *need, const tamis_params *params, outcome *o,
                         tamis_filter **filter) {
    uint64_t keys[CHUNK];
    if (need->offline) {
        numbers all = {.n = params->capacity};
        if (tamis_hasher_init(&all.hasher, params) != TAMIS_OK)
            return TAMIS_E_ARGUMENT;
        const tamis_source source = {numbers_read, numbers_rewind, &all};
        const tamis_status status = tamis_filter_build(params, &source, NULL, NULL, filter);
        o->refused += status == TAMIS_E_FULL;
        return status == TAMIS_E_FULL ? TAMIS_OK : status;
    }
    const tamis_status status = tamis_filter_create(params, NULL, filter);
    if (status != TAMIS_OK)
        return status;
    const unsigned copies = copies_of(need);
    for (unsigned copy = 0; copy < copies; copy++) {
        for (uint64_t at = 0; at < params->capacity;) {
            size_t n = 0;
            for (; n < CHUNK && at < params->capacity; n++)
                keys[n] = at++;
            if (need->value_bits == 0) {
                o->refused +=
                    tamis_filter_insert_many_u64(*filter, keys, n, NULL, NULL) != TAMIS_OK;
                continue;
            }
            for (size_t i = 0; i < n; i++)
                o->refused += tamis_filter_insert_value(*filter, &keys[i], sizeof keys[i],
                                                        (unsigned)keys[i] & 1, NULL) != TAMIS_OK;
        }
    }
    return TAMIS_OK;
}

/* The same for a set that threads share; what is measured is an ordinary set with its keys. */
static tamis_status fill_shared(const tamis_need *need, const tamis_params *params, outcome *o,
                                tamis_filter **filter) {
    uint64_t keys[CHUNK];
    tamis_shared *set;
    tamis_status status = tamis_shared_create(params, o->shards, NULL, &set);
    if (status != TAMIS_OK)
        return status;
    const unsigned copies = copies_of(need);
    for (unsigned copy = 0; copy < copies; copy++) {
        for (uint64_t at = 0; at < o->keys;) {
            size_t n = 0, done = 0;
            for (; n < CHUNK && at < o->keys; n++)
                keys[n] = at++;
            if (need->value_bits == 0) {
                (void)!tamis_shared_insert_many_u64(set, keys, n, NULL, NULL, &done);
                o->refused += n - done;
            }
            for (size_t i = 0; need->value_bits != 0 && i < n; i++)
                o->refused += tamis_shared_insert_value_digest(
                                  set, tamis_hash_u64(tamis_shared_hasher(set), keys[i]),
                                  (unsigned)keys[i] & 1, NULL) != TAMIS_OK;
        }
    }
    status = tamis_shared_snapshot(set, NULL, filter);
    tamis_shared_free(set);
    return status;
}

/* Query 'n' keys from 'first' on; returns how many are claimed. */
static uint64_t ask(const tamis_filter *filter, uint64_t first, uint64_t n) {
    uint64_t keys[CHUNK];
    uint64_t found = 0;
    for (uint64_t at = 0; at < n;) {
        size_t now = 0;
        for (; now < CHUNK && at < n; now++)
            keys[now] = first + at++;
        found += tamis_filter_contains_many_u64(filter, keys, now, NULL);
    }
    return found;
}

/* Replace keys of a filter that holds 0 to n - 1, and count those that are not there afterwards. */
static bool replace(const tamis_need *need, tamis_filter *filter, uint64_t *random, outcome *o) {
    const uint64_t n = o->keys;
    const unsigned copies = copies_of(need);
    uint64_t next = n;
    uint64_t *const keys = malloc((size_t)n * sizeof *keys);
    if (keys == NULL)
        return false;
    for (uint64_t i = 0; i < n; i++)
        keys[i] = i;
    for (uint64_t step = 0; step < n * o->replaced; step++) {
        uint64_t *const key = &keys[draw(random) % n];
        for (unsigned c = 0; c < copies; c++)
            o->lost += tamis_filter_remove_u64(filter, *key) != TAMIS_OK;
        *key = next++;
        for (unsigned c = 0; c < copies; c++)
            o->refused += need->value_bits == 0
                              ? tamis_filter_insert_u64(filter, *key, NULL) != TAMIS_OK
                              : tamis_filter_insert_value(filter, key, sizeof *key,
                                                          (unsigned)*key & 1, NULL) != TAMIS_OK;
    }
    for (uint64_t i = 0; i < n; i++)
        o->lost += copies == 1 ? !tamis_filter_contains_u64(filter, keys[i])
                               : tamis_filter_copies_u64(filter, keys[i]) < copies;
    o->lost += tamis_filter_count(filter) != n * copies;
    free(keys);
    return true;
}

/* Filters to be built, and how often their keys are replaced. */
static void choose_amount(const tamis_need *need, bool changes, outcome *o) {
    const double n = (double)o->keys;
    double filters = fmin(FILTERS_MAX, fmax(1, 1e6 / n));
    if (changes) {
        const double times = need->replacements == 0 ? FOREVER : need->replacements;
        const double work = n * times * copies_of(need);
        filters = fmin(filters, fmax(LEAST_FILTERS, CHANGES_MAX / work));
        o->replaced = (unsigned)fmax(1, fmin(times, CHANGES_MAX / (n * filters)));
    }
    o->filters = (unsigned)filters;
}

static tamis_status measure(const tamis_need *need, bool changes, uint64_t *random, outcome *o) {
    const uint64_t capacity = o->keys;
    const double wanted = fmin(QUERIES_MAX, fmax(100000, 2000 / o->plan.fpr));
    choose_amount(need, changes, o);
    o->bytes_kept = true;
    for (unsigned i = 0; i < o->filters; i++) {
        tamis_params params = o->plan.params;
        tamis_filter *filter = NULL;
        tamis_info info;
        do
            params.seed = draw(random);
        while (params.seed == 0);
        const tamis_status status =
            (o->shards == 0 ? fill : fill_shared)(need, &params, o, &filter);
        if (status != TAMIS_OK)
            return status;
        if (filter == NULL) /* it was full; that has been counted */
            continue;
        const uint64_t sure = capacity < 1000000 ? capacity : 1000000;
        const uint64_t queries = (uint64_t)ceil(wanted / o->filters);
        o->lost += sure - ask(filter, 0, sure);
        if (changes && !replace(need, filter, random, o)) {
            tamis_filter_free(filter);
            return TAMIS_E_NOMEM;
        }
        o->hits += ask(filter, ABSENT, queries);
        o->queries += queries;
        tamis_info_init(&info);
        if (tamis_filter_info(filter, &info) == TAMIS_OK) {
            o->bytes_kept = o->bytes_kept && info.bytes == o->plan.bytes &&
                            (need->bytes == 0 || info.bytes <= need->bytes);
            o->rate_sum += info.fpr;
            o->rate_squares += info.fpr * info.fpr;
        }
        tamis_filter_free(filter);
    }
    return TAMIS_OK;
}

/* The standard error of the measured mean rate. */
static double standard_error(const outcome *o) {
    const double filters = o->filters;
    double between = 0;
    if (o->filters > 1) {
        const double mean = o->rate_sum / filters;
        between = fmax(0, o->rate_squares / filters - mean * mean) / (filters - 1);
    }
    return sqrt(o->plan.fpr / fmax(1, (double)o->queries) + between);
}

/* What was not kept, in a word; NULL if everything was. */
static const char *broken(const tamis_need *need, const outcome *o) {
    const double rate = (double)o->hits / fmax(1, (double)o->queries);
    const double asked = need->fpr == 0 ? 1 : need->grows ? need->fpr / 2 : need->fpr;
    if (o->plan.fpr > asked)
        return "PLAN";
    if (o->lost > 0)
        return "LOST";
    if (o->refused > 0)
        return "FULL";
    if (!o->bytes_kept)
        return "BYTES";
    if (rate > o->plan.fpr + SIGMAS * standard_error(o) + 0.5 / fmax(1, (double)o->queries))
        return "ERRORS";
    return NULL;
}

/* ---- the table ---- */

static void print_head(void) {
    puts("asked: B bytes, P rate or N keys were looked for; d deletes, c copies, v values, o "
         "overshoot, "
         "l lines,\n       f offline, g growth, r replacements");
    printf("%4s  %-15s %-7s %12s %12s %9s %9s %9s %8s %8s %8s  %s\n", "", "kind", "asked", "keys",
           "bytes", "bits/key", "rate", "measured", "+-", "filters", "replaced", "kept");
}

static void print_row(unsigned i, const tamis_need *need, const outcome *o) {
    const tamis_plan *const plan = &o->plan;
    const char *const what = broken(need, o);
    char flags[16];

    snprintf(flags, sizeof flags, "%s%s%s%s%s%s%s%s%s",
             need->n == 0     ? "N"
             : need->fpr == 0 ? "P"
                              : "B",
             need->deletes ? "d" : "", need->copies > 1 ? "c" : "", need->value_bits ? "v" : "",
             need->overshoot > 0 ? "o" : "", need->lines_max > 0 ? "l" : "",
             need->offline ? "f" : "", need->grows ? "g" : "", need->replacements > 0 ? "r" : "");
    printf("%4u  %-15s %-7s %12" PRIu64 " %12" PRIu64 " %9.2f %9.3g %9.3g %8.1g %8u %8u  %s\n", i,
           tamis_kind_name(plan->params.kind), flags, o->keys, plan->bytes, plan->bits_per_key,
           plan->fpr, (double)o->hits / fmax(1, (double)o->queries), standard_error(o), o->filters,
           o->replaced, what == NULL ? "yes" : what);
    fflush(stdout);
}

/* Plan a need, for so many threads or (0) for an ordinary set. */
static tamis_status make_plan(const tamis_need *need, unsigned threads, outcome *o) {
    tamis_plan_init(&o->plan);
    if (threads == 0) {
        const tamis_status status = tamis_plan_make(need, &o->plan);
        o->keys = o->plan.params.capacity;
        return status;
    }
    tamis_shared_plan made;
    tamis_shared_plan_init(&made);
    const tamis_status status = tamis_shared_plan_make(need, threads, &made);
    if (status != TAMIS_OK)
        return status;
    o->plan.params = made.params;
    o->plan.bytes = made.bytes;
    o->plan.bits_per_key = made.bits_per_key;
    o->plan.fpr = made.fpr;
    o->shards = made.shards;
    o->keys = made.n + (uint64_t)ceil((double)made.n * need->overshoot);
    return TAMIS_OK;
}

int plan_check(const char *command, unsigned rows, uint64_t most, uint64_t seed, unsigned threads,
               bool changes) {
    unsigned kept = 0;
    unsigned unplanned = 0;

    print_head();
    for (unsigned i = 1; i <= rows;) {
        tamis_need need;
        outcome o = {.hits = 0};
        if (changes)
            draw_changing_need(&seed, most, &need);
        else
            draw_need(&seed, threads == 0 ? 10 : SHARED_LEAST, most, &need);
        need.offline = need.offline && threads == 0;
        tamis_status status = make_plan(&need, threads, &o);
        if (status == TAMIS_E_UNSUPPORTED || status == TAMIS_E_TOO_LARGE ||
            (status == TAMIS_OK && o.keys > 2 * most)) {
            /* no kind can do all that, the bytes are too few, or they are for more keys than are wanted */
            if (++unplanned > DRAWS_PER_ROW * rows)
                return complain(command, "no plans can be made");
            continue;
        }
        if (status == TAMIS_OK)
            status = measure(&need, changes, &seed, &o);
        if (status != TAMIS_OK)
            return complain(command, "need %u: %s", i, tamis_status_text(status));
        print_row(i, &need, &o);
        if (ferror(stdout))
            return EXIT_TROUBLE; /* main() says why */
        kept += broken(&need, &o) == NULL;
        i++;
    }
    printf("\n%u of %u promises kept; %u needs had no plan\n", kept, rows, unplanned);
    return kept == rows ? EXIT_YES : EXIT_NO;
}
