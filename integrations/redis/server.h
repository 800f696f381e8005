/* server.h - the part of the module interface of Redis and Valkey that this module uses
 *
 * A server hands a module no library to link with.  It passes a context whose first word is a function, and
 * that function fills in the address of each call by its name.  Both servers answer to the names that begin
 * with "RedisModule_".  The layout of the structs and the numbers are those of the documented interface; they
 * do not change, only more is added.  What is younger than Redis 7.0 is optional: the pointer is then NULL.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_REDIS_SERVER_H
#define TAMIS_REDIS_SERVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct server_context server_context;
typedef struct server_key server_key;
typedef struct server_string server_string;
typedef struct server_type server_type;
typedef struct server_io server_io;
typedef struct server_digest server_digest;
typedef struct server_defrag server_defrag;
typedef struct server_info server_info;
typedef struct server_command server_command;
typedef struct server_blocked server_blocked;

enum { SERVER_OK = 0, SERVER_ERR = 1 };
enum { SERVER_READ = 1 << 0, SERVER_WRITE = 1 << 1 }; /* of OpenKey */
enum { SERVER_KEY_EMPTY = 0, SERVER_KEY_MODULE = 6 }; /* of KeyType */
enum { SERVER_NOTIFY_MODULE = 1 << 13 };              /* the class of our events, 'd' */
enum {
    SERVER_HANDLE_IO_ERRORS = 1 << 0,
    SERVER_NO_IMPLICIT_SIGNAL = 1 << 1
}; /* of SetModuleOptions */
enum { SERVER_CONFIG_IMMUTABLE = 1 << 0, SERVER_CONFIG_MEMORY = 1 << 7 };
enum { /* of GetContextFlags */
       SERVER_IN_LUA = 1 << 0,
       SERVER_IN_MULTI = 1 << 1,
       SERVER_FROM_PRIMARY = 1 << 12,
       SERVER_IS_LOADING = 1 << 13,
       SERVER_DENY_BLOCKING = 1 << 21,
       SERVER_RESP3 = 1 << 22
};
#define SERVER_LENGTH_LATER (-1L) /* of ReplyWithArray: told by ReplySetArrayLength */
#define SERVER_WRONG_TYPE   "WRONGTYPE Operation against a key holding the wrong kind of value"

/* ---- types ---- */

