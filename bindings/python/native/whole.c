/* whole.c - calls for the whole set, files
 *
 * Structs come and go as dicts (records.c); the classes of Python make objects of them.  What takes time in
 * proportion to the set is done without Python's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

bool native_params_of(const native_state *state, PyObject *dict, tamis_params *params) {
    tamis_params_init(params);
    return native_from_dict(state, dict, params, native_params);
}

/* A path as os.fsencode gives it.  NULL, and an error, if it is none. */
static const char *whole_path(PyObject *bytes) {
    char *path = NULL;
    if (PyBytes_AsStringAndSize(bytes, &path, NULL) != 0) /* refuses zeros within */
        return NULL;
    return path;
}

/* ---- making ---- */

/* Params with a seed, drawn if there is none. */
static PyObject *whole_seeded(PyObject *module, PyObject *dict) {
    const native_state *const state = native_state_of(module);
    tamis_params params;
    if (!native_params_of(state, dict, &params))
        return NULL;
    const bool has_seed = params.seed != 0 || params.seed_high != 0;
    const tamis_status status = has_seed ? TAMIS_OK : tamis_seed_draw(&params);
    return status != TAMIS_OK ? native_error(state, status, NULL)
                              : native_to_dict(&params, native_params);
}

static PyObject *whole_create(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type, *dict;
    unsigned shards;
    tamis_params params;
    if (!PyArg_ParseTuple(args, "OOI", &type, &dict, &shards) ||
        !native_params_of(state, dict, &params))
        return NULL;
    tamis_filter *filter = NULL;
    tamis_shared *shared = NULL;
    tamis_status status;
    PyThreadState *const saved = PyEval_SaveThread();
    if (shards > 0)
        status = tamis_shared_create(&params, shards, NULL, &shared);
    else
        status = tamis_filter_create(&params, NULL, &filter);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_params_error(state, status, &params)
                              : native_set_new(state, type, filter, shared);
}

/* A filter as the class wants it: plain, or shared. */
static PyObject *whole_finish(native_state *state, PyObject *type, tamis_filter *filter,
                              int is_shared) {
    tamis_shared *shared = NULL;
    if (!is_shared)
        return native_set_new(state, type, filter, NULL);
    const tamis_status status = tamis_shared_of(filter, &shared);
    if (status != TAMIS_OK) {
        tamis_filter_free(filter);
        return native_error(state, status, NULL);
    }
    return native_set_new(state, type, NULL, shared);
}

static PyObject *whole_decode(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    static const char compact[8] = "\x89TAMCF\r\n";
    PyObject *type, *data;
    int is_shared;
    native_view view;
    if (!PyArg_ParseTuple(args, "OOp", &type, &data, &is_shared) ||
        PyObject_GetBuffer(data, &view, NATIVE_BUFFER_SIMPLE) != 0)
        return NULL;
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    const bool is_compact = view.len >= 8 && memcmp(view.buf, compact, 8) == 0;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        is_compact ? tamis_filter_compact_decode(view.buf, (size_t)view.len, NULL, &filter, &reason)
                   : tamis_filter_decode(view.buf, (size_t)view.len, NULL, &filter, &reason);
    PyEval_RestoreThread(saved);
    PyBuffer_Release(&view);
    return status != TAMIS_OK ? native_error(state, status, reason)
                              : whole_finish(state, type, filter, is_shared);
}

/* A view of memory that stays: the buffer is held until the view is closed. */
static PyObject *whole_view(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type, *data;
    native_view view;
    if (!PyArg_ParseTuple(args, "OO", &type, &data) ||
        PyObject_GetBuffer(data, &view, NATIVE_BUFFER_SIMPLE) != 0)
        return NULL;
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        tamis_filter_view(view.buf, (size_t)view.len, NULL, &filter, &reason);
    PyEval_RestoreThread(saved);
    PyObject *made = NULL;
    if (status != TAMIS_OK)
        native_error(state, status, reason);
    else
        made = native_set_new(state, type, filter, NULL);
    if (made == NULL)
        PyBuffer_Release(&view);
    else
        ((native_set *)made)->memory = view;
    return made;
}

