/* wishes.h - what a need may ask: the ranges of its members, and what a kind must be able to do for them
 *
 * The planner (need.c) refuses by these tables, and the sentences that explain a refusal (explain.c) are
 * made from them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_WISHES_H
#define TAMIS_PLAN_WISHES_H

#include "filter/filter.h"
#include "tamis/plan.h"

#define TAMIS_I_REPLACEMENTS_MAX 10000u /* where the model of 'line' ends */

/* A member that is a number.  0 is its default, and always in its range. */
typedef struct tamis_i_limit {
    const char *member;
    size_t offset;
    double least, most;
    const char *says; /* what the sentence says of it; NULL: "must be ..." */
    enum { TAMIS_I_UNSIGNED, TAMIS_I_U64, TAMIS_I_REAL } type;
    bool least_open, most_open; /* the bound itself is outside */
} tamis_i_limit;

extern const tamis_i_limit tamis_i_limits[];
extern const size_t tamis_i_n_limits;

/* The member's value.  Integers of a need in range are exact in a double. */
double tamis_i_limit_value(const tamis_i_limit *range, const tamis_need *need);
uint64_t tamis_i_limit_integer(const tamis_i_limit *range, const tamis_need *need);

/* The member that is out of its range, or NULL. */
const tamis_i_limit *tamis_i_limit_missed(const tamis_need *need);

/* What is wrong with a need whose numbers are in their ranges, each by itself. */
typedef enum tamis_i_misfit {
    TAMIS_I_FITS,
    TAMIS_I_NO_KIND, /* there is no such kind */
    TAMIS_I_NO_SIZE, /* neither keys nor bytes */
    TAMIS_I_KEYS     /* with the overshoot there are too many keys */
} tamis_i_misfit;
tamis_i_misfit tamis_i_need_misfit(const tamis_need *need);

/* Keys of a need that has n of them, including the overshoot. */
double tamis_i_need_keys(const tamis_need *need, uint64_t n);

/* Something that not all kinds can do. */
typedef struct tamis_i_wish {
    const char *member;
    bool (*asked)(const tamis_need *need);
    bool (*can)(const tamis_i_kind *kind);
    const char *lack;  /* of a kind that cannot */
    const char *these; /* what is said of those that can */
} tamis_i_wish;

enum { TAMIS_I_WISHES = 5 };
extern const tamis_i_wish tamis_i_wishes[TAMIS_I_WISHES];

/* The wishes that the kind cannot do, as bits by their place in the table. */
unsigned tamis_i_wishes_missed(const tamis_i_kind *kind, const tamis_need *need);

#endif
