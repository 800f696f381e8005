/* test_counted_block.c - small Bloom filters in blocks: every engine equals the portable one
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "bits/counted_block.h"
#include "bits/field.h"
#include "bits/words.h"
#include "support.h"

enum { SETS = 16, KEYS = 19, GUARD = 2, ROOM = GUARD + TAMIS_I_COUNTED_BLOCK_WORDS + GUARD };

static bool ops_of(unsigned set, tamis_i_counted_block_ops *ops) {
    if ((set & ~tamis_i_cpu_features()) != 0)
        return false;
    *ops = *tamis_i_counted_block_ops_for(set);
    return true;
}

static tamis_i_counted_block some_layout(uint64_t *random) {
    tamis_i_counted_block layout;
    layout.words = 1 + (unsigned)test_random_below(random, TAMIS_I_COUNTED_BLOCK_WORDS);
    layout.first = 1 + (unsigned)test_random_below(random, 12);
    layout.bits = 64 * layout.words - layout.first;
    layout.hashes = 1 + (unsigned)test_random_below(random, TAMIS_I_COUNTED_BLOCK_PLACES);
    layout.limit = test_random_below(random, ((uint64_t)1 << (32 + layout.first)) - 1);
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
    for (unsigned words = 1; words <= TAMIS_I_COUNTED_BLOCK_WORDS; words++) {
        const tamis_i_counted_block layout = {
            .words = words, .first = 5, .bits = 64 * words - 5, .hashes = 32};
        unsigned seen[64 * TAMIS_I_COUNTED_BLOCK_WORDS] = {0};
        for (unsigned round = 0; round < 2000; round++) {
            const uint64_t hash = test_random(&random);
            for (unsigned i = 0; i < layout.hashes; i++) {
                const unsigned at = tamis_i_counted_block_place(&layout, hash, i);
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
    tamis_i_counted_block_ops portable, ops;
    portable = *tamis_i_counted_block_ops_for(0);
    for (unsigned set = 1; set < SETS; set++) {
        uint64_t random = test_seed();
        if (!ops_of(set, &ops))
            continue;
        for (unsigned round = 0; round < 3000; round++) {
            const tamis_i_counted_block layout = some_layout(&random);
            uint64_t one[KEYS][ROOM], other[KEYS][ROOM];
            some_blocks(one, &random);
            if (round % 2 == 0)
                memset(one, 0, sizeof one);
            memcpy(other, one, sizeof one);
            for (unsigned j = 0; j < KEYS; j++) {
                const uint64_t hash = test_random(&random);
                const uint64_t load = tamis_i_counted_block_counter(&layout, one[j] + GUARD);
                const bool changed = portable.set(&layout, one[j] + GUARD, hash);
                assert_int_equal(ops.set(&layout, other[j] + GUARD, hash), changed);
                assert_int_equal(tamis_i_counted_block_counter(&layout, one[j] + GUARD), load);
                assert_false(ops.set(&layout, other[j] + GUARD, hash));
                for (unsigned i = 0; i < layout.hashes; i++)
                    assert_true(tamis_i_bit_get(one[j] + GUARD,
                                                tamis_i_counted_block_place(&layout, hash, i)));
            }
            assert_memory_equal(one, other, sizeof one);
        }
    }
}

static void test_block_test_agrees(void **state) {
    (void)state;
    tamis_i_counted_block_ops portable, ops;
    portable = *tamis_i_counted_block_ops_for(0);
    for (unsigned set = 1; set < SETS; set++) {
        uint64_t random = test_seed(), yes = 0, all = 0;
        if (!ops_of(set, &ops))
            continue;
        for (unsigned round = 0; round < 3000; round++) {
            const tamis_i_counted_block layout = some_layout(&random);
            uint64_t words[KEYS][ROOM], hashes[KEYS];
            const uint64_t *blocks[KEYS];
            some_blocks(words, &random);
            for (unsigned j = 0; j < KEYS; j++) {
                hashes[j] = test_random(&random);
                blocks[j] = words[j] + GUARD;
                /* One bit of some hash is cleared, each of them in turn. */
                const unsigned at =
                    tamis_i_counted_block_place(&layout, hashes[j], round % layout.hashes);
                words[j][GUARD + at / 64] |= (uint64_t)1 << at % 64;
                if (round % 3 == 0)
                    words[j][GUARD + at / 64] ^= (uint64_t)1 << at % 64;
            }
            for (unsigned j = 0; j < KEYS; j++, all++) {
                const bool one = portable.test(&layout, blocks[j], hashes[j]);
                assert_int_equal(ops.test(&layout, blocks[j], hashes[j]), one);
                yes += one;
                if (round % 3 == 0)
                    assert_false(one);
            }
        }
        assert_true(yes > all / 8); /* both answers occur */
    }
}

