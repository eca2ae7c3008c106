"""Operators on values, and closures for the frequent ones.

Source: cel-go v0.29, common/types (Add, Compare, Contains, ...) and common/stdlib/standard.go.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from krm_fn.errors import EvaluationError, LimitError
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.attributes import Frame, Run
from krm_fn.lang.cel.budget import Budget
from krm_fn.lang.cel.costs import Cost, operator_cost, walk
from krm_fn.lang.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    ListView,
    MapView,
    Timestamp,
    UInt,
    equals,
    no_overload,
)

_SECOND: Final = 1_000_000_000
TIME_MIN: Final = -62_135_596_800
TIME_MAX: Final = 253_402_300_799
"""Seconds since 1970 of the first and of the last second of the years 1 to 9999."""


def checked_int(number: int) -> int:
    """The number, if it fits an int; raises EvaluationError."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EvaluationError("integer overflow")


def checked_uint(number: int) -> UInt:
    """The number as a uint; raises EvaluationError."""
    if 0 <= number <= UINT_MAX:
        return UInt(number)
    raise EvaluationError("unsigned integer overflow")


def checked_duration(nanos: int) -> Duration:
    """A duration of so many nanoseconds; raises EvaluationError."""
    if INT_MIN <= nanos <= INT_MAX:
        return Duration(nanos)
    raise EvaluationError("integer overflow")


def checked_timestamp(nanos: int, offset: int | None) -> Timestamp:
    """An instant within the years 1 to 9999; raises EvaluationError."""
    if TIME_MIN <= nanos // _SECOND <= TIME_MAX:
        return Timestamp(nanos, offset)
    raise EvaluationError("timestamp overflow")


# Arithmetic


def add(a: Any, b: Any) -> Any:
    """`a + b`."""
    kind, other = type(a), type(b)
    if kind is int and other is int:
        return checked_int(a + b)
    if kind is other and (kind is str or kind is float or kind is bytes):
        return a + b
    if kind is UInt and other is UInt:
        return checked_uint(a.value + b.value)
    if v.is_list(a):
        if not v.is_list(b):
            raise no_overload()
        return _concatenated(a, b)
    if kind is Duration:
        if other is Duration:
            return checked_duration(a.nanos + b.nanos)
        if other is Timestamp:
            return checked_timestamp(b.nanos + a.nanos, b.offset)
    if kind is Timestamp and other is Duration:
        return checked_timestamp(a.nanos + b.nanos, a.offset)
    raise no_overload()


def _concatenated(a: Any, b: Any) -> Any:
    if not len(b):
        return a
    if not len(a) and type(a) is list:
        return b
    return [*a, *b]


def subtract(a: Any, b: Any) -> Any:
    """`a - b`."""
    kind, other = type(a), type(b)
    if kind is int and other is int:
        return checked_int(a - b)
    if kind is float and other is float:
        return a - b
    if kind is UInt and other is UInt:
        return checked_uint(a.value - b.value)
    if kind is Duration and other is Duration:
        return checked_duration(a.nanos - b.nanos)
    if kind is Timestamp and other is Duration:
        return checked_timestamp(a.nanos - b.nanos, a.offset)
    if kind is Timestamp and other is Timestamp:
        return checked_duration(a.nanos - b.nanos)
    raise no_overload()


def multiply(a: Any, b: Any) -> Any:
    """`a * b`."""
    kind, other = type(a), type(b)
    if kind is int and other is int:
        return checked_int(a * b)
    if kind is float and other is float:
        return a * b
    if kind is UInt and other is UInt:
        return checked_uint(a.value * b.value)
    raise no_overload()


