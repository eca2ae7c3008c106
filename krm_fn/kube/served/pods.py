"""Defaults of Pods and of what every pod template has, where they depend on other fields.

Each rule takes a struct's written value and what it was read from; see `plan.Rule`.
Source: the served form's specification, section (c); pkg/apis/core/v1/defaults.go, conversion.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from krm_fn.kube.quantity import Quantity, parse
from krm_fn.kube.served.images import pull_policy
from krm_fn.values import Json

_INIT_CONTAINER_ANNOTATIONS: Final = (
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
)


def container(out: Json, _: Json) -> Json:
    if "imagePullPolicy" in out:
        return out
    return {**out, "imagePullPolicy": pull_policy(out.get("image", ""))}


def volume(out: Json, _: Json) -> Json:
    """A volume without a source is an empty directory."""
    return out if any(key != "name" for key in out) else {**out, "emptyDir": {}}


def image_volume(out: Json, _: Json) -> Json:
    if "pullPolicy" in out:
        return out
    return {**out, "pullPolicy": pull_policy(out.get("reference", ""))}


def pod_spec(out: Json, _: Json) -> Json:
    """`serviceAccount` is another name of `serviceAccountName`, which wins."""
    name = out.get("serviceAccountName")
    alias = out.get("serviceAccount")
    if name == alias:
        return out
    name = name or alias
    return {**out, "serviceAccountName": name, "serviceAccount": name}


def pod_template(out: Json, _: Json) -> Json:
    return without_init_annotations(out)


def without_init_annotations(out: Json) -> Json:
    annotations = out["metadata"].get("annotations")
    if annotations is None or not any(key in annotations for key in _INIT_CONTAINER_ANNOTATIONS):
        return out
    kept = {k: v for k, v in annotations.items() if k not in _INIT_CONTAINER_ANNOTATIONS}
    metadata = {k: v for k, v in out["metadata"].items() if k != "annotations"}
    return {**out, "metadata": {**metadata, "annotations": kept} if kept else metadata}


def pod(out: Json, _: Json) -> Json:
    return _with_spec(out, _spec(out["spec"]))


def pod_with_resources(out: Json, _: Json) -> Json:
    """As `pod`, with the resources of the Pod as a whole, which 1.34 has."""
    return _with_spec(out, _pod_resources(_spec(out["spec"])))


def _with_spec(out: Json, spec: Json) -> Json:
    if spec is not out["spec"]:
        out = {**out, "spec": spec}
    return without_init_annotations(out)


def _spec(spec: Json) -> Json:
    out = _each(spec, "containers", _requests)
    out = _each(out, "initContainers", _requests)
    if "enableServiceLinks" not in out:
        out = {**out, "enableServiceLinks": True}
    if out.get("hostNetwork"):
        out = _each(out, "containers", _host_ports)
        out = _each(out, "initContainers", _host_ports)
    if out["terminationGracePeriodSeconds"] < 0:
        out = {**out, "terminationGracePeriodSeconds": 1}
    return out


def _each(out: Json, field: str, change: Callable[[Json], Json]) -> Json:
    """`out` with each element of a list changed, itself where none is."""
    elements = out.get(field)
    if not elements:
        return out
    changed = [change(element) for element in elements]
    if all(new is old for new, old in zip(changed, elements, strict=True)):
        return out
    return {**out, field: changed}


def _requests(one: Json) -> Json:
    """What is limited is also requested."""
    resources = one["resources"]
    limits = resources.get("limits")
    requests = resources.get("requests", {})
    if not limits or limits.keys() <= requests.keys():
        return one
    return {**one, "resources": {**resources, "requests": {**limits, **requests}}}


def _host_ports(one: Json) -> Json:
    return _each(one, "ports", _host_port)


def _host_port(port: Json) -> Json:
    if "hostPort" in port or not port["containerPort"]:
        return port
    return {**port, "hostPort": port["containerPort"]}


def pod_status(out: Json, _: Json) -> Json:
    """`podIP` is the first of `podIPs`, and wins."""
    ip = out.get("podIP")
    ips = out.get("podIPs")
    if ip and (not ips or ips[0].get("ip", "") != ip):
        return {**out, "podIPs": [{"ip": ip}]}
    if ips and not ip and ips[0].get("ip"):
        return {**out, "podIP": ips[0]["ip"]}
    return out


# ---------------------------------------------------------------------- resources of a whole Pod

_SUMMED: Final = ("cpu", "memory")
_HUGE_PAGES: Final = "hugepages-"


def _pod_resources(spec: Json) -> Json:
    """Limits on huge pages, and requests where there are limits: what the containers say."""
    resources = spec.get("resources")
    if not resources:
        return spec
    wanted = resources.get("requests", {})
    limits = dict(resources.get("limits", {}))
    for name, total in _together(spec, "limits").items():
        if name.startswith(_HUGE_PAGES) and name not in wanted and name not in limits:
            limits[name] = str(total)
    requests = dict(wanted)
    if limits:
        for name, total in _together(spec, "requests").items():
            if name in _SUMMED and name not in requests:
                requests[name] = str(total)
        for name, limit in limits.items():
            if name not in requests and (name in _SUMMED or name.startswith(_HUGE_PAGES)):
                requests[name] = limit
    if len(limits) == len(resources.get("limits", ())) and len(requests) == len(wanted):
        return spec
    filled = {"limits": limits, "requests": requests}
    return {**spec, "resources": {**resources, **{k: v for k, v in filled.items() if v}}}


def _together(spec: Json, which: str) -> dict[str, Quantity]:
    """What a Pod's containers need together at the time when they need most.

    Source: component-helpers resource.AggregateContainerRequests, AggregateContainerLimits.
    """
    total: dict[str, Quantity] = {}
    for one in spec.get("containers") or ():
        _add(total, _quantities(one, which))
    sidecars: dict[str, Quantity] = {}
    starting: dict[str, Quantity] = {}
    for one in spec.get("initContainers") or ():
        needs = _quantities(one, which)
        if one.get("restartPolicy") == "Always":
            _add(total, needs)
            _add(sidecars, needs)
            needs = dict(sidecars)
        else:
            _add(needs, sidecars)
        _raise(starting, needs)
    _raise(total, starting)
    return total


def _quantities(one: Json, which: str) -> dict[str, Quantity]:
    needs: dict[str, str] = one["resources"].get(which, {})
    return {name: parse(text) for name, text in needs.items()}


def _add(total: dict[str, Quantity], more: dict[str, Quantity]) -> None:
    for name, quantity in more.items():
        total[name] = total[name].plus(quantity) if name in total else quantity


def _raise(total: dict[str, Quantity], more: dict[str, Quantity]) -> None:
    """Keep the larger of both."""
    for name, quantity in more.items():
        if name not in total or quantity.is_more_than(total[name]):
            total[name] = quantity
