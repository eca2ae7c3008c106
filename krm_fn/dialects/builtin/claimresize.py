"""PersistentVolumeClaimResize: a claim grows only where its StorageClass allows that.

Source: plugin/pkg/admission/storage/persistentvolume/resize.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.defaultclass import BETA_STORAGE_CLASS, CLAIM
from krm_fn.dialects.builtin.listers import STORAGE_CLASS, Listers, annotations_of
from krm_fn.dialects.builtin.plugin import BuiltIn, Forbidden
from krm_fn.kube.quantity import ZERO, Quantity, parse
from krm_fn.values import Json, get

_SIZE: Final = ("spec", "resources", "requests", "storage")


class PersistentVolumeClaimResize(BuiltIn):
    """Updates that ask for more storage."""

    name = "PersistentVolumeClaimResize"
    kinds = frozenset({CLAIM})

    def validate(self, request: Request, listers: Listers) -> Response:
        old = request.old_object
        if request.operation is not Operation.UPDATE or old is None:
            return Response()
        if not _size(request.object).is_more_than(_size(old)):
            return Response()
        if get(old, ("status", "phase")) != "Bound":
            detail = "Only bound persistent volume claims can be expanded"
            raise Forbidden(request, detail, field=_SIZE)
        if not _may_grow(request.object, old, listers):
            raise Forbidden(
                request,
                "only dynamically provisioned pvc can be resized and the storageclass that "
                "provisions the pvc must support resize",
                field=_SIZE,
            )
        return Response()


def _size(claim: Json) -> Quantity:
    text = get(claim, _SIZE)
    return parse(text) if text is not None else ZERO


def storage_class_of(claim: Json) -> str:
    """The StorageClass that a claim names, "" for none: the annotation before the field."""
    annotations = annotations_of(claim)
    if BETA_STORAGE_CLASS in annotations:
        return annotations[BETA_STORAGE_CLASS]
    return claim["spec"].get("storageClassName") or ""


def _may_grow(claim: Json, old: Json, listers: Listers) -> bool:
    name = storage_class_of(claim)
    if not name or storage_class_of(old) != name:
        return False
    found = listers.get(STORAGE_CLASS, name)
    return found is not None and found.get("allowVolumeExpansion") is True
