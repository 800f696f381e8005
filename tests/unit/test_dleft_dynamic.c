/* test_dleft_dynamic.c - the dynamic d-left counting filter in tables where everything collides
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/cpu.h"
#include "bits/x86/dynamic_test.h"
#include "filter/choices.h"
#include "small_multiset.h"

static tamis_params shape(uint64_t capacity, uint64_t seed, uint64_t sizes) {
    tamis_params params = test_bare_params(TAMIS_KIND_DLEFT_DYNAMIC, capacity, seed);
    params.value[TAMIS_DLEFT_DYNAMIC_SIZES] = sizes;
    return params;
}

/* Minimal remainders of two or three bits: keys share them, and differ in the bits that come and go. */
static void test_dleft_dynamic_no_removal_is_ambiguous(void **state) {
    (void)state;
    uint64_t random = test_seed();
    small_tally tally = {0};
    for (unsigned round = 0; round < 3000; round++) {
        tamis_params params = shape(SMALL_KEYS, round + 1, 1 + round % 2);
        params.stash = 1 + random % 5;
        params.value[TAMIS_DLEFT_DYNAMIC_SUBTABLES] = 2 + test_random_below(&random, 3);
        params.value[TAMIS_DLEFT_DYNAMIC_BUCKETS] = 1 + test_random_below(&random, 3);
        params.value[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS] = 32 + test_random_below(&random, 10);
        params.value[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS] = 2 + test_random_below(&random, 4);
        params.value[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] =
            random % 3 == 0 ? TAMIS_NONE : 1 + random % 2;
        params.value[TAMIS_DLEFT_DYNAMIC_MOVES] = random % 4 == 0 ? TAMIS_NONE : 1 + random % 3;
        small_multiset_run(&params, &random, &tally);
    }
    print_message("# %llu calls, %llu refused, %llu keys in stashes at the end\n",
                  (unsigned long long)tally.calls, (unsigned long long)tally.full,
                  (unsigned long long)tally.stashed);
    assert_true(tally.full > 1000 && tally.stashed > 1000);
}

static void test_dleft_dynamic_heavy_key_leaves_room_for_others(void **state) {
    (void)state;
    for (uint64_t sizes = 1; sizes <= 2; sizes++) {
        const tamis_params params = shape(1000, 3, sizes);
        small_heavy_key(&params);
    }
}

static void test_dleft_dynamic_bad_parameters_are_refused(void **state) {
    (void)state;
    static const small_bad bad[] = {{TAMIS_DLEFT_DYNAMIC_SUBTABLES, 1},
                                    {TAMIS_DLEFT_DYNAMIC_SUBTABLES, 5},
                                    {TAMIS_DLEFT_DYNAMIC_SUBTABLES, UINT64_MAX},
                                    {TAMIS_DLEFT_DYNAMIC_BUCKETS, ((uint64_t)1 << 38) + 1},
                                    {TAMIS_DLEFT_DYNAMIC_BUCKET_BITS, 16},
                                    {TAMIS_DLEFT_DYNAMIC_BUCKET_BITS, 513},
                                    {TAMIS_DLEFT_DYNAMIC_BUCKET_BITS, UINT64_MAX},
                                    {TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS, 1},
                                    {TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS, 33},
                                    {TAMIS_DLEFT_DYNAMIC_COUNTER_BITS, 9},
                                    {TAMIS_DLEFT_DYNAMIC_SIZES, 3},
                                    {TAMIS_DLEFT_DYNAMIC_MOVES, 9}};
    const tamis_params params = shape(100, 1, 0);
    small_refused(&params, bad, sizeof bad / sizeof bad[0]);
}

/* Remainders shrink as the table fills, and the error rate tells. */
static void test_dleft_dynamic_error_rate_rises_with_the_load(void **state) {
    (void)state;
    for (uint64_t sizes = 1; sizes <= 2; sizes++) {
        const tamis_params params = shape(6000, 5, sizes);
        tamis_filter *const f = small_make(&params);
        double last = -1;
        for (uint64_t key = 0; key < 6000; key++) {
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
            if (key % 1500 == 1499) {
                tamis_info info;
                tamis_info_init(&info);
                assert_ok(tamis_filter_info(f, &info));
                assert_true(info.fpr > 3 * last);
                last = info.fpr;
            }
        }
        print_message("# sizes %u: %.3g\n", (unsigned)sizes, last);
        assert_true(last < 1e-3);
        tamis_filter_free(f);
    }
}

/* Keys first, first + 1, ... as digests. */
typedef struct keys {
    uint64_t seed, first, n, next;
    bool fails;
} keys;

