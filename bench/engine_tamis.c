/* engine_tamis.c - the kinds of this library
 *
 * A kind is made for a number of bits per key by asking the planner: the smallest error rate whose plan
 * is not larger than that.  So every kind that can be planned can be measured, without any code here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench/bench.h"

#include <math.h>

#include <tamis/plan.h>

#define STEPS 40  /* of the bisection: finer than any size can show */
#define SEED  1   /* every run measures the same table */
#define AHEAD 16u /* keys from fetching to work, a power of two */

/* Does the plan for error rate 2^-x fit into setup->bits bits per key? */
static bool fits(const bench_subject *subject, const bench_setup *setup, double x,
                 tamis_plan *plan) {
    tamis_need need;
    tamis_plan made;
    tamis_need_init(&need);
    tamis_plan_init(&made);
    need.n = setup->n;
    need.kind = (tamis_kind)subject->variant;
    need.deletes = subject->deletes;
    need.fpr = exp2(-x);
    need.order = setup->by_lines ? TAMIS_ORDER_LINES : TAMIS_ORDER_BYTES;
    if (tamis_plan_make(&need, &made) != TAMIS_OK || made.bits_per_key > setup->bits)
        return false;
    *plan = made;
    return true;
}

/* The plan with the smallest error rate that fits: the last x that fits in steps of one half (a kind
 * may have no plan for very large error rates), then bisection. */
static bool plan_for(const bench_subject *subject, const bench_setup *setup, tamis_plan *plan) {
    double good = 0;
    for (double x = 0.5; x < 100; x += 0.5) {
        if (fits(subject, setup, x, plan))
            good = x;
        else if (good != 0)
            break;
    }
    if (good == 0)
        return false;
    double low = good, high = good + 0.5;
    for (unsigned i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2;
        if (fits(subject, setup, middle, plan))
            low = middle;
        else
            high = middle;
    }
    return true;
}

static void *plain_alloc(void *context, size_t size, size_t align) {
    (void)context;
    (void)align; /* pages are aligned */
    return bench_alloc(size, false);
}

static void plain_free(void *context, void *block, size_t size) {
    (void)context;
    bench_free(block, size);
}

static const char *create(bench_subject *subject, const bench_setup *setup) {
    static const tamis_allocator plain = {plain_alloc, plain_free, NULL, NULL};
    tamis_plan plan;
    tamis_plan_init(&plan);
    if (!plan_for(subject, setup, &plan))
        return "no plan of this kind has so few bits per key (--bits asks for more)";
    plan.params.hash = subject->hash;
    plan.params.seed = SEED;
    tamis_filter *filter;
    tamis_status status = tamis_filter_create(&plan.params, setup->huge ? NULL : &plain, &filter);
    if (status != TAMIS_OK)
        return tamis_status_text(status);
    status = tamis_filter_clear(filter); /* touches the memory */
    if (status != TAMIS_OK) {
        tamis_filter_free(filter);
        return tamis_status_text(status);
    }
    subject->self = filter;
    subject->bytes = plan.bytes;
    subject->predicted_fpr = plan.fpr;
    const double lines = round(plan.lines_per_query);
    subject->lines = lines < 1 ? 1 : lines > BENCH_LINES_MAX ? BENCH_LINES_MAX : (unsigned)lines;
    subject->can_remove = (tamis_params_abilities(&plan.params) & TAMIS_CAN_REMOVE) != 0;
    return NULL;
}

static void destroy(bench_subject *subject) {
    tamis_filter_free(subject->self);
    subject->self = NULL;
}

static void clear(const bench_subject *subject) {
    const tamis_status status = tamis_filter_clear(subject->self);
    (void)status; /* only a view refuses */
}

/* A key that could not be inserted does not count; the query that misses it detects this. */
static size_t insert_single(const bench_subject *subject, const bench_keys *keys) {
    tamis_filter *const filter = subject->self;
    size_t n_added = 0;
    bool added = false;
    for (size_t i = 0; i < keys->n; i++) {
        const tamis_status status =
            keys->bytes != NULL
                ? tamis_filter_insert(filter, keys->bytes[i].data, keys->bytes[i].size, &added)
            : keys->digests == NULL ? tamis_filter_insert_u64(filter, keys->u64[i], &added)
                                    : tamis_filter_insert_digest(filter, keys->digests[i], &added);
        n_added += status == TAMIS_OK && added;
    }
    return n_added;
}

typedef tamis_status change_u64(tamis_filter *filter, const uint64_t *keys, size_t n, bool *answers,
                                size_t *changed);
typedef tamis_status change_bytes(tamis_filter *filter, const tamis_bytes *keys, size_t n,
                                  bool *answers, size_t *changed);
typedef tamis_status change_digests(tamis_filter *filter, const tamis_digest *keys, size_t n,
                                    bool *answers, size_t *changed);

/* Insert or remove all keys in one call, by the function for their form. */
static size_t change_batch(const bench_subject *subject, const bench_keys *keys, change_u64 *by_u64,
                           change_bytes *by_bytes, change_digests *by_digests) {
    size_t changed = 0;
    const tamis_status status =
        keys->bytes != NULL ? by_bytes(subject->self, keys->bytes, keys->n, keys->answers, &changed)
        : keys->digests == NULL
            ? by_u64(subject->self, keys->u64, keys->n, keys->answers, &changed)
            : by_digests(subject->self, keys->digests, keys->n, keys->answers, &changed);
    return status == TAMIS_OK ? changed : 0;
}

