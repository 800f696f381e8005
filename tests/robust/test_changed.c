/* test_changed.c - views whose bytes change after they were verified
 *
 * A set that is mapped, or viewed in memory of the caller, is verified once.  Somebody may write to the file
 * after that, which the header forbids; then answers may be wrong, but no call may read outside of the set,
 * write anything that is not its own, or never end.  So a set of each kind is verified, its body is filled
 * with garbage, and everything is called that a view permits, and what makes a set of it.  A guard page
 * follows the set; what the stack suffers is seen with sanitizers.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include "parts.h"

#include "filter/series.h"
#include "filter/shards.h"
#include "tamis/shared.h"
#include "tamis/window.h"

enum { SMALL = 3000, LARGE = 60000, ASK = 400 };

typedef enum garbage { ONES, ZEROS, NOISE, NOISE_IN_TABLE, SPRINKLED, MASKED, N_GARBAGE } garbage;

static uint64_t garbage_word(garbage g, uint64_t *random, uint64_t old) {
    switch (g) {
    case ONES:
        return UINT64_MAX;
    case ZEROS:
        return 0;
    case SPRINKLED:
        return test_random_below(random, 40) != 0 ? old
               : test_random_below(random, 2)     ? test_some_word(random)
                                              : old ^ UINT64_C(1) << test_random_below(random, 64);
    case MASKED: /* many ones, so that many things are full */
        return test_random(random) | test_random(random) | test_random(random);
    default:
        return test_random(random);
    }
}

/* What somebody else writes to the memory under a view. */
static void change_body(const tamis_filter *filter, garbage g, uint64_t *random) {
    uint64_t *const words = (uint64_t *)(uintptr_t)filter->state;
    const uint64_t from =
        g == NOISE_IN_TABLE || g == MASKED ? (uint64_t)(filter->table - filter->state) : 0;
    for (uint64_t i = from; i < filter->n_body; i++)
        words[i] = garbage_word(g, random, words[i]);
}

static void ask_all(const tamis_filter *f, uint64_t *random) {
    tamis_digest digests[ASK];
    uint64_t keys[ASK];
    bool present[ASK];
    unsigned value;
    for (size_t i = 0; i < ASK; i++) {
        keys[i] = i % 2 ? i : test_random(random);
        digests[i] = tamis_hash_u64(tamis_filter_hasher(f), keys[i]);
        if (i % 16 == 0)
            digests[i] = (tamis_digest){i % 32 ? UINT64_MAX : 0, test_some_word(random)};
    }
    (void)tamis_filter_contains_many_u64(f, keys, ASK, present);
    (void)tamis_filter_contains_many_digest(f, digests, ASK, present);
    for (size_t i = 0; i < ASK; i++) {
        tamis_filter_prefetch_digest(f, digests[i]);
        (void)tamis_filter_contains_u64(f, keys[i]);
        (void)tamis_filter_contains_digest(f, digests[i]);
        (void)tamis_filter_copies_digest(f, digests[i]);
        (void)!tamis_filter_lookup_value_digest(f, digests[i], &value);
    }
}

static void tell_all(const tamis_filter *f) {
    tamis_info info;
    tamis_window_state state;
    tamis_info_init(&info);
    tamis_window_state_init(&state);
    (void)!tamis_filter_info(f, &info);
    (void)!tamis_filter_glance(f, &info);
    (void)!tamis_filter_link_info(f, 0, &info);
    (void)!tamis_filter_keeps(f, 0.01);
    (void)!tamis_window_info(f, &state);
    (void)tamis_filter_count(f);
    (void)tamis_filter_promise(f);
    (void)!tamis_filter_verify(f, NULL);
    (void)tamis_filter_damage(f);
}

static void write_out(const tamis_filter *f) {
    const size_t size = (size_t)tamis_filter_encoded_size(f), part = size / 3;
    unsigned char *const bytes = malloc(size);
    assert_non_null(bytes);
    (void)!tamis_filter_encode(f, bytes, size);
    (void)!tamis_filter_encode_part(f, part, bytes, part);
    free(bytes);
    /* Of garbage any number; the form itself is refused then, whatever its size would be. */
    const uint64_t told = tamis_filter_compact_size(f);
    const size_t compact = told < 2 * size ? (size_t)told : size;
    unsigned char *const own = malloc(compact + 1);
    assert_non_null(own);
    (void)!tamis_filter_compact_encode(f, own, compact);
    free(own);
}

