/* test_plan_bytes.c - the least rate and the most keys that given bytes allow: at once, and as good as found
 *
 * Plans without a search are compared with those of one (need.search).  The search takes a fifth of a second
 * each time, and so it is asked for a few needs only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "searched.h"

#include <math.h>
#include <time.h>

static tamis_plan planned(const tamis_need *need) {
    tamis_plan plan;
    tamis_plan_init(&plan);
    assert_ok(tamis_plan_make(need, &plan));
    assert_true(plan.bytes <= need->bytes && plan.fpr > 0 && plan.fpr < 1);
    assert_true(plan.overflow_probability <= 1e-6);
    assert_int_equal(plan.params.capacity,
                     plan.n + (uint64_t)ceil((double)plan.n * need->overshoot));
    return plan;
}

/* Bytes for n keys, at so many bits for each. */
static tamis_need need_of(uint64_t n, double bits_per_key) {
    tamis_need need = test_need(TAMIS_KIND_ANY, n, 0);
    need.bytes = (uint64_t)((double)n * bits_per_key / 8);
    need.order = TAMIS_ORDER_BYTES;
    return need;
}

/* With some of the options that a plan without a search may have. */
static void set_options(tamis_need *need, unsigned i) {
    need->deletes = i % 2 == 1 && i % 6 != 3;
    need->merges = i % 4 == 2;
    need->grows = i % 5 == 2;
    need->ticks = i % 6 == 3 ? 4 : 0;
    need->overshoot = i % 7 == 5 ? 0.5 : 0;
}

static void test_bytes_and_keys_give_as_low_a_rate_as_a_search(void **state) {
    static const uint64_t sizes[] = {12000, 300000, 20000000};
    static const double bits[] = {6.5, 11, 18.5, 29};
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        tamis_need need = need_of(sizes[i % 3], bits[i / 3]);
        set_options(&need, i);
        const tamis_plan quick = planned(&need);
        const tamis_plan found = searched_plan(&need);
        printf("# n = %llu, %.1f bits per key: %s %.4g, found %s %.4g\n",
               (unsigned long long)need.n, bits[i / 3], tamis_kind_name(quick.params.kind),
               quick.fpr, tamis_kind_name(found.params.kind), found.fpr);
        assert_true(log2(quick.fpr / found.fpr) < 0.3);
        assert_int_equal(quick.n, need.n);
        assert_true(fabs(quick.bound_bits_per_key + log2(quick.fpr)) < 1e-9);
    }
}

static void test_bytes_and_rate_give_as_many_keys_as_a_search(void **state) {
    static const double rates[] = {0.2, 0.01, 1e-4, 1e-8};
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        tamis_need need = test_need(TAMIS_KIND_ANY, 0, rates[i / 2]);
        need.bytes = i % 3 == 0 ? 40000 : 10000000;
        need.order = TAMIS_ORDER_BYTES;
        set_options(&need, i);
        const tamis_plan quick = planned(&need);
        assert_true(quick.fpr <= need.fpr);
        const tamis_plan found = searched_plan(&need);
        printf("# p = %g, %llu bytes: %s %llu, found %s %llu\n", need.fpr,
               (unsigned long long)need.bytes, tamis_kind_name(quick.params.kind),
               (unsigned long long)quick.n, tamis_kind_name(found.params.kind),
               (unsigned long long)found.n);
        assert_true((double)quick.n > 0.98 * (double)found.n);
    }
}

/* More bytes are never worse, from sets of one line to those that no table of rates covers. */
static void test_more_bytes_are_never_worse(void **state) {
    (void)state;
    double before = 1;
    for (double bits = 2.5; bits < 52; bits *= 1.07) {
        tamis_need need = need_of(100000, bits);
        tamis_plan plan;
        tamis_plan_init(&plan);
        if (tamis_plan_make(&need, &plan) != TAMIS_OK) {
            assert_true(bits < 4);
            continue;
        }
        assert_true(plan.fpr < before);
        before = plan.fpr;
    }
    assert_true(before < 1e-9);
    tamis_need need = need_of(100000, 70); /* below 1e-12 there is a search */
    assert_true(planned(&need).fpr < 1e-14);
    need.order = TAMIS_ORDER_BALANCED;
    assert_true(planned(&need).fpr < 1e-12);
    need.deletes = true;
    assert_true(planned(&need).fpr < 1e-14);
}

static double fraction(uint64_t *random) {
    return ldexp((double)(test_random(random) >> 11), -53);
}

/* Processor time in milliseconds of one plan; the best of some rounds counts, since others may be using the
 * machine.  False if there is none. */
static bool timed(const tamis_need *need, unsigned rounds, double *best, tamis_plan *plan) {
    tamis_status status = TAMIS_OK;
    *best = INFINITY;
    for (unsigned i = 0; i < rounds; i++) {
        tamis_plan_init(plan);
        const clock_t from = clock();
        status = tamis_plan_make(need, plan);
        *best = fmin(*best, 1e3 * (double)(clock() - from) / CLOCKS_PER_SEC);
    }
    assert_true(status == TAMIS_OK || status == TAMIS_E_TOO_LARGE || status == TAMIS_E_UNSUPPORTED);
    return status == TAMIS_OK;
}

/* Sets and multisets of any size, with bits for each key from too few to more than the tables know, and a
 * rate with which they may hold many or none: a hundredth of a second is five to a thousand times what most
 * take.  What cannot be planned so, or not at all, is searched for: a tenth. */
static void test_bytes_are_planned_at_once(void **state) {
    uint64_t random = test_seed();
    double sum[2] = {0, 0}, most[2] = {0, 0};
    unsigned n[2] = {0, 0}, slow = 0;
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        const double size = exp2(5 + 26 * fraction(&random));
        tamis_need need = need_of((uint64_t)size, 3 + 36 * fraction(&random));
        tamis_plan plan;
        double best;
        set_options(&need, i);
        if (i / 42 % 2 == 1)
            need.n = 0, need.fpr = exp2(-1 - 36 * fraction(&random));
        const bool rate = need.n != 0, made = timed(&need, 3, &best, &plan);
        assert_true(best < 100);
        slow += made && best >= 10;
        if (!made)
            continue;
        assert_true(plan.bytes <= need.bytes && (rate || plan.fpr <= need.fpr));
        sum[rate] += best;
        most[rate] = fmax(most[rate], best);
        n[rate]++;
    }
    for (unsigned rate = 0; rate < 2; rate++)
        printf("# %s: %u needs, mean %.3f ms, at most %.3f\n", rate ? "rate" : "keys", n[rate],
               sum[rate] / n[rate], most[rate]);
    assert_true(n[0] + n[1] > 1500 && slow <= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_and_keys_give_as_low_a_rate_as_a_search),
        cmocka_unit_test(test_bytes_and_rate_give_as_many_keys_as_a_search),
        cmocka_unit_test(test_more_bytes_are_never_worse),
        cmocka_unit_test(test_bytes_are_planned_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
