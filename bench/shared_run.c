/* shared_run.c - one set, used by threads that read and write
 *
 * The same work is done by one thread with an ordinary set, and by one thread and by all with a set that
 * threads share, with an ordinary set behind a read-write lock and behind a mutex of the system, and with the
 * calibrator: reads of random lines in a table of the same size, of which inserts write one word.
 *
 * n keys are in at the beginning.  Work is done in pieces of PIECE keys: a piece is read, half of its keys
 * being present, or written, new keys that are inserted; the share of pieces that are written is the share
 * of writes.  A piece is one batch, or as many single calls; behind a lock of the system it is one batch
 * under the lock, or a lock for each call.  The time from the start to the end of the last thread counts.
 *
 * Keys that are written are new each time; the sets are emptied and filled again from round to round.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "bench/tasks.h"

#include "bench/bench.h"

#include <tamis/shared.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PIECE      4096u
#define ROUNDS_MAX 101u

typedef struct subject subject;
typedef size_t worker(subject *s, const uint64_t *keys, bool write, bool batch);

struct subject {
    const char *name;
    worker *work;
    tamis_shared *shared;
    tamis_filter *filter;
    pthread_rwlock_t rwlock;
    pthread_mutex_t mutex;
    _Atomic uint64_t *lines; /* of the calibrator */
    uint64_t n_lines;
    size_t size;
};

/* ---- what is measured ---- */

static size_t plain_work(subject *s, const uint64_t *keys, bool write, bool batch) {
    size_t done = 0;
    if (batch && write)
        return tamis_filter_insert_many_u64(s->filter, keys, PIECE, NULL, &done) == TAMIS_OK ? done
                                                                                             : 0;
    if (batch)
        return tamis_filter_contains_many_u64(s->filter, keys, PIECE, NULL);
    for (size_t i = 0; i < PIECE; i++)
        done += write ? tamis_filter_insert_u64(s->filter, keys[i], NULL) == TAMIS_OK
                      : tamis_filter_contains_u64(s->filter, keys[i]);
    return done;
}

static size_t shared_work(subject *s, const uint64_t *keys, bool write, bool batch) {
    size_t done = 0;
    if (batch && write)
        return tamis_shared_insert_many_u64(s->shared, keys, PIECE, NULL, NULL, &done) == TAMIS_OK
                   ? done
                   : 0;
    if (batch)
        return tamis_shared_contains_many_u64(s->shared, keys, PIECE, NULL);
    for (size_t i = 0; i < PIECE; i++)
        done += write ? tamis_shared_insert_u64(s->shared, keys[i], NULL) == TAMIS_OK
                      : tamis_shared_contains_u64(s->shared, keys[i]);
    return done;
}

static void take(subject *s, bool rw, bool write) {
    if (!rw)
        (void)pthread_mutex_lock(&s->mutex);
    else if (write)
        (void)pthread_rwlock_wrlock(&s->rwlock);
    else
        (void)pthread_rwlock_rdlock(&s->rwlock);
}

static void leave(subject *s, bool rw) {
    if (rw)
        (void)pthread_rwlock_unlock(&s->rwlock);
    else
        (void)pthread_mutex_unlock(&s->mutex);
}

static size_t locked_work(subject *s, const uint64_t *keys, bool write, bool batch, bool rw) {
    size_t done = 0;
    if (batch) {
        take(s, rw, write);
        done = plain_work(s, keys, write, true);
        leave(s, rw);
        return done;
    }
    for (size_t i = 0; i < PIECE; i++) {
        take(s, rw, write);
        done += write ? tamis_filter_insert_u64(s->filter, keys[i], NULL) == TAMIS_OK
                      : tamis_filter_contains_u64(s->filter, keys[i]);
        leave(s, rw);
    }
    return done;
}

static size_t rwlock_work(subject *s, const uint64_t *keys, bool write, bool batch) {
    return locked_work(s, keys, write, batch, true);
}

