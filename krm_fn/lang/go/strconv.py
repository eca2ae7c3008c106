"""Numbers, booleans and string literals from and to text, as Go's strconv package has them.

What Go refuses is None here; `number_error` says it in Go's words.
Source: Go's strconv package (atof.go, atoi.go, ftoa.go, quote.go).
"""

from __future__ import annotations

import math
import re
import struct
from functools import cache
from typing import Final

from krm_fn.lang.go.values import from_bytes, to_bytes

_INT64: Final = 1 << 63

# ------------------------------------------------------------------------------- reading numbers

_DIGITS: Final = frozenset("0123456789")
_MANY: Final = 100
"""Digits of a number that fits into no type; more would only be slow to read."""


@cache
def _literal() -> re.Pattern[str]:
    return re.compile(
        r"[+-]?(?:0[xX](?:_?[0-9a-fA-F])++|0[bB](?:_?[01])++|0[oO](?:_?[0-7])++|0(?:_?[0-7])*+"
        r"|[1-9](?:_?[0-9])*+)"
    )


def read_integer(text: str, base: int = 10) -> int | None:
    """The integer of any size that a string says, or None where it says none.

    In base 0 it is one of Go's literals with a sign: `0x1f`, `0b1`, `0o17`, `017`, `1_000`.
    Numbers of more than 100 digits are some number of 100 digits.
    """
    if base == 0:
        if not _literal().fullmatch(text):
            return None
        digits = text.replace("_", "")
        body = digits.lstrip("+-")
        base = {"x": 16, "b": 2, "o": 8}.get(body[1:2].lower(), 8 if body[0] == "0" else 10)
        body = body[2:] if body[1:2].isalpha() else body
        number = int(body.lstrip("0")[:_MANY] or "0", base)
    else:
        body = text[1:] if text[:1] in ("+", "-") else text
        if not body or not _DIGITS.issuperset(body):
            return None
        number = int(body) if len(body) <= _MANY else int(body.lstrip("0")[:_MANY] or "0")
    return -number if text[0] == "-" else number


def parse_int(text: str, base: int = 10) -> int | None:
    """The int64 that ParseInt reads in base 10 or 0."""
    number = read_integer(text, base)
    return number if number is not None and -_INT64 <= number < _INT64 else None


def parse_uint(text: str, base: int = 10) -> int | None:
    """The uint64 that ParseUint reads in base 10 or 0."""
    number = None if text[:1] in ("+", "-") else read_integer(text, base)
    return number if number is not None and number < 2 * _INT64 else None


atoi = parse_int
"""Go's Atoi is its ParseInt in base 10."""


# Possessive, so that a long string that is almost a number is not tried in every way.
_DECIMAL: Final = re.compile(
    r"[+-]?(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][+-]?[0-9_]++)?"
)
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F_]++(?:\.[0-9a-fA-F_]*+)?|\.[0-9a-fA-F][0-9a-fA-F_]*+)"
    r"[pP][+-]?[0-9_]++"
)
_SPECIAL: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE | re.ASCII)
_BAD_UNDERSCORE: Final = re.compile(r"_(?![0-9])|(?<![0-9])_")
_BAD_HEXADECIMAL_UNDERSCORE: Final = re.compile(r"_(?![0-9a-fA-F])|(?<![0-9a-fA-FxX])_")
_FLOAT_STARTS: Final = frozenset("+-.0123456789iInN")


def parse_float(text: str) -> float | None:
    """The float64 that ParseFloat reads; None also where it is too large."""
    if text[:1] not in _FLOAT_STARTS:
        return None
    if _DECIMAL.fullmatch(text):
        if "_" in text:
            if _BAD_UNDERSCORE.search(text):
                return None
            text = text.replace("_", "")
        number = float(text)
    elif _HEXADECIMAL.fullmatch(text):
        if _BAD_HEXADECIMAL_UNDERSCORE.search(text):
            return None
        try:
            number = float.fromhex(text.replace("_", ""))
        except OverflowError:
            return None
    elif _SPECIAL.fullmatch(text):
        return float(text)
    else:
        return None
    return None if math.isinf(number) else number


def number_error(function: str, text: str) -> str:
    """What Go says of a string that a function for decimal integers refuses.

    `number_error("Atoi", "x")` is `strconv.Atoi: parsing "x": invalid syntax`.
    """
    unsigned = function == "ParseUint" and text[:1] in ("+", "-")
    is_number = read_integer(text) is not None and not unsigned
    reason = "value out of range" if is_number else "invalid syntax"
    return f"strconv.{function}: parsing {quote(text)}: {reason}"


_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def parse_bool(text: str) -> bool | None:
    """The boolean that ParseBool reads."""
    return _BOOLEANS.get(text)


# ------------------------------------------------------------------------------- writing floats


def format_float(value: float, style: str = "g", precision: int | None = None) -> str:
    """A float64 in one of the styles e E f g G b x X; without a precision, the shortest digits.

    Integers too large for a float64 are infinite. Source: FormatFloat.
    """
    if style == "g" and precision is None:
        return _general(*shortest_digits(value))
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    match style:
        case "b":
            return _binary(value)
        case "x" | "X":
            text = _hexadecimal(value, precision)
            return text.upper() if style == "X" else text
        case "g" | "G":
            if precision is None:
                text = format_float(value)
            else:
                text = format(value, f".{max(precision, 1)}g")
            return text.upper() if style == "G" else text
        case "f" if precision is None:
            mantissa, exponent, negative = shortest_digits(value)
            return ("-" if negative else "") + plain_digits(mantissa, exponent or 0)
        case _:
            return format(value, f".{precision}{style}")


