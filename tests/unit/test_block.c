/* test_block.c - Bloom filters in blocks: every engine equals the portable one
 *
 * The portable one is first compared with one bit at a time.  Feature sets that this machine does not have,
 * or that TAMIS_CPU_OFF has switched off, are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "bits/block.h"
#include "bits/field.h"
#include "support.h"

enum { SETS = 16 };

/* The operations of feature set number 'set'; NULL if this machine cannot run them. */
static const tamis_i_block_ops *ops_of(unsigned lanes, unsigned set) {
    return (set & ~tamis_i_cpu_features()) != 0 ? NULL : tamis_i_block_ops_for(lanes, set);
}

/* Layout number 'round': so many bits of a key, anywhere or in lanes.  Bit number i of a hash. */
typedef struct layout {
    unsigned lanes, k;
} layout;

static layout layout_of(unsigned round) {
    const unsigned k = round % (TAMIS_I_BLOCK_HASHES_MAX + 1);
    return k == 0 ? (layout){TAMIS_I_BLOCK_LANES, TAMIS_I_BLOCK_LANES} : (layout){0, k};
}

static unsigned bit_of(layout l, uint64_t hash, unsigned i) {
    return l.lanes != 0 ? tamis_i_block_lane_bit(hash, i) : tamis_i_block_bit(hash, i);
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
        t->words[i] = test_some_word(random);
}

static uint64_t some_hash(uint64_t *random) {
    static const uint64_t edges[] = {
        0, UINT64_MAX, 1, (uint64_t)1 << 32, 0xffffffffu, 0x8000000080000000u, 0x7fffffffffffffffu};
    const uint64_t pick = test_random_below(random, 40);
    return pick < 7 ? edges[pick] : test_random(random);
}

static void test_block_portable_match_definition(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 2000; round++) {
        const layout l = layout_of(round);
        const unsigned k = l.k;
        const tamis_i_block_ops *const portable = tamis_i_block_ops_for(l.lanes, 0);
        table t, before;
        fill_table(&t, &random);
        before = t;
        const uint64_t hash = some_hash(&random);
        uint64_t *block = block_at(&t, round % BLOCKS);
        const tamis_i_probe probe = {.at = {block}, .word = {hash}};
        bool all = true, present, changed;
        for (unsigned i = 0; i < k; i++) {
            const unsigned at = bit_of(l, hash, i);
            assert_true(at < 512 && (l.lanes == 0 || at / 64 == i));
            all = all && tamis_i_bit_get(block, at);
        }
        portable->test_many(&probe, 1, k, &probe, &present);
        assert_int_equal(present, all);
        assert_int_equal(portable->set_many(&probe, 1, k, &changed), !all);
        assert_int_equal(changed, !all);
        for (unsigned i = 0; i < k; i++)
            tamis_i_bit_set(block_at(&before, round % BLOCKS), bit_of(l, hash, i));
        assert_memory_equal(&t, &before, sizeof t);
        portable->test_many(&probe, 1, k, &probe, &present);
        assert_true(present);
    }
}

static void test_block_agree(void **state) {
    (void)state;
    unsigned sets = 0;
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t random = test_seed();
        if (ops_of(0, set) == NULL)
            continue;
        sets++;
        for (unsigned round = 0; round < 17 * 200; round++) {
            const layout l = layout_of(round / 2);
            const unsigned k = l.k;
            const tamis_i_block_ops *const portable = tamis_i_block_ops_for(l.lanes, 0),
                                           *const ops = ops_of(l.lanes, set);
            const size_t n = (size_t)test_random_below(&random, KEYS + 1);
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
            portable->test_many(in_a, n, k, in_b, p);
            ops->test_many(in_a, n, k, in_b, q);
            assert_memory_equal(p, q, n + 1);
            for (size_t i = 0; i < n; i++) {
                uint64_t copy[BLOCK_WORDS];
                assert_int_equal(ops->test(in_a[i].at[0], in_a[i].word[0], k), p[i]);
                assert_int_equal(ops->test_read(in_a[i].at[0], in_a[i].word[0], k), p[i]);
                ops->read(in_a[i].at[0], copy);
                assert_memory_equal(copy, in_a[i].at[0], sizeof copy);
            }
            assert_int_equal(portable->set_many(in_a, n, k, p), ops->set_many(in_b, n, k, q));
            assert_memory_equal(p, q, n + 1);
            assert_memory_equal(&a, &b, sizeof a);
            ops->test_many(in_a, n, k, in_b, q);
            for (size_t i = 0; i < n; i++)
                assert_true(q[i]);
        }
    }
    printf("# %u of %d feature sets\n", sets, SETS);
}

/* Engines must test exactly k bits: one that is missing decides, one past k does not. */
static void test_block_use_exactly_k_bits(void **state) {
    (void)state;
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t random = test_seed();
        if (ops_of(0, set) == NULL)
            continue;
        for (unsigned round = 0; round < 1000; round++) {
            const uint64_t hash = test_random(&random);
            for (unsigned number = 0; number <= TAMIS_I_BLOCK_HASHES_MAX; number++) {
                const layout l = layout_of(number);
                const unsigned k = l.k;
                const tamis_i_block_ops *const ops = ops_of(l.lanes, set);
                uint64_t block[BLOCK_WORDS] = {0};
                const tamis_i_probe probe = {.at = {block}, .word = {hash}};
                bool present;
                for (unsigned i = 0; i < k; i++)
                    tamis_i_bit_set(block, bit_of(l, hash, i));
                ops->test_many(&probe, 1, k, &probe, &present);
                assert_true(present);
                const unsigned lost = bit_of(l, hash, (unsigned)(round % k));
                block[lost / 64] &= ~((uint64_t)1 << lost % 64);
                ops->test_many(&probe, 1, k, &probe, &present);
                assert_false(present);
            }
        }
    }
}

int main(void) {
    printf("# features here: %u\n", tamis_i_cpu_features());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_portable_match_definition),
        cmocka_unit_test(test_block_agree),
        cmocka_unit_test(test_block_use_exactly_k_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
