"""A run as annotations of the lines that users wrote, in the words of their CI.

GitHub reads workflow commands from what a step prints; GitLab reads a Code Quality report.
Source: GitHub "Workflow commands" (`::error file=,line=,title=::`), actions/toolkit command.ts
(escapes); GitLab "Code Quality", the subset of Code Climate's format that it reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from krm_fn.report.model import Report, severity_of
from krm_fn.report.results import message_of
from krm_fn.sdk import Severity


class Annotation(NamedTuple):
    """What is said of a place. `file` is "" where there is none, `line` counts from 1."""

    severity: Severity
    file: str
    line: int
    title: str
    message: str


def annotated(report: Report) -> Iterator[Annotation]:
    """Errors and warnings, errors first."""
    for wanted in (Severity.ERROR, Severity.WARNING):
        for entry, finding in report.all_findings():
            if severity_of(finding) is not wanted:
                continue
            file, line = "", 1
            if entry is not None:
                file = entry.item.origin.file
                # A path that an annotation names is of another text than the one at hand.
                if entry.item.origin.line is not None:
                    line = entry.item.line(finding.field or ())
            elif finding.rules and finding.rules[0].origin:
                file = finding.rules[0].origin.file
                line = finding.rules[0].origin.line or 1
            title = ", ".join(dict.fromkeys(map(str, finding.rules))) or "krm-fn"
            if entry is not None:
                title = f"{entry.head} ({title})"
            yield Annotation(wanted, file, line, title, message_of(entry, finding, report))


def github(report: Report) -> str:
    """Workflow commands, a line each, and the summary."""
    commands = []
    for found in annotated(report):
        properties = {"title": found.title}
        if found.file:
            properties = {"file": found.file, "line": str(found.line), **properties}
        listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        commands.append(f"::{found.severity.value} {listed}::{_data(found.message)}\n")
    return "".join(commands) + f"::notice title=krm-fn::{_data(report.summary())}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB: Final = {Severity.ERROR: "blocker", Severity.WARNING: "minor"}


def gitlab(report: Report) -> str:
    """A Code Quality report. What is of no file is not in it: GitLab shows only files' lines."""
    entries = []
    seen: dict[str, int] = {}
    for found in annotated(report):
        if not found.file:
            continue
        # The line is not part of it, so that GitLab knows a finding again when lines move.
        key = "\0".join((found.file, found.title, found.message))
        seen[key] = seen.get(key, 0) + 1
        fingerprint = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()
        entries.append(
            {
                "description": f"{found.title}: {found.message}",
                "check_name": "krm-fn",
                "fingerprint": fingerprint,
                "severity": _GITLAB[found.severity],
                "location": {"path": found.file, "lines": {"begin": found.line}},
            }
        )
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
