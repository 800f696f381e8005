/* file.c - tables in files: header, making, opening, closing
 *
 * The header, little-endian, fills page 0:
 *
 *      offset  size
 *           0     8  magic: 0x89 'T' 'A' 'M' 'T' 'A' 'B' 0x0a
 *           8     4  version of the format: 3 for page tables (pages.h), else 1 for the hash XXH3, else 2
 *          12     4  size of the header, 4096
 *          16     4  summary
 *          20     4  hash, a tamis_hash_id
 *          24     8  capacity
 *          32     8  seed
 *          40     8  longest key
 *          48     8  longest value
 *          56     8  slots of a bucket
 *          64     8  slots of the stash
 *          72     8  rebuild_permille
 *          80     8  sub-tables
 *          88     8  string_bits
 *          96   128  buckets of the sub-tables
 *         224   128  cells
 *         352   128  hashes
 *         480   128  counter_bits
 *         608     8  upper half of the seed; zero for XXH3
 *         616  3472  zero
 *        4088     8  XXH3-64 of the header up to here
 *
 * Nothing in it is trusted.  The parameters go through the same check as those of a caller and must
 * come out unchanged.  The size of the file is computed from them and compared.
 *
 * Opening: if the state says that the file was closed, bits and summary are read, and used if their
 * checksum and counts are right.  In all other cases the journal is applied and they are made again
 * from the slots.  So nothing depends on them: damage there costs time, not answers.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1 /* O_DIRECT, flock */

#include "table/table.h"

#include "hash/hash.h"

#include "base/system.h"

#include <errno.h>
#include <sys/stat.h>
#ifdef TAMIS_I_HAS_FLOCK
#include <sys/file.h>
#endif

#define VERSION_MAX 3u

enum {
    AT_VERSION = 8,
    AT_HEADER_SIZE = 12,
    AT_SUMMARY = 16,
    AT_HASH = 20,
    AT_NUMBERS = 24,
    AT_BUCKET = 56,
    AT_LISTS = 96,
    AT_SEED_HIGH = 608,
    AT_RESERVED = 616,
    AT_CHECKSUM = TAMIS_I_PAGE - 8
};

static const unsigned char magic[8] = {0x89, 'T', 'A', 'M', 'T', 'A', 'B', '\n'};

/* -------------------------------------------------------------------------------------------------
 * Header
 */

enum { N_NUMBERS = 9, N_LISTS = 4 };

/* The single numbers and the lists, in the order of the header. */
static void table_file_fields(tamis_table_params *params, uint64_t *numbers[N_NUMBERS],
                              uint64_t *lists[N_LISTS]) {
    uint64_t *const all[N_NUMBERS] = {
        &params->capacity,         &params->seed,     &params->key_max,
        &params->value_max,        &params->bucket,   &params->stash,
        &params->rebuild_permille, &params->n_levels, &params->string_bits};
    memcpy(numbers, all, sizeof all);
    lists[0] = params->buckets;
    lists[1] = params->cells;
    lists[2] = params->hashes;
    lists[3] = params->counter_bits;
}

static unsigned char *table_file_list_at(unsigned char *bytes, unsigned list, unsigned i) {
    return bytes + AT_LISTS + 8 * (size_t)(list * TAMIS_TABLE_LEVELS_MAX + i);
}

static uint32_t table_file_version_of(tamis_hash_id hash, uint64_t bucket) {
    return bucket == TAMIS_TABLE_PAGE ? 3 : hash == TAMIS_HASH_XXH3 ? 1 : 2;
}

void tamis_i_table_encode_header(const tamis_table_params *params, unsigned char *bytes) {
    tamis_table_params own = *params;
    uint64_t *numbers[N_NUMBERS], *lists[N_LISTS];
    table_file_fields(&own, numbers, lists);
    memset(bytes, 0, TAMIS_I_PAGE);
    memcpy(bytes, magic, sizeof magic);
    tamis_i_put_u32(bytes + AT_VERSION, table_file_version_of(own.hash, own.bucket));
    tamis_i_put_u32(bytes + AT_HEADER_SIZE, TAMIS_I_PAGE);
    tamis_i_put_u32(bytes + AT_SUMMARY, (uint32_t)own.summary);
    tamis_i_put_u32(bytes + AT_HASH, (uint32_t)own.hash);
    tamis_i_put_u64(bytes + AT_SEED_HIGH, own.seed_high);
    for (unsigned i = 0; i < N_NUMBERS; i++)
        tamis_i_put_u64(bytes + AT_NUMBERS + (size_t)8 * i, *numbers[i]);
    for (unsigned list = 0; list < N_LISTS; list++)
        for (unsigned i = 0; i < TAMIS_TABLE_LEVELS_MAX; i++)
            tamis_i_put_u64(table_file_list_at(bytes, list, i), lists[list][i]);
    tamis_i_put_u64(bytes + AT_CHECKSUM, tamis_i_checksum(bytes, AT_CHECKSUM));
}

