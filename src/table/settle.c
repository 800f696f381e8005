/* settle.c - tables whose summary decides where an item is: the scheme of Song and others
 *
 * The summary has a counter for each bucket (summary_song.c), and an item is in the one of its buckets whose
 * counter is smallest.  A look reads that bucket and no other.
 *
 * Putting.  A new item raises the counters of its buckets.  An item in one of these may now have a smaller
 * counter elsewhere, and must move; others are not affected, since counters that rise elsewhere are no
 * reason to leave.  So all items in the buckets of the new one are read.  If a bucket would get more items
 * than it has slots, its counter is raised once more, for no item: some of them then find a smaller one
 * elsewhere.  This is the heuristic of Song and others, and it is repeated for the buckets to which they
 * go.  Raised counters are nonzero already, so it makes no false positives.  If RAISES of them do not
 * help, all counters are lowered again and the new item goes to the stash.  It raises no counter while it is
 * there.
 *
 * Order.  Moves go to the journal one after the other, each as one entry: an item is in its new slot and not
 * in its old one any more, or neither.  A move into a slot that another leaves comes after that one's.  If
 * they wait for each other in a circle, the put is a crisis as well.
 *
 * Why nothing is lost.  However many of its entries a killed put has made, each item is in the table once, in
 * one of its own buckets.  Where it should be depends on the counters, which are not in the journal.  When
 * the table is opened they are made again from the items alone, without what was raised for no item,
 * and each item that is not where they say is moved (recover.c), by the same steps.  An item for which there
 * is no way stays where it is; it is counted as 'unknown', and looks then search all buckets of a key.
 *
 * Items cannot be deleted: to lower the counters of the item would send others back, and which ones they are
 * is not known.
 *
 * After Song, Dharmapurikar, Turner and Lockwood, "Fast Hash Table Lookup Using Extended Bloom Filter",
 * SIGCOMM 2005.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

#define ITEMS_MAX TAMIS_I_JOURNAL_GROUP
#define RAISES    32u /* for no item, by one put */

typedef struct settle_item {
    tamis_digest digest;
    uint64_t from;  /* its slot; TAMIS_I_NO_SLOT: it is new */
    unsigned part;  /* of that slot */
    unsigned level; /* where it goes, and the first slot of its bucket there */
    uint64_t bucket;
    uint64_t to;          /* its slot in that bucket */
    unsigned char *image; /* a slot: as it was, then as it is written */
} settle_item;

struct tamis_i_settle {
    unsigned n_items, n_raised;
    settle_item items[ITEMS_MAX]; /* that have a place to go to */
    struct {
        tamis_digest digest;
        unsigned type;
    } raised[TAMIS_TABLE_LEVELS_MAX + RAISES]; /* counters, each by one */
    tamis_i_store_change writes[ITEMS_MAX];
    unsigned char images[];
};

uint64_t tamis_i_settle_size(const tamis_i_slots *slots) {
    const uint64_t size = sizeof(tamis_i_settle) + (uint64_t)ITEMS_MAX * slots->slot_size;
    return (size + 7) / 8 * 8;
}

static void settle_begin(const tamis_table *table) {
    tamis_i_settle *const s = table->settle;
    s->n_items = s->n_raised = 0;
    for (unsigned i = 0; i < ITEMS_MAX; i++)
        s->items[i].image = s->images + i * table->slots.slot_size;
}

/* -------------------------------------------------------------------------------------------------
 * Counters
 */

static unsigned settle_ask(const tamis_table *table, tamis_digest digest) {
    return table->summary.kind->ask(&table->summary, digest);
}

/* Raise a counter.  False if it has its largest value. */
static bool settle_raise(tamis_table *table, tamis_digest digest, unsigned type) {
    tamis_i_settle *const s = table->settle;
    if (!tamis_i_summary_song_raise(&table->summary, digest, type))
        return false;
    s->raised[s->n_raised].digest = digest;
    s->raised[s->n_raised++].type = type;
    return true;
}

