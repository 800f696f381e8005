/* test_window.c - sets that forget, beside lists of when each key came
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "base/base.h"
#include "filter/filter.h"
#include "tamis/window.h"

/* Keys 0 to KEYS - 1, and the tick in which each was inserted last. */
#define KEYS 4096u
#define NOT  UINT64_MAX
typedef struct history {
    uint64_t last[KEYS];
    uint64_t now;
    unsigned ticks;
} history;

static void history_init(history *h, unsigned ticks) {
    memset(h->last, 0xff, sizeof h->last);
    h->now = 0;
    h->ticks = ticks;
}

static bool is_live(const history *h, uint64_t key) {
    return h->last[key] != NOT && h->now - h->last[key] <= h->ticks;
}

/* A window whose fingerprints are long enough that different keys never meet. */
static tamis_filter *make_window(uint64_t n, unsigned ticks, uint64_t seed) {
    tamis_need need = test_need(TAMIS_KIND_WINDOW, n, 1e-12);
    tamis_filter *window;
    need.ticks = ticks;
    tamis_params params = test_planned(&need).params;
    assert_int_equal(params.kind, TAMIS_KIND_WINDOW);
    assert_int_equal(params.value[TAMIS_WINDOW_TICKS], ticks);
    params.seed = seed;
    assert_ok(tamis_filter_create(&params, NULL, &window));
    return window;
}

static tamis_window_state state_of(const tamis_filter *window) {
    tamis_window_state state;
    tamis_window_state_init(&state);
    assert_ok(tamis_window_info(window, &state));
    return state;
}

static void insert(tamis_filter *window, history *h, uint64_t key) {
    bool added;
    assert_ok(tamis_filter_insert_u64(window, key, &added));
    assert_true(added == !is_live(h, key));
    h->last[key] = h->now;
}

/* Every answer, and every number that the window tells of itself. */
static void assert_agrees(const tamis_filter *window, const history *h) {
    const tamis_window_state state = state_of(window);
    uint64_t ages[TAMIS_WINDOW_TICKS_MAX + 1] = {0}, live = 0;
    uint64_t keys[KEYS];
    bool present[KEYS];
    for (uint64_t key = 0; key < KEYS; key++) {
        keys[key] = key;
        if (is_live(h, key)) {
            live++;
            ages[h->now - h->last[key]]++;
        }
    }
    assert_true(tamis_filter_contains_many_u64(window, keys, KEYS, present) == live);
    for (uint64_t key = 0; key < KEYS; key++) {
        assert_true(present[key] == is_live(h, key));
        assert_true(tamis_filter_contains_u64(window, key) == is_live(h, key));
    }
    assert_true(state.now == h->now && state.live == live && state.ticks == h->ticks);
    assert_memory_equal(state.ages, ages, sizeof ages);
    assert_true(tamis_filter_count(window) >= live);
    if (state.left == 0)
        assert_true(tamis_filter_count(window) == live);
}

/* The bytes pass the loader's check, and the window made of them is the same. */
static tamis_filter *reload(tamis_filter *window) {
    size_t size;
    unsigned char *const bytes = test_encoded(window, &size);
    tamis_filter *again;
    const char *reason = NULL;
    assert_ok(tamis_filter_decode(bytes, size, NULL, &again, &reason));
    assert_same(window, again);
    free(bytes);
    tamis_filter_free(window);
    return again;
}

static void run_history(unsigned ticks, uint64_t keys_per_tick, unsigned rounds, uint64_t *random) {
    tamis_filter *window = make_window(keys_per_tick * (ticks + 1), ticks, test_random(random) | 1);
    history h;
    history_init(&h, ticks);
    for (unsigned round = 0; round < rounds; round++) {
        const uint64_t n = test_random_below(random, keys_per_tick + 1);
        for (uint64_t i = 0; i < n; i++)
            insert(window, &h, test_random_below(random, KEYS));
        if (test_random_below(random, 3) == 0) {
            uint64_t left, before = state_of(window).left;
            const uint64_t steps = test_random_below(random, 10);
            assert_ok(tamis_window_step(window, steps, &left));
            assert_true(left == (before > steps ? before - steps : 0));
        }
        if (round % 5 == 0)
            window = reload(window);
        assert_agrees(window, &h);
        assert_ok(tamis_window_tick(window));
        h.now++;
        assert_agrees(window, &h);
    }
    tamis_filter_free(window);
}

