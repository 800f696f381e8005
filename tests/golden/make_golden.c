/* make_golden.c DIRECTORY - write the golden files; those of series and shards only if they are not there
 *
 * See README.md for when to run it.  Exit 0 if all were written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "golden.h"

static bool save(tamis_filter *filter, const char *path) {
    const char *reason = "it could not be made";
    const bool saved = filter != NULL && tamis_filter_save(filter, path, &reason) == TAMIS_OK;
    if (!saved)
        fprintf(stderr, "make_golden: %s: %s\n", path, reason);
    tamis_filter_free(filter);
    return saved;
}

static bool exists(const char *path) {
    FILE *const file = fopen(path, "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIRECTORY\n");
        return 2;
    }
    golden_file file;
    for (unsigned i = 0; golden_next(i, &file); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.tamis", argv[1], file.name);
        if (!save(golden_make(&file), path))
            return 2;
    }
    for (unsigned i = 0; i < N_SERIES; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.tamis", argv[1], golden_series[i].name);
        if (!exists(path) && !save(golden_make_series(&golden_series[i]), path))
            return 2;
    }
    for (unsigned i = 0; i < N_SHARDED; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.tamis", argv[1], golden_shards[i].name);
        if (!exists(path) && !save(golden_make_shards(&golden_shards[i]), path))
            return 2;
    }
    return 0;
}
