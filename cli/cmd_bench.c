/* cmd_bench.c - tamis bench: speed as a multiple of the calibrators
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include "bench/bench.h"
#include "cli/bench_tasks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_BITS = 512, OPT_TABLE_BYTES, OPT_ROUNDS, OPT_CSV, OPT_HUGE, OPT_KEYS, OPT_TASK };

#define ROUNDS_MAX 10000u
#define BITS_MAX   512.0

static const char help[] =
    "usage: tamis bench [--kind K,...] [-n N | --table-bytes SIZE] [--bits B] [--keys FORM]\n"
    "                   [--sort WHAT] [--rounds R] [--huge on|off] [--threads T] [--json | --csv]\n"
    "       tamis bench --task shared [-n N] [--kind K] [--threads T] [--rounds R] [--json]\n"
    "       tamis bench --task plan [--rounds R] [--json]\n"
    "       tamis bench --task small [--rounds R] [--json]\n"
    "       tamis bench --task window [-n N] [--rounds R] [--json]\n"
    "Measure insert, remove and query, one by one and in batches, in nanoseconds per key and as a\n"
    "multiple of a calibrator: reads of 1, 2 or 3 random cache lines in a table of the same "
    "size.\n\n"
    "      --kind K,...   only these (default: all kinds, and the libraries of others built in);\n"
    "                     K/xxh3 is K with the hash for trusted keys; line is planned with "
    "deletes,\n"
    "                     line/set without\n"
    "  -n N               keys in a full table (default 1M)\n"
    "      --table-bytes SIZE   as many keys as make tables of this size: 256MiB, 1GiB\n"
    "      --bits B       bits per key, the same for all (default 12)\n"
    "      --sort WHAT    the plans to measure, for kinds with several: the smallest by bytes "
    "(default),\n"
    "                     or by lines, the cache lines of a query\n"
    "      --keys FORM    u64: integers, to be hashed (default); text: 16 characters;\n"
    "                     digest: ready digests\n"
    "      --rounds R     rounds, of which the median is told (default 7)\n"
    "      --huge on|off  huge pages, where the system gives them (default on)\n"
    "      --threads T    also queries by T threads at once, and how much faster they are than "
    "one\n"
    "      --task T       another question; small: sets of 1 to 5000 keys in a few bytes;\n"
    "                     shared: one set that threads read and write;\n"
    "                     window: sets that forget, beside rows of filters;\n"
    "                     plan: how long a plan takes\n"
    "      --json         as a JSON array, one object per kind, operation and mode\n"
    "      --csv          the same as comma-separated values\n";

typedef enum form { FORM_TABLE, FORM_JSON, FORM_CSV } form;

typedef struct bench_options {
    bench_setup setup;
    uint64_t table_bytes;
    const char *kinds;
    const char *task; /* NULL: the usual one */
    form form;
} bench_options;

/* ---- options ---- */

/* A size as people write it: a number and B (or nothing), KiB, MiB or GiB. */
static bool option_bytes(const char *command, const char *text, uint64_t *value) {
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},       {"B", 1},        {"K", 0x1p10}, {"KiB", 0x1p10},
                 {"M", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30}, {"GiB", 0x1p30}};
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const double bytes = number * units[i].factor;
        if (end != text && strcmp(end, units[i].name) == 0 && bytes >= 64 && bytes <= 0x1p45) {
            *value = (uint64_t)bytes;
            return true;
        }
    }
    complain(command, "--table-bytes: '%s' is not a size (write 256MiB or 1GiB)", text);
    return false;
}

static bool option_bits(const char *command, const char *text, double *value) {
    char *end;
    const double bits = strtod(text, &end);
    if (end == text || *end != '\0' || !(bits >= 1 && bits <= BITS_MAX)) {
        complain(command, "--bits: '%s' is not a number from 1 to %g", text, BITS_MAX);
        return false;
    }
    *value = bits;
    return true;
}

/* One of two words: '*value' is whether it is the second. */
static bool option_choice(const char *command, const char *option, const char *text,
                          const char *first, const char *second, bool *value) {
    if (strcmp(text, first) != 0 && strcmp(text, second) != 0) {
        complain(command, "%s: '%s' is neither %s nor %s", option, text, first, second);
        return false;
    }
    *value = strcmp(text, second) == 0;
    return true;
}

