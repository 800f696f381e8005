/* file.h - filters as bytes
 *
 * A file is a header of 256 bytes and the body of the filter, all little-endian:
 *
 *      offset  size
 *           0     8  magic: 0x89 'T' 'A' 'M' 'I' 'S' 0x0d 0x0a
 *           8     4  version of the format: 1; 2 with a form of keys or another hash than XXH3; 3 if the
 *                    body has more than 64 KiB; 4 with a promise
 *          12     4  size of the header, 256
 *          16     4  kind
 *          20     4  hash, a tamis_hash_id
 *          24     8  capacity
 *          32     8  seed
 *          40     8  stash: keys it can take
 *          48     8  words of 8 bytes in the body
 *          56   128  the 16 parameters of the kind
 *         184     4  form of keys, a tamis_key_form; reserved in version 1
 *         188     4  reserved, zero
 *         192     8  upper half of the seed; reserved in version 1
 *         200     8  the error rate that was promised, as the bits of a double; reserved before version 4
 *         208    32  reserved, zero
 *         240     8  XXH3-64 of the body, or of the checksums behind it
 *         248     8  XXH3-64 of the header up to here
 *         256        body: state (8 words), stash, table
 *                    from version 3 on, of more than 64 KiB: XXH3-64 of each part of the body
 *                    (filter/guard.h)
 *
 * A series (file/series.h) has such a header too, and then the files of its links; so has a sharded set
 * (file/shards.h), and then the files of its shards.
 *
 * The first bytes of the magic show up a file that was treated as text.  docs/format.md is the
 * specification; this drawing is for the reader of the code.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILE_FILE_H
#define TAMIS_FILE_FILE_H

#include "file/header.h"
#include "filter/guard.h"

/* How a file is opened: with memory of its own, or as a view on the bytes, which is verified at once; or in
 * parts as they are touched; or not at all. */
typedef enum tamis_i_opening {
    TAMIS_I_OPEN_COPY,
    TAMIS_I_OPEN_VIEW,
    TAMIS_I_OPEN_PARTS,
    TAMIS_I_OPEN_TRUSTED
} tamis_i_opening;

/* What a valid header says. */
typedef struct tamis_i_header {
    const tamis_i_kind *kind;
    tamis_params params;
    uint64_t n_body;
    uint64_t n_sums;        /* checksums behind the body; 0: of an older version */
    uint64_t size;          /* bytes of both */
    uint64_t body_checksum; /* of the body, or of the checksums behind it */
    unsigned char key_form;
} tamis_i_header;

/* An error rate as the bits of a double, which are in the order of the numbers.  Back: false unless it is
 * 0 or below 1. */
static inline uint64_t tamis_i_rate_bits(double rate) {
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    return bits;
}

static inline bool tamis_i_bits_rate(uint64_t bits, double *rate) {
    memcpy(rate, &bits, sizeof bits);
    return bits < tamis_i_rate_bits(1);
}

/* Write the header of 'filter'.  Reads the whole body for its checksum. */
void tamis_i_header_encode(const tamis_filter *filter, unsigned char *bytes);

/* Read and check a header of 256 bytes.  TAMIS_E_FORMAT, TAMIS_E_VERSION, TAMIS_E_TOO_LARGE. */
tamis_status tamis_i_header_decode(const unsigned char *bytes, tamis_i_header *header,
                                   const char **reason);

/* Write hash and seed. */
void tamis_i_header_hash(unsigned char *bytes, const tamis_params *params);

/* Complete a header of this kind: magic, the version that its fields need, size and the checksum over
 * all of it. */
void tamis_i_header_seal(unsigned char *bytes, uint32_t kind);

/* The kind that a header of 256 bytes names; 0 without the magic.  Nothing else is checked. */
uint32_t tamis_i_header_kind(const unsigned char *bytes);

/* Check what headers of all kinds have in common: up to and without the kind. */
tamis_status tamis_i_header_check(const unsigned char *bytes, const char **reason);

/* Bytes of the encoded filter, series or sharded set. */
uint64_t tamis_i_file_size(const tamis_filter *filter);

/* Write checksums 'from' to 'end' - 1 of the parts of a body.  Reads these parts. */
void tamis_i_sums_encode(const tamis_filter *filter, uint64_t from, uint64_t end,
                         unsigned char *bytes);

/* Make one filter of a body and what is behind it, by its header, and verify it, as far as it is to be. */
tamis_status tamis_i_body_open(const unsigned char *bytes, const tamis_i_header *header,
                               const tamis_allocator *allocator, tamis_i_opening opening,
                               tamis_filter **filter, const char **reason);

/* Open one filter or series. */
tamis_status tamis_i_file_open(const unsigned char *bytes, size_t size,
                               const tamis_allocator *allocator, tamis_i_opening opening,
                               tamis_filter **filter, const char **reason);

/* As the public functions of similar names.  'reason' is never NULL here. */
void tamis_i_file_encode(const tamis_filter *filter, unsigned char *bytes);
tamis_status tamis_i_file_decode(const unsigned char *bytes, size_t size,
                                 const tamis_allocator *allocator, tamis_filter **filter,
                                 const char **reason);
tamis_status tamis_i_file_view(const void *data, size_t size, const tamis_allocator *allocator,
                               tamis_i_opening opening, tamis_filter **filter, const char **reason);
tamis_status tamis_i_file_load(int fd, const tamis_allocator *allocator, tamis_filter **filter,
                               const char **reason);
tamis_status tamis_i_file_map(int fd, const tamis_allocator *allocator, tamis_i_opening opening,
                              tamis_filter **filter, const char **reason);
tamis_status tamis_i_file_write(const tamis_filter *filter, int fd, const char **reason);

/* Where the bytes of a file come from, in order.  read fills the buffer, or tells why it cannot. */
typedef struct tamis_i_input {
    tamis_status (*read)(void *context, void *buffer, size_t size, const char **reason);
    void *context;
} tamis_i_input;

/* Make a filter from a header of 256 bytes and the 'size' bytes after it, which are really there: they are
 * read straight into the filter.  Statuses and '*reason' as of tamis_i_file_decode. */
tamis_status tamis_i_input_load(const tamis_i_input *input, const unsigned char *head,
                                uint64_t size, const tamis_allocator *allocator,
                                tamis_filter **filter, const char **reason);

/* Like it, from the very first byte, and of the compact form too. */
tamis_status tamis_i_file_read(const tamis_i_input *input, uint64_t size,
                               const tamis_allocator *allocator, tamis_filter **filter,
                               const char **reason);

/* Read what this header promises, make the filter and check it. */
tamis_status tamis_i_input_body(const tamis_i_input *input, const tamis_i_header *header,
                                const tamis_allocator *allocator, tamis_filter **filter,
                                const char **reason);

/* Write bytes 'offset' to 'offset' + 'size' - 1 of the encoded filter, which has them. */
void tamis_i_file_encode_part(const tamis_filter *filter, uint64_t offset, unsigned char *bytes,
                              size_t size);

/* Writes a filter to a descriptor: tamis_i_file_write, or tamis_i_compact_write. */
typedef tamis_status tamis_i_file_writer(const tamis_filter *filter, int fd, const char **reason);
tamis_status tamis_i_file_save(const tamis_filter *filter, const char *path,
                               tamis_i_file_writer *write_to, const char **reason);

#endif