static PyObject *whole_load(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type;
    int fd, is_shared;
    if (!PyArg_ParseTuple(args, "Oip", &type, &fd, &is_shared))
        return NULL;
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_filter_load_fd(fd, NULL, &filter, &reason);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_error(state, status, reason)
                              : whole_finish(state, type, filter, is_shared);
}

static PyObject *whole_map(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type, *bytes;
    int trusted;
    if (!PyArg_ParseTuple(args, "OOp", &type, &bytes, &trusted))
        return NULL;
    const char *const path = whole_path(bytes);
    if (path == NULL)
        return NULL;
    tamis_filter *filter = NULL;
    const char *reason = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = trusted ? tamis_filter_map_trusted(path, NULL, &filter, &reason)
                                        : tamis_filter_map(path, NULL, &filter, &reason);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_error(state, status, reason)
                              : native_set_new(state, type, filter, NULL);
}

/* Digests of keys, for building: bytes of 16 for each key. */
static PyObject *whole_digests(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *dict, *keys;
    tamis_params params;
    if (!PyArg_ParseTuple(args, "OO", &dict, &keys) || !native_params_of(state, dict, &params))
        return NULL;
    tamis_hasher *const hasher = PyMem_Malloc(sizeof *hasher);
    if (hasher == NULL)
        return PyErr_NoMemory();
    const tamis_status status = tamis_hasher_init(hasher, &params);
    native_batch batch = {.state = state, .hasher = hasher, .op = NATIVE_DIGEST, .want = true};
    PyObject *const digests =
        status != TAMIS_OK ? native_error(state, status, NULL) : native_batch_run(&batch, keys);
    PyMem_Free(hasher);
    return digests;
}

/* Which of n shards each key belongs to: a bytearray of uint32_t, as a memoryview. */
static PyObject *whole_shards(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *dict, *keys;
    unsigned n;
    if (!PyArg_ParseTuple(args, "OOI", &dict, &keys, &n))
        return NULL;
    if (n == 0)
        return native_bad_argument(state, "there is no shard");
    PyObject *const pair = Py_BuildValue("OO", dict, keys);
    PyObject *const digests = pair == NULL ? NULL : whole_digests(module, pair);
    Py_XDECREF(pair);
    if (digests == NULL)
        return NULL;
    char *const bytes = PyByteArray_AsString(digests);
    const size_t count = (size_t)PyByteArray_Size(digests) / sizeof(tamis_digest);
    for (size_t i = 0; i < count; i++) { /* in place: a number is shorter than a digest */
        tamis_digest digest;
        memcpy(&digest, bytes + i * sizeof digest, sizeof digest);
        const uint32_t shard = (uint32_t)tamis_digest_shard(digest, n);
        memcpy(bytes + i * sizeof shard, &shard, sizeof shard);
    }
    PyObject *view = NULL;
    if (PyByteArray_Resize(digests, (Py_ssize_t)(count * sizeof(uint32_t))) == 0)
        view = PyMemoryView_FromObject(digests);
    PyObject *const numbers = view == NULL ? NULL : PyObject_CallMethod(view, "cast", "s", "I");
    Py_XDECREF(view);
    Py_DECREF(digests);
    return numbers;
}

static PyObject *whole_build(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *type, *dict, *digests;
    native_view view;
    tamis_params params;
    tamis_build_options options;
    tamis_build_options_init(&options);
    if (!PyArg_ParseTuple(args, "OOOI", &type, &dict, &digests, &options.passes) ||
        !native_params_of(state, dict, &params) ||
        PyObject_GetBuffer(digests, &view, NATIVE_BUFFER_SIMPLE) != 0)
        return NULL;
    tamis_filter *filter = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        tamis_filter_build_many(&params, (const tamis_digest *)(const void *)view.buf,
                                (size_t)view.len / sizeof(tamis_digest), &options, NULL, &filter);
    PyEval_RestoreThread(saved);
    PyBuffer_Release(&view);
    return status != TAMIS_OK ? native_params_error(state, status, &params)
                              : native_set_new(state, type, filter, NULL);
}

/* ---- telling ---- */

