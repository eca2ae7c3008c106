from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modrule_support import config_map, namespace, request_for

from krm_fn.admission import Cluster
from krm_fn.admission.cluster import Identity
from krm_fn.dialects.modrule.form import KubeModForm, references
from krm_fn.kube.wellknown import LAST_APPLIED
from krm_fn.values import Json

REFERENCES = {"namespace": {"metadata": {"name": "web"}}}
FORM = KubeModForm(REFERENCES)

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
METADATA = st.dictionaries(st.sampled_from(["name", "labels", "managedFields"]), VALUES)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={"kind": VALUES, "metadata": METADATA | VALUES, "syntheticRefs": VALUES, "x": VALUES},
)


@given(OBJECTS)
def test_what_comes_back_unchanged_is_the_very_same_object(value: Json) -> None:
    before = copy.deepcopy(value)
    admitted, lost = FORM.put(value, FORM.get(value))
    assert admitted is value
    assert lost == ()
    assert value == before


@given(OBJECTS)
def test_also_a_copy_of_what_is_shown_comes_back_as_the_same_object(value: Json) -> None:
    admitted, lost = FORM.put(value, copy.deepcopy(FORM.get(value)))
    assert (admitted is value, lost) == (True, ())


def test_rules_see_references_and_no_managed_fields() -> None:
    value = config_map()
    value["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    shown = FORM.get(value)
    assert shown["syntheticRefs"] == REFERENCES
    assert shown["metadata"] == {"name": "settings", "namespace": "web"}


def test_an_edit_comes_back_without_the_references() -> None:
    value = config_map()
    admitted, lost = FORM.put(value, {**FORM.get(value), "data": {"a": "b"}})
    assert admitted == {**value, "data": {"a": "b"}}
    assert admitted["metadata"] is value["metadata"]
    assert lost == ()


def test_managed_fields_stay_although_no_rule_saw_them() -> None:
    value = config_map()
    value["metadata"]["managedFields"] = ["m"]
    shown = FORM.get(value)
    changed = {**shown, "metadata": {**shown["metadata"], "labels": {"a": "b"}}}
    admitted, _ = FORM.put(value, changed)
    assert admitted["metadata"]["managedFields"] == ["m"]
    assert admitted["metadata"]["labels"] == {"a": "b"}


def test_an_objects_own_synthetic_refs_are_hidden_and_kept_in_place() -> None:
    value = {"kind": "A", "syntheticRefs": {"mine": 1}, "x": 1}
    shown = FORM.get(value)
    assert shown["syntheticRefs"] == REFERENCES
    admitted, lost = FORM.put(value, {**shown, "x": 2})
    assert list(admitted.items()) == [("kind", "A"), ("syntheticRefs", {"mine": 1}), ("x", 2)]
    assert lost == ()


@pytest.mark.parametrize("written", [None, {}, {"namespace": {"metadata": {"name": "other"}}}])
def test_what_is_written_below_the_references_is_lost_and_said(written: Any) -> None:
    value = config_map()
    assert FORM.put(value, {**FORM.get(value), "syntheticRefs": written}) == (
        value,
        (("syntheticRefs",),),
    )


def test_removing_the_references_is_an_edit_below_them() -> None:
    assert FORM.put({"kind": "A"}, {"kind": "A"})[1] == (("syntheticRefs",),)


# ------------------------------------------------------------------------------------- references


def test_the_namespace_is_referred_to_as_it_is_known() -> None:
    known = namespace("web", mesh="on")
    known["metadata"]["managedFields"] = ["m"]
    known["metadata"]["annotations"] = {LAST_APPLIED: "{}", "keep": "this"}
    cluster = Cluster(namespaces={"web": known})
    found = references(request_for(config_map(), cluster), cluster)
    assert found.unknown == ()
    assert found.value["namespace"]["metadata"] == {
        "name": "web",
        "labels": {"mesh": "on", "kubernetes.io/metadata.name": "web"},
        "annotations": {"keep": "this"},
    }


def test_a_namespace_that_nobody_describes_is_made_up_and_said_to_be() -> None:
    found = references(request_for(config_map(), Cluster()), Cluster())
    assert found.value["namespace"]["metadata"]["name"] == "web"
    why = (
        "the namespace web is not among the items or in context.namespaces: only its name is known"
    )
    assert found.unknown == (("namespace", why),)


def test_what_is_cluster_scoped_has_no_namespace() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert references(request_for(node, Cluster()), Cluster()).value == {}


def pod(node: Any) -> Json:
    metadata = {"name": "p", "namespace": "web", "annotations": {"ref.kubemod.io/nodename": node}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


NODE = {"kind": "Node", "metadata": {"name": "n1", "managedFields": [], "labels": {"zone": "a"}}}
NODES: dict[Identity, Any] = {("", "Node", "", "n1"): lambda: NODE}


def test_a_pod_that_names_its_node_sees_it() -> None:
    cluster = Cluster(NODES, {"web": namespace("web")})
    found = references(request_for(pod("n1"), cluster), cluster)
    assert found.value["node"] == {
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"zone": "a"}},
    }
    assert found.unknown == ()


def test_a_node_that_nobody_describes_is_not_made_up() -> None:
    cluster = Cluster({}, {"web": namespace("web")})
    found = references(request_for(pod("n2"), cluster), cluster)
    assert "node" not in found.value
    why = "the node n2 is not among the items or in context.objects"
    assert found.unknown == (("node", why),)


@pytest.mark.parametrize("value", [pod(""), pod(5), {**pod("n1"), "kind": "ConfigMap"}])
def test_only_a_pod_with_a_name_of_a_node_has_one(value: Json) -> None:
    cluster = Cluster(NODES, {"web": namespace("web")})
    assert "node" not in references(request_for(value, cluster), cluster).value
