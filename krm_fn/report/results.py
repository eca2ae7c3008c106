"""A run as the `results` of a ResourceList, as kpt and others show and store them.

Source: the KRM functions specification, `results`; field.path is dotted with `[i]` for indexes.
"""

from __future__ import annotations

from itertools import islice

from krm_fn.report.model import Report
from krm_fn.report.statements import Statement, changes, statements
from krm_fn.report.text import passed_over
from krm_fn.sdk import Field, File, ResourceRef, Result, Results


def results(report: Report) -> Results:
    """All results: errors, warnings and notes, then a result a change up to the limit."""
    all_results = Results(map(_result, statements(report)))
    for line in passed_over(report):
        all_results.info(line)
    if not report.with_changes:
        return all_results
    count = sum(len(entry.changes) for entry in report.objects)
    room = max(report.limit - len(all_results), 0)
    all_results += map(_result, islice(changes(report), room))
    if count > room:
        all_results.info(f"{count - room} more changes")
    return all_results


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
