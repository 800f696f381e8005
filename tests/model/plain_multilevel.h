/* plain_multilevel.h - a multilevel hash table as the paper describes it, without any cleverness
 *
 * What the tests of the models share: it is enumerated, simulated and rebuilt.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_PLAIN_MULTILEVEL_H
#define TAMIS_TESTS_PLAIN_MULTILEVEL_H

#include "support.h"
#include "tamis/model.h"

#include <math.h>

enum { TABLES_MAX = 6 };

static const uint64_t table_10k[5] = {40000, 10000, 5000, 2500, 2500};
static const uint64_t table_100k[6] = {400000, 100000, 50000, 25000, 12500, 12500};

static inline double *new_doubles(size_t n) {
    double *const block = calloc(n, sizeof *block);
    assert_non_null(block);
    return block;
}

/* Memory for the models to work in, for tables of n items; to be freed. */
typedef struct workspace {
    double *at;
    size_t len;
} workspace;

static inline workspace new_workspace(uint64_t n) {
    const size_t len = tamis_model_multilevel_work(n);
    const workspace work = {new_doubles(len), len};
    return work;
}

/* A table to be tried: its items and sub-tables. */
typedef struct plain_case {
    unsigned n;
    unsigned n_tables;
    uint64_t buckets[TABLES_MAX];
} plain_case;

/* A call that a model refuses. */
typedef struct bad_call {
    uint64_t n;
    const uint64_t *buckets;
    unsigned n_tables;
    size_t work_len;
    tamis_status status;
} bad_call;

static inline void assert_close(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g, expected %.17g within %g", value, expected, relative);
}

/* Rounds to what the paper prints, 'half' being half a unit of its last digit. */
static inline void assert_printed(double value, double printed, double half) {
    if (!(fabs(value - printed) <= half * (1 + 1e-9)))
        fail_msg("%.9g does not round to the printed %.9g", value, printed);
}

static inline void assert_mean(const char *what, double sum, double sum_of_squares, unsigned trials,
                               double expected, double extra) {
    const double mean = sum / trials;
    const double variance = sum_of_squares / trials - mean * mean;
    const double width = 3.2905 * sqrt((variance > 0 ? variance : 0) / trials) + extra;
    printf("# %s: mean %.5g, expected %.5g +- %.2g (99.9 %%)\n", what, mean, expected, width);
    if (!(fabs(mean - expected) <= width))
        fail_msg("%s: mean %.6g, expected %.6g +- %.3g", what, mean, expected, width);
}

/* -------------------------------------------------------------------------------------------------
 * A multilevel table as the paper describes it, for enumeration and simulation
 */

enum { NOBODY = -1, NOWHERE = -1 };

typedef struct plain_table {
    unsigned n_tables;
    const uint64_t *buckets;
    unsigned n;
    int *holder; /* item in each bucket of all sub-tables, or NOBODY */
    size_t start[TABLES_MAX];
    size_t n_buckets;
    uint32_t *place; /* [item * n_tables + i]: its bucket in sub-table i */
    int *type;       /* sub-table of each item from 0, or NOWHERE */
    bool *deleted;
} plain_table;

static inline void plain_init(plain_table *t, unsigned n, const uint64_t *buckets,
                              unsigned n_tables) {
    *t = (plain_table){.n_tables = n_tables, .buckets = buckets, .n = n};
    for (unsigned i = 0; i < n_tables; i++) {
        t->start[i] = t->n_buckets;
        t->n_buckets += (size_t)buckets[i];
    }
    t->holder = calloc(t->n_buckets, sizeof *t->holder);
    t->place = calloc((size_t)n * n_tables, sizeof *t->place);
    t->type = calloc(n, sizeof *t->type);
    t->deleted = calloc(n, sizeof *t->deleted);
    assert_true(t->holder != NULL && t->place != NULL && t->type != NULL && t->deleted != NULL);
}

static inline void plain_free(plain_table *t) {
    free(t->holder);
    free(t->place);
    free(t->type);
    free(t->deleted);
}

static inline void plain_random_places(plain_table *t, uint64_t *state) {
    for (unsigned x = 0; x < t->n; x++)
        for (unsigned i = 0; i < t->n_tables; i++)
            t->place[x * t->n_tables + i] = (uint32_t)test_random_below(state, t->buckets[i]);
}

static inline int *plain_bucket(const plain_table *t, unsigned item, unsigned i) {
    return &t->holder[t->start[i] + t->place[item * t->n_tables + i]];
}

/* Insert all items into the empty table; the number that found no place. */
static inline unsigned plain_fill(plain_table *t) {
    unsigned homeless = 0;
    for (size_t b = 0; b < t->n_buckets; b++)
        t->holder[b] = NOBODY;
    for (unsigned x = 0; x < t->n; x++) {
        unsigned i = 0;
        while (i < t->n_tables && *plain_bucket(t, x, i) != NOBODY)
            i++;
        t->deleted[x] = false;
        t->type[x] = i < t->n_tables ? (int)i : NOWHERE;
        if (i < t->n_tables)
            *plain_bucket(t, x, i) = (int)x;
        else
            homeless++;
    }
    return homeless;
}

/* M' of the paper: survivors with a deleted item in one of the buckets before their own. */
static inline unsigned plain_disturbed(const plain_table *t) {
    unsigned count = 0;
    for (unsigned x = 0; x < t->n; x++) {
        bool disturbed = false;
        for (int i = 0; i < t->type[x]; i++)
            disturbed |= t->deleted[*plain_bucket(t, x, (unsigned)i)];
        count += disturbed && !t->deleted[x];
    }
    return count;
}

/* M of the paper: the moves of the rebuild that section XI-A describes. */
static inline unsigned plain_rebuild(plain_table *t) {
    for (unsigned x = 0; x < t->n; x++)
        if (t->deleted[x] && t->type[x] != NOWHERE)
            *plain_bucket(t, x, (unsigned)t->type[x]) = NOBODY;
    unsigned moves = 0;
    for (unsigned i = 1; i < t->n_tables; i++)
        for (uint64_t b = 0; b < t->buckets[i]; b++) {
            const int x = t->holder[t->start[i] + b];
            if (x == NOBODY)
                continue;
            unsigned to = 0;
            while (to < i && *plain_bucket(t, (unsigned)x, to) != NOBODY)
                to++;
            if (to == i)
                continue;
            *plain_bucket(t, (unsigned)x, to) = x;
            t->holder[t->start[i] + b] = NOBODY;
            moves++;
        }
    return moves;
}

#endif
