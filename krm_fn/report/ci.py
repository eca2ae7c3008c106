"""A run as annotations of the lines that users wrote, in the words of their CI.

GitHub reads workflow commands from what a step prints; GitLab reads a Code Quality report.
Source: GitHub "Workflow commands" (`::error file=,line=,title=::`), actions/toolkit command.ts
(escapes); GitLab "Code Quality", the subset of Code Climate's format that it reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from krm_fn.printable import json_text
from krm_fn.report.model import Report
from krm_fn.report.statements import Statement, statements
from krm_fn.sdk import Severity


def github(report: Report) -> str:
    """Workflow commands, a line each, and the summary."""
    commands = []
    for statement in _annotated(report):
        file, line = statement.line()
        properties = {"title": _title(statement)}
        if file:
            properties = {"file": file, "line": str(line), **properties}
        listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        commands.append(f"::{statement.severity.value} {listed}::{_data(statement.message)}\n")
    return "".join(commands) + f"::notice title=krm-fn::{_data(report.summary())}\n"


def _annotated(report: Report) -> Iterator[Statement]:
    return statements(report, Severity.ERROR, Severity.WARNING)


def _title(statement: Statement) -> str:
    rules = statement.rules or "krm-fn"
    return f"{statement.head} ({rules})" if statement.head is not None else rules


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB: Final = {Severity.ERROR: "blocker", Severity.WARNING: "minor"}


def gitlab(report: Report) -> str:
    """A Code Quality report. What is of no file is not in it: GitLab shows only files' lines."""
    entries = []
    seen: dict[str, int] = {}
    for statement in _annotated(report):
        file, line = statement.line()
        if not file:
            continue
        title = _title(statement)
        # The line is not part of it, so that GitLab knows a finding again when lines move.
        key = "\0".join((file, title, statement.message))
        seen[key] = seen.get(key, 0) + 1
        fingerprint = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()
        entries.append(
            {
                "description": f"{title}: {statement.message}",
                "check_name": "krm-fn",
                "fingerprint": fingerprint,
                "severity": _GITLAB[statement.severity],
                "location": {"path": file, "lines": {"begin": line}},
            }
        )
    return json_text(entries)
