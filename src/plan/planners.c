/* planners.c - which planner a kind has: one row each
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"

static const struct {
    tamis_kind kind;
    tamis_i_planner *plan, *quick;
} planners[] = {
    {TAMIS_KIND_BLOOM, tamis_i_plan_bloom, tamis_i_plan_bloom},
    {TAMIS_KIND_BLOCKED_BLOOM, tamis_i_plan_blocked_bloom, tamis_i_quick_blocked_bloom},
    {TAMIS_KIND_COUNTING_BLOOM, tamis_i_plan_counting_bloom, tamis_i_quick_counting_bloom},
    {TAMIS_KIND_DLEFT, tamis_i_plan_dleft, NULL},
    {TAMIS_KIND_DLEFT_COUNTING, tamis_i_plan_dleft_counting, NULL},
    {TAMIS_KIND_DLEFT_DYNAMIC, tamis_i_plan_dleft_dynamic, NULL},
    {TAMIS_KIND_BALANCED_BLOOM, tamis_i_plan_balanced_bloom, NULL},
    {TAMIS_KIND_RANK, tamis_i_plan_rank, NULL},
    {TAMIS_KIND_RANK_COUNTING, tamis_i_plan_rank_counting, NULL},
    {TAMIS_KIND_STEADY, tamis_i_plan_steady, tamis_i_quick_steady},
    {TAMIS_KIND_LINE, tamis_i_plan_line, tamis_i_plan_line},
    {TAMIS_KIND_WINDOW, tamis_i_plan_window, tamis_i_quick_window},
};

static tamis_status plan_planners_no_plan(const tamis_need *need, tamis_plan *plan) {
    (void)need;
    (void)plan;
    return TAMIS_E_UNSUPPORTED;
}

tamis_i_planner *tamis_i_planner_of(tamis_kind kind) {
    for (size_t i = 0; i < sizeof planners / sizeof *planners; i++)
        if (planners[i].kind == kind)
            return planners[i].plan;
    return plan_planners_no_plan; /* a kind without a planner can still be made by its parameters */
}

tamis_i_planner *tamis_i_quick_planner_of(tamis_kind kind) {
    for (size_t i = 0; i < sizeof planners / sizeof *planners; i++)
        if (planners[i].kind == kind)
            return planners[i].quick;
    return NULL;
}
