/* test_small.c - small sets: form, limits, sorting, bytes from anywhere
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "tamis/small.h"

#include <math.h>

enum { ROOM = 1 << 19 };

static const size_t counts[] = {0,  1,  2,   3,   4,   5,   7,    8,    10,    23,    24,   25,
                                36, 80, 127, 255, 256, 257, 1000, 5000, 10000, 40000, 65535};
static const double bits_grid[] = {2, 2.1, 3, 4.5, 8, 9.7, 10, 10.4, 12, 20, 33.3, 48};
#define N_COUNTS (sizeof counts / sizeof *counts)
#define N_BITS   (sizeof bits_grid / sizeof *bits_grid)

static tamis_digest digests[65536], as_given[65536];

static void draw(uint64_t *random, size_t n) {
    for (size_t i = 0; i < n; i++) {
        digests[i].lo = test_random(random);
        digests[i].hi = test_random(random);
    }
}

/* A block of exactly 'size' bytes, so that a sanitizer sees a read past it. */
static unsigned char *block(size_t size) {
    unsigned char *const bytes = malloc(size == 0 ? 1 : size);
    assert_non_null(bytes);
    return bytes;
}

static void assert_holds(const unsigned char *bytes, size_t size, const tamis_digest *keys,
                         size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_true(tamis_small_contains(bytes, size, keys[i]));
}

static void test_small_every_size_holds_its_keys(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (size_t i = 0; i < N_COUNTS; i++)
        for (size_t k = 0; k < N_BITS; k++) {
            const size_t n = counts[i], size = tamis_small_size(n, bits_grid[k]);
            assert_int_equal(size, 3 + (size_t)ceil((double)n * bits_grid[k] / 8));
            draw(&random, n);
            memcpy(as_given, digests, n * sizeof *digests);
            unsigned char *const bytes = block(size);
            size_t n_told = 1;
            double fpr = 2;
            assert_ok(tamis_small_build(digests, n, bytes, size));
            assert_holds(bytes, size, as_given, n);
            assert_ok(tamis_small_check(bytes, size, &n_told, &fpr));
            assert_true(n_told == n && fpr >= 0 && fpr < 1);
            if (n == 0)
                assert_false(tamis_small_contains(bytes, size, as_given[0]));
            free(bytes);
        }
}

/* Nothing is lost, doubled or changed by sorting, and the order of what is given does not matter. */
static void test_small_digests_are_only_moved(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    unsigned char *const bytes = block(ROOM), *const again = block(ROOM);
    for (size_t i = 1; i < N_COUNTS; i++) {
        const size_t n = counts[i], size = tamis_small_size(n, 10);
        draw(&random, n);
        uint64_t sum = 0, sum_after = 0;
        for (size_t k = 0; k < n; k++)
            sum += digests[k].lo * (digests[k].hi | 1);
        assert_ok(tamis_small_build(digests, n, bytes, size));
        for (size_t k = 0; k < n; k++) {
            sum_after += digests[k].lo * (digests[k].hi | 1);
            assert_true(k == 0 || digests[k - 1].hi <= digests[k].hi);
        }
        assert_true(sum == sum_after);
        for (size_t k = n; k > 1; k--) { /* any other order */
            const size_t other = (size_t)test_random_below(&random, k);
            const tamis_digest moved = digests[k - 1];
            digests[k - 1] = digests[other];
            digests[other] = moved;
        }
        assert_ok(tamis_small_build(digests, n, again, size));
        assert_memory_equal(bytes, again, size);
    }
    free(bytes);
    free(again);
}

/* Digests that nobody would call random: equal ones, runs, falling ones, and those that share a bucket of the
 * sort but for one, which insertion alone would take a second for. */
static void test_small_digests_that_are_hard_to_sort(void **state) {
    (void)state;
    enum { N = 65535 };
    unsigned char *const bytes = block(ROOM);
    for (unsigned way = 0; way < 5; way++) {
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t hi[] = {7, i, UINT64_MAX - i, (N - i) << 20, i % 3 << 62 | (N - i)};
            digests[i] = (tamis_digest){.lo = i, .hi = hi[way]};
        }
        memcpy(as_given, digests, sizeof digests);
        const size_t size = tamis_small_size(N, 10);
        assert_ok(tamis_small_build(digests, N, bytes, size));
        assert_holds(bytes, size, as_given, N);
        assert_ok(tamis_small_check(bytes, size, NULL, NULL));
    }
    free(bytes);
}

