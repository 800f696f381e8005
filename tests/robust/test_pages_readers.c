/* test_pages_readers.c - readers beside a writer, on a disk of our own that lets one step between the steps
 * of the other
 *
 * A writer and some readers have one disk.  Whenever the writer writes, syncs or cuts off, a reader may open
 * the table, catch up, or look at all that it sees; whenever a reader reads while it opens or catches
 * up, the writer may make changes, sync, close the table and open it again, or be killed, even in the middle
 * of a call.  So each runs between any two steps of the other.
 *
 * After each step of a reader: it sees exactly the items of the table after some number of changes, not fewer
 * than had returned when it began, not more than were begun when it ended, and no fewer than it saw before.
 * And it sees the same until it catches up, whatever the writer does.  Once no reader is there, what was kept
 * for readers is free again.
 *
 * TAMIS_READERS_ROUNDS: runs, each from another seed.  The suite makes 6.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pages_items.h"

enum { PAGE = 4096, CHANGES = 900, READERS = 4 };

/* -------------------------------------------------------------------------------------------------
 * A disk, and who has it open
 */

typedef struct store {
    unsigned char *bytes;
    uint64_t size, cap;
} store;

typedef struct handle {
    store *disk;
    uint64_t watched[4]; /* numbers of roots; 0: none */
    bool is_writer;
} handle;

static store disk;
static handle writer_handle, reader_handles[READERS];
static unsigned depth; /* 1: one of them is at work; 2: another one between its steps */
static uint64_t writes_left = UINT64_MAX; /* after these the writer is dead */

static void between_writes(void);
static void between_reads(void);

static bool disk_read(void *self, uint64_t at, void *data, size_t size) {
    const handle *const h = self;
    if (!h->is_writer)
        between_reads();
    if (at > h->disk->size || size > h->disk->size - at)
        return false;
    memcpy(data, h->disk->bytes + at, size);
    return true;
}

static bool disk_write(void *self, uint64_t at, const void *data, size_t size) {
    store *const d = ((handle *)self)->disk;
    assert_true(((handle *)self)->is_writer);
    between_writes();
    if (writes_left == 0)
        return false;
    writes_left--;
    if (at + size > d->cap) {
        const uint64_t cap = 2 * (at + size);
        d->bytes = realloc(d->bytes, (size_t)cap);
        assert_non_null(d->bytes);
        memset(d->bytes + d->cap, 0, (size_t)(cap - d->cap));
        d->cap = cap;
    }
    memcpy(d->bytes + at, data, size);
    if (at + size > d->size)
        d->size = at + size;
    return true;
}

static bool disk_sync(void *self) {
    (void)self;
    between_writes();
    return writes_left > 0;
}

static bool disk_resize(void *self, uint64_t size) {
    store *const d = ((handle *)self)->disk;
    between_writes();
    if (writes_left == 0)
        return false;
    assert_true(size <= d->size);
    memset(d->bytes + size, 0, (size_t)(d->size - size));
    d->size = size;
    return true;
}

static bool disk_size(void *self, uint64_t *size) {
    *size = ((const handle *)self)->disk->size;
    return true;
}

static const unsigned char *disk_view(const void *self, uint64_t at, size_t size) {
    (void)self;
    (void)at;
    (void)size;
    return NULL;
}

static bool disk_fetch(const void *self, uint64_t at, void *page, size_t size) {
    const store *const d = ((const handle *)self)->disk;
    if (!((const handle *)self)->is_writer)
        between_reads();
    if (at > d->size || size > d->size - at)
        return false;
    memcpy(page, d->bytes + at, size);
    return true;
}

static bool disk_cover(void *self, uint64_t size) {
    (void)self;
    (void)size;
    return true;
}

static bool disk_watch(void *self, uint64_t epoch) {
    handle *const h = self;
    between_reads();
    for (unsigned i = 0; i < 4; i++)
        if (h->watched[i] == 0) {
            h->watched[i] = epoch;
            return true;
        }
    fail_msg("a reader looks at too many roots");
    return false;
}

static void disk_unwatch(void *self, uint64_t epoch) {
    handle *const h = self;
    for (unsigned i = 0; i < 4; i++)
        if (h->watched[i] == epoch) {
            h->watched[i] = 0;
            return;
        }
    fail_msg("a reader does not look at this root");
}

static bool disk_watched(void *self, uint64_t epoch) {
    assert_true(((handle *)self)->is_writer);
    between_writes();
    for (unsigned r = 0; r < READERS; r++)
        for (unsigned i = 0; i < 4; i++)
            if (reader_handles[r].watched[i] != 0 && reader_handles[r].watched[i] <= epoch)
                return true;
    return false;
}

static void disk_close(void *self) {
    memset(((handle *)self)->watched, 0, sizeof((handle *)self)->watched);
}

