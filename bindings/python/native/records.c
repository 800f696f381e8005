/* records.c - structs of the library as dicts, and back
 *
 * A table of members for each struct.  tests/python compares them with the headers, so that a new member is
 * not forgotten here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#define RECORDS_MEMBER(record, member, type)                                                       \
    { #member, type, offsetof(record, member), 1 }
#define RECORDS_ARRAY(record, member, type, count)                                                 \
    { #member, type, offsetof(record, member), count }
#define RECORDS_END                                                                                \
    { NULL, NATIVE_END, 0, 0 }

/* Enumerations are read and written as unsigned numbers of this size. */
_Static_assert(sizeof(tamis_kind) == sizeof(unsigned), "size of an enum");

const native_member native_params[] = {
    RECORDS_MEMBER(tamis_params, kind, NATIVE_U32),
    RECORDS_MEMBER(tamis_params, hash, NATIVE_U32),
    RECORDS_MEMBER(tamis_params, capacity, NATIVE_U64),
    RECORDS_MEMBER(tamis_params, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_params, seed, NATIVE_U64),
    RECORDS_MEMBER(tamis_params, seed_high, NATIVE_U64),
    RECORDS_MEMBER(tamis_params, stash, NATIVE_U64),
    RECORDS_ARRAY(tamis_params, value, NATIVE_U64S, TAMIS_PARAMS_MAX),
    RECORDS_END,
};

const native_member native_need[] = {
    RECORDS_MEMBER(tamis_need, n, NATIVE_U64),
    RECORDS_MEMBER(tamis_need, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_need, kind, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, deletes, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_need, offline, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_need, grows, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_need, copies, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, value_bits, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, order, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_need, overshoot, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_need, lines_max, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_need, failure_max, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_need, line_bits, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_need, replacements, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, merges, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_need, hash, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, ticks, NATIVE_U32),
    RECORDS_MEMBER(tamis_need, search, NATIVE_BOOL),
    RECORDS_END,
};

const native_member native_plan[] = {
    RECORDS_MEMBER(tamis_plan, params, NATIVE_PARAMS),
    RECORDS_MEMBER(tamis_plan, bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_plan, bits_per_key, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, bound_bits_per_key, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, overflow_probability, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, lines_per_query, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, n, NATIVE_U64),
    RECORDS_MEMBER(tamis_plan, fpr_half, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, lines_per_insert, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, replacements, NATIVE_U64),
    RECORDS_MEMBER(tamis_plan, file_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_plan, ns_insert, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, ns_lookup, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, ns_remove, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, ns_insert_cached, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, ns_lookup_cached, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_plan, ns_remove_cached, NATIVE_DOUBLE),
    RECORDS_END,
};

const native_member native_info[] = {
    RECORDS_MEMBER(tamis_info, params, NATIVE_PARAMS),
    RECORDS_MEMBER(tamis_info, count, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, bits_per_key, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_info, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_info, stash_used, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, stash_size, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, saturated, NATIVE_U64),
    RECORDS_ARRAY(tamis_info, load_histogram, NATIVE_U64S, TAMIS_LOADS_MAX),
    RECORDS_MEMBER(tamis_info, reads_per_insert, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_info, reads_per_query, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_info, capacity, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, fpr_promised, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_info, n_links, NATIVE_U32),
    RECORDS_MEMBER(tamis_info, n_shards, NATIVE_U32),
    RECORDS_MEMBER(tamis_info, tick, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, to_clear, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, file_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_info, grows, NATIVE_BOOL),
    RECORDS_END,
};

const native_member native_growth[] = {
    RECORDS_MEMBER(tamis_growth, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_growth, n, NATIVE_U64),
    RECORDS_MEMBER(tamis_growth, automatic, NATIVE_BOOL),
    RECORDS_END,
};

const native_member native_shared_plan[] = {
    RECORDS_MEMBER(tamis_shared_plan, params, NATIVE_PARAMS),
    RECORDS_MEMBER(tamis_shared_plan, shards, NATIVE_U32),
    RECORDS_MEMBER(tamis_shared_plan, n, NATIVE_U64),
    RECORDS_MEMBER(tamis_shared_plan, bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_shared_plan, bits_per_key, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_shared_plan, bound_bits_per_key, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_shared_plan, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_shared_plan, overflow_probability, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_shared_plan, lines_per_query, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_shared_plan, lines_per_insert, NATIVE_DOUBLE),
    RECORDS_END,
};

