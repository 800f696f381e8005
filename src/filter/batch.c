/* batch.c - many keys at a time
 *
 * Keys are worked off in groups.  A group is hashed, and the memory that its keys will touch is fetched
 * while the group that was fetched AHEAD groups before is worked off, key by key in turns:
 *
 *      hash          0  1  2  3  4 ..
 *      fetch         0  1  2  3  4 ..
 *      work                0  1  2 ..          AHEAD = 2
 *
 * Memory serves a dozen or two fetches at a time.  A burst of them makes the processor wait for the
 * first, and leaves memory idle when the burst is over; in turns with the work both are busy.
 *
 * A structure with batches of its own gets two groups, one to work off and one to fetch; otherwise it is
 * called key by key, and so are a series, for which the memory of all links is fetched, and a sharded set.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/batch.h"

#include "filter/guard.h"
#include "filter/series.h"

#define GROUP TAMIS_I_GROUP
#define AHEAD 2u /* groups, unless a structure asks for more */
#define RING  4u /* groups kept: more than those, a power of two */

/* Keys of a guarded view whose parts are verified before any of them is looked for; so many are fetched
 * ahead. */
#define GUARDED       256u
#define GUARDED_AHEAD 16u

static size_t batch_least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* ---- keys of any form, as groups of digests ---- */

typedef struct key_source {
    const tamis_filter *filter;
    tamis_i_keys_form form;
    const void *array;
    size_t n;
    tamis_i_group groups[RING];
    tamis_digest ring[RING * GROUP]; /* not used for digests, which are taken where they are */
    _Alignas(TAMIS_LINE_BYTES) unsigned char scratch[RING * TAMIS_I_SCRATCH_MAX];
} key_source;

/* The rings are filled as they are used: a batch of one key should not pay for them. */
static void batch_keys_start(key_source *k, const tamis_filter *filter, tamis_i_keys_form form,
                             const void *array, size_t n) {
    const size_t lines = (filter->kind->scratch + TAMIS_LINE_BYTES - 1) / TAMIS_LINE_BYTES;
    TAMIS_ASSERT(filter->kind->scratch <= TAMIS_I_SCRATCH_MAX);
    k->filter = filter, k->form = form, k->array = array, k->n = n;
    for (size_t i = 0; i < RING; i++)
        k->groups[i] = (tamis_i_group){.digests = k->ring + i * GROUP,
                                       .scratch = k->scratch + i * lines * TAMIS_LINE_BYTES,
                                       .before = i == 0 ? NULL : &k->groups[i - 1]};
}

/* The group that begins with key 'at', a multiple of GROUP; RING - 1 more have been hashed since.  Groups are
 * described in place: to copy what was written a moment ago takes longer than to work on a key. */
static tamis_i_group *batch_group_at(key_source *k, size_t at) {
    return &k->groups[at / GROUP % RING];
}

/* Hash n keys, unless they are digests; returns where the digests are. */
static const tamis_digest *batch_hash(const tamis_filter *filter, tamis_i_keys_form form,
                                      const void *array, size_t at, size_t n, tamis_digest *room) {
    const tamis_i_hasher *const hasher = &filter->hasher;
    if (form == TAMIS_I_KEYS_DIGESTS)
        return (const tamis_digest *)array + at;
    if (form == TAMIS_I_KEYS_INTEGERS)
        hasher->ops->many_words(&hasher->keys, (const uint64_t *)array + at, n, room);
    else
        hasher->ops->many(&hasher->keys, (const tamis_bytes *)array + at, n, room);
    return room;
}

/* Hash the group that begins with key 'at'; it is empty past the last key. */
static const tamis_i_group *batch_group_hash(key_source *k, size_t at) {
    tamis_i_group *const group = batch_group_at(k, at);
    const size_t n = at < k->n ? batch_least(GROUP, k->n - at) : 0;
    group->n = n;
    if (at == RING * GROUP)
        group->before = batch_group_at(k, at - GROUP); /* the first one had none */
    if (n != 0)
        group->digests =
            batch_hash(k->filter, k->form, k->array, at, n, k->ring + at % (RING * GROUP));
    return group;
}

/* ---- the work: one group is worked off, one is fetched ---- */

static inline void batch_fetch(const tamis_filter *filter, const tamis_i_group *group, size_t i,
                               bool write) {
    if (i < group->n)
        filter->kind->prefetch(filter, group->digests[i], write);
}

/* The same for all links of a series, or of a key's shard. */
static void batch_fetch_links(const tamis_filter *filter, const tamis_i_group *group, size_t i,
                              bool write) {
    if (i >= group->n)
        return;
    filter = tamis_i_shard_of(filter, group->digests[i]);
    for (unsigned link = 0; link < tamis_i_n_links(filter); link++)
        batch_fetch(tamis_i_link(filter, link), group, i, write);
}

