/* cmd_query.c - tamis query: which keys are in a set
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>

static const char help[] =
    "usage: tamis query [-v] [-c] [-q] [-j N] SET [FILE...]\n"
    "Print the keys, one per line, of the files or of standard input that are (probably) in the "
    "set.\n"
    "Exit code 0 if there were some, 1 if none.\n\n"
    "  -v, --invert    print the keys that are not in the set, which is certain\n"
    "  -c, --count     print only how many\n"
    "  -q, --quiet     print nothing and stop at the first one\n" JOBS_HELP KEY_HELP;

typedef struct query_options {
    key_format format;
    bool invert;
    bool count;
    bool quiet;
    unsigned jobs; /* 0: not given */
} query_options;

typedef struct querying {
    const tamis_filter *filter;
    const query_options *chosen;
    uint64_t n;
    bool failed; /* after a complaint */
} querying;

/* Find the keys of a batch that were asked for. */
static bool query_look(void *context, key_member *member) {
    const querying *const q = context;
    const query_options *const chosen = q->chosen;
    key_batch *const batch = &member->reader->batch;

    tamis_filter_contains_many_digest(q->filter, batch->digest, batch->n, batch->answer);
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->answer[i] == chosen->invert)
            continue;
        member->found++;
        if (!chosen->count && !chosen->quiet &&
            (!key_member_print(member, batch->raw[i].data, batch->raw[i].size) ||
             !key_member_print(member, &chosen->format.separator, 1)))
            return false;
    }
    return true;
}

static bool query_turn(void *context, key_member *member) {
    querying *const q = context;

    q->n += member->found;
    q->failed = !output_write(member->reader->command, member->out, member->n_out);
    if (q->failed)
        return false;
    /* Before waiting for a pipe, show what is known. */
    if (!member->reader->regular && !q->chosen->count &&
        (member->reader->is_block || member->reader->batch.n < KEY_BATCH))
        fflush(stdout);
    return !ferror(stdout) && !(q->chosen->quiet && q->n > 0);
}

static int query(key_reader *reader, const tamis_filter *filter, const query_options *chosen) {
    querying q = {.filter = filter, .chosen = chosen};
    const key_task task = {.look = query_look, .turn = query_turn, .context = &q};

    if (!keys_each(reader, chosen->jobs, &task) || q.failed || ferror(stdout))
        return EXIT_TROUBLE;
    if (chosen->count && !chosen->quiet)
        printf("%" PRIu64 "\n", q.n);
    return q.n > 0 ? EXIT_YES : EXIT_NO;
}

/* Query the set argv[0] for the keys of the files that follow it. */
static int query_files(const char *command, int argc, char **argv, const query_options *chosen) {
    char *const *const files = argv + 1;
    const int n_files = argc - 1;
    tamis_params params;
    int code = EXIT_TROUBLE;

    if (!inputs_differ(command, argv[0], keys_from_standard(&chosen->format, files, n_files)))
        return EXIT_TROUBLE;
    tamis_filter *const filter = set_open(command, argv[0], SET_ASK);
    if (filter == NULL)
        return EXIT_TROUBLE;
    key_reader *const reader = keys_open(command, &chosen->format, files, n_files);
    tamis_params_init(&params);
    if (reader != NULL && keys_fit(reader, tamis_filter_key_form(filter), argv[0]) &&
        tamis_filter_params(filter, &params) == TAMIS_OK && keys_hash(reader, &params)) {
        code = query(reader, filter, chosen);
        if (set_damaged(command, argv[0], filter))
            code = EXIT_TROUBLE;
    }
    keys_free(reader);
    tamis_filter_free(filter);
    return code;
}

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    query_options *const chosen = context;

    switch (option) {
    case 'v':
        return option_flag(&chosen->invert);
    case 'c':
        return option_flag(&chosen->count);
    case 'q':
        return option_flag(&chosen->quiet);
    case 'j':
        return jobs_option(command, optarg, &chosen->jobs) == 1;
    default:
        return key_format_option(command, &chosen->format, option) == 1;
    }
}

int cmd_query(int argc, char **argv) {
    static const struct option options[] = {{"invert", no_argument, NULL, 'v'},
                                            {"count", no_argument, NULL, 'c'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            JOBS_OPTIONS,
                                            KEY_OPTIONS,
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    query_options chosen = {.format = KEY_FORMAT_DEFAULT};
    const command_line line = {"vcq" JOBS_LETTERS KEY_LETTERS, options, help, take_option};

    int code = options_read(argc, argv, &line, &chosen);
    if (code == GO_ON && optind == argc)
        code = complain(argv[0], "which set? (see 'tamis help query')");
    else if (code == GO_ON)
        code = query_files(argv[0], argc - optind, argv + optind, &chosen);
    key_format_free(&chosen.format);
    return code;
}
