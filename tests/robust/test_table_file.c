/* test_table_file.c - table files: closed, not closed, locked, read-only, damaged
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "base/system.h"
#include "support.h"
#include "table/table.h"
#include "table_file.h"
#include "unit/table_model.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* NULL for options: quick_options(). */
static const tamis_table_options *quick(const tamis_table_options *options) {
    static tamis_table_options none;
    none = quick_options();
    return options != NULL ? options : &none;
}

static tamis_table *create_with(tamis_summary summary, const tamis_table_options *options) {
    const tamis_table_params params = model_params(MODEL_KEYS, summary);
    return create_table(&params, quick(options));
}

static tamis_table *open_with(const tamis_table_options *options) {
    return open_table(quick(options));
}

static void refuse_with(const tamis_table_options *options, tamis_status expected) {
    const char *reason = NULL;
    tamis_table *table = NULL;
    errno = 99;
    assert_status(tamis_table_open(path, options, NULL, &table, &reason), expected);
    assert_null(table);
    assert_non_null(reason);
    assert_int_equal(errno, 99);
}

static bool was_recovered(const tamis_table *table) {
    return table_state(table).recovered;
}

/* Open it: its summary is the old one or had to be made anew, and it has what the dictionary has. */
static tamis_table *open_and_compare(const tamis_table_options *options, bool recovered,
                                     const model *m) {
    tamis_table *const table = open_with(options);
    assert_int_equal(was_recovered(table), recovered);
    model_verify(table, m);
    return table;
}

static void some_calls(tamis_table *table, model *m, uint64_t *random, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const unsigned id = (unsigned)test_random_below(random, MODEL_KEYS);
        if (test_random_below(random, 10) < 6)
            model_put(table, m, id, (uint32_t)test_random(random));
        else
            model_delete(table, m, id);
    }
}

/* The end of a process that is killed, as far as the file is concerned: nothing is written. */
static void abandon(tamis_table *table) {
    tamis_i_table_free(table);
}

/* -------------------------------------------------------------------------------------------------
 * Closed and not closed
 */

static void test_table_file_every_way_of_reading_is_the_same(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        for (unsigned io = TAMIS_TABLE_MAP; io <= TAMIS_TABLE_READ; io++) {
            tamis_table_options options = quick_options();
            options.io = (tamis_table_io)io;
            static model m;
            model_clear(&m);
            tamis_table *table = create_with(summaries[s], &options);
            some_calls(table, &m, &random, 1500);
            model_verify(table, &m);
            assert_ok(tamis_table_close(table));
            for (unsigned round = 0; round < 4; round++) {
                options.io = (tamis_table_io)(round % 2);
                options.read_only = round >= 2;
                table = open_and_compare(&options, false, &m);
                if (options.read_only) {
                    assert_status(tamis_table_put(table, "k", 1, "v", 1, NULL), TAMIS_E_READONLY);
                    assert_status(tamis_table_delete(table, "k", 1), TAMIS_E_READONLY);
                    assert_status(tamis_table_rebuild(table, 1, NULL), TAMIS_E_READONLY);
                } else {
                    some_calls(table, &m, &random, 300);
                    assert_ok(tamis_table_rebuild(table, round == 0 ? 100 : UINT64_MAX, NULL));
                    model_verify(table, &m);
                }
                assert_ok(tamis_table_close(table));
            }
        }
    }
}

static void test_table_file_not_closed_is_recovered(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        for (unsigned sync = TAMIS_SYNC_BATCH; sync <= TAMIS_SYNC_NONE; sync++) {
            if (s > 0 && sync != TAMIS_SYNC_NONE)
                continue; /* waiting for the disk is the same for all summaries */
            tamis_table_options options;
            tamis_table_options_init(&options);
            options.sync = (tamis_sync)sync;
            static model m;
            model_clear(&m);
            tamis_table *table = create_with(summaries[s], &options);
            for (unsigned round = 0; round < 4; round++) {
                some_calls(table, &m, &random, sync == TAMIS_SYNC_EACH ? 10 : 300);
                if (round == 1)
                    assert_ok(tamis_table_rebuild(table, 500, NULL));
                if (round == 2)
                    assert_ok(tamis_table_sync(table));
                abandon(table);
                options.read_only = true;
                table = open_and_compare(&options, true, &m);
                assert_ok(tamis_table_close(table));
                options.read_only = false;
                table = open_and_compare(&options, true, &m);
            }
            assert_ok(tamis_table_close(table));
            table = open_and_compare(NULL, false, &m);
            /* opened and closed without a change: the file stays closed even if the end is sudden */
            abandon(table);
            table = open_with(NULL);
            assert_false(was_recovered(table));
            assert_ok(tamis_table_close(table));
        }
    }
}

