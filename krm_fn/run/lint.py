"""What may be wrong with rules, all of it; on sample objects also what they do to them."""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.admission import Cause
from krm_fn.config.options import Options
from krm_fn.config.sources import Stage, collect
from krm_fn.report.model import Report
from krm_fn.run.admit import admit, bounded
from krm_fn.run.compile import compile_rules
from krm_fn.run.knowledge import knowledge_of
from krm_fn.wire import Stream


def lint(streams: Sequence[Stream], options: Options, rule_paths: Sequence[str]) -> Report:
    """What may be wrong with rules, all of it; on sample objects also what they do to them.

    Raises KrmFnError where a rule cannot be read or does not compile.
    """
    stage = Stage(options, collect(options, [], None, rule_paths))
    known = knowledge_of([], [stage])
    rules = stage.rules
    with bounded([], [stage]):
        _, findings = compile_rules([stage], known, lint=True)
    report = Report(rules=len(rules.rules), with_changes=False)
    if any(stream.items for stream in streams):
        report = admit(streams, [stage], lint=True)
        report.findings += (f._replace(cause=Cause.WARNING) for f in report.unmatched)
        messages = {finding.message for finding in findings}
        report.findings = [f for f in report.findings if f.message not in messages]
    report.findings = [*findings, *report.findings]
    report.rule_files = rules.files
    return report
