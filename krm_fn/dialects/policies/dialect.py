"""Policies and their bindings, from manifests to the two plugins.

Collects everything that is wrong and says it at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from krm_fn.admission import Cause, Cluster, Compiled, Finding, Rule
from krm_fn.admission.activation import Authorizer
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
    Problem,
    of_binding,
    of_name,
    of_policy,
    of_static_binding,
    of_static_policy,
)
from krm_fn.errors import ConfigError, DecodeError, RuleError
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


@dataclass(slots=True)
class _Reading:
    """What was read so far, and what is to be said of it."""

    problems: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    release: tuple[int, int] = (1, 0)
    policies: list[tuple[Rule, Policy]] = field(default_factory=list)
    bindings: list[tuple[Rule, Binding]] = field(default_factory=list)


class Policies:
    """The dialect of Kubernetes' admission policies."""

    def compile(
        self, rules: Sequence[Rule], options: Mapping[str, Any], cluster: Cluster
    ) -> Compiled:
        """Compile all policies.

        Options: `policies` (a Section or None), `readable` (the bindings, as Rules), `served` (what
        makes the served form, None where objects come as they are written), `kubernetesVersion`,
        `lint` (tell what depends on the order of policies), and `validate` (False: take also what
        an API server would refuse at creation).

        Raises RuleError with a line for everything that is wrong.
        """
        validate = options.get("validate", True)
        reading = _Reading(release=_release(options))
        for rule in rules:
            self._read_policy(rule, reading, validate=validate)
        if reading.release < STATIC_AT_ALL and any(rule.static for rule in rules):
            message = "context.staticManifests needs a kubernetesVersion of 1.37 (1.36 with a gate)"
            raise ConfigError(message)
        for rule in options.get("readable") or ():
            if rule.ref.kind in (MUTATING_BINDING, VALIDATING_BINDING):
                self._read_binding(rule, reading, validate=validate)
        section = options.get("policies")
        if not reading.policies and not reading.problems:
            _check_section(section)
            return Compiled((), tuple(reading.findings))
        if reading.problems:
            raise RuleError.of(reading.problems)
        bound = _bound(reading)
        if reading.problems:
            raise RuleError.of(reading.problems)
        plugins = _plugins(bound, section, options, cluster)
        if validate:
            self._check_expressions(plugins, reading)
        active = tuple(plugin for plugin in plugins if plugin.is_active)
        return Compiled(active, tuple(reading.findings))

    def _read_policy(self, rule: Rule, reading: _Reading, *, validate: bool) -> None:
        value = _decoded(rule, reading)
        if value is None:
            return
        policy = read_policy(rule, value)
        if validate:
            self._refuse(rule, of_policy(policy, value), reading)
        if rule.static:
            self._refuse(rule, of_static_policy(policy), reading)
        elif validate:
            self._refuse(rule, of_name(policy.name, reading.release), reading)
        kind = policy.param_kind
        # What validation refuses makes a policy vanish upstream.
        if kind is None or kind.api_version.count("/") < 2:
            reading.policies.append((rule, policy))

    def _read_binding(self, rule: Rule, reading: _Reading, *, validate: bool) -> None:
        value = _decoded(rule, reading)
        if value is None:
            return
        binding = read_binding(rule, value)
        reading.bindings.append((rule, binding))
        if rule.static:
            self._refuse(rule, of_static_binding(binding), reading)
        elif validate:
            self._refuse(rule, of_name(binding.name, reading.release), reading)
        if validate:
            self._refuse(rule, of_binding(binding, value), reading)
            ref = value.get("spec", {}).get("paramRef")
            defaulted = rule.value.get("apiVersion") == _DEFAULTED
            if ref is not None and not ref.get("parameterNotFoundAction") and not defaulted:
                path = ("spec", "paramRef")
                message = "has no parameterNotFoundAction, which a cluster asks for; taken as Deny"
                reading.findings.append(_warning(rule, path, message))

    def _refuse(self, rule: Rule, problems: Iterable[Problem], reading: _Reading) -> None:
        reading.problems += (_problem(rule, one) for one in problems)

    def _check_expressions(self, plugins: Sequence[PolicyPlugin], reading: _Reading) -> None:
        """Raise RuleError for expressions that do not compile: no API server stores those."""
        rules = {policy.ref: rule for rule, policy in reading.policies}
        problems = [
            _problem(rules[ref], Problem(path, message))
            for plugin in plugins
            for ref, path, message in plugin.compile_errors()
        ]
        if problems:
            raise RuleError.of(problems)


def _decoded(rule: Rule, reading: _Reading) -> Json | None:
    """A manifest as v1, whatever its version; None where it cannot be read."""
    value = {**rule.value, "apiVersion": VERSION}
    try:
        decoded = _TYPED.typed(value)
    except DecodeError as error:
        reading.problems.append(_problem(rule, Problem(error.path, error.message, whole=True)))
        return None
    schema = _SCHEMAS.kind(VERSION, rule.ref.kind)
    assert schema is not None
    for finding in unknown_fields(value, schema.struct):
        if rule.static:
            reading.problems.append(_problem(rule, Problem(finding.path, finding.message, True)))
            continue
        message = f"{finding.message}, which a cluster drops or refuses"
        reading.findings.append(_warning(rule, finding.path, message, named=True))
    return decoded


_DEFAULTED: Final = f"{GROUP}/v1alpha1"
"""The version whose parameterNotFoundAction has a default."""

_SCHEMAS: Final = Schemas()
_TYPED: Final = Served(_SCHEMAS)


