/* many.c - page tables: batches
 *
 * A batch goes in groups.  Before the calls of a group are made, the system is told which pages they will
 * read, so that it fetches them at the same time.  A page that is in its cache needs no telling, and
 * telling costs as much as a look.  So the first few of a group are tried, and if these are all there, the
 * rest is taken to be there too.
 *
 * In a batch of changes the records of the log are gathered and written together, and with
 * TAMIS_SYNC_EACH there is one sync, at the end.  No change of a batch is acknowledged before that.
 *
 * Of many puts the new keys are sorted by their hashes first, and the pages that will be too full are filled
 * anew, with room for what comes (tamis_i_pages_expect).  The puts are then made in the order of the caller.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

enum { GROUP = 128, TRIED = 4, CHUNK = 16384, CHUNK_MIN = 64 };

/* Tell the system which pages of a group will be read; 'places' are bytes of the file. */
static void many_announce(const tamis_i_pages *p, const uint64_t *places, unsigned n) {
    bool there = true;
    for (unsigned i = 0; i < n && i < TRIED && there; i++)
        there = p->disk.ops->at_hand(p->disk.self, places[i], TAMIS_I_PAGE_BYTES);
    for (unsigned i = 0; i < n && !there; i++)
        p->disk.ops->announce(p->disk.self, places[i], TAMIS_I_PAGE_BYTES);
}

static bool many_can_announce(const tamis_i_pages *p) {
    return p->disk.ops != NULL && p->disk.ops->announce != NULL;
}

/* Note the page of a spot, if it is in the file. */
static void many_note(const tamis_i_pages *p, const tamis_i_spot *spot, uint64_t *places,
                      unsigned *n) {
    const tamis_i_leaf *const leaf = p->twigs[spot->t]->leaves + spot->i;
    if ((leaf->block & TAMIS_I_PAGES_FRESH) == 0 && many_can_announce(p))
        places[(*n)++] = (uint64_t)leaf->block * TAMIS_I_PAGE_BYTES;
}

static void many_get_group(const tamis_table *table, tamis_table_ask *asks, size_t n) {
    const tamis_i_pages *const p = table->pages;
    tamis_i_spot spots[GROUP];
    bool asked[GROUP] = {false};
    uint64_t places[GROUP];
    unsigned noted = 0;
    for (size_t i = 0; i < n; i++) {
        if (asks[i].status != TAMIS_OK)
            continue;
        tamis_i_pages_locate(p, asks[i].key, asks[i].key_size, spots + i);
        asked[i] = tamis_i_pages_maybe(p, spots + i);
        if (asked[i])
            many_note(p, spots + i, places, &noted);
    }
    if (noted > 1)
        many_announce(p, places, noted);
    for (size_t i = 0; i < n; i++) {
        tamis_table_ask *const ask = asks + i;
        if (ask->status == TAMIS_OK)
            ask->status = tamis_i_page_table_get_at(table, spots + i, asked[i],
                                                    (tamis_bytes){ask->key, ask->key_size},
                                                    ask->value, ask->room, &ask->value_size);
    }
}

void tamis_i_page_table_get_many(const tamis_table *table, tamis_table_ask *asks, size_t n) {
    for (size_t from = 0; from < n; from += GROUP)
        many_get_group(table, asks + from, n - from < GROUP ? n - from : GROUP);
}

/* Begin a batch: without memory for it, records are written one by one. */
static void many_begin(tamis_i_pages *p) {
    p->batch = true;
    if (p->disk.ops != NULL && p->pending == NULL)
        p->pending = tamis_i_alloc(p->allocator, TAMIS_I_PAGES_PENDING);
}

static tamis_status many_end(tamis_i_pages *p, tamis_status status) {
    const tamis_status flushed = tamis_i_pages_flush(p);
    p->batch = false;
    tamis_status last = flushed;
    if (flushed == TAMIS_OK && p->sync == TAMIS_SYNC_EACH)
        last = tamis_i_pages_sync(p);
    return status == TAMIS_OK ? last : status;
}

static void many_announce_puts(const tamis_i_pages *p, const tamis_table_item *items, size_t n) {
    uint64_t places[GROUP];
    unsigned noted = 0;
    for (size_t i = 0; i < n && many_can_announce(p); i++) {
        tamis_i_spot spot;
        tamis_i_pages_locate(p, items[i].key, items[i].key_size, &spot);
        many_note(p, &spot, places, &noted);
    }
    if (noted > 1)
        many_announce(p, places, noted);
}

