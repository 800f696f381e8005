/* test_summary_kinds.c - each summary against a plain model of what the paper describes
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "bits/field.h"
#include "plan/table.h"
#include "summary_make.h"
#include "table/draw.h"
#include "table/summary.h"

typedef struct item {
    tamis_digest digest;
    unsigned type;
} item;

static void random_items(item *items, unsigned n, unsigned n_types, uint64_t *random) {
    for (unsigned i = 0; i < n; i++) {
        items[i].digest.lo = test_random(random);
        items[i].digest.hi = test_random(random);
        items[i].type = 0;
        while (items[i].type + 1 < n_types && test_random_below(random, 5) == 0)
            items[i].type++;
    }
}

/* Positions of one sequence are different from those of another, and fair. */
static void test_draw_positions_are_fair(void **state) {
    (void)state;
    uint64_t random = test_seed();
    static const uint64_t spans[] = {2, 100, 255, 5632};
    for (unsigned s = 0; s < 4; s++) {
        const uint64_t span = spans[s];
        const unsigned per_word = tamis_i_draw_per_word(span);
        uint64_t single[256] = {0}, pairs[256] = {0};
        const uint64_t cells = span < 256 ? span : 256;
        for (unsigned i = 0; i < 20000; i++) {
            const tamis_digest digest = {test_random(&random), test_random(&random)};
            tamis_i_draw a = tamis_i_draw_begin(digest, s), b = tamis_i_draw_begin(digest, s + 1);
            uint64_t before = 0;
            for (unsigned j = 0; j < 49; j++) {
                const uint64_t x = tamis_i_draw_next(&a, span, per_word);
                assert_true(x < span);
                /* The position itself, its distance from the one before, and from the other's. */
                single[x * cells / span]++;
                if (j > 0 && span == cells)
                    pairs[(x + span - before) % span]++;
                if (span == cells)
                    pairs[(x + span - tamis_i_draw_next(&b, span, per_word)) % span]++;
                before = x;
            }
        }
        assert_fair("positions", single, (size_t)cells);
        if (span == cells)
            assert_fair("differences of positions", pairs, (size_t)cells);
    }
    assert_int_equal(tamis_i_draw_per_word(1), 48);
    assert_int_equal(tamis_i_draw_per_word(87500), 2);
    assert_int_equal(tamis_i_draw_per_word(TAMIS_I_SUMMARY_CELLS_MAX), 1);
}

/* Cells as plain numbers. */
static void test_single_is_the_largest_type(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (unsigned n_types = 1; n_types <= TAMIS_I_SUMMARY_TYPES_MAX; n_types++) {
        const tamis_i_summary_params params = {
            .n_types = n_types, .cells = {1000 + n_types}, .hashes = {3 + n_types % 4}};
        const uint64_t hashes = params.hashes[0], span = params.cells[0] / hashes;
        tamis_i_summary s = summary_make(TAMIS_I_SUMMARY_SINGLE, &params);
        tamis_i_summary_params counting = params;
        for (unsigned t = 0; t < n_types; t++)
            counting.counter_bits[t] = 7;
        tamis_i_summary c = summary_make(TAMIS_I_SUMMARY_SINGLE_COUNTING, &counting);
        unsigned cells[2000] = {0};
        item items[250];
        random_items(items, 250, n_types, &random);
        for (unsigned i = 0; i < 250; i++) {
            if (i < 150) {
                assert_ok(s.kind->insert(&s, items[i].digest, items[i].type));
                assert_ok(c.kind->insert(&c, items[i].digest, items[i].type));
            }
            tamis_i_draw draw = tamis_i_draw_begin(items[i].digest, 0);
            unsigned least = n_types;
            for (unsigned h = 0; h < hashes; h++) {
                unsigned *const cell =
                    &cells[h * span + tamis_i_draw_next(&draw, span, tamis_i_draw_per_word(span))];
                if (i < 150 && *cell < items[i].type + 1)
                    *cell = items[i].type + 1;
                least = *cell < least ? *cell : least;
            }
            const unsigned expected = least == 0 ? TAMIS_I_SUMMARY_NONE : least - 1;
            assert_int_equal(s.kind->ask(&s, items[i].digest), expected);
            assert_int_equal(c.kind->ask(&c, items[i].digest), expected);
            assert_true(i >= 150 || expected >= items[i].type);
        }
        for (unsigned i = 0; i < 150; i++)
            assert_ok(c.kind->remove(&c, items[i].digest, items[i].type));
        for (uint64_t i = 0; i < c.n_words; i++)
            assert_true(c.body[i] == 0);
        free(s.body);
        free(c.body);
    }
}

