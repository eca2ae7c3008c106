"""JSONPath and JSON Patch on objects."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from sdk_support import LIST, a_list

from krm_fn.errors import KrmFnError
from krm_fn.sdk import KubeObject, ResourceList


@pytest.fixture
def rl() -> ResourceList:
    return a_list()


@pytest.fixture
def web(rl: ResourceList) -> KubeObject:
    return rl.items[0]


FOUND = {
    "$.spec.replicas": [(("spec", "replicas"), 2)],
    "spec.containers[*].name": [
        (("spec", "containers", 0, "name"), "a"),
        (("spec", "containers", 1, "name"), "b"),
    ],
    '$.spec.containers[?(@.name=="b")].name': [(("spec", "containers", 1, "name"), "b")],
    "$.spec.containers[-1].name": [(("spec", "containers", 1, "name"), "b")],
    "$..args[0]": [(("spec", "containers", 0, "args", 0), "x")],
    '$.metadata.annotations["internal.config.kubernetes.io/id"]': [
        (("metadata", "annotations", "internal.config.kubernetes.io/id"), "7")
    ],
    "$.spec.nothing": [],
}


@pytest.mark.parametrize(("jsonpath", "matches"), FOUND.items(), ids=FOUND)
def test_values_are_found_with_their_paths(
    web: KubeObject, jsonpath: str, matches: list[Any]
) -> None:
    assert [tuple(match) for match in web.find(jsonpath)] == matches


def test_a_path_that_was_found_can_be_set(rl: ResourceList, web: KubeObject) -> None:
    for match in web.find("$.spec.containers[*].name"):
        web.set_nested(match.value.upper(), *match.path)
    assert rl.to_yaml() == LIST.replace(b"name: a\n", b"name: A\n").replace(
        b"name: b\n", b"name: B\n"
    )


def test_paths_are_those_below_a_part(web: KubeObject) -> None:
    (match, _) = web.nested_subobject("spec").find("$.containers[*].name")
    assert match.path == ("containers", 0, "name")


@pytest.mark.parametrize("jsonpath", ["$[", "", "$.x == 3", "$.spec.`sub(/a/,b)`"])
def test_a_path_that_cannot_be_read_is_an_error(web: KubeObject, jsonpath: str) -> None:
    with pytest.raises(KrmFnError, match="cannot be read"):
        web.find(jsonpath)


def test_a_path_that_computes_is_an_error(web: KubeObject) -> None:
    with pytest.raises(KrmFnError, match="stand nowhere in the object"):
        web.find("$.spec.containers.`len`")


def test_a_patch_changes_what_it_names_and_keeps_the_text(
    rl: ResourceList, web: KubeObject
) -> None:
    web.patch(
        [
            {"op": "test", "path": "/spec/replicas", "value": 2},
            {"op": "replace", "path": "/spec/replicas", "value": 3},
            {"op": "add", "path": "/metadata/labels/app.kubernetes.io~1name", "value": "web"},
            {"op": "remove", "path": "/spec/ratio"},
        ]
    )
    assert rl.to_yaml() == LIST.replace(b"replicas: 2", b"replicas: 3").replace(
        b"{app: web}", b"{app: web, app.kubernetes.io/name: web}"
    ).replace(b"    ratio: 0.5\n", b"")


def test_a_patch_of_a_part_starts_there(web: KubeObject) -> None:
    web.nested_subobject("spec").patch([{"op": "add", "path": "/minReadySeconds", "value": 5}])
    assert web.nested_int("spec", "minReadySeconds") == 5


BAD: list[Any] = [
    [{"op": "replace", "path": "/spec/nothing/x", "value": 1}],
    [{"op": "test", "path": "/spec/replicas", "value": 3}],
    [{"op": "nonsense", "path": "/spec"}],
    [{"path": "/spec"}],
    [{"op": "add", "path": "spec", "value": 1}],
    [{"op": "add", "path": 5, "value": 1}],
    [{"op": "replace", "path": "", "value": 5}],
    [5],
]


@pytest.mark.parametrize("operations", BAD, ids=str)
def test_a_patch_that_does_not_fit_changes_nothing(rl: ResourceList, operations: Any) -> None:
    with pytest.raises(KrmFnError, match="the JSON patch"):
        rl.items[0].patch([{"op": "add", "path": "/spec/x", "value": 1}, *operations])
    assert rl.to_yaml() == LIST


def test_their_libraries_are_loaded_when_they_are_used() -> None:
    program = "import sys; import krm_fn.sdk; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not {"jsonpath_ng", "jsonpatch", "krm_fn.sdk.decode"} & set(done.stdout.decode().split())
