/* value.c - page tables: values in blocks of their own
 *
 * A value that does not fit a page with its key is in blocks that follow each other.  The item in the page
 * has 16 bytes in its place: first block (4), size in bytes (4), checksum (8).
 *
 *  D4  The blocks of a value are written before its record, into free blocks.  The record counts only if the
 *      value is there, as its checksum tells: else the log ends before it.
 *  D5  The blocks of a value that was replaced or deleted are free after the next root: until then a
 *      record of the log may lead to them.
 *
 * So no sync is needed between a value and its record, and the promise of pages.h holds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/pages.h"

static uint64_t value_blocks(uint32_t size) {
    return ((uint64_t)size + TAMIS_I_PAGE_BYTES - 1) / TAMIS_I_PAGE_BYTES;
}

static uint64_t value_sum(const tamis_i_pages *p, const tamis_i_value *v, const void *bytes) {
    return tamis_i_checksum(bytes, v->size) ^ tamis_i_mix(p->salt + 2 + v->block);
}

bool tamis_i_value_decode(const tamis_i_pages *p, const tamis_i_page_item *item, tamis_i_value *v) {
    if (!p->large || !item->elsewhere || item->value_size != TAMIS_I_VALUE_BYTES)
        return false;
    v->block = tamis_i_get_u32(item->value);
    v->size = tamis_i_get_u32(item->value + 4);
    v->sum = tamis_i_get_u64(item->value + 8);
    return v->block >= 3 && v->size <= TAMIS_TABLE_VALUE_MAX &&
           v->size > TAMIS_I_PAGE_ITEM_MAX - item->key_size;
}

/* Pages of a table that was closed are not looked through when it is opened: where an item leads may lie
 * behind the end of the file. */
tamis_status tamis_i_value_read(const tamis_i_pages *p, const tamis_i_value *v, void *bytes) {
    if (v->block + value_blocks(v->size) > p->n_blocks)
        return TAMIS_E_FORMAT;
    const uint64_t at = (uint64_t)v->block * TAMIS_I_PAGE_BYTES;
    const unsigned char *const view = p->disk.ops->view(p->disk.self, at, v->size);
    if (view != NULL)
        memcpy(bytes, view, v->size);
    else if (!p->disk.ops->read(p->disk.self, at, bytes, v->size))
        return TAMIS_E_IO;
    return value_sum(p, v, bytes) == v->sum ? TAMIS_OK : TAMIS_E_FORMAT;
}

tamis_status tamis_i_value_check(const tamis_i_pages *p, const tamis_i_value *v) {
    void *const bytes = tamis_i_alloc(p->allocator, v->size);
    if (bytes == NULL)
        return TAMIS_E_NOMEM;
    const tamis_status status = tamis_i_value_read(p, v, bytes);
    tamis_i_free(p->allocator, bytes, v->size);
    return status;
}

/* A reader that took pages over has not claimed their values: these may be where it has no bits. */
static void value_own(tamis_i_pages *p, const tamis_i_value *v, bool own) {
    for (uint64_t i = v->block; i < v->block + value_blocks(v->size) && i < p->cap_blocks; i++) {
        const uint64_t bit = (uint64_t)1 << i % 64;
        p->owned[i / 64] = own ? p->owned[i / 64] | bit : p->owned[i / 64] & ~bit;
    }
}

bool tamis_i_value_is_owned(const tamis_i_pages *p, const tamis_i_value *v) {
    const uint64_t end = v->block + value_blocks(v->size);
    uint64_t i = v->block;
    while (i < end && i < p->cap_blocks && (p->owned[i / 64] >> i % 64 & 1) != 0)
        i++;
    return i == end;
}

bool tamis_i_value_claim(tamis_i_pages *p, const tamis_i_value *v) {
    const uint64_t n = value_blocks(v->size), end = v->block + n;
    uint64_t size = 0, done = 0;
    if (!p->disk.ops->size(p->disk.self, &size) || end > size / TAMIS_I_PAGE_BYTES)
        return false;
    const uint64_t before = p->n_blocks;
    p->n_blocks = end > before ? end : before;
    while (done < n && tamis_i_pages_mark(p, v->block + done))
        done++;
    if (done < n) {
        while (done-- > 0)
            tamis_i_pages_release(p, v->block + done);
        p->n_blocks = before;
        return false;
    }
    value_own(p, v, true);
    return true;
}

void tamis_i_value_drop(tamis_i_pages *p, const tamis_i_value *v) {
    value_own(p, v, false);
    for (uint64_t i = 0; i < value_blocks(v->size); i++)
        p->gone[p->n_gone++] = (uint32_t)(v->block + i);
}

