/* simulate.c - what the simulations on real structures share
 *
 * The standard error is that of the mean over the trials, so it includes the differences between
 * filters.  If a trial has few hits, it is at least that of counting them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1024, NAME = 64 };

/* -------------------------------------------------------------------------------------------------
 * Means
 */

void series_add(series *s, double value) {
    s->n += 1;
    s->sum += value;
    s->squares += value * value;
}

measured series_result(const series *s, double all) {
    measured m = {.mean = s->sum / s->n, .standard_error = 0, .expected = NAN};
    if (s->n > 1) {
        const double variance = (s->squares - s->sum * m.mean) / (s->n - 1);
        m.standard_error = sqrt(fmax(variance, 0) / s->n);
    } else if (all == 0) {
        m.standard_error = INFINITY;
    }
    if (all > 0) {
        const double happened = m.mean <= 1 ? m.mean * (1 - m.mean) : m.mean;
        m.standard_error = fmax(m.standard_error, sqrt(fmax(happened, 1 / all) / all));
    }
    return m;
}

measured exactly(double value, double expected) {
    return (measured){.mean = value, .standard_error = 0, .expected = expected};
}

/* -------------------------------------------------------------------------------------------------
 * Simulations that were already done
 */

struct memo {
    struct memo *next;
    char name[NAME];
    measured values[RUN_VALUES];
};

const measured *run_recall(const run *r, const char *name) {
    for (const struct memo *m = r->memos; m != NULL; m = m->next)
        if (strcmp(m->name, name) == 0)
            return m->values;
    return NULL;
}

tamis_status run_keep(run *r, const char *name, const measured *values, unsigned n) {
    struct memo *const m = malloc(sizeof *m);
    if (m == NULL)
        return TAMIS_E_NOMEM;
    strncpy(m->name, name, NAME - 1);
    m->name[NAME - 1] = '\0';
    for (unsigned i = 0; i < RUN_VALUES; i++)
        m->values[i] =
            i < n ? values[i] : (measured){.mean = NAN, .standard_error = NAN, .expected = NAN};
    m->next = r->memos;
    r->memos = m;
    return TAMIS_OK;
}

void run_end(run *r) {
    while (r->memos != NULL) {
        struct memo *const m = r->memos;
        r->memos = m->next;
        free(m);
    }
}

/* -------------------------------------------------------------------------------------------------
 * Filters
 */

/* Keys of a trial are consecutive integers, hashed with its seed. */
typedef struct row {
    tamis_hasher hasher;
    uint64_t n, next;
} row;

static row row_of(const tamis_params *params, uint64_t n, uint64_t next) {
    row r = {.n = n, .next = next};
    if (tamis_hasher_init(&r.hasher, params) != TAMIS_OK)
        r.n = next; /* no seed: no keys */
    return r;
}

static bool row_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    row *const r = context;
    for (*n = 0; *n < room && r->next < r->n; ++*n)
        digests[*n] = tamis_hash_u64(&r->hasher, r->next++);
    return true;
}

static bool row_rewind(void *context) {
    ((row *)context)->next = 0;
    return true;
}

static tamis_status make_one_by_one(const tamis_params *params, uint64_t keys,
                                    tamis_filter **filter) {
    tamis_filter *made;
    tamis_status status = tamis_filter_create(params, NULL, &made);
    if (status != TAMIS_OK)
        return status;
    row r = row_of(params, keys, 0);
    tamis_digest digests[BATCH];
    size_t n;
    while (status == TAMIS_OK && row_read(&r, digests, BATCH, &n) && n > 0)
        status = tamis_filter_insert_many_digest(made, digests, n, NULL, NULL);
    if (status != TAMIS_OK) {
        tamis_filter_free(made);
        return status;
    }
    *filter = made;
    return TAMIS_OK;
}

static tamis_status make(const experiment *e, unsigned trial, tamis_filter **filter) {
    tamis_params params = e->params;
    params.hash = TAMIS_HASH_XXH3; /* keys are integers, and nobody chooses them */
    params.seed = trial + 1;
    if (e->offline == NULL)
        return make_one_by_one(&params, e->keys, filter);
    row r = row_of(&params, e->keys, 0);
    const tamis_source source = {.read = row_read, .rewind = row_rewind, .context = &r};
    return tamis_filter_build(&params, &source, e->offline, NULL, filter);
}

tamis_status simulate_looks(const experiment *e, uint64_t queries, look *look_at, const double *all,
                            unsigned n, measured *values) {
    series seen[RUN_VALUES] = {{0, 0, 0}};
    for (unsigned t = 0; t < e->trials; t++) {
        tamis_filter *filter;
        tamis_status status = make(e, t, &filter);
        if (status != TAMIS_OK)
            return status;
        tamis_params params = e->params;
        params.hash = TAMIS_HASH_XXH3;
        params.seed = t + 1;
        row r = row_of(&params, e->keys + queries, e->keys);
        tamis_digest digests[BATCH];
        uint64_t hits = 0;
        size_t got;
        while (row_read(&r, digests, BATCH, &got) && got > 0)
            hits += tamis_filter_contains_many_digest(filter, digests, got, NULL);
        tamis_info info;
        tamis_info_init(&info);
        status = tamis_filter_info(filter, &info);
        tamis_filter_free(filter);
        if (status != TAMIS_OK)
            return status;
        double one[RUN_VALUES] = {0};
        look_at(&info, queries > 0 ? (double)hits / (double)queries : NAN, one);
        for (unsigned i = 0; i < n; i++)
            series_add(&seen[i], one[i]);
    }
    for (unsigned i = 0; i < n; i++)
        values[i] = series_result(&seen[i], all[i] * e->trials);
    return TAMIS_OK;
}

static void look_at_rate(const tamis_info *info, double rate, double *values) {
    (void)info;
    values[0] = rate;
}

tamis_status simulate_rate(const experiment *e, uint64_t queries, measured *value) {
    const double all = (double)queries;
    return simulate_looks(e, queries, look_at_rate, &all, 1, value);
}

static void look_at_loads(const tamis_info *info, double rate, double *values) {
    double buckets = 0;
    (void)rate;
    for (size_t i = 0; i < info->n_loads; i++)
        buckets += (double)info->load_histogram[i];
    for (unsigned i = 0; i < RUN_VALUES && i < info->n_loads; i++)
        values[i] = (double)info->load_histogram[i] / buckets;
}

tamis_status simulate_loads(const experiment *e, uint64_t buckets, unsigned n, measured *values) {
    double all[RUN_VALUES];
    for (unsigned i = 0; i < RUN_VALUES; i++)
        all[i] = (double)buckets;
    return simulate_looks(e, 0, look_at_loads, all, n, values);
}
