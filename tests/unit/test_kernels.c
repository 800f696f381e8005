/* test_kernels.c - every kernel for every set of CPU features equals the portable one
 *
 * The portable kernels are first compared with one bit at a time.  Feature sets that this machine does not
 * have, or that TAMIS_CPU_OFF has switched off, are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/field.h"
#include "bits/kernels.h"
#include "support.h"

enum { SETS = 8 };

/* The kernels of feature set number 'set'; false if this machine cannot run them. */
static bool kernels_of(unsigned set, tamis_i_kernels *kernels) {
    if ((set & ~tamis_i_cpu_features()) != 0)
        return false;
    tamis_i_kernels_choose(kernels, set);
    return true;
}

/* Words with few, many, no and all bits set, and random ones. */
static uint64_t some_word(uint64_t *random) {
    const uint64_t a = test_random(random), b = test_random(random), c = test_random(random);
    switch (test_random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return (uint64_t)1 << a % 64;
    case 3:
        return ~((uint64_t)1 << a % 64);
    case 4:
        return a & b & c;
    case 5:
        return a | b | c;
    default:
        return a;
    }
}

static void test_kernels_portable_match_bit_by_bit(void **state) {
    (void)state;
    uint64_t random = test_seed();
    tamis_i_kernels portable;
    tamis_i_kernels_choose(&portable, 0);
    enum { WORDS = 5 };
    for (unsigned round = 0; round < 500; round++) {
        uint64_t words[WORDS];
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = some_word(&random);
        uint64_t sum = 0;
        for (uint64_t at = 0; at <= 64 * WORDS; at++) {
            assert_true(portable.rank(words, at) == sum);
            if (at % 64 == 0)
                assert_true(portable.ones(words, at / 64) == sum);
            if (at < 64 * WORDS)
                sum += words[at / 64] >> at % 64 & 1;
        }
        unsigned r = 0;
        for (unsigned at = 0; at < 64; at++)
            if (words[0] >> at & 1)
                assert_int_equal(portable.select(words[0], r++), at);
        for (; r < 70; r++)
            assert_int_equal(portable.select(words[0], r), 64);
        assert_int_equal(portable.select(words[0], UINT32_MAX), 64);
    }
}

static void test_kernels_ones_and_rank_agree(void **state) {
    (void)state;
    enum { WORDS = 130 };
    tamis_i_kernels portable, kernels;
    tamis_i_kernels_choose(&portable, 0);
    for (unsigned set = 1; set < SETS; set++) {
        uint64_t random = test_seed();
        if (!kernels_of(set, &kernels))
            continue;
        for (unsigned round = 0; round < 100; round++) {
            uint64_t words[WORDS];
            for (unsigned i = 0; i < WORDS; i++)
                words[i] = some_word(&random);
            for (size_t n = 0; n <= WORDS; n++)
                assert_true(kernels.ones(words, n) == portable.ones(words, n));
            for (unsigned i = 0; i < 1000; i++) {
                const uint64_t border = 64 * test_random_below(&random, WORDS + 1);
                const uint64_t at = i % 3 == 0   ? test_random_below(&random, 64 * WORDS + 1)
                                    : i % 3 == 1 ? border
                                                 : border - (border > 0);
                assert_true(kernels.rank(words, at) == portable.rank(words, at));
            }
        }
    }
}

/* The array ends with a block of memory: rank at a word border must not read the word after it. */
static void test_kernels_rank_at_the_end_stays_inside(void **state) {
    (void)state;
    uint64_t *const words = malloc(3 * sizeof *words);
    assert_non_null(words);
    memset(words, 0xff, 3 * sizeof *words);
    for (unsigned set = 0; set < SETS; set++) {
        tamis_i_kernels kernels;
        if (!kernels_of(set, &kernels))
            continue;
        assert_int_equal(kernels.rank(words, 192), 192);
        assert_int_equal(kernels.rank(words, 191), 191);
        assert_int_equal(kernels.rank(words, 0), 0);
        assert_int_equal(kernels.ones(words, 0), 0);
    }
    free(words);
}

