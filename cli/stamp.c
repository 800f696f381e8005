/* stamp.c - the time that a line tells
 *
 * strptime and timegm are not in every C library, and depend on locale and zone.  Here months and days have
 * their English names, and a time without a zone is in UTC, on every system.
 *
 * A stamp begins with its field and ends where the format does, so that it may contain the separator of
 * fields.  A format without a year, as that of syslog, takes the year that is nearest to the stamp before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/stamp.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define YEAR_FIRST 2000 /* if no stamp told it: one that has a February 29 */

/* Text that is being read. */
typedef struct scan {
    const char *at, *end;
} scan;

/* What was read of a time. */
typedef struct parts {
    int year, month, day; /* year 0: none was read */
    int hour, minute, second;
    int64_t micro;   /* of the second */
    int zone;        /* seconds east of Greenwich */
    int half;        /* 0 am, 1 pm, -1: hours go to 23 */
    bool is_counted; /* 'counted' was read instead, the microseconds since 1970 */
    int64_t counted;
} parts;

/* -------------------------------------------------------------------------------------------------
 * The calendar
 */

static bool is_leap(int year) {
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from the first of January of year 1 to that of another one. */
static int64_t days_before(int year) {
    const int64_t y = year - 1;
    return 365 * y + y / 4 - y / 100 + y / 400;
}

/* false if there is no such time. */
static bool stamp_of(const parts *p, int year, int64_t *when) {
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    if (year < 1 || year > 9999 || p->month < 1 || p->month > 12 || p->hour > 23 ||
        p->minute > 59 || p->second > 60)
        return false;
    const int leap = is_leap(year);
    const int length = before[p->month] - before[p->month - 1] + (leap && p->month == 2);
    if (p->day < 1 || p->day > length)
        return false;
    const int64_t days = days_before(year) - days_before(1970) + before[p->month - 1] +
                         (leap && p->month > 2) + p->day - 1;
    const int64_t seconds = ((days * 24 + p->hour) * 60 + p->minute) * 60 + p->second - p->zone;
    *when = seconds * STAMP_SECOND + p->micro;
    return true;
}

static int64_t distance(int64_t a, int64_t b) {
    return a < b ? b - a : a - b;
}

/* The stamp of what was read; false if there is no such time. */
static bool stamp_finish(const parts *p, stamp_state *state, int64_t *when) {
    if (p->is_counted) {
        *when = p->counted;
        return true;
    }
    if (p->year != 0)
        return stamp_of(p, p->year, when);
    const int near = state->year != 0 ? state->year : YEAR_FIRST;
    int year = 0;
    for (int y = near - 1; y <= near + 1; y++) {
        int64_t found;
        if (!stamp_of(p, y, &found) || (state->year == 0 && y != near))
            continue;
        if (year == 0 || distance(found, state->last) < distance(*when, state->last)) {
            *when = found;
            year = y;
        }
    }
    if (year == 0)
        return false;
    state->year = year;
    state->last = *when;
    return true;
}

/* -------------------------------------------------------------------------------------------------
 * Numbers and names
 */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool take(scan *s, char c) {
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* A number of 'least' to 'most' digits. */
static bool number(scan *s, unsigned least, unsigned most, int *value) {
    unsigned n = 0;
    *value = 0;
    for (; n < most && s->at < s->end && is_digit(*s->at); n++)
        *value = *value * 10 + (*s->at++ - '0');
    return n >= least;
}

/* The digits of a fraction, as millionths; more of them are left out. */
static bool fraction(scan *s, int64_t *micro) {
    int64_t unit = STAMP_SECOND;
    const char *const from = s->at;
    *micro = 0;
    for (; s->at < s->end && is_digit(*s->at); s->at++) {
        unit /= 10;
        *micro += (*s->at - '0') * unit;
    }
    return s->at > from;
}

/* A whole number of a unit since 1970, up to the year 9999. */
static bool counted(scan *s, int64_t unit, int64_t *micro) {
    const int64_t most = (days_before(10000) - days_before(1970)) * 86400 * STAMP_SECOND;
    const bool negative = take(s, '-');
    const char *const from = s->at;
    int64_t value = 0;
    for (; s->at < s->end && is_digit(*s->at); s->at++) {
        if (value > most / unit / 10)
            return false;
        value = value * 10 + (*s->at - '0');
    }
    if (s->at == from || value > most / unit)
        return false;
    *micro = (negative ? -value : value) * unit;
    return true;
}

/* A zone: Z, UTC, GMT, +02, +0200, +02:00. */
static bool zone(scan *s, int *seconds) {
    int hours, minutes = 0;
    *seconds = 0;
    if (take(s, 'Z') || take(s, 'z'))
        return true;
    if (s->end - s->at >= 3 && (memcmp(s->at, "UTC", 3) == 0 || memcmp(s->at, "GMT", 3) == 0)) {
        s->at += 3;
        return true;
    }
    const bool west = take(s, '-');
    if ((!west && !take(s, '+')) || !number(s, 2, 2, &hours))
        return false;
    const scan before = *s;
    (void)take(s, ':');
    if (!number(s, 2, 2, &minutes)) {
        *s = before;
        minutes = 0;
    }
    *seconds = (west ? -1 : 1) * (hours * 60 + minutes) * 60;
    return hours < 24 && minutes < 60;
}

/* One of some names, each followed by a blank; at least three letters of it.  Its number, or -1. */
static int name(scan *s, const char *names) {
    for (int i = 0; *names != '\0'; i++) {
        const size_t size = strcspn(names, " ");
        size_t same = 0;
        while (same < size && s->at + same < s->end && (s->at[same] | 0x20) == names[same])
            same++;
        if (same == size || same >= 3) {
            s->at += same == size ? size : 3;
            return i;
        }
        names += size + 1;
    }
    return -1;
}

static const char months[] = "january february march april may june july august september october "
                             "november december ";
static const char weekdays[] = "monday tuesday wednesday thursday friday saturday sunday ";

/* -------------------------------------------------------------------------------------------------
 * Formats
 */

static bool blanks(scan *s) {
    while (s->at < s->end && is_blank(*s->at))
        s->at++;
    return true;
}

static bool clock_time(scan *s, parts *p) {
    return number(s, 1, 2, &p->hour) && take(s, ':') && number(s, 2, 2, &p->minute) &&
           take(s, ':') && number(s, 2, 2, &p->second);
}

static bool month_name(scan *s, parts *p) {
    p->month = name(s, months) + 1;
    return p->month > 0;
}

/* Two digits of a year: 69 is 1969 and 68 is 2068, as POSIX has it. */
static bool short_year(scan *s, parts *p) {
    if (!number(s, 2, 2, &p->year))
        return false;
    p->year += p->year < 69 ? 2000 : 1900;
    return true;
}

static bool absolute(scan *s, int64_t unit, parts *p) {
    p->is_counted = true;
    return counted(s, unit, &p->counted);
}

static bool second_fraction(scan *s, parts *p) {
    int64_t *const micro = &p->micro;
    if (!fraction(s, micro))
        return false;
    if (p->is_counted)
        p->counted += p->counted < 0 ? -*micro : *micro;
    return true;
}

static bool noon(scan *s, parts *p) {
    p->half = name(s, "am pm ");
    return p->half >= 0;
}

static const char directives[] = "YmdeHIMSyfbBhaApzZsQTDFRnt%";

/* What a letter of the format stands for. */
static bool directive(char letter, scan *s, parts *p) {
    switch (letter) {
    case 'Y':
        return number(s, 4, 4, &p->year) && p->year > 0;
    case 'y':
        return short_year(s, p);
    case 'm':
        return blanks(s) && number(s, 1, 2, &p->month);
    case 'd':
    case 'e':
        return blanks(s) && number(s, 1, 2, &p->day);
    case 'H':
    case 'I':
        return blanks(s) && number(s, 1, 2, &p->hour) && (letter == 'H' || p->hour <= 12);
    case 'M':
        return number(s, 1, 2, &p->minute);
    case 'S':
        return number(s, 1, 2, &p->second);
    case 'f':
        return second_fraction(s, p);
    case 'b':
    case 'B':
    case 'h':
        return month_name(s, p);
    case 'a':
    case 'A':
        return name(s, weekdays) >= 0;
    case 'p':
        return noon(s, p);
    case 'z':
    case 'Z':
        return zone(s, &p->zone);
    case 's':
        return absolute(s, STAMP_SECOND, p);
    case 'Q':
        return absolute(s, STAMP_SECOND / 1000, p);
    case 'T':
        return clock_time(s, p);
    case 'R':
        return number(s, 1, 2, &p->hour) && take(s, ':') && number(s, 2, 2, &p->minute);
    case 'F':
        return number(s, 4, 4, &p->year) && p->year > 0 && take(s, '-') &&
               number(s, 1, 2, &p->month) && take(s, '-') && number(s, 1, 2, &p->day);
    case 'D':
        return number(s, 1, 2, &p->month) && take(s, '/') && number(s, 1, 2, &p->day) &&
               take(s, '/') && short_year(s, p);
    case 'n':
    case 't':
        return blanks(s);
    default:
        return take(s, letter);
    }
}

bool stamp_format_check(const char *command, const char *format) {
    for (const char *f = strchr(format, '%'); f != NULL; f = strchr(f + 2, '%')) {
        if (f[1] != '\0' && strchr(directives, f[1]) != NULL)
            continue;
        complain(command,
                 "--time-format: %.2s is none of %%Y %%m %%d %%H %%M %%S %%b %%z %%s ... (see "
                 "tamis(1))",
                 f);
        return false;
    }
    return true;
}

static bool by_format(const char *format, scan *s, parts *p) {
    for (const char *f = format; *f != '\0'; f++) {
        if (is_blank(*f)) {
            (void)blanks(s);
        } else if (*f != '%') {
            if (!take(s, *f))
                return false;
        } else if (!directive(*++f, s, p)) {
            return false;
        }
    }
    if (p->half >= 0)
        p->hour = p->hour % 12 + 12 * p->half;
    return true;
}

static bool separates(const stamp_form *form, char c) {
    return form->delimiter != '\0' ? c == form->delimiter : is_blank(c);
}

/* A date, and perhaps a time and a zone, after ISO 8601 or with blanks between them; or a number of
 * seconds. */
static bool by_custom(const stamp_form *form, scan *s, parts *p) {
    const scan start = *s;
    if (!directive('F', s, p)) {
        *s = start;
        if (!absolute(s, STAMP_SECOND, p))
            return false;
        const bool negative = *start.at == '-';
        if (s->at == s->end || *s->at != '.')
            return true;
        s->at++;
        if (!fraction(s, &p->micro))
            return false;
        p->counted += negative ? -p->micro : p->micro;
        return true;
    }
    scan after = *s;
    const bool joined = take(s, 'T') || take(s, 't');
    if (!joined && !take(s, ' '))
        return true;
    if (!directive('R', s, p)) { /* what follows the blank is something else */
        *s = after;
        p->hour = p->minute = 0;
        return !joined;
    }
    if (take(s, ':') && !number(s, 2, 2, &p->second))
        return false;
    after = *s;
    if ((!take(s, '.') && (form->delimiter == ',' || !take(s, ','))) || !fraction(s, &p->micro))
        *s = after;
    after = *s;
    const bool blank = take(s, ' ');
    if (!zone(s, &p->zone) || (blank && s->at < s->end && !separates(form, *s->at))) {
        *s = after;
        p->zone = 0;
    }
    return true;
}

/* -------------------------------------------------------------------------------------------------
 * Lines
 */

/* Go to the first byte of the field.  false if there are too few. */
static bool find_field(const stamp_form *form, scan *s) {
    for (uint64_t field = 1;; field++) {
        if (form->delimiter == '\0')
            (void)blanks(s);
        if (field == form->field)
            return s->at < s->end;
        while (s->at < s->end && !separates(form, *s->at))
            s->at++;
        if (s->at == s->end)
            return false;
        s->at++;
    }
}

/* The line without what is from 'begin' to 'end'. */
static bool join(stamp_state *state, tamis_bytes *line, const char *begin, const char *end) {
    const char *const from = line->data;
    const size_t first = (size_t)(begin - from), second = line->size - (size_t)(end - from);
    if (first == 0 || second == 0) {
        *line = (tamis_bytes){first == 0 ? end : from, first + second};
        return true;
    }
    if (first + second > state->room) {
        unsigned char *const more = realloc(state->rest, 2 * (first + second));
        if (more == NULL)
            return false;
        state->rest = more;
        state->room = 2 * (first + second);
    }
    memcpy(state->rest, from, first);
    memcpy(state->rest + first, end, second);
    *line = (tamis_bytes){state->rest, first + second};
    return true;
}

const char *stamp_take(const stamp_form *form, stamp_state *state, tamis_bytes *line,
                       int64_t *when) {
    static const char unread[] =
        "has no time that can be read where --time-field says (see --time-format, --unstamped)";
    const char *const from = line->data;
    parts p = {.month = 1, .day = 1, .half = -1};
    scan s = {from, from + line->size};

    if (line->size > 0 && s.end[-1] == '\r')
        s.end--;
    const bool found = line->size > 0 && find_field(form, &s);
    const char *begin = s.at;
    if (!found ||
        !(form->format != NULL ? by_format(form->format, &s, &p) : by_custom(form, &s, &p)) ||
        (s.at < s.end && !separates(form, *s.at)) || !stamp_finish(&p, state, when)) {
        *when = STAMP_NONE;
        return form->carry ? NULL : unread;
    }
    if (s.at == s.end) {
        do {
            begin -= begin > from;
        } while (form->delimiter == '\0' && begin > from && is_blank(begin[-1]));
    } else if (form->delimiter != '\0') {
        s.at++;
    } else {
        (void)blanks(&s);
    }
    return join(state, line, begin, s.at) ? NULL : "is too long for the memory there is";
}

void stamp_free(stamp_state *state) {
    free(state->rest);
}
