"""`Object{...}` and `JSONPatch{...}`: what mutations are written with.

Source: apiserver v0.37, pkg/cel/mutation.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.attributes import FieldAccess
from krm_fn.lang.cel.checker import UNKNOWN_FIELD
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.provider import TypeProvider
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import Optional, Value

OBJECT: Final = t.struct("Object")
JSON_PATCH: Final = t.struct("JSONPatch")


class ObjectValue(Value):
    """A value of a type `Object` or `Object.a.b`, with whatever fields it was given."""

    __slots__ = ("fields", "name")
    go_type = "*dynamic.ObjectVal"

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.name = name
        self.fields = fields

    @property
    def type(self) -> Type:  # type: ignore[override]
        """Its type, by its name."""
        return t.struct(self.name)

    def equal(self, other: Any) -> bool:
        if not isinstance(other, ObjectValue) or self.name != other.name:
            return False
        return _identical(self.fields, other.fields)

    @property
    def type_value(self) -> Type:
        return t.TYPE

    @property
    def zero(self) -> bool:
        return not self.fields


def _identical(a: Any, b: Any) -> bool:
    """Go's reflect.DeepEqual: types count, and no list is equal to another."""
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is dict:
        if a is b:
            return True
        if len(a) != len(b):
            return False
        return all(key in b and _identical(value, b[key]) for key, value in a.items())
    if v.is_list(a):
        return False
    if kind is v.Timestamp:
        return bool(a.nanos == b.nanos and a.offset == b.offset)
    if isinstance(a, ObjectValue):
        return a.name == b.name and _identical(a.fields, b.fields)
    if isinstance(a, PatchValue):
        return _identical(a.fields, b.fields)
    if kind is Optional:
        return bool(a.present == b.present and (not a.present or _identical(a.value, b.value)))
    return v.equals(a, b)


def _native_field(value: Any, name: str) -> Any:
    """A field as the checker's knowledge of the type lets it be read: objects become maps."""
    fields = _fields(value)
    return _native(fields[name]) if name in fields else None


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, ObjectValue):
        return value.fields
    return value if type(value) is dict else {}


def _native(value: Any) -> Any:
    if isinstance(value, ObjectValue):
        return {key: _native(inner) for key, inner in value.fields.items()}
    return value


_OBJECT_ACCESS: Final = FieldAccess(lambda value, name: name in _fields(value), _native_field)


class PatchValue(Value):
    """A value of type `JSONPatch`: op, path, from, value, as far as they were given."""

    __slots__ = ("fields",)
    type = JSON_PATCH
    go_type = "*mutation.JSONPatchVal"

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    @property
    def type_value(self) -> Type:
        return t.TYPE

    def text(self, name: str) -> str:
        """One of op, path and from; empty where it was not given."""
        return str(self.fields.get(name, ""))

    @property
    def indexes(self) -> bool:
        return True

    def equal(self, other: Any) -> bool:
        if not isinstance(other, PatchValue):
            return False
        if any(self.text(name) != other.text(name) for name in _TEXTS):
            return False
        if ("value" in self.fields) != ("value" in other.fields):
            return False
        return "value" not in self.fields or v.equals(self.fields["value"], other.fields["value"])

    def get(self, key: Any) -> Any:
        if key in _TEXTS:
            return self.text(key)
        if key == "value":
            return self.fields.get("value")
        raise EvaluationError(f"unsupported indexer: {v.show(key)}")

    def has(self, key: Any) -> bool:
        if key in _TEXTS:
            return bool(self.text(key))
        if key == "value":
            return "value" in self.fields
        raise EvaluationError(f"unsupported field: {v.show(key)}")


_TEXTS: Final = ("op", "path", "from")
_GO_VALUES: Final = {
    "types.Null": "structpb.NullValue",
    "types.Bool": "bool",
    "types.Int": "int64",
    "types.Uint": "uint64",
    "types.Double": "float64",
    "types.Bytes": "[]uint8",
    "types.Duration": "time.Duration",
    "types.Timestamp": "time.Time",
}


def _go_value_type(value: Any) -> str:
    """What Go prints for the type of what a value holds."""
    if v.is_list(value):
        return "[]ref.Val" if type(value) is list else "[]string"
    if v.is_map(value):
        return "map[ref.Val]ref.Val" if type(value) is dict else "map[string]interface {}"
    name = v.go_type(value)
    return _GO_VALUES.get(name, name)


class MutationTypes(TypeProvider):
    """The types of mutations."""

    def struct(self, name: str) -> Type | None:
        if name == "JSONPatch":
            return JSON_PATCH
        return t.struct(name) if name == "Object" or name.startswith("Object.") else None

    def field(self, name: str, field: str) -> Type | None:
        if name != "JSONPatch":
            return t.DYN
        if field in _TEXTS:
            return t.STRING
        return t.DYN if field == "value" else UNKNOWN_FIELD

    def make(self, name: str, fields: dict[str, Any]) -> Any:
        if name != "JSONPatch":
            return ObjectValue(name, fields)
        for key, value in fields.items():
            if key in _TEXTS and type(value) is not str:
                raise EvaluationError(
                    f"unexpected type {_go_value_type(value)} for JSONPatchType '{key}' field"
                )
            if key not in _TEXTS and key != "value":
                raise EvaluationError(f"unexpected JSONPatchType field: {key}")
        return PatchValue(fields)

    def access(self, name: str) -> FieldAccess | None:
        return None if name == "JSONPatch" else _OBJECT_ACCESS


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def library() -> Library:
    """`jsonpatch.escapeKey`."""
    overload = Overload(
        "string_jsonpatch_escapeKey_string",
        (t.STRING,),
        t.STRING,
        _escape_key,
        work=steps(0),
    )
    return Library([Function("jsonpatch.escapeKey", [overload])])
