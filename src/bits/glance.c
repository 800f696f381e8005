/* glance.c - a copy of a cache line that another thread may be writing to: the portable definition
 *
 * SPDX-License-Identifier: MIT
 */
#include "bits/glance.h"

#include "bits/native.h"

static void glance_words(const uint64_t *from, uint64_t *to) {
    for (unsigned i = 0; i < TAMIS_LINE_WORDS; i++)
        to[i] = tamis_i_word_read(from + i);
}

tamis_i_glance *tamis_i_glance_for(unsigned features) {
    tamis_i_glance *const native = TAMIS_I_GLANCE_NATIVE(features);
    return native != NULL ? native : glance_words;
}