/* Levels that are too small, so that much is in the stash: its items are found again after either end. */
static void test_table_file_stash_is_found_again(void **state) {
    (void)state;
    enum { ITEMS = 100 };
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        const tamis_table_params params = model_crowded_params(MODEL_KEYS, summaries[s], 2, ITEMS);
        static model m;
        model_clear(&m);
        tamis_table *table = create_table(&params, quick(NULL));
        for (unsigned i = 0; i < ITEMS; i++)
            model_put(table, &m, i, i);
        for (unsigned round = 0; round < 4; round++) {
            const bool closed = round % 2 != 0;
            if (closed)
                assert_ok(tamis_table_close(table));
            else
                abandon(table);
            table = open_and_compare(NULL, !closed, &m);
            for (unsigned i = 0; i < ITEMS; i += 7) {
                model_delete(table, &m, i + round);
                model_put(table, &m, i + round + 1, round);
            }
        }
        assert_ok(tamis_table_close(table));
    }
}

/* Whatever half-written slot a killed process leaves, the journal has it whole. */
static void test_table_file_torn_slot_is_repeated_from_the_journal(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    static model m;
    model_clear(&m);
    tamis_table_options options = quick_options();
    tamis_table *table = create_with(TAMIS_SUMMARY_MULTIPLE, NULL);
    some_calls(table, &m, &random, 1000);
    for (unsigned round = 0; round < 200; round++) {
        const unsigned id = (unsigned)test_random_below(&random, MODEL_KEYS);
        if (m.present[id] && round % 3 == 0)
            model_delete(table, &m, id);
        else
            model_put(table, &m, id, (uint32_t)test_random(&random));
        /* undo a random part of the last write */
        unsigned char entry[64];
        const uint64_t cell = table->store.sequence % TAMIS_I_JOURNAL_ENTRIES;
        assert_true(tamis_i_io_read_at(table->store.fd,
                                       table->store.journal_at + cell * table->store.entry_size,
                                       entry, sizeof entry));
        const uint64_t slot = tamis_i_get_u64(entry + 16);
        const uint64_t place =
            tamis_i_slots_place(&table->slots, tamis_i_slots_part(&table->slots, slot), slot);
        unsigned char junk[64];
        for (unsigned i = 0; i < sizeof junk; i++)
            junk[i] = (unsigned char)test_random(&random);
        const uint64_t from = test_random_below(&random, table->slots.slot_size);
        assert_true(tamis_i_io_write_at(
            table->store.fd, table->store.slots_at + place + from, junk,
            (size_t)(1 + test_random_below(&random, table->slots.slot_size - from))));
        abandon(table);
        if (round % 10 == 0) {
            options.read_only = true;
            table = open_with(&options);
            model_verify(table, &m);
            assert_ok(tamis_table_close(table));
            options.read_only = false;
        }
        table = open_and_compare(&options, true, &m);
    }
    assert_ok(tamis_table_close(table));
}

/* Past the cache, where the file system can: the same answers, and nothing stale after writes. */
static void test_table_file_direct_reads_see_all_writes(void **state) {
    (void)state;
    uint64_t random = test_seed() + 8;
    static model m;
    model_clear(&m);
    assert_ok(tamis_table_close(create_with(TAMIS_SUMMARY_MULTIPLE, NULL)));
    tamis_table_options options;
    tamis_table *table = NULL;
    tamis_table_options_init(&options);
    options.io = TAMIS_TABLE_DIRECT;
    options.sync = TAMIS_SYNC_NONE;
    const tamis_status status = tamis_table_open(path, &options, NULL, &table, NULL);
    if (status == TAMIS_E_IO)
        skip(); /* a file system without O_DIRECT */
    assert_ok(status);
    some_calls(table, &m, &random, 200);
    model_compare(table, &m);
    assert_ok(tamis_table_close(table));
    /* not closed, read-only and not mapped: there is nowhere to put the journal's entries */
    table = open_with(NULL);
    model_put(table, &m, 1, 1);
    abandon(table);
    options.read_only = true;
    refuse_with(&options, TAMIS_E_UNSUPPORTED);
    options.read_only = false;
    table = open_with(&options);
    model_verify(table, &m);
    assert_ok(tamis_table_close(table));
}

