/* window.c - plans of windows
 *
 * A window holds at most need->n keys: those of T whole ticks and of the present one.  When a tick begins,
 * those that are forgotten are still there, but the present one is empty.  Then one bucket is cleared per
 * insert, faster than keys come: there are fewer buckets than keys of a tick, up to some 30 ticks, and
 * for more each insert clears more of them.  So it is a 'steady' set of n keys whose value is the stamp,
 * and whose keys are replaced for ever.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"

#include "filter/window.h"

#define TICKS 8u /* by default */

static tamis_status plan_window_by(tamis_i_planner *planner, const tamis_need *need,
                                   tamis_plan *plan) {
    const unsigned ticks = need->ticks == 0 ? TICKS : need->ticks;
    tamis_need steady = *need;
    steady.value_bits = tamis_i_window_stamp_bits(ticks);
    steady.deletes = true;
    const tamis_status status = planner(&steady, plan);
    if (status != TAMIS_OK)
        return status;
    uint64_t *const v = plan->params.value;
    for (unsigned i = TAMIS_STEADY_VALUE_BITS; i < TAMIS_PARAMS_MAX; i++)
        v[i] = 0;
    v[TAMIS_WINDOW_TICKS] = ticks;
    plan->params.kind = TAMIS_KIND_WINDOW;
    return TAMIS_OK;
}

tamis_status tamis_i_plan_window(const tamis_need *need, tamis_plan *plan) {
    return plan_window_by(tamis_i_plan_steady, need, plan);
}

tamis_status tamis_i_quick_window(const tamis_need *need, tamis_plan *plan) {
    return plan_window_by(tamis_i_quick_steady, need, plan);
}
