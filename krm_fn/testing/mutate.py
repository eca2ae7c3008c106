"""Mutation testing of rules: break a rule in small ways, and see whether its suite notices.

A mutant is a rule with one edit: an element of a list less, an item negated, a value, an operator
or a path changed. One that does not compile is none. One that all cases pass has survived: no case
tries what the edit is about.
Source: docs/spec/test.md section 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from krm_fn.admission import Rule
from krm_fn.report.explanation import key_of
from krm_fn.report.linediff import unified
from krm_fn.sdk.object import yaml_of
from krm_fn.testing.run import Runner
from krm_fn.testing.suite import Suite
from krm_fn.values import Json, Path, with_at

_LISTS: Final = frozenset(
    {
        "match",
        "matchConditions",
        "mutations",
        "patch",
        "validations",
        "containers",
        "initContainers",
        "volumes",
        "patchPodMetadata",
    }
)
"""Lists of which each element says something of its own."""

_EXPRESSIONS: Final = frozenset({"expression"})
_SWAPS: Final = (
    ("&&", "||"),
    ("||", "&&"),
    ("==", "!="),
    ("!=", "=="),
    ("<=", "<"),
    (">=", ">"),
    (" < ", " <= "),
    (" > ", " >= "),
    (".all(", ".exists("),
    (".exists(", ".all("),
)
"""Operators of CEL and what each becomes, one at a time."""

_LITERAL: Final = re.compile(r'"((?:[^"\\]|\\.)+)"|\b(\d+)\b')
_APART: Final = frozenset(
    {
        "apiVersion",
        "failurePolicy",
        "message",
        "messageExpression",
        "name",
        "namespace",
        "patchType",
        "reason",
        "reinvocationPolicy",
        "rejectMessage",
        "type",
    }
)
"""Fields whose values say nothing of what a rule does to which object, or are words of an API."""


class Mutant(NamedTuple):
    """A rule with one edit."""

    rule: Rule
    value: Json
    path: Path
    what: str
    """`negated`, `left out`."""

    def diff(self) -> list[str]:
        """The edit, as a diff of the rule."""
        place = self.rule.place(self.path) or str(self.rule.ref)
        old, new = (yaml_of(value).splitlines() for value in (self.rule.value, self.value))
        return list(unified(old, new, place, f"{place} ({self.what})"))


class Mutation(NamedTuple):
    """What came of the mutants of a suite."""

    killed: int
    survivors: tuple[Mutant, ...]


def mutation(suite: Suite) -> Mutation:
    """Run the cases of a suite against each mutant of its rules. All cases must pass without."""
    runner = Runner(suite)
    for case in suite.cases:
        runner.run(case)
    killed = 0
    survivors: list[Mutant] = []
    for rule in runner.rules():
        for mutant in mutants(rule):
            state = _noticed(suite, mutant)
            if state is True:
                killed += 1
            elif state is False:
                survivors.append(mutant)
    return Mutation(killed, tuple(survivors))


def _noticed(suite: Suite, mutant: Mutant) -> bool | None:
    """Whether a case fails with the mutant; None where that is no rule."""
    changed = replace(mutant.rule, value=mutant.value)
    runner = Runner(suite, replacing={key_of(changed.ref): changed}, explains=False)
    for case in suite.cases:
        if case.expect.invalid is not None:
            continue
        result = runner.run(case)
        if result.error:
            return None
        if result.failures:
            return True
    return False


def mutants(rule: Rule) -> Iterator[Mutant]:
    """The rule with each edit that is tried, without those that are the same rule."""
    spec = rule.value.get("spec")
    for path, value, what in _edits(spec, ("spec",)):
        mutated: Json = with_at(rule.value, path, value)
        yield Mutant(rule, mutated, path, what)


def _edits(value: Any, path: Path) -> Iterator[tuple[Path, Any, str]]:
    last = path[-1]
    if type(value) is dict:
        if path[-2:-1] == ("match",) and "select" in value:
            negated = {**value, "negate": not value.get("negate", False)}
            yield path, negated, "negated"
        for key, inner in value.items():
            if key not in _APART:
                yield from _edits(inner, (*path, key))
    elif type(value) is list:
        if last in _LISTS and len(value) > 1:
            for n in range(len(value)):
                yield path, value[:n] + value[n + 1 :], "left out"
        for n, inner in enumerate(value):
            yield from _edits(inner, (*path, n))
    elif last in _EXPRESSIONS and type(value) is str:
        yield from ((path, text, what) for text, what in _expressions(value, path))
    elif type(value) is bool:
        yield path, not value, "changed"
    elif type(value) is int:
        yield path, value + 1, "changed"
    elif type(value) is str and value:
        yield path, f"{value}-mutated", "changed"


def _expressions(text: str, path: Path) -> Iterator[tuple[str, str]]:
    """An expression with one operator or literal changed, and one that decides negated."""
    if "mutations" not in path and "variables" not in path:
        yield f"!({text})", "negated"
    for operator, other in _SWAPS:
        start = text.find(operator)
        while start >= 0:
            yield text[:start] + other + text[start + len(operator) :], f"{operator} is {other}"
            start = text.find(operator, start + len(operator))
    for match in _LITERAL.finditer(text):
        new = f'"{match[1]}-mutated"' if match[1] is not None else str(int(match[2]) + 1)
        yield text[: match.start()] + new + text[match.end() :], f"{match[0]} is {new}"


def summary(mutations: Sequence[Mutation]) -> str:
    """`190 of 200 mutants noticed (95 %)`."""
    killed = sum(one.killed for one in mutations)
    total = killed + sum(len(one.survivors) for one in mutations)
    percent = 100 * killed // total if total else 100
    return f"{killed} of {total} mutants noticed ({percent} %)"
