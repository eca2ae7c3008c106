"""The objects as rules see them, and who gave each field that no manifest has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from krm_fn.admission import Chain, Change, Phase, RequestAttributes
from krm_fn.admission.objectview import view_of
from krm_fn.config.options import Options
from krm_fn.config.sources import RuleSet, Stage
from krm_fn.report.model import ObjectReport, Outcome, Report
from krm_fn.report.redact import Redactor
from krm_fn.run.compile import compile_rules
from krm_fn.run.knowledge import knowledge_of
from krm_fn.run.target import value_of, without_marks
from krm_fn.values import MISSING, Json, Path, diff
from krm_fn.wire import Stream

DEFAULT: Final = "default"
"""Who gave a field that the API server fills in when it decodes an object."""


class Origin(NamedTuple):
    """Who gave a field that is not in the manifest: a plugin's name, or `default`."""

    path: Path
    name: str


class Shown(NamedTuple):
    """An object as the first rule sees it, and who gave what is not in its manifest."""

    value: Json
    origins: tuple[Origin, ...]


def show(streams: Sequence[Stream], options: Options) -> tuple[list[Json], Report]:
    """The objects as rules see them, and what is wrong with them. Nothing is edited.

    Raises KrmFnError for what cannot be read.
    """
    shown, report = show_with_origins(streams, options)
    return [one.value for one in shown], report


def show_with_origins(streams: Sequence[Stream], options: Options) -> tuple[list[Shown], Report]:
    """As `show`, with who gave each field that is not in a manifest."""
    items = [item for stream in streams for item in stream.items]
    stages = [Stage(options, RuleSet())]
    known = knowledge_of(items, stages)
    plugins, findings = compile_rules(stages, known)
    filling = [plugin for plugin in plugins if plugin.phase is Phase.MUTATING_BUILT_IN]
    context = options.context
    attributes = RequestAttributes(context.operation, context.user, options.strict)
    chain = Chain(filling, attributes, known.served)
    shown: list[Shown] = []
    report = Report(findings=findings, with_changes=False, redactor=Redactor(items))
    for item in items:
        if not options.match.may_fit(item.head):
            continue
        value = value_of(item)
        if not options.match.fits(item.head, value):
            continue
        report.total += 1
        subject = known.cluster.subject_of(item.head)
        verdict = chain.admit(subject, value, known.cluster)
        served = view_of(value, subject.namespace, known.served).served(value)
        shown.append(Shown(verdict.shown, tuple(_origins(value, served, verdict.filled))))
        if verdict.findings:
            outcome = Outcome.REJECTED if verdict.denied else Outcome.UNCHANGED
            entry = ObjectReport(item, subject.namespace, outcome, verdict.findings)
            report.objects.append(entry)
    return shown, report


def _origins(written: Json, served: Json, filled: Sequence[Change]) -> Iterator[Origin]:
    """Who gave each field that is not in the manifest, the outermost one of each part."""
    for edit in diff(without_marks(written), served):
        if edit.old is MISSING:
            yield Origin(edit.path, DEFAULT)
    for change in filled:
        if change.new is not MISSING:
            yield Origin(change.path, ", ".join(rule.name for rule in change.rules))
