"""Laws of the served form, on the objects of the vectors and on objects made from the types."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krm_fn import limits
from krm_fn.errors import DecodeError
from krm_fn.kube.schema import RELEASES, KindSchema, Schemas, Struct, Type, Value
from krm_fn.kube.served import Served
from krm_fn.values import Json

VECTORS = Path(__file__).parents[3] / "conformance" / "served" / "served.jsonl"


def served_in_vectors() -> Iterator[tuple[str, Json]]:
    """Objects in the served form, with the release that observed them."""
    for line in VECTORS.read_bytes().split(b"\n"):
        case = json.loads(line) if line else {"result": {}}
        if "served" in case["result"]:
            yield case["kubernetes"], case["result"]["served"]


def test_what_the_api_server_served_is_served_as_the_same_object() -> None:
    servers = {release: Served(Schemas(release)) for release in RELEASES}
    seen = 0
    for release, value in served_in_vectors():
        if not is_forgotten(value):
            form = servers[release].form(value)
            assert form.object is value, value
            assert form.findings == ()
            seen += 1
    assert seen > 2_000


def is_forgotten(value: Json) -> bool:
    """Whether the API server itself would serve what it served in another way, or none does.

    Policies of an autoscaler that were given empty get no default, and are left out when written;
    a pointer to the zero time is written as null; for the third kind see `formats.served`.
    """
    if value["kind"] == "CertificateSigningRequest":
        return True
    spec = value.get("spec", {})
    behavior = spec.get("behavior") or {}
    taints = spec.get("taints", ()) if value["kind"] == "Node" else ()
    return any("policies" not in rules for rules in behavior.values()) or any(
        taint.get("timeAdded", "") is None for taint in taints
    )


class Maker:
    """Makes objects of any kind from its types, with zeros, nulls and wrong types among them."""

    def __init__(self, seed: int, wrong: float) -> None:
        self.random = random.Random(seed)
        self.wrong = wrong

    def object(self, schema: KindSchema) -> Json:
        prefix = f"{schema.group}/" if schema.group else ""
        made = self.struct(schema.struct, 0)
        return {**made, "apiVersion": f"{prefix}{schema.version}", "kind": schema.kind}

    def struct(self, struct: Struct, depth: int) -> Json:
        made = {}
        for field in struct.fields.values():
            if self.random.random() < 0.9 / (1 + 0.4 * depth):
                made[field.name] = self.value(field.type, depth + 1)
        if self.random.random() < 0.02:
            made["nonsense"] = 1
        return made

    def value(self, type_: Type, depth: int) -> Any:
        chance = self.random.random()
        if chance < self.wrong:
            return self.random.choice([True, 5, 1.5, "x", [], {}, [None], {"a": 1}, 2**70])
        if chance < self.wrong + 0.03:
            return None
        if type_.value is Value.STRUCT:
            return self.struct(type_.struct, depth)
        if type_.value is Value.LIST:
            assert type_.element is not None
            return [self.value(type_.element, depth) for _ in range(self.random.randrange(3))]
        if type_.value is Value.MAP:
            assert type_.element is not None
            return {key: self.value(type_.element, depth) for key in ("cpu", "k")[: depth % 3]}
        return self.random.choice(LEAVES[type_.value])


LEAVES: dict[Value, list[Any]] = {
    Value.STRING: ["", "a", "RollingUpdate", "Container", "nginx:latest", "ClientIP"],
    Value.BOOLEAN: [True, False],
    Value.INT32: [0, 1, -1, 2.0],
    Value.INT64: [0, 30, -5],
    Value.NUMBER: [0, 1.5],
    Value.BYTES: ["", "aGVsbG8="],
    Value.QUANTITY: ["1", "1000m", "0.5", "1n", 2, 1e-9, "1.5Gi"],
    Value.INT_OR_STRING: [0, "", 80, "25%"],
    Value.TIME: ["2020-01-01T00:00:00.5+01:00"],
    Value.MICRO_TIME: ["2020-01-01T00:00:00.123456Z"],
    Value.RAW: [{"a": None}, [], "x"],
    Value.JSON: [{"a": None}, [], 1.5],
    Value.FIELDS: [{"f:a": {}}],
    Value.SCHEMA_OR_BOOLEAN: [True, {"type": "string"}],
    Value.SCHEMA_OR_LIST: [{"type": "string"}, [{}]],
    Value.SCHEMA_OR_STRINGS: [{"type": "string"}, ["a"]],
}


def kinds(schemas: Schemas) -> list[KindSchema]:
    names = sorted(schemas._open().kinds)
    found = [schemas.kind(name.rpartition("/")[0], name.rpartition("/")[2]) for name in names]
    return [schema for schema in found if schema is not None and schema.plural]


UNSTABLE = ("HorizontalPodAutoscaler", "Node")
"""Kinds in which something that is empty on purpose is not written: see `is_forgotten`."""


@pytest.mark.parametrize("release", RELEASES)
def test_objects_of_every_kind_are_served_the_same_twice(release: str) -> None:
    schemas = Schemas(release)
    server = Served(schemas)
    maker = Maker(seed=20, wrong=0)
    for schema in kinds(schemas):
        for _ in range(6):
            value = maker.object(schema)
            typed = server.typed(value)
            assert server.typed(typed) is typed
            served = server.form(value).object
            if schema.kind not in UNSTABLE:
                assert server.form(served).object is served, schema.kind


@pytest.mark.parametrize("release", RELEASES)
def test_a_wrong_value_is_an_error_at_a_field_and_never_a_crash(release: str) -> None:
    schemas = Schemas(release)
    server = Served(schemas)
    maker = Maker(seed=21, wrong=0.05)
    refused: list[DecodeError | None] = []
    for schema in kinds(schemas):
        for _ in range(6):
            value = maker.object(schema)
            before = repr(value)
            refused.append(refusal(server, value))
            assert repr(value) == before
    errors = [error for error in refused if error is not None]
    assert len(errors) > 100
    assert all(error.path for error in errors)


def refusal(server: Served, value: Json) -> DecodeError | None:
    try:
        server.validating(server.form(value).object)
    except DecodeError as error:
        return error
    return None


def nested(depth: int) -> Json:
    schema: Json = {}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]},
    }


def test_values_that_nest_as_deep_as_any_may_are_no_trouble() -> None:
    server = Served(Schemas())
    served = server.form(nested(limits.NESTING // 2 - 10)).object
    assert server.form(served).object is served
    deep: Any = "x"
    for _ in range(limits.NESTING - 10):
        deep = [deep]
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": deep}
    assert server.form(revision).object["data"] is deep


def test_a_huge_list_is_served_in_time_that_grows_with_it_alone() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"}
    owners = [{**owner, "uid": str(n)} for n in range(20_000)]
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"ownerReferences": owners}}
    assert Served(Schemas()).form(value).object["metadata"]["ownerReferences"] is owners
