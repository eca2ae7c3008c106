"""Numbers, durations and booleans from and to text, as Go writes and reads them.

Source: Go's strconv and time packages.
"""

from __future__ import annotations

import math
from typing import Final

from krm_fn.lang.go.fmt import format_float, plain_digits, shortest_digits

_DIGITS: Final = frozenset("0123456789")


def format_double(value: float) -> str:
    """The shortest text of a double (`%g`)."""
    return format_float(value)


def plain_double(value: float) -> str:
    """The shortest text of a finite double without an exponent."""
    mantissa, exponent, negative = shortest_digits(value)
    return ("-" if negative else "") + plain_digits(mantissa, exponent or 0)


def parse_integer(text: str, signed: bool) -> int | None:
    """A decimal integer (strconv.ParseInt, ParseUint with base 10); the range is not checked."""
    digits = text[1:] if signed and text[:1] in ("+", "-") else text
    if not digits or not _DIGITS.issuperset(digits):
        return None
    digits = digits.lstrip("0") or "0"
    if len(digits) > 20:
        return 10**20 if text[0] != "-" else -(10**20)
    return -int(digits) if text[0] == "-" else int(digits)


def parse_double(text: str) -> float | None:
    """A double (strconv.ParseFloat); None if it is no number or too large."""
    body = text[1:] if text[:1] in ("+", "-") else text
    lower = body.lower()
    if lower in ("inf", "infinity"):
        return -math.inf if text[0] == "-" else math.inf
    if lower == "nan":
        return math.nan if body == text else None
    if lower.startswith("0x"):
        return _hexadecimal(text, lower)
    if not body or not set(lower) <= _DIGITS | {".", "e", "+", "-"}:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isinf(value) else value


def _hexadecimal(text: str, lower: str) -> float | None:
    """`0x1.8p3`; Go wants the exponent."""
    if "p" not in lower or not set(lower[2:]) <= set("0123456789abcdef.p+-"):
        return None
    try:
        value = float.fromhex(text)
    except (ValueError, OverflowError):
        return None
    return value


TRUE_TEXTS: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE_TEXTS: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}


def parse_duration(text: str) -> int | None:
    """Nanoseconds of `1h30m` (time.ParseDuration); None if it is none or does not fit."""
    negative = text[:1] == "-"
    at = 1 if text[:1] in ("+", "-") else 0
    if text[at:] == "0":
        return 0
    if at == len(text):
        return None
    total = 0
    while at < len(text):
        part = _duration_part(text, at)
        if part is None:
            return None
        nanos, at = part
        total += nanos
        if total > 2**63:
            return None
    if negative:
        return -total
    return total if total < 2**63 else None


def _duration_part(text: str, at: int) -> tuple[int, int] | None:
    """The number with its unit at `at`, in nanoseconds, and where it ends."""
    end = _skip_digits(text, at)
    whole, fraction = text[at:end], ""
    if text[end : end + 1] == ".":
        start = end + 1
        end = _skip_digits(text, start)
        fraction = text[start:end]
    if not whole and not fraction:
        return None
    start = end
    while end < len(text) and text[end] != "." and text[end] not in _DIGITS:
        end += 1
    unit = _UNITS.get(text[start:end])
    significant = whole.lstrip("0") or "0"
    if unit is None or len(significant) > 19 or int(significant) > 2**63:
        return None
    nanos = int(significant) * unit
    if fraction:
        # Go drops digits beyond what an int64 holds.
        kept = fraction[:18]
        nanos += int(int(kept) * unit / 10 ** len(kept))
    return (nanos, end) if nanos <= 2**63 else None


def _skip_digits(text: str, at: int) -> int:
    while at < len(text) and text[at] in _DIGITS:
        at += 1
    return at


def duration_seconds(nanos: int) -> str:
    """A duration as CEL prints it: seconds as a decimal number and `s`."""
    seconds, rest = divmod(abs(nanos), 1_000_000_000)
    value = float(seconds) + rest / 1e9
    return f"{plain_double(-value if nanos < 0 else value)}s"
