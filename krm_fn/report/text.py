"""A run as lines for people: errors first, one line each, then the summary.

kustomize drops results, kpt shows the first four lines, Argo CD shows everything in one string: so
the first line says what matters most.
"""

from __future__ import annotations

from typing import Final

from krm_fn.printable import one_line
from krm_fn.report.model import Report, count
from krm_fn.report.statements import Statement, statements
from krm_fn.sdk import Severity

_NAMED: Final = 3


def lines(report: Report, *, notes: bool = False) -> list[str]:
    """A line an error and warning, errors first, then the summary.

    With `notes` also a line a note, and why rules matched no object.
    """
    wanted = list(Severity) if notes else [Severity.ERROR, Severity.WARNING]
    shown = report.with_unmatched() if notes else report
    found = [*map(line, statements(shown, *wanted))]
    if notes:
        found += (f"info {one_line(p.place)}: skipped, {p.why}" for p in report.passed_over)
    return [*found, report.summary()]


def counts(report: Report) -> list[str]:
    """What `lines` tells only with notes, as one line each: how many there are of it."""
    return [*passed_over(report, "; -v lists them, --strict-files reads them"), *unmatched(report)]


def unmatched(report: Report) -> list[str]:
    """How many rules matched no object, if any: one line."""
    number = sum(len(finding.rules) for finding in report.unmatched)
    if not number:
        return []
    rules = "the rule" if report.rules == 1 else f"{number} of {report.rules} rules"
    return [f"{rules} matched no object here; -v lists them, and `krm-fn explain` says why"]


def passed_over(report: Report, more: str = "") -> list[str]:
    """How many places in the input were not read, a line a reason, each with `more` behind it."""
    found = []
    for why in dict.fromkeys(place.why for place in report.passed_over):
        places = [one_line(place.place) for place in report.passed_over if place.why == why]
        noun = "path" if any(place.endswith("/") for place in places) else "file"
        named = ", ".join(places[:_NAMED]) + (", ..." if len(places) > _NAMED else "")
        found.append(f"skipped {count(len(places), noun)} {why}: {named}{more}")
    return found


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
