/* cmd_table.c - tamis table: exact tables in files
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char table_help[] =
    "usage: tamis table plan    -n N [OPTION...]             say what a table will cost\n"
    "       tamis table create  [OPTION...] TABLE            make an empty table\n"
    "       tamis table put     [OPTION...] TABLE [FILE...]  store items: KEY, tab, VALUE\n"
    "       tamis table get     [OPTION...] TABLE [FILE...]  find keys: KEY, tab, VALUE\n"
    "       tamis table delete  [OPTION...] TABLE [FILE...]  delete keys\n"
    "       tamis table dump    [OPTION...] TABLE            print all items\n"
    "       tamis table import  [OPTION...] TABLE [FILE...]  store items of TSV or JSON lines\n"
    "       tamis table export  [OPTION...] TABLE            print all items as such\n"
    "       tamis table info    [--json] TABLE               what it is, and how full\n"
    "       tamis table verify  [--json] TABLE               read and check all of it\n"
    "       tamis table rebuild [--repair] TABLE             make deleted slots usable again\n"
    "       tamis table bench   [-n N] [OPTION...]           count the reads of slow memory\n"
    "An exact table of keys and values in a file: one read per key that is there, almost none per "
    "key\n"
    "that is not.  Keys and items come one per line from the files or standard input.\n\n"
    "Of plan and create:\n"
    "  -n N                items that a table with slots is made for.  Without it the table has\n"
    "                      pages: it grows, and takes items of any size up to 1000 bytes, and\n"
    "                      values up to 64 MiB, which cost a second read\n"
    "  -p RATE             error rate of the summary (0.006; pages: 0.0022)\n"
    "      --odds P        odds that any item finds no place or is looked for in a wrong one "
    "(1e-9)\n"
    "      --summary S     multiple, single, interpolation, multiple-counting, single-counting;\n"
    "                      song, a baseline for comparison: nothing can be deleted\n"
    "      --bucket B      slots of a bucket, 1 to 4 (1), or 'page'\n"
    "      --slots X       slots per item (6, 4, 3, 2.5 for buckets of 1 to 4)\n"
    "      --no-deletes    items will never be deleted\n"
    "      --key-max K     longest key in bytes (32)\n"
    "      --value-max V   longest value in bytes (32)\n"
    "      --stash S       items that find no place elsewhere\n"
    "      --hash H        aes, the default, or xxh3 if nobody chooses keys to do harm\n"
    "      --seed N        of the hash; random by default\n"
    "Of put, delete, import and rebuild:\n"
    "      --sync WHEN     to the disk: each, batch (at the end), none (batch)\n"
    "Of put, get, delete and dump:\n"
    "  -0, --null          lines end with NUL, not with newline\n"
    "      --hex           keys and values are in hexadecimal\n"
    "Of import, which makes a table that is not there, and export:\n"
    "      --format F      tsv, with \\t, \\n, \\r and \\\\, or jsonl: {\"key\": ..., \"value\": "
    "...} (tsv)\n"
    "Of get:\n"
    "  -e KEY              this key; several times for several.  No file is read then unless "
    "named\n"
    "  -v, --invert        print the keys that are not there\n"
    "  -c, --count         print only how many\n"
    "Of rebuild:\n"
    "      --repair        empty damaged slots or pages first, and say how many\n"
    "Of plan, info, verify and bench:\n"
    "      --json          as a JSON object\n"
    "Of bench:\n"
    "  -p RATE             error rate of tables with pages, at most (0.0022)\n"
    "      --samples N     keys looked up that are there (10 % of -n), and that are not (-n)\n"
    "      --directory D   where the file is made and removed (.)\n"
    "      --peers         also an open-addressing table, SQLite, LMDB and LevelDB, if built in\n"
    "      --names         names of packages as keys, with values of 100 bytes\n"
    "      --each N        also replace N items with a sync each\n"
    "      --replace N     also replace all items N times, and tell the size of the file\n"
    "      --grow          instead, a table of pages that grows to -n, with a reader beside it\n";

/* -------------------------------------------------------------------------------------------------
 * What the verbs share
 */

