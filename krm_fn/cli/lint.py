"""`krm-fn lint`: what may be wrong with rules, before any object meets them."""

from __future__ import annotations

from typing import Final

import click

from krm_fn import limits
from krm_fn.admission import Cause, Finding
from krm_fn.cli.configuration import with_release
from krm_fn.cli.flags import KUBERNETES_VERSION, fail_on_option, sample_options
from krm_fn.cli.inputs import Manifests, Sources, read_manifests
from krm_fn.cli.reports import fails, print_report
from krm_fn.cli.tables import table
from krm_fn.config.options import Mode, OnReject, Options
from krm_fn.errors import RuleError
from krm_fn.report import text
from krm_fn.report.model import Report, count
from krm_fn.report.table import FINDINGS, findings
from krm_fn.run.lint import lint as lint_rules
from krm_fn.system.streams import put, say

FORMS: Final = ("text", "json", "yaml", "table")


@click.command()
@click.argument("rules", nargs=-1, metavar="RULES...")
@click.option("-r", "--rules", "more_rules", multiple=True, metavar="PATH", help="As RULES.")
@sample_options
@click.option("-n", "--namespace", default="default", help="The namespace of what has none.")
@KUBERNETES_VERSION
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(FORMS, case_sensitive=False),
    default="text",
    show_default=True,
    help="How to print what was found.",
)
@fail_on_option
def lint(
    rules: tuple[str, ...],
    more_rules: tuple[str, ...],
    sources: Sources,
    namespace: str,
    kubernetes_version: str | None,
    form: str,
    fail_on: str,
) -> int:
    """Say what may be wrong with rules; exit status 1 if one does not even load.

    \b
    krm-fn lint rules/
    krm-fn lint rules/ -f samples/
    """
    form = form.lower()
    paths = (*rules, *more_rules)
    if not paths:
        raise click.UsageError("name the rules: krm-fn lint rules/")
    options = Options(mode=Mode.VALIDATE, on_reject=OnReject.WARN)
    context = options.context._replace(default_namespace=namespace)
    options = options._replace(context=with_release(context, kubernetes_version))
    with limits.deep_stack():
        samples = read_manifests(sources) if sources.filenames else Manifests()
        try:
            report = lint_rules(samples.streams, options, paths)
        except RuleError as error:
            if form == "text":
                say(*error.lines())
            else:
                _print(form, _of_error(error))
            return 1
    samples.tell(report)
    for entry in report.objects:
        # That a rule rejects an object is what it is for.
        findings = tuple(f for f in entry.findings if f.cause is not Cause.REJECTED)
        report.objects[report.objects.index(entry)] = entry._replace(findings=findings)
    _print(form, report)
    return 1 if fails(report, fail_on) else 0


def _of_error(error: RuleError) -> Report:
    """What keeps rules from being loaded, as a report."""
    problems = error.problems or (str(error),)
    return Report(findings=[Finding(Cause.FAILED, True, problem) for problem in problems])


def _print(form: str, report: Report) -> None:
    if form == "table":
        put(*table(FINDINGS, findings(report)))
        return
    if form != "text":
        print_report(form, report)
        return
    lines = text.lines(report)[:-1]
    put(*lines)
    counts = ((report.rules, "rule"), (report.rule_files, "file"), (len(lines), "warning"))
    say(*text.passed_over(report))
    said = [count(number, noun) for number, noun in counts]
    say(f"{said[0]} in {said[1]}, {said[2]}")
