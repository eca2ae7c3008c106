"""Why the API server's strict decoder refuses an object, such as the result of a JSON patch.

Source: sigs.k8s.io/json; Go's encoding/json.
"""

from __future__ import annotations

from typing import Any, Final

from krm_fn.kube.gotypes.leaves import (
    BITS,
    LeafError,
    bad_base64,
    check_quantity,
    check_time,
    not_whole,
    number_text,
)
from krm_fn.kube.gotypes.names import GO_NAMES, go_name, owner_name, struct_name
from krm_fn.kube.schema import Struct, Type, Value
from krm_fn.lang.go.json.unmarshal import kind_of, type_error
from krm_fn.lang.go.strconv import quote
from krm_fn.values import Json

_STRICT_ERRORS: Final = 100


def decode_error(value: Json, struct: Struct) -> str:
    """Why a JSON object cannot be decoded strictly into a struct type; "" where it can."""
    decoder = _Decoder()
    try:
        decoder.struct(value, struct, ())
    except LeafError as fatal:
        return fatal.message
    if decoder.saved:
        return decoder.saved
    if decoder.strict:
        return f"strict decoding error: {', '.join(decoder.strict)}"
    return ""


class _Decoder:
    """The first error of a wrong type is kept, and all about fields that there are not."""

    def __init__(self) -> None:
        self.saved = ""
        self.strict: list[str] = []
        # The struct whose field was last entered, and the names of the fields that lead there.
        self.owner = ""
        self.fields: tuple[str, ...] = ()

    def mismatch(self, value: str, name: str) -> str:
        return type_error(value, name, self.owner, self.fields)

    def save(self, text: str) -> None:
        self.saved = self.saved or text

    def struct(self, value: Any, struct: Struct, path: tuple[str, ...]) -> None:
        if type(value) is not dict:
            self.save(self.mismatch(kind_of(value), struct_name(struct)))
            return
        outer = self.owner, self.fields
        for key in sorted(value):
            field = struct.fields.get(key)
            if field is None:
                self.unknown((*path, f".{key}"))
                continue
            self.owner = owner_name(struct)
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
            self.save(self.mismatch(kind_of(value), name or go_name(kind)))
            return
        assert kind.element is not None
        for n, member in enumerate(value):
            self.value(member, kind.element, (*path, f"[{n}]"), _element_name(name, "[]"))

    def map(self, value: Any, kind: Type, path: tuple[str, ...], name: str) -> None:
        if type(value) is not dict:
            self.save(self.mismatch(kind_of(value), name or go_name(kind)))
            return
        assert kind.element is not None
        for key in sorted(value):
            self.value(value[key], kind.element, (*path, f".{key}"), _element_name(name, "]"))

    def leaf(self, value: Any, kind: Type, name: str) -> None:
        form = kind_of(value)
        match kind.value:
            case Value.STRING | Value.BOOLEAN:
                if form != GO_NAMES[kind.value]:
                    self.save(self.mismatch(form, name))
            case Value.INT32 | Value.INT64:
                wrong = not_whole(value, BITS[kind.value])
                if wrong:
                    self.save(self.mismatch(wrong, name))
            case Value.NUMBER:
                if form != "number":
                    self.save(self.mismatch(form, name))
            case Value.BYTES:
                self.bytes(value, form)
            case Value.INT_OR_STRING:
                wrong = "" if form == "string" else not_whole(value, 32)
                if wrong:
                    raise LeafError(self.mismatch(wrong, "int32"))
            case Value.QUANTITY:
                check_quantity(value)
            case Value.TIME | Value.MICRO_TIME:
                if form != "string":
                    raise LeafError(self.mismatch(form, "string"))
                check_time(value, kind.value)

    def bytes(self, value: Any, form: str) -> None:
        if form == "string":
            at = bad_base64(value)
            if at is not None:
                self.save(f"illegal base64 data at input byte {at}")
        elif form != "array":
            self.save(self.mismatch(form, "[]uint8"))
        else:
            for member in value:
                if member is not None and not (type(member) is int and 0 <= member < 256):
                    number = f"number {number_text(member)}"
                    inner = kind_of(member)
                    self.save(self.mismatch(number if inner == "number" else inner, "uint8"))


def _element_name(name: str, mark: str) -> str:
    """The name of a list's or a map's element type: what follows `[]`, or `map[string]`."""
    return name.partition(mark)[2].removeprefix("*")
