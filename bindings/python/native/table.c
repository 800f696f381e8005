/* table.c - exact tables
 *
 * Calls for one item keep Python's lock; those that read or write the whole table give it away, and note in
 * 'busy' that they use the table: others wait.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"
#include <time.h>

#define TABLE_ROOM 4096u /* no item of a table is longer */

typedef struct table_object {
    PyObject_HEAD native_state *state; /* its class keeps it */
    tamis_table *table;
    bool open, busy;
    bool in_file;
    unsigned forks; /* as those of the state were when it was opened */
    size_t key_room, value_room;
} table_object;

static bool table_ready(table_object *self) {
    while (self->open && self->busy && self->forks == self->state->forks) {
        if (PyErr_CheckSignals() != 0)
            return false;
        PyThreadState *const saved = PyEval_SaveThread();
        const struct timespec time = {0, 100 * 1000};
        (void)nanosleep(&time, NULL);
        PyEval_RestoreThread(saved);
    }
    if (!self->open) {
        PyErr_SetString(PyExc_ValueError, "the table is closed");
        return false;
    }
    if (self->forks != self->state->forks && (self->in_file || self->busy)) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "the table was opened before the process forked, and belongs to the parent");
        return false;
    }
    return true;
}

/* Note that the table is used without Python's lock, and give that away. */
static PyThreadState *table_begin(table_object *self) {
    if (!table_ready(self))
        return NULL;
    Py_INCREF(self);
    self->busy = true;
    return PyEval_SaveThread();
}

static void table_end(table_object *self, PyThreadState *saved) {
    PyEval_RestoreThread(saved);
    self->busy = false;
    Py_DECREF(self);
}

/* ---- its life ---- */

/* A closed table. */
static PyObject *table_alloc(native_state *state, PyTypeObject *type) {
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *const made = make(type, 0); /* zeros */
    if (made != NULL)
        ((table_object *)made)->state = state;
    return made;
}

/* An object of a class of tables, or the one that __init__ has, if it has no table yet. */
static PyObject *table_target(native_state *state, PyObject *target) {
    if (PyType_Check(target) && PyType_IsSubtype((PyTypeObject *)target, state->table_type))
        return table_alloc(state, (PyTypeObject *)target);
    if (!PyType_IsSubtype(Py_TYPE(target), state->table_type) || ((table_object *)target)->open) {
        PyErr_SetString(PyExc_TypeError, "a class of tables is needed");
        return NULL;
    }
    Py_INCREF(target);
    return target;
}

static PyObject *table_new(native_state *state, PyObject *target, tamis_table *table) {
    tamis_table_state told;
    tamis_table_state_init(&told);
    PyObject *made = NULL;
    const tamis_status status = tamis_table_info(table, &told);
    if (status != TAMIS_OK)
        native_error(state, status, NULL);
    else
        made = table_target(state, target);
    if (made == NULL) {
        const bool closed = tamis_table_close(table) == TAMIS_OK;
        (void)closed; /* there is an error already */
        return NULL;
    }
    table_object *const self = (table_object *)made;
    self->table = table;
    self->open = true;
    self->in_file = told.in_file;
    self->forks = state->forks;
    self->key_room = told.params.key_max > TABLE_ROOM ? told.params.key_max : TABLE_ROOM;
    self->value_room = told.params.value_max > TABLE_ROOM ? told.params.value_max : TABLE_ROOM;
    return made;
}

static PyObject *table_create(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type, *path, *params_dict, *options_dict;
    tamis_table_params params;
    tamis_table_options options;
    tamis_table_params_init(&params);
    tamis_table_options_init(&options);
    if (!PyArg_ParseTuple(args, "OOOO", &type, &path, &params_dict, &options_dict) ||
        !native_from_dict(state, params_dict, &params, native_table_params) ||
        !native_from_dict(state, options_dict, &options, native_table_options))
        return NULL;
    char *name = NULL;
    if (path != Py_None && PyBytes_AsStringAndSize(path, &name, NULL) != 0)
        return NULL;
    tamis_table *table = NULL;
    const char *reason = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        name != NULL ? tamis_table_create_file(name, &params, &options, NULL, &table, &reason)
                     : tamis_table_create(&params, NULL, &table);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_error(state, status, reason) : table_new(state, type, table);
}

static PyObject *table_open(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type, *path, *options_dict;
    tamis_table_options options;
    tamis_table_options_init(&options);
    char *name = NULL;
    if (!PyArg_ParseTuple(args, "OOO", &type, &path, &options_dict) ||
        !native_from_dict(state, options_dict, &options, native_table_options) ||
        PyBytes_AsStringAndSize(path, &name, NULL) != 0)
        return NULL;
    tamis_table *table = NULL;
    const char *reason = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_table_open(name, &options, NULL, &table, &reason);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_error(state, status, reason) : table_new(state, type, table);
}