static void batch_contains_links(const tamis_filter *filter, const tamis_i_group *now,
                                 const tamis_i_group *next, bool *present) {
    for (size_t i = 0; i < GROUP; i++) {
        batch_fetch_links(filter, next, i, false);
        if (i < now->n)
            present[i] = tamis_i_series_contains(filter, now->digests[i]);
    }
}

static tamis_status batch_insert_links(tamis_filter *filter, const tamis_i_group *now,
                                       const tamis_i_group *next, bool *added, size_t *done) {
    *done = 0;
    for (size_t i = 0; i < GROUP; i++) {
        batch_fetch_links(filter, next, i, true);
        if (i < now->n) {
            const tamis_status status =
                tamis_i_series_insert(filter, now->digests[i], -1, &added[i]);
            if (status != TAMIS_OK)
                return status;
            *done = i + 1;
        }
    }
    return TAMIS_OK;
}

static void batch_remove_links(tamis_filter *filter, const tamis_i_group *now,
                               const tamis_i_group *next, bool *removed) {
    for (size_t i = 0; i < GROUP; i++) {
        batch_fetch_links(filter, next, i, true);
        if (i < now->n)
            removed[i] = tamis_i_series_remove(filter, now->digests[i]) == TAMIS_OK;
    }
}

static void batch_contains_singly(const tamis_filter *filter, const tamis_i_group *now,
                                  const tamis_i_group *next, bool *present) {
    for (size_t i = 0; i < GROUP; i++) {
        batch_fetch(filter, next, i, false);
        if (i < now->n)
            present[i] = filter->kind->contains(filter, now->digests[i]);
    }
}

static tamis_status batch_insert_singly(tamis_filter *filter, const tamis_i_group *now,
                                        const tamis_i_group *next, bool *added, size_t *done) {
    *done = 0;
    for (size_t i = 0; i < GROUP; i++) {
        batch_fetch(filter, next, i, true);
        if (i < now->n) {
            const tamis_status status = filter->kind->insert(filter, now->digests[i], &added[i]);
            if (status != TAMIS_OK)
                return status;
            *done = i + 1;
        }
    }
    return TAMIS_OK;
}

static void batch_remove_singly(tamis_filter *filter, const tamis_i_group *now,
                                const tamis_i_group *next, bool *removed) {
    for (size_t i = 0; i < GROUP; i++) {
        batch_fetch(filter, next, i, true);
        if (i < now->n)
            removed[i] = filter->kind->remove(filter, now->digests[i]) == TAMIS_OK;
    }
}

/* ---- the batches ---- */

/* Keys from fetching to work. */
static size_t batch_ahead_of(const tamis_filter *filter) {
    return GROUP * (filter->kind->ahead != 0 ? filter->kind->ahead : AHEAD);
}

typedef void contains_worker(const tamis_filter *filter, const tamis_i_group *now,
                             const tamis_i_group *next, bool *present);

TAMIS_INLINE size_t batch_contains(const tamis_filter *filter, tamis_i_keys_form form,
                                   const void *array, size_t n, bool *present,
                                   contains_worker *work, tamis_i_watch *watch) {
    key_source k;
    batch_keys_start(&k, filter, form, array, n);
    bool unasked[GROUP];
    size_t found = 0;
    const tamis_i_group none = {.n = 0};
    const size_t ahead = batch_ahead_of(filter);
    for (size_t at = 0; at < ahead; at += GROUP)
        work(filter, &none, batch_group_hash(&k, at), unasked);
    for (size_t at = 0; at < n; at += GROUP) {
        const tamis_i_group *const next = batch_group_hash(&k, at + ahead);
        const tamis_i_group *const now = batch_group_at(&k, at);
        bool *const answers = present == NULL ? unasked : present + at;
        if (watch != NULL)
            watch->before(watch, now);
        work(filter, now, next, answers);
        if (watch != NULL)
            watch->after(watch, now, answers, now->n);
        found += tamis_i_group_sum(answers, now->n);
    }
    return found;
}

static contains_worker *batch_contains_worker(const tamis_filter *filter) {
    return filter->links != NULL                 ? batch_contains_links
           : filter->kind->contains_many != NULL ? filter->kind->contains_many
                                                 : batch_contains_singly;
}

/* Up to GUARDED keys of a view that is verified in parts.  All that they read is touched first; keys of
 * damaged parts are left out, and answered "present". */
static size_t batch_contains_touched(const tamis_filter *filter, const tamis_digest *digests,
                                     size_t n, bool *present) {
    tamis_digest good[GUARDED];
    bool answers[GUARDED], sound[GUARDED];
    size_t n_good = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + GUARDED_AHEAD < n)
            filter->kind->prefetch(filter, digests[i + GUARDED_AHEAD], false);
        sound[i] = tamis_i_guard_touch(filter, digests[i]);
        good[n_good] = digests[i];
        n_good += sound[i];
    }
    const size_t found = batch_contains(filter, TAMIS_I_KEYS_DIGESTS, good, n_good, answers,
                                        batch_contains_worker(filter), NULL);
    for (size_t i = 0, j = 0; present != NULL && i < n; i++)
        present[i] = !sound[i] || answers[j++];
    return found + (n - n_good);
}

