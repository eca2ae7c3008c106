"""StorageObjectInUseProtection: finalizers that keep storage from being deleted while it is used.

Source: plugin/pkg/admission/storage/storageobjectinuseprotection.
"""

from __future__ import annotations

from typing import Final

from krm_fn.admission import Operation, Request, Response
from krm_fn.dialects.builtin.listers import Listers
from krm_fn.dialects.builtin.plugin import BuiltIn
from krm_fn.values import get, with_at

_ATTRIBUTES_CLASS: Final = ("storage.k8s.io", "VolumeAttributesClass")
_FINALIZERS: Final = {
    ("", "PersistentVolumeClaim"): "kubernetes.io/pvc-protection",
    ("", "PersistentVolume"): "kubernetes.io/pv-protection",
    _ATTRIBUTES_CLASS: "kubernetes.io/vac-protection",
}
_PATH: Final = ("metadata", "finalizers")

_VOLUME_ATTRIBUTES_CLASSES: Final = (1, 34)
"""The release since which VolumeAttributesClass is on."""


class StorageObjectInUseProtection(BuiltIn):
    """Claims, volumes and classes of volume attributes get their finalizer."""

    name = "StorageObjectInUseProtection"
    kinds = frozenset(_FINALIZERS)

    def admit(self, request: Request, listers: Listers) -> Response:
        kind = request.head.group, request.head.kind
        if request.operation is not Operation.CREATE:
            return Response()
        if kind == _ATTRIBUTES_CLASS and listers.release < _VOLUME_ATTRIBUTES_CLASSES:
            return Response()
        finalizers = get(request.object, _PATH) or []
        if _FINALIZERS[kind] in finalizers:
            return Response()
        protected = with_at(request.object, _PATH, [*finalizers, _FINALIZERS[kind]])
        return self.changed(request, protected)
