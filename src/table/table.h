/* table.h - the handle of a table, and what its files share
 *
 *      slow memory     slots.h    the slots: layout and codec
 *                      store.h    where they are: in memory or in a file, with journal and lock
 *      fast memory     used       a bit per slot: it is not free
 *                      deleted    a bit per slot: its item was deleted, but the summary still knows it
 *                      summary    which sub-table an item is in (summary.h)
 *                      index      which items are in the stash, by digest
 *
 * A slot is free (neither bit), live (used) or deleted (both bits).  On the disk free and deleted slots
 * are the same, zeros.  The deletion bit only says that the slot must not be used yet: the summary
 * cannot forget the old item, and would fill up with a new one in each such slot.  A table whose
 * summary can forget has no such slots.
 *
 * Invariants, tested by tamis_i_table_verify():
 *   T1  a live slot holds an item, all other slots are zero;
 *   T2  an item in a sub-table is in its bucket;
 *   T3  no key is in the table twice;
 *   T4  the summary names a type for each item of a sub-table (unless 'unknown' > 0), and the index has
 *       exactly the items of the stash, so each item is found; if the summary decides where items are, the
 *       type is the right one;
 *   T5  the counts are right.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_TABLE_H
#define TAMIS_TABLE_TABLE_H

#include <stdatomic.h>

#include "base/base.h"
#include "bits/field.h"
#include "hash/hasher.h"
#include "table/fork.h"
#include "table/pages.h"
#include "table/slots.h"
#include "table/store.h"
#include "table/summary.h"
#include "tamis/table.h"

/* Readers raise counts too, and there may be several of them.  A count may then miss some, but there is
 * no data race. */
typedef struct tamis_i_counts {
    _Atomic uint64_t hits, hit_reads, misses, miss_reads, false_positives, failures;
    uint64_t puts, updates, deletes, change_reads, crises, moves, rebuilds;
} tamis_i_counts;

/* The items of the stash by digest: open addressing, linear probing, no gaps left by removal. */
typedef struct tamis_i_index_entry {
    tamis_digest digest;
    uint64_t slot; /* number of the slot plus one; 0: the entry is free */
} tamis_i_index_entry;

typedef struct tamis_i_index {
    tamis_i_index_entry *entries;
    uint64_t room; /* entries, more than the stash has slots; 0: there is no stash */
    uint64_t used;
} tamis_i_index;

/* A rebuild in progress. */
typedef enum tamis_i_phase { TAMIS_I_IDLE, TAMIS_I_MOVING, TAMIS_I_SUMMING } tamis_i_phase;

/* A move that is decided but not yet made: moves are made in groups. */
typedef struct tamis_i_table_move {
    uint64_t from, to;
    unsigned part, level; /* where these are */
    tamis_digest digest;
} tamis_i_table_move;

typedef struct tamis_i_rebuild {
    tamis_i_phase phase;
    uint64_t cursor; /* the next slot */
    /* TAMIS_I_JOURNAL_GROUP moves, and the images after them; NULL: none are made. */
    tamis_i_table_move *moves;
    unsigned char *images;
    unsigned n_moves;
    tamis_i_summary shadow; /* the new summary; body NULL: there is none */
} tamis_i_rebuild;

/* settle.c: which items go where, if the summary decides it. */
typedef struct tamis_i_settle tamis_i_settle;

struct tamis_table {
    tamis_table_params params; /* complete */
    tamis_i_pages *pages;      /* of a page table; NULL: it has slots, and all that follows */
    tamis_i_slots slots;
    tamis_i_store store;
    tamis_i_hasher hasher;
    tamis_allocator allocator; /* alloc NULL: the system's memory */
    size_t block_size;         /* of the handle, the bits and the index: one block */
    unsigned forks;            /* of a table in a file: see fork.h; 0: it is in memory */
    uint64_t *used;
    uint64_t *deleted;    /* NULL: there are no deleted slots */
    uint64_t n_bit_words; /* of each of the two, which follow each other */
    tamis_i_summary summary;
    tamis_i_index index;
    tamis_i_counts *counts;
    uint64_t count;
    uint64_t n_deleted;
    uint64_t part_count[TAMIS_I_PARTS_MAX];
    uint64_t
        unknown; /* items that the summary had no room for, or that are not where it decides: every
                       * look searches everywhere */
    uint64_t damaged; /* slots emptied by a repair */
    bool recovered;
    tamis_i_rebuild rebuild;
    tamis_i_settle *settle; /* NULL: the summary does not decide where items are */
};

