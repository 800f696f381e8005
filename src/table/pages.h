/* pages.h - page tables: items in pages, in the order of a hash, in memory or in a file that grows
 *
 * A page has all items whose hash (32 bits of the digest) is in an interval, and the intervals of all
 * pages follow each other.  The index in fast memory (twig.h) tells the page of a hash, and the filter
 * of the page tells nearly all absent keys.  So a hit is one read, always, and a miss nearly none.
 *
 * When an item finds no room, its page and its neighbours are filled anew, evenly; if all of these are
 * full, into one page more.  So a table grows by a page at a time, nothing else moves, and no key ever
 * is in a second place.  Keys that were chosen without the seed spread evenly; a table may be full only if
 * items of one page have the same hash.
 *
 * The file, in blocks of 4096 bytes:
 *
 *      block 0      header: parameters, never changed
 *      block 1, 2   root, twice: number e in block 1 + e mod 2; the higher valid one counts
 *      all others   pages; twigs (index of up to 250 pages); branches (lists of up to 500 twigs);
 *                   the log; filters of a table that was closed; or free
 *
 *      root -> branches -> twigs -> pages        each knows the checksum of what it points to
 *      root -> log, filters
 *
 * The state of a table is what the root leads to, changed by the records of the log, in order.
 *
 * A value that is too long for a page is in blocks of its own: see value.c.
 *
 *  D1  No block that the last durable root leads to is written, but the log.
 *  D2  A root is written after a sync of all blocks that it leads to, and is synced.
 *  D3  Records go to the end of the log.  They have the number of the root and their own, and a checksum.
 *      The log starts from its beginning after the next root has been synced (D2), with that number.  A log
 *      that was filled may be followed by a larger one in another place; then two roots, one after the other,
 *      say so.
 *
 * So after a crash there is a valid root: the last that was synced, or one that was being written and is
 * whole.  Both lead to whole blocks (D1, D2).  The second has the state of the first with all its log,
 * because a root is written between two changes.  In the first case the log is whole up to the last sync
 * (D3), and after that up to the first record that is missing.  Later ones do not count.  So the state
 * is the one at the last sync and a prefix of what came after it, in order, whatever the disk did with
 * the rest.
 * What was not a crash of the disk but of the process has lost nothing: the system has all writes.
 *
 * Pages are changed in memory and written with the next root, to blocks that are free (D1).  A root is due
 * when the log is full, or when many pages were changed.
 *
 * Readers beside a writer, in other processes or by other handles.  A reader has the state of a root and of
 * the log as it was at one moment.  It never writes, and the writer does not wait for it.
 *
 *  R1  A reader chooses a root, says that it looks at it (lock.c), and chooses again: it must be the same.
 *      Then it copies the log and chooses a third time.  If a newer root is there, it begins anew.
 *  R2  After the writer has written a root, a block that only earlier ones lead to is free as soon as nobody
 *      looks at one of these.  Until then it is kept, and the file is not cut off.
 *  R3  A writer that opens a table while someone looks at an earlier root than the last takes all blocks
 *      that are free in the file to be of that kind.
 *
 * Either the writer sees the reader's lock, or the reader sees the new root when it chooses again: the lock
 * comes before the second look, and the root before the writer's.  So what a reader's root leads to stays as
 * it is (R2, R3).  The log may be overwritten only after a newer root was written, which the third look would
 * find; so the copy has the records of this root alone, up to one that was being written.  It has all changes
 * whose calls had returned before the reader began.  The blocks of values that these records lead to are kept
 * like all others that the next root does not lead to.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_PAGES_H
#define TAMIS_TABLE_PAGES_H

#include "hash/hasher.h"
#include "table/disk.h"
#include "table/page.h"
#include "table/twig.h"
#include "tamis/table.h"

#define TAMIS_I_PAGES_BRANCH  500u              /* twigs of a branch, and branches of a root */
#define TAMIS_I_PAGES_LOG     256u              /* blocks of a log, at first ... */
#define TAMIS_I_PAGES_LOG_MAX 4096u             /* ... and at most */
#define TAMIS_I_PAGES_PENDING ((size_t)1 << 16) /* bytes of records that wait in a batch */
#define TAMIS_I_PAGES_EPOCHS  (((uint64_t)1 << 62) - 1) /* highest number of a root */
#define TAMIS_I_PAGES_HELD    64u

