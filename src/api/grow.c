/* grow.c - filters that outgrow their plan
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/series.h"

tamis_status tamis_filter_grow(tamis_filter *filter, const tamis_growth *growth) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    return filter->read_only ? TAMIS_E_READONLY
                             : tamis_i_series_grow(filter, growth, tamis_plan_make);
}

tamis_status tamis_filter_allow_growth(tamis_filter *filter, const tamis_growth *growth) {
    if (filter == NULL)
        return TAMIS_E_ARGUMENT;
    return filter->read_only ? TAMIS_E_READONLY
                             : tamis_i_series_allow(filter, growth, tamis_plan_make);
}
