"""What a run has to say: the lines for people on standard error, and reports for programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import click

from krm_fn.cli.flags import Flags
from krm_fn.errors import ConfigError
from krm_fn.report import ci, jsonreport, text
from krm_fn.report.model import Report
from krm_fn.sdk import Severity
from krm_fn.system.files import write_file
from krm_fn.system.streams import is_terminal, say, write_stderr


def check_reports(flags: Flags) -> None:
    """Refuse a form of report that there is not, before anything is done. Raises ConfigError."""
    for wanted in flags.reports:
        if wanted.partition("=")[0] not in REPORTS:
            raise ConfigError(f"--report {wanted}: unknown format; known are {', '.join(REPORTS)}")


def write_reports(flags: Flags, report: Report) -> None:
    """The lines for people on standard error, and the reports that were asked for."""
    write_lines(report, flags.color, quiet=flags.quiet, notes=flags.verbose)
    write_files(flags, report)


def write_files(flags: Flags, report: Report) -> None:
    """The reports that were asked for, to their files. Raises ConfigError."""
    for wanted in flags.reports:
        name, _, file = wanted.partition("=")
        body = REPORTS[name](report)
        if file:
            write_file(file, body.encode())
        else:
            write_stderr(body)


def write_lines(report: Report, color: str, *, quiet: bool = False, notes: bool = False) -> None:
    """A report's lines for people, on standard error."""
    paint = _coloured if use_colour(color, is_terminal("stderr")) else str
    *lines, summary = text.lines(report, notes=notes)
    lines += [] if notes else text.counts(report)
    for line in (*lines, summary):
        if not quiet or line.startswith(Severity.ERROR.value):
            say(line, paint=paint)


def _text_report(report: Report) -> str:
    return "".join(f"{line}\n" for line in text.lines(report, notes=True))


REPORTS: Final[dict[str, Callable[[Report], str]]] = {
    "text": _text_report,
    "json": jsonreport.dumps,
    "github": ci.github,
    "gitlab": ci.gitlab,
}


def use_colour(color: str, terminal: bool) -> bool:
    """Whether to colour: as told, else on a terminal unless NO_COLOR is set."""
    if color.lower() != "auto":
        return color.lower() == "always"
    return terminal and not os.environ.get("NO_COLOR")


_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def _coloured(line: str) -> str:
    for severity, colour in _COLOURS.items():
        if line.startswith(severity.value):
            rest = line[len(severity.value) :]
            return click.style(severity.value, fg=colour, bold=True) + rest
    return line
