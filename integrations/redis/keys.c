/* keys.c - commands that make sets and change or ask them
 *
 * What changed is replicated as it happened: a set is made on replicas with the parameters and the seed that
 * it has here, and of keys that were refused nothing is told.  So replicas have the same bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <tamis/window.h>

#include <stdio.h>
#include <string.h>

/* ---- what handlers share ---- */

const char *error_text(tamis_status status) {
    switch (status) {
    case TAMIS_E_ARGUMENT:
        return "ERR a parameter is out of range";
    case TAMIS_E_NOMEM:
        return "ERR the set would need more memory than there is, or than tamis.max-bytes allows";
    case TAMIS_E_FULL:
        return "ERR the set is full";
    case TAMIS_E_NOT_FOUND:
        return "ERR not found";
    case TAMIS_E_UNSUPPORTED:
        return "ERR this kind of set cannot do that";
    case TAMIS_E_MISMATCH:
        return "ERR the sets differ in kind, parameters or seed: reserve both with the same SEED";
    case TAMIS_E_PROMISE:
        return "ERR the set would err more often than it promises";
    case TAMIS_E_TOO_LARGE:
        return "ERR the set would be too large";
    default:
        return "ERR the set could not be changed";
    }
}

int reply_refused(server_context *ctx, const set *s, tamis_status status) {
    if (s->forgets && key_no_room(status) && context_obeys(ctx))
        return server.ReplyWithNull(ctx);
    return reply_status(ctx, status);
}

int reply_status(server_context *ctx, tamis_status status) {
    if (key_no_room(status))
        atomic_fetch_add(&totals.full, 1);
    return server.ReplyWithError(ctx, error_text(status));
}

int reply_unplanned(server_context *ctx, const request *r, tamis_status status) {
    char why[512], text[sizeof "ERR " + sizeof why];
    const tamis_status explained = r->exact ? tamis_params_explain(&r->params, why, sizeof why)
                                            : tamis_plan_explain(&r->need, why, sizeof why);
    if (explained != status) /* it was not the plan, but memory, say */
        return reply_status(ctx, status);
    (void)snprintf(text, sizeof text, "ERR %s", why);
    return server.ReplyWithError(ctx, text);
}

bool context_obeys(server_context *ctx) {
    return (server.GetContextFlags(ctx) & (SERVER_FROM_PRIMARY | SERVER_IS_LOADING)) != 0;
}

void key_close(opened *o) {
    if (o->key != NULL)
        server.CloseKey(o->key);
    o->key = NULL;
}

bool key_open_any(server_context *ctx, server_string *name, int mode, opened *o) {
    o->key = server.OpenKey(ctx, name, mode);
    o->set = NULL;
    if (o->key == NULL || server.KeyType(o->key) == SERVER_KEY_EMPTY)
        return true;
    if (server.ModuleTypeGetType(o->key) != set_type) {
        key_close(o);
        server.ReplyWithError(ctx, SERVER_WRONG_TYPE);
        return false;
    }
    o->set = server.ModuleTypeGetValue(o->key);
    if ((mode & SERVER_WRITE) != 0)
        o->set->memory->limited = !context_obeys(ctx);
    return true;
}

bool key_open(server_context *ctx, server_string *name, int mode, opened *o) {
    if (!key_open_any(ctx, name, mode, o))
        return false;
    if (o->set != NULL && o->set->filter == NULL) {
        key_close(o);
        server.ReplyWithError(ctx, "ERR the set is still being loaded");
        return false;
    }
    return true;
}

bool key_put(opened *o, set *s) {
    if (server.ModuleTypeSetValue(o->key, set_type, s) != SERVER_OK)
        return false;
    o->set = s;
    return true;
}

void key_changed(server_context *ctx, server_string *name, opened *o, const char *event) {
    o->set->stamp++;
    key_close(o);
    server.SignalModifiedKey(ctx, name);
    server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_MODULE, event, name);
}