static inline bool tamis_i_table_live(const tamis_table *table, uint64_t slot) {
    return tamis_i_bit_get(table->used, slot) &&
           (table->deleted == NULL || !tamis_i_bit_get(table->deleted, slot));
}

static inline void tamis_i_bit_clear(uint64_t *words, uint64_t i) {
    words[i / 64] &= ~((uint64_t)1 << (i % 64));
}

static inline bool tamis_i_table_forgets(const tamis_table *table) {
    return (table->summary.kind->abilities & TAMIS_I_SUMMARY_CAN_REMOVE) != 0;
}

/* params.c: fill in the defaults except the seed, check all ranges.  Complete parameters come out
 * unchanged. */
tamis_status tamis_i_table_complete(tamis_table_params *params);

/* What the summary needs of complete parameters. */
void tamis_i_table_summary_params(const tamis_table_params *params, tamis_i_summary_params *own);

/* handle.c: make the handle for complete parameters with a seed, without slow memory; all bits zero. */
tamis_status tamis_i_table_make(const tamis_table_params *params, const tamis_allocator *allocator,
                                tamis_table **table);

/* Free everything, without writing. */
void tamis_i_table_free(tamis_table *table);

/* Set the counts that follow from the bits. */
void tamis_i_table_recount(tamis_table *table);

/* A summary on a body of its own, all zero.  TAMIS_E_NOMEM. */
tamis_status tamis_i_table_new_summary(const tamis_table *table, tamis_i_summary *summary);
void tamis_i_table_free_summary(const tamis_table *table, tamis_i_summary *summary);

/* index.c */
uint64_t tamis_i_index_room(uint64_t stash);
/* False, and nothing is changed, if there are too many in one place. */
bool tamis_i_index_insert(tamis_i_index *index, tamis_digest digest, uint64_t slot);
void tamis_i_index_remove(tamis_i_index *index, tamis_digest digest, uint64_t slot);
/* The next slot, from '*at' on, that has this digest, or TAMIS_I_NO_SLOT.  '*at' starts at
 * tamis_i_index_start. */
uint64_t tamis_i_index_start(const tamis_i_index *index, tamis_digest digest);
uint64_t tamis_i_index_next(const tamis_i_index *index, tamis_digest digest, uint64_t *at);

/* multilevel.c: where a key is. */
typedef struct tamis_i_place {
    uint64_t slot;
    unsigned part;
    unsigned told; /* what the summary said */
    uint64_t reads;
    tamis_i_item item; /* in slow memory, or in the buffer */
} tamis_i_place;

/* A page to read into, if slots are not mapped. */
typedef tamis_i_page_buffer tamis_i_buffer;

/* Find a key.  TAMIS_E_NOT_FOUND (told and reads are set), TAMIS_E_FORMAT, TAMIS_E_IO. */
tamis_status tamis_i_table_find(const tamis_table *table, const void *key, size_t key_size,
                                tamis_digest digest, tamis_i_buffer *buffer, tamis_i_place *place);

tamis_digest tamis_i_table_digest(const tamis_table *table, const void *key, size_t key_size);

/* A free slot of the stash, or TAMIS_I_NO_SLOT. */
uint64_t tamis_i_table_stash_room(const tamis_table *table);

/* Like the public functions; arguments have been checked. */
tamis_status tamis_i_table_get(const tamis_table *table, const void *key, size_t key_size,
                               void *value, size_t room, size_t *value_size);
tamis_status tamis_i_table_put(tamis_table *table, const tamis_i_item *item, bool *added);
tamis_status tamis_i_table_delete(tamis_table *table, const void *key, size_t key_size);

/* settle.c: of tables whose summary decides where an item is. */

/* Bytes of what it needs, for each table. */
uint64_t tamis_i_settle_size(const tamis_i_slots *slots);
/* Put a new item in a sub-table, and move others.  TAMIS_E_FULL if two items would have to share a slot;
 * TAMIS_E_FORMAT.  Nothing is changed then.  TAMIS_E_IO. */
