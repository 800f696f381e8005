/* test_counting_bucket.c - buckets of cells, against a plain model, by every kernel
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/counting_bucket.h"
#include "support.h"

enum { WORDS = 8 };

/* What a bucket holds, in the order of its cells. */
typedef struct plain {
    unsigned load;
    uint64_t remainder[TAMIS_I_COUNTING_MAX], count[TAMIS_I_COUNTING_MAX];
} plain;

static void assert_bucket(const tamis_i_counting_bucket *cells, uint64_t *words, unsigned at,
                          const plain *p) {
    const uint64_t counters = tamis_i_counting_counters(cells, words, at);
    const char *reason = NULL;
    assert_int_equal(tamis_i_counting_load(cells, tamis_i_counting_used(cells, counters)), p->load);
    for (unsigned i = 0; i < p->load; i++) {
        assert_int_equal(tamis_i_counting_remainder(cells, words, at, i), p->remainder[i]);
        assert_int_equal(tamis_i_counting_counter(cells, counters, i), p->count[i]);
    }
    assert_true(tamis_i_counting_check(cells, words, at, &reason));
}

static void assert_match(const tamis_i_counting_bucket *cells, uint64_t *words, unsigned at,
                         const plain *p, uint64_t remainder) {
    unsigned expected = 0;
    for (unsigned i = 0; i < p->load; i++) {
        const bool same = p->remainder[i] == remainder;
        expected |= (unsigned)same << i;
        if (tamis_i_counting_head(cells, p->remainder[i]) ==
            tamis_i_counting_head(cells, remainder))
            assert_int_equal(tamis_i_counting_holds(cells, words, at, i, remainder), same);
    }
    assert_int_equal(tamis_i_counting_match(cells, words, at, remainder), expected);
    /* Two buckets, one of them empty: nothing is missed. */
    static const uint64_t none[WORDS] = {0};
    tamis_i_probe probe = {.at = {words, (uint64_t *)(uintptr_t)none}};
    probe.word[1] = probe.word[2] = at;
    probe.word[TAMIS_I_HEAD] = tamis_i_counting_head(cells, remainder);
    const uint64_t found = tamis_i_heads_find(&cells->heads, &probe, 2);
    assert_int_equal(found & expected, expected);
}

/* A few hundred random calls on one bucket, at one place of a line. */
static void churn(const tamis_i_counting_bucket *cells, unsigned at, uint64_t *random) {
    uint64_t words[WORDS + 1] = {0};
    plain p = {0};
    words[WORDS] = 0x5a5a5a5a5a5a5a5au; /* must stay */
    const uint64_t values = (uint64_t)1 << cells->remainder_bits;
    const uint64_t most = tamis_i_counting_counter_max(cells);
    for (unsigned step = 0; step < 300; step++) {
        const uint64_t remainder = test_random(random) % 4 == 0
                                       ? test_random(random) % 2 * (values - 1)
                                       : test_random_below(random, values);
        if (p.load < cells->n && test_random(random) % 2 == 0) {
            const uint64_t count = 1 + test_random_below(random, most);
            tamis_i_counting_add(cells, words, at, p.load, remainder, count);
            p.remainder[p.load] = remainder;
            p.count[p.load++] = count;
        } else if (p.load > 0 && test_random(random) % 2 == 0) {
            const unsigned cell = (unsigned)test_random_below(random, p.load);
            tamis_i_counting_drop(cells, words, at, cell, p.remainder[cell]);
            p.load--;
            p.remainder[cell] = p.remainder[p.load];
            p.count[cell] = p.count[p.load];
        } else if (p.load > 0) {
            const unsigned cell = (unsigned)test_random_below(random, p.load);
            const uint64_t count = 1 + test_random_below(random, most);
            tamis_i_counting_count(cells, words, at, cell, p.count[cell], count);
            p.count[cell] = count;
        }
        assert_bucket(cells, words, at, &p);
        assert_match(cells, words, at, &p, remainder);
        if (p.load > 0)
            assert_match(cells, words, at, &p, p.remainder[test_random_below(random, p.load)]);
    }
    for (; p.load > 0; p.remainder[0] = p.remainder[--p.load])
        tamis_i_counting_drop(cells, words, at, 0, p.remainder[0]);
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(words[i], 0);
    assert_true(words[WORDS] == 0x5a5a5a5a5a5a5a5au);
}

