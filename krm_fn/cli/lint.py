"""`krm-fn lint`: what may be wrong with rules, before any object meets them."""

from __future__ import annotations

import click

from krm_fn import limits
from krm_fn.admission import Cause
from krm_fn.cli.flags import sample_options
from krm_fn.cli.inputs import Manifests, Sources, read_manifests
from krm_fn.config.options import Mode, OnReject, Options
from krm_fn.errors import RuleError
from krm_fn.report import text
from krm_fn.report.model import count
from krm_fn.run.lint import lint as lint_rules
from krm_fn.system.streams import put, say


@click.command()
@click.argument("rules", nargs=-1, required=True, metavar="RULES...")
@sample_options
@click.option("-n", "--namespace", default="default", help="The namespace of what has none.")
def lint(rules: tuple[str, ...], sources: Sources, namespace: str) -> int:
    """Say what may be wrong with rules; exit status 1 if one does not even load.

    \b
    krm-fn lint rules/
    krm-fn lint rules/ -f samples/
    """
    options = Options(mode=Mode.VALIDATE, on_reject=OnReject.WARN)
    context = options.context._replace(default_namespace=namespace)
    options = options._replace(context=context)
    with limits.deep_stack():
        samples = read_manifests(sources) if sources.filenames else Manifests()
        try:
            report = lint_rules(samples.streams, options, rules)
        except RuleError as error:
            say(*error.lines())
            return 1
    samples.tell(report)
    for entry in report.objects:
        # That a rule rejects an object is what it is for.
        findings = tuple(f for f in entry.findings if f.cause is not Cause.REJECTED)
        report.objects[report.objects.index(entry)] = entry._replace(findings=findings)
    lines = text.lines(report)[:-1]
    put(*lines)
    counts = ((report.rules, "rule"), (report.rule_files, "file"), (len(lines), "warning"))
    say(*text.passed_over(report))
    said = [count(number, noun) for number, noun in counts]
    say(f"{said[0]} in {said[1]}, {said[2]}")
    return 0
