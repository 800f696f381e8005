/* digests.c - the digests of a column, sorted and without repetition
 *
 * Digests are held in one block, which is sorted, and freed of repetition, when it is full.  If little
 * is left the block serves on; else it is doubled, up to work_mem, and then written as a run of a file.
 * Runs have levels, as in a merge sort of many ways: when a level has FAN runs they are merged to one of
 * the next.
 *
 *      held       the last digests
 *      level 0    up to FAN runs, each of one block
 *      level 1    up to FAN runs, each of FAN blocks, and so on
 *
 * Reading merges what is held and the runs of all levels.
 *
 * The order.  Sets take the line of a key from the upper bits of 'lo', and what they store of it from
 * 'hi'.  Keys in an order of one of these would fill lines one after the other, or each by its
 * fingerprints, and the models are for keys in an order of chance.  So the first word of what is sorted
 * is the product of both, mixed, with an odd number: it can be turned back into 'lo', and its order
 * tells nothing about lines and fingerprints.
 *
 * SPDX-License-Identifier: MIT
 */
#include "digests.h"

#include <access/parallel.h>
#include <access/xact.h>
#include <libpq/pqformat.h>
#include <miscadmin.h>
#include <storage/buffile.h>
#include <storage/fileset.h>
#include <storage/proc.h>
#include <utils/memutils.h>

#include <limits.h>

#define FAN    64
#define LEVELS 6
#define BLOCK  512 /* digests that are read or written at a time */
#define LATELY 16  /* bits of the most digests that are remembered to have come */
#define FEW    128 /* digests, for which nothing is remembered */

#define ODD         UINT64CONST(0xd1342543de82ef95)
#define ODD_INVERSE UINT64CONST(0x572b5ee77a54e3bd)

/* A digest as it is sorted. */
typedef struct ordered {
    uint64 rank;
    uint64 hi;
} ordered;

StaticAssertDecl(sizeof(ordered) == 16, "a digest takes 16 bytes");

/* The runs follow each other in the file. */
typedef struct level {
    BufFile *file;
    unsigned n_runs;
    uint64 size[FAN]; /* digests of each run */
} level;

struct digests {
    MemoryContext context;
    MemoryContextCallback at_end;
    ordered *held;
    size_t n, n_sorted, room; /* the first n_sorted are in order, each once */
    ordered *lately; /* some that were added, by their upper bits; NULL while few come again */
    unsigned lately_bits;
    level *levels; /* LEVELS of them once something was written, or NULL */
};

/* What is not yet read of a run. */
typedef struct run {
    BufFile *file; /* NULL: 'block' is all there is */
    uint64 at;     /* in the file, of what is not in the block */
    uint64 left;
    ordered *block;
    size_t n, next;
} run;

struct digests_reader {
    run *runs;
    size_t n_runs;
    run **heap; /* of the runs that have something left, the one with the least first */
    size_t n_heap;
};

/* ---- order ---- */

static uint64 turned(uint64 word) {
    return word << 32 | word >> 32;
}

static ordered in_order(tamis_digest digest) {
    const ordered made = {(digest.lo ^ turned(digest.hi)) * ODD, digest.hi};
    return made;
}

static tamis_digest as_digest(ordered from) {
    const tamis_digest digest = {(from.rank * ODD_INVERSE) ^ turned(from.hi), from.hi};
    return digest;
}

static int compare(const ordered *a, const ordered *b) {
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->hi < b->hi ? -1 : a->hi > b->hi;
}

#define ST_SORT          sort_digests
#define ST_ELEMENT_TYPE  ordered
#define ST_COMPARE(a, b) compare(a, b)
#define ST_SCOPE         static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include <lib/sort_template.h>

/* Sort what is held and drop repetitions. */
static void compact(digests *all) {
    if (all->n_sorted == all->n)
        return;
    sort_digests(all->held, all->n);
    size_t kept = 1;
    for (size_t i = 1; i < all->n; i++)
        if (compare(&all->held[i], &all->held[kept - 1]) != 0)
            all->held[kept++] = all->held[i];
    all->n = all->n_sorted = kept;
}

/* ---- files ---- */

