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

/* A set that was made to grow, or has grown, goes on growing. */
static bool allow_growth(const char *command, const change_options *chosen, tamis_filter *filter) {
    tamis_info info;

    tamis_info_init(&info);
    if (!chosen->adds || tamis_filter_info(filter, &info) != TAMIS_OK ||
        (!chosen->grow && info.fpr_promised == 0))
        return true;
    return set_allow_growth(command, filter, chosen->fpr);
}

/* Load, change and save.  'reader' has not read yet. */
static int run_change(key_reader *reader, const change_options *chosen, unsigned abilities,
                      set_changer *changer) {
    const char *const command = reader->command;
    tamis_params params;
    char kinds[TEXT_KINDS];
    int code = EXIT_TROUBLE;

    tamis_filter *const filter = set_open(command, chosen->input, SET_CHANGE);
    if (filter == NULL)
        return EXIT_TROUBLE;
    tamis_params_init(&params);
    const tamis_status status = tamis_filter_params(filter, &params);
    if (status != TAMIS_OK) {
        complain(command, "%s: %s", chosen->input, tamis_status_text(status));
    } else if ((tamis_kind_abilities(params.kind) & abilities) != abilities) {
        complain(command, "%s is of kind '%s', which cannot do that; these can: %s", chosen->input,
                 tamis_kind_name(params.kind), text_kinds(abilities, kinds));
    } else if (allow_growth(command, chosen, filter)) {
        reader->seed = params.seed;
        code = changer(reader, filter);
    }
    if (code != EXIT_TROUBLE && !set_save(command, filter, chosen->output))
        code = EXIT_TROUBLE;
    if (code != EXIT_TROUBLE) {
        set_warn_overload(command, filter, chosen->output);
        if (chosen->verbose)
            set_describe(command, filter, chosen->output);
    }
    tamis_filter_free(filter);
    return code;
}

int set_change(int argc, char **argv, const char *help, unsigned abilities, bool adds,
               set_changer *changer) {
    static const struct option options[] = {
        {"grow", no_argument, NULL, OPT_GROW},       {"output", required_argument, NULL, 'o'},
        {"verbose", no_argument, NULL, OPT_VERBOSE}, KEY_OPTIONS,
        {"help", no_argument, NULL, OPT_HELP},       {NULL, 0, NULL, 0}};
    change_options chosen = {.format = KEY_FORMAT_DEFAULT, .adds = adds};
    const char *const letters = adds ? "p:o:" KEY_LETTERS : "o:" KEY_LETTERS;

    /* Only what adds knows the option --grow, the first. */
    for (int option; (option = option_next(argc, argv, letters, options + !adds)) != -1;) {
        switch (option) {
        case 'o':
            chosen.output = optarg;
            break;
        case OPT_VERBOSE:
            chosen.verbose = true;
            break;
        case OPT_GROW:
            chosen.grow = true;
            break;
        case 'p':
            if (!option_rate(argv[0], "-p", optarg, &chosen.fpr))
                return EXIT_TROUBLE;
            chosen.grow = true;
            break;
        case OPT_HELP:
            fputs(help, stdout);
            return EXIT_YES;
        default:
            if (!key_format_option(&chosen.format, option))
                return EXIT_TROUBLE;
        }
    }
    if (optind == argc)
        return complain(argv[0], "which set? (see 'tamis help %s')", argv[0]);
    chosen.input = argv[optind];
    char *const *const files = argv + optind + 1;
    const int n_files = argc - optind - 1;

    if (chosen.output == NULL) {
        if (strcmp(chosen.input, "-") == 0)
            return complain(argv[0], "a set from standard input needs -o");
        chosen.output = chosen.input;
    }
    if (!inputs_differ(argv[0], chosen.input, files, n_files) ||
        !output_differs(argv[0], chosen.output, files, n_files, n_files == 0) ||
        !output_check(argv[0], chosen.output))
        return EXIT_TROUBLE;
    key_reader *const reader = keys_open(argv[0], chosen.format, files, n_files);
    if (reader == NULL)
        return EXIT_TROUBLE;
    const int code = run_change(reader, &chosen, abilities, changer);
    keys_free(reader);
    return code;
}
