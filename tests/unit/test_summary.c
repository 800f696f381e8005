/* test_summary.c - every summary against a list of what is in it; parameters; damaged bodies
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "table/summary.h"

enum { N_CASES_MAX = 32 };

/* A summary to be tested, for about 'n' items. */
typedef struct sample {
    tamis_i_summary_id id;
    unsigned n;
    tamis_i_summary_params params;
} sample;

static const sample samples[] = {
    {TAMIS_I_SUMMARY_INTERPOLATION, 1000, {.n_types = 5, .string_bits = 20, .cells = {1111}}},
    {TAMIS_I_SUMMARY_INTERPOLATION, 1000, {.n_types = 6, .string_bits = 55, .cells = {1050}}},
    {TAMIS_I_SUMMARY_INTERPOLATION, 100, {.n_types = 1, .string_bits = 5, .cells = {111}}},
    {TAMIS_I_SUMMARY_INTERPOLATION, 200, {.n_types = 16, .string_bits = 9, .cells = {37}}},
    {TAMIS_I_SUMMARY_SINGLE, 1000, {.n_types = 5, .cells = {12000}, .hashes = {15}}},
    {TAMIS_I_SUMMARY_SINGLE, 1000, {.n_types = 6, .cells = {12011}, .hashes = {15}}},
    {TAMIS_I_SUMMARY_SINGLE, 100, {.n_types = 1, .cells = {1000}, .hashes = {7}}},
    {TAMIS_I_SUMMARY_SINGLE, 100, {.n_types = 2, .cells = {1003}, .hashes = {7}}},
    {TAMIS_I_SUMMARY_SINGLE, 100, {.n_types = 4, .cells = {1003}, .hashes = {3}}},
    {TAMIS_I_SUMMARY_SINGLE, 100, {.n_types = 9, .cells = {1003}, .hashes = {9}}},
    {TAMIS_I_SUMMARY_SINGLE, 100, {.n_types = 16, .cells = {1003}, .hashes = {64}}},
    {TAMIS_I_SUMMARY_SINGLE_COUNTING,
     1000,
     {.n_types = 5, .cells = {12005}, .hashes = {15}, .counter_bits = {4, 4, 3, 2, 1}}},
    {TAMIS_I_SUMMARY_SINGLE_COUNTING,
     20,
     {.n_types = 3, .cells = {17}, .hashes = {3}, .counter_bits = {16, 3, 1}}},
    {TAMIS_I_SUMMARY_SONG,
     1000,
     {.n_types = 10,
      .cells = {1310, 1311, 1310, 1311, 1310, 1311, 1310, 1311, 1310, 1313},
      .counter_bits = {3}}},
    {TAMIS_I_SUMMARY_MULTIPLE,
     1000,
     {.n_types = 5, .cells = {10600, 8750, 550, 77, 100}, .hashes = {7, 49, 49, 49, 64}}},
    {TAMIS_I_SUMMARY_MULTIPLE, 100, {.n_types = 1, .cells = {1000}, .hashes = {7}}},
    {TAMIS_I_SUMMARY_MULTIPLE,
     100,
     {.n_types = 16,
      .cells = {1000, 900, 800, 700, 600, 500, 400, 300, 200, 100, 90, 80, 70, 60, 50, 1},
      .hashes = {7, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1}}},
    {TAMIS_I_SUMMARY_MULTIPLE_COUNTING,
     1000,
     {.n_types = 5,
      .cells = {10600, 8750, 550, 77, 100},
      .hashes = {7, 49, 49, 49, 64},
      .counter_bits = {4, 5, 3, 2, 1}}},
    {TAMIS_I_SUMMARY_MULTIPLE_COUNTING,
     30,
     {.n_types = 2, .cells = {40, 33}, .hashes = {3, 9}, .counter_bits = {16, 2}}},
};

enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

static tamis_i_summary make(const sample *s) {
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id(s->id);
    assert_non_null(kind);
    uint64_t n_words = 0;
    assert_ok(kind->shape(&s->params, &n_words));
    assert_true(n_words > 0 && n_words % TAMIS_LINE_WORDS == 0);
    assert_true(kind->bits(&s->params) <= 64 * n_words);
    uint64_t *const body = calloc((size_t)n_words, sizeof *body);
    assert_non_null(body);
    tamis_i_summary summary;
    tamis_i_summary_attach(&summary, kind, &s->params, body, n_words);
    return summary;
}

static tamis_digest random_digest(uint64_t *random) {
    tamis_digest d;
    d.lo = test_random(random);
    d.hi = test_random(random);
    return d;
}

