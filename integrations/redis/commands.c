/* commands.c - the table of commands
 *
 * One row per command: what the server is told when the module is loaded, what COMMAND and COMMAND DOCS
 * answer, and what docs/redis.md is made from (docs.py), all come from here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"
#include "command_args.h"

#include <stdio.h>
#include <string.h>

#define SINCE    "0.1.0" /* version of tamis */
#define CATEGORY "tamis"

/* ---- arguments ---- */

static server_arg growth_args[] = {A_TOKEN("grow", "GROW"), A_TOKEN("fixed", "FIXED"), A_END};

#define NEED_ARGS                                                                                  \
    A_ONE("n", SERVER_ARG_INTEGER), A_ONE("p", SERVER_ARG_DOUBLE), A_FLAG("deletes", "DELETES"),   \
        A_OPTION("kind", SERVER_ARG_STRING, "KIND"), A_CHOICE("growth", growth_args),              \
        A_OPTION("ticks", SERVER_ARG_INTEGER, "WINDOW"),                                           \
        A_OPTION("seed", SERVER_ARG_STRING, "SEED"),                                               \
        A_OPTION("params", SERVER_ARG_STRING, "PARAMS"),                                           \
        A_OPTION("compat", SERVER_ARG_STRING, "COMPAT")

static server_arg reserve_args[] = {A_KEY("key"), NEED_ARGS, A_END};
static server_arg plan_args[] = {NEED_ARGS, A_END};
static server_arg item_args[] = {A_KEY("key"), A_ONE("item", SERVER_ARG_STRING), A_END};
static server_arg items_args[] = {A_KEY("key"), A_MANY("item", SERVER_ARG_STRING), A_END};
static server_arg key_args[] = {A_KEY("key"), A_END};
static server_arg info_args[] = {A_KEY("key"), A_MAY("field", SERVER_ARG_STRING), A_END};
static server_arg tick_args[] = {A_KEY("key"), A_OPTION("buckets", SERVER_ARG_INTEGER, "STEP"),
                                 A_END};
static server_arg merge_args[] = {A_KEY("destination"), A_KEYS("source"), A_END};
static server_arg dump_args[] = {A_KEY("key"), A_ONE("cursor", SERVER_ARG_STRING), A_END};
static server_arg load_args[] = {A_KEY("key"),
                                 A_ONE("size", SERVER_ARG_INTEGER),
                                 A_ONE("offset", SERVER_ARG_INTEGER),
                                 A_ONE("data", SERVER_ARG_STRING),
                                 A_OPTION("compat", SERVER_ARG_STRING, "COMPAT"),
                                 A_END};

/* ---- commands ---- */

#define CHANGES "write deny-oom"
#define REMOVES "write fast"
#define READS   "readonly fast"

