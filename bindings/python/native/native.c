/* native.c - the module, errors, functions without an object
 *
 * The classes of errors are Python's: setup() tells them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

PyObject *native_resolve;
static PyObject *native_errors; /* a tuple, by status */

PyObject *native_set_make_type(PyObject *module);
void native_table_forked(void);

/* ---- errors ---- */

PyObject *native_error(tamis_status status, const char *reason) {
    PyObject *class = PyExc_RuntimeError;
    if (native_errors != NULL && (Py_ssize_t)status < PyTuple_Size(native_errors))
        class = PyTuple_GetItem(native_errors, (Py_ssize_t)status);
    if (class != NULL)
        PyErr_SetString(class, reason != NULL ? reason : tamis_status_text(status));
    return NULL;
}

PyObject *native_done(tamis_status status, const char *reason) {
    if (status != TAMIS_OK)
        return native_error(status, reason);
    Py_RETURN_NONE;
}

PyObject *native_bad_argument(const char *text) {
    return native_error(TAMIS_E_ARGUMENT, text);
}

/* ---- functions ---- */

static PyObject *native_setup(PyObject *module, PyObject *args) {
    PyObject *errors, *resolve;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &errors, &resolve))
        return NULL;
    Py_INCREF(errors);
    Py_INCREF(resolve);
    Py_XDECREF(native_errors);
    Py_XDECREF(native_resolve);
    native_errors = errors;
    native_resolve = resolve;
    Py_RETURN_NONE;
}

static PyObject *native_forked(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    native_set_forked();
    native_table_forked();
    Py_RETURN_NONE;
}

/* A name, or None. */
static PyObject *native_name(const char *name) {
    if (name == NULL)
        Py_RETURN_NONE;
    return PyUnicode_FromString(name);
}

static PyObject *native_kind_name(PyObject *module, PyObject *args) {
    unsigned number;
    (void)module;
    return PyArg_ParseTuple(args, "I", &number) ? native_name(tamis_kind_name((tamis_kind)number))
                                                : NULL;
}

static PyObject *native_hash_name(PyObject *module, PyObject *args) {
    unsigned number;
    (void)module;
    return PyArg_ParseTuple(args, "I", &number)
               ? native_name(tamis_hash_name((tamis_hash_id)number))
               : NULL;
}

static PyObject *native_summary_name(PyObject *module, PyObject *args) {
    unsigned number;
    (void)module;
    return PyArg_ParseTuple(args, "I", &number)
               ? native_name(tamis_summary_name((tamis_summary)number))
               : NULL;
}

static PyObject *native_param_name(PyObject *module, PyObject *args) {
    unsigned number, index;
    (void)module;
    return PyArg_ParseTuple(args, "II", &number, &index)
               ? native_name(tamis_param_name((tamis_kind)number, index))
               : NULL;
}

static PyObject *native_abilities(PyObject *module, PyObject *args) {
    unsigned number;
    (void)module;
    return PyArg_ParseTuple(args, "I", &number)
               ? PyLong_FromUnsignedLong(tamis_kind_abilities((tamis_kind)number))
               : NULL;
}

static PyObject *native_status_text(PyObject *module, PyObject *args) {
    unsigned number;
    (void)module;
    return PyArg_ParseTuple(args, "I", &number)
               ? native_name(tamis_status_text((tamis_status)number))
               : NULL;
}

/* ---- plans ---- */

static PyObject *native_plan_make(PyObject *module, PyObject *dict) {
    tamis_need need;
    tamis_plan plan;
    tamis_need_init(&need);
    tamis_plan_init(&plan);
    (void)module;
    if (!native_from_dict(dict, &need, native_need))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_plan_make(&need, &plan);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_error(status, NULL) : native_to_dict(&plan, native_plan);
}

#define NATIVE_PLANS 64

