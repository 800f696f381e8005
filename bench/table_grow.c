/* table_grow.c - a page table that grows, and what a reader beside the writer finds
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "bench/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tamis/table.h>

enum { SAMPLES = 20000, PAGE = 4096 };

/* Pages from the disk per lookup of a random key below n, or of absent ones. */
static double count_pages(const tamis_table *table, const table_setup *setup, uint64_t n,
                          bool there, uint64_t *wrong) {
    const table_io before = table_io_now();
    for (uint64_t i = 0; i < SAMPLES; i++) {
        table_item item;
        unsigned char value[TABLE_NAME_VALUE];
        size_t size;
        table_make_item(there ? table_mix(i + n) % n : (uint64_t)1 << 40 | i, 0, setup->names,
                        &item);
        const tamis_status status =
            tamis_table_get(table, item.key, item.key_size, value, sizeof value, &size);
        *wrong += there ? status != TAMIS_OK || size != item.value_size ||
                              memcmp(value, item.value, size) != 0
                        : status != TAMIS_E_NOT_FOUND;
    }
    return (table_io_now().bytes - before.bytes) / PAGE / SAMPLES;
}

static const char *look(const char *path, const table_setup *setup, table_growth *row) {
    tamis_table_options options;
    tamis_table_state state;
    tamis_table *table;
    const char *reason = NULL;
    tamis_table_options_init(&options);
    tamis_table_state_init(&state);
    options.read_only = true;
    options.io = TAMIS_TABLE_DIRECT;
    if (tamis_table_open(path, &options, NULL, &table, &reason) != TAMIS_OK)
        return reason;
    row->hit_pages = count_pages(table, setup, row->items, true, &row->wrong);
    row->miss_pages = count_pages(table, setup, row->items, false, &row->wrong);
    row->wrong += tamis_table_count(table) != row->items;
    if (tamis_table_info(table, &state) == TAMIS_OK)
        row->fast_bits = 8.0 * (double)(state.summary_bytes + state.bit_bytes) / (double)row->items;
    (void)!tamis_table_close(table);
    row->file_bytes = table_drop(path) / (double)row->items;
    return NULL;
}

/* Put the items from number 'from' up to 'to', in batches. */
static bool grow_to(tamis_table *table, const table_setup *setup, uint64_t from, uint64_t to) {
    table_item *const batch = malloc(TABLE_BATCH * sizeof *batch);
    tamis_table_item *const items = malloc(TABLE_BATCH * sizeof *items);
    bool good = batch != NULL && items != NULL;
    while (from < to && good) {
        size_t n = 0;
        for (; n < TABLE_BATCH && from < to; n++, from++) {
            table_make_item(from, 0, setup->names, batch + n);
            items[n] = (tamis_table_item){.key = batch[n].key,
                                          .key_size = batch[n].key_size,
                                          .value = batch[n].value,
                                          .value_size = batch[n].value_size};
        }
        good = tamis_table_put_many(table, items, n, NULL) == TAMIS_OK;
    }
    free(batch);
    free(items);
    return good;
}

const char *table_grow(const table_setup *setup, table_growth *rows, size_t *n) {
    char path[4096];
    const char *reason = NULL;
    tamis_table_params params;
    tamis_table *table;
    uint64_t items = 0;
    snprintf(path, sizeof path, "%s/tamis-grow-%ld", setup->directory, (long)getpid());
    tamis_table_params_init(&params);
    if (tamis_table_create_file(path, &params, NULL, NULL, &table, &reason) != TAMIS_OK)
        return reason;
    *n = 0;
    for (uint64_t next = 1000; reason == NULL && items < setup->n; next *= 4) {
        const uint64_t goal = next < setup->n ? next : setup->n;
        if (!grow_to(table, setup, items, goal))
            reason = "an item could not be put";
        items = goal;
        rows[*n] = (table_growth){.items = items};
        if (reason == NULL)
            reason = look(path, setup, rows + (*n)++);
    }
    if (tamis_table_close(table) != TAMIS_OK && reason == NULL)
        reason = "the table could not be closed";
    if (reason == NULL) {
        rows[*n] = (table_growth){.items = items, .closed = true};
        reason = look(path, setup, rows + (*n)++);
    }
    table_remove(path);
    return reason;
}