_MESSAGE: Final = 5_000
"""Characters of what is wrong: each of a hundred errors shows the line that it is in."""


def _problem(rule: Rule, problem: Problem) -> str:
    field_name = format_path(problem.path)
    message = problem.message
    if len(message) > _MESSAGE:
        message = f"{message[:_MESSAGE]}... {len(message) - _MESSAGE:,} more characters"
    text = message if problem.whole else f"{field_name}: {message}"
    place = rule.place(problem.path)
    lines = text.replace("\n", "\n  ")
    return f"{place}: {rule.ref}: {lines}" if place else f"{rule.ref}: {lines}"


def _warning(rule: Rule, path: tuple[Any, ...], message: str, *, named: bool = False) -> Finding:
    ref = rule.ref
    if ref.origin is not None and ref.origin.line is not None and rule.line is not None:
        ref = replace(ref, origin=replace(ref.origin, line=rule.line(path)))
    name = format_path(path)
    text = message if named else f"{name} {message}"
    return Finding(Cause.WARNING, False, text, (replace(ref, part=name),))


def _bound(reading: _Reading) -> list[tuple[Policy, list[Binding]]]:
    """Each policy with its bindings; one that has none is inactive, and said to be."""
    bound = []
    used: set[tuple[str, str, bool]] = set()
    by_policy: dict[tuple[str, str, bool], list[tuple[Rule, Binding]]] = {}
    for source, binding in reading.bindings:
        key = binding.ref.kind, binding.policy_name, source.static
        by_policy.setdefault(key, []).append((source, binding))
    for rule, policy in reading.policies:
        kind = f"{policy.ref.kind}Binding"
        key = kind, policy.name, rule.static
        named = by_policy.get(key, [])
        used.add(key)
        alone = _stands_alone(rule)
        mine = [b for source, b in named if alone or rule.from_items or not source.from_items]
        if alone and mine:
            names = ", ".join(binding.name for binding in mine)
            message = f"is bound by what is among the items: {names}"
            reading.findings.append(Finding(Cause.NOTE, False, message, (policy.ref,)))
        if alone and not mine:
            message = "no binding names it; as functionConfig it counts as bound to everything"
            reading.findings.append(Finding(Cause.NOTE, False, message, (policy.ref,)))
            mine = [bound_to_everything(policy)]
        bound.append((policy, mine))
        if not mine:
            message = f"is inactive: no {kind} names it (spec.policyName: {policy.name})"
            if named:
                message += (
                    f"; {named[0][1].name} among the items does not count for rules from elsewhere "
                    "(bindingsFromItems: true lets it)"
                )
            reading.findings.append(Finding(Cause.WARNING, False, message, (policy.ref,)))
    for source, binding in reading.bindings:
        if (binding.ref.kind, binding.policy_name, source.static) not in used:
            message = f"names the policy {binding.policy_name}, which is not among the rules"
            if source.static:
                message = f"{binding.policy_name} is not among the static manifests"
                problem = Problem(("spec", "policyName"), message)
                reading.problems.append(_problem(source, problem))
                continue
            reading.findings.append(Finding(Cause.NOTE, False, message, (binding.ref,)))
    return bound


def _stands_alone(rule: Rule) -> bool:
    """Whether a policy is the functionConfig itself."""
    origin = rule.ref.origin
    return origin is not None and origin.place == "functionConfig"


def _release(options: Mapping[str, Any]) -> tuple[int, int]:
    """The release of the cluster, the newest that is known where nobody says."""
    version = options.get("kubernetesVersion") or ""
    return parse_version(version) if version else Schemas().version


def _plugins(
    bound: Sequence[tuple[Policy, list[Binding]]],
    section: Section | None,
    options: Mapping[str, Any],
    cluster: Cluster,
) -> list[PolicyPlugin]:
    deduce, guard, authorizer = _read_section(section)
    schemas = Schemas(options.get("kubernetesVersion") or "")
    release = _release(options)
    typed = Served(schemas, cluster.crd)
    served: Serves | None = options.get("served")
    makes: Serves = served if served is not None else TypesOnly(typed)
    settings = Settings(
        schemas,
        version_of_new(release) if options.get("validate", True) else STORED,
        release >= READ_IN_PLACE_SINCE,
        typed,
        cluster,
        authorizer,
        lambda value: makes.form(value).object,
        as_written=served is None,
        lint=bool(options.get("lint")),
    )
    plugins: list[PolicyPlugin] = []
    mutating = [pair for pair in bound if pair[0].ref.kind == MUTATING]
    if mutating:
        objects = Objects(schemas, cluster.crd, makes, deduce=deduce, guard=guard)
        plugins.append(MutatingPolicies(mutating, settings, objects))
    validating = [pair for pair in bound if pair[0].ref.kind == VALIDATING]
    if validating:
        plugins.append(ValidatingPolicies(validating, settings))
    return plugins


def _read_section(section: Section | None) -> tuple[bool, bool, Authorizer]:
    """Whether unknown kinds are deduced, whether the guard holds, how the authorizer answers."""
    if section is None:
        return False, True, Authorizer.ERROR
    unknown = section.choice("unknownKind", UnknownKind.FAIL)
    guard = section.choice("atomicGuard", AtomicGuard.ENFORCE)
    authorizer = section.choice("authorizer", Authorizer.ERROR)
    section.done()
    return unknown is UnknownKind.DEDUCE, guard is AtomicGuard.ENFORCE, authorizer


def _check_section(section: Section | None) -> None:
    """Raise ConfigError for a section that is wrong, though no policy needs it."""
    _read_section(section)


DIALECT = Policies()