/* -------------------------------------------------------------------------------------------------
 * Locks and rights
 */

static void test_table_file_second_writer_is_refused(void **state) {
    (void)state;
    tamis_table_options reader;
    tamis_table_options_init(&reader);
    reader.read_only = true;
    tamis_table *table = create_with(TAMIS_SUMMARY_MULTIPLE, NULL);
    assert_ok(tamis_table_put(table, "k", 1, "v", 1, NULL));
    refuse_with(NULL, TAMIS_E_LOCKED);
    refuse_with(&reader, TAMIS_E_LOCKED);
    /* another process */
    const pid_t child = fork();
    if (child == 0) {
        tamis_table *second = NULL;
        _exit(tamis_table_open(path, NULL, NULL, &second, NULL) == TAMIS_E_LOCKED ? 0 : 1);
    }
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    assert_ok(tamis_table_put(table, "l", 1, "v", 1, NULL));
    assert_ok(tamis_table_close(table));
    /* readers share, and keep writers out */
    table = open_with(&reader);
    tamis_table *const other = open_with(&reader);
    refuse_with(NULL, TAMIS_E_LOCKED);
    assert_ok(tamis_table_get(other, "l", 1, NULL, 0, NULL));
    assert_ok(tamis_table_close(table));
    refuse_with(NULL, TAMIS_E_LOCKED);
    assert_ok(tamis_table_close(other));
    table = open_with(NULL);
    assert_int_equal(tamis_table_count(table), 2);
    assert_ok(tamis_table_close(table));
}

