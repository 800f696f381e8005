/* save.c - filters to descriptors and files
 *
 * A file is never written in place.  The bytes go to a new file in the same directory, which is synced
 * and then renamed over the old one; the directory is synced last.  Where the system can, the new file
 * has no name until it is complete (O_TMPFILE), so that a process killed half-way leaves nothing.
 * What exists and is not a regular file (a device, a pipe) is written to directly.  A symbolic link to a
 * regular file, or to nothing, is itself replaced; what it pointed to stays as it was.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1 /* O_TMPFILE */

#include "base/io.h"
#include "file/compact.h"
#include "file/shards.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h> /* rename */
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

#define CHUNK_WORDS 512u

/* Write the words of a body. */
static bool save_write_body(const tamis_filter *filter, int fd) {
    if (tamis_i_little_endian())
        return tamis_i_io_write(fd, filter->state, (size_t)filter->n_body * 8);
    for (uint64_t at = 0; at < filter->n_body; at += CHUNK_WORDS) {
        unsigned char chunk[8 * CHUNK_WORDS];
        uint64_t n = filter->n_body - at;
        n = n < CHUNK_WORDS ? n : CHUNK_WORDS;
        for (uint64_t i = 0; i < n; i++)
            tamis_i_put_u64(chunk + 8 * i, filter->state[at + i]);
        if (!tamis_i_io_write(fd, chunk, (size_t)n * 8))
            return false;
    }
    return true;
}

/* Write the checksums of its parts, if it has some: computed again, as there is no room to keep those of the
 * header. */
static bool save_write_sums(const tamis_filter *filter, int fd) {
    const uint64_t n_sums = tamis_i_sums_words(filter->n_body);
    for (uint64_t at = 0, n; at < n_sums; at += n) {
        unsigned char chunk[8 * CHUNK_WORDS];
        n = n_sums - at < CHUNK_WORDS ? n_sums - at : CHUNK_WORDS;
        tamis_i_sums_encode(filter, at, at + n, chunk);
        if (!tamis_i_io_write(fd, chunk, (size_t)n * 8))
            return false;
    }
    return true;
}

/* Write one filter, or link, whose header is 'head'. */
static tamis_status save_write_one(const tamis_filter *filter, const unsigned char *head, int fd,
                                   const char **reason) {
    return tamis_i_io_write(fd, head, TAMIS_I_HEADER_BYTES) && save_write_body(filter, fd) &&
                   save_write_sums(filter, fd)
               ? TAMIS_OK
               : tamis_i_io_fault(reason);
}

/* Headers of one filter or series: of the series, if it is one, and of its links. */
static unsigned save_n_heads(const tamis_filter *filter) {
    return tamis_i_n_links(filter) + (filter->links != NULL);
}

static void save_encode_heads(const tamis_filter *filter, unsigned char *heads) {
    if (filter->links == NULL)
        tamis_i_header_encode(filter, heads);
    else
        tamis_i_series_encode(filter, heads, heads + TAMIS_I_HEADER_BYTES);
}

/* Write one filter or series, whose headers are there. */
static tamis_status save_write_part(const tamis_filter *filter, const unsigned char *heads, int fd,
                                    const char **reason) {
    if (filter->links != NULL) {
        if (!tamis_i_io_write(fd, heads, TAMIS_I_HEADER_BYTES))
            return tamis_i_io_fault(reason);
        heads += TAMIS_I_HEADER_BYTES;
    }
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; status == TAMIS_OK && i < tamis_i_n_links(filter); i++)
        status = save_write_one(tamis_i_link(filter, i), heads + (size_t)i * TAMIS_I_HEADER_BYTES,
                                fd, reason);
    return status;
}

/* Write a sharded set.  All headers are made before the first is written: that of the set has a checksum of
 * the others, and making one reads the whole body. */
