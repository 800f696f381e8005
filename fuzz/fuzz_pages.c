/* fuzz_pages.c - any bytes as a table of pages; what gets in must be safe to use
 *
 * The bytes are written over a good file, in which each piece of the input says where it goes:
 *
 *      1 byte     which part: header, roots, log, or one of the other blocks in use
 *      2 bytes    place within the part
 *      1 byte     length, then so many bytes
 *
 * The first byte of the input says which checksums are made right again afterwards: bit 0 of the header,
 * bit 1 of pages, twigs, branches and roots, each with those that lead to it, bit 2 of the first records of
 * the log; and how the file is opened: bit 4 read-only, bit 5 with repair, bit 6 without a map.  Bit 0 of
 * the second byte chooses between a table that was closed and one that was not.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEYS = 124, PAGE = TAMIS_I_PAGE_BYTES, BLOCKS_MAX = 400, RECORDS = 20, VALUE_MAX = 9000 };

static char path[64];

static void remove_file(void) {
    (void)unlink(path);
}

/* A good file, and where its parts are. */
typedef struct good_file {
    unsigned char *bytes;
    size_t size;
    uint64_t salt;
    uint32_t log_at, twig, branch;
    uint32_t used[BLOCKS_MAX]; /* blocks in use, but for header, roots and log */
    unsigned n_used;
} good_file;

static good_file files[2];

/* Some of them are too long for a page. */
static size_t value_of(uint64_t i, unsigned char value[VALUE_MAX]) {
    memset(value, (int)i, VALUE_MAX);
    return i % 41 == 40 ? (size_t)(i * 73) : i % 3 == 0 ? (size_t)(i % 200) : 8;
}

/* A bit of everything; for a table that is not closed, some of it in the log. */
static void tell(tamis_table *table) {
    static unsigned char value[VALUE_MAX];
    for (uint64_t i = 0; i < KEYS; i++)
        must(tamis_table_put(table, &i, 8, value, value_of(i, value), NULL) == TAMIS_OK);
    must(tamis_i_pages_commit(table->pages, TAMIS_I_ROOT_OF_OPEN) == TAMIS_OK);
    for (uint64_t i = 0; i < KEYS; i += 3)
        must(tamis_table_delete(table, &i, 8) == TAMIS_OK);
    const uint64_t late = KEYS;
    must(tamis_table_put(table, &late, 8, value, 5000, NULL) == TAMIS_OK);
}

static void read_good(good_file *file) {
    FILE *const in = fopen(path, "rb");
    must(in != NULL && fseek(in, 0, SEEK_END) == 0);
    file->size = (size_t)ftell(in);
    must(file->size / PAGE < BLOCKS_MAX && fseek(in, 0, SEEK_SET) == 0);
    file->bytes = malloc(file->size);
    must(file->bytes != NULL && fread(file->bytes, 1, file->size, in) == file->size);
    fclose(in);
}

static void make_good(good_file *file, bool closed) {
    tamis_table_params params;
    tamis_table_options options;
    tamis_table *table;
    tamis_table_params_init(&params);
    tamis_table_options_init(&options);
    params.seed = 1;
    params.value_max = VALUE_MAX;
    options.sync = TAMIS_SYNC_NONE;
    (void)unlink(path);
    must(tamis_table_create_file(path, &params, &options, NULL, &table, NULL) == TAMIS_OK);
    tell(table);
    if (closed) {
        must(tamis_table_close(table) == TAMIS_OK);
        must(tamis_table_open(path, &options, NULL, &table, NULL) == TAMIS_OK);
    }
    const tamis_i_pages *const p = table->pages;
    file->salt = p->salt;
    file->log_at = p->log_at;
    file->twig = p->twigs[0]->block;
    file->branch = p->branches[0];
    must(p->n_twigs == 1);
    for (uint64_t block = 3; block < p->n_blocks; block++)
        if ((p->taken[block / 64] >> block % 64 & 1) != 0 &&
            !(p->log_at != 0 && block >= p->log_at && block < p->log_at + p->log_blocks))
            file->used[file->n_used++] = (uint32_t)block;
    read_good(file);
    must(tamis_table_close(table) == TAMIS_OK);
}

/* Pieces of the input take the place of pieces of the file. */
static void overwrite(const good_file *file, unsigned char *bytes, const uint8_t *data, size_t n) {
    for (size_t at = 0; at + 4 < n;) {
        const unsigned part = data[at] % (4 + file->n_used);
        uint64_t start = 0, size = PAGE;
        uint64_t place = (uint64_t)data[at + 1] | (uint64_t)data[at + 2] << 8;
        uint64_t length = data[at + 3];
        if (part == 1) {
            start = PAGE;
            size = (uint64_t)2 * PAGE;
        } else if (part == 2 && file->log_at != 0) {
            start = (uint64_t)file->log_at * PAGE;
        } else if (part >= 4) {
            start = (uint64_t)file->used[part - 4] * PAGE;
        }
        at += 4;
        place %= size;
        length = length < n - at ? length : n - at;
        length = length < size - place ? length : size - place;
        memcpy(bytes + start + place, data + at, (size_t)length);
        at += (size_t)length;
    }
}

/* Make the checksum of a block right and tell it to who leads to it. */
static void reseal(const good_file *file, unsigned char *bytes, uint64_t block, unsigned char *to) {
    if (block == 0 || block >= file->size / PAGE)
        return;
    unsigned char *const image = bytes + block * PAGE;
    tamis_i_page_seal(image, block, file->salt);
    memcpy(to, image, 4);
}

