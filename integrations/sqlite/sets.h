/* sets.h - what the functions of SQL share: sets that are open, keys, failures
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_SQLITE_SETS_H
#define TAMIS_SQLITE_SETS_H

#include <sqlite3ext.h>

#include <tamis/plan.h>

#include <stdbool.h>

#define KEPT_HEAD 256 /* bytes of a header */

/* A set that several may hold: a name, the list of those that were asked last, and functions that have kept
 * it for the rows of a statement.  A connection is used by one thread at a time, and so are its sets. */
typedef struct set {
    tamis_filter *filter;
    void *memory; /* that the filter is a view of, or NULL */
    unsigned holders;
    struct set *next; /* of those with a name, or of those that are kept */
    char *name;       /* or NULL */
    char *source;     /* "blob", or the path of a file */
    uint64_t bytes;   /* of one that is kept, its file and the header of that */
    unsigned char head[KEPT_HEAD];
} set;

/* What a connection has. */
typedef struct connection {
    set *named;
    set *kept; /* the last one asked first */
    sqlite3_int64 keep_bytes;
    tamis_params seed; /* hash and seed of sets that are made here */
} connection;

void set_release(void *held);

/* A new set, held once, from a filter that it then owns; NULL without memory, and the filter is freed. */
set *set_new(tamis_filter *filter, const char *name, const char *source);
set *set_find(const connection *in, const char *name);
void set_add(connection *in, set *added);
bool set_drop(connection *in, const char *name);

/* A key as it was given. */
typedef struct set_key {
    tamis_key_form form;
    const void *data;
    size_t size;
    uint64_t number;
} set_key;

/* False: it is neither an integer nor text nor a blob; an error was given. */
bool set_key_of(sqlite3_context *call, sqlite3_value *value, set_key *key);
tamis_digest set_digest(const tamis_hasher *hasher, const set_key *key);

/* Answer whether a key is in the set.  One of another form than the set's is an error: it would be
 * absent; and so is damage that the question has met.  False: it was. */
bool set_answer(sqlite3_context *call, const tamis_filter *filter, sqlite3_value *value);

/* True for TAMIS_OK; else an error is given to the statement. */
bool set_expect(sqlite3_context *call, tamis_status status, const char *what, const char *reason);

/* A failure that is told as an error of the statement: by SQLITE_NOMEM the database would roll back the
 * transaction of the user, who has only asked for too much. */
void set_too_big(sqlite3_context *call, const char *what, uint64_t bytes);

/* A filter of the bytes of a value, or NULL, and an error was given. */
tamis_filter *set_decode(sqlite3_context *call, sqlite3_value *blob);
void set_encode(sqlite3_context *call, const tamis_filter *filter);

/* The set of a blob, or of the row that (table, column, rowid) names, held for the caller; NULL, and an error
 * was given. */
set *kept_set(sqlite3_context *call, sqlite3_value *blob);
set *kept_row(sqlite3_context *call, sqlite3_value **values);
void kept_forget(connection *in, const set *damaged);
void kept_begin(connection *in);
void kept_end(connection *in);

/* tamis_keep(): the bytes of sets that are kept; tamis_keep(bytes) says how many. */
void kept_limit(sqlite3_context *call, int n, sqlite3_value **values);

/* The aggregate tamis_build, and the table tamis_sets. */
void build_step(sqlite3_context *call, int n, sqlite3_value **values);
void build_final(sqlite3_context *call);
bool build_plan(sqlite3_context *call, double p, uint64_t n, tamis_plan *plan);
extern const sqlite3_module listing;

const char *set_form_name(tamis_key_form form);

#endif
