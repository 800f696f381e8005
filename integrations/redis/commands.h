/* commands.h - the commands, and what they share
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_REDIS_COMMANDS_H
#define TAMIS_REDIS_COMMANDS_H

#include "set.h"

/* One command. */
typedef struct command_row {
    const char *name;
    server_handler *handler;
    const char *flags;
    int arity;       /* with the name; -n: n or more */
    int first, last; /* keys; 0: none, last -1: up to the end */
    uint64_t spec;
    const char *summary, *complexity;
    server_arg *args;
} command_row;

/* What commands do with their key. */
enum {
    TO_READ = SERVER_SPEC_RO | SERVER_SPEC_ACCESS,
    TO_ADD = SERVER_SPEC_RW | SERVER_SPEC_INSERT,
    TO_ASK_AND_ADD = SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_INSERT,
    TO_TICK = SERVER_SPEC_RW | SERVER_SPEC_UPDATE,
    TO_REMOVE = SERVER_SPEC_RW | SERVER_SPEC_ACCESS | SERVER_SPEC_DELETE
};

/* Tell the server of all commands, with those of other filters (BF, CF) if 'compat'.  False if it refuses. */
bool commands_register(server_context *ctx, bool compat);

/* ---- keys.c ---- */
int command_reserve(server_context *ctx, server_string **argv, int argc);
int command_add(server_context *ctx, server_string **argv, int argc);
int command_exists(server_context *ctx, server_string **argv, int argc);
int command_del(server_context *ctx, server_string **argv, int argc);
int command_madd(server_context *ctx, server_string **argv, int argc);
int command_mexists(server_context *ctx, server_string **argv, int argc);
int command_mdel(server_context *ctx, server_string **argv, int argc);
int command_count(server_context *ctx, server_string **argv, int argc);
int command_card(server_context *ctx, server_string **argv, int argc);
/* ---- merge.c ---- */
int command_merge(server_context *ctx, server_string **argv, int argc);
int command_merge_beyond(server_context *ctx, server_string **argv, int argc);

/* ---- window.c ---- */
int command_tick(server_context *ctx, server_string **argv, int argc);

/* ---- report.c ---- */
int command_info(server_context *ctx, server_string **argv, int argc);
int command_plan(server_context *ctx, server_string **argv, int argc);
void report_totals(server_info *info, int for_crash_report);

/* ---- transfer.c ---- */
int command_dump(server_context *ctx, server_string **argv, int argc);
int command_load(server_context *ctx, server_string **argv, int argc);

/* What LOAD is told besides the file. */
typedef struct load_options {
    set_like like;
    bool plain; /* the answer is OK, not the bytes so far */
} load_options;

/* Take one part of a file, and answer: the bytes so far, or 'plain' OK. */
int load_part(server_context *ctx, server_string *name, uint64_t size, uint64_t offset,
              tamis_bytes data, const load_options *options);

/* Begin a load: the size, and no byte yet.  Replicas hear of it with the first part. */
int load_announce(server_context *ctx, server_string *name, uint64_t size, const set_like *like);

/* ---- compat.c ---- */
extern const command_row compat_rows[];
extern const size_t n_compat_rows;

/* ---- arguments.c ---- */

/* What RESERVE and PLAN are asked for. */
typedef struct request {
    tamis_need need;
    bool grows;
    tamis_params params; /* the seed, and with 'exact' all of it */
    bool exact;
    set_like like;
} request;

/* Read a whole number, or a rate above 0 and below 1. */
bool argument_number(const server_string *text, uint64_t most, uint64_t *number);
bool argument_rate(const server_string *text, double *rate);

/* Read two whole numbers with a minus sign between them. */
bool argument_pair(const server_string *text, uint64_t *first, uint64_t *second);

/* Is the argument this word, in letters of any case? */
bool argument_is(const server_string *text, const char *word);

/* The bytes of an argument. */
tamis_bytes argument_bytes(const server_string *text);

/* Read n, p and the options from argument 'first' on.  NULL, or what is wrong. */
const char *request_read(server_string **argv, int argc, int first, request *r);

/* What ADD makes of a missing key. */
void request_default(request *r);

/* Find the parameters; a plan, if it is asked for and was made.  The last one is remembered. */
tamis_status request_plan(const request *r, tamis_plan *plan);

/* Write hash, seed and values in the form that PARAMS takes. */
#define ARGUMENT_PARAMS 512
void argument_params(const tamis_params *params, char *text);

/* Read what COMPAT has. */
bool argument_like(const server_string *text, set_like *like);

/* ---- what handlers share (keys.c) ---- */

/* A key that is open. */
typedef struct opened {
    server_key *key;
    set *set; /* NULL: there is no such key */
} opened;

/* Open a key that is missing or has a set which can be used.  False: the reply has been given. */
bool key_open(server_context *ctx, server_string *name, int mode, opened *o);
void key_close(opened *o);

/* Like it, but a set that is being loaded will do. */
bool key_open_any(server_context *ctx, server_string *name, int mode, opened *o);

/* Give an open key a new value. */
bool key_put(opened *o, set *s);

/* The key has changed: watchers and subscribers want to know. */
void key_changed(server_context *ctx, server_string *name, opened *o, const char *event);

/* Make the set of a missing key, as asked for, and tell the replicas exactly what it is.  False: replied. */
bool key_create(server_context *ctx, server_string *name, opened *o, const request *r);

/* Add a key; the promise of a set that does not grow is kept. */
tamis_status key_insert(set *s, tamis_bytes key, bool *added);

/* Remove a key.  1: removed; 0: certainly not there; -1: refused, since several links of the set claim it. */
int key_remove(set *s, tamis_bytes key);

/* Add many.  '*done' are in. */
tamis_status key_insert_many(set *s, const tamis_bytes *keys, size_t n, bool *added, size_t *done);

int reply_status(server_context *ctx, tamis_status status);

/* Of a set that could not be planned or made: the error says which of the arguments is at fault. */
int reply_unplanned(server_context *ctx, const request *r, tamis_status status);

/* Of a key that was not added.  A window may have been cleared a little all the same, so its primary
 * passes the command on: nobody is to be told there that it is refused once more. */
int reply_refused(server_context *ctx, const set *s, tamis_status status);

/* Was a key refused for want of room, in the table or in the promise of a set that grows? */
static inline bool key_no_room(tamis_status status) {
    return status == TAMIS_E_FULL || status == TAMIS_E_PROMISE;
}

/* Does adding a key that is there already change the set? */
static inline bool key_adds_again(const set *s) {
    return s->counts || s->forgets;
}
const char *error_text(tamis_status status);

/* Does this command come from the primary, or from the append-only file?  It is then carried out. */
bool context_obeys(server_context *ctx);

/* ---- config.c ---- */
typedef struct config {
    long long capacity;
    double fpr;
    bool deletes;
    bool compat;
} config;
extern config settings;
bool config_register(server_context *ctx);

#endif