/* With pages, readers and one writer are there at the same time. */
static void test_table_file_reader_beside_a_writer(void **state) {
    (void)state;
#ifndef TAMIS_I_HAS_BYTE_LOCKS
    skip();
#endif
    tamis_table_params params;
    tamis_table_params_init(&params);
    tamis_table_options reader = quick_options(), repair = quick_options();
    reader.read_only = true;
    repair.repair = true;
    tamis_table *table = create_table(&params, quick(NULL)), *old = open_with(&reader);
    bool changed = true;
    assert_ok(tamis_table_put(table, "k", 1, "v", 1, NULL));
    refuse_with(NULL, TAMIS_E_LOCKED);
    refuse_with(&repair, TAMIS_E_LOCKED);
    tamis_table *other = open_with(&reader);
    assert_ok(tamis_table_get(other, "k", 1, NULL, 0, NULL));
    assert_status(tamis_table_get(old, "k", 1, NULL, 0, NULL), TAMIS_E_NOT_FOUND);
    assert_ok(tamis_table_refresh(old, &changed));
    assert_true(changed);
    assert_ok(tamis_table_get(old, "k", 1, NULL, 0, NULL));
    assert_ok(tamis_table_refresh(old, &changed));
    assert_false(changed);
    /* by records alone, and by a closed table */
    assert_ok(tamis_table_put(table, "l", 1, "v", 1, NULL));
    assert_ok(tamis_table_delete(table, "k", 1));
    assert_ok(tamis_table_refresh(old, NULL));
    assert_int_equal(tamis_table_count(old), 1);
    assert_ok(tamis_table_put(table, "m", 1, "v", 1, NULL));
    assert_ok(tamis_table_close(table));
    assert_int_equal(tamis_table_count(other), 1);
    assert_ok(tamis_table_get(other, "k", 1, NULL, 0, NULL));
    refuse_with(&repair, TAMIS_E_LOCKED);
    /* the next writer leaves alone what they see */
    table = open_with(NULL);
    for (unsigned i = 0; i < 20000; i++)
        assert_ok(tamis_table_put(table, &i, sizeof i, "0123456789", 10, NULL));
    assert_ok(tamis_table_get(other, "k", 1, NULL, 0, NULL));
    assert_ok(tamis_table_verify(other, NULL, NULL));
    assert_ok(tamis_table_refresh(old, &changed));
    assert_true(changed);
    assert_int_equal(tamis_table_count(old), 20002);
    assert_ok(tamis_table_verify(old, NULL, NULL));
    assert_ok(tamis_table_refresh(table, &changed)); /* a writer is up to date */
    assert_false(changed);
    assert_status(tamis_table_refresh(NULL, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_table_close(other));
    assert_ok(tamis_table_close(table));
    assert_ok(tamis_table_close(old));
    /* a repair has the table for itself */
    table = open_with(&repair);
    refuse_with(&reader, TAMIS_E_LOCKED);
    assert_ok(tamis_table_close(table));
}

static void test_table_file_create_refuses_what_exists(void **state) {
    (void)state;
    const tamis_table_params params = model_params(MODEL_KEYS, TAMIS_SUMMARY_MULTIPLE);
    const char *reason = NULL;
    tamis_table *table = create_with(TAMIS_SUMMARY_MULTIPLE, NULL);
    assert_ok(tamis_table_put(table, "k", 1, "v", 1, NULL));
    assert_ok(tamis_table_close(table));
    table = NULL;
    assert_status(tamis_table_create_file(path, &params, NULL, NULL, &table, &reason), TAMIS_E_IO);
    assert_null(table);
    assert_string_equal(reason, "the file exists already");
    table = open_with(NULL);
    assert_int_equal(tamis_table_count(table), 1);
    assert_ok(tamis_table_close(table));
    assert_status(
        tamis_table_create_file("/nonexistent/table", &params, NULL, NULL, &table, &reason),
        TAMIS_E_IO);
    assert_status(tamis_table_open("/nonexistent/table", NULL, NULL, &table, &reason), TAMIS_E_IO);
    assert_status(tamis_table_open("/", NULL, NULL, &table, &reason), TAMIS_E_IO);
    assert_status(tamis_table_open("/dev/null", NULL, NULL, &table, &reason), TAMIS_E_FORMAT);
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.read_only = true;
    assert_status(tamis_table_create_file(path, &params, &options, NULL, &table, &reason),
                  TAMIS_E_ARGUMENT);
    options.read_only = false;
    options.sync = (tamis_sync)9;
    assert_status(tamis_table_open(path, &options, NULL, &table, &reason), TAMIS_E_ARGUMENT);
}

/* A file that we may not write: the superuser may, so that a process without rights tries. */
static void test_table_file_without_rights_is_refused_for_writing(void **state) {
    (void)state;
    tamis_table *table = create_with(TAMIS_SUMMARY_MULTIPLE, NULL);
    assert_ok(tamis_table_put(table, "k", 1, "v", 1, NULL));
    assert_ok(tamis_table_close(table));
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        tamis_table *mine = NULL;
        tamis_table_options options;
        tamis_table_options_init(&options);
        const char *reason = "";
        if (tamis_table_open(path, NULL, NULL, &mine, &reason) != TAMIS_E_IO ||
            strcmp(reason, "permission denied") != 0)
            _exit(3);
        options.read_only = true;
        if (tamis_table_open(path, &options, NULL, &mine, &reason) != TAMIS_OK ||
            tamis_table_get(mine, "k", 1, NULL, 0, NULL) != TAMIS_OK)
            _exit(4);
        _exit(0);
    }
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
}

static void test_table_file_failing_allocations_leave_nothing(void **state) {
    (void)state;
    const tamis_table_params params = model_params(MODEL_KEYS, TAMIS_SUMMARY_MULTIPLE);
    (void)unlink(path);
    for (unsigned opening = 0; opening < 2; opening++) {
        tamis_status status = TAMIS_E_NOMEM;
        for (long n = 0; status != TAMIS_OK; n++) {
            test_allocator a;
            test_allocator_init(&a, n);
            tamis_table *table = NULL;
            const char *reason = NULL;
            status = opening == 0 ? tamis_table_create_file(path, &params, NULL, &a.allocator,
                                                            &table, &reason)
                                  : tamis_table_open(path, NULL, &a.allocator, &table, &reason);
            if (status == TAMIS_OK) {
                assert_ok(tamis_table_close(table));
            } else {
                assert_status(status, TAMIS_E_NOMEM);
                assert_true(opening == 1 || access(path, F_OK) != 0);
            }
            assert_int_equal(a.live, 0);
        }
    }
}

/* -------------------------------------------------------------------------------------------------
 * Damage
 */

static unsigned char *slurp(size_t *size) {
    const int fd = open(path, O_RDONLY);
    struct stat about;
    assert_true(fd >= 0 && fstat(fd, &about) == 0);
    *size = (size_t)about.st_size;
    unsigned char *const bytes = malloc(*size);
    assert_non_null(bytes);
    assert_true(tamis_i_io_read_at(fd, 0, bytes, *size));
    close(fd);
    return bytes;
}

