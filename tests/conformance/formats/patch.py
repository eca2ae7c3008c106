"""JSON Patch with KubeMod's options: `doc` and `ops` to `{"doc"}`, an error, or a panic.

Where the reference panics this project answers an error; DECISIONS says so with its condition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formats import Verdict
from krm_fn.errors import EvaluationError
from krm_fn.lang.patch.kubemod import PatchOperation, apply_kubemod
from krm_fn.values import MISSING

DECISIONS: list[tuple[Callable[[dict[str, Any]], bool], str]] = [
    (
        lambda case: "panic" in case["result"],
        "the reference's library crashes; its webhook then admits the object untouched: an error",
    ),
]


def check(case: dict[str, Any]) -> Verdict:
    failing = "error" in case["result"] or any(applies(case) for applies, _ in DECISIONS)
    operations = []
    for op in case["ops"]:
        if not isinstance(op["path"], str):
            # The schema of a rule refuses it before a patch is made.
            return Verdict.compare(failing, True)
        operations.append(PatchOperation(op["op"], op["path"], op.get("value", MISSING)))
    try:
        answer = apply_kubemod(case["doc"], operations)
    except EvaluationError as error:
        return Verdict(failing, case["result"], str(error))
    if failing:
        return Verdict.failed(case["result"], answer)
    return Verdict.compare(case["result"]["doc"], answer)
