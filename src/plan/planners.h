/* planners.h - one planner per structure: src/plan/<kind>.c
 *
 * Each finds the smallest parameters of its kind whose predicted error rate, with need->n keys in, is
 * at most need->fpr.  The need has been checked and its defaults filled in.  It sets params (without
 * stash and seed unless the kind needs a stash), fpr, overflow_probability and lines_per_query; the
 * caller adds the sizes.  TAMIS_E_UNSUPPORTED if the kind cannot keep the promise, TAMIS_E_TOO_LARGE.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_PLANNERS_H
#define TAMIS_PLAN_PLANNERS_H

#include "tamis/plan.h"

tamis_status tamis_i_plan_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_counting_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_blocked_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_dleft(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_balanced_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_dleft_counting(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_dleft_dynamic(const tamis_need *need, tamis_plan *plan);

/* tamis_plan_balanced without the sizes; the need's struct_size has been seen to. */
tamis_status tamis_i_plan_balanced(const tamis_balanced_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_rank(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_rank_counting(const tamis_need *need, tamis_plan *plan);

#endif
