"""The shared library: how it is found, its structs and its functions, as the headers declare them.

Nothing here is part of the module's interface.  tests/python compares structs and functions with the headers.

SPDX-License-Identifier: MIT
"""
import ctypes
import os
import pathlib
from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_int,
    c_size_t,
    c_ssize_t,
    c_uint,
    c_uint64,
    c_void_p,
)

try:
    from ._version import soname, version  # type: ignore
except ImportError:  # not installed: used from the source tree
    soname = version = None

PARAMS_MAX = 16
LOADS_MAX = 64


class Params(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int),
        ("hash", c_int),
        ("capacity", c_uint64),
        ("seed", c_uint64),
        ("seed_high", c_uint64),
        ("stash", c_uint64),
        ("value", c_uint64 * PARAMS_MAX),
    ]


class Need(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("n", c_uint64),
        ("fpr", c_double),
        ("kind", c_int),
        ("deletes", c_bool),
        ("offline", c_bool),
        ("grows", c_bool),
        ("copies", c_uint),
        ("value_bits", c_uint),
        ("order", c_int),
        ("bytes", c_uint64),
        ("overshoot", c_double),
        ("lines_max", c_double),
        ("failure_max", c_double),
        ("line_bits", c_double),
        ("replacements", c_uint),
        ("merges", c_bool),
        ("hash", c_int),
        ("ticks", c_uint),
    ]


class Plan(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("params", Params),
        ("bytes", c_uint64),
        ("bits_per_key", c_double),
        ("bound_bits_per_key", c_double),
        ("fpr", c_double),
        ("overflow_probability", c_double),
        ("lines_per_query", c_double),
        ("n", c_uint64),
        ("fpr_half", c_double),
        ("lines_per_insert", c_double),
        ("replacements", c_uint64),
    ]


class Info(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("params", Params),
        ("count", c_uint64),
        ("bytes", c_uint64),
        ("bits_per_key", c_double),
        ("fpr", c_double),
        ("stash_used", c_uint64),
        ("stash_size", c_uint64),
        ("saturated", c_uint64),
        ("n_loads", c_size_t),
        ("load_histogram", c_uint64 * LOADS_MAX),
        ("reads_per_insert", c_double),
        ("reads_per_query", c_double),
        ("capacity", c_uint64),
        ("fpr_promised", c_double),
        ("n_links", c_uint),
        ("n_shards", c_uint),
    ]


class Growth(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("fpr", c_double),
        ("n", c_uint64),
        ("automatic", c_bool),
    ]


class Bytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


# The structs by their names in C.
STRUCTS = {
    "tamis_params": Params,
    "tamis_need": Need,
    "tamis_plan": Plan,
    "tamis_info": Info,
    "tamis_growth": Growth,
    "tamis_bytes": Bytes,
}


def new(struct):
    """A struct as its _init function leaves it: zeros, and its size."""
    return struct(struct_size=ctypes.sizeof(struct))


_filter = c_void_p
_filter_out = POINTER(c_void_p)
_reason = POINTER(c_char_p)
_status = c_int

