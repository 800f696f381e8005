/* test_table.c - tables: random calls against an exact dictionary, places, stash, rebuild, arguments
 *
 * SPDX-License-Identifier: MIT
 */
#define _DEFAULT_SOURCE
#include "support.h"
#include "table/table.h"
#include "table_model.h"

#include <errno.h>
#include <unistd.h>

static tamis_table *table_for(uint64_t capacity, tamis_summary summary) {
    const tamis_table_params params = model_params(capacity, summary);
    tamis_table *table;
    assert_ok(tamis_table_create(&params, NULL, &table));
    return table;
}

/* Verify, and compare every key with the dictionary, in both directions. */
static void assert_equal_tables(const tamis_table *table, const model *m) {
    model_verify(table, m);
    uint64_t at = 0, n = 0;
    char key[KEY_MAX], value[VALUE_MAX];
    size_t key_size, value_size;
    while (tamis_table_next(table, &at, key, &key_size, value, &value_size) == TAMIS_OK)
        n++;
    assert_int_equal(n, m->count);
}

/* -------------------------------------------------------------------------------------------------
 * Random calls
 */

static void random_calls(tamis_table *table, model *m, uint64_t *random, unsigned n,
                         unsigned rebuild_in) {
    for (unsigned i = 0; i < n; i++) {
        const unsigned id = (unsigned)test_random_below(random, MODEL_KEYS);
        const unsigned what = (unsigned)test_random_below(random, 10);
        if (what < 5) {
            model_put(table, m, id, (uint32_t)test_random(random));
        } else if (what < 8) {
            model_delete(table, m, id);
        } else {
            model_get(table, m, id);
        }
        if (rebuild_in != 0 && test_random_below(random, rebuild_in) == 0) {
            bool done;
            assert_ok(tamis_table_rebuild(table, test_random_below(random, 50), &done));
        }
    }
}

static void test_table_random_calls_equal_a_dictionary(void **state) {
    (void)state;
    uint64_t random = test_seed();
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        for (unsigned bucket = 1; bucket <= 4; bucket++) {
            for (unsigned rebuild_in = 0; rebuild_in <= 20; rebuild_in += 10) {
                tamis_table_params params = model_params(MODEL_KEYS, summaries[s]);
                params.bucket = bucket;
                tamis_table *table;
                static model m;
                model_clear(&m);
                assert_ok(tamis_table_create(&params, NULL, &table));
                random_calls(table, &m, &random, 5000, rebuild_in);
                assert_equal_tables(table, &m);
                assert_ok(tamis_table_rebuild(table, UINT64_MAX, NULL));
                assert_equal_tables(table, &m);
                assert_ok(tamis_table_close(table));
            }
        }
    }
}

/* Summaries so small that they are wrong all the time, sub-tables so small that crises are common: the
 * answers are still exact. */
static void test_table_bad_summary_answers_stay_exact(void **state) {
    (void)state;
    uint64_t random = test_seed() + 1;
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        tamis_table_params params = model_params(MODEL_KEYS, summaries[s]);
        assert_ok(tamis_table_complete(&params));
        for (unsigned i = 0; i < params.n_levels; i++) {
            params.buckets[i] = params.buckets[i] / 8 + 1;
            if (summaries[s] != TAMIS_SUMMARY_INTERPOLATION)
                params.cells[i] = params.cells[i] == 0 ? 0 : params.cells[i] / 10 + 15;
        }
        if (summaries[s] == TAMIS_SUMMARY_INTERPOLATION)
            params.string_bits = 10;
        params.stash = MODEL_KEYS;
        tamis_table *table;
        static model m;
        model_clear(&m);
        assert_ok(tamis_table_create(&params, NULL, &table));
        random_calls(table, &m, &random, 20000, 30);
        assert_equal_tables(table, &m);
        const tamis_table_counts stats = table_counts(table);
        printf("%s: %d failures, %d crises, %d false positives\n", tamis_summary_name(summaries[s]),
               (int)stats.failures, (int)stats.crises, (int)stats.false_positives);
        assert_true(stats.failures > 0 && stats.crises > 0 && stats.false_positives > 0);
        assert_ok(tamis_table_close(table));
    }
}

