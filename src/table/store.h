/* store.h - the slow memory of a table: slots in memory or in a file
 *
 * The file, in pages of 4096 bytes:
 *
 *      page 0       header: all parameters, never changed
 *      page 1, 2    state: open or closed, twice, so one copy is whole whenever the power fails
 *      journal      the last changes, in a ring
 *      slots        sub-tables and stash
 *      fast         bits and summary, as they were when the file was last closed
 *
 * A change first goes to the journal, with the image of the slot, then to the slot.  If the process
 * ends while the slot is half written, the journal has it whole.  Writes use pwrite, and reads come
 * from a mapping of the same file.  Both see the same pages.  Mapped memory is never written, because
 * such a write could be cut off after any byte.
 *
 * With TAMIS_SYNC_EACH the file is synced between the two writes.  That sync also brings the slots of
 * all earlier changes to the disk, so an entry of the journal is no longer needed when the next but one
 * is written.  With TAMIS_SYNC_BATCH only moves are synced like that, a group at a time: a moved item
 * must not be lost, however long ago it was put.  The ring has room for several groups.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_STORE_H
#define TAMIS_TABLE_STORE_H

#include "base/base.h"
#include "base/io.h"
#include "table/slots.h"

#define TAMIS_I_JOURNAL_ENTRIES 128u
#define TAMIS_I_JOURNAL_GROUP   32u /* changes at a time; the ring has more than two groups */

typedef struct tamis_i_store {
    const tamis_i_slots *slots;
    unsigned char *base; /* of the slots; NULL: they are read from the file */
    int fd;              /* -1: the slots are in memory */
    int direct_fd;       /* reads of single slots go here, -1: to fd */
    unsigned char *map;  /* the file, or the memory; NULL: none */
    size_t map_size;
    uint64_t file_size;
    uint64_t journal_at; /* places in the file */
    uint64_t entry_size;
    uint64_t slots_at;
    uint64_t fast_at;
    uint64_t sequence;       /* of the last entry of the journal */
    uint64_t state_sequence; /* of the last state written */
    uint64_t writes;         /* slots written */
    tamis_sync sync;
    bool read_only;
    bool open_marked; /* the file says that it is open */
    bool broken;      /* a write failed: the contents of the file are unknown */
} tamis_i_store;

/* The state in the file: closed or open. */
typedef struct tamis_i_state {
    uint64_t sequence;
    bool closed;
    uint64_t journal_sequence;
    uint64_t count;
    uint64_t n_deleted;
    uint64_t fast_checksum;
} tamis_i_state;

/* Lay out a file with 'fast_words' words of bits and summary.  TAMIS_E_TOO_LARGE. */
tamis_status tamis_i_store_layout(tamis_i_store *store, const tamis_i_slots *slots,
                                  uint64_t fast_words);

/* The slots in memory, all free.  TAMIS_E_NOMEM, TAMIS_E_TOO_LARGE. */
tamis_status tamis_i_store_memory(tamis_i_store *store, const tamis_allocator *allocator);

/* Map the file, which is open as fd and has the right size.  'changeable': map it privately, so the
 * journal of a read-only file can be applied. */
tamis_status tamis_i_store_map(tamis_i_store *store, bool changeable, const char **reason);

/* Release everything. */
void tamis_i_store_close(tamis_i_store *store, const tamis_allocator *allocator);

/* The bytes from slot number 'slot' of 'part' to the end of its bucket; NULL if they cannot be read.
 * They are in the buffer (one page, aligned to a page) or in memory. */
const unsigned char *tamis_i_store_read(const tamis_i_store *store, unsigned part, uint64_t slot,
                                        unsigned char *buffer);

/* A page, by its number within the slots, for callers that read them all. */
const unsigned char *tamis_i_store_page(const tamis_i_store *store, uint64_t page,
                                        unsigned char *buffer);

/* Tell the system whether all slots will be read in order, or single ones. */
void tamis_i_store_advise(const tamis_i_store *store, bool in_order);

/* A change: slot number 'slot' gets the image (NULL: zeros), and slot number 'cleared' zeros, unless it
 * is TAMIS_I_NO_SLOT. */
typedef struct tamis_i_store_change {
    uint64_t slot;
    const unsigned char *image;
    uint64_t cleared;
} tamis_i_store_change;

/* Make a change, completely or not at all, whatever happens.  TAMIS_E_IO. */
tamis_status tamis_i_store_write(tamis_i_store *store, uint64_t slot, const unsigned char *image,
                                 uint64_t cleared);

/* Make up to TAMIS_I_JOURNAL_GROUP changes, in order, with one sync for all of them, unless there is no
 * sync at all.  After TAMIS_E_IO the first '*done' have been made. */
tamis_status tamis_i_store_write_group(tamis_i_store *store, const tamis_i_store_change *writes,
                                       size_t n, size_t *done);

/* Repeat the last changes from the journal. */
tamis_status tamis_i_store_replay(tamis_i_store *store, const char **reason);

tamis_status tamis_i_store_sync(tamis_i_store *store);

/* Read the states in the file: false if neither is whole. */
bool tamis_i_store_get_state(const tamis_i_store *store, tamis_i_state *state);

/* Write the state: one copy for a closed file, both for an open one.  So no older state can be mistaken
 * for the last. */
tamis_status tamis_i_store_put_state(tamis_i_store *store, const tamis_i_state *state);

/* Read and write words of the file, little-endian there. */
bool tamis_i_store_get_words(const tamis_i_store *store, uint64_t at, uint64_t *words, uint64_t n);
bool tamis_i_store_put_words(tamis_i_store *store, uint64_t at, const uint64_t *words, uint64_t n);

#endif
