/* set.c - a set: its life, who is using it, calls for one key
 *
 * Calls for one key are short: they keep Python's lock.  The key is made bytes first, which may run code of
 * Python's, that may close the set; then it is seen whether the set can be used.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"
#include <time.h>

/* ---- who is using it ---- */

static bool set_closed(const native_set *set) {
    PyErr_SetString(set->lost ? PyExc_RuntimeError : PyExc_ValueError,
                    set->lost ? "the set was in use by another thread when the process forked"
                              : "the filter is closed");
    return false;
}

static bool set_is_free(const native_set *set, bool change) {
    return set->shared != NULL || (!set->writer && (!change || set->readers == 0));
}

static void set_pause(long nanoseconds) {
    PyThreadState *const saved = PyEval_SaveThread();
    const struct timespec time = {0, nanoseconds};
    (void)nanosleep(&time, NULL);
    PyEval_RestoreThread(saved);
}

/* Who waits for a set, in the order of coming.  Looking again after a while is simple, survives fork, and
 * costs little beside what is waited for. */
typedef struct native_waiter {
    struct native_waiter *next;
} set_waiter;

/* Wait until the set is free, and 'source' (may be NULL) for reading, at the same moment. */
static bool set_queue(native_set *set, bool change, native_set *source) {
    set_waiter self = {NULL};
    set_waiter **at = &set->waiting;
    while (*at != NULL)
        at = &(*at)->next;
    *at = &self;
    long pause = 10 * 1000;
    bool fine = true;
    while (fine && set->open && (source == NULL || source->open) &&
           (set->waiting != &self || !set_is_free(set, change) ||
            (source != NULL && !set_is_free(source, false)))) {
        fine = PyErr_CheckSignals() == 0;
        if (fine)
            set_pause(pause);
        pause = pause < 200 * 1000 ? 2 * pause : pause;
    }
    for (at = &set->waiting; *at != &self;)
        at = &(*at)->next;
    *at = self.next;
    if (fine && !set->open)
        return set_closed(set);
    if (fine && source != NULL && !source->open)
        return set_closed(source);
    return fine;
}

/* For calls that keep Python's lock: they are short, and do not queue. */
bool native_set_wait(native_set *set, bool change) {
    while (set->open && !set_is_free(set, change)) {
        if (PyErr_CheckSignals() != 0)
            return false;
        set_pause(20 * 1000);
    }
    return set->open || set_closed(set);
}

static void set_note(native_set *set, bool change) {
    if (set->readers == 0 && !set->writer) {
        set->next = set->state->in_use;
        set->link = &set->state->in_use;
        if (set->next != NULL)
            set->next->link = &set->next;
        set->state->in_use = set;
    }
    Py_INCREF(set);
    if (change && set->shared == NULL)
        set->writer = true;
    else
        set->readers++;
}

bool native_set_enter(native_set *set, bool change) {
    if (!set->open)
        return set_closed(set);
    if ((set->waiting != NULL || !set_is_free(set, change)) && set->shared == NULL &&
        !set_queue(set, change, NULL))
        return false;
    set_note(set, change);
    return true;
}

bool native_set_enter_two(native_set *set, native_set *source) {
    if (!set_queue(set, true, source))
        return false;
    set_note(set, true);
    set_note(source, false);
    return true;
}

void native_set_leave(native_set *set, bool change) {
    if (change && set->shared == NULL)
        set->writer = false;
    else
        set->readers--;
    if (set->readers == 0 && !set->writer) {
        *set->link = set->next;
        if (set->next != NULL)
            set->next->link = set->link;
        if (!set->open)
            native_set_free(set); /* closed meanwhile */
    }
    Py_DECREF(set);
}

void native_set_forked(native_state *state) {
    /* The threads that used these sets are not in the child.  What they only read is as before. */
    for (native_set *set = state->in_use; set != NULL; set = set->next) {
        if (set->writer || set->shared != NULL) {
            set->open = false;
            set->lost = true;
        }
        set->writer = false;
        set->readers = 0;
        set->waiting = NULL;
    }
    state->in_use = NULL;
}

/* ---- its life ---- */

void native_set_free(native_set *set) {
    tamis_filter *const filter = set->filter;
    tamis_shared *const shared = set->shared;
    set->open = false;
    set->filter = NULL;
    set->shared = NULL;
    tamis_filter_free(filter);
    if (!set->lost) /* else its locks are not in order */
        tamis_shared_free(shared);
    if (set->memory.obj != NULL)
        PyBuffer_Release(&set->memory);
}

