"""Selecting fields and elements: `a.b`, `a[b]`, `a.?b`, `has(a.b)`.

Source: cel-go v0.29, interpreter/attributes.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.values import NONE, ListView, MapView, Optional, UInt, Value

Frame = list[Any]
"""The budget, then the variables of one evaluation by slot."""

Run = Callable[[Frame], Any]

_MISSING: Final = object()


class Step:
    """One qualifier: a constant `key` or an expression `run`. `optional` for `.?` and `[?]`.

    `field`: reads the field of a struct type that the checker knew, past the value's own rules.
    `cost`: of the qualifier with its expression.
    """

    __slots__ = ("cost", "field", "key", "optional", "run")

    def __init__(
        self,
        key: Any,
        run: Run | None,
        optional: bool,
        field: FieldAccess | None = None,
        *,
        cost: int = 1,
    ) -> None:
        self.key = key
        self.run = run
        self.optional = optional
        self.field = field
        self.cost = cost


class FieldAccess:
    """How the fields of a struct type are read where the static type is known."""

    __slots__ = ("get", "has")

    def __init__(self, has: Callable[[Any, str], bool], get: Callable[[Any, str], Any]) -> None:
        self.has = has
        self.get = get


_QUALIFIERS: Final = frozenset({str, int, UInt, bool, float})


def check_qualifier(key: Any) -> None:
    """Raise EvaluationError if nothing can be looked up by a value of this type."""
    if type(key) not in _QUALIFIERS:
        raise EvaluationError(f"invalid qualifier type: {v.go_type(key)}")


def qualify(value: Any, key: Any) -> Any:
    """`value[key]`; raises EvaluationError."""
    found = lookup(value, key)
    if found is _MISSING:
        if v.is_list(value):
            raise EvaluationError(f"index out of bounds: {v.show(key)}")
        raise EvaluationError(f"no such key: {v.show(key)}")
    return found


def lookup(value: Any, key: Any) -> Any:
    """`value[key]`, or `_MISSING`; raises EvaluationError for keys that cannot be asked for."""
    kind = type(value)
    if kind is dict:
        found, present = v.find(value, key)
        return found if present else _MISSING
    if kind is MapView:
        found, present = value.find(key)
        return found if present else _MISSING
    if kind is list or kind is ListView:
        return _element(value, key)
    if isinstance(value, Value) and value.indexes:
        return value.get(key)
    return _MISSING


def index_of(key: Any) -> int:
    """A list index from any number that is whole; raises EvaluationError."""
    kind = type(key)
    if kind is int:
        return int(key)
    if kind is float:
        if key == key and abs(key) <= 2.0**63 and key == int(key):
            return int(key)
        raise EvaluationError(f"unsupported index value {v.show(key)} in list")
    if kind is UInt:
        if key.value <= v.INT_MAX:
            return int(key.value)
        raise EvaluationError(f"unsupported index value {key.value} in list")
    raise EvaluationError(f"unsupported index type '{v.type_of(key).name}' in list")


def _element(value: Any, key: Any) -> Any:
    index = index_of(key)
    if type(value) is ListView:
        if not 0 <= index < len(value):
            return _MISSING
        if type(key) is not int:
            raise EvaluationError(f"unsupported index type: {v.go_type(key)}")
        return value.at(index)
    return value[index] if 0 <= index < len(value) else _MISSING


def present(value: Any, key: Any) -> bool:
    """Whether `value[key]` is there; raises EvaluationError for a key that cannot be asked for."""
    if isinstance(value, Value) and value.indexes:
        return value.has(key)
    return lookup(value, key) is not _MISSING


def resolve(frame: Frame, value: Any, steps: Sequence[Step]) -> Any:
    """Apply qualifiers in turn; after an optional one, what is missing is optional.none()."""
    optional = type(value) is Optional
    if optional:
        if not value.present:
            frame[0].left += sum(step.cost for step in steps)
            return value
        value = value.value
    for n, step in enumerate(steps):
        optional = optional or step.optional
        key = step.key
        if step.run is not None:
            key = step.run(frame)
            check_qualifier(key)
        if step.field is not None:
            if optional and not step.field.has(value, key):
                return _none(frame, steps[n + 1 :])
            value = step.field.get(value, key)
        elif not optional:
            value = qualify(value, key)
        elif isinstance(value, Value) and value.indexes and not value.has(key):
            return _none(frame, steps[n + 1 :])
        else:
            value = lookup(value, key)
            if value is _MISSING:
                return _none(frame, steps[n + 1 :])
    return Optional(value) if optional else value


def _none(frame: Frame, behind: Sequence[Step]) -> Optional:
    """What an optional qualifier gives that finds nothing; it is free, as are those behind it."""
    frame[0].left += 1 + sum(step.cost for step in behind)
    return NONE


def test(frame: Frame, value: Any, steps: Sequence[Step]) -> bool:
    """`has(...)`: apply all qualifiers but the last, and ask for that one."""
    last = steps[-1]
    value = resolve(frame, value, steps[:-1])
    if type(value) is not Optional:
        return _has(value, last)
    if value.present and _has(value.value, last):
        return True
    # What an optional qualifier leads to is free where it is not there.
    frame[0].left += last.cost
    return False


def _has(value: Any, step: Step) -> bool:
    if step.field is not None:
        return step.field.has(value, step.key)
    return present(value, step.key)


def compile_steps(base: Run, slot: int | None, steps: tuple[Step, ...]) -> Run:
    """A closure that applies qualifiers; `slot` is where `base` reads a variable, if it does."""
    if not steps:
        return _optional_base(base) if slot is None else base
    if any(s.run is not None or s.optional or s.field is not None for s in steps):

        def run(frame: Frame) -> Any:
            return resolve(frame, base(frame), steps)

        return run
    if all(type(s.key) is str for s in steps):
        if slot is not None:
            return _fields_of_variable(slot, steps)
        return _fields(base, steps)

    def run_constant(frame: Frame) -> Any:
        value = base(frame)
        if type(value) is Optional:
            return resolve(frame, value, steps)
        for step in steps:
            value = qualify(value, step.key)
        return value

    return run_constant


def _optional_base(base: Run) -> Run:
    return base


def _fields_of_variable(slot: int, steps: tuple[Step, ...]) -> Run:
    keys = tuple([step.key for step in steps])
    if len(keys) == 1:
        (only,) = keys

        def run_one(frame: Frame) -> Any:
            value = frame[slot]
            if type(value) is dict and only in value:
                return value[only]
            if type(value) is MapView and only in value.entries:
                return value.member(only)
            return resolve(frame, value, steps)

        return run_one

    def run(frame: Frame) -> Any:
        value = start = frame[slot]
        for key in keys:
            if type(value) is dict and key in value:
                value = value[key]
            elif type(value) is MapView and key in value.entries:
                value = value.member(key)
            else:
                return resolve(frame, start, steps)
        return value

    return run


def _fields(base: Run, steps: tuple[Step, ...]) -> Run:
    keys = tuple([step.key for step in steps])

    def run(frame: Frame) -> Any:
        value = start = base(frame)
        for key in keys:
            if type(value) is dict and key in value:
                value = value[key]
            elif type(value) is MapView and key in value.entries:
                value = value.member(key)
            else:
                return resolve(frame, start, steps)
        return value

    return run
