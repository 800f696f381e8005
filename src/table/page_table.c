/* page_table.c - page tables as tables: files, items and counts
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1

#include "table/table.h"

#include "base/system.h"

/* -------------------------------------------------------------------------------------------------
 * Files
 */

static tamis_status page_table_attach(tamis_table *table, int fd, const char *path,
                                      const tamis_table_options *options, const char **reason) {
    tamis_i_pages *const p = table->pages;
    p->file.fd = fd;
    p->file.mapped = options->io == TAMIS_TABLE_MAP;
    p->sync = options->sync;
    p->read_only = options->read_only;
    tamis_i_disk_of_file(&p->disk, &p->file);
    return options->io == TAMIS_TABLE_DIRECT
               ? tamis_i_table_open_direct(fd, path, &p->file.direct_fd, reason)
               : TAMIS_OK;
}

/* The header last, so that an incomplete file is not a table. */
tamis_status tamis_i_page_table_create_file(tamis_table *table, int fd, const char *path,
                                            const tamis_table_options *options,
                                            const char **reason) {
    tamis_i_pages *const p = table->pages;
    unsigned char header[TAMIS_I_PAGE];
    tamis_status status = page_table_attach(table, fd, path, options, reason);
    if (status != TAMIS_OK)
        return status;
    p->n_blocks = 3;
    p->lowest = 3;
    for (uint64_t block = 0; block < 3; block++)
        if (!tamis_i_pages_mark(p, block)) {
            *reason = tamis_status_text(TAMIS_E_NOMEM);
            return TAMIS_E_NOMEM;
        }
    status = tamis_i_pages_commit(p, TAMIS_I_ROOT_OF_CLOSED);
    tamis_i_table_encode_header(&table->params, header);
    if (status == TAMIS_OK && !p->disk.ops->write(p->disk.self, 0, header, sizeof header))
        status = TAMIS_E_IO;
    if (status == TAMIS_OK && options->sync != TAMIS_SYNC_NONE && fsync(fd) != 0)
        status = TAMIS_E_IO;
    if (status != TAMIS_OK)
        *reason = status == TAMIS_E_IO ? tamis_i_errno_text(errno) : tamis_status_text(status);
    return status;
}

