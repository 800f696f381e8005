"""What many keys can be: lists, iterables, buffers, arrays of numpy, columns of pandas, offsets with their data.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Tuple

from ._keys import moments


class Offsets:
    """Keys that lie one after the other in one block of bytes, as Arrow and Parquet keep strings.

    Key i is data[offsets[i]:offsets[i + 1]].  'offsets' is a buffer of integers of 4 or 8 bytes, one more than there
    are keys; 'data' is any contiguous buffer.  Nothing is copied, neither now nor by the calls that take it.

        >>> import array, tamis
        >>> keys = tamis.Offsets(array.array("i", [0, 5, 9]), b"applepear")
        >>> f = tamis.Filter(10, seed=1)
        >>> f.update(keys)
        >>> "apple" in f, "pear" in f
        (True, True)
    """

    __slots__ = ("offsets", "data")

    def __init__(self, offsets: Any, data: Any) -> None:
        self.offsets, self.data = memoryview(offsets), memoryview(data)
        if self.offsets.ndim != 1 or not len(self.offsets):
            raise ValueError("offsets are one more than there are keys")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<tamis.Offsets of {len(self)} keys>"


def _pandas(keys: Any) -> Any:
    """The array of a Series, an Index or an extension array; None if it is none of these."""
    pandas = sys.modules["pandas"]
    if isinstance(keys, (pandas.Series, pandas.Index)):
        if isinstance(keys, pandas.MultiIndex):
            raise TypeError("keys of several levels: join them to one, as text or as bytes")
        keys = keys.array
    if not isinstance(keys, pandas.api.extensions.ExtensionArray):
        return None
    if type(keys).__name__ in ("PandasArray", "NumpyExtensionArray"):
        return keys.to_numpy()  # one of numpy: what is no key is seen when it is met
    if len(keys) and keys.isna().any():
        raise TypeError("a column of keys has values that are missing: dropna() leaves them out")
    if isinstance(keys.dtype, pandas.DatetimeTZDtype):
        return _Moments(keys.tz_convert("UTC").tz_localize(None).to_numpy(), "Z")
    kind = getattr(keys.dtype, "numpy_dtype", None)  # of Int64 and its like
    if kind is not None and getattr(kind, "kind", "O") in "iu":
        return keys.to_numpy(dtype=kind)
    return keys.to_numpy()


class _Moments:
    """Times of a zone: those of an array of numpy, in UTC, and what ends their texts."""

    def __init__(self, times: Any, end: str) -> None:
        self.times, self.end = times, end


def resolve(keys: Any) -> Tuple[Any, Optional[Any], Optional[Callable[[Any], Any]]]:
    """What keys are taken from: a list, a buffer or an iterable; the data of offsets; how answers are wrapped."""
    if isinstance(keys, (str, bytes, bytearray)) or (isinstance(keys, memoryview) and keys.format in ("B", "b", "c")):
        raise TypeError(f"many keys cannot be a {type(keys).__name__}, which is one key")
    if isinstance(keys, Offsets):
        return keys.offsets, keys.data, None
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return keys, None, None
    if "pandas" in sys.modules:
        array = _pandas(keys)
        if array is not None:
            keys = array
    if isinstance(keys, _Moments):
        return moments(keys.times, keys.end), None, numpy.asarray
    if not isinstance(keys, numpy.ndarray):
        return keys, None, None
    if keys.dtype.kind == "M":
        return moments(keys), None, numpy.asarray
    if keys.dtype.kind not in "iuSUO":
        hint = "; view('i8') has them as integers" if keys.dtype.kind == "m" else ""
        raise TypeError(f"an array of keys has integers, text or bytes, not {keys.dtype}{hint}")
    return keys, None, numpy.asarray
