/* batch.c - calls for many keys
 *
 * Keys come from a buffer (arrays.c) or, one object after the other, from a list, an array of objects or
 * any iterable.  Objects are made bytes a chunk at a time, with Python's lock; then the chunk is worked off
 * without it.  Each chunk holds its objects meanwhile: what the lists of others do does not matter.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

#define BATCH_WORTH 256u /* keys for which Python's lock is given away */

/* ---- work, without Python's lock ---- */

static bool *batch_out(native_batch *batch) {
    return batch->want ? (bool *)batch->out + batch->at : NULL;
}

/* Count what a call did, and keep its status. */
static bool batch_did(native_batch *batch, tamis_status status, size_t count, size_t n) {
    batch->count += count;
    batch->at += n;
    batch->status = status;
    return status == TAMIS_OK;
}

static bool batch_digests(native_batch *batch, const uint64_t *numbers, const tamis_bytes *keys,
                          size_t n) {
    tamis_digest *const out = (tamis_digest *)(void *)batch->out + batch->at;
    for (size_t i = 0; i < n; i++)
        out[i] = numbers != NULL ? tamis_hash_u64(batch->hasher, numbers[i])
                                 : tamis_hash(batch->hasher, keys[i].data, keys[i].size);
    return batch_did(batch, TAMIS_OK, n, n);
}

bool native_batch_numbers(native_batch *batch, const uint64_t *keys, size_t n) {
    bool *const out = batch->op == NATIVE_DIGEST ? NULL : batch_out(batch);
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    if (batch->op == NATIVE_DIGEST)
        return batch_digests(batch, keys, NULL, n);
    tamis_shared *const shared = batch->set->shared;
    tamis_filter *const filter = batch->set->filter;
    if (batch->op == NATIVE_INSERT)
        status = shared != NULL ? tamis_shared_insert_many_u64(shared, keys, n, out, NULL, &count)
                                : tamis_filter_insert_many_u64(filter, keys, n, out, &count);
    else if (batch->op == NATIVE_REMOVE)
        status = shared != NULL ? tamis_shared_remove_many_u64(shared, keys, n, out, &count)
                                : tamis_filter_remove_many_u64(filter, keys, n, out, &count);
    else
        count = shared != NULL ? tamis_shared_contains_many_u64(shared, keys, n, out)
                               : tamis_filter_contains_many_u64(filter, keys, n, out);
    return batch_did(batch, status, count, n);
}

bool native_batch_bytes(native_batch *batch, const tamis_bytes *keys, size_t n) {
    bool *const out = batch->op == NATIVE_DIGEST ? NULL : batch_out(batch);
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    if (batch->op == NATIVE_DIGEST)
        return batch_digests(batch, NULL, keys, n);
    tamis_shared *const shared = batch->set->shared;
    tamis_filter *const filter = batch->set->filter;
    if (batch->op == NATIVE_INSERT)
        status = shared != NULL ? tamis_shared_insert_many(shared, keys, n, out, NULL, &count)
                                : tamis_filter_insert_many(filter, keys, n, out, &count);
    else if (batch->op == NATIVE_REMOVE)
        status = shared != NULL ? tamis_shared_remove_many(shared, keys, n, out, &count)
                                : tamis_filter_remove_many(filter, keys, n, out, &count);
    else
        count = shared != NULL ? tamis_shared_contains_many(shared, keys, n, out)
                               : tamis_filter_contains_many(filter, keys, n, out);
    return batch_did(batch, status, count, n);
}

/* ---- around it ---- */

static size_t batch_width(const native_batch *batch) {
    return batch->op == NATIVE_DIGEST ? sizeof(tamis_digest) : 1;
}

bool native_batch_reserve(native_batch *batch, size_t n) {
    if (!batch->want || batch->room - batch->at >= n)
        return true;
    size_t room = batch->at + n;
    if (batch->at > 0 && room < 2 * batch->at)
        room = 2 * batch->at;
    if (room > (size_t)PY_SSIZE_T_MAX / 32) {
        PyErr_NoMemory();
        return false;
    }
    const Py_ssize_t size = (Py_ssize_t)(room * batch_width(batch));
    if (batch->answers == NULL)
        batch->answers = PyByteArray_FromStringAndSize(NULL, size);
    else if (PyByteArray_Resize(batch->answers, size) != 0)
        return false;
    if (batch->answers == NULL)
        return false;
    batch->out = PyByteArray_AsString(batch->answers);
    batch->room = room;
    return true;
}

bool native_batch_begin(native_batch *batch, size_t n, PyThreadState **saved) {
    *saved = NULL;
    if (batch->set != NULL && !native_set_enter(batch->set, batch->op != NATIVE_CONTAINS))
        return false;
    if (n >= BATCH_WORTH)
        *saved = PyEval_SaveThread();
    return true;
}

void native_batch_end(native_batch *batch, PyThreadState *saved) {
    if (saved != NULL)
        PyEval_RestoreThread(saved);
    if (batch->set != NULL)
        native_set_leave(batch->set, batch->op != NATIVE_CONTAINS);
}