/* A leaf with this bit in 'block' is in memory: the rest is the number of a fresh page. */
#define TAMIS_I_PAGES_FRESH ((uint32_t)1 << 31)

#define TAMIS_I_VALUE_BYTES 16u /* of an item whose value is elsewhere */

/* A value in blocks of its own: see value.c. */
typedef struct tamis_i_value {
    uint32_t block, size;
    uint64_t sum;
} tamis_i_value;

/* A page that was changed since the last root. */
typedef struct tamis_i_fresh {
    unsigned char *image; /* NULL: not in use */
    uint32_t old_block;   /* that it comes from, or 0 */
    uint32_t next_block;  /* while a root is made; if not in use: the next one that is not */
} tamis_i_fresh;

/* Blocks that readers of roots up to 'epoch' may look at: those of 'gone' up to number 'end'. */
typedef struct tamis_i_held {
    uint64_t epoch;
    size_t end;
} tamis_i_held;

typedef struct tamis_i_pages {
    const tamis_allocator *allocator;
    const tamis_i_hasher *hasher;
    tamis_i_sieve sieve;
    uint64_t salt;
    tamis_i_disk disk;
    tamis_i_disk_file file;
    tamis_sync sync;
    bool read_only;
    bool broken;    /* a sync failed, or the log could not be written */
    bool closed;    /* the root says that the table was closed */
    bool recovered; /* there was a log, or no filters */

    tamis_i_twig **twigs;
    uint32_t *firsts; /* first hash of each twig */
    unsigned n_twigs, cap_twigs;
    uint64_t n_leaves;
    uint64_t count;

    tamis_i_fresh *fresh;
    uint32_t n_fresh, cap_fresh; /* numbers given out so far */
    uint32_t live_fresh;
    uint32_t most_fresh; /* with so many a root is due; 0: the default */
    uint32_t first_log;  /* blocks of a first log; 0: the default */
    uint32_t free_fresh; /* number of one not in use, plus 1; 0: none */

    bool large;        /* values may be elsewhere */
    uint64_t *taken;   /* a bit per block */
    uint64_t *owned;   /* if 'large': the same for blocks of values */
    uint64_t n_blocks; /* blocks of the file that may be in use */
    uint64_t cap_blocks;
    uint64_t lowest; /* no block below it is free */
    uint32_t
        *gone; /* blocks that readers may look at; then those that the next root will not lead to */
    size_t n_gone, cap_gone;
    tamis_i_held held[TAMIS_I_PAGES_HELD]; /* parts of the first ones */
    unsigned n_held;
    uint64_t watching; /* of a reader: number of the root that it looks at */
    uint32_t branches[TAMIS_I_PAGES_BRANCH];
    unsigned n_branches;
    uint64_t filters_sum;
    uint32_t filters_at, filters_blocks; /* in the file of a closed table; 0: none */

    uint64_t epoch; /* number of the last root */
    uint32_t log_at, log_blocks;
    uint64_t log_used;   /* bytes */
    uint32_t log_last;   /* number of the last record */
    uint32_t log_synced; /* and of the last that is durable */
    bool batch;          /* records may wait, and are not synced one by one */
    unsigned char *pending;
    size_t n_pending;  /* bytes of the log, up to log_used, that are not written yet */
    uint64_t replayed; /* records of the log when the table was opened */
    uint64_t dropped;  /* records after a gap in the log */
    uint64_t damaged;  /* pages left out by a repair */
    uint64_t page_writes, spreads;

    tamis_i_page_item *list; /* room for the items of a page and one more */
    unsigned char *scratch;  /* a page */
} tamis_i_pages;

/* Where a key belongs. */
typedef struct tamis_i_spot {
    tamis_digest digest;
    uint32_t hash;
    uint8_t tag;
    unsigned t, i; /* twig and leaf */
} tamis_i_spot;

/* pages.c: make an empty table in memory; 'sieve' is right.  TAMIS_E_NOMEM. */
tamis_status tamis_i_pages_make(const tamis_allocator *allocator, const tamis_i_hasher *hasher,
                                const tamis_i_sieve *sieve, uint64_t salt, tamis_i_pages **pages);
void tamis_i_pages_free(tamis_i_pages *p);