/* -------------------------------------------------------------------------------------------------
 * Places
 */

static void test_table_item_goes_to_first_free_slot(void **state) {
    (void)state;
    tamis_table *const table = table_for(2000, TAMIS_SUMMARY_MULTIPLE);
    for (uint64_t i = 0; i < 2000; i++) {
        const tamis_digest digest = test_hash(table->params.seed, &i, sizeof i);
        unsigned level = 0;
        while (tamis_i_bit_get(table->used, tamis_i_slots_bucket(&table->slots, digest, level)))
            level++;
        const uint64_t before = table->part_count[level];
        assert_ok(tamis_table_put(table, &i, sizeof i, NULL, 0, NULL));
        assert_int_equal(table->part_count[level], before + 1);
    }
    tamis_table_state info = table_state(table);
    /* (1 - e^(-1/4)) 4 n in the first, by (1) of the paper */
    assert_in_range(info.level_count[0], 1769 - 60, 1769 + 60);
    assert_int_equal(info.stash_used, 0);
    assert_ok(tamis_table_close(table));
}

static void test_table_slots_do_not_straddle_pages(void **state) {
    (void)state;
    tamis_table_params planned = model_params(500, TAMIS_SUMMARY_MULTIPLE);
    assert_ok(tamis_table_complete(&planned));
    for (uint64_t key_max = 1; key_max < 1100; key_max += key_max < 40 ? 1 : 37) {
        for (uint64_t bucket = 1; bucket <= 4; bucket++) {
            tamis_table_params params = planned;
            params.key_max = key_max;
            params.bucket = bucket;
            params.value_max = key_max % 7;
            const tamis_status status = tamis_table_complete(&params);
            if ((TAMIS_I_SLOT_HEAD + key_max + params.value_max) * bucket > TAMIS_I_PAGE) {
                assert_status(status, TAMIS_E_ARGUMENT);
                continue;
            }
            assert_ok(status);
            tamis_i_slots slots;
            assert_ok(tamis_i_slots_shape(&params, &slots));
            uint64_t end = 0;
            for (unsigned part = 0; part <= slots.n_levels; part++) {
                assert_int_equal(slots.offset[part] % TAMIS_I_PAGE, 0);
                for (uint64_t slot = slots.first[part]; slot < slots.first[part + 1]; slot++) {
                    const uint64_t place = tamis_i_slots_place(&slots, part, slot);
                    const uint64_t last = place + slots.slot_size - 1;
                    assert_true(place >= end && last < slots.offset[part + 1]);
                    assert_int_equal(place / slots.unit, last / slots.unit);
                    if (part < slots.n_levels && (slot - slots.first[part]) % bucket == 0) {
                        const uint64_t bucket_end =
                            tamis_i_slots_place(&slots, part, slot + bucket - 1) + slots.slot_size -
                            1;
                        assert_int_equal(place / TAMIS_I_PAGE, bucket_end / TAMIS_I_PAGE);
                        assert_int_equal(bucket_end - place + 1, bucket * slots.slot_size);
                    }
                    end = last + 1;
                }
            }
        }
    }
}

static void test_table_full_stash_refuses_and_changes_nothing(void **state) {
    (void)state;
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        const tamis_table_params params = model_crowded_params(100, summaries[s], 2, 5);
        tamis_table *table;
        assert_ok(tamis_table_create(&params, NULL, &table));
        const uint64_t room = 2 * params.n_levels + 5;
        uint64_t n = 0;
        bool added = false;
        tamis_status status;
        while ((status = tamis_table_put(table, &n, sizeof n, "v", 1, &added)) == TAMIS_OK)
            n++;
        assert_status(status, TAMIS_E_FULL);
        assert_true(n >= 5 && n <= room);
        /* what is there is there, and can be changed */
        for (uint64_t i = 0; i < n; i++)
            assert_ok(tamis_table_get(table, &i, sizeof i, NULL, 0, NULL));
        added = true;
        assert_status(tamis_table_put(table, &n, sizeof n, "v", 1, &added), TAMIS_E_FULL);
        assert_true(added);
        assert_status(tamis_table_get(table, &n, sizeof n, NULL, 0, NULL), TAMIS_E_NOT_FOUND);
        assert_int_equal(tamis_table_count(table), n);
        const uint64_t first = 0;
        assert_ok(tamis_table_put(table, &first, sizeof first, "w", 1, &added));
        assert_false(added);
        assert_ok(tamis_table_verify(table, NULL, NULL));
        /* one that goes makes room for one that comes, at least after a rebuild */
        for (uint64_t i = 0; i < n; i++)
            assert_ok(tamis_table_delete(table, &i, sizeof i));
        assert_ok(tamis_table_rebuild(table, UINT64_MAX, NULL));
        assert_int_equal(tamis_table_count(table), 0);
        for (uint64_t i = 0; i < n; i++)
            assert_ok(tamis_table_put(table, &i, sizeof i, "v", 1, NULL));
        assert_ok(tamis_table_close(table));
    }
}