static PyObject *table_close(table_object *self, PyObject *nothing) {
    (void)nothing;
    if (!self->open)
        Py_RETURN_NONE;
    if (!table_ready(self)) {
        if (!self->open || self->forks == self->state->forks)
            return NULL;
        /* The child of a process whose thread was inside of the table cannot free it. */
        PyErr_Clear();
        if (self->busy) {
            self->open = false;
            Py_RETURN_NONE;
        }
    }
    tamis_table *const table = self->table;
    self->open = false;
    self->table = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_table_close(table);
    PyEval_RestoreThread(saved);
    return native_done(self->state, status, NULL);
}

static void table_dealloc(PyObject *object) {
    PyTypeObject *const type = Py_TYPE(object);
    table_object *const self = (table_object *)object;
    /* An error has nobody to tell it to; no item is lost. */
    if (self->open && !(self->forks != self->state->forks && self->busy) &&
        tamis_table_close(self->table) != TAMIS_OK)
        self->open = false;
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyObject *table_closed(table_object *self, void *nothing) {
    (void)nothing;
    return PyBool_FromLong(!self->open);
}

/* ---- items ---- */

static bool table_key(const native_state *state, PyObject *object, native_key *key) {
    if (!native_key_of(state, object, key))
        return false;
    native_key_bytes(key);
    return true;
}

/* 1: found, 0: not there, -1: an error.  '*value' (may be NULL) is then a bytes object. */
static int table_find(table_object *self, PyObject *object, PyObject **value) {
    native_key key;
    if (!table_key(self->state, object, &key))
        return -1;
    char room[TABLE_ROOM];
    size_t size = 0;
    int found = -1;
    if (table_ready(self)) {
        const tamis_status status =
            tamis_table_get(self->table, key.data, key.size, value == NULL ? NULL : room,
                            value == NULL ? 0 : sizeof room, &size);
        if (status == TAMIS_OK)
            found = 1;
        else if (status == TAMIS_E_NOT_FOUND || status == TAMIS_E_ARGUMENT)
            found = 0; /* a key that is too long is not there */
        else
            native_error(self->state, status, NULL);
    }
    native_key_end(&key);
    if (found > 0 && value != NULL) {
        *value = PyBytes_FromStringAndSize(room, (Py_ssize_t)size);
        return *value == NULL ? -1 : 1;
    }
    return found;
}

static int table_contains(PyObject *self, PyObject *key) {
    return table_find((table_object *)self, key, NULL);
}

static PyObject *table_subscript(PyObject *self, PyObject *key) {
    PyObject *value = NULL;
    if (table_find((table_object *)self, key, &value) == 0)
        PyErr_SetObject(PyExc_KeyError, key);
    return value;
}

static PyObject *table_get(table_object *self, PyObject *const *args, Py_ssize_t n) {
    if (n < 1 || n > 2) {
        PyErr_SetString(PyExc_TypeError, "get() takes a key, and perhaps a default");
        return NULL;
    }
    PyObject *value = NULL;
    if (table_find(self, args[0], &value) == 0) {
        value = n == 2 ? args[1] : Py_None;
        Py_INCREF(value);
    }
    return value;
}

/* A value may be what a key may be, but for integers. */
static bool table_value(const native_state *state, PyObject *object, native_key *value) {
    if (!native_key_of(state, object, value))
        return false;
    if (value->is_number) {
        PyErr_SetString(PyExc_TypeError, "a value is a str or bytes");
        return false;
    }
    return true;
}

static tamis_status table_put(table_object *self, PyObject *object, PyObject *content, bool *fine) {
    native_key key, value;
    tamis_status status = TAMIS_OK;
    *fine = false;
    if (!table_key(self->state, object, &key))
        return status;
    if (table_value(self->state, content, &value)) {
        *fine = table_ready(self);
        if (*fine)
            status = tamis_table_put(self->table, key.data, key.size, value.data, value.size, NULL);
        native_key_end(&value);
    }
    native_key_end(&key);
    return status;
}

static int table_assign(PyObject *object, PyObject *key_object, PyObject *content) {
    table_object *const self = (table_object *)object;
    tamis_status status = TAMIS_OK;
    bool fine = false;
    if (content != NULL) {
        status = table_put(self, key_object, content, &fine);
    } else {
        native_key key;
        if (!table_key(self->state, key_object, &key))
            return -1;
        fine = table_ready(self);
        if (fine)
            status = tamis_table_delete(self->table, key.data, key.size);
        native_key_end(&key);
    }
    if (!fine)
        return -1;
    if (status == TAMIS_E_NOT_FOUND)
        PyErr_SetObject(PyExc_KeyError, key_object);
    else if (status != TAMIS_OK)
        native_error(self->state, status, NULL);
    return status == TAMIS_OK ? 0 : -1;
}

static Py_ssize_t table_length(PyObject *self) {
    if (!table_ready((table_object *)self))
        return -1;
    return (Py_ssize_t)tamis_table_count(((table_object *)self)->table);
}

/* Up to 'most' items from 'at' on: the next place, and a list of pairs; an empty one at the end. */
static bool table_walk(table_object *self, uint64_t *at, Py_ssize_t most, PyObject *list) {
    char *const key = PyMem_Malloc(self->key_room + self->value_room);
    if (key == NULL) {
        PyErr_NoMemory();
        return false;
    }
    char *const value = key + self->key_room;
    tamis_status status = TAMIS_OK;
    bool fine = table_ready(self);
    while (fine && PyList_Size(list) < most) {
        size_t key_size = self->key_room, value_size = self->value_room;
        status = tamis_table_next(self->table, at, key, &key_size, value, &value_size);
        if (status != TAMIS_OK)
            break;
        PyObject *const pair =
            Py_BuildValue("y#y#", key, (Py_ssize_t)key_size, value, (Py_ssize_t)value_size);
        fine = pair != NULL && PyList_Append(list, pair) == 0;
        Py_XDECREF(pair);
    }
    PyMem_Free(key);
    if (fine && status != TAMIS_OK && status != TAMIS_E_NOT_FOUND) {
        native_error(self->state, status, NULL);
        fine = false;
    }
    return fine;
}

static PyObject *table_items(table_object *self, PyObject *args) {
    unsigned long long at;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(args, "Kn", &at, &most))
        return NULL;
    uint64_t place = at;
    PyObject *const list = PyList_New(0);
    if (list != NULL && table_walk(self, &place, most, list))
        return Py_BuildValue("KN", (unsigned long long)place, list);
    Py_XDECREF(list);
    return NULL;
}

