/* test_steady.c - the steady filter at its limits: parameters, copies, counters, values
 *
 * That it holds what it should, in files, batches and against an exact multiset, is tested with all kinds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

static tamis_params small(uint64_t buckets, uint64_t back, uint64_t value_bits,
                          uint64_t counter_bits) {
    tamis_params p = test_bare_params(TAMIS_KIND_STEADY, 100, test_seed());
    p.value[TAMIS_STEADY_BUCKETS] = buckets;
    p.value[TAMIS_STEADY_BUCKET_BITS] = 512;
    p.value[TAMIS_STEADY_HOMES] = 60;
    p.value[TAMIS_STEADY_FINGERPRINT_BITS] = 12;
    p.value[TAMIS_STEADY_SPILL_BUCKETS] = back;
    p.value[TAMIS_STEADY_SPILL_BITS] = back == 0 ? 0 : 512;
    p.value[TAMIS_STEADY_VALUE_BITS] = value_bits;
    p.value[TAMIS_STEADY_COUNTER_BITS] = counter_bits;
    return p;
}

static void test_steady_parameters_out_of_range_are_refused(void **state) {
    (void)state;
    static const struct {
        unsigned index;
        uint64_t value;
    } wrong[] = {{TAMIS_STEADY_BUCKETS, ((uint64_t)1 << 38) + 1},
                 {TAMIS_STEADY_BUCKET_BITS, 500},
                 {TAMIS_STEADY_BUCKET_BITS, 32768 + 512},
                 {TAMIS_STEADY_HOMES, 512},
                 {TAMIS_STEADY_HOMES, 505},
                 {TAMIS_STEADY_FINGERPRINT_BITS, 49},
                 {TAMIS_STEADY_SPILL_BUCKETS, 1000},
                 {TAMIS_STEADY_SPILL_BITS, 0},
                 {TAMIS_STEADY_SPILL_BITS, 513},
                 {TAMIS_STEADY_ORIGIN_BITS, 9},
                 {TAMIS_STEADY_VALUE_BITS, 9},
                 {TAMIS_STEADY_COUNTER_BITS, 9},
                 {TAMIS_STEADY_COPIES, 256}};
    tamis_filter *f = NULL;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tamis_params p = small(4, 2, 0, 0);
        p.value[wrong[i].index] = wrong[i].value;
        assert_status(tamis_filter_create(&p, NULL, &f), TAMIS_E_ARGUMENT);
    }
    tamis_params p = small(4, 0, 0, 0);
    p.value[TAMIS_STEADY_ORIGIN_BITS] = 1; /* of what? */
    assert_status(tamis_filter_create(&p, NULL, &f), TAMIS_E_ARGUMENT);
    p = small(0, 2, 0, 0); /* half of the defaults */
    assert_status(tamis_filter_create(&p, NULL, &f), TAMIS_E_ARGUMENT);
}

/* The defaults hold their capacity, from one key on. */
static void test_steady_defaults_hold_the_capacity(void **state) {
    (void)state;
    static const uint64_t capacity[] = {1, 2, 10, 100, 1000, 20000};
    for (unsigned i = 0; i < sizeof capacity / sizeof *capacity; i++) {
        const tamis_params p = test_bare_params(TAMIS_KIND_STEADY, capacity[i], test_seed());
        tamis_filter *f;
        assert_ok(tamis_filter_create(&p, NULL, &f));
        for (uint64_t key = 0; key < capacity[i]; key++)
            assert_ok(tamis_filter_insert_u64(f, key, NULL));
        for (uint64_t key = 0; key < capacity[i]; key++)
            assert_true(tamis_filter_contains_u64(f, key));
        tamis_filter_free(f);
    }
}

/* One key as often as it can be: copies are exact all the way, and other keys still have room. */
static void copies_are_exact(uint64_t counter_bits, uint64_t times) {
    tamis_params p = small(3, 2, 0, counter_bits);
    tamis_filter *f;
    bool added;
    assert_ok(tamis_filter_create(&p, NULL, &f));
    for (uint64_t key = 1; key <= 60; key++)
        assert_ok(tamis_filter_insert_u64(f, key, &added));
    for (uint64_t i = 0; i < times; i++) {
        assert_ok(tamis_filter_insert_u64(f, 0, &added));
        assert_int_equal(added, i == 0);
        assert_int_equal(tamis_filter_copies_u64(f, 0), i + 1);
    }
    for (uint64_t key = 61; key <= 80; key++)
        assert_ok(tamis_filter_insert_u64(f, key, &added));
    for (uint64_t i = times; i-- > 0;) {
        assert_ok(tamis_filter_remove_u64(f, 0));
        assert_int_equal(tamis_filter_copies_u64(f, 0), i);
    }
    for (uint64_t key = 1; key <= 80; key++) {
        assert_int_equal(tamis_filter_copies_u64(f, key), 1);
        assert_ok(tamis_filter_remove_u64(f, key));
    }
    assert_status(tamis_filter_remove_u64(f, 1), TAMIS_E_NOT_FOUND);
    assert_int_equal(tamis_filter_count(f), 0);
    tamis_filter_free(f);
}

