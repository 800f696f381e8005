/* test_adversary.c - a stranger who chooses keys, and does not know the seed
 *
 * Against XXH3, which is for keys that one trusts, and against the hash for others (hash/aes_hash.h).  XXH3
 * must fail where it is known to: that shows that the test can.
 *
 * Two digests collide if one of their halves of 64 bits is equal; by chance that happens to no pair in 10^9.
 * With TAMIS_TEST_LONG=1 in the environment it is 10^9 pairs for each of the six classes of lengths, in some
 * twenty minutes; a larger number there is the number of pairs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "base/cpu.h"
#include "hash/hash.h"
#include "hash/hasher.h"
#include "support.h"

#define LENGTH_MAX 4096u

/* ---- the hashes ---- */

/* Under a random seed. */
static void hasher_seed(tamis_i_hasher *h, bool xxh3, uint64_t *random) {
    const uint64_t seed = test_random(random) | 1, seed_high = test_random(random);
    tamis_i_hasher_init(h, xxh3 ? TAMIS_HASH_XXH3 : TAMIS_HASH_AES, seed, xxh3 ? 0 : seed_high,
                        tamis_i_cpu_features());
}

static tamis_digest digest_of(const tamis_i_hasher *h, const unsigned char *key, size_t size) {
    return tamis_i_hasher_bytes(h, key, size);
}

static bool collide(tamis_digest a, tamis_digest b) {
    return a.lo == b.lo || a.hi == b.hi;
}

static bool is_long(void) {
    return getenv("TAMIS_TEST_LONG") != NULL;
}

/* ---- the pairs of keys of 900 bytes ---- */

#define PAIR  900u
#define PAIRS 600u

/* 900 zeros with a word at 768; the other key differs in bit 63 of the word at 0 and of that at 768.  XXH3
 * adds low x high half of data ^ key, and the two changes cancel if the low halves are equal: if the word is
 * the one that makes the two keys equal, which differ by a constant, whatever the seed. */
static bool pair_collides(const tamis_i_hasher *h, uint32_t word) {
    unsigned char a[PAIR] = {0}, b[PAIR];
    tamis_i_put_u32(a + 768, word);
    memcpy(b, a, PAIR);
    b[7] ^= 0x80;
    b[775] ^= 0x80;
    const tamis_digest x = digest_of(h, a, PAIR), y = digest_of(h, b, PAIR);
    return x.lo == y.lo && x.hi == y.hi;
}

static uint64_t pair_seeds(bool xxh3, uint64_t trials) {
    uint64_t random = test_seed(), hits = 0;
    tamis_i_hasher h;
    for (uint64_t i = 0; i < trials; i++) {
        hasher_seed(&h, xxh3, &random);
        hits += pair_collides(&h, 0x0a0a0410);
    }
    return hits;
}

