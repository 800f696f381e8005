/* merge.c - the union of two sets, and whether a set keeps its promise
 *
 * A merged set is, of most kinds, the set that would have got all the keys itself, and errs as often.  So
 * two sets that together hold no more keys than one is made for may be merged at once.  Everything else is
 * tried out on a copy: its error rate is measured, and if it is above the promise the copy is dropped and
 * nothing has changed.  Keys that are in both sets are counted twice by then, but err once: only measuring
 * can tell.
 *
 * A promise is a mean over seeds, and a union of just as many keys as were planned errs more often than that
 * for half of the seeds; in a small set, and where the promise is low, many times as often for some of them.
 * That is no broken promise.  A union of more keys breaks it, whatever it happens to err.  How many different
 * keys there are is told by how full the table is (filter/fill.c).
 *
 * What was promised is not all that counts.  A set that errs more often than it should already, by chance or
 * because it was made to hold too much, may get further keys as long as it does not get worse.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "filter/shards.h"

static bool merge_same_params(const tamis_params *a, const tamis_params *b) {
    return a->kind == b->kind && a->capacity == b->capacity && tamis_i_same_hash(a, b) &&
           a->stash == b->stash && memcmp(a->value, b->value, sizeof a->value) == 0;
}

/* Two filters of equal parameters that have not grown, whatever was promised. */
static tamis_status merge_tables(tamis_filter *filter, const tamis_filter *source) {
    if (filter->kind->merges_all)
        return filter->kind->merge(filter, source);
    uint64_t count;
    if (!tamis_i_add(filter->state[TAMIS_I_COUNT], source->state[TAMIS_I_COUNT], &count) ||
        count > TAMIS_I_COUNT_MAX / 2) /* a file may say that there are so many */
        return TAMIS_E_FULL;
    if (!tamis_i_stash_merge(&filter->stash, &source->stash))
        return TAMIS_E_FULL;
    const tamis_status status = filter->kind->merge(filter, source);
    if (status != TAMIS_OK)
        tamis_i_stash_unmerge(&filter->stash, &source->stash);
    else
        filter->state[TAMIS_I_COUNT] = count;
    return status;
}

/* Does what has become of a set keep the promise, or is it no worse than before? */
static tamis_status merge_judge(const tamis_filter *merged, const tamis_filter *before,
                                double promise) {
    tamis_info now, then;
    tamis_info_init(&now);
    tamis_info_init(&then);
    tamis_status status = tamis_filter_keeps(merged, promise);
    if (status != TAMIS_E_PROMISE)
        return status;
    status = tamis_filter_info(merged, &now);
    if (status == TAMIS_OK)
        status = tamis_filter_info(before, &then);
    return status == TAMIS_OK && now.fpr > then.fpr ? TAMIS_E_PROMISE : status;
}

/* May sets with so many keys be merged without a look at the union? */
static bool merge_fits(const tamis_filter *filter, const tamis_filter *source) {
    const uint64_t capacity = filter->params.capacity, count = filter->state[TAMIS_I_COUNT];
    return filter->kind->uneven == NULL && count <= capacity &&
           source->state[TAMIS_I_COUNT] <= capacity - count;
}

/* Two filters that have not grown; 'promise' is 0 if there is none to be kept. */
static tamis_status merge_plain(tamis_filter *filter, const tamis_filter *source, double promise) {
    if (!merge_same_params(&filter->params, &source->params))
        return TAMIS_E_MISMATCH;
    if (filter->kind->merge == NULL)
        return TAMIS_E_UNSUPPORTED;
    if (promise == 0 || merge_fits(filter, source))
        return merge_tables(filter, source);
    tamis_filter *merged;
    tamis_status status =
        tamis_i_filter_clone(filter, filter->params.capacity, &filter->allocator, &merged);
    if (status != TAMIS_OK)
        return status;
    status = merge_tables(merged, source);
    if (status == TAMIS_OK)
        status = merge_judge(merged, filter, promise);
    if (status == TAMIS_OK)
        memcpy(filter->state, merged->state, (size_t)filter->n_body * sizeof(uint64_t));
    tamis_filter_free(merged);
    return status;
}

/* Two filters or series. */
static tamis_status merge_parts(tamis_filter *filter, const tamis_filter *source, double promise) {
    return filter->links != NULL || source->links != NULL
               ? tamis_i_series_merge(filter, source, promise)
               : merge_plain(filter, source, promise);
}

