/* make_files.c DIRECTORY - write one damaged file for each rule of the format
 *
 * See files/README.md.  Exit 0 if all were written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rules.h"

#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: make_files DIRECTORY\n");
        return 2;
    }
    for (unsigned i = 0; i < N_RULES; i++) {
        unsigned char bytes[RULE_ROOM];
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.tamis", argv[1], rules[i].name);
        const size_t size = rule_bytes(&rules[i], bytes);
        FILE *const out = size == SIZE_MAX ? NULL : fopen(path, "wb");
        if (out == NULL || fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
            fprintf(stderr, "make_files: %s could not be written\n", path);
            return 2;
        }
    }
    return 0;
}
