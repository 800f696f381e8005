"""Exact tables: a mapping in a file or in memory, with one slow read per hit and almost none per miss.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import collections.abc
import dataclasses
import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import _native
from ._plans import HASHES, choice, split_seed
from ._sets import Key, Path, path_bytes

SUMMARIES = {name: number for number in range(1, 16)
             for name in [_native.summary_name(number)] if name is not None}
SYNCS = {"batch": 0, "each": 1, "none": 2}
WAYS = {"map": 0, "read": 1, "direct": 2}
PAGE = 4096  #: as 'bucket': a table of pages
_WALK = 256  # items that are fetched at a time


@dataclasses.dataclass(frozen=True)
class TableInfo:
    """What a table is."""
    count: int
    deleted: int  #: slots of deleted items, not usable before a rebuild
    stash_used: int
    level_count: Tuple[int, ...]  #: items in each sub-table
    slots: int  #: of all sub-tables, or pages
    slot_bytes: int  #: of one slot or page
    slow_bytes: int  #: of the file, or of the memory in its place
    summary_bytes: int  #: fast memory: the summary
    bit_bytes: int  #: fast memory: which slots are in use, or the index of pages
    stash_bytes: int  #: fast memory: the index of the stash
    fpr: float  #: error rate of the summary now
    damaged: int  #: slots or pages emptied by repair
    in_file: bool
    read_only: bool
    recovered: bool  #: the summary was made anew when the file was opened
    rebuild_due: bool
    rebuilding: bool
    params: Dict[str, Any]  #: complete
    dropped: int  #: changes that were not synced before the power failed


class Table(_native.Table, collections.abc.MutableMapping):
    """A mapping from keys to values, exact, in a file or in memory.

    Table("prices.tab") makes a new file, Table() a table in memory; Table.open() opens a file.  Keys are those of
    a Filter; values are bytes or text.  Both come back as bytes.

        >>> import tamis
        >>> t = tamis.Table()
        >>> t["apple"] = "red"
        >>> t["apple"], t.get("pear"), "apple" in t, len(t)
        (b'red', None, True, 1)

    Without more it is a table of pages, which grows.  With capacity, key_max and value_max it has slots of a fixed
    size, for so many items; 'bucket' slots (1 to 4) are together, and 'summary' names what tells where an item is.
    sync is "batch" (what sync() or close() was called for is on the disk), "each" (every change) or "none"; io is as
    for open().
    """

    __slots__ = ("__weakref__",)

    def __init__(self, path: Optional[Path] = None, *, capacity: int = 0, key_max: int = 0, value_max: int = 0,
                 bucket: int = 0, stash: int = 0, summary: Optional[str] = None, seed: int = 0, hash: str = "aes",
                 sync: str = "batch", io: str = "read") -> None:
        params = {"capacity": capacity, "key_max": key_max, "value_max": value_max, "bucket": bucket, "stash": stash,
                  "summary": 0 if summary is None else choice(summary, SUMMARIES, "summary"),
                  "hash": choice(hash, HASHES, "hash"), **split_seed(seed)}
        if capacity and not key_max and not bucket:
            params["bucket"] = PAGE
        _native.table_create(self, None if path is None else path_bytes(path), params, _options(sync, io))

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, repair: bool = False, sync: str = "batch",
             io: str = "read") -> Table:
        """Open a table file.

        LockedError if another process has it open for changes.  A file that was not closed is brought in order first.
        A damaged one is refused, or with 'repair' opened without the items that are damaged.

        io is "read", "direct" (past the system's cache) or "map", which is the quickest, for a file that nobody makes
        shorter meanwhile: a process that reads where a mapped file has ended is ended by the system (SIGBUS).
        """
        os.close(os.open(path, os.O_RDONLY))  # raises what Python programs expect
        return _native.table_open(cls, path_bytes(path),
                                  {**_options(sync, io), "read_only": read_only, "repair": repair})

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pairs(self) -> Iterator[Tuple[bytes, bytes]]:
        at, n = 0, len(self)
        while True:
            at, some = self._items(at, _WALK)
            for pair in some:
                yield pair
                if len(self) != n:
                    raise RuntimeError("table changed size during iteration")
            if not some:
                return

    def __iter__(self) -> Iterator[bytes]:
        return (key for key, _ in self._pairs())

    def items(self) -> Any:
        """All pairs of key and value, in no order."""
        return _Items(self)

    def values(self) -> Any:
        """All values, in no order."""
        return _Values(self)

    def setdefault(self, key: Key, default: Any = b"") -> bytes:
        """The value of a key; 'default' is stored if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Delete all items."""
        while True:
            _, some = self._items(0, 4 * _WALK)
            if not some:
                return
            for key, _ in some:
                del self[key]

    def rebuild(self, steps: int = (1 << 64) - 1) -> bool:
        """Do some steps of a rebuild, by default all: True when it is complete.  The slots of deleted items become
        usable again, and the summary is made anew; a table of pages is made dense."""
        return self._rebuild(steps)

    def info(self) -> TableInfo:
        """What the table is."""
        return TableInfo(**self._info())

    def stats(self) -> Dict[str, int]:
        """What was done since the table was opened: hits, misses, reads and others (tamis_table_counts)."""
        return self._stats()

    def __repr__(self) -> str:
        if self.closed:
            return "<tamis.Table, closed>"
        info = self.info()
        what = "pages" if info.params["bucket"] == PAGE else f"{info.params['capacity']} slots"
        where = "file" if info.in_file else "memory"
        return f"<tamis.Table of {what} in {'a ' if info.in_file else ''}{where}, {len(self)} items>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a table is not pickled: its file can be opened elsewhere, dict(table) can be sent")

    __eq__ = object.__eq__  # two tables are not read to be compared
    __hash__ = object.__hash__


class _Items(collections.abc.ItemsView):
    def __iter__(self) -> Iterator[Tuple[bytes, bytes]]:
        return self._mapping._pairs()


class _Values(collections.abc.ValuesView):
    def __iter__(self) -> Iterator[bytes]:
        return (value for _, value in self._mapping._pairs())


def _options(sync: str, io: str) -> Dict[str, Any]:
    return {"sync": choice(sync, SYNCS, "sync"), "io": choice(io, WAYS, "way of reading")}


def plan_table(n: int = 0, *, summary: Optional[str] = None, **needs: Any) -> Dict[str, Any]:
    """What a table for n items would be: 'params', 'fpr', 'crisis', 'failure', 'summary_bits' and 'level_items'.

    'needs' are the members of tamis_table_need in tamis/table.h: bucket (1 to 4 slots, or 4096 for pages), odds, fpr,
    slots_per_item, rebuild_permille, no_deletes.
    """
    return _native.table_plan({"n": n, "summary": 0 if summary is None else choice(summary, SUMMARIES, "summary"),
                               **needs})


def summaries() -> List[str]:
    """The names of all summaries of tables."""
    return list(SUMMARIES)


__all__ = ["Table", "TableInfo", "plan_table", "summaries", "Key"]
