/* cmd_plan.c - tamis plan: what a set will cost and promise
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <tamis/shared.h>

#include <inttypes.h>
#include <math.h>

#define PLANS_MAX 64
#define COLUMNS   80

static const char help[] =
    "usage: tamis plan -n N [-p P] [OPTION...]         how many bytes?\n"
    "       tamis plan -n N --bytes SIZE [OPTION...]   which error rate?\n"
    "       tamis plan --bytes SIZE [-p P] [OPTION...] how many keys?\n"
    "       tamis plan --check ROWS [-n MOST] [--seed N] [--threads T | --changes]\n"
    "Say what a set will cost and promise, before it is built.\n\n"
    "  -n N            keys at most in the set: 10000000, 1e7 or 10M\n"
    "  -p P            error rate when N keys are in, 0 < P < 1 (default 0.01)\n" NEED_HELP
    "      --values B  keep a value of B bits with each key, up to 8\n"
    "      --offline   the set will be built from all keys at once\n"
    "      --grow      it may grow beyond N: plan its first part, which gets half of the errors\n"
    "      --threads T up to 1024 threads will share the set\n"
    "      --all       every kind that can do it, the best first\n"
    "      --search    look at every kind, and not in a table where there is one\n"
    "      --json      as a JSON object, with --all as an array of objects\n"
    "      --check ROWS\n"
    "                  draw as many needs at random, of up to MOST keys (1e6), plan and build "
    "them, and\n"
    "                  measure whether the promises are kept\n"
    "      --seed N    --check: other needs\n"
    "      --changes   --check: of sets whose keys are replaced again and again, in copies or "
    "not\n";

static plan_cost cost_of(const tamis_plan *plan) {
    return (plan_cost){NULL,        plan->params.kind,  plan->n,
                       plan->bytes, plan->bits_per_key, plan->fpr};
}

/* Of a call that there may not be. */
static void json_time(json *j, const char *name, double ns) {
    if (ns > 0)
        json_real(j, name, ns);
    else
        json_null(j, name);
}

/* 'need': tell also what its wishes cost; or NULL. */
static void print_json_plan(json *j, const tamis_plan *plan, const tamis_need *need) {
    const unsigned abilities = tamis_params_abilities(&plan->params);

    json_open(j, NULL, '{', false);
    json_text(j, "kind", tamis_kind_name(plan->params.kind));
    json_params(j, &plan->params);
    json_u64(j, "n", plan->n);
    json_u64(j, "capacity", plan->params.capacity);
    json_u64(j, "bytes", plan->bytes);
    json_u64(j, "file_bytes", plan->file_bytes);
    json_real(j, "bits_per_key", plan->bits_per_key);
    json_real(j, "bound_bits_per_key", plan->bound_bits_per_key);
    json_real(j, "fpr", plan->fpr);
    json_real(j, "fpr_half", plan->fpr_half);
    json_real(j, "overflow_probability", plan->overflow_probability);
    json_real(j, "lines_per_query", plan->lines_per_query);
    json_real(j, "lines_per_insert", plan->lines_per_insert);
    json_real(j, "ns_insert", plan->ns_insert);
    json_real(j, "ns_lookup", plan->ns_lookup);
    json_time(j, "ns_remove", plan->ns_remove);
    json_real(j, "ns_insert_cached", plan->ns_insert_cached);
    json_real(j, "ns_lookup_cached", plan->ns_lookup_cached);
    json_time(j, "ns_remove_cached", plan->ns_remove_cached);
    if (plan->replacements > 0)
        json_u64(j, "replacements", plan->replacements);
    else
        json_null(j, "replacements");
    json_bool(j, "deletes", (abilities & TAMIS_CAN_REMOVE) != 0);
    json_bool(j, "merges", (abilities & TAMIS_CAN_MERGE) != 0);
    json_bool(j, "counts", (abilities & TAMIS_CAN_COUNT) != 0);
    if (need != NULL) {
        plan_cost without[PLAN_COSTS_MAX];
        const plan_cost with = cost_of(plan);
        json_plan_costs(j, without, plan_costs(need, 0, &with, without));
    }
    json_close(j);
}

