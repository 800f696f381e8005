/* kanizo_filter.c - real filters under the experiments of Kanizo, Hay and Keslassy
 *
 * SPDX-License-Identifier: MIT
 */
#include "kanizo.h"

#include <math.h>
#include <stdio.h>

#include <tamis/plan.h>

enum { BLOCK_BITS = KANIZO_BLOCK_BITS };

/* -------------------------------------------------------------------------------------------------
 * Looking
 */

/* The reads after the first one, so they are parts of keys. */
static void look_at_filter(const tamis_info *info, double rate, double *values) {
    double blocks = 0;
    for (size_t i = 0; i < info->n_loads; i++)
        blocks += (double)info->load_histogram[i];
    values[KANIZO_RATE] = rate;
    values[KANIZO_INFO] = info->fpr;
    values[KANIZO_OVERFLOW] = (double)info->stash_used / (double)info->count;
    values[KANIZO_INSERT] = info->reads_per_insert - 1;
    values[KANIZO_QUERY] = info->reads_per_query - 1;
    for (unsigned i = 0; i < info->n_loads; i++) {
        const double part = (double)info->load_histogram[i] / blocks;
        values[KANIZO_COSTS + KANIZO_SQUARE] += part * kanizo_cost_of(KANIZO_SQUARE, i);
        values[KANIZO_COSTS + KANIZO_HINGE] += part * kanizo_cost_of(KANIZO_HINGE, i);
        if (i < RUN_VALUES - KANIZO_LOADS)
            values[KANIZO_LOADS + i] = part;
    }
}

/* Fill filters with this many keys and look at them, once for all figures that share them. */
static tamis_status observe(const char *name, const tamis_params *params, uint64_t keys,
                            uint64_t queries, unsigned what, run *r, measured *value) {
    if (run_recall(r, name) == NULL) {
        const experiment e = {.params = *params, .keys = keys, .trials = r->full ? 20 : 12};
        double all[RUN_VALUES] = {[KANIZO_RATE] = (double)queries,
                                  [KANIZO_OVERFLOW] = (double)keys,
                                  [KANIZO_INSERT] = (double)keys,
                                  [KANIZO_QUERY] = (double)keys};
        for (unsigned i = KANIZO_LOADS; i < RUN_VALUES; i++)
            all[i] = (double)params->value[TAMIS_BALANCED_BLOOM_BLOCKS]; /* 0 if there are none */
        measured values[RUN_VALUES];
        tamis_status status = simulate_looks(&e, queries, look_at_filter, all, RUN_VALUES, values);
        if (status != TAMIS_OK)
            return status;
        values[KANIZO_INSERT].mean += 1;
        values[KANIZO_QUERY].mean += 1;
        status = run_keep(r, name, values, RUN_VALUES);
        if (status != TAMIS_OK)
            return status;
    }
    *value = run_recall(r, name)[what];
    return TAMIS_OK;
}

static uint64_t keys_for(const run *r) {
    return r->full ? 400000 : 30000;
}

/* -------------------------------------------------------------------------------------------------
 * By the theory
 */

/* Blocks have 256 bits, or 512 where those would be too full to tell keys apart.  With few accesses
 * there is little in the list, and more keys are needed to see it. */
tamis_status kanizo_see_region(tamis_balance_scheme scheme, double accesses, double overflow,
                               double load, unsigned what, run *r, measured *value) {
    tamis_balanced_need need;
    tamis_plan plan;
    char name[64];
    tamis_balanced_need_init(&need);
    tamis_plan_init(&plan);
    need.n = (accesses > 1 && accesses < 1.08   ? 16
              : accesses > 1 && accesses < 1.13 ? 4
                                                : 1) *
             keys_for(r);
    need.scheme = scheme;
    need.accesses = scheme == TAMIS_BALANCE_SINGLE ? 0 : accesses;
    need.overflow = overflow;
    need.block_bits = load <= 16 ? BLOCK_BITS : 2 * BLOCK_BITS;
    need.bits_per_key = need.block_bits / load;
    const tamis_status status = tamis_plan_balanced(&need, &plan);
    if (status != TAMIS_OK)
        return status;
    snprintf(name, sizeof name, "region %d %g %g %g", (int)scheme, accesses, overflow, load);
    return observe(name, &plan.params, need.n, 0, what, r, value);
}

/* -------------------------------------------------------------------------------------------------
 * Figure 4
 */

/* SINGLE has the list that MHT has. */
static tamis_status balanced_params(kanizo_kind kind, int beta, unsigned k, uint64_t n,
                                    tamis_params *params) {
    tamis_balanced_need need;
    tamis_plan plan;
    tamis_balanced_need_init(&need);
    tamis_plan_init(&plan);
    need.n = n;
    need.scheme = kind == KANIZO_SINGLE ? TAMIS_BALANCE_SINGLE : TAMIS_BALANCE_MHT;
    need.block_bits = BLOCK_BITS;
    need.bits_per_key = beta;
    need.hashes = k;
    tamis_status status = TAMIS_OK;
    if (kind == KANIZO_SINGLE)
        status = tamis_model_balance_region(TAMIS_BALANCE_MHT, KANIZO_CHOICES, 1.2, 8,
                                            &need.overflow, NULL);
    if (status == TAMIS_OK)
        status = tamis_plan_balanced(&need, &plan);
    if (status == TAMIS_OK)
        *params = plan.params;
    return status;
}

