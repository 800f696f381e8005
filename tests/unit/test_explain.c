/* test_explain.c - the sentences that say why a need or parameters are refused
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "filter/filter.h"
#include "tamis/window.h"

#include <errno.h>
#include <math.h>

#define SIZE 400

/* The sentence, which has the status of the planner and is there only if that refuses. */
static const char *sentence_of(const tamis_need *need) {
    static char text[SIZE];
    tamis_plan plan;
    tamis_plan_init(&plan);
    memset(text, 'x', sizeof text);
    errno = 77;
    const tamis_status status = tamis_plan_explain(need, text, sizeof text);
    assert_int_equal(errno, 77);
    assert_status(tamis_plan_make(need, &plan), status);
    assert_non_null(memchr(text, '\0', sizeof text));
    assert_true((text[0] == '\0') == (status == TAMIS_OK));
    assert_true(text[0] == '\0' || text[strlen(text) - 1] != '.');
    return text;
}

#define assert_says(need, text) assert_string_equal(sentence_of(&(need)), text)

static const char *sentence_of_params(const tamis_params *params) {
    static char text[SIZE];
    tamis_filter *filter = NULL;
    memset(text, 'x', sizeof text);
    const tamis_status status = tamis_params_explain(params, text, sizeof text);
    assert_non_null(memchr(text, '\0', sizeof text));
    assert_true((text[0] == '\0') == (status == TAMIS_OK));
    assert_status(tamis_filter_create(params, NULL, &filter), status);
    tamis_filter_free(filter);
    return text;
}

#define assert_params_say(params, text) assert_string_equal(sentence_of_params(&(params)), text)

static void test_explain_member_out_of_range_is_named(void **state) {
    (void)state;
#define ROW(member, number, says)                                                                  \
    do {                                                                                           \
        tamis_need need = test_need(TAMIS_KIND_ANY, 1000, 0.01);                                   \
        need.member = (number);                                                                    \
        assert_says(need, says);                                                                   \
    } while (0)
    ROW(fpr, 1.5, "fpr is 1.5, but must be above 0 and below 1");
    ROW(fpr, 1, "fpr is 1, but must be above 0 and below 1");
    ROW(fpr, -1e-7, "fpr is -1e-7, but must be above 0 and below 1");
    ROW(fpr, (double)NAN, "fpr is not a number, but must be above 0 and below 1");
    ROW(fpr, -INFINITY, "fpr is -infinite, but must be above 0 and below 1");
    ROW(n, 2000000000000, "n is 2000000000000, but sets have at most 2^40 keys");
    ROW(n, UINT64_MAX, "n is 18446744073709551615, but sets have at most 2^40 keys");
    ROW(copies, 256, "copies is 256, but must be 1 to 255");
    ROW(value_bits, 9, "value_bits is 9, but must be 1 to 8");
    ROW(order, (tamis_order)5, "order is 5, but there is no such order");
    ROW(hash, (tamis_hash_id)7, "hash is 7, but there is no such hash");
    ROW(kind, (tamis_kind)99, "kind is 99, but there is no such kind");
    ROW(overshoot, 1000.5, "overshoot is 1000.5, but must be 0 to 1000");
    ROW(overshoot, -0.0625, "overshoot is -0.0625, but must be 0 to 1000");
    ROW(lines_max, 0.99, "lines_max is 0.99, but must be at least 1");
    ROW(failure_max, 1.25e-31, "failure_max is 1.25e-31, but must be 1e-30 to 1");
    ROW(failure_max, 123456.75, "failure_max is 123456.75, but must be 1e-30 to 1");
    ROW(failure_max, 1e300, "failure_max is 1e300, but must be 1e-30 to 1");
    ROW(line_bits, INFINITY, "line_bits is infinite, but must be above 0 and finite");
    ROW(replacements, 10001, "replacements is 10001, but must be 1 to 10000");
    ROW(ticks, TAMIS_WINDOW_TICKS_MAX + 1, "ticks is 127, but must be 1 to 126");
#undef ROW
    tamis_need need = test_need(TAMIS_KIND_ANY, 0, 0.01);
    assert_says(need, "n and bytes are both 0, but one of them must be given");
    need.n = TAMIS_CAPACITY_MAX;
    need.overshoot = 0.5;
    assert_says(need, "n is 1099511627776, which with overshoot of 0.5 is more than 2^40 keys");
    need = test_need(TAMIS_KIND_ANY, 1000, 0.01);
    need.struct_size = 3;
    assert_says(need, "struct_size is not that of a need");
    assert_string_equal(sentence_of(NULL), "need is NULL");
}

