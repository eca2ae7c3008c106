"""Which Pods and claims the scopes of a quota mean.

Source: k8s.io/kubernetes pkg/quota/v1/evaluator/core (pods.go, persistent_volume_claims.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from krm_fn.kube.selectors import Requirement
from krm_fn.kube.served.qos import quality_of
from krm_fn.values import Json, Path, get


class Scope(NamedTuple):
    """A scope's name, and which values of it are meant."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{{{self.name} {self.operator} [{' '.join(self.values)}]}}"

    def has(self, value: str) -> bool:
        """Whether a value of the scope is meant; "" is none."""
        labels = {self.name: value} if value else {}
        return Requirement(self.name, self.operator, frozenset(self.values)).matches(labels)


def scopes_of(quota: Json) -> Iterator[Scope]:
    """The scopes of a quota, all of which must hold."""
    for name in get(quota, ("spec", "scopes")) or ():
        yield Scope(name)
    for expression in get(quota, ("spec", "scopeSelector", "matchExpressions")) or ():
        yield scope_of(expression)


def scope_of(expression: Json) -> Scope:
    """The scope that an expression of a selector stands for."""
    values = tuple(expression.get("values") or ())
    return Scope(expression.get("scopeName", ""), expression.get("operator", ""), values)


def holds_for_pod(scope: Scope, pod: Json, release: tuple[int, int]) -> bool:
    """Whether a Pod is in a scope."""
    match scope.name:
        case "Terminating":
            return is_terminating(pod)
        case "NotTerminating":
            return not is_terminating(pod)
        case "BestEffort":
            return quality_of(pod, release) == "BestEffort"
        case "NotBestEffort":
            return quality_of(pod, release) != "BestEffort"
        case "PriorityClass":
            return scope.has(pod["spec"].get("priorityClassName", ""))
        case "CrossNamespacePodAffinity":
            return _looks_into_other_namespaces(pod["spec"].get("affinity") or {})
    return False


def is_terminating(pod: Json) -> bool:
    """Whether a Pod ends by itself."""
    seconds = pod["spec"].get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def _looks_into_other_namespaces(affinity: Json) -> bool:
    for name in ("podAffinity", "podAntiAffinity"):
        terms = list(get(affinity, (name, _REQUIRED)) or ())
        terms += [one["podAffinityTerm"] for one in get(affinity, (name, _PREFERRED)) or ()]
        if any(one.get("namespaces") or "namespaceSelector" in one for one in terms):
            return True
    return False


_ATTRIBUTES_CLASSES: Final[tuple[Path, ...]] = (
    ("spec", "volumeAttributesClassName"),
    ("status", "currentVolumeAttributesClassName"),
    ("status", "modifyVolumeStatus", "targetVolumeAttributesClassName"),
)


def holds_for_claim(scope: Scope, claim: Json) -> bool:
    """Whether a PersistentVolumeClaim is in a scope."""
    if scope.name != "VolumeAttributesClass":
        return False
    names = [name for path in _ATTRIBUTES_CLASSES if (name := get(claim, path))]
    return any(scope.has(name) for name in names or [""])
