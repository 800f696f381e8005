/* make_tables.c DIRECTORY - write the golden files of tables of pages that are not there
 *
 * Which pages are filled anew, and which blocks are taken, is not part of the format: a later version may
 * make other bytes.  So files that are there stay.
 *
 * SPDX-License-Identifier: MIT
 */
#include "golden_tables.h"

/* Copy a file: the number (8 bytes, little-endian) and the bytes of each block that is not zero, and of the
 * last. */
static bool copy(const char *from, const char *to) {
    static const unsigned char zeros[4096];
    unsigned char block[2][8 + 4096] = {{0}};
    FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wb");
    bool good = in != NULL && out != NULL && fread(block[0] + 8, 1, 4096, in) == 4096;
    for (unsigned number = 0; good; number++) {
        unsigned char *const now = block[number % 2], *const next = block[(number + 1) % 2];
        const bool last = fread(next + 8, 1, 4096, in) != 4096;
        now[0] = (unsigned char)number;
        now[1] = (unsigned char)(number >> 8);
        if (last || memcmp(now + 8, zeros, 4096) != 0)
            good = fwrite(now, 1, sizeof block[0], out) == sizeof block[0];
        if (last)
            break;
    }
    if (in != NULL)
        fclose(in);
    return out != NULL && fclose(out) == 0 && good;
}

static bool make(const golden_table_file *file, const char *path) {
    char draft[1100];
    tamis_table_params params;
    tamis_table *table;
    snprintf(draft, sizeof draft, "%s.draft", path);
    tamis_table_params_init(&params);
    params.hash = file->hash;
    params.seed = file->seed;
    params.seed_high = file->seed_high;
    params.value_max = file->large ? TABLE_VALUE_ROOM : 0;
    if (tamis_table_create_file(draft, &params, NULL, NULL, &table, NULL) != TAMIS_OK)
        return false;
    bool good = table_tell(table, file->large);
    if (file->killed)
        good = copy(draft, path) && good;
    good = tamis_table_close(table) == TAMIS_OK && good;
    return file->killed ? remove(draft) == 0 && good : rename(draft, path) == 0 && good;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    for (unsigned i = 0; i < N_TABLES; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.%s", argv[1], golden_tables[i].name,
                 golden_tables[i].killed ? "blocks" : "tab");
        FILE *const old = fopen(path, "rb");
        if (old != NULL)
            fclose(old);
        else if (!make(&golden_tables[i], path))
            return 2;
    }
    return 0;
}
