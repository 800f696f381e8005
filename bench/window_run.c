/* window_run.c - sets that forget: one window, and what is done without
 *
 *      window             tamis/window.h, planned for the fewest bytes
 *      window, fast       the same, planned for the fewest lines
 *      rotating bloom     a Bloom filter per tick, T + 1 of them: a key is asked for in each, the youngest
 *                         first, and after a tick the oldest is emptied and becomes the youngest
 *      rotating blocked   the same with blocked Bloom filters
 *
 * All hold n keys, those of T + 1 ticks, with an error rate of 0.001 in all: each of the rotating ones
 * has a part of that rate.  Keys are new all the time, integers, one call each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/tasks.h"

#include "bench/bench.h"

#include <tamis/plan.h>
#include <tamis/window.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 101, ASKS = 200000 };
static const double rate = 0.001;

/* The sets of a form: one, or one per tick. */
typedef struct sets {
    tamis_filter *set[TAMIS_WINDOW_TICKS_MAX + 1];
    unsigned n, newest;
} sets;

typedef struct form {
    const char *name;
    tamis_kind kind;
    tamis_order order;
} form;

static bool is_window(const form *f) {
    return f->kind == TAMIS_KIND_WINDOW;
}

static bool sets_make(const form *f, uint64_t n, unsigned ticks, sets *s) {
    tamis_need need;
    tamis_plan plan;
    tamis_need_init(&need);
    tamis_plan_init(&plan);
    s->n = 0;
    s->newest = 0;
    const unsigned wanted = is_window(f) ? 1 : ticks + 1;
    need.kind = f->kind;
    need.order = f->order;
    need.n = n / wanted;
    need.fpr = rate / wanted;
    need.ticks = is_window(f) ? ticks : 0;
    if (tamis_plan_make(&need, &plan) != TAMIS_OK)
        return false;
    plan.params.seed = 1; /* one hash for all */
    while (s->n < wanted && tamis_filter_create(&plan.params, NULL, &s->set[s->n]) == TAMIS_OK)
        s->n++;
    return s->n == wanted;
}

static void sets_free(sets *s) {
    while (s->n > 0)
        tamis_filter_free(s->set[--s->n]);
}

static uint64_t sets_bytes(const sets *s) {
    tamis_info info;
    tamis_info_init(&info);
    return tamis_filter_info(s->set[0], &info) == TAMIS_OK ? s->n * info.bytes : 0;
}

static bool sets_insert(sets *s, uint64_t key) {
    return tamis_filter_insert_u64(s->set[s->newest], key, NULL) == TAMIS_OK;
}

/* One hash, and then the sets from the youngest on. */
static bool sets_contain(const sets *s, uint64_t key) {
    if (s->n == 1)
        return tamis_filter_contains_u64(s->set[0], key);
    const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(s->set[0]), key);
    for (unsigned i = 0; i < s->n; i++) {
        const unsigned number = s->newest >= i ? s->newest - i : s->newest + s->n - i;
        if (tamis_filter_contains_digest(s->set[number], digest))
            return true;
    }
    return false;
}

static bool sets_tick(sets *s) {
    if (s->n == 1)
        return tamis_window_tick(s->set[0]) == TAMIS_OK;
    s->newest = s->newest + 1 == s->n ? 0 : s->newest + 1;
    return tamis_filter_clear(s->set[s->newest]) == TAMIS_OK;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned n) {
    qsort(values, n, sizeof *values, by_size);
    return values[n / 2];
}

/* T + 1 ticks of new keys, from number '*key' on.  Every 64th insert is timed by itself. */
static bool fill(sets *s, uint64_t per_tick, unsigned ticks, uint64_t *key, double *ns,
                 double *longest) {
    const double start = bench_seconds();
    *longest = 0;
    for (unsigned tick = 0; tick <= ticks; tick++) {
        double from = bench_seconds();
        if (!sets_tick(s))
            return false;
        *longest = fmax(*longest, bench_seconds() - from);
        for (uint64_t i = 0; i < per_tick; i++) {
            const bool timed = i % 64 == 0;
            from = timed ? bench_seconds() : 0;
            if (!sets_insert(s, bench_key((*key)++)))
                return false;
            if (timed)
                *longest = fmax(*longest, bench_seconds() - from);
        }
    }
    *ns = 1e9 * (bench_seconds() - start) / (double)(per_tick * (ticks + 1));
    return true;
}