static bool take_option(const char *command, int option, void *context) {
    bench_options *const o = context;
    uint64_t rounds;

    switch (option) {
    case 'n':
        return option_count(command, "-n", optarg, TAMIS_CAPACITY_MAX, &o->setup.n);
    case OPT_KIND:
        o->kinds = optarg;
        return true;
    case OPT_BITS:
        return option_bits(command, optarg, &o->setup.bits);
    case OPT_TABLE_BYTES:
        return option_bytes(command, optarg, &o->table_bytes);
    case OPT_ROUNDS:
        if (!option_count(command, "--rounds", optarg, ROUNDS_MAX, &rounds))
            return false;
        o->setup.rounds = (unsigned)rounds;
        return true;
    case OPT_THREADS:
        if (!option_count(command, "--threads", optarg, BENCH_THREADS_MAX, &rounds))
            return false;
        o->setup.threads = (unsigned)rounds;
        return true;
    case OPT_KEYS:
        o->setup.text = strcmp(optarg, "text") == 0;
        return o->setup.text ||
               option_choice(command, "--keys", optarg, "u64", "digest", &o->setup.digests);
    case OPT_HUGE:
        return option_choice(command, "--huge", optarg, "off", "on", &o->setup.huge);
    case OPT_SORT:
        return option_choice(command, "--sort", optarg, "bytes", "lines", &o->setup.by_lines);
    case OPT_TASK:
        o->task = optarg;
        return true;
    case OPT_JSON:
        o->form = FORM_JSON;
        return true;
    case OPT_CSV:
        o->form = FORM_CSV;
        return true;
    default:
        return false;
    }
}

/* Is 'name' in the list "a,b,c"? */
static bool listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; *at != '\0';) {
        const size_t word = strcspn(at, ",");
        if (word == length && memcmp(at, name, length) == 0)
            return true;
        at += word + (at[word] == ',');
    }
    return false;
}

/* Every word of the list must be the name of a subject.  false after a complaint. */
static bool known(const char *command, const char *list, const bench_subject *subjects, size_t n) {
    for (const char *at = list; *at != '\0' || at == list;) {
        const size_t word = strcspn(at, ",");
        bool found = false;
        for (size_t i = 0; i < n; i++)
            found = found ||
                    (strlen(subjects[i].name) == word && memcmp(subjects[i].name, at, word) == 0);
        if (!found && is_former_kind(at, word)) {
            complain(command, "--kind: " FORMER_KIND);
            return false;
        }
        if (!found) {
            char names[TEXT_KINDS] = "";
            size_t used = 0;
            for (size_t i = 0; i < n && used < sizeof names; i++)
                used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                         i > 0 ? ", " : "", subjects[i].name);
            complain(command, "--kind: there is no '%.*s', only %s", (int)word, at, names);
            return false;
        }
        at += word + (at[word] == ',');
    }
    return true;
}

/* ---- output ---- */

static const char *form_of(const bench_setup *setup) {
    return setup->text ? "text" : setup->digests ? "digest" : "u64";
}

static double bits_per_key(const bench_row *row, const bench_setup *setup) {
    return 8 * (double)row->subject->bytes / (double)setup->n;
}

static void print_json(const bench_row *rows, size_t n, const bench_setup *setup) {
    json j;
    json_start(&j, stdout);
    json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++) {
        const bench_row *const row = &rows[i];
        json_open(&j, NULL, '{', true);
        json_text(&j, "kind", row->subject->name);
        json_u64(&j, "n", setup->n);
        json_text(&j, "op", bench_op_names[row->op]);
        json_text(&j, "mode", bench_mode_names[row->mode]);
        json_text(&j, "keys", form_of(setup));
        json_bool(&j, "huge", setup->huge);
        json_real(&j, "ns", row->ns.median);
        json_real(&j, "ns_q1", row->ns.low);
        json_real(&j, "ns_q3", row->ns.high);
        json_real(&j, "ratio", row->ratio.median);
        json_real(&j, "ratio_q1", row->ratio.low);
        json_real(&j, "ratio_q3", row->ratio.high);
        json_real(&j, "ratio_1", row->ratio_1.median);
        json_u64(&j, "lines", row->subject->lines);
        json_u64(&j, "bytes", row->subject->bytes);
        json_real(&j, "bits_per_key", bits_per_key(row, setup));
        json_real(&j, "fpr", row->fpr);
        json_real(&j, "predicted_fpr", row->subject->predicted_fpr);
        json_u64(&j, "rounds", setup->rounds);
        json_u64(&j, "threads", row->threads);
        json_real(&j, "speedup", row->speedup.median);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
}

