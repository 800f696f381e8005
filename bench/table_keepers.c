/* table_keepers.c - our table, read without the cache and mapped, and a plain open-addressing table
 *
 * The open-addressing table has the same slots of 40 bytes, whole in sectors, and the same number of
 * them as our table of slots: 6.6 per item.  Linear probing then nearly always ends in the sector where
 * it begins.  So a lookup, found or not, is one read, with no fast memory at all.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "bench/table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tamis/table.h>

/* ---- tamis ---- */

typedef struct tamis_own {
    tamis_table *table;
    table_item *waiting; /* of a batch */
    size_t n;
} tamis_own;

/* Pages whose filters err at most so often. */
static bool tamis_plan_pages(double fpr, tamis_table_params *params) {
    tamis_table_need need;
    tamis_table_plan plan;
    tamis_table_need_init(&need);
    tamis_table_plan_init(&plan);
    need.bucket = TAMIS_TABLE_PAGE;
    need.fpr = fpr;
    if (tamis_table_plan_make(&need, &plan) != TAMIS_OK)
        return false;
    *params = plan.params;
    return true;
}

/* A new table: of pages, or of slots for n items. */
static const char *tamis_create(kept *table, bool slots) {
    tamis_own *const own = table->own;
    tamis_table_params params;
    tamis_table_options options;
    const char *reason = NULL;
    tamis_table_params_init(&params);
    tamis_table_options_init(&options);
    if (slots) {
        params.capacity = table->n;
        params.key_max = table->names ? TABLE_NAME_MAX : TABLE_KEY;
        params.value_max = table->names ? TABLE_NAME_VALUE : TABLE_VALUE;
    } else if (table->fpr > 0 && !tamis_plan_pages(table->fpr, &params)) {
        return "no such error rate";
    }
    own->waiting = malloc(TABLE_BATCH * sizeof *own->waiting);
    if (own->waiting == NULL)
        return "no memory";
    if (tamis_table_create_file(table->path, &params, &options, NULL, &own->table, &reason) !=
        TAMIS_OK) {
        free(own->waiting);
        return reason;
    }
    return NULL;
}

static bool tamis_put(kept *table, const table_item *item) {
    tamis_own *const own = table->own;
    own->waiting[own->n++] = *item;
    return true;
}

static bool tamis_commit(kept *table) {
    tamis_own *const own = table->own;
    static tamis_table_item items[TABLE_BATCH];
    for (size_t i = 0; i < own->n; i++)
        items[i] = (tamis_table_item){.key = own->waiting[i].key,
                                      .key_size = own->waiting[i].key_size,
                                      .value = own->waiting[i].value,
                                      .value_size = own->waiting[i].value_size};
    const bool good = tamis_table_put_many(own->table, items, own->n, NULL) == TAMIS_OK &&
                      tamis_table_sync(own->table) == TAMIS_OK;
    own->n = 0;
    return good;
}

static bool tamis_finish(kept *table) {
    tamis_own *const own = table->own;
    const bool good = own->n == 0 || tamis_commit(table);
    free(own->waiting);
    return tamis_table_close(own->table) == TAMIS_OK && good;
}

static const char *tamis_open(kept *table, tamis_table_io io) {
    tamis_table_options options;
    const char *reason = NULL;
    tamis_table_options_init(&options);
    options.read_only = true;
    options.io = io;
    return tamis_table_open(table->path, &options, NULL, &((tamis_own *)table->own)->table,
                            &reason) == TAMIS_OK
               ? NULL
               : reason;
}

static const char *tamis_open_direct(kept *table, bool write) {
    return write ? tamis_create(table, false) : tamis_open(table, TAMIS_TABLE_DIRECT);
}

static const char *tamis_open_slots(kept *table, bool write) {
    return write ? tamis_create(table, true) : tamis_open(table, TAMIS_TABLE_MAP);
}

static const char *tamis_open_mapped(kept *table, bool write) {
    (void)write;
    return tamis_open(table, TAMIS_TABLE_MAP);
}

static bool tamis_get(kept *table, const table_item *item, unsigned char *value) {
    size_t size;
    return tamis_table_get(((tamis_own *)table->own)->table, item->key, item->key_size, value,
                           TABLE_NAME_VALUE, &size) == TAMIS_OK &&
           size == item->value_size;
}

static void tamis_end(kept *table) {
    (void)!tamis_table_close(((tamis_own *)table->own)->table);
}

static double tamis_fast(kept *table) {
    tamis_table_state info;
    tamis_table_state_init(&info);
    if (tamis_table_info(((tamis_own *)table->own)->table, &info) != TAMIS_OK)
        return 0;
    return (double)(info.summary_bytes + info.bit_bytes + info.stash_bytes);
}

static uint64_t tamis_reads(kept *table) {
    tamis_table_counts stats;
    tamis_table_counts_init(&stats);
    if (tamis_table_stats(((tamis_own *)table->own)->table, &stats) != TAMIS_OK)
        return 0;
    return stats.hit_reads + stats.miss_reads;
}

