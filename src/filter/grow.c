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
 * What a link uses up is what it was planned for (params.fpr), as long as it is used as planned, and not what
 * its table happens to err.  A promise is an expectation over seeds.  The rate of one small table is far from
 * it now and then: at low rates a few lines of a set of a thousand keys make up all of it, and one in a
 * hundred of such sets errs more than twice as often as planned.  If that were taken off the promise, it
 * would be used up by chance, and the set could not grow any more.  With f for what was planned, and P for
 * the promise,
 *
 *      E(sum of the rates) = sum of E(rate of link i) <= sum of f  <  P
 *
 * whatever the tables are, because f of a new link does not depend on what chance did to the others.  To take
 * off less where a table errs less would break that: the links after the lucky ones would get their luck, and
 * the unlucky ones keep their own.  In a link that is not full the rate is below f in proportion to its keys,
 * or in less; it uses up that share, or what it errs if that is more (of kinds that remove: it may have been
 * full), and f at most.
 *
 * What it errs now is taken off whole where f does not hold: f is not known; a link has more keys than it was
 * made for, whether they were inserted or merged (copies are counted too: what counts is how full the table
 * is, filter/fill.c, or where that does not tell, as the kinds that keep fingerprints do, what it errs
 * now); or the table errs more than f beyond what chance explains, five standard errors as its parts differ
 * among each other, because its keys were replaced more often than planned for.  Tables of a few parts
 * cannot tell that, and with no more keys than planned they are given the benefit of the doubt. If by all
 * that nothing is left of the promise, but by what the links err now something is, the latter counts: it is
 * there.
 *
 * A set that grows by itself must not stand still meanwhile.  So the rates of large tables are taken from
 * a sample (tamis_i_filter_rate), where they count with what its chance could hide on top.  All depends on
 * the tables and their parameters alone, not on what was done before: equal sets grow by equal links. Where
 * a promise is given or made the tables are read.
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

/* What a link errs now; at a glance from a sample, if it is large. */
static tamis_i_rate grow_rate_now(const tamis_filter *link, unsigned sharing, bool glance) {
    tamis_info info;
    if (glance)
        return tamis_i_filter_rate(link, sharing);
    tamis_i_filter_info(link, 0, &info);
    return (tamis_i_rate){info.fpr, 0};
}

/* Is it used as planned, as far as can be told?  A sample scatters no less than the whole; it is of a large
 * table, which errs by chance so little more that it may be taken off. */
static bool grow_as_planned(const tamis_filter *link, tamis_i_rate now) {
    const double planned = link->params.fpr;
    if (planned == 0 || !tamis_i_filter_fits(link, now.variance == 0))
        return false;
    if (now.mean <= planned)
        return true;
    const double variance = now.variance > 0 ? now.variance : tamis_i_filter_scatter(link);
    return now.mean - 5 * sqrt(variance) <= planned;
}

/* What a link uses up of the promise.  An empty one is not read: it errs never. */
static tamis_i_rate grow_used_by(const tamis_filter *link, tamis_i_rate now) {
    const double planned = link->params.fpr;
    if (!grow_as_planned(link, now))
        return now;
    const double part = (double)link->state[TAMIS_I_COUNT] / (double)link->params.capacity;
    const double share = -expm1(part * log1p(-planned));
    return (tamis_i_rate){fmin(fmax(share, now.mean), planned), 0};
}

static void grow_add(tamis_i_rate *sum, tamis_i_rate more) {
    sum->mean += more.mean;
    sum->variance += more.variance; /* the chances of samples add up as their squares */
}

/* What all links use up, and what they err now. */
typedef struct grow_sums {
    tamis_i_rate used, now;
} grow_sums;

static void grow_sum(const tamis_filter *filter, bool glance, grow_sums *sums) {
    const int saved = errno; /* the mathematics may set it where a rate underflows to 0 */
    const unsigned sharing = tamis_i_n_large(filter);
    for (unsigned i = 0; i < tamis_i_n_links(filter); i++) {
        const tamis_filter *const link = tamis_i_link(filter, i);
        if (link->state[TAMIS_I_COUNT] == 0)
            continue;
        const tamis_i_rate now = grow_rate_now(link, sharing, glance);
        grow_add(&sums->used, grow_used_by(link, now));
        grow_add(&sums->now, now);
    }
    errno = saved;
}

/* What is used up of a promise. */
static double grow_used_of(double promise, const grow_sums *sums) {
    const double used = tamis_i_rate_most(sums->used);
    return used < promise ? used : fmin(used, tamis_i_rate_most(sums->now));
}

bool tamis_i_series_keeps(const tamis_filter *filter, double promise) {
    grow_sums sums = {{0, 0}, {0, 0}};
    grow_sum(filter, false, &sums);
    return grow_used_of(promise, &sums) <= promise;
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
    grow_sums sums = {{0, 0}, {0, 0}};
    grow_sum(filter, !given && filter->links != NULL, &sums);
    if (!given)
        own->fpr = filter->links != NULL    ? grow_promise_of(filter)
                   : filter->params.fpr > 0 ? fmin(2 * filter->params.fpr, 0x1.fffffffffffffp-1)
                                            : 2 * sums.now.mean;
    if (!(own->fpr >= 0x1p-60 && own->fpr < 1))
        return TAMIS_E_ARGUMENT;
    *used = grow_used_of(own->fpr, &sums);
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

/* A link that gets no further keys is made for those that it has, and for what it uses up of a promise. */
static void grow_close(tamis_filter *copy, const tamis_filter *link) {
    const tamis_i_rate now = grow_rate_now(link, 1, false);
    if (grow_as_planned(link, now))
        copy->params.fpr = grow_used_by(link, now).mean;
}

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
        if (status == TAMIS_OK && count < link->params.capacity)
            grow_close(copies[*n], link);
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
    grow_sums sums = {{0, 0}, {0, 0}};
    grow_sum(filter, false, &sums);
    grow_sum(source, false, &sums);
    return grow_used_of(promise, &sums) < promise ? TAMIS_OK : TAMIS_E_PROMISE;
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
