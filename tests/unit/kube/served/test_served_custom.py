"""Custom kinds: pruning, nulls, embedded resources and defaults as their definition says."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.errors import DecodeError
from krm_fn.kube.schema import Schemas
from krm_fn.kube.served import Form, Served
from krm_fn.values import Json, Path, equal

OBJECT = "object"
PRESERVE = {"x-kubernetes-preserve-unknown-fields": True}


def served_by(schema: Json, **version: Any) -> Served:
    one = {"name": "v1", "schema": {"openAPIV3Schema": schema}, **version}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Foo", "plural": "foos"},
            "versions": [one],
        },
    }
    return Served(Schemas(), lambda group, kind: crd)


def foo(**members: Any) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}, **members}


def form(spec_schema: Json, spec: Any) -> Form:
    schema = {"type": OBJECT, "properties": {"spec": spec_schema}}
    return served_by(schema).form(foo(spec=spec))


def properties(**members: Json) -> Json:
    return {"type": OBJECT, "properties": members}


A = properties(a={"type": "string"})

PRUNED: list[tuple[Json, Any, Any, list[Path]]] = [
    (A, {"a": 1, "b": 2}, {"a": 1}, [("spec", "b")]),
    ({"type": OBJECT}, {"a": 1}, {}, [("spec", "a")]),
    (
        {"type": "array", "items": A},
        [{"b": 1}, 5],
        [{}, 5],
        [("spec", 0, "b")],
    ),
    ({"type": OBJECT, "additionalProperties": A}, {"x": {"b": 1}}, {"x": {}}, [("spec", "x", "b")]),
    ({**A, **PRESERVE}, {"b": {"c": 1}}, {"b": {"c": 1}}, []),
    (
        {**properties(k=A), **PRESERVE},
        {"k": {"b": 1}, "x": 1},
        {"k": {}, "x": 1},
        [("spec", "k", "b")],
    ),
    ({"type": "array", "items": A, **PRESERVE}, [{"b": 1}], [{"b": 1}], []),
    ({"type": "string"}, {"a": 1}, {}, [("spec", "a")]),
]


@pytest.mark.parametrize(("schema", "spec", "kept", "unknown"), PRUNED)
def test_what_the_schema_does_not_have_is_pruned_and_told(
    schema: Json, spec: Any, kept: Any, unknown: list[Path]
) -> None:
    served = form(schema, spec)
    assert equal(served.object["spec"], kept)
    assert [finding.path for finding in served.findings] == unknown


NULLS: list[tuple[Json, Any, Any]] = [
    (properties(a={"type": "string"}), {"a": None}, {}),
    (properties(a={"type": "string", "nullable": True}), {"a": None}, {"a": None}),
    (properties(a={"type": "string", "default": "x"}), {"a": None}, {"a": "x"}),
    (
        properties(a={"type": "string", "default": "x", "nullable": True}),
        {"a": None},
        {"a": None},
    ),
    ({"type": "array", "items": {"type": "string"}}, [None], [None]),
    ({"type": OBJECT, "additionalProperties": {"type": "string"}}, {"k": None}, {}),
    ({"type": OBJECT, **PRESERVE}, {"x": None}, {"x": None}),
    ({**A, **PRESERVE}, {"a": None}, {}),
]


@pytest.mark.parametrize(("schema", "spec", "kept"), NULLS)
def test_nulls_stay_where_they_may_be(schema: Json, spec: Any, kept: Any) -> None:
    assert equal(form(schema, spec).object["spec"], kept)


DEFAULTS: list[tuple[Json, Any, Any]] = [
    (properties(a={"type": "integer", "default": 0}), {}, {"a": 0}),
    (properties(a={"type": "integer", "default": 1}), {"a": "x"}, {"a": "x"}),
    (properties(a=properties(b={"default": 1})), {}, {}),
    (properties(a=properties(b={"default": 1})), {"a": {}}, {"a": {"b": 1}}),
    (
        properties(a={**properties(b={"default": 1}), "default": {}}),
        {},
        {"a": {"b": 1}},
    ),
    (
        properties(a={**properties(k={}, m={"default": "m"}), "default": {"k": "v"}}),
        {"a": {}},
        {"a": {"m": "m"}},
    ),
    (
        {"type": "array", "items": properties(b={"default": 1})},
        [{}, {"b": 2}],
        [{"b": 1}, {"b": 2}],
    ),
    (
        {"type": OBJECT, "additionalProperties": properties(b={"default": 1})},
        {"x": {}},
        {"x": {"b": 1}},
    ),
    (properties(a={**A, "default": {"a": "x", "b": "pruned"}}), {}, {"a": {"a": "x"}}),
]


@pytest.mark.parametrize(("schema", "spec", "filled"), DEFAULTS)
def test_defaults_are_filled_in_where_their_parent_is(schema: Json, spec: Any, filled: Any) -> None:
    assert equal(form(schema, spec).object["spec"], filled)


def test_the_metadata_of_a_custom_kind_is_decoded() -> None:
    value = foo()
    value["metadata"] = {"name": "f", "labels": {}, "nonsense": 1, "creationTimestamp": None}
    served = served_by({"type": OBJECT}).form(value)
    assert served.object["metadata"] == {"name": "f"}
    assert [finding.path for finding in served.findings] == [("metadata", "nonsense")]
    value["metadata"] = {"labels": {"a": 1}}
    with pytest.raises(DecodeError) as caught:
        served_by({"type": OBJECT}).form(value)
    assert caught.value.path == ("metadata", "labels", "a")


@pytest.mark.parametrize("metadata", [None, {}])
def test_missing_metadata_is_the_namespace(metadata: Any) -> None:
    value = {**foo(), "metadata": metadata}
    assert served_by({"type": OBJECT}).form(value, "web").object["metadata"] == {"namespace": "web"}


def test_an_embedded_resource_keeps_what_makes_it_one() -> None:
    embedded = {"type": OBJECT, "x-kubernetes-embedded-resource": True}
    spec = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "x": 1}, "spec": {}}
    served = form(embedded, spec)
    assert served.object["spec"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    assert [f.path for f in served.findings] == [("spec", "spec"), ("spec", "metadata", "x")]
    with pytest.raises(DecodeError) as caught:
        form(embedded, {"kind": 5})
    assert caught.value.path == ("spec", "kind")


NUMBERS = [(1.0, 1), (1e3, 1000), (2**63 - 1, 2**63 - 1), (2**63, float(2**63)), (1.5, 1.5)]


@pytest.mark.parametrize(("written", "held"), NUMBERS)
def test_numbers_are_held_as_64_bits(written: Any, held: Any) -> None:
    assert equal(form({"type": OBJECT, **PRESERVE}, {"n": written}).object["spec"]["n"], held)


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 10**400])
def test_a_number_that_json_or_64_bits_do_not_have_is_refused(number: Any) -> None:
    with pytest.raises(DecodeError):
        form({"type": OBJECT, **PRESERVE}, {"n": number})


def test_status_is_a_subresource_only_if_the_version_says_so() -> None:
    schema = properties(status=A)
    value = foo(status={"a": "x"})
    for subresources, kept in (({"status": {}}, False), ({}, True)):
        server = served_by(schema, subresources=subresources)
        served = server.form(value).object
        assert served["status"] == {"a": "x"}
        validating = server.validating(served)
        assert ("status" in validating) is kept
        assert validating["metadata"]["generation"] == 1


def test_a_version_that_the_definition_does_not_have_stays_as_written() -> None:
    value = {**foo(spec={"a": 1}), "apiVersion": "example.com/v2"}
    form = served_by({"type": OBJECT}).form(value)
    assert form.object is value
    assert not form.known


def test_a_definition_that_cannot_be_decoded_says_nothing() -> None:
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": 5}
    value = foo(spec={"a": 1})
    assert Served(Schemas(), lambda group, kind: crd).form(value).object is value


def test_a_served_object_is_served_as_the_same_object() -> None:
    schema = properties(spec=properties(a={"default": {}, **A}))
    server = served_by(schema)
    served = server.form(foo(spec={"b": 1}), "web").object
    assert server.form(served).object is served


def test_deep_schemas_and_values_are_no_trouble() -> None:
    schema: Json = {"type": OBJECT, "default": {}}
    spec: Any = {}
    for _ in range(400):
        schema = {"type": OBJECT, "properties": {"a": schema}}
        spec = {"a": spec}
    assert form(schema, spec).object["spec"] == spec
