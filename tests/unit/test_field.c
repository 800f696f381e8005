/* test_field.c - bit fields and packed arrays, against one bit at a time
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "support.h"

enum { WORDS = 6, BITS = 64 * WORDS };

/* A bit array as one bool per bit, with a guard word on both sides in the other form. */
typedef struct pair {
    bool bit[BITS];
    uint64_t guarded[WORDS + 2];
} pair;

static uint64_t *words_of(pair *p) {
    return p->guarded + 1;
}

static void fill(pair *p, uint64_t *random) {
    p->guarded[0] = p->guarded[WORDS + 1] = 0x5aa55aa5c33cc33cu;
    for (unsigned i = 0; i < WORDS; i++) {
        const uint64_t word = test_random(random);
        /* Also all zeros and all ones, where a bit that moves wrongly shows. */
        words_of(p)[i] = word % 8 == 0 ? 0 : word % 8 == 1 ? UINT64_MAX : word;
    }
    for (unsigned i = 0; i < BITS; i++)
        p->bit[i] = (words_of(p)[i / 64] >> i % 64 & 1) != 0;
}

static void assert_pair(pair *p) {
    for (unsigned i = 0; i < BITS; i++)
        assert_int_equal(words_of(p)[i / 64] >> i % 64 & 1, p->bit[i]);
    assert_true(p->guarded[0] == 0x5aa55aa5c33cc33cu);
    assert_true(p->guarded[WORDS + 1] == 0x5aa55aa5c33cc33cu);
}

static void test_mask_every_width_is_right(void **state) {
    (void)state;
    uint64_t expected = 0;
    for (unsigned width = 0; width <= 64; width++) {
        assert_true(tamis_i_low_mask(width) == expected);
        expected = expected << 1 | 1;
    }
}

static void test_bit_get_and_set_are_one_bit(void **state) {
    (void)state;
    uint64_t random = test_seed();
    pair p;
    fill(&p, &random);
    for (unsigned i = 0; i < BITS; i++) {
        assert_int_equal(tamis_i_bit_get(words_of(&p), i), p.bit[i]);
        if (i % 3 == 0) {
            tamis_i_bit_set(words_of(&p), i);
            p.bit[i] = true;
        }
    }
    assert_pair(&p);
}

static void test_field_get_and_put_match_bit_by_bit(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 20000; round++) {
        pair p;
        fill(&p, &random);
        const unsigned width = 1 + (unsigned)test_random_below(&random, 64);
        const unsigned at = (unsigned)test_random_below(&random, BITS - width + 1);
        uint64_t expected = 0;
        for (unsigned i = 0; i < width; i++)
            expected |= (uint64_t)p.bit[at + i] << i;
        assert_true(tamis_i_field_get(words_of(&p), at, width) == expected);
        const uint64_t value = test_random(&random); /* bits over the width must not matter */
        tamis_i_field_put(words_of(&p), at, width, value);
        for (unsigned i = 0; i < width; i++)
            p.bit[at + i] = (value >> i & 1) != 0;
        assert_pair(&p);
        assert_true(tamis_i_field_get(words_of(&p), at, width) ==
                    (value & tamis_i_low_mask(width)));
    }
}

/* A field that ends with its word must not touch the next, which may not exist. */
static void test_field_at_the_end_stays_inside(void **state) {
    (void)state;
    for (unsigned width = 1; width <= 64; width++) {
        uint64_t *const word = malloc(sizeof *word);
        assert_non_null(word);
        *word = 0x123456789abcdef0u;
        const uint64_t top = *word >> (64 - width);
        assert_true(tamis_i_field_get(word, 64 - width, width) == top);
        tamis_i_field_put(word, 64 - width, width, top);
        assert_true(*word == 0x123456789abcdef0u);
        tamis_i_field_open(word, 64 - width, 64, width);
        assert_true(*word == (0x123456789abcdef0u & tamis_i_low_mask(64 - width)));
        tamis_i_field_close(word, 0, 64, width);
        free(word);
    }
}

