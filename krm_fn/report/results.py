"""A run as the `results` of a ResourceList, as kpt and others show and store them.

Source: the KRM functions specification, `results`; field.path is dotted with `[i]` for indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.admission import Change, Finding, RuleRef
from krm_fn.report.model import ObjectReport, Report, Severity, severity_of
from krm_fn.report.redact import is_secret, redact_message, redact_value
from krm_fn.values import MISSING, Json, format_path, get


def results(report: Report) -> list[Json]:
    """All results: errors, warnings and notes, then a result a change up to the limit."""
    made = [
        _finding(entry, finding, report)
        for wanted in Severity
        for entry, finding in report.all_findings()
        if severity_of(finding) is wanted
    ]
    if not report.with_changes:
        return made
    changes = [(entry, change) for entry in report.objects for change in entry.changes]
    room = max(report.limit - len(made), 0)
    made += [_change(entry, change, report) for entry, change in changes[:room]]
    if len(changes) > room:
        more = len(changes) - room
        made.append({"message": f"{more} more changes", "severity": Severity.INFO.value})
    return made


def message_of(entry: ObjectReport | None, finding: Finding, report: Report) -> str:
    """A finding's sentence, without values of Secrets."""
    if entry is None or report.show_secrets or not is_secret(entry.head):
        return finding.message
    return redact_message(redact_message(finding.message, entry.item.original), entry.item.value)


def _finding(entry: ObjectReport | None, finding: Finding, report: Report) -> Json:
    result: Json = {
        "message": message_of(entry, finding, report),
        "severity": severity_of(finding).value,
    }
    if entry is not None:
        result["resourceRef"] = _reference(entry)
        if finding.field:
            current = get(entry.item.original, finding.field, MISSING)
            shown = _shown(entry, finding.field, current, report)
            result["field"] = {"path": format_path(finding.field)}
            if type(shown) in (str, int, float, bool):
                result["field"]["currentValue"] = shown
        result.update(_file(entry))
    result.update(_tags(finding.rules))
    return result


def _change(entry: ObjectReport, change: Change, report: Report) -> Json:
    path = format_path(change.path)
    verb = "added" if change.old is MISSING else "removed" if change.new is MISSING else "changed"
    by = ", ".join(dict.fromkeys(map(str, change.rules)))
    field: Json = {"path": path}
    for name, value in (("currentValue", change.old), ("proposedValue", change.new)):
        if value is not MISSING:
            field[name] = _shown(entry, change.path, value, report)
    return {
        "message": f"{path} {verb}" + (f" by {by}" if by else ""),
        "severity": Severity.INFO.value,
        "resourceRef": _reference(entry),
        "field": field,
        **dict(_file(entry)),
        **dict(_tags(change.rules)),
    }


def _shown(entry: ObjectReport, path: Any, value: Any, report: Report) -> Any:
    if report.show_secrets or not is_secret(entry.head):
        return value
    return redact_value(path, value)


def _reference(entry: ObjectReport) -> Json:
    head = entry.head
    reference = {"apiVersion": head.api_version, "kind": head.kind}
    if head.namespace:
        reference["namespace"] = head.namespace
    return {**reference, "name": head.name}


def _file(entry: ObjectReport) -> Iterator[tuple[str, Json]]:
    origin = entry.item.origin
    if origin.file:
        file: Json = {"path": origin.file}
        if origin.index:
            file["index"] = origin.index
        yield "file", file


def _tags(rules: tuple[RuleRef, ...]) -> Iterator[tuple[str, Json]]:
    if rules:
        rule = rules[0]
        tags = {"rule": ", ".join(dict.fromkeys(map(str, rules))), "dialect": rule.dialect}
        source = str(rule.origin) if rule.origin else ""
        if source:
            tags["source"] = source
        yield "tags", tags