/* Two sharded sets: a copy is merged, shard by shard, and takes the place of the other when all is done.  Of
 * filters the promise is for all of them together: one may have more keys than its share. */
static tamis_status merge_shards(tamis_filter *filter, const tamis_filter *source, double promise) {
    const unsigned n = tamis_i_n_parts(filter);
    if (!tamis_i_is_sharded(filter) || !tamis_i_is_sharded(source) || n != tamis_i_n_parts(source))
        return TAMIS_E_MISMATCH;
    tamis_filter *merged;
    tamis_status status = tamis_i_shards_clone(filter, &filter->allocator, &merged);
    if (status != TAMIS_OK)
        return status;
    for (unsigned i = 0; status == TAMIS_OK && i < n; i++) {
        tamis_filter *const part = tamis_i_part(merged, i);
        status = merge_parts(part, tamis_i_part(source, i), part->links == NULL ? 0 : promise);
    }
    if (status == TAMIS_OK && promise > 0)
        status = merge_judge(merged, filter, promise);
    if (status == TAMIS_OK)
        tamis_i_shards_swap(filter, merged);
    tamis_filter_free(merged);
    return status;
}

tamis_status tamis_filter_merge(tamis_filter *filter, const tamis_filter *source, unsigned flags) {
    if (filter == NULL || source == NULL || filter == source || flags > TAMIS_MERGE_BEYOND)
        return TAMIS_E_ARGUMENT;
    if (filter->read_only)
        return TAMIS_E_READONLY;
    const bool known =
        filter->key_form != TAMIS_KEYS_UNKNOWN && source->key_form != TAMIS_KEYS_UNKNOWN;
    if (known && filter->key_form != source->key_form)
        return TAMIS_E_MISMATCH;
    tamis_status status = tamis_i_filter_verify(source, NULL);
    if (status != TAMIS_OK)
        return status;
    const double own = tamis_filter_promise(filter);
    double promise = own > 0 ? own : tamis_filter_promise(source);
    if (flags == TAMIS_MERGE_BEYOND)
        promise = 0;
    status = tamis_i_is_sharded(filter) || tamis_i_is_sharded(source)
                 ? merge_shards(filter, source, promise)
                 : merge_parts(filter, source, promise);
    if (status == TAMIS_OK && !known)
        tamis_i_series_note_form(filter, TAMIS_KEYS_UNKNOWN);
    return status;
}

/* Does a set have no more different keys than it is made for?  Of series that is their own matter. */
static bool merge_has_room(const tamis_filter *filter) {
    const unsigned n = tamis_i_n_parts(filter);
    double count = 0, capacity = 0;
    tamis_i_fill fill = {0, 0, 0};
    bool even = true;
    for (unsigned i = 0; i < n; i++) {
        const tamis_filter *const part = tamis_i_part(filter, i);
        if (part->links != NULL)
            return false;
        count += (double)part->state[TAMIS_I_COUNT];
        capacity += (double)part->params.capacity;
        even = even && (part->kind->uneven == NULL || !part->kind->uneven(part));
        tamis_i_fill_add(part, &fill);
    }
    return (even && count <= capacity) || tamis_i_fill_within(&fill);
}

tamis_status tamis_filter_keeps(const tamis_filter *filter, double fpr) {
    tamis_info info;
    tamis_info_init(&info);
    if (filter == NULL || !(fpr >= 0))
        return TAMIS_E_ARGUMENT;
    const double promise = fpr > 0 ? fpr : tamis_filter_promise(filter);
    if (promise == 0)
        return TAMIS_OK;
    const bool whole = !tamis_i_is_sharded(filter) && tamis_i_n_links(filter) == 1;
    const bool even = filter->kind->uneven == NULL || !filter->kind->uneven(filter);
    if (whole && even && tamis_filter_count(filter) <= filter->params.capacity)
        return TAMIS_OK;
    const tamis_status status = tamis_filter_info(filter, &info);
    if (status != TAMIS_OK || info.fpr <= promise)
        return status;
    if (promise >= tamis_i_part(filter, 0)->params.fpr && merge_has_room(filter))
        return TAMIS_OK;
    const bool own = !tamis_i_is_sharded(filter) && filter->links != NULL && even &&
                     promise >= tamis_filter_promise(filter);
    return own && tamis_i_series_keeps(filter, promise) ? TAMIS_OK : TAMIS_E_PROMISE;
}
