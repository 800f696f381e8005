/* test_lens.c - tamis/inline.h: answers, counts and bytes are the library's; what a lens is refused for
 *
 * Compiled as it stands, a lens calls the library.  test_lens_native.c is the same file with the instructions
 * for which it has code of its own.  With TAMIS_CPU_OFF the library is the portable one: they are compared.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "lens_runs.h"
#include "tamis/inline.h"

static const tamis_kind kinds[] = {TAMIS_KIND_LINE, TAMIS_KIND_LINE_SET, TAMIS_KIND_BLOCKED_BLOOM,
                                   TAMIS_KIND_RANK};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool can_remove(tamis_kind kind) {
    return (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
}

/* Parameters of all sorts: forms that a lens looks into and others, and both hashes. */
static tamis_params any_params(tamis_kind kind, uint64_t *random) {
    tamis_params p =
        test_bare_params(kind, 1 + test_random_below(random, 3000), 1 + test_random(random));
    uint64_t *const v = p.value;
    p.hash = test_random_below(random, 4) == 0 ? TAMIS_HASH_XXH3 : TAMIS_HASH_AES;
    p.stash = kind == TAMIS_KIND_BLOCKED_BLOOM ? 0 : 1 + test_random_below(random, 40);
    switch (kind) {
    case TAMIS_KIND_LINE:
    case TAMIS_KIND_LINE_SET:
        v[TAMIS_LINE_LINES] = p.capacity / (10 + test_random_below(random, 60)) + 1;
        v[TAMIS_LINE_HOMES] =
            test_random_below(random, 3) != 0 ? 64 : 1 + test_random_below(random, 128);
        if (test_random_below(random, 3) == 0)
            v[TAMIS_LINE_BITS_MAX] = 1 + test_random_below(random, 56);
        if (kind == TAMIS_KIND_LINE_SET && test_random_below(random, 4) == 0)
            v[TAMIS_LINE_LIMIT] = 1 + test_random_below(random, 64);
        break;
    case TAMIS_KIND_BLOCKED_BLOOM:
        if (test_random_below(random, 3) == 0)
            v[TAMIS_BLOCKED_BLOOM_LANES] = 8;
        else
            v[TAMIS_BLOCKED_BLOOM_HASHES] = 1 + test_random_below(random, 16);
        break;
    default:
        v[TAMIS_RANK_FINGERPRINT_BITS] = 1 + test_random_below(random, 56);
        v[TAMIS_RANK_VALUE_BITS] = test_random_below(random, 2) * test_random_below(random, 9);
        if (test_random_below(random, 2) == 0) {
            v[TAMIS_RANK_HOMES] = 1 + test_random_below(random, 64);
            v[TAMIS_RANK_SLOTS] = 1 + test_random_below(random, 100);
            v[TAMIS_RANK_BUCKETS] = p.capacity / v[TAMIS_RANK_HOMES] + 1;
            v[TAMIS_RANK_SLOTS_2] = 1 + test_random_below(random, 20);
            v[TAMIS_RANK_EXTENSIONS_2] = 1 + test_random_below(random, v[TAMIS_RANK_BUCKETS]);
        }
        break;
    }
    return p;
}

/* Its own form, or another one, which makes calls. */
static uint32_t any_form(const tamis_lens *lens, uint64_t i) {
    return i % 3 == 0 ? (uint32_t)(i / 3 % (TAMIS_LENS_LANES + 1)) : lens->form;
}

static void assert_same_answers(const tamis_filter *filter, const tamis_lens *lens,
                                uint64_t *random, uint64_t keys) {
    for (unsigned i = 0; i < 200; i++) {
        const uint32_t form = any_form(lens, i);
        const uint64_t key = test_random_below(random, 2 * keys);
        const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(filter), key),
                           same = tamis_lens_digest_u64(lens, key);
        assert_true(digest.lo == same.lo && digest.hi == same.hi);
        const bool present = tamis_filter_contains_digest(filter, digest);
        assert_int_equal(tamis_lens_contains_digest(lens, digest), present);
        assert_int_equal(tamis_lens_contains_u64(lens, key), present);
        assert_int_equal(tamis_lens_contains_u64_as(lens, form, key), present);
        assert_int_equal(tamis_lens_contains_digest_as(lens, form, digest), present);
        assert_int_equal(tamis_filter_contains_u64(filter, key), present);
    }
}

