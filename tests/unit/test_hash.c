/* test_hash.c - digests of keys, and numbers drawn from them
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "hash/word.h"
#include "support.h"

/* XXH3-128 of the first 'size' bytes of a buffer, as the hash's own reference gives it: the numbers
 * below are those of libxxhash 0.8.1, and agree with the vectors published with it.  The buffer is
 * byte i = top byte of 2654435761 * 11400714785074694797^i mod 2^64. */
#define VECTOR_BYTES 2367
static const struct {
    size_t size;
    uint64_t seed, lo, hi;
} vectors[] = {
    {0, 0, 0x6001c324468d497f, 0x99aa06d3014798d8},
    {1, 0, 0xc44bdff4074eecdb, 0xa6cd5e9392000f6a},
    {6, 0, 0x3e7039bdda43cfc6, 0x082afe0b8162d12a},
    {12, 0, 0x061a192713f69ad9, 0x6e3efd8fc7802b18},
    {24, 0, 0x1e7044d28b1b901d, 0x0ce966e4678d3761},
    {48, 0, 0xf942219aed80f67b, 0xa002ac4e5478227e},
    {80, 0, 0x454ae6bf7a8a532d, 0xfdf2cefde9eaac8a},
    {195, 0, 0x3fb593c086a66075, 0x7729543a26b207ee},
    {403, 0, 0xcdeb804d65c6dea4, 0x1b6de21e332dd73d},
    {512, 0, 0x617e49599013cb6b, 0x18d2d110dcc9bca1},
    {2048, 0, 0xdd59e2c3a5f038e0, 0xf736557fd47073a5},
    {2240, 0, 0x6e73a90539cf2948, 0xccb134fbfa7ce49d},
    {2367, 0, 0xcb37aeb9e5d361ed, 0xe89c0f6ff369b427},
    {0, 0x9e3779b185ebca8d, 0xa986dfc5d7605bfe, 0x00feaa732a3ce25e},
    {1, 0x9e3779b185ebca8d, 0x032be332dd766ef8, 0x20e49abcc53b3842},
    {6, 0x9e3779b185ebca8d, 0xc5b54d56038e4e40, 0x014bd95a51ca5ddb},
    {12, 0x9e3779b185ebca8d, 0x5d92b5d7190b12d1, 0xff0d60acd02ed401},
    {24, 0x9e3779b185ebca8d, 0xc6cbf92a70680b19, 0xd7895ded1f62559d},
    {48, 0x9e3779b185ebca8d, 0x3a94d91333ed395a, 0xbc689f4c0152fb44},
    {80, 0x9e3779b185ebca8d, 0xa5eac764d1ff1166, 0x19bf02d69bc56833},
    {195, 0x9e3779b185ebca8d, 0xcf9d9ec2c8c9913f, 0x0326104c4d4849e7},
    {403, 0x9e3779b185ebca8d, 0x6259f6ecfd6443fd, 0xbed311971e0be8f2},
    {512, 0x9e3779b185ebca8d, 0x3ce457de14c27708, 0x925d06b8ec5b8040},
    {2048, 0x9e3779b185ebca8d, 0x66f81670669ababc, 0x23cc3a2e75ebaaea},
    {2240, 0x9e3779b185ebca8d, 0x757ba8487d1b5247, 0xe40842f585875ba9},
    {2367, 0x9e3779b185ebca8d, 0xd2db3415b942b42a, 0xccb7a94cca1a6496},
};

static void vector_buffer(unsigned char *bytes) {
    uint64_t word = 2654435761u;
    for (size_t i = 0; i < VECTOR_BYTES; i++) {
        bytes[i] = (unsigned char)(word >> 56);
        word *= 11400714785074694797u;
    }
}