/* Keys that are there twice: stored once, at the price of their room. */
static void test_small_doubles_are_stored_once(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    const size_t size = tamis_small_size(200, 12);
    unsigned char bytes[400];
    double once, twice;
    draw(&random, 200);
    assert_ok(tamis_small_build(digests, 200, bytes, size));
    assert_ok(tamis_small_check(bytes, size, NULL, &once));
    memcpy(digests + 100, digests, 100 * sizeof *digests);
    memcpy(as_given, digests, 200 * sizeof *digests);
    assert_ok(tamis_small_build(digests, 200, bytes, size));
    assert_holds(bytes, size, as_given, 200);
    assert_ok(tamis_small_check(bytes, size, NULL, &twice));
    assert_true(twice < 0.52 * once && twice > 0.48 * once);
}

static void test_small_any_address(void **state) {
    (void)state;
    uint64_t random = test_seed() + 3;
    const size_t size = tamis_small_size(100, 9.3);
    unsigned char room[512], first[256];
    draw(&random, 100);
    assert_ok(tamis_small_build(digests, 100, first, size));
    for (size_t at = 0; at < 16; at++) {
        assert_ok(tamis_small_build(digests, 100, room + at, size));
        assert_memory_equal(room + at, first, size);
        assert_holds(room + at, size, digests, 100);
    }
}

static void test_small_limits(void **state) {
    (void)state;
    unsigned char bytes[64] = {1};
    tamis_digest few[2] = {{1, 9}, {2, 3}};
    size_t n = 77;
    double fpr = 5;
    assert_int_equal(tamis_small_size(65536, 10), 0);
    assert_int_equal(tamis_small_size(10, 1.99), 0);
    assert_int_equal(tamis_small_size(10, 48.01), 0);
    assert_int_equal(tamis_small_size(10, NAN), 0);
    assert_int_equal(tamis_small_size(0, 10), 3);
    assert_int_equal(tamis_small_size(36, 10), 48);
    assert_status(tamis_small_build(few, 65536, bytes, 64), TAMIS_E_TOO_LARGE);
    assert_status(tamis_small_build(few, 2, NULL, 6), TAMIS_E_ARGUMENT);
    assert_status(tamis_small_build(NULL, 2, bytes, 6), TAMIS_E_ARGUMENT);
    assert_status(tamis_small_build(few, 2, bytes, 3), TAMIS_E_ARGUMENT);
    assert_status(tamis_small_build(few, 2, bytes, 16), TAMIS_E_ARGUMENT);
    assert_status(tamis_small_build(few, 0, bytes, 4), TAMIS_E_ARGUMENT);
    assert_true(bytes[0] == 1 && few[0].hi == 9); /* nothing was written or moved */
    assert_ok(tamis_small_build(few, 2, bytes, 4));
    assert_ok(tamis_small_build(few, 2, bytes, 15));
    assert_status(tamis_small_check(NULL, 3, &n, &fpr), TAMIS_E_ARGUMENT);
    assert_status(tamis_small_check(bytes, 2, &n, &fpr), TAMIS_E_FORMAT);
    assert_true(n == 77 && fpr == 5);
    assert_true(tamis_small_contains(NULL, 0, few[0]));
    assert_ok(tamis_small_build(NULL, 0, bytes, 3));
    assert_false(tamis_small_contains(bytes, 3, few[0]));
    assert_true(tamis_small_fpr(0, 3) == 0 && tamis_small_fpr(1, 3) == 1);
}

/* The fewest bytes: one less errs more.  More bytes never err more. */
static void test_small_size_for_is_the_fewest(void **state) {
    (void)state;
    const double rates[] = {0.5, 0.1, 0.01, 0.0084, 0.001, 1e-6, 1e-9};
    for (size_t i = 1; i < N_COUNTS; i++) {
        const size_t n = counts[i];
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
            const size_t size = tamis_small_size_for(n, rates[k]);
            assert_true(size > 0 && tamis_small_fpr(n, size) <= rates[k]);
            assert_true(size == tamis_small_size(n, 2) || tamis_small_fpr(n, size - 1) > rates[k]);
        }
        double last = 1;
        const size_t step = n > 1000 ? n / 500 : 1;
        for (size_t size = tamis_small_size(n, 2); size <= tamis_small_size(n, 48); size += step) {
            assert_true(tamis_small_fpr(n, size) <= last);
            last = tamis_small_fpr(n, size);
        }
    }
    assert_int_equal(tamis_small_size_for(10, 1e-20), 0);
    assert_int_equal(tamis_small_size_for(10, 0), 0);
    assert_int_equal(tamis_small_size_for(10, NAN), 0);
    assert_int_equal(tamis_small_size_for(65536, 0.1), 0);
    assert_int_equal(tamis_small_size_for(0, 0.1), 3);
}

