/* test_line_plan.c - plans for lines: their sizes, what they promise, and how long planning takes
 *
 * The planner is called by itself: no other kind takes part.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include "filter/stash.h"
#include "kinds/line/line_bits.h"
#include "plan/planners.h"

#include <math.h>
#include <time.h>

static tamis_need need_of(uint64_t n, double p, bool deletes) {
    tamis_need need = test_need(TAMIS_KIND_LINE, n, p);
    need.failure_max = 1e-6;
    need.deletes = deletes;
    need.copies = 1;
    need.lines_max = INFINITY;
    return need;
}

static tamis_status plan_line(const tamis_need *need, tamis_plan *plan) {
    tamis_plan_init(plan);
    tamis_params_init(&plan->params);
    return tamis_i_plan_line(need, plan);
}

/* State, stash and lines. */
static double bytes_of(const tamis_plan *plan) {
    const uint64_t *const v = plan->params.value;
    const uint64_t words = 8 + tamis_i_stash_words(plan->params.stash) +
                           8 * (v[TAMIS_LINE_LINES] + v[TAMIS_LINE_BACK_LINES]);
    return 8 * (double)words;
}

/* What the structure needs to be made of these parameters. */
static void assert_shape(const tamis_need *need, const tamis_plan *plan) {
    const uint64_t *const v = plan->params.value;
    const uint64_t n1 = v[TAMIS_LINE_LINES], n2 = v[TAMIS_LINE_BACK_LINES];
    const unsigned homes = (unsigned)v[TAMIS_LINE_HOMES];
    const unsigned prints = (unsigned)v[TAMIS_LINE_FINGERPRINT_BITS];
    const unsigned back_homes = (unsigned)v[TAMIS_LINE_BACK_HOMES];
    unsigned bits = 0;
    tamis_i_line_shape shape;
    while (1u << bits < homes)
        bits++;
    assert_int_equal(plan->params.kind, TAMIS_KIND_LINE);
    assert_int_equal(v[TAMIS_LINE_VALUE_BITS], need->value_bits);
    assert_int_equal(v[TAMIS_LINE_SET], !need->deletes && need->value_bits == 0);
    assert_true(n1 >= 1 && plan->params.stash >= 1);
    assert_true(tamis_i_line_bits_shape(homes, prints, need->value_bits, &shape));
    assert_true(ldexp((double)n1 * homes, (int)prints) < 0x1p62);
    if (n2 == 0)
        return;
    assert_true(tamis_i_line_bits_shape(back_homes, prints + bits, need->value_bits, &shape));
    const uint64_t places = (n1 + n2 - 1) / n2;
    assert_true((n2 == 1 ? 1 : 2) * places <= back_homes);
}

static void assert_promise(const tamis_need *need, const tamis_plan *plan) {
    const uint64_t *const v = plan->params.value;
    const double cells = ldexp((double)v[TAMIS_LINE_LINES] * (double)v[TAMIS_LINE_HOMES],
                               (int)v[TAMIS_LINE_FINGERPRINT_BITS]);
    const double n = (double)need->n;
    assert_true(plan->fpr <= need->fpr);
    assert_true(fabs(plan->fpr / -expm1(n * log1p(-1 / cells)) - 1) < 1e-9);
    assert_true(plan->fpr_half > 0 && plan->fpr_half <= plan->fpr);
    assert_true(plan->overflow_probability >= 0 && plan->overflow_probability <= need->failure_max);
    assert_true(plan->lines_per_query >= 1 && plan->lines_per_query <= 3);
    assert_true(plan->lines_per_insert >= plan->lines_per_query && plan->lines_per_insert <= 6);
}

