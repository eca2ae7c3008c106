"""Kubernetes' quantities: amounts with suffixes.

Source: apimachinery v0.37, pkg/api/resource, and apiserver v0.37, pkg/cel/quantity.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from krm_fn.errors import EvaluationError
from krm_fn.lang.cel import types as t
from krm_fn.lang.cel.environment import Library
from krm_fn.lang.cel.functions import Function, Overload, steps
from krm_fn.lang.cel.types import Type
from krm_fn.lang.cel.values import INT_MAX, INT_MIN, NO_OVERLOAD, Value

QUANTITY: Final = t.struct("kubernetes.Quantity")

_READING: Final = steps(40, 2)
"""What reading a text takes."""

_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_BAD_SUFFIX: Final = "unable to parse quantity's suffix"
_BAD_NUMBER: Final = "unable to parse numeric part of quantity"
_DIGITS: Final = frozenset("0123456789")
_NANO: Final = -9
_FAST_DIGITS: Final = 18

_DECIMAL: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


class Quantity(Value):
    """`unscaled` * 10 ** `scale`.

    `exact`: held as Go holds what does not fit an int64, which is never an integer to it.
    `sum`: made by add or sub; upstream gives those another Go type, which compares otherwise.
    """

    __slots__ = ("exact", "scale", "sum", "unscaled")
    type = QUANTITY

    def __init__(self, unscaled: int, scale: int, exact: bool, made: bool = False) -> None:
        self.unscaled = unscaled
        self.scale = scale
        self.exact = exact
        self.sum = made

    @property
    def go_type(self) -> str:  # type: ignore[override]
        """As Go prints it."""
        return "*cel.Quantity" if self.sum else "cel.Quantity"

    def order(self, other: Quantity) -> int:
        """-1, 0 or 1."""
        low = min(self.scale, other.scale)
        a = self.unscaled * 10 ** (self.scale - low)
        b = other.unscaled * 10 ** (other.scale - low)
        return int(a > b) - int(a < b)

    def equal(self, other: Any) -> bool:
        if not isinstance(other, Quantity) or other.sum:
            raise EvaluationError(NO_OVERLOAD)
        return self.order(other) == 0

    def decimal(self) -> str:
        """The exact number as decimal text."""
        digits = str(abs(self.unscaled))
        if self.scale >= 0 or not self.unscaled:
            digits += "0" * (self.scale if self.unscaled else 0)
        else:
            digits = digits.rjust(1 - self.scale, "0")
            digits = f"{digits[: self.scale]}.{digits[self.scale :]}"
        return f"-{digits}" if self.unscaled < 0 else digits


class _Text:
    """The parts of a quantity's text."""

    __slots__ = ("fraction", "negative", "suffix", "whole")

    def __init__(self, text: str) -> None:
        at = 1 if text[:1] in ("-", "+") else 0
        self.negative = text[:1] == "-"
        start = at
        while text[at : at + 1] == "0":
            at += 1
        start = at
        at = _skip(text, at)
        self.whole = text[start:at] or "0"
        self.fraction = ""
        # A text of nothing but zeros ends here, whatever Go would make of a point.
        if text[at : at + 1] == ".":
            start = at + 1
            at = _skip(text, start)
            self.fraction = text[start:at]
        self.suffix = text[at:]
        end = 0
        while end < len(self.suffix) and self.suffix[end] in "eEinumkKMGTP":
            end += 1
        if self.suffix[end : end + 1] in ("-", "+") and end < len(self.suffix):
            end += 1
        if _skip(self.suffix, end) != len(self.suffix):
            raise EvaluationError(_WRONG)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _DIGITS:
        at += 1
    return at


def _suffix(suffix: str) -> tuple[int, int]:
    """Base (2 or 10) and exponent; raises EvaluationError."""
    if suffix in _BINARY:
        return 2, _BINARY[suffix]
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix]
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        sign = suffix[1] in "+-"
        digits = suffix[1 + sign :]
        if digits and _DIGITS.issuperset(digits):
            value = int(digits[-20:]) if len(digits.lstrip("0")) <= 12 else 10**12
            value = -value if suffix[1] == "-" else value
            # Go keeps 32 bits.
            return 10, (value + 2**31) % 2**32 - 2**31
    raise EvaluationError(_BAD_SUFFIX)


_MOST_DIGITS: Final = 1_000


def parse_quantity(text: str) -> Quantity:
    """Read a quantity; raises EvaluationError in Go's words."""
    if not text:
        raise EvaluationError(_WRONG)
    parts = _Text(text)
    base, exponent = _suffix(parts.suffix)
    sign = -1 if parts.negative else 1
    digits = parts.whole + parts.fraction
    if len(digits) > _MOST_DIGITS or abs(exponent) > _MOST_DIGITS:
        raise EvaluationError(_BAD_NUMBER)
    fast = _fast(parts, base, exponent, sign, int(digits or "0"))
    if fast is not None:
        return fast
    return _exact(sign * int(digits or "0"), -len(parts.fraction), base, exponent)


