"""Keys that are neither text, bytes nor integers.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

from typing import Any, Optional


def text(key: Any) -> Optional[str]:
    """The text that a key is hashed as; None if it is no such key."""
    return None
