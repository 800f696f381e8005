/* test_table_readers.c - a writer and readers in processes of their own, killed again and again
 *
 * Change number n is made to key n mod KEYS: most put a value made from n, some delete the key.  So after n
 * changes it is known what every key has, and one look at all keys tells n, or that they do not belong
 * together.  The writer also rebuilds, syncs, closes and opens anew.  Readers open the table, look
 * at all keys twice, catch up, and look again:
 *
 *  - all keys are as after one and the same change n;
 *  - n is not below the last change whose call had returned when the reader opened the table or caught up,
 *    and not above the last that was begun;
 *  - without catching up, the second look finds the same n.
 *
 * The parent kills the writer or a reader at random moments (SIGKILL) and starts another.
 *
 * 60 kills; TAMIS_READERS_KILLS=3000 in the environment for more.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "base/system.h"
#include "support.h"
#include "table_file.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 2000, LONGEST = 5000, READERS = 3 };

/* What the processes share. */
typedef struct board {
    _Atomic uint64_t begun, returned; /* changes */
    _Atomic uint64_t fault;           /* of a child: the line */
    _Atomic uint64_t status;          /* and a status */
    _Atomic uint64_t looks, refreshes, closes, rebuilds;
} board;

#define CHILD_NEEDS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            atomic_store(&b->fault, __LINE__);                                                     \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define CHILD_OK(call)                                                                             \
    do {                                                                                           \
        const tamis_status s = (call);                                                             \
        if (s != TAMIS_OK)                                                                         \
            atomic_store(&b->status, (uint64_t)s);                                                 \
        CHILD_NEEDS(s == TAMIS_OK);                                                                \
    } while (0)

/* Only of keys that are there, so that no two changes leave the same. */
static bool is_deletion(uint64_t n) {
    return n > KEYS && n % 11 == 5;
}

static size_t value_of(uint64_t n, unsigned char value[LONGEST]) {
    const size_t size = n % 101 == 0 ? 1000 + n % (LONGEST - 1000) : 8 + n * 7 % 120;
    memset(value, (int)(n % 251), size);
    memcpy(value, &n, 8);
    return size;
}

/* The last change to a key among the first n, or 0. */
static uint64_t last_change(uint64_t key, uint64_t n) {
    return n < key ? 0 : n - (n - key) % KEYS;
}

/* The number that every key has; 0: it is not there. */
static bool look(const tamis_table *table, uint64_t found[KEYS]) {
    for (uint64_t key = 0; key < KEYS; key++) {
        unsigned char value[LONGEST], wanted[LONGEST];
        size_t size;
        const tamis_status status =
            tamis_table_get(table, &key, sizeof key, value, sizeof value, &size);
        found[key] = 0;
        if (status == TAMIS_E_NOT_FOUND)
            continue;
        if (status != TAMIS_OK || size < 8)
            return false;
        memcpy(found + key, value, 8);
        if (value_of(found[key], wanted) != size || memcmp(value, wanted, size) != 0)
            return false;
    }
    return true;
}

/* After which change is a table like this?  UINT64_MAX: after none. */
static uint64_t change_of(const uint64_t found[KEYS]) {
    uint64_t most = 0;
    for (uint64_t key = 0; key < KEYS; key++)
        most = found[key] > most ? found[key] : most;
    for (uint64_t n = most; n <= most + 1; n++) { /* the last one may be a deletion */
        bool good = true;
        for (uint64_t key = 0; key < KEYS && good; key++) {
            const uint64_t last = last_change(key, n);
            good = found[key] == (is_deletion(last) ? 0 : last);
        }
        if (good)
            return n;
    }
    return UINT64_MAX;
}

static void write_on(board *b, uint64_t random) {
    static uint64_t found[KEYS];
    tamis_table *table = NULL;
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.sync = test_random_below(&random, 3) == 0 ? TAMIS_SYNC_BATCH : TAMIS_SYNC_NONE;
    options.io = test_random_below(&random, 2) == 0 ? TAMIS_TABLE_MAP : TAMIS_TABLE_READ;
    CHILD_OK(tamis_table_open(path, &options, NULL, &table, NULL));
    CHILD_NEEDS(look(table, found));
    uint64_t n = change_of(found);
    CHILD_NEEDS(n == atomic_load(&b->begun) || n == atomic_load(&b->returned));
    for (;;) {
        unsigned char value[LONGEST];
        n++;
        const uint64_t key = n % KEYS;
        atomic_store(&b->begun, n);
        if (is_deletion(n)) {
            const tamis_status status = tamis_table_delete(table, &key, sizeof key);
            CHILD_NEEDS(status == TAMIS_OK || status == TAMIS_E_NOT_FOUND);
        } else {
            CHILD_OK(tamis_table_put(table, &key, sizeof key, value, value_of(n, value), NULL));
        }
        atomic_store(&b->returned, n);
        if (test_random_below(&random, 1000) == 0)
            CHILD_OK(tamis_table_sync(table));
        if (test_random_below(&random, 1000) == 0) {
            CHILD_OK(tamis_table_rebuild(table, UINT64_MAX, NULL));
            atomic_fetch_add(&b->rebuilds, 1);
        }
        if (test_random_below(&random, 700) == 0) {
            CHILD_OK(tamis_table_close(table));
            atomic_fetch_add(&b->closes, 1);
            CHILD_OK(tamis_table_open(path, &options, NULL, &table, NULL));
        }
    }
}