/* As wide counters answer, so do bits; and what was put in can be taken out to the last bit. */
static void test_multiple_counters_answer_as_bits(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    tamis_i_summary_params params = {
        .n_types = 4, .cells = {10600, 2500, 500, 77}, .hashes = {7, 20, 30, 64}};
    tamis_i_summary bits = summary_make(TAMIS_I_SUMMARY_MULTIPLE, &params);
    for (unsigned f = 0; f < 4; f++)
        params.counter_bits[f] = 9 + f;
    tamis_i_summary counters = summary_make(TAMIS_I_SUMMARY_MULTIPLE_COUNTING, &params);
    enum { N = 1500 };
    static item items[N];
    random_items(items, N, 4, &random);
    for (unsigned i = 0; i < N; i++) {
        if (i < 1000) {
            assert_ok(bits.kind->insert(&bits, items[i].digest, items[i].type));
            assert_ok(counters.kind->insert(&counters, items[i].digest, items[i].type));
        }
        const unsigned type = bits.kind->ask(&bits, items[i].digest);
        assert_int_equal(counters.kind->ask(&counters, items[i].digest), type);
        assert_true(i >= 1000 || (type != TAMIS_I_SUMMARY_NONE && type >= items[i].type));
    }
    assert_true(bits.kind->fpr(&bits) == counters.kind->fpr(&counters));
    for (unsigned i = 0; i < 1000; i++)
        assert_ok(counters.kind->remove(&counters, items[i].digest, items[i].type));
    for (uint64_t i = 0; i < counters.n_words; i++)
        assert_true(counters.body[i] == 0);
    free(bits.body);
    free(counters.body);
}

/* An item raises each of its counters once: it does not saturate counters of two bits by itself. */
static void test_multiple_one_item_raises_a_counter_once(void **state) {
    (void)state;
    uint64_t random = test_seed() + 3;
    const tamis_i_summary_params params = {
        .n_types = 2, .cells = {100, 100}, .hashes = {49, 64}, .counter_bits = {2, 2}};
    tamis_i_summary s = summary_make(TAMIS_I_SUMMARY_MULTIPLE_COUNTING, &params);
    item items[200];
    random_items(items, 200, 2, &random);
    for (unsigned i = 0; i < 200; i++) {
        assert_ok(s.kind->insert(&s, items[i].digest, items[i].type));
        for (uint64_t w = 0; w < s.n_words; w++)
            assert_true((s.body[w] & 0xaaaaaaaaaaaaaaaau) == 0);
        assert_ok(s.kind->remove(&s, items[i].digest, items[i].type));
        for (uint64_t w = 0; w < s.n_words; w++)
            assert_true(s.body[w] == 0);
    }
    free(s.body);
}

/* Narrow counters saturate all the time; no item that is in is ever lost. */
static void test_counting_saturated_counters_lose_nothing(void **state) {
    (void)state;
    uint64_t random = test_seed() + 4;
    static const tamis_i_summary_params params[2] = {
        {.n_types = 3, .cells = {60}, .hashes = {4}, .counter_bits = {2, 1, 2}},
        {.n_types = 3, .cells = {60, 40, 30}, .hashes = {4, 9, 9}, .counter_bits = {2, 1, 2}}};
    for (unsigned k = 0; k < 2; k++) {
        tamis_i_summary s = summary_make(k == 0 ? TAMIS_I_SUMMARY_SINGLE_COUNTING
                                                : TAMIS_I_SUMMARY_MULTIPLE_COUNTING,
                                         &params[k]);
        item items[64];
        unsigned used = 0;
        for (unsigned step = 0; step < 20000; step++) {
            if (used < 64 && (used == 0 || test_random_below(&random, 2) == 0)) {
                random_items(&items[used], 1, 3, &random);
                assert_ok(s.kind->insert(&s, items[used].digest, items[used].type));
                used++;
            } else {
                const unsigned i = (unsigned)test_random_below(&random, used);
                assert_ok(s.kind->remove(&s, items[i].digest, items[i].type));
                items[i] = items[--used];
            }
            for (unsigned i = 0; i < used; i++)
                assert_true(s.kind->ask(&s, items[i].digest) < 3);
        }
        free(s.body);
    }
}