static void test_window_remembers_w_and_no_more(void **state) {
    (void)state;
    uint64_t random = test_seed();
    run_history(1, 300, 40, &random);
    run_history(2, 300, 40, &random);
    run_history(8, 200, 60, &random);
    run_history(14, 100, 80, &random);
    run_history(126, 10, 300, &random);
}

static void test_window_of_few_buckets_uses_its_stash(void **state) {
    (void)state;
    /* One bucket, nothing behind it, and a stash: what does not fit is forgotten from there too. */
    tamis_params params = test_bare_params(TAMIS_KIND_WINDOW, 40, 5);
    uint64_t *const v = params.value;
    v[TAMIS_STEADY_BUCKETS] = 1;
    v[TAMIS_STEADY_BUCKET_BITS] = 1024;
    v[TAMIS_STEADY_HOMES] = 40;
    v[TAMIS_STEADY_FINGERPRINT_BITS] = 40;
    v[TAMIS_WINDOW_TICKS] = 3;
    params.stash = 30;
    tamis_filter *window;
    assert_ok(tamis_filter_create(&params, NULL, &window));
    history h;
    history_init(&h, 3);
    uint64_t most = 0;
    for (unsigned round = 0; round < 30; round++) {
        for (uint64_t i = 0; i < 10; i++)
            insert(window, &h, (round * 7 + i) % 200);
        const tamis_info info = test_info(window);
        most = info.stash_used > most ? info.stash_used : most;
        window = reload(window);
        assert_agrees(window, &h);
        assert_ok(tamis_window_tick(window));
        h.now++;
    }
    assert_true(most > 5);
    /* Full: refused, and all as before; a tick makes room again. */
    uint64_t key = 1000;
    bool added = false;
    tamis_status status = TAMIS_OK;
    while (status == TAMIS_OK)
        status = tamis_filter_insert_u64(window, key++, &added);
    assert_status(status, TAMIS_E_FULL);
    size_t size;
    unsigned char *const bytes = test_encoded(window, &size);
    assert_status(tamis_filter_insert_u64(window, key - 1, &added), TAMIS_E_FULL);
    assert_encoded(window, bytes, size);
    free(bytes);
    for (unsigned i = 0; i < 4; i++)
        assert_ok(tamis_window_tick(window));
    assert_true(state_of(window).live == 0);
    assert_ok(tamis_filter_insert_u64(window, key, &added));
    assert_true(added);
    tamis_filter_free(window);
}

static void test_window_empties_itself(void **state) {
    (void)state;
    tamis_filter *const window = make_window(2000, 4, 7);
    bool added;
    for (uint64_t key = 0; key < 1000; key++)
        assert_ok(tamis_filter_insert_u64(window, key, &added));
    for (unsigned i = 0; i < 5; i++)
        assert_ok(tamis_window_tick(window));
    assert_int_equal(state_of(window).live, 0);
    assert_int_equal(tamis_filter_count(window), 1000); /* still to be cleared */
    uint64_t left;
    assert_ok(tamis_window_step(window, UINT64_MAX, &left));
    assert_int_equal(left, 0);
    assert_int_equal(tamis_filter_count(window), 0);
    /* A tick has nothing left to do. */
    assert_ok(tamis_window_tick(window));
    assert_int_equal(state_of(window).left, 0);
    tamis_filter_free(window);
}