/* One tick more, whose clearing is done in steps of one bucket, before any insert: the longest of them. */
static bool clear_in_steps(sets *s, double *longest) {
    uint64_t left = 1;
    *longest = 0;
    if (!sets_tick(s))
        return false;
    while (left > 0) {
        const double from = bench_seconds();
        if (tamis_window_step(s->set[0], 1, &left) != TAMIS_OK)
            return false;
        *longest = fmax(*longest, bench_seconds() - from);
    }
    return true;
}

static const char *measure(const form *f, uint64_t n, unsigned ticks, unsigned rounds,
                           bench_window_row *row) {
    double insert[ROUNDS_MAX], absent[ROUNDS_MAX], present[ROUNDS_MAX], longest[ROUNDS_MAX],
        steps[ROUNDS_MAX];
    const uint64_t per_tick = n / (ticks + 1), in = per_tick * (ticks + 1);
    uint64_t key = 0, asked = 0, wrong = 0, random = 7;
    const char *trouble = NULL;
    sets s;
    if (!sets_make(f, n, ticks, &s))
        trouble = "it cannot be made";
    for (unsigned r = 0; trouble == NULL && r < rounds + 1; r++) { /* the first fills it */
        double ns, worst, step = 0;
        if (!fill(&s, per_tick, ticks, &key, &ns, &worst)) {
            trouble = "a key was refused";
            break;
        }
        const double start = bench_seconds();
        for (unsigned i = 0; i < ASKS; i++)
            wrong += sets_contain(&s, bench_key(BENCH_ABSENT + asked++));
        const double middle = bench_seconds();
        uint64_t found = 0;
        for (unsigned i = 0; i < ASKS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            found +=
                sets_contain(&s, bench_key(key - 1 - (random >> 32) * in / ((uint64_t)1 << 32)));
        }
        const double end = bench_seconds();
        if (found != ASKS)
            trouble = "it has lost a key";
        if (is_window(f) && !clear_in_steps(&s, &step))
            trouble = "it cannot be cleared";
        if (r == 0)
            continue;
        steps[r - 1] = 1e6 * step;
        insert[r - 1] = ns;
        absent[r - 1] = 1e9 * (middle - start) / ASKS;
        present[r - 1] = 1e9 * (end - middle) / ASKS;
        longest[r - 1] = 1e6 * worst;
    }
    if (trouble == NULL)
        *row = (bench_window_row){.form = f->name,
                                  .n = n,
                                  .ticks = ticks,
                                  .bytes = sets_bytes(&s),
                                  .fpr = (double)wrong / (double)asked,
                                  .insert_ns = median(insert, rounds),
                                  .absent_ns = median(absent, rounds),
                                  .present_ns = median(present, rounds),
                                  .longest_us = median(longest, rounds),
                                  .step_us = median(steps, rounds)};
    sets_free(&s);
    return trouble;
}

const char *bench_window_run(uint64_t n, unsigned rounds, bench_window_row rows[BENCH_WINDOW_ROWS],
                             size_t *n_rows) {
    static const unsigned ticks[] = {2, 8, 24};
    static const form forms[] = {{"window", TAMIS_KIND_WINDOW, TAMIS_ORDER_BYTES},
                                 {"window, fast", TAMIS_KIND_WINDOW, TAMIS_ORDER_LINES},
                                 {"rotating bloom", TAMIS_KIND_BLOOM, TAMIS_ORDER_BYTES},
                                 {"rotating blocked", TAMIS_KIND_BLOCKED_BLOOM, TAMIS_ORDER_BYTES}};
    const unsigned n_rounds = rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX;
    *n_rows = 0;
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            const char *const trouble = measure(&forms[k], n, ticks[i], n_rounds, &rows[*n_rows]);
            if (trouble != NULL)
                return trouble;
            ++*n_rows;
        }
    return NULL;
}
