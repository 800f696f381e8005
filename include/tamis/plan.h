/* plan.h - from what you need to what will be built
 *
 * A plan names the structure and its exact parameters, and says beforehand what they cost and what
 * they promise.  Nothing is allocated.
 *
 *     tamis_need need;
 *     tamis_need_init(&need);
 *     need.n = 10000000;
 *     need.fpr = 0.001;
 *     tamis_plan plan;
 *     tamis_plan_init(&plan);
 *     if (tamis_plan_make(&need, &plan) == TAMIS_OK)
 *         status = tamis_filter_create(&plan.params, NULL, &filter);
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLAN_H
#define TAMIS_PLAN_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of several plans is the best. */
typedef enum tamis_order {
    /* The quickest of those that take at most 12 % more bytes than the smallest, for n keys and also for
     * 10 million; the smallest if none is so near.  The smallest is that of all kinds that can do what is
     * needed, multisets included where a set is needed.  Quickest is the least sum of ns_insert, ns_lookup
     * and, if keys are removed, ns_remove.  Where bytes are given: of those whose log2(1/fpr), or whose
     * keys, are at least 1/1.12 of the most. */
    TAMIS_ORDER_BALANCED = 0,
    /* The fewest bytes; of those within 2 % of the fewest, the one that reads the fewest lines per query,
     * then the one that has the most abilities.  Where bytes are given: the lowest error, the most keys. */
    TAMIS_ORDER_BYTES = 1,
    TAMIS_ORDER_SPEED = 2,   /* the quickest, then the fewest bytes */
    TAMIS_ORDER_LINES = 3,   /* the fewest cache lines per query, then as TAMIS_ORDER_BYTES */
    TAMIS_ORDER_WEIGHTED = 4 /* the least bits_per_key - bound_bits_per_key + line_bits * lines */
} tamis_order;

/* What the set is for.
 *
 * Of keys, error rate and bytes the planner finds what is not given:
 *
 *     n, perhaps fpr       the fewest bytes
 *     n and bytes          the least error rate, within 1/256 of a bit (0.3 %)
 *     bytes, perhaps fpr   the most keys, within 1/4096
 *     all three            the fewest bytes, if they are not more than given
 *
 * These are the least and the most of the plans that are made without a search where there is none
 * (tamis_plan_make): with need.search the rate may be a quarter of a bit lower, the keys 2 % more; with
 * fewer than 10,000 keys, up to two bits, and a fifth more. */
typedef struct tamis_need {
    size_t struct_size;
    uint64_t n;      /* keys at most in the set at one time, 1 to 2^40; or 0, see above */
    double fpr;      /* error rate allowed when n keys are in; 0 < fpr < 1; 0: 0.01, or see above */
    tamis_kind kind; /* only this kind; TAMIS_KIND_ANY: the planner chooses */
    /* Keys will be removed.  What is promised holds for ever, or until each key that is in has been
     * replaced 'replacements' times, with all its copies. */
    bool deletes;
    bool offline; /* the set will be made by tamis_filter_build, from all keys at once, with its
                   * defaults or more passes */
    bool grows;   /* it may outgrow n (tamis_filter_grow): it gets half of the error rate */
    /* Copies of one key that must be counted (tamis_filter_copies), up to 255; n still counts distinct
     * keys.  0 and 1: each key is inserted once.  With deletes counting-bloom and rank-counting have counters
     * that stop: where that matters they are planned larger, and not offered for ever. */
    unsigned copies;
    unsigned value_bits; /* of a value kept with each key (tamis_filter_insert_value), up to 8 */
    tamis_order order;
    uint64_t
        bytes; /* that state, stash and table may take (a file is larger: file_bytes); 0: any number */
    /* Keys beyond n, as a fraction of n, up to 1000: the promise (error rate and failure) is for
     * n (1 + overshoot) keys, which becomes the capacity.  bits_per_key still counts n. */
    double overshoot;
    double lines_max;   /* cache lines that a query may read on average, 1 or more; 0: any number */
    double failure_max; /* odds that one of the first inserts is refused, 1e-30 to 1; 0: 1e-6 */
    double line_bits;   /* TAMIS_ORDER_WEIGHTED: what a line is worth, in bits per key; 0: 1 */
    /* How often each key will be replaced by another, on average, with n keys in: the promise holds
     * until then.  Up to 10,000; not 0 implies 'deletes'.  0: for ever, if keys are removed.  It
     * matters to the kinds that age with copies: 'counting-bloom' and 'rank-counting', whose
     * counters may stop.  They are not offered for ever.  Asked for by 'kind' they are planned for
     * 10,000 replacements, which plan.replacements says. */
    unsigned replacements;
    bool
        merges; /* sets will be merged (tamis_filter_merge): the promise holds for the union of sets that have
                  * at most n keys together */
    tamis_hash_id hash; /* of keys; it does not change the plan, but for params.hash */
    /* Keys are forgotten after so many ticks (tamis/window.h), up to 126; 0: never. n counts the keys of
     * one tick more, since those of the present one are in the set as well. */
    unsigned ticks;
    bool
        search; /* look at every kind, some 30 to 60 milliseconds, where it would be microseconds */
} tamis_need;

