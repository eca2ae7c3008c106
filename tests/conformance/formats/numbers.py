"""Comparing JSON values of vectors, in which every number is a 64-bit float. No format."""

from __future__ import annotations

from typing import Any

SPECIAL = {"NaN": float("nan"), "+Inf": float("inf"), "-Inf": float("-inf"), "-0": -0.0}


def same(expected: Any, actual: Any) -> bool:
    """Equal where 3 and 3.0 are, and True and 1 are not."""
    if isinstance(expected, dict) and set(expected) == {"$float"}:
        return isinstance(actual, float) and repr(SPECIAL[expected["$float"]]) == repr(actual)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            same(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return float(expected) == float(actual)
    return type(expected) is type(actual) and bool(expected == actual)
