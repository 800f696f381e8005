/* run.c - interleaved rounds and their results
 *
 * Three phases, each of several rounds: insert, query, remove.  A round does every operation once with
 * every subject, starting with a different one each time.  So a slow moment of the machine hits all of
 * them alike and favours none.  The ratio to a calibrator is taken within the round; medians come last.
 * The first round of each phase warms up and is not counted.
 *
 * Keys are new in every round, the same for all subjects, and made before the clock starts.  They are
 * worked on in chunks, and the time of the median chunk counts.  A chunk takes a fraction of a
 * millisecond, so one in which another process had the processor is an outlier and is ignored.
 *
 *   insert   A table of up to SAMPLE keys is cleared and filled again, once key by key and once in a
 *            batch.  A larger one is filled once, in as many slices as there are rounds.  Of each slice
 *            some keys are timed one by one, some as a batch, and the rest is filled in untimed.
 *            So the times are those of an average load, from empty to full.
 *   query    SAMPLE keys in a full table: absent, present, or each with even odds.
 *   remove   The keys that were inserted, from a full table, sliced as for insert; a small table is
 *            filled again afterwards.
 *
 *   threads  The same queries once more, in batches, by one thread and by several that share the keys.
 *
 * Answers are checked: a key that was inserted must be found, and single and batch must agree.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE ((size_t)1 << 20)
#define CHUNK  ((size_t)1 << 11)

/* What one run works with.  Times are in nanoseconds per key, NaN where not measured, at
 * [round][subject][op][mode]. */
typedef struct run {
    const bench_setup *setup;
    const bench_watch *watch;
    bench_subject *subjects;
    size_t n_subjects;
    unsigned rounds; /* including the one that is not counted */
    uint64_t *u64;
    tamis_hasher hasher; /* of the digests, the same for all */
    tamis_digest *digests;
    char *text; /* of the keys, TEXT characters each */
    tamis_bytes *bytes;
    bool *answers;
    double *times;
    double *walls; /* [round][subject][op][0: one thread, 1: all], nanoseconds per key */
    uint64_t found[BENCH_SUBJECTS_MAX]; /* absent keys that were found, in the rounds that count */
    uint64_t steps_done, steps, keys_done;
    const char *trouble;
    const char *culprit;
} run;

static double *time_at(run *r, unsigned round, size_t subject, bench_op op, bench_mode mode) {
    const size_t row = (round * r->n_subjects + subject) * (size_t)BENCH_OPS + (size_t)op;
    return &r->times[row * (size_t)BENCH_MODES + (size_t)mode];
}

static double *walls_at(run *r, unsigned round, size_t subject, bench_op op) {
    return &r->walls[((round * r->n_subjects + subject) * (size_t)BENCH_OPS + (size_t)op) * 2];
}

static void fail(run *r, const bench_subject *subject, const char *why) {
    if (r->trouble == NULL) {
        r->trouble = why;
        r->culprit = subject->name;
    }
}

/* ---- keys ---- */

#define TEXT 16u

static void write_text(uint64_t key, char text[TEXT]) {
    for (unsigned i = 0; i < TEXT; i++)
        text[i] = "0123456789abcdef"[key >> 4 * i & 15];
}

static bench_keys keys_made(run *r, size_t n) {
    if (r->setup->text)
        for (size_t i = 0; i < n; i++) {
            write_text(r->u64[i], r->text + i * TEXT);
            r->bytes[i] = (tamis_bytes){r->text + i * TEXT, TEXT};
        }
    if (r->setup->digests)
        for (size_t i = 0; i < n; i++)
            r->digests[i] = tamis_hash_u64(&r->hasher, r->u64[i]);
    return (bench_keys){.n = n,
                        .u64 = r->u64,
                        .digests = r->setup->digests ? r->digests : NULL,
                        .bytes = r->setup->text ? r->bytes : NULL,
                        .answers = r->answers};
}

