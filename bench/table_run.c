/* table_run.c - all keepers through the same steps
 *
 *  1. n items are put in batches, each synced; then some are replaced with a sync each.  The files are
 *     closed.
 *  2. A file is dropped from the system's cache and opened; random present keys, then absent keys, are looked
 *     up.  The keeper counts the reads, if it can, and so does the system: /proc/self/io gives the read calls
 *     of this process (syscr) and the bytes fetched from the disk for it, by calls or by page faults
 *     (read_bytes).
 *  3. All keys are looked up once, to warm the caches; then lookups are timed.
 *  4. A new file gets all items, and all are replaced a number of times; the file is closed, and its size
 *     taken.
 *
 * What is timed, steps 1 and 3, the keepers do in turns, starting with another one each time, so that a slow
 * moment of the machine or of its disk hits all of them.  Of batches the sum counts, of all else the median
 * of the turns.
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

enum { COLD_CACHED = 1000, PAGE = 4096, TURNS = 9, PATH = 4096 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- lookups ---- */

typedef struct lookup {
    table_item item;
    unsigned char value[TABLE_NAME_VALUE];
    bool hit;
} lookup;

/* Number 'i' of a sequence: a random present key, or an absent one. */
static void ask(const kept *table, bool there, uint64_t i, lookup *l) {
    table_make_item(there ? table_mix(i + 12345) % table->n : table->n + i, 0, table->names,
                    &l->item);
}

static bool is_right(const lookup *l, bool there) {
    return there ? l->hit && memcmp(l->item.value, l->value, l->item.value_size) == 0 : !l->hit;
}

static bool look_up(kept *table, bool there, uint64_t i) {
    lookup l;
    ask(table, there, i, &l);
    l.hit = table->keeper->get(table, &l.item, l.value);
    return is_right(&l, there);
}

/* The time of some lookups, but not that of making their keys. */
static double time_lookups(kept *table, bool there, uint64_t from, uint64_t to, uint64_t *wrong) {
    static lookup some[100];
    double spent = 0;
    for (uint64_t n; from < to; from += n) {
        n = to - from < 100 ? to - from : 100;
        for (uint64_t i = 0; i < n; i++)
            ask(table, there, from + i, some + i);
        const double start = now();
        for (uint64_t i = 0; i < n; i++)
            some[i].hit = table->keeper->get(table, &some[i].item, some[i].value);
        spent += now() - start;
        for (uint64_t i = 0; i < n; i++)
            *wrong += !is_right(some + i, there);
    }
    return spent;
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

/* Put a batch of items with the values of a version.  'bytes': keys and values so far. */
static bool put_batch(kept *table, uint64_t from, unsigned version, double *bytes) {
    const keeper *const k = table->keeper;
    bool good = true;
    for (uint64_t i = from; i < from + TABLE_BATCH && i < table->n && good; i++) {
        table_item item;
        table_make_item(i, version, table->names, &item);
        *bytes += (double)(item.key_size + item.value_size);
        good = k->put(table, &item);
    }
    return good && k->commit(table);
}

static const char unfit[] = "an item could not be put";

/* Fill a new file, and replace all items again and again. */
static const char *replace(kept *table, const table_setup *setup, table_row *row) {
    (void)table_remove(table->path);
    const char *const reason = begin(table, true);
    if (reason != NULL)
        return reason;
    double bytes = 0;
    bool good = true;
    for (unsigned version = 0; version <= setup->replace && good; version++)
        for (uint64_t i = 0; i < table->n && good; i += TABLE_BATCH)
            good = put_batch(table, i, version, &bytes);
    good = end(table, true) && good;
    row->again_bytes = table_drop(table->path) / (double)table->n;
    return good ? NULL : unfit;
}

static void measure_cold(kept *table, const table_setup *setup, table_row *row) {
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
    (void)end(table, false);
}

/* ---- all keepers, in turns ---- */

typedef struct run {
    const table_setup *setup;
    table_row *rows;
    size_t n;
    kept tables[TABLE_ROWS];
    char paths[TABLE_ROWS][PATH];
    bool open[TABLE_ROWS]; /* and taking its turns */
} run;

static bool open_all(run *r, bool write) {
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        const keeper *const k = r->tables[i].keeper;
        r->open[i] = r->rows[i].refused == NULL && (write ? !k->reads_only : !k->past_cache);
        if (r->open[i])
            r->rows[i].refused = begin(r->tables + i, write);
        r->open[i] = r->open[i] && r->rows[i].refused == NULL;
        any = any || r->open[i];
    }
    return any;
}

static void refuse(run *r, size_t i) {
    (void)end(r->tables + i, true);
    r->open[i] = false;
    r->rows[i].refused = unfit;
}

static void close_all(run *r, bool written) {
    for (size_t i = 0; i < r->n; i++) {
        if (r->open[i] && !end(r->tables + i, written))
            r->rows[i].refused = unfit;
        r->open[i] = false;
    }
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t n) {
    qsort(times, n, sizeof *times, compare);
    return times[n / 2];
}

