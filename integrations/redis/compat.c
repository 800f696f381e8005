/* compat.c - commands of other filters, BF.* and CF.*, for clients that are written for them
 *
 * Here are those that make and change sets, and the table of all.  What they are asked for is read by
 * compat_options.c; compat_tell.c has INFO, SCANDUMP and LOADCHUNK.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compat.h"
#include "command_args.h"

/* ---- making ---- */

static int compat_wrong(server_context *ctx, const char *wrong) {
    return wrong[0] == '\0' ? server.WrongArity(ctx) : server.ReplyWithError(ctx, wrong);
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
    compat_options o;
    const char *const wrong = compat_read_bf_reserve(argv, argc, &o);
    return wrong != NULL ? compat_wrong(ctx, wrong) : compat_reserve(ctx, argv[1], &o.request);
}

static int cf_reserve(server_context *ctx, server_string **argv, int argc) {
    compat_options o;
    const char *const wrong = compat_read_cf_reserve(argv, argc, &o);
    return wrong != NULL ? compat_wrong(ctx, wrong) : compat_reserve(ctx, argv[1], &o.request);
}

/* ---- adding ---- */

typedef struct adding {
    bool cuckoo;
    bool only_new; /* NX: what seems to be there is not added again */
    bool many;     /* the answer is an array */
} adding;

/* Has a cuckoo filter as many keys as all filters but the last that it may have hold?  A cuckoo filter then
 * refuses all keys.  Our sets have other links; so the keys are what is counted. */
static bool compat_expanded(const set *s) {
    if (!like_known(&s->like) || !s->grows)
        return false;
    const uint64_t count = tamis_filter_count(s->filter);
    uint64_t most = 0, one = s->capacity;
    for (int i = 1; i < COMPAT_MAX_EXPANSIONS && most <= count; i++) {
        most += one;
        one *= s->like.expansion;
    }
    return count >= most;
}

/* Answer for one key.  A cuckoo filter takes a key as often as it comes. */
static void compat_answer(server_context *ctx, const adding *how, tamis_status status, bool added) {
    const bool numbers = how->cuckoo && how->many && how->only_new;
    const bool done = how->cuckoo && !how->only_new ? true : added;
    if (status == TAMIS_OK && numbers)
        server.ReplyWithLongLong(ctx, done);
    else if (status == TAMIS_OK)
        server.ReplyWithBool(ctx, done);
    else if (how->cuckoo && how->many && !how->only_new &&
             (server.GetContextFlags(ctx) & SERVER_RESP3) != 0)
        server.ReplyWithBool(ctx, false);
    else if (how->cuckoo && how->many)
        server.ReplyWithLongLong(ctx, -1);
    else if (how->cuckoo)
        server.ReplyWithError(ctx, status == TAMIS_E_FULL ? "Filter is full"
                                                          : "ERR Insufficient memory");
    else
        server.ReplyWithError(ctx, status == TAMIS_E_FULL ? "ERR non scaling filter is full"
                                                          : "ERR problem inserting into filter");
}

/* Add one key; what changed the set is replicated. */
static tamis_status compat_add_one(server_context *ctx, server_string **argv, int i, set *s,
                                   const adding *how, bool *changed, bool *added) {
    const tamis_bytes key = argument_bytes(argv[i]);
    *added = false;
    if (how->only_new && tamis_filter_contains(s->filter, key.data, key.size))
        return TAMIS_OK;
    const tamis_status status = key_insert(s, key, added);
    if (status == TAMIS_OK && (*added || key_adds_again(s))) {
        *changed = true;
        atomic_fetch_add(&totals.added, 1);
        server.Replicate(ctx, "TAMIS.ADD", "ss", argv[1], argv[i]);
    } else if (key_no_room(status) && s->forgets) {
        server.Replicate(ctx, "TAMIS.ADD", "ss", argv[1], argv[i]);
    }
    if (key_no_room(status))
        atomic_fetch_add(&totals.full, 1);
    if (how->only_new)
        *added = status == TAMIS_OK;
    return status;
}

