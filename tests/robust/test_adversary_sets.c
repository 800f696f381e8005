/* test_adversary_sets.c - a stranger who chooses keys, against sets and tables
 *
 * He does not know the seed.  He uses the calls that anyone has, and keys that collide under XXH3 more often
 * than they should.  With XXH3 sets and tables must fail, which shows that the test can; with the default
 * hash they must not.
 *
 * Where the keys come from.  XXH3 reads keys over 240 bytes in stripes of 64 bytes, of 8 lanes each, and adds
 * to the sum of a lane the low times the high half of data ^ secret.  Stripe s uses word s + l of the secret
 * in lane l, until 16 stripes are read; then it begins again.  To turn over bit 63 of the data adds or takes
 * 2^31 times the low half.  Done in two stripes of a lane, where the low halves are equal and one bit 63 is
 * set and the other is not, it changes nothing: a switch.  Words of the secret are constants plus or minus
 * the seed, so that one ^ the other, which is what has to be guessed, is one of few values for most seeds.
 * A guess that is right serves in every lane and every 1024 bytes: k switches make 2^k keys of one digest.
 *
 * With TAMIS_TEST_LONG=1 in the environment there are more seeds: a minute.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "base/cpu.h"
#include "hash/hasher.h"
#include "support.h"
#include "tamis/table.h"

static const char *const hash_names[] = {"AES", "XXH3"};

static tamis_hash_id hash_of(unsigned xxh3) {
    return xxh3 != 0 ? TAMIS_HASH_XXH3 : TAMIS_HASH_AES;
}

static bool is_long(void) {
    return getenv("TAMIS_TEST_LONG") != NULL;
}

/* ---- guesses ---- */

/* The first words of XXH3's secret. */
#define WORDS 14u
static const uint64_t secret[WORDS] = {0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de,
                                       0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82,
                                       0x8e2443f7744608b8, 0x4c263a81e69035e0, 0xcb00c391bb52283c,
                                       0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
                                       0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9};

/* That the low halves of words 'first' and 'second' of the secret differ by 'low', and their bits 63 by
 * 'top'. */
typedef struct guess {
    uint32_t low;
    unsigned char first, second, top;
    unsigned count; /* seeds of a sample for which it is right */
} guess;

static uint64_t secret_under(unsigned word, uint64_t seed) {
    return word % 2 == 0 ? secret[word] + seed : secret[word] - seed;
}

static int by_guess(const void *a, const void *b) {
    const guess *const x = a, *const y = b;
    return x->low != y->low ? (x->low > y->low) - (x->low < y->low) : x->top - y->top;
}

static int by_count_down(const void *a, const void *b) {
    const guess *const x = a, *const y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : by_guess(a, b);
}

/* The likeliest n guesses about these pairs of words. */
static void likely_guesses(const unsigned char (*pairs)[2], size_t n_pairs, guess *best, size_t n) {
    const size_t samples = (size_t)1 << 16;
    guess *const all = malloc(n_pairs * samples * sizeof *all);
    assert_non_null(all);
    uint64_t random = test_seed() + 11;
    size_t distinct = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        guess *const some = all + distinct;
        for (size_t j = 0; j < samples; j++) {
            const uint64_t seed = test_random(&random),
                           difference =
                               secret_under(pairs[i][0], seed) ^ secret_under(pairs[i][1], seed);
            some[j] = (guess){.low = (uint32_t)difference,
                              .first = pairs[i][0],
                              .second = pairs[i][1],
                              .top = (unsigned char)(difference >> 63),
                              .count = 1};
        }
        qsort(some, samples, sizeof *some, by_guess);
        size_t kept = 0;
        for (size_t j = 1; j < samples; j++) {
            if (by_guess(&some[kept], &some[j]) == 0)
                some[kept].count++;
            else
                some[++kept] = some[j];
        }
        distinct += kept + 1;
    }
    qsort(all, distinct, sizeof *all, by_count_down);
    assert_true(distinct >= n);
    memcpy(best, all, n * sizeof *best);
    free(all);
}

