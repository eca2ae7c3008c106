"""Defaults of all other kinds, where they depend on other fields.

Each rule takes a struct's written value and what it was read from; see `plan.Rule`.
Source: the served form's specification, section (c); defaults.go and conversion.go of pkg/apis.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.values import Json

_RBAC: Final = "rbac.authorization.k8s.io"


# ------------------------------------------------------------------------------------ core group


def secret(out: Json, _: Json) -> Json:
    """`stringData` is merged into `data` and wins; nobody sees it afterwards."""
    texts = out.get("stringData")
    if not texts:
        return out
    kept = {key: value for key, value in out.items() if key != "stringData"}
    # Lone surrogates cannot come from any reader of this program; they must not be an error here.
    encoded = {
        key: base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        for key, text in texts.items()
    }
    return {**kept, "data": {**out.get("data", {}), **encoded}}


def namespace(out: Json, _: Json) -> Json:
    """The name is a label, also over another value."""
    metadata = out["metadata"]
    name = metadata.get("name")
    labels = metadata.get("labels", {})
    if not name or labels.get(METADATA_NAME) == name:
        return out
    return {**out, "metadata": {**metadata, "labels": {**labels, METADATA_NAME: name}}}


def persistent_volume(out: Json, _: Json) -> Json:
    """Not where a volume's specification stands alone, as in a VolumeAttachment."""
    defaults = {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}
    spec = out["spec"]
    if all(key in spec for key in defaults):
        return out
    return {**out, "spec": {**defaults, **spec}}


def node_spec(out: Json, _: Json) -> Json:
    """`podCIDR` is the first of `podCIDRs`, and wins."""
    cidr = out.get("podCIDR")
    cidrs = out.get("podCIDRs")
    if cidr and (not cidrs or cidrs[0] != cidr):
        return {**out, "podCIDRs": [cidr]}
    if cidrs and not cidr and cidrs[0]:
        return {**out, "podCIDR": cidrs[0]}
    return out


def node_status(out: Json, given: Json) -> Json:
    """What is there can be allocated, if nothing else is said."""
    if given.get("allocatable") is not None or "capacity" not in out:
        return out
    return {**out, "allocatable": out["capacity"]}


def limit_range_item(out: Json, _: Json) -> Json:
    """For containers: the default is the maximum, and the request the default or the minimum."""
    if out["type"] != "Container":
        return out
    default = {**out.get("max", {}), **out.get("default", {})}
    request = {**out.get("min", {}), **default, **out.get("defaultRequest", {})}
    filled = out
    if default and len(default) != len(out.get("default", ())):
        filled = {**filled, "default": default}
    if request and len(request) != len(out.get("defaultRequest", ())):
        filled = {**filled, "defaultRequest": request}
    return filled


def service_port(out: Json, _: Json) -> Json:
    """The target is the port itself, if it is 0 or empty."""
    if out["targetPort"] or out["targetPort"] == out["port"]:
        return out
    return {**out, "targetPort": out["port"]}


_AFFINITY_SECONDS: Final = 10800
_REACHED_FROM_OUTSIDE: Final = ("NodePort", "LoadBalancer")


def service_spec(out: Json, _: Json) -> Json:
    type_ = out["type"]
    affinity = out["sessionAffinity"]
    if affinity == "None" and "sessionAffinityConfig" in out:
        out = {key: value for key, value in out.items() if key != "sessionAffinityConfig"}
    if affinity == "ClientIP":
        client = out.get("sessionAffinityConfig", {}).get("clientIP", {})
        if "timeoutSeconds" not in client:
            config = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}
            out = {**out, "sessionAffinityConfig": config}
    outside = type_ in _REACHED_FROM_OUTSIDE or (type_ == "ClusterIP" and out.get("externalIPs"))
    defaults: dict[str, Any] = {}
    if outside:
        defaults["externalTrafficPolicy"] = "Cluster"
    if type_ in (*_REACHED_FROM_OUTSIDE, "ClusterIP"):
        defaults["internalTrafficPolicy"] = "Cluster"
    if type_ == "LoadBalancer":
        defaults["allocateLoadBalancerNodePorts"] = True
    if all(key in out for key in defaults):
        return out
    return {**defaults, **out}


def service(out: Json, _: Json) -> Json:
    """A load balancer's addresses are virtual ones, if nothing else is said."""
    entries = out["status"]["loadBalancer"].get("ingress")
    if not entries or out["spec"]["type"] != "LoadBalancer":
        return out
    if not any(entry.get("ip") and "ipMode" not in entry for entry in entries):
        return out
    filled = [{"ipMode": "VIP", **entry} if entry.get("ip") else entry for entry in entries]
    return {**out, "status": {**out["status"], "loadBalancer": {"ingress": filled}}}


# ---------------------------------------------------------------------------------- other groups


def network_policy_spec(out: Json, _: Json) -> Json:
    if "policyTypes" in out:
        return out
    return {**out, "policyTypes": ["Ingress", "Egress"] if "egress" in out else ["Ingress"]}


def subject(out: Json, _: Json) -> Json:
    if "apiGroup" in out or out["kind"] not in ("User", "Group"):
        return out
    return {**out, "apiGroup": _RBAC}


def device_request(out: Json, _: Json) -> Json:
    """A request that offers no alternatives is for exactly one device."""
    if out.get("firstAvailable"):
        return out
    filled = out if "allocationMode" in out else {**out, "allocationMode": "ExactCount"}
    if filled["allocationMode"] == "ExactCount" and "count" not in out:
        filled = {**filled, "count": 1}
    return filled


def definition(out: Json, _: Json) -> Json:
    """A CustomResourceDefinition has stored objects in its storage version."""
    status = out["status"]
    if status.get("storedVersions"):
        return out
    stored = [one["name"] for one in out["spec"]["versions"] or () if one["storage"]][:1]
    if not stored:
        return out
    return {**out, "status": {**status, "storedVersions": stored}}


def definition_spec(out: Json, _: Json) -> Json:
    """Names that follow from the kind."""
    names = out["names"]
    kind = names["kind"]
    filled = names
    if kind and "singular" not in names:
        filled = {**filled, "singular": kind.lower()}
    if kind and "listKind" not in names:
        filled = {**filled, "listKind": f"{kind}List"}
    return out if filled is names else {**out, "names": filled}