bool key_create(server_context *ctx, server_string *name, opened *o, const request *r) {
    tamis_params params = r->params;
    tamis_status status = TAMIS_OK;
    if (!r->exact) {
        tamis_plan plan;
        status = request_plan(r, &plan);
        params = plan.params;
        if (status == TAMIS_OK && !context_obeys(ctx) && plan.bytes > atomic_load(&set_max_bytes))
            status = TAMIS_E_NOMEM;
    }
    set *const s = status == TAMIS_OK ? set_new() : NULL;
    if (status == TAMIS_OK && s == NULL)
        status = TAMIS_E_NOMEM;
    if (status == TAMIS_OK) {
        s->memory->limited = !context_obeys(ctx);
        s->like = r->like;
        status = set_create(s, &params, r->need.fpr, r->grows);
    }
    if (status == TAMIS_OK)
        status = tamis_filter_params(s->filter, &params);
    if (status == TAMIS_OK && !key_put(o, s))
        status = TAMIS_E_ARGUMENT;
    if (status != TAMIS_OK) {
        set_free(s);
        reply_unplanned(ctx, r, status);
        return false;
    }
    char exact[ARGUMENT_PARAMS], rate[32], like[SET_LIKE_TEXT];
    argument_params(&params, exact);
    (void)snprintf(rate, sizeof rate, "%.17g", r->need.fpr);
    if (set_like_text(&r->like, like))
        server.Replicate(ctx, "TAMIS.RESERVE", "slcccccc", name, (long long)r->need.n, rate,
                         r->grows ? "GROW" : "FIXED", "PARAMS", exact, "COMPAT", like);
    else
        server.Replicate(ctx, "TAMIS.RESERVE", "slcccc", name, (long long)r->need.n, rate,
                         r->grows ? "GROW" : "FIXED", "PARAMS", exact);
    return true;
}

/* May a key be added where the count says that there is no room?  The count of a window includes what is
 * forgotten and not cleared yet. */
static bool key_window_has_room(const set *s, tamis_bytes key) {
    uint64_t left;
    return s->forgets && ((tamis_window_step(s->filter, 0, &left) == TAMIS_OK && left > 0) ||
                          tamis_filter_contains(s->filter, key.data, key.size));
}

tamis_status key_insert(set *s, tamis_bytes key, bool *added) {
    if (!s->grows && tamis_filter_count(s->filter) >= s->capacity && !key_window_has_room(s, key)) {
        if (key_adds_again(s) || !tamis_filter_contains(s->filter, key.data, key.size))
            return TAMIS_E_FULL;
        *added = false;
        return TAMIS_OK;
    }
    const tamis_status status = tamis_filter_insert(s->filter, key.data, key.size, added);
    if (s->grows)
        set_count_links(s);
    return status;
}

tamis_status key_insert_many(set *s, const tamis_bytes *keys, size_t n, bool *added, size_t *done) {
    *done = 0;
    const uint64_t count = tamis_filter_count(s->filter);
    if (s->grows || (count <= s->capacity && n <= s->capacity - count)) {
        const tamis_status status = tamis_filter_insert_many(s->filter, keys, n, added, done);
        if (s->grows)
            set_count_links(s);
        return status;
    }
    tamis_status status = TAMIS_OK;
    for (; *done < n; ++*done) {
        status = key_insert(s, keys[*done], &added[*done]);
        if (status != TAMIS_OK)
            break;
    }
    return status;
}

/* ---- many keys ---- */

/* The arguments from 'first' on as keys, and a place for an answer each. */
typedef struct many {
    tamis_bytes few[64], *keys;
    bool few_answers[64], *answers;
    size_t n;
} many;

