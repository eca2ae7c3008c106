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

Work = Callable[..., int]
"""The steps that a call takes besides its cost, from the same arguments, before it runs."""


class Overload:
    """One signature of a function. `work` None is next to nothing."""

    __slots__ = ("args", "id", "impl", "member", "params", "result", "work")

    def __init__(
        self,
        overload_id: str,
        args: tuple[Type, ...],
        result: Type,
        impl: Impl | None = None,
        *,
        member: bool = False,
        work: Work | None = None,
    ) -> None:
        self.id = overload_id
        self.args = args
        self.result = result
        self.impl = impl
        self.member = member
        self.work = work
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

    __slots__ = ("impl", "name", "overloads", "takes", "unguarded", "work")

    def __init__(
        self,
        name: str,
        overloads: Iterable[Overload],
        impl: Impl | None = None,
        *,
        takes: frozenset[type] | None = None,
        unguarded: bool = False,
        work: Work | None = None,
    ) -> None:
        self.name = name
        self.overloads = {overload.id: overload for overload in overloads}
        self.impl = impl
        self.takes = takes
        self.unguarded = unguarded
        self.work = work

    def merged(self, other: Function) -> Function:
        """This function with the overloads of another declaration of the same name."""
        return Function(
            self.name,
            (self.overloads | other.overloads).values(),
            self.impl or other.impl,
            takes=self.takes,
            unguarded=self.unguarded or other.unguarded,
            work=self.work or other.work,
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


def implementation(function: Function, ids: tuple[str, ...]) -> tuple[Impl, Work | None]:
    """What a call of the given overloads runs, and the steps that this takes."""
    name = function.name
    if function.impl is not None:
        if function.takes is None:
            return function.impl, function.work
        return _only_for(function.takes, function.impl, name), function.work
    if len(ids) == 1 or len(function.overloads) == 1:
        overload = function.overloads[ids[0]] if len(ids) == 1 else _only(function)
        if overload.impl is None:
            return _missing(name), overload.work
        if function.unguarded:
            return overload.impl, overload.work
        return _guarded(overload, overload.impl, name), overload.work
    candidates = [o for o in function.overloads.values() if o.impl is not None]
    return _dispatch(candidates, name, function.unguarded), _dispatch_work(candidates)


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


def _chooser(candidates: list[Overload], unguarded: bool) -> Callable[..., Overload | None]:
    """What finds the first overload that fits the values."""

    def first(*values: Any) -> Overload | None:
        for overload in candidates:
            if overload.fits(values) or (unguarded and len(values) == len(overload.args)):
                return overload
        return None

    if unguarded or any(len(overload.args) != 1 for overload in candidates):
        return first
    by_type: dict[type, Overload] = {}
    for overload in candidates:
        kind = _EXACT.get(overload.args[0].kind)
        if kind is not None:
            by_type.setdefault(kind, overload)
    return lambda value: by_type.get(type(value)) or first(value)


def _dispatch(candidates: list[Overload], name: str, unguarded: bool) -> Impl:
    choose = _chooser(candidates, unguarded)

    def run(*values: Any) -> Any:
        overload = choose(*values)
        if overload is None or overload.impl is None:
            raise no_such_overload(name, values)
        return overload.impl(*values)

    return run


def _dispatch_work(candidates: list[Overload]) -> Work | None:
    if all(overload.work is None for overload in candidates):
        return None
    choose = _chooser(candidates, unguarded=False)

    def work(*values: Any) -> int:
        overload = choose(*values)
        return 0 if overload is None or overload.work is None else overload.work(*values)

    return work


def steps(base: int, per: int = 10) -> Work:
    """The work of a call that takes `base` steps, and one for each `per` of its first argument."""

    def work(value: Any, *_: Any) -> int:
        return base + len(value) // per

    return work