/* What was made of garbage is a set like any other. */
static void change_set(tamis_filter *f, uint64_t *random) {
    bool added;
    for (uint64_t i = 0; i < ASK; i++) {
        (void)!tamis_filter_insert_u64(f, test_random(random), &added);
        (void)!tamis_filter_insert_u64(f, i, &added);
        (void)!tamis_filter_remove_u64(f, i + ASK / 2);
        (void)!tamis_filter_insert_value_digest(f, tamis_hash_u64(tamis_filter_hasher(f), i), 1,
                                                &added);
        (void)!tamis_filter_update_value_digest(f, tamis_hash_u64(tamis_filter_hasher(f), i), 2);
    }
    (void)!tamis_window_tick(f);
    (void)!tamis_window_step(f, 1000, NULL);
}

static void make_sets(const tamis_filter *view, const tamis_filter *sound, uint64_t *random) {
    tamis_filter *copy = NULL, *twin = NULL;
    if (tamis_filter_clone(view, NULL, &copy) == TAMIS_OK) {
        ask_all(copy, random);
        tell_all(copy);
        write_out(copy);
        change_set(copy, random);
        tell_all(copy);
        tamis_filter_free(copy);
    }
    for (unsigned empty = 0; empty < 2; empty++) {
        assert_ok(tamis_filter_clone(sound, NULL, &twin));
        if (empty)
            assert_ok(tamis_filter_clear(twin));
        (void)!tamis_filter_merge(twin, view, TAMIS_MERGE_BEYOND);
        ask_all(twin, random);
        tell_all(twin);
        change_set(twin, random);
        tell_all(twin);
        tamis_filter_free(twin);
    }
}

static void check_changes(tamis_filter *set, tamis_i_opening opening, const char *what) {
    uint64_t random = test_seed();
    parts_sample s;
    sample_of(&s, set);
    for (garbage g = ONES; g < N_GARBAGE; g++) {
        print_message("%s, garbage %d\n", what, (int)g);
        for (unsigned verified = 0; verified < 2; verified++) {
            tamis_filter *const view = view_of(&s, opening);
            if (verified)
                assert_ok(tamis_filter_verify(view, NULL));
            for (unsigned i = 0; i < tamis_i_n_parts(view); i++)
                for (unsigned j = 0; j < tamis_i_n_links(tamis_i_part(view, i)); j++)
                    change_body(tamis_i_link(tamis_i_part(view, i), j), g, &random);
            ask_all(view, &random);
            tell_all(view);
            write_out(view);
            make_sets(view, s.set, &random);
            tamis_filter_free(view);
        }
    }
    sample_close(&s);
}

/* Before the bytes change, a view gives what the set gives. */
static void check_sound(tamis_filter *set, tamis_i_opening opening) {
    parts_sample s;
    sample_of(&s, set);
    tamis_filter *const view = view_of(&s, opening), *copy;
    const size_t size = (size_t)tamis_filter_compact_size(set);
    assert_int_equal(tamis_filter_compact_size(view), size);
    unsigned char *const a = malloc(size + 1), *const b = malloc(size + 1);
    assert_true(a != NULL && b != NULL);
    assert_status(tamis_filter_compact_encode(view, b, size),
                  tamis_filter_compact_encode(set, a, size));
    if (size > 0)
        assert_memory_equal(a, b, size);
    assert_ok(tamis_filter_clone(view, NULL, &copy));
    assert_same(copy, set);
    tamis_filter_free(copy);
    tamis_filter_free(view);
    free(a);
    free(b);
    s.set = NULL; /* the caller's */
    sample_close(&s);
}

static void check_kind(tamis_filter *set, tamis_i_opening opening, const char *what) {
    check_sound(set, opening);
    check_changes(set, opening, what);
}

/* Verified when the view is made. */
static void test_changed_small_views(void **state) {
    SKIP_WITHOUT_VIEWS();
    FOR_EACH_KIND(kind)
    check_kind(make_sample(kind, SMALL), TAMIS_I_OPEN_VIEW, tamis_kind_name(kind));
}

/* Verified in parts, or not at all. */
static void test_changed_large_views(void **state) {
    SKIP_WITHOUT_VIEWS();
    FOR_EACH_KIND(kind) {
        check_kind(make_sample(kind, LARGE), TAMIS_I_OPEN_PARTS, tamis_kind_name(kind));
        check_kind(make_sample(kind, LARGE), TAMIS_I_OPEN_TRUSTED, tamis_kind_name(kind));
    }
}

static tamis_filter *filled(const tamis_params *params, uint64_t n) {
    tamis_filter *set;
    assert_ok(tamis_filter_create(params, NULL, &set));
    for (uint64_t key = 0; key < n; key++) /* every third one twice */
        for (uint64_t i = 0; i <= (key % 3 == 0); i++)
            (void)!tamis_filter_insert_u64(set, key, NULL);
    return set;
}

