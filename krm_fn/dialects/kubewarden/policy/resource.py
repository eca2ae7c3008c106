"""The four kinds of policies.kubewarden.io, decoded: what their fields mean, and what is wrong.

Source: kubewarden-controller api/policies/v1 (policyspec, groups, their webhooks).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from krm_fn import limits
from krm_fn.admission import Rule, RuleRef
from krm_fn.admission.matching import Constraints, read_constraints
from krm_fn.config.fields import Section, describe
from krm_fn.dialects.kubewarden.codec import jsontext
from krm_fn.errors import ConfigError
from krm_fn.kube.selectors import SelectorError
from krm_fn.system.paths import WORKING_DIRECTORY, Base
from krm_fn.values import Json

API_VERSIONS: Final = (
    "policies.kubewarden.io/v1",
    "policies.kubewarden.io/v1alpha2",
)
CLUSTER_KINDS: Final = ("ClusterAdmissionPolicy", "ClusterAdmissionPolicyGroup")
GROUP_KINDS: Final = ("AdmissionPolicyGroup", "ClusterAdmissionPolicyGroup")
_MEMBER_NAME: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_MAX_CONDITIONS: Final = 64
_SECONDS: Final = range(2, 31)


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """One module with its settings."""

    module: str
    settings: Json
    seconds: float
    resources: tuple[tuple[str, str], ...] = ()
    """What it may read of Kubernetes: (apiVersion, kind)."""


@dataclass(frozen=True, slots=True)
class PolicyResource:
    """A policy or a group. A policy is its only member, under the name ""."""

    ref: RuleRef
    members: Mapping[str, MemberSpec]
    constraints: Constraints
    conditions: tuple[str, ...] = ()
    mutating: bool = False
    monitor: bool = False
    ignores_failure: bool = False
    message: str | None = None
    expression: str = ""
    inside_own_namespace: bool = False
    unknown: tuple[str, ...] = field(default=())
    """Fields that the kind does not have, each as a sentence."""
    base: Base = WORKING_DIRECTORY
    """Where paths of modules start."""

    @property
    def is_cluster_wide(self) -> bool:
        return self.ref.kind in CLUSTER_KINDS

    @property
    def is_group(self) -> bool:
        return self.ref.kind in GROUP_KINDS

    def unique_name(self, namespace: str) -> str:
        """The name of its webhook configuration; `namespace` is where it lives."""
        group = "group-" if self.is_group else ""
        if self.is_cluster_wide:
            return f"clusterwide-{group}{self.ref.name}"
        return f"namespaced-{group}{namespace}-{self.ref.name}"


def read_resource(rule: Rule) -> PolicyResource:
    """The resource of a manifest. Raises ConfigError for what the API server would refuse."""
    ref, value = rule.ref, rule.value
    api_version = value.get("apiVersion")
    if api_version not in API_VERSIONS:
        raise ConfigError(f"apiVersion is {api_version}; use {API_VERSIONS[0]}")
    if not ref.name:
        raise ConfigError("metadata.name is required")
    spec = Section(value.get("spec"), "spec")
    cluster_wide, group = ref.kind in CLUSTER_KINDS, ref.kind in GROUP_KINDS
    for name in ("policyServer", "backgroundAudit", "sideEffects", "timeoutSeconds"):
        spec.raw(name)
    mode = spec.string("mode") or "protect"
    if mode not in ("protect", "monitor"):
        raise spec.error("mode", f" is {mode!r}; it must be protect or monitor")
    failure = spec.string("failurePolicy") or "Fail"
    if failure not in ("Fail", "Ignore"):
        raise spec.error("failurePolicy", f" is {failure!r}; it must be Fail or Ignore")
    if group:
        members = _members(spec, cluster_wide)
        expression = _required(spec, "expression")
        message: str | None = _required(spec, "message")
    else:
        members = {"": _member(spec, cluster_wide)}
        expression = ""
        message = spec.string("message") if "message" in spec else None
    return PolicyResource(
        ref,
        members,
        _constraints(spec, cluster_wide),
        _conditions(spec),
        not group and spec.boolean("mutating", False),
        mode == "monitor",
        failure == "Ignore",
        message,
        expression,
        cluster_wide and spec.boolean("allowInsideAdmissionControllerNamespace", False),
        _unknown(spec),
        rule.base,
    )


def _unknown(spec: Section) -> tuple[str, ...]:
    try:
        spec.done()
    except ConfigError as error:
        return (error.message,)
    return ()


def _required(section: Section, name: str) -> str:
    text = section.string(name)
    if not text:
        raise section.error(name, " is required")
    return text


def _members(spec: Section, cluster_wide: bool) -> dict[str, MemberSpec]:
    policies = spec.section("policies")
    given = spec.raw("policies") or {}
    if not given:
        raise spec.error("policies", " names no policy")
    members: dict[str, MemberSpec] = {}
    for name in given:
        if type(name) is not str or not _MEMBER_NAME.fullmatch(name):
            raise policies.error(str(name), " is no name of a member: letters, digits and _ only")
        member = policies.section(name)
        members[name] = _member(member, cluster_wide)
        member.done()
    return members


def _member(section: Section, cluster_wide: bool) -> MemberSpec:
    resources: tuple[tuple[str, str], ...] = ()
    if cluster_wide:
        resources = tuple(_resource(one) for one in section.sections("contextAwareResources"))
    settings = section.raw("settings")
    if settings is None:
        settings = {}
    if type(settings) is not dict:
        raise section.error("settings", f" is {describe(settings)}; it must be a map")
    try:
        settings = jsontext.value(settings)
    except jsontext.JsonError as error:
        raise section.error("settings", f": {error}") from None
    seconds = section.integer("timeoutEvalSeconds", 0)
    if seconds and seconds not in _SECONDS:
        raise section.error("timeoutEvalSeconds", f" is {seconds}; it must be 2 to 30")
    return MemberSpec(
        _required(section, "module"), settings, float(seconds) or limits.WASM_SECONDS, resources
    )


def _resource(section: Section) -> tuple[str, str]:
    found = _required(section, "apiVersion"), _required(section, "kind")
    section.done()
    return found


def _conditions(spec: Section) -> tuple[str, ...]:
    found = []
    for condition in spec.sections("matchConditions"):
        _required(condition, "name")
        found.append(_required(condition, "expression"))
        condition.done()
    if len(found) > _MAX_CONDITIONS:
        raise spec.error("matchConditions", f" has more than {_MAX_CONDITIONS} entries")
    return tuple(found)


def _constraints(spec: Section, cluster_wide: bool) -> Constraints:
    rules = [_rule(rule) for rule in spec.sections("rules")]
    if not rules:
        raise spec.error("rules", " names nothing that the policy is asked about")
    match_policy = spec.string("matchPolicy") or "Equivalent"
    if match_policy not in ("Equivalent", "Exact"):
        raise spec.error("matchPolicy", f" is {match_policy!r}; it must be Equivalent or Exact")
    if not cluster_wide:
        for rule in rules:
            rule["scope"] = "Namespaced"
    constraints = read_constraints(
        {
            "resourceRules": rules,
            "objectSelector": spec.raw("objectSelector"),
            "namespaceSelector": spec.raw("namespaceSelector") if cluster_wide else None,
            "matchPolicy": match_policy,
        }
    )
    for name, selector in (
        ("namespaceSelector", constraints.namespaces),
        ("objectSelector", constraints.objects),
    ):
        if isinstance(selector, SelectorError):
            raise spec.error(name, f": {selector}")
    return constraints


def _rule(section: Section) -> dict[str, Any]:
    lists = {
        name: list(section.strings(name))
        for name in ("operations", "apiGroups", "apiVersions", "resources")
    }
    for name, values in lists.items():
        if not values:
            raise section.error(name, " is required")
    scope = section.string("scope") or "*"
    section.done()
    return {**lists, "scope": scope}
