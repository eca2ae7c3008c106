"""Rules, and what the reference's validation, its schema and its rule store say of them.

Compared: whether the rule fits the types, which fields the webhook and the schema complain of and
in which way, whether the rule store loads the rule, and whether a cluster would store it.
"""

from __future__ import annotations

import re
from typing import Any

from formats import Verdict
from formats.conditions import Condition, decide
from krm_fn.dialects.modrule.rule import load_problems, validate
from krm_fn.dialects.modrule.spec import DecodeError, decode
from krm_fn.dialects.modrule.value import read_value
from krm_fn.errors import EvaluationError

CONDITIONS = (
    Condition(
        "a patch's select that compiles only between the braces that KubeMod puts around it",
        "several selects in one are no documented feature, and the webhook refuses them where "
        "there is a value: the rule does not load",
        lambda case: re.search(r'select: ".*,\s*#', case["rule"]) is not None,
        lambda case, actual: actual == {**_expected(case), "loads": False},
    ),
)


def _expected(case: dict[str, Any]) -> dict[str, Any]:
    result = case["result"]
    return {
        "accepted": result["accepted"],
        "webhook": sorted((p["field"], p["type"]) for p in result["webhook"]),
        "schema": sorted((p["field"], p["kind"]) for p in result["schema"]),
        "loads": "load_error" not in result,
    }


def check(case: dict[str, Any]) -> Verdict:
    result = case["result"]
    try:
        rule = read_value(case["rule"])
        spec = decode(rule.get("spec"))
    except (EvaluationError, DecodeError) as error:
        return Verdict("decode_error" in result, result, str(error))
    if "decode_error" in result:
        return Verdict.failed(result, "decodes")
    problems = validate(spec)
    expected = _expected(case)
    actual = {
        "accepted": not problems,
        "webhook": sorted((p.field, p.kind) for p in problems if p.stage == "webhook"),
        "schema": sorted((p.field, p.kind) for p in problems if p.stage == "schema"),
        "loads": not load_problems(spec),
    }
    return decide(CONDITIONS, case, actual == expected, expected, actual)
