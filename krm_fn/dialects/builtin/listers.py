"""What plugins read of the cluster, as kube-apiserver's plugins read it from their listers.

Objects come from the items and from the context, in their served form. A render seldom knows all
objects of a kind: `complete` names the kinds of which it does, so that only there "not found" is
an answer and not a gap. This module knows where objects come from, and no plugin.
Source: docs/spec/builtin-admission.md section (d).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeVar

from krm_fn.admission import Cluster
from krm_fn.kube.selectors import Labels, texts
from krm_fn.values import Json, get
from krm_fn.wire import Head

PRIORITY_CLASS: Final = ("scheduling.k8s.io", "PriorityClass")
RUNTIME_CLASS: Final = ("node.k8s.io", "RuntimeClass")
STORAGE_CLASS: Final = ("storage.k8s.io", "StorageClass")
INGRESS_CLASS: Final = ("networking.k8s.io", "IngressClass")

T = TypeVar("T")


class Listers:
    """Reads the cluster for plugins; `release` is the server's (1, minor).

    What is made of all objects of a kind is made once, not for each object that is admitted.
    """

    def __init__(
        self, cluster: Cluster, complete: frozenset[str], release: tuple[int, int]
    ) -> None:
        self._cluster = cluster
        self._complete = complete
        self.release = release
        self._facts: dict[Hashable, Any] = {}

    def has_all(self, kind: str) -> bool:
        """Whether every object of a kind is known, so that one that is not is not there."""
        return kind in self._complete

    def namespace(self, name: str) -> Json | None:
        """A Namespace, None where nobody knows more than its name."""
        namespace = self._cluster.namespace(name)
        return namespace.object if namespace.complete else None

    def get(self, kind: tuple[str, str], name: str, namespace: str = "") -> Json | None:
        """An object by (group, kind), name and namespace ("" for those of no namespace)."""
        return self._cluster.get(*kind, namespace, name)

    def list(self, kind: tuple[str, str], namespace: str | None = None) -> Sequence[Json]:
        """The objects of a kind by name; a cluster has them in no order."""

        def by_name() -> Sequence[Json]:
            return sorted(self.in_order(kind, namespace), key=name_of)

        return self.once((kind, namespace), by_name)

    def resource_for(self, head: Head) -> str:
        """The plural of a kind."""
        return self._cluster.resource_for(head.group, head.kind).plural

    def in_order(self, kind: tuple[str, str], namespace: str | None = None) -> Sequence[Json]:
        """The objects of a kind as they come: those of the context, then the items."""
        return tuple(self._cluster.list(*kind, namespace))

    def once(self, name: Hashable, make: Callable[[], T]) -> T:
        """A fact about the cluster: what `make` returns, which is called once for each name."""
        if name not in self._facts:
            self._facts[name] = make()
        fact: T = self._facts[name]
        return fact


def name_of(value: Json) -> str:
    """The name of an object, "" where it has none."""
    return str(get(value, ("metadata", "name")) or "")


def annotations_of(value: Json) -> Labels:
    """The annotations of an object."""
    return texts(get(value, ("metadata", "annotations")))


def labels_of(value: Json) -> Labels:
    """The labels of an object."""
    return texts(get(value, ("metadata", "labels")))