static tamis_status table_file_decode_header(unsigned char *bytes, tamis_table_params *params,
                                             const char **reason) {
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return tamis_i_refuse(reason, "this is not a tamis table");
    const uint32_t version = tamis_i_get_u32(bytes + AT_VERSION);
    if (version > VERSION_MAX) {
        *reason = "the table has a newer format than this version of tamis can read";
        return TAMIS_E_VERSION;
    }
    if (tamis_i_checksum(bytes, AT_CHECKSUM) != tamis_i_get_u64(bytes + AT_CHECKSUM))
        return tamis_i_refuse(reason, "the header is damaged: its checksum does not match");
    if (version == 0)
        return tamis_i_refuse(reason, "the header has version 0, which does not exist");
    if (tamis_i_get_u32(bytes + AT_HEADER_SIZE) != TAMIS_I_PAGE)
        return tamis_i_refuse(reason, "the header has the wrong size");
    const tamis_hash_id hash = (tamis_hash_id)(tamis_i_get_u32(bytes + AT_HASH) & 0xff);
    const uint64_t bucket = tamis_i_get_u64(bytes + AT_BUCKET);
    if (tamis_i_get_u32(bytes + AT_HASH) > 0xff || tamis_hash_name(hash) == NULL ||
        version < table_file_version_of(hash, 1))
        return tamis_i_refuse(reason, "the header names an unknown hash");
    if (version < table_file_version_of(hash, bucket))
        return tamis_i_refuse(reason, "the header has a lower version than it needs");
    if (version > table_file_version_of(hash, bucket))
        return tamis_i_refuse(reason, "the header has a higher version than it needs");
    for (unsigned i = hash == TAMIS_HASH_XXH3 ? AT_SEED_HIGH : AT_RESERVED; i < AT_CHECKSUM; i++)
        if (bytes[i] != 0)
            return tamis_i_refuse(reason, "a reserved field of the header is not zero");
    tamis_table_params own;
    uint64_t *numbers[N_NUMBERS], *lists[N_LISTS];
    tamis_table_params_init(&own);
    table_file_fields(&own, numbers, lists);
    const uint32_t summary = tamis_i_get_u32(bytes + AT_SUMMARY);
    if (summary == 0 || tamis_i_summary_by_id(summary) == NULL)
        return tamis_i_refuse(reason, "the header names an unknown summary");
    own.summary = (tamis_summary)summary;
    own.hash = hash;
    own.seed_high = tamis_i_get_u64(bytes + AT_SEED_HIGH);
    for (unsigned i = 0; i < N_NUMBERS; i++)
        *numbers[i] = tamis_i_get_u64(bytes + AT_NUMBERS + (size_t)8 * i);
    for (unsigned list = 0; list < N_LISTS; list++)
        for (unsigned i = 0; i < TAMIS_TABLE_LEVELS_MAX; i++)
            lists[list][i] = tamis_i_get_u64(table_file_list_at(bytes, list, i));
    /* defaults are filled in before a header is written */
    const bool given = bucket == TAMIS_TABLE_PAGE
                           ? own.key_max > 0 && own.value_max > 0
                           : bucket > 0 && own.stash > 0 && own.rebuild_permille > 0;
    if (!given || !tamis_i_hasher_ok(hash, own.seed, own.seed_high) ||
        tamis_i_table_complete(&own) != TAMIS_OK)
        return tamis_i_refuse(reason, "the header has impossible parameters");
    *params = own;
    return TAMIS_OK;
}

/* -------------------------------------------------------------------------------------------------
 * Fast memory in the file
 */

static uint64_t table_file_bit_words(const tamis_table *table) {
    return table->n_bit_words * (table->deleted == NULL ? 1 : 2);
}

