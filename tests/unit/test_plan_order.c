/* test_plan_order.c - which plan is taken, what is asked of it, and how long that takes
 *
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <math.h>
#include <time.h>

enum { ROOM = 32 };

static tamis_need need_of(uint64_t n, double fpr) {
    tamis_need need;
    tamis_need_init(&need);
    need.n = n;
    need.fpr = fpr;
    return need;
}

static tamis_status make(const tamis_need *need, tamis_plan *plan) {
    tamis_plan_init(plan);
    return tamis_plan_make(need, plan);
}

static size_t make_all(const tamis_need *need, tamis_plan *plans) {
    size_t n = 0;
    for (unsigned i = 0; i < ROOM; i++)
        tamis_plan_init(&plans[i]);
    return tamis_plan_all(need, plans, ROOM, &n) == TAMIS_OK ? n : 0;
}

static double seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* No need takes long: 2 s of processor time, ten times what is seen with assertions. */
static void test_plan_time_is_bounded(void **state) {
    (void)state;
    static const uint64_t n[] = {1, 1000000, 1000000000000};
    static const double rates[] = {0.9999999999999999, 0.999999, 1e-15, 1e-300};
    double worst = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            tamis_need need = need_of(n[i], rates[j]);
            tamis_plan plans[ROOM];
            const double from = seconds();
            (void)make_all(&need, plans);
            worst = fmax(worst, seconds() - from);
        }
    }
    printf("# at most %.3f s\n", worst);
    assert_true(worst < 2);
}

/* Half of the least number there is, is 0. */
static void test_plan_least_rate_that_grows_is_unsupported(void **state) {
    (void)state;
    for (tamis_kind kind = test_next_kind(TAMIS_KIND_ANY); kind != TAMIS_KIND_ANY;
         kind = test_next_kind(kind)) {
        tamis_need need = need_of(10, 5e-324);
        tamis_plan plan;
        need.grows = true;
        need.kind = kind;
        assert_status(make(&need, &plan), TAMIS_E_UNSUPPORTED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_time_is_bounded),
        cmocka_unit_test(test_plan_least_rate_that_grows_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
