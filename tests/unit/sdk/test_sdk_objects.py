"""New objects, those that are there already, their origins and their scopes."""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import Any

import pytest
from sdk_support import LIST, a_list

from krm_fn import sdk
from krm_fn.errors import InputError, KrmFnError
from krm_fn.kube.resources import built_in, built_in_groups
from krm_fn.kube.schema import Schemas
from krm_fn.kube.schema.schemas import RELEASES
from krm_fn.sdk import InternalAnnotationError, KubeObject, ResourceList
from krm_fn.sdk.scopes import _CLUSTER, scope_of

CONFIG_MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "new"},
    "data": {"a": "1"},
}


ENDLESS: dict[str, Any] = {}
ENDLESS["a"] = ENDLESS


@pytest.fixture
def rl() -> ResourceList:
    return a_list()


@pytest.fixture
def web(rl: ResourceList) -> KubeObject:
    return rl.items[0]


# ------------------------------------------------------------------------------------ new objects


def test_an_object_is_made_of_a_mapping() -> None:
    obj = sdk.new_from_typed(CONFIG_MAP)
    assert (obj.api_version, obj.kind, obj.name) == ("v1", "ConfigMap", "new")
    assert obj.value == CONFIG_MAP
    obj.set_label("app", "web")
    assert obj.to_yaml() == (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new\n  labels:\n    app: web\n"
        'data:\n  a: "1"\n'
    )


