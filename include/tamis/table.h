/* table.h - exact tables: one slow read per hit, almost none per miss
 *
 * A tamis_table maps keys to values, exactly.  Its items are in slow memory: in one file, or in the
 * memory of the process.  In fast memory it keeps a summary, two bytes per item or a few more, which tells
 * where an item is.  So a key that is there costs one read of slow memory, and a key that is not there costs
 * almost none.
 *
 *     tamis_table_params params;
 *     tamis_table_params_init(&params);
 *     tamis_table *table;
 *     if (tamis_table_create_file("prices.tab", &params, NULL, NULL, &table, NULL) == TAMIS_OK) {
 *         char value[8];
 *         size_t size;
 *         if (tamis_table_put(table, "apple", 5, "red", 3, NULL) == TAMIS_OK &&
 *             tamis_table_get(table, "apple", 5, value, sizeof value, &size) == TAMIS_OK)
 *             printf("apple: %.*s\n", (int)size, value);
 *         status = tamis_table_close(table);
 *     }
 *
 * There are two layouts:
 *
 *  - Pages, the default.  A page of 4096 bytes has all items whose hash is in an interval.  Full pages are
 *    filled anew together with their neighbours, so that the table grows by a page at a time.  Items have
 *    any size up to TAMIS_TABLE_PAGE_ITEM_MAX and cost what they are long.
 *  - Slots, for a fixed number of items of a fixed size, after the paper: a row of sub-tables, each smaller
 *    than the one before.  A key has one bucket in each, and goes to the first that has a free slot.  If
 *    there is none, which has been made as improbable as you like, it goes to the stash, a small exact list.
 *    Give capacity, key_max and value_max, and how many slots a bucket has if it is not one.
 *
 * Read this first:
 *
 *  - Answers are exact, always.  If the summary is wrong about a key, the other places are looked at.
 *    That costs reads, never an answer.
 *  - A process that is killed, at any moment, loses nothing that a call had acknowledged, and nothing
 *    deleted comes back.  What a failure of power or of the system may lose is chosen by tamis_sync.
 *  - With slots there are two kinds of deletion.  With the summaries 'multiple' and 'single', which cannot
 *    forget a key, the slot of a deleted item is emptied at once but not used again before
 *    tamis_table_rebuild has made a new summary, in steps as small as you like.  The others,
 *    'interpolation', 'multiple-counting' and 'single-counting', forget at once; they need more fast memory.
 *    Pages need no rebuild; it makes a table that has become smaller as dense as one that grows.
 *  - 'song' is the scheme that the paper improves on, for comparison.  It is insert-only: tamis_table_delete
 *    returns TAMIS_E_UNSUPPORTED, a value can be replaced.  A put may move other items.
 *  - One handle at a time may have a table file open for changes: TAMIS_E_LOCKED.  Any number, in any
 *    process, may have it open for reading.  With pages, readers and the writer may be there at the same
 *    time: a reader sees the table as it was at one moment between two calls of the writer, and stays there
 *    until tamis_table_refresh.  With slots, or on a system without locks of bytes that belong to an open
 *    file (all but Linux), a writer keeps readers out, and they it.  Locks are advisory: programs that do not
 *    know them are not held back, and one that cuts off the file while it is mapped ends the reader.
 *  - A table in a file belongs to the process that opened it.  In a child that was forked later, every call
 *    answers TAMIS_E_LOCKED, but tamis_table_count, which tells what it was, and tamis_table_close, which
 *    frees the child's memory and writes nothing: close the table there, and open the file anew.  The file
 *    stays locked until parent and child both have closed the table, ended or called exec.  If another
 *    thread was inside a call at the time of the fork, do not close it in the child.  A child made without
 *    the handlers of pthread_atfork (vfork, clone) is not seen.  Of a table in memory the child has a copy.
 *  - Threads: any number of threads may read a table (calls with a const pointer) at the same time; the
 *    counts of tamis_table_stats may then miss some reads.  A call that changes it needs it for itself.
 *  - get does not allocate.  With slots, put and delete do not either; with pages they may, and return
 *    TAMIS_E_NOMEM.  A call that fails leaves everything as it was before, but for TAMIS_E_IO: see
 *    tamis_table_put.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions on
 * Networking 16(1), 2008.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TABLE_H
#define TAMIS_TABLE_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Parameters
 */

