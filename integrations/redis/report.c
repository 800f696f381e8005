/* report.c - INFO of a set, plans, and INFO of the server
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <math.h>
#include <string.h>

/* ---- INFO ---- */

/* What a field is told from: some need a look at the table, of which a sample is enough. */
typedef struct subject {
    const set *set;
    tamis_params params;
    tamis_info info; /* filled in when it is first needed */
    bool looked;
} subject;

static const tamis_info *report_look(subject *s) {
    if (!s->looked) {
        tamis_info_init(&s->info);
        if (tamis_filter_glance(s->set->filter, &s->info) != TAMIS_OK)
            tamis_info_init(&s->info);
        s->looked = true;
    }
    return &s->info;
}

static void report_number(server_context *ctx, double number) {
    if (isfinite(number))
        server.ReplyWithDouble(ctx, number);
    else
        server.ReplyWithNull(ctx);
}

static void tell_kind(server_context *ctx, subject *s) {
    server.ReplyWithCString(ctx, tamis_kind_name(s->params.kind));
}
static void tell_capacity(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, (long long)s->set->room);
}
static void tell_items(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, (long long)tamis_filter_count(s->set->filter));
}
static void tell_bytes(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, (long long)set_memory(s->set));
}
static void tell_bits_per_key(server_context *ctx, subject *s) {
    report_number(ctx, 8 * (double)set_memory(s->set) / (double)tamis_filter_count(s->set->filter));
}
static void tell_promised(server_context *ctx, subject *s) {
    const double promise = tamis_filter_promise(s->set->filter);
    report_number(ctx, promise > 0 ? promise : (double)INFINITY);
}
static void tell_rate(server_context *ctx, subject *s) {
    report_number(ctx, report_look(s)->fpr);
}
static void tell_fill(server_context *ctx, subject *s) {
    report_number(ctx, (double)tamis_filter_count(s->set->filter) / (double)s->set->room);
}
static void tell_stash_used(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, (long long)report_look(s)->stash_used);
}
static void tell_stash_size(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, (long long)report_look(s)->stash_size);
}
static void tell_links(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, (long long)s->set->n_links);
}
static void tell_grows(server_context *ctx, subject *s) {
    server.ReplyWithBool(ctx, s->set->grows);
}
static void tell_deletes(server_context *ctx, subject *s) {
    server.ReplyWithBool(ctx, s->set->deletes);
}
static void tell_counts(server_context *ctx, subject *s) {
    server.ReplyWithBool(ctx, s->set->counts);
}
static void tell_merges(server_context *ctx, subject *s) {
    server.ReplyWithBool(ctx, s->set->grows ||
                                  (tamis_params_abilities(&s->params) & TAMIS_CAN_MERGE) != 0);
}

static void tell_window(server_context *ctx, subject *s) {
    const bool window = s->params.kind == TAMIS_KIND_WINDOW;
    server.ReplyWithLongLong(ctx, window ? (long long)s->params.value[TAMIS_WINDOW_TICKS] : 0);
}
static void tell_tick(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, s->set->forgets ? (long long)report_look(s)->tick : 0);
}
static void tell_to_clear(server_context *ctx, subject *s) {
    server.ReplyWithLongLong(ctx, s->set->forgets ? (long long)report_look(s)->to_clear : 0);
}

static const struct field {
    const char *name;
    void (*tell)(server_context *ctx, subject *s);
} fields[] = {
    {"kind", tell_kind},
    {"capacity", tell_capacity},
    {"items", tell_items},
    {"bytes", tell_bytes},
    {"bits_per_key", tell_bits_per_key},
    {"error_rate_promised", tell_promised},
    {"error_rate", tell_rate},
    {"fill", tell_fill},
    {"stash_used", tell_stash_used},
    {"stash_size", tell_stash_size},
    {"links", tell_links},
    {"grows", tell_grows},
    {"deletes", tell_deletes},
    {"counts", tell_counts},
    {"merges", tell_merges},
    {"window", tell_window},
    {"tick", tell_tick},
    {"to_clear", tell_to_clear},
};
#define N_FIELDS (sizeof fields / sizeof *fields)

