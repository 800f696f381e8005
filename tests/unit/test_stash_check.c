/* test_stash_check.c - what a stash read from a file may look like, and how two become one
 *
 * SPDX-License-Identifier: MIT
 */
#include "stash_model.h"

static uint64_t *count_word(own_stash *own, uint64_t slot) {
    return own->stash.words + 2 * own->stash.slots + slot / 8;
}

static unsigned count_of(own_stash *own, uint64_t slot) {
    return (unsigned)(*count_word(own, slot) >> 8 * (slot % 8) & 0xff);
}

/* Write a slot by hand, without the stash's knowledge. */
static void put_slot(own_stash *own, uint64_t slot, tamis_digest d, unsigned count) {
    own->stash.words[2 * slot] = d.lo;
    own->stash.words[2 * slot + 1] = d.hi;
    uint64_t *const word = count_word(own, slot);
    *word = (*word & ~((uint64_t)0xff << 8 * (slot % 8))) | (uint64_t)count << 8 * (slot % 8);
}

static tamis_digest digest_in(own_stash *own, uint64_t slot) {
    return (tamis_digest){own->stash.words[2 * slot], own->stash.words[2 * slot + 1]};
}

static void assert_refused(own_stash *own, const char *part_of_reason) {
    const char *reason = NULL;
    assert_false(tamis_i_stash_check(&own->stash, &reason));
    assert_non_null(reason);
    if (strstr(reason, part_of_reason) == NULL)
        fail_msg("refused for another reason: %s", reason);
}

static void fill(own_stash *own, uint64_t capacity, uint64_t n, uint64_t *random) {
    own_stash_init(own, capacity);
    for (uint64_t i = 0; i < n; i++)
        assert_ok(tamis_i_stash_insert(&own->stash, (tamis_digest){test_random(random), i}));
    assert_checked(own);
}

static uint64_t free_slot(own_stash *own) {
    uint64_t slot = 0;
    while (count_of(own, slot) != 0)
        slot++;
    return slot;
}

static void test_check_data_in_an_empty_slot_is_refused(void **state) {
    (void)state;
    uint64_t random = test_seed();
    own_stash own;
    fill(&own, 10, 6, &random);
    put_slot(&own, free_slot(&own), (tamis_digest){0, 1}, 0);
    assert_refused(&own, "empty slot");
    put_slot(&own, free_slot(&own), (tamis_digest){1, 0}, 0);
    assert_refused(&own, "empty slot");
    own_stash_free(&own);
}

static void test_check_wrong_number_of_keys_is_refused(void **state) {
    (void)state;
    uint64_t random = test_seed();
    own_stash own;
    fill(&own, 10, 6, &random);
    const uint64_t wrong[] = {0, 5, 7, 10, 11, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        own.used = wrong[i];
        assert_refused(&own, "as many keys");
    }
    own_stash_free(&own);
    own_stash_init(&own, 0);
    own.used = 1;
    assert_refused(&own, "as many keys");
}

/* A stash without an empty slot would be searched for ever. */
static void test_check_no_empty_slot_is_refused(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (uint64_t capacity = 1; capacity < 20; capacity++) {
        own_stash own;
        fill(&own, capacity, capacity, &random);
        while (own.used < own.stash.slots) {
            put_slot(&own, free_slot(&own), (tamis_digest){test_random(&random), own.used}, 1);
            own.used++;
            assert_refused(&own, "as many keys");
        }
        own_stash_free(&own);
    }
}

static void test_check_data_past_the_end_is_refused(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (uint64_t capacity = 1; capacity < 80; capacity++) {
        own_stash own;
        fill(&own, capacity, capacity / 2, &random);
        const uint64_t end = 8 * (2 * own.stash.slots) + own.stash.slots; /* in bytes */
        for (uint64_t byte = end; byte < 8 * own.n_words; byte++) {
            own.stash.words[byte / 8] ^= (uint64_t)1 << 8 * (byte % 8);
            assert_refused(&own, "past its end");
            own.stash.words[byte / 8] ^= (uint64_t)1 << 8 * (byte % 8);
        }
        assert_checked(&own);
        own_stash_free(&own);
    }
}

