"""A run as lines for people: errors first, one line each, then the summary.

kustomize drops results, kpt shows the first four lines, Argo CD shows everything in one string: so
the first line says what matters most.
"""

from __future__ import annotations

from krm_fn.admission import Finding
from krm_fn.report.model import ObjectReport, Report, severity_of
from krm_fn.report.results import message_of
from krm_fn.sdk import Severity
from krm_fn.values import format_path


def lines(report: Report, *, notes: bool = False) -> list[str]:
    """A line an error and warning (and note, if asked for), errors first, then the summary."""
    wanted = list(Severity) if notes else [Severity.ERROR, Severity.WARNING]
    found = [
        line(entry, finding, report)
        for severity in wanted
        for entry, finding in report.all_findings()
        if severity_of(finding) is severity
    ]
    return [*found, report.summary()]


def line(entry: ObjectReport | None, finding: Finding, report: Report) -> str:
    """`error apps/v1/Deployment web/api spec.replicas: MESSAGE (ModRule x/y) [d/web.yaml:12]`."""
    parts = [severity_of(finding).value]
    if entry is not None:
        head = entry.head
        name = f"{head.namespace}/{head.name}" if head.namespace else head.name
        parts += [f"{head.api_version}/{head.kind}", name]
        if finding.field:
            parts.append(format_path(finding.field))
    message = " ".join(message_of(entry, finding, report).split())
    text = " ".join(part for part in parts if part) + ": " + message
    by = ", ".join(dict.fromkeys(map(str, finding.rules)))
    if by and by not in message:
        text += f" ({by})"
    place = ""
    if entry is not None:
        place = str(entry.item.origin)
    elif finding.rules and finding.rules[0].origin:
        place = str(finding.rules[0].origin)
    return f"{text} [{place}]" if place else text
