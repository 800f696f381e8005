/* handle.c - the block of memory that a filter is
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "filter/native.h"
#include "filter/shards.h"
#include "filter/window.h"

#include <math.h>
#include <sys/mman.h>

/* What is read of large tables to know their error rate: slices of all tables together, of each at least, and
 * lines in each.  It is 1 MiB in all. */
enum { SLICES = 256, SLICES_LEAST = 16, SLICE_LINES = 64 };

tamis_status tamis_i_filter_measure(const tamis_i_kind *kind, tamis_params *params,
                                    uint64_t *n_body, uint64_t *n_table) {
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
    *n_table = table;
    *n_body = TAMIS_I_STATE_WORDS + tamis_i_stash_words(params->stash) + table;
    return TAMIS_OK;
}

tamis_status tamis_i_filter_shape(const tamis_i_kind *kind, tamis_params *params, uint64_t *n_body,
                                  uint64_t *n_table) {
    uint64_t words, table;
    const tamis_status status = tamis_i_filter_measure(kind, params, &words, &table);
    if (status != TAMIS_OK)
        return status;
    /* What a size_t must hold: the body, a file's header, the handle. */
    if (words > (SIZE_MAX - 65536) / sizeof(uint64_t))
        return TAMIS_E_TOO_LARGE;
    *n_table = table;
    *n_body = words;
    return TAMIS_OK;
}

/* ---- one key: which calls ---- */

static tamis_status handle_insert(tamis_filter *filter, tamis_digest digest, bool *added) {
    return filter->kind->insert(filter, digest, added != NULL ? added : &filter->unread);
}

static tamis_status handle_insert_into_series(tamis_filter *filter, tamis_digest digest,
                                              bool *added) {
    return tamis_i_series_insert(filter, digest, -1, added);
}

static tamis_status handle_insert_not(tamis_filter *filter, tamis_digest digest, bool *added) {
    (void)filter, (void)digest, (void)added;
    return TAMIS_E_READONLY;
}

static tamis_status handle_remove_not(tamis_filter *filter, tamis_digest digest) {
    (void)digest;
    return filter->kind->remove == NULL ? TAMIS_E_UNSUPPORTED : TAMIS_E_READONLY;
}

static bool handle_contains_word(const tamis_filter *filter, uint64_t key) {
    return filter->calls.contains(filter, tamis_i_hasher_word(&filter->hasher, key));
}

static tamis_status handle_insert_word(tamis_filter *filter, uint64_t key, bool *added) {
    return filter->calls.insert(filter, tamis_i_hasher_word(&filter->hasher, key), added);
}

static tamis_status handle_remove_word(tamis_filter *filter, uint64_t key) {
    return filter->calls.remove(filter, tamis_i_hasher_word(&filter->hasher, key));
}

void tamis_i_filter_call_words(tamis_filter *f) {
    f->calls.contains_word = handle_contains_word;
    f->calls.insert_word = handle_insert_word;
    f->calls.remove_word = handle_remove_word;
    TAMIS_I_NATIVE_WORDS(f);
}

/* What changes the set is refused where it cannot be. */
static void handle_limit_calls(tamis_filter *f) {
    if (f->read_only) {
        f->calls.insert = handle_insert_not;
        f->calls.insert_word = handle_insert_word;
    }
    if (f->read_only || f->kind->remove == NULL) {
        f->calls.remove = handle_remove_not;
        f->calls.remove_word = handle_remove_word;
    }
}

void tamis_i_filter_attach(tamis_filter *f) {
    f->calls.contains = f->kind->contains;
    f->calls.insert = handle_insert;
    f->calls.remove = f->kind->remove;
    tamis_i_filter_call_words(f);
    if (f->kind->attach != NULL)
        f->kind->attach(f);
    handle_limit_calls(f);
}

void tamis_i_links_call(tamis_filter *filter) {
    filter->calls.contains = tamis_i_series_contains;
    filter->calls.insert = handle_insert_into_series;
    filter->calls.remove = tamis_i_series_remove;
    tamis_i_filter_call_words(filter);
    handle_limit_calls(filter);
}

/* Where a body begins whose table comes so many words later, in a block with a line to spare: the table
 * begins with an aligned pair of lines, which buckets of two lines are. */
static uint64_t *handle_body(unsigned char *from, uint64_t before) {
    const uintptr_t table = (uintptr_t)from + (uintptr_t)before * sizeof(uint64_t);
    return (uint64_t *)(void *)(from + table % (2 * (uintptr_t)TAMIS_LINE_BYTES));
}