/* ---- objects ---- */

typedef struct batch_chunk {
    size_t n, numbers;
    tamis_bytes keys[NATIVE_CHUNK];
    uint64_t number[NATIVE_CHUNK];
    unsigned char little[NATIVE_CHUNK][8];
    PyObject *held[2 * NATIVE_CHUNK];
    size_t n_held;
} batch_chunk;

static void batch_empty(batch_chunk *chunk) {
    for (size_t i = 0; i < chunk->n_held; i++)
        Py_DECREF(chunk->held[i]);
    chunk->n = chunk->numbers = chunk->n_held = 0;
}

/* Append a key.  The reference to it is taken. */
static bool batch_append(const native_state *state, batch_chunk *chunk, PyObject *object) {
    native_key key;
    chunk->held[chunk->n_held++] = object;
    if (!native_key_of(state, object, &key))
        return false;
    const size_t i = chunk->n;
    if (key.is_number) {
        chunk->number[i] = key.number;
        chunk->numbers++;
        native_little(key.number, chunk->little[i]);
        key.data = chunk->little[i];
        key.size = 8;
    }
    if (key.owner != NULL)
        chunk->held[chunk->n_held++] = key.owner;
    chunk->keys[i] = (tamis_bytes){key.data, key.size};
    chunk->n++;
    return true;
}

static bool batch_flush(native_batch *batch, batch_chunk *chunk) {
    PyThreadState *saved;
    if (chunk->n == 0)
        return true;
    if (!native_batch_reserve(batch, chunk->n) || !native_batch_begin(batch, chunk->n, &saved))
        return false;
    if (chunk->numbers == chunk->n)
        (void)native_batch_numbers(batch, chunk->number, chunk->n);
    else
        (void)native_batch_bytes(batch, chunk->keys, chunk->n);
    native_batch_end(batch, saved);
    batch_empty(chunk);
    return batch->status == TAMIS_OK;
}

/* Where objects come from. */
typedef struct batch_source {
    PyObject *list, *iterator;
    const native_view *array; /* of pointers to objects */
    Py_ssize_t at;
} batch_source;

/* The next object, a new reference; NULL at the end, or if there is an error. */
static PyObject *batch_next(batch_source *source) {
    PyObject *object = NULL;
    if (source->iterator != NULL)
        return PyIter_Next(source->iterator);
    if (source->list != NULL) {
        if (source->at < PyList_Size(source->list)) /* others may have made it shorter */
            object = PyList_GetItem(source->list, source->at++);
    } else if (source->at < source->array->shape[0]) {
        const char *const from =
            (const char *)source->array->buf + source->at * source->array->strides[0];
        memcpy(&object, from, sizeof object);
        source->at++;
        object = object == NULL ? Py_None : object;
    }
    Py_XINCREF(object);
    return object;
}

static bool batch_objects(native_batch *batch, batch_source *source) {
    batch_chunk *const chunk = PyMem_Malloc(sizeof *chunk);
    if (chunk == NULL) {
        PyErr_NoMemory();
        return false;
    }
    chunk->n = chunk->numbers = chunk->n_held = 0;
    bool fine = true;
    PyObject *object;
    while (fine && (object = batch_next(source)) != NULL) {
        fine = batch_append(batch->state, chunk, object);
        if (fine && chunk->n == NATIVE_CHUNK)
            fine = batch_flush(batch, chunk);
    }
    fine = fine && !PyErr_Occurred() && batch_flush(batch, chunk);
    batch_empty(chunk);
    PyMem_Free(chunk);
    return fine;
}

static bool batch_list(native_batch *batch, PyObject *list) {
    batch_source source = {.list = list};
    return native_batch_reserve(batch, (size_t)PyList_Size(list)) && batch_objects(batch, &source);
}

static bool batch_iterable(native_batch *batch, PyObject *keys) {
    batch_source source = {.iterator = PyObject_GetIter(keys)};
    const bool fine = source.iterator != NULL && batch_objects(batch, &source);
    Py_XDECREF(source.iterator);
    return fine;
}

static bool batch_buffer(native_batch *batch, PyObject *keys) {
    native_view view;
    if (PyObject_GetBuffer(keys, &view, NATIVE_BUFFER_RECORDS) != 0)
        return false;
    bool fine;
    if (view.format != NULL && strcmp(view.format, "O") == 0 && view.ndim == 1 &&
        view.strides != NULL && view.itemsize == (Py_ssize_t)sizeof(PyObject *)) {
        batch_source source = {.array = &view};
        fine = batch_objects(batch, &source);
    } else {
        fine = native_batch_view(batch, &view);
    }
    PyBuffer_Release(&view);
    return fine;
}

/* Any other type: resolve() of _arrays.py tells what it is, (keys, data or None, how to wrap the answers or
 * None). */
