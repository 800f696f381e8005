/* server.c - asks the server for the calls of its module interface
 *
 * SPDX-License-Identifier: MIT
 */
#include "server.h"

#include <string.h>

server_calls server;

typedef int server_ask(const char *name, void *target);

/* A pointer to a function is copied as bytes: C has no conversion between it and a pointer to data. */
static const char *server_connect_one(server_ask *ask, const char *name, void *target) {
    return ask(name, target) == SERVER_OK ? NULL : name;
}

const char *server_connect(server_context *ctx) {
    server_ask *ask;
    memcpy(&ask, (const void *)ctx, sizeof ask);
    const char *missing = NULL;
#define SERVER_CALL_ASK(result, name, arguments)                                                   \
    if (missing == NULL)                                                                           \
        missing = server_connect_one(ask, "RedisModule_" #name, &server.name);
    SERVER_CALLS(SERVER_CALL_ASK)
    if (missing != NULL)
        return missing;
        /* Those may stay NULL. */
#define SERVER_CALL_TRY(result, name, arguments)                                                   \
    (void)server_connect_one(ask, "RedisModule_" #name, &server.name);
    SERVER_CALLS_OPTIONAL(SERVER_CALL_TRY)
    return NULL;
}