tamis_status tamis_i_filter_make(const tamis_i_kind *kind, const tamis_params *params,
                                 const tamis_allocator *allocator, const uint64_t *body,
                                 bool zeroed, tamis_filter **filter) {
    tamis_params complete = *params;
    uint64_t n_body, n_table;
    const tamis_status status = tamis_i_filter_shape(kind, &complete, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    if (!tamis_i_hasher_ok(complete.hash, complete.seed, complete.seed_high) ||
        !(complete.fpr >= 0 && complete.fpr < 1))
        return TAMIS_E_ARGUMENT;
    complete.fpr += 0.0; /* not -0 */
    const size_t handle =
        (sizeof(tamis_filter) + TAMIS_LINE_BYTES - 1) / TAMIS_LINE_BYTES * TAMIS_LINE_BYTES;
    const size_t size =
        handle + (body == NULL ? TAMIS_LINE_BYTES + (size_t)n_body * sizeof(uint64_t) : 0);
    unsigned char *const block =
        zeroed ? tamis_i_alloc_zeroed(allocator, size) : tamis_i_alloc(allocator, size);
    if (block == NULL)
        return TAMIS_E_NOMEM;
    tamis_filter *const f = (tamis_filter *)(void *)block;
    memset(f, 0, sizeof *f);
    f->kind = tamis_i_form_of(kind, &complete);
    f->params = complete;
    /* A view never writes through this pointer: read_only guards every call that would. */
    f->state =
        body == NULL ? handle_body(block + handle, n_body - n_table) : (uint64_t *)(uintptr_t)body;
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
    tamis_i_filter_attach(f);
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
    tamis_i_links_call(filter);
    return TAMIS_OK;
}

tamis_status tamis_i_links_clone(const tamis_filter *source, tamis_filter *copy) {
    tamis_status status = tamis_i_links_begin(copy, source->links->promise);
    if (status != TAMIS_OK)
        return status;
    copy->links->automatic = source->links->automatic;
    copy->links->plan = source->links->plan;
    for (unsigned i = 0; status == TAMIS_OK && i < source->links->n; i++) {
        const tamis_filter *const link = source->links->link[i];
        status = tamis_i_filter_clone(link, link->params.capacity, &copy->allocator,
                                      &copy->links->link[i]);
        copy->links->n += status == TAMIS_OK;
    }
    return status;
}

void tamis_i_links_drop(tamis_filter *filter) {
    tamis_i_links_end(filter);
    tamis_i_filter_attach(filter);
}

/* Free a filter that is no series. */
static void handle_free_one(tamis_filter *filter) {
    tamis_i_guard_end(filter);
    if (filter->kind->detach != NULL)
        filter->kind->detach(filter);
    const tamis_allocator allocator = filter->allocator;
    tamis_i_free(&allocator, filter, filter->block_size);
}

void tamis_i_links_end(tamis_filter *filter) {
    for (unsigned i = tamis_i_n_links(filter) - 1; i > 0; i--)
        handle_free_one(tamis_i_link(filter, i));
    tamis_i_free(&filter->allocator, filter->links, sizeof *filter->links);
    filter->links = NULL;
}

/* Free a filter or a series. */
static void handle_free_part(tamis_filter *filter) {
    if (filter->links != NULL)
        tamis_i_links_end(filter);
    handle_free_one(filter);
}

void tamis_filter_free(tamis_filter *filter) {
    if (filter == NULL)
        return;
    if (filter->links != NULL) {
        tamis_i_links *const links = filter->links;
        for (unsigned i = 0; i < links->n_shards; i++)
            handle_free_part(links->shard[i]);
        tamis_i_free(&filter->allocator, links->shard, links->n_shards * sizeof(tamis_filter *));
        tamis_i_free(&filter->allocator, links->bodies, links->bodies_size);
    }
    if (filter->map != NULL)
        (void)munmap(filter->map, filter->map_size);
    handle_free_part(filter);
}

bool tamis_i_filter_check_state(const tamis_filter *filter, const char **reason) {
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
    return true;
}

bool tamis_i_filter_check(const tamis_filter *filter, const char **reason) {
    return tamis_i_filter_check_state(filter, reason) &&
           tamis_i_stash_check(&filter->stash, reason) && filter->kind->check(filter, reason);
}

/* The memory under a view may have changed since it was verified, and who changes a set relies on all that
 * was checked of it: what is copied from a view is checked like what is read from a file. */
tamis_status tamis_i_filter_clone(const tamis_filter *source, uint64_t capacity,
                                  const tamis_allocator *allocator, tamis_filter **copy) {
    tamis_filter *own;
    const char *reason;
    const tamis_status status =
        tamis_i_filter_make(source->kind, &source->params, allocator, NULL, false, &own);
    if (status != TAMIS_OK)
        return status;
    memcpy(own->state, source->state, (size_t)source->n_body * sizeof(uint64_t));
    own->key_form = source->key_form;
    if (source->read_only && !tamis_i_filter_check(own, &reason)) {
        tamis_filter_free(own);
        return TAMIS_E_FORMAT;
    }
    if (capacity != source->params.capacity) {
        own->params.capacity = capacity;
        tamis_i_filter_attach(own);
    }
    *copy = own;
    return TAMIS_OK;
}

/* The mean over so many slices, and its variance; not a number if there are fewer than 'least' that are not
 * empty.  Slices are spread evenly over the table, and so are digests: slices differ by chance alone, and
 * where tables are so small that some slices lack a part of them (balanced-bloom), by that too.  A kind whose
 * rate is not linear in what a slice has curves upwards, so that the mean of slices is not too low. */
static tamis_i_rate handle_slices(const tamis_filter *filter, uint64_t slices, uint64_t parts,
                                  uint64_t least) {
    double sum = 0, squares = 0, n = 0;
    for (uint64_t i = 0; i < slices; i++) {
        const tamis_i_slice slice = {(2 * i + 1) * parts / (2 * slices), parts};
        tamis_info info;
        tamis_info_init(&info);
        filter->kind->info(filter, slice, &info);
        if (!(info.fpr >= 0))
            continue;
        n++;
        sum += info.fpr;
        squares += info.fpr * info.fpr;
    }
    if (n < (double)least)
        return (tamis_i_rate){(double)NAN, (double)NAN};
    const double mean = sum / n;
    return (tamis_i_rate){mean, fmax(squares / n - mean * mean, 0) / (n - 1)};
}

tamis_i_rate tamis_i_filter_rate(const tamis_filter *filter, unsigned sharing) {
    const uint64_t lines = filter->n_table / TAMIS_LINE_WORDS, parts = lines / SLICE_LINES;
    const uint64_t slices = SLICES / sharing > SLICES_LEAST ? SLICES / sharing : SLICES_LEAST;
    if (tamis_i_filter_is_large(filter)) {
        const tamis_i_rate rate = handle_slices(filter, slices, parts, slices);
        if (rate.mean >= 0)
            return rate;
    } /* else it is small, or of such large buckets that a slice has none */
    tamis_info info;
    tamis_info_init(&info);
    filter->kind->info(filter, TAMIS_I_WHOLE, &info);
    return (tamis_i_rate){info.fpr, 0};
}

double tamis_i_filter_scatter(const tamis_filter *filter) {
    const uint64_t lines = filter->n_table / TAMIS_LINE_WORDS;
    const uint64_t slices = lines < SLICES ? lines : SLICES;
    const uint64_t parts = tamis_i_filter_is_large(filter) ? lines / SLICE_LINES : slices;
    const double variance = handle_slices(filter, slices, parts, SLICES_LEAST).variance;
    return variance >= 0 ? variance : INFINITY;
}

double tamis_i_rate_most(tamis_i_rate rate) {
    return fmin(rate.mean + 5 * sqrt(rate.variance), 1);
}

bool tamis_i_filter_is_large(const tamis_filter *filter) {
    return filter->n_table / TAMIS_LINE_WORDS > (uint64_t)SLICES * SLICE_LINES;
}

void tamis_i_filter_info(const tamis_filter *filter, unsigned sharing, tamis_info *info) {
    tamis_info_init(info);
    info->params = filter->params;
    info->count = filter->state[TAMIS_I_COUNT];
    info->capacity = filter->params.capacity;
    info->fpr_promised = filter->params.fpr;
    info->n_links = 1;
    info->n_shards = 1;
    info->bytes = filter->n_body * sizeof(uint64_t);
    info->file_bytes = tamis_i_file_bytes(filter->n_body);
    info->stash_used = filter->state[TAMIS_I_STASH_USED];
    info->stash_size = filter->stash.capacity;
    if ((filter->kind->abilities & TAMIS_CAN_FORGET) != 0) {
        info->tick = tamis_i_window_now(filter);
        info->to_clear = tamis_i_window_left(filter);
    }
    if (sharing != 0 && tamis_i_filter_is_large(filter)) {
        info->fpr = tamis_i_rate_most(tamis_i_filter_rate(filter, sharing));
    } else {
        filter->kind->info(filter, TAMIS_I_WHOLE, info);
    }
}
