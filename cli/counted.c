/* counted.c - a set of keys that are counted first
 *
 * The digests of all keys are stored (spool.c) while the different ones are counted (distinct.c).  The set is
 * planned for as many as there are with all but the odds of 1e-6.  Should there be more, the set shows it
 * when it is built, and is built again, for twice as many: the promise does not rest on the estimate.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/counted.h"

#include <stdlib.h>

void build_complain(const char *command, tamis_status status, uint64_t bytes) {
    char size[TEXT_NUMBER];

    if (status == TAMIS_E_NOMEM && bytes > 0)
        complain(command, "not enough memory: the set needs %s", text_bytes(bytes, size));
    else if (status == TAMIS_E_FULL)
        /* planned for this many keys, so bad luck is as rare as promised */
        complain(command, "the set is full, perhaps of many equal keys; nothing was saved");
    else
        complain(command, "cannot make the set: %s", tamis_status_text(status));
}

/* 'hash' has the hash and the seed. */
static tamis_status try_plan(const tamis_need *need, const tamis_params *hash, tamis_plan *plan) {
    tamis_plan_init(plan);
    const tamis_status status = tamis_plan_make(need, plan);
    plan->params.hash = hash->hash;
    plan->params.seed = hash->seed;
    plan->params.seed_high = hash->seed_high;
    return status;
}

bool build_plan(const char *command, const tamis_need *need, const tamis_params *hash,
                tamis_plan *plan) {
    const tamis_status status = try_plan(need, hash, plan);
    if (status != TAMIS_OK)
        complain_plan(command, need, status);
    return status == TAMIS_OK;
}

typedef struct build_progress {
    progress bar;
    uint64_t total;
} build_progress;

static void show_progress(void *context, double fraction) {
    build_progress *const p = context;
    const uint64_t done = (uint64_t)(fraction * (double)p->total);
    progress_step(&p->bar, done, done);
}

/* A set of all digests, placed with knowledge of all of them if the kind can use it. */
static tamis_status build_at_once(const char *command, spool *digests, const tamis_params *params,
                                  tamis_filter **filter) {
    const tamis_source source = {.read = spool_read, .rewind = spool_rewind, .context = digests};
    build_progress shown = {.total = spool_count(digests)};
    tamis_build_options how;

    tamis_build_options_init(&how);
    how.progress = show_progress;
    how.context = &shown;
    progress_start(&shown.bar, command, shown.total);
    const tamis_status status = tamis_filter_build(params, &source, &how, NULL, filter);
    progress_end(&shown.bar);
    return status;
}

/* The same, one digest after the other. */
static tamis_status build_in_turn(const char *command, spool *digests, const tamis_params *params,
                                  tamis_filter **filter) {
    static tamis_digest some[KEY_BATCH];
    progress bar;
    uint64_t done = 0;
    size_t n;

    if (!spool_rewind(digests))
        return TAMIS_E_IO;
    tamis_status status = tamis_filter_create(params, NULL, filter);
    progress_start(&bar, command, spool_count(digests));
    while (status == TAMIS_OK) {
        if (!spool_read(digests, some, KEY_BATCH, &n))
            status = TAMIS_E_IO;
        else if (n == 0)
            break;
        else
            status = tamis_filter_insert_many_digest(*filter, some, n, NULL, NULL);
        done += n;
        progress_step(&bar, done, done);
    }
    progress_end(&bar);
    if (status == TAMIS_OK)
        return TAMIS_OK;
    tamis_filter_free(*filter);
    *filter = NULL;
    return status;
}

typedef struct counting {
    spool *digests;
    distinct *different;
    bool written;
} counting;

static bool spool_turn(void *context, key_member *member) {
    counting *const c = context;
    distinct_add(c->different, member->digests, member->n);
    c->written = c->written && spool_write(c->digests, member->digests, member->n);
    return c->written;
}

static key_counts count_keys(const counting *c) {
    key_counts counts = {.all = spool_count(c->digests), .different = distinct_tell(c->different)};
#ifdef TAMIS_TESTING /* an estimate that is too low, which happens too seldom for a test */
    const char *const part = getenv("TAMIS_BUILD_ESTIMATE");
    if (part != NULL)
        counts.different.most = (uint64_t)(strtod(part, NULL) * (double)counts.different.most);
#endif
    return counts;
}

/* Plan for n different keys, if that is better than the plan for all that came, or there is none.  A kind
 * that is placed with the knowledge of all keys would be disturbed by those that come again: no such plan
 * here.  A set that counts copies, of which nobody said how many there will be, has to have room for all. */
static bool plan_different(const tamis_need *need, const tamis_params *hash, uint64_t n,
                           const tamis_plan *all, tamis_plan *plan, key_counts *counts) {
    tamis_need fewer = *need;

    fewer.n = n;
    tamis_status status = try_plan(&fewer, hash, plan);
    if (status == TAMIS_OK && fewer.offline && plan->params.kind == TAMIS_KIND_DLEFT) {
        fewer.offline = false;
        status = try_plan(&fewer, hash, plan);
    }
    if (status != TAMIS_OK)
        return false;
    counts->copies =
        need->copies <= 1 && (tamis_params_abilities(&plan->params) & TAMIS_CAN_COUNT) != 0;
    return !counts->copies &&
           (all == NULL || (need->fpr > 0 ? plan->bytes < all->bytes : plan->fpr < all->fpr));
}