/* The summaries.  The numbers are stored in files and do not change. */
typedef enum tamis_summary {
    TAMIS_SUMMARY_DEFAULT = 0,       /* multiple */
    TAMIS_SUMMARY_INTERPOLATION = 1, /* sorted strings with types: the largest, hardly ever wrong */
    TAMIS_SUMMARY_SINGLE = 2,        /* one filter whose cells hold the largest type */
    TAMIS_SUMMARY_MULTIPLE = 3,      /* a Bloom filter per sub-table: the smallest */
    TAMIS_SUMMARY_SONG = 4, /* a counter per bucket: a baseline for comparison, insert-only */
    TAMIS_SUMMARY_SINGLE_COUNTING = 5,  /* single with counters, which can forget */
    TAMIS_SUMMARY_MULTIPLE_COUNTING = 6 /* multiple with counters, which can forget */
} tamis_summary;

/* The name of a summary as the command line spells it ("multiple-counting"), or NULL for no such
 * summary.  The text is static. */
TAMIS_API const char *tamis_summary_name(tamis_summary summary);

/* Fill 'summary' with the one called 'name'.  TAMIS_E_ARGUMENT if there is none. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_summary_parse(const char *name,
                                                            tamis_summary *summary);

#define TAMIS_TABLE_LEVELS_MAX 16
#define TAMIS_TABLE_BUCKET_MAX 4

/* As 'bucket': a bucket is a page of 4096 bytes with as many items as fit.  Such a table grows. */
#define TAMIS_TABLE_PAGE 4096

/* Longest item in a page, key and value together.  In a file made with a higher value_max, a longer value is
 * in blocks of its own, and costs a second read. */
#define TAMIS_TABLE_PAGE_ITEM_MAX 1000

/* Highest value_max of a page table: 64 MiB. */
#define TAMIS_TABLE_VALUE_MAX 67108864

/* Exact parameters of a table.  Zero means the default unless it says otherwise.  The members from
 * n_levels to counter_bits belong together: leave n_levels 0 and all of them are planned for the
 * capacity, with the summary that was asked for; else all that the summary uses must be given.  This
 * struct is complete and does not grow. */
typedef struct tamis_table_params {
    size_t struct_size;
    uint64_t capacity;  /* items that it is made for, 1 to 2^40; required, but not for pages */
    uint64_t seed;      /* of the hash; 0: a random one is chosen, if seed_high is 0 too */
    uint64_t seed_high; /* its upper 64 bits; 0 for TAMIS_HASH_XXH3 */
    tamis_hash_id hash; /* of keys */
    uint64_t key_max;   /* longest key in bytes, at least 1; required, but not for pages */
    uint64_t value_max; /* longest value in bytes; 0: there are no values; for pages: 1000 */
    uint64_t bucket; /* slots of a bucket, 1 to 4, together at most 4096 bytes; or TAMIS_TABLE_PAGE.
                         * By default 1 if key_max is given, else TAMIS_TABLE_PAGE */
    uint64_t stash;  /* items that the stash can take; default 32 and 1 per 10,000 of capacity */
    uint64_t rebuild_permille; /* rebuild_due at so many deleted slots per 1000 of capacity; 100 */
    tamis_summary summary;
    uint64_t n_levels;                             /* sub-tables, 1 to TAMIS_TABLE_LEVELS_MAX */
    uint64_t buckets[TAMIS_TABLE_LEVELS_MAX];      /* of each sub-table */
    uint64_t string_bits;                          /* interpolation: of a string */
    uint64_t cells[TAMIS_TABLE_LEVELS_MAX];        /* interpolation: strings; else: of each filter;
                                               * pages: [0] bits per 1000 items */
    uint64_t hashes[TAMIS_TABLE_LEVELS_MAX];       /* of each filter */
    uint64_t counter_bits[TAMIS_TABLE_LEVELS_MAX]; /* multiple-counting: of a counter of each
                                                    * filter; single-counting: for each type;
                                                    * song: [0] */
} tamis_table_params;

/* All members zero but struct_size. */
static inline void tamis_table_params_init(tamis_table_params *params) {
    memset(params, 0, sizeof *params);
    params->struct_size = sizeof *params;
}

/* Fill in all defaults but the seed, and check.  TAMIS_E_ARGUMENT if a parameter is out of range,
 * TAMIS_E_TOO_LARGE. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_complete(tamis_table_params *params);

/* -------------------------------------------------------------------------------------------------
 * Planning
 */

