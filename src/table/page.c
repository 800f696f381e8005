/* page.c - one page of a page table: build, walk, find
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/page.h"

#include "hash/hash.h"

enum { AT_FIRST = 4, AT_COUNT = 8, AT_BYTES = 10, AT_KEY_SIZE = 12, AT_VALUE_SIZE = 14 };

static uint16_t page_get_u16(const unsigned char *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static void page_put_u16(unsigned char *p, size_t v) {
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

/* Sizes of 1 or 2 bytes. */
static size_t page_size_bytes(size_t v) {
    return v < 128 ? 1 : 2;
}

/* Sizes go down: the lower 7 bits are at p[-1], the others, if any, at p[-2]. */
static size_t page_put_size(unsigned char *p, size_t v) {
    if (v < 128) {
        p[-1] = (unsigned char)v;
        return 1;
    }
    p[-1] = (unsigned char)(v | 128);
    p[-2] = (unsigned char)(v >> 7);
    return 2;
}

/* A size that begins 'back' bytes before the end of a page.  False if it goes on after 'end' of these bytes,
 * or is not the shortest form. */
static bool page_get_size(const unsigned char *image, size_t *back, size_t end, size_t *v) {
    const unsigned char *const p = image + TAMIS_I_PAGE_BYTES - *back;
    if (*back >= end)
        return false;
    *v = p[-1];
    ++*back;
    if (*v < 128)
        return true;
    if (*back >= end || p[-2] == 0 || p[-2] >= 128)
        return false;
    *v = (*v & 127) | (size_t)p[-2] << 7;
    ++*back;
    return true;
}

/* The bytes of sizes in the directory. */
static size_t page_heads(const unsigned char *image) {
    return page_get_u16(image + AT_KEY_SIZE) == 0 ? page_get_u16(image + AT_VALUE_SIZE) : 0;
}

static size_t page_value_code(const tamis_i_page_item *item) {
    return 2 * (size_t)item->value_size + item->elsewhere;
}

void tamis_i_page_load_add(tamis_i_page_load *load, const tamis_i_page_item *item) {
    if (load->n == 0) {
        load->uniform = true;
        load->key_size = item->key_size;
        load->value_size = item->value_size;
    }
    load->uniform = load->uniform && !item->elsewhere && item->key_size == load->key_size &&
                    item->value_size == load->value_size;
    load->n++;
    load->bytes += (size_t)item->key_size + item->value_size;
    load->heads += page_size_bytes(item->key_size) + page_size_bytes(page_value_code(item));
}

void tamis_i_page_build(unsigned char *image, uint32_t first, const tamis_i_page_item *items,
                        unsigned n) {
    tamis_i_page_load load = {0};
    for (unsigned i = 0; i < n; i++)
        tamis_i_page_load_add(&load, items + i);
    TAMIS_ASSERT(tamis_i_page_load_size(&load) <= TAMIS_I_PAGE_ROOM);
    memset(image, 0, TAMIS_I_PAGE_BYTES);
    tamis_i_put_u32(image + AT_FIRST, first);
    unsigned char *p = image + TAMIS_I_PAGE_HEAD, *entry = image + TAMIS_I_PAGE_BYTES;
    for (unsigned i = 0; i < n; i++) {
        const tamis_i_page_item *const item = items + i;
        *--entry = item->tag;
        if (!load.uniform) {
            entry -= page_put_size(entry, item->key_size);
            entry -= page_put_size(entry, page_value_code(item));
        }
        if (item->key_size != 0)
            memcpy(p, item->key, item->key_size);
        p += item->key_size;
        if (item->value_size != 0)
            memcpy(p, item->value, item->value_size);
        p += item->value_size;
    }
    page_put_u16(image + AT_COUNT, n);
    page_put_u16(image + AT_BYTES, load.bytes + (load.uniform ? 0 : load.heads));
    page_put_u16(image + AT_KEY_SIZE, load.uniform ? load.key_size + 1u : 0);
    page_put_u16(image + AT_VALUE_SIZE, load.uniform ? load.value_size : load.heads);
}

