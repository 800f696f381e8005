/* rebuild.c - make a table as good as new after deletions, in small steps
 *
 * First every item that is not in the first sub-table is examined, in order.  It moves to the first of
 * its buckets in an earlier sub-table that has a free slot or one of a deleted item.  Few items move:
 * most are in the first sub-table, and stay there.  Items of the stash move too.
 *
 * A summary that can forget follows each move.  For the others a new one is made beside the old one, in
 * a second walk over all slots that also frees those of deleted items.  Until the new one is complete
 * the old one answers:
 *
 *  - a moved item has an earlier type than the old summary says, which a look allows for;
 *  - a new item goes into both, so it does not matter whether the walk has passed its slot;
 *  - an item that is deleted after the walk passed it stays in the new summary, and its slot waits
 *    for the next rebuild.
 *
 * Only the moves are in the file, each as one entry of the journal.  They are decided one after the
 * other and made in groups, to save syncs.  A group ends with the sub-table, because the slots that its
 * moves free are useful only to items of later sub-tables.  It also ends with the call.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

/* Read the live item in a slot. */
static tamis_status rebuild_read_item(const tamis_table *table, unsigned part, uint64_t slot,
                                      tamis_i_buffer *buffer, tamis_i_item *item) {
    const unsigned char *const image = tamis_i_store_read(&table->store, part, slot, buffer->bytes);
    if (image == NULL)
        return TAMIS_E_IO;
    return tamis_i_slot_decode(&table->slots, slot, image, item) ? TAMIS_OK : TAMIS_E_FORMAT;
}

static bool rebuild_is_taken(const tamis_i_rebuild *rebuild, uint64_t slot) {
    for (unsigned i = 0; i < rebuild->n_moves; i++)
        if (rebuild->moves[i].to == slot)
            return true;
    return false;
}

/* A slot in a sub-table before 'part' that is free or has a deleted item. */
static uint64_t rebuild_earlier(const tamis_table *table, tamis_digest digest, unsigned part,
                                unsigned *level) {
    for (*level = 0; *level < part; ++*level) {
        const uint64_t slot = tamis_i_slots_bucket(&table->slots, digest, *level);
        for (unsigned i = 0; i < table->slots.bucket; i++)
            if (!tamis_i_table_live(table, slot + i) &&
                !rebuild_is_taken(&table->rebuild, slot + i))
                return slot + i;
    }
    return TAMIS_I_NO_SLOT;
}

/* Fast memory follows a move. */
static void rebuild_follow(tamis_table *table, const tamis_i_table_move *move) {
    const tamis_i_summary_kind *const kind = table->summary.kind;
    if (move->part == table->slots.n_levels)
        tamis_i_index_remove(&table->index, move->digest, move->from);
    else if (tamis_i_table_forgets(table) &&
             kind->remove(&table->summary, move->digest, move->part) != TAMIS_OK &&
             table->unknown > 0)
        table->unknown--;
    if (table->deleted != NULL && tamis_i_bit_get(table->deleted, move->to)) {
        tamis_i_bit_clear(table->deleted, move->to);
        table->n_deleted--;
    }
    tamis_i_bit_set(table->used, move->to);
    tamis_i_bit_clear(table->used, move->from);
    table->part_count[move->level]++;
    table->part_count[move->part]--;
    table->counts->moves++;
}

/* Make the moves that are decided.  Those that fail have not been made, and the summary forgets them if
 * it can. */