/* -------------------------------------------------------------------------------------------------
 * Deletion
 */

static uint64_t rebuild_in_steps(tamis_table *table, uint64_t steps) {
    bool done = false;
    uint64_t calls = 0;
    while (!done) {
        assert_ok(tamis_table_rebuild(table, steps, &done));
        calls++;
    }
    return calls;
}

static void test_table_rebuild_frees_slots_and_forgets(void **state) {
    (void)state;
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        tamis_table *const table = table_for(1000, summaries[s]);
        const bool forgets = tamis_i_table_forgets(table);
        for (uint64_t i = 0; i < 1000; i++)
            assert_ok(tamis_table_put(table, &i, sizeof i, "v", 1, NULL));
        for (uint64_t i = 0; i < 300; i++)
            assert_ok(tamis_table_delete(table, &i, sizeof i));
        tamis_table_state info = table_state(table);
        assert_int_equal(info.deleted, forgets ? 0 : 300);
        assert_int_equal(info.rebuild_due, !forgets);
        const double before = info.fpr;
        const uint64_t calls = rebuild_in_steps(table, 7);
        assert_true(calls > 10);
        assert_ok(tamis_table_info(table, &info));
        assert_int_equal(info.deleted, 0);
        assert_false(info.rebuild_due || info.rebuilding);
        assert_true(forgets ? info.fpr <= before : info.fpr < before);
        uint64_t failures = 1;
        assert_ok(tamis_table_verify(table, &failures, NULL));
        assert_int_equal(failures, 0);
        /* after a rebuild no item could be in an earlier sub-table */
        for (uint64_t i = 300; i < 1000; i++) {
            const tamis_digest digest = test_hash(table->params.seed, &i, sizeof i);
            tamis_i_buffer buffer;
            tamis_i_place place;
            assert_ok(tamis_i_table_find(table, &i, sizeof i, digest, &buffer, &place));
            for (unsigned level = 0; level < place.part; level++)
                assert_true(tamis_i_bit_get(table->used,
                                            tamis_i_slots_bucket(&table->slots, digest, level)));
        }
        const tamis_table_counts stats = table_counts(table);
        assert_int_equal(stats.rebuilds, 1);
        assert_in_range(stats.moves, 1, 100);
        assert_ok(tamis_table_close(table));
    }
}

/* A key that comes and goes leaves no trace, as long as its slot was not taken. */
static void test_table_put_again_uses_the_deleted_slot(void **state) {
    (void)state;
    tamis_table *const table = table_for(1000, TAMIS_SUMMARY_MULTIPLE);
    for (uint64_t i = 0; i < 1000; i++)
        assert_ok(tamis_table_put(table, &i, sizeof i, "v", 1, NULL));
    const double before = table->summary.kind->fpr(&table->summary);
    for (unsigned round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < 500; i++)
            assert_ok(tamis_table_delete(table, &i, sizeof i));
        for (uint64_t i = 500; i-- > 0;)
            assert_ok(tamis_table_put(table, &i, sizeof i, "v", 1, NULL));
    }
    assert_true(table->summary.kind->fpr(&table->summary) == before);
    uint64_t failures = 1;
    assert_ok(tamis_table_verify(table, &failures, NULL));
    assert_int_equal(failures, 0);
    assert_int_equal(table->n_deleted, 0);
    assert_ok(tamis_table_close(table));
}