/* Look at all keys; the change, which is from 'low' on. */
static uint64_t look_for(board *b, const tamis_table *table, uint64_t low) {
    static uint64_t found[KEYS];
    CHILD_NEEDS(look(table, found));
    const uint64_t n = change_of(found);
    CHILD_NEEDS(n != UINT64_MAX);
    CHILD_NEEDS(n >= low);
    CHILD_NEEDS(n <= atomic_load(&b->begun));
    atomic_fetch_add(&b->looks, 1);
    return n;
}

static void read_on(board *b, uint64_t random) {
    for (;;) {
        tamis_table *table = NULL;
        tamis_table_options options;
        tamis_table_options_init(&options);
        options.read_only = true;
        options.io = test_random_below(&random, 2) == 0 ? TAMIS_TABLE_MAP : TAMIS_TABLE_READ;
        uint64_t low = atomic_load(&b->returned);
        CHILD_OK(tamis_table_open(path, &options, NULL, &table, NULL));
        uint64_t n = look_for(b, table, low);
        for (uint64_t i = test_random_below(&random, 20); i > 0; i--) {
            CHILD_NEEDS(look_for(b, table, n) == n);
            low = atomic_load(&b->returned);
            CHILD_OK(tamis_table_refresh(table, NULL));
            atomic_fetch_add(&b->refreshes, 1);
            n = look_for(b, table, low > n ? low : n);
        }
        CHILD_OK(tamis_table_verify(table, NULL, NULL));
        CHILD_OK(tamis_table_close(table));
    }
}

static pid_t start(board *b, bool writes, uint64_t random) {
    const pid_t parent = getpid(), pid = fork();
    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    /* None goes on without its parent, which may have failed. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    if (writes)
        write_on(b, random);
    else
        read_on(b, random);
    _exit(0);
}

static void end(board *b, pid_t pid) {
    int code;
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    if (atomic_load(&b->fault) != 0)
        fail_msg("a child failed at line %d, status %d", (int)atomic_load(&b->fault),
                 (int)atomic_load(&b->status));
    if (!WIFSIGNALED(code) || WTERMSIG(code) != SIGKILL)
        fail_msg("a child ended by itself: %d", code);
}

static void test_readers_beside_a_writer_see_one_state(void **state) {
    (void)state;
#ifndef TAMIS_I_HAS_BYTE_LOCKS
    skip();
#endif
    const char *const text = getenv("TAMIS_READERS_KILLS");
    const unsigned kills = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 60;
    uint64_t random = test_seed();
    board *const b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(b != MAP_FAILED);
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.value_max = LONGEST;
    params.seed = test_seed();
    const tamis_table_options options = quick_options();
    assert_ok(tamis_table_close(create_table(&params, &options)));

    pid_t pids[READERS + 1];
    for (unsigned i = 0; i <= READERS; i++)
        pids[i] = start(b, i == READERS, test_random(&random));
    for (unsigned i = 0; i < kills; i++) {
        const struct timespec time = {.tv_nsec = (long)test_random_below(&random, 40000000)};
        (void)nanosleep(&time, NULL);
        const unsigned which = i % 2 == 0 ? READERS : (unsigned)test_random_below(&random, READERS);
        end(b, pids[which]);
        pids[which] = start(b, which == READERS, test_random(&random));
    }
    for (unsigned i = 0; i <= READERS; i++)
        end(b, pids[i]);

    /* The file has room for what it holds, and the places that readers kept are free again. */
    static uint64_t found[KEYS];
    tamis_table *table = open_table(&options);
    assert_true(look(table, found));
    const uint64_t n = change_of(found), before = tamis_table_count(table);
    assert_true(n == atomic_load(&b->begun) || n == atomic_load(&b->returned));
    assert_ok(tamis_table_put(table, "x", 1, "", 0, NULL));
    assert_ok(tamis_table_close(table));
    table = open_table(&options);
    assert_true(tamis_table_count(table) == before + 1);
    print_message("%u kills, %llu changes; %llu looks at all, caught up %llu times, closed %llu, "
                  "rebuilt %llu times; %llu KiB\n",
                  kills, (unsigned long long)n, (unsigned long long)atomic_load(&b->looks),
                  (unsigned long long)atomic_load(&b->refreshes),
                  (unsigned long long)atomic_load(&b->closes),
                  (unsigned long long)atomic_load(&b->rebuilds),
                  (unsigned long long)table_state(table).slow_bytes / 1024);
    assert_true(n < KEYS || table_state(table).slow_bytes < 1000000);
    assert_true(n > 0 && atomic_load(&b->looks) > 0 && atomic_load(&b->refreshes) > 0);
    assert_ok(tamis_table_close(table));
    (void)munmap(b, sizeof *b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_beside_a_writer_see_one_state),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
