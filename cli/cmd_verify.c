/* cmd_verify.c - tamis verify: is this file a good set?
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/cli.h"

static const char help[] =
    "usage: tamis verify [--json] SET\n"
    "Check every field and checksum of a set, and its structure.  Exit code 0 if it is good; if "
    "not,\n"
    "2 and the reason.\n\n"
    "      --json      as a JSON object: file, good, reason, kind, count, file_bytes\n";

static void print_json(const char *path, const tamis_filter *filter, const char *reason) {
    tamis_params params;
    json j;

    json_start(&j, stdout);
    json_open(&j, NULL, '{', false);
    json_text(&j, "file", path);
    json_bool(&j, "good", filter != NULL);
    tamis_params_init(&params);
    if (filter != NULL && tamis_filter_params(filter, &params) == TAMIS_OK) {
        json_null(&j, "reason");
        json_text(&j, "kind", tamis_kind_name(params.kind));
        json_u64(&j, "count", tamis_filter_count(filter));
        json_u64(&j, "file_bytes", tamis_filter_encoded_size(filter));
    } else {
        json_text(&j, "reason", reason);
        json_null(&j, "kind");
        json_null(&j, "count");
        json_null(&j, "file_bytes");
    }
    json_close(&j);
    json_end(&j);
}

int cmd_verify(int argc, char **argv) {
    bool as_json;
    const char *path;
    const char *reason;

    const int code = one_set_options(argc, argv, help, &as_json, &path);
    if (path == NULL)
        return code;
    tamis_filter *const filter = set_examine(argv[0], path, &reason);
    if (filter == NULL && reason == NULL)
        return EXIT_TROUBLE;
    if (as_json)
        print_json(path, filter, reason);
    else if (filter != NULL)
        printf("%s: good\n", path);
    if (filter == NULL)
        return complain(argv[0], "%s: %s", path, reason);
    tamis_filter_free(filter);
    return EXIT_YES;
}
