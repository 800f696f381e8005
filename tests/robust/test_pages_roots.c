/* test_pages_roots.c - when a page table writes a root, and when a reader lets go of one
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "table_file.h"

#include "table/table.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { KEYS = 2000, MOST = 5 };

static tamis_table_params page_params(void) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.seed = 5;
    return params;
}

static void put_key(tamis_table *table, uint64_t key, unsigned round) {
    unsigned char value[100];
    memset(value, (int)(round % 251), sizeof value);
    assert_ok(tamis_table_put(table, &key, 8, value, sizeof value, NULL));
}

/* A root is written before a change that finds the highest number of fresh pages, and not before one that
 * finds fewer, while the log has room. */
static void test_roots_are_written_when_they_are_due(void **state) {
    (void)state;
    const tamis_table_params params = page_params();
    const tamis_table_options options = quick_options();
    tamis_table *const table = create_table(&params, &options);
    uint64_t random = test_seed();
    unsigned roots = 0;
    for (uint64_t key = 0; key < KEYS; key++)
        put_key(table, key, 0);
    tamis_i_pages *const p = table->pages;
    assert_true(p->n_leaves > 8 * MOST && p->log_at != 0);
    p->most_fresh = MOST;
    for (unsigned i = 0; i < 500; i++) {
        const uint64_t epoch = p->epoch;
        const bool due = p->live_fresh >= MOST || p->log_used + 200 > tamis_i_pages_log_bytes(p);
        assert_true(tamis_i_pages_waiting(p) < 1000);
        put_key(table, test_random_below(&random, KEYS), i); /* as long as before */
        assert_true((p->epoch > epoch) == due);
        assert_true(p->live_fresh <= MOST);
        roots += due;
    }
    assert_true(roots > 500 / MOST / 2 && roots < 500 / 2);
    assert_ok(tamis_table_verify(table, NULL, NULL));
    assert_ok(tamis_table_close(table));
}

static uint64_t file_size(void) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return (uint64_t)about.st_size;
}

/* A reader that goes on keeps only what it looks at: the writer uses the rest again, and the file stays as
 * long as a few copies of the table.  One that stays where it is makes it grow. */
static void test_readers_that_go_on_let_go(void **state) {
    (void)state;
    if (!tamis_i_lock_exists())
        skip();
    uint64_t sizes[2];
    for (unsigned goes_on = 0; goes_on < 2; goes_on++) {
        const tamis_table_params params = page_params();
        tamis_table_options options = quick_options(), reading = quick_options();
        reading.read_only = true;
        tamis_table *writer = create_table(&params, &options);
        for (uint64_t key = 0; key < KEYS; key++)
            put_key(writer, key, 0);
        assert_ok(tamis_table_close(writer));
        tamis_table *const reader = open_table(&reading);
        for (unsigned round = 1; round <= 20; round++) {
            bool changed = false;
            writer = open_table(&options);
            for (uint64_t key = 0; key < KEYS; key++)
                put_key(writer, key, round);
            assert_ok(tamis_table_close(writer));
            if (goes_on)
                assert_ok(tamis_table_refresh(reader, &changed));
            assert_int_equal(changed, goes_on);
        }
        sizes[goes_on] = file_size();
        assert_ok(tamis_table_verify(reader, NULL, NULL));
        assert_ok(tamis_table_close(reader));
    }
    print_message("# %llu bytes with a reader that stays, %llu with one that goes on\n",
                  (unsigned long long)sizes[0], (unsigned long long)sizes[1]);
    assert_true(sizes[0] > 2 * sizes[1]);
}

/* Locks of roots, of several readers, one by one. */
static void test_locks_of_roots(void **state) {
    (void)state;
    if (!tamis_i_lock_exists())
        skip();
    int fd[3]; /* a writer and two readers */
    for (unsigned i = 0; i < 3; i++) {
        fd[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd[i] >= 0);
    }
    assert_ok(tamis_i_lock_writer(fd[0], false));
    assert_status(tamis_i_lock_writer(fd[1], false), TAMIS_E_LOCKED);
    assert_false(tamis_i_lock_any(fd[0], TAMIS_I_PAGES_EPOCHS));
    assert_ok(tamis_i_lock_root(fd[1], 7));
    assert_ok(tamis_i_lock_root(fd[1], 8));
    assert_ok(tamis_i_lock_root(fd[2], 8));
    assert_false(tamis_i_lock_any(fd[0], 6));
    assert_true(tamis_i_lock_any(fd[0], 7));
    tamis_i_lock_leave(fd[1], 7);
    assert_false(tamis_i_lock_any(fd[0], 7));
    assert_true(tamis_i_lock_any(fd[0], 8));
    tamis_i_lock_leave(fd[1], 8);
    assert_true(tamis_i_lock_any(fd[0], 8));
    tamis_i_lock_leave(fd[2], 8);
    assert_false(tamis_i_lock_any(fd[0], TAMIS_I_PAGES_EPOCHS));
    /* To leave one is to keep those after it, and before it. */
    for (uint64_t epoch = 10; epoch < 13; epoch++)
        assert_ok(tamis_i_lock_root(fd[1], epoch));
    tamis_i_lock_leave(fd[1], 11);
    assert_true(tamis_i_lock_any(fd[0], 10));
    tamis_i_lock_leave(fd[1], 10);
    assert_false(tamis_i_lock_any(fd[0], 11));
    assert_true(tamis_i_lock_any(fd[0], 12));
    for (unsigned i = 3; i-- > 0;)
        assert_int_equal(close(fd[i]), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_are_written_when_they_are_due),
        cmocka_unit_test(test_readers_that_go_on_let_go),
        cmocka_unit_test(test_locks_of_roots),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
