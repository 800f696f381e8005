/* json.c - a writer of JSON documents
 *
 * The output is always valid JSON (RFC 8259): strings are escaped, invalid UTF-8 becomes U+FFFD, and
 * numbers that JSON does not know become null.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Up to here every integer is a double. */
#define EXACT_MAX ((uint64_t)1 << 53)

void json_start(json *j, FILE *out) {
    *j = (json){.out = out};
}

unsigned utf8_length(const unsigned char *s) {
    static const struct {
        unsigned char first_min, first_max, second_min, second_max, length;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};

    if (s[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].first_min || s[0] > forms[i].first_max)
            continue;
        if (s[1] < forms[i].second_min || s[1] > forms[i].second_max)
            return 0;
        for (unsigned k = 2; k < forms[i].length; k++) {
            if (s[k] < 0x80 || s[k] > 0xBF)
                return 0;
        }
        return forms[i].length;
    }
    return 0;
}

static void put_string(FILE *out, const char *text) {
    const unsigned char *s = (const unsigned char *)text;

    putc('"', out);
    while (*s != '\0') {
        const unsigned length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
            s++;
        } else if (*s == '"' || *s == '\\') {
            putc('\\', out);
            putc(*s++, out);
        } else if (*s < 0x20 || *s == 0x7F) {
            fprintf(out, "\\u%04x", *s++);
        } else {
            fwrite(s, 1, length, out);
            s += length;
        }
    }
    putc('"', out);
}

/* Comma, line and name: everything before a value. */
static void put_start(json *j, const char *name) {
    if (j->depth > 0) {
        const bool compact = j->level[j->depth - 1].compact;
        if (!j->level[j->depth - 1].empty)
            fputs(compact ? ", " : ",", j->out);
        j->level[j->depth - 1].empty = false;
        if (!compact)
            fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
    }
    if (name != NULL) {
        put_string(j->out, name);
        fputs(": ", j->out);
    }
}

void json_open(json *j, const char *name, char bracket, bool compact) {
    put_start(j, name);
    putc(bracket, j->out);
    if (j->depth == JSON_DEPTH)
        abort(); /* the documents of this program are flat */
    j->level[j->depth].close = bracket == '{' ? '}' : ']';
    j->level[j->depth].compact = compact;
    j->level[j->depth].empty = true;
    j->depth++;
}

void json_close(json *j) {
    j->depth--;
    if (!j->level[j->depth].compact && !j->level[j->depth].empty)
        fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
    putc(j->level[j->depth].close, j->out);
}

void json_text(json *j, const char *name, const char *text) {
    put_start(j, name);
    put_string(j->out, text);
}

void json_u64(json *j, const char *name, uint64_t value) {
    put_start(j, name);
    fprintf(j->out, value <= EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

void json_seed(json *j, hash_seed seed) {
    char text[TEXT_SEED];
    put_start(j, "seed");
    if (seed.high == 0)
        fprintf(j->out, "\"%" PRIu64 "\"", seed.low);
    else
        fprintf(j->out, "\"%s\"", text_seed(seed, text));
}

void json_real(json *j, const char *name, double value) {
    if (!isfinite(value)) {
        json_null(j, name);
        return;
    }
    put_start(j, name);
    /* The fewest digits that give the same number back. */
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, j->out);
}

void json_bool(json *j, const char *name, bool value) {
    put_start(j, name);
    fputs(value ? "true" : "false", j->out);
}

void json_null(json *j, const char *name) {
    put_start(j, name);
    fputs("null", j->out);
}

void json_params(json *j, const tamis_params *params) {
    json_open(j, "params", '{', true);
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++) {
        const char *const name = tamis_param_name(params->kind, i);
        if (name == NULL)
            break;
        json_u64(j, name, params->value[i]);
    }
    json_close(j);
}

void json_end(json *j) {
    putc('\n', j->out);
}
