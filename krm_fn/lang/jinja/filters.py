"""The filters and tests of Jinja that stay within bounds, each paid for.

Left out is what Python objects, HTML, chance or a page's layout are for. Jinja's own filters do the
work where they can; where one could make more than it reads, or takes texts for numbers, it is
checked before, or written here. Filters whose names begin with a parenthesis are put in when a
template is rewritten (`tree`).
Source: jinja2/filters.py, jinja2/tests.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2 import Undefined, pass_context
from jinja2.runtime import Context
from jinja2.utils import Namespace

from krm_fn.errors import EvaluationError
from krm_fn.lang.budget import Budget
from krm_fn.lang.jinja.arithmetic import formatted
from krm_fn.lang.jinja.environment import HIDDEN, Environment, budget_of
from krm_fn.lang.jinja.methods import joined, method, pay_for_search, replaced
from krm_fn.lang.jinja.values import describe, elements, made, refusal, text_of, to_json, weigh

Function = Callable[..., Any]

_JINJA: Final = Environment()
"""Has Jinja's own filters and tests."""

_DEEPEST_INDENT: Final = 16
_FINEST: Final = 30


def _pay(budget: Budget, value: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    budget.spend(1)
    weigh(budget, value)
    if isinstance(value, list | tuple | dict):
        budget.spend(len(value))
    for each in (*args, *kwargs.values()):
        weigh(budget, each)


def _filter(name: str, check: Function | None = None, *, text: bool = False) -> Function:
    """Jinja's filter; with `text` on the text of the value, after `check` has allowed it."""

    @pass_context
    def run(context: Context, value: Any, /, *args: Any, **kwargs: Any) -> Any:
        budget = budget_of(context)
        if text:
            value = text_of(budget, value)
        _pay(budget, value, args, kwargs)
        if check is not None:
            check(budget, value, *args, **kwargs)
        return made(budget, _JINJA.call_filter(name, value, args, kwargs, context=context))

    return run


def _test(name: str, check: Function | None = None) -> Function:
    """Jinja's test, after `check` has allowed it."""

    @pass_context
    def run(context: Context, value: Any, /, *args: Any, **kwargs: Any) -> bool:
        _pay(budget_of(context), value, args, kwargs)
        if check is not None:
            check(value, *args, **kwargs)
        return bool(_JINJA.call_test(name, value, args, kwargs, context=context))

    return run


# ------------------------------------------------------------------------- before Jinja's filters


def _check_indent(budget: Budget, text: str, width: Any = 4, *_: Any, **__: Any) -> None:
    size = width if isinstance(width, int) else len(width)
    budget.text(len(text) + (text.count("\n") + 1) * size)


def _check_round(budget: Budget, value: Any, precision: Any = 0, *_: Any, **__: Any) -> None:
    _check_numbers(value, precision)
    if abs(precision) > _FINEST:
        raise EvaluationError(f"round takes a precision of at most {_FINEST}")


def _check_trim(budget: Budget, text: str, chars: Any = None, *_: Any, **__: Any) -> None:
    pay_for_search(budget, text, chars)


def _check_numbers(*values: Any, **named: Any) -> None:
    for value in (*values, *named.values()):
        if not isinstance(value, int | float):
            raise EvaluationError(f"{describe(value)} is no number")


# ----------------------------------------------------------------------- instead of Jinja's filters


@pass_context
def _default(context: Context, value: Any, /, default: Any = "", boolean: bool = False) -> Any:
    budget_of(context).spend(1)
    if isinstance(value, Undefined) or (boolean and not value):
        return default
    return value


@pass_context
def _format(context: Context, value: Any, /, *args: Any, **kwargs: Any) -> str:
    budget = budget_of(context)
    if args and kwargs:
        raise EvaluationError("format takes values either in order or by name")
    return formatted(budget, text_of(budget, value), kwargs or args)


@pass_context
def _join(context: Context, value: Any, /, d: Any = "", attribute: Any = None) -> str:
    budget = budget_of(context)
    return joined(budget, text_of(budget, d), _elements(context, value, attribute))


def _elements(context: Context, value: Any, attribute: Any) -> list[Any]:
    found = elements(budget_of(context), value)
    if attribute is None:
        return found
    by = {"attribute": attribute}
    mapped: list[Any] = context.environment.call_filter("map", found, (), by, context)
    return mapped


@pass_context
def _length(context: Context, value: Any, /) -> int:
    budget_of(context).spend(1)
    if not isinstance(value, str | list | tuple | dict):
        raise (
            refusal(value)
            if isinstance(value, Undefined)
            else EvaluationError(f"{describe(value)} has no length")
        )
    return len(value)


@pass_context
def _replace(context: Context, value: Any, old: Any, new: Any, count: int | None = None, /) -> str:
    budget = budget_of(context)
    text, old, new = (text_of(budget, each) for each in (value, old, new))
    return replaced(budget, text, old, new, count)


@pass_context
def _string(context: Context, value: Any, /) -> str:
    return text_of(budget_of(context), value)


@pass_context
def _sum(context: Context, value: Any, /, attribute: Any = None, start: Any = 0) -> Any:
    found = _elements(context, value, attribute)
    for each in (*found, start):
        weigh(budget_of(context), each)
    _check_numbers(*found, start)
    return made(budget_of(context), sum(found, start))


@pass_context
def _to_json(context: Context, value: Any, /, indent: int | None = None) -> str:
    if indent is not None and not 0 <= indent <= _DEEPEST_INDENT:
        raise EvaluationError(f"tojson takes an indent of at most {_DEEPEST_INDENT}")
    return to_json(budget_of(context), value, indent)


@pass_context
def _unique(
    context: Context, value: Any, /, case_sensitive: bool = False, attribute: Any = None
) -> list[Any]:
    # Keys are texts: a set of numbers can be made slow on purpose.
    first: dict[str, Any] = {}
    found = _elements(context, value, None)
    for each, by in zip(found, _elements(context, found, attribute), strict=True):
        key = to_json(budget_of(context), by)
        first.setdefault(key if case_sensitive else key.lower(), each)
    return list(first.values())


# ------------------------------------------------------------- what templates are rewritten to use


@pass_context
def _turns(context: Context, value: Any, /) -> list[Any]:
    return elements(budget_of(context), value)


@pass_context
def _paid(context: Context, value: Any, steps: int, /) -> Any:
    budget_of(context).spend(steps)
    return value


@pass_context
def _concatenated(context: Context, value: Any, /, *others: Any) -> str:
    budget = budget_of(context)
    budget.spend(1)
    return joined(budget, "", (value, *others))


@pass_context
def _sliced(context: Context, value: Any, start: Any, stop: Any, step: Any, /) -> Any:
    if not isinstance(value, str | list | tuple):
        raise (
            refusal(value)
            if isinstance(value, Undefined)
            else EvaluationError(f"{describe(value)} cannot be sliced")
        )
    budget_of(context).spend(1)
    return made(budget_of(context), value[start:stop:step])


@pass_context
def _namespace(context: Context, _: None, /, *pairs: Any, **members: Any) -> Namespace:
    for each in pairs:
        elements(budget_of(context), each)
    return Namespace(*pairs, **members)


_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
    "in": lambda a, b: a in b,
    "notin": lambda a, b: a not in b,
}


