"""What the API server says of an object that a policy made and its Go type cannot hold.

Two ways lead from JSON to a Go type: the strict decoder, which a JSON patch's result goes through,
and the converter of unstructured objects, which a merged object goes through. Both say what is
wrong in their own words, and the converter bends numbers as Go does. Where an object is fine, the
typed round trip (`served`) does the same in less time; this module is for those that are not.
Source: sigs.k8s.io/json; apimachinery v0.37 pkg/runtime/converter.go; Go's encoding/json.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.kube.quantity import QuantityError, canonical
from krm_fn.kube.schema import Struct, Type, Value
from krm_fn.lang.go.json.encode import float_text
from krm_fn.lang.go.strconv import quote
from krm_fn.lang.go.time.layouts import LayoutError, read
from krm_fn.values import Json

_LAYOUTS: Final = {
    Value.TIME: "2006-01-02T15:04:05Z07:00",
    Value.MICRO_TIME: "2006-01-02T15:04:05.000000Z07:00",
}
_BITS: Final = {Value.INT32: 32, Value.INT64: 64}
_GO_NAMES: Final = {
    Value.STRING: "string",
    Value.BOOLEAN: "bool",
    Value.INT32: "int32",
    Value.INT64: "int64",
    Value.NUMBER: "float64",
    Value.BYTES: "[]uint8",
    Value.QUANTITY: "resource.Quantity",
    Value.INT_OR_STRING: "intstr.IntOrString",
    Value.TIME: "v1.Time",
    Value.MICRO_TIME: "v1.MicroTime",
}
_STRICT_ERRORS: Final = 100


def go_name(kind: Type) -> str:
    """The name of a Go type, as Go prints it: `[]v1.Container`."""
    if kind.value is Value.STRUCT:
        return kind.struct.name.rpartition("/")[2]
    if kind.rounded:
        return "v1.ResourceList"
    if kind.value is Value.LIST or kind.value is Value.MAP:
        assert kind.element is not None
        pointer = "*" if kind.element.pointer else ""
        prefix = "[]" if kind.value is Value.LIST else "map[string]"
        return f"{prefix}{pointer}{go_name(kind.element)}"
    return _GO_NAMES.get(kind.value, "interface {}")


def _json_kind(value: Any) -> str:
    if type(value) is bool:
        return "bool"
    if type(value) is str:
        return "string"
    if type(value) is list:
        return "array"
    return "object" if type(value) is dict else "number"


def _number_text(value: float) -> str:
    return float_text(value) if type(value) is float else str(value)


# The strict decoder


def decode_error(value: Json, struct: Struct) -> str:
    """Why a JSON object cannot be decoded strictly into a struct type; "" where it can."""
    decoder = _Decoder()
    try:
        decoder.struct(value, struct, ())
    except _Fatal as fatal:
        return str(fatal)
    if decoder.saved:
        return decoder.saved
    if decoder.strict:
        return f"strict decoding error: {', '.join(decoder.strict)}"
    return ""


class _Fatal(Exception):
    """An error that ends the decoding."""


class _Decoder:
    """The first error of a wrong type is kept, and all about fields that there are not."""

    def __init__(self) -> None:
        self.saved = ""
        self.strict: list[str] = []
        # The struct whose field was last entered, and the names of the fields that lead there.
        self.owner = ""
        self.fields: tuple[str, ...] = ()

    def mismatch(self, value: str, name: str) -> str:
        where = f"struct field {self.owner}.{'.'.join(self.fields)}" if self.owner else "value"
        return f"json: cannot unmarshal {value} into Go {where} of type {name}"

    def save(self, text: str) -> None:
        self.saved = self.saved or text

    def struct(self, value: Any, struct: Struct, path: tuple[str, ...]) -> None:
        if type(value) is not dict:
            name = struct.name.rpartition("/")[2]
            self.save(self.mismatch(_json_kind(value), name))
            return
        outer = self.owner, self.fields
        for key in sorted(value):
            field = struct.fields.get(key)
            if field is None:
                self.unknown((*path, f".{key}"))
                continue
            self.owner = struct.name.rpartition(".")[2]
            self.fields = (*outer[1], *field.embedded, key)
            self.value(value[key], field.type, (*path, f".{key}"), field.go_name)
            self.owner, self.fields = outer

    def unknown(self, path: tuple[str, ...]) -> None:
        text = f"unknown field {quote(''.join(path).removeprefix('.'))}"
        if text not in self.strict and len(self.strict) < _STRICT_ERRORS:
            self.strict.append(text)

    def value(self, value: Any, kind: Type, path: tuple[str, ...], name: str) -> None:
        """Decode a value; `name` is that of its Go type, "" where the schema tells it."""
        if value is None:
            return
        if kind.value is Value.STRUCT:
            self.struct(value, kind.struct, path)
        elif kind.value is Value.LIST:
            self.list(value, kind, path, name)
        elif kind.value is Value.MAP:
            self.map(value, kind, path, name)
        else:
            self.leaf(value, kind, name or go_name(kind))

    def list(self, value: Any, kind: Type, path: tuple[str, ...], name: str) -> None:
        if type(value) is not list:
            self.save(self.mismatch(_json_kind(value), name or go_name(kind)))
            return
        assert kind.element is not None
        for n, member in enumerate(value):
            self.value(member, kind.element, (*path, f"[{n}]"), _element_name(name, "[]"))

    def map(self, value: Any, kind: Type, path: tuple[str, ...], name: str) -> None:
        if type(value) is not dict:
            self.save(self.mismatch(_json_kind(value), name or go_name(kind)))
            return
        assert kind.element is not None
        for key in sorted(value):
            self.value(value[key], kind.element, (*path, f".{key}"), _element_name(name, "]"))

    def leaf(self, value: Any, kind: Type, name: str) -> None:
        form = _json_kind(value)
        match kind.value:
            case Value.STRING | Value.BOOLEAN:
                if form != _GO_NAMES[kind.value]:
                    self.save(self.mismatch(form, name))
            case Value.INT32 | Value.INT64:
                wrong = _not_whole(value, _BITS[kind.value])
                if wrong:
                    self.save(self.mismatch(wrong, name))
            case Value.NUMBER:
                if form != "number":
                    self.save(self.mismatch(form, name))
            case Value.BYTES:
                self.bytes(value, form)
            case Value.INT_OR_STRING:
                wrong = "" if form == "string" else _not_whole(value, 32)
                if wrong:
                    raise _Fatal(self.mismatch(wrong, "int32"))
            case Value.QUANTITY:
                _check_quantity(value)
            case Value.TIME | Value.MICRO_TIME:
                if form != "string":
                    raise _Fatal(self.mismatch(form, "string"))
                _check_time(value, kind.value)

    def bytes(self, value: Any, form: str) -> None:
        if form == "string":
            at = _bad_base64(value)
            if at is not None:
                self.save(f"illegal base64 data at input byte {at}")
        elif form != "array":
            self.save(self.mismatch(form, "[]uint8"))
        else:
            for member in value:
                if member is not None and not (type(member) is int and 0 <= member < 256):
                    number = f"number {_number_text(member)}"
                    inner = _json_kind(member)
                    self.save(self.mismatch(number if inner == "number" else inner, "uint8"))


def _element_name(name: str, mark: str) -> str:
    """The name of a list's or a map's element type: what follows `[]`, or `map[string]`."""
    return name.partition(mark)[2].removeprefix("*")


def _not_whole(value: Any, bits: int) -> str:
    """What Go calls a JSON value that is no whole number of so many bits; "" for one that is."""
    form = _json_kind(value)
    if form != "number":
        return form
    if type(value) is int and -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        return ""
    return f"number {_number_text(value)}"


def _check_quantity(value: Any) -> None:
    text = _number_text(value) if type(value) in (int, float) else value
    try:
        canonical(text if type(text) is str else "")
    except QuantityError as error:
        raise _Fatal(error.message) from None


def _check_time(text: str, kind: Value) -> None:
    try:
        read(_LAYOUTS[kind], text)
    except LayoutError as error:
        raise _Fatal(str(error)) from None


_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def _bad_base64(text: str) -> int | None:
    """Where Go finds a text not to be base64; None where it is."""
    at = next((n for n, char in enumerate(text) if char not in _BASE64 and char not in "\r\n="), -1)
    if at >= 0:
        return at
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        padding = text.find("=")
        return padding if padding >= 0 else len(text) - len(text) % 4
    return None


# The converter of unstructured objects


class ConversionError(EvaluationError):
    """An object cannot be converted to its Go type; the message is the API server's."""


