/* lens.c - one key in one function: where there are such functions
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/lens.h"

#include "bits/native.h"

void tamis_i_lens_attach(tamis_lens *lens) {
    TAMIS_I_LENS_ATTACH(lens);
}

const tamis_i_lens_ops *tamis_i_lens_ops_for(uint32_t form, unsigned features) {
    static const tamis_i_lens_ops none = {NULL, NULL, NULL, NULL};
    const tamis_i_lens_ops *const native = TAMIS_I_LENS_NATIVE(form, features);
    return native != NULL ? native : &none;
}
