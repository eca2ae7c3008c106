"""Which resource a kind is served under, and whether it lives in a namespace.

The built-in kinds are listed here as far as rules and scope need them; kinds of custom resources
come from the CustomResourceDefinitions that a render knows. What nobody knows is guessed as kubectl
users would expect, and says so.
Source: Kubernetes' API reference, `kubectl api-resources`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from krm_fn.values import get


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource: its plural (lower case), whether it is namespaced, whether that is known."""

    plural: str
    namespaced: bool
    known: bool = True


_CLUSTER_SCOPED: Final[dict[str, frozenset[str]]] = {
    "": frozenset({"ComponentStatus", "Namespace", "Node", "PersistentVolume"}),
    "admissionregistration.k8s.io": frozenset(
        {
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        }
    ),
    "apiextensions.k8s.io": frozenset({"CustomResourceDefinition"}),
    "apiregistration.k8s.io": frozenset({"APIService"}),
    "authentication.k8s.io": frozenset({"SelfSubjectReview", "TokenReview"}),
    "authorization.k8s.io": frozenset(
        {"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"}
    ),
    "certificates.k8s.io": frozenset({"CertificateSigningRequest", "ClusterTrustBundle"}),
    "flowcontrol.apiserver.k8s.io": frozenset({"FlowSchema", "PriorityLevelConfiguration"}),
    "internal.apiserver.k8s.io": frozenset({"StorageVersion"}),
    "networking.k8s.io": frozenset({"IngressClass", "IPAddress", "ServiceCIDR"}),
    "node.k8s.io": frozenset({"RuntimeClass"}),
    "policy": frozenset({"PodSecurityPolicy"}),
    "rbac.authorization.k8s.io": frozenset({"ClusterRole", "ClusterRoleBinding"}),
    "resource.k8s.io": frozenset({"DeviceClass", "ResourceSlice"}),
    "scheduling.k8s.io": frozenset({"PriorityClass"}),
    "storage.k8s.io": frozenset(
        {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}
    ),
    "storagemigration.k8s.io": frozenset({"StorageVersionMigration"}),
}

_BUILT_IN_GROUPS: Final = frozenset(_CLUSTER_SCOPED) | {
    "apps",
    "autoscaling",
    "batch",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
}

_IRREGULAR: Final[dict[str, str]] = {
    "Endpoints": "endpoints",
    "ComponentStatus": "componentstatuses",
    "SecurityContextConstraints": "securitycontextconstraints",
}


def plural_of(kind: str) -> str:
    """The plural that Kubernetes guesses from a kind: Ingress is ingresses, Policy is policies.

    Source: apimachinery UnsafeGuessKindToResource.
    """
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    name = kind.lower()
    if name.endswith("s"):
        return name + "es"
    if name.endswith("y"):
        return name[:-1] + "ies"
    return name + "s"


def built_in(group: str, kind: str) -> Resource | None:
    """The resource of a kind that Kubernetes itself serves, or None for other groups."""
    if group not in _BUILT_IN_GROUPS:
        return None
    return Resource(plural_of(kind), kind not in _CLUSTER_SCOPED.get(group, ()))


def from_crd(crd: dict[str, Any]) -> tuple[tuple[str, str], Resource] | None:
    """((group, kind), resource) of a CustomResourceDefinition; None where it does not say."""
    group = get(crd, ("spec", "group"))
    kind = get(crd, ("spec", "names", "kind"))
    plural = get(crd, ("spec", "names", "plural"))
    if type(group) is not str or type(kind) is not str:
        return None
    namespaced = get(crd, ("spec", "scope")) != "Cluster"
    return (group, kind), Resource(plural if type(plural) is str else plural_of(kind), namespaced)


def guessed(kind: str) -> Resource:
    """The resource of a kind that nobody described: namespaced, with the guessed plural."""
    return Resource(plural_of(kind), True, known=False)
