"""KubeMod's webhook as a plugin of the chain: one, however many rules there are.

Source: KubeMod's `dragnet.kubemod.io` in its bundle.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Phase,
    Prefilter,
    Request,
    Response,
    Selection,
    Step,
    Trace,
)
from krm_fn.config.admission import OnRuleError
from krm_fn.dialects.modrule.engine import Engine
from krm_fn.dialects.modrule.form import SYNTHETIC_REFS, KubeModForm, references
from krm_fn.dialects.modrule.rule import CompiledRule
from krm_fn.dialects.modrule.scope import TARGET_KINDS, Scope, request_namespace
from krm_fn.wire import Head

INVOCATION = "dragnet.kubemod.io"


@dataclass(frozen=True, slots=True)
class _Index:
    """A rule with what its match pins; None is any."""

    rule: CompiledRule
    kinds: frozenset[str] | None
    names: frozenset[str] | None

    def may_match(self, head: Head) -> bool:
        return (self.kinds is None or head.kind in self.kinds) and (
            self.names is None or head.name in self.names
        )


class KubeMod:
    """All ModRules of a run, in the order in which they apply within a tier."""

    name = "kubemod"
    phase = Phase.MUTATING_WEBHOOK
    order = ("kubemod-mutating-webhook-configuration", INVOCATION)

    def __init__(self, rules: Sequence[CompiledRule], scope: Scope, on_error: OnRuleError) -> None:
        self.scope = scope
        self.on_error = on_error
        self._rules = [
            _Index(rule, rule.pinned("kind"), rule.pinned("metadata", "name")) for rule in rules
        ]
        self.prefilter = Prefilter(map(self._selection, self._rules))
        self._seen_by: dict[tuple[str, str], list[_Index]] = {}
        self._engines: dict[tuple[CompiledRule, ...], Engine] = {}

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        trace: Trace,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one object, as `AdmissionReview` shows it to the webhook."""
        head = request.head
        if not self.scope.is_target(head.kind, request.resource) or self.scope.is_ignored(
            head, request.namespace, request.object, cluster
        ):
            return Response()
        namespace = request_namespace(head, request.namespace)
        candidates = tuple(
            entry.rule
            for entry in self._candidates(head.kind, namespace)
            if entry.may_match(head) and request.operation in entry.rule.spec.admission_operations
        )
        if not candidates:
            return Response()
        found, complete = references(request, cluster)
        form = KubeModForm(found)
        outcome = self._engine(candidates).run(form.get(request.object), namespace, trace)
        findings = list(outcome.findings)
        value, lost = form.put(request.object, outcome.document)
        if lost:
            rules = tuple(dict.fromkeys(rule for step in outcome.steps for rule in step.rules))
            findings.append(
                Finding(
                    Cause.FAILED,
                    True,
                    "a rule writes below syntheticRefs, which is no part of the object",
                    rules,
                    (SYNTHETIC_REFS,),
                )
            )
        if not complete:
            findings += self._made_up(candidates, request.namespace)
        return Response(
            object=None if value is request.object else value,
            steps=tuple(
                Step(step.rules, form.put(request.object, step.object)[0]) for step in outcome.steps
            ),
            findings=tuple(findings),
            reinvocable=frozenset({INVOCATION}),
        )

    def unseen(self, targets: Sequence[tuple[Head, str]]) -> Sequence[Finding]:
        """A finding for each rule that was a candidate for none of the objects."""
        seen = [
            (head, request_namespace(head, namespace))
            for head, namespace in targets
            if head.kind in TARGET_KINDS or self.scope.target_resources
        ]
        spaces = {namespace for _, namespace in seen}
        return [
            self._never_asked(entry.rule, len(targets), {space for _, space in targets})
            for entry in self._rules
            if not any(self.scope.sees(entry.rule, namespace) for namespace in spaces)
        ]

    # ---------------------------------------------------------------------------- small parts

    def _selection(self, entry: _Index) -> Selection:
        kinds = entry.kinds
        if not self.scope.target_resources:
            kinds = frozenset(TARGET_KINDS) if kinds is None else kinds & frozenset(TARGET_KINDS)
        namespaces = None
        if not self.scope.is_cluster_rule(entry.rule):
            namespaces = frozenset({self.scope.namespace_of(entry.rule)})
        return Selection(kinds=kinds, namespaces=namespaces, names=entry.names)

    def _candidates(self, kind: str, namespace: str) -> list[_Index]:
        key = (kind, namespace)
        if key not in self._seen_by:
            self._seen_by[key] = [
                entry
                for entry in self._rules
                if (entry.kinds is None or kind in entry.kinds)
                and self.scope.sees(entry.rule, namespace)
            ]
        return self._seen_by[key]

    def _engine(self, candidates: tuple[CompiledRule, ...]) -> Engine:
        if candidates not in self._engines:
            self._engines[candidates] = Engine(candidates, self.on_error)
        return self._engines[candidates]

    def _made_up(self, candidates: tuple[CompiledRule, ...], namespace: str) -> Iterator[Finding]:
        for rule in candidates:
            if _reads_references(rule):
                yield Finding(
                    Cause.UNDECIDED,
                    False,
                    f"reads syntheticRefs, and the namespace {namespace} (or the node) is not "
                    "among the items or in context.namespaces: only its name is known here",
                    (rule.ref,),
                )

    def _never_asked(self, rule: CompiledRule, count: int, spaces: set[str]) -> Finding:
        home = f"{rule.ref.namespace}" or "no namespace: taken as " + self.scope.default_namespace
        system = self.scope.cluster_rules_namespace
        named = ", ".join(sorted(spaces - {""})[:5])
        there = f"; they are in {named}" if named else ""
        if self.scope.is_cluster_rule(rule):
            remedy = (
                "Its targetNamespaceRegex finds none of them."
                if rule.namespace_regex is not None
                else f"Without targetNamespaceRegex a rule in {system} sees cluster-scoped "
                "objects only; set it (.* for all)."
            )
        else:
            remedy = (
                "Set metadata.namespace or context.defaultNamespace, or targetNamespaceRegex in "
                f"{system}."
            )
        objects = "object" if count == 1 else f"{count} objects"
        return Finding(
            Cause.WARNING,
            False,
            f"ModRule {rule.ref.name} ({home}) saw none of the {objects}{there}. {remedy}",
            (rule.ref,),
        )


def _reads_references(rule: CompiledRule) -> bool:
    spec = rule.spec
    texts = [item.select for item in spec.match] if spec.match else []
    texts += [text for item in spec.patch for text in (item.select, item.value) if text]
    texts.append(spec.reject_message or "")
    return any(SYNTHETIC_REFS in text for text in texts)


def in_order(rules: Sequence[CompiledRule], scope: Scope) -> list[CompiledRule]:
    """Rules in the order in which a restarted operator most likely has them.

    Those for the cluster first, then by namespace and name; within a tier that order applies.
    """
    return sorted(
        rules,
        key=lambda rule: (
            not scope.is_cluster_rule(rule),
            scope.namespace_of(rule),
            rule.ref.name,
        ),
    )
