"""Which resource a kind is served under, and whether it lives in a namespace.

The built-in kinds come from the table of schema facts; kinds of custom resources come from the
CustomResourceDefinitions that a render knows. What nobody knows is guessed as kubectl users would
expect, and says so.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from krm_fn.kube.schema import NEWEST, OLDEST, Schemas
from krm_fn.values import get


class Resource(NamedTuple):
    """A resource: its plural (lower case), whether it is namespaced, whether that is known."""

    plural: str
    namespaced: bool
    known: bool = True


_IRREGULAR: Final[dict[str, str]] = {
    "Endpoints": "endpoints",
    "SecurityContextConstraints": "securitycontextconstraints",
}


_REMOVED: Final[dict[str, frozenset[str]]] = {
    "admissionregistration.k8s.io/v1beta1": frozenset(
        ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    ),
    "apiextensions.k8s.io/v1beta1": frozenset(("CustomResourceDefinition",)),
    "apiregistration.k8s.io/v1beta1": frozenset(("APIService",)),
    "apps/v1beta1": frozenset(("ControllerRevision", "Deployment", "StatefulSet")),
    "apps/v1beta2": frozenset(
        ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
    ),
    "authentication.k8s.io/v1beta1": frozenset(("TokenReview",)),
    "authorization.k8s.io/v1beta1": frozenset(
        (
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        )
    ),
    "autoscaling/v2beta1": frozenset(("HorizontalPodAutoscaler",)),
    "autoscaling/v2beta2": frozenset(("HorizontalPodAutoscaler",)),
    "batch/v1beta1": frozenset(("CronJob", "JobTemplate")),
    "certificates.k8s.io/v1beta1": frozenset(("CertificateSigningRequest",)),
    "coordination.k8s.io/v1beta1": frozenset(("Lease",)),
    "discovery.k8s.io/v1beta1": frozenset(("EndpointSlice",)),
    "events.k8s.io/v1beta1": frozenset(("Event",)),
    "extensions/v1beta1": frozenset(
        ("DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "PodSecurityPolicy", "ReplicaSet")
    ),
    "flowcontrol.apiserver.k8s.io/v1beta1": frozenset(("FlowSchema", "PriorityLevelConfiguration")),
    "flowcontrol.apiserver.k8s.io/v1beta2": frozenset(("FlowSchema", "PriorityLevelConfiguration")),
    "flowcontrol.apiserver.k8s.io/v1beta3": frozenset(("FlowSchema", "PriorityLevelConfiguration")),
    "networking.k8s.io/v1beta1": frozenset(("Ingress", "IngressClass")),
    "node.k8s.io/v1alpha1": frozenset(("RuntimeClass",)),
    "node.k8s.io/v1beta1": frozenset(("RuntimeClass",)),
    "policy/v1beta1": frozenset(("Eviction", "PodDisruptionBudget", "PodSecurityPolicy")),
    "rbac.authorization.k8s.io/v1alpha1": frozenset(
        ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    ),
    "rbac.authorization.k8s.io/v1beta1": frozenset(
        ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    ),
    "scheduling.k8s.io/v1alpha1": frozenset(("PriorityClass",)),
    "scheduling.k8s.io/v1beta1": frozenset(("PriorityClass",)),
    "storage.k8s.io/v1beta1": frozenset(
        ("CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment")
    ),
}
"""Versions of kinds that no release from 1.32 on serves, though clients still have their types.

Source: Kubernetes' documentation, "Deprecated API Migration Guide".
"""


def is_removed(api_version: str, kind: str) -> bool:
    """Whether a version of a kind was served once, and is not by any release known here."""
    return kind in _REMOVED.get(api_version, ())


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


@cache
def built_in(group: str, kind: str) -> Resource | None:
    """The resource of a kind that Kubernetes itself has in any version, or None for all others."""
    for schemas in _ends():
        for found in schemas.versions(group, kind):
            if found.plural:
                return Resource(found.plural, found.namespaced)
    return None


@cache
def built_in_groups() -> frozenset[str]:
    """The API groups that Kubernetes itself has in any version; "" is the core group."""
    return frozenset().union(*(schemas.groups() for schemas in _ends()))


@cache
def _ends() -> tuple[Schemas, ...]:
    """The newest and the oldest release, which together have every kind of those between."""
    return Schemas(NEWEST), Schemas(OLDEST)


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