/* Counters that two items share must have been raised by both: else one is lost when the other goes. */
static void test_table_verify_shared_counters_too_low_refused(void **state) {
    (void)state;
    tamis_table *const table = table_for(1000, TAMIS_SUMMARY_MULTIPLE_COUNTING);
    for (uint64_t i = 0; i < 1000; i++)
        assert_ok(tamis_table_put(table, &i, sizeof i, "v", 1, NULL));
    assert_ok(tamis_table_verify(table, NULL, NULL));
    const tamis_i_summary_kind *const kind = table->summary.kind;
    unsigned hidden = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const tamis_digest digest = test_hash(table->params.seed, &i, sizeof i);
        const unsigned type = kind->ask(&table->summary, digest);
        assert_ok(kind->remove(&table->summary, digest, type));
        if (kind->ask(&table->summary, digest) == type) { /* so every item is still found */
            const char *reason = "";
            assert_int_equal(tamis_table_verify(table, NULL, &reason), TAMIS_E_FORMAT);
            assert_string_equal(reason, "the summary does not have all items");
            hidden++;
        }
        assert_ok(kind->insert(&table->summary, digest, type));
    }
    assert_true(hidden > 0);
    assert_ok(tamis_table_verify(table, NULL, NULL));
    assert_ok(tamis_table_close(table));
}

static void test_table_stash_items_return_with_rebuild(void **state) {
    (void)state;
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        const tamis_table_params params = model_crowded_params(100, summaries[s], 10, 100);
        tamis_table *table;
        assert_ok(tamis_table_create(&params, NULL, &table));
        for (uint64_t i = 0; i < 100; i++) {
            const unsigned char value[3] = {(unsigned char)i, 1, 2};
            assert_ok(tamis_table_put(table, &i, sizeof i, value, sizeof value, NULL));
        }
        const uint64_t stashed = table->part_count[params.n_levels];
        assert_true(stashed > 20);
        for (uint64_t i = 0; i < 70; i++)
            assert_ok(tamis_table_delete(table, &i, sizeof i));
        assert_ok(tamis_table_rebuild(table, UINT64_MAX, NULL));
        assert_true(table->part_count[params.n_levels] < stashed / 2);
        for (uint64_t i = 70; i < 100; i++) {
            unsigned char value[VALUE_MAX];
            size_t size;
            assert_ok(tamis_table_get(table, &i, sizeof i, value, sizeof value, &size));
            assert_true(size == 3 && value[0] == i);
        }
        assert_ok(tamis_table_verify(table, NULL, NULL));
        assert_ok(tamis_table_close(table));
    }
}

/* -------------------------------------------------------------------------------------------------
 * Counts
 */

static void test_table_reads_are_counted(void **state) {
    (void)state;
    tamis_table *const table = table_for(20000, TAMIS_SUMMARY_MULTIPLE);
    for (uint64_t i = 0; i < 20000; i++)
        assert_ok(tamis_table_put(table, &i, sizeof i, NULL, 0, NULL));
    const tamis_table_counts before = table_counts(table);
    assert_true(before.hits == 0 && before.slot_writes >= 20000);
    for (uint64_t i = 0; i < 20000; i++)
        assert_ok(tamis_table_get(table, &i, sizeof i, NULL, 0, NULL));
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t key = i + 1000000;
        assert_status(tamis_table_get(table, &key, sizeof key, NULL, 0, NULL), TAMIS_E_NOT_FOUND);
    }
    const tamis_table_counts stats = table_counts(table);
    assert_int_equal(stats.hits, 20000);
    assert_int_equal(stats.misses - before.misses, 200000);
    assert_int_equal(stats.hit_reads, 20000 + stats.failures);
    assert_true(stats.failures <= 1);
    tamis_table_state info = table_state(table);
    assert_rate("false positives", stats.false_positives, stats.misses, info.fpr, 0);
    /* one read for those false positives whose slot in the first sub-table is in use */
    assert_rate("reads per false positive", stats.miss_reads, stats.false_positives,
                (double)info.level_count[0] / (double)info.params.buckets[0], 0);
    assert_true(info.fpr < 0.0075);
    assert_int_equal(stats.slot_writes, before.slot_writes);
    assert_ok(tamis_table_close(table));
}