static uint64_t table_file_fast_words(const tamis_table *table) {
    return table_file_bit_words(table) + table->summary.n_words;
}

static uint64_t table_file_fast_checksum(const tamis_table *table) {
    return tamis_i_mix(tamis_i_checksum_words(table->used, (size_t)table_file_bit_words(table))) ^
           tamis_i_checksum_words(table->summary.body, (size_t)table->summary.n_words);
}

/* Enter the items of the stash into the index.  False if one cannot be read, or finds no place there. */
static bool table_file_index_stash(tamis_table *table) {
    const unsigned part = table->slots.n_levels;
    for (uint64_t slot = table->slots.first[part]; slot < table->slots.first[part + 1]; slot++) {
        if (!tamis_i_table_live(table, slot))
            continue;
        tamis_i_buffer buffer;
        tamis_i_item item;
        const unsigned char *const image =
            tamis_i_store_read(&table->store, part, slot, buffer.bytes);
        if (image == NULL || !tamis_i_slot_decode(&table->slots, slot, image, &item))
            return false;
        if (!tamis_i_index_insert(&table->index,
                                  tamis_i_table_digest(table, item.key, item.key_size), slot))
            return false;
    }
    return true;
}

static bool table_file_bits_ok(const tamis_table *table) {
    const uint64_t n = tamis_i_slots_count(&table->slots);
    const uint64_t past = n % 64 == 0 ? 0 : ~tamis_i_low_mask((unsigned)(n % 64));
    if ((table->used[table->n_bit_words - 1] & past) != 0)
        return false;
    if (table->deleted == NULL)
        return true;
    for (uint64_t i = 0; i < table->n_bit_words; i++)
        if ((table->deleted[i] & ~table->used[i]) != 0)
            return false;
    for (uint64_t slot = table->slots.first[table->slots.n_levels]; slot < n; slot++)
        if (tamis_i_bit_get(table->deleted, slot))
            return false;
    return true;
}

/* Take bits and summary from the file.  False if they cannot be trusted. */
static bool table_file_load_fast(tamis_table *table, const tamis_i_state *state) {
    const tamis_i_store *const store = &table->store;
    const char *reason;
    if (!tamis_i_store_get_words(store, store->fast_at, table->used, table_file_bit_words(table)) ||
        !tamis_i_store_get_words(store, store->fast_at + 8 * table_file_bit_words(table),
                                 table->summary.body, table->summary.n_words) ||
        table_file_fast_checksum(table) != state->fast_checksum || !table_file_bits_ok(table) ||
        !table->summary.kind->check(&table->summary, &reason))
        return false;
    tamis_i_table_recount(table);
    return table->count == state->count && table->n_deleted == state->n_deleted &&
           table_file_index_stash(table);
}

tamis_status tamis_i_table_finish(tamis_table *table) {
    tamis_i_store *const store = &table->store;
    if (table->pages != NULL)
        return tamis_i_pages_finish(table->pages);
    if (store->fd < 0 || store->read_only || (!store->open_marked && !table->recovered))
        return TAMIS_OK;
    if (store->broken)
        return TAMIS_E_IO;
    /* A summary that does not know all items is made again next time, perhaps with more luck. */
    if (table->unknown > 0)
        return store->sync == TAMIS_SYNC_NONE ? TAMIS_OK : tamis_i_store_sync(store);
    if (!tamis_i_store_put_words(store, store->fast_at, table->used, table_file_bit_words(table)) ||
        !tamis_i_store_put_words(store, store->fast_at + 8 * table_file_bit_words(table),
                                 table->summary.body, table->summary.n_words)) {
        store->broken = true;
        return TAMIS_E_IO;
    }
    if (store->sync != TAMIS_SYNC_NONE && tamis_i_store_sync(store) != TAMIS_OK)
        return TAMIS_E_IO;
    const tamis_i_state closed = {.closed = true,
                                  .count = table->count,
                                  .n_deleted = table->n_deleted,
                                  .fast_checksum = table_file_fast_checksum(table)};
    return tamis_i_store_put_state(store, &closed);
}

/* -------------------------------------------------------------------------------------------------
 * Making and opening
 */

