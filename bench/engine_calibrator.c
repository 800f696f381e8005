/* engine_calibrator.c - what the memory itself costs
 *
 * One operation reads one word from each of 1, 2 or 3 random cache lines of a table, and does nothing
 * else.  No filter that must look at as many lines of a table of that size can be faster.  Times of
 * filters are given as multiples of it, because machines differ, and a shared machine differs from one
 * minute to the next.
 *
 * 'single' is a plain loop over the keys.  The reads are independent, and the processor overlaps as
 * many as it can see.  'batch' takes groups of 16 keys: it prefetches the lines of the next group, then
 * reads those of this group.
 *
 * 'calibrator-1+N' executes N more instructions per key, which do nothing.  A processor looks ahead
 * over some hundreds of instructions, so these only leave less room for reads that overlap.  No filter
 * that executes as many per key can be faster.  'calibrator-1wN' executes N that depend on the word that
 * was read, one after the other, as the work of a filter does: while they wait for memory they fill a
 * queue that has room for fewer.
 *
 * One multiplication chooses each line, so the key is read and used as a filter would use it, but
 * hardly hashed.  Insert, remove and query are the same reads; each is measured in its own turn, so a
 * ratio always compares neighbours in time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#define GROUP      16u
#define LINE_WORDS 8u

#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
/* Each loop is compiled for its own constants: testing them for every key would cost too much. */
#define UNROLLED static inline __attribute__((always_inline))
__extension__ typedef unsigned __int128 u128;
#else
#error "the calibrator needs prefetch and 128-bit products"
#endif

typedef struct calibrator {
    uint64_t *table;
    uint64_t n_lines;
    size_t size;
} calibrator;

static const char *create(bench_subject *subject, const bench_setup *setup) {
    calibrator *const c = malloc(sizeof *c);
    if (c == NULL)
        return "no memory";
    c->n_lines = (uint64_t)ceil((double)setup->n * setup->bits / 512);
    c->size = (size_t)c->n_lines * LINE_WORDS * sizeof(uint64_t);
    c->table = bench_alloc(c->size, setup->huge);
    if (c->table == NULL) {
        free(c);
        return "no memory";
    }
    subject->self = c;
    subject->bytes = c->size;
    subject->predicted_fpr = NAN;
    subject->lines = subject->variant;
    subject->can_remove = true;
    return NULL;
}

static void destroy(bench_subject *subject) {
    calibrator *const c = subject->self;
    bench_free(c->table, c->size);
    free(c);
    subject->self = NULL;
}

static void clear(const bench_subject *subject) {
    (void)subject;
}

UNROLLED uint64_t word_of(const bench_keys *keys, size_t i) {
    return keys->digests == NULL ? keys->u64[i] : keys->digests[i].lo;
}

/* The first word of line number j of key i. */
UNROLLED const uint64_t *place(const calibrator *c, const bench_keys *keys, size_t i, unsigned j) {
    static const uint64_t factors[BENCH_LINES_MAX] = {0x9e3779b97f4a7c15u, 0xd1342543de82ef95u,
                                                      0xaf251af3b0f025b5u};
    const uint64_t line = (uint64_t)((u128)(word_of(keys, i) * factors[j]) * c->n_lines >> 64);
    return c->table + LINE_WORDS * line;
}

/* What is done with a word; both are constants after inlining. */
UNROLLED uint64_t use(uint64_t word, unsigned instructions, bool wait) {
#pragma GCC unroll 200
    for (unsigned i = 0; i < instructions; i++) {
        if (wait) {
            word += word;
            __asm__ volatile("" : "+r"(word));
        } else {
            __asm__ volatile("nop");
        }
    }
    return word;
}

/* The table is zero, so the result is 0, but it is the sum of everything that was read. */
UNROLLED size_t read_single(const calibrator *c, const bench_keys *keys, unsigned lines,
                            unsigned instructions, bool wait) {
    uint64_t sum = 0;
    for (size_t i = 0; i < keys->n; i++)
        for (unsigned j = 0; j < lines; j++)
            sum += use(*place(c, keys, i, j), instructions, wait);
    return (size_t)sum;
}

UNROLLED size_t fetch(const calibrator *c, const bench_keys *keys, size_t at, unsigned lines,
                      const uint64_t **places) {
    const size_t n = keys->n - at < GROUP ? keys->n - at : GROUP;
    for (size_t i = 0; i < n; i++) {
        for (unsigned j = 0; j < lines; j++) {
            places[i * lines + j] = place(c, keys, at + i, j);
            PREFETCH(places[i * lines + j]);
        }
    }
    return n;
}

UNROLLED size_t read_batch(const calibrator *c, const bench_keys *keys, unsigned lines,
                           unsigned instructions, bool wait) {
    const uint64_t *places[2][GROUP * BENCH_LINES_MAX];
    uint64_t sum = 0;
    size_t now = fetch(c, keys, 0, lines, places[0]);
    for (size_t at = 0, turn = 0; at < keys->n; turn ^= 1) {
        const size_t next = fetch(c, keys, at + now, lines, places[turn ^ 1]);
        for (size_t i = 0; i < now * lines; i++)
            sum += use(*places[turn][i], instructions, wait);
        at += now;
        now = next;
    }
    return (size_t)sum;
}

UNROLLED size_t read_all(const calibrator *c, const bench_keys *keys, bool batch, unsigned lines,
                         unsigned instructions, bool wait) {
    return batch ? read_batch(c, keys, lines, instructions, wait)
                 : read_single(c, keys, lines, instructions, wait);
}

/* One loop per number of lines or instructions, unrolled by the compiler. */
UNROLLED size_t read_as(const bench_subject *subject, const bench_keys *keys, bool batch) {
    const calibrator *const c = subject->self;
    switch (subject->idle) {
    case 25:
        return read_all(c, keys, batch, 1, 25, true);
    case 50:
        return subject->waits ? read_all(c, keys, batch, 1, 50, true)
                              : read_all(c, keys, batch, 1, 50, false);
    case 100:
        return subject->waits ? read_all(c, keys, batch, 1, 100, true)
                              : read_all(c, keys, batch, 1, 100, false);
    case 150:
        return read_all(c, keys, batch, 1, 150, false);
    case 200:
        return read_all(c, keys, batch, 1, 200, false);
    default:
        return subject->variant == 1   ? read_all(c, keys, batch, 1, 0, false)
               : subject->variant == 2 ? read_all(c, keys, batch, 2, 0, false)
                                       : read_all(c, keys, batch, 3, 0, false);
    }
}

/* The lines of a key are read when those of the key before have been. */
static size_t chase(const bench_subject *subject, const bench_keys *keys) {
    const calibrator *const c = subject->self;
    uint64_t sum = 0;
    for (size_t i = 0; i < keys->n; i++) {
        uint64_t read = 0;
        for (unsigned j = 0; j < subject->variant; j++)
            read += place(c, keys, i, j)[sum];
        sum += read;
    }
    return (size_t)sum;
}

static size_t single(const bench_subject *subject, const bench_keys *keys) {
    return read_as(subject, keys, false);
}

static size_t batch(const bench_subject *subject, const bench_keys *keys) {
    return read_as(subject, keys, true);
}

const bench_engine bench_engine_calibrator = {.create = create,
                                              .destroy = destroy,
                                              .clear = clear,
                                              .insert = {single, NULL, batch},
                                              .remove = {single, NULL, batch},
                                              .query = {single, NULL, batch, chase}};
