/* plan.c - sub-tables and summary for a capacity, by the rule of thumb of the paper
 *
 * The paper's tables for n items have 4n, n, n/2, n/4, ... slots in 5 (10,000 items) or 6 (100,000)
 * sub-tables, the last as large as the one before it.  Here one more is added for each factor of 32 in
 * n.  Filter i of 'multiple' gets room for the items that are expected after sub-table i - 1, and for six
 * standard deviations more, at 76 bits each with 49 hashes; filter 0 has 10.6 bits per item and 7 hashes, an
 * error rate of 0.006.
 *
 * After Kirsch and Mitzenmacher, "Simple Summaries for Hashing With Choices", IEEE/ACM Transactions on
 * Networking 16(1), 2008, section IX.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table/table.h"

#include <math.h>

static uint64_t at_least_one(double x) {
    return x < 1 ? 1 : (uint64_t)ceil(x);
}

static void plan_levels(tamis_table_params *params) {
    const double n = (double)params->capacity, bucket = (double)params->bucket;
    unsigned levels = 5;
    for (double reach = 2e4; reach < n; reach *= 32)
        levels++;
    params->n_levels = levels;
    for (unsigned i = 0; i < levels; i++) {
        const unsigned halvings = i + 1 < levels || i < 2 ? i : i - 1;
        const double share = i == 0 ? 4 : ldexp(2, -(int)halvings);
        /* small tables vary more */
        params->buckets[i] = at_least_one((share * n + 4) / bucket);
    }
}

/* Items that go on after a sub-table, each bucket with one slot: with more slots fewer do. */
static double left_after(double items, double slots) {
    return items - slots * -expm1(-items / slots);
}

static void plan_multiple(tamis_table_params *params, bool counting) {
    double left = (double)params->capacity;
    for (unsigned i = 0; i < params->n_levels; i++) {
        const double items = left + 6 * sqrt(left) + 4;
        params->cells[i] = i == 0 ? at_least_one(10.6 * left) : at_least_one(76 * items);
        params->hashes[i] = i == 0 ? 7 : 49;
        params->counter_bits[i] = counting ? 4 : 0;
        left = left_after(left, (double)params->buckets[i] * (double)params->bucket);
        left = left < 0 ? 0 : left;
    }
}

static void plan_single(tamis_table_params *params, bool counting) {
    params->cells[0] = at_least_one(12 * (double)params->capacity + 240);
    params->hashes[0] = 15;
    for (unsigned i = 0; i < params->n_levels && counting; i++)
        params->counter_bits[i] = 4;
}

tamis_status tamis_i_table_plan(tamis_table_params *params) {
    if (params->capacity < 1 || params->capacity > TAMIS_CAPACITY_MAX)
        return TAMIS_E_ARGUMENT;
    if (params->bucket == 0)
        params->bucket = 1;
    plan_levels(params);
    switch (params->summary) {
    case TAMIS_SUMMARY_DEFAULT:
    case TAMIS_SUMMARY_MULTIPLE:
    case TAMIS_SUMMARY_MULTIPLE_COUNTING:
        plan_multiple(params, params->summary == TAMIS_SUMMARY_MULTIPLE_COUNTING);
        return TAMIS_OK;
    case TAMIS_SUMMARY_SINGLE:
    case TAMIS_SUMMARY_SINGLE_COUNTING:
        plan_single(params, params->summary == TAMIS_SUMMARY_SINGLE_COUNTING);
        return TAMIS_OK;
    case TAMIS_SUMMARY_INTERPOLATION:
        params->cells[0] = at_least_one((double)params->capacity / 0.9);
        params->string_bits = 50;
        return TAMIS_OK;
    }
    return TAMIS_E_ARGUMENT;
}
