/* test_stash.c - the stash against an exact multiset
 *
 * SPDX-License-Identifier: MIT
 */
#include "stash_model.h"

enum { DIGESTS = 48 };

/* What the stash should hold: copies of each of a fixed set of digests. */
typedef struct model {
    tamis_digest digest[DIGESTS];
    uint64_t copies[DIGESTS];
} model;

/* Entries that the stash needs for it. */
static uint64_t model_entries(const model *m) {
    uint64_t entries = 0;
    for (unsigned i = 0; i < DIGESTS; i++)
        entries += (m->copies[i] + COPIES_IN_A_SLOT - 1) / COPIES_IN_A_SLOT;
    return entries;
}

/* Digests that are as unkind as an attacker could make them: many of one slot, many that agree in one
 * half, and the digest that is all zero. */
static void model_init(model *m, uint64_t *random) {
    memset(m, 0, sizeof *m);
    const uint64_t home = test_random(random), lo = test_random(random), hi = test_random(random);
    for (unsigned i = 0; i < DIGESTS; i++) {
        const uint64_t r = test_random(random);
        m->digest[i] = i % 4 == 0   ? digest_of_home(home, r)
                       : i % 4 == 1 ? (tamis_digest){.lo = lo, .hi = r}
                       : i % 4 == 2 ? (tamis_digest){.lo = r, .hi = hi}
                                    : (tamis_digest){.lo = r, .hi = test_random(random)};
    }
    m->digest[3] = (tamis_digest){0, 0};
    m->digest[7] = (tamis_digest){UINT64_MAX, UINT64_MAX};
}

/* Everything that can be seen of the stash is as the model says. */
static void assert_model(const own_stash *own, const model *m) {
    assert_checked(own);
    assert_int_equal(own->used, model_entries(m));
    for (unsigned i = 0; i < DIGESTS; i++)
        assert_int_equal(tamis_i_stash_copies(&own->stash, m->digest[i]), m->copies[i]);
    uint64_t walked[DIGESTS] = {0}, at = 0, copies, entries = 0;
    tamis_digest d;
    while (tamis_i_stash_next(&own->stash, &at, &d, &copies)) {
        unsigned i = 0;
        while (i < DIGESTS && (m->digest[i].lo != d.lo || m->digest[i].hi != d.hi))
            i++;
        assert_true(i < DIGESTS && copies >= 1);
        walked[i] += copies;
        entries++;
    }
    assert_memory_equal(walked, m->copies, sizeof walked);
    assert_int_equal(entries, own->used);
}

static void model_insert(own_stash *own, model *m, unsigned i) {
    const bool new_entry = m->copies[i] % COPIES_IN_A_SLOT == 0;
    const bool full = new_entry && own->used == own->stash.capacity;
    assert_status(tamis_i_stash_insert(&own->stash, m->digest[i]), full ? TAMIS_E_FULL : TAMIS_OK);
    m->copies[i] += !full;
}

static void model_remove(own_stash *own, model *m, unsigned i) {
    assert_int_equal(tamis_i_stash_remove(&own->stash, m->digest[i]), m->copies[i] > 0);
    m->copies[i] -= m->copies[i] > 0;
}

static void test_stash_random_calls_match_multiset(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const uint64_t capacities[] = {1, 2, 3, 4, 6, 7, 8, 9, 13, 16, 31, 40, 100};
    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++) {
        model m;
        model_init(&m, &random);
        own_stash own;
        own_stash_init(&own, capacities[c]);
        for (unsigned call = 0; call < 20000; call++) {
            /* Waves of filling and emptying, so that full and empty are both reached. */
            const uint64_t inserts = call / 500 % 2 == 0 ? 7 : 3;
            const unsigned i = (unsigned)test_random_below(&random, DIGESTS);
            if (test_random_below(&random, 10) < inserts)
                model_insert(&own, &m, i);
            else
                model_remove(&own, &m, i);
            assert_int_equal(tamis_i_stash_copies(&own.stash, m.digest[i]), m.copies[i]);
            if (call % 7 == 0)
                assert_model(&own, &m);
        }
        for (unsigned i = 0; i < DIGESTS; i++)
            while (m.copies[i] > 0)
                model_remove(&own, &m, i);
        assert_model(&own, &m);
        for (uint64_t i = 0; i < own.n_words; i++) /* all gone leaves nothing behind */
            assert_true(own.stash.words[i] == 0);
        own_stash_free(&own);
    }
}

/* Few digests and waves of many copies, so that the second, third and fourth slot of one digest come
 * and go while others stand between them. */
