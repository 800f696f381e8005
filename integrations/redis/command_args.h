/* command_args.h - arguments of commands as COMMAND DOCS tells them
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_REDIS_COMMAND_ARGS_H
#define TAMIS_REDIS_COMMAND_ARGS_H

#include "server.h"

#define A_KEY(text)                                                                                \
    { .name = (text), .type = SERVER_ARG_KEY, .key_spec = 0 }
#define A_KEYS(text)                                                                               \
    { .name = (text), .type = SERVER_ARG_KEY, .key_spec = 0, .flags = SERVER_ARG_MULTIPLE }
#define A_ONE(text, form)                                                                          \
    { .name = (text), .type = (form), .key_spec = -1 }
#define A_MANY(text, form)                                                                         \
    { .name = (text), .type = (form), .key_spec = -1, .flags = SERVER_ARG_MULTIPLE }
#define A_MAY(text, form)                                                                          \
    { .name = (text), .type = (form), .key_spec = -1, .flags = SERVER_ARG_OPTIONAL }
#define A_TOKEN(text, word)                                                                        \
    { .name = (text), .type = SERVER_ARG_TOKEN, .key_spec = -1, .token = (word) }
#define A_FLAG(text, word)                                                                         \
    {                                                                                              \
        .name = (text), .type = SERVER_ARG_TOKEN, .key_spec = -1, .token = (word),                 \
        .flags = SERVER_ARG_OPTIONAL                                                               \
    }
#define A_OPTION(text, form, word)                                                                 \
    {                                                                                              \
        .name = (text), .type = (form), .key_spec = -1, .token = (word),                           \
        .flags = SERVER_ARG_OPTIONAL                                                               \
    }
#define A_CHOICE(text, list)                                                                       \
    {                                                                                              \
        .name = (text), .type = SERVER_ARG_ONE_OF, .key_spec = -1, .flags = SERVER_ARG_OPTIONAL,   \
        .parts = (list)                                                                            \
    }
#define A_END                                                                                      \
    { .name = NULL }

#endif