/* XXH3 under a seed, also 0, which the interface does not take. */
static tamis_i_hasher xxh3_of(uint64_t seed, unsigned features) {
    tamis_i_hasher hasher = {.ops = tamis_i_xxh3_ops_for(features)};
    hasher.keys.seed = seed;
    hasher.keys.flip = tamis_i_hash_flip(seed);
    return hasher;
}

static void test_hash_vectors_are_those_of_xxh3(void **state) {
    (void)state;
    unsigned char bytes[VECTOR_BYTES];
    vector_buffer(bytes);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const tamis_i_hasher hasher = xxh3_of(vectors[i].seed, tamis_i_cpu_features());
        const tamis_digest d = tamis_i_hasher_bytes(&hasher, bytes, vectors[i].size);
        assert_true(d.lo == vectors[i].lo && d.hi == vectors[i].hi);
        const tamis_bytes key = {bytes, vectors[i].size};
        tamis_digest many;
        hasher.ops->many(&hasher.keys, &key, 1, &many);
        assert_true(many.lo == vectors[i].lo && many.hi == vectors[i].hi);
    }
}

static void test_hash_empty_key_may_be_null(void **state) {
    (void)state;
    const tamis_i_hasher hasher = xxh3_of(0, tamis_i_cpu_features());
    const tamis_digest d = tamis_i_hasher_bytes(&hasher, NULL, 0),
                       e = tamis_i_hasher_bytes(&hasher, "x", 0);
    assert_true(d.lo == vectors[0].lo && d.hi == vectors[0].hi);
    assert_true(e.lo == d.lo && e.hi == d.hi);
    const tamis_bytes key = {NULL, 0};
    tamis_digest many;
    hasher.ops->many(&hasher.keys, &key, 1, &many);
    assert_true(many.lo == d.lo && many.hi == d.hi);
}

static void test_hash_kernel_equals_the_portable_one(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (unsigned round = 0; round < 2000; round++) {
        const uint64_t seed = round % 3 == 0 ? 0 : test_random(&random);
        const size_t n = round % 20;
        uint64_t keys[20];
        tamis_digest one[20], other[21];
        /* Halves of all ones and all zeros, where carries are. */
        for (size_t i = 0; i < n; i++) {
            const uint64_t word = test_random(&random);
            keys[i] = i % 5 == 0 ? (word & 1) - 1 + (word >> 1 & 1) * UINT32_MAX : word;
        }
        memset(other, 0x5a, sizeof other);
        const tamis_i_hasher portable = xxh3_of(seed, 0),
                             best = xxh3_of(seed, tamis_i_cpu_features());
        portable.ops->many_words(&portable.keys, keys, n, one);
        best.ops->many_words(&best.keys, keys, n, other);
        assert_memory_equal(one, other, n * sizeof one[0]);
        assert_true(other[n].lo == 0x5a5a5a5a5a5a5a5au);
    }
}

static void test_hash_integer_equals_its_bytes(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned i = 0; i < 10000; i++) {
        const uint64_t key = test_random(&random) >> test_random_below(&random, 64);
        const uint64_t seed = test_random(&random);
        unsigned char bytes[8];
        for (unsigned j = 0; j < 8; j++)
            bytes[j] = (unsigned char)(key >> 8 * j);
        const tamis_i_hasher hasher = xxh3_of(seed, tamis_i_cpu_features());
        const tamis_digest a = tamis_i_hasher_bytes(&hasher, bytes, 8),
                           b = tamis_i_hasher_word(&hasher, key);
        tamis_digest c;
        hasher.ops->many_words(&hasher.keys, &key, 1, &c);
        assert_true(a.lo == b.lo && a.hi == b.hi);
        assert_true(a.lo == c.lo && a.hi == c.hi);
        const tamis_digest d = tamis_i_hash_word(tamis_i_hash_flip(seed), key);
        assert_true(a.lo == d.lo && a.hi == d.hi);
    }
}

