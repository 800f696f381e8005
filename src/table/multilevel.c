/* multilevel.c - find, put and delete in a multilevel hash table
 *
 * A key has one bucket in each sub-table.  A new item goes to the first that has a free slot.  Most go
 * to the first sub-table, far fewer to the second, and so on, so a few sub-tables are enough.  An item
 * that finds no free slot is a crisis and goes to the stash.
 *
 * Which places must a look read?  The summary names a type for every item of a sub-table, so "none" is
 * certain.  The index of the stash is exact.  When a type is named, its bucket is read, unless the bits
 * say that it has no item.  If the key is not there, it was a false positive or a failure.  With the
 * filters ('single', 'multiple' and their counting forms) the named type is never below the true one:
 * later items only raise cells, and a rebuild moves items to earlier sub-tables, which only lowers
 * types.  So only the sub-tables before the named one remain to be read, the nearest first.  For
 * 'interpolation' all others remain.  A false positive nearly always names the first sub-table, where
 * nothing remains: a miss costs no more reads than the summary has false positives.
 *
 * A summary that decides where items are ('song') is never wrong: settle.c.  Only the named place is read.
 *
 * If the summary already gives a type to a new key, the key is put there if possible, even in the slot of
 * a deleted item.  Then the summary is right about it and need not change.  A key that is deleted and put
 * again leaves no trace, and an item that would otherwise be a failure from the beginning is not.
 *
 * After Broder and Karlin, "Multilevel Adaptive Hashing", SODA 1990, and Kirsch and Mitzenmacher, "Simple
 * Summaries for Hashing With Choices", IEEE/ACM Transactions on Networking 16(1), 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

#include "hash/hash.h"

tamis_digest tamis_i_table_digest(const tamis_table *table, const void *key, size_t key_size) {
    return tamis_i_hasher_bytes(&table->hasher, key, key_size);
}

/* -------------------------------------------------------------------------------------------------
 * Finding
 */

/* Look at the live slots among 'n' slots of one bucket.  TAMIS_E_NOT_FOUND. */
static tamis_status table_look(const tamis_table *table, const void *key, size_t key_size,
                               unsigned part, uint64_t slot, unsigned n, tamis_i_buffer *buffer,
                               tamis_i_place *place) {
    const unsigned char *image = NULL;
    for (unsigned i = 0; i < n; i++) {
        if (!tamis_i_table_live(table, slot + i))
            continue;
        if (image == NULL) {
            image = tamis_i_store_read(&table->store, part, slot, buffer->bytes);
            if (image == NULL)
                return TAMIS_E_IO;
            place->reads++;
        }
        if (!tamis_i_slot_decode(&table->slots, slot + i, image + i * table->slots.slot_size,
                                 &place->item))
            return TAMIS_E_FORMAT;
        if (place->item.key_size == key_size &&
            (key_size == 0 || memcmp(place->item.key, key, key_size) == 0)) {
            place->slot = slot + i;
            place->part = part;
            return TAMIS_OK;
        }
    }
    return TAMIS_E_NOT_FOUND;
}

static tamis_status table_look_in_level(const tamis_table *table, const void *key, size_t key_size,
                                        tamis_digest digest, unsigned level, tamis_i_buffer *buffer,
                                        tamis_i_place *place) {
    return table_look(table, key, key_size, level,
                      tamis_i_slots_bucket(&table->slots, digest, level), table->slots.bucket,
                      buffer, place);
}

static tamis_status table_look_in_stash(const tamis_table *table, const void *key, size_t key_size,
                                        tamis_digest digest, tamis_i_buffer *buffer,
                                        tamis_i_place *place) {
    uint64_t at = tamis_i_index_start(&table->index, digest), slot;
    while ((slot = tamis_i_index_next(&table->index, digest, &at)) != TAMIS_I_NO_SLOT) {
        const tamis_status status =
            table_look(table, key, key_size, table->slots.n_levels, slot, 1, buffer, place);
        if (status != TAMIS_E_NOT_FOUND)
            return status;
    }
    return TAMIS_E_NOT_FOUND;
}

/* Is the true type of an item never above the named one? */
static bool table_never_low(const tamis_table *table) {
    return table->summary.kind->id != TAMIS_I_SUMMARY_INTERPOLATION && table->unknown == 0;
}