/* A closed set. */
static PyObject *set_alloc(native_state *state, PyTypeObject *type) {
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *const made = make(type, 0); /* zeros */
    if (made != NULL)
        ((native_set *)made)->state = state;
    return made;
}

/* An object of a class of sets, or the one that __init__ has.  A new reference. */
static PyObject *set_target(native_state *state, PyObject *target) {
    if (PyType_Check(target) && PyType_IsSubtype((PyTypeObject *)target, state->set_type))
        return set_alloc(state, (PyTypeObject *)target);
    if (!PyType_IsSubtype(Py_TYPE(target), state->set_type)) {
        PyErr_SetString(PyExc_TypeError, "a class of sets is needed");
        return NULL;
    }
    native_set *const set = (native_set *)target;
    if (set->readers > 0 || set->writer) {
        PyErr_SetString(PyExc_RuntimeError, "the set is in use by another thread");
        return NULL;
    }
    native_set_free(set); /* __init__ was called again */
    set->lost = false;
    Py_INCREF(target);
    return target;
}

PyObject *native_set_new(native_state *state, PyObject *target, tamis_filter *filter,
                         tamis_shared *shared) {
    PyObject *const made = set_target(state, target);
    if (made == NULL) {
        tamis_filter_free(filter);
        tamis_shared_free(shared);
        return NULL;
    }
    native_set *const set = (native_set *)made;
    set->filter = filter;
    set->shared = shared;
    set->open = true;
    return made;
}

static PyObject *set_make(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)arguments;
    (void)names;
    native_state *const state = native_state_of_class(type);
    return state == NULL ? NULL : set_alloc(state, type);
}

static void set_dealloc(PyObject *self) {
    PyTypeObject *const type = Py_TYPE(self);
    native_set_free((native_set *)self); /* nobody uses it: users hold it */
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *set_close(native_set *set, PyObject *nothing) {
    (void)nothing;
    set->open = false;
    if (set->readers == 0 && !set->writer)
        native_set_free(set);
    Py_RETURN_NONE;
}

static PyObject *set_is_closed(native_set *set, void *nothing) {
    (void)nothing;
    return PyBool_FromLong(!set->open);
}

/* ---- one key ---- */

static PyObject *set_answer(bool answer) {
    PyObject *const object = answer ? Py_True : Py_False;
    Py_INCREF(object);
    return object;
}

static int set_contains(PyObject *self, PyObject *object) {
    native_set *const set = (native_set *)self;
    native_key key;
    if (!native_key_of(set->state, object, &key))
        return -1;
    int found = -1;
    if (native_set_ready(set, false)) {
        if (set->shared != NULL)
            found = key.is_number ? tamis_shared_contains_u64(set->shared, key.number)
                                  : tamis_shared_contains(set->shared, key.data, key.size);
        else
            found = key.is_number ? tamis_filter_contains_u64(set->filter, key.number)
                                  : tamis_filter_contains(set->filter, key.data, key.size);
    }
    native_key_end(&key);
    return found;
}

static tamis_digest set_digest(const native_set *set, const native_key *key) {
    const tamis_hasher *const hasher =
        set->shared != NULL ? tamis_shared_hasher(set->shared) : tamis_filter_hasher(set->filter);
    return key->is_number ? tamis_hash_u64(hasher, key->number)
                          : tamis_hash(hasher, key->data, key->size);
}

static tamis_status set_insert(native_set *set, const native_key *key, bool *added) {
    if (set->shared != NULL)
        return key->is_number ? tamis_shared_insert_u64(set->shared, key->number, added)
                              : tamis_shared_insert(set->shared, key->data, key->size, added);
    return key->is_number ? tamis_filter_insert_u64(set->filter, key->number, added)
                          : tamis_filter_insert(set->filter, key->data, key->size, added);
}

static tamis_status set_insert_value(native_set *set, const native_key *key, unsigned value,
                                     bool *added) {
    const tamis_digest digest = set_digest(set, key);
    return set->shared != NULL
               ? tamis_shared_insert_value_digest(set->shared, digest, value, added)
               : tamis_filter_insert_value_digest(set->filter, digest, value, added);
}

/* The value of add(key, value) or add(key, value=...), or NULL if there is none.  False: an error. */
static bool set_add_value(PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **value) {
    const Py_ssize_t n_names = names == NULL ? 0 : PyTuple_Size(names);
    *value = n + n_names == 2 ? args[1] : NULL;
    if (n < 1 || n + n_names > 2 ||
        (n_names == 1 &&
         PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "value") != 0)) {
        PyErr_SetString(PyExc_TypeError, "add() takes a key, and perhaps a value");
        return false;
    }
    if (*value == Py_None)
        *value = NULL;
    return true;
}

