/* test_table_fork.c - a table in a file is refused in a child, which shares the file with its parent
 *
 * Both would append to one log, and a reader that moves on would take away the other's lock.  The child tells
 * by its exit code which line was not as it should be.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "table_file.h"

#include "table/disk.h"

#include <fcntl.h>
#include <sys/wait.h>

enum { KEYS = 300 };

/* In a child: the first line that fails.  Codes of exits have 8 bits. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 251 + 1;                                                             \
    } while (0)

static tamis_table_params params_of(bool pages) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.seed = 77;
    if (!pages) {
        params.capacity = 4 * KEYS;
        params.key_max = 8;
        params.value_max = 8;
    }
    return params;
}

static tamis_status put_key(tamis_table *table, uint64_t key) {
    return tamis_table_put(table, &key, sizeof key, &key, sizeof key, NULL);
}

static tamis_status get_key(const tamis_table *table, uint64_t key) {
    uint64_t value;
    size_t size;
    const tamis_status status =
        tamis_table_get(table, &key, sizeof key, &value, sizeof value, &size);
    return status == TAMIS_OK && value != key ? TAMIS_E_FORMAT : status;
}

static int open_files(void) {
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* What the child makes of a table of its parent: each call is refused, and closing leaves nothing behind. */
static int child_is_refused(tamis_table *table, test_allocator *memory, int files_before) {
    uint64_t key = 1, at = 0, failures;
    char room[4096];
    size_t size = 0, value_size = 0, n = 0;
    bool told = false;
    const char *reason = NULL;
    tamis_table_state state;
    tamis_table_counts counts;
    tamis_table_state_init(&state);
    tamis_table_counts_init(&counts);
    tamis_table_ask ask = {.key = &key, .key_size = sizeof key, .value = room, .room = sizeof room};
    const tamis_table_item item = {&key, sizeof key, &key, sizeof key};
    const tamis_bytes bytes = {&key, sizeof key};

    NEED(put_key(table, 1000001) == TAMIS_E_LOCKED);
    NEED(get_key(table, 1) == TAMIS_E_LOCKED);
    NEED(tamis_table_delete(table, &key, sizeof key) == TAMIS_E_LOCKED);
    NEED(tamis_table_get_many(table, &ask, 1, &n) == TAMIS_E_LOCKED);
    NEED(ask.status == TAMIS_E_LOCKED && n == 0);
    NEED(tamis_table_put_many(table, &item, 1, &n) == TAMIS_E_LOCKED);
    NEED(tamis_table_delete_many(table, &bytes, 1, &n, &n) == TAMIS_E_LOCKED);
    NEED(tamis_table_next(table, &at, room, &size, room, &value_size) == TAMIS_E_LOCKED);
    NEED(tamis_table_sync(table) == TAMIS_E_LOCKED);
    NEED(tamis_table_refresh(table, &told) == TAMIS_E_LOCKED);
    NEED(tamis_table_rebuild(table, 1000, &told) == TAMIS_E_LOCKED);
    NEED(tamis_table_verify(table, &failures, &reason) == TAMIS_E_LOCKED && reason != NULL);
    NEED(tamis_table_info(table, &state) == TAMIS_E_LOCKED);
    NEED(tamis_table_stats(table, &counts) == TAMIS_E_LOCKED);
    NEED(tamis_table_count(table) == KEYS && at == 0);
    NEED(tamis_table_close(table) == TAMIS_OK);
    NEED(memory->live == 0 && memory->bytes == 0);
    NEED(open_files() == files_before);
    return 0;
}

static int exit_code(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The file is still locked by the parent alone. */
static void assert_locked(bool pages) {
    tamis_table *table = NULL;
    tamis_table_options options = quick_options();
    assert_status(tamis_table_open(path, &options, NULL, &table, NULL), TAMIS_E_LOCKED);
    options.read_only = true;
    if (!pages)
        assert_status(tamis_table_open(path, &options, NULL, &table, NULL), TAMIS_E_LOCKED);
}

/* Child and parent both go on with changes; what the parent was told is there afterwards. */
static void check_writer(bool pages, tamis_table_io io) {
    const tamis_table_params params = params_of(pages);
    tamis_table_options options = quick_options();
    options.io = io;
    test_allocator memory;
    test_allocator_init(&memory, -1);
    tamis_table *table = NULL;
    (void)unlink(path);
    const int files = open_files();
    assert_ok(tamis_table_create_file(path, &params, &options, &memory.allocator, &table, NULL));
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ok(put_key(table, key));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_is_refused(table, &memory, files));
    for (uint64_t key = KEYS; key < KEYS + KEYS / 2; key++)
        assert_ok(put_key(table, key));
    assert_int_equal(exit_code(child), 0);
    assert_locked(pages);
    for (uint64_t key = KEYS + KEYS / 2; key < 2 * KEYS; key++)
        assert_ok(put_key(table, key));
    /* The next child ends without closing it. */
    const pid_t second = fork();
    assert_true(second >= 0);
    if (second == 0)
        _exit(put_key(table, 1000002) == TAMIS_E_LOCKED ? 0 : 1);
    assert_int_equal(exit_code(second), 0);
    assert_locked(pages);
    assert_ok(tamis_table_verify(table, NULL, NULL));
    assert_ok(tamis_table_close(table));
    options.read_only = true;
    table = open_table(&options);
    assert_int_equal(tamis_table_count(table), 2 * KEYS);
    for (uint64_t key = 0; key < 2 * KEYS; key++)
        assert_ok(get_key(table, key));
    assert_ok(tamis_table_verify(table, NULL, NULL));
    assert_ok(tamis_table_close(table));
}

