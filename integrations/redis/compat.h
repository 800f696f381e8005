/* compat.h - what the files of compat share
 *
 * Arguments, answers and errors are those of RedisBloom; the sets are ours.  BF is a set that grows at the
 * error rate that is given.  CF, of which one cannot choose the rate elsewhere, is a multiset that can
 * delete, at the rate tamis.error-rate.  All commands TAMIS.* work on them too.  What differs is in
 * docs/redis.md.
 *
 * Errors are those of the other module to the letter, with and without ERR in front: clients compare them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_REDIS_COMPAT_H
#define TAMIS_REDIS_COMPAT_H

#include "commands.h"

/* Numbers that a filter has there for which nobody asked. */
#define COMPAT_BUCKET_SIZE    2
#define COMPAT_MAX_ITERATIONS 20
#define COMPAT_EXPANSION_BF   2
#define COMPAT_EXPANSION_CF   1

/* A cuckoo filter takes keys until it has this many filters, each 'expansion' times as large as the one
 * before. */
#define COMPAT_MAX_EXPANSIONS 32

/* What RESERVE and INSERT are asked for. */
typedef struct compat_options {
    request request;
    bool no_create;
    int first_item; /* behind ITEMS */
} compat_options;

/* ---- compat_options.c ---- */

/* What a command without options asks for. */
void compat_default(compat_options *o, bool cuckoo);

/* Read the arguments of a command.  NULL; or what is wrong, which is COMPAT_ARITY for a wrong number. */
#define COMPAT_ARITY ""
const char *compat_read_bf_reserve(server_string **argv, int argc, compat_options *o);
const char *compat_read_bf_insert(server_string **argv, int argc, compat_options *o);
const char *compat_read_cf_reserve(server_string **argv, int argc, compat_options *o);
const char *compat_read_cf_insert(server_string **argv, int argc, compat_options *o);

/* ---- compat_tell.c ---- */
server_handler compat_bf_info, compat_cf_info;
server_handler compat_bf_scandump, compat_cf_scandump;
server_handler compat_bf_loadchunk, compat_cf_loadchunk;

#endif
