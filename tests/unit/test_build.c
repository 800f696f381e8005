/* test_build.c - filters from all keys at once
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"
#include "tamis/plan.h"

enum { KEYS = 20000 };

static tamis_digest *digests_of(uint64_t seed, size_t n) {
    tamis_digest *const digests = malloc((n + 1) * sizeof *digests);
    assert_non_null(digests);
    for (size_t i = 0; i < n; i++)
        digests[i] = test_hash_u64(seed, i);
    return digests;
}

static tamis_plan plan_for(tamis_kind kind, uint64_t n, double fpr, bool offline) {
    tamis_need need = test_need(kind, n, fpr);
    need.offline = offline;
    tamis_plan plan = test_planned(&need);
    plan.params.seed = test_seed();
    return plan;
}

static double rate_of(const tamis_filter *filter) {
    const tamis_info info = test_info(filter);
    return info.fpr;
}

static void test_build_every_kind_holds_all_keys(void **state) {
    (void)state;
    tamis_digest *const digests = digests_of(test_seed(), KEYS);
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != TAMIS_KIND_ANY;) {
        const tamis_plan plan = plan_for(kind, KEYS, 0.001, true);
        test_allocator counted;
        tamis_filter *filter = NULL;
        test_allocator_init(&counted, -1);
        assert_ok(tamis_filter_build_many(&plan.params, digests, KEYS, NULL, &counted.allocator,
                                          &filter));
        assert_int_equal(counted.live, 1); /* the work space is gone */
        assert_int_equal(tamis_filter_contains_many_digest(filter, digests, KEYS, NULL), KEYS);
        /* A false positive among the keys themselves is not counted again in a set. */
        assert_in_range(tamis_filter_count(filter), KEYS - 60, KEYS);
        bool added;
        assert_ok(tamis_filter_insert(filter, "one more", 8, &added));
        assert_true(tamis_filter_contains(filter, "one more", 8));
        tamis_filter_free(filter);
        assert_int_equal(counted.live, 0);
    }
    free(digests);
}

static void test_build_is_deterministic_and_better_with_passes(void **state) {
    (void)state;
    const tamis_plan plan = plan_for(TAMIS_KIND_DLEFT, KEYS, 3e-4, true);
    tamis_digest *const digests = digests_of(test_seed(), KEYS);
    tamis_build_options how;
    double before = 1;
    tamis_build_options_init(&how);
    for (how.passes = 1; how.passes <= 16; how.passes *= 4) {
        tamis_filter *a = NULL, *b = NULL;
        assert_ok(tamis_filter_build_many(&plan.params, digests, KEYS, &how, NULL, &a));
        assert_ok(tamis_filter_build_many(&plan.params, digests, KEYS, &how, NULL, &b));
        const size_t size = (size_t)tamis_filter_encoded_size(a);
        unsigned char *const x = malloc(size), *const y = malloc(size);
        assert_true(x != NULL && y != NULL);
        assert_ok(tamis_filter_encode(a, x, size));
        assert_ok(tamis_filter_encode(b, y, size));
        assert_memory_equal(x, y, size);
        printf("# %u passes: %.4g\n", how.passes, rate_of(a));
        assert_true(rate_of(a) < before);
        before = rate_of(a);
        free(x);
        free(y);
        tamis_filter_free(a);
        tamis_filter_free(b);
    }
    free(digests);
}

static void test_build_repeated_keys_are_one(void **state) {
    (void)state;
    const tamis_plan plan = plan_for(TAMIS_KIND_DLEFT, 1000, 1e-3, true);
    tamis_digest *const digests = digests_of(plan.params.seed, 1000);
    for (size_t i = 500; i < 1000; i++) /* one key 500 times: more than a load can count */
        digests[i] = digests[7];
    tamis_filter *filter = NULL;
    assert_ok(tamis_filter_build_many(&plan.params, digests, 1000, NULL, NULL, &filter));
    assert_in_range(tamis_filter_count(filter), 495, 500);
    assert_int_equal(tamis_filter_contains_many_digest(filter, digests, 1000, NULL), 1000);
    tamis_filter_free(filter);
    free(digests);
}

/* A source that fails, or changes its mind about the number of keys, at the chosen read. */
typedef struct moody {
    int reads_left, rewinds_left;
    size_t n, at, extra;
} moody;

static bool moody_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    moody *const m = context;
    if (m->reads_left-- == 0)
        return false;
    for (*n = 0; *n < room && m->at < m->n; ++*n)
        digests[*n] = test_hash_u64(1, m->at++);
    return true;
}