/* Bits above log2(1/p) that are allowed for 10^7 keys: linear in log(p) between these rates. */
static double allowed(double p) {
    static const double at[][2] = {{2, 3.0}, {2.301029995663981, 3.1}, {3, 3.5}, {4, 4.1}};
    const double x = -log10(p);
    unsigned i = 0;
    while (i < 2 && x > at[i + 1][0])
        i++;
    return at[i][1] + (x - at[i][0]) / (at[i + 1][0] - at[i][0]) * (at[i + 1][1] - at[i][1]);
}

static void test_line_sizes_are_small(void **state) {
    (void)state;
    static const double extra[] = {0, 0.2, 0.5};
    static const uint64_t ns[] = {10000000, 100000, 10000};
    double worst[3] = {-9, -9, -9};
    for (unsigned i = 0; i < 6; i++) {
        for (double x = 2; x <= 4 + 1e-9; x += 1.0 / 64) {
            const tamis_need need = need_of(ns[i / 2], pow(10, -x), i % 2 == 1);
            tamis_plan plan;
            assert_ok(plan_line(&need, &plan));
            const double bits = 8 * bytes_of(&plan) / (double)need.n + log2(need.fpr);
            worst[i / 2] = fmax(worst[i / 2], bits - allowed(need.fpr));
            if (bits > allowed(need.fpr) + extra[i / 2] + 1e-9)
                fail_msg("%u keys at %g: %.3f bits above the bound, allowed are %.3f",
                         (unsigned)need.n, need.fpr, bits, allowed(need.fpr) + extra[i / 2]);
        }
    }
    printf("# at most %+.3f, %+.3f, %+.3f bits beyond what is allowed for 10^7 keys\n", worst[0],
           worst[1], worst[2]);
    for (unsigned deletes = 0; deletes < 2; deletes++) {
        static const double most[] = {9.55, 13.45};
        for (unsigned i = 0; i < 2; i++) {
            const tamis_need need = need_of(10000000, i == 0 ? 0.01 : 0.001, deletes);
            tamis_plan plan;
            assert_ok(plan_line(&need, &plan));
            assert_true(8 * bytes_of(&plan) / 1e7 <= most[i]);
        }
    }
}

static double random_real(uint64_t *random) {
    return (double)(test_random(random) >> 11) * 0x1p-53;
}

/* Any need: it is kept, or refused for a reason. */
static void test_line_plans_keep_what_is_asked(void **state) {
    (void)state;
    uint64_t random = test_seed();
    unsigned made = 0, refused = 0;
    for (unsigned i = 0; i < 20000; i++) {
        tamis_need need = need_of(1 + (uint64_t)exp(random_real(&random) * 27),
                                  exp(-random_real(&random) * 24), i % 2 == 1);
        tamis_plan plan;
        if (i % 5 == 0)
            need.value_bits = 1 + (unsigned)test_random_below(&random, 8);
        if (i % 3 == 0)
            need.failure_max = pow(10, -20 * random_real(&random));
        const tamis_status status = plan_line(&need, &plan);
        if (status != TAMIS_OK) {
            const double cells = (double)need.n / need.fpr;
            assert_true(status == TAMIS_E_UNSUPPORTED || status == TAMIS_E_TOO_LARGE);
            assert_true(cells > 0x1p61 || need.fpr < 3e-9);
            refused++;
            continue;
        }
        assert_shape(&need, &plan);
        assert_promise(&need, &plan);
        made++;
    }
    printf("# %u plans, %u refused\n", made, refused);
    assert_true(made > 15000);
}

/* Fewer keys, or more errors, do not take more, up to whole lines and what is nearly as good. */
static void test_line_sizes_grow_with_the_need(void **state) {
    (void)state;
    for (unsigned deletes = 0; deletes < 2; deletes++) {
        double before = 0;
        tamis_plan plan;
        for (double n = 1; n < 1e7; n = ceil(n * 1.07)) {
            const tamis_need need = need_of((uint64_t)n, 0.003, deletes);
            assert_ok(plan_line(&need, &plan));
            assert_true(bytes_of(&plan) >= 0.99 * before - 128);
            before = bytes_of(&plan);
        }
        before = 0;
        for (double p = 0.05; p > 1e-9; p /= 1.07) {
            const tamis_need need = need_of(1000000, p, deletes);
            assert_ok(plan_line(&need, &plan));
            assert_true(bytes_of(&plan) >= 0.97 * before);
            before = bytes_of(&plan);
        }
    }
}

