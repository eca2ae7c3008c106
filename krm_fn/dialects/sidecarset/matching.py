"""Which SidecarSets a Pod is matched by, and in which order they apply.

Knows selectors and namespaces; what a set does is known elsewhere.
Source: OpenKruise v1.9.0 pkg/control/sidecarcontrol/util.go, pkg/util/selector.go,
pkg/util/fieldindex; the SidecarSet specification, A3 and A6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from krm_fn.admission import Cluster
from krm_fn.dialects.sidecarset.sets import SidecarSet
from krm_fn.kube.podtemplates import controller_labels
from krm_fn.kube.selectors import Requirement
from krm_fn.kube.wellknown import METADATA_NAME
from krm_fn.values import Json

_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


class LabelSelector:
    """A selector as Kruise evaluates it: of its faults only an unknown operator is an error."""

    __slots__ = ("error", "requirements")

    def __init__(self, selector: Json) -> None:
        self.error = ""
        wanted = selector.get("matchLabels", {})
        made = [Requirement(key, "In", frozenset((value,))) for key, value in wanted.items()]
        for expression in selector.get("matchExpressions", ()):
            operator = expression["operator"]
            if operator not in _OPERATORS:
                self.error = f'"{operator}" is not a valid pod selector operator'
                break
            values = frozenset(expression.get("values") or ())
            made.append(Requirement(expression["key"], operator, values))
        self.requirements = tuple(made)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(requirement.key for requirement in self.requirements)

    def matches(self, labels: Mapping[str, str]) -> bool:
        for requirement in self.requirements:  # noqa: SIM110
            if not requirement.matches(labels):
                return False
        return True


class Matcher:
    """Whether a set is for a Pod: its namespace first, then the labels."""

    __slots__ = ("controller_keys", "namespaces", "paused", "pinned", "pods", "set")

    def __init__(self, sidecar_set: SidecarSet) -> None:
        self.set = sidecar_set
        spec = sidecar_set.spec
        self.paused: bool = spec["injectionStrategy"].get("paused", False)
        selector = spec.get("selector")
        self.pods = None if not selector else LabelSelector(selector)
        self.controller_keys = () if self.pods is None else controller_labels(self.pods.keys)
        selector = spec.get("namespaceSelector")
        self.namespaces = None if selector is None else LabelSelector(selector)
        self.pinned = None if selector is None else _pinned(selector)

    def matches_namespace(self, name: str, cluster: Cluster) -> bool | None:
        """None where that hangs on labels that nobody knows; what is broken matches nothing."""
        if self.namespaces is None:
            return True
        if self.namespaces.error:
            return False
        namespace = cluster.namespace(name)
        labels = {key: text for key, text in namespace.labels.items() if type(text) is str}
        if namespace.complete:
            return self.namespaces.matches(labels)
        unknown = False
        for requirement in self.namespaces.requirements:
            if requirement.key != METADATA_NAME:
                unknown = True
            elif not requirement.matches(labels):
                return False
        return None if unknown else True


def _pinned(selector: Json) -> frozenset[str] | None:
    """The namespaces under which Kruise keeps a set; None is all of them."""
    name = selector.get("matchLabels", {}).get(METADATA_NAME)
    if name is not None:
        return frozenset((name,))
    for expression in selector.get("matchExpressions", ()):
        if expression["key"] == METADATA_NAME and expression["operator"] == "In":
            return frozenset(expression.get("values") or ())
    return None


def in_order(matchers: Iterable[Matcher], namespace: str) -> list[Matcher]:
    """The sets that may match in a namespace: those kept under it first, each half by name.

    In a cluster the order inside a half is that of a cache, which is any.
    """
    candidates = [m for m in matchers if m.pinned is None or namespace in m.pinned]
    return sorted(candidates, key=lambda m: (m.pinned is None, m.set.name))
