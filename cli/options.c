/* options.c - options and their values
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int option_next(int argc, char **argv, const char *letters, const struct option *options) {
    char quiet[64];
    const int before = optind;

    /* A leading colon tells a missing value from an unknown option. */
    snprintf(quiet, sizeof quiet, ":%s", letters);
    opterr = 0;
    const int option = getopt_long(argc, argv, quiet, options, NULL);
    if (option != ':' && option != '?')
        return option;
    const char *const last = argv[optind > before ? optind - 1 : optind];
    if (option == ':')
        complain(argv[0], "option '%s' needs a value", last);
    else if (optopt > 0 && optopt < 256 && strncmp(last, "--", 2) != 0)
        complain(argv[0], "unknown option '-%c' (see 'tamis help %s')", optopt, argv[0]);
    else if (optopt != 0 && strchr(last, '=') != NULL)
        complain(argv[0], "option '%.*s' takes no value", (int)strcspn(last, "="), last);
    else
        complain(argv[0], "unknown or ambiguous option '%s' (see 'tamis help %s')", last, argv[0]);
    return '?';
}

int options_read(int argc, char **argv, const command_line *line, void *chosen) {
    for (int option; (option = option_next(argc, argv, line->letters, line->options)) != -1;) {
        if (option == OPT_HELP) {
            fputs(line->help, stdout);
            return EXIT_YES;
        }
        if (option == '?' || !line->take(argv[0], option, chosen))
            return EXIT_TROUBLE;
    }
    return GO_ON;
}

bool option_flag(bool *flag) {
    *flag = true;
    return true;
}

static bool take_json(const char *command, int option, void *as_json) {
    (void)command;
    return option == OPT_JSON && option_flag(as_json);
}

