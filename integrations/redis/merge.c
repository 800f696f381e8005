/* merge.c - MERGE: the union of sets
 *
 * What can be told from kinds, seeds and parameters is told first, with the name of the source that is at
 * fault.  Then the union is made: of one source in the destination itself, which the library leaves as it is
 * if that fails; of several aside, in a copy that takes the place of the destination when it is complete.
 *
 * A name that came before is passed over: keys would be counted twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_SHOWN 64 /* bytes of a key in an error */

typedef struct merging {
    server_context *ctx;
    server_string **argv;
    int argc;
    unsigned flags; /* of tamis_filter_merge */
    int first;      /* the set that the others are added to */
    int sources;    /* others */
} merging;

/* ---- errors ---- */

/* A key as a line of text can show it. */
static void merge_name(const server_string *key, char *text) {
    const tamis_bytes bytes = argument_bytes(key);
    const char *const from = bytes.data;
    size_t n = 0;
    for (; n < bytes.size && n < NAME_SHOWN; n++)
        text[n] = from[n] >= ' ' && from[n] <= '~' ? from[n] : '?';
    text[n] = '\0';
}

static bool merge_refuse(const merging *m, int i, const char *form, ...) {
    char name[NAME_SHOWN + 1], why[320], text[512];
    va_list list;
    va_start(list, form);
    (void)vsnprintf(why, sizeof why, form, list);
    va_end(list);
    merge_name(m->argv[i], name);
    (void)snprintf(text, sizeof text, "ERR set '%s': %s", name, why);
    server.ReplyWithError(m->ctx, text);
    return false;
}

/* The rate that a union would have which was refused for it.  'to' may be used up. */
static double merge_rate(set *to, const tamis_filter *source) {
    tamis_info info;
    tamis_info_init(&info);
    const bool told = tamis_filter_merge(to->filter, source, TAMIS_MERGE_BEYOND) == TAMIS_OK &&
                      tamis_filter_glance(to->filter, &info) == TAMIS_OK;
    return told ? info.fpr : 0;
}

/* Source i would make the set 'to' err too often; 'spare' says that nobody needs 'to' any more. */
static bool merge_refuse_rate(const merging *m, int i, set *to, bool spare, const set *source) {
    const double own = tamis_filter_promise(to->filter);
    const double promise = own > 0 ? own : tamis_filter_promise(source->filter);
    set *const probe = spare ? to : set_copy(to);
    const double rate = probe == NULL ? 0 : merge_rate(probe, source->filter);
    if (probe != to)
        set_free(probe);
    if (rate > 0)
        return merge_refuse(
            m, i,
            "the union would err at rate %.3g, and %.3g is promised; nothing is merged "
            "(TAMIS.MERGEBEYOND does it all the same)",
            rate, promise);
    return merge_refuse(
        m, i,
        "the union would err at a higher rate than the %.3g that are promised; nothing "
        "is merged",
        promise);
}

/* ---- what can be told before ---- */

/* Is this set named before? */
static bool merge_repeats(const merging *m, int i) {
    const tamis_bytes one = argument_bytes(m->argv[i]);
    for (int k = m->first; k < i; k++) {
        const tamis_bytes other = argument_bytes(m->argv[k]);
        if (one.size == other.size && memcmp(one.data, other.data, one.size) == 0)
            return true;
    }
    return false;
}

/* Open a source for reading.  False: replied. */
static bool merge_open(const merging *m, int i, opened *o) {
    if (!key_open_any(m->ctx, m->argv[i], SERVER_READ, o))
        return false;
    if (o->set != NULL && o->set->filter != NULL)
        return true;
    const char *const why = o->set == NULL ? "not found" : "it is still being loaded";
    key_close(o);
    return merge_refuse(m, i, "%s", why);
}

static bool merge_same_seed(const tamis_params *a, const tamis_params *b) {
    return a->hash == b->hash && a->seed == b->seed && a->seed_high == b->seed_high;
}

static bool merge_same_plan(const tamis_params *a, const tamis_params *b) {
    return a->capacity == b->capacity && a->stash == b->stash &&
           memcmp(a->value, b->value, sizeof a->value) == 0;
}

/* Can source i be merged with the first set?  '*series' says that one of them has grown or may grow: that
 * goes for all kinds and plans. */
static bool merge_check(const merging *m, int i, const tamis_params *first, bool *series) {
    opened o;
    if (!merge_open(m, i, &o))
        return false;
    tamis_params own;
    tamis_params_init(&own);
    const tamis_status status = tamis_filter_params(o.set->filter, &own);
    *series = *series || o.set->grows;
    key_close(&o);
    if (status != TAMIS_OK)
        return merge_refuse(m, i, "%s", tamis_status_text(status));
    if (own.kind != first->kind)
        return merge_refuse(m, i, "it is of kind %s and the others are %s: kinds cannot be mixed",
                            tamis_kind_name(own.kind), tamis_kind_name(first->kind));
    if (!merge_same_seed(&own, first))
        return merge_refuse(m, i, "its seed differs: reserve all sets with the same SEED");
    if (((tamis_params_abilities(&own) ^ tamis_params_abilities(first)) & TAMIS_CAN_REMOVE) != 0)
        return merge_refuse(m, i,
                            "keys can be deleted from it or from the others, not from both: "
                            "reserve all sets with DELETES, or none");
    if (*series)
        return true;
    if ((tamis_params_abilities(&own) & TAMIS_CAN_MERGE) == 0)
        return merge_refuse(m, i, "sets of kind %s can be merged only if one of them may GROW",
                            tamis_kind_name(own.kind));
    if (!merge_same_plan(&own, first))
        return merge_refuse(m, i,
                            "its parameters differ: reserve FIXED sets with the same n and p");
    return true;
}