static inline void tamis_need_init(tamis_need *need) {
    memset(need, 0, sizeof *need);
    need->struct_size = sizeof *need;
}

/* What will be built, and what it promises. */
typedef struct tamis_plan {
    size_t struct_size;
    tamis_params params; /* for tamis_filter_create; the seed is 0, that is random, and fpr what
                                  * was asked for (need.grows: for the first link, half of it) */
    uint64_t bytes;      /* state, stash and table, as tamis_info tells it afterwards */
    double bits_per_key; /* bytes * 8 / n */
    double bound_bits_per_key;   /* log2(1/fpr): no filter with this error rate can be smaller */
    double fpr;                  /* predicted error rate at capacity; at most the one asked for */
    double overflow_probability; /* failure: at most, that an insert up to capacity is refused */
    double lines_per_query;      /* cache lines that a query for an absent key reads, on average */
    uint64_t n;              /* keys that were asked for, or the answer: capacity less overshoot */
    double fpr_half;         /* predicted error rate when half the capacity is in */
    double lines_per_insert; /* cache lines that an insert touches, on average */
    /* Replacements of all keys for which the promise holds, of a kind that ages (need.replacements).  0: the
     * kind does not age, or keys are not removed. */
    uint64_t replacements;
    /* Of a file of it, as tamis_info tells it afterwards.  With need.grows the header of a series counts, 256
     * bytes, which a file has from tamis_filter_allow_growth on: of a set that was only made from the plan it
     * is so much smaller. */
    uint64_t file_bytes;
    /* Nanoseconds of a call with an integer key on a typical machine, where memory has to be fetched and
     * where it is in cache: by a table of instructions and a formula (docs/planner.md), the same
     * everywhere.  A lookup is the mean of an absent key and one that is there; remove is 0 if keys cannot be
     * removed. */
    double ns_insert, ns_lookup, ns_remove;
    double ns_insert_cached, ns_lookup_cached, ns_remove_cached;
} tamis_plan;

static inline void tamis_plan_init(tamis_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->struct_size = sizeof *plan;
}

