"""ValidatingAdmissionPolicy as a plugin of the chain: one, however many policies there are.

Source: apiserver v0.37, pkg/admission/plugin/policy/validating/{dispatcher,validator}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Phase,
    Prefilter,
    Request,
    Response,
    RuleRef,
)
from krm_fn.admission.conditions import Expression, Result, compile_expression, evaluate_all
from krm_fn.admission.matching import Matched, ResourcePrefilter
from krm_fn.admission.trace import RuleTrace
from krm_fn.dialects.policies.common import (
    Settings,
    ignored_error,
    scopes_of,
)
from krm_fn.dialects.policies.denial import Because, Denial
from krm_fn.dialects.policies.dispatch import (
    Dispatcher,
    Invocation,
    is_excluded,
)
from krm_fn.dialects.policies.evaluation import PolicyEvaluation, PolicyOutcome
from krm_fn.dialects.policies.expressions import CompiledPolicy, Copy
from krm_fn.dialects.policies.hints import hinted
from krm_fn.dialects.policies.spec import FAIL, IGNORE, SPACE, Binding, Policy, Validation
from krm_fn.errors import CompileError
from krm_fn.kube.cel import Pool, PoolError
from krm_fn.lang.cel import types
from krm_fn.lang.go.json.encode import marshal
from krm_fn.values import Path

_MESSAGE_BYTES: Final = 5 * 1024
_ANNOTATION_BYTES: Final = 10 * 1024
_FAILURES: Final = 50
"""How many failures the audit annotation lists."""

FAILURE_KEY: Final = "validation.policy.admission.k8s.io/validation_failure"

_CODES: Final = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}


class Judgement(NamedTuple):
    """What one validation came to: `message` is "" where the object is fine."""

    message: str
    reason: str = ""
    failed: bool = False
    """Whether it could not be evaluated."""


_FINE: Final = Judgement("")


class PolicyVerdict(NamedTuple):
    """What a policy says of one object; `annotations` are (key, value), `errors` those of them.

    `ignored` are errors that failurePolicy covers.
    """

    judgements: tuple[Judgement, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    errors: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class _Policy(CompiledPolicy):
    """A policy with its validations and audit annotations, compiled."""

    def __init__(self, policy: Policy, version: tuple[int, int]) -> None:
        super().__init__(policy, version)
        env = self.extended()
        for_messages = self.extended(authorizer=False)
        self.validations: list[Expression | None] = [
            compile_expression(one.expression, env, [types.BOOL]) for one in policy.validations
        ]
        self.messages: list[Expression | None] = [
            compile_expression(one.message_expression, for_messages, [types.STRING])
            if one.message_expression
            else None
            for one in policy.validations
        ]
        self.annotations: list[Expression | None] = [
            compile_expression(one.expression, env, [types.STRING, types.NULL])
            for one in policy.audit_annotations
        ]

    def own_expressions(self) -> Iterator[tuple[Path, Expression]]:
        """The expressions of validations and audit annotations, and where they stand."""
        for part, name, expressions in (
            ("validations", "expression", self.validations),
            ("validations", "messageExpression", self.messages),
            ("auditAnnotations", "valueExpression", self.annotations),
        ):
            for n, expression in enumerate(expressions):
                if expression is not None:
                    yield ("spec", part, n, name), expression

    def judge(self, bindings: dict[str, Any], record: RuleTrace | None = None) -> PolicyVerdict:
        """What the policy says of an object for which its conditions hold.

        `record` takes each validation with its parts.
        """
        pool = Pool(recordings=None if record is None else [])
        try:
            results = evaluate_all(self.validations, self.variables, bindings, pool)
        except PoolError as error:
            return self._failed(error.message)
        without = {key: bound for key, bound in bindings.items() if key not in _AUTHORIZER}
        spent = ""
        messages: list[Result] = []
        try:
            messages = evaluate_all(self.messages, self.variables, without, pool)
        except PoolError as error:
            spent = f"failed messageExpression: {error.message}"
        if record is not None:
            for n, result in enumerate(results):
                validation = self.policy.validations[n]
                record.effect(
                    validation.expression,
                    result.text,
                    field=("spec", "validations", n),
                    parts=result.parts,
                )
        judgements: list[Judgement] = []
        ignored: list[str] = []
        for n, (validation, result) in enumerate(
            zip(self.policy.validations, results, strict=True)
        ):
            if result.error or spent:
                failed = self._failed(result.error or spent)
                judgements += failed.judgements
                ignored += failed.ignored
            elif result.value is True:
                judgements.append(_FINE)
            else:
                message = _message(validation, messages[n])
                judgements.append(Judgement(message, validation.reason or "Invalid"))
        verdict = PolicyVerdict(tuple(judgements), ignored=tuple(dict.fromkeys(ignored)))
        return self._with_annotations(verdict, without)

    def _with_annotations(self, verdict: PolicyVerdict, bindings: dict[str, Any]) -> PolicyVerdict:
        try:
            results = evaluate_all(self.annotations, self.variables, bindings, Pool())
        except PoolError as error:
            return self._failed(error.message)
        annotations = []
        errors = []
        for named, result in zip(self.policy.audit_annotations, results, strict=True):
            if result.error:
                errors.append(result.error)
            elif type(result.value) is str and result.value.strip(SPACE):
                annotations.append((named.name, result.value.strip(SPACE)))
        verdict = verdict._replace(annotations=tuple(annotations))
        if self.policy.failure_policy == IGNORE:
            return verdict._replace(ignored=(*verdict.ignored, *errors))
        return verdict._replace(errors=tuple(errors))

    def _failed(self, message: str) -> PolicyVerdict:
        if self.policy.failure_policy == IGNORE:
            return PolicyVerdict((_FINE,), ignored=(message,))
        return PolicyVerdict((Judgement(message, failed=True),))


_AUTHORIZER: Final = ("authorizer", "authorizer.requestResource")


def _message(validation: Validation, result: Result) -> str:
    """What a failed validation says: the first of these that is not blank."""
    if type(result.value) is str:
        text = result.value.strip(SPACE)
        short = len(text.encode("utf-8", "surrogatepass")) <= _MESSAGE_BYTES
        if text and short and "\n" not in text:
            return text
    text = validation.message.strip(SPACE)
    return text or f"failed expression: {validation.expression.strip(SPACE)}"


@dataclass(slots=True)
class ValidationOutcome(PolicyOutcome):
    """What the policies came to."""

    denial: Denial | None = None
    others: tuple[Because, ...] = ()
    """Denials after the first, which the API server does not tell."""
    warnings: list[tuple[str, RuleRef]] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    """Audit annotations."""
    annotated: dict[str, dict[RuleRef, None]] = field(default_factory=dict)
    """The policies that an audit annotation comes from."""


class ValidatingPolicies:
    """All ValidatingAdmissionPolicies of a run, in the order of their names."""

    name = "validating policies"
    phase = Phase.VALIDATING_POLICY
    order = ("", "")

    def __init__(
        self, bound: Sequence[tuple[Policy, Sequence[Binding]]], settings: Settings
    ) -> None:
        self._settings = settings
        self._compiled = {policy.name: _Policy(policy, settings.version) for policy, _ in bound}
        self._bound = bound = [pair for pair in bound if pair[1]]
        self.scopes = scopes_of((policy for policy, _ in bound), settings.cluster)
        self._dispatcher = Dispatcher(bound, settings.schemas, settings.stored)
        constraints = [policy.constraints for policy, _ in bound if policy.constraints is not None]
        self.prefilter: Prefilter = ResourcePrefilter(constraints, settings.cluster)

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Judge one object."""
        outcome = self.evaluate(self._settings.shown(request).request, cluster)
        findings: list[Finding] = []
        if outcome.denial is not None:
            findings += map(hinted, outcome.denial.findings())
            code, reason = outcome.denial.code, outcome.denial.reason
            others = Denial("", reason, code, outcome.others)
            findings += map(hinted, others.findings() if outcome.others else ())
        findings += (
            Finding(Cause.WARNING, False, message, (ref,)) for message, ref in outcome.warnings
        )
        findings += (
            Finding(
                Cause.AUDIT,
                False,
                f"audit annotation {key}: {value}",
                tuple(outcome.annotated[key]),
            )
            for key, value in outcome.annotations.items()
        )
        return Response(findings=(*findings, *outcome.findings), matched=tuple(outcome.matched))

    def evaluate(self, request: Request, cluster: Cluster) -> ValidationOutcome:
        """What all policies say of one request."""
        if is_excluded(request):
            return ValidationOutcome()
        run = _Run(self, request, cluster)
        run.run()
        return run.outcome

    @property
    def is_active(self) -> bool:
        """Whether any policy has a binding."""
        return bool(self._bound)

    def compile_errors(self) -> Iterator[tuple[RuleRef, Path, str]]:
        """Expressions that do not compile: the policy, where, and why."""
        for compiled in self._compiled.values():
            yield from compiled.compile_errors()
            for path, expression in compiled.own_expressions():
                if isinstance(expression.program, CompileError):
                    yield compiled.policy.ref, path, expression.program.message


