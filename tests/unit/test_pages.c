/* test_pages.c - page tables against a dictionary, in memory and in a file; growth; refusals
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "robust/table_file.h"

#include "table/page.h"
#include "table/table.h"

#include <errno.h>
#include <sys/stat.h>

static tamis_table_params page_params(void) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.seed = test_seed();
    params.hash = TAMIS_HASH_XXH3;
    return params;
}

static tamis_table *page_table(void) {
    const tamis_table_params params = page_params();
    tamis_table *table = NULL;
    assert_ok(tamis_table_create(&params, NULL, &table));
    return table;
}

/* Item number i: keys of 8 to 27 bytes, values of up to 400. */
static size_t item_key(uint64_t i, unsigned char key[32]) {
    const size_t size = 8 + i % 20;
    memset(key, (int)(i % 256), size);
    memcpy(key, &i, 8);
    return size;
}

static size_t item_value(uint64_t i, unsigned char value[1000]) {
    const size_t size = i % 50 == 0 ? 300 + i % 101 : i % 60;
    memset(value, (int)(i * 7 % 256), size);
    return size;
}

static void put_item(tamis_table *table, uint64_t i, uint64_t version) {
    unsigned char key[32], value[1000];
    const size_t key_size = item_key(i, key), value_size = item_value(i + version, value);
    assert_ok(tamis_table_put(table, key, key_size, value, value_size, NULL));
}

static void expect_item(const tamis_table *table, uint64_t i, uint64_t version) {
    unsigned char key[32], value[1000], found[1000];
    const size_t key_size = item_key(i, key), value_size = item_value(i + version, value);
    size_t size = 0;
    assert_ok(tamis_table_get(table, key, key_size, found, sizeof found, &size));
    assert_int_equal(size, value_size);
    assert_memory_equal(found, value, size);
}

static void expect_none(const tamis_table *table, uint64_t i) {
    unsigned char key[32];
    const size_t key_size = item_key(i, key);
    assert_status(tamis_table_get(table, key, key_size, NULL, 0, NULL), TAMIS_E_NOT_FOUND);
}

static void verify(const tamis_table *table) {
    const char *reason = "";
    if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
        fail_msg("verify: %s", reason);
}

/* -------------------------------------------------------------------------------------------------
 * Against a dictionary
 */

static void random_calls(tamis_table *table, model *m, unsigned n, uint64_t *random) {
    for (unsigned i = 0; i < n; i++) {
        const unsigned id = (unsigned)test_random_below(random, MODEL_KEYS);
        switch (test_random_below(random, 4)) {
        case 0:
            model_delete(table, m, id);
            break;
        case 1:
            model_get(table, m, id);
            break;
        default:
            model_put(table, m, id, (uint32_t)test_random(random));
            break;
        }
    }
}

static void test_pages_random_calls_equal_a_dictionary(void **state) {
    (void)state;
    uint64_t random = test_seed();
    static model m;
    model_clear(&m);
    tamis_table *const table = page_table();
    for (unsigned round = 0; round < 20; round++) {
        random_calls(table, &m, 1000, &random);
        model_verify(table, &m);
        assert_ok(tamis_table_rebuild(table, 3, NULL));
    }
    assert_ok(tamis_table_close(table));
}

/* Closed or not, mapped or read, for reading or for changes: the same items. */
static void test_pages_file_is_opened_again(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    static model m;
    model_clear(&m);
    const tamis_table_params params = page_params();
    tamis_table_options options = quick_options();
    assert_ok(tamis_table_close(create_table(&params, &options)));
    for (unsigned round = 0; round < 24; round++) {
        options.io = (tamis_table_io)(round % 3);
        options.read_only = false;
        tamis_table *table = open_table(&options);
        assert_int_equal(table_state(table).recovered, false);
        random_calls(table, &m, 500, &random);
        model_verify(table, &m);
        assert_ok(tamis_table_close(table));
        options.read_only = true;
        table = open_table(&options);
        model_verify(table, &m);
        assert_status(tamis_table_put(table, "a", 1, "b", 1, NULL), TAMIS_E_READONLY);
        assert_status(tamis_table_delete(table, "a", 1), TAMIS_E_READONLY);
        assert_status(tamis_table_rebuild(table, 1, NULL), TAMIS_E_READONLY);
        assert_ok(tamis_table_close(table));
    }
}