/* Few keys: one line while they fit, then a back of one or two lines. */
static void test_line_few_keys_take_few_lines(void **state) {
    (void)state;
    bool seen[3] = {false, false, false};
    for (uint64_t n = 1; n < 400; n++) {
        const tamis_need need = need_of(n, 0.001, true);
        tamis_plan plan;
        assert_ok(plan_line(&need, &plan));
        const uint64_t *const v = plan.params.value;
        if (n <= 42)
            assert_true(v[TAMIS_LINE_LINES] == 1 && plan.overflow_probability == 0);
        assert_true(v[TAMIS_LINE_LINES] + v[TAMIS_LINE_BACK_LINES] <= n / 20 + 4);
        if (v[TAMIS_LINE_BACK_LINES] < 3)
            seen[v[TAMIS_LINE_BACK_LINES]] = true;
        assert_shape(&need, &plan);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

static void test_line_plan_refuses_what_it_cannot(void **state) {
    (void)state;
    tamis_plan plan;
    tamis_need need = need_of(1000, 0.01, true);
    need.copies = 2;
    assert_status(plan_line(&need, &plan), TAMIS_E_UNSUPPORTED);
    need = need_of((uint64_t)1 << 40, 1e-9, false);
    assert_status(plan_line(&need, &plan), TAMIS_E_UNSUPPORTED);
    need = need_of(1000000, 1e-12, false); /* more planes than a line has */
    assert_status(plan_line(&need, &plan), TAMIS_E_UNSUPPORTED);
}

/* A limit of lines is kept by giving less away, for more bytes. */
static void test_line_limit_of_lines_is_kept(void **state) {
    (void)state;
    double before = 0;
    for (double most = 1.2; most > 1.012; most = 1 + (most - 1) / 1.4) {
        tamis_need need = need_of(1000000, 0.003, true);
        tamis_plan plan;
        need.lines_max = most;
        assert_ok(plan_line(&need, &plan));
        assert_true(plan.lines_per_query <= 1.003 * most);
        assert_true(bytes_of(&plan) >= 0.99 * before);
        before = bytes_of(&plan);
    }
}

/* The same each time, and in microseconds: some 20 to 60.  The limit is for a busy machine. */
static void test_line_planning_is_quick(void **state) {
    (void)state;
    double worst = 0;
    for (unsigned i = 0; i < 40; i++) {
        const tamis_need need =
            need_of((uint64_t)pow(10, i % 8 + 1), pow(10, -1 - (double)(i % 5) * 1.3), i % 2 == 1);
        tamis_plan plan, again;
        enum { ROUNDS = 20 };
        const clock_t from = clock();
        for (unsigned k = 0; k < ROUNDS; k++)
            assert_ok(plan_line(&need, &plan));
        worst = fmax(worst, (double)(clock() - from) / CLOCKS_PER_SEC / ROUNDS);
        assert_ok(plan_line(&need, &again));
        assert_memory_equal(&plan, &again, sizeof plan);
    }
    printf("# at most %.0f microseconds\n", 1e6 * worst);
    assert_true(worst < 2e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_sizes_are_small),
        cmocka_unit_test(test_line_plans_keep_what_is_asked),
        cmocka_unit_test(test_line_sizes_grow_with_the_need),
        cmocka_unit_test(test_line_few_keys_take_few_lines),
        cmocka_unit_test(test_line_plan_refuses_what_it_cannot),
        cmocka_unit_test(test_line_limit_of_lines_is_kept),
        cmocka_unit_test(test_line_planning_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
