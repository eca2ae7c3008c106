"""Sprig's questions about types.

Source: Sprig's reflect.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.go.values import kind_name, type_name
from krm_fn.lang.gotemplate.sprig.compare import deep_equal
from krm_fn.lang.gotemplate.values import Family

FUNCTIONS: Final = Family()


@FUNCTIONS.function("typeOf", "any")
def type_of(value: Any) -> str:
    return type_name(value)


@FUNCTIONS.function("typeIs", "string any")
def type_is(name: str, value: Any) -> bool:
    return name == type_name(value)


@FUNCTIONS.function("typeIsLike", "string any")
def type_is_like(name: str, value: Any) -> bool:
    """The type, or a pointer to it."""
    return type_name(value) in (name, "*" + name)


@FUNCTIONS.function("kindOf", "any")
def kind_of(value: Any) -> str:
    return kind_name(value)


@FUNCTIONS.function("kindIs", "string any")
def kind_is(name: str, value: Any) -> bool:
    return name == kind_name(value)


@FUNCTIONS.function("deepEqual", "any any", budget=True)
def deep_equal_(budget: Budget, first: Any, other: Any) -> bool:
    return deep_equal(budget, first, other)