static void close_files(void *argument) {
    digests *const all = argument;
    for (unsigned i = 0; all->levels != NULL && i < LEVELS; i++)
        if (all->levels[i].file != NULL)
            BufFileClose(all->levels[i].file);
}

digests *digests_new(MemoryContext context) {
    digests *const all = MemoryContextAllocZero(context, sizeof *all);
    all->context = context;
    return all;
}

static void seek(BufFile *file, uint64 digest) {
    if (BufFileSeek(file, 0, (off_t)(digest * sizeof(ordered)), SEEK_SET) != 0)
        ereport(ERROR,
                (errcode_for_file_access(), errmsg("could not seek in a temporary file: %m")));
}

static uint64 level_end(const level *of) {
    uint64 end = 0;
    for (unsigned i = 0; i < of->n_runs; i++)
        end += of->size[i];
    return end;
}

static void read_block(run *from) {
    CHECK_FOR_INTERRUPTS();
    seek(from->file, from->at);
    from->n = (size_t)Min(from->left, (uint64)BLOCK);
    from->next = 0;
    if (BufFileRead(from->file, from->block, from->n * sizeof *from->block) !=
        from->n * sizeof *from->block)
        ereport(ERROR, (errcode_for_file_access(), errmsg("could not read a temporary file: %m")));
    from->at += from->n;
    from->left -= from->n;
}

/* ---- merging ---- */

static const ordered *least_of(const run *of) {
    return &of->block[of->next];
}

/* Where the heap is right but for its entry 'i', which may be too large: let it down. */
static void let_down(digests_reader *reader, size_t i) {
    run *const moved = reader->heap[i];
    for (size_t child; (child = 2 * i + 1) < reader->n_heap; i = child) {
        if (child + 1 < reader->n_heap &&
            compare(least_of(reader->heap[child + 1]), least_of(reader->heap[child])) < 0)
            child++;
        if (compare(least_of(moved), least_of(reader->heap[child])) <= 0)
            break;
        reader->heap[i] = reader->heap[child];
    }
    reader->heap[i] = moved;
}

/* The run with the least digest goes on to its next. */
static void go_on(digests_reader *reader) {
    run *const first = reader->heap[0];
    first->next++;
    if (first->next == first->n && first->left > 0)
        read_block(first);
    if (first->next == first->n)
        reader->heap[0] = reader->heap[--reader->n_heap];
    if (reader->n_heap > 0)
        let_down(reader, 0);
}

static size_t next_in_order(digests_reader *reader, ordered *to, size_t room) {
    size_t n = 0;
    while (n < room && reader->n_heap > 0) {
        const ordered least = *least_of(reader->heap[0]);
        to[n++] = least;
        while (reader->n_heap > 0 && compare(least_of(reader->heap[0]), &least) == 0)
            go_on(reader);
    }
    return n;
}

static digests_reader *new_reader(size_t n_runs) {
    digests_reader *const reader = palloc0(sizeof *reader);
    reader->runs = palloc0(Max(n_runs, 1) * sizeof *reader->runs);
    reader->heap = palloc(Max(n_runs, 1) * sizeof(run *));
    return reader;
}

static void add_file(digests_reader *reader, BufFile *file, uint64 at, uint64 size) {
    run *const added = &reader->runs[reader->n_runs++];
    added->file = file;
    added->at = at;
    added->left = size;
    added->block = palloc(BLOCK * sizeof *added->block);
    read_block(added);
}

static void add_level(digests_reader *reader, const level *of) {
    uint64 at = 0;
    for (unsigned i = 0; i < of->n_runs; at += of->size[i++])
        add_file(reader, of->file, at, of->size[i]);
}

static digests_reader *begin(digests_reader *reader) {
    for (size_t i = 0; i < reader->n_runs; i++)
        if (reader->runs[i].n > 0)
            reader->heap[reader->n_heap++] = &reader->runs[i];
    for (size_t i = reader->n_heap / 2; i-- > 0;)
        let_down(reader, i);
    return reader;
}

