"""Single values of Go types: whole numbers, quantities, times, bytes.

Source: Go's encoding/json and encoding/base64; apimachinery meta/v1 time.go, pkg/api/resource.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from krm_fn.kube.quantity import QuantityError, canonical
from krm_fn.kube.schema import Value
from krm_fn.lang.go.json.encode import float_text
from krm_fn.lang.go.json.unmarshal import kind_of
from krm_fn.lang.go.time.layouts import LayoutError, read
from krm_fn.lang.go.values import GoError

_LAYOUTS: Final = {
    Value.TIME: "2006-01-02T15:04:05Z07:00",
    Value.MICRO_TIME: "2006-01-02T15:04:05.000000Z07:00",
}
BITS: Final = {Value.INT32: 32, Value.INT64: 64}
"""The sizes of the types of whole numbers."""


class LeafError(GoError):
    """A type that reads its own JSON refuses it, which ends the decoding."""


def number_text(value: float) -> str:
    return float_text(value) if type(value) is float else str(value)


def not_whole(value: Any, bits: int) -> str:
    """What Go calls a JSON value that is no whole number of so many bits; "" for one that is."""
    form = kind_of(value)
    if form != "number":
        return form
    if type(value) is int and -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        return ""
    return f"number {number_text(value)}"


def check_quantity(value: Any) -> None:
    text = number_text(value) if type(value) in (int, float) else value
    try:
        canonical(text if type(text) is str else "")
    except QuantityError as error:
        raise LeafError(error.message) from None


def check_time(text: str, kind: Value) -> None:
    try:
        read(_LAYOUTS[kind], text)
    except LayoutError as error:
        raise LeafError(str(error)) from None


_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def bad_base64(text: str) -> int | None:
    """Where Go finds a string not to be base64; None where it is."""
    at = next((n for n, char in enumerate(text) if char not in _BASE64 and char not in "\r\n="), -1)
    if at >= 0:
        return at
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        padding = text.find("=")
        return padding if padding >= 0 else len(text) - len(text) % 4
    return None
