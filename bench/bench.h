/* bench.h - measuring filters together with calibrators
 *
 * An engine is a table of functions that makes and drives one sort of filter, ours or another
 * library's.  A subject is one engine with its variant (which of our kinds, how many lines), to be
 * measured. run.c drives all subjects in interleaved rounds; the result is a list of rows.
 *
 * To add an engine, write engine_<name>.c, or peer_<name>.c if it needs a library that may be missing
 * (cmake/peers.cmake), and name it in engines.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BENCH_H
#define TAMIS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tamis/tamis.h>

typedef enum bench_mode {
    BENCH_SINGLE, /* a call for each key */
    BENCH_AHEAD,  /* the same, after another call that fetched its memory some keys earlier */
    BENCH_BATCH,
    BENCH_CHASE, /* a call for each key, which depends on the answer before it: nothing overlaps */
    BENCH_MODES
} bench_mode;

typedef enum bench_op {
    BENCH_INSERT,
    BENCH_REMOVE,
    BENCH_QUERY0, /* none of the keys is present */
    BENCH_QUERY50,
    BENCH_QUERY100,
    BENCH_OPS
} bench_op;

extern const char *const bench_mode_names[BENCH_MODES];
extern const char *const bench_op_names[BENCH_OPS];

/* What is measured. */
typedef struct bench_setup {
    uint64_t n;    /* keys in a full table */
    double bits;   /* per key, in all: every table has n * bits / 8 bytes, or a little less */
    bool digests;  /* use ready digests, not integers, to leave out hashing */
    bool text;     /* use texts of 16 characters, not integers */
    bool by_lines; /* plans that read the fewest lines, not the smallest */
    bool huge;     /* huge pages, where the system provides them */
    unsigned rounds;
    unsigned threads; /* reading at once in further measurements; 0 and 1: none */
} bench_setup;

/* Keys of one measurement.  'digests' and 'bytes' are NULL if integers are given. */
typedef struct bench_keys {
    size_t n;
    const uint64_t *u64;
    const tamis_digest *digests;
    const tamis_bytes *bytes;
    bool *answers; /* room for n, for batches that answer key by key */
} bench_keys;

/* Lines of 64 bytes that the calibrators are made for. */
#define BENCH_LINES_MAX 3u

typedef struct bench_subject bench_subject;

/* Do one thing with all keys; returns how many were added, removed or present.  The result must depend
 * on every answer, so the compiler cannot leave one out. */
typedef size_t bench_work(const bench_subject *subject, const bench_keys *keys);

typedef struct bench_engine {
    /* Make an empty table, with its memory touched, and fill in the subject's facts.  NULL, or a
     * sentence that says why this cannot be measured. */
    const char *(*create)(bench_subject *subject, const bench_setup *setup);
    void (*destroy)(bench_subject *subject);
    void (*clear)(const bench_subject *subject);
    bench_work *insert[BENCH_MODES]; /* each may be NULL: not possible */
    bench_work *remove[BENCH_MODES];
    bench_work *query[BENCH_MODES];
} bench_engine;

struct bench_subject {
    const bench_engine *engine;
    const char *name;
    unsigned variant;   /* a tamis_kind, a number of lines */
    tamis_hash_id hash; /* of a kind */
    unsigned idle;      /* of a calibrator: additional instructions per key */
    bool waits;         /* and each of them depends on the word that was read */
    bool deletes;       /* of a kind: its plan is one with deletes */
    void *self;         /* made by create */
    /* Facts, for create to fill in. */
    uint64_t bytes;
    double predicted_fpr; /* NaN: none */
    unsigned lines;       /* per query, 1 to BENCH_LINES_MAX: the calibrator to compare with */
    bool can_remove;
    bool calibrator;
    bool on_demand; /* measured only if it is named */
};

/* All subjects of this program, calibrators first; returns how many. */
#define BENCH_SUBJECTS_MAX 64u
size_t bench_subjects(bench_subject subjects[BENCH_SUBJECTS_MAX]);

/* A median with its quartiles over the rounds. */
typedef struct bench_spread {
    double median, low, high;
} bench_spread;

typedef struct bench_row {
    const bench_subject *subject;
    bench_op op;
    bench_mode mode;
    bench_spread ns;      /* per key */
    bench_spread ratio;   /* to the calibrator with the subject's lines, of the same round */
    bench_spread ratio_1; /* to the calibrator with one line */
    double fpr;           /* measured; NaN for calibrators */
    unsigned threads;     /* that share the keys */
    bench_spread speedup; /* over one thread; NaN where threads is 1 */
} bench_row;

/* Room for the rows of n subjects. */
#define BENCH_ROWS(n) ((n) * (size_t)BENCH_OPS * ((size_t)BENCH_MODES + 1))

/* What the caller hears meanwhile. */
typedef struct bench_watch {
    /* 'keys' keys were worked on; 'done' of 'total' steps are done.  May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total, uint64_t keys);
    /* This subject cannot be measured, and why. */
    void (*refused)(void *context, const bench_subject *subject, const char *why);
    void *context;
} bench_watch;

/* Measure subjects[0 .. n-1], among them all calibrators; those whose engine refuses are left out.
 * Fills '*n_rows' rows, which point to the subjects.  Returns NULL, or a sentence that says what
 * went wrong (no memory, or a wrong answer); '*culprit' is then the subject's name.  Destroys
 * everything that it made. */
const char *bench_run(bench_subject *subjects, size_t n, const bench_setup *setup,
                      const bench_watch *watch, bench_row *rows, size_t *n_rows,
                      const char **culprit);

/* ---- support.c ---- */

/* Keys are numbered.  Numbers below 2^63 stand for keys that may be in the table, the others for keys
 * that never are.  The map from numbers to keys is a bijection that looks random. */
uint64_t bench_key(uint64_t number);
#define BENCH_ABSENT ((uint64_t)1 << 63)

double bench_seconds(void); /* CLOCK_MONOTONIC */

/* Seconds that 'threads' threads, started together, take for all keys; '*result' is the sum of what
 * they return.  NaN if they cannot be started. */
#define BENCH_THREADS_MAX 64u
double bench_wall(const bench_subject *subject, bench_work *work, const bench_keys *keys,
                  unsigned threads, size_t *result);

/* Whole zeroed pages, already touched, with or without huge ones.  NULL if there are none. */
void *bench_alloc(size_t size, bool huge);
void bench_free(void *block, size_t size);
/* Ask for huge pages, or for none, in memory that somebody else allocated. */
void bench_advise(void *block, size_t size, bool huge);
/* Bytes of this process that are in huge pages now; -1: the system does not say. */
int64_t bench_huge_bytes(void);

extern const char bench_compiler[]; /* "gcc-12.2" */

extern const bench_engine bench_engine_tamis;
extern const bench_engine bench_engine_calibrator;
extern const bench_engine bench_engine_libbloom;
extern const bench_engine bench_engine_leveldb;
extern const bench_engine bench_engine_dpdk;

/* Prepare the default hash under seed 1, for digests that all subjects share. */
static inline bool bench_hasher(tamis_hasher *hasher) {
    tamis_params params;
    tamis_params_init(&params);
    params.seed = 1;
    return tamis_hasher_init(hasher, &params) == TAMIS_OK;
}

#endif
