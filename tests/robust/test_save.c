/* test_save.c - saving replaces a file wholly or not at all
 *
 * Whatever goes wrong, a full disk, a limit, a signal in the middle, the old file is as before and no
 * other file stays in its directory.  What is not a regular file is written to and not replaced.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1

#include "robust.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/system.h"

/* ---- a directory of its own for each test ---- */

static char directory[512];
static char set_path[600]; /* set.tamis in it */

static const char *in_directory(const char *name) {
    static char paths[4][1024];
    static unsigned next;
    char *const path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static int enter(void **state) {
    (void)state;
    const char *const tmp = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/tamis-save-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(set_path, sizeof set_path, "%s/set.tamis", directory);
    return 0;
}

/* How many files there are beside those called 'name'; with 'clear' they are removed. */
static unsigned others(const char *name, bool clear) {
    DIR *const open_directory = opendir(directory);
    assert_non_null(open_directory);
    unsigned n = 0;
    for (struct dirent *entry; (entry = readdir(open_directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, name) == 0)
            continue;
        n++;
        if (clear && unlink(in_directory(entry->d_name)) != 0)
            assert_int_equal(rmdir(in_directory(entry->d_name)), 0);
    }
    assert_int_equal(closedir(open_directory), 0);
    return n;
}

static int leave(void **state) {
    (void)state;
    (void)others("", true);
    return rmdir(directory);
}

/* ---- what is in a file ---- */

static tamis_filter *sample_of(uint64_t n) {
    return make_sample(TAMIS_KIND_BLOOM, n);
}

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *const bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static bool file_is(const char *path, const tamis_filter *filter) {
    size_t size;
    unsigned char *const bytes = read_file(path, &size);
    const bool same = encodes_as(filter, bytes, size);
    free(bytes);
    return same;
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void must_fail(const tamis_filter *filter, const char *path, const char *expected) {
    const char *reason = NULL;
    errno = 4711;
    assert_status(tamis_filter_save(filter, path, &reason), TAMIS_E_IO);
    assert_int_equal(errno, 4711);
    assert_non_null(reason);
    if (expected != NULL)
        assert_string_equal(reason, expected);
}

/* ---- success ---- */

static void test_save_new_and_old_file(void **state) {
    (void)state;
    const char *const path = set_path;
    FOR_EACH_KIND(kind) {
        for (uint64_t n = 1; n <= 10000; n *= 100) {
            tamis_filter *const filter = make_sample(kind, n);
            const char *reason = "untouched";
            errno = 4711;
            assert_ok(tamis_filter_save(filter, path, &reason));
            assert_int_equal(errno, 4711);
            assert_string_equal(reason, "untouched");
            assert_true(file_is(path, filter));
            assert_int_equal(others("set.tamis", false), 0);
            tamis_filter_free(filter);
        }
    }
}

static void test_save_relative_path(void **state) {
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(directory), 0);
    tamis_filter *const filter = sample_of(100);
    assert_ok(tamis_filter_save(filter, "set.tamis", NULL));
    assert_ok(tamis_filter_save(filter, "./set.tamis", NULL));
    assert_true(file_is("set.tamis", filter));
    assert_int_equal(others("set.tamis", false), 0);
    tamis_filter_free(filter);
    assert_int_equal(chdir(before), 0);
}

static void test_save_keeps_permissions(void **state) {
    (void)state;
    const char *const path = set_path;
    tamis_filter *const filter = sample_of(100);
    const mode_t mask = umask(027);
    assert_ok(tamis_filter_save(filter, path, NULL));
    assert_int_equal(mode_of(path), 0640); /* new: what the umask leaves */
    const mode_t modes[] = {0600, 0644, 0660, 0666, 0400, 0444, 0755, 0777};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_ok(tamis_filter_save(filter, path, NULL));
        assert_int_equal(mode_of(path), modes[i]);
    }
    /* but no rights to act as somebody else */
    assert_int_equal(chmod(path, 06755), 0);
    assert_ok(tamis_filter_save(filter, path, NULL));
    assert_int_equal(mode_of(path), 0755);
    (void)umask(mask);
    tamis_filter_free(filter);
}

