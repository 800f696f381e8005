/* lock.c - who has the file of a page table open: one writer, and the readers of each root
 *
 * Locks of single bytes far behind the end of any file, which belong to the open file and end with it,
 * however the process ends:
 *
 *      byte FAR        the writer's, exclusive
 *      byte FAR + e    of all readers that look at root number e, shared
 *
 * A writer that repairs locks FAR and everything after it.
 *
 * The system has a list of the locks of a file, which is never empty while the writer looks for those of
 * readers: its own is there.  So that look, and a reader's lock, are one after the other, and so is what
 * both did to the file before them: see R2 in pages.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1 /* F_OFD_SETLK */

#include "table/disk.h"

#include "base/system.h"

#include <errno.h>

#ifdef TAMIS_I_HAS_BYTE_LOCKS

#define FAR ((off_t)1 << 62) /* numbers of roots are below 2^62 */

_Static_assert(sizeof(off_t) == 8, "files have 64 bits");

bool tamis_i_lock_exists(void) {
    return true;
}

static tamis_status lock_set(int fd, short type, off_t at, off_t size) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = size};
    while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == EACCES)
            return TAMIS_E_LOCKED;
        return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? TAMIS_E_UNSUPPORTED
                                                                         : TAMIS_E_IO;
    }
    return TAMIS_OK;
}

tamis_status tamis_i_lock_writer(int fd, bool alone) {
    return lock_set(fd, F_WRLCK, FAR, alone ? 0 : 1); /* 0: all that follows */
}

tamis_status tamis_i_lock_root(int fd, uint64_t epoch) {
    return lock_set(fd, F_RDLCK, FAR + (off_t)epoch, 1);
}

void tamis_i_lock_leave(int fd, uint64_t epoch) {
    (void)lock_set(fd, F_UNLCK, FAR + (off_t)epoch, 1);
}

bool tamis_i_lock_any(int fd, uint64_t epoch) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = FAR + 1, .l_len = (off_t)epoch};
    if (epoch == 0)
        return false;
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

#else

bool tamis_i_lock_exists(void) {
    return false;
}

tamis_status tamis_i_lock_writer(int fd, bool alone) {
    (void)fd;
    (void)alone;
    return TAMIS_E_UNSUPPORTED;
}

tamis_status tamis_i_lock_root(int fd, uint64_t epoch) {
    (void)fd;
    (void)epoch;
    return TAMIS_E_UNSUPPORTED;
}

void tamis_i_lock_leave(int fd, uint64_t epoch) {
    (void)fd;
    (void)epoch;
}

bool tamis_i_lock_any(int fd, uint64_t epoch) {
    (void)fd;
    (void)epoch;
    return false;
}

#endif