tamis_table *table_open(const char *command, const char *path, const tamis_table_options *options) {
    const char *reason = "";
    tamis_table *table = NULL;
    if (tamis_table_open(path, options, NULL, &table, &reason) != TAMIS_OK) {
        complain(command, "%s: %s", path, reason);
        return NULL;
    }
    tamis_table_state info;
    tamis_table_state_init(&info);
    if (tamis_table_info(table, &info) == TAMIS_OK && info.dropped > 0)
        complain(command, "%s: %" PRIu64 " changes that were not synced are lost", path,
                 info.dropped);
    return table;
}

bool table_close(const char *command, const char *path, tamis_table *table) {
    if (tamis_table_close(table) == TAMIS_OK)
        return true;
    complain(command, "%s: could not be closed properly; no item is lost", path);
    return false;
}

bool option_sync(const char *command, const char *text, tamis_sync *sync) {
    static const char *const names[] = {"batch", "each", "none"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *sync = (tamis_sync)i;
            return true;
        }
    }
    complain(command, "--sync: '%s' is none of each, batch, none", text);
    return false;
}

bool option_summary(const char *command, const char *text, tamis_summary *summary) {
    if (tamis_summary_parse(text, summary) == TAMIS_OK)
        return true;
    complain(command,
             "--summary: there is no summary '%s', only multiple, single, interpolation, "
             "multiple-counting, single-counting, song",
             text);
    return false;
}

/* -------------------------------------------------------------------------------------------------
 * plan and create
 */

typedef struct create_options {
    tamis_table_need need;
    uint64_t key_max, value_max, stash;
    hash_seed seed;
    tamis_hash_id hash;
    bool slots; /* an option that only a table with slots has was given */
    bool json;
} create_options;

/* A real number in a range; false after a complaint. */
static bool option_real(const char *command, const char *option, const char *text, double least,
                        double most, double *value) {
    char *end;
    const double x = strtod(text, &end);
    if (end != text && *end == '\0' && x >= least && x <= most) {
        *value = x;
        return true;
    }
    complain(command, "%s: '%s' is not a number from %g to %g", option, text, least, most);
    return false;
}

static bool create_option(const char *command, int option, void *context) {
    create_options *const chosen = context;
    tamis_table_need *const need = &chosen->need;

    chosen->slots = chosen->slots || option == OPT_ODDS || option == OPT_SLOTS ||
                    option == OPT_SUMMARY || option == OPT_NO_DELETES || option == OPT_STASH;
    switch (option) {
    case 'n':
        return option_count(command, "-n", optarg, TAMIS_CAPACITY_MAX, &need->n);
    case 'p':
        return option_real(command, "-p", optarg, 1e-15, 0.5, &need->fpr);
    case OPT_ODDS:
        return option_real(command, "--odds", optarg, 1e-16, 0.5, &need->odds);
    case OPT_SLOTS:
        return option_real(command, "--slots", optarg, 1, 100, &need->slots_per_item);
    case OPT_SUMMARY:
        return option_summary(command, optarg, &need->summary);
    case OPT_BUCKET:
        if (strcmp(optarg, "page") == 0) {
            need->bucket = TAMIS_TABLE_PAGE;
            return true;
        }
        return option_count(command, "--bucket", optarg, TAMIS_TABLE_BUCKET_MAX, &need->bucket);
    case OPT_NO_DELETES:
        return option_flag(&need->no_deletes);
    case OPT_KEY_MAX:
        return option_count(command, "--key-max", optarg, 4088, &chosen->key_max);
    case OPT_VALUE_MAX:
        if (strcmp(optarg, "0") == 0) {
            chosen->value_max = 0;
            return true;
        }
        return option_count(command, "--value-max", optarg, 4087, &chosen->value_max);
    case OPT_STASH:
        return option_count(command, "--stash", optarg, 1 << 30, &chosen->stash);
    case OPT_SEED:
        return option_seed(command, optarg, &chosen->seed);
    case OPT_HASH:
        return option_hash(command, optarg, &chosen->hash);
    case OPT_JSON:
        return option_flag(&chosen->json);
    default:
        return false;
    }
}

