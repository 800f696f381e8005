/* page.h - one page of a page table: items of different sizes, and their tags
 *
 *      offset  size
 *           0     4  checksum of the rest, of the page's place and of the salt of the table
 *           4     4  first hash of the page: its items have this one or a higher one
 *           8     2  items
 *          10     2  bytes of the items
 *          12     2  0: each item has its sizes; else all keys have this size minus 1 ...
 *          14     2  ... and all values this size; if items have their sizes: the bytes of these
 *          16        keys and values, one item after the other; then zeros
 *         ...  4096  directory, from the end of the page down: for each item its tag, 8 bits of its hash,
 *                    which save looks at other keys; and its sizes, if it has them
 *
 * The sizes are that of the key, and twice that of the value (plus 1 for a value that is elsewhere), each in
 * 1 or 2 bytes, 7 bits each, the lower ones first.  So items of one size cost 1 byte more than they are long,
 * others 3 to 5; and to find a key only the directory is read, a few cache lines, and then the item.
 *
 * An item that fits goes to the end, and a value may be overwritten by another of its size.  For all other
 * changes the items are listed, the list is changed, and a page is built of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_PAGE_H
#define TAMIS_TABLE_PAGE_H

#include "base/base.h"

#define TAMIS_I_PAGE_BYTES 4096u
#define TAMIS_I_PAGE_HEAD  16u
#define TAMIS_I_PAGE_ROOM  (TAMIS_I_PAGE_BYTES - TAMIS_I_PAGE_HEAD)
/* A page holds at least four of the longest items, so pages can always be divided. */
#define TAMIS_I_PAGE_ITEM_MAX 1000u
/* More of the shortest items would fit, but there are not as many different keys of one byte. */
#define TAMIS_I_PAGE_ITEMS_MAX 2047u

/* A page to read into: past the cache only aligned ones can be read. */
typedef struct tamis_i_page_buffer {
    _Alignas(TAMIS_I_PAGE_BYTES) unsigned char bytes[TAMIS_I_PAGE_BYTES];
} tamis_i_page_buffer;

typedef struct tamis_i_page_item {
    const unsigned char *key;
    const unsigned char *value;
    uint16_t key_size;
    uint16_t value_size;
    uint32_t hash; /* not stored: set by the caller */
    uint8_t tag;
    bool elsewhere; /* the value tells where the value is */
} tamis_i_page_item;

/* What some items take. */
typedef struct tamis_i_page_load {
    unsigned n;
    size_t bytes; /* of keys and values */
    size_t heads; /* of their sizes */
    uint16_t key_size, value_size;
    bool uniform;
} tamis_i_page_load;

void tamis_i_page_load_add(tamis_i_page_load *load, const tamis_i_page_item *item);

/* Bytes of a page that the items take, tags included. */
static inline size_t tamis_i_page_load_size(const tamis_i_page_load *load) {
    return load->n + load->bytes + (load->uniform ? 0 : load->heads);
}

/* Build a page of n items, which fit.  The checksum is left zero. */
void tamis_i_page_build(unsigned char *image, uint32_t first, const tamis_i_page_item *items,
                        unsigned n);

/* Is there room for one more item, without a change of the others?  If so, add it. */
bool tamis_i_page_fits(const unsigned char *image, const tamis_i_page_item *item);
void tamis_i_page_append(unsigned char *image, const tamis_i_page_item *item);

/* Could a page have been built so?  It may hold anything.  After 'true' no call reaches outside. */
bool tamis_i_page_check(const unsigned char *image);

unsigned tamis_i_page_count(const unsigned char *image);
uint32_t tamis_i_page_first(const unsigned char *image);

/* Bytes in use, tags included. */
size_t tamis_i_page_used(const unsigned char *image);

/* A walk over the items: start with all members but 'image' zero. */
typedef struct tamis_i_page_walk {
    const unsigned char *image;
    unsigned i;  /* the next item */
    size_t at;   /* its place, from the end of the head on */
    size_t back; /* and that of its entry in the directory, from the end of the page back */
} tamis_i_page_walk;
bool tamis_i_page_next(tamis_i_page_walk *walk, tamis_i_page_item *item);

/* Find a key with this tag: false if it is not there.  '*index' (may be NULL) gets its number, or stays as it
 * is. */
bool tamis_i_page_find(const unsigned char *image, uint8_t tag, const void *key, size_t key_size,
                       tamis_i_page_item *item, unsigned *index);

/* The checksum for a page or an index page at block 'block', and whether it is in its place. */
uint32_t tamis_i_page_sum(const unsigned char *image, uint64_t block, uint64_t salt);
void tamis_i_page_seal(unsigned char *image, uint64_t block, uint64_t salt);
bool tamis_i_page_sealed(const unsigned char *image, uint64_t block, uint64_t salt);

#endif
