/* test_fill.c - how full tables are, and that a union is as full as one set with all the keys
 *
 * Mean and variance of 4,000 tables beside five standard errors: of a variance that is 11 %.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"
#include "support.h"

#include <math.h>

enum { TABLES = 4000, KEYS = 120 };

static void assert_fill(const tamis_params *shape, uint64_t *random) {
    tamis_params params = *shape;
    tamis_i_fill fill = {0, 0, 0};
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < TABLES; i++) {
        tamis_filter *f;
        params.seed = test_random(random);
        assert_ok(tamis_filter_create(&params, NULL, &f));
        for (uint64_t key = 0; key < params.capacity; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        fill = (tamis_i_fill){0, 0, 0};
        tamis_i_fill_add(f, &fill);
        sum += fill.set;
        squares += fill.set * fill.set;
        tamis_filter_free(f);
    }
    const double mean = sum / TABLES, variance = squares / TABLES - mean * mean;
    printf("# %s: mean %.2f, found %.2f; variance %.3f, found %.3f\n", tamis_kind_name(params.kind),
           fill.mean, mean, fill.variance, variance);
    assert_true(fabs(mean - fill.mean) < 5 * sqrt(fill.variance / TABLES));
    assert_true(fabs(variance / fill.variance - 1) < 5 * sqrt(2.0 / TABLES));
}

static void test_fill_has_mean_and_variance_of_its_model(void **state) {
    uint64_t random = test_seed();
    tamis_params params;
    (void)state;
    for (unsigned partitioned = 0; partitioned < 2; partitioned++) {
        params = test_bare_params(TAMIS_KIND_BLOOM, KEYS, 1);
        params.value[TAMIS_BLOOM_BITS] = 1400;
        params.value[TAMIS_BLOOM_HASHES] = 7;
        params.value[TAMIS_BLOOM_PARTITIONED] = partitioned;
        assert_fill(&params, &random);
    }
    params = test_bare_params(TAMIS_KIND_COUNTING_BLOOM, KEYS, 1);
    assert_fill(&params, &random);
    for (unsigned lanes = 0; lanes <= 8; lanes += 8) {
        params = test_bare_params(TAMIS_KIND_BLOCKED_BLOOM, KEYS, 1);
        params.value[TAMIS_BLOCKED_BLOOM_BLOCKS] = 3;
        params.value[TAMIS_BLOCKED_BLOOM_HASHES] = 8;
        params.value[TAMIS_BLOCKED_BLOOM_LANES] = lanes;
        assert_fill(&params, &random);
    }
    tamis_need need = test_need(TAMIS_KIND_BALANCED_BLOOM, KEYS, 0.001);
    need.merges = true;
    params = test_planned(&need).params;
    assert_fill(&params, &random);
}

/* Of fingerprints that are as many as keys: their rate. */
static void test_fill_of_fingerprints_is_their_rate(void **state) {
    (void)state;
    tamis_filter *const f = test_filter(TAMIS_KIND_WINDOW, KEYS, 0.01, 1);
    for (uint64_t key = 0; key < KEYS; key++)
        assert_ok(tamis_filter_insert_u64(f, key, NULL));
    tamis_i_fill fill = {0, 0, 0};
    tamis_i_fill_add(f, &fill);
    assert_true(fabs(fill.set / fill.mean - test_info(f).fpr / 0.01) < 1e-3);
    assert_true(fill.variance > 0 && fill.variance < 0.01 * KEYS);
    assert_true(tamis_i_filter_fits(f, true) && tamis_i_filter_fits(f, false));
    tamis_filter_free(f);
}

/* Where cells do not tell, only the count does. */
static void test_fill_of_blocks_that_refuse_is_not_known(void **state) {
    (void)state;
    enum { MANY = 20000 };
    tamis_filter *const f = test_filter(TAMIS_KIND_BALANCED_BLOOM, MANY, 1e-6, 1);
    assert_true(f->params.stash > 1);
    uint64_t key = 0;
    while (tamis_filter_count(f) < MANY)
        assert_ok(tamis_filter_insert_u64(f, key++, NULL));
    assert_true(tamis_i_filter_fits(f, false));
    while (tamis_filter_count(f) == MANY)
        assert_ok(tamis_filter_insert_u64(f, key++, NULL));
    assert_false(tamis_i_filter_fits(f, true));
    tamis_filter_free(f);
}

/* Two sets that have a third of their keys in common. */
static void test_union_is_the_set_with_all_keys(void **state) {
    (void)state;
    for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;) {
        tamis_need need = test_need(kind, 3000, 1e-3);
        need.merges = true;
        tamis_plan plan;
        tamis_plan_init(&plan);
        if (tamis_plan_make(&need, &plan) != TAMIS_OK)
            continue;
        tamis_filter *f[3];
        plan.params.seed = test_seed();
        for (unsigned i = 0; i < 3; i++)
            assert_ok(tamis_filter_create(&plan.params, NULL, &f[i]));
        for (uint64_t key = 0; key < 3000; key++) {
            assert_ok(tamis_filter_insert_u64(f[2], key, NULL));
            if (key < 2000)
                assert_ok(tamis_filter_insert_u64(f[0], key, NULL));
            if (key >= 1000)
                assert_ok(tamis_filter_insert_u64(f[1], key, NULL));
        }
        assert_ok(tamis_filter_merge(f[0], f[1], 0));
        assert_ok(tamis_filter_keeps(f[0], 0));
        assert_true(fabs(test_info(f[0]).fpr / test_info(f[2]).fpr - 1) < 1e-9);
        for (uint64_t key = 0; key < 20000; key++)
            assert_int_equal(tamis_filter_contains_u64(f[0], key),
                             tamis_filter_contains_u64(f[2], key));
        for (unsigned i = 0; i < 3; i++)
            tamis_filter_free(f[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_has_mean_and_variance_of_its_model),
        cmocka_unit_test(test_fill_of_fingerprints_is_their_rate),
        cmocka_unit_test(test_fill_of_blocks_that_refuse_is_not_known),
        cmocka_unit_test(test_union_is_the_set_with_all_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