static bool many_open(server_context *ctx, many *m, server_string **argv, int argc, int first) {
    m->n = (size_t)(argc - first);
    m->keys = m->few;
    m->answers = m->few_answers;
    if (m->n > sizeof m->few / sizeof *m->few) {
        m->keys = server.TryAlloc(m->n * sizeof *m->keys);
        m->answers = server.TryAlloc(m->n * sizeof *m->answers);
        if (m->keys == NULL || m->answers == NULL) {
            server.Free(m->keys);
            server.Free(m->answers);
            reply_status(ctx, TAMIS_E_NOMEM);
            return false;
        }
    }
    for (size_t i = 0; i < m->n; i++)
        m->keys[i] = argument_bytes(argv[(size_t)first + i]);
    memset(m->answers, 0, m->n * sizeof *m->answers);
    return true;
}

static void many_close(many *m) {
    if (m->keys != m->few) {
        server.Free(m->keys);
        server.Free(m->answers);
    }
}

/* ---- RESERVE ---- */

int command_reserve(server_context *ctx, server_string **argv, int argc) {
    if (argc < 4)
        return server.WrongArity(ctx);
    request r;
    const char *const wrong = request_read(argv, argc, 2, &r);
    if (wrong != NULL)
        return server.ReplyWithError(ctx, wrong);
    opened o;
    if (!key_open_any(ctx, argv[1], SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    if (o.set != NULL) {
        key_close(&o);
        return server.ReplyWithError(ctx, "ERR item exists");
    }
    if (!key_create(ctx, argv[1], &o, &r)) {
        key_close(&o);
        return SERVER_OK;
    }
    key_changed(ctx, argv[1], &o, "tamis.reserve");
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- ADD, MADD ---- */

/* Open a key to add to, and make it if it is missing. */
static bool key_open_to_add(server_context *ctx, server_string *name, opened *o) {
    if (!key_open(ctx, name, SERVER_READ | SERVER_WRITE, o))
        return false;
    if (o->set != NULL)
        return true;
    request r;
    request_default(&r);
    if (key_create(ctx, name, o, &r))
        return true;
    key_close(o);
    return false;
}

int command_add(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open_to_add(ctx, argv[1], &o))
        return SERVER_OK;
    bool added = false;
    const tamis_status status = key_insert(o.set, argument_bytes(argv[2]), &added);
    if (status != TAMIS_OK) {
        if (o.set->forgets && key_no_room(status))
            server.Replicate(ctx, "TAMIS.ADD", "ss", argv[1], argv[2]);
        (void)reply_refused(ctx, o.set, status);
        key_close(&o);
        return SERVER_OK;
    }
    if (added || key_adds_again(o.set)) {
        atomic_fetch_add(&totals.added, 1);
        server.Replicate(ctx, "TAMIS.ADD", "ss", argv[1], argv[2]);
        key_changed(ctx, argv[1], &o, "tamis.add");
    } else {
        key_close(&o);
    }
    return server.ReplyWithBool(ctx, added);
}

int command_madd(server_context *ctx, server_string **argv, int argc) {
    if (argc < 3)
        return server.WrongArity(ctx);
    opened o;
    many m;
    if (!many_open(ctx, &m, argv, argc, 2))
        return SERVER_OK;
    if (!key_open_to_add(ctx, argv[1], &o)) {
        many_close(&m);
        return SERVER_OK;
    }
    size_t done;
    const tamis_status status = key_insert_many(o.set, m.keys, m.n, m.answers, &done);
    size_t changes = key_adds_again(o.set) ? done : 0;
    for (size_t i = 0; i < done && !key_adds_again(o.set); i++)
        changes += m.answers[i];
    const bool tried = o.set->forgets && key_no_room(status);
    server.ReplyWithArray(ctx, (long)m.n);
    for (size_t i = 0; i < m.n; i++)
        if (i < done)
            server.ReplyWithBool(ctx, m.answers[i]);
        else
            reply_refused(ctx, o.set, status);
    if (changes > 0 || tried)
        server.Replicate(ctx, "TAMIS.MADD", "sv", argv[1], argv + 2, done + tried);
    if (changes > 0) {
        atomic_fetch_add(&totals.added, changes);
        key_changed(ctx, argv[1], &o, "tamis.add");
    } else {
        key_close(&o);
    }
    many_close(&m);
    return SERVER_OK;
}

/* ---- EXISTS, MEXISTS, COUNT, CARD ---- */

int command_exists(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    const tamis_bytes key = argument_bytes(argv[2]);
    const bool in = o.set != NULL && tamis_filter_contains(o.set->filter, key.data, key.size);
    key_close(&o);
    return server.ReplyWithBool(ctx, in);
}

int command_mexists(server_context *ctx, server_string **argv, int argc) {
    if (argc < 3)
        return server.WrongArity(ctx);
    opened o;
    many m;
    if (!many_open(ctx, &m, argv, argc, 2))
        return SERVER_OK;
    if (key_open(ctx, argv[1], SERVER_READ, &o)) {
        if (o.set != NULL)
            (void)tamis_filter_contains_many(o.set->filter, m.keys, m.n, m.answers);
        key_close(&o);
        server.ReplyWithArray(ctx, (long)m.n);
        for (size_t i = 0; i < m.n; i++)
            server.ReplyWithBool(ctx, m.answers[i]);
    }
    many_close(&m);
    return SERVER_OK;
}

int command_count(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    const tamis_bytes key = argument_bytes(argv[2]);
    const uint64_t copies =
        o.set == NULL ? 0 : tamis_filter_copies(o.set->filter, key.data, key.size);
    key_close(&o);
    return server.ReplyWithLongLong(ctx, (long long)copies);
}

int command_card(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    const uint64_t count = o.set == NULL ? 0 : tamis_filter_count(o.set->filter);
    key_close(&o);
    return server.ReplyWithLongLong(ctx, (long long)count);
}

/* ---- DEL, MDEL ---- */

/* Open a key to remove from; an error if it is missing or cannot remove. */
static bool key_open_to_del(server_context *ctx, server_string *name, opened *o) {
    if (!key_open(ctx, name, SERVER_READ | SERVER_WRITE, o))
        return false;
    if (o->set != NULL && o->set->deletes)
        return true;
    server.ReplyWithError(ctx, o->set == NULL
                                   ? "ERR not found"
                                   : "ERR this set cannot delete: reserve it with DELETES");
    key_close(o);
    return false;
}

int key_remove(set *s, tamis_bytes key) {
    switch (tamis_filter_remove(s->filter, key.data, key.size)) {
    case TAMIS_OK:
        atomic_fetch_add(&totals.removed, 1);
        s->removed++;
        return 1;
    case TAMIS_E_AMBIGUOUS:
        atomic_fetch_add(&totals.ambiguous, 1);
        return -1;
    default:
        atomic_fetch_add(&totals.not_found, 1);
        return 0;
    }
}

int command_del(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open_to_del(ctx, argv[1], &o))
        return SERVER_OK;
    const int answer = key_remove(o.set, argument_bytes(argv[2]));
    if (answer == 1) {
        server.ReplicateVerbatim(ctx);
        key_changed(ctx, argv[1], &o, "tamis.del");
    } else {
        key_close(&o);
    }
    return server.ReplyWithLongLong(ctx, answer);
}

int command_mdel(server_context *ctx, server_string **argv, int argc) {
    if (argc < 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open_to_del(ctx, argv[1], &o))
        return SERVER_OK;
    bool changed = false;
    server.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        const int answer = key_remove(o.set, argument_bytes(argv[i]));
        changed = changed || answer == 1;
        server.ReplyWithLongLong(ctx, answer);
    }
    if (changed) {
        server.ReplicateVerbatim(ctx);
        key_changed(ctx, argv[1], &o, "tamis.del");
    } else {
        key_close(&o);
    }
    return SERVER_OK;
}
