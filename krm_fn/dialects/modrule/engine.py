"""One object through all rules of KubeMod, as its operator takes it through.

Tier by tier: the rules of a tier are matched on the document as the tier starts, then applied one
after the other; what a rule computes it computes on the document as it is before that rule. Then
the Reject rules look at the patched document. What happens when something fails is the options'.
Source: KubeMod core/modrulestore.go, core/dragnet_webhook.go; the ModRule specification, section 3.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from krm_fn.admission import Cause, Finding, RuleRef, Step, Trace
from krm_fn.config.admission import OnRuleError
from krm_fn.dialects.modrule.lastapplied import Crash, LastApplied
from krm_fn.dialects.modrule.rule import CompiledOperation, CompiledRule
from krm_fn.dialects.modrule.spec import PATCH
from krm_fn.dialects.modrule.templates import message_context, value_context
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError
from krm_fn.lang.jsonpatch import Operation, apply_kubemod
from krm_fn.lang.select import expand_path
from krm_fn.values import Json, equal


@dataclass(slots=True)
class Outcome:
    """What the rules made of a document, in KubeMod's form."""

    document: Json
    steps: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    """One text a rule, as KubeMod joins them: `ns/name: "message"`."""
    untouched: str = ""
    """Why a cluster would let the object pass as it came, "" where it would not."""


class Engine:
    """The rules that are candidates for an object, in the order in which they apply."""

    def __init__(
        self, candidates: Sequence[CompiledRule], on_error: OnRuleError, trace: Trace
    ) -> None:
        by_tier = sorted(candidates, key=lambda rule: rule.spec.execution_tier)
        self._patches = [rule for rule in by_tier if rule.spec.type == PATCH]
        self._rejects = [rule for rule in by_tier if rule.spec.type != PATCH]
        self._on_error = on_error
        self._trace = trace

    def run(self, document: Json, namespace: str) -> Outcome:
        """Take a document through the rules; it stays as it is."""
        outcome = Outcome(document)
        try:
            self._patch(outcome, namespace)
        except _Untouched as stop:
            return Outcome(document, findings=outcome.findings, untouched=stop.reason)
        for rule in self._rejects:
            if self._matches(rule, outcome.document, outcome):
                self._reject(rule, namespace, outcome)
        return outcome

    # ------------------------------------------------------------------------------- patching

    def _patch(self, outcome: Outcome, namespace: str) -> None:
        last_applied = LastApplied(outcome.document)
        broken: str = ""
        for _, tier in groupby(self._patches, key=lambda rule: rule.spec.execution_tier):
            start = outcome.document
            matching = [rule for rule in tier if self._matches(rule, start, outcome)]
            for rule in matching:
                try:
                    operations, warnings = _compute(rule, outcome.document, namespace)
                except EvaluationError as error:
                    self._failed(rule, outcome, f"cannot be computed: {error.message}")
                    continue
                outcome.findings += warnings
                if broken:
                    # The working copy of KubeMod is gone; the next patch crashes it.
                    raise _Untouched(broken)
                if not operations:
                    continue
                broken = self._apply(rule, operations, last_applied, outcome)
        if broken and not last_applied.present:
            raise _Untouched(broken)
        try:
            outcome.document = last_applied.write(outcome.document)
        except Crash as crash:
            rules = outcome.steps[-1].rules if outcome.steps else ()
            self._crashed(rules, outcome, crash)
            return
        if outcome.steps and outcome.document is not outcome.steps[-1].object:
            outcome.steps.append(Step(outcome.steps[-1].rules, outcome.document))

    def _apply(
        self,
        rule: CompiledRule,
        operations: _Numbered,
        last_applied: LastApplied,
        outcome: Outcome,
    ) -> str:
        """Apply one rule's operations; why the object then passes untouched in a cluster, or ""."""
        plain = [operation for _, operation in operations]
        try:
            patched = apply_kubemod(outcome.document, plain)
        except EvaluationError as error:
            hint = ""
            if any(operation.op == "replace" for operation in plain):
                hint = (
                    " (in a cluster, the API server has filled in defaults before; "
                    "`add` does not need the field to be there)"
                )
            self._failed(rule, outcome, f"cannot be applied: {error.message}{hint}", apply=True)
            return error.message if self._on_error is OnRuleError.AS_CLUSTER else ""
        try:
            trouble = last_applied.apply(plain)
        except Crash as crash:
            self._crashed((rule.ref,), outcome, crash)
            return ""
        if trouble:
            outcome.findings.append(
                Finding(
                    Cause.WARNING,
                    False,
                    f"the last-applied-configuration annotation keeps its old text: {trouble}",
                    (rule.ref,),
                )
            )
        outcome.findings += _order_dependence(rule, outcome.document, operations, patched)
        if not equal(patched, outcome.document):
            outcome.document = patched
            outcome.steps.append(Step((rule.ref,), patched))
        return ""

    def _matches(self, rule: CompiledRule, document: Json, outcome: Outcome) -> bool:
        try:
            for criterion in rule.criteria:
                if not criterion.holds(document):
                    if self._trace.active:
                        self._trace.missed(rule.ref, criterion.item.select, document)
                    return False
        except EvaluationError as error:
            self._failed(rule, outcome, f"its match cannot be evaluated: {error.message}")
            return False
        return True

    def _failed(
        self, rule: CompiledRule, outcome: Outcome, message: str, *, apply: bool = False
    ) -> None:
        denies = self._on_error is OnRuleError.FAIL
        if self._on_error is OnRuleError.AS_CLUSTER:
            message += (
                "; KubeMod then lets the whole object pass unchanged, and no Reject rule is asked"
                if apply
                else "; KubeMod skips the rule"
            )
        elif not denies:
            message += "; the rule is skipped"
        cause = Cause.FAILED if denies else Cause.WARNING
        outcome.findings.append(Finding(cause, denies, message, (rule.ref,)))

    def _crashed(self, rules: tuple[RuleRef, ...], outcome: Outcome, crash: Crash) -> None:
        """KubeMod crashes: an error here, unless the cluster's answer is asked for."""
        if self._on_error is OnRuleError.AS_CLUSTER:
            message = f"{crash.message}; the object passes unchanged"
            outcome.findings.append(Finding(Cause.WARNING, False, message, rules))
            raise _Untouched(crash.message)
        denies = self._on_error is OnRuleError.FAIL
        cause = Cause.FAILED if denies else Cause.WARNING
        outcome.findings.append(Finding(cause, denies, crash.message, rules))

    # ------------------------------------------------------------------------------ rejecting

    def _reject(self, rule: CompiledRule, namespace: str, outcome: Outcome) -> None:
        name = f"{rule.ref.namespace}/{rule.ref.name}"
        message = ""
        if rule.message is not None:
            try:
                message = rule.message.render(message_context(namespace, outcome.document))
            except EvaluationError as error:
                outcome.findings.append(
                    Finding(
                        Cause.WARNING,
                        False,
                        f"rejectMessage cannot be rendered: {error.message}",
                        (rule.ref,),
                    )
                )
        outcome.rejections.append(f'{name}: "{message}"' if message else name)
        outcome.findings.append(
            Finding(
                Cause.REJECTED,
                True,
                message or f"rejected by {rule.ref}",
                (rule.ref,),
                code=403,
                reason="Forbidden",
            )
        )