static PyObject *whole_params(native_set *set, PyObject *nothing) {
    tamis_params params;
    unsigned shards = 0;
    tamis_params_init(&params);
    (void)nothing;
    if (!native_set_ready(set, false))
        return NULL;
    const tamis_status status = set->shared != NULL
                                    ? tamis_shared_params(set->shared, &params, &shards)
                                    : tamis_filter_params(set->filter, &params);
    PyObject *const dict = status != TAMIS_OK ? native_error(set->state, status, NULL)
                                              : native_to_dict(&params, native_params);
    return dict == NULL ? NULL : Py_BuildValue("NI", dict, shards);
}

static PyObject *whole_info(native_set *set, PyObject *nothing) {
    tamis_info info;
    tamis_info_init(&info);
    (void)nothing;
    if (!native_set_enter(set, false))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = set->shared != NULL ? tamis_shared_info(set->shared, &info)
                                                    : tamis_filter_info(set->filter, &info);
    PyEval_RestoreThread(saved);
    native_set_leave(set, false);
    PyObject *const dict = status != TAMIS_OK ? native_error(set->state, status, NULL)
                                              : native_to_dict(&info, native_info);
    return dict == NULL ? NULL : Py_BuildValue("NI", dict, (unsigned)info.n_loads);
}

static PyObject *whole_verify(native_set *set, PyObject *nothing) {
    const char *reason = NULL;
    (void)nothing;
    if (!native_set_enter(set, false))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        set->shared != NULL ? TAMIS_OK : tamis_filter_verify(set->filter, &reason);
    PyEval_RestoreThread(saved);
    native_set_leave(set, false);
    if (status != TAMIS_OK)
        return native_error(set->state, status, reason);
    Py_RETURN_NONE;
}

static PyObject *whole_damage(native_set *set, PyObject *nothing) {
    (void)nothing;
    if (!native_set_enter(set, false))
        return NULL;
    const uint64_t parts = set->shared != NULL ? 0 : tamis_filter_damage(set->filter);
    native_set_leave(set, false);
    return PyLong_FromUnsignedLongLong(parts);
}

static PyObject *whole_window(native_set *set, PyObject *nothing) {
    tamis_window_state state;
    tamis_window_state_init(&state);
    (void)nothing;
    if (!native_set_enter(set, false))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        set->filter != NULL ? tamis_window_info(set->filter, &state) : TAMIS_E_UNSUPPORTED;
    PyEval_RestoreThread(saved);
    native_set_leave(set, false);
    return status != TAMIS_OK ? native_error(set->state, status, NULL)
                              : native_to_dict(&state, native_window);
}

/* Bytes in memory, but for the object itself; those of shared sets are not told without reading them. */
static PyObject *whole_bytes(native_set *set, PyObject *nothing) {
    (void)nothing;
    if (set->filter == NULL || !native_set_ready(set, false))
        return set->filter == NULL ? PyLong_FromLong(0) : NULL;
    return PyLong_FromUnsignedLongLong(tamis_filter_encoded_size(set->filter));
}

static PyObject *whole_key_form(native_set *set, PyObject *nothing) {
    (void)nothing;
    if (!native_set_ready(set, false))
        return NULL;
    return PyLong_FromLong(set->shared != NULL ? (long)tamis_shared_key_form(set->shared)
                                               : (long)tamis_filter_key_form(set->filter));
}

static PyObject *whole_set_key_form(native_set *set, PyObject *object) {
    uint64_t form;
    if (!native_number(set->state, object, 2, "the form of keys", &form) ||
        !native_set_ready(set, true))
        return NULL;
    return native_done(set->state,
                       set->shared != NULL
                           ? tamis_shared_set_key_form(set->shared, (tamis_key_form)form)
                           : tamis_filter_set_key_form(set->filter, (tamis_key_form)form),
                       NULL);
}

/* ---- changing ---- */

static PyObject *whole_clear(native_set *set, PyObject *nothing) {
    (void)nothing;
    if (!native_set_enter(set, true))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        set->shared != NULL ? tamis_shared_clear(set->shared) : tamis_filter_clear(set->filter);
    PyEval_RestoreThread(saved);
    native_set_leave(set, true);
    return native_done(set->state, status, NULL);
}

