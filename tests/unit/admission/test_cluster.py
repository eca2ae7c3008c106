"""What a render knows of the cluster, and what it makes up."""

from __future__ import annotations

from krm_fn.admission import Cluster
from krm_fn.wire import Head


def test_a_known_namespace_is_complete_and_has_its_name_as_a_label() -> None:
    cluster = Cluster(namespaces={"a": {"kind": "Namespace", "metadata": {"labels": {"x": "y"}}}})
    namespace = cluster.namespace("a")
    assert namespace.complete
    assert namespace.labels == {"x": "y", "kubernetes.io/metadata.name": "a"}


def test_an_unknown_namespace_is_made_up_with_its_name_only() -> None:
    namespace = Cluster().namespace("a")
    assert not namespace.complete
    assert namespace.labels == {"kubernetes.io/metadata.name": "a"}


def test_namespaces_are_seen_as_admitted() -> None:
    cluster = Cluster(namespaces={"a": {"metadata": {}}})
    admitted = cluster.with_admitted({"a": {"metadata": {"labels": {"new": "1"}}}})
    assert "new" in admitted.namespace("a").labels
    assert "new" not in cluster.namespace("a").labels


def test_an_object_that_nobody_asks_for_is_not_loaded() -> None:
    loaded: list[str] = []

    def load() -> dict[str, str]:
        loaded.append("x")
        return {"kind": "Node"}

    cluster = Cluster({("", "Node", "", "n"): load})
    assert loaded == []
    assert cluster.get("", "Node", "", "n") == {"kind": "Node"}
    assert cluster.get("", "Node", "", "m") is None
    assert list(cluster.list("", "Node")) == [{"kind": "Node"}]


def test_the_namespace_of_an_object_is_its_own_the_default_or_none() -> None:
    names = {"kind": "Shop", "plural": "shops"}
    crd = {"spec": {"group": "example.com", "scope": "Cluster", "names": names}}
    cluster = Cluster(crds={("example.com", "Shop"): crd}, default_namespace="web")
    assert cluster.subject_of(Head("v1", "Pod", "a", "x")).namespace == "a"
    assert cluster.subject_of(Head("v1", "Pod", "", "x")).namespace == "web"
    assert cluster.subject_of(Head("v1", "Node", "", "x")).namespace == ""
    assert cluster.subject_of(Head("example.com/v1", "Shop", "", "x")).namespace == ""
    assert cluster.subject_of(Head("other.com/v1", "Shop", "", "x")).namespace == "web"
