"""Sets: Filter, and SharedFilter for many threads.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import datetime
import decimal
import operator
import os
import pickle
import uuid
from typing import Any, Iterable, Optional, Tuple, Type, TypeVar, Union

from . import _native
from ._errors import ArgumentError
from ._plans import (
    Info,
    Params,
    Window,
    choice,
    html,
    plan,
    plan_shared,
    record,
    split_seed,
    with_needs,
)

Key = Union[str, bytes, bytearray, memoryview, int, datetime.date, uuid.UUID, decimal.Decimal]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Self = TypeVar("Self", bound="_Set")

FORMS = {"unknown": 0, "bytes": 1, "u64": 2}
_FORM_NAMES = {number: name for name, number in FORMS.items()}


def path_bytes(path: Path) -> bytes:
    """A path as the system takes it."""
    data = os.fsencode(path)
    if b"\0" in data:
        raise ValueError("embedded null byte")
    return data


def _params(params: Optional[Params], planned: Any, seed: int, given: bool) -> dict:
    """Parameters for the native module, with the seed."""
    if params is None:
        params = planned()
    elif given:
        raise TypeError("a set is made of either what is needed or params")
    told = params._dict()
    if seed:
        told.update(split_seed(seed))
    return told


class _Set(_native.Set):
    """What Filter and SharedFilter have in common."""

    __slots__ = ("__weakref__",)
    _shared = False

    # What __init__ gives to the native module must be the object itself: subclasses have arguments of their own.

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, *others: Union[_Set, Iterable[Key]]) -> None:
        """Add all keys of iterables, buffers and arrays, and merge filters."""
        for other in others:
            if isinstance(other, _Set):
                self.merge(other)
            else:
                self._insert_many(other)

    # Whole sets

    def merge(self, other: _Set, beyond: bool = False) -> None:
        """Add all keys of a set of the same parameters and seed, else MismatchError.  If one of both grows, kind and seed
        are enough.

        PromiseError, and nothing has changed, if the union would err more often than was promised: of two sets of n
        keys each there are up to 2 n.  'beyond' permits it.  The operators | and |=, and update(), do not.
        """
        if not isinstance(other, _Set):
            raise TypeError(f"only filters can be merged, not {type(other).__name__}")
        self._merge(other, bool(beyond))

    def __or__(self: Self, other: _Set) -> Self:
        if not isinstance(other, _Set):
            return NotImplemented
        made = self.copy()
        made.merge(other)
        return made

    def __ior__(self: Self, other: _Set) -> Self:
        if not isinstance(other, _Set):
            return NotImplemented
        self.merge(other)
        return self

    def copy(self: Self) -> Self:
        """A copy with its own memory, which can be changed even if this is a view."""
        return self._copy(type(self), self._shared)

    def __copy__(self: Self) -> Self:
        return self.copy()

    def __deepcopy__(self: Self, _memo: object) -> Self:
        return self.copy()

    def grow(self, n: int = 0, fpr: float = 0) -> None:
        """Add a link for n keys (0: twice those of the largest), so that all together keep the error rate fpr
        (0: as before).  PromiseError if nothing of that promise is left."""
        self._grow({"n": n, "fpr": fpr}, True)

    def allow_growth(self, fpr: float = 0, *, automatic: bool = True) -> None:
        """Promise an error rate of fpr for all links together, and let it grow by itself when it has the keys that
        it was made for.

        The promise is stored in files, whether it grows by itself is not: who opens one calls this again.
        """
        self._grow({"fpr": fpr, "automatic": automatic}, False)

    def tick(self) -> None:
        """Begin the next tick of a window: what was last added 'ticks' before it is forgotten."""
        self._tick()

    @property
    def params(self) -> Params:
        """The parameters, complete: Filter(params=f.params) can be merged with f."""
        return Params._from(self._params()[0])

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.params.kind

    @property
    def key_form(self) -> str:
        """What the keys are, for those who come to ask: "bytes", "u64" or "unknown".  Kept in files; the command
        line refuses keys of another form.  The calls for keys do not look at it."""
        return _FORM_NAMES[self._key_form()]

    @key_form.setter
    def key_form(self, form: str) -> None:
        self._set_key_form(choice(form, FORMS, "form of keys"))

    def info(self) -> Info:
        """What the set is and how it fares.  Reads the whole table."""
        told, n_loads = self._info()
        return record(Info, told, load_histogram=told["load_histogram"][:n_loads],
                      bits_per_key=told["bits_per_key"] if told["count"] else None)

    def __sizeof__(self) -> int:
        # Schedulers decide by it what is moved to what.
        return object.__sizeof__(self) + (0 if self.closed else self._bytes())

    def __repr__(self) -> str:
        name = f"tamis.{type(self).__name__}"
        if self.closed:
            return f"<{name}, closed>"
        told, shards = self._params()
        params = Params._from(told)
        within = f" in {shards} shards" if shards > 1 else ""
        keys = params.capacity * max(shards, 1)
        return f"<{name} {params.kind}{within} for {keys} keys, {len(self)} in>"

    def _repr_html_(self) -> str:
        """A small table, as notebooks show it.  Reads none of the set."""
        if self.closed:
            return html(f"tamis.{type(self).__name__}", {"state": "closed"})
        told, shards = self._params()
        params = Params._from(told)
        rows = {"kind": params.kind, "keys": f"{len(self):,}", "made for": f"{params.capacity * max(shards, 1):,}"}
        if self._bytes():
            rows["bytes"] = f"{self._bytes():,}"
        if shards > 1:
            rows["shards"] = f"{shards}"
        rows.update(hash=params.hash, key_form=self.key_form)
        return html(f"tamis.{type(self).__name__}", rows)

    # Files

    def save(self, path: Path, *, compact: bool = False) -> None:
        """Save to a file, atomically.  'compact': without what is empty (rank and rank-counting only)."""
        self._save(path_bytes(path), compact)

    def to_bytes(self, *, compact: bool = False) -> bytes:
        """The bytes that save() would write."""
        return self._to_bytes(compact)

    @classmethod
    def from_bytes(cls: Type[Self], data: Any) -> Self:
        """Make a set from what to_bytes() gave, in any contiguous buffer.  FormatError, which says why, for bytes
        that are damaged or come from elsewhere."""
        return _native.decode(cls, data, cls._shared)

    def __reduce_ex__(self, protocol: Any) -> Tuple[Any, Tuple[Any]]:
        data = self.to_bytes()
        # From protocol 5 on who pickles may take the bytes as they are, without a copy.
        return type(self).from_bytes, (pickle.PickleBuffer(data) if protocol >= 5 else data,)


class Filter(_Set):
    """A set of keys with a promised error rate.

    Filter(n, fpr) plans a filter for n keys with an error rate of at most fpr (0.01) and makes it: 'deletes' if
    keys will be removed, 'merges' if sets will be merged, 'kind' for one kind only, and all that plan() takes.
    Filter(params=...) makes exactly what the parameters say.  'seed' is for sets that shall be merged; it is random
    unless given.

    Threads may share a filter: a call waits while another thread is inside one that changes it.  Batches let other
    threads of Python run; sets that several threads fill at a time are SharedFilter.
    """

    __slots__ = ()

    @with_needs()
    def __init__(self, n: Optional[int] = None, fpr: Optional[float] = None, *, seed: int = 0,
                 params: Optional[Params] = None, **needs: Any) -> None:
        """Plan a set and make it, empty."""
        told = _params(params, lambda: plan(n, fpr, **needs).params, seed,
                       n is not None or fpr is not None or bool(needs))
        _native.create(self, told, 0)

    @classmethod
    @with_needs("offline")
    def build(cls, keys: Any, fpr: Optional[float] = None, *, seed: int = 0, params: Optional[Params] = None,
              passes: int = 0, **needs: Any) -> Filter:
        """Make a filter of all keys at once.  The kind dleft places them better so, and errs about half as often.

        'keys' is taken as add_many() takes it; each key should be there once.  The digests of all keys are in memory
        meanwhile, 16 bytes each.  'passes' is how often every key is placed anew (10).  An iterator needs n=..., the
        number of its keys.
        """
        if params is None:
            n = needs.pop("n", None)
            params = plan(len(keys) if n is None else n, fpr, offline=True, **needs).params
        elif fpr is not None or needs:
            raise TypeError("a set is made of either what is needed or params")
        told = params.seeded(seed)._dict()
        return _native.build(cls, told, _native.digests(told, keys), _u32(passes, "passes"))

    def refresh(self, keys: Any) -> None:
        """Make the filter anew of the keys that are in it: what a multiset has lost by keys that came and went
        (line, dleft-dynamic) comes back.  MismatchError if they are not the keys that are in."""
        self._refresh(_native.digests(self._params()[0], keys))

    def step(self, buckets: int) -> int:
        """Clear up to so many buckets of a window of what is forgotten; how many are left."""
        return self._step(buckets)

    def window(self) -> Window:
        """What a window is like.  Reads the whole set."""
        told = self._window()
        return record(Window, told, ages=told["ages"][:told["ticks"] + 1])

    @classmethod
    def open(cls, path: Path, *, mmap: bool = False, trusted: bool = False) -> Filter:
        """Load a file: a copy in memory.  With mmap a read-only view of the file itself, so that many processes share
        one copy in memory.

        A file that is mapped must be neither made shorter nor changed in place while the view lives, by anyone: a
        process that reads where it has ended is ended by the system (SIGBUS).  save() replaces files, which does no
        harm.
        FormatError, which says why, if the file is damaged or no tamis file.  A mapped set of more than 64 KiB is
        not read at once: its parts are verified as queries touch them.  Keys of a damaged part are answered True,
        and 'damage' tells of it; verify() looks at all parts.  'trusted', with mmap: queries verify nothing.
        """
        if trusted and not mmap:
            raise ValueError("trusted: only with mmap")
        fd = os.open(path, os.O_RDONLY)  # raises what Python programs expect: FileNotFoundError and others
        try:
            if mmap:
                return _native.map(cls, path_bytes(path), trusted)
            return _native.load(cls, fd, False)
        finally:
            os.close(fd)

    def verify(self) -> None:
        """Verify all of a mapped set that was not verified yet.  FormatError if part of it is damaged."""
        self._verify()

    @property
    def damage(self) -> int:
        """How many parts of a mapped set were found to be damaged so far."""
        return self._damage()

    @classmethod
    def view(cls, data: Any) -> Filter:
        """A read-only view that answers from the bytes in 'data' itself: of shared memory, say.  'data' must be
        aligned to 8 bytes (64 is faster) and must be neither changed nor, if it is a map of a file, made shorter; it is
        held until the view is closed."""
        return _native.view(cls, data)

    def share(self) -> SharedFilter:
        """A copy that many threads may use."""
        return self._copy(SharedFilter, True)


class SharedFilter(_Set):
    """A set that many threads may add to, ask, remove from and save at the same time.

    SharedFilter(n, fpr, threads=4) plans a set for so many threads at a time.  It has the calls of Filter.  Batches run
    in parallel: they do not hold the interpreter's lock, and threads that work on different parts of the set do not
    wait for each other.  A batch is not one transaction: each key by itself has its moment.
    """

    __slots__ = ()
    _shared = True

    @with_needs()
    def __init__(self, n: Optional[int] = None, fpr: Optional[float] = None, *, threads: int = 2, seed: int = 0,
                 params: Optional[Params] = None, shards: int = 1, **needs: Any) -> None:
        """Plan a set for so many threads at a time, and make it, empty."""
        if params is None:
            planned = plan_shared(n, fpr, threads=threads, **needs)
            params, shards = planned.params, planned.shards
        elif n is not None or fpr is not None or needs:
            raise TypeError("a set is made of either what is needed or params")
        if not 1 <= operator.index(shards) <= 1024:
            raise ArgumentError("shards are 1 to 1024")
        _native.create(self, _params(params, None, seed, False), shards)

    @property
    def shards(self) -> int:
        """Filters that the keys are spread over; 1 if all share one, line by line."""
        return self._params()[1]

    def snapshot(self) -> Filter:
        """A Filter with the keys that are in at one moment."""
        return self._copy(Filter, False)

    @classmethod
    def open(cls, path: Path) -> SharedFilter:
        """Load a file, of a shared or of an ordinary set."""
        fd = os.open(path, os.O_RDONLY)
        try:
            return _native.load(cls, fd, True)
        finally:
            os.close(fd)


def _u32(number: int, what: str) -> int:
    number = operator.index(number)
    if not 0 <= number < 1 << 32:
        raise ArgumentError(f"{what} is out of range")
    return number
