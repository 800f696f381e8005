/* handle.c - the memory of a table
 *
 *      [ handle ][ counts ][ used ][ deleted ][ index ][ settle ]      one block
 *      [ summary ]                                           another, since a rebuild replaces it
 *      [ slots ]                                             memory, or a file (store.c)
 *
 * A page table has handle, counts, and its pages (pages.h).
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

static size_t table_lines(size_t size) {
    return (size + TAMIS_LINE_BYTES - 1) / TAMIS_LINE_BYTES * TAMIS_LINE_BYTES;
}

tamis_status tamis_i_table_new_summary(const tamis_table *table, tamis_i_summary *summary) {
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)table->params.summary);
    tamis_i_summary_params params;
    uint64_t n_words;
    tamis_i_table_summary_params(&table->params, &params);
    const tamis_status status = kind->shape(&params, &n_words);
    if (status != TAMIS_OK)
        return status;
    if (n_words > SIZE_MAX / 16)
        return TAMIS_E_TOO_LARGE;
    uint64_t *const body = tamis_i_alloc_zeroed(&table->allocator, (size_t)n_words * 8);
    if (body == NULL)
        return TAMIS_E_NOMEM;
    tamis_i_summary_attach(summary, kind, &params, body, n_words);
    return TAMIS_OK;
}

void tamis_i_table_free_summary(const tamis_table *table, tamis_i_summary *summary) {
    tamis_i_free(&table->allocator, summary->body, (size_t)summary->n_words * 8);
    summary->body = NULL;
}

tamis_status tamis_i_table_make(const tamis_table_params *params, const tamis_allocator *allocator,
                                tamis_table **table) {
    tamis_i_slots slots;
    tamis_status status = tamis_i_slots_shape(params, &slots);
    if (status == TAMIS_OK && !tamis_i_hasher_ok(params->hash, params->seed, params->seed_high))
        status = TAMIS_E_ARGUMENT;
    if (status != TAMIS_OK)
        return status;
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)params->summary);
    const bool one = (kind->abilities & TAMIS_I_SUMMARY_NO_DELETION_BITS) != 0;
    const bool decides = (kind->abilities & TAMIS_I_SUMMARY_DECIDES) != 0;
    /* 2^46 bytes of slots are less than 2^43 slots */
    const uint64_t n_bit_words = (tamis_i_slots_count(&slots) + 63) / 64;
    const uint64_t room = tamis_i_index_room(params->stash);
    const size_t handle = table_lines(sizeof(tamis_table)),
                 counts = table_lines(sizeof(tamis_i_counts));
    const uint64_t bits = 8 * n_bit_words * (one ? 1 : 2);
    const uint64_t settle = decides ? tamis_i_settle_size(&slots) : 0;
    const uint64_t size = handle + counts + bits + room * sizeof(tamis_i_index_entry) + settle;
    if (size > SIZE_MAX / 2)
        return TAMIS_E_TOO_LARGE;
    unsigned char *const block = tamis_i_alloc_zeroed(allocator, (size_t)size);
    if (block == NULL)
        return TAMIS_E_NOMEM;
    tamis_table *const own = (void *)block;
    own->params = *params;
    own->slots = slots;
    tamis_i_hasher_init(&own->hasher, params->hash, params->seed, params->seed_high,
                        tamis_i_cpu_features());
    own->store.fd = own->store.direct_fd = -1;
    if (allocator != NULL)
        own->allocator = *allocator;
    own->block_size = (size_t)size;
    own->counts = (void *)(block + handle);
    own->used = (void *)(block + handle + counts);
    own->n_bit_words = n_bit_words;
    own->deleted = one ? NULL : own->used + n_bit_words;
    own->index.entries = (void *)(block + handle + counts + bits);
    own->index.room = room;
    own->settle = decides ? (void *)(block + size - settle) : NULL;
    status = tamis_i_table_new_summary(own, &own->summary);
    if (status != TAMIS_OK) {
        tamis_i_table_free(own);
        return status;
    }
    *table = own;
    return TAMIS_OK;
}

tamis_status tamis_i_page_table_make(const tamis_table_params *params,
                                     const tamis_allocator *allocator, tamis_table **table) {
    if (!tamis_i_hasher_ok(params->hash, params->seed, params->seed_high))
        return TAMIS_E_ARGUMENT;
    const size_t handle = table_lines(sizeof(tamis_table));
    const size_t size = handle + sizeof(tamis_i_counts);
    unsigned char *const block = tamis_i_alloc_zeroed(allocator, size);
    if (block == NULL)
        return TAMIS_E_NOMEM;
    tamis_table *const own = (void *)block;
    own->params = *params;
    own->block_size = size;
    own->counts = (void *)(block + handle);
    own->store.fd = own->store.direct_fd = -1;
    tamis_i_hasher_init(&own->hasher, params->hash, params->seed, params->seed_high,
                        tamis_i_cpu_features());
    if (allocator != NULL)
        own->allocator = *allocator;
    const tamis_i_sieve sieve = {.bits = (uint32_t)params->cells[0],
                                 .hashes = (uint32_t)params->hashes[0]};
    const tamis_status status =
        tamis_i_pages_make(&own->allocator, &own->hasher, &sieve,
                           tamis_i_mix(params->seed ^ 0x706167657461626cu), &own->pages);
    if (status != TAMIS_OK) {
        tamis_i_free(allocator, block, size);
        return status;
    }
    own->pages->large = params->value_max > TAMIS_TABLE_PAGE_ITEM_MAX;
    *table = own;
    return TAMIS_OK;
}

void tamis_i_table_free(tamis_table *table) {
    const tamis_allocator allocator = table->allocator;
    if (table->pages != NULL)
        tamis_i_pages_free(table->pages);
    tamis_i_table_stop_rebuild(table);
    tamis_i_store_close(&table->store, &allocator);
    tamis_i_table_free_summary(table, &table->summary);
    tamis_i_free(&allocator, table, table->block_size);
}

void tamis_i_table_recount(tamis_table *table) {
    table->count = table->n_deleted = 0;
    for (unsigned part = 0; part <= table->slots.n_levels; part++) {
        uint64_t live = 0;
        for (uint64_t slot = table->slots.first[part]; slot < table->slots.first[part + 1];) {
            if (slot % 64 == 0 && slot + 64 <= table->slots.first[part + 1]) {
                const uint64_t used = table->used[slot / 64];
                const uint64_t deleted = table->deleted == NULL ? 0 : table->deleted[slot / 64];
                live += (uint64_t)__builtin_popcountll(used & ~deleted);
                table->n_deleted += (uint64_t)__builtin_popcountll(deleted);
                slot += 64;
                continue;
            }
            live += tamis_i_table_live(table, slot);
            table->n_deleted += table->deleted != NULL && tamis_i_bit_get(table->deleted, slot);
            slot++;
        }
        table->part_count[part] = live;
        table->count += live;
    }
}