/* Half of the items are of type 0, half of the rest of type 1, ... */
static unsigned random_type(uint64_t *random, uint64_t n_types) {
    unsigned type = 0;
    while (type + 1 < n_types && test_random_below(random, 4) == 0)
        type++;
    return type;
}

static bool checked(const tamis_i_summary *s) {
    const char *reason = NULL;
    const bool good = s->kind->check(s, &reason);
    assert_int_equal(good, reason == NULL);
    return good;
}

static void test_summary_kinds_are_found(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_SAMPLES; i++) {
        const tamis_i_summary_kind *const kind = tamis_i_summary_by_id(samples[i].id);
        assert_non_null(kind);
        assert_ptr_equal(tamis_i_summary_by_name(kind->name), kind);
        assert_int_equal(kind->remove != NULL, (kind->abilities & TAMIS_I_SUMMARY_CAN_REMOVE) != 0);
    }
    assert_null(tamis_i_summary_by_id(0));
    assert_null(tamis_i_summary_by_id(UINT64_MAX));
    assert_null(tamis_i_summary_by_name("multi"));
}

/* No item is ever lost; items get their type or, rarely, another one. */
static void test_summary_holds_what_was_inserted(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned i = 0; i < N_SAMPLES; i++) {
        tamis_i_summary s = make(&samples[i]);
        if ((s.kind->abilities & TAMIS_I_SUMMARY_DECIDES) != 0) {
            free(s.body);
            continue;
        }
        tamis_digest *const items = malloc(samples[i].n * sizeof *items);
        unsigned *const types = malloc(samples[i].n * sizeof *types);
        assert_true(items != NULL && types != NULL);
        assert_int_equal(s.kind->ask(&s, random_digest(&random)), TAMIS_I_SUMMARY_NONE);
        assert_true(s.kind->fpr(&s) == 0);
        for (unsigned j = 0; j < samples[i].n; j++) {
            items[j] = random_digest(&random);
            types[j] = random_type(&random, s.params.n_types);
            s.kind->prefetch(&s, items[j]);
            assert_ok(s.kind->insert(&s, items[j], types[j]));
            const unsigned type = s.kind->ask(&s, items[j]);
            assert_true(type != TAMIS_I_SUMMARY_NONE && type < s.params.n_types);
        }
        for (unsigned j = 0; j < samples[i].n; j++)
            assert_true(s.kind->ask(&s, items[j]) < s.params.n_types);
        assert_true(checked(&s));
        assert_true(s.kind->fpr(&s) > 0 && s.kind->fpr(&s) <= 1);

        /* The error rate that it tells is the one that it has. */
        const double expected = s.kind->fpr(&s);
        if (samples[i].n == 1000 && expected > 1e-6) {
            uint64_t hits = 0;
            for (unsigned j = 0; j < 200000; j++)
                hits += s.kind->ask(&s, random_digest(&random)) != TAMIS_I_SUMMARY_NONE;
            assert_rate(s.kind->name, hits, 200000, expected, 0);
        }
        tamis_i_summary_clear(&s);
        for (unsigned j = 0; j < samples[i].n; j++)
            assert_int_equal(s.kind->ask(&s, items[j]), TAMIS_I_SUMMARY_NONE);
        free(items);
        free(types);
        free(s.body);
    }
}

/* Random inserts and removals.  What is in is found; if no counter was saturated, taking all out again
 * leaves an empty body. */
static void test_summary_removes_what_was_inserted(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (unsigned i = 0; i < N_SAMPLES; i++) {
        tamis_i_summary s = make(&samples[i]);
        if (s.kind->remove == NULL) {
            free(s.body);
            continue;
        }
        const unsigned n = samples[i].n;
        tamis_digest *const items = malloc(n * sizeof *items);
        unsigned *const types = malloc(n * sizeof *types);
        assert_true(items != NULL && types != NULL);
        unsigned used = 0;
        for (unsigned step = 0; step < 20 * n; step++) {
            if (used < n && (used == 0 || test_random_below(&random, 20) < 11)) {
                /* Sometimes the same once more. */
                items[used] = used > 0 && test_random_below(&random, 50) == 0
                                  ? items[used - 1]
                                  : random_digest(&random);
                types[used] = random_type(&random, s.params.n_types);
                assert_ok(s.kind->insert(&s, items[used], types[used]));
                used++;
            } else {
                const unsigned j = (unsigned)test_random_below(&random, used);
                assert_ok(s.kind->remove(&s, items[j], types[j]));
                used--;
                items[j] = items[used];
                types[j] = types[used];
            }
            if (step % 64 == 0) {
                assert_true(checked(&s));
                for (unsigned j = 0; j < used; j++)
                    assert_true(s.kind->ask(&s, items[j]) < s.params.n_types);
            }
        }
        for (unsigned j = 0; j < used; j++)
            assert_ok(s.kind->remove(&s, items[j], types[j]));
        assert_true(checked(&s));
        const tamis_digest absent = random_digest(&random);
        if (s.kind->ask(&s, absent) == TAMIS_I_SUMMARY_NONE)
            assert_status(s.kind->remove(&s, absent, 0), TAMIS_E_NOT_FOUND);
        free(items);
        free(types);
        free(s.body);
    }
}

