"""Jinja's immutable sandbox, narrowed: data and nothing but data, and every step is paid for.

Of what can be reached with a dot, there are the members of maps, the attributes of a loop and what
was set in a namespace; no attribute of a Python object is ever looked up by a name from a template.
Of what can be called, there are macros, recursive loops, `range` and `dict`; methods are `methods`.
This module knows neither filters nor how a template is rewritten.
Source: jinja2/sandbox.py, whose documented hooks these are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from jinja2 import StrictUndefined, Undefined, pass_context
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from krm_fn import limits
from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.budget import Budget
from krm_fn.lang.jinja.arithmetic import OPERATORS, calculate
from krm_fn.lang.jinja.values import describe, elements, refusal, text_of

HIDDEN: Final = "("
"""What names begin with that no template can write: filters which rewriting puts in."""


class Scope(Context):
    """What one render keeps while it runs."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.budget = Budget()
        self.depth = 0


class Environment(ImmutableSandboxedEnvironment):
    """The sandbox. Nothing is computed while a template is compiled."""

    intercepted_binops = OPERATORS
    intercepted_unops = frozenset("+-")
    context_class = Scope

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined,
            finalize=_printed,
            optimized=False,
            autoescape=False,
            keep_trailing_newline=True,
        )
        self.globals = {"range": _range, "dict": _dict}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        return calculate(budget_of(context), operator, left, right)

    def call_unop(self, context: Context, operator: str, arg: Any) -> Any:
        return calculate(budget_of(context), operator, 0, arg)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict):
            if attribute in obj:
                return obj[attribute]
        elif isinstance(obj, LoopContext):
            if attribute in _OF_A_LOOP:
                return _OF_A_LOOP[attribute](obj)
        elif isinstance(obj, Namespace):
            # A namespace answers with what was set in it, and to two names with an underscore.
            if not attribute.startswith("_"):
                return getattr(obj, attribute, self.undefined(obj=obj, name=attribute))
        elif isinstance(obj, tuple):
            names: tuple[str, ...] = getattr(obj, "_fields", ())
            if attribute in names:  # of a group: `grouper` and `list`
                return obj[names.index(attribute)]
        elif isinstance(obj, Undefined):
            raise refusal(obj)
        return self.undefined(obj=obj, name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, dict):
            if argument in obj:
                return obj[argument]
        elif isinstance(obj, str | list | tuple):
            if isinstance(argument, int) and -len(obj) <= argument < len(obj):
                return obj[argument]
        elif isinstance(obj, Undefined):
            raise refusal(obj)
        return self.undefined(obj=obj, name=argument)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        return call_value(__context, __obj, *args, **kwargs)

    def call_filter(
        self,
        name: str,
        value: Any,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        context: Context | None = None,
        eval_ctx: Any = None,
    ) -> Any:
        """A filter by a name that may come from a template, as in `map("upper")`."""
        if isinstance(name, str) and name.startswith(HIDDEN):
            raise EvaluationError(f"there is no filter {name}")
        return super().call_filter(name, value, args, kwargs, context, eval_ctx)


def scope_of(context: Context) -> Scope:
    assert isinstance(context, Scope)
    return context


def budget_of(context: Context) -> Budget:
    return scope_of(context).budget


def call_value(context: Context, value: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a macro, a recursive loop or one of the functions. Raises EvaluationError."""
    scope = scope_of(context)
    if isinstance(value, LoopContext):
        args = (elements(scope.budget, *args),)
    elif value is not _range and value is not _dict and not isinstance(value, Macro):
        if isinstance(value, Undefined):
            raise refusal(value)
        raise EvaluationError(f"{describe(value)} cannot be called")
    if scope.depth >= limits.TEMPLATE_DEPTH:
        raise LimitError(f"calls nest deeper than {limits.TEMPLATE_DEPTH:,}")
    scope.budget.spend(1)
    scope.depth += 1
    try:
        return scope.call(value, *args, **kwargs)
    finally:
        scope.depth -= 1


@pass_context
def _printed(context: Context, value: Any) -> str:
    budget = budget_of(context)
    budget.spend(1)
    return text_of(budget, value)


_OF_A_LOOP: Final[Mapping[str, Callable[[LoopContext], Any]]] = {
    name: attrgetter(name)
    for name in (
        "depth",
        "depth0",
        "first",
        "index",
        "index0",
        "last",
        "length",
        "nextitem",
        "previtem",
        "revindex",
        "revindex0",
    )
}


@pass_context
def _range(context: Context, *bounds: int) -> list[int]:
    row = range(*bounds)
    budget_of(context).spend(len(row))
    return list(row)


@pass_context
def _dict(context: Context, /, *pairs: Any, **members: Any) -> dict[Any, Any]:
    budget = budget_of(context)
    for each in pairs:
        elements(budget, each)
    return dict(*pairs, **members)