/* Nothing says how many slots a bucket has. */
static bool need_bucket_is_open(const create_options *chosen) {
    return chosen->need.bucket == 0 && !chosen->slots;
}

/* The options of plan and create, and the plan.  EXIT_YES to go on. */
static int make_plan(int argc, char **argv, create_options *chosen, tamis_table_plan *plan) {
    static const struct option options[] = {{"odds", required_argument, NULL, OPT_ODDS},
                                            {"slots", required_argument, NULL, OPT_SLOTS},
                                            {"summary", required_argument, NULL, OPT_SUMMARY},
                                            {"bucket", required_argument, NULL, OPT_BUCKET},
                                            {"no-deletes", no_argument, NULL, OPT_NO_DELETES},
                                            {"key-max", required_argument, NULL, OPT_KEY_MAX},
                                            {"value-max", required_argument, NULL, OPT_VALUE_MAX},
                                            {"stash", required_argument, NULL, OPT_STASH},
                                            {"seed", required_argument, NULL, OPT_SEED},
                                            {"hash", required_argument, NULL, OPT_HASH},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {NULL, 0, NULL, 0}};
    const command_line line = {"n:p:", options, table_help, create_option};

    memset(chosen, 0, sizeof *chosen);
    chosen->value_max = UINT64_MAX;
    tamis_table_need_init(&chosen->need);
    const int code = options_read(argc, argv, &line, chosen);
    if (code != GO_ON)
        return code;
    if (chosen->need.n == 0 && need_bucket_is_open(chosen))
        chosen->need.bucket = TAMIS_TABLE_PAGE;
    const bool pages = chosen->need.bucket == TAMIS_TABLE_PAGE;
    if (pages && chosen->slots)
        return complain(argv[0], "this option is for tables with slots (-n), not with pages");
    if (chosen->need.n == 0 && !pages)
        return complain(argv[0], "how many items? (-n)");
    tamis_table_plan_init(plan);
    tamis_status status = tamis_table_plan_make(&chosen->need, plan);
    if (status != TAMIS_OK)
        return complain(argv[0], "there is no such table: %s", tamis_status_text(status));
    if (!pages) {
        plan->params.key_max = chosen->key_max == 0 ? 32 : chosen->key_max;
        plan->params.value_max = chosen->value_max == UINT64_MAX ? 32 : chosen->value_max;
    }
    if (pages)
        plan->params.value_max = TAMIS_TABLE_VALUE_MAX;
    plan->params.stash = chosen->stash;
    plan->params.hash = chosen->hash;
    plan->params.seed = chosen->seed.low;
    plan->params.seed_high = chosen->seed.high;
    status = tamis_table_complete(&plan->params);
    if (status != TAMIS_OK)
        return complain(
            argv[0],
            "the table cannot be made: %s (a bucket of slots has at most 4096 bytes, and 8 "
            "more than key and value per slot)",
            tamis_status_text(status));
    return EXIT_YES;
}

static void json_list(json *j, const char *name, const uint64_t *list, uint64_t n) {
    json_open(j, name, '[', true);
    for (uint64_t i = 0; i < n; i++)
        json_u64(j, NULL, list[i]);
    json_close(j);
}

static void json_table_params(json *j, const tamis_table_params *params) {
    json_text(j, "summary", tamis_summary_name(params->summary));
    json_open(j, "params", '{', false);
    json_u64(j, "key_max", params->key_max);
    json_u64(j, "value_max", params->value_max);
    json_u64(j, "bucket", params->bucket);
    json_u64(j, "stash", params->stash);
    json_u64(j, "rebuild_permille", params->rebuild_permille);
    json_list(j, "buckets", params->buckets, params->n_levels);
    json_u64(j, "string_bits", params->string_bits);
    json_list(j, "cells", params->cells, params->n_levels);
    json_list(j, "hashes", params->hashes, params->n_levels);
    json_list(j, "counter_bits", params->counter_bits, params->n_levels);
    json_close(j);
}

