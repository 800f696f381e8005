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

enum { TABLE_KEY = 16, TABLE_VALUE = 16 };

typedef struct keeper keeper;

/* One table being measured. */
typedef struct kept {
    const keeper *keeper;
    const char *path; /* of its file */
    uint64_t n;       /* items */
    void *own;        /* of the keeper */
} kept;

struct keeper {
    const char *name;
    bool past_cache; /* reads bypass the system's cache: each is one from the disk */

    size_t own_size; /* bytes that 'own' points to while the file is open, zero at first; 0: none */
    bool reads_only; /* the file is that of the keeper before: put and finish are not there */

    /* Open the file for reading, or make it and open it for writing.  NULL, or why not. */
    const char *(*open)(kept *table, bool write);
    bool (*put)(kept *table, const unsigned char *key, const unsigned char *value);
    bool (*finish)(kept *table); /* writes everything and closes the file */

    bool (*get)(kept *table, const unsigned char *key, unsigned char *value);
    void (*close)(kept *table);

    /* Bytes of memory needed for a lookup to take one read. */
    double (*fast_bytes)(kept *table);
    /* The keeper's own count of reads so far, or NULL. */
    uint64_t (*reads)(kept *table);
};

/* What was found.  NaN: not measured. */
typedef struct table_row {
    const char *name;
    const char *refused; /* why there is nothing below, or NULL */
    double put_ns;
    double hit_reads, miss_reads;           /* per lookup, by its own count */
    double hit_calls, miss_calls;           /* read calls per lookup, counted by the system */
    double hit_pages, miss_pages;           /* pages read from the disk per lookup, likewise */
    double hit_ns, miss_ns;                 /* warm */
    double fast_bytes, slow_bytes;          /* per item */
    uint64_t cold_hits, cold_misses, wrong; /* lookups counted above, wrong answers */
} table_row;

typedef struct table_setup {
    uint64_t n;
    uint64_t samples; /* cold lookups of each kind, if reads bypass the cache */
    const char *directory;
    bool peers;
} table_setup;

/* Measure; 'rows' has room for TABLE_ROWS.  Returns how many there are. */
enum { TABLE_ROWS = 8 };
size_t table_run(const table_setup *setup, table_row *rows);

/* Key and value number i. */
void table_item(uint64_t i, unsigned char key[TABLE_KEY], unsigned char value[TABLE_VALUE]);

extern const keeper table_keeper_direct, table_keeper_mapped, table_keeper_slots;
extern const keeper table_keeper_open_addressing;
#ifdef TAMIS_PEER_SQLITE
extern const keeper table_keeper_sqlite;
#endif
#ifdef TAMIS_PEER_LMDB
extern const keeper table_keeper_lmdb;
#endif

#endif