static size_t insert_batch(const bench_subject *subject, const bench_keys *keys) {
    return change_batch(subject, keys, tamis_filter_insert_many_u64, tamis_filter_insert_many,
                        tamis_filter_insert_many_digest);
}

static size_t remove_single(const bench_subject *subject, const bench_keys *keys) {
    tamis_filter *const filter = subject->self;
    size_t n_removed = 0;
    for (size_t i = 0; i < keys->n; i++) {
        const tamis_status status =
            keys->bytes != NULL
                ? tamis_filter_remove(filter, keys->bytes[i].data, keys->bytes[i].size)
            : keys->digests == NULL ? tamis_filter_remove_u64(filter, keys->u64[i])
                                    : tamis_filter_remove_digest(filter, keys->digests[i]);
        n_removed += status == TAMIS_OK;
    }
    return n_removed;
}

static size_t remove_batch(const bench_subject *subject, const bench_keys *keys) {
    return change_batch(subject, keys, tamis_filter_remove_many_u64, tamis_filter_remove_many,
                        tamis_filter_remove_many_digest);
}

static size_t query_single(const bench_subject *subject, const bench_keys *keys) {
    const tamis_filter *const filter = subject->self;
    size_t present = 0;
    if (keys->bytes != NULL)
        for (size_t i = 0; i < keys->n; i++)
            present += tamis_filter_contains(filter, keys->bytes[i].data, keys->bytes[i].size);
    else if (keys->digests == NULL)
        for (size_t i = 0; i < keys->n; i++)
            present += tamis_filter_contains_u64(filter, keys->u64[i]);
    else
        for (size_t i = 0; i < keys->n; i++)
            present += tamis_filter_contains_digest(filter, keys->digests[i]);
    return present;
}

static size_t query_batch(const bench_subject *subject, const bench_keys *keys) {
    if (keys->bytes != NULL)
        return tamis_filter_contains_many(subject->self, keys->bytes, keys->n, keys->answers);
    return keys->digests == NULL
               ? tamis_filter_contains_many_u64(subject->self, keys->u64, keys->n, keys->answers)
               : tamis_filter_contains_many_digest(subject->self, keys->digests, keys->n,
                                                   keys->answers);
}

/* Each key is made from the answer before it, so that a query begins when the last one is done: the time is
 * that of one isolated lookup.  That the answer changes no bit of the key is known to nobody. */
static size_t query_chase(const bench_subject *subject, const bench_keys *keys) {
    const tamis_filter *const filter = subject->self;
    static const volatile uint64_t zero = 0;
    const uint64_t changes = zero;
    uint64_t answer = 0;
    size_t present = 0;
    for (size_t i = 0; i < keys->n; i++) {
        const uint64_t flip = answer & changes;
        if (keys->bytes != NULL) {
            const char *const key = keys->bytes[i].data;
            answer = tamis_filter_contains(filter, key + flip, keys->bytes[i].size);
        } else if (keys->digests == NULL) {
            answer = tamis_filter_contains_u64(filter, keys->u64[i] ^ flip);
        } else {
            tamis_digest digest = keys->digests[i];
            digest.lo ^= flip;
            answer = tamis_filter_contains_digest(filter, digest);
        }
        present += answer;
    }
    return present;
}

/* One key after the other, fetched AHEAD keys earlier: what a caller without batches can do. */
typedef bool one_key(tamis_filter *filter, tamis_digest digest);

static inline size_t ahead(const bench_subject *subject, const bench_keys *keys, one_key *work) {
    tamis_filter *const filter = subject->self;
    const tamis_hasher *const hasher = tamis_filter_hasher(filter);
    tamis_digest ring[AHEAD];
    size_t result = 0;
    for (size_t i = 0; i < keys->n + AHEAD; i++) {
        if (i >= AHEAD && i - AHEAD < keys->n)
            result += work(filter, ring[i % AHEAD]);
        if (i < keys->n) {
            const tamis_digest digest =
                keys->bytes != NULL ? tamis_hash(hasher, keys->bytes[i].data, keys->bytes[i].size)
                : keys->digests == NULL ? tamis_hash_u64(hasher, keys->u64[i])
                                        : keys->digests[i];
            tamis_filter_prefetch_digest(filter, digest);
            ring[i % AHEAD] = digest;
        }
    }
    return result;
}

static bool insert_one(tamis_filter *filter, tamis_digest digest) {
    bool added = false;
    return tamis_filter_insert_digest(filter, digest, &added) == TAMIS_OK && added;
}

static bool remove_one(tamis_filter *filter, tamis_digest digest) {
    return tamis_filter_remove_digest(filter, digest) == TAMIS_OK;
}

static bool ask_one(tamis_filter *filter, tamis_digest digest) {
    return tamis_filter_contains_digest(filter, digest);
}

static size_t insert_ahead(const bench_subject *subject, const bench_keys *keys) {
    return ahead(subject, keys, insert_one);
}

static size_t remove_ahead(const bench_subject *subject, const bench_keys *keys) {
    return ahead(subject, keys, remove_one);
}

static size_t query_ahead(const bench_subject *subject, const bench_keys *keys) {
    return ahead(subject, keys, ask_one);
}

const bench_engine bench_engine_tamis = {
    .create = create,
    .destroy = destroy,
    .clear = clear,
    .insert = {insert_single, insert_ahead, insert_batch},
    .remove = {remove_single, remove_ahead, remove_batch},
    .query = {query_single, query_ahead, query_batch, query_chase}};
