"""MutatingAdmissionPolicy as a plugin of the chain: one, however many policies there are.

Source: apiserver v0.37, pkg/admission/plugin/policy/mutating/dispatcher.go and
pkg/admission/plugin/policy/generic/policy_dispatcher.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final

from krm_fn.admission import (
    Cause,
    Cluster,
    Finding,
    Operation,
    Phase,
    Prefilter,
    Request,
    Response,
    RuleRef,
    Step,
)
from krm_fn.admission.matching import Matched, ResourcePrefilter
from krm_fn.dialects.policies.common import (
    Settings,
    ignored_error,
    scopes_of,
)
from krm_fn.dialects.policies.denial import Because, Denial, MutationRefusedError, internal_error
from krm_fn.dialects.policies.dispatch import (
    Dispatcher,
    Invocation,
    is_excluded,
)
from krm_fn.dialects.policies.evaluation import PolicyEvaluation, PolicyOutcome
from krm_fn.dialects.policies.expressions import CompiledPolicy, Copy, EvaluationContext
from krm_fn.dialects.policies.hints import hinted
from krm_fn.dialects.policies.patching import Changed, Objects, as_json
from krm_fn.dialects.policies.spec import APPLY, IF_NEEDED, IGNORE, Binding, Mutation, Policy
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.kube.cel import Pool, PoolError, evaluate, json_patch, object_patch
from krm_fn.kube.cel.evaluation import Recording
from krm_fn.kube.cel.objects import JSON_PATCH, OBJECT
from krm_fn.lang.cel import Program, types
from krm_fn.values import MISSING, Json, Path, compact, diff, equal, format_path

CONDITIONS = "conditions"
"""The key under which a second pass matches and evaluates conditions again, for all policies.

