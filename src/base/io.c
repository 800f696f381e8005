/* io.c - descriptors: complete reads and writes, durable changes
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MOST ((size_t)1 << 30) /* bytes of one call; some systems refuse more than 2 GiB */

static size_t io_part(size_t size) {
    return size < MOST ? size : MOST;
}

bool tamis_i_io_read(int fd, void *buffer, size_t size, size_t *got) {
    *got = 0;
    while (*got < size) {
        const ssize_t n = read(fd, (unsigned char *)buffer + *got, io_part(size - *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return true;
}

/* How many bytes a call has moved.  False for an error, and for no bytes: no system should do that, but
 * a device that does must not block us for ever. */
static bool io_moved(ssize_t n, size_t *moved) {
    if (n < 0 && errno != EINTR)
        return false;
    if (n == 0) {
        errno = EIO;
        return false;
    }
    *moved += n < 0 ? 0 : (size_t)n;
    return true;
}

bool tamis_i_io_write(int fd, const void *data, size_t size) {
    const unsigned char *const bytes = data;
    for (size_t done = 0; done < size;)
        if (!io_moved(write(fd, bytes + done, io_part(size - done)), &done))
            return false;
    return true;
}

bool tamis_i_io_read_at(int fd, uint64_t at, void *buffer, size_t size) {
    unsigned char *const bytes = buffer;
    for (size_t done = 0; done < size;)
        if (!io_moved(pread(fd, bytes + done, io_part(size - done), (off_t)(at + done)), &done))
            return false;
    return true;
}

bool tamis_i_io_write_at(int fd, uint64_t at, const void *data, size_t size) {
    const unsigned char *const bytes = data;
    for (size_t done = 0; done < size;)
        if (!io_moved(pwrite(fd, bytes + done, io_part(size - done), (off_t)(at + done)), &done))
            return false;
    return true;
}

bool tamis_i_io_folder(const char *path, char *folder, size_t room) {
    const char *const slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (length + 3 > room)
        return false;
    if (length == 0) {
        memcpy(folder, "./", 3);
        return true;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    return true;
}

void tamis_i_io_sync_folder(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}
