/* native.c - the module, errors, functions without an object
 *
 * The classes of errors are Python's: setup() tells them.  The module is made in two phases (PEP
 * 489), so that each interpreter has one with a state of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"
#include <stdlib.h>

static struct PyModuleDef *native_definition(void);

/* ---- state ---- */

native_state *native_state_of(PyObject *module) {
    return PyModule_GetState(module);
}

native_state *native_state_of_class(PyTypeObject *class) {
    /* Classes of Python's are between it and ours, which alone have a module of this definition. */
    for (PyTypeObject *at = class; at != NULL && at != &PyBaseObject_Type;
         at = PyType_GetSlot(at, Py_tp_base)) {
        PyObject *const module = PyType_GetModule(at);
        if (module != NULL && PyModule_GetDef(module) == native_definition())
            return PyModule_GetState(module);
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_TypeError, "a class of the module tamis is needed");
    return NULL;
}

/* ---- errors ---- */

PyObject *native_error(const native_state *state, tamis_status status, const char *reason) {
    PyObject *class = PyExc_RuntimeError;
    if (state->errors != NULL && (Py_ssize_t)status < PyTuple_Size(state->errors))
        class = PyTuple_GetItem(state->errors, (Py_ssize_t)status);
    if (class != NULL)
        PyErr_SetString(class, reason != NULL ? reason : tamis_status_text(status));
    return NULL;
}

PyObject *native_done(const native_state *state, tamis_status status, const char *reason) {
    if (status != TAMIS_OK)
        return native_error(state, status, reason);
    Py_RETURN_NONE;
}

PyObject *native_bad_argument(const native_state *state, const char *text) {
    return native_error(state, TAMIS_E_ARGUMENT, text);
}

PyObject *native_need_error(const native_state *state, tamis_status status,
                            const tamis_need *need) {
    char why[512];
    return native_error(state, status,
                        tamis_plan_explain(need, why, sizeof why) == status ? why : NULL);
}

PyObject *native_params_error(const native_state *state, tamis_status status,
                              const tamis_params *params) {
    char why[512];
    return native_error(state, status,
                        tamis_params_explain(params, why, sizeof why) == status ? why : NULL);
}

/* ---- functions ---- */

static PyObject *native_setup(PyObject *module, PyObject *args) {
    native_state *const state = native_state_of(module);
    PyObject *told[3];
    if (!PyArg_ParseTuple(args, "O!OO", &PyTuple_Type, &told[0], &told[1], &told[2]))
        return NULL;
    PyObject **const places[3] = {&state->errors, &state->resolve, &state->text};
    for (size_t i = 0; i < 3; i++) {
        PyObject *const before = *places[i];
        Py_INCREF(told[i]);
        *places[i] = told[i];
        Py_XDECREF(before);
    }
    Py_RETURN_NONE;
}

