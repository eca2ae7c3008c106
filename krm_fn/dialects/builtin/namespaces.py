"""NamespaceLifecycle, NamespaceExists, NamespaceAutoProvision: objects need a namespace.

Source: k8s.io/apiserver pkg/admission/plugin/namespace/lifecycle; plugin/pkg/admission/namespace.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import (
    Cause,
    Finding,
    Operation,
    Prefilter,
    Request,
    Response,
    Selection,
)
from krm_fn.dialects.builtin.listers import Listers, name_of
from krm_fn.dialects.builtin.plugin import BuiltIn, Denied, Forbidden
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json, get

NAMESPACE: Final = ("", "Namespace")

_IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})
_ACCESS_REVIEW: Final = ("authorization.k8s.io", "LocalSubjectAccessReview")


class _Refusing:
    """The namespaces in which these plugins refuse objects, told from what is known at first."""

    def __init__(self, listers: Listers) -> None:
        self._known = {name_of(one): _is_terminating(one) for one in listers.list(NAMESPACE)}
        self._has_all = listers.has_all("Namespace")

    def __contains__(self, name: object) -> bool:
        return name != "" and self._known.get(str(name), self._has_all)


def _is_terminating(namespace: Json) -> bool:
    return bool(get(namespace, ("status", "phase")) == "Terminating")


class NamespaceLifecycle(BuiltIn):
    """Nothing is created in a namespace that is missing, or that goes."""

    name = "NamespaceLifecycle"

    def prefilter(self, listers: Listers) -> Prefilter:
        return Prefilter([Selection(namespaces=_Refusing(listers))])

    def admit(self, request: Request, listers: Listers) -> Response:
        if (request.head.group, request.head.kind) == NAMESPACE:
            if request.operation is Operation.DELETE and request.head.name in _IMMORTAL:
                raise Forbidden(request, "this namespace may not be deleted")
            return Response()
        if request.operation is not Operation.CREATE or not _is_in_namespace(request):
            return Response()
        namespace = listers.namespace(request.namespace)
        if namespace is None:
            _check_missing(request, listers)
        elif _is_terminating(namespace):
            raise Forbidden(
                request,
                f"unable to create new content in namespace {request.namespace} because it is "
                "being terminated",
                [_being_terminated(request.namespace)],
            )
        return Response()


class NamespaceExists(BuiltIn):
    """Objects are neither created, updated nor deleted in a namespace that is missing."""

    name = "NamespaceExists"

    def prefilter(self, listers: Listers) -> Prefilter:
        return Prefilter([Selection(namespaces=_Refusing(listers))])

    def validate(self, request: Request, listers: Listers) -> Response:
        own = (request.head.group, request.head.kind) == NAMESPACE
        if not own and _is_in_namespace(request) and listers.namespace(request.namespace) is None:
            _check_missing(request, listers)
        return Response()


class NamespaceAutoProvision(BuiltIn):
    """Creates namespaces that are missing; in a render there is nothing to create."""

    name = "NamespaceAutoProvision"


def _is_in_namespace(request: Request) -> bool:
    kind = request.head.group, request.head.kind
    return bool(request.namespace) and kind != _ACCESS_REVIEW


def _check_missing(request: Request, listers: Listers) -> None:
    """Raise Denied where a namespace that is not known is not there."""
    if listers.has_all("Namespace"):
        message = f"namespaces {quote(request.namespace)} not found"
        raise Denied(message, 404, "NotFound", field=("metadata", "namespace"))


def _being_terminated(namespace: str) -> Finding:
    return Finding(
        Cause.REJECTED,
        True,
        f"namespace {namespace} is being terminated",
        field=("metadata", "namespace"),
        reason="NamespaceTerminating",
    )
