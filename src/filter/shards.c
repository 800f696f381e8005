/* shards.c - a set in several filters, of which each key has one: making, copying, growth, what it is like
 *
 * The bodies of all shards are one block, so that it gets huge pages even if no shard is as large as
 * one.  Keys are found by tamis_i_shard_of (filter/series.h).
 *
 * A query for an absent key is equally likely to be answered by each of the shards.  So the error rate of the
 * set is the mean of theirs, and each of them has the promise of the whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/shards.h"

#include "filter/guard.h"

#include <math.h>

/* Make a handle for n shards that are there or will be.  'shards' belongs to it. */
static tamis_status shards_handle(const tamis_filter *first, tamis_filter **shards, unsigned n,
                                  const tamis_allocator *allocator, tamis_filter **filter) {
    tamis_filter *own;
    tamis_status status =
        tamis_i_filter_make(first->kind, &first->params, allocator, first->state, false, &own);
    if (status != TAMIS_OK)
        return status;
    status = tamis_i_links_begin(own, 0);
    if (status != TAMIS_OK) {
        tamis_filter_free(own);
        return status;
    }
    own->read_only = first->read_only;
    tamis_i_links_call(own);
    own->key_form = first->key_form;
    own->links->n_shards = n;
    own->links->shard = shards;
    *filter = own;
    return TAMIS_OK;
}

tamis_status tamis_i_shards_join(tamis_filter *const *shards, unsigned n,
                                 const tamis_allocator *allocator, tamis_filter **filter) {
    tamis_filter **const own = tamis_i_alloc(allocator, n * sizeof(tamis_filter *));
    if (own == NULL)
        return TAMIS_E_NOMEM;
    memcpy(own, shards, n * sizeof(tamis_filter *));
    const tamis_status status = shards_handle(own[0], own, n, allocator, filter);
    if (status != TAMIS_OK)
        tamis_i_free(allocator, own, n * sizeof(tamis_filter *));
    return status;
}

/* Make the shards on their bodies; '*made' of them. */
static tamis_status shards_fill(const tamis_i_kind *kind, const tamis_params *params,
                                const tamis_allocator *allocator, uint64_t *bodies, uint64_t n_body,
                                tamis_filter **shards, unsigned n, unsigned *made) {
    for (*made = 0; *made < n; ++*made) {
        tamis_filter **const shard = &shards[*made];
        const tamis_status status =
            tamis_i_filter_make(kind, params, allocator, bodies + *made * n_body, false, shard);
        if (status != TAMIS_OK)
            return status;
        (*shard)->read_only = false; /* a view on memory that belongs to the set */
        tamis_i_filter_attach(*shard);
    }
    return TAMIS_OK;
}

