/* table.h - measuring tables in files: reads of slow memory, fast memory, time
 *
 * A keeper is a table of functions that drives one sort of table in a file, ours or another library's.
 * table_run.c takes all of them through the same steps, with the same items.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_BENCH_TABLE_H
#define TAMIS_BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TABLE_KEY = 16, TABLE_VALUE = 16, TABLE_NAME_MAX = 64, TABLE_NAME_VALUE = 100 };
enum { TABLE_BATCH = 10000 }; /* items that are made durable together */

/* Keys and values of 16 bytes, or names as of packages with values of 100. */
typedef struct table_item {
    unsigned char key[TABLE_NAME_MAX], value[TABLE_NAME_VALUE];
    size_t key_size, value_size;
} table_item;

typedef struct keeper keeper;

/* One table being measured. */
typedef struct kept {
    const keeper *keeper;
    const char *path; /* of its file */
    uint64_t n;       /* items */
    bool names;       /* which are names */
    double fpr;       /* of ours with pages, at most; 0: the default */
    void *own;        /* of the keeper */
} kept;

struct keeper {
    const char *name;
    bool past_cache; /* reads bypass the system's cache: each is one from the disk */

    size_t own_size; /* bytes that 'own' points to while the file is open, zero at first; 0: none */
    bool fixed;      /* the file has the same size whatever is done */
    bool reads_only; /* the file is that of the keeper before: put and finish are not there */

    /* Open the file for reading, or make it and open it for writing.  NULL, or why not. */
    const char *(*open)(kept *table, bool write);
    bool (*put)(kept *table, const table_item *item);
    bool (*commit)(
        kept *table); /* all up to here is on the disk; at most TABLE_BATCH items wait for it */
    bool (*finish)(kept *table); /* writes everything and closes the file */

    bool (*get)(kept *table, const table_item *item, unsigned char *value);
    void (*close)(kept *table);

    /* Bytes of memory needed for a lookup to take one read. */
    double (*fast_bytes)(kept *table);
    /* The keeper's own count of reads so far, or NULL. */
    uint64_t (*reads)(kept *table);
};

/* What was found.  NaN: not measured. */
typedef struct table_row {
    const char *name;
    const char *refused;           /* why there is nothing below, or NULL */
    double put_ns;                 /* in batches, each synced */
    double each_ns;                /* with a sync each */
    double item_bytes;             /* of keys and values, per item */
    double again_bytes;            /* of the file per item, after all items were replaced */
    double hit_reads, miss_reads;  /* per lookup, by its own count */
    double hit_calls, miss_calls;  /* read calls per lookup, counted by the system */
    double hit_pages, miss_pages;  /* pages read from the disk per lookup, likewise */
    double hit_ns, miss_ns;        /* warm */
    double fast_bytes, slow_bytes; /* per item */
    uint64_t cold_hits, cold_misses, wrong; /* lookups counted above, wrong answers */
} table_row;

typedef struct table_setup {
    uint64_t n;
    uint64_t samples; /* cold lookups of each kind, if reads bypass the cache */
    uint64_t replace; /* how often all items are replaced, after all else */
    uint64_t each;    /* items replaced with a sync each; 0: not measured */
    const char *directory;
    bool peers;
    bool names;
    double fpr; /* of tables of pages, at most; 0: the default */
} table_setup;

/* Measure; 'rows' has room for TABLE_ROWS.  Returns how many there are. */
enum { TABLE_ROWS = 8 };
size_t table_run(const table_setup *setup, table_row *rows);

/* A page table that grows from 1,000 items to setup->n: at 'items' of them, a reader opens it past
 * the cache. */
typedef struct table_growth {
    uint64_t items;
    bool closed;                  /* the last row */
    double hit_pages, miss_pages; /* per lookup, counted by the system */
    double file_bytes, fast_bits; /* per item */
    uint64_t wrong;
} table_growth;

enum { TABLE_GROWTH_ROWS = 32 };
/* NULL, or why not; '*n' rows. */
const char *table_grow(const table_setup *setup, table_growth *rows, size_t *n);

/* What the system has counted for this process: read calls, and bytes fetched from the disk. */
typedef struct table_io {
    double calls, bytes;
} table_io;
table_io table_io_now(void);

/* Write a file, or the files of a folder, to the disk and drop them from the cache.  Returns their size. */
double table_drop(const char *path);
void table_remove(const char *path);

uint64_t table_mix(uint64_t x);

/* Item number i, with the value of its version number 'version'. */
void table_make_item(uint64_t i, unsigned version, bool names, table_item *item);

extern const keeper table_keeper_direct, table_keeper_mapped, table_keeper_slots;
extern const keeper table_keeper_open_addressing;
#ifdef TAMIS_PEER_SQLITE
extern const keeper table_keeper_sqlite;
#endif
#ifdef TAMIS_PEER_LMDB
extern const keeper table_keeper_lmdb;
#endif
#ifdef TAMIS_PEER_LEVELDB_TABLE
extern const keeper table_keeper_leveldb;
#endif

#endif
