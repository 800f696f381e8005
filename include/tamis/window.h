/* window.h - sets that forget
 *
 * A window is a set of the keys of the last W, where W is a number of ticks: of hours, of seconds, of
 * thousands of keys, whatever the caller counts.  A key that is inserted again is young again.  Nobody has
 * to know the keys that are forgotten.
 *
 *     tamis_need need;
 *     tamis_need_init(&need);
 *     need.n = 1000000; // keys at one time: those of 24 ticks and of the present one
 *     need.fpr = 0.001;
 *     need.ticks = 24;
 *     tamis_plan plan;
 *     tamis_plan_init(&plan);
 *     status = tamis_plan_make(&need, &plan);
 *     if (status == TAMIS_OK)
 *         status = tamis_filter_create(&plan.params, NULL, &filter);
 *     if (status == TAMIS_OK)
 *         status = tamis_filter_insert(filter, "apple", 5, NULL);
 *     if (status == TAMIS_OK)
 *         status = tamis_window_tick(filter); // every hour
 *
 * It is a tamis_filter of kind TAMIS_KIND_WINDOW: all calls of tamis.h work on it, batches and files
 * included, but for tamis_filter_remove.  The number of the tick is part of the set, and is saved with it.
 *
 * What is promised, with t the present tick and T = need.ticks:
 *
 *  - A key that was inserted in tick t - T or later is present.  So nothing is forgotten within T ticks.
 *  - A key that was last inserted in tick t - T - 1 or before is absent, but for the error rate.  So
 *    nothing is remembered longer than T + 1 ticks.
 *  - 'added' is true if the key was not present just before, also if it was in the set long ago.
 *
 * What is forgotten takes no part in any answer from the tick on, but its room has to be cleared: bucket by
 * bucket, by each insert, by tamis_window_step, and what is left by the next tick.
 *
 * Threads, memory and failures are as in tamis.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_WINDOW_H
#define TAMIS_WINDOW_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAMIS_WINDOW_TICKS_MAX 126u

/* Begin the next tick: keys of tick t - T are now forgotten.
 *
 * What the tick before has forgotten must be cleared by then.  If it is not, this is done here, for the
 * whole set at worst: some 12,000 instructions per 4096 bits.  Each insert clears one bucket, which is
 * planned for 50 keys and more, so that 2 % of n inserts per tick are enough for this to take no time; who
 * inserts less calls tamis_window_step now and then.
 *
 * TAMIS_E_ARGUMENT, TAMIS_E_UNSUPPORTED if the filter is no window, TAMIS_E_READONLY. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_window_tick(tamis_filter *window);

/* Clear up to 'buckets' buckets of what is forgotten.  '*left' (may be NULL) becomes the number of those that
 * are still to be cleared: 0 after the last.  Statuses as tamis_window_tick. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_window_step(tamis_filter *window, uint64_t buckets,
                                                          uint64_t *left);

/* What a window is like. */
typedef struct tamis_window_state {
    size_t struct_size;
    unsigned ticks; /* T */
    uint64_t now;   /* ticks since it was made or cleared */
    uint64_t left;  /* buckets that are to be cleared of what is forgotten */
    uint64_t
        live; /* keys that are not forgotten; tamis_filter_count has those that are not cleared */
    /* Of these, last inserted in tick now, now - 1, .. now - T; then zeros. */
    uint64_t ages[TAMIS_WINDOW_TICKS_MAX + 1];
} tamis_window_state;

static inline void tamis_window_state_init(tamis_window_state *state) {
    memset(state, 0, sizeof *state);
    state->struct_size = sizeof *state;
}

/* Fill in 'state', which went through its _init function.  Reads the whole set.  TAMIS_E_ARGUMENT,
 * TAMIS_E_UNSUPPORTED; 'state' is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_window_info(const tamis_filter *window,
                                                          tamis_window_state *state);

#ifdef __cplusplus
}
#endif

#endif
