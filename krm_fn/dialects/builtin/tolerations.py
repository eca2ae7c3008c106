"""When one toleration covers another, and lists of them without what is covered.

Lists are asked by an index, so that long ones cost no more than they are long.
Source: k8s.io/kubernetes pkg/util/tolerations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.values import Json

EXISTS: Final = "Exists"
EQUAL: Final = "Equal"
NO_EXECUTE: Final = "NoExecute"
NO_SCHEDULE: Final = "NoSchedule"


class Toleration(NamedTuple):
    """The fields of a toleration; "" and None stand for those that are not there."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    @classmethod
    def of(cls, value: Json) -> Toleration:
        """The toleration that is written as `value`, in its served form."""
        return cls(
            value.get("key") or "",
            value.get("operator") or "",
            value.get("value") or "",
            value.get("effect") or "",
            value.get("tolerationSeconds"),
        )

    def written(self) -> Json:
        """The toleration as the API server writes it."""
        names = ("key", "operator", "value", "effect", "tolerationSeconds")
        return {name: field for name, field in zip(names, self, strict=True) if field or field == 0}


class Coverage:
    """What a number of tolerations cover together.

    A toleration covers its equal; another one with its key (any, if it has none and its operator is
    Exists), its effect (any, if it has none) and, if the effect is NoExecute, with no more seconds
    than it has itself. Without Exists the other one must write `Equal` and have its value.
    """

    def __init__(self, tolerations: Iterable[Toleration] = ()) -> None:
        self._equals: set[Toleration] = set()
        self._longest: dict[_Class, tuple[_Seconds, _Seconds]] = {}
        for one in tolerations:
            self.add(one)

    def add(self, one: Toleration) -> None:
        if one in self._equals:
            return
        self._equals.add(one)
        seconds = _Seconds(_wide_seconds(one), one)
        name = _class_of(one)
        first, second = self._longest.get(name, (_NOTHING, _NOTHING))
        if seconds.number > first.number:
            self._longest[name] = seconds, first
        elif seconds.number > second.number:
            self._longest[name] = first, seconds

    def has(self, one: Toleration) -> bool:
        """Whether one of the tolerations covers `one`."""
        return one in self._equals or self.has_wider(one)

    def has_wider(self, one: Toleration) -> bool:
        """Whether one of the tolerations that are not equal to `one` covers it."""
        needed = _FOREVER if one.seconds is None else one.seconds
        for name in _classes_above(one):
            for found in self._longest.get(name, ()):
                if found.number >= needed and found.whose != one:
                    return True
        return False


_Class = tuple[str, ...]
"""What tolerations that differ in their seconds alone have in common."""

_FOREVER: Final = float("inf")


class _Seconds(NamedTuple):
    """For how long a toleration holds, and which one it is."""

    number: float
    whose: Toleration | None


_NOTHING: Final = _Seconds(-_FOREVER, None)


def _wide_seconds(one: Toleration) -> float:
    """For how long a toleration covers others: seconds count with the effect NoExecute alone."""
    if one.effect != NO_EXECUTE or one.seconds is None:
        return _FOREVER
    return one.seconds


def _class_of(one: Toleration) -> _Class:
    if one.operator == EXISTS:
        return (EXISTS, one.key, one.effect)
    if one.operator in (EQUAL, ""):
        return (EQUAL, one.key, one.effect, one.value)
    return (one.operator,)


def _classes_above(one: Toleration) -> Iterator[_Class]:
    """The classes of the tolerations that could cover one."""
    for effect in dict.fromkeys((one.effect, "")):
        for key in dict.fromkeys((one.key, "")):
            yield (EXISTS, key, effect)
        if one.operator == EQUAL:
            yield (EQUAL, one.key, effect, one.value)


def merged(first: Sequence[Json], second: Sequence[Json]) -> list[Json]:
    """Both lists without the tolerations that others of them cover; of equal ones the first."""
    every = [*first, *second]
    read = [Toleration.of(one) for one in every]
    later = Coverage()
    redundant = [False] * len(read)
    for n in range(len(read) - 1, -1, -1):
        redundant[n] = later.has_wider(read[n])
        later.add(read[n])
    kept: list[Any] = []
    earlier = Coverage()
    for one, fields, is_redundant in zip(every, read, redundant, strict=True):
        if not is_redundant and not earlier.has(fields):
            kept.append(one)
            earlier.add(fields)
    return kept


def allowed(tolerations: Sequence[Json], whitelist: Sequence[Json]) -> bool:
    """Whether each toleration is covered by one of the list; an empty list allows all."""
    coverage = Coverage(map(Toleration.of, whitelist))
    return not whitelist or all(coverage.has(Toleration.of(one)) for one in tolerations)