static uint64_t slots_of(const tamis_table_params *params) {
    uint64_t slots = 0;
    for (uint64_t i = 0; i < params->n_levels; i++)
        slots += params->buckets[i] * params->bucket;
    return slots;
}

static void print_list(const char *name, const uint64_t *list, uint64_t n) {
    printf("%-15s", name);
    for (uint64_t i = 0; i < n; i++)
        printf(" %" PRIu64, list[i]);
    putchar('\n');
}

/* A plan of pages.  They are 90 % full on average (docs/table.md); beside its bytes an item takes one, and
 * two more if sizes differ; a page has 18 bytes in the index, 17 of them for its leaf, and its filter room
 * for a 16th more and half a byte that is lost. */
static void plan_pages(const create_options *chosen, const tamis_table_plan *plan) {
    const double n = (double)plan->params.capacity;
    const double key = chosen->key_max == 0 ? 32 : (double)chosen->key_max;
    const double value = chosen->value_max == UINT64_MAX ? 32 : (double)chosen->value_max;
    const double pages = ceil(n * (key + value + 3) / (0.9 * 4080));
    const double filters = (double)plan->summary_bits / 8 * 17 / 16 + pages / 2;
    const double index = 18 * pages;
    const double file = 4096 * ceil(pages * (1 + 16.0 / 4096 / 0.75) + filters / 4096 + 5);
    if (chosen->json) {
        json j;
        json_start(&j, stdout);
        json_open(&j, NULL, '{', false);
        json_u64(&j, "capacity", plan->params.capacity);
        json_text(&j, "bucket", "page");
        json_real(&j, "pages", pages);
        json_real(&j, "file_bytes", file);
        json_real(&j, "slow_bytes_per_item", file / n);
        json_real(&j, "fast_bytes", filters + index);
        json_real(&j, "fast_bits_per_item", 8 * (filters + index) / n);
        json_real(&j, "fpr", plan->fpr);
        json_close(&j);
        json_end(&j);
        return;
    }
    char text[TEXT_NUMBER];
    printf("items           %s", text_count(plan->params.capacity, text));
    printf(", keys of %.0f and values of %.0f bytes\n", key, value);
    printf("pages           about %s\n", text_count((uint64_t)pages, text));
    printf("file            about %s", text_bytes((uint64_t)file, text));
    printf(", %.1f bytes per item\n", file / n);
    printf("fast memory     about %s", text_bytes((uint64_t)(filters + index), text));
    printf(", %.1f bits per item: filters %.1f, index %.1f\n", 8 * (filters + index) / n,
           8 * filters / n, 8 * index / n);
    printf("error rate      at most %.3g\n", plan->fpr);
}

