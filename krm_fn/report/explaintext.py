"""An explanation as lines for people, 80 to 200 columns wide, readable without colour.

Source: docs/spec/explain.md sections 1 to 4.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from krm_fn.report.explanation import (
    ExplainedCriterion,
    ExplainedObject,
    ExplainedPart,
    ExplainedRule,
    RuleOutcome,
    Write,
)
from krm_fn.wire import Head

_MARKS: Final = {True: "✓", False: "✗", None: "?"}
_EFFECT: Final = "→"
_EXPRESSION: Final = 60
"""How wide the column of expressions may be."""
_VALUE: Final = 24

_SHORT: Final = {
    RuleOutcome.NOT_MATCHED: "-",
    RuleOutcome.NOT_ASKED: "-",
    RuleOutcome.UNDECIDED: "?",
    RuleOutcome.FAILED: "!",
}


def name_of(head: Head) -> str:
    """`Deployment web/api`."""
    name = f"{head.namespace}/{head.name}" if head.namespace else head.name
    return f"{head.kind} {name}"


def object_lines(
    one: ExplainedObject, width: int, *, verbose: bool, fields: bool = False
) -> Iterator[str]:
    """One object with all its rules; with `verbose` all criteria of those that did not match.

    With `fields` also what the API server filled in.
    """
    yield from _two_columns(name_of(one.head), one.place, width)
    yield from _server_lines(one, width, fields=fields)
    for rule in one.rules:
        yield from rule_lines(rule, width, verbose=verbose)


def _server_lines(one: ExplainedObject, width: int, *, fields: bool) -> Iterator[str]:
    """What the API server made of the object before rules saw it."""
    for message in one.server:
        yield from _wrapped(f"  the API server: {message}", width, "    ")
    if one.filled and fields:
        number = "1 field" if len(one.filled) == 1 else f"{len(one.filled)} fields"
        yield f"  the API server fills in or drops {number}"
        for filled in one.filled:
            yield from _wrapped(f"    {_EFFECT} {filled}", width, "        ")


def rule_lines(rule: ExplainedRule, width: int, *, verbose: bool) -> Iterator[str]:
    """One rule: its outcome, what ended it or what it did, and what it said."""
    title = f"  {rule.outcome}: {rule.name}"
    if rule.template:
        title += f" on the Pod of {rule.template}"
    if rule.again:
        title += " (asked again, after other rules changed the object)"
    yield from _two_columns(title, rule.place, width)
    failing = rule.failing
    for one in rule.criteria:
        if verbose or one.is_effect or one is failing:
            yield from _criterion_lines(one, width)
    for message in rule.messages:
        yield from _wrapped(f"    {message}", width, "      ")


def _criterion_lines(one: ExplainedCriterion, width: int) -> Iterator[str]:
    mark = _EFFECT if one.is_effect else _MARKS[one.held]
    field = f"{one.field}: " if one.field else ""
    yield from _two_columns(f"    {mark} {field}{one.wants}", one.place, width)
    if one.saw and not (one.is_effect and one.parts):
        saw = one.saw if one.is_effect else f"saw {one.saw}"
        yield from _wrapped(f"        {saw}", width, "          ")
    if one.hint:
        yield from _wrapped(f"        {one.hint}", width, "          ")
    yield from _part_lines(one.parts, width)


def _part_lines(parts: Sequence[ExplainedPart], width: int) -> Iterator[str]:
    """Parts nested by indentation, values in one column."""
    rows = list(_rows(parts, 8))
    if not rows:
        return
    limit = min(_EXPRESSION, max(30, width - _VALUE))
    column = min(limit, max(len(text) for text, _, _ in rows)) + 2
    for text, value, place in rows:
        lines = textwrap.wrap(
            text,
            limit,
            subsequent_indent=" " * (len(text) - len(text.lstrip()) + 2),
            drop_whitespace=False,
        ) or [""]
        *above, last = (one.rstrip() for one in lines)
        yield from above
        if value and column + len(value) > width:
            value = f"{value[: width - column - 3]}..."
        line = f"{last:<{column}}{value}" if value else last
        if place and len(line) + len(place) + 2 > width:
            yield line.rstrip()
            yield " " * column + place
        else:
            yield f"{line}  {place}".rstrip() if place else line.rstrip()


def _rows(parts: Sequence[ExplainedPart], indent: int) -> Iterator[tuple[str, str, str]]:
    for part in parts:
        value = "" if part.value is None else f"= {part.value.text}"
        if part.note:
            value = f"{value} ({part.note})" if value else f"  {part.note}"
        place = part.value.place if part.value is not None else ""
        shown = f"({place})" if place == "default" else place
        yield " " * indent + part.text, value, shown
        yield from _rows(part.parts, indent + 2)


# ------------------------------------------------------------------------------------ overview


def overview(objects: Sequence[ExplainedObject], width: int, *, verbose: bool) -> Iterator[str]:
    """Every rule against every object: a table where that fits, else a list of what matched."""
    rules = list(dict.fromkeys(rule.name for one in objects for rule in one.rules))
    shown = {name: _column(objects, name) for name in rules}
    busy = [name for name in rules if any(cell not in ("-", "") for cell in shown[name])]
    names = [name_of(one.head) for one in objects]
    first = max((len(name) for name in names), default=0)
    columns = [max(len(name), *map(len, shown[name])) for name in busy]
    if busy and first + sum(size + 2 for size in columns) <= width:
        titles = (f"  {name:<{size}}" for name, size in zip(busy, columns, strict=True))
        yield (" " * first + "".join(titles)).rstrip()
        for n, name in enumerate(names):
            cells = (f"  {shown[rule][n]:<{c}}" for rule, c in zip(busy, columns, strict=True))
            yield f"{name:<{first}}{''.join(cells)}".rstrip()
    elif verbose or len(objects) * len(busy) <= _LISTED:
        yield from _list(objects, names, busy, shown)
    else:
        yield from _by_rule(objects, busy, width)
    idle = [name for name in rules if name not in busy]
    if idle:
        yield from ([""] if busy else [])
        yield from _idle(objects, idle, width, verbose=verbose)


_LISTED: Final = 20
"""Pairs of objects and rules that are listed; of more only their numbers are shown."""


def _by_rule(objects: Sequence[ExplainedObject], busy: Sequence[str], width: int) -> Iterator[str]:
    """Of each rule, how many objects came to what."""
    yield f"{len(objects)} objects; KIND/NAME explains one, -v lists all"
    for name in busy:
        outcomes = Counter(
            str(rule.outcome)
            for one in objects
            for rule in one.rules
            if rule.name == name and not rule.again
        )
        counts = ", ".join(
            f"{outcomes[word]} {word}" for word in map(str, RuleOutcome) if outcomes[word]
        )
        yield from _two_columns(f"  {name}", counts, width)


def _column(objects: Sequence[ExplainedObject], name: str) -> list[str]:
    cells = []
    for one in objects:
        outcomes = [rule.outcome for rule in one.rules if rule.name == name]
        decided = [outcome for outcome in outcomes if _SHORT.get(outcome) != "-"]
        outcomes = decided or outcomes
        cells.append(", ".join(dict.fromkeys(_SHORT.get(o, str(o)) for o in outcomes if o)))
    return cells


def _list(
    objects: Sequence[ExplainedObject],
    names: Sequence[str],
    busy: Sequence[str],
    shown: dict[str, list[str]],
) -> Iterator[str]:
    quiet = []
    for n, _ in enumerate(objects):
        rows = [(rule, shown[rule][n]) for rule in busy if shown[rule][n] not in ("-", "")]
        if not rows:
            quiet.append(names[n])
            continue
        yield names[n]
        for rule, cell in rows:
            yield f"  {cell}: {rule}"
    if quiet:
        others = quiet[0] if len(quiet) == 1 else f"{len(quiet)} other objects"
        yield f"no rule matched {others}"


_NAMED: Final = 10


def _idle(
    objects: Sequence[ExplainedObject], idle: Sequence[str], width: int, *, verbose: bool
) -> Iterator[str]:
    """For each rule that matched nothing: what it failed by most often, and the nearest miss."""
    misses = {name: _misses(objects, name) for name in idle}
    concerned = [name for name in idle if _is_near(misses[name])]
    for name in idle if verbose else concerned:
        rules = misses[name]
        nearest = max(rules, key=_passed, default=None)
        if nearest is None:
            yield f"not asked: {name}"
            continue
        failing = nearest[1].failing
        if failing is None:
            messages = " ".join(nearest[1].messages)
            yield from _wrapped(f"{nearest[1].outcome}: {name}: {messages}", width, "    ")
            continue
        counted = Counter(rule.failing.wants for _, rule in rules if rule.failing is not None)
        wants, number = counted.most_common(1)[0]
        yield from _two_columns(f"not matched: {name}", nearest[1].place, width)
        often = f"    most often by: {wants} ({number} of {len(rules)})"
        yield from _wrapped(often, width, "      ")
        yield from _wrapped(f"    nearest miss: {name_of(nearest[0].head)}", width, "      ")
        yield from _criterion_lines(failing, width)
    rest = len(idle) - len(concerned)
    if rest and not verbose:
        noun = "1 rule concerns" if rest == 1 else f"{rest} rules concern"
        yield f"{noun} no object here; -v lists them"


def _misses(
    objects: Sequence[ExplainedObject], name: str
) -> list[tuple[ExplainedObject, ExplainedRule]]:
    return [
        (one, rule) for one in objects for rule in one.rules if rule.name == name and not rule.again
    ]


def _passed(miss: tuple[ExplainedObject, ExplainedRule]) -> int:
    """How many criteria held before one did not."""
    return sum(1 for one in miss[1].criteria if one.held is True and not one.is_effect)


def _is_near(rules: Iterable[tuple[ExplainedObject, ExplainedRule]]) -> bool:
    """Whether a rule got further with some object than its kind and namespace."""
    return any(
        rule.failing is not None and rule.failing.field not in _SYSTEM and _passed((one, rule)) > 0
        for one, rule in rules
    )


_SYSTEM: Final = (
    "",
    "metadata.namespace",
    "spec.matchConstraints.resourceRules",
    "spec.resourceRules",
)


# --------------------------------------------------------------------------------- who wrote


def history_lines(writes: Sequence[Write], width: int) -> Iterator[str]:
    """The history of a field, oldest first."""
    for write in writes:
        text = f"  {write.by}: {write.field} = {write.after.text}"
        if write.before.text != "(nothing)":
            text += f" (was {write.before.text})"
        yield from _two_columns(text, write.place, width)


def change_lines(writes: Sequence[Write], width: int) -> Iterator[str]:
    """Every changed field: what it was, what it is, and who wrote it last."""
    for write in writes:
        yield from _two_columns(f"  {write.field}", write.place, width)
        yield from _wrapped(f"    {write.before.text} -> {write.after.text}", width, "      ")
        yield from _wrapped(f"    by {write.by}", width, "      ")


def _two_columns(left: str, right: str, width: int) -> Iterator[str]:
    """A text, and at the end of its line a place; the place has its own line where it must."""
    if not right:
        yield from _wrapped(left, width, _indent(left) + "  ")
        return
    if len(left) + 2 + len(right) <= width:
        yield f"{left}{' ' * (width - len(left) - len(right))}{right}"
        return
    yield from _wrapped(left, width, _indent(left) + "    ")
    yield f"{_indent(left)}    [{right}]"


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    ) or [""]


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]
