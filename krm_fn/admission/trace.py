"""Why a rule matched an object, or did not: what plugins record while they decide.

A request carries a trace only where somebody asks why; plugins then record each criterion at the
very place where they decide by it, in the order in which the real system asks. Nothing is decided
here, and nothing is evaluated twice.
Source: docs/spec/explain.md sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from krm_fn.admission.rule import RuleRef
from krm_fn.values import MISSING, Path


class Part(NamedTuple):
    """A sub-expression with its value, and the parts that the value comes from."""

    text: str
    value: Any = MISSING
    """MISSING where it was not evaluated."""
    path: Path | None = None
    """Where the value is in the object that the rule was asked about."""
    note: str = ""
    error: str = ""
    parts: tuple[Part, ...] = ()


class Criterion(NamedTuple):
    """One question that the system asks of an object, or one effect that a rule had on it."""

    wants: str
    saw: str = ""
    held: bool | None = True
    """None where nobody can know."""
    field: Path = ()
    """The field of the rule that asks; empty where the system itself does."""
    path: Path | None = None
    """The field of the object that was looked at."""
    hint: str = ""
    """A near miss: what the author may have meant."""
    parts: Callable[[], tuple[Part, ...]] | None = None
    """The values of the parts of an expression; made when somebody reads them."""
    is_effect: bool = False
    """Whether this tells what the rule did, not whether it applies."""


class RuleTrace:
    """What one rule was asked about one object, in order."""

    __slots__ = ("again", "criteria", "ref")

    def __init__(self, ref: RuleRef, *, again: bool = False) -> None:
        self.ref = ref
        self.criteria: list[Criterion] = []
        self.again = again
        """Whether this is a second pass, after other rules changed the object."""

    def ask(self, wants: str, saw: str, held: bool | None, **more: Any) -> bool:
        """Record a criterion; returns whether it held."""
        self.criteria.append(Criterion(wants, saw, held, **more))
        return bool(held)

    def effect(self, what: str, result: str, **more: Any) -> None:
        """Record what the rule did."""
        self.criteria.append(Criterion(what, result, is_effect=True, **more))

    @property
    def failing(self) -> Criterion | None:
        """The criterion that ends the rule, None where all hold."""
        return next((one for one in self.criteria if one.held is not True), None)


class Trace:
    """What all rules were asked about one object."""

    def __init__(self, path: Path = ()) -> None:
        self.path = path
        """The Pod template that the object was made of; empty for the object itself."""
        self._rules: list[RuleTrace] = []
        self._open: dict[RuleRef, RuleTrace] = {}

    def rule(self, ref: RuleRef) -> RuleTrace:
        """The record of a rule in this pass, a new one when it is asked the first time."""
        record = self._open.get(ref)
        if record is None:
            again = any(one.ref == ref for one in self._rules)
            record = self._open[ref] = RuleTrace(ref, again=again)
            self._rules.append(record)
        return record

    def next_pass(self) -> None:
        """What is recorded from here on is of a second pass."""
        self._open = {}

    def __iter__(self) -> Iterator[RuleTrace]:
        return iter(self._rules)
