"""Values of Go's types that JSON has not, and the text of values as Go's fmt package prints them.

Numbers: a plain Python int or float is JSON's number, which Go decodes to float64; an int of one of
Go's integer types is a `GoInt`. Texts are str; bytes that are not UTF-8 are held as Python's
surrogate escapes, so that cutting a text in the middle of a character loses nothing. Every language
in `krm_fn.lang` keeps to this. The verbs of Printf are in `krm_fn.lang.go.printf`.
Source: Go's fmt and strconv packages; shared facts in the ModRule specification, section 1.9.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar


class GoInt(int):
    """An int of Go's type `int`: the result of `length`, a key part, a template's int literal."""

    __slots__ = ()
    go_type: ClassVar[str] = "int"
    go_kind: ClassVar[str] = "int"

    def go_string(self) -> str | None:
        """What the type's method String returns; None where it has none."""
        return None


class GoInt64(GoInt):
    """An int of Go's type `int64`."""

    __slots__ = ()
    go_type = "int64"
    go_kind = "int64"


class GoUint8(GoInt):
    """An int of Go's type `uint8`, a byte."""

    __slots__ = ()
    go_type = "uint8"
    go_kind = "uint8"


class GoUint64(GoInt):
    """An int of Go's type `uint64`."""

    __slots__ = ()
    go_type = "uint64"
    go_kind = "uint64"


class GoList(list[Any]):
    """A slice that is nil, or whose elements have a type: `[]string`, `[]int`."""

    __slots__ = ("go_type", "is_nil")

    def __init__(
        self, items: Iterable[Any] = (), go_type: str = "[]interface {}", is_nil: bool = False
    ) -> None:
        super().__init__(items)
        self.go_type = go_type
        self.is_nil = is_nil


class GoMap(dict[str, Any]):
    """A map with text keys that is nil, or whose values have a type: `map[string]string`."""

    __slots__ = ("go_type", "is_nil")

    def __init__(
        self,
        items: Mapping[str, Any] | None = None,
        go_type: str = "map[string]interface {}",
        is_nil: bool = False,
    ) -> None:
        super().__init__(items or {})
        self.go_type = go_type
        self.is_nil = is_nil


_TYPES: dict[type, tuple[str, str]] = {
    type(None): ("<nil>", "invalid"),
    bool: ("bool", "bool"),
    str: ("string", "string"),
    int: ("float64", "float64"),
    float: ("float64", "float64"),
    complex: ("complex128", "complex128"),
    list: ("[]interface {}", "slice"),
    dict: ("map[string]interface {}", "map"),
}


def type_name(value: Any) -> str:
    """The name of a value's type as %T prints it; objects of other classes say `go_type`."""
    known = _TYPES.get(type(value))
    return known[0] if known else str(value.go_type)


def kind_name(value: Any) -> str:
    """The name of a value's kind in Go's reflect package; other classes say `go_kind`."""
    known = _TYPES.get(type(value))
    if known:
        return known[1]
    if isinstance(value, GoInt):
        return value.go_kind
    if isinstance(value, list):
        return "slice"
    if isinstance(value, dict):
        return "map"
    return str(value.go_kind)


def is_nil(value: Any) -> bool:
    """Whether a list or map is Go's nil list or nil map."""
    return isinstance(value, GoList | GoMap) and value.is_nil


def to_float(value: float) -> float:
    """A number as a float64; infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_bytes(text: str) -> bytes:
    """The bytes of a text as Go holds it; a lone surrogate is U+FFFD, as in Go's JSON decoder."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        whole = "".join(c if not 0xD800 <= ord(c) < 0xDC80 else "\ufffd" for c in text)
        return whole.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """The text of bytes that may not be UTF-8; the reverse of `to_bytes`."""
    return data.decode("utf-8", "surrogateescape")


def quote(text: str, ascii_only: bool = False) -> str:
    """A text as a Go string literal. Source: strconv.Quote and QuoteToASCII."""
    # The escapes may stand beside each other and make a whole character.
    text = from_bytes(to_bytes(text)) if not text.isascii() else text
    return '"' + "".join(_quoted(c, '"', ascii_only) for c in text) + '"'


def quote_rune(code: int, ascii_only: bool = False) -> str:
    """A character as a Go character literal. Source: strconv.QuoteRune."""
    if not 0 <= code <= 0x10FFFF or 0xD800 <= code < 0xE000:
        code = 0xFFFD
    return "'" + _quoted(chr(code), "'", ascii_only) + "'"


_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}


def _quoted(char: str, mark: str, ascii_only: bool) -> str:
    if char == mark:
        return "\\" + char
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if code < 0x80 or (not ascii_only and char.isprintable()):
        return char if char.isprintable() else f"\\x{code:02x}"
    if 0xDC80 <= code < 0xDD00:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


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