def _fast(parts: _Text, base: int, exponent: int, sign: int, number: int) -> Quantity | None:
    """A quantity that Go holds as an int64 and a scale."""
    if base == 10:
        if _FAST_DIGITS - len(parts.whole) - len(parts.fraction) < 0:
            return None
        scale = exponent - len(parts.fraction)
        return Quantity(sign * number, scale, False) if scale >= _NANO else None
    if parts.fraction or 15 - len(parts.whole) - int(exponent * 3 / 10) - 1 < 0:
        return None
    value = number << exponent
    return Quantity(sign * value, 0, False) if value <= INT_MAX else None


def _exact(number: int, scale: int, base: int, exponent: int) -> Quantity:
    sign = -1 if number < 0 else 1
    number = abs(number)
    if base == 10:
        scale += exponent
    else:
        number <<= exponent
    if scale < _NANO:
        # What is below the least amount is rounded up to it.
        unit = 10 ** (_NANO - scale)
        number, scale = -(-number // unit), _NANO
    if base == 2 and number > INT_MAX * 10 ** max(-scale, 0):
        number, scale = INT_MAX, 0
    return Quantity(sign * number, scale, True)


def _as_int(value: Quantity) -> int | None:
    if value.exact:
        return None
    if value.scale < 0:
        # Go does not look whether the fraction is zero.
        return None
    number = value.unscaled * 10 ** min(value.scale, 40)
    return number if INT_MIN <= number <= INT_MAX else None


def _integer(value: Quantity) -> int:
    number = _as_int(value)
    if number is None:
        raise EvaluationError("cannot convert value to integer")
    return number


def _approximately(value: Quantity) -> float:
    try:
        base = float(value.unscaled)
    except OverflowError:
        base = float("inf") if value.unscaled > 0 else float("-inf")
    if value.scale == 0:
        return base
    if value.scale < -323:
        return base * 0.0
    return base * (float("inf") if value.scale > 308 else float(f"1e{value.scale}"))


def _added(a: Quantity, b: Quantity, sign: int = 1) -> Quantity:
    if not a.exact and not b.exact:
        # Go negates the least int64 to itself, and goes on with that if the sum fits.
        term = sign * b.unscaled if sign * b.unscaled <= INT_MAX else INT_MIN
        total = _fast_sum(a, Quantity(term, b.scale, False))
        if total is not None:
            return total
    scale = min(a.scale, b.scale)
    total = a.unscaled * 10 ** (a.scale - scale) + sign * b.unscaled * 10 ** (b.scale - scale)
    return Quantity(total, scale, True, made=True)


def _fast_sum(a: Quantity, b: Quantity) -> Quantity | None:
    """The sum as an int64 and a scale; None where Go needs more than that."""
    if not b.unscaled:
        return Quantity(a.unscaled, a.scale, False, made=True)
    if not a.unscaled:
        return Quantity(b.unscaled, b.scale, False, made=True)
    scale = min(a.scale, b.scale)
    terms = [one.unscaled * 10 ** (one.scale - scale) for one in (a, b)]
    if all(INT_MIN <= number <= INT_MAX for number in (*terms, sum(terms))):
        return Quantity(sum(terms), scale, False, made=True)
    return None


def _subtracted(a: Quantity, b: Quantity) -> Quantity:
    return _added(a, b, -1)


def _of_int(number: int) -> Quantity:
    return Quantity(number, 0, False)


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except EvaluationError:
        return False
    return True


def _sign(value: Quantity) -> int:
    return (value.unscaled > 0) - (value.unscaled < 0)


def _method(name: str, identity: str, args: tuple[Type, ...], result: Type, impl: Any) -> Function:
    return Function(
        name, [Overload(f"quantity_{identity}", (QUANTITY, *args), result, impl, member=True)]
    )


def _arithmetic(name: str, operation: Callable[[Quantity, Quantity], Quantity]) -> Function:
    return Function(
        name,
        [
            Overload(f"quantity_{name}", (QUANTITY, QUANTITY), QUANTITY, operation, member=True),
            Overload(
                f"quantity_{name}_int",
                (QUANTITY, t.INT),
                QUANTITY,
                lambda a, b: operation(a, _of_int(b)),
                member=True,
            ),
        ],
    )


def library() -> Library:
    """The functions on quantities."""
    q = (QUANTITY,)
    return Library(
        [
            Function(
                "quantity",
                [
                    Overload(
                        "string_to_quantity", (t.STRING,), QUANTITY, parse_quantity, work=_READING
                    )
                ],
            ),
            Function(
                "isQuantity",
                [Overload("is_quantity_string", (t.STRING,), t.BOOL, _is_quantity, work=_READING)],
            ),
            Function("sign", [Overload("quantity_sign", q, t.INT, _sign)]),
            _method("isGreaterThan", "is_greater_than", q, t.BOOL, lambda a, b: a.order(b) > 0),
            _method("isLessThan", "is_less_than", q, t.BOOL, lambda a, b: a.order(b) < 0),
            _method("compareTo", "compare_to", q, t.INT, Quantity.order),
            _method("asApproximateFloat", "get_float", (), t.DOUBLE, _approximately),
            _method("asInteger", "get_int", (), t.INT, _integer),
            _method("isInteger", "is_integer", (), t.BOOL, lambda a: _as_int(a) is not None),
            _arithmetic("add", _added),
            _arithmetic("sub", _subtracted),
        ]
    )