static void test_table_fork_writer_of_pages(void **state) {
    (void)state;
    check_writer(true, TAMIS_TABLE_MAP);
    check_writer(true, TAMIS_TABLE_READ);
}

static void test_table_fork_writer_of_slots(void **state) {
    (void)state;
    check_writer(false, TAMIS_TABLE_MAP);
    check_writer(false, TAMIS_TABLE_DIRECT);
}

/* A child of a reader does not give away the parent's lock, under which the writer keeps what it sees. */
static void check_reader(bool pages) {
    const tamis_table_params params = params_of(pages);
    tamis_table_options options = quick_options(), reading = quick_options();
    reading.read_only = true;
    test_allocator memory;
    test_allocator_init(&memory, -1);
    tamis_table *writer = create_table(&params, &options), *reader = NULL;
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ok(put_key(writer, key));
    assert_ok(tamis_table_close(writer));
    const int files = open_files();
    assert_ok(tamis_table_open(path, &reading, &memory.allocator, &reader, NULL));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_is_refused(reader, &memory, files));
    assert_int_equal(exit_code(child), 0);
    if (pages &&
        tamis_i_lock_exists()) { /* closing makes roots, and uses again what nobody looks at */
        for (unsigned round = 0; round < 3; round++) {
            writer = open_table(&options);
            for (uint64_t key = 0; key < KEYS; key++)
                assert_ok(tamis_table_put(writer, &key, sizeof key, "new", 3, NULL));
            assert_ok(tamis_table_close(writer));
        }
    }
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ok(get_key(reader, key));
    assert_ok(tamis_table_verify(reader, NULL, NULL));
    assert_ok(tamis_table_close(reader));
    assert_int_equal(memory.live, 0);
}

static void test_table_fork_reader(void **state) {
    (void)state;
    check_reader(true);
    check_reader(false);
}

/* The child's own tables are its own, and the grandchild is refused them; a table in memory is copied. */
static int child_has_its_own(tamis_table *memory, const char *own_path) {
    const tamis_table_params params = params_of(true);
    const tamis_table_options options = quick_options();
    tamis_table *own = NULL;
    NEED(put_key(memory, 5) == TAMIS_OK && get_key(memory, 5) == TAMIS_OK);
    NEED(tamis_table_count(memory) == 2);
    NEED(tamis_table_close(memory) == TAMIS_OK);
    NEED(tamis_table_create_file(own_path, &params, &options, NULL, &own, NULL) == TAMIS_OK);
    NEED(put_key(own, 6) == TAMIS_OK && get_key(own, 6) == TAMIS_OK);
    const pid_t grandchild = fork();
    NEED(grandchild >= 0);
    if (grandchild == 0)
        _exit(get_key(own, 6) == TAMIS_E_LOCKED && tamis_table_close(own) == TAMIS_OK ? 0 : 1);
    int status = 1;
    NEED(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    NEED(put_key(own, 7) == TAMIS_OK && tamis_table_close(own) == TAMIS_OK);
    NEED(tamis_table_open(own_path, &options, NULL, &own, NULL) == TAMIS_OK);
    NEED(tamis_table_count(own) == 2);
    NEED(tamis_table_close(own) == TAMIS_OK);
    return 0;
}

static void test_table_fork_child_has_its_own(void **state) {
    (void)state;
    char own_path[sizeof path + 8];
    snprintf(own_path, sizeof own_path, "%s-child", path);
    for (unsigned pages = 0; pages < 2; pages++) {
        const tamis_table_params params = params_of(pages == 1);
        tamis_table *memory = NULL;
        assert_ok(tamis_table_create(&params, NULL, &memory));
        assert_ok(put_key(memory, 1));
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(child_has_its_own(memory, own_path));
        const int code = exit_code(child);
        (void)unlink(own_path);
        assert_int_equal(code, 0);
        assert_status(get_key(memory, 5), TAMIS_E_NOT_FOUND);
        assert_ok(tamis_table_close(memory));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_fork_writer_of_pages),
        cmocka_unit_test(test_table_fork_writer_of_slots),
        cmocka_unit_test(test_table_fork_reader),
        cmocka_unit_test(test_table_fork_child_has_its_own),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