/* ---- many items ---- */

#define TABLE_CHUNK 64 /* items that are worked on at a time */

/* Keys and values of a chunk, held while the library works without Python's lock. */
typedef struct table_chunk {
    size_t n;
    native_key keys[TABLE_CHUNK], values[TABLE_CHUNK];
    PyObject *held[TABLE_CHUNK];
    tamis_table_ask asks[TABLE_CHUNK];
    tamis_table_item items[TABLE_CHUNK];
    char room[TABLE_CHUNK][TABLE_ROOM];
} table_chunk;

static void table_empty(table_chunk *chunk) {
    for (size_t i = 0; i < chunk->n; i++) {
        native_key_end(&chunk->keys[i]);
        native_key_end(&chunk->values[i]);
        Py_DECREF(chunk->held[i]);
    }
    chunk->n = 0;
}

/* Append a key, or a pair of key and value; the reference is taken. */
static bool table_append(const native_state *state, table_chunk *chunk, PyObject *object,
                         bool is_pair) {
    const size_t i = chunk->n;
    PyObject *key = object, *value = NULL;
    chunk->values[i].owner = NULL;
    if (is_pair && (!PyTuple_Check(object) || PyTuple_Size(object) != 2)) {
        PyErr_SetString(PyExc_TypeError, "an item is a tuple of key and value");
        Py_DECREF(object);
        return false;
    }
    if (is_pair) {
        key = PyTuple_GetItem(object, 0);
        value = PyTuple_GetItem(object, 1);
    }
    if (!table_key(state, key, &chunk->keys[i])) {
        Py_DECREF(object);
        return false;
    }
    if (is_pair && !table_value(state, value, &chunk->values[i])) {
        native_key_end(&chunk->keys[i]);
        Py_DECREF(object);
        return false;
    }
    chunk->held[i] = object;
    chunk->n++;
    return true;
}

