/* plan_balanced.c - plans of balanced Bloom filters by their theory
 *
 * SPDX-License-Identifier: MIT
 */
#include "api/api.h"
#include "plan/planners.h"

#include <errno.h>
#include <math.h>

tamis_status tamis_plan_balanced(const tamis_balanced_need *need, tamis_plan *plan) {
    tamis_balanced_need own_need;
    tamis_plan own;
    if (need == NULL || plan == NULL || !tamis_i_struct_in(&own_need, sizeof own_need, need))
        return TAMIS_E_ARGUMENT;
    tamis_plan_init(&own);
    tamis_params_init(&own.params);
    const int saved = errno; /* the mathematics may set it where a tail underflows to 0 */
    tamis_status status = tamis_i_plan_balanced(&own_need, &own);
    errno = saved;
    uint64_t n_body = 0, n_table;
    if (status == TAMIS_OK)
        status =
            tamis_i_filter_shape(tamis_i_kind_of(own.params.kind), &own.params, &n_body, &n_table);
    if (status != TAMIS_OK)
        return status;
    own.bytes = n_body * sizeof(uint64_t);
    own.bits_per_key = 8 * (double)own.bytes / (double)own_need.n;
    own.bound_bits_per_key = -log2(own.fpr);
    return tamis_i_struct_out(plan, &own, sizeof own) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
