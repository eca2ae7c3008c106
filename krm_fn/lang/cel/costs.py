"""What calls cost, counted as the API server counts them.

A cost may depend on the arguments, and on whether the checker knew which overload a call means: one
that may mean several costs 1, unless the environment's estimator knows the function by its name.
Source: cel-go v0.29, interpreter/runtimecost.go, ext/lists.go, ext/sets.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from krm_fn.lang.cel import values as v

Cost = Callable[..., int]
"""What a call costs, from the values of its arguments, whatever they are."""

Estimator = Mapping[str, Cost]
"""Costs of functions by name, and of overloads for which another one holds."""

_MADE: Final = 11
"""What a call that makes a list costs besides its elements."""


def walk(size: int) -> int:
    """The cost of walking over a string of so many code points, or over as many bytes."""
    return (size + 9) // 10


def regex_cost(value: Any, pattern: Any, *_: Any) -> int:
    """Matching: by the sizes of both, each expression being about four characters long."""
    return walk(v.size_of(value) + 1) * ((v.size_of(pattern) + 3) // 4)


def _first(value: Any, *_: Any) -> int:
    return walk(v.size_of(value))


def _second(value: Any, part: Any) -> int:
    return walk(v.size_of(part))


def _shorter(a: Any, b: Any) -> int:
    return walk(min(v.size_of(a), v.size_of(b)))


def _both(a: Any, b: Any) -> int:
    return walk(v.size_of(a) + v.size_of(b))


def _slice(values: Any, start: Any, end: Any) -> int:
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= v.size_of(values):
        return 1 + _MADE
    return end - start + _MADE


def _flatten(values: Any, depth: Any = 1) -> int:
    factor = depth if type(depth) is int and depth >= 0 else 1
    return v.size_of(values) * factor + _MADE


def _range(size: Any) -> int:
    made = size if type(size) is int and 0 <= size <= v.RANGE_MOST else 1
    return made + _MADE


def _made(values: Any) -> int:
    return v.size_of(values) + _MADE


def _pairs(values: Any) -> int:
    """Comparing all elements with each other; texts cost a tenth more."""
    size = v.size_of(values)
    if not size or not v.is_list(values):
        return _MADE
    each = 2.1 if type(next(iter(values))) in (str, bytes) else 2.0
    return int(each * (size * size)) + _MADE


def _set(factor: int) -> Cost:
    return lambda a, b: v.size_of(a) * v.size_of(b) * factor + 1


_ORDERED: Final = [
    *("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"),
    *("google.protobuf.Duration", "google.protobuf.Timestamp"),
]

_OVERLOADS: Final[dict[str, Cost]] = {
    "startsWith_string": _second,
    "endsWith_string": _second,
    "string_to_bytes": _first,
    "bytes_to_string": _first,
    "strings_quote": _first,
    "string_format": _first,
    "contains_string": lambda value, part: walk(v.size_of(value)) * walk(v.size_of(part)),
    "matches": regex_cost,
    "matches_string": regex_cost,
    "list_slice": _slice,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "lists_range": _range,
    "list_reverse": _made,
    "list_distinct": _pairs,
    "list_sets_contains_list": _set(1),
    "list_sets_intersects_list": _set(1),
    "list_sets_equivalent_list": _set(2),
    **{f"list_{name}_sort": _pairs for name in _ORDERED},
    **{
        f"list_{name}_sortByAssociatedKeys": (lambda values, keys: _pairs(keys))
        for name in _ORDERED
    },
}

_OPERATORS: Final[dict[str, Cost]] = {
    "equals": _shorter,
    "not_equals": _shorter,
    "add_string": _both,
    "add_bytes": _both,
    **{
        f"{name}_{kind}": _shorter
        for name in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
}
"""Of operators, whose closures pay for themselves: those that cost more than 1."""


def call_cost(function: str, overloads: tuple[str, ...], estimator: Estimator) -> Cost | None:
    """What a call costs that may mean these overloads; None is 1."""
    only = overloads[0] if len(overloads) == 1 else ""
    return estimator.get(only) or estimator.get(function) or _OVERLOADS.get(only)


def operator_cost(overloads: tuple[str, ...]) -> Cost | None:
    """What an operator costs that may mean these overloads; None is 1."""
    return _OPERATORS.get(overloads[0]) if len(overloads) == 1 else None
