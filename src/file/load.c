/* load.c - filters from descriptors
 *
 * A regular file tells its length, which must be the one that the header implies before anything is
 * allocated; the body is then read straight into the filter.  A pipe does not, so that its body is
 * collected in a buffer that grows with what has really arrived: a header that promises 2^60 keys and
 * is followed by nothing costs one small buffer.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "base/io.h"
#include "file/compact.h"
#include "file/shards.h"

#include "hash/hash.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BUFFER ((uint64_t)1 << 16)
#define SUMS         512u /* checksums that are read at a time */

/* Compare the parts of a body, as it was read, with the checksums that follow it. */
static tamis_status load_sums(const tamis_i_input *input, const tamis_i_header *header,
                              const uint64_t *body, const char **reason) {
    static const char damaged[] = "the body is damaged: its checksum does not match";
    if (header->n_sums == 0)
        return tamis_i_checksum(body, (size_t)header->n_body * 8) == header->body_checksum
                   ? TAMIS_OK
                   : tamis_i_refuse(reason, damaged);
    const unsigned shift = tamis_i_part_shift(header->n_body);
    bool good = true;
    tamis_i_checksum_flow flow;
    tamis_i_checksum_begin(&flow);
    for (uint64_t at = 0, n; at < header->n_sums; at += n) {
        unsigned char sums[8 * SUMS];
        n = header->n_sums - at < SUMS ? header->n_sums - at : SUMS;
        const tamis_status status = input->read(input->context, sums, 8 * (size_t)n, reason);
        if (status != TAMIS_OK)
            return status;
        tamis_i_checksum_add(&flow, sums, 8 * (size_t)n);
        for (uint64_t i = 0; i < n && good; i++) {
            const tamis_i_part_span span = tamis_i_part_at(header->n_body, shift, at + i);
            good = tamis_i_checksum(body + span.from, (size_t)span.n * 8) ==
                   tamis_i_get_u64(sums + 8 * i);
        }
    }
    good = good && tamis_i_checksum_end(&flow) == header->body_checksum;
    return good ? TAMIS_OK : tamis_i_refuse(reason, damaged);
}

tamis_status tamis_i_input_body(const tamis_i_input *input, const tamis_i_header *header,
                                const tamis_allocator *allocator, tamis_filter **filter,
                                const char **reason) {
    tamis_filter *own;
    tamis_status status =
        tamis_i_filter_make(header->kind, &header->params, allocator, NULL, false, &own);
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    own->key_form = header->key_form;
    const size_t size = (size_t)header->n_body * 8;
    status = input->read(input->context, own->state, size, reason);
    if (status == TAMIS_OK)
        status = load_sums(input, header, own->state, reason);
    if (status != TAMIS_OK)
        goto fail;
    status = TAMIS_E_FORMAT;
    if (!tamis_i_little_endian())
        for (uint64_t i = 0; i < header->n_body; i++)
            own->state[i] = tamis_i_get_u64((const unsigned char *)(own->state + i));
    if (!tamis_i_filter_check(own, reason))
        goto fail;
    *filter = own;
    return TAMIS_OK;

fail:
    tamis_filter_free(own);
    return status;
}

typedef tamis_status decoder(const unsigned char *bytes, size_t size,
                             const tamis_allocator *allocator, tamis_filter **filter,
                             const char **reason);

