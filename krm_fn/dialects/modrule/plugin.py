"""KubeMod's webhook as a plugin of the chain: one, however many rules there are.

It finds the rules that are candidates for an object, shows the object in KubeMod's form to the
engine and takes back what came of it. It knows neither how a rule matches nor how it patches.
Source: KubeMod's `dragnet.kubemod.io` in its bundle.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

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
    Subject,
)
from krm_fn.admission.coverage import RuleScope, there
from krm_fn.admission.trace import Trace
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.modrule.controllers import Asking, asking
from krm_fn.dialects.modrule.engine import RuleEngine, matches
from krm_fn.dialects.modrule.form import SYNTHETIC_REFS, KubeModForm, references
from krm_fn.dialects.modrule.rule import CompiledRule
from krm_fn.dialects.modrule.scope import TARGET_KINDS, ModRuleScope, request_namespace
from krm_fn.values import Json
from krm_fn.wire import Head

INVOCATION = "dragnet.kubemod.io"


class _Index(NamedTuple):
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

    def __init__(
        self, rules: Sequence[CompiledRule], scope: ModRuleScope, on_error: OnRuleError
    ) -> None:
        self.scope = scope
        self.on_error = on_error
        self._rules = [
            _Index(rule, rule.pinned("kind"), rule.pinned("metadata", "name")) for rule in rules
        ]
        self._reads = {rule.ref: _references_of(rule) for rule in rules}
        self.prefilter = Prefilter(map(self._selection, self._rules))
        self._seen_by: dict[tuple[str, str], list[_Index]] = {}
        self._engines: dict[tuple[CompiledRule, ...], RuleEngine] = {}

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one object, as `AdmissionReview` shows it to the webhook."""
        head = request.head
        if request.trace is not None:
            self._explain(request, cluster, request.trace)
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
        known = references(request, cluster)
        form = KubeModForm(known.value)
        document = form.get(request.object)
        outcome = self._engine(candidates).run(document, namespace, request.trace)
        value, lost = form.put(request.object, outcome.document)
        findings = outcome.findings
        if lost:
            rules = tuple(dict.fromkeys(rule for step in outcome.steps for rule in step.rules))
            message = "a rule writes below syntheticRefs, which is no part of the object"
            findings.append(Finding(Cause.FAILED, True, message, rules, (SYNTHETIC_REFS,)))
        if request.workload is not None:
            findings += self._assumed(candidates, document)
        for member, why in known.unknown:
            message = f"reads syntheticRefs, and {why}"
            findings += (
                Finding(Cause.UNDECIDED, False, message, (rule.ref,))
                for rule in candidates
                if member in self._reads[rule.ref]
            )
        twice = f"KubeMod applies a cluster rule that finds {namespace} twice there; here once"
        findings += (
            Finding(Cause.NOTE, False, twice, (rule.ref,))
            for rule in candidates
            if self.scope.sees_twice(rule, namespace)
        )
        return Response(
            object=None if value is request.object else value,
            steps=tuple(
                Step(
                    step.rules,
                    value
                    if step.object is outcome.document
                    else form.put(request.object, step.object)[0],
                )
                for step in outcome.steps
            ),
            findings=tuple(findings),
            reinvocable=frozenset({INVOCATION}),
            matched=tuple(outcome.matched),
        )

    def _explain(self, request: Request, cluster: Cluster, trace: Trace) -> None:
        """Record what keeps rules from being candidates; those that are record the rest."""
        from krm_fn.dialects.modrule.why import ask_scope

        for entry in self._rules:
            record = trace.rule(entry.rule.ref)
            in_sight = ask_scope(record, self.scope, entry.rule, request, cluster)
            if in_sight and not entry.may_match(request.head):
                form = KubeModForm(references(request, cluster).value)
                matches(entry.rule, form.get(request.object), record)

    @cached_property
    def scopes(self) -> Sequence[RuleScope]:
        """What each rule could be asked about: kinds of the webhook, in sight of the rule."""
        return [self._scope(entry) for entry in self._rules]

    def _scope(self, entry: _Index) -> RuleScope:
        rule = entry.rule
        kinds = entry.kinds
        if kinds is None:
            why = "KubeMod's webhook is not called for such kinds"
        else:
            why = f"it matches {' and '.join(sorted(kinds))} only"
        return RuleScope(
            rule.ref,
            lambda head: self._covers(entry, head),
            lambda head, namespace: (
                namespace not in self.scope.ignored_namespaces
                and self.scope.sees(rule, request_namespace(head, namespace))
            ),
            lambda subjects: self._unseen(rule, subjects),
            why,
            kinds,
            frozenset(rule.spec.admission_operations),
            lambda subjects: self._beyond(entry, subjects),
        )

    def _beyond(self, entry: _Index, subjects: Sequence[Subject]) -> str:
        """What has KubeMod's webhook called for the objects that a rule may match, if it is not."""
        left = [
            subject.resource.plural
            for subject in subjects
            if entry.may_match(subject.head)
            and not self.scope.is_target(subject.head.kind, subject.resource)
        ]
        if not left:
            return ""
        plurals = ", ".join(dict.fromkeys(left))
        return (
            "KubeMod's webhook is called for 21 resources, and these are others: "
            f"modRules.targetResources: [{plurals}] adds them"
        )

    def _covers(self, entry: _Index, head: Head) -> bool:
        is_target = head.kind in TARGET_KINDS or bool(self.scope.target_resources)
        return is_target and entry.may_match(head)

    def _unseen(self, rule: CompiledRule, subjects: Sequence[Subject]) -> str:
        """Why a rule sees none of the objects."""
        scope = self.scope
        home = rule.ref.namespace or f"no namespace: taken as {scope.default_namespace}"
        system = scope.cluster_rules_namespace
        spaces = {request_namespace(subject.head, subject.namespace) for subject in subjects}
        if any(scope.sees(rule, space) for space in spaces):
            ignored = " and ".join(sorted(spaces & scope.ignored_namespaces))
            remedy = f"KubeMod's webhook ignores {ignored} (modRules.ignoredNamespaces)."
        elif not scope.is_cluster_rule(rule):
            remedy = (
                "Set metadata.namespace or context.defaultNamespace, or targetNamespaceRegex in "
                f"{system}."
            )
        elif rule.namespace_regex is not None:
            remedy = "Its targetNamespaceRegex finds none of them."
        else:
            remedy = (
                f"Without targetNamespaceRegex a rule in {system} sees cluster-scoped objects "
                "only; set it (.* for all)."
            )
        where = there(subjects)
        head = subjects[0].head
        none = f"saw none of the {len(subjects)} objects"
        seen = f"did not see {head.kind} {head.name}" if len(subjects) == 1 else none
        return f"ModRule {rule.ref.name} ({home}) {seen}{f'; {where}' if where else ''}. {remedy}"

    # ---------------------------------------------------------------------------- small parts

    @cached_property
    def _asking(self) -> dict[CompiledRule, Asking]:
        """The rules that ask for labels which only controllers set; read for templates alone."""
        found = {entry.rule: asking(entry.rule) for entry in self._rules}
        return {rule: asked for rule, asked in found.items() if asked is not None}

    def _assumed(self, candidates: Sequence[CompiledRule], document: Json) -> Iterator[Finding]:
        """What was taken for granted of the Pod of a template."""
        for rule in candidates:
            asked = self._asking.get(rule)
            unknown = asked.unknown(document) if asked is not None else ()
            if unknown:
                message = (
                    f"asks for a controller-added label ({', '.join(unknown)}), which no template "
                    "has; it is taken for absent"
                )
                yield Finding(Cause.WARNING, False, message, (rule.ref,))

    def _selection(self, entry: _Index) -> Selection:
        kinds = entry.kinds
        if not self.scope.target_resources:
            kinds = TARGET_KINDS if kinds is None else kinds & TARGET_KINDS
        return Selection(kinds=kinds, namespaces=_Seen(self.scope, entry.rule), names=entry.names)

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

    def _engine(self, candidates: tuple[CompiledRule, ...]) -> RuleEngine:
        if candidates not in self._engines:
            self._engines[candidates] = RuleEngine(candidates, self.on_error, self.scope.chance)
        return self._engines[candidates]