/* The same history three times: by digests, by integers, and by a lens. */
static void test_lens_equals_library(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned made = 0, refused = 0, removed = 0;
    for (unsigned round = 0; round < 240; round++) {
        const tamis_kind kind = kinds[round % KINDS];
        tamis_params p = any_params(kind, &random);
        tamis_filter *one, *two, *three;
        if (tamis_filter_create(&p, NULL, &one) != TAMIS_OK)
            continue;
        made++;
        assert_ok(tamis_filter_clone(one, NULL, &two));
        assert_ok(tamis_filter_clone(one, NULL, &three));
        tamis_lens lens;
        assert_ok(tamis_lens_write(three, TAMIS_LENS_VERSION, &lens));
        const uint64_t keys =
            p.capacity + test_random_below(&random, 2 * p.capacity); /* also too many */
        for (uint64_t i = 0; i < 2 * keys; i++) {
            const uint64_t key = test_random_below(&random, keys);
            const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(one), key);
            bool a = false, b = false, c = false;
            if (can_remove(kind) && test_random_below(&random, 3) == 0) {
                if (tamis_filter_copies_digest(one, digest) == 0)
                    continue; /* what is not there must not be removed */
                const tamis_status status = tamis_filter_remove_digest(one, digest);
                assert_status(tamis_filter_remove_u64(two, key), status);
                assert_status(i % 2 == 0 ? tamis_lens_remove_u64(&lens, key)
                                         : tamis_lens_remove_u64_as(&lens, any_form(&lens, i), key),
                              status);
                removed++;
                continue;
            }
            const tamis_status status = tamis_filter_insert_digest(one, digest, &a);
            assert_status(tamis_filter_insert_u64(two, key, &b), status);
            assert_status(i % 2 == 0 ? tamis_lens_insert_u64(&lens, key, &c)
                                     : tamis_lens_insert_u64_as(&lens, any_form(&lens, i), key, &c),
                          status);
            assert_true(a == b && a == c);
            refused += status == TAMIS_E_FULL;
            if (i % 1024 == 0)
                assert_same_answers(three, &lens, &random, keys);
        }
        assert_true(tamis_filter_count(one) == tamis_filter_count(three));
        assert_same(one, two);
        assert_same(one, three);
        assert_same_answers(three, &lens, &random, keys);
        tamis_filter_free(one);
        tamis_filter_free(two);
        tamis_filter_free(three);
    }
    printf("# %u filters, %u inserts refused, %u removals\n", made, refused, removed);
    assert_true(made > 150 && refused > 100 && removed > 1000);
}

/* Filters as they are planned, full: the common case of each form. */
static void test_lens_equals_library_on_plans(void **state) {
    (void)state;
    static const double rates[] = {0.02, 0.002, 0.0002};
    for (unsigned i = 0; i < 3 * KINDS; i++) {
        const tamis_kind kind = kinds[i % KINDS];
        tamis_filter *const one = test_filter(kind, 5000, rates[i / KINDS], 7), *three;
        assert_ok(tamis_filter_clone(one, NULL, &three));
        tamis_lens lens;
        assert_ok(tamis_lens_write(three, TAMIS_LENS_VERSION, &lens));
        for (uint64_t key = 0; key < 5000; key++) {
            const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(one), key);
            assert_ok(tamis_filter_insert_digest(one, digest, NULL));
            assert_ok(tamis_lens_insert_digest(&lens, digest, NULL));
        }
        assert_same(one, three);
        for (uint64_t key = 0; key < 10000; key++)
            assert_int_equal(tamis_lens_contains_u64(&lens, key),
                             tamis_filter_contains_u64(one, key));
        for (uint64_t key = 0; can_remove(kind) && key < 5000; key++) {
            const tamis_digest digest = tamis_hash_u64(tamis_filter_hasher(one), key);
            assert_ok(tamis_filter_remove_digest(one, digest));
            assert_ok(tamis_lens_remove_digest(&lens, digest));
        }
        assert_same(one, three);
        tamis_filter_free(one);
        tamis_filter_free(three);
    }
}

