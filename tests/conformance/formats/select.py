"""`select`: an expression and a document; a value, undefined, or one of two kinds of error.

Inputs `expr`, `doc`. Result `{"value": ...}`, `{"undefined": true}`, `{"parse_error": true}` or
`{"eval_error": true}`; `"unordered": true` when the order of the top-level list is not fixed,
`"deep"` when that of every list is not. `VALUES` in this module gives the values JSON cannot show.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from formats import Verdict
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select import UNDEFINED, compile_select
from krm_fn.lang.select.dates import Date


def check(case: dict[str, Any]) -> Verdict:
    expected = dict(case["result"])
    outcomes = expected.get("outcomes", [expected])
    unordered = case.get("unordered") or expected.get("unordered")
    actual = ordered(answer(case["expr"], case["doc"]), unordered)
    if any(ordered(plain(outcome), unordered) == actual for outcome in outcomes):
        return Verdict.passed()
    return Verdict.failed(expected, actual)


def answer(text: str, document: Any) -> dict[str, Any]:
    """What this project makes of an expression, in the terms of the vectors."""
    try:
        select = compile_select(text)
    except CompileError:
        return {"parse_error": True}
    try:
        value = select.evaluate(document)
    except EvaluationError:
        return {"eval_error": True}
    return {"undefined": True} if value is UNDEFINED else {"value": encode(value)}


def plain(outcome: dict[str, Any]) -> dict[str, Any]:
    """An expected answer without the reference's texts, its numbers as floats."""
    kinds = ("value", "undefined", "parse_error", "eval_error")
    return {kind: _times_as_texts(outcome[kind]) for kind in kinds if kind in outcome}


def encode(value: Any) -> Any:
    """A value in the notation of the vectors."""
    if value is UNDEFINED:
        return {"$undefined": True}
    if isinstance(value, Date):
        return {"$time": value.text}
    if isinstance(value, GoInt):
        return {"$int": float(value)}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return _encoded_float(float(value))
    if isinstance(value, str):
        return _encoded_text(value)
    if isinstance(value, list):
        return [encode(element) for element in value]
    return {key: encode(element) for key, element in value.items()}


def _encoded_float(value: float) -> Any:
    if math.isnan(value):
        return {"$float": "NaN"}
    if math.isinf(value):
        return {"$float": "+Inf" if value > 0 else "-Inf"}
    return {"$float": "-0"} if value == 0 and math.copysign(1, value) < 0 else value


def _encoded_text(value: str) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        data = value.encode("utf-8", "surrogateescape")
        return {"$bytes": base64.b64encode(data).decode()}
    return value


def _times_as_texts(value: Any) -> Any:
    if isinstance(value, dict):
        if "$time" in value:
            return {"$time": value["text"]}
        return {key: _times_as_texts(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_times_as_texts(element) for element in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def ordered(outcome: dict[str, Any], unordered: Any) -> str:
    """An answer as a text to compare, with lists sorted where their order is not fixed."""
    value = outcome.get("value")
    if unordered and isinstance(value, list):
        outcome = {"value": _sorted(value, unordered == "deep")}
    return json.dumps(outcome, sort_keys=True)


def _sorted(value: Any, deep: bool) -> Any:
    if isinstance(value, list):
        elements = [_sorted(element, deep) if deep else element for element in value]
        return sorted(elements, key=lambda element: json.dumps(element, sort_keys=True))
    if isinstance(value, dict) and deep:
        return {key: _sorted(element, deep) for key, element in value.items()}
    return value
