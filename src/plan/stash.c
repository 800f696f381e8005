/* stash.c - what the planners of kinds with buckets share
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/stash.h"
#include "plan/planners.h"
#include "tamis/model.h"

#define COUNTER_BITS 2u /* the minimum: now and then a key comes twice */

tamis_status tamis_i_plan_stash(const tamis_need *need, double mean, tamis_plan *plan) {
    uint64_t stash = 16 + need->n / 16384;
    for (;; stash += stash / 4) {
        double odds;
        /* In a multiset, copies of keys that have a place may use the rest. */
        const bool set = (tamis_kind_abilities(plan->params.kind) & TAMIS_CAN_COUNT) == 0;
        const tamis_status status =
            tamis_model_poisson_tail(mean, set ? stash : tamis_i_stash_kept(stash), &odds);
        if (status != TAMIS_OK)
            return status;
        plan->params.stash = stash;
        plan->overflow_probability = odds;
        /* With a stash for half the keys it would no longer be a filter. */
        if (odds <= need->failure_max || stash > need->n / 2 + 64)
            return TAMIS_OK;
    }
}

unsigned tamis_i_plan_counter_bits(const tamis_need *need) {
    unsigned bits = COUNTER_BITS;
    while (need->copies >> bits != 0)
        bits++;
    return bits;
}
