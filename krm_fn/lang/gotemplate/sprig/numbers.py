"""Sprig's arithmetic: int64 that wraps around, and decimals for the functions that end in f.

Source: Sprig's numeric.go and functions.go; github.com/spf13/cast 1.3.1;
github.com/shopspring/decimal 1.2.0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from krm_fn.errors import LimitError
from krm_fn.lang.budget import Budget
from krm_fn.lang.go.strconv import format_float
from krm_fn.lang.go.values import GoInt, GoInt64
from krm_fn.lang.gotemplate.sprig.convert import strval, to_float64, to_int64, wrap_int64
from krm_fn.lang.gotemplate.values import Family, FunctionError

FUNCTIONS: Final = Family()

_INT64_MAX: Final = (1 << 63) - 1
_BITS: Final = 200_000
"""The largest number that a chain of decimals may come to, in bits."""


# Conversions


@FUNCTIONS.function("int", "any")
def int_(value: Any) -> GoInt:
    return GoInt(to_int64(value))


@FUNCTIONS.function("int64", "any")
def int64(value: Any) -> GoInt64:
    return GoInt64(to_int64(value))


@FUNCTIONS.function("float64", "any")
def float64(value: Any) -> float:
    return to_float64(value)


@FUNCTIONS.function("atoi", "string")
def atoi(text: str) -> GoInt:
    """A decimal number; out of range it is the largest or smallest, otherwise 0."""
    return GoInt(_parsed(text, 10, clamp=True))


@FUNCTIONS.function("toDecimal", "any", budget=True)
def to_decimal(budget: Budget, value: Any) -> GoInt64:
    """The number that a string of octal digits stands for."""
    return GoInt64(_parsed(strval(budget, value), 8, clamp=False))


def _parsed(text: str, base: int, clamp: bool) -> int:
    digits = "[0-9]" if base == 10 else "[0-7]"
    if not re.fullmatch(rf"[+-]?{digits}+", text):
        return 0
    body = text.lstrip("+-").lstrip("0")
    number = int(body or "0", base) if len(body) < 30 else 1 << 64
    number = -number if text.startswith("-") else number
    if -_INT64_MAX - 1 <= number <= _INT64_MAX:
        return number
    if not clamp:
        return 0
    return _INT64_MAX if number > 0 else -_INT64_MAX - 1


# Integers


@FUNCTIONS.function("add", "...any")
def add(*values: Any) -> GoInt64:
    return GoInt64(wrap_int64(sum(map(to_int64, values))))


@FUNCTIONS.function("add1", "any")
def add1(value: Any) -> GoInt64:
    return GoInt64(wrap_int64(to_int64(value) + 1))


@FUNCTIONS.function("sub", "any any")
def sub(first: Any, other: Any) -> GoInt64:
    return GoInt64(wrap_int64(to_int64(first) - to_int64(other)))


@FUNCTIONS.function("mul", "any ...any")
def mul(first: Any, *others: Any) -> GoInt64:
    product = to_int64(first)
    for other in others:
        product = wrap_int64(product * to_int64(other))
    return GoInt64(product)


@FUNCTIONS.function("div", "any any")
def div(first: Any, other: Any) -> GoInt64:
    quotient, _ = _divided(to_int64(first), to_int64(other))
    return GoInt64(wrap_int64(quotient))


@FUNCTIONS.function("mod", "any any")
def mod(first: Any, other: Any) -> GoInt64:
    _, remainder = _divided(to_int64(first), to_int64(other))
    return GoInt64(remainder)


def _divided(first: int, other: int) -> tuple[int, int]:
    """Quotient, cut towards zero, and remainder."""
    if other == 0:
        raise FunctionError("runtime error: integer divide by zero")
    quotient = abs(first) // abs(other)
    quotient = quotient if (first < 0) == (other < 0) else -quotient
    return quotient, first - quotient * other


@FUNCTIONS.function("max biggest", "any ...any")
def max_(*values: Any) -> GoInt64:
    return GoInt64(max(map(to_int64, values)))


@FUNCTIONS.function("min", "any ...any")
def min_(*values: Any) -> GoInt64:
    return GoInt64(min(map(to_int64, values)))


# Floats


@FUNCTIONS.function("maxf", "any ...any")
def maxf(*values: Any) -> float:
    return _extreme(max, values)


@FUNCTIONS.function("minf", "any ...any")
def minf(*values: Any) -> float:
    return _extreme(min, values)


def _extreme(choose: Callable[[list[float]], float], values: tuple[Any, ...]) -> float:
    numbers = [to_float64(value) for value in values]
    infinite = choose([math.inf, -math.inf])
    # One NaN spoils all, but not before the infinity that is looked for.
    if infinite in numbers:
        return infinite
    if any(map(math.isnan, numbers)):
        return math.nan
    return choose(numbers)


@FUNCTIONS.function("floor", "any")
def floor(value: Any) -> float:
    return _whole(math.floor, to_float64(value))


@FUNCTIONS.function("ceil", "any")
def ceil(value: Any) -> float:
    return _whole(math.ceil, to_float64(value))


def _whole(change: Callable[[float], int], number: float) -> float:
    """A whole number that is still a float, with its sign where it is zero."""
    if not math.isfinite(number):
        return number
    return math.copysign(float(change(number)), number) if number else number


@FUNCTIONS.function("round", "any int ...float")
def round_(value: Any, places: int, *options: float) -> float:
    """Rounded at a decimal place, up from `.5` or the threshold that is given.

    The number is multiplied, cut and divided as a float64, with the errors that this brings.
    """
    threshold = options[0] if options else 0.5
    number = to_float64(value)
    try:
        power = math.pow(10, places)
    except OverflowError:
        power = math.inf
    scaled = power * number
    fraction = math.fmod(scaled, 1) if math.isfinite(scaled) else math.nan
    whole = _whole(math.ceil if fraction >= threshold else math.floor, scaled)
    if power == 0:
        return math.nan if whole == 0 or math.isnan(whole) else math.copysign(math.inf, whole)
    return whole / power


# Decimals


@FUNCTIONS.function("add1f", "any", budget=True)
def add1f(budget: Budget, value: Any) -> float:
    return _decimals(budget, [value, GoInt(1)], lambda a, b: a + b)


@FUNCTIONS.function("addf", "...any", budget=True)
def addf(budget: Budget, *values: Any) -> float:
    return _decimals(budget, [0.0, *values], lambda a, b: a + b)


@FUNCTIONS.function("subf", "any ...any", budget=True)
def subf(budget: Budget, *values: Any) -> float:
    return _decimals(budget, values, lambda a, b: a - b)


@FUNCTIONS.function("mulf", "any ...any", budget=True)
def mulf(budget: Budget, *values: Any) -> float:
    return _decimals(budget, values, lambda a, b: a * b)


@FUNCTIONS.function("divf", "any ...any", budget=True)
def divf(budget: Budget, *values: Any) -> float:
    return _decimals(budget, values, _quotient)


def _quotient(first: Fraction, other: Fraction) -> Fraction:
    """A quotient with 16 decimal places, rounded half away from zero."""
    if other == 0:
        raise FunctionError("decimal division by 0")
    scaled = abs(first / other) * 10**16
    rounded = Fraction((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator))
    sign = 1 if (first < 0) == (other < 0) else -1
    return sign * rounded / 10**16


def _decimals(
    budget: Budget,
    values: list[Any] | tuple[Any, ...],
    combine: Callable[[Fraction, Fraction], Fraction],
) -> float:
    result: Fraction | None = None
    for value in values:
        budget.spend(12)
        number = to_float64(value)
        if not math.isfinite(number):
            raise FunctionError(f"Cannot create a Decimal from {format_float(number)}")
        # The decimal that a float64 is written as, not the binary fraction that it is.
        decimal = Fraction(repr(number))
        result = decimal if result is None else combine(result, decimal)
        if result.numerator.bit_length() + result.denominator.bit_length() > _BITS:
            raise LimitError(f"it makes a number of more than {_BITS:,} bits")
    assert result is not None
    try:
        return float(result)
    except OverflowError:
        return math.inf if result > 0 else -math.inf
