/* filter.c - the handle: making, one key at a time, whole filters
 *
 * Every public function checks its arguments here; below, nothing is checked twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "filter/shards.h"

#include <errno.h>
#include <math.h>

/* ---- making and freeing ---- */

tamis_status tamis_filter_create(const tamis_params *params, const tamis_allocator *allocator,
                                 tamis_filter **filter) {
    tamis_params own;
    if (params == NULL || filter == NULL || !tamis_i_allocator_ok(allocator) ||
        !tamis_i_struct_in(&own, sizeof own, params))
        return TAMIS_E_ARGUMENT;
    const tamis_i_kind *const kind = tamis_i_kind_of(own.kind);
    if (kind == NULL)
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_i_hasher_complete(&own.hash, &own.seed, &own.seed_high);
    if (status != TAMIS_OK)
        return status;
    return tamis_i_filter_make(kind, &own, allocator, NULL, true, filter);
}

tamis_status tamis_filter_new(uint64_t n, double fpr, tamis_filter **filter) {
    tamis_need need;
    tamis_plan plan;
    tamis_need_init(&need);
    tamis_plan_init(&plan);
    need.n = n;
    need.fpr = fpr;
    if (fpr == 0) /* here 0 is not a default but a mistake */
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_plan_make(&need, &plan);
    return status != TAMIS_OK ? status : tamis_filter_create(&plan.params, NULL, filter);
}

tamis_status tamis_filter_clone(const tamis_filter *source, const tamis_allocator *allocator,
                                tamis_filter **filter) {
    if (source == NULL || filter == NULL || !tamis_i_allocator_ok(allocator))
        return TAMIS_E_ARGUMENT;
    tamis_status status = tamis_i_filter_verify(source, NULL);
    if (status != TAMIS_OK)
        return status;
    if (tamis_i_is_sharded(source))
        return tamis_i_shards_clone(source, allocator, filter);
    tamis_filter *copy;
    status = tamis_i_filter_clone(source, source->params.capacity, allocator, &copy);
    if (status == TAMIS_OK && source->links != NULL) {
        status = tamis_i_links_clone(source, copy);
        if (status != TAMIS_OK)
            tamis_filter_free(copy);
    }
    if (status == TAMIS_OK)
        *filter = copy;
    return status;
}

/* ---- one key ---- */

tamis_status tamis_filter_insert_digest(tamis_filter *filter, tamis_digest digest, bool *added) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    return filter->calls.insert(filter, digest, added);
}

tamis_status tamis_filter_insert(tamis_filter *filter, const void *key, size_t size, bool *added) {
    if (filter == NULL || TAMIS_UNLIKELY(key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    const tamis_digest digest = tamis_i_hasher_bytes(&filter->hasher, key, size);
    return filter->calls.insert(filter, digest, added);
}

tamis_status tamis_filter_insert_u64(tamis_filter *filter, uint64_t key, bool *added) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    return filter->calls.insert_word(filter, key, added);
}

bool tamis_filter_contains_digest(const tamis_filter *filter, tamis_digest digest) {
    return filter->calls.contains(filter, digest);
}

bool tamis_filter_contains(const tamis_filter *filter, const void *key, size_t size) {
    if (TAMIS_UNLIKELY(key == NULL && size != 0))
        return false;
    const tamis_digest digest = tamis_i_hasher_bytes(&filter->hasher, key, size);
    return filter->calls.contains(filter, digest);
}

bool tamis_filter_contains_u64(const tamis_filter *filter, uint64_t key) {
    return filter->calls.contains_word(filter, key);
}

void tamis_filter_prefetch_digest(const tamis_filter *filter, tamis_digest digest) {
    if (TAMIS_LIKELY(filter->links == NULL)) {
        filter->kind->prefetch(filter, digest, false);
        return;
    }
    filter = tamis_i_shard_of(filter, digest);
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++) {
        const tamis_filter *const link = tamis_i_link(filter, i);
        link->kind->prefetch(link, digest, false);
    }
}

tamis_status tamis_filter_remove_digest(tamis_filter *filter, tamis_digest digest) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    return filter->calls.remove(filter, digest);
}

tamis_status tamis_filter_remove(tamis_filter *filter, const void *key, size_t size) {
    if (filter == NULL || TAMIS_UNLIKELY(key == NULL && size != 0))
        return TAMIS_E_ARGUMENT;
    const tamis_digest digest = tamis_i_hasher_bytes(&filter->hasher, key, size);
    return filter->calls.remove(filter, digest);
}

tamis_status tamis_filter_remove_u64(tamis_filter *filter, uint64_t key) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    return filter->calls.remove_word(filter, key);
}

