/* batch.c - many keys at a time
 *
 * Keys are worked off in groups.  A group is hashed and the memory that its keys will touch is fetched,
 * then the group that was fetched AHEAD groups before is worked off: hashing and work are done while
 * memory is on its way.
 *
 *      hash, fetch   0  1  2  3  4 ..
 *      work                0  1  2 ..          AHEAD = 2
 *
 * A structure with batches of its own gets each group as a whole; otherwise it is called key by key.
 *
 * SPDX-License-Identifier: MIT
 */
#include "api/api.h"
#include "hash/hash.h"

#define GROUP TAMIS_I_GROUP
#define AHEAD 2u
#define RING  4u /* groups of digests kept: more than AHEAD, a power of two */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- keys of any form, as groups of digests ---- */

typedef enum key_form { DIGESTS, INTEGERS, BYTES } key_form;

typedef struct key_source {
    const tamis_filter *filter;
    key_form form;
    const void *array;
    size_t n;
    bool write;                      /* the filter will be changed */
    tamis_digest ring[RING * GROUP]; /* not used for digests, which are taken where they are */
} key_source;

/* The group that begins with key 'at', a multiple of GROUP. */
static const tamis_digest *group_at(const key_source *k, size_t at) {
    if (k->form == DIGESTS)
        return (const tamis_digest *)k->array + at;
    return k->ring + at % (RING * GROUP);
}

/* Hash the group that begins with key 'at', if there is one, and begin to fetch its memory. */
static void group_fetch(key_source *k, size_t at) {
    if (at >= k->n)
        return;
    const tamis_filter *const filter = k->filter;
    const size_t n = least(GROUP, k->n - at);
    tamis_digest *const ring = k->ring + at % (RING * GROUP);
    if (k->form == INTEGERS)
        tamis_i_hash_many_u64(filter->params.seed, (const uint64_t *)k->array + at, n, ring);
    else if (k->form == BYTES)
        tamis_i_hash_many(filter->params.seed, (const tamis_bytes *)k->array + at, n, ring);
    const tamis_digest *const digests = group_at(k, at);
    void (*const prefetch)(const tamis_filter *, tamis_digest, bool) = filter->kind->prefetch;
    const bool write = k->write;
    for (size_t i = 0; i < n; i++)
        prefetch(filter, digests[i], write);
}

static void keys_start(key_source *k, const tamis_filter *filter, key_form form, const void *array,
                       size_t n, bool write) {
    k->filter = filter, k->form = form, k->array = array, k->n = n, k->write = write;
    for (size_t group = 0; group < AHEAD; group++)
        group_fetch(k, group * GROUP);
}

/* The digests of the group that begins with key 'at', '*n' of them, fetched; one more group is begun. */
static const tamis_digest *keys_next(key_source *k, size_t at, size_t *n) {
    group_fetch(k, at + AHEAD * GROUP);
    *n = least(GROUP, k->n - at);
    return group_at(k, at);
}

/* ---- the work ---- */

static size_t contains_group(const tamis_filter *filter, const tamis_digest *digests, size_t n,
                             bool *present) {
    if (filter->kind->contains_many != NULL)
        return filter->kind->contains_many(filter, digests, n, present);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is = filter->kind->contains(filter, digests[i]);
        found += is;
        if (present != NULL)
            present[i] = is;
    }
    return found;
}

static tamis_status insert_group(tamis_filter *filter, const tamis_digest *digests, size_t n,
                                 bool *added, size_t *done) {
    if (filter->kind->insert_many != NULL)
        return filter->kind->insert_many(filter, digests, n, added, done);
    for (size_t i = 0; i < n; i++) {
        bool fresh;
        const tamis_status status = filter->kind->insert(filter, digests[i], &fresh);
        if (status != TAMIS_OK) {
            *done = i;
            return status;
        }
        if (added != NULL)
            added[i] = fresh;
    }
    *done = n;
    return TAMIS_OK;
}

static size_t remove_group(tamis_filter *filter, const tamis_digest *digests, size_t n,
                           bool *removed) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const bool gone = filter->kind->remove(filter, digests[i]) == TAMIS_OK;
        count += gone;
        if (removed != NULL)
            removed[i] = gone;
    }
    return count;
}

static size_t contains_keys(const tamis_filter *filter, key_form form, const void *array, size_t n,
                            bool *present) {
    key_source k;
    size_t found = 0;
    keys_start(&k, filter, form, array, n, false);
    for (size_t at = 0, now; at < n; at += now) {
        const tamis_digest *const digests = keys_next(&k, at, &now);
        found += contains_group(filter, digests, now, present == NULL ? NULL : present + at);
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
    tamis_status status = TAMIS_OK;
    size_t all = 0;
    keys_start(&k, filter, form, array, n, true);
    for (size_t now, in; all < n && status == TAMIS_OK; all += in) {
        const tamis_digest *const digests = keys_next(&k, all, &now);
        status = insert_group(filter, digests, now, added == NULL ? NULL : added + all, &in);
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
    size_t all = 0;
    keys_start(&k, filter, form, array, n, true);
    for (size_t at = 0, now; at < n; at += now) {
        const tamis_digest *const digests = keys_next(&k, at, &now);
        all += remove_group(filter, digests, now, removed == NULL ? NULL : removed + at);
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
