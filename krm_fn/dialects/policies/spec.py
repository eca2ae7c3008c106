"""Policies and bindings as values, with the defaults of their API; all three versions are one.

Source: k8s.io/api admissionregistration/v1; Kubernetes pkg/apis/admissionregistration/v1 defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from krm_fn.admission import Rule, RuleRef
from krm_fn.admission.matching import Constraints, read_constraints
from krm_fn.values import Json, get

GROUP: Final = "admissionregistration.k8s.io"
VERSION: Final = f"{GROUP}/v1"

FAIL: Final = "Fail"
IGNORE: Final = "Ignore"
DENY: Final = "Deny"
STATIC_SUFFIX: Final = ".static.k8s.io"
"""What names of static policies end with, and no others."""

IF_NEEDED: Final = "IfNeeded"
APPLY: Final = "ApplyConfiguration"
JSON_PATCH: Final = "JSONPatch"

MUTATING: Final = "MutatingAdmissionPolicy"
VALIDATING: Final = "ValidatingAdmissionPolicy"
MUTATING_BINDING: Final = "MutatingAdmissionPolicyBinding"
VALIDATING_BINDING: Final = "ValidatingAdmissionPolicyBinding"

SPACE: Final = " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" + (
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's strings.TrimSpace trims."""


@dataclass(frozen=True, slots=True)
class Named:
    """A name (or a key) with an expression: a variable, a condition, an audit annotation."""

    name: str
    expression: str


@dataclass(frozen=True, slots=True)
class ParamKind:
    """The kind of params."""

    api_version: str
    kind: str


@dataclass(frozen=True, slots=True)
class ParamRef:
    """Which params a binding uses. `selector` is a LabelSelector as it is written, or None."""

    name: str = ""
    namespace: str = ""
    selector: Json | None = None
    not_found: str = DENY


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mutation; `expression` is None where the part that patchType asks for is missing."""

    patch_type: str
    expression: str | None


@dataclass(frozen=True, slots=True)
class Validation:
    """One validation."""

    expression: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy of either kind; the parts of the other kind are empty."""

    ref: RuleRef
    constraints: Constraints | None
    param_kind: ParamKind | None
    variables: tuple[Named, ...]
    conditions: tuple[Named, ...]
    failure_policy: str
    mutations: tuple[Mutation, ...] = ()
    reinvocation: str = "Never"
    validations: tuple[Validation, ...] = ()
    audit_annotations: tuple[Named, ...] = ()
    static: bool = False
    """Whether the API server reads it from a file when it starts."""

    @property
    def name(self) -> str:
        return self.ref.name


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding of either kind; `constraints` is None where it matches whatever its policy does."""

    ref: RuleRef
    policy_name: str
    param_ref: ParamRef | None
    constraints: Constraints | None
    actions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.ref.name


def read_policy(rule: Rule, value: Json) -> Policy:
    """A policy from its manifest, decoded as v1."""
    spec: Json = value.get("spec") or {}
    match_constraints = spec.get("matchConstraints")
    param_kind = spec.get("paramKind")
    return Policy(
        rule.ref,
        None if match_constraints is None else read_constraints(match_constraints),
        None
        if param_kind is None
        else ParamKind(param_kind.get("apiVersion", ""), param_kind.get("kind", "")),
        _named(spec.get("variables")),
        _named(spec.get("matchConditions")),
        spec.get("failurePolicy") or FAIL,
        tuple(map(_mutation, spec.get("mutations") or ())),
        spec.get("reinvocationPolicy") or "Never",
        tuple(map(_validation, spec.get("validations") or ())),
        tuple(
            Named(one.get("key", ""), one.get("valueExpression", ""))
            for one in spec.get("auditAnnotations") or ()
        ),
        rule.static,
    )


def _named(values: Any) -> tuple[Named, ...]:
    return tuple(Named(one.get("name", ""), one.get("expression", "")) for one in values or ())


_PARTS: Final = {APPLY: "applyConfiguration", JSON_PATCH: "jsonPatch"}


def _mutation(value: Json) -> Mutation:
    patch_type = value.get("patchType", "")
    part = value.get(_PARTS.get(patch_type, ""))
    return Mutation(patch_type, None if part is None else part.get("expression", ""))


def _validation(value: Json) -> Validation:
    return Validation(
        value.get("expression", ""),
        value.get("message", ""),
        value.get("messageExpression", ""),
        value.get("reason") or "",
    )


def read_binding(rule: Rule, value: Json) -> Binding:
    """A binding from its manifest, decoded as v1."""
    spec: Json = value.get("spec") or {}
    ref = spec.get("paramRef")
    match_resources = spec.get("matchResources")
    return Binding(
        rule.ref,
        spec.get("policyName", ""),
        None
        if ref is None
        else ParamRef(
            ref.get("name", ""),
            ref.get("namespace", ""),
            ref.get("selector"),
            ref.get("parameterNotFoundAction") or DENY,
        ),
        None if match_resources is None else read_constraints(match_resources),
        tuple(spec.get("validationActions") or ()),
    )


def bound_to_everything(policy: Policy) -> Binding:
    """The binding of a policy that stands alone as functionConfig."""
    return Binding(policy.ref, policy.name, None, None, (DENY,))


def name_of(value: Json) -> str:
    """metadata.name, "" where there is none."""
    return str(get(value, ("metadata", "name"), ""))