int command_info(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2 && argc != 3)
        return server.WrongArity(ctx);
    const struct field *only = NULL;
    for (size_t i = 0; argc == 3 && i < N_FIELDS; i++)
        if (argument_is(argv[2], fields[i].name))
            only = &fields[i];
    if (argc == 3 && only == NULL)
        return server.ReplyWithError(ctx, "ERR there is no such field");
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    if (o.set == NULL)
        return server.ReplyWithError(ctx, "ERR not found");
    subject s = {.set = o.set, .looked = false};
    tamis_params_init(&s.params);
    const tamis_status status = tamis_filter_params(o.set->filter, &s.params);
    if (status != TAMIS_OK) {
        reply_status(ctx, status);
    } else if (only != NULL) {
        only->tell(ctx, &s);
    } else {
        server.ReplyWithMap(ctx, (long)N_FIELDS);
        for (size_t i = 0; i < N_FIELDS; i++) {
            server.ReplyWithCString(ctx, fields[i].name);
            fields[i].tell(ctx, &s);
        }
    }
    key_close(&o);
    return SERVER_OK;
}

/* ---- PLAN ---- */

int command_plan(server_context *ctx, server_string **argv, int argc) {
    if (argc < 3)
        return server.WrongArity(ctx);
    request r;
    const char *const wrong = request_read(argv, argc, 1, &r);
    if (wrong != NULL)
        return server.ReplyWithError(ctx, wrong);
    tamis_plan plan;
    const tamis_status status = request_plan(&r, &plan);
    if (status != TAMIS_OK)
        return reply_unplanned(ctx, &r, status);
    const struct {
        const char *name;
        double number;
    } numbers[] = {
        {"bits_per_key", plan.bits_per_key},
        {"bound_bits_per_key", plan.bound_bits_per_key},
        {"error_rate", plan.fpr},
        {"failure_probability", plan.overflow_probability},
        {"lines_per_query", plan.lines_per_query},
    };
    const size_t n = sizeof numbers / sizeof *numbers;
    server.ReplyWithMap(ctx, (long)n + 4);
    server.ReplyWithCString(ctx, "kind");
    server.ReplyWithCString(ctx, tamis_kind_name(plan.params.kind));
    server.ReplyWithCString(ctx, "capacity");
    server.ReplyWithLongLong(ctx, (long long)plan.params.capacity);
    server.ReplyWithCString(ctx, "bytes");
    server.ReplyWithLongLong(ctx, (long long)plan.bytes);
    for (size_t i = 0; i < n; i++) {
        server.ReplyWithCString(ctx, numbers[i].name);
        report_number(ctx, numbers[i].number);
    }
    server.ReplyWithCString(ctx, "allowed");
    return server.ReplyWithBool(ctx, plan.bytes <= atomic_load(&set_max_bytes));
}

/* ---- INFO of the server ---- */

void report_totals(server_info *info, int for_crash_report) {
    (void)for_crash_report;
    if (server.InfoAddSection(info, "") != SERVER_OK)
        return;
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = {
        {"sets", atomic_load(&totals.sets)},
        {"bytes", atomic_load(&totals.bytes)},
        {"sets_loading", atomic_load(&totals.loading)},
        {"keys_added", atomic_load(&totals.added)},
        {"keys_removed", atomic_load(&totals.removed)},
        {"ticks", atomic_load(&totals.ticks)},
        {"removals_not_found", atomic_load(&totals.not_found)},
        {"removals_ambiguous", atomic_load(&totals.ambiguous)},
        {"refused_full", atomic_load(&totals.full)},
        {"refused_loads", atomic_load(&totals.refused_loads)},
    };
    server.InfoAddFieldCString(info, "version", tamis_version());
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        server.InfoAddFieldULongLong(info, numbers[i].name, numbers[i].number);
}
