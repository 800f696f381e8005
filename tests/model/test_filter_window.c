/* test_filter_window.c - a window beside the exact times of all keys, over a skewed stream
 *
 * Keys are drawn so that few of them come often and most of them rarely.  Before each one is inserted, the
 * window is asked for it: inside of T ticks it must be there, and later than T + 1 it must not, but for
 * the error rate.  Keys that never come are asked for too.
 *
 * The work of one step that clears is counted in lines, and timed.
 *
 * Half a million events by default; TAMIS_WINDOW_EVENTS=100000000 for the long run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "bits/spill.h"
#include "filter/filter.h"
#include "filter/window.h"
#include "tamis/window.h"

#include <math.h>
#include <time.h>

#define ABSENT ((uint64_t)1 << 40)
#define NEVER  UINT32_MAX

typedef struct stream {
    tamis_filter *window;
    uint32_t *last; /* the tick in which each key came last */
    uint64_t keys, events_per_tick;
    uint32_t ticks, now;
    uint64_t random, absent;
    uint64_t old, wrong_old;     /* asked for a key that is forgotten, and answered "present" */
    uint64_t asked, wrong_asked; /* the same for keys that never came */
    uint64_t most_live;
} stream;

/* Cubes of uniform numbers: a tenth of the keys makes up nearly half of the events. */
static uint64_t draw_key(stream *s) {
    const double u = (double)(test_random(&s->random) >> 11) * 0x1p-53;
    return (uint64_t)(u * u * u * (double)s->keys);
}

static void one_event(stream *s) {
    const uint64_t key = draw_key(s);
    const bool live = s->last[key] != NEVER && s->now - s->last[key] <= s->ticks;
    bool added;
    const bool present = tamis_filter_contains_u64(s->window, key);
    if (live) {
        assert_true(present); /* nothing inside of W is forgotten */
    } else {
        s->old++;
        s->wrong_old += present;
    }
    assert_ok(tamis_filter_insert_u64(s->window, key, &added));
    assert_true(added == !present);
    s->last[key] = s->now;
    s->asked++;
    s->wrong_asked += tamis_filter_contains_u64(s->window, ABSENT + s->absent++);
}

static void end_tick(stream *s) {
    tamis_window_state state;
    tamis_window_state_init(&state);
    if (s->now % 64 == 0) { /* reads the whole set */
        assert_ok(tamis_window_info(s->window, &state));
        assert_int_equal(state.now, s->now);
        s->most_live = state.live > s->most_live ? state.live : s->most_live;
    }
    assert_ok(tamis_window_tick(s->window));
    s->now++;
}

static void run(uint64_t events, uint64_t keys, uint32_t ticks, double fpr) {
    stream s = {.keys = keys, .ticks = ticks, .random = test_seed() + ticks};
    /* As many events as keys are wanted at one time: fewer keys, since some come again. */
    s.events_per_tick = keys / 8 / (ticks + 1);
    tamis_need need = test_need(TAMIS_KIND_WINDOW, s.events_per_tick * (ticks + 1), fpr);
    need.ticks = ticks;
    tamis_params params = test_planned(&need).params;
    params.seed = 17;
    s.last = malloc((size_t)keys * sizeof *s.last);
    assert_non_null(s.last);
    memset(s.last, 0xff, (size_t)keys * sizeof *s.last);
    assert_ok(tamis_filter_create(&params, NULL, &s.window));
    for (uint64_t i = 0; i < events; i++) {
        one_event(&s);
        if ((i + 1) % s.events_per_tick == 0)
            end_tick(&s);
    }
    const double bits = 8 * (double)test_info(s.window).bytes / (double)need.n;
    printf("# %u ticks, %llu events in %u ticks, at most %llu keys of %llu, %.2f bits per key\n",
           ticks, (unsigned long long)events, s.now, (unsigned long long)s.most_live,
           (unsigned long long)need.n, bits);
    printf("#   keys that are too old: %llu of %llu present; keys that never came: %llu of %llu\n",
           (unsigned long long)s.wrong_old, (unsigned long long)s.old,
           (unsigned long long)s.wrong_asked, (unsigned long long)s.asked);
    /* Below the promise by 4.5 standard errors. */
    assert_true((double)s.wrong_old <= (double)s.old * fpr + 4.5 * sqrt((double)s.old * fpr) + 1);
    assert_true((double)s.wrong_asked <=
                (double)s.asked * fpr + 4.5 * sqrt((double)s.asked * fpr) + 1);
    assert_true(s.wrong_asked > 0); /* the test can see errors */
    free(s.last);
    tamis_filter_free(s.window);
}

static void test_window_over_a_stream(void **state) {
    (void)state;
    const char *const text = getenv("TAMIS_WINDOW_EVENTS");
    const uint64_t events = text != NULL ? strtoull(text, NULL, 10) : 500000;
    const uint64_t keys = text != NULL ? 1 << 23 : 1 << 16;
    run(events, keys, 8, 0.001);
    run(events / 4, keys, 1, 0.01);
    run(events / 4, keys, 60, 0.01);
}

/* Full all the time with new keys only, many times over: nothing is refused, and the rate is what info
 * tells. */
