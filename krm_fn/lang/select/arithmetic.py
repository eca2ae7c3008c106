"""Float64 arithmetic that answers as Go's does and never raises.

Python's own raises for what IEEE 754 calls infinite or no number, and its powers are rounded as C's
are. Go's are rounded here but for powers with a fraction, whose last digit may differ. Operations
on bits work on what Go's conversion to 64-bit integers makes of a float, and yield a float again.
Source: ModRule specification, section 1.6; Go's math.Pow and its conversions on amd64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from krm_fn.lang.select.values import to_int64


def divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def remainder(a: float, b: float) -> float:
    """What is left of `a`, with its sign."""
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


def power(base: float, exponent: float) -> float:
    if exponent == 0 or base == 1:
        return 1.0
    if exponent == 1:
        return base
    if math.isnan(base) or math.isnan(exponent):
        return math.nan
    if base == 0 or math.isinf(base) or math.isinf(exponent):
        return _limit_power(base, exponent)
    if exponent in (0.5, -0.5):
        if base < 0:
            return math.nan
        return math.sqrt(base) if exponent > 0 else 1 / math.sqrt(base)
    fraction, whole = math.modf(abs(exponent))
    if fraction and base < 0:
        return math.nan
    if whole >= 2.0**63:
        return _limit_power(base, math.copysign(math.inf, exponent))
    return _finite_power(base, exponent, fraction, int(whole))


def _limit_power(base: float, exponent: float) -> float:
    """A power where the base is zero or one of the two is infinite."""
    if math.isinf(exponent) and base != 0:
        if base == -1:
            return 1.0
        return 0.0 if (abs(base) < 1) == (exponent > 0) else math.inf
    is_odd = math.isfinite(exponent) and math.fmod(exponent, 2) in (1, -1)
    size = 0.0 if (base == 0) == (exponent > 0) else math.inf
    return math.copysign(size, base) if is_odd else size


def _finite_power(base: float, exponent: float, fraction: float, whole: int) -> float:
    """Repeated squaring of the mantissa, with the power of two kept apart."""
    result, shift = 1.0, 0
    if fraction:
        if fraction > 0.5:
            fraction, whole = fraction - 1, whole + 1
        result = math.exp(fraction * math.log(base))
    mantissa, binary = math.frexp(base)
    while whole:
        if not -4096 <= binary <= 4096:  # far beyond any float, whatever follows
            shift += binary
            break
        if whole & 1:
            result *= mantissa
            shift += binary
        mantissa *= mantissa
        binary *= 2
        if mantissa < 0.5:
            mantissa += mantissa
            binary -= 1
        whole >>= 1
    if exponent < 0:
        result, shift = 1 / result, -shift
    try:
        return math.ldexp(result, shift)
    except OverflowError:
        return math.copysign(math.inf, result)


def bits(function: Callable[[int, int], int]) -> Callable[[float, float], float]:
    """An operation on 64-bit integers as one on floats."""
    return lambda a, b: float(function(to_int64(a), to_int64(b)))


def shift_left(a: float, b: float) -> float:
    wide = to_int64(a) << _shift_count(b)
    return float((wide + (1 << 63)) % (1 << 64) - (1 << 63))


def shift_right(a: float, b: float) -> float:
    return float(to_int64(a) >> _shift_count(b))


def _shift_count(number: float) -> int:
    """Go's uint64(number), where 64 stands for everything that shifts all bits out.

    Negative numbers, NaN and what does not fit become huge.
    """
    return int(number) if -1 < number < 64 else 64
