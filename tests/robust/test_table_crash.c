/* test_table_crash.c - a process is killed while it changes a table, again and again
 *
 * A child opens the table and makes random calls.  It keeps a log outside of the table, in memory that it
 * shares with its parent: each call is entered before it is made, and acknowledged when it has returned.
 * The parent kills the child at a random moment (SIGKILL), opens the table and compares:
 *
 *  - every call that was acknowledged has happened, in full;
 *  - the one that was not, if there was one, has happened in full or not at all;
 *  - verify finds nothing wrong.
 *
 * The child's other work (opening, which repairs, steps of rebuilds, syncs, closing and opening anew) is cut
 * off as well.  The kinds of tables, of syncs and of reading take turns.
 *
 * 100 rounds; TAMIS_CRASH_ROUNDS=500 in the environment for more, TAMIS_CRASH_PAGES=1 for page tables only.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "support.h"
#include "table_file.h"
#include "unit/table_model.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS_MAX = 1 << 20, PUT = 0, DELETE = 1 };

typedef struct call {
    uint32_t what;
    uint32_t id;
    uint32_t number;
} call;

/* The log outside. */
typedef struct journal {
    _Atomic uint64_t begun;
    _Atomic uint64_t acknowledged;
    _Atomic uint64_t fault; /* of the child: the line */
    call calls[CALLS_MAX];
} journal;

/* -------------------------------------------------------------------------------------------------
 * The child
 */

#define CHILD_NEEDS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            atomic_store(&log->fault, __LINE__);                                                   \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void child(journal *log, const tamis_table_options *options, uint64_t random) {
    tamis_table *table = NULL;
    CHILD_NEEDS(tamis_table_open(path, options, NULL, &table, NULL) == TAMIS_OK);
    for (uint64_t n = 0; n < CALLS_MAX; n++) {
        call *const c = &log->calls[n];
        char key[KEY_MAX], value[VALUE_MAX];
        c->id = (uint32_t)test_random_below(&random, MODEL_KEYS);
        c->what = test_random_below(&random, 10) < 6 ? PUT : DELETE;
        c->number = (uint32_t)test_random(&random);
        const size_t key_size = model_key(c->id, key);
        const size_t value_size = model_value(c->number, value);
        atomic_store(&log->begun, n + 1);
        if (c->what == PUT) {
            CHILD_NEEDS(tamis_table_put(table, key, key_size, value, value_size, NULL) == TAMIS_OK);
        } else {
            const tamis_status status = tamis_table_delete(table, key, key_size);
            CHILD_NEEDS(status == TAMIS_OK || status == TAMIS_E_NOT_FOUND);
        }
        atomic_store(&log->acknowledged, n + 1);
        if (test_random_below(&random, 5) == 0)
            CHILD_NEEDS(tamis_table_rebuild(table, test_random_below(&random, 100), NULL) ==
                        TAMIS_OK);
        if (test_random_below(&random, 200) == 0) {
            CHILD_NEEDS(tamis_table_close(table) == TAMIS_OK);
            CHILD_NEEDS(tamis_table_open(path, options, NULL, &table, NULL) == TAMIS_OK);
        }
    }
    _exit(0);
}

/* -------------------------------------------------------------------------------------------------
 * The parent
 */

/* What the table has for a key: true and the value, or false. */
static bool stored(const tamis_table *table, uint32_t id, char value[VALUE_MAX], size_t *size) {
    char key[KEY_MAX];
    const tamis_status status =
        tamis_table_get(table, key, model_key(id, key), value, VALUE_MAX, size);
    assert_true(status == TAMIS_OK || status == TAMIS_E_NOT_FOUND);
    return status == TAMIS_OK;
}

static void apply(model *m, const call *c) {
    const bool present = c->what == PUT;
    m->count += (uint64_t)present - m->present[c->id];
    m->present[c->id] = present;
    m->number[c->id] = c->number;
}

