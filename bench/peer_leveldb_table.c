/* peer_leveldb_table.c - LevelDB, sorted files that are merged (Debian: libleveldb-dev)
 *
 * Through its C interface.  A batch is one write with a sync.  It has a Bloom filter of 10 bits per key, and
 * else its defaults: blocks of 4 KB, a cache of 8 MB, compression.  Its file is a folder.  It does not tell
 * what of it must be in memory for one read per lookup.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/table.h"

#include <leveldb/c.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct leveldb_own {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_filterpolicy_t *policy;
    leveldb_readoptions_t *reading;
    leveldb_writeoptions_t *writing;
    leveldb_writebatch_t *batch;
} leveldb_own;

static void leveldb_end(kept *table) {
    leveldb_own *const o = table->own;
    if (o->db != NULL)
        leveldb_close(o->db);
    leveldb_writebatch_destroy(o->batch);
    leveldb_writeoptions_destroy(o->writing);
    leveldb_readoptions_destroy(o->reading);
    leveldb_options_destroy(o->options);
    leveldb_filterpolicy_destroy(o->policy);
}

static const char *leveldb_begin(kept *table, bool write) {
    leveldb_own *const o = table->own;
    char *fault = NULL;
    o->options = leveldb_options_create();
    o->policy = leveldb_filterpolicy_create_bloom(10);
    o->reading = leveldb_readoptions_create();
    o->writing = leveldb_writeoptions_create();
    o->batch = leveldb_writebatch_create();
    leveldb_options_set_filter_policy(o->options, o->policy);
    leveldb_options_set_create_if_missing(o->options, write);
    leveldb_writeoptions_set_sync(o->writing, 1);
    o->db = leveldb_open(o->options, table->path, &fault);
    leveldb_free(fault);
    if (o->db != NULL)
        return NULL;
    leveldb_end(table);
    return "LevelDB could not be opened";
}

static bool leveldb_add(kept *table, const table_item *item) {
    leveldb_own *const o = table->own;
    leveldb_writebatch_put(o->batch, (const char *)item->key, item->key_size,
                           (const char *)item->value, item->value_size);
    return true;
}

static bool leveldb_commit(kept *table) {
    leveldb_own *const o = table->own;
    char *fault = NULL;
    leveldb_write(o->db, o->writing, o->batch, &fault);
    leveldb_writebatch_clear(o->batch);
    leveldb_free(fault);
    return fault == NULL;
}

static bool leveldb_finish(kept *table) {
    const bool good = leveldb_commit(table);
    leveldb_end(table);
    return good;
}

static bool leveldb_look(kept *table, const table_item *item, unsigned char *value) {
    leveldb_own *const o = table->own;
    char *fault = NULL;
    size_t size = 0;
    char *const found =
        leveldb_get(o->db, o->reading, (const char *)item->key, item->key_size, &size, &fault);
    const bool good = found != NULL && size == item->value_size;
    if (good)
        memcpy(value, found, size);
    leveldb_free(found);
    leveldb_free(fault);
    return good;
}

static double leveldb_fast_bytes(kept *table) {
    (void)table;
    return NAN;
}

const keeper table_keeper_leveldb = {.name = "LevelDB",
                                     .own_size = sizeof(leveldb_own),
                                     .put = leveldb_add,
                                     .commit = leveldb_commit,
                                     .finish = leveldb_finish,
                                     .open = leveldb_begin,
                                     .get = leveldb_look,
                                     .close = leveldb_end,
                                     .fast_bytes = leveldb_fast_bytes};
