"""What decoding into a Go type and writing it again does to values, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import DecodeError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Served
from krm_fn.values import MISSING, Json, Path, equal, get

NEWEST = Served(Schemas())
OLDEST = Served(Schemas("1.32"))


def pod(**spec: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def typed(value: Json) -> Json:
    return NEWEST.typed(value)


def refusal(value: Json) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        NEWEST.form(value)
    return caught.value


WRITTEN = [
    ("a struct that is absent is written", {}, ("status",), {}),
    ("a list without omitempty is null when it is absent", {}, ("spec", "containers"), None),
    ("an empty list without omitempty stays", {"containers": []}, ("spec", "containers"), []),
    (
        "a zero with omitempty goes",
        {"nodeName": "", "hostNetwork": False},
        ("spec", "nodeName"),
        MISSING,
    ),
    ("an empty list with omitempty goes", {"tolerations": []}, ("spec", "tolerations"), MISSING),
    ("a pointer keeps its zero", {"priority": 0}, ("spec", "priority"), 0),
    ("null is absent", {"priority": None}, ("spec", "priority"), MISSING),
    ("a null element is a zero", {"containers": [None]}, ("spec", "containers", 0, "name"), ""),
    ("a null in a map is a zero", {"nodeSelector": {"a": None}}, ("spec", "nodeSelector", "a"), ""),
    ("a whole float is an integer", {"priority": 2.0}, ("spec", "priority"), 2),
    ("an unknown field is dropped", {"hostnetwork": True}, ("spec", "hostnetwork"), MISSING),
]


@pytest.mark.parametrize(("why", "spec", "path", "expected"), WRITTEN, ids=[w[0] for w in WRITTEN])
def test_values_are_written_as_go_writes_them(
    why: str, spec: Json, path: Path, expected: Any
) -> None:
    assert equal(get(typed(pod(**spec)), path, MISSING), expected), why


def test_a_time_that_is_not_set_is_null_before_omitzero() -> None:
    assert OLDEST.typed(pod())["metadata"]["creationTimestamp"] is None
    assert "creationTimestamp" not in NEWEST.typed(pod())["metadata"]


def test_a_raw_extension_keeps_what_is_in_it() -> None:
    data = {"z": None, "a": [], "n": {"m": ""}}
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": data}
    assert typed(revision)["data"] is data
    assert typed({**revision, "data": None})["data"] is None


REFUSED = [
    ({"priority": "5"}, ("spec", "priority")),
    ({"priority": 1.5}, ("spec", "priority")),
    ({"priority": 2**31}, ("spec", "priority")),
    ({"activeDeadlineSeconds": 2**63}, ("spec", "activeDeadlineSeconds")),
    ({"hostNetwork": "true"}, ("spec", "hostNetwork")),
    ({"hostNetwork": 1}, ("spec", "hostNetwork")),
    ({"nodeName": 5}, ("spec", "nodeName")),
    ({"containers": "x"}, ("spec", "containers")),
    ({"tolerations": {"a": 1}}, ("spec", "tolerations")),
    ({"securityContext": "x"}, ("spec", "securityContext")),
    ({"nodeSelector": {"a": True}}, ("spec", "nodeSelector", "a")),
    (
        {"containers": [{}, {"env": [{"value": True}]}]},
        ("spec", "containers", 1, "env", 0, "value"),
    ),
    ({"overhead": {"cpu": "1Zi"}}, ("spec", "overhead", "cpu")),
    ({"overhead": {"cpu": float("inf")}}, ("spec", "overhead", "cpu")),
    ({"overhead": {"cpu": 10**5000}}, ("spec", "overhead", "cpu")),
]


@pytest.mark.parametrize(("spec", "path"), REFUSED)
def test_a_wrong_type_is_an_error_at_its_field(spec: Json, path: Path) -> None:
    error = refusal(pod(**spec))
    assert error.path == path
    assert "it must be" in error.message


def test_an_error_is_one_clear_sentence() -> None:
    error = refusal(pod(containers=[{"name": "c", "ports": [{"containerPort": "80"}]}]))
    assert error.message == (
        "spec.containers[0].ports[0].containerPort is the text '80'; "
        "it must be a whole number of 32 bits"
    )


BYTES = [
    ("aGVsbG8=", "aGVsbG8="),
    ("aGVs\r\nbG8=\n", "aGVsbG8="),
    ([104, 105], "aGk="),
    ([None], "AA=="),
    ("", ""),
]


@pytest.mark.parametrize(("value", "written"), BYTES)
def test_bytes_are_base64_or_a_list_of_numbers(value: Any, written: str) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"k": value}}
    assert typed(secret)["data"] == {"k": written}


@pytest.mark.parametrize("value", ["aGVsbG8", "aGVs bG8=", "a-_=", "=", [256], [True], ["a"], 5])
def test_other_bytes_are_refused(value: Any) -> None:
    assert refusal({"apiVersion": "v1", "kind": "Secret", "data": {"k": value}}).path == (
        "data",
        "k",
    )


def schema_of(**members: Any) -> Any:
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": members}}]
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"versions": versions},
    }
    return typed(crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


UNIONS = [
    ("additionalProperties", True, True),
    ("additionalProperties", {"type": "string", "x": 1}, {"type": "string"}),
    ("items", {"type": "string"}, {"type": "string"}),
    ("items", [{"type": "string"}], [{"type": "string"}]),
    ("items", 5, None),
    ("dependencies", {"a": ["b"]}, {"a": ["b"]}),
    ("dependencies", {"a": {"type": "string"}}, {"a": {"type": "string"}}),
    ("dependencies", {"a": []}, {"a": None}),
]


@pytest.mark.parametrize(("field", "value", "written"), UNIONS)
def test_a_schema_may_be_something_else_in_three_places(
    field: str, value: Any, written: Any
) -> None:
    assert schema_of(**{field: value}) == {field: written}


def test_what_did_not_change_is_the_same_object() -> None:
    env = [{"name": "A", "value": "b"}]
    args = ["x"]
    value = pod(containers=[{"name": "c", "env": env, "args": args}])
    served = NEWEST.form(value).object["spec"]["containers"][0]
    assert served["env"] is env
    assert served["args"] is args


def test_what_is_given_is_never_changed() -> None:
    value = pod(containers=[{"name": "c", "nonsense": 1, "ports": [{"containerPort": 1}]}])
    before = repr(value)
    NEWEST.form(value)
    assert repr(value) == before


# ------------------------------------------------------------------------------------ strictness


def test_an_unknown_field_is_told_with_its_path_and_a_hint() -> None:
    (finding,) = NEWEST.form(pod(containers=[{"name": "c", "imagePullPolcy": "Always"}])).findings
    assert finding.path == ("spec", "containers", 0, "imagePullPolcy")
    assert finding.message == (
        "unknown field spec.containers[0].imagePullPolcy; did you mean imagePullPolicy?"
    )


def test_a_wrong_case_is_an_unknown_field() -> None:
    (finding,) = NEWEST.form(pod(hostnetwork=True)).findings
    assert finding.message.endswith("did you mean hostNetwork?")


def test_no_more_than_a_hundred_unknown_fields_are_told() -> None:
    form = NEWEST.form(pod(**{f"nonsense{n}": n for n in range(500)}))
    assert len(form.findings) == 100


def test_an_object_without_unknown_fields_has_no_findings_after_one_that_has() -> None:
    NEWEST.form(pod(nonsense=1))
    assert NEWEST.form(pod(containers=[])).findings == ()


# -------------------------------------------------------------------------------------- identity


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"kind": "Pod"}, ("apiVersion",)),
        ({"apiVersion": "v1"}, ("kind",)),
        ({"apiVersion": "v1", "kind": 5}, ("kind",)),
        ({"apiVersion": "v1", "kind": ""}, ("kind",)),
    ],
)
def test_an_object_without_a_kind_is_refused(value: Json, path: Path) -> None:
    assert refusal(value).path == path


def test_a_kind_is_found_in_any_case() -> None:
    served = NEWEST.form(
        {"apiVersion": "v1", "Kind": "ConfigMap", "metadata": {"name": "x"}}
    ).object
    assert served["kind"] == "ConfigMap"


def test_an_object_of_an_unknown_kind_stays_as_it_is() -> None:
    value = {"apiVersion": "example.com/v1", "kind": "Shop", "metadata": None, "spec": 1}
    form = NEWEST.form(value)
    assert form.object is value
    assert not form.known


def test_the_namespace_is_the_requests() -> None:
    assert NEWEST.form(pod(), "web").object["metadata"]["namespace"] == "web"
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    placed = {**role, "metadata": {"name": "x", "namespace": "web"}}
    assert "namespace" not in NEWEST.form(placed, "web").object["metadata"]


def test_another_namespace_than_the_requests_is_refused() -> None:
    value = pod()
    value["metadata"]["namespace"] = "other"
    with pytest.raises(DecodeError) as caught:
        NEWEST.form(value, "web")
    assert caught.value.path == ("metadata", "namespace")


def test_metadata_that_only_the_system_sets_is_wiped() -> None:
    value = pod()
    value["metadata"].update(
        uid="u", creationTimestamp="2020-01-01T00:00:00Z", selfLink="/x", resourceVersion="5"
    )
    assert NEWEST.form(value).object["metadata"] == {"name": "p", "resourceVersion": "5"}
    assert OLDEST.form(value).object["metadata"]["creationTimestamp"] is None


def test_an_owner_that_is_named_twice_is_kept_once() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"}
    value = pod()
    value["metadata"]["ownerReferences"] = [owner, {**owner, "uid": "v"}, dict(owner)]
    owners = NEWEST.form(value).object["metadata"]["ownerReferences"]
    assert [one["uid"] for one in owners] == ["u", "v"]
