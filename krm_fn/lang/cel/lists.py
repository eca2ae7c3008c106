"""The lists and sets extensions.

Source: cel-go v0.29, ext/lists.go and ext/sets.go.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import operators
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.macros import MAP_INSERT, SORT_BY_KEYS
from krm_fn.lang.cel.values import Duration, ListView, Timestamp, UInt, equals
from krm_fn.limits import CEL_WORK

_T: Final = t.param("T")
_LIST: Final = t.list_of(_T)
COMPARABLE: Final = (
    ("int", t.INT),
    ("uint", t.UINT),
    ("double", t.DOUBLE),
    ("bool", t.BOOL),
    ("duration", t.DURATION),
    ("timestamp", t.TIMESTAMP),
    ("string", t.STRING),
    ("bytes", t.BYTES),
)
"""Types that have an order, as extensions name them."""


def _slice(values: Any, start: int, end: int) -> list[Any]:
    shown = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise EvaluationError(f"{shown}negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{shown}start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"{shown}list is length {len(values)}")
    return list(values)[start:end]


def _flatten(values: Any, depth: int = 1) -> list[Any]:
    if not v.is_list(values):
        name = v.type_of(values)
        raise EvaluationError(f"no such overload: {name}.flatten()")
    if type(depth) is not int:
        raise EvaluationError(f"no such overload: {v.type_of(values)}.flatten({v.type_of(depth)})")
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    made: list[Any] = []
    pending = [(iter(values), depth)]
    while pending:
        source, left = pending[-1]
        for value in source:
            if left and v.is_list(value):
                pending.append((iter(value), left - 1))
                break
            made.append(value)
        else:
            pending.pop()
    return made


def _flatten_work(values: Any, depth: Any = 1) -> int:
    """The elements of all levels, of which the cost counts the outermost only."""
    total = len(values)
    level = values
    for _ in range(depth if type(depth) is int else 1):
        inner = [value for value in level if v.is_list(value)]
        if not inner:
            break
        total += sum(map(len, inner))
        if total > CEL_WORK:
            break
        level = [value for one in inner for value in one]
    return total


def _range(size: int) -> list[int]:
    if size < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {size}")
    if size > v.RANGE_MOST:
        raise EvaluationError(f"lists.range: size {size} exceeds maximum allowed ({v.RANGE_MOST})")
    return list(range(size))


def _reverse(values: Any) -> list[Any]:
    return list(values)[::-1]


def _distinct(values: Any) -> list[Any]:
    made: list[Any] = []
    for value in values:
        if not any(_same(value, other) for other in made):
            made.append(value)
    return made


def _same(a: Any, b: Any) -> bool:
    try:
        return equals(a, b)
    except EvaluationError:
        return False


def _pairs_work(values: Any) -> int:
    """Comparing all elements with each other, of which the cost takes each for a scalar."""
    size = len(values)
    return size * size * (operators.weight(next(iter(values))) - 1) if size else 0


def _sorted_by(values: Any, keys: Any) -> Any:
    if not v.is_list(keys):
        raise v.no_overload()
    if len(values) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys "
            f"list, but got {len(values)} and {len(keys)} elements respectively"
        )
    if not len(values):
        return values
    known = list(keys)
    kind = type(known[0])
    if kind not in v.COMPARABLE:
        raise EvaluationError("list elements must be comparable")
    if len(known) > 1 and any(type(key) is not kind for key in known):
        raise EvaluationError("list elements must have the same type")
    elements = list(values)
    places = sorted(range(len(known)), key=_ORDERS.get(kind, _by_value)(known))
    return [elements[place] for place in places]


def _by_value(keys: list[Any]) -> Callable[[int], Any]:
    return keys.__getitem__


def _by_nanos(keys: list[Any]) -> Callable[[int], Any]:
    return lambda place: keys[place].nanos


def _by_number(keys: list[Any]) -> Callable[[int], Any]:
    return lambda place: keys[place].value


def _by_comparison(keys: list[Any]) -> Callable[[int], Any]:
    def order(a: int, b: int) -> int:
        try:
            return v.compare(keys[a], keys[b], "")
        except EvaluationError:
            # NaN has no place; upstream leaves it where the algorithm puts it.
            return 0

    return functools.cmp_to_key(order)


_ORDERS: Final[dict[type, Callable[[list[Any]], Callable[[int], Any]]]] = {
    float: _by_comparison,
    Duration: _by_nanos,
    Timestamp: _by_nanos,
    UInt: _by_number,
}
"""What sorts keys of a type; all others are compared as Python does."""


def _sort_work(values: Any, keys: Any = None) -> int:
    """Of a list whose elements the checker does not know, sorting costs 1."""
    size = v.size_of(values if keys is None else keys)
    return size * size.bit_length()


def _sorted(values: Any) -> Any:
    return _sorted_by(values, values)


_LISTS: Final = frozenset({list, ListView})


def functions() -> list[Function]:
    """The lists extension, version 3."""
    nested = t.list_of(_LIST)
    dyn = t.list_of(t.DYN)
    return [
        Function(
            "slice",
            [
                Overload(
                    "list_slice", (_LIST, t.INT, t.INT), _LIST, _slice,
                    member=True, work=steps(0),
                )
            ],
        ),
        Function(
            "flatten",
            [
                Overload(
                    "list_flatten", (nested,), _LIST, _flatten, member=True, work=_flatten_work
                ),
                Overload(
                    "list_flatten_int", (dyn, t.INT), dyn, _flatten,
                    member=True, work=_flatten_work,
                ),
            ],
            unguarded=True,
        ),
        Function(
            "sort",
            [
                Overload(f"list_{kind.name}_sort", (t.list_of(kind),), t.list_of(kind), member=True)
                for _, kind in COMPARABLE
            ],
            _sorted,
            takes=_LISTS,
            work=_sort_work,
        ),
        Function(
            SORT_BY_KEYS,
            [
                Overload(
                    f"list_{kind.name}_sortByAssociatedKeys",
                    (_LIST, t.list_of(kind)),
                    _LIST,
                    member=True,
                )
                for _, kind in COMPARABLE
            ],
            _sorted_by,
            takes=_LISTS,
            work=_sort_work,
        ),
        Function(
            "lists.range",
            [Overload("lists_range", (t.INT,), t.list_of(t.INT), _range)],
        ),
        Function(
            "reverse",
            [Overload("list_reverse", (_LIST,), _LIST, _reverse, member=True, work=steps(0))],
        ),
        Function(
            "distinct",
            [Overload("list_distinct", (_LIST,), _LIST, _distinct, member=True, work=_pairs_work)],
        ),
    ]  # fmt: skip


def comprehension_functions() -> list[Function]:
    """What the macros of two-variable comprehensions expand to; run as loops, not as calls."""
    key, value = t.param("K"), t.param("V")
    entries = t.map_of(key, value)
    return [
        Function(
            MAP_INSERT,
            [
                Overload("@mapInsert_map_key_value", (entries, key, value), entries),
                Overload("@mapInsert_map_map", (entries, entries), entries),
            ],
        )
    ]


def _contains(values: Any, wanted: Any) -> bool:
    viewed = type(values) is ListView
    for value in values:
        try:
            if equals(value, wanted) if viewed else equals(wanted, value):
                return True
        except EvaluationError:
            continue
    return False


def _contains_all(values: Any, wanted: Any) -> bool:
    return all(_contains(values, value) for value in wanted)


def _equivalent(a: Any, b: Any) -> bool:
    return _contains_all(a, b) and _contains_all(b, a)


def _intersects(a: Any, b: Any) -> bool:
    return any(_contains(b, value) for value in a)


def _product_work(a: Any, b: Any) -> int:
    size = len(a) * len(b)
    return size * operators.weight(next(iter(a))) if size else 0


def set_functions() -> list[Function]:
    """The sets extension."""
    args = (_LIST, _LIST)
    return [
        Function(
            f"sets.{name}",
            [Overload(f"list_sets_{name}_list", args, t.BOOL, impl, work=_product_work)],
        )
        for name, impl in (
            ("contains", _contains_all),
            ("equivalent", _equivalent),
            ("intersects", _intersects),
        )
    ]
