"""The lists and sets extensions.

Source: cel-go v0.29, ext/lists.go and ext/sets.go.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import operators
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.functions import Function, Overload
from krm_fn.lang.cel.macros import MAP_INSERT, SORT_BY_KEYS
from krm_fn.lang.cel.values import ListView, equals

_T: Final = t.param("T")
_LIST: Final = t.list_of(_T)
_MADE: Final = 11
"""What a call that makes a list costs besides its elements."""

_MOST: Final = 1_000_000

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


def _slice_cost(values: Any, start: int, end: int) -> int:
    return max(0, min(end, len(values)) - max(start, 0)) + _MADE


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


def _flatten_cost(values: Any, depth: int = 1) -> int:
    total = len(values)
    level = list(values)
    for _ in range(depth):
        inner = [value for value in level if v.is_list(value)]
        if not inner:
            break
        level = [value for one in inner for value in one]
        total += len(level)
        if total > 10 * _MOST:
            break
    # Upstream charges for the outer list only; a tenth is what copying takes here.
    return len(values) * min(max(depth, 1), 64) + total // 10 + _MADE


def _range(size: int) -> list[int]:
    if size < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {size}")
    if size > _MOST:
        raise EvaluationError(f"lists.range: size {size} exceeds maximum allowed ({_MOST})")
    return list(range(size))


def _range_cost(size: int) -> int:
    return (size if 0 <= size <= _MOST else 0) + _MADE


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


def _size_cost(values: Any) -> int:
    return len(values) + _MADE


def _pairs_cost(values: Any, *_: Any) -> int:
    """What comparing all elements with each other costs."""
    size = len(values)
    if not size:
        return _MADE
    first = next(iter(values))
    each = 2.1 if type(first) in (str, bytes) else 2.0
    if v.is_list(first) or v.is_map(first):
        each = max(each, operators.weight(first) / 4)
    return int(each * size * size) + _MADE


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
    pairs: list[tuple[Any, Any]] = list(zip(known, elements, strict=True))

    def order(a: tuple[Any, Any], b: tuple[Any, Any]) -> int:
        return _order(a[0], b[0])

    pairs.sort(key=functools.cmp_to_key(order))
    return [element for _, element in pairs]


def _order(a: Any, b: Any) -> int:
    try:
        return v.compare(a, b, "")
    except EvaluationError:
        # NaN has no place; upstream leaves it where the algorithm puts it.
        return 0


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
                    member=True, cost=_slice_cost,
                )
            ],
        ),
        Function(
            "flatten",
            [
                Overload(
                    "list_flatten", (nested,), _LIST, _flatten, member=True, cost=_flatten_cost
                ),
                Overload(
                    "list_flatten_int", (dyn, t.INT), dyn, _flatten,
                    member=True, cost=_flatten_cost,
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
            cost=_pairs_cost,
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
            cost=_pairs_cost,
        ),
        Function(
            "lists.range",
            [Overload("lists_range", (t.INT,), t.list_of(t.INT), _range, cost=_range_cost)],
        ),
        Function(
            "reverse",
            [Overload("list_reverse", (_LIST,), _LIST, _reverse, member=True, cost=_size_cost)],
        ),
        Function(
            "distinct",
            [Overload("list_distinct", (_LIST,), _LIST, _distinct, member=True, cost=_pairs_cost)],
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


def _product_cost(a: Any, b: Any) -> int:
    each = 1
    if len(a) and (v.is_list(first := next(iter(a))) or v.is_map(first)):
        each = max(1, operators.weight(first) // 4)
    return len(a) * len(b) * each + 1


def set_functions() -> list[Function]:
    """The sets extension."""
    args = (_LIST, _LIST)
    return [
        Function(
            f"sets.{name}",
            [Overload(f"list_sets_{name}_list", args, t.BOOL, impl, cost=_product_cost)],
        )
        for name, impl in (
            ("contains", _contains_all),
            ("equivalent", _equivalent),
            ("intersects", _intersects),
        )
    ]
