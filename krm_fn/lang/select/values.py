"""What an expression computes with: UNDEFINED, and Go's conversions between types.

The language inherits its conversions from Go: strings that read as floats are numbers, floats are
cut to 64-bit integers as an amd64 processor does it. They live here, away from syntax, so that
operators and paths read as rules. This module knows no node and no document layout.
Source: ModRule specification, sections 1.6 and 1.9; Go's strconv and reflect packages.
"""

from __future__ import annotations

import math
from typing import Any, Final

from krm_fn.lang.go.strconv import parse_float
from krm_fn.lang.go.values import GoInt, to_bytes
from krm_fn.lang.go.values import to_float as number_to_float


class Undefined:
    """The type of `UNDEFINED`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __str__(self) -> str:
        return ""

    def __reduce__(self) -> str:
        return "UNDEFINED"  # copies and pickles are the same object


UNDEFINED: Final = Undefined()
"""What a path to nothing yields: a NaN among numbers, an empty text among texts, never null."""

_INT64_MIN: Final = -(1 << 63)
_INT64_MAX: Final = (1 << 63) - 1


def to_float(value: Any) -> float | None:
    """`value` as a float64, or None: numbers, texts that read as numbers, UNDEFINED as NaN."""
    kind = type(value)
    if kind is float:
        return value  # type: ignore[no-any-return]
    if kind is int or kind is GoInt:
        return number_to_float(value)
    if kind is str:
        return parse_float(value)
    if value is UNDEFINED:
        return math.nan
    return None


def to_int64(number: float) -> int:
    """Go's int64(number) on amd64: cut towards zero; NaN and what does not fit are the minimum."""
    if -9.3e18 < number < 9.3e18:
        cut = int(number)
        if _INT64_MIN <= cut <= _INT64_MAX:
            return cut
    return _INT64_MIN


def to_bool(value: Any) -> bool | None:
    """Whether a filter keeps an element for which it yields `value`; None for no boolean at all."""
    if type(value) is bool:
        return value
    if value is None or value in ("false", "FALSE"):
        return False
    if value in ("true", "TRUE"):
        return True
    number = to_float(value)
    return None if number is None else number != 0


def byte_length(text: str) -> int:
    """The length in UTF-8."""
    return len(text) if text.isascii() else len(to_bytes(text))


_TYPE_NAMES: Final = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "list",
    dict: "map",
    GoInt: "number",
    Undefined: "undefined",
}


def type_name(value: Any) -> str:
    """The name of a value's type in messages to users."""
    return _TYPE_NAMES.get(type(value), "time")
