"""Go's html/template over SuperGloo's four values: the output, a parse error or an exec error.

Only the kind of an error is compared; its text belongs to Go.
"""

from __future__ import annotations

from typing import Any

from formats import Verdict
from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.gotemplate import Struct
from krm_fn.lang.gotemplate.html import parse

FIELDS = ("MeshName", "VirtualNodeName", "AppPort", "AwsRegion")


def check(case: dict[str, Any]) -> Verdict:
    kind, expected = next(iter(case["result"].items()))
    try:
        template = parse(case["template"], "patchTemplate")
        context = Struct({field: case[field] for field in FIELDS}, "main.D")
        actual = ("output", template.render(context))
    except CompileError as error:
        actual = ("parse_error", str(error))
    except EvaluationError as error:
        actual = ("exec_error", str(error))
    fits = actual[0] == kind and (kind != "output" or actual[1] == expected)
    return Verdict(fits, (kind, expected), actual)
