"""The criteria of a ModRule as an explanation tells them. Loaded where somebody asks why.

Nothing is decided here: each function is told what was decided, and says what it was decided by.
Source: docs/spec/explain.md section 2; KubeMod core/modrulestore.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from krm_fn.admission import Cluster, Request
from krm_fn.admission.trace import Part, RuleTrace
from krm_fn.dialects.modrule.criteria import MatchCriterion
from krm_fn.dialects.modrule.rule import CompiledOperation, CompiledRule
from krm_fn.dialects.modrule.scope import IGNORE_LABEL, ModRuleScope, request_namespace
from krm_fn.dialects.modrule.spec import MatchItem
from krm_fn.errors import EvaluationError, did_you_mean
from krm_fn.lang.go.regexp import compile_regex
from krm_fn.lang.patch.kubemod import PatchOperation
from krm_fn.lang.select import UNDEFINED, format_text
from krm_fn.lang.select.explain import Element, PathTrace, trace_paths
from krm_fn.values import MISSING, Json, Path, compact, equal, format_path, get

_VALUES: Final = 5


def ask_scope(
    record: RuleTrace, scope: ModRuleScope, rule: CompiledRule, request: Request, cluster: Cluster
) -> bool:
    """Record whether a rule is asked about an object at all: webhook, namespace, operation."""
    head, namespace = request.head, request.namespace
    if not record.ask(
        "a kind that KubeMod's webhook is called for",
        head.kind,
        scope.is_target(head.kind, request.resource),
        hint=f"modRules.targetResources: [{request.resource.plural}] adds it"
        if not scope.is_target(head.kind, request.resource)
        else "",
    ):
        return False
    ignored = scope.is_ignored(head, namespace, request.object, cluster)
    if not record.ask(
        "a namespace that KubeMod does not ignore",
        namespace or head.name or "(cluster-scoped)",
        not ignored,
        hint=f"modRules.ignoredNamespaces, or the label {IGNORE_LABEL}" if ignored else "",
    ):
        return False
    if not _ask_namespace(record, scope, rule, request_namespace(head, namespace)):
        return False
    operations = rule.spec.admission_operations
    return record.ask(
        " or ".join(operations),
        str(request.operation),
        request.operation in operations,
        field=("spec", "admissionOperations"),
        hint="" if request.operation in operations else "context.operation says otherwise",
    )


def _ask_namespace(
    record: RuleTrace, scope: ModRuleScope, rule: CompiledRule, namespace: str
) -> bool:
    home = scope.namespace_of(rule)
    held = scope.sees(rule, namespace)
    hint = ""
    field: Path = ("metadata", "namespace")
    if not scope.is_cluster_rule(rule):
        wants = f"an object in the rule's namespace {home}"
        if not held:
            hint = (
                "set metadata.namespace of the rule, or targetNamespaceRegex of a rule in "
                f"{scope.cluster_rules_namespace}"
            )
    elif rule.namespace_regex is not None:
        wants = f"a namespace that matches {rule.spec.target_namespace_regex}"
        field = ("spec", "targetNamespaceRegex")
    else:
        wants = f"a cluster-scoped object, as the rule is in {home} without targetNamespaceRegex"
        hint = "" if held else "set targetNamespaceRegex (.* for all)"
    return record.ask(wants, namespace or "(cluster-scoped)", held, field=field, hint=hint)


def ask_match(
    record: RuleTrace, n: int, criterion: MatchCriterion, document: Any, held: bool
) -> None:
    """Record one item of spec.match: what its select selected, and what that was compared with."""
    item = criterion.item
    traces = trace_paths(criterion.select.node, document)
    saw = _saw(criterion, traces, document)
    path = next((one.found[0].path for one in traces if one.found), None)
    record.ask(
        _wants(item),
        saw,
        held,
        field=("spec", "match", n),
        path=path,
        hint="" if held else _hint(criterion, traces, document),
        parts=lambda: tuple(part for trace in traces for part in _parts(trace)),
    )


def _wants(item: MatchItem) -> str:
    text = item.select
    if item.match_value is not None:
        text += f" is {compact(item.match_value)}"
    elif item.match_values:
        text += f" is one of {', '.join(map(compact, item.match_values))}"
    elif item.match_regex is not None:
        text += f" matches /{item.match_regex}/"
    if item.match_for == "All":
        text += ", all values"
    return f"not: {text}" if item.negate else text


def _saw(criterion: MatchCriterion, traces: Sequence[PathTrace], document: Any) -> str:
    """The values that the select gave, at most five of them and a count."""
    try:
        value = criterion.select.evaluate(document)
    except EvaluationError as error:
        return f"an error: {error.message}"
    if value is None or value is UNDEFINED:
        return "nothing"
    if type(value) is not list:
        return compact(value)
    values = [compact(one) for one in value if one is not UNDEFINED]
    if not values:
        return "nothing"
    more = f", ... ({len(values)} values)" if len(values) > _VALUES else ""
    return ", ".join(values[:_VALUES]) + more


def _hint(criterion: MatchCriterion, traces: Sequence[PathTrace], document: Any) -> str:
    """What the author may have meant."""
    item = criterion.item
    if not traces:
        return "" if item.negate else "no path in it starts with $, which stands for the object"
    missed = [trace.hint for trace in traces if trace.hint]
    if missed:
        return missed[0]
    if item.negate:
        return ""
    values = [
        one.value if isinstance(one.value, str) else format_text(one.value)
        for trace in traces
        for one in trace.found
    ]
    wanted = [item.match_value] if item.match_value is not None else list(item.match_values or ())
    if wanted:
        return _near_value(values, wanted)
    if item.match_regex is not None:
        return _near_regex(values, item.match_regex)
    return ""


def _near_value(values: Sequence[str], wanted: Sequence[str]) -> str:
    for value in values:
        for text in wanted:
            if value.strip() == text.strip():
                return f"{compact(value)} and {compact(text)} differ in white space only"
            if value.lower() == text.lower():
                return f"{compact(value)} and {compact(text)} differ in letter case only"
            if value.strip("\"'") == text.strip("\"'"):
                return f"{compact(value)} and {compact(text)} differ in quotes only"
    for value in values:
        near = did_you_mean(value, wanted) or did_you_mean(value, [t.rstrip("s") for t in wanted])
        if near:
            return f"the value is {compact(value)}"
    return ""


def _near_regex(values: Sequence[str], pattern: str) -> str:
    """Whether it is the anchors of a pattern that keep it from matching."""
    for stripped, what in (
        (pattern.removeprefix("^"), "^"),
        (pattern.removesuffix("$"), "$"),
        (pattern.removeprefix("^").removesuffix("$"), "^ and $"),
    ):
        if stripped == pattern or not stripped:
            continue
        search = compile_regex(stripped).search
        for value in values:
            if search(value):
                return f"without {what} it matches {compact(value)}"
    return ""


def _parts(trace: PathTrace) -> list[Part]:
    parts = [
        Part(trace.text if len(trace.found) == 1 else _text(one.path, trace), one.value, one.path)
        for one in trace.found[:_VALUES]
    ]
    if len(trace.found) > _VALUES:
        parts.append(Part(trace.text, note=f"{len(trace.found)} values"))
    return parts + [_element(trace, element) for element in trace.elements]


def _text(path: Path | None, trace: PathTrace) -> str:
    return trace.text if path is None else f"$.{format_path(path)}"


def _element(trace: PathTrace, element: Element) -> Part:
    inner = tuple(
        Part(
            text,
            MISSING if value is UNDEFINED else value,
            note="nothing" if value is UNDEFINED else "",
        )
        for text, value in element.values
    )
    name = format_path(element.path) if element.path is not None else trace.text
    return Part(name, element.held, element.path, error=element.error, parts=inner)


def tell_patch(
    record: RuleTrace,
    rule: CompiledRule,
    operations: Sequence[tuple[int, PatchOperation]],
    before: Json,
    after: Json | None,
    failure: str = "",
) -> None:
    """Record what each item of spec.patch came to."""
    for n, compiled in enumerate(rule.operations):
        own = [operation for number, operation in operations if number == n]
        field: Path = ("spec", "patch", n)
        if not own:
            record.effect(_operation(compiled), _no_path(compiled, before), field=field)
        for operation in own:
            what = f"{operation.op} {operation.path}"
            result = failure or _effect(operation, before, after)
            record.effect(what, result, field=field)


def _operation(compiled: CompiledOperation) -> str:
    item = compiled.item
    return f"{item.op} {item.path}" + (f" for {item.select}" if item.select else "")


def _no_path(compiled: CompiledOperation, document: Json) -> str:
    if compiled.fan_out is None:
        return "did nothing"
    (trace, *_) = trace_paths(compiled.fan_out.path, document) or (None,)
    hint = trace.hint if trace is not None else ""
    return f"its select gave no path{f': {hint}' if hint else ''}"


def _effect(operation: PatchOperation, before: Json, after: Json | None) -> str:
    path = _pointer(operation.path)
    if after is None:
        return "was not applied"
    if operation.op == "remove":
        there = get(before, path, MISSING) is not MISSING
        return "removed" if there else "nothing to remove"
    old, new = get(before, path, MISSING), get(after, path, MISSING)
    if old is not MISSING and new is not MISSING and equal(old, new):
        return f"the same as before: {compact(operation.value)}"
    return f"wrote {compact(operation.value)}"


def _pointer(path: str) -> Path:
    """A JSON pointer as a path; the end of a list is its last element."""
    steps: list[str | int] = []
    for part in path.split("/")[1:]:
        text = part.replace("~1", "/").replace("~0", "~")
        steps.append(int(text) if text.isdecimal() else -1 if text == "-" else text)
    return tuple(steps)