/* -------------------------------------------------------------------------------------------------
 * Growth
 */

/* From nothing to 60,000 items and back, of all sizes: one read for each hit all the time. */
static void test_pages_grow_and_shrink(void **state) {
    (void)state;
    enum { N = 60000 };
    const tamis_table_params params = page_params();
    const tamis_table_options options = quick_options();
    tamis_table *table = create_table(&params, &options);
    uint64_t random = test_seed(), bytes = 0;
    for (uint64_t i = 0; i < N; i++) {
        unsigned char key[32], value[1000];
        bytes += item_key(i, key) + item_value(i, value);
        put_item(table, i, 0);
        if (i % 100 == 0) {
            expect_item(table, test_random_below(&random, i + 1), 0);
            expect_none(table, N + i);
        }
    }
    verify(table);
    tamis_table_state info = table_state(table);
    assert_int_equal(info.count, N);
    tamis_table_counts counts = table_counts(table);
    assert_int_equal(counts.hits, counts.hit_reads);
    printf("# %d items of %.1f bytes in %lu pages, %.3f of their bytes; fast %.2f bits per item\n",
           N, (double)bytes / N, (unsigned long)info.slots,
           (double)info.slots * 4096 / (double)bytes,
           8.0 * (double)(info.summary_bytes + info.bit_bytes) / N);
    assert_true((double)info.slots * 4096 < 1.25 * (double)bytes);
    assert_true(info.fpr < 0.0022);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < 100000; i++)
        expect_none(table, N + i);
    counts = table_counts(table);
    wrong = counts.false_positives;
    assert_rate("false positives", wrong, counts.misses, info.fpr, 0.1);
    assert_ok(tamis_table_close(table));

    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    printf("# closed: %.3f bytes of file per byte\n", (double)about.st_size / (double)bytes);
    assert_true((double)about.st_size < 1.25 * (double)bytes);
    table = open_table(&options);
    for (uint64_t i = 0; i < N; i++) { /* others in the place of half of them, and the rest goes */
        unsigned char key[32];
        const size_t key_size = item_key(i, key);
        if (i % 2 == 0)
            put_item(table, i, 13);
        else
            assert_ok(tamis_table_delete(table, key, key_size));
    }
    verify(table);
    for (uint64_t i = 0; i < N; i += 2)
        expect_item(table, i, 13);
    for (uint64_t i = 1; i < N; i += 2)
        expect_none(table, i);
    bool done = false;
    while (!done)
        assert_ok(tamis_table_rebuild(table, 1, &done));
    verify(table);
    assert_ok(tamis_table_close(table));
    const off_t before = about.st_size;
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_size < before * 6 / 10);
    table = open_table(&options);
    verify(table);
    for (uint64_t i = 0; i < N; i += 2) {
        unsigned char key[32];
        const size_t key_size = item_key(i, key);
        assert_ok(tamis_table_delete(table, key, key_size));
    }
    assert_int_equal(tamis_table_count(table), 0);
    assert_true(table_state(table).slots < 10);
    verify(table);
    assert_ok(tamis_table_close(table));
}

/* Items of different sizes whose tags are equal: a key that is not there has no number. */
static void test_page_find_of_an_absent_key_gives_no_number(void **state) {
    (void)state;
    static const unsigned char text[] = "abcdefgh";
    unsigned char image[TAMIS_I_PAGE_BYTES];
    const tamis_i_page_item items[] = {
        {.key = text, .key_size = 2, .value = text, .value_size = 5, .tag = 7},
        {.key = text + 2, .key_size = 2, .value = text, .value_size = 2, .tag = 7},
    };
    tamis_i_page_item found;
    unsigned number = 99;
    tamis_i_page_build(image, 0, items, 2);
    assert_true(tamis_i_page_check(image));
    assert_false(tamis_i_page_find(image, 7, "xy", 2, &found, &number));
    assert_int_equal(number, 99);
    assert_true(tamis_i_page_find(image, 7, "cd", 2, &found, &number));
    assert_int_equal(number, 1);
    assert_int_equal(found.value_size, 2);
    assert_memory_equal(found.value, text, 2);
}