static PyObject *native_plan_list(const tamis_plan *plans, size_t n) {
    PyObject *const list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *const dict = native_to_dict(&plans[i], native_plan);
        const int failed = dict == NULL ? -1 : PyList_Append(list, dict);
        Py_XDECREF(dict);
        if (failed) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *native_plan_all(PyObject *module, PyObject *dict) {
    tamis_need need;
    tamis_need_init(&need);
    (void)module;
    if (!native_from_dict(dict, &need, native_need))
        return NULL;
    tamis_plan *const plans = PyMem_Malloc(NATIVE_PLANS * sizeof *plans);
    if (plans == NULL)
        return PyErr_NoMemory();
    size_t n = 0;
    for (size_t i = 0; i < NATIVE_PLANS; i++)
        tamis_plan_init(&plans[i]);
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_plan_all(&need, plans, NATIVE_PLANS, &n);
    PyEval_RestoreThread(saved);
    PyObject *const list =
        status != TAMIS_OK ? native_error(status, NULL) : native_plan_list(plans, n);
    PyMem_Free(plans);
    return list;
}

static PyObject *native_plan_shared(PyObject *module, PyObject *args) {
    PyObject *dict;
    unsigned threads;
    tamis_need need;
    tamis_shared_plan plan;
    tamis_need_init(&need);
    tamis_shared_plan_init(&plan);
    (void)module;
    if (!PyArg_ParseTuple(args, "OI", &dict, &threads) ||
        !native_from_dict(dict, &need, native_need))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_shared_plan_make(&need, threads, &plan);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_error(status, NULL)
                              : native_to_dict(&plan, native_shared_plan);
}

/* The members of all records, for the tests: name of the struct, names. */
static PyObject *native_members(PyObject *module, PyObject *nothing) {
    static const struct {
        const char *name;
        const native_member *members;
    } all[] = {
        {"tamis_params", native_params},
        {"tamis_need", native_need},
        {"tamis_plan", native_plan},
        {"tamis_info", native_info},
        {"tamis_growth", native_growth},
        {"tamis_shared_plan", native_shared_plan},
        {"tamis_window_state", native_window},
        {"tamis_table_params", native_table_params},
        {"tamis_table_need", native_table_need},
        {"tamis_table_plan", native_table_plan},
        {"tamis_table_state", native_table_state},
        {"tamis_table_counts", native_table_counts},
        {"tamis_table_options", native_table_options},
    };
    PyObject *const dict = PyDict_New();
    (void)module;
    (void)nothing;
    for (size_t i = 0; dict != NULL && i < sizeof all / sizeof all[0]; i++) {
        PyObject *const list = PyList_New(0);
        for (const native_member *m = all[i].members; list != NULL && m->name != NULL; m++) {
            PyObject *const name = PyUnicode_FromString(m->name);
            if (name != NULL)
                (void)PyList_Append(list, name);
            Py_XDECREF(name);
        }
        if (list != NULL)
            (void)PyDict_SetItemString(dict, all[i].name, list);
        Py_XDECREF(list);
    }
    return dict;
}

static PyMethodDef native_own_functions[] = {
    {"setup", NATIVE_METHOD(native_setup), METH_VARARGS, "(errors by status, resolve)"},
    {"forked", NATIVE_METHOD(native_forked), METH_NOARGS, "After fork, in the child."},
    {"kind_name", NATIVE_METHOD(native_kind_name), METH_VARARGS, "Name of a kind, or None."},
    {"hash_name", NATIVE_METHOD(native_hash_name), METH_VARARGS, "Name of a hash, or None."},
    {"summary_name", NATIVE_METHOD(native_summary_name), METH_VARARGS,
     "Name of a summary, or None."},
    {"param_name", NATIVE_METHOD(native_param_name), METH_VARARGS, "(kind, index)"},
    {"abilities", NATIVE_METHOD(native_abilities), METH_VARARGS, "Abilities of a kind."},
    {"status_text", NATIVE_METHOD(native_status_text), METH_VARARGS, "Text of a status."},
    {"plan_make", NATIVE_METHOD(native_plan_make), METH_O, "tamis_plan of a need."},
    {"plan_all", NATIVE_METHOD(native_plan_all), METH_O, "All of them."},
    {"plan_shared", NATIVE_METHOD(native_plan_shared), METH_VARARGS, "(need, threads)"},
    {"members", NATIVE_METHOD(native_members), METH_NOARGS, "Members of all records."},
    {NULL, NULL, 0, NULL},
};

static bool native_fill(PyObject *module) {
    PyObject *const set = native_set_make_type(module);
    PyObject *const table = native_table_make_type(module);
    if (set == NULL || table == NULL || PyModule_AddFunctions(module, native_functions) != 0 ||
        PyModule_AddFunctions(module, native_table_functions) != 0)
        return false;
    /* The types stay: the module keeps one reference to each, its variables another. */
    Py_INCREF(set);
    Py_INCREF(table);
    return PyModule_AddObject(module, "Set", set) == 0 &&
           PyModule_AddObject(module, "Table", table) == 0 &&
           PyModule_AddStringConstant(module, "version", tamis_version()) == 0;
}

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                            "tamis._native",
                                            "The library; nothing here is for people.",
                                            -1,
                                            native_own_functions,
                                            NULL,
                                            NULL,
                                            NULL,
                                            NULL};
    PyObject *const module = PyModule_Create(&definition);
    if (module != NULL && !native_fill(module)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
