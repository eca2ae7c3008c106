"""Templates: `template`, `context` and `mode` to `{"output"}`, a parse error or an exec error.

Only the kind of an error is compared; outputs exactly, as bytes where they are not UTF-8. A case is
skipped only if it uses a function that is not available yet.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from formats import Verdict
from krm_fn.dialects.modrule.keyparts import expand_key_parts
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.gofmt import GoInt, to_bytes
from krm_fn.lang.gotemplate import Pointer, Struct, parse

DECISIONS: list[tuple[Callable[[dict[str, Any]], bool], str, str]] = []
"""(condition, reason, the answer of this project: an output, or the kind of an error)."""


def check(case: dict[str, Any]) -> Verdict:
    expected = _expected(case)
    actual = _render(case)
    if actual.startswith("parse_error") and "is not available yet" in actual:
        found = re.search(r'function "\w+" is not available yet', actual)
        assert found
        return Verdict(False, skip=found[0])
    kind = actual.split(":", 1)[0]
    return Verdict(actual == expected or kind == expected, expected, actual)


def _expected(case: dict[str, Any]) -> str:
    for applies, _, answer in DECISIONS:
        if applies(case):
            return answer
    result = case["result"]
    for kind in ("parse_error", "exec_error"):
        if kind in result:
            return kind
    output = result["output"]
    if isinstance(output, dict):
        return "output " + repr(base64.b64decode(output["$bytes"]))
    return "output " + repr(output.encode("utf-8", "surrogatepass"))


def _render(case: dict[str, Any]) -> str:
    rejects = case.get("mode") == "rejectMessage"
    text = case["template"]
    try:
        if rejects:
            template = parse(text, "rejectMessage")
        else:
            template = parse(expand_key_parts(text), "/spec/x")
    except CompileError as error:
        return f"parse_error: {error}"
    context = case["context"]
    fields = {"Namespace": context["Namespace"], "Target": Pointer(context["Target"])}
    go_type = "core.RejectTemplateContext"
    if not rejects:
        parts = context["SelectKeyParts"] or []
        fields["SelectKeyParts"] = [GoInt(p) if isinstance(p, int) else p for p in parts]
        fields["SelectedItem"] = context["SelectedItem"]
        go_type = "*core.PatchTemplateContext"
    try:
        output = template.render(Struct(fields, go_type))
    except EvaluationError as error:
        return f"exec_error: {error}"
    return "output " + repr(to_bytes(output))
