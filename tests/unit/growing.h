/* growing.h - filters that grow, for the tests of them
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_GROWING_H
#define TAMIS_TESTS_GROWING_H

#include "support.h"

#define for_each_kind(kind) for (tamis_kind kind = 0; (kind = test_next_kind(kind)) != 0;)

static inline tamis_growth growth_of(double fpr, bool automatic) {
    tamis_growth growth;
    tamis_growth_init(&growth);
    growth.fpr = fpr;
    growth.automatic = automatic;
    return growth;
}

/* An empty filter that is planned to grow, and does so by itself. */
static inline tamis_filter *growing_of(tamis_need *need, const tamis_allocator *allocator) {
    tamis_filter *f;
    const double fpr = need->fpr;
    need->grows = true;
    tamis_plan plan = test_planned(need);
    plan.params.seed = test_seed();
    assert_true(plan.fpr <= fpr / 2);
    assert_ok(tamis_filter_create(&plan.params, allocator, &f));
    const tamis_growth growth = growth_of(fpr, true);
    assert_ok(tamis_filter_allow_growth(f, &growth));
    return f;
}

/* The same of the form that can do all that the kind can. */
static inline tamis_filter *growing(tamis_kind kind, uint64_t n, double fpr,
                                    const tamis_allocator *allocator) {
    tamis_need need = test_need(kind, n, fpr);
    const tamis_params params = test_planned(&need).params;
    need.deletes = tamis_params_abilities(&params) != tamis_kind_abilities(kind);
    return growing_of(&need, allocator);
}

/* Lines that are planned without deletes: a set. */
static inline tamis_filter *growing_line_set(uint64_t n, double fpr) {
    tamis_need need = test_need(TAMIS_KIND_LINE, n, fpr);
    tamis_filter *const f = growing_of(&need, NULL);
    assert_int_equal(test_info(f).params.value[TAMIS_LINE_SET], 1);
    return f;
}

static inline bool counts(tamis_kind kind) {
    return (tamis_kind_abilities(kind) & TAMIS_CAN_COUNT) != 0;
}

static inline bool removes(tamis_kind kind) {
    return (tamis_kind_abilities(kind) & TAMIS_CAN_REMOVE) != 0;
}

#endif