/* ---- keys ---- */

/* Where a switch is in a key: the second of its two places, that of the first is 'apart' bytes before. */
static size_t switch_place(const guess *g, size_t block, unsigned lane) {
    return 1024 * block + 64 * (size_t)(g->second - lane) + 8 * lane;
}

static size_t switch_apart(const guess *g) {
    return 64 * (size_t)(g->second - g->first);
}

/* Make a key ready for one switch; then turn it. */
static void switch_put(unsigned char *key, const guess *g, size_t block, unsigned lane) {
    tamis_i_put_u64(key + switch_place(g, block, lane), (uint64_t)g->low | (uint64_t)!g->top << 63);
}

static void switch_turn(unsigned char *key, const guess *g, size_t block, unsigned lane) {
    key[switch_place(g, block, lane) + 7] ^= 0x80;
    key[switch_place(g, block, lane) - switch_apart(g) + 7] ^= 0x80;
}

/* Two keys of 900 bytes that collide if the guess is right. */
#define PAIR 900u
static void pair_make(const guess *g, unsigned char *a, unsigned char *b) {
    memset(a, 0, PAIR);
    switch_put(a, g, 0, 0);
    memcpy(b, a, PAIR);
    switch_turn(b, g, 0, 0);
}

/* Key number i of those with a switch in lane 0 of each block of 1024 bytes, below 2^blocks: all have one
 * digest if the guess is right. */
static void many_make(const guess *g, size_t blocks, unsigned i, unsigned char *key, size_t size) {
    memset(key, 0, size);
    for (size_t block = 0; block < blocks; block++) {
        switch_put(key, g, block, 0);
        if ((i >> block & 1) != 0)
            switch_turn(key, g, block, 0);
    }
}

/* ---- a list against sets ---- */

#define PAIRS 600u
/* Of the 91 pairs of words, those with the likeliest differences. */
static const unsigned char word_pairs[][2] = {{0, 12}, {0, 11}, {1, 12}, {2, 7},
                                              {1, 3},  {6, 8},  {0, 6},  {4, 12}};
#define N_WORD_PAIRS (sizeof word_pairs / sizeof word_pairs[0])

static const tamis_kind set_kinds[] = {TAMIS_KIND_STEADY, TAMIS_KIND_RANK};

/* Parameters of a set for PAIRS keys with an error rate of 1e-9. */
static tamis_params set_params(tamis_kind kind, unsigned xxh3) {
    tamis_need need = test_need(kind, PAIRS, 1e-9);
    need.hash = hash_of(xxh3);
    return test_planned(&need).params;
}

static tamis_filter *set_make(tamis_params *params, uint64_t *random) {
    tamis_filter *set;
    params->seed = test_random(random);
    params->seed_high = params->hash == TAMIS_HASH_AES ? test_random(random) : 0;
    assert_ok(tamis_filter_create(params, NULL, &set));
    return set;
}

/* With an error rate of 1e-9, a wrong answer of the default hash in any of the sets has odds of 1.2e-4, in
 * the long run 1.2e-3. */
static void test_list_of_keys_makes_sets_of_xxh3_alone_answer_wrong(void **state) {
    (void)state;
    static guess guesses[PAIRS];
    likely_guesses(word_pairs, N_WORD_PAIRS, guesses, PAIRS);
    const unsigned seeds = is_long() ? 1000 : 100;
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned xxh3 = 0; xxh3 < 2; xxh3++) {
            uint64_t random = test_seed() + 12, wrong = 0;
            tamis_params params = set_params(set_kinds[k], xxh3);
            unsigned broken = 0;
            for (unsigned s = 0; s < seeds; s++) {
                tamis_filter *const set = set_make(&params, &random);
                unsigned char a[PAIR], b[PAIR];
                for (size_t i = 0; i < PAIRS; i++) {
                    pair_make(&guesses[i], a, b);
                    assert_ok(tamis_filter_insert(set, a, PAIR, NULL));
                }
                unsigned here = 0;
                for (size_t i = 0; i < PAIRS; i++) {
                    pair_make(&guesses[i], a, b);
                    here += tamis_filter_contains(set, b, PAIR);
                }
                wrong += here;
                broken += here != 0;
                tamis_filter_free(set);
            }
            printf("# %s, %s: wrong answers in %u of %u sets, %.2e of all\n", hash_names[xxh3],
                   tamis_kind_name(set_kinds[k]), broken, seeds,
                   (double)wrong / (double)seeds / PAIRS);
            if (xxh3 != 0)
                assert_in_range(broken, seeds / 2, seeds);
            else
                assert_int_equal(wrong, 0);
        }
    }
}

