"""Why rules matched objects, or did not: the outcome of each rule, its criteria and its effects.

Made of what the plugins recorded while they decided. Every text goes through the redactor, as in
other reports. The forms that people and programs read are made of these.
Source: docs/spec/explain.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple

from krm_fn.admission import Cause, Change, Finding, Rule, RuleRef
from krm_fn.admission.trace import Criterion, Part, RuleTrace, Trace
from krm_fn.admission.views import HiddenAnnotations
from krm_fn.errors import ConfigError, did_you_mean
from krm_fn.printable import one_line
from krm_fn.report.model import ObjectReport, Report
from krm_fn.report.statements import shown
from krm_fn.values import MISSING, Path, compact, diff, equal, format_path, get
from krm_fn.wire import Head


class RuleOutcome(StrEnum):
    """What one rule came to on one object."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DENIED = "denied"
    WARNED = "warned"
    FAILED = "failed"
    UNDECIDED = "undecided"
    NOT_MATCHED = "not matched"
    NOT_ASKED = "not asked"


class Value(NamedTuple):
    """A value as text, with the place where the user wrote it; `(default)` where nobody did."""

    text: str
    place: str = ""


class ExplainedPart(NamedTuple):
    """A sub-expression with its value."""

    text: str
    value: Value | None
    note: str
    parts: tuple[ExplainedPart, ...]


class ExplainedCriterion(NamedTuple):
    """One question and its answer, or one effect."""

    wants: str
    saw: str
    held: bool | None
    field: str
    place: str
    hint: str
    is_effect: bool
    parts: tuple[ExplainedPart, ...]


class ExplainedRule:
    """What one rule was asked about one object, and what it came to.

    `template` is the Pod template that it was asked about, "" for the object itself. `criteria` are
    made when somebody reads them: an overview reads few.
    """

    def __init__(
        self,
        ref: RuleRef,
        place: str,
        outcome: RuleOutcome,
        messages: tuple[str, ...],
        template: str = "",
        criteria: Callable[[], tuple[ExplainedCriterion, ...]] = tuple,
        *,
        again: bool = False,
    ) -> None:
        self.ref = ref
        self.name = one_line(str(ref))
        self.place = place
        self.outcome = outcome
        self.messages = messages
        self.template = template
        self.again = again
        self._criteria = criteria

    @cached_property
    def criteria(self) -> tuple[ExplainedCriterion, ...]:
        """The questions in the order of the real system, then the effects."""
        return self._criteria()

    @property
    def failing(self) -> ExplainedCriterion | None:
        """The criterion that ends the rule, None where all hold."""
        return next((c for c in self.criteria if not c.is_effect and c.held is not True), None)


class ExplainedObject(NamedTuple):
    """One object with all rules."""

    entry: ObjectReport
    head: Head
    place: str
    rules: tuple[ExplainedRule, ...]
    filled: tuple[str, ...] = ()
    """What the API server filled in before rules saw the object: `spec.replicas: 1`."""
    server: tuple[str, ...] = ()
    """What decoding the object complains of."""


class Explanation(NamedTuple):
    """A run, explained."""

    objects: tuple[ExplainedObject, ...]
    rules: tuple[Rule, ...]
    report: Report

    def select(self, name: str) -> list[ExplainedObject]:
        """The objects that `KIND/NAME`, `KIND.GROUP/NAME` or a unique `NAME` means.

        Raises ConfigError where there is none, with what is near, or where a NAME means several.
        """
        found = [one for one in self.objects if _is_object(one, name)]
        if not found:
            known = [_spelling(one) for one in self.objects]
            hint = did_you_mean(name, known) or f"; there are {', '.join(known[:_KNOWN])}"
            raise ConfigError(f"no object {name}{hint}")
        if "/" not in name and len(found) > 1:
            several = ", ".join(map(_spelling, found[:_KNOWN]))
            raise ConfigError(f"{name} is the name of several objects: {several}")
        return found

    def only(self, one: ExplainedObject, names: Sequence[str]) -> ExplainedObject:
        """An object with the rules that `NAME`, `NAMESPACE/NAME` or `KIND/NAME` mean.

        Raises ConfigError where there is none.
        """
        for name in names:
            if not any(_is_rule(rule, name) for rule in one.rules):
                known = sorted({rule.ref.name for rule in self.rules})
                hint = did_you_mean(name, known) or f"; there are {', '.join(known[:_KNOWN])}"
                raise ConfigError(f"no rule {name}{hint}")
        rules = tuple(rule for rule in one.rules if any(_is_rule(rule, name) for name in names))
        return one._replace(rules=rules)

    def rule(self, object_name: str, rule_name: str) -> ExplainedRule:
        """What one rule was asked about one object. Raises ConfigError as `select` and `only`."""
        return self.only(self.select(object_name)[0], [rule_name]).rules[0]


