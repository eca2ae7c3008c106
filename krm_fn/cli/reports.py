"""What a run has to say: the lines for people on standard error, and reports for programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import click

from krm_fn.cli.flags import Flags
from krm_fn.cli.tables import table
from krm_fn.errors import ConfigError
from krm_fn.report import ci, jsonreport, quotas, text
from krm_fn.report.model import Report
from krm_fn.report.table import COLUMNS, rows
from krm_fn.sdk import Severity
from krm_fn.system.files import write_file
from krm_fn.system.streams import is_terminal, put, say, write_stderr, write_stdout

STDOUT: Final = "-"


def check_reports(flags: Flags, printed: str = "") -> None:
    """Refuse a report that cannot be written, before anything is done. Raises ConfigError.

    `printed` is what the command itself prints on standard output.
    """
    for wanted in flags.reports:
        name, _, file = wanted.partition("=")
        if name not in REPORTS:
            raise ConfigError(f"--report {wanted}: unknown format; known are {', '.join(REPORTS)}")
        if _stream(file) == STDOUT:
            if printed:
                raise ConfigError(
                    f"--report {wanted}: standard output has {printed} already; name a file"
                )
            printed = f"the report {name}"


def write_reports(flags: Flags, report: Report) -> None:
    """The lines for people on standard error, and the reports that were asked for."""
    write_lines(report, flags.color, quiet=flags.quiet, notes=flags.verbose)
    write_files(flags, report)


def write_files(flags: Flags, report: Report) -> None:
    """The reports that were asked for, to their files. Raises ConfigError and OutputError."""
    for wanted in flags.reports:
        name, _, file = wanted.partition("=")
        body = REPORTS[name](report)
        stream = _stream(file)
        if stream == STDOUT:
            write_stdout([body.encode()])
        elif stream is not None:
            write_stderr(body)
        else:
            write_file(file, body.encode())


def _stream(file: str) -> str | None:
    """The standard stream that a file is: `-`, "" for standard error, None for neither.

    One that is opened by its name has a position of its own, and would be written over.
    """
    if file in (STDOUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        return STDOUT
    return "" if file in ("", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2") else None


def write_lines(report: Report, color: str, *, quiet: bool = False, notes: bool = False) -> None:
    """A report's lines for people, on standard error."""
    paint = _coloured if use_colour(color, is_terminal("stderr")) else str
    *lines, summary = text.lines(report, notes=notes and not quiet)
    if not quiet:
        lines += [] if notes else text.counts(report)
        lines.append(summary)
    say(*lines, paint=paint)


def _text_report(report: Report) -> str:
    return "".join(f"{line}\n" for line in text.lines(report, notes=True))


REPORTS: Final[dict[str, Callable[[Report], str]]] = {
    "text": _text_report,
    "json": jsonreport.json_report,
    "yaml": jsonreport.yaml_report,
    "github": ci.github,
    "gitlab": ci.gitlab,
}


def print_report(form: str, report: Report) -> None:
    """A report on standard output. `form`: json, yaml or table."""
    if form == "table":
        put(*table(COLUMNS, rows(report)))
    else:
        write_stdout([REPORTS[form](report).encode()])


def print_quotas(report: Report) -> None:
    """What the run would use of quotas, on standard output."""
    put(*(table(quotas.COLUMNS, quotas.rows(report.quotas)) if report.quotas else [quotas.NONE]))


def fails(report: Report, fail_on: str) -> bool:
    """Whether a run fails: by a denial, or by a warning where `fail_on` says so."""
    return report.denied or (fail_on == "warning" and bool(report.severities()[Severity.WARNING]))


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
