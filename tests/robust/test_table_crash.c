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
 * Then the same with a page table that grows from nothing to thousands of items, some with long values.  Some
 * are replaced and deleted, one by one and in batches: 40 rounds, or TAMIS_CRASH_GROWING.
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
    bool only_puts;
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
        c->what = log->only_puts || test_random_below(&random, 10) < 6 ? PUT : DELETE;
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

enum { PAGES = N_SUMMARIES, SONG };

/* A table with this summary, or a page table. */
static void new_table(unsigned kind) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    if (kind == SONG) { /* so full that items move all the time, and some have no place */
        params = model_params(MODEL_KEYS, TAMIS_SUMMARY_SONG);
        params.stash = MODEL_KEYS;
        params.n_levels = 4;
        for (unsigned i = 0; i < 4; i++)
            params.buckets[i] = params.cells[i] = MODEL_KEYS / 3;
        params.counter_bits[0] = 3;
    } else if (kind < N_SUMMARIES) { /* full enough for later sub-tables, and a stash in use */
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

/* Of a table to which items are only added, a few rounds: then all are in. */
static void kill_again_and_again(bool song) {
    const char *const text = getenv("TAMIS_CRASH_ROUNDS");
    const unsigned rounds = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 100;
    const bool pages_only = getenv("TAMIS_CRASH_PAGES") != NULL;
    uint64_t random = test_seed();
    uint64_t calls = 0, cut_off = 0, recovered = 0;
    static model m;
    journal *const log = mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(log != MAP_FAILED);
    log->only_puts = song;

    for (unsigned round = 0; round < rounds; round++) {
        if (round % (song ? 3 : 10) == 0) {
            new_table(song ? SONG : pages_only ? PAGES : round / 10 % (N_SUMMARIES + 1));
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

static void test_table_killed_process_loses_nothing(void **state) {
    (void)state;
    kill_again_and_again(false);
}

static void test_table_killed_while_items_move_loses_nothing(void **state) {
    (void)state;
    kill_again_and_again(true);
}

/* -------------------------------------------------------------------------------------------------
 * A table that grows
 *
 * What change number n does follows from n, so the log is two numbers.
 */

enum { GROWN_MAX = 1 << 20, LONGEST = 9000, BATCH = 50 };

/* The key that change n is about: mostly a new one, n itself. */
static uint32_t grown_key(uint32_t n, bool *deletes) {
    uint64_t random = n;
    const uint64_t kind = test_random_below(&random, 10);
    *deletes = n > 1 && kind < 2;
    return kind < 4 && n > 1 ? 1 + (uint32_t)test_random_below(&random, n - 1) : n;
}

static size_t grown_value(uint32_t n, unsigned char value[LONGEST]) {
    const size_t size = n % 97 == 0 ? 900 + n % (LONGEST - 900) : 4 + n % 60;
    memset(value, (int)(n % 251), size);
    memcpy(value, &n, 4);
    return size;
}

/* A change by itself. */
static bool grow_once(tamis_table *table, uint32_t n) {
    unsigned char value[LONGEST];
    bool deletes;
    const uint32_t key = grown_key(n, &deletes);
    if (!deletes)
        return tamis_table_put(table, &key, sizeof key, value, grown_value(n, value), NULL) ==
               TAMIS_OK;
    const tamis_status status = tamis_table_delete(table, &key, sizeof key);
    return status == TAMIS_OK || status == TAMIS_E_NOT_FOUND;
}

/* The changes from n on as a batch, as far as all of them put: how many. */
static uint32_t grow_many(tamis_table *table, uint32_t n, bool *good) {
    static unsigned char values[BATCH][LONGEST];
    static uint32_t keys[BATCH];
    tamis_table_item items[BATCH];
    uint32_t most = 0;
    for (; most < BATCH; most++) {
        bool deletes;
        keys[most] = grown_key(n + most, &deletes);
        if (deletes)
            break;
        items[most] = (tamis_table_item){.key = keys + most,
                                         .key_size = sizeof *keys,
                                         .value = values[most],
                                         .value_size = grown_value(n + most, values[most])};
    }
    *good = tamis_table_put_many(table, items, most, NULL) == TAMIS_OK;
    return most;
}

static void growing_child(journal *log, const tamis_table_options *options, uint64_t random,
                          uint32_t n) {
    tamis_table *table = NULL;
    CHILD_NEEDS(tamis_table_open(path, options, NULL, &table, NULL) == TAMIS_OK);
    while (n < GROWN_MAX - BATCH) {
        bool good = true, deletes;
        (void)grown_key(n + 1, &deletes);
        if (!deletes && test_random_below(&random, 20) == 0) {
            atomic_store(&log->begun, n + BATCH); /* at most */
            n += grow_many(table, n + 1, &good);
        } else {
            atomic_store(&log->begun, n + 1);
            good = grow_once(table, ++n);
        }
        CHILD_NEEDS(good);
        atomic_store(&log->begun, n);
        atomic_store(&log->acknowledged, n);
        if (test_random_below(&random, 300) == 0)
            CHILD_NEEDS(tamis_table_sync(table) == TAMIS_OK);
        if (test_random_below(&random, 500) == 0)
            CHILD_NEEDS(tamis_table_rebuild(table, test_random_below(&random, 3), NULL) ==
                        TAMIS_OK);
        if (test_random_below(&random, 500) == 0) {
            CHILD_NEEDS(tamis_table_close(table) == TAMIS_OK);
            CHILD_NEEDS(tamis_table_open(path, options, NULL, &table, NULL) == TAMIS_OK);
        }
    }
    _exit(0);
}

/* What every key has after n changes: the last of these that put it, or 0. */
static void grown_model(uint32_t *grown, uint32_t from, uint32_t n) {
    for (uint32_t i = from + 1; i <= n; i++) {
        bool deletes;
        const uint32_t key = grown_key(i, &deletes);
        grown[key] = deletes ? 0 : i;
    }
}

/* Does the table have this? */
static bool is_grown(const tamis_table *table, const uint32_t *grown, uint32_t n) {
    uint64_t count = 0;
    for (uint32_t key = 1; key <= n + BATCH; key++) {
        unsigned char value[LONGEST], wanted[LONGEST];
        size_t size = 0;
        const tamis_status status =
            tamis_table_get(table, &key, sizeof key, value, sizeof value, &size);
        assert_true(status == TAMIS_OK || status == TAMIS_E_NOT_FOUND);
        count += status == TAMIS_OK;
        if (key > n || grown[key] == 0
                ? status == TAMIS_OK
                : status != TAMIS_OK || size != grown_value(grown[key], wanted) ||
                      memcmp(value, wanted, size) != 0)
            return false;
    }
    return count == tamis_table_count(table);
}

static void test_table_killed_while_it_grows_loses_nothing(void **state) {
    (void)state;
    const char *const text = getenv("TAMIS_CRASH_GROWING");
    const unsigned rounds = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 40;
    uint64_t random = test_seed() + 1, calls = 0, cut_off = 0, recovered = 0;
    uint32_t n = 0, largest = 0;
    uint32_t *const grown = calloc(GROWN_MAX + 1, sizeof *grown);
    journal *const log = mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(log != MAP_FAILED && grown != NULL);
    for (unsigned round = 0; round < rounds; round++) {
        if (round % (text != NULL ? 150 : 20) == 0) {
            tamis_table_params params;
            tamis_table_params_init(&params);
            params.value_max = LONGEST;
            params.seed = test_random(&random);
            const tamis_table_options options = quick_options();
            assert_ok(tamis_table_close(create_table(&params, &options)));
            memset(grown, 0, (GROWN_MAX + 1) * sizeof *grown);
            n = 0;
        }
        tamis_table_options options;
        tamis_table_options_init(&options);
        options.io = (tamis_table_io)(round / 2 % 2);
        options.sync = round % 7 == 0   ? TAMIS_SYNC_EACH
                       : round % 2 == 0 ? TAMIS_SYNC_BATCH
                                        : TAMIS_SYNC_NONE;
        atomic_store(&log->begun, n);
        atomic_store(&log->acknowledged, n);
        const uint64_t seed = test_random(&random);
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            growing_child(log, &options, seed, n);
        for (unsigned i = 0; i < 2000 && round % 4 != 0; i++) {
            if (atomic_load(&log->acknowledged) != n || atomic_load(&log->fault) != 0)
                break;
            wait_nanoseconds(20000);
        }
        wait_nanoseconds(test_random_below(&random, 8000000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        int code;
        assert_int_equal(waitpid(pid, &code, 0), pid);
        if (atomic_load(&log->fault) != 0)
            fail_msg("the child failed at line %d", (int)atomic_load(&log->fault));

        const uint32_t acknowledged = (uint32_t)atomic_load(&log->acknowledged);
        const uint32_t begun = (uint32_t)atomic_load(&log->begun);
        calls += acknowledged - n;
        cut_off += begun > acknowledged;
        grown_model(grown, n, acknowledged);
        n = acknowledged;
        tamis_table *const table = open_quietly(round % 3 == 0);
        const char *reason = "";
        if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
            fail_msg("verify: %s", reason);
        /* of a batch that was cut off, the first changes */
        while (!is_grown(table, grown, n)) {
            if (n == begun)
                fail_msg("a change up to %u is lost, or is there twice", acknowledged);
            grown_model(grown, n, n + 1);
            n++;
        }
        recovered += table_state(table).recovered;
        if (tamis_table_count(table) > largest)
            largest = (uint32_t)tamis_table_count(table);
        assert_ok(tamis_table_close(table));
    }
    printf(
        "# killed %u times after %lu changes; %lu calls cut off, %lu tables made anew; up to %lu "
        "items\n",
        rounds, (unsigned long)calls, (unsigned long)cut_off, (unsigned long)recovered,
        (unsigned long)largest);
    assert_true(calls > 0 && recovered > rounds / 10);
    free(grown);
    (void)munmap(log, sizeof *log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_killed_process_loses_nothing),
        cmocka_unit_test(test_table_killed_while_items_move_loses_nothing),
        cmocka_unit_test(test_table_killed_while_it_grows_loses_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