/* What a table must do.  Zero means the default. */
typedef struct tamis_table_need {
    size_t struct_size;
    uint64_t n;      /* items, 1 to 2^40; required, but not for pages */
    uint64_t bucket; /* slots of a bucket, 1 to 4; default 1; TAMIS_TABLE_PAGE, which takes no odds,
                      * slots and rebuild_permille */
    tamis_summary summary;
    double odds; /* that any item is a crisis or a failure, 1e-16 to 0.5; default 1e-9 */
    double fpr;  /* error rate of the summary, 1e-15 to 0.5; default 0.006, for pages 0.0022 */
    double slots_per_item;     /* 1 to 100; default 6, 4, 3, 2.5 for buckets of 1 to 4 slots */
    uint64_t rebuild_permille; /* deleted items, per 1000 of n, that wait for a rebuild; 100 */
    bool no_deletes;           /* items are never deleted: a smaller summary is enough */
} tamis_table_need;

static inline void tamis_table_need_init(tamis_table_need *need) {
    memset(need, 0, sizeof *need);
    need->struct_size = sizeof *need;
}

/* A plan: parameters, but for the seed and the sizes of key and value, and what they promise. */
typedef struct tamis_table_plan {
    size_t struct_size;
    tamis_table_params params;
    double level_items[TAMIS_TABLE_LEVELS_MAX]; /* expected in each sub-table */
    double crisis;         /* probability of any crisis, at most; for a summary that forgets, with
                            * items that come and go for ever, expected number at a moment */
    double failure;        /* the same for failures */
    double fpr;            /* error rate of the summary when n items are in */
    uint64_t summary_bits; /* size of the summary, without the bits for the slots */
} tamis_table_plan;

static inline void tamis_table_plan_init(tamis_table_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->struct_size = sizeof *plan;
    tamis_table_params_init(&plan->params);
}

/* Find sub-tables and the smallest summary that keep the promise, in less than a second.
 *
 * 'plan' must have been through tamis_table_plan_init.  TAMIS_E_ARGUMENT if the need is out of range,
 * TAMIS_E_UNSUPPORTED if no table can do that, TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_plan_make(const tamis_table_need *need,
                                                              tamis_table_plan *plan);

/* The configurations of the paper, its Table III, for n = 10,000 or 100,000.  TAMIS_E_ARGUMENT for any
 * other n, TAMIS_E_NOMEM. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_plan_paper(uint64_t n, tamis_summary summary,
                                                               tamis_table_plan *plan);

/* -------------------------------------------------------------------------------------------------
 * Making, opening and closing
 */

/* A table.  Opaque. */
typedef struct tamis_table tamis_table;

/* What is on the disk when a call returns.  Against the end of the process, by whatever signal, all of
 * them are safe.
 *
 * If the power fails, a table with pages has the state of the last sync, or close, and of what was done after
 * it the first calls, in order: some, none or all.  With TAMIS_SYNC_EACH every call ends with a sync.
 *
 * A table with slots keeps this promise with TAMIS_SYNC_EACH.  With TAMIS_SYNC_BATCH only items that no call
 * since the last sync has changed are safe, and only in slots of up to 448 bytes: larger ones may go back to
 * what they were before that sync, if a sector of the journal is torn.  Of the others each may have its old
 * value, its new one or none, in no order, or be there twice, and the table may open with 'repair' only. */
typedef enum tamis_sync {
    TAMIS_SYNC_BATCH = 0, /* all up to the last tamis_table_sync or tamis_table_close */
    TAMIS_SYNC_EACH = 1,  /* with each put and delete: one fdatasync each */
    TAMIS_SYNC_NONE = 2   /* when the system likes */
} tamis_sync;

/* How slots are read. */
typedef enum tamis_table_io {
    TAMIS_TABLE_MAP = 0,   /* from a mapping of the file */
    TAMIS_TABLE_READ = 1,  /* by a read of one page each */
    TAMIS_TABLE_DIRECT = 2 /* by a read of one page each, past the cache where it can (O_DIRECT) */
} tamis_table_io;

/* How to open a file.  NULL for this struct means all defaults. */
typedef struct tamis_table_options {
    size_t struct_size;
    bool read_only;
    bool repair; /* go on without the items that are damaged: see tamis_table_open */
    tamis_sync sync;
    tamis_table_io io;
} tamis_table_options;

