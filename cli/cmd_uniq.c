/* cmd_uniq.c - tamis uniq: lines whose keys are new
 *
 * One pass: a key that is not in the set is added, and its line printed at once.  The set grows with
 * the keys, unless their number is given.  Either way its error rate, which is the odds that a new key
 * is taken for an old one, stays under the promise.
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Keys of the first link of a set that grows. */
#define FIRST_KEYS 1000000u

static const char help[] =
    "usage: tamis uniq [-s SET] [-n N] [-p P] [-v] [-c] [FILE...]\n"
    "Print the keys, one per line, of the files or of standard input that have not come before.  "
    "They\n"
    "need not be sorted, come out at once, and take a few bits each.  With the odds of the error "
    "rate\n"
    "a new key is taken for an old one and dropped; an old one is never printed.\n\n"
    "  -s, --set SET   keys of this set have come before, new ones are added to it.  It is saved "
    "when\n"
    "                  all is printed, and made if it is not there\n"
    "  -p P            error rate, 0 < P < 1 (default 1e-6)\n"
    "  -n N            new keys at most, in constant memory; more are trouble.  Without it the set "
    "grows\n"
    "      --grow      let also a set grow that was not made to\n"
    "      --overfull  go on when a set that does not grow has the keys that it was made for\n"
    "  -v, --invert    print the keys that have come before\n"
    "  -c, --count     print only how many\n" KEY_HELP;

typedef struct uniq_options {
    tamis_need need;
    key_format format;
    const char *set;
    bool grow;
    bool overfull;
    bool invert;
    bool count;
} uniq_options;

/* The set to search and to add keys to. */
typedef struct seen_set {
    tamis_filter *filter;
    tamis_params params;
    bool copies;  /* it would count a key that is added again */
    bool limited; /* it takes params.capacity keys */
} seen_set;

/* -------------------------------------------------------------------------------------------------
 * The set
 */

