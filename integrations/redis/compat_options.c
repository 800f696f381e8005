/* compat_options.c - arguments of the commands of other filters
 *
 * SPDX-License-Identifier: MIT
 */
#include "compat.h"

#include <inttypes.h>
#include <stdio.h>

#define TEXT(number)  TEXT_(number)
#define TEXT_(number) #number
#define CAPACITY_MOST "1099511627776"

void compat_default(compat_options *o, bool cuckoo) {
    *o = (compat_options){.no_create = false};
    request_default(&o->request);
    o->request.need.n = cuckoo ? 1024 : 100;
    o->request.need.deletes = cuckoo;
    o->request.like = (set_like){COMPAT_BUCKET_SIZE, COMPAT_MAX_ITERATIONS,
                                 cuckoo ? COMPAT_EXPANSION_CF : COMPAT_EXPANSION_BF};
}

/* A set that never grows. */
static void compat_fix(request *r) {
    r->grows = r->need.grows = false;
}

/* A number from 'least' to 'most'.  NULL; 'unread' if it is none, 'outside' if it is another one. */
static const char *compat_number(const server_string *text, uint64_t least, uint64_t most,
                                 uint64_t *number, const char *unread, const char *outside) {
    long long value;
    if (server.StringToLongLong(text, &value) != SERVER_OK)
        return unread;
    if (value < 0 || (uint64_t)value < least || (uint64_t)value > most)
        return outside;
    *number = (uint64_t)value;
    return NULL;
}

/* An error rate; the same. */
static const char *compat_rate(const server_string *text, double *rate, const char *unread,
                               const char *outside) {
    double value;
    if (server.StringToDouble(text, &value) != SERVER_OK)
        return unread;
    if (!(value > 0 && value < 1))
        return outside;
    *rate = value;
    return NULL;
}

const char *compat_read_bf_reserve(server_string **argv, int argc, compat_options *o) {
    request *const r = &o->request;
    compat_default(o, false);
    if (argc < 4 || argc > 7)
        return COMPAT_ARITY;
    const char *wrong = compat_rate(argv[2], &r->need.fpr, "ERR bad error rate",
                                    "ERR error rate must be in the range (0.000000, 1.000000)");
    if (wrong == NULL)
        wrong = compat_number(argv[3], 1, TAMIS_CAPACITY_MAX, &r->need.n, "ERR bad capacity",
                              "ERR capacity must be in the range [1, " CAPACITY_MOST "]");
    bool fixed = false, told = false;
    for (int i = 4; wrong == NULL && i < argc; i++) {
        if (argument_is(argv[i], "NONSCALING")) {
            fixed = true;
        } else if (!argument_is(argv[i], "EXPANSION")) {
            wrong = "ERR syntax error";
        } else if (i + 1 == argc) {
            wrong = "ERR no expansion";
        } else {
            told = true;
            wrong = compat_number(
                argv[++i], 0, LIKE_EXPANSION_MAX, &r->like.expansion, "ERR bad expansion",
                "ERR expansion must be in the range [0, " TEXT(LIKE_EXPANSION_MAX) "]");
        }
    }
    if (wrong == NULL && fixed && told && r->like.expansion != 0)
        wrong = "Nonscaling filters cannot expand";
    if (fixed || r->like.expansion == 0)
        compat_fix(r);
    return wrong;
}