static void test_pair_of_long_keys_collides_for_xxh3_alone(void **state) {
    (void)state;
    const uint64_t trials = 40000;
    assert_rate("XXH3: seeds for which a pair collides", pair_seeds(true, trials), trials, 1.0 / 65,
                0.05);
    const uint64_t hits = pair_seeds(false, trials);
    printf("# AES: seeds for which the pair collides: %llu of %llu\n", (unsigned long long)hits,
           (unsigned long long)trials);
    assert_int_equal(hits, 0);
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_number_down(const void *a, const void *b) {
    return by_number(b, a);
}

/* The differences that x ^ (x + d) has most often, d being that of XXH3's words 12 and 0 of its secret. */
static void likely_words(uint32_t words[PAIRS]) {
    enum { SAMPLES = 1 << 18 };
    uint64_t *const all = malloc(SAMPLES * sizeof *all);
    assert_non_null(all);
    uint64_t random = test_seed() + 1;
    for (size_t i = 0; i < SAMPLES; i++) {
        const uint32_t x = (uint32_t)test_random(&random);
        all[i] = x ^ (x + (0x3f76faa8u - 0x396cfeb8u));
    }
    qsort(all, SAMPLES, sizeof *all, by_number);
    size_t distinct = 0;
    for (size_t i = 0, j; i < SAMPLES; i = j) {
        for (j = i; j < SAMPLES && all[j] == all[i]; j++) {
        }
        all[distinct++] = (uint64_t)(j - i) << 32 | all[i];
    }
    qsort(all, distinct, sizeof *all, by_number_down);
    assert_true(distinct >= PAIRS);
    for (size_t i = 0; i < PAIRS; i++)
        words[i] = (uint32_t)all[i];
    free(all);
}

static void test_list_of_pairs_breaks_most_seeds_of_xxh3_alone(void **state) {
    (void)state;
    uint32_t words[PAIRS];
    likely_words(words);
    for (unsigned xxh3 = 0; xxh3 < 2; xxh3++) {
        const unsigned seeds = 200;
        unsigned broken = 0;
        uint64_t random = test_seed() + 2;
        tamis_i_hasher h;
        for (unsigned i = 0; i < seeds; i++) {
            hasher_seed(&h, xxh3 != 0, &random);
            bool hit = false;
            for (size_t j = 0; j < PAIRS && !hit; j++)
                hit = pair_collides(&h, words[j]);
            broken += hit;
        }
        printf("# %s: seeds with a collision in the list of %u pairs: %u of %u\n",
               xxh3 != 0 ? "XXH3" : "AES", PAIRS, broken, seeds);
        if (xxh3 != 0)
            assert_in_range(broken, seeds / 2, seeds);
        else
            assert_int_equal(broken, 0);
    }
}

/* ---- differential pairs for every class of lengths ---- */

/* What the second key differs in.  Never nothing: who gets two equal keys takes another. */
static void change(unsigned char *key, size_t n, uint64_t *random) {
    const uint64_t how = test_random(random) % 8, word = test_random(random);
    const size_t words = n / 8, i = (size_t)(word % n), j = (size_t)(word >> 32) % n;
    const size_t a = words == 0 ? 0 : i % words, b = words == 0 ? 0 : j % words;
    if (how == 0 || (words < 2 && how < 6)) { /* a bit */
        key[i] ^= (unsigned char)(1u << (word >> 61));
    } else if (how == 1) { /* two bits anywhere */
        key[i] ^= (unsigned char)(1u << (word >> 61));
        key[j] ^= (unsigned char)(1u << (word >> 58 & 7));
    } else if (how == 2) { /* the top bits of two words */
        key[8 * a + 7] ^= 0x80;
        key[8 * b + 7] ^= 0x80;
    } else if (how == 3) { /* one word up, another down by the same */
        tamis_i_put_u64(key + 8 * a, tamis_i_get_u64(key + 8 * a) + (word >> 40));
        tamis_i_put_u64(key + 8 * b, tamis_i_get_u64(key + 8 * b) - (word >> 40));
    } else if (how == 4) { /* two words change places */
        unsigned char kept[8];
        memcpy(kept, key + 8 * a, 8);
        memmove(key + 8 * a, key + 8 * b, 8);
        memcpy(key + 8 * b, kept, 8);
    } else if (how == 5) { /* a power of two added to a word */
        tamis_i_put_u64(key + 8 * a, tamis_i_get_u64(key + 8 * a) + ((uint64_t)1 << word % 64));
    } else if (how == 6) { /* a half word turned over */
        for (size_t k = 0; k < 4 && i + k < n; k++)
            key[i + k] = (unsigned char)~key[i + k];
    } else { /* the last byte */
        key[n - 1]++;
    }
}

static void base_key(unsigned char *key, size_t n, uint64_t *random) {
    const uint64_t how = test_random(random) % 4;
    memset(key, how == 1 ? 0xff : 0, n);
    if (how == 2)
        key[test_random(random) % n] = (unsigned char)test_random(random);
    for (size_t i = 0; how == 3 && i < n; i += 8) {
        const uint64_t word = test_random(random);
        memcpy(key + i, &word, n - i < 8 ? n - i : 8);
    }
}

typedef struct length_class {
    const char *name;
    size_t least, most;
} length_class;

static uint64_t colliding_pairs(const length_class *c, uint64_t pairs) {
    uint64_t random = test_seed() + c->most, hits = 0;
    unsigned char a[LENGTH_MAX], b[LENGTH_MAX];
    tamis_i_hasher h;
    hasher_seed(&h, false, &random);
    for (uint64_t i = 0; i < pairs;) {
        const size_t n = c->least + (size_t)test_random_below(&random, c->most - c->least + 1);
        if (i % 16 == 0) {
            base_key(a, c->most, &random);
            if (i % 1024 == 0)
                hasher_seed(&h, false, &random);
        }
        /* One in eight pairs differs in length only, or begins with a run of another length. */
        const tamis_digest x = digest_of(&h, a, n);
        memcpy(b, a, c->most);
        size_t m = n;
        if (test_random(&random) % 8 == 0)
            m = c->least + (size_t)test_random_below(&random, c->most - c->least + 1);
        else
            change(b, n, &random);
        if (m == n && memcmp(a, b, n) == 0)
            continue;
        hits += collide(x, digest_of(&h, b, m));
        i++;
    }
    return hits;
}

static void test_pairs_of_every_class_of_lengths_do_not_collide(void **state) {
    (void)state;
    static const length_class classes[] = {
        {"1 to 15", 1, 15},     {"16", 16, 16},           {"17 to 32", 17, 32},
        {"33 to 128", 33, 128}, {"129 to 256", 129, 256}, {"257 to 1100", 257, 1100},
    };
    const uint64_t asked = is_long() ? strtoull(getenv("TAMIS_TEST_LONG"), NULL, 10) : 300000;
    const uint64_t pairs = asked > 1 ? asked : 1000000000u;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const uint64_t hits = colliding_pairs(&classes[i], pairs);
        printf("# %s bytes: %llu of %llu pairs collide\n", classes[i].name,
               (unsigned long long)hits, (unsigned long long)pairs);
        assert_int_equal(hits, 0);
    }
}

