/* table_need.c - plans of tables: from what is needed to parameters and predictions
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/table.h"

#include "table/table.h"

#include <math.h>

/* The planner's result, as parameters and predictions. */
static void plan_table_need_take(const tamis_i_table_plan *found, tamis_table_plan *plan) {
    tamis_table_params *const params = &plan->params;
    params->n_levels = found->n_types;
    params->string_bits = found->summary.string_bits;
    for (unsigned i = 0; i < TAMIS_TABLE_LEVELS_MAX; i++) {
        params->buckets[i] = found->buckets[i];
        params->cells[i] = found->summary.cells[i];
        params->hashes[i] = found->summary.hashes[i];
        params->counter_bits[i] = found->summary.counter_bits[i];
        plan->level_items[i] = found->items[i];
    }
    plan->crisis = found->crisis;
    plan->failure = found->failure;
    plan->fpr = found->fpr;
    plan->summary_bits = found->summary_bits;
}

/* A page table: of each filter the bits per 1000 items, for the error rate.  There are no odds: an item
 * always is in the page that is read.  A miss that the filter does not exclude reads a page, so the rate is
 * the reads of a miss.  It is that of a filter with no room left; most have some. */
static tamis_status plan_table_need_pages(const tamis_table_need *need, tamis_table_plan *plan) {
    tamis_table_params *const params = &plan->params;
    const double fpr = need->fpr == 0 ? 0.0022 : need->fpr;
    if (need->n > TAMIS_CAPACITY_MAX || fpr < 1e-15 || fpr > 0.5 || need->odds != 0 ||
        need->slots_per_item != 0 || need->rebuild_permille != 0 ||
        (need->summary != TAMIS_SUMMARY_DEFAULT && need->summary != TAMIS_SUMMARY_MULTIPLE))
        return TAMIS_E_ARGUMENT;
    const double hashes = fmax(1, round(-log2(fpr)));
    const double bits = -hashes / log1p(-pow(fpr, 1 / hashes));
    tamis_table_params_init(params);
    params->capacity = need->n;
    params->bucket = TAMIS_TABLE_PAGE;
    params->summary = TAMIS_SUMMARY_MULTIPLE;
    params->n_levels = 1;
    params->cells[0] = (uint64_t)ceil(1000 * bits);
    params->hashes[0] = (uint64_t)hashes;
    plan->level_items[0] = (double)need->n;
    plan->fpr = fpr;
    plan->summary_bits = (uint64_t)ceil(bits * (double)need->n);
    return TAMIS_OK;
}

static tamis_status plan_table_need_make(const tamis_table_need *need, tamis_table_plan *plan) {
    tamis_table_params *const params = &plan->params;
    if (need->bucket == TAMIS_TABLE_PAGE)
        return plan_table_need_pages(need, plan);
    tamis_table_params_init(params);
    params->capacity = need->n;
    params->bucket = need->bucket == 0 ? 1 : need->bucket;
    params->summary =
        need->summary == TAMIS_SUMMARY_DEFAULT ? TAMIS_SUMMARY_MULTIPLE : need->summary;
    params->rebuild_permille = need->rebuild_permille == 0 ? 100 : need->rebuild_permille;
    const tamis_i_summary_kind *const kind = tamis_i_summary_by_id((uint64_t)params->summary);
    if (kind == NULL || need->n > TAMIS_CAPACITY_MAX || params->bucket > TAMIS_TABLE_BUCKET_MAX ||
        params->rebuild_permille > 1000)
        return TAMIS_E_ARGUMENT;
    /* A summary that forgets is planned for items that come and go.  One that does not must also hold
     * the deleted ones, until a rebuild. */
    const bool forgets = (kind->abilities & TAMIS_I_SUMMARY_CAN_REMOVE) != 0;
    const bool decides =
        (kind->abilities & TAMIS_I_SUMMARY_DECIDES) != 0; /* and none are deleted */
    const tamis_i_table_need own = {.n = need->n,
                                    .deleted = forgets || decides || need->no_deletes
                                                   ? 0
                                                   : need->n * params->rebuild_permille / 1000,
                                    .kind = kind->id,
                                    .odds = need->odds,
                                    .fpr = need->fpr,
                                    .churn = forgets && !need->no_deletes,
                                    .bucket = (unsigned)params->bucket,
                                    .space = need->slots_per_item};
    tamis_i_table_plan found;
    const tamis_status status = tamis_i_plan_table(&own, &found);
    if (status == TAMIS_OK)
        plan_table_need_take(&found, plan);
    return status;
}

tamis_status tamis_i_table_plan_params(tamis_table_params *params) {
    tamis_table_need need;
    tamis_table_plan plan;
    tamis_table_need_init(&need);
    tamis_table_plan_init(&plan);
    need.n = params->capacity;
    /* Without the size of a key there are no slots. */
    need.bucket = params->bucket == 0 && params->key_max == 0 ? TAMIS_TABLE_PAGE : params->bucket;
    need.summary = params->summary;
    need.rebuild_permille = params->rebuild_permille;
    const tamis_status status = plan_table_need_make(&need, &plan);
    if (status != TAMIS_OK)
        return status;
    plan.params.hash = params->hash;
    plan.params.seed = params->seed;
    plan.params.seed_high = params->seed_high;
    plan.params.key_max = params->key_max;
    plan.params.value_max = params->value_max;
    plan.params.stash = params->stash;
    *params = plan.params;
    return TAMIS_OK;
}

tamis_status tamis_table_plan_make(const tamis_table_need *need, tamis_table_plan *plan) {
    tamis_table_need own;
    tamis_table_plan result;
    if (need == NULL || plan == NULL || !tamis_i_struct_in(&own, sizeof own, need))
        return TAMIS_E_ARGUMENT;
    tamis_table_plan_init(&result);
    const tamis_status status = plan_table_need_make(&own, &result);
    if (status != TAMIS_OK)
        return status;
    return tamis_i_struct_out(plan, &result, sizeof result) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}

tamis_status tamis_table_plan_paper(uint64_t n, tamis_summary summary, tamis_table_plan *plan) {
    tamis_table_plan result;
    tamis_i_table_plan found;
    if (plan == NULL || tamis_summary_name(summary) == NULL)
        return TAMIS_E_ARGUMENT;
    const tamis_status status =
        tamis_i_plan_table_paper(n, (tamis_i_summary_id)(int)summary, &found);
    if (status != TAMIS_OK)
        return status;
    tamis_table_plan_init(&result);
    result.params.capacity = n;
    result.params.bucket = 1;
    result.params.summary = summary;
    plan_table_need_take(&found, &result);
    return tamis_i_struct_out(plan, &result, sizeof result) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
