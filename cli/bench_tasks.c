/* bench_tasks.c - 'tamis bench --task': what is measured beside tables
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/bench_tasks.h"

#include "bench/tasks.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- small sets ---- */

static double small_bits(const bench_small_row *row) {
    return 8 * (double)row->bytes / (double)row->n;
}

static void small_json(const bench_small_row *rows, size_t n) {
    json j;
    json_start(&j, stdout);
    json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{', true);
        json_text(&j, "form", rows[i].form);
        json_u64(&j, "n", rows[i].n);
        json_u64(&j, "bytes", rows[i].bytes);
        json_real(&j, "bits_per_key", small_bits(&rows[i]));
        json_real(&j, "fpr", rows[i].fpr);
        json_real(&j, "predicted_fpr", rows[i].predicted);
        json_real(&j, "build_ns", rows[i].build_ns);
        json_real(&j, "ask_ns", rows[i].ask_ns);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
}

static void small_print(const bench_small_row *rows, size_t n) {
    puts("small sets: all bytes counted; nanoseconds per key, hash included, of absent keys");
    printf("%6s  %-9s %6s  %8s  %9s  %9s  %8s  %7s\n", "keys", "form", "bytes", "bits/key", "error",
           "predicted", "build ns", "ask ns");
    for (size_t i = 0; i < n; i++) {
        printf("%6zu  %-9s %6zu  %8.2f  %9.2e", rows[i].n, rows[i].form, rows[i].bytes,
               small_bits(&rows[i]), rows[i].fpr);
        if (isnan(rows[i].predicted))
            printf("  %9s", "-");
        else
            printf("  %9.2e", rows[i].predicted);
        printf("  %8.1f  %7.1f\n", rows[i].build_ns, rows[i].ask_ns);
    }
}

static const char *small_task(const bench_setup *setup, const char *kinds, bool as_json) {
    (void)kinds;
    bench_small_row rows[BENCH_SMALL_ROWS];
    size_t n;
    const char *const trouble = bench_small_run(setup->rounds, rows, &n);
    if (trouble == NULL)
        (as_json ? small_json : small_print)(rows, n);
    return trouble;
}

/* ---- threads ---- */

static void shared_json(const bench_shared_row *rows, size_t n) {
    json j;
    json_start(&j, stdout);
    json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{', true);
        json_text(&j, "set", rows[i].name);
        json_u64(&j, "writes", rows[i].writes);
        json_text(&j, "mode", rows[i].batch ? "batch" : "single");
        json_real(&j, "one_ns", rows[i].one_ns);
        json_real(&j, "all_ns", rows[i].all_ns);
        json_real(&j, "ratio", rows[i].ratio);
        json_real(&j, "speedup", rows[i].speedup);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
}

static void shared_print(const bench_shared_row *rows, size_t n) {
    puts("one set: nanoseconds per key by one thread and by all, one thread as a multiple of an "
         "ordinary\nset, and what all threads gain over one");
    printf("%6s  %-6s  %-12s  %8s  %8s  %6s  %7s\n", "writes", "mode", "set", "one ns", "all ns",
           "ratio", "speedup");
    for (size_t i = 0; i < n; i++)
        printf("%5u%%  %-6s  %-12s  %8.1f  %8.1f  %6.2f  %7.2f\n", rows[i].writes,
               rows[i].batch ? "batch" : "single", rows[i].name, rows[i].one_ns, rows[i].all_ns,
               rows[i].ratio, rows[i].speedup);
}

static const char *shared_task(const bench_setup *setup, const char *kinds, bool as_json) {
    bench_shared_row rows[BENCH_SHARED_ROWS];
    size_t n;
    bench_setup own = *setup;
    tamis_kind kind = TAMIS_KIND_ANY;
    if (kinds != NULL && tamis_kind_parse(kinds, &kind) != TAMIS_OK)
        return is_former_kind(kinds, strlen(kinds)) ? "--kind: " FORMER_KIND
                                                    : "--kind: one kind is measured at a time";
    own.threads = own.threads < 2 ? 2 : own.threads;
    own.n = own.n == 0 ? 1000000 : own.n;
    const char *const trouble = bench_shared_run(&own, kind, rows, &n);
    if (trouble == NULL)
        (as_json ? shared_json : shared_print)(rows, n);
    return trouble;
}

/* ---- windows ---- */

#define WINDOW_KEYS 2000000u /* at a time: out of cache, in half a minute */

static double window_bits(const bench_window_row *row) {
    return 8 * (double)row->bytes / (double)row->n;
}

static void window_json(const bench_window_row *rows, size_t n) {
    json j;
    json_start(&j, stdout);
    json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{', true);
        json_text(&j, "form", rows[i].form);
        json_u64(&j, "n", rows[i].n);
        json_u64(&j, "ticks", rows[i].ticks);
        json_real(&j, "bits_per_key", window_bits(&rows[i]));
        json_real(&j, "fpr", rows[i].fpr);
        json_real(&j, "insert_ns", rows[i].insert_ns);
        json_real(&j, "absent_ns", rows[i].absent_ns);
        json_real(&j, "present_ns", rows[i].present_ns);
        json_real(&j, "longest_us", rows[i].longest_us);
        json_real(&j, "step_us", rows[i].step_us);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
}

static void window_print(const bench_window_row *rows, size_t n) {
    puts("the last T + 1 ticks of new keys; nanoseconds per call, hash included");
    printf("%5s  %-16s  %8s  %9s  %9s  %9s  %10s  %10s  %7s\n", "ticks", "form", "bits/key",
           "error", "insert ns", "absent ns", "present ns", "longest us", "step us");
    for (size_t i = 0; i < n; i++)
        printf("%5u  %-16s  %8.2f  %9.2e  %9.1f  %9.1f  %10.1f  %10.1f  %7.1f\n", rows[i].ticks,
               rows[i].form, window_bits(&rows[i]), rows[i].fpr, rows[i].insert_ns,
               rows[i].absent_ns, rows[i].present_ns, rows[i].longest_us, rows[i].step_us);
}

static const char *window_task(const bench_setup *setup, const char *kinds, bool as_json) {
    bench_window_row rows[BENCH_WINDOW_ROWS];
    size_t n;
    (void)kinds;
    const char *const trouble =
        bench_window_run(setup->n == 0 ? WINDOW_KEYS : setup->n, setup->rounds, rows, &n);
    if (trouble == NULL)
        (as_json ? window_json : window_print)(rows, n);
    return trouble;
}

/* ---- all of them ---- */

/* ---- plans ---- */

static double plan_waste(const bench_plan_row *row) {
    return 100 * ((double)row->quick_bytes / (double)row->search_bytes - 1);
}

static void plan_json(const bench_plan_row *rows, size_t n) {
    json j;
    json_start(&j, stdout);
    json_open(&j, NULL, '[', false);
    for (size_t i = 0; i < n; i++) {
        json_open(&j, NULL, '{', true);
        json_u64(&j, "n", rows[i].n);
        json_real(&j, "fpr", rows[i].fpr);
        json_bool(&j, "deletes", rows[i].deletes);
        json_real(&j, "plan_us", rows[i].quick_us);
        json_real(&j, "search_us", rows[i].search_us);
        json_u64(&j, "bytes", rows[i].quick_bytes);
        json_u64(&j, "search_bytes", rows[i].search_bytes);
        json_close(&j);
    }
    json_close(&j);
    json_end(&j);
}

static void plan_print(const bench_plan_row *rows, size_t n) {
    puts("plans: microseconds each, by default and by a search; bytes beyond those of the search");
    printf("%12s  %7s  %7s  %9s  %9s  %7s\n", "keys", "errors", "deletes", "plan us", "search us",
           "waste %");
    for (size_t i = 0; i < n; i++)
        printf("%12" PRIu64 "  %7.0e  %7s  %9.2f  %9.0f  %7.2f\n", rows[i].n, rows[i].fpr,
               rows[i].deletes ? "yes" : "no", rows[i].quick_us, rows[i].search_us,
               plan_waste(&rows[i]));
}

static const char *plan_task(const bench_setup *setup, const char *kinds, bool as_json) {
    (void)kinds;
    bench_plan_row rows[BENCH_PLAN_ROWS];
    size_t n;
    const char *const trouble = bench_plan_run(setup->rounds, rows, &n);
    if (trouble == NULL)
        (as_json ? plan_json : plan_print)(rows, n);
    return trouble;
}

int bench_task(const char *command, const char *name, const bench_setup *setup, const char *kinds,
               bool as_json) {
    static const struct {
        const char *name;
        const char *(*run)(const bench_setup *setup, const char *kinds, bool as_json);
    } tasks[] = {{"small", small_task},
                 {"shared", shared_task},
                 {"window", window_task},
                 {"plan", plan_task}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(tasks[i].name, name) == 0) {
            const char *const trouble = tasks[i].run(setup, kinds, as_json);
            return trouble == NULL ? EXIT_YES : complain(command, "%s: %s", name, trouble);
        }
    return complain(command, "--task: there is no '%s', only plan, small, shared and window", name);
}
