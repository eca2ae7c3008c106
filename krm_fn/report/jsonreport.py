"""A run as one document, for programs: the results, the counts and the verdict."""

from __future__ import annotations

from krm_fn.printable import json_text, yaml_text
from krm_fn.report.model import Outcome, Report
from krm_fn.report.quotas import values
from krm_fn.report.results import located
from krm_fn.sdk import Severity
from krm_fn.values import Json


def document(report: Report) -> Json:
    """The document. Results are those of a ResourceList, with the line of the field in `file`."""
    severities = report.severities()
    found: Json = {
        "apiVersion": "krm-fn.dev/v1alpha1",
        "kind": "AdmissionReport",
        "admitted": not report.denied,
        "summary": {
            "objects": report.total,
            "rules": report.rules,
            **{
                outcome.value: report.count(outcome)
                for outcome in (Outcome.CHANGED, Outcome.REJECTED, Outcome.DROPPED)
            },
            "errors": severities[Severity.ERROR],
            "warnings": severities[Severity.WARNING],
        },
        "results": located(report),
    }
    if report.quotas:
        found["quotas"] = values(report.quotas)
    return found


def json_report(report: Report) -> str:
    """The document as JSON, ending with a line break."""
    return json_text(document(report))


def yaml_report(report: Report) -> str:
    """The document as YAML."""
    return yaml_text(document(report))
