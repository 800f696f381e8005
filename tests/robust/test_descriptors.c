/* test_descriptors.c - loading from whatever a descriptor can be
 *
 * Files at an offset, pipes that are slow, devices and directories, files that change while they are read,
 * and memory that runs out on the way.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "robust.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define SMALL 300u   /* keys: some hundred bytes of table */
#define LARGE 40000u /* keys: 50 KiB and more */

static void test_descriptors_failing_allocations_are_clean(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        size_t size;
        unsigned char *const bytes = make_bytes(kind, LARGE, &size);
        loader l;
        loader_open(&l, "nomem", size);
        for (way w = FROM_MEMORY; w < N_WAYS; w++) {
            if (!way_exists(w))
                continue;
            for (long fail_at = 0;; fail_at++) {
                test_allocator memory;
                test_allocator_init(&memory, fail_at);
                tamis_filter *filter = NULL;
                const char *reason = NULL;
                const tamis_status status =
                    load_by(&l, w, bytes, size, &memory.allocator, &filter, &reason);
                if (status == TAMIS_OK) {
                    assert_true(memory.calls <= fail_at);
                    tamis_filter_free(filter);
                    assert_int_equal(memory.live, 0);
                    break;
                }
                assert_status(status, TAMIS_E_NOMEM);
                assert_non_null(reason);
                assert_null(filter);
                assert_int_equal(memory.live, 0);
            }
        }
        loader_close(&l);
        free(bytes);
    }
}

static void test_descriptors_descriptor_at_offset_loads_the_rest(void **state) {
    (void)state;
    size_t size;
    unsigned char *const bytes = make_bytes(TAMIS_KIND_BLOOM, SMALL, &size);
    loader l;
    loader_open(&l, "offset", size);
    const off_t offsets[] = {0, 1, 13, 255, 4096};
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(ftruncate(l.fd, 0), 0);
        assert_true(pwrite(l.fd, bytes, size, offsets[i]) == (ssize_t)size);
        assert_true(lseek(l.fd, offsets[i], SEEK_SET) == offsets[i]);
        tamis_filter *filter;
        assert_ok(tamis_filter_load_fd(l.fd, NULL, &filter, NULL));
        assert_true(tamis_filter_contains_u64(filter, 0));
        tamis_filter_free(filter);
        assert_true(lseek(l.fd, 0, SEEK_CUR) ==
                    offsets[i] + (off_t)size); /* open, and at the end */
        const char *reason;
        assert_status(tamis_filter_load_fd(l.fd, NULL, &filter, &reason), TAMIS_E_FORMAT);
        assert_string_equal(reason, "the file is empty");
        if (offsets[i] != 0) {
            assert_true(lseek(l.fd, offsets[i] - 1, SEEK_SET) == offsets[i] - 1);
            assert_status(tamis_filter_load_fd(l.fd, NULL, &filter, &reason), TAMIS_E_FORMAT);
        }
    }
    assert_true(lseek(l.fd, (off_t)INT64_MAX - 8192, SEEK_SET) < 0 ||
                tamis_filter_load_fd(l.fd, NULL, &(tamis_filter *){NULL}, NULL) == TAMIS_E_FORMAT);
    loader_close(&l);
    free(bytes);
}

