/* test_words.c - ones in arrays of words: every engine equals the portable one
 *
 * The portable one is first compared with one bit at a time.  Feature sets that this machine does not have,
 * or that TAMIS_CPU_OFF has switched off, are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "bits/field.h"
#include "bits/words.h"
#include "support.h"

enum { SETS = 16 };

/* The operations of the next feature set after 'set' that this machine can run; NULL after the last. */
static const tamis_i_words_ops *next_ops(unsigned *set) {
    do
        ++*set;
    while (*set < SETS && (*set & ~tamis_i_cpu_features()) != 0);
    return *set < SETS ? tamis_i_words_ops_for(*set) : NULL;
}

static void test_words_portable_match_bit_by_bit(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const tamis_i_words_ops *const portable = tamis_i_words_ops_for(0);
    enum { WORDS = 5 };
    for (unsigned round = 0; round < 500; round++) {
        uint64_t words[WORDS];
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = test_some_word(&random);
        uint64_t sum = 0;
        for (uint64_t at = 0; at <= 64 * WORDS; at++) {
            assert_true(portable->rank(words, at) == sum);
            if (at % 64 == 0)
                assert_true(portable->ones(words, (size_t)at / 64) == sum);
            if (at < 64 * WORDS)
                sum += words[at / 64] >> at % 64 & 1;
        }
        unsigned r = 0;
        for (unsigned at = 0; at < 64; at++)
            if (words[0] >> at & 1)
                assert_int_equal(portable->select(words[0], r++), at);
        for (; r < 70; r++)
            assert_int_equal(portable->select(words[0], r), 64);
        assert_int_equal(portable->select(words[0], UINT32_MAX), 64);
    }
}

static void test_words_ones_and_rank_agree(void **state) {
    (void)state;
    enum { WORDS = 130 };
    const tamis_i_words_ops *const portable = tamis_i_words_ops_for(0), *ops;
    for (unsigned set = 0; (ops = next_ops(&set)) != NULL;) {
        uint64_t random = test_seed();
        for (unsigned round = 0; round < 100; round++) {
            uint64_t words[WORDS];
            for (unsigned i = 0; i < WORDS; i++)
                words[i] = test_some_word(&random);
            for (size_t n = 0; n <= WORDS; n++)
                assert_true(ops->ones(words, n) == portable->ones(words, n));
            for (unsigned i = 0; i < 1000; i++) {
                const uint64_t border = 64 * test_random_below(&random, WORDS + 1);
                const uint64_t at = i % 3 == 0   ? test_random_below(&random, 64 * WORDS + 1)
                                    : i % 3 == 1 ? border
                                                 : border - (border > 0);
                assert_true(ops->rank(words, at) == portable->rank(words, at));
            }
        }
    }
}

/* The array ends with a block of memory: rank at a word border must not read the word after it. */
static void test_words_rank_at_the_end_stays_inside(void **state) {
    (void)state;
    uint64_t *const words = malloc(3 * sizeof *words);
    assert_non_null(words);
    memset(words, 0xff, 3 * sizeof *words);
    const tamis_i_words_ops *ops = tamis_i_words_ops_for(0);
    for (unsigned set = 0; ops != NULL; ops = next_ops(&set)) {
        assert_int_equal(ops->rank(words, 192), 192);
        assert_int_equal(ops->rank(words, 191), 191);
        assert_int_equal(ops->rank(words, 0), 0);
        assert_int_equal(ops->ones(words, 0), 0);
    }
    free(words);
}

static void test_words_select_agrees(void **state) {
    (void)state;
    const tamis_i_words_ops *const portable = tamis_i_words_ops_for(0), *ops;
    for (unsigned set = 0; (ops = next_ops(&set)) != NULL;) {
        uint64_t random = test_seed();
        for (unsigned round = 0; round < 20000; round++) {
            const uint64_t word = test_some_word(&random);
            for (unsigned r = 0; r < 67; r++)
                assert_int_equal(ops->select(word, r), portable->select(word, r));
            const unsigned far[] = {127, 128, 256, 1u << 31, UINT32_MAX};
            for (unsigned i = 0; i < 5; i++)
                assert_int_equal(ops->select(word, far[i]), 64);
        }
    }
}

int main(void) {
    printf("# features here: %u\n", tamis_i_cpu_features());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_portable_match_bit_by_bit),
        cmocka_unit_test(test_words_ones_and_rank_agree),
        cmocka_unit_test(test_words_rank_at_the_end_stays_inside),
        cmocka_unit_test(test_words_select_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
