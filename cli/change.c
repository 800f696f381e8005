/* change.c - what 'add' and 'remove' have in common: load a set, change it, save it
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <string.h>

typedef struct change_options {
    key_format format;
    const char *input;
    const char *output;
    double fpr; /* promised for a set that grows; 0: not given */
    bool adds;
    bool grow;
    bool verbose;
} change_options;

/* A set that was made to grow, or has grown, continues to grow. */
static bool allow_growth(const char *command, const change_options *chosen, tamis_filter *filter) {
    tamis_info info;

    tamis_info_init(&info);
    if (!chosen->adds || tamis_filter_info(filter, &info) != TAMIS_OK ||
        (!chosen->grow && !info.grows))
        return true;
    return set_allow_growth(command, filter, chosen->fpr);
}

/* Load, change and save, while nobody else does.  'reader' has read nothing yet. */
static int run_change(key_reader *reader, const change_options *chosen, unsigned abilities,
                      set_changer *changer) {
    const char *const command = reader->command;
    tamis_params params;
    char kinds[TEXT_KINDS];
    int code = EXIT_TROUBLE;

    const int lock = set_lock(command, chosen->input, chosen->output);
    tamis_filter *const filter = set_open(command, chosen->input, SET_CHANGE);
    if (filter == NULL) {
        set_unlock(lock);
        return EXIT_TROUBLE;
    }
    tamis_params_init(&params);
    const tamis_status status = tamis_filter_params(filter, &params);
    if (status != TAMIS_OK) {
        complain(command, "%s: %s", chosen->input, tamis_status_text(status));
    } else if ((tamis_params_abilities(&params) & abilities) != abilities) {
        complain(
            command,
            "%s is of kind '%s', and keys cannot be removed from it: build it with --deletes, or "
            "--kind one of %s",
            chosen->input, tamis_kind_name(params.kind), text_kinds(abilities, kinds));
    } else if (keys_fit(reader, tamis_filter_key_form(filter), chosen->input) &&
               allow_growth(command, chosen, filter) && keys_hash(reader, &params)) {
        code = changer(reader, filter);
    }
    if (code != EXIT_TROUBLE && !set_save(command, filter, chosen->output))
        code = EXIT_TROUBLE;
    set_unlock(lock);
    if (code != EXIT_TROUBLE) {
        set_warn_overload(command, filter, chosen->output);
        if (chosen->verbose)
            set_describe(command, filter, chosen->output);
    }
    tamis_filter_free(filter);
    return code;
}

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    change_options *const chosen = context;

    switch (option) {
    case 'o':
        chosen->output = optarg;
        return true;
    case OPT_VERBOSE:
        return option_flag(&chosen->verbose);
    case OPT_GROW:
        return option_flag(&chosen->grow);
    case 'p':
        chosen->grow = true;
        return option_rate(command, "-p", optarg, &chosen->fpr);
    default:
        return key_format_option(command, &chosen->format, option) == 1;
    }
}

/* Change the set argv[0] by the keys of the files that follow it. */
static int change_files(const char *command, int argc, char **argv, change_options *chosen,
                        unsigned abilities, set_changer *changer) {
    char *const *const files = argv + 1;
    const int n_files = argc - 1;
    const bool standard = keys_from_standard(&chosen->format, files, n_files);

    chosen->input = argv[0];
    if (chosen->output == NULL) {
        if (strcmp(chosen->input, "-") == 0)
            return complain(command, "a set from standard input needs -o");
        chosen->output = chosen->input;
    }
    if (!inputs_differ(command, chosen->input, standard) ||
        !output_differs(command, chosen->output, files, n_files, standard) ||
        !output_check(command, chosen->output))
        return EXIT_TROUBLE;
    key_reader *const reader = keys_open(command, &chosen->format, files, n_files);
    if (reader == NULL)
        return EXIT_TROUBLE;
    const int code = run_change(reader, chosen, abilities, changer);
    keys_free(reader);
    return code;
}

int set_change(int argc, char **argv, const char *help, unsigned abilities, bool adds,
               set_changer *changer) {
    static const struct option options[] = {
        {"grow", no_argument, NULL, OPT_GROW},       {"output", required_argument, NULL, 'o'},
        {"verbose", no_argument, NULL, OPT_VERBOSE}, KEY_OPTIONS,
        {"help", no_argument, NULL, OPT_HELP},       {NULL, 0, NULL, 0}};
    change_options chosen = {.format = KEY_FORMAT_DEFAULT, .adds = adds};
    /* Only what adds knows the option --grow, the first. */
    const command_line line = {adds ? "p:o:" KEY_LETTERS : "o:" KEY_LETTERS, options + !adds, help,
                               take_option};
    int code = options_read(argc, argv, &line, &chosen);

    if (code == GO_ON && optind == argc)
        code = complain(argv[0], "which set? (see 'tamis help %s')", argv[0]);
    else if (code == GO_ON)
        code = change_files(argv[0], argc - optind, argv + optind, &chosen, abilities, changer);
    key_format_free(&chosen.format);
    return code;
}