/* Find the best plan for 'need', by its order.  A need without deletes, copies and values is that of a
 * set; a multiset, which stores a key again, is then not taken unless its kind is asked for.  The same
 * need gives the same plan.
 *
 * Cost.  What most callers ask for takes some 50 to 150 microseconds: the fewest bytes for n keys at a
 * rate of 1e-12 or more, with any of deletes, merges, grows, overshoot, ticks and failure_max, balanced or by
 * bytes or speed, and all else left as it was.  It comes from tables and closed forms that are checked
 * against the search (docs/planner.md): the promise is as good, and for more than 10,000 keys the plan has
 * by bytes at most 3 % more of them, or with deletes half a kilobyte; for fewer keys it may have more.  The
 * rate or the keys for given bytes take one or two milliseconds, by some ten such plans; where these find
 * nothing, which is told after up to 20 milliseconds, or rates below 1e-12, there is a search.  All other
 * needs, and these too with need->search, are searched for in some 30 to 60 milliseconds; where bytes are
 * given in 30 to 130, and up to 0.3 seconds with replacements.
 *
 * TAMIS_E_ARGUMENT if the need is out of range (fpr is NaN, 0 < fpr < 1 does not hold, n is over 2^40, n
 * and bytes are both 0), TAMIS_E_UNSUPPORTED if no kind, or not the one asked for, can do what is
 * needed, TAMIS_E_TOO_LARGE if the set would not fit this machine's addresses or the bytes given.
 * 'plan' is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_plan_make(const tamis_need *need, tamis_plan *plan);

/* Find the plan of each kind that can do what is needed, always by searching: first the one that
 * tamis_plan_make takes with need->search, then the others, the best first by the order of the need.
 *
 * 'plans' has room for 'room' of them, each through tamis_plan_init; '*n_plans' is set to how many
 * there are, at most 'room'.  Statuses as tamis_plan_make. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_plan_all(const tamis_need *need, tamis_plan *plans,
                                                       size_t room, size_t *n_plans);

/* Why a need is refused, as an English sentence that names the member at fault and its value:
 *
 *     fpr is 1.5, but must be above 0 and below 1
 *     counting-bloom has no values (value_bits is 4); these have: rank, line, steady
 *     no kind can do merges and value_bits of 4 together; possible without merges or value_bits
 *
 * It has no full stop and no line break.  'text' gets at most size - 1 bytes of it and a zero; 300 bytes
 * are room for nearly all.  It is "" if the need is not refused.  'text' may be NULL if 'size' is 0.
 *
 * Returns what tamis_plan_make returns for this need.  Cannot fail, and does not allocate.  Cost: that of
 * up to a dozen plans if no single member is at fault. */
TAMIS_API tamis_status tamis_plan_explain(const tamis_need *need, char *text, size_t size);

/* Like tamis_plan_explain, but why tamis_filter_create refuses parameters:
 *
 *     hashes is 99, which is out of its range
 *
 * Returns what tamis_filter_create returns for them if there is enough memory and a random seed can be had.
 * Cost: a few microseconds. */
TAMIS_API tamis_status tamis_params_explain(const tamis_params *params, char *text, size_t size);

/* A balanced Bloom filter by its theory: which blocks to fill how far, for the looks that an insert may
 * take and the keys that may go to the stash.  Zeros take the defaults. */
typedef struct tamis_balanced_need {
    size_t struct_size;
    uint64_t n;          /* keys, 1 to 2^40; required */
    unsigned scheme;     /* as TAMIS_BALANCED_BLOOM_SCHEME; default MHT */
    unsigned choices;    /* 2 to 8, 1 for SINGLE; default 3 */
    unsigned block_bits; /* as TAMIS_BALANCED_BLOOM_BLOCK_BITS; default 512 */
    unsigned hashes;     /* 1 to 32; default bits_per_key * ln 2 */
    double bits_per_key; /* of the blocks, without stash; up to 512; default 12 */
    double accesses;     /* blocks that an insert looks at on average, above 1; default 1.2 */
    double overflow;     /* fraction of keys in the stash; default: the least that balances best */
    double odds;         /* that the stash is too small for n keys; default 1e-6 */
    bool budget;         /* make the accesses a limit: keys beyond it go to the stash unseen */
} tamis_balanced_need;

static inline void tamis_balanced_need_init(tamis_balanced_need *need) {
    memset(need, 0, sizeof *need);
    need->struct_size = sizeof *need;
}

/* Plan the balanced-bloom filter that 'need' describes.  Its error rate is predicted, none is asked for:
 * bound_bits_per_key is that of plan->fpr.
 *
 * TAMIS_E_ARGUMENT if a member is out of range, TAMIS_E_DOMAIN where the theory has no answer (more
 * than 1024 keys per block, accesses beyond the choices), TAMIS_E_TOO_LARGE.  'plan' is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_plan_balanced(const tamis_balanced_need *need,
                                                            tamis_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