/* All types are right as long as no two strings are equal; the body depends on the items alone, not on
 * the order of calls. */
static void test_interpolation_is_exact_and_canonical(void **state) {
    (void)state;
    uint64_t random = test_seed() + 5;
    enum { N = 3000 };
    const tamis_i_summary_params params = {.n_types = 6, .string_bits = 60, .cells = {N * 10 / 9}};
    tamis_i_summary a = summary_make(TAMIS_I_SUMMARY_INTERPOLATION, &params);
    tamis_i_summary b = summary_make(TAMIS_I_SUMMARY_INTERPOLATION, &params);
    static item items[N];
    random_items(items, N, 6, &random);
    for (unsigned i = 0; i < N; i++)
        assert_ok(a.kind->insert(&a, items[i].digest, items[i].type));
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(a.kind->ask(&a, items[i].digest), items[i].type);
    for (unsigned i = 0; i < N / 2; i++) {
        const unsigned wrong = (items[i].type + 1) % 6;
        assert_status(a.kind->remove(&a, items[i].digest, wrong), TAMIS_E_NOT_FOUND);
        assert_ok(a.kind->remove(&a, items[i].digest, items[i].type));
        assert_status(a.kind->remove(&a, items[i].digest, items[i].type), TAMIS_E_NOT_FOUND);
        assert_int_equal(a.kind->ask(&a, items[i].digest), TAMIS_I_SUMMARY_NONE);
    }
    for (unsigned i = N; i > N / 2; i--) {
        assert_ok(b.kind->insert(&b, items[i - 1].digest, items[i - 1].type));
        assert_int_equal(a.kind->ask(&a, items[i - 1].digest), items[i - 1].type);
    }
    assert_memory_equal(a.body, b.body, (size_t)a.n_words * 8);
    free(a.body);
    free(b.body);
}

/* Strings of few bits: equal ones are all kept, and the list of what is in answers for each. */
static void test_interpolation_equal_strings_are_kept(void **state) {
    (void)state;
    uint64_t random = test_seed() + 6;
    enum { N = 100 };
    const tamis_i_summary_params params = {.n_types = 3, .string_bits = 4, .cells = {13}};
    tamis_i_summary s = summary_make(TAMIS_I_SUMMARY_INTERPOLATION, &params);
    item items[N];
    random_items(items, N, 3, &random);
    for (unsigned i = 0; i < N; i++)
        assert_ok(s.kind->insert(&s, items[i].digest, items[i].type));
    for (unsigned i = 0; i < N; i++) {
        for (unsigned j = i; j < N; j++)
            assert_true(s.kind->ask(&s, items[j].digest) < 3);
        assert_ok(s.kind->remove(&s, items[i].digest, items[i].type));
    }
    for (uint64_t i = 0; i < s.n_words; i++)
        assert_true(s.body[i] == 0);
    free(s.body);
}

/* Far beyond what it was made for an insert fails, and changes nothing. */
static void test_interpolation_full_changes_nothing(void **state) {
    (void)state;
    uint64_t random = test_seed() + 7;
    const tamis_i_summary_params params = {.n_types = 3, .string_bits = 30, .cells = {40}};
    tamis_i_summary s = summary_make(TAMIS_I_SUMMARY_INTERPOLATION, &params);
    uint64_t *const before = malloc((size_t)s.n_words * 8);
    assert_non_null(before);
    static item items[1000];
    random_items(items, 1000, 3, &random);
    unsigned used = 0, refused = 0;
    for (unsigned i = 0; i < 1000; i++) {
        memcpy(before, s.body, (size_t)s.n_words * 8);
        const tamis_status status = s.kind->insert(&s, items[i].digest, items[i].type);
        if (status == TAMIS_OK) {
            items[used++] = items[i];
        } else {
            assert_status(status, TAMIS_E_FULL);
            assert_memory_equal(before, s.body, (size_t)s.n_words * 8);
            refused++;
        }
        const char *reason = NULL;
        assert_true(s.kind->check(&s, &reason));
    }
    assert_true(used > 254 && refused > 600);
    for (unsigned i = 0; i < used; i++)
        assert_int_equal(s.kind->ask(&s, items[i].digest), items[i].type);
    free(before);
    free(s.body);
}