class _Untouched(Exception):
    """KubeMod gives up on the object, and the API server admits it as it came."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


_Numbered = list[tuple[int, Operation]]
"""Operations with the index in `spec.patch` that each comes from."""


def _compute(rule: CompiledRule, document: Json, namespace: str) -> tuple[_Numbered, list[Finding]]:
    """All operations of a rule on a document, before any of them is applied.

    Raises EvaluationError, with which the whole rule fails.
    """
    operations: _Numbered = []
    warnings: list[Finding] = []
    target = document
    if any(getattr(operation.template, "mutates", False) for operation in rule.operations):
        # A template may change what it sees, and the next one of the same rule sees the change.
        target = copy.deepcopy(document)
    for n, compiled in enumerate(rule.operations):
        made = _compute_one(compiled, target, namespace)
        if any(_has_no_value(operation.value) for operation in made):
            warnings.append(
                Finding(
                    Cause.WARNING,
                    False,
                    f"spec.patch[{n}].value renders to <no value>, as text: "
                    "a field that it names is missing in the object",
                    (rule.ref,),
                )
            )
        operations += [(n, operation) for operation in made]
    return operations, warnings


def _compute_one(compiled: CompiledOperation, target: Json, namespace: str) -> list[Operation]:
    item = compiled.item
    if compiled.fan_out is None:
        value = compiled.constant
        if not compiled.is_constant:
            value = read_value(compiled.template.render(value_context(namespace, target)))
        return [Operation(item.op, item.path, value)]
    operations: list[Operation] = []
    for selected in compiled.fan_out.entries(target):
        path = expand_path(item.path, selected.key_parts)
        value = compiled.constant
        if not compiled.is_constant:
            context = value_context(namespace, target, selected.key_parts, selected.item)
            value = read_value(compiled.template.render(context))
        operations.append(Operation(item.op, path, value))
    # Removing from the end leaves the indexes of what is still to be removed as they are.
    return operations[::-1] if item.op == "remove" else operations


def _has_no_value(value: object) -> bool:
    if type(value) is str:
        return "<no value>" in value
    if type(value) is dict:
        return any(map(_has_no_value, value)) or any(map(_has_no_value, value.values()))
    return type(value) is list and any(map(_has_no_value, value))


def _order_dependence(
    rule: CompiledRule, document: Json, operations: _Numbered, patched: Json
) -> list[Finding]:
    """A warning if a fan-out taken in another order, as KubeMod may, gives another object."""
    turned: list[Operation] = []
    several = False
    for _, group in groupby(operations, key=lambda numbered: numbered[0]):
        members = [operation for _, operation in group]
        if len(members) > 1 and not _commute(members):
            several = True
        turned += members[::-1]
    if not several:
        return []
    try:
        if equal(apply_kubemod(document, turned), patched):
            return []
    except EvaluationError:
        pass
    return [
        Finding(
            Cause.WARNING,
            False,
            "the outcome depends on the order in which the select's matches are taken; KubeMod "
            "takes them at random, here it is the order of the document (removals from the end)",
            (rule.ref,),
        )
    ]


def _commute(operations: Sequence[Operation]) -> bool:
    """Whether operations of one fan-out surely give the same in any order: distinct members of
    maps, none below another."""
    paths = [operation.path for operation in operations]
    for path in paths:
        last = path.rpartition("/")[2].lstrip("+-")
        if not last or last.isdecimal():
            return False
    known = set(paths)
    return len(known) == len(paths) and not any(
        path[:at] in known for path in paths for at in range(1, len(path)) if path[at] == "/"
    )
