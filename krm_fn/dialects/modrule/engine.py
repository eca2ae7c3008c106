"""One object through all rules of KubeMod, as its operator takes it through.

Tier by tier: the rules of a tier are matched on the document as the tier starts, then applied one
after the other; what a rule computes it computes on the document as it is before that rule. Then
the Reject rules look at the patched document. What happens when something fails is the options'.
Source: KubeMod core/modrulestore.go, core/dragnet_webhook.go; the ModRule specification, section 3.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from krm_fn import work
from krm_fn.admission import Cause, Finding, RuleRef, Step
from krm_fn.admission.trace import RuleTrace, Trace
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.modrule.chance import Chance, Draw
from krm_fn.dialects.modrule.lastapplied import CrashError, LastApplied
from krm_fn.dialects.modrule.rule import CompiledOperation, CompiledRule
from krm_fn.dialects.modrule.spec import PATCH
from krm_fn.dialects.modrule.templates import message_variables, value_variables
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError
from krm_fn.lang.patch.kubemod import PatchOperation, apply_kubemod
from krm_fn.lang.select import Selected, expand_path
from krm_fn.values import Json, check_size, equal

_NO_CHANCE: Final = Chance()


@dataclass(slots=True)
class EngineOutcome:
    """What the rules made of a document, in KubeMod's form."""

    document: Json
    steps: list[Step] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    matched: list[RuleRef] = field(default_factory=list)
    """The rules that met the document."""
    rejections: list[str] = field(default_factory=list)
    """One text a rule, as KubeMod joins them: `ns/name: "message"`."""
    trace: Trace | None = None
    """Takes the criteria of the rules, where somebody asks."""
    untouched: str = ""
    """Why a cluster would let the object pass as it came, "" where it would not."""

    def record(self, rule: CompiledRule) -> RuleTrace | None:
        """What takes the criteria of a rule, where somebody asks."""
        return None if self.trace is None else self.trace.rule(rule.ref)


def matches(rule: CompiledRule, document: Json, record: RuleTrace | None = None) -> bool:
    """Whether all criteria of a rule hold; the first that does not ends it. Raises LimitError."""
    for n, criterion in enumerate(rule.criteria):
        held = criterion.holds(document)
        if record is not None:
            from krm_fn.dialects.modrule.why import ask_match

            ask_match(record, n, criterion, document, held)
        if not held:
            return False
    return True


def _tell(
    rule: CompiledRule,
    outcome: EngineOutcome,
    operations: _Numbered,
    patched: Json | None,
    failure: str = "",
) -> None:
    """Record what the operations of a rule came to."""
    record = outcome.record(rule)
    if record is not None:
        from krm_fn.dialects.modrule.why import tell_patch

        tell_patch(record, rule, operations, outcome.document, patched, failure)