/* Every other size, every other first byte and every other n is no set, or one in 240 is taken for one. */
static void test_small_other_sizes_are_present(void **state) {
    (void)state;
    uint64_t random = test_seed() + 4;
    uint64_t absent = 0, asked = 0;
    for (unsigned round = 0; round < 200; round++) {
        const size_t n = 1 + (size_t)test_random_below(&random, 90), size = tamis_small_size(n, 10);
        draw(&random, n + 1);
        unsigned char *const bytes = block(size);
        assert_ok(tamis_small_build(digests, n, bytes, size));
        for (size_t cut = 0; cut < size; cut++) { /* each in a block of its own size */
            unsigned char *const shorter = block(cut);
            memcpy(shorter, bytes, cut);
            absent += !tamis_small_contains(shorter, cut, digests[n]);
            asked++;
            free(shorter);
        }
        for (unsigned first = 0; first < 256; first++) {
            const unsigned char right = bytes[0];
            bytes[0] = (unsigned char)first;
            if (bytes[0] != right)
                assert_true(tamis_small_contains(bytes, size, digests[n]));
            bytes[0] = right;
        }
        free(bytes);
    }
    printf("# cut off: %llu of %llu answered absent\n", (unsigned long long)absent,
           (unsigned long long)asked);
    assert_true(absent < asked / 100);
}

/* Any bytes with a right head: answers, whatever they are, and no read outside (a sanitizer sees it). */
static void test_small_hostile_bytes_are_safe(void **state) {
    (void)state;
    uint64_t random = test_seed() + 5;
    for (unsigned round = 0; round < 20000; round++) {
        const size_t n = 1 + (size_t)test_random_below(&random, round % 10 == 0 ? 3000 : 70);
        const size_t size = tamis_small_size(n, 2 + (double)test_random_below(&random, 200) / 10);
        unsigned char *const bytes = block(size);
        draw(&random, n < 8 ? 8 : n);
        assert_ok(tamis_small_build(digests, n, bytes, size));
        const unsigned way = round % 4;
        for (size_t i = 3; i < size; i++)
            bytes[i] = way == 0   ? 0xff
                       : way == 1 ? (unsigned char)test_random(&random)
                       : way == 2
                           ? (unsigned char)(bytes[i] ^ (test_random_below(&random, 20) == 0))
                           : 0;
        unsigned present = 0;
        for (size_t i = 0; i < 8; i++)
            present += tamis_small_contains(bytes, size, digests[i]);
        assert_true(way != 0 || present == 8);
        (void)!tamis_small_check(bytes, size, NULL, NULL);
        free(bytes);
    }
}

/* Rules of the form, each broken by one bit: check sees all but bits of lows that stay in order. */
static void test_small_check_finds_what_breaks_the_form(void **state) {
    (void)state;
    uint64_t random = test_seed() + 6;
    unsigned found = 0, all = 0;
    for (unsigned round = 0; round < 20; round++) {
        const size_t n = 300, size = tamis_small_size(n, 10);
        unsigned char bytes[512];
        draw(&random, n);
        assert_ok(tamis_small_build(digests, n, bytes, size));
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            const bool good = tamis_small_check(bytes, size, NULL, NULL) == TAMIS_OK;
            if (bit < 8 * 5) /* head and directory */
                assert_false(good);
            found += !good;
            all++;
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    printf("# single bits: %u of %u break the form\n", found, all);
    assert_true(found > all / 10);
}

/* The bytes for ever, as docs/format.md describes them. */
static void test_small_vector(void **state) {
    (void)state;
    tamis_digest keys[5];
    unsigned char bytes[10];
    for (uint64_t i = 0; i < 5; i++)
        keys[i] = (tamis_digest){.lo = i, .hi = i * 0x3333333333333333u};
    const unsigned char expected[10] = {0x1b, 0x05, 0x00, 0x55, 0x01, 0x60, 0x86, 0xd9, 0xcc, 0xcc};
    assert_ok(tamis_small_build(keys, 5, bytes, sizeof bytes));
    for (size_t i = 0; i < sizeof bytes; i++)
        printf("%s%02x", i == 0 ? "# " : " ", bytes[i]);
    putchar('\n');
    assert_memory_equal(bytes, expected, sizeof bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_every_size_holds_its_keys),
        cmocka_unit_test(test_small_digests_are_only_moved),
        cmocka_unit_test(test_small_digests_that_are_hard_to_sort),
        cmocka_unit_test(test_small_doubles_are_stored_once),
        cmocka_unit_test(test_small_any_address),
        cmocka_unit_test(test_small_limits),
        cmocka_unit_test(test_small_size_for_is_the_fewest),
        cmocka_unit_test(test_small_other_sizes_are_present),
        cmocka_unit_test(test_small_hostile_bytes_are_safe),
        cmocka_unit_test(test_small_check_finds_what_breaks_the_form),
        cmocka_unit_test(test_small_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
