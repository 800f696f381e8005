/* line_model.h - what the planner asks of the model of lines, beyond tamis/model.h
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_MODEL_H
#define TAMIS_KINDS_LINE_MODEL_H

#include "tamis/model.h"

/* What is left free of a back line's places, so that what finds no place by one move is at most this share
 * of an entry per back line, for which there is a stash: with removals, and without. */
#define TAMIS_I_LINE_SLACK       2.5
#define TAMIS_I_LINE_SLACK_SET   1.2
#define TAMIS_I_LINE_STASHED     (1.0 / 16)
#define TAMIS_I_LINE_STASHED_SET (1.0 / 32)

/* Entries that are needed beyond those of a normal distribution, per unit of log(1/odds), about. */
#define TAMIS_I_LINE_SKEW 0.7

/* A front line, and what comes to it. */
typedef struct tamis_i_line_front {
    unsigned homes, entries; /* L, C */
    double load;             /* m: entries per line, away or not */
    bool deletes;
} tamis_i_line_front;

/* Of one line: the odds that it has homes away, the mean of its entries that are, by how much that grows
 * with each entry of the load, and its variance if the number of all entries is given. */
typedef struct tamis_i_line_sums {
    double cut, away, growth, variance;
} tamis_i_line_sums;

void tamis_i_line_model_sums(const tamis_i_line_front *front, tamis_i_line_sums *sums);

/* How many entries of a line are away beyond that, in the mean, if it has homes away with odds 'cut'. */
double tamis_i_line_model_lag(const tamis_i_line_front *front, double cut);

/* log of a bound on E(e^(s B)), where B entries are away from 'lines' lines, and what cannot be filled of a
 * back of 'back_lines' is added to them.  So B is above b with odds of at most e^(log - s b), for every s > 0. */
double tamis_i_line_model_log(const tamis_i_line_front *front, const tamis_i_line_sums *sums,
                              double lines, double back_lines, double s);

/* An s near the best for odds of e^-odds.  The bound changes little around it. */
double tamis_i_line_model_best(const tamis_i_line_sums *sums, double lines, double back_lines,
                               double odds);

/* The entries that the back and its stash are sure to take. */
double tamis_i_line_model_room(const tamis_line_shape *shape);

#endif