static bool moody_rewind(void *context) {
    moody *const m = context;
    m->at = 0;
    m->n += m->extra;
    return m->rewinds_left-- != 0;
}

static void test_build_failing_source_leaves_nothing(void **state) {
    (void)state;
    const tamis_kind kinds[] = {TAMIS_KIND_DLEFT, TAMIS_KIND_BLOOM};
    for (unsigned k = 0; k < 2; k++) {
        const tamis_plan plan = plan_for(kinds[k], 3000, 1e-3, true);
        for (int fail = 0; fail < 60; fail++) {
            moody m = {.reads_left = fail % 3 == 0 ? fail / 3 : -1,
                       .rewinds_left = fail % 3 == 1 ? fail / 3 : -1,
                       .n = 3000,
                       .extra = fail % 3 == 2 ? 1 : 0};
            const tamis_source source = {moody_read, moody_rewind, &m};
            test_allocator counted;
            tamis_filter *filter = NULL;
            test_allocator_init(&counted, -1);
            const tamis_status status =
                tamis_filter_build(&plan.params, &source, NULL, &counted.allocator, &filter);
            if (status == TAMIS_OK) {
                assert_non_null(filter);
                tamis_filter_free(filter);
            } else {
                assert_int_equal(status, TAMIS_E_IO);
                assert_null(filter);
            }
            assert_int_equal(counted.live, 0);
        }
    }
}

static void test_build_failing_allocation_leaves_nothing(void **state) {
    (void)state;
    const tamis_plan plan = plan_for(TAMIS_KIND_DLEFT, 1000, 1e-3, true);
    tamis_digest *const digests = digests_of(plan.params.seed, 1000);
    for (long fail = 0; fail < 2; fail++) {
        test_allocator failing;
        tamis_filter *filter = NULL;
        test_allocator_init(&failing, fail);
        assert_status(
            tamis_filter_build_many(&plan.params, digests, 1000, NULL, &failing.allocator, &filter),
            TAMIS_E_NOMEM);
        assert_null(filter);
        assert_int_equal(failing.live, 0);
    }
    free(digests);
}

static unsigned steps;
static double last_step;

static void count_step(void *context, double fraction) {
    assert_ptr_equal(context, &steps);
    assert_true(fraction >= last_step && fraction <= 1.0000001);
    last_step = fraction;
    steps++;
}

static void test_build_arguments_and_progress(void **state) {
    (void)state;
    tamis_plan plan = plan_for(TAMIS_KIND_DLEFT, 5000, 1e-3, true);
    tamis_digest *const digests = digests_of(plan.params.seed, 5000);
    tamis_build_options how;
    tamis_filter *filter = NULL;
    tamis_build_options_init(&how);
    how.progress = count_step;
    how.context = &steps;
    assert_ok(tamis_filter_build_many(&plan.params, digests, 5000, &how, NULL, &filter));
    assert_true(steps > 10 && last_step > 0.999);
    tamis_filter_free(filter);
    filter = NULL;
    assert_ok(tamis_filter_build_many(&plan.params, NULL, 0, NULL, NULL, &filter)); /* no keys */
    assert_int_equal(tamis_filter_count(filter), 0);
    tamis_filter_free(filter);
    filter = NULL;

    how.passes = 1001;
    assert_status(tamis_filter_build_many(&plan.params, digests, 1, &how, NULL, &filter),
                  TAMIS_E_ARGUMENT);
    how.passes = 1;
    how.ties = (tamis_ties)3;
    assert_status(tamis_filter_build_many(&plan.params, digests, 1, &how, NULL, &filter),
                  TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_build_many(&plan.params, NULL, 1, NULL, NULL, &filter),
                  TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_build(&plan.params, NULL, NULL, NULL, &filter), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_build_many(NULL, digests, 1, NULL, NULL, &filter), TAMIS_E_ARGUMENT);
    plan.params.seed = 0; /* the digests have one */
    assert_status(tamis_filter_build_many(&plan.params, digests, 1, NULL, NULL, &filter),
                  TAMIS_E_ARGUMENT);
    assert_null(filter);
    free(digests);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build_every_kind_holds_all_keys),
        cmocka_unit_test(test_build_is_deterministic_and_better_with_passes),
        cmocka_unit_test(test_build_repeated_keys_are_one),
        cmocka_unit_test(test_build_failing_source_leaves_nothing),
        cmocka_unit_test(test_build_failing_allocation_leaves_nothing),
        cmocka_unit_test(test_build_arguments_and_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
