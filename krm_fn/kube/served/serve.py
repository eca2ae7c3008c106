"""Serve one object: find its kind, decode it, fill in defaults, put the system's metadata right.

This module knows the order of the stages; what happens at each is told by `plan` with `defaults`
and `rules` for built-in kinds, by `custom` for custom ones, and by `create` for the last one.
Source: the served form's specification, section (a), stages 1 to 6 and 13.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from krm_fn import limits
from krm_fn.errors import DecodeError
from krm_fn.kube.schema import KindSchema, Schemas
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.plan import Plan
from krm_fn.kube.served.strict import StrictFinding, unknown_fields
from krm_fn.values import Json

if TYPE_CHECKING:
    from krm_fn.kube.served.custom import CustomKind

FindCrd = Callable[[str, str], Json | None]
"""The CustomResourceDefinition of a group and kind, or None."""


class Form(NamedTuple):
    """An object as it is served, and what strict validation says of it as it was written.

    `known` is False where nothing says what the kind is: then the object is as it was written.
    """

    object: Json
    findings: tuple[StrictFinding, ...] = ()
    known: bool = True


class Served:
    """Makes the served form of objects for one Kubernetes release.

    `find_crd` gives the definitions of custom kinds; each is read once. `user` is who creates
    the objects, as `request.userInfo` has it. All methods leave their
    arguments unchanged, and return subtrees in which nothing changed as the same objects.
    """

    def __init__(
        self, schemas: Schemas, find_crd: FindCrd | None = None, user: Json | None = None
    ) -> None:
        self._schemas = schemas
        self._user = user
        self._find_crd = find_crd or _no_crd
        self._plan: Plan | None = None
        self._typed = Plan({}, {})
        self._custom: dict[tuple[str, str], CustomKind | None] = {}

    def form(self, value: Json, namespace: str = "") -> Form:
        """The object as mutating admission sees it.

        `namespace` is the request's; "" is the object's own. Raises DecodeError with the path for
        an object that the API server would not take.
        """
        with limits.deep_stack():
            api_version, kind = _kind_of(value)
            schema = self._schemas.kind(api_version, kind)
            if schema is None:
                return self._custom_form(value, api_version, kind, namespace)
            served, findings = _decode(self._served_plan(), value, schema)
            served = _with_kind(served, api_version, kind)
            # What is no resource, a list for instance, is in no namespace that anybody would set.
            keeps = schema.namespaced or not schema.plural
            namespace = _namespace_of(served, namespace) if keeps else ""
            metadata = self._schemas.struct("meta/v1.ObjectMeta")
            writes_null = not metadata.fields["creationTimestamp"].omit_zero
            return Form(_with_metadata(served, namespace, writes_null), findings)

    def typed(self, value: Json) -> Json:
        """The object after decoding alone, without defaults; itself for kinds that are unknown.

        Raises DecodeError.
        """
        with limits.deep_stack():
            schema = self._schemas.kind(*_kind_of(value))
            if schema is None:
                return value
            return _decode(self._typed, value, schema)[0]

    def validating(self, served: Json) -> Json:
        """What validating admission sees of a served object that is being created.

        Without what no render can know: uid, creationTimestamp, what is allocated.
        """
        from krm_fn.kube.served.create import prepared

        with limits.deep_stack():
            api_version, kind = _kind_of(served)
            schema = self._schemas.kind(api_version, kind)
            if schema is not None:
                return prepared(served, schema, self._typed, self._schemas.version, self._user)
            custom = self._custom_kind(api_version, kind)
            return custom.prepared(served) if custom is not None else served

    def _served_plan(self) -> Plan:
        if self._plan is None:
            from krm_fn.kube.served.defaults import DEFAULTS
            from krm_fn.kube.served.rules import rounds, rules_of

            rules = rules_of(self._schemas, self._typed)
            self._plan = Plan(DEFAULTS, rules, rounds=rounds)
        return self._plan

    def _custom_kind(self, api_version: str, kind: str) -> CustomKind | None:
        """How a custom kind's objects are served, or None where no definition says it."""
        key = (api_version, kind)
        if key not in self._custom:
            group, _, version = api_version.rpartition("/")
            crd = self._find_crd(group, kind) if group else None
            found = None
            if crd is not None:
                found = self._custom_version(crd, version)
            self._custom[key] = found
        return self._custom[key]

    def _custom_version(self, crd: Json, version: str) -> CustomKind | None:
        from krm_fn.kube.served.custom import custom_kind

        try:
            definition = self.typed(crd)
        except DecodeError:
            return None
        if definition.get("apiVersion") != "apiextensions.k8s.io/v1":
            return None
        return custom_kind(definition, version)

    def _custom_form(self, value: Json, api_version: str, kind: str, namespace: str) -> Form:
        custom = self._custom_kind(api_version, kind)
        if custom is None:
            return Form(value, known=False)
        metadata_type = self._schemas.struct("meta/v1.ObjectMeta")
        served, findings = custom.form(value, metadata_type)
        namespace = _namespace_of(served, namespace) if custom.namespaced else ""
        return Form(_with_metadata(served, namespace, False), findings)


