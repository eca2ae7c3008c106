"""The text of a value as Go's fmt package prints it under the verb %v.

The other verbs are in `krm_fn.lang.go.printf`.
Source: Go's fmt package.
"""

from __future__ import annotations

from typing import Any

from krm_fn.lang.go.strconv import format_float


def format_value(value: Any) -> str:
    """The text of `value` under Go's verb %v; values of other types print by `str`."""
    kind = type(value)
    if kind is str:
        return str(value)
    if value is None:
        return "<nil>"
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is float:
        return format_float(value)
    if kind is list:
        return "[" + " ".join(map(format_value, value)) + "]"
    if kind is dict:
        # Go sorts map keys by their bytes; UTF-8 keeps the order of code points.
        return "map[" + " ".join(f"{k}:{format_value(value[k])}" for k in sorted(value)) + "]"
    if isinstance(value, list):
        return format_value(list(value))
    if isinstance(value, dict):
        return format_value(dict(value))
    return str(value)