#define SERVER_TYPE_VERSION 3
typedef struct server_type_methods {
    uint64_t version;
    void *(*rdb_load)(server_io *io, int version);
    void (*rdb_save)(server_io *io, void *value);
    void (*aof_rewrite)(server_io *io, server_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(server_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(server_io *io, int version, int when);
    void (*aux_save)(server_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(server_string *key, const void *value);
    void (*unlink)(server_string *key, const void *value);
    void *(*copy)(server_string *from, server_string *to, const void *value);
    int (*defrag)(server_defrag *ctx, server_string *key, void **value);
} server_type_methods;

/* ---- what COMMAND and COMMAND DOCS tell ---- */

enum {
    SERVER_ARG_STRING,
    SERVER_ARG_INTEGER,
    SERVER_ARG_DOUBLE,
    SERVER_ARG_KEY,
    SERVER_ARG_PATTERN,
    SERVER_ARG_TIME,
    SERVER_ARG_TOKEN,
    SERVER_ARG_ONE_OF,
    SERVER_ARG_BLOCK
};
enum { SERVER_ARG_OPTIONAL = 1 << 0, SERVER_ARG_MULTIPLE = 1 << 1 };

typedef struct server_arg {
    const char *name;
    int type;
    int key_spec;
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct server_arg *parts; /* ends with a zeroed one */
    const char *display_text;
} server_arg;

enum {
    SERVER_SPEC_RO = 1 << 0,
    SERVER_SPEC_RW = 1 << 1,
    SERVER_SPEC_ACCESS = 1 << 4,
    SERVER_SPEC_UPDATE = 1 << 5,
    SERVER_SPEC_INSERT = 1 << 6,
    SERVER_SPEC_DELETE = 1 << 7
};
enum { SERVER_SEARCH_INDEX = 2, SERVER_FIND_RANGE = 2 };

typedef struct server_key_spec {
    const char *notes;
    uint64_t flags;
    int search;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int start_from;
        } keyword;
    } begin;
    int find;
    union {
        struct {
            int last_key, key_step, limit;
        } range;
        struct {
            int key_num, first_key, key_step;
        } number;
    } keys;
} server_key_spec;

typedef struct server_command_history {
    const char *since, *changes;
} server_command_history;

typedef struct server_command_version {
    int version;
    size_t size_of_history, size_of_key_spec, size_of_arg;
} server_command_version;

typedef struct server_command_info {
    const server_command_version *version;
    const char *summary, *complexity, *since;
    server_command_history *history;
    const char *tips;
    int arity;
    server_key_spec *key_specs; /* ends with a zeroed one */
    server_arg *args;           /* likewise */
} server_command_info;

/* ---- callbacks ---- */

typedef int server_handler(server_context *ctx, server_string **argv, int argc);
typedef void server_info_handler(server_info *info, int for_crash_report);
typedef long long server_get_number(const char *name, void *data);
typedef int server_set_number(const char *name, long long value, void *data, server_string **error);
typedef int server_get_bool(const char *name, void *data);
typedef int server_set_bool(const char *name, int value, void *data, server_string **error);
typedef server_string *server_get_string(const char *name, void *data);
typedef int server_set_string(const char *name, server_string *value, void *data,
                              server_string **error);
typedef int server_apply(server_context *ctx, void *data, server_string **error);

/* ---- calls: X(result, name, arguments) ---- */

/* Every server since Redis 7.0 has these. */
#define SERVER_CALLS(X)                                                                            \
    X(int, IsModuleNameBusy, (const char *))                                                       \
    X(void, SetModuleAttribs, (server_context *, const char *, int, int))                          \
    X(void, SetModuleOptions, (server_context *, int))                                             \
    X(int, CreateCommand,                                                                          \
      (server_context *, const char *, server_handler *, const char *, int, int, int))             \
    X(server_command *, GetCommand, (server_context *, const char *))                              \
    X(int, SetCommandInfo, (server_command *, const server_command_info *))                        \
    X(int, WrongArity, (server_context *))                                                         \
    X(int, ReplyWithLongLong, (server_context *, long long))                                       \
    X(int, ReplyWithDouble, (server_context *, double))                                            \
    X(int, ReplyWithBool, (server_context *, int))                                                 \
    X(int, ReplyWithNull, (server_context *))                                                      \
    X(int, ReplyWithError, (server_context *, const char *))                                       \
    X(int, ReplyWithSimpleString, (server_context *, const char *))                                \
    X(int, ReplyWithCString, (server_context *, const char *))                                     \
    X(int, ReplyWithStringBuffer, (server_context *, const char *, size_t))                        \
    X(int, ReplyWithArray, (server_context *, long))                                               \
    X(int, ReplyWithMap, (server_context *, long))                                                 \
    X(void, ReplySetArrayLength, (server_context *, long))                                         \
    X(int, StringToLongLong, (const server_string *, long long *))                                 \
    X(int, StringToDouble, (const server_string *, double *))                                      \
    X(const char *, StringPtrLen, (const server_string *, size_t *))                               \
    X(server_string *, CreateString, (server_context *, const char *, size_t))                     \
    X(server_string *, CreateStringFromString, (server_context *, const server_string *))          \
    X(void, FreeString, (server_context *, server_string *))                                       \
    X(server_key *, OpenKey, (server_context *, server_string *, int))                             \
    X(void, CloseKey, (server_key *))                                                              \
    X(int, KeyType, (server_key *))                                                                \
    X(int, DeleteKey, (server_key *))                                                              \
    X(server_type *, ModuleTypeGetType, (server_key *))                                            \
    X(void *, ModuleTypeGetValue, (server_key *))                                                  \
    X(int, ModuleTypeSetValue, (server_key *, server_type *, void *))                              \
    X(int, SignalModifiedKey, (server_context *, server_string *))                                 \
    X(int, NotifyKeyspaceEvent, (server_context *, int, const char *, server_string *))            \
    X(int, Replicate, (server_context *, const char *, const char *, ...))                         \
    X(int, ReplicateVerbatim, (server_context *))                                                  \
    X(int, GetContextFlags, (server_context *))                                                    \
    X(int, GetSelectedDb, (server_context *))                                                      \
    X(int, SelectDb, (server_context *, int))                                                      \
    X(void *, TryAlloc, (size_t))                                                                  \
    X(void, Free, (void *))                                                                        \
    X(server_type *, CreateDataType,                                                               \
      (server_context *, const char *, int, const server_type_methods *))                          \
    X(void, SaveUnsigned, (server_io *, uint64_t))                                                 \
    X(uint64_t, LoadUnsigned, (server_io *))                                                       \
    X(void, SaveStringBuffer, (server_io *, const char *, size_t))                                 \
    X(char *, LoadStringBuffer, (server_io *, size_t *))                                           \
    X(int, IsIOError, (server_io *))                                                               \
    X(void, LogIOError, (server_io *, const char *, const char *, ...))                            \
    X(void, EmitAOF, (server_io *, const char *, const char *, ...))                               \
    X(void, DigestAddStringBuffer, (server_digest *, const char *, size_t))                        \
    X(void, DigestEndSequence, (server_digest *))                                                  \
    X(void *, DefragAlloc, (server_defrag *, void *))                                              \
    X(int, RegisterInfoFunc, (server_context *, server_info_handler *))                            \
    X(int, InfoAddSection, (server_info *, const char *))                                          \
    X(int, InfoAddFieldULongLong, (server_info *, const char *, unsigned long long))               \
    X(int, InfoAddFieldCString, (server_info *, const char *, const char *))                       \
    X(int, RegisterNumericConfig,                                                                  \
      (server_context *, const char *, long long, unsigned, long long, long long,                  \
       server_get_number *, server_set_number *, server_apply *, void *))                          \
    X(int, RegisterBoolConfig,                                                                     \
      (server_context *, const char *, int, unsigned, server_get_bool *, server_set_bool *,        \
       server_apply *, void *))                                                                    \
    X(int, RegisterStringConfig,                                                                   \
      (server_context *, const char *, const char *, unsigned, server_get_string *,                \
       server_set_string *, server_apply *, void *))                                               \
    X(int, LoadConfigs, (server_context *))                                                        \
    X(server_blocked *, BlockClient,                                                               \
      (server_context *, server_handler *, server_handler *, void (*)(server_context *, void *),   \
       long long))                                                                                 \
    X(int, UnblockClient, (server_blocked *, void *))                                              \
    X(int, AbortBlock, (server_blocked *))                                                         \
    X(server_context *, GetThreadSafeContext, (server_blocked *))                                  \
    X(void, FreeThreadSafeContext, (server_context *))                                             \
    X(void, ThreadSafeContextLock, (server_context *))                                             \
    X(void, ThreadSafeContextUnlock, (server_context *))                                           \
    X(void, Log, (server_context *, const char *, const char *, ...))

/* Some have these. */
#define SERVER_CALLS_OPTIONAL(X)                                                                   \
    X(int, AddACLCategory, (server_context *, const char *))                                       \
    X(int, SetCommandACLCategories, (server_command *, const char *))

/* NOLINTNEXTLINE(bugprone-macro-parentheses): these are declarations */
#define SERVER_CALL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct server_calls {
    SERVER_CALLS(SERVER_CALL_MEMBER)
    SERVER_CALLS_OPTIONAL(SERVER_CALL_MEMBER)
} server_calls;

/* Filled in once, when the module is loaded. */
extern server_calls server;

/* Ask the server for all calls.  The name of the first that it does not have, or NULL. */
const char *server_connect(server_context *ctx);

#endif
