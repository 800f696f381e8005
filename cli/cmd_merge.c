/* cmd_merge.c - tamis merge: the union of sets
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>

static const char help[] =
    "usage: tamis merge -o SET [-p P] A B [MORE...]\n"
    "Unite sets that have the same kind, parameters, hash and seed, as 'tamis build --like' makes "
    "them.\n"
    "Of sets that grow only kind, hash and seed must be the same: the links of all become one "
    "set.\n\n"
    "  -o SET          the file to write; may be one of the others; - is standard output\n"
    "  -p P            error rate promised for all together; makes any set one that grows\n"
    "      --beyond    unite them also if the result errs more often than was promised\n"
    "      --verbose   say what the result is\n";

/* The first difference between two sets, as "kind (bloom, blocked-bloom)".  Parameters of sets that
 * grow may differ. */
static void describe_difference(const tamis_params *a, const tamis_params *b, bool grow, char *text,
                                size_t size) {
    if (a->kind != b->kind) {
        snprintf(text, size, "kind (%s, %s)", tamis_kind_name(a->kind), tamis_kind_name(b->kind));
        return;
    }
    if (a->hash != b->hash) {
        snprintf(text, size, "hash (%s, %s)", tamis_hash_name(a->hash), tamis_hash_name(b->hash));
        return;
    }
    if (grow) {
        const bool seeds = a->seed != b->seed || a->seed_high != b->seed_high;
        const bool removes =
            ((tamis_params_abilities(a) ^ tamis_params_abilities(b)) & TAMIS_CAN_REMOVE) != 0;
        snprintf(text, size, "%s",
                 seeds     ? "seed"
                 : removes ? "removal (one was planned with --deletes)"
                           : "the bits of values");
        return;
    }
    const char *name = NULL;
    uint64_t of_a = 0;
    uint64_t of_b = 0;
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX && name == NULL; i++) {
        if (a->value[i] != b->value[i]) {
            name = tamis_param_name(a->kind, i);
            of_a = a->value[i];
            of_b = b->value[i];
        }
    }
    if (name == NULL && (a->capacity != b->capacity || a->stash != b->stash)) {
        name = a->capacity != b->capacity ? "capacity" : "stash";
        of_a = a->capacity != b->capacity ? a->capacity : a->stash;
        of_b = a->capacity != b->capacity ? b->capacity : b->stash;
    }
    if (name == NULL)
        snprintf(text, size, "seed");
    else
        snprintf(text, size, "%s (%" PRIu64 ", %" PRIu64 ")", name, of_a, of_b);
}

/* Why the merge was refused, as one line. */
static void complain_merge(const char *command, const char *path_a, const tamis_filter *a,
                           const char *path_b, const tamis_filter *b, tamis_status status) {
    tamis_info info_a;
    tamis_info info_b;
    char difference[160];
    char kinds[TEXT_KINDS];
    char count[TEXT_NUMBER];

    tamis_info_init(&info_a);
    tamis_info_init(&info_b);
    if (tamis_filter_info(a, &info_a) != TAMIS_OK || tamis_filter_info(b, &info_b) != TAMIS_OK)
        return;
    const char *const form_a = text_form(tamis_filter_key_form(a));
    const char *const form_b = text_form(tamis_filter_key_form(b));
    const bool grow = info_a.grows || info_b.grows;
    if (status == TAMIS_E_PROMISE) {
        complain(
            command,
            "%s and %s have %s keys and error rates %.3g and %.3g; together they would err more "
            "often than the %g that was promised%s",
            path_a, path_b, text_count(info_a.count + info_b.count, count), info_a.fpr, info_b.fpr,
            info_a.fpr_promised > 0 ? info_a.fpr_promised : info_b.fpr_promised,
            grow ? "; promise more with -p, or permit it with --beyond"
                 : "; make a set that grows with -p, or permit it with --beyond");
    } else if (status == TAMIS_E_FULL) {
        complain(command,
                 "%s and %s have %s keys, and there is no room for those of both; make a set that "
                 "grows with -p",
                 path_a, path_b, text_count(info_a.count + info_b.count, count));
    } else if (status == TAMIS_E_UNSUPPORTED) {
        complain(command, "%s is of kind '%s', which cannot be merged; these can: %s (or see -p)",
                 path_a, tamis_kind_name(info_a.params.kind), text_kinds(TAMIS_CAN_MERGE, kinds));
    } else if (status == TAMIS_E_MISMATCH && form_a != NULL && form_b != NULL && form_a != form_b) {
        complain(command, "the keys of %s are %s, those of %s are %s", path_a, form_a, path_b,
                 form_b);
    } else if (status == TAMIS_E_MISMATCH) {
        describe_difference(&info_a.params, &info_b.params, grow, difference, sizeof difference);
        complain(command, "%s and %s differ in %s; sets to be merged are built with --like", path_a,
                 path_b, difference);
    } else {
        complain(command, "%s and %s: %s", path_a, path_b, tamis_status_text(status));
    }
}