static bool keys_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    keys *const k = context;
    for (*n = 0; *n < room && k->next < k->n; ++*n)
        digests[*n] = test_hash_u64(k->seed, k->first + k->next++);
    return !k->fails;
}

static bool keys_rewind(void *context) {
    ((keys *)context)->next = 0;
    return true;
}

static double rate_of(const tamis_filter *f) {
    tamis_info info;
    tamis_info_init(&info);
    assert_ok(tamis_filter_info(f, &info));
    return info.fpr;
}

static void test_dleft_dynamic_refresh_brings_lengths_back(void **state) {
    (void)state;
    enum { N = 6000, ROUNDS = 20 };
    for (uint64_t sizes = 1; sizes <= 2; sizes++) {
        const tamis_params params = shape(N, 5, sizes);
        tamis_filter *const f = small_make(&params);
        for (uint64_t key = 0; key < N; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        const double filled = rate_of(f);
        uint64_t first = 0;
        for (; first < (uint64_t)N * ROUNDS; first++) {
            assert_ok(tamis_filter_remove_u64(f, first));
            assert_ok(tamis_filter_insert_u64(f, first + N, NULL));
        }
        const double worn = rate_of(f);
        assert_true(worn > 1.3 * filled);
        size_t size;
        unsigned char *const before = test_encoded(f, &size);
        keys k = {.seed = params.seed, .first = first, .n = N - 1};
        const tamis_source source = {.read = keys_read, .rewind = keys_rewind, .context = &k};
        assert_status(tamis_filter_refresh(f, &source), TAMIS_E_MISMATCH); /* one too few */
        k.first++;
        k.n = N; /* one that is not in */
        assert_status(tamis_filter_refresh(f, &source), TAMIS_E_MISMATCH);
        k.first = first;
        k.fails = true;
        assert_status(tamis_filter_refresh(f, &source), TAMIS_E_IO);
        assert_status(tamis_filter_refresh(f, NULL), TAMIS_E_ARGUMENT);
        assert_encoded(f, before, size);
        free(before);
        k.fails = false;
        assert_ok(tamis_filter_refresh(f, &source));
        print_message("# sizes %u: filled %.3g, worn %.3g, refreshed %.3g\n", (unsigned)sizes,
                      filled, worn, rate_of(f));
        assert_true(rate_of(f) < 1.2 * filled);
        for (uint64_t key = first; key < first + N; key++)
            assert_true(tamis_filter_contains_u64(f, key));
        tamis_filter_free(f);
    }
}

/* ---- kernels ---- */

enum { BATCH = 70 };

/* The same calls to a filter with the best kernels, in batches or one by one, and to one with none. */
static void same_calls(tamis_filter *best, tamis_filter *plain, uint64_t n_keys, uint64_t *random,
                       uint64_t *full) {
    uint64_t drawn[BATCH];
    bool answers[BATCH], expected[BATCH];
    const size_t n = 1 + (size_t)test_random_below(random, BATCH);
    const unsigned what = (unsigned)test_random_below(random, 8);
    for (size_t i = 0; i < n; i++)
        drawn[i] = test_random_below(random, n_keys);
    if (what < 4) {
        size_t done = 0, done_plain = 0;
        const tamis_status status = tamis_filter_insert_many_u64(best, drawn, n, answers, &done);
        assert_status(tamis_filter_insert_many_u64(plain, drawn, n, expected, &done_plain), status);
        assert_int_equal(done, done_plain);
        assert_memory_equal(answers, expected, done * sizeof *answers);
        *full += status != TAMIS_OK;
    } else if (what < 6) {
        size_t count = 0, count_plain = 0;
        assert_ok(tamis_filter_remove_many_u64(best, drawn, n, answers, &count));
        assert_ok(tamis_filter_remove_many_u64(plain, drawn, n, expected, &count_plain));
        assert_int_equal(count, count_plain);
        assert_memory_equal(answers, expected, n * sizeof *answers);
    } else if (what < 7) {
        assert_int_equal(tamis_filter_contains_many_u64(best, drawn, n, answers),
                         tamis_filter_contains_many_u64(plain, drawn, n, expected));
        assert_memory_equal(answers, expected, n * sizeof *answers);
    } else {
        bool added = false, added_plain = false;
        assert_int_equal(tamis_filter_contains_u64(best, drawn[0]),
                         tamis_filter_contains_u64(plain, drawn[0]));
        assert_int_equal(tamis_filter_insert_u64(best, drawn[0], &added),
                         tamis_filter_insert_u64(plain, drawn[0], &added_plain));
        assert_int_equal(added, added_plain);
        assert_int_equal(tamis_filter_remove_u64(best, drawn[n - 1]),
                         tamis_filter_remove_u64(plain, drawn[n - 1]));
    }
}

static void test_dleft_dynamic_kernels_make_the_same_table(void **state) {
    (void)state;
    static const uint64_t bits[] = {128, 136, 168, 168, 184, 256};
    uint64_t random = test_seed(), full = 0, stashed = 0;
    for (unsigned round = 0; round < 120; round++) {
        tamis_params params = shape(1000, round + 1, 2);
        params.stash = 4 + test_random_below(&random, 20);
        params.value[TAMIS_DLEFT_DYNAMIC_SUBTABLES] = round % 2 == 0 ? 3 : 2 + round / 2 % 3;
        params.value[TAMIS_DLEFT_DYNAMIC_BUCKETS] = 1 + test_random_below(&random, 40);
        params.value[TAMIS_DLEFT_DYNAMIC_BUCKET_BITS] = bits[round % 6];
        params.value[TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS] = 8 + test_random_below(&random, 8);
        params.value[TAMIS_DLEFT_DYNAMIC_COUNTER_BITS] = TAMIS_NONE;
        params.value[TAMIS_DLEFT_DYNAMIC_MOVES] = round % 3 == 0 ? TAMIS_NONE : 1 + round % 3;
        tamis_filter *const best = small_make(&params), *const plain = small_make(&params);
        plain->features = 0;
        plain->kind->attach(plain);
        const uint64_t n_keys = 20 + test_random_below(&random, 2000);
        for (unsigned step = 0; step < 60; step++)
            same_calls(best, plain, n_keys, &random, &full);
        size_t size;
        unsigned char *const image = test_encoded(plain, &size);
        assert_encoded(best, image, size);
        free(image);
        stashed += small_stash_used(best);
        tamis_filter_free(best);
        tamis_filter_free(plain);
    }
    print_message("# %llu batches refused, %llu keys in stashes at the end\n",
                  (unsigned long long)full, (unsigned long long)stashed);
    assert_true(full > 10 && stashed > 10);
}

#if defined(__x86_64__) && defined(__GNUC__)

/* Tables of any size: nothing is read from them. */
static void test_dleft_dynamic_four_keys_are_located_like_one(void **state) {
    (void)state;
    uint64_t random = test_seed(), table = 0;
    const unsigned features = tamis_i_cpu_features();
    if (!test_has_vectors(features))
        skip();
    for (unsigned round = 0; round < 20000; round++) {
        tamis_i_choices choices;
        const uint64_t bits = 8 * (16 + test_random_below(&random, 49));
        const uint64_t remainder = 9 + test_random_below(&random, 24);
        const uint64_t buckets =
            round % 100 == 0 ? ((uint64_t)1 << 29) - 1
                             : 1 + (test_random(&random) >> 35 >> test_random_below(&random, 29));
        tamis_i_choices_init(&choices, round, 3, buckets, remainder, bits);
        tamis_digest digests[4];
        tamis_i_probe probes[4], bytes, one;
        for (unsigned i = 0; i < 4; i++)
            digests[i] = (tamis_digest){.lo = test_random(&random), .hi = test_random(&random)};
        if (round % 50 == 0)
            digests[round % 4].lo = ~(uint64_t)0;
        tamis_i_choices_test_locate_four(&choices, &table, digests, probes);
        for (unsigned i = 0; i < 4; i++) {
            tamis_i_choices_locate(&choices, 3, &table, digests[i], &one);
            tamis_i_choices_locate_bytes(&choices, 3, (unsigned char *)&table, digests[i], &bytes);
            for (unsigned j = 0; j < 3; j++) {
                const uintptr_t at = (uintptr_t)one.at[j] + one.word[1 + j] / 8;
                assert_true((uintptr_t)bytes.at[1 + j] == at);
                assert_true((uintptr_t)probes[i].at[1 + j] == at);
            }
            assert_true(probes[i].word[0] ==
                        (one.word[0] << (64 - remainder) | digests[i].hi >> remainder));
        }
    }
}

#else

static void test_dleft_dynamic_four_keys_are_located_like_one(void **state) {
    (void)state;
    skip(); /* only here are there vectors */
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dleft_dynamic_no_removal_is_ambiguous),
        cmocka_unit_test(test_dleft_dynamic_heavy_key_leaves_room_for_others),
        cmocka_unit_test(test_dleft_dynamic_bad_parameters_are_refused),
        cmocka_unit_test(test_dleft_dynamic_error_rate_rises_with_the_load),
        cmocka_unit_test(test_dleft_dynamic_refresh_brings_lengths_back),
        cmocka_unit_test(test_dleft_dynamic_kernels_make_the_same_table),
        cmocka_unit_test(test_dleft_dynamic_four_keys_are_located_like_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