digests_reader *digests_read(digests *all) {
    compact(all);
    size_t n_runs = 1;
    for (unsigned i = 0; all->levels != NULL && i < LEVELS; i++)
        n_runs += all->levels[i].n_runs;
    digests_reader *const reader = new_reader(n_runs);
    const run held = {NULL, 0, 0, all->held, all->n, 0};
    reader->runs[reader->n_runs++] = held;
    for (unsigned i = 0; all->levels != NULL && i < LEVELS; i++)
        add_level(reader, &all->levels[i]);
    return begin(reader);
}

size_t digests_next(digests_reader *reader, tamis_digest *to, size_t room) {
    ordered block[BLOCK];
    const size_t n = next_in_order(reader, block, Min(room, BLOCK));
    for (size_t i = 0; i < n; i++)
        to[i] = as_digest(block[i]);
    return n;
}

void digests_close(digests_reader *reader) {
    for (size_t i = 0; i < reader->n_runs; i++)
        if (reader->runs[i].file != NULL)
            pfree(reader->runs[i].block);
    pfree(reader->heap);
    pfree(reader->runs);
    pfree(reader);
}

uint64 digests_count(digests *all) {
    compact(all);
    if (all->levels == NULL)
        return all->n;
    ordered block[BLOCK];
    uint64 count = 0;
    digests_reader *const reader = digests_read(all);
    for (size_t n; (n = next_in_order(reader, block, BLOCK)) > 0;)
        count += n;
    digests_close(reader);
    return count;
}

/* ---- writing ---- */

/* All of a reader to a file; closes the reader. */
static uint64 write_all(digests_reader *reader, BufFile *file) {
    ordered block[BLOCK];
    uint64 written = 0;
    for (size_t n; (n = next_in_order(reader, block, BLOCK)) > 0; written += n)
        BufFileWrite(file, block, n * sizeof *block);
    digests_close(reader);
    return written;
}

static void begin_levels(digests *all) {
    all->levels = MemoryContextAllocZero(all->context, LEVELS * sizeof *all->levels);
    all->at_end.func = close_files;
    all->at_end.arg = all;
    MemoryContextRegisterResetCallback(all->context, &all->at_end);
}

/* A level whose file is at the place of its next run.  Files are of the context, not of a resource owner:
 * whatever ends the context closes them. */
static level *writable(digests *all, unsigned which) {
    level *const to = &all->levels[which];
    if (to->file == NULL) {
        MemoryContext before = MemoryContextSwitchTo(all->context);
        to->file = BufFileCreateTemp(true);
        MemoryContextSwitchTo(before);
    }
    seek(to->file, level_end(to));
    return to;
}

/* Make room for one more run of level 0: full levels become a run of the next, the highest first. */
static void merge_levels(digests *all) {
    unsigned top = 0;
    while (top < LEVELS && all->levels[top].n_runs == FAN)
        top++;
    if (top == LEVELS)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("there are too many keys")));
    for (; top > 0; top--) {
        level *const from = &all->levels[top - 1], *const to = writable(all, top);
        digests_reader *const reader = new_reader(from->n_runs);
        add_level(reader, from);
        to->size[to->n_runs] = write_all(begin(reader), to->file);
        to->n_runs++;
        BufFileClose(from->file);
        from->file = NULL;
        from->n_runs = 0;
    }
}

static void write_held(digests *all) {
    if (all->levels == NULL)
        begin_levels(all);
    merge_levels(all);
    level *const to = writable(all, 0);
    BufFileWrite(to->file, all->held, all->n * sizeof *all->held);
    to->size[to->n_runs++] = all->n;
    all->n = all->n_sorted = 0;
}

/* Where most keys come again and again, most need not be sorted.  There is room for four times the
 * digests that are held now.  No digest belongs where the mark stands. */
static void remember_from_now_on(digests *all) {
    unsigned bits = all->lately_bits;
    while (((size_t)1 << bits) < 2 * all->room && bits < LATELY)
        bits++;
    if (all->room < FEW || bits == all->lately_bits)
        return;
    if (all->lately != NULL)
        pfree(all->lately);
    all->lately = MemoryContextAllocZero(all->context, sizeof *all->lately << bits);
    all->lately[0].rank = PG_UINT64_MAX;
    all->lately_bits = bits;
}

