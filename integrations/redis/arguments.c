/* arguments.c - what commands are asked for
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <tamis/window.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

tamis_bytes argument_bytes(const server_string *text) {
    tamis_bytes bytes;
    bytes.data = server.StringPtrLen(text, &bytes.size);
    return bytes;
}

bool argument_is(const server_string *text, const char *word) {
    const tamis_bytes bytes = argument_bytes(text);
    return bytes.size == strlen(word) && strncasecmp(bytes.data, word, bytes.size) == 0;
}

/* A copy that ends with zero; false if it is too long, empty or has a zero inside. */
static bool argument_text(const server_string *text, char *copy, size_t room) {
    const tamis_bytes bytes = argument_bytes(text);
    if (bytes.size == 0 || bytes.size >= room || memchr(bytes.data, '\0', bytes.size) != NULL)
        return false;
    memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    return true;
}

/* Decimal digits; '*end' is set behind them. */
static bool argument_digits(const char *text, const char **end, uint64_t *number) {
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    *end = p;
    return p != text;
}

bool argument_number(const server_string *text, uint64_t most, uint64_t *number) {
    char copy[32];
    const char *end;
    uint64_t value;
    if (!argument_text(text, copy, sizeof copy) || !argument_digits(copy, &end, &value) ||
        *end != '\0' || value > most)
        return false;
    *number = value;
    return true;
}

bool argument_pair(const server_string *text, uint64_t *first, uint64_t *second) {
    char copy[64];
    const char *end;
    return argument_text(text, copy, sizeof copy) && argument_digits(copy, &end, first) &&
           *end == '-' && argument_digits(end + 1, &end, second) && *end == '\0';
}

bool argument_rate(const server_string *text, double *rate) {
    char copy[64];
    if (!argument_text(text, copy, sizeof copy))
        return false;
    char *end;
    const double value = strtod(copy, &end);
    if (*end != '\0' || !(value > 0 && value < 1))
        return false;
    *rate = value;
    return true;
}

static bool argument_seed(const server_string *text, tamis_params *params) {
    char copy[64];
    return argument_text(text, copy, sizeof copy) && tamis_seed_parse(copy, params) == TAMIS_OK;
}

/* What PARAMS has: kind, capacity, stash, upper and lower seed, bits of the planned rate, values. */
static bool argument_exact(const server_string *text, tamis_params *params) {
    char copy[ARGUMENT_PARAMS];
    if (!argument_text(text, copy, sizeof copy))
        return false;
    uint64_t number[6 + TAMIS_PARAMS_MAX];
    const char *at = copy;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (!argument_digits(at, &at, &number[i]))
            return false;
        if (*at != (i + 1 < sizeof number / sizeof *number ? ',' : '\0'))
            return false;
        at++;
    }
    if (number[0] > 63)
        return false;
    tamis_params_init(params);
    params->kind = (tamis_kind)number[0];
    params->capacity = number[1];
    params->stash = number[2];
    params->seed_high = number[3];
    params->seed = number[4];
    memcpy(&params->fpr, number + 5, sizeof params->fpr);
    memcpy(params->value, number + 6, sizeof params->value);
    return (params->seed | params->seed_high) != 0 && params->fpr >= 0 && params->fpr < 1;
}

bool argument_like(const server_string *text, set_like *like) {
    char copy[64];
    const char *at = copy;
    uint64_t number[3];
    if (!argument_text(text, copy, sizeof copy))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!argument_digits(at, &at, &number[i]) || *at++ != (i < 2 ? ',' : '\0'))
            return false;
    *like = (set_like){number[0], number[1], number[2]};
    return like_sound(like);
}

void argument_params(const tamis_params *params, char *text) {
    uint64_t fpr;
    memcpy(&fpr, &params->fpr, sizeof fpr);
    int at = snprintf(
        text, ARGUMENT_PARAMS, "%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
        (int)params->kind, params->capacity, params->stash, params->seed_high, params->seed, fpr);
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++)
        at += snprintf(text + at, ARGUMENT_PARAMS - (size_t)at, ",%" PRIu64, params->value[i]);
}

