/* fuzz_table.c - any bytes as a table file; what gets in must be safe to use
 *
 * The bytes are written over a good file, in which each piece of the input says where it goes:
 *
 *      1 byte     which part: header, states, journal, slots, fast memory
 *      2 bytes    place within the part
 *      1 byte     length, then so many bytes
 *
 * The first byte of the input says which checksums are made right again afterwards: bit 0 of the header,
 * bit 1 of the states and of fast memory, bit 2 of the journal, bit 3 of the slots; and how the file is
 * opened: bit 4 read-only, bit 5 with repair, bit 6 without a map.  The second byte chooses the summary.
 * What was let in is used in every way.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CAPACITY = 40, KEYS = 30 };

static char path[64];

static void remove_file(void) {
    (void)unlink(path);
}

static unsigned char *good;
static size_t good_size;
static uint64_t part_at[5], part_size[5];
static tamis_i_slots slots;
static tamis_i_store layout;

static tamis_table_params params_of(tamis_summary summary) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.capacity = CAPACITY;
    params.key_max = 8;
    params.value_max = 8;
    params.summary = summary;
    params.seed = 1;
    return params;
}

/* A table that was not closed, with a bit of everything in it. */
static void make_good(tamis_summary summary) {
    const tamis_table_params params = params_of(summary);
    tamis_table *table;
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.sync = TAMIS_SYNC_NONE;
    must(unlink(path) == 0);
    must(tamis_table_create_file(path, &params, &options, NULL, &table, NULL) == TAMIS_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        must(tamis_table_put(table, &i, sizeof i, &i, 4, NULL) == TAMIS_OK);
    for (uint64_t i = 0; i < KEYS && summary != TAMIS_SUMMARY_SONG; i += 3)
        must(tamis_table_delete(table, &i, sizeof i) == TAMIS_OK);
    slots = table->slots;
    layout = table->store;
    layout.slots = &slots;
    const uint64_t at[6] = {
        0, TAMIS_I_PAGE, layout.journal_at, layout.slots_at, layout.fast_at, layout.file_size};
    for (unsigned i = 0; i < 5; i++) {
        part_at[i] = at[i];
        part_size[i] = at[i + 1] - at[i];
    }
    must(tamis_table_close(table) == TAMIS_OK);
    FILE *const file = fopen(path, "rb");
    must(file != NULL);
    good_size = (size_t)layout.file_size;
    good = realloc(good, good_size);
    must(good != NULL && fread(good, 1, good_size, file) == good_size);
    fclose(file);
}

static void repair(unsigned char *bytes, unsigned how, uint64_t fast_words, uint64_t bit_words) {
    if (how & 1)
        tamis_i_put_u64(bytes + TAMIS_I_PAGE - 8, tamis_i_checksum(bytes, TAMIS_I_PAGE - 8));
    if (how & 8)
        for (uint64_t slot = 0; slot < tamis_i_slots_count(&slots); slot++) {
            unsigned char *const image =
                bytes + layout.slots_at +
                tamis_i_slots_place(&slots, tamis_i_slots_part(&slots, slot), slot);
            if (!tamis_i_slot_is_free(&slots, image))
                tamis_i_put_u32(
                    image, (uint32_t)tamis_i_mix(tamis_i_checksum(image + 4, slots.slot_size - 4) ^
                                                 tamis_i_mix(slots.salt + slot)));
        }
    if (how & 4)
        for (uint64_t i = 0; i < TAMIS_I_JOURNAL_ENTRIES; i++) {
            unsigned char *const entry = bytes + layout.journal_at + i * layout.entry_size;
            tamis_i_put_u64(entry, tamis_i_checksum(entry + 8, 56 + slots.slot_size) ^ slots.salt);
        }
    if (how & 2)
        for (unsigned page = 1; page <= 2; page++) {
            unsigned char *const state = bytes + (size_t)page * TAMIS_I_PAGE;
            const unsigned char *const fast = bytes + layout.fast_at;
            tamis_i_put_u64(state + 48, tamis_i_mix(tamis_i_checksum(fast, (size_t)bit_words * 8)) ^
                                            tamis_i_checksum(fast + bit_words * 8,
                                                             (size_t)(fast_words - bit_words) * 8));
            tamis_i_put_u64(state, tamis_i_checksum(state + 8, TAMIS_I_SECTOR - 8) ^ slots.salt);
        }
}

static void use(tamis_table *table, bool read_only) {
    char value[4096], key[4096];
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
    uint64_t at = 0;
    for (tamis_status s = TAMIS_OK; s == TAMIS_OK || s == TAMIS_E_FORMAT;)
        s = tamis_table_next(table, &at, key, &key_size, value, &size);
    if (read_only) {
        must(tamis_table_put(table, "a", 1, "", 0, NULL) == TAMIS_E_READONLY);
        return;
    }
    for (uint64_t i = 0; i < 2 * KEYS; i += 2) {
        if (tamis_table_put(table, &i, 1, "", 0, NULL) == TAMIS_OK)
            must(tamis_table_get(table, &i, 1, value, sizeof value, &size) == TAMIS_OK);
        (void)!tamis_table_delete(table, &i, info.params.key_max < 8 ? 1 : 8);
    }
    (void)!tamis_table_rebuild(table, 100000, NULL);
    if (verdict == TAMIS_OK) /* what was good stays good */
        must(tamis_table_verify(table, NULL, &reason) == TAMIS_OK);
}

/* Pieces of the input take the place of pieces of the table: part, place and length before each. */
static void overwrite(unsigned char *bytes, const uint8_t *data, size_t n) {
    for (size_t at = 0; at + 4 < n;) {
        const unsigned part = data[at] % 5;
        uint64_t place = (uint64_t)data[at + 1] | (uint64_t)data[at + 2] << 8;
        uint64_t length = data[at + 3];
        at += 4;
        place %= part_size[part];
        length = length < n - at ? length : n - at;
        length = length < part_size[part] - place ? length : part_size[part] - place;
        memcpy(bytes + part_at[part] + place, data + at, (size_t)length);
        at += (size_t)length;
    }
}

/* Open the file as the first byte of the input says, and use what is let in. */
static void open_and_use(unsigned how) {
    tamis_table_options options;
    tamis_table_options_init(&options);
    options.sync = TAMIS_SYNC_NONE;
    options.read_only = (how & 16) != 0;
    options.repair = (how & 32) != 0;
    options.io = (how & 64) != 0 ? TAMIS_TABLE_READ : TAMIS_TABLE_MAP;
    tamis_table *table = NULL;
    const char *reason = NULL;
    if (tamis_table_open(path, &options, NULL, &table, &reason) != TAMIS_OK) {
        must(table == NULL && reason != NULL);
        return;
    }
    use(table, options.read_only);
    must(tamis_table_close(table) == TAMIS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static unsigned char *bytes;
    static tamis_summary made;
    static uint64_t fast_words, bit_words;
    static const tamis_summary kinds[] = {TAMIS_SUMMARY_MULTIPLE, TAMIS_SUMMARY_SINGLE,
                                          TAMIS_SUMMARY_INTERPOLATION,
                                          TAMIS_SUMMARY_MULTIPLE_COUNTING, TAMIS_SUMMARY_SONG};
    if (n < 2)
        return 0;
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "/dev/shm/tamis-fuzz-%ld", (long)getpid());
        FILE *const file = fopen(path, "wb");
        must(file != NULL && atexit(remove_file) == 0);
        fclose(file);
    }
    const unsigned kind = data[1] >= 0xf0 ? 4 : data[1] % 4;
    const tamis_summary summary = kinds[kind];
    if (made != summary) {
        make_good(summary);
        made = summary;
        bytes = realloc(bytes, good_size);
        must(bytes != NULL);
        const bool deletion_bits = kind < 2;
        bit_words = (tamis_i_slots_count(&slots) + 63) / 64 * (deletion_bits ? 2 : 1);
        tamis_table_params params = params_of(summary);
        must(tamis_table_complete(&params) == TAMIS_OK);
        tamis_i_summary_params own;
        tamis_i_table_summary_params(&params, &own);
        must(tamis_i_summary_by_id((uint64_t)summary)->shape(&own, &fast_words) == TAMIS_OK);
        fast_words += bit_words;
    }
    memcpy(bytes, good, good_size);
    overwrite(bytes, data + 2, n - 2);
    repair(bytes, data[0], fast_words, bit_words);
    FILE *const file = fopen(path, "wb");
    must(file != NULL && fwrite(bytes, 1, good_size, file) == good_size);
    must(fclose(file) == 0);
    open_and_use(data[0]);
    return 0;
}
