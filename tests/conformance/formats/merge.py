"""JSON merge patches on texts: the exact text that comes out, or the exact error."""

from __future__ import annotations

from typing import Any

from formats import Verdict
from krm_fn.errors import EvaluationError
from krm_fn.lang.patch.merge import merge_patch


def check(case: dict[str, Any]) -> Verdict:
    try:
        actual = {"merged": merge_patch(case["doc"], case["patch"])}
    except EvaluationError as error:
        actual = {"error": error.message}
    return Verdict.compare(case["result"], actual)
