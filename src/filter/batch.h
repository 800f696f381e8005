/* batch.h - many keys at a time
 *
 * The arguments have been checked: every key is one, and the filter can do it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_FILTER_BATCH_H
#define TAMIS_FILTER_BATCH_H

#include "filter/filter.h"

/* What an array of keys is made of: tamis_digest, uint64_t or tamis_bytes. */
typedef enum tamis_i_keys_form {
    TAMIS_I_KEYS_DIGESTS,
    TAMIS_I_KEYS_INTEGERS,
    TAMIS_I_KEYS_BYTES
} tamis_i_keys_form;

/* How many of n keys are present; which ones in present[], unless it is NULL. */
size_t tamis_i_batch_contains(const tamis_filter *filter, tamis_i_keys_form form, const void *array,
                              size_t n, bool *present);

/* Stops at the first failure; '*done' (may be NULL) keys are in. */
tamis_status tamis_i_batch_insert(tamis_filter *filter, tamis_i_keys_form form, const void *array,
                                  size_t n, bool *added, size_t *done);

/* How many were removed. */
size_t tamis_i_batch_remove(tamis_filter *filter, tamis_i_keys_form form, const void *array,
                            size_t n, bool *removed);

#endif