static PyObject *set_add(native_set *set, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    PyObject *value = NULL;
    uint64_t number = 0;
    if (NATIVE_RARE(n != 1 || names != NULL) && !set_add_value(args, n, names, &value))
        return NULL;
    native_key key;
    if (!native_key_of(set->state, args[0], &key))
        return NULL;
    bool added = false;
    PyObject *answer = NULL;
    if ((value == NULL || native_number(set->state, value, UINT32_MAX, "the value", &number)) &&
        native_set_ready(set, true)) {
        const tamis_status status = value == NULL
                                        ? set_insert(set, &key, &added)
                                        : set_insert_value(set, &key, (unsigned)number, &added);
        answer = NATIVE_RARE(status != TAMIS_OK) ? native_error(set->state, status, NULL)
                                                 : set_answer(added);
    }
    native_key_end(&key);
    return answer;
}

static tamis_status set_take(native_set *set, const native_key *key) {
    if (set->shared != NULL)
        return key->is_number ? tamis_shared_remove_u64(set->shared, key->number)
                              : tamis_shared_remove(set->shared, key->data, key->size);
    return key->is_number ? tamis_filter_remove_u64(set->filter, key->number)
                          : tamis_filter_remove(set->filter, key->data, key->size);
}

const char *native_removal_reason(tamis_status status) {
    return status == TAMIS_E_UNSUPPORTED
               ? "keys cannot be removed from this set: make it with deletes=True"
               : NULL;
}

static PyObject *set_remove(native_set *set, PyObject *object) {
    native_key key;
    if (!native_key_of(set->state, object, &key))
        return NULL;
    PyObject *answer = NULL;
    if (native_set_ready(set, true)) {
        const tamis_status status = set_take(set, &key);
        answer = native_done(set->state, status, native_removal_reason(status));
    }
    native_key_end(&key);
    return answer;
}

static PyObject *set_discard(native_set *set, PyObject *object) {
    native_key key;
    if (!native_key_of(set->state, object, &key))
        return NULL;
    PyObject *answer = NULL;
    if (native_set_ready(set, true)) {
        const tamis_status status = set_take(set, &key);
        answer = status == TAMIS_OK || status == TAMIS_E_NOT_FOUND
                     ? set_answer(status == TAMIS_OK)
                     : native_error(set->state, status, native_removal_reason(status));
    }
    native_key_end(&key);
    return answer;
}

static PyObject *set_copies(native_set *set, PyObject *object) {
    native_key key;
    if (!native_key_of(set->state, object, &key))
        return NULL;
    PyObject *answer = NULL;
    if (native_set_ready(set, false)) {
        const tamis_digest digest = set_digest(set, &key);
        answer = PyLong_FromUnsignedLongLong(set->shared != NULL
                                                 ? tamis_shared_copies_digest(set->shared, digest)
                                                 : tamis_filter_copies_digest(set->filter, digest));
    }
    native_key_end(&key);
    return answer;
}

static PyObject *set_value(native_set *set, PyObject *object) {
    native_key key;
    if (!native_key_of(set->state, object, &key))
        return NULL;
    PyObject *answer = NULL;
    if (native_set_ready(set, false)) {
        unsigned value = 0;
        const tamis_digest digest = set_digest(set, &key);
        const tamis_status status =
            set->shared != NULL ? tamis_shared_lookup_value_digest(set->shared, digest, &value)
                                : tamis_filter_lookup_value_digest(set->filter, digest, &value);
        answer = status != TAMIS_OK ? native_error(set->state, status, NULL)
                                    : PyLong_FromUnsignedLong(value);
    }
    native_key_end(&key);
    return answer;
}