/* A blocked filter with blocks of 256 bits is a SINGLE filter whose blocks are never full. */
static tamis_status figure4_params(kanizo_kind kind, int beta, unsigned k, uint64_t n,
                                   tamis_params *params) {
    tamis_params_init(params);
    params->hash = TAMIS_HASH_XXH3;
    params->capacity = n;
    switch (kind) {
    case KANIZO_STANDARD:
        params->kind = TAMIS_KIND_BLOOM;
        params->value[TAMIS_BLOOM_BITS] = n * (uint64_t)beta;
        params->value[TAMIS_BLOOM_HASHES] = k;
        return TAMIS_OK;
    case KANIZO_BLOCKED:
        params->kind = TAMIS_KIND_BALANCED_BLOOM;
        params->value[TAMIS_BALANCED_BLOOM_SCHEME] = TAMIS_BALANCE_SINGLE;
        params->value[TAMIS_BALANCED_BLOOM_BLOCK_BITS] = BLOCK_BITS;
        params->value[TAMIS_BALANCED_BLOOM_BLOCKS] = n * (uint64_t)beta / BLOCK_BITS;
        params->value[TAMIS_BALANCED_BLOOM_HASHES] = k;
        params->value[TAMIS_BALANCED_BLOOM_LOAD_MAX] = 127;
        return TAMIS_OK;
    default:
        return balanced_params(kind, beta, k, n, params);
    }
}

/* A key that is mistaken for a present one when it comes is not inserted.  In SINGLE that changes no bit,
 * since all of its bits are set.  In MHT it keeps blocks from being full.  If keys come at the rate 1,
 * the part 1 - e(x) goes in when x keys per block are in, where e is the error rate at that time. */
static tamis_status mht_load(const tamis_balance_shape *shape, double load, unsigned bits,
                             unsigned k, double *in) {
    enum { STEPS = 40 };
    *in = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        double half, rate;
        tamis_status status = tamis_model_balance_fpr(shape, *in, true, bits, k, &rate);
        if (status != TAMIS_OK)
            return status;
        half = *in + (1 - rate) * load / STEPS / 2;
        status = tamis_model_balance_fpr(shape, half, true, bits, k, &rate);
        if (status != TAMIS_OK)
            return status;
        *in += (1 - rate) * load / STEPS;
    }
    return TAMIS_OK;
}

/* Blocks that a query for an absent key reads: the next one if an insert would go on to it, unless a
 * block has already claimed that the key is there. */
static tamis_status mht_reads(const tamis_balance_shape *shape, const tamis_balance_state *state,
                              unsigned bits, unsigned k, double *value) {
    enum { ROOM = 1024 };
    const unsigned h = shape->threshold;
    double p[ROOM], error_at, error_above, reach = 1;
    tamis_status status = tamis_model_bloom_exact(bits, h, k, &error_at);
    if (status == TAMIS_OK)
        status = tamis_model_bloom_exact(bits, h + 1, k, &error_above);
    *value = 0;
    for (unsigned i = 0; i < shape->choices && status == TAMIS_OK; i++) {
        *value += reach;
        status = tamis_model_balance_loads(state->arrivals[i], h, shape->coin, p, ROOM);
        reach *= p[h] * (1 - shape->coin) * (1 - error_at) + p[h + 1] * (1 - error_above);
    }
    return status;
}

static tamis_status mht_expected(int beta, unsigned k, int percent, unsigned what, double *value) {
    const double load = (double)BLOCK_BITS / beta;
    tamis_balance_shape shape;
    tamis_balance_state state;
    double in;
    tamis_status status = kanizo_shape(TAMIS_BALANCE_MHT, load, &shape);
    if (status != TAMIS_OK)
        return status;
    const unsigned bits = BLOCK_BITS - tamis_model_balance_counter_bits(shape.threshold);
    tamis_balance_state_init(&state);
    status = mht_load(&shape, load * percent / 100, bits, k, &in);
    if (status == TAMIS_OK && (what == KANIZO_RATE || what == KANIZO_INFO))
        return tamis_model_balance_fpr(&shape, in, true, bits, k, value);
    if (status == TAMIS_OK)
        status = tamis_model_balance_state(&shape, in, &state);
    if (status == TAMIS_OK && what == KANIZO_QUERY)
        return mht_reads(&shape, &state, bits, k, value);
    if (status == TAMIS_OK)
        *value = state.accesses;
    return status;
}

tamis_status kanizo_see_figure4(kanizo_kind kind, int beta, int percent, unsigned what, run *r,
                                measured *value) {
    const double visible = r->full ? 2e-5 : 5e-4;
    const uint64_t n = keys_for(r), queries = r->full ? 1000000 : 50000;
    unsigned k = kanizo_hashes(beta);
    double expected;
    tamis_status status = kanizo_fpr(kind, beta, k, &expected);
    while (status == TAMIS_OK && what == KANIZO_RATE && expected < visible && k > 1)
        status = kanizo_fpr(kind, beta, --k, &expected);
    if (status == TAMIS_OK && kind == KANIZO_MHT)
        status = mht_expected(beta, k, percent, what, &expected);
    tamis_params params;
    if (status == TAMIS_OK)
        status = figure4_params(kind, beta, k, n, &params);
    if (status != TAMIS_OK)
        return status;
    char name[64];
    snprintf(name, sizeof name, "figure 4 %d %d %u %d", (int)kind, beta, k, percent);
    status = observe(name, &params, n * (uint64_t)percent / 100, queries, what, r, value);
    value->expected = expected;
    return status;
}
