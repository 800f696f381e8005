/* test_allocation.c - every allocation is made to fail in turn
 *
 * Whatever makes a filter either succeeds or returns TAMIS_E_NOMEM, with nothing left behind: no memory,
 * no mapping, no descriptor; the source of a copy keeps its bytes, and errno its value.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "filter/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define UNTOUCHED ((tamis_filter *)(uintptr_t)0x5a5a5a40u)

/* What the ways to make a filter start from. */
typedef struct material {
    tamis_params params;
    tamis_filter *filter;
    unsigned char *bytes;
    size_t size;
    char path[512];
} material;

/* 'n' keys at 1 %: for 100,000 the file is larger than the first buffer of a pipe. */
static void material_init(material *m, tamis_kind kind, uint64_t n) {
    m->params = test_params(kind, n, 0.01, 11);
    m->filter = test_filter(kind, n, 0.01, 11);
    for (uint64_t key = 0; key < n; key++)
        assert_ok(tamis_filter_insert_u64(m->filter, key, NULL));
    m->bytes = test_encoded(m->filter, &m->size);
    snprintf(m->path, sizeof m->path, "%s", test_path("allocation"));
    assert_ok(tamis_filter_save(m->filter, m->path, NULL));
}

static void material_free(material *m) {
    (void)unlink(m->path);
    free(m->bytes);
    tamis_filter_free(m->filter);
}

/* A way to make a filter. */
typedef tamis_status make(material *m, const tamis_allocator *allocator, tamis_filter **filter,
                          const char **reason);

static tamis_status make_create(material *m, const tamis_allocator *allocator,
                                tamis_filter **filter, const char **reason) {
    const tamis_status status = tamis_filter_create(&m->params, allocator, filter);
    if (status != TAMIS_OK)
        *reason = "none is given";
    return status;
}

static tamis_status make_clone(material *m, const tamis_allocator *allocator, tamis_filter **filter,
                               const char **reason) {
    const tamis_status status = tamis_filter_clone(m->filter, allocator, filter);
    if (status != TAMIS_OK)
        *reason = "none is given";
    return status;
}

static tamis_status make_decode(material *m, const tamis_allocator *allocator,
                                tamis_filter **filter, const char **reason) {
    return tamis_filter_decode(m->bytes, m->size, allocator, filter, reason);
}

static tamis_status make_load(material *m, const tamis_allocator *allocator, tamis_filter **filter,
                              const char **reason) {
    return tamis_filter_load(m->path, allocator, filter, reason);
}

static tamis_status make_view(material *m, const tamis_allocator *allocator, tamis_filter **filter,
                              const char **reason) {
    return tamis_filter_view(m->bytes, m->size, allocator, filter, reason);
}

static tamis_status make_map(material *m, const tamis_allocator *allocator, tamis_filter **filter,
                             const char **reason) {
    return tamis_filter_map(m->path, allocator, filter, reason);
}

static tamis_status make_map_trusted(material *m, const tamis_allocator *allocator,
                                     tamis_filter **filter, const char **reason) {
    return tamis_filter_map_trusted(m->path, allocator, filter, reason);
}

typedef struct writer {
    int fd;
    const unsigned char *bytes;
    size_t size;
} writer;

static void *write_all(void *argument) {
    const writer *const w = argument;
    size_t done = 0;
    while (done < w->size) {
        const ssize_t n = write(w->fd, w->bytes + done, w->size - done);
        if (n <= 0)
            break; /* the reader has gone, as it should after a failure */
        done += (size_t)n;
    }
    (void)close(w->fd);
    return NULL;
}

static tamis_status make_from_pipe(material *m, const tamis_allocator *allocator,
                                   tamis_filter **filter, const char **reason) {
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    writer w = {ends[1], m->bytes, m->size};
    assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
    const tamis_status status = tamis_filter_load_fd(ends[0], allocator, filter, reason);
    (void)close(ends[0]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return status;
}

/* The lowest free descriptor: the same before and after, if none was left open. */
static int next_descriptor(void) {
    const int fd = open("/dev/null", O_RDONLY);
    assert_true(fd >= 0);
    (void)close(fd);
    return fd;
}

/* Is the file mapped?  false where the system does not tell. */
static bool is_mapped(const char *path) {
    FILE *const maps = fopen("/proc/self/maps", "r");
    bool found = false;
    char line[1024];
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
        found = strstr(line, path) != NULL;
    if (maps != NULL)
        (void)fclose(maps);
    return found;
}

/* A filter is one block; a view that is verified in parts has a second. */
static long blocks_of(const tamis_filter *filter) {
    return filter->guard == NULL ? 1 : 2;
}

/* Returns the number of allocations that it takes. */
static long fail_in_turn(material *m, make *way) {
    const int descriptor = next_descriptor();
    for (long fail_at = 0;; fail_at++) {
        test_allocator t;
        test_allocator_init(&t, fail_at);
        tamis_filter *made = UNTOUCHED;
        const char *reason = NULL;
        errno = 12345;
        const tamis_status status = way(m, &t.allocator, &made, &reason);
        const int error = errno;
        assert_int_equal(error, 12345);
        assert_int_equal(next_descriptor(), descriptor);
        assert_encoded(m->filter, m->bytes, m->size);
        if (status == TAMIS_OK) {
            assert_int_equal(t.calls, fail_at); /* each of them has failed once */
            assert_int_equal(t.live, blocks_of(made));
            assert_null(reason);
            if (way != make_create)
                assert_encoded(made, m->bytes, m->size);
            tamis_filter_free(made);
            assert_int_equal(t.live, 0);
            assert_int_equal(t.bytes, 0);
            assert_false(is_mapped(m->path));
            return fail_at;
        }
        assert_status(status, TAMIS_E_NOMEM);
        assert_ptr_equal(made, UNTOUCHED);
        assert_non_null(reason);
        assert_int_equal(t.live, 0);
        assert_int_equal(t.bytes, 0);
        assert_false(is_mapped(m->path));
        assert_true(fail_at < 100);
    }
}

#define for_each_kind(kind) for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)

static void each_kind_fails_in_turn(make *way, long allocations) {
    for_each_kind(kind) {
        material m;
        material_init(&m, kind, 1000);
        assert_int_equal(fail_in_turn(&m, way), allocations);
        material_free(&m);
    }
}

static void test_create_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    each_kind_fails_in_turn(make_create, 1);
}

