/* store.c - the slow memory of a table: slots in memory or in a file
 *
 * An entry of the journal, little-endian, in a cell of whole sectors:
 *
 *      offset  size
 *           0     8  checksum of the rest and of the salt of the table
 *           8     8  sequence: entry number s is in cell s mod 128
 *          16     8  slot
 *          24     8  slot to be cleared as well, or 2^64 - 1
 *          32    32  zero
 *          64        image of the slot
 *
 * A state:
 *
 *           0     8  checksum of the rest and of the salt
 *           8     8  sequence: the copy with the higher one counts; in page 1 if it is odd, else in 2
 *          16     8  1 if the file was closed, 0 if it is open
 *          24     8  sequence of the journal
 *          32     8  items
 *          40     8  deleted slots
 *          48     8  checksum of bits and summary
 *          56   456  zero
 *
 * Replay takes the entry with the highest sequence and those of the ring before it, and writes their
 * images in order.  That is right whether they had reached their slots or not: the last image that a
 * slot gets is the last acknowledged one, or the one that was being written.  If the power failed,
 * entries that were not synced may be missing.  Only other entries that were not synced rely on them.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE 1 /* O_DIRECT, madvise */

#include "table/store.h"

#include "hash/hash.h"

#include "base/system.h"

#include <errno.h>

#define ENTRY_HEAD  64u
#define STATE_BYTES TAMIS_I_SECTOR
#define CHUNK_WORDS 512u

/* No file has a higher sequence than this.  Nobody can write long enough to wrap from here. */
#define SEQUENCE_MAX ((uint64_t)1 << 62)

/* -------------------------------------------------------------------------------------------------
 * Bytes
 */

bool tamis_i_store_get_words(const tamis_i_store *store, uint64_t at, uint64_t *words, uint64_t n) {
    if (!tamis_i_io_read_at(store->fd, at, words, (size_t)n * 8))
        return false;
    if (!tamis_i_little_endian())
        for (uint64_t i = 0; i < n; i++)
            words[i] = tamis_i_get_u64((const unsigned char *)(words + i));
    return true;
}