/* The error rate of the union, and what was promised, of sets that are in use; zeros without memory for it. */
static void whole_union(const native_set *set, const tamis_filter *source, double *fpr,
                        double *promise) {
    tamis_filter *copy = NULL;
    tamis_info info;
    tamis_info_init(&info);
    *fpr = *promise = 0;
    const tamis_status status = set->shared != NULL
                                    ? tamis_shared_snapshot(set->shared, NULL, &copy)
                                    : tamis_filter_clone(set->filter, NULL, &copy);
    if (status != TAMIS_OK)
        return;
    *promise =
        tamis_filter_promise(copy) > 0 ? tamis_filter_promise(copy) : tamis_filter_promise(source);
    if (tamis_filter_merge(copy, source, TAMIS_MERGE_BEYOND) == TAMIS_OK &&
        tamis_filter_info(copy, &info) == TAMIS_OK)
        *fpr = info.fpr;
    tamis_filter_free(copy);
}

static PyObject *whole_refuse_union(const native_state *state, double fpr, double promise) {
    char text[160];
    if (fpr > 0)
        PyOS_snprintf(text, sizeof text,
                      "the union would have an error rate of %.3g, and %.3g was promised; "
                      "beyond=True permits it",
                      fpr, promise);
    return native_error(state, TAMIS_E_PROMISE, fpr > 0 ? text : NULL);
}

static PyObject *whole_merge(native_set *set, PyObject *args) {
    PyObject *object;
    int beyond;
    if (!PyArg_ParseTuple(args, "Op", &object, &beyond))
        return NULL;
    if (!PyType_IsSubtype(Py_TYPE(object), set->state->set_type)) {
        PyErr_SetString(PyExc_TypeError, "only filters can be merged");
        return NULL;
    }
    native_set *const source = (native_set *)object;
    if (set == source)
        return native_error(set->state, TAMIS_E_ARGUMENT, "a set cannot be merged with itself");
    if (!native_set_enter_two(set, source))
        return NULL;
    const unsigned flags = beyond ? TAMIS_MERGE_BEYOND : 0;
    double fpr = 0, promise = 0;
    tamis_status status = TAMIS_OK;
    tamis_filter *copy = NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    if (source->shared != NULL)
        status = tamis_shared_snapshot(source->shared, NULL, &copy);
    const tamis_filter *const from = source->shared != NULL ? copy : source->filter;
    if (status == TAMIS_OK)
        status = set->shared != NULL ? tamis_shared_merge(set->shared, from, flags)
                                     : tamis_filter_merge(set->filter, from, flags);
    if (status == TAMIS_E_PROMISE)
        whole_union(set, from, &fpr, &promise);
    tamis_filter_free(copy);
    PyEval_RestoreThread(saved);
    native_set_leave(set, true);
    native_set_leave(source, false);
    if (status == TAMIS_E_PROMISE)
        return whole_refuse_union(set->state, fpr, promise);
    return native_done(set->state, status,
                       status == TAMIS_E_FULL ? "there is no room for the keys of both" : NULL);
}

static PyObject *whole_grow(native_set *set, PyObject *args) {
    PyObject *dict;
    int now;
    tamis_growth growth;
    tamis_growth_init(&growth);
    if (!PyArg_ParseTuple(args, "Op", &dict, &now) ||
        !native_from_dict(set->state, dict, &growth, native_growth) || !native_set_enter(set, true))
        return NULL;
    tamis_status status;
    PyThreadState *const saved = PyEval_SaveThread();
    if (set->shared != NULL)
        status = now ? tamis_shared_grow(set->shared, &growth)
                     : tamis_shared_allow_growth(set->shared, &growth);
    else
        status = now ? tamis_filter_grow(set->filter, &growth)
                     : tamis_filter_allow_growth(set->filter, &growth);
    PyEval_RestoreThread(saved);
    native_set_leave(set, true);
    return native_done(set->state, status, NULL);
}

static PyObject *whole_tick(native_set *set, PyObject *nothing) {
    (void)nothing;
    if (!native_set_enter(set, true))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        set->shared != NULL ? tamis_shared_tick(set->shared) : tamis_window_tick(set->filter);
    PyEval_RestoreThread(saved);
    native_set_leave(set, true);
    return native_done(set->state, status, NULL);
}

