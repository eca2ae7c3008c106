"""What came of a case against what was expected: each difference is a failure.

Only what is expected is compared; but what refuses, warns or fails without being expected is a
failure, too. Values of Secrets are hidden as in every report.
Source: docs/spec/test.md section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from krm_fn.admission import Finding, Rule, RuleRef
from krm_fn.admission.checks import NOT_IDEMPOTENT
from krm_fn.config.dialects import is_target
from krm_fn.errors import ConfigError, KrmFnError, did_you_mean
from krm_fn.report.linediff import unified
from krm_fn.report.model import ObjectReport, Outcome, Report, severity_of
from krm_fn.report.redact import is_secret, redact_any, redact_object
from krm_fn.sdk import Severity
from krm_fn.sdk.object import yaml_of
from krm_fn.sdk.query import find, patched
from krm_fn.testing.matchers import Matcher, selected
from krm_fn.testing.suite import Case, ExpectedMessage, ExpectedObject, ExpectedOutcome
from krm_fn.values import MISSING, Json, Path, compact, diff, equal, format_path
from krm_fn.wire import Head, Item, read_stream


class Failure(NamedTuple):
    """One difference. `field` is the field of the case that expects it, `rules` made what came."""

    field: Path
    expected: str
    came: tuple[str, ...]
    """Lines of a diff: `-` what was expected, `+` what came."""
    rules: tuple[RuleRef, ...] = ()
    why: tuple[str, ...] = ()
    """The explanation of the rules concerned."""
    head: Head | None = None
    """The object that it is about; None for all of the case."""


class Admitted(NamedTuple):
    """A run of a case: its objects, as they were before, and what is said of them."""

    items: Sequence[Item]
    before: Mapping[Item, Json]
    report: Report
    rules: Sequence[Rule] = ()

    def entry(self, item: Item) -> ObjectReport:
        """What became of an object."""
        for entry in self.report.objects:
            if entry.item is item:
                return entry
        return ObjectReport(item, item.head.namespace, Outcome.UNCHANGED)

    def entries(self) -> list[ObjectReport]:
        """What became of each object that rules may see."""
        return [self.entry(item) for item in self.items if is_target(item.head)]


def compare(case: Case, admitted: Admitted) -> Iterator[Failure]:
    """The differences. Raises ConfigError for expectations of objects that there are not."""
    expect = case.expect
    if expect.invalid is not None:
        yield Failure(
            ("expect", "invalid"), f"invalid: {expect.invalid}", ("+the rules are valid",)
        )
        return
    entries = admitted.entries()
    yield from _compare_outcome(expect.one.outcome, entries, ("expect",))
    if expect.one.fields or expect.one.patch is not None:
        if len(entries) != 1:
            raise ConfigError(
                f"case {case.name}: fields and patch are of one object, and there are "
                f"{len(entries)}; name it in expect.each"
            )
        yield from _compare_object(expect.one, entries[0], admitted, ("expect",))
    for name, wanted in expect.each.items():
        field = ("expect", "each", name)
        entry = named_entry(name, entries)
        yield from _compare_outcome(wanted.outcome, [entry], field)
        yield from _compare_object(wanted, entry, admitted, field)
    if expect.objects is not None:
        for item in read_stream(expect.objects.data, expect.objects.name).items:
            name = f"{item.head.kind}/{item.head.name}"
            yield from _compare_whole(item, named_entry(name, entries), admitted.report)
    if expect.rules is not None:
        yield from _compare_rules(expect.rules, entries)
    yield from _compare_messages(case, entries, admitted.report)


def named_entry(name: str, entries: Sequence[ObjectReport]) -> ObjectReport:
    """The object that KIND/NAME means. Raises ConfigError."""
    kind, _, short = name.rpartition("/")
    for entry in entries:
        if (kind or entry.head.kind, short) == (entry.head.kind, entry.head.name):
            return entry
    known = [f"{entry.head.kind}/{entry.head.name}" for entry in entries]
    hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
    raise ConfigError(f"the case has no object {name}{hint}")


# -------------------------------------------------------------------------------------- outcomes


def outcome_of(entries: Sequence[ObjectReport]) -> ExpectedOutcome:
    """What became of objects, in the words of suites: the weightiest of them."""
    outcomes = {entry.outcome for entry in entries}
    if outcomes & {Outcome.REJECTED, Outcome.DROPPED}:
        return ExpectedOutcome.DENIED
    if Outcome.CHANGED in outcomes:
        return ExpectedOutcome.CHANGED
    warned = any(_warns(finding) for entry in entries for finding in entry.findings)
    return ExpectedOutcome.WARNED if warned else ExpectedOutcome.UNCHANGED


def _warns(finding: Finding) -> bool:
    return severity_of(finding) is Severity.WARNING


def _compare_outcome(
    wanted: ExpectedOutcome | None, entries: Sequence[ObjectReport], field: Path
) -> Iterator[Failure]:
    if wanted is None:
        return
    outcome = outcome_of(entries)
    if wanted is outcome:
        return
    warned = any(_warns(finding) for entry in entries for finding in entry.findings)
    if (wanted, outcome) == (ExpectedOutcome.WARNED, ExpectedOutcome.CHANGED) and warned:
        return
    if wanted is ExpectedOutcome.UNCHANGED and outcome is ExpectedOutcome.WARNED:
        return  # the warning itself is what is not expected
    rules = tuple(ref for entry in entries for change in entry.changes for ref in change.rules)
    came = (f"-{wanted}", f"+{outcome}", *_changes(entries))
    yield Failure((*field, "outcome"), f"outcome: {wanted}", came, tuple(dict.fromkeys(rules)))


def _changes(entries: Sequence[ObjectReport]) -> Iterator[str]:
    """The changed fields, as part of what came."""
    for entry in entries:
        for change in entry.changes[:_CHANGES]:
            yield f" {entry.head.kind}/{entry.head.name} changed {format_path(change.path)}"


_CHANGES = 5


# -------------------------------------------------------------------------------- fields, objects


def _compare_object(
    wanted: ExpectedObject, entry: ObjectReport, admitted: Admitted, field: Path
) -> Iterator[Failure]:
    value = entry.object
    for jsonpath, expected in wanted.fields.items():
        yield from _compare_field(jsonpath, expected, value, entry, admitted.report, field)
    if wanted.patch is not None:
        yield from _compare_patch(wanted.patch, entry, admitted, field)


def _compare_field(
    jsonpath: str,
    expected: Matcher,
    value: Json,
    entry: ObjectReport,
    report: Report,
    field: Path,
) -> Iterator[Failure]:
    try:
        matches = list(find(jsonpath, value))
    except KrmFnError as error:
        raise ConfigError(f"{format_path(field)}.fields: {error.message}") from None
    chosen = selected([one for _, one in matches], jsonpath)
    if expected.check(chosen):
        return
    hidden = [
        report.redactor.value(path, one, entry.item, asks=True) if not report.show_secrets else one
        for path, one in matches
    ]
    shown = selected(hidden, jsonpath)
    came = "(nothing)" if shown is MISSING else compact(shown)
    rules = [
        ref
        for change in entry.changes
        for path, _ in matches
        if _overlap(change.path, path)
        for ref in change.rules
    ]
    yield Failure(
        (*field, "fields", jsonpath),
        f"{jsonpath}: {expected}",
        (f"-{expected}", f"+{came}"),
        tuple(dict.fromkeys(rules)),
        head=entry.head,
    )


def _overlap(a: Path, b: Path) -> bool:
    return all(x == y for x, y in zip(a, b, strict=False))


def _compare_whole(expected: Item, entry: ObjectReport, report: Report) -> Iterator[Failure]:
    if equal(expected.value, entry.object):
        return
    name = f"{entry.head.kind}/{entry.head.name}"
    names = f"{name} (expected)", f"{name} (came)"
    came = differences(expected.value, entry.object, names, entry, report)
    rules = tuple(dict.fromkeys(ref for change in entry.changes for ref in change.rules))
    yield Failure(
        ("expect", "object"), f"{name} as in {expected.stream.name}", came, rules, head=entry.head
    )


def differences(
    expected: Json, came: Json, names: tuple[str, str], entry: ObjectReport, report: Report
) -> tuple[str, ...]:
    """A unified diff of two objects, without values of Secrets; order of keys does not count."""
    texts = []
    for value in (expected, came):
        shown = value
        if not report.show_secrets:
            shown = redact_object(value) if is_secret(entry.head) else redact_any(value)
        texts.append(yaml_of(_ordered(shown)).splitlines())
    lines = unified(texts[0], texts[1], *names)
    return tuple(line if report.show_secrets else report.redactor.line(line) for line in lines)


def _ordered(value: Any) -> Any:
    """A value with its keys in order, since order does not count."""
    if type(value) is dict:
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(one) for one in value] if type(value) is list else value


def _compare_patch(
    patch: Sequence[Json], entry: ObjectReport, admitted: Admitted, field: Path
) -> Iterator[Failure]:
    """A patch is compared by its effect, and by the paths: each operation did something."""
    before, after = admitted.before[entry.item], entry.object
    try:
        wanted = patched(before, patch)
    except KrmFnError as error:
        raise ConfigError(f"{format_path(field)}.patch: {error.message}") from None
    if not equal(wanted, after):
        names = "patched (expected)", "admitted (came)"
        came = differences(wanted, after, names, entry, admitted.report)
        yield Failure((*field, "patch"), f"patch: {compact(list(patch))}", came)
        return
    paths = [edit.path for edit in diff(before, after)]
    for operation in patch:
        pointer = _path(str(operation.get("path", "")))
        if operation.get("op") != "test" and not any(_overlap(pointer, path) for path in paths):
            text = f"patch: {compact(operation)}"
            yield Failure((*field, "patch"), text, (f"+nothing at {format_path(pointer)}",))


def _path(pointer: str) -> Path:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return tuple(int(part) if part.isdecimal() else part for part in parts if part != "-")


# ------------------------------------------------------------------------------- rules, messages


def _compare_rules(wanted: frozenset[str], entries: Sequence[ObjectReport]) -> Iterator[Failure]:
    acted = {ref for entry in entries for change in entry.changes for ref in change.rules}
    acted |= {ref for e in entries for f in e.findings if f.denies for ref in f.rules}
    names = {ref.name for ref in acted}
    full = {f"{ref.kind}/{ref.name}" for ref in acted}
    missing = sorted(name for name in wanted if name not in names | full)
    extra = sorted(ref.name for ref in acted if not wanted & {ref.name, f"{ref.kind}/{ref.name}"})
    if missing or extra:
        came = (*(f"-{name}" for name in missing), *(f"+{name}" for name in dict.fromkeys(extra)))
        refs = tuple(sorted((ref for ref in acted if ref.name in extra), key=str))
        yield Failure(
            ("expect", "rules"), f"rules: {', '.join(sorted(wanted)) or 'none'}", came, refs
        )


def _compare_messages(
    case: Case, entries: Sequence[ObjectReport], report: Report
) -> Iterator[Failure]:
    expect = case.expect
    met: set[int] = set()
    repeats = False
    for entry, finding in _findings(entries, report):
        message = finding.message
        number = _expected(expect.messages or (), finding)
        if number is not None:
            met.add(number)
            continue
        if finding.message.startswith(NOT_IDEMPOTENT):
            repeats = True
            if not expect.idempotent:
                continue
        severity = severity_of(finding)
        if severity is Severity.INFO or (
            expect.messages is None and _goes_with_outcome(case, entry, severity)
        ):
            continue
        shown = message
        if not report.show_secrets:
            shown = report.redactor.message(message, entry.item if entry else None, asks=True)
        text = f"no {severity.value} but those that are expected"
        came = (f"+{severity.value}: {' '.join(shown.split())}",)
        head = None if entry is None else entry.head
        yield Failure(("expect",), text, came, finding.rules, head=head)
    for n, wanted in enumerate(expect.messages or ()):
        if n not in met:
            whose = f" of {wanted.rule}" if wanted.rule else ""
            text = f"a message{whose} that fits {wanted.text}"
            yield Failure(
                ("expect", "messages", n), text, (f"-{wanted.text}", "+(no such message)")
            )
    if not expect.idempotent and not repeats:
        unchanged = ("-idempotent: false", "+admitting the result once more changes nothing")
        yield Failure(("expect", "idempotent"), "idempotent: false", unchanged)


def _findings(
    entries: Sequence[ObjectReport], report: Report
) -> Iterator[tuple[ObjectReport | None, Finding]]:
    """What is said of the objects, and what refuses the run as a whole."""
    for finding in report.findings:
        if finding.denies:
            yield None, finding
    for entry in entries:
        for finding in entry.findings:
            yield entry, finding


def _expected(wanted: Sequence[ExpectedMessage], finding: Finding) -> int | None:
    """Which of the expected messages a finding is."""
    for n, one in enumerate(wanted):
        names = {text for ref in finding.rules for text in (ref.name, f"{ref.kind}/{ref.name}")}
        if one.rule and one.rule not in names:
            continue
        if one.severity and one.severity != severity_of(finding).value:
            continue
        if one.text.check(finding.message):
            return n
    return None


def _goes_with_outcome(case: Case, entry: ObjectReport | None, severity: Severity) -> bool:
    """Whether an outcome that is expected brings such messages with it."""
    outcomes = {case.expect.one.outcome}
    if entry is not None:
        for name, wanted in case.expect.each.items():
            if name.rpartition("/")[2] == entry.head.name:
                outcomes.add(wanted.outcome)
    wanted_outcome = {
        Severity.ERROR: ExpectedOutcome.DENIED,
        Severity.WARNING: ExpectedOutcome.WARNED,
    }
    return wanted_outcome.get(severity) in outcomes
