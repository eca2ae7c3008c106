"""The keys that a path captures: what `#` and `#0` name, and what a fan-out is told apart by.

Captured keys travel as one text, because that is what KubeMod passes on; what its patch code reads
back from this text loses keys with brackets or quotes, and so does this. This module knows no node.
Source: ModRule specification, sections 1.10 and 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from krm_fn.lang.go.strconv import parse_int, quote
from krm_fn.lang.go.values import GoInt


class Trail:
    """The keys that `..` walked, innermost last; linked, so that a deep walk copies nothing."""

    __slots__ = ("key", "outer", "walked")

    def __init__(self, outer: Trail | None, key: int | str) -> None:
        self.outer = outer
        self.key = key
        self.walked: int = outer.walked + 1 if outer else 0
        """How many keys."""

    def keys(self) -> list[str]:
        """The keys as strings, outermost first."""
        keys: list[str] = []
        trail = self
        while trail.outer is not None:
            keys.append(str(trail.key))
            trail = trail.outer
        keys.reverse()
        return keys


NOWHERE: Final = Trail(None, "")
"""The trail of the value that `..` starts from."""


def captured_keys(captured: Iterable[Any]) -> list[str]:
    """All captured keys as strings, those of trails among them."""
    keys: list[str] = []
    for key in captured:
        if type(key) is Trail:
            keys.extend(key.keys())
        else:
            keys.append(str(key))
    return keys


def key_text(captured: Iterable[Any]) -> str:
    """`$["spec"]["0"]`: the captured keys as one text."""
    return "$" + "".join(f"[{quote(key)}]" for key in captured_keys(captured))


_KEY_PART: Final = re.compile(r'\["([^\[\]"]+)"\]')


def key_parts(text: str) -> tuple[int | str, ...]:
    """The keys that KubeMod reads back from a key text: whole numbers as ints, others escaped."""
    return tuple(_key_part(part) for part in _KEY_PART.findall(text))


def _key_part(part: str) -> int | str:
    number = parse_int(part)
    return part if number is None else GoInt(number)
