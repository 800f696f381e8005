/* lock.c - only one program at a time changes a set in its file
 *
 * A program that changes a set reads the whole file, and in the end replaces it by a new one of the
 * same name.  If two did so at the same time, one would lose what the other has added.  So the file
 * itself is locked (flock), from before it is read until it has been replaced.  A program that waited
 * then holds the lock of a file that no longer has the name.  It notices, and locks the new one.
 * Nothing is left behind, however a program ends.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lock_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Some file systems lock for writing only files that are open for writing. */
static int lock_open(const char *path) {
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

/* Wait for the lock, and say so if somebody is watching. false if the file system has no locks. */
static bool lock_wait(const char *command, const char *path, int fd) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno == EWOULDBLOCK && isatty(STDERR_FILENO) == 1)
        complain(command, "%s is being changed by another program; waiting for it", path);
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return false;
    }
    return true;
}

/* Whether both names are of one file, which is open and so has a number that no other file gets: 1 or 0, or
 * -1 if another program replaced it while it was looked at.  Only then does 'input' have another file now. */
static int lock_is_both(int fd, const char *input, const char *output) {
    struct stat locked;
    struct stat other;

    if (fstat(fd, &locked) != 0 || stat(output, &other) != 0)
        return 0;
    if (lock_same_file(&locked, &other))
        return 1;
    return stat(input, &other) == 0 && !lock_same_file(&locked, &other) ? -1 : 0;
}

int set_lock(const char *command, const char *input, const char *output) {
    struct stat from;

    for (;;) {
        /* Readers and writers report what is not a file or does not exist. */
        if (strcmp(input, "-") == 0 || strcmp(output, "-") == 0 || stat(input, &from) != 0 ||
            !S_ISREG(from.st_mode))
            return -1;
        const int fd = lock_open(input);
        if (fd < 0)
            return -1;
        int both = lock_is_both(fd, input, output);
        if (both == 1) {
            if (!lock_wait(command, input, fd))
                return fd;
            both = lock_is_both(fd, input, output);
        }
        if (both == 1)
            return fd;
        close(fd);
        if (both == 0)
            return -1;
    }
}

void set_unlock(int lock) {
    if (lock >= 0)
        close(lock);
}
