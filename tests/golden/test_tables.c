/* test_tables.c - tables of pages of the past are read, and say the same
 *
 * Also by a second reader, read_table.py, which was written from the specification.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include "golden_tables.h"

#include <unistd.h>

static char folder[] = "/tmp/tamis-golden-XXXXXX";
static char path[sizeof folder + 16];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/table", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static const char *golden_path(const golden_table_file *file) {
    static char name[1024];
    snprintf(name, sizeof name, "%s/tests/golden/%s.%s", TAMIS_SOURCE_DIR, file->name,
             file->killed ? "blocks" : "tab");
    return name;
}

/* A copy to work on: blocks go to their places. */
static void copy_golden(const golden_table_file *file) {
    static unsigned char piece[8 + 4096];
    FILE *const in = fopen(golden_path(file), "rb");
    if (in == NULL)
        fail_msg("%s is missing: make it as tests/golden/README.md says", golden_path(file));
    FILE *const out = fopen(path, "wb");
    assert_non_null(out);
    const size_t head = file->killed ? 8 : 0;
    long number = 0;
    while (fread(piece, 1, head + 4096, in) == head + 4096) {
        if (file->killed)
            number = piece[0] + 256L * piece[1];
        assert_int_equal(fseek(out, number * 4096, SEEK_SET), 0);
        assert_int_equal(fwrite(piece + head, 1, 4096, out), 4096);
        number++;
    }
    assert_int_equal(fclose(in), 0);
    assert_int_equal(fclose(out), 0);
}

static tamis_table *open_copy(bool read_only, tamis_table_io io) {
    tamis_table_options options;
    tamis_table *table = NULL;
    const char *reason = "";
    tamis_table_options_init(&options);
    options.read_only = read_only;
    options.io = io;
    if (tamis_table_open(path, &options, NULL, &table, &reason) != TAMIS_OK)
        fail_msg("%s", reason);
    return table;
}

static uint64_t assert_answers(const tamis_table *table, bool large) {
    uint64_t count = 0, number;
    const char *reason = "";
    if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
        fail_msg("%s", reason);
    for (uint64_t i = 0; i < 2 * TABLE_KEYS; i++) {
        char key[24], value[TABLE_VALUE_ROOM], wanted[TABLE_VALUE_ROOM];
        size_t size = 0;
        const tamis_status status =
            tamis_table_get(table, key, golden_key(i, key), value, sizeof value, &size);
        if (!table_holds(i, &number)) {
            assert_status(status, TAMIS_E_NOT_FOUND);
            continue;
        }
        assert_ok(status);
        assert_int_equal(size, table_value(number, large, wanted));
        assert_memory_equal(value, wanted, size);
        count++;
    }
    assert_int_equal(tamis_table_count(table), count);
    return count;
}

static uint64_t checksum_of_copy(void) {
    uint64_t sum = 0;
    FILE *const in = fopen(path, "rb");
    assert_non_null(in);
    for (int c; (c = getc(in)) != EOF;)
        sum = sum * 31 + (unsigned)c + 1;
    fclose(in);
    return sum;
}

static void test_golden_tables_load_and_answer(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_TABLES; i++) {
        const golden_table_file *const file = golden_tables + i;
        tamis_table_state info;
        for (unsigned io = TAMIS_TABLE_MAP; io <= TAMIS_TABLE_READ; io++) {
            copy_golden(file);
            const uint64_t before = checksum_of_copy();
            tamis_table *table = open_copy(true, (tamis_table_io)io);
            tamis_table_state_init(&info);
            assert_ok(tamis_table_info(table, &info));
            assert_int_equal(info.recovered, file->killed);
            assert_int_equal(info.params.hash, file->hash);
            assert_int_equal(assert_answers(table, file->large), 320);
            assert_ok(tamis_table_close(table));
            assert_true(checksum_of_copy() == before);
            table = open_copy(false, (tamis_table_io)io);
            assert_int_equal(assert_answers(table, file->large), 320);
            assert_ok(tamis_table_close(table));
            /* without a change, only what was not closed is written */
            assert_int_equal(checksum_of_copy() == before, !file->killed);
            table = open_copy(false, (tamis_table_io)io);
            assert_true(table_put_one(table, 5, 5, false));
            assert_ok(tamis_table_delete(table, "5", 1));
            assert_int_equal(assert_answers(table, file->large), 320);
            assert_ok(tamis_table_close(table));
        }
    }
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void test_golden_tables_second_reader_agrees(void **state) {
    (void)state;
    if (system("python3 -c 'import struct' >/dev/null 2>&1") != 0)
        skip();
    static char lines[TABLE_KEYS][TABLE_VALUE_ROOM + 32], line[TABLE_VALUE_ROOM + 32];
    static const char *sorted[TABLE_KEYS];
    for (unsigned f = 0; f < N_TABLES; f++) {
        unsigned n = 0;
        for (uint64_t i = 0, number; i < TABLE_KEYS; i++) {
            if (!table_holds(i, &number))
                continue;
            char key[24], value[TABLE_VALUE_ROOM];
            const size_t key_size = golden_key(i, key),
                         size = table_value(number, golden_tables[f].large, value);
            snprintf(lines[n], sizeof lines[n], "%.*s\t%.*s\n", (int)key_size, key, (int)size,
                     value);
            sorted[n] = lines[n];
            n++;
        }
        qsort(sorted, n, sizeof *sorted, compare_lines);
        char command[2400];
        snprintf(command, sizeof command, "python3 '%s/tests/golden/read_table.py' '%s'",
                 TAMIS_SOURCE_DIR, golden_path(golden_tables + f));
        FILE *const answers = popen(command, "r");
        assert_non_null(answers);
        for (unsigned i = 0; i < n; i++) {
            assert_non_null(fgets(line, sizeof line, answers));
            assert_string_equal(line, sorted[i]);
        }
        assert_null(fgets(line, sizeof line, answers));
        assert_int_equal(pclose(answers), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_tables_load_and_answer),
        cmocka_unit_test(test_golden_tables_second_reader_agrees),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
