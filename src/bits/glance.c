/* glance.c - a look into a cache line that another thread may be writing to: the portable definition
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/glance.h"

#include "bits/native.h"

static void glance_words(const uint64_t *from, uint64_t *to) {
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++)
        to[i] = tamis_i_word_read(from + i);
}

tamis_i_glance_ops tamis_i_glance_ops_for(uint32_t form, unsigned features) {
    tamis_i_glance_ops ops = {.copy = glance_words};
    TAMIS_I_GLANCE_NATIVE(form, features, &ops);
    return ops;
}
