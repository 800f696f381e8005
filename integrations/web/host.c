/* host.c - what would be asked of a host, answered here
 *
 * The library looks for entropy in /dev/urandom when no seed is given.  web.c always gives one, so these
 * calls are never made.  The linker takes them in place of the C library's own (--wrap), which import
 * functions of a host; with them the module imports nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
int __wrap_close(int fd);

int __wrap_open(const char *path, int flags, ...) {
    (void)path;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size) {
    (void)fd;
    (void)buffer;
    (void)size;
    errno = ENOSYS;
    return -1;
}

int __wrap_close(int fd) {
    (void)fd;
    errno = ENOSYS;
    return -1;
}
