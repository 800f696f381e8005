/* table.c - tables: the public functions
 *
 * Arguments are checked here, and errno stays what it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/table.h"

#include "table/table.h"

#include <errno.h>

static bool api_table_bytes_ok(const void *bytes, size_t size, uint64_t max) {
    return (bytes != NULL || size == 0) && size <= max;
}

/* Does the table belong to the process that this one was forked from? */
static bool api_table_inherited(const tamis_table *table) {
    return tamis_i_fork_since(table->forks);
}

static bool api_table_read_only(const tamis_table *table) {
    return table->pages != NULL ? table->pages->read_only : table->store.read_only;
}

/* -------------------------------------------------------------------------------------------------
 * Making, opening and closing
 */

/* Parameters in, complete but for the seed. */
static tamis_status api_table_params_in(const tamis_table_params *params, tamis_table_params *own) {
    if (params == NULL || !tamis_i_struct_in(own, sizeof *own, params))
        return TAMIS_E_ARGUMENT;
    if (own->n_levels == 0) {
        const tamis_status status = tamis_i_table_plan_params(own);
        if (status != TAMIS_OK)
            return status;
    }
    return tamis_i_table_complete(own);
}

tamis_status tamis_table_complete(tamis_table_params *params) {
    tamis_table_params own;
    const tamis_status status = api_table_params_in(params, &own);
    if (status != TAMIS_OK)
        return status;
    return tamis_i_struct_out(params, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

static tamis_status api_table_seeded_params_in(const tamis_table_params *params,
                                               tamis_table_params *own) {
    const tamis_status status = api_table_params_in(params, own);
    return status != TAMIS_OK ? status
                              : tamis_i_hasher_complete(&own->hash, &own->seed, &own->seed_high);
}

static bool api_table_options_in(const tamis_table_options *options, tamis_table_options *own) {
    tamis_table_options_init(own);
    if (options != NULL && !tamis_i_struct_in(own, sizeof *own, options))
        return false;
    return (unsigned)own->sync <= TAMIS_SYNC_NONE && (unsigned)own->io <= TAMIS_TABLE_DIRECT;
}

tamis_status tamis_table_create(const tamis_table_params *params, const tamis_allocator *allocator,
                                tamis_table **table) {
    tamis_table_params own;
    if (table == NULL || !tamis_i_allocator_ok(allocator))
        return TAMIS_E_ARGUMENT;
    tamis_status status = api_table_seeded_params_in(params, &own);
    if (status != TAMIS_OK)
        return status;
    if (own.bucket == TAMIS_TABLE_PAGE)
        return tamis_i_page_table_make(&own, allocator, table);
    tamis_table *made;
    status = tamis_i_table_make(&own, allocator, &made);
    if (status != TAMIS_OK)
        return status;
    status = tamis_i_store_layout(&made->store, &made->slots, 0);
    if (status == TAMIS_OK)
        status = tamis_i_store_memory(&made->store, &made->allocator);
    if (status != TAMIS_OK) {
        tamis_i_table_free(made);
        return status;
    }
    *table = made;
    return TAMIS_OK;
}

/* A caller need not ask for the reason; below, it always has a place. */
static tamis_status api_table_leave(tamis_status status, const char *why, const char **reason,
                                    int saved) {
    if (status != TAMIS_OK && reason != NULL)
        *reason = why;
    errno = saved;
    return status;
}

static const char bad_argument[] = "an argument is NULL or out of range";

tamis_status tamis_table_create_file(const char *path, const tamis_table_params *params,
                                     const tamis_table_options *options,
                                     const tamis_allocator *allocator, tamis_table **table,
                                     const char **reason) {
    const int saved = errno;
    const char *why = bad_argument;
    tamis_table_params own;
    tamis_table_options chosen;
    if (path == NULL || table == NULL || !tamis_i_allocator_ok(allocator) ||
        !api_table_options_in(options, &chosen) || chosen.read_only || chosen.repair)
        return api_table_leave(TAMIS_E_ARGUMENT, why, reason, saved);
    tamis_status status = api_table_seeded_params_in(params, &own);
    if (status != TAMIS_OK)
        why = tamis_status_text(status);
    else
        status = tamis_i_table_create_file(path, &own, &chosen, allocator, table, &why);
    return api_table_leave(status, why, reason, saved);
}

tamis_status tamis_table_open(const char *path, const tamis_table_options *options,
                              const tamis_allocator *allocator, tamis_table **table,
                              const char **reason) {
    const int saved = errno;
    const char *why = bad_argument;
    tamis_table_options chosen;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (path != NULL && table != NULL && tamis_i_allocator_ok(allocator) &&
        api_table_options_in(options, &chosen))
        status = tamis_i_table_open(path, &chosen, allocator, table, &why);
    return api_table_leave(status, why, reason, saved);
}

tamis_status tamis_table_close(tamis_table *table) {
    const int saved = errno;
    if (table == NULL)
        return TAMIS_OK;
    /* What is the parent's is not written; its locks stay, as they belong to the open file. */
    const tamis_status status = api_table_inherited(table) ? TAMIS_OK : tamis_i_table_finish(table);
    tamis_i_table_free(table);
    errno = saved;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Items
 */

tamis_status tamis_table_put(tamis_table *table, const void *key, size_t key_size,
                             const void *value, size_t value_size, bool *added) {
    if (table == NULL || !api_table_bytes_ok(key, key_size, table->params.key_max) ||
        !api_table_bytes_ok(value, value_size, table->params.value_max))
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    if (api_table_read_only(table))
        return TAMIS_E_READONLY;
    const int saved = errno;
    const tamis_i_item item = {
        .key = key, .key_size = key_size, .value = value, .value_size = value_size};
    const tamis_status status =
        table->pages != NULL
            ? tamis_i_page_table_put(table, key, key_size, value, value_size, added)
            : tamis_i_table_put(table, &item, added);
    errno = saved;
    return status;
}

tamis_status tamis_table_get(const tamis_table *table, const void *key, size_t key_size,
                             void *value, size_t room, size_t *value_size) {
    if (table == NULL || !api_table_bytes_ok(key, key_size, table->params.key_max) ||
        (value == NULL && room != 0))
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    const int saved = errno;
    const tamis_status status = (table->pages != NULL ? tamis_i_page_table_get : tamis_i_table_get)(
        table, key, key_size, value, room, value_size);
    errno = saved;
    return status;
}

tamis_status tamis_table_delete(tamis_table *table, const void *key, size_t key_size) {
    if (table == NULL || !api_table_bytes_ok(key, key_size, table->params.key_max))
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    if (api_table_read_only(table))
        return TAMIS_E_READONLY;
    const int saved = errno;
    const tamis_status status = (table->pages != NULL ? tamis_i_page_table_delete
                                                      : tamis_i_table_delete)(table, key, key_size);
    errno = saved;
    return status;
}

tamis_status tamis_table_get_many(const tamis_table *table, tamis_table_ask *asks, size_t n,
                                  size_t *found) {
    if (table == NULL || (asks == NULL && n > 0))
        return TAMIS_E_ARGUMENT;
    const int saved = errno;
    const bool pages = table->pages != NULL, inherited = api_table_inherited(table);
    for (size_t i = 0; i < n; i++) {
        tamis_table_ask *const ask = asks + i;
        ask->status = inherited ? TAMIS_E_LOCKED : TAMIS_OK;
        if (inherited)
            continue;
        if (!api_table_bytes_ok(ask->key, ask->key_size, table->params.key_max) ||
            (ask->value == NULL && ask->room != 0))
            ask->status = TAMIS_E_ARGUMENT;
        else if (!pages)
            ask->status = tamis_i_table_get(table, ask->key, ask->key_size, ask->value, ask->room,
                                            &ask->value_size);
    }
    if (pages && !inherited)
        tamis_i_page_table_get_many(table, asks, n);
    tamis_status status = TAMIS_OK;
    size_t there = 0;
    for (size_t i = 0; i < n; i++) {
        const tamis_status own = asks[i].status;
        there += own == TAMIS_OK || own == TAMIS_E_TOO_LARGE;
        if (status == TAMIS_OK && own != TAMIS_E_NOT_FOUND && own != TAMIS_E_TOO_LARGE)
            status = own;
    }
    if (found != NULL)
        *found = there;
    errno = saved;
    return status;
}

/* How many of the items can be stored: those before the first that is too long. */
static size_t api_table_items_ok(const tamis_table *table, const tamis_table_item *items,
                                 size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!api_table_bytes_ok(items[i].key, items[i].key_size, table->params.key_max) ||
            !api_table_bytes_ok(items[i].value, items[i].value_size, table->params.value_max))
            return i;
    return n;
}

tamis_status tamis_table_put_many(tamis_table *table, const tamis_table_item *items, size_t n,
                                  size_t *done) {
    if (table == NULL || (items == NULL && n > 0))
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    if (api_table_read_only(table))
        return TAMIS_E_READONLY;
    const size_t good = items == NULL ? 0 : api_table_items_ok(table, items, n);
    size_t stored = 0;
    tamis_status status = TAMIS_OK;
    if (table->pages != NULL) {
        const int saved = errno;
        status = tamis_i_page_table_put_many(table, items, good, &stored);
        errno = saved;
    } else {
        for (; stored < good && status == TAMIS_OK; stored += status == TAMIS_OK)
            status = tamis_table_put(table, items[stored].key, items[stored].key_size,
                                     items[stored].value, items[stored].value_size, NULL);
    }
    if (done != NULL)
        *done = stored;
    return status == TAMIS_OK && good < n ? TAMIS_E_ARGUMENT : status;
}

tamis_status tamis_table_delete_many(tamis_table *table, const tamis_bytes *keys, size_t n,
                                     size_t *done, size_t *found) {
    size_t good = 0, deleted = 0, there = 0;
    if (table == NULL || (keys == NULL && n > 0))
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    if (api_table_read_only(table))
        return TAMIS_E_READONLY;
    while (good < n && api_table_bytes_ok(keys[good].data, keys[good].size, table->params.key_max))
        good++;
    tamis_status status = TAMIS_OK;
    if (table->pages != NULL) {
        const int saved = errno;
        status = tamis_i_page_table_delete_many(table, keys, good, &deleted, &there);
        errno = saved;
    } else {
        for (; deleted < good && status == TAMIS_OK; deleted += status == TAMIS_OK) {
            status = tamis_table_delete(table, keys[deleted].data, keys[deleted].size);
            there += status == TAMIS_OK;
            status = status == TAMIS_E_NOT_FOUND ? TAMIS_OK : status;
        }
    }
    if (done != NULL)
        *done = deleted;
    if (found != NULL)
        *found = there;
    return status == TAMIS_OK && good < n ? TAMIS_E_ARGUMENT : status;
}

tamis_status tamis_table_next(const tamis_table *table, uint64_t *at, void *key, size_t *key_size,
                              void *value, size_t *value_size) {
    if (table == NULL || at == NULL || key == NULL || key_size == NULL || value_size == NULL)
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    const int saved = errno;
    const tamis_status status =
        (table->pages != NULL ? tamis_i_page_table_next
                              : tamis_i_table_next)(table, at, key, key_size, value, value_size);
    errno = saved;
    return status;
}

uint64_t tamis_table_count(const tamis_table *table) {
    return table->pages != NULL ? table->pages->count : table->count;
}

/* -------------------------------------------------------------------------------------------------
 * Care
 */

tamis_status tamis_table_sync(tamis_table *table) {
    if (table == NULL)
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    const int saved = errno;
    const tamis_status status =
        table->pages != NULL ? tamis_i_pages_sync(table->pages) : tamis_i_store_sync(&table->store);
    errno = saved;
    return status;
}

tamis_status tamis_table_refresh(tamis_table *table, bool *changed) {
    bool own = false;
    if (table == NULL)
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    const int saved = errno;
    const tamis_status status =
        table->pages != NULL ? tamis_i_page_table_refresh(table, &own) : TAMIS_OK;
    if (changed != NULL)
        *changed = own;
    errno = saved;
    return status;
}

tamis_status tamis_table_rebuild(tamis_table *table, uint64_t max_steps, bool *done) {
    if (table == NULL)
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    if (api_table_read_only(table))
        return TAMIS_E_READONLY;
    const int saved = errno;
    const tamis_status status =
        (table->pages != NULL ? tamis_i_page_table_rebuild
                              : tamis_i_table_rebuild)(table, max_steps, done);
    errno = saved;
    return status;
}

tamis_status tamis_table_verify(const tamis_table *table, uint64_t *failures, const char **reason) {
    const int saved = errno;
    const char *why = bad_argument;
    tamis_status status = TAMIS_E_ARGUMENT;
    if (table != NULL && api_table_inherited(table)) {
        status = TAMIS_E_LOCKED;
        why = "the table was opened before the process forked, and belongs to the parent";
    } else if (table != NULL && table->pages != NULL) {
        status = tamis_i_pages_verify(table->pages, &why);
        if (status == TAMIS_OK && failures != NULL)
            *failures = 0;
    } else if (table != NULL) {
        status = tamis_i_table_verify(table, failures, &why);
    }
    return api_table_leave(status, why, reason, saved);
}

tamis_status tamis_table_info(const tamis_table *table, tamis_table_state *info) {
    if (table == NULL || info == NULL)
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    const tamis_i_slots *const slots = &table->slots;
    tamis_table_state own;
    tamis_table_state_init(&own);
    if (table->pages != NULL) {
        tamis_i_page_table_info(table, &own);
        return tamis_i_struct_out(info, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
    }
    own.count = table->count;
    own.deleted = table->n_deleted;
    own.stash_used = table->part_count[slots->n_levels];
    for (unsigned i = 0; i < slots->n_levels; i++)
        own.level_count[i] = table->part_count[i];
    own.slots = slots->first[slots->n_levels];
    own.slot_bytes = slots->slot_size;
    own.in_file = table->store.fd >= 0;
    own.slow_bytes = own.in_file ? table->store.file_size : tamis_i_slots_bytes(slots);
    own.summary_bytes = 8 * table->summary.n_words;
    own.bit_bytes = 8 * table->n_bit_words * (table->deleted == NULL ? 1 : 2);
    own.stash_bytes = table->index.room * sizeof *table->index.entries;
    own.fpr = table->summary.kind->fpr(&table->summary);
    own.damaged = table->damaged;
    own.read_only = table->store.read_only;
    own.recovered = table->recovered;
    /* the product cannot wrap: 2^43 slots at most, 1000 per mille */
    own.rebuild_due =
        table->n_deleted * 1000 > table->params.rebuild_permille * table->params.capacity;
    own.rebuilding = table->rebuild.phase != TAMIS_I_IDLE;
    own.params = table->params;
    return tamis_i_struct_out(info, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

tamis_status tamis_table_stats(const tamis_table *table, tamis_table_counts *stats) {
    if (table == NULL || stats == NULL)
        return TAMIS_E_ARGUMENT;
    if (api_table_inherited(table))
        return TAMIS_E_LOCKED;
    const tamis_i_counts *const counts = table->counts;
    tamis_table_counts own;
    tamis_table_counts_init(&own);
    own.hits = atomic_load_explicit(&counts->hits, memory_order_relaxed);
    own.hit_reads = atomic_load_explicit(&counts->hit_reads, memory_order_relaxed);
    own.misses = atomic_load_explicit(&counts->misses, memory_order_relaxed);
    own.miss_reads = atomic_load_explicit(&counts->miss_reads, memory_order_relaxed);
    own.false_positives = atomic_load_explicit(&counts->false_positives, memory_order_relaxed);
    own.failures = atomic_load_explicit(&counts->failures, memory_order_relaxed);
    own.puts = counts->puts;
    own.updates = counts->updates;
    own.deletes = counts->deletes;
    own.change_reads = counts->change_reads;
    own.slot_writes = table->pages != NULL ? table->pages->page_writes : table->store.writes;
    own.crises = counts->crises;
    own.moves = counts->moves;
    own.rebuilds = counts->rebuilds;
    return tamis_i_struct_out(stats, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
