/* test_glance.c - the error rate of large tables from a sample
 *
 * SPDX-License-Identifier: MIT
 */
#include "growing.h"

#include "filter/series.h"

#include <math.h>
#include <string.h>

enum { BATCH = 4000, LINES_READ = 1 << 14 };

static void fill(tamis_filter *f, uint64_t from, uint64_t n) {
    static uint64_t keys[BATCH];
    for (uint64_t key = from; key < from + n; key += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++)
            keys[i] = key + i;
        assert_ok(tamis_filter_insert_many_u64(f, keys, BATCH, NULL, NULL));
    }
}

static tamis_info glance(const tamis_filter *f) {
    tamis_info info;
    tamis_info_init(&info);
    assert_ok(tamis_filter_glance(f, &info));
    return info;
}

/* A table of more than 1 MiB. */
static tamis_filter *large(tamis_kind kind) {
    tamis_filter *f;
    uint64_t n = 1000000;
    tamis_plan plan;
    do {
        const tamis_need need = test_need(kind, n, 0.001);
        plan = test_planned(&need);
        n += n / 4;
    } while (plan.bytes <= (uint64_t)LINES_READ * 64 + 300000);
    plan.params.seed = test_seed();
    assert_ok(tamis_filter_create(&plan.params, NULL, &f));
    return f;
}

/* Of every kind: not below the rate that the whole table has, and close to it.  Blocks of Bloom filters
 * differ most. */
static void test_glance_is_not_below_the_rate(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_filter *const f = large(kind);
        assert_true(glance(f).fpr == 0);
        fill(f, 0, glance(f).capacity / BATCH * BATCH);
        const tamis_info whole = test_info(f), sample = glance(f);
        printf("# %s: %.2f MiB, rate %.4g, at a glance %.4g, %+.2f %%\n", tamis_kind_name(kind),
               (double)whole.bytes / (1 << 20), whole.fpr, sample.fpr,
               100 * (sample.fpr / whole.fpr - 1));
        assert_true(sample.fpr >= whole.fpr && sample.fpr < 1.08 * whole.fpr);
        assert_true(sample.count == whole.count && sample.bytes == whole.bytes);
        assert_true(sample.capacity == whole.capacity && sample.n_links == 1);
        assert_true(sample.stash_used == whole.stash_used && sample.stash_size == whole.stash_size);
        assert_int_equal(sample.n_loads, 0);
        tamis_filter *copy;
        assert_ok(tamis_filter_clone(f, NULL, &copy));
        assert_true(glance(copy).fpr == sample.fpr);
        tamis_filter_free(copy);
        tamis_filter_free(f);
    }
}

/* Small tables are read. */
static void test_glance_at_small_tables_is_exact(void **state) {
    (void)state;
    for_each_kind(kind) {
        tamis_filter *const f = growing(kind, 1000, 0.01, NULL);
        fill(f, 0, BATCH);
        tamis_info whole = test_info(f), sample = glance(f);
        assert_int_equal(sample.n_links, 3);
        assert_memory_equal(&whole, &sample, sizeof whole);
        tamis_filter_free(f);
    }
    tamis_info info;
    tamis_info_init(&info);
    assert_status(tamis_filter_glance(NULL, &info), TAMIS_E_ARGUMENT);
}

/* Links whose tables are only looked at in places share what is read, however many they are. */
static void test_glance_large_links_share_the_reading(void **state) {
    (void)state;
    tamis_growth growth = growth_of(0.01, false);
    tamis_filter *const f = growing(TAMIS_KIND_BLOOM, 1000, 0.01, NULL);
    static const uint64_t sizes[] = {1000, 1500000, 1500000, 2000, 2000000};
    static const unsigned large[] = {1, 1, 1, 2, 2, 3}; /* at least one, to divide by */
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(tamis_i_n_large(f), large[i]);
        assert_ok(tamis_filter_insert_u64(f, i, NULL));
        growth.n = sizes[i];
        assert_ok(tamis_filter_grow(f, &growth));
    }
    assert_int_equal(tamis_i_n_large(f), large[5]);
    assert_int_equal(glance(f).n_links, 6);
    tamis_filter_free(f);
}