static void test_pages_walk_meets_each_item_once(void **state) {
    (void)state;
    enum { N = 5000 };
    tamis_table *const table = page_table();
    bool met[N] = {false};
    for (uint64_t i = 0; i < N; i++)
        put_item(table, i, 0);
    unsigned char key[1000], value[1000];
    size_t key_size, value_size;
    uint64_t at = 0, n = 0;
    while (tamis_table_next(table, &at, key, &key_size, value, &value_size) == TAMIS_OK) {
        uint64_t i;
        memcpy(&i, key, 8);
        assert_true(i < N && !met[i]);
        met[i] = true;
        n++;
    }
    assert_int_equal(n, N);
    assert_ok(tamis_table_close(table));
}

/* -------------------------------------------------------------------------------------------------
 * Refusals
 */

static void test_pages_bad_arguments_are_refused(void **state) {
    (void)state;
    tamis_table *const table = page_table();
    static unsigned char bytes[1001];
    errno = 77;
    assert_status(tamis_table_put(table, bytes, 1001, NULL, 0, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_put(table, bytes, 500, bytes, 501, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_put(table, NULL, 1, bytes, 1, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_table_put(table, bytes, 500, bytes, 500, NULL));
    assert_ok(tamis_table_put(table, NULL, 0, NULL, 0, NULL));
    size_t size = 7;
    assert_ok(tamis_table_get(table, NULL, 0, NULL, 0, &size));
    assert_int_equal(size, 0);
    assert_status(tamis_table_get(table, bytes, 500, bytes, 499, &size), TAMIS_E_TOO_LARGE);
    assert_int_equal(size, 500);
    assert_int_equal(errno, 77);
    verify(table);
    assert_ok(tamis_table_close(table));

    tamis_table_params params = page_params();
    tamis_table *none = NULL;
    params.bucket = TAMIS_TABLE_PAGE;
    params.summary = TAMIS_SUMMARY_SINGLE;
    assert_status(tamis_table_create(&params, NULL, &none), TAMIS_E_ARGUMENT);
    params.summary = TAMIS_SUMMARY_DEFAULT;
    params.stash = 4;
    params.n_levels = 1;
    params.cells[0] = 13000;
    params.hashes[0] = 9;
    assert_status(tamis_table_create(&params, NULL, &none), TAMIS_E_ARGUMENT);
    params.stash = 0;
    params.key_max = 1001;
    assert_status(tamis_table_create(&params, NULL, &none), TAMIS_E_ARGUMENT);
    params.key_max = 12;
    assert_ok(tamis_table_create(&params, NULL, &none));
    assert_status(tamis_table_put(none, bytes, 13, NULL, 0, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_table_close(none));
}

/* Memory that fails, anywhere: the call is refused, and everything is as before. */
static void test_pages_failing_allocations_change_nothing(void **state) {
    (void)state;
    const tamis_table_params params = page_params();
    const tamis_table_options options = quick_options();
    uint64_t refused = 0;
    for (long n = 0; n < 400; n += 1 + n / 10) {
        test_allocator a;
        test_allocator_init(&a, n);
        tamis_table *table = NULL;
        (void)unlink(path);
        const char *reason;
        if (tamis_table_create_file(path, &params, &options, &a.allocator, &table, &reason) !=
            TAMIS_OK) {
            assert_int_equal(a.live, 0);
            continue;
        }
        for (uint64_t i = 0; i < 800; i++) {
            unsigned char key[32], value[1000];
            const size_t key_size = item_key(i, key), value_size = item_value(i, value);
            tamis_status status = tamis_table_put(table, key, key_size, value, value_size, NULL);
            if (status != TAMIS_OK) {
                assert_status(status, TAMIS_E_NOMEM);
                refused++;
                assert_int_equal(tamis_table_count(table), i);
                expect_none(table, i);
                verify(table);
                status = tamis_table_put(table, key, key_size, value, value_size, NULL);
            }
            assert_ok(status);
        }
        verify(table);
        const tamis_status closed = tamis_table_close(table);
        assert_true(closed == TAMIS_OK || closed == TAMIS_E_NOMEM);
        assert_int_equal(a.live, 0);
        table = open_table(&options);
        assert_int_equal(tamis_table_count(table), 800);
        verify(table);
        assert_ok(tamis_table_close(table));
    }
    assert_true(refused > 10);
}

/* A header of another version, or for a table with slots, is not taken for one of pages. */
static void test_pages_header_is_checked(void **state) {
    (void)state;
    const tamis_table_params params = page_params();
    const tamis_table_options options = quick_options();
    tamis_table *table = create_table(&params, &options);
    put_item(table, 1, 0);
    assert_ok(tamis_table_close(table));
    static const unsigned places[] = {0, 8, 12, 16, 20, 32, 56, 80, 96, 224, 352, 700};
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        FILE *const file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)places[i], SEEK_SET), 0);
        const int byte = fgetc(file);
        assert_int_equal(fseek(file, (long)places[i], SEEK_SET), 0);
        assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
        assert_int_equal(fclose(file), 0);
        assert_true(tamis_table_open(path, &options, NULL, &table, NULL) != TAMIS_OK);
        FILE *const again = fopen(path, "r+b");
        assert_int_equal(fseek(again, (long)places[i], SEEK_SET), 0);
        assert_int_equal(fputc(byte, again), byte);
        assert_int_equal(fclose(again), 0);
    }
    table = open_table(&options);
    expect_item(table, 1, 0);
    assert_ok(tamis_table_close(table));
    assert_int_equal(truncate(path, 4096 * 5), 0);
    assert_status(tamis_table_open(path, &options, NULL, &table, NULL), TAMIS_E_FORMAT);
}