static tamis_status rebuild_make_moves(tamis_table *table) {
    tamis_i_rebuild *const rebuild = &table->rebuild;
    tamis_i_store_change writes[TAMIS_I_JOURNAL_GROUP];
    size_t done = 0;
    if (rebuild->moves == NULL || rebuild->n_moves == 0)
        return TAMIS_OK;
    for (unsigned i = 0; i < rebuild->n_moves; i++)
        writes[i] = (tamis_i_store_change){.slot = rebuild->moves[i].to,
                                           .image = rebuild->images + i * table->slots.slot_size,
                                           .cleared = rebuild->moves[i].from};
    const tamis_status status =
        tamis_i_store_write_group(&table->store, writes, rebuild->n_moves, &done);
    for (unsigned i = 0; i < rebuild->n_moves; i++) {
        const tamis_i_table_move *const move = rebuild->moves + i;
        if (i < done)
            rebuild_follow(table, move);
        else if (tamis_i_table_forgets(table))
            (void)table->summary.kind->remove(&table->summary, move->digest, move->level);
    }
    rebuild->n_moves = 0;
    return status;
}

/* Decide whether the item in 'slot' can be moved, and where. */
static tamis_status rebuild_decide(tamis_table *table, uint64_t slot) {
    tamis_i_rebuild *const rebuild = &table->rebuild;
    const unsigned part = tamis_i_slots_part(&table->slots, slot);
    tamis_i_buffer buffer;
    tamis_i_item item;
    if (rebuild->n_moves == TAMIS_I_JOURNAL_GROUP ||
        (rebuild->n_moves > 0 && rebuild->moves[0].part != part)) {
        const tamis_status status = rebuild_make_moves(table);
        if (status != TAMIS_OK)
            return status;
    }
    const tamis_status status = rebuild_read_item(table, part, slot, &buffer, &item);
    if (status != TAMIS_OK)
        return status;
    const tamis_digest digest = tamis_i_table_digest(table, item.key, item.key_size);
    unsigned level;
    const uint64_t to = rebuild_earlier(table, digest, part, &level);
    if (to == TAMIS_I_NO_SLOT)
        return TAMIS_OK;
    /* A summary that forgets gets the new type now and loses the old one with the move.  If it has no
     * room, the item stays where it is. */
    const bool tell = tamis_i_table_forgets(table) || part == table->slots.n_levels;
    if (tell && table->summary.kind->insert(&table->summary, digest, level) != TAMIS_OK)
        return TAMIS_OK;
    tamis_i_slot_encode(&table->slots, to, &item,
                        rebuild->images + rebuild->n_moves * table->slots.slot_size);
    rebuild->moves[rebuild->n_moves++] = (tamis_i_table_move){
        .from = slot, .to = to, .part = part, .level = level, .digest = digest};
    return TAMIS_OK;
}

/* Free the slot of a deleted item; tell the new summary of a live one. */
static tamis_status rebuild_sum(tamis_table *table, uint64_t slot) {
    if (!tamis_i_table_live(table, slot)) {
        tamis_i_bit_clear(table->used, slot);
        tamis_i_bit_clear(table->deleted, slot);
        table->n_deleted--;
        return TAMIS_OK;
    }
    const unsigned part = tamis_i_slots_part(&table->slots, slot);
    tamis_i_buffer buffer;
    tamis_i_item item;
    const tamis_status status = rebuild_read_item(table, part, slot, &buffer, &item);
    if (status != TAMIS_OK)
        return status;
    return table->rebuild.shadow.kind->insert(
        &table->rebuild.shadow, tamis_i_table_digest(table, item.key, item.key_size), part);
}

static size_t rebuild_moves_size(const tamis_table *table) {
    return TAMIS_I_JOURNAL_GROUP * (sizeof(tamis_i_table_move) + table->slots.slot_size);
}

static tamis_status rebuild_begin_moving(tamis_table *table) {
    tamis_i_rebuild *const rebuild = &table->rebuild;
    unsigned char *const block = tamis_i_alloc(&table->allocator, rebuild_moves_size(table));
    if (block == NULL)
        return TAMIS_E_NOMEM;
    rebuild->moves = (void *)block;
    rebuild->images = block + TAMIS_I_JOURNAL_GROUP * sizeof(tamis_i_table_move);
    rebuild->n_moves = 0;
    rebuild->phase = TAMIS_I_MOVING;
    rebuild->cursor = table->slots.first[1];
    return TAMIS_OK;
}

