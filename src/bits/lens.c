/* lens.c - one key in one function: where there are such functions
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/lens.h"

#include "bits/native.h"

void tamis_i_lens_attach(tamis_lens *lens, uint16_t splits[TAMIS_I_LENS_SPLITS]) {
    TAMIS_I_LENS_ATTACH(lens, splits);
}

const tamis_i_lens_ops *tamis_i_lens_ops_for(const tamis_lens *lens, unsigned features) {
    static const tamis_i_lens_ops none = {NULL, NULL, NULL, NULL};
    const tamis_i_lens_ops *const native = TAMIS_I_LENS_NATIVE(lens, features);
    return native != NULL ? native : &none;
}