bool tamis_i_value_reserve_drop(tamis_i_pages *p, const tamis_i_value *v) {
    return tamis_i_pages_reserve_gone(p, (size_t)value_blocks(v->size));
}

void tamis_i_value_release(tamis_i_pages *p, const tamis_i_value *v) {
    value_own(p, v, false);
    for (uint64_t i = 0; i < value_blocks(v->size); i++)
        tamis_i_pages_release(p, v->block + i);
}

/* Whole blocks: what is after the end of the value is zero. */
static bool value_write(tamis_i_pages *p, const tamis_i_value *v, const unsigned char *bytes) {
    const uint64_t at = (uint64_t)v->block * TAMIS_I_PAGE_BYTES;
    const size_t rest = v->size % TAMIS_I_PAGE_BYTES, whole = v->size - rest;
    p->page_writes += value_blocks(v->size);
    if (whole > 0 && !p->disk.ops->write(p->disk.self, at, bytes, whole))
        return false;
    if (rest == 0)
        return true;
    memset(p->scratch, 0, TAMIS_I_PAGE_BYTES);
    memcpy(p->scratch, bytes + whole, rest);
    return p->disk.ops->write(p->disk.self, at + whole, p->scratch, TAMIS_I_PAGE_BYTES);
}

tamis_status tamis_i_value_store(tamis_i_pages *p, const void *bytes, size_t size,
                                 unsigned char place[TAMIS_I_VALUE_BYTES], tamis_i_value *v) {
    *v = (tamis_i_value){.size = (uint32_t)size};
    if (!tamis_i_pages_take_run(p, value_blocks(v->size), &v->block))
        return TAMIS_E_NOMEM;
    value_own(p, v, true);
    v->sum = value_sum(p, v, bytes);
    if (!value_write(p, v, bytes) ||
        !p->disk.ops->cover(p->disk.self, p->n_blocks * TAMIS_I_PAGE_BYTES)) {
        tamis_i_value_release(p, v);
        return TAMIS_E_IO;
    }
    tamis_i_put_u32(place, v->block);
    tamis_i_put_u32(place + 4, v->size);
    tamis_i_put_u64(place + 8, v->sum);
    return TAMIS_OK;
}

/* Copy a value to a place nearer to the beginning, if there is one, and tell its item. */
static tamis_status value_move(tamis_i_pages *p, const tamis_i_value *old, unsigned char *place,
                               bool *some) {
    void *const bytes = tamis_i_alloc(p->allocator, old->size);
    if (bytes == NULL)
        return TAMIS_E_NOMEM;
    tamis_i_value v;
    unsigned char next[TAMIS_I_VALUE_BYTES];
    tamis_status status = tamis_i_value_read(p, old, bytes);
    if (status == TAMIS_OK && !tamis_i_value_reserve_drop(p, old))
        status = TAMIS_E_NOMEM;
    if (status == TAMIS_OK)
        status = tamis_i_value_store(p, bytes, old->size, next, &v);
    tamis_i_free(p->allocator, bytes, old->size);
    if (status != TAMIS_OK) /* a damaged value stays where it is */
        return status == TAMIS_E_FORMAT ? TAMIS_OK : status;
    if (v.block > old->block) {
        tamis_i_value_release(p, &v);
        return TAMIS_OK;
    }
    memcpy(place, next, sizeof next);
    tamis_i_value_drop(p, old);
    *some = true;
    return TAMIS_OK;
}

tamis_status tamis_i_value_compact(tamis_i_pages *p, tamis_i_twig *twig, unsigned i, uint64_t used,
                                   bool *some) {
    tamis_i_page_buffer buffer;
    const unsigned char *image;
    tamis_i_page_item item;
    tamis_i_value v;
    tamis_status status = tamis_i_pages_image(p, twig, i, buffer.bytes, &image);
    tamis_i_page_walk walk = {.image = image};
    while (status == TAMIS_OK && tamis_i_page_next(&walk, &item)) {
        if (!item.elsewhere)
            continue;
        if (!tamis_i_value_decode(p, &item, &v))
            return TAMIS_E_FORMAT;
        if (v.block + value_blocks(v.size) <= used || !tamis_i_value_is_owned(p, &v))
            continue;
        const size_t at = (size_t)(item.value - walk.image);
        tamis_i_fresh *fresh;
        status = tamis_i_pages_freshen(p, twig, i, walk.image, &fresh);
        if (status == TAMIS_OK) {
            walk.image = fresh->image;
            status = value_move(p, &v, fresh->image + at, some);
        }
    }
    return status;
}

bool tamis_i_value_any_from(const tamis_i_pages *p, uint64_t block) {
    for (uint64_t b = block; p->large && b < p->n_blocks; b++)
        if ((p->owned[b / 64] >> b % 64 & 1) != 0)
            return true;
    return false;
}