static void test_clone_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    each_kind_fails_in_turn(make_clone, 1);
}

static void test_decode_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    each_kind_fails_in_turn(make_decode, 1);
}

static void test_load_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    each_kind_fails_in_turn(make_load, 1);
}

static void test_view_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    each_kind_fails_in_turn(make_view, 1);
}

static void test_map_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    each_kind_fails_in_turn(make_map, 1);
    each_kind_fails_in_turn(make_map_trusted, 2); /* the filter, and its guard */
    for_each_kind(kind) {
        material m;
        material_init(&m, kind, 100000); /* a file that is verified in parts */
        assert_int_equal(fail_in_turn(&m, make_map), 2);
        material_free(&m);
    }
}

static void test_pipe_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    each_kind_fails_in_turn(make_from_pipe, 2); /* the buffer, then the filter */
    for_each_kind(kind) {
        material m;
        material_init(&m, kind, 100000);
        assert_true(fail_in_turn(&m, make_from_pipe) >= 3); /* the buffer grows */
        material_free(&m);
    }
}

/* Nothing but making a filter allocates: with an allocator that would fail, all else works. (But merging
 * does, of kinds whose union is made aside: windows, unit_window, and lines.) */
static void test_calls_on_a_filter_do_not_allocate(void **state) {
    (void)state;
    for_each_kind(kind) {
        test_allocator t;
        test_allocator_init(&t, 2);
        const tamis_params params = test_params(kind, 1000, 0.01, 5);
        tamis_filter *a, *b;
        assert_ok(tamis_filter_create(&params, &t.allocator, &a));
        assert_ok(tamis_filter_create(&params, &t.allocator, &b));
        uint64_t keys[100];
        for (uint64_t i = 0; i < 100; i++)
            keys[i] = i;
        for (uint64_t key = 0; key < 500; key++)
            assert_ok(tamis_filter_insert_u64(a, key, NULL));
        assert_ok(tamis_filter_insert_many_u64(b, keys, 100, NULL, NULL));
        assert_int_equal(tamis_filter_contains_many_u64(b, keys, 100, NULL), 100);
        const bool aside = kind == TAMIS_KIND_LINE;
        if ((tamis_kind_abilities(kind) & TAMIS_CAN_FORGET) == 0) {
            const tamis_status merged = tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND);
            assert_true(aside ? merged == TAMIS_E_NOMEM
                              : merged == TAMIS_OK || merged == TAMIS_E_UNSUPPORTED);
            assert_true(!aside || tamis_filter_count(a) == 500);
        }
        if (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE)
            assert_ok(tamis_filter_remove_many_u64(b, keys, 100, NULL, NULL));
        (void)test_info(a);
        assert_ok(tamis_filter_clear(b));
        size_t size;
        free(test_encoded(a, &size));
        assert_int_equal(t.calls, aside ? 3 : 2);
        tamis_filter_free(a);
        tamis_filter_free(b);
        assert_int_equal(t.live, 0);
    }
}

/* The planner tells beforehand what is allocated: the body, and a handle of 3264 bytes at most. */
static void test_create_takes_what_was_planned(void **state) {
    (void)state;
    for_each_kind(kind) {
        const uint64_t sizes[] = {1, 1000, 1000000};
        for (unsigned i = 0; i < 3; i++) {
            const tamis_need need = test_need(kind, sizes[i], 0);
            const tamis_plan plan = test_planned(&need);
            test_allocator t;
            test_allocator_init(&t, -1);
            tamis_filter *f;
            assert_ok(tamis_filter_create(&plan.params, &t.allocator, &f));
            assert_in_range(t.bytes, plan.bytes, plan.bytes + 3264);
            tamis_filter_free(f);
        }
    }
}

/* Tables begin with an aligned pair of lines, whatever comes before: the stash has many sizes. */
static void test_tables_begin_with_a_pair_of_lines(void **state) {
    (void)state;
    for_each_kind(kind) {
        for (uint64_t stash = 1; stash < 40; stash += 3) {
            tamis_params params = test_params(kind, 1000, 0.01, 3);
            tamis_filter *f, *copy;
            params.stash = params.stash == 0 ? 0 : params.stash + stash;
            assert_ok(tamis_filter_create(&params, NULL, &f));
            assert_int_equal((uintptr_t)f->table % (2 * (uintptr_t)TAMIS_LINE_BYTES), 0);
            assert_ok(tamis_filter_clone(f, NULL, &copy));
            assert_int_equal((uintptr_t)copy->table % (2 * (uintptr_t)TAMIS_LINE_BYTES), 0);
            tamis_filter_free(copy);
            tamis_filter_free(f);
        }
    }
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN); /* a pipe whose reader fails early */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_clone_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_decode_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_load_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_view_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_map_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_pipe_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_calls_on_a_filter_do_not_allocate),
        cmocka_unit_test(test_create_takes_what_was_planned),
        cmocka_unit_test(test_tables_begin_with_a_pair_of_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
