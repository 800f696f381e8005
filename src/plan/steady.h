/* steady.h - what both planners of buckets that spill over (steady.c, steady_quick.c) must agree about
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_STEADY_H
#define TAMIS_PLAN_STEADY_H

#include "model/steady.h"
#include "tamis/plan.h"

#include <math.h>

/* Bits of a bucket: of a plan for the fewest bytes, and where these need more than SMALL_ABOVE bits per key
 * above log2(1/p); of the back, at most; of a set in one bucket. */
#define SMALL_BITS  4096u
#define LARGE_BITS  8192u
#define BACK_BITS   4096u
#define ALONE_BITS  8192u
#define SMALL_ABOVE 2.55
#define LARGE_FROM  256u /* buckets: with fewer, all plans are above that */
#define STEADY_LINE 512u

#define STEADY_MORE    256u
#define ORIGIN_MAX     8u
#define STEADY_MOMENTS 10000.0
#define MARGIN         TAMIS_I_STEADY_MARGIN
#define LAMBDA_MOST    2.0 /* keys per home */

#define EXACT (1 - 1e-12) /* what rounding may take */

/* Keys per cell at which n keys err as often as is asked for, and no more: 1 - (1 - 1/cells)^n, which is more
 * than the 1 - e^(-n/cells) of a table without end. */
static inline double tamis_i_plan_steady_cell(const tamis_need *need) {
    return -(double)need->n * expm1(log1p(-need->fpr) / (double)need->n) * EXACT;
}

#endif
