"""How Go prints the values that a merge refuses: the texts are part of its errors.

Source: Go's fmt with %v, %#v and %T; structured-merge-diff v6.4 value/value.go (ToString).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from krm_fn.kube.cel.patches import Leaf
from krm_fn.lang.cel import Duration, Timestamp, UInt, types
from krm_fn.lang.cel import values as v
from krm_fn.lang.cel.times import format_timestamp
from krm_fn.lang.go.strconv import format_float, quote
from krm_fn.lang.go.time.duration import duration_text


def plain(value: Any) -> str:
    """A value under %v."""
    if isinstance(value, Leaf):
        return _plain_leaf(value.value)
    if value is None:
        return "<nil>"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return format_float(value)
    if type(value) is dict:
        return _entries({key: plain(inner) for key, inner in value.items()})
    if type(value) is list:
        return f"[{' '.join(map(plain, value))}]"
    return str(value)


def _entries(shown: Mapping[str, str]) -> str:
    return f"map[{' '.join(f'{key}:{shown[key]}' for key in sorted(shown))}]"


def _plain_leaf(value: Any) -> str:
    if value is None:
        return "NULL_VALUE"
    if type(value) is UInt:
        return str(value.value)
    if type(value) is bytes:
        return f"[{' '.join(map(str, value))}]"
    if type(value) is Duration:
        return duration_text(value.nanos)
    if type(value) is Timestamp:
        return f"{format_timestamp(value, utc=True).replace('T', ' ').removesuffix('Z')} +0000 UTC"
    if type(value) is types.Type:
        return value.name
    if type(value) is list:
        return plain(value)
    if v.is_map(value):
        keys = v.map_keys(value)
        return _entries({plain(key): plain(v.map_find(value, key)[0]) for key in keys})
    if v.is_list(value):
        return f"[{' '.join(plain(inner) for inner in v.elements(value))}]"
    return plain(value) if type(value) in (bool, int, float, str) else v.show(value)


def as_source(value: Any) -> str:
    """A value under %#v."""
    if isinstance(value, Leaf):
        return _leaf_source(value)
    if value is None:
        return "interface {}(nil)"
    if type(value) is str:
        return quote(value)
    if type(value) is list:
        return f"[]interface {{}}{{{', '.join(map(as_source, value))}}}"
    if type(value) is dict:
        inner = ", ".join(f"{quote(key)}:{as_source(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    return plain(value)


def _leaf_source(leaf: Leaf) -> str:
    value = leaf.value
    if value is None:
        return "0"
    if type(value) is UInt:
        return f"0x{value.value:x}"
    if type(value) is bytes:
        return f"[]uint8{{{', '.join(f'0x{byte:x}' for byte in value)}}}"
    if type(value) is Duration:
        return str(value.nanos)
    if type(value) is types.Type:
        return quote(value.name)
    return f"{leaf.go_type}{{{_plain_leaf(value)}}}"


_TYPES = {
    type(None): "<nil>",
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def type_name(value: Any) -> str:
    """The name of a value's type under %T."""
    return value.go_type if isinstance(value, Leaf) else _TYPES[type(value)]


def key_text(value: Any) -> str:
    """A key of a list, as paths show it."""
    if value is None:
        return "null"
    if type(value) is str:
        return quote(value)
    if type(value) is list:
        return f"[{','.join(map(key_text, value))}]"
    if type(value) is dict:
        return "".join(f"{key}={key_text(value[key])}" for key in value)
    return "{{undefined}}" if isinstance(value, Leaf) else plain(value)
