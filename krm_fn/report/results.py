"""A run as the `results` of a ResourceList, as kpt and others show and store them.

Source: the KRM functions specification, `results`; field.path is dotted with `[i]` for indexes.
"""

from __future__ import annotations

from typing import Any

from krm_fn.admission import Change, Finding, RuleRef
from krm_fn.report.model import ObjectReport, Report, severity_of
from krm_fn.report.redact import is_secret, redact_message, redact_value
from krm_fn.sdk import Field, File, ResourceRef, Result, Results, Severity
from krm_fn.values import MISSING, compact, format_path, get


def results(report: Report) -> Results:
    """All results: errors, warnings and notes, then a result a change up to the limit."""
    made = Results(
        _finding(entry, finding, report)
        for wanted in Severity
        for entry, finding in report.all_findings()
        if severity_of(finding) is wanted
    )
    if not report.with_changes:
        return made
    changes = [(entry, change) for entry in report.objects for change in entry.changes]
    room = max(report.limit - len(made), 0)
    made += [_change(entry, change, report) for entry, change in changes[:room]]
    if len(changes) > room:
        made.infof("%d more changes", len(changes) - room)
    return made


def message_of(entry: ObjectReport | None, finding: Finding, report: Report) -> str:
    """A finding's sentence, without values of Secrets."""
    if entry is None or report.show_secrets or not is_secret(entry.head):
        return finding.message
    return redact_message(redact_message(finding.message, entry.item.original), entry.item.value)


def _finding(entry: ObjectReport | None, finding: Finding, report: Report) -> Result:
    message, severity = message_of(entry, finding, report), severity_of(finding)
    tags = _tags(finding.rules)
    if entry is None:
        return Result(message, severity, tags=tags)
    field: Field | None = None
    if finding.field:
        current = get(entry.item.original, finding.field, MISSING)
        shown = _shown(entry, finding.field, current, report)
        scalar = type(shown) in (str, int, float, bool)
        field = Field(format_path(finding.field), shown if scalar else MISSING)
    return Result(message, severity, _reference(entry), field, _file(entry), tags)


def _change(entry: ObjectReport, change: Change, report: Report) -> Result:
    path = format_path(change.path)
    verb = "added" if change.old is MISSING else "removed" if change.new is MISSING else "changed"
    by = ", ".join(dict.fromkeys(map(str, change.rules)))
    field = Field(
        path,
        _shown(entry, change.path, change.old, report),
        _shown(entry, change.path, change.new, report),
    )
    message = f"{path} {verb}" + (f" by {by}" if by else "")
    if type(change.default) in (str, int, float, bool):
        default = _shown(entry, change.path, change.default, report)
        message += f"; before, {compact(default)} (default)"
    tags = _tags(change.rules)
    return Result(message, Severity.INFO, _reference(entry), field, _file(entry), tags)


def _shown(entry: ObjectReport, path: Any, value: Any, report: Report) -> Any:
    if value is MISSING or report.show_secrets or not is_secret(entry.head):
        return value
    return redact_value(path, value)


def _reference(entry: ObjectReport) -> ResourceRef:
    head = entry.head
    return ResourceRef(head.api_version, head.kind, head.name, head.namespace)


def _file(entry: ObjectReport) -> File | None:
    origin = entry.item.origin
    return File(origin.file, origin.index or 0) if origin.file else None


def _tags(rules: tuple[RuleRef, ...]) -> dict[str, str]:
    if not rules:
        return {}
    names = ", ".join(dict.fromkeys(map(str, rules)))
    tags = {"rule": names, "dialect": rules[0].dialect}
    if rules[0].origin:
        tags["source"] = str(rules[0].origin)
    return tags
