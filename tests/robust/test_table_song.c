/* test_table_song.c - tables with the summary 'song': puts that move items, against an exact dictionary
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "table/table.h"
#include "table_file.h"

#include <fcntl.h>
#include <sys/stat.h>

/* A table of this shape, with a stash for everything. */
static tamis_table_params song_params(unsigned levels, uint64_t buckets, unsigned bucket,
                                      unsigned width) {
    tamis_table_params params = model_params(MODEL_KEYS, TAMIS_SUMMARY_SONG);
    params.n_levels = levels;
    params.bucket = bucket;
    params.stash = MODEL_KEYS;
    for (unsigned i = 0; i < levels; i++)
        params.buckets[i] = params.cells[i] = buckets + i;
    params.counter_bits[0] = width;
    return params;
}

static void put_some(tamis_table *table, model *m, uint64_t *random, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        model_put(table, m, (unsigned)test_random_below(random, MODEL_KEYS),
                  (uint32_t)test_random(random));
}

/* All is sound, and each item of a sub-table is where the summary says. */
static void assert_settled(const tamis_table *table, const model *m) {
    uint64_t failures = 99;
    model_verify(table, m);
    assert_ok(tamis_table_verify(table, &failures, NULL));
    assert_int_equal(failures, 0);
}

/* -------------------------------------------------------------------------------------------------
 * In memory
 */

/* From counters of one bit, which are full at once, to wide ones; from one bucket to many.  Hits read one
 * bucket, however bad the counters are. */
static void test_song_any_shape_answers_stay_exact(void **state) {
    (void)state;
    static const struct {
        unsigned levels, bucket, width;
        uint64_t buckets;
    } shapes[] = {{1, 1, 3, 700}, {1, 4, 1, 1},   {2, 1, 1, 100},  {3, 1, 2, 300},
                  {3, 2, 3, 150}, {4, 1, 3, 200}, {4, 4, 4, 50},   {8, 1, 3, 100},
                  {8, 3, 2, 40},  {16, 1, 1, 20}, {16, 4, 16, 11}, {10, 1, 3, 787}};
    uint64_t random = test_seed(), moves = 0, crises = 0;
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const tamis_table_params params =
            song_params(shapes[s].levels, shapes[s].buckets, shapes[s].bucket, shapes[s].width);
        tamis_table *table;
        static model m;
        model_clear(&m);
        assert_ok(tamis_table_create(&params, NULL, &table));
        for (unsigned i = 0; i < 20; i++) {
            put_some(table, &m, &random, 60);
            assert_settled(table, &m);
        }
        const tamis_table_counts counts = table_counts(table);
        assert_int_equal(counts.failures, 0);
        assert_int_equal(counts.puts, m.count);
        moves += counts.moves;
        crises += counts.crises;
        assert_ok(tamis_table_close(table));
    }
    printf("# %lu moves, %lu crises\n", (unsigned long)moves, (unsigned long)crises);
    assert_true(moves > 500 && crises > 500);
}

/* The published shape, in small: no crisis, every hit is one read. */
static void test_song_planned_table_reads_one_bucket_per_hit(void **state) {
    (void)state;
    const tamis_table_params params = model_params(MODEL_KEYS, TAMIS_SUMMARY_SONG);
    tamis_table *table;
    static model m;
    model_clear(&m);
    assert_ok(tamis_table_create(&params, NULL, &table));
    for (unsigned id = 0; id < MODEL_KEYS; id++)
        model_put(table, &m, id, id);
    model_compare(table, &m);
    const tamis_table_counts counts = table_counts(table);
    const tamis_table_state info = table_state(table);
    assert_int_equal(counts.hits, MODEL_KEYS);
    assert_int_equal(counts.hit_reads, MODEL_KEYS);
    assert_int_equal(counts.crises, 0);
    assert_true(counts.moves > MODEL_KEYS / 10);
    /* one bit per slot, and no more */
    assert_int_equal(info.params.n_levels, 10);
    assert_true(info.bit_bytes <= (info.slots + params.capacity) / 8);
    assert_settled(table, &m);
    assert_ok(tamis_table_close(table));
}