/* What a hasher takes: seeds of the right length, and the hashes there are. */
static void test_hasher_checks_hash_and_seed(void **state) {
    (void)state;
    const struct {
        int hash;
        uint64_t seed, seed_high;
        tamis_status status;
    } rows[] = {{TAMIS_HASH_DEFAULT, 0, 0, TAMIS_E_ARGUMENT},
                {TAMIS_HASH_DEFAULT, 1, 0, TAMIS_OK},
                {TAMIS_HASH_AES, 0, 1, TAMIS_OK},
                {TAMIS_HASH_AES, 1, 1, TAMIS_OK},
                {TAMIS_HASH_XXH3, 1, 0, TAMIS_OK},
                {TAMIS_HASH_XXH3, 1, 1, TAMIS_E_ARGUMENT},
                {TAMIS_HASH_XXH3, 0, 0, TAMIS_E_ARGUMENT},
                {3, 1, 0, TAMIS_E_ARGUMENT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_params params;
        tamis_hasher hasher;
        tamis_params_init(&params);
        params.hash = (tamis_hash_id)rows[i].hash;
        params.seed = rows[i].seed;
        params.seed_high = rows[i].seed_high;
        assert_status(tamis_hasher_init(&hasher, &params), rows[i].status);
        params.kind = TAMIS_KIND_BLOOM;
        params.capacity = 10;
        tamis_filter *filter = NULL;
        const bool random = (rows[i].seed | rows[i].seed_high) == 0;
        assert_status(tamis_filter_create(&params, NULL, &filter),
                      random ? TAMIS_OK : rows[i].status);
        if (filter == NULL)
            continue;
        if (!random) { /* the hash of a filter is that of its parameters */
            const tamis_digest a = tamis_hash(&hasher, "key", 3),
                               b = tamis_hash(tamis_filter_hasher(filter), "key", 3);
            assert_true(a.lo == b.lo && a.hi == b.hi);
        }
        assert_ok(tamis_filter_params(filter, &params));
        assert_true(params.hash == TAMIS_HASH_XXH3 || params.hash == TAMIS_HASH_AES);
        assert_true(!random || (params.seed != 0 &&
                                (params.hash == TAMIS_HASH_AES) == (params.seed_high != 0)));
        tamis_filter_free(filter);
    }
    assert_status(tamis_hasher_init(NULL, NULL), TAMIS_E_ARGUMENT);
    assert_string_equal(tamis_hash_name(TAMIS_HASH_AES), "aes");
    assert_null(tamis_hash_name(TAMIS_HASH_DEFAULT));
}

static void test_checksum_words_equals_their_bytes(void **state) {
    (void)state;
    unsigned char bytes[2048];
    uint64_t words[256];
    unsigned char all[VECTOR_BYTES];
    vector_buffer(all);
    memcpy(bytes, all, sizeof bytes);
    for (size_t i = 0; i < 256; i++)
        words[i] = tamis_i_get_u64(bytes + 8 * i);
    assert_true(tamis_i_checksum(bytes, 0) == 0x2d06800538d394c2);
    assert_true(tamis_i_checksum(bytes, 8) == 0x24ccc9acaa9f65e4);
    assert_true(tamis_i_checksum(bytes, 248) == 0x675a39222277d0b0);
    assert_true(tamis_i_checksum(bytes, 2048) == 0xdd59e2c3a5f038e0);
    for (size_t n = 0; n <= 256; n++)
        assert_true(tamis_i_checksum(bytes, 8 * n) == tamis_i_checksum_words(words, n));
}

static void test_range_ends_are_reached(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t n = 1 + (test_random(&random) >> test_random_below(&random, 64));
        if (n == 0)
            continue;
        assert_true(tamis_i_range(0, n) == 0);
        assert_true(tamis_i_range(UINT64_MAX, n) == n - 1);
        const uint64_t word = test_random(&random);
        assert_true(tamis_i_range(word, n) < n);
        uint64_t left = word;
        assert_true(tamis_i_take(&left, n) == tamis_i_range(word, n));
        assert_true(left == word * n);
    }
}