/* Keys number first, first + 1, ... as they are inserted. */
static bench_keys keys_from(run *r, uint64_t first, size_t n) {
    for (size_t i = 0; i < n; i++)
        r->u64[i] = bench_key(first + i);
    return keys_made(r, n);
}

/* Keys to be asked for, '*n_present' of them present.  'draw' numbers the drawing. */
static bench_keys keys_asked(run *r, bench_op op, uint64_t draw, size_t *n_present) {
    uint64_t state = bench_key(~draw);
    *n_present = 0;
    for (size_t i = 0; i < SAMPLE; i++) {
        state += 0x9e3779b97f4a7c15u;
        const uint64_t random = bench_key(state);
        const bool present = op == BENCH_QUERY100 || (op == BENCH_QUERY50 && (random & 1) != 0);
        const uint64_t number =
            present ? (random >> 1) % r->setup->n : BENCH_ABSENT + draw * SAMPLE + i;
        *n_present += present;
        r->u64[i] = bench_key(number);
    }
    return keys_made(r, SAMPLE);
}

/* ---- one measurement ---- */

static void step(run *r, size_t keys) {
    r->steps_done++;
    r->keys_done += keys;
    if (r->watch->progress != NULL)
        r->watch->progress(r->watch->context, r->steps_done, r->steps, r->keys_done);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The value at a share of the sorted values, interpolated linearly. */
static double quantile(const double *sorted, size_t n, double share) {
    const double at = share * (double)(n - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static size_t timed(run *r, unsigned round, size_t subject, bench_op op, bench_mode mode,
                    bench_work *work, const bench_keys *keys) {
    double chunks[SAMPLE / CHUNK];
    size_t n_chunks = 0, result = 0;
    for (size_t at = 0; at < keys->n; at += CHUNK) {
        const bench_keys part = {.n = keys->n - at < CHUNK ? keys->n - at : CHUNK,
                                 .u64 = keys->u64 + at,
                                 .digests = keys->digests == NULL ? NULL : keys->digests + at,
                                 .bytes = keys->bytes == NULL ? NULL : keys->bytes + at,
                                 .answers = keys->answers + at};
        const double start = bench_seconds();
        result += work(&r->subjects[subject], &part);
        const double seconds = bench_seconds() - start;
        if (part.n == CHUNK || n_chunks == 0) /* a short last one would count too much */
            chunks[n_chunks++] = 1e9 * seconds / (double)part.n;
    }
    qsort(chunks, n_chunks, sizeof *chunks, by_size);
    *time_at(r, round, subject, op, mode) = quantile(chunks, n_chunks, 0.5);
    step(r, keys->n);
    return result;
}

static void fill(run *r, size_t subject, uint64_t first, uint64_t n) {
    const bench_engine *const engine = r->subjects[subject].engine;
    bench_work *const work =
        engine->insert[engine->insert[BENCH_BATCH] != NULL ? BENCH_BATCH : BENCH_SINGLE];
    if (r->subjects[subject].calibrator)
        return;
    for (uint64_t at = 0; at < n; at += SAMPLE) {
        const size_t now = n - at < SAMPLE ? (size_t)(n - at) : SAMPLE;
        const bench_keys keys = keys_from(r, first + at, now);
        (void)work(&r->subjects[subject], &keys);
    }
}

/* ---- the phases ---- */

/* The keys that a round inserts or removes: 'timed' per mode out of the slice. */
typedef struct slice {
    uint64_t first, n;
    size_t timed;
} slice;

static slice slice_of(const run *r, unsigned round) {
    const uint64_t n = r->setup->n;
    if (n <= SAMPLE)
        return (slice){.first = 0, .n = n, .timed = (size_t)n};
    const uint64_t size = n / r->rounds;
    slice s = {.first = round * size, .n = size};
    if (round + 1 == r->rounds)
        s.n = n - s.first;
    const uint64_t most = size / BENCH_MODES;
    s.timed = most < SAMPLE ? (size_t)most : SAMPLE;
    return s;
}

static void insert_round(run *r, unsigned round, size_t subject) {
    const bench_subject *const s = &r->subjects[subject];
    const slice part = slice_of(r, round);
    const bool anew = part.n == part.timed;
    uint64_t next = part.first;
    for (bench_mode mode = BENCH_SINGLE; mode < BENCH_MODES; mode++) {
        if (s->engine->insert[mode] == NULL)
            continue;
        if (anew) {
            s->engine->clear(s);
            next = part.first;
        }
        const bench_keys keys = keys_from(r, next, part.timed);
        (void)timed(r, round, subject, BENCH_INSERT, mode, s->engine->insert[mode], &keys);
        next += part.timed;
    }
    if (!anew)
        fill(r, subject, next, part.first + part.n - next);
}

static void query_round(run *r, unsigned round, size_t subject, bench_op op, const bench_keys *keys,
                        size_t n_present) {
    const bench_subject *const s = &r->subjects[subject];
    size_t found[BENCH_MODES] = {0};
    for (bench_mode mode = BENCH_SINGLE; mode < BENCH_MODES; mode++) {
        if (s->engine->query[mode] == NULL)
            continue;
        found[mode] = timed(r, round, subject, op, mode, s->engine->query[mode], keys);
        if (!s->calibrator && found[mode] < n_present)
            fail(r, s, "a key that was inserted is not found");
    }
    for (bench_mode mode = BENCH_AHEAD; mode < BENCH_MODES; mode++)
        if (s->engine->query[mode] != NULL && found[BENCH_SINGLE] != found[mode])
            fail(r, s, "a batch gives other answers than single calls");
    if (op == BENCH_QUERY0 && round > 0)
        r->found[subject] += found[BENCH_SINGLE];
}

static bench_mode best_mode(const bench_engine *engine) {
    return engine->query[BENCH_BATCH] != NULL ? BENCH_BATCH : BENCH_SINGLE;
}

/* The same with all threads, and with one thread that is started in the same way. */
static void threads_round(run *r, unsigned round, size_t subject, bench_op op,
                          const bench_keys *keys, size_t n_present) {
    const bench_subject *const s = &r->subjects[subject];
    const unsigned threads[2] = {1, r->setup->threads};
    double *const walls = walls_at(r, round, subject, op);
    for (unsigned i = 0; i < 2; i++) {
        size_t found = 0;
        const double seconds =
            bench_wall(s, s->engine->query[best_mode(s->engine)], keys, threads[i], &found);
        walls[i] = 1e9 * seconds / (double)keys->n;
        if (isnan(seconds))
            fail(r, s, "threads cannot be started");
        else if (!s->calibrator && found < n_present)
            fail(r, s, "a key that was inserted is not found by several threads");
        step(r, keys->n);
    }
}

static void remove_round(run *r, unsigned round, size_t subject) {
    const bench_subject *const s = &r->subjects[subject];
    const slice part = slice_of(r, round);
    const bool anew = part.n == part.timed;
    uint64_t next = part.first;
    if (!s->can_remove)
        return;
    for (bench_mode mode = BENCH_SINGLE; mode < BENCH_MODES; mode++) {
        if (s->engine->remove[mode] == NULL)
            continue;
        const bench_keys keys = keys_from(r, next, part.timed);
        const size_t gone =
            timed(r, round, subject, BENCH_REMOVE, mode, s->engine->remove[mode], &keys);
        if (!s->calibrator && gone != part.timed)
            fail(r, s, "a key that was inserted cannot be removed");
        if (anew)
            fill(r, subject, part.first, part.n);
        else
            next += part.timed;
    }
}

static void all_rounds(run *r) {
    const size_t n = r->n_subjects;
    for (unsigned round = 0; round < r->rounds; round++)
        for (size_t i = 0; i < n && r->trouble == NULL; i++)
            insert_round(r, round, (round + i) % n);
    for (unsigned round = 0; round < r->rounds; round++) {
        for (bench_op op = BENCH_QUERY0; op <= BENCH_QUERY100; op++) {
            size_t n_present;
            const uint64_t draw = (uint64_t)round * BENCH_OPS + op;
            const bench_keys keys = keys_asked(r, op, draw, &n_present);
            for (size_t i = 0; i < n && r->trouble == NULL; i++)
                query_round(r, round, (round + i) % n, op, &keys, n_present);
            for (size_t i = 0; i < n && r->trouble == NULL && r->setup->threads > 1; i++)
                threads_round(r, round, (round + i) % n, op, &keys, n_present);
        }
    }
    for (unsigned round = 0; round < r->rounds; round++)
        for (size_t i = 0; i < n && r->trouble == NULL; i++)
            remove_round(r, round, (round + i) % n);
}

/* ---- results ---- */

static bench_spread spread(double *room, unsigned n) {
    qsort(room, n, sizeof *room, by_size);
    return (bench_spread){.median = quantile(room, n, 0.5),
                          .low = quantile(room, n, 0.25),
                          .high = quantile(room, n, 0.75)};
}

/* The spread of the times of 'subject', divided by those of the calibrator 'by' unless it is
 * n_subjects.  A call for each key is compared with single reads, whatever is fetched in advance. */
static bench_spread spread_of(run *r, size_t subject, size_t by, bench_op op, bench_mode mode,
                              double *room) {
    const unsigned n = r->rounds - 1;
    const bench_mode like = mode == BENCH_AHEAD ? BENCH_SINGLE : mode;
    for (unsigned i = 0; i < n; i++) {
        const double unit = by < r->n_subjects ? *time_at(r, i + 1, by, op, like) : 1;
        room[i] = *time_at(r, i + 1, subject, op, mode) / unit;
    }
    return spread(room, n);
}

/* The same for all threads; 'by' the subject itself means by one thread. */
static bench_spread spread_of_walls(run *r, size_t subject, size_t by, bench_op op, double *room) {
    const unsigned n = r->rounds - 1;
    for (unsigned i = 0; i < n; i++) {
        const double *const own = walls_at(r, i + 1, subject, op);
        room[i] = by == subject        ? own[0] / own[1]
                  : by < r->n_subjects ? own[1] / walls_at(r, i + 1, by, op)[1]
                                       : own[1];
    }
    return spread(room, n);
}

static size_t calibrator_of(const run *r, unsigned lines) {
    for (size_t i = 0; i < r->n_subjects; i++)
        if (r->subjects[i].calibrator && r->subjects[i].lines == lines)
            return i;
    return r->n_subjects;
}

static size_t all_rows(run *r, bench_row *rows, double *room) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_subjects; i++) {
        const bench_subject *const s = &r->subjects[i];
        const size_t like = calibrator_of(r, s->lines), one = calibrator_of(r, 1);
        const double asked = (double)SAMPLE * (r->rounds - 1);
        for (bench_op op = 0; op < BENCH_OPS; op++) {
            for (bench_mode mode = 0; mode < BENCH_MODES; mode++) {
                if (isnan(*time_at(r, 1, i, op, mode)))
                    continue;
                rows[n++] = (bench_row){.subject = s,
                                        .op = op,
                                        .mode = mode,
                                        .ns = spread_of(r, i, r->n_subjects, op, mode, room),
                                        .ratio = spread_of(r, i, like, op, mode, room),
                                        .ratio_1 = spread_of(r, i, one, op, mode, room),
                                        .fpr = s->calibrator ? NAN : (double)r->found[i] / asked,
                                        .threads = 1,
                                        .speedup = {NAN, NAN, NAN}};
            }
        }
        for (bench_op op = BENCH_QUERY0; op <= BENCH_QUERY100 && r->setup->threads > 1; op++) {
            const bench_spread one_line = {1, 1, 1};
            rows[n++] =
                (bench_row){.subject = s,
                            .op = op,
                            .mode = best_mode(s->engine),
                            .ns = spread_of_walls(r, i, r->n_subjects, op, room),
                            .ratio = i == like ? one_line : spread_of_walls(r, i, like, op, room),
                            .ratio_1 = i == one ? one_line : spread_of_walls(r, i, one, op, room),
                            .fpr = s->calibrator ? NAN : (double)r->found[i] / asked,
                            .threads = r->setup->threads,
                            .speedup = spread_of_walls(r, i, i, op, room)};
        }
    }
    return n;
}

/* Create what can be created, and drop the others from the list. */
static void create_all(run *r, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bench_subject s = r->subjects[i];
        const char *const why = s.engine->create(&s, r->setup);
        if (why != NULL && r->watch->refused != NULL)
            r->watch->refused(r->watch->context, &s, why);
        if (why == NULL)
            r->subjects[r->n_subjects++] = s;
        else if (s.calibrator)
            fail(r, &s, why);
    }
}