/* Look at all sets.  False: replied. */
static bool merge_check_all(merging *m) {
    opened o;
    if (!merge_open(m, m->first, &o))
        return false;
    tamis_params first;
    tamis_params_init(&first);
    const tamis_status status = tamis_filter_params(o.set->filter, &first);
    bool series = o.set->grows;
    key_close(&o);
    if (status != TAMIS_OK)
        return merge_refuse(m, m->first, "%s", tamis_status_text(status));
    for (int i = m->first + 1; i < m->argc; i++) {
        if (merge_repeats(m, i))
            continue;
        if (!merge_check(m, i, &first, &series))
            return false;
        m->sources++;
    }
    return true;
}

/* ---- the work ---- */

/* Add source i to a set, which is left as it was if that fails, unless it is spare.  False: replied. */
static bool merge_one(const merging *m, int i, set *to, bool spare) {
    opened o;
    if (!merge_open(m, i, &o))
        return false;
    const tamis_status status = tamis_filter_merge(to->filter, o.set->filter, m->flags);
    if (status == TAMIS_E_PROMISE)
        (void)merge_refuse_rate(m, i, to, spare, o.set);
    else if (status == TAMIS_E_FULL)
        (void)merge_refuse(m, i, "the union does not fit");
    else if (status != TAMIS_OK)
        (void)merge_refuse(m, i, "%s", tamis_status_text(status));
    key_close(&o);
    return status == TAMIS_OK;
}

/* All of them into a copy of the first; NULL: replied. */
static set *merge_aside(const merging *m) {
    opened o;
    if (!merge_open(m, m->first, &o))
        return NULL;
    set *const sum = set_copy(o.set);
    key_close(&o);
    if (sum == NULL) {
        reply_status(m->ctx, TAMIS_E_NOMEM);
        return NULL;
    }
    for (int i = m->first + 1; i < m->argc; i++)
        if (!merge_repeats(m, i) && !merge_one(m, i, sum, true)) {
            set_free(sum);
            return NULL;
        }
    const tamis_status status = set_adopt(sum, sum->filter);
    if (status == TAMIS_OK)
        return sum;
    set_free(sum);
    reply_status(m->ctx, status);
    return NULL;
}

/* Put the union in the place of the destination, or make it there.  False: replied. */
static bool merge_do(const merging *m, opened *o) {
    if (o->set != NULL && m->sources == 1) {
        int i = 2;
        while (merge_repeats(m, i))
            i++;
        if (!merge_one(m, i, o->set, false))
            return false;
        const tamis_status status = set_adopt(o->set, o->set->filter);
        if (status != TAMIS_OK)
            reply_status(m->ctx, status);
        return status == TAMIS_OK;
    }
    set *const sum = merge_aside(m);
    if (sum == NULL)
        return false;
    sum->stamp = o->set == NULL ? 0 : o->set->stamp;
    if (key_put(o, sum))
        return true;
    set_free(sum);
    reply_status(m->ctx, TAMIS_E_ARGUMENT);
    return false;
}

/* What has become of the destination: two rates if the promise was not to be looked at. */
static int merge_answer(const merging *m, const set *s) {
    if (m->flags == 0)
        return server.ReplyWithSimpleString(m->ctx, "OK");
    tamis_info info;
    tamis_info_init(&info);
    const tamis_status status = tamis_filter_glance(s->filter, &info);
    if (status != TAMIS_OK)
        return reply_status(m->ctx, status);
    server.ReplyWithMap(m->ctx, 2);
    server.ReplyWithCString(m->ctx, "error_rate");
    server.ReplyWithDouble(m->ctx, info.fpr);
    server.ReplyWithCString(m->ctx, "error_rate_promised");
    return server.ReplyWithDouble(m->ctx, info.fpr_promised);
}

static int merge_run(merging *m) {
    if (m->argc < 3)
        return server.WrongArity(m->ctx);
    opened o;
    if (!key_open(m->ctx, m->argv[1], SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    m->first = o.set != NULL ? 1 : 2;
    if (!merge_check_all(m)) {
        key_close(&o);
        return SERVER_OK;
    }
    if (o.set != NULL && m->sources == 0) { /* with itself */
        (void)merge_answer(m, o.set);
        key_close(&o);
        return SERVER_OK;
    }
    if (!merge_do(m, &o)) {
        key_close(&o);
        return SERVER_OK;
    }
    server.ReplicateVerbatim(m->ctx);
    (void)merge_answer(m, o.set);
    key_changed(m->ctx, m->argv[1], &o, "tamis.merge");
    return SERVER_OK;
}

int command_merge(server_context *ctx, server_string **argv, int argc) {
    return merge_run(&(merging){.ctx = ctx, .argv = argv, .argc = argc});
}

int command_merge_beyond(server_context *ctx, server_string **argv, int argc) {
    return merge_run(
        &(merging){.ctx = ctx, .argv = argv, .argc = argc, .flags = TAMIS_MERGE_BEYOND});
}
