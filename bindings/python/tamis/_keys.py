"""Keys that are neither text, bytes nor integers: the text that they are hashed as (docs/keys.md).

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import datetime
import decimal
import sys
import uuid
from typing import Any, Iterator, Optional

from ._errors import ArgumentError

_DIGITS_MAX = 1_000_000  # of a decimal number: the text of 1E+999999999 has a gigabyte
_STEP = 4096  # moments of an array that are made texts at a time
_UNITS = ("D", "h", "m", "s", "ms", "us", "ns")


def text(key: Any) -> Optional[str]:
    """The text of a date, a time, a UUID or a decimal number; None for all else, but for numbers of numpy that are no
    keys: these would pass as bytes."""
    if isinstance(key, datetime.date):
        return _date(key)
    if isinstance(key, uuid.UUID):
        return uuid.UUID.__str__(key)
    if isinstance(key, decimal.Decimal):
        return _decimal(key)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(key, numpy.generic) and not isinstance(key, numpy.void):
        if isinstance(key, numpy.datetime64):
            return next(moments(numpy.asarray([key])))
        raise TypeError(f"a key is not a {type(key).__name__}: make it a Decimal or an integer first")
    return None


def _date(key: Any) -> str:
    if key != key:
        raise TypeError("a key is no time: it is NaT")
    if not isinstance(key, datetime.datetime):
        return datetime.date.isoformat(key)
    if getattr(key, "nanosecond", 0):  # of pandas
        raise ArgumentError("a time that is a key has whole microseconds: round it first")
    if key.utcoffset() is None:
        return datetime.datetime.isoformat(key.replace(tzinfo=None))
    moment = key.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return datetime.datetime.isoformat(moment) + "Z"


def _decimal(key: decimal.Decimal) -> str:
    if key.is_nan():
        return "NaN"
    if key.is_infinite():
        return "Infinity" if key > 0 else "-Infinity"
    if key and (abs(key.adjusted()) > _DIGITS_MAX or len(key.as_tuple().digits) > _DIGITS_MAX):
        raise ArgumentError("a decimal number that is a key has at most a million digits")
    if not key:
        return "0"
    digits = format(key, "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def moments(times: Any, end: str = "") -> Iterator[str]:
    """The texts of an array of numpy of times, of which all are looked at first.  Days are dates."""
    numpy = sys.modules["numpy"]
    unit, step = numpy.datetime_data(times.dtype)
    if unit not in _UNITS or step != 1:
        raise TypeError(f"an array of keys has days, or times of at most nanoseconds, not {times.dtype}")
    if times.ndim == 0:
        raise TypeError("an array of keys has a dimension")
    if numpy.isnat(times).any():
        raise TypeError("a key is no time: it is NaT")
    if unit == "ns" and (times.view("i8") % 1000).any():
        raise ArgumentError("a time that is a key has whole microseconds: round it first")
    years = times.astype("M8[Y]").view("i8") + 1970
    if ((years < 0) | (years > 9999)).any():
        raise ArgumentError("a time that is a key is of the years 0 to 9999")
    return _texts(numpy, times.reshape(-1), unit, end)


def _texts(numpy: Any, times: Any, unit: str, end: str) -> Iterator[str]:
    for at in range(0, len(times), _STEP):
        some = times[at:at + _STEP]
        if unit == "D":
            yield from numpy.datetime_as_string(some).tolist()
            continue
        whole = some == some.astype("M8[s]")
        seconds = numpy.datetime_as_string(some, unit="s", casting="unsafe")
        parts = numpy.datetime_as_string(some, unit="us", casting="unsafe")
        for one in numpy.where(whole, seconds, parts).tolist():
            yield one + end