static void repair_index(const good_file *file, unsigned char *bytes) {
    unsigned char *const twig = bytes + (size_t)file->twig * PAGE;
    unsigned char *const branch = bytes + (size_t)file->branch * PAGE;
    for (unsigned i = 0; i < TAMIS_I_TWIG_LEAVES && i < tamis_i_get_u32(twig + 4); i++) {
        unsigned char *const leaf = twig + 16 + (size_t)16 * i;
        const uint32_t block = tamis_i_get_u32(leaf + 4);
        if (block != file->twig && block != file->branch)
            reseal(file, bytes, block, leaf + 8);
    }
    reseal(file, bytes, file->twig, branch + 20);
    tamis_i_pages *const p = &(tamis_i_pages){.salt = file->salt};
    for (size_t block = 1; block <= 2; block++) {
        unsigned char *const root = bytes + block * PAGE;
        reseal(file, bytes, file->branch, root + TAMIS_I_ROOT_LIST + 4);
        tamis_i_put_u64(root, tamis_i_pages_root_sum(p, root));
    }
}

static void repair_log(const good_file *file, unsigned char *bytes) {
    tamis_i_pages *const p = &(tamis_i_pages){.salt = file->salt};
    unsigned char *const log = bytes + (size_t)file->log_at * PAGE;
    size_t at = 0;
    for (unsigned i = 0; i < RECORDS && file->log_at != 0; i++) {
        const size_t size = tamis_i_pages_record_size(tamis_i_get_u32(log + at + 24) & 0xffff,
                                                      tamis_i_get_u32(log + at + 28));
        if (size > PAGE)
            return;
        tamis_i_put_u64(log + at, tamis_i_pages_record_sum(p, log + at, size));
        at += size;
    }
}

static void use(tamis_table *table, bool read_only) {
    static char value[1 << 16], key[4096];
    size_t size, key_size;
    const char *reason = NULL;
    tamis_table_state info;
    tamis_table_state_init(&info);
    must(tamis_table_info(table, &info) == TAMIS_OK);
    const tamis_status verdict = tamis_table_verify(table, NULL, &reason);
    must(verdict == TAMIS_OK || reason != NULL);
    for (uint64_t i = 0; i < 2 * KEYS; i++)
        (void)!tamis_table_get(table, &i, info.params.key_max < 8 ? 1 : 8, value, sizeof value,
                               &size);
    /* A header that was changed may allow values that have no room here. */
    char *const room = info.params.value_max <= sizeof value ? value : NULL;
    uint64_t at = 0;
    for (tamis_status s = TAMIS_OK; s == TAMIS_OK || s == TAMIS_E_FORMAT;)
        s = tamis_table_next(table, &at, key, &key_size, room, &size);
    if (read_only) {
        must(tamis_table_put(table, "a", 1, "", 0, NULL) == TAMIS_E_READONLY);
        return;
    }
    for (uint64_t i = 0; i < 2 * KEYS; i += 2) {
        if (tamis_table_put(table, &i, 1, "", 0, NULL) == TAMIS_OK)
            must(tamis_table_get(table, &i, 1, value, sizeof value, &size) == TAMIS_OK);
        (void)!tamis_table_delete(table, &i, info.params.key_max < 8 ? 1 : 8);
    }
    if (tamis_table_put(table, "long", 4, value, 3000, NULL) == TAMIS_OK)
        must(tamis_table_get(table, "long", 4, value, sizeof value, &size) == TAMIS_OK &&
             size == 3000);
    (void)!tamis_table_rebuild(table, 100000, NULL);
    if (verdict == TAMIS_OK) /* what was good stays good */
        must(tamis_table_verify(table, NULL, &reason) == TAMIS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 2)
        return 0;
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "/dev/shm/tamis-fuzz-pages-%ld", (long)getpid());
        must(atexit(remove_file) == 0);
        make_good(&files[0], false);
        make_good(&files[1], true);
    }
    const good_file *const file = &files[data[1] % 2];
    static unsigned char bytes[BLOCKS_MAX * PAGE];
    memcpy(bytes, file->bytes, file->size);
    overwrite(file, bytes, data + 2, n - 2);
    if (data[0] & 1)
        tamis_i_put_u64(bytes + PAGE - 8, tamis_i_checksum(bytes, PAGE - 8));
    if (data[0] & 4)
        repair_log(file, bytes);
    if (data[0] & 2)
        repair_index(file, bytes);
    FILE *const out = fopen(path, "wb");
    must(out != NULL && fwrite(bytes, 1, file->size, out) == file->size);
    must(fclose(out) == 0);
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.sync = TAMIS_SYNC_NONE;
    options.read_only = (data[0] & 16) != 0;
    options.repair = (data[0] & 32) != 0;
    options.io = (data[0] & 64) != 0 ? TAMIS_TABLE_READ : TAMIS_TABLE_MAP;
    tamis_table *table = NULL;
    const char *reason = NULL;
    if (tamis_table_open(path, &options, NULL, &table, &reason) != TAMIS_OK) {
        must(table == NULL && reason != NULL);
        return 0;
    }
    use(table, options.read_only);
    const tamis_status closed = tamis_table_close(table); /* a page may turn out damaged */
    must(closed == TAMIS_OK || closed == TAMIS_E_FORMAT);
    return 0;
}