/* A number of a CSV file, empty if there is none. */
static void csv_real(double value) {
    if (isnan(value))
        putchar(',');
    else
        printf(",%.5g", value);
}

static void print_csv(const bench_row *rows, size_t n, const bench_setup *setup) {
    puts("kind,n,op,mode,keys,huge,ns,ns_q1,ns_q3,ratio,ratio_q1,ratio_q3,ratio_1,lines,bytes,"
         "bits_per_key,fpr,predicted_fpr,rounds,compiler,threads,speedup");
    for (size_t i = 0; i < n; i++) {
        const bench_row *const row = &rows[i];
        printf("%s,%" PRIu64 ",%s,%s,%s,%s", row->subject->name, setup->n, bench_op_names[row->op],
               bench_mode_names[row->mode], form_of(setup), setup->huge ? "on" : "off");
        const double reals[] = {row->ns.median,     row->ns.low,    row->ns.high,
                                row->ratio.median,  row->ratio.low, row->ratio.high,
                                row->ratio_1.median};
        for (size_t k = 0; k < sizeof reals / sizeof reals[0]; k++)
            csv_real(reals[k]);
        printf(",%u,%" PRIu64, row->subject->lines, row->subject->bytes);
        csv_real(bits_per_key(row, setup));
        csv_real(row->fpr);
        csv_real(row->subject->predicted_fpr);
        printf(",%u,%s,%u", setup->rounds, bench_compiler, row->threads);
        csv_real(row->speedup.median);
        putchar('\n');
    }
}

/* One line per subject and mode: for each operation nanoseconds and ratio. */
static void print_table(const bench_row *rows, size_t n, const bench_setup *setup) {
    char keys[TEXT_NUMBER];
    char bytes[TEXT_NUMBER];

    printf("%s %s in %s (%.4g bits per key), huge pages %s, median of %u rounds, %s\n",
           text_count(setup->n, keys),
           setup->text      ? "texts of 16 characters"
           : setup->digests ? "digests"
                            : "integer keys",
           text_bytes((uint64_t)((double)setup->n * setup->bits / 8), bytes), setup->bits,
           setup->huge ? "on" : "off", setup->rounds, bench_compiler);
    printf("nanoseconds per key, and times the calibrator with as many lines (column 'cal')\n\n");
    printf("%-15s %-6s %3s", "kind", "mode", "cal");
    for (bench_op op = 0; op < BENCH_OPS; op++)
        printf("  %12s", bench_op_names[op]);
    printf("  %8s  %8s  %9s\n", "bits/key", "error", "predicted");
    for (size_t i = 0; i < n; i++) {
        const bench_subject *const s = rows[i].subject;
        if (i > 0 && rows[i - 1].subject == s)
            continue; /* the lines of this subject are printed */
        for (bench_mode mode = 0; mode < BENCH_MODES; mode++) {
            const bench_row *of[BENCH_OPS] = {NULL};
            bool any = false;
            for (size_t k = i; k < n && rows[k].subject == s; k++) {
                if (rows[k].mode == mode && rows[k].threads == 1) {
                    of[rows[k].op] = &rows[k];
                    any = true;
                }
            }
            if (!any)
                continue;
            printf("%-15s %-6s %3u", s->name, bench_mode_names[mode], s->lines);
            for (bench_op op = 0; op < BENCH_OPS; op++) {
                if (of[op] == NULL)
                    printf("  %12s", "-");
                else
                    printf("  %6.1f %5.2f", of[op]->ns.median, of[op]->ratio.median);
            }
            printf("  %8.2f", bits_per_key(&rows[i], setup));
            if (!isnan(rows[i].fpr))
                printf("  %8.2e  %9.2e", rows[i].fpr, s->predicted_fpr);
            putchar('\n');
        }
    }
}

/* What several threads gain, one line per subject. */
static void print_threads(const bench_row *rows, size_t n, const bench_setup *setup) {
    printf("\n%u threads: nanoseconds per key, and how much faster than one thread\n\n",
           setup->threads);
    printf("%-15s %-6s", "kind", "mode");
    for (bench_op op = BENCH_QUERY0; op <= BENCH_QUERY100; op++)
        printf("  %12s", bench_op_names[op]);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].threads == 1)
            continue;
        if (rows[i].op == BENCH_QUERY0)
            printf("\n%-15s %-6s", rows[i].subject->name, bench_mode_names[rows[i].mode]);
        printf("  %6.1f %5.2f", rows[i].ns.median, rows[i].speedup.median);
    }
    putchar('\n');
}