static PyObject *set_set_value(native_set *set, PyObject *const *args, Py_ssize_t n) {
    native_key key;
    uint64_t value;
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "set_value() takes a key and a value");
        return NULL;
    }
    if (!native_key_of(set->state, args[0], &key))
        return NULL;
    PyObject *answer = NULL;
    if (native_number(set->state, args[1], UINT32_MAX, "the value", &value) &&
        native_set_ready(set, true)) {
        const tamis_digest digest = set_digest(set, &key);
        answer = native_done(
            set->state,
            set->shared != NULL
                ? tamis_shared_update_value_digest(set->shared, digest, (unsigned)value)
                : tamis_filter_update_value_digest(set->filter, digest, (unsigned)value),
            NULL);
    }
    native_key_end(&key);
    return answer;
}

static Py_ssize_t set_length(PyObject *self) {
    native_set *const set = (native_set *)self;
    if (!native_set_ready(set, false))
        return -1;
    const uint64_t n =
        set->shared != NULL ? tamis_shared_count(set->shared) : tamis_filter_count(set->filter);
    return n > (uint64_t)PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX : (Py_ssize_t)n;
}

static int set_truth(PyObject *self) {
    const Py_ssize_t n = set_length(self);
    return n < 0 ? -1 : n > 0;
}

static PyObject *set_value_bits(native_set *set, void *nothing) {
    (void)nothing;
    if (!native_set_ready(set, false))
        return NULL;
    return PyLong_FromUnsignedLong(set->shared != NULL ? tamis_shared_value_bits(set->shared)
                                                       : tamis_filter_value_bits(set->filter));
}

static PyMethodDef set_methods[] = {
    {"add", NATIVE_METHOD(set_add), METH_FASTCALL | METH_KEYWORDS,
     "add(key, value=None)\n\n"
     "Add a key: True if it was new, False if it was (probably) there already.\n\n"
     "A multiset then holds one more copy.  FullError if there is no room.  A set with values "
     "keeps 'value'\n"
     "with the key."},
    {"remove", NATIVE_METHOD(set_remove), METH_O,
     "remove(key)\n\n"
     "Remove one copy of a key that was added; NotFoundError, a KeyError, if it is certainly not "
     "there.\n\n"
     "Never remove a key that was not added: with the probability of the error rate this cannot be "
     "seen,\n"
     "and another key is lost."},
    {"discard", NATIVE_METHOD(set_discard), METH_O,
     "discard(key)\n\nLike remove(), but True, or False if the key is certainly not there."},
    {"copies", NATIVE_METHOD(set_copies), METH_O,
     "copies(key)\n\n"
     "How many copies of the key a multiset holds, never less than the true number; 0 or 1 for a "
     "set."},
    {"value", NATIVE_METHOD(set_value), METH_O,
     "value(key)\n\nThe value of a key; NotFoundError if the key is certainly not there."},
    {"set_value", NATIVE_METHOD(set_set_value), METH_FASTCALL,
     "set_value(key, value)\n\nGive a key that is in another value."},
    {"close", NATIVE_METHOD(set_close), METH_NOARGS,
     "close()\n\n"
     "Free the memory, or end the view, now, or when calls of other threads that are under way "
     "have ended.\n\n"
     "Any call after it raises ValueError, but for close()."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef set_members[] = {
    {"closed", (getter)set_is_closed, NULL, "Has close() been called?", NULL},
    {"value_bits", (getter)set_value_bits, NULL,
     "Bits of the value that is kept with each key; 0 if there is none.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject *native_set_make_type(PyObject *module) {
    PyMethodDef *const lists[] = {native_batch_methods, native_whole_methods};
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A set: the base of Filter and SharedFilter."},
        {Py_tp_new, (void *)set_make},
        {Py_tp_dealloc, (void *)set_dealloc},
        {Py_tp_methods, set_methods},
        {Py_tp_getset, set_members},
        {Py_sq_contains, (void *)set_contains},
        {Py_sq_length, (void *)set_length},
        {Py_nb_bool, (void *)set_truth},
        {0, NULL},
    };
    PyType_Spec spec = {"tamis._native.Set", (int)sizeof(native_set), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    bool fine = type != NULL;
    for (size_t i = 0; fine && i < sizeof lists / sizeof lists[0]; i++)
        for (PyMethodDef *method = lists[i]; fine && method->ml_name != NULL; method++) {
            PyObject *const made = PyDescr_NewMethod((PyTypeObject *)type, method);
            fine = made != NULL && PyObject_SetAttrString(type, method->ml_name, made) == 0;
            Py_XDECREF(made);
        }
    if (!fine)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}
