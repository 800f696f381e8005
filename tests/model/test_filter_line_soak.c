/* test_filter_line_soak.c - 'line' in long use, against an exact multiset
 *
 * Keys come and go at random, one by one and in batches, some of them several times, while their number
 * swings between 90 and 110 % of the capacity.  At the end of each part every key that is in must be found
 * with all its copies, the count must be exact, and the measured error rate must be the one that
 * tamis_filter_info tells.  This rises with time, as fingerprints never become longer: never above the
 * model of a table that was at 110 % all the time.  The curve is printed.
 *
 * Two million calls by default; TAMIS_SOAK_CALLS=1000000000 for the long run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "support.h"
#include "tamis/model.h"

enum {
    CAPACITY = 100000,
    LEAST = CAPACITY * 90 / 100,
    MOST = CAPACITY * 110 / 100,
    KEYS = 500000,
    PARTS = 10, /* each twice as long as the one before */
    BATCH = 64,
    ASKED = 400000
};

/* Absent keys have numbers from here on. */
#define ABSENT ((uint64_t)1 << 40)

typedef struct soak {
    tamis_filter *filter;
    uint32_t copies[KEYS];
    uint32_t in[MOST]; /* one entry per copy that is in */
    size_t n;
    bool growing;
    uint64_t random, absent;
} soak;

static uint64_t key_to_insert(soak *s) {
    const uint32_t key = (uint32_t)test_random_below(&s->random, KEYS);
    s->copies[key]++;
    s->in[s->n++] = key;
    return key;
}

static uint64_t key_to_remove(soak *s) {
    const size_t at = (size_t)test_random_below(&s->random, s->n);
    const uint32_t key = s->in[at];
    s->copies[key]--;
    s->in[at] = s->in[--s->n];
    return key;
}

/* Does the next call insert?  Two of three do on the way up, one of three on the way down. */
static bool draw(soak *s) {
    if (s->n + BATCH > MOST)
        s->growing = false;
    if (s->n < LEAST + BATCH)
        s->growing = true;
    const bool with = test_random_below(&s->random, 3) < 2;
    return with == s->growing && s->n + BATCH <= MOST;
}

static void change(soak *s, uint64_t calls) {
    uint64_t keys[BATCH];
    for (uint64_t i = 0; i < calls;) {
        const bool insert = draw(s),
                   batch = i + BATCH <= calls && test_random(&s->random) % 64 == 0;
        const size_t n = batch ? BATCH : 1;
        for (size_t k = 0; k < n; k++)
            keys[k] = insert ? key_to_insert(s) : key_to_remove(s);
        size_t done = n;
        if (insert && batch)
            assert_ok(tamis_filter_insert_many_u64(s->filter, keys, n, NULL, &done));
        else if (insert)
            assert_ok(tamis_filter_insert_u64(s->filter, keys[0], NULL));
        else if (batch)
            assert_ok(tamis_filter_remove_many_u64(s->filter, keys, n, NULL, &done));
        else
            assert_ok(tamis_filter_remove_u64(s->filter, keys[0]));
        assert_int_equal(done, n);
        i += n;
    }
}

static void verify(const soak *s) {
    assert_int_equal(tamis_filter_count(s->filter), s->n);
    for (uint32_t key = 0; key < KEYS; key++)
        if (s->copies[key] > 0) {
            assert_true(tamis_filter_contains_u64(s->filter, key));
            assert_true(tamis_filter_copies_u64(s->filter, key) >= s->copies[key]);
        }
}

static uint64_t hits(soak *s) {
    uint64_t found = 0, keys[1000];
    for (unsigned asked = 0; asked < ASKED; asked += 1000) {
        for (unsigned i = 0; i < 1000; i++)
            keys[i] = s->absent++;
        found += tamis_filter_contains_many_u64(s->filter, keys, 1000, NULL);
    }
    return found;
}

static void run(double bits, uint64_t calls) {
    tamis_params params;
    tamis_line_shape shape;
    soak *const s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->random = test_seed();
    s->absent = ABSENT;
    tamis_params_init(&params);
    params.kind = TAMIS_KIND_LINE;
    params.capacity = CAPACITY;
    params.seed = test_seed();
    params.value[TAMIS_LINE_LINES] = (uint64_t)(CAPACITY * bits / 512);
    assert_ok(tamis_filter_create(&params, NULL, &s->filter));
    assert_ok(tamis_filter_params(s->filter, &params));
    tamis_line_shape_init(&shape);
    shape.lines = params.value[TAMIS_LINE_LINES];
    shape.homes = (unsigned)params.value[TAMIS_LINE_HOMES];
    shape.fp_bits_max = (unsigned)params.value[TAMIS_LINE_BITS_MAX];
    shape.header_bits = 9;
    while (s->n < CAPACITY)
        assert_ok(tamis_filter_insert_u64(s->filter, key_to_insert(s), NULL));
    uint64_t done = 0;
    for (unsigned part = 0; part < PARTS; part++) {
        const uint64_t end = calls >> (PARTS - 1 - part);
        change(s, end - done);
        done = end;
        verify(s);
        const tamis_info info = test_info(s->filter);
        const uint64_t found = hits(s);
        const double rounds = (double)done / 2 / CAPACITY;
        double bound;
        assert_ok(tamis_model_line_churned(&shape, MOST, rounds, &bound));
        print_message(
            "# %g bits per key, %10llu calls, %7.2f replacements, %6llu keys, stash %llu: "
            "told %.3e, measured %.3e, model at 110 %% %.3e\n",
            bits, (unsigned long long)done, rounds, (unsigned long long)s->n,
            (unsigned long long)info.stash_used, info.fpr, (double)found / ASKED, bound);
        assert_rate("line", found, ASKED, info.fpr, 0.02);
        assert_true(info.fpr <= 1.05 * bound);
    }
    tamis_filter_free(s->filter);
    free(s);
}

static void test_soak_line_keeps_every_key(void **state) {
    (void)state;
    const char *const text = getenv("TAMIS_SOAK_CALLS");
    const uint64_t calls = text == NULL ? 2000000 : strtoull(text, NULL, 0);
    run(12, calls / 2);
    run(16, calls / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_soak_line_keeps_every_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