/* 'text' and the names of all kinds that can, in the order of the list of kinds. */
static const char *with_kinds(const char *text, bool (*can)(tamis_kind kind)) {
    static char all[512];
    size_t at = (size_t)snprintf(all, sizeof all, "%s", text);
    const char *between = "";
    for (size_t i = 0; i < tamis_i_n_kinds; i++) {
        const tamis_kind kind = tamis_i_kinds[i]->id;
        if (can(kind)) {
            at +=
                (size_t)snprintf(all + at, sizeof all - at, "%s%s", between, tamis_kind_name(kind));
            between = ", ";
        }
    }
    return all;
}

static bool has_values(tamis_kind kind) {
    return tamis_i_kind_of(kind)->value_bits != NULL;
}

static bool can_remove(tamis_kind kind) {
    return (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
}

static void test_explain_kind_that_cannot_is_told_which_can(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_COUNTING_BLOOM, 1000, 0.01);
    need.value_bits = 4;
    assert_says(need, with_kinds("counting-bloom has no values (value_bits is 4); these have: ",
                                 has_values));
    need = test_need(TAMIS_KIND_BLOOM, 1000, 0.01);
    need.replacements = 20;
    assert_says(
        need, with_kinds("bloom cannot remove keys (replacements is 20); these can: ", can_remove));
    need.copies = 3;
    assert_says(need,
                "bloom cannot remove keys (replacements is 20) and has no counters (copies is 3)");
    need = test_need(TAMIS_KIND_STEADY, 1000, 0.01);
    need.merges = true;
    assert_non_null(
        strstr(sentence_of(&need), "steady cannot be merged (merges); these can: bloom,"));
    need = test_need(TAMIS_KIND_STEADY, 1000, 0.01);
    need.ticks = 5;
    assert_says(need, "steady cannot forget keys (ticks is 5); these can: window");
}

static void test_explain_window_with_deletes_forgets_by_itself(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_ANY, 1000, 0.01);
    need.ticks = 5;
    need.deletes = true;
    assert_says(need, "a window (ticks is 5) forgets keys by itself and cannot also remove them "
                      "(deletes); possible without deletes or ticks");
    need.kind = TAMIS_KIND_WINDOW;
    assert_says(need, "window forgets keys by itself and cannot also remove them (deletes)");
}

static void test_explain_names_the_wish_to_drop(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_ANY, 1000, 0.01);
    need.value_bits = 4;
    need.merges = true;
    assert_says(need, ""); /* line */
    need.copies = 3;
    assert_says(need, "no kind can do merges, copies of 3 and value_bits of 4 together; "
                      "possible without merges, copies or value_bits");
    need.deletes = true;
    assert_says(need, "no kind can do deletes, merges, copies of 3 and value_bits of 4 together; "
                      "possible without merges or copies"); /* rank-counting would age */
    need = test_need(TAMIS_KIND_ANY, 90000, 1.25e-15);
    need.merges = true;
    need.copies = 228;
    assert_says(need,
                "no kind can do n of 90000, fpr of 1.25e-15, merges and copies of 228 together; "
                "possible without merges or copies");
    need = test_need(TAMIS_KIND_DLEFT_COUNTING, 1000, 1e-15);
    assert_says(need, "dleft-counting cannot do n of 1000 and fpr of 1e-15 together; "
                      "possible with fpr of 0.01 or with another kind");
}