def _no_crd(group: str, kind: str) -> Json | None:
    return None


def _kind_of(value: Any) -> tuple[str, str]:
    """apiVersion and kind. They are found in any case, unlike every other field."""
    if type(value) is not dict:
        raise DecodeError("the object is no map")
    found = []
    for name in ("apiVersion", "kind"):
        text = value.get(name)
        if text is None:
            spelled = [key for key in value if key.lower() == name.lower()]
            text = value[max(spelled)] if spelled else ""
        if type(text) is not str:
            raise DecodeError(f"{name} is no text", (name,))
        if not text:
            raise DecodeError(f"{name} is missing", (name,))
        found.append(text)
    return found[0], found[1]


def _decode(plan: Plan, value: Json, schema: KindSchema) -> tuple[Json, tuple[StrictFinding, ...]]:
    plan.unknown = False
    try:
        decoded = plan.struct(schema.struct)(value)
    except MismatchError as mismatch:
        raise mismatch.error() from None
    findings = unknown_fields(value, schema.struct) if plan.unknown else ()
    return decoded, findings


def _with_kind(served: Json, api_version: str, kind: str) -> Json:
    if served.get("kind") == kind and served.get("apiVersion") == api_version:
        return served
    return {"apiVersion": api_version, "kind": kind, **served}


# ------------------------------------------------------------------------------ metadata, 5 to 7


_SYSTEM: Final = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "selfLink",
    "uid",
)


def _namespace_of(served: Json, namespace: str) -> str:
    """The namespace that an object is created in; one that it names itself must be that."""
    own = served["metadata"].get("namespace") or ""
    if namespace and own and own != namespace:
        raise DecodeError(
            f"metadata.namespace is {own}, but the request is for {namespace}",
            ("metadata", "namespace"),
        )
    return str(namespace or own)


def _with_metadata(served: Json, namespace: str, writes_null: bool) -> Json:
    """Without what only the system sets, and in the namespace ("" where there is none).

    With `writes_null` a creationTimestamp that is not set is null, as releases before 1.34 have it.
    """
    metadata = served["metadata"]
    fixed: Json = metadata
    if writes_null and fixed.get("creationTimestamp") is not None:
        fixed = {**fixed, "creationTimestamp": None}
    for key in _SYSTEM:
        if fixed.get(key) is not None:
            fixed = {k: v for k, v in fixed.items() if k != key}
    if not namespace:
        if "namespace" in fixed:
            fixed = {k: v for k, v in fixed.items() if k != "namespace"}
    elif fixed.get("namespace") != namespace:
        fixed = {**fixed, "namespace": namespace}
    owners = fixed.get("ownerReferences")
    if owners and len(owners) > 1:
        once: dict[str, Json] = {}
        for owner in owners:
            once.setdefault(json.dumps(owner, sort_keys=True), owner)
        if len(once) < len(owners):
            fixed = {**fixed, "ownerReferences": list(once.values())}
    return served if fixed is metadata else {**served, "metadata": fixed}