tamis_status tamis_i_shards_make(const tamis_i_kind *kind, const tamis_params *params, unsigned n,
                                 const tamis_allocator *allocator, bool zeroed,
                                 tamis_filter **filter) {
    tamis_params complete = *params;
    uint64_t n_body, n_table, bytes;
    tamis_status status = tamis_i_filter_shape(kind, &complete, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    if (!tamis_i_mul(n_body * sizeof(uint64_t), n, &bytes) || bytes > SIZE_MAX - 65536)
        return TAMIS_E_TOO_LARGE;
    tamis_filter **const shards = tamis_i_alloc(allocator, n * sizeof(tamis_filter *));
    if (shards == NULL)
        return TAMIS_E_NOMEM;
    unsigned made = 0;
    uint64_t *const bodies = zeroed ? tamis_i_alloc_zeroed(allocator, (size_t)bytes)
                                    : tamis_i_alloc(allocator, (size_t)bytes);
    status = bodies == NULL
                 ? TAMIS_E_NOMEM
                 : shards_fill(kind, &complete, allocator, bodies, n_body, shards, n, &made);
    tamis_filter *own;
    if (status == TAMIS_OK)
        status = shards_handle(shards[0], shards, n, allocator, &own);
    if (status != TAMIS_OK) {
        while (made > 0)
            tamis_filter_free(shards[--made]);
        tamis_i_free(allocator, bodies, (size_t)bytes);
        tamis_i_free(allocator, shards, n * sizeof(tamis_filter *));
        return status;
    }
    own->links->bodies = bodies;
    own->links->bodies_size = (size_t)bytes;
    *filter = own;
    return TAMIS_OK;
}

/* ---- copies ---- */

tamis_status tamis_i_shard_copy(tamis_filter *shard, const tamis_filter *source) {
    const char *reason;
    memcpy(shard->state, source->state, (size_t)source->n_body * sizeof(uint64_t));
    shard->key_form = source->key_form;
    if (source->read_only && !tamis_i_filter_check(shard, &reason)) /* as tamis_i_filter_clone */
        return TAMIS_E_FORMAT;
    return source->links == NULL ? TAMIS_OK : tamis_i_links_clone(source, shard);
}

tamis_status tamis_i_shards_clone(const tamis_filter *source, const tamis_allocator *allocator,
                                  tamis_filter **copy) {
    tamis_filter *own;
    const unsigned n = tamis_i_n_parts(source);
    tamis_status status =
        tamis_i_shards_make(source->kind, &source->params, n, allocator, false, &own);
    for (unsigned i = 0; status == TAMIS_OK && i < n; i++) {
        status = tamis_i_shard_copy(tamis_i_part(own, i), tamis_i_part(source, i));
        if (status != TAMIS_OK)
            tamis_filter_free(own);
    }
    if (status != TAMIS_OK)
        return status;
    own->key_form = source->key_form;
    *copy = own;
    return TAMIS_OK;
}

void tamis_i_shards_swap(tamis_filter *a, tamis_filter *b) {
    tamis_i_links *const links = a->links;
    uint64_t *const state = a->state;
    a->links = b->links;
    a->state = b->state;
    b->links = links;
    b->state = state;
}

/* ---- what it is like ---- */

void tamis_i_shards_info_add(tamis_info *info, const tamis_info *one, double shards) {
    info->count += one->count;
    info->capacity += one->capacity;
    info->bytes += one->bytes;
    info->file_bytes += one->file_bytes;
    info->grows = info->grows || one->grows;
    info->stash_used += one->stash_used;
    info->stash_size += one->stash_size;
    info->saturated += one->saturated;
    info->to_clear += one->to_clear;
    info->tick = one->tick;
    info->n_loads = one->n_loads > info->n_loads ? one->n_loads : info->n_loads;
    for (size_t j = 0; j < one->n_loads; j++)
        info->load_histogram[j] += one->load_histogram[j];
    info->fpr += one->fpr / shards;
    info->reads_per_insert += one->reads_per_insert / shards;
    info->reads_per_query += one->reads_per_query / shards;
    info->n_links = one->n_links > info->n_links ? one->n_links : info->n_links;
    info->fpr_promised = fmax(info->fpr_promised, one->fpr_promised);
}

void tamis_i_shards_info(const tamis_filter *filter, int link, bool glance, tamis_info *info) {
    const unsigned n = tamis_i_n_parts(filter);
    *info = (tamis_info){.struct_size = sizeof *info, .params = filter->params, .n_shards = n};
    info->file_bytes = link < 0 ? TAMIS_I_HEADER_BYTES : 0;
    for (unsigned i = 0; i < n; i++) {
        const tamis_filter *const shard = tamis_i_part(filter, i);
        tamis_info one;
        if (link < 0)
            tamis_i_series_info(shard, glance, &one);
        else if ((unsigned)link < tamis_i_n_links(shard))
            tamis_i_filter_info(tamis_i_link(shard, (unsigned)link), glance, &one);
        else
            continue;
        tamis_i_shards_info_add(info, &one, n);
    }
}

/* ---- growth ---- */

/* What a shard was like before it was told to grow. */
typedef struct before {
    bool series;
    tamis_i_links links;
} before;

static void shards_take_back(tamis_filter *shard, const before *was) {
    if (shard->links == NULL)
        return;
    while (shard->links->n > was->links.n)
        tamis_filter_free(shard->links->link[--shard->links->n]);
    if (was->series)
        *shard->links = was->links;
    else
        tamis_i_links_drop(shard);
}

tamis_status tamis_i_shards_grow(tamis_filter *filter, const tamis_growth *growth,
                                 tamis_i_link_planner *make, bool now) {
    const unsigned n = tamis_i_n_parts(filter);
    tamis_growth own;
    tamis_growth_init(&own);
    if (growth == NULL) /* as before, of each shard */
        own.automatic =
            tamis_i_part(filter, 0)->links != NULL && tamis_i_part(filter, 0)->links->automatic;
    else if (!tamis_i_struct_in(&own, sizeof own, growth))
        return TAMIS_E_ARGUMENT;
    own.n = own.n / n + (own.n % n != 0);
    before *const was = tamis_i_alloc_zeroed(&filter->allocator, n * sizeof *was);
    if (was == NULL)
        return TAMIS_E_NOMEM;
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; status == TAMIS_OK && i < n; i++) {
        tamis_filter *const shard = tamis_i_part(filter, i);
        was[i].series = shard->links != NULL;
        if (was[i].series)
            was[i].links = *shard->links;
        status =
            now ? tamis_i_series_grow(shard, &own, make) : tamis_i_series_allow(shard, &own, make);
        for (unsigned j = i; status != TAMIS_OK && j-- > 0;)
            shards_take_back(tamis_i_part(filter, j), &was[j]);
    }
    tamis_i_free(&filter->allocator, was, n * sizeof *was);
    return status;
}

/* ---- views that are verified in parts ---- */

tamis_status tamis_i_filter_verify(const tamis_filter *filter, const char **reason) {
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        const tamis_filter *const part = tamis_i_part(filter, i);
        for (unsigned j = 0; j < tamis_i_n_links(part); j++) {
            const char *why;
            if (tamis_i_guard_verify(tamis_i_link(part, j), &why))
                continue;
            if (status == TAMIS_OK && reason != NULL)
                *reason = why;
            status =
                TAMIS_E_FORMAT; /* the others are verified all the same: it is told how many are bad */
        }
    }
    return status;
}

uint64_t tamis_i_filter_damage(const tamis_filter *filter) {
    uint64_t parts = 0;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        const tamis_filter *const part = tamis_i_part(filter, i);
        for (unsigned j = 0; j < tamis_i_n_links(part); j++)
            parts += tamis_i_guard_damage(tamis_i_link(part, j));
    }
    return parts;
}