static void test_save_keeps_owner_where_it_may(void **state) {
    (void)state;
    const char *const path = set_path;
    tamis_filter *const filter = sample_of(100);
    assert_ok(tamis_filter_save(filter, path, NULL));
    if (chown(path, 12345, 54321) != 0) { /* only root can try */
        tamis_filter_free(filter);
        skip();
    }
    assert_ok(tamis_filter_save(filter, path, NULL));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_uid, 12345);
    assert_int_equal(st.st_gid, 54321);
    tamis_filter_free(filter);
}

/* Somebody who may write in the directory, but not give files to the group, and cannot read the
 * directory to sync it. */
static void test_save_by_another_user(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    const char *const path = set_path;
    tamis_filter *const old = sample_of(100), *const filter = sample_of(200);
    assert_ok(tamis_filter_save(old, path, NULL));
    assert_int_equal(chmod(path, 0664), 0);
    assert_int_equal(chmod(directory, 0733), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setregid(54321, 54321) != 0 || setreuid(12345, 12345) != 0)
            _exit(99);
        _exit(tamis_filter_save(filter, path, NULL) == TAMIS_OK ? 0 : 1);
    }
    int status;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 99) {
        assert_int_equal(WEXITSTATUS(status), 0); /* done, and told so */
        assert_true(file_is(path, filter));
        assert_int_equal(mode_of(path), 0644); /* its group may be anyone: it gets what all get */
        assert_int_equal(others("set.tamis", false), 0);
    }
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

