/* window.h - what only windows have (filter/window.c): ticks
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_WINDOW_H
#define TAMIS_FILTER_WINDOW_H

#include "filter/filter.h"
#include "tamis/window.h"

/* Bits of a stamp: for the ticks that are live, one that is on its way out, and no others. */
unsigned tamis_i_window_stamp_bits(uint64_t ticks);

/* Ticks of which a filter keeps the keys; 0: it forgets nothing. */
static inline unsigned tamis_i_filter_ticks(const tamis_filter *filter) {
    return (filter->kind->abilities & TAMIS_CAN_FORGET) == 0
               ? 0
               : (unsigned)filter->params.value[TAMIS_WINDOW_TICKS];
}

/* Of one link.  Begin the next tick; clear up to 'most' buckets and tell how many are left. */
void tamis_i_window_tick(tamis_filter *filter);
uint64_t tamis_i_window_clear(tamis_filter *filter, uint64_t most);

/* The number of the tick, and the buckets that are to be cleared. */
uint64_t tamis_i_window_now(const tamis_filter *filter);
uint64_t tamis_i_window_left(const tamis_filter *filter);

/* Add the live keys of each age to ages[0 .. TAMIS_WINDOW_TICKS_MAX]. */
void tamis_i_window_census(const tamis_filter *filter, uint64_t *ages);

#endif
