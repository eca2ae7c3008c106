"""What expressions of policies and webhooks see of a request: `request`, `object` and such.

Loaded only where an expression is evaluated, since it needs CEL. Knows no policy.
Source: apiserver v0.37, pkg/admission/plugin/cel/activation.go and condition.go.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from krm_fn.admission.matching import Matched, own_namespace
from krm_fn.admission.request import Operation, Request
from krm_fn.errors import EvaluationError
from krm_fn.kube.cel import authz, views
from krm_fn.kube.schema import Schemas, Struct, Type, Value
from krm_fn.lang.cel import view
from krm_fn.lang.cel.values import PLAIN, ObjectShape
from krm_fn.values import Json


class Authorizer(StrEnum):
    """How `authorizer` answers: no render knows who may do what."""

    ERROR = "Error"
    ALLOW = "Allow"
    DENY = "Deny"


_UNKNOWN: Final = (
    "authorizer is not available offline; set policies.authorizer to Allow or Deny for a constant "
    "answer"
)


def _answer(authorizer: Authorizer) -> authz.Authorize:
    def answer(question: authz.Question) -> authz.Decision:
        if authorizer is Authorizer.ERROR:
            raise EvaluationError(_UNKNOWN)
        return authz.Decision(authorizer is Authorizer.ALLOW)

    return answer


def authorizer_bindings(authorizer: Authorizer, request: Request) -> dict[str, Any]:
    """`authorizer` and `authorizer.requestResource`."""
    answer = _answer(authorizer)
    head = request.head
    asked = authz.Question(
        "",
        group=head.group,
        resource=request.resource.plural,
        namespace=own_namespace(head, request.namespace),
        name=head.name,
    )
    return {
        "authorizer": authz.authorizer(answer),
        "authorizer.requestResource": authz.request_resource(answer, asked),
    }


_OPTIONS: Final = {
    Operation.CREATE: "CreateOptions",
    Operation.UPDATE: "UpdateOptions",
    Operation.DELETE: "DeleteOptions",
}


def request_value(
    request: Request, matched: Matched, resource: Matched | None = None, *, in_place: bool = True
) -> Any:
    """The value of `request`.

    `matched` is what the constraints matched; `resource` is what `request.resource` names, where
    that is something else. `in_place`: read as its Go type, as since Kubernetes 1.37.
    """
    head = request.head
    version = head.api_version.rpartition("/")[2]
    kind = {"group": head.group, "version": version, "kind": head.kind}
    own = {"group": head.group, "version": version, "resource": request.resource.plural}
    named = resource or matched
    user = request.user
    info = {
        "username": user.username,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {key: list(values) for key, values in user.extra.items()},
    }
    texts = {"name": head.name, "namespace": own_namespace(head, request.namespace)}
    value = {
        "uid": request.uid,
        "kind": {"group": matched.group, "version": matched.version, "kind": matched.kind},
        "resource": {
            "group": named.group,
            "version": named.version,
            "resource": named.resource,
        },
        "requestKind": kind,
        "requestResource": own,
        **{name: text for name, text in texts.items() if text},
        "operation": str(request.operation),
        "userInfo": {name: part for name, part in info.items() if part},
        "object": None,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": _OPTIONS[request.operation], "apiVersion": "meta.k8s.io/v1"},
    }
    return views.request(value) if in_place else value


_METADATA: Final = frozenset(
    (
        *("name", "generateName", "namespace", "resourceVersion", "generation", "labels"),
        *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "annotations"),
        *("finalizers", "uid"),
    )
)


def namespace_value(namespace: Json | None, *, in_place: bool = True) -> Any:
    """The value of `namespaceObject` from a Namespace that was decoded; None where there is none.

    Of its metadata only what the API server exposes. `in_place` as in `request_value`.
    """
    if namespace is None:
        return None
    metadata = namespace.get("metadata") or {}
    shown: Json = {
        "metadata": {
            key: part for key, part in metadata.items() if key in _METADATA and _is_set(part)
        },
        "spec": _set_parts(namespace.get("spec")),
        "status": _set_parts(namespace.get("status")),
    }
    return views.namespace(shown) if in_place else shown


def _set_parts(value: Json | None) -> Json:
    return {key: part for key, part in (value or {}).items() if _is_set(part)}


def _is_set(value: Any) -> bool:
    return value not in ("", None, {}, [], 0)


# Typed objects


def typed_view(value: Json | None, schemas: Schemas) -> Any:
    """An object of a built-in kind as CEL reads its Go type; others, and None, as they are."""
    if value is None:
        return None
    schema = schemas.kind(value.get("apiVersion", ""), value.get("kind", ""))
    return value if schema is None else struct_view(value, schema.struct)


def struct_view(value: Json, struct: Struct) -> Any:
    """An object as CEL reads the Go type that it is of."""
    return view(value, _struct_shape(struct))


@lru_cache(maxsize=4_096)
def _struct_shape(struct: Struct) -> ObjectShape:
    # By the struct itself: releases have types of one name with different fields.
    return ObjectShape(struct.name.rpartition("/")[2], _FieldShapes(struct))


class _FieldShapes:
    """The shapes of a struct's fields, made when asked for: a struct may contain itself."""

    def __init__(self, struct: Struct) -> None:
        self._struct = struct
        self._shapes: dict[str, ObjectShape | None] = {}

    def get(self, key: str) -> ObjectShape | None:
        try:
            return self._shapes[key]
        except KeyError:
            field = self._struct.fields.get(key)
            shape = self._shapes[key] = None if field is None else _shape(field.type)
            return shape


class _AllAlike:
    """The shapes of the members of a map: all are one."""

    def __init__(self, member: ObjectShape) -> None:
        self._member = member

    def get(self, key: str) -> ObjectShape | None:
        return self._member


def _shape(kind: Type) -> ObjectShape | None:
    """The shape of a value of a type; a list has that of its elements, as `ListView` expects."""
    if kind.value is Value.STRUCT:
        return _struct_shape(kind.struct)
    if kind.value in _MARSHALLED:
        return PLAIN
    if kind.value is Value.LIST and kind.element is not None:
        return _shape(kind.element)
    if kind.value is Value.MAP and kind.element is not None:
        member = _shape(kind.element)
        return None if member is None else ObjectShape("", _AllAlike(member))
    return None


_MARSHALLED: Final = frozenset(
    (
        *(Value.RAW, Value.FIELDS, Value.JSON),
        *(Value.SCHEMA_OR_BOOLEAN, Value.SCHEMA_OR_LIST, Value.SCHEMA_OR_STRINGS),
    )
)
"""Types with a MarshalJSON of their own."""