class RuleEngine:
    """The rules that are candidates for an object, in the order in which they apply."""

    def __init__(
        self,
        candidates: Sequence[CompiledRule],
        on_error: OnRuleError,
        chance: Chance = _NO_CHANCE,
    ) -> None:
        by_tier = sorted(candidates, key=lambda rule: rule.spec.execution_tier)
        self._patches = [rule for rule in by_tier if rule.spec.type == PATCH]
        self._rejects = [rule for rule in by_tier if rule.spec.type != PATCH]
        self._on_error = on_error
        self._chance = chance

    def run(self, document: Json, namespace: str, trace: Trace | None = None) -> EngineOutcome:
        """Take a document through the rules; it stays as it is. `trace` takes their criteria."""
        outcome = EngineOutcome(document, trace=trace)
        try:
            self._patch(outcome, namespace)
        except _UntouchedError as stop:
            return EngineOutcome(
                document,
                findings=outcome.findings,
                matched=outcome.matched,
                untouched=stop.reason,
            )
        for rule in self._rejects:
            # Not to match is what such a rule wants of an object.
            outcome.matched.append(rule.ref)
            if self._matches(rule, outcome):
                _reject(rule, namespace, outcome, self._chance)
        return outcome

    # ------------------------------------------------------------------------------- patching

    def _patch(self, outcome: EngineOutcome, namespace: str) -> None:
        last_applied = LastApplied(outcome.document)
        broken = ""
        for _, tier in groupby(self._patches, key=lambda rule: rule.spec.execution_tier):
            for rule in [rule for rule in tier if self._matches(rule, outcome)]:
                outcome.matched.append(rule.ref)
                try:
                    operations, warnings = _compute(rule, outcome.document, namespace, self._chance)
                except EvaluationError as error:
                    reason = error.message + _template_hint(error.message)
                    _tell(rule, outcome, [], None, f"failed: {reason}")
                    self._failed(rule, outcome, f"cannot be computed: {reason}")
                    continue
                outcome.findings += (_warning(rule, message) for message in warnings)
                if broken:
                    # The working copy of KubeMod is gone; the next patch crashes it.
                    raise _UntouchedError(broken)
                if not operations:
                    _tell(rule, outcome, [], outcome.document)
                else:
                    broken = self._apply(rule, operations, last_applied, outcome)
        if broken and not last_applied.present:
            raise _UntouchedError(broken)
        self._write_back(last_applied, outcome)

    def _apply(
        self,
        rule: CompiledRule,
        operations: _Numbered,
        last_applied: LastApplied,
        outcome: EngineOutcome,
    ) -> str:
        """Apply one rule's operations; why the object then passes untouched in a cluster, or ""."""
        plain = [operation for _, operation in operations]
        try:
            patched = apply_kubemod(outcome.document, plain)
            check_size(patched)
        except EvaluationError as error:
            hint = _DEFAULTS_HINT if any(operation.op == "replace" for operation in plain) else ""
            hint += _escape_hint(plain)
            _tell(rule, outcome, operations, None, f"failed: {error.message}{hint}")
            self._failed(rule, outcome, f"cannot be applied: {error.message}{hint}", apply=True)
            return error.message if self._on_error is OnRuleError.AS_CLUSTER else ""
        try:
            trouble = last_applied.apply(plain)
        except CrashError as crash:
            self._crashed((rule.ref,), outcome, crash)
            return ""
        if trouble:
            message = f"the last-applied-configuration annotation is left as it is: {trouble}"
            outcome.findings.append(_warning(rule, message))
        if _depends_on_order(outcome.document, operations, patched):
            outcome.findings.append(_warning(rule, _RANDOM_ORDER))
        _tell(rule, outcome, operations, patched)
        if not equal(patched, outcome.document):
            outcome.document = patched
            outcome.steps.append(Step((rule.ref,), patched))
        return ""

    def _write_back(self, last_applied: LastApplied, outcome: EngineOutcome) -> None:
        rules = outcome.steps[-1].rules if outcome.steps else ()
        try:
            written = last_applied.write(outcome.document)
        except CrashError as crash:
            self._crashed(rules, outcome, crash)
            return
        if written is not outcome.document:
            outcome.document = written
            outcome.steps.append(Step(rules, written))

    def _matches(self, rule: CompiledRule, outcome: EngineOutcome) -> bool:
        document = outcome.document
        work.spend(_MATCH * (1 + len(rule.criteria)))
        try:
            if not matches(rule, document, outcome.record(rule)):
                return False
        except EvaluationError as error:
            message = f"its match cannot be evaluated: {error.message}"
            record = outcome.record(rule)
            if record is not None:
                record.ask("a match that can be evaluated", error.message, None)
            self._failed(rule, outcome, message)
            return False
        for n, criterion in enumerate(rule.criteria):
            mistake = criterion.mistake(document)
            if mistake:
                message = f"spec.match[{n}] fails, which negate turns into a match: {mistake}"
                outcome.findings.append(_warning(rule, message))
        return True

    # ------------------------------------------------------------------------------- failures

    def _failed(
        self, rule: CompiledRule, outcome: EngineOutcome, message: str, *, apply: bool = False
    ) -> None:
        """A rule fails on an object: what that means is the options', and is said."""
        if self._on_error is OnRuleError.FAIL:
            outcome.findings.append(Finding(Cause.FAILED, True, message, (rule.ref,)))
            return
        effect = "the rule is skipped"
        if self._on_error is OnRuleError.AS_CLUSTER:
            effect = _PASSES if apply else "KubeMod skips the rule"
        outcome.findings.append(_warning(rule, f"{message}; {effect}"))

    def _crashed(
        self, rules: tuple[RuleRef, ...], outcome: EngineOutcome, crash: CrashError
    ) -> None:
        """KubeMod crashes: an error here, unless the options say otherwise."""
        if self._on_error is OnRuleError.FAIL:
            outcome.findings.append(Finding(Cause.FAILED, True, crash.message, rules))
            return
        as_cluster = self._on_error is OnRuleError.AS_CLUSTER
        effect = _PASSES if as_cluster else "the annotation is left as it is"
        message = f"{crash.message}; {effect}"
        outcome.findings.append(Finding(Cause.WARNING, False, message, rules))
        if as_cluster:
            raise _UntouchedError(crash.message)


