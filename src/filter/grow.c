/* grow.c - further links: for a filter that has outgrown its plan, and of another series
 *
 * The error rate of a series is at most the sum of those of its links, and only the newest link changes
 * upwards.  So when a link is added, what the others have now is theirs for good (a removal lowers it), and
 * the new one may use a part of what remains of the promise P.  Link number i, from 0, is planned for
 * 1 / (i + 2) of it.  If each link comes to have what it was planned for, beginning with P / 2, then
 *
 *      link               0     1     2      3      4
 *      planned          P/2   P/6  P/12   P/20   P/30  ..  P / ((i+1) (i+2))
 *      remains          P/2   P/3   P/4    P/5    P/6  ..  P / (i+2)
 *
 * and nothing is ever used up.  A geometric series would be tighter for the first links but takes a bit per
 * key more for each further one, whereas here link 10, of 1000 times the first one's size, takes 7 bits.
 * Sizes double, so that a series for n keys has log2 of n over the first plan as many links.
 *
 * A set that grows by itself must not stand still meanwhile.  So the rates of large tables are taken from
 * a sample, with what its chance could hide on top (tamis_i_filter_rate): the promise is kept, for 2 to 7
 * % of the rate, up to a tenth of a bit per key.  They depend on the tables alone, not on what was done
 * before: equal sets grow by equal links. Where a promise is given or made the tables are read.
 *
 * A series is merged with another by copies of its links.  Their rates are then used up too.  Of links that
 * have room nobody knows what they would come to have; so none of them is to be filled further: the last of
 * the copies, which is the newest link from then on, is made for as many keys as it has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter/shards.h"
#include "filter/window.h"

#include <errno.h>
#include <math.h>

/* The error rates of all links now, added up; at a glance, what they are at most.  The chances of the samples
 * add up as their squares.  An empty link is not read: it has none. */
static double grow_rate_now(const tamis_filter *filter, bool glance) {
    const int saved = errno; /* the mathematics may set it where a rate underflows to 0 */
    const unsigned sharing = tamis_i_n_large(filter);
    tamis_i_rate sum = {0, 0};
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++) {
        const tamis_filter *const link = tamis_i_link(filter, i);
        tamis_info info;
        if (link->state[TAMIS_I_COUNT] == 0)
            continue;
        if (glance) {
            const tamis_i_rate one = tamis_i_filter_rate(link, sharing);
            sum.mean += one.mean;
            sum.variance += one.variance;
        } else {
            tamis_i_filter_info(link, 0, &info);
            sum.mean += info.fpr;
        }
    }
    errno = saved;
    return glance ? tamis_i_rate_most(sum) : sum.mean;
}

/* In units of 2^-64, rounded down: the promise that is stored is never more than the one given. */
static uint64_t grow_promise_units(double fpr) {
    return (uint64_t)ldexp(fpr, 64);
}

static double grow_promise_of(const tamis_filter *filter) {
    return ldexp((double)filter->links->promise, -64);
}

double tamis_filter_promise(const tamis_filter *filter) {
    filter = tamis_i_part(filter, 0); /* the shards of a set have the same */
    return filter->links == NULL ? filter->params.fpr : grow_promise_of(filter);
}

/* The link that is made for the most keys; of several the newest. */
static const tamis_filter *grow_largest(const tamis_filter *filter) {
    const tamis_filter *most = filter;
    for (unsigned i = 1; i < tamis_i_n_links(filter); i++)
        if (tamis_i_link(filter, i)->params.capacity >= most->params.capacity)
            most = tamis_i_link(filter, i);
    return most;
}

/* Read the caller's growth; find the promise and the rates that are used up of it.  TAMIS_E_PROMISE if one
 * is given that is broken already. */
