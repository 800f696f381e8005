/* test_permute.c - permutations of fingerprints
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/permute.h"
#include "support.h"

static void test_permute_number_of_buckets_out_of_range_is_refused(void **state) {
    (void)state;
    tamis_i_permutations p, before;
    memset(&p, 0x5a, sizeof p);
    before = p;
    assert_status(tamis_i_permute_init(&p, 0, 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_i_permute_init(&p, TAMIS_I_PERMUTE_BUCKETS_MAX + 1, 1), TAMIS_E_ARGUMENT);
    assert_status(tamis_i_permute_init(&p, UINT64_MAX, 1), TAMIS_E_ARGUMENT);
    assert_memory_equal(&p, &before, sizeof p);
    assert_ok(tamis_i_permute_init(&p, 1, 1));
    assert_ok(tamis_i_permute_init(&p, TAMIS_I_PERMUTE_BUCKETS_MAX, 1));
}

/* Each remainder permutes the buckets; the first permutation leaves them. */
static void test_permute_is_bijective_for_small_numbers(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (uint64_t buckets = 1; buckets <= 100; buckets++) {
        tamis_i_permutations p;
        assert_ok(tamis_i_permute_init(&p, buckets, seed + buckets));
        for (uint64_t r = 0; r < 8; r++) {
            const uint64_t mixed = tamis_i_permute_mix(&p, r);
            for (unsigned i = 0; i < TAMIS_I_PERMUTATIONS_MAX; i++) {
                bool hit[100] = {false};
                for (uint64_t b = 0; b < buckets; b++) {
                    const uint64_t to = tamis_i_permute(&p, mixed, i, b);
                    assert_true(to < buckets && !hit[to]);
                    assert_true(i != 0 || to == b);
                    hit[to] = true;
                    assert_true(tamis_i_permute_back(&p, mixed, i, to) == b);
                }
            }
        }
    }
}

static void test_permute_any_number_of_buckets_inverts(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 20000; round++) {
        const uint64_t below = TAMIS_I_PERMUTE_BUCKETS_MAX >> test_random_below(&random, 62);
        const uint64_t buckets = 1 + test_random_below(&random, below);
        tamis_i_permutations p;
        assert_ok(tamis_i_permute_init(&p, buckets, test_random(&random)));
        const uint64_t mixed = tamis_i_permute_mix(&p, test_random(&random) >> 32);
        const uint64_t edges[] = {0, buckets - 1, buckets / 2, test_random_below(&random, buckets)};
        for (unsigned i = 0; i < TAMIS_I_PERMUTATIONS_MAX; i++)
            for (unsigned j = 0; j < 4; j++) {
                const uint64_t to = tamis_i_permute(&p, mixed, i, edges[j]);
                assert_true(to < buckets);
                assert_true(tamis_i_permute_back(&p, mixed, i, to) == edges[j]);
            }
    }
}

/* Distances of different subtables are independent, over the remainders of one seed. */
static void test_permute_distances_are_fair_in_pairs(void **state) {
    (void)state;
    enum { BUCKETS = 31 };
    tamis_i_permutations p;
    assert_ok(tamis_i_permute_init(&p, BUCKETS, test_seed()));
    for (unsigned i = 1; i < TAMIS_I_PERMUTATIONS_MAX; i++) {
        for (unsigned j = 1; j < i; j++) {
            uint64_t pairs[BUCKETS * BUCKETS] = {0};
            for (uint64_t r = 0; r < 100000; r++) {
                const uint64_t mixed = tamis_i_permute_mix(&p, r);
                pairs[tamis_i_permute_distance(&p, mixed, i) * BUCKETS +
                      tamis_i_permute_distance(&p, mixed, j)]++;
            }
            assert_fair("pairs of distances", pairs, (size_t)BUCKETS * BUCKETS);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permute_number_of_buckets_out_of_range_is_refused),
        cmocka_unit_test(test_permute_is_bijective_for_small_numbers),
        cmocka_unit_test(test_permute_any_number_of_buckets_inverts),
        cmocka_unit_test(test_permute_distances_are_fair_in_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