const native_member native_window[] = {
    RECORDS_MEMBER(tamis_window_state, ticks, NATIVE_U32),
    RECORDS_MEMBER(tamis_window_state, now, NATIVE_U64),
    RECORDS_MEMBER(tamis_window_state, left, NATIVE_U64),
    RECORDS_MEMBER(tamis_window_state, live, NATIVE_U64),
    RECORDS_ARRAY(tamis_window_state, ages, NATIVE_U64S, TAMIS_WINDOW_TICKS_MAX + 1),
    RECORDS_END,
};

const native_member native_table_params[] = {
    RECORDS_MEMBER(tamis_table_params, capacity, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, seed, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, seed_high, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, hash, NATIVE_U32),
    RECORDS_MEMBER(tamis_table_params, key_max, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, value_max, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, bucket, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, stash, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, rebuild_permille, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_params, summary, NATIVE_U32),
    RECORDS_MEMBER(tamis_table_params, n_levels, NATIVE_U64),
    RECORDS_ARRAY(tamis_table_params, buckets, NATIVE_U64S, TAMIS_TABLE_LEVELS_MAX),
    RECORDS_MEMBER(tamis_table_params, string_bits, NATIVE_U64),
    RECORDS_ARRAY(tamis_table_params, cells, NATIVE_U64S, TAMIS_TABLE_LEVELS_MAX),
    RECORDS_ARRAY(tamis_table_params, hashes, NATIVE_U64S, TAMIS_TABLE_LEVELS_MAX),
    RECORDS_ARRAY(tamis_table_params, counter_bits, NATIVE_U64S, TAMIS_TABLE_LEVELS_MAX),
    RECORDS_END,
};

const native_member native_table_need[] = {
    RECORDS_MEMBER(tamis_table_need, n, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_need, bucket, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_need, summary, NATIVE_U32),
    RECORDS_MEMBER(tamis_table_need, odds, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_need, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_need, slots_per_item, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_need, rebuild_permille, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_need, no_deletes, NATIVE_BOOL),
    RECORDS_END,
};

const native_member native_table_plan[] = {
    RECORDS_MEMBER(tamis_table_plan, params, NATIVE_TABLE_PARAMS),
    RECORDS_ARRAY(tamis_table_plan, level_items, NATIVE_DOUBLES, TAMIS_TABLE_LEVELS_MAX),
    RECORDS_MEMBER(tamis_table_plan, crisis, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_plan, failure, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_plan, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_plan, summary_bits, NATIVE_U64),
    RECORDS_END,
};

const native_member native_table_state[] = {
    RECORDS_MEMBER(tamis_table_state, count, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, deleted, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, stash_used, NATIVE_U64),
    RECORDS_ARRAY(tamis_table_state, level_count, NATIVE_U64S, TAMIS_TABLE_LEVELS_MAX),
    RECORDS_MEMBER(tamis_table_state, slots, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, slot_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, slow_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, summary_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, bit_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, stash_bytes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, fpr, NATIVE_DOUBLE),
    RECORDS_MEMBER(tamis_table_state, damaged, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_state, in_file, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_state, read_only, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_state, recovered, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_state, rebuild_due, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_state, rebuilding, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_state, params, NATIVE_TABLE_PARAMS),
    RECORDS_MEMBER(tamis_table_state, dropped, NATIVE_U64),
    RECORDS_END,
};

const native_member native_table_counts[] = {
    RECORDS_MEMBER(tamis_table_counts, hits, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, hit_reads, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, misses, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, miss_reads, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, false_positives, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, failures, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, puts, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, updates, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, deletes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, change_reads, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, slot_writes, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, crises, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, moves, NATIVE_U64),
    RECORDS_MEMBER(tamis_table_counts, rebuilds, NATIVE_U64),
    RECORDS_END,
};

const native_member native_table_options[] = {
    RECORDS_MEMBER(tamis_table_options, read_only, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_options, repair, NATIVE_BOOL),
    RECORDS_MEMBER(tamis_table_options, sync, NATIVE_U32),
    RECORDS_MEMBER(tamis_table_options, io, NATIVE_U32),
    RECORDS_END,
};

