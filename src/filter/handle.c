/* handle.c - the block of memory that a filter is
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"
#include "filter/series.h"

#include <sys/mman.h>

tamis_status tamis_i_filter_shape(const tamis_i_kind *kind, tamis_params *params, uint64_t *n_body,
                                  uint64_t *n_table) {
    if (params->capacity < 1 || params->capacity > TAMIS_CAPACITY_MAX)
        return TAMIS_E_ARGUMENT;
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
        if (kind->params[i] == NULL && params->value[i] != 0)
            return TAMIS_E_ARGUMENT;
    uint64_t table;
    const tamis_status status = kind->shape(params, &table);
    if (status != TAMIS_OK)
        return status;
    if (params->stash > TAMIS_I_STASH_MAX || table > TAMIS_I_WORDS_MAX)
        return TAMIS_E_TOO_LARGE;
    TAMIS_ASSERT(table % TAMIS_LINE_WORDS == 0);
    const uint64_t words = TAMIS_I_STATE_WORDS + tamis_i_stash_words(params->stash) + table;
    /* What a size_t must hold: the body, a file's header, the handle. */
    if (words > (SIZE_MAX - 65536) / sizeof(uint64_t))
        return TAMIS_E_TOO_LARGE;
    *n_table = table;
    *n_body = words;
    return TAMIS_OK;
}

static bool handle_contains_word(const tamis_filter *filter, uint64_t key) {
    return filter->contains_digest(filter, tamis_i_hasher_word(&filter->hasher, key));
}

tamis_status tamis_i_filter_make(const tamis_i_kind *kind, const tamis_params *params,
                                 const tamis_allocator *allocator, const uint64_t *body,
                                 bool zeroed, tamis_filter **filter) {
    tamis_params complete = *params;
    uint64_t n_body, n_table;
    const tamis_status status = tamis_i_filter_shape(kind, &complete, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    if (!tamis_i_hasher_ok(complete.hash, complete.seed, complete.seed_high))
        return TAMIS_E_ARGUMENT;
    const size_t handle =
        (sizeof(tamis_filter) + TAMIS_LINE_BYTES - 1) / TAMIS_LINE_BYTES * TAMIS_LINE_BYTES;
    const size_t size = handle + (body == NULL ? (size_t)n_body * sizeof(uint64_t) : 0);
    unsigned char *const block =
        zeroed ? tamis_i_alloc_zeroed(allocator, size) : tamis_i_alloc(allocator, size);
    if (block == NULL)
        return TAMIS_E_NOMEM;
    tamis_filter *const f = (tamis_filter *)(void *)block;
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->params = complete;
    /* A view never writes through this pointer: read_only guards every call that would. */
    f->state = body == NULL ? (uint64_t *)(void *)(block + handle) : (uint64_t *)(uintptr_t)body;
    f->n_body = n_body;
    f->n_table = n_table;
    tamis_i_stash_attach(&f->stash, f->state + TAMIS_I_STATE_WORDS, f->state + TAMIS_I_STASH_USED,
                         complete.stash);
    f->table = f->state + (n_body - n_table);
    f->features = tamis_i_cpu_features();
    f->words = tamis_i_words_ops_for(f->features);
    tamis_i_hasher_init(&f->hasher, complete.hash, complete.seed, complete.seed_high, f->features);
    f->read_only = body != NULL;
    if (allocator != NULL)
        f->allocator = *allocator;
    f->block_size = size;
    f->contains_digest = kind->contains;
    f->contains_word = handle_contains_word;
    if (kind->attach != NULL)
        kind->attach(f);
    *filter = f;
    return TAMIS_OK;
}

tamis_status tamis_i_links_begin(tamis_filter *filter, uint64_t promise) {
    if (filter->links != NULL)
        return TAMIS_OK;
    filter->links = tamis_i_alloc_zeroed(&filter->allocator, sizeof *filter->links);
    if (filter->links == NULL)
        return TAMIS_E_NOMEM;
    filter->links->promise = promise;
    filter->contains_digest = tamis_i_series_contains;
    filter->contains_word = handle_contains_word;
    return TAMIS_OK;
}

/* Free a filter that is no series. */
static void handle_free_one(tamis_filter *filter) {
    const tamis_allocator allocator = filter->allocator;
    tamis_i_free(&allocator, filter, filter->block_size);
}

void tamis_i_links_end(tamis_filter *filter) {
    for (unsigned i = tamis_i_n_links(filter) - 1; i > 0; i--)
        handle_free_one(tamis_i_link(filter, i));
    tamis_i_free(&filter->allocator, filter->links, sizeof *filter->links);
    filter->links = NULL;
}

void tamis_filter_free(tamis_filter *filter) {
    if (filter == NULL)
        return;
    if (filter->links != NULL)
        tamis_i_links_end(filter);
    if (filter->map != NULL)
        (void)munmap(filter->map, filter->map_size);
    handle_free_one(filter);
}

bool tamis_i_filter_check(const tamis_filter *filter, const char **reason) {
    if (filter->state[TAMIS_I_COUNT] > TAMIS_I_COUNT_MAX) {
        *reason = "the number of keys is out of range";
        return false;
    }
    for (unsigned i = TAMIS_I_STATE_OWN + filter->kind->n_state; i < TAMIS_I_STATE_WORDS; i++) {
        if (filter->state[i] != 0) {
            *reason = "a reserved word of the state is not zero";
            return false;
        }
    }
    return tamis_i_stash_check(&filter->stash, reason) && filter->kind->check(filter, reason);
}

tamis_status tamis_i_filter_clone(const tamis_filter *source, uint64_t capacity,
                                  const tamis_allocator *allocator, tamis_filter **copy) {
    const tamis_status status =
        tamis_i_filter_make(source->kind, &source->params, allocator, NULL, false, copy);
    if (status != TAMIS_OK)
        return status;
    memcpy((*copy)->state, source->state, (size_t)source->n_body * sizeof(uint64_t));
    (*copy)->key_form = source->key_form;
    if (capacity != source->params.capacity) {
        (*copy)->params.capacity = capacity;
        if (source->kind->attach != NULL)
            source->kind->attach(*copy);
    }
    return TAMIS_OK;
}

void tamis_i_filter_info(const tamis_filter *filter, tamis_info *info) {
    tamis_info_init(info);
    info->params = filter->params;
    info->count = filter->state[TAMIS_I_COUNT];
    info->capacity = filter->params.capacity;
    info->n_links = 1;
    info->bytes = filter->n_body * sizeof(uint64_t);
    info->stash_used = filter->state[TAMIS_I_STASH_USED];
    info->stash_size = filter->stash.capacity;
    filter->kind->info(filter, info);
}
