/* series.c - keys in a filter of several links
 *
 * A series answers "present" if one of its links does, so that its error rate is at most the sum of
 * theirs.  What has to be shown is that no key is lost.  Each link by itself keeps the promise of its
 * kind: a key of which a copy is in the link is found there, as long as only keys are removed from the link
 * of which a copy is in it.  So every removal must go to a link that really has the key, and the trouble is
 * that a link may claim a key that it has not: to remove that would take what is stored of another key.
 *
 *   R  A key x is removed from link i only if every other link answers "absent".
 *
 * Proof that R loses nothing, by induction over the calls.  Before the call every link finds the keys of
 * which it has a copy.  The caller guarantees that x is in the set, so that some link has a copy of it; the
 * other links answer "absent", which is certain, so that they have none.  Hence link i has one, and
 * removes a key that is in it.  If more than one link claims x nothing is removed at all
 * (TAMIS_E_AMBIGUOUS): x stays, and may be answered "present" for ever, which costs an error and no key.
 *
 * How often that is.  Let all copies of x be in link i, and f_j be the error rates.  Another link claims x
 * with odds of at most
 *
 *   A  1 - product of (1 - f_j) over j != i,  less than the sum of all f_j, so than the promise.
 *
 * A key that truly is in two links is ambiguous always.  Therefore the copies of a key are kept together
 * where that is for free: a key that is claimed by an older link goes there, be it by mistake, if no answer
 * for any other key changes by it.  So it is where equal fingerprints share a counter or are chained in the
 * same place: every absent key that matches x matches what is there already.  Kinds whose fingerprints get
 * shorter by it take it only where removals have left room (copy_is_free); others go to the newest link.
 * It also keeps A low: of older links only those count that had no room.
 *
 * Sets, which remove nothing, take a key only if no link claims it.  A window gets it again in the link
 * that claims it, which makes it young there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/guard.h"
#include "filter/shards.h"

#include <math.h>

/* The newest link that claims a key, or -1. */
static int series_claimant(const tamis_filter *filter, tamis_digest digest) {
    for (int i = (int)tamis_i_n_links(filter) - 1; i >= 0; i--) {
        const tamis_filter *const link = tamis_i_link(filter, (unsigned)i);
        if (tamis_i_filter_contains(link, digest))
            return i;
    }
    return -1;
}

bool tamis_i_series_contains(const tamis_filter *filter, tamis_digest digest) {
    return series_claimant(tamis_i_shard_of(filter, digest), digest) >= 0;
}

uint64_t tamis_i_series_copies(const tamis_filter *filter, tamis_digest digest) {
    uint64_t copies = 0;
    filter = tamis_i_shard_of(filter, digest);
    if (filter->kind->copies == NULL)
        return series_claimant(filter, digest) >= 0;
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++) {
        const tamis_filter *const link = tamis_i_link(filter, i);
        copies += tamis_i_filter_may_read(link, digest) ? link->kind->copies(link, digest) : 1;
    }
    return copies;
}

/* May a key that a link claims be inserted there, though another link is the newest?  If that changes no
 * answer for others.  A key that is in the stash alone would get a new place in the table.  Up to three
 * times the capacity, as counters of two bits have it: with the odds of its error rate a link claims new keys
 * too, of which a growing series sees many, and the counters of counting-bloom must not saturate. */
static bool series_takes_copy(const tamis_filter *link, tamis_digest digest) {
    if (link->state[TAMIS_I_COUNT] / 3 >= link->params.capacity)
        return false;
    if (link->state[TAMIS_I_STASH_USED] != 0 &&
        link->kind->copies(link, digest) <=
            tamis_i_stash_copies(&link->stash, tamis_i_key_in_stash(link, digest)))
        return false;
    return link->kind->copy_is_free == NULL || link->kind->copy_is_free(link, digest);
}

/* Insert into one link, with a value or (value < 0) without. */
static tamis_status series_insert_into(tamis_filter *link, tamis_digest digest, int value) {
    bool fresh;
    return value < 0 ? link->kind->insert(link, digest, &fresh)
                     : link->kind->insert_value(link, digest, (unsigned)value, &fresh);
}

/* Insert into the newest link, or into a new one if that has its keys. */
static tamis_status series_insert_newest(tamis_filter *filter, tamis_digest digest, int value) {
    const bool automatic = filter->links != NULL && filter->links->automatic;
    tamis_filter *const newest = tamis_i_newest(filter);
    tamis_status status = TAMIS_E_FULL;
    if (!automatic || newest->state[TAMIS_I_COUNT] < newest->params.capacity)
        status = series_insert_into(newest, digest, value);
    if (status != TAMIS_E_FULL || !automatic)
        return status;
    status = tamis_i_series_grow(filter, NULL, filter->links->plan);
    return status == TAMIS_OK ? series_insert_into(tamis_i_newest(filter), digest, value) : status;
}

