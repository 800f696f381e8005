/* cmd_info.c - tamis info: what a set is and how full
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

#include <inttypes.h>

static const char help[] = "usage: tamis info [--json] SET\n"
                           "Show what a set is, how full it is, and its error rate now.\n\n"
                           "      --json      as a JSON object\n";

/* Member "links": one object for each link, the oldest first. */
static void print_json_links(json *j, const tamis_filter *filter, const tamis_info *info) {
    json_open(j, "links", '[', false);
    for (unsigned i = 0; i < info->n_links; i++) {
        tamis_info link;
        tamis_info_init(&link);
        if (tamis_filter_link_info(filter, i, &link) != TAMIS_OK)
            break;
        json_open(j, NULL, '{', true);
        json_params(j, &link.params);
        json_u64(j, "capacity", link.capacity);
        json_u64(j, "count", link.count);
        json_u64(j, "bytes", link.bytes);
        json_real(j, "fpr", link.fpr);
        json_close(j);
    }
    json_close(j);
}

static void print_json(const char *path, const tamis_filter *filter, const tamis_info *info,
                       uint64_t compact) {
    json j;

    json_start(&j, stdout);
    json_open(&j, NULL, '{', false);
    json_text(&j, "file", path);
    json_text(&j, "kind", tamis_kind_name(info->params.kind));
    json_params(&j, &info->params);
    json_text(&j, "hash", tamis_hash_name(info->params.hash));
    json_seed(&j, (hash_seed){info->params.seed, info->params.seed_high});
    if (tamis_filter_key_form(filter) == TAMIS_KEYS_UNKNOWN)
        json_null(&j, "key_form");
    else
        json_text(&j, "key_form",
                  tamis_filter_key_form(filter) == TAMIS_KEYS_U64 ? "u64" : "bytes");
    json_u64(&j, "capacity", info->capacity);
    json_u64(&j, "count", info->count);
    json_u64(&j, "bytes", info->bytes);
    json_u64(&j, "file_bytes", info->file_bytes);
    if (compact > 0)
        json_u64(&j, "compact_bytes", compact);
    else
        json_null(&j, "compact_bytes");
    json_real(&j, "bits_per_key", info->bits_per_key);
    json_real(&j, "fpr", info->fpr);
    json_u64(&j, "stash_used", info->stash_used);
    json_u64(&j, "stash_size", info->stash_size);
    json_u64(&j, "saturated", info->saturated);
    json_open(&j, "load_histogram", '[', true);
    for (size_t i = 0; i < info->n_loads; i++)
        json_u64(&j, NULL, info->load_histogram[i]);
    json_close(&j);
    if (info->fpr_promised > 0)
        json_real(&j, "fpr_promised", info->fpr_promised);
    else
        json_null(&j, "fpr_promised");
    print_json_links(&j, filter, info);
    json_close(&j);
    json_end(&j);
}

/* The links of a series, one line each. */
static void print_text_links(const tamis_filter *filter, const tamis_info *info) {
    char capacity[TEXT_NUMBER];
    char count[TEXT_NUMBER];
    char size[TEXT_NUMBER];

    for (unsigned i = 0; i < info->n_links; i++) {
        tamis_info link;
        tamis_info_init(&link);
        if (tamis_filter_link_info(filter, i, &link) != TAMIS_OK)
            break;
        printf("link %-10u %s of %s keys, %s, error rate %.3g\n", i + 1,
               text_count(link.count, count), text_count(link.capacity, capacity),
               text_bytes(link.bytes, size), link.fpr);
    }
}

static void print_text(const char *path, const tamis_filter *filter, const tamis_info *info,
                       uint64_t compact) {
    char text[TEXT_NUMBER], seed[TEXT_SEED];

    printf("file            %s\n", path);
    printf("kind            %s\n", tamis_kind_name(info->params.kind));
    printf("parameters     ");
    for (unsigned i = 0; i < TAMIS_PARAMS_MAX; i++) {
        const char *const name = tamis_param_name(info->params.kind, i);
        if (name == NULL)
            break;
        printf(" %s=%" PRIu64, name, info->params.value[i]);
    }
    printf("\nhash            %s\n", tamis_hash_name(info->params.hash));
    printf("seed            %s\n",
           text_seed((hash_seed){info->params.seed, info->params.seed_high}, seed));
    const char *const form = text_form(tamis_filter_key_form(filter));
    printf("form of keys    %s\n", form != NULL ? form : "not known");
    printf("capacity        %s keys\n", text_count(info->capacity, text));
    printf("count           %s keys", text_count(info->count, text));
    printf(", %.1f %% of capacity\n", 100.0 * (double)info->count / (double)info->capacity);
    printf("size            %s", text_bytes(info->bytes, text));
    printf(", %s in a file", text_bytes(info->file_bytes, text));
    if (info->count > 0)
        printf(", %.2f bits per key", info->bits_per_key);
    if (compact > 0)
        printf("\ncompact         %s", text_bytes(compact, text));
    if (compact > 0 && info->count > 0)
        printf(", %.2f bits per key", 8 * (double)compact / (double)info->count);
    printf("\nerror rate      %.3g", info->fpr);
    if (info->fpr_promised > 0)
        printf(", promised %.3g%s", info->fpr_promised, info->grows ? " also when it grows" : "");
    putchar('\n');
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
    if (info->n_links > 1)
        print_text_links(filter, info);
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
    if (status == TAMIS_OK)
        (as_json ? print_json : print_text)(path, filter, &info, tamis_filter_compact_size(filter));
    tamis_filter_free(filter);
    if (status != TAMIS_OK)
        return complain(argv[0], "%s: %s", path, tamis_status_text(status));
    return EXIT_YES;
}
