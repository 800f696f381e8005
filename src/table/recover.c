/* recover.c - walks over all slots in order: to make fast memory again, to check everything, to list
 * the items
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

/* A walk over all slots, page by page. */
typedef struct walk {
    const tamis_table *table;
    unsigned part;
    uint64_t slot;
    uint64_t page;              /* that 'bytes' shows */
    const unsigned char *bytes; /* NULL: none yet */
    tamis_i_buffer buffer;
} walk;

static void recover_walk_start(walk *w, const tamis_table *table) {
    w->table = table;
    w->part = 0;
    w->slot = 0;
    w->bytes = NULL;
}

/* The image of the slot w->slot, which is in w->part; NULL if it cannot be read. */
static const unsigned char *recover_walk_image(walk *w) {
    const tamis_i_store *const store = &w->table->store;
    const uint64_t place = tamis_i_slots_place(&w->table->slots, w->part, w->slot);
    if (w->bytes == NULL || w->page != place / TAMIS_I_PAGE) {
        w->page = place / TAMIS_I_PAGE;
        w->bytes = tamis_i_store_page(store, w->page, w->buffer.bytes);
    }
    return w->bytes == NULL ? NULL : w->bytes + place % TAMIS_I_PAGE;
}

/* Continue to w->slot, if it is a slot, and set its part. */
static bool recover_walk_on(walk *w) {
    if (w->slot >= tamis_i_slots_count(&w->table->slots))
        return false;
    while (w->slot >= w->table->slots.first[w->part + 1])
        w->part++;
    return true;
}

/* Read an item and check that it belongs in this place (T1, T2). */
static bool recover_belongs(const tamis_table *table, unsigned part, uint64_t slot,
                            const unsigned char *image, tamis_i_item *item, tamis_digest *digest) {
    if (!tamis_i_slot_decode(&table->slots, slot, image, item))
        return false;
    *digest = tamis_i_table_digest(table, item->key, item->key_size);
    if (part == table->slots.n_levels)
        return true;
    const uint64_t bucket = tamis_i_slots_bucket(&table->slots, *digest, part);
    return slot >= bucket && slot < bucket + table->slots.bucket;
}

/* -------------------------------------------------------------------------------------------------
 * Making fast memory again
 */

static tamis_status recover_slot(tamis_table *table, walk *w, bool repair, const char **reason) {
    const unsigned char *const image = recover_walk_image(w);
    tamis_i_item item;
    tamis_digest digest;
    if (image == NULL) {
        *reason = "a slot cannot be read";
        return TAMIS_E_IO;
    }
    if (tamis_i_slot_is_free(&table->slots, image))
        return TAMIS_OK;
    if (!recover_belongs(table, w->part, w->slot, image, &item, &digest)) {
        *reason = "an item is damaged";
        if (!repair)
            return TAMIS_E_FORMAT;
        table->damaged++;
        w->bytes = NULL;
        return tamis_i_store_write(&table->store, w->slot, NULL, TAMIS_I_NO_SLOT);
    }
    tamis_i_bit_set(table->used, w->slot);
    if (w->part == table->slots.n_levels) {
        if (!tamis_i_index_insert(&table->index, digest, w->slot)) {
            *reason = "the stash has too many items in one place";
            return TAMIS_E_FORMAT;
        }
    } else if (table->summary.kind->insert(&table->summary, digest, w->part) != TAMIS_OK) {
        table->unknown++;
    }
    return TAMIS_OK;
}

/* A summary that decides where items are was filled from all items of the sub-tables.  Bring each item where
 * it decides.  A process that was killed here or while it moved items leaves each of them in one of
 * its places, and the next one begins anew.  A file that is only read stays as it is. */
static tamis_status recover_settle(tamis_table *table, const char **reason) {
    walk w;
    for (recover_walk_start(&w, table); recover_walk_on(&w); w.slot++) {
        tamis_i_item item;
        tamis_digest digest;
        if (!tamis_i_table_live(table, w.slot))
            continue;
        const unsigned char *const image = recover_walk_image(&w);
        if (image == NULL || !recover_belongs(table, w.part, w.slot, image, &item, &digest)) {
            *reason = "a slot cannot be read";
            return TAMIS_E_IO;
        }
        if (w.part < table->slots.n_levels &&
            table->summary.kind->ask(&table->summary, digest) == w.part)
            continue;
        const tamis_status status = table->store.read_only
                                        ? TAMIS_E_FULL
                                        : tamis_i_settle_move(table, digest, w.part, w.slot);
        w.bytes = NULL;
        if (status == TAMIS_E_FULL)
            table->unknown += w.part < table->slots.n_levels;
        else if (status != TAMIS_OK) {
            *reason = "an item cannot be moved";
            return status;
        }
    }
    return TAMIS_OK;
}