/* The bytes of an item in a page that is not uniform, or is for items of this size. */
static size_t page_item_size(const unsigned char *image, const tamis_i_page_item *item) {
    size_t size = (size_t)item->key_size + item->value_size;
    if (page_get_u16(image + AT_KEY_SIZE) == 0)
        size += page_size_bytes(item->key_size) + page_size_bytes(page_value_code(item));
    return size;
}

bool tamis_i_page_fits(const unsigned char *image, const tamis_i_page_item *item) {
    const size_t key_size = page_get_u16(image + AT_KEY_SIZE);
    const unsigned n = tamis_i_page_count(image);
    if (n == 0 || n == TAMIS_I_PAGE_ITEMS_MAX ||
        (key_size != 0 && (item->key_size + 1u != key_size || item->elsewhere ||
                           item->value_size != page_get_u16(image + AT_VALUE_SIZE))))
        return false;
    return tamis_i_page_used(image) + page_item_size(image, item) + 1 <= TAMIS_I_PAGE_ROOM;
}

void tamis_i_page_append(unsigned char *image, const tamis_i_page_item *item) {
    const unsigned n = tamis_i_page_count(image);
    const size_t bytes = page_get_u16(image + AT_BYTES), size = page_item_size(image, item);
    const size_t heads = page_heads(image);
    unsigned char *const p = image + TAMIS_I_PAGE_HEAD + bytes - heads;
    unsigned char *entry = image + TAMIS_I_PAGE_BYTES - n - heads;
    *--entry = item->tag;
    if (page_get_u16(image + AT_KEY_SIZE) == 0) {
        entry -= page_put_size(entry, item->key_size);
        entry -= page_put_size(entry, page_value_code(item));
        page_put_u16(image + AT_VALUE_SIZE, (size_t)(image + TAMIS_I_PAGE_BYTES - n - 1 - entry));
    }
    if (item->key_size != 0)
        memcpy(p, item->key, item->key_size);
    if (item->value_size != 0)
        memcpy(p + item->key_size, item->value, item->value_size);
    page_put_u16(image + AT_COUNT, n + 1);
    page_put_u16(image + AT_BYTES, bytes + size);
}

unsigned tamis_i_page_count(const unsigned char *image) {
    return page_get_u16(image + AT_COUNT);
}

uint32_t tamis_i_page_first(const unsigned char *image) {
    return tamis_i_get_u32(image + AT_FIRST);
}

size_t tamis_i_page_used(const unsigned char *image) {
    return tamis_i_page_count(image) + (size_t)page_get_u16(image + AT_BYTES);
}

bool tamis_i_page_next(tamis_i_page_walk *walk, tamis_i_page_item *item) {
    const unsigned char *const image = walk->image, *const body = image + TAMIS_I_PAGE_HEAD;
    const unsigned n = tamis_i_page_count(image);
    if (walk->i >= n)
        return false;
    const size_t heads = page_heads(image), end = page_get_u16(image + AT_BYTES) - heads;
    size_t key_size = page_get_u16(image + AT_KEY_SIZE);
    size_t value_code = 2 * (size_t)page_get_u16(image + AT_VALUE_SIZE);
    item->tag = image[TAMIS_I_PAGE_BYTES - 1 - walk->back];
    walk->back++;
    if (key_size != 0)
        key_size--;
    else if (!page_get_size(image, &walk->back, n + heads, &key_size) ||
             !page_get_size(image, &walk->back, n + heads, &value_code))
        return false;
    const size_t value_size = value_code / 2;
    if (key_size > end - walk->at || value_size > end - walk->at - key_size)
        return false;
    item->key = body + walk->at;
    item->value = item->key + key_size;
    item->key_size = (uint16_t)key_size;
    item->value_size = (uint16_t)value_size;
    item->elsewhere = value_code % 2 != 0;
    walk->at += key_size + value_size;
    walk->i++;
    return true;
}