static void spill(const unsigned char *bytes, size_t size) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(tamis_i_io_write_at(fd, 0, bytes, size));
    close(fd);
}

static void flip(size_t byte, unsigned bit) {
    const int fd = open(path, O_RDWR);
    unsigned char c = 0;
    assert_true(fd >= 0 && tamis_i_io_read_at(fd, byte, &c, 1));
    c = (unsigned char)(c ^ 1u << bit);
    assert_true(tamis_i_io_write_at(fd, byte, &c, 1));
    close(fd);
}

static tamis_table *filled(tamis_summary summary, model *m, uint64_t *random) {
    model_clear(m);
    tamis_table *const table = create_with(summary, NULL);
    some_calls(table, m, random, 1500);
    return table;
}

static void test_table_file_every_bit_of_the_header_counts(void **state) {
    (void)state;
    uint64_t random = test_seed() + 3;
    static model m;
    assert_ok(tamis_table_close(filled(TAMIS_SUMMARY_MULTIPLE, &m, &random)));
    for (size_t bit = 0; bit < 8 * (size_t)TAMIS_I_PAGE; bit++) {
        flip(bit / 8, bit % 8);
        tamis_table *table = NULL;
        const char *reason = NULL;
        const tamis_status status = tamis_table_open(path, NULL, NULL, &table, &reason);
        const bool version = bit >= 64 && bit < 96;
        assert_true(status == TAMIS_E_FORMAT || (version && status == TAMIS_E_VERSION));
        assert_non_null(reason);
        flip(bit / 8, bit % 8);
    }
    tamis_table *const table = open_with(NULL);
    model_verify(table, &m);
    assert_ok(tamis_table_close(table));
}

/* Damage to one state, to the journal of a closed file, to bits or summary is made good. */
static void test_table_file_damage_beside_the_slots_costs_nothing(void **state) {
    (void)state;
    uint64_t random = test_seed() + 4;
    static model m;
    tamis_table *table = filled(TAMIS_SUMMARY_MULTIPLE, &m, &random);
    const size_t slots_at = (size_t)table->store.slots_at, fast_at = (size_t)table->store.fast_at;
    const size_t end = (size_t)table->store.file_size;
    assert_ok(tamis_table_close(table));
    size_t size;
    unsigned char *const good = slurp(&size);
    assert_int_equal(size, end);
    for (unsigned round = 0; round < 600; round++) {
        size_t byte = fast_at + (size_t)test_random_below(&random, end - fast_at);
        if (round < 200)
            byte = TAMIS_I_PAGE * (1 + round % 2) + (size_t)test_random_below(&random, 64);
        else if (round < 300)
            byte =
                3 * TAMIS_I_PAGE + (size_t)test_random_below(&random, slots_at - 3 * TAMIS_I_PAGE);
        flip(byte, (unsigned)test_random_below(&random, 8));
        table = open_with(NULL);
        model_verify(table, &m);
        model_put(table, &m, round % MODEL_KEYS, round); /* both states are written anew */
        assert_ok(tamis_table_close(table));
        table = open_and_compare(NULL, false, &m);
        assert_ok(tamis_table_close(table));
    }
    /* both states: no one knows what the file is */
    flip(TAMIS_I_PAGE + 20, 1);
    flip(2 * TAMIS_I_PAGE + 20, 1);
    refuse_with(NULL, TAMIS_E_FORMAT);
    free(good);
}

/* The file of a process that was killed, with an empty journal: nothing tells what is right but the slots. */
static void forget_changes(const tamis_i_slots *slots, uint64_t slots_at) {
    tamis_i_store store = {.fd = open(path, O_RDWR), .slots = slots, .sync = TAMIS_SYNC_NONE};
    assert_true(store.fd >= 0);
    tamis_i_state now;
    assert_true(tamis_i_store_get_state(&store, &now));
    store.state_sequence = now.sequence;
    store.sequence = now.journal_sequence;
    const tamis_i_state open_state = {.closed = false};
    assert_ok(tamis_i_store_put_state(&store, &open_state));
    static const unsigned char zeros[TAMIS_I_PAGE];
    for (uint64_t at = 3 * TAMIS_I_PAGE; at < slots_at; at += TAMIS_I_PAGE)
        assert_true(tamis_i_io_write_at(store.fd, at, zeros, sizeof zeros));
    close(store.fd);
}