def divide(a: Any, b: Any) -> Any:
    """`a / b`: integers round towards zero."""
    kind, other = type(a), type(b)
    if kind is int and other is int:
        if b == 0:
            raise EvaluationError("division by zero")
        quotient = abs(a) // abs(b)
        return checked_int(quotient if (a < 0) == (b < 0) else -quotient)
    if kind is float and other is float:
        if b != 0:
            return a / b
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    if kind is UInt and other is UInt:
        if b.value == 0:
            raise EvaluationError("division by zero")
        return UInt(a.value // b.value)
    raise no_overload()


def modulo(a: Any, b: Any) -> Any:
    """`a % b`, with the sign of a."""
    kind, other = type(a), type(b)
    if kind is int and other is int:
        if b == 0:
            raise EvaluationError("modulus by zero")
        if a == INT_MIN and b == -1:
            raise EvaluationError("integer overflow")
        rest = abs(a) % abs(b)
        return rest if a >= 0 else -rest
    if kind is UInt and other is UInt:
        if b.value == 0:
            raise EvaluationError("modulus by zero")
        return UInt(a.value % b.value)
    raise no_overload()


def negate(a: Any) -> Any:
    """`-a`."""
    if type(a) is int:
        return checked_int(-a)
    if type(a) is float:
        return -a
    if type(a) is Duration:
        return checked_duration(-a.nanos)
    raise no_overload()


def invert(a: Any) -> bool:
    """`!a`."""
    if a is True:
        return False
    if a is False:
        return True
    raise no_overload()


# Containers


def weight(value: Any) -> int:
    """How many parts a value has, all in all: the steps of walking over it."""
    pending = [value]
    count = 0
    while pending:
        current = pending.pop()
        count += 1
        kind = type(current)
        if kind is dict:
            pending.extend(current.values())
        elif kind is list:
            pending.extend(current)
        elif kind is ListView:
            pending.extend(current.items)
        elif kind is MapView:
            pending.extend(current.entries.values())
    return count


def equal_within(budget: Budget, a: Any, b: Any) -> bool:
    """`a == b`, paid for but for the 1 that every call costs: by the smaller of both."""
    size, other = v.size_of(a), v.size_of(b)
    if size != 1 or other != 1:
        budget.spend(walk(min(size, other)) - 1)
        if size == other and type(a) in _CONTAINERS:
            budget.toil(2 * weight(a))
    return equals(a, b)


_CONTAINERS: Final = frozenset({list, dict, ListView, MapView})


def contains(budget: Budget, wanted: Any, among: Any) -> bool:
    """`wanted in among`; raises EvaluationError."""
    if v.is_list(among):
        budget.toil(len(among) * (weight(wanted) if type(wanted) in _CONTAINERS else 1))
        viewed = type(among) is ListView
        for element in among:
            try:
                if equals(element, wanted) if viewed else equals(wanted, element):
                    return True
            except EvaluationError:
                continue
        return False
    if v.is_map(among):
        return v.map_find(among, wanted)[1]
    raise no_overload()


def membership(among: Sequence[Any]) -> Callable[[Any], bool] | None:
    """A test for being in a list of constants; None if they are not all scalars."""
    keys: set[Any] = set()
    for value in among:
        if type(value) not in _HASHED:
            return None
        keys.update(_tokens(value))

    def run(wanted: Any) -> bool:
        if type(wanted) is str:
            return wanted in keys
        if wanted is None or type(wanted) in _CONTAINERS:
            return False
        return v.map_key(wanted) in keys

    return run


_HASHED: Final = frozenset({str, bool, int, float, UInt})


def _tokens(value: Any) -> list[Any]:
    """The keys under which equal values of other number types are found."""
    if type(value) is float:
        if value != value:
            return []
        found: list[Any] = [(float, value)]
        if math.isfinite(value) and value == int(value):
            if INT_MIN <= value < 2.0**63:
                found.append((int, int(value)))
            if 0 <= value < 2.0**64:
                found.append((UInt, int(value)))
        return found
    if type(value) is int or type(value) is UInt:
        number: int = value.value if isinstance(value, UInt) else value
        found = [(float, float(number))]
        if INT_MIN <= number <= INT_MAX:
            found.append((int, number))
        if 0 <= number <= UINT_MAX:
            found.append((UInt, number))
        return found
    return [v.map_key(value)]


# Closures
#
# Each costs 1, for which the compiler pays; where the operands decide it pays for the difference.


def _equality(first: Run, second: Run, wanted: bool) -> Run:
    def run(frame: Frame) -> bool:
        a, b = first(frame), second(frame)
        kind = type(a)
        if kind is type(b) and (kind is str or kind is int or kind is bool):
            if kind is str:
                shorter = min(len(a), len(b))
                if not 0 < shorter <= 10:
                    frame[0].spend(walk(shorter) - 1)
            return (a == b) is wanted
        if wanted:
            return equal_within(frame[0], a, b)
        try:
            return not equal_within(frame[0], a, b)
        except LimitError:
            raise
        except EvaluationError:
            return True

    return run


def _comparison(
    name: str, holds: Callable[[int, int], bool]
) -> Callable[[Run, Run, Cost | None], Run]:
    def closure(first: Run, second: Run, cost: Cost | None) -> Run:
        def run(frame: Frame) -> bool:
            a, b = first(frame), second(frame)
            if type(a) is int and type(b) is int:
                return holds(a, b)
            if cost is not None:
                frame[0].spend(cost(a, b) - 1)
            return holds(v.compare(a, b, name), 0)

        return run

    return closure


_ADDERS: Final = frozenset({int, UInt, float, str, bytes, Duration, Timestamp, list, ListView})
_ALL_NUMBERS: Final = frozenset({int, UInt, float})


def _addition(first: Run, second: Run, cost: Cost | None) -> Run:
    def run(frame: Frame) -> Any:
        a, b = first(frame), second(frame)
        if type(a) is int and type(b) is int:
            return checked_int(a + b)
        if type(a) not in _ADDERS:
            raise EvaluationError("no such overload: _+_")
        if cost is not None:
            frame[0].spend(cost(a, b) - 1)
        # Texts and lists are copied: paid for before they are made.
        if type(a) in _GROWING and type(b) in _GROWING:
            frame[0].toil((len(a) + len(b)) // (4 if type(a) is str else 2))
            if type(a) is ListView and v.is_list(b):
                # Upstream makes a list of its own here, as a literal does.
                return [*a, *v.elements(b)]
            if type(a) is list and v.is_list(b) and len(a) and len(b):
                joined = [*a, *b]
                frame[0].joined.append(joined)
                return joined
        return add(a, b)

    return run


_GROWING: Final = frozenset({str, bytes, list, ListView})
_RECEIVERS: Final = frozenset({str, Timestamp, Duration})


def _arithmetic(
    name: str, operation: Callable[[Any, Any], Any], takes: frozenset[type]
) -> Callable[[Run, Run], Run]:
    def closure(first: Run, second: Run) -> Run:
        def run(frame: Frame) -> Any:
            a, b = first(frame), second(frame)
            if type(a) in takes:
                return operation(a, b)
            raise EvaluationError(
                v.NO_OVERLOAD if type(a) in _RECEIVERS else f"no such overload: {name}"
            )

        return run

    return closure


def _negation(one: Run) -> Run:
    def run(frame: Frame) -> Any:
        value = one(frame)
        if type(value) in _NEGATED:
            return negate(value)
        raise EvaluationError(
            v.NO_OVERLOAD if type(value) in _RECEIVERS else "no such overload: -_"
        )

    return run


_NEGATED: Final = frozenset({int, float, Duration, bool})


def _inversion(one: Run) -> Run:
    return lambda frame: invert(one(frame))


_UNARY: Final[dict[str, Callable[[Run], Run]]] = {"-_": _negation, "!_": _inversion}

_BINARY: Final[dict[str, Callable[[Run, Run], Run]]] = {
    "_==_": lambda a, b: _equality(a, b, True),
    "_!=_": lambda a, b: _equality(a, b, False),
    "_-_": _arithmetic("_-_", subtract, _ALL_NUMBERS | {Duration, Timestamp}),
    "_*_": _arithmetic("_*_", multiply, _ALL_NUMBERS),
    "_/_": _arithmetic("_/_", divide, _ALL_NUMBERS),
    "_%_": _arithmetic("_%_", modulo, frozenset({int, UInt})),
}

_COSTED: Final[dict[str, Callable[[Run, Run, Cost | None], Run]]] = {
    "_<_": _comparison("_<_", operator.lt),
    "_<=_": _comparison("_<=_", operator.le),
    "_>_": _comparison("_>_", operator.gt),
    "_>=_": _comparison("_>=_", operator.ge),
    "_+_": _addition,
}
"""Operators whose cost depends on the operands where the checker knows their types."""


def specialized(name: str, overloads: tuple[str, ...], runs: Sequence[Run]) -> Run | None:
    """The closure of an operator that may mean these overloads; None for any other function."""
    if len(runs) == 1 and name in _UNARY:
        return _UNARY[name](runs[0])
    if len(runs) == 2 and name in _BINARY:
        return _BINARY[name](runs[0], runs[1])
    if len(runs) == 2 and name in _COSTED:
        return _COSTED[name](runs[0], runs[1], operator_cost(overloads))
    return None