/* A large link is followed by one that leaves the promise whole, and equal sets by equal links. */
static void test_glance_growth_keeps_the_promise(void **state) {
    (void)state;
    enum { FIRST = 1000000 };
    const double promise = 0.001;
    tamis_filter *const f = growing(TAMIS_KIND_LINE_SET, FIRST, promise, NULL), *copy;
    uint64_t at = 0;
    for (; tamis_filter_count(f) < FIRST - 2 * BATCH; at += BATCH)
        fill(f, at, BATCH);
    assert_ok(tamis_filter_clone(f, NULL, &copy));
    const tamis_growth growth = growth_of(0, true);
    assert_ok(tamis_filter_allow_growth(copy, &growth));
    fill(f, at, 5 * BATCH);
    fill(copy, at, 5 * BATCH);
    const tamis_info info = test_info(f);
    assert_int_equal(info.n_links, 2);
    tamis_info first, second, other;
    tamis_info_init(&first);
    tamis_info_init(&second);
    tamis_info_init(&other);
    assert_ok(tamis_filter_link_info(f, 0, &first));
    assert_ok(tamis_filter_link_info(f, 1, &second));
    assert_ok(tamis_filter_link_info(copy, 1, &other));
    assert_memory_equal(&second, &other, sizeof second);
    assert_int_equal(second.capacity, 2 * FIRST);
    /* A third of what is left of the promise is for this link: the plan of that rate, or of 5 % less. */
    tamis_need need = test_need(TAMIS_KIND_LINE_SET, 2 * FIRST, (promise - first.fpr) / 3);
    const uint64_t most = test_planned(&need).bytes;
    printf("# rate %.4g, second link %.6g bytes, by the exact rate %.6g\n", first.fpr,
           (double)second.bytes, (double)most);
    assert_true(second.bytes >= most && (double)second.bytes < 1.01 * (double)most);
    tamis_filter_free(copy);
    tamis_filter_free(f);
}

/* A set keeps its rate while it is not over full, and longer if it was planned with room to spare. */
static void test_keeps_tells_when_the_rate_is_broken(void **state) {
    (void)state;
    for_each_kind(kind) {
        const tamis_need need = test_need(kind, 2 * BATCH, 0.01);
        tamis_plan plan = test_planned(&need);
        plan.params.seed = test_seed();
        tamis_filter *f;
        assert_ok(tamis_filter_create(&plan.params, NULL, &f));
        assert_ok(tamis_filter_keeps(f, 0.01));
        fill(f, 0, 2 * BATCH);
        assert_ok(tamis_filter_keeps(f, 0.01));
        bool full = false; /* some kinds refuse keys, the others err more and more */
        for (uint64_t key = 2 * BATCH; key < 4 * BATCH && !full; key++)
            full = tamis_filter_insert_u64(f, key, NULL) == TAMIS_E_FULL;
        const double now = test_info(f).fpr;
        assert_status(tamis_filter_keeps(f, 0.01), now > 0.01 ? TAMIS_E_PROMISE : TAMIS_OK);
        assert_true(full || now > 0.01);
        assert_ok(tamis_filter_keeps(f, now));
        assert_status(tamis_filter_keeps(f, now / 2),
                      tamis_filter_count(f) > plan.params.capacity ? TAMIS_E_PROMISE : TAMIS_OK);
        tamis_filter_free(f);
    }
    tamis_filter *const grown = growing(TAMIS_KIND_LINE_SET, 1000, 0.01, NULL);
    fill(grown, 0, BATCH);
    const double rate = test_info(grown).fpr;
    assert_ok(tamis_filter_keeps(grown, rate));
    assert_status(tamis_filter_keeps(grown, rate * (1 - 1e-9)), TAMIS_E_PROMISE);
    assert_status(tamis_filter_keeps(grown, -0.01), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_keeps(grown, NAN), TAMIS_E_ARGUMENT);
    assert_status(tamis_filter_keeps(NULL, 0.01), TAMIS_E_ARGUMENT);
    tamis_filter_free(grown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_glance_is_not_below_the_rate),
        cmocka_unit_test(test_glance_at_small_tables_is_exact),
        cmocka_unit_test(test_glance_large_links_share_the_reading),
        cmocka_unit_test(test_glance_growth_keeps_the_promise),
        cmocka_unit_test(test_keeps_tells_when_the_rate_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
