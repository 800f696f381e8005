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

A key is a str (its UTF-8), bytes or anything like them, an integer from 0 to 2**64 - 1 (its 8 little-endian bytes),
or a date, a datetime, a UUID or a Decimal, which are the text that docs/keys.md says.  Many keys at a time come from any iterable, or without an object per key from a buffer: array('Q'), an array
of numpy of integers, bytes or text, a column of pandas, tamis.Offsets.

Threads may share a Filter as they may share a set; batches run without the interpreter's lock.  A SharedFilter is
filled and asked by several threads at the same time.  A Table maps keys to values exactly, in a file or in memory.
tamis.dask builds and uses sets on many machines.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import os
from typing import Union

from . import _native
from . import _errors
from ._arrays import Offsets, resolve as _resolve
from ._keys import text as _text
from ._errors import (
    AmbiguousError,
    ArgumentError,
    DomainError,
    Error,
    FileError,
    FormatError,
    FullError,
    LockedError,
    MismatchError,
    NoMemoryError,
    NotFoundError,
    PromiseError,
    ReadOnlyError,
    TooLargeError,
    UnsupportedError,
    VersionError,
)

_native.setup(_errors.by_status(), _resolve, _text)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_native.forked)

from ._plans import (  # noqa: E402  (errors must be known before plans are made)
    Info,
    Params,
    Plan,
    SharedPlan,
    Window,
    abilities,
    kinds,
    plan,
    plan_shared,
    plans,
)
from ._sets import Filter, Key, Path, SharedFilter  # noqa: E402
from ._table import Table, TableInfo, plan_table, summaries  # noqa: E402

__all__ = [
    "Filter", "SharedFilter", "Table", "Offsets", "Params", "Plan", "SharedPlan", "Info", "TableInfo", "Window",
    "plan", "plans", "plan_shared", "plan_table", "kinds", "abilities", "summaries", "library_version",
    "Error", "ArgumentError", "NoMemoryError", "FullError", "NotFoundError", "UnsupportedError",
    "MismatchError", "ReadOnlyError", "TooLargeError", "FileError", "FormatError", "VersionError",
    "DomainError", "LockedError", "AmbiguousError", "PromiseError", "Key", "Path",
]

#: The version of the library that is inside.
library_version: str = _native.version
__version__: str = library_version

_TABLE_MAGIC = b"\x89TAMTAB\n"


def open(path: Path, *, mmap: bool = False) -> Union[Filter, Table]:
    """Open a file of tamis, whatever it is: a Filter, with mmap as a read-only view of the file (see Filter.open for what
    then must not be done to it), or a Table (for reading)."""
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as file:
        begin = file.read(8)
    if begin == _TABLE_MAGIC:
        return Table.open(path, read_only=True)
    return Filter.open(path, mmap=mmap)