static void test_explain_size_that_does_not_do(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_ANY, 1000, 0.01);
    need.bytes = 100;
    const char *const says = sentence_of(&need);
    assert_non_null(strstr(says, "bytes is 100, but n of 1000 with fpr of 0.01 takes 1"));
    need.n = 0;
    need.bytes = 1;
    assert_non_null(
        strstr(sentence_of(&need), "bytes is 1, but a single key with fpr of 0.01 takes"));
}

/* Random needs, many of them refused: each sentence names a member that was given, and what it says is
 * possible is. */
static void test_explain_random_needs_are_refused_with_a_member(void **state) {
    (void)state;
    uint64_t random = test_seed();
    static const char *const members[] = {"n ",          "n of",   "fpr",        "kind",
                                          "deletes",     "copies", "value_bits", "replacements",
                                          "merges",      "ticks",  "overshoot",  "lines_max",
                                          "failure_max", "grows",  "bytes",      "offline"};
    unsigned refused = 0;
    for (unsigned i = 0; i < 150; i++) {
        tamis_need need = test_need(TAMIS_KIND_ANY, 1 + test_random_below(&random, 100000), 0);
        need.fpr = pow(10, -(double)test_random_below(&random, 16) - 0.5);
        need.kind =
            (tamis_kind)(test_random_below(&random, 3) == 0 ? test_random_below(&random, 15) : 0);
        need.deletes = test_random_below(&random, 3) == 0;
        need.merges = test_random_below(&random, 3) == 0;
        need.grows = test_random_below(&random, 4) == 0;
        need.copies =
            (unsigned)(test_random_below(&random, 4) == 0 ? test_random_below(&random, 300) : 0);
        need.value_bits =
            (unsigned)(test_random_below(&random, 4) == 0 ? test_random_below(&random, 10) : 0);
        need.ticks =
            (unsigned)(test_random_below(&random, 6) == 0 ? test_random_below(&random, 140) : 0);
        need.lines_max = test_random_below(&random, 6) == 0 ? 1 : 0;
        need.bytes = test_random_below(&random, 8) == 0 ? 1 + test_random_below(&random, 2000) : 0;
        const char *const says = sentence_of(&need);
        bool named = false;
        for (size_t k = 0; k < sizeof members / sizeof *members; k++)
            named = named || strstr(says, members[k]) != NULL;
        if (says[0] == '\0')
            continue;
        refused++;
        if (!named)
            print_message("%s\n", says);
        assert_true(named);
        const char *const without = strstr(says, "; possible without ");
        if (without == NULL)
            continue;
        const char *const first = without + strlen("; possible without ");
        tamis_plan plan;
        tamis_plan_init(&plan);
        need.bytes = 0;
        if (strncmp(first, "deletes", 7) == 0)
            need.deletes = false, need.replacements = 0;
        else if (strncmp(first, "merges", 6) == 0)
            need.merges = false;
        else if (strncmp(first, "ticks", 5) == 0)
            need.ticks = 0;
        else if (strncmp(first, "copies", 6) == 0)
            need.copies = 0;
        else if (strncmp(first, "value_bits", 10) == 0)
            need.value_bits = 0;
        else
            continue;
        assert_ok(tamis_plan_make(&need, &plan));
    }
    print_message("%u of 150 needs were refused\n", refused);
    assert_true(refused > 30 && refused < 140);
}

