/* rebuild.c - a table that has seen deletions becomes as good as new, in small steps
 *
 * First every item that is not in the first sub-table is looked at, in order, and moved to the first of its
 * buckets in an earlier sub-table that has a free slot, or that of a deleted item.  Few do: most items are
 * in the first sub-table, and stay there.  Items of the stash move too.
 *
 * A summary that can forget follows each move.  For the others a new one is made beside the old one
 * in a second walk over all slots, in which those of deleted items become free.  Until it is
 * complete the old one answers:
 *
 *  - an item that was moved has an earlier type than the old summary says, which a look allows for;
 *  - a new item is told to both, so that it does not matter whether the walk has passed its slot;
 *  - an item that is deleted after the walk has passed it stays in the new summary, and its slot waits
 *    for the next rebuild.
 *
 * Nothing of this is in the file but the moves, each of which is one entry of the journal.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

/* Read the live item in a slot. */
static tamis_status read_item(const tamis_table *table, unsigned part, uint64_t slot,
                              tamis_i_buffer *buffer, tamis_i_item *item) {
    const unsigned char *const image = tamis_i_store_read(&table->store, part, slot, buffer->bytes);
    if (image == NULL)
        return TAMIS_E_IO;
    return tamis_i_slot_decode(&table->slots, slot, image, item) ? TAMIS_OK : TAMIS_E_FORMAT;
}

/* A slot in a sub-table before 'part', free or of a deleted item. */
static uint64_t earlier(const tamis_table *table, tamis_digest digest, unsigned part,
                        unsigned *level) {
    for (*level = 0; *level < part; ++*level) {
        const uint64_t slot = tamis_i_slots_bucket(&table->slots, digest, *level);
        for (unsigned i = 0; i < table->slots.bucket; i++)
            if (!tamis_i_table_live(table, slot + i))
                return slot + i;
    }
    return TAMIS_I_NO_SLOT;
}

/* Move the item in 'slot', if it can be moved. */
static tamis_status move(tamis_table *table, uint64_t slot) {
    const unsigned part = tamis_i_slots_part(&table->slots, slot);
    tamis_i_buffer buffer;
    tamis_i_item item;
    tamis_status status = read_item(table, part, slot, &buffer, &item);
    if (status != TAMIS_OK)
        return status;
    const tamis_digest digest = tamis_i_table_digest(table, item.key, item.key_size);
    unsigned level;
    const uint64_t to = earlier(table, digest, part, &level);
    if (to == TAMIS_I_NO_SLOT)
        return TAMIS_OK;

    const tamis_i_summary_kind *const kind = table->summary.kind;
    const bool forgets = tamis_i_table_forgets(table);
    const bool from_stash = part == table->slots.n_levels;
    const bool tell = forgets || from_stash;
    if (tell && kind->insert(&table->summary, digest, level) != TAMIS_OK)
        return TAMIS_OK; /* there is no room in the summary: it stays where it is */
    unsigned char image[TAMIS_I_PAGE];
    tamis_i_slot_encode(&table->slots, to, &item, image);
    status = tamis_i_store_write(&table->store, to, image, slot);
    if (status != TAMIS_OK) {
        if (forgets)
            (void)kind->remove(&table->summary, digest, level);
        return status;
    }
    if (from_stash)
        tamis_i_index_remove(&table->index, digest, slot);
    else if (forgets && kind->remove(&table->summary, digest, part) != TAMIS_OK &&
             table->unknown > 0)
        table->unknown--;
    if (table->deleted != NULL && tamis_i_bit_get(table->deleted, to)) {
        tamis_i_bit_clear(table->deleted, to);
        table->n_deleted--;
    }
    tamis_i_bit_set(table->used, to);
    tamis_i_bit_clear(table->used, slot);
    table->part_count[level]++;
    table->part_count[part]--;
    table->counts->moves++;
    return TAMIS_OK;
}

/* Free the slot of a deleted item; tell the new summary of a live one. */
static tamis_status sum(tamis_table *table, uint64_t slot) {
    if (!tamis_i_table_live(table, slot)) {
        tamis_i_bit_clear(table->used, slot);
        tamis_i_bit_clear(table->deleted, slot);
        table->n_deleted--;
        return TAMIS_OK;
    }
    const unsigned part = tamis_i_slots_part(&table->slots, slot);
    tamis_i_buffer buffer;
    tamis_i_item item;
    const tamis_status status = read_item(table, part, slot, &buffer, &item);
    if (status != TAMIS_OK)
        return status;
    return table->rebuild.shadow.kind->insert(
        &table->rebuild.shadow, tamis_i_table_digest(table, item.key, item.key_size), part);
}

static tamis_status begin_summing(tamis_table *table) {
    const tamis_status status = tamis_i_table_new_summary(table, &table->rebuild.shadow);
    if (status != TAMIS_OK)
        return status;
    table->rebuild.phase = TAMIS_I_SUMMING;
    table->rebuild.cursor = 0;
    return TAMIS_OK;
}

static void finish(tamis_table *table) {
    if (table->rebuild.shadow.body != NULL) {
        tamis_i_table_free_summary(table, &table->summary);
        table->summary = table->rebuild.shadow;
        table->rebuild.shadow.body = NULL;
    }
    table->rebuild.phase = TAMIS_I_IDLE;
    table->counts->rebuilds++;
}

void tamis_i_table_stop_rebuild(tamis_table *table) {
    if (table->rebuild.shadow.body != NULL)
        tamis_i_table_free_summary(table, &table->rebuild.shadow);
    table->rebuild.phase = TAMIS_I_IDLE;
}

/* The next slot from 'slot' on that is not free, looking at one word of bits; UINT64_MAX if there is
 * none in it. */
static uint64_t next_in_word(const uint64_t *used, uint64_t slot) {
    const uint64_t rest = used[slot / 64] >> slot % 64;
    return rest == 0 ? UINT64_MAX : slot + (uint64_t)__builtin_ctzll(rest);
}

tamis_status tamis_i_table_rebuild(tamis_table *table, uint64_t max_steps, bool *done) {
    tamis_i_rebuild *const rebuild = &table->rebuild;
    const tamis_i_slots *const slots = &table->slots;
    if (rebuild->phase == TAMIS_I_IDLE) {
        rebuild->phase = TAMIS_I_MOVING;
        rebuild->cursor = slots->first[1];
    }
    for (uint64_t step = 0; step < max_steps && rebuild->phase != TAMIS_I_IDLE; step++) {
        const bool moving = rebuild->phase == TAMIS_I_MOVING;
        const uint64_t end = slots->first[slots->n_levels + (moving ? 1 : 0)];
        tamis_status status = TAMIS_OK;
        if (rebuild->cursor >= end) {
            if (moving && table->deleted != NULL)
                status = begin_summing(table);
            else
                finish(table);
        } else {
            const uint64_t slot = next_in_word(table->used, rebuild->cursor);
            if (slot >= end) {
                rebuild->cursor = rebuild->cursor / 64 * 64 + 64;
                continue;
            }
            if (!moving)
                status = sum(table, slot);
            else if (tamis_i_table_live(table, slot))
                status = move(table, slot);
            if (status == TAMIS_OK)
                rebuild->cursor = slot + 1;
        }
        if (status != TAMIS_OK)
            return status;
    }
    if (done != NULL)
        *done = rebuild->phase == TAMIS_I_IDLE;
    return TAMIS_OK;
}
