"""Each object through the chain, and what the options make of the verdict.

This is where a denial becomes an exit, a warning or a dropped object, where the result is admitted
once more, and where templates are admitted as Pods. The chain knows none of these options, and this
module neither rules nor bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from krm_fn import limits
from krm_fn.admission import Cause, Chain, Cluster, Finding, RuleRef, Verdict, net_changes
from krm_fn.admission.checks import idempotence
from krm_fn.admission.cluster import Identity
from krm_fn.admission.objectview import view_of
from krm_fn.admission.pods import admit_templates, preview_templates
from krm_fn.config.options import (
    Idempotency,
    LocalConfig,
    Mode,
    OnReject,
    Options,
    PodTemplates,
)
from krm_fn.kube.podtemplates import has_templates
from krm_fn.report.model import ObjectReport, Outcome
from krm_fn.run.caller import Caller, is_local
from krm_fn.run.target import Target, is_namespace, value_of, without_marks
from krm_fn.system import progress
from krm_fn.values import Json
from krm_fn.wire import Head, Item
from krm_fn.wire.scalars import Word
from krm_fn.wire.wellknown import LOCAL_CONFIG


class Judge:
    """Admits the targets of a stage, and judges the verdicts by the options."""

    def __init__(
        self,
        chain: Chain,
        options: Options,
        cluster: Cluster,
        old_objects: Mapping[Identity, Json],
        caller: Caller = Caller.COMMAND,
    ) -> None:
        self.chain = chain
        self._skips_local = _skips_local(options, caller)
        self.skipped: dict[Item, None] = {}
        """The items that were left alone for local-config."""
        self.options = options
        self.cluster = cluster
        self.old_objects = old_objects
        self.previews: dict[Item, list[Json]] = {}
        """The Pods of templates, by the object that has them."""
        self._told: set[tuple[tuple[RuleRef, ...], str]] = set()

    def admit_all(self, targets: Sequence[Target]) -> dict[Item, ObjectReport]:
        """Admit Namespaces first, since others are then seen in namespaces as admitted."""
        reports: dict[Item, ObjectReport] = {}
        admitted: dict[str, Json] = {}
        progress.begin("admitting object", len(targets))
        for target in targets:
            if is_namespace(target.head):
                self._admit_into(reports, target)
                admitted[target.head.name] = without_marks(target.item.value)
        self.cluster = self.cluster.with_admitted(admitted)
        for target in targets:
            if not is_namespace(target.head):
                self._admit_into(reports, target)
        return reports

    def _admit_into(self, reports: dict[Item, ObjectReport], target: Target) -> None:
        progress.advance()
        item, head, namespace = target.item, target.head, target.namespace
        wanted = self._wants(target)
        if not wanted and not self.options.strict:
            return
        value = value_of(item)
        if not self.options.match.fits(head, value):
            return
        if self._skips_local and is_local(value):
            self.skipped[item] = None
            return
        if not wanted:
            view = view_of(value, namespace, self.chain.served, strict=True)
            if view.denied:
                report = ObjectReport(item, namespace, Outcome.REJECTED, view.findings)
                reports[item] = report
            return

        def admit(value: Json) -> Verdict:
            return self._admit(target, value)

        verdict = admit(value)
        if self.options.pod_templates is PodTemplates.PREVIEW and self._with_pods(head):
            verdict = self._preview(target, verdict)
        verdict = verdict._replace(findings=(*verdict.findings, *_doubts(item)))
        verdict = self._judge(verdict, admit)
        report = self._carry_out(item, namespace, verdict)
        if self.chain.explains:
            report = report._replace(
                traces=verdict.traces,
                history=(*verdict.filled, *verdict.changes),
                served=verdict.shown,
                left=verdict.left,
            )
        reports[item] = report

    def findings(self) -> Iterator[Finding]:
        """What there is to say of objects that were left alone; complete after `admit_all`."""
        if self.skipped:
            number = len(self.skipped)
            heads = [item.head for item in islice(self.skipped, _NAMED)]
            names = [f"{head.kind} {head.name}" for head in heads]
            names += ["..."] if number > _NAMED else []
            message = (
                f"left alone, since {LOCAL_CONFIG} keeps {'it' if number == 1 else 'them'} out of "
                f"the cluster: {', '.join(names)} ({number}); match.localConfig: Admit admits such "
                "objects"
            )
            yield Finding(Cause.NOTE, False, message)

    def _wants(self, target: Target) -> bool:
        head, namespace = target.head, target.namespace
        if self.chain.wants(head, namespace):
            return True
        if self.options.pod_templates is PodTemplates.PREVIEW and self._with_pods(head):
            return True
        return self._with_pods(head) and self.chain.wants(Head("v1", "Pod", "", ""), namespace)

    def _with_pods(self, head: Head) -> bool:
        """Whether an object's templates are admitted as Pods."""
        options = self.options
        return options.pod_templates is not PodTemplates.IGNORE and has_templates(
            head.group, head.kind, options.extra_pod_templates
        )

    def _admit(self, target: Target, value: Json) -> Verdict:
        subject = target.subject
        old = self.old_objects.get(subject.identity)
        verdict = self.chain.admit(subject, value, self.cluster, old)
        mutates = self.options.pod_templates is PodTemplates.MUTATE
        if not mutates or not self._with_pods(target.head):
            return verdict
        extra = self.options.extra_pod_templates
        return admit_templates(self.chain, subject, verdict, self.cluster, extra)

    def _preview(self, target: Target, verdict: Verdict) -> Verdict:
        """The verdict with what rules say of the Pods, which are kept for `put_previews`."""
        extra = self.options.extra_pod_templates
        pods, verdict = preview_templates(self.chain, target.subject, verdict, self.cluster, extra)
        self.previews[target.item] = pods
        return verdict

    def _judge(self, verdict: Verdict, admit: Callable[[Json], Verdict]) -> Verdict:
        """The verdict with what the options make of it."""
        options = self.options
        if options.idempotency is not Idempotency.OFF:
            denies = options.idempotency is Idempotency.FAIL
            finding = idempotence(admit, verdict, denies)
            if finding is not None:
                verdict = verdict._replace(findings=(*verdict.findings, finding))
        verdict = verdict._replace(findings=tuple(filter(self._is_new, verdict.findings)))
        if options.on_reject is OnReject.WARN or options.mode is Mode.AUDIT:
            findings = tuple(f._replace(denies=False) for f in verdict.findings)
            verdict = verdict._replace(findings=findings)
        return verdict

    def _is_new(self, finding: Finding) -> bool:
        """What nobody knows, and notes of no rule, are told once and not for each object."""
        of_nobody = finding.cause is Cause.NOTE and not finding.rules
        once = of_nobody or finding.cause is Cause.UNDECIDED
        if not once or finding.field is not None or finding.denies:
            return True
        key = finding.rules, finding.message
        told = key in self._told
        self._told.add(key)
        return not told

    def _carry_out(self, item: Item, namespace: str, verdict: Verdict) -> ObjectReport:
        before = item.value
        if verdict.denied:
            if self.options.on_reject is OnReject.DROP and _may_be_dropped(item):
                return self._drop(item, namespace, verdict)
            return ObjectReport(
                item, namespace, Outcome.REJECTED, verdict.findings, matched=verdict.matched
            )
        changes = tuple(net_changes(before, verdict.object, verdict.changes, verdict.shown))
        outcome = Outcome.CHANGED if changes else Outcome.UNCHANGED
        if changes and self.options.mode is Mode.MUTATE:
            item.replace(verdict.object)
        return ObjectReport(item, namespace, outcome, verdict.findings, changes, verdict.matched)

    def _drop(self, item: Item, namespace: str, verdict: Verdict) -> ObjectReport:
        """The object leaves the list; its denials become warnings that say so."""
        if self.options.mode is Mode.MUTATE:
            item.dropped = True
            self.previews.pop(item, None)
        findings = tuple(
            f._replace(denies=False, message=f"dropped: {f.message}") if f.denies else f
            for f in verdict.findings
        )
        return ObjectReport(item, namespace, Outcome.DROPPED, findings, matched=verdict.matched)


def _doubts(item: Item) -> Iterator[Finding]:
    """A warning for each word in an object that later readers may take for something else."""
    for path, word, is_key in item.doubts[: limits.STRICT_FINDINGS]:
        if is_key:
            message = f"quote the key {word}: readers differ, and rules see it as a text"
        else:
            boolean = str(Word(word).boolean).lower()
            message = f"quote {word} or write {boolean}: readers differ, and rules see a boolean"
        yield Finding(Cause.WARNING, False, message, field=path)


def _may_be_dropped(item: Item) -> bool:
    """What others stand in would take them along, admitted or not."""
    kept = item.head.kind in ("Namespace", "CustomResourceDefinition", "Kptfile")
    return not kept and not item.elements


def _skips_local(options: Options, caller: Caller) -> bool:
    """Whether objects with local-config are left alone: kpt and kustomize do not apply them."""
    if options.match.local_config is None:
        return caller is Caller.FUNCTION
    return options.match.local_config is LocalConfig.SKIP


_NAMED: Final = 3
