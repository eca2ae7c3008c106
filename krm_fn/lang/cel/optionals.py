"""Optional values.

Source: cel-go v0.29, cel/library.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.values import NONE, Duration, Optional, Timestamp, UInt, Value

_V: Final = t.param("V")
_K: Final = t.param("K")
_OPTIONAL: Final = t.optional_of(_V)
_LIST: Final = t.list_of(_V)
_MAP: Final = t.map_of(_K, _V)

_YEAR_ONE: Final = -62_135_596_800 * 1_000_000_000


def _is_zero(value: Any) -> bool:
    """Whether a value is its type's empty one; not of libraries' types that do not say so."""
    if value is None:
        return True
    kind = type(value)
    if kind is bool or kind is int or kind is float:
        return bool(value == 0)
    if kind is UInt:
        return bool(value.value == 0)
    if kind is Duration:
        return bool(value.nanos == 0)
    if kind is Timestamp:
        return bool(value.nanos == _YEAR_ONE)
    if kind in _SIZED:
        return len(value) == 0
    return isinstance(value, Value) and value.zero


_SIZED: Final = frozenset({str, bytes, list, dict})


def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else Optional(value)


def _first(values: Any) -> Optional:
    for value in values:
        return Optional(value)
    return NONE


def _last(values: Any) -> Optional:
    if not len(values):
        return NONE
    return Optional(values[-1] if type(values) is list else values.at(len(values) - 1))


def _unwrap(values: Any) -> list[Any]:
    made = []
    for value in values:
        if type(value) is not Optional:
            raise EvaluationError(f"value {v.show(value)} is not optional")
        if value.present:
            made.append(value.value)
    return made


def functions() -> list[Function]:
    """Functions on optional values."""
    optional_list, optional_map = t.optional_of(_LIST), t.optional_of(_MAP)
    listed = t.list_of(_OPTIONAL)
    return [
        Function("optional.of", [Overload("optional_of", (_V,), _OPTIONAL, Optional)]),
        Function(
            "optional.ofNonZeroValue",
            [Overload("optional_ofNonZeroValue", (_V,), _OPTIONAL, _of_non_zero)],
        ),
        Function("optional.none", [Overload("optional_none", (), _OPTIONAL, lambda: NONE)]),
        Function(
            "value",
            [Overload("optional_value", (_OPTIONAL,), _V, lambda o: o.value, member=True)],
        ),
        Function(
            "hasValue",
            [Overload("optional_hasValue", (_OPTIONAL,), t.BOOL, lambda o: o.present, member=True)],
        ),
        Function(
            "or", [Overload("optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL, member=True)]
        ),
        Function("orValue", [Overload("optional_orValue_value", (_OPTIONAL, _V), _V, member=True)]),
        Function("_?._", [Overload("select_optional_field", (t.DYN, t.STRING), _OPTIONAL)]),
        Function(
            "_[?_]",
            [
                Overload("list_optindex_optional_int", (_LIST, t.INT), _OPTIONAL),
                Overload("optional_list_optindex_optional_int", (optional_list, t.INT), _OPTIONAL),
                Overload("map_optindex_optional_value", (_MAP, _K), _OPTIONAL),
                Overload("optional_map_optindex_optional_value", (optional_map, _K), _OPTIONAL),
            ],
        ),
        Function(
            "_[_]",
            [
                Overload("optional_list_index_int", (optional_list, t.INT), _OPTIONAL),
                Overload("optional_map_index_value", (optional_map, _K), _OPTIONAL),
            ],
        ),
        Function("first", [Overload("list_first", (_LIST,), _OPTIONAL, _first, member=True)]),
        Function("last", [Overload("list_last", (_LIST,), _OPTIONAL, _last, member=True)]),
        Function(
            "optional.unwrap",
            [Overload("optional_unwrap", (listed,), _LIST, _unwrap, work=steps(0))],
        ),
        Function(
            "unwrapOpt",
            [Overload("optional_unwrapOpt", (listed,), _LIST, _unwrap, member=True, work=steps(0))],
        ),
    ]