static bool table_get_chunk(table_object *self, table_chunk *chunk, PyObject *list) {
    for (size_t i = 0; i < chunk->n; i++)
        chunk->asks[i] = (tamis_table_ask){.key = chunk->keys[i].data,
                                           .key_size = chunk->keys[i].size,
                                           .value = chunk->room[i],
                                           .room = TABLE_ROOM};
    PyThreadState *const saved = table_begin(self);
    if (saved == NULL)
        return false;
    const tamis_status status = tamis_table_get_many(self->table, chunk->asks, chunk->n, NULL);
    table_end(self, saved);
    if (status != TAMIS_OK && status != TAMIS_E_ARGUMENT) {
        native_error(self->state, status, NULL);
        return false;
    }
    bool fine = true;
    for (size_t i = 0; fine && i < chunk->n; i++) {
        PyObject *value = Py_None; /* also for a key that is too long to be there */
        if (chunk->asks[i].status == TAMIS_OK)
            value =
                PyBytes_FromStringAndSize(chunk->room[i], (Py_ssize_t)chunk->asks[i].value_size);
        else
            Py_INCREF(value);
        fine = value != NULL && PyList_Append(list, value) == 0;
        Py_XDECREF(value);
    }
    return fine;
}

static bool table_put_chunk(table_object *self, table_chunk *chunk) {
    for (size_t i = 0; i < chunk->n; i++)
        chunk->items[i] = (tamis_table_item){chunk->keys[i].data, chunk->keys[i].size,
                                             chunk->values[i].data, chunk->values[i].size};
    PyThreadState *const saved = table_begin(self);
    if (saved == NULL)
        return false;
    const tamis_status status = tamis_table_put_many(self->table, chunk->items, chunk->n, NULL);
    table_end(self, saved);
    if (status != TAMIS_OK)
        native_error(self->state, status, NULL);
    return status == TAMIS_OK;
}

/* All keys of an iterable, or with list NULL all pairs. */
static bool table_many(table_object *self, PyObject *from, PyObject *list) {
    PyObject *const iterator = PyObject_GetIter(from);
    table_chunk *const chunk = iterator == NULL ? NULL : PyMem_Malloc(sizeof *chunk);
    bool fine = chunk != NULL;
    if (iterator != NULL && chunk == NULL)
        PyErr_NoMemory();
    PyObject *object = NULL;
    if (fine)
        chunk->n = 0;
    do {
        object = fine ? PyIter_Next(iterator) : NULL;
        fine = fine && (object == NULL ? !PyErr_Occurred()
                                       : table_append(self->state, chunk, object, list == NULL));
        if (fine && chunk->n > 0 && (object == NULL || chunk->n == TABLE_CHUNK)) {
            fine = list != NULL ? table_get_chunk(self, chunk, list) : table_put_chunk(self, chunk);
            table_empty(chunk);
        }
    } while (fine && object != NULL);
    if (chunk != NULL)
        table_empty(chunk);
    PyMem_Free(chunk);
    Py_XDECREF(iterator);
    return fine;
}

static PyObject *table_get_many(table_object *self, PyObject *keys) {
    PyObject *const list = PyList_New(0);
    if (list == NULL || (table_ready(self) && table_many(self, keys, list)))
        return list;
    Py_DECREF(list);
    return NULL;
}

static PyObject *table_put_many(table_object *self, PyObject *pairs) {
    if (!table_ready(self) || !table_many(self, pairs, NULL))
        return NULL;
    Py_RETURN_NONE;
}

/* ---- the whole ---- */

static PyObject *table_sync(table_object *self, PyObject *nothing) {
    (void)nothing;
    PyThreadState *const saved = table_begin(self);
    if (saved == NULL)
        return NULL;
    const tamis_status status = tamis_table_sync(self->table);
    table_end(self, saved);
    return native_done(self->state, status, NULL);
}

static PyObject *table_refresh(table_object *self, PyObject *nothing) {
    (void)nothing;
    bool changed = false;
    PyThreadState *const saved = table_begin(self);
    if (saved == NULL)
        return NULL;
    const tamis_status status = tamis_table_refresh(self->table, &changed);
    table_end(self, saved);
    return status == TAMIS_OK ? PyBool_FromLong(changed) : native_done(self->state, status, NULL);
}

static PyObject *table_rebuild(table_object *self, PyObject *object) {
    uint64_t steps;
    bool done = false;
    if (!native_number(self->state, object, UINT64_MAX, "the number of steps", &steps))
        return NULL;
    PyThreadState *const saved = table_begin(self);
    if (saved == NULL)
        return NULL;
    const tamis_status status = tamis_table_rebuild(self->table, steps, &done);
    table_end(self, saved);
    return status != TAMIS_OK ? native_error(self->state, status, NULL) : PyBool_FromLong(done);
}

static PyObject *table_verify(table_object *self, PyObject *nothing) {
    uint64_t failures = 0;
    const char *reason = NULL;
    (void)nothing;
    PyThreadState *const saved = table_begin(self);
    if (saved == NULL)
        return NULL;
    const tamis_status status = tamis_table_verify(self->table, &failures, &reason);
    table_end(self, saved);
    return status != TAMIS_OK ? native_error(self->state, status, reason)
                              : PyLong_FromUnsignedLongLong(failures);
}