There is one if anything changed the object, be it a policy or a webhook.
"""


class Mutator:
    """One mutation, compiled."""

    def __init__(
        self, policy: Policy, index: int, mutation: Mutation, compiled: CompiledPolicy
    ) -> None:
        self.ref = replace(policy.ref, part=f"spec.mutations[{index}]")
        part = "applyConfiguration" if mutation.patch_type == APPLY else "jsonPatch"
        self.path: Path = ("spec", "mutations", index, part, "expression")
        self.source = mutation.expression or ""
        self._applies = mutation.patch_type == APPLY
        self._variables = compiled.variables
        returns = OBJECT if self._applies else types.list_of(JSON_PATCH)
        self.program: Program | CompileError
        try:
            self.program = compiled.extended(mutation=True).compile(self.source, [returns])
        except CompileError as error:
            self.program = error

    def mutate(
        self,
        live: Json,
        bindings: dict[str, Any],
        objects: Objects,
        recordings: list[Recording] | None = None,
    ) -> Changed:
        """The object after this mutation; `recordings` take the values of its parts.

        Raises EvaluationError for what failurePolicy covers, MutationRefusedError for what it
        does not.
        """
        objects.check_known(live)
        if isinstance(self.program, CompileError):
            raise EvaluationError(self.program.message)
        pool = Pool(recordings=recordings)
        bound = self._variables.bind(bindings, pool)
        try:
            value, joined = evaluate(self.program, bound, pool)
        except PoolError:
            raise
        except EvaluationError as error:
            text = f"expression '{self.source}' resulted in error: {error.message}"
            raise EvaluationError(text) from None
        seen = [bindings["object"], bindings["oldObject"], bindings["params"]]
        if self._applies:
            return objects.merge(live, object_patch(value, seen, joined))
        return objects.patch(live, json_patch(value, seen, joined))


_EDITS: Final = 3


def _effect(before: Json, after: Json) -> str:
    """What a mutation did: `wrote spec.replicas: 3`."""
    edits = list(islice(diff(before, after), _EDITS + 1))
    if not edits:
        return "changed nothing"
    shown = [
        f"removed {format_path(edit.path)}"
        if edit.new is MISSING
        else f"wrote {format_path(edit.path)}: {compact(edit.new)}"
        for edit in edits[:_EDITS]
    ]
    return "; ".join(shown) + ("; ..." if len(edits) > _EDITS else "")


class _Policy(CompiledPolicy):
    """A policy with its mutators, of which there may be too few."""

    def __init__(self, policy: Policy, version: tuple[int, int]) -> None:
        super().__init__(policy, version)
        self.mutators = [
            Mutator(policy, n, mutation, self)
            for n, mutation in enumerate(policy.mutations)
            if mutation.expression is not None
        ]


@dataclass(slots=True, kw_only=True)
class MutationOutcome(PolicyOutcome):
    """What one pass of the policies came to."""

    object: Json
    lean: Json
    """The object without the defaults of what policies added."""
    steps: list[Step] = field(default_factory=list)
    denial: Denial | None = None
    reinvocable: set[str] = field(default_factory=set)
    dirty: bool = False


class MutatingPolicies:
    """All MutatingAdmissionPolicies of a run, in the order of their names."""

    name = "mutating policies"
    phase = Phase.MUTATING_POLICY
    order = ("", "")

    def __init__(
        self,
        bound: Sequence[tuple[Policy, Sequence[Binding]]],
        settings: Settings,
        objects: Objects,
    ) -> None:
        self._settings = settings
        self._objects = objects
        self._compiled = {policy.name: _Policy(policy, settings.version) for policy, _ in bound}
        self._bound = bound = [pair for pair in bound if pair[1]]
        self.scopes = scopes_of((policy for policy, _ in bound), settings.cluster)
        self._dispatcher = Dispatcher(bound, settings.schemas, settings.stored)
        constraints = [policy.constraints for policy, _ in bound if policy.constraints is not None]
        self.prefilter: Prefilter = ResourcePrefilter(constraints, settings.cluster)
        # Only these can come to anything in a second pass that they did not come to in the first.
        self._may_err = any(
            policy.conditions or policy.param_kind or any(b.constraints for b in bindings)
            for policy, bindings in bound
        )

    def admit(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
    ) -> Response:
        """Admit one object."""
        shown = self._settings.shown(request)
        outcome = self.evaluate(shown.request, cluster, only)
        findings = tuple(outcome.findings)
        if self._settings.lint and only is None and len(outcome.steps) > 1:
            findings += tuple(self._in_another_order(shown.request, cluster, outcome))
        if outcome.denial is not None:
            findings = (*(hinted(one) for one in outcome.denial.findings()), *findings)
        changed = outcome.object is not shown.request.object
        return Response(
            object=shown.put(outcome.lean) if changed else None,
            steps=tuple(step._replace(object=shown.put(step.object)) for step in outcome.steps),
            findings=findings,
            reinvocable=frozenset(outcome.reinvocable),
            dirty=outcome.dirty,
            matched=tuple(outcome.matched),
        )

    def _in_another_order(
        self, request: Request, cluster: Cluster, outcome: MutationOutcome
    ) -> Iterator[Finding]:
        """A warning where policies in the reverse order make another object."""
        reverse = self.evaluate(request, cluster, reverse=True)
        if equal(reverse.object, outcome.object) and reverse.denial == outcome.denial:
            return
        rules = tuple(
            dict.fromkeys(replace(rule, part="") for step in outcome.steps for rule in step.rules)
        )
        message = "what policies make of the object depends on their order, which no cluster keeps"
        yield Finding(Cause.WARNING, False, message, rules)

    def evaluate(
        self,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None = None,
        *,
        reverse: bool = False,
    ) -> MutationOutcome:
        """One pass over all policies, or over them in `reverse`; `only` as in `admit`."""
        if is_excluded(request) or request.operation is Operation.DELETE:
            return MutationOutcome(object=request.object, lean=request.object)
        run = _Pass(self, request, cluster, only, reverse=reverse)
        try:
            run.run()
        except MutationRefusedError as refused:
            run.outcome.denial = refused.denial
            run.outcome.object = run.outcome.lean = request.object
            run.outcome.steps = []
            run.outcome.dirty = False
            run.outcome.reinvocable.clear()
        return run.outcome

    @property
    def is_active(self) -> bool:
        """Whether any policy has a binding."""
        return bool(self._bound)

    def compile_errors(self) -> Iterator[tuple[RuleRef, Path, str]]:
        """Expressions that do not compile: the policy, where, and why."""
        for compiled in self._compiled.values():
            yield from compiled.compile_errors()
            for mutator in compiled.mutators:
                if isinstance(mutator.program, CompileError):
                    yield compiled.policy.ref, mutator.path, mutator.program.message


class _Pass(PolicyEvaluation):
    """The state of one pass over the policies."""

    outcome: MutationOutcome

    def __init__(
        self,
        plugin: MutatingPolicies,
        request: Request,
        cluster: Cluster,
        only: frozenset[str] | None,
        *,
        reverse: bool,
    ) -> None:
        super().__init__(plugin._settings, request, cluster)
        self.reverse = reverse
        self.plugin = plugin
        self.only = only
        self.outcome = MutationOutcome(object=request.object, lean=request.object)
        self.copies: dict[Matched, Copy] = {}
        self.steps: dict[Matched, list[Step]] = {}
        self.last: Copy | None = None
        self.errors: list[tuple[Policy, Because, str]] = []
        self.invocations: list[Invocation] = []

    def run(self) -> None:
        """All matches are decided on the object as it comes, before any policy changes it."""
        self.dispatch(self.plugin._dispatcher)
        context = self.context()
        for invocation in reversed(self.invocations) if self.reverse else self.invocations:
            self.evaluate(invocation, context)
        self.finish()

    def invoke(self, invocation: Invocation) -> None:
        self.invocations.append(invocation)

    def evaluate(self, invocation: Invocation, context: EvaluationContext) -> None:
        policy = invocation.policy
        compiled = self.plugin._compiled[policy.name]
        if len(compiled.mutators) != len(policy.mutations):
            raise internal_error(
                f"expected {len(policy.mutations)} compiled evaluators for policy {policy.name}, "
                f"got {len(compiled.mutators)}"
            ).by(policy.ref)
        schemas = self.settings.schemas
        copy = self.copies.get(invocation.matched)
        if copy is None:
            copy = Copy(invocation.matched, self.request, schemas, lazy=False)
            self.copies[invocation.matched] = copy
        if policy.conditions:
            if self.settings.in_place:
                copy.read_in_place()
            seen = {**context.condition_bindings(invocation, compiled, schemas), **copy.bindings()}
            decision = compiled.decide(seen, self.record(policy))
            if decision.error or decision.ignored:
                self.failed(invocation, decision.error or decision.ignored)
            if not decision.holds:
                return
        self.outcome.matched[policy.ref] = None
        if self.only is not None and invocation.key not in self.only:
            return
        if compiled.reads_unknown and not context.known_namespace():
            self.undecided_namespace(policy)
            return
        bindings = context.bindings(invocation, compiled, schemas)
        for mutator in compiled.mutators:
            self.last = copy
            recordings: list[Recording] | None = None if self.request.trace is None else []
            objects = self.plugin._objects
            try:
                seen = {**bindings, **copy.bindings()}
                after = mutator.mutate(copy.value, seen, objects, recordings)
            except EvaluationError as error:
                self.tell_effect(policy, mutator, f"failed: {error.message}", recordings)
                self.failed(invocation, error.message)
                continue
            except MutationRefusedError as refused:
                self.tell_effect(policy, mutator, f"refused: {refused}", recordings)
                raise refused.by(mutator.ref) from None
            if recordings is not None:
                effect = _effect(copy.value, after.object)
                self.tell_effect(policy, mutator, effect, recordings)
            lean = self.plugin._objects.carried(copy.lean, copy.value, after.raw)
            if after.object is not copy.value:
                self.steps.setdefault(invocation.matched, []).append(Step((mutator.ref,), lean))
            copy.set(after.object, lean)
        if policy.reinvocation == IF_NEEDED:
            self.outcome.reinvocable.add(invocation.key)

    def tell_effect(
        self, policy: Policy, mutator: Mutator, effect: str, recordings: list[Recording] | None
    ) -> None:
        """Record what a mutation did, with the parts of its expression."""
        record = self.record(policy)
        if record is None or recordings is None:
            return
        from krm_fn.admission.parts import parts_of

        path = mutator.path
        record.effect(
            mutator.source, effect, field=path, parts=partial(parts_of, tuple(recordings))
        )

    def finish(self) -> None:
        """Take the last copy's object, as upstream does, and the errors that are not ignored."""
        outcome = self.outcome
        if self.last is not None and self.last.dirty:
            own = self.request.object["apiVersion"]
            outcome.dirty = True
            outcome.object = self.in_own_version(self.last.value, own)
            outcome.lean = self.in_own_version(self.last.lean, own)
            outcome.steps = [
                step._replace(object=self.in_own_version(step.object, own))
                for step in self.steps.get(self.last.matched, ())
            ]
        if self.plugin._may_err:
            outcome.reinvocable.add(CONDITIONS)
        failing = []
        for policy, because, reason in self.errors:
            if policy.failure_policy == IGNORE:
                outcome.findings.append(ignored_error(because.message, *because.rules))
            else:
                failing.append((because, reason))
        if failing:
            first, reason = failing[0]
            causes = tuple(because for because, _ in failing)
            outcome.denial = Denial(first.message, reason, 403, causes)
            outcome.reinvocable.clear()

    def in_own_version(self, value: Json, own: str) -> Json:
        """A copy's object as the request has it: in its version, and as JSON reads back."""
        if self.settings.schemas.kind(value["apiVersion"], value["kind"]) is None:
            value = as_json(value)
        assert self.last is not None
        if value["apiVersion"] == own or value["apiVersion"] != self.last.matched.api_version:
            return value
        return {**value, "apiVersion": own}

    def failed(self, invocation: Invocation, message: str) -> None:
        policy, binding = invocation.policy, invocation.binding
        text = f"policy '{policy.name}' with binding '{binding.name}' denied request: {message}"
        self.errors.append((policy, Because(text, (policy.ref,)), "Invalid"))

    def misconfigured(self, policy: Policy, binding: Binding | None, message: str) -> None:
        if binding is None:
            text = f'policy "{policy.name}" denied request: failed to configure policy: {message}'
        else:
            text = (
                f"policy '{policy.name}' with binding '{binding.name}' denied request: failed to "
                f"configure binding: {message}"
            )
        self.errors.append((policy, Because(text, (policy.ref,)), "Forbidden"))
