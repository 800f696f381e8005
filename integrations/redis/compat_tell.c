/* compat_tell.c - commands of other filters that tell of a set and move it
 *
 * SPDX-License-Identifier: MIT
 */
#include "compat.h"

#include <string.h>

#define CHUNK ((size_t)1 << 20) /* bytes of one answer of SCANDUMP */

/* ---- INFO ---- */

typedef struct told {
    const char *word, *name;
    uint64_t number;
    bool missing; /* the answer is nil */
} told;

static void tell_number(server_context *ctx, const told *one) {
    if (one->missing)
        server.ReplyWithNull(ctx);
    else
        server.ReplyWithLongLong(ctx, (long long)one->number);
}

static void tell_named(server_context *ctx, const told *one) {
    server.ReplyWithSimpleString(ctx, one->name);
    tell_number(ctx, one);
}

static int tell_all(server_context *ctx, const told *list, size_t n) {
    server.ReplyWithMap(ctx, (long)n);
    for (size_t i = 0; i < n; i++)
        tell_named(ctx, &list[i]);
    return SERVER_OK;
}

/* One field: a map of it in RESP3, and in RESP2 a list that has the number alone. */
static int tell_one(server_context *ctx, const told *list, size_t n, const server_string *word) {
    for (size_t i = 0; i < n; i++)
        if (argument_is(word, list[i].word)) {
            if ((server.GetContextFlags(ctx) & SERVER_RESP3) != 0)
                return tell_all(ctx, &list[i], 1);
            server.ReplyWithArray(ctx, 1);
            tell_number(ctx, &list[i]);
            return SERVER_OK;
        }
    return server.ReplyWithError(ctx, "Invalid information value");
}

/* Open a set that is there; false: replied. */
static bool tell_open(server_context *ctx, server_string *name, opened *o) {
    if (!key_open(ctx, name, SERVER_READ, o))
        return false;
    if (o->set != NULL)
        return true;
    key_close(o);
    server.ReplyWithError(ctx, "ERR not found");
    return false;
}

int compat_bf_info(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2 && argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!tell_open(ctx, argv[1], &o))
        return SERVER_OK;
    const set *const s = o.set;
    const uint64_t expansion = like_known(&s->like) ? s->like.expansion : COMPAT_EXPANSION_BF;
    const told list[] = {
        {"CAPACITY", "Capacity", s->room, false},
        {"SIZE", "Size", set_memory(s), false},
        {"FILTERS", "Number of filters", s->n_links, false},
        {"ITEMS", "Number of items inserted", tamis_filter_count(s->filter), false},
        {"EXPANSION", "Expansion rate", expansion, !s->grows},
    };
    key_close(&o);
    return argc == 3 ? tell_one(ctx, list, 5, argv[2]) : tell_all(ctx, list, 5);
}

static uint64_t tell_power(uint64_t number) {
    uint64_t power = 1;
    while (power < number)
        power *= 2;
    return power;
}

/* Buckets and their size are those of the filter that was asked for, not of ours. */
int compat_cf_info(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2)
        return server.WrongArity(ctx);
    opened o;
    if (!tell_open(ctx, argv[1], &o))
        return SERVER_OK;
    const set *const s = o.set;
    const set_like none = {COMPAT_BUCKET_SIZE, COMPAT_MAX_ITERATIONS, COMPAT_EXPANSION_CF};
    const set_like *const like = like_known(&s->like) ? &s->like : &none;
    const told list[] = {
        {"", "Size", set_memory(s), false},
        {"", "Number of buckets", tell_power(s->capacity / like->bucket_size), false},
        {"", "Number of filters", s->n_links, false},
        {"", "Number of items inserted", tamis_filter_count(s->filter), false},
        {"", "Number of items deleted", s->removed, false},
        {"", "Bucket size", like->bucket_size, false},
        {"", "Expansion rate", s->grows ? tell_power(like->expansion) : 0, false},
        {"", "Max iterations", like->max_iterations, false},
    };
    key_close(&o);
    return tell_all(ctx, list, sizeof list / sizeof *list);
}

/* ---- SCANDUMP ----
 *
 * Iterator 0 begins and gives a head: the size of the file and the numbers that INFO tells again.  Iterator 1
 * and those further on are bytes of the file: i > 1 is behind its first i - 2 bytes. */

#define HEAD 16

static void head_write(unsigned char *head, uint64_t size, const set_like *like) {
    const uint64_t rest = like->bucket_size | like->max_iterations << 16 | like->expansion << 32;
    for (unsigned i = 0; i < 8; i++) {
        head[i] = (unsigned char)(size >> 8 * i);
        head[8 + i] = (unsigned char)(rest >> 8 * i);
    }
}

/* False if it is none. */
static bool head_read(tamis_bytes data, uint64_t *size, set_like *like) {
    if (data.size != HEAD)
        return false;
    const unsigned char *const head = data.data;
    uint64_t rest = 0;
    *size = 0;
    for (unsigned i = 0; i < 8; i++) {
        *size |= (uint64_t)head[i] << 8 * i;
        rest |= (uint64_t)head[8 + i] << 8 * i;
    }
    *like = (set_like){rest & 0xffff, rest >> 16 & 0xffff, rest >> 32};
    return *size > 0 && *size <= INT64_MAX && (rest == 0 || like_sound(like));
}

