/* test_balanced_kernels.c - small Bloom filters in blocks: every kernel equals the portable one
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/block.h"
#include "bits/field.h"
#include "support.h"

enum { SETS = 8, KEYS = 19, GUARD = 2, ROOM = GUARD + TAMIS_I_BLOCK_WORDS_MAX + GUARD };

static bool kernels_of(unsigned set, tamis_i_kernels *kernels) {
    if ((set & ~tamis_i_cpu_features()) != 0)
        return false;
    tamis_i_kernels_choose(kernels, set);
    return true;
}

static tamis_i_block some_layout(uint64_t *random) {
    tamis_i_block layout;
    layout.words = 1 + (unsigned)test_random_below(random, TAMIS_I_BLOCK_WORDS_MAX);
    layout.first = 1 + (unsigned)test_random_below(random, 12);
    layout.bits = 64 * layout.words - layout.first;
    layout.hashes = 1 + (unsigned)test_random_below(random, TAMIS_I_BLOCK_PLACES_MAX);
    return layout;
}

/* Blocks with guard words on both sides, all but full so that many hashes are present. */
static void some_blocks(uint64_t (*blocks)[ROOM], uint64_t *random) {
    for (unsigned j = 0; j < KEYS; j++)
        for (unsigned i = 0; i < ROOM; i++)
            blocks[j][i] = test_random(random) | test_random(random) | test_random(random) |
                           (j % 3 == 0 ? test_random(random) | UINT64_MAX << 9 : 0);
}

/* The places are within the filter's own bits, and every one of them is reached. */
static void test_block_places_cover_the_filter(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned words = 1; words <= TAMIS_I_BLOCK_WORDS_MAX; words++) {
        const tamis_i_block layout = {
            .words = words, .first = 5, .bits = 64 * words - 5, .hashes = 32};
        unsigned seen[64 * TAMIS_I_BLOCK_WORDS_MAX] = {0};
        for (unsigned round = 0; round < 2000; round++) {
            const uint64_t hash = test_random(&random);
            for (unsigned i = 0; i < layout.hashes; i++) {
                const unsigned at = tamis_i_block_place(&layout, hash, i);
                assert_in_range(at, layout.first, 64 * words - 1);
                seen[at]++;
            }
        }
        /* 64000 throws: each place has its share within six deviations. */
        const double share = 64000.0 / layout.bits;
        for (unsigned at = layout.first; at < 64 * words; at++)
            assert_true((seen[at] - share) * (seen[at] - share) < 36 * share);
    }
}

static void test_block_set_agrees_and_stays_inside(void **state) {
    (void)state;
    tamis_i_kernels portable, kernels;
    tamis_i_kernels_choose(&portable, 0);
    for (unsigned set = 1; set < SETS; set++) {
        uint64_t random = test_seed();
        if (!kernels_of(set, &kernels))
            continue;
        for (unsigned round = 0; round < 3000; round++) {
            const tamis_i_block layout = some_layout(&random);
            uint64_t one[KEYS][ROOM], other[KEYS][ROOM];
            some_blocks(one, &random);
            if (round % 2 == 0)
                memset(one, 0, sizeof one);
            memcpy(other, one, sizeof one);
            for (unsigned j = 0; j < KEYS; j++) {
                const uint64_t hash = test_random(&random);
                const uint64_t load = tamis_i_block_counter(&layout, one[j] + GUARD);
                const bool changed = portable.local_set(&layout, one[j] + GUARD, hash);
                assert_int_equal(kernels.local_set(&layout, other[j] + GUARD, hash), changed);
                assert_int_equal(tamis_i_block_counter(&layout, one[j] + GUARD), load);
                assert_false(kernels.local_set(&layout, other[j] + GUARD, hash));
                for (unsigned i = 0; i < layout.hashes; i++)
                    assert_true(
                        tamis_i_bit_get(one[j] + GUARD, tamis_i_block_place(&layout, hash, i)));
            }
            assert_memory_equal(one, other, sizeof one);
        }
    }
}

static void test_block_test_agrees(void **state) {
    (void)state;
    tamis_i_kernels portable, kernels;
    tamis_i_kernels_choose(&portable, 0);
    for (unsigned set = 1; set < SETS; set++) {
        uint64_t random = test_seed(), yes = 0, all = 0;
        if (!kernels_of(set, &kernels))
            continue;
        for (unsigned round = 0; round < 3000; round++) {
            const tamis_i_block layout = some_layout(&random);
            uint64_t words[KEYS][ROOM], hashes[KEYS];
            const uint64_t *blocks[KEYS];
            bool one[KEYS], other[KEYS];
            some_blocks(words, &random);
            for (unsigned j = 0; j < KEYS; j++) {
                hashes[j] = test_random(&random);
                blocks[j] = words[j] + GUARD;
                /* One bit of some hash is cleared, each of them in turn. */
                const unsigned at = tamis_i_block_place(&layout, hashes[j], round % layout.hashes);
                words[j][GUARD + at / 64] |= (uint64_t)1 << at % 64;
                if (round % 3 == 0)
                    words[j][GUARD + at / 64] ^= (uint64_t)1 << at % 64;
            }
            portable.local_test(&layout, blocks, hashes, KEYS, one);
            kernels.local_test(&layout, blocks, hashes, KEYS, other);
            for (unsigned j = 0; j < KEYS; j++, all++) {
                assert_int_equal(one[j], other[j]);
                yes += one[j];
                if (round % 3 == 0)
                    assert_false(one[j]);
            }
        }
        assert_true(yes > all / 8); /* both answers occur */
    }
}

/* A block at the very end of its memory: nothing after it is read or written. */
static void test_block_at_the_end_of_memory(void **state) {
    (void)state;
    for (unsigned set = 0; set < SETS; set++) {
        tamis_i_kernels kernels;
        if (!kernels_of(set, &kernels))
            continue;
        for (unsigned words = 1; words <= TAMIS_I_BLOCK_WORDS_MAX; words++) {
            const tamis_i_block layout = {
                .words = words, .first = 3, .bits = 64 * words - 3, .hashes = 11};
            uint64_t *const block = calloc(words, sizeof *block);
            assert_non_null(block);
            const uint64_t *const blocks[1] = {block};
            const uint64_t hash = test_seed() * 0x9e3779b97f4a7c15u;
            bool present;
            kernels.local_test(&layout, blocks, &hash, 1, &present);
            assert_false(present);
            assert_true(kernels.local_set(&layout, block, hash));
            kernels.local_test(&layout, blocks, &hash, 1, &present);
            assert_true(present);
            free(block);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_places_cover_the_filter),
        cmocka_unit_test(test_block_set_agrees_and_stays_inside),
        cmocka_unit_test(test_block_test_agrees),
        cmocka_unit_test(test_block_at_the_end_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