tamis_status tamis_i_table_find(const tamis_table *table, const void *key, size_t key_size,
                                tamis_digest digest, tamis_i_buffer *buffer, tamis_i_place *place) {
    tamis_status status = TAMIS_E_NOT_FOUND;
    place->reads = 0;
    place->told = table->summary.kind->ask(&table->summary, digest);
    if (table->index.used != 0) {
        status = table_look_in_stash(table, key, key_size, digest, buffer, place);
        if (status != TAMIS_E_NOT_FOUND)
            return status;
    }
    const unsigned n = table->slots.n_levels;
    const bool none = place->told == TAMIS_I_SUMMARY_NONE;
    if (none && table->unknown == 0)
        return TAMIS_E_NOT_FOUND;
    if (table->settle != NULL && table->unknown == 0)
        return table_look_in_level(table, key, key_size, digest, place->told, buffer, place);
    const unsigned first = none ? n - 1 : place->told;
    for (unsigned i = first + 1; i-- > 0 && status == TAMIS_E_NOT_FOUND;)
        status = table_look_in_level(table, key, key_size, digest, i, buffer, place);
    if (!table_never_low(table))
        for (unsigned i = first + 1; i < n && status == TAMIS_E_NOT_FOUND; i++)
            status = table_look_in_level(table, key, key_size, digest, i, buffer, place);
    return status;
}

