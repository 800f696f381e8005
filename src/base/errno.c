/* errno.c - what the system's error numbers mean
 *
 * strerror is shared between threads; these texts are static.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "base/base.h"

#include <errno.h>

const char *tamis_i_errno_text(int number) {
    switch (number) {
    case ENOENT:
        return "no such file or directory";
    case EACCES:
    case EPERM:
        return "permission denied";
    case EISDIR:
        return "is a directory";
    case ENOTDIR:
        return "a part of the path is not a directory";
    case ENOSPC:
        return "no space left on the device";
    case EDQUOT:
        return "the disk quota is used up";
    case EFBIG:
        return "the file is too large for this system's limits";
    case EROFS:
        return "the file system is read-only";
    case ENAMETOOLONG:
        return "the path is too long";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    case ELOOP:
        return "too many symbolic links";
    case EPIPE:
        return "the pipe was closed";
    case ENOMEM:
        return "out of memory";
    case EBADF:
        return "the descriptor is not open for this";
    default:
        return "the system reported an input or output error";
    }
}
