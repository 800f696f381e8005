/* test_golden.c - files of the past are read, answer the same, and are written again byte for byte
 *
 * Also with a second reader, read_format.py, which was written from the specification and knows nothing
 * of the library.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include "base/base.h"
#include "golden.h"

#define ASKED 1000u

static const char *golden_path(const golden_file *file) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/golden/%s.tamis", TAMIS_SOURCE_DIR, file->name);
    return path;
}

static unsigned char *read_golden(const golden_file *file, size_t *size) {
    FILE *const in = fopen(golden_path(file), "rb");
    if (in == NULL)
        fail_msg("%s is missing: make it as tests/golden/README.md says", golden_path(file));
    static unsigned char bytes[1 << 20];
    *size = fread(bytes, 1, sizeof bytes, in);
    assert_int_equal(fclose(in), 0);
    return bytes;
}

static bool holds(const tamis_filter *filter, uint64_t i) {
    char key[24];
    const size_t size = golden_key(i, key);
    return tamis_filter_contains(filter, key, size);
}

static void assert_bytes(const tamis_filter *filter, const unsigned char *bytes, size_t size) {
    assert_int_equal(tamis_filter_encoded_size(filter), size);
    unsigned char *const again = malloc(size);
    assert_non_null(again);
    assert_ok(tamis_filter_encode(filter, again, size));
    assert_memory_equal(again, bytes, size);
    free(again);
}

static void test_golden_generator_gives_the_same_bytes(void **state) {
    (void)state;
    golden_file file;
    for (unsigned i = 0; golden_next(i, &file); i++) {
        size_t size;
        const unsigned char *const bytes = read_golden(&file, &size);
        tamis_filter *const filter = golden_make(&file);
        assert_non_null(filter);
        assert_bytes(filter, bytes, size);
        tamis_filter_free(filter);
    }
    assert_false(golden_next(1000, &file));
}

static void test_golden_files_load_and_answer(void **state) {
    (void)state;
    golden_file file;
    unsigned n_files = 0;
    for (; golden_next(n_files, &file); n_files++) {
        size_t size;
        const unsigned char *const bytes = read_golden(&file, &size);
        tamis_filter *const made = golden_make(&file);
        tamis_filter *loaded[3];
        unsigned n = 0;
        assert_non_null(made);
        assert_ok(tamis_filter_decode(bytes, size, NULL, &loaded[n++], NULL));
        assert_ok(tamis_filter_load(golden_path(&file), NULL, &loaded[n++], NULL));
        if (tamis_i_little_endian())
            assert_ok(tamis_filter_map(golden_path(&file), NULL, &loaded[n++], NULL));
        while (n-- > 0) {
            tamis_params params;
            tamis_params_init(&params);
            assert_ok(tamis_filter_params(loaded[n], &params));
            assert_true(params.kind == file.kind && params.seed == file.seed &&
                        params.capacity == file.capacity);
            assert_int_equal(tamis_filter_key_form(loaded[n]), golden_form(file.name));
            for (uint64_t key = 0; key < GOLDEN_KEYS && file.story == INTEGERS; key++)
                assert_true(tamis_filter_contains_u64(loaded[n], GOLDEN_INTEGER(key)));
            assert_true(tamis_filter_count(loaded[n]) == tamis_filter_count(made));
            for (uint64_t key = 0; key < ASKED; key++) {
                const bool present = holds(loaded[n], key);
                assert_int_equal(present, holds(made, key));
                assert_true(present || !golden_holds(&file, key));
            }
            assert_bytes(loaded[n], bytes, size);
            tamis_filter_free(loaded[n]);
        }
        tamis_filter_free(made);
    }
    assert_true(n_files >= N_GOLDEN);
    print_message("# %u files\n", n_files);
}

static void test_golden_stories_are_what_they_say(void **state) {
    (void)state;
    golden_file file;
    for (unsigned i = 0; golden_next(i, &file); i++) {
        tamis_filter *const filter = golden_make(&file);
        assert_non_null(filter);
        const tamis_info info = test_info(filter);
        if (file.story == EMPTY)
            assert_int_equal(info.count, 0);
        if (file.story == TWO)
            assert_true(tamis_filter_contains(filter, "apple", 5) &&
                        tamis_filter_contains(filter, "pear", 4));
        if (file.story == REMOVED)
            assert_int_equal(info.count, 130);
        if (file.story == SATURATED && file.kind == TAMIS_KIND_COUNTING_BLOOM)
            assert_true(info.saturated > 0 && info.count == 14);
        for (uint64_t key = 0; key < GOLDEN_KEYS && file.story == VALUES; key++) {
            char text[24];
            unsigned value;
            assert_ok(tamis_filter_lookup_value(filter, text, golden_key(key, text), &value));
            assert_int_equal(value, key < 10 ? 7 : key % 8);
        }
        tamis_filter_free(filter);
    }
}

/* What the second reader answers for the golden files of the kinds that it knows, one line each. */
static FILE *second_reader(const char *question) {
    static char command[16384];
    size_t at =
        (size_t)snprintf(command, sizeof command, "python3 '%s/tests/golden/read_format.py' %s",
                         TAMIS_SOURCE_DIR, question);
    for (unsigned i = 0; i < N_GOLDEN && at < sizeof command; i++)
        at += (size_t)snprintf(command + at, sizeof command - at, " '%s'",
                               golden_path(&golden_table[i]));
    assert_true(at < sizeof command);
    FILE *const out = popen(command, "r");
    assert_non_null(out);
    return out;
}