def test_an_object_is_made_of_a_dataclass() -> None:
    @dataclasses.dataclass
    class Metadata:
        name: str

    @dataclasses.dataclass
    class Thing:
        metadata: Metadata
        apiVersion: str = "example.com/v1"  # noqa: N815
        kind: str = "Thing"

    assert sdk.new_from_typed(Thing(Metadata("a"))).short_string() == "Thing a"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([CONFIG_MAP], "a list is no object"),
        ({**CONFIG_MAP, "data": {"when": date(2026, 1, 1)}}, "a date cannot stand in an object"),
        ({**CONFIG_MAP, "data": ENDLESS}, "an object nests at most 1,000 deep"),
        ({**CONFIG_MAP, "n": float("nan")}, "the number nan cannot stand in an object"),
        ({"kind": "ConfigMap"}, "apiVersion"),
    ],
)
def test_what_is_no_object_is_an_error(value: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        sdk.new_from_typed(value)


def test_objects_are_read_from_a_text() -> None:
    text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\n"
    objects = sdk.parse_kube_objects(text)
    assert [obj.kind for obj in objects] == ["A", "B"]
    assert sdk.parse_kube_objects(b"") == []
    with pytest.raises(InputError, match="expected exactly one object, got 2"):
        sdk.parse_kube_object(text)


# ---------------------------------------------------------------------------------- lists of them


def test_a_new_object_leaves_behind_the_others(rl: ResourceList) -> None:
    added = rl.add(CONFIG_MAP)
    added.set_nested("2", "data", "a")
    left = a_list(rl.to_yaml())
    assert [obj.kind for obj in left.items] == ["Deployment", "Kptfile", "ConfigMap"]
    assert left.items[2].nested("data", "a") == "2"


def test_an_upsert_adds_what_is_not_there(rl: ResourceList) -> None:
    obj = rl.upsert(CONFIG_MAP)
    assert obj in rl.items
    assert len(a_list(rl.to_yaml()).items) == 3


def test_an_upsert_replaces_what_is_there_and_keeps_the_text_that_stays(
    rl: ResourceList, web: KubeObject
) -> None:
    value = {**web.value, "spec": {**web.value["spec"], "replicas": 3}}
    assert rl.upsert(value) is web
    assert rl.to_yaml() == LIST.replace(b"replicas: 2", b"replicas: 3")


def test_another_version_is_another_object_to_an_upsert(rl: ResourceList, web: KubeObject) -> None:
    assert rl.upsert({**web.value, "apiVersion": "apps/v1beta1"}) is not web
    assert len(rl.items) == 3


def test_what_is_in_the_items_leaves(rl: ResourceList) -> None:
    rl.items = rl.items.where(sdk.is_group_kind("kpt.dev", "Kptfile"))
    new = sdk.new_from_typed(CONFIG_MAP)
    rl.items.append(new)
    assert [o.kind for o in a_list(rl.to_yaml()).items] == ["Kptfile", "ConfigMap"]
    rl.items.remove(new)
    assert [o.kind for o in a_list(rl.to_yaml()).items] == ["Kptfile"]


def test_a_list_written_twice_is_the_same(rl: ResourceList) -> None:
    rl.add(CONFIG_MAP)
    assert rl.to_yaml() == rl.to_yaml()


def test_objects_are_split_counted_and_annotated(rl: ResourceList) -> None:
    meta, others = rl.items.split(sdk.is_meta_resource())
    assert ([o.kind for o in meta], [o.kind for o in others]) == (["Kptfile"], ["Deployment"])
    assert others.single() is rl.items[0]
    with pytest.raises(KrmFnError, match="2 objects found, but exactly 1 is expected"):
        rl.items.single()
    rl.items.set_annotation("a", "b")
    assert all(obj.has_annotations({"a": "b"}) for obj in rl.items)


def test_predicates_compare_exactly_where_their_go_names_do(rl: ResourceList) -> None:
    def kinds(predicate: sdk.Predicate) -> list[str]:
        return [obj.kind for obj in rl.items.where(predicate)]

    assert kinds(sdk.is_gvk("", "v1", "")) == ["Deployment", "Kptfile"]
    assert kinds(sdk.is_group_version_kind("apps", "v1", "Deployment")) == ["Deployment"]
    assert kinds(sdk.is_group_version_kind("", "v1", "")) == []
    assert kinds(sdk.is_group_kind("kpt.dev", "Kptfile")) == ["Kptfile"]
    assert kinds(sdk.is_namespace_scoped()) == ["Deployment"]
    rl.items[0].set_annotation("config.kubernetes.io/local-config", "true")
    assert kinds(sdk.is_local_config()) == ["Deployment"]


def test_the_kptfile_of_the_package_is_the_one_with_the_shortest_path() -> None:
    text = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: NAME, annotations: "
    text += "{internal.config.kubernetes.io/path: PATH}}\n"
    documents = [("sub", "p/sub/Kptfile"), ("root", "p/Kptfile")]
    objects = sdk.parse_kube_objects(
        "---\n".join(text.replace("NAME", n).replace("PATH", p) for n, p in documents)
    )
    root = objects.get_root_kptfile()
    assert root is not None
    assert root.name == "root"
    assert sdk.KubeObjects().get_root_kptfile() is None


# ------------------------------------------------------------------------------------ the objects


def test_a_namespace_is_removed_with_none(rl: ResourceList, web: KubeObject) -> None:
    web.namespace = None
    assert web.namespace == ""
    assert rl.to_yaml() == LIST.replace(b"    namespace: shop\n", b"")
    web.namespace = None
    web.namespace = "other"
    assert web.namespace == "other"


def test_annotations_go_with_their_last_one() -> None:
    obj = sdk.new_from_typed({**CONFIG_MAP, "metadata": {"name": "n", "annotations": {"a": "b"}}})
    obj.remove_annotations_if_empty()
    assert obj.annotations == {"a": "b"}
    obj.remove_annotation("a")
    assert obj.has_field("metadata", "annotations")
    obj.remove_annotations_if_empty()
    assert not obj.has_field("metadata", "annotations")


def test_labels_come_and_go(web: KubeObject) -> None:
    assert web.has_labels({"app": "web"})
    assert web.remove_label("app")
    assert not web.has_labels({"app": "web"})
    assert not web.remove_label("app")


def test_lists_of_parts_are_set(rl: ResourceList, web: KubeObject) -> None:
    first, second = web.nested_slice("spec", "containers")
    web.set_slice([second, first, {"name": "c"}], "spec", "containers")
    assert [c.nested("name") for c in web.nested_slice("spec", "containers")] == ["b", "a", "c"]
    assert a_list(rl.to_yaml()).items[0].value == web.value


def test_several_members_are_set_at_once(web: KubeObject) -> None:
    web.update_nested({"a": "1", "app": "api"}, "metadata", "labels")
    assert web.labels == {"app": "api", "a": "1"}


@pytest.mark.parametrize(
    "write",
    [
        lambda web: web.set_annotation("internal.config.kubernetes.io/id", "8"),
        lambda web: web.set_nested({}, "metadata", "annotations"),
        lambda web: web.set_nested({"name": "web"}, "metadata"),
        lambda web: web.remove_nested_field("metadata", "annotations"),
        lambda web: web.remove_annotation("internal.config.kubernetes.io/path"),
        lambda web: web.patch([{"op": "remove", "path": "/metadata"}]),
        lambda web: web.set_annotation("internal.kpt.dev/upstream-identifier", "x"),
    ],
)
def test_no_write_touches_what_the_caller_knows_objects_by(rl: ResourceList, write: Any) -> None:
    with pytest.raises(InternalAnnotationError):
        write(rl.items[0])
    assert rl.to_yaml() == LIST


def test_other_annotations_are_replaced_together(web: KubeObject) -> None:
    web.set_nested({**web.annotations, "a": "b"}, "metadata", "annotations")
    assert web.get_annotation("a") == "b"


def test_a_new_object_says_where_it_is_to_be_written() -> None:
    obj = sdk.new_from_typed(CONFIG_MAP)
    assert (obj.path_annotation, obj.index_annotation) == ("", -1)
    obj.path_annotation, obj.index_annotation = "d/new.yaml", 2
    assert (obj.path_annotation, obj.index_annotation) == ("d/new.yaml", 2)


def upstream(text: str) -> KubeObject:
    annotations = {"internal.kpt.dev/upstream-identifier": text}
    metadata = {"name": "n", "namespace": "s", "annotations": annotations}
    return sdk.new_from_typed({**CONFIG_MAP, "metadata": metadata})


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("apps|Deployment|example|web", ("apps", "Deployment", "example", "web")),
        ("|Namespace|~C|shop", ("", "Namespace", "", "shop")),
    ],
)
def test_an_upstream_origin_is_what_kpt_noted(
    text: str, identity: tuple[str, str, str, str]
) -> None:
    obj = upstream(text)
    assert obj.has_upstream_origin()
    assert obj.get_origin_id() == identity


