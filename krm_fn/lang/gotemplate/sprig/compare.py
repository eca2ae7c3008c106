"""Go's reflect.DeepEqual, which also tells types apart: int 1 is not float64 1.

Source: Go's reflect/deepequal.go.
"""

from __future__ import annotations

from typing import Any

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import GoObject, is_nil, kind_name, to_bytes, to_float, type_name
from krm_fn.lang.gotemplate.values import Pointer


def deep_equal(budget: Budget, first: Any, other: Any) -> bool:
    """Whether two values have the same types and members."""
    budget.spend(1)
    if type_name(first) != type_name(other):
        return False
    if isinstance(first, list | dict):
        if is_nil(first) != is_nil(other) or len(first) != len(other):
            return False
        if first is other:
            return True
    if isinstance(first, dict):
        for key, value in first.items():
            if key not in other or not deep_equal(budget, value, other[key]):
                return False
        return True
    if isinstance(first, list):
        for mine, theirs in zip(first, other, strict=True):
            if not deep_equal(budget, mine, theirs):
                return False
        return True
    if isinstance(first, Pointer):
        return first is other or deep_equal(budget, first.value, other.value)
    if isinstance(first, GoObject):
        return first.deep_equal(other)
    if kind_name(first) == "float64":
        return to_float(first) == to_float(other)
    if type(first) is str:
        return first == other or to_bytes(first) == to_bytes(other)
    return bool(first == other)