/* Lock a file, or fail with EAGAIN, EWOULDBLOCK or EACCES if it is locked elsewhere.  The lock belongs
 * to the open file: it also holds between two handles of one process, and ends with the file, however
 * the process ends.  Only on a system that has neither of the first two does it belong to the process. */
static int table_file_try_lock(int fd, bool read_only) {
#ifdef TAMIS_I_HAS_FLOCK
    return flock(fd, (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB);
#else
#ifdef F_OFD_SETLK
    const int command = F_OFD_SETLK;
#else
    const int command = F_SETLK;
#endif
    struct flock all = {.l_type = read_only ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, command, &all);
#endif
}

/* Page tables have a writer and readers at the same time, if there are locks of bytes. */
static bool table_file_has_pages(int fd) {
    unsigned char head[AT_BUCKET + 8];
    return tamis_i_io_read_at(fd, 0, head, sizeof head) && memcmp(head, magic, sizeof magic) == 0 &&
           tamis_i_get_u64(head + AT_BUCKET) == TAMIS_TABLE_PAGE;
}

/* One writer or any number of readers. */
static tamis_status table_file_lock(int fd, bool read_only, const char **reason) {
    while (table_file_try_lock(fd, read_only) != 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK && errno != EAGAIN && errno != EACCES)
            return tamis_i_io_fault(reason);
        *reason =
            read_only ? "the table is open for changes elsewhere" : "the table is open elsewhere";
        return TAMIS_E_LOCKED;
    }
    return TAMIS_OK;
}

/* The file of a page table, which is locked as for reading: become its writer, or one of its readers.
 * '*shared' tells whether others may be beside it.  If not, the writer has the file for itself. */
static tamis_status table_file_share(int fd, const tamis_table_options *options, bool *shared,
                                     const char **reason) {
    tamis_status status = TAMIS_OK;
    if (!options->read_only) {
        status = tamis_i_lock_writer(fd, options->repair);
    } else {
        status = tamis_i_lock_root(fd, TAMIS_I_PAGES_EPOCHS); /* to see whether it works */
        if (status == TAMIS_OK)
            tamis_i_lock_leave(fd, TAMIS_I_PAGES_EPOCHS);
    }
    *shared = status == TAMIS_OK;
    if (status == TAMIS_E_UNSUPPORTED)
        return options->read_only ? TAMIS_OK : table_file_lock(fd, false, reason);
    if (status == TAMIS_E_LOCKED)
        *reason = options->read_only ? "the table is being repaired elsewhere"
                  : options->repair  ? "the table is open elsewhere"
                                     : "the table is open for changes elsewhere";
    return status == TAMIS_E_IO ? tamis_i_io_fault(reason) : status;
}

tamis_status tamis_i_table_open_direct(int fd, const char *path, int *direct_fd,
                                       const char **reason) {
#ifdef TAMIS_I_HAS_DIRECT
    const int past_cache = O_DIRECT;
#else
    const int past_cache = 0; /* the same reads, through the cache */
#endif
    *direct_fd = open(path, O_RDONLY | past_cache | O_CLOEXEC);
    struct stat ours, theirs;
    if (*direct_fd < 0 || fstat(fd, &ours) != 0 || fstat(*direct_fd, &theirs) != 0)
        return tamis_i_io_fault(reason);
    if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
        return tamis_i_refuse(reason, "the file was replaced while it was opened");
    return TAMIS_OK;
}

/* Give the table its file. */
static tamis_status table_file_attach(tamis_table *table, int fd, const char *path,
                                      const tamis_table_options *options, const char **reason) {
    tamis_i_store *const store = &table->store;
    store->fd = fd;
    store->sync = options->sync;
    store->read_only = options->read_only;
    return options->io == TAMIS_TABLE_DIRECT
               ? tamis_i_table_open_direct(fd, path, &store->direct_fd, reason)
               : TAMIS_OK;
}

/* Give a new file its size, and room on the disk for all of it.  0 or an errno. */
static int table_file_reserve(int fd, uint64_t size) {
#ifdef TAMIS_I_HAS_FALLOCATE
    return posix_fallocate(fd, 0, (off_t)size);
#else
    static const unsigned char zeros[TAMIS_I_PAGE];
    for (uint64_t at = 0; at < size; at += sizeof zeros) /* whole pages */
        if (!tamis_i_io_write_at(fd, at, zeros, sizeof zeros))
            return errno;
    return 0;
#endif
}