static void settle_undo(tamis_table *table) {
    tamis_i_settle *const s = table->settle;
    while (s->n_raised > 0) {
        s->n_raised--;
        tamis_i_summary_song_lower(&table->summary, s->raised[s->n_raised].digest,
                                   s->raised[s->n_raised].type);
    }
}

/* -------------------------------------------------------------------------------------------------
 * Who goes where
 */

static bool settle_leaves(const tamis_i_settle *s, uint64_t slot) {
    for (unsigned i = 0; i < s->n_items; i++)
        if (s->items[i].from == slot)
            return true;
    return false;
}

/* Add an item that is in a slot, unless it is new.  TAMIS_E_FULL. */
static tamis_status settle_add(const tamis_table *table, tamis_digest digest, unsigned part,
                               uint64_t from, const unsigned char *image) {
    tamis_i_settle *const s = table->settle;
    if (s->n_items == ITEMS_MAX)
        return TAMIS_E_FULL;
    settle_item *const item = s->items + s->n_items++;
    item->digest = digest;
    item->part = part;
    item->from = from;
    if (image != NULL)
        memcpy(item->image, image, table->slots.slot_size);
    return TAMIS_OK;
}

/* Find the items that must leave the bucket that a key has in a sub-table. */
static tamis_status settle_gather(tamis_table *table, tamis_digest key, unsigned level) {
    const tamis_i_slots *const slots = &table->slots;
    const uint64_t bucket = tamis_i_slots_bucket(slots, key, level);
    const unsigned char *image = NULL;
    tamis_i_buffer buffer;
    for (unsigned i = 0; i < slots->bucket; i++) {
        const uint64_t slot = bucket + i;
        if (!tamis_i_table_live(table, slot) || settle_leaves(table->settle, slot))
            continue;
        if (image == NULL) {
            image = tamis_i_store_read(&table->store, level, bucket, buffer.bytes);
            if (image == NULL)
                return TAMIS_E_IO;
            table->counts->change_reads++;
        }
        const unsigned char *const own = image + i * slots->slot_size;
        tamis_i_item item;
        if (!tamis_i_slot_decode(slots, slot, own, &item))
            return TAMIS_E_FORMAT;
        const tamis_digest digest = tamis_i_table_digest(table, item.key, item.key_size);
        const unsigned told = settle_ask(table, digest);
        /* A file can have any checksum: what is in it is not trusted. */
        if (tamis_i_slots_bucket(slots, digest, level) != bucket || told == TAMIS_I_SUMMARY_NONE)
            return TAMIS_E_FORMAT;
        if (told != level) {
            const tamis_status status = settle_add(table, digest, level, slot, own);
            if (status != TAMIS_OK)
                return status;
        }
    }
    return TAMIS_OK;
}

/* Ask again where the items go.  One that can stay where it is does. */
static void settle_ask_all(const tamis_table *table) {
    tamis_i_settle *const s = table->settle;
    for (unsigned i = 0; i < s->n_items;) {
        settle_item *const item = s->items + i;
        item->level = settle_ask(table, item->digest);
        if (item->from != TAMIS_I_NO_SLOT && item->level == item->part) {
            const settle_item gone = *item; /* the images change places with the items */
            *item = s->items[--s->n_items];
            s->items[s->n_items] = gone;
            continue;
        }
        item->bucket = tamis_i_slots_bucket(&table->slots, item->digest, item->level);
        i++;
    }
}

/* Would the bucket that this item goes to have more items than slots? */
static bool settle_is_crowded(const tamis_table *table, uint64_t bucket) {
    const tamis_i_settle *const s = table->settle;
    unsigned load = 0;
    for (unsigned i = 0; i < table->slots.bucket; i++)
        load += tamis_i_table_live(table, bucket + i) && !settle_leaves(s, bucket + i);
    for (unsigned i = 0; i < s->n_items; i++)
        load += s->items[i].bucket == bucket;
    return load > table->slots.bucket;
}

