/* keys.c - one key, of any type
 *
 * A str is its UTF-8, what has bytes is those bytes, an integer is its 8 bytes in little-endian
 * order.  Dates, times, UUIDs and decimal numbers are the text that docs/keys.md says.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

void native_little(uint64_t number, unsigned char bytes[8]) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
}

/* An integer of any type.  -1 and an error, 0 if it is none, 1. */
static int keys_integer(const native_state *state, PyObject *object, native_key *key) {
    if (!PyIndex_Check(object))
        return 0;
    PyObject *const index = PyNumber_Index(object);
    if (index == NULL) {
        /* Arrays of numpy have __index__ and mostly refuse it. */
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    key->number = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (key->number == UINT64_MAX && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return -1;
        PyErr_Clear();
        native_bad_argument(state, "an integer key is not from 0 to 2**64 - 1");
        return -1;
    }
    key->is_number = true;
    return 1;
}

/* A copy of what a buffer has, in its order, however it lies in memory. */
static bool keys_buffer(PyObject *object, native_key *key) {
    PyObject *const view = PyMemoryView_FromObject(object);
    if (view == NULL)
        return false;
    key->owner = PyBytes_FromObject(view);
    Py_DECREF(view);
    if (key->owner == NULL)
        return false;
    key->data = PyBytes_AsString(key->owner);
    key->size = (size_t)PyBytes_Size(key->owner);
    return true;
}

/* What is known to Python's half: text() of _keys.py tells the text, or None if it is none of these
 * types.  It is asked before buffers are: the times and floats of numpy have one. */
static bool keys_text(const native_state *state, PyObject *object, native_key *key) {
    PyObject *const text = PyObject_CallFunctionObjArgs(state->text, object, NULL);
    if (text == NULL)
        return false;
    if (PyUnicode_Check(text)) {
        Py_ssize_t size;
        key->owner = text;
        key->data = PyUnicode_AsUTF8AndSize(text, &size);
        key->size = (size_t)size;
        return true; /* ASCII */
    }
    Py_DECREF(text);
    if (PyObject_CheckBuffer(object))
        return keys_buffer(object, key);
    PyObject *const name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (name != NULL)
        PyErr_Format(PyExc_TypeError,
                     "a key is a str, bytes, an integer, a date, a UUID or a Decimal, not %U%s",
                     name, PyFloat_Check(object) ? ": make it a Decimal or an integer first" : "");
    Py_XDECREF(name);
    return false;
}

bool native_key_other(const native_state *state, PyObject *object, native_key *key) {
    PyErr_Clear(); /* of an int that is too large: it is told below */
    key->owner = NULL;
    key->is_number = false;
    if (PyUnicode_Check(object)) {
        Py_ssize_t size;
        key->data = PyUnicode_AsUTF8AndSize(object, &size);
        key->size = (size_t)size;
        return key->data != NULL;
    }
    if (PyBytes_Check(object)) {
        key->data = PyBytes_AsString(object);
        key->size = (size_t)PyBytes_Size(object);
        return true;
    }
    /* Before buffers: the integers of numpy are both, and 5 is one key whatever its size. */
    const int is_integer = keys_integer(state, object, key);
    if (is_integer != 0)
        return is_integer > 0;
    if (Py_TYPE(object) == &PyByteArray_Type || Py_TYPE(object) == &PyMemoryView_Type)
        return keys_buffer(object, key);
    return keys_text(state, object, key);
}