bool native_number(const native_state *state, PyObject *object, uint64_t max, const char *what,
                   uint64_t *number) {
    PyObject *const index = PyNumber_Index(object);
    if (index == NULL)
        return false;
    const unsigned long long value = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    const bool bad = value == ULLONG_MAX && PyErr_Occurred();
    if (bad && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return false;
    if (bad || value > max) {
        PyErr_Clear();
        char text[80];
        PyOS_snprintf(text, sizeof text, "%s is out of range", what);
        native_bad_argument(state, text);
        return false;
    }
    *number = value;
    return true;
}

static PyObject *records_array(const char *at, native_type type, size_t count) {
    PyObject *const tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *const item =
            type == NATIVE_U64S
                ? PyLong_FromUnsignedLongLong(((const uint64_t *)(const void *)at)[i])
                : PyFloat_FromDouble(((const double *)(const void *)at)[i]);
        if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) != 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *records_get(const char *at, const native_member *member) {
    switch (member->type) {
    case NATIVE_U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
    case NATIVE_U32:
        return PyLong_FromUnsignedLong(*(const unsigned *)(const void *)at);
    case NATIVE_DOUBLE:
        return PyFloat_FromDouble(*(const double *)(const void *)at);
    case NATIVE_BOOL:
        return PyBool_FromLong(*(const bool *)at);
    default:
        return records_array(at, member->type, member->count);
    }
}

/* Put a value into a dict; the reference to it is taken.  NULL: there was none.  What is left of the dict. */
static PyObject *records_put(PyObject *dict, const char *name, PyObject *value) {
    const int failed = value == NULL ? -1 : PyDict_SetItemString(dict, name, value);
    Py_XDECREF(value);
    if (!failed)
        return dict;
    Py_DECREF(dict);
    return NULL;
}

/* A struct that has no other one within. */
static PyObject *records_flat(const char *record, const native_member *members) {
    PyObject *dict = PyDict_New();
    for (const native_member *m = members; dict != NULL && m->name != NULL; m++)
        dict = records_put(dict, m->name, records_get(record + m->offset, m));
    return dict;
}

PyObject *native_to_dict(const void *record, const native_member *members) {
    PyObject *dict = PyDict_New();
    for (const native_member *m = members; dict != NULL && m->name != NULL; m++) {
        const char *const at = (const char *)record + m->offset;
        PyObject *value;
        if (m->type == NATIVE_PARAMS)
            value = records_flat(at, native_params);
        else if (m->type == NATIVE_TABLE_PARAMS)
            value = records_flat(at, native_table_params);
        else
            value = records_get(at, m);
        dict = records_put(dict, m->name, value);
    }
    return dict;
}

/* Up to 'count' numbers of a sequence; the others stay as they are. */
static bool records_set_array(const native_state *state, PyObject *value, char *at,
                              const native_member *member) {
    const Py_ssize_t n = PySequence_Size(value);
    if (n < 0)
        return false;
    if ((size_t)n > member->count || member->type != NATIVE_U64S) {
        native_bad_argument(state, "too many numbers");
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *const item = PySequence_GetItem(value, i);
        uint64_t number;
        const bool fine =
            item != NULL && native_number(state, item, UINT64_MAX, member->name, &number);
        Py_XDECREF(item);
        if (!fine)
            return false;
        ((uint64_t *)(void *)at)[i] = number;
    }
    return true;
}

static bool records_set(const native_state *state, PyObject *value, char *at,
                        const native_member *member) {
    uint64_t number;
    switch (member->type) {
    case NATIVE_U64:
        if (!native_number(state, value, UINT64_MAX, member->name, &number))
            return false;
        *(uint64_t *)(void *)at = number;
        return true;
    case NATIVE_U32:
        if (!native_number(state, value, UINT32_MAX, member->name, &number))
            return false;
        *(unsigned *)(void *)at = (unsigned)number;
        return true;
    case NATIVE_DOUBLE: {
        const double real = PyFloat_AsDouble(value);
        if (real == -1.0 && PyErr_Occurred())
            return false;
        *(double *)(void *)at = real;
        return true;
    }
    case NATIVE_BOOL: {
        const int truth = PyObject_IsTrue(value);
        *(bool *)at = truth > 0;
        return truth >= 0;
    }
    default:
        return records_set_array(state, value, at, member);
    }
}

bool native_from_dict(const native_state *state, PyObject *dict, void *record,
                      const native_member *members) {
    Py_ssize_t at = 0;
    PyObject *name, *value;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "a dict is needed");
        return false;
    }
    /* The numbers of a dict may run code of Python's, which may change it: a copy cannot be reached. */
    PyObject *const own = PyDict_Copy(dict);
    bool fine = own != NULL;
    while (fine && PyDict_Next(own, &at, &name, &value)) {
        const native_member *m = members;
        while (m->name != NULL && PyUnicode_CompareWithASCIIString(name, m->name) != 0)
            m++;
        if (m->name == NULL) {
            PyErr_Format(PyExc_TypeError, "there is no %R", name);
            fine = false;
        } else {
            fine = records_set(state, value, (char *)record + m->offset, m);
        }
    }
    Py_XDECREF(own);
    return fine;
}