static tamis_status grow_growth_in(const tamis_filter *filter, const tamis_growth *growth,
                                   tamis_growth *own, double *used) {
    tamis_growth_init(own);
    if (filter->links != NULL)
        own->automatic = filter->links->automatic;
    if (growth != NULL && !tamis_i_struct_in(own, sizeof *own, growth))
        return TAMIS_E_ARGUMENT;
    if (!(own->fpr >= 0 && own->fpr < 1) || own->n > TAMIS_CAPACITY_MAX)
        return TAMIS_E_ARGUMENT;
    const bool given = own->fpr != 0;
    *used = grow_rate_now(filter, !given && filter->links != NULL);
    if (!given)
        own->fpr = filter->links != NULL    ? grow_promise_of(filter)
                   : filter->params.fpr > 0 ? fmin(2 * filter->params.fpr, 0x1.fffffffffffffp-1)
                                            : 2 * *used;
    if (!(own->fpr >= 0x1p-60 && own->fpr < 1))
        return TAMIS_E_ARGUMENT;
    return given && *used >= own->fpr ? TAMIS_E_PROMISE : TAMIS_OK;
}

/* A handle does not tell whether its filter was planned for deletes.  Who has a kind that can remove has
 * asked for deletes or for that very kind, so links are always planned for them.  Copies and deletes
 * together may be more than the planner offers for a kind; then the first link was not planned for both. */
static tamis_status grow_plan_link(const tamis_filter *filter, const tamis_growth *growth,
                                   double rate, tamis_i_link_planner *make, tamis_plan *plan) {
    const tamis_filter *const before = grow_largest(filter);
    tamis_need need;
    tamis_need_init(&need);
    need.kind = filter->kind->id;
    need.n = growth->n != 0 ? growth->n : 2 * before->params.capacity;
    need.fpr = rate;
    need.deletes = (filter->kind->abilities & TAMIS_CAN_REMOVE) != 0;
    if (filter->kind->copies_max != NULL)
        need.copies = filter->kind->copies_max(&filter->params);
    need.value_bits = tamis_i_filter_value_bits(filter);
    need.ticks = tamis_i_filter_ticks(filter);
    if (need.n > TAMIS_CAPACITY_MAX)
        return TAMIS_E_TOO_LARGE;
    tamis_plan_init(plan);
    tamis_status status = make(&need, plan);
    if (status == TAMIS_E_UNSUPPORTED && need.deletes && need.copies > 1) {
        need.deletes = false;
        status = make(&need, plan);
    }
    /* A capacity read from a file need not fit the table.  What is allocated because of it shall. */
    if (status == TAMIS_OK && growth->n == 0 && plan->bytes / 64 > before->n_body + 1024)
        return TAMIS_E_TOO_LARGE;
    return status;
}

/* The promise and how it is kept, of a filter that is a series from now on. */
static void grow_promise(tamis_filter *filter, const tamis_growth *growth,
                         tamis_i_link_planner *plan) {
    filter->links->promise = grow_promise_units(growth->fpr);
    filter->links->automatic = growth->automatic;
    filter->links->plan = plan;
}

tamis_status tamis_i_series_grow(tamis_filter *filter, const tamis_growth *growth,
                                 tamis_i_link_planner *make) {
    tamis_growth own;
    double used;
    tamis_status status = grow_growth_in(filter, growth, &own, &used);
    if (status != TAMIS_OK)
        return status;
    const unsigned n_links = tamis_i_n_links(filter);
    if (n_links == TAMIS_I_LINKS_MAX)
        return TAMIS_E_TOO_LARGE;
    if (used >= own.fpr)
        return TAMIS_E_PROMISE;
    tamis_plan plan;
    status = grow_plan_link(filter, &own, (own.fpr - used) / (n_links + 2), make, &plan);
    if (status != TAMIS_OK)
        return status;
    tamis_filter *link;
    plan.params.hash = filter->params.hash;
    plan.params.seed = filter->params.seed;
    plan.params.seed_high = filter->params.seed_high;
    status = tamis_i_filter_make(filter->kind, &plan.params, &filter->allocator, NULL, true, &link);
    if (status != TAMIS_OK)
        return status;
    link->key_form = filter->key_form;
    status = tamis_i_links_begin(filter, grow_promise_units(own.fpr));
    if (status != TAMIS_OK) {
        tamis_filter_free(link);
        return status;
    }
    grow_promise(filter, &own, make);
    filter->links->link[filter->links->n++] = link;
    return TAMIS_OK;
}

