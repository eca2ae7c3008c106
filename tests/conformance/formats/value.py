"""Texts that a template rendered, and the JSON value that the reference makes of each."""

from __future__ import annotations

from typing import Any

from formats import Verdict
from formats.numbers import same
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError


def check(case: dict[str, Any]) -> Verdict:
    expected = case["result"]
    try:
        actual = read_value(case["text"])
    except EvaluationError as error:
        return Verdict("error" in expected, expected, f"error: {error}")
    if "error" in expected:
        return Verdict.failed(expected, actual)
    return Verdict(same(expected["value"], actual), expected["value"], actual)
