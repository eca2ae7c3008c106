"""Single values: what Go's types make of a JSON value, and what they write of it.

Each function takes a value that is not null and returns it as it is written again, the very same
object where that is equal; it raises MismatchError for what its type cannot hold.
Source: Go's encoding/json and the types' own methods; the served form's specification, section (b).
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any, Final

from krm_fn.kube.quantity import QuantityError, canonical, canonical_rounded
from krm_fn.kube.served.mismatch import MismatchError
from krm_fn.kube.served.times import TimeError, micro_time, time

_EXACT_FLOAT: Final = 2**53


def string(value: Any) -> Any:
    if type(value) is not str:
        raise MismatchError("a text", value)
    return value


def boolean(value: Any) -> Any:
    if type(value) is not bool:
        raise MismatchError("true or false", value)
    return value


def int32(value: Any) -> Any:
    return value if type(value) is int and -(2**31) <= value < 2**31 else _whole(value, 31)


def int64(value: Any) -> Any:
    return value if type(value) is int and -(2**63) <= value < 2**63 else _whole(value, 63)


def _whole(value: Any, bits: int) -> int:
    """A float that is whole is written as an integer before anything decodes it."""
    number = int(value) if type(value) is float and value.is_integer() else value
    if type(number) is not int or not -(2**bits) <= number < 2**bits:
        raise MismatchError(f"a whole number of {bits + 1} bits", value)
    return number


def number(value: Any) -> Any:
    if type(value) is int:
        return value if abs(value) <= _EXACT_FLOAT else _as_float(value)
    if type(value) is not float or not math.isfinite(value):
        raise MismatchError("a number", value)
    return value


def _as_float(value: int) -> Any:
    try:
        return float(value)
    except OverflowError:
        raise MismatchError("a number of 64 bits", value) from None


def data(value: Any) -> Any:
    """Bytes: a string in base64, or a list of numbers."""
    if type(value) is list:
        numbers = [0 if byte is None else byte for byte in value]
        if not all(type(byte) is int and 0 <= byte < 256 for byte in numbers):
            raise MismatchError("a text in base64", value)
        return base64.b64encode(bytes(numbers)).decode("ascii")
    if type(value) is not str:
        raise MismatchError("a text in base64", value)
    text = value.replace("\r", "").replace("\n", "") if "\n" in value or "\r" in value else value
    try:
        written = base64.b64encode(base64.b64decode(text, validate=True)).decode("ascii")
    except (binascii.Error, ValueError):
        raise MismatchError("a text in base64", value) from None
    return value if written == value else written


def quantity(value: Any) -> Any:
    return _quantity(value, False)


def rounded_quantity(value: Any) -> Any:
    """A value of a resource list, which defaulting rounds."""
    return _quantity(value, True)


def _quantity(value: Any, rounded: bool) -> Any:
    try:
        text = _quantity_text(value)
        written = canonical_rounded(text) if rounded else canonical(text)
    except QuantityError as error:
        raise MismatchError(f"a quantity such as 500m or 1Gi: {error}", value) from None
    return value if written == value else written


def _quantity_text(value: Any) -> str:
    if type(value) is str:
        return value
    if type(value) is int:
        # Longer ones are refused, and Python would not print them.
        return str(value) if abs(value) < 2**1_000 else "9" * 2_000
    if type(value) is float and math.isfinite(value):
        from krm_fn.lang.go.json.encode import float_text

        return float_text(value)
    raise MismatchError("a quantity such as 500m or 1Gi", value)


def int_or_string(value: Any) -> Any:
    if type(value) is str or (type(value) is int and -(2**31) <= value < 2**31):
        return value
    try:
        return _whole(value, 31)
    except MismatchError:
        raise MismatchError("a whole number of 32 bits or a text", value) from None


def moment(value: Any) -> Any:
    """A Time. The zero time is written as null."""
    try:
        written = time(string(value))
    except TimeError:
        raise MismatchError("a time such as 2020-01-01T00:00:00Z", value) from None
    return value if written == value else written


def micro_moment(value: Any) -> Any:
    """A MicroTime. The zero time is written as null."""
    try:
        written = micro_time(string(value))
    except TimeError:
        raise MismatchError("a time such as 2020-01-01T00:00:00.000000Z", value) from None
    return value if written == value else written