def format_float32(value: float) -> str:
    """The nearest float32 in its shortest digits. Source: FormatFloat with 'g', -1 and 32."""
    single = _nearest_float32(value)
    if not math.isfinite(single) or single == 0:
        return format_float(single)
    for precision in range(9):
        text = f"{abs(single):.{precision}e}"
        if _nearest_float32(float(text)) == abs(single):
            break
    digits, _, exponent = text.partition("e")
    return _general(digits.replace(".", "").rstrip("0"), int(exponent), single < 0)


def _nearest_float32(value: float) -> float:
    try:
        number: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return number


def _general(mantissa: str, exponent: int | None, negative: bool) -> str:
    """Style 'g': scientific below 1e-4 and from 1e6, which is the threshold of shortest digits."""
    sign = "-" if negative else ""
    if exponent is None:
        return {"nan": "NaN", "inf": "-Inf" if negative else "+Inf"}[mantissa]
    if exponent < -4 or exponent >= 6:
        point = "." + mantissa[1:] if len(mantissa) > 1 else ""
        return f"{sign}{mantissa[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
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


def _binary(value: float) -> str:
    sign = "-" if math.copysign(1, value) < 0 else ""
    mantissa, exponent = math.frexp(abs(value))
    if value == 0 or exponent < -1021:
        return f"{sign}{int(math.ldexp(abs(value), 1074))}p-1074"
    return f"{sign}{int(mantissa * (1 << 53))}p{exponent - 53:+d}"


def _hexadecimal(value: float, precision: int | None) -> str:
    sign = "-" if math.copysign(1, value) < 0 else ""
    mantissa, exponent = math.frexp(abs(value))
    # 1 bit before the point, 52 after it.
    bits = int(mantissa * (1 << 53))
    exponent = exponent - 1 if bits else 0
    if precision is not None and precision < 13:
        drop = 4 * (13 - precision)
        half = 1 << (drop - 1)
        rest = bits & ((1 << drop) - 1)
        bits >>= drop
        if rest > half or (rest == half and bits & 1):
            bits += 1
        bits <<= drop
        if bits >> 53:
            bits >>= 1
            exponent += 1
    fraction = format(bits & ((1 << 52) - 1), "013x")
    if precision is None:
        fraction = fraction.rstrip("0")
    else:
        fraction = fraction[:precision].ljust(precision, "0")
    point = "." + fraction if fraction else ""
    return f"{sign}0x{bits >> 52}{point}p{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


# ------------------------------------------------------------------------------- string literals


def quote(text: str, ascii_only: bool = False) -> str:
    """A string as a Go string literal. Source: strconv.Quote and QuoteToASCII."""
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


_UNESCAPES: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip


@cache
def _escape() -> re.Pattern[str]:
    return re.compile(
        r"\\(?:(?P<simple>[abfnrtv\\])|(?P<quote>['\"])|(?P<octal>[0-3][0-7]{2})"
        r"|x(?P<byte>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))"
    )


def unquote(literal: str) -> str | None:
    """The value of a string, raw string or character literal. Source: Unquote.

    A character literal may hold one character or none. Bytes that are not UTF-8 become surrogate
    escapes.
    """
    mark = literal[:1]
    if len(literal) < 2 or literal[-1] != mark:
        return None
    body = literal[1:-1]
    if mark == "`":
        return body.replace("\r", "")
    if "\n" in body:
        return None
    parts = _unescaped(body, mark)
    if parts is None:
        return None
    if mark == "'" and (len(parts) > 1 or len(parts[0]) > 1):
        return None
    text = "".join(parts)
    # Escaped bytes that are UTF-8 together are its character.
    if any("\udc80" <= part <= "\udcff" for part in parts):
        return from_bytes(to_bytes(text))
    return text


def unquote_char(literal: str) -> int | None:
    """The code point of a character literal: of an escaped byte, its number."""
    parts = _unescaped(literal[1:-1], "'")
    if parts is None or len(parts) != 1 or len(parts[0]) != 1:
        return None
    code = ord(parts[0])
    if 0xDC80 <= code < 0xDD00:
        return code - 0xDC00 if "\\" in literal else 0xFFFD
    return code


def _unescaped(body: str, mark: str) -> list[str] | None:
    """The characters of a literal's inside, one an element unless nothing is escaped."""
    if "\\" not in body:
        return None if mark in body else [body]
    parts: list[str] = []
    at = 0
    while at < len(body):
        if body[at] == mark:
            return None
        if body[at] != "\\":
            parts.append(body[at])
            at += 1
            continue
        escape = _escape().match(body, at)
        char = _unescaped_char(escape, mark) if escape else None
        if escape is None or char is None:
            return None
        parts.append(char)
        at = escape.end()
    return parts


def _unescaped_char(escape: re.Match[str], mark: str) -> str | None:
    if escape["simple"]:
        return _UNESCAPES[escape["simple"]]
    if escape["quote"]:
        return mark if escape["quote"] == mark else None
    if escape["octal"] or escape["byte"]:
        byte = int(escape["octal"], 8) if escape["octal"] else int(escape["byte"], 16)
        return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)
    point = int(escape["short"] or escape["long"], 16)
    return None if point > 0x10FFFF or 0xD800 <= point < 0xE000 else chr(point)