/* ---- sets of structured keys ---- */

/* Key number i of a family, below 2^22, all different; its size. */
static size_t family_key(unsigned family, uint64_t i, unsigned char *key) {
    memset(key, 0, 256);
    switch (family) {
    case 0: /* integers one after the other */
        tamis_i_put_u64(key, i);
        return 8;
    case 1: /* at the top */
        tamis_i_put_u64(key, i << 40);
        return 8;
    case 2: /* a byte in each half of 64 zeros */
        key[i % 32] = (unsigned char)(1 + i / 32 % 255);
        key[32 + i / (32u * 255) % 32] = (unsigned char)(1 + i / (32u * 255 * 32));
        return 64;
    case 3: /* a common beginning */
        memset(key, 'a', 200);
        tamis_i_put_u64(key + 192, i);
        return 200;
    case 4: /* a common end */
        memset(key, 'a', 200);
        tamis_i_put_u64(key, i);
        return 200;
    case 5: /* runs of zeros, of all lengths up to 200, and a number after them */
        tamis_i_put_u32(key + i % 200, (uint32_t)(1 + i / 200));
        return i % 200 + 4;
    case 6: /* 24 bytes, the number twice */
        tamis_i_put_u64(key, i);
        tamis_i_put_u64(key + 16, i);
        return 24;
    default: /* one number up, one down */
        tamis_i_put_u64(key, i);
        tamis_i_put_u64(key + 32, ~i);
        return 48;
    }
}
#define FAMILIES 8u

static void test_sets_of_structured_keys_have_no_collision(void **state) {
    (void)state;
    const size_t n = (size_t)1 << (is_long() ? 22 : 15);
    uint64_t *const lo = malloc(2 * n * sizeof *lo), *const hi = lo + n;
    assert_non_null(lo);
    uint64_t random = test_seed() + 3;
    tamis_i_hasher h;
    for (unsigned family = 0; family < FAMILIES; family++) {
        hasher_seed(&h, false, &random);
        for (size_t i = 0; i < n; i++) {
            unsigned char key[256];
            const size_t size = family_key(family, i, key);
            const tamis_digest d = digest_of(&h, key, size);
            lo[i] = d.lo;
            hi[i] = d.hi;
        }
        qsort(lo, n, sizeof *lo, by_number);
        qsort(hi, n, sizeof *hi, by_number);
        for (size_t i = 1; i < n; i++)
            assert_true(lo[i] != lo[i - 1] && hi[i] != hi[i - 1]);
    }
    free(lo);
}

/* ---- every bit of the digest ---- */

typedef struct bit_counts {
    uint32_t ones[128];
} bit_counts;

static void count_bits(bit_counts *counts, tamis_digest d) {
    for (unsigned i = 0; i < 64; i++) {
        counts->ones[i] += d.lo >> i & 1;
        counts->ones[64 + i] += d.hi >> i & 1;
    }
}

/* 301 lengths x 128 bits, twice: some 5 of 77,000 counts are beyond 4 standard errors by chance.  With a fair
 * hash their number is Poisson with mean 4.9, and 20 or more have odds of 10^-6.  The largest of all is
 * beyond 5.8 with odds of 0.0005 (76,928 x 6.6e-9). */