void tamis_i_pages_locate(const tamis_i_pages *p, const void *key, size_t key_size,
                          tamis_i_spot *spot);
/* The same for a hash that is known. */
void tamis_i_pages_relocate(const tamis_i_pages *p, tamis_i_spot *spot);

/* The page of leaf i of a twig, checked; it may be in 'buffer'.  TAMIS_E_IO, TAMIS_E_FORMAT. */
tamis_status tamis_i_pages_image(const tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                 unsigned char *buffer, const unsigned char **image);

/* May a key be in its page?  False: it is not there. */
static inline bool tamis_i_pages_maybe(const tamis_i_pages *p, const tamis_i_spot *spot) {
    const tamis_i_twig *const twig = p->twigs[spot->t];
    size_t n;
    const unsigned char *const filter = tamis_i_twig_filter(twig, &p->sieve, spot->i, &n);
    return n > 0 && tamis_i_sieve_has(&p->sieve, filter, n, spot->digest);
}

/* Find a key that may be in the page of its spot, which is read.  The item is in the buffer, of a page, or in
 * memory.  TAMIS_E_NOT_FOUND, TAMIS_E_IO, TAMIS_E_FORMAT. */
tamis_status tamis_i_pages_find(const tamis_i_pages *p, const tamis_i_spot *spot, const void *key,
                                size_t key_size, unsigned char *buffer, tamis_i_page_item *item);

/* Put an item whose value goes to blocks of its own. */
tamis_status tamis_i_pages_put_large(tamis_i_pages *p, tamis_bytes key, tamis_bytes value,
                                     bool *found);

/* Like the public functions.  '*found' tells whether the key was there. */
tamis_status tamis_i_pages_put(tamis_i_pages *p, const tamis_i_page_item *item, bool *found);
tamis_status tamis_i_pages_delete(tamis_i_pages *p, const void *key, size_t key_size);
tamis_status tamis_i_pages_next(const tamis_i_pages *p, uint64_t *at, unsigned char *buffer,
                                tamis_i_page_item *item);
tamis_status tamis_i_pages_verify(const tamis_i_pages *p, const char **reason);
/* Put and delete without a record in the log. */
tamis_status tamis_i_pages_apply(tamis_i_pages *p, const tamis_i_page_item *item, bool *found);
tamis_status tamis_i_pages_unapply(tamis_i_pages *p, const void *key, size_t key_size);

/* The extra room of a filter of n keys to which 'more' are about to come: a 16th, as pages that are filled
 * anew are 94 % full, and at least one key.  With room for as many as fill the page it would be larger than
 * it need be most of the time. */
static inline size_t tamis_i_pages_extra(const tamis_i_pages *p, size_t n, size_t more) {
    const size_t keys = n + more;
    return tamis_i_sieve_extra(&p->sieve, n, keys + (keys < 16 ? 1 : keys / 16));
}

/* Tell the filter of leaf i of a twig, which is empty, the keys of its page. */
void tamis_i_pages_tell(const tamis_i_pages *p, const tamis_i_twig *twig, unsigned i,
                        const unsigned char *image);

/* Make the page of a leaf fresh: '*image' may be changed.  TAMIS_E_NOMEM. */
tamis_status tamis_i_pages_freshen(tamis_i_pages *p, tamis_i_twig *twig, unsigned i,
                                   const unsigned char *now, tamis_i_fresh **fresh);
/* Reserve numbers and images for n fresh pages.  False: no memory. */
bool tamis_i_pages_reserve_fresh(tamis_i_pages *p, unsigned n, unsigned char **images);
void tamis_i_pages_drop_fresh(tamis_i_pages *p, uint32_t number);
uint32_t tamis_i_pages_new_fresh(tamis_i_pages *p, unsigned char *image, uint32_t old_block);
bool tamis_i_pages_reserve_twig(tamis_i_pages *p);
void tamis_i_pages_insert_twig(tamis_i_pages *p, unsigned t, tamis_i_twig *twig);
void tamis_i_pages_remove_twig(tamis_i_pages *p, unsigned t);

/* spread.c: fill pages anew. */
/* Make room for 'need' bytes more in the page of a spot, which may become another.  TAMIS_E_FULL,
 * TAMIS_E_NOMEM and those of reading; all items are as before. */