static PyObject *table_info(table_object *self, PyObject *nothing) {
    tamis_table_state state;
    tamis_table_state_init(&state);
    (void)nothing;
    if (!table_ready(self))
        return NULL;
    const tamis_status status = tamis_table_info(self->table, &state);
    return status != TAMIS_OK ? native_error(self->state, status, NULL)
                              : native_to_dict(&state, native_table_state);
}

static PyObject *table_stats(table_object *self, PyObject *nothing) {
    tamis_table_counts counts;
    tamis_table_counts_init(&counts);
    (void)nothing;
    if (!table_ready(self))
        return NULL;
    const tamis_status status = tamis_table_stats(self->table, &counts);
    return status != TAMIS_OK ? native_error(self->state, status, NULL)
                              : native_to_dict(&counts, native_table_counts);
}

static PyObject *table_plan(PyObject *module, PyObject *dict) {
    native_state *const state = native_state_of(module);
    tamis_table_need need;
    tamis_table_plan plan;
    tamis_table_need_init(&need);
    tamis_table_plan_init(&plan);
    if (!native_from_dict(state, dict, &need, native_table_need))
        return NULL;
    const tamis_status status = tamis_table_plan_make(&need, &plan);
    return status != TAMIS_OK ? native_error(state, status, NULL)
                              : native_to_dict(&plan, native_table_plan);
}

static PyMethodDef table_methods[] = {
    {"get", NATIVE_METHOD(table_get), METH_FASTCALL,
     "get(key, default=None)\n\nThe value of a key, as bytes; 'default' if it is not there."},
    {"get_many", NATIVE_METHOD(table_get_many), METH_O,
     "get_many(keys)\n\n"
     "The values of many keys, as a list; None where there is none.  Pages are fetched at the same "
     "time."},
    {"put_many", NATIVE_METHOD(table_put_many), METH_O,
     "put_many(pairs)\n\n"
     "Store pairs of key and value, tuples, in order.  What comes before one that cannot be stored "
     "may be in."},
    {"close", NATIVE_METHOD(table_close), METH_NOARGS,
     "close()\n\nWrite the summary to the file, so that it opens quickly, and free the memory."},
    {"sync", NATIVE_METHOD(table_sync), METH_NOARGS,
     "sync()\n\nBring all changes to the disk.  Nothing to do in memory."},
    {"refresh", NATIVE_METHOD(table_refresh), METH_NOARGS,
     "refresh()\n\n"
     "Bring a table that is open for reading up to date with its writer, in whichever process "
     "that is.  False if\n"
     "nothing has changed.  Nothing to do for other tables."},
    {"_rebuild", NATIVE_METHOD(table_rebuild), METH_O, "So many steps; is it complete?"},
    {"verify", NATIVE_METHOD(table_verify), METH_NOARGS,
     "verify()\n\n"
     "Read the whole table and check it; FormatError, which says why, if something is wrong.  The "
     "number of\n"
     "items that the summary is wrong about, which costs reads and no answers."},
    {"_info", NATIVE_METHOD(table_info), METH_NOARGS, "tamis_table_state."},
    {"_stats", NATIVE_METHOD(table_stats), METH_NOARGS, "tamis_table_counts."},
    {"_items", NATIVE_METHOD(table_items), METH_VARARGS, "(at, most)"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef table_members[] = {
    {"closed", (getter)table_closed, NULL, "Has close() been called?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyMethodDef native_table_functions[] = {
    {"table_create", NATIVE_METHOD(table_create), METH_VARARGS, "(class, path, params, options)"},
    {"table_open", NATIVE_METHOD(table_open), METH_VARARGS, "(class, path, options)"},
    {"table_plan", NATIVE_METHOD(table_plan), METH_O, "tamis_table_plan of a need."},
    {NULL, NULL, 0, NULL},
};

static PyObject *table_make(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)arguments;
    (void)names;
    native_state *const state = native_state_of_class(type);
    return state == NULL ? NULL : table_alloc(state, type);
}

PyTypeObject *native_table_make_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A table: the base of Table."},
        {Py_tp_new, (void *)table_make},
        {Py_tp_dealloc, (void *)table_dealloc},
        {Py_tp_methods, table_methods},
        {Py_tp_getset, table_members},
        {Py_sq_contains, (void *)table_contains},
        {Py_mp_length, (void *)table_length},
        {Py_mp_subscript, (void *)table_subscript},
        {Py_mp_ass_subscript, (void *)table_assign},
        {0, NULL},
    };
    PyType_Spec spec = {"tamis._native.Table", (int)sizeof(table_object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
