"""Sprig's defaults and logic, `fail`, and JSON.

Source: Sprig's defaults.go and functions.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.lang.budget import Budget
from krm_fn.lang.gotemplate.sprig.convert import is_empty
from krm_fn.lang.gotemplate.sprig.json import JsonDecodeError, decode, encode
from krm_fn.lang.gotemplate.values import Family, FunctionError

FUNCTIONS: Final = Family()


@FUNCTIONS.function("default", "any ...any")
def default(fallback: Any, *given: Any) -> Any:
    return given[0] if given and not is_empty(given[0]) else fallback


@FUNCTIONS.function("empty", "any")
def empty(value: Any) -> bool:
    return is_empty(value)


@FUNCTIONS.function("coalesce", "...any")
def coalesce(*values: Any) -> Any:
    return next((value for value in values if not is_empty(value)), None)


@FUNCTIONS.function("all", "...any")
def all_(*values: Any) -> bool:
    return not any(map(is_empty, values))


@FUNCTIONS.function("any", "...any")
def any_(*values: Any) -> bool:
    return not all(map(is_empty, values))


@FUNCTIONS.function("ternary", "any any bool")
def ternary(then: Any, otherwise: Any, condition: bool) -> Any:
    return then if condition else otherwise


@FUNCTIONS.function("fail", "string")
def fail(message: str) -> str:
    raise FunctionError(message)


# JSON. toJson, toPrettyJson and fromJson answer what they have instead of an error.


@FUNCTIONS.function("fromJson", "string", budget=True)
def from_json(budget: Budget, text: str) -> Any:
    budget.spend(len(text) // 8)
    try:
        return decode(text)
    except JsonDecodeError as error:
        return error.value


@FUNCTIONS.function("mustFromJson", "string", budget=True)
def must_from_json(budget: Budget, text: str) -> Any:
    budget.spend(len(text) // 8)
    try:
        return decode(text)
    except JsonDecodeError as error:
        raise FunctionError(str(error)) from None


@FUNCTIONS.function("mustToJson", "any", budget=True)
def must_to_json(budget: Budget, value: Any) -> str:
    return encode(budget, value)


@FUNCTIONS.function("mustToPrettyJson", "any", budget=True)
def must_to_pretty_json(budget: Budget, value: Any) -> str:
    return encode(budget, value, indent=True)


@FUNCTIONS.function("toRawJson mustToRawJson", "any", budget=True)
def to_raw_json(budget: Budget, value: Any) -> str:
    return encode(budget, value, escape=False)


@FUNCTIONS.function("toJson", "any", budget=True)
def to_json(budget: Budget, value: Any) -> str:
    return _or_nothing(budget, value)


@FUNCTIONS.function("toPrettyJson", "any", budget=True)
def to_pretty_json(budget: Budget, value: Any) -> str:
    return _or_nothing(budget, value, indent=True)


def _or_nothing(budget: Budget, value: Any, indent: bool = False) -> str:
    try:
        return encode(budget, value, indent)
    except FunctionError:
        return ""
