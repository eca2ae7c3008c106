from __future__ import annotations

import math

import pytest

from krm_fn.lang.select.arithmetic import divide, power, remainder, shift_left, shift_right


def same(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(1, 0.0, math.inf), (1, -0.0, -math.inf), (-1, 0.0, -math.inf), (0.0, 0.0, math.nan),
     (math.nan, 0.0, math.nan), (6, 4, 1.5)],
)  # fmt: skip
def test_division_by_zero_is_infinite_or_no_number(a: float, b: float, expected: float) -> None:
    assert same(divide(a, b), expected)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(-10, 3, -1), (10, -3, 1), (5, 0, math.nan), (math.inf, 3, math.nan), (5, math.inf, 5),
     (-4, 2, -0.0)],
)  # fmt: skip
def test_the_remainder_has_the_sign_of_the_dividend(a: float, b: float, expected: float) -> None:
    assert same(remainder(a, b), expected)


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [(2, 10, 1024), (2, -1, 0.5), (2, 0.5, math.sqrt(2)), (-8, 1 / 3, math.nan),
     (1, math.nan, 1), (math.nan, 0, 1), (math.nan, 1, math.nan), (0.0, -1, math.inf),
     (-0.0, -1, -math.inf), (-0.0, -2, math.inf), (-0.0, 3, -0.0), (0.0, 2, 0.0),
     (10, 400, math.inf), (-10, 401, -math.inf), (10, -400, 0.0), (-1, math.inf, 1),
     (0.5, math.inf, 0.0), (2, -math.inf, 0.0), (-math.inf, 3, -math.inf),
     (-math.inf, -3, -0.0), (math.inf, -0.5, 0.0), (-4, 0.5, math.nan), (2, 1e300, math.inf),
     (7, 20, 79792266297612001.0)],
)  # fmt: skip
def test_powers_never_raise(base: float, exponent: float, expected: float) -> None:
    assert same(power(base, exponent), expected)


def test_powers_are_rounded_as_by_go_and_not_as_by_c() -> None:
    assert power(10.0, 1.5) == 31.622776601683796


@pytest.mark.parametrize(
    ("a", "b", "left", "right"),
    [(1, 3, 8, 0), (-1, 1, -2, -1), (1, 63, -(2.0**63), 0), (1, 64, 0, 0), (-1, 64, 0, -1),
     (1, -1, 0, 0), (1, math.nan, 0, 0), (1, 1e20, 0, 0), (5, 1.9, 10, 2), (5, -0.5, 5, 5)],
)  # fmt: skip
def test_shifts_work_on_64_bits(a: float, b: float, left: float, right: float) -> None:
    assert (shift_left(a, b), shift_right(a, b)) == (left, right)