static void test_stash_many_copies_match_multiset(void **state) {
    (void)state;
    uint64_t random = test_seed();
    const uint64_t capacities[] = {1, 2, 3, 5, 9, 20};
    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++) {
        model m;
        model_init(&m, &random);
        own_stash own;
        own_stash_init(&own, capacities[c]);
        for (unsigned wave = 0; wave < 1500; wave++) {
            static const unsigned few[] = {0, 3, 4, 8, 12};
            const unsigned i = few[test_random_below(&random, 5)];
            const uint64_t n = test_random_below(&random, 600);
            const bool insert = test_random_below(&random, 2) == 0;
            for (uint64_t j = 0; j < n; j++) {
                if (insert)
                    model_insert(&own, &m, i);
                else
                    model_remove(&own, &m, i);
            }
            assert_model(&own, &m);
        }
        own_stash_free(&own);
    }
}

static void test_stash_without_capacity_is_always_full(void **state) {
    (void)state;
    own_stash own;
    own_stash_init(&own, 0);
    const tamis_digest d = {1, 2};
    assert_int_equal(own.n_words, 0);
    assert_status(tamis_i_stash_insert(&own.stash, d), TAMIS_E_FULL);
    assert_false(tamis_i_stash_remove(&own.stash, d));
    assert_int_equal(tamis_i_stash_copies(&own.stash, d), 0);
    uint64_t at = 0, copies;
    tamis_digest walked;
    assert_false(tamis_i_stash_next(&own.stash, &at, &walked, &copies));
    assert_true(tamis_i_stash_merge(&own.stash, &own.stash));
    assert_checked(&own);
    own_stash_free(&own);
}

static void test_stash_size_is_whole_lines_with_a_free_slot(void **state) {
    (void)state;
    for (uint64_t capacity = 1; capacity < 2000; capacity++) {
        const uint64_t words = tamis_i_stash_words(capacity);
        assert_int_equal(words % TAMIS_LINE_WORDS, 0);
        own_stash own;
        own_stash_init(&own, capacity);
        assert_true(own.stash.slots > capacity);
        assert_true(words >= 2 * own.stash.slots + (own.stash.slots + 7) / 8);
        own_stash_free(&own);
    }
    assert_true(tamis_i_stash_words(TAMIS_I_STASH_MAX) > 2 * TAMIS_I_STASH_MAX);
}

/* Keys that have a place elsewhere leave a quarter, rounded up, to those that have none. */
static void test_stash_spare_entries_leave_a_quarter(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (uint64_t capacity = 1; capacity <= 40; capacity++) {
        own_stash own;
        own_stash_init(&own, capacity);
        for (uint64_t i = 0; i < capacity; i++) {
            const tamis_digest d = {.lo = test_random(&random), .hi = test_random(&random)};
            const bool spare = i < capacity - (capacity + 3) / 4;
            assert_status(tamis_i_stash_insert_spare(&own.stash, d),
                          spare ? TAMIS_OK : TAMIS_E_FULL);
            if (!spare)
                assert_ok(tamis_i_stash_insert(&own.stash, d));
        }
        assert_int_equal(own.used, capacity);
        own_stash_free(&own);
    }
}

/* A run of entries that goes over the last slot to the first, changed at random places. */
static void test_stash_run_around_the_end_is_kept(void **state) {
    (void)state;
    uint64_t random = test_seed();
    enum { CAPACITY = 9, RUN = 6 };
    own_stash own;
    own_stash_init(&own, CAPACITY);
    const uint64_t last = own.stash.slots - 1;
    own_stash_free(&own);
    for (unsigned round = 0; round < 300; round++) {
        model m;
        memset(&m, 0, sizeof m);
        for (unsigned i = 0; i < DIGESTS; i++) {
            /* The homes are the last three slots and the first: all must share one run. */
            const uint64_t want = i % 4 == 3 ? 0 : last - i % 4;
            do
                m.digest[i] = digest_of_home(test_random(&random), test_random(&random));
            while (home_slot(CAPACITY, m.digest[i]) != want);
        }
        own_stash_init(&own, CAPACITY);
        for (unsigned i = 0; i < RUN; i++)
            model_insert(&own, &m, i);
        assert_model(&own, &m);
        for (unsigned n = 0; n < 200; n++) {
            const unsigned i = (unsigned)test_random_below(&random, RUN + 4);
            if (m.copies[i] > 0)
                model_remove(&own, &m, i);
            else
                model_insert(&own, &m, i);
            assert_model(&own, &m);
        }
        own_stash_free(&own);
    }
}