bool tamis_i_store_put_words(tamis_i_store *store, uint64_t at, const uint64_t *words, uint64_t n) {
    if (tamis_i_little_endian())
        return tamis_i_io_write_at(store->fd, at, words, (size_t)n * 8);
    for (uint64_t done = 0; done < n; done += CHUNK_WORDS) {
        unsigned char chunk[8 * CHUNK_WORDS];
        const uint64_t some = n - done < CHUNK_WORDS ? n - done : CHUNK_WORDS;
        for (uint64_t i = 0; i < some; i++)
            tamis_i_put_u64(chunk + 8 * i, words[done + i]);
        if (!tamis_i_io_write_at(store->fd, at + 8 * done, chunk, (size_t)some * 8))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------------------------
 * Layout, memory and maps
 */

tamis_status tamis_i_store_layout(tamis_i_store *store, const tamis_i_slots *slots,
                                  uint64_t fast_words) {
    memset(store, 0, sizeof *store);
    store->slots = slots;
    store->fd = store->direct_fd = -1;
    store->entry_size =
        (ENTRY_HEAD + slots->slot_size + TAMIS_I_SECTOR - 1) / TAMIS_I_SECTOR * TAMIS_I_SECTOR;
    store->journal_at = 3 * TAMIS_I_PAGE;
    const uint64_t journal_end =
        store->journal_at + TAMIS_I_JOURNAL_ENTRIES * (uint64_t)store->entry_size;
    store->slots_at = (journal_end + TAMIS_I_PAGE - 1) / TAMIS_I_PAGE * TAMIS_I_PAGE;
    store->fast_at = store->slots_at + tamis_i_slots_bytes(slots);
    uint64_t fast_bytes;
    if (!tamis_i_mul(fast_words, 8, &fast_bytes) ||
        !tamis_i_round_up(fast_bytes, TAMIS_I_PAGE, &fast_bytes) ||
        fast_bytes > TAMIS_I_TABLE_BYTES_MAX)
        return TAMIS_E_TOO_LARGE;
    store->file_size = store->fast_at + fast_bytes;
    return store->file_size > SIZE_MAX / 2 ? TAMIS_E_TOO_LARGE : TAMIS_OK;
}

tamis_status tamis_i_store_memory(tamis_i_store *store, const tamis_allocator *allocator) {
    const uint64_t size = tamis_i_slots_bytes(store->slots);
    if (size > SIZE_MAX / 2)
        return TAMIS_E_TOO_LARGE;
    store->map = tamis_i_alloc_zeroed(allocator, (size_t)size);
    if (store->map == NULL)
        return TAMIS_E_NOMEM;
    store->map_size = (size_t)size;
    store->base = store->map;
    return TAMIS_OK;
}

tamis_status tamis_i_store_map(tamis_i_store *store, bool changeable, const char **reason) {
    void *const map =
        mmap(NULL, (size_t)store->file_size, changeable ? PROT_READ | PROT_WRITE : PROT_READ,
             changeable ? MAP_PRIVATE : MAP_SHARED, store->fd, 0);
    if (map == MAP_FAILED) {
        *reason = tamis_i_errno_text(errno);
        return TAMIS_E_IO;
    }
    store->map = map;
    store->map_size = (size_t)store->file_size;
    store->base = store->map + store->slots_at;
    tamis_i_store_advise(store, false);
    return TAMIS_OK;
}

void tamis_i_store_close(tamis_i_store *store, const tamis_allocator *allocator) {
    if (store->fd < 0)
        tamis_i_free(allocator, store->map, store->map_size);
    else if (store->map != NULL)
        (void)munmap(store->map, store->map_size);
    if (store->direct_fd >= 0)
        (void)close(store->direct_fd);
    if (store->fd >= 0)
        (void)close(store->fd); /* this also releases the lock */
    store->map = store->base = NULL;
    store->fd = store->direct_fd = -1;
}

void tamis_i_store_advise(const tamis_i_store *store, bool in_order) {
#ifdef TAMIS_I_HAS_FALLOCATE
    if (store->fd >= 0 && store->map != NULL)
        (void)posix_madvise(store->map, store->map_size,
                            in_order ? POSIX_MADV_SEQUENTIAL : POSIX_MADV_RANDOM);
#else
    (void)store;
    (void)in_order;
#endif
}

/* -------------------------------------------------------------------------------------------------
 * Reading
 */

const unsigned char *tamis_i_store_read(const tamis_i_store *store, unsigned part, uint64_t slot,
                                        unsigned char *buffer) {
    const uint64_t place = tamis_i_slots_place(store->slots, part, slot);
    if (store->base != NULL)
        return store->base + place;
    const uint64_t within = place % TAMIS_I_PAGE;
    const int fd = store->direct_fd >= 0 ? store->direct_fd : store->fd;
    return tamis_i_io_read_at(fd, store->slots_at + place - within, buffer, TAMIS_I_PAGE)
               ? buffer + within
               : NULL;
}

const unsigned char *tamis_i_store_page(const tamis_i_store *store, uint64_t page,
                                        unsigned char *buffer) {
    const uint64_t place = page * TAMIS_I_PAGE;
    if (store->base != NULL)
        return store->base + place;
    return tamis_i_io_read_at(store->fd, store->slots_at + place, buffer, TAMIS_I_PAGE) ? buffer
                                                                                        : NULL;
}

/* -------------------------------------------------------------------------------------------------
 * Writing
 */

static uint64_t store_salted(const tamis_i_store *store, const unsigned char *bytes, size_t size) {
    return tamis_i_checksum(bytes + 8, size - 8) ^ store->slots->salt;
}

static int store_sync_data(int fd) {
#ifdef TAMIS_I_HAS_DATASYNC
    return fdatasync(fd);
#else
    return fsync(fd);
#endif
}

tamis_status tamis_i_store_sync(tamis_i_store *store) {
    if (store->fd < 0 || store->read_only)
        return TAMIS_OK;
    if (store->broken || store_sync_data(store->fd) != 0) {
        /* What a failed sync has not written may also be gone from the system's memory. */
        store->broken = true;
        return TAMIS_E_IO;
    }
    return TAMIS_OK;
}

static tamis_status store_sync_unless_none(tamis_i_store *store) {
    return store->sync == TAMIS_SYNC_NONE ? TAMIS_OK : tamis_i_store_sync(store);
}

static tamis_status store_put_state_once(tamis_i_store *store, const tamis_i_state *state) {
    unsigned char bytes[STATE_BYTES] = {0};
    const uint64_t sequence = store->state_sequence + 1;
    tamis_i_put_u64(bytes + 8, sequence);
    tamis_i_put_u64(bytes + 16, state->closed ? 1 : 0);
    tamis_i_put_u64(bytes + 24, store->sequence);
    tamis_i_put_u64(bytes + 32, state->count);
    tamis_i_put_u64(bytes + 40, state->n_deleted);
    tamis_i_put_u64(bytes + 48, state->fast_checksum);
    tamis_i_put_u64(bytes, store_salted(store, bytes, sizeof bytes));
    const uint64_t page = sequence % 2 == 1 ? 1 : 2;
    if (!tamis_i_io_write_at(store->fd, page * TAMIS_I_PAGE, bytes, sizeof bytes)) {
        store->broken = true;
        return TAMIS_E_IO;
    }
    store->state_sequence = sequence;
    return store_sync_unless_none(store);
}

tamis_status tamis_i_store_put_state(tamis_i_store *store, const tamis_i_state *state) {
    tamis_status status = store_put_state_once(store, state);
    if (status == TAMIS_OK && !state->closed)
        status = store_put_state_once(store, state);
    if (status == TAMIS_OK)
        store->open_marked = !state->closed;
    return status;
}

bool tamis_i_store_get_state(const tamis_i_store *store, tamis_i_state *state) {
    bool found = false;
    for (uint64_t page = 1; page <= 2; page++) {
        unsigned char bytes[STATE_BYTES];
        if (!tamis_i_io_read_at(store->fd, page * TAMIS_I_PAGE, bytes, sizeof bytes))
            return false;
        const uint64_t sequence = tamis_i_get_u64(bytes + 8);
        if (tamis_i_get_u64(bytes) != store_salted(store, bytes, sizeof bytes) ||
            tamis_i_get_u64(bytes + 16) > 1 || (sequence % 2 == 1) != (page == 1) ||
            sequence > SEQUENCE_MAX || tamis_i_get_u64(bytes + 24) > SEQUENCE_MAX ||
            (found && sequence < state->sequence))
            continue;
        found = true;
        *state = (tamis_i_state){.sequence = sequence,
                                 .closed = tamis_i_get_u64(bytes + 16) == 1,
                                 .journal_sequence = tamis_i_get_u64(bytes + 24),
                                 .count = tamis_i_get_u64(bytes + 32),
                                 .n_deleted = tamis_i_get_u64(bytes + 40),
                                 .fast_checksum = tamis_i_get_u64(bytes + 48)};
    }
    return found;
}

static uint64_t store_entry_at(const tamis_i_store *store, uint64_t sequence) {
    return store->journal_at + sequence % TAMIS_I_JOURNAL_ENTRIES * store->entry_size;
}

/* The largest entry: a slot of a page. */
#define ENTRY_MAX (ENTRY_HEAD + TAMIS_I_PAGE)

static void store_encode_entry(const tamis_i_store *store, uint64_t slot,
                               const unsigned char *image, uint64_t cleared, unsigned char *entry) {
    const size_t slot_size = store->slots->slot_size;
    memset(entry, 0, ENTRY_HEAD + slot_size);
    tamis_i_put_u64(entry + 8, store->sequence + 1);
    tamis_i_put_u64(entry + 16, slot);
    tamis_i_put_u64(entry + 24, cleared);
    if (image != NULL)
        memcpy(entry + ENTRY_HEAD, image, slot_size);
    tamis_i_put_u64(entry, store_salted(store, entry, ENTRY_HEAD + slot_size));
}

/* Write an image, NULL for zeros, to its slot. */
static bool store_put_slot(tamis_i_store *store, uint64_t slot, const unsigned char *image) {
    static const unsigned char zeros[TAMIS_I_PAGE];
    const size_t size = store->slots->slot_size;
    const uint64_t place =
        tamis_i_slots_place(store->slots, tamis_i_slots_part(store->slots, slot), slot);
    if (image == NULL)
        image = zeros;
    store->writes++;
    if (store->fd < 0 || store->read_only) { /* memory, or a private map */
        memcpy(store->base + place, image, size);
        return true;
    }
    return tamis_i_io_write_at(store->fd, store->slots_at + place, image, size);
}

/* After a failure to write the journal nothing has changed: the slot has not been touched, and an
 * incomplete entry does not count.  But it is unknown what a system that cannot write will do next. */
static tamis_status store_append(tamis_i_store *store, const tamis_i_store_change *write) {
    if (store->broken)
        return TAMIS_E_IO;
    if (!store->open_marked) {
        const tamis_i_state open = {.closed = false};
        const tamis_status status = tamis_i_store_put_state(store, &open);
        if (status != TAMIS_OK)
            return status;
    }
    unsigned char entry[ENTRY_MAX];
    store_encode_entry(store, write->slot, write->image, write->cleared, entry);
    if (!tamis_i_io_write_at(store->fd, store_entry_at(store, store->sequence + 1), entry,
                             ENTRY_HEAD + store->slots->slot_size)) {
        store->broken = true;
        return TAMIS_E_IO;
    }
    store->sequence++;
    return TAMIS_OK;
}

static tamis_status store_apply(tamis_i_store *store, const tamis_i_store_change *write) {
    if (store_put_slot(store, write->slot, write->image) &&
        (write->cleared == TAMIS_I_NO_SLOT || store_put_slot(store, write->cleared, NULL)))
        return TAMIS_OK;
    store->broken = true;
    return TAMIS_E_IO;
}

static bool store_has_journal(const tamis_i_store *store) {
    return store->fd >= 0 && !store->read_only;
}

tamis_status tamis_i_store_write(tamis_i_store *store, uint64_t slot, const unsigned char *image,
                                 uint64_t cleared) {
    const tamis_i_store_change write = {.slot = slot, .image = image, .cleared = cleared};
    tamis_status status = store_has_journal(store) ? store_append(store, &write) : TAMIS_OK;
    if (status == TAMIS_OK && store_has_journal(store) && store->sync == TAMIS_SYNC_EACH)
        status = tamis_i_store_sync(store);
    return status == TAMIS_OK ? store_apply(store, &write) : status;
}

tamis_status tamis_i_store_write_group(tamis_i_store *store, const tamis_i_store_change *writes,
                                       size_t n, size_t *done) {
    TAMIS_ASSERT(n <= TAMIS_I_JOURNAL_GROUP);
    tamis_status status = TAMIS_OK;
    *done = 0;
    for (size_t i = 0; i < n && status == TAMIS_OK && store_has_journal(store); i++)
        status = store_append(store, writes + i);
    if (status == TAMIS_OK && store_has_journal(store))
        status = store_sync_unless_none(store);
    for (; *done < n && status == TAMIS_OK; *done += status == TAMIS_OK)
        status = store_apply(store, writes + *done);
    return status;
}

/* -------------------------------------------------------------------------------------------------
 * Replay
 */

/* Read a cell of the journal; false if it holds no valid entry of this table. */
static bool store_get_entry(const tamis_i_store *store, uint64_t cell, unsigned char *entry) {
    const tamis_i_slots *const slots = store->slots;
    const size_t size = ENTRY_HEAD + slots->slot_size;
    if (!tamis_i_io_read_at(store->fd, store->journal_at + cell * store->entry_size, entry, size))
        return false;
    const uint64_t sequence = tamis_i_get_u64(entry + 8);
    const uint64_t slot = tamis_i_get_u64(entry + 16);
    const uint64_t cleared = tamis_i_get_u64(entry + 24);
    const uint64_t n_slots = tamis_i_slots_count(slots);
    tamis_i_item item;
    return tamis_i_get_u64(entry) == store_salted(store, entry, size) && sequence != 0 &&
           sequence <= SEQUENCE_MAX && sequence % TAMIS_I_JOURNAL_ENTRIES == cell &&
           slot < n_slots && (cleared < n_slots || cleared == TAMIS_I_NO_SLOT) && cleared != slot &&
           (tamis_i_slot_is_free(slots, entry + ENTRY_HEAD) ||
            tamis_i_slot_decode(slots, slot, entry + ENTRY_HEAD, &item));
}

tamis_status tamis_i_store_replay(tamis_i_store *store, const char **reason) {
    unsigned char entry[ENTRY_MAX];
    uint64_t sequences[TAMIS_I_JOURNAL_ENTRIES] = {0};
    uint64_t last = 0;
    for (uint64_t cell = 0; cell < TAMIS_I_JOURNAL_ENTRIES; cell++) {
        if (store_get_entry(store, cell, entry))
            sequences[cell] = tamis_i_get_u64(entry + 8);
        last = sequences[cell] > last ? sequences[cell] : last;
    }
    const uint64_t first = last < TAMIS_I_JOURNAL_ENTRIES ? 1 : last - TAMIS_I_JOURNAL_ENTRIES + 1;
    for (uint64_t s = first; s <= last; s++) {
        const uint64_t cell = s % TAMIS_I_JOURNAL_ENTRIES;
        if (sequences[cell] != s)
            continue;
        const bool read = store_get_entry(store, cell, entry) && tamis_i_get_u64(entry + 8) == s;
        const tamis_i_store_change write = {.slot = tamis_i_get_u64(entry + 16),
                                            .image = entry + ENTRY_HEAD,
                                            .cleared = tamis_i_get_u64(entry + 24)};
        if (!read || store_apply(store, &write) != TAMIS_OK) {
            *reason = "the journal could not be applied";
            return TAMIS_E_IO;
        }
    }
    if (last > store->sequence)
        store->sequence = last;
    return TAMIS_OK;
}
