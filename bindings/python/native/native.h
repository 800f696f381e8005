/* native.h - the Python module: what its files share
 *
 * The module keeps to the stable interface of CPython 3.9, so that one binary serves that version and all
 * later ones.  Four things of it were declared stable later than they were there, unchanged: buffers (3.11),
 * the UTF-8 of a str (3.10), calls without a tuple (3.10) and types that know their module (3.10).  They are
 * declared here, as 3.9 has them.
 *
 * An interpreter has a module of its own, and what belongs to it is in the module's state: nothing that can
 * change is static.  Functions find the state by their module, methods by their object.
 *
 *     native.c    the module, its state, errors, functions without an object
 *     records.c   structs of the library as dicts, and back
 *     keys.c      one key, of any type
 *     set.c       a set: its life, who is using it, calls for one key
 *     batch.c     calls for many keys
 *     arrays.c    keys in buffers: integers, fixed and variable strings
 *     whole.c     calls for the whole set, files
 *     table.c     exact tables
 *
 * Classes that people see are Python's, in ../tamis; what is here is their base.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PYTHON_NATIVE_H
#define TAMIS_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#ifdef TAMIS_ONE_FILE
#include "tamis.h"
#else
#include <tamis/plan.h>
#include <tamis/shared.h>
#include <tamis/table.h>
#include <tamis/tamis.h>
#include <tamis/window.h>
#endif

/* ---- what 3.9 has and its stable interface has not yet ---- */

/* Py_buffer. */
typedef struct native_view {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} native_view;

#define NATIVE_BUFFER_SIMPLE  0    /* PyBUF_SIMPLE */
#define NATIVE_BUFFER_RECORDS 0x1c /* PyBUF_RECORDS_RO: format, shape and strides */

PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject *object);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, native_view *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(native_view *view);
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);

PyAPI_FUNC(PyObject *)
    PyType_FromModuleAndSpec(PyObject *module, PyType_Spec *spec, PyObject *bases);
PyAPI_FUNC(PyObject *) PyType_GetModule(PyTypeObject *type);

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

#define NATIVE_RARE(condition) __builtin_expect(!!(condition), 0)

/* A function as a slot or a method has it. */
#define NATIVE_METHOD(function) ((PyCFunction)(void (*)(void))(function))

/* ---- native.c: state, errors ---- */

/* What an interpreter has.  The last three are Python's, as setup() told them. */
typedef struct native_state {
    PyTypeObject *set_type, *table_type;
    struct native_set
        *in_use; /* sets that are used without Python's lock: what a child must know after fork */
    unsigned forks;    /* how many there were, up to this process */
    PyObject *errors;  /* classes, a tuple by status */
    PyObject *resolve; /* of ../tamis/_arrays.py */
    PyObject *text;    /* of ../tamis/_keys.py */
} native_state;

native_state *native_state_of(PyObject *module);

/* That of a class, whose base is one of ours.  NULL, and an error, if it is not. */
native_state *native_state_of_class(PyTypeObject *class);

/* Raise the error of 'status'; 'reason' may be NULL.  Returns NULL. */
PyObject *native_error(const native_state *state, tamis_status status, const char *reason);
/* The same, of a need or parameters that are refused: the text names the member at fault. */
PyObject *native_need_error(const native_state *state, tamis_status status, const tamis_need *need);
PyObject *native_params_error(const native_state *state, tamis_status status,
                              const tamis_params *params);

/* None, or the error. */
PyObject *native_done(const native_state *state, tamis_status status, const char *reason);

/* ArgumentError with this text.  Returns NULL. */
PyObject *native_bad_argument(const native_state *state, const char *text);

/* ---- records.c ---- */

typedef enum native_type {
    NATIVE_END,
    NATIVE_U64,
    NATIVE_U32,
    NATIVE_DOUBLE,
    NATIVE_BOOL,
    NATIVE_PARAMS,       /* a tamis_params within */
    NATIVE_TABLE_PARAMS, /* a tamis_table_params within */
    NATIVE_U64S,         /* 'count' of them */
    NATIVE_DOUBLES
} native_type;

typedef struct native_member {
    const char *name;
    native_type type;
    size_t offset;
    size_t count;
} native_member;

extern const native_member native_params[], native_need[], native_plan[], native_info[],
    native_growth[], native_shared_plan[], native_window[], native_table_params[],
    native_table_need[], native_table_plan[], native_table_state[], native_table_counts[],
    native_table_options[];

/* A new dict with all members of a struct. */
PyObject *native_to_dict(const void *record, const native_member *members);

/* Fill in the members that a dict has; others stay as they are.  False, and an error, for a name that the
 * struct has not and for a number out of range. */
bool native_from_dict(const native_state *state, PyObject *dict, void *record,
                      const native_member *members);

/* An integer from 0 to 'max', or ArgumentError: "'what' is out of range". */
bool native_number(const native_state *state, PyObject *object, uint64_t max, const char *what,
                   uint64_t *number);

/* ---- keys.c ---- */

/* One key, of any type.  After native_key_of, either the number or the bytes count, and native_key_end must
 * be called. */
typedef struct native_key {
    const void *data;
    size_t size;
    uint64_t number;
    bool is_number;
    PyObject *owner; /* of the bytes; or NULL: those of the object that was given */
    unsigned char little[8];
} native_key;

/* For all types but str, bytes and int, or where these fail. */
bool native_key_other(const native_state *state, PyObject *object, native_key *key);

/* The 8 bytes of a number that is a key, in little-endian order. */
void native_little(uint64_t number, unsigned char bytes[8]);

