"""The objects as rules see them."""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.admission.objectview import view_of
from krm_fn.config.options import Options
from krm_fn.config.sources import RuleSet, Stage
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.report.redact import Redactor
from krm_fn.run.knowledge import knowledge_of
from krm_fn.run.target import value_of
from krm_fn.values import Json
from krm_fn.wire import Stream


def show(streams: Sequence[Stream], options: Options) -> tuple[list[Json], Report]:
    """The objects as rules see them, and what is wrong with them. Nothing is edited.

    Raises KrmFnError for what cannot be read.
    """
    items = [item for stream in streams for item in stream.items]
    known = knowledge_of(items, [Stage(options, RuleSet())])
    shown: list[Json] = []
    report = Report(with_changes=False, redactor=Redactor(items))
    for item in items:
        if not options.match.may_fit(item.head):
            continue
        value = value_of(item)
        if not options.match.fits(item.head, value):
            continue
        report.total += 1
        namespace = known.cluster.subject_of(item.head).namespace
        view = view_of(value, namespace, known.served, strict=options.strict)
        shown.append(view.served(value))
        if view.findings:
            outcome = Outcome.REJECTED if options.strict else Outcome.UNCHANGED
            report.objects.append(ObjectReport(item, namespace, outcome, view.findings))
    return shown, report
