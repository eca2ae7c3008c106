"""Text of values as Go's fmt package prints them.

Numbers: a plain Python int or float is JSON's number, which Go decodes to float64; an int of one of
Go's integer types is a `GoInt`. Every language in `krm_fn.lang` keeps to this.
Source: Go's fmt and strconv packages; shared facts in the ModRule specification, section 1.9.
"""

from __future__ import annotations

import math
from typing import Any


class GoInt(int):
    """An int of Go's type `int`: the result of `length`, a key part, a template's int literal."""

    __slots__ = ()


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
    return str(value)


def format_float(value: float) -> str:
    """%v of a float64: the shortest digits that read back; scientific below 1e-4 and from 1e6.

    Source: strconv.FormatFloat with format 'g' and precision -1 (for which the threshold is 6).
    """
    mantissa, exponent, negative = shortest_digits(value)
    sign = "-" if negative else ""
    if exponent is None:
        return {"nan": "NaN", "inf": "-Inf" if negative else "+Inf"}[mantissa]
    if exponent < -4 or exponent >= 6:
        point = "." + mantissa[1:] if len(mantissa) > 1 else ""
        return f"{sign}{mantissa[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return sign + plain_digits(mantissa, exponent)


def format_json_float(value: float) -> str:
    """The text of a float64 in Go's encoding/json: plain digits within [1e-6, 1e21).

    The value must be finite. Source: encoding/json floatEncoder.
    """
    mantissa, exponent, negative = shortest_digits(value)
    sign = "-" if negative else ""
    if exponent is None:
        raise ValueError("JSON has no NaN and no infinity")
    if mantissa != "0" and (exponent < -6 or exponent >= 21):
        point = "." + mantissa[1:] if len(mantissa) > 1 else ""
        return f"{sign}{mantissa[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent)}"
    return sign + plain_digits(mantissa, exponent)


def shortest_digits(value: float) -> tuple[str, int | None, bool]:
    """(digits without point or trailing zeros, exponent of the first digit, negative).

    The exponent is None for "nan" and "inf". Integers too large for a float64 are infinite.
    """
    try:
        number = float(value)
    except OverflowError:
        return "inf", None, value < 0
    if math.isnan(number):
        return "nan", None, False
    negative = math.copysign(1.0, number) < 0
    if math.isinf(number):
        return "inf", None, negative
    if number == 0:
        return "0", 0, negative
    text = repr(abs(number))
    base, _, power = text.partition("e")
    whole, _, fraction = base.partition(".")
    if fraction == "0":
        fraction = ""
    exponent = int(power or 0) + len(whole) - 1
    digits = whole + fraction
    stripped = digits.lstrip("0")
    exponent -= len(digits) - len(stripped)
    return stripped.rstrip("0") or "0", exponent, negative


def plain_digits(mantissa: str, exponent: int) -> str:
    """The digits with the decimal point where it belongs, without scientific notation."""
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + mantissa
    if len(mantissa) <= exponent + 1:
        return mantissa + "0" * (exponent + 1 - len(mantissa))
    return mantissa[: exponent + 1] + "." + mantissa[exponent + 1 :]
