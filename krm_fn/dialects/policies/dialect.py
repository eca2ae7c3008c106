"""Policies and their bindings, from manifests to the two plugins.

Collects everything that is wrong and says it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from krm_fn.admission import Cause, Plugin, Rule
from krm_fn.admission.activation import Authorizer
from krm_fn.config.dialect import CompileContext
from krm_fn.config.fields import Section
from krm_fn.dialects.policies.common import Settings, TypesOnly
from krm_fn.dialects.policies.mutating import MutatingPolicies
from krm_fn.dialects.policies.patching import Objects, Serves
from krm_fn.dialects.policies.spec import (
    GROUP,
    MUTATING,
    MUTATING_BINDING,
    VALIDATING,
    VALIDATING_BINDING,
    VERSION,
    Binding,
    Policy,
    bound_to_everything,
    read_binding,
    read_policy,
)
from krm_fn.dialects.policies.validating import ValidatingPolicies
from krm_fn.dialects.policies.validation import (
    STATIC_AT_ALL,
    FieldProblem,
    of_binding,
    of_name,
    of_policy,
    of_static_binding,
    of_static_policy,
)
from krm_fn.errors import ConfigError, DecodeError
from krm_fn.kube.cel import READ_IN_PLACE_SINCE, STORED, parse_version, version_of_new
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.kube.served.strict import unknown_fields
from krm_fn.values import Json, format_path

PolicyPlugin = MutatingPolicies | ValidatingPolicies


class UnknownKind(StrEnum):
    """What an ApplyConfiguration does to a kind of which nobody knows a schema."""

    FAIL = "Fail"
    DEDUCE = "Deduce"


class AtomicGuard(StrEnum):
    """Whether what merges as one value may be set."""

    ENFORCE = "Enforce"
    ALLOW = "Allow"


class _Reading:
    """The policies and bindings that were read so far."""

    def __init__(self, context: CompileContext, *, validate: bool) -> None:
        self.context = context
        self.report = context.diagnostics
        self.validate = validate
        self.release = _release(context)
        self.policies: list[tuple[Rule, Policy]] = []
        self.bindings: list[tuple[Rule, Binding]] = []
        self._errors = 0

    def has_errors(self) -> bool:
        return bool(self._errors)

    def read_policy(self, rule: Rule) -> None:
        value = self._decoded(rule)
        if value is None:
            return
        policy = read_policy(rule, value)
        if self.validate:
            self._refuse(rule, of_policy(policy, value))
        if rule.static:
            self._refuse(rule, of_static_policy(policy))
        elif self.validate:
            self._refuse(rule, of_name(policy.name, self.release))
        kind = policy.param_kind
        # What validation refuses makes a policy vanish upstream.
        if kind is None or kind.api_version.count("/") < 2:
            self.policies.append((rule, policy))

    def read_binding(self, rule: Rule) -> None:
        value = self._decoded(rule)
        if value is None:
            return
        binding = read_binding(rule, value)
        self.bindings.append((rule, binding))
        if rule.static:
            self._refuse(rule, of_static_binding(binding))
        elif self.validate:
            self._refuse(rule, of_name(binding.name, self.release))
        if self.validate:
            self._refuse(rule, of_binding(binding, value))
            ref = value.get("spec", {}).get("paramRef")
            defaulted = rule.value.get("apiVersion") == _DEFAULTED
            if ref is not None and not ref.get("parameterNotFoundAction") and not defaulted:
                message = (
                    "spec.paramRef has no parameterNotFoundAction, which a cluster asks for; "
                    "taken as Deny"
                )
                self.report.warning(rule, message, ("spec", "paramRef"))

    def _decoded(self, rule: Rule) -> Json | None:
        """A manifest as v1, whatever its version; None where it cannot be read."""
        value = {**rule.value, "apiVersion": VERSION}
        try:
            decoded = _TYPED.typed(value)
        except DecodeError as error:
            self._refuse(rule, [FieldProblem(error.path, error.message, whole=True)])
            return None
        schema = _SCHEMAS.kind(VERSION, rule.ref.kind)
        assert schema is not None
        for finding in unknown_fields(value, schema.struct):
            if rule.static:
                self._refuse(rule, [FieldProblem(finding.path, finding.message, whole=True)])
                continue
            message = f"{finding.message}, which a cluster drops or refuses"
            self.report.warning(rule, message, finding.path)
        return decoded

    def _refuse(self, rule: Rule, problems: Iterable[FieldProblem]) -> None:
        for problem in problems:
            self._errors += 1
            self.report.error(rule, _text(problem), problem.path)

    def check_expressions(self, plugins: Sequence[PolicyPlugin]) -> None:
        """Report expressions that do not compile: no API server stores those."""
        rules = {policy.ref: rule for rule, policy in self.policies}
        for plugin in plugins:
            for ref, path, message in plugin.compile_errors():
                self._refuse(rules[ref], [FieldProblem(path, message)])

    def bound(self) -> list[tuple[Policy, list[Binding]]]:
        """Each policy with its bindings; one that has none is inactive, and reported."""
        bound = []
        used: set[tuple[str, str, bool]] = set()
        by_policy: dict[tuple[str, str, bool], list[tuple[Rule, Binding]]] = {}
        for source, binding in self.bindings:
            key = binding.ref.kind, binding.policy_name, source.static
            by_policy.setdefault(key, []).append((source, binding))
        for rule, policy in self.policies:
            key = f"{policy.ref.kind}Binding", policy.name, rule.static
            used.add(key)
            bound.append((policy, self._bindings_of(rule, policy, by_policy.get(key, []))))
        for source, binding in self.bindings:
            if (binding.ref.kind, binding.policy_name, source.static) in used:
                continue
            if source.static:
                message = f"{binding.policy_name} is not among the static manifests"
                self._refuse(source, [FieldProblem(("spec", "policyName"), message)])
                continue
            message = f"names the policy {binding.policy_name}, which is not among the rules"
            self.report.report(Cause.NOTE, message, binding.ref)
        return bound

    def _bindings_of(
        self, rule: Rule, policy: Policy, named: Sequence[tuple[Rule, Binding]]
    ) -> list[Binding]:
        alone = _stands_alone(rule)
        own = [b for source, b in named if alone or rule.from_items or not source.from_items]
        if alone and own:
            names = ", ".join(binding.name for binding in own)
            message = f"is bound by what is among the items: {names}"
            self.report.report(Cause.NOTE, message, policy.ref)
        elif alone:
            message = "no binding names it; as functionConfig it counts as bound to everything"
            self.report.report(Cause.NOTE, message, policy.ref)
            own = [bound_to_everything(policy)]
        elif not own:
            kind = f"{policy.ref.kind}Binding"
            message = f"is inactive: no {kind} names it (spec.policyName: {policy.name})"
            if named:
                message += (
                    f"; {named[0][1].name} among the items does not count for rules from elsewhere "
                    "(bindingsFromItems: true lets it)"
                )
            self.report.report(Cause.WARNING, message, policy.ref)
        return own


class Policies:
    """The dialect of Kubernetes' admission policies.

    With `validate` off it takes also what an API server would refuse at creation, as one does that
    has stored it before.
    """

    def __init__(self, *, validate: bool = True) -> None:
        self._validate = validate

    def compile(self, rules: Sequence[Rule], context: CompileContext) -> Sequence[Plugin]:
        """The mutating and the validating policies as a plugin each. Raises ConfigError."""
        options = _read_section(context.section)
        reading = _Reading(context, validate=self._validate)
        for rule in rules:
            reading.read_policy(rule)
        if reading.release < STATIC_AT_ALL and any(rule.static for rule in rules):
            message = "context.staticManifests needs a kubernetesVersion of 1.37 (1.36 with a gate)"
            raise ConfigError(message)
        for rule in context.bindings:
            if rule.ref.kind in (MUTATING_BINDING, VALIDATING_BINDING):
                reading.read_binding(rule)
        if reading.has_errors() or not reading.policies:
            return ()
        bound = reading.bound()
        if reading.has_errors():  # a static binding without its policy
            return ()
        plugins = _plugins(bound, options, context, validate=self._validate)
        if self._validate:
            reading.check_expressions(plugins)
        return tuple(plugin for plugin in plugins if plugin.is_active)


_DEFAULTED: Final = f"{GROUP}/v1alpha1"
"""The version whose parameterNotFoundAction has a default."""

_SCHEMAS: Final = Schemas()
_TYPED: Final = Served(_SCHEMAS)


_MESSAGE: Final = 5_000
"""Characters of what is wrong: each of a hundred errors shows the line that it is in."""


def _text(problem: FieldProblem) -> str:
    message = problem.message
    if len(message) > _MESSAGE:
        message = f"{message[:_MESSAGE]}... {len(message) - _MESSAGE:,} more characters"
    text = message if problem.whole else f"{format_path(problem.path)}: {message}"
    return text.replace("\n", "\n  ")


def _stands_alone(rule: Rule) -> bool:
    """Whether a policy is the functionConfig itself."""
    origin = rule.ref.origin
    return origin is not None and origin.place == "functionConfig"


def _release(context: CompileContext) -> tuple[int, int]:
    """The release of the cluster, the newest that is known where nobody says."""
    version = context.kubernetes_version
    return parse_version(version) if version else Schemas().version


def _plugins(
    bound: Sequence[tuple[Policy, list[Binding]]],
    options: _PolicyOptions,
    context: CompileContext,
    *,
    validate: bool,
) -> list[PolicyPlugin]:
    schemas = Schemas(context.kubernetes_version)
    release = _release(context)
    cluster = context.cluster
    typed = Served(schemas, cluster.crd)
    makes: Serves = context.served if context.served is not None else TypesOnly(typed)
    settings = Settings(
        schemas,
        version_of_new(release) if validate else STORED,
        release >= READ_IN_PLACE_SINCE,
        typed,
        cluster,
        options.authorizer,
        lambda value: makes.form(value).object,
        as_written=context.served is None,
        lint=context.lint,
    )
    plugins: list[PolicyPlugin] = []
    mutating = [pair for pair in bound if pair[0].ref.kind == MUTATING]
    if mutating:
        deduce = options.unknown_kind is UnknownKind.DEDUCE
        guard = options.atomic_guard is AtomicGuard.ENFORCE
        objects = Objects(schemas, cluster.crd, makes, deduce=deduce, guard=guard)
        plugins.append(MutatingPolicies(mutating, settings, objects))
    validating = [pair for pair in bound if pair[0].ref.kind == VALIDATING]
    if validating:
        plugins.append(ValidatingPolicies(validating, settings))
    return plugins


class _PolicyOptions(NamedTuple):
    """The section `policies`."""

    unknown_kind: UnknownKind
    atomic_guard: AtomicGuard
    authorizer: Authorizer


def _read_section(section: Section) -> _PolicyOptions:
    return _PolicyOptions(
        section.choice("unknownKind", UnknownKind.FAIL),
        section.choice("atomicGuard", AtomicGuard.ENFORCE),
        section.choice("authorizer", Authorizer.ERROR),
    )


DIALECT = Policies()
