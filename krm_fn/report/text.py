"""A run as lines for people: errors first, one line each, then the summary.

kustomize drops results, kpt shows the first four lines, Argo CD shows everything in one string: so
the first line says what matters most.
"""

from __future__ import annotations

from krm_fn.report.model import Report
from krm_fn.report.statements import Statement, statements
from krm_fn.sdk import Severity


def lines(report: Report, *, notes: bool = False) -> list[str]:
    """A line an error and warning, errors first, then the summary.

    With `notes` also a line a note, and why rules matched no object.
    """
    wanted = list(Severity) if notes else [Severity.ERROR, Severity.WARNING]
    shown = report.with_unmatched() if notes else report
    return [*map(line, statements(shown, *wanted)), report.summary()]


def unmatched(report: Report) -> list[str]:
    """How many rules matched no object, if any: one line."""
    number = len(report.unmatched)
    if not number:
        return []
    rules = "the rule" if report.rules == 1 else f"{number} of {report.rules} rules"
    return [f"{rules} matched no object here; -v lists them, and `krm-fn explain` says why"]


def line(statement: Statement) -> str:
    """`error apps/v1/Deployment web/api spec.replicas: MESSAGE (ModRule x/y) [d/web.yaml:12]`."""
    parts: list[str] = [statement.severity.value]
    if statement.head is not None:
        head = statement.head
        parts += [f"{head.api_version}/{head.kind}", statement.name, statement.field]
    message = " ".join(statement.message.split())
    text = " ".join(part for part in parts if part) + ": " + message
    if statement.rules and statement.rules not in message:
        text += f" ({statement.rules})"
    return f"{text} [{statement.place}]" if statement.place else text