_MATCH: Final = 10
"""Steps that it takes to ask a rule, or one of its criteria."""

_PASSES: Final = "KubeMod then lets the whole object pass unchanged, and no Reject rule is asked"
_DEFAULTS_HINT: Final = (
    " (in a cluster, the API server has filled in defaults before; "
    "`add` does not need the field to be there)"
)
_ESCAPE_HINT: Final = (
    " (KubeMod makes a missing parent whose name has a / under its escaped name, and then fails: "
    "add the parent itself first)"
)
_TEMPLATE_HINTS: Final = {
    "incompatible types for comparison": (
        "every number of the object is a float: compare with 3.0, or write int .Target.x"
    ),
    "got *interface {}": "no function takes .Target itself: name a member, as .Target.metadata",
}
_MUTATED: Final = (
    "a template changes .Target: the templates behind it in this rule see that, the object does "
    "not get it"
)
_RANDOM_ORDER: Final = (
    "the outcome depends on the order in which the select's matches are taken; KubeMod takes them "
    "at random, here it is the order of the document (removals from the end)"
)


def _template_hint(message: str) -> str:
    return next((f" ({hint})" for part, hint in _TEMPLATE_HINTS.items() if part in message), "")


def _escape_hint(operations: Sequence[PatchOperation]) -> str:
    """A hint if a path has an escape before its last segment, where `add` may make a parent."""
    escaped = any(op.op == "add" and "~" in op.path.rpartition("/")[0] for op in operations)
    return _ESCAPE_HINT if escaped else ""