def test_without_an_upstream_the_origin_is_what_came_in(web: KubeObject) -> None:
    web.name = "api"
    assert not web.has_upstream_origin()
    assert web.get_origin_id() == ("apps", "Deployment", "shop", "web")


def test_an_upstream_origin_that_is_none_is_an_error() -> None:
    with pytest.raises(InternalAnnotationError, match="is not <GROUP>"):
        upstream("Deployment/web").get_origin_id()


# ----------------------------------------------------------------------------------------- scopes


@pytest.mark.parametrize("release", RELEASES)
def test_the_scopes_of_kubernetes_kinds_are_those_of_its_schemas(release: str) -> None:
    schemas = Schemas(release)
    kinds = {name.rpartition("/")[::2] for name in schemas._open().kinds}
    for api_version, kind in kinds:
        schema = schemas.kind(api_version, kind)
        if schema is not None and schema.plural:
            assert scope_of(schema.group, kind) is schema.namespaced, (api_version, kind)


def test_the_table_names_nothing_that_never_was() -> None:
    removed = {("policy", "PodSecurityPolicy"), ("extensions", "PodSecurityPolicy")}
    assert _CLUSTER.keys() == built_in_groups()
    for group, kinds in _CLUSTER.items():
        for kind in kinds:
            assert built_in(group, kind) is not None or (group, kind) in removed, (group, kind)


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tenants.example.com}
spec: {group: example.com, scope: SCOPE, names: {kind: Tenant, plural: tenants}}
---
apiVersion: example.com/v1
kind: Tenant
metadata: {name: a, namespace: x}
"""


@pytest.mark.parametrize(("scope", "namespaced"), [("Cluster", False), ("Namespaced", True)])
def test_a_custom_kind_has_the_scope_that_its_definition_gives_it(
    scope: str, namespaced: bool
) -> None:
    definition, tenant = sdk.parse_kube_objects(CRD.replace("SCOPE", scope))
    assert definition.is_cluster_scoped()
    assert tenant.is_namespace_scoped() is namespaced


@pytest.mark.parametrize(
    ("api_version", "kind", "namespace", "namespaced"),
    [
        ("v1", "ConfigMap", None, True),
        ("v1", "Namespace", "wrong", False),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", None, False),
        ("example.com/v1", "Unknown", "x", True),
        ("example.com/v1", "Unknown", None, False),
    ],
)
def test_the_kind_says_whether_an_object_is_namespaced_not_the_field(
    api_version: str, kind: str, namespace: str | None, namespaced: bool
) -> None:
    metadata = {"name": "a"} if namespace is None else {"name": "a", "namespace": namespace}
    value = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
    assert sdk.new_from_typed(value).is_namespace_scoped() is namespaced
