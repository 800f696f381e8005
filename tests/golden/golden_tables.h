/* golden_tables.h - how the golden files of tables of pages are made: shared by generator and test
 *
 * Key number i is that of golden.h.  Its value is the text of i*i, and for every third key so many dots.
 * Keys 0 to 399 are put; every fifth is deleted; every seventh that is left gets the value of i + 1000.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_GOLDEN_TABLES_H
#define TAMIS_TESTS_GOLDEN_TABLES_H

#include "golden.h"

#include "tamis/table.h"

#define TABLE_KEYS 400u

typedef struct golden_table_file {
    const char *name; /* without .tab or .blocks */
    tamis_hash_id hash;
    uint64_t seed, seed_high;
    bool large;  /* one value in 40 is longer than a page */
    bool killed; /* the file as it is before the table is closed, without blocks of zeros */
} golden_table_file;

static const golden_table_file golden_tables[] = {
    {"pages", TAMIS_HASH_XXH3, GOLDEN_SEED, 0, false, false},
    {"pages-aes", TAMIS_HASH_AES, GOLDEN_SEED, 77, false, false},
    {"pages-killed", TAMIS_HASH_XXH3, GOLDEN_SEED, 0, false, true},
    {"pages-long", TAMIS_HASH_XXH3, GOLDEN_SEED, 0, true, false},
    {"pages-long-killed", TAMIS_HASH_XXH3, GOLDEN_SEED, 0, true, true},
};
enum { N_TABLES = sizeof golden_tables / sizeof *golden_tables };

enum { TABLE_VALUE_ROOM = 16384 };

/* The value of key number i: its size. */
static inline size_t table_value(uint64_t i, bool large, char value[TABLE_VALUE_ROOM]) {
    if (large && i % 40 == 3) {
        memset(value, 'a' + (int)(i % 26), 1000 + 10 * i);
        return 1000 + 10 * i;
    }
    size_t size = (size_t)snprintf(value, 512, "%llu", (unsigned long long)(i * i));
    if (i % 3 == 0) {
        memset(value + size, '.', i % 400);
        size += i % 400;
    }
    return size;
}

/* In the end: is key number i there, and with the value of which number? */
static inline bool table_holds(uint64_t i, uint64_t *number) {
    *number = i % 7 == 0 ? i + 1000 : i;
    return i < TABLE_KEYS && i % 5 != 0;
}

static inline bool table_put_one(tamis_table *table, uint64_t i, uint64_t number, bool large) {
    char key[24], value[TABLE_VALUE_ROOM];
    const size_t key_size = golden_key(i, key), value_size = table_value(number, large, value);
    return tamis_table_put(table, key, key_size, value, value_size, NULL) == TAMIS_OK;
}

static inline bool table_tell(tamis_table *table, bool large) {
    bool good = true;
    char key[24];
    for (uint64_t i = 0; i < TABLE_KEYS; i++)
        good = good && table_put_one(table, i, i, large);
    for (uint64_t i = 0; i < TABLE_KEYS; i += 5) {
        const size_t size = golden_key(i, key);
        good = good && tamis_table_delete(table, key, size) == TAMIS_OK;
    }
    for (uint64_t i = 0; i < TABLE_KEYS; i += 7)
        good = good && (i % 5 == 0 || table_put_one(table, i, i + 1000, large));
    return good;
}

#endif
