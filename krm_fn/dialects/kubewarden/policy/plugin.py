"""The webhook of one policy or group, as Kubewarden's controller registers it.

It tells which requests the policy is asked about, asks it, and puts its decision into the words of
the chain. It knows neither WebAssembly nor how a decision is made.
Source: kubewarden-controller policysubreconciler_webhook.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Phase,
    Prefilter,
    Request,
    Response,
    Step,
    Subject,
)
from krm_fn.admission.coverage import RuleScope, there
from krm_fn.admission.matching import (
    Matched,
    ResourcePrefilter,
    match,
    may_match,
    only_pods,
    operations_of,
    own_namespace,
)
from krm_fn.admission.trace import RuleTrace
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.kubewarden.host.policyhost import PolicyHost
from krm_fn.dialects.kubewarden.policy.answer import PolicyAnswer
from krm_fn.dialects.kubewarden.policy.decision import PolicyDecision, Terms, decide, explanation
from krm_fn.dialects.kubewarden.policy.resource import PolicyResource
from krm_fn.dialects.kubewarden.policy.review import as_version, review
from krm_fn.values import MISSING, Json
from krm_fn.wire import Head

CONTROLLER_NAMESPACE: Final = "kubewarden"


class Evaluator(Protocol):
    """A loaded policy or group with its settings."""

    @property
    def hosts(self) -> Sequence[PolicyHost]:
        """What answers host calls."""
        ...

    def answer(self, request: Json, subject: Json) -> PolicyAnswer:
        """The answer to a request about an object."""
        ...


class Conditions(Protocol):
    """The matchConditions of a policy."""

    def hold(
        self, request: Request, matched: Matched, record: RuleTrace | None = None
    ) -> tuple[bool, str]:
        """Whether all hold, or why nobody can tell. `record` takes each condition."""
        ...


@dataclass(frozen=True, slots=True)
class PolicyDefaults:
    """What all policies of a run have in common."""

    default_namespace: str
    on_error: OnRuleError


class KubewardenPolicy:
    """One policy or group."""

    name = "kubewarden"

    def __init__(
        self,
        resource: PolicyResource,
        judge: Evaluator,
        conditions: Conditions | None,
        common: PolicyDefaults,
        cluster: Cluster,
    ) -> None:
        self.resource = resource
        self.phase = Phase.MUTATING_WEBHOOK if resource.mutating else Phase.VALIDATING_WEBHOOK
        self._home = resource.ref.namespace or common.default_namespace
        unique = resource.unique_name(self._home)
        self.order = (unique, f"{unique}.kubewarden.admission")
        self.prefilter: Prefilter = ResourcePrefilter([resource.constraints], cluster)
        self.scopes = [self._scope(cluster)]
        self._judge = judge
        self._conditions = conditions
        self._common = common
        message = None if resource.is_group else resource.message
        self._terms = Terms(resource.ref.name, resource.mutating, resource.monitor, message)

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Ask the policy about one object, if it is one that the policy is asked about."""
        record = None if request.trace is None else request.trace.rule(self.resource.ref)
        in_sight = self._is_in_sight(request.head, request.namespace)
        if record is not None:
            wants = f"not {CONTROLLER_NAMESPACE}" if self.resource.is_cluster_wide else self._home
            saw = own_namespace(request.head, request.namespace) or "(cluster-scoped)"
            record.ask(f"namespace {wants}", saw, in_sight)
        if not in_sight:
            return Response()
        found = match(self.resource.constraints, request, cluster, record, ("spec",))
        if found.undecided:
            undecided = self._finding(Cause.UNDECIDED, found.undecided)
            return Response(findings=(undecided,), matched=(self.resource.ref,))
        notes = tuple(self._finding(Cause.WARNING, note) for note in found.notes)
        if found.matched is None:
            return Response(findings=notes)
        if self._conditions is not None:
            holds, error = self._conditions.hold(request, found.matched, record)
            if error:
                findings = (*notes, self._condition_failed(error))
                return Response(findings=findings, matched=(self.resource.ref,))
            if not holds:
                return Response(findings=notes)
        return self._ask(request, found.matched, notes, record)

    def _ask(
        self,
        request: Request,
        matched: Matched,
        notes: tuple[Finding, ...],
        record: RuleTrace | None,
    ) -> Response:
        asked = review(request, matched)
        subject = asked["object"]
        answer = self._judge.answer(asked, subject)
        decision = decide(answer, subject, self._terms)
        if record is not None:
            self._tell(record, answer, decision)
        findings = (*notes, *self._findings(decision))
        if decision.object is MISSING:
            return Response(findings=findings, matched=(self.resource.ref,))
        changed = as_version(decision.object, request.head.api_version)
        rules = (self.resource.ref,)
        return Response(changed, (Step(rules, changed),), findings, matched=rules)

    # ---------------------------------------------------------------------------- small parts

    def _tell(self, record: RuleTrace, answer: PolicyAnswer, decision: PolicyDecision) -> None:
        """Record what the policy answered, and the members of a group."""
        for name, accepted in answer.members:
            result = "accepts" if accepted else "rejects"
            record.effect(f"member {name}", result, field=("spec", "policies", name))
        if decision.fault is not None:
            result = f"failed: {decision.fault.message}"
        elif not decision.allowed or decision.would_reject is not None:
            result = f"rejects: {decision.would_reject or decision.message or 'without a message'}"
        else:
            result = "accepts" if decision.object is MISSING else "changes the object"
        mode = "monitor" if self.resource.monitor else "protect"
        record.effect(f"the policy (mode {mode})", result)
        for host in self._judge.hosts:
            for line in host.log:
                record.effect("log", line)

    def _scope(self, cluster: Cluster) -> RuleScope:
        constraints = self.resource.constraints
        return RuleScope(
            self.resource.ref,
            partial(may_match, constraints, cluster=cluster),
            self._is_in_sight,
            self._unseen,
            "its rules name other resources",
            frozenset({"Pod"}) if only_pods(constraints) else None,
            operations_of(constraints),
            suspicious=True,
        )

    def _unseen(self, subjects: Sequence[Subject]) -> str:
        where = there(subjects)
        if self.resource.is_cluster_wide:
            sight = f"sees no object in {CONTROLLER_NAMESPACE}, Kubewarden's own namespace"
        else:
            sight = f"sees objects in {self._home} only"
        return f"{sight}{f'; {where}' if where else ''}"

    def _is_in_sight(self, head: Head, namespace: str) -> bool:
        """Whether an object is where the policy looks: its namespace, or all but Kubewarden's."""
        space = own_namespace(head, namespace)
        if self.resource.is_cluster_wide:
            return self.resource.inside_own_namespace or space != CONTROLLER_NAMESPACE
        return bool(namespace) and namespace == self._home

    def _finding(self, cause: Cause, message: str, denies: bool = False) -> Finding:
        return Finding(cause, denies, message, (self.resource.ref,))

    def _condition_failed(self, error: str) -> Finding:
        """In a cluster the API server rejects, or does not ask the policy, as it is told."""
        message = f"matchConditions cannot be evaluated: {error}"
        if self.resource.ignores_failure:
            return self._finding(Cause.WARNING, f"{message}; not asked (failurePolicy: Ignore)")
        return self._finding(Cause.FAILED, message, True)

    def _findings(self, decision: PolicyDecision) -> list[Finding]:
        findings: list[Finding] = []
        fault = decision.fault
        if decision.would_reject is not None:
            said = f"{fault.kind}: {fault.message}" if fault else decision.would_reject
            message = f"mode monitor; in mode protect it would reject: {said}"
            findings.append(self._finding(Cause.WARNING, message))
        elif fault is not None:
            findings.append(self._failed(decision))
        elif not decision.allowed:
            findings.append(
                Finding(
                    Cause.REJECTED,
                    True,
                    explanation(decision.message, decision.reason),
                    (self.resource.ref,),
                    code=decision.code or 0,
                    reason=decision.reason or "",
                    details=self._details(decision),
                )
            )
        findings += (self._finding(Cause.WARNING, one) for one in decision.warnings or ())
        findings += (
            self._finding(Cause.AUDIT, f"{key}: {text}")
            for key, text in sorted((decision.audit or {}).items())
        )
        return [*findings, *self._host_findings()]

    def _failed(self, decision: PolicyDecision) -> Finding:
        fault = decision.fault
        assert fault is not None
        message = f"{fault.kind}: {fault.message}"
        if decision.message and decision.message not in (fault.message, fault.said):
            message = f"{decision.message} ({message})"
        elif fault.said and fault.message not in fault.said:
            message = f"{message}: {fault.said}"
        if self._common.on_error is OnRuleError.WARN:
            return self._finding(Cause.FAILED, f"{message}; the object passes (onRuleError: Warn)")
        return Finding(
            Cause.FAILED,
            True,
            message,
            (self.resource.ref,),
            code=decision.code or 0,
            details=self._details(decision),
        )

    def _details(self, decision: PolicyDecision) -> tuple[Finding, ...]:
        details = []
        for cause in decision.causes or ():
            text = ": ".join(str(cause[key]) for key in ("field", "message") if cause.get(key))
            fault = decision.member_faults.get(cause.get("field", ""))
            if fault is not None and fault.message not in text:
                text = f"{text} ({fault.kind}: {fault.message})"
            details.append(self._finding(Cause.REJECTED, text))
        return tuple(details)

    def _host_findings(self) -> list[Finding]:
        findings: list[Finding] = []
        for host in self._judge.hosts:
            findings += (
                self._finding(
                    Cause.WARNING,
                    f"asked for {what}, which needs the network or a cluster; record the answer in "
                    "kubewarden.answers",
                )
                for what in dict.fromkeys(host.refused)
            )
            findings += (self._finding(Cause.NOTE, f"log: {line}") for line in host.log)
            host.refused.clear()
            host.log.clear()
        return findings