/* -------------------------------------------------------------------------------------------------
 * Arguments and memory
 */

static void test_table_bad_parameters_are_refused(void **state) {
    (void)state;
    tamis_table *table = NULL;
    tamis_table_params params = model_params(100, TAMIS_SUMMARY_DEFAULT);
    assert_status(tamis_table_create(NULL, NULL, &table), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_create(&params, NULL, NULL), TAMIS_E_ARGUMENT);
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        tamis_table_params bad = params;                                                           \
        assert_ok(tamis_table_complete(&bad));                                                     \
        change;                                                                                    \
        assert_status(tamis_table_create(&bad, NULL, &table), TAMIS_E_ARGUMENT);                   \
        assert_null(table);                                                                        \
    } while (0)
    REFUSED(bad.capacity = 0);
    REFUSED(bad.capacity = TAMIS_CAPACITY_MAX + 1);
    REFUSED(bad.key_max = 0);
    REFUSED(bad.key_max = 4089);
    REFUSED(bad.key_max = UINT64_MAX);
    REFUSED((bad.key_max = 4100, bad.value_max = UINT64_MAX - 99)); /* together 4000 */
    REFUSED(bad.value_max = UINT64_MAX);
    REFUSED(bad.value_max = 4096);
    REFUSED(bad.bucket = 5);
    REFUSED((bad.bucket = 4, bad.key_max = 1020));
    REFUSED(bad.stash = UINT64_MAX);
    REFUSED(bad.rebuild_permille = 1001);
    REFUSED(bad.n_levels = TAMIS_TABLE_LEVELS_MAX + 1);
    REFUSED(bad.n_levels--);
    REFUSED(bad.buckets[0] = 0);
    REFUSED(bad.buckets[0] = UINT64_MAX);
    REFUSED(bad.buckets[15] = 1);
    REFUSED(bad.summary = (tamis_summary)4);
    REFUSED(bad.summary = (tamis_summary)99);
    REFUSED(bad.summary = (tamis_summary)-1);
    REFUSED(bad.cells[0] = 0);
    REFUSED(bad.hashes[1] = 65);
    REFUSED(bad.counter_bits[0] = 4);
    REFUSED(bad.string_bits = 4);
    REFUSED(bad.struct_size = 3);
    tamis_table_params large = params;
    large.capacity = TAMIS_CAPACITY_MAX;
    large.key_max = 4000;
    assert_status(tamis_table_create(&large, NULL, &table), TAMIS_E_TOO_LARGE);
}