tamis_status tamis_i_series_insert(tamis_filter *filter, tamis_digest digest, int value,
                                   bool *added) {
    filter = tamis_i_shard_of(filter, digest);
    const int claims = series_claimant(filter, digest);
    tamis_status status = TAMIS_E_FULL;
    const unsigned abilities = filter->kind->abilities;
    if (claims >= 0 && (abilities & (TAMIS_CAN_COUNT | TAMIS_CAN_FORGET)) == 0)
        status = TAMIS_OK;
    else if (claims >= 0 && ((abilities & TAMIS_CAN_FORGET) != 0 ||
                             series_takes_copy(tamis_i_link(filter, (unsigned)claims), digest)))
        status = series_insert_into(tamis_i_link(filter, (unsigned)claims), digest, value);
    if (status == TAMIS_E_FULL)
        status = series_insert_newest(filter, digest, value);
    if (status == TAMIS_OK && added != NULL)
        *added = claims < 0;
    return status;
}

tamis_status tamis_i_series_remove(tamis_filter *filter, tamis_digest digest) {
    filter = tamis_i_shard_of(filter, digest);
    const int claims = series_claimant(filter, digest);
    if (claims < 0)
        return TAMIS_E_NOT_FOUND;
    for (int i = claims - 1; i >= 0; i--)
        if (filter->kind->contains(tamis_i_link(filter, (unsigned)i), digest))
            return TAMIS_E_AMBIGUOUS;
    tamis_filter *const link = tamis_i_link(filter, (unsigned)claims);
    return link->kind->remove(link, digest);
}

/* A value is told by the newest link that claims the key.  With the odds of the error rate that is another
 * key, as within one filter. */
tamis_status tamis_i_series_lookup_value(const tamis_filter *filter, tamis_digest digest,
                                         unsigned *value) {
    filter = tamis_i_shard_of(filter, digest);
    const int claims = series_claimant(filter, digest);
    if (claims < 0)
        return TAMIS_E_NOT_FOUND;
    const tamis_filter *const link = tamis_i_link(filter, (unsigned)claims);
    if (!tamis_i_filter_may_read(link, digest))
        return TAMIS_E_FORMAT;
    return link->kind->lookup_value(link, digest, value);
}

tamis_status tamis_i_series_update_value(tamis_filter *filter, tamis_digest digest,
                                         unsigned value) {
    filter = tamis_i_shard_of(filter, digest);
    const int claims = series_claimant(filter, digest);
    if (claims < 0)
        return TAMIS_E_NOT_FOUND;
    return filter->kind->update_value(tamis_i_link(filter, (unsigned)claims), digest, value);
}

/* ---- what a series is like ---- */

uint64_t tamis_i_series_count(const tamis_filter *filter) {
    uint64_t count = 0;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        const tamis_filter *const part = tamis_i_part(filter, i);
        for (unsigned j = 0; j < tamis_i_n_links(part); j++)
            count += tamis_i_link(part, j)->state[TAMIS_I_COUNT];
    }
    return count;
}

void tamis_i_series_note_form(tamis_filter *filter, tamis_key_form form) {
    filter->key_form = (unsigned char)form;
    for (unsigned i = 0; i < tamis_i_n_parts(filter); i++) {
        tamis_filter *const part = tamis_i_part(filter, i);
        for (unsigned j = 0; j < tamis_i_n_links(part); j++)
            tamis_i_link(part, j)->key_form = (unsigned char)form;
    }
}

unsigned tamis_i_n_large(const tamis_filter *filter) {
    unsigned n = 0;
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++)
        n += tamis_i_filter_is_large(tamis_i_link(filter, i));
    return n > 0 ? n : 1;
}

void tamis_i_series_info(const tamis_filter *filter, bool glance, tamis_info *info) {
    const unsigned sharing = glance ? tamis_i_n_large(filter) : 0;
    double absent = 1; /* that no link claims an absent key */
    *info = (tamis_info){.struct_size = sizeof *info, .params = filter->params};
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++) {
        tamis_info one;
        tamis_i_filter_info(tamis_i_link(filter, i), sharing, &one);
        absent *= 1 - one.fpr;
        info->count += one.count;
        info->capacity += one.capacity;
        info->bytes += one.bytes;
        info->file_bytes += one.file_bytes;
        info->stash_used += one.stash_used;
        info->stash_size += one.stash_size;
        info->saturated += one.saturated;
        info->to_clear += one.to_clear;
        info->tick = i == 0 ? one.tick : info->tick; /* the others are younger */
        info->n_loads = one.n_loads > info->n_loads ? one.n_loads : info->n_loads;
        for (size_t j = 0; j < one.n_loads; j++)
            info->load_histogram[j] += one.load_histogram[j];
        info->reads_per_insert = one.reads_per_insert; /* of the newest */
        info->reads_per_query += one.reads_per_query;
        if (i == 0) /* of one filter it is exact, of several a number close to 1 has taken part */
            info->fpr = one.fpr;
        else
            info->fpr = fmax(fmax(info->fpr, one.fpr), 1 - absent);
    }
    info->n_links = tamis_i_n_links(filter);
    info->n_shards = 1;
    info->grows = filter->links != NULL;
    info->file_bytes += filter->links != NULL ? TAMIS_I_HEADER_BYTES : 0;
    info->fpr_promised = tamis_filter_promise(filter);
}
