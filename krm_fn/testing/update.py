"""Write what now comes into the expectations of a suite, in place; comments and the rest stay.

Only what a failure is about is written. Values of Secrets are not: a suite is read by many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from krm_fn.admission.checks import NOT_IDEMPOTENT
from krm_fn.errors import KrmFnError, RuleError
from krm_fn.report.model import ObjectReport, severity_of
from krm_fn.report.redact import is_secret
from krm_fn.sdk import Severity
from krm_fn.sdk.query import find
from krm_fn.system.files import Write
from krm_fn.testing.compare import Admitted, named_entry, outcome_of
from krm_fn.testing.matchers import selected
from krm_fn.testing.run import CaseResult, Runner
from krm_fn.testing.suite import Case, ExpectedOutcome, Suite
from krm_fn.values import MISSING, Json, Path, format_path, get, with_at
from krm_fn.wire import read_stream


class Updated(NamedTuple):
    """The files as they shall be, and a line for each expectation that changed or could not."""

    writes: tuple[Write, ...]
    lines: tuple[str, ...]


def update(suite: Suite, results: Sequence[CaseResult]) -> Updated:
    """What makes the failed cases of a suite pass. Writes nothing itself."""
    runner = Runner(suite)
    value = suite.item.value
    lines: list[str] = []
    files: dict[str, bytes] = {}
    for result in results:
        if not result.failures:
            continue
        case = result.case
        if case.expect.verdict is not None:
            lines.append(f"left {suite.place(case.path)} {case.name}: it is a test of Kyverno's")
            continue
        edit = _Edit(suite, case, runner, files)
        for failure in result.failures:
            done = edit.apply(value, failure.field)
            field = format_path(failure.field)
            if done is None:
                lines.append(f"left {suite.place(case.path)} {case.name}: {field} is of a Secret")
            else:
                value = done
                lines.append(f"updated {suite.place(case.path)} {case.name}: {field}")
    writes = [Write(name, data) for name, data in files.items()]
    if value is not suite.item.value:
        suite.item.replace(value)
        writes.append(Write(suite.file, suite.item.stream.write(())))
    return Updated(tuple(writes), tuple(dict.fromkeys(lines)))


class _Edit:
    """The new expectations of one case."""

    def __init__(self, suite: Suite, case: Case, runner: Runner, files: dict[str, bytes]) -> None:
        self._case = case
        self._suite = suite
        self._files = files
        self._admitted: Admitted | None = None
        self._error = ""
        try:
            self._admitted = runner.admit(case)
        except RuleError as error:
            self._error = str(error)

    def apply(self, value: Json, field: Path) -> Json | None:
        """The suite with one expectation as it now comes; None where that is a Secret's."""
        at = (*self._case.path, "expect")
        if self._admitted is None:
            return _with(value, (*at, "invalid"), {"contains": self._error})
        entries = self._admitted.entries()
        match field[1:]:
            case ("invalid",):
                value = _with(value, (*at, "invalid"), MISSING)
                return _with(value, (*at, "outcome"), str(outcome_of(entries)))
            case ("rules",):
                return _with(value, (*at, "rules"), sorted(_acting(entries)))
            case ("idempotent",):
                return _with(value, (*at, "idempotent"), MISSING)
            case ("object",):
                return self._objects(value, at, entries)
            case ("each", str(name), *rest):
                entry = named_entry(name, entries)
                return self._one(value, (*at, "each", name), tuple(rest), [entry])
            case ("outcome" | "fields" | "patch", *_):
                return self._one(value, at, field[1:], entries)
            case _:
                return self._messages(value, at, entries)

    def _one(
        self, value: Json, at: Path, field: Path, entries: Sequence[ObjectReport]
    ) -> Json | None:
        assert self._admitted is not None
        if field == ("outcome",):
            return _with(value, (*at, "outcome"), str(outcome_of(entries)))
        (entry,) = entries
        if is_secret(entry.head):
            return None
        if field[0] == "patch":
            import jsonpatch

            before = self._admitted.before[entry.item]
            patch = jsonpatch.make_patch(before, entry.object).patch
            return _with(value, (*at, "patch"), patch)
        jsonpath = str(field[1])
        chosen = selected([one for _, one in find(jsonpath, entry.object)], jsonpath)
        redactor = self._admitted.report.redactor
        for path, one in find(jsonpath, entry.object):
            if redactor.value(path, one, entry.item, asks=True) != one:
                return None
        new = {"absent": True} if chosen is MISSING else chosen
        if type(new) is dict and chosen is not MISSING:
            new = {"equals": new} if _looks_like_a_matcher(new) else new
        return _with(value, (*at, *field), new)

    def _objects(self, value: Json, at: Path, entries: Sequence[ObjectReport]) -> Json | None:
        """The whole objects: a file of their own, or text in the suite."""
        text = self._case.expect.objects
        assert text is not None
        data = self._files.get(text.name, text.data)
        stream = read_stream(data, text.name)
        for item in stream.items:
            entry = named_entry(f"{item.head.kind}/{item.head.name}", entries)
            if is_secret(entry.head):
                return None
            item.replace(entry.object)
        written = stream.write(())
        if type(get(value, (*at, "object"))) is dict:
            return _with(value, (*at, "object", "inline"), written.decode())
        self._files[text.name] = written
        return value

    def _messages(self, value: Json, at: Path, entries: Sequence[ObjectReport]) -> Json | None:
        """What is said and was not expected: an outcome where that is enough, else messages."""
        if any(is_secret(entry.head) for entry in entries):
            return None
        assert self._admitted is not None
        redactor = self._admitted.report.redactor
        for entry in entries:
            for f in entry.findings:
                if redactor.message(f.message, entry.item, asks=True) != f.message:
                    return None
        said = [f for entry in entries for f in entry.findings]
        said = [f for f in said if severity_of(f) is not Severity.INFO]
        if any(f.message.startswith(NOT_IDEMPOTENT) for f in said):
            value = _with(value, (*at, "idempotent"), False)
            said = [f for f in said if not f.message.startswith(NOT_IDEMPOTENT)]
        outcome = outcome_of(entries)
        alone = outcome in (ExpectedOutcome.DENIED, ExpectedOutcome.WARNED)
        if not said:
            return _with(value, (*at, "messages"), MISSING)
        if self._case.expect.messages is None and alone and not self._case.expect.each:
            return _with(value, (*at, "outcome"), str(outcome))
        messages: list[Json] = []
        for finding in said:
            one: Json = {"contains": finding.message}
            if finding.rules:
                one["rule"] = finding.rules[0].name
            if one not in messages:
                messages.append(one)
        return _with(value, (*at, "messages"), messages)


def _acting(entries: Sequence[ObjectReport]) -> Iterator[str]:
    refs = [ref for entry in entries for change in entry.changes for ref in change.rules]
    refs += [ref for e in entries for f in e.findings if f.denies for ref in f.rules]
    yield from {ref.name for ref in refs}


def _looks_like_a_matcher(value: Any) -> bool:
    from krm_fn.testing.matchers import matcher

    try:
        return not matcher(value).check(value)
    except KrmFnError:
        return True


def _with(value: Json, path: Path, new: Any) -> Json:
    if new is MISSING and get(value, path, MISSING) is MISSING:
        return value
    changed: Json = with_at(value, path, new)
    return changed