/* The call that was cut off: if it has happened, the dictionary follows. */
static void settle(const tamis_table *table, model *m, const call *c) {
    char value[VALUE_MAX], wanted[VALUE_MAX];
    size_t size = 0;
    const bool found = stored(table, c->id, value, &size);
    bool happened = !found;
    if (c->what == PUT)
        happened =
            found && size == model_value(c->number, wanted) && memcmp(value, wanted, size) == 0;
    if (happened)
        apply(m, c);
}

/* A table with this summary, or a page table. */
static void new_table(unsigned kind) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    if (kind < N_SUMMARIES) { /* full enough for later sub-tables, and a stash in use */
        params = model_params(MODEL_KEYS / 2, summaries[kind]);
        params.stash = MODEL_KEYS;
    }
    const tamis_table_options options = quick_options();
    assert_ok(tamis_table_close(create_table(&params, &options)));
}

static tamis_table *open_quietly(bool read_only) {
    tamis_table_options options = quick_options();
    options.read_only = read_only;
    return open_table(&options);
}

static void wait_nanoseconds(uint64_t n) {
    const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)n};
    (void)nanosleep(&time, NULL);
}

/* Start a child, and kill it after some time, or 'early', perhaps while it opens the table. */
static void run_and_kill(journal *log, const tamis_table_options *options, bool early,
                         uint64_t *random) {
    atomic_store(&log->begun, 0);
    atomic_store(&log->acknowledged, 0);
    const uint64_t seed = test_random(random);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(log, options, seed);
    if (!early)
        while (atomic_load(&log->acknowledged) == 0 && atomic_load(&log->fault) == 0)
            wait_nanoseconds(20000);
    wait_nanoseconds(test_random_below(random, 5000000));
    assert_int_equal(kill(pid, SIGKILL), 0);
    int code;
    assert_int_equal(waitpid(pid, &code, 0), pid);
    if (atomic_load(&log->fault) != 0)
        fail_msg("the child failed at line %d", (int)atomic_load(&log->fault));
    assert_true(WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL);
}

static void test_table_killed_process_loses_nothing(void **state) {
    (void)state;
    const char *const text = getenv("TAMIS_CRASH_ROUNDS");
    const unsigned rounds = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 100;
    const bool pages_only = getenv("TAMIS_CRASH_PAGES") != NULL;
    uint64_t random = test_seed();
    uint64_t calls = 0, cut_off = 0, recovered = 0;
    static model m;
    journal *const log = mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(log != MAP_FAILED);

    for (unsigned round = 0; round < rounds; round++) {
        if (round % 10 == 0) {
            new_table(pages_only ? N_SUMMARIES : round / 10 % (N_SUMMARIES + 1));
            model_clear(&m);
        }
        tamis_table_options options;
        tamis_table_options_init(&options);
        options.io = (tamis_table_io)(round / 2 % 2);
        options.sync = round % 7 == 0   ? TAMIS_SYNC_EACH
                       : round % 2 == 0 ? TAMIS_SYNC_BATCH
                                        : TAMIS_SYNC_NONE;
        run_and_kill(log, &options, round % 4 == 0, &random);

        const uint64_t acknowledged = atomic_load(&log->acknowledged);
        const uint64_t begun = atomic_load(&log->begun);
        assert_true(begun - acknowledged <= 1);
        for (uint64_t i = 0; i < acknowledged; i++)
            apply(&m, &log->calls[i]);
        tamis_table *table = open_quietly(round % 3 == 0);
        if (begun > acknowledged)
            settle(table, &m, &log->calls[acknowledged]);
        model_verify(table, &m);
        const tamis_table_state info = table_state(table);
        recovered += info.recovered;
        calls += acknowledged;
        cut_off += begun - acknowledged;
        assert_ok(tamis_table_close(table));
    }
    printf("# killed %u times after %lu calls; %lu calls cut off, %lu tables made anew\n", rounds,
           (unsigned long)calls, (unsigned long)cut_off, (unsigned long)recovered);
    /* How many children were killed between a change and a close depends on how quick the disk is: a page
     * table is closed, for the reader, until the first change after opening has made its log. */
    assert_true(calls > 0 && recovered > rounds / 10);
    (void)munmap(log, sizeof *log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_killed_process_loses_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
