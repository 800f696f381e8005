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
#include "file/series.h"

#include "hash/hash.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BUFFER ((uint64_t)1 << 16)

static tamis_status load_regular(int fd, const unsigned char *head, uint64_t length,
                                 const tamis_allocator *allocator, tamis_filter **filter,
                                 const char **reason) {
    tamis_i_header header;
    tamis_status status = tamis_i_header_decode(head, &header, reason);
    if (status != TAMIS_OK)
        return status;
    const uint64_t body = length - TAMIS_I_HEADER_BYTES;
    if (body != 8 * header.n_body) {
        *reason = body < 8 * header.n_body ? "the file is cut off within the body"
                                           : "the file goes on after its end";
        return TAMIS_E_FORMAT;
    }
    tamis_filter *own;
    status = tamis_i_filter_make(header.kind, &header.params, allocator, NULL, false, &own);
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    own->key_form = header.key_form;
    size_t got;
    if (!tamis_i_io_read(fd, own->state, (size_t)body, &got)) {
        status = tamis_i_io_fault(reason);
        goto fail;
    }
    status = TAMIS_E_FORMAT;
    if (got != body) {
        *reason = "the file is cut off within the body";
        goto fail;
    }
    if (tamis_i_checksum(own->state, got) != header.body_checksum) {
        *reason = "the body is damaged: its checksum does not match";
        goto fail;
    }
    if (!tamis_i_little_endian())
        for (uint64_t i = 0; i < header.n_body; i++)
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

/* A descriptor whose first bytes have been read. */
typedef struct load_source {
    int fd;
    const unsigned char *head;
    size_t have;
    uint64_t expected; /* bytes that a regular file really has, else 0 */
    uint64_t most;     /* bytes to read: one more than there should be */
} load_source;

/* Collect the bytes up to the end and decode them.  The first buffer has the expected bytes, if these are
 * more than the usual. */
static tamis_status load_collect(const load_source *source, decoder *decode,
                                 const tamis_allocator *allocator, tamis_filter **filter,
                                 const char **reason) {
    const uint64_t most = source->most;
    const uint64_t first = source->expected > FIRST_BUFFER ? source->expected : FIRST_BUFFER;
    size_t have = source->have;
    size_t room = (size_t)(most < first ? most : first);
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
    const load_source source = {fd, head, TAMIS_I_HEADER_BYTES, 0,
                                TAMIS_I_HEADER_BYTES + 8 * header.n_body + 1};
    return load_collect(&source, tamis_i_file_decode, allocator, filter, reason);
}

/* A series is collected and then decoded.  'length' is what a regular file still has, else 0. */
static tamis_status load_series(int fd, const unsigned char *head, uint64_t length,
                                const tamis_allocator *allocator, tamis_filter **filter,
                                const char **reason) {
    const uint64_t said = tamis_i_series_bytes(head);
    const tamis_status status = tamis_i_header_check(head, reason);
    if (status != TAMIS_OK)
        return status;
    if (length > SIZE_MAX - 1) {
        *reason = "the file is too large for this machine";
        return TAMIS_E_TOO_LARGE;
    }
    const load_source source = {fd, head, TAMIS_I_HEADER_BYTES, length + 1,
                                said == SIZE_MAX ? said : said + 1};
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
    const load_source unknown = {fd, head, got, 0, SIZE_MAX}; /* only its end tells the length */
    if (tamis_i_compact_is(head, got))
        return load_collect(&unknown, tamis_i_compact_decode, allocator, filter, reason);
    if (got < sizeof head) /* too short for any filter: let the decoder say why */
        return tamis_i_file_decode(head, got, allocator, filter, reason);
    if (tamis_i_series_is(head))
        return load_series(fd, head, at >= 0 && st.st_size > at ? (uint64_t)(st.st_size - at) : 0,
                           allocator, filter, reason);
    if (at >= 0 && st.st_size >= at + (off_t)sizeof head)
        return load_regular(fd, head, (uint64_t)(st.st_size - at), allocator, filter, reason);
    return load_stream(fd, head, allocator, filter, reason);
}

tamis_status tamis_i_file_map(int fd, const tamis_allocator *allocator, tamis_filter **filter,
                              const char **reason) {
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
        return tamis_i_file_view(&aligned, 0, allocator, filter, reason);
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
        status = tamis_i_file_view(map, size, allocator, filter, reason);
    if (status != TAMIS_OK) {
        (void)munmap(map, size);
        return status;
    }
    (*filter)->map = map;
    (*filter)->map_size = size;
    return TAMIS_OK;
}
