"""Templates: `template`, `context` and `mode` to `{"output"}`, a parse error or an exec error.

Only the kind of an error is compared; outputs exactly, as bytes where they are not UTF-8. A clock
and a seed are given, since functions of time and chance appear where the answer does not depend on
them. A case is skipped only if it needs a package that is not installed.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from formats import Verdict
from krm_fn.dialects.modrule.keyparts import expand_key_parts
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.values import GoInt, to_bytes
from krm_fn.lang.gotemplate import Pointer, RenderSources, Struct, parse

DECISIONS: list[tuple[Callable[[dict[str, Any]], bool], str, str]] = []
"""(condition, reason, the answer of this project: an output, or the kind of an error)."""

REFUSED = [
    "bcrypt",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "getHostByName",
    "htpasswd",
]
"""A decision: functions that never answer at render, but for the texts of wrong arguments."""

SOURCES = RenderSources(datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC), "conformance")


def check(case: dict[str, Any]) -> Verdict:
    expected = _expected(case)
    actual = _render(case)
    if actual.startswith("exec_error") and "needs the extra" in actual:
        return Verdict(False, skip="the package cryptography is not installed")
    if any(f": {name} is not available at render" in actual for name in REFUSED):
        expected = "exec_error"
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
        output = template.render(Struct(fields, go_type), SOURCES)
    except EvaluationError as error:
        return f"exec_error: {error}"
    return "output " + repr(to_bytes(output))