static void dump_end(server_context *ctx, bool cuckoo) {
    server.ReplyWithArray(ctx, 2);
    server.ReplyWithLongLong(ctx, 0);
    if (cuckoo)
        server.ReplyWithNull(ctx);
    else
        server.ReplyWithStringBuffer(ctx, "", 0);
}

static void dump_head(server_context *ctx, const set *s) {
    unsigned char head[HEAD];
    head_write(head, tamis_filter_encoded_size(s->filter), &s->like);
    server.ReplyWithArray(ctx, 2);
    server.ReplyWithLongLong(ctx, 1);
    server.ReplyWithStringBuffer(ctx, (const char *)head, sizeof head);
}

/* What follows the first 'offset' bytes of the file, which has more. */
static void dump_part(server_context *ctx, const set *s, uint64_t offset) {
    const uint64_t left = tamis_filter_encoded_size(s->filter) - offset;
    const size_t n = left < CHUNK ? (size_t)left : CHUNK;
    char *const part = server.TryAlloc(n);
    if (part == NULL || tamis_filter_encode_part(s->filter, offset, part, n) != TAMIS_OK) {
        reply_status(ctx, TAMIS_E_NOMEM);
    } else {
        server.ReplyWithArray(ctx, 2);
        server.ReplyWithLongLong(ctx, (long long)offset + (long long)n + 2);
        server.ReplyWithStringBuffer(ctx, part, n);
    }
    server.Free(part);
}

static int compat_scandump(server_context *ctx, server_string **argv, int argc, bool cuckoo) {
    if (argc != 3)
        return server.WrongArity(ctx);
    long long at;
    if (server.StringToLongLong(argv[2], &at) != SERVER_OK || (cuckoo && at < 0))
        return server.ReplyWithError(ctx, cuckoo ? "Invalid position"
                                                 : "Second argument must be numeric");
    opened o;
    if (!tell_open(ctx, argv[1], &o))
        return SERVER_OK;
    const uint64_t offset = at > 1 ? (uint64_t)at - 2 : 0;
    if (at < 0 || offset >= tamis_filter_encoded_size(o.set->filter) ||
        (cuckoo && tamis_filter_count(o.set->filter) == 0))
        dump_end(ctx, cuckoo);
    else if (at == 0)
        dump_head(ctx, o.set);
    else
        dump_part(ctx, o.set, offset);
    key_close(&o);
    return SERVER_OK;
}

int compat_bf_scandump(server_context *ctx, server_string **argv, int argc) {
    return compat_scandump(ctx, argv, argc, false);
}
int compat_cf_scandump(server_context *ctx, server_string **argv, int argc) {
    return compat_scandump(ctx, argv, argc, true);
}

/* ---- LOADCHUNK ---- */

/* Which error is due: that of BF or of CF. */
static int load_refuse(server_context *ctx, bool cuckoo, const char *bf, const char *cf) {
    return server.ReplyWithError(ctx, cuckoo ? cf : bf);
}

/* What SCANDUMP gave as the head, which is kept as a set that has no bytes yet. */
static int load_head(server_context *ctx, server_string *name, tamis_bytes data, bool cuckoo) {
    opened o;
    if (!key_open_any(ctx, name, SERVER_READ, &o))
        return SERVER_OK;
    const bool complete = o.set != NULL && o.set->filter != NULL;
    key_close(&o);
    uint64_t size;
    set_like like;
    if (complete)
        return load_refuse(ctx, cuckoo, "ERR received bad data", "ERR item exists");
    if (cuckoo && data.size != HEAD)
        return server.ReplyWithError(ctx, "Invalid header");
    if (!head_read(data, &size, &like))
        return load_refuse(ctx, cuckoo, "ERR received bad data", "Couldn't create filter!");
    return load_announce(ctx, name, size, &like);
}

static int compat_loadchunk(server_context *ctx, server_string **argv, int argc, bool cuckoo) {
    if (argc != 4)
        return server.WrongArity(ctx);
    long long at;
    if (server.StringToLongLong(argv[2], &at) != SERVER_OK)
        return load_refuse(ctx, cuckoo, "ERR Second argument must be numeric", "Invalid position");
    if (cuckoo && at == 0)
        return server.ReplyWithError(ctx, "Invalid position");
    const tamis_bytes data = argument_bytes(argv[3]);
    if (at == 1)
        return load_head(ctx, argv[1], data, cuckoo);
    opened o;
    if (!key_open_any(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    const bool missing = o.set == NULL, loading = !missing && o.set->filter == NULL;
    const uint64_t size = loading ? o.set->size : 0;
    load_options options = {.plain = true};
    if (loading)
        options.like = o.set->like;
    key_close(&o);
    if (missing)
        return server.ReplyWithError(ctx, "ERR not found");
    if (!loading || at < 2 || (uint64_t)at - 2 < data.size)
        return load_refuse(ctx, cuckoo, "ERR received bad data", "Couldn't load chunk!");
    return load_part(ctx, argv[1], size, (uint64_t)at - 2 - data.size, data, &options);
}

int compat_bf_loadchunk(server_context *ctx, server_string **argv, int argc) {
    return compat_loadchunk(ctx, argv, argc, false);
}
int compat_cf_loadchunk(server_context *ctx, server_string **argv, int argc) {
    return compat_loadchunk(ctx, argv, argc, true);
}