static int table_plan(int argc, char **argv) {
    create_options chosen = {0};
    tamis_table_plan plan = {0};
    const int code = make_plan(argc, argv, &chosen, &plan);
    if (code != EXIT_YES)
        return code;
    if (optind != argc)
        return complain(argv[0], "'%s' is too much", argv[optind]);
    const tamis_table_params *const params = &plan.params;
    if (params->bucket == TAMIS_TABLE_PAGE) {
        if (params->capacity == 0)
            return complain(argv[0], "how many items? (-n)");
        plan_pages(&chosen, &plan);
        return EXIT_YES;
    }
    const uint64_t slots = slots_of(params);
    const double n = (double)params->capacity;
    /* one bit per slot, and one more where deleted items wait for a rebuild */
    const bool lazy =
        params->summary == TAMIS_SUMMARY_MULTIPLE || params->summary == TAMIS_SUMMARY_SINGLE;
    const double slot_bits = (double)slots * (lazy ? 2 : 1);
    const double bits = (double)plan.summary_bits + slot_bits;
    const double file =
        (double)(slots * (8 + params->key_max + params->value_max)) + ceil(bits / 8);
    if (chosen.json) {
        json j;
        json_start(&j, stdout);
        json_open(&j, NULL, '{', false);
        json_u64(&j, "capacity", params->capacity);
        json_table_params(&j, params);
        json_u64(&j, "slots", slots);
        json_real(&j, "slow_bytes_per_item",
                  (double)(slots * (8 + params->key_max + params->value_max)) / n);
        json_real(&j, "file_bytes", file);
        json_real(&j, "fast_bytes", bits / 8);
        json_u64(&j, "summary_bits", plan.summary_bits);
        json_real(&j, "fast_bits_per_item", bits / n);
        json_real(&j, "fpr", plan.fpr);
        json_real(&j, "crisis", plan.crisis);
        json_real(&j, "failure", plan.failure);
        json_close(&j);
        json_end(&j);
        return EXIT_YES;
    }
    char text[TEXT_NUMBER];
    printf("items           %s\n", text_count(params->capacity, text));
    printf("summary         %s\n", tamis_summary_name(params->summary));
    printf("slots           %s", text_count(slots, text));
    printf(", %.2f per item, %" PRIu64 " bytes each\n", (double)slots / n,
           8 + params->key_max + params->value_max);
    printf("file            about %s", text_bytes((uint64_t)file, text));
    printf(", %.1f bytes per item\n", file / n);
    print_list("sub-tables", params->buckets, params->n_levels);
    printf("fast memory     %s", text_bytes((uint64_t)(bits / 8), text));
    printf(", %.2f bytes per item: summary %.2f, bits of slots %.2f\n", bits / n / 8,
           (double)plan.summary_bits / n / 8, slot_bits / n / 8);
    printf("error rate      %.3g\n", plan.fpr);
    printf("odds of crisis  %.3g\n", plan.crisis);
    printf("odds of failure %.3g\n", plan.failure);
    return EXIT_YES;
}

void table_page_params(tamis_table_params *params) {
    tamis_table_params_init(params);
    params->bucket = TAMIS_TABLE_PAGE;
    params->value_max = TAMIS_TABLE_VALUE_MAX;
}

static int table_create(int argc, char **argv) {
    create_options chosen;
    tamis_table_plan plan;
    tamis_table *table;
    const char *reason = "";
    const int code = make_plan(argc, argv, &chosen, &plan);
    if (code != EXIT_YES)
        return code;
    if (argc - optind != 1)
        return complain(argv[0], "one name for the table is required (see 'tamis help table')");
    if (chosen.json)
        return complain(argv[0], "--json is an option of 'tamis table plan'");
    const char *const path = argv[optind];
    signals_hold();
    const tamis_status status =
        tamis_table_create_file(path, &plan.params, NULL, NULL, &table, &reason);
    const bool closed = status == TAMIS_OK && table_close(argv[0], path, table);
    signals_release();
    if (status != TAMIS_OK)
        return complain(argv[0], "cannot make %s: %s", path, reason);
    return closed ? EXIT_YES : EXIT_TROUBLE;
}

/* -------------------------------------------------------------------------------------------------
 * info, verify, rebuild
 */

static void info_json(const char *path, const tamis_table_state *info) {
    const tamis_table_params *const params = &info->params;
    json j;
    json_start(&j, stdout);
    json_open(&j, NULL, '{', false);
    json_text(&j, "file", path);
    json_u64(&j, "capacity", params->capacity);
    json_u64(&j, "count", info->count);
    json_text(&j, "hash", tamis_hash_name(params->hash));
    json_seed(&j, (hash_seed){params->seed, params->seed_high});
    json_table_params(&j, params);
    json_u64(&j, "slots", info->slots);
    json_u64(&j, "slot_bytes", info->slot_bytes);
    json_list(&j, "level_count", info->level_count, params->n_levels);
    json_u64(&j, "deleted", info->deleted);
    json_bool(&j, "rebuild_due", info->rebuild_due);
    json_u64(&j, "stash_used", info->stash_used);
    json_u64(&j, "file_bytes", info->slow_bytes);
    json_u64(&j, "summary_bytes", info->summary_bytes);
    json_u64(&j, "bit_bytes", info->bit_bytes);
    json_u64(&j, "stash_bytes", info->stash_bytes);
    json_real(&j, "fpr", info->fpr);
    json_bool(&j, "recovered", info->recovered);
    json_close(&j);
    json_end(&j);
}