tamis_status tamis_i_pages_make_room(tamis_i_pages *p, const tamis_i_spot *spot, size_t need,
                                     bool again);
/* Join the page with its neighbours, if they are nearly empty. */
tamis_status tamis_i_pages_join(tamis_i_pages *p, const tamis_i_spot *spot);
/* Fill the pages of twig t, which has some, as densely as a table that grows. */
tamis_status tamis_i_pages_pack(tamis_i_pages *p, unsigned t);
/* Make room for new items, sorted by hash, as far as there is memory.  Items that come together need their
 * pages filled anew once, those that come one by one again and again. */
typedef struct tamis_i_coming {
    uint32_t hash;
    uint16_t key_size, value_size;
} tamis_i_coming;
void tamis_i_pages_expect(tamis_i_pages *p, const tamis_i_coming *coming, size_t n);

/* commit.c: blocks, the log, and roots. */
bool tamis_i_pages_take(tamis_i_pages *p, uint32_t *block);
/* Blocks that follow each other: the first place that has so many, or the end of the file. */
bool tamis_i_pages_take_run(tamis_i_pages *p, uint64_t n, uint32_t *block);
void tamis_i_pages_release(tamis_i_pages *p, uint64_t block);
/* Mark a block as taken.  False if it is out of range or taken: then the file is wrong. */
bool tamis_i_pages_mark(tamis_i_pages *p, uint64_t block);
bool tamis_i_pages_reserve_gone(tamis_i_pages *p, size_t n);
/* Number of the blocks of 'gone' that wait for the next root. */
static inline size_t tamis_i_pages_waiting(const tamis_i_pages *p) {
    return p->n_gone - (p->n_held == 0 ? 0 : p->held[p->n_held - 1].end);
}
/* If a reader looks at an earlier root than the last, no block that is free now is used: R3.
 * TAMIS_E_NOMEM. */
tamis_status tamis_i_pages_keep_free(tamis_i_pages *p);
/* Before a change: there is a log with room for a record of so many bytes. */
tamis_status tamis_i_pages_ready(tamis_i_pages *p, size_t size);
/* Append a record: 'item' NULL for a deletion of the key. */
tamis_status tamis_i_pages_record(tamis_i_pages *p, const tamis_i_page_item *item, const void *key,
                                  size_t key_size);
/* Write the records that wait. */
tamis_status tamis_i_pages_flush(tamis_i_pages *p);
tamis_status tamis_i_pages_sync(tamis_i_pages *p);
/* Write a root, with all that it leads to: for changes, with a log; without one; or with the filters. */
typedef enum tamis_i_root {
    TAMIS_I_ROOT_OF_OPEN,
    TAMIS_I_ROOT_BARE,
    TAMIS_I_ROOT_OF_CLOSED
} tamis_i_root;
tamis_status tamis_i_pages_commit(tamis_i_pages *p, tamis_i_root kind);
/* Write a last root, with filters and without a log, and cut the file off after its last block. */
tamis_status tamis_i_pages_finish(tamis_i_pages *p);

/* value.c: values elsewhere. */
/* Where it is, as the item says: false if it says nothing that can be. */
bool tamis_i_value_decode(const tamis_i_pages *p, const tamis_i_page_item *item, tamis_i_value *v);
/* Write a value to free blocks; 'place' is for the item.  TAMIS_E_NOMEM, TAMIS_E_IO: nothing is changed. */
tamis_status tamis_i_value_store(tamis_i_pages *p, const void *bytes, size_t size,
                                 unsigned char place[TAMIS_I_VALUE_BYTES], tamis_i_value *v);
/* Read it: there is room for v->size bytes.  TAMIS_E_IO, TAMIS_E_FORMAT. */
tamis_status tamis_i_value_read(const tamis_i_pages *p, const tamis_i_value *v, void *bytes);
/* The same, only to see whether it is right.  Also TAMIS_E_NOMEM. */
tamis_status tamis_i_value_check(const tamis_i_pages *p, const tamis_i_value *v);
/* Its blocks are taken from now on: false if they are already, or are not in the file. */
bool tamis_i_value_claim(tamis_i_pages *p, const tamis_i_value *v);
/* Are all its blocks those of values?  An item of a file that was made by hand can lead anywhere, and what it
 * leads to must not be dropped then. */