/* Can every entry of 'before' be found in 'now'? */
static bool all_found(own_stash *now, own_stash *before) {
    for (uint64_t slot = 0; slot < before->stash.slots; slot++)
        if (count_of(before, slot) != 0 &&
            tamis_i_stash_copies(&now->stash, digest_in(before, slot)) == 0)
            return false;
    return true;
}

/* Two slots, of which one may be empty, are exchanged by hand.  The stash must be refused exactly if
 * some entry can then not be found any more. */
static void test_check_exchanged_slots_are_refused_if_a_key_is_lost(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned lost = 0, sound = 0;
    for (unsigned round = 0; round < 400; round++) {
        const uint64_t capacity = 1 + test_random_below(&random, 20);
        own_stash own;
        fill(&own, capacity, 1 + test_random_below(&random, capacity), &random);
        for (uint64_t a = 0; a < own.stash.slots; a++) {
            for (uint64_t b = 0; b < a; b++) {
                own_stash now;
                own_stash_copy(&now, &own);
                put_slot(&now, a, digest_in(&own, b), count_of(&own, b));
                put_slot(&now, b, digest_in(&own, a), count_of(&own, a));
                if (all_found(&now, &own)) {
                    assert_checked(&now);
                    sound++;
                } else {
                    assert_refused(&now, "cannot be found");
                    lost++;
                }
                own_stash_free(&now);
            }
        }
        own_stash_free(&own);
    }
    printf("# %u exchanges lost a key, %u did not\n", lost, sound);
    assert_true(lost > 1000 && sound > 1000);
}

/* Whatever words are there: the check ends, and what it lets pass can be used without harm. */
static void test_check_random_words_end(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned round = 0; round < 20000; round++) {
        own_stash own;
        own_stash_init(&own, 1 + test_random_below(&random, 12));
        for (uint64_t slot = 0; slot < own.stash.slots; slot++) {
            const tamis_digest d = {test_random(&random), test_random_below(&random, 3)};
            if (test_random_below(&random, 3) == 0) {
                put_slot(&own, slot, d, 1 + (unsigned)test_random_below(&random, 255));
                own.used++;
            }
        }
        const char *reason = NULL;
        if (tamis_i_stash_check(&own.stash, &reason)) {
            uint64_t at = 0, copies;
            tamis_digest d;
            while (tamis_i_stash_next(&own.stash, &at, &d, &copies))
                assert_true(tamis_i_stash_copies(&own.stash, d) >= copies);
        } else {
            assert_non_null(reason);
        }
        own_stash_free(&own);
    }
}

/* ---- merging ---- */

enum { DIGESTS = 6 };

/* Copies of a few digests, in the slots of one stash each by hand or by calls. */
static bool fill_copies(own_stash *own, const tamis_digest *digests, uint64_t *random) {
    for (unsigned i = 0; i < DIGESTS; i++) {
        const uint64_t n = test_random_below(random, 3) == 0 ? 0 : test_random_below(random, 620);
        for (uint64_t j = 0; j < n; j++)
            if (tamis_i_stash_insert(&own->stash, digests[i]) != TAMIS_OK)
                return false;
    }
    return true;
}

/* Does the union fit?  Tried out: every copy of the source is inserted. */
static bool fits(const own_stash *into, const own_stash *source, own_stash *merged) {
    own_stash_copy(merged, into);
    uint64_t at = 0, copies;
    tamis_digest d;
    while (tamis_i_stash_next(&source->stash, &at, &d, &copies))
        for (uint64_t i = 0; i < copies; i++)
            if (tamis_i_stash_insert(&merged->stash, d) != TAMIS_OK)
                return false;
    return true;
}

static void assert_unchanged(const own_stash *own, const own_stash *old) {
    assert_int_equal(own->used, old->used);
    assert_memory_equal(own->stash.words, old->stash.words, own->n_words * sizeof(uint64_t));
}

