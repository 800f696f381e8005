/* planners.h - one planner per structure: src/plan/<kind>.c
 *
 * Each finds the smallest parameters of its kind whose predicted error rate, with need->n keys in, is
 * at most need->fpr.
 *
 * What it gets.  The need has been checked and all is filled in: n has the overshoot in it, fpr is above 0
 * and already halved for a set that grows, copies is at least 1, failure_max, lines_max and, if keys are
 * removed, replacements are not 0 (lines_max may be infinite).  The caller (need.c) asks only for what the
 * kind can do by its tamis_i_kind: deletes and merges by its abilities, copies above 1 only of kinds with
 * counters, value_bits only of kinds with values.  bytes, order and kind are the caller's business.  The plan
 * is that of tamis_plan_init, with params.capacity set.
 *
 * What it sets: params (kind, value[], and stash if the kind has one; not the seed), fpr, fpr_half (with
 * half the keys in, rounded up), overflow_probability, lines_per_query, lines_per_insert (0: as
 * lines_per_query), and replacements if the kind ages.  Of a kind that removes, fpr and overflow_probability
 * hold with need->deletes until all keys have been replaced need->replacements times: a key that finds its
 * buckets full stays in the stash although they become free again.
 *
 * What the caller does then: it completes the parameters by the kind's shape, adds the sizes, and refuses
 * plans that read more lines than allowed or fail more often.  Where bytes are given it plans some twenty
 * times, from one key or an error rate of 0.7 on, and relies on plans for fewer keys or more errors not being
 * larger.  Tests want a plan within half a second, for all but one of the rates 0.9, 0.3, 0.01, 0.001, 1e-5.
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

/* The planner of a kind (planners.c); one that always returns TAMIS_E_UNSUPPORTED if it has none yet. */
tamis_i_planner *tamis_i_planner_of(tamis_kind kind);

/* The quick planner of a kind: of the same contract, for needs without copies, values, offline and a limit of
 * lines, and in some microseconds.  It knows its parameters from a table or a closed form, and may refuse
 * what it does not know.  NULL if the kind has none. */
tamis_i_planner *tamis_i_quick_planner_of(tamis_kind kind);

tamis_status tamis_i_plan_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_counting_bloom(const tamis_need *need, tamis_plan *plan);
/* Is a plan of blocked-bloom for this error rate one with eight lanes?  They set eight bits of each key,
 * where otherwise between 6 and 10 are best: at most 2 % more blocks, for shorter work. */
static inline bool tamis_i_plan_in_lanes(double fpr) {
    return fpr >= 0x1.6a09e667f3bcdp-11 && fpr < 0x1.6a09e667f3bcdp-7; /* 2^-10.5, 2^-6.5 */
}

tamis_status tamis_i_plan_blocked_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_dleft(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_balanced_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_dleft_counting(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_dleft_dynamic(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_rank(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_rank_counting(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_steady(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_line(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_plan_window(const tamis_need *need, tamis_plan *plan);

tamis_status tamis_i_quick_counting_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_quick_blocked_bloom(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_quick_steady(const tamis_need *need, tamis_plan *plan);
tamis_status tamis_i_quick_window(const tamis_need *need, tamis_plan *plan);

/* Set what calls cost on a typical machine (cost.c), of a plan that is complete otherwise. */
void tamis_i_plan_cost(tamis_plan *plan);

/* tamis_plan_balanced without the sizes; the need's struct_size has been seen to. */
tamis_status tamis_i_plan_balanced(const tamis_balanced_need *need, tamis_plan *plan);

/* Set stash and overflow_probability of a plan, whose params.kind is set, in which 'mean' of the need->n keys
 * are in the stash at a time: the usual stash, or a larger one if that fails more often than
 * need->failure_max.  A multiset leaves part of it to further copies (tamis_i_stash_kept). */
tamis_status tamis_i_plan_stash(const tamis_need *need, double mean, tamis_plan *plan);

/* May a plan read this many lines per query?  Looking at the stash once in a thousand times is allowed. */
static inline bool tamis_i_plan_lines_ok(const tamis_need *need, double lines) {
    return lines <= 1.001 * need->lines_max;
}

/* Bits of a counter that must count need->copies: from 1 to 255 in 8 bits. */
unsigned tamis_i_plan_counter_bits(const tamis_need *need);

#endif