static void test_stash_full_refuses_and_is_unchanged(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (uint64_t capacity = 1; capacity <= 24; capacity++) {
        own_stash own, before;
        own_stash_init(&own, capacity);
        for (uint64_t i = 0; i < capacity; i++) {
            const tamis_digest d = digest_of_home(i % 3, test_random(&random));
            assert_ok(tamis_i_stash_insert(&own.stash, d));
        }
        assert_int_equal(own.used, capacity);
        own_stash_copy(&before, &own);
        for (unsigned i = 0; i < 50; i++) {
            const tamis_digest d = {test_random(&random), test_random(&random)};
            assert_status(tamis_i_stash_insert(&own.stash, d), TAMIS_E_FULL);
            assert_false(tamis_i_stash_remove(&own.stash, d));
        }
        assert_int_equal(own.used, before.used);
        assert_memory_equal(own.stash.words, before.stash.words,
                            (size_t)own.n_words * sizeof(uint64_t));
        assert_checked(&own);
        own_stash_free(&before);
        own_stash_free(&own);
    }
}

/* What a structure keeps of its keys: key and back, and all of one place, also where two share a run or the
 * run goes over the end. */
static void test_stash_entries_of_a_place_are_walked(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    enum { PLACES = 12, WHATS = 5 };
    for (uint64_t capacity = 1; capacity <= 70; capacity += capacity < 9 ? 1 : 15) {
        own_stash own;
        own_stash_init(&own, capacity);
        uint64_t places[PLACES], whats[PLACES][WHATS], copies[PLACES][WHATS] = {{0}};
        for (unsigned i = 0; i < PLACES; i++) {
            places[i] =
                i < 2 ? i * UINT64_MAX
                      : (test_random(&random) >> test_random_below(&random, 60)) / PLACES * PLACES +
                            i;
            for (unsigned j = 0; j < WHATS; j++) {
                whats[i][j] = j == 0 ? 0 : test_random(&random);
                const tamis_digest key = tamis_i_stash_key(places[i], whats[i][j]);
                assert_true(tamis_i_stash_place(key) == places[i] && key.hi == whats[i][j]);
                assert_int_equal(home_slot(capacity, key),
                                 home_slot(capacity, tamis_i_stash_key(places[i], 0)));
            }
        }
        for (unsigned call = 0; call < 600; call++) {
            const unsigned i = (unsigned)test_random_below(&random, PLACES);
            const unsigned j = (unsigned)test_random_below(&random, WHATS);
            const tamis_digest key = tamis_i_stash_key(places[i], whats[i][j]);
            if (test_random_below(&random, 3) == 0)
                copies[i][j] -= tamis_i_stash_remove(&own.stash, key);
            else
                copies[i][j] += tamis_i_stash_insert(&own.stash, key) == TAMIS_OK;
            const unsigned k = (unsigned)test_random_below(&random, PLACES);
            uint64_t found[WHATS] = {0}, at = 0, what, n, slots = 0;
            while (tamis_i_stash_along(&own.stash, places[k], &at, &what, &n)) {
                unsigned w = 0;
                while (w < WHATS && whats[k][w] != what)
                    w++;
                assert_true(w < WHATS && n >= 1 && ++slots <= own.used);
                found[w] += n;
            }
            assert_memory_equal(found, copies[k], sizeof found);
        }
        own_stash_free(&own);
    }
    own_stash none;
    own_stash_init(&none, 0);
    uint64_t at = 0, what, n;
    assert_false(tamis_i_stash_along(&none.stash, 7, &at, &what, &n));
}

/* A stash that nobody has checked, without an empty slot: the walk ends. */
static void test_stash_walk_of_a_place_ends(void **state) {
    (void)state;
    const uint64_t capacities[] = {3, 100, 5000};
    for (size_t i = 0; i < 3; i++) {
        own_stash own;
        own_stash_init(&own, capacities[i]);
        memset(own.stash.words, 0xff, (size_t)own.n_words * sizeof *own.stash.words);
        own.used = capacities[i];
        const tamis_digest ones = {UINT64_MAX, UINT64_MAX};
        uint64_t at = 0, what, copies, steps = 0;
        while (tamis_i_stash_along(&own.stash, tamis_i_stash_place(ones), &at, &what, &copies))
            assert_true(what == UINT64_MAX && copies == COPIES_IN_A_SLOT && ++steps <= 4096);
        assert_int_equal(steps, own.stash.slots < 4096 ? own.stash.slots : 4096);
        own_stash_free(&own);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stash_random_calls_match_multiset),
        cmocka_unit_test(test_stash_many_copies_match_multiset),
        cmocka_unit_test(test_stash_without_capacity_is_always_full),
        cmocka_unit_test(test_stash_size_is_whole_lines_with_a_free_slot),
        cmocka_unit_test(test_stash_spare_entries_leave_a_quarter),
        cmocka_unit_test(test_stash_run_around_the_end_is_kept),
        cmocka_unit_test(test_stash_full_refuses_and_is_unchanged),
        cmocka_unit_test(test_stash_entries_of_a_place_are_walked),
        cmocka_unit_test(test_stash_walk_of_a_place_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