static void test_merge_is_allowed_exactly_if_it_fits(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned yes = 0, no = 0;
    for (unsigned round = 0; round < 3000; round++) {
        const uint64_t capacity = 1 + test_random_below(&random, 16);
        tamis_digest digests[DIGESTS];
        for (unsigned i = 0; i < DIGESTS; i++)
            digests[i] = digest_of_home(round % 2 == 0 ? 5 : i, test_random(&random));
        own_stash a, b, merged;
        own_stash_init(&a, capacity);
        own_stash_init(&b, capacity);
        (void)fill_copies(&a, digests, &random);
        (void)fill_copies(&b, digests, &random);
        const bool fit = fits(&a, &b, &merged);
        own_stash old;
        own_stash_copy(&old, &a);
        assert_int_equal(tamis_i_stash_merge(&a.stash, &b.stash), fit);
        if (fit) {
            uint64_t before[DIGESTS];
            for (unsigned i = 0; i < DIGESTS; i++)
                before[i] = tamis_i_stash_copies(&old.stash, digests[i]);
            assert_checked(&a);
            for (unsigned i = 0; i < DIGESTS; i++)
                assert_int_equal(tamis_i_stash_copies(&a.stash, digests[i]),
                                 before[i] + tamis_i_stash_copies(&b.stash, digests[i]));
            assert_int_equal(a.used, merged.used);
            tamis_i_stash_unmerge(&a.stash, &b.stash);
            yes++;
        } else {
            no++;
        }
        assert_unchanged(&a, &old);
        own_stash_free(&old);
        own_stash_free(&merged);
        own_stash_free(&b);
        own_stash_free(&a);
    }
    printf("# %u merges fit, %u did not\n", yes, no);
    assert_true(yes > 500 && no > 500);
}

/* A file may hold a digest in several slots that are not full.  No promise of room may then be broken,
 * since a merge that fails half-way would lose keys. */
static void test_merge_of_copies_spread_by_hand_never_loses_one(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned yes = 0, no = 0;
    for (unsigned round = 0; round < 3000; round++) {
        const uint64_t capacity = 2 + test_random_below(&random, 5);
        const tamis_digest d = {test_random(&random), test_random(&random)};
        own_stash pair[2], merged;
        for (unsigned i = 0; i < 2; i++) {
            own_stash_init(&pair[i], capacity);
            uint64_t slot = home_slot(capacity, d);
            const uint64_t slots = test_random_below(&random, capacity + 1);
            for (; pair[i].used < slots; pair[i].used++) {
                put_slot(&pair[i], slot, d, 1 + (unsigned)test_random_below(&random, 255));
                slot = slot + 1 == pair[i].stash.slots ? 0 : slot + 1;
            }
            assert_checked(&pair[i]);
        }
        const bool fit = fits(&pair[0], &pair[1], &merged);
        own_stash old;
        own_stash_copy(&old, &pair[0]);
        assert_int_equal(tamis_i_stash_merge(&pair[0].stash, &pair[1].stash), fit);
        if (fit) {
            assert_checked(&pair[0]);
            tamis_i_stash_unmerge(&pair[0].stash, &pair[1].stash);
            yes++;
        } else {
            no++;
        }
        assert_unchanged(&pair[0], &old);
        own_stash_free(&old);
        for (uint64_t left = tamis_i_stash_copies(&pair[0].stash, d); left > 0; left--) {
            assert_true(tamis_i_stash_remove(&pair[0].stash, d));
            assert_int_equal(tamis_i_stash_copies(&pair[0].stash, d), left - 1);
            assert_checked(&pair[0]);
        }
        assert_false(tamis_i_stash_remove(&pair[0].stash, d));
        own_stash_free(&merged);
        own_stash_free(&pair[1]);
        own_stash_free(&pair[0]);
    }
    printf("# %u merges allowed, %u not\n", yes, no);
    assert_true(yes > 300 && no > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_data_in_an_empty_slot_is_refused),
        cmocka_unit_test(test_check_wrong_number_of_keys_is_refused),
        cmocka_unit_test(test_check_no_empty_slot_is_refused),
        cmocka_unit_test(test_check_data_past_the_end_is_refused),
        cmocka_unit_test(test_check_exchanged_slots_are_refused_if_a_key_is_lost),
        cmocka_unit_test(test_check_random_words_end),
        cmocka_unit_test(test_merge_is_allowed_exactly_if_it_fits),
        cmocka_unit_test(test_merge_of_copies_spread_by_hand_never_loses_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