/* Merge the other files into 'filter', which came from files[0]. */
static int merge(const char *command, tamis_filter *filter, char *const *files, int n_files,
                 bool beyond) {
    for (int i = 1; i < n_files; i++) {
        tamis_filter *const other = set_open(command, files[i], SET_READ);
        if (other == NULL)
            return EXIT_TROUBLE;
        const tamis_status status =
            tamis_filter_merge(filter, other, beyond ? TAMIS_MERGE_BEYOND : 0);
        if (status != TAMIS_OK)
            complain_merge(command, files[0], filter, files[i], other, status);
        tamis_filter_free(other);
        if (status != TAMIS_OK)
            return EXIT_TROUBLE;
    }
    return EXIT_YES;
}

typedef struct merge_options {
    const char *output;
    double fpr; /* of a set that grows; 0: it does not */
    bool beyond;
    bool verbose;
} merge_options;

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    merge_options *const chosen = context;

    switch (option) {
    case 'p':
        return option_rate(command, "-p", optarg, &chosen->fpr);
    case 'o':
        chosen->output = optarg;
        return true;
    case OPT_BEYOND:
        return option_flag(&chosen->beyond);
    default:
        return option == OPT_VERBOSE && option_flag(&chosen->verbose);
    }
}

/* Merge the sets, of which there are two or more. */
static int merge_sets(const char *command, char *const *sets, int n_sets,
                      const merge_options *chosen) {
    /* One of the sets may be the one that is written. */
    int lock = -1;
    for (int i = 0; i < n_sets && lock < 0; i++)
        lock = set_lock(command, sets[i], chosen->output);
    tamis_filter *const filter = set_open(command, sets[0], SET_CHANGE);
    int code = EXIT_TROUBLE;
    if (filter != NULL && (chosen->fpr == 0 || set_allow_growth(command, filter, chosen->fpr)))
        code = merge(command, filter, sets, n_sets, chosen->beyond);
    if (code == EXIT_YES && !set_save(command, filter, chosen->output))
        code = EXIT_TROUBLE;
    set_unlock(lock);
    if (code == EXIT_YES) {
        set_warn_overload(command, filter, chosen->output);
        if (chosen->verbose)
            set_describe(command, filter, chosen->output);
    }
    tamis_filter_free(filter);
    return code;
}

int cmd_merge(int argc, char **argv) {
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"beyond", no_argument, NULL, OPT_BEYOND},
                                            {"verbose", no_argument, NULL, OPT_VERBOSE},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    const command_line line = {"o:p:", options, help, take_option};
    merge_options chosen = {0};
    const int code = options_read(argc, argv, &line, &chosen);

    if (code != GO_ON)
        return code;
    if (chosen.output == NULL)
        return complain(argv[0], "-o SET, the file to write, is required");
    if (argc - optind < 2)
        return complain(argv[0], "at least two sets are required");
    if (!output_check(argv[0], chosen.output))
        return EXIT_TROUBLE;
    return merge_sets(argv[0], argv + optind, argc - optind, &chosen);
}