/* The same where buckets are too full, and keys are in the back, in both of their places. */
static void test_window_empties_its_back(void **state) {
    (void)state;
    enum { MANY = 7500 };
    tamis_params params = test_bare_params(TAMIS_KIND_WINDOW, MANY, test_seed());
    params.value[TAMIS_STEADY_BUCKETS] = 100;
    params.value[TAMIS_STEADY_BUCKET_BITS] = 1024;
    params.value[TAMIS_STEADY_HOMES] = 170;
    params.value[TAMIS_STEADY_FINGERPRINT_BITS] = 9;
    params.value[TAMIS_STEADY_SPILL_BUCKETS] = 60;
    params.value[TAMIS_STEADY_SPILL_BITS] = 1024;
    params.value[TAMIS_STEADY_ORIGIN_BITS] = 4;
    params.value[TAMIS_WINDOW_TICKS] = 2;
    tamis_filter *window;
    assert_ok(tamis_filter_create(&params, NULL, &window));
    for (uint64_t key = 0; key < MANY; key++)
        assert_ok(tamis_filter_insert_u64(window, key, NULL));
    const uint64_t before = tamis_filter_count(window);
    assert_true(before > MANY * 19 / 20 && test_info(window).stash_used == 0);
    for (unsigned tick = 1; tick <= 3; tick++) {
        uint64_t left = 1;
        assert_int_equal(tamis_filter_count(window), before);
        assert_ok(tamis_window_tick(window));
        assert_ok(tamis_window_step(window, 1000, &left));
        assert_int_equal(left, 0);
    }
    assert_int_equal(tamis_filter_count(window), 0);
    for (uint64_t i = 0; i < window->n_table; i++)
        assert_true(window->table[i] == 0);
    tamis_filter_free(window);
}

static void test_window_merges_in_the_same_tick(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    tamis_filter *const a = make_window(4000, 6, 11), *const b = make_window(4000, 6, 11);
    history ha, hb;
    history_init(&ha, 6);
    history_init(&hb, 6);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 200; i++) {
            insert(a, &ha, test_random_below(&random, KEYS));
            insert(b, &hb, test_random_below(&random, KEYS));
        }
        assert_ok(tamis_window_tick(a));
        ha.now++;
        if (round == 10)
            assert_status(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND), TAMIS_E_MISMATCH);
        assert_ok(tamis_window_tick(b));
        hb.now++;
    }
    assert_ok(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND));
    for (unsigned key = 0; key < KEYS; key++)
        if (hb.last[key] != NOT && (ha.last[key] == NOT || hb.last[key] > ha.last[key]))
            ha.last[key] = hb.last[key];
    assert_agrees(a, &ha);
    assert_agrees(b, &hb);
    tamis_filter_free(a);
    tamis_filter_free(b);
}

static void test_window_merge_that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    tamis_params params = test_bare_params(TAMIS_KIND_WINDOW, 40, 5);
    params.value[TAMIS_STEADY_BUCKETS] = 1;
    params.value[TAMIS_STEADY_HOMES] = 40;
    params.value[TAMIS_STEADY_FINGERPRINT_BITS] = 40;
    params.stash = 1;
    tamis_filter *a, *b;
    test_allocator t;
    test_allocator_init(&t, 1);
    assert_ok(tamis_filter_create(&params, &t.allocator, &a));
    assert_ok(tamis_filter_create(&params, NULL, &b));
    bool added;
    for (uint64_t key = 0; key < 15; key++) {
        assert_ok(tamis_filter_insert_u64(a, key, &added));
        assert_ok(tamis_filter_insert_u64(b, 100 + key, &added));
    }
    size_t size;
    unsigned char *const bytes = test_encoded(a, &size);
    assert_status(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND), TAMIS_E_NOMEM);
    assert_encoded(a, bytes, size);
    assert_status(tamis_filter_merge(a, b, TAMIS_MERGE_BEYOND), TAMIS_E_FULL);
    assert_encoded(a, bytes, size);
    assert_int_equal(t.live, 1);
    free(bytes);
    tamis_filter_free(a);
    tamis_filter_free(b);
    assert_int_equal(t.live, 0);
}