/* Fill the new file: reserved space, both states (open), and the header last.  So an incomplete file is
 * not a table. */
static tamis_status table_file_fill(tamis_table *table, const char **reason) {
    tamis_i_store *const store = &table->store;
    const int code = table_file_reserve(store->fd, store->file_size);
    if (code != 0) {
        *reason = tamis_i_errno_text(code);
        return TAMIS_E_IO;
    }
    const tamis_i_state open_state = {.closed = false};
    unsigned char header[TAMIS_I_PAGE];
    tamis_i_table_encode_header(&table->params, header);
    if (tamis_i_store_put_state(store, &open_state) != TAMIS_OK ||
        !tamis_i_io_write_at(store->fd, 0, header, sizeof header))
        return tamis_i_io_fault(reason);
    if (store->sync != TAMIS_SYNC_NONE && fsync(store->fd) != 0)
        return tamis_i_io_fault(reason);
    return TAMIS_OK;
}

tamis_status tamis_i_table_create_file(const char *path, const tamis_table_params *params,
                                       const tamis_table_options *options,
                                       const tamis_allocator *allocator, tamis_table **table,
                                       const char **reason) {
    tamis_table *own;
    const bool pages = params->bucket == TAMIS_TABLE_PAGE;
    if (!tamis_i_fork_watch()) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    tamis_status status = pages ? tamis_i_page_table_make(params, allocator, &own)
                                : tamis_i_table_make(params, allocator, &own);
    if (status == TAMIS_OK && !pages) {
        status = tamis_i_store_layout(&own->store, &own->slots, table_file_fast_words(own));
        if (status != TAMIS_OK)
            tamis_i_table_free(own);
    }
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        *reason = errno == EEXIST ? "the file exists already" : tamis_i_errno_text(errno);
        tamis_i_table_free(own);
        return TAMIS_E_IO;
    }
    if (pages) {
        bool *const shared = &own->pages->file.shared;
        status = table_file_lock(fd, false, reason);
        if (status == TAMIS_OK)
            status = table_file_share(fd, options, shared, reason);
        if (status == TAMIS_OK)
            status = tamis_i_page_table_create_file(own, fd, path, options, reason);
        else
            (void)close(fd);
        if (status == TAMIS_OK && *shared) /* readers may come */
            status = table_file_lock(fd, true, reason);
    } else {
        status = table_file_attach(own, fd, path, options, reason);
        if (status == TAMIS_OK)
            status = table_file_lock(fd, false, reason);
        if (status == TAMIS_OK)
            status = table_file_fill(own, reason);
        if (status == TAMIS_OK && options->io == TAMIS_TABLE_MAP)
            status = tamis_i_store_map(&own->store, false, reason);
    }
    if (status != TAMIS_OK) {
        tamis_i_table_free(own);
        (void)unlink(path);
        return status;
    }
    char folder[4096];
    if (options->sync != TAMIS_SYNC_NONE && tamis_i_io_folder(path, folder, sizeof folder))
        tamis_i_io_sync_folder(folder); /* makes the name of the new file durable */
    own->forks = tamis_i_fork_count();
    *table = own;
    return TAMIS_OK;
}

