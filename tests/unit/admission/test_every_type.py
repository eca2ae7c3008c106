"""Every kind of both schema tables, with all its fields, through every view of an object.

A struct type may contain itself, so that whatever looks at types has to be lazy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from krm_fn.admission.activation import typed_view
from krm_fn.admission.objectview import view_of
from krm_fn.config.options import Options
from krm_fn.kube.schema import RELEASES, KindSchema, Schemas, Struct, Type, Value
from krm_fn.kube.served import Served
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.values import PLAIN, ListView, MapView
from krm_fn.run.show import show
from krm_fn.values import Json
from krm_fn.wire import read_stream

SCALARS: dict[Value, Any] = {
    Value.STRING: "a",
    Value.BOOLEAN: True,
    Value.INT32: 1,
    Value.INT64: 1,
    Value.NUMBER: 1.5,
    Value.BYTES: "YQ==",
    Value.QUANTITY: "1",
    Value.INT_OR_STRING: 1,
    Value.TIME: "2024-01-01T00:00:00Z",
    Value.MICRO_TIME: "2024-01-01T00:00:00.000000Z",
    Value.RAW: {"a": [1]},
    Value.FIELDS: {"f:a": {}},
    Value.JSON: {"a": [1]},
    Value.SCHEMA_OR_BOOLEAN: True,
    Value.SCHEMA_OR_LIST: {"type": "string"},
    Value.SCHEMA_OR_STRINGS: ["a"],
}


def sample(kind: Type, above: tuple[str, ...] = ()) -> Any:
    """A value with all fields; a type that contains itself is there twice."""
    if kind.value is Value.STRUCT:
        return of_struct(kind.struct, above)
    if kind.value is Value.LIST:
        assert kind.element is not None
        return [sample(kind.element, above)]
    if kind.value is Value.MAP:
        assert kind.element is not None
        return {"a": sample(kind.element, above)}
    return SCALARS[kind.value]


def of_struct(struct: Struct, above: tuple[str, ...]) -> Json:
    if above.count(struct.name) > 1:
        return {}
    below = (*above, struct.name)
    return {name: sample(field.type, below) for name, field in struct.fields.items()}


def all_kinds(release: str) -> Iterator[KindSchema]:
    schemas = Schemas(release)
    for name in schemas._open().kinds:
        api_version, _, kind = name.rpartition("/")
        schema = schemas.kind(api_version, kind)
        assert schema is not None
        yield schema


def full_object(schema: KindSchema) -> Json:
    api_version = f"{schema.group}/{schema.version}" if schema.group else schema.version
    value = of_struct(schema.struct, ())
    return {**value, "apiVersion": api_version, "kind": schema.kind}


def read(value: Any) -> Any:
    """A value as JSON, read through its views as an expression reads it."""
    if type(value) is MapView:
        return {key: read(value.find(key)[0]) for key in v.map_keys(value)}
    if type(value) is ListView:
        assert list(map(read, value)) == [read(value.at(n)) for n in range(len(value))]
        return list(map(read, value))
    return value


@pytest.mark.parametrize("release", RELEASES)
def test_every_field_of_every_kind_is_read_through_the_typed_view(release: str) -> None:
    schemas = Schemas(release)
    for schema in all_kinds(release):
        value = full_object(schema)
        shown = typed_view(value, schemas)
        assert read(shown) == value
        assert v.equals(shown, typed_view(value, schemas))
        assert "object" in v.show(shown) or v.go_type(shown)


@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_is_shown_as_rules_see_it(release: str) -> None:
    admission = Options()._replace(context=Options().context._replace(kubernetes_version=release))
    served = Served(Schemas(release))
    for schema in all_kinds(release):
        if not schema.plural:
            continue
        value = full_object(schema)
        view = view_of(value, "default" if schema.namespaced else "", served)
        view.stored(view.served(value))
        stream = read_stream(json.dumps(value).encode())
        objects, _ = show([stream], admission)
        assert [value["kind"] for value in objects] == [schema.kind]


def test_what_a_type_marshals_by_itself_is_plain_json_below() -> None:
    schemas = Schemas()
    schema = {"default": {"a": [1]}, "items": {"properties": {}}, "properties": {"a": {}}}
    version = {"name": "v1", "schema": {"openAPIV3Schema": schema}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"versions": [version]},
    }
    shown = typed_view(crd, schemas)
    for key in ("spec", "versions"):
        shown, _ = shown.find(key)
    shown = shown.at(0)
    for key in ("schema", "openAPIV3Schema"):
        shown, _ = shown.find(key)
    assert shown.find("default")[0] is schema["default"]
    assert shown.find("items")[0] is schema["items"]
    properties = shown.find("properties")[0]
    assert (properties.shape.name, properties.find("a")[0].shape.name) == ("", "v1.JSONSchemaProps")
    assert PLAIN.name == ""