const char *compat_read_bf_insert(server_string **argv, int argc, compat_options *o) {
    request *const r = &o->request;
    compat_default(o, false);
    if (argc < 4)
        return COMPAT_ARITY;
    const char *wrong = NULL;
    for (int i = 2; wrong == NULL && o->first_item == 0 && i < argc; i++) {
        const bool more = i + 1 < argc;
        if (argument_is(argv[i], "ITEMS") && more)
            o->first_item = i + 1;
        else if (argument_is(argv[i], "NOCREATE"))
            o->no_create = true;
        else if (argument_is(argv[i], "NONSCALING"))
            compat_fix(r);
        else if (!more)
            wrong = COMPAT_ARITY;
        else if (argument_is(argv[i], "ERROR"))
            wrong = compat_rate(argv[++i], &r->need.fpr, "Bad error rate", "Bad error rate");
        else if (argument_is(argv[i], "CAPACITY"))
            wrong = compat_number(argv[++i], 1, TAMIS_CAPACITY_MAX, &r->need.n, "Bad capacity",
                                  "Bad capacity");
        else if (argument_is(argv[i], "EXPANSION"))
            wrong = compat_number(argv[++i], 0, LIKE_EXPANSION_MAX, &r->like.expansion,
                                  "Bad expansion", "Bad expansion");
        else
            wrong = "Unknown argument received";
    }
    if (r->like.expansion == 0)
        compat_fix(r);
    return wrong == NULL && o->first_item == 0 ? COMPAT_ARITY : wrong;
}

const char *compat_read_cf_reserve(server_string **argv, int argc, compat_options *o) {
    request *const r = &o->request;
    compat_default(o, true);
    if (argc < 3 || argc % 2 == 0)
        return COMPAT_ARITY;
    const char *const range = "Capacity must be in the range [2 * BUCKETSIZE, " CAPACITY_MOST "]";
    const char *wrong =
        compat_number(argv[2], 0, TAMIS_CAPACITY_MAX, &r->need.n, "Bad capacity", range);
    for (int i = 3; wrong == NULL && i < argc; i += 2) {
        if (argument_is(argv[i], "MAXITERATIONS"))
            wrong = compat_number(
                argv[i + 1], 1, LIKE_ITERATIONS_MAX, &r->like.max_iterations,
                "Couldn't parse MAXITERATIONS",
                "MAXITERATIONS: value must be in the range [1, " TEXT(LIKE_ITERATIONS_MAX) "]");
        else if (argument_is(argv[i], "BUCKETSIZE"))
            wrong = compat_number(
                argv[i + 1], 1, LIKE_BUCKET_MAX, &r->like.bucket_size, "Couldn't parse BUCKETSIZE",
                "BUCKETSIZE: value must be in the range [1, " TEXT(LIKE_BUCKET_MAX) "]");
        else if (argument_is(argv[i], "EXPANSION"))
            wrong = compat_number(
                argv[i + 1], 0, LIKE_EXPANSION_MAX, &r->like.expansion, "Couldn't parse EXPANSION",
                "EXPANSION: value must be in the range [0, " TEXT(LIKE_EXPANSION_MAX) "]");
        else
            wrong = "ERR syntax error";
    }
    if (r->like.expansion == 0)
        compat_fix(r);
    return wrong == NULL && r->need.n < 2 * r->like.bucket_size ? range : wrong;
}

const char *compat_read_cf_insert(server_string **argv, int argc, compat_options *o) {
    compat_default(o, true);
    if (argc < 4)
        return COMPAT_ARITY;
    const char *wrong = NULL;
    for (int i = 2; wrong == NULL && o->first_item == 0 && i < argc; i++) {
        const bool more = i + 1 < argc;
        if (argument_is(argv[i], "ITEMS") && more)
            o->first_item = i + 1;
        else if (argument_is(argv[i], "NOCREATE"))
            o->no_create = true;
        else if (!more)
            wrong = COMPAT_ARITY;
        else if (argument_is(argv[i], "CAPACITY"))
            wrong = compat_number(
                argv[++i], 2 * COMPAT_BUCKET_SIZE, TAMIS_CAPACITY_MAX, &o->request.need.n,
                "Bad capacity",
                "Capacity must be in the range [cf-bucket-size * 2, " CAPACITY_MOST "]");
        else
            wrong = "Unknown argument received";
    }
    return wrong == NULL && o->first_item == 0 ? COMPAT_ARITY : wrong;
}