/* Layouts that the planner does not choose: other code reads them. */
static void test_changed_layouts(void **state) {
    SKIP_WITHOUT_VIEWS();
    static const struct {
        uint64_t bits, remainder, counter, sizes;
    } forms[] = {{64, 9, 2, 1},
                 {128, 12, 1, 1},
                 {512, 32, 8, 2},
                 {200, 2, TAMIS_NONE, 2},
                 {512, 16, TAMIS_NONE, 1}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        tamis_params params = test_bare_params(TAMIS_KIND_DLEFT_DYNAMIC, SMALL, SEED);
        params.value[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS] = forms[i].bits;
        params.value[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS] = forms[i].remainder;
        params.value[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] = forms[i].counter;
        params.value[TAMIS_DLEFT_DYNAMIC_SIZES] = forms[i].sizes;
        check_kind(filled(&params, SMALL / 2), TAMIS_I_OPEN_VIEW, "dleft-dynamic");
    }
    /* Lines: two places, one, and none; multisets and sets; too full, so that back and stash are in use. */
    static const uint64_t lines[][8] = {
        {30, 90, 6, 3, 22, 0, 0, 40}, {30, 90, 6, 3, 22, 0, 1, 40}, {8, 126, 4, 1, 9, 0, 0, 16},
        {7, 60, 12, 0, 0, 0, 1, 200}, {40, 7, 20, 30, 4, 0, 0, 64}, {1, 1, 39, 1, 1, 0, 0, 8},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        tamis_params params = test_bare_params(TAMIS_KIND_LINE, SMALL, SEED);
        memcpy(params.value, lines[i], 7 * sizeof lines[i][0]);
        params.stash = lines[i][7];
        check_kind(filled(&params, SMALL), TAMIS_I_OPEN_VIEW, "line");
    }
}

/* Values and ages beside the fingerprints. */
static void test_changed_values_and_windows(void **state) {
    SKIP_WITHOUT_VIEWS();
    static const tamis_kind kinds[] = {TAMIS_KIND_RANK, TAMIS_KIND_STEADY, TAMIS_KIND_LINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tamis_need need = test_need(kinds[i], SMALL, 0.01);
        need.value_bits = 3;
        tamis_plan plan = test_planned(&need);
        plan.params.seed = SEED;
        tamis_filter *set;
        assert_ok(tamis_filter_create(&plan.params, NULL, &set));
        for (uint64_t key = 0; key < SMALL / 2; key++)
            assert_ok(tamis_filter_insert_value_digest(
                set, tamis_hash_u64(tamis_filter_hasher(set), key), key % 8, NULL));
        check_kind(set, TAMIS_I_OPEN_VIEW, "values");
    }
    tamis_need need = test_need(TAMIS_KIND_ANY, SMALL, 0.01);
    need.ticks = 5;
    tamis_plan plan = test_planned(&need);
    plan.params.seed = SEED;
    tamis_filter *const window = filled(&plan.params, SMALL / 2);
    assert_ok(tamis_window_tick(window));
    check_kind(window, TAMIS_I_OPEN_VIEW, "window");
}

static void test_changed_series(void **state) {
    SKIP_WITHOUT_VIEWS();
    static const tamis_kind kinds[] = {TAMIS_KIND_BLOOM, TAMIS_KIND_DLEFT_DYNAMIC,
                                       TAMIS_KIND_STEADY, TAMIS_KIND_LINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.fpr = 0.05;
        growth.automatic = true;
        const tamis_params params = test_bare_params(kinds[i], 500, SEED);
        tamis_filter *set;
        assert_ok(tamis_filter_create(&params, NULL, &set));
        assert_ok(tamis_filter_allow_growth(set, &growth));
        for (uint64_t key = 0; key < SMALL; key++)
            assert_ok(tamis_filter_insert_u64(set, key, NULL));
        assert_true(test_info(set).n_links > 1);
        check_kind(set, TAMIS_I_OPEN_VIEW, "a series");
    }
}

static void test_changed_shards(void **state) {
    SKIP_WITHOUT_VIEWS();
    static const tamis_kind kinds[] = {TAMIS_KIND_RANK, TAMIS_KIND_DLEFT_DYNAMIC, TAMIS_KIND_LINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_params params = test_bare_params(kinds[i], 1000, SEED);
        tamis_shared *shared;
        tamis_filter *set;
        assert_ok(tamis_shared_create(&params, 4, NULL, &shared));
        for (uint64_t key = 0; key < SMALL; key++)
            assert_ok(tamis_shared_insert_u64(shared, key, NULL));
        assert_ok(tamis_shared_snapshot(shared, NULL, &set));
        tamis_shared_free(shared);
        check_kind(set, TAMIS_I_OPEN_VIEW, "shards");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_small_views),
        cmocka_unit_test(test_changed_large_views),
        cmocka_unit_test(test_changed_layouts),
        cmocka_unit_test(test_changed_values_and_windows),
        cmocka_unit_test(test_changed_series),
        cmocka_unit_test(test_changed_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