tamis_status tamis_i_settle_put(tamis_table *table, tamis_digest digest, const tamis_i_item *item);
/* Move the item in a slot, of 'part', where the summary decides; from there to the stash if that cannot be.
 * An item of the stash may stay there.  TAMIS_E_FULL, TAMIS_E_FORMAT, TAMIS_E_IO, as above. */
tamis_status tamis_i_settle_move(tamis_table *table, tamis_digest digest, unsigned part,
                                 uint64_t slot);

/* rebuild.c */
tamis_status tamis_i_table_rebuild(tamis_table *table, uint64_t max_steps, bool *done);
void tamis_i_table_stop_rebuild(tamis_table *table);

/* recover.c: read the slots one after the other. */

/* Make bits, summary, index and counts again from the slots.  With 'repair', damaged slots are emptied;
 * otherwise TAMIS_E_FORMAT. */
tamis_status tamis_i_table_recover(tamis_table *table, bool repair, const char **reason);

tamis_status tamis_i_table_verify(const tamis_table *table, uint64_t *failures,
                                  const char **reason);
tamis_status tamis_i_table_next(const tamis_table *table, uint64_t *at, void *key, size_t *key_size,
                                void *value, size_t *value_size);

/* file.c: tables in files; like the public functions, but 'reason' and 'options' are not NULL. */
tamis_status tamis_i_table_create_file(const char *path, const tamis_table_params *params,
                                       const tamis_table_options *options,
                                       const tamis_allocator *allocator, tamis_table **table,
                                       const char **reason);
tamis_status tamis_i_table_open(const char *path, const tamis_table_options *options,
                                const tamis_allocator *allocator, tamis_table **table,
                                const char **reason);
/* Open the file a second time, past the cache if that is possible.  TAMIS_E_IO, TAMIS_E_FORMAT. */
tamis_status tamis_i_table_open_direct(int fd, const char *path, int *direct_fd,
                                       const char **reason);
void tamis_i_table_encode_header(const tamis_table_params *params, unsigned char *bytes);

/* page_table.c: tables whose buckets are pages. */
tamis_status tamis_i_page_table_make(const tamis_table_params *params,
                                     const tamis_allocator *allocator, tamis_table **table);
/* In a new file, which is open and locked, or in one whose header was read; it is closed with the table, or
 * by the caller after a failure. */
tamis_status tamis_i_page_table_create_file(tamis_table *table, int fd, const char *path,
                                            const tamis_table_options *options,
                                            const char **reason);
tamis_status tamis_i_page_table_open(tamis_table *table, int fd, const char *path,
                                     const tamis_table_options *options, const char **reason);
tamis_status tamis_i_page_table_put(tamis_table *table, const void *key, size_t key_size,
                                    const void *value, size_t value_size, bool *added);
tamis_status tamis_i_page_table_get(const tamis_table *table, const void *key, size_t key_size,
                                    void *value, size_t room, size_t *value_size);
/* The same for a key whose place is known; 'asked': it may be there. */
tamis_status tamis_i_page_table_get_at(const tamis_table *table, const tamis_i_spot *spot,
                                       bool asked, tamis_bytes key, void *value, size_t room,
                                       size_t *value_size);
tamis_status tamis_i_page_table_delete(tamis_table *table, const void *key, size_t key_size);
tamis_status tamis_i_page_table_refresh(tamis_table *table, bool *changed);
/* many.c: asks whose status is not TAMIS_OK are left alone. */
void tamis_i_page_table_get_many(const tamis_table *table, tamis_table_ask *asks, size_t n);
/* '*done' and '*found' are raised. */
tamis_status tamis_i_page_table_put_many(tamis_table *table, const tamis_table_item *items,
                                         size_t n, size_t *done);
tamis_status tamis_i_page_table_delete_many(tamis_table *table, const tamis_bytes *keys, size_t n,
                                            size_t *done, size_t *found);
tamis_status tamis_i_page_table_next(const tamis_table *table, uint64_t *at, void *key,
                                     size_t *key_size, void *value, size_t *value_size);
tamis_status tamis_i_page_table_rebuild(tamis_table *table, uint64_t max_steps, bool *done);
void tamis_i_page_table_info(const tamis_table *table, tamis_table_state *info);

/* Write what a quick opening needs.  Does nothing for a table in memory or if nothing was changed. */
tamis_status tamis_i_table_finish(tamis_table *table);

#endif
