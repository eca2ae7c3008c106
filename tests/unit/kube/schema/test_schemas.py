"""What the tables of schema facts say, and how little of them is read."""

from __future__ import annotations

from pathlib import Path

import pytest

import krm_fn.kube.schema
from krm_fn.errors import ConfigError
from krm_fn.kube.resources import built_in
from krm_fn.kube.schema import RELEASES, Schemas, Struct, Value
from krm_fn.kube.served import Served
from tests.steps import calls

NEAREST = [
    ("", "1.37"),
    ("1.32", "1.32"),
    ("1.33", "1.33"),
    ("v1.36.2", "1.36"),
    ("1.37.0-gke.1", "1.37"),
    ("1.50", "1.37"),
    ("2.0", "1.37"),
]


@pytest.mark.parametrize(("version", "release"), NEAREST)
def test_a_version_is_answered_by_the_nearest_release_at_or_below_it(
    version: str, release: str
) -> None:
    assert Schemas(version).release == release


@pytest.mark.parametrize("version", ["1.31", "1.9", "0.37"])
def test_a_version_older_than_the_oldest_table_is_an_error(version: str) -> None:
    with pytest.raises(ConfigError, match=r"the oldest is 1\.32"):
        Schemas(version)


@pytest.mark.parametrize("version", ["1", "latest", "1.x", "1.99999999999", "1.³"])
def test_a_text_that_is_no_version_is_an_error(version: str) -> None:
    with pytest.raises(ConfigError, match="is not a Kubernetes version"):
        Schemas(version)


def container(release: str = "1.37") -> Struct:
    return Schemas(release).struct("core/v1.Container")


def test_fields_are_in_the_order_of_the_go_type() -> None:
    assert list(container().fields)[:3] == ["name", "image", "command"]


def test_a_field_says_its_type_and_whether_it_is_left_out_when_empty() -> None:
    name, command = container().fields["name"], container().fields["command"]
    assert (name.type.value, name.omit_empty) == (Value.STRING, False)
    assert command.omit_empty
    assert command.type.value is Value.LIST
    assert command.type.element is not None
    assert command.type.element.value is Value.STRING


def test_members_of_an_embedded_struct_are_the_outer_structs_own() -> None:
    probe = Schemas().struct("core/v1.Probe")
    assert "httpGet" in probe.fields
    assert probe.fields["httpGet"].type.pointer


def test_a_list_map_has_keys_and_their_defaults() -> None:
    ports = container().fields["ports"]
    assert ports.relation == "map"
    assert ports.keys == ("containerPort", "protocol")
    assert ports.key_defaults == {"containerPort": 0, "protocol": "TCP"}


RELATIONS = [
    ("core/v1.Container", "command", "atomic"),
    ("core/v1.PodSpec", "tolerations", "atomic"),
    ("meta/v1.ObjectMeta", "finalizers", "set"),
    ("meta/v1.ObjectMeta", "labels", "granular"),
    ("core/v1.PodSpec", "nodeSelector", "atomic"),
    ("core/v1.PodSpec", "containers", "map"),
]


@pytest.mark.parametrize(("struct", "field", "relation"), RELATIONS)
def test_a_field_says_how_it_merges(struct: str, field: str, relation: str) -> None:
    assert Schemas().struct(struct).fields[field].relation == relation


def test_a_struct_may_be_one_value_for_merging() -> None:
    assert Schemas().struct("meta/v1.LabelSelector").atomic
    assert not container().atomic


def test_omitzero_is_known_where_the_release_has_it() -> None:
    created = [
        Schemas(r).struct("meta/v1.ObjectMeta").fields["creationTimestamp"] for r in RELEASES
    ]
    assert [field.omit_zero for field in created] == [False] * 2 + [True] * 4


def test_only_maps_of_the_type_resource_list_are_rounded() -> None:
    limits = Schemas().struct("core/v1.ResourceRequirements").fields["limits"].type
    assert (limits.value, limits.rounded) == (Value.MAP, True)
    metric = Schemas().struct("autoscaling/v2.MetricTarget").fields["value"].type
    assert not metric.rounded


RESOURCES = [
    ("apps/v1", "Deployment", "deployments", True),
    ("v1", "Endpoints", "endpoints", True),
    ("v1", "Namespace", "namespaces", False),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", False),
    ("apiregistration.k8s.io/v1", "APIService", "apiservices", False),
    ("v1", "Binding", "bindings", True),
    ("v1", "PodList", "", False),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("api_version", "kind", "plural", "namespaced"), RESOURCES)
def test_a_kind_has_its_plural_and_scope(
    release: str, api_version: str, kind: str, plural: str, namespaced: bool
) -> None:
    schema = Schemas(release).kind(api_version, kind)
    assert schema is not None
    assert (schema.plural, schema.namespaced) == (plural, namespaced)


def test_a_kind_that_only_a_newer_release_has_is_unknown_to_an_older_one() -> None:
    kind = ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy")
    assert Schemas("1.32").kind(*kind) is None
    assert Schemas("1.37").kind(*kind) is not None


def test_options_and_custom_kinds_are_unknown() -> None:
    assert Schemas().kind("v1", "PodLogOptions") is None
    assert Schemas().kind("example.com/v1", "Pod") is None


def test_a_kind_is_found_in_all_its_versions() -> None:
    versions = Schemas("1.37").versions("autoscaling", "HorizontalPodAutoscaler")
    assert [schema.version for schema in versions] == ["v1", "v2"]


@pytest.mark.parametrize("release", RELEASES)
def test_every_type_of_the_table_can_be_read(release: str) -> None:
    schemas = Schemas(release)
    seen: set[str] = set()
    pending = [k.struct for k in (schemas.kind(*kind) for kind in all_kinds(schemas)) if k]
    while pending:
        struct = pending.pop()
        if struct.name in seen:
            continue
        seen.add(struct.name)
        for field in struct.fields.values():
            type_ = field.type
            while type_.element is not None:
                type_ = type_.element
            if type_.value is Value.STRUCT:
                pending.append(type_.struct)
    assert len(seen) > 800


def all_kinds(schemas: Schemas) -> list[tuple[str, str]]:
    names = schemas._open().kinds
    return [(name.rpartition("/")[0], name.rpartition("/")[2]) for name in names]


@pytest.mark.parametrize("release", RELEASES)
def test_a_table_stays_small(release: str) -> None:
    folder = Path(krm_fn.kube.schema.__file__).parent
    assert (folder / f"{release}.bin").stat().st_size < 60_000


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_has_no_kind_that_neither_the_oldest_nor_the_newest_has(release: str) -> None:
    for api_version, kind in all_kinds(Schemas(release)):
        schema = Schemas(release).kind(api_version, kind)
        assert schema is not None
        assert not schema.plural or built_in(schema.group, kind) is not None


def test_templates_have_no_creation_timestamp_since_1_34() -> None:
    value = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "a"}, "template": {}}
    shown = {r: Served(Schemas(r)).form(value).object["template"]["metadata"] for r in RELEASES}
    assert [r for r in RELEASES if "creationTimestamp" in shown[r]] == ["1.32", "1.33"]


def test_what_one_kind_needs_is_little_of_the_table() -> None:
    def load() -> None:
        schema = Schemas().kind("apps/v1", "Deployment")
        assert schema is not None
        assert schema.struct.fields

    calls(load, at_most=2_000)