/* A link is replaced, as by rename(2); what it led to stays. */
static void test_save_symbolic_link_is_replaced(void **state) {
    (void)state;
    tamis_filter *const old = sample_of(100), *const filter = sample_of(200);
    assert_ok(tamis_filter_save(old, in_directory("target"), NULL));
    const char *const links[] = {"link", "dangling"};
    assert_int_equal(symlink("target", in_directory("link")), 0);
    assert_int_equal(symlink("nowhere", in_directory("dangling")), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(tamis_filter_save(filter, in_directory(links[i]), NULL));
        struct stat st;
        assert_int_equal(lstat(in_directory(links[i]), &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_true(file_is(in_directory(links[i]), filter));
    }
    assert_true(file_is(in_directory("target"), old));
    assert_true(access(in_directory("nowhere"), F_OK) != 0);
    assert_int_equal(others("", false), 3);
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

/* The other name keeps the old content, as with every file that is replaced. */
static void test_save_hard_link_keeps_old_content(void **state) {
    (void)state;
    tamis_filter *const old = sample_of(100), *const filter = sample_of(200);
    assert_ok(tamis_filter_save(old, in_directory("set.tamis"), NULL));
    assert_int_equal(link(in_directory("set.tamis"), in_directory("second")), 0);
    assert_ok(tamis_filter_save(filter, in_directory("set.tamis"), NULL));
    assert_true(file_is(in_directory("second"), old));
    assert_true(file_is(in_directory("set.tamis"), filter));
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

static void test_save_over_a_mapped_file_leaves_the_view(void **state) {
    (void)state;
    if (!tamis_i_little_endian())
        skip();
    const char *const path = set_path;
    tamis_filter *const old = sample_of(5000), *const filter = sample_of(10);
    assert_ok(tamis_filter_save(old, path, NULL));
    tamis_filter *view;
    assert_ok(tamis_filter_map(path, NULL, &view, NULL));
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(tamis_filter_save(filter, path, NULL));
        for (uint64_t key = 0; key < 5000; key++)
            assert_true(tamis_filter_contains_u64(view, key));
    }
    assert_ok(tamis_filter_save(view, path, NULL)); /* and the view itself over what replaced it */
    assert_true(file_is(path, old));
    tamis_filter_free(view);
    assert_ok(tamis_filter_map(path, NULL, &view, NULL));
    assert_ok(tamis_filter_save(view, path, NULL)); /* and over the very file that it is on */
    assert_true(file_is(path, old));
    tamis_filter_free(view);
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

static void test_save_descriptor_may_be_a_pipe(void **state) {
    (void)state;
    FOR_EACH_KIND(kind) {
        tamis_filter *const filter = make_sample(kind, 200000); /* more than a pipe holds */
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            _exit(tamis_filter_save_fd(filter, ends[1], NULL) == TAMIS_OK ? 0 : 1);
        }
        assert_int_equal(close(ends[1]), 0);
        tamis_filter *again;
        assert_ok(tamis_filter_load_fd(ends[0], NULL, &again, NULL));
        int status;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        size_t size, size_again;
        unsigned char *const bytes = encode(filter, &size);
        unsigned char *const bytes_again = encode(again, &size_again);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, bytes_again, size);
        free(bytes);
        free(bytes_again);
        assert_int_equal(close(ends[0]), 0);
        tamis_filter_free(again);
        tamis_filter_free(filter);
    }
}

static void test_save_descriptor_at_offset(void **state) {
    (void)state;
    tamis_filter *const filter = sample_of(100);
    const int fd = open(in_directory("many"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_true(write(fd, "prefix", 6) == 6);
    assert_ok(tamis_filter_save_fd(filter, fd, NULL));
    assert_true(lseek(fd, 6, SEEK_SET) == 6);
    tamis_filter *again;
    assert_ok(tamis_filter_load_fd(fd, NULL, &again, NULL));
    assert_true(tamis_filter_contains_u64(again, 99));
    tamis_filter_free(again);
    tamis_filter_free(filter);
    assert_int_equal(close(fd), 0);
}

/* The number of the descriptor is part of the name by which a finished file gets its own. */
static void test_save_with_many_open_files(void **state) {
    (void)state;
    tamis_filter *const filter = sample_of(100);
    int fds[120];
    for (unsigned i = 0; i < 120; i++) {
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(fds[i] >= 0);
        assert_ok(tamis_filter_save(filter, set_path, NULL));
    }
    assert_true(fds[119] >= 100);
    assert_true(file_is(set_path, filter));
    for (unsigned i = 0; i < 120; i++)
        assert_int_equal(close(fds[i]), 0);
    assert_int_equal(others("set.tamis", false), 0);
    tamis_filter_free(filter);
}

/* ---- failure ---- */

static void test_save_without_descriptors_refused(void **state) {
    (void)state;
    tamis_filter *const old = sample_of(100), *const filter = sample_of(200);
    assert_ok(tamis_filter_save(old, set_path, NULL));
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const char *reason = "";
    const tamis_status saved = tamis_filter_save(filter, set_path, &reason);
    tamis_filter *loaded;
    const tamis_status status = tamis_filter_load(set_path, NULL, &loaded, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_status(saved, TAMIS_E_IO);
    assert_string_equal(reason, "too many open files");
    assert_status(status, TAMIS_E_IO);
    assert_true(file_is(set_path, old));
    assert_int_equal(others("set.tamis", false), 0);
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

static void test_save_bad_places_refused(void **state) {
    (void)state;
    tamis_filter *const filter = sample_of(100);
    assert_int_equal(mkdir(in_directory("dir"), 0700), 0);
    assert_ok(tamis_filter_save(filter, in_directory("file"), NULL));
    must_fail(filter, in_directory("missing/set.tamis"), "no such file or directory");
    must_fail(filter, in_directory("dir"), "is a directory");
    must_fail(filter, in_directory("dir/"), "is a directory");
    must_fail(filter, "/", "is a directory");
    must_fail(filter, "", "no such file or directory");
    must_fail(filter, in_directory("file/set.tamis"), "a part of the path is not a directory");
    static char long_name[300], long_path[5000];
    memset(long_name, 'a', sizeof long_name - 1);
    must_fail(filter, in_directory(long_name), "the path is too long");
    for (size_t i = 0; i < sizeof long_path - 1; i++)
        long_path[i] = "./"[i % 2];
    must_fail(filter, long_path, "the path is too long");
    assert_int_equal(symlink("loop", in_directory("loop")), 0);
    must_fail(filter, in_directory("loop"), "too many symbolic links");
    assert_int_equal(unlink(in_directory("loop")), 0);
    assert_status(tamis_filter_save(filter, NULL, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_save(NULL, in_directory("x"), NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_save_fd(filter, -1, NULL), TAMIS_E_IO);
    assert_int_equal(others("file", false), 1); /* the directory, empty */
    assert_int_equal(rmdir(in_directory("dir")), 0);
    tamis_filter_free(filter);
}

static void test_save_device_is_written_not_replaced(void **state) {
    (void)state;
    tamis_filter *const filter = sample_of(100);
    struct stat st;
    if (access("/dev/full", W_OK) == 0) {
        must_fail(filter, "/dev/full", "no space left on the device");
        assert_int_equal(stat("/dev/full", &st), 0);
        assert_true(S_ISCHR(st.st_mode));
        assert_int_equal(symlink("/dev/full", in_directory("full")), 0);
        must_fail(filter, in_directory("full"), "no space left on the device");
        assert_int_equal(lstat(in_directory("full"), &st), 0);
        assert_true(S_ISLNK(st.st_mode));
        const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        const char *reason;
        assert_status(tamis_filter_save_fd(filter, fd, &reason), TAMIS_E_IO);
        assert_string_equal(reason, "no space left on the device");
        assert_int_equal(close(fd), 0);
    }
    assert_ok(tamis_filter_save(filter, "/dev/null", NULL));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(others("full", false), 0);
    tamis_filter_free(filter);
}

static void test_save_fifo_is_written_not_replaced(void **state) {
    (void)state;
    const char *const path = in_directory("fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    tamis_filter *const filter = sample_of(100);
    const int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_ok(tamis_filter_save(filter, path, NULL));
    tamis_filter *again;
    assert_ok(tamis_filter_load_fd(reader, NULL, &again, NULL));
    assert_int_equal(tamis_filter_count(again), tamis_filter_count(filter));
    tamis_filter_free(again);
    tamis_filter_free(filter);
    assert_int_equal(close(reader), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

static void test_save_closed_pipe_is_an_error(void **state) {
    (void)state;
    tamis_filter *const filter = sample_of(100);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(close(ends[0]), 0);
    const char *reason = NULL;
    assert_status(tamis_filter_save_fd(filter, ends[1], &reason), TAMIS_E_IO);
    assert_string_equal(reason, "the pipe was closed");
    assert_int_equal(close(ends[1]), 0);
    tamis_filter_free(filter);
}

/* A disk that fills at every possible place, by the limit on the size of files. */
static void test_save_disk_full_keeps_the_old_file(void **state) {
    (void)state;
    const char *const path = set_path;
    tamis_filter *const old = sample_of(100), *const filter = sample_of(3000);
    const size_t whole = (size_t)tamis_filter_encoded_size(filter);
    for (unsigned fresh = 0; fresh < 2; fresh++) {
        if (!fresh)
            assert_ok(tamis_filter_save(old, path, NULL));
        else
            assert_int_equal(unlink(path), 0);
        for (size_t limit = 0; limit < whole; limit += 1 + whole / 37) {
            const pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                const struct rlimit r = {.rlim_cur = limit, .rlim_max = limit};
                (void)signal(SIGXFSZ, SIG_IGN);
                const char *reason = "";
                if (setrlimit(RLIMIT_FSIZE, &r) != 0)
                    _exit(2);
                const tamis_status status = tamis_filter_save(filter, path, &reason);
                _exit(status == TAMIS_E_IO && strstr(reason, "too large") != NULL ? 0 : 1);
            }
            int status;
            assert_true(waitpid(child, &status, 0) == child);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
            assert_int_equal(others(fresh ? "" : "set.tamis", false), 0);
            if (!fresh)
                assert_true(file_is(path, old));
        }
    }
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

/* The system ends the process in the middle of its write: by a signal that nobody can clean up after. */
static void test_save_killed_in_the_write_leaves_nothing(void **state) {
    (void)state;
    const char *const path = set_path;
    tamis_filter *const old = sample_of(100), *const filter = sample_of(3000);
    const size_t whole = (size_t)tamis_filter_encoded_size(filter);
    assert_ok(tamis_filter_save(old, path, NULL));
    for (size_t limit = 0; limit < whole; limit += 1 + whole / 11) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const struct rlimit r = {.rlim_cur = limit, .rlim_max = limit};
            const struct rlimit no_core = {0, 0};
            (void)signal(SIGXFSZ, SIG_DFL);
            if (setrlimit(RLIMIT_CORE, &no_core) != 0 || setrlimit(RLIMIT_FSIZE, &r) != 0)
                _exit(2);
            _exit(tamis_filter_save(filter, path, NULL) == TAMIS_OK ? 0 : 1);
        }
        int status;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
        assert_true(file_is(path, old));
        const unsigned left = others("set.tamis", true);
#ifdef TAMIS_I_HAS_UNNAMED_FILES
        const int unnamed = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        if (unnamed >= 0) { /* else a name is needed from the start, and stays */
            assert_int_equal(left, 0);
            (void)close(unnamed);
        }
#else
        assert_true(left <= 1);
#endif
    }
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

/* Without /proc a file cannot stay without a name until it is complete.  Then it has one from the start,
 * which goes away again after success and failure. */
static void test_save_without_proc_uses_a_name(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    tamis_filter *const old = sample_of(100), *const filter = sample_of(3000);
    assert_ok(tamis_filter_save(old, set_path, NULL));
    for (unsigned limited = 2; limited-- > 0;) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const struct rlimit r = {.rlim_cur = 1000, .rlim_max = 1000};
            (void)signal(SIGXFSZ, SIG_IGN);
            if (chroot(directory) != 0 || chdir("/") != 0)
                _exit(99);
            if (limited && setrlimit(RLIMIT_FSIZE, &r) != 0)
                _exit(99);
            const tamis_status status = tamis_filter_save(filter, "set.tamis", NULL);
            _exit(status == (limited ? TAMIS_E_IO : TAMIS_OK) ? 0 : 1);
        }
        int status;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 99) /* not even root may, here */
            break;
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(others("set.tamis", false), 0);
        assert_true(file_is(set_path, limited ? old : filter));
    }
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

/* Killed at any moment, also between naming and renaming: the file is always one of the two, and what
 * may be left beside it is complete. */
static void test_save_killed_at_any_moment_is_old_or_new(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const char *const path = set_path;
    tamis_filter *const old = sample_of(20000), *const filter = sample_of(300000);
    assert_ok(tamis_filter_save(old, path, NULL));
    unsigned replaced = 0;
    for (unsigned i = 0; i < 40; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            for (;;)
                if (tamis_filter_save(filter, path, NULL) != TAMIS_OK)
                    _exit(1);
        const struct timespec pause = {.tv_nsec = (long)test_random_below(&random, 4000000)};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_true(waitpid(child, &status, 0) == child);
        assert_true(WIFSIGNALED(status));
        const bool is_new = file_is(path, filter);
        assert_true(is_new || file_is(path, old));
        replaced += is_new;
        assert_true(others("set.tamis", true) <= 1);
        if (is_new)
            assert_ok(tamis_filter_save(old, path, NULL));
    }
    print_message("# %u of 40 had been replaced\n", replaced);
    tamis_filter_free(old);
    tamis_filter_free(filter);
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN);
#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_save_new_and_old_file),
        IN_DIRECTORY(test_save_relative_path),
        IN_DIRECTORY(test_save_keeps_permissions),
        IN_DIRECTORY(test_save_keeps_owner_where_it_may),
        IN_DIRECTORY(test_save_by_another_user),
        IN_DIRECTORY(test_save_symbolic_link_is_replaced),
        IN_DIRECTORY(test_save_hard_link_keeps_old_content),
        IN_DIRECTORY(test_save_over_a_mapped_file_leaves_the_view),
        IN_DIRECTORY(test_save_descriptor_may_be_a_pipe),
        IN_DIRECTORY(test_save_descriptor_at_offset),
        IN_DIRECTORY(test_save_with_many_open_files),
        IN_DIRECTORY(test_save_without_descriptors_refused),
        IN_DIRECTORY(test_save_bad_places_refused),
        IN_DIRECTORY(test_save_device_is_written_not_replaced),
        IN_DIRECTORY(test_save_fifo_is_written_not_replaced),
        IN_DIRECTORY(test_save_closed_pipe_is_an_error),
        IN_DIRECTORY(test_save_disk_full_keeps_the_old_file),
        IN_DIRECTORY(test_save_killed_in_the_write_leaves_nothing),
        IN_DIRECTORY(test_save_without_proc_uses_a_name),
        IN_DIRECTORY(test_save_killed_at_any_moment_is_old_or_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