/* ---- insert one, ask for the other ---- */

#define CALLS_MAX 1000u
#define BLOCKS    8u
#define MANY      (BLOCKS * 1024 + 100)

/* The guess that a set has confirmed, or NULL; '*calls' is what it took. */
static const guess *search(tamis_filter *set, const guess *guesses, unsigned *calls) {
    unsigned char a[PAIR], b[PAIR];
    for (*calls = 0; *calls < CALLS_MAX; guesses++) {
        pair_make(guesses, a, b);
        assert_ok(tamis_filter_insert(set, a, PAIR, NULL));
        *calls += 2;
        if (tamis_filter_contains(set, b, PAIR))
            return guesses;
    }
    return NULL;
}

/* Of the others with the same digest, if the guess is right, how many are present when one is inserted? */
static unsigned others_present(tamis_filter *set, const guess *g) {
    static unsigned char key[MANY];
    unsigned present = 0;
    many_make(g, BLOCKS, 0, key, MANY);
    assert_ok(tamis_filter_insert(set, key, MANY, NULL));
    for (unsigned i = 1; i < 1u << BLOCKS; i++) {
        many_make(g, BLOCKS, i, key, MANY);
        present += tamis_filter_contains(set, key, MANY);
    }
    return present;
}

static void test_adaptive_search_finds_collisions_of_xxh3_alone(void **state) {
    (void)state;
    static guess guesses[CALLS_MAX / 2];
    likely_guesses(word_pairs, N_WORD_PAIRS, guesses, CALLS_MAX / 2);
    const unsigned sets = is_long() ? 1000 : 40, others = (1u << BLOCKS) - 1;
    for (unsigned xxh3 = 0; xxh3 < 2; xxh3++) {
        uint64_t random = test_seed() + 13;
        tamis_params params = set_params(TAMIS_KIND_STEADY, xxh3);
        unsigned found = 0, least = UINT32_MAX, most = 0;
        for (unsigned s = 0; s < sets; s++) {
            tamis_filter *const set = set_make(&params, &random);
            unsigned calls;
            const guess *const g = search(set, guesses, &calls);
            if (g != NULL) {
                found++;
                least = calls < least ? calls : least;
                most = calls > most ? calls : most;
                assert_int_equal(others_present(set, g), others);
            } else {
                assert_int_equal(others_present(set, &guesses[0]), 0);
            }
            tamis_filter_free(set);
        }
        if (found != 0)
            printf("# %s: found in %u of %u sets after %u to %u calls; then one key inserted makes "
                   "%u others present\n",
                   hash_names[xxh3], found, sets, least, most, others);
        else
            printf("# %s: found in none of %u sets in %u calls\n", hash_names[xxh3], sets,
                   CALLS_MAX);
        if (xxh3 != 0)
            assert_in_range(found, sets / 2, sets);
        else
            assert_int_equal(found, 0);
    }
}

/* ---- tables ---- */

/* Keys of 3,972 bytes have switches in lane 0 of four blocks: families of 16 keys with one digest, if a guess
 * is right.  A family takes a slot of each sub-table, and the rest goes to the stash, of 32.  The bytes that
 * no switch uses tell families of one guess apart. */
