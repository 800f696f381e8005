/* batch.c - many keys at a time: arguments are checked, the work is done by src/filter/batch.c
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/batch.h"

/* Are all of them keys?  Asked before the work begins: a call that fails must have changed nothing. */
static bool api_batch_all_good(tamis_i_keys_form form, const void *array, size_t n) {
    return form != TAMIS_I_KEYS_BYTES || tamis_i_keys_first_bad(array, n) == n;
}

static tamis_status api_batch_insert_keys(tamis_filter *filter, tamis_i_keys_form form,
                                          const void *array, size_t n, bool *added, size_t *done) {
    if (filter == NULL || (array == NULL && n != 0) || !api_batch_all_good(form, array, n))
        return TAMIS_E_ARGUMENT;
    return filter->read_only ? TAMIS_E_READONLY
                             : tamis_i_batch_insert(filter, form, array, n, added, done);
}

static tamis_status api_batch_remove_keys(tamis_filter *filter, tamis_i_keys_form form,
                                          const void *array, size_t n, bool *removed,
                                          size_t *count) {
    if (filter == NULL || (array == NULL && n != 0) || !api_batch_all_good(form, array, n))
        return TAMIS_E_ARGUMENT;
    if (filter->kind->remove == NULL)
        return TAMIS_E_UNSUPPORTED;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    const size_t all = tamis_i_batch_remove(filter, form, array, n, removed);
    if (count != NULL)
        *count = all;
    return TAMIS_OK;
}

tamis_status tamis_filter_insert_many(tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                      bool *added, size_t *done) {
    return api_batch_insert_keys(filter, TAMIS_I_KEYS_BYTES, keys, n, added, done);
}

tamis_status tamis_filter_insert_many_u64(tamis_filter *filter, const uint64_t *keys, size_t n,
                                          bool *added, size_t *done) {
    return api_batch_insert_keys(filter, TAMIS_I_KEYS_INTEGERS, keys, n, added, done);
}

tamis_status tamis_filter_insert_many_digest(tamis_filter *filter, const tamis_digest *digests,
                                             size_t n, bool *added, size_t *done) {
    return api_batch_insert_keys(filter, TAMIS_I_KEYS_DIGESTS, digests, n, added, done);
}

/* What is no key is in no set; the keys between are asked for as usual. */
size_t tamis_filter_contains_many(const tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                  bool *present) {
    size_t found = 0;
    for (;;) {
        const size_t good = tamis_i_keys_first_bad(keys, n);
        found += tamis_i_batch_contains(filter, TAMIS_I_KEYS_BYTES, keys, good, present);
        if (good == n)
            return found;
        if (present != NULL) {
            present[good] = false;
            present += good + 1;
        }
        keys += good + 1;
        n -= good + 1;
    }
}

size_t tamis_filter_contains_many_u64(const tamis_filter *filter, const uint64_t *keys, size_t n,
                                      bool *present) {
    return tamis_i_batch_contains(filter, TAMIS_I_KEYS_INTEGERS, keys, n, present);
}

size_t tamis_filter_contains_many_digest(const tamis_filter *filter, const tamis_digest *digests,
                                         size_t n, bool *present) {
    return tamis_i_batch_contains(filter, TAMIS_I_KEYS_DIGESTS, digests, n, present);
}

tamis_status tamis_filter_remove_many(tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                      bool *removed, size_t *count) {
    return api_batch_remove_keys(filter, TAMIS_I_KEYS_BYTES, keys, n, removed, count);
}

tamis_status tamis_filter_remove_many_u64(tamis_filter *filter, const uint64_t *keys, size_t n,
                                          bool *removed, size_t *count) {
    return api_batch_remove_keys(filter, TAMIS_I_KEYS_INTEGERS, keys, n, removed, count);
}

tamis_status tamis_filter_remove_many_digest(tamis_filter *filter, const tamis_digest *digests,
                                             size_t n, bool *removed, size_t *count) {
    return api_batch_remove_keys(filter, TAMIS_I_KEYS_DIGESTS, digests, n, removed, count);
}
