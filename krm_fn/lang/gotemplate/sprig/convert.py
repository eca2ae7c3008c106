"""How Sprig turns any value into a string, a number or a list; shared by the families.

Source: Sprig's strings.go and defaults.go; github.com/spf13/cast 1.3.1.
"""

from __future__ import annotations

import math
from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.printf import sprint
from krm_fn.lang.go.strconv import parse_float, parse_int
from krm_fn.lang.go.values import GoInt, GoList, GoObject, NamedInt, kind_name, to_float
from krm_fn.lang.gotemplate.values import FunctionError, Pointer, indirect

_INT64: Final = 1 << 63


def wrap_int64(number: int) -> int:
    """A number as it is left after an int64 has overflowed."""
    return (number + _INT64) % (2 * _INT64) - _INT64


def strval(budget: Budget, value: Any) -> str:
    """A value as text: %v. Source: Sprig's strval."""
    if type(value) is str:
        return value
    text = sprint([value], budget.output)
    # Printing costs more than the text that it makes.
    budget.spend(3 + len(text) // 2)
    return text


def strings_of(budget: Budget, value: Any) -> list[str]:
    """The texts of a list's elements but null; of another value, its own. Source: strslice."""
    if value is None:
        return []
    if not isinstance(value, list):
        return [strval(budget, value)]
    # Each element is printed, which costs as much as a step.
    budget.spend(len(value))
    texts = []
    size = 0
    for element in value:
        if element is not None:
            text = strval(budget, element)
            size += len(text)
            budget.text(size)
            texts.append(text)
    budget.spend(size // 16)
    return texts


def string_list(texts: list[str]) -> GoList:
    """A list of Go's type []string."""
    return GoList(texts, go_type="[]string")


def elements(value: Any, doing: str) -> list[Any]:
    """A list's elements; an error where the value is none (`Cannot DOING type KIND`)."""
    if isinstance(value, list):
        return value
    if value is None:
        raise FunctionError("runtime error: invalid memory address or nil pointer dereference")
    raise FunctionError(f"Cannot {doing} type {kind_name(value)}")


def to_int64(value: Any) -> int:
    """A value as an int64; what cannot be one is 0."""
    value = indirect(value)
    if isinstance(value, GoInt):
        return 0 if isinstance(value, NamedInt) else wrap_int64(int(value))
    kind = type(value)
    if kind is bool:
        return int(value)
    if kind is int or kind is float:
        number = to_float(value)
        # What a processor of the amd64 family answers outside of the range.
        inside = math.isfinite(number) and -(2.0**63) <= number < 2.0**63
        return int(number) if inside else -_INT64
    if kind is str:
        return parse_int(value, 0) or 0
    return 0


def to_float64(value: Any) -> float:
    """A value as a float64; what cannot be one is 0."""
    value = indirect(value)
    kind = type(value)
    if kind is str:
        return parse_float(value) or 0.0
    if isinstance(value, NamedInt):
        return 0.0
    if kind in (bool, int, float) or isinstance(value, GoInt):
        return to_float(value)
    return 0.0


def is_empty(value: Any) -> bool:
    """Whether a value is its type's zero. Source: Sprig's empty."""
    if value is None:
        return True
    if isinstance(value, Pointer | GoObject):
        return False
    return not value
