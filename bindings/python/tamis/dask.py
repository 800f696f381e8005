"""Sets on many machines, with Dask: build, merge, publish, use.

    client = distributed.Client(...)
    seen = tamis.dask.build(frame["url"], n=100_000_000, fpr=0.01).compute()
    new = tamis.dask.where(frame, tamis.dask.publish(seen, client), column="url", absent=True)

Collections are those of Dask: a bag (each item is a key), a column or a frame with column=..., an array of one
dimension; or a list of Delayed, each of which gives keys as Filter.update() takes them.

Every task is a pure function of its partition: what a lost worker had is made again and is the same, byte for byte,
because the seed is drawn once, here.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import math
import operator
from typing import Any, List, Optional

import dask
from dask.delayed import Delayed

from . import _native
from ._errors import FullError, UnsupportedError
from ._plans import Params, abilities, plan, whole, with_needs
from ._sets import Filter

__all__ = ["build", "publish", "where", "distinct", "join"]


# --- what a collection is -----------------------------------------------------------------------------


def _parts(collection: Any) -> List[Delayed]:
    """The partitions, as Delayed."""
    if isinstance(collection, Delayed):
        return [collection]
    if isinstance(collection, (list, tuple)):
        return list(collection)
    if hasattr(collection, "ndim") and hasattr(collection, "chunks"):
        if collection.ndim != 1:
            raise TypeError("an array of keys has one dimension")
        return list(collection.to_delayed())
    if hasattr(collection, "to_delayed"):
        return list(collection.to_delayed())
    raise TypeError("a bag, a frame, a column, an array or a list of Delayed is needed, "
                    f"not {type(collection).__name__}")


def _like(collection: Any, parts: List[Delayed]) -> Any:
    """A collection of the same type with these partitions."""
    if isinstance(collection, (list, tuple, Delayed)):
        return parts
    if hasattr(collection, "chunks"):
        import dask.array
        return dask.array.concatenate([dask.array.from_delayed(part, (math.nan,), dtype=collection.dtype)
                                       for part in parts], allow_unknown_chunksizes=True)
    if hasattr(collection, "_meta"):
        import dask.dataframe
        return dask.dataframe.from_delayed(parts, meta=collection._meta, divisions=collection.divisions,
                                           verify_meta=False)
    import dask.bag
    return dask.bag.from_delayed(parts)


def _keys(part: Any, column: Optional[str]) -> Any:
    """The keys of a partition, which can be read more than once."""
    if column is not None:
        part = part[column]
    return part if hasattr(part, "__len__") else list(part)


def _select(part: Any, mask: Any) -> Any:
    """The items of a partition for which the mask is true."""
    if isinstance(part, list):
        return [item for item, keep in zip(part, mask) if keep]
    import numpy
    return part[numpy.asarray(mask, dtype=bool)]


# --- building -----------------------------------------------------------------------------------------


def _begin(params: Params, part: Any, column: Optional[str]) -> Filter:
    made = Filter(params=params)
    made.update(_keys(part, column))
    return made


def _extend(made: Filter, part: Any, column: Optional[str], in_place: bool) -> Filter:
    # In a set nothing changes if a key comes twice, so that this task may be repeated with what it has changed before.
    # A multiset would count it twice: it is copied.
    if not in_place:
        made = made.copy()
    made.update(_keys(part, column))
    return made


def _union(sets: List[Filter], beyond: bool) -> Filter:
    made = sets[0].copy()  # tasks leave what they are given as it is
    for other in sets[1:]:
        try:
            made.merge(other, beyond)
        except FullError as error:
            if "count" not in abilities(made.params):
                raise
            raise FullError(f"{error}: if keys come several times, plan with copies") from error
    return made


def _threads() -> int:
    """How many tasks run at a time."""
    try:
        import distributed
        return max(1, sum(distributed.get_client().nthreads().values()))
    except (ImportError, ValueError):
        return 4


def _plan(n: Optional[int], fpr: Optional[float], needs: Any) -> Params:
    """The best set, or blocked-bloom if it is hardly larger: it is merged at the speed of memory, a line key by key."""
    best = plan(n, fpr, merges=True, **needs)
    if "kind" not in needs and "count" not in abilities(best):
        try:
            quick = plan(n, fpr, merges=True, kind="blocked-bloom", **needs)
        except UnsupportedError:
            return best.params
        if quick.bytes <= 1.25 * best.bytes:
            return quick.params
    return best.params


@with_needs("merges")
def build(collection: Any, n: Optional[int] = None, fpr: Optional[float] = None, *, column: Optional[str] = None,
          lanes: Optional[int] = None, split_every: int = 4, seed: int = 0, params: Optional[Params] = None,
          beyond: bool = False, **needs: Any) -> Delayed:
    """A set of all keys of a collection, as a Delayed: compute() gives a Filter.

    The partitions are dealt to 'lanes', by default as many as there are threads.  A lane has one set, which goes
    through its partitions one after the other; the sets of the lanes are merged in a tree, 'split_every' at a time.
    So there are as many sets in memory as lanes, however many partitions there are.  'n' is the number of all different
    keys: a union that errs more often than promised is a PromiseError, unless 'beyond' permits it; of a kind that gets
    full, as "line" does, it is a FullError, 'beyond' or not.

    With deletes every copy of a key is kept, and the plan has room for one of each: if keys come several times, say
    with copies=... how often at most in all partitions together, and with replacements=... how long it must hold.
    Otherwise they may be a FullError.  'needs' as for plan().
    """
    if params is None:
        params = _plan(n, fpr, needs)
    # The seed is drawn here, so that all workers, also those that repeat a task, have the same.
    params = params.seeded(seed)
    in_place = "count" not in abilities(params)
    parts = _parts(collection)
    if not parts:
        return dask.delayed(Filter)(params=params)
    lanes = min(len(parts), max(1, operator.index(lanes) if lanes is not None else _threads()))
    begin, extend, union = (dask.delayed(f, pure=True) for f in (_begin, _extend, _union))
    sets = []
    for lane in range(lanes):
        made = begin(params, parts[lane], column)
        for part in parts[lane + lanes::lanes]:
            made = extend(made, part, column, in_place)
        sets.append(made)
    while len(sets) > 1:
        sets = [union(sets[at:at + max(2, split_every)], beyond) if at + 1 < len(sets) else sets[at]
                for at in range(0, len(sets), max(2, split_every))]
    return sets[0]


def publish(made: Any, client: Any = None) -> Any:
    """Give a set to every worker once: a Future, for where() and others.  All tasks of a worker share one copy, and the
    loss of a worker loses nothing."""
    if client is None:
        import distributed
        client = distributed.get_client()
    return client.scatter(made, broadcast=True, hash=False)


# --- using --------------------------------------------------------------------------------------------


def _where(part: Any, made: Filter, column: Optional[str], absent: bool) -> Any:
    if not hasattr(part, "__len__"):
        part = list(part)
    found = made.contains_many(_keys(part, column))
    return _select(part, [not one for one in found] if absent and isinstance(part, list) else
                   _not(found) if absent else found)


def _not(mask: Any) -> Any:
    import numpy
    return ~numpy.asarray(mask, dtype=bool)


def where(collection: Any, made: Any, *, column: Optional[str] = None, absent: bool = False) -> Any:
    """The items whose keys are (probably) in the set, or with absent=True those whose keys are certainly not.

    'made' is a Filter, a Delayed of build() or a Future of publish(); the last is best: a Filter is put into the graph.
    """
    if isinstance(made, Filter):
        made = dask.delayed(made)
    step = dask.delayed(_where, pure=True)
    return _like(collection, [step(part, made, column, absent) for part in _parts(collection)])


def _deal(part: Any, column: Optional[str], params: Params, shards: int) -> List[Any]:
    """The keys of a partition, dealt to shards by the hash and the seed of their sets: nobody who knows neither can
    choose keys of one shard."""
    keys = _keys(part, column)
    where_to = _native.shards(params._dict(), keys, shards)
    if isinstance(keys, list):
        dealt: List[Any] = [[] for _ in range(shards)]
        for key, shard in zip(keys, where_to):
            dealt[shard].append(key)
        return dealt
    import numpy
    numbers, array = numpy.asarray(where_to), numpy.asarray(keys)
    return [array[numbers == shard] for shard in range(shards)]


def _first(params: Params, pieces: List[Any]) -> List[bytes]:
    """Of the keys of one shard, in the order of partitions: which come for the first time."""
    made = Filter(params=params)
    return [bytes(memoryview(made.add_many(piece)).cast("B")) for piece in pieces]


def _keep(part: Any, column: Optional[str], params: Params, shards: int, masks: List[bytes]) -> Any:
    """The items of a partition whose keys come for the first time."""
    if not hasattr(part, "__len__"):
        part = list(part)
    where_to = _native.shards(params._dict(), _keys(part, column), shards)
    if isinstance(part, list):
        answers = [iter(mask) for mask in masks]
        return _select(part, [bool(next(answers[shard])) for shard in where_to])
    import numpy
    numbers = numpy.asarray(where_to)
    mask = numpy.empty(len(numbers), dtype=bool)
    for shard, answer in enumerate(masks):
        mask[numbers == shard] = numpy.frombuffer(answer, dtype=bool)
    return _select(part, mask)


@with_needs()
def distinct(collection: Any, n: int, fpr: float = 0.001, *, column: Optional[str] = None, shards: int = 0,
             seed: int = 0, **needs: Any) -> Any:
    """The items whose keys come for the first time, within their partition and in all before it.

    Keys, not items, are sent: each to one of 'shards' tasks, that has a set for its share of the n distinct keys and
    sees them in the order of partitions.  No duplicate is kept; of the distinct keys a fraction of at most 'fpr' is
    taken for a duplicate and dropped.  By default there is a shard for each 4 million keys, 8 at least; a shard has its
    keys in memory at one time.
    """
    n = whole(n, "n")
    parts = _parts(collection)
    shards = operator.index(shards) or max(8, -(-n // 4_000_000))
    if not 1 <= shards <= 65536:
        raise ValueError("shards are 1 to 65536")
    # Shares are binomially distributed: six standard deviations more, as sets for threads are planned.
    share = math.ceil(n / shards + 6 * math.sqrt(n / shards)) if shards > 1 else n
    params = plan(share, fpr, **needs).params.seeded(seed)
    deal, first, keep = (dask.delayed(f, pure=True) for f in (_deal, _first, _keep))
    pick = dask.delayed(operator.getitem, pure=True)
    dealt = [deal(part, column, params, shards) for part in parts]
    masks = [first(params, [pick(one, shard) for one in dealt]) for shard in range(shards)]
    return _like(collection, [keep(part, column, params, shards, [pick(mask, at) for mask in masks])
                              for at, part in enumerate(parts)])


@with_needs("merges")
def join(left: Any, right: Any, on: str, n: int, fpr: float = 0.01, *, client: Any = None, **needs: Any) -> Any:
    """The inner join of two frames of Dask on a column, with the rows of 'left' that have no partner left out before
    they are sent.

    A set of the keys of 'right', n of them, is built on the workers and given to each; of the rows of 'left' that have
    no partner only a fraction of 'fpr' goes on to the exact join.  With a client the set is computed now.
    """
    made: Any = build(right[on], n, fpr, **needs)
    if client is not None:
        made = publish(client.compute(made).result(), client)
    return where(left, made, column=on).merge(right, on=on, how="inner")
