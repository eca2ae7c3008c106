"""What a schema says of merging: which forms a value may have, and what of it is one value.

The same picture is made of the table of built-in kinds and of the OpenAPI schema of a
CustomResourceDefinition. It knows no value.
Source: structured-merge-diff v6.4 schema/elements.go; kube-openapi pkg/schemaconv/openapi.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from krm_fn.kube.schema import Field, Struct, Type, Value
from krm_fn.values import Json

Ref = Callable[[], "Atom"]
"""A schema that is made when it is first asked for: types may contain themselves."""


class ListAtom(NamedTuple):
    """A list. `keys` tell the elements of an associative one apart; without any it is a set.

    `defaults` are the values that missing keys count as.
    """

    element: Ref
    associative: bool = False
    keys: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = {}


class MapAtom(NamedTuple):
    """A map or struct; `element` is the schema of other keys, None where there may be none."""

    fields: Mapping[str, Ref]
    element: Ref | None
    atomic: bool = False


class Atom(NamedTuple):
    """The forms that a value may have: a scalar of a type ("" is none), a list, a map."""

    scalar: str = ""
    list: ListAtom | None = None
    map: MapAtom | None = None


STRING: Final = Atom("string")
NUMERIC: Final = Atom("numeric")
BOOLEAN: Final = Atom("boolean")
UNTYPED: Final = Atom("untyped")


def _anything(associates: Ref) -> Atom:
    return Atom("untyped", ListAtom(lambda: ANY), MapAtom({}, associates, associates is _any))


def _any() -> Atom:
    return ANY


def _deduced() -> Atom:
    return DEDUCED


ANY: Final = _anything(_any)
"""Any value, of which maps and lists count as one."""

DEDUCED: Final = _anything(_deduced)
"""Any value, by what it is: maps merge by their keys, lists count as one."""


# Built-in kinds


_SCALARS: Final = {
    Value.STRING: STRING,
    Value.BYTES: STRING,
    Value.BOOLEAN: BOOLEAN,
    Value.INT32: NUMERIC,
    Value.INT64: NUMERIC,
    Value.NUMBER: NUMERIC,
    Value.QUANTITY: UNTYPED,
    Value.INT_OR_STRING: UNTYPED,
    Value.TIME: UNTYPED,
    Value.MICRO_TIME: UNTYPED,
}


class _Structs:
    """The atoms of struct types, each made once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Struct, Atom]] = {}

    def __call__(self, struct: Struct) -> Atom:
        found = self._known.get(id(struct))
        if found is None:
            # The struct is kept, so that no other one can take its identity.
            found = self._known[id(struct)] = (struct, self._make(struct))
        return found[1]

    def _make(self, struct: Struct) -> Atom:
        fields = {name: _once(_field, field, self) for name, field in struct.fields.items()}
        return Atom(map=MapAtom(fields, None, struct.atomic))


def _once(make: Callable[..., Atom], *args: Any) -> Ref:
    made: list[Atom] = []

    def get() -> Atom:
        if not made:
            made.append(make(*args))
        return made[0]

    return get


def _field(field: Field, structs: _Structs) -> Atom:
    kind = field.type.value
    if kind is Value.LIST:
        assert field.type.element is not None
        element = _once(_type, field.type.element, structs)
        associative = field.relation in ("set", "map")
        return Atom(list=ListAtom(element, associative, field.keys, field.key_defaults))
    atom = _type(field.type, structs)
    if field.relation == "atomic" and atom.map is not None:
        return Atom(map=atom.map._replace(atomic=True))
    return atom


def _type(kind: Type, structs: _Structs) -> Atom:
    scalar = _SCALARS.get(kind.value)
    if scalar is not None:
        return scalar
    if kind.value is Value.STRUCT:
        return structs(kind.struct)
    if kind.value is Value.LIST:
        assert kind.element is not None
        return Atom(list=ListAtom(_once(_type, kind.element, structs)))
    if kind.value is Value.MAP:
        assert kind.element is not None
        return Atom(map=MapAtom({}, _once(_type, kind.element, structs)))
    if kind.value in (Value.RAW, Value.FIELDS):
        return Atom(map=MapAtom({}, _deduced))
    return DEDUCED


_STRUCTS: Final = _Structs()


def of_struct(struct: Struct) -> Atom:
    """The atom of a built-in kind's struct type."""
    return _STRUCTS(struct)


# Custom kinds


def of_custom(schema: Json, metadata: Struct) -> Atom:
    """The atom of a custom kind from its openAPIV3Schema, and ObjectMeta's type.

    Made of a schema as the API server would store it; what is not of its type there is ignored.
    """
    return _open(schema, False, of_struct(metadata), root=True)


def _open(schema: Any, preserves: bool, metadata: Atom, *, root: bool = False) -> Atom:
    schema = schema if type(schema) is dict else {}
    preserves = preserves or schema.get("x-kubernetes-preserve-unknown-fields") is True
    kind = schema.get("type", "")
    if kind == "object":
        return Atom(map=_open_map(schema, preserves, metadata, root))
    if kind == "array":
        return Atom(list=_open_list(schema, preserves, metadata))
    if kind in ("integer", "number"):
        return NUMERIC
    if kind == "boolean":
        return BOOLEAN
    if kind == "string":
        return STRING if schema.get("format", "") in ("", "byte") else UNTYPED
    if kind:
        return UNTYPED
    return Atom(
        "untyped",
        _open_list(schema, preserves, metadata),
        _open_map(schema, preserves, metadata, root),
    )


def _open_map(schema: Json, preserves: bool, metadata: Atom, root: bool) -> MapAtom:
    properties = _dict(schema.get("properties"))
    fields: dict[str, Ref] = {
        name: _once(_open, member, preserves, metadata) for name, member in properties.items()
    }
    if root or schema.get("x-kubernetes-embedded-resource") is True:
        fields |= {
            "apiVersion": lambda: STRING,
            "kind": lambda: STRING,
            "metadata": lambda: metadata,
        }
    additional = schema.get("additionalProperties")
    element: Ref | None = None
    if type(additional) is dict:
        element = _once(_open, additional, preserves, metadata)
    elif additional is True or (additional is None and (preserves or not fields)):
        element = _deduced
    return MapAtom(fields, element, schema.get("x-kubernetes-map-type") == "atomic")


def _open_list(schema: Json, preserves: bool, metadata: Atom) -> ListAtom:
    items = schema.get("items")
    element = _once(_open, items, preserves, metadata) if type(items) is dict else _any
    kind = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys")
    if kind != "map" or type(keys) is not list:
        return ListAtom(element, kind == "set")
    properties = _dict(_dict(items).get("properties"))
    defaults = {}
    for key in keys:
        default = _dict(properties.get(key)).get("default")
        if default is not None:
            defaults[key] = default
    return ListAtom(element, True, tuple(keys), defaults)


def _dict(value: Any) -> Json:
    return value if type(value) is dict else {}