#define LONG_KEY   3972u
#define GUESSES    16u
#define FAMILIES   6u /* of each guess */
#define FAMILY     16u
#define TABLE_LOAD (GUESSES * FAMILIES * FAMILY) /* all keys: 24 % of the capacity */
#define TABLE_FOR  (TABLE_LOAD * 100 / 24)

static void family_key(const guess *g, unsigned family, unsigned i, unsigned char *key) {
    many_make(g, 4, i, key, LONG_KEY);
    key[100] = (unsigned char)family;
}

/* How many keys the table takes, and whether it takes all. */
static uint64_t fill_table(tamis_table_params *params, const guess *guesses, bool *all) {
    tamis_table *table;
    static unsigned char key[LONG_KEY];
    assert_ok(tamis_table_create(params, NULL, &table));
    tamis_status status = TAMIS_OK;
    for (unsigned i = 0; i < TABLE_LOAD && status == TAMIS_OK; i++) {
        family_key(&guesses[i / (FAMILIES * FAMILY)], i / FAMILY % FAMILIES, i % FAMILY, key);
        status = tamis_table_put(table, key, LONG_KEY, NULL, 0, NULL);
    }
    *all = status == TAMIS_OK;
    if (!*all)
        assert_status(status, TAMIS_E_FULL);
    const uint64_t count = tamis_table_count(table);
    assert_ok(tamis_table_verify(table, NULL, NULL));
    assert_ok(tamis_table_close(table));
    return count;
}

/* Is one of the guesses right, as two digests tell? */
static bool guessed(const tamis_table_params *params, const guess *guesses) {
    tamis_i_hasher h;
    tamis_i_hasher_init(&h, params->hash, params->seed, params->seed_high, tamis_i_cpu_features());
    unsigned char a[PAIR], b[PAIR];
    for (unsigned i = 0; i < GUESSES; i++) {
        pair_make(&guesses[i], a, b);
        const tamis_digest x = tamis_i_hasher_bytes(&h, a, PAIR),
                           y = tamis_i_hasher_bytes(&h, b, PAIR);
        if (x.lo == y.lo && x.hi == y.hi)
            return true;
    }
    return false;
}

/* The odds of 1e-9 are those of one item in the stash, and it takes 33 to make a table full.  Seeds are
 * counted by digests, which is quick; a table is filled for some of those with a collision, and some of
 * those without. */
static void test_tables_of_xxh3_alone_are_full_early(void **state) {
    (void)state;
    static guess guesses[GUESSES];
    likely_guesses(word_pairs, N_WORD_PAIRS, guesses, GUESSES);
    tamis_table_need need;
    tamis_table_need_init(&need);
    need.n = TABLE_FOR;
    need.odds = 1e-9;
    tamis_table_plan plan;
    tamis_table_plan_init(&plan);
    assert_ok(tamis_table_plan_make(&need, &plan));
    plan.params.key_max = LONG_KEY;
    const unsigned seeds = is_long() ? 5000 : 500, tables = is_long() ? 20 : 3;
    for (unsigned xxh3 = 0; xxh3 < 2; xxh3++) {
        uint64_t random = test_seed() + 14;
        unsigned broken = 0, full = 0, whole = 0;
        double lowest = 1, highest = 0;
        plan.params.hash = hash_of(xxh3);
        for (unsigned s = 0; s < seeds; s++) {
            plan.params.seed = test_random(&random);
            plan.params.seed_high = xxh3 != 0 ? 0 : test_random(&random);
            const bool right = guessed(&plan.params, guesses);
            broken += right;
            if (right ? full == tables : whole == tables)
                continue;
            bool all;
            const double load = (double)fill_table(&plan.params, guesses, &all) / TABLE_FOR;
            assert_int_equal(all, !right);
            full += right;
            whole += !right;
            if (right) {
                lowest = fmin(lowest, load);
                highest = fmax(highest, load);
            }
        }
        printf("# %s: %u of %u seeds with a collision in the list of %u keys\n", hash_names[xxh3],
               broken, seeds, TABLE_LOAD);
        if (full != 0)
            printf("# %s: %u tables for %u items, of %u with such a seed, are full at a load of "
                   "%.1f to %.1f %%\n",
                   hash_names[xxh3], full, TABLE_FOR, full, 100 * lowest, 100 * highest);
        printf("# %s: %u of %u others take all\n", hash_names[xxh3], whole, whole);
        if (xxh3 != 0) {
            assert_int_equal(full, tables);
            assert_in_range(broken, seeds / 20, seeds / 2);
        } else {
            assert_int_equal(broken, 0);
        }
    }
}

