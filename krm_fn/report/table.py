"""A run as tables: what each rule made of each object that it met; what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from krm_fn.printable import one_line
from krm_fn.report.model import Report
from krm_fn.report.statements import statements
from krm_fn.sdk import Severity
from krm_fn.wire import Head

NOT_MATCHED: Final = "not matched"
COLUMNS: Final = ("OBJECT", "RULE", "RESULT")


FINDINGS: Final = ("SEVERITY", "PLACE", "RULE", "MESSAGE")


class Row(NamedTuple):
    """What a rule made of an object; without an object, of none of them."""

    object: str
    rule: str
    result: str


def rows(report: Report) -> Iterator[Row]:
    """A row for each rule and object that met, by object, then one for each rule that met none."""
    met = set()
    for entry in report.objects:
        for ref, verdict in entry.verdicts().items():
            met.add(ref)
            yield Row(_name(entry.head), one_line(str(ref)), verdict.value)
    for ref in report.refs:
        if ref not in met:
            yield Row("", one_line(str(ref)), NOT_MATCHED)


def findings(report: Report) -> Iterator[tuple[str, str, str, str]]:
    """A row for each error and warning: severity, place, rule, message."""
    for statement in statements(report, Severity.ERROR, Severity.WARNING):
        yield statement.severity.value, statement.place, statement.rules, statement.message


def _name(head: Head) -> str:
    name = f"{head.namespace}/{head.name}" if head.namespace else head.name
    return one_line(f"{head.kind} {name}")
