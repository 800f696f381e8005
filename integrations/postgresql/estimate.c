/* estimate.c - what the planner should expect of a question
 *
 *      share of rows that are left = s + (1 - s) fpr
 *      s = share of rows whose key is in the set
 *
 * The keys of a set are taken for values of the column that asks, as the server does for equal columns:
 * s is then the keys in the set over the different values of the column.
 *
 * The set is often not known when a query is planned: it is in a table, and comes from a subquery or a
 * join.  ANALYZE then knows what the sets of the column are like: mean count and mean error rate of a
 * sample.
 *
 *      pg_statistic    one slot of kind STATISTIC, stanumbers = {mean count, mean error rate}
 *
 * SPDX-License-Identifier: MIT
 */
#include "sets.h"

#include <access/htup_details.h>
#include <catalog/pg_statistic.h>
#include <commands/vacuum.h>
#include <nodes/nodeFuncs.h>
#include <nodes/pathnodes.h>
#include <nodes/supportnodes.h>
#include <optimizer/optimizer.h>
#include <utils/lsyscache.h>
#include <utils/selfuncs.h>

#define STATISTIC  21547 /* of the range for private use */
#define UNKNOWN    0.1   /* of the rows: where a set is asked, most are expected to be absent */
#define SAMPLE_MAX 16    /* sets that ANALYZE reads */

/* ---- what ANALYZE finds ---- */

static void estimate_compute(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int n_rows,
                             double total_rows) {
    (void)total_rows;
    double count = 0, fpr = 0, width = 0;
    int n_null = 0, n_sets = 0, n_read = 0;
    for (int row = 0; row < n_rows; row++) {
        bool is_null;
        const Datum value = fetch(stats, row, &is_null);
        vacuum_delay_point();
        n_null += is_null;
        if (is_null)
            continue;
        n_sets++;
        width += (double)VARSIZE_ANY(DatumGetPointer(value));
        if (n_read < SAMPLE_MAX) {
            double its_count, its_fpr;
            set_glance(value, &its_count, &its_fpr);
            count += its_count;
            fpr += its_fpr;
            n_read++;
        }
    }
    if (n_rows == 0)
        return;
    stats->stats_valid = true;
    stats->stanullfrac = (float4)((double)n_null / n_rows);
    stats->stawidth = n_sets > 0 ? (int32)(width / n_sets) : 0;
    stats->stadistinct = -1.0F + stats->stanullfrac;
    if (n_read == 0)
        return;
    MemoryContext before = MemoryContextSwitchTo(stats->anl_context);
    float4 *const numbers = palloc(2 * sizeof *numbers);
    MemoryContextSwitchTo(before);
    numbers[0] = (float4)(count / n_read);
    numbers[1] = (float4)(fpr / n_read);
    stats->stakind[0] = STATISTIC;
    stats->stanumbers[0] = numbers;
    stats->numnumbers[0] = 2;
}

PG_FUNCTION_INFO_V1(tamis_sql_analyze);
Datum tamis_sql_analyze(PG_FUNCTION_ARGS) {
    VacAttrStats *const stats = (VacAttrStats *)PG_GETARG_POINTER(0);
    if (stats->attr->attstattarget < 0)
        stats->attr->attstattarget = default_statistics_target;
    stats->compute_stats = estimate_compute;
    stats->minrows = SAMPLE_MAX;
    PG_RETURN_BOOL(true);
}

/* ---- the set of a question ---- */

typedef struct estimate_set {
    double count, fpr;
} estimate_set;

static bool estimate_of_column(PlannerInfo *root, Node *node, int relation, estimate_set *set) {
    VariableStatData variable;
    AttStatsSlot slot;
    bool found = false;
    examine_variable(root, node, relation, &variable);
    if (HeapTupleIsValid(variable.statsTuple) &&
        get_attstatsslot(&slot, variable.statsTuple, STATISTIC, InvalidOid, ATTSTATSSLOT_NUMBERS)) {
        found = slot.nnumbers == 2;
        if (found) {
            set->count = slot.numbers[0];
            set->fpr = slot.numbers[1];
        }
        free_attstatsslot(&slot);
    }
    ReleaseVariableStats(variable);
    return found;
}