_NAMESPACE_NAME: Final = re.compile(
    SYNTHETIC_REFS
    + r"""\.namespace\.metadata\.(?:name\b|labels\[["`]kubernetes\.io/metadata\.name["`]\])"""
)


_MEMBER: Final = re.compile(SYNTHETIC_REFS + r"(?:\.(namespace|node)\b)?")


def _references_of(rule: CompiledRule) -> frozenset[str]:
    """The members of `syntheticRefs` that a rule reads more of than the namespace's name."""
    spec = rule.spec
    texts = [item.select for item in spec.match or ()]
    texts += [text for item in spec.patch for text in (item.select, item.value) if text]
    texts.append(spec.reject_message or "")
    read = {member for text in texts for member in _MEMBER.findall(_NAMESPACE_NAME.sub("", text))}
    return frozenset({"namespace", "node"} if "" in read else read)


def in_order(rules: Sequence[CompiledRule], scope: ModRuleScope) -> list[CompiledRule]:
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


class _Seen:
    """The namespaces that a rule is a candidate in."""

    def __init__(self, scope: ModRuleScope, rule: CompiledRule) -> None:
        self._scope = scope
        self._rule = rule
        self._known: dict[str, bool] = {}

    def __contains__(self, namespace: object) -> bool:
        assert isinstance(namespace, str)
        known = self._known.get(namespace)
        if known is None:
            known = self._known[namespace] = self._scope.sees(self._rule, namespace)
        return known