static size_t batch_contains_guarded(const tamis_filter *filter, tamis_i_keys_form form,
                                     const void *array, size_t n, bool *present) {
    tamis_digest room[GUARDED];
    size_t found = 0;
    for (size_t at = 0; at < n; at += GUARDED) {
        const size_t some = batch_least(GUARDED, n - at);
        found += batch_contains_touched(filter, batch_hash(filter, form, array, at, some, room),
                                        some, present == NULL ? NULL : present + at);
    }
    return found;
}

size_t tamis_i_batch_contains(const tamis_filter *filter, tamis_i_keys_form form, const void *array,
                              size_t n, bool *present) {
    if (TAMIS_UNLIKELY(filter->guard != NULL && filter->links == NULL) &&
        !tamis_i_guard_is_open(filter->guard))
        return batch_contains_guarded(filter, form, array, n, present);
    return batch_contains(filter, form, array, n, present, batch_contains_worker(filter), NULL);
}

size_t tamis_i_batch_contains_watched(const tamis_filter *filter, tamis_i_keys_form form,
                                      const void *array, size_t n, bool *present,
                                      tamis_i_watch *watch) {
    return batch_contains(filter, form, array, n, present, filter->kind->contains_many, watch);
}

typedef tamis_status insert_worker(tamis_filter *filter, const tamis_i_group *now,
                                   const tamis_i_group *next, bool *added, size_t *done);

TAMIS_INLINE tamis_status batch_insert(tamis_filter *filter, tamis_i_keys_form form,
                                       const void *array, size_t n, bool *added, size_t *done,
                                       insert_worker *work, tamis_i_watch *watch) {
    key_source k;
    batch_keys_start(&k, filter, form, array, n);
    bool unasked[GROUP];
    tamis_status status = TAMIS_OK;
    size_t all = 0, in;
    const tamis_i_group none = {.n = 0};
    const size_t ahead = batch_ahead_of(filter);
    for (size_t at = 0; at < ahead && status == TAMIS_OK; at += GROUP)
        status = work(filter, &none, batch_group_hash(&k, at), unasked, &in);
    for (size_t at = 0; at < n && status == TAMIS_OK; at += GROUP) {
        const tamis_i_group *const next = batch_group_hash(&k, at + ahead);
        const tamis_i_group *const now = batch_group_at(&k, at);
        bool *const answers = added == NULL ? unasked : added + at;
        if (watch != NULL)
            watch->before(watch, now);
        status = work(filter, now, next, answers, &in);
        if (watch != NULL)
            watch->after(watch, now, answers, in);
        all += in;
    }
    if (done != NULL)
        *done = all;
    return status;
}

tamis_status tamis_i_batch_insert(tamis_filter *filter, tamis_i_keys_form form, const void *array,
                                  size_t n, bool *added, size_t *done) {
    return batch_insert(filter, form, array, n, added, done,
                        filter->links != NULL               ? batch_insert_links
                        : filter->kind->insert_many != NULL ? filter->kind->insert_many
                                                            : batch_insert_singly,
                        NULL);
}

tamis_status tamis_i_batch_insert_watched(tamis_filter *filter, tamis_i_keys_form form,
                                          const void *array, size_t n, bool *added, size_t *done,
                                          tamis_i_watch *watch) {
    return batch_insert(filter, form, array, n, added, done, filter->kind->insert_many, watch);
}

size_t tamis_i_batch_remove(tamis_filter *filter, tamis_i_keys_form form, const void *array,
                            size_t n, bool *removed) {
    key_source k;
    batch_keys_start(&k, filter, form, array, n);
    bool unasked[GROUP];
    size_t all = 0;
    const tamis_i_group none = {.n = 0};
    const size_t ahead = batch_ahead_of(filter);
    void (*const work)(tamis_filter *, const tamis_i_group *, const tamis_i_group *, bool *) =
        filter->links != NULL               ? batch_remove_links
        : filter->kind->remove_many != NULL ? filter->kind->remove_many
                                            : batch_remove_singly;
    for (size_t at = 0; at < ahead; at += GROUP)
        work(filter, &none, batch_group_hash(&k, at), unasked);
    for (size_t at = 0; at < n; at += GROUP) {
        const tamis_i_group *const next = batch_group_hash(&k, at + ahead);
        const tamis_i_group *const now = batch_group_at(&k, at);
        bool *const answers = removed == NULL ? unasked : removed + at;
        work(filter, now, next, answers);
        all += tamis_i_group_sum(answers, now->n);
    }
    return all;
}