static const command_row rows[] = {
    {"tamis.reserve", command_reserve, CHANGES, -4, 1, 1, TO_ADD,
     "Makes an empty set for n keys that errs at most at rate p", "O(1), and up to 100 ms to plan",
     reserve_args},
    {"tamis.add", command_add, CHANGES " fast", 3, 1, 1, TO_ASK_AND_ADD,
     "Adds a key to a set, which is made if it is missing, and tells whether it was new",
     "O(links)", item_args},
    {"tamis.madd", command_madd, CHANGES, -3, 1, 1, TO_ASK_AND_ADD,
     "Adds several keys, each answered as by TAMIS.ADD", "O(keys * links)", items_args},
    {"tamis.exists", command_exists, READS, 3, 1, 1, TO_READ,
     "Tells whether a key is in a set: no is certain", "O(links)", item_args},
    {"tamis.mexists", command_mexists, READS, -3, 1, 1, TO_READ,
     "Tells of several keys whether they are in a set", "O(keys * links)", items_args},
    {"tamis.del", command_del, REMOVES, 3, 1, 1, TO_REMOVE,
     "Removes a key: 1 removed, 0 certainly not there, -1 refused, since several links claim it",
     "O(links)", item_args},
    {"tamis.mdel", command_mdel, "write", -3, 1, 1, TO_REMOVE,
     "Removes several keys, each answered as by TAMIS.DEL", "O(keys * links)", items_args},
    {"tamis.count", command_count, READS, 3, 1, 1, TO_READ,
     "Tells how many copies of a key a multiset has, at most 1 of a set", "O(links)", item_args},
    {"tamis.card", command_card, READS, 2, 1, 1, TO_READ, "Tells how many keys are in a set",
     "O(links)", key_args},
    {"tamis.info", command_info, "readonly", -2, 1, 1, TO_READ,
     "Tells what a set is and how it fares, or one field of that",
     "O(links); for error_rate at most 1 MiB of the tables is read", info_args},
    {"tamis.tick", command_tick, "write", -2, 1, 1, TO_TICK,
     "Begins the next tick of a window and tells its number; with STEP only clears what is "
     "forgotten, and "
     "tells how many buckets are left",
     "O(buckets that are still to be cleared), which adding keys or STEP clears before", tick_args},
    {"tamis.merge", command_merge, CHANGES, -3, 1, -1, TO_ASK_AND_ADD,
     "Adds all keys of the sources to the destination, which is made if it is missing; refused "
     "if it would err more often than it promises",
     "O(bytes of all): the server waits, up to 2 s per GiB", merge_args},
    {"tamis.mergebeyond", command_merge_beyond, CHANGES, -3, 1, -1, TO_ASK_AND_ADD,
     "Merges like TAMIS.MERGE whatever error rate comes of it, and tells that rate and the "
     "promised one",
     "O(bytes of all): the server waits, up to 2 s per GiB", merge_args},
    {"tamis.plan", command_plan, "readonly", -3, 0, 0, 0,
     "Tells what TAMIS.RESERVE would make of these arguments, and makes nothing", "up to 100 ms",
     plan_args},
    {"tamis.dump", command_dump, "readonly", 3, 1, 1, TO_READ,
     "Gives a part of the set's file, its size and where the next part begins; 0 begins and ends",
     "O(bytes of the part), O(bytes) where a header is, so at the first part: about 0.5 s per GiB",
     dump_args},
    {"tamis.load", command_load, CHANGES, -5, 1, 1, TO_ADD,
     "Takes a part of a set's file; the last part completes the set, if it is sound",
     "O(bytes of the part); the last part O(bytes), of large sets in the background", load_args},
};

/* ---- telling the server ---- */

/* The keys from argument 'first' on, 'more' further ones, or up to the end (-1). */
static server_key_spec command_keys(int first, int more, uint64_t flags) {
    server_key_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.flags = flags;
    spec.search = SERVER_SEARCH_INDEX;
    spec.begin.index.pos = first;
    spec.find = SERVER_FIND_RANGE;
    spec.keys.range.last_key = more;
    spec.keys.range.key_step = 1;
    return spec;
}

/* Our category, and those that commands of the server itself have by their flags. */
static void command_categories(server_command *command, const command_row *row) {
    if (server.SetCommandACLCategories == NULL || server.AddACLCategory == NULL)
        return;
    char text[64];
    (void)snprintf(text, sizeof text, "%s %s %s", CATEGORY,
                   strstr(row->flags, "write") != NULL ? "write" : "read",
                   strstr(row->flags, "fast") != NULL ? "fast" : "slow");
    (void)server.SetCommandACLCategories(command, text);
}

static bool command_describe(server_context *ctx, const command_row *row) {
    static const server_command_version version = {1, sizeof(server_command_history),
                                                   sizeof(server_key_spec), sizeof(server_arg)};
    server_command *const command = server.GetCommand(ctx, row->name);
    if (command == NULL)
        return false;
    command_categories(command, row);
    server_key_spec specs[3];
    memset(specs, 0, sizeof specs);
    specs[0] = command_keys(row->first, 0, row->spec);
    if (row->last == -1) /* the first is changed, the others are read */
        specs[1] = command_keys(row->first + 1, -1, TO_READ);
    const server_command_info info = {
        .version = &version,
        .summary = row->summary,
        .complexity = row->complexity,
        .since = row->summary == NULL ? NULL : SINCE, /* others say what their commands do */
        .arity = row->arity,
        .key_specs = row->first == 0 ? NULL : specs,
        .args = row->args,
    };
    return server.SetCommandInfo(command, &info) == SERVER_OK;
}

static bool command_register(server_context *ctx, const command_row *row) {
    return server.CreateCommand(ctx, row->name, row->handler, row->flags, row->first, row->last,
                                row->first == 0 ? 0 : 1) == SERVER_OK &&
           command_describe(ctx, row);
}

bool commands_register(server_context *ctx, bool compat) {
    if (server.AddACLCategory != NULL)
        (void)server.AddACLCategory(ctx, CATEGORY); /* another module may have it */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!command_register(ctx, &rows[i]))
            return false;
    for (size_t i = 0; compat && i < n_compat_rows; i++)
        if (!command_register(ctx, &compat_rows[i]))
            return false;
    return true;
}
