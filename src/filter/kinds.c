/* kinds.c - the structures: one line each, the only place that names them all
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"

const tamis_i_kind *const tamis_i_kinds[] = {
    &tamis_i_bloom,          &tamis_i_blocked_bloom, &tamis_i_counting_bloom, &tamis_i_dleft,
    &tamis_i_dleft_counting, &tamis_i_dleft_dynamic, &tamis_i_balanced_bloom, &tamis_i_rank,
    &tamis_i_rank_counting,  &tamis_i_steady,        &tamis_i_window,
};
const size_t tamis_i_n_kinds = sizeof tamis_i_kinds / sizeof tamis_i_kinds[0];

#ifdef TAMIS_TESTING
const tamis_i_kind *tamis_i_kind_tested;
#endif

const tamis_i_kind *tamis_i_kind_of(tamis_kind kind) {
#ifdef TAMIS_TESTING
    if (tamis_i_kind_tested != NULL && tamis_i_kind_tested->id == kind)
        return tamis_i_kind_tested;
#endif
    for (size_t i = 0; i < tamis_i_n_kinds; i++)
        if (tamis_i_kinds[i]->id == kind)
            return tamis_i_kinds[i];
    return NULL;
}

const char *tamis_kind_name(tamis_kind kind) {
    const tamis_i_kind *const k = tamis_i_kind_of(kind);
    return k == NULL ? NULL : k->name;
}

tamis_status tamis_kind_parse(const char *name, tamis_kind *kind) {
    if (name == NULL || kind == NULL)
        return TAMIS_E_ARGUMENT;
    for (size_t i = 0; i < tamis_i_n_kinds; i++) {
        if (strcmp(tamis_i_kinds[i]->name, name) == 0) {
            *kind = tamis_i_kinds[i]->id;
            return TAMIS_OK;
        }
    }
    return TAMIS_E_ARGUMENT;
}

unsigned tamis_kind_abilities(tamis_kind kind) {
    const tamis_i_kind *const k = tamis_i_kind_of(kind);
    return k == NULL ? 0 : k->abilities;
}

unsigned tamis_params_abilities(const tamis_params *params) {
    tamis_params own;
    if (params == NULL || !tamis_i_struct_in(&own, sizeof own, params))
        return 0;
    const tamis_i_kind *const k = tamis_i_kind_of(own.kind);
    if (k == NULL)
        return 0;
    return k->abilities_of == NULL ? k->abilities : k->abilities & k->abilities_of(&own);
}

const char *tamis_param_name(tamis_kind kind, unsigned index) {
    const tamis_i_kind *const k = tamis_i_kind_of(kind);
    return k == NULL || index >= TAMIS_PARAMS_MAX ? NULL : k->params[index];
}