# Functions of the library: result, arguments.  A pointer to keys, answers or bytes is an address.
FUNCTIONS = {
    "tamis_status_text": (c_char_p, [_status]),
    "tamis_version": (c_char_p, []),
    "tamis_hash_name": (c_char_p, [c_int]),
    "tamis_kind_name": (c_char_p, [c_int]),
    "tamis_kind_parse": (_status, [c_char_p, POINTER(c_int)]),
    "tamis_kind_abilities": (c_uint, [c_int]),
    "tamis_param_name": (c_char_p, [c_int, c_uint]),
    "tamis_plan_make": (_status, [POINTER(Need), POINTER(Plan)]),
    "tamis_plan_all": (_status, [POINTER(Need), POINTER(Plan), c_size_t, POINTER(c_size_t)]),
    "tamis_filter_create": (_status, [POINTER(Params), c_void_p, _filter_out]),
    "tamis_filter_clone": (_status, [_filter, c_void_p, _filter_out]),
    "tamis_filter_free": (None, [_filter]),
    "tamis_filter_insert": (_status, [_filter, c_char_p, c_size_t, POINTER(c_bool)]),
    "tamis_filter_insert_u64": (_status, [_filter, c_uint64, POINTER(c_bool)]),
    "tamis_filter_contains": (c_bool, [_filter, c_char_p, c_size_t]),
    "tamis_filter_contains_u64": (c_bool, [_filter, c_uint64]),
    "tamis_filter_remove": (_status, [_filter, c_char_p, c_size_t]),
    "tamis_filter_remove_u64": (_status, [_filter, c_uint64]),
    "tamis_filter_copies": (c_uint64, [_filter, c_char_p, c_size_t]),
    "tamis_filter_copies_u64": (c_uint64, [_filter, c_uint64]),
    "tamis_filter_insert_many": (_status, [_filter, c_void_p, c_size_t, c_void_p, POINTER(c_size_t)]),
    "tamis_filter_insert_many_u64":
        (_status, [_filter, c_void_p, c_size_t, c_void_p, POINTER(c_size_t)]),
    "tamis_filter_contains_many": (c_size_t, [_filter, c_void_p, c_size_t, c_void_p]),
    "tamis_filter_contains_many_u64": (c_size_t, [_filter, c_void_p, c_size_t, c_void_p]),
    "tamis_filter_remove_many": (_status, [_filter, c_void_p, c_size_t, c_void_p, POINTER(c_size_t)]),
    "tamis_filter_remove_many_u64":
        (_status, [_filter, c_void_p, c_size_t, c_void_p, POINTER(c_size_t)]),
    "tamis_filter_value_bits": (c_uint, [_filter]),
    "tamis_filter_insert_value": (_status, [_filter, c_char_p, c_size_t, c_uint, POINTER(c_bool)]),
    "tamis_filter_lookup_value": (_status, [_filter, c_char_p, c_size_t, POINTER(c_uint)]),
    "tamis_filter_update_value": (_status, [_filter, c_char_p, c_size_t, c_uint]),
    "tamis_filter_count": (c_uint64, [_filter]),
    "tamis_filter_params": (_status, [_filter, POINTER(Params)]),
    "tamis_filter_clear": (_status, [_filter]),
    "tamis_filter_merge": (_status, [_filter, _filter]),
    "tamis_filter_info": (_status, [_filter, POINTER(Info)]),
    "tamis_filter_grow": (_status, [_filter, POINTER(Growth)]),
    "tamis_filter_allow_growth": (_status, [_filter, POINTER(Growth)]),
    "tamis_filter_encoded_size": (c_uint64, [_filter]),
    "tamis_filter_encode": (_status, [_filter, c_void_p, c_size_t]),
    "tamis_filter_decode": (_status, [c_void_p, c_size_t, c_void_p, _filter_out, _reason]),
    "tamis_filter_save": (_status, [_filter, c_char_p, _reason]),
    "tamis_filter_load_fd": (_status, [c_int, c_void_p, _filter_out, _reason]),
    "tamis_filter_map": (_status, [c_char_p, c_void_p, _filter_out, _reason]),
    "tamis_filter_compact_size": (c_uint64, [_filter]),
    "tamis_filter_compact_encode": (_status, [_filter, c_void_p, c_size_t]),
    "tamis_filter_compact_save": (_status, [_filter, c_char_p, _reason]),
    "tamis_filter_compact_decode": (_status, [c_void_p, c_size_t, c_void_p, _filter_out, _reason]),
}


def _candidates():
    """Names to load, in this order."""
    named = os.environ.get("TAMIS_LIBRARY")
    if named:
        return [named]
    names = [soname] if soname else ["libtamis.so"]
    # What was installed below the same prefix, where the loader does not look by itself.
    beside = pathlib.Path(__file__).resolve().parents[3] / names[0]
    return names + [str(beside)]


def _load():
    faults = []
    for name in _candidates():
        try:
            # The calls keep the interpreter's lock: two threads cannot change one filter at a time.
            library = ctypes.PyDLL(name)
        except OSError as fault:
            faults.append(str(fault))
            continue
        for function, (result, arguments) in FUNCTIONS.items():
            try:
                bound = getattr(library, function)
            except AttributeError:
                raise ImportError(f"{name} has no {function}: it is another version of libtamis") from None
            bound.restype, bound.argtypes = result, arguments
        found = library.tamis_version().decode()
        if version and found.split(".")[:2] != version.split(".")[:2]:
            raise ImportError(f"{name} is libtamis {found}, this module needs {version}")
        return library
    raise ImportError("libtamis was not found; TAMIS_LIBRARY can name it (" + "; ".join(faults) + ")")


library = _load()


class _Buffer(Structure):
    """Py_buffer of Python's stable interface."""
    _fields_ = [
        ("buf", c_void_p),
        ("obj", ctypes.py_object),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


_get_buffer = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(_Buffer), c_int)(
    ("PyObject_GetBuffer", ctypes.pythonapi))
_release_buffer = ctypes.PYFUNCTYPE(None, POINTER(_Buffer))(("PyBuffer_Release", ctypes.pythonapi))


class Pinned:
    """The address of the bytes of a contiguous buffer, also a read-only one, held while in use."""

    def __init__(self, buffer):
        self._buffer = _Buffer()
        _get_buffer(buffer, ctypes.byref(self._buffer), 0)  # raises BufferError
        self.address, self.size = self._buffer.buf, self._buffer.len

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _release_buffer(ctypes.byref(self._buffer))