tamis_status tamis_i_table_recover(tamis_table *table, bool repair, const char **reason) {
    walk w;
    tamis_status status = TAMIS_OK;
    memset(table->used, 0, (size_t)table->n_bit_words * 8);
    if (table->deleted != NULL)
        memset(table->deleted, 0, (size_t)table->n_bit_words * 8);
    memset(table->index.entries, 0, (size_t)table->index.room * sizeof *table->index.entries);
    table->index.used = 0;
    table->unknown = table->damaged = 0;
    tamis_i_summary_clear(&table->summary);
    tamis_i_store_advise(&table->store, true);
    for (recover_walk_start(&w, table); status == TAMIS_OK && recover_walk_on(&w); w.slot++)
        status = recover_slot(table, &w, repair, reason);
    tamis_i_table_recount(table);
    if (status == TAMIS_OK && table->settle != NULL)
        status = recover_settle(table, reason);
    tamis_i_store_advise(&table->store, false);
    table->recovered = true;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Checking
 */

static tamis_status recover_wrong(const char **reason, const char *why) {
    *reason = why;
    return TAMIS_E_FORMAT;
}

/* What a verification counts.  'left' is a copy of a summary that can forget, without the items that were
 * met: it must have had each of them.  If two items shared what is there once, each would be found, until the
 * other is deleted. */
typedef struct checked {
    tamis_i_summary *left; /* NULL: the summary cannot forget */
    uint64_t failures, unknown;
} checked;

/* A live slot: a look must find its item, and find it here.  A key that is in the table twice is found
 * in only one place. */
static tamis_status recover_verify_item(const tamis_table *table, const walk *w,
                                        const unsigned char *image, checked *c,
                                        const char **reason) {
    tamis_i_buffer buffer;
    tamis_i_place place;
    tamis_i_item item;
    tamis_digest digest;
    if (!recover_belongs(table, w->part, w->slot, image, &item, &digest))
        return recover_wrong(reason, "an item is damaged");
    const tamis_status status =
        tamis_i_table_find(table, item.key, item.key_size, digest, &buffer, &place);
    if (status == TAMIS_E_NOT_FOUND)
        return recover_wrong(reason, "the summary does not know an item");
    if (status == TAMIS_E_FORMAT)
        return recover_wrong(reason, "an item is damaged");
    if (status != TAMIS_OK)
        return status;
    if (place.slot != w->slot)
        return recover_wrong(reason, "a key is there twice");
    if (w->part == table->slots.n_levels)
        return TAMIS_OK;
    c->failures += place.told != w->part;
    if (c->left != NULL && c->left->kind->remove(c->left, digest, w->part) != TAMIS_OK &&
        ++c->unknown > table->unknown)
        return recover_wrong(reason, "the summary does not have all items");
    return TAMIS_OK;
}

static tamis_status recover_verify_slots(const tamis_table *table, checked *c,
                                         const char **reason) {
    uint64_t n_deleted = 0, live[TAMIS_I_PARTS_MAX] = {0}, all = 0;
    walk w;
    for (recover_walk_start(&w, table); recover_walk_on(&w); w.slot++) {
        const unsigned char *const image = recover_walk_image(&w);
        if (image == NULL) {
            *reason = "a slot cannot be read";
            return TAMIS_E_IO;
        }
        const bool is_deleted = table->deleted != NULL && tamis_i_bit_get(table->deleted, w.slot);
        n_deleted += is_deleted;
        if (is_deleted && !tamis_i_bit_get(table->used, w.slot))
            return recover_wrong(reason, "a slot is free and deleted at once");
        if (!tamis_i_table_live(table, w.slot)) {
            if (!tamis_i_slot_is_free(&table->slots, image))
                return recover_wrong(reason, "a slot that should be free is not");
            continue;
        }
        const tamis_status status = recover_verify_item(table, &w, image, c, reason);
        if (status != TAMIS_OK)
            return status;
        live[w.part]++;
        all++;
    }
    if (n_deleted != table->n_deleted || all != table->count ||
        memcmp(live, table->part_count, sizeof live) != 0 ||
        table->index.used != live[table->slots.n_levels])
        return recover_wrong(reason, "the counts are wrong");
    return TAMIS_OK;
}

tamis_status tamis_i_table_verify(const tamis_table *table, uint64_t *failures,
                                  const char **reason) {
    checked c = {NULL, 0, 0};
    tamis_i_summary left;
    uint64_t *body = NULL;
    if (!table->summary.kind->check(&table->summary, reason))
        return TAMIS_E_FORMAT;
    if (table->summary.kind->remove != NULL) {
        const size_t size = (size_t)table->summary.n_words * sizeof *body;
        body = tamis_i_alloc(&table->allocator, size);
        if (body == NULL) {
            *reason = tamis_status_text(TAMIS_E_NOMEM);
            return TAMIS_E_NOMEM;
        }
        memcpy(body, table->summary.body, size);
        left = table->summary;
        left.body = body;
        c.left = &left;
    }
    tamis_i_store_advise(&table->store, true);
    const tamis_status status = recover_verify_slots(table, &c, reason);
    tamis_i_store_advise(&table->store, false);
    if (body != NULL)
        tamis_i_free(&table->allocator, body, (size_t)table->summary.n_words * sizeof *body);
    if (status == TAMIS_OK && failures != NULL)
        *failures = c.failures;
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Listing
 */

tamis_status tamis_i_table_next(const tamis_table *table, uint64_t *at, void *key, size_t *key_size,
                                void *value, size_t *value_size) {
    tamis_i_buffer buffer;
    const uint64_t n = tamis_i_slots_count(&table->slots);
    while (*at < n && !tamis_i_table_live(table, *at)) {
        const bool whole = *at % 64 == 0 && table->used[*at / 64] == 0;
        *at += whole ? 64 : 1;
    }
    if (*at >= n)
        return TAMIS_E_NOT_FOUND;
    const uint64_t slot = (*at)++;
    const unsigned part = tamis_i_slots_part(&table->slots, slot);
    const unsigned char *const image = tamis_i_store_read(&table->store, part, slot, buffer.bytes);
    tamis_i_item item;
    if (image == NULL)
        return TAMIS_E_IO;
    if (!tamis_i_slot_decode(&table->slots, slot, image, &item))
        return TAMIS_E_FORMAT;
    memcpy(key, item.key, item.key_size);
    *key_size = item.key_size;
    if (value != NULL)
        memcpy(value, item.value, item.value_size);
    *value_size = item.value_size;
    return TAMIS_OK;
}