static void assert_line(FILE *answers, const char *expected) {
    char line[ASKED + 2];
    assert_non_null(fgets(line, sizeof line, answers));
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line, expected);
}

static void test_golden_second_reader_agrees(void **state) {
    (void)state;
    if (system("python3 -c 'import struct' >/dev/null 2>&1") != 0)
        skip();
    char question[32], expected[ASKED + 2];
    snprintf(question, sizeof question, "--ask %u", ASKED);
    FILE *const summaries = second_reader("");
    FILE *const answers = second_reader(question);
    FILE *const apples = second_reader("--key apple");
    for (unsigned i = 0; i < N_GOLDEN; i++) {
        size_t size;
        tamis_filter *filter;
        const unsigned char *const bytes = read_golden(&golden_table[i], &size);
        assert_ok(tamis_filter_decode(bytes, size, NULL, &filter, NULL));
        static const char *const forms[] = {"", " bytes", " u64"};
        snprintf(expected, sizeof expected, "ok %s %llu%s", tamis_kind_name(golden_table[i].kind),
                 (unsigned long long)tamis_filter_count(filter),
                 forms[tamis_filter_key_form(filter)]);
        assert_line(summaries, expected);
        for (uint64_t key = 0; key < ASKED; key++)
            expected[key] = holds(filter, key) ? '1' : '0';
        expected[ASKED] = '\0';
        assert_line(answers, expected);
        assert_line(apples, tamis_filter_contains(filter, "apple", 5) ? "1" : "0");
        tamis_filter_free(filter);
    }
    assert_int_equal(pclose(summaries), 0);
    assert_int_equal(pclose(answers), 0);
    assert_int_equal(pclose(apples), 0);
}

/* Series are read and written again, and the second reader finds the same keys. */
static void test_golden_series_load_and_answer(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SERIES; i++) {
        const golden_file file = {.name = golden_series[i].name};
        size_t size;
        const unsigned char *const bytes = read_golden(&file, &size);
        tamis_filter *loaded[3];
        unsigned n = 0;
        assert_ok(tamis_filter_decode(bytes, size, NULL, &loaded[n++], NULL));
        assert_ok(tamis_filter_load(golden_path(&file), NULL, &loaded[n++], NULL));
        if (tamis_i_little_endian())
            assert_ok(tamis_filter_map(golden_path(&file), NULL, &loaded[n++], NULL));
        while (n-- > 0) {
            const tamis_info info = test_info(loaded[n]);
            assert_int_equal(info.params.kind, golden_series[i].kind);
            assert_int_equal(tamis_filter_key_form(loaded[n]), golden_form(file.name));
            assert_true(info.n_links >= 3 && info.params.seed == GOLDEN_SEED);
            assert_true(info.fpr_promised > 0.0499 && info.fpr_promised <= (double)0.05);
            assert_true(info.count <= 2 * GOLDEN_KEYS && info.count > 90);
            for (uint64_t key = 0; key < GOLDEN_KEYS; key++)
                assert_true(holds(loaded[n], key));
            unsigned wrong = 0;
            for (uint64_t key = GOLDEN_KEYS; key < ASKED; key++)
                wrong += holds(loaded[n], key);
            assert_true(wrong < 100);
            assert_bytes(loaded[n], bytes, size);
            tamis_filter_free(loaded[n]);
        }
    }
}