static inline void tamis_table_options_init(tamis_table_options *options) {
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Make an empty table in memory.
 *
 * TAMIS_E_ARGUMENT, TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM, or TAMIS_E_IO if no random seed could be had.
 * '*table' is set on success only; the caller closes it.  'allocator' may be NULL; it is copied. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_create(const tamis_table_params *params,
                                                           const tamis_allocator *allocator,
                                                           tamis_table **table);

/* Make an empty table in a new file, and open it.
 *
 * With slots, the space on the disk is reserved now, so that no later call finds the disk full.  Statuses as
 * tamis_table_create, and TAMIS_E_IO if the file exists already or cannot be made; no file is then
 * left.  '*reason' (may be NULL) tells why, a static text.  options->read_only and ->repair must be
 * false. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_create_file(
    const char *path, const tamis_table_params *params, const tamis_table_options *options,
    const tamis_allocator *allocator, tamis_table **table, const char **reason);

/* Open a table file.
 *
 * A file that was closed is read as it is: the summary and the bit table are loaded.  After a process was
 * killed (or the power failed), the last calls are repeated from the journal in the file, and the
 * summary is made anew from the items, which reads the file once; a read-only table does that in memory.
 *
 * TAMIS_E_FORMAT if the file is none of ours or damaged, TAMIS_E_VERSION if it was written by a newer
 * version, TAMIS_E_LOCKED, TAMIS_E_IO, TAMIS_E_NOMEM, TAMIS_E_TOO_LARGE; TAMIS_E_UNSUPPORTED for a
 * read-only table that was not closed and is not mapped.  '*reason' (may be NULL) tells why.
 *
 * A damaged item is never taken for an absent one.  If one is found when the summary is made anew, the
 * table is refused; with 'repair' the summary is always made anew, damaged slots are emptied, and
 * tamis_table_info tells how many there were. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_open(const char *path,
                                                         const tamis_table_options *options,
                                                         const tamis_allocator *allocator,
                                                         tamis_table **table, const char **reason);

/* Close a table, and free it in any case.  NULL is allowed.  In a forked child only its memory is freed.
 *
 * A file gets its summary, so that it can be opened quickly, and a file of pages is made as short as it can
 * be.  TAMIS_E_IO or TAMIS_E_NOMEM if that could not be done: no item is lost then, but the next
 * tamis_table_open must make the summary anew. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_close(tamis_table *table);

/* -------------------------------------------------------------------------------------------------
 * Items
 *
 * A key has 0 to key_max bytes, a value 0 to value_max.  A pointer may be NULL if its size is 0.
 */

/* Store an item, in place of the one with the same key if there is one.
 *
 * '*added' (may be NULL) tells whether the key is new.
 *
 * TAMIS_E_ARGUMENT if key or value are too long, or both together for a page; TAMIS_E_FULL if neither the
 * sub-tables nor the stash have room for a new key (of keys chosen to collide the stash takes 512 at most),
 * or if a page is full of keys that have the same hash; TAMIS_E_NOMEM;
 * TAMIS_E_READONLY, TAMIS_E_FORMAT if a damaged slot was met; the table and '*added' are then unchanged.
 * TAMIS_E_IO if the system refused to read or write: the table then answers as before, but takes no more
 * changes, and whether this one is there after it is opened anew is not known.
 *
 * With slots: no read of slow memory for most new keys, one for a known one; two small writes.  With
 * pages: one read; a small write, and now and then all pages that were changed.  With the summary 'song' the
 * items in all buckets of a new key are read, and some are moved; unless TAMIS_SYNC_NONE, a put that moves
 * items syncs the file. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_put(tamis_table *table, const void *key,
                                                        size_t key_size, const void *value,
                                                        size_t value_size, bool *added);

/* Find an item: its value goes to 'value', its size to '*value_size' (may be NULL).
 *
 * 'value' may be NULL with room 0 to ask whether the key is there.  TAMIS_E_NOT_FOUND, which is certain;
 * TAMIS_E_TOO_LARGE if the value does not fit 'room' bytes and 'value' is not NULL, with '*value_size'
 * set all the same; TAMIS_E_ARGUMENT if the key is longer than any in the table can be;
 * TAMIS_E_FORMAT if a damaged slot was met, TAMIS_E_IO. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_get(const tamis_table *table, const void *key,
                                                        size_t key_size, void *value, size_t room,
                                                        size_t *value_size);

/* Delete an item.  TAMIS_E_NOT_FOUND if there is none, and all statuses of tamis_table_put but
 * TAMIS_E_FULL.  TAMIS_E_UNSUPPORTED with the summary 'song', whether there is one or not.  Its bytes are
 * overwritten with zeros. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_delete(tamis_table *table, const void *key,
                                                           size_t key_size);

/* -------------------------------------------------------------------------------------------------
 * Batches
 *
 * Like as many calls for one item, in order, but the pages that they need are fetched at the same time, if
 * the file is not read past the cache.  Of changes, the records are written together, and with
 * TAMIS_SYNC_EACH there is one sync, when all are made.  So after a crash in the middle of a batch there is
 * a prefix of it.  A table with slots gains nothing: it makes the calls one by one.
 */

/* A key to look for: what tamis_table_get takes and gives. */
typedef struct tamis_table_ask {
    const void *key;
    size_t key_size;
    void *value;
    size_t room;
    size_t value_size;   /* set if the key is there */
    tamis_status status; /* set: that of tamis_table_get for this key */
} tamis_table_ask;

typedef struct tamis_table_item {
    const void *key;
    size_t key_size;
    const void *value;
    size_t value_size;
} tamis_table_item;

/* Look for n keys.  '*found' (may be NULL) is how many are there.  TAMIS_E_ARGUMENT if a pointer is NULL;
 * else the first status of a key that is none of TAMIS_OK, TAMIS_E_NOT_FOUND and TAMIS_E_TOO_LARGE, or
 * TAMIS_OK.  All keys are looked for in any case. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_get_many(const tamis_table *table,
                                                             tamis_table_ask *asks, size_t n,
                                                             size_t *found);

/* Store n items.  '*done' (may be NULL) is how many are stored; it is less than n only if a status other than
 * TAMIS_OK is returned, which is that of the first that could not be stored.  After TAMIS_E_IO the last of
 * these may be lost too. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_put_many(tamis_table *table,
                                                             const tamis_table_item *items,
                                                             size_t n, size_t *done);

/* Delete n keys.  '*done' (may be NULL) as for tamis_table_put_many, but a key that is not there is no
 * failure; '*found' (may be NULL) is how many were there. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_delete_many(tamis_table *table,
                                                                const tamis_bytes *keys, size_t n,
                                                                size_t *done, size_t *found);

/* Walk over all items, in no order: '*at' begins at 0.  Key and value go to buffers of key_max and
 * value_max bytes ('value' may be NULL), their sizes to the two numbers.  TAMIS_E_NOT_FOUND at the end,
 * TAMIS_E_FORMAT at a damaged slot (the next call goes on after it), TAMIS_E_IO, TAMIS_E_ARGUMENT.
 * An item that is put or moved during the walk may be met twice or not at all. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_next(const tamis_table *table, uint64_t *at,
                                                         void *key, size_t *key_size, void *value,
                                                         size_t *value_size);

/* Number of items. */
TAMIS_API uint64_t tamis_table_count(const tamis_table *table);

/* -------------------------------------------------------------------------------------------------
 * Care
 */

/* Bring all changes to the disk.  TAMIS_E_IO.  Nothing to do in memory. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_sync(tamis_table *table);

/* Bring a table that is open for reading, beside a writer, up to date: it then has at least all changes
 * whose calls had returned, in whichever process, when this call was made, and is again as the table was
 * between two calls of the writer.  That includes changes that are not synced yet.  '*changed' (may be NULL)
 * is false if nothing has changed.  Nothing to do for other tables.
 *
 * Reads two pages and what is new: records of changes, and of pages that were written since the last call the
 * index and these pages.  It counts as a change of the handle: no other thread may use it meanwhile.
 *
 * While a reader does not refresh, the writer cannot use again what the reader sees, and the file grows.
 *
 * TAMIS_E_NOMEM, TAMIS_E_IO, TAMIS_E_FORMAT if the file is damaged, TAMIS_E_LOCKED if the table is being
 * repaired: the table is then as it was before the call or newer, and can be used. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_refresh(tamis_table *table, bool *changed);

/* Do up to 'max_steps' steps of a rebuild, beginning one if none is under way; '*done' (may be NULL)
 * tells whether it is complete.
 *
 * A rebuild moves the items that now find a free slot in an earlier sub-table, about one in a hundred if
 * a tenth was deleted, makes the slots of deleted items usable again and makes a new summary; while it
 * is under way the table can be used as always, and answers from the old one.  A step looks at one
 * item, or at up to 64 free slots.  A rebuild that is not completed before the table is closed
 * has lost nothing; the next one begins anew.  With a summary that can forget, it only moves; with 'song'
 * there is nothing to do.
 * Of a table with pages, a step fills up to 250 pages anew.
 *
 * Needs memory for a second summary: TAMIS_E_NOMEM.  TAMIS_E_READONLY, TAMIS_E_IO, TAMIS_E_FORMAT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_rebuild(tamis_table *table, uint64_t max_steps,
                                                            bool *done);

/* Read the whole table and check it: each slot, that each item is where it is found, that no key is there
 * twice, that a summary which can forget has each of them, and all counts.  TAMIS_E_FORMAT and '*reason'
 * (may be NULL) if something is wrong, TAMIS_E_IO.  For such a summary it needs a copy: TAMIS_E_NOMEM.
 * '*failures' (may be NULL) is set to the number of items that the summary is wrong about. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_verify(const tamis_table *table,
                                                           uint64_t *failures, const char **reason);

/* What a table is. */
typedef struct tamis_table_state {
    size_t struct_size;
    uint64_t count;
    uint64_t deleted; /* slots of deleted items, not usable before a rebuild */
    uint64_t stash_used;
    uint64_t level_count[TAMIS_TABLE_LEVELS_MAX]; /* items in each sub-table */
    uint64_t slots;         /* of all sub-tables; the stash is not counted; or pages */
    uint64_t slot_bytes;    /* of one slot or page */
    uint64_t slow_bytes;    /* of the file, or of the memory in its place */
    uint64_t summary_bytes; /* fast memory: the summary */
    uint64_t
        bit_bytes; /* fast memory: the bits that tell which slots are in use; or the index of pages */
    uint64_t stash_bytes; /* fast memory: the index of the stash */
    double fpr;           /* error rate of the summary now */
    uint64_t damaged;     /* slots or pages emptied by 'repair' */
    bool in_file;
    bool read_only;
    bool recovered;   /* the summary was made anew when the file was opened */
    bool rebuild_due; /* there are more deleted slots than rebuild_permille allows */
    bool rebuilding;
    tamis_table_params params; /* complete */
    uint64_t dropped; /* pages: changes found in the file behind one that is missing, when it was
                                * opened.  They were not synced, and are left out */
} tamis_table_state;

static inline void tamis_table_state_init(tamis_table_state *info) {
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
}

/* 'info' must have been through tamis_table_state_init.  TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_info(const tamis_table *table,
                                                         tamis_table_state *info);

/* What was done since the table was made or opened.  A read is one bucket of
 * slow memory, on one page.  Calls to tamis_table_put and _delete look for the key first; these looks
 * are counted by themselves. */
typedef struct tamis_table_counts {
    size_t struct_size;
    uint64_t hits;            /* calls to tamis_table_get that found the key */
    uint64_t hit_reads;       /* and their reads */
    uint64_t misses;          /* those that did not */
    uint64_t miss_reads;      /* and their reads */
    uint64_t false_positives; /* misses for which the summary named a sub-table */
    uint64_t failures;        /* looks that found the key in another sub-table than the named one */
    uint64_t puts;            /* new items */
    uint64_t updates;         /* items that took the place of another */
    uint64_t deletes;
    uint64_t change_reads; /* reads by the looks of put and delete */
    uint64_t slot_writes;  /* slots written */
    uint64_t crises;       /* new items that found no place in the sub-tables */
    uint64_t moves;    /* items moved by rebuilds; song: by puts, and when the file was opened */
    uint64_t rebuilds; /* completed */
} tamis_table_counts;

static inline void tamis_table_counts_init(tamis_table_counts *stats) {
    memset(stats, 0, sizeof *stats);
    stats->struct_size = sizeof *stats;
}

/* All counts since the table was opened: of a while, the difference of two.  'stats' must have been through
 * tamis_table_counts_init.  TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_table_stats(const tamis_table *table,
                                                          tamis_table_counts *stats);

#ifdef __cplusplus
}
#endif

#endif
