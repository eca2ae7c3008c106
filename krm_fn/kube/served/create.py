"""What a kind's create strategy does to an object before validating admission sees it.

Only what a render can know: what is allocated, stamped or generated is left out, and so are fields
that a disabled feature would drop.
Source: the served form's specification, section (a), stage 13; pkg/registry/*/strategy.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.kube.quantity import parse
from krm_fn.kube.schema import KindSchema
from krm_fn.kube.served.plan import Plan
from krm_fn.values import Json

_GENERATION: Final = frozenset(
    (
        ("", "PodTemplate"),
        ("", "ReplicationController"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "Ingress"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("policy", "PodDisruptionBudget"),
        ("resource.k8s.io", "DeviceClass"),
        ("scheduling.k8s.io", "PriorityClass"),
    )
)
"""Kinds whose objects count their generations."""

_KEEPS_STATUS: Final = frozenset(
    (
        ("", "Node"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
    )
)
_STATUS: Final[dict[tuple[str, str], Json]] = {
    ("", "Namespace"): {"phase": "Active"},
    ("", "PersistentVolume"): {"phase": "Pending"},
}
"""What is left of a status that is not simply emptied."""


def prepared(served: Json, schema: KindSchema, typed: Plan, release: tuple[int, int]) -> Json:
    """A served object of a built-in kind as it is about to be created in a release.

    `typed` is the round trip without defaults: it knows what an empty status looks like.
    """
    key = (schema.group, schema.kind)
    out = served
    if key in _GENERATION and out["metadata"].get("generation") != 1:
        out = {**out, "metadata": {**out["metadata"], "generation": 1}}
    if "status" in out and key not in _KEEPS_STATUS:
        status = _STATUS.get(key)
        if key == ("", "Pod"):
            status = {"phase": "Pending", "qosClass": _quality(out["spec"])}
        elif status is None:
            status = typed.struct(schema.struct.fields["status"].type.struct)({})
        if out["status"] != status:
            out = {**out, "status": status}
    return _node(out, release) if key == ("", "Node") else out


def _node(out: Json, release: tuple[int, int]) -> Json:
    """A Node without the fields of features that are off."""
    off = ("config", "features") if release < (1, 33) else ("config",)
    if not any(name in out["status"] for name in off):
        return out
    return {**out, "status": {k: v for k, v in out["status"].items() if k not in off}}


def _quality(spec: Json) -> str:
    """A Pod's class of service. Source: pkg/apis/core/helper/qos."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    guaranteed = True
    total: dict[str, set[str]] = {"requests": set(), "limits": set()}
    for one in containers:
        given = {which: _positive(one["resources"].get(which, {})) for which in total}
        for which, names in total.items():
            names.update(given[which])
        guaranteed = guaranteed and len(given["limits"]) == len(_COMPUTE)
    if not total["requests"] and not total["limits"]:
        return "BestEffort"
    return "Guaranteed" if guaranteed and _sums_are_equal(containers) else "Burstable"


_COMPUTE: Final = ("cpu", "memory")


def _positive(quantities: dict[str, Any]) -> list[str]:
    return [name for name in _COMPUTE if name in quantities and parse(quantities[name]).number > 0]


def _sums_are_equal(containers: list[Json]) -> bool:
    """Whether the containers together request of everything what they are limited to."""
    for name in _COMPUTE:
        sums = []
        for which in ("requests", "limits"):
            texts = [one["resources"].get(which, {}).get(name) for one in containers]
            quantities = [parse(text) for text in texts if text is not None]
            total = parse("0")
            for quantity in quantities:
                total = total.plus(quantity)
            sums.append(total)
        if sums[0].is_more_than(sums[1]) or sums[1].is_more_than(sums[0]):
            return False
    return True
