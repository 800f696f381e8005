/* table_run.c - all keepers through the same steps
 *
 *  1. n items are put in batches, each synced; then some are replaced with a sync each.  The file is closed
 *     and dropped from the system's cache.
 *  2. The file is opened; random present keys, then absent keys, are looked up.  The keeper counts the
 *     reads, if it can, and so does the system: /proc/self/io gives the read calls of this process
 *     (syscr) and the bytes fetched from the disk for it, by calls or by page faults (read_bytes).
 *  3. All keys are looked up once, to warm the caches; then lookups are timed.
 *  4. A new file gets all items, and all are replaced a number of times; the file is closed, and its size
 *     taken.
 *
 * A keeper that reads through the system's cache finds ever more pages there.  So only 1,000 keys are
 * looked up in step 2 for such a keeper, and "pages per lookup" contains the upper pages of a tree only
 * once, since they are soon cached.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "bench/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COLD_CACHED = 1000, PAGE = 4096 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- lookups ---- */

/* Look up number 'i' of a sequence: a random present key, or an absent one.  Is the answer right? */
static bool look_up(kept *table, bool there, uint64_t i) {
    table_item item;
    unsigned char found[TABLE_NAME_VALUE];
    table_make_item(there ? table_mix(i + 12345) % table->n : table->n + i, 0, table->names, &item);
    const bool hit = table->keeper->get(table, &item, found);
    return there ? hit && memcmp(item.value, found, item.value_size) == 0 : !hit;
}

typedef struct cold {
    double reads, calls, pages;
} cold;

static cold count_cold(kept *table, bool there, uint64_t n, uint64_t *wrong) {
    const keeper *const k = table->keeper;
    const table_io idle = table_io_now(), before = table_io_now();
    const uint64_t reads = k->reads != NULL ? k->reads(table) : 0;
    for (uint64_t i = 0; i < n; i++)
        *wrong += !look_up(table, there, i);
    const table_io after = table_io_now();
    const double each = 1.0 / (double)n;
    cold found = {NAN, NAN, NAN};
    if (k->reads != NULL)
        found.reads = (double)(k->reads(table) - reads) * each;
    found.calls = (after.calls - before.calls - (before.calls - idle.calls)) * each;
    found.pages = (after.bytes - before.bytes) / PAGE * each;
    return found;
}

static double time_warm(kept *table, bool there, uint64_t *wrong) {
    const double start = now();
    for (uint64_t i = 0; i < table->n; i++)
        *wrong += !look_up(table, there, i);
    return (now() - start) / (double)table->n;
}

/* ---- one keeper ---- */

static const char *begin(kept *table, bool write) {
    const keeper *const k = table->keeper;
    table->own = NULL;
    if (k->own_size > 0) {
        table->own = calloc(1, k->own_size);
        if (table->own == NULL)
            return "no memory";
    }
    const char *const reason = k->open(table, write);
    if (reason != NULL && k->own_size > 0)
        free(table->own);
    return reason;
}

static bool end(kept *table, bool written) {
    const keeper *const k = table->keeper;
    bool good = true;
    if (written)
        good = k->finish(table);
    else
        k->close(table);
    if (k->own_size > 0)
        free(table->own);
    return good;
}

/* Put all items with the values of a version, in batches. */
static bool put_all(kept *table, unsigned version, double *bytes) {
    const keeper *const k = table->keeper;
    bool good = true;
    for (uint64_t i = 0; i < table->n && good; i++) {
        table_item item;
        table_make_item(i, version, table->names, &item);
        *bytes += (double)(item.key_size + item.value_size);
        good = k->put(table, &item) && ((i + 1) % TABLE_BATCH != 0 || k->commit(table));
    }
    return good && k->commit(table);
}

/* Replace some items by themselves, with a sync each. */
static bool put_each(kept *table, uint64_t n) {
    bool good = true;
    for (uint64_t i = 0; i < n && good; i++) {
        table_item item;
        table_make_item(table_mix(i) % table->n, 0, table->names, &item);
        good = table->keeper->put(table, &item) && table->keeper->commit(table);
    }
    return good;
}

static const char unfit[] = "an item could not be put";

static const char *fill(kept *table, const table_setup *setup, table_row *row) {
    const char *const reason = begin(table, true);
    if (reason != NULL)
        return reason;
    double bytes = 0;
    const double start = now();
    bool good = put_all(table, 0, &bytes);
    const double middle = now();
    good = good && put_each(table, setup->each);
    if (setup->each > 0)
        row->each_ns = (now() - middle) / (double)setup->each;
    row->put_ns = (middle - start) / (double)table->n;
    row->item_bytes = bytes / (double)table->n;
    return end(table, true) && good ? NULL : unfit;
}

