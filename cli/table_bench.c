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
    printf("%s items, keys and values of 16 bytes\n\n", text_count(setup->n, text));
    printf("%-24s %19s %19s %19s %13s %20s\n", "", "reads, own count", "read calls, system",
           "pages from disk", "bytes per item", "ns per call, warm");
    printf("%-24s %9s %9s %9s %9s %9s %9s %6s %6s %6s %6s %6s\n", "", "hit", "miss", "hit", "miss",
           "hit", "miss", "fast", "slow", "put", "hit", "miss");
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
        cell(6, 0, row->slow_bytes);
        cell(6, 0, row->put_ns);
        cell(6, 0, row->hit_ns);
        cell(6, 0, row->miss_ns);
        putchar('\n');
    }
}

int table_bench(int argc, char **argv) {
    static const struct option options[] = {{"samples", required_argument, NULL, OPT_SAMPLES},
                                            {"directory", required_argument, NULL, OPT_DIRECTORY},
                                            {"peers", no_argument, NULL, OPT_PEERS},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {NULL, 0, NULL, 0}};
    table_setup setup = {.n = 1000000, .directory = "."};
    table_row rows[TABLE_ROWS];
    bool as_json = false, good = true;

    for (int option; (option = option_next(argc, argv, "n:", options)) != -1;) {
        switch (option) {
        case 'n':
            good = option_count(argv[0], "-n", optarg, 1 << 30, &setup.n);
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