/* Every call for the key of a damaged item says so. */
static void damage_is_told(const char *key, size_t key_size) {
    tamis_table *const table = open_with(NULL);
    char value[VALUE_MAX];
    assert_status(tamis_table_get(table, key, key_size, value, sizeof value, NULL), TAMIS_E_FORMAT);
    assert_status(tamis_table_put(table, key, key_size, "v", 1, NULL), TAMIS_E_FORMAT);
    assert_status(tamis_table_delete(table, key, key_size), TAMIS_E_FORMAT);
    const char *reason = NULL;
    assert_status(tamis_table_verify(table, NULL, &reason), TAMIS_E_FORMAT);
    assert_non_null(reason);
    assert_ok(tamis_table_close(table));
}

/* A repair goes on without the damaged item, of which there is one. */
static void repair_without(const char *key, size_t key_size, const model *m) {
    tamis_table_options options = quick_options();
    options.repair = true;
    tamis_table *const table = open_with(&options);
    const tamis_table_state info = table_state(table);
    assert_int_equal(info.damaged, 1);
    assert_int_equal(info.count, m->count - 1);
    assert_ok(tamis_table_verify(table, NULL, NULL));
    assert_status(tamis_table_get(table, key, key_size, NULL, 0, NULL), TAMIS_E_NOT_FOUND);
    assert_ok(tamis_table_close(table));
}

/* Damage to an item is seen, by whoever meets it, and never taken for an absent item. */
static void test_table_file_damaged_item_is_never_absent(void **state) {
    (void)state;
    uint64_t random = test_seed() + 5;
    static model m;
    for (unsigned closed = 0; closed < 2; closed++) {
        tamis_table *table = filled(TAMIS_SUMMARY_MULTIPLE, &m, &random);
        const uint64_t slots_at = table->store.slots_at;
        const tamis_i_slots slots = table->slots;
        if (closed == 1)
            assert_ok(tamis_table_close(table));
        else
            abandon(table);
        size_t size;
        unsigned char *const good = slurp(&size);
        for (unsigned round = 0; round < 100; round++) {
            /* a bit of a live item that is not among the last changes */
            unsigned id;
            do
                id = (unsigned)test_random_below(&random, MODEL_KEYS);
            while (!m.present[id]);
            char key[KEY_MAX];
            const size_t key_size = model_key(id, key);
            table = open_with(NULL);
            tamis_i_buffer buffer;
            tamis_i_place place;
            assert_ok(tamis_i_table_find(
                table, key, key_size, tamis_i_table_digest(table, key, key_size), &buffer, &place));
            assert_ok(tamis_table_close(table));
            const uint64_t byte = slots_at + tamis_i_slots_place(&slots, place.part, place.slot) +
                                  test_random_below(&random, slots.slot_size);
            flip((size_t)byte, (unsigned)test_random_below(&random, 8));
            if (closed == 0) {
                forget_changes(&slots, slots_at);
                refuse_with(NULL, TAMIS_E_FORMAT);
            } else {
                damage_is_told(key, key_size);
            }
            repair_without(key, key_size, &m);
            spill(good, size);
        }
        free(good);
    }
}

static void test_table_file_wrong_length_is_refused(void **state) {
    (void)state;
    uint64_t random = test_seed() + 6;
    static model m;
    assert_ok(tamis_table_close(filled(TAMIS_SUMMARY_MULTIPLE, &m, &random)));
    size_t size;
    unsigned char *const good = slurp(&size);
    const size_t lengths[] = {0, 1, 8, 4095, 4096, 4097, 3 * 4096, size / 2, size - 1};
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        spill(good, lengths[i]);
        refuse_with(NULL, TAMIS_E_FORMAT);
    }
    spill(good, size);
    assert_int_equal(truncate(path, (off_t)size + 1), 0);
    refuse_with(NULL, TAMIS_E_FORMAT);
    free(good);
}

/* The power fails after some moves of a rebuild: of the slots, any sectors may have reached the disk or not;
 * the journal has, for it was synced before them.  No item is lost, and none is there twice. */
