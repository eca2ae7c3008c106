"""One request on its way through policies of either kind: what the dispatcher finds, in order.

Source: apiserver v0.37, pkg/admission/plugin/policy/generic/policy_dispatcher.go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from krm_fn.admission import Cause, Cluster, Finding, Request, RuleRef
from krm_fn.admission.trace import RuleTrace
from krm_fn.dialects.policies.common import Settings, undecided_namespace
from krm_fn.dialects.policies.dispatch import (
    Dispatcher,
    Invocation,
    Misconfiguration,
    Noted,
    Undecided,
)
from krm_fn.dialects.policies.expressions import EvaluationContext
from krm_fn.dialects.policies.spec import Binding, Policy


@dataclass(slots=True)
class PolicyOutcome:
    """What policies of either kind came to, besides what each kind does."""

    findings: list[Finding] = field(default_factory=list)
    """What there is to say besides a denial."""
    matched: dict[RuleRef, None] = field(default_factory=dict)
    """The policies whose conditions held."""


class PolicyEvaluation(ABC):
    """The state of one request; each kind says what an invocation and a misconfiguration do."""

    outcome: PolicyOutcome

    def __init__(self, settings: Settings, request: Request, cluster: Cluster) -> None:
        self.settings = settings
        self.request = request
        self.cluster = cluster

    def dispatch(self, dispatcher: Dispatcher) -> None:
        """Do what is to be done for each policy, in the order of the dispatcher."""
        for found in dispatcher.find(self.request, self.cluster):
            match found:
                case Invocation():
                    self.invoke(found)
                case Misconfiguration(policy, binding, message):
                    self.misconfigured(policy, binding, message)
                case Undecided(policy, why):
                    self.outcome.matched[policy.ref] = None
                    self.report(Cause.UNDECIDED, policy, why)
                case Noted(policy, what):
                    self.report(Cause.WARNING, policy, what)

    def context(self) -> EvaluationContext:
        """What all policies see of the request besides the object."""
        return EvaluationContext(
            self.request,
            self.cluster,
            self.settings.typed,
            self.settings.authorizer,
            in_place=self.settings.in_place,
        )

    @abstractmethod
    def invoke(self, invocation: Invocation) -> None:
        """Evaluate a policy, through one binding and with one param."""

    @abstractmethod
    def misconfigured(self, policy: Policy, binding: Binding | None, message: str) -> None:
        """A policy, or one of its bindings, cannot be used for the request."""

    def report(self, cause: Cause, policy: Policy, message: str) -> None:
        """A finding about a policy that denies nothing."""
        self.outcome.findings.append(Finding(cause, False, message, (policy.ref,)))

    def record(self, policy: Policy) -> RuleTrace | None:
        """What takes the criteria of a policy, where somebody asks."""
        return None if self.request.trace is None else self.request.trace.rule(policy.ref)

    def undecided_namespace(self, policy: Policy) -> None:
        """A policy reads what nobody knows of the request's namespace."""
        finding = undecided_namespace(policy, self.request)
        self.outcome.findings.append(finding)
        record = self.record(policy)
        if record is not None:
            saw = f"of {self.request.namespace} only the name is known"
            record.ask("a namespace that is known", saw, None, hint=finding.message)