tamis_status tamis_i_page_table_open(tamis_table *table, int fd, const char *path,
                                     const tamis_table_options *options, const char **reason) {
    tamis_status status = page_table_attach(table, fd, path, options, reason);
    if (status == TAMIS_OK)
        status = tamis_i_pages_load(table->pages, options->repair, reason);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Items
 */

/* There may be several readers: see tamis_i_counts. */
static void page_table_count(_Atomic uint64_t *counter) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

tamis_status tamis_i_page_table_get(const tamis_table *table, const void *key, size_t key_size,
                                    void *value, size_t room, size_t *value_size) {
    tamis_i_spot spot;
    tamis_i_pages_locate(table->pages, key, key_size, &spot);
    if (!tamis_i_pages_maybe(table->pages, &spot)) { /* nearly all misses: no buffer, no page */
        page_table_count(&table->counts->misses);
        return TAMIS_E_NOT_FOUND;
    }
    return tamis_i_page_table_get_at(table, &spot, true, (tamis_bytes){key, key_size}, value, room,
                                     value_size);
}

/* The second read. */
static tamis_status page_table_get_large(const tamis_table *table, const tamis_i_page_item *item,
                                         void *value, size_t room, size_t *value_size) {
    tamis_i_value v;
    if (!tamis_i_value_decode(table->pages, item, &v))
        return TAMIS_E_FORMAT;
    if (value_size != NULL)
        *value_size = v.size;
    if (value == NULL)
        return TAMIS_OK;
    if (v.size > room)
        return TAMIS_E_TOO_LARGE;
    page_table_count(&table->counts->hit_reads);
    return tamis_i_value_read(table->pages, &v, value);
}

tamis_status tamis_i_page_table_get_at(const tamis_table *table, const tamis_i_spot *spot,
                                       bool asked, tamis_bytes key, void *value, size_t room,
                                       size_t *value_size) {
    tamis_i_buffer buffer;
    tamis_i_page_item item;
    const tamis_status status =
        asked ? tamis_i_pages_find(table->pages, spot, key.data, key.size, buffer.bytes, &item)
              : TAMIS_E_NOT_FOUND;
    if (status == TAMIS_E_NOT_FOUND) {
        page_table_count(&table->counts->misses);
        if (asked) {
            page_table_count(&table->counts->miss_reads);
            page_table_count(&table->counts->false_positives);
        }
    }
    if (status != TAMIS_OK)
        return status;
    page_table_count(&table->counts->hits);
    page_table_count(&table->counts->hit_reads);
    if (item.elsewhere)
        return page_table_get_large(table, &item, value, room, value_size);
    if (value_size != NULL)
        *value_size = item.value_size;
    if (value == NULL)
        return TAMIS_OK;
    if (item.value_size > room)
        return TAMIS_E_TOO_LARGE;
    memcpy(value, item.value, item.value_size);
    return TAMIS_OK;
}

tamis_status tamis_i_page_table_put(tamis_table *table, const void *key, size_t key_size,
                                    const void *value, size_t value_size, bool *added) {
    const bool large = key_size + value_size > TAMIS_TABLE_PAGE_ITEM_MAX;
    if (large && (!table->pages->large || table->pages->disk.ops == NULL ||
                  key_size + TAMIS_I_VALUE_BYTES > TAMIS_TABLE_PAGE_ITEM_MAX))
        return TAMIS_E_ARGUMENT;
    const tamis_i_page_item item = {.key = key,
                                    .key_size = (uint16_t)key_size,
                                    .value = value,
                                    .value_size = (uint16_t)value_size};
    bool found;
    const tamis_status status =
        large ? tamis_i_pages_put_large(table->pages, (tamis_bytes){key, key_size},
                                        (tamis_bytes){value, value_size}, &found)
              : tamis_i_pages_put(table->pages, &item, &found);
    if (status != TAMIS_OK)
        return status;
    table->counts->change_reads++;
    table->counts->updates += found;
    table->counts->puts += !found;
    if (added != NULL)
        *added = !found;
    return TAMIS_OK;
}

tamis_status tamis_i_page_table_delete(tamis_table *table, const void *key, size_t key_size) {
    const tamis_status status = tamis_i_pages_delete(table->pages, key, key_size);
    if (status == TAMIS_OK) {
        table->counts->change_reads++;
        table->counts->deletes++;
    }
    return status;
}

tamis_status tamis_i_page_table_next(const tamis_table *table, uint64_t *at, void *key,
                                     size_t *key_size, void *value, size_t *value_size) {
    tamis_i_buffer buffer;
    tamis_i_page_item item;
    const tamis_status status = tamis_i_pages_next(table->pages, at, buffer.bytes, &item);
    if (status != TAMIS_OK)
        return status;
    if (item.key_size > table->params.key_max || item.value_size > table->params.value_max)
        return TAMIS_E_FORMAT;
    memcpy(key, item.key, item.key_size);
    *key_size = item.key_size;
    if (item.elsewhere) {
        tamis_i_value v;
        if (!tamis_i_value_decode(table->pages, &item, &v) || v.size > table->params.value_max)
            return TAMIS_E_FORMAT;
        *value_size = v.size;
        return value == NULL ? TAMIS_OK : tamis_i_value_read(table->pages, &v, value);
    }
    if (value != NULL)
        memcpy(value, item.value, item.value_size);
    *value_size = item.value_size;
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Care
 */

tamis_status tamis_i_page_table_refresh(tamis_table *table, bool *changed) {
    const char *reason;
    return tamis_i_pages_refresh(&table->pages, changed, &reason);
}

/* A step is one twig. */
tamis_status tamis_i_page_table_rebuild(tamis_table *table, uint64_t max_steps, bool *done) {
    tamis_i_pages *const p = table->pages;
    tamis_i_rebuild *const rebuild = &table->rebuild;
    if (rebuild->phase == TAMIS_I_IDLE) {
        rebuild->phase = TAMIS_I_MOVING;
        rebuild->cursor = 0;
    }
    for (uint64_t i = 0; i < max_steps && rebuild->cursor < p->n_twigs; i++) {
        tamis_status status = tamis_i_pages_ready(p, 0);
        if (status == TAMIS_OK)
            status = tamis_i_pages_pack(p, (unsigned)rebuild->cursor);
        if (status != TAMIS_OK)
            return status;
        rebuild->cursor++;
    }
    if (rebuild->cursor >= p->n_twigs) {
        rebuild->phase = TAMIS_I_IDLE;
        table->counts->rebuilds++;
    }
    if (done != NULL)
        *done = rebuild->phase == TAMIS_I_IDLE;
    return TAMIS_OK;
}

/* Chance that an absent key passes: of a filter with a part q of its bits set, q to the power of hashes. */
static double page_table_fpr(const tamis_i_pages *p) {
    double sum = 0;
    for (unsigned t = 0; t < p->n_twigs; t++) {
        const tamis_i_twig *const twig = p->twigs[t];
        for (unsigned i = 0; i < twig->n; i++) {
            const tamis_i_leaf *const leaf = twig->leaves + i;
            const uint64_t width = tamis_i_pages_end_of(p, t, i) - leaf->first;
            size_t n;
            const unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, i, &n);
            uint64_t ones = 0;
            for (size_t j = 0; j < n; j++)
                ones += (uint64_t)__builtin_popcount(filter[j]);
            double rate = n == 0 ? 0 : 1;
            for (unsigned k = 0; k < p->sieve.hashes && n > 0; k++)
                rate *= (double)ones / (8 * (double)n);
            sum += rate * (double)width;
        }
    }
    return sum / 4294967296.0;
}

void tamis_i_page_table_info(const tamis_table *table, tamis_table_state *info) {
    const tamis_i_pages *const p = table->pages;
    uint64_t filters = 0, index = p->cap_twigs * (sizeof *p->firsts + sizeof(void *));
    for (unsigned t = 0; t < p->n_twigs; t++) {
        filters += p->twigs[t]->cap_bytes;
        index += sizeof *p->twigs[t] + tamis_i_twig_block(p->twigs[t]->cap);
    }
    info->count = info->level_count[0] = p->count;
    info->slots = p->n_leaves;
    info->slot_bytes = TAMIS_I_PAGE_BYTES;
    info->slow_bytes = p->n_blocks * TAMIS_I_PAGE_BYTES;
    info->in_file = p->disk.ops != NULL;
    if (!info->in_file)
        info->slow_bytes = p->n_leaves * TAMIS_I_PAGE_BYTES;
    info->summary_bytes = filters;
    info->bit_bytes = index;
    info->fpr = page_table_fpr(p);
    info->damaged = p->damaged;
    info->read_only = p->read_only;
    info->recovered = p->recovered;
    info->rebuilding = table->rebuild.phase != TAMIS_I_IDLE;
    info->params = table->params;
    info->dropped = p->dropped;
}