/* A lens holds through whatever happens to its filter, also when it grows. */
static void test_lens_outlives_changes_of_its_filter(void **state) {
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        tamis_filter *const f = test_filter(kinds[i], 500, 0.001, 3);
        tamis_lens lens, other;
        assert_ok(tamis_lens_write(f, TAMIS_LENS_VERSION, &lens));
        assert_ok(tamis_lens_insert_u64(&lens, 1, NULL));
        assert_ok(tamis_filter_clear(f));
        assert_false(tamis_lens_contains_u64(&lens, 1));
        tamis_growth growth;
        tamis_growth_init(&growth);
        growth.automatic = true;
        growth.fpr = 0.01;
        assert_ok(tamis_filter_allow_growth(f, &growth));
        for (uint64_t key = 0; key < 5000; key++)
            assert_ok(tamis_lens_insert_u64(&lens, key, NULL));
        assert_true(test_info(f).n_links > 1);
        for (uint64_t key = 0; key < 5000; key++) {
            assert_true(tamis_lens_contains_u64(&lens, key));
            assert_true(tamis_filter_contains_u64(f, key));
        }
        memset(&other, 0, sizeof other);
        const tamis_lens untouched = other;
        assert_status(tamis_lens_read(f, TAMIS_LENS_VERSION, &other), TAMIS_E_UNSUPPORTED);
        assert_status(tamis_lens_write(f, TAMIS_LENS_VERSION, &other), TAMIS_E_UNSUPPORTED);
        assert_memory_equal(&other, &untouched, sizeof other);
        if (can_remove(kinds[i]))
            for (uint64_t key = 0; key < 5000; key++) {
                const tamis_status status = tamis_lens_remove_u64(&lens, key);
                assert_true(status == TAMIS_OK || status == TAMIS_E_AMBIGUOUS);
            }
        tamis_filter_free(f);
    }
}

static void test_lens_on_a_view_reads_and_does_not_write(void **state) {
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        tamis_filter *const f = test_filter(kinds[i], 500, 0.001, 3), *view;
        for (uint64_t key = 0; key < 500; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        size_t size;
        unsigned char *const bytes = test_encoded(f, &size);
        if (tamis_filter_view(bytes, size, NULL, &view, NULL) ==
            TAMIS_OK) { /* not on every machine */
            tamis_lens lens;
            assert_status(tamis_lens_write(view, TAMIS_LENS_VERSION, &lens), TAMIS_E_READONLY);
            assert_ok(tamis_lens_read(view, TAMIS_LENS_VERSION, &lens));
            for (uint64_t key = 0; key < 3000; key++)
                assert_int_equal(tamis_lens_contains_u64(&lens, key),
                                 tamis_filter_contains_u64(f, key));
            assert_status(tamis_lens_insert_u64(&lens, 1, NULL), TAMIS_E_READONLY);
            assert_status(tamis_lens_remove_u64(&lens, 1), TAMIS_E_READONLY);
            assert_status(tamis_filter_insert_u64(view, 1, NULL), TAMIS_E_READONLY);
            tamis_filter_free(view);
        }
        free(bytes);
        tamis_filter_free(f);
    }
}

static void test_lens_of_other_kinds_and_versions_is_refused(void **state) {
    (void)state;
    unsigned taken = 0;
    for (tamis_kind kind = test_next_kind(TAMIS_KIND_ANY); kind != TAMIS_KIND_ANY;
         kind = test_next_kind(kind)) {
        tamis_filter *const f = test_filter(kind, 100, 0.01, 5);
        bool known = false;
        for (unsigned i = 0; i < KINDS; i++)
            known = known || kinds[i] == kind;
        tamis_lens lens;
        const tamis_status status = tamis_lens_read(f, TAMIS_LENS_VERSION, &lens);
        assert_status(status, known ? TAMIS_OK : TAMIS_E_UNSUPPORTED);
        assert_status(tamis_lens_write(f, TAMIS_LENS_VERSION, &lens), status);
        taken += status == TAMIS_OK;
        assert_status(tamis_lens_read(f, TAMIS_LENS_VERSION + 1, &lens), TAMIS_E_VERSION);
        assert_status(tamis_lens_write(f, 0, &lens), TAMIS_E_VERSION);
        assert_status(tamis_lens_read(f, TAMIS_LENS_VERSION, NULL), TAMIS_E_ARGUMENT);
        assert_status(tamis_lens_write(NULL, TAMIS_LENS_VERSION, &lens), TAMIS_E_ARGUMENT);
        tamis_filter_free(f);
    }
    assert_int_equal(taken, KINDS);
}

int main(void) {
#ifdef TAMIS_LENS_X86
    if (!test_lens_runs()) {
        puts("# skipped: this processor has not what it is compiled for");
        return 0;
    }
    puts("# with code of its own");
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lens_equals_library),
        cmocka_unit_test(test_lens_equals_library_on_plans),
        cmocka_unit_test(test_lens_outlives_changes_of_its_filter),
        cmocka_unit_test(test_lens_on_a_view_reads_and_does_not_write),
        cmocka_unit_test(test_lens_of_other_kinds_and_versions_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
