"""Match items on a document: whether each is positive, and all of them."""

from __future__ import annotations

from typing import Any

from formats import Verdict
from krm_fn.dialects.modrule.criteria import compile_criterion
from krm_fn.dialects.modrule.spec import decode
from krm_fn.errors import CompileError


def _answer(item: Any, doc: Any) -> Any:
    try:
        return compile_criterion(item).holds(doc)
    except CompileError:
        return "compile_error"


def _expected(answer: Any) -> Any:
    return "compile_error" if isinstance(answer, dict) else answer


def check(case: dict[str, Any]) -> Verdict:
    result = case["result"]
    items = decode({"match": case["match"]}).match or ()
    answers = [_answer(item, case["doc"]) for item in items]
    if "items" not in result:
        return Verdict("compile_error" in answers, result, answers)
    expected = [_expected(answer) for answer in result["items"]]
    overall = "compile_error" if "compile_error" in answers else all(answers)
    return Verdict.compare((expected, _expected(result["overall"])), (answers, overall))