static void test_window_full_of_new_keys_keeps_its_rate(void **state) {
    (void)state;
    enum { N = 45000, TICKS = 8, ROUNDS = 120, ASKED = 400000 };
    tamis_need need = test_need(TAMIS_KIND_WINDOW, N, 0.01);
    need.ticks = TICKS;
    const tamis_plan plan = test_planned(&need);
    tamis_params params = plan.params;
    params.seed = 23;
    tamis_filter *window;
    assert_ok(tamis_filter_create(&params, NULL, &window));
    uint64_t key = 0, hits = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round > 0)
            assert_ok(tamis_window_tick(window));
        for (uint64_t i = 0; i < N / (TICKS + 1); i++)
            assert_ok(tamis_filter_insert_u64(window, key++, NULL));
    }
    for (uint64_t i = 0; i < N; i++)
        assert_true(tamis_filter_contains_u64(window, key - 1 - i));
    for (uint64_t i = 0; i < ASKED; i++)
        hits += tamis_filter_contains_u64(window, ABSENT + i);
    const tamis_info info = test_info(window);
    /* The plan tells the mean; fingerprints that keys share vary by 0.03 %. */
    assert_true(fabs(info.fpr / plan.fpr - 1) < 0.002);
    assert_rate("a full window", hits, ASKED, info.fpr, 0);
    tamis_filter_free(window);
}

/* What one step does: lines that it changed, lines that it may have read, homes that were away,
 * microseconds. */
typedef struct effort {
    uint64_t changed, read, away;
    double us;
} effort;

/* A step clears one bucket.  It reads and writes that bucket, and for each of its homes that is away two
 * buckets of the back. */
static effort one_step(tamis_filter *window, uint64_t *before) {
    const tamis_i_spill *const s = (const tamis_i_spill *)(const void *)window->geometry;
    const size_t lines = (size_t)(s->words / TAMIS_LINE_WORDS);
    uint64_t left = tamis_i_window_left(window), now;
    effort e = {.read = s->front.words / TAMIS_LINE_WORDS};
    assert_true(left > 0);
    if (left > 1) { /* the last one is the stash */
        const uint64_t *const bucket = window->table + (left - 2) * s->front.words;
        e.away = s->front.homes - s->front_ops->count(&s->front, bucket).held;
        e.read += 2 * e.away * (s->back.words / TAMIS_LINE_WORDS);
    }
    memcpy(before, window->table, (size_t)s->words * sizeof *before);
    const clock_t start = clock();
    assert_ok(tamis_window_step(window, 1, &now));
    e.us = 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(now, left - 1);
    for (size_t i = 0; i < lines; i++)
        e.changed += memcmp(before + i * TAMIS_LINE_WORDS, window->table + i * TAMIS_LINE_WORDS,
                            TAMIS_LINE_BYTES) != 0;
    return e;
}

static void steps_are_bounded(tamis_order order) {
    enum { N = 20000, TICKS = 8, CLEARED = 3 };
    tamis_need need = test_need(TAMIS_KIND_WINDOW, N, 0.001);
    need.ticks = TICKS;
    need.order = order;
    tamis_params params = test_planned(&need).params;
    params.seed = 29;
    tamis_filter *window;
    assert_ok(tamis_filter_create(&params, NULL, &window));
    const tamis_i_spill *const s = (const tamis_i_spill *)(const void *)window->geometry;
    uint64_t *const before = malloc((size_t)s->words * sizeof *before);
    assert_non_null(before);
    uint64_t key = 0, steps = 0;
    effort most = {0, 0, 0, 0};
    for (unsigned tick = 0; tick < 3 * TICKS; tick++) {
        for (uint64_t i = 0; i < N / (TICKS + 1); i++)
            assert_ok(tamis_filter_insert_u64(window, key++, NULL));
        assert_ok(tamis_window_tick(window));
        for (; tick >= 3 * TICKS - CLEARED && tamis_i_window_left(window) > 0; steps++) {
            const effort e = one_step(window, before);
            assert_true(e.changed <= e.read);
            most.changed = e.changed > most.changed ? e.changed : most.changed;
            most.read = e.read > most.read ? e.read : most.read;
            most.away = e.away > most.away ? e.away : most.away;
            most.us = fmax(most.us, e.us);
        }
    }
    printf("# order %d: of %llu steps over a table of %llu lines, the longest changed %llu lines, "
           "could "
           "read %llu (%llu homes away), and took %.1f us\n",
           (int)order, (unsigned long long)steps, (unsigned long long)(s->words / TAMIS_LINE_WORDS),
           (unsigned long long)most.changed, (unsigned long long)most.read,
           (unsigned long long)most.away, most.us);
    assert_int_equal(steps, CLEARED * (s->n_front + 1));
    assert_true(most.changed > 0);
    /* Of 8 lines and 360 homes, or of 2 and 160, a few are away even in the fullest of the buckets. */
    assert_true(3 * most.away <= s->front.homes);
    free(before);
    tamis_filter_free(window);
}

static void test_window_steps_are_bounded(void **state) {
    (void)state;
    steps_are_bounded(TAMIS_ORDER_BYTES);
    steps_are_bounded(TAMIS_ORDER_LINES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_over_a_stream),
        cmocka_unit_test(test_window_full_of_new_keys_keeps_its_rate),
        cmocka_unit_test(test_window_steps_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
