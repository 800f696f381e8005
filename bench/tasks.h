/* tasks.h - 'tamis bench --task': questions that are not about one large table
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BENCH_TASKS_H
#define TAMIS_BENCH_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis/tamis.h>

#include "bench/bench.h"

/* ---- small sets: small_run.c ---- */

/* Sets of n keys in one form. */
typedef struct bench_small_row {
    const char *form;
    size_t n;
    size_t bytes;
    double fpr;       /* measured */
    double predicted; /* NaN: the form does not say */
    double build_ns;  /* per key, with its hash */
    double ask_ns;    /* per absent key, with its hash */
} bench_small_row;

/* Measure all forms with 1 to 5,000 keys, 'rounds' times; the median of the times counts.  NULL, or what went
 * wrong. */
enum { BENCH_SMALL_ROWS = 40 };
const char *bench_small_run(unsigned rounds, bench_small_row rows[BENCH_SMALL_ROWS],
                            size_t *n_rows);

/* ---- one set for many threads: shared_run.c ---- */

/* One subject, with so many writes of 100 pieces of work, in batches or one by one. */
typedef struct bench_shared_row {
    const char *name;
    unsigned writes;
    bool batch;
    double one_ns, all_ns; /* per key, of the whole: by one thread, and by all; NaN: not possible */
    double ratio;          /* of one thread to an ordinary set */
    double speedup;        /* of all threads over one */
} bench_shared_row;

/* Measure sets of this kind (0: what is planned) for setup->n keys and more, used by setup->threads. */
enum { BENCH_SHARED_SHARES = 4, BENCH_SHARED_ROWS = 5 * BENCH_SHARED_SHARES * 2 };
const char *bench_shared_run(const bench_setup *setup, tamis_kind kind,
                             bench_shared_row rows[BENCH_SHARED_ROWS], size_t *n_rows);
/* ---- windows: window_run.c ---- */

/* One way to remember the keys of the last ticks. */
typedef struct bench_window_row {
    const char *form;
    uint64_t n; /* keys at one time */
    unsigned ticks;
    uint64_t bytes;
    double fpr;        /* measured */
    double insert_ns;  /* per new key, ticks included */
    double absent_ns;  /* per query */
    double present_ns; /* per query, of all ages alike */
    double longest_us; /* of the slowest insert or tick of a round of ticks */
    double step_us;    /* of the slowest step that clears one bucket; 0: there are no steps */
} bench_window_row;

/* Measure all forms with n keys at a time; the median of 'rounds' turns over all ticks counts.  NULL, or what
 * went wrong. */
enum { BENCH_WINDOW_ROWS = 12 };
const char *bench_window_run(uint64_t n, unsigned rounds, bench_window_row rows[BENCH_WINDOW_ROWS],
                             size_t *n_rows);

/* ---- plans: plan_run.c ---- */

/* One need: by the table or closed form, and by a search. */
typedef struct bench_plan_row {
    uint64_t n;
    double fpr;
    bool deletes;
    double quick_us, search_us;
    uint64_t quick_bytes, search_bytes;
} bench_plan_row;

/* Measure plans; the median of 'rounds' counts.  NULL, or what went wrong. */
enum { BENCH_PLAN_ROWS = 24 };
const char *bench_plan_run(unsigned rounds, bench_plan_row rows[BENCH_PLAN_ROWS], size_t *n_rows);

/* ---- LevelDB's filter of n keys, at 10 bits per key: peer_leveldb.cc ---- */

/* Its bytes, if they fit in 'room'; 0 if not. */
size_t bench_leveldb_build(const tamis_bytes *keys, size_t n, unsigned char *out, size_t room);
bool bench_leveldb_contains(const unsigned char *bytes, size_t size, tamis_bytes key);

#endif
