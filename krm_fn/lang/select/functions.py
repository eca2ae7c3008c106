"""The functions that an expression can call, each of one argument.

Source: ModRule specification, section 1.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select.values import UNDEFINED, byte_length, type_name

Function = Callable[[Any], Any]


def length(value: Any) -> GoInt:
    """How many elements, members or bytes; nothing has none. The result is a Go int."""
    if value is None or value is UNDEFINED:
        return GoInt(0)
    kind = type(value)
    if kind is list or kind is dict:
        return GoInt(len(value))
    if kind is str:
        return GoInt(byte_length(value))
    raise EvaluationError(f"a {type_name(value)} has no length: expected a list, string or map")


def is_empty(value: Any) -> bool:
    return length(value) == 0


def is_not_empty(value: Any) -> bool:
    return length(value) != 0


def is_defined(value: Any) -> bool:
    return value is not UNDEFINED


def is_undefined(value: Any) -> bool:
    return value is UNDEFINED


def date(value: Any) -> Any:
    """The point in time that a string names."""
    from krm_fn.lang.select.dates import parse_date  # few rules deal with dates

    if type(value) is not str:
        raise EvaluationError(f"date() takes a string, not a {type_name(value)}")
    parsed = parse_date(value)
    if parsed is None:
        raise EvaluationError(f"date() cannot read {value[:100]!r}")
    return parsed


FUNCTIONS: Final[dict[str, Function]] = {
    "date": date,
    "isDefined": is_defined,
    "isEmpty": is_empty,
    "isNotEmpty": is_not_empty,
    "isUndefined": is_undefined,
    "length": length,
}