static tamis_status save_write_shards(const tamis_filter *filter, int fd, const char **reason) {
    const unsigned n = tamis_i_n_parts(filter);
    uint64_t sums[TAMIS_I_SHARDS_MAX];
    size_t bytes = 0, at = 0;
    for (unsigned i = 0; i < n; i++)
        bytes += (size_t)save_n_heads(tamis_i_part(filter, i)) * TAMIS_I_HEADER_BYTES;
    unsigned char *const heads = tamis_i_alloc(&filter->allocator, bytes);
    if (heads == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    for (unsigned i = 0; i < n; i++) {
        save_encode_heads(tamis_i_part(filter, i), heads + at);
        sums[i] = tamis_i_get_u64(heads + at + TAMIS_I_AT_HEADER_CHECKSUM);
        at += (size_t)save_n_heads(tamis_i_part(filter, i)) * TAMIS_I_HEADER_BYTES;
    }
    unsigned char head[TAMIS_I_HEADER_BYTES];
    tamis_i_shards_encode(filter, sums, head);
    tamis_status status = TAMIS_OK;
    if (!tamis_i_io_write(fd, head, sizeof head))
        status = tamis_i_io_fault(reason);
    at = 0;
    for (unsigned i = 0; status == TAMIS_OK && i < n; i++) {
        status = save_write_part(tamis_i_part(filter, i), heads + at, fd, reason);
        at += (size_t)save_n_heads(tamis_i_part(filter, i)) * TAMIS_I_HEADER_BYTES;
    }
    tamis_i_free(&filter->allocator, heads, bytes);
    return status;
}

tamis_status tamis_i_file_write(const tamis_filter *filter, int fd, const char **reason) {
    if (tamis_i_is_sharded(filter))
        return save_write_shards(filter, fd, reason);
    unsigned char heads[(TAMIS_I_LINKS_MAX + 1) * TAMIS_I_HEADER_BYTES];
    save_encode_heads(filter, heads);
    return save_write_part(filter, heads, fd, reason);
}

tamis_status tamis_i_compact_write(const tamis_filter *filter, int fd, const char **reason) {
    const uint64_t size = tamis_i_compact_size(filter);
    unsigned char *const bytes = tamis_i_alloc(&filter->allocator, (size_t)size);
    if (bytes == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    tamis_i_compact_encode(filter, bytes);
    const tamis_status status =
        tamis_i_io_write(fd, bytes, (size_t)size) ? TAMIS_OK : tamis_i_io_fault(reason);
    tamis_i_free(&filter->allocator, bytes, (size_t)size);
    return status;
}

/* A fresh name beside the target. */
static bool save_temporary_name(const char *directory, char *name, size_t room,
                                const char **reason) {
    static const char digits[] = "0123456789abcdef";
    uint64_t random;
    if (tamis_i_random_seed(&random) != TAMIS_OK) /* no /dev: only a clash would fail */
        random = tamis_i_mix((uint64_t)time(NULL) << 32 ^ (uint64_t)getpid());
    const size_t length = strlen(directory);
    if (length + sizeof ".tamis-0123456789abcdef" > room) {
        *reason = tamis_i_errno_text(ENAMETOOLONG);
        return false;
    }
    memcpy(name, directory, length);
    memcpy(name + length, ".tamis-", 7);
    for (unsigned i = 0; i < 16; i++)
        name[length + 7 + i] = digits[random >> 4 * i & 15];
    name[length + 23] = '\0';
    return true;
}

#ifdef TAMIS_I_HAS_UNNAMED_FILES
/* A file in this directory that has no name yet; -1 without /proc, through which it gets one, or on a file
 * system that cannot. */
static int save_open_unnamed(const char *directory, mode_t rights) {
    if (access("/proc/self/fd", F_OK) != 0)
        return -1;
    return open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, rights);
}

/* Give it a name. */
static bool save_link_name(int fd, const char *name) {
    char self[] = "/proc/self/fd/0123456789";
    size_t at = sizeof "/proc/self/fd/" - 1;
    int scale = 1;
    while (fd / scale >= 10)
        scale *= 10;
    for (; scale > 0; scale /= 10)
        self[at++] = (char)('0' + fd / scale % 10);
    self[at] = '\0';
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}
#else
static int save_open_unnamed(const char *directory, mode_t rights) {
    (void)directory;
    (void)rights;
    return -1;
}

static bool save_link_name(int fd, const char *name) {
    (void)fd;
    (void)name;
    return false;
}
#endif

/* Give a new file the permissions of the old one, and its owner and group as far as we may.  A group that
 * it was not meant for gets no more than everybody. */
static void save_inherit(int fd, const struct stat *old) {
    mode_t mode = old->st_mode & 0777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode &= 0707 | (mode & 07) << 3;
    (void)fchmod(fd, mode);
}

/* Write a new file and rename it to 'path'.  'old' is the file that stands there, or NULL.  Before the
 * new file has the permissions of the old one nobody else can open it, not even while it is empty. */
static tamis_status save_replace_file(const tamis_filter *filter, const char *path,
                                      const struct stat *old, tamis_i_file_writer *write_to,
                                      const char **reason) {
    tamis_status status = TAMIS_E_IO;
    char directory[PATH_MAX], name[PATH_MAX];
    if (!tamis_i_io_folder(path, directory, sizeof directory)) {
        *reason = tamis_i_errno_text(ENAMETOOLONG);
        return TAMIS_E_IO;
    }
    if (!save_temporary_name(directory, name, sizeof name, reason))
        return TAMIS_E_IO;

    const mode_t rights = old == NULL ? 0666 : 0600;
    bool named = false;
    int fd = save_open_unnamed(directory, rights);
    if (fd < 0) {
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights);
        named = fd >= 0;
    }
    if (fd < 0)
        return tamis_i_io_fault(reason);
    if (old != NULL)
        save_inherit(fd, old);
    status = write_to(filter, fd, reason);
    if (status != TAMIS_OK)
        goto fail;
    status = TAMIS_E_IO;
    if (fsync(fd) != 0)
        goto system_fail;
    if (!named) {
        if (!save_link_name(fd, name))
            goto system_fail;
        named = true;
    }
    const int closed = close(fd);
    fd = -1;
    if (closed != 0 || rename(name, path) != 0)
        goto system_fail;
    /* The file has been replaced by now, so that nothing that goes wrong here may be told as a failure, after
     * which the old one would be expected. */
    tamis_i_io_sync_folder(directory);
    return TAMIS_OK;

system_fail:
    *reason = tamis_i_errno_text(errno);
fail:
    if (fd >= 0)
        (void)close(fd);
    if (named)
        (void)unlink(name);
    return status;
}

tamis_status tamis_i_file_save(const tamis_filter *filter, const char *path,
                               tamis_i_file_writer *write_to, const char **reason) {
    struct stat st;
    if (stat(path, &st) != 0) {
        if (errno == ENOENT)
            return save_replace_file(filter, path, NULL, write_to, reason);
        *reason = tamis_i_errno_text(errno);
        return TAMIS_E_IO;
    }
    if (S_ISREG(st.st_mode))
        return save_replace_file(filter, path, &st, write_to, reason);
    if (S_ISDIR(st.st_mode)) {
        *reason = tamis_i_errno_text(EISDIR);
        return TAMIS_E_IO;
    }
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return tamis_i_io_fault(reason);
    tamis_status status = write_to(filter, fd, reason);
    if (close(fd) != 0 && status == TAMIS_OK) {
        *reason = tamis_i_errno_text(errno);
        status = TAMIS_E_IO;
    }
    return status;
}
