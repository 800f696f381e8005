/* rebalance.h - moving elements in the background, as the paper on dynamic bit reassignment proposes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_EXPERIMENTS_REBALANCE_H
#define TAMIS_EXPERIMENTS_REBALANCE_H

#include "experiments.h"

/* Bits of an element by the load of its bucket: 64-bit buckets, semi-sorted, with room for more than 6
 * if needed, as with two subtables. */
enum { REBALANCE_LOADS = 12 };
tamis_status rebalance_bits(unsigned bits[REBALANCE_LOADS]);

/* Tables of d subtables are filled to a mean load of 4.  After each insert 'moves' random elements are
 * drawn, and each moves if another of its buckets would then be less loaded than its own is now.  The
 * error rate follows from the lengths that are left or, for comparison, from the loads alone, as if
 * moved elements became longer again. */
tamis_status rebalance_rate(unsigned d, unsigned moves, bool by_loads, unsigned trials,
                            measured *value);

#endif