static void test_steady_copies_are_exact(void **state) {
    (void)state;
    copies_are_exact(0, 2000);
    copies_are_exact(1, 2000);
    copies_are_exact(3, 3000);
    copies_are_exact(8, 5000);
}

static void test_steady_values_stay_with_their_keys(void **state) {
    (void)state;
    const tamis_params p = small(3, 2, 4, 0);
    tamis_filter *f;
    bool added;
    unsigned value;
    assert_ok(tamis_filter_create(&p, NULL, &f));
    const uint64_t none = 0;
    uint64_t in = 0; /* until values find no room */
    while (in < 200 && tamis_filter_insert_value(f, &in, sizeof in, in % 16, &added) == TAMIS_OK)
        in++;
    assert_true(in > 60 && in < 200);
    for (uint64_t key = 0; key < in; key++) {
        assert_ok(tamis_filter_lookup_value(f, &key, sizeof key, &value));
        assert_int_equal(value, key % 16);
        assert_ok(tamis_filter_update_value(f, &key, sizeof key, 15 - key % 16));
    }
    for (uint64_t key = 0; key < in; key += 2)
        assert_ok(tamis_filter_remove(f, &key, sizeof key));
    for (uint64_t key = 1; key < in; key += 2) {
        assert_ok(tamis_filter_lookup_value(f, &key, sizeof key, &value));
        assert_int_equal(value, 15 - key % 16);
    }
    assert_status(tamis_filter_lookup_value(f, &none, sizeof none, &value), TAMIS_E_NOT_FOUND);
    assert_status(tamis_filter_update_value(f, &none, sizeof none, 1), TAMIS_E_NOT_FOUND);
    /* A key without a value has 0, and can go to the stash; from there it can come back. */
    for (uint64_t key = 1000; tamis_filter_insert(f, &key, sizeof key, NULL) == TAMIS_OK; key++)
        in = key;
    assert_true(test_info(f).stash_used > 0);
    for (uint64_t key = 1; key < 61; key += 2)
        assert_ok(tamis_filter_remove(f, &key, sizeof key));
    unsigned moved = 0;
    for (uint64_t key = 1000; key <= in; key++)
        moved += tamis_filter_update_value(f, &key, sizeof key, 9) == TAMIS_OK;
    assert_true(moved > 0);
    for (uint64_t key = 1000; key <= in; key++)
        assert_ok(tamis_filter_lookup_value(f, &key, sizeof key, &value));
    tamis_filter_free(f);
}

/* Plans: small sets are one bucket; copies get counters; values room; more homes than one bucket. */
static void test_steady_plans_fit_the_need(void **state) {
    (void)state;
    tamis_need need = test_need(TAMIS_KIND_STEADY, 50, 0.01);
    need.deletes = true;
    tamis_plan plan = test_planned(&need);
    assert_int_equal(plan.params.value[TAMIS_STEADY_BUCKETS], 1);
    assert_int_equal(plan.params.value[TAMIS_STEADY_SPILL_BUCKETS], 0);
    assert_true(plan.overflow_probability == 0);
    static const unsigned copies[] = {1, 2, 3, 4, 5, 255}, bits[] = {0, 1, 2, 2, 3, 8};
    for (unsigned i = 0; i < 6; i++) {
        need.copies = copies[i];
        plan = test_planned(&need);
        assert_int_equal(plan.params.value[TAMIS_STEADY_COUNTER_BITS], bits[i]);
    }
    need = test_need(TAMIS_KIND_STEADY, 1000000, 0.001);
    need.deletes = true;
    plan = test_planned(&need);
    assert_int_equal(plan.params.value[TAMIS_STEADY_BUCKET_BITS], 4096);
    assert_true(plan.bits_per_key < plan.bound_bits_per_key + 2.55);
    need.order = TAMIS_ORDER_LINES;
    plan = test_planned(&need);
    assert_int_equal(plan.params.value[TAMIS_STEADY_BUCKET_BITS], 1024);
    assert_true(plan.bits_per_key < plan.bound_bits_per_key + 3.1);
    need.order = TAMIS_ORDER_BYTES;
    need.lines_max = 1.6;
    plan = test_planned(&need);
    assert_int_equal(plan.params.value[TAMIS_STEADY_BUCKET_BITS], 1024);
    need.fpr = 1e-16; /* more than 48 bits of a fingerprint */
    tamis_plan none;
    tamis_plan_init(&none);
    assert_status(tamis_plan_make(&need, &none), TAMIS_E_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_steady_defaults_hold_the_capacity),
        cmocka_unit_test(test_steady_copies_are_exact),
        cmocka_unit_test(test_steady_values_stay_with_their_keys),
        cmocka_unit_test(test_steady_plans_fit_the_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