static void test_kernels_select_agrees(void **state) {
    (void)state;
    tamis_i_kernels portable, kernels;
    tamis_i_kernels_choose(&portable, 0);
    for (unsigned set = 1; set < SETS; set++) {
        uint64_t random = test_seed();
        if (!kernels_of(set, &kernels))
            continue;
        for (unsigned round = 0; round < 20000; round++) {
            const uint64_t word = some_word(&random);
            for (unsigned r = 0; r < 67; r++)
                assert_int_equal(kernels.select(word, r), portable.select(word, r));
            const unsigned far[] = {127, 128, 256, 1u << 31, UINT32_MAX};
            for (unsigned i = 0; i < 5; i++)
                assert_int_equal(kernels.select(word, far[i]), 64);
        }
    }
}

/* ---- blocks ---- */

enum { BLOCKS = 40, KEYS = 33, BLOCK_WORDS = 8, GUARD = 1 };

/* Blocks in one array with a guard word before and after it, not aligned to a line. */
typedef struct table {
    uint64_t words[GUARD + BLOCKS * BLOCK_WORDS + GUARD];
} table;

static uint64_t *block_at(table *t, uint64_t i) {
    return t->words + GUARD + i * BLOCK_WORDS;
}

static void fill_table(table *t, uint64_t *random) {
    for (size_t i = 0; i < sizeof t->words / sizeof t->words[0]; i++)
        t->words[i] = some_word(random);
}

static uint64_t some_hash(uint64_t *random) {
    static const uint64_t edges[] = {
        0, UINT64_MAX, 1, (uint64_t)1 << 32, 0xffffffffu, 0x8000000080000000u, 0x7fffffffffffffffu};
    const uint64_t pick = test_random_below(random, 40);
    return pick < 7 ? edges[pick] : test_random(random);
}

static void test_kernels_blocks_portable_match_definition(void **state) {
    (void)state;
    uint64_t random = test_seed();
    tamis_i_kernels portable;
    tamis_i_kernels_choose(&portable, 0);
    for (unsigned round = 0; round < 2000; round++) {
        table t, before;
        fill_table(&t, &random);
        before = t;
        const unsigned k = 1 + round % TAMIS_I_BLOCK_HASHES_MAX;
        const uint64_t hash = some_hash(&random);
        uint64_t *block = block_at(&t, round % BLOCKS);
        const tamis_i_probe probe = {.at = {block}, .word = {hash}};
        bool all = true, present, changed;
        for (unsigned i = 0; i < k; i++) {
            const unsigned at = tamis_i_block_bit(hash, i);
            assert_true(at < 512);
            all = all && tamis_i_bit_get(block, at);
        }
        portable.blocks_test(&probe, 1, k, &probe, &present);
        assert_int_equal(present, all);
        assert_int_equal(portable.blocks_set(&probe, 1, k, &changed), !all);
        assert_int_equal(changed, !all);
        for (unsigned i = 0; i < k; i++)
            tamis_i_bit_set(block_at(&before, round % BLOCKS), tamis_i_block_bit(hash, i));
        assert_memory_equal(&t, &before, sizeof t);
        portable.blocks_test(&probe, 1, k, &probe, &present);
        assert_true(present);
    }
}