/* Probes for keys of which some share a block, and copies of them for blocks elsewhere. */
static void some_probes(tamis_i_probe *one, uint64_t (*in_one)[ROOM], tamis_i_probe *other,
                        uint64_t (*in_other)[ROOM], uint64_t *random) {
    for (unsigned j = 0; j < KEYS; j++) {
        const uint64_t block = test_random_below(random, KEYS);
        one[j] =
            (tamis_i_probe){.at = {in_one[block] + GUARD},
                            .word = {[TAMIS_I_COUNTED_BLOCK_HASH] = test_random(random),
                                     [TAMIS_I_COUNTED_BLOCK_COIN] = test_random(random) >> 32}};
        other[j] = one[j];
        other[j].at[0] = in_other[block] + GUARD;
    }
}

static void test_block_look_agrees(void **state) {
    (void)state;
    tamis_i_counted_block_ops portable, ops;
    portable = *tamis_i_counted_block_ops_for(0);
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t random = test_seed(), yes = 0, refused = 0;
        if (!ops_of(set, &ops))
            continue;
        for (unsigned round = 0; round < 3000; round++) {
            const tamis_i_counted_block layout = some_layout(&random);
            uint64_t words[KEYS][ROOM];
            tamis_i_probe probes[KEYS], copies[KEYS];
            some_blocks(words, &random);
            some_probes(probes, words, copies, words, &random);
            const size_t n = (size_t)test_random_below(&random, KEYS + 1);
            uint64_t expected = 0;
            for (size_t j = 0; j < n; j++) {
                const uint64_t *const block = probes[j].at[0], *const word = probes[j].word;
                const bool here = portable.test(&layout, block, word[TAMIS_I_COUNTED_BLOCK_HASH]);
                const bool full =
                    !tamis_i_counted_block_takes(&layout, block, word[TAMIS_I_COUNTED_BLOCK_COIN]);
                expected |= (uint64_t)here << j | (uint64_t)full << (32 + j);
                yes += here;
                refused += full;
            }
            assert_int_equal(ops.look(&layout, probes, n, copies), expected);
        }
        assert_true(yes > 1000 && refused > 1000);
    }
}

/* What local_fill should do, key by key. */
static uint64_t filled(const tamis_i_counted_block_ops *portable,
                       const tamis_i_counted_block *layout, const tamis_i_probe *probes, size_t n,
                       bool stop) {
    uint64_t done = 0;
    for (size_t j = 0; j < n; j++) {
        uint64_t *const block = probes[j].at[0];
        const uint64_t *const word = probes[j].word, hash = word[TAMIS_I_COUNTED_BLOCK_HASH];
        if (tamis_i_counted_block_takes(layout, block, word[TAMIS_I_COUNTED_BLOCK_COIN])) {
            const bool fresh = portable->set(layout, block, hash);
            block[0] += fresh;
            done |= (uint64_t)fresh << j;
        } else if (stop) {
            return done | (uint64_t)1 << (32 + j);
        } else {
            done |= (uint64_t)!portable->test(layout, block, hash) << (32 + j);
        }
    }
    return done;
}

/* Keys are added one after the other, as far as they are not refused; the load counts those that were new.
 * What was found out about the places is used again for some of the keys, in another order. */