tamis_status tamis_i_series_allow(tamis_filter *filter, const tamis_growth *growth,
                                  tamis_i_link_planner *plan) {
    tamis_growth own;
    double used;
    tamis_status status = grow_growth_in(filter, growth, &own, &used);
    if (status == TAMIS_OK)
        status = tamis_i_links_begin(filter, grow_promise_units(own.fpr));
    if (status != TAMIS_OK)
        return status;
    grow_promise(filter, &own, plan);
    return TAMIS_OK;
}

/* ---- two series ---- */

/* Copies of all links of 'source' that have keys; returns how many, or why not.  'copies' has room. */
static tamis_status grow_copy_links(const tamis_filter *source, const tamis_allocator *allocator,
                                    tamis_filter **copies, unsigned *n) {
    tamis_status status = TAMIS_OK;
    *n = 0;
    for (unsigned i = tamis_i_n_links(source); i-- > 0 && status == TAMIS_OK;) {
        const tamis_filter *const link = tamis_i_link(source, i);
        const uint64_t count = link->state[TAMIS_I_COUNT];
        uint64_t capacity = link->params.capacity;
        if (count == 0)
            continue;
        if (*n == 0 && count < capacity) /* the newest */
            capacity = count;
        status = tamis_i_filter_clone(link, capacity, allocator, &copies[*n]);
        *n += status == TAMIS_OK;
    }
    return status;
}

static unsigned grow_n_links_with_keys(const tamis_filter *filter) {
    unsigned n = 0;
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++)
        n += tamis_i_link(filter, i)->state[TAMIS_I_COUNT] != 0;
    return n;
}

static tamis_status grow_can_merge(const tamis_filter *filter, const tamis_filter *source,
                                   double promise) {
    uint64_t count;
    if (filter->kind != source->kind || !tamis_i_same_hash(&filter->params, &source->params) ||
        tamis_i_filter_value_bits(filter) != tamis_i_filter_value_bits(source) ||
        tamis_i_filter_ticks(filter) != tamis_i_filter_ticks(source))
        return TAMIS_E_MISMATCH;
    if (tamis_i_n_links(filter) + grow_n_links_with_keys(source) > TAMIS_I_LINKS_MAX)
        return TAMIS_E_TOO_LARGE;
    if (!tamis_i_add(tamis_i_series_count(filter), tamis_i_series_count(source), &count) ||
        count > TAMIS_I_COUNT_MAX / 2) /* a file may say that there are so many */
        return TAMIS_E_FULL;
    return grow_rate_now(filter, false) + grow_rate_now(source, false) < promise ? TAMIS_OK
                                                                                 : TAMIS_E_PROMISE;
}

/* A filter that becomes a series by it has what was promised for it, or for the other. */
static double grow_promise_of_both(const tamis_filter *filter, const tamis_filter *source) {
    const double own = tamis_filter_promise(filter);
    return own > 0 ? own : tamis_filter_promise(source);
}

tamis_status tamis_i_series_merge(tamis_filter *filter, const tamis_filter *source,
                                  double promise) {
    tamis_filter *copies[TAMIS_I_LINKS_MAX];
    unsigned n;
    tamis_status status = grow_can_merge(filter, source, promise > 0 ? promise : INFINITY);
    if (status != TAMIS_OK || grow_n_links_with_keys(source) == 0)
        return status;
    status = grow_copy_links(source, &filter->allocator, copies, &n);
    if (status == TAMIS_OK && filter->links == NULL)
        status =
            tamis_i_links_begin(filter, grow_promise_units(grow_promise_of_both(filter, source)));
    while (n > 0) { /* they are in the order of the newest first */
        tamis_filter *const copy = copies[--n];
        if (status == TAMIS_OK)
            filter->links->link[filter->links->n++] = copy;
        else
            tamis_filter_free(copy);
    }
    return status;
}