int one_set_options(int argc, char **argv, const char *help, bool *as_json, const char **path) {
    static const struct option options[] = {{"json", no_argument, NULL, OPT_JSON},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    const command_line line = {"", options, help, take_json};

    *as_json = false;
    *path = NULL;
    const int code = options_read(argc, argv, &line, as_json);
    if (code != GO_ON)
        return code;
    if (argc - optind != 1)
        return strncmp(argv[0], "table", 5) == 0
                   ? complain(argv[0], "one table is required (see 'tamis help table')")
                   : complain(argv[0], "one set is required (see 'tamis help %s')", argv[0]);
    *path = argv[optind];
    return EXIT_YES;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The value of a digit in any base up to 16; 16 if it is not a digit. */
static unsigned digit_value(char c) {
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

bool parse_u64(const char *text, size_t size, uint64_t *value) {
    while (size > 0 && (text[0] == ' ' || text[0] == '\t')) {
        text++;
        size--;
    }
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t' || text[size - 1] == '\r'))
        size--;
    unsigned base = 10;
    if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        size -= 2;
    }
    if (size == 0)
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned digit = digit_value(text[i]);
        if (digit >= base || sum > (UINT64_MAX - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *value = sum;
    return true;
}

typedef enum scan { SCAN_OK, SCAN_BAD, SCAN_LARGE } scan;

/* Read the digits at '*text', with a point among them, as '*digits' times 10 to the '*power'. */
static scan scan_digits(const char **text, uint64_t *digits, int *power) {
    const char *p = *text;
    bool any = false;
    bool point = false;

    *digits = 0;
    *power = 0;
    for (; is_digit(*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        const uint64_t digit = (uint64_t)(*p - '0');
        if (*digits > (UINT64_MAX - digit) / 10)
            return SCAN_LARGE;
        *digits = *digits * 10 + digit;
        *power -= point ? 1 : 0;
        any = true;
    }
    *text = p;
    return any ? SCAN_OK : SCAN_BAD;
}

/* Read a whole number as people write it: 10000000, 1e7, 1.5M, 10k. */
static scan scan_count(const char *text, uint64_t *value) {
    uint64_t sum;
    int power;
    const scan found = scan_digits(&text, &sum, &power);
    if (found != SCAN_OK)
        return found;
    if (*text == 'e' || *text == 'E') {
        int exponent = 0;
        text++;
        if (*text == '+')
            text++;
        if (!is_digit(*text))
            return SCAN_BAD;
        for (; is_digit(*text); text++) {
            if (exponent < 1000)
                exponent = exponent * 10 + (*text - '0');
        }
        power += exponent;
    }
    static const char suffixes[] = "kKMGT";
    static const int powers[] = {3, 3, 6, 9, 12};
    const char *const suffix = *text != '\0' ? strchr(suffixes, *text) : NULL;
    if (suffix != NULL) {
        power += powers[suffix - suffixes];
        text++;
    }
    if (*text != '\0')
        return SCAN_BAD;
    for (; power < 0; power++) {
        if (sum % 10 != 0)
            return SCAN_BAD;
        sum /= 10;
    }
    for (; power > 0 && sum > 0; power--) {
        if (sum > UINT64_MAX / 10)
            return SCAN_LARGE;
        sum *= 10;
    }
    *value = sum;
    return SCAN_OK;
}

bool option_count(const char *command, const char *option, const char *text, uint64_t max,
                  uint64_t *value) {
    uint64_t count = 0;
    char most[TEXT_NUMBER];

    const scan found = scan_count(text, &count);
    if (found == SCAN_BAD)
        complain(command, "%s: '%s' is not a whole number (write 10000000, 1e7 or 10M)", option,
                 text);
    else if (found == SCAN_LARGE || count > max)
        complain(command, "%s: %s is too large, the most is %s", option, text,
                 text_count(max, most));
    else if (count == 0)
        complain(command, "%s: must be at least 1", option);
    else {
        *value = count;
        return true;
    }
    return false;
}

bool option_rate(const char *command, const char *option, const char *text, double *value) {
    char *end;
    const double rate = strtod(text, &end);

    if (end == text || *end != '\0')
        complain(command, "%s: '%s' is not a number (write 0.001 or 1e-3)", option, text);
    else if (isnan(rate) || rate <= 0 || rate >= 1)
        complain(command, "%s: %s is out of range, an error rate is more than 0 and less than 1",
                 option, text);
    else {
        *value = rate;
        return true;
    }
    return false;
}

const char *text_seed(hash_seed seed, char *text) {
    if (seed.high == 0)
        snprintf(text, TEXT_SEED, "0x%016" PRIx64, seed.low);
    else
        snprintf(text, TEXT_SEED, "0x%016" PRIx64 "%016" PRIx64, seed.high, seed.low);
    return text;
}

bool option_seed(const char *command, const char *text, hash_seed *seed) {
    const size_t size = strlen(text);
    char copy[2 * TEXT_SEED];
    const bool quoted = size >= 2 && text[0] == '"' && text[size - 1] == '"'; /* as JSON has it */
    tamis_params params;
    tamis_params_init(&params);
    snprintf(copy, sizeof copy, "%.*s", (int)(quoted ? size - 2 : size), text + (quoted ? 1 : 0));
    if (size < sizeof copy && tamis_seed_parse(copy, &params) == TAMIS_OK) {
        *seed = (hash_seed){params.seed, params.seed_high};
        return true;
    }
    complain(command, "--seed: '%s' is no integer from 1 to 2^64 - 1, nor up to 32 digits after 0x",
             text);
    return false;
}

bool option_hash(const char *command, const char *name, tamis_hash_id *hash) {
    for (tamis_hash_id id = TAMIS_HASH_XXH3; tamis_hash_name(id) != NULL; id++)
        if (strcmp(tamis_hash_name(id), name) == 0) {
            *hash = id;
            return true;
        }
    complain(command,
             "--hash: there is no hash '%s'; there are aes (for keys from anyone) and xxh3", name);
    return false;
}

/* What a set of a kind can do that was planned without a wish but its kind; 0 if there is no such kind. */
static unsigned plain_abilities(tamis_kind kind) {
    tamis_need need;
    tamis_plan plan;

    tamis_need_init(&need);
    tamis_plan_init(&plan);
    need.n = 1000;
    need.kind = kind;
    return tamis_plan_make(&need, &plan) == TAMIS_OK ? tamis_params_abilities(&plan.params)
                                                     : tamis_kind_abilities(kind);
}

const char *text_kinds(unsigned abilities, char *text) {
    size_t used = 0;

    text[0] = '\0';
    /* The numbers of the kinds fit one byte of a file; not all are in use. */
    for (int i = 1; i < 256; i++) {
        const tamis_kind kind = (tamis_kind)i;
        const char *const name = tamis_kind_name(kind);
        if (name == NULL || (abilities != 0 && (plain_abilities(kind) & abilities) != abilities))
            continue;
        const int n = snprintf(text + used, TEXT_KINDS - used, "%s%s", used > 0 ? ", " : "", name);
        if (n < 0 || (size_t)n >= TEXT_KINDS - used)
            break;
        used += (size_t)n;
    }
    return text;
}

bool is_former_kind(const char *name, size_t size) {
    static const char former[] = "line-set";
    return size == sizeof former - 1 && memcmp(name, former, size) == 0;
}

bool option_kind(const char *command, const char *name, tamis_kind *kind) {
    char kinds[TEXT_KINDS];
    if (tamis_kind_parse(name, kind) == TAMIS_OK)
        return true;
    if (is_former_kind(name, strlen(name)))
        complain(command, "--kind: " FORMER_KIND);
    else
        complain(command, "--kind: there is no kind '%s', only %s", name, text_kinds(0, kinds));
    return false;
}
