/* inline.c - a lens on a filter, for callers that compile the common case into themselves
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "filter/series.h"

/* What a lens leaves to the library: its owner has tried the common case, and the filter may have grown since
 * the lens was taken. */
static bool inline_contains(const tamis_filter *filter, tamis_digest digest) {
    return filter->links != NULL ? tamis_i_series_contains(filter, digest)
                                 : tamis_i_filter_contains(filter, digest);
}

static tamis_status inline_check(const tamis_filter *filter, uint32_t version,
                                 const tamis_lens *lens) {
    if (filter == NULL || lens == NULL)
        return TAMIS_E_ARGUMENT;
    if (version != TAMIS_LENS_VERSION)
        return TAMIS_E_VERSION;
    if (filter->guard != NULL && !tamis_i_guard_is_open(filter->guard))
        return TAMIS_E_UNSUPPORTED; /* a lens asks nobody */
    return filter->kind->lens && filter->links == NULL ? TAMIS_OK : TAMIS_E_UNSUPPORTED;
}

static void inline_take(const tamis_filter *filter, tamis_filter *written, tamis_lens *lens) {
    *lens = filter->lens;
    lens->contains = inline_contains;
    lens->written = written;
}

tamis_status tamis_lens_read(const tamis_filter *filter, uint32_t version, tamis_lens *lens) {
    const tamis_status status = inline_check(filter, version, lens);
    if (status == TAMIS_OK)
        inline_take(filter, NULL, lens);
    return status;
}

tamis_status tamis_lens_write(tamis_filter *filter, uint32_t version, tamis_lens *lens) {
    const tamis_status status = inline_check(filter, version, lens);
    if (status != TAMIS_OK)
        return status;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    inline_take(filter, filter, lens);
    return TAMIS_OK;
}