/* Add the keys argv[first] on.  BF ends with the first that is refused: its list is then shorter. */
static void compat_add_all(server_context *ctx, server_string **argv, int argc, int first, set *s,
                           const adding *how, bool *changed) {
    if (how->many)
        server.ReplyWithArray(ctx, SERVER_LENGTH_LATER);
    long answers = 0;
    for (int i = first; i < argc; i++) {
        bool added;
        const tamis_status status = compat_add_one(ctx, argv, i, s, how, changed, &added);
        compat_answer(ctx, how, status, added);
        answers++;
        if (status != TAMIS_OK && !how->cuckoo)
            break;
    }
    if (how->many)
        server.ReplySetArrayLength(ctx, answers);
}

static int compat_add(server_context *ctx, server_string **argv, int argc, int first,
                      const compat_options *o, const adding *how) {
    opened k;
    if (!key_open(ctx, argv[1], SERVER_READ | SERVER_WRITE, &k))
        return SERVER_OK;
    const char *wrong = NULL;
    if (k.set == NULL && o->no_create)
        wrong = "ERR not found";
    else if (k.set != NULL && how->cuckoo && compat_expanded(k.set))
        wrong = "Maximum expansions reached";
    if (wrong != NULL) {
        key_close(&k);
        return server.ReplyWithError(ctx, wrong);
    }
    if (k.set == NULL && !key_create(ctx, argv[1], &k, &o->request)) {
        key_close(&k);
        return SERVER_OK;
    }
    bool changed = false;
    compat_add_all(ctx, argv, argc, first, k.set, how, &changed);
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
    compat_options o;
    compat_default(&o, how->cuckoo);
    return compat_add(ctx, argv, argc, 2, &o, how);
}