/* Find a place for every item, raising counters where there are too many.  TAMIS_E_FULL.  Each round adds an
 * item or raises a counter, so it ends. */
static tamis_status settle_resolve(tamis_table *table) {
    tamis_i_settle *const s = table->settle;
    for (unsigned raises = 0;;) {
        unsigned i = 0;
        settle_ask_all(table);
        while (i < s->n_items && !settle_is_crowded(table, s->items[i].bucket))
            i++;
        if (i == s->n_items)
            return TAMIS_OK;
        const tamis_digest digest = s->items[i].digest;
        const unsigned level = s->items[i].level, before = s->n_items;
        /* after a crash there may be items that should not be in that bucket anyway */
        tamis_status status = settle_gather(table, digest, level);
        if (status == TAMIS_OK && s->n_items == before) {
            if (raises++ == RAISES || !settle_raise(table, digest, level))
                return TAMIS_E_FULL;
            status = settle_gather(table, digest, level);
        }
        if (status != TAMIS_OK)
            return status;
    }
}

/* -------------------------------------------------------------------------------------------------
 * Moving
 */

/* A free slot for an item, when the first 'done' have moved; TAMIS_I_NO_SLOT. */
static uint64_t settle_room(const tamis_table *table, const settle_item *item, unsigned done) {
    const tamis_i_settle *const s = table->settle;
    for (unsigned i = 0; i < table->slots.bucket; i++) {
        const uint64_t slot = item->bucket + i;
        bool used = tamis_i_bit_get(table->used, slot);
        for (unsigned j = 0; j < done; j++)
            used = s->items[j].to == slot || (used && s->items[j].from != slot);
        if (!used)
            return slot;
    }
    return TAMIS_I_NO_SLOT;
}

/* Bring the items into an order in which each finds its slot free.  False if there is none. */
static bool settle_order(const tamis_table *table) {
    tamis_i_settle *const s = table->settle;
    for (unsigned done = 0; done < s->n_items; done++) {
        unsigned i = done;
        while (i < s->n_items && settle_room(table, s->items + i, done) == TAMIS_I_NO_SLOT)
            i++;
        if (i == s->n_items)
            return false;
        const settle_item next = s->items[i];
        s->items[i] = s->items[done];
        s->items[done] = next;
        s->items[done].to = settle_room(table, &next, done);
    }
    return true;
}

/* Fast memory follows an item. */
static void settle_follow(tamis_table *table, const settle_item *item) {
    if (item->from == TAMIS_I_NO_SLOT) {
        table->count++;
    } else {
        if (item->part == table->slots.n_levels)
            tamis_i_index_remove(&table->index, item->digest, item->from);
        tamis_i_bit_clear(table->used, item->from);
        table->part_count[item->part]--;
        table->counts->moves++;
    }
    tamis_i_bit_set(table->used, item->to);
    table->part_count[item->level]++;
}

/* Write the items to their slots; 'added' is the new one.  TAMIS_E_FULL.  After TAMIS_E_IO some have been
 * moved: looks must search everywhere. */