/* (SELECT set FROM ...) was planned before, as a part of its own whose result is a parameter. */
static bool estimate_of_subquery(PlannerInfo *root, const Param *parameter, estimate_set *set) {
    for (PlannerInfo *at = root; at != NULL; at = at->parent_root) {
        ListCell *cell;
        foreach (cell, at->init_plans) {
            const SubPlan *const plan = lfirst_node(SubPlan, cell);
            if (!list_member_int(plan->setParam, parameter->paramid))
                continue;
            PlannerInfo *const inner = list_nth(root->glob->subroots, plan->plan_id - 1);
            const TargetEntry *const entry = linitial_node(TargetEntry, inner->parse->targetList);
            return estimate_of_column(inner, (Node *)entry->expr, 0, set);
        }
    }
    return false;
}

static bool estimate_find(PlannerInfo *root, Node *node, int relation, estimate_set *set) {
    Node *const known = estimate_expression_value(root, node);
    if (IsA(known, Const)) {
        const Const *const constant = (const Const *)known;
        if (constant->constisnull)
            return false;
        set_glance(constant->constvalue, &set->count, &set->fpr);
        return true;
    }
    if (IsA(known, Param) && ((const Param *)known)->paramkind == PARAM_EXEC)
        return estimate_of_subquery(root, (const Param *)known, set);
    return estimate_of_column(root, known, relation, set);
}

/* ---- the share of the rows ---- */

static double estimate(PlannerInfo *root, List *args, int relation) {
    if (list_length(args) != 2)
        return UNKNOWN;
    estimate_set set;
    if (!estimate_find(root, linitial(args), relation, &set))
        return UNKNOWN;
    VariableStatData key;
    bool is_default;
    examine_variable(root, lsecond(args), relation, &key);
    const double different = get_variable_numdistinct(&key, &is_default);
    const double nulls = HeapTupleIsValid(key.statsTuple)
                             ? ((Form_pg_statistic)GETSTRUCT(key.statsTuple))->stanullfrac
                             : 0;
    ReleaseVariableStats(key);
    const double share = Min(set.count / Max(different, 1), 1);
    const double fpr = Min(Max(set.fpr, 0), 1);
    double rows = (1 - nulls) * (is_default ? Max(fpr, UNKNOWN) : share + (1 - share) * fpr);
    CLAMP_PROBABILITY(rows);
    return rows;
}

PG_FUNCTION_INFO_V1(tamis_sql_restriction);
Datum tamis_sql_restriction(PG_FUNCTION_ARGS) {
    PG_RETURN_FLOAT8(estimate((PlannerInfo *)PG_GETARG_POINTER(0), (List *)PG_GETARG_POINTER(2),
                              PG_GETARG_INT32(3)));
}

PG_FUNCTION_INFO_V1(tamis_sql_join);
Datum tamis_sql_join(PG_FUNCTION_ARGS) {
    PG_RETURN_FLOAT8(
        estimate((PlannerInfo *)PG_GETARG_POINTER(0), (List *)PG_GETARG_POINTER(2), 0));
}

PG_FUNCTION_INFO_V1(tamis_sql_support);
Datum tamis_sql_support(PG_FUNCTION_ARGS) {
    Node *const request = (Node *)PG_GETARG_POINTER(0);
    if (!IsA(request, SupportRequestSelectivity))
        PG_RETURN_POINTER(NULL);
    SupportRequestSelectivity *const wanted = (SupportRequestSelectivity *)request;
    wanted->selectivity =
        estimate(wanted->root, wanted->args, wanted->is_join ? 0 : wanted->varRelid);
    PG_RETURN_POINTER(wanted);
}
