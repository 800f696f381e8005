/* compact.c - the compact form, and values
 *
 * What only some kinds can do; the others say TAMIS_E_UNSUPPORTED.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file/compact.h"
#include "filter/guard.h"
#include "filter/shards.h"

#include <errno.h>

static const char bad_argument[] = "an argument is NULL";
static const char no_form[] = "there is no compact form: not of this kind, of a series, or of a "
                              "large set that is all but empty";

/* ---- the compact form ---- */

/* A series has none: it is for filters that are done. */
static bool api_compact_has_form(const tamis_filter *filter) {
    return filter->kind->compact_write != NULL && filter->links == NULL &&
           tamis_i_compact_fits(filter);
}

/* What the form is written from.  It is as long as its parts say, and so has to be counted before it is
 * written: the memory under a view may change in between, so of a view it is a copy that has been checked.
 * NULL, and why, if there is none. */
static const tamis_filter *api_compact_settled(const tamis_filter *filter, tamis_filter **copy,
                                               tamis_status *status, const char **why) {
    *copy = NULL;
    *status = tamis_i_filter_verify(filter, why);
    if (*status == TAMIS_OK && filter->read_only) {
        const tamis_allocator *const own = &filter->allocator;
        *status = tamis_filter_clone(filter, own->alloc == NULL ? NULL : own, copy);
        *why = *status == TAMIS_E_FORMAT ? "the body has changed since it was verified"
                                         : tamis_status_text(*status);
    }
    return *status != TAMIS_OK ? NULL : *copy != NULL ? *copy : filter;
}

uint64_t tamis_filter_compact_size(const tamis_filter *filter) {
    return api_compact_has_form(filter) && tamis_i_filter_verify(filter, NULL) == TAMIS_OK
               ? tamis_i_compact_size(filter)
               : 0;
}

tamis_status tamis_filter_compact_encode(const tamis_filter *filter, void *buffer, size_t size) {
    if (filter == NULL || buffer == NULL)
        return TAMIS_E_ARGUMENT;
    if (!api_compact_has_form(filter))
        return TAMIS_E_UNSUPPORTED;
    tamis_filter *copy;
    tamis_status status;
    const char *why;
    const tamis_filter *const settled = api_compact_settled(filter, &copy, &status, &why);
    if (settled == NULL)
        return status;
    if (size == tamis_i_compact_size(settled))
        tamis_i_compact_encode(settled, buffer);
    else
        status = TAMIS_E_ARGUMENT;
    tamis_filter_free(copy);
    return status;
}

tamis_status tamis_filter_compact_decode(const void *data, size_t size,
                                         const tamis_allocator *allocator, tamis_filter **filter,
                                         const char **reason) {
    const char *why = bad_argument;
    tamis_status status = TAMIS_E_ARGUMENT;
    const int saved = errno;
    if ((data != NULL || size == 0) && filter != NULL && tamis_i_allocator_ok(allocator))
        status = tamis_i_compact_decode(size == 0 ? (const void *)"" : data, size, allocator,
                                        filter, &why);
    if (status != TAMIS_OK && reason != NULL)
        *reason = why;
    errno = saved;
    return status;
}

static tamis_status api_compact_save_to(const tamis_filter *filter, const char *path, int fd,
                                        const char **reason) {
    const char *why = bad_argument;
    tamis_status status = TAMIS_E_ARGUMENT;
    const int saved = errno;
    if (filter != NULL && !api_compact_has_form(filter)) {
        status = TAMIS_E_UNSUPPORTED;
        why = no_form;
    } else if (filter != NULL) {
        tamis_filter *copy;
        const tamis_filter *const settled = api_compact_settled(filter, &copy, &status, &why);
        if (settled != NULL)
            status = path == NULL ? tamis_i_compact_write(settled, fd, &why)
                                  : tamis_i_file_save(settled, path, tamis_i_compact_write, &why);
        tamis_filter_free(copy);
    }
    if (status != TAMIS_OK && reason != NULL)
        *reason = why;
    errno = saved;
    return status;
}

tamis_status tamis_filter_compact_save(const tamis_filter *filter, const char *path,
                                       const char **reason) {
    return api_compact_save_to(path == NULL ? NULL : filter, path, -1, reason);
}

tamis_status tamis_filter_compact_save_fd(const tamis_filter *filter, int fd, const char **reason) {
    return api_compact_save_to(filter, NULL, fd, reason);
}

/* ---- values ---- */

/* May this value be stored with a key? */
static tamis_status api_compact_value_ok(const tamis_filter *filter, unsigned value) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    if (tamis_filter_value_bits(filter) == 0)
        return TAMIS_E_UNSUPPORTED;
    if (value >> tamis_filter_value_bits(filter) != 0)
        return TAMIS_E_ARGUMENT;
    return filter->read_only ? TAMIS_E_READONLY : TAMIS_OK;
}

unsigned tamis_filter_value_bits(const tamis_filter *filter) {
    return filter->kind->value_bits == NULL ? 0 : filter->kind->value_bits(filter);
}

tamis_status tamis_filter_insert_value_digest(tamis_filter *filter, tamis_digest digest,
                                              unsigned value, bool *added) {
    bool fresh;
    tamis_status status = api_compact_value_ok(filter, value);
    if (status == TAMIS_OK && filter->links != NULL)
        return tamis_i_series_insert(filter, digest, (int)value, added);
    if (status == TAMIS_OK)
        status = filter->kind->insert_value(filter, digest, value, &fresh);
    if (status == TAMIS_OK && added != NULL)
        *added = fresh;
    return status;
}

tamis_status tamis_filter_insert_value(tamis_filter *filter, const void *key, size_t size,
                                       unsigned value, bool *added) {
    if (filter == NULL || (key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    return tamis_filter_insert_value_digest(
        filter, tamis_i_hasher_bytes(&filter->hasher, key, size), value, added);
}

tamis_status tamis_filter_lookup_value_digest(const tamis_filter *filter, tamis_digest digest,
                                              unsigned *value) {
    if (filter == NULL || value == NULL)
        return TAMIS_E_ARGUMENT;
    if (tamis_filter_value_bits(filter) == 0)
        return TAMIS_E_UNSUPPORTED;
    if (filter->links != NULL)
        return tamis_i_series_lookup_value(filter, digest, value);
    return tamis_i_filter_may_read(filter, digest)
               ? filter->kind->lookup_value(filter, digest, value)
               : TAMIS_E_FORMAT;
}

tamis_status tamis_filter_lookup_value(const tamis_filter *filter, const void *key, size_t size,
                                       unsigned *value) {
    if (filter == NULL || (key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    return tamis_filter_lookup_value_digest(
        filter, tamis_i_hasher_bytes(&filter->hasher, key, size), value);
}

tamis_status tamis_filter_update_value_digest(tamis_filter *filter, tamis_digest digest,
                                              unsigned value) {
    const tamis_status status = api_compact_value_ok(filter, value);
    if (status != TAMIS_OK)
        return status;
    return filter->links != NULL ? tamis_i_series_update_value(filter, digest, value)
                                 : filter->kind->update_value(filter, digest, value);
}

tamis_status tamis_filter_update_value(tamis_filter *filter, const void *key, size_t size,
                                       unsigned value) {
    if (filter == NULL || (key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    return tamis_filter_update_value_digest(
        filter, tamis_i_hasher_bytes(&filter->hasher, key, size), value);
}