static void info_pages(const char *path, const tamis_table_state *info) {
    const tamis_table_params *const params = &info->params;
    char text[TEXT_NUMBER], seed[TEXT_SEED];
    printf("file            %s\n", path);
    printf("items           %s\n", text_count(info->count, text));
    printf("pages           %s\n", text_count(info->slots, text));
    printf("hash            %s\n", tamis_hash_name(params->hash));
    printf("seed            %s\n", text_seed((hash_seed){params->seed, params->seed_high}, seed));
    printf("file size       %s\n", text_bytes(info->slow_bytes, text));
    printf("fast memory     %s filters", text_bytes(info->summary_bytes, text));
    printf(", %s index\n", text_bytes(info->bit_bytes, text));
    printf("error rate      %.3g\n", info->fpr);
    if (info->recovered)
        printf("not closed      the filters were made anew\n");
}

static void info_text(const char *path, const tamis_table_state *info) {
    const tamis_table_params *const params = &info->params;
    char text[TEXT_NUMBER], seed[TEXT_SEED];
    if (params->bucket == TAMIS_TABLE_PAGE) {
        info_pages(path, info);
        return;
    }
    printf("file            %s\n", path);
    printf("summary         %s\n", tamis_summary_name(params->summary));
    printf("items           %s", text_count(info->count, text));
    printf(" of %s\n", text_count(params->capacity, text));
    printf("keys, values    up to %" PRIu64 " and %" PRIu64 " bytes\n", params->key_max,
           params->value_max);
    print_list("sub-tables", params->buckets, params->n_levels);
    printf("slots of each   %" PRIu64 "\n", params->bucket);
    print_list("items in each", info->level_count, params->n_levels);
    printf("stash           %s", text_count(info->stash_used, text));
    printf(" of %s items\n", text_count(params->stash, text));
    printf("deleted slots   %s%s\n", text_count(info->deleted, text),
           info->rebuild_due ? ": a rebuild is due" : "");
    printf("hash            %s\n", tamis_hash_name(params->hash));
    printf("seed            %s\n", text_seed((hash_seed){params->seed, params->seed_high}, seed));
    printf("file size       %s\n", text_bytes(info->slow_bytes, text));
    printf("fast memory     %s summary", text_bytes(info->summary_bytes, text));
    printf(", %s bits", text_bytes(info->bit_bytes, text));
    printf(", %s stash\n", text_bytes(info->stash_bytes, text));
    printf("error rate      %.3g\n", info->fpr);
    if (info->recovered)
        printf("not closed      the summary was made anew\n");
}

static tamis_table *open_to_read(const char *command, const char *path) {
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.read_only = true;
    return table_open(command, path, &options);
}

static int table_info(int argc, char **argv) {
    bool as_json;
    const char *path;
    tamis_table_state info;
    const int code = one_set_options(argc, argv, table_help, &as_json, &path);
    if (path == NULL)
        return code;
    tamis_table *const table = open_to_read(argv[0], path);
    if (table == NULL)
        return EXIT_TROUBLE;
    tamis_table_state_init(&info);
    const tamis_status status = tamis_table_info(table, &info);
    if (!table_close(argv[0], path, table) || status != TAMIS_OK)
        return EXIT_TROUBLE;
    (as_json ? info_json : info_text)(path, &info);
    return EXIT_YES;
}

