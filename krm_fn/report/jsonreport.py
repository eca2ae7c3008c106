"""A run as one JSON document, for programs: the results, the counts and the verdict."""

from __future__ import annotations

from krm_fn.printable import json_text
from krm_fn.report.model import Outcome, Report
from krm_fn.report.results import results
from krm_fn.sdk import Severity


def dumps(report: Report) -> str:
    """The document, ending with a line break."""
    severities = report.severities()
    document = {
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
        "results": results(report).to_json(),
    }
    return json_text(document)
