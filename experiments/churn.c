/* churn.c - the experiment of both papers on counting filters
 *
 * SPDX-License-Identifier: MIT
 */
#include "churn.h"

#include "simulate.h"

#include <stdlib.h>

enum { WATCHED = 512 };

static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The result of one trial. */
typedef struct trial {
    double rate, at_least[CHURN_LOADS], arrivals, buckets;
    uint64_t stash_most, stash_last;
} trial;

static tamis_status look_at_stash(const tamis_filter *filter, trial *t) {
    tamis_info info;
    tamis_info_init(&info);
    const tamis_status status = tamis_filter_info(filter, &info);
    if (status == TAMIS_OK) {
        if (info.stash_used > t->stash_last)
            t->arrivals += (double)(info.stash_used - t->stash_last);
        t->stash_last = info.stash_used;
        if (info.stash_used > t->stash_most)
            t->stash_most = info.stash_used;
    }
    return status;
}

/* Keys are 0, 1, 2, ...: no two are alike. present[] holds those in the filter. */
static tamis_status change(tamis_filter *filter, const churn *c, bool watch, uint64_t *present,
                           uint64_t *next, trial *t) {
    tamis_status status = c->keys > 0 ? TAMIS_OK : TAMIS_E_ARGUMENT;
    uint64_t state = c->params.seed;
    for (; *next < c->keys && status == TAMIS_OK; ++*next) {
        present[*next] = *next;
        status = tamis_filter_insert_u64(filter, *next, NULL);
    }
    for (uint64_t k = 0; k < c->rounds && status == TAMIS_OK; k++) {
        uint64_t *const chosen = &present[random_next(&state) % c->keys];
        status = tamis_filter_remove_u64(filter, *chosen);
        *chosen = (*next)++;
        if (status == TAMIS_OK)
            status = tamis_filter_insert_u64(filter, *chosen, NULL);
        if (watch && k >= c->settle && k % WATCHED == 0 && status == TAMIS_OK)
            status = look_at_stash(filter, t);
        if (k == c->settle)
            t->arrivals = 0; /* the present ones came before */
    }
    return status;
}

static tamis_status measure(const tamis_filter *filter, const churn *c, const uint64_t *present,
                            uint64_t next, trial *t) {
    for (uint64_t k = 0; k < c->keys; k++)
        if (!tamis_filter_contains_u64(filter, present[k]))
            return TAMIS_E_NOT_FOUND;
    uint64_t hits = 0;
    for (uint64_t k = 0; k < c->queries; k++)
        hits += tamis_filter_contains_u64(filter, next++) ? 1 : 0;
    t->rate = (double)hits / (double)c->queries;
    tamis_info info;
    tamis_info_init(&info);
    const tamis_status status = tamis_filter_info(filter, &info);
    if (status != TAMIS_OK)
        return status;
    double buckets = 0;
    for (unsigned i = CHURN_LOADS; i-- > 0;)
        t->at_least[i] = buckets += i < info.n_loads ? (double)info.load_histogram[i] : 0;
    for (unsigned i = 0; i < CHURN_LOADS; i++)
        t->at_least[i] /= buckets;
    t->buckets = buckets;
    return look_at_stash(filter, t);
}

tamis_status churn_run(const churn *c, bool watch, churn_result *result) {
    const double n = (double)c->trials;
    uint64_t *const present = malloc(c->keys * sizeof *present);
    if (present == NULL)
        return TAMIS_E_NOMEM;
    tamis_status status = TAMIS_OK;
    *result = (churn_result){.overflowed = 0};
    series rate = {0, 0, 0}, arrivals = {0, 0, 0}, at_least[CHURN_LOADS] = {{0, 0, 0}};
    double buckets = 1;
    for (uint64_t i = 0; i < c->trials && status == TAMIS_OK; i++) {
        churn own = *c;
        tamis_filter *filter;
        trial t = {.rate = 0};
        uint64_t next = 0;
        own.params.seed += i;
        status = tamis_filter_create(&own.params, NULL, &filter);
        if (status != TAMIS_OK)
            break;
        status = change(filter, &own, watch, present, &next, &t);
        if (status == TAMIS_OK)
            status = measure(filter, &own, present, next, &t);
        tamis_filter_free(filter);
        series_add(&rate, t.rate);
        series_add(&arrivals, t.arrivals);
        for (unsigned j = 0; j < CHURN_LOADS; j++)
            series_add(&at_least[j], t.at_least[j]);
        buckets = t.buckets;
        result->overflowed += (t.arrivals > 0 ? 1 : 0) / n;
        if (t.stash_most > result->stash_most)
            result->stash_most = t.stash_most;
    }
    free(present);
    result->rate = series_result(&rate, n * (double)c->queries);
    result->arrivals = series_result(&arrivals, 0);
    for (unsigned j = 0; j < CHURN_LOADS; j++)
        result->at_least[j] = series_result(&at_least[j], n * buckets);
    return status;
}
