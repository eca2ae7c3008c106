"""The typed round trip: what is left of a value after Go decoded it into a struct and wrote it.

A struct type is compiled once to a closure; what it gives back shares with its input whatever did
not change, so that an object that is in the served form already comes back as the same object.
Defaults come in as other values for what is absent, and what needs more than that as rules. This
module knows how Go's types behave, and no field's name.
Source: the served form's specification, section (b); Go's encoding/json, sigs.k8s.io/json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from krm_fn.kube.schema import Field, Struct, Type, Value
from krm_fn.kube.served import freeform, leaves
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.values import MISSING, Json

Decode = Callable[[Any], Any]
"""From a value that is not null to what is written of it."""

Rule = Callable[[Json, Json], Json]
"""From a struct's written value, and what it was read from, to one with its rule's defaults.

It may change neither, and returns the first where there is nothing to do.
"""

_LEAVES: Final[dict[Value, Decode]] = {
    Value.STRING: leaves.string,
    Value.BOOLEAN: leaves.boolean,
    Value.INT32: leaves.int32,
    Value.INT64: leaves.int64,
    Value.NUMBER: leaves.number,
    Value.BYTES: leaves.data,
    Value.QUANTITY: leaves.quantity,
    Value.INT_OR_STRING: leaves.int_or_string,
    Value.TIME: leaves.moment,
    Value.MICRO_TIME: leaves.micro_moment,
    Value.RAW: freeform.raw,
    Value.FIELDS: freeform.raw,
    Value.JSON: freeform.raw,
}

_ZEROS: Final[dict[Value, Any]] = {
    Value.STRING: "",
    Value.BOOLEAN: False,
    Value.INT32: 0,
    Value.INT64: 0,
    Value.NUMBER: 0,
    Value.QUANTITY: "0",
    Value.INT_OR_STRING: 0,
}
"""How Go writes the zero of a type, where that is not null."""

_NEVER_EMPTY: Final = frozenset(
    (
        Value.QUANTITY,
        Value.INT_OR_STRING,
        Value.TIME,
        Value.MICRO_TIME,
        Value.RAW,
        Value.FIELDS,
        Value.JSON,
        Value.SCHEMA_OR_BOOLEAN,
        Value.SCHEMA_OR_LIST,
        Value.SCHEMA_OR_STRINGS,
        Value.STRUCT,
    )
)
"""Structs in Go: omitempty does nothing to them."""

_PLAIN: Final[dict[Value, type]] = {Value.STRING: str, Value.BOOLEAN: bool}
"""Types of which every value that is not empty stays as it is."""


class Plan:
    """The round trip of one release's types, with the given defaults and rules by struct type.

    `defaults` are what the API server fills in for absent fields: for pointers where they are
    absent, for other fields also where they are zero. `rounds` tells the struct types whose
    resource lists are rounded. `unknown` is set as soon as a field that its type does not have was
    dropped; the caller clears it.
    """

    def __init__(
        self,
        defaults: Mapping[str, Mapping[str, Any]],
        rules: Mapping[str, Rule],
        *,
        rounds: Callable[[Struct], bool] = lambda struct: False,
    ) -> None:
        self._defaults = defaults
        self._rules = rules
        self._rounds = rounds
        self._compiled: dict[str, Decode] = {}
        self.unknown = False

    def struct(self, struct: Struct) -> Decode:
        """The round trip of a struct type's values."""
        decode = self._compiled.get(struct.name)
        if decode is None:
            decode = self._compiled[struct.name] = self._struct(struct)
        return decode

    def _struct(self, struct: Struct) -> Decode:
        defaults = self._defaults.get(struct.name, {})
        members: dict[str, tuple[type, Decode]] = {}
        absents: list[tuple[str, Any]] = []
        for field in struct.fields.values():
            absent = defaults.get(field.name, MISSING)
            if absent is MISSING:
                absent = self._absent(field)
            if absent is not MISSING:
                absents.append((field.name, absent))
            plain = _PLAIN.get(field.type.value, type(None))
            decode_field = self._field(struct, field)
            has_default = field.name in defaults
            members[field.name] = (plain, _member(field, decode_field, absent, has_default))
        rule = self._rules.get(struct.name)
        find = members.get

        def decode(value: Any) -> Any:
            if type(value) is not dict:
                raise MismatchError("a map", value)
            out = value
            key = ""
            try:
                for key, member in value.items():
                    known = find(key)
                    if known is None:
                        self.unknown = True
                        if out is value:
                            out = value.copy()
                        del out[key]
                        continue
                    if type(member) is known[0] and member:
                        continue
                    written = known[1](member)
                    if written is not member:
                        if out is value:
                            out = value.copy()
                        if written is MISSING:
                            del out[key]
                        else:
                            out[key] = written
            except MismatchError as mismatch:
                mismatch.steps.append(key)
                raise
            for key, absent in absents:
                if key not in value:
                    if out is value:
                        out = value.copy()
                    out[key] = absent
            return out if rule is None else rule(out, value)

        return decode

    def _absent(self, field: Field) -> Any:
        """What is written of a field that is absent; MISSING where it is left out."""
        if field.type.pointer:
            return MISSING if field.omit_empty else None
        if field.omit_zero or (field.omit_empty and field.type.value not in _NEVER_EMPTY):
            return MISSING
        return self._zero(field.type)

    def _zero(self, type_: Type) -> Any:
        if type_.value is Value.STRUCT:
            return self.struct(type_.struct)({})
        return _ZEROS.get(type_.value)

    def _field(self, struct: Struct, field: Field) -> Decode:
        """The round trip of a field's values that are not null."""
        if field.type.rounded and self._rounds(struct):
            return self._map(Type(Value.QUANTITY), leaves.rounded_quantity)
        return self._value(field.type)

    def _value(self, type_: Type) -> Decode:
        """The round trip of a type's values that are not null."""
        match type_.value:
            case Value.STRUCT:
                return self._late(type_)
            case Value.LIST:
                assert type_.element is not None
                return self._list(type_.element)
            case Value.MAP:
                assert type_.element is not None
                return self._map(type_.element, self._value(type_.element))
            case Value.SCHEMA_OR_BOOLEAN | Value.SCHEMA_OR_LIST | Value.SCHEMA_OR_STRINGS:
                return self._union(type_)
        return _LEAVES[type_.value]

    def _late(self, type_: Type) -> Decode:
        """A struct that is compiled when its first value comes."""
        compiled: Decode | None = None

        def decode(value: Any) -> Any:
            nonlocal compiled
            if compiled is None:
                compiled = self.struct(type_.struct)
            return compiled(value)

        return decode

    def _list(self, element: Type) -> Decode:
        decode = self._value(element)
        plain = _PLAIN.get(element.value, type(None))

        def run(value: Any) -> Any:
            if type(value) is not list:
                raise MismatchError("a list", value)
            out = value
            for n, member in enumerate(value):
                if type(member) is plain and member is not None:
                    continue
                try:
                    written = self._zero(element) if member is None else decode(member)
                except MismatchError as mismatch:
                    mismatch.steps.append(n)
                    raise
                if written is not member:
                    if out is value:
                        out = value.copy()
                    out[n] = written
            return out

        return run

    def _map(self, element: Type, decode: Decode) -> Decode:
        plain = _PLAIN.get(element.value, type(None))

        def run(value: Any) -> Any:
            if type(value) is not dict:
                raise MismatchError("a map", value)
            out = value
            for key, member in value.items():
                if type(member) is plain and member is not None:
                    continue
                try:
                    written = self._zero(element) if member is None else decode(member)
                except MismatchError as mismatch:
                    mismatch.steps.append(key)
                    raise
                if written is not member:
                    if out is value:
                        out = value.copy()
                    out[key] = written
            return out

        return run

    def _union(self, type_: Type) -> Decode:
        """The three types of a CustomResourceDefinition that hold a schema or something else."""
        assert type_.element is not None
        schema = self._value(type_.element)
        schemas = self._list(type_.element)
        strings = self._list(Type(Value.STRING))

        def or_boolean(value: Any) -> Any:
            if type(value) is bool:
                return value
            if type(value) is not dict:
                raise MismatchError("true, false or a schema", value)
            return schema(value)

        def or_list(value: Any) -> Any:
            if type(value) is list:
                return schemas(value) or None
            # What is neither is silently nothing.
            return schema(value) if type(value) is dict else None

        def or_strings(value: Any) -> Any:
            if type(value) is list:
                return strings(value) or None
            return schema(value) if type(value) is dict else None

        unions: dict[Value, Decode] = {
            Value.SCHEMA_OR_BOOLEAN: or_boolean,
            Value.SCHEMA_OR_LIST: or_list,
            Value.SCHEMA_OR_STRINGS: or_strings,
        }
        return unions[type_.value]


def _member(field: Field, decode: Decode, absent: Any, has_default: bool) -> Decode:
    """The round trip of a field's values, null and empty ones among them."""
    never_empty = field.type.pointer or field.type.value in _NEVER_EMPTY
    if field.omit_zero:

        def unless_zero(value: Any) -> Any:
            written = None if value is None else decode(value)
            return absent if written is None else written

        return unless_zero
    if never_empty or not (field.omit_empty or has_default):
        return lambda value: absent if value is None else decode(value)

    def unless_empty(value: Any) -> Any:
        if value is None:
            return absent
        return decode(value) or absent

    return unless_empty