/* ---- the command ---- */

typedef struct watcher {
    const char *command;
    bool started;
    progress progress;
} watcher;

static void on_progress(void *context, uint64_t done, uint64_t total, uint64_t keys) {
    watcher *const w = context;
    if (!w->started)
        progress_start(&w->progress, w->command, total);
    w->started = true;
    progress_step(&w->progress, done, keys);
}

static void on_refused(void *context, const bench_subject *subject, const char *why) {
    const watcher *const w = context;
    complain(w->command, "%s is left out: %s", subject->name, why);
}

static int measure(const char *command, const bench_options *o) {
    bench_subject all[BENCH_SUBJECTS_MAX], chosen[BENCH_SUBJECTS_MAX];
    const size_t n_all = bench_subjects(all);
    size_t n = 0, n_rows;

    if (o->kinds != NULL && !known(command, o->kinds, all, n_all))
        return EXIT_TROUBLE;
    for (size_t i = 0; i < n_all; i++)
        if ((!all[i].on_demand && (all[i].calibrator || o->kinds == NULL)) ||
            (o->kinds != NULL && listed(o->kinds, all[i].name)))
            chosen[n++] = all[i];
    bench_row *const rows = malloc((BENCH_ROWS(n) + 1) * sizeof *rows);
    if (rows == NULL)
        return complain(command, "no memory");
    watcher w = {.command = command};
    const bench_watch watch = {on_progress, on_refused, &w};
    const char *culprit;
    const char *const trouble = bench_run(chosen, n, &o->setup, &watch, rows, &n_rows, &culprit);
    if (w.started)
        progress_end(&w.progress);
    if (trouble != NULL)
        complain(command, "%s: %s", culprit, trouble);
    else if (o->form == FORM_JSON)
        print_json(rows, n_rows, &o->setup);
    else if (o->form == FORM_CSV)
        print_csv(rows, n_rows, &o->setup);
    else {
        print_table(rows, n_rows, &o->setup);
        if (o->setup.threads > 1)
            print_threads(rows, n_rows, &o->setup);
    }
    free(rows);
    return trouble != NULL ? EXIT_TROUBLE : EXIT_YES;
}

int cmd_bench(int argc, char **argv) {
    static const struct option options[] = {
        {"kind", required_argument, NULL, OPT_KIND},
        {"bits", required_argument, NULL, OPT_BITS},
        {"table-bytes", required_argument, NULL, OPT_TABLE_BYTES},
        {"sort", required_argument, NULL, OPT_SORT},
        {"rounds", required_argument, NULL, OPT_ROUNDS},
        {"keys", required_argument, NULL, OPT_KEYS},
        {"huge", required_argument, NULL, OPT_HUGE},
        {"threads", required_argument, NULL, OPT_THREADS},
        {"task", required_argument, NULL, OPT_TASK},
        {"json", no_argument, NULL, OPT_JSON},
        {"csv", no_argument, NULL, OPT_CSV},
        {"help", no_argument, NULL, OPT_HELP},
        {NULL, 0, NULL, 0}};
    bench_options o = {.setup = {.bits = 12, .huge = true, .rounds = 7}};

    const command_line line = {"n:", options, help, take_option};
    const int code = options_read(argc, argv, &line, &o);

    if (code != GO_ON)
        return code;
    if (optind < argc)
        return complain(argv[0], "'%s' is too much: the benchmark takes options only",
                        argv[optind]);
    if (o.task != NULL)
        return bench_task(argv[0], o.task, &o.setup, o.kinds, o.form == FORM_JSON);
    if (o.table_bytes != 0 && o.setup.n != 0)
        return complain(argv[0], "-n and --table-bytes exclude each other");
    if (o.table_bytes != 0)
        o.setup.n = (uint64_t)(8 * (double)o.table_bytes / o.setup.bits);
    else if (o.setup.n == 0)
        o.setup.n = 1000000;
    if (o.setup.n == 0)
        return complain(argv[0], "--table-bytes: too small for a key");
    return measure(argv[0], &o);
}
