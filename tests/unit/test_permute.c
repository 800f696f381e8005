/* test_permute.c - permutations of [0, size)
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/permute.h"
#include "support.h"

static void test_permute_size_out_of_range_is_refused(void **state) {
    (void)state;
    tamis_i_permutation p, before;
    memset(&p, 0x5a, sizeof p);
    before = p;
    assert_status(tamis_i_permute_init(&p, 0, 1, 0), TAMIS_E_ARGUMENT);
    assert_status(tamis_i_permute_init(&p, TAMIS_I_PERMUTE_MAX + 1, 1, 0), TAMIS_E_ARGUMENT);
    assert_status(tamis_i_permute_init(&p, UINT64_MAX, 1, 0), TAMIS_E_ARGUMENT);
    assert_memory_equal(&p, &before, sizeof p);
    assert_ok(tamis_i_permute_init(&p, 1, 1, 0));
    assert_ok(tamis_i_permute_init(&p, TAMIS_I_PERMUTE_MAX, 1, 0));
}

static void test_permute_small_sizes_are_bijective(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (uint64_t size = 1; size <= 300; size++) {
        for (unsigned which = 0; which < 8; which++) {
            tamis_i_permutation p;
            assert_ok(tamis_i_permute_init(&p, size, seed, which));
            bool hit[300] = {false};
            for (uint64_t x = 0; x < size; x++) {
                const uint64_t y = tamis_i_permute(&p, x);
                assert_true(y < size && !hit[y]);
                hit[y] = true;
                assert_true(tamis_i_permute_back(&p, y) == x);
            }
        }
    }
}

/* a x + c mod size in 128 bits, against the reduction without division. */
static uint64_t image(const tamis_i_permutation *p, uint64_t x) {
    return (uint64_t)(((tamis_i_u128)p->factor * x + p->offset) % p->size);
}

static void check_size(uint64_t size, uint64_t seed, unsigned which, uint64_t *random) {
    tamis_i_permutation p;
    assert_ok(tamis_i_permute_init(&p, size, seed, which));
    assert_true(p.size == size && p.offset < size);
    for (unsigned i = 0; i < 40; i++) {
        const uint64_t edges[] = {0,        1,        size / 2, size - 1,
                                  size - 2, p.offset, p.factor, p.inverse};
        const uint64_t x = (i < 8 ? edges[i] : test_random(random)) % size;
        const uint64_t y = tamis_i_permute(&p, x);
        assert_true(y < size);
        assert_true(y == image(&p, x));
        assert_true(tamis_i_permute_back(&p, y) == x);
        assert_true(tamis_i_permute(&p, tamis_i_permute_back(&p, x)) == x);
    }
}

static void test_permute_powers_of_two_invert(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned power = 0; power <= 62; power++) {
        for (unsigned which = 0; which < 4; which++) {
            const uint64_t size = (uint64_t)1 << power;
            check_size(size, test_random(&random), which, &random);
            if (size > 2)
                check_size(size - 1, test_random(&random), which, &random);
            if (power < 62)
                check_size(size + 1, test_random(&random), which, &random);
        }
    }
}

static void test_permute_random_sizes_invert(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t below = TAMIS_I_PERMUTE_MAX >> test_random_below(&random, 62);
        check_size(1 + test_random_below(&random, below), test_random(&random),
                   (unsigned)test_random_below(&random, 16), &random);
    }
}

/* Sizes with many small prime factors leave few multipliers: the search for one must still end. */
static void test_permute_smooth_sizes_invert(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const uint64_t primorial = 614889782588491410u; /* 2 * 3 * 5 * ... * 47 */
    const uint64_t sizes[] = {primorial, primorial * 7, 6469693230u, 223092870u * 4u, 30030u, 210u};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned which = 0; which < 200; which++)
            check_size(sizes[i], test_random(&random), which, &random);
}

static void test_permute_same_numbers_give_the_same(void **state) {
    (void)state;
    tamis_i_permutation a, b;
    assert_ok(tamis_i_permute_init(&a, 1000003, 7, 2));
    assert_ok(tamis_i_permute_init(&b, 1000003, 7, 2));
    assert_memory_equal(&a, &b, sizeof a);
    assert_ok(tamis_i_permute_init(&b, 1000003, 7, 3));
    assert_memory_not_equal(&a, &b, sizeof a);
    assert_ok(tamis_i_permute_init(&b, 1000003, 8, 2));
    assert_memory_not_equal(&a, &b, sizeof a);
}

/* Over many seeds the image of any one number is uniform, and so is that of a neighbour given it. */
static void test_permute_images_over_seeds_are_fair(void **state) {
    (void)state;
    enum { SIZE = 31 };
    uint64_t image_of_3[SIZE] = {0}, step[SIZE] = {0};
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        tamis_i_permutation p;
        assert_ok(tamis_i_permute_init(&p, SIZE, seed, (unsigned)(seed % 3)));
        const uint64_t y = tamis_i_permute(&p, 3), z = tamis_i_permute(&p, 4);
        image_of_3[y]++;
        step[(z + SIZE - y) % SIZE]++;
    }
    assert_fair("image of one number", image_of_3, SIZE);
    assert_int_equal(step[0], 0);
    assert_fair("distance of two images", step + 1, SIZE - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permute_size_out_of_range_is_refused),
        cmocka_unit_test(test_permute_small_sizes_are_bijective),
        cmocka_unit_test(test_permute_powers_of_two_invert),
        cmocka_unit_test(test_permute_random_sizes_invert),
        cmocka_unit_test(test_permute_smooth_sizes_invert),
        cmocka_unit_test(test_permute_same_numbers_give_the_same),
        cmocka_unit_test(test_permute_images_over_seeds_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