void request_default(request *r) {
    memset(r, 0, sizeof *r);
    tamis_need_init(&r->need);
    tamis_params_init(&r->params);
    r->need.n = (uint64_t)settings.capacity;
    r->need.fpr = settings.fpr;
    r->need.deletes = settings.deletes;
    r->need.grows = r->grows = true;
}

/* A kind by its name.  An error lists the names that there are, or says what took the place of one. */
static const char *argument_kind(const server_string *text, tamis_kind *kind) {
    static char wrong[512];
    char name[32];
    if (argument_text(text, name, sizeof name) && tamis_kind_parse(name, kind) == TAMIS_OK)
        return NULL;
    if (argument_is(text, "line-set"))
        return "ERR there is no kind line-set any more: use line";
    size_t at =
        (size_t)snprintf(wrong, sizeof wrong, "ERR there is no such kind of set; there are");
    for (int i = 1; i < 64 && at < sizeof wrong; i++) {
        const char *const one = tamis_kind_name((tamis_kind)i);
        if (one != NULL)
            at += (size_t)snprintf(wrong + at, sizeof wrong - at, "%s %s", i > 1 ? "," : "", one);
    }
    return wrong;
}

const char *request_read(server_string **argv, int argc, int first, request *r) {
    request_default(r);
    r->need.deletes = false;
    if (first + 1 >= argc)
        return "ERR syntax error";
    if (!argument_number(argv[first], TAMIS_CAPACITY_MAX, &r->need.n) || r->need.n == 0)
        return "ERR n must be a whole number from 1 to 1099511627776";
    if (!argument_rate(argv[first + 1], &r->need.fpr))
        return "ERR p must be an error rate above 0 and below 1";
    for (int i = first + 2; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (argument_is(argv[i], "DELETES")) {
            r->need.deletes = true;
        } else if (argument_is(argv[i], "GROW") || argument_is(argv[i], "FIXED")) {
            r->need.grows = r->grows = argument_is(argv[i], "GROW");
        } else if (argument_is(argv[i], "KIND") && more) {
            const char *const wrong = argument_kind(argv[++i], &r->need.kind);
            if (wrong != NULL)
                return wrong;
        } else if (argument_is(argv[i], "WINDOW") && more) {
            uint64_t ticks;
            if (!argument_number(argv[++i], TAMIS_WINDOW_TICKS_MAX, &ticks) || ticks == 0)
                return "ERR a window has 1 to 126 ticks";
            r->need.ticks = (unsigned)ticks;
        } else if (argument_is(argv[i], "SEED") && more) {
            if (!argument_seed(argv[++i], &r->params))
                return "ERR a seed is a number from 1 to 2^64 - 1, or up to 32 digits after 0x";
        } else if (argument_is(argv[i], "PARAMS") && more) {
            if (!argument_exact(argv[++i], &r->params))
                return "ERR the parameters are not those of a set";
            r->exact = true;
        } else if (argument_is(argv[i], "COMPAT") && more) {
            if (!argument_like(argv[++i], &r->like))
                return "ERR these are not numbers of another filter";
        } else {
            return "ERR syntax error";
        }
    }
    return NULL;
}

/* Planning takes some ten milliseconds, up to a hundred, and the same need has the same plan. */
tamis_status request_plan(const request *r, tamis_plan *plan) {
    static tamis_need last;
    static tamis_plan last_plan;
    const tamis_need *const need = &r->need;
    if (last.n != need->n || last.fpr != need->fpr || last.kind != need->kind ||
        last.deletes != need->deletes || last.grows != need->grows || last.ticks != need->ticks) {
        tamis_plan_init(plan);
        const tamis_status status = tamis_plan_make(&r->need, plan);
        if (status != TAMIS_OK)
            return status;
        last = r->need;
        last_plan = *plan;
    }
    *plan = last_plan;
    plan->params.seed = r->params.seed;
    plan->params.seed_high = r->params.seed_high;
    return TAMIS_OK;
}