/* INSERT and its like: options, ITEMS, keys. */
static int compat_insert(server_context *ctx, server_string **argv, int argc, const adding *how) {
    compat_options o;
    const char *const wrong =
        how->cuckoo ? compat_read_cf_insert(argv, argc, &o) : compat_read_bf_insert(argv, argc, &o);
    return wrong != NULL ? compat_wrong(ctx, wrong)
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
        const char *const wrong = o.set == NULL ? "Not found" : SERVER_WRONG_TYPE;
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

/* ---- the table: what these commands are is described by those who made them ---- */

static server_arg key_args[] = {A_KEY("key"), A_END};
static server_arg item_args[] = {A_KEY("key"), A_ONE("item", SERVER_ARG_STRING), A_END};
static server_arg items_args[] = {A_KEY("key"), A_MANY("item", SERVER_ARG_STRING), A_END};
static server_arg dump_args[] = {A_KEY("key"), A_ONE("iterator", SERVER_ARG_INTEGER), A_END};
static server_arg load_args[] = {A_KEY("key"), A_ONE("iterator", SERVER_ARG_INTEGER),
                                 A_ONE("data", SERVER_ARG_STRING), A_END};
static server_arg bf_reserve_args[] = {A_KEY("key"),
                                       A_ONE("error_rate", SERVER_ARG_DOUBLE),
                                       A_ONE("capacity", SERVER_ARG_INTEGER),
                                       A_OPTION("expansion", SERVER_ARG_INTEGER, "EXPANSION"),
                                       A_FLAG("nonscaling", "NONSCALING"),
                                       A_END};
static server_arg bf_insert_args[] = {A_KEY("key"),
                                      A_OPTION("capacity", SERVER_ARG_INTEGER, "CAPACITY"),
                                      A_OPTION("error", SERVER_ARG_DOUBLE, "ERROR"),
                                      A_OPTION("expansion", SERVER_ARG_INTEGER, "EXPANSION"),
                                      A_FLAG("nocreate", "NOCREATE"),
                                      A_FLAG("nonscaling", "NONSCALING"),
                                      A_TOKEN("items", "ITEMS"),
                                      A_MANY("item", SERVER_ARG_STRING),
                                      A_END};
static server_arg bf_fields[] = {A_TOKEN("capacity", "CAPACITY"),   A_TOKEN("size", "SIZE"),
                                 A_TOKEN("filters", "FILTERS"),     A_TOKEN("items", "ITEMS"),
                                 A_TOKEN("expansion", "EXPANSION"), A_END};
static server_arg bf_info_args[] = {A_KEY("key"), A_CHOICE("single_value", bf_fields), A_END};
static server_arg cf_reserve_args[] = {
    A_KEY("key"),
    A_ONE("capacity", SERVER_ARG_INTEGER),
    A_OPTION("bucketsize", SERVER_ARG_INTEGER, "BUCKETSIZE"),
    A_OPTION("maxiterations", SERVER_ARG_INTEGER, "MAXITERATIONS"),
    A_OPTION("expansion", SERVER_ARG_INTEGER, "EXPANSION"),
    A_END};
static server_arg cf_insert_args[] = {A_KEY("key"),
                                      A_OPTION("capacity", SERVER_ARG_INTEGER, "CAPACITY"),
                                      A_FLAG("nocreate", "NOCREATE"),
                                      A_TOKEN("items", "ITEMS"),
                                      A_MANY("item", SERVER_ARG_STRING),
                                      A_END};

#define WRITES "write deny-oom"
#define ASKS   "readonly fast"

const command_row compat_rows[] = {
    {"bf.reserve", bf_reserve, WRITES, -4, 1, 1, TO_ADD, NULL, NULL, bf_reserve_args},
    {"bf.add", bf_add, WRITES, 3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, item_args},
    {"bf.madd", bf_madd, WRITES, -3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, items_args},
    {"bf.insert", bf_insert, WRITES, -4, 1, 1, TO_ASK_AND_ADD, NULL, NULL, bf_insert_args},
    {"bf.exists", command_exists, ASKS, 3, 1, 1, TO_READ, NULL, NULL, item_args},
    {"bf.mexists", command_mexists, ASKS, -3, 1, 1, TO_READ, NULL, NULL, items_args},
    {"bf.card", command_card, ASKS, 2, 1, 1, TO_READ, NULL, NULL, key_args},
    {"bf.info", compat_bf_info, "readonly", -2, 1, 1, TO_READ, NULL, NULL, bf_info_args},
    {"bf.scandump", compat_bf_scandump, "readonly", 3, 1, 1, TO_READ, NULL, NULL, dump_args},
    {"bf.loadchunk", compat_bf_loadchunk, WRITES, 4, 1, 1, TO_ADD, NULL, NULL, load_args},
    {"cf.reserve", cf_reserve, WRITES, -3, 1, 1, TO_ADD, NULL, NULL, cf_reserve_args},
    {"cf.add", cf_add, WRITES, 3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, item_args},
    {"cf.addnx", cf_addnx, WRITES, 3, 1, 1, TO_ASK_AND_ADD, NULL, NULL, item_args},
    {"cf.insert", cf_insert, WRITES, -4, 1, 1, TO_ASK_AND_ADD, NULL, NULL, cf_insert_args},
    {"cf.insertnx", cf_insertnx, WRITES, -4, 1, 1, TO_ASK_AND_ADD, NULL, NULL, cf_insert_args},
    {"cf.exists", command_exists, ASKS, 3, 1, 1, TO_READ, NULL, NULL, item_args},
    {"cf.mexists", command_mexists, ASKS, -3, 1, 1, TO_READ, NULL, NULL, items_args},
    {"cf.del", cf_del, "write fast", 3, 1, 1, TO_REMOVE, NULL, NULL, item_args},
    {"cf.count", command_count, ASKS, 3, 1, 1, TO_READ, NULL, NULL, item_args},
    {"cf.info", compat_cf_info, "readonly", 2, 1, 1, TO_READ, NULL, NULL, key_args},
    {"cf.scandump", compat_cf_scandump, "readonly", 3, 1, 1, TO_READ, NULL, NULL, dump_args},
    {"cf.loadchunk", compat_cf_loadchunk, WRITES, 4, 1, 1, TO_ADD, NULL, NULL, load_args},
};
const size_t n_compat_rows = sizeof compat_rows / sizeof *compat_rows;
