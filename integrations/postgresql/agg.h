/* agg.h - the step of the aggregate tamis_agg for a type of keys
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_POSTGRESQL_AGG_H
#define TAMIS_POSTGRESQL_AGG_H

#include "sets.h"

/* state, key, perhaps n, p: one more key. */
Datum set_agg_add(FunctionCallInfo fcinfo, tamis_key_form form, set_key_reader read);

#endif
