/* cmd_build.c - tamis build: a set from keys
 *
 * If the size of the set is known in advance (-n, or --like another set), the keys go straight in and
 * nothing grows with their number.  Otherwise they are counted first (counted.c).  Digests depend on the
 * seed, so it is chosen before the first key is read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/counted.h"

static const char help[] =
    "usage: tamis build [-p P] [-n N] [OPTION...] -o SET [FILE...]\n"
    "       tamis build --like OTHER -o SET [FILE...]\n"
    "Make a set from keys, one per line, of the files or of standard input.\n\n"
    "  -o SET          the file to write, replaced when all is well; - is standard output\n"
    "  -p P            error rate when all keys are in, 0 < P < 1 (default 0.01)\n"
    "  -n N            keys at most in the set: 10000000, 1e7 or 10M.  Without it the different\n"
    "                  keys are counted first, and wait in a temporary file (in TMPDIR)\n" NEED_HELP
    "      --grow      let the set grow when more keys are added later, within the same error "
    "rate\n"
    "      --overfull  save the set also if it got more keys than N, and its error rate is higher "
    "than P\n"
    "      --hash H    aes, the default, or xxh3 if nobody chooses keys to do harm\n"
    "      --seed N    of the hash, instead of a random one\n"
    "      --like OTHER\n"
    "                  kind, parameters, hash and seed of another set: the two can be merged.  Of "
    "a set\n"
    "                  that has grown: kind, error rate, hash and seed, for all keys at once\n"
    "      --compact   the compact form, without what is empty in the set; of the kinds rank,\n"
    "                  the default here, and rank-counting\n" JOBS_HELP
    "      --verbose   say what was built\n" KEY_HELP;

typedef struct build_options {
    tamis_need need; /* n is 0: not given */
    hash_seed seed;  /* 0: not given */
    const char *like;
    const char *output;
    key_format format;
    unsigned jobs; /* 0: not given */
    bool planned;  /* an option that --like excludes was given */
    bool compact;
    bool overfull;
    bool verbose;
    /* What became of it: */
    key_counts counts;
    double promised; /* an error rate, or 0: with --like only the number of keys is known */
} build_options;

static tamis_filter *create(const char *command, const tamis_params *params, uint64_t bytes) {
    tamis_filter *filter = NULL;

    const tamis_status status = tamis_filter_create(params, NULL, &filter);
    if (status != TAMIS_OK)
        build_complain(command, status, bytes);
    return filter;
}

/* An empty set for the need, and the error rate that is promised for it; NULL after a complaint. */
static tamis_filter *create_planned(const char *command, const tamis_need *need,
                                    const tamis_params *hash, double *promised) {
    tamis_plan plan;

    if (!build_plan(command, need, hash, &plan))
        return NULL;
    *promised = need->fpr > 0 ? need->fpr : plan.fpr;
    return create(command, &plan.params, plan.bytes);
}

/* What another set is; false after a complaint. */
static bool read_other(const char *command, const char *path, tamis_info *info,
                       tamis_key_form *form) {
    tamis_filter *const other = set_open(command, path, SET_READ);
    if (other == NULL)
        return false;
    tamis_info_init(info);
    const tamis_status status = tamis_filter_info(other, info);
    *form = tamis_filter_key_form(other);
    tamis_filter_free(other);
    if (status != TAMIS_OK)
        complain(command, "%s: %s", path, tamis_status_text(status));
    return status == TAMIS_OK;
}

/* Count the keys and build the set of all of them; NULL after a complaint. */
static tamis_filter *build_all(key_reader *reader, unsigned jobs, tamis_need *need,
                               key_counts *counts) {
    /* Report errors that do not depend on the number of keys before reading them. */
    tamis_plan plan;
    need->n = 1;
    need->offline = need->copies <= 1; /* a set that is built has each key once */
    tamis_filter *const filter = build_plan(reader->command, need, &reader->hash, &plan)
                                     ? build_counted(reader, jobs, need, NULL, counts)
                                     : NULL;
    if (filter != NULL && need->grows && !set_allow_growth(reader->command, filter, need->fpr)) {
        tamis_filter_free(filter);
        return NULL;
    }
    return filter;
}

/* '*form' becomes that of the other set, if it is known. */
static tamis_filter *build_like(key_reader *reader, build_options *chosen, tamis_key_form *form) {
    const char *const path = chosen->like;
    tamis_key_form known;
    tamis_info other;

    if (!read_other(reader->command, path, &other, &known) || !keys_fit(reader, known, path))
        return NULL;
    if (known != TAMIS_KEYS_UNKNOWN)
        *form = known;
    if (!keys_hash(reader, &other.params))
        return NULL;
    chosen->promised = other.fpr_promised;
    /* A set whose keys were placed with the knowledge of all of them has no room to do without. */
    if (!other.grows && other.params.kind == TAMIS_KIND_DLEFT)
        return build_counted(reader, chosen->jobs, NULL, &other.params, &chosen->counts);
    if (!other.grows)
        return create(reader->command, &other.params, 0);
    tamis_need need;
    tamis_need_init(&need);
    need.kind = other.params.kind;
    need.deletes = (tamis_params_abilities(&other.params) & TAMIS_CAN_REMOVE) != 0;
    need.fpr = other.fpr_promised;
    need.grows = true;
    return build_all(reader, chosen->jobs, &need, &chosen->counts);
}