/* Fill a new file, and replace all items again and again. */
static const char *replace(kept *table, const table_setup *setup, table_row *row) {
    (void)table_remove(table->path);
    const char *const reason = begin(table, true);
    if (reason != NULL)
        return reason;
    double bytes = 0;
    bool good = put_all(table, 0, &bytes);
    for (unsigned i = 1; i <= setup->replace && good; i++)
        good = put_all(table, i, &bytes);
    good = end(table, true) && good;
    row->again_bytes = table_drop(table->path) / (double)table->n;
    return good ? NULL : unfit;
}

static void measure(kept *table, const table_setup *setup, table_row *row) {
    const keeper *const k = table->keeper;
    row->slow_bytes = table_drop(table->path) / (double)table->n;
    row->refused = begin(table, false);
    if (row->refused != NULL)
        return;
    const uint64_t most = setup->samples > 0 ? setup->samples : setup->n;
    row->cold_misses = k->past_cache ? most : COLD_CACHED;
    row->cold_hits = k->past_cache ? (setup->samples > 0 ? most : most / 10 + 1) : COLD_CACHED;
    const cold hits = count_cold(table, true, row->cold_hits, &row->wrong);
    row->hit_reads = hits.reads;
    row->hit_calls = hits.calls;
    row->hit_pages = hits.pages;
    if (!k->past_cache) { /* what the hits have fetched shall not help the misses */
        (void)end(table, false);
        (void)table_drop(table->path);
        row->refused = begin(table, false);
        if (row->refused != NULL)
            return;
    }
    const cold misses = count_cold(table, false, row->cold_misses, &row->wrong);
    row->miss_reads = misses.reads;
    row->miss_calls = misses.calls;
    row->miss_pages = misses.pages;
    row->fast_bytes = k->fast_bytes(table) / (double)table->n;
    if (!k->past_cache) {
        (void)time_warm(table, true, &row->wrong);
        row->hit_ns = time_warm(table, true, &row->wrong);
        row->miss_ns = time_warm(table, false, &row->wrong);
    }
    (void)end(table, false);
}

size_t table_run(const table_setup *setup, table_row *rows) {
    const keeper *const keepers[] = {
        &table_keeper_direct,  &table_keeper_mapped,
        &table_keeper_slots,   &table_keeper_open_addressing,
#ifdef TAMIS_PEER_SQLITE
        &table_keeper_sqlite,
#endif
#ifdef TAMIS_PEER_LMDB
        &table_keeper_lmdb,
#endif
#ifdef TAMIS_PEER_LEVELDB_TABLE
        &table_keeper_leveldb,
#endif
    };
    const size_t n = setup->peers ? sizeof keepers / sizeof keepers[0] : 3;
    char path[4096];
    snprintf(path, sizeof path, "%s/tamis-bench-%ld", setup->directory, (long)getpid());
    const char *unfilled = NULL;
    for (size_t i = 0; i < n; i++) {
        table_row *const row = rows + i;
        *row = (table_row){.name = keepers[i]->name,
                           .put_ns = NAN,
                           .each_ns = NAN,
                           .item_bytes = NAN,
                           .again_bytes = NAN,
                           .hit_reads = NAN,
                           .miss_reads = NAN,
                           .hit_calls = NAN,
                           .miss_calls = NAN,
                           .hit_pages = NAN,
                           .miss_pages = NAN,
                           .hit_ns = NAN,
                           .miss_ns = NAN,
                           .fast_bytes = NAN,
                           .slow_bytes = NAN};
        kept table = {.keeper = keepers[i], .path = path, .n = setup->n, .names = setup->names};
        if (!keepers[i]->reads_only) {
            (void)table_remove(path);
            unfilled = fill(&table, setup, row);
        }
        row->refused = unfilled;
        if (unfilled == NULL)
            measure(&table, setup, row);
        /* the file may be needed by the next keeper */
        const bool last = i + 1 == n || !keepers[i + 1]->reads_only;
        if (row->refused == NULL && setup->replace > 0 && last && !keepers[i]->reads_only &&
            !keepers[i]->fixed)
            row->refused = replace(&table, setup, row);
        if (row->refused == NULL && setup->replace > 0 && keepers[i]->reads_only) {
            kept anew = {
                .keeper = keepers[i - 1], .path = path, .n = setup->n, .names = setup->names};
            row->refused = replace(&anew, setup, row);
        }
    }
    (void)table_remove(path);
    return n;
}
