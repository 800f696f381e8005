/* line_model.h - what the planner asks of the model of lines, beyond tamis/model.h
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_KINDS_LINE_MODEL_H
#define TAMIS_KINDS_LINE_MODEL_H

#include "tamis/model.h"

/* How often an entry that finds its two back lines full may make others move: one of theirs goes to
 * its own other line, or, if that is full too, one of that line first.  What finds no place is in
 * the stash, at most STASHED entries per back line with STILL_FREE places more than cannot be
 * filled; and a few of all, where neighbouring lines are too full by chance. */
#define TAMIS_I_LINE_MOVES          2
#define TAMIS_I_LINE_STILL_FREE     0.6
#define TAMIS_I_LINE_STILL_FREE_SET 0.4
#define TAMIS_I_LINE_STASHED        (1.0 / 32)
#define TAMIS_I_LINE_STASH_LEAST    5.0

/* The variance, per back line, of what cannot be filled. */
#define TAMIS_I_LINE_UNFILLED 6.0

/* Entries that are needed beyond those of a normal distribution, per unit of log(1/odds), about. */
#define TAMIS_I_LINE_SKEW 0.7

/* A front line, and what comes to it. */
typedef struct tamis_i_line_front {
    unsigned homes, entries; /* L, C */
    double load;             /* m: entries per line, away or not */
    bool deletes;
} tamis_i_line_front;

/* Of one line: the odds that it has homes away, the mean of its entries that are, by how much that
 * grows with each entry of the load, its variance, and that if the number of all entries is
 * given. */
typedef struct tamis_i_line_sums {
    double cut, away, growth, scatter, variance;
} tamis_i_line_sums;

void tamis_i_line_model_sums(const tamis_i_line_front *front, tamis_i_line_sums *sums);

/* How many entries of a line are away beyond that, in the mean, if it has homes away with odds
 * 'cut'. */
double tamis_i_line_model_lag(const tamis_i_line_front *front, double cut);

/* log of a bound on E(e^(s B)), where B entries are away from 'lines' lines, and what cannot be
 * filled of a back of 'back_lines' is added to them.  So B is above b with odds of at most e^(log -
 * s b), for every s > 0. */
double tamis_i_line_model_log(const tamis_i_line_front *front, const tamis_i_line_sums *sums,
                              double lines, double back_lines, double s);

/* An s near the best for odds of e^-odds.  The bound changes little around it. */
double tamis_i_line_model_best(const tamis_i_line_sums *sums, double lines, double back_lines,
                               double odds);

/* Places of a back line that are left free, where those of so many front lines are spread over so
 * many. */
double tamis_i_line_model_slack(const tamis_i_line_front *front, double scatter, double lines,
                                double back_lines, double back_entries);

/* The stash that goes with a back. */
double tamis_i_line_model_stash(double back_lines);

/* The entries that the back and its stash are sure to take. */
double tamis_i_line_model_room(const tamis_line_shape *shape, const tamis_i_line_front *front,
                               const tamis_i_line_sums *sums);

#endif