static PyObject *whole_step(native_set *set, PyObject *object) {
    uint64_t buckets, left = 0;
    if (!native_number(set->state, object, UINT64_MAX, "the number of buckets", &buckets) ||
        !native_set_enter(set, true))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        set->filter != NULL ? tamis_window_step(set->filter, buckets, &left) : TAMIS_E_UNSUPPORTED;
    PyEval_RestoreThread(saved);
    native_set_leave(set, true);
    return status != TAMIS_OK ? native_error(set->state, status, NULL)
                              : PyLong_FromUnsignedLongLong(left);
}

/* An array of digests as the library reads it. */
typedef struct whole_digest_source {
    const tamis_digest *digests;
    size_t n, at;
} whole_digest_source;

static bool whole_read(void *context, tamis_digest *digests, size_t room, size_t *n) {
    whole_digest_source *const source = context;
    *n = source->n - source->at < room ? source->n - source->at : room;
    if (*n > 0)
        memcpy(digests, source->digests + source->at, *n * sizeof *digests);
    source->at += *n;
    return true;
}

static bool whole_rewind(void *context) {
    ((whole_digest_source *)context)->at = 0;
    return true;
}

static PyObject *whole_refresh(native_set *set, PyObject *digests) {
    native_view view;
    if (PyObject_GetBuffer(digests, &view, NATIVE_BUFFER_SIMPLE) != 0)
        return NULL;
    if (!native_set_enter(set, true)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    whole_digest_source keys = {view.buf, (size_t)view.len / sizeof(tamis_digest), 0};
    const tamis_source source = {whole_read, whole_rewind, &keys};
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status =
        set->filter != NULL ? tamis_filter_refresh(set->filter, &source) : TAMIS_E_UNSUPPORTED;
    PyEval_RestoreThread(saved);
    native_set_leave(set, true);
    PyBuffer_Release(&view);
    return native_done(set->state, status, NULL);
}

/* ---- copies and files ---- */

/* A copy as a plain filter.  NULL, and an error, if there is none. */
static tamis_filter *whole_copy_of(native_set *set) {
    tamis_filter *filter = NULL;
    if (!native_set_enter(set, false))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = set->shared != NULL
                                    ? tamis_shared_snapshot(set->shared, NULL, &filter)
                                    : tamis_filter_clone(set->filter, NULL, &filter);
    PyEval_RestoreThread(saved);
    native_set_leave(set, false);
    if (status != TAMIS_OK)
        native_error(set->state, status, NULL);
    return filter;
}

static PyObject *whole_copy(native_set *set, PyObject *args) {
    PyObject *type;
    int is_shared;
    if (!PyArg_ParseTuple(args, "Op", &type, &is_shared))
        return NULL;
    tamis_filter *const filter = whole_copy_of(set);
    return filter == NULL ? NULL : whole_finish(set->state, type, filter, is_shared);
}

static PyObject *whole_save(native_set *set, PyObject *args) {
    PyObject *bytes;
    int compact;
    if (!PyArg_ParseTuple(args, "Op", &bytes, &compact))
        return NULL;
    const char *const path = whole_path(bytes);
    const char *reason = NULL;
    if (path == NULL || !native_set_enter(set, false))
        return NULL;
    tamis_status status;
    PyThreadState *const saved = PyEval_SaveThread();
    if (set->shared != NULL)
        status = compact ? TAMIS_E_UNSUPPORTED : tamis_shared_save(set->shared, path, &reason);
    else
        status = compact ? tamis_filter_compact_save(set->filter, path, &reason)
                         : tamis_filter_save(set->filter, path, &reason);
    PyEval_RestoreThread(saved);
    native_set_leave(set, false);
    return native_done(set->state, status, reason);
}

static PyObject *whole_encode(const native_state *state, const tamis_filter *filter, int compact) {
    const uint64_t size =
        compact ? tamis_filter_compact_size(filter) : tamis_filter_encoded_size(filter);
    if (compact && size == 0)
        return native_error(state, TAMIS_E_UNSUPPORTED, NULL);
    if (size > (uint64_t)PY_SSIZE_T_MAX)
        return native_error(state, TAMIS_E_TOO_LARGE, NULL);
    PyObject *const bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes == NULL)
        return NULL;
    char *const to = PyBytes_AsString(bytes);
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = compact ? tamis_filter_compact_encode(filter, to, (size_t)size)
                                        : tamis_filter_encode(filter, to, (size_t)size);
    PyEval_RestoreThread(saved);
    if (status == TAMIS_OK)
        return bytes;
    Py_DECREF(bytes);
    return native_error(state, status, NULL);
}

