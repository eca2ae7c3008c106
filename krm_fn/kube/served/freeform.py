"""Values of which no type says anything: raw extensions, and objects of custom kinds.

Numbers come as the API server's decoder has them: what is written as 1.0 or 1e3 is an integer to
it, since YAML is turned into JSON first, and objects of custom kinds hold 64-bit numbers.
Source: sigs.k8s.io/yaml, apimachinery util/json; the served form's specification, sections (b) and
(e).
"""

from __future__ import annotations

import math
from typing import Any, Final

from krm_fn.kube.served.mismatch import MismatchError

_PLAIN: Final = 1e21
"""From here on JSON writes a float with an exponent."""


def raw(value: Any) -> Any:
    """JSON that is kept as it is."""
    return _numbers(value, _raw_number)


def unstructured(value: Any) -> Any:
    """An object that is held as maps, lists, int64 and float64."""
    return _numbers(value, _machine_number)


def _raw_number(value: float) -> float:
    if type(value) is float:
        if not math.isfinite(value):
            raise MismatchError("a number that JSON has", value)
        if value.is_integer() and abs(value) < _PLAIN:
            return int(value)
    return value


def _machine_number(value: float) -> float:
    number = _raw_number(value)
    if type(number) is int and not -(2**63) <= number < 2**63:
        if type(value) is float:
            return value
        try:
            return float(number)
        except OverflowError:
            raise MismatchError("a number of 64 bits", value) from None
    return number


def _numbers(value: Any, change: Any) -> Any:
    kind = type(value)
    if kind is int or kind is float:
        return change(value)
    if kind is not dict and kind is not list:
        return value
    out = value
    for key, member in value.items() if kind is dict else enumerate(value):
        if type(member) is str:
            continue
        try:
            new = _numbers(member, change)
        except MismatchError as mismatch:
            mismatch.steps.append(key)
            raise
        if new is not member:
            out = value.copy() if out is value else out
            out[key] = new
    return out
