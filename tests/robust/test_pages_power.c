/* test_pages_power.c - page tables when the power fails, on a disk of our own
 *
 * The disk keeps every write and every sync.  After some changes to a table, the power is made to fail at
 * every place of this trace.  What was synced is there.  Of all other writes each sector of 512 bytes
 * has the content that it had at some moment since the last sync, a different moment for each sector; or all
 * have none of them, or all; or one sector is torn in the middle.  The file has its old size or the new
 * one.  The table must open without a repair, be sound, and have exactly the items that it had after
 * some number of changes: not fewer than were made before the last sync, and not more than were begun.
 *
 * Then single bits are turned over in the file of a process that was killed: the table must be refused, or
 * say so, or have all its items.
 *
 * TAMIS_POWER_ROUNDS: traces, each from another seed.  The suite makes 2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pages_items.h"

enum { SECTOR = 512, PAGE = 4096, CHANGES = 700 };

/* -------------------------------------------------------------------------------------------------
 * A disk
 */

typedef struct event {
    uint64_t at;
    size_t size; /* 0: a sync */
    unsigned char *data;
} event;

typedef struct disk {
    unsigned char *bytes;
    uint64_t size, cap;
    event *events; /* NULL: nothing is kept */
    size_t n, cap_events;
    bool recording;
} disk;

static void disk_room(disk *d, uint64_t size) {
    if (size > d->cap) {
        d->bytes = realloc(d->bytes, (size_t)size * 2);
        assert_non_null(d->bytes);
        memset(d->bytes + d->cap, 0, (size_t)(size * 2 - d->cap));
        d->cap = size * 2;
    }
    if (size > d->size)
        d->size = size;
}

static void disk_note(disk *d, uint64_t at, const void *data, size_t size) {
    if (!d->recording)
        return;
    if (d->n == d->cap_events) {
        d->cap_events = 2 * d->cap_events + 64;
        d->events = realloc(d->events, d->cap_events * sizeof *d->events);
        assert_non_null(d->events);
    }
    event *const e = d->events + d->n++;
    *e = (event){.at = at, .size = size};
    if (size > 0) {
        e->data = malloc(size);
        assert_non_null(e->data);
        memcpy(e->data, data, size);
    }
}

static bool disk_read(void *self, uint64_t at, void *data, size_t size) {
    const disk *const d = self;
    if (at > d->size || size > d->size - at)
        return false;
    memcpy(data, d->bytes + at, size);
    return true;
}

static bool disk_write(void *self, uint64_t at, const void *data, size_t size) {
    disk *const d = self;
    disk_room(d, at + size);
    memcpy(d->bytes + at, data, size);
    disk_note(d, at, data, size);
    return true;
}

static bool disk_sync(void *self) {
    disk_note(self, 0, NULL, 0);
    return true;
}

static bool disk_resize(void *self, uint64_t size) {
    disk *const d = self;
    if (size < d->size)
        memset(d->bytes + size, 0, (size_t)(d->size - size));
    d->size = size;
    return true;
}

static bool disk_size(void *self, uint64_t *size) {
    *size = ((const disk *)self)->size;
    return true;
}

static const unsigned char *disk_view(const void *self, uint64_t at, size_t size) {
    (void)self;
    (void)at;
    (void)size;
    return NULL;
}