static void test_pages_plan(void **state) {
    (void)state;
    tamis_table_need need;
    tamis_table_plan plan;
    tamis_table_need_init(&need);
    tamis_table_plan_init(&plan);
    need.bucket = TAMIS_TABLE_PAGE;
    assert_ok(tamis_table_plan_make(&need, &plan)); /* any number of items */
    need.n = 1000000;
    need.fpr = 0.006;
    assert_ok(tamis_table_plan_make(&need, &plan));
    assert_int_equal(plan.params.hashes[0], 7);
    assert_true(plan.params.cells[0] > 10600 && plan.params.cells[0] < 10800);
    need.odds = 1e-9;
    assert_status(tamis_table_plan_make(&need, &plan), TAMIS_E_ARGUMENT);
    need.odds = 0;
    need.summary = TAMIS_SUMMARY_INTERPOLATION;
    assert_status(tamis_table_plan_make(&need, &plan), TAMIS_E_ARGUMENT);
}

/* Value number i, of any size up to 3 MB. */
static size_t long_value(uint64_t i, unsigned char *value) {
    const size_t size = i % 4 == 0 ? 3000000 - (size_t)i : 900 + (size_t)(i * 1237 % 40000);
    for (size_t j = 0; j < size; j++)
        value[j] = (unsigned char)(i + j / 7);
    return size;
}

static void expect_long(const tamis_table *table, uint64_t i, uint64_t number) {
    static unsigned char value[3000000], found[3000000];
    size_t size = 0;
    assert_ok(tamis_table_get(table, &i, 8, found, sizeof found, &size));
    assert_int_equal(size, long_value(number, value));
    assert_memory_equal(found, value, size);
    assert_ok(tamis_table_get(table, &i, 8, NULL, 0, &size));
    assert_status(tamis_table_get(table, &i, 8, found, size - 1, &size), TAMIS_E_TOO_LARGE);
}

