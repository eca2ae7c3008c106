"""Policies as they are loaded: module, execution mode, settings, host; one engine for a run.

Imported only where there is a policy, since it needs wasmtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from krm_fn.admission import Cause, Cluster, Finding
from krm_fn.config.options import OnRuleError
from krm_fn.dialects.kubewarden.faults import Fault
from krm_fn.dialects.kubewarden.host.answers import Answers, read_answers
from krm_fn.dialects.kubewarden.host.policyhost import Capabilities, PatternError, PolicyHost
from krm_fn.dialects.kubewarden.host.reads import Reads
from krm_fn.dialects.kubewarden.options import KubewardenOptions
from krm_fn.dialects.kubewarden.policy.answer import PolicyAnswer
from krm_fn.dialects.kubewarden.policy.expression import Expression
from krm_fn.dialects.kubewarden.policy.group import Member, ask
from krm_fn.dialects.kubewarden.policy.plugin import Conditions, KubewardenPolicy, PolicyDefaults
from krm_fn.dialects.kubewarden.policy.policy import ExecutionMode, LoadedPolicy
from krm_fn.dialects.kubewarden.policy.resource import MemberSpec, PolicyResource
from krm_fn.dialects.kubewarden.runtime.engine import Engine, Limits
from krm_fn.dialects.kubewarden.store.cache import Cache
from krm_fn.dialects.kubewarden.store.modules import Modules
from krm_fn.dialects.kubewarden.store.sections import read_module
from krm_fn.dialects.kubewarden.store.signatures import read_verification
from krm_fn.errors import ConfigError, InputError
from krm_fn.system.reading import read_file
from krm_fn.values import Json


class Loader:
    """Loads the policies of a run. Raises ConfigError for options that cannot be used."""

    def __init__(
        self,
        options: KubewardenOptions,
        on_error: OnRuleError,
        cluster: Cluster,
        kubernetes_version: str,
    ) -> None:
        self._engine = Engine(
            Limits(options.fuel, options.memory), Cache(options.cache) if options.cache else None
        )
        verification = (
            read_verification(options.verification_config) if options.verification_config else None
        )
        self._modules = Modules(options.lock, options.store, verification)
        self._answers = _answers(options.answers)
        self._namespaced = _capabilities(options.allow_capabilities)
        self._reads = Reads(cluster)
        self._cluster = cluster
        self._kubernetes_version = kubernetes_version
        self._common = PolicyDefaults(cluster.default_namespace, on_error)
        self._policies: dict[tuple[bytes, ExecutionMode, float], LoadedPolicy] = {}
        self._findings: list[Finding] = []

    def load(self, resource: PolicyResource) -> KubewardenPolicy:
        """The plugin of a policy or group. Raises ConfigError for all that is wrong with it."""
        members = {
            name: self._member(resource, name, spec) for name, spec in resource.members.items()
        }
        judge: OnePolicy | Group
        if resource.is_group:
            try:
                expression = Expression(resource.expression, frozenset(members))
            except Fault as fault:
                raise ConfigError(f"spec.expression: {fault.kind}: {fault}") from None
            judge = Group(members, expression, resource.message or "")
        else:
            judge = OnePolicy(members[""])
        conditions = self._conditions(resource.conditions)
        return KubewardenPolicy(resource, judge, conditions, self._common, self._cluster)

    def _conditions(self, sources: Sequence[str]) -> Conditions | None:
        if not sources:
            return None
        from krm_fn.dialects.kubewarden.policy.conditions import CelConditions

        return CelConditions(sources, self._kubernetes_version)

    def take_findings(self) -> list[Finding]:
        """What there is to say of the policies loaded since the last time."""
        findings, self._findings = self._findings, []
        return findings

    def _member(self, resource: PolicyResource, name: str, spec: MemberSpec) -> Member:
        field = f"spec.policies.{name}" if name else "spec"
        wasm = self._modules.read(spec.module, f"{field}.module", resource.base)
        capabilities = Capabilities(["*"]) if resource.is_cluster_wide else self._namespaced
        host = PolicyHost(self._reads, self._answers, capabilities, spec.resources)
        try:
            mode = self._mode(resource, wasm, spec)
            member = Member(self._policy(wasm, mode, spec.seconds), spec.settings, host)
        except Fault as fault:
            raise ConfigError(f"{field}.module: {spec.module}: {fault.kind}: {fault}") from None
        self._check_settings(member, f"{field}.settings")
        return member

    def _mode(self, resource: PolicyResource, wasm: bytes, spec: MemberSpec) -> ExecutionMode:
        metadata = read_module(wasm).metadata
        if metadata is None:
            message = (
                f"{spec.module} has no metadata, and a policy server refuses it (kwctl annotate); "
                f"taken for {ExecutionMode.WAPC}"
            )
            self._findings.append(Finding(Cause.WARNING, False, message, (resource.ref,)))
            return ExecutionMode.WAPC
        word = metadata.get("executionMode", ExecutionMode.WAPC.value)
        try:
            return ExecutionMode(word)
        except ValueError:
            modes = ", ".join(ExecutionMode)
            raise ConfigError(
                f"spec.module: {spec.module} is of the unknown execution mode {word!r}; known are "
                f"{modes}"
            ) from None

    def _policy(self, wasm: bytes, mode: ExecutionMode, seconds: float) -> LoadedPolicy:
        key = (wasm, mode, seconds)
        if key not in self._policies:
            self._policies[key] = LoadedPolicy(self._engine, wasm, mode, seconds)
        return self._policies[key]

    def _check_settings(self, member: Member, field: str) -> None:
        try:
            answer = member.policy.check_settings(member.settings, member.host)
        except Fault as fault:
            raise ConfigError(f"{field}: {fault.kind}: {fault}") from None
        if not answer.valid:
            said = answer.message or (answer.fault.message if answer.fault else "no message")
            raise ConfigError(f"{field}: Policy settings are invalid: {said}")


def _answers(path: str) -> Answers:
    if not path:
        return Answers()
    try:
        data = read_file(path)
    except InputError as error:
        raise ConfigError(f"kubewarden.answers: {error}") from None
    return read_answers(data, path)


def _capabilities(patterns: Sequence[str]) -> Capabilities:
    try:
        return Capabilities(patterns)
    except PatternError as error:
        raise ConfigError(f"kubewarden.allowCapabilities: {error}") from None


@dataclass(frozen=True, slots=True)
class OnePolicy:
    """A policy with its settings, as a judge."""

    member: Member

    @property
    def hosts(self) -> Sequence[PolicyHost]:
        return (self.member.host,)

    def answer(self, request: Json, subject: Any) -> PolicyAnswer:
        return self.member.policy.validate(self.member.settings, request, self.member.host)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of policies, as a judge."""

    members: Mapping[str, Member]
    expression: Expression
    message: str

    @property
    def hosts(self) -> Sequence[PolicyHost]:
        return [member.host for member in self.members.values()]

    def answer(self, request: Json, subject: Any) -> PolicyAnswer:
        return ask(self.members, self.expression, self.message, request, subject)