class _Denied(NamedTuple):
    because: Because
    reason: str


class _Run(PolicyEvaluation):
    """The state of one request on its way through the policies."""

    outcome: ValidationOutcome

    def __init__(self, plugin: ValidatingPolicies, request: Request, cluster: Cluster) -> None:
        super().__init__(plugin._settings, request, cluster)
        self.plugin = plugin
        self.outcome = ValidationOutcome()
        self.copies: dict[Matched, Copy] = {}
        self.denied: list[_Denied] = []
        self.failures: list[dict[str, Any]] = []
        self.values: dict[str, list[str]] = {}
        self.seen = self.context()

    def run(self) -> None:
        self.dispatch(self.plugin._dispatcher)
        self.finish()

    def invoke(self, invocation: Invocation) -> None:
        context = self.seen
        compiled = self.plugin._compiled[invocation.policy.name]
        schemas = self.settings.schemas
        copy = self.copies.get(invocation.matched)
        if copy is None:
            copy = Copy(invocation.matched, self.request, schemas, lazy=self.settings.in_place)
            self.copies[invocation.matched] = copy
        objects = copy.bindings()
        if invocation.policy.conditions:
            seen = {**context.condition_bindings(invocation, compiled, schemas), **objects}
            decision = compiled.decide(seen, self.record(invocation.policy))
            if decision.error:
                self.act(invocation, 0, Judgement(decision.error, failed=True))
            if decision.ignored:
                self.ignore(invocation.policy, invocation.binding, decision.ignored)
            if not decision.holds:
                return
        self.outcome.matched[invocation.policy.ref] = None
        if compiled.reads_unknown and not context.known_namespace():
            self.undecided_namespace(invocation.policy)
            return
        seen = {**context.bindings(invocation, compiled, schemas), **objects}
        verdict = compiled.judge(seen, self.record(invocation.policy))
        for n, judgement in enumerate(verdict.judgements):
            if judgement.message:
                self.act(invocation, n, judgement)
        for key, value in verdict.annotations:
            name = f"{invocation.policy.name}/{key}"
            self.outcome.annotated.setdefault(name, {})[invocation.policy.ref] = None
            values = self.values.setdefault(name, [])
            value = _cut(value)
            if value not in values:
                values.append(value)
        for message in verdict.ignored:
            self.ignore(invocation.policy, invocation.binding, message)
        for error in verdict.errors:
            self.deny(invocation.policy, invocation.binding, Judgement(error, failed=True))

    def act(self, invocation: Invocation, index: int, judgement: Judgement) -> None:
        """Do with a judgement what the binding says."""
        policy, binding = invocation.policy, invocation.binding
        for action in binding.actions:
            if action == "Deny":
                self.deny(policy, binding, judgement)
            elif action == "Warn":
                message = (
                    f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with binding "
                    f"'{binding.name}': {judgement.message}"
                )
                self.outcome.warnings.append((message, policy.ref))
            elif action == "Audit":
                self.outcome.annotated.setdefault(FAILURE_KEY, {})[policy.ref] = None
                self.failures.append(
                    {
                        "message": judgement.message,
                        "policy": binding.policy_name,
                        "binding": binding.name,
                        "expressionIndex": index,
                        "validationActions": list(binding.actions),
                    }
                )

    def deny(self, policy: Policy, binding: Binding | None, judgement: Judgement) -> None:
        bound = "" if binding is None else f" with binding '{binding.name}'"
        message = (
            f"ValidatingAdmissionPolicy '{policy.name}'{bound} denied request: {judgement.message}"
        )
        because = Because(message, (policy.ref,), judgement.failed)
        self.denied.append(_Denied(because, judgement.reason or "Invalid"))

    def ignore(self, policy: Policy, binding: Binding | None, message: str) -> None:
        bound = "" if binding is None else f" with binding '{binding.name}'"
        text = f"ValidatingAdmissionPolicy '{policy.name}'{bound}: {message}"
        self.outcome.findings.append(ignored_error(text, policy.ref))

    def misconfigured(self, policy: Policy, binding: Binding | None, message: str) -> None:
        what = "policy" if binding is None else "binding"
        text = f"failed to configure {what}: {message}"
        if policy.failure_policy == IGNORE:
            self.ignore(policy, binding, text)
            return
        if policy.failure_policy != FAIL:
            text = f"unrecognized failure policy: '{policy.failure_policy}'"
        self.deny(policy, binding, Judgement(text, failed=True))

    def finish(self) -> None:
        outcome = self.outcome
        for key, values in self.values.items():
            outcome.annotations[key] = ", ".join(values)
        if self.failures:
            outcome.annotations[FAILURE_KEY] = marshal(self.failures[:_FAILURES], sort=False)
        if self.denied:
            first = self.denied[0]
            code = _CODES.get(first.reason, 422)
            outcome.denial = Denial(first.because.message, first.reason, code, (first.because,))
            outcome.others = tuple(dict.fromkeys(one.because for one in self.denied[1:]))


def _cut(value: str) -> str:
    """The first bytes of a value; part of a character that is cut off is left out."""
    data = value.encode("utf-8", "surrogatepass")
    if len(data) <= _ANNOTATION_BYTES:
        return value
    return data[:_ANNOTATION_BYTES].decode("utf-8", "ignore")