static tamis_status settle_write(tamis_table *table, const tamis_i_item *added) {
    tamis_i_settle *const s = table->settle;
    if (!settle_order(table))
        return TAMIS_E_FULL;
    if (s->n_items == 0) /* raising counters was enough */
        return TAMIS_OK;
    for (unsigned i = 0; i < s->n_items; i++) {
        const settle_item *const item = s->items + i;
        unsigned char image[TAMIS_I_PAGE];
        tamis_i_item own;
        if (item->from != TAMIS_I_NO_SLOT &&
            !tamis_i_slot_decode(&table->slots, item->from, item->image, &own))
            return TAMIS_E_FORMAT;
        tamis_i_slot_encode(&table->slots, item->to, item->from == TAMIS_I_NO_SLOT ? added : &own,
                            image);
        memcpy(item->image, image, table->slots.slot_size);
        s->writes[i] =
            (tamis_i_store_change){.slot = item->to, .image = item->image, .cleared = item->from};
    }
    size_t done = 0;
    tamis_status status;
    if (s->n_items == 1 && s->items[0].from == TAMIS_I_NO_SLOT) {
        status =
            tamis_i_store_write(&table->store, s->items[0].to, s->items[0].image, TAMIS_I_NO_SLOT);
        done = status == TAMIS_OK;
    } else {
        status = tamis_i_store_write_group(&table->store, s->writes, s->n_items, &done);
    }
    for (unsigned i = 0; i < done; i++)
        settle_follow(table, s->items + i);
    table->unknown += status != TAMIS_OK;
    return status;
}

/* Place the item that was added, and those in its way; 'raise': its counters do not count it yet. */
static tamis_status settle_place(tamis_table *table, tamis_digest digest, bool raise,
                                 const tamis_i_item *added) {
    const unsigned n = table->slots.n_levels;
    tamis_status status = TAMIS_OK;
    for (unsigned t = 0; t < n && raise; t++)
        (void)settle_raise(table, digest, t);
    for (unsigned t = 0; t < n && raise && status == TAMIS_OK; t++)
        status = settle_gather(table, digest, t);
    if (status == TAMIS_OK)
        status = settle_resolve(table);
    if (status == TAMIS_OK)
        status = settle_write(table, added);
    if (status != TAMIS_OK)
        settle_undo(table);
    return status;
}

tamis_status tamis_i_settle_put(tamis_table *table, tamis_digest digest, const tamis_i_item *item) {
    settle_begin(table);
    const tamis_status status =
        settle_add(table, digest, table->slots.n_levels, TAMIS_I_NO_SLOT, NULL);
    return status == TAMIS_OK ? settle_place(table, digest, true, item) : status;
}

/* Move an item of a sub-table to the stash.  TAMIS_E_FULL. */
static tamis_status settle_to_stash(tamis_table *table, tamis_digest digest, unsigned part,
                                    uint64_t slot, const tamis_i_item *item) {
    unsigned char image[TAMIS_I_PAGE];
    const uint64_t to = tamis_i_table_stash_room(table);
    if (to == TAMIS_I_NO_SLOT || !tamis_i_index_insert(&table->index, digest, to))
        return TAMIS_E_FULL;
    tamis_i_slot_encode(&table->slots, to, item, image);
    const tamis_i_store_change write = {.slot = to, .image = image, .cleared = slot};
    size_t done;
    const tamis_status status = tamis_i_store_write_group(&table->store, &write, 1, &done);
    if (status != TAMIS_OK) {
        tamis_i_index_remove(&table->index, digest, to);
        return status;
    }
    tamis_i_bit_clear(table->used, slot);
    tamis_i_bit_set(table->used, to);
    table->part_count[part]--;
    table->part_count[table->slots.n_levels]++;
    table->counts->moves++;
    return TAMIS_OK;
}

tamis_status tamis_i_settle_move(tamis_table *table, tamis_digest digest, unsigned part,
                                 uint64_t slot) {
    tamis_i_buffer buffer;
    tamis_i_item item;
    const bool stashed = part == table->slots.n_levels;
    const unsigned char *const image = tamis_i_store_read(&table->store, part, slot, buffer.bytes);
    if (image == NULL)
        return TAMIS_E_IO;
    if (!tamis_i_slot_decode(&table->slots, slot, image, &item))
        return TAMIS_E_FORMAT;
    settle_begin(table);
    tamis_status status = settle_add(table, digest, part, slot, image);
    if (status == TAMIS_OK)
        status = settle_place(table, digest, stashed, NULL);
    if (status == TAMIS_E_FULL && !stashed)
        status = settle_to_stash(table, digest, part, slot, &item);
    return status;
}
