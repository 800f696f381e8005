/* api.h - what the files of this room share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_API_API_H
#define TAMIS_API_API_H

#include "filter/filter.h"
#include "tamis/plan.h"
#include "tamis/table.h"

/* Finds the parameters of one kind for a need that has been checked, and fills all of the plan but
 * bytes and the rates per key, which follow. */
typedef tamis_status tamis_i_planner(const tamis_need *need, tamis_plan *plan);

/* One row per structure: the only place that knows them all. */
typedef struct tamis_i_entry {
    const tamis_i_kind *kind;
    tamis_i_planner *plan;
} tamis_i_entry;

extern const tamis_i_entry tamis_i_entries[];
extern const size_t tamis_i_n_entries;

/* The structure with this number, or NULL. */
const tamis_i_kind *tamis_i_kind_of(tamis_kind kind);

/* Fill in sub-tables and summary for params->capacity. */
tamis_status tamis_i_table_plan_params(tamis_table_params *params);

#endif
