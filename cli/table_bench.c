/* table_bench.c - tamis table bench: count the reads of slow memory
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/table.h"

#include "bench/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void json_row(json *j, const table_setup *setup, const table_row *row) {
    json_open(j, NULL, '{', false);
    json_text(j, "table", row->name);
    json_u64(j, "n", setup->n);
    if (row->refused != NULL)
        json_text(j, "refused", row->refused);
    else
        json_null(j, "refused");
    json_u64(j, "cold_hits", row->cold_hits);
    json_u64(j, "cold_misses", row->cold_misses);
    json_u64(j, "wrong", row->wrong);
    json_real(j, "reads_per_hit", row->hit_reads);
    json_real(j, "reads_per_miss", row->miss_reads);
    json_real(j, "read_calls_per_hit", row->hit_calls);
    json_real(j, "read_calls_per_miss", row->miss_calls);
    json_real(j, "pages_per_hit", row->hit_pages);
    json_real(j, "pages_per_miss", row->miss_pages);
    json_real(j, "put_ns", row->put_ns);
    json_real(j, "hit_ns", row->hit_ns);
    json_real(j, "miss_ns", row->miss_ns);
    json_real(j, "fast_bytes_per_item", row->fast_bytes);
    json_real(j, "slow_bytes_per_item", row->slow_bytes);
    json_real(j, "put_each_ns", row->each_ns);
    json_real(j, "item_bytes", row->item_bytes);
    json_real(j, "replaced_bytes_per_item", row->again_bytes);
    json_close(j);
}

static void json_growth(json *j, const table_growth *row) {
    json_open(j, NULL, '{', false);
    json_u64(j, "items", row->items);
    json_bool(j, "closed", row->closed);
    json_real(j, "pages_per_hit", row->hit_pages);
    json_real(j, "pages_per_miss", row->miss_pages);
    json_real(j, "file_bytes_per_item", row->file_bytes);
    json_real(j, "fast_bits_per_item", row->fast_bits);
    json_u64(j, "wrong", row->wrong);
    json_close(j);
}

static void cell(int width, int digits, double value) {
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

static void print_rows(const table_setup *setup, const table_row *rows, size_t n) {
    char text[TEXT_NUMBER];
    printf("%s items, %s\n\n", text_count(setup->n, text),
           setup->names ? "names with values of 100 bytes" : "keys and values of 16 bytes");
    printf("%-24s %19s %19s %19s %20s %27s\n", "", "reads, own count", "read calls, system",
           "pages from disk", "bytes per item", "ns per call, warm");
    printf("%-24s %9s %9s %9s %9s %9s %9s %6s %6s %6s %6s %6s %6s %6s\n", "", "hit", "miss", "hit",
           "miss", "hit", "miss", "fast", "slow", "again", "put", "each", "hit", "miss");
    for (size_t i = 0; i < n; i++) {
        const table_row *const row = rows + i;
        printf("%-24s", row->name);
        if (row->refused != NULL) {
            printf(" not measured: %s\n", row->refused);
            continue;
        }
        cell(9, 6, row->hit_reads);
        cell(9, 6, row->miss_reads);
        cell(9, 6, row->hit_calls);
        cell(9, 6, row->miss_calls);
        cell(9, 6, row->hit_pages);
        cell(9, 6, row->miss_pages);
        cell(6, 2, row->fast_bytes);
        cell(6, 1, row->slow_bytes);
        cell(6, 1, row->again_bytes);
        cell(6, 0, row->put_ns);
        cell(6, 0, row->each_ns);
        cell(6, 0, row->hit_ns);
        cell(6, 0, row->miss_ns);
        putchar('\n');
    }
}

static void print_growth(const table_setup *setup, const table_growth *rows, size_t n) {
    printf("%s, from nothing to the last row\n\n",
           setup->names ? "names with values of 100 bytes" : "keys and values of 16 bytes");
    printf("%12s %19s %14s %14s\n", "items", "pages from disk", "bytes of file", "bits of fast");
    printf("%12s %9s %9s %14s %14s\n", "", "hit", "miss", "per item", "memory");
    for (size_t i = 0; i < n; i++) {
        printf("%12" PRIu64, rows[i].items);
        cell(9, 6, rows[i].hit_pages);
        cell(9, 6, rows[i].miss_pages);
        cell(14, 1, rows[i].file_bytes);
        cell(14, 2, rows[i].fast_bits);
        puts(rows[i].closed ? "  closed" : "");
    }
}

/* A table that grows. */
static int bench_growth(const char *command, const table_setup *setup, bool as_json) {
    table_growth rows[TABLE_GROWTH_ROWS];
    size_t n = 0;
    const char *const reason = table_grow(setup, rows, &n);
    if (reason != NULL)
        return complain(command, "not measured in %s: %s", setup->directory, reason);
    if (as_json) {
        json j;
        json_start(&j, stdout);
        json_open(&j, NULL, '[', false);
        for (size_t i = 0; i < n; i++)
            json_growth(&j, rows + i);
        json_close(&j);
        json_end(&j);
    } else {
        print_growth(setup, rows, n);
    }
    for (size_t i = 0; i < n; i++)
        if (rows[i].wrong > 0)
            return complain(command, "%" PRIu64 " wrong answers", rows[i].wrong);
    return EXIT_YES;
}