_KNOWN: Final = 10
"""How many names a message lists."""


def _spelling(one: ExplainedObject) -> str:
    return f"{one.head.kind.lower()}/{one.head.name}"


def _is_object(one: ExplainedObject, text: str) -> bool:
    kind, slash, name = text.rpartition("/")
    head = one.head
    if head.name != name:
        return False
    if not slash:
        return True
    wanted, _, group = kind.lower().partition(".")
    names = {head.kind.lower(), f"{head.kind.lower()}s"}
    return wanted in names and (not group or group == head.group)


def _is_rule(rule: ExplainedRule, text: str) -> bool:
    before, slash, name = text.rpartition("/")
    ref = rule.ref
    if ref.name != name:
        return False
    return not slash or before.lower() in (ref.kind.lower(), ref.namespace.lower())


_Key = tuple[str, str, str, str]


def key_of(ref: RuleRef) -> _Key:
    """What tells a rule from others, whatever part of it is meant."""
    return ref.dialect, ref.kind, ref.namespace, ref.name


def explanation(report: Report, rules: Sequence[Rule]) -> Explanation:
    """What a run recorded, for all objects and rules. The run must have been one that explains."""
    return Explanation(
        tuple(_object(entry, rules, report) for entry in report.objects), tuple(rules), report
    )


def _object(entry: ObjectReport, rules: Sequence[Rule], report: Report) -> ExplainedObject:
    explained = list(_rules(entry, rules, report))
    head = entry.head
    head_shown = Head(
        one_line(head.api_version),
        one_line(head.kind),
        one_line(head.namespace),
        one_line(head.name),
    )
    place = one_line(str(entry.item.origin))
    filled = tuple(_filled(entry, report))
    complaints = (finding for finding in entry.findings if not finding.rules)
    server = tuple(shown(finding.message, entry, report) for finding in complaints)
    return ExplainedObject(entry, head_shown, place, tuple(explained), filled, server)


def _filled(entry: ObjectReport, report: Report) -> Iterator[str]:
    """The fields that the API server filled in, or dropped."""
    if entry.served is None:
        return
    for edit in diff(HiddenAnnotations().get(entry.item.original), entry.served):
        field = one_line(format_path(edit.path))
        if edit.new is MISSING:
            yield f"{field} dropped"
        else:
            verb = "" if edit.old is MISSING else " (spelled otherwise)"
            yield f"{field}: {_shown(entry, edit.path, edit.new, report).text}{verb}"


def _rules(entry: ObjectReport, rules: Sequence[Rule], report: Report) -> Iterator[ExplainedRule]:
    by_key: dict[_Key, Rule] = {key_of(rule.ref): rule for rule in rules}
    asked: set[_Key] = set()
    for trace in entry.traces:
        for record in trace:
            rule = by_key.get(key_of(record.ref))
            asked.add(key_of(record.ref))
            yield _rule(entry, trace, record, rule, report)
    for key, rule in by_key.items():
        if key not in asked:
            messages = tuple(
                shown(finding.message, entry, report)
                for finding in report.findings
                if any(key_of(ref) == key for ref in finding.rules)
            )
            yield ExplainedRule(rule.ref, _place(rule), RuleOutcome.NOT_ASKED, messages)


def _rule(
    entry: ObjectReport, trace: Trace, record: RuleTrace, rule: Rule | None, report: Report
) -> ExplainedRule:
    own = [f for f in entry.findings if any(key_of(r) == key_of(record.ref) for r in f.rules)]
    outcome = _outcome(entry, record, own)
    if outcome is RuleOutcome.NOT_MATCHED:
        own = [finding for finding in own if not finding.denies]
    return ExplainedRule(
        record.ref,
        "" if rule is None else _place(rule),
        outcome,
        tuple(shown(finding.message, entry, report) for finding in own),
        format_path(trace.path),
        lambda: tuple(_criterion(one, entry, trace, rule, report) for one in record.criteria),
        again=record.again,
    )


