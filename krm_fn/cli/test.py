"""`krm-fn test`: suites of cases beside rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from krm_fn.cli.flags import choice, word
from krm_fn.cli.inputs import Sources, read_manifests
from krm_fn.cli.reports import use_colour
from krm_fn.config.options import ObjectForm
from krm_fn.errors import CompileError, ConfigError
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.printable import one_line
from krm_fn.system.files import write_file, write_files
from krm_fn.system.streams import is_terminal, put, say, write_stdout

if TYPE_CHECKING:
    from krm_fn.testing.coverage import Coverage
    from krm_fn.testing.run import CaseResult
    from krm_fn.testing.suite import Suite


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH ...]")
@click.option("--run", "pattern", metavar="REGEX", help="Only cases whose SUITE/CASE matches.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that fails.")
@click.option("--update", is_flag=True, help="Write what now comes into the expectations.")
@click.option("--init", metavar="RULES", help="Write a first suite for rules; -f names samples.")
@click.option("-f", "--filename", "samples", multiple=True, metavar="PATH", help="For --init.")
@click.option("--coverage", "with_coverage", is_flag=True, help="Say what no case has tried.")
@click.option(
    "--coverage-min",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Fail where less of the rules' criteria is covered.",
)
@click.option(
    "--object-form",
    type=choice(ObjectForm),
    help="What rules see in tests of Kyverno's: the object as the API server shows it, or as it is "
    "written, as Kyverno does.",
)
@click.option(
    "--mutate",
    is_flag=True,
    help="Break rules in small ways, and print what no case notices. Takes a run for each way.",
)
@click.option("--allow-none", is_flag=True, help="Finding no suite is fine.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"], case_sensitive=False),
    default="auto",
    show_default=True,
    help="Colour the results.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "junit", "tap"]),
    default="text",
    show_default=True,
    help="What is printed.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Also write a report: junit, tap, json, lcov or cobertura. Repeatable.",
)
@click.option("-v", "--verbose", is_flag=True, help="A line a case.")
def test(
    paths: Sequence[str],
    pattern: str | None,
    fail_fast: bool,
    update: bool,
    init: str | None,
    samples: Sequence[str],
    with_coverage: bool,
    coverage_min: float | None,
    object_form: str | None,
    mutate: bool,
    allow_none: bool,
    color: str,
    output: str,
    reports: Sequence[str],
    verbose: bool,
) -> int:
    """Run the suites at or below the paths (default: here): files named krm-fn-test.yaml or
    *.krm-fn-test.yaml, and kyverno-test.yaml for the API server's policies.

    \b
    krm-fn test
    krm-fn test rules/ --run 'images/.*registry'
    krm-fn test --init rules/ -f samples/
    krm-fn test --report junit=report.xml

    Exit status: 0 all passed, 1 a case failed, 2 a suite or a rule cannot be read.
    """
    # They load jsonpath-ng, which no other command needs.
    from krm_fn.testing.coverage import Coverage
    from krm_fn.testing.coveragereports import (
        COVERAGE_REPORTS,
        coverage_lines,
        percent_text,
        rounded,
    )
    from krm_fn.testing.read import find_suites
    from krm_fn.testing.reports import REPORTS
    from krm_fn.testing.text import suite_lines, summary

    wanted_reports = [_report(text, [*REPORTS, *COVERAGE_REPORTS]) for text in reports]
    if init is not None:
        return _init(init, samples)
    wanted = _wanted(pattern)
    files = find_suites(paths or ["."])
    if not files and not allow_none:
        raise ConfigError(f"no suite (krm-fn-test.yaml) in {', '.join(paths or ['.'])}")
    paint = _coloured if use_colour(color, is_terminal("stdout")) else str
    by_suite: list[tuple[Suite, list[CaseResult]]] = []
    unreadable = 0
    asked = with_coverage or any(name in COVERAGE_REPORTS for name, _ in wanted_reports)
    coverage = Coverage() if asked or coverage_min is not None else None
    for file in files:
        try:
            form = None if object_form is None else word(ObjectForm, object_form)
            suite, own = _run(file, wanted, coverage, form, fail_fast=fail_fast, updates=update)
        except ConfigError as error:
            unreadable += 1
            say(*error.lines())
            continue
        if own:
            by_suite.append((suite, own))
        if own and output == "text":
            put(*suite_lines(suite, own, verbose=verbose), paint=paint)
        if fail_fast and any(result.failures or result.error for result in own):
            break
    results = [result for _, own in by_suite for result in own]
    if output == "text":
        if coverage is not None:
            put("", *coverage_lines(coverage), "")
        covered = "" if coverage is None else percent_text(coverage)
        put(summary(results, unreadable, covered), paint=paint)
    else:
        write_stdout([REPORTS[output](by_suite).encode()])
    for name, file in wanted_reports:
        if name in REPORTS:
            body = REPORTS[name](by_suite)
        else:
            assert coverage is not None
            body = COVERAGE_REPORTS[name](coverage)
        write_file(file, body.encode())
    if unreadable or any(result.error for result in results):
        return 2
    if mutate and not any(result.failures for result in results):
        _mutate([suite for suite, _ in by_suite])
    if coverage is not None and coverage_min is not None and rounded(coverage) < coverage_min:
        say(f"error {percent_text(coverage)}; --coverage-min asks for {coverage_min:g} %")
        return 1
    return 1 if any(result.failures for result in results) else 0


def _report(text: str, known: Iterable[str]) -> tuple[str, str]:
    """The format and the file of a report. Raises ConfigError."""
    name, _, file = text.partition("=")
    if name not in known or not file:
        wrong = "names no file" if name in known else "is of an unknown format"
        raise ConfigError(f"--report {text} {wrong}; give {', '.join(known)}, each with =FILE")
    return name, file


def _run(
    file: str,
    wanted: Callable[[str], bool],
    coverage: Coverage | None,
    form: ObjectForm | None,
    *,
    fail_fast: bool,
    updates: bool,
) -> tuple[Suite, list[CaseResult]]:
    """The results of a suite; with `updates` those of the suite as it then is."""
    from krm_fn.testing.kyverno import in_form
    from krm_fn.testing.read import read_suite
    from krm_fn.testing.run import run_suite

    suite = read_suite(file)
    if form is not None:
        suite = in_form(suite, form)
    first = None if updates else coverage
    results = list(run_suite(suite, wanted, fail_fast=fail_fast, coverage=first))
    if not updates:
        return suite, results
    from krm_fn.testing.update import update

    updated = update(suite, results)
    write_files(updated.writes)
    put(*updated.lines)
    return _run(file, wanted, coverage, form, fail_fast=fail_fast, updates=False)


def _mutate(suites: Sequence[Suite]) -> None:
    """Print the mutants that no case notices, and how many are noticed."""
    from krm_fn.testing.mutate import mutation, summary

    mutations = []
    for suite in suites:
        found = mutation(suite)
        mutations.append(found)
        for mutant in found.survivors:
            put("", f"{suite.file} does not notice:", *map(one_line, mutant.diff()))
    put("", summary(mutations))


def _init(rules: str, samples: Sequence[str]) -> int:
    """Write a first suite into the working directory."""
    from krm_fn.testing.init import first_suite
    from krm_fn.testing.read import NAME

    if os.path.exists(NAME):
        raise ConfigError("is there already; remove it, or give --update", NAME)
    if not samples:
        raise ConfigError("--init needs samples: objects that the rules are for, with -f")
    streams = read_manifests(Sources(samples)).streams
    name = os.path.basename(os.getcwd())
    write_file(NAME, first_suite(name, os.curdir, [rules], streams).encode())
    put(f"wrote {NAME}; krm-fn test runs it")
    return 0


def _wanted(pattern: str | None) -> Callable[[str], bool]:
    if pattern is None:
        return lambda name: True
    try:
        return compile_regex(pattern).search
    except CompileError as error:
        raise ConfigError(f"--run {pattern}: {error.message}") from None


def _coloured(line: str) -> str:
    words = line.split(maxsplit=1)
    colour = {"ok": "green", "FAIL": "red"}.get(words[0] if words else "")
    if colour and line.startswith(words[0]):
        return click.style(words[0], fg=colour, bold=True) + line[len(words[0]) :]
    return line