static size_t mutex_work(subject *s, const uint64_t *keys, bool write, bool batch) {
    return locked_work(s, keys, write, batch, false);
}

#if defined(__GNUC__)
#define FETCH(p) __builtin_prefetch((const void *)(p), 0, 3)
#else
#define FETCH(p) ((void)(p))
#endif

static size_t line_of(const subject *s, uint64_t key) {
    return (size_t)((key >> 32) * s->n_lines >> 32) * 8;
}

static size_t calibrator_work(subject *s, const uint64_t *keys, bool write, bool batch) {
    uint64_t sum = 0;
    for (size_t i = 0; i < PIECE; i++) {
        if (batch && i + 32 < PIECE)
            FETCH(&s->lines[line_of(s, keys[i + 32])]);
        _Atomic uint64_t *const line = &s->lines[line_of(s, keys[i])];
        sum += atomic_load_explicit(line, memory_order_relaxed);
        if (write)
            atomic_store_explicit(line, keys[i], memory_order_relaxed);
    }
    return (size_t)(sum & 1);
}

/* ---- threads ---- */

typedef struct bench {
    subject *subject;
    bool batch;
    unsigned writes; /* of 100 pieces */
    uint64_t pieces;
    const uint64_t *reads,
        *fresh;            /* keys to ask for, and to insert: each as many as all pieces have */
    _Atomic uint64_t next; /* the next piece */
    _Atomic uint64_t found;
    pthread_barrier_t barrier;
} bench;

typedef struct hand {
    bench *bench;
    double from, to;
} hand;

/* Each thread looks at the clock itself: one that only waited for them would be woken when a processor is
 * free, which may be milliseconds after they began. */
static void *run_thread(void *argument) {
    hand *const h = argument;
    bench *const b = h->bench;
    uint64_t piece;
    (void)pthread_barrier_wait(&b->barrier);
    h->from = bench_seconds();
    while ((piece = atomic_fetch_add(&b->next, 1)) < b->pieces) {
        const bool write = piece * 37 % 100 < b->writes;
        const uint64_t *const keys = (write ? b->fresh : b->reads) + piece * PIECE;
        atomic_fetch_add(&b->found, b->subject->work(b->subject, keys, write, b->batch));
    }
    h->to = bench_seconds();
    return NULL;
}

/* Nanoseconds per key; NaN if threads cannot be started. */
static double wall(bench *b, unsigned threads) {
    pthread_t ids[BENCH_THREADS_MAX];
    static hand hands[BENCH_THREADS_MAX]; /* outlives those that wait below */
    unsigned started = 0;
    b->next = 0;
    if (pthread_barrier_init(&b->barrier, NULL, threads) != 0)
        return NAN;
    for (; started < threads; started++) {
        hands[started] = (hand){.bench = b};
        if (pthread_create(&ids[started], NULL, run_thread, &hands[started]) != 0)
            return NAN; /* those that wait end with the program */
    }
    double from = INFINITY, to = 0;
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(ids[i], NULL);
        from = fmin(from, hands[i].from);
        to = fmax(to, hands[i].to);
    }
    (void)pthread_barrier_destroy(&b->barrier);
    return 1e9 * (to - from) / ((double)b->pieces * PIECE);
}

/* ---- all of it ---- */

enum { PLAIN, SHARED, RWLOCK, MUTEX, CALIBRATOR, SUBJECTS };
static const unsigned shares[BENCH_SHARED_SHARES] = {0, 5, 50, 100};

typedef struct all {
    subject subjects[SUBJECTS];
    uint64_t *reads, *fresh;
    uint64_t n, pieces;
    unsigned threads;
    double *times; /* [round][subject][share][batch][one, all] */
} all;

static double *time_at(all *a, unsigned round, unsigned which, unsigned share, bool batch,
                       bool many) {
    return &a->times[(((round * SUBJECTS + which) * BENCH_SHARED_SHARES + share) * 2 + batch) * 2 +
                     many];
}