/* Counters as plain numbers. */
static void test_song_names_the_smallest_counter(void **state) {
    (void)state;
    uint64_t random = test_seed() + 8;
    const tamis_i_summary_params params = {
        .n_types = 4, .cells = {60, 61, 62, 63}, .counter_bits = {3}};
    tamis_i_summary s = summary_make(TAMIS_I_SUMMARY_SONG, &params);
    unsigned counters[4][64] = {{0}};
    item items[100];
    random_items(items, 100, 4, &random);
    for (unsigned i = 0; i < 100; i++) {
        if (i < 70) {
            assert_ok(s.kind->insert(&s, items[i].digest, 0));
            for (unsigned t = 0; t < 4; t++) {
                unsigned *const counter =
                    &counters[t][tamis_i_table_bucket(items[i].digest, t, params.cells[t])];
                *counter += *counter < 7;
            }
        }
        unsigned type = 0, least = UINT32_MAX;
        for (unsigned t = 0; t < 4; t++) {
            const unsigned counter =
                counters[t][tamis_i_table_bucket(items[i].digest, t, params.cells[t])];
            type = counter < least ? t : type;
            least = counter < least ? counter : least;
        }
        assert_int_equal(s.kind->ask(&s, items[i].digest),
                         least == 0 ? TAMIS_I_SUMMARY_NONE : type);
    }
    assert_true(s.kind->remove == NULL);
    free(s.body);
}

/* Bodies are stored in files: these never change. */
static void test_summary_bodies_are_stable(void **state) {
    (void)state;
    static const struct {
        tamis_i_summary_id id;
        uint64_t checksum;
    } bodies[] = {
        {TAMIS_I_SUMMARY_INTERPOLATION, UINT64_C(0x8991cacee71dcb46)},
        {TAMIS_I_SUMMARY_SINGLE, UINT64_C(0x77c5c77b1cda1101)},
        {TAMIS_I_SUMMARY_MULTIPLE, UINT64_C(0x8f28413159e13aca)},
        {TAMIS_I_SUMMARY_SONG, UINT64_C(0xc27ca1576e6e3fb4)},
        {TAMIS_I_SUMMARY_SINGLE_COUNTING, UINT64_C(0x10603afaee59e3c2)},
        {TAMIS_I_SUMMARY_MULTIPLE_COUNTING, UINT64_C(0xbaa0518536cf5d93)},
    };
    for (unsigned k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
        tamis_i_table_plan plan;
        assert_ok(tamis_i_plan_table_paper(10000, bodies[k].id, &plan));
        tamis_i_summary s = summary_make(bodies[k].id, &plan.summary);
        for (uint64_t i = 0; i < 3000; i++) {
            const tamis_digest digest = {tamis_i_mix(i + 1), tamis_i_mix(i + 1000000)};
            const unsigned type = i % 8 != 0 ? 0 : i % 64 != 0 ? 1 : (unsigned)(i / 64 % 5);
            assert_ok(s.kind->insert(&s, digest, type));
        }
        const uint64_t sum = tamis_i_checksum_words(s.body, (size_t)s.n_words);
        if (sum != bodies[k].checksum)
            fail_msg("%s: 0x%016llx", s.kind->name, (unsigned long long)sum);
        free(s.body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draw_positions_are_fair),
        cmocka_unit_test(test_single_is_the_largest_type),
        cmocka_unit_test(test_multiple_counters_answer_as_bits),
        cmocka_unit_test(test_multiple_one_item_raises_a_counter_once),
        cmocka_unit_test(test_counting_saturated_counters_lose_nothing),
        cmocka_unit_test(test_interpolation_is_exact_and_canonical),
        cmocka_unit_test(test_interpolation_equal_strings_are_kept),
        cmocka_unit_test(test_interpolation_full_changes_nothing),
        cmocka_unit_test(test_song_names_the_smallest_counter),
        cmocka_unit_test(test_summary_bodies_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
