/* build.c - filters from all keys at once
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"

#define CHUNK      1024u
#define PASSES_MAX 1000u

/* ---- an array as a source ---- */

typedef struct array {
    const tamis_digest *digests;
    size_t n;
    size_t at;
} array;

static bool build_array_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    array *const a = context;
    *n = a->n - a->at < room ? a->n - a->at : room;
    if (*n > 0)
        memcpy(digests, a->digests + a->at, *n * sizeof *digests);
    a->at += *n;
    return true;
}

static bool build_array_rewind(void *context) {
    ((array *)context)->at = 0;
    return true;
}

/* ---- building ---- */

static tamis_status build_count_keys(const tamis_source *source, uint64_t *n) {
    tamis_digest digests[CHUNK];
    size_t got;
    *n = 0;
    if (!source->rewind(source->context))
        return TAMIS_E_IO;
    do {
        if (!source->read(source->context, digests, CHUNK, &got) || got > CHUNK)
            return TAMIS_E_IO;
        *n += got;
    } while (got > 0);
    return TAMIS_OK;
}

static tamis_status build_insert_keys(tamis_filter *filter, const tamis_source *source, uint64_t n,
                                      const tamis_build_options *options) {
    tamis_digest digests[CHUNK];
    uint64_t all = 0;
    size_t got;
    if (!source->rewind(source->context))
        return TAMIS_E_IO;
    for (;; all += got) {
        if (!source->read(source->context, digests, CHUNK, &got) || got > CHUNK)
            return TAMIS_E_IO;
        if (got == 0)
            return TAMIS_OK;
        const tamis_status status =
            tamis_filter_insert_many_digest(filter, digests, got, NULL, NULL);
        if (status != TAMIS_OK)
            return status;
        if (options->progress != NULL)
            options->progress(options->context, (double)(all + got) / (double)n);
    }
}

tamis_status tamis_filter_build(const tamis_params *params, const tamis_source *source,
                                const tamis_build_options *options,
                                const tamis_allocator *allocator, tamis_filter **filter) {
    tamis_params own;
    tamis_build_options how;
    if (params == NULL || source == NULL || source->read == NULL || source->rewind == NULL ||
        filter == NULL || !tamis_i_struct_in(&own, sizeof own, params))
        return TAMIS_E_ARGUMENT;
    tamis_build_options_init(&how);
    if (options != NULL && !tamis_i_struct_in(&how, sizeof how, options))
        return TAMIS_E_ARGUMENT;
    if (how.passes == 0)
        how.passes = 10;
    const tamis_i_kind *const kind = tamis_i_kind_of(own.kind);
    if (kind == NULL || (own.seed == 0 && own.seed_high == 0) || how.passes > PASSES_MAX ||
        (unsigned)how.ties > TAMIS_TIES_STAY)
        return TAMIS_E_ARGUMENT;
    uint64_t n;
    tamis_status status = build_count_keys(source, &n);
    if (status != TAMIS_OK)
        return status;
    if (kind->shape_offline != NULL)
        kind->shape_offline(&own);
    tamis_filter *made;
    status = tamis_filter_create(&own, allocator, &made);
    if (status != TAMIS_OK)
        return status;
    if (n > 0)
        status = kind->build != NULL ? kind->build(made, source, n, &how, allocator)
                                     : build_insert_keys(made, source, n, &how);
    if (status != TAMIS_OK) {
        tamis_filter_free(made);
        return status;
    }
    *filter = made;
    return TAMIS_OK;
}

tamis_status tamis_filter_build_many(const tamis_params *params, const tamis_digest *digests,
                                     size_t n, const tamis_build_options *options,
                                     const tamis_allocator *allocator, tamis_filter **filter) {
    if (digests == NULL && n != 0)
        return TAMIS_E_ARGUMENT;
    array a = {.digests = digests, .n = n, .at = 0};
    const tamis_source source = {
        .read = build_array_read, .rewind = build_array_rewind, .context = &a};
    return tamis_filter_build(params, &source, options, allocator, filter);
}
