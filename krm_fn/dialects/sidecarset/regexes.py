"""Regular expressions in Kruise's messages: why Go does not compile one.

RE2 is one engine in two languages, and each has its own words.
Source: Go's regexp/syntax ErrorCode; RE2's re2/regexp.cc.
"""

from __future__ import annotations

from typing import Final

from krm_fn.errors import CompileError
from krm_fn.lang.go.regexp import Regex, compile_regex

_PREFIX: Final = "error parsing regexp: "

_WHOLE: Final = {
    "missing )": "missing closing )",
    "unexpected )": "unexpected )",
    "pattern too large - compile failed": "expression too large",
}
"""Reasons about which Go shows the whole expression."""

_PART: Final = {
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid escape sequence": "invalid escape sequence",
    "invalid character class range": "invalid character class range",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}
"""Reasons about which it shows the part that is meant."""


def compiled(pattern: str) -> Regex:
    """The expression. Raises CompileError with Go's sentence."""
    try:
        return compile_regex(pattern)
    except CompileError as error:
        raise CompileError(_in_go(error.message, pattern)) from None


def _in_go(message: str, pattern: str) -> str:
    reason, _, part = message.removeprefix(_PREFIX).removesuffix(f": `{pattern}`").partition(": ")
    part = part.strip("`")
    if part in ("(?<!", "(?<="):
        # Go takes what follows for a name, up to the end if it finds none.
        return f"{_PREFIX}invalid named capture: `{pattern[pattern.index('(?<') :]}`"
    if reason in _WHOLE:
        return f"{_PREFIX}{_WHOLE[reason]}: `{pattern}`"
    if reason in _PART:
        return f"{_PREFIX}{_PART[reason]}: `{part}`"
    return message
