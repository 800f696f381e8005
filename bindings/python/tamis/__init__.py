"""tamis - compact sets that change

A Filter answers "is this key in the set?" from a few bits per key.  It is never wrong for a key that was added
and not removed; for a key that is not there it answers True with a small probability, the error rate, which
was promised when the filter was made.

    >>> import tamis
    >>> words = tamis.Filter(1_000_000, 0.001)      # a million keys, 1 in 1000 wrong
    >>> words.add("apple")
    True
    >>> "apple" in words
    True

A key is a str (its UTF-8), bytes or anything like them, or an integer from 0 to 2**64 - 1 (its 8 little-endian
bytes).  Many integers at a time are taken from a buffer (array('Q'), a numpy array of uint64) without a copy.

Calls keep the interpreter's lock, so that threads may share a filter as they may share a set.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import array
import ctypes
import dataclasses
import itertools
import operator
import os
import sys
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple, Union

from . import _library
from ._library import Pinned, library as _lib

__all__ = [
    "Filter", "Params", "Plan", "Info", "plan", "plans", "kinds", "abilities", "library_version",
    "Error", "ArgumentError", "NoMemoryError", "FullError", "NotFoundError", "UnsupportedError",
    "MismatchError", "ReadOnlyError", "TooLargeError", "FileError", "FormatError", "VersionError",
    "DomainError", "LockedError", "AmbiguousError",
]

Key = Union[str, bytes, bytearray, memoryview, int]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

#: The version of the library that was found.
library_version: str = _lib.tamis_version().decode()
__version__: str = _library.version or library_version

_GROUP = 8192  # keys of an iterable that are passed at a time
_COMPACT = b"\x89TAMCF\r\n"  # how the compact form begins


# --- errors -------------------------------------------------------------------------------------------


class Error(Exception):
    """What the library refused; each tamis_status has a class.  After an error everything is as before."""
    status = -1

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class ArgumentError(Error, ValueError):
    """An argument is out of its range."""
    status = 1


class NoMemoryError(Error, MemoryError):
    """There is not enough memory."""
    status = 2


class FullError(Error):
    """No room for this key.  'done' tells how many keys of a batch are in."""
    status = 3
    done = 0


class NotFoundError(Error, KeyError):
    """The key is certainly not in the filter."""
    status = 4


class UnsupportedError(Error):
    """This kind of filter cannot do that."""
    status = 5


class MismatchError(Error, ValueError):
    """Two filters differ in kind, parameters, hash or seed."""
    status = 6


class ReadOnlyError(Error):
    """The filter is a read-only view of a file; copy() makes one that can be changed."""
    status = 7


class TooLargeError(Error, OverflowError):
    """A size does not fit this machine or the limits of the format."""
    status = 8


class FileError(Error, OSError):
    """The operating system refused to read, write, map or give entropy."""
    status = 9


class FormatError(Error, ValueError):
    """The bytes are not a tamis file, or are damaged."""
    status = 10


class VersionError(FormatError):
    """The file was written by a newer version of the format."""
    status = 11


class DomainError(Error, ValueError):
    """A model was asked outside the domain where it holds."""
    status = 12


class LockedError(Error):
    """The table is open elsewhere."""
    status = 13


class AmbiguousError(Error):
    """Several links of a filter that has grown claim the key to be removed."""
    status = 14


_ERRORS = {e.status: e for e in (
    ArgumentError, NoMemoryError, FullError, NotFoundError, UnsupportedError, MismatchError,
    ReadOnlyError, TooLargeError, FileError, FormatError, VersionError, DomainError,
    LockedError, AmbiguousError)}


def _error(status: int, reason: Optional[bytes] = None) -> Error:
    text = reason or _lib.tamis_status_text(status)
    return _ERRORS.get(status, Error)(text.decode())


def _check(status: int, reason: Optional[ctypes.c_char_p] = None) -> None:
    if status != 0:
        raise _error(status, reason.value if reason is not None else None)


# --- kinds, parameters, plans -------------------------------------------------------------------------


def _known_kinds() -> Dict[str, int]:
    names = ((_lib.tamis_kind_name(number), number) for number in range(1, 256))
    return {name.decode(): number for name, number in names if name is not None}


_KINDS = _known_kinds()
_NAMES = {number: name for name, number in _KINDS.items()}
_HASHES = {_lib.tamis_hash_name(number).decode(): number for number in (1, 2)}
_HASH_NAMES = {number: name for name, number in _HASHES.items()}


def _hash_number(name: str) -> int:
    if name not in _HASHES:
        raise ArgumentError(f"no hash {name!r}; there are: {', '.join(_HASHES)}")
    return _HASHES[name]


def _set_seed(struct: _library.Params, seed: int) -> None:
    seed = operator.index(seed)
    if not 0 <= seed < 1 << 128:
        raise ArgumentError("seed is not from 0 to 2**128 - 1")
    struct.seed, struct.seed_high = seed & (1 << 64) - 1, seed >> 64


def _kind_number(kind: Optional[str]) -> int:
    if kind is None:
        return 0
    try:
        return _KINDS[kind]
    except KeyError:
        raise ArgumentError(f"no kind {kind!r}; there are: {', '.join(_KINDS)}") from None


def kinds() -> List[str]:
    """The names of all kinds of filters."""
    return list(_KINDS)


def abilities(kind: str) -> FrozenSet[str]:
    """What a kind can do: some of "remove", "count" (it is a multiset) and "merge"."""
    bits = _lib.tamis_kind_abilities(_kind_number(kind))
    return frozenset(name for i, name in enumerate(("remove", "count", "merge")) if bits >> i & 1)


def _param_names(kind: int) -> List[str]:
    names = (_lib.tamis_param_name(kind, i) for i in range(_library.PARAMS_MAX))
    return [name.decode() for name in itertools.takewhile(lambda name: name is not None, names)]


@dataclasses.dataclass(frozen=True)
class Params:
    """Exact parameters: all that is needed, with the keys, to make the same bytes again.

    'values' are those of the kind by their names, as 'tamis info' prints them.  What is missing or 0 takes its
    default; a seed of 0 is drawn at random.  The hash "aes" (the default) is for keys from anyone and has a seed of
    128 bits; "xxh3", with one of 64 bits, is for keys that nobody chooses to do harm.
    """
    kind: str
    capacity: int
    seed: int = 0
    stash: int = 0
    values: Mapping[str, int] = dataclasses.field(default_factory=dict)
    hash: str = "aes"

    def _struct(self) -> _library.Params:
        struct = _library.new(_library.Params)
        struct.kind = _kind_number(self.kind)
        struct.hash = _hash_number(self.hash)
        for name in ("capacity", "stash"):
            setattr(struct, name, _u64(getattr(self, name), name))
        _set_seed(struct, self.seed)
        names = _param_names(struct.kind)
        for name, value in self.values.items():
            if name not in names:
                raise ArgumentError(f"{self.kind} has no parameter {name!r}; it has: {', '.join(names)}")
            struct.value[names.index(name)] = _u64(value, name)
        return struct

    @classmethod
    def _from(cls, struct: _library.Params) -> Params:
        names = _param_names(struct.kind)
        return cls(_NAMES[struct.kind], struct.capacity, struct.seed | struct.seed_high << 64, struct.stash,
                   dict(zip(names, struct.value)), _HASH_NAMES[struct.hash or _HASHES["aes"]])


@dataclasses.dataclass(frozen=True)
class Plan:
    """What would be built, and what it promises.  Filter(params=plan.params) builds it."""
    params: Params
    bytes: int  #: state, stash and table
    bits_per_key: float
    bound_bits_per_key: float  #: no filter with this error rate can be smaller
    fpr: float  #: predicted error rate at capacity; at most the one asked for
    overflow_probability: float  #: that an insert up to the capacity finds no room
    lines_per_query: float  #: cache lines that a query for an absent key reads, on average
    n: int  #: keys that were asked for, or the answer
    fpr_half: float  #: predicted error rate when half the capacity is in
    lines_per_insert: float  #: cache lines that an insert touches, on average
    replacements: int  #: of all keys for which fpr holds, where it rises with them (line); else 0

    @property
    def kind(self) -> str:
        return self.params.kind


@dataclasses.dataclass(frozen=True)
class Info:
    """What a filter is and how it fares."""
    params: Params
    count: int  #: keys held, as len() tells
    bytes: int  #: state, stash and table; a file adds a header of 256 bytes
    bits_per_key: float
    fpr: float  #: error rate of a query now
    stash_used: int
    stash_size: int
    saturated: int  #: counters that have stopped counting
    load_histogram: Tuple[int, ...]
    reads_per_insert: float
    reads_per_query: float
    capacity: int  #: keys that all links are made for
    fpr_promised: float  #: of all links together; 0 if no promise was given
    n_links: int  #: 1 for a filter that has not grown
    n_shards: int  #: filters that the keys are spread over

    @property
    def kind(self) -> str:
        return self.params.kind


def _record(cls: Any, struct: Any, **changed: Any) -> Any:
    """A dataclass from the members of its names of a struct."""
    values = {f.name: getattr(struct, f.name) for f in dataclasses.fields(cls) if f.name not in changed}
    values["params"] = Params._from(struct.params)
    return cls(**{**values, **changed})


_ORDERS = {"bytes": 0, "lines": 1, "weighted": 2}


def _need(n: Optional[int], fpr: Optional[float], wishes: Mapping[str, Any]) -> _library.Need:
    """A need from keywords that are its members."""
    if n is not None and n < 1:
        raise ArgumentError("the number of keys is less than 1")
    if fpr is not None and not 0 < fpr < 1:
        raise ArgumentError("the error rate is not between 0 and 1")
    need = _library.new(_library.Need)
    need.n, need.fpr = _u64(n or 0, "n"), fpr or 0
    types = dict(_library.Need._fields_[3:])
    for name, value in wishes.items():
        if name not in types:
            raise TypeError(f"a need has no {name!r}; it has: {', '.join(types)}")
        if name == "kind":
            value = _kind_number(value)
        elif name == "hash":
            value = _hash_number(value)
        elif name == "order":
            if value not in _ORDERS:
                raise ArgumentError(f"no order {value!r}; there are: {', '.join(_ORDERS)}")
            value = _ORDERS[value]
        elif types[name] is ctypes.c_uint:
            value = _u32(value, name)
        elif types[name] is ctypes.c_uint64:
            value = _u64(value, name)
        setattr(need, name, value)
    return need


def plan(n: Optional[int] = None, fpr: Optional[float] = None, **need: Any) -> Plan:
    """The smallest filter for n keys with an error rate of at most fpr (0.01).  Nothing is built.

    'need' may say more: deletes (keys will be removed), kind (only this one), copies (of one key, to be counted),
    value_bits, bytes (a limit; without n or fpr, these are the answer), overshoot (keys beyond n, as a fraction
    of n), grows (see Filter.grow), lines_max (cache lines per query), failure_max (odds that an insert is
    refused), replacements (how often each key is replaced: with deletes, default for ever), merges (sets will be
    merged), hash ("aes" or "xxh3"), offline, and order: "bytes", "lines" or "weighted" with line_bits.  They are the members of tamis_need in tamis/plan.h.
    """
    struct = _library.new(_library.Plan)
    _check(_lib.tamis_plan_make(_need(n, fpr, need), struct))
    return _record(Plan, struct)


def plans(n: Optional[int] = None, fpr: Optional[float] = None, **need: Any) -> List[Plan]:
    """The plan of each kind that can do what is needed, the best first; see plan()."""
    structs = (_library.Plan * len(_KINDS))()
    for struct in structs:
        struct.struct_size = ctypes.sizeof(struct)
    found = ctypes.c_size_t()
    _check(_lib.tamis_plan_all(_need(n, fpr, need), structs, len(structs), found))
    return [_record(Plan, struct) for struct in structs[:found.value]]


# --- keys ---------------------------------------------------------------------------------------------


def _u64(number: int, what: str = "an integer key") -> int:
    number = operator.index(number)
    if not 0 <= number < 1 << 64:
        raise ArgumentError(f"{what} is not from 0 to 2**64 - 1")
    return number


def _u32(number: int, what: str = "the value") -> int:
    number = operator.index(number)
    if not 0 <= number < 1 << 32:
        raise ArgumentError(f"{what} is out of range")
    return number


def _key_bytes(key: Any) -> bytes:
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes):
        return key
    try:
        # Before buffers: the integers of numpy are both, and 5 is one key whatever its size.
        return _u64(key).to_bytes(8, "little")
    except TypeError:
        pass
    try:
        return bytes(memoryview(key))
    except TypeError:
        raise TypeError(f"a key is a str, bytes or an integer, not {type(key).__name__}") from None


_NATIVE = "<" if sys.byteorder == "little" else ">"
_WORD = "Q" if ctypes.sizeof(ctypes.c_void_p) == 8 else "I"


def _as_u64(keys: Any) -> Optional[memoryview]:
    """The buffer of 64-bit integers that 'keys' is; None if it is no buffer.  Other buffers are refused."""
    if isinstance(keys, (str, bytes, bytearray)):
        raise TypeError(f"many keys cannot be a {type(keys).__name__}, which is one key")
    if isinstance(keys, (list, tuple)):
        return None
    try:
        view = memoryview(keys)
    except TypeError:
        return None
    form = view.format.lstrip("@=" + _NATIVE)
    if form not in ("Q", "L", "N") or view.itemsize != 8:
        raise TypeError(f"a buffer of keys has unsigned 64-bit integers ('Q'), not {view.format!r}")
    if not view.c_contiguous:
        raise BufferError("a buffer of keys must be contiguous")
    return view


def _groups(keys: Iterable[Key]) -> Iterable[Tuple[array.array, bytes]]:
    """Keys as arrays of tamis_bytes, with the bytes that these point to."""
    rest = iter(keys)
    while True:
        parts = [_key_bytes(key) for key in itertools.islice(rest, _GROUP)]
        if not parts:
            return
        joined = b"".join(parts)
        at = ctypes.cast(ctypes.c_char_p(joined), ctypes.c_void_p).value or 0
        group = array.array(_WORD)
        for part in parts:
            group.append(at)
            group.append(len(part))
            at += len(part)
        yield group, joined


def _answers(answers: bytearray) -> memoryview:
    return memoryview(answers).toreadonly().cast("?")


def _path(path: Path) -> bytes:
    data = os.fsencode(path)
    if b"\0" in data:
        raise ValueError("embedded null byte")
    return data


# --- filters ------------------------------------------------------------------------------------------


class _Handle(ctypes.c_void_p):
    """The filter of the library, freed with the last reference.

    Every call holds one, so that close() meanwhile, by another thread or by what a key, a value or a path does when
    it is asked for its content, never frees what is in use.
    """

    def __del__(self, _free: Any = _lib.tamis_filter_free) -> None:
        _free(self.value)


class Filter:
    """A set of keys with a promised error rate.

    Filter(n, fpr) plans a filter for n keys with an error rate of at most fpr (0.01) and makes it: 'deletes' if
    keys will be removed, 'kind' for one kind only, and all that plan() takes.  Filter(params=...) makes exactly
    what the parameters say.  'seed' is for sets that shall be merged; it is random unless given.
    """

    __slots__ = ("_handle", "__weakref__")
    _handle: _Handle

    def __init__(self, n: Optional[int] = None, fpr: Optional[float] = None, *, seed: int = 0,
                 params: Optional[Params] = None, **need: Any) -> None:
        if params is None:
            params = plan(n, fpr, **need).params
        elif n is not None or fpr is not None or need:
            raise TypeError("Filter() takes either what is needed or params")
        struct = params._struct()
        if seed:
            _set_seed(struct, seed)
        out = ctypes.c_void_p()
        _check(_lib.tamis_filter_create(struct, None, out))
        self._take(out)

    def _take(self, handle: ctypes.c_void_p) -> None:
        self._handle = _Handle(handle.value)

    @classmethod
    def _of(cls, handle: ctypes.c_void_p) -> Filter:
        made = cls.__new__(cls)
        made._take(handle)
        return made

    def __getattr__(self, name: str) -> Any:
        # Reached for what is not there: a closed filter has no handle any more.
        if name == "_handle":
            raise ValueError("the filter is closed")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def close(self) -> None:
        """Free the memory, or end the view, now, or when calls of other threads that are under way have ended.

        Any call after it raises ValueError, but for close().
        """
        try:
            del self._handle
        except AttributeError:
            pass

    @property
    def closed(self) -> bool:
        try:
            return not self._handle
        except ValueError:
            return True

    def __enter__(self) -> Filter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # One key

    def add(self, key: Key, value: Optional[int] = None) -> bool:
        """Add a key: True if it was new, False if it was (probably) there already.

        A multiset then holds one more copy.  FullError if there is no room.  A filter with values keeps 'value'
        with the key.
        """
        added = ctypes.c_bool()
        if value is not None:
            data, number = _key_bytes(key), _u32(value)
            status = _lib.tamis_filter_insert_value(self._handle, data, len(data), number, added)
        elif type(key) is int and 0 <= key < 1 << 64:
            status = _lib.tamis_filter_insert_u64(self._handle, key, added)
        else:
            data = _key_bytes(key)
            status = _lib.tamis_filter_insert(self._handle, data, len(data), added)
        if status:
            raise _error(status)
        return added.value

    def __contains__(self, key: Key) -> bool:
        if type(key) is int and 0 <= key < 1 << 64:
            return _lib.tamis_filter_contains_u64(self._handle, key)
        data = _key_bytes(key)
        return _lib.tamis_filter_contains(self._handle, data, len(data))

    def _remove(self, key: Key) -> int:
        if type(key) is int and 0 <= key < 1 << 64:
            return _lib.tamis_filter_remove_u64(self._handle, key)
        data = _key_bytes(key)
        return _lib.tamis_filter_remove(self._handle, data, len(data))

    def remove(self, key: Key) -> None:
        """Remove one copy of a key that was added; NotFoundError, a KeyError, if it is certainly not there.

        Never remove a key that was not added: with the probability of the error rate this cannot be seen, and
        another key is lost.
        """
        _check(self._remove(key))

    def discard(self, key: Key) -> bool:
        """Like remove(), but False if the key is certainly not there."""
        status = self._remove(key)
        if status == NotFoundError.status:
            return False
        _check(status)
        return True

    def copies(self, key: Key) -> int:
        """How many copies of the key a multiset holds, never less than the true number; 0 or 1 for a set."""
        data = _key_bytes(key)
        return _lib.tamis_filter_copies(self._handle, data, len(data))

    # Values

    @property
    def value_bits(self) -> int:
        """Bits of the value that is kept with each key (parameter value_bits of rank); 0 if there is none."""
        return _lib.tamis_filter_value_bits(self._handle)

    def value(self, key: Key) -> int:
        """The value of a key; NotFoundError if the key is certainly not there."""
        data, out = _key_bytes(key), ctypes.c_uint()
        _check(_lib.tamis_filter_lookup_value(self._handle, data, len(data), out))
        return out.value

    def set_value(self, key: Key, value: int) -> None:
        """Give a key that is in another value."""
        data, number = _key_bytes(key), _u32(value)
        _check(_lib.tamis_filter_update_value(self._handle, data, len(data), number))

    # Many keys

    def _batch(self, name: str, keys: Any, want: bool) -> Tuple[int, bytearray]:
        """Call one of the functions for many keys; how many it did, and the answers if they are wanted."""
        function = getattr(_lib, "tamis_filter_" + name)
        view = _as_u64(keys)
        if view is not None:
            function = getattr(_lib, "tamis_filter_" + name + "_u64")
            return self._call(function, view, view.nbytes // 8, want, 0)
        done, answers = 0, bytearray()
        for group, _held in _groups(keys):
            n, some = self._call(function, group, len(group) // 2, want, done)
            done += n
            answers += some
        return done, answers

    def _call(self, function: Any, keys: Any, n: int, want: bool, before: int) -> Tuple[int, bytearray]:
        answers = bytearray(n if want else 0)
        with Pinned(keys) as at, Pinned(answers) as out:
            arguments = (self._handle, at.address, n, out.address if want else None)
            if function.restype is ctypes.c_size_t:
                return function(*arguments), answers
            done = ctypes.c_size_t()
            status = function(*arguments, done)
        if status:
            error = _error(status)
            if isinstance(error, FullError):
                error.done = before + done.value
            raise error
        return done.value, answers

    def add_many(self, keys: Iterable[Key]) -> memoryview:
        """Add keys in order, and tell which were new: a memoryview of bools.

        A buffer of unsigned 64-bit integers is used in place.  FullError if a key finds no room: 'done' keys
        before it are in.
        """
        return _answers(self._batch("insert_many", keys, True)[1])

    def contains_many(self, keys: Iterable[Key]) -> memoryview:
        """Which of the keys are (probably) in: a memoryview of bools.  Buffers as in add_many()."""
        return _answers(self._batch("contains_many", keys, True)[1])

    def count_many(self, keys: Iterable[Key]) -> int:
        """How many of the keys are (probably) in."""
        return self._batch("contains_many", keys, False)[0]

    def remove_many(self, keys: Iterable[Key]) -> memoryview:
        """Remove one copy of each key; False where it was certainly not there.  Buffers as in add_many()."""
        return _answers(self._batch("remove_many", keys, True)[1])

    def update(self, *others: Union[Filter, Iterable[Key]]) -> None:
        """Add all keys of iterables and buffers, and merge filters."""
        for other in others:
            if isinstance(other, Filter):
                self.merge(other)
            else:
                self._batch("insert_many", other, False)

    # Whole filters

    def __len__(self) -> int:
        return _lib.tamis_filter_count(self._handle)

    def merge(self, other: Filter) -> None:
        """Add all keys of a filter of the same parameters and seed, else MismatchError.

        If one of both grows, kind and seed are enough; FullError if the promise has no room for both.
        """
        if not isinstance(other, Filter):
            raise TypeError(f"only filters can be merged, not {type(other).__name__}")
        _check(_lib.tamis_filter_merge(self._handle, other._handle))

    def __or__(self, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        made = self.copy()
        made.merge(other)
        return made

    def __ior__(self, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        self.merge(other)
        return self

    def copy(self) -> Filter:
        """A copy with its own memory, writable even if this is a view."""
        out = ctypes.c_void_p()
        _check(_lib.tamis_filter_clone(self._handle, None, out))
        return self._of(out)

    __copy__ = copy

    def __deepcopy__(self, _memo: object) -> Filter:
        return self.copy()

    def clear(self) -> None:
        """Remove all keys; parameters and seed stay."""
        _check(_lib.tamis_filter_clear(self._handle))

    def grow(self, n: int = 0, fpr: float = 0.0) -> None:
        """Add a link for n more keys, to which new keys go from now on; 0: twice as many as the largest has.

        'fpr' is promised for all links together; 0: as before, or twice the error rate now.
        """
        growth = _library.new(_library.Growth)
        growth.n, growth.fpr = _u64(n, "n"), fpr
        _check(_lib.tamis_filter_grow(self._handle, growth))

    def allow_growth(self, fpr: float = 0.0, *, automatic: bool = True) -> None:
        """Let the filter add a link by itself whenever the newest has the keys that it was made for.

        The promise is stored in files, whether it grows by itself is not: who opens one calls this again.
        """
        growth = _library.new(_library.Growth)
        growth.fpr, growth.automatic = fpr, automatic
        _check(_lib.tamis_filter_allow_growth(self._handle, growth))

    @property
    def params(self) -> Params:
        """The parameters, complete: Filter(params=f.params) can be merged with f."""
        struct = _library.new(_library.Params)
        _check(_lib.tamis_filter_params(self._handle, struct))
        return Params._from(struct)

    @property
    def kind(self) -> str:
        return self.params.kind

    def info(self) -> Info:
        """What the filter is and how it fares.  Reads the whole table."""
        struct = _library.new(_library.Info)
        _check(_lib.tamis_filter_info(self._handle, struct))
        return _record(Info, struct, load_histogram=tuple(struct.load_histogram[:struct.n_loads]))

    def __repr__(self) -> str:
        if self.closed:
            return "<tamis.Filter, closed>"
        params = self.params
        return f"<tamis.Filter {params.kind} for {params.capacity} keys, {len(self)} in>"

    # Files

    def save(self, path: Path, *, compact: bool = False) -> None:
        """Save to a file, atomically.  'compact': without what is empty (rank and rank-counting only)."""
        to, reason = _path(path), ctypes.c_char_p()
        save = _lib.tamis_filter_compact_save if compact else _lib.tamis_filter_save
        _check(save(self._handle, to, reason), reason)

    @classmethod
    def open(cls, path: Path, *, mmap: bool = False) -> Filter:
        """Load a file; with mmap a read-only view, so that many processes share one copy in memory.

        FormatError, which says why, if the file is damaged or no tamis file.
        """
        out, reason = ctypes.c_void_p(), ctypes.c_char_p()
        fd = os.open(path, os.O_RDONLY)  # raises what Python programs expect: FileNotFoundError and others
        try:
            if mmap:
                status = _lib.tamis_filter_map(_path(path), None, out, reason)
            else:
                status = _lib.tamis_filter_load_fd(fd, None, out, reason)
        finally:
            os.close(fd)
        _check(status, reason)
        return cls._of(out)

    def to_bytes(self, *, compact: bool = False) -> bytes:
        """The bytes that save() would write."""
        size_of, write = _lib.tamis_filter_encoded_size, _lib.tamis_filter_encode
        if compact:
            size_of, write = _lib.tamis_filter_compact_size, _lib.tamis_filter_compact_encode
        handle = self._handle
        buffer = bytearray(size_of(handle))
        with Pinned(buffer) as at:
            _check(write(handle, at.address, len(buffer)))
        return bytes(buffer)

    @classmethod
    def from_bytes(cls, data: Any) -> Filter:
        """Make a filter from what to_bytes() gave, in any contiguous buffer."""
        out, reason = ctypes.c_void_p(), ctypes.c_char_p()
        with Pinned(data) as at:
            compact = ctypes.string_at(at.address, min(8, at.size)) == _COMPACT
            read = _lib.tamis_filter_compact_decode if compact else _lib.tamis_filter_decode
            status = read(at.address, at.size, None, out, reason)
        _check(status, reason)
        return cls._of(out)

    def __reduce__(self) -> Tuple[Any, Tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)
