/* test_rules.c - each rule of the format is enforced, and says so
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "robust.h"
#include "rules.h"

static const char *rule_path(const rule *r) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/tests/robust/files/%s.tamis", TAMIS_SOURCE_DIR, r->name);
    return path;
}

static size_t read_rule(const rule *r, unsigned char *bytes) {
    FILE *const in = fopen(rule_path(r), "rb");
    if (in == NULL)
        fail_msg("%s is missing: make it as tests/robust/files/README.md says", rule_path(r));
    const size_t size = fread(bytes, 1, RULE_ROOM, in);
    assert_int_equal(fclose(in), 0);
    return size;
}

static void test_rules_files_are_those_of_the_table(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_RULES; i++) {
        unsigned char made[RULE_ROOM], stored[RULE_ROOM];
        const size_t size = rule_bytes(&rules[i], made);
        assert_int_equal(read_rule(&rules[i], stored), size);
        assert_memory_equal(made, stored, size);
    }
}

static void test_rules_sound_bases_load(void **state) {
    (void)state;
    loader l;
    loader_open(&l, "bases", RULE_ROOM);
    for (unsigned base = 0; base < NOTHING; base++) {
        const rule none = {.name = "none", .base = (rule_base)base};
        unsigned char bytes[RULE_ROOM];
        const size_t size = rule_bytes(&none, bytes);
        for (way w = FROM_MEMORY; w < N_WAYS; w++)
            if (way_exists(w))
                assert_true(refused_or_safe(&l, w, bytes, size));
    }
    loader_close(&l);
}

/* What a rule demands here: a 32-bit machine cannot hold all that a file may promise. */
static bool is_too_large(const rule *r) {
    return sizeof(size_t) == 4 && strcmp(r->name, "body-promised-2-to-45-bytes") == 0;
}

static tamis_status status_of(const rule *r) {
    return is_too_large(r) ? TAMIS_E_TOO_LARGE : r->status;
}

static const char *reason_of(const rule *r) {
    return is_too_large(r) ? "the filter is too large for this machine" : r->reason;
}

static void test_rules_each_refused_with_its_reason(void **state) {
    (void)state;
    loader l;
    loader_open(&l, "rules", RULE_ROOM);
    for (unsigned i = 0; i < N_RULES; i++) {
        unsigned char bytes[RULE_ROOM];
        const size_t size = read_rule(&rules[i], bytes);
        for (way w = FROM_MEMORY; w < N_WAYS; w++) {
            if (!way_exists(w))
                continue;
            const char *const reason = must_refuse(&l, w, bytes, size, status_of(&rules[i]));
            if (strcmp(reason, reason_of(&rules[i])) != 0)
                fail_msg("%s: %s", rules[i].name, reason);
        }
        tamis_filter *filter = NULL;
        const char *reason = NULL;
        assert_status(tamis_filter_load(rule_path(&rules[i]), NULL, &filter, &reason),
                      status_of(&rules[i]));
        assert_string_equal(reason, reason_of(&rules[i]));
    }
    print_message("# %u rules\n", (unsigned)N_RULES);
    loader_close(&l);
}

/* The reader that was written from the specification refuses the same files for the same reasons. */
static void test_rules_second_reader_agrees(void **state) {
    (void)state;
    if (system("python3 -c 'import struct' >/dev/null 2>&1") != 0)
        skip();
    static char command[65536];
    size_t at = (size_t)snprintf(command, sizeof command,
                                 "python3 '%s/tests/golden/read_format.py'", TAMIS_SOURCE_DIR);
    for (unsigned i = 0; i < N_RULES && at < sizeof command; i++)
        at += (size_t)snprintf(command + at, sizeof command - at, " '%s'", rule_path(&rules[i]));
    assert_true(at < sizeof command);
    FILE *const out = popen(command, "r");
    assert_non_null(out);
    for (unsigned i = 0; i < N_RULES; i++) {
        char line[256];
        assert_non_null(fgets(line, sizeof line, out));
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, rules[i].reason) != 0)
            fail_msg("%s: %s", rules[i].name, line);
    }
    (void)pclose(out);
}

/* The specification gives every reason in the words of the loader. */
static void test_rules_reasons_are_in_the_specification(void **state) {
    (void)state;
    static char text[1 << 17];
    FILE *const in = fopen(TAMIS_SOURCE_DIR "/docs/format.md", "r");
    assert_non_null(in);
    const size_t size = fread(text, 1, sizeof text - 1, in);
    assert_int_equal(fclose(in), 0);
    assert_true(size > 0 && size < sizeof text - 1);
    for (unsigned i = 0; i < N_RULES; i++)
        if (strstr(text, rules[i].reason) == NULL)
            fail_msg("docs/format.md does not have: %s", rules[i].reason);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_files_are_those_of_the_table),
        cmocka_unit_test(test_rules_sound_bases_load),
        cmocka_unit_test(test_rules_each_refused_with_its_reason),
        cmocka_unit_test(test_rules_second_reader_agrees),
        cmocka_unit_test(test_rules_reasons_are_in_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
