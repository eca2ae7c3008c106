"""A ModRule, validated and compiled once, then asked about any number of objects.

Validation says what KubeMod's webhook, its CRD and its rule store say, all of it at once. What a
cluster would store and then never load is an error here, as is what it would load and then mangle.
Source: KubeMod api/v1beta1/modrule_webhook.go, core/modrulestore_item.go; the ModRule
specification, sections 3.1, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from krm_fn.admission import RuleRef
from krm_fn.dialects.modrule.criteria import MatchCriterion, compile_criterion
from krm_fn.dialects.modrule.spec import PATCH, REJECT, MatchItem, ModRuleSpec, PatchItem
from krm_fn.dialects.modrule.templates import Text, compile_text, compile_value
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import CompileError, EvaluationError, did_you_mean
from krm_fn.lang.go.regexp import Regex, compile_regex
from krm_fn.lang.select import FanOut, compile_fanout, compile_select

OPS: Final = ("add", "replace", "remove")
_MATCH_FOR: Final = ("Any", "All")
_OPERATIONS: Final = ("CREATE", "UPDATE", "DELETE")
_NO_VALUE: Final = "null"


class RuleProblem(NamedTuple):
    """What is wrong with a field, and who says so.

    `stage`: `webhook` (KubeMod's validation), `schema` (its CRD), `load` (its rule store, which
    then keeps the rule inactive without a word) or `decision` (this project is stricter).
    """

    field: str
    stage: str
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


@dataclass(frozen=True, slots=True, eq=False)
class CompiledOperation:
    """One operation of a patch: its select, its path template, its value template or value."""

    item: PatchItem
    fan_out: FanOut | None
    template: Text
    constant: Any = None
    is_constant: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CompiledRule:
    """A rule that can be asked. `criteria` are those of `spec.match`, in order."""

    ref: RuleRef
    spec: ModRuleSpec
    criteria: tuple[MatchCriterion, ...]
    operations: tuple[CompiledOperation, ...]
    message: Text | None
    namespace_regex: Regex | None

    @property
    def mutates(self) -> bool:
        """Whether a template may change the object that it sees."""
        return any(operation.template.mutates for operation in self.operations)

    def pinned(self, *path: str) -> frozenset[str] | None:
        """The texts that the value at a path must be one of for the rule to match, or None."""
        texts: frozenset[str] | None = None
        for criterion in self.criteria:
            pin = criterion.pinned()
            if pin is not None and pin[0] == path:
                texts = pin[1] if texts is None else texts & pin[1]
        return texts


def validate(spec: ModRuleSpec) -> list[RuleProblem]:
    """What KubeMod's webhook and its CRD have against a rule; empty if they take it."""
    return [*_webhook(spec), *_schema(spec)]


def load_problems(spec: ModRuleSpec) -> list[RuleProblem]:
    """What keeps KubeMod's rule store from loading a rule."""
    problems: list[RuleProblem] = []
    _compile(spec, problems)
    return problems


def decisions(spec: ModRuleSpec) -> list[RuleProblem]:
    """What this project refuses although KubeMod takes it: paths that it would mangle."""
    return [
        RuleProblem(f"spec.patch[{n}].path", "decision", "path", message)
        for n, item in enumerate(spec.patch)
        for message in _path_problems(item)
    ]


def compile_rule(ref: RuleRef, spec: ModRuleSpec) -> CompiledRule | list[RuleProblem]:
    """Compile a rule that validates; the problems where it does not load."""
    problems: list[RuleProblem] = []
    criteria, operations, message, regex = _compile(spec, problems)
    if problems:
        return problems
    return CompiledRule(ref, spec, tuple(criteria), tuple(operations), message, regex)


# ------------------------------------------------------------------------------------- validation


def _webhook(spec: ModRuleSpec) -> Iterator[RuleProblem]:
    if spec.type not in (PATCH, REJECT):
        wanted = did_you_mean(spec.type, (PATCH, REJECT)) or "; use Patch or Reject"
        yield _invalid("spec.type", f"unrecognized ModRule type {spec.type!r}{wanted}")
    if spec.type != PATCH and spec.patch:
        yield _invalid(
            "spec.patch", "field 'patch' should be present only for ModRules of type Patch"
        )
    if spec.type == PATCH and not spec.patch:
        yield RuleProblem(
            "spec.patch",
            "webhook",
            "FieldValueRequired",
            "field 'patch' cannot be empty for ModRules of type Patch",
        )
    if spec.type != REJECT and spec.reject_message is not None:
        yield _invalid(
            "spec.rejectMessage",
            "field 'rejectMessage' should be present only for ModRules of type Reject",
        )
    if spec.execution_tier in (-32768, 32767):
        yield _invalid(
            "spec.executionTier",
            "field 'executionTier' should be an integer value between -32767 and 32766",
        )
    for n, item in enumerate(spec.match or ()):
        yield from _webhook_match(item, f"spec.match[{n}]")
    for n, patch in enumerate(spec.patch):
        yield from _webhook_patch(patch, f"spec.patch[{n}]", spec.template_engine)
    if spec.reject_message is not None:
        yield from _fails(
            "spec.rejectMessage",
            compile_text,
            spec.reject_message,
            "rejectMessage",
            spec.template_engine,
        )


