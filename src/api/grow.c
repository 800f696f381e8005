/* grow.c - filters that outgrow their plan
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/shards.h"

tamis_status tamis_filter_grow(tamis_filter *filter, const tamis_growth *growth) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    return tamis_i_is_sharded(filter) ? tamis_i_shards_grow(filter, growth, tamis_plan_make, true)
                                      : tamis_i_series_grow(filter, growth, tamis_plan_make);
}

tamis_status tamis_filter_allow_growth(tamis_filter *filter, const tamis_growth *growth) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    return tamis_i_is_sharded(filter) ? tamis_i_shards_grow(filter, growth, tamis_plan_make, false)
                                      : tamis_i_series_allow(filter, growth, tamis_plan_make);
}
