"""What a run has to say: one entry an object, and what concerns the run as a whole."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from krm_fn.admission import Cause, Change, Finding, RuleRef
from krm_fn.admission.quotause import QuotaUse
from krm_fn.admission.trace import Trace
from krm_fn.report.redact import Redactor
from krm_fn.sdk import Severity
from krm_fn.values import Json
from krm_fn.wire import Head, Item, Stream


class Outcome(StrEnum):
    """What became of an object; a later one weighs more."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    DROPPED = "dropped"
    REJECTED = "rejected"


class Verdict(StrEnum):
    """What a rule made of an object; a later one weighs more."""

    PASSED = "passed"
    CHANGED = "changed"
    WARNED = "warned"
    FAILED = "failed"
    DENIED = "denied"


def severity_of(finding: Finding) -> Severity:
    """How serious a finding is: what denies is an error, what may be wrong a warning."""
    if finding.denies:
        return Severity.ERROR
    if finding.cause in (Cause.NOTE, Cause.AUDIT):
        return Severity.INFO
    return Severity.WARNING


class ObjectReport(NamedTuple):
    """One object: what became of it and why. `namespace` is the one it was admitted in."""

    item: Item
    namespace: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    matched: frozenset[RuleRef] = frozenset()
    """The rules that met the object."""
    traces: tuple[Trace, ...] = ()
    """Why rules met it, in a run that explains."""
    history: tuple[Change, ...] = ()
    """All writes of rules in their order, in a run that explains."""
    served: Json | None = None
    """The object as the first rule saw it, in a run that explains."""
    left: Json | None = None
    """The object as rules would see it after all of them, in a run that explains."""

    @property
    def head(self) -> Head:
        return self.item.head

    @property
    def object(self) -> Json:
        """The object as it now is. Do not change it."""
        return self.item.final

    @property
    def denied(self) -> bool:
        return any(finding.denies for finding in self.findings)

    def verdicts(self) -> dict[RuleRef, Verdict]:
        """What each rule that met the object made of it."""
        found = {_whole(ref): Verdict.PASSED for ref in sorted(self.matched, key=str)}
        for change in self.changes:
            found |= {_whole(ref): Verdict.CHANGED for ref in change.rules}
        for finding in self.findings:
            verdict = _verdict(finding)
            for ref in map(_whole, finding.rules if verdict is not None else ()):
                assert verdict is not None
                found[ref] = max(found.get(ref, verdict), verdict, key=list(Verdict).index)
        return found

    def followed_by(self, later: ObjectReport) -> ObjectReport:
        """What became of the object in two stages, one after the other."""
        return self._replace(
            outcome=max(self.outcome, later.outcome, key=list(Outcome).index),
            findings=tuple(dict.fromkeys((*self.findings, *later.findings))),
            changes=(*self.changes, *later.changes),
            matched=self.matched | later.matched,
            traces=(*self.traces, *later.traces),
            history=(*self.history, *later.history),
            served=self.served or later.served,
            left=later.left or self.left,
        )


def _whole(ref: RuleRef) -> RuleRef:
    """A rule, of which something names a part."""
    return dataclasses.replace(ref, part="") if ref.part else ref


def _verdict(finding: Finding) -> Verdict | None:
    if finding.denies:
        return Verdict.DENIED
    if finding.cause in (Cause.NOTE, Cause.AUDIT):
        return None
    return Verdict.FAILED if finding.cause is Cause.FAILED else Verdict.WARNED


class PassedOver(NamedTuple):
    """A place in the input that is not read, such as a file of another program."""

    place: str
    why: str
    """`without Kubernetes objects`."""


@dataclass(slots=True)
class Report:
    """A run. `objects` holds those of which there is something to say; `total` counts all."""

    total: int = 0
    rules: int = 0
    objects: list[ObjectReport] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """What concerns no single object."""
    with_changes: bool = True
    limit: int = 500
    unmatched: list[Finding] = field(default_factory=list)
    """Why rules matched no object, where that is no likely mistake: one a rule."""
    passed_over: list[PassedOver] = field(default_factory=list)
    """What of the input was not read."""
    refs: tuple[RuleRef, ...] = ()
    """The rules, `rules` of them."""
    rule_files: int = 0
    """The files that the rules were read from."""
    quotas: list[QuotaUse] = field(default_factory=list)
    """What the run would use of the quotas that it knows."""
    show_secrets: bool = False
    redactor: Redactor = field(default_factory=Redactor)
    """Knows the Secrets of the run."""
    streams: tuple[Stream, ...] = ()
    """What the objects stand in, edited."""

    def __iter__(self) -> Iterator[ObjectReport]:
        return iter(self.objects)

    def __str__(self) -> str:
        """What the command line says of the run: errors, warnings, the summary. Without Secrets."""
        from krm_fn.report.text import lines  # stands on this module

        return "\n".join(lines(self))

    def to_yaml(self) -> str:
        """The objects as they now are: their texts, edited, one document after the other."""
        texts = (stream.write().decode() for stream in self.streams)
        return "---\n".join(t if t.endswith("\n") else f"{t}\n" for t in texts if t.strip())

    def followed_by(self, later: Report) -> Report:
        """This report with that of a later stage, which says more of the same objects."""
        entries = {entry.item: entry for entry in self.objects}
        for entry in later.objects:
            before = entries.get(entry.item)
            entries[entry.item] = entry if before is None else before.followed_by(entry)
        self.objects = list(entries.values())
        self.findings = list(dict.fromkeys((*self.findings, *later.findings)))
        self.quotas = later.quotas or self.quotas
        self.rules += later.rules
        self.refs += later.refs
        self.unmatched += later.unmatched
        self.limit = max(self.limit, later.limit)
        self.total = max(self.total, later.total)
        return self

    def with_unmatched(self) -> Report:
        """The report in which what there is to say of unmatched rules counts as findings."""
        return replace(self, findings=[*self.findings, *self.unmatched], unmatched=[])

    def all_findings(self) -> Iterator[tuple[ObjectReport | None, Finding]]:
        """Every finding with its object: those of the run first, then in the objects' order."""
        for finding in self.findings:
            yield None, finding
        for entry in self.objects:
            for finding in entry.findings:
                yield entry, finding

    @property
    def denied(self) -> bool:
        """Whether the run as a whole is a rejection."""
        return any(finding.denies for _, finding in self.all_findings())

    def count(self, outcome: Outcome) -> int:
        return sum(entry.outcome is outcome for entry in self.objects)

    def severities(self) -> Counter[Severity]:
        return Counter(severity_of(finding) for _, finding in self.all_findings())

    def summary(self) -> str:
        """`5 objects, 2 changed, 1 rejected, 0 warnings (3 rules)`."""
        parts = [
            count(self.total, "object"),
            f"{self.count(Outcome.CHANGED)} changed",
            f"{self.count(Outcome.REJECTED)} rejected",
        ]
        dropped = self.count(Outcome.DROPPED)
        if dropped:
            parts.append(f"{dropped} dropped")
        parts.append(count(self.severities()[Severity.WARNING], "warning"))
        return f"{', '.join(parts)} ({count(self.rules, 'rule')})"


def count(number: int, noun: str) -> str:
    """`1 object`, `2 objects`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
