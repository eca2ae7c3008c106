"""`krm-fn test`: suites of cases beside rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from krm_fn.cli.reports import use_colour
from krm_fn.errors import CompileError, ConfigError
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.system.streams import is_terminal, put, say


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH ...]")
@click.option("--run", "pattern", metavar="REGEX", help="Only cases whose SUITE/CASE matches.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first case that fails.")
@click.option("--allow-none", is_flag=True, help="Finding no suite is fine.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"], case_sensitive=False),
    default="auto",
    show_default=True,
    help="Colour the results.",
)
@click.option("-v", "--verbose", is_flag=True, help="A line a case.")
def test(
    paths: Sequence[str],
    pattern: str | None,
    fail_fast: bool,
    allow_none: bool,
    color: str,
    verbose: bool,
) -> int:
    """Run the suites at or below the paths (default: here): files named krm-fn-test.yaml or
    *.krm-fn-test.yaml.

    \b
    krm-fn test
    krm-fn test rules/ --run 'images/.*registry'

    Exit status: 0 all passed, 1 a case failed, 2 a suite or a rule cannot be read.
    """
    # They load jsonpath-ng, which no other command needs.
    from krm_fn.testing.read import find_suites, read_suite
    from krm_fn.testing.run import CaseResult, run_suite
    from krm_fn.testing.text import suite_lines, summary

    wanted = _wanted(pattern)
    files = find_suites(paths or ["."])
    if not files and not allow_none:
        raise ConfigError(f"no suite (krm-fn-test.yaml) in {', '.join(paths or ['.'])}")
    paint = _coloured if use_colour(color, is_terminal("stdout")) else str
    results: list[CaseResult] = []
    unreadable = 0
    for file in files:
        try:
            suite = read_suite(file)
        except ConfigError as error:
            unreadable += 1
            say(*error.lines())
            continue
        own = list(run_suite(suite, wanted, fail_fast=fail_fast))
        results += own
        if own:
            put(*suite_lines(suite, own, verbose=verbose), paint=paint)
        if fail_fast and any(result.failures or result.error for result in own):
            break
    put(summary(results, unreadable), paint=paint)
    if unreadable or any(result.error for result in results):
        return 2
    return 1 if any(result.failures for result in results) else 0


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
