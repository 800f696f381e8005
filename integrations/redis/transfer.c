/* transfer.c - DUMP and LOAD: a set leaves and enters the server in parts of its file
 *
 * DUMP gives one part at a time, and where the next one begins.  A set that changes meanwhile would give a
 * file that fits to neither state; so what the client hands back also says which state it means, and a set
 * that has changed is an error.
 *
 * LOAD takes parts in order.  Until the last one is there the key has them as its value, on replicas and in
 * snapshots too; other commands refuse it.  The whole is then checked by the loader of the library, for a
 * large set in a thread, so that the server goes on.  Only when the set is sound the last part counts: it is
 * replicated then, and until then a snapshot has all parts but it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DUMP_BYTES ((size_t)1 << 20)   /* of one answer of DUMP */
#define LOAD_MOST  ((size_t)16 << 20)  /* of one part of LOAD */
#define IN_THREAD  ((uint64_t)1 << 20) /* bytes of a set that is checked by a thread */

/* ---- DUMP ---- */

/* "offset-stamp"; "0" is the beginning. */
static bool dump_cursor(const server_string *text, uint64_t stamp, uint64_t *offset,
                        bool *changed) {
    *offset = 0;
    *changed = false;
    if (argument_is(text, "0"))
        return true;
    uint64_t state;
    if (!argument_pair(text, offset, &state))
        return false;
    *changed = state != stamp;
    return true;
}

int command_dump(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    if (o.set == NULL)
        return server.ReplyWithError(ctx, "ERR not found");
    uint64_t offset;
    bool changed;
    const uint64_t size = tamis_filter_encoded_size(o.set->filter);
    const char *wrong = NULL;
    if (!dump_cursor(argv[2], o.set->stamp, &offset, &changed) || offset >= size)
        wrong = "ERR a cursor is 0 or what the last answer gave";
    else if (changed)
        wrong = "ERR the set has changed since the dump began: begin again";
    const size_t n =
        wrong != NULL || size - offset > DUMP_BYTES ? DUMP_BYTES : (size_t)(size - offset);
    char *const part = wrong == NULL ? server.TryAlloc(n) : NULL;
    if (wrong == NULL &&
        (part == NULL || tamis_filter_encode_part(o.set->filter, offset, part, n) != TAMIS_OK))
        wrong = error_text(TAMIS_E_NOMEM);
    if (wrong != NULL) {
        server.ReplyWithError(ctx, wrong);
    } else {
        char next[64] = "0";
        if (offset + n < size)
            (void)snprintf(next, sizeof next, "%" PRIu64 "-%" PRIu64, offset + n, o.set->stamp);
        server.ReplyWithArray(ctx, 3);
        server.ReplyWithCString(ctx, next);
        server.ReplyWithLongLong(ctx, (long long)size);
        server.ReplyWithStringBuffer(ctx, part, n);
    }
    server.Free(part);
    key_close(&o);
    return SERVER_OK;
}

/* ---- LOAD ---- */

/* A set that is checked. */
typedef struct job {
    server_blocked *client;
    server_string *key;
    int db;
    pieces *pieces;
    uint64_t size;
    set *set;
    load_options options;
} job;

/* Pass on one part of a file of j->size bytes. */
static void load_replicate(server_context *ctx, const job *j, uint64_t offset, const char *data,
                           size_t n) {
    char like[SET_LIKE_TEXT];
    const long long size = (long long)j->size, at = (long long)offset;
    if (set_like_text(&j->options.like, like))
        server.Replicate(ctx, "TAMIS.LOAD", "sllbcc", j->key, size, at, data, n, "COMPAT", like);
    else
        server.Replicate(ctx, "TAMIS.LOAD", "sllb", j->key, size, at, data, n);
}

static int load_answer(server_context *ctx, const job *j, uint64_t bytes) {
    return j->options.plain ? server.ReplyWithSimpleString(ctx, "OK")
                            : server.ReplyWithLongLong(ctx, (long long)bytes);
}