/* Empty the sets and put the first n keys in. */
static bool refill(all *a) {
    uint64_t keys[PIECE];
    tamis_shared *const shared = a->subjects[SHARED].shared;
    tamis_filter *const filter = a->subjects[PLAIN].filter;
    if (tamis_filter_clear(filter) != TAMIS_OK || tamis_shared_clear(shared) != TAMIS_OK)
        return false;
    for (uint64_t at = 0; at < a->n;) {
        size_t n = 0;
        for (; n < PIECE && at < a->n; n++)
            keys[n] = bench_key(at++);
        if (tamis_filter_insert_many_u64(filter, keys, n, NULL, NULL) != TAMIS_OK ||
            tamis_shared_insert_many_u64(shared, keys, n, NULL, NULL, NULL) != TAMIS_OK)
            return false;
    }
    return true;
}

/* One run has keys of its own to write. */
static void make_fresh(all *a, uint64_t run) {
    const uint64_t n = a->pieces * PIECE;
    for (uint64_t i = 0; i < n; i++)
        a->fresh[i] = bench_key(a->n + run * n + i);
}

static const char *measure_round(all *a, unsigned round) {
    uint64_t run = 0;
    if (round > 0 && !refill(a))
        return "the sets cannot be filled";
    for (unsigned share = 0; share < BENCH_SHARED_SHARES; share++)
        for (unsigned batch = 0; batch < 2; batch++) {
            for (unsigned turn = 0; turn < 2; turn++)
                for (unsigned i = 0; i < SUBJECTS; i++) {
                    const unsigned which = (i + round) % SUBJECTS, many = (turn + round) % 2;
                    if (which == PLAIN && many)
                        continue;
                    if (shares[share] != 0)
                        make_fresh(a, run++);
                    bench b = {.subject = &a->subjects[which],
                               .batch = batch != 0,
                               .writes = shares[share],
                               .pieces = a->pieces,
                               .reads = a->reads,
                               .fresh = a->fresh};
                    double *const time = time_at(a, round, which, share, batch != 0, many != 0);
                    *time = wall(&b, many ? a->threads : 1);
                    if (isnan(*time))
                        return "threads cannot be started";
                    if (which != CALIBRATOR && b.found < a->pieces * PIECE / 2)
                        return "a key that was inserted is not found";
                }
        }
    return NULL;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the rounds of a quotient of two times. */
static double median_of(all *a, unsigned rounds, const unsigned over[3], const unsigned under[3],
                        unsigned share) {
    double values[ROUNDS_MAX];
    for (unsigned r = 0; r < rounds; r++)
        values[r] =
            *time_at(a, r, over[0], share, over[1] != 0, over[2] != 0) /
            (under == NULL ? 1 : *time_at(a, r, under[0], share, under[1] != 0, under[2] != 0));
    qsort(values, rounds, sizeof *values, by_size);
    return values[rounds / 2];
}

static void fill_rows(all *a, unsigned rounds, bench_shared_row *rows, size_t *n_rows) {
    *n_rows = 0;
    for (unsigned share = 0; share < BENCH_SHARED_SHARES; share++)
        for (unsigned batch = 0; batch < 2; batch++)
            for (unsigned which = 0; which < SUBJECTS; which++) {
                const unsigned one[3] = {which, batch, 0}, many[3] = {which, batch, 1},
                               plain[3] = {PLAIN, batch, 0};
                rows[(*n_rows)++] = (bench_shared_row){
                    .name = a->subjects[which].name,
                    .writes = shares[share],
                    .batch = batch != 0,
                    .one_ns = median_of(a, rounds, one, NULL, share),
                    .all_ns = which == PLAIN ? NAN : median_of(a, rounds, many, NULL, share),
                    .ratio = median_of(a, rounds, one, plain, share),
                    .speedup = which == PLAIN ? NAN : median_of(a, rounds, one, many, share)};
            }
}

/* The runs of a round that write to the ordinary set, as so many that do nothing else: 155 % in each mode, by
 * plain once, by the two locks twice. */
#define WRITES 16u

/* Make sets for n keys and all that is written to them. */
static const char *make_all(all *a, const bench_setup *setup, tamis_kind kind) {
    static const char *const names[SUBJECTS] = {"plain", "shared", "rwlock", "mutex",
                                                "calibrator-1"};
    static worker *const work[SUBJECTS] = {plain_work, shared_work, rwlock_work, mutex_work,
                                           calibrator_work};
    tamis_need need;
    tamis_plan plan;
    tamis_shared_plan shared;
    tamis_need_init(&need);
    tamis_plan_init(&plan);
    tamis_shared_plan_init(&shared);
    need.n = setup->n + WRITES * a->pieces * PIECE;
    need.fpr = 0.001;
    need.kind = kind;
    if (tamis_plan_make(&need, &plan) != TAMIS_OK ||
        tamis_shared_plan_make(&need, setup->threads, &shared) != TAMIS_OK)
        return "no plan can be made";
    const size_t n = (size_t)a->pieces * PIECE;
    a->reads = malloc(n * sizeof *a->reads);
    a->fresh = malloc(n * sizeof *a->fresh);
    a->times = calloc((size_t)setup->rounds * SUBJECTS * BENCH_SHARED_SHARES * 4, sizeof(double));
    tamis_filter *filter = NULL;
    for (unsigned i = 0; i < SUBJECTS; i++) {
        a->subjects[i].name = names[i];
        a->subjects[i].work = work[i];
    }
    a->subjects[CALIBRATOR].n_lines = plan.bytes / 64;
    a->subjects[CALIBRATOR].size = (size_t)(plan.bytes / 64 + 1) * 64;
    a->subjects[CALIBRATOR].lines = bench_alloc(a->subjects[CALIBRATOR].size, setup->huge);
    if (a->reads == NULL || a->fresh == NULL || a->times == NULL ||
        a->subjects[CALIBRATOR].lines == NULL ||
        tamis_filter_create(&plan.params, NULL, &filter) != TAMIS_OK ||
        tamis_shared_create(&shared.params, shared.shards, NULL, &a->subjects[SHARED].shared) !=
            TAMIS_OK)
        return "not enough memory";
    a->subjects[PLAIN].filter = a->subjects[RWLOCK].filter = a->subjects[MUTEX].filter = filter;
    for (size_t i = 0; i < n; i++) {
        a->reads[i] = bench_key(bench_key(i) % a->n + (i % 2 == 0 ? 0 : (uint64_t)1 << 63));
        a->fresh[i] = bench_key(a->n + i);
    }
    return refill(a) ? NULL : "the sets cannot be filled";
}

const char *bench_shared_run(const bench_setup *setup, tamis_kind kind,
                             bench_shared_row rows[BENCH_SHARED_ROWS], size_t *n_rows) {
    all a = {.n = setup->n, .pieces = 500, .threads = setup->threads};
    const unsigned rounds = setup->rounds < ROUNDS_MAX ? setup->rounds : ROUNDS_MAX;
    if (pthread_rwlock_init(&a.subjects[RWLOCK].rwlock, NULL) != 0 ||
        pthread_mutex_init(&a.subjects[MUTEX].mutex, NULL) != 0)
        return "locks cannot be made";
    const char *trouble = make_all(&a, setup, kind);
    for (unsigned round = 0; trouble == NULL && round < rounds; round++)
        trouble = measure_round(&a, round);
    if (trouble == NULL)
        fill_rows(&a, rounds, rows, n_rows);
    tamis_filter_free(a.subjects[PLAIN].filter);
    tamis_shared_free(a.subjects[SHARED].shared);
    bench_free((void *)a.subjects[CALIBRATOR].lines, a.subjects[CALIBRATOR].size);
    free(a.reads);
    free(a.fresh);
    free(a.times);
    return trouble;
}