/* Read the header of an open file and make the table for it, if the file has the right size. */
static tamis_status table_file_examine(int fd, const tamis_allocator *allocator,
                                       tamis_table **table, const char **reason) {
    struct stat about;
    unsigned char header[TAMIS_I_PAGE];
    tamis_table_params params;
    if (fstat(fd, &about) != 0)
        return tamis_i_io_fault(reason);
    if (S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return tamis_i_io_fault(reason);
    }
    if (!S_ISREG(about.st_mode) || about.st_size < (off_t)sizeof header)
        return tamis_i_refuse(reason, "this is not a tamis table");
    if (!tamis_i_io_read_at(fd, 0, header, sizeof header))
        return tamis_i_io_fault(reason);
    tamis_status status = table_file_decode_header(header, &params, reason);
    if (status != TAMIS_OK)
        return status;

    if (params.bucket == TAMIS_TABLE_PAGE) {
        status = tamis_i_page_table_make(&params, allocator, table);
        if (status != TAMIS_OK)
            *reason = tamis_status_text(status);
        return status;
    }

    /* The size is compared before anything is allocated. */
    tamis_i_slots slots;
    tamis_i_store store;
    tamis_i_summary_params summary;
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)params.summary);
    uint64_t words;
    tamis_i_table_summary_params(&params, &summary);
    status = tamis_i_slots_shape(&params, &slots);
    if (status == TAMIS_OK)
        status = kind->shape(&summary, &words);
    if (status == TAMIS_OK) {
        const bool one = (kind->abilities & TAMIS_I_SUMMARY_NO_DELETION_BITS) != 0;
        words += (tamis_i_slots_count(&slots) + 63) / 64 * (one ? 1 : 2);
        status = tamis_i_store_layout(&store, &slots, words);
    }
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    if ((uint64_t)about.st_size != store.file_size)
        return tamis_i_refuse(reason, (uint64_t)about.st_size < store.file_size
                                          ? "the file is cut off"
                                          : "the file goes on after its end");
    tamis_table *own;
    status = tamis_i_table_make(&params, allocator, &own);
    if (status != TAMIS_OK) {
        *reason = tamis_status_text(status);
        return status;
    }
    TAMIS_ASSERT(table_file_fast_words(own) == words);
    status = tamis_i_store_layout(&own->store, &own->slots, words);
    TAMIS_ASSERT(status == TAMIS_OK);
    *table = own;
    return status;
}

/* Make fast memory ready, one way or the other. */
static tamis_status table_file_make_ready(tamis_table *table, const tamis_table_options *options,
                                          const char **reason) {
    tamis_i_store *const store = &table->store;
    tamis_i_state state;
    if (!tamis_i_store_get_state(store, &state))
        return tamis_i_refuse(reason, "both states in the file are damaged");
    store->state_sequence = state.sequence;
    store->sequence = state.journal_sequence;
    const bool map = options->io == TAMIS_TABLE_MAP;
    tamis_status status = TAMIS_OK;
    if (map && state.closed && !options->repair) {
        status = tamis_i_store_map(store, false, reason);
        if (status != TAMIS_OK)
            return status;
    }
    if (state.closed && !options->repair && table_file_load_fast(table, &state))
        return TAMIS_OK;

    if (map && store->map == NULL)
        status = tamis_i_store_map(store, store->read_only, reason);
    if (status != TAMIS_OK)
        return status;
    if (!state.closed || options->repair) {
        if (store->read_only && !map) {
            *reason = "the table was not closed: open it for changes, or mapped";
            return TAMIS_E_UNSUPPORTED;
        }
        /* The journal of a closed file was applied long ago. */
        if (!state.closed)
            status = tamis_i_store_replay(store, reason);
        store->open_marked = !state.closed;
    }
    return status == TAMIS_OK ? tamis_i_table_recover(table, options->repair, reason) : status;
}

tamis_status tamis_i_table_open(const char *path, const tamis_table_options *options,
                                const tamis_allocator *allocator, tamis_table **table,
                                const char **reason) {
    tamis_table *own = NULL;
    if (!tamis_i_fork_watch()) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    const int fd = open(path, (options->read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tamis_i_io_fault(reason);
    /* The header of a table does not change.  If it was not there yet, its maker has the lock. */
    const bool pages = tamis_i_lock_exists() && table_file_has_pages(fd);
    tamis_status status = table_file_lock(fd, options->read_only || pages, reason);
    if (status == TAMIS_OK)
        status = table_file_examine(fd, allocator, &own, reason);
    if (status == TAMIS_OK && own->pages != NULL && tamis_i_lock_exists()) {
        bool *const shared = &own->pages->file.shared;
        status = table_file_share(fd, options, shared, reason);
        if (status == TAMIS_OK && *shared && !pages)
            status = table_file_lock(fd, true, reason);
    }
    if (status != TAMIS_OK) {
        if (own != NULL)
            tamis_i_table_free(own);
        (void)close(fd);
        return status;
    }
    if (own->pages != NULL)
        status = tamis_i_page_table_open(own, fd, path, options, reason);
    else
        status = table_file_attach(own, fd, path, options, reason);
    if (status == TAMIS_OK && own->pages == NULL)
        status = table_file_make_ready(own, options, reason);
    if (status != TAMIS_OK) {
        tamis_i_table_free(own);
        return status;
    }
    own->forks = tamis_i_fork_count();
    *table = own;
    return TAMIS_OK;
}
