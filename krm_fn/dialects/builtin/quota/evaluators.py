"""What objects use of quotas, by kind.

Source: k8s.io/kubernetes pkg/quota/v1/evaluator/core; k8s.io/apiserver pkg/quota/v1/generic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from krm_fn.admission import Operation, Request
from krm_fn.dialects.builtin.amounts import (
    HUGE_PAGES,
    POD_LEVEL_RESOURCES,
    Amounts,
    PodLevel,
    added,
    amounts,
    pod_amounts,
)
from krm_fn.dialects.builtin.claimresize import storage_class_of
from krm_fn.dialects.builtin.pods import INIT, REGULAR, containers
from krm_fn.dialects.builtin.quota.scopes import (
    Scope,
    holds_for_claim,
    holds_for_pod,
    is_terminating,
)
from krm_fn.kube.quantity import DECIMAL, ZERO, Quantity, parse
from krm_fn.kube.validation.resourcenames import is_extended, is_native
from krm_fn.values import Json, get

ONE: Final = Quantity(1, 0, DECIMAL)

_REQUESTS: Final = "requests."
_LIMITS: Final = "limits."


class Evaluator:
    """Counts the objects of a kind; the base of those that know more.

    `resource` is the kind's resource as quotas name it: `configmaps`, `deployments.apps`. `alias`
    is an older name of the same count.
    """

    def __init__(self, resource: str, alias: str = "", release: tuple[int, int] = (1, 0)) -> None:
        self.count = f"count/{resource}"
        self._alias = alias
        self._release = release

    def handles(self, request: Request) -> bool:
        """Whether a request can change what is used."""
        return request.operation is Operation.CREATE

    def matching(self, names: Iterable[str]) -> set[str]:
        """Those of a quota's resources that are about the kind."""
        return {name for name in names if name in (self.count, self._alias)}

    def holds(self, scope: Scope, value: Json) -> bool:
        """Whether an object is in a scope; most kinds are in none."""
        return False

    def missing(self, required: set[str], value: Json) -> Mapping[str, set[str]]:
        """The resources that an object must give where a quota has them, with who does not."""
        return {}

    def usage(self, value: Json) -> dict[str, Quantity]:
        """What an object uses."""
        used = {self.count: ONE}
        return {**used, self._alias: ONE} if self._alias else used


class Pods(Evaluator):
    """Pods, with what their containers ask for."""

    def handles(self, request: Request) -> bool:
        if request.subresource:
            return request.operation is Operation.UPDATE
        if request.operation is Operation.UPDATE and request.old_object is not None:
            return is_terminating(request.object) != is_terminating(request.old_object)
        return request.operation is Operation.CREATE

    def matching(self, names: Iterable[str]) -> set[str]:
        own = (self.count, *_OF_PODS)
        return {name for name in names if name in own or _is_of_pods(name)}

    def holds(self, scope: Scope, value: Json) -> bool:
        return holds_for_pod(scope, value, self._release)

    def missing(self, required: set[str], value: Json) -> Mapping[str, set[str]]:
        if self._has_own_resources(value["spec"]):
            return {}
        found: dict[str, set[str]] = {}
        for container in containers(value["spec"], (REGULAR, INIT)):
            resources = container["resources"]
            given = _computed(amounts(resources.get("requests")), amounts(resources.get("limits")))
            for name in (required & _MUST_BE_GIVEN) - given.keys():
                found.setdefault(name, set()).add(container["name"])
        return found

    def _has_own_resources(self, spec: Json) -> bool:
        if self._release < POD_LEVEL_RESOURCES:
            return False
        level = PodLevel(huge_pages=True)
        names = (
            name
            for which in ("requests", "limits")
            for name in get(spec, ("resources", which)) or ()
        )
        return any(map(level.takes, names))

    def usage(self, value: Json) -> dict[str, Quantity]:
        used = {self.count: ONE}
        if get(value, ("status", "phase")) in ("Failed", "Succeeded"):
            return used
        spec = value["spec"]
        level = PodLevel(self._release >= POD_LEVEL_RESOURCES, huge_pages=True)
        overhead = amounts(spec.get("overhead"))
        requests = added(pod_amounts(spec, "requests", level), overhead)
        limits = pod_amounts(spec, "limits", level)
        limited = {name: more for name, more in overhead.items() if limits.get(name, ZERO).number}
        return {**used, **_computed(requests, added(limits, limited))}


_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_OF_PODS: Final = frozenset(
    ("pods", *_COMPUTE, *(which + name for which in (_REQUESTS, _LIMITS) for name in _COMPUTE))
)
_MUST_BE_GIVEN: Final = _OF_PODS - {
    "pods",
    "ephemeral-storage",
    "requests.ephemeral-storage",
    "limits.ephemeral-storage",
}
_DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"


def _is_of_pods(name: str) -> bool:
    """Whether a quota's resource is one of huge pages or an extended one."""
    if name.startswith((HUGE_PAGES, _REQUESTS + HUGE_PAGES)):
        return True
    extended = not is_native(name) or name.startswith(_REQUESTS + _DEVICE_CLASS)
    return extended and name.startswith(_REQUESTS)