static void print_json(const tamis_need *need, const tamis_plan *plans, size_t n, bool array) {
    json j;

    json_start(&j, stdout);
    if (array)
        json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++)
        print_json_plan(&j, &plans[i], array ? NULL : need);
    if (array)
        json_close(&j);
    json_end(&j);
}

/* ---- sets that threads share ---- */

static plan_cost shared_cost_of(const tamis_shared_plan *plan) {
    return (plan_cost){NULL,        plan->params.kind,  plan->n,
                       plan->bytes, plan->bits_per_key, plan->fpr};
}

static void print_shared_json(const tamis_need *need, unsigned threads,
                              const tamis_shared_plan *plan) {
    plan_cost without[PLAN_COSTS_MAX];
    const plan_cost with = shared_cost_of(plan);
    json j;

    json_start(&j, stdout);
    json_open(&j, NULL, '{', false);
    json_text(&j, "kind", tamis_kind_name(plan->params.kind));
    json_params(&j, &plan->params);
    json_u64(&j, "shards", plan->shards);
    json_u64(&j, "n", plan->n);
    json_u64(&j, "capacity", plan->shards * plan->params.capacity);
    json_u64(&j, "bytes", plan->bytes);
    json_real(&j, "bits_per_key", plan->bits_per_key);
    json_real(&j, "bound_bits_per_key", plan->bound_bits_per_key);
    json_real(&j, "fpr", plan->fpr);
    json_real(&j, "overflow_probability", plan->overflow_probability);
    json_real(&j, "lines_per_query", plan->lines_per_query);
    json_real(&j, "lines_per_insert", plan->lines_per_insert);
    json_plan_costs(&j, without, plan_costs(need, threads, &with, without));
    json_close(&j);
    json_end(&j);
}

static void print_params(const tamis_params *params);

static void print_shared(const tamis_need *need, unsigned threads, const tamis_shared_plan *plan) {
    plan_cost without[PLAN_COSTS_MAX];
    const plan_cost with = shared_cost_of(plan);
    char keys[TEXT_NUMBER];
    char size[TEXT_NUMBER];

    printf("%s keys, shared by threads\n\n", text_count(plan->n, keys));
    printf("%-14s %8s %9s %8s %5s %6s %7s %6s\n", "kind", "bits/key", "size", "errors", "query",
           "insert", "failure", "shards");
    printf("%-14s %8.2f %9s %8.3g %5.2f %6.2f %7.1g %6u\n\n", tamis_kind_name(plan->params.kind),
           plan->bits_per_key, text_bytes(plan->bytes, size), plan->fpr, plan->lines_per_query,
           plan->lines_per_insert, plan->overflow_probability, plan->shards);
    print_params(&plan->params);
    print_plan_costs(need, &with, without, plan_costs(need, threads, &with, without));
}

/* ---- sets of one thread ---- */

/* The question, in words. */
static void print_question(const tamis_need *need) {
    char text[TEXT_NUMBER];
    char size[TEXT_NUMBER];

    if (need->n == 0)
        printf("%s at error rate %g: the most keys\n\n", text_bytes(need->bytes, size), need->fpr);
    else if (need->fpr == 0)
        printf("%s keys in %s (%.2f bits per key): the least error rate\n\n",
               text_count(need->n, text), text_bytes(need->bytes, size),
               8 * (double)need->bytes / (double)need->n);
    else
        printf("%s keys, error rate %g (any filter: at least %.2f bits per key)\n\n",
               text_count(need->n, text), need->fpr, -log2(need->fpr));
}

/* A number of keys in nine columns. */
static const char *text_keys(uint64_t n, char *text) {
    if (n < 10000000)
        return text_count(n, text);
    if (n < 10000000000)
        snprintf(text, TEXT_NUMBER, "%.2f M", (double)n * 1e-6);
    else
        snprintf(text, TEXT_NUMBER, "%.2f G", (double)n * 1e-9);
    return text;
}

