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

/* Bytes of one. */
static inline size_t tamis_i_keys_size(tamis_i_keys_form form) {
    return form == TAMIS_I_KEYS_DIGESTS    ? sizeof(tamis_digest)
           : form == TAMIS_I_KEYS_INTEGERS ? sizeof(uint64_t)
                                           : sizeof(tamis_bytes);
}

/* The first of n keys that is none, NULL with a size; n if all are keys. */
static inline size_t tamis_i_keys_first_bad(const tamis_bytes *keys, size_t n) {
    size_t i = 0;
    while (i < n && (keys[i].data != NULL || keys[i].size == 0))
        i++;
    return i;
}

/* How many of n keys are present; which ones in present[], unless it is NULL. */
size_t tamis_i_batch_contains(const tamis_filter *filter, tamis_i_keys_form form, const void *array,
                              size_t n, bool *present);

/* Like tamis_i_batch_contains, for a filter without links: 'before' is called before a group is worked off,
 * and 'after' when it is, with its answers and their number. */
typedef struct tamis_i_watch tamis_i_watch;
struct tamis_i_watch {
    void (*before)(tamis_i_watch *watch, const tamis_i_group *group);
    void (*after)(tamis_i_watch *watch, const tamis_i_group *group, bool *answers, size_t done);
};
size_t tamis_i_batch_contains_watched(const tamis_filter *filter, tamis_i_keys_form form,
                                      const void *array, size_t n, bool *present,
                                      tamis_i_watch *watch);

/* The same for tamis_i_batch_insert, of a kind with insert_many.  'after' gets the answers "added". */
tamis_status tamis_i_batch_insert_watched(tamis_filter *filter, tamis_i_keys_form form,
                                          const void *array, size_t n, bool *added, size_t *done,
                                          tamis_i_watch *watch);

/* Stops at the first failure; '*done' (may be NULL) keys are in. */
tamis_status tamis_i_batch_insert(tamis_filter *filter, tamis_i_keys_form form, const void *array,
                                  size_t n, bool *added, size_t *done);

/* How many were removed. */
size_t tamis_i_batch_remove(tamis_filter *filter, tamis_i_keys_form form, const void *array,
                            size_t n, bool *removed);

#endif