static PyObject *whole_to_bytes(native_set *set, PyObject *object) {
    const int compact = PyObject_IsTrue(object);
    if (compact < 0)
        return NULL;
    if (set->shared != NULL) {
        tamis_filter *const copy = whole_copy_of(set);
        PyObject *const bytes = copy == NULL ? NULL : whole_encode(set->state, copy, compact);
        tamis_filter_free(copy);
        return bytes;
    }
    if (!native_set_enter(set, false))
        return NULL;
    PyObject *const bytes = whole_encode(set->state, set->filter, compact);
    native_set_leave(set, false);
    return bytes;
}

PyMethodDef native_whole_methods[] = {
    {"_params", NATIVE_METHOD(whole_params), METH_NOARGS, "Parameters and shards."},
    {"_info", NATIVE_METHOD(whole_info), METH_NOARGS, "tamis_info, and how many loads it has."},
    {"_verify", NATIVE_METHOD(whole_verify), METH_NOARGS, "tamis_filter_verify."},
    {"_damage", NATIVE_METHOD(whole_damage), METH_NOARGS, "tamis_filter_damage."},
    {"_window", NATIVE_METHOD(whole_window), METH_NOARGS, "tamis_window_state."},
    {"_bytes", NATIVE_METHOD(whole_bytes), METH_NOARGS, "Bytes in memory."},
    {"_key_form", NATIVE_METHOD(whole_key_form), METH_NOARGS, "tamis_key_form."},
    {"_set_key_form", NATIVE_METHOD(whole_set_key_form), METH_O, "Note a tamis_key_form."},
    {"clear", NATIVE_METHOD(whole_clear), METH_NOARGS, "clear()\n\nRemove all keys."},
    {"_merge", NATIVE_METHOD(whole_merge), METH_VARARGS, "(other, beyond)"},
    {"_grow", NATIVE_METHOD(whole_grow), METH_VARARGS, "(tamis_growth, now or later)"},
    {"_tick", NATIVE_METHOD(whole_tick), METH_NOARGS, "The next tick."},
    {"_step", NATIVE_METHOD(whole_step), METH_O, "Clear so many buckets; those that are left."},
    {"_refresh", NATIVE_METHOD(whole_refresh), METH_O, "Make anew, of digests."},
    {"_copy", NATIVE_METHOD(whole_copy), METH_VARARGS, "(class, shared)"},
    {"_save", NATIVE_METHOD(whole_save), METH_VARARGS, "(path, compact)"},
    {"_to_bytes", NATIVE_METHOD(whole_to_bytes), METH_O, "(compact)"},
    {NULL, NULL, 0, NULL},
};

PyMethodDef native_functions[] = {
    {"create", NATIVE_METHOD(whole_create), METH_VARARGS, "(class, params, shards or 0)"},
    {"decode", NATIVE_METHOD(whole_decode), METH_VARARGS, "(class, bytes, shared)"},
    {"view", NATIVE_METHOD(whole_view), METH_VARARGS, "(class, bytes)"},
    {"load", NATIVE_METHOD(whole_load), METH_VARARGS, "(class, descriptor, shared)"},
    {"map", NATIVE_METHOD(whole_map), METH_VARARGS, "(class, path, trusted)"},
    {"seeded", NATIVE_METHOD(whole_seeded), METH_O, "Params with a seed, drawn if there is none."},
    {"digests", NATIVE_METHOD(whole_digests), METH_VARARGS, "(params, keys)"},
    {"shards", NATIVE_METHOD(whole_shards), METH_VARARGS, "(params, keys, n)"},
    {"build", NATIVE_METHOD(whole_build), METH_VARARGS, "(class, params, digests, passes)"},
    {NULL, NULL, 0, NULL},
};