const char *bench_run(bench_subject *subjects, size_t n, const bench_setup *setup,
                      const bench_watch *watch, bench_row *rows, size_t *n_rows,
                      const char **culprit) {
    run r = {.setup = setup, .watch = watch, .subjects = subjects, .rounds = setup->rounds + 1};
    if (!bench_hasher(&r.hasher))
        return "the hash cannot be prepared";
    double *const room = malloc(r.rounds * sizeof *room);
    r.u64 = malloc(SAMPLE * sizeof *r.u64);
    r.digests = malloc(SAMPLE * sizeof *r.digests);
    r.text = malloc(SAMPLE * (size_t)TEXT);
    r.bytes = malloc(SAMPLE * sizeof *r.bytes);
    r.answers = malloc(SAMPLE * sizeof *r.answers);
    const size_t n_times = BENCH_ROWS(n) * r.rounds;
    r.times = malloc(n_times * sizeof *r.times);
    r.walls = malloc(2 * n_times * sizeof *r.walls);
    *n_rows = 0;
    *culprit = "benchmark";
    if (room == NULL || r.u64 == NULL || r.digests == NULL || r.text == NULL || r.bytes == NULL ||
        r.answers == NULL || r.times == NULL || r.walls == NULL) {
        r.trouble = "no memory";
        r.culprit = *culprit;
    } else {
        memset(r.u64, 0, SAMPLE * sizeof *r.u64);
        memset(r.digests, 0, SAMPLE * sizeof *r.digests);
        memset(r.answers, 0, SAMPLE * sizeof *r.answers);
        for (size_t i = 0; i < n_times; i++)
            r.times[i] = NAN;
        create_all(&r, n);
        for (size_t i = 0; i < r.n_subjects; i++) {
            unsigned modes = 0;
            for (bench_mode mode = 0; mode < BENCH_MODES; mode++)
                modes += subjects[i].engine->query[mode] != NULL;
            r.steps += (uint64_t)modes * r.rounds * (subjects[i].can_remove ? 5 : 4);
            r.steps += setup->threads > 1 ? (uint64_t)6 * r.rounds : 0;
        }
        if (r.trouble == NULL)
            all_rounds(&r);
        if (r.trouble == NULL)
            *n_rows = all_rows(&r, rows, room);
    }
    for (size_t i = 0; i < r.n_subjects; i++)
        subjects[i].engine->destroy(&subjects[i]);
    free(r.walls);
    free(r.times);
    free(r.answers);
    free(r.bytes);
    free(r.text);
    free(r.digests);
    free(r.u64);
    free(room);
    if (r.trouble != NULL)
        *culprit = r.culprit;
    return r.trouble;
}
