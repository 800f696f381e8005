/* steady.h - what the quick planner asks of the model of buckets that spill over, beyond tamis/model.h
 *
 * The bound of the odds is the least one over some t.  With the sums of one t a caller finds the room that
 * is needed, where tamis_model_steady_overflow needs the room and computes all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_MODEL_STEADY_H
#define TAMIS_MODEL_STEADY_H

#include "tamis/model.h"

/* Slots that a bucket of the back is left, for the difference between them, and the pairs of places per
 * bucket of the back that this takes: src/model/steady.c. */
#define TAMIS_I_STEADY_MARGIN 10.0
#define TAMIS_I_STEADY_SPREAD 6.0

/* Homes that a removal asks for in the back: TAMIS_I_SPILL_RETURNS, which a model may not include. */
#define TAMIS_I_STEADY_RETURNS 8u

/* The t that are tried: the first, and each next one by this factor smaller; how many. */
#define TAMIS_I_STEADY_T    4.0
#define TAMIS_I_STEADY_FALL 0.85
#define TAMIS_I_STEADY_TS   80

/* Sums over the loads X: of P(X) above C, and of P(X) E(O), P(X) E(O^2) and P(X) E(e^(t O) - 1). */
typedef struct tamis_i_steady_sums {
    double cut, away, squares, moment;
} tamis_i_steady_sums;

/* The sums for n keys.  Takes less than a microsecond. */
tamis_status tamis_i_model_steady_sums(const tamis_steady_shape *shape, uint64_t n, double t,
                                       tamis_i_steady_sums *sums);

/* The slots of the back that the bound counts on.  The odds that n keys need more are at most
 * exp(B log(1 + moment) - t room) for every t. */
double tamis_i_model_steady_room(const tamis_steady_shape *shape);

/* The most buckets of a back with these origin bits whose homes are spread well enough for MARGIN, for the
 * sums of n keys. */
double tamis_i_model_steady_backs(const tamis_steady_shape *shape, uint64_t n,
                                  const tamis_i_steady_sums *sums);

/* The next number of buckets of the back, from the shape's on, among which the last homes of buckets are
 * spread evenly; or, if there is none near, the best of them. */
uint64_t tamis_i_model_steady_even(const tamis_steady_shape *shape);

/* Like tamis_model_steady_lines, from every 'every'th home. */
tamis_status tamis_i_model_steady_lines(const tamis_steady_shape *shape, uint64_t n, unsigned every,
                                        double *query, double *insert);

#endif