static void test_block_fill_agrees(void **state) {
    (void)state;
    tamis_i_counted_block_ops portable, ops;
    portable = *tamis_i_counted_block_ops_for(0);
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t random = test_seed(), in = 0, old = 0, on = 0;
        if (!ops_of(set, &ops))
            continue;
        for (unsigned round = 0; round < 6000; round++) {
            const tamis_i_counted_block layout = some_layout(&random);
            uint64_t one[KEYS][ROOM], other[KEYS][ROOM];
            tamis_i_probe probes[KEYS], copies[KEYS];
            tamis_digest digests[TAMIS_I_GROUP];
            tamis_i_counted_block_places places;
            some_blocks(one, &random);
            for (unsigned j = 0; j < KEYS; j++) /* loads that leave room, bits that may be set */
                one[j][GUARD] &= round % 2 == 0 ? 0 : UINT64_MAX << layout.first;
            memcpy(other, one, sizeof one);
            some_probes(probes, one, copies, other, &random);
            const size_t n = (size_t)test_random_below(&random, TAMIS_I_GROUP + 1);
            const bool stop = round % 4 == 3;
            for (size_t j = 0; j < n; j++) {
                digests[j] = (tamis_digest){.lo = test_random(&random),
                                            .hi = probes[j].word[TAMIS_I_COUNTED_BLOCK_HASH]};
                copies[j].word[TAMIS_I_COUNTED_BLOCK_HASH] = 0; /* local_places sees to it */
            }
            ops.prepare(&layout, digests, n, copies, &places);
            const uint64_t expected = filled(&portable, &layout, probes, n, stop);
            assert_int_equal(ops.fill(&layout, copies, n, stop), expected);
            assert_memory_equal(one, other, sizeof one);
            for (size_t j = 0; j < n / 2; j++) {
                probes[j] = probes[n - 1 - j];
                copies[j] = copies[n - 1 - j];
            }
            assert_int_equal(ops.fill(&layout, copies, n / 2, false),
                             filled(&portable, &layout, probes, n / 2, false));
            assert_memory_equal(one, other, sizeof one);
            const uint64_t sums[2] = {expected & UINT32_MAX, expected >> 32};
            in += tamis_i_words_ones(&sums[0], 1);
            on += tamis_i_words_ones(&sums[1], 1);
            old += expected == 0 && n > 0;
        }
        assert_true(in > 1000 && on > 1000 && old > 100);
    }
}

/* A block at the very end of its memory: nothing after it is read or written. */
static void test_block_at_the_end_of_memory(void **state) {
    (void)state;
    for (unsigned set = 0; set < SETS; set++) {
        tamis_i_counted_block_ops ops;
        if (!ops_of(set, &ops))
            continue;
        for (unsigned words = 1; words <= TAMIS_I_COUNTED_BLOCK_WORDS; words++) {
            const tamis_i_counted_block layout = {.words = words,
                                                  .first = 3,
                                                  .bits = 64 * words - 3,
                                                  .hashes = 11,
                                                  .limit = (uint64_t)1 << 32};
            uint64_t *const block = calloc(words, sizeof *block);
            assert_non_null(block);
            const uint64_t hash = test_seed() * 0x9e3779b97f4a7c15u;
            tamis_i_probe probe = {.at = {block}, .word = {[TAMIS_I_COUNTED_BLOCK_HASH] = hash}};
            const tamis_digest digest = {.hi = hash};
            tamis_i_counted_block_places places;
            assert_false(ops.test(&layout, block, hash));
            assert_true(ops.set(&layout, block, hash));
            assert_true(ops.test(&layout, block, hash));
            assert_int_equal(ops.look(&layout, &probe, 1, &probe), 1);
            ops.prepare(&layout, &digest, 1, &probe, &places);
            assert_int_equal(ops.fill(&layout, &probe, 1, false), 0);
            block[0] = 1; /* full */
            assert_int_equal(ops.fill(&layout, &probe, 1, false), (uint64_t)1 << 32);
            assert_int_equal(block[0], 1);
            free(block);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_places_cover_the_filter),
        cmocka_unit_test(test_block_set_agrees_and_stays_inside),
        cmocka_unit_test(test_block_test_agrees),
        cmocka_unit_test(test_block_look_agrees),
        cmocka_unit_test(test_block_fill_agrees),
        cmocka_unit_test(test_block_at_the_end_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