/* A set of more keys than announced keeps its promise if keys came twice, or the plan had some room.  Where
 * copies are counted, -n announces different keys.  'info' is filled in if it does not keep it. */
static bool promise_kept(const build_options *chosen, const tamis_filter *filter,
                         tamis_info *info) {
    const uint64_t different = chosen->counts.different.least;
    return !set_overfull(filter, info) || (different > 0 && different <= chosen->need.n) ||
           (chosen->promised > 0 && info->fpr <= chosen->promised);
}

/* Breaking the promise is trouble, unless it was asked for: false after a complaint. */
static bool promise_check(const char *command, const build_options *chosen,
                          const tamis_filter *filter) {
    char count[TEXT_NUMBER];
    char capacity[TEXT_NUMBER];
    tamis_info info;

    if (chosen->overfull || promise_kept(chosen, filter, &info))
        return true;
    text_count(info.count, count);
    text_count(info.capacity, capacity);
    if (chosen->like == NULL)
        complain(command,
                 "more keys came than -n %s: the error rate would be %.3g instead of %g; nothing "
                 "was saved (without -n they are counted; see also --grow, --overfull)",
                 capacity, info.fpr, chosen->promised);
    else
        complain(command,
                 "the set would hold %s keys, but is made for %s (--like), and its error rate "
                 "would be %.3g; nothing was saved (see --overfull)",
                 count, capacity, info.fpr);
    return false;
}

/* The hash of the set, with a seed.  false after a complaint. */
static bool choose_hash(key_reader *reader, const build_options *chosen) {
    tamis_params hash;

    tamis_params_init(&hash);
    hash.hash = chosen->need.hash;
    hash.seed = chosen->seed.low;
    hash.seed_high = chosen->seed.high;
    if (hash.seed != 0 || hash.seed_high != 0 || tamis_seed_draw(&hash) == TAMIS_OK)
        return keys_hash(reader, &hash);
    complain(reader->command, "the system gives no random seed; choose one with --seed");
    return false;
}

/* Insert all keys.  false after a complaint. */
static bool insert_keys(key_reader *reader, build_options *chosen, tamis_filter **filter) {
    distinct *const different =
        chosen->need.copies > 1 && chosen->need.n > 0 ? distinct_new() : NULL;
    const bool inserted = set_insert(reader, chosen->jobs, filter, different);
    if (different != NULL)
        chosen->counts.different = distinct_tell(different);
    distinct_free(different);
    return inserted;
}

static tamis_filter *build_any(key_reader *reader, build_options *chosen, tamis_key_form *form) {
    tamis_need need = chosen->need;
    tamis_filter *filter;

    if (chosen->like == NULL && !choose_hash(reader, chosen))
        return NULL;
    if (chosen->like == NULL && need.n == 0)
        return build_all(reader, chosen->jobs, &need, &chosen->counts);
    filter = chosen->like != NULL
                 ? build_like(reader, chosen, form)
                 : create_planned(reader->command, &need, &reader->hash, &chosen->promised);
    if (filter == NULL)
        return NULL;
    if ((need.grows && !set_allow_growth(reader->command, filter, need.fpr)) ||
        !insert_keys(reader, chosen,
                     &filter) || /* no keys are left if the set was built from all */
        !promise_check(reader->command, chosen, filter)) {
        tamis_filter_free(filter);
        return NULL;
    }
    return filter;
}

/* The set, which knows the form of its keys; NULL after a complaint. */
static tamis_filter *build(key_reader *reader, build_options *chosen) {
    tamis_key_form form = key_format_form(&chosen->format);
    tamis_filter *const filter = build_any(reader, chosen, &form);

    if (filter == NULL || tamis_filter_set_key_form(filter, form) == TAMIS_OK)
        return filter;
    complain(reader->command, "the form of keys cannot be noted");
    tamis_filter_free(filter);
    return NULL;
}

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    build_options *const chosen = context;

    switch (option) {
    case 'o':
        chosen->output = optarg;
        return true;
    case OPT_SEED:
        chosen->planned = true;
        return option_seed(command, optarg, &chosen->seed);
    case OPT_HASH:
        chosen->planned = true;
        return option_hash(command, optarg, &chosen->need.hash);
    case OPT_LIKE:
        chosen->like = optarg;
        return true;
    case OPT_GROW:
        chosen->planned = true;
        return option_flag(&chosen->need.grows);
    case OPT_COMPACT:
        return option_flag(&chosen->compact);
    case OPT_OVERFULL:
        return option_flag(&chosen->overfull);
    case OPT_VERBOSE:
        return option_flag(&chosen->verbose);
    case 'j':
        return jobs_option(command, optarg, &chosen->jobs) == 1;
    default:
        break;
    }
    const int taken = key_format_option(command, &chosen->format, option);
    if (taken >= 0)
        return taken == 1;
    chosen->planned = true;
    return need_option(command, option, &chosen->need) == 1;
}