/* Words are the digests of successive integers, as the filters get them. */
static void test_range_awkward_sizes_are_fair(void **state) {
    (void)state;
    const uint64_t sizes[] = {2, 3, 5, 7, 10, 63, 64, 65, 641, 1000, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t lo[4097] = {0}, hi[4097] = {0};
        for (uint64_t key = 0; key < 200000; key++) {
            const tamis_digest d = test_hash_u64(test_seed(), key);
            lo[tamis_i_range(d.lo, sizes[i])]++;
            hi[tamis_i_range(d.hi, sizes[i])]++;
        }
        assert_fair("range of lo", lo, (size_t)sizes[i]);
        assert_fair("range of hi", hi, (size_t)sizes[i]);
    }
}

/* Sizes for which a remainder of a short word, or a table of the next power of two, would favour some:
 * the numbers are counted by the 48th of the range that they fall in, and by their remainder mod 48. */
static void test_range_large_sizes_are_fair(void **state) {
    (void)state;
    const uint64_t sizes[] = {((uint64_t)1 << 40) - 1, ((uint64_t)3 << 38) + 1,
                              ((uint64_t)1 << 48) / 7 * 6, 1000000007};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t part[48] = {0}, rest[48] = {0};
        for (uint64_t key = 0; key < 200000; key++) {
            const uint64_t x = tamis_i_range(test_hash_u64(test_seed(), key).lo, sizes[i]);
            part[x / (sizes[i] / 48 + 1)]++;
            rest[x % 48]++;
        }
        assert_fair("part of a large range", part, 48);
        assert_fair("remainder of a large range", rest, 48);
    }
}

static void test_take_numbers_in_turn_are_fair_together(void **state) {
    (void)state;
    enum { A = 3, B = 7, C = 11 };
    uint64_t counts[A * B * C] = {0}, last[1000] = {0};
    for (uint64_t key = 0; key < 400000; key++) {
        uint64_t word = test_hash_u64(test_seed(), key).hi;
        const uint64_t a = tamis_i_take(&word, A), b = tamis_i_take(&word, B);
        const uint64_t c = tamis_i_take(&word, C);
        counts[(a * B + b) * C + c]++;
        last[tamis_i_take(&word, 1000)]++;
    }
    assert_fair("three numbers from one word", counts, A * B * C);
    assert_fair("the number after them", last, 1000);
}

/* 1/x mod 2^64 for odd x: each step doubles the number of right bits. */
static uint64_t odd_inverse(uint64_t x) {
    uint64_t y = x;
    for (unsigned i = 0; i < 6; i++)
        y *= 2 - x * y;
    return y;
}

static void test_mix_is_a_bijection(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t x = i < 4 ? (uint64_t)0 - i : test_random(&random);
        uint64_t y = tamis_i_mix(x);
        y ^= y >> 32;
        y *= odd_inverse(0x9e6c63d0876a68d9u);
        y ^= y >> 29 ^ y >> 58;
        y *= odd_inverse(0xe9846af9b1a615d5u);
        y ^= y >> 32;
        assert_true(y == x);
    }
}

/* Each of 64 x 64 pairs of bits is seen 4000 times; a fair one changes 2000 +- 32 times, and the limit is
 * at 10 times that: what is looked for is a bit that hardly moves. */
static void test_mix_every_bit_moves_every_bit(void **state) {
    (void)state;
    uint64_t random = test_seed();
    static unsigned moved[64][64];
    enum { ROUNDS = 4000 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint64_t x = test_random(&random), y = tamis_i_mix(x);
        for (unsigned in = 0; in < 64; in++) {
            const uint64_t change = y ^ tamis_i_mix(x ^ (uint64_t)1 << in);
            for (unsigned out = 0; out < 64; out++)
                moved[in][out] += change >> out & 1;
        }
    }
    unsigned least = ROUNDS, most = 0;
    for (unsigned in = 0; in < 64; in++) {
        for (unsigned out = 0; out < 64; out++) {
            least = moved[in][out] < least ? moved[in][out] : least;
            most = moved[in][out] > most ? moved[in][out] : most;
        }
    }
    printf("# a bit moves another %u to %u times of %d\n", least, most, ROUNDS);
    assert_in_range(least, 1680, 2000);
    assert_in_range(most, 2000, 2320);
}