static void long_values(tamis_table_io io) {
    static unsigned char value[3000000];
    tamis_table_params params = page_params();
    params.value_max = 3000000;
    tamis_table_options options = quick_options();
    options.io = io;
    tamis_table *table = create_table(&params, &options);
    const tamis_table_counts before = table_counts(table);
    for (uint64_t i = 0; i < 60; i++)
        assert_ok(tamis_table_put(table, &i, 8, value, long_value(i, value), NULL));
    for (uint64_t i = 0; i < 60; i++)
        expect_long(table, i, i);
    assert_int_equal(table_counts(table).change_reads - before.change_reads, 60);
    /* replaced by longer ones, by short ones, and deleted: the room is used again */
    for (uint64_t round = 1; round < 4; round++)
        for (uint64_t i = 0; i < 60; i++)
            assert_ok(tamis_table_put(table, &i, 8, value, long_value(i + round, value), NULL));
    for (uint64_t i = 0; i < 20; i++)
        assert_ok(tamis_table_delete(table, &i, 8));
    for (uint64_t i = 20; i < 30; i++)
        assert_ok(tamis_table_put(table, &i, 8, "short", 5, NULL));
    for (unsigned round = 0; round < 2; round++) { /* closed, and opened again */
        for (uint64_t i = 30; i < 60; i++)
            expect_long(table, i, i + 3);
        const char *reason = "";
        if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
            fail_msg("%s", reason);
        assert_ok(tamis_table_close(table));
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        table = open_table(&options);
        assert_int_equal(tamis_table_count(table), 40);
    }
    uint64_t at = 0, seen = 0;
    unsigned char key[1000];
    size_t key_size, size;
    while (tamis_table_next(table, &at, key, &key_size, value, &size) == TAMIS_OK)
        seen++;
    assert_int_equal(seen, 40);
    assert_status(tamis_table_put(table, "a", 1, value, 3000001, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_put(table, value, 990, value, 2000, NULL), TAMIS_E_ARGUMENT);
    for (uint64_t i = 20; i < 60; i++)
        assert_ok(tamis_table_delete(table, &i, 8));
    assert_ok(tamis_table_close(table));
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_size < 100000);
}