static void test_song_delete_is_refused(void **state) {
    (void)state;
    const tamis_table_params params = model_params(MODEL_KEYS, TAMIS_SUMMARY_SONG);
    tamis_table *table;
    static model m;
    model_clear(&m);
    assert_ok(tamis_table_create(&params, NULL, &table));
    for (unsigned id = 0; id < 100; id++)
        model_put(table, &m, id, id);
    char key[KEY_MAX];
    const size_t size = model_key(7, key);
    size_t done = 9, found = 9;
    const tamis_bytes keys[] = {{key, size}};
    assert_status(tamis_table_delete(table, key, size), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_table_delete(table, "absent", 6), TAMIS_E_UNSUPPORTED);
    assert_status(tamis_table_delete_many(table, keys, 1, &done, &found), TAMIS_E_UNSUPPORTED);
    assert_int_equal(done, 0);
    assert_int_equal(found, 0);
    bool rebuilt = false;
    assert_ok(tamis_table_rebuild(table, 1, &rebuilt));
    assert_true(rebuilt);
    assert_settled(table, &m);
    assert_ok(tamis_table_close(table));
}

/* A new key that finds no place changes nothing; known keys can still be replaced. */
static void test_song_full_table_refuses(void **state) {
    (void)state;
    tamis_table_params params = song_params(3, 20, 1, 3);
    params.stash = 10;
    tamis_table *table;
    static model m;
    model_clear(&m);
    assert_ok(tamis_table_create(&params, NULL, &table));
    unsigned refused = 0;
    for (unsigned id = 0; id < 200; id++) {
        char key[KEY_MAX];
        bool added = false;
        const size_t words = (size_t)table->summary.n_words * 8;
        unsigned char before[512];
        assert_true(words <= sizeof before);
        memcpy(before, table->summary.body, words);
        const tamis_status status = tamis_table_put(table, key, model_key(id, key), "", 0, &added);
        if (status == TAMIS_OK) {
            assert_true(added);
            m.present[id] = true;
            m.count++;
            continue;
        }
        assert_status(status, TAMIS_E_FULL);
        assert_memory_equal(table->summary.body, before, words);
        refused++;
    }
    assert_true(refused > 100 && m.count >= 30 && m.count <= 73);
    assert_int_equal(table_state(table).stash_used, 10);
    for (unsigned id = 0; id < 200; id++)
        if (m.present[id])
            model_put(table, &m, id, 5);
    assert_settled(table, &m);
    assert_ok(tamis_table_close(table));
}

static void test_song_parameters_are_checked(void **state) {
    (void)state;
    tamis_table_params bad[6];
    for (unsigned i = 0; i < 6; i++)
        bad[i] = song_params(4, 100, 1, 3);
    bad[0].cells[2]++; /* not a counter for each bucket */
    bad[1].counter_bits[0] = 0;
    bad[2].counter_bits[0] = 17;
    bad[3].counter_bits[1] = 3;
    bad[4].hashes[0] = 1;
    bad[5].bucket = TAMIS_TABLE_PAGE;
    for (unsigned i = 0; i < 6; i++)
        assert_status(tamis_table_complete(&bad[i]), TAMIS_E_ARGUMENT);
    tamis_table_params good = song_params(4, 100, 1, 3);
    assert_ok(tamis_table_complete(&good));
}

/* -------------------------------------------------------------------------------------------------
 * In files
 */

static unsigned char *file_bytes(size_t *size) {
    struct stat about;
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &about) == 0);
    *size = (size_t)about.st_size;
    unsigned char *const bytes = malloc(*size);
    assert_non_null(bytes);
    assert_true(tamis_i_io_read_at(fd, 0, bytes, *size));
    (void)close(fd);
    return bytes;
}

