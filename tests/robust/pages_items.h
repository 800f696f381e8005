/* pages_items.h - items for tests of page tables on disks of their own, and a number for all of a table
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_PAGES_ITEMS_H
#define TAMIS_TESTS_PAGES_ITEMS_H

#include "support.h"
#include "table/pages.h"

#include "hash/hash.h"

enum { IDS = 400, SALT = 1234, VALUE_ROOM = 20000 };

static tamis_i_hasher hasher;

static inline size_t key_of(unsigned id, unsigned char key[24]) {
    const size_t size = 2 + id % 20;
    memset(key, (int)(id % 251), size);
    key[0] = (unsigned char)id;
    key[1] = (unsigned char)(id >> 8);
    return size;
}

static inline size_t value_of(uint32_t number, unsigned char value[VALUE_ROOM]) {
    const size_t size = number % 23 == 0  ? 900 + number % 15000
                        : number % 7 == 0 ? number % 700
                                          : 8 + number % 40;
    memset(value, (int)(number % 253), size);
    if (size >= 4)
        memcpy(value, &number, 4);
    return size;
}

/* A number for an item; that of a state is the sum over its items. */
static inline uint64_t weight(const void *key, size_t key_size, const void *value,
                              size_t value_size) {
    const uint64_t a = tamis_i_checksum(key, key_size);
    return tamis_i_mix(a ^ tamis_i_mix(tamis_i_checksum(value, value_size) + 1));
}

static inline uint64_t state_of(const tamis_i_pages *p) {
    unsigned char buffer[TAMIS_I_PAGE_BYTES];
    tamis_i_page_item item;
    uint64_t at = 0, sum = 0;
    while (tamis_i_pages_next(p, &at, buffer, &item) == TAMIS_OK) {
        unsigned char value[VALUE_ROOM];
        tamis_i_value v;
        if (item.elsewhere) {
            assert_true(tamis_i_value_decode(p, &item, &v) && v.size <= sizeof value);
            assert_ok(tamis_i_value_read(p, &v, value));
            sum += weight(item.key, item.key_size, value, v.size);
        } else {
            sum += weight(item.key, item.key_size, item.value, item.value_size);
        }
    }
    return sum;
}

static inline uint64_t item_weight(unsigned id, uint32_t number) {
    unsigned char key[24], value[VALUE_ROOM];
    const size_t key_size = key_of(id, key), value_size = value_of(number, value);
    return weight(key, key_size, value, value_size);
}

#endif
