/* system.h - which calls beyond POSIX.1-2008 this system has
 *
 * Each is optional; the alternative is next to its use.  TAMIS_POSIX_ONLY leaves all of them out, so
 * the alternatives are tested as well (preset i686).  Include this after the headers of the system.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BASE_SYSTEM_H
#define TAMIS_BASE_SYSTEM_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef TAMIS_POSIX_ONLY

#ifdef O_TMPFILE
#define TAMIS_I_HAS_UNNAMED_FILES 1 /* open(directory, O_TMPFILE): a file without a name */
#endif

#ifdef O_DIRECT
#define TAMIS_I_HAS_DIRECT 1 /* open(path, O_DIRECT): reads past the system's cache */
#endif

#ifdef MAP_ANONYMOUS
#define TAMIS_I_HAS_MAPPED_MEMORY 1 /* mmap without a file */
#endif

#if defined(__linux__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
#define TAMIS_I_HAS_ENTROPY 1 /* getentropy */
#define TAMIS_I_HAS_FLOCK   1 /* flock: a lock that belongs to the open file */
#endif

#if defined(F_OFD_SETLK) && defined(TAMIS_I_HAS_FLOCK) &&                                          \
    (defined(__LP64__) || (defined(_FILE_OFFSET_BITS) && _FILE_OFFSET_BITS == 64))
#define TAMIS_I_HAS_BYTE_LOCKS 1 /* F_OFD_SETLK: locks of bytes that belong to the open file */
#endif

/* An option of POSIX that some systems lack. */
#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
#define TAMIS_I_HAS_FALLOCATE 1 /* posix_fallocate, posix_madvise */
#endif

#if defined(_POSIX_SYNCHRONIZED_IO) && _POSIX_SYNCHRONIZED_IO > 0
#define TAMIS_I_HAS_DATASYNC 1 /* fdatasync */
#endif

#endif

#endif
