/* threads.c - one filter, read by several threads at once
 *
 * The keys are divided among the threads, which start together.  The time from the start to the end of
 * the last thread counts.  So a thread that has to wait for a processor shows, which the median of
 * short chunks (run.c) would hide.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <math.h>
#include <pthread.h>

/* The readers wait here until all have arrived, or until it is known that some never will. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned waiting;
    bool open, given_up;
} gate;

typedef struct reader {
    gate *gate;
    const bench_subject *subject;
    bench_work *work;
    bench_keys keys;
    double from, to;
    size_t result;
} reader;

static void *run_reader(void *context) {
    reader *const r = context;
    gate *const g = r->gate;
    (void)pthread_mutex_lock(&g->lock);
    g->waiting++;
    (void)pthread_cond_broadcast(&g->moved);
    while (!g->open && !g->given_up)
        (void)pthread_cond_wait(&g->moved, &g->lock);
    const bool go = g->open;
    (void)pthread_mutex_unlock(&g->lock);
    if (go) {
        r->from = bench_seconds();
        r->result = r->work(r->subject, &r->keys);
        r->to = bench_seconds();
    }
    return NULL;
}

/* Open the gate when all readers wait at it; false: give up, some could not be started. */
static void open_gate(gate *g, unsigned readers, bool all) {
    (void)pthread_mutex_lock(&g->lock);
    while (all && g->waiting < readers)
        (void)pthread_cond_wait(&g->moved, &g->lock);
    g->open = all;
    g->given_up = !all;
    (void)pthread_cond_broadcast(&g->moved);
    (void)pthread_mutex_unlock(&g->lock);
}

double bench_wall(const bench_subject *subject, bench_work *work, const bench_keys *keys,
                  unsigned threads, size_t *result) {
    reader readers[BENCH_THREADS_MAX];
    pthread_t ids[BENCH_THREADS_MAX];
    gate g = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    unsigned started = 0;
    if (threads < 1 || threads > BENCH_THREADS_MAX)
        return NAN;
    for (; started < threads; started++) {
        const size_t at = keys->n * started / threads, end = keys->n * (started + 1) / threads;
        readers[started] =
            (reader){.gate = &g,
                     .subject = subject,
                     .work = work,
                     .keys = {.n = end - at,
                              .u64 = keys->u64 + at,
                              .digests = keys->digests == NULL ? NULL : keys->digests + at,
                              .bytes = keys->bytes == NULL ? NULL : keys->bytes + at,
                              .answers = keys->answers + at}};
        if (pthread_create(&ids[started], NULL, run_reader, &readers[started]) != 0)
            break;
    }
    open_gate(&g, threads, started == threads);
    double from = INFINITY, to = 0;
    *result = 0;
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(ids[i], NULL);
        from = fmin(from, readers[i].from);
        to = fmax(to, readers[i].to);
        *result += readers[i].result;
    }
    return started == threads ? to - from : NAN;
}