static void test_golden_shards_load_and_answer(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SHARDED; i++) {
        const golden_file file = {.name = golden_shards[i].name};
        size_t size;
        const unsigned char *const bytes = read_golden(&file, &size);
        tamis_filter *loaded[4];
        unsigned n = 0;
        assert_ok(tamis_filter_decode(bytes, size, NULL, &loaded[n++], NULL));
        assert_ok(tamis_filter_load(golden_path(&file), NULL, &loaded[n++], NULL));
        if (tamis_i_little_endian())
            assert_ok(tamis_filter_map(golden_path(&file), NULL, &loaded[n++], NULL));
        if (!golden_shards[i].grows) { /* the same keys give the same bytes */
            loaded[n] = golden_make_shards(&golden_shards[i]);
            assert_non_null(loaded[n++]);
        }
        while (n-- > 0) {
            const tamis_info info = test_info(loaded[n]);
            assert_int_equal(info.params.kind, golden_shards[i].kind);
            assert_int_equal(tamis_filter_key_form(loaded[n]), golden_form(file.name));
            assert_int_equal(info.n_shards, 3);
            assert_int_equal(info.n_links > 1, golden_shards[i].grows);
            for (uint64_t key = 0; key < GOLDEN_KEYS; key++)
                assert_true(holds(loaded[n], key));
            assert_bytes(loaded[n], bytes, size);
            tamis_filter_free(loaded[n]);
        }
    }
}

static void test_golden_second_reader_reads_series(void **state) {
    (void)state;
    if (system("python3 -c 'import struct' >/dev/null 2>&1") != 0)
        skip();
    for (unsigned i = 0; i < N_SERIES + N_SHARDED; i++) {
        const golden_file file = {.name = i < N_SERIES ? golden_series[i].name
                                                       : golden_shards[i - N_SERIES].name};
        char command[4096], expected[ASKED + 2];
        tamis_filter *filter;
        assert_ok(tamis_filter_load(golden_path(&file), NULL, &filter, NULL));
        snprintf(command, sizeof command, "python3 '%s/tests/golden/read_format.py' --ask %u '%s'",
                 TAMIS_SOURCE_DIR, ASKED, golden_path(&file));
        FILE *const answers = popen(command, "r");
        assert_non_null(answers);
        for (uint64_t key = 0; key < ASKED; key++)
            expected[key] = holds(filter, key) ? '1' : '0';
        expected[ASKED] = '\0';
        assert_line(answers, expected);
        assert_int_equal(pclose(answers), 0);
        tamis_filter_free(filter);
    }
}

/* The dump in the specification is that of the file: lines of four hex digits and sixteen bytes. */
static void test_golden_example_of_the_specification(void **state) {
    (void)state;
    FILE *const text = fopen(TAMIS_SOURCE_DIR "/docs/format.md", "r");
    assert_non_null(text);
    const golden_file two = {.name = "bloom-two"};
    size_t size;
    const unsigned char *const bytes = read_golden(&two, &size);
    assert_int_equal(size, 384);
    bool shown[384] = {false};
    char line[1024];
    while (fgets(line, sizeof line, text) != NULL) {
        unsigned at, value;
        int next = 10;
        if (strncmp(line, "    ", 4) != 0 || strspn(line + 4, "0123456789abcdef") != 4 ||
            strncmp(line + 8, "  ", 2) != 0 || sscanf(line + 4, "%4x", &at) != 1)
            continue;
        for (unsigned i = 0; i < 16; i++, at++) {
            int length;
            assert_int_equal(sscanf(line + next, "%2x%n", &value, &length), 1);
            next += length;
            assert_true(at < size && !shown[at] && bytes[at] == value);
            shown[at] = true;
        }
    }
    assert_int_equal(fclose(text), 0);
    for (size_t i = 0; i < size; i++)
        assert_true(shown[i] || bytes[i] == 0);
    assert_true(shown[0] && shown[320]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_generator_gives_the_same_bytes),
        cmocka_unit_test(test_golden_files_load_and_answer),
        cmocka_unit_test(test_golden_stories_are_what_they_say),
        cmocka_unit_test(test_golden_second_reader_agrees),
        cmocka_unit_test(test_golden_series_load_and_answer),
        cmocka_unit_test(test_golden_shards_load_and_answer),
        cmocka_unit_test(test_golden_second_reader_reads_series),
        cmocka_unit_test(test_golden_example_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