def _outcome(entry: ObjectReport, record: RuleTrace, findings: Iterable[Finding]) -> RuleOutcome:
    causes = {finding.cause for finding in findings}
    failing = record.failing
    if failing is not None and failing.held is False:
        # What is found of the rule is of the Pod of a template, or of the object itself.
        return RuleOutcome.NOT_MATCHED
    if Cause.REJECTED in causes:
        return RuleOutcome.DENIED
    if Cause.FAILED in causes:
        return RuleOutcome.FAILED
    if failing is not None:
        return RuleOutcome.UNDECIDED
    if Cause.UNDECIDED in causes:
        return RuleOutcome.UNDECIDED
    if any(key_of(ref) == key_of(record.ref) for change in entry.history for ref in change.rules):
        return RuleOutcome.CHANGED
    if causes & {Cause.WARNING, Cause.AUDIT}:
        return RuleOutcome.WARNED
    return RuleOutcome.UNCHANGED


def _criterion(
    one: Criterion, entry: ObjectReport, trace: Trace, rule: Rule | None, report: Report
) -> ExplainedCriterion:
    saw = one.saw
    parts = one.parts() if one.parts is not None else ()
    if one.path is not None and not parts:
        place = _value_place(entry, trace, one.path)
        saw = f"{saw} [{place}]" if place else saw
    return ExplainedCriterion(
        shown(one.wants, entry, report),
        shown(saw, entry, report),
        one.held,
        format_path(one.field),
        "" if rule is None or not one.field else one_line(rule.place(one.field)),
        shown(one.hint, entry, report),
        one.is_effect,
        tuple(_part(part, entry, trace, report) for part in parts),
    )


def _part(part: Part, entry: ObjectReport, trace: Trace, report: Report) -> ExplainedPart:
    value = None
    if part.value is not MISSING:
        value_shown = part.value
        if part.path is not None and not report.show_secrets:
            value_shown = report.redactor.value((*trace.path, *part.path), value_shown, entry.item)
        place = "" if part.path is None else _value_place(entry, trace, part.path)
        value = Value(shown(_cut(compact(value_shown)), entry, report), place)
    note = part.error or part.note
    parts = tuple(_part(one, entry, trace, report) for one in part.parts)
    return ExplainedPart(one_line(part.text), value, shown(note, entry, report), parts)


_LONG = 200


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def _value_place(entry: ObjectReport, trace: Trace, path: Path) -> str:
    """Where the user wrote a value of the object, `default` where nobody did."""
    whole = (*trace.path, *path)
    if get(entry.item.original, whole, MISSING) is MISSING:
        return "" if trace.path and path[:1] == ("metadata",) else "default"
    return place_of(entry, whole)


def place_of(entry: ObjectReport, path: Path) -> str:
    """The file and line of a field of an object."""
    origin = entry.item.origin
    if origin.line is None:
        return one_line(str(origin))
    return one_line(f"{origin.file}:{entry.item.line(path)}" if origin.file else str(origin))


def _place(rule: Rule) -> str:
    return one_line(str(rule.ref.origin)) if rule.ref.origin is not None else ""


# --------------------------------------------------------------------------------------- who wrote


class Write(NamedTuple):
    """One step in the history of a field: who wrote it, and what it was after that."""

    by: str
    field: str
    before: Value
    after: Value
    place: str


def history(one: ExplainedObject, path: Path, explained: Explanation) -> list[Write]:
    """Who wrote a field, oldest first: the manifest or the API server, then rules.

    `path` may be a prefix of what was written, or lie below it.
    """
    entry, report = one.entry, explained.report
    rules = {key_of(rule.ref): rule for rule in explained.rules}
    before = get(entry.item.original, path, MISSING)
    writes: list[Write] = []
    if before is not MISSING:
        value = _shown(entry, path, before, report)
        writes.append(
            Write("the manifest", format_path(path), NOTHING, value, place_of(entry, path))
        )
    else:
        default = get(entry.served, path, MISSING) if entry.served is not None else MISSING
        if default is not MISSING:
            value = _shown(entry, path, default, report)
            writes.append(Write("the API server", format_path(path), NOTHING, value, "default"))
    for change in entry.history:
        if _touches(change.path, path):
            writes.append(_write(entry, change, rules, report))
    return [*writes, *_put_back(entry, path, report)]


