"""Structured merge: what a patch changes, in which order, and what it is refused for."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kube.merge import DEDUCED, MergeError, apply_configuration, of_custom, of_struct
from krm_fn.kube.schema import Schemas
from krm_fn.values import Json

SCHEMAS = Schemas()
DEPLOYMENT = SCHEMAS.kind("apps/v1", "Deployment")
POD = SCHEMAS.kind("v1", "Pod")
assert DEPLOYMENT is not None
assert POD is not None
METADATA = SCHEMAS.struct("meta/v1.ObjectMeta")
PARTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "port"],
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "port": {"type": "integer", "default": 80},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    },
}
CUSTOM = of_custom(
    {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "plain": {"type": "array", "items": {"type": "string"}},
            "frozen": {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "properties": {"a": {"type": "string"}},
            },
            "parts": PARTS,
            "size": {"type": "integer"},
            "either": {"x-kubernetes-int-or-string": True},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "on": {"type": "boolean"},
            "at": {"type": "string", "format": "date-time"},
        },
    },
    METADATA,
)


def merge(live: Json, patch: Json, **options: Any) -> Json:
    return apply_configuration(CUSTOM, live, patch, **options)


def pod(**spec: Any) -> Json:
    return {"spec": spec}


@pytest.mark.parametrize(
    ("live", "patch", "merged"),
    [
        ({"size": 1}, {"size": 2}, {"size": 2}),
        ({"size": 1}, {"on": True}, {"size": 1, "on": True}),
        ({"counts": {"a": 1}}, {"counts": {"b": 2}}, {"counts": {"a": 1, "b": 2}}),
        ({"counts": {"a": 1}}, {"counts": {}}, {"counts": {"a": 1}}),
        ({"counts": None}, {"counts": {"b": 2}}, {"counts": {"b": 2}}),
        ({"either": 1}, {"either": "x"}, {"either": "x"}),
        ({"size": 1}, {"size": None}, {"size": None}),
        ({"counts": {"a": 1}}, {"counts": None}, {"counts": {"a": 1}}),
        ({"tags": ["a"]}, {"tags": []}, {"tags": ["a"]}),
        ({"tags": ["a"]}, {"tags": None}, {"tags": ["a"]}),
        (
            {"parts": [{"name": "x"}]},
            {"parts": [{"name": "x", "port": 80, "free": {"k": 1}}]},
            {"parts": [{"name": "x", "port": 80, "free": {"k": 1}}]},
        ),
        (
            {"parts": [{"name": "x"}]},
            {"parts": [{"name": "x", "port": 81}]},
            {"parts": [{"name": "x"}, {"name": "x", "port": 81}]},
        ),
        (
            {"metadata": {"labels": {"a": "1"}}},
            {"metadata": {"labels": {"b": "2"}}},
            {"metadata": {"labels": {"a": "1", "b": "2"}}},
        ),
    ],
)
def test_a_patch_is_merged_in(live: Json, patch: Json, merged: Json) -> None:
    assert merge(live, patch) == merged


@pytest.mark.parametrize(
    ("live", "patch", "merged"),
    [
        ("ab", "c", "abc"),
        ("ab", "za", "zab"),
        ("ab", "zb", "azb"),
        ("ab", "ba", "ba"),
        ("abc", "ca", "bca"),
        ("abcd", "xdya", "bcxdya"),
    ],
)
def test_new_elements_stand_before_the_next_one_that_both_have(
    live: str, patch: str, merged: str
) -> None:
    assert merge({"tags": list(live)}, {"tags": list(patch)})["tags"] == list(merged)


def test_of_duplicates_that_the_patch_names_only_what_it_says_is_left() -> None:
    twice = [{"name": "x", "port": 1, "free": {"n": n}} for n in (1, 2)]
    other = {"name": "y", "port": 1}
    patch = {"parts": [{"name": "x", "port": 1}]}
    assert merge({"parts": [*twice, other]}, patch)["parts"] == [{"name": "x", "port": 1}, other]
    assert merge({"parts": [*twice, other]}, {"size": 1})["parts"] == [*twice, other]


def test_what_a_patch_does_not_name_is_the_same_object() -> None:
    live = {"parts": [{"name": "x", "free": {"k": 1}}], "counts": {"a": 1}}
    merged = merge(live, {"counts": {"b": 2}})
    assert merged["parts"] is live["parts"]
    assert merge(live, {"counts": {"a": 1}}) == live


@pytest.mark.parametrize(
    ("patch", "paths"),
    [
        ({"plain": ["a"]}, ".plain"),
        ({"frozen": {"a": "x"}}, ".frozen"),
        ({"frozen": {}, "plain": []}, ".frozen, .plain"),
        ({"metadata": {"ownerReferences": [{"uid": "u"}]}}, ".metadata.ownerReferences[0]"),
    ],
)
def test_what_is_one_value_may_not_be_set(patch: Json, paths: str) -> None:
    with pytest.raises(MergeError) as caught:
        merge({}, patch)
    assert caught.value.message == (
        f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {paths}"
    )
    assert merge({}, patch, guard=False) == patch


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"none": 1}, ".none: field not declared in schema"),
        ({"size": "x"}, ".size: expected numeric (int or float), got string"),
        ({"on": 1}, ".on: expected boolean, got &{1}"),
        ({"at": {"a": 1}}, ".at: expected any scalar, got &{map[a:1]}"),
        ({"counts": "x"}, ".counts: expected map, got &{x}"),
        ({"tags": {"a": "b"}}, ".tags: expected list, got &{map[a:b]}"),
        ({"tags": ["a", "a"]}, '.tags: duplicate entries for key [="a"]'),
        (
            {"tags": [None]},
            ".tags: element 0: associative list without keys has an element that's "
            "an explicit null",
        ),
        (
            {"parts": ["x"]},
            ".parts: element 0: associative list with keys may not have non-map elements",
        ),
        (
            {"parts": [{"name": 5}]},
            ".parts[name=5,port=80].name: expected string, got &value.valueUnstructured{Value:5}",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: Json, message: str) -> None:
    with pytest.raises(MergeError) as caught:
        merge({}, patch)
    text = f"failed to convert patch object to typed object: {message}"
    assert caught.value.message == text


def test_several_errors_are_listed() -> None:
    with pytest.raises(MergeError) as caught:
        merge({}, {"size": "x", "on": 1})
    assert caught.value.message.splitlines()[1:] == [
        "  .size: expected numeric (int or float), got string",
        "  .on: expected boolean, got &{1}",
    ]


def test_a_live_object_that_does_not_fit_makes_every_patch_fail() -> None:
    with pytest.raises(MergeError, match="failed to convert original object to typed object"):
        merge({"unknown": 1}, {"size": 1})


@pytest.mark.parametrize(
    ("patch", "paths"),
    [
        (pod(containers=[{"name": "a", "args": ["x"]}]), ".spec.containers[0].args"),
        (pod(imagePullSecrets=[{"name": "s"}]), ".spec.imagePullSecrets[0]"),
        (pod(nodeSelector={"a": "b"}), ".spec.nodeSelector"),
        (pod(tolerations=[{"key": "a"}]), ".spec.tolerations"),
    ],
)
def test_what_is_one_value_in_a_pod(patch: Json, paths: str) -> None:
    assert POD is not None
    with pytest.raises(MergeError) as caught:
        apply_configuration(of_struct(POD.struct), {}, patch, typed=True)
    assert caught.value.message.endswith(f": {paths}")


def test_a_port_is_told_by_its_default_protocol_too() -> None:
    assert POD is not None
    live = pod(containers=[{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}])
    patch = pod(containers=[{"name": "a", "ports": [{"containerPort": 80, "name": "http"}]}])
    merged = apply_configuration(of_struct(POD.struct), live, patch, typed=True)
    port = {"containerPort": 80, "protocol": "TCP", "name": "http"}
    assert merged["spec"]["containers"][0]["ports"] == [port]


def test_a_kind_without_a_schema_merges_maps_and_takes_no_list() -> None:
    merged = apply_configuration(DEDUCED, {"a": {"b": 1}}, {"a": {"c": 2}})
    assert merged == {"a": {"b": 1, "c": 2}}
    with pytest.raises(MergeError, match=r"structs: \.a\.l$"):
        apply_configuration(DEDUCED, {}, {"a": {"l": [1]}})
    assert apply_configuration(DEDUCED, {"l": [1]}, {"l": [2]}, guard=False) == {"l": [2]}