static void test_word_streams_are_fair_and_unlike(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t single[256] = {0}, pair[1024] = {0};
        for (uint64_t key = 0; key < 100000; key++) {
            const tamis_digest d = test_hash_u64(test_seed(), key);
            const uint64_t word = tamis_i_word(d, i), next = tamis_i_word(d, i + 1);
            single[word >> 56]++;
            pair[word >> 59 | next >> 59 << 5]++;
        }
        assert_fair("a word of the stream", single, 256);
        assert_fair("two words of the stream", pair, 1024);
    }
    const tamis_digest d = {.lo = 5, .hi = 6};
    assert_true(tamis_i_word(d, 0) == 5 && tamis_i_word(d, 1) == 6);
    const tamis_digest zero = {0, 0}; /* also a caller's poor digest has a stream that moves */
    assert_true(tamis_i_word(zero, 2) != tamis_i_word(zero, 3));
}

/* Numbers with halves of all ones, and of any length, where carries are. */
static uint64_t some_factor(uint64_t *random) {
    const uint64_t word = test_random(random), how = test_random(random);
    return how % 4 == 0   ? word | UINT32_MAX
           : how % 4 == 1 ? word | (uint64_t)UINT32_MAX << 32
           : how % 4 == 2 ? UINT64_MAX - word % 3
                          : word >> how % 64;
}

static void test_products_in_parts_equal_long_ones(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t a = some_factor(&random), b = some_factor(&random);
        const tamis_i_product p = tamis_i_multiply_parts(a, b), q = tamis_i_multiply(a, b);
        assert_true(p.low == a * b && p.low == q.low && p.high == q.high);
        /* By halves of one factor: a b = (a / 2) b 2, and b more if a is odd. */
        const tamis_i_product h = tamis_i_multiply_parts(a / 2, b);
        const uint64_t twice = h.low << 1, odd = a % 2 != 0 ? b : 0;
        assert_true(p.high == (h.high << 1 | h.low >> 63) + (twice + odd < twice));
        const uint64_t c = 1 + (a >> 2), part = b % (c + 1);
        const uint64_t share = tamis_i_share(b, part, c);
        /* share c <= b part < (share + 1) c, with sums of 128 bits */
        const tamis_i_product all = tamis_i_multiply_parts(b, part),
                              used = tamis_i_multiply_parts(share, c);
        const uint64_t rest = all.low - used.low;
        assert_true(all.high - used.high - (all.low < used.low) == 0 && rest < c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_vectors_are_those_of_xxh3),
        cmocka_unit_test(test_hash_empty_key_may_be_null),
        cmocka_unit_test(test_hash_kernel_equals_the_portable_one),
        cmocka_unit_test(test_hash_integer_equals_its_bytes),
        cmocka_unit_test(test_hasher_checks_hash_and_seed),
        cmocka_unit_test(test_checksum_words_equals_their_bytes),
        cmocka_unit_test(test_products_in_parts_equal_long_ones),
        cmocka_unit_test(test_range_ends_are_reached),
        cmocka_unit_test(test_range_awkward_sizes_are_fair),
        cmocka_unit_test(test_range_large_sizes_are_fair),
        cmocka_unit_test(test_take_numbers_in_turn_are_fair_together),
        cmocka_unit_test(test_mix_is_a_bijection),
        cmocka_unit_test(test_mix_every_bit_moves_every_bit),
        cmocka_unit_test(test_word_streams_are_fair_and_unlike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