static int table_verify(int argc, char **argv) {
    bool as_json;
    const char *path;
    const char *reason = NULL;
    tamis_table_options options;
    tamis_table *table = NULL;
    uint64_t failures = 0, count = 0;
    const int code = one_set_options(argc, argv, table_help, &as_json, &path);
    if (path == NULL)
        return code;
    tamis_table_options_init(&options);
    options.read_only = true;
    tamis_status status = tamis_table_open(path, &options, NULL, &table, &reason);
    if (status == TAMIS_OK) {
        count = tamis_table_count(table);
        status = tamis_table_verify(table, &failures, &reason);
        if (!table_close(argv[0], path, table))
            return EXIT_TROUBLE;
    }
    if (status != TAMIS_OK && status != TAMIS_E_FORMAT && status != TAMIS_E_VERSION)
        return complain(argv[0], "%s: %s", path, reason);
    if (as_json) {
        json j;
        json_start(&j, stdout);
        json_open(&j, NULL, '{', false);
        json_text(&j, "file", path);
        json_bool(&j, "good", status == TAMIS_OK);
        if (status == TAMIS_OK) {
            json_null(&j, "reason");
            json_u64(&j, "count", count);
            json_u64(&j, "failures", failures);
        } else {
            json_text(&j, "reason", reason);
            json_null(&j, "count");
            json_null(&j, "failures");
        }
        json_close(&j);
        json_end(&j);
    }
    if (status != TAMIS_OK)
        return complain(argv[0], "%s: %s", path, reason);
    if (!as_json)
        printf("%s: good\n", path);
    return EXIT_YES;
}

static int table_rebuild(int argc, char **argv) {
    static const struct option options[] = {{"repair", no_argument, NULL, OPT_REPAIR},
                                            {"sync", required_argument, NULL, OPT_SYNC},
                                            {NULL, 0, NULL, 0}};
    tamis_table_options chosen;
    tamis_table_options_init(&chosen);
    for (int option; (option = option_next(argc, argv, "", options)) != -1;) {
        if (option == OPT_REPAIR)
            chosen.repair = true;
        else if (option == '?' || !option_sync(argv[0], optarg, &chosen.sync))
            return EXIT_TROUBLE;
    }
    if (argc - optind != 1)
        return complain(argv[0], "one table is required (see 'tamis help table')");
    const char *const path = argv[optind];
    tamis_table *const table = table_open(argv[0], path, &chosen);
    if (table == NULL)
        return EXIT_TROUBLE;
    const tamis_status status = tamis_table_rebuild(table, UINT64_MAX, NULL);
    tamis_table_counts stats;
    tamis_table_state info;
    tamis_table_counts_init(&stats);
    tamis_table_state_init(&info);
    const bool known =
        tamis_table_stats(table, &stats) == TAMIS_OK && tamis_table_info(table, &info) == TAMIS_OK;
    if (!table_close(argv[0], path, table))
        return EXIT_TROUBLE;
    if (status != TAMIS_OK || !known)
        return complain(argv[0], "%s: %s", path, tamis_status_text(status));
    if (info.damaged > 0)
        complain(argv[0], "%s: %" PRIu64 " damaged %s were emptied", path, info.damaged,
                 info.params.bucket == TAMIS_TABLE_PAGE ? "pages" : "slots");
    if (info.params.bucket == TAMIS_TABLE_PAGE)
        printf("%" PRIu64 " items in %" PRIu64 " pages\n", info.count, info.slots);
    else
        printf("%" PRIu64 " items, %" PRIu64 " moved\n", info.count, stats.moves);
    return EXIT_YES;
}

/* -------------------------------------------------------------------------------------------------
 * The verbs
 */

int cmd_table(int argc, char **argv) {
    static const struct {
        const char *name;
        const char *full; /* what messages begin with */
        int (*run)(int argc, char **argv);
    } verbs[] = {
        {"plan", "table plan", table_plan},
        {"create", "table create", table_create},
        {"put", "table put", table_put},
        {"get", "table get", table_get},
        {"delete", "table delete", table_delete},
        {"dump", "table dump", table_dump},
        {"import", "table import", table_import},
        {"export", "table export", table_export},
        {"info", "table info", table_info},
        {"verify", "table verify", table_verify},
        {"rebuild", "table rebuild", table_rebuild},
        {"bench", "table bench", table_bench},
    };
    if (argc < 2)
        return complain(argv[0], "what shall be done? (see 'tamis help table')");
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(table_help, stdout);
            return EXIT_YES;
        }
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(argv[1], verbs[i].name) != 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "%s", verbs[i].full);
        argv[1] = name;
        return verbs[i].run(argc - 1, argv + 1);
    }
    return complain(argv[0], "there is no '%s' (see 'tamis help table')", argv[1]);
}