def _put_back(entry: ObjectReport, path: Path, report: Report) -> Iterator[Write]:
    """What the API server makes of the last write of a rule: a default that it fills in again."""
    last = next((c for c in reversed(entry.history) if _touches(c.path, path)), None)
    if last is None or entry.left is None or last.path != path[: len(last.path)]:
        return
    if any(trace.path and trace.path == path[: len(trace.path)] for trace in entry.traces):
        return  # written back from a Pod, which is not the object that was left
    below = path[len(last.path) :]
    wrote = get(last.new, below, MISSING) if last.new is not MISSING else MISSING
    left = get(entry.left, path, MISSING)
    if wrote is MISSING and left is MISSING:
        return
    if wrote is not MISSING and left is not MISSING and equal(wrote, left):
        return
    before, after = (_shown(entry, path, value, report) for value in (wrote, left))
    yield Write("the API server", format_path(path), before, after, "default")


def _touches(written: Path, path: Path) -> bool:
    return all(a in (b, "*") or b == "*" for a, b in zip(written, path, strict=False))


def _write(
    entry: ObjectReport, change: Change, rules: Mapping[_Key, Rule], report: Report
) -> Write:
    names = ", ".join(dict.fromkeys(map(str, change.rules))) or "the API server"
    rule = rules.get(key_of(change.rules[-1])) if change.rules else None
    return Write(
        one_line(names),
        one_line(format_path(change.path)),
        _shown(entry, change.path, change.old, report),
        _shown(entry, change.path, change.new, report),
        "" if rule is None else _place(rule),
    )


NOTHING = Value("(nothing)")


def _shown(entry: ObjectReport, path: Path, value: Any, report: Report) -> Value:
    if value is MISSING:
        return NOTHING
    if not report.show_secrets:
        value = report.redactor.value(path, value, entry.item, asks=True)
    return Value(one_line(_cut(compact(value))))


def changed_fields(one: ExplainedObject, explained: Explanation) -> list[Write]:
    """Every changed field with its last writer."""
    rules = {key_of(rule.ref): rule for rule in explained.rules}
    return [_write(one.entry, change, rules, explained.report) for change in one.entry.changes]


# ----------------------------------------------------------------------------------------- as data


def data(explained: Explanation, objects: Sequence[ExplainedObject]) -> dict[str, Any]:
    """The explanation as JSON: `kind: Explanation`, objects, rules, criteria, parts."""
    return {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "Explanation",
        "objects": [_object_data(one, explained) for one in objects],
    }


def _object_data(one: ExplainedObject, explained: Explanation) -> dict[str, Any]:
    head = one.head
    return {
        "apiVersion": head.api_version,
        "kind": head.kind,
        "namespace": head.namespace,
        "name": head.name,
        "place": one.place,
        "outcome": str(one.entry.outcome),
        "filled": list(one.filled),
        "messages": list(one.server),
        "rules": [_rule_data(rule) for rule in one.rules],
        "changes": [
            {
                "field": write.field,
                "before": write.before.text,
                "after": write.after.text,
                "by": write.by,
                "place": write.place,
            }
            for write in changed_fields(one, explained)
        ],
    }


def _rule_data(rule: ExplainedRule) -> dict[str, Any]:
    value: dict[str, Any] = {
        "kind": rule.ref.kind,
        "namespace": one_line(rule.ref.namespace),
        "name": one_line(rule.ref.name),
        "dialect": rule.ref.dialect,
        "place": rule.place,
        "outcome": str(rule.outcome),
        "criteria": [_criterion_data(one) for one in rule.criteria],
        "messages": list(rule.messages),
    }
    if rule.template:
        value["template"] = rule.template
    if rule.again:
        value["secondPass"] = True
    return value


def _criterion_data(one: ExplainedCriterion) -> dict[str, Any]:
    value: dict[str, Any] = {
        "field": one.field,
        "place": one.place,
        "wants": one.wants,
        "saw": one.saw,
        "message": one.hint,
        "effect": one.is_effect,
        "parts": [_part_data(part) for part in one.parts],
    }
    if not one.is_effect:
        value["held"] = one.held
    return value


def _part_data(part: ExplainedPart) -> dict[str, Any]:
    value: dict[str, Any] = {"text": part.text, "note": part.note}
    if part.value is not None:
        value["value"] = part.value.text
        value["place"] = part.value.place
    value["parts"] = [_part_data(one) for one in part.parts]
    return value
