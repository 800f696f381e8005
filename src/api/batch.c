/* batch.c - many keys at a time
 *
 * Keys are hashed in chunks to an array on the stack, and the structure works on digests.  A structure
 * without batches of its own gets them here: the next group is prefetched, then this group is worked
 * off key by key.
 *
 * SPDX-License-Identifier: MIT
 */
#include "api/api.h"
#include "hash/hash.h"

#define GROUP TAMIS_I_GROUP
#define CHUNK 512u /* keys hashed at a time: a multiple of the group, 8 KiB of digests */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- on digests ---- */

static void fetch(const tamis_filter *filter, const tamis_digest *digests, size_t n, bool write) {
    for (size_t i = 0; i < n; i++)
        filter->kind->prefetch(filter, digests[i], write);
}

static size_t contains_digests(const tamis_filter *filter, const tamis_digest *digests, size_t n,
                               bool *present) {
    if (filter->kind->contains_many != NULL)
        return filter->kind->contains_many(filter, digests, n, present);
    size_t found = 0;
    fetch(filter, digests, least(GROUP, n), false);
    for (size_t at = 0; at < n; at += GROUP) {
        const size_t now = least(GROUP, n - at);
        fetch(filter, digests + at + now, least(GROUP, n - at - now), false);
        for (size_t i = at; i < at + now; i++) {
            const bool is = filter->kind->contains(filter, digests[i]);
            found += is;
            if (present != NULL)
                present[i] = is;
        }
    }
    return found;
}

static tamis_status insert_digests(tamis_filter *filter, const tamis_digest *digests, size_t n,
                                   bool *added, size_t *done) {
    if (filter->kind->insert_many != NULL)
        return filter->kind->insert_many(filter, digests, n, added, done);
    *done = 0;
    fetch(filter, digests, least(GROUP, n), true);
    for (size_t at = 0; at < n; at += GROUP) {
        const size_t now = least(GROUP, n - at);
        fetch(filter, digests + at + now, least(GROUP, n - at - now), true);
        for (size_t i = at; i < at + now; i++) {
            bool fresh;
            const tamis_status status = filter->kind->insert(filter, digests[i], &fresh);
            if (status != TAMIS_OK)
                return status;
            if (added != NULL)
                added[i] = fresh;
            *done = i + 1;
        }
    }
    return TAMIS_OK;
}

static size_t remove_digests(tamis_filter *filter, const tamis_digest *digests, size_t n,
                             bool *removed) {
    size_t count = 0;
    fetch(filter, digests, least(GROUP, n), true);
    for (size_t at = 0; at < n; at += GROUP) {
        const size_t now = least(GROUP, n - at);
        fetch(filter, digests + at + now, least(GROUP, n - at - now), true);
        for (size_t i = at; i < at + now; i++) {
            const bool gone = filter->kind->remove(filter, digests[i]) == TAMIS_OK;
            count += gone;
            if (removed != NULL)
                removed[i] = gone;
        }
    }
    return count;
}

/* ---- on keys of any form: one walk over chunks, hashed as they come ---- */

typedef enum key_form { DIGESTS, INTEGERS, BYTES } key_form;

typedef struct key_source {
    key_form form;
    const void *array;
    size_t n;
    uint64_t seed;
    tamis_digest chunk[CHUNK];
} key_source;

/* The digests of the keys from 'at' on, '*n' of them. */
static const tamis_digest *keys_from(key_source *k, size_t at, size_t *n) {
    if (k->form == DIGESTS) {
        *n = k->n - at;
        return (const tamis_digest *)k->array + at;
    }
    *n = least(CHUNK, k->n - at);
    if (k->form == INTEGERS)
        tamis_i_hash_many_u64(k->seed, (const uint64_t *)k->array + at, *n, k->chunk);
    else
        tamis_i_hash_many(k->seed, (const tamis_bytes *)k->array + at, *n, k->chunk);
    return k->chunk;
}

static size_t contains_keys(const tamis_filter *filter, key_form form, const void *array, size_t n,
                            bool *present) {
    key_source k;
    k.form = form, k.array = array, k.n = n, k.seed = filter->params.seed;
    size_t found = 0;
    for (size_t at = 0, now; at < n; at += now) {
        const tamis_digest *const digests = keys_from(&k, at, &now);
        found += contains_digests(filter, digests, now, present == NULL ? NULL : present + at);
    }
    return found;
}

static tamis_status insert_keys(tamis_filter *filter, key_form form, const void *array, size_t n,
                                bool *added, size_t *done) {
    if (filter == NULL || (array == NULL && n != 0))
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    key_source k;
    k.form = form, k.array = array, k.n = n, k.seed = filter->params.seed;
    tamis_status status = TAMIS_OK;
    size_t all = 0;
    for (size_t now, in; all < n && status == TAMIS_OK; all += in) {
        const tamis_digest *const digests = keys_from(&k, all, &now);
        status = insert_digests(filter, digests, now, added == NULL ? NULL : added + all, &in);
    }
    if (done != NULL)
        *done = all;
    return status;
}

static tamis_status remove_keys(tamis_filter *filter, key_form form, const void *array, size_t n,
                                bool *removed, size_t *count) {
    if (filter == NULL || (array == NULL && n != 0))
        return TAMIS_E_ARGUMENT;
    if (filter->kind->remove == NULL)
        return TAMIS_E_UNSUPPORTED;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    key_source k;
    k.form = form, k.array = array, k.n = n, k.seed = filter->params.seed;
    size_t all = 0;
    for (size_t at = 0, now; at < n; at += now) {
        const tamis_digest *const digests = keys_from(&k, at, &now);
        all += remove_digests(filter, digests, now, removed == NULL ? NULL : removed + at);
    }
    if (count != NULL)
        *count = all;
    return TAMIS_OK;
}

/* ---- the public names ---- */

tamis_status tamis_filter_insert_many(tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                      bool *added, size_t *done) {
    return insert_keys(filter, BYTES, keys, n, added, done);
}

tamis_status tamis_filter_insert_many_u64(tamis_filter *filter, const uint64_t *keys, size_t n,
                                          bool *added, size_t *done) {
    return insert_keys(filter, INTEGERS, keys, n, added, done);
}

tamis_status tamis_filter_insert_many_digest(tamis_filter *filter, const tamis_digest *digests,
                                             size_t n, bool *added, size_t *done) {
    return insert_keys(filter, DIGESTS, digests, n, added, done);
}

size_t tamis_filter_contains_many(const tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                  bool *present) {
    return contains_keys(filter, BYTES, keys, n, present);
}

size_t tamis_filter_contains_many_u64(const tamis_filter *filter, const uint64_t *keys, size_t n,
                                      bool *present) {
    return contains_keys(filter, INTEGERS, keys, n, present);
}

size_t tamis_filter_contains_many_digest(const tamis_filter *filter, const tamis_digest *digests,
                                         size_t n, bool *present) {
    return contains_keys(filter, DIGESTS, digests, n, present);
}

tamis_status tamis_filter_remove_many(tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                      bool *removed, size_t *count) {
    return remove_keys(filter, BYTES, keys, n, removed, count);
}

tamis_status tamis_filter_remove_many_u64(tamis_filter *filter, const uint64_t *keys, size_t n,
                                          bool *removed, size_t *count) {
    return remove_keys(filter, INTEGERS, keys, n, removed, count);
}

tamis_status tamis_filter_remove_many_digest(tamis_filter *filter, const tamis_digest *digests,
                                             size_t n, bool *removed, size_t *count) {
    return remove_keys(filter, DIGESTS, digests, n, removed, count);
}