/* Read all of a compact form, or of a sharded set, and decode it. */
static tamis_status load_whole(const tamis_i_input *input, const unsigned char *head, size_t have,
                               uint64_t size, decoder *decode, const tamis_allocator *allocator,
                               tamis_filter **filter, const char **reason) {
    if (size > SIZE_MAX) {
        *reason = "the file is too large for this machine";
        return TAMIS_E_TOO_LARGE;
    }
    unsigned char *const bytes = tamis_i_alloc(allocator, (size_t)size);
    if (bytes == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    memcpy(bytes, head, have);
    tamis_status status = input->read(input->context, bytes + have, (size_t)size - have, reason);
    if (status == TAMIS_OK)
        status = decode(bytes, (size_t)size, allocator, filter, reason);
    tamis_i_free(allocator, bytes, (size_t)size);
    return status;
}

tamis_status tamis_i_input_load(const tamis_i_input *input, const unsigned char *head,
                                uint64_t size, const tamis_allocator *allocator,
                                tamis_filter **filter, const char **reason) {
    if (tamis_i_series_is(head))
        return tamis_i_series_read(input, head, size, allocator, filter, reason);
    tamis_i_header header;
    if (tamis_i_shards_is(head)) {
        const tamis_status checked = tamis_i_header_check(head, reason);
        return checked != TAMIS_OK
                   ? checked
                   : load_whole(input, head, TAMIS_I_HEADER_BYTES, TAMIS_I_HEADER_BYTES + size,
                                tamis_i_file_decode, allocator, filter, reason);
    }
    const tamis_status status = tamis_i_header_decode(head, &header, reason);
    if (status != TAMIS_OK)
        return status;
    if (size != header.size)
        return tamis_i_refuse(reason, size < header.size ? "the file is cut off within the body"
                                                         : "the file goes on after its end");
    return tamis_i_input_body(input, &header, allocator, filter, reason);
}

tamis_status tamis_i_file_read(const tamis_i_input *input, uint64_t size,
                               const tamis_allocator *allocator, tamis_filter **filter,
                               const char **reason) {
    unsigned char head[TAMIS_I_HEADER_BYTES] = {0};
    const size_t have = size < sizeof head ? (size_t)size : sizeof head;
    if (have > 0) {
        const tamis_status status = input->read(input->context, head, have, reason);
        if (status != TAMIS_OK)
            return status;
    }
    if (tamis_i_compact_is(head, have))
        return load_whole(input, head, have, size, tamis_i_compact_decode, allocator, filter,
                          reason);
    if (have < sizeof head) /* too short for any filter: let the decoder say why */
        return tamis_i_file_decode(head, have, allocator, filter, reason);
    return tamis_i_input_load(input, head, size - sizeof head, allocator, filter, reason);
}

/* The descriptor of a regular file as an input. */
static tamis_status load_read_fd(void *context, void *buffer, size_t size, const char **reason) {
    size_t got;
    if (!tamis_i_io_read(*(const int *)context, buffer, size, &got))
        return tamis_i_io_fault(reason);
    return got == size ? TAMIS_OK : tamis_i_refuse(reason, "the file is cut off within the body");
}

/* A descriptor whose first bytes have been read. */
typedef struct load_source {
    int fd;
    const unsigned char *head;
    size_t have;
    uint64_t most; /* bytes to read: one more than there should be */
} load_source;

/* Collect the bytes up to the end and decode them. */
static tamis_status load_collect(const load_source *source, decoder *decode,
                                 const tamis_allocator *allocator, tamis_filter **filter,
                                 const char **reason) {
    const uint64_t most = source->most;
    size_t have = source->have;
    size_t room = (size_t)(most < FIRST_BUFFER ? most : FIRST_BUFFER);
    unsigned char *buffer = tamis_i_alloc(allocator, room);
    if (buffer == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    memcpy(buffer, source->head, have);
    tamis_status status;
    for (size_t got;;) {
        if (!tamis_i_io_read(source->fd, buffer + have, room - have, &got)) {
            status = tamis_i_io_fault(reason);
            break;
        }
        have += got;
        if (have < room || room == most) {
            status = decode(buffer, have, allocator, filter, reason);
            break;
        }
        const uint64_t wanted = most - room < room ? most : 2 * (uint64_t)room;
        if (wanted > SIZE_MAX) {
            *reason = "the file is too large for this machine";
            status = TAMIS_E_TOO_LARGE;
            break;
        }
        const size_t larger = (size_t)wanted;
        unsigned char *const next = tamis_i_alloc(allocator, larger);
        if (next == NULL) {
            *reason = tamis_status_text(TAMIS_E_NOMEM);
            status = TAMIS_E_NOMEM;
            break;
        }
        memcpy(next, buffer, have);
        tamis_i_free(allocator, buffer, room);
        buffer = next;
        room = larger;
    }
    tamis_i_free(allocator, buffer, room);
    return status;
}

static tamis_status load_stream(int fd, const unsigned char *head, const tamis_allocator *allocator,
                                tamis_filter **filter, const char **reason) {
    tamis_i_header header;
    const tamis_status status = tamis_i_header_decode(head, &header, reason);
    if (status != TAMIS_OK)
        return status;
    const load_source source = {fd, head, TAMIS_I_HEADER_BYTES,
                                TAMIS_I_HEADER_BYTES + header.size + 1};
    return load_collect(&source, tamis_i_file_decode, allocator, filter, reason);
}

/* A series or a sharded set. */
static tamis_status load_composed(int fd, const unsigned char *head,
                                  const tamis_allocator *allocator, tamis_filter **filter,
                                  const char **reason) {
    const uint64_t said = tamis_i_series_bytes(head);
    const tamis_status status = tamis_i_header_check(head, reason);
    if (status != TAMIS_OK)
        return status;
    const load_source source = {fd, head, TAMIS_I_HEADER_BYTES, said == SIZE_MAX ? said : said + 1};
    return load_collect(&source, tamis_i_file_decode, allocator, filter, reason);
}

tamis_status tamis_i_file_load(int fd, const tamis_allocator *allocator, tamis_filter **filter,
                               const char **reason) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return tamis_i_io_fault(reason);
    if (S_ISDIR(st.st_mode)) {
        *reason = tamis_i_errno_text(EISDIR);
        return TAMIS_E_IO;
    }
    const off_t at = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
    unsigned char head[TAMIS_I_HEADER_BYTES];
    size_t got;
    if (!tamis_i_io_read(fd, head, sizeof head, &got))
        return tamis_i_io_fault(reason);
    const load_source unknown = {fd, head, got, SIZE_MAX}; /* only its end tells the length */
    if (tamis_i_compact_is(head, got))
        return load_collect(&unknown, tamis_i_compact_decode, allocator, filter, reason);
    if (got < sizeof head) /* too short for any filter: let the decoder say why */
        return tamis_i_file_decode(head, got, allocator, filter, reason);
    if (at >= 0 && st.st_size >= at + (off_t)sizeof head) {
        const tamis_i_input input = {load_read_fd, &fd};
        return tamis_i_input_load(&input, head, (uint64_t)(st.st_size - at) - sizeof head,
                                  allocator, filter, reason);
    }
    return tamis_i_is_composed(head) ? load_composed(fd, head, allocator, filter, reason)
                                     : load_stream(fd, head, allocator, filter, reason);
}

tamis_status tamis_i_file_map(int fd, const tamis_allocator *allocator, tamis_i_opening opening,
                              tamis_filter **filter, const char **reason) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return tamis_i_io_fault(reason);
    if (!S_ISREG(st.st_mode)) {
        *reason =
            S_ISDIR(st.st_mode) ? tamis_i_errno_text(EISDIR) : "only regular files can be mapped";
        return TAMIS_E_IO;
    }
    if (st.st_size == 0) {
        const uint64_t aligned = 0; /* an address that the view takes; nothing is read there */
        return tamis_i_file_view(&aligned, 0, allocator, opening, filter, reason);
    }
    if ((uintmax_t)st.st_size > SIZE_MAX) {
        *reason = "the file is too large for this machine";
        return TAMIS_E_TOO_LARGE;
    }
    const size_t size = (size_t)st.st_size;
    void *const map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return tamis_i_io_fault(reason);
    tamis_status status = TAMIS_E_UNSUPPORTED;
    if (tamis_i_compact_is(map, size))
        *reason = "a compact filter cannot be mapped, it must be loaded";
    else
        status = tamis_i_file_view(map, size, allocator, opening, filter, reason);
    if (status != TAMIS_OK) {
        (void)munmap(map, size);
        return status;
    }
    (*filter)->map = map;
    (*filter)->map_size = size;
    return TAMIS_OK;
}