@pass_context
def _compared(context: Context, left: Any, /, *rest: Any) -> bool:
    """`left op right op right ...`, where `rest` has the operators and what stands behind each."""
    budget = budget_of(context)
    budget.spend(1)
    weigh(budget, left)
    for name, right in zip(rest[::2], rest[1::2], strict=True):
        weigh(budget, right)
        if not _COMPARISONS[name](left, right):
            return False
        left = right
    return True


TURNS: Final = HIDDEN + "turns)"
PAID: Final = HIDDEN + "paid)"
CONCATENATED: Final = HIDDEN + "concatenated)"
SLICED: Final = HIDDEN + "sliced)"
COMPARED: Final = HIDDEN + "compared)"
METHOD: Final = HIDDEN + "method)"
NAMESPACE: Final = HIDDEN + "namespace)"

FILTERS: Final[Mapping[str, Function]] = {
    "abs": _filter("abs"),
    "capitalize": _filter("capitalize", text=True),
    "count": _length,
    "d": _default,
    "default": _default,
    "dictsort": _filter("dictsort"),
    "first": _filter("first"),
    "float": _filter("float"),
    "format": _format,
    "groupby": _filter("groupby"),
    "indent": _filter("indent", _check_indent, text=True),
    "int": _filter("int"),
    "items": _filter("items"),
    "join": _join,
    "last": _filter("last"),
    "length": _length,
    "list": _filter("list"),
    "lower": _filter("lower", text=True),
    "map": _filter("map"),
    "max": _filter("max"),
    "min": _filter("min"),
    "reject": _filter("reject"),
    "rejectattr": _filter("rejectattr"),
    "replace": _replace,
    "reverse": _filter("reverse"),
    "round": _filter("round", _check_round),
    "select": _filter("select"),
    "selectattr": _filter("selectattr"),
    "sort": _filter("sort"),
    "string": _string,
    "sum": _sum,
    "title": _filter("title", text=True),
    "tojson": _to_json,
    "trim": _filter("trim", _check_trim, text=True),
    "truncate": _filter("truncate", text=True),
    "unique": _unique,
    "upper": _filter("upper", text=True),
    "urlencode": _filter("urlencode"),
    TURNS: _turns,
    PAID: _paid,
    CONCATENATED: _concatenated,
    SLICED: _sliced,
    COMPARED: _compared,
    METHOD: method,
    NAMESPACE: _namespace,
}

_OF_A_TYPE: Final = (
    "boolean",
    "defined",
    "false",
    "float",
    "integer",
    "iterable",
    "mapping",
    "none",
    "number",
    "sequence",
    "string",
    "true",
    "undefined",
)
_OF_TWO: Final = (
    *("!=", "<", "<=", "==", ">", ">=", "eq", "equalto", "ge", "greaterthan", "gt", "in"),
    *("le", "lessthan", "lt", "ne"),
)

_JINJA_TESTS: Final[Mapping[str, Any]] = _JINJA.tests

TESTS: Final[Mapping[str, Function]] = {
    **{name: _JINJA_TESTS[name] for name in _OF_A_TYPE},
    **{name: _test(name) for name in (*_OF_TWO, "lower", "upper")},
    # A text before % would be a format.
    **{name: _test(name, _check_numbers) for name in ("divisibleby", "even", "odd")},
}