/* The set takes the place of the parts, or the key goes away.  The answer is given. */
static void load_end(server_context *ctx, opened *o, job *j, tamis_status status,
                     const char *reason) {
    if (status == TAMIS_OK) {
        const piece *const last = &j->pieces->list[j->pieces->n - 1];
        load_replicate(ctx, j, j->size - last->size, last->data, last->size);
        if (key_put(o, j->set)) {
            j->set = NULL;
            key_changed(ctx, j->key, o, "tamis.load");
            (void)load_answer(ctx, j, j->size);
            return;
        }
        reason = "the key cannot be written";
    }
    char text[256];
    (void)snprintf(text, sizeof text, "ERR the set is refused: %s", reason);
    server.DeleteKey(o->key);
    key_close(o);
    server.SignalModifiedKey(ctx, j->key);
    server.Replicate(ctx, "DEL", "s", j->key);
    server.ReplyWithError(ctx, text);
}

static tamis_status load_decode(job *j, const char **reason) {
    if (j->set == NULL) {
        *reason = tamis_status_text(TAMIS_E_NOMEM);
        return TAMIS_E_NOMEM;
    }
    return set_decode(j->set, j->pieces, reason);
}

static void *load_thread(void *context) {
    job *const j = context;
    const char *reason = "";
    const tamis_status status = load_decode(j, &reason);
    server_context *const ctx = server.GetThreadSafeContext(j->client);
    server.ThreadSafeContextLock(ctx);
    opened o = {NULL, NULL};
    if (server.SelectDb(ctx, j->db) == SERVER_OK &&
        key_open_any(ctx, j->key, SERVER_READ | SERVER_WRITE, &o)) {
        if (o.set != NULL && o.set->pieces == j->pieces) {
            load_end(ctx, &o, j, status, reason);
        } else {
            key_close(&o);
            server.ReplyWithError(ctx, "ERR the key was changed while the set was being checked");
        }
    }
    server.FreeString(ctx, j->key);
    server.ThreadSafeContextUnlock(ctx);
    server.FreeThreadSafeContext(ctx);
    server.UnblockClient(j->client, NULL);
    pieces_drop(j->pieces);
    set_free(j->set);
    server.Free(j);
    return NULL;
}

/* Have a thread check the set.  False if that cannot be. */
static bool load_begin_thread(server_context *ctx, const job *j) {
    const int flags = server.GetContextFlags(ctx);
    if (j->size < IN_THREAD || context_obeys(ctx) ||
        (flags & (SERVER_IN_LUA | SERVER_IN_MULTI | SERVER_DENY_BLOCKING)) != 0)
        return false;
    job *const own = server.TryAlloc(sizeof *own);
    if (own == NULL)
        return false;
    *own = *j;
    own->key = server.CreateStringFromString(NULL, j->key);
    own->client = server.BlockClient(ctx, NULL, NULL, NULL, 0);
    own->pieces->keep = true;
    atomic_fetch_add(&own->pieces->owners, 1);
    pthread_t thread;
    if (pthread_create(&thread, NULL, load_thread, own) == 0) {
        (void)pthread_detach(thread);
        return true;
    }
    atomic_fetch_sub(&own->pieces->owners, 1);
    server.AbortBlock(own->client);
    server.FreeString(NULL, own->key);
    server.Free(own);
    return false;
}

/* All parts are there. */
static int load_complete(server_context *ctx, opened *o, job *j) {
    j->pieces = o->set->pieces;
    j->set = set_new();
    if (j->set != NULL) {
        j->set->memory->limited = !context_obeys(ctx);
        j->set->like = j->options.like;
    }
    if (load_begin_thread(ctx, j)) {
        key_close(o);
        return SERVER_OK;
    }
    j->pieces->keep = true; /* the last one is replicated */
    atomic_fetch_add(&j->pieces->owners, 1);
    const char *reason = "";
    const tamis_status status = load_decode(j, &reason);
    load_end(ctx, o, j, status, reason);
    pieces_drop(j->pieces);
    set_free(j->set);
    return SERVER_OK;
}

