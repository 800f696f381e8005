/* balance.h - balancing schemes for the tests of their models
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_BALANCE_H
#define TAMIS_TESTS_BALANCE_H

#include "support.h"

#include "tamis/model.h"

/* A shape with these members; the others are for the caller. */
static inline tamis_balance_shape balance_shape(tamis_balance_scheme scheme, unsigned choices) {
    const tamis_balance_shape shape = {
        .struct_size = sizeof shape, .scheme = scheme, .choices = choices};
    return shape;
}

/* What the model says of this shape with so many keys per block. */
static inline tamis_balance_state balance_state(const tamis_balance_shape *shape, double load) {
    tamis_balance_state found;
    tamis_balance_state_init(&found);
    assert_ok(tamis_model_balance_state(shape, load, &found));
    return found;
}

#endif
