/* permute.c - how permutations are drawn
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash/permute.h"

tamis_status tamis_i_permute_init(tamis_i_permutations *p, uint64_t buckets, uint64_t seed) {
    if (buckets < 1 || buckets > TAMIS_I_PERMUTE_BUCKETS_MAX)
        return TAMIS_E_ARGUMENT;
    *p = (tamis_i_permutations){.buckets = buckets, .salt = tamis_i_mix(seed)};
    return TAMIS_OK;
}