static const tamis_i_disk_ops disk_ops = {.read = disk_read,
                                          .write = disk_write,
                                          .sync = disk_sync,
                                          .resize = disk_resize,
                                          .size = disk_size,
                                          .view = disk_view,
                                          .fetch = disk_fetch,
                                          .cover = disk_cover,
                                          .watch = disk_watch,
                                          .unwatch = disk_unwatch,
                                          .watched = disk_watched,
                                          .close = disk_close};

/* -------------------------------------------------------------------------------------------------
 * The writer
 */

static tamis_i_pages *writer;
static uint64_t states[CHANGES + 1]; /* after so many changes */
static unsigned begun, returned;
static uint32_t number_of[IDS]; /* plus 1; 0: not there */
static uint64_t random_state;
static uint64_t n_opened, n_refreshed, n_kills, n_closes;

static bool chance(unsigned one_in) {
    return test_random_below(&random_state, one_in) == 0;
}

static tamis_i_pages *pages_on(handle *h, bool is_writer) {
    static const tamis_i_sieve sieve = {.bits = 13000, .hashes = 9};
    tamis_i_pages *p;
    assert_ok(tamis_i_pages_make(NULL, &hasher, &sieve, SALT, &p));
    *h = (handle){.disk = &disk, .is_writer = is_writer};
    p->disk = (tamis_i_disk){&disk_ops, h};
    p->large = true;
    p->read_only = !is_writer;
    p->most_fresh = 6; /* a root is due every few changes ... */
    p->first_log = 1;  /* ... or since the log is full, and the next one is larger */
    return p;
}

static void open_writer(void) {
    const char *reason = "";
    writes_left = UINT64_MAX;
    writer = pages_on(&writer_handle, true);
    if (tamis_i_pages_load(writer, false, &reason) != TAMIS_OK)
        fail_msg("the writer cannot open: %s", reason);
}

/* A new writer after the old one was killed.  A call that was cut off has happened or not. */
static void kill_writer(void) {
    tamis_i_pages_free(writer);
    n_kills++;
    open_writer();
    const uint64_t state = state_of(writer);
    assert_true(state == states[begun] || state == states[returned]);
    if (state == states[begun])
        returned = begun;
    begun = returned;
}

/* Put an item, or delete it if number is 0.  False: the writer was killed. */
static bool call(unsigned id, uint32_t number) {
    unsigned char key[24], value[VALUE_ROOM];
    const size_t key_size = key_of(id, key);
    tamis_status status;
    bool found;
    if (number == 0) {
        status = tamis_i_pages_delete(writer, key, key_size);
        return status == (number_of[id] != 0 ? TAMIS_OK : TAMIS_E_NOT_FOUND);
    }
    const size_t value_size = value_of(number - 1, value);
    const tamis_i_page_item item = {.key = key,
                                    .key_size = (uint16_t)key_size,
                                    .value = value,
                                    .value_size = (uint16_t)value_size};
    if (key_size + value_size > TAMIS_I_PAGE_ITEM_MAX)
        status = tamis_i_pages_put_large(writer, (tamis_bytes){key, key_size},
                                         (tamis_bytes){value, value_size}, &found);
    else
        status = tamis_i_pages_put(writer, &item, &found);
    return status == TAMIS_OK;
}

static void change(void) {
    const unsigned id = (unsigned)test_random_below(&random_state, IDS);
    const bool growing = begun % 300 < 200; /* it shrinks as well */
    const bool deletion = chance(4) ? growing : !growing;
    const uint32_t number = deletion ? 0 : 1 + (uint32_t)test_random_below(&random_state, 100000);
    states[begun + 1] = states[begun] -
                        (number_of[id] == 0 ? 0 : item_weight(id, number_of[id] - 1)) +
                        (number == 0 ? 0 : item_weight(id, number - 1));
    begun++;
    if (call(id, number)) {
        returned = begun;
    } else {
        const unsigned before = returned;
        assert_true(writes_left == 0);
        kill_writer();
        if (returned == before)
            return;
    }
    number_of[id] = number;
}

/* Something that a writer does. */
static void write_some(void) {
    const uint64_t what = test_random_below(&random_state, 40);
    if (chance(12))
        writes_left = test_random_below(&random_state, 60);
    bool good = true;
    if (what == 0) {
        good = tamis_i_pages_finish(writer) == TAMIS_OK;
        n_closes += good;
        if (good) {
            tamis_i_pages_free(writer);
            open_writer();
        }
    } else if (what < 3) {
        good = tamis_i_pages_sync(writer) == TAMIS_OK;
    } else if (what == 3) {
        for (unsigned t = 0; t < writer->n_twigs && good; t++)
            good = tamis_i_pages_ready(writer, 0) == TAMIS_OK &&
                   tamis_i_pages_pack(writer, t) == TAMIS_OK;
    } else {
        for (uint64_t i = 0; i < 1 + what % 8 && begun < CHANGES; i++)
            change();
    }
    assert_true(good || writes_left == 0);
    if (writes_left == 0)
        kill_writer();
    writes_left = UINT64_MAX;
}

/* -------------------------------------------------------------------------------------------------
 * Readers
 */

static tamis_i_pages *readers[READERS];
static unsigned seen[READERS]; /* the number of changes that a reader sees */

