/* compact.h - filters in their compact form
 *
 * Some structures can leave out of their table what is empty in it, for the wire or for storage:
 *
 *      offset  size
 *           0     8  magic: 0x89 'T' 'A' 'M' 'C' 'F' 0x0d 0x0a
 *           8     8  seed, not 0
 *          16        numbers: version 1 to 3, kind, hash, from version 2 on the form of keys, in version 3
 *                    the promised error rate (the bits of a double), the upper seed of hash 2, capacity,
 *                    stash, count, entries in the stash, parameters in use, and these
 *                16  for each entry in the stash: its digest, lo and hi, and
 *                 1    its number of copies, 1 to 255
 *                    the table, a stream of bits; the last byte is filled with zeros
 *       size-8     8  XXH3-64 of all before
 *
 * All is little-endian.  A number is written in groups of 7 bits, the lowest first, each in a byte whose
 * highest bit says that there is one more; the last group is not zero, unless it is the only one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILE_COMPACT_H
#define TAMIS_FILE_COMPACT_H

#include "file/file.h"

/* Do the first bytes of some data say that it is a compact form? */
bool tamis_i_compact_is(const unsigned char *bytes, size_t size);

/* Can it be read again?  Not if the filter is out of all proportion to the form: 2 MiB, and 64 bytes for
 * each byte of it, are the most that is believed. */
bool tamis_i_compact_fits(const tamis_filter *filter);

/* Bytes of the compact form.  The kind of the filter has one.  Reads the whole table. */
uint64_t tamis_i_compact_size(const tamis_filter *filter);

/* Write these bytes. */
void tamis_i_compact_encode(const tamis_filter *filter, unsigned char *bytes);

/* Write these bytes to a descriptor.  TAMIS_E_IO, TAMIS_E_NOMEM: a buffer for all of them is needed. */
tamis_status tamis_i_compact_write(const tamis_filter *filter, int fd, const char **reason);

/* Make a filter from its compact form.  Statuses and '*reason' as of tamis_i_file_decode. */
tamis_status tamis_i_compact_decode(const unsigned char *bytes, size_t size,
                                    const tamis_allocator *allocator, tamis_filter **filter,
                                    const char **reason);

#endif
