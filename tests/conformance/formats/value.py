"""Texts that a template rendered, and the JSON value that the reference makes of each."""

from __future__ import annotations

import re
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from formats.numbers import same
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError


def _answer(text: str) -> dict[str, Any]:
    try:
        return {"value": read_value(text)}
    except EvaluationError as error:
        return {"error": str(error)}


def _fits(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    if "error" in expected:
        return "error" in actual
    return "value" in actual and same(expected["value"], actual["value"])


CONDITIONS = (
    Condition(
        "a colon that ends a plain scalar in front of `}`, `]` or `,`",
        "libyaml refuses what go-yaml's older port of it takes as part of the scalar: an error, "
        "which says so, and no key that ends in a colon",
        lambda case: re.search(r"[{\[,]\s*[\w.-]+:[}\],]", case["text"]) is not None,
        lambda case, actual: "error" in actual,
    ),
)


def check(case: dict[str, Any]) -> Verdict:
    result = case["result"]
    actual = _answer(case["text"])
    fits = any(_fits(outcome, actual) for outcome in result.get("outcomes", [result]))
    return decide(CONDITIONS, case, fits, result, actual)