/* The parameters of a plan, in lines of at most COLUMNS. */
static void print_params(const tamis_params *params) {
    int at = printf("%-14s", tamis_kind_name(params->kind));
    for (unsigned k = 0; k < TAMIS_PARAMS_MAX; k++) {
        const char *const name = tamis_param_name(params->kind, k);
        char text[64];
        if (name == NULL)
            break;
        const int size = snprintf(text, sizeof text, " %s=%" PRIu64, name, params->value[k]);
        if (at + size > COLUMNS)
            at = printf("\n%-14s", "") - 1;
        at += printf("%s", text);
    }
    putchar('\n');
}

/* Nanoseconds per call, from memory and in cache. */
static void print_times(const tamis_plan *plans, size_t n) {
    printf("\n%-14s %11s %11s %11s\n", "ns, in cache", "insert", "lookup", "remove");
    for (size_t i = 0; i < n; i++) {
        const tamis_plan *const plan = &plans[i];
        printf("%-14s %5.0f / %3.0f %5.0f / %3.0f", tamis_kind_name(plan->params.kind),
               plan->ns_insert, plan->ns_insert_cached, plan->ns_lookup, plan->ns_lookup_cached);
        if (plan->ns_remove > 0)
            printf(" %5.0f / %3.0f", plan->ns_remove, plan->ns_remove_cached);
        putchar('\n');
    }
}

/* What plans cost and promise, and below it their parameters, for which there is no room beside it.  If
 * the question was the number of keys, it takes the place of the size, which was given. */
static void print_table(const tamis_need *need, const tamis_plan *plans, size_t n) {
    char text[TEXT_NUMBER];

    print_question(need);
    printf("%-14s %8s %9s %8s %7s %5s %6s %7s %7s\n", "kind", "bits/key",
           need->n == 0 ? "keys" : "size", "errors", "at half", "query", "insert", "failure",
           "deletes");
    for (size_t i = 0; i < n; i++) {
        const tamis_plan *const plan = &plans[i];
        const tamis_kind kind = plan->params.kind;
        printf("%-14s %8.2f %9s %8.3g %7.2g %5.2f %6.2f %7.1g %7s\n", tamis_kind_name(kind),
               plan->bits_per_key,
               need->n == 0 ? text_keys(plan->n, text) : text_bytes(plan->bytes, text), plan->fpr,
               plan->fpr_half, plan->lines_per_query, plan->lines_per_insert,
               plan->overflow_probability,
               tamis_params_abilities(&plan->params) & TAMIS_CAN_REMOVE ? "yes" : "no");
    }
    putchar('\n');
    for (size_t i = 0; i < n; i++)
        print_params(&plans[i].params);
    print_times(plans, n);
    for (size_t i = 0; i < n; i++)
        if (plans[i].replacements > 0)
            printf("\n%s: holds until each key was replaced %s times (--replacements)\n",
                   tamis_kind_name(plans[i].params.kind), text_count(plans[i].replacements, text));

    plan_cost without[PLAN_COSTS_MAX];
    const plan_cost with = cost_of(&plans[0]);
    print_plan_costs(need, &with, without, plan_costs(need, 0, &with, without));
}

/* Fill 'plans' with one plan, or with all. */
static tamis_status make_plans(const tamis_need *need, bool all, tamis_plan *plans, size_t *n) {
    for (size_t i = 0; i < PLANS_MAX; i++)
        tamis_plan_init(&plans[i]);
    if (all)
        return tamis_plan_all(need, plans, PLANS_MAX, n);
    *n = 1;
    return tamis_plan_make(need, &plans[0]);
}

typedef struct plan_options {
    tamis_need need;
    bool all;
    bool as_json;
    bool changes;  /* of --check */
    bool planned;  /* an option that --check excludes was given */
    uint64_t rows; /* of --check; 0: a plan is asked for */
    uint64_t threads;
    hash_seed seed;
} plan_options;

