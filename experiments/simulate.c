/* simulate.c - what the simulations on real structures share
 *
 * The standard error is that of the mean over the trials, so that it contains what differs from filter to
 * filter; where a trial has few hits it is at least that of counting them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "simulate.h"

#include <math.h>

enum { BATCH = 1024 };

/* Keys of a trial are consecutive integers, hashed with its seed. */
typedef struct row {
    uint64_t seed, n, next;
} row;

static bool row_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    row *const r = context;
    for (*n = 0; *n < room && r->next < r->n; ++*n)
        digests[*n] = tamis_hash_u64(r->seed, r->next++);
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
    row r = {.seed = params->seed, .n = keys};
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
    params.seed = trial + 1;
    if (e->offline == NULL)
        return make_one_by_one(&params, e->keys, filter);
    row r = {.seed = params.seed, .n = e->keys};
    const tamis_source source = {.read = row_read, .rewind = row_rewind, .context = &r};
    return tamis_filter_build(&params, &source, e->offline, NULL, filter);
}

/* Mean and standard error of values, one per trial. */
typedef struct series {
    double n, sum, squares;
} series;

static void series_add(series *s, double value) {
    s->n += 1;
    s->sum += value;
    s->squares += value * value;
}

static measured series_result(const series *s) {
    measured m = {.mean = s->sum / s->n, .standard_error = INFINITY};
    if (s->n > 1) {
        const double variance = (s->squares - s->sum * m.mean) / (s->n - 1);
        m.standard_error = sqrt(fmax(variance, 0) / s->n);
    }
    return m;
}

tamis_status simulate_rate(const experiment *e, uint64_t queries, measured *value) {
    series rates = {0, 0, 0};
    for (unsigned t = 0; t < e->trials; t++) {
        tamis_filter *filter;
        const tamis_status status = make(e, t, &filter);
        if (status != TAMIS_OK)
            return status;
        row r = {.seed = t + 1, .n = e->keys + queries, .next = e->keys};
        tamis_digest digests[BATCH];
        uint64_t hits = 0;
        size_t n;
        while (row_read(&r, digests, BATCH, &n) && n > 0)
            hits += tamis_filter_contains_many_digest(filter, digests, n, NULL);
        tamis_filter_free(filter);
        series_add(&rates, (double)hits / (double)queries);
    }
    *value = series_result(&rates);
    const double counting =
        sqrt(fmax(value->mean, 1 / ((double)queries * e->trials)) / ((double)queries * e->trials));
    value->standard_error = e->trials > 1 ? fmax(value->standard_error, counting) : counting;
    return TAMIS_OK;
}

tamis_status simulate_load(const experiment *e, unsigned load, measured *value) {
    series fractions = {0, 0, 0};
    double buckets = 0;
    for (unsigned t = 0; t < e->trials; t++) {
        tamis_filter *filter;
        tamis_info info;
        tamis_status status = make(e, t, &filter);
        if (status != TAMIS_OK)
            return status;
        tamis_info_init(&info);
        status = tamis_filter_info(filter, &info);
        tamis_filter_free(filter);
        if (status != TAMIS_OK)
            return status;
        buckets = 0;
        for (size_t i = 0; i < info.n_loads; i++)
            buckets += (double)info.load_histogram[i];
        series_add(&fractions,
                   load < info.n_loads ? (double)info.load_histogram[load] / buckets : 0);
    }
    *value = series_result(&fractions);
    /* None seen: less than about one in all that were looked at. */
    const double all = buckets * e->trials, counting = sqrt(fmax(value->mean, 1 / all) / all);
    value->standard_error = e->trials > 1 ? fmax(value->standard_error, counting) : counting;
    return TAMIS_OK;
}