static bool came_lately(digests *all, ordered added) {
    ordered *const there = &all->lately[added.rank >> (64 - all->lately_bits)];
    if (compare(there, &added) == 0)
        return true;
    *there = added;
    return false;
}

/* The block is full: it is freed of repetition, or doubled, or written. */
static void make_room(digests *all) {
    const size_t most = (size_t)work_mem * 1024 / sizeof *all->held;
    if (all->held == NULL) {
        all->room = 32;
        all->held = MemoryContextAlloc(all->context, all->room * sizeof *all->held);
        return;
    }
    compact(all);
    if (all->n <= all->room / 2) {
        remember_from_now_on(all);
        return;
    }
    if (2 * all->room > most) {
        write_held(all);
        return;
    }
    all->room *= 2;
    all->held = repalloc_huge(all->held, all->room * sizeof *all->held);
}

static void add_ordered(digests *all, ordered added) {
    if (all->lately != NULL && came_lately(all, added))
        return;
    if (all->n == all->room)
        make_room(all);
    all->held[all->n++] = added;
}

void digests_add(digests *all, tamis_digest digest) {
    add_ordered(all, in_order(digest));
}

/* ---- from a worker to its leader ----
 *
 *      0, the number of digests, the digests                 if there are few
 *      1, the number of digests, the name of the file        if they are many
 *
 * The folder of the files is that of the leader's process, by a number that the server gives to none of
 * its own, so that the leader finds it although a query may have ended between sending and receiving. */

#define FOLDER       ((uint32)INT_MAX + 1)
#define MESSAGE_MOST ((size_t)1 << 22) /* digests, 64 MiB */

static FileSet folder_of(pid_t leader) {
    FileSet folder = {leader, FOLDER, 1, {MyDatabaseTableSpace}};
    return folder;
}

static pid_t my_leader(void) {
    return MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : MyProcPid;
}

void digests_send(digests *all, StringInfo message) {
    static uint32 number;
    compact(all);
    if (all->levels == NULL && all->n <= MESSAGE_MOST) {
        pq_sendbyte(message, 0);
        pq_sendint64(message, all->n);
        pq_sendbytes(message, (const char *)all->held, (int)(all->n * sizeof *all->held));
        return;
    }
    char name[32];
    snprintf(name, sizeof name, "%d.%u", MyProcPid, number++);
    FileSet folder = folder_of(my_leader());
    BufFile *const file = BufFileCreateFileSet(&folder, name);
    const uint64 n = write_all(digests_read(all), file);
    BufFileExportFileSet(file);
    BufFileClose(file);
    pq_sendbyte(message, 1);
    pq_sendint64(message, n);
    pq_sendstring(message, name);
}

void digests_receive(digests *all, StringInfo message) {
    const int in_file = pq_getmsgbyte(message);
    const uint64 n = (uint64)pq_getmsgint64(message);
    if (!in_file) {
        for (uint64 i = 0; i < n; i++) {
            ordered one;
            pq_copymsgbytes(message, (char *)&one, sizeof one);
            add_ordered(all, one);
        }
        return;
    }
    const char *const name = pq_getmsgstring(message);
    FileSet folder = folder_of(my_leader());
    BufFile *const file = BufFileOpenFileSet(&folder, name, O_RDONLY, false);
    ordered block[BLOCK];
    digests_reader *const reader = new_reader(1);
    add_file(reader, file, 0, n);
    begin(reader);
    for (size_t got; (got = next_in_order(reader, block, BLOCK)) > 0;)
        for (size_t i = 0; i < got; i++)
            add_ordered(all, block[i]);
    digests_close(reader);
    BufFileClose(file);
    BufFileDeleteFileSet(&folder, name, false);
}

static void at_end_of_transaction(XactEvent event, void *argument) {
    (void)argument;
    if ((event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT) && !IsParallelWorker()) {
        FileSet folder = folder_of(MyProcPid);
        FileSetDeleteAll(&folder); /* most often a call of the system that finds nothing */
    }
}

void digests_define(void) {
    RegisterXactCallback(at_end_of_transaction, NULL);
}
