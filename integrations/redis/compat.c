/* compat.c - commands of other filters, BF.* and CF.*, for clients that are written for them
 *
 * Arguments, answers and errors are those of RedisBloom; the sets are ours.  BF is a set that grows at the
 * error rate that is given.  CF, of which one cannot choose the rate elsewhere, is a multiset that can
 * delete, at the rate tamis.error-rate.  All commands TAMIS.* work on them too.
 *
 * What differs: expansion is always 2, and BUCKETSIZE and MAXITERATIONS are checked and mean nothing.  What
 * SCANDUMP gives is our file, so that it is not understood by other modules, nor theirs by us.  A deletion
 * that is refused because several links claim the key is answered 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#define CHUNK ((size_t)1 << 20) /* bytes of one answer of SCANDUMP */

/* ---- making ---- */

/* Options of RESERVE and INSERT, from argument 'at' on, up to ITEMS if 'items'. */
typedef struct options {
    request request;
    bool no_create;
    int first_item; /* behind ITEMS */
} options;

static void compat_request(request *r, bool cuckoo) {
    request_default(r);
    r->need.n = cuckoo ? 1024 : 100;
    r->need.deletes = cuckoo;
}

static const char *compat_capacity(const server_string *text, request *r) {
    if (!argument_number(text, TAMIS_CAPACITY_MAX, &r->need.n))
        return "ERR bad capacity";
    return r->need.n == 0 ? "ERR (capacity should be larger than 0)" : NULL;
}

/* A number that RedisBloom has a use for. */
static bool compat_number(const server_string *text, uint64_t least, uint64_t most) {
    uint64_t number;
    return argument_number(text, most, &number) && number >= least;
}

static const char *compat_options(server_string **argv, int argc, int at, bool cuckoo, bool items,
                                  options *o) {
    request *const r = &o->request;
    for (; at < argc; at++) {
        const bool more = at + 1 < argc;
        const char *wrong = NULL;
        if (items && argument_is(argv[at], "ITEMS")) {
            o->first_item = at + 1;
            return more ? NULL : "ERR wrong number of arguments";
        }
        if (argument_is(argv[at], "EXPANSION") && more) {
            if (!compat_number(argv[++at], cuckoo ? 0 : 1, 32768))
                wrong = "ERR bad expansion";
        } else if (!cuckoo && argument_is(argv[at], "NONSCALING")) {
            r->grows = r->need.grows = false;
        } else if (items && argument_is(argv[at], "CAPACITY") && more) {
            wrong = compat_capacity(argv[++at], r);
        } else if (items && !cuckoo && argument_is(argv[at], "ERROR") && more) {
            if (!argument_rate(argv[++at], &r->need.fpr))
                wrong = "ERR (0 < error rate range < 1)";
        } else if (items && argument_is(argv[at], "NOCREATE")) {
            o->no_create = true;
        } else if (cuckoo && !items && argument_is(argv[at], "BUCKETSIZE") && more) {
            if (!compat_number(argv[++at], 1, 255))
                wrong = "ERR Couldn't parse BUCKETSIZE";
        } else if (cuckoo && !items && argument_is(argv[at], "MAXITERATIONS") && more) {
            if (!compat_number(argv[++at], 1, 65535))
                wrong = "ERR Couldn't parse MAXITERATIONS";
        } else {
            wrong = items ? "ERR Unknown argument received" : "ERR syntax error";
        }
        if (wrong != NULL)
            return wrong;
    }
    return items ? "ERR Missing ITEMS" : NULL;
}