/* Has a kind a compact form?  An empty set of it tells. */
static bool has_compact(tamis_kind kind) {
    tamis_params params;
    tamis_filter *filter;

    tamis_params_init(&params);
    params.kind = kind;
    params.capacity = 1;
    params.seed = 1;
    if (tamis_kind_name(kind) == NULL || tamis_filter_create(&params, NULL, &filter) != TAMIS_OK)
        return false;
    const bool has = tamis_filter_compact_size(filter) != 0;
    tamis_filter_free(filter);
    return has;
}

/* The compact form needs a kind that has one; what --like brings is seen when it is written. */
static bool compact_check(const char *command, build_options *chosen) {
    tamis_kind *const kind = &chosen->need.kind;

    if (!chosen->compact || chosen->like != NULL)
        return true;
    if (*kind == TAMIS_KIND_ANY)
        *kind = TAMIS_KIND_RANK;
    if (has_compact(*kind))
        return true;
    char kinds[TEXT_KINDS] = "";
    size_t used = 0;
    for (int i = 1; i < 256; i++) /* the numbers of the kinds fit one byte of a file */
        if (has_compact((tamis_kind)i) && used < sizeof kinds)
            used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s%s",
                                     used > 0 ? ", " : "", tamis_kind_name((tamis_kind)i));
    complain(command, "%s has no compact form (--compact); these have: %s", tamis_kind_name(*kind),
             kinds);
    return false;
}

/* Are the options compatible? false after a complaint. */
static bool check_options(const char *command, build_options *chosen) {
    if (chosen->output == NULL)
        complain(command, "-o SET, the file to write, is required");
    else if (chosen->like != NULL && chosen->planned)
        complain(command,
                 "--like excludes --hash, --seed and all that plans (-p, -n, --kind, ...)");
    else if (chosen->need.grows &&
             (chosen->compact || (chosen->need.bytes > 0 && chosen->need.fpr == 0)))
        complain(command, "--grow excludes --compact, and --bytes without -p");
    else
        return compact_check(command, chosen);
    return false;
}

static int build_files(const char *command, build_options *chosen, char *const *files,
                       int n_files) {
    if (!check_options(command, chosen) ||
        !output_differs(command, chosen->output, files, n_files,
                        keys_from_standard(&chosen->format, files, n_files)) ||
        !output_check(command, chosen->output))
        return EXIT_TROUBLE;
    if (chosen->need.fpr == 0 && chosen->need.bytes == 0)
        chosen->need.fpr = 0.01;
    key_reader *const reader = keys_open(command, &chosen->format, files, n_files);
    if (reader == NULL)
        return EXIT_TROUBLE;
    tamis_filter *const filter = build(reader, chosen);
    keys_free(reader);
    if (filter == NULL)
        return EXIT_TROUBLE;
    const bool saved = (chosen->compact ? set_export : set_save)(command, filter, chosen->output);
    tamis_info info;
    if (saved)
        build_tell_counts(command, &chosen->counts, chosen->verbose);
    if (saved && chosen->overfull && !promise_kept(chosen, filter, &info))
        set_warn_overload(command, filter, chosen->output);
    if (saved && chosen->verbose)
        set_describe(command, filter, chosen->output);
    tamis_filter_free(filter);
    return saved ? EXIT_YES : EXIT_TROUBLE;
}

int cmd_build(int argc, char **argv) {
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            NEED_OPTIONS,
                                            {"seed", required_argument, NULL, OPT_SEED},
                                            {"hash", required_argument, NULL, OPT_HASH},
                                            {"grow", no_argument, NULL, OPT_GROW},
                                            {"like", required_argument, NULL, OPT_LIKE},
                                            {"compact", no_argument, NULL, OPT_COMPACT},
                                            {"overfull", no_argument, NULL, OPT_OVERFULL},
                                            {"verbose", no_argument, NULL, OPT_VERBOSE},
                                            JOBS_OPTIONS,
                                            KEY_OPTIONS,
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    build_options chosen = {.format = KEY_FORMAT_DEFAULT};
    const command_line line = {"o:" NEED_LETTERS JOBS_LETTERS KEY_LETTERS, options, help,
                               take_option};

    tamis_need_init(&chosen.need);
    int code = options_read(argc, argv, &line, &chosen);
    if (code == GO_ON)
        code = build_files(argv[0], &chosen, argv + optind, argc - optind);
    key_format_free(&chosen.format);
    return code;
}
