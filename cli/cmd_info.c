/* cmd_info.c - tamis info: what a set is and how full
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>

static const char help[] = "usage: tamis info [--json] SET\n"
                           "Show what a set is, how full it is, and its error rate now.\n\n"
                           "      --json      as a JSON object\n";

static void print_json(const char *path, const tamis_info *info, uint64_t trimmed) {
    json j;

    json_start(&j, stdout);
    json_open(&j, NULL, '{', false);
    json_text(&j, "file", path);
    json_text(&j, "kind", tamis_kind_name(info->params.kind));
    json_params(&j, &info->params);
    json_u64(&j, "seed", info->params.seed);
    json_u64(&j, "capacity", info->params.capacity);
    json_u64(&j, "count", info->count);
    json_u64(&j, "bytes", info->bytes);
    if (trimmed > 0)
        json_u64(&j, "trimmed_bytes", trimmed);
    else
        json_null(&j, "trimmed_bytes");
    json_real(&j, "bits_per_key", info->bits_per_key);
    json_real(&j, "fpr", info->fpr);
    json_u64(&j, "stash_used", info->stash_used);
    json_u64(&j, "stash_size", info->stash_size);
    json_u64(&j, "saturated", info->saturated);
    json_open(&j, "load_histogram", '[', true);
    for (size_t i = 0; i < info->n_loads; i++)
        json_u64(&j, NULL, info->load_histogram[i]);
    json_close(&j);
    json_close(&j);
    json_end(&j);
}

static void print_text(const char *path, const tamis_info *info, uint64_t trimmed) {
    char text[TEXT_NUMBER];

    printf("file            %s\n", path);
    printf("kind            %s\n", tamis_kind_name(info->params.kind));
    printf("parameters     ");
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++) {
        const char *const name = tamis_param_name(info->params.kind, i);
        if (name == NULL)
            break;
        printf(" %s=%" PRIu64, name, info->params.value[i]);
    }
    printf("\nseed            0x%016" PRIx64 "\n", info->params.seed);
    printf("capacity        %s keys\n", text_count(info->params.capacity, text));
    printf("count           %s keys", text_count(info->count, text));
    printf(", %.1f %% of capacity\n", 100.0 * (double)info->count / (double)info->params.capacity);
    printf("size            %s", text_bytes(info->bytes, text));
    if (info->count > 0)
        printf(", %.2f bits per key", info->bits_per_key);
    if (trimmed > 0)
        printf("\ntrimmed         %s", text_bytes(trimmed, text));
    if (trimmed > 0 && info->count > 0)
        printf(", %.2f bits per key", 8 * (double)trimmed / (double)info->count);
    printf("\nerror rate      %.3g\n", info->fpr);
    printf("stash           %s", text_count(info->stash_used, text));
    printf(" of %s keys\n", text_count(info->stash_size, text));
    if (info->saturated > 0)
        printf("saturated       %s counters\n", text_count(info->saturated, text));
    printf("load histogram ");
    size_t n = info->n_loads;
    while (n > 1 && info->load_histogram[n - 1] == 0)
        n--;
    for (size_t i = 0; i < n; i++)
        printf(" %" PRIu64, info->load_histogram[i]);
    putchar('\n');
}

int cmd_info(int argc, char **argv) {
    bool as_json;
    const char *path;
    tamis_info info;

    const int code = one_set_options(argc, argv, help, &as_json, &path);
    if (path == NULL)
        return code;
    tamis_filter *const filter = set_open(argv[0], path, SET_READ);
    if (filter == NULL)
        return EXIT_TROUBLE;
    tamis_info_init(&info);
    const tamis_status status = tamis_filter_info(filter, &info);
    const uint64_t trimmed = tamis_filter_export_size(filter);
    tamis_filter_free(filter);
    if (status != TAMIS_OK)
        return complain(argv[0], "%s: %s", path, tamis_status_text(status));
    (as_json ? print_json : print_text)(path, &info, trimmed);
    return EXIT_YES;
}
