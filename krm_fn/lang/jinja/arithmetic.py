"""Operators on numbers, texts and lists, none of which makes more than the budget allows.

Python would compute `9 ** 9 ** 9` and print `"%999999999d" % 1`. Knows values and no templates.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2 import Undefined

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.budget import Budget
from krm_fn.lang.jinja.values import describe, made, refusal, small, weigh

_NUMERIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
OPERATORS: Final = frozenset(_NUMERIC)
_SEQUENCES: Final = (str, list)


def calculate(budget: Budget, name: str, left: Any, right: Any) -> Any:
    """`left name right` for one of `OPERATORS`. Raises EvaluationError, LimitError and Python's
    arithmetic errors."""
    budget.spend(1)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _number(name, left, right)
    if name == "+" and type(left) is type(right) and isinstance(left, _SEQUENCES):
        _pay(budget, left, len(left) + len(right))
        return left + right
    if name == "*":
        if isinstance(left, int):
            left, right = right, left
        if isinstance(left, _SEQUENCES) and isinstance(right, int):
            _pay(budget, left, len(left) * right)
            return left * right
    if name == "%" and isinstance(left, str):
        return formatted(budget, left, right)
    for side in (left, right):
        if isinstance(side, Undefined):
            raise refusal(side)
    raise EvaluationError(f"{name} does not take {describe(left)} and {describe(right)}")


def _pay(budget: Budget, sequence: str | list[Any], length: int) -> None:
    if isinstance(sequence, str):
        budget.text(length)
    else:
        budget.spend(length // 8)


def _number(name: str, left: int | float, right: int | float) -> int | float:
    whole = isinstance(left, int) and isinstance(right, int)
    if name == "**" and whole and abs(left) > 1:
        # No power is larger than this, and none that is too large is computed.
        small(1 << min(int(left).bit_length() * max(int(right), 0), limits.NUMBER_BITS))
    result = _NUMERIC[name](left, right)
    if isinstance(result, complex):
        raise EvaluationError(f"{left} ** {right} is no real number")
    return small(result) if isinstance(result, int) else float(result)


_PLACEHOLDER: Final = re.compile(
    r"%(?:\([^()]*\))?[#0\- +]*([0-9]*)(?:\.([0-9]*))?[hlL]?[diouxXeEfFgGcrsa%]"
)
_WIDEST: Final = 1_000
_NUMBER: Final = 400
"""Characters that no number takes more of, but for its width and precision."""


def formatted(budget: Budget, template: str, values: Any) -> str:
    """`template % values`: Python's formats, of a bounded width, which is written in them."""
    each = weigh(budget, values)
    weigh(budget, template)
    size = len(template)
    if "%" in _PLACEHOLDER.sub("", template):
        raise EvaluationError("a text before % has a placeholder that is none, or has a * in it")
    for widths in _PLACEHOLDER.findall(template):
        for width in widths:
            if len(width) > 4 or int(width or 0) > _WIDEST:
                raise LimitError(f"a format has a width of more than {_WIDEST:,} characters")
            size += int(width or 0)
        size += each + _NUMBER
        budget.text(size)
    text: str = made(budget, template % values)
    return text
