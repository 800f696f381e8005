/* series.h - filters of several links as bytes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILE_SERIES_H
#define TAMIS_FILE_SERIES_H

#include "file/file.h"
#include "filter/series.h"

/* The kind that the header of a series names; no filter has it. */
#define TAMIS_I_KIND_SERIES 128u

/* Do the 256 bytes of a header say that it is that of a series?  They have not been checked. */
bool tamis_i_series_is(const unsigned char *head);

/* Bytes of the whole file by this header, which need not be true; SIZE_MAX if it cannot be. */
uint64_t tamis_i_series_bytes(const unsigned char *head);

/* Write the header of a series to 'head', and those of its links to 'heads', 256 bytes each. */
void tamis_i_series_encode(const tamis_filter *filter, unsigned char *head, unsigned char *heads);

/* Make a series from 'size' bytes, 256 at least: opened as is said.  Statuses and '*reason' as of
 * tamis_i_file_decode. */
tamis_status tamis_i_series_open(const unsigned char *bytes, size_t size,
                                 const tamis_allocator *allocator, tamis_i_opening opening,
                                 tamis_filter **filter, const char **reason);

/* Like it, with memory of its own, from the header of a series and the 'size' bytes after it. */
tamis_status tamis_i_series_read(const tamis_i_input *input, const unsigned char *head,
                                 uint64_t size, const tamis_allocator *allocator,
                                 tamis_filter **filter, const char **reason);

#endif
