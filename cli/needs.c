/* needs.c - what a set is for, as options
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <tamis/window.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool option_size(const char *command, const char *option, const char *text, uint64_t *value) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},         {"B", 1},      {"K", 0x1p10},   {"KiB", 0x1p10}, {"kB", 1e3},
                 {"KB", 1e3},     {"M", 0x1p20}, {"MiB", 0x1p20}, {"MB", 1e6},     {"G", 0x1p30},
                 {"GiB", 0x1p30}, {"GB", 1e9},   {"T", 0x1p40},   {"TiB", 0x1p40}, {"TB", 1e12}};
    char *end;
    const double number = strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        const double bytes = number * units[i].bytes;
        if (bytes >= 1 && bytes <= 0x1p50) {
            *value = (uint64_t)bytes;
            return true;
        }
        complain(command, "%s: %s is out of range, a size is 1 byte to 1024 TiB", option, text);
        return false;
    }
    complain(command, "%s: '%s' is not a size (write 64MiB, 1G or 500MB)", option, text);
    return false;
}

/* A number within limits; false after a complaint. */
static bool option_real(const char *command, const char *option, const char *text, double least,
                        double most, double *value) {
    char *end;
    const double number = strtod(text, &end);

    if (end == text || *end != '\0')
        complain(command, "%s: '%s' is not a number", option, text);
    else if (!(number >= least && number <= most))
        complain(command, "%s: %s is out of range, it is at least %g and at most %g", option, text,
                 least, most);
    else {
        *value = number;
        return true;
    }
    return false;
}

bool option_small(const char *command, const char *option, const char *text, unsigned most,
                  unsigned *value) {
    uint64_t number;
    if (!option_count(command, option, text, most, &number))
        return false;
    *value = (unsigned)number;
    return true;
}

/* The value of --sort; 0 after a complaint. */
static int need_order(const char *command, tamis_order *order) {
    static const char *const names[] = {[TAMIS_ORDER_BALANCED] = "balanced",
                                        [TAMIS_ORDER_BYTES] = "bytes",
                                        [TAMIS_ORDER_SPEED] = "speed",
                                        [TAMIS_ORDER_LINES] = "lines",
                                        [TAMIS_ORDER_WEIGHTED] = "weighted"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(optarg, names[i]) == 0) {
            *order = (tamis_order)i;
            return 1;
        }
    }
    complain(command, "--sort: '%s' is none of balanced, bytes, speed, lines, weighted", optarg);
    return 0;
}

int need_option(const char *command, int option, tamis_need *need) {
    switch (option) {
    case 'n':
        return option_count(command, "-n", optarg, TAMIS_CAPACITY_MAX, &need->n);
    case 'p':
        return option_rate(command, "-p", optarg, &need->fpr);
    case OPT_KIND:
        return option_kind(command, optarg, &need->kind);
    case OPT_DELETES:
        need->deletes = true;
        return 1;
    case OPT_REPLACEMENTS:
        need->deletes = true;
        return option_small(command, "--replacements", optarg, 10000, &need->replacements);
    case OPT_TICKS:
        return option_small(command, "--ticks", optarg, TAMIS_WINDOW_TICKS_MAX, &need->ticks);
    case OPT_MERGES:
        need->merges = true;
        return 1;
    case OPT_BYTES:
        return option_size(command, "--bytes", optarg, &need->bytes);
    case OPT_COPIES:
        return option_small(command, "--copies", optarg, 255, &need->copies);
    case OPT_OVERSHOOT:
        return option_real(command, "--overshoot", optarg, 0, 1000, &need->overshoot);
    case OPT_LINES:
        return option_real(command, "--lines", optarg, 1, 1000, &need->lines_max);
    case OPT_FAILURE:
        return option_real(command, "--failure", optarg, 1e-30, 1, &need->failure_max);
    case OPT_SORT:
        return need_order(command, &need->order);
    case OPT_LINE_BITS:
        need->order = TAMIS_ORDER_WEIGHTED;
        return option_real(command, "--line-bits", optarg, 1e-6, 1e6, &need->line_bits);
    case OPT_VALUES:
        return option_small(command, "--values", optarg, 8, &need->value_bits);
    default:
        return -1;
    }
}

/* The option that sets a member of a need; NULL: it is called as the member is, or the word is no member. */
static const char *need_option_name(const char *word, size_t size) {
    static const char *const names[][2] = {{"n", "-n"},
                                           {"fpr", "-p"},
                                           {"bytes", "--bytes"},
                                           {"deletes", "--deletes"},
                                           {"merges", "--merges"},
                                           {"copies", "--copies"},
                                           {"value_bits", "--values"},
                                           {"ticks", "--ticks"},
                                           {"grows", "--grow"},
                                           {"offline", "--offline"},
                                           {"overshoot", "--overshoot"},
                                           {"lines_max", "--lines"},
                                           {"failure_max", "--failure"},
                                           {"replacements", "--replacements"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i][0]) == size && memcmp(names[i][0], word, size) == 0)
            return names[i][1];
    return NULL;
}

/* A sentence about members of a need as one about options. */
static void say_options(const char *said, char *text, size_t size) {
    size_t at = 0;

    text[0] = '\0';
    while (*said != '\0' && at + 1 < size) {
        const size_t word = strspn(said, "abcdefghijklmnopqrstuvwxyz_");
        /* "takes 640 bytes" is no member */
        const bool counted = at > 1 && text[at - 1] == ' ' && strchr("0123456789", text[at - 2]);
        const char *const name = word == 0 || counted ? NULL : need_option_name(said, word);
        const size_t length = word == 0 ? 1 : word;
        const int n = name == NULL ? snprintf(text + at, size - at, "%.*s", (int)length, said)
                                   : snprintf(text + at, size - at, "%s", name);
        at += n < 0 ? 0 : (size_t)n;
        said += length;
    }
}

int complain_plan(const char *command, const tamis_need *need, tamis_status status) {
    char number[TEXT_NUMBER];
    char said[TEXT_REASON];
    char text[TEXT_REASON];

    /* A set that threads share can be refused where one of a single thread is not. */
    if (tamis_plan_explain(need, said, sizeof said) != TAMIS_OK) {
        say_options(said, text, sizeof text);
        return complain(command, "%s", text);
    }
    if (status == TAMIS_E_TOO_LARGE && need->bytes > 0)
        return complain(command, "%s are too few for that", text_bytes(need->bytes, number));
    return complain(command, "cannot plan for %s keys at error rate %g: %s",
                    text_count(need->n, number), need->fpr, tamis_status_text(status));
}