static void test_counting_bucket_every_shape_equals_the_model(void **state) {
    (void)state;
    uint64_t random = test_seed(), shapes = 0;
    for (unsigned n = 1; n <= TAMIS_I_COUNTING_MAX; n++) {
        for (unsigned r = 1; r <= 32; r++) {
            for (unsigned c = 1; c <= 8; c += 1 + n % 3) {
                const unsigned bits = (unsigned)tamis_i_counting_bits(n, c, r);
                if (!tamis_i_counting_ok(n, c, r) || bits > 512)
                    continue;
                tamis_i_counting_bucket cells;
                tamis_i_counting_init(&cells, n, c, r);
                /* In any slot of a line, the last one ending where the line ends at most. */
                const unsigned slot = (unsigned)test_random_below(&random, 512 / bits);
                churn(&cells, slot * bits, &random);
                shapes++;
            }
        }
    }
    print_message("# %llu shapes\n", (unsigned long long)shapes);
}

static void test_counting_bucket_impossible_shapes_are_refused(void **state) {
    (void)state;
    assert_false(tamis_i_counting_ok(0, 2, 14));
    assert_false(tamis_i_counting_ok(TAMIS_I_COUNTING_MAX + 1, 2, 14));
    assert_false(tamis_i_counting_ok(8, 0, 14));
    assert_false(tamis_i_counting_ok(8, 9, 14));
    assert_false(tamis_i_counting_ok(16, 5, 14));
    assert_false(tamis_i_counting_ok(8, 2, 0));
    assert_false(tamis_i_counting_ok(8, 2, 33));
    assert_true(tamis_i_counting_ok(16, 4, 32));
}

static void test_counting_bucket_damage_is_seen(void **state) {
    (void)state;
    tamis_i_counting_bucket cells;
    const char *reason;
    tamis_i_counting_init(&cells, 8, 2, 13); /* 120 bits, all used */
    uint64_t words[WORDS] = {0};
    tamis_i_counting_add(&cells, words, 0, 0, 5, 1);
    tamis_i_counting_add(&cells, words, 0, 1, 6, 1);
    assert_true(tamis_i_counting_check(&cells, words, 0, &reason));
    tamis_i_counting_count(&cells, words, 0, 0, 1, 0);
    assert_false(tamis_i_counting_check(&cells, words, 0, &reason));
    assert_string_equal(reason, "a bucket has an empty cell before one in use");
    tamis_i_counting_count(&cells, words, 0, 0, 0, 1);
    words[1] |= (uint64_t)1 << 50;
    assert_false(tamis_i_counting_check(&cells, words, 0, &reason));
    assert_string_equal(reason, "a bucket has data in an empty cell");
    tamis_i_counting_init(&cells, 9, 2, 14); /* 144 bits */
    tamis_i_counting_init(&cells, 5, 2, 13); /* 75 bits of 80 */
    memset(words, 0, sizeof words);
    words[1] = (uint64_t)1 << 14;
    assert_false(tamis_i_counting_check(&cells, words, 0, &reason));
    assert_string_equal(reason, "a bucket has data past its cells");
}

static void test_fields_next_finds_each_width(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned width = 1; width <= 60; width++) {
        uint64_t words[WORDS] = {0}, value[16];
        const unsigned n = 400 / width < 16 ? 400 / width : 16, at = (unsigned)(random % 70);
        for (unsigned i = 0; i < n; i++) {
            value[i] = test_random(&random) & tamis_i_low_mask(width);
            tamis_i_field_put(words, at + i * width, width, value[i]);
        }
        for (unsigned i = 0; i < n; i++) {
            unsigned first = 0;
            while (value[first] != value[i])
                first++;
            assert_int_equal(tamis_i_fields_next(words, at, width, 0, n, value[i]), first);
            assert_int_equal(tamis_i_fields_next(words, at, width, i, n, value[i]), i);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting_bucket_every_shape_equals_the_model),
        cmocka_unit_test(test_counting_bucket_impossible_shapes_are_refused),
        cmocka_unit_test(test_counting_bucket_damage_is_seen),
        cmocka_unit_test(test_fields_next_finds_each_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