uint64_t tamis_filter_copies_digest(const tamis_filter *filter, tamis_digest digest) {
    if (filter->links != NULL)
        return tamis_i_series_copies(filter, digest);
    if (!tamis_i_filter_may_read(filter, digest)) /* damaged: at least one may be there */
        return 1;
    if (filter->kind->copies == NULL)
        return filter->kind->contains(filter, digest);
    return filter->kind->copies(filter, digest);
}

uint64_t tamis_filter_copies(const tamis_filter *filter, const void *key, size_t size) {
    if (key == NULL && size != 0)
        return 0;
    return tamis_filter_copies_digest(filter, tamis_i_hasher_bytes(&filter->hasher, key, size));
}

uint64_t tamis_filter_copies_u64(const tamis_filter *filter, uint64_t key) {
    return tamis_filter_copies_digest(filter, tamis_i_hasher_word(&filter->hasher, key));
}

/* ---- whole filters: merging is in merge.c ---- */

uint64_t tamis_filter_count(const tamis_filter *filter) {
    return tamis_i_series_count(filter);
}

tamis_status tamis_filter_params(const tamis_filter *filter, tamis_params *params) {
    if (filter == NULL || params == NULL)
        return TAMIS_E_ARGUMENT;
    return tamis_i_struct_out(params, &filter->params, sizeof filter->params) ? TAMIS_OK
                                                                              : TAMIS_E_ARGUMENT;
}

const tamis_hasher *tamis_filter_hasher(const tamis_filter *filter) {
    return (const tamis_hasher *)(const void *)&filter->hasher;
}

tamis_key_form tamis_filter_key_form(const tamis_filter *filter) {
    return (tamis_key_form)filter->key_form;
}

tamis_status tamis_filter_set_key_form(tamis_filter *filter, tamis_key_form form) {
    if (filter == NULL || (unsigned)form > TAMIS_KEYS_U64)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    if (filter->key_form != TAMIS_KEYS_UNKNOWN && filter->key_form != form &&
        tamis_filter_count(filter) > 0)
        return TAMIS_E_MISMATCH;
    tamis_i_series_note_form(filter, form);
    return TAMIS_OK;
}

tamis_status tamis_filter_clear(tamis_filter *filter) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        const tamis_filter *const part = tamis_i_part(filter, i);
        for (unsigned j = 0; j < tamis_i_n_links(part); j++) {
            tamis_filter *const link = tamis_i_link(part, j);
            memset(link->state, 0, (size_t)link->n_body * sizeof(uint64_t));
        }
    }
    return TAMIS_OK;
}

/* Complete what is known of a link or a series and hand it to the caller. */
static tamis_status api_info_out(tamis_info *own, tamis_info *info) {
    own->bits_per_key = own->count == 0 ? INFINITY : 8 * (double)own->bytes / (double)own->count;
    return tamis_i_struct_out(info, own, sizeof *own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

static tamis_status api_info(const tamis_filter *filter, bool glance, tamis_info *info) {
    if (filter == NULL || info == NULL)
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_i_filter_verify(filter, NULL);
    if (status != TAMIS_OK)
        return status;
    tamis_info own;
    const int saved = errno; /* the mathematics may set it where a rate underflows to 0 */
    if (tamis_i_is_sharded(filter))
        tamis_i_shards_info(filter, -1, glance, &own);
    else
        tamis_i_series_info(filter, glance, &own);
    errno = saved;
    return api_info_out(&own, info);
}

tamis_status tamis_filter_info(const tamis_filter *filter, tamis_info *info) {
    return api_info(filter, false, info);
}

tamis_status tamis_filter_glance(const tamis_filter *filter, tamis_info *info) {
    return api_info(filter, true, info);
}

tamis_status tamis_filter_link_info(const tamis_filter *filter, unsigned link, tamis_info *info) {
    unsigned n_links = 0;
    for (unsigned i = 0; filter != NULL && i < tamis_i_n_parts(filter); i++) {
        const unsigned n = tamis_i_n_links(tamis_i_part(filter, i));
        n_links = n > n_links ? n : n_links;
    }
    if (filter == NULL || info == NULL || link >= n_links)
        return TAMIS_E_ARGUMENT;
    const tamis_status status = tamis_i_filter_verify(filter, NULL);
    if (status != TAMIS_OK)
        return status;
    tamis_info own;
    const int saved = errno;
    if (tamis_i_is_sharded(filter))
        tamis_i_shards_info(filter, (int)link, false, &own);
    else
        tamis_i_filter_info(tamis_i_link(filter, link), 0, &own);
    errno = saved;
    return api_info_out(&own, info);
}
