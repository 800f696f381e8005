/* file.c - the handle's files: paths become descriptors, and errno stays what it was
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "file/file.h"
#include "filter/shards.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* A caller need not ask for the reason; below, it always has a place. */
static tamis_status api_file_leave(tamis_status status, const char *why, const char **reason,
                                   int saved) {
    if (status != TAMIS_OK && reason != NULL)
        *reason = why;
    errno = saved;
    return status;
}

static bool api_file_make_args_ok(const tamis_allocator *allocator, tamis_filter **filter) {
    return filter != NULL && tamis_i_allocator_ok(allocator);
}

static const char bad_argument[] = "an argument is NULL";

uint64_t tamis_filter_encoded_size(const tamis_filter *filter) {
    return tamis_i_file_size(filter);
}

tamis_status tamis_filter_encode(const tamis_filter *filter, void *buffer, size_t size) {
    if (filter == NULL || buffer == NULL || size != tamis_filter_encoded_size(filter))
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_i_filter_verify(filter, NULL);
    if (status == TAMIS_OK)
        tamis_i_file_encode(filter, buffer);
    return status;
}

tamis_status tamis_filter_encode_part(const tamis_filter *filter, uint64_t offset, void *buffer,
                                      size_t size) {
    if (filter == NULL || (buffer == NULL && size > 0))
        return TAMIS_E_ARGUMENT;
    const uint64_t all = tamis_filter_encoded_size(filter);
    if (offset > all || size > all - offset)
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_i_filter_verify(filter, NULL);
    if (status == TAMIS_OK)
        tamis_i_file_encode_part(filter, offset, buffer, size);
    return status;
}

tamis_status tamis_filter_decode(const void *data, size_t size, const tamis_allocator *allocator,
                                 tamis_filter **filter, const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if ((data != NULL || size == 0) && api_file_make_args_ok(allocator, filter))
        status =
            tamis_i_file_decode(size == 0 ? (const void *)"" : data, size, allocator, filter, &why);
    return api_file_leave(status, why, reason, saved);
}

static tamis_status api_file_ask_reader(void *context, void *buffer, size_t size,
                                        const char **reason) {
    const tamis_reader *const reader = context;
    if (reader->read(reader->context, buffer, size))
        return TAMIS_OK;
    *reason = "the bytes could not be read";
    return TAMIS_E_IO;
}

tamis_status tamis_filter_decode_from(const tamis_reader *reader, uint64_t size,
                                      const tamis_allocator *allocator, tamis_filter **filter,
                                      const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (reader != NULL && reader->read != NULL && api_file_make_args_ok(allocator, filter)) {
        tamis_reader own = *reader;
        const tamis_i_input input = {api_file_ask_reader, &own};
        status = tamis_i_file_read(&input, size, allocator, filter, &why);
    }
    return api_file_leave(status, why, reason, saved);
}

static tamis_status api_file_view(const void *data, size_t size, const tamis_allocator *allocator,
                                  tamis_i_opening opening, tamis_filter **filter,
                                  const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (data != NULL && api_file_make_args_ok(allocator, filter))
        status = tamis_i_file_view(data, size, allocator, opening, filter, &why);
    return api_file_leave(status, why, reason, saved);
}

tamis_status tamis_filter_view(const void *data, size_t size, const tamis_allocator *allocator,
                               tamis_filter **filter, const char **reason) {
    return api_file_view(data, size, allocator, TAMIS_I_OPEN_VIEW, filter, reason);
}

tamis_status tamis_filter_view_parts(const void *data, size_t size,
                                     const tamis_allocator *allocator, tamis_filter **filter,
                                     const char **reason) {
    return api_file_view(data, size, allocator, TAMIS_I_OPEN_PARTS, filter, reason);
}

tamis_status tamis_filter_save(const tamis_filter *filter, const char *path, const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (filter != NULL && path != NULL)
        status = tamis_i_filter_verify(filter, &why);
    if (status == TAMIS_OK)
        status = tamis_i_file_save(filter, path, tamis_i_file_write, &why);
    return api_file_leave(status, why, reason, saved);
}

tamis_status tamis_filter_save_fd(const tamis_filter *filter, int fd, const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (filter != NULL)
        status = tamis_i_filter_verify(filter, &why);
    if (status == TAMIS_OK)
        status = tamis_i_file_write(filter, fd, &why);
    return api_file_leave(status, why, reason, saved);
}

tamis_status tamis_filter_load_fd(int fd, const tamis_allocator *allocator, tamis_filter **filter,
                                  const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (api_file_make_args_ok(allocator, filter))
        status = tamis_i_file_load(fd, allocator, filter, &why);
    return api_file_leave(status, why, reason, saved);
}

/* What loading and mapping have in common. */
typedef tamis_status from_fd(int fd, const tamis_allocator *allocator, tamis_filter **filter,
                             const char **reason);

static tamis_status api_file_from_path(from_fd *open_fd, const char *path,
                                       const tamis_allocator *allocator, tamis_filter **filter,
                                       const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (path != NULL && api_file_make_args_ok(allocator, filter)) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            status = TAMIS_E_IO;
            why = tamis_i_errno_text(errno);
        } else {
            status = open_fd(fd, allocator, filter, &why);
            (void)close(fd);
        }
    }
    return api_file_leave(status, why, reason, saved);
}

tamis_status tamis_filter_load(const char *path, const tamis_allocator *allocator,
                               tamis_filter **filter, const char **reason) {
    return api_file_from_path(tamis_i_file_load, path, allocator, filter, reason);
}

static tamis_status api_file_map(int fd, const tamis_allocator *allocator, tamis_filter **filter,
                                 const char **reason) {
    return tamis_i_file_map(fd, allocator, TAMIS_I_OPEN_PARTS, filter, reason);
}

static tamis_status api_file_map_trusted(int fd, const tamis_allocator *allocator,
                                         tamis_filter **filter, const char **reason) {
    return tamis_i_file_map(fd, allocator, TAMIS_I_OPEN_TRUSTED, filter, reason);
}

tamis_status tamis_filter_map(const char *path, const tamis_allocator *allocator,
                              tamis_filter **filter, const char **reason) {
    return api_file_from_path(api_file_map, path, allocator, filter, reason);
}

tamis_status tamis_filter_map_trusted(const char *path, const tamis_allocator *allocator,
                                      tamis_filter **filter, const char **reason) {
    return api_file_from_path(api_file_map_trusted, path, allocator, filter, reason);
}

tamis_status tamis_filter_verify(const tamis_filter *filter, const char **reason) {
    const char *why = bad_argument;
    const int saved = errno;
    const tamis_status status =
        filter == NULL ? TAMIS_E_ARGUMENT : tamis_i_filter_verify(filter, &why);
    return api_file_leave(status, why, reason, saved);
}

uint64_t tamis_filter_damage(const tamis_filter *filter) {
    return tamis_i_filter_damage(filter);
}
