/* planners.h - one planner per structure: src/plan/<kind>.c
 *
 * Each finds the smallest parameters of its kind whose predicted error rate, with need->n keys in, is
 * at most need->fpr.  The need has been checked and all is filled in: n has the overshoot in it, copies
 * is at least 1, failure_max, lines_max and, if keys are removed, replacements are not 0 (lines_max may be
 * infinite); bytes, order and kind are the caller's business.  It sets params (without stash and seed
 * unless the kind needs a stash), fpr, fpr_half, overflow_probability, lines_per_query and
 * lines_per_insert; fpr_half and lines_per_insert may stay 0, and are then taken from fpr and
 * lines_per_query.  The caller adds the sizes, and refuses plans that read more lines than allowed or fail
 * more often.
 *
 * TAMIS_E_UNSUPPORTED if the kind cannot keep the promise, TAMIS_E_TOO_LARGE.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_PLANNERS_H
#define TAMIS_PLAN_PLANNERS_H

#include "tamis/plan.h"

/* Finds the parameters of one kind. */
typedef tamis_status tamis_i_planner(const tamis_need *need, tamis_plan *plan);

/* That of a kind (planners.c); one that always says TAMIS_E_UNSUPPORTED if it has none yet. */
tamis_i_planner *tamis_i_planner_of(tamis_kind kind);

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
tamis_status tamis_i_plan_line(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_line_set(const tamis_need *need, tamis_plan *plan);

/* Set stash and overflow_probability of a plan in which 'mean' of the need->n keys find no room in the
 * table: the usual stash, or a larger one if that fails more often than need->failure_max. */
tamis_status tamis_i_plan_stash(const tamis_need *need, double mean, tamis_plan *plan);

/* May a plan read so many lines per query?  That a stash is looked at once in a thousand is forgiven. */
static inline bool tamis_i_plan_lines_ok(const tamis_need *need, double lines) {
    return lines <= 1.001 * need->lines_max;
}

/* Bits of a counter that must count need->copies: from 1 to 255 in 8 bits. */
unsigned tamis_i_plan_counter_bits(const tamis_need *need);

#endif