def _webhook_match(item: MatchItem, field: str) -> Iterator[RuleProblem]:
    if not item.select:
        yield _invalid(f"{field}.select", "spec.match[].select in body must be non-empty string")
    else:
        yield from _fails(f"{field}.select", compile_select, item.select)
    if item.match_regex is not None:
        yield from _fails(f"{field}.matchRegex", compile_regex, item.match_regex)
    if item.match_for not in _MATCH_FOR:
        yield _invalid(
            f"{field}.matchFor", f"unrecognized matchFor value {item.match_for!r}; use Any or All"
        )


def _webhook_patch(item: PatchItem, field: str, engine: str) -> Iterator[RuleProblem]:
    if item.value is not None:
        yield from _fails(f"{field}.value", compile_value, item.value, item.path, engine)
        if item.select:
            yield from _fails(f"{field}.select", compile_select, item.select)


def _fails(field: str, compile_it: Any, *arguments: str) -> Iterator[RuleProblem]:
    try:
        compile_it(*arguments)
    except CompileError as error:
        yield _invalid(field, error.message)


def _invalid(field: str, message: str) -> RuleProblem:
    return RuleProblem(field, "webhook", "FieldValueInvalid", message)


def _schema(spec: ModRuleSpec) -> Iterator[RuleProblem]:
    if spec.match is None:
        yield RuleProblem("spec.match", "schema", "type", "Required value: a list of criteria")
    elif not spec.match:
        message = "spec.match in body should have at least 1 items"
        yield RuleProblem("spec.match", "schema", "too_few_items", message)
    if spec.type not in (PATCH, REJECT):
        yield _unsupported("spec.type", spec.type, (PATCH, REJECT))
    for n, item in enumerate(spec.match or ()):
        if item.match_for not in _MATCH_FOR:
            yield _unsupported(f"spec.match[{n}].matchFor", item.match_for, _MATCH_FOR)
    for n, patch in enumerate(spec.patch):
        if patch.op not in OPS:
            yield _unsupported(f"spec.patch[{n}].op", patch.op, OPS)
    for n, operation in enumerate(spec.admission_operations):
        if operation not in _OPERATIONS:
            yield _unsupported(f"spec.admissionOperations[{n}]", operation, _OPERATIONS)


def _unsupported(field: str, value: str, known: tuple[str, ...]) -> RuleProblem:
    supported = ", ".join(f'"{word}"' for word in sorted(known))
    message = f'Unsupported value: "{value}": supported values: {supported}'
    return RuleProblem(field, "schema", "enum", message)


def _path_problems(item: PatchItem) -> Iterator[str]:
    path = item.path
    if not path.startswith("/"):
        yield f"the path {path!r} must start with / (KubeMod ignores what stands before the first)"
    if '"' in path or "\\" in path:
        yield f"the path {path!r} has a quote or a backslash, which KubeMod pastes into JSON text"
    if "%" in path and item.select:
        yield f"the path {path!r} has a %, which KubeMod takes for a format where there is a select"


# ---------------------------------------------------------------------------------------- loading

_Parts = tuple[list[MatchCriterion], list[CompiledOperation], Text | None, Regex | None]


def _compile(spec: ModRuleSpec, problems: list[RuleProblem]) -> _Parts:
    regex: Regex | None = None
    if spec.target_namespace_regex:
        try:
            regex = compile_regex(spec.target_namespace_regex)
        except CompileError as error:
            problems.append(_unloadable("spec.targetNamespaceRegex", error.message))
    criteria: list[MatchCriterion] = []
    for n, item in enumerate(spec.match or ()):
        try:
            criteria.append(compile_criterion(item))
        except CompileError as error:
            field = f"spec.match[{n}]"
            problems.append(_unloadable(_criterion_field(item, field), error.message))
    operations = [
        operation
        for n, patch in enumerate(spec.patch)
        for operation in _compile_operation(
            patch, f"spec.patch[{n}]", spec.template_engine, problems
        )
    ]
    message: Text | None = None
    if spec.reject_message is not None:
        try:
            message = compile_text(spec.reject_message, "rejectMessage", spec.template_engine)
        except CompileError as error:
            problems.append(_unloadable("spec.rejectMessage", error.message))
    return criteria, operations, message, regex


def _criterion_field(item: MatchItem, field: str) -> str:
    try:
        compile_select(item.select)
    except CompileError:
        return f"{field}.select"
    return f"{field}.matchRegex"


def _compile_operation(
    item: PatchItem, field: str, engine: str, problems: list[RuleProblem]
) -> Iterator[CompiledOperation]:
    fan_out: FanOut | None = None
    before = len(problems)
    if item.select is not None:
        try:
            fan_out = compile_fanout(item.select)
        except CompileError as error:
            problems.append(_unloadable(f"{field}.select", error.message))
    text = _NO_VALUE if item.value is None else item.value
    try:
        template = compile_value(text, item.path, engine)
    except CompileError as error:
        problems.append(_unloadable(f"{field}.value", error.message))
        return
    if len(problems) > before:
        return
    if template.constant is None:
        yield CompiledOperation(item, fan_out, template)
        return
    try:
        yield CompiledOperation(item, fan_out, template, read_value(template.constant), True)
    except EvaluationError:
        # It fails on every object, as it does in the cluster.
        yield CompiledOperation(item, fan_out, template)


def _unloadable(field: str, message: str) -> RuleProblem:
    for word in ("break", "continue"):
        if f"in {{{{{word}}}}}" in message:
            message += f"; write {{{{{word}}}}} without spaces, as KubeMod's engine wants it"
    return RuleProblem(field, "load", "compile", message)