static void test_bits_of_all_lengths_are_fair_and_move(void **state) {
    (void)state;
    enum { SAMPLES = 1024 };
    const double se = sqrt(SAMPLES / 4.0);
    double worst = 0;
    unsigned beyond = 0;
    uint64_t random = test_seed() + 4;
    for (size_t n = 0; n <= 300; n++) {
        bit_counts bias = {{0}}, moved = {{0}};
        unsigned char key[304] = {0};
        tamis_i_hasher h;
        for (uint64_t i = 0; i < SAMPLES; i++) {
            if (n < 3 || i % 32 == 0) /* short keys would come again under one seed */
                hasher_seed(&h, false, &random);
            for (size_t j = 0; j < n && j < 8; j++) /* a number, then zeros */
                key[j] = (unsigned char)(i >> 8 * j);
            const tamis_digest d = digest_of(&h, key, n);
            count_bits(&bias, d);
            if (n > 0) {
                const uint64_t bit = test_random_below(&random, 8 * n);
                key[bit / 8] ^= (unsigned char)(1u << bit % 8);
                const tamis_digest e = digest_of(&h, key, n);
                key[bit / 8] ^= (unsigned char)(1u << bit % 8);
                count_bits(&moved, (tamis_digest){.lo = d.lo ^ e.lo, .hi = d.hi ^ e.hi});
            }
        }
        for (unsigned i = 0; i < (n > 0 ? 256u : 128u); i++) {
            const double ones = i < 128 ? bias.ones[i] : moved.ones[i - 128];
            const double off = fabs(ones - SAMPLES / 2.0) / se;
            worst = off > worst ? off : worst;
            beyond += off > 4;
        }
    }
    printf("# bits: the farthest is %.2f standard errors off, %u are beyond 4\n", worst, beyond);
    assert_true(worst < 5.8);
    assert_in_range(beyond, 0, 19);
}

/* ---- what filters draw from a digest ---- */

/* Chi-square of equal chances.  Each of the 56 tests has odds of 1.8e-5 to fail by chance (4.13 standard
 * deviations, after Wilson and Hilferty), all of them together 0.001. */
static void assert_draw(const char *what, unsigned family, const uint64_t *counts, size_t n,
                        double total) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double off = (double)counts[i] - total / (double)n;
        sum += off * off * (double)n / total;
    }
    const double spread = 2 / (9 * (double)(n - 1));
    const double limit = (double)(n - 1) * pow(1 - spread + 4.13 * sqrt(spread), 3);
    if (!(sum <= limit))
        fail_msg("family %u, %s: chi-square %.1f of %zu counts is over %.1f", family, what, sum, n,
                 limit);
}

static void test_draws_from_structured_keys_are_fair(void **state) {
    (void)state;
    enum { KEYS = 100000 };
    uint64_t random = test_seed() + 5;
    tamis_i_hasher h;
    for (unsigned family = 0; family < FAMILIES; family++) {
        uint64_t line[641] = {0}, home[60] = {0}, print[256] = {0}, choice[3][97] = {{0}},
                 both[32 * 32] = {0};
        hasher_seed(&h, false, &random);
        for (uint64_t i = 0; i < KEYS; i++) {
            unsigned char key[256];
            const size_t size = family_key(family, i, key);
            const tamis_digest d = digest_of(&h, key, size);
            uint64_t left = d.lo;
            line[tamis_i_take(&left, 641)]++;
            home[tamis_i_take(&left, 60)]++;
            print[d.hi >> 56]++;
            both[(d.lo >> 59) << 5 | d.hi >> 59]++;
            for (unsigned j = 0; j < 3; j++)
                choice[j][tamis_i_range(tamis_i_word(d, 2 + j), 97)]++;
        }
        assert_draw("line", family, line, 641, KEYS);
        assert_draw("home", family, home, 60, KEYS);
        assert_draw("fingerprint", family, print, 256, KEYS);
        assert_draw("line and fingerprint", family, both, 32 * 32, KEYS);
        for (unsigned j = 0; j < 3; j++)
            assert_draw("choice", family, choice[j], 97, KEYS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair_of_long_keys_collides_for_xxh3_alone),
        cmocka_unit_test(test_list_of_pairs_breaks_most_seeds_of_xxh3_alone),
        cmocka_unit_test(test_pairs_of_every_class_of_lengths_do_not_collide),
        cmocka_unit_test(test_sets_of_structured_keys_have_no_collision),
        cmocka_unit_test(test_bits_of_all_lengths_are_fair_and_move),
        cmocka_unit_test(test_draws_from_structured_keys_are_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
