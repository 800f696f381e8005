/* searched.h - what a quick plan is compared with
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_SEARCHED_H
#define TAMIS_TESTS_SEARCHED_H

#include "plan/planners.h"
#include "support.h"

static bool is_counting(const tamis_plan *plan) {
    return (tamis_params_abilities(&plan->params) & TAMIS_CAN_COUNT) != 0;
}

/* The best plan of a search, of a kind that has quick ones, and for a set of one that is none of a
 * multiset: of others there may be better ones. */
static tamis_plan searched_plan(const tamis_need *need) {
    enum { ROOM = 32 };
    tamis_plan plans[ROOM];
    tamis_need own = *need;
    size_t n, i = 0;
    for (unsigned k = 0; k < ROOM; k++)
        tamis_plan_init(&plans[k]);
    own.search = true;
    assert_ok(tamis_plan_all(&own, plans, ROOM, &n));
    while (i < n && (tamis_i_quick_planner_of(plans[i].params.kind) == NULL ||
                     is_counting(&plans[i]) > need->deletes))
        i++;
    assert_true(i < n);
    return plans[i];
}

#endif
