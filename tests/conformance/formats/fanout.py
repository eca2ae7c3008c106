"""`fanout`: the select of a patch operation, path templates, a document; the entries it makes.

Inputs `select`, `paths`, `doc`. Result `{"entries": [...]}`, each with `key`, `key_parts`, `item`
and `paths` (a text, or `{"bad_index": true}` for each template), sorted by key; or
`{"parse_error": true}`. The reference visits entries in random order; here the order is checked to
ascend by key parts.

`CONDITIONS` lists where this project answers otherwise on purpose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from formats import Verdict
from formats.select import encode, plain
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.values import GoInt
from krm_fn.lang.select import compile_fanout, expand_path


class Condition(NamedTuple):
    """A deliberate difference: which cases, why, and what this project answers instead."""

    holds: Callable[[dict[str, Any]], bool]
    reason: str
    answer: Callable[[dict[str, Any]], dict[str, Any]]


def check(case: dict[str, Any]) -> Verdict:
    expected = case["result"]
    for condition in CONDITIONS:
        if condition.holds(case):
            expected = condition.answer(expected)
    actual = answer(case)
    outcomes = [_comparable(outcome) for outcome in expected.get("outcomes", [expected])]
    if _comparable(actual) in outcomes:
        return Verdict.passed()
    return Verdict.failed(expected, actual)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What this project makes of the case, in the terms of the vectors."""
    try:
        fanout = compile_fanout(case["select"])
    except CompileError:
        return {"parse_error": True}
    try:
        entries = fanout.entries(case["doc"])
    except EvaluationError:
        return {"eval_error": True}
    parts = [entry.key_parts for entry in entries]
    assert parts == sorted(parts, key=lambda p: [(isinstance(x, str), x) for x in p])
    return {
        "entries": [
            {
                "key": entry.key,
                "key_parts": [_part(part) for part in entry.key_parts],
                "item": encode(entry.item),
                "paths": [_expanded(path, entry.key_parts) for path in case["paths"]],
            }
            for entry in entries
        ]
    }


def _part(part: int | str) -> Any:
    assert isinstance(part, GoInt | str)
    return int(part) if isinstance(part, int) else part


def _expanded(template: str, parts: tuple[int | str, ...]) -> Any:
    try:
        return expand_path(template, parts)
    except EvaluationError:
        return {"bad_index": True}


def _comparable(outcome: dict[str, Any]) -> str:
    if "entries" not in outcome:
        return json.dumps(plain(outcome), sort_keys=True)
    entries = [
        {
            "key": entry["key"],
            "key_parts": entry["key_parts"],
            "item": plain({"value": entry["item"]}),
            "paths": [p if isinstance(p, str) else "bad index" for p in entry["paths"]],
        }
        for entry in outcome["entries"]
    ]
    return json.dumps(sorted(entries, key=lambda entry: entry["key"]), sort_keys=True)


def _holds_several_selects(case: dict[str, Any]) -> bool:
    text = re.sub(r'"[^"]*"|`[^`]*`', "", case["select"])
    while (shorter := re.sub(r"\[[^\[\]]*\]|\([^()]*\)", "", text)) != text:
        text = shorter
    return "," in text


def _all_paths_fail_with_percent(result: dict[str, Any]) -> dict[str, Any]:
    return {
        "entries": [
            {**entry, "paths": [{"bad_index": True}]} for entry in result.get("entries", [])
        ]
    }


CONDITIONS = (
    Condition(
        _holds_several_selects,
        "several selects in one, which compile only because the reference wraps the text in {#: }",
        lambda result: {"parse_error": True},
    ),
    Condition(
        lambda case: any("%" in path for path in case["paths"]),
        "a path with %, which the reference mangles as a format, is refused",
        _all_paths_fail_with_percent,
    ),
)