static inline bool native_key_of(const native_state *state, PyObject *object, native_key *key) {
    const PyTypeObject *const type = Py_TYPE(object);
    key->owner = NULL;
    key->is_number = false;
    if (type == &PyUnicode_Type) {
        Py_ssize_t size;
        key->data = PyUnicode_AsUTF8AndSize(object, &size);
        key->size = (size_t)size;
        return key->data != NULL;
    }
    if (type == &PyBytes_Type) {
        key->data = PyBytes_AsString(object);
        key->size = (size_t)PyBytes_Size(object);
        return true;
    }
    if (type == &PyLong_Type) {
        key->number = PyLong_AsUnsignedLongLong(object);
        key->is_number = true;
        return !NATIVE_RARE(key->number == UINT64_MAX && PyErr_Occurred()) ||
               native_key_other(state, object, key);
    }
    return native_key_other(state, object, key);
}

/* The bytes of a key that may be a number. */
static inline void native_key_bytes(native_key *key) {
    if (key->is_number) {
        native_little(key->number, key->little);
        key->data = key->little;
        key->size = sizeof key->little;
    }
}

static inline void native_key_end(native_key *key) {
    Py_XDECREF(key->owner);
}

/* ---- set.c ---- */

/* A set.  Python's lock guards all members.  Calls that are short keep it.  Long ones give it away, and
 * note in 'readers' or 'writer' that they use the set; others who would disturb them wait.  So a plain
 * filter is safe in threads, and a shared one is used by many at once.  No code of Python's runs while a
 * set is noted as used, so nobody waits for itself. */
typedef struct native_set {
    PyObject_HEAD native_state *state; /* its class keeps the module, and that keeps the state */
    tamis_filter *filter;              /* one of both is NULL */
    tamis_shared *shared;
    bool open;
    bool writer;
    bool lost; /* it was being changed when the process forked, and is of no use in the child */
    unsigned readers; /* calls that use the set without Python's lock and do not need it alone */
    struct native_waiter *waiting;   /* calls, in the order of coming */
    native_view memory;              /* of a view; obj is NULL if there is none */
    struct native_set *next, **link; /* list of all sets that are used without Python's lock */
} native_set;

/* Wait until the set can be used, or changed.  False, and an error, if it is closed or a signal came. */
bool native_set_wait(native_set *set, bool change);

static inline bool native_set_ready(native_set *set, bool change) {
    if (!NATIVE_RARE(!set->open || set->writer || (change && set->readers > 0)))
        return true;
    return native_set_wait(set, change);
}

/* Note that the set is used, until native_set_leave, without Python's lock. */
bool native_set_enter(native_set *set, bool change);
void native_set_leave(native_set *set, bool change);

/* The same for two sets, of which the second is only read. */
bool native_set_enter_two(native_set *set, native_set *source);

/* Free what a set has; it is then closed. */
void native_set_free(native_set *set);

/* A new object of a class of Python's, or the object that is given, takes the set.  A new reference. */
PyObject *native_set_new(native_state *state, PyObject *target, tamis_filter *filter,
                         tamis_shared *shared);

/* After fork, in the child. */
void native_set_forked(native_state *state);

/* ---- batch.c, arrays.c ---- */

typedef enum native_op { NATIVE_INSERT, NATIVE_CONTAINS, NATIVE_REMOVE, NATIVE_DIGEST } native_op;

#define NATIVE_CHUNK 1024u /* keys that are worked on at a time */

/* A call for many keys, under way. */
typedef struct native_batch {
    const native_state *state;
    native_set *set;
    const tamis_hasher *hasher; /* NATIVE_DIGEST: in place of the set */
    native_op op;
    bool want;         /* answers: one bool, or digest, for each key */
    PyObject *answers; /* a bytearray, with room for 'room' answers */
    char *out;         /* theirs */
    size_t room, at;   /* 'at' of them are there */
    size_t count;      /* keys that are in, were found, were removed */
    tamis_status status;
} native_batch;

/* Make room for n more answers. */
bool native_batch_reserve(native_batch *batch, size_t n);

/* Work off keys for which there is room.  Without Python's lock, between native_batch_begin and _end.  False:
 * the batch has failed, its status says how. */
bool native_batch_numbers(native_batch *batch, const uint64_t *keys, size_t n);
bool native_batch_bytes(native_batch *batch, const tamis_bytes *keys, size_t n);

/* Note that the set is used, and give Python's lock away if n keys are worth it. */
bool native_batch_begin(native_batch *batch, size_t n, PyThreadState **saved);
void native_batch_end(native_batch *batch, PyThreadState *saved);

/* Work off a buffer, or offsets with their data.  False, and an error that is set, if it has failed. */
bool native_batch_view(native_batch *batch, native_view *view);
bool native_batch_offsets(native_batch *batch, PyObject *offsets, PyObject *data);

/* Work off all that 'keys' has.  The answers as a memoryview of bools (a bytearray, for digests); 'want'
 * without answers: the count. */
PyObject *native_batch_run(native_batch *batch, PyObject *keys);

/* Why a removal was refused, if its status is that a set cannot; else NULL. */
const char *native_removal_reason(tamis_status status);

extern PyMethodDef native_batch_methods[];

/* ---- whole.c, table.c ---- */

extern PyMethodDef native_whole_methods[];
extern PyMethodDef native_functions[];
extern PyMethodDef native_table_functions[];

/* Params of a dict, or defaults for None. */
bool native_params_of(const native_state *state, PyObject *dict, tamis_params *params);

/* The types of sets and tables; NULL if they could not be made. */
PyTypeObject *native_set_make_type(PyObject *module);
PyTypeObject *native_table_make_type(PyObject *module);

#endif
