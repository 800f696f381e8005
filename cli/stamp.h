/* stamp.h - the time that a line tells
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_STAMP_H
#define TAMIS_CLI_STAMP_H

#include <tamis/tamis.h>

#define STAMP_SECOND 1000000 /* stamps are microseconds since 1970 in UTC, without leap seconds */
#define STAMP_NONE   INT64_MIN

/* Where the time of a line is, and how it is written. */
typedef struct stamp_form {
    uint64_t field;     /* it begins with this field of the line, from 1 on; 0: lines have none */
    const char *format; /* as strptime has it; NULL: ISO 8601, or seconds since 1970 */
    char delimiter;     /* of fields; NUL: any blanks */
    bool carry;         /* a line without it has STAMP_NONE, and is not trouble */
} stamp_form;

/* What was read so far. */
typedef struct stamp_state {
    int year;            /* of the last stamp, for formats without a year */
    int64_t last;        /* the last stamp, if there is a year */
    unsigned char *rest; /* of the last line, without its stamp */
    size_t room;
} stamp_state;

/* Is the format one that can be read?  false after a complaint. */
bool stamp_format_check(const char *command, const char *format);

/* Read the time of a line, and take it out: with the separator after it, or, if it is the last field,
 * before it. NULL, or what is wrong; 'line' is then unchanged.  The line is valid until the next call. */
const char *stamp_take(const stamp_form *form, stamp_state *state, tamis_bytes *line,
                       int64_t *when);

void stamp_free(stamp_state *state);

#endif
