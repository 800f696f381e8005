/* shared.c - plans for sets that threads share
 *
 * The keys of a set fall into s shards as n balls into s bins.  A shard gets
 *
 *      X ~ Binomial(n, 1/s),  and  P(some shard gets more than c) <= s P(X > c).
 *
 * Let q be the odds of failure allowed.  Each shard is planned for the least c with s P(X > c) <= q / 2,
 * and to fail with odds of at most q / (2 s); so but for odds of q none of them has more keys than it was
 * planned for, and none refuses one.  Then each of them errs at most as often as planned, and so does the
 * set.
 *
 * With one shard there is nothing to spread, and the plan is that of an ordinary set.  So it is for kinds
 * that threads share line by line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tamis/shared.h"
#include "filter/filter.h"
#include "tamis/model.h"

#include <errno.h>
#include <math.h>

#define PER_THREAD  8u
#define THREADS_MAX 1024u
#define KEYS_LEAST  16384u /* of a shard */
#define FAILURE     1e-6

/* The least c with s P(X > c) <= q, by halving: between the mean and n. */
static uint64_t plan_shard_keys(uint64_t n, unsigned shards, double q) {
    uint64_t low = n / shards, high = n; /* 'high' is enough */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        double tail;
        if (tamis_model_binomial_tail(n, 1.0 / shards, middle, &tail) == TAMIS_OK &&
            shards * tail <= q)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static unsigned plan_n_shards(uint64_t n, unsigned threads) {
    uint64_t shards = (uint64_t)PER_THREAD * threads;
    shards = shards < n / KEYS_LEAST ? shards : n / KEYS_LEAST;
    shards = shards < TAMIS_SHARDS_MAX ? shards : TAMIS_SHARDS_MAX;
    return threads == 1 || shards < 2 ? 1 : (unsigned)shards;
}

/* Plan one of several shards, for n keys in all, overshoot included. */
static tamis_status plan_shard(const tamis_need *need, uint64_t n, unsigned shards, double q,
                               tamis_plan *plan) {
    tamis_need one = *need;
    tamis_plan_init(plan);
    one.n = n == 0 ? 0 : plan_shard_keys(n, shards, q / 2);
    one.overshoot = 0;
    one.bytes = need->bytes / shards;
    one.failure_max = fmax(q / 2 / shards, 1e-30);
    return need->bytes != 0 && one.bytes == 0 ? TAMIS_E_TOO_LARGE : tamis_plan_make(&one, plan);
}

/* The most keys whose shards get no more than c. */
static uint64_t plan_keys_within(uint64_t c, unsigned shards, double q) {
    uint64_t low = c, high = c * shards;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (plan_shard_keys(middle, shards, q / 2) <= c)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The plan of the whole, from that of one shard. */
static tamis_shared_plan plan_whole(const tamis_need *need, const tamis_plan *shard,
                                    unsigned shards, double q) {
    tamis_shared_plan made;
    tamis_shared_plan_init(&made);
    made.params = shard->params;
    made.shards = shards;
    made.n = shards == 1 ? shard->n : need->n;
    if (made.n == 0)
        made.n = (uint64_t)((double)plan_keys_within(shard->params.capacity, shards, q) /
                            (1 + need->overshoot));
    made.bytes = shard->bytes * shards;
    made.bits_per_key = 8 * (double)made.bytes / (double)made.n;
    made.bound_bits_per_key = shard->bound_bits_per_key;
    made.fpr = shard->fpr;
    made.overflow_probability = shard->overflow_probability;
    if (shards > 1) {
        double tail;
        const double all = (double)made.n + ceil((double)made.n * need->overshoot);
        if (tamis_model_binomial_tail((uint64_t)all, 1.0 / shards, shard->params.capacity, &tail) !=
            TAMIS_OK)
            tail = q / 2 / shards;
        made.overflow_probability = shards * (shard->overflow_probability + tail);
    }
    made.lines_per_query = shard->lines_per_query;
    made.lines_per_insert = shard->lines_per_insert;
    return made;
}

/* First the plan of an ordinary set.  If its kind can be shared as it is, or it is small, that is it. */
static tamis_status plan_shared(tamis_need *need, unsigned threads, tamis_shared_plan *made) {
    const double q = need->failure_max == 0 ? FAILURE : need->failure_max;
    tamis_plan plan;
    tamis_plan_init(&plan);
    tamis_status status = tamis_plan_make(need, &plan);
    if (status != TAMIS_OK)
        return status;
    const unsigned shards = plan_n_shards(plan.params.capacity, threads);
    if (shards == 1 || (!need->grows && tamis_i_kind_of(plan.params.kind)->line_alone != NULL)) {
        *made = plan_whole(need, &plan, 1, q);
        return TAMIS_OK;
    }
    need->kind = plan.params.kind;
    status = plan_shard(need, need->n == 0 ? 0 : plan.params.capacity, shards, q, &plan);
    if (status == TAMIS_OK)
        *made = plan_whole(need, &plan, shards, q);
    return status;
}

tamis_status tamis_shared_plan_make(const tamis_need *need, unsigned threads,
                                    tamis_shared_plan *plan) {
    tamis_need own;
    tamis_shared_plan made;
    if (need == NULL || plan == NULL || threads < 1 || threads > THREADS_MAX ||
        !tamis_i_struct_in(&own, sizeof own, need))
        return TAMIS_E_ARGUMENT;
    own.struct_size = sizeof own;
    own.offline = false;
    const int saved = errno; /* the mathematics may set it where a tail underflows to 0 */
    const tamis_status status = plan_shared(&own, threads, &made);
    errno = saved;
    if (status != TAMIS_OK)
        return status;
    return tamis_i_struct_out(plan, &made, sizeof made) ? TAMIS_OK : TAMIS_E_ARGUMENT;
}
