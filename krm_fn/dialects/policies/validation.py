"""What an API server would refuse a policy or a binding for when it is created.

Expressions are compiled elsewhere. Knows manifests as they are decoded, and no request.
Source: Kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from krm_fn.dialects.policies.spec import (
    APPLY,
    JSON_PATCH,
    MUTATING,
    MUTATING_BINDING,
    SPACE,
    STATIC_SUFFIX,
    VALIDATING_BINDING,
    Binding,
    Policy,
)
from krm_fn.kube.selectors import SelectorError, from_label_selector
from krm_fn.kube.validation import names
from krm_fn.lang.cel import is_identifier
from krm_fn.values import Json, Path


class FieldProblem(NamedTuple):
    """What is wrong at a field; `whole` says that the message names the field itself."""

    path: Path
    message: str
    whole: bool = False


_CONDITIONS: Final = 64
_AUDIT_ANNOTATIONS: Final = 20
_OPERATIONS: Final = ("*", "CREATE", "UPDATE", "DELETE", "CONNECT")
_MUTATING_OPERATIONS: Final = ("*", "CREATE", "UPDATE", "CONNECT")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_VALUE_EXPRESSION_BYTES: Final = 5 * 1024
_ACTIONS: Final = ("Deny", "Warn", "Audit")
_IDENTIFIER: Final = "a CEL identifier: letters, digits and _, no digit first, no reserved word"


def of_policy(policy: Policy, value: Json) -> Iterator[FieldProblem]:
    """Everything that is wrong with a policy, decoded as v1."""
    spec: Json = value.get("spec") or {}
    yield from _name(policy.name, ("metadata", "name"))
    yield from _choice(spec, ("spec",), "failurePolicy", ("Fail", "Ignore"))
    yield from _param_kind(spec.get("paramKind"), ("spec", "paramKind"))
    constraints = spec.get("matchConstraints")
    path: Path = ("spec", "matchConstraints")
    if constraints is None:
        yield FieldProblem(path, "is required")
    else:
        if not constraints.get("resourceRules"):
            yield FieldProblem((*path, "resourceRules"), "needs at least one rule")
        yield from _match_resources(constraints, path)
        if policy.ref.kind == MUTATING:
            yield from _no_deletion(constraints, path)
    yield from _conditions(spec.get("matchConditions") or (), ("spec", "matchConditions"))
    yield from _variables(spec.get("variables") or (), ("spec", "variables"))
    if policy.ref.kind == MUTATING:
        yield from _mutations(spec, ("spec",))
    else:
        yield from _validations(policy.name, spec, ("spec",))


def of_binding(binding: Binding, value: Json) -> Iterator[FieldProblem]:
    """Everything that is wrong with a binding, decoded as v1."""
    spec: Json = value.get("spec") or {}
    yield from _name(binding.name, ("metadata", "name"))
    yield from _name(binding.policy_name, ("spec", "policyName"))
    ref = spec.get("paramRef")
    if ref is not None:
        path: Path = ("spec", "paramRef")
        if bool(ref.get("name")) == (ref.get("selector") is not None):
            yield FieldProblem(path, "must have exactly one of name and selector")
        if ref.get("name"):
            yield from _path_segment(ref["name"], (*path, "name"))
        yield from _choice(ref, path, "parameterNotFoundAction", ("Allow", "Deny"))
        yield from _selector(ref, path, "selector")
    resources = spec.get("matchResources")
    if resources is not None:
        path = ("spec", "matchResources")
        yield from _match_resources(resources, path)
        if binding.ref.kind == MUTATING_BINDING:
            yield from _no_deletion(resources, path)
    if binding.ref.kind == VALIDATING_BINDING:
        yield from _actions(binding.actions, ("spec", "validationActions"))


def of_static_policy(policy: Policy) -> Iterator[FieldProblem]:
    """What else an API server would not start with.

    Source: apiserver v0.37, pkg/admission/plugin/policy/manifest/loader.
    """
    yield from _static_name(policy.name, ("metadata", "name"))
    if policy.param_kind is not None:
        yield FieldProblem(("spec", "paramKind"), _NOT_STATIC)


def of_static_binding(binding: Binding) -> Iterator[FieldProblem]:
    """What else an API server would not start with."""
    yield from _static_name(binding.name, ("metadata", "name"))
    yield from _static_name(binding.policy_name, ("spec", "policyName"))
    if binding.param_ref is not None:
        yield FieldProblem(("spec", "paramRef"), _NOT_STATIC)


_NOT_STATIC: Final = "must not be set in a static manifest: there are no params when it is read"


def _static_name(name: str, path: Path) -> Iterator[FieldProblem]:
    if not name.endswith(STATIC_SUFFIX):
        yield FieldProblem(path, f"{name!r} must end with {STATIC_SUFFIX} in a static manifest")


def of_name(name: str, release: tuple[int, int]) -> Iterator[FieldProblem]:
    """Names that only static manifests may have, since there are any."""
    if name.endswith(STATIC_SUFFIX) and release >= STATIC_SINCE:
        yield FieldProblem(
            ("metadata", "name"),
            f"{name!r} ends with {STATIC_SUFFIX}, which the API takes from nobody: give it as a "
            "static manifest (context.staticManifests)",
        )


STATIC_SINCE: Final = (1, 37)
STATIC_AT_ALL: Final = (1, 36)
"""The releases since which an API server reads policies from files, and did so behind a gate."""


def _actions(actions: Sequence[str], path: Path) -> Iterator[FieldProblem]:
    if not actions:
        yield FieldProblem(path, f"is required: at least one of {', '.join(_ACTIONS)}")
    for n, action in enumerate(actions):
        if action not in _ACTIONS:
            yield FieldProblem((*path, n), f"{action!r} is not one of {', '.join(_ACTIONS)}")
        elif action in actions[:n]:
            yield FieldProblem((*path, n), f"{action} is there twice")
    if "Deny" in actions and "Warn" in actions:
        yield FieldProblem(
            path, "must not have both Deny and Warn: that would say everything twice"
        )


def _name(name: str, path: Path) -> Iterator[FieldProblem]:
    if not name:
        yield FieldProblem(path, "is required")
        return
    for reason in names.dns_subdomain(name):
        yield FieldProblem(path, reason)


def _choice(value: Json, path: Path, name: str, known: Sequence[str]) -> Iterator[FieldProblem]:
    given = value.get(name)
    if given is not None and given not in known:
        yield FieldProblem((*path, name), f"{given!r} is not one of {', '.join(known)}")


def _param_kind(value: Json | None, path: Path) -> Iterator[FieldProblem]:
    if value is None:
        return
    api_version = value.get("apiVersion", "")
    group, _, version = api_version.rpartition("/")
    where: Path = (*path, "apiVersion")
    if not api_version:
        yield FieldProblem(where, "is required")
    elif "/" in group:
        yield FieldProblem(where, f"{api_version!r} is no group/version")
    elif not version:
        yield FieldProblem(where, f"{api_version!r} has no version")
    else:
        for reason in names.dns_subdomain(group) if group else ():
            yield FieldProblem(where, f"the group {group!r}: {reason}")
        for reason in names.dns_1035_label(version):
            yield FieldProblem(where, f"the version {version!r}: {reason}")
    kind = value.get("kind", "")
    if not kind:
        yield FieldProblem((*path, "kind"), "is required")
    else:
        for reason in names.dns_1035_label(kind.lower()):
            yield FieldProblem((*path, "kind"), f"{kind!r}, in small letters: {reason}")


def _path_segment(name: str, path: Path) -> Iterator[FieldProblem]:
    if name in (".", "..") or "/" in name or "%" in name:
        yield FieldProblem(path, f"{name!r} cannot be a name")


# What a policy or binding is about


def _match_resources(value: Json, path: Path) -> Iterator[FieldProblem]:
    yield from _choice(value, path, "matchPolicy", ("Exact", "Equivalent"))
    for name in ("namespaceSelector", "objectSelector"):
        yield from _selector(value, path, name)
    for name in ("resourceRules", "excludeResourceRules"):
        for n, rule in enumerate(value.get(name) or ()):
            yield from _rule(rule, (*path, name, n))


def _selector(value: Json, path: Path, name: str) -> Iterator[FieldProblem]:
    try:
        from_label_selector(value.get(name))
    except SelectorError as error:
        yield FieldProblem((*path, name), error.message)


def _rule(rule: Json, path: Path) -> Iterator[FieldProblem]:
    for name in ("operations", "apiGroups", "apiVersions", "resources"):
        yield from _list_of(rule.get(name) or (), (*path, name), star_alone=name != "resources")
    for n, operation in enumerate(rule.get("operations") or ()):
        if operation not in _OPERATIONS:
            known = ", ".join(_OPERATIONS)
            yield FieldProblem((*path, "operations", n), f"{operation!r} is not one of {known}")
    for n, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            yield FieldProblem((*path, "apiVersions", n), "must not be empty")
    yield from _resources(rule.get("resources") or (), (*path, "resources"))
    yield from _choice(rule, path, "scope", _SCOPES)
    names = rule.get("resourceNames") or ()
    for n, name in enumerate(names):
        where: Path = (*path, "resourceNames", n)
        if name in names[:n]:
            yield FieldProblem(where, f"{name!r} is there twice")
        yield from _path_segment(name, where)


def _list_of(values: Sequence[str], path: Path, *, star_alone: bool) -> Iterator[FieldProblem]:
    if not values:
        yield FieldProblem(path, "is required")
    elif star_alone and len(values) > 1 and "*" in values:
        yield FieldProblem(path, "* must stand alone")


def _resources(values: Sequence[str], path: Path) -> Iterator[FieldProblem]:
    """Entries that others make pointless are refused, as far as upstream sees it.

    It looks at what stands before an entry; of names beside `*` at the last entry that is no
    subresource.
    """
    wholes: set[str] = set()
    every: set[str] = set()
    pointless = ""
    for n, value in enumerate(values):
        where: Path = (*path, n)
        if not value:
            yield FieldProblem(where, "must not be empty")
            continue
        name, slash, sub = value.partition("/")
        if not slash:
            pointless = "" if value == "*" else value
            continue
        if name in wholes:
            yield FieldProblem(where, f"{value} is pointless beside {name}/*")
        if sub in every:
            yield FieldProblem(where, f"{value} is pointless beside */{sub}")
        if sub == "*":
            wholes.add(name)
        if name == "*":
            every.add(sub)
    if "*/*" in values and len(values) > 1:
        yield FieldProblem(path, "*/* must stand alone")
    if "*" in values and pointless:
        yield FieldProblem(path, f"{pointless} is pointless behind *")


def _no_deletion(constraints: Json, path: Path) -> Iterator[FieldProblem]:
    """Mutating policies are never asked about deletions."""
    for n, rule in enumerate(constraints.get("resourceRules") or ()):
        for m, operation in enumerate(rule.get("operations") or ()):
            if operation in _OPERATIONS and operation not in _MUTATING_OPERATIONS:
                known = ", ".join(_MUTATING_OPERATIONS)
                where: Path = (*path, "resourceRules", n, "operations", m)
                yield FieldProblem(
                    where, f"{operation!r} is not one of {known}, which can be mutated"
                )


# Expressions and what they are for


def _conditions(values: Sequence[Json], path: Path) -> Iterator[FieldProblem]:
    if len(values) > _CONDITIONS:
        yield FieldProblem(path, f"has {len(values)} conditions; at most {_CONDITIONS} are allowed")
    yield from _unique([one.get("name", "") for one in values], path)
    for n, one in enumerate(values):
        for reason in names.qualified_name(one.get("name", ""), names.KUBERNETES_1_37):
            yield FieldProblem((*path, n, "name"), reason)
        yield from _expression(one, (*path, n), "expression")


def _variables(values: Sequence[Json], path: Path) -> Iterator[FieldProblem]:
    """Two may have one name: the later one wins."""
    for n, one in enumerate(values):
        name = one.get("name", "")
        if not is_identifier(name):
            yield FieldProblem((*path, n, "name"), f"{name!r} must be {_IDENTIFIER}")
        yield from _expression(one, (*path, n), "expression")


def _mutations(spec: Json, path: Path) -> Iterator[FieldProblem]:
    if not spec.get("reinvocationPolicy"):
        yield FieldProblem((*path, "reinvocationPolicy"), "is required: Never or IfNeeded")
    else:
        yield from _choice(spec, path, "reinvocationPolicy", ("Never", "IfNeeded"))
    mutations = spec.get("mutations") or ()
    if not mutations:
        yield FieldProblem((*path, "mutations"), "needs at least one mutation")
    parts = {APPLY: "applyConfiguration", JSON_PATCH: "jsonPatch"}
    for n, mutation in enumerate(mutations):
        where: Path = (*path, "mutations", n)
        patch_type = mutation.get("patchType", "")
        if patch_type not in parts:
            known = ", ".join(parts)
            yield FieldProblem((*where, "patchType"), f"{patch_type!r} is not one of {known}")
            continue
        wanted = parts[patch_type]
        if mutation.get(wanted) is None:
            message = f"is required where patchType is {patch_type}"
            yield FieldProblem((*where, wanted), message)
        else:
            yield from _expression(mutation[wanted], (*where, wanted), "expression")
        for other in parts.values():
            if other != wanted and mutation.get(other) is not None:
                yield FieldProblem(
                    (*where, other), f"must not be set where patchType is {patch_type}"
                )


def _validations(policy_name: str, spec: Json, path: Path) -> Iterator[FieldProblem]:
    validations = spec.get("validations") or ()
    annotations = spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        yield FieldProblem((*path, "validations"), "needs at least one, or one of auditAnnotations")
    for n, one in enumerate(validations):
        where: Path = (*path, "validations", n)
        yield from _expression(one, where, "expression")
        if "messageExpression" in one:
            yield from _expression(one, where, "messageExpression")
        if one.get("message"):
            message = one["message"].strip(SPACE)
            if not message:
                yield FieldProblem((*where, "message"), "must not be blank")
            elif "\n" in message or "\r" in message:
                yield FieldProblem((*where, "message"), "must be one line")
        yield from _choice(one, where, "reason", _REASONS)
    if len(annotations) > _AUDIT_ANNOTATIONS:
        message = f"has {len(annotations)}; at most {_AUDIT_ANNOTATIONS} are allowed"
        yield FieldProblem((*path, "auditAnnotations"), message)
    yield from _unique([one.get("key", "") for one in annotations], (*path, "auditAnnotations"))
    for n, one in enumerate(annotations):
        where = (*path, "auditAnnotations", n)
        for reason in names.qualified_name(
            f"{policy_name}/{one.get('key', '')}", names.KUBERNETES_1_37
        ):
            yield FieldProblem((*where, "key"), reason)
        yield from _expression(one, where, "valueExpression")
        size = len(one.get("valueExpression", "").strip(SPACE).encode("utf-8", "surrogatepass"))
        if size > _VALUE_EXPRESSION_BYTES:
            message = f"has {size:,} bytes; at most {_VALUE_EXPRESSION_BYTES:,} are allowed"
            yield FieldProblem((*where, "valueExpression"), message)


def _expression(value: Json, path: Path, name: str) -> Iterator[FieldProblem]:
    if not str(value.get(name, "")).strip(SPACE):
        yield FieldProblem((*path, name), "is required")


def _unique(names: Iterable[Any], path: Path) -> Iterator[FieldProblem]:
    known = set()
    for n, name in enumerate(names):
        if name and name in known:
            yield FieldProblem((*path, n), f"{name!r} is there twice")
        known.add(name)