static int compat_reserve(server_context *ctx, server_string *name, const request *r) {
    opened o;
    if (!key_open_any(ctx, name, SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    if (o.set != NULL) {
        key_close(&o);
        return server.ReplyWithError(ctx, "ERR item exists");
    }
    if (!key_create(ctx, name, &o, r)) {
        key_close(&o);
        return SERVER_OK;
    }
    key_changed(ctx, name, &o, "tamis.reserve");
    return server.ReplyWithSimpleString(ctx, "OK");
}

static int bf_reserve(server_context *ctx, server_string **argv, int argc) {
    if (argc < 4)
        return server.WrongArity(ctx);
    options o = {.no_create = false};
    compat_request(&o.request, false);
    if (!argument_rate(argv[2], &o.request.need.fpr))
        return server.ReplyWithError(ctx, "ERR (0 < error rate range < 1)");
    const char *wrong = compat_capacity(argv[3], &o.request);
    if (wrong == NULL)
        wrong = compat_options(argv, argc, 4, false, false, &o);
    return wrong != NULL ? server.ReplyWithError(ctx, wrong)
                         : compat_reserve(ctx, argv[1], &o.request);
}

static int cf_reserve(server_context *ctx, server_string **argv, int argc) {
    if (argc < 3)
        return server.WrongArity(ctx);
    options o = {.no_create = false};
    compat_request(&o.request, true);
    const char *wrong = compat_capacity(argv[2], &o.request);
    if (wrong == NULL)
        wrong = compat_options(argv, argc, 3, true, false, &o);
    return wrong != NULL ? server.ReplyWithError(ctx, wrong)
                         : compat_reserve(ctx, argv[1], &o.request);
}

/* ---- adding ---- */

typedef struct adding {
    bool cuckoo;
    bool only_new; /* NX: what seems to be there is not added again */
    bool many;     /* the answer is an array */
} adding;

/* Answer for one key: 1 added, 0 there already; a full set is -1 of CF.INSERT and an error otherwise. */
static void compat_answer(server_context *ctx, const adding *how, tamis_status status, bool added) {
    if (status == TAMIS_OK)
        server.ReplyWithBool(ctx, how->cuckoo && !how->only_new ? true : added);
    else if (how->cuckoo && how->many)
        server.ReplyWithLongLong(ctx, -1);
    else if (status == TAMIS_E_FULL && !how->cuckoo)
        server.ReplyWithError(ctx, "ERR non scaling filter is full");
    else
        reply_status(ctx, status);
}

/* Add the keys argv[first] on; each that changed the set is replicated. */
static int compat_add(server_context *ctx, server_string **argv, int argc, int first,
                      const options *o, const adding *how) {
    opened k;
    if (!key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, &k))
        return SERVER_OK;
    if (k.set == NULL && o->no_create) {
        key_close(&k);
        return server.ReplyWithError(ctx, "ERR not found");
    }
    if (k.set == NULL && !key_create(ctx, argv[1], &k, &o->request)) {
        key_close(&k);
        return SERVER_OK;
    }
    bool changed = false;
    if (how->many)
        server.ReplyWithArray(ctx, argc - first);
    for (int i = first; i < argc; i++) {
        const tamis_bytes key = argument_bytes(argv[i]);
        bool added = false;
        tamis_status status = TAMIS_OK;
        if (!how->only_new || !tamis_filter_contains(k.set->filter, key.data, key.size)) {
            status = key_insert(k.set, key, &added);
            if (status == TAMIS_OK && (added || key_adds_again(k.set))) {
                changed = true;
                atomic_fetch_add(&totals.added, 1);
                server.Replicate(ctx, "TAMIS.ADD", "ss", argv[1], argv[i]);
            } else if (status == TAMIS_E_FULL && k.set->forgets) {
                server.Replicate(ctx, "TAMIS.ADD", "ss", argv[1], argv[i]);
            }
            if (how->only_new)
                added = status == TAMIS_OK;
        }
        compat_answer(ctx, how, status, added);
    }
    if (changed)
        key_changed(ctx, argv[1], &k, "tamis.add");
    else
        key_close(&k);
    return SERVER_OK;
}

/* ADD and its like: the keys follow the name. */
static int compat_add_plain(server_context *ctx, server_string **argv, int argc,
                            const adding *how) {
    if (how->many ? argc < 3 : argc != 3)
        return server.WrongArity(ctx);
    options o = {.no_create = false};
    compat_request(&o.request, how->cuckoo);
    return compat_add(ctx, argv, argc, 2, &o, how);
}

/* INSERT and its like: options, ITEMS, keys. */
static int compat_insert(server_context *ctx, server_string **argv, int argc, const adding *how) {
    if (argc < 4)
        return server.WrongArity(ctx);
    options o = {.no_create = false};
    compat_request(&o.request, how->cuckoo);
    const char *const wrong = compat_options(argv, argc, 2, how->cuckoo, true, &o);
    return wrong != NULL ? server.ReplyWithError(ctx, wrong)
                         : compat_add(ctx, argv, argc, o.first_item, &o, how);
}

static int bf_add(server_context *ctx, server_string **argv, int argc) {
    return compat_add_plain(ctx, argv, argc, &(adding){false, false, false});
}
static int bf_madd(server_context *ctx, server_string **argv, int argc) {
    return compat_add_plain(ctx, argv, argc, &(adding){false, false, true});
}
static int bf_insert(server_context *ctx, server_string **argv, int argc) {
    return compat_insert(ctx, argv, argc, &(adding){false, false, true});
}
static int cf_add(server_context *ctx, server_string **argv, int argc) {
    return compat_add_plain(ctx, argv, argc, &(adding){true, false, false});
}
static int cf_addnx(server_context *ctx, server_string **argv, int argc) {
    return compat_add_plain(ctx, argv, argc, &(adding){true, true, false});
}
static int cf_insert(server_context *ctx, server_string **argv, int argc) {
    return compat_insert(ctx, argv, argc, &(adding){true, false, true});
}
static int cf_insertnx(server_context *ctx, server_string **argv, int argc) {
    return compat_insert(ctx, argv, argc, &(adding){true, true, true});
}

/* ---- removing ---- */

static int cf_del(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, &o))
        return SERVER_OK;
    if (o.set == NULL || !o.set->deletes) {
        const char *const wrong = o.set == NULL ? "ERR Not found" : SERVER_WRONG_TYPE;
        key_close(&o);
        return server.ReplyWithError(ctx, wrong);
    }
    const bool removed = key_remove(o.set, argument_bytes(argv[2])) == 1;
    if (removed) {
        server.Replicate(ctx, "TAMIS.DEL", "ss", argv[1], argv[2]);
        key_changed(ctx, argv[1], &o, "tamis.del");
    } else {
        key_close(&o);
    }
    return server.ReplyWithBool(ctx, removed);
}