int table_bench(int argc, char **argv) {
    static const struct option options[] = {{"samples", required_argument, NULL, OPT_SAMPLES},
                                            {"directory", required_argument, NULL, OPT_DIRECTORY},
                                            {"peers", no_argument, NULL, OPT_PEERS},
                                            {"names", no_argument, NULL, OPT_NAMES},
                                            {"each", required_argument, NULL, OPT_EACH},
                                            {"replace", required_argument, NULL, OPT_REPLACE},
                                            {"grow", no_argument, NULL, OPT_GROWTH},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {NULL, 0, NULL, 0}};
    table_setup setup = {.n = 1000000, .directory = "."};
    table_row rows[TABLE_ROWS];
    bool as_json = false, good = true, grow = false;

    for (int option; (option = option_next(argc, argv, "n:p:", options)) != -1;) {
        switch (option) {
        case 'n':
            good = option_count(argv[0], "-n", optarg, 1 << 30, &setup.n);
            break;
        case 'p':
            good = option_rate(argv[0], "-p", optarg, &setup.fpr);
            break;
        case OPT_SAMPLES:
            good = option_count(argv[0], "--samples", optarg, 1 << 30, &setup.samples);
            break;
        case OPT_DIRECTORY:
            setup.directory = optarg;
            break;
        case OPT_PEERS:
            setup.peers = true;
            break;
        case OPT_NAMES:
            setup.names = true;
            break;
        case OPT_EACH:
            good = option_count(argv[0], "--each", optarg, 1 << 30, &setup.each);
            break;
        case OPT_REPLACE:
            good = option_count(argv[0], "--replace", optarg, 1000, &setup.replace);
            break;
        case OPT_GROWTH:
            grow = true;
            break;
        case OPT_JSON:
            as_json = true;
            break;
        default:
            return EXIT_TROUBLE;
        }
        if (!good)
            return EXIT_TROUBLE;
    }
    if (optind != argc)
        return complain(argv[0], "'%s' is too much", argv[optind]);
    if (setup.directory[0] == '\0')
        return complain(argv[0], "--directory: the name is empty");
    if (grow && setup.fpr > 0)
        return complain(argv[0], "-p is not an option of a table that grows");
    if (grow)
        return bench_growth(argv[0], &setup, as_json);
    const size_t n = table_run(&setup, rows);
    if (rows[0].refused != NULL)
        return complain(argv[0], "not measured in %s: %s", setup.directory, rows[0].refused);
    json j;
    if (as_json) {
        json_start(&j, stdout);
        json_open(&j, NULL, '[', false);
        for (size_t i = 0; i < n; i++)
            json_row(&j, &setup, rows + i);
        json_close(&j);
        json_end(&j);
    } else {
        print_rows(&setup, rows, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (rows[i].wrong > 0)
            return complain(argv[0], "%s gave %" PRIu64 " wrong answers", rows[i].name,
                            rows[i].wrong);
    }
    return EXIT_YES;
}
