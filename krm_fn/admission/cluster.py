"""What a render knows of the cluster: the objects at hand, namespaces, resources of kinds.

Objects are the snapshot before admission. Namespaces are admitted first and are then seen as
admitted. What is not known is made up where rules need it, and marked so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from krm_fn.kube.resources import Resource, built_in, from_crd, guessed
from krm_fn.kube.selectors import Labels, texts
from krm_fn.kube.wellknown import DEFAULT_NAMESPACE, METADATA_NAME
from krm_fn.values import Json, get
from krm_fn.wire import Head

Identity = tuple[str, str, str, str]
"""(group, kind, namespace, name)"""


class Subject(NamedTuple):
    """What a request is about: an object by its head, its resource, and where it is admitted."""

    head: Head
    resource: Resource
    namespace: str
    """"" for cluster-scoped objects."""

    @property
    def identity(self) -> Identity:
        return self.head.group, self.head.kind, self.namespace, self.head.name


class Namespace(NamedTuple):
    """A namespace. `complete` is False where only its name is known and the object is made up."""

    name: str
    object: Json
    complete: bool

    @property
    def labels(self) -> Labels:
        return texts(get(self.object, ("metadata", "labels")))


_ByPlace = dict[tuple[str, str, str | None], list[Callable[[], Json | None]]]
"""Objects by (group, kind, namespace), and those of all namespaces by None."""


class Cluster:
    """The view of the cluster that plugins get. Immutable; `with_admitted` gives a new one.

    Objects are given as functions, so that one that nobody asks for is never parsed; one that turns
    out not to reach the cluster is None. `fixed` names the Namespaces that no item changes;
    `stored` makes of a Namespace's manifest what the API server holds.
    """

    def __init__(
        self,
        objects: Mapping[Identity, Callable[[], Json | None]] | None = None,
        namespaces: Mapping[str, Json] | None = None,
        crds: Mapping[tuple[str, str], Json] | None = None,
        default_namespace: str = DEFAULT_NAMESPACE,
        fixed: frozenset[str] = frozenset(),
        stored: Callable[[Json], Json] | None = None,
    ) -> None:
        self._objects = dict(objects or {})
        self._namespaces = dict(namespaces or {})
        self._crds: Mapping[tuple[str, str], Json] = crds if crds is not None else {}
        self.default_namespace = default_namespace
        self._fixed = fixed
        self._stored = stored
        self._seen: dict[str, Json] = {}
        self._by_place: _ByPlace | None = None

    def namespace(self, name: str) -> Namespace:
        """The namespace of that name, made up if the render does not know it."""
        known = self._namespace(name)
        if known is not None:
            return Namespace(name, with_name_label(known, name), True)
        made_up: Json = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {METADATA_NAME: name}},
        }
        return Namespace(name, made_up, False)

    def _namespace(self, name: str) -> Json | None:
        if name not in self._seen and name in self._namespaces:
            value = self._namespaces[name]
            self._seen[name] = self._stored(value) if self._stored is not None else value
        return self._seen.get(name)

    def get(self, group: str, kind: str, namespace: str, name: str) -> Json | None:
        """An object by its identity; `namespace` is "" for cluster-scoped ones."""
        if (group, kind) == ("", "Namespace"):
            return self._namespace(name)
        load = self._objects.get((group, kind, namespace, name))
        return load() if load is not None else None

    def list(self, group: str, kind: str, namespace: str | None = None) -> Iterable[Json]:
        """The objects of a kind, of one namespace or of all, in the order of the input."""
        if self._by_place is None:
            self._by_place = {}
            for (g, k, n, _), load in self._objects.items():
                for place in ((g, k, n), (g, k, None)):
                    self._by_place.setdefault(place, []).append(load)
        for load in self._by_place.get((group, kind, namespace), ()):
            value = load()
            if value is not None:
                yield value

    def resource_for(self, group: str, kind: str) -> Resource:
        """The resource that a kind is served under; guessed (`known=False`) where nobody says."""
        own = built_in(group, kind)
        if own is not None:
            return own
        described = from_crd(self._crds.get((group, kind), {}))
        return described[1] if described is not None else guessed(kind)

    def crd(self, group: str, kind: str) -> Json | None:
        """The CustomResourceDefinition of a kind, or None; a built-in kind has none."""
        if built_in(group, kind) is not None:
            return None
        return self._crds.get((group, kind))

    def subject_of(self, head: Head) -> Subject:
        """An object with its resource and the namespace that it is admitted in.

        A namespaced object without `metadata.namespace` goes to the default namespace. A kind that
        nobody described is namespaced; if it has no namespace either, that is a guess.
        """
        resource = self.resource_for(head.group, head.kind)
        namespace = head.namespace or self.default_namespace
        return Subject(head, resource, namespace if resource.namespaced else "")

    def with_admitted(self, namespaces: Mapping[str, Json]) -> Cluster:
        """The same cluster after these Namespaces of the items were admitted.

        Those that the cluster does not have from the items stay as they are, or unknown.
        """
        admitted = {
            name: value
            for name, value in namespaces.items()
            if name in self._namespaces and name not in self._fixed
        }
        return Cluster(
            self._objects,
            {**self._namespaces, **admitted},
            self._crds,
            self.default_namespace,
            self._fixed,
            self._stored,
        )


def with_name_label(namespace: Json, name: str) -> Json:
    """A Namespace with the label that the API server always sets."""
    metadata = namespace.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    labels = metadata.get("labels")
    labels = labels if type(labels) is dict else {}
    if labels.get(METADATA_NAME) == name:
        return namespace
    return {**namespace, "metadata": {**metadata, "labels": {**labels, METADATA_NAME: name}}}


def crds_by_kind(objects: Iterable[Json]) -> dict[tuple[str, str], Json]:
    """The CustomResourceDefinitions among the objects, by (group, kind) of what they define."""
    found: dict[tuple[str, str], Json] = {}
    for value in objects:
        described = from_crd(value)
        if described is not None:
            found[described[0]] = value
    return found
