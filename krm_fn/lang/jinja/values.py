"""What a template works on: JSON values, paid for before anything reads them from end to end.

A value can be small and its text endless, since one list may stand in another many times. So every
walk over a value is made here first, and is paid for as it goes. Knows no operator and no filter.
"""

from __future__ import annotations

import json
from typing import Any, Final

from jinja2 import Undefined
from jinja2.runtime import LoopContext, Macro
from jinja2.utils import Namespace

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.budget import Budget

_ELEMENTS_PER_STEP: Final = 8
_TEXT_PER_STEP: Final = 16
_MARKS: Final = 4
"""Characters around an element in a string: quotes, a comma, a space."""


def weigh(budget: Budget, value: Any) -> int:
    """Pay for reading all of a value; about how many characters its text has.

    Raises EvaluationError for what is no data (a macro, a loop, something undefined), and
    LimitError.
    """
    if type(value) is str:
        budget.spend(len(value) // _TEXT_PER_STEP)
        return len(value)
    total = 0
    layer = [value]
    for _ in range(limits.NESTING):
        below: list[Any] = []
        size = 0
        for each in layer:
            if isinstance(each, str):
                size += len(each) + _MARKS
            elif isinstance(each, dict):
                below += each
                below += each.values()
                budget.spend(2 * len(each))
            elif isinstance(each, list | tuple):
                below += each
                budget.spend(len(each))
            elif isinstance(each, int):
                size += each.bit_length() // 3 + _MARKS
            elif isinstance(each, float) or each is None:
                size += _MARKS
            else:
                raise refusal(each)
        budget.spend(size // _TEXT_PER_STEP)
        total += size + len(layer) * _MARKS
        if not below:
            return total
        layer = below
    raise LimitError(f"a value nests deeper than {limits.NESTING:,}")


def refusal(value: Any) -> Exception:
    """The error about something that stands where data is wanted."""
    if isinstance(value, Undefined):
        try:
            iter(value)  # an undefined value says itself what is missing
        except Exception as error:
            return error
    return EvaluationError(f"{describe(value)} cannot be used as a value")


def describe(value: Any) -> str:
    """What a value is, for errors."""
    for kinds, name in _NAMES:
        if isinstance(value, kinds):
            return name
    return "a function"


_NAMES: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (str, "a text"),
    (bool, "a boolean"),
    ((int, float), "a number"),
    (type(None), "null"),
    ((list, tuple), "a list"),
    (dict, "a map"),
    (Undefined, "something undefined"),
    (Macro, "a macro"),
    (LoopContext, "a loop"),
    (Namespace, "a namespace"),
)


def text_of(budget: Budget, value: Any) -> str:
    """A value as it is printed: a string as it is, all else as JSON, in the mapping's own order."""
    if isinstance(value, str):
        budget.text(len(value))
        budget.spend(len(value) // _TEXT_PER_STEP)
        return value
    if isinstance(value, Undefined):
        return str(value)  # raises, but for an `if` without `else` in an expression
    return to_json(budget, value)


def to_json(budget: Budget, value: Any, indent: int | None = None) -> str:
    """The JSON text of a value."""
    budget.text(weigh(budget, value))
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    budget.text(len(text))
    return text


def elements(budget: Budget, value: Any) -> list[Any]:
    """What a loop goes through: elements, a map's keys, a string's characters; each is paid for."""
    if isinstance(value, Undefined):
        return list(value)
    if not isinstance(value, str | list | tuple | dict):
        raise EvaluationError(f"{describe(value)} has no elements")
    budget.spend(len(value))
    return value if type(value) is list else list(value)


def made(budget: Budget, value: Any) -> Any:
    """Pay for a result, which is handed on; what is made one by one is made now."""
    if isinstance(value, str):
        budget.text(len(value))
        budget.spend(len(value) // _TEXT_PER_STEP)
    elif isinstance(value, int):
        small(value)
    elif isinstance(value, list | tuple | dict):
        budget.spend(len(value) // _ELEMENTS_PER_STEP)
    elif hasattr(value, "__next__"):
        return made(budget, list(value))
    return value


def small(value: int) -> int:
    """A whole number of a bounded size. Raises LimitError."""
    if value.bit_length() > limits.NUMBER_BITS:
        raise LimitError(f"a number has more than {limits.NUMBER_BITS:,} bits")
    return value
