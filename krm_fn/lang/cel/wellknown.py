"""Protocol buffer's own messages, by which values of the language can be written too.

`google.protobuf.Int64Value{value: 1}` is 1, and may be null. Rare, but part of every environment.
Source: cel-go v0.29, common/types/provider.go.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.operators import checked_duration, checked_timestamp
from krm_fn.lang.cel.provider import TypeProvider
from krm_fn.lang.cel.types import Type

_PREFIX: Final = "google.protobuf."
_ANY: Final = f"{_PREFIX}Any"
_SECOND: Final = 1_000_000_000


def _wrapper(kind: Type) -> Type:
    return Type(t.WRAPPER, kind.name)


_WRAPPERS: Final[dict[str, tuple[Type, Any]]] = {
    f"{_PREFIX}BoolValue": (t.BOOL, False),
    f"{_PREFIX}BytesValue": (t.BYTES, b""),
    f"{_PREFIX}DoubleValue": (t.DOUBLE, 0.0),
    f"{_PREFIX}FloatValue": (t.DOUBLE, 0.0),
    f"{_PREFIX}Int32Value": (t.INT, 0),
    f"{_PREFIX}Int64Value": (t.INT, 0),
    f"{_PREFIX}StringValue": (t.STRING, ""),
    f"{_PREFIX}UInt32Value": (t.UINT, v.UInt(0)),
    f"{_PREFIX}UInt64Value": (t.UINT, v.UInt(0)),
}

_STRUCT: Final = t.map_of(t.STRING, t.DYN)
_TIME: Final = {"seconds": t.INT, "nanos": t.INT}
_VALUES: Final = {
    "null_value": t.INT,
    "number_value": t.DOUBLE,
    "string_value": t.STRING,
    "bool_value": t.BOOL,
    "struct_value": _STRUCT,
    "list_value": t.LIST_DYN,
}

_MESSAGES: Final[dict[str, tuple[Type, dict[str, Type]]]] = {
    **{name: (_wrapper(kind), {"value": kind}) for name, (kind, _) in _WRAPPERS.items()},
    f"{_PREFIX}Timestamp": (t.TIMESTAMP, _TIME),
    f"{_PREFIX}Duration": (t.DURATION, _TIME),
    f"{_PREFIX}Struct": (_STRUCT, {"fields": _STRUCT}),
    f"{_PREFIX}ListValue": (t.LIST_DYN, {"values": t.LIST_DYN}),
    f"{_PREFIX}Value": (t.DYN, _VALUES),
    _ANY: (Type(t.ANY, "google.protobuf.Any"), {"type_url": t.STRING, "value": t.BYTES}),
}


class WellKnown(TypeProvider):
    """Struct types of protocol buffers whose values are values of the language."""

    def struct(self, name: str) -> Type | None:
        return _MESSAGES[name][0] if name in _MESSAGES else None

    def field(self, name: str, field: str) -> Type | None:
        return _MESSAGES[name][1].get(field)

    def make(self, name: str, fields: dict[str, Any]) -> Any:
        if name in _WRAPPERS:
            return _wrapped(name, fields)
        if name == _ANY:
            # Of no message that could be named here anything is known.
            raise EvaluationError("unsupported conversion to ref.Val: (*dynamicpb.Message)")
        if name == f"{_PREFIX}Struct":
            return fields.get("fields", {})
        if name == f"{_PREFIX}ListValue":
            return fields.get("values", [])
        if name == f"{_PREFIX}Value":
            known = [fields[field] for field in fields if field != "null_value"]
            return known[-1] if known else None
        nanos = fields.get("seconds", 0) * _SECOND + fields.get("nanos", 0)
        if name == f"{_PREFIX}Timestamp":
            return checked_timestamp(nanos, None)
        return checked_duration(nanos)


def _wrapped(name: str, fields: dict[str, Any]) -> Any:
    value = fields.get("value", _WRAPPERS[name][1])
    failed = f"field type conversion error for {name}.value value type: "
    if name.endswith("UInt32Value") and value.value >= 2**32:
        raise EvaluationError(f"{failed}unsigned integer overflow")
    if name.endswith("Int32Value") and type(value) is int and not -(2**31) <= value < 2**31:
        raise EvaluationError(f"{failed}integer overflow")
    return _as_float32(value) if name.endswith("FloatValue") else value


def _as_float32(value: float) -> float:
    """The nearest number of 32 bits; infinite where there is none so large."""
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(rounded)