static void many_announce_deletes(const tamis_i_pages *p, const tamis_bytes *keys, size_t n) {
    uint64_t places[GROUP];
    unsigned noted = 0;
    for (size_t i = 0; i < n && many_can_announce(p); i++) {
        tamis_i_spot spot;
        tamis_i_pages_locate(p, keys[i].data, keys[i].size, &spot);
        if (tamis_i_pages_maybe(p, &spot))
            many_note(p, &spot, places, &noted);
    }
    if (noted > 1)
        many_announce(p, places, noted);
}

/* Sort by hash, a byte at a time; 'other' is as long, and the result is in 'coming'. */
static void many_sort(tamis_i_coming *coming, tamis_i_coming *other, size_t n) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t place[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            place[coming[i].hash >> shift & 255]++;
        for (unsigned i = 0; i < 256; i++) {
            const size_t count = place[i];
            place[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            other[place[coming[i].hash >> shift & 255]++] = coming[i];
        tamis_i_coming *const sorted = other;
        other = coming;
        coming = sorted;
    }
}

/* List the items that are new, and tell the system which pages all of them need. */
static size_t many_list(const tamis_i_pages *p, const tamis_table_item *items, size_t n,
                        tamis_i_coming *coming) {
    size_t found = 0;
    for (size_t from = 0; from < n; from += GROUP) {
        uint64_t places[GROUP];
        unsigned noted = 0;
        for (size_t i = from; i < n && i < from + GROUP; i++) {
            tamis_i_spot spot;
            tamis_i_pages_locate(p, items[i].key, items[i].key_size, &spot);
            many_note(p, &spot, places, &noted);
            if (items[i].key_size + items[i].value_size > TAMIS_I_PAGE_ITEM_MAX ||
                tamis_i_pages_maybe(p, &spot))
                continue;
            coming[found++] = (tamis_i_coming){.hash = spot.hash,
                                               .key_size = (uint16_t)items[i].key_size,
                                               .value_size = (uint16_t)items[i].value_size};
        }
        if (noted > 1)
            many_announce(p, places, noted);
    }
    return found;
}

/* Prepare for some puts.  Whatever fails here, they are made all the same. */
static void many_expect_puts(tamis_i_pages *p, const tamis_table_item *items, size_t n) {
    const size_t size = 2 * n * sizeof(tamis_i_coming);
    tamis_i_coming *const coming = n < CHUNK_MIN ? NULL : tamis_i_alloc(p->allocator, size);
    if (coming == NULL) {
        for (size_t i = 0; i < n; i += GROUP)
            many_announce_puts(p, items + i, n - i < GROUP ? n - i : GROUP);
        return;
    }
    const size_t found = many_list(p, items, n, coming);
    many_sort(coming, coming + n, found);
    if (tamis_i_pages_ready(p, 0) == TAMIS_OK)
        tamis_i_pages_expect(p, coming, found);
    tamis_i_free(p->allocator, coming, size);
}

tamis_status tamis_i_page_table_put_many(tamis_table *table, const tamis_table_item *items,
                                         size_t n, size_t *done) {
    tamis_status status = TAMIS_OK;
    many_begin(table->pages);
    for (size_t i = 0; i < n && status == TAMIS_OK; i++) {
        if (i % CHUNK == 0)
            many_expect_puts(table->pages, items + i, n - i < CHUNK ? n - i : CHUNK);
        status = tamis_i_page_table_put(table, items[i].key, items[i].key_size, items[i].value,
                                        items[i].value_size, NULL);
        *done += status == TAMIS_OK;
    }
    return many_end(table->pages, status);
}

tamis_status tamis_i_page_table_delete_many(tamis_table *table, const tamis_bytes *keys, size_t n,
                                            size_t *done, size_t *found) {
    tamis_i_pages *const p = table->pages;
    tamis_status status = TAMIS_OK;
    many_begin(p);
    for (size_t i = 0; i < n && status == TAMIS_OK; i++) {
        if (i % GROUP == 0)
            many_announce_deletes(p, keys + i, n - i < GROUP ? n - i : GROUP);
        status = tamis_i_page_table_delete(table, keys[i].data, keys[i].size);
        *found += status == TAMIS_OK;
        status = status == TAMIS_E_NOT_FOUND ? TAMIS_OK : status;
        *done += status == TAMIS_OK;
    }
    return many_end(p, status);
}
