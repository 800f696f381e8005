/* disk.c - the file of a page table
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1

#include "table/disk.h"

#include "base/io.h"

#include "base/system.h"

#include <sys/stat.h>

static bool disk_read(void *self, uint64_t at, void *data, size_t size) {
    const tamis_i_disk_file *const file = self;
    return tamis_i_io_read_at(file->fd, at, data, size);
}

static bool disk_write(void *self, uint64_t at, const void *data, size_t size) {
    const tamis_i_disk_file *const file = self;
    return tamis_i_io_write_at(file->fd, at, data, size);
}

static bool disk_sync(void *self) {
    const tamis_i_disk_file *const file = self;
#ifdef TAMIS_I_HAS_DATASYNC
    return fdatasync(file->fd) == 0;
#else
    return fsync(file->fd) == 0;
#endif
}

static bool disk_resize(void *self, uint64_t size) {
    tamis_i_disk_file *const file = self;
    if (ftruncate(file->fd, (off_t)size) != 0)
        return false;
    if (file->covered > size)
        file->covered = size;
    return true;
}

static bool disk_size(void *self, uint64_t *size) {
    const tamis_i_disk_file *const file = self;
    struct stat about;
    if (fstat(file->fd, &about) != 0)
        return false;
    *size = (uint64_t)about.st_size;
    return true;
}

static const unsigned char *disk_view(const void *self, uint64_t at, size_t size) {
    const tamis_i_disk_file *const file = self;
    return file->map != NULL && at <= file->covered && size <= file->covered - at ? file->map + at
                                                                                  : NULL;
}

static bool disk_fetch(const void *self, uint64_t at, void *page, size_t size) {
    const tamis_i_disk_file *const file = self;
    return tamis_i_io_read_at(file->direct_fd >= 0 ? file->direct_fd : file->fd, at, page, size);
}

static bool disk_at_hand(const void *self, uint64_t at, size_t size) {
#ifdef __linux__
    unsigned char there = 0;
    const unsigned char *const view = disk_view(self, at, size);
    return view != NULL && mincore((void *)(uintptr_t)view, size, &there) == 0 && (there & 1) != 0;
#else
    (void)self;
    (void)at;
    (void)size;
    return false;
#endif
}

/* Reads past the cache cannot be announced. */
static void disk_announce(const void *self, uint64_t at, size_t size) {
#ifdef TAMIS_I_HAS_FALLOCATE
    const tamis_i_disk_file *const file = self;
    if (file->direct_fd < 0)
        (void)posix_fadvise(file->fd, (off_t)at, (off_t)size, POSIX_FADV_WILLNEED);
#else
    (void)self;
    (void)at;
    (void)size;
#endif
}

static void disk_unmap(tamis_i_disk_file *file) {
    if (file->map != NULL)
        (void)munmap(file->map, file->map_size);
    file->map = NULL;
    file->map_size = 0;
    file->covered = 0;
}

/* More is mapped than there is, so that a growing file is seldom mapped again.  What lies past its end
 * is never touched. */
static bool disk_cover(void *self, uint64_t size) {
    tamis_i_disk_file *const file = self;
    if (!file->mapped || size <= file->covered)
        return true;
    if (size <= file->map_size) {
        file->covered = size;
        return true;
    }
    uint64_t more;
    if (!tamis_i_round_up(size + size / 4, 1u << 20, &more) || more > SIZE_MAX / 2)
        return false;
    void *const map = mmap(NULL, (size_t)more, PROT_READ, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return false;
    disk_unmap(file);
    file->map = map;
    file->map_size = (size_t)more;
    file->covered = size;
#ifdef TAMIS_I_HAS_FALLOCATE
    (void)posix_madvise(file->map, file->map_size, POSIX_MADV_RANDOM);
#endif
    return true;
}

static bool disk_watch(void *self, uint64_t epoch) {
    const tamis_i_disk_file *const file = self;
    return !file->shared || tamis_i_lock_root(file->fd, epoch) == TAMIS_OK;
}

static void disk_unwatch(void *self, uint64_t epoch) {
    const tamis_i_disk_file *const file = self;
    if (file->shared)
        tamis_i_lock_leave(file->fd, epoch);
}

static bool disk_watched(void *self, uint64_t epoch) {
    const tamis_i_disk_file *const file = self;
    return file->shared && tamis_i_lock_any(file->fd, epoch);
}

static void disk_close(void *self) {
    tamis_i_disk_file *const file = self;
    disk_unmap(file);
    if (file->direct_fd >= 0)
        (void)close(file->direct_fd);
    if (file->fd >= 0)
        (void)close(file->fd); /* this also releases the lock */
    file->fd = file->direct_fd = -1;
}

void tamis_i_disk_of_file(tamis_i_disk *disk, tamis_i_disk_file *file) {
    static const tamis_i_disk_ops ops = {.read = disk_read,
                                         .write = disk_write,
                                         .sync = disk_sync,
                                         .resize = disk_resize,
                                         .size = disk_size,
                                         .view = disk_view,
                                         .fetch = disk_fetch,
                                         .at_hand = disk_at_hand,
                                         .announce = disk_announce,
                                         .cover = disk_cover,
                                         .watch = disk_watch,
                                         .unwatch = disk_unwatch,
                                         .watched = disk_watched,
                                         .close = disk_close};
    disk->ops = &ops;
    disk->self = file;
}