static PyObject *native_forked(PyObject *module, PyObject *nothing) {
    native_state *const state = native_state_of(module);
    (void)nothing;
    native_set_forked(state);
    state->forks++;
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

static PyObject *native_params_abilities(PyObject *module, PyObject *dict) {
    tamis_params params;
    return native_params_of(native_state_of(module), dict, &params)
               ? PyLong_FromUnsignedLong(tamis_params_abilities(&params))
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
    const native_state *const state = native_state_of(module);
    if (!native_from_dict(state, dict, &need, native_need))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_plan_make(&need, &plan);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_need_error(state, status, &need)
                              : native_to_dict(&plan, native_plan);
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
    const native_state *const state = native_state_of(module);
    if (!native_from_dict(state, dict, &need, native_need))
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
        status != TAMIS_OK ? native_need_error(state, status, &need) : native_plan_list(plans, n);
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
    const native_state *const state = native_state_of(module);
    if (!PyArg_ParseTuple(args, "OI", &dict, &threads) ||
        !native_from_dict(state, dict, &need, native_need))
        return NULL;
    PyThreadState *const saved = PyEval_SaveThread();
    const tamis_status status = tamis_shared_plan_make(&need, threads, &plan);
    PyEval_RestoreThread(saved);
    return status != TAMIS_OK ? native_need_error(state, status, &need)
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
    {"setup", NATIVE_METHOD(native_setup), METH_VARARGS, "(errors by status, resolve, text)"},
    {"forked", NATIVE_METHOD(native_forked), METH_NOARGS, "After fork, in the child."},
    {"kind_name", NATIVE_METHOD(native_kind_name), METH_VARARGS, "Name of a kind, or None."},
    {"hash_name", NATIVE_METHOD(native_hash_name), METH_VARARGS, "Name of a hash, or None."},
    {"summary_name", NATIVE_METHOD(native_summary_name), METH_VARARGS,
     "Name of a summary, or None."},
    {"param_name", NATIVE_METHOD(native_param_name), METH_VARARGS, "(kind, index)"},
    {"abilities", NATIVE_METHOD(native_abilities), METH_VARARGS, "Abilities of a kind."},
    {"params_abilities", NATIVE_METHOD(native_params_abilities), METH_O,
     "Those of a set of params."},
    {"status_text", NATIVE_METHOD(native_status_text), METH_VARARGS, "Text of a status."},
    {"plan_make", NATIVE_METHOD(native_plan_make), METH_O, "tamis_plan of a need."},
    {"plan_all", NATIVE_METHOD(native_plan_all), METH_O, "All of them."},
    {"plan_shared", NATIVE_METHOD(native_plan_shared), METH_VARARGS, "(need, threads)"},
    {"members", NATIVE_METHOD(native_members), METH_NOARGS, "Members of all records."},
    {NULL, NULL, 0, NULL},
};

/* The second phase. */
static int native_fill(PyObject *module) {
    native_state *const state = native_state_of(module);
    if ((state->set_type = native_set_make_type(module)) == NULL ||
        (state->table_type = native_table_make_type(module)) == NULL ||
        PyModule_AddFunctions(module, native_functions) != 0 ||
        PyModule_AddFunctions(module, native_table_functions) != 0)
        return -1;
    PyObject *const types[2] = {(PyObject *)state->set_type, (PyObject *)state->table_type};
    for (size_t i = 0; i < 2; i++) {
        Py_INCREF(types[i]); /* for the module's dict; the state has one already */
        if (PyModule_AddObject(module, i == 0 ? "Set" : "Table", types[i]) != 0) {
            Py_DECREF(types[i]);
            return -1;
        }
    }
    return PyModule_AddStringConstant(module, "version", tamis_version());
}

static int native_traverse(PyObject *module, visitproc visit, void *arg) {
    native_state *const state = native_state_of(module);
    if (state == NULL) /* not made yet */
        return 0;
    Py_VISIT(state->set_type);
    Py_VISIT(state->table_type);
    Py_VISIT(state->errors);
    Py_VISIT(state->resolve);
    Py_VISIT(state->text);
    return 0;
}

static int native_clear(PyObject *module) {
    native_state *const state = native_state_of(module);
    if (state == NULL)
        return 0;
    Py_CLEAR(state->set_type);
    Py_CLEAR(state->table_type);
    Py_CLEAR(state->errors);
    Py_CLEAR(state->resolve);
    Py_CLEAR(state->text);
    return 0;
}

static void native_free(void *module) {
    (void)native_clear(module);
}

/* From 3.12 on a module can say that interpreters with locks of their own may have it; those before
 * refuse to load a module that says what they do not know. */
#define NATIVE_INTERPRETERS 3           /* Py_mod_multiple_interpreters */
#define NATIVE_OWN_LOCK     ((void *)2) /* Py_MOD_PER_INTERPRETER_GIL_SUPPORTED */

static PyModuleDef_Slot native_slots[] = {
    {Py_mod_exec, (void *)native_fill},
    {0, NULL},
};
static PyModuleDef_Slot native_slots_from_3_12[] = {
    {Py_mod_exec, (void *)native_fill},
    {NATIVE_INTERPRETERS, NATIVE_OWN_LOCK},
    {0, NULL},
};

#define NATIVE_DEFINITION(slots)                                                                   \
    {                                                                                              \
        PyModuleDef_HEAD_INIT, "tamis._native", "The library; nothing here is for people.",        \
            sizeof(native_state), native_own_functions, slots, native_traverse, native_clear,      \
            native_free                                                                            \
    }

static struct PyModuleDef native_definitions[] = {
    NATIVE_DEFINITION(native_slots),
    NATIVE_DEFINITION(native_slots_from_3_12),
};

static struct PyModuleDef *native_definition(void) {
    const char *const version = Py_GetVersion(); /* "3.11.2 ..." */
    const bool knows = version[0] > '3' || atoi(version + 2) >= 12;
    return &native_definitions[knows];
}

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(native_definition());
}