class _UntouchedError(Exception):
    """KubeMod gives up on the object, and the API server admits it as it came."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _warning(rule: CompiledRule, message: str) -> Finding:
    return Finding(Cause.WARNING, False, message, (rule.ref,))


def _reject(rule: CompiledRule, namespace: str, outcome: EngineOutcome, chance: Chance) -> None:
    """Note a rejection. A message that cannot be rendered does not save the object.

    Without a message, or with an empty one, the finding is KubeMod's whole sentence.
    Source: docs/spec/modrule.md section 3.10.
    """
    text = f"{rule.ref.namespace}/{rule.ref.name}"
    message = ""
    if rule.message is not None:
        target = outcome.document
        if rule.message.mutates:
            target = copy.deepcopy(target)
        try:
            message = rule.message.render(
                message_variables(namespace, target),
                lambda: chance.draw(rule.ref, target, "rejectMessage"),
            )
            text = f'{text}: "{message}"'
        except EvaluationError as error:
            problem = f"rejectMessage cannot be rendered: {error.message}"
            outcome.findings.append(_warning(rule, problem))
    outcome.rejections.append(text)
    if not message.strip():
        message = f"operation rejected by the following ModRule(s): {text}"
    record = outcome.record(rule)
    if record is not None:
        record.effect("reject", message, field=("spec", "rejectMessage"))
    outcome.findings.append(
        Finding(Cause.REJECTED, True, message, (rule.ref,), code=403, reason="Forbidden")
    )


# ------------------------------------------------------------------------------------- operations

_Numbered = list[tuple[int, PatchOperation]]
"""Operations with the index in `spec.patch` that each comes from."""


def _compute(
    rule: CompiledRule, document: Json, namespace: str, chance: Chance
) -> tuple[_Numbered, list[str]]:
    """All operations of a rule on a document, before any of them is applied, and warnings.

    Raises EvaluationError, with which the whole rule fails.
    """
    operations: _Numbered = []
    warnings: list[str] = []
    target = document
    if rule.mutates:
        # A template may change what it sees, and the next one of the same rule sees the change.
        target = copy.deepcopy(document)
    for n, compiled in enumerate(rule.operations):

        def draw(key: str, part: int = n) -> Draw:
            return lambda: chance.draw(rule.ref, target, f"{part} {key}")

        for operation, warning in _compute_one(compiled, target, namespace, draw):
            operations.append((n, operation))
            if warning:
                warnings.append(f"spec.patch[{n}].{warning}")
    if target is not document and not equal(target, document):
        warnings.append(_MUTATED)
    return operations, list(dict.fromkeys(warnings))


def _compute_one(
    compiled: CompiledOperation, target: Json, namespace: str, draw: Callable[[str], Draw]
) -> list[tuple[PatchOperation, str]]:
    """The operations that one item of `spec.patch` becomes, each with a warning or ""."""
    item = compiled.item
    if compiled.fan_out is None:
        if compiled.is_constant:
            return [(PatchOperation(item.op, item.path, compiled.constant), "")]
        text = compiled.template.render(value_variables(namespace, target), draw(""))
        value = read_value(text)
        return [(PatchOperation(item.op, item.path, value), _surprise(text, value))]
    made: list[tuple[PatchOperation, str]] = []
    for selected in compiled.fan_out.entries(target):
        path = expand_path(item.path, selected.key_parts)
        warning = _raw_key(item.path, path) or _lost_key(compiled, selected)
        value = compiled.constant
        if not compiled.is_constant:
            seen = value_variables(namespace, target, selected.key_parts, selected.item)
            text = compiled.template.render(seen, draw(selected.key))
            value = read_value(text)
            warning = warning or _surprise(text, value)
        made.append((PatchOperation(item.op, path, value), warning))
    # Removing from the end leaves the indexes of what is still to be removed as they are.
    return made[::-1] if item.op == "remove" else made


def _surprise(text: str, value: Any) -> str:
    """A warning about what a template printed and nobody means, or ""."""
    if "<no value>" in text:
        return (
            "value renders to <no value>, as text: a field that it names is missing in the object"
        )
    if "e+" in text:
        found = next(filter(None, map(_EXPONENT.search, _texts(value))), None)
        if found:
            return (
                f"value has {found[0]} in a text: templates print numbers of a million and more "
                "so; write int before the number"
            )
    return ""


_EXPONENT: Final = re.compile(r"(?<![0-9.])[0-9](?:\.[0-9]+)?e\+[0-9]{2,3}(?![0-9A-Za-z])")


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value but for the keys of maps."""
    pending = [value]
    while pending:
        each = pending.pop()
        if type(each) is str:
            yield each
        elif type(each) is list:
            pending += each
        elif type(each) is dict:
            pending += each.values()


def _lost_key(compiled: CompiledOperation, selected: Selected) -> str:
    used = "#" in compiled.item.path or not compiled.is_constant
    if selected.is_exact or not used:
        return ""
    return (
        f"select captures {selected.key}: KubeMod loses keys with brackets or quotes, keeps "
        "backslashes, and takes 007 for 7"
    )


def _raw_key(template: str, path: str) -> str:
    if path.count("/") == template.count("/") and path.count("~") == template.count("~"):
        return ""
    return (
        f"path becomes {path}: KubeMod puts a captured key in as it is, so that a / in it "
        "separates and a ~ escapes"
    )


def _depends_on_order(document: Json, operations: _Numbered, patched: Json) -> bool:
    """Whether a fan-out taken in another order, as KubeMod may, gives another object."""
    turned: list[PatchOperation] = []
    several = False
    for _, group in groupby(operations, key=lambda numbered: numbered[0]):
        members = [operation for _, operation in group]
        if len(members) > 1 and not _commute(members):
            several = True
        turned += members[::-1]
    if not several:
        return False
    try:
        return not equal(apply_kubemod(document, turned), patched)
    except EvaluationError:
        return True


def _commute(operations: Sequence[PatchOperation]) -> bool:
    """Whether operations of one fan-out surely give the same in any order: distinct members of
    maps, none below another."""
    paths = [operation.path for operation in operations]
    for path in paths:
        last = path.rpartition("/")[2].lstrip("+-")
        if not last or last.isdecimal():
            return False
    known = set(paths)
    return len(known) == len(paths) and not any(
        above in known for path in paths for above in _above(path)
    )


def _above(path: str) -> Iterator[str]:
    """The paths that lead to a path."""
    while path := path.rpartition("/")[0]:
        yield path