bool tamis_i_value_is_owned(const tamis_i_pages *p, const tamis_i_value *v);
/* Its blocks are free after the next root; there is room for that. */
bool tamis_i_value_reserve_drop(tamis_i_pages *p, const tamis_i_value *v);
void tamis_i_value_drop(tamis_i_pages *p, const tamis_i_value *v);
/* They are free at once: no root and no record leads to them. */
void tamis_i_value_release(tamis_i_pages *p, const tamis_i_value *v);

/* Move the values of a leaf that end behind block 'used' to free places before it. */
tamis_status tamis_i_value_compact(tamis_i_pages *p, tamis_i_twig *twig, unsigned i, uint64_t used,
                                   bool *some);
/* Is there a value in this block or behind it? */
bool tamis_i_value_any_from(const tamis_i_pages *p, uint64_t block);

/* load.c: from a disk that has a header.  'repair': leave out what is damaged. */
tamis_status tamis_i_pages_load(tamis_i_pages *p, bool repair, const char **reason);
/* A reader catches up with the writer; '*pages' may become another.  After a failure all is as before, or
 * newer. */
tamis_status tamis_i_pages_refresh(tamis_i_pages **pages, bool *changed, const char **reason);
/* The number of the last root, as a reader sees it.  TAMIS_E_FORMAT, TAMIS_E_IO. */
tamis_status tamis_i_pages_last_root(tamis_i_pages *p, uint64_t *epoch, const char **reason);

/* replay.c: the records of the log. */
/* Repeat the records of a copy of the log, from p->log_used on.  A reader may have to copy it again. */
tamis_status tamis_i_pages_replay(tamis_i_pages *p, unsigned char *log, bool repair,
                                  const char **reason);
/* Repeat the records that came since, of a reader that looks at the last root.  '*last' is false if this is
 * not the last root any more. */
tamis_status tamis_i_pages_follow(tamis_i_pages *p, bool *last, bool *changed, const char **reason);

enum {
    TAMIS_I_ROOT_EPOCH = 8,
    TAMIS_I_ROOT_CLOSED = 16,
    TAMIS_I_ROOT_COUNT = 24,
    TAMIS_I_ROOT_LEAVES = 32,
    TAMIS_I_ROOT_BLOCKS = 40,
    TAMIS_I_ROOT_LOG = 48,
    TAMIS_I_ROOT_FILTERS = 52,
    TAMIS_I_ROOT_FILTER_BLOCKS = 56,
    TAMIS_I_ROOT_TWIGS = 60,
    TAMIS_I_ROOT_BRANCHES = 64,
    TAMIS_I_ROOT_LOG_BLOCKS = 68,
    TAMIS_I_ROOT_FILTERS_SUM = 72,
    TAMIS_I_ROOT_LIST = 80,
    TAMIS_I_RECORD_HEAD = 32
};

static inline size_t tamis_i_pages_log_bytes(const tamis_i_pages *p) {
    return (size_t)p->log_blocks * TAMIS_I_PAGE_BYTES;
}

/* The records of the log: see commit.c. */
uint64_t tamis_i_pages_record_sum(const tamis_i_pages *p, const unsigned char *record, size_t size);
uint64_t tamis_i_pages_root_sum(const tamis_i_pages *p, const unsigned char *root);

static inline size_t tamis_i_pages_record_size(size_t key_size, size_t value_size) {
    return (TAMIS_I_RECORD_HEAD + key_size + value_size + 7) / 8 * 8;
}

static inline tamis_digest tamis_i_pages_digest(const tamis_i_pages *p, const void *key,
                                                size_t key_size) {
    return tamis_i_hasher_bytes(p->hasher, key, key_size);
}

/* 32 bits of a digest order the items, 8 more are their tag. */
static inline uint32_t tamis_i_pages_hash(tamis_digest digest) {
    return (uint32_t)(tamis_i_word(digest, 0) >> 32);
}

static inline uint8_t tamis_i_pages_tag(tamis_digest digest) {
    return (uint8_t)tamis_i_word(digest, 0);
}

/* The first hash that does not belong to leaf i of twig t any more: 2^32 after the last. */
uint64_t tamis_i_pages_end_of(const tamis_i_pages *p, unsigned t, unsigned i);

#endif
