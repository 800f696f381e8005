/* make_golden.c DIRECTORY - write the golden files
 *
 * See README.md for when to run it.  Exit 0 if all were written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "golden.h"

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIRECTORY\n");
        return 2;
    }
    golden_file file;
    for (unsigned i = 0; golden_next(i, &file); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.tamis", argv[1], file.name);
        tamis_filter *const filter = golden_make(&file);
        const char *reason = "it could not be made";
        if (filter == NULL || tamis_filter_save(filter, path, &reason) != TAMIS_OK) {
            fprintf(stderr, "make_golden: %s: %s\n", path, reason);
            return 2;
        }
        tamis_filter_free(filter);
    }
    return 0;
}