/* What a reader sees is the state after one of the changes from 'low' to 'high'. */
static void find_seen(unsigned r, unsigned low, unsigned high) {
    const char *reason = "";
    if (tamis_i_pages_verify(readers[r], &reason) != TAMIS_OK)
        fail_msg("reader %u: %s", r, reason);
    const uint64_t state = state_of(readers[r]);
    for (unsigned i = low; i <= high; i++)
        if (states[i] == state) {
            seen[r] = i;
            return;
        }
    fail_msg("reader %u sees none of the states %u to %u", r, low, high);
}

static void read_some(unsigned r) {
    const char *reason = "";
    const unsigned low = returned;
    if (readers[r] == NULL) {
        readers[r] = pages_on(reader_handles + r, false);
        if (tamis_i_pages_load(readers[r], false, &reason) != TAMIS_OK)
            fail_msg("reader %u cannot open: %s", r, reason);
        n_opened++;
        find_seen(r, low, begun);
    } else if (chance(3)) {
        find_seen(r, seen[r], seen[r]);
    } else if (chance(4)) {
        tamis_i_pages_free(readers[r]);
        readers[r] = NULL;
    } else {
        bool changed;
        const unsigned before = seen[r];
        assert_true(before <= returned || before == begun);
        if (tamis_i_pages_refresh(&readers[r], &changed, &reason) != TAMIS_OK)
            fail_msg("reader %u cannot catch up: %s", r, reason);
        n_refreshed++;
        find_seen(r, low > before ? low : before, begun);
        assert_true(changed || states[seen[r]] == states[before]);
    }
}

/* -------------------------------------------------------------------------------------------------
 * One between the steps of the other
 */

static unsigned busy_reader = READERS;

static void between_writes(void) {
    if (depth != 1 || busy_reader != READERS || !chance(3))
        return;
    depth++;
    read_some((unsigned)test_random_below(&random_state, READERS));
    depth--;
}

static void between_reads(void) {
    if (depth != 1 || busy_reader == READERS || begun == CHANGES || !chance(4))
        return;
    depth++;
    write_some();
    depth--;
}

static void one_run(uint64_t seed) {
    random_state = seed;
    begun = returned = 0;
    states[0] = 0;
    memset(number_of, 0, sizeof number_of);
    depth = 0;
    writer = pages_on(&writer_handle, true);
    writer->n_blocks = writer->lowest = 3;
    for (uint64_t i = 0; i < 3; i++)
        assert_true(tamis_i_pages_mark(writer, i));
    assert_ok(tamis_i_pages_commit(writer, TAMIS_I_ROOT_OF_CLOSED));
    while (begun < CHANGES) {
        depth = 1;
        if (chance(2)) {
            write_some();
        } else {
            busy_reader = (unsigned)test_random_below(&random_state, READERS);
            read_some(busy_reader);
            busy_reader = READERS;
        }
        depth = 0;
    }
    for (unsigned r = 0; r < READERS; r++) {
        if (readers[r] != NULL) {
            find_seen(r, seen[r], seen[r]);
            tamis_i_pages_free(readers[r]);
        }
        readers[r] = NULL;
    }
    /* What was kept for readers is free now: the second time, the file is as short as it can be. */
    uint64_t in_use = 0;
    for (unsigned i = 0; i < 2; i++) {
        const tamis_i_page_item item = {.key = (const unsigned char *)"x", .key_size = 1};
        bool found;
        assert_ok(tamis_i_pages_put(writer, &item, &found));
        assert_ok(tamis_i_pages_finish(writer));
        in_use = 0;
        for (uint64_t b = 0; b < writer->n_blocks; b++)
            in_use += writer->taken[b / 64] >> b % 64 & 1;
        tamis_i_pages_free(writer);
        open_writer();
    }
    if (disk.size / PAGE > in_use + in_use / 4 + 8)
        fail_msg("%llu of %llu blocks are in use", (unsigned long long)in_use,
                 (unsigned long long)(disk.size / PAGE));
    assert_true(state_of(writer) == states[begun] + weight("x", 1, NULL, 0));
    tamis_i_pages_free(writer);
    free(disk.bytes);
    disk = (store){0};
}

static void test_readers_see_one_state(void **state) {
    (void)state;
    const char *const text = getenv("TAMIS_READERS_ROUNDS");
    const unsigned rounds = text == NULL ? 6 : (unsigned)strtoul(text, NULL, 10);
    for (unsigned i = 0; i < rounds; i++)
        one_run(test_seed() + i);
    print_message("%llu readers opened, %llu caught up; %llu writers killed, %llu closed\n",
                  (unsigned long long)n_opened, (unsigned long long)n_refreshed,
                  (unsigned long long)n_kills, (unsigned long long)n_closes);
    assert_true(n_opened > 50 && n_refreshed > 50 && n_kills > 10 && n_closes > 5);
}

int main(void) {
    tamis_i_hasher_init(&hasher, TAMIS_HASH_XXH3, 42, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_see_one_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