/* Each member set to zero and to a wild value; nothing but a status may come of it, and what is accepted
 * must have a sensible size. */
static void test_summary_wild_parameters_are_refused(void **state) {
    (void)state;
    static const uint64_t wild[] = {0,
                                    1,
                                    2,
                                    17,
                                    63,
                                    64,
                                    65,
                                    127,
                                    1000,
                                    4095,
                                    4096,
                                    4097,
                                    1u << 31,
                                    (uint64_t)1 << 42,
                                    (uint64_t)1 << 58,
                                    (uint64_t)1 << 63,
                                    UINT64_MAX};
    for (unsigned i = 0; i < N_SAMPLES; i++) {
        const tamis_i_summary_kind *const kind = tamis_i_summary_by_id(samples[i].id);
        uint64_t refused = 0;
        for (unsigned member = 0; member < sizeof(tamis_i_summary_params) / 8; member++)
            for (unsigned w = 0; w < sizeof wild / sizeof wild[0]; w++) {
                tamis_i_summary_params params = samples[i].params;
                memcpy((unsigned char *)&params + (size_t)member * 8, &wild[w], 8);
                uint64_t n_words = 12345;
                const tamis_status status = kind->shape(&params, &n_words);
                if (status != TAMIS_OK) {
                    assert_true(status == TAMIS_E_ARGUMENT || status == TAMIS_E_TOO_LARGE);
                    assert_int_equal(n_words, 12345);
                    refused++;
                } else {
                    assert_true(n_words > 0 && n_words < (uint64_t)1 << 48);
                    assert_true(kind->bits(&params) <= 64 * n_words);
                }
            }
        assert_true(refused > sizeof(tamis_i_summary_params) / 8 * 8);
    }
}

/* A body of random bits is refused or can be used. */
static void test_summary_damaged_bodies_do_no_harm(void **state) {
    (void)state;
    uint64_t random = test_seed() + 2;
    for (unsigned i = 0; i < N_SAMPLES; i++) {
        tamis_i_summary s = make(&samples[i]);
        unsigned refused = 0;
        for (unsigned round = 0; round < 400; round++) {
            tamis_i_summary_clear(&s);
            for (unsigned j = 0; j < samples[i].n / 2; j++)
                assert_ok(s.kind->insert(&s, random_digest(&random),
                                         random_type(&random, s.params.n_types)));
            const unsigned flips = 1 + (unsigned)test_random_below(&random, 4);
            for (unsigned j = 0; j < flips; j++)
                s.body[test_random_below(&random, s.n_words)] ^= (uint64_t)1
                                                                 << test_random_below(&random, 64);
            if (round < 4)
                for (uint64_t j = 0; j < s.n_words; j++)
                    s.body[j] = round < 2 ? test_random(&random) : ~(uint64_t)0 * (round & 1);
            if (round == 4)
                s.body[s.n_words - 1] = ~(uint64_t)0;
            if (!checked(&s)) {
                refused++;
                continue;
            }
            for (unsigned j = 0; j < 50; j++) {
                const unsigned type = s.kind->ask(&s, random_digest(&random));
                assert_true(type == TAMIS_I_SUMMARY_NONE || type < s.params.n_types);
                const tamis_status status = s.kind->insert(&s, random_digest(&random), 0);
                assert_true(status == TAMIS_OK || status == TAMIS_E_FULL);
                if (s.kind->remove != NULL) {
                    const tamis_status removed = s.kind->remove(&s, random_digest(&random), 0);
                    assert_true(removed == TAMIS_OK || removed == TAMIS_E_NOT_FOUND);
                }
            }
        }
        assert_true(refused > 0);
        free(s.body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_kinds_are_found),
        cmocka_unit_test(test_summary_holds_what_was_inserted),
        cmocka_unit_test(test_summary_removes_what_was_inserted),
        cmocka_unit_test(test_summary_wild_parameters_are_refused),
        cmocka_unit_test(test_summary_damaged_bodies_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