def _computed(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    """What requests and limits use, by the names that quotas have for them."""
    used = {"pods": ONE}
    for name, quantity in requests.items():
        if name in _COMPUTE or name.startswith(HUGE_PAGES):
            used[name] = used[_REQUESTS + name] = quantity
        elif name.startswith(_DEVICE_CLASS) or is_extended(name):
            used[_REQUESTS + name] = quantity
    for name in _COMPUTE:
        if name in limits:
            used[_LIMITS + name] = limits[name]
    return used


class Services(Evaluator):
    """Services, with their load balancers and node ports."""

    def handles(self, request: Request) -> bool:
        return request.operation is not Operation.DELETE

    def matching(self, names: Iterable[str]) -> set[str]:
        own = (self.count, "services", "services.loadbalancers", "services.nodeports")
        return {name for name in names if name in own}

    def usage(self, value: Json) -> dict[str, Quantity]:
        spec = value["spec"]
        ports = spec.get("ports") or []
        balanced = spec.get("type") == "LoadBalancer"
        if balanced and spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [port for port in ports if port.get("nodePort")]
        elif not balanced and spec.get("type") != "NodePort":
            ports = []
        return {
            self.count: ONE,
            "services": ONE,
            "services.loadbalancers": ONE if balanced else ZERO,
            "services.nodeports": Quantity(len(ports), 0, DECIMAL),
        }


_CLAIMS: Final = "persistentvolumeclaims"
_STORAGE: Final = "requests.storage"
_BY_CLASS: Final = ".storageclass.storage.k8s.io/"
_VOLUME_ATTRIBUTES_CLASSES: Final = (1, 34)


class Claims(Evaluator):
    """PersistentVolumeClaims, with their storage, of all classes and of each."""

    def handles(self, request: Request) -> bool:
        return request.operation is not Operation.DELETE

    def matching(self, names: Iterable[str]) -> set[str]:
        ends = (_BY_CLASS + _CLAIMS, _BY_CLASS + _STORAGE)
        own = (self.count, _CLAIMS, _STORAGE)
        return {name for name in names if name in own or name.endswith(ends)}

    def holds(self, scope: Scope, value: Json) -> bool:
        return self._release >= _VOLUME_ATTRIBUTES_CLASSES and holds_for_claim(scope, value)

    def usage(self, value: Json) -> dict[str, Quantity]:
        used = {self.count: ONE, _CLAIMS: ONE}
        storage = _storage(value)
        if storage is not None:
            used[_STORAGE] = storage
        name = storage_class_of(value)
        if name:
            of_class = {
                name + _BY_CLASS + key: used[key] for key in (_CLAIMS, _STORAGE) if key in used
            }
            used.update(of_class)
        return used


def _storage(claim: Json) -> Quantity | None:
    """The storage that a claim takes, in whole bytes."""
    wanted = get(claim, ("spec", "resources", "requests", "storage"))
    if wanted is None:
        return None
    found = _whole(parse(wanted))
    allocated = get(claim, ("status", "allocatedResources", "storage"))
    if allocated is not None and parse(allocated).is_more_than(found):
        found = _whole(parse(allocated))
    return found


def _whole(quantity: Quantity) -> Quantity:
    """The quantity, rounded up where it is no whole number."""
    rounded = quantity.rounded_to(0)
    return rounded if rounded.is_more_than(quantity) else quantity


_DEVICES: Final = ".deviceclass.resource.k8s.io/devices"
_MOST_DEVICES: Final = 32
"""What a request for all devices counts for: the largest number that an allocation can have."""


class DeviceClaims(Evaluator):
    """ResourceClaims, with the devices that they may get of each class."""

    def handles(self, request: Request) -> bool:
        return request.operation is not Operation.DELETE

    def matching(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if name == self.count or name.endswith(_DEVICES)}

    def usage(self, value: Json) -> dict[str, Quantity]:
        used = {self.count: ONE}
        for request in get(value, ("spec", "devices", "requests")) or ():
            most: dict[str, int] = {}
            for one in request.get("firstAvailable") or [request.get("exactly") or request]:
                name = one.get("deviceClassName", "") + _DEVICES
                most[name] = max(most.get(name, 0), _devices(one))
            used = added(used, {name: Quantity(n, 0, DECIMAL) for name, n in most.items()})
        return used


def _devices(request: Json) -> int:
    mode = request.get("allocationMode")
    if mode == "ExactCount":
        return int(request.get("count", 0))
    return _MOST_DEVICES if mode == "All" else 0


_SPECIAL: Final = {
    ("", "Pod"): Pods,
    ("", "Service"): Services,
    ("", "PersistentVolumeClaim"): Claims,
    ("resource.k8s.io", "ResourceClaim"): DeviceClaims,
}
_ALIASES: Final = frozenset({"configmaps", "resourcequotas", "replicationcontrollers", "secrets"})
_NEVER: Final = frozenset(
    {
        ("", "bindings"),
        ("", "componentstatuses"),
        ("", "events"),
        ("events.k8s.io", "events"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
    }
)
"""Resources that no quota counts."""


def evaluator_for(group: str, kind: str, plural: str, release: tuple[int, int]) -> Evaluator | None:
    """What knows the usage of a kind; None for one that no quota counts."""
    if (group, plural) in _NEVER:
        return None
    resource = f"{plural}.{group}" if group else plural
    alias = plural if not group and plural in _ALIASES else ""
    return _SPECIAL.get((group, kind), Evaluator)(resource, alias, release)
