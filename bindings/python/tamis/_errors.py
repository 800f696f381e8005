"""Errors: each status of the library has a class.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

from typing import Dict, Optional, Type

from . import _native


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
    """The table is open elsewhere, or by the process that this one was forked from."""
    status = 13


class AmbiguousError(Error):
    """Several links of a filter that has grown claim the key to be removed."""
    status = 14


class PromiseError(Error):
    """The error rate would be higher than was promised."""
    status = 15


ERRORS: Dict[int, Type[Error]] = {e.status: e for e in (
    ArgumentError, NoMemoryError, FullError, NotFoundError, UnsupportedError, MismatchError,
    ReadOnlyError, TooLargeError, FileError, FormatError, VersionError, DomainError,
    LockedError, AmbiguousError, PromiseError)}


def error(status: int, reason: Optional[str] = None) -> Error:
    """The error of a status."""
    return ERRORS.get(status, Error)(reason or _native.status_text(status))


def by_status() -> tuple:
    """The classes, for the native module."""
    return tuple(ERRORS.get(status, Error) for status in range(max(ERRORS) + 1))