/* Put these bytes in the place of the file, and free them. */
static void file_replace(unsigned char *bytes, size_t size) {
    (void)unlink(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    assert_true(fd >= 0 && tamis_i_io_write_at(fd, 0, bytes, size));
    (void)close(fd);
    free(bytes);
}

/* The file as a killed process leaves it: the counters that were raised for no item are not in it.  Each
 * item is found, by a reader that may not move it too; a writer brings all where they belong. */
static void test_song_unclosed_file_is_settled(void **state) {
    (void)state;
    uint64_t random = test_seed() + 3, astray = 0;
    for (unsigned round = 0; round < 40; round++) {
        const tamis_table_params params = song_params(4, 230 - 2 * round, 1 + round % 3 / 2, 3);
        const tamis_table_options options = quick_options();
        static model m;
        model_clear(&m);
        tamis_table *table = create_table(&params, &options);
        put_some(table, &m, &random, 100 + 20 * round);
        size_t size;
        unsigned char *const bytes = file_bytes(&size);
        assert_ok(tamis_table_close(table));
        file_replace(bytes, size);

        tamis_table_options how = quick_options();
        how.read_only = true;
        table = open_table(&how);
        assert_true(table_state(table).recovered);
        model_verify(table, &m);
        astray += table->unknown;
        assert_ok(tamis_table_close(table));

        how.read_only = false;
        how.io = (tamis_table_io)(round % 3);
        table = open_table(&how);
        assert_true(table_state(table).recovered);
        assert_int_equal(table->unknown, 0);
        assert_settled(table, &m);
        put_some(table, &m, &random, 20);
        assert_settled(table, &m);
        assert_ok(tamis_table_close(table));
        table = open_table(&options);
        assert_false(table_state(table).recovered);
        assert_settled(table, &m);
        assert_ok(tamis_table_close(table));
    }
    printf("# %lu items were not where the counters of the items alone say\n",
           (unsigned long)astray);
    assert_true(astray > 40);
}

/* The power fails while a put that moves items writes to their slots.  Any sectors of the slots may have
 * reached the disk since the table was opened, or not; the journal has, for it was synced before them.  No
 * item is lost, not even one that no put named, and none is there twice. */
static void test_song_moves_survive_lost_sectors(void **state) {
    (void)state;
    uint64_t random = test_seed() + 7, lost = 0;
    for (unsigned round = 0; round < 40; round++) {
        const tamis_table_params params = song_params(4, 230 - 2 * round, 1 + round % 3 / 2, 3);
        const tamis_table_options quick = quick_options();
        tamis_table_options batch;
        tamis_table_options_init(&batch);
        static model m;
        model_clear(&m);
        tamis_table *table = create_table(&params, &quick);
        put_some(table, &m, &random, 100 + 20 * round);
        assert_ok(tamis_table_close(table));
        size_t size;
        unsigned char *const before = file_bytes(&size);
        table = open_table(&batch);
        /* as many changes as the journal keeps at the most, the last of them with moves */
        const uint64_t moves = table_counts(table).moves;
        for (unsigned i = 0; i < 40 && table_counts(table).moves == moves; i++)
            put_some(table, &m, &random, 1);
        const bool moved = table_counts(table).moves > moves;
        const size_t from = (size_t)table->store.slots_at, to = (size_t)table->store.fast_at;
        unsigned char *const after = file_bytes(&size);
        assert_ok(tamis_table_close(table));
        for (size_t at = from; at < to && moved; at += TAMIS_I_SECTOR)
            if (memcmp(after + at, before + at, TAMIS_I_SECTOR) != 0 &&
                test_random_below(&random, 2) == 0) {
                memcpy(after + at, before + at, TAMIS_I_SECTOR);
                lost++;
            }
        free(before);
        file_replace(after, size);
        table = open_table(&quick);
        assert_true(table_state(table).recovered);
        assert_settled(table, &m);
        assert_ok(tamis_table_close(table));
    }
    printf("# %lu sectors lost\n", (unsigned long)lost);
    assert_true(lost > 40);
}

/* Damaged counters of a closed file are made again. */
static void test_song_damaged_summary_is_made_again(void **state) {
    (void)state;
    uint64_t random = test_seed() + 4;
    const tamis_table_params params = song_params(4, 200, 1, 3);
    const tamis_table_options options = quick_options();
    for (unsigned round = 0; round < 20; round++) {
        static model m;
        model_clear(&m);
        tamis_table *table = create_table(&params, &options);
        put_some(table, &m, &random, 600);
        const uint64_t at = table->store.fast_at, size = 8 * table->summary.n_words;
        assert_ok(tamis_table_close(table));
        size_t all;
        unsigned char *const bytes = file_bytes(&all);
        bytes[at + test_random_below(&random, size)] ^= (unsigned char)(1 << round % 8);
        file_replace(bytes, all);
        tamis_table_options how = quick_options();
        how.read_only = round % 2 == 0;
        table = open_table(&how);
        assert_true(table_state(table).recovered);
        model_verify(table, &m);
        assert_ok(tamis_table_close(table));
    }
}

/* A file with a right checksum and wrong contents: bits that name free slots, counters that are all zero or
 * full.  Nothing is found where it should not be, and no call reaches outside. */
static void test_song_hostile_fast_memory_does_no_harm(void **state) {
    (void)state;
    uint64_t random = test_seed() + 5;
    const tamis_table_params params = song_params(4, 200, 1, 3);
    const tamis_table_options options = quick_options();
    unsigned refused = 0;
    for (unsigned round = 0; round < 60; round++) {
        static model m;
        model_clear(&m);
        tamis_table *table = create_table(&params, &options);
        put_some(table, &m, &random, 300);
        for (unsigned i = 0; i < 40 && round % 3 == 0; i++)
            tamis_i_bit_set(table->used, test_random_below(&random, table->slots.first[4]));
        if (round % 3 == 1)
            memset(table->summary.body, 0, 64);
        if (round % 3 == 2)
            memset(table->summary.body, 0x55, 64);
        tamis_i_table_recount(table);
        assert_ok(tamis_table_close(table));
        table = open_table(&options);
        for (unsigned id = 0; id < MODEL_KEYS; id++) {
            char key[KEY_MAX];
            const size_t size = model_key(id, key);
            const tamis_status status = id % 2 == 0
                                            ? tamis_table_put(table, key, size, "", 0, NULL)
                                            : tamis_table_get(table, key, size, NULL, 0, NULL);
            assert_true(status == TAMIS_OK || status == TAMIS_E_NOT_FOUND ||
                        status == TAMIS_E_FORMAT);
            refused += status == TAMIS_E_FORMAT;
        }
        assert_ok(tamis_table_close(table));
    }
    assert_true(refused > 0);
}

/* If the system refuses to write, the table answers as before. */
static void test_song_failing_write_answers_as_before(void **state) {
    (void)state;
    uint64_t random = test_seed() + 6;
    const tamis_table_params params = song_params(4, 200, 1, 3);
    const tamis_table_options options = quick_options();
    static model m;
    model_clear(&m);
    tamis_table *table = create_table(&params, &options);
    put_some(table, &m, &random, 300);
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && dup2(fd, table->store.fd) == table->store.fd);
    (void)close(fd);
    unsigned failed = 0;
    for (unsigned id = 0; id < MODEL_KEYS; id++)
        if (!m.present[id]) {
            char key[KEY_MAX];
            assert_status(tamis_table_put(table, key, model_key(id, key), "", 0, NULL), TAMIS_E_IO);
            failed++;
        }
    assert_true(failed > 100);
    model_compare(table, &m);
    assert_status(tamis_table_close(table), TAMIS_E_IO);
    table = open_table(&options);
    assert_settled(table, &m);
    assert_ok(tamis_table_close(table));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_song_any_shape_answers_stay_exact),
        cmocka_unit_test(test_song_planned_table_reads_one_bucket_per_hit),
        cmocka_unit_test(test_song_delete_is_refused),
        cmocka_unit_test(test_song_full_table_refuses),
        cmocka_unit_test(test_song_parameters_are_checked),
        cmocka_unit_test(test_song_unclosed_file_is_settled),
        cmocka_unit_test(test_song_moves_survive_lost_sectors),
        cmocka_unit_test(test_song_damaged_summary_is_made_again),
        cmocka_unit_test(test_song_hostile_fast_memory_does_no_harm),
        cmocka_unit_test(test_song_failing_write_answers_as_before),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