static bool disk_fetch(const void *self, uint64_t at, void *page, size_t size) {
    const disk *const d = self;
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

static void disk_close(void *self) {
    (void)self;
}

static const tamis_i_disk_ops disk_ops = {.read = disk_read,
                                          .write = disk_write,
                                          .sync = disk_sync,
                                          .resize = disk_resize,
                                          .size = disk_size,
                                          .view = disk_view,
                                          .fetch = disk_fetch,
                                          .cover = disk_cover,
                                          .close = disk_close};

static void disk_free(disk *d) {
    for (size_t i = 0; i < d->n; i++)
        free(d->events[i].data);
    free(d->events);
    free(d->bytes);
    memset(d, 0, sizeof *d);
}

/* -------------------------------------------------------------------------------------------------
 * A table on it
 */

static tamis_i_pages *pages_on(disk *d) {
    static const tamis_i_sieve sieve = {.bits = 13000, .hashes = 9};
    tamis_i_pages *p;
    assert_ok(tamis_i_pages_make(NULL, &hasher, &sieve, SALT, &p));
    p->disk = (tamis_i_disk){&disk_ops, d};
    p->large = true;
    p->most_fresh = 6; /* a root is due every few changes ... */
    p->first_log = 1;  /* ... or since the log is full, and the next one is larger */
    return p;
}

static tamis_i_pages *pages_create(disk *d) {
    tamis_i_pages *const p = pages_on(d);
    p->n_blocks = p->lowest = 3;
    for (uint64_t i = 0; i < 3; i++)
        assert_true(tamis_i_pages_mark(p, i));
    assert_ok(tamis_i_pages_commit(p, TAMIS_I_ROOT_OF_CLOSED));
    return p;
}

/* What was done: after change number i the state is states[i], and the trace has ends[i] events. */
typedef struct history {
    uint64_t states[CHANGES + 1];
    size_t ends[CHANGES + 1];
    size_t begins[CHANGES + 1];    /* events before it */
    size_t sync_ends[CHANGES + 1]; /* of the sync after this many changes, or 0 */
    unsigned n;
    uint32_t number[IDS]; /* plus 1; 0: not there */
} history;

/* Make a change, and note what it does. */
static void change(tamis_i_pages *p, disk *d, history *h, uint64_t *random) {
    unsigned char key[24], value[VALUE_ROOM];
    /* Many at first, few in the end: the table grows and shrinks. */
    const bool growing = h->n < CHANGES * 2 / 3;
    const unsigned id = (unsigned)test_random_below(random, IDS);
    const size_t key_size = key_of(id, key);
    const uint64_t state = h->states[h->n];
    uint64_t next = state;
    h->begins[h->n + 1] = d->n;
    if (h->number[id] != 0)
        next -= item_weight(id, h->number[id] - 1);
    if (test_random_below(random, 4) == 0 ? growing : !growing) {
        assert_status(tamis_i_pages_delete(p, key, key_size),
                      h->number[id] != 0 ? TAMIS_OK : TAMIS_E_NOT_FOUND);
        h->number[id] = 0;
    } else {
        const uint32_t number = (uint32_t)test_random_below(random, 100000);
        const size_t value_size = value_of(number, value);
        const tamis_i_page_item item = {.key = key,
                                        .key_size = (uint16_t)key_size,
                                        .value = value,
                                        .value_size = (uint16_t)value_size};
        bool found;
        if (key_size + value_size > TAMIS_I_PAGE_ITEM_MAX)
            assert_ok(tamis_i_pages_put_large(p, (tamis_bytes){key, key_size},
                                              (tamis_bytes){value, value_size}, &found));
        else
            assert_ok(tamis_i_pages_put(p, &item, &found));
        assert_int_equal(found, h->number[id] != 0);
        h->number[id] = number + 1;
        next += item_weight(id, number);
    }
    h->n++;
    h->states[h->n] = next;
    h->ends[h->n] = d->n;
}

/* A batch: its changes are acknowledged together. */
static void change_many(tamis_i_pages *p, disk *d, history *h, uint64_t *random) {
    const unsigned from = h->n, most = 1 + (unsigned)test_random_below(random, 40);
    if (p->pending == NULL)
        p->pending = tamis_i_alloc(NULL, TAMIS_I_PAGES_PENDING);
    assert_non_null(p->pending);
    p->batch = true;
    for (unsigned i = 0; i < most && h->n < CHANGES; i++)
        change(p, d, h, random);
    assert_ok(tamis_i_pages_flush(p));
    p->batch = false;
    for (unsigned i = from + 1; i <= h->n; i++)
        h->ends[i] = d->n;
}

/* -------------------------------------------------------------------------------------------------
 * Failures of power
 */

typedef enum mode { ALL, NONE, MOMENTS, SECTORS, TORN, N_MODES } mode;

/* The disk after the power failed at event 'end'; 'base' has all up to event 'from', the last sync. */
static void fail_at(const disk *base, const disk *trace, size_t from, size_t end, mode how,
                    uint64_t seed, disk *after) {
    uint64_t size = base->size;
    for (size_t i = from; i < end; i++)
        if (trace->events[i].at + trace->events[i].size > size)
            size = trace->events[i].at + trace->events[i].size;
    if (how != ALL && tamis_i_mix(seed) % 4 == 0)
        size = base->size; /* the file has not grown */
    disk_room(after, size);
    after->size = size;
    memcpy(after->bytes, base->bytes, (size_t)(base->size < size ? base->size : size));
    memset(after->bytes + base->size, 0, (size_t)(size > base->size ? size - base->size : 0));
    const uint64_t torn = tamis_i_mix(seed + 1);
    for (size_t i = from; i < end && how != NONE; i++) {
        const event *const e = trace->events + i;
        for (uint64_t b = e->at; b < e->at + e->size;) {
            const uint64_t sector = b / SECTOR, stop = (sector + 1) * SECTOR;
            const size_t n = (size_t)((stop < e->at + e->size ? stop : e->at + e->size) - b);
            const uint64_t chance = tamis_i_mix(seed ^ tamis_i_mix(sector + 7));
            const uint64_t moment =
                how == SECTORS ? (chance % 2 == 0 ? from : end) : from + chance % (end - from + 1);
            const size_t part =
                how == TORN && sector % 5 == torn % 5 ? (size_t)(torn >> 8) % (n + 1) : n;
            if ((how == ALL || i < moment) && b + n <= size)
                memcpy(after->bytes + b, e->data + (b - e->at), part);
            b += n;
        }
    }
}

/* Open what is left, and compare. */
static void check_after(disk *after, const history *h, unsigned low, unsigned high, uint64_t *exact,
                        const char *what, size_t at) {
    const char *reason = "";
    tamis_i_pages *p = pages_on(after);
    if (tamis_i_pages_load(p, false, &reason) != TAMIS_OK)
        fail_msg("%s at event %zu: %s", what, at, reason);
    if (tamis_i_pages_verify(p, &reason) != TAMIS_OK)
        fail_msg("%s at event %zu, after opening: %s", what, at, reason);
    const uint64_t state = state_of(p);
    unsigned found = high + 1;
    for (unsigned i = low; i <= high; i++)
        if (h->states[i] == state)
            found = i;
    if (found > high)
        fail_msg("%s at event %zu: the state is not one of %u to %u", what, at, low, high);
    *exact += found == high;
    /* It goes on, and is closed. */
    const tamis_i_page_item item = {.key = (const unsigned char *)"x", .key_size = 1};
    bool was;
    assert_ok(tamis_i_pages_put(p, &item, &was));
    assert_ok(tamis_i_pages_finish(p));
    tamis_i_pages_free(p);
    p = pages_on(after);
    if (tamis_i_pages_load(p, false, &reason) != TAMIS_OK)
        fail_msg("%s at event %zu, opened again: %s", what, at, reason);
    assert_true(state_of(p) == state + weight("x", 1, NULL, 0));
    tamis_i_pages_free(p);
}

/* All prefixes of a trace, in all modes. */
static uint64_t fail_everywhere(const disk *start, const disk *trace, const history *h, size_t step,
                                uint64_t seed, uint64_t *exact) {
    static const char *const names[] = {"killed", "nothing", "moments", "sectors", "torn"};
    disk base = {0}, after = {0};
    uint64_t crashes = 0;
    size_t from = 0; /* events up to here are in 'base' */
    disk_room(&base, start->size);
    memcpy(base.bytes, start->bytes, (size_t)start->size);
    unsigned low = 0, high = 0, acknowledged = 0;
    for (size_t end = 0; end <= trace->n; end++) {
        if (end > 0 && trace->events[end - 1].size == 0) { /* a sync: all before it is there */
            for (size_t i = from; i < end; i++) {
                const event *const e = trace->events + i;
                disk_room(&base, e->at + e->size);
                if (e->size > 0)
                    memcpy(base.bytes + e->at, e->data, e->size);
            }
            from = end;
        }
        while (high < h->n && h->begins[high + 1] < end)
            high++;
        while (acknowledged < h->n && h->ends[acknowledged + 1] <= end)
            acknowledged++;
        high = acknowledged > high ? acknowledged : high;
        /* What was promised: all changes that ended before the last sync of the table. */
        for (unsigned i = low + 1; i <= acknowledged; i++)
            if (h->sync_ends[i] != 0 && h->sync_ends[i] <= end)
                low = i;
        for (mode how = ALL; how < N_MODES; how++) {
            const uint64_t chance = tamis_i_mix(seed + end * N_MODES + how);
            if (chance % step != 0)
                continue;
            fail_at(&base, trace, from, end, how, chance, &after);
            check_after(&after, h, how == ALL ? acknowledged : low, high, exact, names[how], end);
            crashes++;
        }
    }
    disk_free(&base);
    disk_free(&after);
    return crashes;
}

static unsigned rounds(const char *name, unsigned usual) {
    const char *const text = getenv(name);
    return text == NULL ? usual : (unsigned)strtoul(text, NULL, 10);
}

static void one_trace(uint64_t seed, size_t step, uint64_t *crashes, uint64_t *exact) {
    uint64_t random = seed;
    disk start = {0}, d = {0};
    history *const h = calloc(1, sizeof *h);
    assert_non_null(h);
    tamis_i_pages *const p = pages_create(&d);
    disk_room(&start, d.size);
    memcpy(start.bytes, d.bytes, (size_t)d.size);
    d.recording = true;
    while (h->n < CHANGES) {
        if (test_random_below(&random, 30) == 0)
            change_many(p, &d, h, &random);
        else
            change(p, &d, h, &random);
        if (test_random_below(&random, 25) == 0) {
            assert_ok(tamis_i_pages_sync(p));
            h->sync_ends[h->n] = d.n;
        }
        if (h->n == CHANGES / 2)
            for (unsigned t = 0; t < p->n_twigs; t++)
                assert_ok(tamis_i_pages_pack(p, t));
    }
    const char *reason = "";
    if (tamis_i_pages_verify(p, &reason) != TAMIS_OK)
        fail_msg("verify: %s", reason);
    assert_true(state_of(p) == h->states[h->n]);
    assert_true(p->log_blocks > 1); /* the log has moved */
    assert_ok(tamis_i_pages_finish(p));
    tamis_i_pages_free(p);
    *crashes += fail_everywhere(&start, &d, h, step, seed, exact);
    free(h);
    disk_free(&start);
    disk_free(&d);
}

static void test_power_failure_leaves_a_prefix(void **state) {
    (void)state;
    const unsigned n = rounds("TAMIS_POWER_ROUNDS", 2);
    uint64_t crashes = 0, exact = 0;
    for (unsigned i = 0; i < n; i++)
        one_trace(test_seed() + i, getenv("TAMIS_POWER_ROUNDS") == NULL ? 16 : 1, &crashes, &exact);
    print_message("%llu failures of power, %llu lost nothing\n", (unsigned long long)crashes,
                  (unsigned long long)exact);
    assert_true(exact < crashes);
}

/* -------------------------------------------------------------------------------------------------
 * Damage
 */

/* The file of a table that was closed, or of a process that was killed, and its state. */
static uint64_t written(disk *d, bool closed, unsigned changes, uint64_t seed) {
    uint64_t random = seed;
    history *const h = calloc(1, sizeof *h);
    assert_non_null(h);
    tamis_i_pages *const p = pages_create(d);
    p->most_fresh = 12;
    for (unsigned i = 0; i < changes; i++)
        change(p, d, h, &random);
    const uint64_t state = h->states[h->n];
    if (closed)
        assert_ok(tamis_i_pages_finish(p));
    tamis_i_pages_free(p);
    free(h);
    return state;
}

typedef struct damage {
    uint64_t refused, read, same, told;
} damage;

/* Turn a bit over: the table is refused, or says which page or value is damaged, or has all that it had, or
 * tells that records are missing. */
static void turn_over(const disk *d, disk *hurt, uint64_t bit, uint64_t whole, damage *seen) {
    const char *reason = "";
    memcpy(hurt->bytes, d->bytes, (size_t)d->size);
    hurt->size = d->size;
    hurt->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    tamis_i_pages *const p = pages_on(hurt);
    tamis_status status = tamis_i_pages_load(p, false, &reason);
    seen->refused += status != TAMIS_OK;
    if (status == TAMIS_OK) {
        status = tamis_i_pages_verify(p, &reason);
        seen->read += status != TAMIS_OK;
    }
    if (status != TAMIS_OK) {
        assert_status(status, TAMIS_E_FORMAT);
        assert_true(reason[0] != '\0');
    } else if (state_of(p) == whole) {
        seen->same++;
    } else {
        if (p->dropped == 0)
            fail_msg("bit %llu is not noticed", (unsigned long long)bit);
        seen->told++;
    }
    tamis_i_pages_free(p);
}

/* Some bits, mostly where something is; with TAMIS_DAMAGE_ALL=1 every bit of a smaller table, but for the
 * first block, which is that of the header. */
static void bits_are_noticed(bool closed) {
    const unsigned trials = rounds("TAMIS_DAMAGE_TRIALS", 1500);
    const bool all = getenv("TAMIS_DAMAGE_ALL") != NULL;
    uint64_t random = test_seed() + 5, n = 0;
    disk d = {0}, hurt = {0};
    damage seen = {0};
    const uint64_t whole = written(&d, closed, all ? 60 : 300, random);
    disk_room(&hurt, d.size);
    for (uint64_t bit = PAGE * 8; all && bit < d.size * 8; bit++, n++)
        turn_over(&d, &hurt, bit, whole, &seen);
    for (; !all && n < trials; n++) {
        uint64_t at;
        do
            at = test_random_below(&random, d.size);
        while (d.bytes[at] == 0 && test_random_below(&random, 50) != 0);
        turn_over(&d, &hurt, at * 8 + test_random_below(&random, 8), whole, &seen);
    }
    print_message("%llu bits: %llu refused, %llu refused when read, %llu harmless, %llu dropped "
                  "with a word\n",
                  (unsigned long long)n, (unsigned long long)seen.refused,
                  (unsigned long long)seen.read, (unsigned long long)seen.same,
                  (unsigned long long)seen.told);
    assert_true(seen.refused + seen.read > 0);
    disk_free(&d);
    disk_free(&hurt);
}

static void test_a_single_bit_is_noticed(void **state) {
    (void)state;
    bits_are_noticed(false);
}

static void test_a_single_bit_of_a_closed_table_is_noticed(void **state) {
    (void)state;
    bits_are_noticed(true);
}

/* Any page that is lost, of a table that was closed, is noticed, and 'repair' goes on without it. */
static void test_a_lost_page_is_noticed(void **state) {
    (void)state;
    uint64_t random = test_seed() + 9;
    history *const h = calloc(1, sizeof *h);
    disk d = {0}, hurt = {0};
    assert_non_null(h);
    tamis_i_pages *p = pages_create(&d);
    for (unsigned i = 0; i < 400; i++)
        change(p, &d, h, &random);
    const uint64_t count = p->count;
    assert_ok(tamis_i_pages_finish(p));
    tamis_i_pages_free(p);
    disk_room(&hurt, d.size);
    unsigned refused = 0, repaired = 0;
    for (uint64_t block = 1; block < d.size / PAGE; block++) {
        const char *reason = "";
        memcpy(hurt.bytes, d.bytes, (size_t)d.size);
        hurt.size = d.size;
        memset(hurt.bytes + block * PAGE, 0, PAGE);
        p = pages_on(&hurt);
        tamis_status status = tamis_i_pages_load(p, false, &reason);
        if (status == TAMIS_OK)
            status = tamis_i_pages_verify(p, &reason);
        if (status == TAMIS_OK)
            assert_true(state_of(p) == h->states[h->n]);
        tamis_i_pages_free(p);
        if (status == TAMIS_OK)
            continue;
        assert_status(status, TAMIS_E_FORMAT);
        refused++;
        p = pages_on(&hurt);
        if (tamis_i_pages_load(p, true, &reason) == TAMIS_OK) {
            repaired++;
            assert_true(p->damaged > 0 && p->count < count);
            assert_ok(tamis_i_pages_verify(p, &reason));
        }
        tamis_i_pages_free(p);
    }
    print_message("%u blocks refused, %u of them repaired\n", refused, repaired);
    assert_true(repaired >= 2 && refused - repaired <= 2);
    free(h);
    disk_free(&d);
    disk_free(&hurt);
}

int main(void) {
    tamis_i_hasher_init(&hasher, TAMIS_HASH_XXH3, 42, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_failure_leaves_a_prefix),
        cmocka_unit_test(test_a_single_bit_is_noticed),
        cmocka_unit_test(test_a_single_bit_of_a_closed_table_is_noticed),
        cmocka_unit_test(test_a_lost_page_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
