"""The methods that a template may call on texts, lists, maps and loops; none changes anything.

A template names a method; what runs is looked up in these tables and nowhere else. Each is paid for
by the length of what it reads, and by that of what it makes before it makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jinja2 import Undefined, pass_context
from jinja2.runtime import Context, LoopContext
from jinja2.utils import Namespace

from krm_fn.errors import EvaluationError
from krm_fn.lang.budget import Budget
from krm_fn.lang.jinja.environment import budget_of, call_value
from krm_fn.lang.jinja.values import describe, elements, made, refusal, text_of, weigh

Method = Callable[..., Any]
"""(budget, receiver, arguments) to a value."""

_COMPARISONS_PER_STEP: Final = 1_000


@pass_context
def method(context: Context, value: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`value.name(args)`."""
    budget = budget_of(context)
    budget.spend(1)
    if isinstance(value, Namespace):
        return call_value(context, context.environment.getattr(value, name), *args, **kwargs)
    for kind, table in _METHODS:
        if isinstance(value, kind):
            if name in table:
                return made(budget, table[name](budget, value, *args, **kwargs))
            known = ", ".join(table)
            raise EvaluationError(f"{describe(value)} has no method {name}; there are {known}")
    if isinstance(value, Undefined):
        raise refusal(value)
    raise EvaluationError(f"{describe(value)} has no methods")


def pay_for_search(budget: Budget, text: str, *sought: Any) -> None:
    """Pay for looking for strings in another, which takes the product of their lengths at worst."""
    weigh(budget, text)
    for each in sought:
        weigh(budget, each)
        if isinstance(each, str):
            budget.spend(len(text) * len(each) // _COMPARISONS_PER_STEP)


def replaced(budget: Budget, text: str, old: str, new: str, count: int | None = None) -> str:
    """`text` with `old` replaced; if `old` is empty, between all characters."""
    pay_for_search(budget, text, old)
    times = text.count(old)
    if count is not None and count >= 0:
        times = min(times, count)
    budget.text(len(text) + times * len(new))
    return text.replace(old, new, -1 if count is None else count)


def joined(budget: Budget, separator: str, values: Iterable[Any]) -> str:
    """The texts of values, with a separator between them."""
    texts: list[str] = []
    size = 0
    for value in values:
        texts.append(text_of(budget, value))
        size += len(texts[-1]) + len(separator)
        budget.text(size)
    return separator.join(texts)


def _of_a_text(function: Callable[..., Any]) -> Method:
    def run(budget: Budget, text: str, /, *args: Any) -> Any:
        pay_for_search(budget, text, *args)
        return function(text, *args)

    return run


def _padded(function: Callable[..., str]) -> Method:
    def run(budget: Budget, text: str, width: int, /, *fill: str) -> str:
        budget.text(width)
        return function(text, width, *fill)

    return run


def _join(budget: Budget, separator: str, values: Any, /) -> str:
    return joined(budget, separator, elements(budget, values))


def _of_a_list(function: Callable[..., Any]) -> Method:
    def run(budget: Budget, values: Any, /, *args: Any) -> Any:
        weigh(budget, values)
        weigh(budget, args)
        return function(values, *args)

    return run


def _of_a_map(function: Callable[[dict[Any, Any]], Iterable[Any]]) -> Method:
    def run(budget: Budget, value: dict[Any, Any], /) -> list[Any]:
        budget.spend(len(value))
        return list(function(value))

    return run


def _get(budget: Budget, value: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    return value.get(key, default)


def _cycle(budget: Budget, loop: LoopContext, /, *values: Any) -> Any:
    return loop.cycle(*values)


def _changed(budget: Budget, loop: LoopContext, /, *values: Any) -> bool:
    weigh(budget, values)
    return loop.changed(*values)


_METHODS: Final[tuple[tuple[type | tuple[type, ...], Mapping[str, Method]], ...]] = (
    (
        str,
        {
            **{
                function.__name__: _of_a_text(function)
                for function in (
                    str.capitalize,
                    str.count,
                    str.endswith,
                    str.find,
                    str.isalnum,
                    str.isalpha,
                    str.isdigit,
                    str.islower,
                    str.isupper,
                    str.lower,
                    str.lstrip,
                    str.partition,
                    str.removeprefix,
                    str.removesuffix,
                    str.rfind,
                    str.rpartition,
                    str.rsplit,
                    str.rstrip,
                    str.split,
                    str.splitlines,
                    str.startswith,
                    str.strip,
                    str.title,
                    str.upper,
                )
            },
            "join": _join,
            "ljust": _padded(str.ljust),
            "replace": replaced,
            "rjust": _padded(str.rjust),
            "zfill": _padded(str.zfill),
        },
    ),
    (
        (list, tuple),
        {
            "count": _of_a_list(lambda values, x: values.count(x)),
            "index": _of_a_list(lambda values, x: values.index(x)),
        },
    ),
    (
        dict,
        {
            "get": _get,
            "items": _of_a_map(dict.items),
            "keys": _of_a_map(dict.keys),
            "values": _of_a_map(dict.values),
        },
    ),
    (LoopContext, {"changed": _changed, "cycle": _cycle}),
)