static void test_explain_param_out_of_range_is_named(void **state) {
    (void)state;
    tamis_params params = test_bare_params(TAMIS_KIND_BLOOM, 1000, 1);
    assert_params_say(params, "");
    params.value[TAMIS_BLOOM_HASHES] = 99;
    assert_params_say(params, "hashes is 99, which is out of its range");
    params.value[TAMIS_BLOOM_HASHES] = 9;
    params.value[TAMIS_BLOOM_BITS] = 5;
    assert_params_say(params, "bits is 5 and hashes is 9, which do not go together");
    params.value[TAMIS_BLOOM_HASHES] = 99;
    params.value[TAMIS_BLOOM_PARTITIONED] = 2;
    assert_params_say(params, "these parameters do not go together: bits is 5, hashes is 99 and "
                              "partitioned is 2");
    params = test_bare_params(TAMIS_KIND_BLOOM, 1000, 1);
    params.stash = 7;
    assert_params_say(params, "stash is 7, which is out of its range");
    params.stash = 0;
    params.value[9] = 1;
    assert_params_say(params, "value[9] is 1, but this kind has no such parameter");
    params.value[9] = 0;
    params.capacity = 0;
    assert_params_say(params, "capacity is 0, but sets have 1 to 2^40 keys");
    params.capacity = 1000;
    params.kind = (tamis_kind)77;
    assert_params_say(params, "kind is 77, but there is no such kind");
    params.kind = TAMIS_KIND_BLOOM;
    params.hash = (tamis_hash_id)5;
    assert_params_say(params, "hash is 5, but there is no such hash");
    params.hash = TAMIS_HASH_XXH3;
    params.seed_high = 5;
    assert_params_say(params, "seed_high is not 0, but xxh3 has seeds of 64 bits");
    params.seed_high = 0;
    params.fpr = -0.25;
    assert_params_say(params, "fpr is -0.25, but must be at least 0 and below 1");
    params.fpr = (double)NAN;
    assert_params_say(params, "fpr is not a number, but must be at least 0 and below 1");
    params.struct_size = 1;
    assert_params_say(params, "struct_size is not that of params");
    assert_string_equal(sentence_of_params(NULL), "params is NULL");
}

/* Every number of every kind, far out of its range. */
static void test_explain_every_param_of_every_kind(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++) {
            tamis_params params = test_bare_params(kind, 1000, 1);
            params.value[i] = UINT64_MAX;
            const char *const name = tamis_param_name(kind, i);
            const char *const says = sentence_of_params(&params);
            if (name == NULL)
                assert_non_null(strstr(says, "but this kind has no such parameter"));
            else {
                assert_memory_equal(says, name, strlen(name));
                assert_non_null(strstr(says, " is 18446744073709551615, which "));
            }
        }
    }
}

static void test_explain_cuts_at_the_size(void **state) {
    (void)state;
    const tamis_need need = test_need(TAMIS_KIND_ANY, 1000, 1.5);
    char whole[SIZE], text[SIZE];
    assert_status(tamis_plan_explain(&need, whole, sizeof whole), TAMIS_E_ARGUMENT);
    for (size_t size = 0; size <= strlen(whole) + 2; size++) {
        memset(text, '!', sizeof text);
        assert_status(tamis_plan_explain(&need, text, size), TAMIS_E_ARGUMENT);
        const size_t n = size == 0 ? 0 : size - 1 < strlen(whole) ? size - 1 : strlen(whole);
        if (size > 0)
            assert_int_equal(strlen(text), n);
        assert_memory_equal(text, whole, n);
        for (size_t k = size == 0 ? 0 : n + 1; k < sizeof text; k++)
            assert_int_equal(text[k], '!');
    }
    assert_status(tamis_plan_explain(&need, NULL, 0), TAMIS_E_ARGUMENT);
    assert_status(tamis_params_explain(NULL, NULL, 0), TAMIS_E_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explain_member_out_of_range_is_named),
        cmocka_unit_test(test_explain_kind_that_cannot_is_told_which_can),
        cmocka_unit_test(test_explain_window_with_deletes_forgets_by_itself),
        cmocka_unit_test(test_explain_names_the_wish_to_drop),
        cmocka_unit_test(test_explain_size_that_does_not_do),
        cmocka_unit_test(test_explain_random_needs_are_refused_with_a_member),
        cmocka_unit_test(test_explain_param_out_of_range_is_named),
        cmocka_unit_test(test_explain_every_param_of_every_kind),
        cmocka_unit_test(test_explain_cuts_at_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
