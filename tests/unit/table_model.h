/* table_model.h - the exact dictionary that tables are compared with
 *
 * There are MODEL_KEYS keys, of all lengths up to KEY_MAX; key number 0 is the empty one.  A value is made
 * from a number, so that the dictionary is an array of numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TESTS_TABLE_MODEL_H
#define TAMIS_TESTS_TABLE_MODEL_H

#include "support.h"
#include "tamis/table.h"

enum { KEY_MAX = 20, VALUE_MAX = 12, MODEL_KEYS = 600 };

/* What a table can be made with. */
static const tamis_summary summaries[] = {
    TAMIS_SUMMARY_MULTIPLE, TAMIS_SUMMARY_SINGLE, TAMIS_SUMMARY_INTERPOLATION,
    TAMIS_SUMMARY_MULTIPLE_COUNTING, TAMIS_SUMMARY_SINGLE_COUNTING};
enum { N_SUMMARIES = sizeof summaries / sizeof summaries[0] };

static inline tamis_table_params model_params(uint64_t capacity, tamis_summary summary) {
    tamis_table_params params;
    tamis_table_params_init(&params);
    params.capacity = capacity;
    params.key_max = KEY_MAX;
    params.value_max = VALUE_MAX;
    params.summary = summary;
    params.seed = test_seed();
    return params;
}

/* The same, but each sub-table has no more than so many buckets, and what does not fit has to go to
 * the stash. */
static inline tamis_table_params model_crowded_params(uint64_t capacity, tamis_summary summary,
                                                      uint64_t buckets, uint64_t stash) {
    tamis_table_params params = model_params(capacity, summary);
    assert_ok(tamis_table_complete(&params));
    for (unsigned i = 0; i < params.n_levels; i++)
        params.buckets[i] = buckets;
    params.stash = stash;
    return params;
}

static inline tamis_table_state table_state(const tamis_table *table) {
    tamis_table_state info;
    tamis_table_state_init(&info);
    assert_ok(tamis_table_info(table, &info));
    return info;
}

static inline tamis_table_counts table_counts(const tamis_table *table) {
    tamis_table_counts counts;
    tamis_table_counts_init(&counts);
    assert_ok(tamis_table_stats(table, &counts));
    return counts;
}

typedef struct model {
    bool present[MODEL_KEYS];
    uint32_t number[MODEL_KEYS];
    uint64_t count;
} model;

static inline void model_clear(model *m) {
    memset(m, 0, sizeof *m);
}

/* The key number 'id': its size and bytes. */
static inline size_t model_key(unsigned id, char key[KEY_MAX]) {
    if (id == 0)
        return 0;
    const size_t size = 2 + id % (KEY_MAX - 1);
    memset(key, 'a' + (int)(id % 26), size);
    key[0] = (char)id;
    key[1] = (char)(id >> 8);
    return size;
}

static inline size_t model_value(uint32_t number, char value[VALUE_MAX]) {
    const size_t size = number % (VALUE_MAX + 1);
    for (size_t i = 0; i < size; i++)
        value[i] = (char)(number >> 8 * (i % 4));
    return size;
}

static inline void model_put(tamis_table *table, model *m, unsigned id, uint32_t number) {
    char key[KEY_MAX], value[VALUE_MAX];
    const size_t key_size = model_key(id, key), value_size = model_value(number, value);
    bool added = m->present[id];
    assert_ok(tamis_table_put(table, key, key_size, value, value_size, &added));
    assert_int_equal(added, !m->present[id]);
    m->count += !m->present[id];
    m->present[id] = true;
    m->number[id] = number;
}

static inline void model_delete(tamis_table *table, model *m, unsigned id) {
    char key[KEY_MAX];
    const size_t key_size = model_key(id, key);
    assert_status(tamis_table_delete(table, key, key_size),
                  m->present[id] ? TAMIS_OK : TAMIS_E_NOT_FOUND);
    m->count -= m->present[id];
    m->present[id] = false;
}

static inline void model_get(const tamis_table *table, const model *m, unsigned id) {
    char key[KEY_MAX], value[VALUE_MAX], expected[VALUE_MAX];
    const size_t key_size = model_key(id, key);
    size_t size = 999;
    const tamis_status status = tamis_table_get(table, key, key_size, value, sizeof value, &size);
    if (!m->present[id]) {
        assert_status(status, TAMIS_E_NOT_FOUND);
        assert_int_equal(size, 999);
        return;
    }
    assert_ok(status);
    assert_int_equal(size, model_value(m->number[id], expected));
    assert_memory_equal(value, expected, size);
}

static inline void model_compare(const tamis_table *table, const model *m) {
    for (unsigned id = 0; id < MODEL_KEYS; id++)
        model_get(table, m, id);
}

/* The table is sound and has what the dictionary has. */
static inline void model_verify(const tamis_table *table, const model *m) {
    const char *reason = "";
    if (tamis_table_verify(table, NULL, &reason) != TAMIS_OK)
        fail_msg("verify: %s", reason);
    assert_int_equal(tamis_table_count(table), m->count);
    model_compare(table, m);
}

#endif