/* Plan for as many keys with copies of each, where the set that was planned without them has no room: equal
 * keys fill a line or a bucket sooner than others. */
static bool plan_copies(const tamis_need *need, const tamis_params *hash, tamis_plan *plan) {
    tamis_need more = *need;

    more.copies = 2;
    more.offline = false;
    return try_plan(&more, hash, plan) == TAMIS_OK;
}

/* Is the set as good as planned?  If the estimate was too low, it has more keys and may be worse.  A number
 * that is exact is right, unless there are more copies than were announced. */
static bool estimate_holds(const tamis_filter *filter, const tamis_need *need,
                           const tamis_plan *plan, bool exact) {
    const uint64_t copies = exact && need->copies > 1 ? need->copies : 1;
    tamis_info info;

    if (tamis_filter_count(filter) <= plan->params.capacity * copies)
        return true;
    tamis_info_init(&info);
    return tamis_filter_info(filter, &info) == TAMIS_OK &&
           info.fpr <= (need->fpr > 0 && !need->grows ? need->fpr : plan->fpr);
}

/* Plan for the different keys, or for all that came, and build.  Should the estimate have been too low, plan
 * for twice as many.  NULL after a complaint. */
static tamis_filter *build_planned(key_reader *reader, spool *digests, tamis_need *need,
                                   key_counts *counts) {
    const char *const command = reader->command;
    tamis_filter *filter = NULL;
    tamis_plan all, plan;
    tamis_status status;

    need->n = counts->all > 0 ? counts->all : 1;
    const bool planned = try_plan(need, &reader->hash, &all) == TAMIS_OK;
    uint64_t n = counts->different.most > 0 ? counts->different.most : 1;
    for (; n < counts->all &&
           plan_different(need, &reader->hash, n, planned ? &all : NULL, &plan, counts);
         n *= 2) {
        counts->planned = n;
        status = build_in_turn(command, digests, &plan.params, &filter);
        if (status == TAMIS_OK && estimate_holds(filter, need, &plan, counts->different.exact))
            return filter;
        tamis_filter_free(filter);
        filter = NULL;
        if (status != TAMIS_OK && status != TAMIS_E_FULL)
            goto fail;
    }
    counts->planned = need->n;
    if (!build_plan(command, need, &reader->hash, &plan))
        return NULL;
    status = build_at_once(command, digests, &plan.params, &filter);
    if (status == TAMIS_E_FULL && counts->copies && plan_copies(need, &reader->hash, &plan))
        status = build_at_once(command, digests, &plan.params, &filter);
    if (status == TAMIS_OK)
        return filter;
fail:
    if (status != TAMIS_E_IO) /* the spool complains for itself */
        build_complain(command, status, plan.bytes);
    return NULL;
}

tamis_filter *build_counted(key_reader *reader, unsigned jobs, tamis_need *need,
                            const tamis_params *params, key_counts *counts) {
    tamis_filter *filter = NULL;
    counting c = {.digests = spool_new(reader->command), .written = true};
    const key_task task = {.turn = spool_turn, .context = &c};

    if (c.digests == NULL)
        return NULL;
    c.different = distinct_new();
    if (c.different == NULL) {
        complain(reader->command, "not enough memory");
    } else if (!keys_each(reader, jobs, &task) || !c.written) {
        ;
    } else if (params == NULL) {
        *counts = count_keys(&c);
        filter = build_planned(reader, c.digests, need, counts);
    } else {
        const tamis_status status = build_at_once(reader->command, c.digests, params, &filter);
        if (status != TAMIS_OK && status != TAMIS_E_IO)
            build_complain(reader->command, status, 0);
    }
    distinct_free(c.different);
    spool_free(c.digests);
    return filter;
}

void build_tell_counts(const char *command, const key_counts *counts, bool always) {
    char all[TEXT_NUMBER], different[TEXT_NUMBER], planned[TEXT_NUMBER];
    const distinct_count found = counts->different;

    if (counts->planned == 0 || found.most >= counts->all ||
        (!always && found.most > counts->all - counts->all / 10))
        return;
    text_count(counts->all, all);
    text_count(found.keys, different);
    if (counts->planned < counts->all)
        complain(command, "%s keys came, %s%s of them different: the set is made for %s", all,
                 found.exact ? "" : "about ", different, text_count(counts->planned, planned));
    else
        complain(command, "%s keys came, %s%s of them different: the set %s", all,
                 found.exact ? "" : "about ", different,
                 counts->copies ? "counts copies and is made for all (see --copies, or sort -u)"
                                : "is made for all, which takes fewer bytes");
}