static void rebuild_end_moving(tamis_table *table) {
    tamis_i_free(&table->allocator, table->rebuild.moves, rebuild_moves_size(table));
    table->rebuild.moves = NULL;
}

static tamis_status rebuild_begin_summing(tamis_table *table) {
    const tamis_status status = tamis_i_table_new_summary(table, &table->rebuild.shadow);
    if (status != TAMIS_OK)
        return status;
    rebuild_end_moving(table);
    table->rebuild.phase = TAMIS_I_SUMMING;
    table->rebuild.cursor = 0;
    return TAMIS_OK;
}

static void rebuild_finish(tamis_table *table) {
    if (table->rebuild.shadow.body != NULL) {
        tamis_i_table_free_summary(table, &table->summary);
        table->summary = table->rebuild.shadow;
        table->rebuild.shadow.body = NULL;
    }
    rebuild_end_moving(table);
    table->rebuild.phase = TAMIS_I_IDLE;
    table->counts->rebuilds++;
}

void tamis_i_table_stop_rebuild(tamis_table *table) {
    if (table->rebuild.shadow.body != NULL)
        tamis_i_table_free_summary(table, &table->rebuild.shadow);
    rebuild_end_moving(table);
    table->rebuild.phase = TAMIS_I_IDLE;
}

/* The next slot from 'slot' on that is not free, looking at one word of bits; UINT64_MAX if there is
 * none in it. */
static uint64_t rebuild_next_in_word(const uint64_t *used, uint64_t slot) {
    const uint64_t rest = used[slot / 64] >> slot % 64;
    return rest == 0 ? UINT64_MAX : slot + (uint64_t)__builtin_ctzll(rest);
}

/* One step. */
static tamis_status rebuild_step(tamis_table *table) {
    tamis_i_rebuild *const rebuild = &table->rebuild;
    const tamis_i_slots *const slots = &table->slots;
    const bool moving = rebuild->phase == TAMIS_I_MOVING;
    const uint64_t end = slots->first[slots->n_levels + (moving ? 1 : 0)];
    if (rebuild->cursor >= end) {
        tamis_status status = moving ? rebuild_make_moves(table) : TAMIS_OK;
        if (status == TAMIS_OK && moving && table->deleted != NULL)
            status = rebuild_begin_summing(table);
        else if (status == TAMIS_OK)
            rebuild_finish(table);
        return status;
    }
    const uint64_t slot = rebuild_next_in_word(table->used, rebuild->cursor);
    if (slot >= end) {
        rebuild->cursor = rebuild->cursor / 64 * 64 + 64;
        return TAMIS_OK;
    }
    tamis_status status = TAMIS_OK;
    if (!moving)
        status = rebuild_sum(table, slot);
    else if (tamis_i_table_live(table, slot))
        status = rebuild_decide(table, slot);
    if (status == TAMIS_OK)
        rebuild->cursor = slot + 1;
    return status;
}

/* No move is left undone when the call returns, because a look must find the item where it is. */
tamis_status tamis_i_table_rebuild(tamis_table *table, uint64_t max_steps, bool *done) {
    tamis_i_rebuild *const rebuild = &table->rebuild;
    tamis_status status = TAMIS_OK;
    if (table->settle != NULL) { /* nothing was deleted, and all are where the summary decides */
        if (done != NULL)
            *done = true;
        return TAMIS_OK;
    }
    if (rebuild->phase == TAMIS_I_IDLE)
        status = rebuild_begin_moving(table);
    for (uint64_t i = 0; i < max_steps && status == TAMIS_OK; i++) {
        status = rebuild_step(table);
        if (rebuild->phase == TAMIS_I_IDLE)
            break;
    }
    if (rebuild->n_moves > 0) {
        const tamis_status made = rebuild_make_moves(table);
        status = status == TAMIS_OK ? made : status;
    }
    if (status == TAMIS_OK && done != NULL)
        *done = rebuild->phase == TAMIS_I_IDLE;
    return status;
}