def converted(value: Json, struct: Struct) -> Json:
    """An unstructured object as its Go type takes it: numbers are bent to fit.

    A whole float becomes an integer, and one that is too large loses its upper bits, as in Go.
    Raises ConversionError.
    """
    try:
        made: Json = _struct(value, struct)
    except _Fatal as fatal:
        raise ConversionError(str(fatal)) from None
    return made


_KINDS: Final = {"array": "slice", "object": "map", "number": "float64"}


def _reflect_kind(value: Any) -> str:
    if type(value) is int:
        return "int64"
    form = _json_kind(value)
    return _KINDS.get(form, form)


def _struct(value: Any, struct: Struct) -> Any:
    if type(value) is not dict:
        raise _Fatal(f"cannot restore struct from: {_reflect_kind(value)}")
    made = dict(value)
    for name, field in struct.fields.items():
        if value.get(name) is not None:
            made[name] = _value(value[name], field.type)
    return made


def _value(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    if kind.value is Value.STRUCT:
        return _struct(value, kind.struct)
    if kind.value is Value.LIST:
        if type(value) is not list:
            raise _Fatal(f"cannot restore slice from {_reflect_kind(value)}")
        assert kind.element is not None
        return [_value(member, kind.element) for member in value]
    if kind.value is Value.MAP:
        if type(value) is not dict:
            raise _Fatal(f"cannot restore map from {_reflect_kind(value)}")
        assert kind.element is not None
        return {key: _value(member, kind.element) for key, member in value.items()}
    return _leaf(value, kind)


def _leaf(value: Any, kind: Type) -> Any:
    match kind.value:
        case Value.INT32 | Value.INT64:
            if type(value) is float and value.is_integer():
                value = int(value)
            if type(value) is not int:
                raise _Fatal(f"cannot convert {_reflect_kind(value)} to {go_name(kind)}")
            bits = _BITS[kind.value]
            return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
        case Value.INT_OR_STRING:
            wrong = "" if type(value) is str else _not_whole(_shortened(value), 32)
            if wrong:
                raise _Fatal(f"json: cannot unmarshal {wrong} into Go value of type int32")
            return _shortened(value)
        case Value.QUANTITY:
            _check_quantity(value)
        case Value.TIME | Value.MICRO_TIME:
            if type(value) is not str:
                form = _json_kind(value)
                raise _Fatal(f"json: cannot unmarshal {form} into Go value of type string")
            _check_time(value, kind.value)
        case Value.BYTES:
            at = _bad_base64(value) if type(value) is str else None
            if at is not None:
                raise _Fatal(f"error decoding from json: illegal base64 data at input byte {at}")
    return value


def _shortened(value: Any) -> Any:
    """A number as JSON's text of it reads back."""
    return int(value) if type(value) is float and value.is_integer() else value