static bool batch_resolve(native_batch *batch, PyObject *keys, PyObject **wrap) {
    PyObject *const told = PyObject_CallFunctionObjArgs(batch->state->resolve, keys, NULL);
    PyObject *from, *data, *how;
    if (told == NULL || !PyArg_ParseTuple(told, "OOO", &from, &data, &how)) {
        Py_XDECREF(told);
        return false;
    }
    if (how != Py_None) {
        *wrap = how;
        Py_INCREF(how);
    }
    const bool fine = data != Py_None                 ? native_batch_offsets(batch, from, data)
                      : Py_TYPE(from) == &PyList_Type ? batch_list(batch, from)
                      : PyObject_CheckBuffer(from)    ? batch_buffer(batch, from)
                                                      : batch_iterable(batch, from);
    Py_DECREF(told);
    return fine;
}

static void batch_raise(const native_batch *batch) {
    native_error(batch->state, batch->status,
                 batch->op == NATIVE_REMOVE ? native_removal_reason(batch->status) : NULL);
    if (batch->status != TAMIS_E_FULL)
        return;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *const done = PyLong_FromSize_t(batch->count);
    if (error != NULL && done != NULL)
        (void)PyObject_SetAttrString(error, "done", done);
    Py_XDECREF(done);
    PyErr_Restore(type, error, trace);
}

/* The answers as people get them: a memoryview of bools that cannot be changed. */
static PyObject *batch_answers(native_batch *batch, PyObject *wrap) {
    PyObject *const bytes =
        batch->answers != NULL ? batch->answers : PyByteArray_FromStringAndSize(NULL, 0);
    batch->answers = NULL;
    if (bytes == NULL)
        return NULL;
    if (PyByteArray_Resize(bytes, (Py_ssize_t)(batch->at * batch_width(batch))) != 0) {
        Py_DECREF(bytes);
        return NULL;
    }
    if (batch->op == NATIVE_DIGEST)
        return bytes;
    PyObject *const view = PyMemoryView_FromObject(bytes);
    PyObject *const fixed = view == NULL ? NULL : PyObject_CallMethod(view, "toreadonly", NULL);
    PyObject *bools = fixed == NULL ? NULL : PyObject_CallMethod(fixed, "cast", "s", "?");
    Py_XDECREF(fixed);
    Py_XDECREF(view);
    Py_DECREF(bytes);
    if (bools != NULL && wrap != NULL) {
        PyObject *const wrapped = PyObject_CallFunctionObjArgs(wrap, bools, NULL);
        Py_DECREF(bools);
        bools = wrapped;
    }
    return bools;
}

PyObject *native_batch_run(native_batch *batch, PyObject *keys) {
    PyObject *wrap = NULL, *result = NULL;
    const bool fine =
        Py_TYPE(keys) == &PyList_Type ? batch_list(batch, keys) : batch_resolve(batch, keys, &wrap);
    if (fine)
        result = batch->want ? batch_answers(batch, wrap) : PyLong_FromSize_t(batch->count);
    else if (batch->status != TAMIS_OK && !PyErr_Occurred())
        batch_raise(batch);
    Py_XDECREF(wrap);
    Py_XDECREF(batch->answers);
    return result;
}

static PyObject *batch_of(native_set *set, PyObject *keys, native_op op, bool want) {
    native_batch batch = {
        .state = set->state, .set = set, .op = op, .want = want, .status = TAMIS_OK};
    /* A closed set is told even if there are no keys. */
    if (!set->open && !native_set_wait(set, false))
        return NULL;
    return native_batch_run(&batch, keys);
}

static PyObject *batch_add(native_set *set, PyObject *keys) {
    return batch_of(set, keys, NATIVE_INSERT, true);
}

static PyObject *batch_contains(native_set *set, PyObject *keys) {
    return batch_of(set, keys, NATIVE_CONTAINS, true);
}

static PyObject *batch_count(native_set *set, PyObject *keys) {
    return batch_of(set, keys, NATIVE_CONTAINS, false);
}

static PyObject *batch_remove(native_set *set, PyObject *keys) {
    return batch_of(set, keys, NATIVE_REMOVE, true);
}

static PyObject *batch_insert(native_set *set, PyObject *keys) {
    return batch_of(set, keys, NATIVE_INSERT, false);
}

PyMethodDef native_batch_methods[] = {
    {"add_many", NATIVE_METHOD(batch_add), METH_O,
     "add_many(keys)\n\n"
     "Add keys in order, and tell which were new: a memoryview of bools, or an array of numpy if "
     "the keys came\n"
     "as one.  FullError if a key finds no room: 'done' keys before it are in."},
    {"contains_many", NATIVE_METHOD(batch_contains), METH_O,
     "contains_many(keys)\n\nWhich of the keys are (probably) in; answers as those of add_many()."},
    {"count_many", NATIVE_METHOD(batch_count), METH_O,
     "count_many(keys)\n\nHow many of the keys are (probably) in."},
    {"remove_many", NATIVE_METHOD(batch_remove), METH_O,
     "remove_many(keys)\n\nRemove one copy of each key; False where it was certainly not there."},
    {"_insert_many", NATIVE_METHOD(batch_insert), METH_O, "Add keys; how many."},
    {NULL, NULL, 0, NULL},
};