bool tamis_i_page_check(const unsigned char *image) {
    const unsigned n = tamis_i_page_count(image);
    const size_t bytes = page_get_u16(image + AT_BYTES), heads = page_heads(image);
    if (n > TAMIS_I_PAGE_ITEMS_MAX || n + bytes > TAMIS_I_PAGE_ROOM || heads > bytes ||
        (n == 0 && page_get_u16(image + AT_KEY_SIZE) != 0))
        return false;
    tamis_i_page_walk walk = {.image = image};
    tamis_i_page_item item;
    while (tamis_i_page_next(&walk, &item)) {
    }
    if (walk.i != n || walk.at != bytes - heads || walk.back != n + heads)
        return false;
    for (size_t i = TAMIS_I_PAGE_HEAD + bytes - heads; i < TAMIS_I_PAGE_BYTES - n - heads; i++)
        if (image[i] != 0)
            return false;
    return true;
}

static bool page_is(const tamis_i_page_item *item, const void *key, size_t key_size) {
    return item->key_size == key_size && (key_size == 0 || memcmp(item->key, key, key_size) == 0);
}

/* Items of one size are where their number says. */
static bool page_find_uniform(const unsigned char *image, uint8_t tag, const void *key,
                              size_t key_size, tamis_i_page_item *item, unsigned *index) {
    const unsigned n = tamis_i_page_count(image);
    const unsigned char *const tags = image + TAMIS_I_PAGE_BYTES - n, *next = tags;
    const size_t value_size = page_get_u16(image + AT_VALUE_SIZE);
    if (key_size + 1 != page_get_u16(image + AT_KEY_SIZE))
        return false;
    while ((next = memchr(next, tag, (size_t)(tags + n - next))) != NULL) {
        const unsigned i = n - 1 - (unsigned)(next - tags);
        item->key = image + TAMIS_I_PAGE_HEAD + i * (key_size + value_size);
        item->value = item->key + key_size;
        item->key_size = (uint16_t)key_size;
        item->value_size = (uint16_t)value_size;
        item->tag = tag;
        item->elsewhere = false;
        if (page_is(item, key, key_size)) {
            *index = i;
            return true;
        }
        next++;
    }
    return false;
}

/* A size that was checked. */
static size_t page_known_size(const unsigned char **entry) {
    const size_t v = *--*entry;
    return v < 128 ? v : (v & 127) | (size_t) * --*entry << 7;
}

bool tamis_i_page_find(const unsigned char *image, uint8_t tag, const void *key, size_t key_size,
                       tamis_i_page_item *item, unsigned *index) {
    unsigned at;
    if (index == NULL)
        index = &at;
    if (page_get_u16(image + AT_KEY_SIZE) != 0)
        return page_find_uniform(image, tag, key, key_size, item, index);
    const unsigned n = tamis_i_page_count(image);
    const unsigned char *entry = image + TAMIS_I_PAGE_BYTES, *p = image + TAMIS_I_PAGE_HEAD;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t its_tag = *--entry;
        const size_t its_key = page_known_size(&entry), code = page_known_size(&entry);
        if (its_tag == tag && its_key == key_size) {
            *item = (tamis_i_page_item){.key = p,
                                        .value = p + key_size,
                                        .key_size = (uint16_t)key_size,
                                        .value_size = (uint16_t)(code / 2),
                                        .tag = tag,
                                        .elsewhere = code % 2 != 0};
            if (page_is(item, key, key_size)) {
                *index = i;
                return true;
            }
        }
        p += its_key + code / 2;
    }
    return false;
}

uint32_t tamis_i_page_sum(const unsigned char *image, uint64_t block, uint64_t salt) {
    return (uint32_t)tamis_i_mix(tamis_i_checksum(image + 4, TAMIS_I_PAGE_BYTES - 4) ^
                                 tamis_i_mix(salt + block));
}

void tamis_i_page_seal(unsigned char *image, uint64_t block, uint64_t salt) {
    tamis_i_put_u32(image, tamis_i_page_sum(image, block, salt));
}

bool tamis_i_page_sealed(const unsigned char *image, uint64_t block, uint64_t salt) {
    return tamis_i_get_u32(image) == tamis_i_page_sum(image, block, salt);
}
