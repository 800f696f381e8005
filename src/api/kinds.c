/* kinds.c - the structures: one row each
 *
 * SPDX-License-Identifier: MIT
 */
#include "api/api.h"
#include "plan/planners.h"

const tamis_i_entry tamis_i_entries[] = {
    {&tamis_i_bloom, tamis_i_plan_bloom},
    {&tamis_i_blocked_bloom, tamis_i_plan_blocked_bloom},
    {&tamis_i_counting_bloom, tamis_i_plan_counting_bloom},
    {&tamis_i_dleft, tamis_i_plan_dleft},
    {&tamis_i_dleft_counting, tamis_i_plan_dleft_counting},
    {&tamis_i_dleft_dynamic, tamis_i_plan_dleft_dynamic},
    {&tamis_i_balanced_bloom, tamis_i_plan_balanced_bloom},
    {&tamis_i_rank, tamis_i_plan_rank},
    {&tamis_i_rank_counting, tamis_i_plan_rank_counting},
    {&tamis_i_line_kind, tamis_i_plan_line},
    {&tamis_i_line_set_kind, tamis_i_plan_line_set},
};
const size_t tamis_i_n_entries = sizeof tamis_i_entries / sizeof tamis_i_entries[0];

const tamis_i_kind *tamis_i_kind_of(tamis_kind kind) {
    for (size_t i = 0; i < tamis_i_n_entries; i++)
        if (tamis_i_entries[i].kind->id == kind)
            return tamis_i_entries[i].kind;
    return NULL;
}

const char *tamis_kind_name(tamis_kind kind) {
    const tamis_i_kind *const k = tamis_i_kind_of(kind);
    return k == NULL ? NULL : k->name;
}

tamis_status tamis_kind_parse(const char *name, tamis_kind *kind) {
    if (name == NULL || kind == NULL)
        return TAMIS_E_ARGUMENT;
    for (size_t i = 0; i < tamis_i_n_entries; i++) {
        if (strcmp(tamis_i_entries[i].kind->name, name) == 0) {
            *kind = tamis_i_entries[i].kind->id;
            return TAMIS_OK;
        }
    }
    return TAMIS_E_ARGUMENT;
}

unsigned tamis_kind_abilities(tamis_kind kind) {
    const tamis_i_kind *const k = tamis_i_kind_of(kind);
    return k == NULL ? 0 : k->abilities;
}

const char *tamis_param_name(tamis_kind kind, unsigned index) {
    const tamis_i_kind *const k = tamis_i_kind_of(kind);
    return k == NULL || index >= TAMIS_PARAMS_MAX ? NULL : k->params[index];
}