/* There may be several readers: see tamis_i_counts. */
static void table_count(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static void table_count_failure(const tamis_table *table, const tamis_i_place *place) {
    if (place->part != place->told && place->part != table->slots.n_levels)
        table_count(&table->counts->failures, 1);
}

tamis_status tamis_i_table_get(const tamis_table *table, const void *key, size_t key_size,
                               void *value, size_t room, size_t *value_size) {
    tamis_i_buffer buffer;
    tamis_i_place place;
    const tamis_status status = tamis_i_table_find(
        table, key, key_size, tamis_i_table_digest(table, key, key_size), &buffer, &place);
    if (status == TAMIS_E_NOT_FOUND) {
        table_count(&table->counts->misses, 1);
        if (place.reads != 0)
            table_count(&table->counts->miss_reads, place.reads);
        if (place.told != TAMIS_I_SUMMARY_NONE)
            table_count(&table->counts->false_positives, 1);
    }
    if (status != TAMIS_OK)
        return status;
    table_count(&table->counts->hits, 1);
    table_count(&table->counts->hit_reads, place.reads);
    table_count_failure(table, &place);
    if (value_size != NULL)
        *value_size = place.item.value_size;
    if (value == NULL)
        return TAMIS_OK;
    if (place.item.value_size > room)
        return TAMIS_E_TOO_LARGE;
    memcpy(value, place.item.value, place.item.value_size);
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Putting
 */

/* The first free slot of the bucket or, if 'deleted', the first one of a deleted item. */
static uint64_t table_room_in(const tamis_table *table, tamis_digest digest, unsigned level,
                              bool deleted) {
    const uint64_t slot = tamis_i_slots_bucket(&table->slots, digest, level);
    for (unsigned i = 0; i < table->slots.bucket; i++)
        if (deleted ? table->deleted != NULL && tamis_i_bit_get(table->deleted, slot + i)
                    : !tamis_i_bit_get(table->used, slot + i))
            return slot + i;
    return TAMIS_I_NO_SLOT;
}

/* The slot of a sub-table for a new item: at the named type or after it, else anywhere, else, to avoid
 * a crisis, in place of a deleted item. */
static uint64_t table_choose(const tamis_table *table, tamis_digest digest, unsigned told,
                             unsigned *level) {
    const unsigned n = table->slots.n_levels;
    const unsigned first = told == TAMIS_I_SUMMARY_NONE || !table_never_low(table) ? 0 : told;
    uint64_t slot = TAMIS_I_NO_SLOT;
    for (unsigned i = 0; i < n && slot == TAMIS_I_NO_SLOT; i++) {
        *level = first + i < n ? first + i : n - 1 - i;
        slot = table_room_in(table, digest, *level, false);
        if (slot == TAMIS_I_NO_SLOT && *level == told)
            slot = table_room_in(table, digest, *level, true);
    }
    for (unsigned i = 0; i < n && slot == TAMIS_I_NO_SLOT; i++) {
        *level = i;
        slot = table_room_in(table, digest, i, true);
    }
    return slot;
}

uint64_t tamis_i_table_stash_room(const tamis_table *table) {
    const unsigned n = table->slots.n_levels;
    if (table->part_count[n] == table->params.stash)
        return TAMIS_I_NO_SLOT;
    uint64_t slot = table->slots.first[n];
    while (slot < table->slots.first[n + 1]) {
        if (slot % 64 == 0 && table->used[slot / 64] == UINT64_MAX)
            slot += 64;
        else if (tamis_i_bit_get(table->used, slot))
            slot++;
        else
            return slot;
    }
    return TAMIS_I_NO_SLOT;
}

static tamis_status table_write_item(tamis_table *table, uint64_t slot, const tamis_i_item *item) {
    unsigned char image[TAMIS_I_PAGE];
    tamis_i_slot_encode(&table->slots, slot, item, image);
    return tamis_i_store_write(&table->store, slot, image, TAMIS_I_NO_SLOT);
}

/* Tell the summary, and the new one of a rebuild.  TAMIS_E_FULL, with nothing changed.  The new one has
 * the same size, but only summaries that are never full have one. */
static tamis_status table_announce(tamis_table *table, tamis_digest digest, unsigned level) {
    const tamis_status status = table->summary.kind->insert(&table->summary, digest, level);
    if (status == TAMIS_OK && table->rebuild.shadow.body != NULL)
        return table->rebuild.shadow.kind->insert(&table->rebuild.shadow, digest, level);
    return status;
}

static void table_occupy(tamis_table *table, unsigned part, uint64_t slot) {
    if (table->deleted != NULL && tamis_i_bit_get(table->deleted, slot)) {
        tamis_i_bit_clear(table->deleted, slot);
        table->n_deleted--;
    }
    tamis_i_bit_set(table->used, slot);
    table->part_count[part]++;
    table->count++;
}

static tamis_status table_put_in_stash(tamis_table *table, tamis_digest digest,
                                       const tamis_i_item *item) {
    const unsigned part = table->slots.n_levels;
    const uint64_t slot = tamis_i_table_stash_room(table);
    if (slot == TAMIS_I_NO_SLOT || !tamis_i_index_insert(&table->index, digest, slot))
        return TAMIS_E_FULL;
    const tamis_status status = table_write_item(table, slot, item);
    if (status != TAMIS_OK) {
        tamis_i_index_remove(&table->index, digest, slot);
        return status;
    }
    table_occupy(table, part, slot);
    table->counts->crises++;
    return TAMIS_OK;
}

static tamis_status table_put_new(tamis_table *table, tamis_digest digest, unsigned told,
                                  const tamis_i_item *item) {
    if (table->settle != NULL) {
        const tamis_status status = tamis_i_settle_put(table, digest, item);
        return status == TAMIS_E_FULL ? table_put_in_stash(table, digest, item) : status;
    }
    unsigned level;
    const uint64_t slot = table_choose(table, digest, told, &level);
    if (slot == TAMIS_I_NO_SLOT || table_announce(table, digest, level) != TAMIS_OK)
        return table_put_in_stash(table, digest, item);
    const tamis_status status = table_write_item(table, slot, item);
    if (status != TAMIS_OK) {
        /* A summary that cannot forget keeps a false positive. */
        if (tamis_i_table_forgets(table))
            (void)table->summary.kind->remove(&table->summary, digest, level);
        return status;
    }
    table_occupy(table, level, slot);
    return TAMIS_OK;
}

tamis_status tamis_i_table_put(tamis_table *table, const tamis_i_item *item, bool *added) {
    tamis_i_buffer buffer;
    tamis_i_place place;
    const tamis_digest digest = tamis_i_table_digest(table, item->key, item->key_size);
    tamis_status status =
        tamis_i_table_find(table, item->key, item->key_size, digest, &buffer, &place);
    table->counts->change_reads += place.reads;
    const bool found = status == TAMIS_OK;
    if (found) {
        table_count_failure(table, &place);
        status = table_write_item(table, place.slot, item);
    } else if (status == TAMIS_E_NOT_FOUND) {
        status = table_put_new(table, digest, place.told, item);
    }
    if (status != TAMIS_OK)
        return status;
    table->counts->updates += found;
    table->counts->puts += !found;
    if (added != NULL)
        *added = !found;
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Deleting
 */

tamis_status tamis_i_table_delete(tamis_table *table, const void *key, size_t key_size) {
    tamis_i_buffer buffer;
    tamis_i_place place;
    if (table->settle != NULL)
        return TAMIS_E_UNSUPPORTED;
    const tamis_digest digest = tamis_i_table_digest(table, key, key_size);
    tamis_status status = tamis_i_table_find(table, key, key_size, digest, &buffer, &place);
    table->counts->change_reads += place.reads;
    if (status != TAMIS_OK)
        return status;
    status = tamis_i_store_write(&table->store, place.slot, NULL, TAMIS_I_NO_SLOT);
    if (status != TAMIS_OK)
        return status;
    table_count_failure(table, &place);
    if (place.part == table->slots.n_levels) {
        tamis_i_index_remove(&table->index, digest, place.slot);
        tamis_i_bit_clear(table->used, place.slot);
    } else if (tamis_i_table_forgets(table)) {
        /* Not found: it is one of the items that the summary had no room for. */
        if (table->summary.kind->remove(&table->summary, digest, place.part) != TAMIS_OK &&
            table->unknown > 0)
            table->unknown--;
        tamis_i_bit_clear(table->used, place.slot);
    } else {
        tamis_i_bit_set(table->deleted, place.slot);
        table->n_deleted++;
    }
    table->part_count[place.part]--;
    table->count--;
    table->counts->deletes++;
    return TAMIS_OK;
}
