"""Plurals and scopes of kinds."""

from __future__ import annotations

import pytest

from krm_fn.kube.resources import built_in, from_crd, guessed, plural_of

PLURALS = [
    ("Pod", "pods"),
    ("Ingress", "ingresses"),
    ("NetworkPolicy", "networkpolicies"),
    ("Endpoints", "endpoints"),
    ("StorageClass", "storageclasses"),
]


@pytest.mark.parametrize(("kind", "plural"), PLURALS)
def test_a_plural_is_guessed_as_kubernetes_does(kind: str, plural: str) -> None:
    assert plural_of(kind) == plural


SCOPES = [
    ("", "Pod", True),
    ("", "Namespace", False),
    ("", "Node", False),
    ("rbac.authorization.k8s.io", "ClusterRole", False),
    ("rbac.authorization.k8s.io", "Role", True),
    ("storage.k8s.io", "StorageClass", False),
    ("apps", "Deployment", True),
]


@pytest.mark.parametrize(("group", "kind", "namespaced"), SCOPES)
def test_built_in_kinds_have_a_known_scope(group: str, kind: str, namespaced: bool) -> None:
    resource = built_in(group, kind)
    assert resource is not None
    assert resource.namespaced is namespaced
    assert resource.known


def test_other_groups_are_not_built_in() -> None:
    assert built_in("example.com", "Pod") is None
    assert not guessed("Shop").known


def test_a_crd_says_plural_and_scope() -> None:
    crd = {
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"kind": "Shop", "plural": "shoppes"},
        }
    }
    described = from_crd(crd)
    assert described is not None
    key, resource = described
    assert key == ("example.com", "Shop")
    assert (resource.plural, resource.namespaced) == ("shoppes", False)


def test_a_crd_that_says_nothing_is_passed_over() -> None:
    assert from_crd({"spec": {}}) is None
