"""A run as the `results` of a ResourceList, as kpt and others show and store them.

Source: the KRM functions specification, `results`; field.path is dotted with `[i]` for indexes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from krm_fn.report.model import Report
from krm_fn.report.statements import Statement, changes, statements
from krm_fn.report.text import passed_over
from krm_fn.sdk import Field, File, ResourceRef, Result, Results, Severity
from krm_fn.values import Json


def results(report: Report) -> Results:
    """All results: errors, warnings and notes, then a result a change up to the limit."""
    return Results(result for result, _ in _all(report))


def located(report: Report) -> list[Json]:
    """All results as JSON, each with the line of what it is about, where there is a file."""
    found = []
    for result, statement in _all(report):
        entry = result.to_json()
        file, line = statement.line() if statement is not None else ("", 1)
        if file:
            entry["file"] = {**entry.get("file", {"path": file}), "line": line}
        found.append(entry)
    return found


def _all(report: Report) -> Iterator[tuple[Result, Statement | None]]:
    found = list(statements(report))
    for statement in found:
        yield _result(statement), statement
    not_read = passed_over(report)
    for line in not_read:
        yield Result(line, Severity.INFO), None
    if not report.with_changes:
        return
    count = sum(len(entry.changes) for entry in report.objects)
    room = max(report.limit - len(found) - len(not_read), 0)
    for statement in islice(changes(report), room):
        yield _result(statement), statement
    if count > room:
        yield Result(f"{count - room} more changes", Severity.INFO), None


def _result(statement: Statement) -> Result:
    head, origin = statement.head, statement.origin
    field: Field | None = None
    if statement.field:
        field = Field(statement.field, statement.value, statement.new)
    tags: dict[str, str] = {}
    if statement.rules:
        tags = {"rule": statement.rules, "dialect": statement.dialect}
        if statement.rule_origin is not None:
            tags["source"] = statement.source
    return Result(
        statement.message,
        statement.severity,
        ResourceRef(head.api_version, head.kind, head.name, head.namespace) if head else None,
        field,
        File(origin.file, origin.index or 0) if origin is not None and origin.file else None,
        tags,
    )