/* ---- moving ---- */

/* Iterator 0 begins; 1 is the size of the file, 8 bytes; i > 1 are bytes up to i - 2 of the file. */
static int compat_scandump(server_context *ctx, server_string **argv, int argc) {
    if (argc != 3)
        return server.WrongArity(ctx);
    uint64_t at;
    if (!argument_number(argv[2], INT64_MAX, &at))
        return server.ReplyWithError(ctx, "ERR Second argument must be numeric");
    opened o;
    if (!key_open(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    if (o.set == NULL)
        return server.ReplyWithError(ctx, "ERR not found");
    const uint64_t size = tamis_filter_encoded_size(o.set->filter);
    unsigned char head[8];
    for (unsigned i = 0; i < sizeof head; i++)
        head[i] = (unsigned char)(size >> 8 * i);
    char *part = NULL;
    size_t n = sizeof head;
    uint64_t next = 1;
    if (at > 0) {
        const uint64_t offset = at == 1 ? 0 : at - 2;
        n = offset >= size ? 0 : size - offset < CHUNK ? (size_t)(size - offset) : CHUNK;
        next = n == 0 ? 0 : offset + n + 2;
        part = n == 0 ? NULL : server.TryAlloc(n);
        if (n > 0 && (part == NULL ||
                      tamis_filter_encode_part(o.set->filter, offset, part, n) != TAMIS_OK)) {
            server.Free(part);
            key_close(&o);
            return reply_status(ctx, TAMIS_E_NOMEM);
        }
    }
    server.ReplyWithArray(ctx, 2);
    server.ReplyWithLongLong(ctx, (long long)next);
    server.ReplyWithStringBuffer(ctx, at == 0 ? (const char *)head : n == 0 ? "" : part, n);
    server.Free(part);
    key_close(&o);
    return SERVER_OK;
}

/* The size, which comes first and by itself, is kept as a set that has no bytes yet. */
static int compat_loadchunk_size(server_context *ctx, server_string *name, tamis_bytes data) {
    uint64_t size = 0;
    for (unsigned i = 0; data.size == 8 && i < 8; i++)
        size |= (uint64_t)((const unsigned char *)data.data)[i] << 8 * i;
    return load_announce(ctx, name, size, &(set_like){0, 0, 0});
}

static int compat_loadchunk(server_context *ctx, server_string **argv, int argc) {
    if (argc != 4)
        return server.WrongArity(ctx);
    uint64_t at;
    if (!argument_number(argv[2], INT64_MAX, &at) || at == 0)
        return server.ReplyWithError(ctx, "ERR Second argument must be numeric");
    const tamis_bytes data = argument_bytes(argv[3]);
    if (at == 1)
        return compat_loadchunk_size(ctx, argv[1], data);
    if (at < 2 + (uint64_t)data.size)
        return server.ReplyWithError(ctx, "ERR invalid offset - no link found");
    opened o;
    if (!key_open_any(ctx, argv[1], SERVER_READ, &o))
        return SERVER_OK;
    const uint64_t size = o.set == NULL || o.set->filter != NULL ? 0 : o.set->size;
    key_close(&o);
    if (size == 0)
        return server.ReplyWithError(ctx, "ERR not found");
    return load_part(ctx, argv[1], size, at - 2 - data.size, data,
                     &(load_options){.plain = true});
}

/* ---- telling ---- */

typedef struct told {
    const char *name;
    uint64_t number;
} told;

static int compat_tell(server_context *ctx, const told *list, size_t n, const server_string *only) {
    for (size_t i = 0; only != NULL && i < n; i++)
        if (argument_is(only, list[i].name))
            return server.ReplyWithLongLong(ctx, (long long)list[i].number);
    if (only != NULL)
        return server.ReplyWithError(ctx, "ERR Invalid information value");
    server.ReplyWithMap(ctx, (long)n);
    for (size_t i = 0; i < n; i++) {
        server.ReplyWithSimpleString(ctx, list[i].name);
        server.ReplyWithLongLong(ctx, (long long)list[i].number);
    }
    return SERVER_OK;
}

/* Open a set and look at it; false: replied. */
static bool compat_look(server_context *ctx, server_string *name, opened *o, tamis_info *info) {
    if (!key_open(ctx, name, SERVER_READ, o))
        return false;
    tamis_info_init(info);
    if (o->set != NULL && tamis_filter_info(o->set->filter, info) == TAMIS_OK)
        return true;
    key_close(o);
    server.ReplyWithError(ctx, "ERR not found");
    return false;
}

static int bf_info(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2 && argc != 3)
        return server.WrongArity(ctx);
    opened o;
    tamis_info info;
    if (!compat_look(ctx, argv[1], &o, &info))
        return SERVER_OK;
    const uint64_t numbers[] = {info.capacity, set_memory(o.set), info.n_links, info.count,
                                o.set->grows ? 2 : 0};
    key_close(&o);
    static const char *const brief[] = {"Capacity", "Size", "Filters", "Items", "Expansion"};
    static const char *const full[] = {"Capacity", "Size", "Number of filters",
                                       "Number of items inserted", "Expansion rate"};
    told list[5];
    for (size_t i = 0; i < 5; i++)
        list[i] = (told){argc == 3 ? brief[i] : full[i], numbers[i]};
    return compat_tell(ctx, list, 5, argc == 3 ? argv[2] : NULL);
}

static int cf_info(server_context *ctx, server_string **argv, int argc) {
    if (argc != 2)
        return server.WrongArity(ctx);
    opened o;
    tamis_info info;
    if (!compat_look(ctx, argv[1], &o, &info))
        return SERVER_OK;
    uint64_t buckets = 0;
    for (size_t i = 0; i < info.n_loads; i++)
        buckets += info.load_histogram[i];
    const told list[] = {{"Size", set_memory(o.set)},
                         {"Number of buckets", buckets},
                         {"Number of filters", info.n_links},
                         {"Number of items inserted", info.count + o.set->removed},
                         {"Number of items deleted", o.set->removed},
                         {"Bucket size", 2},
                         {"Expansion rate", o.set->grows ? 2 : 0},
                         {"Max iterations", 20}};
    key_close(&o);
    return compat_tell(ctx, list, sizeof list / sizeof *list, NULL);
}

/* ---- the table: what these commands are is described by those who made them ---- */

#define WRITES "write deny-oom"
#define ASKS   "readonly fast"

const command_row compat_rows[] = {
    {"bf.reserve", bf_reserve, WRITES, -4, 1, 1, TO_ADD, NULL, NULL, NULL},
    {"bf.add", bf_add, WRITES, 3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"bf.madd", bf_madd, WRITES, -3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"bf.insert", bf_insert, WRITES, -4, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"bf.exists", command_exists, ASKS, 3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"bf.mexists", command_mexists, ASKS, -3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"bf.card", command_card, ASKS, 2, 1, 1, TO_READ, NULL, NULL, NULL},
    {"bf.info", bf_info, "readonly", -2, 1, 1, TO_READ, NULL, NULL, NULL},
    {"bf.scandump", compat_scandump, "readonly", 3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"bf.loadchunk", compat_loadchunk, WRITES, 4, 1, 1, TO_ADD, NULL, NULL, NULL},
    {"cf.reserve", cf_reserve, WRITES, -3, 1, 1, TO_ADD, NULL, NULL, NULL},
    {"cf.add", cf_add, WRITES, 3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"cf.addnx", cf_addnx, WRITES, 3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"cf.insert", cf_insert, WRITES, -4, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"cf.insertnx", cf_insertnx, WRITES, -4, 1, 1, TO_ASK_AND_ADD, NULL, NULL, NULL},
    {"cf.exists", command_exists, ASKS, 3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"cf.mexists", command_mexists, ASKS, -3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"cf.del", cf_del, "write fast", 3, 1, 1, TO_REMOVE, NULL, NULL, NULL},
    {"cf.count", command_count, ASKS, 3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"cf.info", cf_info, "readonly", 2, 1, 1, TO_READ, NULL, NULL, NULL},
    {"cf.scandump", compat_scandump, "readonly", 3, 1, 1, TO_READ, NULL, NULL, NULL},
    {"cf.loadchunk", compat_loadchunk, WRITES, 4, 1, 1, TO_ADD, NULL, NULL, NULL},
};
const size_t n_compat_rows = sizeof compat_rows / sizeof *compat_rows;