static void test_table_file_moves_survive_lost_sectors(void **state) {
    (void)state;
    uint64_t random = test_seed() + 9;
    static model m;
    tamis_table_options batch;
    tamis_table_options_init(&batch);
    uint64_t all_moves = 0;
    for (unsigned round = 0; round < 30; round++) {
        model_clear(&m);
        tamis_table *table = create_with(summaries[round % N_SUMMARIES], NULL);
        for (unsigned id = 0; id < MODEL_KEYS; id++)
            model_put(table, &m, id, id * 77);
        for (unsigned i = 0; i < MODEL_KEYS / 2; i++)
            model_delete(table, &m, (unsigned)test_random_below(&random, MODEL_KEYS));
        assert_ok(tamis_table_close(table));
        size_t size;
        unsigned char *const before = slurp(&size);
        table = open_with(round < 3 ? &batch : NULL);
        tamis_table_counts stats;
        tamis_table_counts_init(&stats);
        const uint64_t wanted = 1 + test_random_below(&random, TAMIS_I_JOURNAL_ENTRIES / 2);
        for (bool done = false; !done && stats.moves < wanted;) {
            assert_ok(tamis_table_rebuild(table, 5, &done));
            assert_ok(tamis_table_stats(table, &stats));
        }
        all_moves += stats.moves;
        const size_t from = (size_t)table->store.slots_at, to = (size_t)table->store.fast_at;
        abandon(table);
        unsigned char *const after = slurp(&size);
        for (size_t at = from; at < to; at += TAMIS_I_SECTOR)
            if (test_random_below(&random, 2) == 0)
                memcpy(after + at, before + at, TAMIS_I_SECTOR);
        spill(after, size);
        table = open_with(NULL);
        model_verify(table, &m);
        assert_ok(tamis_table_close(table));
        free(before);
        free(after);
    }
    printf("# %lu moves\n", (unsigned long)all_moves);
    assert_true(all_moves > 100);
}

/* Headers with a right checksum and wrong contents. */
static void test_table_file_impossible_headers_are_refused(void **state) {
    (void)state;
    uint64_t random = test_seed() + 7;
    static model m;
    assert_ok(tamis_table_close(filled(TAMIS_SUMMARY_MULTIPLE, &m, &random)));
    size_t size;
    unsigned char *const good = slurp(&size);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned char header[TAMIS_I_PAGE];
        memcpy(header, good, sizeof header);
        const size_t at = 8 + 4 * (size_t)test_random_below(&random, 150);
        static const uint64_t strange[] = {0, 1, 2, 255, 65536, UINT32_MAX};
        tamis_i_put_u32(header + at, round % 2 == 0 ? (uint32_t)test_random(&random)
                                                    : (uint32_t)strange[round % 6]);
        tamis_i_put_u64(header + TAMIS_I_PAGE - 8, tamis_i_checksum(header, TAMIS_I_PAGE - 8));
        const int fd = open(path, O_WRONLY);
        assert_true(fd >= 0 && tamis_i_io_write_at(fd, 0, header, sizeof header));
        close(fd);
        tamis_table *table = NULL;
        const char *reason = NULL;
        const tamis_status status = tamis_table_open(path, NULL, NULL, &table, &reason);
        if (status != TAMIS_OK) {
            assert_true(status == TAMIS_E_FORMAT || status == TAMIS_E_VERSION ||
                        status == TAMIS_E_TOO_LARGE);
            continue;
        }
        /* another capacity or threshold, say: a table like any other */
        abandon(table);
        spill(good, size);
    }
    free(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_file_every_way_of_reading_is_the_same),
        cmocka_unit_test(test_table_file_not_closed_is_recovered),
        cmocka_unit_test(test_table_file_stash_is_found_again),
        cmocka_unit_test(test_table_file_torn_slot_is_repeated_from_the_journal),
        cmocka_unit_test(test_table_file_direct_reads_see_all_writes),
        cmocka_unit_test(test_table_file_second_writer_is_refused),
        cmocka_unit_test(test_table_file_reader_beside_a_writer),
        cmocka_unit_test(test_table_file_create_refuses_what_exists),
        cmocka_unit_test(test_table_file_without_rights_is_refused_for_writing),
        cmocka_unit_test(test_table_file_failing_allocations_leave_nothing),
        cmocka_unit_test(test_table_file_every_bit_of_the_header_counts),
        cmocka_unit_test(test_table_file_damage_beside_the_slots_costs_nothing),
        cmocka_unit_test(test_table_file_damaged_item_is_never_absent),
        cmocka_unit_test(test_table_file_wrong_length_is_refused),
        cmocka_unit_test(test_table_file_moves_survive_lost_sectors),
        cmocka_unit_test(test_table_file_impossible_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