static void test_descriptors_things_that_are_no_files_refused(void **state) {
    (void)state;
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    assert_status(tamis_filter_load("/", NULL, &filter, &reason), TAMIS_E_IO);
    assert_string_equal(reason, "is a directory");
    assert_status(tamis_filter_map("/", NULL, &filter, &reason), TAMIS_E_IO);
    assert_string_equal(reason, "is a directory");
    assert_status(tamis_filter_load("/dev/zero", NULL, &filter, &reason), TAMIS_E_FORMAT);
    assert_string_equal(reason, "this is not a tamis file");
    assert_status(tamis_filter_load("/dev/null", NULL, &filter, &reason), TAMIS_E_FORMAT);
    assert_string_equal(reason, "the file is empty");
    assert_status(tamis_filter_map("/dev/zero", NULL, &filter, &reason), TAMIS_E_IO);
    assert_string_equal(reason, "only regular files can be mapped");
    assert_status(tamis_filter_load(test_path("missing"), NULL, &filter, &reason), TAMIS_E_IO);
    assert_string_equal(reason, "no such file or directory");
    /* regular files without a length of their own */
    if (access("/proc/self/status", R_OK) == 0) {
        assert_status(tamis_filter_load("/proc/self/status", NULL, &filter, &reason),
                      TAMIS_E_FORMAT);
        assert_string_equal(reason, "this is not a tamis file");
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_status(tamis_filter_load_fd(ends[1], NULL, &filter, &reason), TAMIS_E_IO);
    assert_string_equal(reason, "the descriptor is not open for this");
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
    assert_null(filter);
}

/* Between the look at a file's length and the reading of its body the filter is allocated: there the file
 * is changed, as another process might. */
typedef struct meddler {
    int fd;
    bool cut; /* the file is cut off; else the descriptor becomes one that cannot be read */
} meddler;

static void *meddle_and_alloc(void *context, size_t size, size_t align) {
    const meddler *const m = context;
    if (m->cut) {
        assert_int_equal(ftruncate(m->fd, HEADER + 8), 0);
    } else {
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        assert_true(null >= 0 && dup2(null, m->fd) == m->fd);
        assert_int_equal(close(null), 0);
    }
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void plain_free(void *context, void *block, size_t size) {
    (void)context;
    (void)size;
    free(block);
}

static void test_descriptors_file_that_changes_while_read_refused(void **state) {
    (void)state;
    for (unsigned cut = 0; cut < 2; cut++) {
        size_t size;
        unsigned char *const bytes = make_bytes(TAMIS_KIND_BLOOM, LARGE, &size);
        loader l;
        loader_open(&l, "meddle", size);
        assert_true(pwrite(l.fd, bytes, size, 0) == (ssize_t)size);
        meddler m = {.fd = l.fd, .cut = cut != 0};
        const tamis_allocator allocator = {meddle_and_alloc, plain_free, &m, NULL};
        tamis_filter *filter = NULL;
        const char *reason = "";
        assert_status(tamis_filter_load_fd(l.fd, &allocator, &filter, &reason),
                      cut ? TAMIS_E_FORMAT : TAMIS_E_IO);
        assert_string_equal(reason, cut ? "the file is cut off within the body"
                                        : "the descriptor is not open for this");
        assert_null(filter);
        loader_close(&l);
        free(bytes);
    }
}

static void on_alarm(int number) {
    (void)number;
}

/* Bytes that come a few at a time, with signals between them. */
static void test_descriptors_slow_pipe_and_signals_load(void **state) {
    (void)state;
    const struct sigaction interrupt = {.sa_handler = on_alarm}; /* no SA_RESTART */
    assert_int_equal(sigaction(SIGALRM, &interrupt, NULL), 0);
    size_t size;
    unsigned char *const bytes = make_bytes(TAMIS_KIND_COUNTING_BLOOM, SMALL, &size);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        for (size_t at = 0; at < size; at += 37) {
            const struct timespec pause = {.tv_nsec = 200000};
            (void)nanosleep(&pause, NULL);
            (void)kill(parent, SIGALRM);
            write_all(ends[1], bytes + at, size - at < 37 ? size - at : 37);
        }
        _exit(0);
    }
    assert_int_equal(close(ends[1]), 0);
    tamis_filter *filter;
    assert_ok(tamis_filter_load_fd(ends[0], NULL, &filter, NULL));
    assert_int_equal(close(ends[0]), 0);
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    for (uint64_t key = 0; key < SMALL; key++)
        assert_true(tamis_filter_contains_u64(filter, key));
    tamis_filter_free(filter);
    free(bytes);
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN); /* writers into pipes that the loader leaves early */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors_failing_allocations_are_clean),
        cmocka_unit_test(test_descriptors_descriptor_at_offset_loads_the_rest),
        cmocka_unit_test(test_descriptors_things_that_are_no_files_refused),
        cmocka_unit_test(test_descriptors_file_that_changes_while_read_refused),
        cmocka_unit_test(test_descriptors_slow_pipe_and_signals_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
