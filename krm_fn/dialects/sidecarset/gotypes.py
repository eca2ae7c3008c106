"""What Go says when a manifest does not fit its types. Knows types, no meaning of theirs.

Source: Go's encoding/json UnmarshalTypeError; apimachinery's resource.Quantity.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.errors import DecodeError
from krm_fn.kube.quantity import FORMAT_WRONG, QuantityError, parse
from krm_fn.kube.schema import Struct, Type, Value
from krm_fn.kube.served.mismatch import Mismatch

_NAMES: Final = {
    Value.STRING: "string",
    Value.BOOLEAN: "bool",
    Value.INT32: "int32",
    Value.INT64: "int64",
    Value.NUMBER: "float64",
    Value.BYTES: "[]uint8",
}

_PACKAGES: Final = {"kruise": "v1beta1", "configuration": "configuration"}
"""Go's packages of types that are not Kubernetes' own."""


def decode_error(mismatch: Mismatch, struct: Struct) -> DecodeError:
    """Go's text about a value that does not fit; the path is the manifest's."""
    path = tuple(reversed(mismatch.steps))
    owner, type_ = struct, Type(Value.STRUCT, struct=lambda: struct)
    fields: list[str] = []
    for step in path:
        if type_.value is Value.STRUCT and type(step) is str:
            owner = type_.struct
            fields.append(step)
            type_ = owner.fields[step].type
        elif type_.element is not None:
            type_ = type_.element
    if type_.value is Value.QUANTITY:
        return DecodeError(_quantity_error(str(mismatch.value)), path)
    message = f"json: cannot unmarshal {_kind(mismatch.value)} into Go "
    if fields:
        message += f"struct field {_short(owner.name)}.{'.'.join(fields)} of type {_name(type_)}"
    else:
        message += f"value of type {_name(type_)}"
    return DecodeError(message, path)


def _quantity_error(text: str) -> str:
    """Which of its errors resource.ParseQuantity gives for a text that is no quantity."""
    try:
        parse(text)
    except QuantityError as error:
        return error.message
    return FORMAT_WRONG


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"


def _short(name: str) -> str:
    return name.rpartition(".")[2].partition(" ")[0]


def _name(type_: Type) -> str:
    if type_.value is Value.LIST and type_.element is not None:
        return f"[]{_name(type_.element)}"
    if type_.value is Value.MAP and type_.element is not None:
        if type_.rounded:
            return "v1.ResourceList"
        return f"map[string]{_name(type_.element)}"
    if type_.value is Value.STRUCT:
        package = type_.struct.name.partition(".")[0]
        return f"{_PACKAGES.get(package, 'v1')}.{_short(type_.struct.name)}"
    return _NAMES.get(type_.value, type_.value.name.lower())