static void test_kernels_blocks_agree(void **state) {
    (void)state;
    unsigned sets = 0;
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t random = test_seed();
        tamis_i_kernels portable, kernels;
        tamis_i_kernels_choose(&portable, 0);
        if (!kernels_of(set, &kernels))
            continue;
        sets++;
        for (unsigned round = 0; round < 16 * 200; round++) {
            const unsigned k = 1 + round % TAMIS_I_BLOCK_HASHES_MAX;
            const size_t n = test_random_below(&random, KEYS + 1);
            /* Few distinct blocks, so that keys of one call meet in one, and some keys twice. */
            const uint64_t among = 1 + test_random_below(&random, BLOCKS);
            table a, b;
            fill_table(&a, &random);
            if (round % 2)
                memset(a.words + GUARD, 0, sizeof(uint64_t) * BLOCKS * BLOCK_WORDS);
            b = a;
            tamis_i_probe in_a[KEYS], in_b[KEYS];
            for (size_t i = 0; i < n; i++) {
                const bool again = i > 0 && test_random_below(&random, 8) == 0;
                const uint64_t block = test_random_below(&random, among);
                const uint64_t hash = some_hash(&random);
                in_a[i] = (tamis_i_probe){.at = {block_at(&a, block)}, .word = {hash}};
                in_b[i] = (tamis_i_probe){.at = {block_at(&b, block)}, .word = {hash}};
                if (again)
                    in_a[i] = in_a[i - 1], in_b[i] = in_b[i - 1];
            }
            bool p[KEYS + 1], q[KEYS + 1];
            p[n] = q[n] = true;
            portable.blocks_test(in_a, n, k, in_b, p);
            kernels.blocks_test(in_a, n, k, in_b, q);
            assert_memory_equal(p, q, n + 1);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(kernels.block_test(in_a[i].at[0], in_a[i].word[0], k), p[i]);
            assert_int_equal(portable.blocks_set(in_a, n, k, p), kernels.blocks_set(in_b, n, k, q));
            assert_memory_equal(p, q, n + 1);
            assert_memory_equal(&a, &b, sizeof a);
            kernels.blocks_test(in_a, n, k, in_b, q);
            for (size_t i = 0; i < n; i++)
                assert_true(q[i]);
        }
    }
    printf("# %u of %d feature sets\n", sets, SETS);
}

/* The block kernels must test exactly k bits: one that is missing decides, one past k does not. */
static void test_kernels_blocks_use_exactly_k_bits(void **state) {
    (void)state;
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t random = test_seed();
        tamis_i_kernels kernels;
        if (!kernels_of(set, &kernels))
            continue;
        for (unsigned round = 0; round < 1000; round++) {
            const uint64_t hash = test_random(&random);
            for (unsigned k = 1; k <= TAMIS_I_BLOCK_HASHES_MAX; k++) {
                uint64_t block[BLOCK_WORDS] = {0};
                const tamis_i_probe probe = {.at = {block}, .word = {hash}};
                bool present;
                for (unsigned i = 0; i < k; i++)
                    tamis_i_bit_set(block, tamis_i_block_bit(hash, i));
                kernels.blocks_test(&probe, 1, k, &probe, &present);
                assert_true(present);
                const unsigned lost = tamis_i_block_bit(hash, (unsigned)(round % k));
                block[lost / 64] &= ~((uint64_t)1 << lost % 64);
                kernels.blocks_test(&probe, 1, k, &probe, &present);
                assert_false(present);
            }
        }
    }
}

static void test_kernels_chosen_for_no_features_are_portable(void **state) {
    (void)state;
    tamis_i_kernels a, b;
    tamis_i_kernels_portable(&a);
    tamis_i_kernels_choose(&b, 0);
    assert_true(a.ones == b.ones && a.rank == b.rank && a.select == b.select);
    assert_true(a.blocks_test == b.blocks_test && a.blocks_set == b.blocks_set);
}

int main(void) {
    printf("# features here: %u\n", tamis_i_cpu_features());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_portable_match_bit_by_bit),
        cmocka_unit_test(test_kernels_ones_and_rank_agree),
        cmocka_unit_test(test_kernels_rank_at_the_end_stays_inside),
        cmocka_unit_test(test_kernels_select_agrees),
        cmocka_unit_test(test_kernels_blocks_portable_match_definition),
        cmocka_unit_test(test_kernels_blocks_agree),
        cmocka_unit_test(test_kernels_blocks_use_exactly_k_bits),
        cmocka_unit_test(test_kernels_chosen_for_no_features_are_portable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