const keeper table_keeper_direct = {.name = "tamis, past the cache",
                                    .past_cache = true,
                                    .own_size = sizeof(tamis_own),
                                    .put = tamis_put,
                                    .commit = tamis_commit,
                                    .finish = tamis_finish,
                                    .open = tamis_open_direct,
                                    .get = tamis_get,
                                    .close = tamis_end,
                                    .fast_bytes = tamis_fast,
                                    .reads = tamis_reads};

const keeper table_keeper_mapped = {.name = "tamis, mapped",
                                    .own_size = sizeof(tamis_own),
                                    .reads_only = true,
                                    .open = tamis_open_mapped,
                                    .get = tamis_get,
                                    .close = tamis_end,
                                    .fast_bytes = tamis_fast,
                                    .reads = tamis_reads};

const keeper table_keeper_slots = {.name = "tamis, slots, mapped",
                                   .fixed = true,
                                   .own_size = sizeof(tamis_own),
                                   .put = tamis_put,
                                   .commit = tamis_commit,
                                   .finish = tamis_finish,
                                   .open = tamis_open_slots,
                                   .get = tamis_get,
                                   .close = tamis_end,
                                   .fast_bytes = tamis_fast,
                                   .reads = tamis_reads};

/* ---- open addressing ---- */

enum { SLOT = 8 + TABLE_KEY + TABLE_VALUE, SECTOR = 512, PER_SECTOR = SECTOR / SLOT };

typedef struct plain {
    tamis_hasher hasher;
    unsigned char *map;
    size_t size;
    uint64_t slots;
    int fd;
} plain;

static const char *plain_open(kept *table, bool write) {
    plain *const own = table->own;
    if (table->names)
        return "its items have one size";
    if (!bench_hasher(&own->hasher))
        return "the hash cannot be prepared";
    own->slots = (table->n * 66 / 10 + PER_SECTOR) / PER_SECTOR * PER_SECTOR;
    own->size = (size_t)(own->slots / PER_SECTOR * SECTOR);
    own->fd = open(table->path, write ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
    if (own->fd < 0 || (write && posix_fallocate(own->fd, 0, (off_t)own->size) != 0))
        return "the file cannot be made";
    void *const map = mmap(NULL, own->size, PROT_READ | PROT_WRITE, MAP_SHARED, own->fd, 0);
    if (map == MAP_FAILED) {
        close(own->fd);
        return "the file cannot be mapped";
    }
    (void)madvise(map, own->size, MADV_RANDOM);
    own->map = map;
    return NULL;
}

/* The slot of a key, or the free one where it belongs. */
static unsigned char *plain_find(const plain *own, const unsigned char *key, bool *found) {
    __extension__ typedef unsigned __int128 u128;
    uint64_t at = (uint64_t)((u128)tamis_hash(&own->hasher, key, TABLE_KEY).lo * own->slots >> 64);
    for (;;) {
        unsigned char *const slot = own->map + at / PER_SECTOR * SECTOR + at % PER_SECTOR * SLOT;
        *found = slot[0] != 0 && memcmp(slot + 8, key, TABLE_KEY) == 0;
        if (*found || slot[0] == 0)
            return slot;
        at = at + 1 == own->slots ? 0 : at + 1;
    }
}

static bool plain_put(kept *table, const table_item *item) {
    bool found;
    unsigned char *const slot = plain_find(table->own, item->key, &found);
    slot[0] = 1;
    memcpy(slot + 8, item->key, TABLE_KEY);
    memcpy(slot + 8 + TABLE_KEY, item->value, TABLE_VALUE);
    return true;
}

static bool plain_commit(kept *table) {
    const plain *const own = table->own;
    return fdatasync(own->fd) == 0;
}

static bool plain_get(kept *table, const table_item *item, unsigned char *value) {
    bool found;
    const unsigned char *const slot = plain_find(table->own, item->key, &found);
    if (found)
        memcpy(value, slot + 8 + TABLE_KEY, TABLE_VALUE);
    return found;
}

static void plain_close(kept *table) {
    plain *const own = table->own;
    (void)munmap(own->map, own->size);
    close(own->fd);
}

static bool plain_finish(kept *table) {
    const plain *const own = table->own;
    const bool good = fsync(own->fd) == 0;
    plain_close(table);
    return good;
}

static double plain_fast(kept *table) {
    (void)table;
    return 0;
}

const keeper table_keeper_open_addressing = {.name = "open addressing, mapped",
                                             .fixed = true,
                                             .own_size = sizeof(plain),
                                             .put = plain_put,
                                             .commit = plain_commit,
                                             .finish = plain_finish,
                                             .open = plain_open,
                                             .get = plain_get,
                                             .close = plain_close,
                                             .fast_bytes = plain_fast};