/* Begin: the key gets a value that has no filter yet.  'o' is open, and the key missing or loading. */
static const char *load_begin(server_context *ctx, opened *o, uint64_t size) {
    if (!context_obeys(ctx) && size > atomic_load(&set_max_bytes))
        return error_text(TAMIS_E_NOMEM);
    set *const s = set_new();
    if (s != NULL)
        s->pieces = pieces_new();
    if (s == NULL || s->pieces == NULL) {
        set_free(s);
        return error_text(TAMIS_E_NOMEM);
    }
    s->size = size;
    atomic_fetch_add(&totals.loading, 1);
    if (!key_put(o, s)) {
        set_free(s);
        return "ERR the key cannot be written";
    }
    return NULL;
}

/* Is this the part that is due?  NULL, or what is wrong. */
static const char *load_check(const set *s, uint64_t size, uint64_t offset, size_t n) {
    if (s == NULL)
        return "ERR the first part is missing";
    if (s->filter != NULL)
        return "ERR item exists";
    if (s->pieces->bytes == s->size)
        return "ERR the set is being checked";
    if (s->size != size)
        return "ERR the size is not that of the parts before";
    if (s->pieces->bytes != offset)
        return "ERR the offset is not that of the next part";
    return n > size - offset ? "ERR the part goes on after the end" : NULL;
}

int load_announce(server_context *ctx, server_string *name, uint64_t size, const set_like *like) {
    opened o;
    if (!key_open_any(ctx, name, SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    const char *wrong = NULL;
    if (size == 0 || size > INT64_MAX)
        wrong = "ERR received bad data";
    else if (o.set != NULL && (o.set->filter != NULL || o.set->pieces->bytes == o.set->size))
        wrong = "ERR item exists";
    else
        wrong = load_begin(ctx, &o, size);
    if (wrong == NULL && o.set != NULL) /* as it is, once it has begun */
        o.set->like = *like;
    key_close(&o);
    return wrong != NULL ? server.ReplyWithError(ctx, wrong)
                         : server.ReplyWithSimpleString(ctx, "OK");
}

int load_part(server_context *ctx, server_string *name, uint64_t size, uint64_t offset,
              tamis_bytes data, const load_options *options) {
    if (size == 0 || size > INT64_MAX || offset >= size)
        return server.ReplyWithError(ctx, "ERR size or offset is out of range");
    if (data.size == 0 || data.size > LOAD_MOST)
        return server.ReplyWithError(ctx, "ERR a part has 1 byte to 16 MiB");
    job j = {.key = name, .db = server.GetSelectedDb(ctx), .size = size, .options = *options};
    opened o;
    if (!key_open_any(ctx, name, SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    const char *wrong = NULL;
    if (offset == 0 &&
        (o.set == NULL || (o.set->filter == NULL && o.set->pieces->bytes != o.set->size)))
        wrong = load_begin(ctx, &o, size);
    if (wrong == NULL)
        wrong = load_check(o.set, size, offset, data.size);
    if (wrong == NULL && !pieces_add(o.set->pieces, data.data, data.size))
        wrong = error_text(TAMIS_E_NOMEM);
    if (wrong != NULL) {
        if (o.set != NULL && o.set->filter == NULL && o.set->pieces->bytes == 0)
            server.DeleteKey(o.key);
        key_close(&o);
        return server.ReplyWithError(ctx, wrong);
    }
    o.set->like = options->like;
    if (o.set->pieces->bytes == size)
        return load_complete(ctx, &o, &j);
    load_replicate(ctx, &j, offset, data.data, data.size);
    key_close(&o);
    server.SignalModifiedKey(ctx, name);
    return load_answer(ctx, &j, offset + data.size);
}

int command_load(server_context *ctx, server_string **argv, int argc) {
    if (argc != 5 && argc != 7)
        return server.WrongArity(ctx);
    uint64_t size, offset;
    load_options options = {.plain = false};
    if (argc == 7 && (!argument_is(argv[5], "COMPAT") || !argument_like(argv[6], &options.like)))
        return server.ReplyWithError(ctx, "ERR syntax error");
    if (!argument_number(argv[2], INT64_MAX, &size) ||
        !argument_number(argv[3], INT64_MAX, &offset))
        return server.ReplyWithError(ctx, "ERR size or offset is out of range");
    return load_part(ctx, argv[1], size, offset, argument_bytes(argv[4]), &options);
}