/* The turns for n operations: each does one at least. */
static size_t turns_for(uint64_t n) {
    return n < TURNS ? (size_t)n : TURNS;
}

/* Replace some items by themselves, with a sync each: those of one turn. */
static bool put_each(kept *table, uint64_t from, uint64_t to) {
    bool good = true;
    for (uint64_t i = from; i < to && good; i++) {
        table_item item;
        table_make_item(table_mix(i) % table->n, 0, table->names, &item);
        good = table->keeper->put(table, &item) && table->keeper->commit(table);
    }
    return good;
}

static void fill_all(run *r) {
    double spent[TABLE_ROWS] = {0}, bytes[TABLE_ROWS] = {0}, each[TABLE_ROWS][TURNS];
    const uint64_t n = r->setup->n, n_each = r->setup->each;
    const size_t turns = turns_for(n_each);
    for (uint64_t at = 0, turn = 0; at < n; at += TABLE_BATCH, turn++)
        for (size_t j = 0; j < r->n; j++) {
            const size_t i = (j + turn) % r->n;
            if (!r->open[i])
                continue;
            const double start = now();
            if (!put_batch(r->tables + i, at, 0, bytes + i))
                refuse(r, i);
            spent[i] += now() - start;
        }
    for (size_t turn = 0; turn < turns; turn++)
        for (size_t j = 0; j < r->n; j++) {
            const size_t i = (j + turn) % r->n;
            const uint64_t from = n_each * turn / turns, to = n_each * (turn + 1) / turns;
            if (!r->open[i])
                continue;
            const double start = now();
            if (!put_each(r->tables + i, from, to))
                refuse(r, i);
            each[i][turn] = (now() - start) / (double)(to - from);
        }
    for (size_t i = 0; i < r->n; i++)
        if (r->open[i]) {
            r->rows[i].put_ns = spent[i] / (double)n;
            r->rows[i].item_bytes = bytes[i] / (double)n;
            if (turns > 0)
                r->rows[i].each_ns = median(each[i], turns);
        }
}

/* Present keys, or absent ones. */
static void time_all(run *r, bool there) {
    double times[TABLE_ROWS][TURNS];
    const size_t turns = turns_for(r->setup->n);
    for (size_t turn = 0; turn < turns; turn++)
        for (size_t j = 0; j < r->n; j++) {
            const size_t i = (j + turn) % r->n;
            const uint64_t from = r->setup->n * turn / turns, to = r->setup->n * (turn + 1) / turns;
            if (!r->open[i])
                continue;
            const double spent = time_lookups(r->tables + i, there, from, to, &r->rows[i].wrong);
            times[i][turn] = spent / (double)(to - from);
        }
    for (size_t i = 0; i < r->n; i++)
        if (r->open[i])
            *(there ? &r->rows[i].hit_ns : &r->rows[i].miss_ns) = median(times[i], turns);
}

static void measure_warm(run *r) {
    if (!open_all(r, false))
        return;
    for (size_t i = 0; i < r->n; i++)
        for (uint64_t key = 0; key < r->setup->n && r->open[i]; key++)
            r->rows[i].wrong += !look_up(r->tables + i, true, key);
    time_all(r, true);
    time_all(r, false);
    close_all(r, false);
}

/* Whose file a keeper has: one that only reads has that of the keeper before it. */
static size_t owner(const keeper *const *keepers, size_t i) {
    return i > 0 && keepers[i]->reads_only ? i - 1 : i;
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
    static run r;
    r = (run){
        .setup = setup, .rows = rows, .n = setup->peers ? sizeof keepers / sizeof keepers[0] : 3};
    for (size_t i = 0; i < r.n; i++) {
        rows[i] = (table_row){.name = keepers[i]->name,
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
        snprintf(r.paths[i], PATH, "%s/tamis-bench-%ld-%zu", setup->directory, (long)getpid(),
                 owner(keepers, i));
        r.tables[i] = (kept){.keeper = keepers[i],
                             .path = r.paths[i],
                             .n = setup->n,
                             .names = setup->names,
                             .fpr = setup->fpr};
        (void)table_remove(r.paths[i]);
    }
    if (open_all(&r, true))
        fill_all(&r);
    close_all(&r, true);
    for (size_t i = 0; i < r.n; i++) {
        rows[i].refused = rows[owner(keepers, i)].refused;
        if (rows[i].refused == NULL)
            measure_cold(r.tables + i, setup, rows + i);
    }
    measure_warm(&r);
    for (size_t i = 0; i < r.n; i++) {
        const bool shared = i + 1 < r.n && keepers[i + 1]->reads_only;
        if (rows[i].refused == NULL && setup->replace > 0 && !shared && !keepers[i]->fixed) {
            kept anew = r.tables[i];
            anew.keeper = keepers[owner(keepers, i)];
            rows[i].refused = replace(&anew, setup, rows + i);
        }
        if (!shared)
            (void)table_remove(r.paths[i]);
    }
    return r.n;
}
