"""Regular expressions as Go 1.26 compiles them, over `lang/regex`.

Newer than what `lang/regex` is written for are groups named `(?<name>...)`; and errors are told in
Go's words, not in RE2's.
"""

from __future__ import annotations

from typing import Final

from krm_fn.errors import CompileError, EvaluationError
from krm_fn.lang.go.regexp import Regex, compile_regex

_FAILED: Final = "error parsing regexp: "
_NEW_GROUP: Final = "(?<"
_OLD_GROUP: Final = "(?P<"

_WORDS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
}
"""RE2's names of mistakes, and Go's where those differ."""


def compile_pattern(pattern: str) -> Regex:
    """Compile; raises EvaluationError with Go's words."""
    try:
        return compile_regex(pattern)
    except CompileError as error:
        if _NEW_GROUP in pattern:
            return _with_new_groups(pattern)
        raise EvaluationError(_as_go(error.message, pattern)) from None


def _with_new_groups(pattern: str) -> Regex:
    try:
        return compile_regex(pattern.replace(_NEW_GROUP, _OLD_GROUP))
    except CompileError as error:
        message = error.message.replace(_OLD_GROUP, _NEW_GROUP)
        for look in ("(?<=", "(?<!"):
            if look in pattern:
                message = f"{_FAILED}invalid named capture: `{pattern[pattern.index(look) :]}`"
                raise EvaluationError(message) from None
        raise EvaluationError(_as_go(message, pattern)) from None


def _as_go(message: str, pattern: str) -> str:
    """`missing ]: [: `[`` in RE2's words as `missing closing ]: `[`` in Go's."""
    reason = message.removeprefix(_FAILED).removesuffix(f": `{pattern}`")
    if not message.startswith(_FAILED) or reason == message.removeprefix(_FAILED):
        return message
    if reason.startswith("trailing \\"):
        return f"{_FAILED}trailing backslash at end of expression: ``"
    name, _, part = reason.partition(": ")
    if name in ("missing )", "unexpected )"):
        part = pattern
    return f"{_FAILED}{_WORDS.get(name, name)}: `{part}`"
