"""DefaultStorageClass and DefaultIngressClass: what names no class gets the default one.

Source: plugin/pkg/admission/storage/storageclass/setdefault, network/defaultingressclass.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import (
    INGRESS_CLASS,
    STORAGE_CLASS,
    Listers,
    annotations_of,
    name_of,
)
from krm_fn.dialects.builtin.plugin import BuiltIn
from krm_fn.dialects.builtin.pods import with_spec
from krm_fn.values import Json, get

CLAIM: Final = ("", "PersistentVolumeClaim")
INGRESS: Final = ("networking.k8s.io", "Ingress")

BETA_STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
"""The annotation that named a claim's class before the field did; it counts first."""

DEFAULT_STORAGE_CLASS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
DEFAULT_INGRESS_CLASS: Final = ("ingressclass.kubernetes.io/is-default-class",)
_INGRESS_CLASS: Final = "kubernetes.io/ingress.class"


class DefaultStorageClass(BuiltIn):
    """Claims without a storage class."""

    name = "DefaultStorageClass"
    kinds = frozenset({CLAIM})

    def admit(self, request: Request, listers: Listers) -> Response:
        field, annotation = "storageClassName", BETA_STORAGE_CLASS
        if not _lacks_class(request, field, annotation):
            return Response()
        default = _default(listers, STORAGE_CLASS, DEFAULT_STORAGE_CLASS)
        return _with_class(self, request, field, default)


class DefaultIngressClass(BuiltIn):
    """Ingresses without a class."""

    name = "DefaultIngressClass"
    kinds = frozenset({INGRESS})

    def admit(self, request: Request, listers: Listers) -> Response:
        field, annotation = "ingressClassName", _INGRESS_CLASS
        if not _lacks_class(request, field, annotation):
            return Response()
        default = _default(listers, INGRESS_CLASS, DEFAULT_INGRESS_CLASS)
        return _with_class(self, request, field, default)


def with_default_class(claim: Json, listers: Listers) -> Json:
    """A claim as it will be created, with the default class if it names none."""
    default = _default(listers, STORAGE_CLASS, DEFAULT_STORAGE_CLASS)
    if default is None or not _names_none(claim, "storageClassName", BETA_STORAGE_CLASS):
        return claim
    return with_spec(claim, {**claim["spec"], "storageClassName": name_of(default)})


def _lacks_class(request: Request, field: str, annotation: str) -> bool:
    created = request.operation is Operation.CREATE
    return created and _names_none(request.object, field, annotation)


def _names_none(value: Json, field: str, annotation: str) -> bool:
    return value["spec"].get(field) is None and annotation not in annotations_of(value)


def _with_class(plugin: BuiltIn, request: Request, field: str, default: Json | None) -> Response:
    if default is None:
        return Response()
    spec = {**request.object["spec"], field: name_of(default)}
    return plugin.changed(request, with_spec(request.object, spec))


def _default(listers: Listers, kind: tuple[str, str], annotations: tuple[str, ...]) -> Json | None:
    """The class that is marked as the default: the newest one, of equally old ones by name."""

    def find() -> Json | None:
        marked = [one for one in listers.list(kind) if is_marked(one, annotations)]
        return max(marked, key=_created, default=None)

    return listers.once((_default, kind), find)


def is_marked(value: Json, annotations: tuple[str, ...]) -> bool:
    """Whether one of the annotations is exactly "true"."""
    present = annotations_of(value)
    return any(present.get(name) == "true" for name in annotations)


def _created(value: Json) -> str:
    """When a class was created; the API server writes times so that they compare as texts."""
    return get(value, ("metadata", "creationTimestamp")) or ""