/* A new set; NULL after a complaint. */
static tamis_filter *make_seen(const char *command, const uniq_options *chosen) {
    tamis_need need = chosen->need;
    tamis_filter *filter = NULL;
    tamis_plan plan;

    need.grows = need.n == 0 || chosen->grow;
    need.n = need.n == 0 ? FIRST_KEYS : need.n;
    tamis_plan_init(&plan);
    tamis_status status = tamis_plan_make(&need, &plan);
    if (status != TAMIS_OK) {
        complain_plan(command, &need, status);
        return NULL;
    }
    status = tamis_filter_create(&plan.params, NULL, &filter);
    if (status == TAMIS_OK)
        status = tamis_filter_set_key_form(filter, key_format_form(&chosen->format));
    if (status != TAMIS_OK)
        complain(command, "cannot make the set: %s", tamis_status_text(status));
    else if (!need.grows || set_allow_growth(command, filter, need.fpr))
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

/* The set of the file, ready for more keys; NULL after a complaint. */
static tamis_filter *load_seen(const char *command, const uniq_options *chosen) {
    tamis_filter *const filter = set_open(command, chosen->set, SET_CHANGE);
    tamis_info info;

    tamis_info_init(&info);
    if (filter == NULL || tamis_filter_info(filter, &info) != TAMIS_OK ||
        (!chosen->grow && info.fpr_promised == 0) || set_allow_growth(command, filter, 0))
        return filter;
    tamis_filter_free(filter);
    return NULL;
}

static bool open_seen(const char *command, const uniq_options *chosen, seen_set *seen) {
    struct stat about;
    tamis_info info;

    const bool there = chosen->set != NULL && stat(chosen->set, &about) == 0;
    seen->filter = (there ? load_seen : make_seen)(command, chosen);
    tamis_params_init(&seen->params);
    tamis_info_init(&info);
    if (seen->filter == NULL)
        return false;
    if (tamis_filter_params(seen->filter, &seen->params) != TAMIS_OK ||
        tamis_filter_info(seen->filter, &info) != TAMIS_OK) {
        complain(command, "the set cannot be used");
        return false;
    }
    seen->copies = (tamis_kind_abilities(seen->params.kind) & TAMIS_CAN_COUNT) != 0;
    seen->limited = info.fpr_promised == 0 && !chosen->overfull;
    return true;
}

/* -------------------------------------------------------------------------------------------------
 * Keys
 */

/* Add a key if it is new: TAMIS_OK, and whether it was; TAMIS_E_FULL if there is no room for more
 * new keys. */
static tamis_status see_one(const seen_set *seen, tamis_digest digest, bool *fresh) {
    *fresh = false;
    if (tamis_filter_contains_digest(seen->filter, digest))
        return TAMIS_OK;
    if (seen->limited && tamis_filter_count(seen->filter) >= seen->params.capacity)
        return TAMIS_E_FULL;
    return tamis_filter_insert_digest(seen->filter, digest, fresh);
}

/* Process all keys of a batch; batch->answer tells which are new.  If the result is not TAMIS_OK, only
 * '*done' of them. */
static tamis_status see_batch(const seen_set *seen, key_batch *batch, size_t *done) {
    const uint64_t count = tamis_filter_count(seen->filter);

    if (!seen->copies && (!seen->limited || count + batch->n <= seen->params.capacity))
        return tamis_filter_insert_many_digest(seen->filter, batch->digest, batch->n, batch->answer,
                                               done);
    for (*done = 0; *done < batch->n; ++*done) {
        const tamis_status status = see_one(seen, batch->digest[*done], &batch->answer[*done]);
        if (status != TAMIS_OK)
            return status;
    }
    return TAMIS_OK;
}

/* Print the first 'n' of a batch that were asked for; returns how many. */
static size_t print_batch(const key_batch *batch, size_t n, const uniq_options *chosen) {
    size_t printed = 0;

    for (size_t i = 0; i < n; i++) {
        if (batch->answer[i] == chosen->invert)
            continue;
        printed++;
        if (chosen->count)
            continue;
        fwrite(batch->raw[i].data, 1, batch->raw[i].size, stdout);
        putchar(chosen->format.separator);
    }
    return printed;
}

static int complain_full(key_reader *reader, const seen_set *seen, const uniq_options *chosen) {
    char count[TEXT_NUMBER];

    progress_end(&reader->progress);
    return complain(reader->command,
                    "the set has the %s keys that it was made for, and more are new%s (see -n, "
                    "--grow, --overfull)",
                    text_count(tamis_filter_count(seen->filter), count),
                    chosen->set != NULL ? "; it was not saved" : "");
}

static int see_all(key_reader *reader, const seen_set *seen, const uniq_options *chosen) {
    key_batch *const batch = &reader->batch;
    uint64_t n = 0;

    while (keys_read(reader) > 0) {
        size_t done = 0;
        const tamis_status status = see_batch(seen, batch, &done);
        n += print_batch(batch, done, chosen);
        if (status == TAMIS_E_FULL)
            return complain_full(reader, seen, chosen);
        if (status != TAMIS_OK) {
            progress_end(&reader->progress);
            return complain(reader->command, "%s", tamis_status_text(status));
        }
        /* Before waiting for a pipe, show what is known. */
        if (batch->n < KEY_BATCH && !reader->regular && !chosen->count)
            fflush(stdout);
        if (ferror(stdout))
            break;
    }
    if (reader->failed || ferror(stdout))
        return EXIT_TROUBLE;
    if (chosen->count)
        printf("%" PRIu64 "\n", n);
    return EXIT_YES;
}

/* -------------------------------------------------------------------------------------------------
 * The command
 */

static int uniq_files(const char *command, const uniq_options *chosen, char *const *files,
                      int n_files) {
    seen_set seen = {0};
    int code = EXIT_TROUBLE;

    if (chosen->set != NULL && strcmp(chosen->set, "-") == 0)
        return complain(command, "the set is read and written: it needs a file");
    if (chosen->set != NULL &&
        (!output_differs(command, chosen->set, files, n_files,
                         keys_from_standard(&chosen->format, files, n_files)) ||
         !output_check(command, chosen->set)))
        return EXIT_TROUBLE;
    key_reader *const reader = keys_open(command, &chosen->format, files, n_files);
    if (reader == NULL)
        return EXIT_TROUBLE;
    const int lock = chosen->set != NULL ? set_lock(command, chosen->set, chosen->set) : -1;
    if (open_seen(command, chosen, &seen) &&
        keys_fit(reader, tamis_filter_key_form(seen.filter),
                 chosen->set != NULL ? chosen->set : "-") &&
        keys_hash(reader, &seen.params)) {
        code = see_all(reader, &seen, chosen);
    }
    /* Keys whose lines could not be printed do not count as seen. */
    if (code == EXIT_YES && chosen->set != NULL &&
        (!output_flush(command) || !set_save(command, seen.filter, chosen->set)))
        code = EXIT_TROUBLE;
    set_unlock(lock);
    if (code == EXIT_YES)
        set_warn_overload(command, seen.filter, chosen->set != NULL ? chosen->set : "-");
    keys_free(reader);
    tamis_filter_free(seen.filter);
    return code;
}

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    uniq_options *const chosen = context;

    switch (option) {
    case 's':
        chosen->set = optarg;
        return true;
    case 'n':
    case 'p':
        return need_option(command, option, &chosen->need) == 1;
    case OPT_GROW:
        return option_flag(&chosen->grow);
    case OPT_OVERFULL:
        return option_flag(&chosen->overfull);
    case 'v':
        return option_flag(&chosen->invert);
    case 'c':
        return option_flag(&chosen->count);
    default:
        return key_format_option(command, &chosen->format, option) == 1;
    }
}

int cmd_uniq(int argc, char **argv) {
    static const struct option options[] = {{"set", required_argument, NULL, 's'},
                                            {"grow", no_argument, NULL, OPT_GROW},
                                            {"overfull", no_argument, NULL, OPT_OVERFULL},
                                            {"invert", no_argument, NULL, 'v'},
                                            {"count", no_argument, NULL, 'c'},
                                            KEY_OPTIONS,
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    uniq_options chosen = {.format = KEY_FORMAT_DEFAULT};
    const command_line line = {"s:n:p:vc" KEY_LETTERS, options, help, take_option};

    tamis_need_init(&chosen.need);
    chosen.need.fpr = 1e-6;
    int code = options_read(argc, argv, &line, &chosen);
    if (code == GO_ON)
        code = uniq_files(argv[0], &chosen, argv + optind, argc - optind);
    key_format_free(&chosen.format);
    return code;
}
