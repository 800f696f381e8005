/* table_run.c - all keepers through the same steps
 *
 *  1. n items are put; the file is closed and dropped from the system's cache.
 *  2. The file is opened; random present keys, then absent keys, are looked up.  The keeper counts the
 *     reads, if it can, and so does the system: /proc/self/io gives the read calls of this process
 *     (syscr) and the bytes fetched from the disk for it, by calls or by page faults (read_bytes).
 *  3. All keys are looked up once, to warm the caches; then lookups are timed.
 *
 * A keeper that reads through the system's cache finds ever more pages there.  So only 1,000 keys are
 * looked up in step 2 for such a keeper, and "pages per lookup" contains the upper pages of a tree only
 * once, since they are soon cached.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "bench/table.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COLD_CACHED = 1000, PAGE = 4096 };

static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void table_item(uint64_t i, unsigned char key[TABLE_KEY], unsigned char value[TABLE_VALUE]) {
    const uint64_t words[4] = {mix(i), i, mix(i + ((uint64_t)1 << 63)), ~i};
    memcpy(key, words, TABLE_KEY);
    memcpy(value, words + 2, TABLE_VALUE);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- what the system has counted ---- */

typedef struct io_counts {
    double calls;
    double bytes;
} io_counts;

static io_counts io_now(void) {
    io_counts counts = {NAN, NAN};
    char text[1024] = "";
    const int fd = open("/proc/self/io", O_RDONLY);
    if (fd < 0)
        return counts;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *const calls = n > 0 ? strstr(text, "syscr: ") : NULL;
    const char *const bytes = n > 0 ? strstr(text, "\nread_bytes: ") : NULL;
    if (calls != NULL && bytes != NULL) {
        counts.calls = (double)strtoull(calls + strlen("syscr: "), NULL, 10);
        counts.bytes = (double)strtoull(bytes + strlen("\nread_bytes: "), NULL, 10);
    }
    return counts;
}

/* Write a file to the disk and drop it from the cache.  Returns its size. */
static double drop(const char *path) {
    struct stat about = {0};
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NAN;
    (void)fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)fstat(fd, &about);
    close(fd);
    return (double)about.st_blocks * 512;
}

/* ---- lookups ---- */

/* Look up number 'i' of a sequence: a random present key, or an absent one.  Is the answer right? */
static bool look_up(kept *table, bool there, uint64_t i) {
    unsigned char key[TABLE_KEY], value[TABLE_VALUE], found[TABLE_VALUE];
    table_item(there ? mix(i + 12345) % table->n : table->n + i, key, value);
    const bool hit = table->keeper->get(table, key, found);
    return there ? hit && memcmp(value, found, sizeof found) == 0 : !hit;
}

typedef struct cold {
    double reads, calls, pages;
} cold;

static cold count_cold(kept *table, bool there, uint64_t n, uint64_t *wrong) {
    const keeper *const k = table->keeper;
    const io_counts idle = io_now(), before = io_now();
    const uint64_t reads = k->reads != NULL ? k->reads(table) : 0;
    for (uint64_t i = 0; i < n; i++)
        *wrong += !look_up(table, there, i);
    const io_counts after = io_now();
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

static const char *fill(kept *table, table_row *row) {
    const keeper *const k = table->keeper;
    const char *const reason = begin(table, true);
    if (reason != NULL)
        return reason;
    const double start = now();
    bool good = true;
    for (uint64_t i = 0; i < table->n && good; i++) {
        unsigned char key[TABLE_KEY], value[TABLE_VALUE];
        table_item(i, key, value);
        good = k->put(table, key, value);
    }
    good = end(table, true) && good;
    row->put_ns = (now() - start) / (double)table->n;
    return good ? NULL : "an item could not be put";
}

static void measure(kept *table, const table_setup *setup, table_row *row) {
    const keeper *const k = table->keeper;
    row->slow_bytes = drop(table->path) / (double)table->n;
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
        (void)drop(table->path);
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
        &table_keeper_direct, &table_keeper_mapped,
        &table_keeper_slots,  &table_keeper_open_addressing,
#ifdef TAMIS_PEER_SQLITE
        &table_keeper_sqlite,
#endif
#ifdef TAMIS_PEER_LMDB
        &table_keeper_lmdb,
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
        kept table = {.keeper = keepers[i], .path = path, .n = setup->n};
        if (!keepers[i]->reads_only) {
            (void)unlink(path);
            unfilled = fill(&table, row);
        }
        row->refused = unfilled;
        if (unfilled == NULL)
            measure(&table, setup, row);
    }
    (void)unlink(path);
    return n;
}
