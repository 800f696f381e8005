/* io.h - descriptors: complete reads and writes, durable changes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BASE_IO_H
#define TAMIS_BASE_IO_H

#include "base/base.h"

#include <errno.h>

/* Read up to 'size' bytes; '*got' is less only at the end of the file.  False, and errno. */
bool tamis_i_io_read(int fd, void *buffer, size_t size, size_t *got);

/* Write all bytes.  False, and errno. */
bool tamis_i_io_write(int fd, const void *data, size_t size);

/* Read or write all bytes from offset 'at' on.  False, and errno: EIO if the file is too short. */
bool tamis_i_io_read_at(int fd, uint64_t at, void *buffer, size_t size);
bool tamis_i_io_write_at(int fd, uint64_t at, const void *data, size_t size);

/* The folder of 'path' with its slash, or "./" if the path has none.  False if it does not fit. */
bool tamis_i_io_folder(const char *path, char *folder, size_t room);

/* Make the names in a folder durable, as far as possible: a folder that may be written but not read
 * cannot be synced. */
void tamis_i_io_sync_folder(const char *folder);

/* Report what the system refused, by errno: set the reason, return TAMIS_E_IO. */
static inline tamis_status tamis_i_io_fault(const char **reason) {
    *reason = tamis_i_errno_text(errno);
    return TAMIS_E_IO;
}

#endif