static void test_long_values_are_elsewhere(void **state) {
    (void)state;
    for (unsigned io = TAMIS_TABLE_MAP; io <= TAMIS_TABLE_DIRECT; io++)
        long_values((tamis_table_io)io);
    /* not in memory, and not if the table was not made for them */
    unsigned char value[2000] = {0};
    tamis_table *table = page_table();
    assert_status(tamis_table_put(table, "a", 1, value, 2000, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_table_close(table));
    tamis_table_params params = page_params();
    params.value_max = 2000;
    assert_ok(tamis_table_create(&params, NULL, &table));
    assert_status(tamis_table_put(table, "a", 1, value, 2000, NULL), TAMIS_E_ARGUMENT);
    assert_ok(tamis_table_close(table));
    params.value_max = TAMIS_TABLE_VALUE_MAX + 1;
    assert_status(tamis_table_create(&params, NULL, &table), TAMIS_E_ARGUMENT);
}

/* Where an item of a file leads is not trusted: the map is longer than the file, and touching what is behind
 * its end would end the process.  That is the file's length after a call that made it shorter, too. */
static void test_long_value_behind_the_end_is_refused(void **state) {
    (void)state;
    static unsigned char value[5000];
    tamis_table_params params = page_params();
    params.value_max = sizeof value;
    const tamis_table_options options = quick_options();
    tamis_table *table = create_table(&params, &options);
    for (uint64_t i = 0; i < 20; i++)
        assert_ok(tamis_table_put(table, &i, 8, value, sizeof value, NULL));
    assert_ok(tamis_table_close(table));
    table = open_table(&options);
    tamis_i_pages *const p = table->pages;
    const uint64_t end = p->n_blocks * TAMIS_I_PAGE_BYTES;
    const tamis_i_value behind = {.block = (uint32_t)p->n_blocks, .size = sizeof value},
                        half = {.block = (uint32_t)p->n_blocks - 1, .size = sizeof value};
    assert_status(tamis_i_value_read(p, &behind, value), TAMIS_E_FORMAT);
    assert_status(tamis_i_value_read(p, &half, value), TAMIS_E_FORMAT);
    assert_status(tamis_i_value_check(p, &behind), TAMIS_E_FORMAT);
    assert_non_null(p->disk.ops->view(p->disk.self, end - 1, 1));
    assert_null(p->disk.ops->view(p->disk.self, end - 1, 2));
    assert_null(p->disk.ops->view(p->disk.self, end, 1));
    assert_true(p->disk.ops->resize(p->disk.self, end + TAMIS_I_PAGE_BYTES));
    assert_true(p->disk.ops->cover(p->disk.self, end + TAMIS_I_PAGE_BYTES));
    assert_non_null(p->disk.ops->view(p->disk.self, end, 1));
    assert_true(p->disk.ops->resize(p->disk.self, end));
    assert_null(p->disk.ops->view(p->disk.self, end, 1));
    assert_ok(tamis_table_close(table));
}

/* A damaged long value is refused by get and verify; a repair goes on without it. */
static void test_long_value_damaged_is_told(void **state) {
    (void)state;
    unsigned char value[20000], found[20000];
    tamis_table_params params = page_params();
    params.value_max = 20000;
    tamis_table_options options = quick_options();
    tamis_table *table = create_table(&params, &options);
    for (uint64_t i = 0; i < 5; i++) {
        memset(value, (int)(0xa0 + i), sizeof value);
        assert_ok(tamis_table_put(table, &i, 8, value, sizeof value, NULL));
    }
    assert_ok(tamis_table_close(table));
    FILE *const file = fopen(path, "r+b");
    assert_non_null(file);
    int c;
    while ((c = getc(file)) != EOF && c != 0xa3)
        continue;
    assert_int_equal(c, 0xa3);
    assert_int_equal(fseek(file, 100, SEEK_CUR), 0);
    assert_int_equal(putc(0xb3, file), 0xb3);
    fclose(file);
    const uint64_t hurt = 3, whole = 2;
    size_t size;
    const char *reason = "";
    table = open_table(&options);
    assert_status(tamis_table_get(table, &hurt, 8, found, sizeof found, &size), TAMIS_E_FORMAT);
    assert_ok(tamis_table_get(table, &whole, 8, found, sizeof found, &size));
    assert_status(tamis_table_verify(table, NULL, &reason), TAMIS_E_FORMAT);
    assert_string_equal(reason, "a long value is damaged");
    assert_ok(tamis_table_close(table));
    options.repair = true;
    table = open_table(&options);
    assert_int_equal(table_state(table).damaged, 1);
    assert_int_equal(tamis_table_count(table), 4);
    assert_status(tamis_table_get(table, &hurt, 8, found, sizeof found, &size), TAMIS_E_NOT_FOUND);
    assert_ok(tamis_table_verify(table, NULL, &reason));
    assert_ok(tamis_table_close(table));
}

/* Batches do what single calls do, in memory, in a file and with slots. */
static void many_against_single(tamis_table *table) {
    enum { N = 1000 };
    static unsigned char keys[N][32], values[N][1000], found[N][1000];
    static tamis_table_item items[N + 1];
    static tamis_table_ask asks[N + 1];
    static tamis_bytes names[N];
    size_t done = 0, there = 0;
    for (uint64_t i = 0; i < N; i++) {
        items[i] = (tamis_table_item){keys[i], item_key(i, keys[i]), values[i], 0};
        items[i].value_size = item_value(i, values[i]) % 60;
        asks[i] = (tamis_table_ask){.key = keys[i], .key_size = items[i].key_size};
        asks[i].value = found[i];
        asks[i].room = i % 10 == 0 ? 0 : 1000;
        names[i] = (tamis_bytes){keys[i], items[i].key_size};
    }
    assert_ok(tamis_table_put_many(table, items, N / 2, &done));
    assert_int_equal(done, N / 2);
    assert_int_equal(tamis_table_count(table), N / 2);
    assert_ok(tamis_table_get_many(table, asks, N, &there));
    assert_int_equal(there, N / 2);
    for (unsigned i = 0; i < N; i++) {
        const bool tight = i % 10 == 0 && items[i].value_size > 0;
        assert_status(asks[i].status, i >= N / 2 ? TAMIS_E_NOT_FOUND
                                      : tight    ? TAMIS_E_TOO_LARGE
                                                 : TAMIS_OK);
        if (i < N / 2)
            assert_int_equal(asks[i].value_size, items[i].value_size);
        if (asks[i].status == TAMIS_OK)
            assert_memory_equal(found[i], values[i], items[i].value_size);
    }
    /* one that is too long stops a batch, and is told */
    items[N] = items[700];
    items[700].key_size = 5000;
    assert_status(tamis_table_put_many(table, items + N / 2, N / 2, &done), TAMIS_E_ARGUMENT);
    assert_int_equal(done, 200);
    assert_int_equal(tamis_table_count(table), 700);
    items[700] = items[N];
    asks[700].key = NULL;
    assert_status(tamis_table_get_many(table, asks, N, &there), TAMIS_E_ARGUMENT);
    assert_int_equal(there, 700);
    assert_ok(tamis_table_delete_many(table, names + 300, 600, &done, &there));
    assert_int_equal(done, 600);
    assert_int_equal(there, 400);
    assert_int_equal(tamis_table_count(table), 300);
    assert_ok(tamis_table_put_many(table, NULL, 0, NULL));
    assert_status(tamis_table_put_many(table, NULL, 1, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_get_many(table, NULL, 1, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_delete_many(table, NULL, 1, NULL, NULL), TAMIS_E_ARGUMENT);
    const char *reason = "";
    if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
        fail_msg("%s", reason);
}

static void test_batches_do_what_single_calls_do(void **state) {
    (void)state;
    tamis_table *table = page_table();
    many_against_single(table);
    assert_ok(tamis_table_close(table));
    tamis_table_params params = page_params();
    for (unsigned io = TAMIS_TABLE_MAP; io <= TAMIS_TABLE_DIRECT; io++) {
        tamis_table_options options = quick_options();
        options.sync = io == TAMIS_TABLE_READ ? TAMIS_SYNC_EACH : TAMIS_SYNC_NONE;
        options.io = (tamis_table_io)io;
        table = create_table(&params, &options);
        many_against_single(table);
        assert_ok(tamis_table_close(table));
        options.read_only = true;
        table = open_table(&options);
        assert_int_equal(tamis_table_count(table), 300);
        const tamis_table_item item = {"a", 1, "b", 1};
        assert_status(tamis_table_put_many(table, &item, 1, NULL), TAMIS_E_READONLY);
        assert_status(tamis_table_delete_many(table, NULL, 0, NULL, NULL), TAMIS_E_READONLY);
        tamis_table_ask ask = {.key = "a", .key_size = 1};
        assert_ok(tamis_table_get_many(table, &ask, 1, NULL));
        assert_status(ask.status, TAMIS_E_NOT_FOUND);
        assert_ok(tamis_table_close(table));
    }
    params.capacity = 2000;
    params.key_max = 32;
    params.value_max = 60;
    params.bucket = 1;
    assert_ok(tamis_table_create(&params, NULL, &table));
    many_against_single(table);
    assert_ok(tamis_table_close(table));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_random_calls_equal_a_dictionary),
        cmocka_unit_test(test_pages_file_is_opened_again),
        cmocka_unit_test(test_pages_grow_and_shrink),
        cmocka_unit_test(test_page_find_of_an_absent_key_gives_no_number),
        cmocka_unit_test(test_pages_walk_meets_each_item_once),
        cmocka_unit_test(test_pages_bad_arguments_are_refused),
        cmocka_unit_test(test_pages_failing_allocations_change_nothing),
        cmocka_unit_test(test_pages_header_is_checked),
        cmocka_unit_test(test_pages_plan),
        cmocka_unit_test(test_batches_do_what_single_calls_do),
        cmocka_unit_test(test_long_values_are_elsewhere),
        cmocka_unit_test(test_long_value_behind_the_end_is_refused),
        cmocka_unit_test(test_long_value_damaged_is_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
