"""Kinds, parameters and plans.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import dataclasses
import inspect
import itertools
import operator
from html import escape
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Optional, Tuple, TypeVar, Union

from . import _native
from ._errors import ArgumentError

_SEEDS = 1 << 128
_LOW = (1 << 64) - 1


def _names(name_of: Any, numbers: Any) -> Dict[str, int]:
    names = ((name_of(number), number) for number in numbers)
    return {name: number for name, number in names if name is not None}


KINDS = _names(_native.kind_name, range(1, 256))
KIND_NAMES = {number: name for name, number in KINDS.items()}
HASHES = _names(_native.hash_name, (1, 2))
HASH_NAMES = {number: name for name, number in HASHES.items()}
ORDERS = {"balanced": 0, "bytes": 1, "speed": 2, "lines": 3, "weighted": 4}
ABILITIES = ("remove", "count", "merge", "forget")

#: What a need may say beside n and fpr, the members of tamis_need in tamis/plan.h: its default, and what it means.
NEEDS: Dict[str, Tuple[Any, str]] = {
    "kind": (None, "only this kind, one of kinds()"),
    "deletes": (False, "keys will be removed"),
    "merges": (False, "sets will be merged"),
    "ticks": (0, "keys are forgotten after so many, see Filter.tick"),
    "copies": (0, "of one key, that must be counted, up to 255"),
    "value_bits": (0, "of a value that is kept with each key, up to 8"),
    "bytes": (0, "a limit; without n or fpr, these are the answer"),
    "grows": (False, "it may outgrow n, see Filter.grow"),
    "overshoot": (0.0, "keys beyond n, as a fraction of n"),
    "offline": (False, "it will be made of all keys at once, see Filter.build"),
    "lines_max": (0.0, "cache lines that a query may read, on average"),
    "failure_max": (0.0, "odds that an insert is refused; 0: 1e-6"),
    "replacements": (0, "how often each key is replaced, with deletes; 0: for ever"),
    "hash": ("aes", '"aes", or "xxh3" for keys that nobody chooses to do harm'),
    "order": ("balanced", 'of plans: "balanced", "bytes", "speed", "lines" or "weighted"'),
    "line_bits": (0.0, 'order "weighted": what a line is worth, in bits per key; 0: 1'),
    "search": (False, "look at every kind, some 30 milliseconds, where a table would do"),
}
_T = TypeVar("_T", bound=Callable[..., Any])


def with_needs(*without: str) -> Callable[[_T], _T]:
    """For a function that has **needs: its signature and its help() name them."""

    def name(function: _T) -> _T:
        told = inspect.signature(function)
        own = [one for one in told.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        needs = {name: need for name, need in NEEDS.items() if name not in without and name not in told.parameters}
        own += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
                for name, (default, _) in needs.items()]
        function.__signature__ = told.replace(parameters=own)  # type: ignore[attr-defined]
        if function.__doc__ is not None:  # there is none with -OO
            function.__doc__ = (inspect.cleandoc(function.__doc__) + "\n\nNeeds, all of them keywords:\n\n" +
                                "".join(f"    {name:<13} {text}\n" for name, (_, text) in needs.items()))
        return function

    return name


def whole(number: Any, what: str) -> int:
    """A whole number of any type, also 1e6."""
    if isinstance(number, float) and number.is_integer():
        return int(number)
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {number!r}") from None


def real(number: Any, what: str) -> float:
    """A number of any type, but no text."""
    if not isinstance(number, (str, bytes)):
        try:
            return float(number)
        except TypeError:
            pass
    hint = ""
    if isinstance(number, str) and number.strip().endswith("%"):
        try:
            hint = f": write {float(number.strip()[:-1]) / 100:g}"
        except ValueError:
            pass
    raise TypeError(f"{what} is a number, not {number!r}{hint}")


def choice(name: Any, choices: Mapping[str, int], what: str) -> int:
    """The number of a name, or ArgumentError that tells the names."""
    try:
        return choices[name]
    except (KeyError, TypeError):
        if choices is KINDS and name == "line-set":
            raise ArgumentError("there is no kind 'line-set' any more: use 'line'") from None
        raise ArgumentError(f"no {what} {name!r}; there are: {', '.join(choices)}") from None


def split_seed(seed: int) -> Dict[str, int]:
    seed = operator.index(seed)
    if not 0 <= seed < _SEEDS:
        raise ArgumentError("seed is not from 0 to 2**128 - 1")
    return {"seed": seed & _LOW, "seed_high": seed >> 64}


def kinds() -> List[str]:
    """The names of all kinds of filters."""
    return list(KINDS)


def abilities(what: Union[str, Params, Plan, SharedPlan]) -> FrozenSet[str]:
    """What a kind can do: some of "remove", "count" (it is a multiset), "merge" and "forget" (it is a window).

    Of params or a plan, what a set made so can do: it may be less.  A "line" of which no deletes were asked is a set.
    """
    if isinstance(what, str):
        bits = _native.abilities(choice(what, KINDS, "kind"))
    else:
        bits = _native.params_abilities((what if isinstance(what, Params) else what.params)._dict())
    return frozenset(name for i, name in enumerate(ABILITIES) if bits >> i & 1)


def _param_names(kind: int) -> List[str]:
    names = (_native.param_name(kind, i) for i in itertools.count())
    return list(itertools.takewhile(lambda name: name is not None, names))


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
    fpr: float = 0.0  #: the error rate that was promised; 0: none

    def _dict(self) -> Dict[str, Any]:
        """As the native module takes it."""
        kind = choice(self.kind, KINDS, "kind")
        names = _param_names(kind)
        numbers = [0] * len(names)
        for name, value in self.values.items():
            if name not in names:
                raise ArgumentError(f"{self.kind} has no parameter {name!r}; it has: {', '.join(names)}")
            numbers[names.index(name)] = value
        return {"kind": kind, "hash": choice(self.hash, HASHES, "hash"), "capacity": self.capacity,
                "stash": self.stash, "fpr": self.fpr, "value": numbers, **split_seed(self.seed)}

    def seeded(self, seed: int = 0) -> Params:
        """The same with this seed, or without one with its own, or a random one of all bits that the hash has."""
        told = self._dict()
        if seed:
            told.update(split_seed(seed))
        return Params._from(_native.seeded(told))

    @classmethod
    def _from(cls, told: Mapping[str, Any]) -> Params:
        names = _param_names(told["kind"])
        return cls(KIND_NAMES[told["kind"]], told["capacity"], told["seed"] | told["seed_high"] << 64, told["stash"],
                   dict(zip(names, told["value"])), HASH_NAMES[told["hash"] or HASHES["aes"]], told["fpr"])


def html(name: str, rows: Mapping[str, Any]) -> str:
    """A small table, as notebooks show it."""
    lines = "".join(f"<tr><th style='text-align:left'>{escape(what)}</th>"
                    f"<td style='text-align:left'>{escape(str(value))}</td></tr>" for what, value in rows.items())
    return f"<table><caption>{escape(name)}</caption><tbody>{lines}</tbody></table>"


class _Record:
    """What is told as a record, a line of a table for each member in a notebook."""

    def _repr_html_(self) -> str:
        rows = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Params):
                rows["kind"] = value.kind
            elif not isinstance(value, tuple):
                rows[field.name] = f"{value:.4g}" if isinstance(value, float) else \
                    f"{value:,}" if isinstance(value, int) else value
        return html(f"tamis.{type(self).__name__}", rows)


@dataclasses.dataclass(frozen=True)
class Plan(_Record):
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
    replacements: int  #: of all keys for which fpr holds, where it rises with them; else 0
    file_bytes: int  #: of a file of it
    ns_insert: float  #: nanoseconds of a call on a typical machine, by a formula: from memory
    ns_lookup: float  #: the mean of an absent key and one that is there
    ns_remove: float  #: 0 if keys cannot be removed
    ns_insert_cached: float  #: the same in cache
    ns_lookup_cached: float
    ns_remove_cached: float

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.params.kind


@dataclasses.dataclass(frozen=True)
class SharedPlan(_Record):
    """What would be built for several threads, and what it promises for the whole."""
    params: Params  #: of one shard
    shards: int
    n: int
    bytes: int  #: of all shards
    bits_per_key: float
    bound_bits_per_key: float
    fpr: float
    overflow_probability: float  #: also that a shard gets more keys than it is made for
    lines_per_query: float
    lines_per_insert: float

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.params.kind


@dataclasses.dataclass(frozen=True)
class Info(_Record):
    """What a filter is and how it fares."""
    params: Params
    count: int  #: keys held, as len() tells
    bytes: int  #: state, stash and table
    bits_per_key: Optional[float]  #: of those that are in; None while there is none
    fpr: float  #: error rate of a query now
    stash_used: int
    stash_size: int
    saturated: int  #: counters that have stopped counting
    load_histogram: Tuple[int, ...]
    reads_per_insert: float
    reads_per_query: float
    capacity: int  #: keys that all links are made for
    fpr_promised: float  #: what it was planned for; 0 if nothing was promised
    n_links: int  #: 1 for a filter that has not grown
    n_shards: int  #: filters that the keys are spread over
    tick: int  #: of a window, the present tick
    to_clear: int  #: of a window, buckets that are to be cleared
    file_bytes: int  #: of the encoded filter: bytes, headers and checksums
    grows: bool  #: it has grown, or may grow: fpr_promised is for all links together

    @property
    def kind(self) -> str:
        """The name of the kind."""
        return self.params.kind


@dataclasses.dataclass(frozen=True)
class Window:
    """What a set that forgets is like."""
    ticks: int  #: of which the keys are kept
    now: int  #: ticks since it was made or cleared
    left: int  #: buckets that are to be cleared of what is forgotten
    live: int  #: keys that are not forgotten
    ages: Tuple[int, ...]  #: of these, last added in tick now, now - 1, .. now - ticks


def record(cls: Any, told: Mapping[str, Any], **changed: Any) -> Any:
    """A dataclass of what the native module tells."""
    values = {**told, **changed}
    if "params" in values:
        values["params"] = Params._from(values["params"])
    return cls(**values)


def need(n: Optional[int], fpr: Optional[float], wishes: Mapping[str, Any]) -> Dict[str, Any]:
    """A need from keywords that are its members."""
    n = None if n is None else whole(n, "n")
    fpr = None if fpr is None else real(fpr, "fpr")
    if n is not None and n < 1:
        raise ArgumentError(f"n is {n}, but sets have 1 to 2^40 keys")
    if fpr is not None and not 0 < fpr < 1:
        raise ArgumentError(f"fpr is {fpr}, but must be above 0 and below 1")
    told: Dict[str, Any] = {"n": n or 0, "fpr": fpr or 0.0}
    for name, value in wishes.items():
        if name not in NEEDS:
            raise TypeError(f"a need has no {name!r}; it has: n, fpr, {', '.join(NEEDS)}")
        if name == "kind":
            value = 0 if value is None else choice(value, KINDS, "kind")
        elif name == "hash":
            value = choice(value, HASHES, "hash")
        elif name == "order":
            value = choice(value, ORDERS, "order")
        elif isinstance(NEEDS[name][0], float):
            value = real(value, name)
        elif not isinstance(NEEDS[name][0], bool):
            value = whole(value, name)
        told[name] = value
    return told


@with_needs()
def plan(n: Optional[int] = None, fpr: Optional[float] = None, **needs: Any) -> Plan:
    """The smallest filter for n keys with an error rate of at most fpr (0.01).  Nothing is built."""
    return record(Plan, _native.plan_make(need(n, fpr, needs)))


@with_needs()
def plans(n: Optional[int] = None, fpr: Optional[float] = None, **needs: Any) -> List[Plan]:
    """The plan of each kind that can do what is needed, the best first; see plan()."""
    return [record(Plan, told) for told in _native.plan_all(need(n, fpr, needs))]


@with_needs()
def plan_shared(n: Optional[int] = None, fpr: Optional[float] = None, *, threads: int = 2, **needs: Any) -> SharedPlan:
    """Like plan(), for a set that so many threads use at a time; see SharedFilter."""
    threads = operator.index(threads)
    if not 1 <= threads <= 1024:
        raise ArgumentError("threads are 1 to 1024")
    return record(SharedPlan, _native.plan_shared(need(n, fpr, needs), threads))
