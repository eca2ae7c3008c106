"""Declarations of functions, and which overload a call runs.

A function has overloads, told apart by the types of their arguments. The checker finds those that a
call may mean; if only one is left, it runs behind a check of the values' types, otherwise the first
that fits the values does. Operators are functions whose one implementation looks for itself.
Source: cel-go v0.29, common/decls/decls.go and interpreter/interpretable.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.types import Type

Impl = Callable[..., Any]
"""From the values of the arguments (the target first) to a value; raises EvaluationError."""

Cost = Callable[..., int]
"""What a call costs, from the same arguments, before it runs."""


class Overload:
    """One signature of a function. `cost` None is 1."""

    __slots__ = ("args", "cost", "id", "impl", "member", "params", "result")

    def __init__(
        self,
        overload_id: str,
        args: tuple[Type, ...],
        result: Type,
        impl: Impl | None = None,
        *,
        member: bool = False,
        cost: Cost | None = None,
    ) -> None:
        self.id = overload_id
        self.args = args
        self.result = result
        self.impl = impl
        self.member = member
        self.cost = cost
        names: dict[str, None] = {}
        for kind in (result, *args):
            _collect_params(kind, names)
        self.params = tuple(names)

    def fits(self, values: tuple[Any, ...]) -> bool:
        """Whether the values are of the argument types, as far as run time can tell."""
        if len(values) != len(self.args):
            return False
        return all(map(is_instance, self.args, values))


def _collect_params(kind: Type, names: dict[str, None]) -> None:
    if kind.kind == t.PARAM:
        names[kind.name] = None
    for inner in kind.params:
        _collect_params(inner, names)


class Function:
    """A function's name and overloads.

    `impl`: one implementation for all overloads, which checks its arguments itself; `takes` are the
    Python types of the first argument that it is meant for (None: any).
    `unguarded`: overloads run without a check of the values' types.
    """

    __slots__ = ("cost", "impl", "name", "overloads", "takes", "unguarded")

    def __init__(
        self,
        name: str,
        overloads: Iterable[Overload],
        impl: Impl | None = None,
        *,
        takes: frozenset[type] | None = None,
        unguarded: bool = False,
        cost: Cost | None = None,
    ) -> None:
        self.name = name
        self.overloads = {overload.id: overload for overload in overloads}
        self.impl = impl
        self.takes = takes
        self.unguarded = unguarded
        self.cost = cost

    def merged(self, other: Function) -> Function:
        """This function with the overloads of another declaration of the same name."""
        return Function(
            self.name,
            (self.overloads | other.overloads).values(),
            self.impl or other.impl,
            takes=self.takes,
            unguarded=self.unguarded or other.unguarded,
            cost=self.cost or other.cost,
        )


def is_instance(kind: Type, value: Any) -> bool:
    """Whether a value is of a type at run time: of lists and maps the first element counts."""
    if kind.kind in (t.DYN_KIND, t.ANY, t.PARAM):
        return True
    actual = v.type_of(value)
    if actual.name != kind.name:
        return False
    if kind.kind == t.LIST:
        return _first_fits(kind.params[0], v.elements(value))
    if kind.kind == t.MAP:
        for key in v.map_keys(value):
            inner, _ = v.map_find(value, key)
            return is_instance(kind.params[0], key) and is_instance(kind.params[1], inner)
    return True


def _first_fits(kind: Type, values: Iterable[Any]) -> bool:
    for value in values:
        return is_instance(kind, value)
    return True


def no_such_overload(name: str, values: tuple[Any, ...]) -> EvaluationError:
    """The error of a call whose values fit no overload."""
    names = ", ".join([v.type_of(value).name for value in values])
    return EvaluationError(f"no such overload: {name}({names})")


_RECEIVERS: Final = frozenset({str, v.Timestamp, v.Duration})


def implementation(function: Function, ids: tuple[str, ...]) -> tuple[Impl, Cost | None]:
    """What a call of the given overloads runs, and what it costs."""
    name = function.name
    if function.impl is not None:
        if function.takes is None:
            return function.impl, function.cost
        return _only_for(function.takes, function.impl, name), function.cost
    if len(ids) == 1 or len(function.overloads) == 1:
        overload = function.overloads[ids[0]] if len(ids) == 1 else _only(function)
        if overload.impl is None:
            return _missing(name), overload.cost
        if function.unguarded:
            return overload.impl, overload.cost
        return _guarded(overload, overload.impl, name), overload.cost
    candidates = [o for o in function.overloads.values() if o.impl is not None]
    return _dispatch(candidates, name, function.unguarded), _dispatch_cost(candidates)


def _only(function: Function) -> Overload:
    return next(iter(function.overloads.values()))


def _missing(name: str) -> Impl:
    def run(*values: Any) -> Any:
        raise EvaluationError(f"no such overload: {name}")

    return run


def _only_for(takes: frozenset[type], impl: Impl, name: str) -> Impl:
    def run(*values: Any) -> Any:
        kind = type(values[0])
        if kind in takes:
            return impl(*values)
        raise EvaluationError(v.NO_OVERLOAD if kind in _RECEIVERS else f"no such overload: {name}")

    return run


_EXACT: Final[dict[str, type]] = {
    t.BOOL_KIND: bool,
    t.BYTES_KIND: bytes,
    t.DOUBLE_KIND: float,
    t.DURATION_KIND: v.Duration,
    t.INT_KIND: int,
    t.STRING_KIND: str,
    t.TIMESTAMP_KIND: v.Timestamp,
    t.UINT_KIND: v.UInt,
}


def _guarded(overload: Overload, impl: Impl, name: str) -> Impl:
    kinds = [_EXACT.get(arg.kind) for arg in overload.args]
    if None not in kinds and len(kinds) == 1:
        only = kinds[0]

        def run_one(value: Any) -> Any:
            if type(value) is only:
                return impl(value)
            raise no_such_overload(name, (value,))

        return run_one
    if None not in kinds and len(kinds) == 2:
        first, second = kinds

        def run_two(a: Any, b: Any) -> Any:
            if type(a) is first and type(b) is second:
                return impl(a, b)
            raise no_such_overload(name, (a, b))

        return run_two

    def run(*values: Any) -> Any:
        if overload.fits(values):
            return impl(*values)
        raise no_such_overload(name, values)

    return run


def _dispatch(candidates: list[Overload], name: str, unguarded: bool) -> Impl:
    def run(*values: Any) -> Any:
        for overload in candidates:
            if overload.fits(values) or (unguarded and len(values) == len(overload.args)):
                assert overload.impl is not None
                return overload.impl(*values)
        raise no_such_overload(name, values)

    return run


def _dispatch_cost(candidates: list[Overload]) -> Cost | None:
    if all(overload.cost is None for overload in candidates):
        return None

    def cost(*values: Any) -> int:
        for overload in candidates:
            if overload.fits(values):
                return 1 if overload.cost is None else overload.cost(*values)
        return 1

    return cost


def traversal(size: int) -> int:
    """What walking over a text of `size` costs."""
    return (size + 9) // 10
