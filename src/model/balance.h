/* balance.h - what balance.c and balance_finite.c share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_MODEL_BALANCE_H
#define TAMIS_MODEL_BALANCE_H

#include "tamis/model.h"

/* A filter of a finite number of blocks.  Means over all filters of this shape. */
typedef struct tamis_i_balance_finite {
    double arrivals[TAMIS_BALANCE_CHOICES_MAX]; /* at a block of each choice */
    double looks;                               /* of all inserts together */
    double listed, variance;                    /* keys in the list */
    double reads;                               /* blocks that a query for an absent key reads */
    double fpr;                                 /* 0 if no rates were given */
} tamis_i_balance_finite;

/* Fill shape->blocks blocks with n keys: SINGLE and MHT.  The shape has been checked, except 'blocks'
 * and the budget; the budget is ignored.  'rates' are the error rates of a block by its load, 0 to
 * threshold + 1, or NULL for none. keyed_coin: a query knows the coin of its key. */
void tamis_i_balance_fill(const tamis_balance_shape *shape, uint64_t n, bool keyed_coin,
                          const double *rates, tamis_i_balance_finite *filled);

/* The error rate of SEQUENTIAL after 'looks' looks, the mean at which n keys are in. */
double tamis_i_balance_sequential(const tamis_balance_shape *shape, double looks, bool keyed_coin,
                                  const double *rates);

#endif
