"""Regular expressions of expressions: those of Kubernetes' release of Go."""

from __future__ import annotations

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.regexp import Regex, compile_regex
from krm_fn.lang.go.release import Release


def compile_pattern(pattern: str) -> Regex:
    """Compile; raises EvaluationError with Go's words."""
    try:
        return compile_regex(pattern, Release.GO_1_26)
    except CompileError as error:
        raise EvaluationError(error.message) from None
