"""Quantities, such as `500m` or `1Gi`: what a string means and how the API server writes it.

A quantity that is short enough keeps the text that it was written in; others come out canonical.
This module knows texts and numbers, no field.
Source: apimachinery pkg/api/resource (quantity.go, amount.go, suffix.go); the served form's
specification, section (b).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, NamedTuple

from krm_fn import limits
from krm_fn.lang.go.strconv import parse_int
from krm_fn.lang.go.values import GoError, to_float

DECIMAL: Final = "decimal"
EXPONENT: Final = "exponent"
BINARY: Final = "binary"

_DECIMAL_EXPONENTS: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_EXPONENTS: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES: Final = {exponent: text for text, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_SUFFIXES: Final = {exponent: text for text, exponent in _BINARY_EXPONENTS.items()}

_NANO: Final = -9
_MILLI: Final = -3
_INT64: Final = 2**63
_INT64_DIGITS: Final = 20
_SHORT_DIGITS: Final = 18
"""So many decimal digits surely fit into 64 bits."""

_SPACES: Final = " \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What Go trims, without what JSON writes as an escape, which is in nobody's grammar."""


FORMAT_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
BAD_SUFFIX: Final = "unable to parse quantity's suffix"
BAD_NUMBER: Final = "unable to parse numeric part of quantity"


class QuantityError(GoError):
    """A string is no quantity. The message is the API server's, one of the three above."""


