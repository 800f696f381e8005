/* cost.c - what calls cost on a typical machine: by a table of instructions, never by a measured
 * time
 *
 * Instructions of one call with an integer key and the default hash, as
 * bench/results/instructions.csv has them: of plans for 1 % and for 0.1 %.  From 1 % to 1e-6 they
 * are taken to be linear in the logarithm of the rate, but to become fewer for no lower rate than
 * 0.1 %.
 *
 * What they take.  In cache, 4 instructions a nanosecond.  Out of cache a processor looks some 320
 * instructions ahead, so that the fetches of the next calls overlap with this one,
 *
 *     ns = 100 * instructions / 320 * stalls,     100 ns to fetch a line,
 *
 * where 'stalls' stands for branches that are guessed wrong and for values that wait for each
 * other; and it fetches no more than 12 lines at a time.  The larger of the two, and of the time in
 * cache.
 *
 * This tells kinds apart, and is no promise: docs/planner.md compares it with measurements.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/planners.h"

#include <math.h>

#define LATENCY  100.0 /* ns */
#define WINDOW   320.0 /* instructions that are under way at a time */
#define FETCHES  12.0  /* lines that are */
#define PER_NS   4.0   /* instructions, in cache */
#define SET_MORE 20.0  /* an insert into a set looks first */
#define UNKNOWN  1000.0

enum { INSERT, ABSENT, PRESENT, REMOVE, CALLS };

/* A kind, or what it is with small buckets. */
typedef struct cost {
    tamis_kind kind;
    double stalls;
    uint16_t percent[CALLS], permille[CALLS]; /* instructions; remove is 0 if there is none */
} cost;

static const cost costs[] = {
    {TAMIS_KIND_BLOOM, 1.2, {238, 90, 162, 0}, {298, 89, 204, 0}},
    {TAMIS_KIND_COUNTING_BLOOM, 1.2, {276, 101, 198, 276}, {341, 100, 258, 357}},
    {TAMIS_KIND_BLOCKED_BLOOM, 1, {60, 44, 44, 0}, {60, 44, 44, 0}},
    {TAMIS_KIND_DLEFT, 1.4, {572, 265, 251, 0}, {570, 265, 251, 0}},
    {TAMIS_KIND_DLEFT_COUNTING, 1.4, {377, 234, 235, 493}, {314, 203, 203, 462}},
    {TAMIS_KIND_DLEFT_DYNAMIC, 1.4, {1275, 220, 303, 745}, {486, 274, 281, 452}},
    {TAMIS_KIND_RANK, 1.4, {259, 93, 131, 579}, {501, 124, 135, 710}},
    {TAMIS_KIND_RANK_COUNTING, 1.4, {394, 197, 210, 585}, {508, 211, 234, 724}},
    {TAMIS_KIND_BALANCED_BLOOM, 1.4, {263, 178, 165, 0}, {297, 178, 189, 0}},
    {TAMIS_KIND_STEADY, 1.4, {694, 353, 353, 692}, {641, 327, 327, 670}},
    {TAMIS_KIND_WINDOW, 1.4, {619, 301, 658, 0}, {587, 298, 642, 0}},
    {TAMIS_KIND_LINE, 1.2, {165, 105, 115, 230}, {185, 115, 125, 250}},
};
static const cost steady_small = {
    TAMIS_KIND_STEADY, 1.4, {354, 185, 186, 321}, {350, 188, 188, 401}};
#define STEADY_SMALL 1024u /* bits of a bucket */

static const cost *plan_cost_of(const tamis_params *params) {
    if (params->kind == TAMIS_KIND_STEADY &&
        params->value[TAMIS_STEADY_BUCKET_BITS] <= STEADY_SMALL)
        return &steady_small;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (costs[i].kind == params->kind)
            return &costs[i];
    return NULL;
}

static double plan_cost_instructions(const cost *c, unsigned call, double fpr) {
    if (c == NULL)
        return UNKNOWN;
    const double a = c->percent[call], b = c->permille[call];
    const double at = fmin(fmax(-log10(fpr) - 2, 0), b < a ? 1 : 4);
    return a + (b - a) * at;
}

/* The two times of a call. */
static void plan_cost_time(const cost *c, double instructions, double lines, double *far,
                           double *near) {
    const double overlapped = LATENCY * instructions / WINDOW * (c == NULL ? 1 : c->stalls);
    *near = instructions / PER_NS;
    *far = fmax(fmax(overlapped, LATENCY * lines / FETCHES), *near);
}

void tamis_i_plan_cost(tamis_plan *plan) {
    const tamis_params *const params = &plan->params;
    const cost *const c = plan_cost_of(params);
    const unsigned abilities = tamis_params_abilities(params);
    const bool looks = params->kind == TAMIS_KIND_LINE && params->value[TAMIS_LINE_SET] != 0;
    const bool bits = params->kind == TAMIS_KIND_BLOOM || params->kind == TAMIS_KIND_COUNTING_BLOOM;
    const double query = plan->lines_per_query, insert = plan->lines_per_insert;
    const double fpr = plan->fpr;
    double far[CALLS] = {0}, near[CALLS] = {0};
    for (unsigned i = 0; i < CALLS; i++) {
        const bool reads = i == ABSENT || (i == PRESENT && !bits);
        const double more = i == INSERT && looks ? SET_MORE : 0;
        if (i != REMOVE || (abilities & TAMIS_CAN_REMOVE) != 0)
            plan_cost_time(c, plan_cost_instructions(c, i, fpr) + more, reads ? query : insert,
                           &far[i], &near[i]);
    }
    plan->ns_insert = far[INSERT];
    plan->ns_lookup = (far[ABSENT] + far[PRESENT]) / 2;
    plan->ns_remove = far[REMOVE];
    plan->ns_insert_cached = near[INSERT];
    plan->ns_lookup_cached = (near[ABSENT] + near[PRESENT]) / 2;
    plan->ns_remove_cached = near[REMOVE];
}