static void test_packed_array_elements_are_independent(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned width = 1; width <= 64; width++) {
        const unsigned n = BITS / width;
        uint64_t words[WORDS] = {0}, values[BITS] = {0};
        for (unsigned round = 0; round < 2000; round++) {
            const unsigned i = (unsigned)test_random_below(&random, n);
            values[i] = test_random(&random) & tamis_i_low_mask(width);
            tamis_i_packed_put(words, width, i, values[i]);
            const unsigned j = (unsigned)test_random_below(&random, n);
            assert_true(tamis_i_packed_get(words, width, j) == values[j]);
        }
        for (unsigned i = 0; i < n; i++)
            assert_true(tamis_i_packed_get(words, width, i) == values[i]);
    }
}

static void naive_open(bool *bit, unsigned at, unsigned end, unsigned width) {
    for (unsigned i = end; i-- > at + width;)
        bit[i] = bit[i - width];
    for (unsigned i = at; i < at + width; i++)
        bit[i] = false;
}

static void naive_close(bool *bit, unsigned at, unsigned end, unsigned width) {
    for (unsigned i = at; i + width < end; i++)
        bit[i] = bit[i + width];
    for (unsigned i = end - width; i < end; i++)
        bit[i] = false;
}

static void check_move(pair *p, unsigned at, unsigned end, unsigned width) {
    pair q = *p;
    tamis_i_field_open(words_of(p), at, end, width);
    naive_open(p->bit, at, end, width);
    assert_pair(p);
    tamis_i_field_close(words_of(&q), at, end, width);
    naive_close(q.bit, at, end, width);
    assert_pair(&q);
}

static void test_field_open_and_close_match_bit_by_bit(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 20000; round++) {
        pair p;
        fill(&p, &random);
        const unsigned width = (unsigned)test_random_below(&random, 65);
        const unsigned at = (unsigned)test_random_below(&random, BITS - width + 1);
        const unsigned end =
            at + width + (unsigned)test_random_below(&random, BITS - at - width + 1);
        if (end == 0)
            continue;
        check_move(&p, at, end, width);
    }
}

static void test_field_open_and_close_at_word_borders(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const unsigned places[] = {0, 1, 63, 64, 65, 127, 128, 129, 191, 192, 320, BITS - 1, BITS};
    const unsigned widths[] = {0, 1, 2, 31, 32, 33, 63, 64};
    const unsigned n_places = sizeof places / sizeof places[0];
    for (unsigned a = 0; a < n_places; a++) {
        for (unsigned b = a + 1; b < n_places; b++) {
            for (unsigned w = 0; w < sizeof widths / sizeof widths[0]; w++) {
                pair p;
                fill(&p, &random);
                if (places[a] + widths[w] <= places[b])
                    check_move(&p, places[a], places[b], widths[w]);
            }
        }
    }
}

/* What was opened and then closed is as before, but for the bits that fell off the end. */
static void test_field_close_undoes_open(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 2000; round++) {
        pair p;
        fill(&p, &random);
        const unsigned width = 1 + (unsigned)test_random_below(&random, 64);
        const unsigned at = (unsigned)test_random_below(&random, BITS - width + 1);
        tamis_i_field_open(words_of(&p), at, BITS, width);
        tamis_i_field_close(words_of(&p), at, BITS, width);
        for (unsigned i = BITS - width; i < BITS; i++)
            p.bit[i] = false;
        assert_pair(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask_every_width_is_right),
        cmocka_unit_test(test_bit_get_and_set_are_one_bit),
        cmocka_unit_test(test_field_get_and_put_match_bit_by_bit),
        cmocka_unit_test(test_field_at_the_end_stays_inside),
        cmocka_unit_test(test_packed_array_elements_are_independent),
        cmocka_unit_test(test_field_open_and_close_match_bit_by_bit),
        cmocka_unit_test(test_field_open_and_close_at_word_borders),
        cmocka_unit_test(test_field_close_undoes_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
