"""Unstructured objects as their Go types take them, such as merged ones; and what is said if not.

Source: apimachinery v0.37 pkg/runtime/converter.go.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.kube.gotypes.leaves import (
    BITS,
    LeafError,
    bad_base64,
    check_quantity,
    check_time,
    not_whole,
)
from krm_fn.kube.gotypes.names import go_name
from krm_fn.kube.schema import Struct, Type, Value
from krm_fn.lang.go.json.unmarshal import kind_of, type_error
from krm_fn.values import Json


class ConversionError(EvaluationError):
    """An object cannot be converted to its Go type; the message is the API server's."""


def converted(value: Json, struct: Struct) -> Json:
    """An unstructured object as its Go type takes it: numbers are bent to fit.

    A whole float becomes an integer, and one that is too large loses its upper bits, as in Go.
    Raises ConversionError.
    """
    try:
        result: Json = _struct(value, struct)
    except LeafError as fatal:
        raise ConversionError(fatal.message) from None
    return result


_KINDS: Final = {"array": "slice", "object": "map", "number": "float64"}


def _reflect_kind(value: Any) -> str:
    if type(value) is int:
        return "int64"
    form = kind_of(value)
    return _KINDS.get(form, form)


def _struct(value: Any, struct: Struct) -> Any:
    if type(value) is not dict:
        raise LeafError(f"cannot restore struct from: {_reflect_kind(value)}")
    result = dict(value)
    for name, field in struct.fields.items():
        if value.get(name) is not None:
            result[name] = _value(value[name], field.type)
    return result


def _value(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    if kind.value is Value.STRUCT:
        return _struct(value, kind.struct)
    if kind.value is Value.LIST:
        if type(value) is not list:
            raise LeafError(f"cannot restore slice from {_reflect_kind(value)}")
        assert kind.element is not None
        return [_value(member, kind.element) for member in value]
    if kind.value is Value.MAP:
        if type(value) is not dict:
            raise LeafError(f"cannot restore map from {_reflect_kind(value)}")
        assert kind.element is not None
        return {key: _value(member, kind.element) for key, member in value.items()}
    return _leaf(value, kind)


def _leaf(value: Any, kind: Type) -> Any:
    match kind.value:
        case Value.INT32 | Value.INT64:
            if type(value) is float and value.is_integer():
                value = int(value)
            if type(value) is not int:
                raise LeafError(f"cannot convert {_reflect_kind(value)} to {go_name(kind)}")
            bits = BITS[kind.value]
            return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
        case Value.INT_OR_STRING:
            wrong = "" if type(value) is str else not_whole(_shortened(value), 32)
            if wrong:
                raise LeafError(type_error(wrong, "int32"))
            return _shortened(value)
        case Value.QUANTITY:
            check_quantity(value)
        case Value.TIME | Value.MICRO_TIME:
            if type(value) is not str:
                raise LeafError(type_error(kind_of(value), "string"))
            check_time(value, kind.value)
        case Value.BYTES:
            at = bad_base64(value) if type(value) is str else None
            if at is not None:
                raise LeafError(f"error decoding from json: illegal base64 data at input byte {at}")
    return value


def _shortened(value: Any) -> Any:
    """A number as JSON's text of it reads back."""
    return int(value) if type(value) is float and value.is_integer() else value