/* ---- a pair of 32 bytes ---- */

/* Of 17 to 32 bytes XXH3 multiplies, for each 16, (v ^ A) by (w ^ B), where A is a word of the secret plus
 * the seed and B one minus the seed, and uses v + w besides.  If the two factors differ in one bit, to turn
 * over that bit in both exchanges them: the product is the same.  If v and w differ there too, so is the sum.
 * So A ^ B is what one has to guess, and A + B = C is a constant.  Bit by bit, with the carry of A + B:
 * where C and the carry differ, A and B do, in two ways, and the carry stays; else they are equal, and
 * what they are is the next carry.  The likeliest A ^ B has the most bits set. */
static uint64_t likeliest_difference(uint64_t sum) {
    struct {
        uint64_t bits;
        int ones; /* -1: not to be had */
    } best[2] = {{0, 0}, {0, -1}};
    for (unsigned i = 0; i < 64; i++) {
        const unsigned bit = sum >> i & 1; /* with a carry of 'bit' the two are equal */
        const unsigned other = 1 - bit;
        if (best[other].ones >= 0) {
            best[other].bits |= (uint64_t)1 << i;
            best[other].ones++;
        }
        if (best[bit].ones >= 0 && best[bit].ones > best[other].ones)
            best[other] = best[bit];
    }
    return best[best[1].ones > best[0].ones].bits;
}

static void test_pair_of_32_bytes_collides_for_xxh3_alone(void **state) {
    (void)state;
    const uint64_t difference = likeliest_difference(secret[2] + secret[3]);
    assert_int_equal(difference, 0xfaff3bbb6dedeaae); /* 18 zeros: one seed in 2^18 */
    const uint64_t bit = 1;
    assert_int_equal(difference & bit, 0);
    unsigned char a[32] = {0}, b[32] = {0};
    tamis_i_put_u64(a + 24, difference ^ bit);
    tamis_i_put_u64(b + 16, bit);
    tamis_i_put_u64(b + 24, difference);
    for (unsigned xxh3 = 0; xxh3 < 2; xxh3++) {
        const uint64_t seeds = (uint64_t)1 << (xxh3 != 0 || is_long() ? 22 : 15);
        uint64_t random = test_seed() + 15, hits = 0;
        tamis_i_hasher h;
        for (uint64_t i = 0; i < seeds; i++) {
            const uint64_t seed = test_random(&random);
            tamis_i_hasher_init(&h, hash_of(xxh3), seed, xxh3 != 0 ? 0 : test_random(&random),
                                tamis_i_cpu_features());
            const tamis_digest x = tamis_i_hasher_bytes(&h, a, 32),
                               y = tamis_i_hasher_bytes(&h, b, 32);
            hits += x.lo == y.lo && x.hi == y.hi;
        }
        printf("# %s: a pair of 32 bytes collides for %llu of %llu seeds\n", hash_names[xxh3],
               (unsigned long long)hits, (unsigned long long)seeds);
        if (xxh3 != 0)
            assert_rate("XXH3: seeds for which the pair of 32 bytes collides", hits, seeds,
                        ldexp(1, -18), 0);
        else
            assert_int_equal(hits, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_of_keys_makes_sets_of_xxh3_alone_answer_wrong),
        cmocka_unit_test(test_adaptive_search_finds_collisions_of_xxh3_alone),
        cmocka_unit_test(test_tables_of_xxh3_alone_are_full_early),
        cmocka_unit_test(test_pair_of_32_bytes_collides_for_xxh3_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