/* Take in one option; false after a complaint. */
static bool take_option(const char *command, int option, void *context) {
    plan_options *const chosen = context;

    if (option != 'n' && option != OPT_CHECK && option != OPT_SEED && option != OPT_THREADS &&
        option != OPT_CHANGES)
        chosen->planned = true;
    switch (option) {
    case OPT_SEARCH:
        return option_flag(&chosen->need.search);
    case OPT_OFFLINE:
        return option_flag(&chosen->need.offline);
    case OPT_GROW:
        return option_flag(&chosen->need.grows);
    case OPT_CHECK:
        return option_count(command, "--check", optarg, 1000000, &chosen->rows);
    case OPT_CHANGES:
        return option_flag(&chosen->changes);
    case OPT_SEED:
        return option_seed(command, optarg, &chosen->seed);
    case OPT_THREADS:
        return option_count(command, "--threads", optarg, 1024, &chosen->threads);
    case OPT_ALL:
        return option_flag(&chosen->all);
    case OPT_JSON:
        return option_flag(&chosen->as_json);
    default:
        return need_option(command, option, &chosen->need) == 1;
    }
}

/* The same for a set that threads share. */
static int plan_shared(const char *command, const plan_options *chosen) {
    tamis_shared_plan made;

    tamis_shared_plan_init(&made);
    const tamis_status status =
        tamis_shared_plan_make(&chosen->need, (unsigned)chosen->threads, &made);
    if (status != TAMIS_OK)
        return complain_plan(command, &chosen->need, status);
    (chosen->as_json ? print_shared_json : print_shared)(&chosen->need, (unsigned)chosen->threads,
                                                         &made);
    return EXIT_YES;
}

/* Plan, and print what came out. */
static int plan(const char *command, const plan_options *chosen) {
    tamis_plan plans[PLANS_MAX];
    size_t n;
    const tamis_status status = make_plans(&chosen->need, chosen->all, plans, &n);

    if (status != TAMIS_OK)
        return complain_plan(command, &chosen->need, status);
    if (chosen->as_json)
        print_json(&chosen->need, plans, n, chosen->all);
    else if (n > 0)
        print_table(&chosen->need, plans, n);
    return n > 0 ? EXIT_YES : EXIT_NO;
}

int cmd_plan(int argc, char **argv) {
    static const struct option options[] = {NEED_OPTIONS,
                                            {"values", required_argument, NULL, OPT_VALUES},
                                            {"offline", no_argument, NULL, OPT_OFFLINE},
                                            {"search", no_argument, NULL, OPT_SEARCH},
                                            {"grow", no_argument, NULL, OPT_GROW},
                                            {"check", required_argument, NULL, OPT_CHECK},
                                            {"seed", required_argument, NULL, OPT_SEED},
                                            {"changes", no_argument, NULL, OPT_CHANGES},
                                            {"threads", required_argument, NULL, OPT_THREADS},
                                            {"all", no_argument, NULL, OPT_ALL},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {"help", no_argument, NULL, OPT_HELP},
                                            {NULL, 0, NULL, 0}};
    const command_line line = {NEED_LETTERS, options, help, take_option};
    plan_options chosen = {0};
    tamis_need *const need = &chosen.need;

    tamis_need_init(need);
    const int code = options_read(argc, argv, &line, &chosen);
    if (code != GO_ON)
        return code;
    if (optind < argc)
        return complain(argv[0], "'%s' is too much: a plan takes options only", argv[optind]);
    if (chosen.rows > 0 && chosen.planned)
        return complain(argv[0], "--check excludes all other options but -n, --seed, --threads and "
                                 "--changes");
    if (chosen.changes && (chosen.rows == 0 || chosen.threads > 0))
        return complain(argv[0], "--changes is an option of --check, without --threads");
    if (chosen.rows > 0)
        return plan_check(argv[0], (unsigned)chosen.rows, need->n == 0 ? 1000000 : need->n,
                          chosen.seed.low == 0 ? 1 : chosen.seed.low, (unsigned)chosen.threads,
                          chosen.changes);
    if (chosen.seed.low != 0 || chosen.seed.high != 0)
        return complain(argv[0], "--seed is an option of --check and of 'tamis build'");
    if (need->n == 0 && need->bytes == 0)
        return complain(argv[0], "-n N, the number of keys, is required, or --bytes");
    if (need->fpr == 0 && (need->n == 0 || need->bytes == 0))
        need->fpr = 0.01;

    if (chosen.threads > 0 && (chosen.all || need->offline))
        return complain(argv[0], "--threads excludes --all and --offline");

    return chosen.threads > 0 ? plan_shared(argv[0], &chosen) : plan(argv[0], &chosen);
}
