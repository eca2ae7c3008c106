"""Meshes are read as protobuf's JSON is: strictly, in two spellings, with null as nothing."""

from __future__ import annotations

from typing import Any

import pytest
from appmesh_support import LABELS, compiled, mesh, raw_mesh

from krm_fn.admission import Cause
from krm_fn.config.fields import Section
from krm_fn.dialects.appmesh.messages import read_spec
from krm_fn.dialects.appmesh.options import AppMeshOptions, read_options
from krm_fn.errors import ConfigError, DecodeError, RuleError

UNREADABLE = [
    ({"awsAppMesh": {"regions": "x"}}, 'unknown field "regions" in v1.AwsAppMesh'),
    ({"AwsAppMesh": {}}, 'unknown field "AwsAppMesh" in v1.Mesh'),
    ({"istio": {"x": 1}}, 'unknown field "x" in v1.IstioMesh'),
    ({"awsAppMesh": {"region": 5}}, "cannot unmarshal number into Go value of type string"),
    ({"awsAppMesh": {"enableAutoInject": "true"}}, "unmarshal string into Go value of type bool"),
    (
        {"awsAppMesh": {"sidecarPatchConfigMap": "x"}},
        "unmarshal string into Go value of type map[string]json.RawMessage",
    ),
    (
        {"awsAppMesh": {"injectionSelector": {"namespaceSelector": {"namespaces": "x"}}}},
        "unmarshal string into Go value of type []json.RawMessage",
    ),
    (
        {"awsAppMesh": {"injectionSelector": {"labelSelector": {"labelsToMatch": {"a": True}}}}},
        "unmarshal bool into Go value of type string",
    ),
    ({"status": {"state": "Gone"}}, 'unknown value "Gone" for enum core.solo.io.Status_State'),
    ({"status": {"state": []}}, "unmarshal array into Go value of type core.Status_State"),
    ([], "unmarshal array into Go value of type map[string]json.RawMessage"),
]


@pytest.mark.parametrize(("spec", "reason"), UNREADABLE)
def test_what_supergloo_cannot_read_is_an_error(spec: Any, reason: str) -> None:
    with pytest.raises(DecodeError) as failed:
        read_spec(spec)
    assert failed.value.message.endswith(reason)


def test_one_unreadable_mesh_is_an_error_of_the_rules_with_all_others() -> None:
    broken = raw_mesh({"awsAppMesh": {"a": 1}}, "a")
    with pytest.raises(RuleError) as failed:
        compiled(broken, mesh("b"), raw_mesh({"istio": 5}, "c"))
    first, second = failed.value.message.splitlines()
    assert first.startswith("Mesh supergloo-system/a: supergloo: failed to create sidecar patch: ")
    assert first.endswith('reading crd spec into v1Mesh: unknown field "a" in v1.AwsAppMesh')
    assert second.startswith("Mesh supergloo-system/c: ")


@pytest.mark.parametrize(
    "spec",
    [
        {"istio": {}, "awsAppMesh": None},
        {"awsAppMesh": {"injectionSelector": {**LABELS, "namespaceSelector": {}}}},
    ],
)
def test_two_of_what_there_may_be_one_of_is_an_error(spec: Any) -> None:
    with pytest.raises(RuleError, match="of which SuperGloo takes one by chance"):
        compiled(raw_mesh(spec))


def test_both_spellings_are_read_and_camel_case_wins() -> None:
    spec = {"aws_app_mesh": {"enable_auto_inject": False, "enableAutoInject": True}}
    assert read_spec(spec) == {"awsAppMesh": {"enableAutoInject": True}}


def test_null_is_nothing_but_where_it_is_a_choice() -> None:
    selector = {"labelSelector": {"labelsToMatch": {"a": None}}}
    spec = {"mtlsConfig": None, "awsAppMesh": {"region": None, "injectionSelector": selector}}
    labels = {"labelSelector": {"labelsToMatch": {"a": ""}}}
    assert read_spec(spec) == {"awsAppMesh": {"injectionSelector": labels}}
    chosen = {"awsAppMesh": {"injectionSelector": {"labelSelector": None}}}
    assert read_spec(chosen) == chosen
    assert read_spec(None) == {}


def test_meshes_of_other_systems_are_no_rules_that_do_anything() -> None:
    istio = raw_mesh({"istio": {"installationNamespace": "istio-system"}, "smiEnabled": True})
    assert compiled(istio, raw_mesh(None, "b")).plugins == ()


def test_a_mesh_needs_a_name() -> None:
    with pytest.raises(RuleError, match=r"metadata\.name is required"):
        compiled(mesh(""))


REMARKS = [
    ({"labelSelector": {"labelsToMatch": {}}}, "it is empty, which matches every Pod"),
    ({"labelSelector": {}}, "it is empty, which matches every Pod"),
    ({"labelSelector": {"labelsToMatch": {"a b": "c"}}}, "the selector matches every Pod"),
    ({"labelSelector": {"labelsToMatch": {"a": "b" * 64}}}, "the selector matches every Pod"),
]


@pytest.mark.parametrize(("selector", "message"), REMARKS)
def test_a_selector_that_matches_everything_is_told(selector: Any, message: str) -> None:
    (finding,) = compiled(mesh(injectionSelector=selector)).findings
    assert finding.cause is Cause.WARNING
    assert message in finding.message
    (ref,) = finding.rules
    assert ref.part == "spec.awsAppMesh.injectionSelector.labelSelector.labelsToMatch"


def test_a_mesh_that_is_switched_off_is_not_remarked_upon() -> None:
    off = mesh(injectionSelector={"labelSelector": {}}, enableAutoInject=False)
    assert compiled(off).findings == ()


def test_unknown_options_are_errors() -> None:
    assert read_options(Section({}, "appMesh")) == AppMeshOptions()
    with pytest.raises(ConfigError, match=r"appMesh\.onDuplicat: unknown field; did you mean"):
        compiled(options={"onDuplicat": "Skip"})
    with pytest.raises(ConfigError, match="is not one of None, Builtin"):
        read_options(Section({"defaultPatch": "Chart"}, "appMesh"))
