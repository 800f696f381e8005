/* plan.c - plans over all structures
 *
 * SPDX-License-Identifier: MIT
 */
#include "api/api.h"

#include <errno.h>
#include <math.h>

static tamis_status plan_one(const tamis_i_entry *entry, const tamis_need *need, tamis_plan *plan) {
    if (need->deletes && (entry->kind->abilities & TAMIS_CAN_REMOVE) == 0)
        return TAMIS_E_UNSUPPORTED;
    tamis_plan own;
    tamis_plan_init(&own);
    tamis_params_init(&own.params);
    own.params.capacity = need->n;
    tamis_status status = entry->plan(need, &own);
    if (status != TAMIS_OK)
        return status;
    uint64_t n_body, n_table;
    status = tamis_i_filter_shape(entry->kind, &own.params, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    own.bytes = n_body * sizeof(uint64_t);
    own.bits_per_key = 8 * (double)own.bytes / (double)need->n;
    own.bound_bits_per_key = -log2(need->fpr);
    *plan = own;
    return TAMIS_OK;
}

/* Read a caller's need and fill in its defaults. */
static tamis_status need_in(tamis_need *own, const tamis_need *need) {
    if (need == NULL || !tamis_i_struct_in(own, sizeof *own, need))
        return TAMIS_E_ARGUMENT;
    if (own->fpr == 0)
        own->fpr = 0.01;
    if (own->n < 1 || own->n > TAMIS_CAPACITY_MAX || !(own->fpr > 0 && own->fpr < 1))
        return TAMIS_E_ARGUMENT;
    if (own->kind != TAMIS_KIND_ANY && tamis_i_kind_of(own->kind) == NULL)
        return TAMIS_E_ARGUMENT;
    return TAMIS_OK;
}

/* Fewer bytes first; of two equal ones, that which touches fewer lines. */
static bool better(const tamis_plan *a, const tamis_plan *b) {
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes;
    return a->lines_per_query < b->lines_per_query;
}

/* Collect the plans, sorted, in 'own', which has room for all kinds. */
static tamis_status plan_kinds(const tamis_need *need, tamis_plan *own, size_t *n) {
    tamis_status worst = TAMIS_E_UNSUPPORTED;
    *n = 0;
    for (size_t i = 0; i < tamis_i_n_entries; i++) {
        if (need->kind != TAMIS_KIND_ANY && need->kind != tamis_i_entries[i].kind->id)
            continue;
        tamis_plan plan;
        const tamis_status status = plan_one(&tamis_i_entries[i], need, &plan);
        if (status != TAMIS_OK) {
            worst = status == TAMIS_E_UNSUPPORTED ? worst : status;
            continue;
        }
        size_t at = (*n)++;
        for (; at > 0 && better(&plan, &own[at - 1]); at--)
            own[at] = own[at - 1];
        own[at] = plan;
    }
    return *n > 0 ? TAMIS_OK : worst;
}

#define KINDS_MAX 32 /* more than there are structures */

tamis_status tamis_plan_all(const tamis_need *need, tamis_plan *plans, size_t room,
                            size_t *n_plans) {
    tamis_need own_need;
    tamis_plan own[KINDS_MAX];
    size_t n;
    if (plans == NULL || n_plans == NULL || tamis_i_n_entries > KINDS_MAX)
        return TAMIS_E_ARGUMENT;
    tamis_status status = need_in(&own_need, need);
    if (status != TAMIS_OK)
        return status;
    /* plans[] has the caller's stride; all of it is checked before any of it is changed. */
    const unsigned char *const first = (const unsigned char *)plans;
    size_t stride = sizeof own[0];
    if (room > 0)
        memcpy(&stride, first, sizeof stride);
    if (stride < sizeof stride || stride > (size_t)1 << 16)
        return TAMIS_E_ARGUMENT;
    const int saved = errno; /* the mathematics may set it where a tail underflows to 0 */
    status = plan_kinds(&own_need, own, &n);
    errno = saved;
    if (status != TAMIS_OK)
        return status;
    n = n < room ? n : room;
    for (size_t i = 1; i < n; i++)
        if (memcmp(first + i * stride, first, sizeof stride) != 0)
            return TAMIS_E_ARGUMENT;
    for (size_t i = 0; i < n; i++)
        if (!tamis_i_struct_out((unsigned char *)plans + i * stride, &own[i], sizeof own[i]))
            return TAMIS_E_ARGUMENT;
    *n_plans = n;
    return TAMIS_OK;
}

/* Who does not remove keys has a set in mind: a key inserted again changes nothing, and more keys than
 * planned cost errors, not failures.  A multiset is not taken for that unless it is asked for. */
static size_t best_plan(const tamis_need *need, const tamis_plan *plans, size_t n) {
    size_t best = 0;
    if (need->kind == TAMIS_KIND_ANY && !need->deletes)
        while (best < n && (tamis_kind_abilities(plans[best].params.kind) & TAMIS_CAN_COUNT) != 0)
            best++;
    return best < n ? best : 0;
}

tamis_status tamis_plan_make(const tamis_need *need, tamis_plan *plan) {
    tamis_need own_need;
    tamis_plan own[KINDS_MAX];
    size_t n;
    if (plan == NULL || tamis_i_n_entries > KINDS_MAX)
        return TAMIS_E_ARGUMENT;
    tamis_status status = need_in(&own_need, need);
    if (status != TAMIS_OK)
        return status;
    const int saved = errno;
    status = plan_kinds(&own_need, own, &n);
    errno = saved;
    if (status != TAMIS_OK)
        return status;
    const size_t best = best_plan(&own_need, own, n);
    return tamis_i_struct_out(plan, &own[best], sizeof *own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