/* A series: keys that come again are young again, in whichever link they are. */
static void test_window_grows(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    tamis_filter *window = make_window(500, 5, 13);
    tamis_growth growth;
    tamis_growth_init(&growth);
    growth.automatic = true;
    growth.fpr = 1e-11;
    assert_ok(tamis_filter_allow_growth(window, &growth));
    history h;
    history_init(&h, 5);
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i < 400; i++)
            insert(window, &h, test_random_below(&random, KEYS));
        assert_agrees(window, &h);
        assert_ok(tamis_window_tick(window));
        h.now++;
        assert_agrees(window, &h);
    }
    const unsigned links = test_info(window).n_links;
    printf("# %u links\n", links);
    assert_in_range(links, 2, 4);
    tamis_filter_free(window);
}

static void test_window_calls_refuse_other_sets(void **state) {
    (void)state;
    tamis_filter *const bloom = test_filter(TAMIS_KIND_BLOOM, 100, 0.01, 1);
    tamis_filter *const window = make_window(100, 3, 1);
    tamis_window_state told;
    uint64_t left;
    tamis_window_state_init(&told);
    assert_status(tamis_window_tick(NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_window_tick(bloom), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_window_step(bloom, 1, &left), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_window_info(bloom, &told), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_window_info(window, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_remove_u64(window, 1), TAMIS_E_UNSUPPORTED);
    assert_ok(tamis_window_step(window, 1, NULL));
    if (tamis_i_little_endian()) { /* others have no views */
        size_t size;
        unsigned char *const bytes = test_encoded(window, &size);
        void *const aligned = aligned_alloc(64, (size + 63) / 64 * 64);
        assert_non_null(aligned);
        memcpy(aligned, bytes, size);
        tamis_filter *view;
        const char *reason;
        assert_ok(tamis_filter_view(aligned, size, NULL, &view, &reason));
        assert_status(tamis_window_tick(view), TAMIS_E_READONLY);
        assert_ok(tamis_window_info(view, &told));
        tamis_filter_free(view);
        free(aligned);
        free(bytes);
    }
    tamis_filter_free(window);
    tamis_filter_free(bloom);
}

/* Stamps that no history leaves behind are refused by the check. */
static void test_window_with_impossible_ages_is_refused(void **state) {
    (void)state;
    tamis_filter *const window = make_window(1000, 4, 3); /* stamps modulo 8: ages 0 to 5 */
    const char *reason = NULL;
    bool added;
    for (uint64_t key = 0; key < 500; key++)
        assert_ok(tamis_filter_insert_u64(window, key, &added));
    assert_true(window->kind->check(window, &reason));
    uint64_t *const now = &window->state[TAMIS_I_STATE_OWN];
    for (uint64_t tick = 0; tick < 16; tick++) {
        *now = tick;
        assert_true(window->kind->check(window, &reason) == (tick % 8 <= 4));
    }
    *now = 5; /* forgotten: only where buckets are to be cleared */
    window->state[TAMIS_I_STATE_OWN + 1] = window->params.value[TAMIS_STEADY_BUCKETS] + 1;
    assert_true(window->kind->check(window, &reason));
    window->state[TAMIS_I_STATE_OWN + 1]++;
    assert_false(window->kind->check(window, &reason));
    window->state[TAMIS_I_STATE_OWN + 1] = 1;
    assert_false(window->kind->check(window, &reason));
    tamis_filter_free(window);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_remembers_w_and_no_more),
        cmocka_unit_test(test_window_of_few_buckets_uses_its_stash),
        cmocka_unit_test(test_window_empties_itself),
        cmocka_unit_test(test_window_empties_its_back),
        cmocka_unit_test(test_window_merges_in_the_same_tick),
        cmocka_unit_test(test_window_merge_that_does_not_fit_changes_nothing),
        cmocka_unit_test(test_window_grows),
        cmocka_unit_test(test_window_calls_refuse_other_sets),
        cmocka_unit_test(test_window_with_impossible_ages_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
