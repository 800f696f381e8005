/* window.c - TICK: sets that forget
 *
 * A tick is a command like any other: it is replicated, and in the append-only file.  When ticks come is the
 * client's matter, so that primary and replicas forget the same keys at the same place in the stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <tamis/window.h>

/* Clear some of what is forgotten.  No answer changes by it, but bytes do. */
static void tick_step(server_context *ctx, server_string *name, opened *o, uint64_t buckets) {
    uint64_t before = 0, left = 0;
    tamis_status status = tamis_window_step(o->set->filter, 0, &before);
    if (status == TAMIS_OK)
        status = tamis_window_step(o->set->filter, buckets, &left);
    if (status == TAMIS_OK && left != before) {
        server.ReplicateVerbatim(ctx);
        o->set->stamp++;
        server.SignalModifiedKey(ctx, name);
    }
    if (status == TAMIS_OK)
        server.ReplyWithLongLong(ctx, (long long)left);
    else
        reply_status(ctx, status);
    key_close(o);
}

static void tick_begin(server_context *ctx, server_string *name, opened *o) {
    tamis_info info;
    tamis_info_init(&info);
    tamis_status status = tamis_window_tick(o->set->filter);
    if (status == TAMIS_OK)
        status = tamis_filter_glance(o->set->filter, &info);
    if (status != TAMIS_OK) {
        key_close(o);
        reply_status(ctx, status);
        return;
    }
    atomic_fetch_add(&totals.ticks, 1);
    server.ReplicateVerbatim(ctx);
    key_changed(ctx, name, o, "tamis.tick");
    server.ReplyWithLongLong(ctx, (long long)info.tick);
}

int command_tick(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2 && argc != 4)
        return server.WrongArity(ctx);
    uint64_t buckets = 0;
    if (argc == 4 && !argument_is(argv[2], "STEP"))
        return server.ReplyWithError(ctx, "ERR syntax error");
    if (argc == 4 && !argument_number(argv[3], INT64_MAX, &buckets))
        return server.ReplyWithError(ctx, "ERR the number of buckets is out of range");
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    if (o.set == NULL || !o.set->forgets) {
        server.ReplyWithError(ctx, o.set == NULL
                                       ? "ERR not found"
                                       : "ERR this set has no ticks: reserve it with WINDOW");
        key_close(&o);
    } else if (argc == 4) {
        tick_step(ctx, argv[1], &o, buckets);
    } else {
        tick_begin(ctx, argv[1], &o);
    }
    return SERVER_OK;
}
