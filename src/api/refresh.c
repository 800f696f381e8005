/* refresh.c - a filter made anew from its keys
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/filter.h"

#define CHUNK 1024u

/* Read all keys of 'source', each of which must be in 'old', and insert them into 'fresh', or nowhere. */
static tamis_status refresh_read(tamis_filter *fresh, const tamis_filter *old,
                                 const tamis_source *source) {
    tamis_digest digests[CHUNK];
    size_t n;
    if (!source->rewind(source->context))
        return TAMIS_E_IO;
    for (;;) {
        if (!source->read(source->context, digests, CHUNK, &n) || n > CHUNK)
            return TAMIS_E_IO;
        if (n == 0)
            return TAMIS_OK;
        if (tamis_filter_contains_many_digest(old, digests, n, NULL) != n)
            return TAMIS_E_MISMATCH;
        const tamis_status status =
            fresh == NULL ? TAMIS_OK
                          : tamis_filter_insert_many_digest(fresh, digests, n, NULL, NULL);
        if (status != TAMIS_OK)
            return status;
    }
}

/* A multiset counts every copy, so that equal counts and keys that are all in say that none was left out. A
 * set counts what it took for new, which depends on the order: a false positive among its own keys is
 * not counted.  So its count proves nothing; but it does not age, so that it can stay as it is. */
tamis_status tamis_filter_refresh(tamis_filter *filter, const tamis_source *source) {
    if (filter == NULL || source == NULL || source->read == NULL || source->rewind == NULL)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    if (filter->links != NULL) /* to be planned and built anew, as one */
        return TAMIS_E_UNSUPPORTED;
    if (tamis_filter_value_bits(filter) != 0) /* which 'source' does not tell */
        return TAMIS_E_UNSUPPORTED;
    if ((filter->kind->abilities & TAMIS_CAN_COUNT) == 0)
        return refresh_read(NULL, filter, source);
    const tamis_allocator *const allocator =
        filter->allocator.alloc == NULL ? NULL : &filter->allocator;
    tamis_filter *fresh;
    tamis_status status =
        tamis_i_filter_make(filter->kind, &filter->params, allocator, NULL, true, &fresh);
    if (status != TAMIS_OK)
        return status;
    status = refresh_read(fresh, filter, source);
    if (status == TAMIS_OK && fresh->state[TAMIS_I_COUNT] != filter->state[TAMIS_I_COUNT])
        status = TAMIS_E_MISMATCH;
    if (status == TAMIS_OK)
        memcpy(filter->state, fresh->state, (size_t)filter->n_body * sizeof(uint64_t));
    tamis_filter_free(fresh);
    return status;
}
