/* test_grow_merge.c - series become one: what the union holds, when it is refused
 *
 * SPDX-License-Identifier: MIT
 */
#include "growing.h"

#include "base/base.h"

#include <math.h>

/* A growing filter with the keys from 'from' up to 'to'. */
static tamis_filter *growing_with(tamis_kind kind, uint64_t n, double fpr,
                                  const tamis_allocator *allocator, uint64_t from, uint64_t to) {
    tamis_filter *const f = growing(kind, n, fpr, allocator);
    for (uint64_t key = from; key < to; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    return f;
}

static void assert_keys(const tamis_filter *f, uint64_t n) {
    for (uint64_t key = 0; key < n; key++)
        assert_true(tamis_filter_contains_u64(f, key));
}

/* Series of different sizes become one, which goes on growing under its promise. */
static void test_merge_series_hold_all_keys(void **state) {
    (void)state;
    enum { HALF = 2000, UNION = 2 * HALF, ALL = 5 * HALF, ASKED = 100000 };
    const double promise = 0.04;
    for_each_kind(kind) {
        tamis_filter *const f = growing_with(kind, 300, 0.02, NULL, 0, HALF);
        tamis_filter *const g = growing_with(kind, 500, 0.02, NULL, HALF, UNION), *h;
        const tamis_info of_f = test_info(f), of_g = test_info(g);
        const tamis_growth growth = growth_of(promise, true);
        assert_ok(tamis_filter_allow_growth(f, &growth));
        assert_ok(tamis_filter_merge(f, g, 0));
        const tamis_info both = test_info(f);
        assert_int_equal(both.n_links, of_f.n_links + of_g.n_links);
        assert_int_equal(both.count, of_f.count + of_g.count);
        assert_true(both.fpr <= of_f.fpr + of_g.fpr);
        assert_keys(f, UNION);
        size_t size;
        unsigned char *const bytes = test_encoded(f, &size);
        assert_ok(tamis_filter_decode(bytes, size, NULL, &h, NULL));
        assert_encoded(h, bytes, size);
        for (uint64_t key = UNION; key < ALL; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        assert_keys(f, ALL);
        tamis_info next, last;
        tamis_info_init(&next);
        tamis_info_init(&last);
        /* No link is filled further, and the next one is twice as large as the largest. */
        assert_ok(tamis_filter_link_info(f, both.n_links - 1, &last));
        assert_true(last.capacity < 1000 &&
                    last.count >= last.capacity); /* g has 500, 1000, 2000 */
        assert_ok(tamis_filter_link_info(f, both.n_links, &next));
        assert_int_equal(next.capacity, 2 * 1200); /* f has 300, 600, 1200 */
        uint64_t hits = 0;
        for (uint64_t key = 0; key < ASKED; key++)
            hits += tamis_filter_contains_u64(f, UINT64_C(1) << 40 | key);
        assert_true((double)hits < ASKED * promise + 4.5 * sqrt(ASKED * promise));
        assert_true(test_info(f).fpr <= promise);
        tamis_filter_free(f);
        tamis_filter_free(g);
        tamis_filter_free(h);
        free(bytes);
    }
}

/* One of both is no series; links without keys are left out; removals lose no key of either. */
static void test_merge_with_plain_filters(void **state) {
    (void)state;
    tamis_filter *const f = test_filter(TAMIS_KIND_RANK, 1000, 0.01, test_seed());
    tamis_filter *const g = growing_with(TAMIS_KIND_RANK, 500, 0.1, NULL, 1000, 2000);
    tamis_filter *const empty = growing(TAMIS_KIND_RANK, 500, 0.1, NULL);
    for (uint64_t key = 0; key < 1000; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    assert_ok(tamis_filter_merge(f, empty, 0));
    assert_int_equal(test_info(f).n_links, 1);
    assert_true(test_info(f).fpr_promised == 0.01 && !test_info(f).grows);
    assert_status(tamis_filter_merge(f, g, 0), TAMIS_E_PROMISE); /* of g more was promised */
    const tamis_growth growth = growth_of(0.1, false);
    assert_ok(tamis_filter_allow_growth(f, &growth));
    assert_ok(tamis_filter_merge(f, g, 0));
    assert_int_equal(test_info(f).n_links, 3);
    assert_true(fabs(test_info(f).fpr_promised - 0.1) < 1e-12);
    assert_ok(tamis_filter_merge(empty, f, 0));
    assert_int_equal(test_info(empty).n_links, 4);
    assert_keys(empty, 2000);
    for (uint64_t key = 0; key < 2000; key += 2) {
        const tamis_status status = tamis_filter_remove_u64(empty, key);
        assert_true(status == TAMIS_OK || status == TAMIS_E_AMBIGUOUS);
    }
    for (uint64_t key = 1; key < 2000; key += 2)
        assert_true(tamis_filter_contains_u64(empty, key));
    tamis_filter_free(f);
    tamis_filter_free(g);
    tamis_filter_free(empty);
}

static void test_merge_refused_changes_nothing(void **state) {
    (void)state;
    test_allocator t;
    test_allocator_init(&t, -1);
    tamis_filter *const f = growing_with(TAMIS_KIND_BLOOM, 1000, 0.02, &t.allocator, 0, 6500),
                        *view;
    tamis_filter *const g = growing_with(TAMIS_KIND_BLOOM, 1000, 0.02, NULL, 6500, 13000);
    tamis_filter *const seed = test_filter(TAMIS_KIND_BLOOM, 300, 0.01, test_seed() + 1);
    tamis_filter *const kind = test_filter(TAMIS_KIND_BLOCKED_BLOOM, 300, 0.01, test_seed());
    size_t size;
    unsigned char *bytes = test_encoded(f, &size);
    assert_status(tamis_filter_merge(f, f, 0), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_merge(f, seed, 0), TAMIS_E_MISMATCH);
    assert_status(tamis_filter_merge(f, kind, 0), TAMIS_E_MISMATCH);
    assert_status(tamis_filter_merge(f, g, 0), TAMIS_E_PROMISE); /* each has three quarters of it */
    if (tamis_i_little_endian()) {
        assert_ok(tamis_filter_view(bytes, size, NULL, &view, NULL));
        assert_status(tamis_filter_merge(view, g, 0), TAMIS_E_READONLY);
        tamis_filter_free(view);
    }
    assert_encoded(f, bytes, size);
    free(bytes);
    const tamis_growth growth = growth_of(0.04, false);
    assert_ok(tamis_filter_allow_growth(f, &growth));
    bytes = test_encoded(f, &size);
    const long live = t.live;
    for (long i = 0; i < 3; i++) { /* g has three links */
        t.fail_at = t.calls + i;
        assert_status(tamis_filter_merge(f, g, 0), TAMIS_E_NOMEM);
        assert_int_equal(t.live, live);
        assert_encoded(f, bytes, size);
    }
    t.fail_at = -1;
    assert_ok(tamis_filter_merge(f, g, 0));
    assert_keys(f, 13000);
    tamis_filter_free(f);
    assert_int_equal(t.live, 0);
    tamis_filter_free(g);
    tamis_filter_free(seed);
    tamis_filter_free(kind);
    free(bytes);
}

static void test_merge_of_too_many_links_is_refused(void **state) {
    (void)state;
    tamis_filter *const f = growing_with(TAMIS_KIND_RANK, 8, 0.5, NULL, 0, 1), *g;
    tamis_growth growth = growth_of(0, false);
    growth.n = 8;
    for (uint64_t key = 1; key < 21; key++) {
        assert_ok(tamis_filter_grow(f, &growth));
        const unsigned newest = test_info(f).n_links - 1;
        tamis_info info;
        tamis_info_init(&info);
        for (uint64_t more = 0; info.count == 0; more++) { /* older links may claim the first */
            assert_ok(tamis_filter_insert_u64(f, key << 32 | more, NULL));
            assert_ok(tamis_filter_link_info(f, newest, &info));
        }
    }
    assert_int_equal(test_info(f).n_links, 21);
    assert_ok(tamis_filter_clone(f, NULL, &g));
    assert_status(tamis_filter_merge(f, g, 0), TAMIS_E_TOO_LARGE);
    assert_same(f, g);
    tamis_filter_free(f);
    tamis_filter_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_series_hold_all_keys),
        cmocka_unit_test(test_merge_with_plain_filters),
        cmocka_unit_test(test_merge_refused_changes_nothing),
        cmocka_unit_test(test_merge_of_too_many_links_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
