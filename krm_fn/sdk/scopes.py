"""Which kinds live in a namespace: Kubernetes' own, and those that a list itself defines.

The table is small and changes with releases; a test holds it against the schemas of all of them.
"""

from __future__ import annotations

from typing import Final

from krm_fn.errors import InputError
from krm_fn.values import Json, get
from krm_fn.wire import Item, Stream

_CLUSTER: Final[dict[str, frozenset[str]]] = {
    "": frozenset(("ComponentStatus", "Namespace", "Node", "PersistentVolume")),
    "admissionregistration.k8s.io": frozenset(
        (
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        )
    ),
    "apiextensions.k8s.io": frozenset(("CustomResourceDefinition",)),
    "apiregistration.k8s.io": frozenset(("APIService",)),
    "apps": frozenset(),
    "authentication.k8s.io": frozenset(("SelfSubjectReview", "TokenReview")),
    "authorization.k8s.io": frozenset(
        ("SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview")
    ),
    "autoscaling": frozenset(),
    "batch": frozenset(),
    "certificates.k8s.io": frozenset(("CertificateSigningRequest", "ClusterTrustBundle")),
    "coordination.k8s.io": frozenset(),
    "discovery.k8s.io": frozenset(),
    "events.k8s.io": frozenset(),
    "extensions": frozenset(("PodSecurityPolicy",)),
    "flowcontrol.apiserver.k8s.io": frozenset(("FlowSchema", "PriorityLevelConfiguration")),
    "internal.apiserver.k8s.io": frozenset(("StorageVersion",)),
    "lifecycle.k8s.io": frozenset(),
    "networking.k8s.io": frozenset(("IPAddress", "IngressClass", "ServiceCIDR")),
    "node.k8s.io": frozenset(("RuntimeClass",)),
    "policy": frozenset(("PodSecurityPolicy",)),
    "rbac.authorization.k8s.io": frozenset(("ClusterRole", "ClusterRoleBinding")),
    "resource.k8s.io": frozenset(
        ("DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice")
    ),
    "scheduling.k8s.io": frozenset(("PriorityClass",)),
    "storage.k8s.io": frozenset(
        ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass")
    ),
    "storagemigration.k8s.io": frozenset(("StorageVersionMigration",)),
}
"""The API groups of Kubernetes itself, each with its kinds that live in no namespace."""

_DEFINITION: Final = "CustomResourceDefinition"


def scope_of(group: str, kind: str) -> bool | None:
    """Returns whether a kind of Kubernetes itself is namespaced; None for all other kinds."""
    kinds = _CLUSTER.get(group)
    return None if kinds is None else kind not in kinds


class DefinedScopes:
    """The scopes of custom kinds, from the CustomResourceDefinitions in a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._scopes: dict[tuple[str, str], bool] | None = None

    def scope_of(self, group: str, kind: str) -> bool | None:
        """Returns whether a custom kind is namespaced; None where nothing defines it."""
        if self._scopes is None:
            self._scopes = {}
            for item in self._stream.items:
                if item.head.kind == _DEFINITION:
                    self._define(item)
        return self._scopes.get((group, kind))

    def _define(self, item: Item) -> None:
        try:
            spec: Json = get(item.original, ("spec",))
        except InputError:
            return
        group, kind = get(spec, ("group",)), get(spec, ("names", "kind"))
        if type(group) is str and type(kind) is str and self._scopes is not None:
            self._scopes[group, kind] = get(spec, ("scope",)) != "Cluster"