static void test_table_bad_keys_and_values_are_refused(void **state) {
    (void)state;
    tamis_table *const table = table_for(100, TAMIS_SUMMARY_DEFAULT);
    char key[KEY_MAX + 1] = {0}, value[VALUE_MAX + 1] = {0};
    errno = 77;
    assert_status(tamis_table_put(table, key, KEY_MAX + 1, value, 0, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_put(table, key, KEY_MAX, value, VALUE_MAX + 1, NULL),
                  TAMIS_E_ARGUMENT);
    assert_status(tamis_table_put(table, NULL, 1, value, 1, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_put(table, key, 1, NULL, 1, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_get(table, key, KEY_MAX + 1, NULL, 0, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_get(table, key, 1, NULL, 1, NULL), TAMIS_E_ARGUMENT);
    assert_status(tamis_table_delete(table, key, KEY_MAX + 1), TAMIS_E_ARGUMENT);
    assert_int_equal(tamis_table_count(table), 0);
    assert_ok(tamis_table_put(table, key, KEY_MAX, value, VALUE_MAX, NULL));
    size_t size = 0;
    assert_status(tamis_table_get(table, key, KEY_MAX, value, VALUE_MAX - 1, &size),
                  TAMIS_E_TOO_LARGE);
    assert_int_equal(size, VALUE_MAX);
    /* the empty key, the empty value */
    assert_status(tamis_table_get(table, NULL, 0, NULL, 0, NULL), TAMIS_E_NOT_FOUND);
    assert_ok(tamis_table_put(table, NULL, 0, NULL, 0, NULL));
    assert_ok(tamis_table_get(table, NULL, 0, value, sizeof value, &size));
    assert_int_equal(size, 0);
    assert_ok(tamis_table_delete(table, NULL, 0));
    assert_status(tamis_table_delete(table, NULL, 0), TAMIS_E_NOT_FOUND);
    assert_int_equal(tamis_table_count(table), 1);
    assert_int_equal(errno, 77);
    assert_ok(tamis_table_close(table));
    assert_ok(tamis_table_close(NULL));
}

static void test_table_failing_allocations_leave_nothing(void **state) {
    (void)state;
    const tamis_table_params params = model_params(1000, TAMIS_SUMMARY_MULTIPLE);
    long n = 0;
    for (tamis_status status = TAMIS_E_NOMEM; status != TAMIS_OK; n++) {
        test_allocator a;
        test_allocator_init(&a, n);
        tamis_table *table = NULL;
        status = tamis_table_create(&params, &a.allocator, &table);
        if (status == TAMIS_OK) {
            a.fail_at = a.calls;
            for (uint64_t i = 0; i < 100; i++)
                assert_ok(tamis_table_put(table, &i, sizeof i, NULL, 0, NULL));
            for (uint64_t i = 0; i < 50; i++)
                assert_ok(tamis_table_delete(table, &i, sizeof i));
            assert_int_equal(a.calls, a.fail_at);
            assert_status(tamis_table_rebuild(table, UINT64_MAX, NULL), TAMIS_E_NOMEM);
            assert_ok(tamis_table_verify(table, NULL, NULL));
            a.fail_at = -1;
            assert_ok(tamis_table_rebuild(table, UINT64_MAX, NULL));
            assert_ok(tamis_table_verify(table, NULL, NULL));
            assert_ok(tamis_table_close(table));
        } else {
            assert_status(status, TAMIS_E_NOMEM);
            assert_null(table);
        }
        assert_int_equal(a.live, 0);
    }
    assert_true(n > 2);
}

static void test_table_names_of_summaries(void **state) {
    (void)state;
    tamis_summary summary = TAMIS_SUMMARY_DEFAULT;
    for (unsigned s = 0; s < N_SUMMARIES; s++) {
        const char *const name = tamis_summary_name(summaries[s]);
        assert_non_null(name);
        assert_ok(tamis_summary_parse(name, &summary));
        assert_int_equal(summary, summaries[s]);
    }
    assert_string_equal(tamis_summary_name(TAMIS_SUMMARY_SONG), "song");
    assert_ok(tamis_summary_parse("song", &summary));
    assert_int_equal(summary, TAMIS_SUMMARY_SONG);
    assert_null(tamis_summary_name((tamis_summary)7));
    assert_null(tamis_summary_name(TAMIS_SUMMARY_DEFAULT));
    assert_status(tamis_summary_parse("none", &summary), TAMIS_E_ARGUMENT);
    assert_status(tamis_summary_parse(NULL, &summary), TAMIS_E_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_random_calls_equal_a_dictionary),
        cmocka_unit_test(test_table_bad_summary_answers_stay_exact),
        cmocka_unit_test(test_table_item_goes_to_first_free_slot),
        cmocka_unit_test(test_table_slots_do_not_straddle_pages),
        cmocka_unit_test(test_table_full_stash_refuses_and_changes_nothing),
        cmocka_unit_test(test_table_rebuild_frees_slots_and_forgets),
        cmocka_unit_test(test_table_put_again_uses_the_deleted_slot),
        cmocka_unit_test(test_table_verify_shared_counters_too_low_refused),
        cmocka_unit_test(test_table_stash_items_return_with_rebuild),
        cmocka_unit_test(test_table_reads_are_counted),
        cmocka_unit_test(test_table_bad_parameters_are_refused),
        cmocka_unit_test(test_table_bad_keys_and_values_are_refused),
        cmocka_unit_test(test_table_failing_allocations_leave_nothing),
        cmocka_unit_test(test_table_names_of_summaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