class Quantity(NamedTuple):
    """The value `number` times ten to the power of `scale`, and how it is written.

    `text` is the original text where that is kept, "" elsewhere. `exact` marks one that Go holds
    as a decimal of any length, not as a 64-bit number.
    """

    number: int
    scale: int
    format: str = DECIMAL
    text: str = ""
    exact: bool = False

    def __str__(self) -> str:
        return self.text or _canonical(self)

    def rounded(self) -> Quantity:
        """Rounded up, away from zero, to thousandths, as values of a resource list are."""
        return self.rounded_to(_MILLI)

    def rounded_to(self, scale: int) -> Quantity:
        """Rounded up, away from zero, to a multiple of 10**`scale`."""
        if self.scale >= scale:
            return self if not self.exact else self._replace(text="")
        number = _shifted_up(self.number, scale - self.scale)
        return Quantity(number, scale, self.format, "", self.exact)

    def plus(self, other: Quantity) -> Quantity:
        """The sum, in the format of this quantity, or of the other one where this is zero.

        Source: `Quantity.Add`.
        """
        style = self.format if self.number else other.format
        if not self.exact and not other.exact:
            total = self._short_sum(other, style)
            if total is not None:
                return total
        scale = min(self.scale, other.scale)
        return Quantity(self._at(scale) + other._at(scale), scale, style, "", True)

    def _short_sum(self, other: Quantity, style: str) -> Quantity | None:
        """The sum as a 64-bit number; None where Go needs more than that."""
        if not other.number:
            return self._replace(format=style, text="")
        if not self.number:
            return other._replace(format=style, text="")
        scale = min(self.scale, other.scale)
        terms = (self._at(scale), other._at(scale))
        if all(-_INT64 <= number < _INT64 for number in (*terms, sum(terms))):
            return Quantity(sum(terms), scale, style)
        return None

    def minus(self, other: Quantity) -> Quantity:
        """The difference, in the format that a sum would have. Source: `Quantity.Sub`."""
        number = -other.number
        # Go negates the least int64 to itself, and goes on with that if the sum fits.
        if number == _INT64 and not self.exact and not other.exact:
            total = self._short_sum(other._replace(number=-_INT64), self.format)
            if total is not None:
                return total
        return self.plus(other._replace(number=number))

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1."""
        scale = min(self.scale, other.scale)
        mine, its = self._at(scale), other._at(scale)
        return int(mine > its) - int(mine < its)

    def is_more_than(self, other: Quantity) -> bool:
        return self.compare(other) > 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.number > 0) - (self.number < 0)

    def as_int64(self) -> int | None:
        """The quantity as a whole number, or None where Go has none. Source: `AsInt64`."""
        # Of one with a fraction Go does not look whether that is zero.
        if self.exact or self.scale < 0:
            return None
        number = self._at(0) if self.scale <= _INT64_DIGITS or not self.number else _INT64
        return number if -_INT64 <= number < _INT64 else None

    def as_float(self) -> float:
        """The quantity as a float64, nearly. Source: `AsApproximateFloat64`."""
        base = to_float(self.number)
        if self.scale == 0:
            return base
        if self.scale < -323:
            return base * 0.0
        return base * (math.inf if self.scale > 308 else float(f"1e{self.scale}"))

    def times(self, factor: int) -> Quantity:
        """The quantity so often."""
        number = self.number * factor
        return Quantity(number, self.scale, self.format, "", abs(number) >= _INT64)

    def scaled(self, scale: int) -> int:
        """The number of 10**`scale`, rounded up, as an int64: one that is too large is 0, or wraps.

        Source: `Quantity.ScaledValue`.
        """
        if self.scale >= scale:
            number = self._at(scale)
        else:
            number = _shifted_up(self.number, scale - self.scale)
        if abs(number) < _INT64:
            return number
        return (number + _INT64) % (2 * _INT64) - _INT64 if self.exact else 0

    def _at(self, scale: int) -> int:
        return int(self.number * 10 ** (self.scale - scale))


ZERO: Final = Quantity(0, 0, text="0")


@lru_cache(maxsize=1024)
def canonical(text: str) -> str:
    """The text that the API server writes for `text`. Raises QuantityError."""
    return str(parse(text))


@lru_cache(maxsize=1024)
def canonical_rounded(text: str) -> str:
    """As `canonical`, for a value of a resource list. Raises QuantityError."""
    return str(parse(text).rounded())


def parse(text: str, trim: bool = True) -> Quantity:
    """The quantity that a string, or a number's text, means. Raises QuantityError.

    With `trim`, space around it is nothing, as where JSON is decoded (`UnmarshalJSON`); without, it
    is an error, as in `ParseQuantity`.
    """
    if len(text) > limits.QUANTITY_LENGTH:
        raise QuantityError(BAD_NUMBER)
    if trim:
        text = text.strip(_SPACES)
    if not text:
        raise QuantityError(FORMAT_WRONG)
    if text == "0":
        return ZERO
    negative, whole, fraction, suffix = _split(text)
    style, exponent = _suffix(suffix)
    if abs(exponent) > limits.QUANTITY_EXPONENT:
        raise QuantityError(BAD_NUMBER)
    short = _short(text, negative, whole, fraction, style, exponent)
    if short is not None:
        return short
    if not any(char.isdecimal() for char in text.removesuffix(suffix)):
        raise QuantityError(BAD_NUMBER)
    return _long(negative, whole, fraction, style, exponent)


def _short(
    text: str, negative: bool, whole: str, fraction: str, style: str, exponent: int
) -> Quantity | None:
    """The quantity where Go takes 64-bit numbers; those in canonical form keep their text."""
    digits = whole + fraction
    scale = -len(fraction)
    factor = 1
    if style is BINARY:
        # The estimate of how many digits the suffix takes is Go's own.
        if fraction or 15 - len(whole) - exponent * 3 // 10 - 1 < 0:
            return None
        factor = 2**exponent
    else:
        scale += exponent
        if len(digits) > _SHORT_DIGITS:
            return None
    if scale < _NANO:
        return None
    number = int(digits) * factor
    if number >= _INT64:
        return None
    if style is BINARY:
        keeps = int(whole) % 8 != 0
    else:
        keeps = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return Quantity(-number if negative else number, scale, style, text if keeps else "")


def _long(negative: bool, whole: str, fraction: str, style: str, exponent: int) -> Quantity:
    """The quantity as a decimal of any length, rounded away from zero to billionths."""
    number, scale = int(whole + fraction), -len(fraction)
    if style is BINARY:
        number *= 2**exponent
    else:
        scale += exponent
    if scale < _NANO:
        number, scale = _shifted_up(number, _NANO - scale), _NANO
    unit = 10**-scale if scale < 0 else 1
    if style is BINARY:
        if number > (_INT64 - 1) * unit:
            number, scale = _INT64 - 1, 0
        elif 0 < number < unit:
            style = DECIMAL
    return Quantity(-number if negative else number, scale, style, "", True)


def _split(text: str) -> tuple[bool, str, str, str]:
    """Sign, digits before the point without leading zeros, digits behind it, suffix."""
    end = len(text)
    at = 1 if text[0] in "+-" else 0
    start = at
    while start < end and text[start] == "0":
        start += 1
    at = _digits(text, start)
    whole = text[start:at] or "0"
    fraction = ""
    if at < end and text[at] == ".":
        start = at + 1
        at = _digits(text, start)
        fraction = text[start:at]
    start = at
    while at < end and text[at] in "eEinumkKMGTP":
        at += 1
    if at < end and text[at] in "+-":
        at += 1
    if _digits(text, at) < end:
        raise QuantityError(FORMAT_WRONG)
    return text[0] == "-", whole, fraction, text[start:]


def _digits(text: str, at: int) -> int:
    """Where the digits that begin at `at` end."""
    while at < len(text) and text[at] in "0123456789":
        at += 1
    return at


def _suffix(suffix: str) -> tuple[str, int]:
    """The format and the exponent that a suffix stands for."""
    if suffix in _DECIMAL_EXPONENTS:
        return DECIMAL, _DECIMAL_EXPONENTS[suffix]
    if suffix in _BINARY_EXPONENTS:
        return BINARY, _BINARY_EXPONENTS[suffix]
    exponent = parse_int(suffix[1:]) if suffix[0] in "eE" else None
    if exponent is None:
        raise QuantityError(BAD_SUFFIX)
    # Go keeps 32 bits.
    return EXPONENT, (exponent + 2**31) % 2**32 - 2**31


def _shifted_up(number: int, places: int) -> int:
    """`number` without its last decimal places, rounded away from zero."""
    unit: int = 10**places
    up = -(-abs(number) // unit)
    return up if number >= 0 else -up


def _canonical(quantity: Quantity) -> str:
    number, scale = quantity.number, quantity.scale
    if not number:
        return "0"
    if quantity.format is BINARY:
        unit = 10**-scale if scale < 0 else 1
        if abs(number) >= 1024 * unit and number % unit == 0:
            number, power = _without_factors(number // unit * 10 ** max(scale, 0), 1024)
            return f"{number}{_BINARY_SUFFIXES.get(power * 10, '')}"
    number, tens = _without_factors(number, 10)
    exponent = scale + tens
    number *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if quantity.format is EXPONENT:
        return f"{number}e{exponent}" if exponent else str(number)
    # Beyond its largest suffix Go writes none.
    return f"{number}{_DECIMAL_SUFFIXES.get(exponent, '')}"


def _without_factors(number: int, factor: int) -> tuple[int, int]:
    times = 0
    while number % factor == 0:
        number //= factor
        times += 1
    return number, times
